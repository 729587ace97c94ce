//! Decision stumps on weighted instances: the best cut of the best column.
//!
//! Every column is sorted once; then the best stump for any weights is one scan over the sorted columns, and so are the
//! best cuts of all nodes of a level of a tree (`families/trees.rs`). Columns are scanned side by side, and of equally
//! good cuts (within 1e-12 of the whole weight) the first column and the lowest cut wins, whatever the threads do.

use rayon::prelude::*;

use crate::method::CutRule;
use bagwise_core::{Ctx, Instances, Message, Result};

/// How a cut is judged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Criterion {
    /// Weight of the instances on the wrong side, where each side takes its heavier class.
    Error,
    /// Entropy of the classes, given the side.
    Entropy,
    /// Gini impurity of the classes, given the side.
    Gini,
}

/// Weights this close, relative to all, are equal.
pub(crate) const EQUAL: f64 = 1e-12;

/// Columns whose cuts are held at a time: a tree may have many nodes.
const COLUMNS: usize = 64;

/// What is said of an instance by one of its attributes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Stump {
    attribute: usize,
    cut: f64,
    /// +1 or -1 at or below the cut.
    below: f64,
    above: f64,
}

impl Stump {
    /// The rule that adds this many times what the stump says.
    pub(crate) fn times(&self, factor: f64) -> CutRule {
        let Stump { attribute, cut, below, above } = *self;
        CutRule { attribute, cut, below: factor * below, above: factor * above }
    }
}

/// The columns of some instances, each sorted.
pub(crate) struct SortedColumns {
    /// Column after column.
    values: Vec<f64>,
    /// The instance of each value.
    rows: Vec<u32>,
    count: usize,
    width: usize,
}

/// Weight of the instances with +1 and with -1.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct ClassWeights {
    plus: f64,
    minus: f64,
}

/// A cut of a column and what it costs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct ColumnCut {
    pub(crate) cost: f64,
    pub(crate) attribute: usize,
    pub(crate) cut: f64,
}

/// Instances that a cut is to divide.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct NodeInstances {
    pub(crate) weights: ClassWeights,
    pub(crate) count: usize,
}

/// The search for the best cut in one column, whose values are seen from the lowest to the highest.
#[derive(Clone)]
struct CutScan {
    below: ClassWeights,
    seen: usize,
    last: f64,
    best: Option<BestCut>,
}

/// The cost, what lies below, and the values on either side.
#[derive(Clone, Copy)]
struct BestCut {
    cost: f64,
    below: ClassWeights,
    from: f64,
    to: f64,
}

impl BestCut {
    /// Half way, unless rounding reaches the upper value or there are no numbers between.
    fn cut(&self) -> f64 {
        let middle = 0.5 * self.from + 0.5 * self.to;
        if middle < self.to { middle } else { self.from }
    }
}

impl CutScan {
    const NEW: CutScan =
        CutScan { below: ClassWeights { plus: 0.0, minus: 0.0 }, seen: 0, last: f64::NAN, best: None };

    /// The next value; either side of a cut must have this many instances.
    fn see(
        &mut self,
        value: f64,
        weight: f64,
        whole: &NodeInstances,
        least: usize,
        equal: f64,
        by: Criterion,
    ) {
        if value > self.last && self.seen >= least && whole.count - self.seen >= least {
            let cost = self.below.cost(by) + self.below.rest(&whole.weights).cost(by);
            if self.best.is_none_or(|best| cost < best.cost - equal) {
                self.best = Some(BestCut { cost, below: self.below, from: self.last, to: value });
            }
        }
        self.below.add(weight);
        self.seen += 1;
        self.last = value;
    }
}

impl NodeInstances {
    pub(crate) fn add(&mut self, signed: f64) {
        self.weights.add(signed);
        self.count += 1;
    }
}

/// What costs least, of equal costs the first.
fn first_least<T>(found: impl Iterator<Item = (f64, T)>, equal: f64) -> Option<T> {
    let mut best: Option<(f64, T)> = None;
    for (cost, what) in found {
        if best.as_ref().is_none_or(|(least, _)| cost < least - equal) {
            best = Some((cost, what));
        }
    }
    best.map(|(_, what)| what)
}

/// One instruction each, where `f64::max` and `f64::min` also look for NaN.
fn larger(a: f64, b: f64) -> f64 {
    if a > b { a } else { b }
}

fn smaller(a: f64, b: f64) -> f64 {
    if a < b { a } else { b }
}

