//! `cargo xtask bench estimates [METHOD@SET …]`: what runs are said to take beside what they take, in CPU seconds of one thread,
//! for one fold of nested cross-validation (bar: within a factor of two for 27 of 30 pairs). Words choose pairs: `isk` or `@musk1` those of
//! a method or a set, `isk@musk1` one, which need not be among those below; `METHOD+KEY=VALUE@SET` sets a parameter. The three parts of both sides are shown, so that the counts of a
//! method can be corrected where they are wrong.
#![expect(clippy::print_stdout, reason = "a bench exists to print")]

use anyhow::{Context as _, Result};
use bagwise::fold::{TrainOptions, TrainingTask, learn};
use bagwise::io::{ReadOptions, read};
use bagwise::judge::{FoldPlan, Metric, Pool, Splits};
use bagwise::plan::fold_cost;
use bagwise::{Ctx, INNER_FOLDS, MethodConfig, Target};

use crate::bench_pairs::{cpu_seconds, verdict};
use crate::run::data_file;

/// Sets by short names: from 92 bags to 583,600 instances.
const SETS: &[(&str, &str)] = &[
    ("gauss200", "synthetic:gauss?bags=200"),
    ("gauss2000", "synthetic:gauss?bags=2000"),
    ("classes10", "synthetic:gauss?bags=500&classes=10"),
    ("slides", "synthetic:gauss?bags=120&min=245&max=255&features=384&f32=1"),
    ("speaker", "synthetic:speaker"),
];

const PAIRS: &[(&str, &[&str])] = &[
    (
        "musk1",
        &[
            "simple-mi",
            "mi-kernel",
            "migraph",
            "wmksvm",
            "isk",
            "mi-svm",
            "mirsvm",
            "dd",
            "em-dd",
            "dd-svm",
            "mg-ddv",
            "misssvm",
            "bagging",
            "stacking",
            "mil-net",
        ],
    ),
    (
        "elephant",
        &[
            "simple-mi",
            "mi-kernel",
            "migraph",
            "migraph-explicit",
            "isk",
            "sil",
            "bow",
            "cce",
            "mi-vlad",
            "mi-fv",
            "miles",
            "tlc",
            "mi-wrapper",
            "mi-boost",
            "rbf-mip",
            "mind",
            "emd",
            "citation-knn",
            "optimal-ball",
        ],
    ),
    ("musk2", &["simple-mi", "mi-kernel", "migraph", "isk", "mi-svm-bag"]),
    ("classes10", &["simple-mi", "mi-kernel", "wmksvm"]),
    ("gauss2000", &["simple-mi", "mi-kernel", "migraph", "migraph-explicit"]),
    ("speaker", &["simple-mi", "isk+psi=16+epsilon=1+c=1"]),
];

pub(crate) fn run(words: &[String]) -> Result<()> {
    let named = |words: &[String]| [&["bench".to_string(), "estimates".to_string()], words].concat();
    if crate::run::released(&named(words))? {
        return Ok(());
    }
    let listed =
        || PAIRS.iter().flat_map(|(set, methods)| methods.iter().map(|m| (m.to_string(), set.to_string())));
    let mut pairs: Vec<(String, String)> = Vec::new();
    for word in words {
        match word.split_once('@') {
            Some(("", set)) => pairs.extend(listed().filter(|(_, s)| s == set)),
            Some((method, set)) => pairs.push((method.into(), set.into())),
            None => pairs.extend(listed().filter(|(m, _)| m == word)),
        }
    }
    if words.is_empty() {
        pairs = listed().collect();
    }
    println!("CPU seconds of one thread: estimate, measured (prepare + machines + answers of each), factor");
    let one = rayon::ThreadPoolBuilder::new().num_threads(1).build()?;
    let mut within = 0;
    for (method, set) in &pairs {
        let factor = one.install(|| pair(method, set)).with_context(|| format!("{method}@{set}"))?;
        within += usize::from(factor <= 2.0);
    }
    let enough = 10 * within >= 9 * pairs.len();
    println!("within a factor of 2: {within} of {} (bar 27 of 30): {}", pairs.len(), verdict(enough));
    Ok(())
}

/// Prints one pair; the factor between estimate and measurement.
fn pair(method: &str, set: &str) -> Result<f64> {
    let source = match SETS.iter().find(|(name, _)| *name == set) {
        Some((_, source)) => source.to_string(),
        None if set.contains(':') => set.into(),
        None => data_file(set)?.display().to_string(),
    };
    let data = read(&source, &ReadOptions::default())?;
    let mut words = method.split('+');
    let mut config = MethodConfig::new(words.next().unwrap_or_default());
    for word in words {
        let (key, value) = word.split_once('=').context("a parameter is KEY=VALUE")?;
        config = config.param(key, value);
    }
    let setup = config.resolve(&data, true)?.remove(0);
    let learner = TrainingTask::new(&data, &setup, None)?;
    let target = data.require_target()?;
    let pool = Pool { target, groups: None, given: None };
    let folds = FoldPlan::new(Splits::KFold(10), pool, 0, 1)?;
    let fold = &folds.repeats[0][0];
    let inner = Splits::KFold(INNER_FOLDS).inner(pool, &fold.train, 0, 0, 0)?;
    let metric = Metric::default_for(matches!(target, Target::Values(_)));
    let ctx = Ctx::seeded(0);
    let start = cpu_seconds();
    let learned =
        learn(std::slice::from_ref(&learner), &fold.train, &inner, &TrainOptions::by(metric), &ctx)?;
    let learning = cpu_seconds() - start;
    let start = cpu_seconds();
    learner.answers(learned.frame(), learned.machines(), &fold.train, &fold.test, &ctx)?;
    let answers = cpu_seconds() - start;
    drop(learned);
    // Not part of what is measured: the frame once more, to tell it from the machines.
    let start = cpu_seconds();
    let whole = learner.frame(&fold.train, &setup.grid.points, &ctx);
    // A grid with points that the set is too small for cannot be prepared as it is.
    let prepare = if whole.is_ok() { cpu_seconds() - start } else { f64::NAN };
    let measured = learning + answers;
    let cost = fold_cost(&setup, &data, 0.9, 0.1, INNER_FOLDS);
    let factor = (cost.seconds() / measured).max(measured / cost.seconds());
    println!(
        "{method:<18} {set:<10} {:>6} x {:>6} x {:>3} {:>3} points {:>8.3} ({:.3} + {:.3} + {:.3}) {measured:>8.3} (one frame {prepare:.3} of {learning:.3}, + {answers:.3}) {factor:>6.2} {}",
        data.bags.len(),
        data.bags.instance_count(),
        data.bags.width(),
        setup.grid.points.len(),
        cost.seconds(),
        cost.prepare + cost.searches,
        cost.machines,
        cost.answers,
        if factor <= 2.0 {
            ""
        } else if cost.seconds() > measured {
            "too long"
        } else {
            "too short"
        },
    );
    Ok(factor)
}
