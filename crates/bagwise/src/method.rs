//! The contract every method meets, on one page.
//!
//! ```text
//! Method::prepare   bags, a grid, what may be learned from  ->  Prepared: what the whole grid shares
//! Prepared::fit     one training problem, points that share  ->  one Fit per point
//!                   their representation
//! Prepared::scores  a Fit, other bags of the prepared set    ->  decision values
//! Prepared::model   the Fits of one point                    ->  Model: stands alone, saves, predicts, explains
//! ```
//!
//! A training problem has targets +1 and -1, or real values: classes exist only in `multiclass.rs`. Scaling,
//! tuning, calibration, thresholds, saving and the command line come from above; kernels, solvers and threads
//! from below; a method is plain sequential code in one file, usually through an adapter in `families/`.

use std::any::Any;
use std::collections::BTreeMap;
use std::sync::Arc;

use bagwise_svm::{Outcome, Status};

use crate::graph::Graph;
use crate::multiclass::Scheme;
use crate::params::{Kind, Level, ParamSpec, Point};
use crate::preprocess::Scale;
use bagwise_core::{Bags, Csr, Ctx, Error, Mat, Place, Result};
use bagwise_engine::density::Concept;

/// What is known of a method before it runs.
#[derive(Debug)]
pub struct Info {
    /// The name users type.
    pub name: &'static str,
    /// Other names it answers to.
    pub aliases: &'static [&'static str],
    /// One line for lists.
    pub title: &'static str,
    /// A paragraph: the idea and the formula.
    pub about: &'static str,
    /// Where it was published.
    pub reference: &'static str,
    /// The kind of method.
    pub family: &'static str,
    /// True if it can also predict real values.
    pub regression: bool,
    /// Scaling that suits it.
    pub scale: Scale,
    /// Rank from simple to elaborate: among methods that cannot be told apart the lowest is preferred.
    pub complexity: u32,
    /// How decisions are explained instance by instance.
    pub explains: &'static str,
}

/// What learning may see: the bags of one training part and, if labels are learned from, their targets.
#[derive(Clone, Copy, Debug)]
pub struct Scope<'a> {
    /// Training bags.
    pub train: &'a [usize],
    /// Their targets; empty unless the method learns from labels.
    pub y: &'a [f64],
    /// All bags there are, those to be judged included, transformed like the training bags; only if a point asks for
    /// them by the parameter `pool`.
    pub pool: Option<&'a Bags>,
}

/// Where a method draws its reference points. `all` is not learning from training bags alone; it exists to repeat papers
/// that did so, and every result says it ([`Record::saw_test_bags`](bagwise_judge::Record::saw_test_bags)).
pub(crate) const POOL: ParamSpec = ParamSpec {
    name: bagwise_judge::POOL,
    help: "Where centres are drawn: from training bags, or from all bags, those to be judged included (without labels), \
           which is no honest estimate and exists to repeat published results.",
    kind: Kind::Word(&["train", "all"]),
    default: "train",
    grid: "train",
    level: Level::Representation,
    regression_only: false,
};

/// Whether a point draws on all bags.
pub(crate) fn draws_on_all(point: &Point) -> bool {
    point.has(POOL.name) && point.word(POOL.name) == "all"
}

/// One training problem.
#[derive(Clone, Copy, Debug)]
pub struct Training<'a> {
    /// Bags of the prepared set.
    pub bags: &'a [usize],
    /// +1 and -1, or real values, one per bag.
    pub y: &'a [f64],
    /// What an error on each bag costs, relative to the others.
    pub weights: &'a [f64],
    /// Real values rather than classes.
    pub regression: bool,
}

/// A solved training problem. What the family keeps of it is its own affair.
pub struct Fit {
    /// Index of the point within the prepared grid.
    pub point: usize,
    /// How the solver ended; nothing for methods without one.
    pub outcome: Option<Outcome>,
    /// How the alternation went; nothing for methods that train once.
    pub rounds: Option<Rounds>,
    /// The solution, known to the family that made it.
    pub solution: Box<dyn Any + Send + Sync>,
}

/// How an alternation between training and choosing went.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rounds {
    /// How it ended.
    pub ended: Ended,
    /// How many choices changed after each round.
    pub changed: Vec<usize>,
}

