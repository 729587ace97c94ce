//! Principal axes of instances: the directions in which they vary most, after their mean.
//!
//! The covariance is summed over blocks of rows and taken apart (`tridiagonal`): N d^2 / 2 multiply-adds and about 9 d^3.
//! Where there are fewer instances than columns the inner products of instances are taken apart instead, which has the same
//! axes. Columns are not divided by their deviations. Signs are set by the largest entry of an axis.
//! Pearson 1901; scikit-learn's `PCA(svd_solver="full")` gives the same up to signs.

use std::ops::Range;

use rayon::prelude::*;

use crate::products::add_row_products;
use crate::tridiagonal::symmetric_eigen_rows;
use bagwise_core::{Ctx, Error, Instances, Mat, Message, Result, Rng};

/// With more columns than this, axes are learned from this many random instances: a matrix of this size is decomposed
/// in some ten seconds, and the time grows with its cube.
pub const MOST_COLUMNS: usize = 1024;

/// Rows that are read together.
const BLOCK: usize = 256;

/// Blocks whose sums one task keeps.
const BLOCKS: usize = 32;

/// A mean and directions of length 1, those of the largest variance first.
#[derive(Clone, Debug, PartialEq)]
pub struct Axes {
    mean: Vec<f64>,
    /// An axis in each row.
    directions: Mat,
}

/// All axes with their variances.
#[derive(Clone, Debug)]
pub struct AllAxes {
    axes: Axes,
    variances: Vec<f64>,
}

impl AllAxes {
    /// The axes of all rows of `points`.
    pub fn of(points: &Instances, ctx: &Ctx) -> Result<AllAxes> {
        let width = points.cols();
        let drawn = (width > MOST_COLUMNS && points.rows() > MOST_COLUMNS).then(|| {
            let mut rows = Rng::new(ctx.seed, "axes", &[]).sample(points.rows(), MOST_COLUMNS);
            rows.sort_unstable();
            points.gather(&rows)
        });
        let points = drawn.as_ref().unwrap_or(points);
        let mean = mean(points, ctx)?;
        let short = points.rows() < width;
        let side = if short { points.rows() } else { width };
        ctx.reserve(
            "the covariance of instances",
            8 * (4 * side * side + if short { side * width } else { 0 }) as u64,
            Message::more_memory().or("use fewer attributes"),
        )?;
        let (variances, directions) = if short {
            by_instances(points, &mean, ctx)?
        } else {
            let (mut values, vectors) = symmetric_eigen_rows(covariance(points, &mean, ctx)?, ctx)?;
            values.iter_mut().for_each(|v| *v = v.max(0.0));
            (values, vectors)
        };
        Ok(AllAxes { axes: Axes { mean, directions }, variances })
    }

    /// Variances along the axes, descending.
    pub fn variances(&self) -> &[f64] {
        &self.variances
    }

    /// The fewest first axes that have this share of the variance; one if there is no variance.
    pub fn with_share(&self, share: f64) -> Axes {
        let total: f64 = self.variances.iter().sum();
        let mut reached = 0.0;
        // All of the variance is all but rounding: axes without any would be noise.
        let wanted = (share - 1e-12) * total;
        let enough = self.variances.iter().position(|v| {
            reached += v;
            reached >= wanted
        });
        let count = enough.map_or(self.variances.len(), |last| last + 1);
        let first: Vec<usize> = (0..count).collect();
        Axes { mean: self.axes.mean.clone(), directions: self.axes.directions.gather(&first) }
    }
}

impl Axes {
    /// Axes from their parts: a mean, and a direction in each row.
    pub fn new(mean: Vec<f64>, directions: Mat) -> Result<Axes> {
        if directions.cols() != mean.len() || directions.rows() == 0 {
            return Err(Error::Invalid(format!(
                "{} axes of {} columns for a mean of {}",
                directions.rows(),
                directions.cols(),
                mean.len()
            )));
        }
        Ok(Axes { mean, directions })
    }

    /// The mean that is taken off.
    pub fn mean(&self) -> &[f64] {
        &self.mean
    }

    /// An axis in each row.
    pub fn directions(&self) -> &Mat {
        &self.directions
    }

