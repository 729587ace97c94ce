//! `cargo xtask bench mirsvm`: the alternating methods beside what else there is, in one run, in CPU seconds.
//!
//! MIRSVM, 10 folds x 36 cells of the paper's grid, beside the same loop around scikit-learn's SVC (bar: 10 times less);
//! the peer's Musk2 is timed on two folds and multiplied by five, because all ten take half an hour. mi-SVM, 10 folds on
//! Musk2, beside Weka's class MISVM (bar: 50 times), which is timed on its own cross-validation; where there is no Weka,
//! a time measured earlier stands in, and is named as such. `mirsvm-large` trains on 120,000 instances.
#![expect(clippy::print_stdout, reason = "a bench exists to print")]

use std::path::Path;
use std::process::Command;
use std::time::Instant;

use anyhow::{Context as _, Result, bail, ensure};
use bagwise::fold::{ResolvedConfig, TrainingTask};
use bagwise::io::{ReadOptions, read};
use bagwise::judge::{Metric, Protocol, ProtocolName, Record};
use bagwise::params::{Grid, WhenUnset};
use bagwise::preprocess::Scale;
use bagwise::run::{Candidate, Run, RunPlan};
use bagwise::{Ctx, Dataset, Target, methods};

use crate::bench_pairs::{cpu_seconds, peak_bytes, released, verdict};
use crate::run::{data_file, program, root};
use crate::{venv, weka};

/// The grid (17) of the paper.
const COSTS: &str = "0.1,1,10,100,1000,10000";
/// Its widths.
const SIGMAS: &str = "0.1,0.5,1,2,5,10";

/// CPU seconds that Weka 3.6.14 took for ten folds of Musk2 on another machine; used only where there is no Weka.
const WEKA_ELSEWHERE: f64 = 656.0;

/// Half an hour, nearly all of it the others'.
pub(crate) fn run() -> Result<()> {
    if released("mirsvm")? {
        return Ok(());
    }
    let python = venv::python(&["numpy", "scikit-learn"])?;
    let peer = root().join("crates/xtask/peers/mirsvm.py");
    for (name, peer_folds) in [("musk1", 10), ("musk2", 2)] {
        let path = data_file(name)?;
        let data = read(&path.display().to_string(), &ReadOptions::default())?;
        let setup = setup("mirsvm", &[("c", COSTS), ("sigma", SIGMAS)], Scale::ZScore)?;
        let (records, cpu) = execute(&data, setup, ProtocolName::BestOnCv)?;
        println!("{name}: mirsvm, 10 folds x 36 cells");
        println!("  ours          {cpu:>9.2} CPU s, best cell {:.1} %", accuracy(&records));
        let theirs = python_side(&python, &peer, &path, peer_folds)?;
        let whole = theirs.cpu * 10.0 / f64::from(peer_folds);
        let scaled =
            if peer_folds == 10 { String::new() } else { format!(" ({peer_folds} folds timed, scaled)") };
        println!(
            "  scikit-learn  {whole:>9.2} CPU s{scaled}, best cell {:.1} %, {:.1} machines a search; {}",
            100.0 * theirs.best,
            theirs.rounds / theirs.fits,
            theirs.version
        );
        println!("  ratio {:.1} (bar 10): {}", whole / cpu, verdict(whole / cpu >= 10.0));
    }
    beside_weka()
}

/// mi-SVM as Weka sets it: attributes to 0..1, C 1, a Gaussian of gamma 0.01, at most 500 machines.
fn beside_weka() -> Result<()> {
    let data = read(&data_file("musk2")?.display().to_string(), &ReadOptions::default())?;
    let given = [("kernel", "rbf"), ("gamma", "0.01"), ("c", "1"), ("max-iter", "500")];
    let (records, cpu) = execute(&data, setup("mi-svm", &given, Scale::MinMax)?, ProtocolName::Kfold)?;
    println!("musk2: mi-svm, 10 folds");
    println!("  ours          {cpu:>9.2} CPU s, accuracy {:.1} %", accuracy(&records));
    let (theirs, what) = match run_weka(&data) {
        Ok(seconds) => (seconds, "Weka".to_string()),
        Err(error) => (WEKA_ELSEWHERE, format!("recorded elsewhere, not run here: {error}")),
    };
    println!("  {what:<13} {theirs:>9.2} CPU s");
    println!("  ratio {:.1} (bar 50): {}", theirs / cpu, verdict(theirs / cpu >= 50.0));
    Ok(())
}

/// CPU seconds of Weka's ten folds, without its evaluation on training data.
fn run_weka(data: &Dataset) -> Result<f64> {
    let kernel = "weka.classifiers.functions.supportVector.RBFKernel -C 250007 -G 0.01";
    let given = ["-C", "1", "-N", "0", "-I", "500", "-K", kernel];
    let (seconds, line) = weka::cross_validate(data, "MISVM", &given)?;
    println!("  Weka: {line}");
    Ok(seconds)
}

struct Theirs {
    cpu: f64,
    rounds: f64,
    fits: f64,
    best: f64,
    version: String,
}

