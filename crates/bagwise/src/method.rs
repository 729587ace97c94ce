//! The interface of a method.
//!
//! ```text
//! Method::prepare   bags, a grid, and the training bags      ->  Prepared: what all points of the grid share
//! Prepared::fit     one training problem, and points that    ->  one SolvedFit per point
//!                   share their representation
//! Prepared::scores  a SolvedFit, other prepared bags         ->  decision values
//! Prepared::model   the SolvedFits of one point              ->  Predictor: predicts, explains and saves itself
//! ```
//!
//! A training problem has targets +1 and -1, or real values; `multiclass.rs` reduces several classes to such problems. The
//! layers above scale, tune, calibrate, choose thresholds and save. The layers below provide kernels, solvers and threads. A
//! method is sequential code in one file, usually written with an adapter from `families/`.

mod cost;
mod explains;
mod rounds;

use std::any::Any;
use std::fmt;
use std::sync::Arc;

use bagwise_svm::{SolveOutcome, StopReason};

use crate::graph::Graph;
use crate::multiclass::Scheme;
use crate::params::{Grid, Kind, ParamSpec, Point, Value};
use crate::preprocess::{Scale, Transform};
use bagwise_core::{Bags, Csr, Ctx, Error, Feature, Groups, Mat, Result};
use bagwise_engine::density::Concept;

pub use crate::state::{State, Tensor};
pub use cost::{MemoryEstimate, NOMINAL_SPEED};
pub(crate) use cost::{comparison_work, gram_machine_work, pair_work};
pub use explains::Explains;
pub use rounds::{AlternationEnd, AlternationStep, Follow, Rounds, Trajectory};

/// The properties of a method: names, texts, capabilities and parameters.
#[derive(Debug)]
pub struct Info {
    /// The name users type.
    pub name: &'static str,
    /// Other names that users may type.
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
    /// The default scaling.
    pub scale: Scale,
    /// Rank from simple to complex: among methods that do not differ clearly, the one with the lowest rank is recommended.
    pub complexity: u32,
    /// How a prediction is explained by the instances of its bag.
    pub explains: Explains,
    /// What its models provide besides outputs.
    pub capabilities: &'static [Capability],
    /// True if `prepare` learns from labels. It then runs once for every training problem, also in inner folds.
    pub learns_labels: bool,
    /// True if class weights have an effect. They have none on `majority`, which counts bags.
    pub weighs_classes: bool,
    /// The default reduction of several classes to binary problems. If a bag counts as positive as soon as one of its instances
    /// is, this should be one-versus-rest: in a pair of classes, either may be the one without such instances.
    pub scheme: Scheme,
    /// True if it combines other methods. It then runs only if the user names it.
    pub over_methods: bool,
    /// The parameters.
    pub params: &'static [ParamSpec],
}

impl Info {
    /// Defaults for the fields that most methods share.
    pub const USUAL: Info = Info {
        name: "",
        aliases: &[],
        title: "",
        about: "",
        reference: "",
        family: "",
        regression: true,
        scale: Scale::MinMax,
        complexity: 0,
        explains: Explains::Additive,
        capabilities: &[],
        learns_labels: false,
        weighs_classes: true,
        scheme: Scheme::OneVsOne,
        over_methods: false,
        params: &[],
    };

    /// Whether its models provide this.
    pub fn has(&self, capability: Capability) -> bool {
        self.capabilities.contains(&capability)
    }
}

/// What a model can provide besides outputs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Capability {
    /// A kernel, and so Gram matrices.
    Kernel,
    /// A feature map ([`Predictor::map`]).
    FeatureMap,
    /// Graphs of bags ([`Predictor::graphs`]).
    Graphs,
    /// Concepts ([`Predictor::concepts`]).
    Concepts,
    /// Training bags that vote ([`Predictor::votes`]).
    Votes,
    /// Rules ([`Predictor::rules`]).
    Rules,
    /// Attention to instances ([`Predictor::attention`]).
    Attention,
}

impl fmt::Display for Capability {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Capability::Kernel => "kernel",
            Capability::FeatureMap => "feature map",
            Capability::Graphs => "graphs",
            Capability::Concepts => "concepts",
            Capability::Votes => "voting bags",
            Capability::Rules => "rules",
            Capability::Attention => "attention",
        })
    }
}