impl ClassWeights {
    pub(crate) fn total(&self) -> f64 {
        self.plus + self.minus
    }

    /// Without a branch, which would be unpredictable.
    fn add(&mut self, signed: f64) {
        self.plus += larger(signed, 0.0);
        self.minus += larger(-signed, 0.0);
    }

    /// The rest of a whole; rounding may not make it negative.
    fn rest(&self, whole: &ClassWeights) -> ClassWeights {
        ClassWeights {
            plus: larger(whole.plus - self.plus, 0.0),
            minus: larger(whole.minus - self.minus, 0.0),
        }
    }

    /// The heavier class everywhere: the stump where no attribute varies.
    fn everywhere(&self) -> Stump {
        let side = self.heavier(self.total());
        Stump { attribute: 0, cut: 0.0, below: side, above: side }
    }

    /// The heavier class; -1 where they weigh the same.
    fn heavier(&self, whole: f64) -> f64 {
        if self.plus - self.minus > EQUAL * whole { 1.0 } else { -1.0 }
    }

    /// What a side costs that takes its heavier class.
    pub(crate) fn cost(&self, criterion: Criterion) -> f64 {
        match criterion {
            Criterion::Error => smaller(self.plus, self.minus),
            Criterion::Entropy => {
                let log = |w: f64| if w > 0.0 { w * w.log2() } else { 0.0 };
                log(self.plus + self.minus) - log(self.plus) - log(self.minus)
            }
            Criterion::Gini if self.total() > 0.0 => 2.0 * self.plus * (self.minus / self.total()),
            Criterion::Gini => 0.0,
        }
    }
}

impl SortedColumns {
    pub(crate) fn new(instances: &Instances, ctx: &Ctx) -> Result<SortedColumns> {
        let (count, width) = (instances.rows(), instances.cols());
        ctx.reserve(
            "columns in sorted order",
            12 * (count * width) as u64,
            Message::more_memory().or("use fewer instances or columns"),
        )?;
        let mut values = vec![0.0; count * width];
        instances.each_row(0..count, |i, row| {
            row.iter().enumerate().for_each(|(c, &v)| values[c * count + i] = v);
        })?;
        let mut rows = vec![0; count * width];
        let each = count.max(1);
        let columns = values.par_chunks_mut(each).zip(rows.par_chunks_mut(each));
        columns.try_for_each(|(values, rows)| {
            ctx.check()?;
            let mut order: Vec<(f64, u32)> = values.iter().copied().zip(0..).collect();
            order.sort_unstable_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
            for ((value, row), (v, r)) in values.iter_mut().zip(rows).zip(order) {
                (*value, *row) = (v, r);
            }
            Ok(())
        })?;
        Ok(SortedColumns { values, rows, count, width })
    }

    fn width(&self) -> usize {
        self.width
    }

    fn column(&self, attribute: usize) -> (&[f64], &[u32]) {
        let own = attribute * self.count..(attribute + 1) * self.count;
        (&self.values[own.clone()], &self.rows[own])
    }

    /// The stump that fits best. `signed` has the weight of every instance times its class; 0 leaves it out.
    pub(crate) fn best(&self, signed: &[f64], criterion: Criterion, ctx: &Ctx) -> Result<Stump> {
        let mut whole = NodeInstances::default();
        signed.iter().filter(|s| **s != 0.0).for_each(|&s| whole.add(s));
        let total = whole.weights.total();
        let found: Vec<Option<(f64, Stump)>> = (0..self.width())
            .into_par_iter()
            .map(|attribute| {
                ctx.check()?;
                Ok(self.best_stump(attribute, signed, &whole, criterion))
            })
            .collect::<Result<_>>()?;
        let best = first_least(found.into_iter().flatten(), EQUAL * total);
        Ok(best.unwrap_or_else(|| whole.weights.everywhere()))
    }

    fn best_stump(
        &self,
        attribute: usize,
        signed: &[f64],
        whole: &NodeInstances,
        criterion: Criterion,
    ) -> Option<(f64, Stump)> {
        let total = whole.weights.total();
        let (values, rows) = self.column(attribute);
        let mut scan = CutScan::NEW;
        for (&value, &row) in values.iter().zip(rows) {
            let weight = signed[row as usize];
            if weight != 0.0 {
                scan.see(value, weight, whole, 1, EQUAL * total, criterion);
            }
        }
        let best = scan.best?;
        let above = best.below.rest(&whole.weights);
        let (below, above) = (best.below.heavier(total), above.heavier(total));
        Some((best.cost, Stump { attribute, cut: best.cut(), below, above }))
    }

