//! `bagwise::fit`: learns from all bags of a data set, for use.

use std::sync::Arc;

use bagwise_core::{Ctx, Dataset, Error, Result, Target};
use bagwise_io::MapRows;
use bagwise_judge::{Fold, GroundTruth, Metric, Pool, Splits, Threshold};

use crate::config::{AUTO, INNER_FOLDS, MethodConfig};
use crate::fold::{ResolvedConfig, TrainOptions, TrainingTask, approximations, train};
use crate::model::{CalibrationBag, Conformal, Model, Prediction, class_score};
use crate::plan::{self, PlanEntry, TimeLimit, TimePlan};

/// What is to be learned, and how; [`Fit::run`] does it, and [`Fit::resolve`] tells what it will do.
pub struct Fit<'a> {
    data: &'a Dataset,
    method: MethodConfig,
    inner: Option<usize>,
    metric: Option<Metric>,
    threshold: Option<Threshold>,
    best: bool,
    positive: Option<String>,
    weights: Option<Vec<f64>>,
    probabilities: bool,
    conformal: Option<usize>,
    maps: Option<(&'a Model, Arc<MapRows>)>,
    ctx: Ctx,
}

impl<'a> Fit<'a> {
    pub(crate) fn new(data: &'a Dataset) -> Fit<'a> {
        Fit {
            data,
            method: MethodConfig::new(AUTO),
            inner: None,
            metric: None,
            threshold: None,
            best: false,
            positive: None,
            weights: None,
            probabilities: true,
            conformal: None,
            maps: None,
            ctx: Ctx::default(),
        }
    }

    /// The method; without one, `auto`: the simplest of a portfolio that ends within a minute on a machine of nominal speed
    /// ([`ResolvedFit::plan`]) within one standard error of the best, or several together unless the single one is better by more
    /// than a standard error.
    pub fn method(mut self, method: impl Into<MethodConfig>) -> Fit<'a> {
        self.method = method.into();
        self
    }

