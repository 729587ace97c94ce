//! Cells of random partitions of the space: the engine of the isolation kernel.
//!
//! A partitioning is made of an ordered list of psi instances. There are t lists, each the beginning of a random order of
//! the pool. What a cell is, [`Partition`] says:
//!
//! * Voronoi: the instances are centres, and the cell of x is the position of the nearest (see `literal`). One pass gives
//!   the cells for every psi of a grid.
//! * spheres: the same, but x lies in no cell if it is farther from its centre than the next centre is (`sphere`).
//! * trees: x lies in a leaf of a random tree grown over the instances (`forest`), which takes no distances (`descent`).
//!
//! Instances are read a block of rows at a time, so that rows need never be in memory together. Three ways lead to the
//! nearest centre, and the cheapest is taken; all find the same:
//!
//! * `fused`: products of points and centres with a running minimum in registers, n t psi d multiply-adds; what is
//!   within rounding of a tie is looked at again by the definition.
//! * `walk`: where t lists name fewer than t psi different centres, all distances to those once, then lookups for
//!   small psi and a walk along sorted neighbours for large ones: n (n' d + n' + n'/psi log t).
//! * `scan`: distances by the definition, in lanes (text) or by merging sparse rows.
//!
//! Xu, Ting, Zhou: Isolation set-kernel and its application to multi-instance learning, KDD 2019.

mod blocks;
mod centres;
mod descent;
mod forest;
mod fused;
mod gram;
mod ids;
pub(crate) mod lanes;
pub(crate) mod literal;
mod map;
#[cfg(test)]
mod partition_tests;
mod sphere;
#[cfg(test)]
mod tests;
mod walk;

use std::borrow::Cow;
use std::ops::Range;

use rayon::prelude::*;

use bagwise_core::{Bags, Csr, Ctx, Error, Instances, Mat, Result};

pub use blocks::grams_of_many;
pub use centres::CentreLists;
pub use forest::{Forest, Split};
pub use gram::{cosine, gram_of_ids, products, products_of};
pub use ids::{Ids, Share};
pub use map::map_rows;

use descent::ForestWalk;
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

impl Distance {
    /// The squared distance of two rows, zeros included.
    pub fn squared(self, x: &[f64], z: &[f64]) -> f64 {
        literal::dense(self, x, z)
    }
}

/// More centres than this would need wider numbers for cells.
pub const MOST_CENTRES: usize = 65_535;

/// Where a row lies in no cell.
const NO_CELL: u16 = u16::MAX;

/// Rows whose cells are found together: they stay in the second cache beside the centres of a partitioning.
const BLOCK: usize = 512;

/// What the cells of a partitioning are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Partition {
    /// All that is nearest to one of psi centres.
    Voronoi(Distance),
    /// The same, as far as the nearest other centre.
    Sphere(Distance),
    /// The leaves of a random tree over psi instances.
    Forest,
}

/// t partitionings, for one psi or several.
#[derive(Clone, Debug)]
pub enum Partitions {
    /// Lists of centres, of which shorter ones are the beginnings.
    Centres(CentreLists),
    /// Trees, for each psi its own.
    Forests(Vec<Forest>),
}

impl Partitions {
    /// Voronoi cells of lists of rows of `centres`; see [`CentreLists::new`].
    pub fn new(centres: Instances, lists: Vec<u32>, t: usize, distance: Distance) -> Result<Partitions> {
        CentreLists::new(centres, lists, t, distance).map(Partitions::Centres)
    }

