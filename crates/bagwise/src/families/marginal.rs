//! Marginalized kernels: a set kernel that also compares what the labels of two instances would be, averaged over the
//! concepts that explain the training bags.
//!
//! ```text
//! K(X, Y) = sum over a in X, b in Y of exp(-gamma |a - b|^2) E[kc(label of a, label of b)], divided by the
//!           root of K(X, X) K(Y, Y)
//! ```
//!
//! Concepts h come from a search by diverse density (`bagwise_engine::density`), one for each instance of a positive bag, with a
//! belief P(h | D) each. The label of an instance has probability `p(x) = sum P(h | D) exp(-D_h(x))` of being positive,
//! and with the label kernel "equal or not" the expectation is `p(a) p(b) + (1 - p(a)) (1 - p(b))`: two weight vectors of
//! the pairs engine. `label-kernel=both` asks whether both are positive (footnote 1 of the paper) and leaves the first product;
//! a bag that no concept comes near then has no length, hence cosine 0 with the others. For real values it is the inner product of two vectors (`bagwise_engine::label_map`), hence as many weight
//! vectors. Nothing of the published cost in the square of the number of concepts is left: a search costs
//! evaluations x starts x instances x 4d, everything after it instances x concepts x d and the engine's one pass for all
//! widths.
//!
//! Concepts are learned from labels, so every inner fold and every class has its own; `reuse=outer` lets inner folds
//! share those of the whole training part. `hypotheses=best` takes the densest concept alone, as diverse density itself
//! does.
//!
//! Kwok, Cheung: Marginalized multi-instance kernels, IJCAI 2007. Concepts have weights for attributes (their text does
//! not say; without them all climbs on Musk end in one point), are not merged, and the normaliser of a real-valued
//! label keeps the index of its concept.

use std::sync::Arc;

use crate::families::concepts::{
    self, DISTANCE, ITERATIONS, Producer, RHO, STARTS, SearchSides, UnitRange, class_targets, dense,
    load_concepts, save_concepts,
};
use crate::families::set_kernel::{Norm, SetKernel, Weights};
use crate::families::svm;
use crate::families::width::{WIDTH, pass};
use crate::method::{Capability, Info, MemoryEstimate, Scope, State, WeightedConcept};
use crate::multiclass::Scheme;
use crate::params::{Grid, Kind, ParamSpec, Point};
use crate::preprocess::Scale;
use crate::state::refuse;
use bagwise_core::{Bags, Ctx, Mat, Message, Result};
use bagwise_engine::density::{BagTarget, Concept, Evidence, FoundConcept, SearchOptions, belief};
use bagwise_engine::label_map::{BETA, LabelKernel, LabelMap};

/// What a concept is believed by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Belief {
    /// Its density.
    Density,
    /// How well it predicts the training bags.
    Accuracy,
}

/// A marginalized kernel.
#[derive(Clone, Copy)]
pub(crate) struct Marginalized(pub(crate) Belief);

/// One parameter for classes and one for real values.
const LABEL_KERNEL: &str = "label-kernel";

/// What methods of this family have in common.
pub(crate) const USUAL: Info = Info {
    reference: "Kwok, Cheung: Marginalized multi-instance kernels, IJCAI 2007",
    family: "marginalized kernel + SVM",
    scale: Scale::ZScore,
    capabilities: &[Capability::Concepts],
    learns_labels: true,
    scheme: Scheme::OneVsRest,
    params: PARAMS,
    ..Info::USUAL
};

