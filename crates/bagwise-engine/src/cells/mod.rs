//! Voronoi cells of random points: the engine of the isolation kernel.
//!
//! A partitioning is an ordered list of psi centres; the cell of x is the position of the nearest (see `literal`).
//! There are t of them, each the beginning of a random order of the pool, so that one pass gives the cells for every
//! psi of a grid. Instances are read a block of rows at a time, so that rows need never be in memory together. Three
//! ways lead to the same numbers, and the cheapest is taken:
//!
//! * `fused`: products of points and centres with a running minimum in registers, n t psi d multiply-adds; what is
//!   within rounding of a tie is looked at again by the definition.
//! * `walk`: where t lists name fewer than t psi different centres, all distances to those once, then lookups for
//!   small psi and a walk along sorted neighbours for large ones: n (n' d + n' + n'/psi log t).
//! * `scan`: distances by the definition, in lanes (text) or by merging sparse rows.
//!
//! Xu, Ting, Zhou: Isolation set-kernel and its application to multi-instance learning, KDD 2019.

mod fused;
mod gram;
mod ids;
mod lanes;
mod literal;
mod map;
#[cfg(test)]
mod tests;
mod walk;

use std::borrow::Cow;
use std::ops::Range;

use rayon::prelude::*;

use bagwise_core::{Bags, Csr, Ctx, Error, Instances, Mat, Message, Result, Rng};

pub use gram::{cosine, gram_of_ids, products};
pub use ids::{Ids, Share};
pub use map::map_rows;

use fused::NearestCentre;
use walk::Walk;

/// How far two instances are from each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Distance {
    /// The sum of squared differences.
    Euclidean,
    /// Their mean over the attributes that at least one of the two has.
    Text,
}

/// More centres than this would need wider numbers for cells.
pub const MOST_CENTRES: usize = 65_535;

/// Rows whose cells are found together: they stay in the second cache beside the centres of a partitioning.
const BLOCK: usize = 512;

/// t ordered lists of centres.
#[derive(Clone, Debug)]
pub struct Partitions {
    centres: Instances,
    lists: Vec<u32>,
    t: usize,
    distance: Distance,
}

impl Partitions {
    /// Lists of rows of `centres`, one after the other, all of the same length. Centres are brought into memory.
    pub fn new(centres: Instances, lists: Vec<u32>, t: usize, distance: Distance) -> Result<Partitions> {
        let whole = t > 0 && !lists.is_empty() && lists.len().is_multiple_of(t);
        if !whole || lists.len() / t > MOST_CENTRES {
            return Err(Error::Invalid(format!(
                "{} centres do not make {t} lists of equal length up to {MOST_CENTRES}",
                lists.len()
            )));
        }
        if lists.iter().any(|&row| row as usize >= centres.rows()) {
            return Err(Error::Invalid("a list names a centre that is not there".into()));
        }
        Ok(Partitions { centres: centres.in_memory()?, lists, t, distance })
    }

    /// Draws t lists of `psi` instances of the bags `train`, each without replacement. A shorter list is the
    /// beginning of a longer one drawn with the same seed.
    pub fn draw(
        bags: &Bags,
        train: &[usize],
        t: usize,
        psi: usize,
        distance: Distance,
        ctx: &Ctx,
    ) -> Result<Partitions> {
        let pool: Vec<usize> = train.iter().flat_map(|&b| bags.rows(b)).collect();
        if psi == 0 || psi > pool.len() {
            return Err(Error::Invalid(format!(
                "psi={psi} centres cannot be drawn from the {} instances of the training bags; choose a smaller psi",
                pool.len()
            )));
        }
        let mut order: Vec<u32> = (0..pool.len() as u32).collect();
        let mut name = vec![u32::MAX; pool.len()];
        let mut rows: Vec<usize> = Vec::new();
        let mut lists = Vec::with_capacity(t * psi);
        for i in 0..t {
            ctx.check()?;
            let mut rng = Rng::new(ctx.seed, "cells", &[i as u64]);
            let mut swaps = Vec::with_capacity(psi);
            for k in 0..psi {
                let other = k + rng.below(pool.len() - k);
                order.swap(k, other);
                swaps.push(other);
                let drawn = order[k] as usize;
                if name[drawn] == u32::MAX {
                    name[drawn] = rows.len() as u32;
                    rows.push(pool[drawn]);
                }
                lists.push(name[drawn]);
            }
            // Undone, so that a list depends on its own stream alone.
            for (k, other) in swaps.into_iter().enumerate().rev() {
                order.swap(k, other);
            }
        }
        // In the order of the pool: rows that are not in memory are read in runs.
        let mut sorted: Vec<u32> = (0..rows.len() as u32).collect();
        sorted.sort_unstable_by_key(|&r| rows[r as usize]);
        let mut place = vec![0; rows.len()];
        sorted.iter().enumerate().for_each(|(at, &r)| place[r as usize] = at as u32);
        lists.iter_mut().for_each(|centre| *centre = place[*centre as usize]);
        let rows: Vec<usize> = sorted.iter().map(|&r| rows[r as usize]).collect();
        let number = if bags.instances().is_single() { 4 } else { 8 };
        ctx.reserve(
            "the centres of all partitionings",
            (number * rows.len()) as u64 * bags.values_per_instance().ceil() as u64,
            Message::more_memory().or("choose a smaller psi or t"),
        )?;
        Partitions::new(bags.instances().gather(&rows), lists, t, distance)
    }