/// How an alternation ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ended {
    /// Nothing changed any more.
    Converged,
    /// The choices were those of so many rounds ago.
    Cycle(usize),
    /// At the limit of rounds.
    Limit,
}

/// True if the solver reached its tolerance, or what double precision can tell.
pub fn converged(outcome: &Outcome) -> bool {
    matches!(outcome.status, Status::Converged | Status::PrecisionLimit)
}

impl Fit {
    /// The solution as the family's own type.
    ///
    /// # Panics
    /// If the fit was made by another family.
    pub fn of<T: 'static>(&self) -> &T {
        self.solution.downcast_ref().expect("a fit goes back to the family that made it")
    }
}

/// Bytes that `prepare` occupies.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Needs {
    /// Whatever is prepared.
    pub fixed: u64,
    /// For each group of points that share their representation.
    pub each: u64,
}

impl Needs {
    /// How many groups fit a budget together; at least one, which may then be refused.
    pub fn together(&self, budget: u64) -> usize {
        (budget.saturating_sub(self.fixed) / self.each.max(1)).max(1) as usize
    }
}

/// A way to learn from bags.
pub trait Method: Send + Sync {
    /// Name, reference, abilities.
    fn info(&self) -> &'static Info;

    /// The table of parameters.
    fn params(&self) -> &'static [ParamSpec];

    /// How several classes become machines, where it is not said. Methods for which a bag is positive if one of its
    /// instances is want the class against the rest: of a pair of classes either may be the one without such instances.
    fn scheme(&self) -> Scheme {
        Scheme::default()
    }

    /// The scaling that suits some points, where none is asked for.
    fn scale(&self, _points: &[Point]) -> Scale {
        self.info().scale
    }

    /// Why a scaling would spoil some points, if it would.
    fn refuses(&self, _points: &[Point], _scale: Scale) -> Option<Error> {
        None
    }

    /// Whether a point has a meaning where reference points are drawn from so many instances. Of a grid those without one
    /// are left out; if none is left, `prepare` says why.
    fn admits(&self, _point: &Point, _instances: usize) -> bool {
        true
    }

    /// True if `prepare` learns from labels, so that every training problem, inner folds included, needs its own.
    fn learns_labels(&self) -> bool {
        false
    }

    /// True if a point lets inner folds share what was learned from the labels of the whole training part. Choosing
    /// among points is faster then, and sees the labels it is judged by.
    fn reuses_labels(&self, _point: &Point) -> bool {
        false
    }

    /// Multiply-adds of one `prepare` for so many representations, roughly: enough to tell seconds from hours.
    fn work(&self, bags: &Bags, representations: usize) -> f64;

    /// Memory that `prepare` will need.
    fn needs(&self, bags: &Bags) -> Needs;

    /// One pass over all bags that serves every point and every training problem. Only `scope` may be learned
    /// from; the other bags are there to be scored.
    fn prepare(
        &self,
        bags: Arc<Bags>,
        points: &[Point],
        scope: &Scope<'_>,
        ctx: &Ctx,
    ) -> Result<Box<dyn Prepared>>;

    /// A model from its saved state. Must refuse, not trust, what does not fit.
    fn load(&self, point: &Point, state: &State) -> Result<Box<dyn Model>>;
}