static PARAMS: &[ParamSpec] = &[
    ParamSpec { default: "1/d", grid: "2^-3..2^5/d", ..WIDTH },
    ParamSpec::new(
        LABEL_KERNEL,
        Kind::Word(&["equal", "both"]),
        "equal",
        "For classes: the labels of two instances are similar if they are equal, or only if both are positive \
         (both).",
    )
    .for_classes(),
    ParamSpec::new(
        LABEL_KERNEL,
        Kind::Word(&["linear", "gaussian"]),
        "gaussian",
        "For regression: similarity of two labels in [0, 1]: linear, 1 - |a - b|, or gaussian, 10^(-4 (a - b)^2).",
    )
    .for_values(),
    ParamSpec::new(
        "search",
        Kind::Word(&["dd", "em-dd"]),
        "dd",
        "How concepts are found: by maximising diverse density (dd), or by EM-DD.",
    ),
    DISTANCE,
    RHO,
    STARTS,
    ITERATIONS,
    ParamSpec::new(
        "hypotheses",
        Kind::Word(&["all", "best"]),
        "all",
        "Weighted average over all concepts found, or only the concept with the highest density (best).",
    ),
    ParamSpec::new(
        "reuse",
        Kind::Word(&["none", "outer"]),
        "none",
        "Inner folds search for their own concepts (none), or reuse those of the whole training set (outer). outer \
         is faster, but gamma, c, threshold and probabilities are then chosen on bags whose labels the concepts have \
         seen.",
    ),
    svm::COST,
    svm::TUBE,
];

/// The values of `search`.
const PRODUCERS: [(&str, Producer); 2] = [("dd", Producer::DiverseDensity), ("em-dd", Producer::EmDd)];

/// What is expected of two labels.
#[derive(Clone, Copy, Debug, PartialEq)]
enum LabelSimilarity {
    /// That they are equal.
    Equal,
    /// That both are positive.
    Both,
    /// How alike two real values are.
    Values(LabelKernel),
}

/// A point: where concepts come from, how labels are compared, and what was learned.
#[derive(Clone)]
pub(crate) struct MarginalParams {
    search: (Producer, SearchOptions),
    /// The densest concept alone.
    best_only: bool,
    labels: LabelSimilarity,
    reuse: bool,
    /// Without concepts before it is learned.
    field: Arc<LearnedWeights>,
}

impl SetKernel for Marginalized {
    type Params = MarginalParams;

    fn read(&self, point: &Point) -> Result<MarginalParams> {
        let of_values = [
            ("linear", LabelSimilarity::Values(LabelKernel::Linear)),
            ("gaussian", LabelSimilarity::Values(LabelKernel::Gaussian { beta: BETA })),
        ];
        let of_classes = [("equal", LabelSimilarity::Equal), ("both", LabelSimilarity::Both)];
        // The tube is a parameter for real values alone.
        let known = if point.has(svm::TUBE.name) { &of_values } else { &of_classes };
        let labels = point.choice(LABEL_KERNEL, known)?;
        Ok(MarginalParams {
            search: (point.choice("search", &PRODUCERS)?, concepts::options(point)?),
            best_only: point.choice("hypotheses", &[("all", false), ("best", true)])?,
            labels,
            reuse: point.choice("reuse", &[("none", false), ("outer", true)])?,
            field: Arc::new(LearnedWeights::new(Vec::new(), labels)),
        })
    }

    fn norm(&self, _: &MarginalParams) -> Norm {
        Norm::Cosine
    }

    /// Points that share what was learned share weights.
    fn weigh(&self, points: &[(MarginalParams, f64)], bags: &Bags, ctx: &Ctx) -> Result<Weights> {
        let instances = dense(bags, ctx)?;
        let mut weights = Weights { vectors: Vec::new(), terms: Vec::new() };
        for (p, (params, _)) in points.iter().enumerate() {
            let before = points[..p].iter().position(|(other, _)| Arc::ptr_eq(&other.field, &params.field));
            weights.terms.push(match before {
                Some(before) => weights.terms[before].clone(),
                None => {
                    let first = weights.vectors.len();
                    weights.vectors.extend(params.field.weights(&instances, ctx)?);
                    (first..weights.vectors.len()).collect()
                }
            });
        }
        Ok(weights)
    }

    fn reuses_labels(&self, params: &MarginalParams) -> bool {
        params.reuse
    }

    fn work(&self, bags: &Bags, representations: usize) -> f64 {
        pass(bags, 2 * representations)
    }

