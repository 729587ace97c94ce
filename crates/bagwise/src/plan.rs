//! The plan of a run: how long it will take, and which methods and grid points fit into a given time.
//!
//! Every method says how many operations its steps take ([`Method::work`],
//! [`machine_work`](crate::method::Method::machine_work), [`answer_work`](crate::method::Method::answer_work)), from the shape
//! of the data: bags, instances, columns, classes. No value, no label and no clock reaches these counts. At
//! [`NOMINAL_SPEED`] they are seconds of a core. There is no other estimate: a plan, the time
//! that a command announces and the share that progress shows are all made of it.
//!
//! The rule of a plan: the baselines always take part; then mi-kernel, migraph and isk, then
//! the others, the cheapest before the more expensive, each with its whole grid if that fits the time that is left, else
//! with every second or every fourth value of its longest lists, else not at all. Methods that are named all take part, with fewer
//! values where one alone would take longer than [`METHOD_TIME`], or than what is left of a budget. Without a budget the time is
//! [`NOMINAL_TIME`] on [`NOMINAL_CORES`] cores, so that the same data have the same plan on every machine; the others fill only
//! a part of it. With a budget the speed of this machine is measured once, and the plan is kept with the run, so that
//! it can be repeated.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};

use bagwise_core::files::read_bounded;
use bagwise_core::{Dataset, Error, Feature, Instances, Place, Result, Target};
use bagwise_judge::{Protocol, Splits};

use crate::config::{ALL, BASELINES, FIRST, INNER_FOLDS, MethodConfig};
use crate::fold::ResolvedConfig;
use crate::method::{Method, NOMINAL_SPEED};
use crate::methods;
use crate::multiclass::tasks;
use crate::params::{Grid, Point};

/// Seconds that a run takes at most on a nominal machine if no methods are named.
pub const NOMINAL_TIME: f64 = 600.0;

/// Seconds that `auto` takes at most for one model on a nominal machine; in an evaluation, for every outer fold.
pub const AUTO_TIME: f64 = 60.0;

/// Seconds that a named method takes on a nominal machine before its grid is thinned.
pub const METHOD_TIME: f64 = 100.0;

/// Cores of a nominal machine.
pub const NOMINAL_CORES: f64 = 2.0;

/// The highest level of thinning: a quarter of the values of four lists. With fewer a method would not be judged at its best.
const MOST_THINNED: u32 = 8;

/// The part of the usual time that is filled with methods besides the first. Grids may grow, two threads of a small machine share
/// its memory, and estimates are off by up to a factor of two: what is said to end within ten minutes should do so.
pub(crate) const USUAL_SHARE: f64 = 0.6;

/// The part of a budget that is planned for: estimates are off by up to a factor of two, and a method that is stopped half-way
/// has cost time and is not ranked.
const PLANNED_SHARE: f64 = 0.8;

/// Seconds of a core that one training part takes, from reading its bags to answering for the test bags.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct FoldCost {
    /// What the whole grid shares, in all frames together.
    pub prepare: f64,
    /// Searches on all training parts, which other methods of a run may share.
    pub searches: f64,
    /// The machines of all points on all inner folds, and the final ones.
    pub machines: f64,
    /// The answers for the test bags, and why.
    pub answers: f64,
}

impl FoldCost {
    /// Everything together.
    pub fn seconds(&self) -> f64 {
        self.prepare + self.searches + self.machines + self.answers
    }
}

