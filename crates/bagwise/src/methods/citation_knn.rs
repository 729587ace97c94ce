//! Citation-kNN: a bag gets the label of its nearest training bags (*references*) and of those training bags that would
//! count it among their own nearest (*citers*).
//!
//! The distance of two bags is the Hausdorff distance of a rank (`bagwise_engine::bag_distances`): that of their nearest
//! pair of instances for rank 1. A training bag votes once as a reference and once as a citer, and the output is the
//! weighted mean of the votes `y`. Equal distances all count: as many references as tie with the last, and a bag cites
//! if fewer than `citers` other training bags are strictly nearer to it. Distances within 1e-12 of each other are equal,
//! so that rounding does not decide. A bag of weight n votes, and counts among the nearest, like n copies of it.
//!
//! Nothing is trained. One pass over the pairs of instances, n^2 d / 2 multiply-adds, serves the whole grid; bags^2
//! numbers of memory. A model keeps the training bags.
//!
//! Wang, Zucker: Solving the multiple-instance problem: a lazy learning approach, ICML 2000. A tie of votes is negative,
//! as there. Weka's CitationKNN takes the distance in one direction only (the same for rank 1), widens its scaling with
//! every test bag in turn, and refuses as many citers as there are bags; with its scaling imitated the votes agree.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::sync::Arc;

use crate::families::nearest_bags::{BagDistances, MeasuringBags, RANK, copies};
use crate::method::{
    Capability, Explanation, Info, MemoryEstimate, Method, Outputs, Predictor, Prepared, Scope, SolvedFit,
    State, Training, VotingBag,
};
use crate::multiclass::Scheme;
use crate::params::{Grid, Kind, ParamSpec, Point};
use crate::state::refuse;
use bagwise_core::{Bags, Ctx, Mat, Result};
use bagwise_engine::bag_distances::squared_between;

/// The method, for the registry.
pub(crate) static METHOD: CitationKnn = CitationKnn;

pub(crate) struct CitationKnn;

static INFO: Info = Info {
    name: "citation-knn",
    aliases: &["citation"],
    title: "nearest training bags vote, and so do bags that would have the new bag as a near neighbour",
    about: "The distance between two bags is that of their nearest pair of instances, or one of a higher rank. The nearest \
            training bags vote, and so do the training bags that would count the new bag among their own nearest. \
            The output is the mean of the votes, weighted by the weights of the bags. Nothing is trained, and each vote can be \
            traced to a pair of instances.",
    reference: "Wang, Zucker: Solving the multiple-instance problem: a lazy learning approach, ICML 2000",
    family: "nearest bags",
    complexity: 12,
    capabilities: &[Capability::Votes],
    scheme: Scheme::OneVsRest,
    params: PARAMS,
    ..Info::USUAL
};

static PARAMS: &[ParamSpec] = &[
    ParamSpec::new(
        "references",
        Kind::Whole { least: 1, most: 1000, words: &[] },
        "2",
        "Number of nearest training bags that vote; bags at the same distance all vote.",
    )
    .grid("1,2,3,5")
    .solver(),
    ParamSpec::new(
        "citers",
        Kind::Whole { least: 0, most: 1000, words: &[] },
        "4",
        "A training bag also votes if the new bag is among this many bags nearest to it.",
    )
    .grid("0,2,4,6")
    .solver(),
    RANK,
];

/// Distances this close to each other, relatively, are equal.
const EQUAL: f64 = 1e-12;

/// Whether a distance is strictly below another.
fn nearer(a: f64, b: f64) -> bool {
    b - a > EQUAL * b
}

/// Bags by distance.
struct BagsByDistance {
    /// Distances, from the nearest on, and the weight of all bags up to there.
    within: Vec<(f64, f64)>,
}

impl BagsByDistance {
    /// From distances and weights in any order.
    fn new(bags: impl Iterator<Item = (f64, f64)>) -> BagsByDistance {
        let mut within: Vec<(f64, f64)> = bags.collect();
        within.sort_by(|a, b| a.0.total_cmp(&b.0));
        let mut total = 0.0;
        for (_, weight) in &mut within {
            total += *weight;
            *weight = total;
        }
        BagsByDistance { within }
    }

