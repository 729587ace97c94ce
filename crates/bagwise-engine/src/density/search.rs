//! The search for concepts: from which instances, how far, and what came of each climb.

use rayon::prelude::*;

use super::lbfgs::{Climb, End, Stop};
use super::likelihood::BagTarget;
use super::{Batch, Concept, Evidence, first_least};
use crate::kernels::TILE_COLS;
use bagwise_core::{Ctx, Message, Result, Rng, Setting};

/// What is free in a concept besides its point.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ConceptMetric {
    /// The weight of every attribute.
    Weighted,
    /// Nothing: all attributes count the same, as at the start.
    Unweighted,
}

/// How many instances of the positive bags are climbed from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Starts {
    /// All.
    All,
    /// So many, drawn by the seed.
    Some(usize),
    /// As many as [`auto_starts`] allows, of which those go on that look best ([`search`]).
    Auto,
}

/// Operations that an automatic search takes at most: about two seconds of a core.
const AUTO_WORK: f64 = 2.4e10;

/// Evaluations per start of an automatic search, measured on Musk1: one for all, five for a half, and so on.
pub const AUTO_EVALUATIONS: f64 = 8.0;

/// The minimum number of starts of an automatic search, if there are that many: with fewer, its result depends on the seed.
const FEWEST_STARTS: usize = 64;

/// How many starts an automatic search has, from the shape of its bags alone.
pub fn auto_starts(instances: usize, width: usize) -> usize {
    let each = AUTO_EVALUATIONS * 4.0 * (instances * width) as f64;
    ((AUTO_WORK / each.max(1.0)) as usize).max(FEWEST_STARTS)
}

/// The rounds of an automatic search: after this many steps, only the denser half of the climbs continues.
const HALVED_AFTER: [usize; 3] = [0, 4, 12];

/// Fewer climbs than these are not halved: they would leave the registers of a batch empty, and gain nothing.
const FEWEST_CLIMBS: usize = 32;

/// A climb joins a denser one if their points are nearer than this by the weights of either, and their squared weights differ
/// by no more than this share: on its way to the same maximum it would find the same.
const JOINED: f64 = 1e-3;

/// How concepts are searched for.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SearchOptions {
    /// What is free.
    pub distance: ConceptMetric,
    /// Squared weights at the start are this over the number of attributes.
    pub rho: f64,
    /// From where.
    pub starts: Starts,
    /// How far.
    pub stop: Stop,
}

/// A concept that was found.
#[derive(Clone, Debug, PartialEq)]
pub struct FoundConcept {
    /// Where.
    pub concept: Concept,
    /// Its log density; for EM-DD that of the chosen instances.
    pub log_density: f64,
    /// The instance that was climbed from, counted in the evidence.
    pub start: usize,
    /// How the climb ended.
    pub end: End,
    /// Values and gradients it took.
    pub evaluations: usize,
}

/// Climbs that share their evaluations, at the most and at the least: more would only need more memory, fewer would leave
/// the batch half empty.
const TOGETHER: [usize; 2] = [2048, TILE_COLS];

/// How many climbs are held at a time: as many as fit an eighth of the budget. What a climb finds does not depend on it.
pub(super) fn together(free: usize, memory: u64) -> usize {
    let climb = Climb::bytes(free) + 8 * 2 * free as u64;
    ((memory / 8 / climb.max(1)) as usize).clamp(TOGETHER[1], TOGETHER[0])
}

/// Real values from here on count as positive bags when starts are chosen.
const HALF: f64 = 0.5;

/// EM-DD gives up a start after this many choices of instances: choices rarely cycle, but then they do so for ever.
const ROUNDS: usize = 50;
/// A round of EM-DD that gains less is the last.
const GAIN: f64 = 1e-8;

