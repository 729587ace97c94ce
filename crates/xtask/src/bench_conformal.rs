//! `cargo xtask bench conformal [DRAWS]`: what share of new bags sets and intervals with coverage 0.9 hold, over many draws of
//! data, and how large they are beside MAPIE's on the same scores. Bars: not below 0.9 by more than two standard errors over
//! draws, and at most 1.15 times as large.
//!
//! Synthetic data are drawn again; of real data a draw is a random half, judged by the other half (of groups where there are
//! some). MAPIE (CV+ with `lac` scores, or `plus` for numbers) gets the predictions of the same models of folds. It knows no
//! groups, so there it is not compared.
#![expect(clippy::print_stdout, reason = "a bench exists to print")]

use anyhow::{Context as _, Result, ensure};
use bagwise::io::{ReadOptions, read};
use bagwise::{Ctx, Dataset, Rng, Target};

use crate::bench_pairs::verdict;
use crate::run::{data_file, program, released, root};
use crate::venv;

const COVERAGE: f64 = 0.9;
const FOLDS: usize = 10;
/// Draws if it is not said.
const DRAWS: u64 = 500;
/// Draws that MAPIE looks at: it is slow, and sizes vary little.
const BESIDE: u64 = 20;

/// A set by name: what is read, or drawn with a seed. The last has numbers.
const SETS: [(&str, &str); 5] = [
    ("gauss", "synthetic:gauss?bags=120&features=5&distance=1"),
    ("gauss in groups", "synthetic:gauss?bags=160&features=5&distance=1&groups=40&shift=0.5"),
    ("musk1", "musk1"),
    ("elephant", "elephant"),
    ("lj160_166_1", "lj160_166_1"),
];

pub(crate) fn run(args: &[String]) -> Result<()> {
    let draws = match args {
        [] => DRAWS,
        [text, ..] => text.parse().context("give a number of draws")?,
    };
    if released(&["bench", "conformal", &draws.to_string()])? {
        return Ok(());
    }
    let python = venv::python(&["numpy", "scikit-learn", "mapie==1.6.0"])?;
    println!("coverage {COVERAGE}, {FOLDS} folds, {draws} draws; simple-mi with fixed parameters");
    for (name, source) in SETS {
        let mut coverage = Vec::new();
        let (mut sizes, mut for_mapie) = (Vec::new(), Vec::new());
        for draw in 0..draws {
            let (train, test) = halves(source, draw)?;
            let one = judge(&train, &test, draw)?;
            coverage.push(one.coverage);
            sizes.push(one.size);
            if train.groups.is_none() && draw < BESIDE {
                for_mapie.push(one.for_mapie);
            }
        }
        let (mean, error) = mean_and_error(&coverage);
        let enough = mean >= COVERAGE - 2.0 * error;
        println!("{name}: coverage {mean:.4} (standard error {error:.4}): {}", verdict(enough));
        println!("  mean size {:.4}", mean_and_error(&sizes).0);
        if !for_mapie.is_empty() {
            // The first draws are those that it gets.
            let ours = mean_and_error(&sizes[..for_mapie.len()]).0;
            let theirs = beside(&python, &for_mapie)?;
            let ratio = ours / theirs;
            println!(
                "  over {} draws: ours {ours:.4}, MAPIE {theirs:.4}, ratio {ratio:.3} (bar 1.15): {}",
                for_mapie.len(),
                verdict(ratio <= 1.15)
            );
        }
    }
    Ok(())
}