/// The data that `prepare` may learn from: the training bags and, if the method learns from labels, their targets.
#[derive(Clone, Copy, Debug)]
pub struct Scope<'a> {
    /// Training bags.
    pub train: &'a [usize],
    /// Their targets; empty unless the method learns from labels.
    pub y: &'a [f64],
    /// All bags, including test bags, transformed like the training bags. Present only if a point has the parameter
    /// `pool=all`.
    pub pool: Option<&'a Bags>,
    /// The groups of all prepared bags, if they have any. A method that splits bags must keep groups whole.
    pub groups: Option<&'a Groups>,
    /// Targets are real values.
    pub regression: bool,
    /// Compute only these rows (from, to) of a Gram matrix, right of the diagonal; `None` means all.
    pub rows: Option<(usize, usize)>,
}

impl<'a> Scope<'a> {
    /// Training bags without targets or groups.
    pub fn of(train: &'a [usize]) -> Scope<'a> {
        Scope { train, y: &[], pool: None, groups: None, regression: false, rows: None }
    }
}

/// Where a method draws its reference points. With `all` it also sees test bags, to reproduce papers that did so. Every result
/// then says so ([`Record::saw_test_bags`](bagwise_judge::Record::saw_test_bags)).
pub(crate) const POOL: ParamSpec = ParamSpec::new(
    bagwise_judge::POOL,
    Kind::Word(&["train", "all"]),
    "train",
    "Bags from which centres are drawn: training bags (train), or all bags including test bags, without labels \
         (all). all gives optimistic estimates; it exists to reproduce published results.",
);

/// Whether a point draws reference points from all bags, including test bags.
pub(crate) fn draws_on_all(point: &Point) -> bool {
    point.iter().any(|(name, value)| name == POOL.name && *value == Value::Word("all".into()))
}

/// One training problem.
#[derive(Clone, Copy, Debug)]
pub struct Training<'a> {
    /// Indices of prepared bags.
    pub bags: &'a [usize],
    /// +1 and -1, or real values, one per bag.
    pub y: &'a [f64],
    /// The relative cost of an error on each bag.
    pub weights: &'a [f64],
    /// Targets are real values.
    pub regression: bool,
}

/// A solved training problem.
pub struct SolvedFit {
    /// Index of the point within the prepared grid.
    pub point: usize,
    /// How the solver ended; `None` for methods without one.
    pub outcome: Option<SolveOutcome>,
    /// How the alternation ended; `None` for methods that train once.
    pub rounds: Option<Rounds>,
    /// The solution, of a type that only the method's family knows ([`SolvedFit::of`]).
    pub solution: Box<dyn Any + Send + Sync>,
}

/// True if the solver reached its tolerance, or the limit of double precision.
pub fn converged(outcome: &SolveOutcome) -> bool {
    matches!(outcome.status, StopReason::Converged | StopReason::PrecisionLimit)
}

impl SolvedFit {
    /// The solution as the family's own type.
    ///
    /// # Panics
    /// If the fit was made by another family.
    pub fn of<T: 'static>(&self) -> &T {
        self.solution.downcast_ref().expect("a fit goes back to the family that made it")
    }
}

/// A way to learn from bags.
pub trait Method: Send + Sync {
    /// Its properties.
    fn info(&self) -> &'static Info;

