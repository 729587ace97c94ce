//! `bagwise::evaluate` and `bagwise::compare`: methods on the same folds of a data set, honestly judged. This is the one
//! place for what such a run is made of: which methods take part, the protocol and its defaults, budgets, the folder, and
//! what comes out. The command line, Python and experiments say what they want with [`Evaluate`] and word what they get.

use std::borrow::Cow;
use std::collections::{BTreeSet, HashSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use bagwise_core::{Ctx, Dataset, Error, Message, Result, Setting, Silent};
use bagwise_judge::{
    FoldPlan, GroundTruth, Interval, Key, MethodSummary, Metric, Protocol, ProtocolName, Record, Threshold,
    often_on_edge, summarise, that_saw_test_bags,
};

use crate::config::{BASELINES, MethodConfig, ParamText, able};
use crate::fit::{INNER_FOLDS, check_best, metric_for};
use crate::methods;
use crate::run::{Candidate, Keep, RecordStore, Run, RunPlan, Verdict, estimate_seconds};

pub use crate::fold::LEVEL;

/// What happens while a run goes on, for whoever shows it.
pub enum Event<'e> {
    /// A method would take the run beyond its budget and is left out.
    Skipped {
        /// The method.
        method: &'e str,
        /// What it would take, in seconds.
        seconds: f64,
    },
    /// Everything is checked; fits begin.
    Started {
        /// The data.
        data: &'e Dataset,
        /// The methods.
        candidates: &'e [Candidate],
        /// How they are judged.
        plan: &'e RunPlan,
        /// Fits that are there already.
        done: usize,
        /// All fits.
        total: usize,
        /// What the whole run may take, in seconds.
        seconds: f64,
        /// Where records are kept, if the user is to know.
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
        /// Its line of the table, which will not change any more.
        line: &'e MethodSummary,
    },
    /// Everything is done.
    Finished {
        /// The data.
        data: &'e Dataset,
        /// What came out.
        evaluation: &'e Evaluation,
    },
}

