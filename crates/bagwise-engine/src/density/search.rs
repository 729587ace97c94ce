//! The search for concepts: from which instances, how far, and what came of each climb.

use rayon::prelude::*;

use super::lbfgs::{Climb, End, Stop};
use super::likelihood::BagTarget;
use super::{Batch, Concept, Evidence, first_least};
use crate::kernels::TILE_COLS;
use bagwise_core::{Ctx, Result, Rng};

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
}

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

/// EM-DD gives up a start after so many choices of instances: choices alternate seldom, and then for ever.
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
        if let Starts::Some(count) = starts {
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
pub fn search(evidence: &Evidence, options: &SearchOptions, ctx: &Ctx) -> Result<Vec<FoundConcept>> {
    let starts = evidence.starts(options.starts, ctx.seed);
    if starts.is_empty() {
        return Ok(Vec::new());
    }
    let d = evidence.width();
    let batch = Batch::new(evidence, options.distance == ConceptMetric::Weighted, ctx)?;
    let total = (starts.len() * options.stop.iterations) as u64;
    let mut found = Vec::with_capacity(starts.len());
    let free = options.begin(evidence.instances().row(starts[0])).len();
    for starts in starts.chunks(together(free, ctx.memory)) {
        let begin = |&row: &usize| Climb::new(options.begin(evidence.instances().row(row)), options.stop);
        let mut climbs: Vec<Climb> = starts.iter().map(begin).collect();
        loop {
            let mut active: Vec<&mut Climb> = climbs.iter_mut().filter(|c| c.end().is_none()).collect();
            if active.is_empty() {
                break;
            }
            let concepts: Vec<Concept> = active.iter().map(|c| options.concept(c.trial(), d)).collect();
            let densities = batch.densities(&concepts, ctx)?;
            active
                .par_iter_mut()
                .zip(densities)
                .for_each(|(climb, (value, gradient))| climb.tell(value, &gradient));
            // A climb that has ended is done with all its steps.
            let steps = |c: &Climb| if c.end().is_some() { options.stop.iterations } else { c.iterations() };
            let done = found.len() * options.stop.iterations + climbs.iter().map(steps).sum::<usize>();
            ctx.progress.step("concepts", done as u64, total);
        }
        for (climb, &start) in climbs.into_iter().zip(starts) {
            let (end, evaluations) = (climb.end().unwrap_or(End::Limit), climb.evaluations());
            let (free, log_density) = climb.result();
            found.push(FoundConcept {
                concept: options.concept(&free, d),
                log_density,
                start,
                end,
                evaluations,
            });
        }
    }
    Ok(found)
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