    /// [`Info::params`].
    fn params(&self) -> &'static [ParamSpec] {
        self.info().params
    }

    /// [`Info::scheme`].
    fn scheme(&self) -> Scheme {
        self.info().scheme
    }

    /// The default scaling for these points.
    fn scale(&self, _points: &[Point]) -> Scale {
        self.info().scale
    }

    /// An error if these points do not allow this scaling.
    fn refuses(&self, _points: &[Point], _scale: Scale) -> Option<Error> {
        None
    }

    /// What is only approximate for these bags at some of the points, how far it is off at most, and which setting makes it
    /// exact; nothing if all is exact.
    fn approximation(&self, _bags: &Bags, _points: &[Point]) -> Option<String> {
        None
    }

    /// Whether a point makes sense if reference points are drawn from this number of instances. Other points of a grid are left
    /// out; if none is left, `prepare` returns an error that says why.
    fn admits(&self, _point: &Point, _instances: usize) -> bool {
        true
    }

    /// True if a model holds all instances that it was trained on, which must then fit the memory.
    fn keeps_instances(&self) -> bool {
        false
    }

    /// [`Info::learns_labels`].
    fn learns_labels(&self) -> bool {
        self.info().learns_labels
    }

    /// True if a point lets inner folds share what was learned from the labels of all training bags. Tuning is then faster, but
    /// it has seen the labels that it is scored on.
    fn reuses_labels(&self, _point: &Point) -> bool {
        false
    }

    /// Approximate number of operations of one `prepare` with this number of representations. A core does [`NOMINAL_SPEED`] of
    /// them per second. Plans and time estimates use these numbers.
    fn work(&self, bags: &Bags, representations: usize) -> f64;

    /// [`work`](Method::work) for a grid whose points differ in cost.
    fn work_for(&self, bags: &Bags, grid: &Grid) -> f64 {
        self.work(bags, grid.groups.len())
    }

    /// Number of operations that train one binary model at every point of a grid, on this fraction of the bags. The default is
    /// that of an SVM on a Gram matrix of the bags.
    fn machine_work(&self, bags: &Bags, grid: &Grid, share: f64) -> f64 {
        gram_machine_work(share * bags.len() as f64, grid.points.len())
    }

    /// Number of operations of a search on this fraction of the bags, in addition to `work` and `machine_work`. A search runs once
    /// for every binary model and training set. Methods with the same [`search_name`](Method::search_name) share it.
    fn search_work(&self, _bags: &Bags, _grid: &Grid, _share: f64) -> f64 {
        0.0
    }

    /// Identifies the search of a grid; `None` if it has no search, or several.
    fn search_name(&self, _grid: &Grid) -> Option<String> {
        None
    }

    /// True if every inner fold needs its own `prepare` although it does not learn from labels.
    fn frames_by_fold(&self) -> bool {
        false
    }

    /// Number of operations to predict and explain the fraction `new` of the bags with a model trained on the fraction `known`. By
    /// default, every new instance is compared with every known one.
    fn answer_work(&self, bags: &Bags, known: f64, new: f64) -> f64 {
        comparison_work(bags, known, new)
    }

    /// Memory that `prepare` needs, including the scaled copy of the instances that it is given.
    fn needs(&self, bags: &Bags) -> MemoryEstimate;

    /// Computes what all points and all training problems share. It may learn only from `scope`; the other bags will be
    /// scored.
    fn prepare(
        &self,
        bags: Arc<Bags>,
        points: &[Point],
        scope: &Scope<'_>,
        ctx: &Ctx,
    ) -> Result<Box<dyn Prepared>>;

    /// Loads a model from its saved state. Returns an error if the state is inconsistent: it may come from an untrusted file.
    fn load(&self, point: &Point, state: &State) -> Result<Box<dyn Predictor>>;

    /// Access to the rounds of training, if the method alternates between training and choosing instances.
    fn alternation(&self) -> Option<&dyn Follow> {
        None
    }
}