    fn search_work(&self, bags: &Bags, grid: &Grid, share: f64) -> f64 {
        // Points that differ in other things than the search share it.
        let Some(point) = grid.points.first() else { return 0.0 };
        let producer = point.choice("search", &PRODUCERS).unwrap_or(Producer::DiverseDensity);
        concepts::search_work(producer, point, bags, share, SearchSides::Plus)
    }

    fn search_name(&self, grid: &Grid) -> Option<String> {
        let producer = grid.points.first()?.choice("search", &PRODUCERS).ok()?;
        concepts::search_name(producer, grid)
    }

    fn needs_besides(&self, bags: &Bags) -> MemoryEstimate {
        // Instances dense, packed for distances and twice for gradients, and packed by the engine; two weight vectors. Those
        // of real values are many, and reserved where they are made.
        let values = 8 * (bags.instance_count() * bags.width()) as u64;
        MemoryEstimate { fixed: 6 * values, each: 16 * bags.instance_count() as u64 }
    }

    /// Points that differ in width or label kernel share a search.
    fn learn(&self, params: &mut [MarginalParams], bags: &Bags, scope: &Scope<'_>, ctx: &Ctx) -> Result<()> {
        let targets = if params.iter().any(|p| matches!(p.labels, LabelSimilarity::Values(_))) {
            let range = UnitRange::of(scope.y);
            scope.y.iter().map(|&y| BagTarget::Value(range.scale(y))).collect()
        } else {
            class_targets(scope.y)
        };
        let evidence = Evidence::new(bags, scope.train, targets, ctx)?;
        let mut searched: Vec<((Producer, SearchOptions), Arc<Vec<FoundConcept>>)> = Vec::new();
        for p in 0..params.len() {
            let MarginalParams { search, best_only, labels, .. } = params[p].clone();
            let what = |o: &MarginalParams| (o.search, o.best_only, o.labels);
            let known = params[..p].iter().find(|o| what(o) == (search, best_only, labels));
            params[p].field = if let Some(known) = known {
                Arc::clone(&known.field)
            } else {
                let at = match searched.iter().position(|(asked, _)| *asked == search) {
                    Some(at) => at,
                    None => {
                        searched.push((search, search.0.search(&evidence, &search.1, ctx)?));
                        searched.len() - 1
                    }
                };
                let found = &searched[at].1;
                let found = if best_only { densest(found) } else { found };
                Arc::new(LearnedWeights::new(self.believe(&evidence, found, ctx)?, labels))
            };
        }
        // Weight vectors, once more by the engine, and those of one field on their way.
        let differs = |p: usize| !params[..p].iter().any(|o| Arc::ptr_eq(&o.field, &params[p].field));
        let terms: Vec<usize> =
            (0..params.len()).filter(|&p| differs(p)).map(|p| params[p].field.terms()).collect();
        let held = 2 * terms.iter().sum::<usize>() + terms.iter().max().unwrap_or(&0);
        ctx.reserve(
            "the label vectors of instances",
            8 * (bags.instance_count() * held) as u64,
            Message::more_memory().or("use fewer bags"),
        )
    }

    fn save(&self, params: &MarginalParams, columns: usize, state: &mut State) {
        save_concepts(state, columns, &params.field.believed);
    }

    fn load(&self, params: &mut MarginalParams, columns: usize, state: &State) -> Result<()> {
        let concepts = load_concepts(state)?;
        if concepts.iter().any(|c| c.concept.point.len() != columns) {
            return Err(refuse("its concepts and training bags differ in width"));
        }
        params.field = Arc::new(LearnedWeights::new(concepts, params.labels));
        Ok(())
    }

    fn concepts(&self, params: &MarginalParams) -> Option<Vec<WeightedConcept>> {
        Some(params.field.believed.clone())
    }
}