    /// Number of axes.
    pub fn count(&self) -> usize {
        self.directions.rows()
    }

    /// Coordinates of some rows, each row's the same whichever rows come along.
    pub fn project(&self, points: &Instances, rows: Range<usize>, ctx: &Ctx) -> Result<Mat> {
        if points.cols() != self.mean.len() {
            return Err(Error::Invalid(format!(
                "these instances have {} attributes, the axes {}",
                points.cols(),
                self.mean.len()
            )));
        }
        let (count, width) = (self.count(), self.mean.len());
        let mut out = Mat::zeros(rows.len(), count);
        out.data_mut().par_chunks_mut(BLOCK * count).enumerate().try_for_each(|(b, out)| {
            ctx.check()?;
            let first = rows.start + b * BLOCK;
            let block = centred(points, first..first + out.len() / count, &self.mean)?;
            add_row_products(&block, self.directions.data(), width, out, count);
            Ok::<(), Error>(())
        })?;
        Ok(out)
    }
}

/// Rows without the mean.
fn centred(points: &Instances, rows: Range<usize>, mean: &[f64]) -> Result<Vec<f64>> {
    let mut block = Vec::with_capacity(rows.len() * mean.len());
    points.each_row(rows, |_, row| block.extend(row.iter().zip(mean).map(|(x, m)| x - m)))?;
    Ok(block)
}

/// Ranges of rows whose sums are kept apart; by their number alone, so that threads change nothing.
fn portions(rows: usize) -> Vec<Range<usize>> {
    let step = BLOCK * BLOCKS;
    (0..rows).step_by(step).map(|first| first..(first + step).min(rows)).collect()
}

fn mean(points: &Instances, ctx: &Ctx) -> Result<Vec<f64>> {
    let sums = portions(points.rows())
        .into_par_iter()
        .map(|rows| {
            ctx.check()?;
            let mut sum = vec![0.0; points.cols()];
            points.each_row(rows, |_, row| sum.iter_mut().zip(row).for_each(|(s, x)| *s += x))?;
            Ok(sum)
        })
        .collect::<Result<Vec<_>>>()?;
    let mut mean = vec![0.0; points.cols()];
    for sum in sums {
        mean.iter_mut().zip(sum).for_each(|(m, s)| *m += s);
    }
    let n = points.rows() as f64;
    mean.iter_mut().for_each(|m| *m /= n);
    Ok(mean)
}

/// Sums of products of columns over the number of rows.
fn covariance(points: &Instances, mean: &[f64], ctx: &Ctx) -> Result<Mat> {
    let width = mean.len();
    // A few portions at a time: each holds a matrix.
    let together = 2 * rayon::current_num_threads();
    let mut sum = Mat::zeros(width, width);
    for some in portions(points.rows()).chunks(together.max(1)) {
        let parts = some
            .par_iter()
            .map(|rows| {
                let mut part = Mat::zeros(width, width);
                for first in rows.clone().step_by(BLOCK) {
                    ctx.check()?;
                    let count = BLOCK.min(rows.end - first);
                    let block = centred(points, first..first + count, mean)?;
                    let mut columns = vec![0.0; count * width];
                    for (i, row) in block.chunks_exact(width).enumerate() {
                        row.iter().enumerate().for_each(|(j, &v)| columns[j * count + i] = v);
                    }
                    // The lower half, in strips.
                    const STRIP: usize = 32;
                    for from in (0..width).step_by(STRIP) {
                        let to = (from + STRIP).min(width);
                        let (a, b) = (&columns[from * count..to * count], &columns[..to * count]);
                        add_row_products(a, b, count, &mut part.data_mut()[from * width..], width);
                    }
                }
                Ok(part)
            })
            .collect::<Result<Vec<_>>>()?;
        for part in parts {
            sum.data_mut().iter_mut().zip(part.data()).for_each(|(s, p)| *s += p);
        }
    }
    let n = points.rows() as f64;
    for i in 0..width {
        for j in 0..=i {
            let value = sum.get(i, j) / n;
            sum.set(i, j, value);
            sum.set(j, i, value);
        }
    }
    Ok(sum)
}