    /// Draws t partitionings from the instances of the bags `train`, for each psi (ascending). With the same seed the
    /// instances of a shorter list are the first of a longer one.
    pub fn draw(
        bags: &Bags,
        train: &[usize],
        t: usize,
        psis: &[usize],
        partition: Partition,
        ctx: &Ctx,
    ) -> Result<Partitions> {
        let largest = psis.last().copied().unwrap_or(0);
        let distance = match partition {
            Partition::Voronoi(distance) | Partition::Sphere(distance) => distance,
            Partition::Forest => Distance::Euclidean,
        };
        let lists = CentreLists::draw(bags, train, t, largest, distance, ctx)?;
        Ok(match partition {
            Partition::Voronoi(_) => Partitions::Centres(lists),
            Partition::Sphere(_) => Partitions::Centres(lists.with_spheres(psis, ctx)?),
            Partition::Forest => Partitions::Forests(
                psis.iter().map(|&psi| Forest::grow(&lists, psi, ctx)).collect::<Result<_>>()?,
            ),
        })
    }

    /// Number of partitionings.
    pub fn t(&self) -> usize {
        match self {
            Partitions::Centres(lists) => lists.t(),
            Partitions::Forests(forests) => forests.first().map_or(0, Forest::t),
        }
    }

    /// The largest psi.
    pub fn psi(&self) -> usize {
        match self {
            Partitions::Centres(lists) => lists.psi(),
            Partitions::Forests(forests) => forests.last().map_or(0, Forest::psi),
        }
    }

    /// Number of attributes.
    pub fn width(&self) -> usize {
        match self {
            Partitions::Centres(lists) => lists.width(),
            Partitions::Forests(forests) => forests.first().map_or(0, Forest::width),
        }
    }

    /// Whether a point may lie in no cell at all, as it can beyond spheres.
    pub fn has_gaps(&self) -> bool {
        match self {
            Partitions::Centres(lists) => lists.has_spheres(),
            Partitions::Forests(_) => false,
        }
    }

    /// What one psi needs, and no more.
    pub fn shortened(&self, psi: usize) -> Partitions {
        match self {
            Partitions::Centres(lists) => Partitions::Centres(lists.shortened(psi)),
            Partitions::Forests(forests) => {
                Partitions::Forests(forests.iter().filter(|f| f.psi() == psi).cloned().collect())
            }
        }
    }

    /// Whether an instance may lie in no cell.
    pub fn is_partial(&self) -> bool {
        matches!(self, Partitions::Centres(lists) if lists.has_spheres())
    }
}

/// How the nearest centre is found; all ways find the same. Trees have one way.
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

/// What the time for finding the nearest centres of a row depends on.
#[derive(Clone, Copy, Debug)]
pub struct CentreShape {
    /// Different centres in all lists together.
    pub centres: usize,
    /// Values of a row that are stored.
    pub values: f64,
    /// Whether rows are sparse.
    pub sparse: bool,
    /// What is nearest.
    pub distance: Distance,
}

impl CentreShape {
    /// Multiply-adds for one row and `t` lists, for all `psis` together, in ascending order.
    pub fn row_work(&self, t: usize, psis: &[usize]) -> f64 {
        self.cheapest(t, psis).1
    }

    /// The cheapest way, and its multiply-adds for one row.
    fn cheapest(&self, t: usize, psis: &[usize]) -> (Strategy, f64) {
        // A sparse merge takes many more.
        let d = if self.sparse { 4.0 * self.values } else { self.values };
        let largest = *psis.last().unwrap_or(&1) as f64;
        let plain = self.sparse || self.distance == Distance::Text;
        // Distances by the definition take three operations where products take half a one, since they are in single
        // precision.
        let scan = t as f64 * largest * if plain { 3.0 * d + 4.0 } else { 0.5 * d + 2.0 };
        let walk = self.centres as f64 * (3.0 * d + walk::PER_CENTRE) + walk::lookups(self.centres, t, psis);
        if walk < scan && self.centres <= walk::MOST_ROWS {
            (Strategy::Walk, walk)
        } else if plain {
            (Strategy::Scan, scan)
        } else {
            (Strategy::Fused, scan)
        }
    }
}

