//! Training with any method: preparation, tuning, fitting and scoring.
//!
//! A [`TrainingTask`] holds data and a [`ResolvedConfig`] (method, grid, scaling, multi-class scheme, class weights). From a list
//! of training bags it makes a [`PreparedFold`] (those bags alone, transformed and with their Grams prepared), tunes
//! the grid by inner folds ([`TrainingTask::tune`]) and fits machines. Evaluation and `fit` use the same code, so an estimate
//! holds for the model that `fit` returns.

mod answers;
mod ensemble;
mod grow;
mod memory;
mod portfolio;
mod train;
mod tune;
mod votes;

pub use answers::Answers;
pub(crate) use answers::decisive;
pub use train::{LEVEL, TrainOptions, TrainedRule, best, learn, train};

use std::sync::Arc;

use rayon::prelude::*;

use crate::calibrate::Calibration;
use crate::families::map_svm::CellMap;
use crate::method::{Method, Predictor, Prepared, Scope, SolvedFit, Training, draws_on_all};
use crate::multiclass::{BinaryTask, ClassBags, MANY_MACHINES, Scheme, class_scores, tasks, vote};
use crate::params::{Grid, Point};
use crate::preprocess::{Scale, Transform};
use bagwise_core::{Bags, Ctx, Dataset, Error, Groups, Mat, Message, Result, Setting, Target};
use bagwise_io::MapRows;
use bagwise_judge::{Classified, Predictions};

/// The training problem of one of many machines.
struct OwnedTraining {
    machine: usize,
    bags: Vec<usize>,
    y: Vec<f64>,
    weights: Vec<f64>,
    regression: bool,
}

impl OwnedTraining {
    /// The problem, to be solved.
    fn training(&self) -> Training<'_> {
        Training { bags: &self.bags, y: &self.y, weights: &self.weights, regression: self.regression }
    }
}

/// A method with its grid, scaling and related settings.
#[derive(Clone)]
pub struct ResolvedConfig {
    /// The method.
    pub method: &'static dyn Method,
    /// The points to choose from; a single one is not tuned.
    pub grid: Grid,
    /// How columns are scaled.
    pub scale: Scale,
    /// How several classes become machines.
    pub scheme: Scheme,
    /// Give every class the same total cost.
    pub balanced: bool,
    /// Fill missing values by medians of training bags.
    pub impute: bool,
}

impl ResolvedConfig {
    /// A method with points to choose from, its own scaling, and the usual for the rest.
    pub fn new(method: &'static dyn Method, grid: Grid) -> ResolvedConfig {
        let scale = method.scale(&grid.points);
        ResolvedConfig { method, grid, scale, scheme: method.scheme(), balanced: false, impute: false }
    }
}

/// What is only approximate for these data, each sentence once.
pub(crate) fn approximations(setups: &[ResolvedConfig], data: &Dataset) -> Vec<String> {
    let mut said: Vec<String> = Vec::new();
    for setup in setups {
        let new = setup.method.approximation(&data.bags, &setup.grid.points);
        said.extend(new.filter(|text| !said.contains(text)));
    }
    said
}

/// Data and a setup that fit each other.
pub struct TrainingTask<'a> {
    /// The data.
    pub data: &'a Dataset,
    /// The setup.
    pub setup: &'a ResolvedConfig,
    /// What is to be predicted.
    pub target: &'a Target,
    /// The machines; one for real values.
    pub tasks: Vec<BinaryTask>,
    bags: &'a Bags,
    weights: Vec<f64>,
    /// The maps of the bags, where they were made elsewhere.
    maps: Option<(CellMap, Arc<MapRows>)>,
}

/// The bags of one training part, transformed as they themselves say, with what a list of points shares. Bags that
/// are not in it cannot have had any influence on it, down to the last bit.
pub struct PreparedFold {
    /// The transform learned from the bags.
    pub transform: Transform,
    /// The points that were prepared.
    pub points: Vec<Point>,
    /// Where a bag of the data set stands in this frame.
    position: Vec<Option<usize>>,
    /// One for all machines, or one for each where labels are learned from.
    prepared: Vec<Box<dyn Prepared>>,
}

impl PreparedFold {
    /// What was prepared for a machine.
    pub fn prepared(&self, machine: usize) -> &dyn Prepared {
        &*self.prepared[machine.min(self.prepared.len() - 1)]
    }

