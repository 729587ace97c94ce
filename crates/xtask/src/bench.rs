//! Measurements by name. A measurement is a file `bench_NAME.rs` with `pub(crate) fn run() -> Result<()>` and a line
//! in [`ALL`]; it prints its own table, and its Python peers live in `peers/` and run in the environment of `venv.rs`.

use anyhow::{Result, bail};

/// A measurement: its name, what it compares, and the function.
type Bench = (&'static str, &'static str, fn() -> Result<()>);

const ALL: &[Bench] = &[
    (
        "comparators",
        "methods that papers compare with beside Weka and scikit-learn, and their cost at three sizes",
        crate::bench_comparators::run,
    ),
    (
        "conformal",
        "coverage and size of sets and intervals over many draws, beside MAPIE; takes a number of draws",
        || crate::bench_conformal::run(&[]),
    ),
    ("dd", "searches for concepts beside numpy and Weka's MIDD", crate::bench_dd::run),
    (
        "embeddings",
        "k-means and mixtures beside scikit-learn; bow, cce, mi-vlad, mi-fv and miles at three sizes",
        crate::bench_embeddings::run,
    ),
    ("estimates", "what folds are estimated to take beside what they take; METHOD@SET chooses pairs", || {
        crate::bench_estimates::run(&[])
    }),
    ("isk", "cells, weights and Grams of the isolation set-kernel beside numpy", crate::bench_isk::run),
    (
        "isk-partitions",
        "cells of Voronoi diagrams, trees and spheres side by side",
        crate::bench_isk::run_partitions,
    ),
    ("isk-musk2", "all psi of Musk2 in one pass, and the grid of its Grams", crate::bench_isk::run_musk2),
    ("isk-speaker", "isk trained at the size of Speaker: peak memory", crate::bench_isk::run_speaker),
    ("isk-million", "isk on a million instances x 1024 outside memory", crate::bench_isk::run_million),
    (
        "linear",
        "sil, mi-svm and mi-svm-bag with a linear kernel beside scikit-learn's SVC in the same loops; METHOD@SET chooses",
        || crate::bench_linear::run(&[]),
    ),
    (
        "memory",
        "simple-mi, isk and mi-kernel beside 2 GB of bags, in Python and on the command line: peak memory",
        || crate::bench_python::memory(&[]),
    ),
    (
        "migraph",
        "MIGraph's Grams: edges, terms, seconds, and what the direct sum would take",
        crate::bench_migraph::run,
    ),
    (
        "mirsvm",
        "MIRSVM beside scikit-learn's SVC in the same loop, mi-SVM beside Weka",
        crate::bench_mirsvm::run,
    ),
    (
        "mirsvm-large",
        "mirsvm, mi-svm-bag and mi-svm on 120,000 instances: time and memory",
        crate::bench_mirsvm::run_large,
    ),
    ("net", "an epoch of mil-net on 500,000 instances beside PyTorch or NumPy", crate::bench_net::run),
    ("pairs", "Grams of set kernels beside numpy and scikit-learn", crate::bench_pairs::run),
    ("pairs-large", "a Gram of 120,000 instances: time and memory", crate::bench_pairs::run_large),
    (
        "python",
        "the Python package beside scikit-learn, sawmil and Weka: ten folds, one setting and tuned",
        crate::bench_python::measure,
    ),
    (
        "scale",
        "data in pieces, feature maps and training on them: CPU and memory at the sizes of docs/scale.md",
        || crate::bench_scale::run(&[]),
    ),
    ("svm", "the solvers beside scikit-learn on the same Grams", crate::bench_svm::run),
    ("transport", "earth mover's distances of bags beside POT", crate::bench_transport::run),
];

/// Runs the measurement that is named.
pub(crate) fn run(args: &[String]) -> Result<()> {
    let list: Vec<String> = ALL.iter().map(|(name, what, _)| format!("  {name:<10} {what}")).collect();
    let list = if list.is_empty() { "  (none yet)".into() } else { list.join("\n") };
    match args {
        [name, rest @ ..] if name == "estimates" => crate::bench_estimates::run(rest),
        [name, rest @ ..] if name == "linear" => crate::bench_linear::run(rest),
        [name, rest @ ..] if name == "conformal" => crate::bench_conformal::run(rest),
        [name, rest @ ..] if name == "memory" => crate::bench_python::memory(rest),
        [name, rest @ ..] if name == "scale" => crate::bench_scale::run(rest),
        [name] => match ALL.iter().find(|b| b.0 == name) {
            Some((_, _, function)) => function(),
            None => bail!("'{name}' is not one of\n{list}"),
        },
        _ => bail!("say which measurement:\n{list}"),
    }
}
