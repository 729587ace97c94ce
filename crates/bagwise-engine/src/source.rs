//! Where the pairs engine takes squared distances from: packed columns of dense data, or rows that stay sparse.

use std::ops::{Deref, Range};
use std::sync::Mutex;

use rayon::prelude::*;

use super::pack::{Buffer, mean, pack};
use super::simd::Element;
use super::sparse;
use bagwise_core::{Csr, Error, Instances, Result};

/// Where squared distances come from.
pub(crate) enum DistanceSource<'a, T> {
    /// Columns as they are, or after their mean was subtracted; and where that mean now is. Where there is no memory for all of
    /// them, every tile packs its own, again for every chunk of rows.
    Dense {
        columns: Option<Buffer<T>>,
        subtracted: bool,
        mean: Vec<f64>,
        middle: Vec<T>,
    },
    Sparse {
        rows: &'a Csr,
        cols: &'a Csr,
        norms: [Vec<f64>; 2],
        tables: Mutex<Vec<sparse::UnpackedRows>>,
    },
}

impl<'a, T: Element> DistanceSource<'a, T> {
    /// Between rows that stay sparse.
    pub(crate) fn sparse(a: &'a Csr, b: &'a Csr) -> Result<DistanceSource<'a, T>> {
        let norms = [sparse::squared_lengths(a), sparse::squared_lengths(b)];
        if norms.iter().flatten().any(|n| n.is_nan()) {
            return Err(not_a_number());
        }
        Ok(DistanceSource::Sparse { rows: a, cols: b, norms, tables: Mutex::default() })
    }

    /// Between dense rows, in panels of `lanes` columns, which are packed `at_once` or tile by tile.
    pub(crate) fn dense(
        rows: &Instances,
        cols: &Instances,
        lanes: usize,
        at_once: bool,
    ) -> Result<DistanceSource<'a, T>> {
        for side in [rows, cols] {
            let missing = match side {
                Instances::F64(m) => m.data().par_iter().with_min_len(1 << 16).any(|x| x.is_nan()),
                Instances::F32(m) => m.data().par_iter().with_min_len(1 << 16).any(|x| x.is_nan()),
                Instances::Sparse(m) => m.values().iter().any(|x| x.is_nan()),
                // Their values are finite by construction.
                Instances::Stored(_) => false,
            };
            if missing {
                return Err(not_a_number());
            }
        }
        let mut mean = mean(cols)?;
        if !mean.iter().all(|x| x.is_finite()) {
            mean.fill(0.0);
        }
        // Doubles are packed as they are. Rounding to f32 costs numbers far from 0 most, so there the mean goes first.
        let subtracted = size_of::<T>() < 8;
        let centre = subtracted.then_some(&mean[..]);
        let all = || pack(cols, 0..cols.rows(), centre, lanes);
        let columns = at_once.then(all).transpose()?;
        let middle = mean.iter().map(|&x| T::from_f64(if subtracted { 0.0 } else { x })).collect();
        Ok(DistanceSource::Dense { columns, subtracted, mean, middle })
    }

    /// The packed values of some columns, which begin with a panel; nothing for sparse data.
    pub(crate) fn packed(
        &self,
        instances: &Instances,
        cols: &Range<usize>,
        lanes: usize,
    ) -> Result<ColumnPanels<'_, T>> {
        let DistanceSource::Dense { columns, subtracted, mean, .. } = self else {
            return Ok(ColumnPanels::Kept(&[]));
        };
        let width = instances.cols();
        Ok(match columns {
            Some(all) => {
                ColumnPanels::Kept(&all[cols.start * width..cols.end.next_multiple_of(lanes) * width])
            }
            None => {
                let centre = subtracted.then_some(&mean[..]);
                ColumnPanels::Made(pack(instances, cols.clone(), centre, lanes)?)
            }
        })
    }
}

/// The packed columns of a tile.
pub(crate) enum ColumnPanels<'a, T> {
    /// A part of all of them.
    Kept(&'a [T]),
    Made(Buffer<T>),
}

impl<T: Element> Deref for ColumnPanels<'_, T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        match self {
            ColumnPanels::Kept(part) => part,
            ColumnPanels::Made(own) => own,
        }
    }
}

pub(crate) fn not_a_number() -> Error {
    Error::Invalid("an instance has a missing value; fill it in before comparing bags".into())
}
