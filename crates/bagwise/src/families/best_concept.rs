//! Prediction by a single concept: the densest of those that a search found (`bagwise_engine::density`).
//!
//! With `u = max over instances of exp(-D(x))` a bag is positive from a threshold on, and a real value is `u` itself (the
//! concept is then the one with the least squared error). Values outside [0, 1] are scaled by their training range,
//! and the prediction back. The instance that comes nearest decides, and is what an explanation names.
//!
//! The assumption behind it is one-sided: a bag is positive because it comes near. Where two classes are a pair of
//! several, either may be the one that has the place, so `concept=either` also searches with the labels swapped and keeps
//! the side that tells the training bags apart better.

use std::sync::Arc;

use bagwise_svm::{SolveOutcome, StopReason};

use crate::families::concepts::{
    DISTANCE, ITERATIONS, Producer, RHO, STARTS, SearchSides, UnitRange, class_targets, dense, load_concepts,
    options, save_concepts, search_name, search_work,
};
use crate::method::{
    Capability, Explains, Explanation, Info, MemoryEstimate, Method, Outputs, Predictor, Prepared, Scope,
    SolvedFit, State, Training, WeightedConcept,
};
use crate::params::{Grid, Kind, ParamSpec, Point};
use crate::preprocess::Scale;
use crate::state::refuse;
use bagwise_core::{Bags, Ctx, Error, Mat, Result};
use bagwise_engine::density::{BagTarget, End, Evidence, FoundConcept, SearchOptions, belief};

/// A single concept as a full method.
pub(crate) struct BestConcept {
    pub(crate) info: &'static Info,
    pub(crate) producer: Producer,
}

/// What methods of this family have in common.
pub(crate) const USUAL: Info = Info {
    family: "diverse density",
    scale: Scale::ZScore,
    explains: Explains::Witness("the instance nearest to the concept"),
    capabilities: &[Capability::Concepts],
    ..Info::USUAL
};

/// The parameters of a method that climbs from this many starts by default.
pub(crate) const fn table(starts: &'static str) -> [ParamSpec; 6] {
    [DISTANCE, RHO, ParamSpec { default: starts, grid: starts, ..STARTS }, ITERATIONS, CONCEPT, THRESHOLD]
}

const CONCEPT: ParamSpec = ParamSpec::new(
    "concept",
    Kind::Word(&["positive", "either"]),
    "either",
    "For classes: bags close to the concept are positive (positive), or belong to whichever class fits the training \
     bags better (either).",
)
.solver();

const THRESHOLD: ParamSpec = ParamSpec::new(
    "threshold",
    Kind::WordOrNumber(&["train"]),
    "train",
    "For classes: the smallest closeness exp(-D) at which a bag has the concept; train chooses the most accurate \
    value on the training bags.",
)
.solver();

impl Method for BestConcept {
    fn info(&self) -> &'static Info {
        self.info
    }

    /// Nothing is prepared.
    fn work(&self, _: &Bags, _: usize) -> f64 {
        0.0
    }

    /// Nothing but searches.
    fn machine_work(&self, _: &Bags, _: &Grid, _: f64) -> f64 {
        0.0
    }

    fn search_work(&self, bags: &Bags, grid: &Grid, share: f64) -> f64 {
        let one = |group: &Vec<usize>| {
            search_work(self.producer, &grid.points[group[0]], bags, share, SearchSides::Both)
        };
        grid.groups.iter().map(one).sum()
    }

    fn search_name(&self, grid: &Grid) -> Option<String> {
        search_name(self.producer, grid)
    }

    /// A search on an inner fold is then that of the methods that learn concepts before training, and they share it.
    fn frames_by_fold(&self) -> bool {
        self.producer == Producer::DiverseDensity
    }

    /// Every new instance is compared with one concept.
    fn answer_work(&self, _: &Bags, _: f64, _: f64) -> f64 {
        0.0
    }

    fn needs(&self, bags: &Bags) -> MemoryEstimate {
        // Instances dense, packed for distances and twice for gradients.
        MemoryEstimate { fixed: 5 * 8 * (bags.instance_count() * bags.width()) as u64, each: 0 }
    }

    fn prepare(
        &self,
        bags: Arc<Bags>,
        points: &[Point],
        _: &Scope<'_>,
        _: &Ctx,
    ) -> Result<Box<dyn Prepared>> {
        let points = points.iter().map(|p| self.read(p)).collect::<Result<_>>()?;
        Ok(Box::new(PreparedConcepts { producer: self.producer, bags, points }))
    }

    fn load(&self, _: &Point, state: &State) -> Result<Box<dyn Predictor>> {
        let mut rules: Vec<ConceptRule> = Vec::new();
        loop {
            let own = state.nested(&format!("rule{}", rules.len()));
            if own.tensors.is_empty() {
                break;
            }
            rules.push(ConceptRule::load(&own)?);
        }
        let width = state.count("width")?;
        let fits = |rule: &ConceptRule| rule.believed.iter().all(|b| b.concept.point.len() == width);
        if rules.is_empty() || !rules.iter().all(fits) {
            return Err(refuse("its concepts differ in width, or there is none"));
        }
        Ok(Box::new(Rules { rules, width }))
    }
}

