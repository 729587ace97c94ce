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
//! and with the kernel "equal or not" the expectation is `p(a) p(b) + (1 - p(a)) (1 - p(b))`: two weight vectors of the
//! pairs engine. For real values it is the inner product of two vectors (`bagwise_engine::label_map`), hence as many weight
//! vectors. Nothing of the published cost in the square of the number of concepts is left: a search costs
//! evaluations x starts x instances x 4d, everything after it instances x concepts x d and the engine's one pass for all
//! widths.
//!
//! Concepts are learned from labels, so every inner fold and every class has its own; `reuse=outer` lets inner folds
//! share those of the whole training part.
//!
//! Kwok, Cheung: Marginalized multi-instance kernels, IJCAI 2007. Concepts have weights for attributes (their text does
//! not say; without them all climbs on Musk end in one point), are not merged, and the normaliser of a real-valued
//! label keeps the index of its concept.

use std::sync::{Arc, OnceLock};

use crate::families::concepts::{
    self, DISTANCE, EVALUATIONS, ITERATIONS, Producer, RHO, STARTS, UnitRange, class_targets, dense,
    load_concepts, save_concepts,
};
use crate::families::kernel_svm::{BagKernel, Bank, Comparison, Grams, Parts};
use crate::families::set_kernel::{WIDTH, load_bags, normalise, parts_of, pass, resolve, save_bags};
use crate::families::svm;
use crate::method::{Believed, Info, Needs, Scope, State, refuse};
use crate::multiclass::Scheme;
use crate::params::{Kind, Level, ParamSpec, Point};
use bagwise_core::{Bags, Ctx, Mat, Message, Result};
use bagwise_engine::density::{Concept, Evidence, Found, Options, Target, belief};
use bagwise_engine::label_map::{BETA, LabelKernel, LabelMap};
use bagwise_engine::{Output, Side};

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
pub(crate) struct Marginalized {
    pub(crate) info: &'static Info,
    pub(crate) belief: Belief,
}

/// Marks a point as one for real values, too: the parameter has no value elsewhere.
const LABEL_KERNEL: &str = "label-kernel";

pub(crate) static PARAMS: &[ParamSpec] = &[
    ParamSpec { default: "1/d", grid: "2^-3..2^5/d", ..WIDTH },
    ParamSpec {
        name: LABEL_KERNEL,
        help: "Similarity of two labels of [0, 1]: linear, 1 - |a - b|, or gaussian, 10^(-4 (a - b)^2).",
        kind: Kind::Word(&["linear", "gaussian"]),
        default: "gaussian",
        grid: "gaussian",
        level: Level::Representation,
        regression_only: true,
    },
    ParamSpec {
        name: "search",
        help: "Where concepts come from: climbs of the diverse density, or EM-DD.",
        kind: Kind::Word(&["dd", "em-dd"]),
        default: "dd",
        grid: "dd",
        level: Level::Representation,
        regression_only: false,
    },
    DISTANCE,
    RHO,
    STARTS,
    ITERATIONS,
    ParamSpec {
        name: "reuse",
        help: "Inner folds search for concepts of their own (none), or share those of the whole training part (outer): \
               faster, but gamma, c, threshold and probabilities then rest on bags whose labels the concepts have seen.",
        kind: Kind::Word(&["none", "outer"]),
        default: "none",
        grid: "none",
        level: Level::Representation,
        regression_only: false,
    },
    svm::COST,
    svm::TUBE,
];