/// Training and test bags of a draw.
fn halves(source: &str, draw: u64) -> Result<(Dataset, Dataset)> {
    let all = match source.starts_with("synthetic:") {
        true => read(&format!("{source}&seed={draw}"), &ReadOptions::default())?,
        false => read(&data_file(source)?.display().to_string(), &ReadOptions::default())?,
    };
    let unit: Vec<usize> = match &all.groups {
        Some(groups) => groups.codes.iter().map(|&c| c as usize).collect(),
        None => (0..all.bags.len()).collect(),
    };
    let units = unit.iter().max().map_or(0, |last| last + 1);
    let mut order: Vec<usize> = (0..units).collect();
    Rng::new(draw, "conformal halves", &[]).shuffle(&mut order);
    let trains = |bag: &usize| order[unit[*bag]] < units.div_ceil(2);
    let (train, test): (Vec<usize>, Vec<usize>) = (0..all.bags.len()).partition(trains);
    Ok((all.select(&train), all.select(&test)))
}

struct JudgedDraw {
    coverage: f64,
    /// Mean number of classes, or mean length.
    size: f64,
    for_mapie: serde_json::Value,
}

fn judge(train: &Dataset, test: &Dataset, seed: u64) -> Result<JudgedDraw> {
    let ctx = Ctx::seeded(seed);
    let method = bagwise::method("simple-mi")?
        .param("embed", "mean")
        .param("kernel", "rbf")
        .param("gamma", "1/median")
        .param("c", 1.0);
    let model = bagwise::fit(train).method(method).inner(3).conformal(FOLDS).ctx(&ctx).run()?;
    let own = model.fold_predictions(&train.bags, &ctx)?;
    let new = model.fold_predictions(&test.bags, &ctx)?;
    let folds = model.folds_of_bags();
    let n = test.bags.len() as f64;
    match (train.require_target()?, test.require_target()?) {
        (Target::Classes { codes, .. }, Target::Classes { codes: truth, .. }) => {
            let sets = model.predict_sets(&test.bags, COVERAGE, false, &ctx)?;
            let held = sets.iter().zip(truth).filter(|(set, t)| set[**t as usize]).count();
            let size: usize = sets.iter().flatten().filter(|held| **held).count();
            let table = |all: &[Vec<bagwise::Prediction>]| -> Vec<Vec<Vec<f64>>> {
                all.iter().map(|fold| fold.iter().map(|p| p.probabilities.clone()).collect()).collect()
            };
            let for_mapie = serde_json::json!({
                "coverage": COVERAGE, "folds": folds, "y": codes, "own": table(&own), "new": table(&new),
            });
            Ok(JudgedDraw { coverage: held as f64 / n, size: size as f64 / n, for_mapie })
        }
        (Target::Values(values), Target::Values(truth)) => {
            let intervals = model.predict_intervals(&test.bags, COVERAGE, &ctx)?;
            let held = intervals.iter().zip(truth).filter(|((low, high), t)| low <= *t && *t <= high).count();
            let size: f64 = intervals.iter().map(|(low, high)| high - low).sum();
            let table = |all: &[Vec<bagwise::Prediction>]| -> Vec<Vec<f64>> {
                all.iter().map(|fold| fold.iter().map(|p| p.outputs[0]).collect()).collect()
            };
            let for_mapie = serde_json::json!({
                "coverage": COVERAGE, "folds": folds, "y": values, "own": table(&own), "new": table(&new),
            });
            Ok(JudgedDraw { coverage: held as f64 / n, size: size / n, for_mapie })
        }
        _ => anyhow::bail!("both halves have the same kind of labels"),
    }
}

/// The mean size of MAPIE's sets or intervals, over draws. One process has them all: it takes longer to start than to compute.
fn beside(python: &std::path::Path, given: &[serde_json::Value]) -> Result<f64> {
    let folder = tempfile::tempdir()?;
    let file = folder.path().join("given.json");
    std::fs::write(&file, serde_json::to_vec(given)?)?;
    let output = program(python, &["-W", "ignore"])
        .arg(root().join("crates/xtask/peers/conformal.py"))
        .arg(&file)
        .output()?;
    ensure!(output.status.success(), "MAPIE: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout)?.trim().parse().context("what MAPIE said")
}

fn mean_and_error(values: &[f64]) -> (f64, f64) {
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    let variance = values.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / (n - 1.0).max(1.0);
    (mean, (variance / n).sqrt())
}
