//! Squared distances between sparse rows, for data too wide to be made dense.
//!
//! Eight rows are written out together: `place[c]` says where attribute c stands in a table that has a line of
//! eight values for every attribute that one of the eight rows has, and line 0, all zero, for every other. A
//! column instance b then costs one multiply-add of a line per stored value of b, for eight products at once.
//! The table stays in the second-level cache (eight rows of 100 values: 50 kB); what a thread keeps besides is
//! four bytes per attribute. Distances are |a|^2 + |b|^2 - 2ab on the values as they are: centring would fill
//! the zeros. Where that is not exact enough, and within a bag, the two rows are merged and differences summed.

use std::ops::Range;

use super::kernels::TILE_COLS;
use super::simd::Element;
use bagwise_core::Csr;

/// Rows that are written out together: one cache line of f64.
pub(crate) const LANES: usize = 8;

/// Eight rows of a sparse matrix, written out.
pub(crate) struct UnpackedRows {
    place: Vec<u32>,
    lines: Vec<[f64; LANES]>,
    attributes: Vec<u32>,
}

impl UnpackedRows {
    pub(crate) fn new(width: usize) -> UnpackedRows {
        UnpackedRows { place: vec![0; width], lines: vec![[0.0; LANES]], attributes: Vec::new() }
    }

    /// Writes out `rows` (at most eight) in place of what was there.
    pub(crate) fn write(&mut self, csr: &Csr, rows: Range<usize>) {
        assert!(rows.len() <= LANES, "eight rows at a time");
        for &attribute in &self.attributes {
            self.place[attribute as usize] = 0;
        }
        self.attributes.clear();
        self.lines.truncate(1);
        for (lane, row) in rows.enumerate() {
            let (attributes, values) = csr.row(row);
            for (&attribute, &value) in attributes.iter().zip(values) {
                let place = &mut self.place[attribute as usize];
                if *place == 0 {
                    *place = self.lines.len() as u32;
                    self.lines.push([0.0; LANES]);
                    self.attributes.push(attribute);
                }
                self.lines[*place as usize][lane] = value;
            }
        }
    }

    /// The eight inner products with one row of another matrix of the same width.
    fn products(&self, attributes: &[u32], values: &[f64]) -> [f64; LANES] {
        // Two sums, so that one addition need not wait for the other.
        let mut sums = [[0.0; LANES]; 2];
        for (i, (&attribute, &value)) in attributes.iter().zip(values).enumerate() {
            let line = &self.lines[self.place[attribute as usize] as usize];
            for lane in 0..LANES {
                sums[i % 2][lane] += value * line[lane];
            }
        }
        std::array::from_fn(|lane| sums[0][lane] + sums[1][lane])
    }

    /// Fills a tile with squared distances of the rows written out (whose squared lengths are `row_norms`)
    /// to `cols` of `csr` (whose squared lengths are `col_norms`).
    pub(crate) fn fill<T: Element>(
        &self,
        csr: &Csr,
        cols: Range<usize>,
        row_norms: &[f64],
        col_norms: &[f64],
        tile: &mut [T],
    ) {
        for (j, col) in cols.enumerate() {
            let (attributes, values) = csr.row(col);
            let products = self.products(attributes, values);
            for (i, &norm) in row_norms.iter().enumerate() {
                let squared = (norm + col_norms[col]) - 2.0 * products[i];
                tile[i * TILE_COLS + j] = T::from_f64(squared.max(0.0));
            }
        }
    }
}

/// Fills a tile with squared distances from differences.
pub(crate) fn fill_exact<T: Element>(
    a: &Csr,
    rows: Range<usize>,
    b: &Csr,
    cols: Range<usize>,
    tile: &mut [T],
) {
    for (i, row) in rows.enumerate() {
        for (j, col) in cols.clone().enumerate() {
            tile[i * TILE_COLS + j] = T::from_f64(squared_distance(a.row(row), b.row(col)));
        }
    }
}

/// The squared distance of two sparse rows, from differences.
pub(crate) fn squared_distance(a: (&[u32], &[f64]), b: (&[u32], &[f64])) -> f64 {
    let (mut i, mut j, mut sum) = (0, 0, 0.0);
    while i < a.0.len() && j < b.0.len() {
        let (ca, cb) = (a.0[i], b.0[j]);
        let x = if ca <= cb { a.1[i] } else { 0.0 };
        let y = if cb <= ca { b.1[j] } else { 0.0 };
        sum += (x - y) * (x - y);
        i += usize::from(ca <= cb);
        j += usize::from(cb <= ca);
    }
    for x in a.1[i..].iter().chain(&b.1[j..]) {
        sum += x * x;
    }
    sum
}

/// The squared length of every row.
pub(crate) fn squared_lengths(csr: &Csr) -> Vec<f64> {
    (0..csr.rows()).map(|r| csr.row(r).1.iter().map(|v| v * v).sum()).collect()
}
