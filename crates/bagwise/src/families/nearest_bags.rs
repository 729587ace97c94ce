//! Methods on Hausdorff distances of bags: one pass over the pairs of instances for the whole grid, and training bags that a
//! model keeps to measure new ones by.

use std::sync::Arc;

use crate::params::{Kind, ParamSpec, Point, representations};
use crate::state::State;
use bagwise_core::{Bags, Ctx, Mat, Result};
use bagwise_engine::bag_distances::{HausdorffRank, hausdorff, hausdorff_to};

/// Which distance of bags.
pub(crate) const RANK: ParamSpec = ParamSpec::new(
    "rank",
    Kind::Whole { least: 1, most: 1000, words: &["max"] },
    "1",
    "Which instance decides the distance of two bags: 1 is the nearest pair, max the ordinary Hausdorff distance. Bags \
     that share a background need a higher rank.",
);

fn rank(point: &Point) -> Result<HausdorffRank> {
    Ok(point.whole(RANK.name)?.map_or(HausdorffRank::Last, HausdorffRank::Nth))
}

/// Bytes of the instances, and of the same packed.
pub(crate) fn copies(bags: &Bags) -> u64 {
    2 * 8 * (bags.instance_count() * bags.width()) as u64
}

/// The distances of all prepared bags, for every rank of a grid.
pub(crate) struct BagDistances {
    bags: Arc<Bags>,
    ranks: Vec<HausdorffRank>,
    distances: Vec<Mat>,
    representation: Vec<usize>,
}

impl BagDistances {
    pub(crate) fn new(params: &[ParamSpec], bags: Arc<Bags>, points: &[Point], ctx: &Ctx) -> Result<Self> {
        let (distinct, representation) = representations(params, points);
        let ranks = distinct.into_iter().map(rank).collect::<Result<Vec<_>>>()?;
        let bags = bags.in_memory(ctx)?;
        let distances = hausdorff(&bags, &ranks, ctx)?;
        Ok(BagDistances { bags, ranks, distances, representation })
    }

    /// The bags that were measured.
    pub(crate) fn bags(&self) -> &Bags {
        &self.bags
    }

    /// The distances at a point, bags x bags.
    pub(crate) fn at(&self, point: usize) -> &Mat {
        &self.distances[self.representation[point]]
    }

    /// The training bags of a model, and the place of each prepared bag among them.
    pub(crate) fn keep(&self, point: usize, train: &[usize]) -> (MeasuringBags, Vec<usize>) {
        let mut place = vec![usize::MAX; self.bags.len()];
        train.iter().enumerate().for_each(|(at, &bag)| place[bag] = at);
        let rank = self.ranks[self.representation[point]];
        (MeasuringBags { bags: self.bags.select(train), rank }, place)
    }
}

/// Training bags that new ones are measured by.
pub(crate) struct MeasuringBags {
    pub(crate) bags: Bags,
    pub(crate) rank: HausdorffRank,
}

impl MeasuringBags {
    /// New bags x kept bags.
    pub(crate) fn distances(&self, bags: &Bags, ctx: &Ctx) -> Result<Mat> {
        Ok(hausdorff_to(bags, &self.bags, &[self.rank], ctx)?.remove(0))
    }

    /// Puts the bags under `kept`.
    pub(crate) fn save(&self) -> Result<State> {
        let mut kept = State::default();
        kept.put_bags(&self.bags)?;
        let mut state = State::default();
        state.nest("kept", kept);
        Ok(state)
    }

    pub(crate) fn load(point: &Point, state: &State) -> Result<MeasuringBags> {
        Ok(MeasuringBags { bags: state.nested("kept").bags()?, rank: rank(point)? })
    }
}
