//! The contract every method meets, on one page.
//!
//! ```text
//! Method::prepare   bags, a grid, what may be learned from  ->  Prepared: what the whole grid shares
//! Prepared::fit     one training problem, points that share  ->  one Fit per point
//!                   their representation
//! Prepared::scores  a Fit, other bags of the prepared set    ->  decision values
//! Prepared::model   the Fits of one point                    ->  Predictor: stands alone, saves, predicts, explains
//! ```
//!
//! A training problem has targets +1 and -1, or real values: classes exist only in `multiclass.rs`. Scaling,
//! tuning, calibration, thresholds, saving and the command line come from above; kernels, solvers and threads
//! from below; a method is plain sequential code in one file, usually through an adapter in `families/`.

mod cost;

use std::any::Any;
use std::fmt;
use std::sync::Arc;

use bagwise_svm::{SolveOutcome, StopReason};

use crate::graph::Graph;
use crate::multiclass::Scheme;
use crate::params::{Grid, Kind, ParamSpec, Point, Value};
use crate::preprocess::Scale;
use bagwise_core::{Bags, Csr, Ctx, Error, Groups, Mat, Result};
use bagwise_engine::density::Concept;

pub use crate::state::{State, Tensor};
pub use cost::{MemoryEstimate, NOMINAL_SPEED};
pub(crate) use cost::{comparison_work, gram_machine_work, pair_work};

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
    pub explains: Explains,
    /// What its models have besides outputs.
    pub offers: &'static [Offer],
    /// True if `prepare` learns from labels, so that every training problem, inner folds included, needs its own.
    pub learns_labels: bool,
    /// True if a class may weigh more than its number of bags. The most frequent class is that of the bags.
    pub weighs_classes: bool,
    /// How several classes become machines, where it is not said. Methods for which a bag is positive if one of its
    /// instances is want the class against the rest: of a pair of classes either may be the one without such instances.
    pub scheme: Scheme,
    /// True if it is made of other methods: it is then tried only where it is named.
    pub over_methods: bool,
    /// The table of parameters.
    pub params: &'static [ParamSpec],
}

impl Info {
    /// What most methods are; the others say so.
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
        offers: &[],
        learns_labels: false,
        weighs_classes: true,
        scheme: Scheme::OneVsOne,
        over_methods: false,
        params: &[],
    };

    /// Whether the method has something besides outputs.
    pub fn has(&self, offer: Offer) -> bool {
        self.offers.contains(&offer)
    }
}

/// How decisions are explained instance by instance.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Explains {
    /// The parts of the instances add up to the output.
    Additive,
    /// Parts add up where these parameters have these values; elsewhere instances cannot be told apart.
    AdditiveFor(&'static [(&'static str, &'static str)]),
    /// Parts add up, except where these parameters have these values: there one instance decides.
    AdditiveOrWitness(&'static [(&'static str, &'static str)]),
    /// Instances have no part in the output, which is all bias.
    Bias,
    /// One instance decides; the text says which.
    Witness(&'static str),
    /// In one of these ways, by the parameters; the text says by which. Parts add up at the defaults and in the grid.
    Either(&'static str),
    /// Instances cannot be told apart; the text says why.
    No(&'static str),
}

impl fmt::Display for Explains {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Explains::Additive => f.write_str("additive"),
            Explains::AdditiveFor(values) => {
                write!(f, "additive for {}, otherwise none", assignments(values))
            }
            Explains::AdditiveOrWitness(values) => {
                write!(f, "additive; witness for {}", assignments(values))
            }
            Explains::Bias => f.write_str("additive: only a bias"),
            Explains::Either(how) => f.write_str(how),
            Explains::Witness(which) => write!(f, "witness: {which}"),
            Explains::No(why) => write!(f, "none: {why}"),
        }
    }
}

fn assignments(values: &[(&str, &str)]) -> String {
    values.iter().map(|(name, value)| format!("{name}={value}")).collect::<Vec<_>>().join(" ")
}

/// What the models of a method can have besides outputs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Offer {
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

impl fmt::Display for Offer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Offer::Kernel => "kernel",
            Offer::FeatureMap => "feature map",
            Offer::Graphs => "graphs",
            Offer::Concepts => "concepts",
            Offer::Votes => "voting bags",
            Offer::Rules => "rules",
            Offer::Attention => "attention",
        })
    }
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
    /// The groups of all bags of the prepared set, where they have any: who divides bags leaves groups whole.
    pub groups: Option<&'a Groups>,
    /// Targets are real values.
    pub regression: bool,
    /// Of a Gram only these rows (from, to) are wanted, right of the diagonal; all if it is not said.
    pub rows: Option<(usize, usize)>,
}