impl Evidence {
    /// The instances that climbs start from: those of positive bags; for real values those of bags of at least 1/2, or of
    /// the largest value where none reaches it. In the order of the bags.
    pub fn starts(&self, starts: Starts, seed: u64) -> Vec<usize> {
        let value = |t: &BagTarget| match t {
            BagTarget::Positive => 1.0,
            BagTarget::Negative => f64::NEG_INFINITY,
            BagTarget::Value(y) => *y,
        };
        let most = self.targets().iter().map(value).fold(f64::NEG_INFINITY, f64::max);
        let least = HALF.min(most);
        let mut rows: Vec<usize> = (0..self.targets().len())
            .filter(|&b| most > f64::NEG_INFINITY && value(&self.targets()[b]) >= least)
            .flat_map(|b| self.offsets()[b]..self.offsets()[b + 1])
            .collect();
        let count = match starts {
            Starts::All => None,
            Starts::Some(count) => Some(count),
            Starts::Auto => Some(auto_starts(self.instances().rows(), self.width())),
        };
        if let Some(count) = count {
            let mut picked = Rng::new(seed, "concepts", &[]).sample(rows.len(), count);
            picked.sort_unstable();
            rows = picked.into_iter().map(|i| rows[i]).collect();
        }
        rows
    }
}

impl SearchOptions {
    /// Where a climb begins: the free numbers of a concept at an instance.
    fn begin(&self, instance: &[f64]) -> Vec<f64> {
        let mut free = instance.to_vec();
        if self.distance == ConceptMetric::Weighted {
            free.resize(2 * instance.len(), self.weight(instance.len()));
        }
        free
    }

    fn weight(&self, d: usize) -> f64 {
        (self.rho / d as f64).sqrt()
    }

    /// The concept with these free numbers.
    fn concept(&self, free: &[f64], d: usize) -> Concept {
        let weights = match self.distance {
            ConceptMetric::Weighted => free[d..].to_vec(),
            ConceptMetric::Unweighted => vec![self.weight(d); d],
        };
        Concept { point: free[..d].to_vec(), weights }
    }
}

/// Climbs the density from every start: one concept for each, in the order of the starts. None without a positive bag.
///
/// With [`Starts::Auto`] the denser half of the starts is climbed from, and after a few steps and again the denser half of
/// the climbs goes on. A climb that joins a denser one ends where that ends. The others have no concept.
pub fn search(evidence: &Evidence, options: &SearchOptions, ctx: &Ctx) -> Result<Vec<FoundConcept>> {
    let starts = evidence.starts(options.starts, ctx.seed);
    if starts.is_empty() {
        return Ok(Vec::new());
    }
    let batch = Batch::new(evidence, options.distance == ConceptMetric::Weighted, ctx)?;
    let ascent = Ascent { evidence, options, batch, ctx };
    match options.starts {
        Starts::Auto => ascent.in_rounds(starts),
        _ => ascent.climb_all(&starts),
    }
}

/// Climbs on the same evidence.
struct Ascent<'a> {
    evidence: &'a Evidence,
    options: &'a SearchOptions,
    batch: Batch<'a>,
    ctx: &'a Ctx,
}

