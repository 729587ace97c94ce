//! Distances between bags by their nearest instances.
//!
//! For an instance `a` and a bag `B` let `d(a, B)` be the least distance of `a` to an instance of `B`. Then
//! `h_r(A, B)` is the r-th smallest `d(a, B)` over `a` in `A` (the largest if `A` has fewer), and the Hausdorff distance
//! of rank r is `H_r(A, B) = max(h_r(A, B), h_r(B, A))`: the distance of the nearest pair for r = 1, the ordinary
//! Hausdorff distance for the last rank.
//!
//! One pass over the pairs of instances in tiles serves all ranks: n^2 d / 2 subtractions and multiply-adds. Distances
//! come from differences, never from the expansion `|a|^2 + |b|^2 - 2ab`, because nearest neighbours are decided by ties:
//! equal instances are at distance exactly 0, and a distance is the same bits whichever instances share its tile. Threads
//! share out the bags; every entry is computed by one of them.

use std::ops::Range;

use rayon::prelude::*;

use super::kernels::{AvailableKernels, Kernels, TILE_COLS, TILE_ROWS};
use super::pack::{Buffer, pack};
use super::pairs::{mirror, stays_sparse};
use super::sparse;
use bagwise_core::{BagRef, Bags, Csr, Ctx, Instances, Mat, Message, Result};

/// Which instance of a bag decides its distance to another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HausdorffRank {
    /// The r-th nearest, from 1; the farthest where there are fewer.
    Nth(usize),
    /// The farthest.
    Last,
}

impl HausdorffRank {
    /// The value of this rank, in place of any order.
    pub fn of(self, values: &mut [f64]) -> f64 {
        let at = match self {
            HausdorffRank::Nth(r) => r.min(values.len()) - 1,
            HausdorffRank::Last => values.len() - 1,
        };
        *values.select_nth_unstable_by(at, f64::total_cmp).1
    }
}

/// The squared distance of every point to the nearest instance of every bag: points x bags.
pub fn nearest(points: &Instances, bags: &Bags, ctx: &Ctx) -> Result<Mat> {
    let (n, count) = (points.rows(), bags.len());
    reserve(n, count, ctx)?;
    let columns = PackedBags::new(bags, points)?;
    let mut out = Mat::zeros(n, count);
    out.data_mut().par_chunks_mut(TILE_ROWS * count).enumerate().try_for_each(|(strip, out)| {
        let first = strip * TILE_ROWS;
        out.fill(f64::INFINITY);
        let rows = first..first + out.len() / count;
        columns.each_tile(points, rows, 0, ctx, |row, from, values| {
            columns.fold(from, values, |bag, least| {
                let entry = &mut out[row * count + bag];
                *entry = entry.min(least);
            });
        })
    })?;
    Ok(out)
}

/// Hausdorff distances of all pairs of bags, one matrix per rank: exactly symmetric, 0 on the diagonal.
pub fn hausdorff(bags: &Bags, ranks: &[HausdorffRank], ctx: &Ctx) -> Result<Vec<Mat>> {
    let mut all = between(bags, bags, true, ranks, ctx)?;
    all.par_iter_mut().for_each(mirror);
    Ok(all)
}

/// Hausdorff distances of new bags to kept ones, new x kept, one matrix per rank.
pub fn hausdorff_to(new: &Bags, kept: &Bags, ranks: &[HausdorffRank], ctx: &Ctx) -> Result<Vec<Mat>> {
    between(new, kept, false, ranks, ctx)
}

/// All squared distances between the instances of two bags, in plain loops.
pub fn squared_between(a: BagRef<'_>, b: BagRef<'_>) -> Result<Mat> {
    let (a, b) = (a.to_dense()?, b.to_dense()?);
    let squared =
        |i: usize, j: usize| -> f64 { a.row(i).iter().zip(b.row(j)).map(|(x, z)| (x - z) * (x - z)).sum() };
    let values = (0..a.rows()).flat_map(|i| (0..b.rows()).map(move |j| (i, j))).map(|(i, j)| squared(i, j));
    Ok(Mat::new(a.rows(), b.rows(), values.collect()))
}

pub(crate) fn reserve(rows: usize, cols: usize, ctx: &Ctx) -> Result<()> {
    ctx.reserve("distances of bags", 8 * (rows * cols) as u64, Message::more_memory().or("use fewer bags"))
}