/// What is to be judged, and how; [`Evaluate::run`] does it. The same call goes on where it was stopped.
pub struct Evaluate<'a> {
    data: Cow<'a, Dataset>,
    methods: Vec<MethodConfig>,
    /// Applied to methods that are not configured one by one.
    each: MethodConfig,
    baselines: bool,
    /// One method is judged, so that its value is not that of the best of several.
    one: bool,
    params: Vec<(String, String)>,
    protocol: Option<ProtocolName>,
    folds: Option<usize>,
    inner: usize,
    repeats: usize,
    given: Option<Vec<String>>,
    level: f64,
    metric: Option<Metric>,
    threshold: Option<Threshold>,
    best: bool,
    positive: Option<String>,
    budget: Option<Duration>,
    keep: Keep,
    ctx: Ctx,
    watch: Option<Box<dyn FnMut(&Event<'_>) -> Result<()> + Send + 'a>>,
}

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
            inner: INNER_FOLDS,
            repeats: 1,
            given: None,
            level: LEVEL,
            metric: None,
            threshold: None,
            best: false,
            positive: None,
            budget: None,
            keep: Keep::default(),
            ctx: Ctx::default(),
            watch: None,
        }
    }

    /// The methods: names, `all`, `auto`, or [`MethodConfig`]s. Without any, all.
    pub fn methods<M: Into<MethodConfig>>(mut self, methods: impl IntoIterator<Item = M>) -> Evaluate<'a> {
        self.methods = methods.into_iter().map(Into::into).collect();
        self
    }

    /// Scaling, multi-class scheme, weights and so on of the methods that are given by name.
    pub fn each(mut self, config: MethodConfig) -> Evaluate<'a> {
        self.each = config;
        self
    }

    /// Judges one method, and refuses several.
    pub(crate) fn one(mut self) -> Evaluate<'a> {
        self.one = true;
        self
    }

    /// Whether the baselines take part, as they do in every comparison.
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

    /// How methods are judged: nested, or by given folds where there are some, if it is not said.
    pub fn protocol(mut self, name: impl Into<Option<ProtocolName>>) -> Evaluate<'a> {
        self.protocol = name.into();
        self
    }

    /// Outer folds, or halves: ten, or as many as there are groups or bags, and five halves, if it is not said.
    pub fn folds(mut self, folds: impl Into<Option<usize>>) -> Evaluate<'a> {
        self.folds = folds.into();
        self
    }

    /// Inner folds, by which parameters are chosen.
    pub fn inner(mut self, folds: usize) -> Evaluate<'a> {
        self.inner = folds;
        self
    }

    /// How often the folds are drawn again.
    pub fn repeats(mut self, repeats: usize) -> Evaluate<'a> {
        self.repeats = repeats;
        self
    }

    /// The fold of each bag, for the protocols `given` and `train-test`.
    pub fn given_folds(mut self, folds: impl Into<Option<Vec<String>>>) -> Evaluate<'a> {
        self.given = folds.into();
        self
    }

    /// Judges by these bags; those of the data are all training.
    pub fn test(mut self, test: &Dataset) -> Result<Evaluate<'a>> {
        let train = self.data.bags.len();
        let data = self.data.into_owned().with_test(test)?;
        let part = |bag: usize| if bag < train { "train" } else { "test" };
        self.given = Some((0..data.bags.len()).map(|bag| part(bag).to_string()).collect());
        self.protocol = Some(ProtocolName::TrainTest);
        self.data = Cow::Owned(data);
        Ok(self)
    }

    /// Level of intervals and tests; [`LEVEL`] if it is not said.
    pub fn level(mut self, level: f64) -> Evaluate<'a> {
        self.level = level;
        self
    }

    /// What inner folds choose by, and methods are ranked by.
    pub fn optimize(mut self, metric: impl Into<Option<Metric>>) -> Evaluate<'a> {
        self.metric = metric.into();
        self
    }

    /// Where the positive class begins, chosen on training bags.
    pub fn threshold(mut self, rule: impl Into<Option<Threshold>>) -> Evaluate<'a> {
        self.threshold = rule.into();
        self
    }

    /// Lets `auto` take the best, even if a simpler method is not clearly worse.
    pub fn best(mut self, best: bool) -> Evaluate<'a> {
        self.best = best;
        self
    }

    /// The positive class of two; the last if it is not said.
    pub fn positive(mut self, class: impl Into<Option<String>>) -> Evaluate<'a> {
        self.positive = class.into();
        self
    }

    /// Leaves out methods that would take the run beyond this time.
    pub fn budget(mut self, time: impl Into<Option<Duration>>) -> Evaluate<'a> {
        self.budget = time.into();
        self
    }

    /// Keeps records, folds and predictions in a folder; one that holds part of the same run is completed.
    pub fn folder(self, folder: impl Into<PathBuf>) -> Evaluate<'a> {
        self.keep(Keep::Folder(folder.into()))
    }

    /// Where records are kept.
    pub fn keep(mut self, keep: Keep) -> Evaluate<'a> {
        self.keep = keep;
        self
    }

    /// The seed of folds and everything else random.
    pub fn seed(mut self, seed: u64) -> Evaluate<'a> {
        self.ctx.seed = seed;
        self
    }

    /// Seed, memory, precision, progress and the flag to stop.
    pub fn ctx(mut self, ctx: &Ctx) -> Evaluate<'a> {
        self.ctx = ctx.clone();
        self
    }

    /// Somebody to be told what happens; an error ends the run.
    pub fn watch(mut self, watch: impl FnMut(&Event<'_>) -> Result<()> + Send + 'a) -> Evaluate<'a> {
        self.watch = Some(Box::new(watch));
        self
    }

    /// The data that are judged on, those of [`Evaluate::test`] included.
    pub fn data(&self) -> &Dataset {
        &self.data
    }

    /// How methods will be judged.
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
        let split = |folds: &Vec<String>| folds.iter().all(|f| f == "train" || f == "test");
        if self.protocol.is_none() && self.given.as_ref().is_some_and(split) {
            return Err(Error::refused(
                "the folds are called train and test",
                Message::from("use one split")
                    .with([Setting::Protocol("train-test")])
                    .or(Message::from("test both parts").with([Setting::Protocol("given")])),
            ));
        }
        if !(self.level > 0.0 && self.level < 1.0) {
            return Err(Error::Invalid(format!(
                "level {} is not between 0 and 1; use a value such as 0.95",
                self.level
            )));
        }
        let units = self.data.groups.as_ref().map_or(self.data.bags.len(), |g| g.names.len());
        let folds = self.folds.unwrap_or(name.default_folds(units));
        Ok(RunPlan {
            protocol: Protocol::new(name, folds, self.inner),
            metric: metric_for(self.metric, target),
            threshold: self.threshold,
            best: self.best,
            positive: self.positive.clone(),
            precision: self.ctx.precision,
            seed: self.ctx.seed,
            repeats: self.repeats,
        })
    }

    /// The protocol that was asked for, or what the other settings mean.
    fn protocol_name(&self) -> ProtocolName {
        let usual = if self.given.is_some() { ProtocolName::Given } else { ProtocolName::Nested };
        self.protocol.unwrap_or(usual)
    }

    /// Everybody who takes part, each once, with what it chooses from.
    fn candidates(&self) -> Result<Vec<Candidate>> {
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
        let tuned = self.protocol_name().tunes();
        let candidate = |(name, config): (String, MethodConfig)| -> Result<Candidate> {
            Ok(Candidate { name, setups: config.resolve(&self.data, tuned)? })
        };
        names.into_iter().zip(unique).map(candidate).collect()
    }

    /// Gives each method its parameters.
    fn hand_out_params(&self, names: &[String], configs: &mut [MethodConfig]) -> Result<()> {
        for (key, value) in &self.params {
            match key.split_once('.') {
                None if configs.len() == 1 && !configs[0].is_auto() => {
                    configs[0].params.push((key.clone(), value.clone()));
                }
                None => {
                    return Err(Error::Invalid(format!(
                        "parameter {key} must name its method if there are several; write METHOD.{key}"
                    )));
                }
                Some((of, own)) => {
                    let of = methods::find(of)?.info().name;
                    let own = (own.to_string(), value.clone());
                    let auto = (key.clone(), value.clone());
                    let mut taken = false;
                    for (name, config) in names.iter().zip(configs.iter_mut()) {
                        if name == of {
                            config.params.push(own.clone());
                            taken = true;
                        } else if config.is_auto() {
                            config.params.push(auto.clone());
                            taken = true;
                        }
                    }
                    if !taken {
                        return Err(Error::Invalid(format!(
                            "parameter {key}: {of} is not among the methods compared"
                        )));
                    }
                }
            }
        }
        Ok(())
    }

    /// Judges every method on every fold, except for what was judged before.
    pub fn run(mut self) -> Result<Evaluation> {
        let mut watch = self.watch.take();
        let mut tell = |event: &Event<'_>| watch.as_mut().map_or(Ok(()), |watch| watch(event));
        let plan = self.plan()?;
        let mut candidates = self.candidates()?;
        if self.one && candidates.len() > 1 {
            return Err(Error::Invalid("evaluate takes one method; use compare for several".into()));
        }
        check_best(self.best, candidates.iter().map(|c| c.setups.len()).max().unwrap_or(1))?;
        let (seconds, skipped) = self.within_budget(&mut candidates, &plan, &mut tell)?;
        let data: &Dataset = &self.data;
        let run = Run::new(data, &candidates, &plan, self.given.as_deref())?;
        let started = Instant::now();
        let mut store = RecordStore::open(&self.keep, &run)?;
        let known: HashSet<Key> = store.records().map(|r| r.key.clone()).collect();
        // A run that is completed took what its earlier sessions took as well; fits go one after another, so their times add up.
        let earlier: f64 = store.records().map(|r| r.seconds).sum();
        let (total, mut done) = (run.len(), known.len());
        let folder = store.folder.clone();
        tell(&Event::Started {
            data,
            candidates: &candidates,
            plan: &plan,
            done,
            total,
            seconds,
            folder: folder.as_deref(),
            torn: store.torn().as_deref(),
        })?;
        // Fits are counted here; what goes on inside one would only make a bar flicker.
        let mut inside = self.ctx.clone();
        inside.progress = Arc::new(Silent);
        let what = format!("fits on {}", data.name);
        self.ctx.progress.step(&what, done as u64, total as u64);
        run.execute(
            &|key| known.contains(key),
            &mut |record| {
                done += 1;
                store.append(record.clone())?;
                self.ctx.progress.step(&what, done as u64, total as u64);
                tell(&Event::Fitted { record: &record, done, total })?;
                let of_method = || store.records().filter(|r| r.key.method == record.key.method);
                if of_method().count() < total / candidates.len().max(1) {
                    return Ok(());
                }
                let own: Vec<Record> = of_method().cloned().collect();
                let table = summarise(&own, &run.roster, &[plan.metric], self.level)?;
                table.iter().try_for_each(|line| tell(&Event::Judged { line }))
            },
            &inside,
        )?;
        let (roster, folds) = (run.roster, run.folds);
        let records = store.sorted();
        let optimistic = plan.protocol.optimistic();
        let verdict = Verdict::new(&records, &roster, plan.metric, self.level, optimistic)?;
        let folder = store.finish(&records, &roster, &verdict)?;
        let elapsed = started.elapsed() + Duration::try_from_secs_f64(earlier).unwrap_or_default();
        let evaluation = Evaluation {
            verdict,
            plan,
            candidates,
            records,
            roster,
            folds,
            skipped,
            elapsed,
            folder,
            resumed: !known.is_empty(),
        };
        tell(&Event::Finished { data: &self.data, evaluation: &evaluation })?;
        Ok(evaluation)
    }

    /// Roughly how long the run takes, in seconds, and what was left out to stay within the budget.
    fn within_budget(
        &self,
        candidates: &mut Vec<Candidate>,
        plan: &RunPlan,
        tell: &mut dyn FnMut(&Event<'_>) -> Result<()>,
    ) -> Result<(f64, Vec<String>)> {
        let threads = rayon::current_num_threads() as f64;
        let estimate = |c: &Candidate| estimate_seconds(c, &self.data, plan) / threads;
        let estimates: Vec<f64> = candidates.iter().map(estimate).collect();
        let Some(budget) = self.budget else { return Ok((estimates.iter().sum(), Vec::new())) };
        let mut left = budget.as_secs_f64();
        let mut order: Vec<usize> = (0..candidates.len()).collect();
        order.sort_by(|&a, &b| estimates[a].total_cmp(&estimates[b]));
        let mut keep = vec![true; candidates.len()];
        let mut skipped = Vec::new();
        for i in order {
            // Without its baselines a comparison says nothing.
            if estimates[i] <= left || BASELINES.contains(&candidates[i].name.as_str()) {
                left -= estimates[i];
            } else {
                keep[i] = false;
                tell(&Event::Skipped { method: &candidates[i].name, seconds: estimates[i] })?;
                skipped.push(candidates[i].name.clone());
            }
        }
        let mut kept = keep.iter();
        candidates.retain(|_| *kept.next().expect("one for each"));
        let seconds = estimates.iter().zip(&keep).filter(|(_, kept)| **kept).map(|(s, _)| s).sum();
        Ok((seconds, skipped))
    }
}

