//! `bagwise::evaluate` and `bagwise::compare`: methods on the same folds of a data set. Only this file defines what
//! such a run consists of: which methods take part, the protocol and its defaults, budgets, the folder, and what comes
//! out. The command line, Python and experiments configure it with [`Evaluate`] and format the results.

mod cautions;
mod external;
mod fits;
mod meter;
mod outcome;
mod parameters;

use std::borrow::Cow;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use bagwise_core::{Clock, Ctx, Dataset, Error, Message, Result, Setting, SystemClock};
use bagwise_judge::{
    FoldPlan, MethodSummary, Metric, Pool, Protocol, ProtocolName, Record, Splits, Threshold,
    data_fingerprint, fingerprint,
};
use cautions::parts_of_one_split;

use crate::config::{ALL, AUTO, BASELINES, FIRST, INNER_FOLDS, MethodConfig, ParamText, able};
use crate::fit::metric_for;
use crate::fold::ResolvedConfig;
use crate::methods;
use crate::plan::{self, PlanEntry, TimeLimit, TimePlan, USUAL_SHARE};
use crate::run::{Candidate, OutsidePrediction, RecordLocation, Run, RunPlan, Shard, Verdict, kept_plan};

pub use crate::fold::LEVEL;
pub use external::{calibration_line, labelled_like, unknown_label, validate};
use fits::Fits;
pub use outcome::Evaluation;

/// An event of a run, to be displayed.
pub enum Event<'e> {
    /// Everything is checked; fits begin.
    Started {
        /// The data.
        data: &'e Dataset,
        /// The methods.
        candidates: &'e [Candidate],
        /// How they are judged.
        plan: &'e RunPlan,
        /// Fits that were already done.
        done: usize,
        /// All fits.
        total: usize,
        /// The methods that fit the time, and their estimated times.
        time: &'e TimePlan,
        /// The folder of the records, if the user should know it.
        folder: Option<&'e Path>,
        /// A file whose last line was torn when the run ended before, and is dropped.
        torn: Option<&'e Path>,
    },
    /// A fit is done.
    Fitted {
        /// Its record.
        record: &'e Record,
        /// Fits that are done.
        done: usize,
        /// All fits.
        total: usize,
    },
    /// The last fit of a method is done.
    Judged {
        /// Its final line in the table.
        line: &'e MethodSummary,
    },
    /// Everything is done.
    Finished {
        /// The data.
        data: &'e Dataset,
        /// The result.
        evaluation: &'e Evaluation,
    },
}

/// The configuration of an evaluation; [`Evaluate::run`] runs it. The same call resumes an interrupted run.
pub struct Evaluate<'a> {
    data: Cow<'a, Dataset>,
    methods: Vec<MethodConfig>,
    /// Applied to methods that are not configured one by one.
    each: MethodConfig,
    baselines: bool,
    /// Evaluates a single method, so that its value is not that of the best of several.
    one: bool,
    params: Vec<(String, String)>,
    protocol: Option<ProtocolName>,
    folds: Option<usize>,
    inner: Option<usize>,
    repeats: usize,
    given: Option<Vec<String>>,
    level: f64,
    metric: Option<Metric>,
    threshold: Option<Threshold>,
    best: bool,
    positive: Option<String>,
    probabilities: bool,
    budget: Option<Duration>,
    nominal_time: Duration,
    whole_grids: bool,
    clock: Option<Arc<dyn Clock>>,
    time: Option<TimePlan>,
    keep: RecordLocation,
    overwrite: bool,
    outside: Vec<(String, Vec<OutsidePrediction>)>,
    ctx: Ctx,
    watch: Option<Box<dyn FnMut(&Event<'_>) -> Result<()> + Send + 'a>>,
}

/// The maximum number of repeats: more would not change any digit of a result.
const MOST_REPEATS: usize = 10_000;