/// What a point asks for.
#[derive(Clone, Copy)]
struct ConceptParams {
    search: SearchOptions,
    /// Search with the labels swapped, too.
    either: bool,
    /// Nothing if it is chosen in training.
    threshold: Option<f64>,
}

impl BestConcept {
    fn read(&self, point: &Point) -> Result<ConceptParams> {
        let threshold = point.number_or_word("threshold")?;
        if let Some(t) = threshold.filter(|t| *t <= 0.0 || *t >= 1.0) {
            let problem = format!("{t} is not allowed; closeness lies between 0 and 1");
            return Err(Error::param(self.info.name, "threshold", problem));
        }
        let either = point.choice("concept", &[("positive", false), ("either", true)])?;
        Ok(ConceptParams { search: options(point)?, either, threshold })
    }
}

struct PreparedConcepts {
    producer: Producer,
    bags: Arc<Bags>,
    points: Vec<ConceptParams>,
}

/// One output: what is near the concept.
#[derive(Clone)]
struct ConceptRule {
    /// The concept, or nothing where no bag was positive: then nothing is near.
    believed: Option<WeightedConcept>,
    output: OutputShape,
}

/// From nearness to output.
#[derive(Clone, Copy, Debug, PartialEq)]
enum OutputShape {
    /// `sign (u - threshold)`.
    Classes { sign: f64, threshold: f64 },
    /// `u` in units of the training range.
    Values(UnitRange),
}

impl OutputShape {
    fn of(self, near: f64) -> f64 {
        match self {
            OutputShape::Classes { sign, threshold } => sign * (near - threshold),
            OutputShape::Values(range) => range.restore(near),
        }
    }
}

impl ConceptRule {
    /// The nearness of every instance.
    fn near(&self, instances: &Mat, ctx: &Ctx) -> Result<Vec<f64>> {
        match &self.believed {
            Some(b) => Ok(belief::near(instances, std::slice::from_ref(&b.concept), ctx)?.into_data()),
            None => Ok(vec![0.0; instances.rows()]),
        }
    }

    /// For each bag its instance that comes nearest, and how near.
    fn nearest(near: &[f64], bags: &Bags) -> Vec<(usize, f64)> {
        let of_bag = |b: usize| {
            let mut best = 0;
            let own = &near[bags.rows(b)];
            for (i, u) in own.iter().enumerate() {
                if *u > own[best] {
                    best = i;
                }
            }
            (best, own[best])
        };
        (0..bags.len()).map(of_bag).collect()
    }

    fn save(&self, width: usize) -> State {
        let mut state = State::default();
        save_concepts(&mut state, width, self.believed.as_slice());
        match self.output {
            OutputShape::Classes { sign, threshold } => state.put("classes", &[sign, threshold]),
            OutputShape::Values(range) => state.put("values", &[range.low, range.span]),
        }
        state
    }