    /// The best cut of each node, with at least this many instances on either side; none where no column varies. `node_of` has
    /// the node of every instance, and a number beyond all nodes for those that belong to none.
    pub(crate) fn best_of_nodes(
        &self,
        signed: &[f64],
        node_of: &[u32],
        nodes: &[NodeInstances],
        least: usize,
        criterion: Criterion,
        ctx: &Ctx,
    ) -> Result<Vec<Option<ColumnCut>>> {
        let equal = EQUAL * signed.iter().map(|s| s.abs()).sum::<f64>();
        let mut best: Vec<Option<ColumnCut>> = vec![None; nodes.len()];
        for from in (0..self.width()).step_by(COLUMNS) {
            let columns = from..self.width().min(from + COLUMNS);
            let scan = |attribute: usize| {
                ctx.check()?;
                let mut scans = vec![CutScan::NEW; nodes.len()];
                let (values, rows) = self.column(attribute);
                for (&value, &row) in values.iter().zip(rows) {
                    let node = node_of[row as usize] as usize;
                    if let (Some(scan), Some(whole)) = (scans.get_mut(node), nodes.get(node)) {
                        scan.see(value, signed[row as usize], whole, least, equal, criterion);
                    }
                }
                Ok(scans.into_iter().map(|s| s.best).collect::<Vec<_>>())
            };
            let found: Vec<Vec<Option<BestCut>>> =
                columns.clone().into_par_iter().map(scan).collect::<Result<_>>()?;
            for (attribute, cuts) in columns.zip(found) {
                for (best, found) in best.iter_mut().zip(cuts) {
                    let Some(found) = found else { continue };
                    if best.is_none_or(|best| found.cost < best.cost - equal) {
                        *best = Some(ColumnCut { cost: found.cost, attribute, cut: found.cut() });
                    }
                }
            }
        }
        Ok(best)
    }

    /// What a stump says of every instance.
    pub(crate) fn says(&self, stump: &Stump) -> Vec<f64> {
        let (values, rows) = self.column(stump.attribute);
        let mut said = vec![0.0; self.count];
        for (&value, &row) in values.iter().zip(rows) {
            said[row as usize] = if value <= stump.cut { stump.below } else { stump.above };
        }
        said
    }
}

/// Columns of the instances that one model is trained on, to find the stump with the least error again and again: several
/// times faster than [`SortedColumns::best`], and the same stump up to rounding. A boosted model looks at every value in every
/// round, and branches on the class of an instance are unpredictable; so there is none, and values are not read again.
pub(crate) struct BoostedColumns<'a> {
    columns: &'a SortedColumns,
    /// Rows in the order of each column, with [`NEW_VALUE`] where a value is larger than the one before.
    rows: Vec<u32>,
    /// Instances trained on.
    count: usize,
}

/// A bit that no row has.
const NEW_VALUE: u32 = 1 << 31;

impl<'a> BoostedColumns<'a> {
    /// The columns of the instances whose weight is not 0; none if there are so many rows that they leave no bit.
    pub(crate) fn new(columns: &'a SortedColumns, signed: &[f64], ctx: &Ctx) -> Result<Option<Self>> {
        if columns.count >= NEW_VALUE as usize {
            return Ok(None);
        }
        let count = signed.iter().filter(|s| **s != 0.0).count();
        let mut trained = Vec::with_capacity(count * columns.width());
        for attribute in 0..columns.width() {
            ctx.check()?;
            let (values, rows) = columns.column(attribute);
            let mut last = f64::INFINITY;
            for (&value, &row) in values.iter().zip(rows).filter(|(_, row)| signed[**row as usize] != 0.0) {
                trained.push(if value > last { row | NEW_VALUE } else { row });
                last = value;
            }
        }
        Ok(Some(BoostedColumns { columns, rows: trained, count }))
    }

