//! Weighted sums of outer products, `sum_i w_i x_i x_i'`, and systems of equations with such matrices: what Newton's method
//! for a linear model is made of.
//!
//! N d^2 / 2 multiply-adds by the register tiles of `kernels`, in blocks of rows that stay in the second-level cache.
//! Threads share out tiles of the matrix, each summed over the rows in their order, so that sums do not depend on
//! threads.

use rayon::prelude::*;

use super::kernels::{AvailableKernels, TILE_COLS, TILE_ROWS};
use super::pack::Buffer;
use super::pairs::mirror;
use super::simd::dot;
use bagwise_core::{Ctx, Instances, Mat, Message, Result};

/// Rows taken together: with a tile of both sides 0.5 MB.
const BLOCK: usize = 512;

/// `sum_i w_i x_i x_i'`, symmetric, columns x columns.
pub fn weighted_scatter(rows: &Instances, weights: &[f64], ctx: &Ctx) -> Result<Mat> {
    let (n, width) = (rows.rows(), rows.cols());
    let kernels = <f64 as AvailableKernels>::available()[0];
    let (strips, columns) = (width.div_ceil(TILE_ROWS), width.div_ceil(TILE_COLS));
    ctx.reserve(
        "sums of products of all pairs of columns",
        16 * (width * width) as u64,
        Message::more_memory().or("use fewer columns"),
    )?;
    let mut tiles: Vec<(usize, usize, Buffer<f64>)> = (0..strips)
        .flat_map(|s| (s * TILE_ROWS / TILE_COLS..columns).map(move |c| (s, c)))
        .map(|(s, c)| (s, c, Buffer::zeros(TILE_ROWS * TILE_COLS)))
        .collect();
    let mut row = vec![0.0; width];
    for first in (0..n).step_by(BLOCK) {
        ctx.check()?;
        let count = BLOCK.min(n - first);
        // Panels of columns, row after row; beyond the last column zeros.
        let mut left: Buffer<f64> = Buffer::zeros(strips * TILE_ROWS * count);
        let mut right: Buffer<f64> = Buffer::zeros(columns * TILE_COLS * count);
        for at in 0..count {
            rows.row_into(first + at, &mut row)?;
            let weight = weights[first + at];
            for (panel, own) in row.chunks(kernels.mr).enumerate() {
                left[(panel * count + at) * kernels.mr..][..own.len()].copy_from_slice(own);
            }
            for (panel, own) in row.chunks(kernels.nr).enumerate() {
                let to = &mut right[(panel * count + at) * kernels.nr..][..own.len()];
                to.iter_mut().zip(own).for_each(|(to, x)| *to = weight * x);
            }
        }
        tiles.par_iter_mut().for_each(|(s, c, tile)| {
            let a = &left[*s * TILE_ROWS * count..(*s + 1) * TILE_ROWS * count];
            let b = &right[*c * TILE_COLS * count..(*c + 1) * TILE_COLS * count];
            // SAFETY: `available` checked the instruction set.
            unsafe { (kernels.outer)(a, b, count, tile) };
        });
    }
    let mut out = Mat::zeros(width, width);
    for (s, c, tile) in tiles {
        let to = c * TILE_COLS..((c + 1) * TILE_COLS).min(width);
        for (i, values) in (s * TILE_ROWS..((s + 1) * TILE_ROWS).min(width)).zip(tile.chunks_exact(TILE_COLS))
        {
            out.row_mut(i)[to.clone()].copy_from_slice(&values[..to.len()]);
        }
    }
    mirror(&mut out);
    Ok(out)
}

/// The Cholesky factor of a symmetric positive definite matrix, in its lower half; nothing if it is not positive definite.
#[derive(Clone, Debug)]
pub struct CholeskyFactor(Mat);

impl CholeskyFactor {
    /// Factors a matrix, of which the lower half is read.
    pub fn new(mut a: Mat) -> Option<CholeskyFactor> {
        let n = a.rows();
        for i in 0..n {
            let (above, from) = a.data_mut().split_at_mut(i * n);
            let row = &mut from[..n];
            for j in 0..i {
                let known = &above[j * n..j * n + j + 1];
                row[j] = (row[j] - dot(&row[..j], &known[..j])) / known[j];
            }
            let pivot = row[i] - dot(&row[..i], &row[..i]);
            if !(pivot > 0.0 && pivot.is_finite()) {
                return None;
            }
            row[i] = pivot.sqrt();
        }
        Some(CholeskyFactor(a))
    }

    /// The solution of `A x = b`.
    pub fn solve(&self, mut b: Vec<f64>) -> Vec<f64> {
        let a = &self.0;
        for i in 0..b.len() {
            let row = a.row(i);
            b[i] = (b[i] - dot(&row[..i], &b[..i])) / row[i];
        }
        for i in (0..b.len()).rev() {
            b[i] /= a.get(i, i);
            let value = b[i];
            b[..i].iter_mut().zip(a.row(i)).for_each(|(b, l)| *b -= value * l);
        }
        b
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use bagwise_core::{Csr, Rng};

    #[test]
    fn sums_are_those_of_the_definition_on_any_number_of_threads() {
        let mut rng = Rng::new(1, "scatter", &[]);
        for (n, width) in [(1, 1), (7, 3), (600, 50), (1100, 130)] {
            let m = Mat::new(n, width, (0..n * width).map(|_| rng.normal()).collect());
            let weights: Vec<f64> = (0..n).map(|_| rng.uniform()).collect();
            let mut csr = Csr::empty(width);
            (0..n).for_each(|i| csr.push_row(m.row(i).iter().enumerate().map(|(c, &v)| (c as u32, v))));
            let ctx = Ctx::default();
            let dense = Instances::F64(m.clone());
            let found = weighted_scatter(&dense, &weights, &ctx).unwrap();
            let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
            assert_eq!(found, pool.install(|| weighted_scatter(&dense, &weights, &ctx)).unwrap());
            assert_eq!(found, weighted_scatter(&Instances::Sparse(csr), &weights, &ctx).unwrap());
            for i in 0..width {
                for j in 0..width {
                    let sum: f64 = (0..n).map(|r| weights[r] * m.get(r, i) * m.get(r, j)).sum();
                    // A thousand terms of size 1.
                    assert!((found.get(i, j) - sum).abs() < 1e-12 * n as f64, "{n} x {width}: {i} {j}");
                }
            }
        }
    }

    #[test]
    fn equations_are_solved_and_what_is_not_positive_is_refused() {
        let a = Mat::from_rows(&[[4.0, 2.0, 0.5], [2.0, 3.0, 1.0], [0.5, 1.0, 2.0]]);
        let x = [1.0, -2.0, 3.0];
        let b = (0..3).map(|i| a.row(i).iter().zip(x).map(|(a, x)| a * x).sum()).collect();
        let found = CholeskyFactor::new(a).unwrap().solve(b);
        found.iter().zip(x).for_each(|(f, x)| assert!((f - x).abs() < 1e-14));
        assert!(CholeskyFactor::new(Mat::from_rows(&[[1.0, 2.0], [2.0, 1.0]])).is_none());
    }
}