/// What a method costs on one training part: `train` and `test` are shares of the bags, and `inner` folds choose the point.
pub fn fold_cost(setup: &ResolvedConfig, data: &Dataset, train: f64, test: f64, inner: usize) -> FoldCost {
    let method = setup.method;
    // Points without a meaning for the training instances are not tried.
    let instances = (train * data.bags.instance_count() as f64) as usize;
    let admitted = |p: &&Point| method.admits(p, instances);
    let points: Vec<Point> = setup.grid.points.iter().filter(admitted).cloned().collect();
    let grid = match points.len() {
        0 => setup.grid.clone(),
        _ => Grid::of(method.params(), points),
    };
    let grid = &grid;
    let classes = match &data.target {
        Some(Target::Classes { names, .. }) => names.len(),
        _ => 0,
    };
    // How many machines there are, and the share of the bags that one of them sees.
    let (machines, own) = match classes {
        0..=2 => (1.0, 1.0),
        _ => {
            let all = tasks(classes, setup.scheme, 1);
            let own = if all[0].minus.is_some() { 2.0 / classes as f64 } else { 1.0 };
            (all.len() as f64, own)
        }
    };
    let points = grid.points.len() as f64;
    let inner_share = if inner > 1 { 1.0 - 1.0 / inner as f64 } else { 0.0 };
    let inner = inner as f64;
    // Pairs of instances make up most of what is prepared, so that a share of the bags takes its square of the work.
    // Copying and scaling, per value.
    let value = if matches!(data.bags.instances(), Instances::Sparse(_)) { 1200.0 } else { 350.0 };
    let values = value * data.bags.instance_count() as f64 * data.bags.values_per_instance();
    let prepare = method.work_for(&data.bags, grid) * train * train + values * train;
    let categories = data.bags.features().iter().any(Feature::is_categorical) && classes > 0;
    let prepare = match (method.learns_labels(), categories) {
        (true, _) => {
            // Every machine and every inner fold has a frame of its own.
            let strict = !grid.points.iter().all(|p| method.reuses_labels(p));
            let frames = if strict { 1.0 + inner * inner_share * inner_share } else { 1.0 };
            prepare * frames * machines * own * own
        }
        (false, true) => prepare * (1.0 + inner * inner_share * inner_share),
        (false, false) => prepare,
    };
    let search = |share: f64| machines * method.search_work(&data.bags, grid, share * own);
    let reuses = method.learns_labels() && grid.points.iter().all(|p| method.reuses_labels(p));
    let inner_searches = if reuses || inner == 0.0 { 0.0 } else { inner * search(train * inner_share) };
    let searches = search(train) + inner_searches;
    let machine = |share: f64| method.machine_work(&data.bags, grid, share * own);
    let fits = inner * machine(train * inner_share) + machine(train) / points;
    // Outputs and votes of all machines at all points: what counts where pairs of hundreds of classes have one each.
    const OUTPUT: f64 = 120.0;
    let outputs = OUTPUT * (inner.min(1.0) * points + 1.0) * machines * data.bags.len() as f64;
    let answers = match test > 0.0 {
        true => method.answer_work(&data.bags, train, test) + values * test,
        false => 0.0,
    };
    FoldCost {
        prepare: prepare / NOMINAL_SPEED,
        searches: searches / NOMINAL_SPEED,
        machines: (machines * fits + outputs) / NOMINAL_SPEED,
        answers: answers / NOMINAL_SPEED,
    }
}

/// Seconds of a core that a method of a run takes: for itself, and for searches, by what tells them apart, that others may need too.
#[derive(Clone, Debug, Default)]
pub(crate) struct RunCost {
    own: f64,
    searches: BTreeMap<String, f64>,
}

impl RunCost {
    /// Adds a method at its points, on so many training parts.
    fn add(&mut self, setup: &ResolvedConfig, data: &Dataset, parts: f64, cost: FoldCost) {
        let FoldCost { prepare, searches, machines, answers } = cost;
        self.own += parts * (prepare + machines + answers);
        match setup.method.search_name(&setup.grid) {
            None => self.own += parts * searches,
            Some(name) => {
                let several = matches!(&data.target, Some(Target::Classes { names, .. }) if names.len() > 2);
                let scheme = if several { format!("{:?}", setup.scheme) } else { String::new() };
                let name = format!("{name} {} {scheme}", setup.scale.name());
                // Methods that search one side only take the searches of both, if these are made.
                let longest = self.searches.entry(name).or_insert(0.0);
                *longest = longest.max(parts * searches);
            }
        }
    }