impl BagKernel for Marginalized {
    fn info(&self) -> &'static Info {
        self.info
    }

    fn params(&self) -> &'static [ParamSpec] {
        PARAMS
    }

    fn learns_labels(&self) -> bool {
        true
    }

    fn reuses_labels(&self, point: &Point) -> bool {
        point.word("reuse") == "outer"
    }

    fn scheme(&self) -> Scheme {
        Scheme::OneVsRest
    }

    fn work(&self, bags: &Bags, representations: usize) -> f64 {
        // Half of the bags are positive.
        let n = bags.instance_count() as f64;
        pass(bags, 2 * representations) + EVALUATIONS * (n / 2.0) * n * 4.0 * bags.width() as f64
    }

    fn needs_besides(&self, bags: &Bags) -> Needs {
        // Instances dense, packed for distances and twice for gradients, and packed by the engine; two weight vectors. Those
        // of real values are many, and reserved where they are made.
        let values = 8 * (bags.instance_count() * bags.width()) as u64;
        Needs { fixed: 6 * values, each: 16 * bags.instance_count() as u64 }
    }

    fn grams(
        &self,
        bags: Arc<Bags>,
        points: &[&Point],
        scope: &Scope<'_>,
        ctx: &Ctx,
    ) -> Result<Box<dyn Grams>> {
        let gammas = resolve(points, &bags, scope, ctx)?;
        let (fields, field) = self.fields(&bags, points, scope, ctx)?;
        let instances = dense(&bags, ctx)?;
        // Kept for all fields, once more by the engine, and of one field on its way.
        let vectors = fields.iter().map(|f| f.terms()).sum::<usize>();
        let on_its_way = fields.iter().map(|f| f.terms()).max().unwrap_or(0);
        ctx.reserve(
            "the label vectors of instances",
            8 * (bags.instance_count() * (2 * vectors + on_its_way)) as u64,
            Message::more_memory().or("use fewer bags"),
        )?;
        // The weight vectors of all fields, one after the other.
        let (mut weights, mut terms) = (Vec::new(), Vec::new());
        for field in &fields {
            let own = field.weights(&instances, ctx)?;
            terms.push((weights.len()..weights.len() + own.len()).collect::<Vec<usize>>());
            weights.extend(own);
        }
        let outputs: Vec<Output> =
            gammas.iter().zip(&field).map(|(&gamma, &f)| Output { gamma, terms: terms[f].clone() }).collect();
        let side = Side { instances: bags.instances(), offsets: bags.offsets(), weights: &weights };
        let sums = bagwise_engine::symmetric(&side, &outputs, ctx.precision, ctx)?;
        let representations = sums
            .into_iter()
            .enumerate()
            .map(|(r, mut gram)| {
                let factors = roots((0..gram.rows()).map(|b| gram.get(b, b)));
                normalise(&mut gram, &factors, &factors);
                let terms = terms[field[r]].clone();
                Representation {
                    gamma: gammas[r],
                    field: Arc::clone(&fields[field[r]]),
                    terms,
                    gram,
                    factors,
                }
            })
            .collect();
        Ok(Box::new(MarginalGrams { bags, weights, representations }))
    }

    fn load(&self, point: &Point, state: &State) -> Result<Box<dyn Bank>> {
        let bags = load_bags(state)?;
        let factors = state.vector("factors", bags.len())?;
        let own = state.vector("own", bags.len())?;
        let gamma = state.vector("gamma", 1)?[0];
        if gamma <= 0.0 || factors.iter().any(|&f| f <= 0.0) {
            return Err(refuse("a width or norm is not above 0"));
        }
        let concepts = load_concepts(state)?;
        if concepts.iter().any(|c| c.concept.point.len() != bags.width()) {
            return Err(refuse("its concepts and training bags differ in width"));
        }
        let field = Arc::new(Field::new(concepts, label_kernel(point)));
        Ok(Box::new(MarginalBank { gamma, field, bags, weights: OnceLock::new(), factors, own }))
    }
}

/// The label kernel of a point for real values; none for classes.
fn label_kernel(point: &Point) -> Option<LabelKernel> {
    point.has(LABEL_KERNEL).then(|| match point.word(LABEL_KERNEL) {
        "linear" => LabelKernel::Linear,
        _ => LabelKernel::Gaussian { beta: BETA },
    })
}