impl Ascent<'_> {
    fn begin(&self, row: usize) -> Climb {
        Climb::new(self.options.begin(self.evidence.instances().row(row)), self.options.stop)
    }

    /// Numbers that are free in a climb.
    fn free(&self) -> usize {
        self.options.begin(self.evidence.instances().row(0)).len()
    }

    /// Climbs until every climb has taken this many steps or has ended; `told` is called for every evaluation.
    fn climb(&self, climbs: &mut [Climb], steps: usize, told: impl Fn(&[Climb])) -> Result<()> {
        let d = self.evidence.width();
        loop {
            let goes_on = |c: &&mut Climb| c.end().is_none() && c.iterations() < steps;
            let mut active: Vec<&mut Climb> = climbs.iter_mut().filter(goes_on).collect();
            if active.is_empty() {
                return Ok(());
            }
            let concepts: Vec<Concept> = active.iter().map(|c| self.options.concept(c.trial(), d)).collect();
            let densities = self.batch.densities(&concepts, self.ctx)?;
            active
                .par_iter_mut()
                .zip(densities)
                .for_each(|(climb, (value, gradient))| climb.tell(value, &gradient));
            told(climbs);
        }
    }

    fn found(&self, climb: Climb, start: usize) -> FoundConcept {
        let (end, evaluations) = (climb.end().unwrap_or(End::Limit), climb.evaluations());
        let (free, log_density) = climb.result();
        let concept = self.options.concept(&free, self.evidence.width());
        FoundConcept { concept, log_density, start, end, evaluations }
    }

    fn climb_all(&self, starts: &[usize]) -> Result<Vec<FoundConcept>> {
        let most = self.options.stop.iterations;
        let total = (starts.len() * most) as u64;
        let mut found = Vec::with_capacity(starts.len());
        for starts in starts.chunks(together(self.free(), self.ctx.memory)) {
            let mut climbs: Vec<Climb> = starts.iter().map(|&row| self.begin(row)).collect();
            let before = found.len() * most;
            self.climb(&mut climbs, usize::MAX, |climbs| {
                // A climb that has ended is done with all its steps.
                let steps = |c: &Climb| if c.end().is_some() { most } else { c.iterations() };
                let done = before + climbs.iter().map(steps).sum::<usize>();
                self.ctx.progress.step("concepts", done as u64, total);
            })?;
            found.extend(climbs.into_iter().zip(starts).map(|(climb, &start)| self.found(climb, start)));
        }
        Ok(found)
    }

    fn in_rounds(&self, starts: Vec<usize>) -> Result<Vec<FoundConcept>> {
        let (d, free) = (self.evidence.width(), self.free());
        let mut starts = starts;
        if starts.len() > FEWEST_CLIMBS {
            let mut densities = Vec::with_capacity(starts.len());
            for some in starts.chunks(together(free, self.ctx.memory)) {
                let row = |&row: &usize| self.options.begin(self.evidence.instances().row(row));
                let concepts: Vec<Concept> =
                    some.iter().map(|start| self.options.concept(&row(start), d)).collect();
                densities
                    .extend(self.batch.densities(&concepts, self.ctx)?.into_iter().map(|(value, _)| value));
            }
            let kept = denser_half(&densities);
            starts = kept.into_iter().map(|i| starts[i]).collect();
        }
        self.ctx.reserve(
            "the climbs of a search for concepts",
            // As few as these are held in any case.
            starts.len().saturating_sub(TOGETHER[1]) as u64 * Climb::bytes(free),
            Message::more_memory().or("search from fewer starts").with([Setting::Parameter("starts", "10")]),
        )?;
        let mut climbs: Vec<Climb> = starts.iter().map(|&row| self.begin(row)).collect();
        // Who follows whom: a climb that has joined another is not climbed any more, and has no climb in the list.
        let mut joined: Vec<(usize, usize)> = Vec::new();
        let ends = HALVED_AFTER[1..].iter().copied().chain([usize::MAX]);
        for (round, steps) in ends.enumerate() {
            self.climb(&mut climbs, steps, |_| ())?;
            self.ctx.progress.step("concepts", round as u64 + 1, HALVED_AFTER.len() as u64);
            if steps == usize::MAX {
                break;
            }
            let densities: Vec<f64> = climbs.iter().map(Climb::value).collect();
            let kept = if climbs.len() > FEWEST_CLIMBS {
                denser_half(&densities)
            } else {
                (0..climbs.len()).collect()
            };
            let places: Vec<Concept> =
                kept.iter().map(|&i| self.options.concept(climbs[i].at(), d)).collect();
            let leaders = leaders(&places, &kept.iter().map(|&i| densities[i]).collect::<Vec<_>>());
            let mut all: Vec<Option<Climb>> = climbs.into_iter().map(Some).collect();
            // Followers of a climb that is given up are given up with it.
            let alive = |start: usize| kept.iter().any(|&i| starts[i] == start);
            joined.retain(|&(_, leader)| alive(leader));
            let (mut next_starts, mut next) = (Vec::new(), Vec::new());
            for (k, &i) in kept.iter().enumerate() {
                let Some(climb) = all[i].take() else { continue };
                if leaders[k] == k {
                    next_starts.push(starts[i]);
                    next.push(climb);
                } else {
                    let leader = starts[kept[leaders[k]]];
                    joined.iter_mut().filter(|(_, of)| *of == starts[i]).for_each(|(_, of)| *of = leader);
                    joined.push((starts[i], leader));
                }
            }
            (starts, climbs) = (next_starts, next);
        }
        let mut found: Vec<FoundConcept> =
            climbs.into_iter().zip(&starts).map(|(climb, &start)| self.found(climb, start)).collect();
        let followers: Vec<FoundConcept> = joined
            .into_iter()
            .filter_map(|(start, leader)| {
                let of = found.iter().find(|f| f.start == leader)?;
                Some(FoundConcept { start, evaluations: 0, ..of.clone() })
            })
            .collect();
        found.extend(followers);
        found.sort_by_key(|f| f.start);
        Ok(found)
    }
}

