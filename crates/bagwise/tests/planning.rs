//! Plans and budgets through the front door: what a run does never depends on the clock, except for where it stops.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use bagwise::judge::Record;
use bagwise::plan::{FoldCost, METHOD_TIME, NOMINAL_CORES, NOMINAL_TIME, fold_cost};
use bagwise::{Clock, Ctx, Dataset, Error, Evaluate, Event, MethodConfig, TimePlan, compare, fit, read};

/// A clock that stands still until somebody moves it.
#[derive(Default)]
struct Stopped(AtomicU64);

impl Stopped {
    fn pass(&self, seconds: u64) {
        self.0.fetch_add(seconds, Ordering::SeqCst);
    }
}

impl Clock for Stopped {
    fn now(&self) -> Duration {
        Duration::from_secs(self.0.load(Ordering::SeqCst))
    }
}

/// Records as they are written, without times.
fn lines<'r>(records: impl IntoIterator<Item = &'r Record>) -> Vec<String> {
    let timeless = |r: &Record| serde_json::to_string(&Record { seconds: 0.0, ..r.clone() }).unwrap();
    records.into_iter().map(timeless).collect()
}

/// What a folder keeps of a run, without times.
fn kept(folder: &std::path::Path) -> Vec<String> {
    let text = std::fs::read_to_string(folder.join("records.jsonl")).unwrap();
    let records: Vec<Record> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    lines(&records)
}

fn small() -> Dataset {
    read("synthetic:gauss?bags=40&features=3").unwrap()
}

/// One fold after another: folds of little data are fitted as many at a time as there are threads.
fn one_by_one<T: Send>(run: impl FnOnce() -> T + Send) -> T {
    rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap().install(run)
}

/// A comparison whose plan does not depend on how fast this machine is: an hour for a second's work.
fn hour(data: &Dataset) -> Evaluate<'_> {
    compare(data).methods(["mi-kernel", "wmksvm", "migraph"]).folds(4).budget(Duration::from_secs(3600))
}

/// Lets more than an hour pass when so many fits are done.
fn time_is_up_after(
    fits: usize,
    clock: &Arc<Stopped>,
) -> impl FnMut(&Event<'_>) -> bagwise::Result<()> + Send + use<> {
    let slow = Arc::clone(clock);
    move |event| {
        if let Event::Fitted { done, .. } = event
            && *done == fits
        {
            slow.pass(4000);
        }
        Ok(())
    }
}

#[test]
fn a_slow_clock_leaves_a_subset_of_the_same_records_and_the_same_call_goes_on() {
    let data = small();
    let home = tempfile::tempdir().unwrap();
    let whole = home.path().join("whole");
    let found = hour(&data).clock(Arc::new(Stopped::default())).folder(&whole).run().unwrap();
    assert!(found.incomplete.is_empty());
    let whole = kept(&whole);
    // The time is up after nine fits: two methods are complete, the third has one fold of four.
    let part = home.path().join("part");
    let clock = Arc::new(Stopped::default());
    let watch = time_is_up_after(9, &clock);
    let short = one_by_one(|| hour(&data).clock(clock).folder(&part).watch(watch).run().unwrap());
    let stopped = kept(&part);
    assert_eq!(stopped.len(), 9);
    assert_eq!(stopped, whole[..9], "what was done is what the whole run does, byte for byte");
    let lacking: Vec<&str> = short.incomplete.iter().map(|(method, _)| method.as_str()).collect();
    assert_eq!(short.incomplete[0].1, 1, "one fold of four");
    assert_eq!(lacking.len(), short.time.methods.len() - 2);
    let ranked: Vec<&str> = short.verdict.table.iter().map(|line| line.method.as_str()).collect();
    assert!(lacking.iter().all(|method| !ranked.contains(method)), "{ranked:?}");
    // The same call has the same plan and does the rest.
    let plan = TimePlan::read(&part.join("plan.json")).unwrap();
    let rest = hour(&data).clock(Arc::new(Stopped::default())).folder(&part).run().unwrap();
    assert_eq!(rest.time, plan);
    assert!(rest.resumed && rest.incomplete.is_empty());
    assert_eq!(kept(&part), whole);
}

