//! RBF-MIP: groups of near training bags as the centres of a radial basis function network.
//!
//! The distance of two bags is that of their nearest pair of instances (or of a higher rank, as in `citation-knn`). Training bags start as groups of their own (copies of a bag as one), and the
//! two nearest groups (the least distance between their members; of equals those that come first) are joined until the
//! asked share of groups is left. With `h_g` the distance of a bag to the nearest member of group g, its features are
//! `exp(-h_g^2 / (2 s^2))`, where s is `mu` times the mean distance between groups, and the output is linear in them, with a
//! bias: least squares, by the pseudo-inverse.
//!
//! All pairs of instances once, n^2 d / 2 multiply-adds, for the whole grid; then bags^3 for each point. Zhang, Zhou: Adapting RBF
//! neural networks to multi-instance learning, Neural Processing Letters 23, 2006. The paper leaves open how groups are
//! joined and what the width is; both are our reading. It exists to repeat published tables: citation-knn has smaller
//! errors on the same data.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::families::least_squares::solve_least_squares;
use crate::families::nearest_bags::{BagDistances, MeasuringBags, RANK, copies};
use crate::method::{
    Explains, Explanation, Info, MemoryEstimate, Method, Outputs, Predictor, Prepared, Scope, SolvedFit,
    State, Training,
};
use crate::params::{Kind, ParamSpec, Point};
use crate::state::refuse;
use bagwise_core::{Bags, Ctx, Error, Mat, Result, duplicates};

/// The method, for the registry.
pub(crate) static METHOD: RbfMip = RbfMip;

pub(crate) struct RbfMip;

/// Why instances cannot be told apart.
const WHY: &str = "the output depends on the distances to many groups of bags";

static INFO: Info = Info {
    name: "rbf-mip",
    title: "a radial basis function network on clusters of bags",
    about: "Training bags are clustered by the distance of their nearest instances. Each feature of a bag is a Gaussian of its \
            distance to one cluster, and the output is linear in these features, fitted by least squares.",
    reference: "Zhang, Zhou: Adapting RBF neural networks to multi-instance learning, Neural Processing Letters 23, 2006",
    family: "nearest bags",
    complexity: 40,
    explains: Explains::No(WHY),
    params: PARAMS,
    ..Info::USUAL
};

static PARAMS: &[ParamSpec] = &[
    ParamSpec::new("groups", Kind::Share, "0.5", "Number of groups as a share of the training bags.")
        .grid("0.1,0.2,0.4,0.8")
        .solver(),
    ParamSpec::new(
        "mu",
        Kind::Number { above: 0.0 },
        "0.6",
        "Width of the Gaussians in units of the mean distance between groups.",
    )
    .grid("0.3,0.6,1")
    .solver(),
    RANK,
];

/// Singular values below this share of the largest are taken for 0.
const SMALLEST: f64 = 1e-10;

/// What a point asks for.
#[derive(Clone, Copy)]
struct NetworkParams {
    share: f64,
    mu: f64,
}

impl NetworkParams {
    fn read(point: &Point) -> Result<NetworkParams> {
        Ok(NetworkParams { share: point.number("groups")?, mu: point.number("mu")? })
    }
}

impl Method for RbfMip {
    fn info(&self) -> &'static Info {
        &INFO
    }

    fn work(&self, bags: &Bags, _: usize) -> f64 {
        // Distances; and twelve points on an outer fold and its five inner ones, some ten sweeps each.
        crate::families::width::pass(bags, 1) + 6.0 * 12.0 * 10.0 * (bags.len() as f64).powi(3)
    }

    fn needs(&self, bags: &Bags) -> MemoryEstimate {
        // Distances for each rank, and a system of equations for each of two threads.
        let square = 8 * (bags.len() as u64).pow(2);
        MemoryEstimate { fixed: copies(bags) + 4 * square, each: square }
    }

    fn prepare(
        &self,
        bags: Arc<Bags>,
        points: &[Point],
        _: &Scope<'_>,
        ctx: &Ctx,
    ) -> Result<Box<dyn Prepared>> {
        let distances = BagDistances::new(self.params(), bags, points, ctx)?;
        let points = points.iter().map(NetworkParams::read).collect::<Result<_>>()?;
        let mut first: Vec<usize> = (0..distances.bags().len()).collect();
        duplicates(distances.bags(), None)?.copies.into_iter().for_each(|(copy, of)| first[copy] = of);
        Ok(Box::new(NetworkPrepared { first, points, distances }))
    }

    fn load(&self, point: &Point, state: &State) -> Result<Box<dyn Predictor>> {
        let kept = MeasuringBags::load(point, state)?;
        let mut outputs = Vec::new();
        loop {
            let own = state.nested(&format!("output{}", outputs.len()));
            if own.tensors.is_empty() {
                break;
            }
            outputs.push(GroupNetwork::load(&own, kept.bags.len())?);
        }
        if outputs.is_empty() {
            return Err(refuse("it has no outputs"));
        }
        Ok(Box::new(NetworkModel { kept, outputs }))
    }
}