fn python_side(python: &Path, peer: &Path, data: &Path, folds: u32) -> Result<Theirs> {
    let mut command = program(python, &[peer.as_os_str(), data.as_os_str()]);
    // One thread: CPU seconds of threads that wait for each other say little.
    command.arg(folds.to_string()).env("OMP_NUM_THREADS", "1").env("OPENBLAS_NUM_THREADS", "1");
    let output = command.output()?;
    ensure!(output.status.success(), "the peer failed: {}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8(output.stdout)?;
    let word = |name: &str| {
        let line = text.lines().find_map(|l| l.strip_prefix(name)).map(str::trim);
        line.with_context(|| format!("the peer did not print {name}"))
    };
    let number = |name: &str| Ok::<f64, anyhow::Error>(word(name)?.parse()?);
    Ok(Theirs {
        cpu: number("cpu")?,
        rounds: number("rounds")?,
        fits: number("fits")?,
        best: number("best")?,
        version: word("version")?.to_string(),
    })
}

/// A method at its defaults but for what is given.
pub(crate) fn setup(method: &str, given: &[(&str, &str)], scale: Scale) -> Result<ResolvedConfig> {
    let method = methods::find(method)?;
    let given: Vec<(String, String)> = given.iter().map(|(k, v)| (k.to_string(), v.to_string())).collect();
    let grid = Grid::new(method.info().name, method.params(), &given, WhenUnset::Default, false)?;
    Ok(ResolvedConfig { scale, ..ResolvedConfig::new(method, grid) })
}

/// The records of ten folds, and the CPU seconds they took.
pub(crate) fn execute(
    data: &Dataset,
    setup: ResolvedConfig,
    protocol: ProtocolName,
) -> Result<(Vec<Record>, f64)> {
    let plan = RunPlan {
        protocol: Protocol::new(protocol, 10, 5),
        metric: Metric::Accuracy,
        threshold: None,
        best: false,
        positive: None,
        seed: 0,
        repeats: 1,
        precision: bagwise::Precision::F64,
        probabilities: false,
    };
    let candidates = [Candidate { name: setup.method.info().name.into(), setups: vec![setup] }];
    let run = Run::new(data, &candidates, &plan, None)?;
    let mut records = Vec::new();
    let mut keep = |record| {
        records.push(record);
        Ok(())
    };
    let cpu = cpu_seconds();
    run.execute(&|_| false, &mut keep, &Ctx::seeded(0))?;
    let cpu = cpu_seconds() - cpu;
    if let Some(failed) = records.iter().find(|r: &&Record| !r.succeeded()) {
        bail!("{}: {}", failed.key, failed.outcome.message.as_deref().unwrap_or("failed"));
    }
    Ok((records, cpu))
}

/// Percent of the judged bags.
pub(crate) fn accuracy(records: &[Record]) -> f64 {
    let right: f64 =
        records.iter().map(|r| r.metrics["accuracy"].unwrap_or(0.0) * r.scored.bags.len() as f64).sum();
    100.0 * right / records.iter().map(|r| r.scored.bags.len() as f64).sum::<f64>()
}

/// mi-svm, mi-svm-bag and mirsvm on 120,000 x 100 in 5,000 bags, each in a process of its own so that the peak is its
/// own. `BAGWISE_LARGE` gives another number of bags.
pub(crate) fn run_large() -> Result<()> {
    if released("mirsvm-large")? {
        return Ok(());
    }
    let bags: usize = std::env::var("BAGWISE_LARGE").ok().and_then(|v| v.parse().ok()).unwrap_or(5000);
    if let Ok(method) = std::env::var("BAGWISE_LARGE_METHOD") {
        return large(&method, bags);
    }
    println!(
        "{bags} bags of 23 to 25 instances, 100 attributes, RBF, {} threads",
        rayon::current_num_threads()
    );
    for method in ["mirsvm", "mi-svm-bag", "mi-svm"] {
        let mut again = Command::new(std::env::current_exe()?);
        again.args(["bench", "mirsvm-large"]).env("BAGWISE_LARGE_METHOD", method);
        ensure!(again.status()?.success(), "{method} failed");
    }
    Ok(())
}

fn large(method: &str, bags: usize) -> Result<()> {
    let name =
        format!("synthetic:gauss?bags={bags}&min=23&max=25&features=20&irrelevant=80&witness=0.1&distance=6");
    let data = read(&name, &ReadOptions::default())?;
    let setup = setup(method, &[], Scale::ZScore)?;
    let learner = TrainingTask::new(&data, &setup, None)?;
    let mut ctx = Ctx::seeded(0);
    ctx.memory = 12_000_000_000;
    let all: Vec<usize> = (0..data.bags.len()).collect();
    let (cpu, wall) = (cpu_seconds(), Instant::now());
    let frame = learner.frame(&all, &setup.grid.points, &ctx)?;
    let machines = learner.fit(&frame, &[0], &all, &ctx)?.remove(0);
    let (cpu, wall) = (cpu_seconds() - cpu, wall.elapsed().as_secs_f64());
    let fit = machines.0[0].as_ref().context("a machine")?;
    let outputs = learner.outputs(&frame, &machines, &all, &all, &ctx)?;
    let right = |outputs: &bagwise::Mat, data: &Dataset| {
        let Some(Target::Classes { codes, .. }) = &data.target else { return 0.0 };
        let good = (0..outputs.rows()).filter(|&b| (outputs.get(b, 0) > 0.0) == (codes[b] == 1)).count();
        100.0 * good as f64 / codes.len() as f64
    };
    let peak = peak_bytes().context("this system does not say what memory was used")?;
    let rounds = fit.rounds.as_ref().context("rounds")?;
    println!("{method}, {} instances, {}", data.bags.instance_count(), setup.grid.points[0]);
    println!("  {:.0} s, {cpu:.0} CPU s (bar 1800 s): {}", wall, verdict(wall < 1800.0));
    println!("  peak memory {:.2} GB (bar 16): {}", peak / 1e9, verdict(peak < 16e9));
    println!(
        "  {:?} after {} rounds, changed {:?}; {:.1} % of training bags right",
        rounds.ended,
        rounds.changed.len(),
        rounds.changed,
        right(&outputs, &data)
    );
    Ok(())
}