#[test]
fn folds_that_end_together_are_all_kept_when_the_time_is_up() {
    let data = small();
    let home = tempfile::tempdir().unwrap();
    let (whole, part) = (home.path().join("whole"), home.path().join("part"));
    hour(&data).clock(Arc::new(Stopped::default())).folder(&whole).run().unwrap();
    let clock = Arc::new(Stopped::default());
    let watch = time_is_up_after(9, &clock);
    let pool = rayon::ThreadPoolBuilder::new().num_threads(3).build().unwrap();
    let run = || hour(&data).clock(clock).folder(&part).watch(watch).run();
    pool.install(run).unwrap();
    // Folds 0 to 2 of the third method are fitted side by side; the first of them is the ninth fit.
    assert_eq!(kept(&part), kept(&whole)[..11]);
}

#[test]
fn a_deadline_reaches_into_a_fit() {
    // One fit of it takes many minutes, so that only a cancelled one ends in time.
    let data = read("synthetic:gauss?bags=400&min=40&max=60&features=60").unwrap();
    let started = std::time::Instant::now();
    let outcome = compare(&data).methods(["dd"]).baselines(false).budget(Duration::from_millis(500)).run();
    let Err(Error::Refused { found, .. }) = outcome else { panic!("nothing can be complete") };
    assert!(found.contains("0 of 10 fits are kept"), "{found}");
    // Two seconds are promised; the rest is for a busy machine.
    assert!(started.elapsed() < Duration::from_secs(60), "{:?}", started.elapsed());
}

#[test]
fn ctrl_c_is_told_from_a_deadline() {
    let data = small();
    let ctx = Ctx::default();
    ctx.canceller().store(true, Ordering::Relaxed);
    let outcome = hour(&data).clock(Arc::new(Stopped::default())).ctx(&ctx).run();
    assert!(matches!(outcome, Err(Error::Cancelled)));
}

#[test]
fn a_plan_follows_from_the_size_of_the_data_alone() {
    // 30,000 instances of 384 columns, which are never all made.
    let large = "synthetic:embeddings?bags=120&instances=250&features=384";
    let plan =
        |seed: u64| fit(&read(format!("{large}&seed={seed}")).unwrap()).resolve().unwrap().plan().clone();
    let first = plan(0);
    assert_eq!(first, plan(1));
    let one = rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
    assert_eq!(first, one.install(|| plan(0)), "threads change what it takes, not what is done");
    let names: Vec<&str> = first.methods.iter().map(|m| m.method.as_str()).collect();
    let data = read(large).unwrap();
    let compared = compare(&data).time().unwrap();
    let of_compare: Vec<&str> = compared.methods.iter().map(|m| m.method.as_str()).collect();
    for method in ["majority", "simple-mi", "mi-kernel", "migraph", "isk"] {
        // What chooses a method to fit has less time than a comparison.
        assert!(method == "isk" || names.contains(&method), "{method} is not in {names:?}");
        assert!(of_compare.contains(&method), "{method} is not in {of_compare:?}");
    }
    assert!(first.core_seconds() <= NOMINAL_TIME * NOMINAL_CORES);
    assert!(!first.measured && first.left_out.iter().all(|l| !names.contains(&l.method.as_str())));
    // Small data leave out no search, nor any point.
    let small = fit(&read("musk1").unwrap()).resolve().unwrap().plan().clone();
    let names: Vec<&str> = small.methods.iter().map(|m| m.method.as_str()).collect();
    assert!(names.contains(&"isk") && names.contains(&"migraph"), "{names:?}");
    assert_eq!(small.thinned().count(), 0, "{small:?}");
}