fn between(
    rows: &Bags,
    cols: &Bags,
    symmetric: bool,
    ranks: &[HausdorffRank],
    ctx: &Ctx,
) -> Result<Vec<Mat>> {
    // Those of the groups, and what they are put together to.
    reserve(2 * rows.len() * ranks.len(), cols.len(), ctx)?;
    let columns = PackedBags::new(cols, rows.instances())?;
    let nearest_pair = ranks.iter().all(|&r| r == HausdorffRank::Nth(1));
    let found: Vec<(Range<usize>, Vec<f64>)> = tile_groups(rows)
        .into_par_iter()
        .map(|group| {
            let first = if symmetric { group.start } else { 0 };
            let values = match nearest_pair {
                true => columns.nearest_pairs(rows, group.clone(), first, ctx)?.repeat(ranks.len()),
                false => columns.of_ranks(rows, group.clone(), first, ranks, ctx)?,
            };
            Ok((group, values))
        })
        .collect::<Result<_>>()?;
    let mut all = vec![Mat::zeros(rows.len(), cols.len()); ranks.len()];
    for (group, values) in found {
        for (mat, values) in all.iter_mut().zip(values.chunks_exact(group.len() * cols.len())) {
            for (b, row) in group.clone().zip(values.chunks_exact(cols.len())) {
                mat.row_mut(b).iter_mut().zip(row).for_each(|(out, v)| *out = v.sqrt());
            }
        }
    }
    Ok(all)
}

/// Lists of whole bags that fill a tile together.
pub(crate) fn tile_groups(bags: &Bags) -> Vec<Range<usize>> {
    let mut groups: Vec<Range<usize>> = Vec::new();
    for b in 0..bags.len() {
        match groups.last_mut() {
            Some(group) if bags.offsets()[b + 1] - bags.offsets()[group.start] <= TILE_ROWS => {
                group.end = b + 1
            }
            _ => groups.push(b..b + 1),
        }
    }
    groups
}

/// Bags that instances are compared with.
pub(crate) struct PackedBags<'a> {
    pub(crate) bags: &'a Bags,
    rows: PackedRows<'a>,
}