    /// What it takes where some searches are made already.
    fn seconds(&self, made: &BTreeMap<String, f64>) -> f64 {
        let missing = |(name, seconds): (&String, &f64)| (seconds - made.get(name).unwrap_or(&0.0)).max(0.0);
        self.own + self.searches.iter().map(missing).sum::<f64>()
    }

    /// Notes that its searches are made.
    fn make_searches(&self, made: &mut BTreeMap<String, f64>) {
        for (name, seconds) in &self.searches {
            let longest = made.entry(name.clone()).or_insert(0.0);
            *longest = longest.max(*seconds);
        }
    }
}

/// What a choice among setups takes on all folds of a protocol, with or without inner folds.
pub(crate) fn run_cost(
    setups: &[ResolvedConfig],
    data: &Dataset,
    protocol: &Protocol,
    repeats: usize,
    trains_inner: bool,
) -> RunCost {
    let bags = data.bags.len().max(2) as f64;
    let units = data.groups.as_ref().map_or(bags, |g| g.names.len() as f64);
    let (folds, test) = match protocol.outer {
        Splits::KFold(k) => (k as f64, 1.0 / k.max(2) as f64),
        Splits::Half(k) => (k as f64, 0.5),
        // Shares of a tenth, two tenths, … come to five and a half times the work, and less where it grows faster.
        Splits::Curve(k) => (5.5 * k as f64, 1.0 / k.max(2) as f64),
        Splits::LeaveOneOut => (units, 1.0 / units.max(2.0)),
        // How many there are is not known here; ten are usual.
        Splits::Given => (10.0, 0.1),
        Splits::TrainTest => (1.0, 0.3),
    };
    let one = |setup: &ResolvedConfig| match protocol.optimistic() {
        // Every point on every fold, in a frame of its own, and no inner folds.
        true => {
            let cost = fold_cost(setup, data, 1.0 - test, test, 0);
            let points = setup.grid.points.len() as f64;
            FoldCost { machines: points * cost.machines, answers: points * cost.answers, ..cost }
        }
        false => {
            let inner = match protocol.inner {
                _ if !trains_inner => 0,
                Splits::KFold(k) => k,
                _ => INNER_FOLDS,
            };
            fold_cost(setup, data, 1.0 - test, test, inner)
        }
    };
    let mut all = RunCost::default();
    setups.iter().for_each(|setup| all.add(setup, data, repeats as f64 * folds, one(setup)));
    all
}

/// What `fit` takes with so many inner folds.
pub(crate) fn fit_cost(setups: &[ResolvedConfig], data: &Dataset, inner: usize) -> RunCost {
    let mut all = RunCost::default();
    setups.iter().for_each(|setup| all.add(setup, data, 1.0, fold_cost(setup, data, 1.0, 0.0, inner)));
    all
}

/// A method of a plan.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PlannedMethod {
    /// Its name in tables.
    pub method: String,
    /// How far its grid is thinned: 0 for the whole grid; every level halves the longest list.
    pub thinned: u32,
    /// The points it chooses from.
    pub points: usize,
    /// The points of its whole grid.
    pub whole_grid: usize,
    /// What it takes, in seconds of a nominal core, where searches that it shares with earlier methods are made.
    pub seconds: f64,
}

/// A method that a plan has no time for.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct OmittedMethod {
    /// Its name.
    pub method: String,
    /// What it would take with its whole grid, in seconds of a nominal core.
    pub seconds: f64,
}