impl<'a> Evaluate<'a> {
    pub(crate) fn new(data: &'a Dataset) -> Evaluate<'a> {
        Evaluate {
            data: Cow::Borrowed(data),
            methods: Vec::new(),
            each: MethodConfig::default(),
            baselines: false,
            one: false,
            params: Vec::new(),
            protocol: None,
            folds: None,
            inner: None,
            repeats: 1,
            given: None,
            level: LEVEL,
            metric: None,
            threshold: None,
            best: false,
            positive: None,
            probabilities: false,
            budget: None,
            nominal_time: Duration::from_secs_f64(plan::NOMINAL_TIME),
            whole_grids: false,
            clock: None,
            time: None,
            keep: RecordLocation::default(),
            overwrite: false,
            outside: Vec::new(),
            ctx: Ctx::default(),
            watch: None,
        }
    }

    /// The methods: names, `all`, `auto`, or [`MethodConfig`]s. The default is those that finish within ten minutes on a machine
    /// of nominal speed ([`TimePlan`]).
    pub fn methods<M: Into<MethodConfig>>(mut self, methods: impl IntoIterator<Item = M>) -> Evaluate<'a> {
        self.methods = methods.into_iter().map(Into::into).collect();
        self
    }

    /// Scaling, multi-class scheme, weights and so on of the methods that are given by name.
    pub fn each(mut self, config: MethodConfig) -> Evaluate<'a> {
        self.each = config;
        self
    }

    /// Evaluates one method; several are an error.
    pub(crate) fn one(mut self) -> Evaluate<'a> {
        self.one = true;
        self
    }

    /// Whether the baselines are included, as in every comparison.
    pub fn baselines(mut self, take_part: bool) -> Evaluate<'a> {
        self.baselines = take_part;
        self
    }

    /// A parameter of a method given by name, as `METHOD.KEY`, or as `KEY` where there is one method.
    pub fn param(mut self, key: impl Into<String>, value: impl ParamText) -> Evaluate<'a> {
        self.params.push((key.into(), value.text()));
        self
    }

    /// Several parameters, each as [`Evaluate::param`] takes it.
    pub fn params<K: AsRef<str>, V: ParamText>(self, all: &[(K, V)]) -> Evaluate<'a> {
        all.iter().fold(self, |evaluate, (key, value)| evaluate.param(key.as_ref(), value))
    }

    /// The protocol. The default is nested, or given if folds are given.
    pub fn protocol(mut self, name: impl Into<Option<ProtocolName>>) -> Evaluate<'a> {
        self.protocol = name.into();
        self
    }

    /// The number of outer folds, or of random halves. The default is ten, or the number of groups or bags if smaller; five
    /// halves.
    pub fn folds(mut self, folds: impl Into<Option<usize>>) -> Evaluate<'a> {
        self.folds = folds.into();
        self
    }

    /// Inner folds, by which parameters are chosen. The default is five, or the number of groups in a training part if smaller.
    pub fn inner(mut self, folds: impl Into<Option<usize>>) -> Evaluate<'a> {
        self.inner = folds.into();
        self
    }

    /// The number of repeats, each with new random folds.
    pub fn repeats(mut self, repeats: usize) -> Evaluate<'a> {
        self.repeats = repeats;
        self
    }

    /// The fold of each bag, for the protocols `given` and `train-test`.
    pub fn given_folds(mut self, folds: impl Into<Option<Vec<String>>>) -> Evaluate<'a> {
        self.given = folds.into();
        self
    }

    /// Tests on these bags; all bags of the data are then used for training.
    pub fn test(mut self, test: &Dataset) -> Result<Evaluate<'a>> {
        let train = self.data.bags.len();
        let data = self.data.into_owned().with_test(test)?;
        let part = |bag: usize| if bag < train { "train" } else { "test" };
        self.given = Some((0..data.bags.len()).map(|bag| part(bag).to_string()).collect());
        self.protocol = Some(ProtocolName::TrainTest);
        self.data = Cow::Owned(data);
        Ok(self)
    }

    /// The level of intervals and tests; by default [`LEVEL`].
    pub fn level(mut self, level: f64) -> Evaluate<'a> {
        self.level = level;
        self
    }

    /// The metric by which inner folds choose and methods are ranked.
    pub fn optimize(mut self, metric: impl Into<Option<Metric>>) -> Evaluate<'a> {
        self.metric = metric.into();
        self
    }

    /// The decision threshold of the positive class, chosen on training bags.
    pub fn threshold(mut self, rule: impl Into<Option<Threshold>>) -> Evaluate<'a> {
        self.threshold = rule.into();
        self
    }

    /// Makes `auto` use the best method, even if a simpler one is within one standard error.
    pub fn best(mut self, best: bool) -> Evaluate<'a> {
        self.best = best;
        self
    }

    /// The positive class of two; by default the last.
    pub fn positive(mut self, class: impl Into<Option<String>>) -> Evaluate<'a> {
        self.positive = class.into();
        self
    }

    /// Whether to compute probabilities even if no method has parameters to choose. Inner folds are then trained only for the
    /// probabilities: six fits instead of one. Otherwise probabilities come from the inner folds that chose the parameters.
    pub fn probabilities(mut self, wanted: bool) -> Evaluate<'a> {
        self.probabilities = wanted;
        self
    }

    /// Makes a plan for this time at the speed of this machine, and stops when the time is up. A fit is either complete or not
    /// recorded. The same call continues with the same plan, also with another budget. Methods that you name are always in it.
    pub fn budget(mut self, time: impl Into<Option<Duration>>) -> Evaluate<'a> {
        self.budget = time.into();
        self
    }

    /// If no methods are named, run those that finish within this time on two ordinary cores, instead of ten minutes. Unlike a
    /// budget, this chooses the same methods on every machine.
    pub fn nominal_time(mut self, time: Duration) -> Evaluate<'a> {
        self.nominal_time = time;
        self
    }

    /// Whether methods that are named choose from their whole grids, whatever it takes. Otherwise one that would take longer than
    /// [`METHOD_TIME`](crate::plan::METHOD_TIME) has fewer points; parameters that are given keep all their values.
    pub fn whole_grids(mut self, whole: bool) -> Evaluate<'a> {
        self.whole_grids = whole;
        self
    }

    /// The clock by which the budget is counted, from its zero on. By default time counts from [`Evaluate::run`] on.
    pub fn clock(mut self, clock: Arc<dyn Clock>) -> Evaluate<'a> {
        self.clock = Some(clock);
        self
    }

    /// Repeats the plan of another run ([`TimePlan::read`]): its methods with its points.
    pub fn time_plan(mut self, plan: impl Into<Option<TimePlan>>) -> Evaluate<'a> {
        self.time = plan.into();
        self
    }

    /// Includes a method whose predictions were computed elsewhere, on the folds of this run ([`Evaluate::fold_plan`], or
    /// `folds.json` in the folder of an earlier run).
    pub fn outside(mut self, name: impl Into<String>, predictions: Vec<OutsidePrediction>) -> Evaluate<'a> {
        self.outside.push((name.into(), predictions));
        self
    }

    /// The folds that methods will be tested on.
    pub fn fold_plan(&self) -> Result<FoldPlan> {
        let plan = self.plan()?;
        Ok(Run::new(&self.data, &[], &plan, self.given.as_deref())?.folds)
    }

    /// Writes records, folds and predictions to a folder. If it contains part of the same run, the run resumes.
    pub fn folder(self, folder: impl Into<PathBuf>) -> Evaluate<'a> {
        self.keep(RecordLocation::Folder(folder.into()))
    }

    /// Where records are stored.
    pub fn keep(mut self, keep: RecordLocation) -> Evaluate<'a> {
        self.keep = keep;
        self
    }

    /// Whether files in the folder that bagwise did not write may be replaced by those of the run. Otherwise they are an error
    /// before the first fit.
    pub fn overwrite(mut self, overwrite: bool) -> Evaluate<'a> {
        self.overwrite = overwrite;
        self
    }

    /// The random seed, also of the folds.
    pub fn seed(mut self, seed: u64) -> Evaluate<'a> {
        self.ctx.seed = seed;
        self
    }

    /// Seed, memory, precision, progress and the flag to stop.
    pub fn ctx(mut self, ctx: &Ctx) -> Evaluate<'a> {
        self.ctx = ctx.clone();
        self
    }

    /// A function that is called for every event; an error ends the run.
    pub fn watch(mut self, watch: impl FnMut(&Event<'_>) -> Result<()> + Send + 'a) -> Evaluate<'a> {
        self.watch = Some(Box::new(watch));
        self
    }

    /// The data of the run, including those of [`Evaluate::test`].
    pub fn data(&self) -> &Dataset {
        &self.data
    }

    /// The resolved plan: protocol, folds and metric.
    fn plan(&self) -> Result<RunPlan> {
        let target = self.data.require_target()?;
        let name = self.protocol_name();
        let takes_given = matches!(name, ProtocolName::Given | ProtocolName::TrainTest);
        if takes_given && self.given.is_none() {
            return Err(Error::refused(
                format!("protocol {} needs the fold of each bag", name.as_str()),
                Message::from("give it").with([Setting::GivenFolds]),
            ));
        }
        if self.folds.is_some() && (takes_given || name == ProtocolName::Loo) {
            return Err(Error::Invalid(format!(
                "protocol {} does not take a number of folds; leave one of them out",
                name.as_str()
            )));
        }
        if let (None, Some(given)) = (&self.protocol, &self.given)
            && let Some(doubt) = parts_of_one_split(given)
        {
            return Err(doubt);
        }
        if !(self.level > 0.0 && self.level < 1.0) {
            return Err(Error::Invalid(format!(
                "level {} is not between 0 and 1; use a value such as 0.95",
                self.level
            )));
        }
        let units = self.data.groups.as_ref().map_or(self.data.bags.len(), |g| g.names.len());
        let folds = self.folds.unwrap_or(name.default_folds(units));
        // All folds of all repeats are drawn before the first fit.
        let most = MOST_REPEATS.max(units) * 100;
        if folds > most {
            return Err(Error::Invalid(format!(
                "{folds} folds are more than can be kept; use at most {most}"
            )));
        }
        if self.repeats > MOST_REPEATS || folds.saturating_mul(self.repeats) > most {
            return Err(Error::Invalid(format!(
                "{} repeats of {folds} folds are more than can be kept; use at most {} repeats",
                self.repeats,
                MOST_REPEATS.min(most / folds.max(1))
            )));
        }
        Ok(RunPlan {
            protocol: Protocol::new(
                name,
                folds,
                self.inner_folds(Protocol::new(name, folds, INNER_FOLDS).outer)?,
            ),
            metric: metric_for(self.metric, target),
            threshold: self.threshold,
            best: self.best,
            positive: self.positive.clone(),
            precision: self.ctx.precision,
            seed: self.ctx.seed,
            repeats: self.repeats,
            probabilities: self.probabilities || metric_for(self.metric, target).needs_probabilities(),
        })
    }

    /// The number of inner folds: no more than any training part has groups. What divides in no way is refused with the reason
    /// when the run starts.
    fn inner_folds(&self, outer: Splits) -> Result<usize> {
        let (None, Some(groups)) = (self.inner, &self.data.groups) else {
            return Ok(self.inner.unwrap_or(INNER_FOLDS));
        };
        let pool =
            Pool { target: self.data.require_target()?, groups: Some(groups), given: self.given.as_deref() };
        let Ok(folds) = FoldPlan::new(outer, pool, self.ctx.seed, self.repeats) else {
            return Ok(INNER_FOLDS);
        };
        let groups_in = |part: &[usize]| {
            let mut seen: Vec<u32> = Vec::new();
            for &bag in part {
                if seen.len() < INNER_FOLDS && !seen.contains(&groups.codes[bag]) {
                    seen.push(groups.codes[bag]);
                }
            }
            seen.len()
        };
        let fewest = folds.repeats.iter().flatten().map(|fold| groups_in(&fold.train)).min();
        Ok(fewest.unwrap_or(INNER_FOLDS).max(2))
    }

    /// The protocol requested, or what the other settings mean.
    fn protocol_name(&self) -> ProtocolName {
        let usual = if self.given.is_some() { ProtocolName::Given } else { ProtocolName::Nested };
        self.protocol.unwrap_or(usual)
    }

    /// All candidate methods, each once, with its name in tables.
    fn entries(&self) -> Result<Vec<PlanEntry>> {
        let named = |name: &str| self.each.clone().of(name);
        let mut configs: Vec<MethodConfig> = Vec::new();
        let all = [MethodConfig::new(ALL)];
        let asked = if self.methods.is_empty() { &all } else { self.methods.as_slice() };
        for config in asked {
            match config.name.as_str() {
                ALL if config.is_plain() => configs.extend(able(&self.data).map(|m| named(m.info().name))),
                ALL => configs.extend(able(&self.data).map(|m| config.clone().of(m.info().name))),
                name if config.is_plain() => configs.push(named(name)),
                _ => configs.push(config.clone()),
            }
        }
        if self.baselines {
            configs.extend(BASELINES.map(named));
        }
        // The choice among methods stands beside them, if there is time for it.
        let name = self.protocol_name();
        if self.baselines && self.methods.is_empty() && name.tunes() && name != ProtocolName::BestOnCv {
            configs.push(named(AUTO));
        }
        let mut names: Vec<String> = Vec::new();
        let mut unique: Vec<MethodConfig> = Vec::new();
        for config in configs {
            let shown = config.shown()?;
            match names.iter().position(|name| *name == shown) {
                None => {
                    names.push(shown);
                    unique.push(config);
                }
                // The same method named twice is one; two settings of it are two, and need two names.
                Some(at) if unique[at] == config || BASELINES.contains(&shown.as_str()) => {}
                Some(_) => {
                    return Err(Error::Invalid(format!(
                        "two settings are called {shown}; give each its own name"
                    )));
                }
            }
        }
        self.hand_out_params(&names, &mut unique)?;
        let entry = |(name, config): (String, MethodConfig)| {
            let needed = self.baselines && BASELINES.contains(&name.as_str());
            let first = methods::find(&config.name).is_ok_and(|m| FIRST.contains(&m.info().name));
            PlanEntry { name, config, needed, first }
        };
        Ok(names.into_iter().zip(unique).map(entry).collect())
    }

    /// The grid of a method.
    fn resolve(&self, config: &MethodConfig) -> Result<Vec<ResolvedConfig>> {
        let tuned = self.protocol_name().tunes();
        match config.is_auto() {
            true => Ok(plan::auto(config, &self.data, tuned, self.inner.unwrap_or(INNER_FOLDS))?.0),
            false => config.resolve(&self.data, tuned),
        }
    }

    /// The plan: a repeated one, one for the budget, or, if no methods are named, one for ten minutes at nominal speed.
    fn time_plan_of(&self, entries: &[PlanEntry], plan: &RunPlan, clock: &dyn Clock) -> Result<TimePlan> {
        let setups: Vec<Vec<ResolvedConfig>> =
            entries.iter().map(|e| self.resolve(&e.config)).collect::<Result<_>>()?;
        let trains_inner = plan.trains_inner(setups.iter().map(Vec::as_slice));
        let cost = |setups: &[ResolvedConfig]| {
            plan::run_cost(setups, &self.data, &plan.protocol, plan.repeats, trains_inner)
        };
        let make = |limit: TimeLimit| plan::make(entries, limit, &|config| self.resolve(config), &cost);
        if let Some(given) = &self.time {
            return self.repeated(given, entries);
        }
        let Some(budget) = self.budget else {
            let nominal = TimeLimit::Nominal { time: self.nominal_time.as_secs_f64(), share: USUAL_SHARE };
            return make(match self.methods.is_empty() {
                true => nominal,
                false if self.whole_grids || self.methods.iter().any(|m| m.name == ALL) => TimeLimit::None,
                false => TimeLimit::EachMethod,
            });
        };
        let asked: Vec<String> = entries.iter().map(|e| format!("{} {:?}", e.name, e.config)).collect();
        let data = data_fingerprint(&self.data)?;
        // Not the budget: with more time a run that was begun goes on as it was planned.
        let request = fingerprint(&(env!("CARGO_PKG_VERSION"), data, plan, &self.given, asked));
        let kept = kept_plan(&self.keep, &request).map(|kept| self.repeated(&kept, entries)).transpose()?;
        let seconds = budget.as_secs_f64();
        let folder = matches!(self.keep, RecordLocation::Folder(_) | RecordLocation::FolderNamed(_));
        let longer = |kept: &TimePlan| folder && !kept.left_out.is_empty() && kept.time < Some(seconds);
        if let Some(kept) = kept.clone().filter(|kept| !longer(kept)) {
            return Ok(kept);
        }
        let left = (seconds - clock.now().as_secs_f64()).max(0.0);
        let named = !self.methods.is_empty() && self.methods.iter().all(|m| m.name != ALL);
        let limit = |left: f64, speed: f64| TimeLimit::Budget { seconds, left, speed, named };
        let speed = plan::measure_speed();
        let Some(kept) = kept else { return Ok(TimePlan { request, ..make(limit(left, speed))? }) };
        // What was begun stays as it is, and the time beyond is for methods that were left out.
        let rest = limit(left - kept.core_seconds() / speed, speed);
        let is_new = |e: &&PlanEntry| kept.of(&e.name).is_none();
        let more: Vec<PlanEntry> = entries.iter().filter(is_new).cloned().collect();
        let more = plan::make(&more, rest, &|config| self.resolve(config), &cost)?;
        let methods = [kept.methods, more.methods].concat();
        Ok(TimePlan { request, methods, ..more })
    }

    /// A plan that was made before, if it is one for these methods.
    fn repeated(&self, plan: &TimePlan, entries: &[PlanEntry]) -> Result<TimePlan> {
        plan.check().map_err(|why| Error::Invalid(format!("the plan cannot be repeated: {why}")))?;
        for planned in &plan.methods {
            let points = match entries.iter().find(|e| e.name == planned.method) {
                Some(entry) => self.resolve(&entry.config.clone().thinned(planned.thinned))?,
                None => Vec::new(),
            };
            let points: usize = points.iter().map(|s| s.grid.points.len()).sum();
            if points != planned.points {
                return Err(Error::Invalid(format!(
                    "the plan was made for other settings: it has {} with {} points, but here there are {points}; \
                     use the settings that it was made for",
                    planned.method, planned.points
                )));
            }
        }
        Ok(plan.clone())
    }

    /// The methods of a plan, in its order.
    fn candidates(&self, time: &TimePlan, entries: &[PlanEntry]) -> Result<Vec<Candidate>> {
        let mut candidates = Vec::new();
        for planned in &time.methods {
            if let Some(entry) = entries.iter().find(|e| e.name == planned.method) {
                let setups = self.resolve(&entry.config.clone().thinned(planned.thinned))?;
                candidates.push(Candidate { name: entry.name.clone(), setups });
            }
        }
        Ok(candidates)
    }

    /// The estimated time of the whole run; nothing is run.
    pub fn time(&self) -> Result<TimePlan> {
        self.time_plan_of(&self.entries()?, &self.plan()?, &SystemClock::since(Instant::now()))
    }

    /// Evaluates every method on every fold, except for fits that this run or its shards have already done.
    pub fn run(mut self) -> Result<Evaluation> {
        let started = Instant::now();
        let mut watch = self.watch.take();
        let mut tell = |event: &Event<'_>| watch.as_mut().map_or(Ok(()), |watch| watch(event));
        let Fits { plan, candidates, time, roster, folds, store, known, earlier, total, of_method } =
            self.fits(None, started, &mut tell)?;
        let mut records = store.sorted();
        // Those of a method that takes no part this time stay in the folder.
        let takes_part = |r: &Record| {
            let name = &r.key.method;
            candidates.iter().any(|c| c.name == *name)
                || self.outside.iter().any(|(outside, _)| outside == name)
        };
        records.retain(takes_part);
        let fits = |method: &str| records.iter().filter(|r| r.key.method == method).count();
        let short =
            |c: &Candidate| Some((c.name.clone(), fits(&c.name))).filter(|(_, fits)| *fits < of_method);
        let incomplete: Vec<(String, usize)> = candidates.iter().filter_map(short).collect();
        records.retain(|r| incomplete.iter().all(|(method, _)| *method != r.key.method));
        if records.is_empty() {
            return Err(Error::refused(
                format!(
                    "the time was up before any method was tested on all folds; {} of {total} fits are kept",
                    incomplete.iter().map(|(_, fits)| fits).sum::<usize>()
                ),
                Message::from("repeat it to continue, or allow more time").with([Setting::Budget]),
            ));
        }
        let optimistic = plan.protocol.optimistic();
        let verdict = Verdict::new(&records, &roster, plan.metric, self.level, optimistic)?;
        let folder = store.finish(&records, &roster, &verdict, incomplete.is_empty())?;
        let elapsed = started.elapsed() + Duration::try_from_secs_f64(earlier).unwrap_or_default();
        let evaluation = Evaluation {
            verdict,
            plan,
            candidates,
            records,
            roster,
            folds,
            time,
            incomplete,
            elapsed,
            folder,
            resumed: known > 0,
        };
        tell(&Event::Finished { data: &self.data, evaluation: &evaluation })?;
        Ok(evaluation)
    }

    /// Runs the fits of one shard, except for those already done, and returns its records. When all shards are done,
    /// [`Evaluate::run`] collects their records and compares the methods.
    pub fn run_shard(mut self, shard: Shard) -> Result<Vec<Record>> {
        if self.budget.is_some() {
            let found = "a time budget depends on the speed of one machine, but shards run on several";
            return Err(Error::refused(found, "make the plan first, and repeat it in every shard"));
        }
        let mut watch = self.watch.take();
        let mut tell = |event: &Event<'_>| watch.as_mut().map_or(Ok(()), |watch| watch(event));
        Ok(self.fits(Some(shard), Instant::now(), &mut tell)?.store.sorted())
    }
}
