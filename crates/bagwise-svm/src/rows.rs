//! Recently used kernel rows, under a memory budget.
//!
//! Rows are kept in the solver's current order of variables, cut to its active prefix, so that the hot loops
//! read contiguous memory even when the rows come from a Gram addressed by an index list. When shrinking
//! reorders the variables the rows are reordered with them; when all variables return, a row is completed by
//! its missing entries only. The least recently used row makes room; finding it is a linear search, which is
//! cheaper than the row that has to be filled afterwards.

use crate::problem::KernelRows;

const ABSENT: u32 = u32::MAX;

/// Where a fetched row lies.
#[derive(Clone, Copy)]
pub(crate) enum RowSlot {
    Lent(usize),
    Kept(usize),
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
    budget: usize,
    clock: u64,
}

impl<'k> RowCache<'k> {
    pub(crate) fn new(kernel: &'k dyn KernelRows, budget_bytes: usize) -> RowCache<'k> {
        let n = kernel.len();
        RowCache {
            kernel,
            order: (0..n).collect(),
            natural_order: true,
            kept: Vec::new(),
            slot_of: vec![ABSENT; n],
            budget: budget_bytes / size_of::<f64>(),
            clock: 0,
        }
    }

    /// Finds or fills the row of `variable` over the first `width` variables of the order. The row
    /// fetched just before stays where it is: it is never the oldest of two or more.
    pub(crate) fn fetch(&mut self, variable: usize, width: usize) -> RowSlot {
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
