//! Running an evaluation: every method on every outer fold, with one record per fit, written as soon as the fit is
//! done. Folds that take seconds are fitted side by side, and written together.
//!
//! The folds are the same for every method. [`learn`] trains a fold on its training bags alone, and its test bags are
//! predicted like new bags. A fit that fails leaves a record that says why, and the others continue.

mod batch;
mod deadline;
pub mod files;
mod fixed_model;
mod foreign;
mod outside;
mod picture;
mod reasons;
mod settings;
mod store;
mod verdict;

pub use crate::shard::{Shard, shard_folders};
pub(crate) use deadline::{Deadline, until};
pub use outside::OutsidePrediction;
pub use picture::{GramPicture, picture};
pub use store::RecordLocation;
pub(crate) use store::{RecordStore, kept_plan};
pub(crate) use verdict::CONSTANT;
pub use verdict::{DifferenceRow, Verdict, ranked};

use std::collections::{BTreeMap, HashSet};
use std::time::Instant;

use rayon::prelude::*;
use serde::Serialize;

use crate::calibrate::Calibration;
use crate::fold::{Machines, ResolvedConfig, TrainingTask, approximations};
use crate::fold::{TrainOptions, learn};
use crate::method::{AlternationEnd, Rounds, SolvedFit, converged};
use crate::params::Point;
use bagwise_core::Precision;
use bagwise_core::{Ctx, Dataset, Error, Mat, Result, Target};
use bagwise_judge::{
    EnsembleGain, FitOutcome, FitStatus, Fold, FoldPlan, GroundTruth, Key, Metric, Pool, Protocol,
    ProtocolName, RECORD_FORMAT, Reason, Record, ScoredBags, Splits, Threshold,
};

/// A method in a comparison: its name there, and the setups it chooses from (one, unless it is `auto`).
pub struct Candidate {
    /// The name in tables.
    pub name: String,
    /// What it chooses from.
    pub setups: Vec<ResolvedConfig>,
}

impl Candidate {
    /// What will be only approximate for these data: sentences, mostly none.
    pub fn approximations(&self, data: &Dataset) -> Vec<String> {
        approximations(&self.setups, data)
    }
}

/// What a run is, besides its data and candidates.
#[derive(Clone, Debug, Serialize)]
pub struct RunPlan {
    /// How methods are judged.
    pub protocol: Protocol,
    /// The metric by which inner folds select.
    pub metric: Metric,
    /// How the threshold is chosen.
    pub threshold: Option<Threshold>,
    /// Among several methods take the best, even if a simpler one is within one standard error.
    pub best: bool,
    /// The +1 class of a two-class problem.
    pub positive: Option<String>,
    /// The precision of kernel sums; it wins over that of the surroundings.
    pub precision: Precision,
    /// The run's seed.
    pub seed: u64,
    /// The number of repeats, each with new random folds.
    pub repeats: usize,
    /// Whether bags get probabilities also where nothing is chosen by inner folds, which are then trained for them alone.
    pub probabilities: bool,
}

impl RunPlan {
    /// Whether inner folds are trained: something is chosen by them, a point of some candidate or the threshold, or
    /// probabilities are wanted. If one candidate has probabilities, all have.
    pub(crate) fn trains_inner<'c>(
        &self,
        mut candidates: impl Iterator<Item = &'c [ResolvedConfig]>,
    ) -> bool {
        let chooses = |setups: &[ResolvedConfig]| setups.len() > 1 || setups[0].grid.points.len() > 1;
        let wanted = self.threshold.is_some() || self.probabilities;
        !self.protocol.optimistic() && (wanted || candidates.any(chooses))
    }

    /// Refuses what the protocol would not heed; `given` if the fold of each bag is.
    fn check(&self, given: bool) -> Result<()> {
        let Protocol { name, outer, .. } = self.protocol;
        let refuse = |why: String| Err(Error::Invalid(format!("protocol {} {why}", name.as_str())));
        if given && !matches!(outer, Splits::Given | Splits::TrainTest) {
            return refuse(
                "draws its own folds; leave the given folds out, or use given or train-test".into(),
            );
        }
        if self.repeats > 1 && !outer.random() {
            return refuse(format!(
                "uses the same folds in every repeat, so {} repeats add little; use 1",
                self.repeats
            ));
        }
        if self.protocol.optimistic() && self.threshold.is_some() {
            return refuse("does not choose a threshold; leave it out, or use nested".into());
        }
        Ok(())
    }
}