/// Which methods take part in a run and from which points they choose: everything about a run that depends on time. It is
/// settled before the first fit, and kept with the run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TimePlan {
    /// What the plan was made for: a fingerprint of the data and of all settings. Empty where nothing had to be kept.
    pub request: String,
    /// The time it was made for, in seconds; none if methods were named: then all of them take part.
    pub time: Option<f64>,
    /// True if the time is a budget of the user and the speed was measured.
    pub measured: bool,
    /// Seconds of a nominal core that the machine does in a second.
    pub speed: f64,
    /// Who takes part, in the order in which they are judged.
    pub methods: Vec<PlannedMethod>,
    /// Who does not.
    pub left_out: Vec<OmittedMethod>,
}

impl TimePlan {
    /// The plan of a run that trains nothing.
    pub(crate) fn nothing() -> TimePlan {
        TimePlan {
            request: String::new(),
            time: None,
            measured: false,
            speed: 1.0,
            methods: Vec::new(),
            left_out: Vec::new(),
        }
    }

    /// What all methods take, in seconds of a nominal core.
    pub fn core_seconds(&self) -> f64 {
        self.methods.iter().map(|m| m.seconds).sum()
    }

    /// What the run will take here, in seconds: at the measured speed, or at the nominal speed of the threads there are.
    pub fn seconds(&self) -> f64 {
        self.core_seconds() / self.here()
    }

    /// Seconds of a nominal core that are done here in a second.
    pub fn here(&self) -> f64 {
        if self.measured { self.speed } else { rayon::current_num_threads() as f64 }
    }

    /// Methods with part of their grids.
    pub fn thinned(&self) -> impl Iterator<Item = &PlannedMethod> {
        self.methods.iter().filter(|m| m.points < m.whole_grid)
    }

    /// A plan from the file that a run left.
    pub fn read(path: &Path) -> Result<TimePlan> {
        let bytes = read_bounded(path, "the plan of a run", 10_000_000)?;
        let refuse = |why: String| {
            Error::data(
                Place::of(path.display().to_string()),
                format!("this is not the plan of a run ({why})"),
                "give the plan.json that a run wrote into its folder",
            )
        };
        let plan: TimePlan = serde_json::from_slice(&bytes).map_err(|e| refuse(e.to_string()))?;
        plan.check().map_err(refuse)?;
        Ok(plan)
    }

    /// What is wrong with a plan that was edited.
    pub(crate) fn check(&self) -> std::result::Result<(), String> {
        if self.methods.is_empty() {
            return Err("it has no methods".into());
        }
        let mut names: Vec<&str> = self.methods.iter().map(|m| m.method.as_str()).collect();
        names.sort_unstable();
        if let Some(twice) = names.windows(2).find(|w| w[0] == w[1]) {
            return Err(format!("it has {} twice", twice[0]));
        }
        if let Some(other) = self.methods.iter().find(|m| m.thinned > MOST_THINNED || m.points == 0) {
            return Err(format!(
                "{} has {} points, thinned {} times",
                other.method, other.points, other.thinned
            ));
        }
        let seconds = self.methods.iter().map(|m| m.seconds).chain(self.left_out.iter().map(|m| m.seconds));
        let is_time = |t: f64| (0.0..1e15).contains(&t);
        if !(seconds.chain(self.time).all(is_time) && self.speed > 0.0 && is_time(self.speed)) {
            return Err("a time or speed in it is impossible".into());
        }
        Ok(())
    }

    /// What the plan says of a method.
    pub(crate) fn of(&self, method: &str) -> Option<&PlannedMethod> {
        self.methods.iter().find(|m| m.method == method)
    }
}

/// A method that may take part: its name in tables, what is said of it, whether it takes part in any case and whether it goes
/// before others.
#[derive(Clone)]
pub(crate) struct PlanEntry {
    pub(crate) name: String,
    pub(crate) config: MethodConfig,
    pub(crate) needed: bool,
    pub(crate) first: bool,
}

impl PlanEntry {
    /// A method under its own name.
    fn new(config: MethodConfig, method: &dyn Method) -> PlanEntry {
        let info = method.info();
        let needed = BASELINES.contains(&info.name);
        PlanEntry { name: info.name.into(), config, needed, first: FIRST.contains(&info.name) }
    }
}