    /// The stump with the least error. The same instances have a weight as before.
    pub(crate) fn best(&self, signed: &[f64], ctx: &Ctx) -> Result<Stump> {
        let mut whole = NodeInstances::default();
        signed.iter().filter(|s| **s != 0.0).for_each(|&s| whole.add(s));
        let total = whole.weights.total();
        let costs: Vec<f64> = (0..self.columns.width())
            .into_par_iter()
            // So many values are worth the change of thread.
            .with_min_len(50_000 / self.count.max(1) + 1)
            .map(|attribute| {
                ctx.check()?;
                Ok(self.least_error(attribute, signed, &whole.weights, EQUAL * total))
            })
            .collect::<Result<_>>()?;
        let varying = costs.into_iter().zip(0..).filter(|(cost, _)| cost.is_finite());
        let found = first_least(varying, EQUAL * total)
            .and_then(|attribute| self.columns.best_stump(attribute, signed, &whole, Criterion::Error));
        Ok(found.map_or_else(|| whole.weights.everywhere(), |(_, stump)| stump))
    }

    /// The least error of a cut of one column, infinite where it does not vary. With `D` the weight of -1 less that of +1 below
    /// the cut, the four ways to take sides cost the weight of either class, `plus + D` and `minus - D`.
    fn least_error(&self, attribute: usize, signed: &[f64], whole: &ClassWeights, equal: f64) -> f64 {
        let one_side = smaller(whole.plus, whole.minus);
        let (mut best, mut difference) = (f64::INFINITY, 0.0);
        // What is less is a better cut; nothing is, between equal values.
        let mut enough = [f64::NEG_INFINITY, f64::INFINITY];
        for &row in &self.rows[attribute * self.count..(attribute + 1) * self.count] {
            let cost = smaller(one_side, smaller(whole.plus + difference, whole.minus - difference));
            if cost < enough[(row >> 31) as usize] {
                best = cost;
                enough[1] = cost - equal;
            }
            difference -= signed[(row & !NEW_VALUE) as usize];
        }
        best
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use bagwise_core::Mat;

    #[test]
    fn the_first_column_and_the_lowest_cut_win_ties() {
        // Columns 1 and 2 are the same; cuts at 1.5 and 3.5 are equally good.
        let rows = [[5.0, 1.0, 1.0], [5.0, 2.0, 2.0], [5.0, 3.0, 3.0], [5.0, 4.0, 4.0], [5.0, 9.0, 9.0]];
        let ctx = Ctx::default();
        let columns = SortedColumns::new(&Instances::F64(Mat::from_rows(&rows)), &ctx).unwrap();
        for criterion in [Criterion::Error, Criterion::Entropy] {
            // The last instance is not trained on, and moves no cut.
            let stump = columns.best(&[1.0, -1.0, -1.0, 1.0, 0.0], criterion, &ctx).unwrap();
            assert_eq!(stump, Stump { attribute: 1, cut: 1.5, below: 1.0, above: -1.0 });
        }
        let constant = columns.best(&[0.0, 2.0, 0.0, 0.0, 0.0], Criterion::Error, &ctx).unwrap();
        assert_eq!((constant.below, constant.above), (1.0, 1.0));
    }

    #[test]
    fn boosted_columns_find_the_same_stump() {
        let mut state = 7u64;
        let mut draw = |below: u64| {
            state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            (state >> 33) % below
        };
        let ctx = Ctx::default();
        for _ in 0..500 {
            let count = 1 + draw(12) as usize;
            let rows: Vec<[f64; 3]> = (0..count).map(|_| [(); 3].map(|()| draw(5) as f64 - 2.0)).collect();
            let columns = SortedColumns::new(&Instances::F64(Mat::from_rows(&rows)), &ctx).unwrap();
            let trained: Vec<bool> = (0..count).map(|_| draw(4) > 0).collect();
            let mut weights = || {
                trained.iter().map(|t| if *t { draw(6) as f64 / 7.0 - 0.4 } else { 0.0 }).collect::<Vec<_>>()
            };
            let first = weights();
            let boosted = BoostedColumns::new(&columns, &first, &ctx).unwrap().unwrap();
            for signed in [first, weights()] {
                let plain = columns.best(&signed, Criterion::Error, &ctx).unwrap();
                assert_eq!(boosted.best(&signed, &ctx).unwrap(), plain, "{rows:?} {signed:?}");
            }
        }
    }

    #[test]
    fn a_cut_between_neighbouring_numbers_separates_them() {
        let (low, high) = (1.0, 1.0f64.next_up());
        let ctx = Ctx::default();
        let columns = SortedColumns::new(&Instances::F64(Mat::from_rows(&[[high], [low]])), &ctx).unwrap();
        let stump = columns.best(&[1.0, -1.0], Criterion::Error, &ctx).unwrap();
        assert_eq!(columns.says(&stump), [1.0, -1.0]);
    }
}