    /// Inner folds, by which parameters are chosen and probabilities calibrated. The default is five, or the number of groups if
    /// smaller.
    pub fn inner(mut self, folds: impl Into<Option<usize>>) -> Fit<'a> {
        self.inner = folds.into();
        self
    }

    fn inner_folds(&self) -> usize {
        let groups = self.data.groups.as_ref().map(|g| g.names.len());
        self.inner.unwrap_or_else(|| groups.map_or(INNER_FOLDS, |groups| groups.clamp(2, INNER_FOLDS)))
    }

    /// The metric by which parameters and methods are chosen. The default is accuracy, or RMSE for regression.
    pub fn optimize(mut self, metric: impl Into<Option<Metric>>) -> Fit<'a> {
        self.metric = metric.into();
        self
    }

    /// The decision threshold of the positive class, chosen on training bags.
    pub fn threshold(mut self, rule: impl Into<Option<Threshold>>) -> Fit<'a> {
        self.threshold = rule.into();
        self
    }

    /// Use the best of several methods, even if a simpler one is within one standard error.
    pub fn best(mut self, best: bool) -> Fit<'a> {
        self.best = best;
        self
    }

    /// The positive class of two; by default the last.
    pub fn positive(mut self, class: impl Into<Option<String>>) -> Fit<'a> {
        self.positive = class.into();
        self
    }

    /// The relative cost of an error on each bag.
    pub fn bag_weights(mut self, weights: Vec<f64>) -> Fit<'a> {
        self.weights = Some(weights);
        self
    }

    /// Whether the model has probabilities. If not, and if there is nothing to choose, no inner folds are trained: one fit
    /// instead of six.
    pub fn probabilities(mut self, wanted: bool) -> Fit<'a> {
        self.probabilities = wanted;
        self
    }

    /// Keeps the models of this many folds, each tuned and trained without the bags of its fold, for predictions with a chosen
    /// coverage ([`Model::predict_sets`], [`Model::predict_intervals`]). Training takes that many times longer, and the file is that
    /// many times larger.
    pub fn conformal(mut self, folds: impl Into<Option<usize>>) -> Fit<'a> {
        self.conformal = folds.into();
        self
    }

    /// Learns from maps that `model` made, a row for each bag of the data set, whose instances are not looked at
    /// ([`read_maps`](crate::io::read_maps)). The new model maps bags as that one does and keeps its parameters, except those of
    /// the machine that [`Fit::method`] gives; it has other weights. Everything else is as in a fit on the instances.
    pub fn maps(mut self, model: &'a Model, rows: Arc<MapRows>) -> Result<Fit<'a>> {
        if rows.rows() != self.data.bags.len() {
            return Err(Error::Invalid(format!("{} maps for {} bags", rows.rows(), self.data.bags.len())));
        }
        self.maps = Some((model, rows));
        Ok(self)
    }

    /// The random seed.
    pub fn seed(mut self, seed: u64) -> Fit<'a> {
        self.ctx.seed = seed;
        self
    }

    /// Seed, memory, precision, progress and the flag to stop.
    pub fn ctx(mut self, ctx: &Ctx) -> Fit<'a> {
        self.ctx = ctx.clone();
        self
    }

    /// What is chosen from, with its plan.
    fn setups(&self) -> Result<(Vec<ResolvedConfig>, TimePlan)> {
        let on_maps;
        let method = match &self.maps {
            None => &self.method,
            Some((model, _)) => {
                let regression = matches!(self.data.target, Some(Target::Values(_)));
                on_maps = self.method.clone().on_maps_of(&model.header, regression)?;
                &on_maps
            }
        };
        if method.is_auto() {
            return plan::auto(method, self.data, true, self.inner_folds());
        }
        let setups = method.resolve(self.data, true)?;
        let inner = if self.needs_inner(&setups) { self.inner_folds() } else { 0 };
        let entry = PlanEntry { name: method.shown()?, config: method.clone(), needed: true, first: true };
        let cost = |setups: &[ResolvedConfig]| plan::fit_cost(setups, self.data, inner);
        // Without a limit the plan takes the method as it is.
        let plan = plan::make(&[entry], TimeLimit::None, &|_| Ok(setups.clone()), &cost)?;
        Ok((setups, plan))
    }

    /// Whether inner folds have something to tell: parameters, a threshold, or probabilities.
    fn needs_inner(&self, setups: &[ResolvedConfig]) -> bool {
        has_choice(setups) || self.threshold.is_some() || self.probabilities
    }

    /// Finds out what there is to choose from and how long that takes.
    pub fn resolve(self) -> Result<ResolvedFit<'a>> {
        self.data.require_target()?;
        if self.maps.is_some() && self.conformal.is_some() {
            return Err(Error::Invalid(
                "models of folds cannot be kept with maps: they would have to answer instances".into(),
            ));
        }
        let (setups, plan) = self.setups()?;
        Ok(ResolvedFit { fit: self, setups, plan })
    }

    /// Chooses, trains and calibrates.
    pub fn run(self) -> Result<Model> {
        self.resolve()?.run()
    }

    fn train(&self, setups: &[ResolvedConfig]) -> Result<Model> {
        let target = self.data.require_target()?;
        check_best(self.best, setups.len())?;
        let mut learners = Vec::with_capacity(setups.len());
        for setup in setups {
            let learner = TrainingTask::new(self.data, setup, self.positive.as_deref())?;
            let learner = match &self.weights {
                Some(weights) => learner.with_bag_weights(weights.clone())?,
                None => learner,
            };
            learners.push(match &self.maps {
                Some((model, rows)) => learner.with_maps(model.cell_map()?, Arc::clone(rows)),
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
        let pool = Pool { target, groups: self.data.groups.as_ref(), given: None };
        // Sets of classes are made of probabilities.
        let needs_probabilities = self.conformal.is_some() && matches!(target, Target::Classes { .. });
        let needs_inner = self.needs_inner(setups) || needs_probabilities;
        let splits = needs_inner.then(|| Splits::KFold(self.inner_folds()));
        if let Some(splits) = splits {
            // Found out here, because a message about folds would not say which they are.
            splits.inner(pool, &all, self.ctx.seed, 0, 0).map_err(|e| match e {
                Error::Refused { found, remedy } => {
                    Error::refused(format!("{} inner folds: {found}", self.inner_folds()), remedy)
                }
                other => other,
            })?;
        }
        let folds = self.conformal.map(|folds| self.outer_folds(folds, pool, &all)).transpose()?;
        let mut model = train(&learners, &all, splits, &wanted, &self.ctx.sharing())?;
        model = model.remember(self.data, self.maps.is_none())?;
        if let Some((base, _)) = &self.maps {
            // Of instances only the model that made the maps knows something.
            model.header.features = base.header.features.clone();
            model.header.transform = base.header.transform.clone();
            model.header.familiarity = base.header.familiarity.clone();
            model.header.reading = base.header.reading.clone();
            model.header.training.instances = 0;
        }
        match folds {
            Some(folds) => self.with_folds(model, &learners, &folds, splits, &wanted),
            None => Ok(model),
        }
    }

    /// The folds whose models are kept: as many as asked, or as there are groups or bags.
    fn outer_folds(&self, folds: usize, pool: Pool<'_>, all: &[usize]) -> Result<Vec<Fold>> {
        let units = self.data.groups.as_ref().map_or(all.len(), |g| g.names.len());
        Splits::KFold(folds.min(units)).outer(pool, all, self.ctx.seed, 0).map_err(|e| match e {
            Error::Refused { found, remedy } => Error::refused(format!("folds to keep: {found}"), remedy),
            other => other,
        })
    }

    /// The model with those of folds, and what they say of the bags that they have not seen.
    fn with_folds(
        &self,
        mut model: Model,
        learners: &[TrainingTask<'_>],
        folds: &[Fold],
        splits: Option<Splits>,
        wanted: &TrainOptions,
    ) -> Result<Model> {
        let target = self.data.require_target()?;
        let bags = self.data.bags.len();
        let mut kept = Vec::with_capacity(folds.len());
        // Groups without bags have no number.
        let mut numbers = std::collections::BTreeMap::new();
        let mut calibration: Vec<Option<CalibrationBag>> = vec![None; bags];
        let mut said: Vec<Option<Prediction>> = vec![None; bags];
        for (k, fold) in folds.iter().enumerate() {
            self.ctx.progress.step("models of folds", k as u64, folds.len() as u64);
            let own =
                train(learners, &fold.train, splits, wanted, &self.ctx.sharing()).map_err(|e| match e {
                    Error::Cancelled => Error::Cancelled,
                    e => Error::Invalid(format!("fold {} of {} that are kept: {e}", k + 1, folds.len())),
                })?;
            let answers = own.predict_with(&self.data.bags.select(&fold.test), &self.ctx)?;
            for (&bag, answer) in fold.test.iter().zip(answers) {
                let (class, score) = match target {
                    Target::Classes { codes, .. } => {
                        (codes[bag] as usize, class_score(&answer, codes[bag] as usize))
                    }
                    Target::Values(values) => (0, (values[bag] - answer.outputs[0]).abs()),
                };
                let group = match &self.data.groups {
                    Some(groups) => {
                        let next = numbers.len();
                        *numbers.entry(groups.codes[bag]).or_insert(next)
                    }
                    None => bag,
                };
                calibration[bag] = Some(CalibrationBag { fold: k, group, class, score });
                said[bag] = Some(answer);
            }
            kept.push(own);
        }
        if let Some(said) = said.into_iter().collect::<Option<Vec<Prediction>>>() {
            let all: Vec<usize> = (0..bags).collect();
            let truth = GroundTruth::new(self.data, self.positive.as_deref())?;
            let judged = truth.predictions(&model.scored(&all, &said))?;
            model.header.training.nested_value = wanted.metric.value(&judged);
        }
        let calibration = calibration.into_iter().flatten().collect();
        Ok(model.with_conformal(Conformal::new(kept, self.data.groups.is_some(), calibration)))
    }
}

/// A fit whose candidates are known: [`ResolvedFit::run`] trains them.
pub struct ResolvedFit<'a> {
    fit: Fit<'a>,
    setups: Vec<ResolvedConfig>,
    plan: TimePlan,
}

impl ResolvedFit<'_> {
    /// The candidates, and the time they will take.
    pub fn plan(&self) -> &TimePlan {
        &self.plan
    }

    /// What will be only approximate: sentences, mostly none.
    pub fn approximations(&self) -> Vec<String> {
        approximations(&self.setups, self.fit.data)
    }

    /// Whether a method or parameters are chosen, so that the value over the inner folds is optimistic.
    pub fn has_choice(&self) -> bool {
        has_choice(&self.setups)
    }

    /// Chooses, trains and calibrates.
    pub fn run(self) -> Result<Model> {
        self.fit.train(&self.setups)
    }
}

/// Whether there is more than one candidate.
fn has_choice(setups: &[ResolvedConfig]) -> bool {
    setups.iter().map(|setup| setup.grid.points.len()).sum::<usize>() > 1
}

impl MethodConfig {
    /// Trains on all bags, with parameters chosen on five inner folds; [`fit`](crate::fit) has more options.
    pub fn fit(self, data: &Dataset) -> Result<Model> {
        Fit::new(data).method(self).run()
    }
}

/// The metric requested, or the usual one for what is to be predicted.
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