struct NetworkPrepared {
    /// For each bag the first that is equal to it: copies must not be groups of their own, or weights and copies would differ.
    first: Vec<usize>,
    points: Vec<NetworkParams>,
    distances: BagDistances,
}

/// One output.
#[derive(Clone, Debug)]
struct GroupNetwork {
    /// Bags, and the group of each; those of a group need not stand together.
    members: Vec<(usize, usize)>,
    width: f64,
    weights: Vec<f64>,
    bias: f64,
}

impl GroupNetwork {
    /// The features of a bag, by its distances to all bags.
    fn features(&self, distances: &[f64]) -> Vec<f64> {
        let mut least = vec![f64::INFINITY; self.weights.len()];
        for &(bag, group) in &self.members {
            least[group] = least[group].min(distances[bag]);
        }
        least.into_iter().map(|h| (-0.5 * (h / self.width).powi(2)).exp()).collect()
    }

    fn output(&self, distances: &[f64]) -> f64 {
        self.features(distances).iter().zip(&self.weights).map(|(f, w)| f * w).sum::<f64>() + self.bias
    }

    fn save(&self) -> State {
        let mut state = State::default();
        state.put_counts("bags", self.members.iter().map(|m| m.0));
        state.put_counts("groups", self.members.iter().map(|m| m.1));
        state.put("weights", &self.weights);
        state.put_counts("count", [self.weights.len()]);
        state.put("width_of_gaussians", &[self.width]);
        state.put("bias", &[self.bias]);
        state
    }

    fn load(state: &State, kept: usize) -> Result<GroupNetwork> {
        let (bags, groups) = (state.counts("bags")?, state.counts("groups")?);
        let count = state.count("count")?;
        let weights = state.vector("weights", count)?;
        let inside = bags.iter().all(|&b| b < kept) && groups.iter().all(|&g| g < count);
        let distinct = groups.iter().collect::<BTreeSet<_>>().len();
        if bags.len() != groups.len() || !inside || distinct != count {
            return Err(refuse("its groups of bags are inconsistent"));
        }
        Ok(GroupNetwork {
            members: bags.into_iter().zip(groups).collect(),
            width: state.positive("width_of_gaussians")?,
            weights,
            bias: state.vector("bias", 1)?[0],
        })
    }
}

impl NetworkPrepared {
    /// For each of some bags the place of the first that is equal to it.
    fn first_places(&self, bags: &[usize]) -> Vec<usize> {
        let mut places = BTreeMap::new();
        bags.iter().enumerate().map(|(at, &b)| *places.entry(self.first[b]).or_insert(at)).collect()
    }

    /// The groups of the training bags after the nearest two were joined again and again, for each of some numbers of
    /// groups, and the distances between them. At the start, each bag is in the group of its place in `start`.
    fn joined(
        distances: &Mat,
        bags: &[usize],
        start: &[usize],
        wanted: &[usize],
        ctx: &Ctx,
    ) -> Result<Vec<(Vec<usize>, Mat)>> {
        let n = bags.len();
        let mut between = Mat::zeros(n, n);
        for i in 0..n {
            (0..n).for_each(|j| between.set(i, j, distances.get(bags[i], bags[j])));
        }
        let mut of_bag = start.to_vec();
        let mut alive: Vec<usize> = (0..n).filter(|&i| start[i] == i).collect();
        let mut found: Vec<Option<(Vec<usize>, Mat)>> = vec![None; wanted.len()];
        loop {
            ctx.check()?;
            for (found, _) in found.iter_mut().zip(wanted).filter(|(_, w)| **w == alive.len()) {
                let place = |g: &usize| alive.iter().position(|a| a == g).expect("a group that is left");
                let rows: Vec<Vec<f64>> =
                    alive.iter().map(|&a| alive.iter().map(|&b| between.get(a, b)).collect()).collect();
                *found = Some((of_bag.iter().map(place).collect(), Mat::from_rows(&rows)));
            }
            if alive.len() == 1 || found.iter().all(Option::is_some) {
                break;
            }
            let mut best = (alive[0], alive[1]);
            for (at, &a) in alive.iter().enumerate() {
                for &b in &alive[at + 1..] {
                    if between.get(a, b) < between.get(best.0, best.1) {
                        best = (a, b);
                    }
                }
            }
            let (a, b) = best;
            of_bag.iter_mut().filter(|g| **g == b).for_each(|g| *g = a);
            alive.retain(|&g| g != b);
            for &other in alive.iter().filter(|&&g| g != a) {
                let least = between.get(a, other).min(between.get(b, other));
                between.set(a, other, least);
                between.set(other, a, least);
            }
        }
        Ok(found.into_iter().map(|f| f.expect("every number of groups was passed")).collect())
    }