/// The same axes from the inner products of instances: those that have a variance.
fn by_instances(points: &Instances, mean: &[f64], ctx: &Ctx) -> Result<(Vec<f64>, Mat)> {
    let (n, width) = (points.rows(), mean.len());
    let rows = Mat::new(n, width, centred(points, 0..n, mean)?);
    let mut products = Mat::zeros(n, n);
    products.data_mut().par_chunks_mut(n).enumerate().try_for_each(|(i, out)| {
        ctx.check()?;
        add_row_products(rows.row(i), rows.data(), width, out, n);
        Ok::<(), Error>(())
    })?;
    let (values, vectors) = symmetric_eigen_rows(products, ctx)?;
    // Axes below the rounding error of the largest one are meaningless.
    let floor = values[0].max(0.0) * n as f64 * f64::EPSILON;
    let count = values.iter().take_while(|&&v| v > floor).count();
    if count == 0 {
        let mut first = Mat::zeros(1, width);
        first.set(0, 0, 1.0);
        return Ok((vec![0.0], first));
    }
    let mut directions: Mat = Mat::zeros(count, width);
    directions.data_mut().par_chunks_mut(width).enumerate().for_each(|(k, axis)| {
        for (i, &share) in vectors.row(k).iter().enumerate() {
            axis.iter_mut().zip(rows.row(i)).for_each(|(a, x)| *a += share * x);
        }
        let length = axis.iter().map(|a| a * a).sum::<f64>().sqrt();
        let largest = axis.iter().fold(0.0f64, |m, &v| if v.abs() > m.abs() { v } else { m });
        axis.iter_mut().for_each(|a| *a *= largest.signum() / length);
    });
    Ok((values[..count].iter().map(|v| v / n as f64).collect(), directions))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn made(rows: usize, width: usize, seed: u64) -> Instances {
        let mut rng = Rng::new(seed, "axes", &[]);
        let value = |j: usize, rng: &mut Rng| 3.0 + rng.normal() / (1 + j) as f64;
        let mut data = Vec::new();
        for _ in 0..rows {
            (0..width).for_each(|j| data.push(value(j, &mut rng)));
        }
        Instances::F64(Mat::new(rows, width, data))
    }

    #[test]
    fn fewer_instances_than_columns_have_the_axes_of_the_covariance() {
        let ctx = Ctx::default();
        let points = made(12, 20, 1);
        let found = AllAxes::of(&points, &ctx).unwrap();
        let mean = mean(&points, &ctx).unwrap();
        let (values, vectors) =
            symmetric_eigen_rows(covariance(&points, &mean, &ctx).unwrap(), &ctx).unwrap();
        for k in 0..found.variances.len() {
            // Twelve rows have eleven axes; variances to rounding of the largest, axes to that over their gaps.
            assert!((found.variances[k] - values[k]).abs() < 1e-14, "{k}");
            let along: f64 = crate::simd::dot(vectors.row(k), found.axes.directions.row(k));
            assert!((along.abs() - 1.0).abs() < 1e-9, "{k}: {along}");
        }
        assert_eq!(found.variances.len(), 11);
    }

    #[test]
    fn equal_instances_have_one_axis_and_no_variance() {
        let ctx = Ctx::default();
        for (rows, width) in [(5, 3), (3, 5)] {
            let points = Instances::F64(Mat::new(rows, width, vec![2.5; rows * width]));
            let axes = AllAxes::of(&points, &ctx).unwrap().with_share(0.9);
            assert_eq!(axes.count(), 1);
            assert!(axes.project(&points, 0..rows, &ctx).unwrap().data().iter().all(|&v| v == 0.0));
        }
    }

    #[test]
    fn coordinates_do_not_depend_on_the_rows_beside_them() {
        let ctx = Ctx::default();
        let points = made(700, 9, 2);
        let axes = AllAxes::of(&points, &ctx).unwrap().with_share(1.0);
        let all = axes.project(&points, 0..700, &ctx).unwrap();
        for row in [0, 3, 255, 256, 699] {
            assert_eq!(axes.project(&points, row..row + 1, &ctx).unwrap().data(), all.row(row));
        }
    }
}