#[test]
fn a_plan_is_repeated_from_its_file_and_refused_for_other_settings() {
    let data = small();
    let home = tempfile::tempdir().unwrap();
    let first = hour(&data).clock(Arc::new(Stopped::default())).folder(home.path().join("a")).run().unwrap();
    let plan = TimePlan::read(&home.path().join("a/plan.json")).unwrap();
    assert_eq!(plan, first.time);
    let again = |methods: &[&'static str]| {
        compare(&data).methods(methods.iter().copied()).folds(4).time_plan(plan.clone()).run()
    };
    let repeated = again(&["mi-kernel", "wmksvm", "migraph"]).unwrap();
    assert_eq!(repeated.time, plan);
    assert_eq!(lines(&repeated.records), lines(&first.records));
    let refused = again(&["mi-kernel", "wmksvm"]).err().map_or(String::new(), |e| e.to_string());
    assert!(refused.contains("migraph") && refused.contains("other settings"), "{refused}");
    let broken = home.path().join("broken.json");
    std::fs::write(&broken, "{}").unwrap();
    assert!(TimePlan::read(&broken).unwrap_err().to_string().contains("not the plan of a run"));
}

/// A plan may come from somebody else.
#[test]
fn a_plan_that_was_edited_is_refused() {
    let home = tempfile::tempdir().unwrap();
    let (folder, file) = (home.path().join("run"), home.path().join("plan.json"));
    compare(&small()).methods(["simple-mi"]).folds(2).inner(2).folder(&folder).run().unwrap();
    let good: serde_json::Value =
        serde_json::from_slice(&std::fs::read(folder.join("plan.json")).unwrap()).unwrap();
    let edits: [(&str, fn(&mut serde_json::Value)); 7] = [
        ("it has no methods", |p| p["methods"] = serde_json::json!([])),
        ("twice", |p| p["methods"] = vec![p["methods"][1].clone(), p["methods"][1].clone()].into()),
        ("thinned 4294967295 times", |p| p["methods"][0]["thinned"] = u32::MAX.into()),
        ("0 points", |p| p["methods"][0]["points"] = 0.into()),
        ("impossible", |p| p["speed"] = 0.into()),
        ("impossible", |p| p["methods"][0]["seconds"] = (-1).into()),
        ("impossible", |p| p["time"] = 1e300.into()),
    ];
    for (why, edit) in edits {
        let mut plan = good.clone();
        edit(&mut plan);
        std::fs::write(&file, plan.to_string()).unwrap();
        let error = TimePlan::read(&file).unwrap_err().to_string();
        assert!(error.contains(why) && error.contains("give the plan.json"), "{why}: {error}");
    }
    std::fs::write(&file, good.to_string()).unwrap();
    assert!(TimePlan::read(&file).is_ok());
}

#[test]
fn a_short_budget_thins_grids_then_leaves_methods_out_and_keeps_the_baselines() {
    let data = read("synthetic:gauss?bags=400&min=20&max=30&features=20").unwrap();
    let clock = Arc::new(Stopped::default());
    let mut seen = None;
    let watch = |event: &Event<'_>| {
        if let Event::Started { time, .. } = event {
            seen = Some((*time).clone());
            return Err(Error::Cancelled);
        }
        Ok(())
    };
    let outcome = compare(&data).budget(Duration::from_secs(1)).clock(clock).watch(watch).run();
    assert!(matches!(outcome, Err(Error::Cancelled)));
    let plan: TimePlan = seen.unwrap();
    let names: Vec<&str> = plan.methods.iter().map(|m| m.method.as_str()).collect();
    assert!(names.contains(&"majority") && names.contains(&"simple-mi"), "{names:?}");
    assert!(plan.measured && plan.left_out.iter().any(|l| l.method == "dd-svm"), "{plan:?}");
}

/// The plan of a run and how many of its fits are there, as it begins.
fn begun(run: Evaluate<'_>) -> (TimePlan, usize) {
    let mut seen = None;
    let watch = |event: &Event<'_>| {
        if let Event::Started { time, done, .. } = event {
            seen = Some(((*time).clone(), *done));
        }
        Err(Error::Cancelled)
    };
    assert!(matches!(run.watch(watch).run(), Err(Error::Cancelled)));
    seen.unwrap()
}