/// What the whole grid shares, for one set of bags.
pub trait Prepared: Send + Sync {
    /// Solves one training problem at points that share their representation.
    fn fit(&self, points: &[usize], training: &Training<'_>, ctx: &Ctx) -> Result<Vec<Fit>>;

    /// Decision values of bags of the prepared set.
    fn scores(&self, fit: &Fit, bags: &[usize], ctx: &Ctx) -> Result<Vec<f64>>;

    /// True if a fit takes memory by the size of the data, so that fits are made one after another and not side by side.
    fn fits_are_heavy(&self) -> bool {
        false
    }

    /// True if an output of a model is the same, to the last bit, whichever other fits the model is made from: fits of
    /// several points that share their representation can then be asked in one.
    fn joins_points(&self) -> bool {
        false
    }

    /// The Gram matrix at a point, all bags, if the method has one.
    fn gram(&self, _point: usize, _ctx: &Ctx) -> Result<Option<&Mat>> {
        Ok(None)
    }

    /// Kernel values at a point, new bags x prepared bags, if the method has a kernel.
    fn against(&self, _point: usize, _bags: &Bags, _ctx: &Ctx) -> Result<Option<Mat>> {
        Ok(None)
    }

    /// The similarity of each of `train` to its nearest other: the yardstick for [`Answer::nearest`].
    fn nearest(&self, _point: usize, _train: &[usize]) -> Option<Vec<f64>> {
        None
    }

    /// The feature map of every prepared bag at a point, if the method has one.
    fn map(&self, _point: usize) -> Result<Option<Csr>> {
        Ok(None)
    }

    /// A model that stands alone, with one output per fit; all fits are of one point, or of points that share their
    /// representation where these can be [joined](Prepared::joins_points). `train` lists the bags learned from.
    fn model(&self, fits: &[&Fit], train: &[usize], ctx: &Ctx) -> Result<Box<dyn Model>>;
}

/// What a model says of some bags.
pub struct Answer {
    /// Bags x outputs.
    pub scores: Mat,
    /// For each bag, the similarity (at most 1) to the nearest training bag, where there is such a thing.
    pub nearest: Vec<Option<f64>>,
}

/// Why an output has its value.
#[derive(Clone, Debug, PartialEq)]
pub enum Explanation {
    /// The output is exactly the bias plus the parts, one per instance.
    Additive {
        /// The part that belongs to no instance.
        bias: f64,
        /// The part of each instance.
        parts: Vec<f64>,
    },
    /// The output is that of one instance, the chosen.
    Witness {
        /// The output of every instance.
        outputs: Vec<f64>,
        /// The instance that decides.
        chosen: usize,
    },
}

/// The instance that stands for a training bag in one machine.
#[derive(Clone, Debug, PartialEq)]
pub struct Representative {
    /// The bag's name.
    pub bag: String,
    /// Its instance, counted from 0.
    pub instance: usize,
    /// Which output of the model.
    pub output: usize,
    /// The output of the instance.
    pub value: f64,
}

/// A place in instance space that a model is built on.
#[derive(Clone, Debug, PartialEq)]
pub struct Believed {
    /// The place, and what each attribute counts there; as the model sees attributes, scaled.
    pub concept: Concept,
    /// How much it is believed, in shares of 1.
    pub belief: f64,
    /// The log density it was found with.
    pub log_density: f64,
    /// True if bags of the plus side come near it (or larger values); false if it was found with the sides swapped.
    pub of_plus: bool,
}

/// A trained model without its training data.
pub trait Model: Send + Sync {
    /// Number of outputs.
    fn outputs(&self) -> usize;

    /// Number of columns it compares; nothing if it looks at none.
    fn width(&self) -> Option<usize>;

    /// Scores new bags.
    fn answer(&self, bags: &Bags, ctx: &Ctx) -> Result<Answer>;

    /// For each bag and output, why; an error that says so if the method cannot tell.
    fn explain(&self, bags: &Bags, ctx: &Ctx) -> Result<Vec<Vec<Explanation>>>;

    /// The instances that stand for training bags, if the method chooses such.
    fn representatives(&self) -> &[Representative] {
        &[]
    }

    /// The graph of each bag, if the method draws such.
    fn graphs(&self, _bags: &Bags, _ctx: &Ctx) -> Result<Option<Vec<Graph>>> {
        Ok(None)
    }

    /// The feature map of new bags, if the method has one.
    fn map(&self, _bags: &Bags, _ctx: &Ctx) -> Result<Option<Csr>> {
        Ok(None)
    }

    /// For each output the concepts it is made of, most believed first, if the method has such.
    fn concepts(&self) -> Option<Vec<Vec<Believed>>> {
        None
    }

    /// Everything needed to load it again; an error if what it keeps is outside memory and cannot be read.
    fn save(&self) -> Result<State>;
}

/// A saved model: plain numbers by name.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct State {
    /// Arrays by name.
    pub tensors: BTreeMap<String, Tensor>,
}

/// An array of a saved model.
#[derive(Clone, Debug, PartialEq)]
pub enum Tensor {
    /// Double precision, with its shape.
    F64(Vec<usize>, Vec<f64>),
    /// Single precision.
    F32(Vec<usize>, Vec<f32>),
    /// Whole numbers.
    U64(Vec<usize>, Vec<u64>),
}

