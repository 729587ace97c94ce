//! From training bags to a decision rule, for one method or a choice among several: tune by inner folds, choose,
//! fit on the whole training part, calibrate and set the threshold from out-of-fold outputs. Evaluation calls this
//! for every outer fold and `fit` for all bags, so that an estimate holds for the model that `fit` returns.

use super::ensemble::Gain;
use super::portfolio::{self, Choice, ChosenTogether};
use super::{Answers, FoldScope, Machines, PreparedFold, Refit, TrainingTask, Tuned};
use crate::calibrate::Calibration;
use crate::familiar::Familiarity;
use crate::method::Predictor;
use crate::methods::ensemble::{self, MemberHeader, TrainedMember};
use crate::model::{FORMAT, Model, ModelHeader, TrainingSummary};
use crate::params::Point;
use crate::preprocess::Transform;
use bagwise_core::{Ctx, Error, Mat, Result, Target};
use bagwise_judge::{Chosen, Fold, Metric, Repeat, Splits, Threshold};

/// The default level of intervals and tests.
pub const LEVEL: f64 = 0.95;

/// Options of training besides the method.
#[derive(Clone, Copy, Debug)]
pub struct TrainOptions {
    /// The metric by which inner folds select.
    pub metric: Metric,
    /// How the threshold of a two-class problem is chosen; 0 if not given.
    pub threshold: Option<Threshold>,
    /// Among several methods take the best, even if a simpler one is within one standard error.
    pub best: bool,
}

impl TrainOptions {
    /// Choose by this metric; no threshold; from several methods, the simplest within one standard error of the best.
    pub fn by(metric: Metric) -> TrainOptions {
        TrainOptions { metric, threshold: None, best: false }
    }

    /// An error if an option does not apply to this target; called before any work.
    pub fn check(&self, target: &Target) -> Result<()> {
        self.metric.check(target)?;
        self.threshold.map_or(Ok(()), |rule| rule.check(target))
    }
}

/// A decision rule and how it came about.
pub struct TrainedRule {
    /// Which of the learners was chosen; in an ensemble, the one with the largest weight.
    pub which: usize,
    /// What tuning found for it.
    pub tuned: Tuned,
    /// Its machines.
    pub(crate) refit: Refit,
    /// The ensemble, if there is one.
    pub(crate) ensemble: Option<TrainedEnsemble>,
    /// The value of the selection metric over the inner folds.
    pub value: Option<f64>,
    /// Outputs to probabilities.
    pub calibration: Calibration,
    /// From here on the positive class; above 0 if not given.
    pub threshold: Option<f64>,
    /// False if the rule for the threshold could not be met on the training bags.
    pub threshold_met: bool,
}

/// The members of an ensemble, the largest weight first.
pub(crate) struct TrainedEnsemble {
    /// Learner and share, with the sigmoids of its outputs.
    pub(crate) members: Vec<(usize, f64, Vec<(f64, f64)>)>,
    /// The points and machines of all but the first.
    pub(crate) others: Vec<(Point, Refit)>,
    /// The single learner that they replace, and what that gained on inner folds.
    pub(crate) instead: (usize, Gain),
}

impl TrainedRule {
    /// What the chosen point was prepared in.
    pub fn frame(&self) -> &PreparedFold {
        &self.refit.frame
    }

    /// The machines on all training bags.
    pub fn machines(&self) -> &Machines {
        &self.refit.machines
    }

    /// The machines of all members.
    fn all_machines(&self) -> impl Iterator<Item = &Machines> {
        let others = self.ensemble.iter().flat_map(|e| &e.others);
        [&self.refit].into_iter().chain(others.map(|(_, refit)| refit)).map(|refit| &refit.machines)
    }

    /// The members with their points, the largest share first; nothing for a single method.
    pub(crate) fn members(&self) -> Vec<(usize, &Point, f64)> {
        let Some(TrainedEnsemble { members, others, .. }) = &self.ensemble else { return Vec::new() };
        let points = [&self.tuned.point].into_iter().chain(others.iter().map(|(point, _)| point));
        members.iter().zip(points).map(|((which, share, _), point)| (*which, point, *share)).collect()
    }

