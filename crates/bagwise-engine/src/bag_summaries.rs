//! Summaries of the distances between the instances of two bags.
//!
//! For bags A and B and a distance `e(x, z)` of instances, `|x - z|^2` or its root: the least of all pairs (minmin), the mean
//! or the largest over x in A of the least over z in B (meanmin, maxmin), and the mean of all pairs (meanmean). meanmin and
//! maxmin have a direction.
//!
//! One pass over the pairs in tiles gives every summary, distance and direction: n^2 d / 2 subtractions and multiply-adds
//! within a set of bags. Distances come from differences, so that equal instances are at distance exactly 0 and minima are
//! exact. Every number depends on its two bags alone, down to the last bit: minima do not depend on the order, and sums
//! are taken row by row.

use std::ops::Range;

use rayon::prelude::*;

use super::bag_distances::{PackedBags, owners, reserve, tile_groups};
use bagwise_core::{Bags, Ctx, Mat, Result};

/// How the distances of the pairs become one number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PairSummary {
    /// The least of all pairs.
    MinMin,
    /// The mean over one bag of the least to the other.
    MeanMin,
    /// The largest over one bag of the least to the other.
    MaxMin,
    /// The mean of all pairs.
    MeanMean,
}

/// Whose instances are summed over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SummaryDirection {
    /// Those of the bag in the row.
    To,
    /// Those of the bag in the column.
    From,
    /// Both, and the mean of the two.
    Both,
}

/// One number for two bags.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BagSummary {
    /// What becomes of the pairs.
    pub summary: PairSummary,
    /// Over which bag.
    pub direction: SummaryDirection,
    /// True for distances, false for their squares.
    pub euclid: bool,
}

/// The summaries of all pairs of some bags, one matrix for each kind.
pub fn summaries(bags: &Bags, kinds: &[BagSummary], ctx: &Ctx) -> Result<Vec<Mat>> {
    between(bags, bags, true, kinds, ctx)
}

/// The summaries of new bags with kept ones, new x kept.
pub fn summaries_to(new: &Bags, kept: &Bags, kinds: &[BagSummary], ctx: &Ctx) -> Result<Vec<Mat>> {
    between(new, kept, false, kinds, ctx)
}

fn between(rows: &Bags, cols: &Bags, symmetric: bool, kinds: &[BagSummary], ctx: &Ctx) -> Result<Vec<Mat>> {
    // Both directions of the groups, and what they are put together to.
    reserve(3 * rows.len() * kinds.len(), cols.len(), ctx)?;
    let columns = PackedBags::new(cols, rows.instances())?;
    let found: Vec<(Range<usize>, Vec<PairValues>)> = tile_groups(rows)
        .into_par_iter()
        .map(|group| {
            let first = if symmetric { group.start } else { 0 };
            let values = of_group(&columns, rows, group.clone(), first, kinds, ctx)?;
            Ok((group, values))
        })
        .collect::<Result<_>>()?;
    let mut all = vec![Mat::zeros(rows.len(), cols.len()); kinds.len()];
    let count = cols.len();
    for (group, values) in found {
        for ((mat, kind), PairValues { to, from }) in all.iter_mut().zip(kinds).zip(values) {
            for (g, b) in group.clone().enumerate() {
                for other in (if symmetric { b } else { 0 })..count {
                    let (to, from) = (to[g * count + other], from[g * count + other]);
                    mat.set(b, other, kind.directed(to, from));
                    if symmetric {
                        mat.set(other, b, kind.directed(from, to));
                    }
                }
            }
        }
    }
    Ok(all)
}

impl BagSummary {
    fn directed(&self, to: f64, from: f64) -> f64 {
        match self.direction {
            SummaryDirection::To => to,
            SummaryDirection::From => from,
            SummaryDirection::Both => 0.5 * (to + from),
        }
    }