impl<'a> Scope<'a> {
    /// Training bags of which nothing else is known.
    pub fn of(train: &'a [usize]) -> Scope<'a> {
        Scope { train, y: &[], pool: None, groups: None, regression: false, rows: None }
    }
}

/// Where a method draws its reference points. `all` is not learning from training bags alone; it exists to repeat papers
/// that did so, and every result says it ([`Record::saw_test_bags`](bagwise_judge::Record::saw_test_bags)).
pub(crate) const POOL: ParamSpec = ParamSpec::new(
    bagwise_judge::POOL,
    Kind::Word(&["train", "all"]),
    "train",
    "Bags from which centres are drawn: training bags (train), or all bags including test bags, without labels \
         (all). all gives optimistic estimates; it exists to reproduce published results.",
);

/// Whether a point draws on all bags.
pub(crate) fn draws_on_all(point: &Point) -> bool {
    point.iter().any(|(name, value)| name == POOL.name && *value == Value::Word("all".into()))
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
pub struct SolvedFit {
    /// Index of the point within the prepared grid.
    pub point: usize,
    /// How the solver ended; nothing for methods without one.
    pub outcome: Option<SolveOutcome>,
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

/// One round of an alternation.
#[derive(Clone, Debug, PartialEq)]
pub struct AlternationStep {
    /// What it was trained on: a list whose meaning is the method's.
    pub choice: Vec<u32>,
    /// What was chosen afterwards.
    pub next: Vec<u32>,
    /// The signed coefficients of the rows trained on, in the order of bags and instances.
    pub coefficients: Vec<f64>,
    /// The bias.
    pub bias: f64,
    /// The dual objective, which is maximised.
    pub objective: f64,
    /// The output of every instance, without the bias.
    pub outputs: Vec<f64>,
}

/// A whole alternation.
#[derive(Clone, Debug, PartialEq)]
pub struct Trajectory {
    /// Its rounds; the machine is that of the last.
    pub steps: Vec<AlternationStep>,
    /// How it ended.
    pub rounds: Rounds,
}

/// A method whose search can be followed round by round.
pub trait Follow {
    /// Searches on all bags, which are in memory, from a given choice or its own start, to a tolerance of the solver.
    fn follow(
        &self,
        point: &Point,
        bags: &Bags,
        y: &[f64],
        start: Option<&[u32]>,
        tolerance: f64,
        ctx: &Ctx,
    ) -> Result<Trajectory>;
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

impl fmt::Display for Ended {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Ended::Converged => f.write_str("converged"),
            Ended::Cycle(length) => write!(f, "cycle of {length}"),
            Ended::Limit => f.write_str("limit"),
        }
    }
}

/// True if the solver reached its tolerance, or what double precision can tell.
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
    /// Name, reference, abilities.
    fn info(&self) -> &'static Info;

    /// [`Info::params`].
    fn params(&self) -> &'static [ParamSpec] {
        self.info().params
    }

    /// [`Info::scheme`].
    fn scheme(&self) -> Scheme {
        self.info().scheme
    }

    /// The scaling that suits some points, where none is asked for.
    fn scale(&self, _points: &[Point]) -> Scale {
        self.info().scale
    }

    /// Why a scaling would spoil some points, if it would.
    fn refuses(&self, _points: &[Point], _scale: Scale) -> Option<Error> {
        None
    }

