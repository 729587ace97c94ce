//! Gram matrices and feature maps as products of their own, for use in any other learner.

use std::sync::Arc;

use crate::method::{Method, Offer, Prepared, Scope, draws_on_all};
use crate::methods::lacks;
use crate::params::Point;
use crate::preprocess::{Scale, Transform};
use bagwise_core::{Bags, Csr, Ctx, Error, Mat, Message, Result, Setting, Target};

/// The Gram of `bags` with themselves, or, with `against`, of `bags` (rows) with those (columns). Scaling, medians,
/// categories and relative widths are learned from the columns' bags, the training set of a rectangular Gram;
/// `target` belongs to them. `impute` fills missing values by medians; without it they are refused.
pub fn gram(
    method: &dyn Method,
    point: &Point,
    scale: Scale,
    impute: bool,
    bags: &Bags,
    against: Option<&Bags>,
    target: Option<&Target>,
    ctx: &Ctx,
) -> Result<Mat> {
    let reference = against.unwrap_or(bags);
    if !impute && bags.has_missing() {
        return Err(missing());
    }
    if against.is_some() && draws_on_all(point) {
        return Err(Error::param(
            method.info().name,
            "pool",
            "a kernel matrix against other bags draws centres only from those bags; leave pool=all out",
        ));
    }
    ctx.reserve(
        "the kernel matrix",
        8 * bags.len() as u64 * reference.len() as u64,
        Message::more_memory().or("use fewer bags"),
    )?;
    let (transform, prepared) = prepare(method, point, scale, impute, reference, target, ctx)?;
    let none = || lacks(method.info().name, Offer::Kernel);
    match against {
        None => prepared.gram(0, ctx)?.cloned().ok_or_else(none),
        Some(_) => {
            let rows = transform.apply(&bags.align(reference.features())?, ctx)?;
            prepared.against(0, &rows, ctx)?.ok_or_else(none)
        }
    }
}

/// The feature map of every bag, of length 1, so that inner products are the Gram: sparse rows. Everything is learned
/// from these bags, as by [`gram`](gram()).
pub fn feature_map(
    method: &dyn Method,
    point: &Point,
    scale: Scale,
    impute: bool,
    bags: &Bags,
    target: Option<&Target>,
    ctx: &Ctx,
) -> Result<Csr> {
    let (_, prepared) = prepare(method, point, scale, impute, bags, target, ctx)?;
    prepared.map(0)?.ok_or_else(|| lacks(method.info().name, Offer::FeatureMap))
}

fn missing() -> Error {
    Error::refused(
        "some values are missing",
        Message::from("fill them in, or use medians").with([Setting::FillMissing]),
    )
}

/// One point, prepared on all bags.
fn prepare(
    method: &dyn Method,
    point: &Point,
    scale: Scale,
    impute: bool,
    reference: &Bags,
    target: Option<&Target>,
    ctx: &Ctx,
) -> Result<(Transform, Box<dyn Prepared>)> {
    if !impute && reference.has_missing() {
        return Err(missing());
    }
    let all: Vec<usize> = (0..reference.len()).collect();
    if method.learns_labels() {
        return Err(Error::Invalid(format!(
            "{} learns its kernel from labels, so one Gram over all bags would leak; use fit or evaluate",
            method.info().name
        )));
    }
    let points = std::slice::from_ref(point);
    if let Some(why) = method.refuses(points, scale) {
        return Err(why);
    }
    let transform = Transform::fit(scale, impute, reference, target, &all)?;
    let ready = Arc::new(transform.apply(reference, ctx)?);
    let prepared = method.prepare(ready, points, &Scope { train: &all, y: &[], pool: None }, ctx)?;
    Ok((transform, prepared))
}