#[test]
fn named_methods_take_part_within_any_budget_and_go_on_with_a_longer_one() {
    let data = small();
    let home = tempfile::tempdir().unwrap();
    let folder = home.path().join("run");
    let clock = Arc::new(Stopped::default());
    // The time is up after five fits, of twelve and those of the baselines.
    let watch = time_is_up_after(5, &clock);
    let short =
        || hour(&data).budget(Duration::from_millis(1)).clock(clock).folder(&folder).watch(watch).run();
    let short = one_by_one(short).unwrap();
    assert!(short.time.left_out.is_empty() && short.time.methods.len() == 5, "{:?}", short.time);
    assert_eq!(kept(&folder).len(), 5);
    let (plan, done) = begun(hour(&data).clock(Arc::new(Stopped::default())).folder(&folder));
    assert_eq!((plan, done), (short.time, 5));
    let whole = hour(&data).clock(Arc::new(Stopped::default())).folder(&folder).run().unwrap();
    assert!(whole.resumed && whole.incomplete.is_empty());
}

#[test]
fn a_longer_budget_adds_methods_to_what_was_begun() {
    let data = small();
    let home = tempfile::tempdir().unwrap();
    let folder = home.path().join("run");
    let within = |budget: Duration| {
        let run = compare(&data).folds(3).inner(2).budget(budget).clock(Arc::new(Stopped::default()));
        run.folder(&folder)
    };
    let short = within(Duration::from_micros(1)).run().unwrap();
    assert!(!short.time.left_out.is_empty() && short.incomplete.is_empty());
    let before = kept(&folder);
    let (plan, done) = begun(within(Duration::from_secs(36_000)));
    assert_eq!(done, before.len());
    let (old, new) = plan.methods.split_at(short.time.methods.len());
    assert_eq!(old, short.time.methods);
    assert!(!new.is_empty() && new.iter().all(|m| short.time.left_out.iter().any(|l| l.method == m.method)));
    // The fits are those that were done, of a run that has more methods.
    let text = |lines: Vec<String>| {
        let unnamed = |line: &String| {
            let mut record: serde_json::Value = serde_json::from_str(line).unwrap();
            record["run"] = "".into();
            record.to_string()
        };
        let mut lines: Vec<String> = lines.iter().map(unnamed).collect();
        lines.sort();
        lines
    };
    assert_eq!(text(kept(&folder)), text(before));
    // The same call again has the same plan; other settings are another run.
    assert_eq!(begun(within(Duration::from_secs(36_000))), (plan.clone(), done));
    assert_eq!(begun(within(Duration::from_secs(1))), (plan, done));
    let other =
        within(Duration::from_secs(36_000)).seed(1).run().err().map_or(String::new(), |e| e.to_string());
    assert!(other.contains("belongs to another run"), "{other}");
}

#[test]
fn probabilities_come_from_the_folds_that_chose_or_from_none() {
    let data = small();
    let fixed = || {
        compare(&data)
            .methods(["mi-kernel"])
            .baselines(false)
            .folds(4)
            .param("norm", "mean")
            .param("c", 1.0)
            .param("gamma", 1.0)
    };
    let without = fixed().run().unwrap();
    assert!(without.records.iter().all(|r| r.scored.probabilities.is_none() && r.inner.is_none()));
    let with = fixed().probabilities(true).run().unwrap();
    assert!(with.records.iter().all(|r| r.scored.probabilities.is_some() && r.inner.is_some()));
    let scores =
        |e: &bagwise::Evaluation| e.records.iter().map(|r| r.scored.scores.clone()).collect::<Vec<_>>();
    assert_eq!(scores(&without), scores(&with));
    // Where something is chosen, everybody has probabilities, the baselines too.
    let tuned =
        compare(&data).methods(["mi-kernel"]).folds(4).param("mi-kernel.c", [1.0, 10.0]).run().unwrap();
    assert!(tuned.records.iter().all(|r| r.scored.probabilities.is_some()));
}