enum PackedRows<'a> {
    Dense { kernels: &'static Kernels<f64>, panels: Buffer<f64> },
    Sparse(&'a Csr),
}

impl<'a> PackedBags<'a> {
    /// `others` are the instances to come. Which way distances are computed is a matter of the kept bags, so that new
    /// ones do not change each other's.
    pub(crate) fn new(bags: &'a Bags, others: &Instances) -> Result<PackedBags<'a>> {
        let rows = match (bags.instances(), others) {
            (Instances::Sparse(csr), Instances::Sparse(_)) if stays_sparse(csr) => PackedRows::Sparse(csr),
            (instances, _) => {
                let kernels = <f64 as AvailableKernels>::available()[0];
                let rows = 0..instances.rows();
                PackedRows::Dense { kernels, panels: pack(instances, rows, None, kernels.nr)? }
            }
        };
        Ok(PackedBags { bags, rows })
    }

    /// Calls `see` with a row (counted from the first of `rows`), the number of a kept instance, and the squared distances
    /// to it and those behind it; in pieces that cover at least all instances from the bag `from` on.
    pub(crate) fn each_tile(
        &self,
        instances: &Instances,
        rows: Range<usize>,
        from: usize,
        ctx: &Ctx,
        mut see: impl FnMut(usize, usize, &[f64]),
    ) -> Result<()> {
        let (count, begin) = (self.bags.instance_count(), self.bags.offsets()[from]);
        for first in rows.clone().step_by(TILE_ROWS) {
            ctx.check()?;
            let own = first..(first + TILE_ROWS).min(rows.end);
            match (&self.rows, instances) {
                (PackedRows::Sparse(kept), Instances::Sparse(new)) => {
                    let mut values = vec![0.0; count - begin];
                    for row in own {
                        for (value, at) in values.iter_mut().zip(begin..) {
                            *value = sparse::squared_distance(new.row(row), kept.row(at));
                        }
                        see(row - rows.start, begin, &values);
                    }
                }
                (PackedRows::Sparse(_), _) => unreachable!("sparse on both sides or on none"),
                (PackedRows::Dense { kernels, panels }, _) => {
                    let width = self.bags.width();
                    let raw: Buffer<f64> = match instances {
                        // Read together.
                        Instances::Stored(_) => {
                            let held = instances.gather(&own.clone().collect::<Vec<_>>()).in_memory()?;
                            pack(&held, 0..own.len(), None, kernels.mr)?
                        }
                        held => pack(held, own.clone(), None, kernels.mr)?,
                    };
                    let mut tile = Buffer::zeros(TILE_ROWS * TILE_COLS);
                    for at in (begin / TILE_COLS * TILE_COLS..count).step_by(TILE_COLS) {
                        let end = (at + TILE_COLS).min(count);
                        let panel = &panels[at * width..end.next_multiple_of(kernels.nr) * width];
                        // SAFETY: `available` checked the instruction set.
                        unsafe { (kernels.differences)(&raw, panel, width, &mut tile) };
                        for (row, values) in own.clone().zip(tile.chunks_exact(TILE_COLS)) {
                            see(row - rows.start, at, &values[..end - at]);
                        }
                    }
                }
            }
        }
        Ok(())
    }

    /// Calls `see` with each bag that some consecutive instances belong to, and their values.
    pub(crate) fn each_bag(&self, from: usize, values: &[f64], mut see: impl FnMut(usize, &[f64])) {
        let offsets = self.bags.offsets();
        let mut bag = self.bags.bag_of_row(from);
        let mut at = 0;
        while at < values.len() {
            let end = (offsets[bag + 1] - from).min(values.len());
            see(bag, &values[at..end]);
            (at, bag) = (end, bag + 1);
        }
    }

    /// The same with the least of their values.
    pub(crate) fn fold(&self, from: usize, values: &[f64], mut see: impl FnMut(usize, f64)) {
        self.each_bag(from, values, |bag, own| {
            see(bag, own.iter().copied().fold(f64::INFINITY, f64::min));
        });
    }

    /// Squared distances of the nearest pairs: bags of the group x all kept bags, those before `first` without meaning.
    fn nearest_pairs(&self, rows: &Bags, group: Range<usize>, first: usize, ctx: &Ctx) -> Result<Vec<f64>> {
        let (count, start) = (self.bags.len(), rows.offsets()[group.start]);
        let own = owners(rows, &group);
        let mut out = vec![f64::INFINITY; group.len() * count];
        self.each_tile(
            rows.instances(),
            start..rows.offsets()[group.end],
            first,
            ctx,
            |row, from, values| {
                let out = &mut out[own[row] * count..][..count];
                self.fold(from, values, |bag, least| out[bag] = out[bag].min(least));
            },
        )?;
        Ok(out)
    }

    /// Squared distances for each rank, bags of the group x all kept bags.
    fn of_ranks(
        &self,
        rows: &Bags,
        group: Range<usize>,
        first: usize,
        ranks: &[HausdorffRank],
        ctx: &Ctx,
    ) -> Result<Vec<f64>> {
        let (count, all) = (self.bags.len(), self.bags.instance_count());
        let instances = rows.offsets()[group.start]..rows.offsets()[group.end];
        let own = owners(rows, &group);
        let mut of_new = vec![f64::INFINITY; instances.len() * count];
        let mut of_kept = vec![f64::INFINITY; group.len() * all];
        self.each_tile(rows.instances(), instances.clone(), first, ctx, |row, from, values| {
            let new = &mut of_new[row * count..][..count];
            self.fold(from, values, |bag, least| new[bag] = new[bag].min(least));
            let kept = &mut of_kept[own[row] * all..][from..from + values.len()];
            kept.iter_mut().zip(values).for_each(|(k, v)| *k = k.min(*v));
        })?;
        let mut out = vec![0.0; ranks.len() * group.len() * count];
        let mut scratch = Vec::new();
        for (r, &rank) in ranks.iter().enumerate() {
            for (g, b) in group.clone().enumerate() {
                for other in first..count {
                    scratch.clear();
                    let own = rows.rows(b).map(|i| of_new[(i - instances.start) * count + other]);
                    scratch.extend(own);
                    let there = rank.of(&mut scratch);
                    scratch.clear();
                    scratch.extend_from_slice(&of_kept[g * all..][self.bags.rows(other)]);
                    out[(r * group.len() + g) * count + other] = there.max(rank.of(&mut scratch));
                }
            }
        }
        Ok(out)
    }
}

/// For each instance of some bags, the place of its bag among them.
pub(crate) fn owners(bags: &Bags, group: &Range<usize>) -> Vec<usize> {
    group.clone().flat_map(|b| bags.rows(b).map(move |_| b - group.start)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use bagwise_core::Rng;

    fn random(sizes: &[usize], width: usize, seed: u64) -> Bags {
        let mut rng = Rng::new(seed, "bag distances", &[]);
        let rows: usize = sizes.iter().sum();
        // Few different values, so that distances tie and some are 0.
        let values = (0..rows * width).map(|_| rng.below(4) as f64).collect();
        let offsets = std::iter::once(0).chain(sizes.iter().scan(0, |end, s| {
            *end += s;
            Some(*end)
        }));
        Bags::new(Instances::F64(Mat::new(rows, width, values)), offsets.collect()).unwrap()
    }

    fn literal(a: &Bags, i: usize, b: &Bags, j: usize, rank: HausdorffRank) -> f64 {
        let squared = squared_between(a.bag(i), b.bag(j)).unwrap();
        let (m, n) = (squared.rows(), squared.cols());
        let least = |values: &mut dyn Iterator<Item = f64>| values.fold(f64::INFINITY, f64::min);
        let mut there: Vec<f64> = (0..m).map(|p| least(&mut (0..n).map(|q| squared.get(p, q)))).collect();
        let mut back: Vec<f64> = (0..n).map(|q| least(&mut (0..m).map(|p| squared.get(p, q)))).collect();
        rank.of(&mut there).max(rank.of(&mut back)).sqrt()
    }

    fn sparse_copy(bags: &Bags) -> Bags {
        // In a hundred columns, so that it stays sparse.
        let mut csr = Csr::empty(100);
        let mut row = vec![0.0; bags.width()];
        for i in 0..bags.instance_count() {
            bags.instances().row_into(i, &mut row).unwrap();
            csr.push_row(row.iter().enumerate().map(|(c, &v)| (c as u32, v)));
        }
        Bags::new(Instances::Sparse(csr), bags.offsets().to_vec()).unwrap()
    }

    const RANKS: [HausdorffRank; 4] =
        [HausdorffRank::Nth(1), HausdorffRank::Nth(2), HausdorffRank::Nth(3), HausdorffRank::Last];

    #[test]
    fn distances_are_those_of_the_definition() {
        let sizes = [1, 3, 60, 2, 1, 7, 130, 1, 5];
        let (kept, new) = (random(&sizes, 5, 1), random(&[4, 1, 70], 5, 2));
        let ctx = Ctx::default();
        for (kept, new) in [(kept.clone(), new.clone()), (sparse_copy(&kept), sparse_copy(&new))] {
            let (among, to) =
                (hausdorff(&kept, &RANKS, &ctx).unwrap(), hausdorff_to(&new, &kept, &RANKS, &ctx).unwrap());
            // Whole numbers: all sums are exact.
            for (r, &rank) in RANKS.iter().enumerate() {
                assert_eq!(among[r], hausdorff(&kept, &[rank], &ctx).unwrap()[0]);
                for j in 0..kept.len() {
                    (0..kept.len())
                        .for_each(|i| assert_eq!(among[r].get(i, j), literal(&kept, i, &kept, j, rank)));
                    (0..new.len())
                        .for_each(|i| assert_eq!(to[r].get(i, j), literal(&new, i, &kept, j, rank)));
                }
            }
            let least = nearest(new.instances(), &kept, &ctx).unwrap();
            for i in 0..new.instance_count() {
                let own = Bags::new(new.instances().gather(&[i]), vec![0, 1]).unwrap();
                (0..kept.len()).for_each(|j| {
                    assert_eq!(least.get(i, j).sqrt(), literal(&own, 0, &kept, j, HausdorffRank::Nth(1)));
                });
            }
        }
    }

    #[test]
    fn what_exceeds_the_budget_is_refused() {
        let bags = random(&[2; 10], 3, 1);
        let mut ctx = Ctx::default();
        // Ten by ten, and those of the groups once more.
        ctx.memory = 1600;
        assert!(hausdorff(&bags, &RANKS[..1], &ctx).is_ok());
        assert!(hausdorff(&bags, &RANKS[..2], &ctx).is_err());
    }
}