    /// What is only approximate for these bags at some of the points, how far it is off at most, and which setting makes it
    /// exact; nothing if all is exact.
    fn approximation(&self, _bags: &Bags, _points: &[Point]) -> Option<String> {
        None
    }

    /// Whether a point has a meaning where reference points are drawn from so many instances. Of a grid those without one
    /// are left out; if none is left, `prepare` says why.
    fn admits(&self, _point: &Point, _instances: usize) -> bool {
        true
    }

    /// [`Info::learns_labels`].
    fn learns_labels(&self) -> bool {
        self.info().learns_labels
    }

    /// True if a point lets inner folds share what was learned from the labels of the whole training part. Choosing
    /// among points is faster then, and sees the labels it is judged by.
    fn reuses_labels(&self, _point: &Point) -> bool {
        false
    }

    /// Operations of one `prepare` for so many representations, roughly; a core does [`NOMINAL_SPEED`] of them in a second.
    /// From these counts follow the plan of a run and the time it is said to take.
    fn work(&self, bags: &Bags, representations: usize) -> f64;

    /// [`work`](Method::work) for a grid, where not all of its points cost the same.
    fn work_for(&self, bags: &Bags, grid: &Grid) -> f64 {
        self.work(bags, grid.groups.len())
    }

    /// Operations that train one machine at every point of a grid, on a share of the bags. By default those of a support
    /// vector machine on a Gram of the bags.
    fn machine_work(&self, bags: &Bags, grid: &Grid, share: f64) -> f64 {
        gram_machine_work(share * bags.len() as f64, grid.points.len())
    }

    /// Operations of a search on a share of the bags, besides those of `work` and `machine_work`: made once for every machine and
    /// every training part, and shared by the methods of a run whose [`search_name`](Method::search_name) is the same.
    fn search_work(&self, _bags: &Bags, _grid: &Grid, _share: f64) -> f64 {
        0.0
    }

    /// What tells the searches of a grid from those of other methods; nothing if it has none, or several.
    fn search_name(&self, _grid: &Grid) -> Option<String> {
        None
    }

    /// True if inner folds have frames of their own although `prepare` does not learn from labels.
    fn frames_by_fold(&self) -> bool {
        false
    }

    /// Operations that answer a share of the bags, `new`, by a model of another share, and tell why. By default every new
    /// instance is compared with every known one.
    fn answer_work(&self, bags: &Bags, known: f64, new: f64) -> f64 {
        comparison_work(bags, known, new)
    }

    /// Memory that `prepare` will need.
    fn needs(&self, bags: &Bags) -> MemoryEstimate;

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
    fn load(&self, point: &Point, state: &State) -> Result<Box<dyn Predictor>>;

    /// The search round by round, if the method alternates between training and choosing.
    fn alternation(&self) -> Option<&dyn Follow> {
        None
    }
}

