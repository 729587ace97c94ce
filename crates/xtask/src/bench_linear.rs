//! `cargo xtask bench linear`: machines with a linear kernel on instances beside the same loops around scikit-learn's
//! `SVC(kernel="linear")`, in one run, in CPU seconds. Ten folds at a fixed cost, one search in each: no inner folds on either
//! side (bar: 3 times less). Musk1 (476 instances) is trained on inner products, Musk2 (6,598) by coordinate descent.
#![expect(clippy::print_stdout, reason = "a bench exists to print")]

use std::path::Path;

use anyhow::{Context as _, Result, ensure};
use bagwise::fold::TrainingTask;
use bagwise::io::{ReadOptions, read};
use bagwise::judge::{FoldPlan, Pool, Splits};
use bagwise::preprocess::Scale;
use bagwise::{Ctx, Dataset, Target};

use crate::bench_mirsvm::setup;
use crate::bench_pairs::{cpu_seconds, released, verdict};
use crate::run::{data_file, program, root};
use crate::venv;

/// The cost of both sides.
const COST: &str = "1";

pub(crate) fn run() -> Result<()> {
    if released("linear")? {
        return Ok(());
    }
    let python = venv::python(&["numpy", "scikit-learn"])?;
    for name in ["musk1", "musk2"] {
        let path = data_file(name)?;
        let data = read(&path.display().to_string(), &ReadOptions::default())?;
        for method in ["sil", "mi-svm", "mi-svm-bag"] {
            let (cpu, accuracy) = ours(&data, method)?;
            let [their_cpu, machines, their_accuracy] = theirs(&python, &path, method)?;
            println!("{name}: {method}, linear, c={COST}, 10 folds");
            println!("  ours          {cpu:>9.3} CPU s, accuracy {:.1} %", 100.0 * accuracy);
            println!(
                "  scikit-learn  {their_cpu:>9.3} CPU s, accuracy {:.1} %, {machines} machines",
                100.0 * their_accuracy
            );
            println!("  ratio {:.1} (bar 3): {}", their_cpu / cpu, verdict(their_cpu / cpu >= 3.0));
        }
    }
    Ok(())
}

/// CPU seconds of ten folds, and the share of test bags that are right.
fn ours(data: &Dataset, method: &str) -> Result<(f64, f64)> {
    let setup = setup(method, &[("kernel", "linear"), ("c", COST)], Scale::ZScore)?;
    let learner = TrainingTask::new(data, &setup, None)?;
    let target = data.require_target()?;
    let Target::Classes { codes, .. } = target else { anyhow::bail!("classes") };
    let pool = Pool { target, groups: None, given: None };
    let folds = FoldPlan::new(Splits::KFold(10), pool, 0, 1)?;
    let ctx = Ctx::seeded(0);
    let mut right = 0;
    let started = cpu_seconds();
    for fold in &folds.repeats[0] {
        let frame = learner.frame(&fold.train, &setup.grid.points, &ctx)?;
        let machines = learner.fit(&frame, &[0], &fold.train, &ctx)?.remove(0);
        let outputs = learner.outputs(&frame, &machines, &fold.train, &fold.test, &ctx)?;
        let labels = learner.labels(&outputs, None);
        right += fold.test.iter().zip(labels).filter(|(b, label)| codes[**b] == *label).count();
    }
    Ok((cpu_seconds() - started, right as f64 / codes.len() as f64))
}

/// CPU seconds, machines and accuracy of the peer.
fn theirs(python: &Path, data: &Path, method: &str) -> Result<[f64; 3]> {
    let peer = root().join("crates/xtask/peers/linear.py");
    let mut command = program(python, &[peer.as_os_str(), data.as_os_str()]);
    // One thread: CPU seconds of threads that wait for each other say little.
    command.args([method, COST]).env("OMP_NUM_THREADS", "1").env("OPENBLAS_NUM_THREADS", "1");
    let output = command.output()?;
    ensure!(output.status.success(), "the peer failed: {}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8(output.stdout)?;
    let number = |name: &str| -> Result<f64> {
        let line = text.lines().find_map(|l| l.strip_prefix(name)).map(str::trim);
        Ok(line.with_context(|| format!("the peer did not print {name}"))?.parse()?)
    };
    Ok([number("cpu")?, number("machines")?, number("accuracy")?])
}