    /// The smallest distance within which bags of this weight lie; that of no bag if all together weigh less.
    fn reach(&self, weight: f64) -> f64 {
        // Weights that are no whole numbers are rounded when they are added.
        let at = self.within.partition_point(|&(_, total)| total < weight * (1.0 - EQUAL));
        self.within.get(at).map_or(f64::MAX, |&(distance, _)| distance)
    }
}

impl Method for CitationKnn {
    fn info(&self) -> &'static Info {
        &INFO
    }

    fn work(&self, bags: &Bags, _: usize) -> f64 {
        crate::families::width::pass(bags, 1)
    }

    fn machine_work(&self, bags: &Bags, grid: &Grid, share: f64) -> f64 {
        // Every bag ranks all others, and is ranked by them.
        grid.points.len() as f64 * 200.0 * (share * bags.len() as f64).powi(2)
    }

    fn needs(&self, bags: &Bags) -> MemoryEstimate {
        MemoryEstimate { fixed: copies(bags), each: 8 * (bags.len() as u64).pow(2) }
    }

    fn prepare(
        &self,
        bags: Arc<Bags>,
        points: &[Point],
        _: &Scope<'_>,
        ctx: &Ctx,
    ) -> Result<Box<dyn Prepared>> {
        let distances = BagDistances::new(self.params(), bags, points, ctx)?;
        let count = |p: &Point, name: &str| Ok::<usize, bagwise_core::Error>(p.number(name)? as usize);
        let points = points.iter().map(|p| Ok((count(p, "references")?, count(p, "citers")?)));
        let points = points.collect::<Result<_>>()?;
        Ok(Box::new(CitationPrepared { points, distances }))
    }

    fn load(&self, point: &Point, state: &State) -> Result<Box<dyn Predictor>> {
        let mut kept = MeasuringBags::load(point, state)?;
        kept.bags = kept.bags.with_ids(state.nested("names").names()?).map_err(|e| refuse(e.to_string()))?;
        let references = state.counts("references")?;
        let ends = state.counts("ends")?;
        let at = state.counts("bags")?;
        let (y, weights) = (state.vector("votes", at.len())?, state.vector("weights", at.len())?);
        let reach = state.vector("reach", at.len())?;
        let ordered = ends.windows(2).all(|w| w[0] < w[1]) && ends.first().is_some_and(|&e| e > 0);
        if ends.len() != references.len() || !ordered || ends.last() != Some(&at.len()) {
            return Err(refuse("its outputs and the bags that vote are inconsistent"));
        }
        if at.iter().any(|&b| b >= kept.bags.len())
            || weights.iter().any(|w| *w <= 0.0)
            || references.contains(&0)
        {
            return Err(refuse("a vote is of no bag, or without weight"));
        }
        let voter = |i: usize| Voter { bag: at[i], y: y[i], weight: weights[i], reach: reach[i] };
        let mut outputs = Vec::new();
        let mut from = 0;
        for (&to, &references) in ends.iter().zip(&references) {
            outputs.push(Votes { references, voters: (from..to).map(voter).collect() });
            from = to;
        }
        Ok(Box::new(CitationModel { kept, outputs }))
    }
}

struct CitationPrepared {
    /// References and citers.
    points: Vec<(usize, usize)>,
    distances: BagDistances,
}

/// A training bag that may vote.
#[derive(Clone, Debug)]
struct Voter {
    bag: usize,
    y: f64,
    weight: f64,
    /// It cites bags up to this distance; below 0 for none.
    reach: f64,
}

/// Who may vote for an output.
#[derive(Clone, Debug)]
struct Votes {
    references: usize,
    voters: Vec<Voter>,
}

impl Votes {
    /// How often each voter votes for a bag whose distances to all bags are given.
    fn counts(&self, distances: &[f64]) -> Vec<u8> {
        let nearest = BagsByDistance::new(self.voters.iter().map(|v| (distances[v.bag], v.weight)));
        let last = nearest.reach(self.references as f64);
        let count = |v: &Voter| {
            let d = distances[v.bag];
            u8::from(!nearer(last, d)) + u8::from(!nearer(v.reach, d))
        };
        self.voters.iter().map(count).collect()
    }