    fn load(state: &State) -> Result<ConceptRule> {
        let mut believed = load_concepts(state)?;
        if believed.len() > 1 {
            return Err(refuse("more than one concept for an output"));
        }
        let output = if state.tensors.contains_key("values") {
            let range = state.vector("values", 2)?;
            OutputShape::Values(UnitRange { low: range[0], span: range[1] })
        } else {
            let classes = state.vector("classes", 2)?;
            if classes[0].abs() != 1.0 {
                return Err(refuse("a sign is not 1 or -1"));
            }
            OutputShape::Classes { sign: classes[0], threshold: classes[1] }
        };
        Ok(ConceptRule { believed: believed.pop(), output })
    }
}

/// The densest concept of one side, or the one of least error, and how near the training bags come to it.
struct ConceptSearch {
    found: Option<FoundConcept>,
    near: Vec<f64>,
    /// Values and gradients that all climbs took together.
    evaluations: usize,
}

/// A rule and the search it came from.
struct ConceptFit<'s> {
    rule: ConceptRule,
    search: &'s ConceptSearch,
    /// Weight of the training bags it gets right.
    right: f64,
}

/// The searches of one training problem: points that differ in threshold or sides share them.
#[derive(Default)]
struct Searches(Vec<((SearchOptions, PositiveSide), ConceptSearch)>);

/// What is taken for positive.
#[derive(Clone, Copy, Debug, PartialEq)]
enum PositiveSide {
    Plus,
    Minus,
    Values(UnitRange),
}

impl PositiveSide {
    fn sign(self) -> f64 {
        if self == PositiveSide::Minus { -1.0 } else { 1.0 }
    }
}

impl PreparedConcepts {
    /// Searches for each of some sides, where that has not been done.
    fn search(
        &self,
        done: &mut Searches,
        point: &ConceptParams,
        sides: &[PositiveSide],
        training: &Training<'_>,
        ctx: &Ctx,
    ) -> Result<()> {
        for &side in sides {
            let asked = (point.search, side);
            if !done.0.iter().any(|(key, _)| *key == asked) {
                let search = self.seek(&asked.0, side, training, ctx)?;
                done.0.push((asked, search));
            }
        }
        Ok(())
    }

    fn seek(
        &self,
        options: &SearchOptions,
        side: PositiveSide,
        training: &Training<'_>,
        ctx: &Ctx,
    ) -> Result<ConceptSearch> {
        let y: Vec<f64> = match side {
            PositiveSide::Values(range) => training.y.iter().map(|&y| range.scale(y)).collect(),
            _ => training.y.iter().map(|y| side.sign() * y).collect(),
        };
        let targets = match side {
            PositiveSide::Values(_) => y.iter().map(|&y| BagTarget::Value(y)).collect(),
            _ => class_targets(&y),
        };
        let evidence = Evidence::new(&self.bags, training.bags, targets, ctx)?.with_weights(training.weights);
        let found = self.producer.search(&evidence, options, ctx)?;
        let best = match side {
            PositiveSide::Values(_) => {
                let concepts: Vec<_> = found.iter().map(|f| f.concept.clone()).collect();
                let near = belief::nearest_of_bags(&evidence, &concepts, ctx)?;
                let of_bag = |b: usize, c: usize| training.weights[b] * (y[b] - near.get(b, c)).powi(2);
                let errors: Vec<f64> =
                    (0..found.len()).map(|c| (0..y.len()).map(|b| of_bag(b, c)).sum()).collect();
                first_most(&found, |i| -errors[i])
            }
            _ => first_most(&found, |i| found[i].log_density),
        };
        let near = match best {
            None => vec![0.0; y.len()],
            Some(f) => belief::nearest_of_bags(&evidence, std::slice::from_ref(&f.concept), ctx)?.into_data(),
        };
        let evaluations = found.iter().map(|f| f.evaluations).sum();
        Ok(ConceptSearch { found: best.cloned(), near, evaluations })
    }