/// The name that stands for every method that can learn the data.
const ALL: &str = "all";

/// What came out of a run.
pub struct Evaluation {
    /// Methods from best to worst, and what that means.
    pub verdict: Verdict,
    /// How methods were judged.
    pub plan: RunPlan,
    /// Who took part.
    pub candidates: Vec<Candidate>,
    /// One record per fit, sorted by key.
    pub records: Vec<Record>,
    /// The bags and their labels.
    pub roster: GroundTruth,
    /// The folds.
    pub folds: FoldPlan,
    /// Methods that were left out to stay within the budget.
    pub skipped: Vec<String>,
    /// The time it took, earlier sessions included.
    pub elapsed: Duration,
    /// Where records, folds and predictions are.
    pub folder: Option<PathBuf>,
    /// Whether some fits were there already.
    pub resumed: bool,
}

impl Evaluation {
    /// Repeats there were; one where the folds are not drawn at random.
    pub fn repeats(&self) -> usize {
        self.folds.repeats.len()
    }

    /// Fits that failed, with the first reason.
    pub fn failures(&self) -> Option<String> {
        let failed: Vec<&Record> = self.records.iter().filter(|r| !r.succeeded()).collect();
        let first = failed.first()?;
        let why = first.outcome.message.as_deref().unwrap_or("no reason given");
        Some(format!(
            "{} of {} fits failed; the first, {}: {why}",
            failed.len(),
            self.records.len(),
            first.key
        ))
    }