    /// Weight of all votes.
    fn total(&self, counts: &[u8]) -> f64 {
        self.voters.iter().zip(counts).map(|(v, &c)| f64::from(c) * v.weight).sum()
    }

    fn score(&self, distances: &[f64]) -> f64 {
        let counts = self.counts(distances);
        let sum: f64 = self.voters.iter().zip(&counts).map(|(v, &c)| f64::from(c) * v.weight * v.y).sum();
        sum / self.total(&counts)
    }
}

impl Prepared for CitationPrepared {
    fn fit(&self, points: &[usize], training: &Training<'_>, ctx: &Ctx) -> Result<Vec<SolvedFit>> {
        let distances = self.distances.at(points[0]);
        // How far the citations of each bag reach, for every point.
        let mut reach: Vec<Vec<f64>> = Vec::with_capacity(training.bags.len());
        for (&b, &own) in training.bags.iter().zip(training.weights) {
            ctx.check()?;
            // Among the others are further copies of the bag, if it has their weight.
            let weight = |other: usize, weight: f64| if other == b { (own - 1.0).max(0.0) } else { weight };
            let each = training.bags.iter().zip(training.weights);
            let others = BagsByDistance::new(each.map(|(&o, &w)| (distances.get(b, o), weight(o, w))));
            let of = |&point: &usize| match self.points[point].1 {
                0 => -1.0,
                citers => others.reach(citers as f64),
            };
            reach.push(points.iter().map(of).collect());
        }
        let fit = |(at, &point): (usize, &usize)| {
            let references = self.points[point].0;
            let voter = |i: usize| Voter {
                bag: training.bags[i],
                y: training.y[i],
                weight: training.weights[i],
                reach: reach[i][at],
            };
            let votes = Votes { references, voters: (0..training.bags.len()).map(voter).collect() };
            SolvedFit { point, outcome: None, rounds: None, solution: Box::new(votes) }
        };
        Ok(points.iter().enumerate().map(fit).collect())
    }

    fn scores(&self, fit: &SolvedFit, bags: &[usize], ctx: &Ctx) -> Result<Vec<f64>> {
        let distances = self.distances.at(fit.point);
        let score = |&b: &usize| {
            ctx.check()?;
            Ok(fit.of::<Votes>().score(distances.row(b)))
        };
        bags.iter().map(score).collect()
    }

    fn joins_points(&self) -> bool {
        true
    }

    fn model(&self, fits: &[&SolvedFit], train: &[usize], _: &Ctx) -> Result<Box<dyn Predictor>> {
        let (kept, place) = self.distances.keep(fits[0].point, train);
        let moved = |fit: &&SolvedFit| {
            let Votes { references, mut voters } = fit.of::<Votes>().clone();
            voters.iter_mut().for_each(|v| v.bag = place[v.bag]);
            Votes { references, voters }
        };
        Ok(Box::new(CitationModel { kept, outputs: fits.iter().map(moved).collect() }))
    }
}

/// The training bags, and how they vote for each output.
struct CitationModel {
    kept: MeasuringBags,
    outputs: Vec<Votes>,
}

/// The instances of a new bag that make it near a kept one, and the first of the kept bag's that does.
struct NearestPair {
    own: Vec<usize>,
    other: usize,
}

impl CitationModel {
    /// Where the distance of two bags is reached: by instances of the new bag at their nearest, or else, if an instance of
    /// the kept bag is farther from all of them, by those nearest to it.
    fn pair(&self, bags: &Bags, bag: usize, kept: usize) -> Result<NearestPair> {
        let squared = squared_between(bags.bag(bag), self.kept.bags.bag(kept))?;
        let (m, n) = (squared.rows(), squared.cols());
        let least = |values: &mut dyn Iterator<Item = f64>| values.fold(f64::INFINITY, f64::min);
        let of_own: Vec<f64> = (0..m).map(|i| least(&mut (0..n).map(|j| squared.get(i, j)))).collect();
        let of_kept: Vec<f64> = (0..n).map(|j| least(&mut (0..m).map(|i| squared.get(i, j)))).collect();
        let there = self.kept.rank.of(&mut of_own.clone());
        let back = self.kept.rank.of(&mut of_kept.clone());
        let first = |found: Option<usize>| found.expect("a distance is that of some instance");
        if there >= back {
            let own: Vec<usize> = (0..m).filter(|&i| of_own[i] == there).collect();
            let other = first((0..n).find(|&j| squared.get(own[0], j) == there));
            return Ok(NearestPair { own, other });
        }
        let other = first((0..n).find(|&j| of_kept[j] == back));
        Ok(NearestPair { own: (0..m).filter(|&i| squared.get(i, other) == back).collect(), other })
    }

