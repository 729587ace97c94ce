//! Instances packed for the loops of `kernels`: panels of as many instances as a register tile is wide,
//! attribute after attribute, in the precision of the computation, padded with zeros.
//!
//! A panel of instances i..i+w holds x[i][0], x[i+1][0], …, x[i+w-1][0], x[i][1], … Dense rows of either
//! precision and sparse rows give the same panels. Packing costs one pass over the data, small beside n^2 d.

use std::marker::PhantomData;
use std::ops::Range;

use rayon::prelude::*;

use super::simd::Element;
use bagwise_core::{Error, Instances, Result};

/// A cache line: vectors that straddle two lines take two reads.
#[repr(align(64))]
#[derive(Clone, Copy)]
struct Line(#[expect(dead_code, reason = "read as numbers")] [u8; 64]);

/// Zeroed numbers that start on a cache line.
pub(crate) struct Buffer<T> {
    lines: Vec<Line>,
    len: usize,
    holds: PhantomData<T>,
}

impl<T: Element> Buffer<T> {
    pub(crate) fn zeros(len: usize) -> Buffer<T> {
        let lines = (len * size_of::<T>()).div_ceil(64);
        Buffer { lines: vec![Line([0; 64]); lines], len, holds: PhantomData }
    }
}

impl<T: Element> std::ops::Deref for Buffer<T> {
    type Target = [T];
    fn deref(&self) -> &[T] {
        // SAFETY: the lines hold at least `len` numbers, aligned to 64 bytes; every bit pattern is a number of
        // type f32 or f64, the only `Element`s.
        unsafe { std::slice::from_raw_parts(self.lines.as_ptr().cast(), self.len) }
    }
}

impl<T: Element> std::ops::DerefMut for Buffer<T> {
    fn deref_mut(&mut self) -> &mut [T] {
        // SAFETY: as for `deref`, and the lines are borrowed mutably.
        unsafe { std::slice::from_raw_parts_mut(self.lines.as_mut_ptr().cast(), self.len) }
    }
}

/// Packs `rows` in panels of `lanes`, after subtracting `centre` if there is one.
pub(crate) fn pack<T: Element>(
    instances: &Instances,
    rows: Range<usize>,
    centre: Option<&[f64]>,
    lanes: usize,
) -> Result<Buffer<T>> {
    let width = instances.cols();
    let mut panels = Buffer::zeros(rows.len().next_multiple_of(lanes) * width);
    panels.par_chunks_mut(lanes * width).enumerate().with_min_len(16).try_for_each(|(p, panel)| {
        let mut row = vec![0.0; width];
        let first = rows.start + p * lanes;
        for lane in 0..lanes.min(rows.end - first) {
            instances.row_into(first + lane, &mut row)?;
            if let Some(centre) = centre {
                row.iter_mut().zip(centre).for_each(|(x, c)| *x -= c);
            }
            for (k, &x) in row.iter().enumerate() {
                panel[k * lanes + lane] = T::from_f64(x);
            }
        }
        Ok::<(), Error>(())
    })?;
    Ok(panels)
}

/// Some panels about a centre.
pub(crate) struct Centred<T> {
    pub panels: Buffer<T>,
    /// The squared length of every instance; 0 for padding.
    pub norms: Buffer<T>,
    /// What was subtracted.
    pub centre: Vec<T>,
    /// The largest squared length.
    pub radius: f64,
}

/// Moves the `count` instances of some panels to a centre, or to their mean.
pub(crate) fn centred<T: Element>(
    panels: &[T],
    count: usize,
    width: usize,
    lanes: usize,
    centre: Option<&[T]>,
) -> Centred<T> {
    let mut out = Centred {
        panels: Buffer::zeros(panels.len()),
        norms: Buffer::zeros(panels.len() / width),
        centre: centre.map_or_else(|| panel_mean(panels, count, width, lanes), <[T]>::to_vec),
        radius: 0.0,
    };
    let (mut norms, mut part) = (vec![0.0; lanes], vec![0.0; lanes]);
    for (p, (panel, moved)) in
        panels.chunks_exact(width * lanes).zip(out.panels.chunks_exact_mut(width * lanes)).enumerate()
    {
        let real = lanes.min(count - p * lanes);
        norms.fill(0.0);
        for (k, (from, to)) in panel.chunks_exact(lanes).zip(moved.chunks_exact_mut(lanes)).enumerate() {
            let centre = out.centre[k].to_f64();
            for lane in 0..real {
                // Rounded as the kernels round it when they move the columns.
                to[lane] = T::from_f64(from[lane].to_f64() - centre);
                part[lane] += to[lane].to_f64() * to[lane].to_f64();
            }
            // In parts of sixteen: fewer roundings one after the other.
            if k % 16 == 15 || k + 1 == width {
                for (norm, part) in norms.iter_mut().zip(&mut part) {
                    *norm += std::mem::take(part);
                }
            }
        }
        for (norm, &sum) in out.norms[p * lanes..].iter_mut().zip(&norms[..real]) {
            *norm = T::from_f64(sum);
            // Not `max`, which prefers numbers to NaN.
            if sum > out.radius || sum.is_nan() {
                out.radius = sum;
            }
        }
    }
    out
}

/// The mean of the `count` instances of some panels.
fn panel_mean<T: Element>(panels: &[T], count: usize, width: usize, lanes: usize) -> Vec<T> {
    // Padding is 0 and adds nothing.
    let mut sums = vec![0.0; width];
    for panel in panels.chunks_exact(width * lanes) {
        for (sum, column) in sums.iter_mut().zip(panel.chunks_exact(lanes)) {
            *sum += column.iter().map(|x| x.to_f64()).sum::<f64>();
        }
    }
    sums.iter().map(|sum| T::from_f64(sum / count as f64)).collect()
}

/// The mean of all rows. Summed in row order, so that it does not depend on the number of threads.
pub(crate) fn mean(instances: &Instances) -> Result<Vec<f64>> {
    let mut sums = vec![0.0; instances.cols()];
    match instances {
        Instances::Sparse(csr) => {
            for (&c, &v) in csr.indices().iter().zip(csr.values()) {
                sums[c as usize] += v;
            }
        }
        dense => dense.each_row(0..dense.rows(), |_, row| {
            for (s, x) in sums.iter_mut().zip(row) {
                *s += x;
            }
        })?,
    }
    let count = instances.rows() as f64;
    sums.iter_mut().for_each(|s| *s /= count);
    Ok(sums)
}