impl Tensor {
    /// The shape.
    pub fn shape(&self) -> &[usize] {
        match self {
            Tensor::F64(shape, _) | Tensor::F32(shape, _) | Tensor::U64(shape, _) => shape,
        }
    }
}

impl State {
    /// Adds a matrix.
    pub fn put_mat(&mut self, name: &str, mat: &Mat) {
        let tensor = Tensor::F64(vec![mat.rows(), mat.cols()], mat.data().to_vec());
        self.tensors.insert(name.into(), tensor);
    }

    /// Adds a vector.
    pub fn put(&mut self, name: &str, values: &[f64]) {
        self.tensors.insert(name.into(), Tensor::F64(vec![values.len()], values.to_vec()));
    }

    /// Adds a list of whole numbers.
    pub fn put_counts(&mut self, name: &str, values: impl IntoIterator<Item = usize>) {
        let values: Vec<u64> = values.into_iter().map(|v| v as u64).collect();
        self.tensors.insert(name.into(), Tensor::U64(vec![values.len()], values));
    }

    /// An error if a width is claimed that is more than there can be: columns cost memory before anything is compared.
    pub(crate) fn check_widths(&self, most: usize) -> Result<()> {
        for (name, tensor) in &self.tensors {
            if let Tensor::U64(_, values) = tensor
                && name.rsplit('.').next() == Some("width")
                && let Some(width) = values.iter().find(|&&width| width > most as u64)
            {
                return Err(refuse(format!("'{name}' is {width}, and its scaling gives {most} columns")));
            }
        }
        Ok(())
    }

    fn tensor(&self, name: &str) -> Result<&Tensor> {
        self.tensors.get(name).ok_or_else(|| refuse(format!("the array '{name}' is missing")))
    }

    /// A matrix of finite numbers.
    pub fn mat(&self, name: &str) -> Result<Mat> {
        match self.tensor(name)? {
            Tensor::F64(shape, data) if shape.len() == 2 && data.iter().all(|v| v.is_finite()) => {
                Ok(Mat::new(shape[0], shape[1], data.clone()))
            }
            other => Err(refuse(format!(
                "the array '{name}' of shape {:?} is not a matrix of finite numbers",
                other.shape()
            ))),
        }
    }

    /// A vector of finite numbers of a known length.
    pub fn vector(&self, name: &str, length: usize) -> Result<Vec<f64>> {
        match self.tensor(name)? {
            Tensor::F64(shape, data) if *shape == [length] && data.iter().all(|v| v.is_finite()) => {
                Ok(data.clone())
            }
            other => Err(refuse(format!(
                "the array '{name}' of shape {:?} is not a vector of {length} finite numbers",
                other.shape()
            ))),
        }
    }

    /// A list of whole numbers.
    pub fn counts(&self, name: &str) -> Result<Vec<usize>> {
        match self.tensor(name)? {
            Tensor::U64(shape, data) if shape.len() == 1 => data
                .iter()
                .map(|&v| {
                    usize::try_from(v).map_err(|_| refuse(format!("the array '{name}' holds {v}, too large")))
                })
                .collect(),
            other => Err(refuse(format!(
                "the array '{name}' of shape {:?} is not a list of whole numbers",
                other.shape()
            ))),
        }
    }

    /// Moves another state in under a prefix.
    pub fn nest(&mut self, prefix: &str, other: State) {
        self.tensors
            .extend(other.tensors.into_iter().map(|(name, tensor)| (format!("{prefix}.{name}"), tensor)));
    }

    /// The state that was moved in under a prefix.
    pub fn nested(&self, prefix: &str) -> State {
        let dotted = format!("{prefix}.");
        let inside = |(name, tensor): (&String, &Tensor)| {
            Some((name.strip_prefix(&dotted)?.to_string(), tensor.clone()))
        };
        State { tensors: self.tensors.iter().filter_map(inside).collect() }
    }
}

/// A model that does not fit together.
pub(crate) fn refuse(problem: impl Into<String>) -> Error {
    Error::Model { place: Place::of("model file"), problem: problem.into() }
}
