//! Gram matrices and feature maps, for use with any other learner.

use std::ops::Range;
use std::sync::Arc;

use crate::method::{Capability, Method, Prepared, Scope, draws_on_all};
use crate::methods::lacks;
use crate::params::Point;
use crate::preprocess::{Scale, Transform};
use crate::shard::Shard;
use bagwise_core::checksum;
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
    gram_part(method, point, scale, impute, bags, against, target, None, ctx)
}

/// The rows of that Gram which belong to a shard. Without `against` they are 0 left of the diagonal, where they repeat other rows;
/// [`join_grams`] puts them together. Bytes are those of the whole Gram.
pub fn gram_part(
    method: &dyn Method,
    point: &Point,
    scale: Scale,
    impute: bool,
    bags: &Bags,
    against: Option<&Bags>,
    target: Option<&Target>,
    shard: Option<Shard>,
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
    let part = shard.map(|shard| shard_rows(bags, against.is_none(), shard));
    // Of the columns' bags a rectangular Gram needs no similarities but those with themselves.
    let rows = part.clone().map(|part| if against.is_some() { (0, 0) } else { (part.start, part.end) });
    let (transform, prepared) = prepare(method, point, scale, impute, reference, target, rows, ctx)?;
    let none = || lacks(method.info().name, Capability::Kernel);
    match (against, part) {
        (None, None) => prepared.gram(0, ctx)?.cloned().ok_or_else(none),
        (None, Some(part)) => {
            let whole = prepared.gram(0, ctx)?.ok_or_else(none)?;
            let mut own = Mat::zeros(part.len(), whole.cols());
            for (at, row) in part.enumerate() {
                own.row_mut(at)[row..].copy_from_slice(&whole.row(row)[row..]);
            }
            Ok(own)
        }
        (Some(_), part) => {
            let selected = part.map(|part| bags.select(&part.collect::<Vec<usize>>()));
            let rows = selected.as_ref().unwrap_or(bags);
            let rows = transform.apply(&rows.align(reference.features())?, ctx)?;
            prepared.against(0, &rows, ctx)?.ok_or_else(none)
        }
    }
}

/// The rows of a shard: consecutive bags, chosen so that all shards compare about the same number of pairs of instances. Where bags
/// are compared with each other, the last rows are short.
pub fn shard_rows(bags: &Bags, triangle: bool, shard: Shard) -> Range<usize> {
    let n = bags.instance_count() as u128;
    // The pairs that bags before this one have.
    let before = |bag: usize| {
        let row = bags.offsets()[bag] as u128;
        if triangle { row * (2 * n - row) } else { row }
    };
    let all = before(bags.len());
    let bound = |i: usize| {
        let wanted = all * i as u128 / shard.of() as u128;
        let bags: Vec<usize> = (0..=bags.len()).collect();
        bags.partition_point(|&bag| before(bag) < wanted)
    };
    bound(shard.index() - 1)..bound(shard.index())
}

/// The whole Gram from the rows of all shards, in their order. Of bags with themselves the left half is that of the right.
pub fn join_grams(parts: &[Mat], triangle: bool) -> Result<Mat> {
    let rows = parts.iter().map(Mat::rows).sum();
    let cols = parts.first().map_or(0, Mat::cols);
    if parts.iter().any(|part| part.cols() != cols) || triangle && rows != cols {
        return Err(Error::Invalid("the shards are not those of one matrix".into()));
    }
    let mut whole = Mat::new(rows, cols, parts.iter().flat_map(|part| part.data().iter().copied()).collect());
    if triangle {
        for row in 0..rows {
            (0..row).for_each(|column| whole.set(row, column, whole.get(column, row)));
        }
    }
    Ok(whole)
}

/// A part of a Gram as it is stored: one more row begins with the checksum of the others, so that a damaged file is noticed.
pub fn seal_part(part: Mat) -> Mat {
    let (rows, cols) = (part.rows(), part.cols());
    let mut data = part.into_data();
    let sum = part_sum(rows, cols, &data);
    data.resize((rows + 1) * cols, 0.0);
    if let Some(first) = data.get_mut(rows * cols) {
        *first = sum;
    }
    Mat::new(rows + 1, cols, data)
}

/// The part that [`seal_part`] made this of; none if it was changed since.
pub fn open_part(stored: Mat) -> Option<Mat> {
    let (rows, cols) = (stored.rows().checked_sub(1)?, stored.cols());
    let mut data = stored.into_data();
    let (part, last) = data.split_at(rows * cols);
    let (sum, rest) = last.split_first()?;
    let whole = *sum == part_sum(rows, cols, part) && rest.iter().all(|v| v.to_bits() == 0);
    data.truncate(rows * cols);
    whole.then(|| Mat::new(rows, cols, data))
}

/// The checksum as a number: the 53 bits that one holds.
fn part_sum(rows: usize, cols: usize, data: &[f64]) -> f64 {
    let words = [rows as u64, cols as u64].into_iter().chain(data.iter().map(|v| v.to_bits()));
    // Byte by byte: of whole words two changed signs would cancel out.
    let bytes = words.flat_map(u64::to_le_bytes);
    let sum = bytes.fold(checksum::BEGIN, |sum, byte| checksum::step(sum, u64::from(byte)));
    (sum >> 11) as f64
}

/// The feature map of every bag, of length 1, so that inner products are the Gram: sparse rows, and what
/// [`Model::map_digest`](crate::model::Model::map_digest) says of a model that maps bags in the same way. Everything is learned
/// from these bags, as by [`gram`](gram()).
pub fn feature_map(
    method: &dyn Method,
    point: &Point,
    scale: Scale,
    impute: bool,
    bags: &Bags,
    target: Option<&Target>,
    ctx: &Ctx,
) -> Result<(Csr, String)> {
    let (transform, prepared) = prepare(method, point, scale, impute, bags, target, None, ctx)?;
    let (rows, digest) = (prepared.map(0)?, prepared.map_digest(0, bags.features(), &transform)?);
    rows.zip(digest).ok_or_else(|| lacks(method.info().name, Capability::FeatureMap))
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
    rows: Option<(usize, usize)>,
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
    let prepared = method.prepare(ready, points, &Scope { rows, ..Scope::of(&all) }, ctx)?;
    Ok((transform, prepared))
}