/// What the whole grid shares, for one set of bags.
pub trait Prepared: Send + Sync {
    /// Solves one training problem at points that share their representation.
    fn fit(&self, points: &[usize], training: &Training<'_>, ctx: &Ctx) -> Result<Vec<SolvedFit>>;

    /// Decision values of bags of the prepared set.
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

    /// Bytes that a fit takes while it is made, where they grow with the data; `u64::MAX` if fits are made one at a time.
    fn fit_bytes(&self) -> u64 {
        0
    }

    /// The first point of the prepared grid that has the same machines as this one for every training problem, and the same
    /// scores for all prepared bags, as points that differ in the width of a linear kernel have. Tuning fits the first and
    /// copies its scores. New bags may tell such points apart.
    fn twin(&self, point: usize) -> usize {
        point
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

    /// The similarity of each of `train` to its nearest other: the yardstick for [`Outputs::nearest`].
    fn nearest(&self, _point: usize, _train: &[usize]) -> Option<Vec<f64>> {
        None
    }

    /// The feature map of every prepared bag at a point, if the method has one.
    fn map(&self, _point: usize) -> Result<Option<Csr>> {
        Ok(None)
    }

    /// A model that stands alone, with one output per fit; all fits are of one point, or of points that share their
    /// representation where these can be [joined](Prepared::joins_points). `train` lists the bags learned from.
    fn model(&self, fits: &[&SolvedFit], train: &[usize], ctx: &Ctx) -> Result<Box<dyn Predictor>>;
}

/// What a model says of some bags.
pub struct Outputs {
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

/// One round of the search that a model came from, in numbers.
#[derive(Clone, Debug, PartialEq)]
pub struct TracedRound {
    /// Which output of the model.
    pub output: usize,
    /// The dual objective of the round's machine, which is maximised.
    pub objective: f64,
    /// How many choices changed after it.
    pub changed: usize,
    /// How many of the rows it was trained on are support vectors.
    pub support: usize,
    /// How the search ended, for its last round.
    pub ended: Option<Ended>,
}

/// A place in instance space that a model is built on.
#[derive(Clone, Debug, PartialEq)]
pub struct WeightedConcept {
    /// The place, and what each attribute counts there; as the model sees attributes, scaled.
    pub concept: Concept,
    /// How much it is believed, in shares of 1.
    pub belief: f64,
    /// The log density it was found with.
    pub log_density: f64,
    /// True if bags of the plus side come near it (or larger values); false if it was found with the sides swapped.
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
    /// What its votes add to the output.
    pub part: f64,
}

/// A rule that a model adds up: one attribute, one cut, and what is added on either side of it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CutRule {
    /// The attribute, as the model sees columns.
    pub attribute: usize,
    /// The cut, as the model sees attributes, scaled.
    pub cut: f64,
    /// What an instance at or below the cut adds, before the mean over the bag.
    pub below: f64,
    /// What an instance above the cut adds.
    pub above: f64,
}

/// A trained model without its training data.
pub trait Predictor: Send + Sync {
    /// Number of outputs.
    fn outputs(&self) -> usize;

    /// Number of columns it compares; nothing if it looks at none.
    fn width(&self) -> Option<usize>;

    /// Scores new bags.
    fn answer(&self, bags: &Bags, ctx: &Ctx) -> Result<Outputs>;

    /// For each bag and output, why; an error that says so if the method cannot tell.
    fn explain(&self, bags: &Bags, ctx: &Ctx) -> Result<Vec<Vec<Explanation>>>;

    /// For each output the constant that its parts contain, shared among the instances of a bag by weight (equally where all
    /// weigh the same); nothing if no constant is shared.
    fn shared_intercepts(&self) -> Option<Vec<f64>> {
        None
    }

    /// The instances that stand for training bags, if the method chooses such.
    fn representatives(&self) -> &[Representative] {
        &[]
    }

    /// The search of each output, round by round, if the method alternates between training and choosing.
    fn trace(&self) -> &[TracedRound] {
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
    fn concepts(&self) -> Option<Vec<Vec<WeightedConcept>>> {
        None
    }

    /// For each bag and output the training bags that vote, if the method lets bags vote.
    fn votes(&self, _bags: &Bags, _ctx: &Ctx) -> Result<Option<Vec<Vec<Vec<VotingBag>>>>> {
        Ok(None)
    }

    /// For each output the rules it adds up, in the order in which they were found, if the method has such.
    fn rules(&self) -> Option<Vec<Vec<CutRule>>> {
        None
    }

    /// For each bag and output how much each instance is attended to, in shares of 1, if the method weighs instances so. What
    /// an instance adds is another matter ([`Predictor::explain`]).
    fn attention(&self, _bags: &Bags, _ctx: &Ctx) -> Result<Option<Vec<Vec<Vec<f64>>>>> {
        Ok(None)
    }

    /// For each output what training bags say that parts of the model had not seen: the share of them on the right side, or the
    /// mean squared error. Empty if no part has left out any.
    fn out_of_bag(&self) -> &[f64] {
        &[]
    }

    /// Everything needed to load it again; an error if what it keeps is outside memory and cannot be read.
    fn save(&self) -> Result<State>;
}