/// What [`Run::execute_steps`] tells.
pub(crate) enum FitStep<'k> {
    /// A fit begins; with it, if they take seconds, some that follow.
    Begins(&'k Key),
    /// A fit is done.
    Done(Box<Record>),
}

/// A run that can be carried out, or resumed.
pub struct Run<'a> {
    data: &'a Dataset,
    plan: &'a RunPlan,
    candidates: &'a [Candidate],
    given: Option<&'a [String]>,
    trains_inner: bool,
    /// The folds, the same for every method.
    pub folds: FoldPlan,
    /// The bags and their truth.
    pub roster: GroundTruth,
    /// Fingerprint of data, plan, folds and candidates: records of another run are not mixed in.
    pub fingerprint: String,
}

#[derive(Serialize)]
struct Configuration<'a> {
    version: &'a str,
    name: &'a str,
    data: &'a str,
    plan: &'a RunPlan,
    folds: &'a FoldPlan,
    candidates: Vec<(&'a str, Vec<SetupText<'a>>)>,
}

#[derive(Serialize)]
struct SetupText<'a> {
    method: &'a str,
    points: &'a [Point],
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    grows: &'a [&'static str],
    scale: &'a str,
    scheme: crate::multiclass::Scheme,
    balanced: bool,
    impute: bool,
}

impl<'a> SetupText<'a> {
    fn of(setup: &'a ResolvedConfig) -> SetupText<'a> {
        SetupText {
            method: setup.method.info().name,
            points: &setup.grid.points,
            grows: &setup.grid.grows,
            scale: setup.scale.name(),
            scheme: setup.scheme,
            balanced: setup.balanced,
            impute: setup.impute,
        }
    }
}

impl<'a> Run<'a> {
    /// Checks everything and draws the folds; nothing is computed yet. `given` says the fold of each bag for the
    /// protocols that need it.
    pub fn new(
        data: &'a Dataset,
        candidates: &'a [Candidate],
        plan: &'a RunPlan,
        given: Option<&'a [String]>,
    ) -> Result<Run<'a>> {
        let target = data.require_target()?;
        plan.check(given.is_some())?;
        for setup in candidates.iter().flat_map(|c| &c.setups) {
            TrainingTask::new(data, setup, plan.positive.as_deref())?;
            if plan.protocol.name == ProtocolName::Kfold && setup.grid.points.len() > 1 {
                return Err(Error::Invalid(format!(
                    "protocol kfold uses fixed parameters, but {} is given {} combinations to choose from; use nested",
                    setup.method.info().name,
                    setup.grid.points.len()
                )));
            }
        }
        TrainOptions { metric: plan.metric, threshold: plan.threshold, best: plan.best }.check(target)?;
        let pool = Pool { target, groups: data.groups.as_ref(), given };
        let folds = FoldPlan::new(plan.protocol.outer, pool, plan.seed, plan.repeats)?;
        // If the first training part cannot be divided, hardly any can: a slip, not a failed fit.
        let trains_inner = plan.trains_inner(candidates.iter().map(|c| c.setups.as_slice()));
        if let (Some(first), true) = (folds.repeats[0].first(), trains_inner) {
            plan.protocol.inner.inner(pool, &first.train, plan.seed, 0, 0).map_err(|e| match e {
                Error::Refused { found, remedy } => {
                    Error::refused(format!("inner folds of the first training part: {found}"), remedy)
                }
                other => other,
            })?;
        }
        let roster = GroundTruth::new(data, plan.positive.as_deref())?;
        let configuration = Configuration {
            version: env!("CARGO_PKG_VERSION"),
            name: &data.name,
            data: &roster.fingerprint,
            plan,
            folds: &folds,
            candidates: candidates
                .iter()
                .map(|c| (c.name.as_str(), c.setups.iter().map(SetupText::of).collect()))
                .collect(),
        };
        let fingerprint = bagwise_judge::fingerprint(&configuration);
        Ok(Run { data, plan, candidates, given, trains_inner, folds, roster, fingerprint })
    }

