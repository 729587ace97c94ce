//! `bagwise::fit`: learns from all bags of a data set, for use.

use bagwise_core::{Ctx, Dataset, Error, Result, Target};
use bagwise_judge::{Metric, Pool, Splits, Threshold};

use crate::config::{AUTO, INNER_FOLDS, MethodConfig};
use crate::fold::{ResolvedConfig, TrainOptions, TrainingTask, train};
use crate::model::Model;
use crate::plan::{self, PlanEntry, TimeLimit, TimePlan};

/// What is to be learned, and how; [`Fit::run`] does it.
pub struct Fit<'a> {
    data: &'a Dataset,
    method: MethodConfig,
    inner: usize,
    metric: Option<Metric>,
    threshold: Option<Threshold>,
    best: bool,
    positive: Option<String>,
    weights: Option<Vec<f64>>,
    probabilities: bool,
    ctx: Ctx,
}

impl<'a> Fit<'a> {
    pub(crate) fn new(data: &'a Dataset) -> Fit<'a> {
        Fit {
            data,
            method: MethodConfig::new(AUTO),
            inner: INNER_FOLDS,
            metric: None,
            threshold: None,
            best: false,
            positive: None,
            weights: None,
            probabilities: true,
            ctx: Ctx::default(),
        }
    }

    /// The method; without one, the simplest of those that end within ten minutes on a machine of nominal speed
    /// ([`Fit::plan`]) that is not clearly worse than the best.
    pub fn method(mut self, method: impl Into<MethodConfig>) -> Fit<'a> {
        self.method = method.into();
        self
    }

    /// Inner folds, by which parameters are chosen and probabilities calibrated.
    pub fn inner(mut self, folds: usize) -> Fit<'a> {
        self.inner = folds;
        self
    }

    /// What parameters (and methods) are chosen by; accuracy, or the root mean squared error of numbers, if it is not said.
    pub fn optimize(mut self, metric: impl Into<Option<Metric>>) -> Fit<'a> {
        self.metric = metric.into();
        self
    }

    /// Where the positive class begins, chosen on training bags.
    pub fn threshold(mut self, rule: impl Into<Option<Threshold>>) -> Fit<'a> {
        self.threshold = rule.into();
        self
    }

    /// Among several methods takes the best, even if a simpler one is not clearly worse.
    pub fn best(mut self, best: bool) -> Fit<'a> {
        self.best = best;
        self
    }

    /// The positive class of two; the last if it is not said.
    pub fn positive(mut self, class: impl Into<Option<String>>) -> Fit<'a> {
        self.positive = class.into();
        self
    }

    /// What an error on each bag costs, relative to the others.
    pub fn bag_weights(mut self, weights: Vec<f64>) -> Fit<'a> {
        self.weights = Some(weights);
        self
    }

    /// Whether the model is to have probabilities. Without, and where nothing is left to choose, no inner fold is
    /// trained: one fit instead of six.
    pub fn probabilities(mut self, wanted: bool) -> Fit<'a> {
        self.probabilities = wanted;
        self
    }

    /// The seed of everything random.
    pub fn seed(mut self, seed: u64) -> Fit<'a> {
        self.ctx.seed = seed;
        self
    }

    /// Seed, memory, precision, progress and the flag to stop.
    pub fn ctx(mut self, ctx: &Ctx) -> Fit<'a> {
        self.ctx = ctx.clone();
        self
    }

    /// What is chosen from, and what that will take.
    pub fn plan(&self) -> Result<TimePlan> {
        Ok(self.setups()?.1)
    }

    /// What is chosen from, with its plan.
    fn setups(&self) -> Result<(Vec<ResolvedConfig>, TimePlan)> {
        if self.method.is_auto() {
            return plan::auto(&self.method, self.data, true, self.inner);
        }
        let setups = self.method.resolve(self.data, true)?;
        let inner = if self.chosen(&setups) && !self.probabilities { 0 } else { self.inner };
        let entry =
            PlanEntry { name: self.method.shown()?, config: self.method.clone(), needed: true, first: true };
        let cost = |setups: &[ResolvedConfig]| plan::fit_cost(setups, self.data, inner);
        let resolve = |config: &MethodConfig| config.resolve(self.data, true);
        let plan = plan::make(&[entry], TimeLimit::None, &resolve, &cost)?;
        Ok((setups, plan))
    }

    /// Whether nothing is left to choose.
    fn chosen(&self, setups: &[ResolvedConfig]) -> bool {
        setups.len() == 1 && setups[0].grid.points.len() == 1 && self.threshold.is_none()
    }

    /// Chooses, trains and calibrates.
    pub fn run(self) -> Result<Model> {
        let target = self.data.require_target()?;
        let (setups, _) = self.setups()?;
        check_best(self.best, setups.len())?;
        let mut learners = Vec::with_capacity(setups.len());
        for setup in &setups {
            let learner = TrainingTask::new(self.data, setup, self.positive.as_deref())?;
            learners.push(match &self.weights {
                Some(weights) => learner.with_bag_weights(weights.clone())?,
                None => learner,
            });
        }
        let wanted = TrainOptions {
            metric: metric_for(self.metric, target),
            threshold: self.threshold,
            best: self.best,
        };
        wanted.check(target)?;
        let all: Vec<usize> = (0..self.data.bags.len()).collect();
        if self.chosen(&setups) && !self.probabilities {
            return train(&learners, &all, None, &wanted, &self.ctx);
        }
        let splits = Splits::KFold(self.inner);
        // Found out here, because a message about folds would not say which they are.
        let pool = Pool { target, groups: self.data.groups.as_ref(), given: None };
        splits.inner(pool, &all, self.ctx.seed, 0, 0).map_err(|e| match e {
            Error::Refused { found, remedy } => {
                Error::refused(format!("{} inner folds: {found}", self.inner), remedy)
            }
            other => other,
        })?;
        train(&learners, &all, splits, &wanted, &self.ctx.sharing())
    }
}

impl MethodConfig {
    /// Learns from all bags, parameters chosen by five inner folds; [`fit`](crate::fit) has more to say.
    pub fn fit(self, data: &Dataset) -> Result<Model> {
        Fit::new(data).method(self).run()
    }
}

/// The metric that was asked for, or the usual one for what is to be predicted.
pub(crate) fn metric_for(asked: Option<Metric>, target: &Target) -> Metric {
    asked.unwrap_or(Metric::default_for(matches!(target, Target::Values(_))))
}

/// Refuses to take the best of one.
pub(crate) fn check_best(best: bool, choices: usize) -> Result<()> {
    if best && choices == 1 {
        return Err(Error::Invalid(format!(
            "best applies only to method {AUTO}; leave it out, or use {AUTO}"
        )));
    }
    Ok(())
}