/// Where the cells of rows come from.
enum CellSource<'a> {
    Centres(&'a CentreLists, CellSearch),
    Forests(ForestWalk<'a>),
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
    t: usize,
    width: usize,
    psis: Vec<usize>,
    source: CellSource<'a>,
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
        let strategy = match partitions {
            Partitions::Centres(lists) if !psis.is_empty() => Mapper::cheapest(lists, psis),
            _ => Strategy::Literal,
        };
        Mapper::by(partitions, psis, strategy, ctx)
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
        let missing = || {
            Error::Invalid(format!(
                "cells for {psis:?} of {} centres: lengths must ascend from 1, and be those that were drawn",
                partitions.psi()
            ))
        };
        if !ascending || largest > partitions.psi() {
            return Err(missing());
        }
        let source = match partitions {
            Partitions::Centres(lists) => {
                if lists.has_spheres() && psis.iter().any(|&psi| lists.squared_radii(psi).is_none()) {
                    return Err(missing());
                }
                CellSource::Centres(lists, CellSearch::new(lists, psis, strategy, ctx)?)
            }
            Partitions::Forests(forests) => {
                let of = |&psi: &usize| forests.iter().find(|f| f.psi() == psi).ok_or_else(missing);
                CellSource::Forests(ForestWalk::new(psis.iter().map(of).collect::<Result<_>>()?))
            }
        };
        Ok(Mapper { t: partitions.t(), width: partitions.width(), psis: psis.to_vec(), source })
    }

    /// Which way is cheapest.
    fn cheapest(partitions: &CentreLists, psis: &[usize]) -> Strategy {
        let centres = &partitions.centres;
        let (values, sparse) = match centres {
            Instances::Sparse(rows) => (rows.nnz() as f64 / rows.rows() as f64, true),
            dense => (dense.cols() as f64, false),
        };
        let shape = CentreShape { centres: centres.rows(), values, sparse, distance: partitions.distance };
        shape.cheapest(partitions.t, psis).0
    }

    /// Lengths of lists that cells are found for.
    pub fn psis(&self) -> &[usize] {
        &self.psis
    }

    /// Bytes of the cells of this many rows, for all psi.
    pub fn bytes(&self, rows: usize) -> u64 {
        self.psis.iter().map(|&psi| Ids::bytes(rows, self.t, psi, self.is_partial())).sum()
    }

    fn is_partial(&self) -> bool {
        matches!(self.source, CellSource::Centres(lists, _) if lists.has_spheres())
    }

    /// The cells of some rows, for each psi.
    pub fn ids(&self, instances: &Instances, rows: Range<usize>, ctx: &Ctx) -> Result<Vec<Ids>> {
        if instances.cols() != self.width {
            return Err(Error::Invalid(format!(
                "these instances have {} attributes, the partitions {}",
                instances.cols(),
                self.width
            )));
        }
        let zeros = |&psi: &usize| Ids::zeros(rows.len(), self.t, psi, self.is_partial());
        let mut all: Vec<Ids> = self.psis.iter().map(zeros).collect();
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
            let mut found = vec![vec![0u16; self.t * BLOCK]; self.psis.len()];
            self.find(&block, here.len(), &mut found, ctx);
            for (piece, found) in pieces.iter_mut().zip(&found) {
                piece.take(found, BLOCK, self.t);
            }
            Ok(())
        })?;
        Ok(all)
    }

    /// Rows in the layout of the centres: sparse to sparse, else dense. Trees take rows as they are.
    fn block<'b>(&self, instances: &'b Instances, rows: Range<usize>) -> Result<Block<'b>> {
        let width = instances.cols();
        let numbers = rows.start * width..rows.end * width;
        let sparse = match &self.source {
            CellSource::Centres(lists, _) => matches!(lists.centres, Instances::Sparse(_)),
            CellSource::Forests(_) => matches!(instances, Instances::Sparse(_)),
        };
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
        match &self.source {
            CellSource::Forests(walk) => walk.find(block, count, found),
            CellSource::Centres(lists, search) => {
                search.find(lists, &self.psis, block, count, found, ctx);
                if lists.has_spheres() {
                    sphere::leave_outside(lists, &self.psis, block, count, found);
                }
            }
        }
    }
}

