//! Recently used kernel rows, under a memory budget.
//!
//! Rows are kept in the solver's current order of variables, cut to its active prefix, so that the hot loops
//! read contiguous memory even when the rows come from a Gram addressed by an index list. When shrinking
//! reorders the variables the rows are reordered with them; when all variables return, a row is completed by
//! its missing entries only. The least recently used row makes room; finding it is a linear search, which is
//! cheaper than the row that has to be filled afterwards.
//!
//! A small part of a stored matrix is copied as a whole: machines for pairs of many classes have some ten examples and take
//! microseconds, of which a list for every row would be a large part.

use crate::problem::KernelRows;

const ABSENT: u32 = u32::MAX;

/// Examples of a matrix that is copied: it fits the first cache.
const SMALL: usize = 64;

/// Where a fetched row lies.
#[derive(Clone, Copy)]
pub(crate) enum RowSlot {
    Lent(usize),
    Kept(usize),
    Copied(usize),
}

struct CachedRow {
    variable: usize,
    last_used: u64,
    values: Vec<f64>,
}

pub(crate) struct RowCache<'k> {
    kernel: &'k dyn KernelRows,
    /// Variables in the solver's order; the active ones come first.
    pub(crate) order: Vec<usize>,
    natural_order: bool,
    kept: Vec<CachedRow>,
    slot_of: Vec<u32>,
    /// All rows, complete, if the matrix is small; else nothing.
    copied: Vec<f64>,
    budget: usize,
    clock: u64,
}