    /// Bytes that a fit takes of its own.
    fn fit_bytes(&self) -> u64 {
        self.prepared.iter().map(|p| p.fit_bytes()).max().unwrap_or(0)
    }

    /// For each of some groups of points, the first of them whose machines it shares.
    fn originals(&self, groups: &[Vec<usize>]) -> Vec<usize> {
        let twin = |&point: &usize| {
            let first = self.prepared[0].twin(point);
            if self.prepared.iter().all(|p| p.twin(point) == first) { first } else { point }
        };
        let original = |g: usize| {
            let twins: Vec<usize> = groups[g].iter().map(twin).collect();
            groups[..g].iter().position(|earlier| *earlier == twins).unwrap_or(g)
        };
        (0..groups.len()).map(original).collect()
    }

    /// True if all machines share what was prepared.
    pub fn is_shared(&self) -> bool {
        self.prepared.len() == 1
    }

    /// Whether bags of the data set are in this frame.
    fn holds(&self, bags: &[usize]) -> bool {
        bags.iter().all(|&b| self.position[b].is_some())
    }

    /// Where bags of the data set stand in this frame.
    ///
    /// # Panics
    /// If one is not in it.
    pub fn positions(&self, bags: &[usize]) -> Vec<usize> {
        bags.iter().map(|&b| self.position[b].expect("the frame holds the bag")).collect()
    }
}

/// Problems that are made at a time: they take some megabytes, and what is copied of the kernel for each time is little beside
/// solving so many.
const PROBLEMS: usize = 8192;

/// The fits of one point, one per machine; none where training saw neither class of the pair.
pub struct Machines(pub Vec<Option<SolvedFit>>);

/// What inner folds chose.
pub struct Tuned {
    /// Index of the best point of the grid.
    pub best: usize,
    /// The chosen point: the best of the grid, or a better one beyond its end.
    pub point: Point,
    /// The metric of the chosen point.
    pub value: Option<f64>,
    /// The metric of each point, over all inner test bags together.
    pub values: Vec<Option<f64>>,
    /// Outputs of the chosen point for the training bags, each from the inner fold that tested it.
    pub out_of_fold: Mat,
    /// Parameters of the chosen point at the end of their list.
    pub on_edge: Vec<String>,
    /// For each inner fold, the out-of-fold outputs of the point that the other folds choose; empty if not requested.
    pub(crate) without: Vec<Arc<Mat>>,
    /// The frame on the whole training part, if it still holds the chosen point.
    frame: Option<PreparedFold>,
}

impl Tuned {
    /// Lets go of the frame, which may be large.
    pub fn release(&mut self) {
        self.frame = None;
    }
}

/// Which bags a frame is learned from while points are compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FoldScope {
    /// The whole training part; its inner folds share the frame unless labels are learned from.
    PerPart,
    /// Each fold's own training bags: nothing crosses a fold, as when the folds themselves are what is reported.
    PerFold,
}