impl CellSearch {
    fn new(p: &CentreLists, psis: &[usize], strategy: Strategy, ctx: &Ctx) -> Result<CellSearch> {
        let sparse = matches!(p.centres, Instances::Sparse(_));
        Ok(match strategy {
            Strategy::Literal => CellSearch::Literal,
            Strategy::Walk => CellSearch::Walk(Walk::new(p, psis)?),
            Strategy::Scan if sparse => CellSearch::SparseScan,
            Strategy::Fused if !sparse && p.distance == Distance::Euclidean => {
                CellSearch::Fused(Box::new(NearestCentre::new(p, psis, ctx)?))
            }
            Strategy::Fused if sparse => CellSearch::SparseScan,
            _ => CellSearch::Scan(lanes::Lanes::new(&p.centres, p.distance)?),
        })
    }

    /// The nearest centres of `count` rows.
    fn find(
        &self,
        p: &CentreLists,
        psis: &[usize],
        block: &Block<'_>,
        count: usize,
        found: &mut [Vec<u16>],
        ctx: &Ctx,
    ) {
        match (self, block) {
            (CellSearch::Fused(sieve), Block::F64(x)) => sieve.find(p, x, count, found, ctx),
            (CellSearch::Fused(sieve), Block::F32(x)) => sieve.find(p, x, count, found, ctx),
            (CellSearch::Walk(walk), _) => walk.find(p, block, count, found),
            (CellSearch::Scan(lanes), Block::F64(x)) => scan(p, psis, lanes, x, count, found),
            (CellSearch::Scan(lanes), Block::F32(x)) => scan(p, psis, lanes, x, count, found),
            _ => search_literally(p, psis, block, count, found),
        }
    }
}

/// The definition.
fn search_literally(
    p: &CentreLists,
    psis: &[usize],
    block: &Block<'_>,
    count: usize,
    found: &mut [Vec<u16>],
) {
    for row in 0..count {
        for i in 0..p.t {
            let list = p.list(i);
            race(i, psis, row, found, |j| distance(p, block, row, list[j] as usize));
        }
    }
}

/// Runs along one list and notes the nearest at every psi.
fn race(
    i: usize,
    psis: &[usize],
    row: usize,
    found: &mut [Vec<u16>],
    mut distance: impl FnMut(usize) -> f64,
) {
    let mut nearest = literal::Nearest::new();
    let mut from = 0;
    for (&psi, found) in psis.iter().zip(found) {
        for j in from..psi {
            nearest.offer(j, distance(j));
        }
        found[i * BLOCK + row] = nearest.at();
        from = psi;
    }
}

/// The definition, a panel of points at a time.
fn scan<T: super::simd::Element>(
    p: &CentreLists,
    psis: &[usize],
    lanes: &lanes::Lanes,
    x: &[T],
    count: usize,
    found: &mut [Vec<u16>],
) {
    let width = p.width();
    let largest = psis[psis.len() - 1];
    let mut distances = vec![0.0; lanes.points() * largest];
    for first in (0..count).step_by(lanes.points()) {
        let some = lanes.points().min(count - first);
        let panel = lanes.panel(&x[first * width..(first + some) * width]);
        for i in 0..p.t {
            lanes.to_rows(&panel, &p.list(i)[..largest], largest, &mut distances);
            for (row, own) in distances.chunks_exact(largest).take(some).enumerate() {
                race(i, psis, first + row, found, |j| own[j]);
            }
        }
    }
}

/// The distance of one row of a block to a centre, by the definition.
fn distance(p: &CentreLists, block: &Block<'_>, row: usize, centre: usize) -> f64 {
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