    /// Number of partitionings.
    pub fn t(&self) -> usize {
        self.t
    }

    /// Centres of a list.
    pub fn psi(&self) -> usize {
        self.lists.len() / self.t
    }

    /// Number of attributes.
    pub fn width(&self) -> usize {
        self.centres.cols()
    }

    /// The distance cells are made by.
    pub fn distance(&self) -> Distance {
        self.distance
    }

    /// The different centres.
    pub fn centres(&self) -> &Instances {
        &self.centres
    }

    /// For each partitioning its centres, as rows of [`centres`](Partitions::centres).
    pub fn lists(&self) -> &[u32] {
        &self.lists
    }

    fn list(&self, i: usize) -> &[u32] {
        let psi = self.psi();
        &self.lists[i * psi..(i + 1) * psi]
    }

    /// The first `psi` of every list, and only the centres they name.
    pub fn shortened(&self, psi: usize) -> Partitions {
        let mut name = vec![u32::MAX; self.centres.rows()];
        let mut rows = Vec::new();
        let mut lists = Vec::with_capacity(self.t * psi);
        for i in 0..self.t {
            for &centre in &self.list(i)[..psi] {
                let name = &mut name[centre as usize];
                if *name == u32::MAX {
                    *name = rows.len() as u32;
                    rows.push(centre as usize);
                }
                lists.push(*name);
            }
        }
        Partitions { centres: self.centres.gather(&rows), lists, ..*self }
    }
}

/// How cells are found; all ways find the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Strategy {
    /// Plain loops: the definition.
    Literal,
    /// Products with a running minimum, near ties by the definition.
    Fused,
    /// Distances to every centre once, then lookups and sorted neighbours.
    Walk,
    /// Distances by the definition, one list after the other.
    Scan,
}

enum CellSearch {
    Literal,
    Fused(Box<NearestCentre>),
    Walk(Walk),
    Scan(lanes::Lanes),
    SparseScan,
}

/// Ready to find cells for some psi.
pub struct Mapper<'a> {
    partitions: &'a Partitions,
    psis: Vec<usize>,
    way: CellSearch,
}

