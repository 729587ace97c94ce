//! Distances (and inner products) inside one bag, distances always from differences: equal instances are at distance exactly 0, which the
//! rules about duplicates (cliques, spreads, edges) rely on. n^2 d / 2 multiply-adds.

use rayon::prelude::*;

use super::direct::Rows;
use super::kernels::{AvailableKernels, Kernels, TILE_COLS, TILE_ROWS};
use super::pack::{Buffer, pack};
use super::sparse;
use bagwise_core::{BagRef, Ctx, Instances, Mat, Result};

/// All squared distances inside a bag: n x n, exactly symmetric, 0 for equal instances.
pub fn squared_distances(bag: BagRef<'_>) -> Result<Mat> {
    let (instances, rows) = bag.parts();
    let n = rows.len();
    let mut out = Mat::zeros(n, n);
    if n == 1 {
        return Ok(out);
    }
    if let Instances::Sparse(csr) = instances
        && super::pairs::stays_sparse(csr)
    {
        for i in 0..n {
            for j in i + 1..n {
                let s = sparse::squared_distance(csr.row(rows.start + i), csr.row(rows.start + j));
                out.set(i, j, s);
            }
        }
    } else {
        dense(bag, <f64 as AvailableKernels>::available()[0], &mut out)?;
    }
    super::pairs::mirror(&mut out);
    Ok(out)
}

/// All squared distances for text inside a bag (see [`Distance::Text`](super::cells::Distance::Text)): n x n, exactly
/// symmetric, 0 for equal instances.
pub fn text_distances(bag: BagRef<'_>) -> Result<Mat> {
    of_pairs(bag, |rows, i, j| rows.text(i, rows, j))
}

/// All inner products inside a bag: n x n, exactly symmetric; equal instances have equal rows.
pub fn products(bag: BagRef<'_>) -> Result<Mat> {
    of_pairs(bag, |rows, i, j| rows.product(i, rows, j))
}

fn of_pairs(bag: BagRef<'_>, value: impl Fn(&Rows<'_>, usize, usize) -> f64) -> Result<Mat> {
    let (instances, range) = bag.parts();
    let own = instances.gather(&range.collect::<Vec<_>>());
    // The caller has reserved n x n numbers, beside which a copy of the rows is small.
    let rows = Rows::of(&own, true, &Ctx::default())?;
    let n = own.rows();
    let mut out = Mat::zeros(n, n);
    for i in 0..n {
        for j in i..n {
            out.set(i, j, value(&rows, i, j));
        }
    }
    super::pairs::mirror(&mut out);
    Ok(out)
}

/// Fills the upper triangle, tile by tile.
fn dense(bag: BagRef<'_>, kernels: &Kernels<f64>, out: &mut Mat) -> Result<()> {
    let (instances, rows) = bag.parts();
    let (n, width) = (rows.len(), bag.width());
    let a = pack::<f64>(instances, rows.clone(), None, kernels.mr)?;
    let b = pack::<f64>(instances, rows, None, kernels.nr)?;
    out.data_mut().par_chunks_mut(TILE_ROWS * n).enumerate().for_each(|(strip, out)| {
        let mut tile = Buffer::zeros(TILE_ROWS * TILE_COLS);
        let first = strip * TILE_ROWS;
        let count = out.len() / n;
        let padded = count.next_multiple_of(kernels.mr);
        for from in (first / kernels.nr * kernels.nr..n).step_by(TILE_COLS) {
            let to = (from + TILE_COLS).min(b.len() / width);
            // SAFETY: `available` checked the instruction set.
            unsafe {
                (kernels.differences)(
                    &a[first * width..(first + padded) * width],
                    &b[from * width..to * width],
                    width,
                    &mut tile,
                );
            }
            let columns = to.min(n) - from;
            for (row, tile) in out.chunks_exact_mut(n).zip(tile.chunks_exact(TILE_COLS)) {
                row[from..from + columns].copy_from_slice(&tile[..columns]);
            }
        }
    });
    Ok(())
}