    /// Of the squared distances of instances to the nearest of a bag.
    fn of_minima(&self, minima: impl ExactSizeIterator<Item = f64>) -> f64 {
        let count = minima.len() as f64;
        let root = |squared: f64| if self.euclid { squared.sqrt() } else { squared };
        match self.summary {
            PairSummary::MinMin => root(minima.fold(f64::INFINITY, f64::min)),
            PairSummary::MaxMin => root(minima.fold(0.0, f64::max)),
            PairSummary::MeanMin | PairSummary::MeanMean => minima.map(root).sum::<f64>() / count,
        }
    }
}

/// One kind of summary in both directions, bags of a group x kept bags.
struct PairValues {
    to: Vec<f64>,
    from: Vec<f64>,
}

/// All kinds for the bags of a group; kept bags before `first` are without meaning.
fn of_group(
    columns: &PackedBags<'_>,
    rows: &Bags,
    group: Range<usize>,
    first: usize,
    kinds: &[BagSummary],
    ctx: &Ctx,
) -> Result<Vec<PairValues>> {
    let (count, all) = (columns.bags.len(), columns.bags.instance_count());
    let instances = rows.offsets()[group.start]..rows.offsets()[group.end];
    let own = owners(rows, &group);
    let means = |euclid: bool| kinds.iter().any(|k| k.summary == PairSummary::MeanMean && k.euclid == euclid);
    let needs_minima = kinds.iter().any(|k| k.summary != PairSummary::MeanMean);
    let sized = |needed: bool, length: usize, value: f64| vec![value; if needed { length } else { 0 }];
    let mut of_new = sized(needs_minima, instances.len() * count, f64::INFINITY);
    let mut of_kept = sized(needs_minima, group.len() * all, f64::INFINITY);
    // Sums of the distances of each instance to all of a bag: in the order of the bag, whatever shares a tile with it.
    let mut squares = sized(means(false), instances.len() * count, 0.0);
    let mut roots = sized(means(true), instances.len() * count, 0.0);
    columns.each_tile(rows.instances(), instances.clone(), first, ctx, |row, from, values| {
        if needs_minima {
            let new = &mut of_new[row * count..][..count];
            columns.fold(from, values, |bag, least| new[bag] = new[bag].min(least));
            let kept = &mut of_kept[own[row] * all..][from..from + values.len()];
            kept.iter_mut().zip(values).for_each(|(k, v)| *k = k.min(*v));
        }
        if !squares.is_empty() {
            let sums = &mut squares[row * count..][..count];
            columns.each_bag(from, values, |bag, own| own.iter().for_each(|v| sums[bag] += v));
        }
        if !roots.is_empty() {
            let sums = &mut roots[row * count..][..count];
            columns.each_bag(from, values, |bag, own| own.iter().for_each(|v| sums[bag] += v.sqrt()));
        }
    })?;
    let of_kind = |kind: &BagSummary| {
        let mut found =
            PairValues { to: vec![0.0; group.len() * count], from: vec![0.0; group.len() * count] };
        for (g, b) in group.clone().enumerate() {
            let of = rows.rows(b).start - instances.start..rows.rows(b).end - instances.start;
            for other in first..count {
                let at = g * count + other;
                if kind.summary == PairSummary::MeanMean {
                    let sums = if kind.euclid { &roots } else { &squares };
                    let sum: f64 = of.clone().map(|i| sums[i * count + other]).sum();
                    let mean = sum / (of.len() * columns.bags.rows(other).len()) as f64;
                    (found.to[at], found.from[at]) = (mean, mean);
                    continue;
                }
                found.to[at] = kind.of_minima(of.clone().map(|i| of_new[i * count + other]));
                let back = &of_kept[g * all..][columns.bags.rows(other)];
                found.from[at] = kind.of_minima(back.iter().copied());
            }
        }
        found
    };
    Ok(kinds.iter().map(of_kind).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bag_distances::squared_between;
    use bagwise_core::{Instances, Rng};

    fn random(sizes: &[usize], seed: u64) -> Bags {
        let mut rng = Rng::new(seed, "bag summaries", &[]);
        let rows: usize = sizes.iter().sum();
        // Few different values, so that some distances are 0.
        let values = (0..rows * 3).map(|_| rng.below(4) as f64).collect();
        let offsets = std::iter::once(0).chain(sizes.iter().scan(0, |end, s| {
            *end += s;
            Some(*end)
        }));
        Bags::new(Instances::F64(Mat::new(rows, 3, values)), offsets.collect()).unwrap()
    }

    fn kinds() -> Vec<BagSummary> {
        let mut all = Vec::new();
        for summary in [PairSummary::MinMin, PairSummary::MeanMin, PairSummary::MaxMin, PairSummary::MeanMean]
        {
            for direction in [SummaryDirection::To, SummaryDirection::From, SummaryDirection::Both] {
                all.extend([false, true].map(|euclid| BagSummary { summary, direction, euclid }));
            }
        }
        all
    }

    fn literal(a: &Bags, i: usize, b: &Bags, j: usize, kind: BagSummary) -> f64 {
        let to = |a: &Bags, i: usize, b: &Bags, j: usize| {
            let squared = squared_between(a.bag(i), b.bag(j)).unwrap();
            let e = |p, q| if kind.euclid { squared.get(p, q).sqrt() } else { squared.get(p, q) };
            let row = |p: usize| (0..squared.cols()).map(move |q| (p, q)).map(|(p, q)| e(p, q));
            let least = |p: usize| row(p).fold(f64::INFINITY, f64::min);
            let n = squared.rows();
            match kind.summary {
                PairSummary::MinMin => (0..n).map(least).fold(f64::INFINITY, f64::min),
                PairSummary::MeanMin => (0..n).map(least).sum::<f64>() / n as f64,
                PairSummary::MaxMin => (0..n).map(least).fold(0.0, f64::max),
                PairSummary::MeanMean => {
                    (0..n).map(|p| row(p).sum::<f64>()).sum::<f64>() / (n * squared.cols()) as f64
                }
            }
        };
        match kind.direction {
            SummaryDirection::To => to(a, i, b, j),
            SummaryDirection::From => to(b, j, a, i),
            SummaryDirection::Both => 0.5 * (to(a, i, b, j) + to(b, j, a, i)),
        }
    }

    #[test]
    fn summaries_are_those_of_the_definition() {
        // Bags that span tiles, and tiles that hold several bags.
        let (kept, new) = (random(&[1, 3, 60, 2, 1, 7, 130, 1, 5], 1), random(&[4, 1, 70], 2));
        let (ctx, kinds) = (Ctx::default(), kinds());
        let among = summaries(&kept, &kinds, &ctx).unwrap();
        let to = summaries_to(&new, &kept, &kinds, &ctx).unwrap();
        let again = summaries_to(&kept, &kept, &kinds, &ctx).unwrap();
        for (k, &kind) in kinds.iter().enumerate() {
            let close = |found: f64, known: f64| assert!((found - known).abs() < 1e-12, "{kind:?}");
            for j in 0..kept.len() {
                (0..kept.len()).for_each(|i| close(among[k].get(i, j), literal(&kept, i, &kept, j, kind)));
                (0..new.len()).for_each(|i| close(to[k].get(i, j), literal(&new, i, &kept, j, kind)));
            }
            // A training bag that comes again has the distances it had.
            if kind.summary != PairSummary::MeanMean {
                assert_eq!(among[k], again[k], "{kind:?}");
            }
        }
        // And alone those it has among others.
        for b in 0..new.len() {
            let alone = summaries_to(&new.select(&[b]), &kept, &kinds, &ctx).unwrap();
            (0..kinds.len()).for_each(|k| assert_eq!(alone[k].row(0), to[k].row(b), "{:?}", kinds[k]));
        }
    }
}
