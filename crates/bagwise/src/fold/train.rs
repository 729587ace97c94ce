//! From training bags to a decision rule, for one method or a choice among several: tune by inner folds, choose,
//! fit on the whole training part, calibrate and set the threshold from out-of-fold outputs. Evaluation calls this
//! for every outer fold and `fit` for all bags, so that what is judged is what is delivered.

use super::{FoldScope, Machines, PreparedFold, Refit, TrainingTask, Tuned};
use crate::calibrate::Calibration;
use crate::familiar::Familiarity;
use crate::model::{FORMAT, Model, ModelHeader, TrainingSummary};
use bagwise_core::{Ctx, Error, Mat, Result, Target};
use bagwise_judge::{Chosen, Fold, Influences, Metric, Repeat, Splits, Standing, Threshold, recommended};

/// Level of intervals and tests where nothing is said.
pub const LEVEL: f64 = 0.95;

/// What is asked for besides the method.
#[derive(Clone, Copy, Debug)]
pub struct TrainOptions {
    /// What inner folds select by.
    pub metric: Metric,
    /// How the threshold of a two-class problem is chosen; 0 if not given.
    pub threshold: Option<Threshold>,
    /// Among several methods take the best, even if a simpler one is not clearly worse.
    pub best: bool,
}

impl TrainOptions {
    /// Chosen by a metric, no threshold, of several methods the simplest that is not clearly worse than the best.
    pub fn by(metric: Metric) -> TrainOptions {
        TrainOptions { metric, threshold: None, best: false }
    }

    /// Refuses what has no meaning for this target, before any work.
    pub fn check(&self, target: &Target) -> Result<()> {
        self.metric.check(target)?;
        self.threshold.map_or(Ok(()), |rule| rule.check(target))
    }
}

/// A decision rule and how it came about.
pub struct TrainedRule {
    /// Which of the learners was chosen.
    pub which: usize,
    /// What tuning found for it.
    pub tuned: Tuned,
    /// Its machines.
    pub(crate) refit: Refit,
    /// Outputs to probabilities.
    pub calibration: Calibration,
    /// From here on the positive class; above 0 if not given.
    pub threshold: Option<f64>,
    /// False if the rule for the threshold could not be met on the training bags.
    pub threshold_met: bool,
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
}