impl Marginalized {
    /// What was learned, and which of it each point uses: points that differ in width or label kernel share a search.
    fn fields(
        &self,
        bags: &Bags,
        points: &[&Point],
        scope: &Scope<'_>,
        ctx: &Ctx,
    ) -> Result<(Vec<Arc<Field>>, Vec<usize>)> {
        let regression = points.iter().any(|p| label_kernel(p).is_some());
        let targets = if regression {
            let range = UnitRange::of(scope.y);
            scope.y.iter().map(|&y| Target::Value(range.scale(y))).collect()
        } else {
            class_targets(scope.y)
        };
        let evidence = Evidence::new(bags, scope.train, targets, ctx)?;
        let mut searches: Vec<((Producer, Options), Vec<Found>)> = Vec::new();
        let mut fields: Vec<Arc<Field>> = Vec::new();
        let mut made: Vec<(usize, Option<LabelKernel>)> = Vec::new();
        let mut which = Vec::with_capacity(points.len());
        for point in points {
            let producer =
                if point.word("search") == "em-dd" { Producer::EmDd } else { Producer::DiverseDensity };
            let asked = (producer, concepts::options(point));
            let search = match searches.iter().position(|(done, _)| *done == asked) {
                Some(search) => search,
                None => {
                    searches.push((asked, producer.search(&evidence, &asked.1, ctx)?));
                    searches.len() - 1
                }
            };
            let wanted = (search, label_kernel(point));
            which.push(match made.iter().position(|f| *f == wanted) {
                Some(field) => field,
                None => {
                    let found = &searches[search].1;
                    let believed = self.believe(&evidence, found, ctx)?;
                    fields.push(Arc::new(Field::new(believed, wanted.1)));
                    made.push(wanted);
                    made.len() - 1
                }
            });
        }
        Ok((fields, which))
    }