    /// Number of records that the whole run writes.
    pub fn len(&self) -> usize {
        self.candidates.len() * self.folds.repeats.iter().map(Vec::len).sum::<usize>()
    }

    /// True if there is nothing to do.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// What the run is a fit of, in the order of execution.
    pub(crate) fn keys(&self) -> Vec<Key> {
        self.units().flatten().collect()
    }

    /// The fits of a shard.
    pub(crate) fn keys_of(&self, shard: Shard) -> HashSet<Key> {
        let units = self.units().enumerate();
        units.filter(|(i, _)| shard.owns(*i, &self.fingerprint)).flat_map(|(_, unit)| unit).collect()
    }

    /// Fits that can be done without the others, in the order of execution: each by itself, or, where one choice is made on
    /// all folds, those of a repeat.
    fn units(&self) -> impl Iterator<Item = Vec<Key>> {
        let together = self.plan.protocol.optimistic();
        let repeats =
            |candidate| self.folds.repeats.iter().enumerate().map(move |(r, f)| (candidate, r, f.len()));
        self.candidates.iter().flat_map(repeats).flat_map(move |(candidate, repeat, folds)| {
            let keys: Vec<Key> = (0..folds).map(|f| self.key(candidate, repeat, f)).collect();
            let size = if together { folds } else { 1 };
            keys.chunks(size.max(1)).map(<[Key]>::to_vec).collect::<Vec<_>>()
        })
    }

