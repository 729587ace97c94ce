//! `cargo xtask bench linear`: machines with a linear kernel on instances beside the same loops around scikit-learn's
//! `SVC(kernel="linear")`, in one run, in CPU seconds, at a fixed cost and without inner folds on either side (bar: 3 times
//! less). Musk1 (476 instances) is trained on inner products, Musk2 (6,598) by coordinate descent, ten folds each. Of 2,000 bags
//! x 50 x 50 it is one fold, and the peer is stopped after some minutes: then the ratio is a lower bound.
#![expect(clippy::print_stdout, reason = "a bench exists to print")]

use std::path::Path;
use std::process::Stdio;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, ensure};
use bagwise::fold::TrainingTask;
use bagwise::io::{ReadOptions, read};
use bagwise::judge::{FoldPlan, Pool, Splits};
use bagwise::preprocess::Scale;
use bagwise::{Ctx, Dataset, Target};

use crate::bench_mirsvm::setup;
use crate::bench_pairs::{cpu_seconds, verdict};
use crate::run::{data_file, program, root, target};
use crate::venv;

const METHODS: [&str; 3] = ["sil", "mi-svm", "mi-svm-bag"];
/// Sets, and how many of ten folds are run.
const SETS: [(&str, usize); 3] = [("musk1", 10), ("musk2", 10), ("large", 1)];
/// The cost of both sides.
const COST: &str = "1";
/// What the peer may take.
const LIMIT: Duration = Duration::from_secs(240);
/// Repetitions of what takes less than [`SOON`] seconds, of which the least counts: the first pays for memory and threads.
const TIMES: usize = 5;
const SOON: f64 = 2.0;
/// The large set, which is written to a file for the peer.
const LARGE: &str = "synthetic:gauss?bags=2000&min=50&max=50&features=50";

/// All pairs of method and set, or those `chosen` as METHOD@SET.
pub(crate) fn run(chosen: &[String]) -> Result<()> {
    let words = ["bench", "linear"].into_iter().chain(chosen.iter().map(String::as_str));
    if crate::run::released(&words.collect::<Vec<_>>())? {
        return Ok(());
    }
    let known = |pair: &&String| {
        let (method, set) = pair.split_once('@').unwrap_or((pair, ""));
        METHODS.contains(&method) && SETS.iter().any(|(name, _)| *name == set)
    };
    if let Some(unknown) = chosen.iter().find(|pair| !known(pair)) {
        anyhow::bail!("'{unknown}' is not one of {METHODS:?} @ {:?}", SETS.map(|(name, _)| name));
    }
    let python = venv::python(&["numpy", "scikit-learn"])?;
    for (name, folds) in SETS {
        let wanted = |method: &&str| chosen.is_empty() || chosen.contains(&format!("{method}@{name}"));
        let methods: Vec<&str> = METHODS.into_iter().filter(wanted).collect();
        if methods.is_empty() {
            continue;
        }
        let large = name == "large";
        let path = if large { target().join("tmp/linear.csv") } else { data_file(name)? };
        let source = if large { LARGE.into() } else { path.display().to_string() };
        let data = read(&source, &ReadOptions::default())?;
        if large {
            std::fs::create_dir_all(target().join("tmp"))?;
            bagwise::io::write(&data, &path, None)?;
        }
        for method in methods {
            let (cpu, accuracy) = least(|| ours(&data, method, folds), |known| known.0)?;
            println!("{name}: {method}, linear, c={COST}, folds: {folds}");
            println!("  ours          {cpu:>9.3} CPU s, accuracy {:.1} %", 100.0 * accuracy);
            let again = || theirs(&python, &path, method, folds);
            let theirs = least(again, |known| known.as_ref().map_or(f64::INFINITY, |known| known[0]))?;
            let least = theirs.as_ref().map_or(LIMIT.as_secs_f64(), |known| known[0]);
            match theirs {
                Some([cpu, machines, accuracy]) => println!(
                    "  scikit-learn  {cpu:>9.3} CPU s, accuracy {:.1} %, {machines} machines",
                    100.0 * accuracy
                ),
                None => println!("  scikit-learn  stopped after {least} s"),
            }
            println!("  ratio {:.1} (bar 3): {}", least / cpu, verdict(least / cpu >= 3.0));
        }
    }
    Ok(())
}

/// What takes least of several repetitions, or the only one of what is not soon done.
fn least<T>(measure: impl Fn() -> Result<T>, seconds: impl Fn(&T) -> f64) -> Result<T> {
    let mut best = measure()?;
    for _ in 1..if seconds(&best) < SOON { TIMES } else { 1 } {
        let next = measure()?;
        if seconds(&next) < seconds(&best) {
            best = next;
        }
    }
    Ok(best)
}

/// CPU seconds of the first of ten folds, and the share of test bags that are right.
fn ours(data: &Dataset, method: &str, first: usize) -> Result<(f64, f64)> {
    let setup = setup(method, &[("kernel", "linear"), ("c", COST)], Scale::ZScore)?;
    let learner = TrainingTask::new(data, &setup, None)?;
    let target = data.require_target()?;
    let Target::Classes { codes, .. } = target else { anyhow::bail!("classes") };
    let pool = Pool { target, groups: None, given: None };
    let folds = FoldPlan::new(Splits::KFold(10), pool, 0, 1)?;
    let ctx = Ctx::seeded(0);
    let (mut right, mut tested) = (0, 0);
    let started = cpu_seconds();
    for fold in &folds.repeats[0][..first] {
        let frame = learner.frame(&fold.train, &setup.grid.points, &ctx)?;
        let machines = learner.fit(&frame, &[0], &fold.train, &ctx)?.remove(0);
        let outputs = learner.outputs(&frame, &machines, &fold.train, &fold.test, &ctx)?;
        let labels = learner.labels(&outputs, None);
        right += fold.test.iter().zip(labels).filter(|(b, label)| codes[**b] == *label).count();
        tested += fold.test.len();
    }
    Ok((cpu_seconds() - started, right as f64 / tested as f64))
}

/// CPU seconds, machines and accuracy of the peer, if it ends in time.
fn theirs(python: &Path, data: &Path, method: &str, folds: usize) -> Result<Option<[f64; 3]>> {
    let peer = root().join("crates/xtask/peers/linear.py");
    let mut command = program(python, &[peer.as_os_str(), data.as_os_str()]);
    // One thread: CPU seconds of threads that wait for each other say little.
    command
        .args([method, COST, &folds.to_string()])
        .env("OMP_NUM_THREADS", "1")
        .env("OPENBLAS_NUM_THREADS", "1");
    // What it prints fits a pipe that nobody reads yet.
    let mut child = command.stdout(Stdio::piped()).spawn()?;
    let started = Instant::now();
    while child.try_wait()?.is_none() {
        if started.elapsed() > LIMIT {
            child.kill()?;
            child.wait()?;
            return Ok(None);
        }
        std::thread::sleep(Duration::from_millis(50));
    }
    let output = child.wait_with_output()?;
    ensure!(output.status.success(), "the peer failed");
    let text = String::from_utf8(output.stdout)?;
    let number = |name: &str| -> Result<f64> {
        let line = text.lines().find_map(|l| l.strip_prefix(name)).map(str::trim);
        Ok(line.with_context(|| format!("the peer did not print {name}"))?.parse()?)
    };
    Ok(Some([number("cpu")?, number("machines")?, number("accuracy")?]))
}