/// A block of rows as the ways read it.
enum Block<'a> {
    F64(Cow<'a, [f64]>),
    F32(Cow<'a, [f32]>),
    Sparse(Cow<'a, Csr>, Range<usize>),
}

impl<'a> Mapper<'a> {
    /// The cheapest way for lists of these lengths, in ascending order.
    pub fn new(partitions: &'a Partitions, psis: &[usize], ctx: &Ctx) -> Result<Mapper<'a>> {
        Mapper::by(partitions, psis, Mapper::cheapest(partitions, psis), ctx)
    }

    /// By the way that is named.
    pub fn by(
        partitions: &'a Partitions,
        psis: &[usize],
        strategy: Strategy,
        ctx: &Ctx,
    ) -> Result<Mapper<'a>> {
        let ascending = psis.windows(2).all(|w| w[0] < w[1]) && psis.first().is_some_and(|&p| p > 0);
        let largest = *psis.last().unwrap_or(&0);
        if !ascending || largest > partitions.psi() {
            return Err(Error::Invalid(format!(
                "cells for {psis:?} of {} centres: lengths must ascend from 1",
                partitions.psi()
            )));
        }
        let sparse = matches!(partitions.centres, Instances::Sparse(_));
        let way = match strategy {
            Strategy::Literal => CellSearch::Literal,
            Strategy::Walk => CellSearch::Walk(Walk::new(partitions, psis)?),
            Strategy::Scan if sparse => CellSearch::SparseScan,
            Strategy::Fused if !sparse && partitions.distance == Distance::Euclidean => {
                CellSearch::Fused(Box::new(NearestCentre::new(partitions, psis, ctx)?))
            }
            Strategy::Fused if sparse => CellSearch::SparseScan,
            _ => CellSearch::Scan(lanes::Lanes::new(&partitions.centres, partitions.distance)?),
        };
        Ok(Mapper { partitions, psis: psis.to_vec(), way })
    }

    /// Which way is cheapest, by a count of operations for one row.
    fn cheapest(partitions: &Partitions, psis: &[usize]) -> Strategy {
        let d = match &partitions.centres {
            Instances::Sparse(rows) => 4.0 * rows.nnz() as f64 / rows.rows() as f64,
            dense => dense.cols() as f64,
        };
        let (n, t) = (partitions.centres.rows() as f64, partitions.t as f64);
        let largest = *psis.last().unwrap_or(&1) as f64;
        let plain =
            matches!(partitions.centres, Instances::Sparse(_)) || partitions.distance == Distance::Text;
        // Distances by the definition take three operations where products take half a one, since they are in single
        // precision; a sparse merge many more.
        let scan = t * largest * if plain { 3.0 * d + 4.0 } else { 0.5 * d + 2.0 };
        let walk =
            n * (3.0 * d + walk::PER_CENTRE) + walk::lookups(partitions.centres.rows(), partitions.t, psis);
        if walk < scan && partitions.centres.rows() <= walk::MOST_ROWS {
            Strategy::Walk
        } else if plain {
            Strategy::Scan
        } else {
            Strategy::Fused
        }
    }

    /// Lengths of lists that cells are found for.
    pub fn psis(&self) -> &[usize] {
        &self.psis
    }

    /// The cells of some rows, for each psi.
    pub fn ids(&self, instances: &Instances, rows: Range<usize>, ctx: &Ctx) -> Result<Vec<Ids>> {
        let p = self.partitions;
        if instances.cols() != p.width() {
            return Err(Error::Invalid(format!(
                "these instances have {} attributes, the centres {}",
                instances.cols(),
                p.width()
            )));
        }
        let mut all: Vec<Ids> = self.psis.iter().map(|&psi| Ids::zeros(rows.len(), p.t, psi)).collect();
        let blocks = rows.len().div_ceil(BLOCK);
        let mut pieces: Vec<Vec<ids::IdSlice<'_>>> = (0..blocks).map(|_| Vec::new()).collect();
        for ids in &mut all {
            for (piece, block) in ids.pieces(BLOCK).into_iter().zip(&mut pieces) {
                block.push(piece);
            }
        }
        pieces.into_par_iter().enumerate().try_for_each(|(b, mut pieces)| {
            ctx.check()?;
            let from = rows.start + b * BLOCK;
            let here = from..(from + BLOCK).min(rows.end);
            let block = self.block(instances, here.clone())?;
            // Partitioning after partitioning, rows side by side, for each psi.
            let mut found = vec![vec![0u16; p.t * BLOCK]; self.psis.len()];
            self.find(&block, here.len(), &mut found, ctx);
            for (piece, found) in pieces.iter_mut().zip(&found) {
                piece.take(found, BLOCK, p.t);
            }
            Ok(())
        })?;
        Ok(all)
    }

    /// Rows in the layout of the centres: sparse to sparse, else dense.
    fn block<'b>(&self, instances: &'b Instances, rows: Range<usize>) -> Result<Block<'b>> {
        let width = instances.cols();
        let numbers = rows.start * width..rows.end * width;
        let sparse = matches!(self.partitions.centres, Instances::Sparse(_));
        Ok(match instances {
            Instances::Sparse(csr) if sparse => Block::Sparse(Cow::Borrowed(csr), rows),
            Instances::F64(m) if !sparse => Block::F64(Cow::Borrowed(&m.data()[numbers])),
            Instances::F32(m) if !sparse => Block::F32(Cow::Borrowed(&m.data()[numbers])),
            Instances::Stored(m) if !sparse && m.is_single() => {
                let mut read = vec![0.0f32; numbers.len()];
                m.read_f32(rows, &mut read)?;
                Block::F32(Cow::Owned(read))
            }
            Instances::Stored(m) if !sparse => {
                let mut read = vec![0.0; numbers.len()];
                m.read_f64(rows, &mut read)?;
                Block::F64(Cow::Owned(read))
            }
            _ => {
                let mut dense = Mat::zeros(rows.len(), width);
                instances.each_row(rows.clone(), |row, values| {
                    dense.row_mut(row - rows.start).copy_from_slice(values);
                })?;
                if !sparse {
                    return Ok(Block::F64(Cow::Owned(dense.into_data())));
                }
                let mut csr = Csr::empty(width);
                for i in 0..rows.len() {
                    csr.push_row(dense.row(i).iter().enumerate().map(|(j, &v)| (j as u32, v)));
                }
                Block::Sparse(Cow::Owned(csr), 0..rows.len())
            }
        })
    }

    fn find(&self, block: &Block<'_>, count: usize, found: &mut [Vec<u16>], ctx: &Ctx) {
        let p = self.partitions;
        match (&self.way, block) {
            (CellSearch::Fused(sieve), Block::F64(x)) => sieve.find(p, x, count, found, ctx),
            (CellSearch::Fused(sieve), Block::F32(x)) => sieve.find(p, x, count, found, ctx),
            (CellSearch::Walk(walk), _) => walk.find(p, block, count, found),
            (CellSearch::Scan(lanes), Block::F64(x)) => self.scan(lanes, x, count, found),
            (CellSearch::Scan(lanes), Block::F32(x)) => self.scan(lanes, x, count, found),
            _ => self.literal(block, count, found),
        }
    }

    /// The definition.
    fn literal(&self, block: &Block<'_>, count: usize, found: &mut [Vec<u16>]) {
        let p = self.partitions;
        for row in 0..count {
            for i in 0..p.t {
                self.race(i, row, found, |centre| distance(p, block, row, centre));
            }
        }
    }

    /// Runs along one list and notes the nearest at every psi.
    fn race(&self, i: usize, row: usize, found: &mut [Vec<u16>], mut distance: impl FnMut(usize) -> f64) {
        let list = self.partitions.list(i);
        let mut nearest = literal::Nearest::new();
        let mut from = 0;
        for (&psi, found) in self.psis.iter().zip(found) {
            for j in from..psi {
                nearest.offer(j, distance(list[j] as usize));
            }
            found[i * BLOCK + row] = nearest.at();
            from = psi;
        }
    }

    /// The definition, a panel of points at a time.
    fn scan<T: super::simd::Element>(
        &self,
        lanes: &lanes::Lanes,
        x: &[T],
        count: usize,
        found: &mut [Vec<u16>],
    ) {
        let p = self.partitions;
        let width = p.width();
        let largest = self.psis[self.psis.len() - 1];
        let mut distances = vec![0.0; lanes.points() * largest];
        for first in (0..count).step_by(lanes.points()) {
            let some = lanes.points().min(count - first);
            let panel = lanes.panel(&x[first * width..(first + some) * width]);
            for i in 0..p.t {
                lanes.to_rows(&panel, &p.list(i)[..largest], largest, &mut distances);
                for row in 0..some {
                    let own = &distances[row * largest..(row + 1) * largest];
                    let mut nearest = literal::Nearest::new();
                    let mut from = 0;
                    for (&psi, found) in self.psis.iter().zip(found.iter_mut()) {
                        for j in from..psi {
                            nearest.offer(j, own[j]);
                        }
                        found[i * BLOCK + first + row] = nearest.at();
                        from = psi;
                    }
                }
            }
        }
    }
}

/// The distance of one row of a block to a centre, by the definition.
fn distance(p: &Partitions, block: &Block<'_>, row: usize, centre: usize) -> f64 {
    let width = p.width();
    let numbers = row * width..(row + 1) * width;
    match (block, &p.centres) {
        (Block::F64(x), Instances::F64(z)) => literal::dense(p.distance, &x[numbers], z.row(centre)),
        (Block::F64(x), Instances::F32(z)) => literal::dense(p.distance, &x[numbers], z.row(centre)),
        (Block::F32(x), Instances::F64(z)) => literal::dense(p.distance, &x[numbers], z.row(centre)),
        (Block::F32(x), Instances::F32(z)) => literal::dense(p.distance, &x[numbers], z.row(centre)),
        (Block::Sparse(x, rows), Instances::Sparse(z)) => {
            literal::sparse(p.distance, x.row(rows.start + row), z.row(centre))
        }
        _ => unreachable!("a block has the layout of the centres"),
    }
}