    /// How much each concept is believed, most first; those that together weigh less than rounding are left out.
    fn believe(&self, evidence: &Evidence, found: &[Found], ctx: &Ctx) -> Result<Vec<Believed>> {
        let concepts: Vec<Concept> = found.iter().map(|f| f.concept.clone()).collect();
        let values: Vec<f64> = evidence.targets().iter().filter_map(value_of).collect();
        let regression = !values.is_empty();
        let belief = match (self.belief, regression) {
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
        let mut believed: Vec<Believed> = concepts
            .into_iter()
            .zip(&belief)
            .zip(found)
            .filter(|((_, b), _)| **b > negligible)
            .map(|((concept, &belief), f)| Believed {
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

fn value_of(target: &Target) -> Option<f64> {
    match target {
        Target::Value(y) => Some(*y),
        _ => None,
    }
}

/// What was learned: it gives every instance its weights.
struct Field {
    believed: Vec<Believed>,
    concepts: Vec<Concept>,
    belief: Vec<f64>,
    /// For real values.
    labels: Option<LabelMap>,
}

impl Field {
    fn new(believed: Vec<Believed>, kernel: Option<LabelKernel>) -> Field {
        let concepts = believed.iter().map(|b| b.concept.clone()).collect();
        let belief = believed.iter().map(|b| b.belief).collect();
        Field { believed, concepts, belief, labels: kernel.map(LabelMap::new) }
    }

    /// How many weight vectors there are.
    fn terms(&self) -> usize {
        match &self.labels {
            None => 2,
            Some(_) if self.concepts.is_empty() => 1,
            Some(map) => map.terms(),
        }
    }

    /// The weight vectors of some instances. Without a concept (no bag is positive) all are as negative as can be, and
    /// the kernel is that of the instances alone.
    fn weights(&self, instances: &Mat, ctx: &Ctx) -> Result<Vec<Vec<f64>>> {
        let vectors = match &self.labels {
            None => belief::map_near(instances, &self.concepts, self.terms(), ctx, |near, out| {
                // A mixture: rounding must not leave [0, 1].
                let p: f64 = near.iter().zip(&self.belief).map(|(u, b)| u * b).sum();
                let p = p.min(1.0);
                out.copy_from_slice(&[p, 1.0 - p]);
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

/// The roots of self-similarities, by which rows and columns are divided.
fn roots(own: impl Iterator<Item = f64>) -> Vec<f64> {
    own.map(f64::sqrt).collect()
}

struct Representation {
    gamma: f64,
    field: Arc<Field>,
    /// Which weight vectors are its own.
    terms: Vec<usize>,
    gram: Mat,
    factors: Vec<f64>,
}

struct MarginalGrams {
    bags: Arc<Bags>,
    weights: Vec<Vec<f64>>,
    representations: Vec<Representation>,
}

impl Grams for MarginalGrams {
    fn gram(&self, representation: usize) -> &Mat {
        &self.representations[representation].gram
    }

    fn bank(&self, representation: usize, train: &[usize], _: &Ctx) -> Result<Box<dyn Bank>> {
        let Representation { gamma, field, terms, gram, factors } = &self.representations[representation];
        let gather = |&term: &usize| {
            train.iter().flat_map(|&b| self.weights[term][self.bags.rows(b)].iter().copied()).collect()
        };
        let weights: Vec<Vec<f64>> = terms.iter().map(gather).collect();
        Ok(Box::new(MarginalBank {
            gamma: *gamma,
            field: Arc::clone(field),
            bags: self.bags.select(train),
            weights: OnceLock::from(weights),
            factors: train.iter().map(|&b| factors[b]).collect(),
            own: train.iter().map(|&b| gram.get(b, b)).collect(),
        }))
    }
}

/// Training bags with what their labels were learned to be.
struct MarginalBank {
    gamma: f64,
    field: Arc<Field>,
    bags: Bags,
    /// Made when they are first asked for, where the model comes from a file.
    weights: OnceLock<Vec<Vec<f64>>>,
    factors: Vec<f64>,
    /// The normalised kernel of each bag with itself.
    own: Vec<f64>,
}

impl MarginalBank {
    fn output(&self) -> [Output; 1] {
        [Output { gamma: self.gamma, terms: (0..self.field.terms()).collect() }]
    }

    fn side(&self, ctx: &Ctx) -> Result<Side<'_>> {
        let weights = match self.weights.get() {
            Some(weights) => weights,
            None => {
                let weights = self.field.weights(&dense(&self.bags, ctx)?, ctx)?;
                self.weights.get_or_init(|| weights)
            }
        };
        Ok(Side { instances: self.bags.instances(), offsets: self.bags.offsets(), weights })
    }

    /// Weights and norms of new bags.
    fn look_at(&self, bags: &Bags, ctx: &Ctx) -> Result<(Vec<Vec<f64>>, Vec<f64>)> {
        let weights = self.field.weights(&dense(bags, ctx)?, ctx)?;
        let side = Side { instances: bags.instances(), offsets: bags.offsets(), weights: &weights };
        let own = bagwise_engine::self_similarity(&side, &self.output(), ctx)?.remove(0);
        Ok((weights, roots(own.into_iter())))
    }
}

impl Bank for MarginalBank {
    fn len(&self) -> usize {
        self.bags.len()
    }

    fn width(&self) -> usize {
        self.bags.width()
    }

    fn compare(&self, bags: &Bags, ctx: &Ctx) -> Result<Comparison> {
        let (weights, factors) = self.look_at(bags, ctx)?;
        let side = Side { instances: bags.instances(), offsets: bags.offsets(), weights: &weights };
        let mut kernel =
            bagwise_engine::rectangular(&side, &self.side(ctx)?, &self.output(), ctx.precision, ctx)?
                .remove(0);
        normalise(&mut kernel, &factors, &self.factors);
        Ok(Comparison { kernel, own: vec![1.0; bags.len()], kept: self.own.clone() })
    }

    fn parts(&self, bags: &Bags, ctx: &Ctx) -> Result<Parts> {
        let (weights, factors) = self.look_at(bags, ctx)?;
        // Every instance as a bag of its own, divided as the bag it belongs to is.
        let single = bagwise_engine::rows::singles(bags.instance_count()).0;
        let side = Side { instances: bags.instances(), offsets: &single, weights: &weights };
        let sums = bagwise_engine::rectangular(&side, &self.side(ctx)?, &self.output(), ctx.precision, ctx)?
            .remove(0);
        // The weight of an instance is the length of its vector.
        let length =
            |i: usize| weights.iter().map(|w| w[i] * w[i]).sum::<f64>().sqrt().max(f64::MIN_POSITIVE);
        let lengths: Vec<f64> = (0..bags.instance_count()).map(length).collect();
        Ok(parts_of(sums, bags, &lengths, &factors, &self.factors))
    }

    fn concepts(&self) -> Option<Vec<Believed>> {
        Some(self.field.believed.clone())
    }

    fn save(&self) -> Result<State> {
        let mut state = State::default();
        save_bags(&mut state, &self.bags)?;
        save_concepts(&mut state, self.bags.width(), &self.field.believed);
        state.put("factors", &self.factors);
        state.put("own", &self.own);
        state.put("gamma", &[self.gamma]);
        Ok(state)
    }
}