impl<'k> RowCache<'k> {
    pub(crate) fn new(kernel: &'k dyn KernelRows, budget_bytes: usize) -> RowCache<'k> {
        let n = kernel.len();
        let order: Vec<usize> = (0..n).collect();
        let mut copied = Vec::new();
        let budget = budget_bytes / size_of::<f64>();
        if n <= SMALL && n * n <= budget && kernel.is_stored() {
            copied.resize(n * n, 0.0);
            let rows = copied.chunks_exact_mut(n.max(1)).enumerate();
            rows.for_each(|(i, row)| match kernel.borrowed_row(i) {
                Some(lent) => row.copy_from_slice(lent),
                None => kernel.row(i, &order, row),
            });
        }
        RowCache {
            kernel,
            order,
            natural_order: true,
            kept: Vec::new(),
            slot_of: if copied.is_empty() { vec![ABSENT; n] } else { Vec::new() },
            copied,
            budget,
            clock: 0,
        }
    }

    /// Finds or fills the row of `variable` over the first `width` variables of the order. The row
    /// fetched just before stays where it is: it is never the oldest of two or more.
    pub(crate) fn fetch(&mut self, variable: usize, width: usize) -> RowSlot {
        if !self.copied.is_empty() {
            return RowSlot::Copied(variable);
        }
        if self.natural_order && self.kernel.borrowed_row(variable).is_some() {
            return RowSlot::Lent(variable);
        }
        self.clock += 1;
        let slot = match self.slot_of[variable] {
            ABSENT => self.claim(variable, width),
            slot => slot as usize,
        };
        let row = &mut self.kept[slot];
        row.last_used = self.clock;
        let known = row.values.len();
        if known < width {
            row.values.resize(width, 0.0);
            self.kernel.row(variable, &self.order[known..width], &mut row.values[known..]);
        }
        RowSlot::Kept(slot)
    }

    pub(crate) fn get(&self, slot: RowSlot, width: usize) -> &[f64] {
        match slot {
            RowSlot::Lent(variable) => &self.kernel.borrowed_row(variable).expect("lent before")[..width],
            RowSlot::Kept(slot) => &self.kept[slot].values[..width],
            RowSlot::Copied(variable) => &self.copied[variable * self.order.len()..][..width],
        }
    }

    /// A slot for `variable`: a new one while the budget lasts (two rows are always allowed), else the oldest.
    fn claim(&mut self, variable: usize, width: usize) -> usize {
        let slot = if self.kept.len() < 2 || (self.kept.len() + 1) * width <= self.budget {
            self.kept.push(CachedRow { variable, last_used: 0, values: Vec::with_capacity(width) });
            self.kept.len() - 1
        } else {
            let oldest =
                (0..self.kept.len()).min_by_key(|&slot| self.kept[slot].last_used).expect("two rows");
            self.slot_of[self.kept[oldest].variable] = ABSENT;
            self.kept[oldest].variable = variable;
            self.kept[oldest].values.clear();
            oldest
        };
        self.slot_of[variable] = slot as u32;
        slot
    }

    /// Entries of the row of `variable` at positions `from..to` of the order, past the cache.
    pub(crate) fn uncached(&self, variable: usize, from: usize, to: usize, out: &mut [f64]) {
        self.kernel.row(variable, &self.order[from..to], out);
    }

    /// Follows a reordering of the first `positions.len()` variables: position `k` now holds what was at
    /// `positions[k]`. Only the first `active` entries of each row stay.
    pub(crate) fn reorder(&mut self, positions: &[usize], active: usize) {
        let moved: Vec<usize> = positions.iter().map(|&from| self.order[from]).collect();
        self.order[..moved.len()].copy_from_slice(&moved);
        self.natural_order = false;
        if !self.copied.is_empty() {
            let mut before = [0.0; SMALL];
            for row in self.copied.chunks_exact_mut(self.order.len()) {
                before[..positions.len()].copy_from_slice(&row[..positions.len()]);
                row.iter_mut().zip(positions).for_each(|(value, &from)| *value = before[from]);
            }
        }
        for row in &mut self.kept {
            // Kept positions ascend, so every entry moves towards the front and none is overwritten unread;
            // and what a shorter row knows of the new order is again a prefix.
            let known = positions[..active].partition_point(|&from| from < row.values.len());
            for k in 0..known {
                row.values[k] = row.values[positions[k]];
            }
            row.values.truncate(known);
            row.values.shrink_to_fit();
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::{Form, Gram, RowFn, SmoParams, bounds, fit};

    #[test]
    fn a_copied_matrix_gives_the_bits_of_fetched_rows() {
        // Examples on a line in two mixed classes, with variables that are set aside and return.
        for n in [1, 2, 17, 64] {
            let place = |i: usize| ((i * 37) % 101) as f64 / 101.0;
            let all = 2 * n;
            let value = |a: usize, b: usize| (-8.0 * (place(a) - place(b)).powi(2)).exp();
            let gram: Vec<f64> = (0..all * all).map(|k| value(k / all, k % all)).collect();
            // Every other row, so that none can be lent.
            let index: Vec<usize> = (0..n).map(|i| 2 * i).collect();
            let fill = |i: usize, columns: &[usize], out: &mut [f64]| {
                out.iter_mut().zip(columns).for_each(|(out, &c)| *out = gram[index[i] * all + index[c]]);
            };
            let diagonal: Vec<f64> = index.iter().map(|&i| gram[i * all + i]).collect();
            let labels: Vec<f64> = (0..n).map(|i| if (i * 7) % 5 < 2 { 1.0 } else { -1.0 }).collect();
            let form = Form::Classify { labels: &labels };
            for cost in [0.5, 1e4] {
                let params = SmoParams { tolerance: 1e-6, ..SmoParams::default() };
                let copied = fit(&Gram::new(&gram, all, &index), form, &bounds(cost, n), None, &params);
                let fetched = fit(&RowFn::new(diagonal.clone(), fill), form, &bounds(cost, n), None, &params);
                assert_eq!(copied.outcome, fetched.outcome, "{n} examples, cost {cost}");
                assert_eq!(copied.coefficients, fetched.coefficients, "{n} examples, cost {cost}");
                assert!(n < 17 || copied.outcome.iterations > n, "nothing was set aside");
            }
        }
    }
}
