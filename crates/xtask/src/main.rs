//! Everything that must pass and every measurement, as `cargo xtask WORD`. It needs Rust and Python 3 and installs
//! the rest under `target/`. A word is a line in [`WORDS`]; what `test` runs is the list in `test.rs`.

mod bench;
mod bench_comparators;
mod bench_conformal;
mod bench_dd;
mod bench_embeddings;
mod bench_estimates;
mod bench_isk;
mod bench_linear;
mod bench_migraph;
mod bench_mirsvm;
mod bench_net;
mod bench_pairs;
mod bench_python;
mod bench_scale;
mod bench_svm;
mod bench_transport;
mod browser;
mod digests;
mod engines;
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
mod faults;
mod foreign;
mod fuzz;
mod golden;
mod house;
mod licences;
mod models;
mod new_method;
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
mod power;
mod python;
mod reproduce;
mod run;
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
mod scenes;
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
mod soak;
mod steps;
mod test;
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
mod trace;
mod venv;
mod weka;
mod weka_labels;
mod wheel;

use std::process::ExitCode;

use anyhow::{Result, bail};

/// A word of `cargo xtask`: its name, its arguments, what it does, and the function.
type Subcommand = (&'static str, &'static str, &'static str, fn(&[String]) -> Result<()>);

const WORDS: &[Subcommand] = &[
    ("fmt", "", "format the code", |_| run::format(false)),
    ("lint", "", "formatting, house rules, clippy and the reference", |_| steps::run(test::LINT)),
    ("test", "[STEP]", "everything that must pass, or one step of it", test::run_named),
    (
        "browser",
        "",
        "open the reports of real runs in Chromium; pages and screenshots under target/report",
        |_| steps::run(&[test::BROWSER]),
    ),
    ("bench", "[NAME]", "a measurement; without a name, which there are", bench::run),
    (
        "reproduce",
        "[NAME]",
        "published and promised results, computed again; without a name, which there are",
        reproduce::run,
    ),
    (
        "fuzz",
        "NAME|all|count|corpus [SECONDS]",
        "broken files for readers, until one breaks it or time is up; executions so far; the committed corpus",
        fuzz::command,
    ),
    #[cfg(all(target_os = "linux", target_arch = "x86_64"))]
    (
        "faults",
        "[VERB] [--binary FILE]",
        "every verb while the n-th open, write, sync or rename fails, is short or is its last",
        faults::command,
    ),
    #[cfg(all(target_os = "linux", target_arch = "x86_64"))]
    (
        "power",
        "[VERB] [--binary FILE]",
        "what is left of a command's files if the power fails, from recorded writes and syncs",
        power::command,
    ),
    #[cfg(all(target_os = "linux", target_arch = "x86_64"))]
    (
        "soak",
        "[--minutes N] [--case N]",
        "random commands, kills and numbers of threads against the same command undisturbed",
        soak::command,
    ),
    (
        "digests",
        "[check|write] [--keep FOLDER]",
        "what every method answers on five data sets, to the bit, against the committed digests",
        digests::command,
    ),
    (
        "foreign",
        "",
        "files of pandas, pyarrow, Polars, DuckDB, fastparquet, SciPy and spreadsheets against what was written",
        |_| foreign::command(),
    ),
    (
        "models",
        "write|check FOLDER",
        "models of every method with what they say; whether this version says the same",
        models::command,
    ),
    ("licences", "[check]", "write the licences of what is compiled in to THIRD-PARTY.md", licences::command),
    ("docs", "", "the reference of the library, under target/doc", |_| run::docs()),
    ("golden", "", "rewrite what tests compare with: snapshots, and output shown in the docs", |_| {
        golden::run_all()
    }),
    ("python", "", "write the estimators of python/bagwise from the registry of methods", |_| {
        python::write()
    }),
    ("new-method", "", "add a method, count the files written by hand, and remove it again", |_| {
        new_method::command()
    }),
    ("wheel", "", "build the Python package and install it under target/venv", |_| wheel::command()),
    (
        "venv",
        "[PACKAGE…]",
        "make the Python environment under target/venv, print its interpreter",
        venv::command,
    ),
];

fn main() -> ExitCode {
    if let Some(code) = fuzz::compiler() {
        return code;
    }
    let args: Vec<String> = std::env::args().skip(1).collect();
    match dispatch(&args) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            run::say(&format!("error: {error:#}"));
            ExitCode::FAILURE
        }
    }
}

fn dispatch(args: &[String]) -> Result<()> {
    let words =
        || WORDS.iter().map(|(name, args, what, _)| format!("  {:<18} {what}", format!("{name} {args}")));
    let list = words().collect::<Vec<_>>().join("\n");
    match args.split_first() {
        None => bail!("say what to do:\n{list}"),
        Some((word, rest)) => match WORDS.iter().find(|w| w.0 == word) {
            Some((_, _, _, function)) => function(rest),
            None => bail!("'{word}' is not one of\n{list}"),
        },
    }
}