/// Time for a plan, in seconds, and how fast it is used.
#[derive(Clone, Copy, Debug)]
pub(crate) enum TimeLimit {
    /// As long as it takes.
    None,
    /// Every method takes part, with fewer points where all of them take longer than [`METHOD_TIME`] on a nominal machine.
    EachMethod,
    /// So many seconds on a nominal machine, usually [`NOMINAL_TIME`], of which a share is filled.
    Nominal { time: f64, share: f64 },
    /// A budget on this machine, whose speed was measured.
    Budget {
        /// All of it.
        seconds: f64,
        /// What is left of it.
        left: f64,
        /// Seconds of a nominal core that are done in a second.
        speed: f64,
        /// Methods are named: all of them take part, and those that are not done when the time is up can be gone on with.
        named: bool,
    },
}

/// Makes the plan of some methods; `resolve` says what a method chooses from, and `cost` what that takes.
pub(crate) fn make(
    entries: &[PlanEntry],
    limit: TimeLimit,
    resolve: &dyn Fn(&MethodConfig) -> Result<Vec<ResolvedConfig>>,
    cost: &dyn Fn(&[ResolvedConfig]) -> RunCost,
) -> Result<TimePlan> {
    let planned = |entry: &PlanEntry, thinned: u32, whole_grid: usize| -> Result<(PlannedMethod, RunCost)> {
        let setups = resolve(&entry.config.clone().thinned(thinned))?;
        let points = setups.iter().map(|s| s.grid.points.len()).sum();
        let whole_grid = if thinned == 0 { points } else { whole_grid };
        let (method, cost) = (entry.name.clone(), cost(&setups));
        let seconds = cost.seconds(&BTreeMap::new());
        Ok((PlannedMethod { method, thinned, points, whole_grid, seconds }, cost))
    };
    let whole: Vec<(PlannedMethod, RunCost)> =
        entries.iter().map(|entry| planned(entry, 0, 0)).collect::<Result<_>>()?;
    let each =
        if matches!(limit, TimeLimit::EachMethod) { METHOD_TIME * NOMINAL_CORES } else { f64::INFINITY };
    let (time, speed, mut left) = match limit {
        TimeLimit::None | TimeLimit::EachMethod => (None, NOMINAL_CORES, f64::INFINITY),
        TimeLimit::Nominal { time, .. } => (Some(time), NOMINAL_CORES, time * NOMINAL_CORES),
        TimeLimit::Budget { seconds, left, speed, .. } => {
            (Some(seconds), speed, PLANNED_SHARE * left * speed)
        }
    };
    // What is left free by all but the first.
    let reserve = match limit {
        TimeLimit::Nominal { time, share } => (1.0 - share) * time * NOMINAL_CORES,
        _ => 0.0,
    };
    let named = matches!(limit, TimeLimit::EachMethod | TimeLimit::Budget { named: true, .. });
    let mut order: Vec<usize> = (0..entries.len()).collect();
    let rank = |i: usize| (!entries[i].needed, !entries[i].first);
    order.sort_by(|&a, &b| rank(a).cmp(&rank(b)).then(whole[a].0.seconds.total_cmp(&whole[b].0.seconds)));
    let mut chosen: Vec<(usize, (PlannedMethod, RunCost))> = Vec::new();
    let mut made = BTreeMap::new();
    let mut left_out: Vec<OmittedMethod> = Vec::new();
    for i in order {
        // Something is tried in any case.
        let needed = entries[i].needed || named || chosen.is_empty() && left_out.is_empty();
        let mut shortest = whole[i].clone();
        let room = if entries[i].first { left } else { left - reserve };
        let fits = |candidate: &(PlannedMethod, RunCost)| candidate.1.seconds(&made) <= room.min(each);
        for level in 1..=MOST_THINNED {
            if fits(&shortest) {
                break;
            }
            let thinner = planned(&entries[i], level, whole[i].0.points)?;
            // A level that leaves out nothing is not worth mentioning.
            if thinner.0.points < shortest.0.points {
                shortest = thinner;
            }
        }
        let best = Some(shortest).filter(|shortest| needed || fits(shortest));
        match best {
            Some(planned) => {
                left -= planned.1.seconds(&made);
                planned.1.make_searches(&mut made);
                chosen.push((i, planned));
            }
            None => {
                left_out.push(OmittedMethod { method: entries[i].name.clone(), seconds: whole[i].0.seconds })
            }
        }
    }
    // Within a budget the cheap and the useful go first, so that they are complete when the time is up.
    let measured = matches!(limit, TimeLimit::Budget { .. });
    if !measured {
        chosen.sort_by_key(|(i, _)| *i);
    }
    // Of methods that share a search the first makes it.
    let mut made = BTreeMap::new();
    let in_turn = |(_, (planned, cost)): (usize, (PlannedMethod, RunCost))| {
        let seconds = cost.seconds(&made);
        cost.make_searches(&mut made);
        PlannedMethod { seconds, ..planned }
    };
    let methods = chosen.into_iter().map(in_turn).collect();
    Ok(TimePlan { request: String::new(), time, measured, speed, methods, left_out })
}