/// The denser half, at least [`FEWEST_CLIMBS`], in their order; of equals the first.
fn denser_half(densities: &[f64]) -> Vec<usize> {
    let mut order = densest_first(densities);
    order.truncate(densities.len().div_ceil(2).max(FEWEST_CLIMBS));
    order.sort_unstable();
    order
}

/// Places in a list by density; what has none is last, and of equals the first is first.
fn densest_first(densities: &[f64]) -> Vec<usize> {
    let value = |i: usize| if densities[i].is_nan() { f64::NEG_INFINITY } else { densities[i] };
    let mut order: Vec<usize> = (0..densities.len()).collect();
    order.sort_by(|&a, &b| value(b).total_cmp(&value(a)));
    order
}

/// For each of some concepts the densest one that it has joined, which may be itself.
fn leaders(concepts: &[Concept], densities: &[f64]) -> Vec<usize> {
    let mut leaders: Vec<usize> = (0..concepts.len()).collect();
    let mut first: Vec<usize> = Vec::new();
    for i in densest_first(densities) {
        match first.iter().find(|&&leader| concepts[leader].is_beside(&concepts[i])) {
            Some(&leader) => leaders[i] = leader,
            None => first.push(i),
        }
    }
    leaders
}

impl Concept {
    /// Whether two climbs are so near each other that they end in the same place.
    fn is_beside(&self, other: &Concept) -> bool {
        let (mut own, mut apart) = (0.0, 0.0);
        for (a, b) in self.weights.iter().zip(&other.weights) {
            own += a * a;
            apart += (a * a - b * b).abs();
        }
        apart <= JOINED * own && self.distance(&other.point) < JOINED && other.distance(&self.point) < JOINED
    }
}

/// EM-DD from every start: choose in every bag the instance nearest to the concept, climb the density of these alone,
/// and again until that gains nothing; the best is kept.
pub fn search_em(evidence: &Evidence, options: &SearchOptions, ctx: &Ctx) -> Result<Vec<FoundConcept>> {
    let starts = evidence.starts(options.starts, ctx.seed);
    let done = std::sync::atomic::AtomicU64::new(0);
    let total = starts.len() as u64;
    starts
        .into_par_iter()
        .map(|start| {
            let found = alternate(evidence, options, start, ctx)?;
            ctx.progress.step("concepts", 1 + done.fetch_add(1, std::sync::atomic::Ordering::Relaxed), total);
            Ok(found)
        })
        .collect()
}

fn alternate(evidence: &Evidence, options: &SearchOptions, start: usize, ctx: &Ctx) -> Result<FoundConcept> {
    let d = evidence.width();
    let mut free = options.begin(evidence.instances().row(start));
    let mut best = FoundConcept {
        concept: options.concept(&free, d),
        log_density: f64::NEG_INFINITY,
        start,
        end: End::Limit,
        evaluations: 0,
    };
    for _ in 0..ROUNDS {
        ctx.check()?;
        let chosen = nearest(evidence, &options.concept(&free, d));
        let mut climb = Climb::new(free, options.stop);
        while climb.end().is_none() {
            let (value, mut gradient, by_weight) =
                evidence.density_of(&options.concept(climb.trial(), d), &chosen);
            if options.distance == ConceptMetric::Weighted {
                gradient.extend(by_weight);
            }
            climb.tell(value, &gradient);
        }
        let end = climb.end().unwrap_or(End::Limit);
        let evaluations = best.evaluations + climb.evaluations();
        let (reached, log_density) = climb.result();
        let gain = log_density - best.log_density;
        if gain > 0.0 || best.log_density == f64::NEG_INFINITY {
            best =
                FoundConcept { concept: options.concept(&reached, d), log_density, start, end, evaluations };
        }
        best.evaluations = evaluations;
        if gain.is_nan() || gain < GAIN {
            return Ok(best);
        }
        free = reached;
    }
    best.end = End::Limit;
    Ok(best)
}

/// In every bag the instance nearest to the concept.
fn nearest(evidence: &Evidence, concept: &Concept) -> Vec<Vec<usize>> {
    let of_bag = |w: &[usize]| {
        let distances: Vec<f64> =
            (w[0]..w[1]).map(|r| concept.distance(evidence.instances().row(r))).collect();
        vec![w[0] + first_least(&distances)]
    };
    evidence.offsets().windows(2).map(of_bag).collect()
}