    fn network(
        distances: &Mat,
        (groups, between): &(Vec<usize>, Mat),
        mu: f64,
        training: &Training<'_>,
        ctx: &Ctx,
    ) -> Result<GroupNetwork> {
        let count = between.rows();
        let pairs = (count * count - count) as f64;
        let mean = between.data().iter().sum::<f64>() / pairs;
        // One group, or all at distance 0: nothing to measure by.
        let width = if mean * mu > 0.0 { mean * mu } else { 1.0 };
        let members = training.bags.iter().copied().zip(groups.iter().copied()).collect();
        let empty = GroupNetwork { members, width, weights: vec![0.0; count], bias: 0.0 };
        let mut rows = Mat::zeros(training.bags.len(), count + 1);
        let mut y = Vec::with_capacity(training.bags.len());
        for (i, &bag) in training.bags.iter().enumerate() {
            let weight = training.weights[i].sqrt();
            let features = empty.features(distances.row(bag));
            for (out, f) in rows.row_mut(i).iter_mut().zip(features.iter().chain([&1.0])) {
                *out = weight * f;
            }
            y.push(weight * training.y[i]);
        }
        let mut weights = solve_least_squares(rows, &y, SMALLEST, ctx)?;
        let bias = weights.pop().unwrap_or(0.0);
        Ok(GroupNetwork { weights, bias, ..empty })
    }
}

impl Prepared for NetworkPrepared {
    fn fit(&self, points: &[usize], training: &Training<'_>, ctx: &Ctx) -> Result<Vec<SolvedFit>> {
        let start = self.first_places(training.bags);
        let n = start.iter().enumerate().filter(|(at, of)| at == *of).count();
        let count = |p: usize| ((self.points[p].share * n as f64).round() as usize).clamp(1, n);
        let mut wanted: Vec<usize> = points.iter().map(|&p| count(p)).collect();
        wanted.sort_unstable();
        wanted.dedup();
        let distances = self.distances.at(points[0]);
        let joined = Self::joined(distances, training.bags, &start, &wanted, ctx)?;
        let fit = |&point: &usize| {
            let at = wanted.binary_search(&count(point)).expect("it was asked for");
            let network = Self::network(distances, &joined[at], self.points[point].mu, training, ctx)?;
            Ok(SolvedFit { point, outcome: None, rounds: None, solution: Box::new(network) })
        };
        points.iter().map(fit).collect()
    }

    fn scores(&self, fit: &SolvedFit, bags: &[usize], _: &Ctx) -> Result<Vec<f64>> {
        let distances = self.distances.at(fit.point);
        Ok(bags.iter().map(|&b| fit.of::<GroupNetwork>().output(distances.row(b))).collect())
    }

    fn joins_points(&self) -> bool {
        true
    }

    fn model(&self, fits: &[&SolvedFit], train: &[usize], _: &Ctx) -> Result<Box<dyn Predictor>> {
        let (kept, place) = self.distances.keep(fits[0].point, train);
        let moved = |fit: &&SolvedFit| {
            let mut network = fit.of::<GroupNetwork>().clone();
            network.members.iter_mut().for_each(|m| m.0 = place[m.0]);
            network
        };
        Ok(Box::new(NetworkModel { kept, outputs: fits.iter().map(moved).collect() }))
    }
}

/// The training bags, and a network for each output.
struct NetworkModel {
    kept: MeasuringBags,
    outputs: Vec<GroupNetwork>,
}

impl Predictor for NetworkModel {
    fn outputs(&self) -> usize {
        self.outputs.len()
    }

    fn width(&self) -> Option<usize> {
        Some(self.kept.bags.width())
    }

    fn predict(&self, bags: &Bags, ctx: &Ctx) -> Result<Outputs> {
        let distances = self.kept.distances(bags, ctx)?;
        let mut scores = Mat::zeros(bags.len(), self.outputs.len());
        for b in 0..bags.len() {
            for (k, network) in self.outputs.iter().enumerate() {
                scores.set(b, k, network.output(distances.row(b)));
            }
        }
        Ok(Outputs { scores, nearest: vec![None; bags.len()] })
    }

    fn explain(&self, _: &Bags, _: &Ctx) -> Result<Vec<Vec<Explanation>>> {
        Err(Error::Invalid(format!(
            "rbf-mip cannot explain by instance: {WHY}; citation-knn names the nearest pairs"
        )))
    }

    fn save(&self) -> Result<State> {
        let mut state = self.kept.save()?;
        self.outputs.iter().enumerate().for_each(|(k, o)| state.nest(&format!("output{k}"), o.save()));
        Ok(state)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn many_groups_are_checked_in_no_time() {
        let count = 300_000;
        let mut state = State::default();
        state.put_counts("bags", 0..count);
        state.put_counts("groups", (0..count).rev());
        state.put("weights", &vec![0.0; count]);
        state.put_counts("count", [count]);
        state.put("width_of_gaussians", &[1.0]);
        state.put("bias", &[0.0]);
        let started = std::time::Instant::now();
        assert!(GroupNetwork::load(&state, count).is_ok());
        assert!(started.elapsed().as_secs() < 10, "a look for every group among all takes minutes");
        state.put_counts("groups", (0..count).map(|g| g / 2));
        assert!(GroupNetwork::load(&state, count).is_err(), "half of the groups have no bags");
    }
}