    /// The methods, if any, that drew on the bags they were judged by.
    pub fn saw_test_bags(&self) -> Option<String> {
        let methods = that_saw_test_bags(&self.records);
        (!methods.is_empty()).then(|| {
            format!(
                "{} used the features of test bags (pool=all), so the estimate is optimistic",
                methods.join(" and ")
            )
        })
    }

    /// Chosen parameters that sit at the end of their grid in most fits, one sentence per method.
    pub fn edges(&self) -> Vec<String> {
        let methods: BTreeSet<&str> = self.records.iter().map(|r| r.key.method.as_str()).collect();
        let sentence = |method: &str| {
            let often = often_on_edge(self.records.iter().filter(|r| r.key.method == method));
            let list: Vec<String> = often.iter().map(ToString::to_string).collect();
            let list = list.join(" and ");
            (!often.is_empty())
                .then(|| format!("{method} chose {list} at the end of the grid; try a wider grid"))
        };
        methods.into_iter().filter_map(sentence).collect()
    }
}

/// A table with the metric that decides, its interval, how each method stands to the best, and by what difference, interval
/// and p; then the verdict.
impl std::fmt::Display for Evaluation {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let width = self.verdict.table.iter().map(|line| line.method.len()).max().unwrap_or(0).max(6);
        let number = |v: Option<f64>| v.map_or(String::new(), |v| format!("{v:.3}"));
        let ends =
            |i: Option<Interval>| i.map_or(String::new(), |i| format!("{:.3} to {:.3}", i.low, i.high));
        let name = self.plan.metric.name();
        write!(f, "{:width$}  {name:>10}  {:16}  {:22}", "method", "interval", "against best")?;
        writeln!(f, "  {:>10}  {:16}  {:>6}", "difference", "interval", "p")?;
        for (i, line) in self.verdict.table.iter().enumerate() {
            let (value, interval) = (number(line.metrics[0].mean), ends(line.metrics[0].interval));
            let standing = self.verdict.standing[i].as_str();
            let row = format!("{:width$}  {value:>10}  {interval:16}  {standing:22}", line.method);
            let found = self.verdict.against_best[i].map_or(String::new(), |found| {
                let (d, p) = (number(found.value), number(found.p));
                format!("  {d:>10}  {:16}  {p:>6}", ends(found.interval))
            });
            writeln!(f, "{}", format!("{row}{found}").trim_end())?;
        }
        write!(f, "{}", self.verdict.sentence())
    }
}
