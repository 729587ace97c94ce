//! Gram matrices as a product of their own, for use in any other learner.

use std::sync::Arc;

use crate::bags::Bags;
use crate::ctx::Ctx;
use crate::dataset::Target;
use crate::error::{Error, Result};
use crate::mat::Mat;
use crate::method::{Method, Scope};
use crate::params::Point;
use crate::preprocess::{Scale, Transform};

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
    let all: Vec<usize> = (0..reference.len()).collect();
    let points = std::slice::from_ref(point);
    if !impute && (bags.has_missing() || reference.has_missing()) {
        return Err(Error::Invalid("some values are missing; fill them in or use --missing median".into()));
    }
    if method.learns_labels() {
        return Err(Error::Invalid(format!(
            "{} learns its kernel from labels, so one Gram over all bags would leak; use fit or evaluate",
            method.info().name
        )));
    }
    let transform = Transform::fit(scale, impute, reference, target, &all);
    let ready = Arc::new(transform.apply(reference, ctx)?);
    ctx.reserve(
        "the Gram matrix",
        8 * bags.len() as u64 * reference.len() as u64,
        "raise --memory, or use fewer bags",
    )?;
    let prepared = method.prepare(ready, points, &Scope { train: &all, y: &[] }, ctx)?;
    let none =
        || Error::Invalid(format!("{} has no kernel; choose one of the set kernels", method.info().name));
    let gram = match against {
        None => prepared.gram(0).cloned().ok_or_else(none),
        Some(_) => {
            let rows = transform.apply(&bags.align(reference.features())?, ctx)?;
            prepared.against(0, &rows, ctx)?.ok_or_else(none)
        }
    };
    bags.check_read().and(reference.check_read()).and(gram)
}