    /// The rule of a point whose searches are done.
    fn rule<'s>(
        &self,
        done: &'s Searches,
        point: &ConceptParams,
        sides: &[PositiveSide],
        training: &Training<'_>,
    ) -> Result<ConceptFit<'s>> {
        let mut best: Option<ConceptFit<'s>> = None;
        let mine = done.0.iter().filter(|((asked, side), _)| *asked == point.search && sides.contains(side));
        for ((_, side), search) in mine {
            let (output, right) = match *side {
                PositiveSide::Values(range) => (OutputShape::Values(range), 0.0),
                _ => {
                    let sign = side.sign();
                    let y: Vec<f64> = training.y.iter().map(|y| sign * y).collect();
                    let (threshold, right) = match point.threshold {
                        Some(given) => (given, correct(&search.near, &y, training.weights, given)),
                        None => best_threshold(&search.near, &y, training.weights),
                    };
                    // Nearness of exactly the threshold counts as near, and an output of 0 does not.
                    (OutputShape::Classes { sign, threshold: threshold.next_down() }, right)
                }
            };
            if best.as_ref().is_none_or(|b| right > b.right) {
                let rule = ConceptRule {
                    believed: search.found.as_ref().map(|found| believed(found, *side)),
                    output,
                };
                best = Some(ConceptFit { rule, search, right });
            }
        }
        Ok(best.expect("at least one side was searched"))
    }
}

fn believed(found: &FoundConcept, side: PositiveSide) -> WeightedConcept {
    let FoundConcept { concept, log_density, .. } = found.clone();
    WeightedConcept { concept, belief: 1.0, log_density, of_plus: side != PositiveSide::Minus }
}

/// The first of the largest.
fn first_most(found: &[FoundConcept], of: impl Fn(usize) -> f64) -> Option<&FoundConcept> {
    let mut best: Option<usize> = None;
    for i in (0..found.len()).filter(|&i| !of(i).is_nan()) {
        if best.is_none_or(|b| of(i) > of(b)) {
            best = Some(i);
        }
    }
    best.map(|i| &found[i])
}

/// Weight of the bags that a threshold puts on their side.
fn correct(near: &[f64], y: &[f64], weights: &[f64], threshold: f64) -> f64 {
    let right = |((u, y), w): ((&f64, &f64), &f64)| if (*u >= threshold) == (*y > 0.0) { *w } else { 0.0 };
    near.iter().zip(y).zip(weights).map(right).sum()
}

/// The threshold, half way between two training bags, that gets most of them right, and how much; of equally good ones
/// the nearest to 1/2.
fn best_threshold(near: &[f64], y: &[f64], weights: &[f64]) -> (f64, f64) {
    let mut values: Vec<f64> = near.iter().copied().chain([0.0, 1.0]).collect();
    values.sort_by(f64::total_cmp);
    values.dedup();
    let mut best = (0.5, correct(near, y, weights, 0.5));
    for pair in values.windows(2) {
        let middle = 0.5 * (pair[0] + pair[1]);
        let right = correct(near, y, weights, middle);
        let closer = (middle - 0.5).abs() < (best.0 - 0.5f64).abs();
        if right > best.1 || right == best.1 && closer {
            best = (middle, right);
        }
    }
    best
}

impl Prepared for PreparedConcepts {
    fn fit(&self, points: &[usize], training: &Training<'_>, ctx: &Ctx) -> Result<Vec<SolvedFit>> {
        let mut done = Searches::default();
        let one = |&at: &usize| {
            let point = &self.points[at];
            let values = [PositiveSide::Values(UnitRange::of(training.y))];
            let sides: &[PositiveSide] = match point.either {
                _ if training.regression => &values,
                true => &[PositiveSide::Plus, PositiveSide::Minus],
                false => &[PositiveSide::Plus],
            };
            self.search(&mut done, point, sides, training, ctx)?;
            let ConceptFit { rule, search, .. } = self.rule(&done, point, sides, training)?;
            let outcome = search.found.as_ref().map(|f| SolveOutcome {
                status: if f.end == End::Limit { StopReason::IterationLimit } else { StopReason::Converged },
                iterations: search.evaluations,
                objective: -f.log_density,
                kkt_gap: 0.0,
                duality_gap: 0.0,
            });
            Ok(SolvedFit { point: at, outcome, rounds: None, solution: Box::new(rule) })
        };
        points.iter().map(one).collect()
    }