impl<'a> TrainingTask<'a> {
    /// Checks that data and setup fit. `positive` names the +1 class of a two-class problem; the last by default.
    pub fn new(
        data: &'a Dataset,
        setup: &'a ResolvedConfig,
        positive: Option<&str>,
    ) -> Result<TrainingTask<'a>> {
        let target = data.require_target()?;
        let info = setup.method.info();
        match (positive, target) {
            (Some(class), Target::Values(_)) => {
                return Err(Error::Invalid(format!(
                    "the label of {} is a number, so '{class}' cannot be the positive class",
                    data.name
                )));
            }
            (Some(_), Target::Classes { names, .. }) if names.len() > 2 => {
                return Err(Error::Invalid(format!(
                    "{} has {} classes; a positive class needs two",
                    data.name,
                    names.len()
                )));
            }
            _ => {}
        }
        let tasks = match target {
            Target::Values(_) if !info.regression => {
                return Err(Error::Invalid(format!(
                    "{} predicts classes, but the label of {} is a number",
                    info.name, data.name
                )));
            }
            Target::Values(_) => vec![BinaryTask { plus: 0, minus: None }],
            Target::Classes { names, .. } => {
                let positive = match positive {
                    None => names.len().min(2).saturating_sub(1),
                    Some(class) => names
                        .iter()
                        .position(|n| n == class)
                        .ok_or_else(|| Error::unknown("class", class, names.iter().map(String::as_str)))?,
                };
                if names.len() < 2 {
                    return Err(Error::Invalid(format!(
                        "all bags of {} have the label '{}'; learning needs at least two classes",
                        data.name, names[0]
                    )));
                }
                tasks(names.len(), setup.scheme, positive as u32)
            }
        };
        if data.bags.has_missing() && !setup.impute {
            return Err(Error::refused(
                format!("{} has missing values", data.name),
                Message::from("fill them in, or fill in medians").with([Setting::FillMissing]),
            ));
        }
        if let Some(why) = setup.method.refuses(&setup.grid.points, setup.scale) {
            return Err(why);
        }
        let weights = vec![1.0; data.bags.len()];
        Ok(TrainingTask { data, setup, target, tasks, bags: &data.bags, weights, maps: None })
    }

    /// Learns from maps that were made elsewhere, a row for each bag, instead of instances.
    pub(crate) fn with_maps(mut self, map: CellMap, rows: Arc<MapRows>) -> TrainingTask<'a> {
        self.maps = Some((map, rows));
        self
    }

    /// Multiplies what an error on each bag costs.
    pub fn with_bag_weights(mut self, weights: Vec<f64>) -> Result<TrainingTask<'a>> {
        if weights.len() != self.bags.len() || weights.iter().any(|w| !w.is_finite() || *w <= 0.0) {
            return Err(Error::Invalid("there must be one weight above 0 for each bag".into()));
        }
        self.weights = weights;
        Ok(self)
    }

    /// What an error on each of some training bags costs, and for each machine what that adds to the log odds of its plus side:
    /// costs count as that many more bags would.
    fn costs(&self, train: &[usize]) -> (Vec<f64>, Vec<f64>) {
        let mut weights: Vec<f64> = train.iter().map(|&b| self.weights[b]).collect();
        let Target::Classes { codes, names } = self.target else {
            return (weights, vec![0.0; self.tasks.len()]);
        };
        if self.setup.balanced {
            let mut counts = vec![0.0; names.len()];
            train.iter().for_each(|&b| counts[codes[b] as usize] += 1.0);
            let share = train.len() as f64 / names.len() as f64;
            weights.iter_mut().zip(train).for_each(|(w, &b)| *w *= share / counts[codes[b] as usize]);
        }
        let mean_cost = |is_side: &dyn Fn(u32) -> bool| {
            let own = || train.iter().zip(&weights).filter(|(b, _)| is_side(codes[**b]));
            let bags = own().count();
            (bags > 0).then(|| own().map(|(_, w)| w).sum::<f64>() / bags as f64)
        };
        let shift = |task: &BinaryTask| {
            let plus = mean_cost(&|code| code == task.plus);
            let minus = mean_cost(&|code| task.minus.map_or(code != task.plus, |minus| code == minus));
            plus.zip(minus).map_or(0.0, |(plus, minus)| (plus / minus).ln())
        };
        let shifts = self.tasks.iter().map(shift).collect();
        (weights, shifts)
    }

    /// True for real values.
    pub fn is_regression(&self) -> bool {
        matches!(self.target, Target::Values(_))
    }

    /// True if what belongs to each machine is not kept side by side, because there are so many.
    fn has_many_machines(&self) -> bool {
        self.tasks.len() > MANY_MACHINES
    }

    /// Number of classes; 0 for real values.
    pub fn classes(&self) -> usize {
        match self.target {
            Target::Classes { names, .. } => names.len(),
            Target::Values(_) => 0,
        }
    }

    /// True if inner folds cannot share a frame: labels are learned from before training (by the method, or as the meaning of
    /// categories), unless every point of the grid allows it; or the method wants it so.
    fn frames_by_fold(&self) -> bool {
        let categories = self.bags.features().iter().any(|f| f.is_categorical());
        let ResolvedConfig { method, grid, .. } = self.setup;
        let strict = !grid.points.iter().all(|p| method.reuses_labels(p));
        method.learns_labels() && strict || method.frames_by_fold() || categories && !self.is_regression()
    }

    /// Transforms the bags `train` as they themselves say and prepares `points` on them.
    pub fn frame(&self, train: &[usize], points: &[Point], ctx: &Ctx) -> Result<PreparedFold> {
        self.frame_of(self.bags.select(train), train, points, ctx)
    }

    /// The same with the bags `train` at hand.
    fn frame_of(&self, own: Bags, train: &[usize], points: &[Point], ctx: &Ctx) -> Result<PreparedFold> {
        let target = self.target.select(train);
        let all: Vec<usize> = (0..train.len()).collect();
        let mut transform = Transform::fit(self.setup.scale, self.setup.impute, &own, Some(&target), &all)?;
        let weights: Vec<f64> = train.iter().map(|&b| self.weights[b]).collect();
        if weights.iter().any(|w| *w != 1.0) {
            transform = transform.weighted(&own, &all, &weights)?;
        }
        let bags = Arc::new(if transform.is_identity(&own) { own } else { transform.apply(&own, ctx)? });
        if self.setup.method.keeps_instances() {
            // Before the work, not after it.
            bags.reserve_in_memory("a model, which keeps all training instances,", ctx)?;
        }
        let mut position = vec![None; self.bags.len()];
        train.iter().enumerate().for_each(|(at, &bag)| position[bag] = Some(at));
        if let Some((map, rows)) = &self.maps {
            let prepared = vec![map.prepare(rows, train, bags, points)?];
            return Ok(PreparedFold { transform, points: points.to_vec(), position, prepared });
        }
        let transformed;
        let pool = match points.iter().any(draws_on_all) {
            false => None,
            true if transform.is_identity(self.bags) => Some(self.bags),
            true => {
                transformed = transform.apply(self.bags, ctx)?;
                Some(&transformed)
            }
        };
        let groups = self.data.groups.as_ref().map(|groups| Groups {
            codes: train.iter().map(|&b| groups.codes[b]).collect(),
            names: groups.names.clone(),
        });
        let known =
            Scope { pool, groups: groups.as_ref(), regression: self.is_regression(), ..Scope::of(&all) };
        let prepare = |scope: &Scope<'_>| self.setup.method.prepare(Arc::clone(&bags), points, scope, ctx);
        let prepared = if self.setup.method.learns_labels() {
            let scoped = self.tasks.iter().map(|task| {
                let (own, y) = self.problem(task, train);
                let own: Vec<usize> = own.iter().filter_map(|&b| position[b]).collect();
                prepare(&Scope { train: &own, y: &y, ..known })
            });
            scoped.collect::<Result<_>>()?
        } else {
            vec![prepare(&known)?]
        };
        Ok(PreparedFold { transform, points: points.to_vec(), position, prepared })
    }

    fn problem(&self, task: &BinaryTask, train: &[usize]) -> (Vec<usize>, Vec<f64>) {
        match self.target {
            Target::Classes { codes, .. } => task.problem(codes, train),
            Target::Values(values) => (train.to_vec(), train.iter().map(|&b| values[b]).collect()),
        }
    }

    /// The training problem of every machine, with bags as they stand in the frame; none where training has nothing to tell it.
    fn problems<'t>(
        &'t self,
        frame: &'t PreparedFold,
        train: &'t [usize],
    ) -> impl Iterator<Item = Option<OwnedTraining>> + 't {
        let by_class = match self.target {
            Target::Classes { codes, .. } => Some(ClassBags::new(codes, train)),
            Target::Values(_) => None,
        };
        self.tasks.iter().enumerate().map(move |(machine, task)| {
            let (bags, y) = match &by_class {
                Some(by_class) => by_class.problem(task),
                None => self.problem(task, train),
            };
            // Without a bag of its class a machine against the rest has nothing to say; a pair of which one side is
            // missing is decided by the other.
            let hopeless = !self.is_regression() && task.minus.is_none() && !y.contains(&1.0);
            if bags.is_empty() || hopeless {
                return None;
            }
            let mut weights: Vec<f64> = bags.iter().map(|&b| self.weights[b]).collect();
            if self.setup.balanced && self.setup.method.info().weighs_classes && !self.is_regression() {
                let balance = bagwise_svm::balanced_weights(&y);
                weights.iter_mut().zip(balance).for_each(|(w, b)| *w *= b);
            }
            let bags = frame.positions(&bags);
            Some(OwnedTraining { machine, bags, y, weights, regression: self.is_regression() })
        })
    }

    /// Fits the machines of points that share their representation; `points` are indices into the frame's.
    pub fn fit(
        &self,
        frame: &PreparedFold,
        points: &[usize],
        train: &[usize],
        ctx: &Ctx,
    ) -> Result<Vec<Machines>> {
        let mut per_point: Vec<Machines> = points.iter().map(|_| Machines(Vec::new())).collect();
        let fitted = |(k, problem): (usize, Option<OwnedTraining>)| {
            ctx.check()?;
            problem.map(|problem| frame.prepared(k).fit(points, &problem.training(), ctx)).transpose()
        };
        // Each of many machines is small, unless the fits of a method fill the memory that there is.
        let bytes = frame.fit_bytes().saturating_mul(rayon::current_num_threads() as u64);
        let side_by_side = self.has_many_machines() && frame.is_shared() && bytes <= ctx.memory / 2;
        let mut problems = self.problems(frame, train).enumerate();
        loop {
            let some: Vec<_> = problems.by_ref().take(if side_by_side { PROBLEMS } else { 1 }).collect();
            if some.is_empty() {
                break;
            }
            let fits: Vec<Option<Vec<SolvedFit>>> = match side_by_side {
                true => some.into_par_iter().map(fitted).collect::<Result<_>>()?,
                false => some.into_iter().map(fitted).collect::<Result<_>>()?,
            };
            for fits in fits {
                let mut fits = fits.map(Vec::into_iter);
                per_point.iter_mut().for_each(|m| m.0.push(fits.as_mut().and_then(Iterator::next)));
            }
        }
        Ok(per_point)
    }

    /// Outputs of the machines for bags of the data set, bags x machines. Bags of the frame are looked up; others are
    /// answered as new ones, by a model that knows the bags `train`.
    pub fn outputs(
        &self,
        frame: &PreparedFold,
        machines: &Machines,
        train: &[usize],
        bags: &[usize],
        ctx: &Ctx,
    ) -> Result<Mat> {
        Ok(self.outputs_of_each(frame, std::slice::from_ref(machines), train, bags, ctx)?.remove(0))
    }

    /// The same for the machines of each of some points that share their representation: new bags are transformed and
    /// compared with the training bags once for all points, where the method's models can be joined.
    fn outputs_of_each(
        &self,
        frame: &PreparedFold,
        points: &[Machines],
        train: &[usize],
        bags: &[usize],
        ctx: &Ctx,
    ) -> Result<Vec<Mat>> {
        let machines = self.tasks.len();
        let nothing = || Mat::new(bags.len(), machines, vec![f64::NAN; bags.len() * machines]);
        if frame.holds(bags) {
            let at = frame.positions(bags);
            let of_point = |machines: &Machines| -> Result<Mat> {
                if frame.is_shared() && machines.0.iter().all(Option::is_some) {
                    let fits: Vec<&SolvedFit> = machines.0.iter().flatten().collect();
                    return frame.prepared(0).scores_of_all(&fits, &at, ctx);
                }
                let mut out = nothing();
                for (k, fit) in machines.0.iter().enumerate() {
                    let Some(fit) = fit else { continue };
                    for (row, score) in frame.prepared(k).scores(fit, &at, ctx)?.into_iter().enumerate() {
                        out.set(row, k, score);
                    }
                }
                Ok(out)
            };
            return points.iter().map(of_point).collect();
        }
        let mut out: Vec<Mat> = points.iter().map(|_| nothing()).collect();
        let new = frame.transform.apply(&self.bags.select(bags), ctx)?;
        let at = frame.positions(train);
        // One model for all machines, or one for each where labels are learned from.
        let machines_of_a_model = if frame.is_shared() { machines } else { 1 };
        let points_of_a_model = if frame.prepared(0).joins_points() { points.len() } else { 1 };
        for first_point in (0..points.len()).step_by(points_of_a_model.max(1)) {
            for first in (0..machines).step_by(machines_of_a_model) {
                let own = first..first + machines_of_a_model;
                let places = (first_point..first_point + points_of_a_model)
                    .flat_map(|p| own.clone().map(move |k| (p, k)));
                let there: Vec<(usize, usize, &SolvedFit)> =
                    places.filter_map(|(p, k)| Some((p, k, points[p].0[k].as_ref()?))).collect();
                if there.is_empty() {
                    continue;
                }
                let fits: Vec<&SolvedFit> = there.iter().map(|t| t.2).collect();
                let scores = frame.prepared(first).model(&fits, &at, ctx)?.predict(&new, ctx)?.scores;
                // Row by row: a row of hundreds of classes is longer than the cache.
                for row in 0..bags.len() {
                    there
                        .iter()
                        .zip(scores.row(row))
                        .for_each(|((p, k, _), score)| out[*p].set(row, *k, *score));
                }
            }
        }
        Ok(out)
    }

    /// Models of the machines there are: one for all, or one for each where labels are learned from.
    pub(crate) fn models(
        &self,
        frame: &PreparedFold,
        machines: &Machines,
        train: &[usize],
        ctx: &Ctx,
    ) -> Result<Vec<Box<dyn Predictor>>> {
        let at = frame.positions(train);
        if frame.is_shared() {
            let fits: Vec<&SolvedFit> = machines.0.iter().flatten().collect();
            return Ok(vec![frame.prepared(0).model(&fits, &at, ctx)?]);
        }
        let there = machines.0.iter().enumerate().filter_map(|(k, fit)| Some((k, fit.as_ref()?)));
        there.map(|(k, fit)| frame.prepared(k).model(&[fit], &at, ctx)).collect()
    }

    /// The labels that outputs elect; empty for real values.
    pub fn labels(&self, outputs: &Mat, threshold: Option<f64>) -> Vec<u32> {
        if self.is_regression() {
            return Vec::new();
        }
        self.of_each_bag(outputs, |outputs| vote(outputs, &self.tasks, self.classes(), threshold))
    }

    /// What follows from the outputs for each bag; side by side if they are many.
    pub(crate) fn of_each_bag<T: Send>(&self, outputs: &Mat, of: impl Fn(&[f64]) -> T + Sync) -> Vec<T> {
        let rows = 0..outputs.rows();
        match self.has_many_machines() {
            true => rows.into_par_iter().map(|b| of(outputs.row(b))).collect(),
            false => rows.map(|b| of(outputs.row(b))).collect(),
        }
    }

    /// One score per bag (two classes, real values) or per bag and class.
    pub fn scores(&self, outputs: &Mat) -> Mat {
        if self.tasks.len() == 1 {
            return outputs.clone();
        }
        let scores = |outputs: &[f64]| class_scores(outputs, &self.tasks, self.classes());
        Mat::from_rows(&self.of_each_bag(outputs, scores))
    }

    /// Truth and what the outputs say, as metrics want them; probabilities only where there is a calibration.
    pub fn predictions(
        &self,
        truth: &Target,
        outputs: &Mat,
        calibration: &Calibration,
        threshold: Option<f64>,
        ctx: &Ctx,
    ) -> Result<Predictions> {
        match truth {
            Target::Values(values) => Predictions::values(values.clone(), outputs.data().to_vec()),
            Target::Classes { codes, names } => {
                let positive = (names.len() == 2).then_some(self.tasks[0].plus);
                let classified =
                    Classified::new(codes.clone(), self.labels(outputs, threshold), names.len(), positive)?;
                let classified = classified.with_scores(self.scores(outputs))?;
                if !calibration.is_fitted() {
                    return Ok(Predictions::Classes(classified));
                }
                let probabilities = calibration.probabilities(outputs, &self.tasks, names.len(), ctx)?;
                Ok(Predictions::Classes(classified.with_probabilities(probabilities)?))
            }
        }
    }

    /// Fits the chosen point on the whole training part, in the frame that tuning left or a new one.
    pub(crate) fn refit(&self, tuned: &mut Tuned, train: &[usize], ctx: &Ctx) -> Result<Refit> {
        let point = &tuned.point;
        let frame = match tuned.frame.take() {
            Some(frame) => frame,
            None => self.frame(train, std::slice::from_ref(point), ctx)?,
        };
        let at = frame.points.iter().position(|p| p == point).expect("the frame holds the chosen point");
        let machines = self.fit(&frame, &[at], train, ctx)?.remove(0);
        Ok(Refit { frame, at, machines })
    }
}

/// The chosen point, fitted on the whole training part.
pub(crate) struct Refit {
    /// The frame of the fit.
    pub frame: PreparedFold,
    /// Index of the point within the frame.
    pub at: usize,
    /// The machines.
    pub machines: Machines,
}