    /// Calls `see` with every vote for every bag: output, voter, number of votes, its part of the output, and the pair of
    /// instances.
    fn each_vote(
        &self,
        bags: &Bags,
        ctx: &Ctx,
        mut see: impl FnMut(usize, usize, &Voter, u8, f64, &NearestPair),
    ) -> Result<()> {
        let distances = self.kept.distances(bags, ctx)?;
        for b in 0..bags.len() {
            // Outputs share most of their voters.
            let mut pairs: BTreeMap<usize, NearestPair> = BTreeMap::new();
            for (k, votes) in self.outputs.iter().enumerate() {
                let counts = votes.counts(distances.row(b));
                let total = votes.total(&counts);
                for (voter, &count) in votes.voters.iter().zip(&counts).filter(|(_, c)| **c > 0) {
                    ctx.check()?;
                    if let Entry::Vacant(unseen) = pairs.entry(voter.bag) {
                        unseen.insert(self.pair(bags, b, voter.bag)?);
                    }
                    let part = f64::from(count) * voter.weight * voter.y / total;
                    see(b, k, voter, count, part, &pairs[&voter.bag]);
                }
            }
        }
        Ok(())
    }
}

impl Predictor for CitationModel {
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
            ctx.check()?;
            for (k, votes) in self.outputs.iter().enumerate() {
                scores.set(b, k, votes.score(distances.row(b)));
            }
        }
        Ok(Outputs { scores, nearest: vec![None; bags.len()] })
    }

    fn explain(&self, bags: &Bags, ctx: &Ctx) -> Result<Vec<Vec<Explanation>>> {
        let mut parts: Vec<Vec<Vec<f64>>> =
            (0..bags.len()).map(|b| vec![vec![0.0; bags.rows(b).len()]; self.outputs.len()]).collect();
        self.each_vote(bags, ctx, |b, k, _, _, part, pair| {
            let share = part / pair.own.len() as f64;
            pair.own.iter().for_each(|&i| parts[b][k][i] += share);
        })?;
        let additive = |parts| Explanation::Additive { bias: 0.0, parts };
        Ok(parts.into_iter().map(|outputs| outputs.into_iter().map(additive).collect()).collect())
    }

    fn votes(&self, bags: &Bags, ctx: &Ctx) -> Result<Option<Vec<Vec<Vec<VotingBag>>>>> {
        let mut all = vec![vec![Vec::new(); self.outputs.len()]; bags.len()];
        self.each_vote(bags, ctx, |b, k, voter, count, part, pair| {
            all[b][k].push(VotingBag {
                bag: self.kept.bags.ids()[voter.bag].clone(),
                votes: count,
                instance: pair.own[0],
                its_instance: pair.other,
                part,
            });
        })?;
        Ok(Some(all))
    }

    fn save(&self) -> Result<State> {
        let mut state = self.kept.save()?;
        let mut names = State::default();
        names.put_names(self.kept.bags.ids().iter().map(String::as_str));
        state.nest("names", names);
        let voters = || self.outputs.iter().flat_map(|o| &o.voters);
        let numbers = |of: fn(&Voter) -> f64| voters().map(of).collect::<Vec<_>>();
        state.put_counts("references", self.outputs.iter().map(|o| o.references));
        let ends = self.outputs.iter().scan(0, |end, o| {
            *end += o.voters.len();
            Some(*end)
        });
        state.put_counts("ends", ends);
        state.put_counts("bags", voters().map(|v| v.bag));
        state.put("votes", &numbers(|v| v.y));
        state.put("weights", &numbers(|v| v.weight));
        state.put("reach", &numbers(|v| v.reach));
        Ok(state)
    }
}