/// What all points of a grid share, for one set of bags.
pub trait Prepared: Send + Sync {
    /// Solves one training problem at these points, which share their representation.
    fn fit(&self, points: &[usize], training: &Training<'_>, ctx: &Ctx) -> Result<Vec<SolvedFit>>;

    /// Decision values of prepared bags.
    fn scores(&self, fit: &SolvedFit, bags: &[usize], ctx: &Ctx) -> Result<Vec<f64>>;

    /// The same for several fits of one point, bags x fits.
    fn scores_of_all(&self, fits: &[&SolvedFit], bags: &[usize], ctx: &Ctx) -> Result<Mat> {
        let mut all = Mat::zeros(bags.len(), fits.len());
        for (k, fit) in fits.iter().enumerate() {
            let scores = self.scores(fit, bags, ctx)?;
            scores.into_iter().enumerate().for_each(|(row, score)| all.set(row, k, score));
        }
        Ok(all)
    }

    /// Bytes that [`each_output`](Prepared::each_output) needs for so many bags; none if the method does not have it.
    fn stream_bytes(&self, _bags: usize) -> Option<u64> {
        None
    }

    /// Solves many problems, each with its number, at these points, which share their representation, and hands out the decision
    /// values of prepared bags without keeping the fits: the place of the point among `points`, the number of the problem, the place of
    /// the first bag among `bags`, and a value for each bag from there on. A point and a bag see the problems in their order; the values
    /// are those of [`fit`](Prepared::fit) and [`scores`](Prepared::scores), to the bit.
    fn each_output(
        &self,
        _points: &[usize],
        _problems: &[(usize, Training<'_>)],
        _bags: &[usize],
        _each: &mut dyn FnMut(usize, usize, usize, &[f64]),
        _ctx: &Ctx,
    ) -> Result<()> {
        unreachable!("only methods that say how many bytes it takes are asked")
    }

    /// Bytes of memory that one fit needs, if this grows with the data; `u64::MAX` if fits must run one at a time.
    fn fit_bytes(&self) -> u64 {
        0
    }

    /// The first point of the prepared grid that gives the same models and scores as this one for all prepared bags. For
    /// example, points that differ only in the width do so if the kernel is linear. Tuning fits the first and copies its scores.
    /// Scores of new bags may still differ.
    fn twin(&self, point: usize) -> usize {
        point
    }

    /// True if an output of a model does not depend, to the last bit, on the other fits in the model. Fits of several points
    /// that share their representation can then be combined in one model.
    fn joins_points(&self) -> bool {
        false
    }

    /// The Gram matrix of all prepared bags at a point, if the method has one.
    fn gram(&self, _point: usize, _ctx: &Ctx) -> Result<Option<&Mat>> {
        Ok(None)
    }

    /// Kernel values at a point, new bags x prepared bags, if the method has a kernel.
    fn against(&self, _point: usize, _bags: &Bags, _ctx: &Ctx) -> Result<Option<Mat>> {
        Ok(None)
    }

    /// The similarity of each bag of `train` to the nearest other one. [`Outputs::nearest`] is compared with these values.
    fn nearest(&self, _point: usize, _train: &[usize]) -> Option<Vec<f64>> {
        None
    }

    /// The feature map of every prepared bag at a point, if the method has one.
    fn map(&self, _point: usize) -> Result<Option<Csr>> {
        Ok(None)
    }

    /// A digest of how this map is made from bags with these features, which were transformed in this way, if the method has one.
    fn map_digest(
        &self,
        _point: usize,
        _features: &[Feature],
        _transform: &Transform,
    ) -> Result<Option<String>> {
        Ok(None)
    }

    /// A model with one output per fit. All fits belong to one point, or to points that share their representation if these can
    /// be [joined](Prepared::joins_points). `train` lists the training bags.
    fn model(&self, fits: &[&SolvedFit], train: &[usize], ctx: &Ctx) -> Result<Box<dyn Predictor>>;
}

/// The output of a model for some bags.
pub struct Outputs {
    /// Bags x outputs.
    pub scores: Mat,
    /// For each bag, the similarity (at most 1) to the nearest training bag, if the method has a similarity.
    pub nearest: Vec<Option<f64>>,
}

/// Why an output has its value.
#[derive(Clone, Debug, PartialEq)]
pub enum Explanation {
    /// The output is exactly the bias plus the contributions of the instances.
    Additive {
        /// The constant.
        bias: f64,
        /// The contribution of each instance.
        parts: Vec<f64>,
    },
    /// The output is that of one instance.
    Witness {
        /// The output of every instance.
        outputs: Vec<f64>,
        /// The instance that decides.
        chosen: usize,
    },
}

/// The instance that represents a training bag in one binary model.
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

/// One round of training, in numbers.
#[derive(Clone, Debug, PartialEq)]
pub struct TracedRound {
    /// Which output of the model.
    pub output: usize,
    /// The dual objective of the SVM of this round, which is maximised.
    pub objective: f64,
    /// How many choices changed after it.
    pub changed: usize,
    /// The number of support vectors.
    pub support: usize,
    /// How training ended; only in the last round.
    pub ended: Option<AlternationEnd>,
}

/// A concept of a model, with its weight.
#[derive(Clone, Debug, PartialEq)]
pub struct WeightedConcept {
    /// The point and the weight of each attribute, in scaled units.
    pub concept: Concept,
    /// Its weight in the model; all weights add up to 1.
    pub belief: f64,
    /// Its log density on the training bags.
    pub log_density: f64,
    /// True if positive bags (or those with larger values) are close to it; false if negative bags are.
    pub of_plus: bool,
}

/// A training bag that votes for an output of a new bag, and the pair of instances that makes it near.
#[derive(Clone, Debug, PartialEq)]
pub struct VotingBag {
    /// The training bag's name.
    pub bag: String,
    /// How often it votes.
    pub votes: u8,
    /// The instance of the new bag, counted from 0; the first of several that are equally near.
    pub instance: usize,
    /// The instance of the training bag, counted from 0.
    pub its_instance: usize,
    /// The contribution of its votes to the output.
    pub part: f64,
}

/// A rule of a model: an attribute, a threshold, and the value on either side of it. The model adds up its rules.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CutRule {
    /// The attribute, counted among the columns of the model.
    pub attribute: usize,
    /// The threshold, in scaled units.
    pub cut: f64,
    /// The value of an instance at or below the threshold, before the mean over the bag.
    pub below: f64,
    /// The value of an instance above the threshold.
    pub above: f64,
}

/// A trained model without its training data.
pub trait Predictor: Send + Sync {
    /// Number of outputs.
    fn outputs(&self) -> usize;

    /// Number of columns it needs; `None` if it uses no columns.
    fn width(&self) -> Option<usize>;

    /// Scores new bags.
    fn predict(&self, bags: &Bags, ctx: &Ctx) -> Result<Outputs>;

    /// An explanation for each bag and output; an error if the method cannot explain.
    fn explain(&self, bags: &Bags, ctx: &Ctx) -> Result<Vec<Vec<Explanation>>>;

    /// For each output, the constant that is divided among the contributions of the instances, in proportion to their weights;
    /// `None` if there is no such constant.
    fn shared_intercepts(&self) -> Option<Vec<f64>> {
        None
    }

    /// The instances that represent the training bags, if the method chooses any.
    fn representatives(&self) -> &[Representative] {
        &[]
    }

    /// The rounds of training for each output, if the method alternates between training and choosing instances.
    fn trace(&self) -> &[TracedRound] {
        &[]
    }

    /// The graph of each bag, if the method builds graphs.
    fn graphs(&self, _bags: &Bags, _ctx: &Ctx) -> Result<Option<Vec<Graph>>> {
        Ok(None)
    }

    /// The feature map of new bags, if the method has one.
    fn map(&self, _bags: &Bags, _ctx: &Ctx) -> Result<Option<Csr>> {
        Ok(None)
    }

    /// For each output its concepts, the largest weight first, if the method learns concepts.
    fn concepts(&self) -> Option<Vec<Vec<WeightedConcept>>> {
        None
    }

    /// For each bag and output the training bags that vote, if the method is a vote.
    fn votes(&self, _bags: &Bags, _ctx: &Ctx) -> Result<Option<Vec<Vec<Vec<VotingBag>>>>> {
        Ok(None)
    }

    /// For each output its rules, in the order in which they were found, if the method learns rules.
    fn rules(&self) -> Option<Vec<Vec<CutRule>>> {
        None
    }

    /// For each bag and output the attention weights of the instances, which add up to 1, if the method has attention. These are
    /// not the contributions of the instances ([`Predictor::explain`]).
    fn attention(&self, _bags: &Bags, _ctx: &Ctx) -> Result<Option<Vec<Vec<Vec<f64>>>>> {
        Ok(None)
    }

    /// For each output the out-of-bag estimate: the fraction of bags predicted correctly, or the mean squared error. Empty if no
    /// member of the model left out any training bag.
    fn out_of_bag(&self) -> &[f64] {
        &[]
    }

    /// Everything needed to load it again; an error if part of the model is in a file that cannot be read.
    fn save(&self) -> Result<State>;
}
