//! `cargo xtask bench comparators`: methods that papers compare with, each beside another program in the same run, in CPU
//! seconds; and how their cost grows with the number of instances.
//!
//! A row of [`ROWS`] is a measurement that prints itself; `BAGWISE_COMPARATORS=mi-boost,sizes` runs some of them. Weka's
//! classes cross-validate by themselves in ten folds, and their seconds include the start of Java; ours are ten folds at the
//! same setting, folds of our own (bar: 10 times less).
#![expect(clippy::print_stdout, reason = "a bench exists to print")]

use std::process::Command;
use std::time::Instant;

use anyhow::{Context as _, Result, ensure};
use bagwise::fold::TrainingTask;
use bagwise::io::{ReadOptions, read};
use bagwise::judge::ProtocolName;
use bagwise::preprocess::Scale;
use bagwise::{Ctx, Dataset};

use crate::bench_mirsvm::{accuracy, execute, setup};
use crate::bench_pairs::{cpu_seconds, peak_bytes, released, verdict};
use crate::run::{data_file, program, root};
use crate::{venv, weka, weka_labels};

/// Every measurement, by the name that chooses it.
const ROWS: &[(&str, fn() -> Result<()>)] = &[
    ("citation-knn", || {
        beside_weka("citation-knn", &[], Scale::MinMax, "CitationKNN", &["-R", "2", "-C", "4"])
    }),
    ("mi-boost", || {
        let given = [("rounds", "10"), ("criterion", "entropy")];
        let theirs = ["-R", "10", "-W", "weka.classifiers.trees.DecisionStump"];
        beside_weka("mi-boost", &given, Scale::None, "MIBoost", &theirs)
    }),
    ("mi-wrapper", || {
        let theirs = ["-W", "weka.classifiers.functions.Logistic", "--", "-R", "1"];
        beside_weka("mi-wrapper", &[], Scale::MinMax, "MIWrapper", &theirs)
    }),
    ("optimal-ball", || beside_weka("optimal-ball", &[], Scale::MinMax, "MIOptimalBall", &[])),
    ("labels", weka_labels::run),
    ("logistic", logistic),
    ("sizes", sizes),
];

pub(crate) fn run() -> Result<()> {
    if released("comparators")? {
        return Ok(());
    }
    if let Ok(one) = std::env::var("BAGWISE_SIZE") {
        return size(&one);
    }
    let chosen = std::env::var("BAGWISE_COMPARATORS").ok();
    for (name, row) in ROWS {
        if chosen.as_ref().is_none_or(|list| list.split(',').any(|c| c == *name)) {
            row()?;
        }
    }
    Ok(())
}

/// Ten folds of a method and of a class of Weka on both Musks.
fn beside_weka(
    method: &str,
    given: &[(&str, &str)],
    scale: Scale,
    class: &str,
    theirs: &[&str],
) -> Result<()> {
    for name in ["musk1", "musk2"] {
        let data: Dataset = read(&data_file(name)?.display().to_string(), &ReadOptions::default())?;
        let (records, ours) = execute(&data, setup(method, given, scale)?, ProtocolName::Kfold)?;
        println!("{name}: {method}, 10 folds");
        println!("  ours  {ours:>9.3} CPU s, accuracy {:.1} %", accuracy(&records));
        match weka::cross_validate(&data, class, theirs) {
            Ok((seconds, line)) => {
                println!("  Weka  {seconds:>9.3} CPU s, {line}");
                println!("  ratio {:.1} (bar 10): {}", seconds / ours, verdict(seconds / ours >= 10.0));
            }
            Err(error) => println!("  Weka was not run: {error}"),
        }
    }
    Ok(())
}

/// mi-wrapper beside the same loop around scikit-learn's logistic regression, with the faster of two of its solvers.
fn logistic() -> Result<()> {
    let python = venv::python(&["numpy", "scikit-learn"])?;
    let peer = root().join("crates/xtask/peers/comparators.py");
    for name in ["musk1", "musk2", "elephant"] {
        let Ok(path) = data_file(name) else {
            println!("{name}: not here");
            continue;
        };
        let data = read(&path.display().to_string(), &ReadOptions::default())?;
        let (records, ours) = execute(&data, setup("mi-wrapper", &[], Scale::MinMax)?, ProtocolName::Kfold)?;
        println!("{name}: mi-wrapper, c=1, 10 folds");
        println!("  ours          {ours:>9.3} CPU s, accuracy {:.1} %", accuracy(&records));
        let mut least = f64::INFINITY;
        for solver in ["lbfgs", "newton-cholesky"] {
            let mut command = program(&python, &[peer.as_os_str(), path.as_os_str()]);
            // One thread: CPU seconds of threads that wait for each other say little.
            command.arg(solver).env("OMP_NUM_THREADS", "1").env("OPENBLAS_NUM_THREADS", "1");
            let output = command.output()?;
            ensure!(output.status.success(), "the peer failed: {}", String::from_utf8_lossy(&output.stderr));
            let text = String::from_utf8(output.stdout)?;
            let number = |name: &str| -> Result<f64> {
                let line = text.lines().find_map(|l| l.strip_prefix(name)).map(str::trim);
                Ok(line.with_context(|| format!("the peer did not print {name}"))?.parse()?)
            };
            let (cpu, share) = (number("cpu")?, number("accuracy")?);
            println!("  scikit-learn  {cpu:>9.3} CPU s, accuracy {:.1} %, {solver}", 100.0 * share);
            least = least.min(cpu);
        }
        println!("  ratio {:.1} (bar 1): {}", least / ours, verdict(least >= ours));
    }
    Ok(())
}

/// Methods whose cost is linear in the instances; `bench embeddings` and `bench net` have the others.
const LINEAR: &[&str] = &["mi-boost", "mi-wrapper", "tlc"];

/// One fit at three sizes, each in a process of its own so that the peak is its own.
fn sizes() -> Result<()> {
    for method in LINEAR {
        for bags in [1000, 2000, 4000] {
            let mut again = Command::new(std::env::current_exe()?);
            again.args(["bench", "comparators"]).env("BAGWISE_SIZE", format!("{method} {bags}"));
            ensure!(again.status()?.success(), "{method} failed");
        }
    }
    Ok(())
}

fn size(asked: &str) -> Result<()> {
    let (method, bags) = asked.split_once(' ').context("a method and a number of bags")?;
    let name =
        format!("synthetic:gauss?bags={bags}&min=23&max=25&features=20&irrelevant=80&witness=0.1&distance=6");
    let data = read(&name, &ReadOptions::default())?;
    let setup = setup(method, &[], bagwise::methods::find(method)?.info().scale)?;
    let learner = TrainingTask::new(&data, &setup, None)?;
    let all: Vec<usize> = (0..data.bags.len()).collect();
    let (ctx, cpu, wall) = (Ctx::seeded(0), cpu_seconds(), Instant::now());
    let frame = learner.frame(&all, &setup.grid.points, &ctx)?;
    learner.fit(&frame, &[0], &all, &ctx)?;
    let (cpu, wall) = (cpu_seconds() - cpu, wall.elapsed().as_secs_f64());
    let peak = peak_bytes().context("this system does not say what memory was used")?;
    println!(
        "{method}, {} instances x 100: {cpu:.2} CPU s, {wall:.1} s, peak {:.2} GB (the data {:.2} GB)",
        data.bags.instance_count(),
        peak / 1e9,
        data.bags.instances().bytes() as f64 / 1e9
    );
    Ok(())
}