    fn fit_bytes(&self) -> u64 {
        // Every search packs the instances again, uses all threads, and fills its share of the memory by itself.
        u64::MAX
    }

    fn joins_points(&self) -> bool {
        true
    }

    fn scores(&self, fit: &SolvedFit, bags: &[usize], ctx: &Ctx) -> Result<Vec<f64>> {
        let rule: &ConceptRule = fit.of();
        let own = self.bags.select(bags);
        let near = rule.near(&dense(&own, ctx)?, ctx)?;
        Ok(ConceptRule::nearest(&near, &own).into_iter().map(|(_, u)| rule.output.of(u)).collect())
    }

    fn model(&self, fits: &[&SolvedFit], _: &[usize], _: &Ctx) -> Result<Box<dyn Predictor>> {
        let rules = fits.iter().map(|fit| fit.of::<ConceptRule>().clone()).collect();
        Ok(Box::new(Rules { rules, width: self.bags.width() }))
    }
}

/// One rule per output.
struct Rules {
    rules: Vec<ConceptRule>,
    width: usize,
}

impl Predictor for Rules {
    fn outputs(&self) -> usize {
        self.rules.len()
    }

    fn width(&self) -> Option<usize> {
        Some(self.width)
    }

    fn predict(&self, bags: &Bags, ctx: &Ctx) -> Result<Outputs> {
        let instances = dense(bags, ctx)?;
        let mut scores = Mat::zeros(bags.len(), self.rules.len());
        for (k, rule) in self.rules.iter().enumerate() {
            let near = rule.near(&instances, ctx)?;
            for (b, (_, u)) in ConceptRule::nearest(&near, bags).into_iter().enumerate() {
                scores.set(b, k, rule.output.of(u));
            }
        }
        Ok(Outputs { scores, nearest: vec![None; bags.len()] })
    }

    fn explain(&self, bags: &Bags, ctx: &Ctx) -> Result<Vec<Vec<Explanation>>> {
        let instances = dense(bags, ctx)?;
        let mut all: Vec<Vec<Explanation>> = vec![Vec::new(); bags.len()];
        for rule in &self.rules {
            let near = rule.near(&instances, ctx)?;
            for (b, (chosen, _)) in ConceptRule::nearest(&near, bags).into_iter().enumerate() {
                let outputs = near[bags.rows(b)].iter().map(|&u| rule.output.of(u)).collect();
                all[b].push(Explanation::Witness { outputs, chosen });
            }
        }
        Ok(all)
    }

    fn concepts(&self) -> Option<Vec<Vec<WeightedConcept>>> {
        Some(self.rules.iter().map(|rule| rule.believed.iter().cloned().collect()).collect())
    }

    fn save(&self) -> Result<State> {
        let mut state = State::default();
        state.put_counts("width", [self.width]);
        for (k, rule) in self.rules.iter().enumerate() {
            state.nest(&format!("rule{k}"), rule.save(self.width));
        }
        Ok(state)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_threshold_is_the_most_accurate_and_near_a_half() {
        let (near, y) = ([0.9, 0.7, 0.2, 0.1], [1.0, 1.0, -1.0, -1.0]);
        // 0.5 itself is as good as the middle, 0.45, and nearer to a half.
        assert_eq!(best_threshold(&near, &y, &[1.0; 4]), (0.5, 4.0));
        // Only the nearest bag is positive.
        let (threshold, right) = best_threshold(&near, &[1.0, -1.0, -1.0, -1.0], &[1.0; 4]);
        assert!((threshold - 0.8).abs() < 1e-15 && right == 4.0);
        // The bag with the large weight decides.
        let (threshold, right) = best_threshold(&near, &[1.0, 1.0, 1.0, -1.0], &[1.0, 1.0, 5.0, 1.0]);
        assert!(threshold > 0.1 && threshold < 0.2 && right == 8.0);
    }
}
