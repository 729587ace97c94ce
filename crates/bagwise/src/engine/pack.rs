//! Instances packed for the loops of `kernels`: panels of as many instances as a register tile is wide,
//! attribute after attribute, in the precision of the computation, padded with zeros.
//!
//! A panel of instances i..i+w holds x[i][0], x[i+1][0], …, x[i+w-1][0], x[i][1], … Dense rows of either
//! precision and sparse rows give the same panels. Packing costs one pass over the data, small beside n^2 d.

use std::marker::PhantomData;
use std::ops::Range;

use rayon::prelude::*;

use super::simd::Element;
use crate::bags::Instances;

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

/// Instances in panels, with their squared lengths.
pub(crate) struct Packed<T> {
    pub panels: Buffer<T>,
    /// One per instance, of the packed (centred, rounded) values; 0 for padding.
    pub norms: Buffer<T>,
}

/// Packs `rows` in panels of `lanes`, after subtracting `centre` if there is one.
pub(crate) fn pack<T: Element>(
    instances: &Instances,
    rows: Range<usize>,
    centre: Option<&[f64]>,
    lanes: usize,
) -> Packed<T> {
    let width = instances.cols();
    let padded = rows.len().next_multiple_of(lanes);
    let mut packed = Packed { panels: Buffer::zeros(padded * width), norms: Buffer::zeros(padded) };
    let fill = |first: usize, panel: &mut [T], norms: &mut [T]| {
        let mut row = vec![0.0; width];
        for lane in 0..lanes.min(rows.end - first) {
            instances.row_into(first + lane, &mut row);
            if let Some(centre) = centre {
                for (x, c) in row.iter_mut().zip(centre) {
                    *x -= c;
                }
            }
            for (k, x) in row.iter_mut().enumerate() {
                let rounded = T::from_f64(*x);
                panel[k * lanes + lane] = rounded;
                *x = rounded.to_f64();
            }
            norms[lane] = T::from_f64(squared_length(&row));
        }
    };
    packed
        .panels
        .par_chunks_mut(lanes * width)
        .zip(packed.norms.par_chunks_mut(lanes))
        .enumerate()
        .with_min_len(16)
        .for_each(|(p, (panel, norms))| fill(rows.start + p * lanes, panel, norms));
    packed
}

/// The sum of squares, in eight partial sums: fewer roundings one after the other.
pub(crate) fn squared_length(row: &[f64]) -> f64 {
    let mut sums = [0.0; 8];
    let mut eights = row.chunks_exact(8);
    for eight in &mut eights {
        for i in 0..8 {
            sums[i] += eight[i] * eight[i];
        }
    }
    let rest: f64 = eights.remainder().iter().map(|x| x * x).sum();
    rest + sums.iter().sum::<f64>()
}

/// The mean of all rows. Summed in row order, so that it does not depend on the number of threads.
pub(crate) fn mean(instances: &Instances) -> Vec<f64> {
    let mut sums = vec![0.0; instances.cols()];
    match instances {
        Instances::Sparse(csr) => {
            for (&c, &v) in csr.indices().iter().zip(csr.values()) {
                sums[c as usize] += v;
            }
        }
        Instances::F64(m) => {
            for r in 0..m.rows() {
                for (s, x) in sums.iter_mut().zip(m.row(r)) {
                    *s += x;
                }
            }
        }
        Instances::F32(m) => {
            for r in 0..m.rows() {
                for (s, &x) in sums.iter_mut().zip(m.row(r)) {
                    *s += f64::from(x);
                }
            }
        }
    }
    let count = instances.rows() as f64;
    sums.iter_mut().for_each(|s| *s /= count);
    sums
}