/// The setups among which `auto` chooses, with the plan that they follow from: what `fit` ends within [`AUTO_TIME`] on a
/// nominal machine. Evaluations of `auto` choose among the same, so that what is judged is what is delivered. `all` has no
/// such limit.
pub(crate) fn auto(
    config: &MethodConfig,
    data: &Dataset,
    tuned: bool,
    inner: usize,
) -> Result<(Vec<ResolvedConfig>, TimePlan)> {
    // Checks what is said of all methods together.
    config.resolve(data, tuned)?;
    let entry = |method: &dyn Method| PlanEntry::new(config.clone().of(method.info().name), method);
    let entries: Vec<PlanEntry> = config.candidates(data).into_iter().map(entry).collect();
    // A method of a choice has several setups, which differ in the scaling.
    let of =
        |name: &str, thinned: u32| config.clone().thinned(thinned).setups(methods::find(name)?, data, tuned);
    let limit =
        if config.name == ALL { TimeLimit::None } else { TimeLimit::Nominal { time: AUTO_TIME, share: 1.0 } };
    let resolve = |own: &MethodConfig| of(&own.name, own.thinning());
    let plan = make(&entries, limit, &resolve, &|setups| fit_cost(setups, data, inner))?;
    let mut setups = Vec::new();
    for planned in &plan.methods {
        setups.extend(of(&planned.method, planned.thinned)?);
    }
    Ok((setups, plan))
}

/// Seconds of a nominal core that this machine does in a second now, on all threads together. Takes about a tenth of a second.
pub(crate) fn measure_speed() -> f64 {
    /// Long enough to average over what other programs do, and short beside any run.
    const TIME: Duration = Duration::from_millis(100);
    /// Multiply-adds of the loop below that take a nominal core a second, measured on the idle machine whose speed the nominal
    /// one is.
    const LOOP_SPEED: f64 = 7.2e9;
    let started = Instant::now();
    let done = rayon::broadcast(|_| {
        let mut sums = [0.0f64; 8];
        let values: Vec<f64> = (0..4096).map(|i| f64::from(i) * 1e-3).collect();
        let mut count = 0u64;
        while started.elapsed() < TIME {
            for chunk in values.chunks_exact(8) {
                for (sum, value) in sums.iter_mut().zip(chunk) {
                    *sum += value * value;
                }
            }
            count += values.len() as u64;
        }
        std::hint::black_box(sums);
        count
    });
    let operations: u64 = done.iter().sum();
    (operations as f64 / started.elapsed().as_secs_f64() / LOOP_SPEED).max(1e-3)
}