#[test]
fn named_methods_take_part_with_fewer_points_where_all_take_too_long() {
    let plan = |data: &Dataset, whole: bool| {
        let mut seen: Option<TimePlan> = None;
        let watch = |event: &Event<'_>| {
            if let Event::Started { time, .. } = event {
                seen = Some((*time).clone());
            }
            Err(Error::Cancelled)
        };
        let named = compare(data).methods(["isk", "dd"]).whole_grids(whole);
        let outcome = named.param("isk.c", [1.0, 2.0, 4.0, 8.0, 16.0]).watch(watch).run();
        assert!(matches!(outcome, Err(Error::Cancelled)));
        seen.unwrap()
    };
    let large = read("synthetic:gauss?bags=2000").unwrap();
    let whole = plan(&large, true);
    assert_eq!(whole.thinned().count(), 0);
    let thinned = plan(&large, false);
    assert!(thinned.left_out.is_empty() && thinned.methods.len() == whole.methods.len());
    let names: Vec<&str> = thinned.thinned().map(|m| m.method.as_str()).collect();
    assert_eq!(names, ["isk"], "one point cannot be thinned");
    let isk = thinned.thinned().next().unwrap();
    assert!(isk.seconds <= METHOD_TIME * NOMINAL_CORES, "{isk:?}");
    assert_eq!(isk.points % 5, 0, "values that were given stay: {isk:?}");
    // Small data have their whole grids.
    assert_eq!(plan(&small(), false), plan(&small(), true));
}

#[test]
fn a_search_that_methods_share_is_counted_once() {
    let data = read("musk1").unwrap();
    let seconds = |methods: &[&'static str]| {
        let mut seen = Vec::new();
        let watch = |event: &Event<'_>| {
            if let Event::Started { time, .. } = event {
                seen = time.methods.iter().map(|m| (m.method.clone(), m.seconds)).collect();
            }
            Err(Error::Cancelled)
        };
        let outcome = compare(&data).methods(methods.iter().copied()).baselines(false).watch(watch).run();
        assert!(matches!(outcome, Err(Error::Cancelled)));
        seen
    };
    let methods = ["dd-svm", "mg-ddv", "mg-acc"];
    let alone: f64 = methods.iter().map(|m| seconds(&[m])[0].1).sum();
    let together = seconds(&methods);
    let sum: f64 = together.iter().map(|(_, s)| s).sum();
    assert!(sum < 0.7 * alone, "{sum} of {alone}");
    assert!(together[0].1 > together[1].1, "the first makes the search: {together:?}");
}

#[test]
fn an_estimate_counts_all_that_a_grid_asks_for() {
    let data = read("synthetic:gauss?bags=200").unwrap();
    let cost = |method: &str, (key, value): (&str, &str)| -> FoldCost {
        let config = MethodConfig::new(method).param(key, value);
        fold_cost(&config.resolve(&data, true).unwrap()[0], &data, 0.9, 0.1, 5)
    };
    // Each codebook is learned for itself, and takes as long as it has centres.
    let bow = |centres| cost("bow", ("centres", centres)).prepare;
    let little = bow("16,17") - bow("16");
    assert!(bow("16,128") - bow("16") > 5.0 * little, "{little}");
    // Cells of few centres take products with these alone. Those of many take distances to all instances, once for all psi.
    let isk = |psi| cost("isk", ("psi", psi)).prepare;
    let weighing = isk("16,17") - isk("16");
    assert!(isk("1024") > 2.0 * isk("16"), "{} and {}", isk("1024"), isk("16"));
    assert!(isk("512,1024") < isk("1024") + 3.0 * weighing, "{weighing}");
    // Rules of boosting are found one after another, and the last search finds those of the others.
    let boost = |rounds| cost("mi-boost", ("rounds", rounds)).machines;
    assert!(boost("100") > 5.0 * boost("10"));
    assert!(boost("10,100") < 1.2 * boost("100"));
}