impl Marginalized {
    /// How much each concept is believed, most first; those that together weigh less than rounding are left out.
    fn believe(
        &self,
        evidence: &Evidence,
        found: &[FoundConcept],
        ctx: &Ctx,
    ) -> Result<Vec<WeightedConcept>> {
        let concepts: Vec<Concept> = found.iter().map(|f| f.concept.clone()).collect();
        let values: Vec<f64> = evidence.targets().iter().filter_map(value_of).collect();
        let regression = !values.is_empty();
        let belief = match (self.0, regression) {
            (Belief::Density, false) => {
                belief::by_density(&found.iter().map(|f| f.log_density).collect::<Vec<_>>())
            }
            (how, _) => {
                let nearest = belief::nearest_of_bags(evidence, &concepts, ctx)?;
                match (how, regression) {
                    (Belief::Density, _) => belief::by_extended_density(&nearest, &values),
                    (Belief::Accuracy, true) => belief::by_error(&nearest, &values),
                    (Belief::Accuracy, false) => belief::by_accuracy(&nearest, evidence.targets()),
                }
            }
        };
        let negligible = 1e-17 / found.len().max(1) as f64;
        let mut believed: Vec<WeightedConcept> = concepts
            .into_iter()
            .zip(&belief)
            .zip(found)
            .filter(|((_, b), _)| **b > negligible)
            .map(|((concept, &belief), f)| WeightedConcept {
                concept,
                belief,
                log_density: f.log_density,
                of_plus: true,
            })
            .collect();
        believed.sort_by(|a, b| b.belief.total_cmp(&a.belief));
        Ok(believed)
    }
}

/// The densest of some concepts, the first of equals; nothing if there are none.
fn densest(found: &[FoundConcept]) -> &[FoundConcept] {
    let best =
        (0..found.len()).reduce(|a, b| if found[b].log_density > found[a].log_density { b } else { a });
    best.map_or(&[], |best| &found[best..=best])
}

fn value_of(target: &BagTarget) -> Option<f64> {
    match target {
        BagTarget::Value(y) => Some(*y),
        _ => None,
    }
}

/// What was learned: it gives every instance its weights.
pub(crate) struct LearnedWeights {
    believed: Vec<WeightedConcept>,
    concepts: Vec<Concept>,
    belief: Vec<f64>,
    labels: LabelSimilarity,
    /// For real values.
    map: Option<LabelMap>,
}

impl LearnedWeights {
    fn new(believed: Vec<WeightedConcept>, labels: LabelSimilarity) -> LearnedWeights {
        let concepts = believed.iter().map(|b| b.concept.clone()).collect();
        let belief = believed.iter().map(|b| b.belief).collect();
        let map = match labels {
            LabelSimilarity::Values(kernel) => Some(LabelMap::new(kernel)),
            LabelSimilarity::Equal | LabelSimilarity::Both => None,
        };
        LearnedWeights { believed, concepts, belief, labels, map }
    }

    /// How many weight vectors there are.
    fn terms(&self) -> usize {
        match &self.map {
            None if self.labels == LabelSimilarity::Both => 1,
            None => 2,
            Some(_) if self.concepts.is_empty() => 1,
            Some(map) => map.terms(),
        }
    }

    /// The weight vectors of some instances. Without a concept (no bag is positive) all are as negative as can be: two labels
    /// are always equal, and the kernel is that of the instances alone; or both positive never, and it is 0.
    fn weights(&self, instances: &Mat, ctx: &Ctx) -> Result<Vec<Vec<f64>>> {
        let vectors = match &self.map {
            None => belief::map_near(instances, &self.concepts, self.terms(), ctx, |near, out| {
                // A mixture: rounding must not leave [0, 1].
                let p: f64 = near.iter().zip(&self.belief).map(|(u, b)| u * b).sum();
                let p = p.min(1.0);
                out.copy_from_slice(&[p, 1.0 - p][..out.len()]);
            })?,
            Some(_) if self.concepts.is_empty() => Mat::new(instances.rows(), 1, vec![1.0; instances.rows()]),
            Some(map) => belief::map_near(instances, &self.concepts, self.terms(), ctx, |near, out| {
                map.vector(near, &self.belief, out)
            })?,
        };
        let column = |t: usize| (0..vectors.rows()).map(|i| vectors.get(i, t)).collect();
        Ok((0..vectors.cols()).map(column).collect())
    }
}