    /// The predictor of the ensemble, for bags before scaling, and its members; `None` for a single method.
    fn combined(
        &self,
        learners: &[TrainingTask<'_>],
        train: &[usize],
        ctx: &Ctx,
    ) -> Result<Option<(Vec<MemberHeader>, Box<dyn Predictor>)>> {
        let Some(TrainedEnsemble { members, others, .. }) = &self.ensemble else { return Ok(None) };
        let refits = [&self.refit].into_iter().chain(others.iter().map(|(_, refit)| refit));
        let mut trained = Vec::with_capacity(members.len());
        for ((which, share, lines), refit) in members.iter().zip(refits) {
            let learner = &learners[*which];
            let header = MemberHeader {
                method: learner.setup.method.info().name.into(),
                parameters: refit.frame.points[refit.at].clone(),
                transform: refit.frame.transform.clone(),
                share: *share,
            };
            let models = learner.models(&refit.frame, &refit.machines, train, ctx)?;
            trained.push(TrainedMember { header, models, lines: lines.clone() });
        }
        let headers = trained.iter().map(|m| m.header.clone()).collect();
        Ok(Some((headers, ensemble::combine(trained, learners[self.which].is_regression()))))
    }

    /// Outputs for new bags, with explanations.
    pub(crate) fn answers(
        &self,
        learners: &[TrainingTask<'_>],
        train: &[usize],
        bags: &[usize],
        ctx: &Ctx,
    ) -> Result<Answers> {
        let learner = &learners[self.which];
        match self.combined(learners, train, ctx)? {
            None => learner.answers(&self.refit.frame, &self.refit.machines, train, bags, ctx),
            Some((_, model)) => {
                let there: Vec<usize> = (0..learner.tasks.len()).collect();
                learner.answers_of_models(&[model], &there, &learner.bags.select(bags), None, ctx)
            }
        }
    }
}

/// Learns from `train`, choosing by `inner` folds over it.
pub fn learn(
    learners: &[TrainingTask<'_>],
    train: &[usize],
    inner: &[Fold],
    wanted: &TrainOptions,
    ctx: &Ctx,
) -> Result<TrainedRule> {
    let Choice { which, mut tuned, together } = match learners {
        [one] => {
            let tuned = one.tune(train, inner, wanted.metric, FoldScope::PerPart, ctx)?;
            Choice { which: 0, tuned, together: None }
        }
        _ => portfolio::choose(learners, train, inner, wanted, ctx)?,
    };
    let learner = &learners[which];
    let refit = learner.refit(&mut tuned, train, ctx)?;
    let truth = learner.target.select(train);
    let out_of_fold = together.as_ref().map_or(&tuned.out_of_fold, |t| &t.out_of_fold);
    let calibration = match inner {
        // No bag has an output of a machine that had not seen it.
        [] => Calibration::default(),
        _ => Calibration::fit(&truth, out_of_fold, &learner.tasks, ctx)?,
    };
    let chosen = wanted.threshold.map(|rule| threshold(learner, &truth, out_of_fold, rule)).transpose()?;
    let (threshold, threshold_met) = (chosen.map(|c| c.threshold), chosen.is_none_or(|c| c.met));
    let mut value = tuned.value;
    let mut ensemble = None;
    if let Some(ChosenTogether { members, others, out_of_fold, instead }) = together {
        value =
            learner.judge(&truth, &out_of_fold, wanted.metric, &portfolio::folds_of(train, inner), ctx)?;
        let mut trained = Vec::with_capacity(others.len());
        for ((which, ..), mut tuned) in members.iter().skip(1).zip(others) {
            let refit = learners[*which].refit(&mut tuned, train, ctx)?;
            trained.push((tuned.point, refit));
        }
        ensemble = Some(TrainedEnsemble { members, others: trained, instead });
    }
    Ok(TrainedRule { which, tuned, refit, ensemble, value, calibration, threshold, threshold_met })
}

/// The inner-fold predictions for the training bags at the chosen point, as far as the metric needs them.
pub(super) fn inner_answers(
    learner: &TrainingTask<'_>,
    out_of_fold: &Mat,
    train: &[usize],
    inner: &[Fold],
    metric: Metric,
    ctx: &Ctx,
) -> Result<Repeat> {
    let truth = learner.target.select(train);
    let calibration = learner.calibrated_for(metric, &truth, out_of_fold, ctx)?;
    let predictions = learner.predictions(&truth, out_of_fold, &calibration, None, ctx)?;
    let folds = portfolio::folds_of(train, inner);
    Ok(Repeat { repeat: 0, fold: None, bags: train.to_vec(), folds, predictions, complete: true })
}

/// The point that is best on the folds themselves, each fold in a frame of its own, and its out-of-fold outputs:
/// the optimistic `best-on-cv`.
pub fn best(
    learners: &[TrainingTask<'_>],
    all: &[usize],
    folds: &[Fold],
    wanted: &TrainOptions,
    ctx: &Ctx,
) -> Result<(usize, Tuned)> {
    let mut tried: Vec<Tuned> = Vec::with_capacity(learners.len());
    let mut answers = Vec::with_capacity(learners.len());
    for learner in learners {
        let mut tuned = learner.tune(all, folds, wanted.metric, FoldScope::PerFold, ctx)?;
        if learners.len() > 1 {
            tuned.release();
        }
        answers.push(vec![inner_answers(learner, &tuned.out_of_fold, all, folds, wanted.metric, ctx)?]);
        tried.push(tuned);
    }
    let complexity: Vec<u32> = learners.iter().map(|l| l.setup.method.info().complexity).collect();
    let groups = learners.first().and_then(|l| l.data.groups.as_ref()).map(|g| g.codes.as_slice());
    let which = match learners {
        [_] => 0,
        _ => portfolio::simplest(&answers, groups, &complexity, wanted, ctx),
    };
    Ok((which, tried.swap_remove(which)))
}

/// The threshold by a rule, from out-of-fold outputs.
fn threshold(
    learner: &TrainingTask<'_>,
    truth: &Target,
    out_of_fold: &Mat,
    rule: Threshold,
) -> Result<Chosen> {
    rule.check(truth)?;
    let Target::Classes { codes, .. } = truth else { unreachable!("checked above") };
    let positive: Vec<bool> = codes.iter().map(|&c| c == learner.tasks[0].plus).collect();
    rule.choose(&positive, out_of_fold.data())
}

/// Trains on the bags `train` of the learners' data set, for use: what `bagwise fit` does with all of them. Without
/// inner folds there is nothing to choose by and there are no probabilities. The model does not remember its training bags.
pub fn train(
    learners: &[TrainingTask<'_>],
    train: &[usize],
    inner: impl Into<Option<Splits>>,
    wanted: &TrainOptions,
    ctx: &Ctx,
) -> Result<Model> {
    let learner = learners.first().ok_or_else(|| Error::Invalid("no method to train".into()))?;
    let data = learner.data;
    wanted.check(learner.target)?;
    let pool = bagwise_judge::Pool { target: learner.target, groups: data.groups.as_ref(), given: None };
    let inner = match inner.into() {
        Some(splits) => splits.inner(pool, train, ctx.seed, 0, 0)?,
        None => Vec::new(),
    };
    let learned = learn(learners, train, &inner, wanted, ctx).map_err(|e| e.of_data(&data.name))?;
    let learner = &learners[learned.which];
    let fits = || learned.all_machines().flat_map(|machines| machines.0.iter().flatten());
    let outcomes = fits().filter_map(|f| f.outcome);
    let rounds = || fits().filter_map(|f| f.rounds.as_ref());
    let truth = learner.target.select(train);
    let summary = TrainingSummary {
        data: data.name.clone(),
        bags: train.len(),
        instances: train.iter().map(|&b| data.bags.rows(b).len()).sum(),
        class_bags: class_bags(&truth),
        range: range(&truth),
        groups: data
            .groups
            .as_ref()
            .map(|g| train.iter().map(|&b| g.codes[b]).collect::<std::collections::BTreeSet<u32>>().len()),
        // Of the bags that were learned from, and no others.
        fingerprint: match train.len() == data.bags.len() {
            true => bagwise_judge::data_fingerprint(data)?,
            false => bagwise_judge::data_fingerprint(&data.select(train))?,
        },
        seed: ctx.seed,
        chosen_by: wanted.metric.name().into(),
        inner_value: learned.value.filter(|_| !inner.is_empty()),
        constant_value: constant_value(learner, train, &inner, wanted.metric, ctx)?,
        nested_value: None,
        inner_folds: inner.len(),
        methods: methods_of(learners),
        points: learners.iter().map(|l| l.setup.grid.points.len()).sum(),
        threshold_met: learned.threshold_met,
        not_converged: outcomes.filter(|o| !crate::method::converged(o)).count(),
        unsettled: rounds().filter(|r| r.ended != crate::method::AlternationEnd::Converged).count(),
        rounds: rounds().map(|r| r.changed.len()).max(),
    };
    model(learners, &learned, train, summary, ctx)
}

/// The value over the inner folds of one constant, the most frequent class or the mean of all training bags. That of the bags a fold
/// trains on would be worse: where a class is rare in training, it is frequent in the test bags.
fn constant_value(
    learner: &TrainingTask<'_>,
    train: &[usize],
    inner: &[Fold],
    metric: Metric,
    ctx: &Ctx,
) -> Result<Option<f64>> {
    let truth = learner.target.select(train);
    let positive = matches!(&truth, Target::Classes { names, .. } if names.len() == 2);
    if inner.is_empty() || metric.no_baseline(positive).is_some() {
        return Ok(None);
    }
    let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len().max(1) as f64;
    let all: Vec<usize> = (0..train.len()).collect();
    let constants: Vec<f64> = match &truth {
        Target::Values(values) => vec![mean(values)],
        Target::Classes { codes, .. } => {
            learner.tasks.iter().map(|task| mean(&task.problem(codes, &all).1)).collect()
        }
    };
    let folds = portfolio::folds_of(train, inner);
    let repeated = |row: &[f64]| Mat::new(train.len(), row.len(), row.repeat(train.len()));
    if learner.has_many_machines() && !metric.needs_probabilities() {
        let summary = learner.summary(&Mat::from_rows(&[constants]), metric);
        return learner.judge_summary(&truth, &repeated(summary.data()), metric, &folds);
    }
    learner.judge(&truth, &repeated(&constants), metric, &folds, ctx)
}

/// Methods among learners, of which some differ in the scaling alone.
fn methods_of(learners: &[TrainingTask<'_>]) -> usize {
    let names: std::collections::BTreeSet<&str> =
        learners.iter().map(|l| l.setup.method.info().name).collect();
    names.len()
}

/// Bags of each class; nothing for real values.
fn class_bags(truth: &Target) -> Vec<usize> {
    let Target::Classes { codes, names } = truth else { return Vec::new() };
    let mut counts = vec![0; names.len()];
    codes.iter().for_each(|&code| counts[code as usize] += 1);
    counts
}

/// The smallest and the largest value; nothing for classes.
fn range(truth: &Target) -> Option<(f64, f64)> {
    let Target::Values(values) = truth else { return None };
    let least = values.iter().copied().fold(f64::INFINITY, f64::min);
    let most = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    Some((least, most)).filter(|_| !values.is_empty())
}

/// Puts a model together from what was learned on the bags `train`.
fn model(
    learners: &[TrainingTask<'_>],
    learned: &TrainedRule,
    train: &[usize],
    training: TrainingSummary,
    ctx: &Ctx,
) -> Result<Model> {
    let learner = &learners[learned.which];
    let Refit { frame, at, machines } = &learned.refit;
    if machines.0.iter().any(Option::is_none) {
        return Err(Error::Invalid(
            "some classes have no training bags; remove these classes, or add bags".into(),
        ));
    }
    let (members, models) = match learned.combined(learners, train, ctx)? {
        Some((members, together)) => (members, vec![together]),
        None => (Vec::new(), learner.models(frame, machines, train, ctx)?),
    };
    // The similarities of several methods are not of one kind.
    let nearest = match members.is_empty() {
        true => frame.prepared(0).nearest(*at, &frame.positions(train)),
        false => None,
    };
    let (method, parameters, transform) = match members.is_empty() {
        true => (learner.setup.method.info().name, frame.points[*at].clone(), frame.transform.clone()),
        false => {
            let same = Transform::same(learner.data.bags.width(), learner.setup.impute);
            (ensemble::name(), ensemble::point(&members)?, same)
        }
    };
    let classes = match learner.target {
        Target::Classes { names, .. } => names.clone(),
        Target::Values(_) => Vec::new(),
    };
    let header = ModelHeader {
        format: FORMAT,
        version: env!("CARGO_PKG_VERSION").into(),
        method: method.into(),
        parameters,
        features: learner.data.bags.features().to_vec(),
        classes,
        tasks: learner.tasks.clone(),
        transform,
        calibration: learned.calibration.clone(),
        threshold: learned.threshold,
        familiarity: Familiarity::of(&learner.data.bags, train, nearest)?,
        training,
        reading: None,
        conformal: None,
        members,
        note: None,
    };
    Ok(Model::new(header, models))
}