    /// Fits what `done` does not know and hands each record over. Errors of single fits become records; the run ends
    /// early only if it is interrupted or a record cannot be kept.
    pub fn execute(
        &self,
        done: &dyn Fn(&Key) -> bool,
        keep: &mut dyn FnMut(Record) -> Result<()>,
        ctx: &Ctx,
    ) -> Result<()> {
        let mut step = |step: FitStep<'_>| match step {
            FitStep::Begins(_) => Ok(()),
            FitStep::Done(record) => keep(*record),
        };
        self.execute_steps(done, &mut step, ctx)
    }

    /// The same, with the beginning of every fit.
    pub(crate) fn execute_steps(
        &self,
        done: &dyn Fn(&Key) -> bool,
        step: &mut dyn FnMut(FitStep<'_>) -> Result<()>,
        ctx: &Ctx,
    ) -> Result<()> {
        let mut ctx = ctx.clone();
        ctx.precision = self.plan.precision;
        let ctx = &ctx;
        for candidate in self.candidates {
            let learners: Vec<TrainingTask<'_>> = candidate
                .setups
                .iter()
                .map(|setup| TrainingTask::new(self.data, setup, self.plan.positive.as_deref()))
                .collect::<Result<_>>()?;
            let to_do = self
                .folds
                .repeats
                .iter()
                .enumerate()
                .any(|(r, folds)| (0..folds.len()).any(|f| !done(&self.key(candidate, r, f))));
            if !to_do {
                continue;
            }
            for (repeat, folds) in self.folds.repeats.iter().enumerate() {
                if self.plan.protocol.optimistic() {
                    self.best_on_cv(candidate, &learners, repeat, folds, done, step, ctx)?;
                    continue;
                }
                let keys = (0..folds.len()).map(|f| (f, self.key(candidate, repeat, f)));
                let to_do: Vec<(usize, Key)> = keys.filter(|(_, key)| !done(key)).collect();
                for batch in to_do.chunks(self.folds_at_once(candidate, ctx)) {
                    ctx.check()?;
                    step(FitStep::Begins(&batch[0].1))?;
                    let started = Instant::now();
                    let fit = |(f, _): &(usize, Key)| self.one_fold(&learners, repeat, *f, &folds[*f], ctx);
                    let fitted: Vec<Result<FoldResult>> = batch.par_iter().map(fit).collect();
                    let seconds = started.elapsed().as_secs_f64() / batch.len() as f64;
                    let mut cancelled = false;
                    for ((f, key), fitted) in batch.iter().zip(fitted) {
                        let record = self.record(key.clone(), &folds[*f], fitted, seconds);
                        // Complete folds are kept even if others were cancelled.
                        match record.and_then(|record| step(FitStep::Done(Box::new(record)))) {
                            Err(Error::Cancelled) => cancelled = true,
                            other => other?,
                        }
                    }
                    if cancelled {
                        return Err(Error::Cancelled);
                    }
                }
            }
        }
        Ok(())
    }

    fn key(&self, candidate: &Candidate, repeat: usize, fold: usize) -> Key {
        Key {
            data: self.data.name.clone(),
            method: candidate.name.clone(),
            repeat,
            fold,
            inner: None,
            point: String::new(),
        }
    }

    fn one_fold(
        &self,
        learners: &[TrainingTask<'_>],
        repeat: usize,
        f: usize,
        fold: &Fold,
        ctx: &Ctx,
    ) -> Result<FoldResult> {
        let pool = Pool { target: learners[0].target, groups: self.data.groups.as_ref(), given: self.given };
        let splits = self.plan.protocol.inner;
        let inner = match self.trains_inner {
            true => splits.inner(pool, &fold.train, self.plan.seed, repeat as u64, f as u64)?,
            false => Vec::new(),
        };
        let wanted =
            TrainOptions { metric: self.plan.metric, threshold: self.plan.threshold, best: self.plan.best };
        let learned =
            learn(learners, &fold.train, &inner, &wanted, ctx).map_err(|e| e.of_data(&self.data.name))?;
        let learner = &learners[learned.which];
        let answers = learned.answers(learners, &fold.train, &fold.test, ctx)?;
        let mut judged = FoldResult::new(
            learner,
            &fold.test,
            &answers.outputs,
            &learned.calibration,
            learned.threshold,
            ctx,
        )?;
        judged.reasons = reasons::reasons(learner, &fold.test, &answers);
        judged.parameters = match &learned.ensemble {
            None => parameters(learner, &learned.tuned.point, learners.len() > 1),
            Some(_) => parameters_of_members(learners, &learned.members()),
        };
        judged.gain = learned.ensemble.as_ref().map(|ensemble| {
            let (single, gain) = ensemble.instead;
            let instead_of = learners[single].setup.method.info().name.into();
            EnsembleGain { instead_of, mean: gain.mean, error: gain.error }
        });
        judged.inner = learned.value.filter(|_| self.trains_inner);
        judged.on_edge = learned.tuned.on_edge;
        judged.outcome = outcome(&learned.refit.machines);
        if !learned.threshold_met {
            judged.outcome.message = Some("no threshold satisfies the rule on the training bags".into());
        }
        Ok(judged)
    }

    /// The best point on the folds themselves, as some papers do it. When it is known, the models of all points are gone, so
    /// these records have no reasons.
    fn best_on_cv(
        &self,
        candidate: &Candidate,
        learners: &[TrainingTask<'_>],
        repeat: usize,
        folds: &[Fold],
        done: &dyn Fn(&Key) -> bool,
        step: &mut dyn FnMut(FitStep<'_>) -> Result<()>,
        ctx: &Ctx,
    ) -> Result<()> {
        let keys: Vec<Key> = (0..folds.len()).map(|f| self.key(candidate, repeat, f)).collect();
        if keys.iter().all(done) {
            return Ok(());
        }
        step(FitStep::Begins(&keys[0]))?;
        let started = Instant::now();
        let all: Vec<usize> = (0..self.data.bags.len()).collect();
        let wanted = TrainOptions { metric: self.plan.metric, threshold: None, best: true };
        let best = crate::fold::best(learners, &all, folds, &wanted, ctx);
        let seconds = started.elapsed().as_secs_f64() / folds.len() as f64;
        for (key, fold) in keys.into_iter().zip(folds) {
            if done(&key) {
                continue;
            }
            let judged = match &best {
                Ok((which, tuned)) => {
                    let learner = &learners[*which];
                    let calibration =
                        Calibration::fit(learner.target, &tuned.out_of_fold, &learner.tasks, ctx)?;
                    let outputs = tuned.out_of_fold.gather(&fold.test);
                    let mut judged = FoldResult::new(learner, &fold.test, &outputs, &calibration, None, ctx)?;
                    judged.parameters = parameters(learner, &tuned.point, learners.len() > 1);
                    judged.inner = tuned.value;
                    judged.on_edge = tuned.on_edge.clone();
                    Ok(judged)
                }
                Err(Error::Cancelled) => Err(Error::Cancelled),
                Err(e) => Err(Error::Invalid(e.to_string())),
            };
            step(FitStep::Done(Box::new(self.record(key, fold, judged, seconds)?)))?;
        }
        Ok(())
    }

    fn record(&self, key: Key, fold: &Fold, judged: Result<FoldResult>, seconds: f64) -> Result<Record> {
        let judged = match judged {
            Ok(judged) => judged,
            Err(Error::Cancelled) => return Err(Error::Cancelled),
            Err(e) => FoldResult { outcome: failed(e.to_string()), ..FoldResult::default() },
        };
        let mut judged = judged;
        let finite = |values: &[f64]| values.iter().all(|v| v.is_finite());
        if !finite(&judged.scored.scores) || !judged.scored.probabilities.as_deref().is_none_or(finite) {
            let why = "a score is not a finite number; try another scaling or a smaller c";
            judged = FoldResult { outcome: failed(why.into()), ..FoldResult::default() };
        }
        let mut metrics = BTreeMap::new();
        if judged.outcome.status != FitStatus::Failed {
            let predictions = self.roster.predictions(&judged.scored)?;
            // A metric on request is kept where it decides.
            let asked = Some(self.plan.metric).filter(|m| m.is_on_request());
            metrics = Metric::for_task(&predictions)
                .into_iter()
                .chain(asked)
                .map(|m| (m.name().to_string(), m.value(&predictions)))
                .collect();
        }
        Ok(Record {
            format: RECORD_FORMAT,
            key,
            run: self.fingerprint.clone(),
            data: self.roster.fingerprint.clone(),
            protocol: self.plan.protocol.name.as_str().into(),
            seed: self.plan.seed,
            parameters: judged.parameters,
            trained: fold.train.len(),
            scored: judged.scored,
            reasons: judged.reasons,
            metrics,
            inner: judged.inner,
            gain: judged.gain,
            threshold: judged.threshold,
            on_edge: judged.on_edge,
            outcome: judged.outcome,
            seconds,
        })
    }
}

/// What is recorded of a fit.
struct FoldResult {
    parameters: BTreeMap<String, serde_json::Value>,
    scored: ScoredBags,
    reasons: Vec<Reason>,
    inner: Option<f64>,
    gain: Option<EnsembleGain>,
    threshold: Option<f64>,
    on_edge: Vec<String>,
    outcome: FitOutcome,
}

impl Default for FoldResult {
    fn default() -> FoldResult {
        FoldResult {
            parameters: BTreeMap::new(),
            scored: ScoredBags::default(),
            reasons: Vec::new(),
            inner: None,
            gain: None,
            threshold: None,
            on_edge: Vec::new(),
            outcome: FitOutcome {
                status: FitStatus::Converged,
                iterations: None,
                objective: None,
                gap: None,
                message: None,
                changed: Vec::new(),
            },
        }
    }
}

impl FoldResult {
    fn new(
        learner: &TrainingTask<'_>,
        bags: &[usize],
        outputs: &Mat,
        calibration: &Calibration,
        threshold: Option<f64>,
        ctx: &Ctx,
    ) -> Result<FoldResult> {
        let classes = matches!(learner.target, Target::Classes { .. });
        let probabilities = (classes && calibration.is_fitted())
            .then(|| calibration.probabilities(outputs, &learner.tasks, learner.classes(), ctx))
            .transpose()?;
        let scored = ScoredBags {
            bags: bags.to_vec(),
            labels: classes.then(|| learner.labels(outputs, threshold)),
            scores: learner.scores(outputs).into_data(),
            probabilities: probabilities.map(Mat::into_data),
        };
        Ok(FoldResult { scored, threshold, ..FoldResult::default() })
    }
}

fn failed(message: String) -> FitOutcome {
    FitOutcome {
        status: FitStatus::Failed,
        iterations: None,
        objective: None,
        gap: None,
        message: Some(message),
        changed: Vec::new(),
    }
}

/// The parameters of a point; with the method's name where it was one of several.
fn parameters(learner: &TrainingTask<'_>, point: &Point, named: bool) -> BTreeMap<String, serde_json::Value> {
    let mut all = point.to_map();
    if named {
        all.insert("method".into(), learner.setup.method.info().name.into());
        all.insert("scale".into(), learner.setup.scale.name().into());
    }
    all
}

/// What several methods together are made of, a line for each, the largest share first.
fn parameters_of_members(
    learners: &[TrainingTask<'_>],
    members: &[(usize, &Point, f64)],
) -> BTreeMap<String, serde_json::Value> {
    let name = |which: usize| learners[which].setup.method.info().name;
    let mut all = BTreeMap::new();
    all.insert("method".into(), crate::methods::ensemble::name().into());
    let names: Vec<&str> = members.iter().map(|(which, ..)| name(*which)).collect();
    all.insert("members".into(), names.join(", ").into());
    for (which, point, share) in members {
        let setup = learners[*which].setup;
        let text = format!(
            "{share:.2} of it, scaling {}, {}",
            setup.scale.name(),
            point.relevant(setup.method.params())
        );
        all.insert(format!("member {}", name(*which)), text.into());
    }
    all
}

/// The machines of a fit as one outcome: the least happy ending, iterations (rounds, of an alternation), objectives
/// and changes added, the largest gap.
fn outcome(machines: &Machines) -> FitOutcome {
    let fits: Vec<&SolvedFit> = machines.0.iter().flatten().collect();
    let outcomes: Vec<bagwise_svm::SolveOutcome> = fits.iter().filter_map(|f| f.outcome).collect();
    let rounds: Vec<&Rounds> = fits.iter().filter_map(|f| f.rounds.as_ref()).collect();
    let limit = rounds.iter().any(|r| r.ended == AlternationEnd::Limit) || !outcomes.iter().all(converged);
    let status = match () {
        _ if limit => FitStatus::IterationLimit,
        _ if rounds.iter().any(|r| matches!(r.ended, AlternationEnd::Cycle(_))) => FitStatus::Cycle,
        _ => FitStatus::Converged,
    };
    let longest = rounds.iter().map(|r| r.changed.len()).max().unwrap_or(0);
    let changed = (0..longest).map(|i| rounds.iter().filter_map(|r| r.changed.get(i)).sum()).collect();
    let steps = |fit: &&SolvedFit| match (&fit.rounds, fit.outcome) {
        (Some(rounds), _) => rounds.changed.len() as u64,
        (None, outcome) => outcome.map_or(0, |o| o.iterations as u64),
    };
    let known = !outcomes.is_empty();
    FitOutcome {
        status,
        iterations: known.then(|| fits.iter().map(steps).sum()),
        objective: known.then(|| outcomes.iter().map(|o| o.objective).sum()),
        gap: known.then(|| outcomes.iter().map(|o| o.kkt_gap).fold(0.0, f64::max)),
        message: None,
        changed,
    }
}