/// Learns from `train`, choosing by `inner` folds over it.
pub fn learn(
    learners: &[TrainingTask<'_>],
    train: &[usize],
    inner: &[Fold],
    wanted: &TrainOptions,
    ctx: &Ctx,
) -> Result<TrainedRule> {
    let (which, mut tuned) = choose(learners, FoldScope::PerPart, train, inner, wanted, ctx)?;
    let learner = &learners[which];
    let refit = learner.refit(&mut tuned, train, ctx)?;
    let truth = learner.target.select(train);
    let calibration = match inner {
        // No bag has an output of a machine that had not seen it.
        [] => Calibration::default(),
        _ => Calibration::fit(&truth, &tuned.out_of_fold, &learner.tasks, ctx)?,
    };
    let chosen =
        wanted.threshold.map(|rule| threshold(learner, &truth, &tuned.out_of_fold, rule)).transpose()?;
    let (threshold, threshold_met) = (chosen.map(|c| c.threshold), chosen.is_none_or(|c| c.met));
    Ok(TrainedRule { which, tuned, refit, calibration, threshold, threshold_met })
}

/// Tunes every learner and chooses among them: by the rule of [`recommended`], what inner folds said of the bags compared as
/// a verdict compares methods.
fn choose(
    learners: &[TrainingTask<'_>],
    frames: FoldScope,
    train: &[usize],
    inner: &[Fold],
    wanted: &TrainOptions,
    ctx: &Ctx,
) -> Result<(usize, Tuned)> {
    let mut tried: Vec<Tuned> = Vec::with_capacity(learners.len());
    let mut answers = Vec::with_capacity(learners.len());
    for (i, learner) in learners.iter().enumerate() {
        if learners.len() > 1 {
            let what = format!("{} on {}", learner.setup.method.info().name, learner.data.name);
            ctx.progress.step(&what, i as u64, learners.len() as u64);
        }
        let mut tuned = learner.tune(train, inner, wanted.metric, frames, ctx)?;
        if learners.len() > 1 {
            // Grams of all candidates together may not fit; the chosen one is prepared again.
            tuned.release();
            let of_bags = inner_answers(learner, &tuned.out_of_fold, train, inner, wanted.metric, ctx)?;
            answers.push(vec![of_bags]);
        }
        tried.push(tuned);
    }
    if learners.len() == 1 {
        return Ok((0, tried.swap_remove(0)));
    }
    let groups = learners[0].data.groups.as_ref().map(|g| g.codes.as_slice());
    let influences = Influences::new(&answers, groups, wanted.metric, ctx.seed);
    let best = influences.best().unwrap_or(0);
    let which = if wanted.best {
        best
    } else {
        let found = influences.against(best, true, LEVEL, ctx.seed);
        let standings: Vec<Standing> =
            found.iter().map(|d| d.map_or(Standing::Best, |d| d.standing)).collect();
        let complexity: Vec<u32> = learners.iter().map(|l| l.setup.method.info().complexity).collect();
        recommended(best, &standings, &complexity)
    };
    Ok((which, tried.swap_remove(which)))
}

/// What inner folds said of the training bags, at the chosen point, as far as the metric looks at it.
fn inner_answers(
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
    let tests = |fold: &Fold, bag: &usize| fold.test.binary_search(bag).is_ok();
    let folds = train.iter().map(|bag| inner.iter().position(|f| tests(f, bag)).unwrap_or(0)).collect();
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
    choose(learners, FoldScope::PerFold, all, folds, wanted, ctx)
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
/// inner folds there is nothing to choose by and there are no probabilities.
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
    let learned = learn(learners, train, &inner, wanted, ctx)?;
    let learner = &learners[learned.which];
    let outcomes = learned.refit.machines.0.iter().flatten().filter_map(|f| f.outcome);
    let rounds = || learned.refit.machines.0.iter().flatten().filter_map(|f| f.rounds.as_ref());
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
        inner_value: learned.tuned.values[learned.tuned.best].filter(|_| !inner.is_empty()),
        nested_value: None,
        inner_folds: inner.len(),
        methods: learners.len(),
        points: learners.iter().map(|l| l.setup.grid.points.len()).sum(),
        threshold_met: learned.threshold_met,
        not_converged: outcomes.filter(|o| !crate::method::converged(o)).count(),
        unsettled: rounds().filter(|r| r.ended != crate::method::Ended::Converged).count(),
        rounds: rounds().map(|r| r.changed.len()).max(),
    };
    model(learner, &learned, train, summary, ctx)
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
    learner: &TrainingTask<'_>,
    learned: &TrainedRule,
    train: &[usize],
    training: TrainingSummary,
    ctx: &Ctx,
) -> Result<Model> {
    let Refit { frame, at, machines } = &learned.refit;
    if machines.0.iter().any(Option::is_none) {
        return Err(Error::Invalid(
            "some classes have no training bags; remove these classes, or add bags".into(),
        ));
    }
    let models = learner.models(frame, machines, train, ctx)?;
    let nearest = frame.prepared(0).nearest(*at, &frame.positions(train));
    let classes = match learner.target {
        Target::Classes { names, .. } => names.clone(),
        Target::Values(_) => Vec::new(),
    };
    let header = ModelHeader {
        format: FORMAT,
        version: env!("CARGO_PKG_VERSION").into(),
        method: learner.setup.method.info().name.into(),
        parameters: frame.points[*at].clone(),
        features: learner.data.bags.features().to_vec(),
        classes,
        tasks: learner.tasks.clone(),
        transform: frame.transform.clone(),
        calibration: learned.calibration.clone(),
        threshold: learned.threshold,
        familiarity: Familiarity::of(&learner.data.bags, train, nearest)?,
        training,
        reading: None,
        conformal: None,
        note: None,
    };
    Ok(Model::new(header, models))
}
