//! What must pass, in the order in which a mistake is cheapest to find.

use std::io::{BufRead as _, BufReader};
use std::process::Stdio;

use anyhow::{Context as _, Result, bail};

use crate::browser;
use crate::house;
use crate::run::{TEST, cargo, docs, format, program, root, run, say, shown, target};
use crate::steps::Step;

const FORMAT: Step = Step {
    name: "format",
    repeat: "cargo xtask fmt (which also fixes it)",
    run: || format(true).map(|()| None),
};
const HOUSE: Step = Step { name: "house", repeat: "cargo xtask lint", run: house::check };
const CLIPPY: Step = Step {
    name: "clippy",
    repeat: "cargo clippy --workspace --all-targets -- -D warnings",
    run: || {
        let features = ["--features", "bagwise/ndarray"];
        let all = ["clippy", "--workspace", "--all-targets"]
            .into_iter()
            .chain(features)
            .chain(["--", "-D", "warnings"]);
        run(cargo(&all.collect::<Vec<_>>())).map(|()| None)
    },
};
const TESTS: Step =
    Step { name: "tests", repeat: "cargo test --workspace", run: || tests(&["--all-targets"]) };
const DOCTESTS: Step =
    Step { name: "doc tests", repeat: "cargo test --workspace --doc", run: || tests(&["--doc"]) };
const DOCS: Step = Step { name: "docs", repeat: "cargo xtask docs", run: || docs().map(|()| None) };
const EXAMPLES: Step =
    Step { name: "examples", repeat: "cargo run --package CRATE --example NAME", run: examples };

/// The Python package.
const PYTHON: Step = Step { name: "python", repeat: "cargo xtask test python", run: crate::wheel::test };
/// Reports as people see them.
pub(crate) const BROWSER: Step = Step { name: "browser", repeat: "cargo xtask browser", run: browser::check };

/// Models inside Spark, Dask and others: large, so that it runs only when it is named.
const ENGINES: Step = Step { name: "engines", repeat: "cargo xtask test engines", run: crate::engines::test };

/// What `cargo xtask lint` runs.
pub(crate) const LINT: &[Step] = &[FORMAT, HOUSE, CLIPPY, DOCS];
/// What `cargo xtask test` runs.
pub(crate) const ALL: &[Step] = &[FORMAT, HOUSE, CLIPPY, DOCS, TESTS, DOCTESTS, EXAMPLES, BROWSER, PYTHON];

/// Steps that run only when they are named.
const NAMED: &[Step] = &[ENGINES];

/// Runs all steps, or the one that is named.
pub(crate) fn run_named(args: &[String]) -> Result<()> {
    match args {
        [] => crate::steps::run(ALL),
        [name, words @ ..] if name == ENGINES.name && !words.is_empty() => crate::engines::run(words),
        [name] => match ALL.iter().chain(NAMED).find(|step| step.name == name) {
            Some(step) => crate::steps::run(std::slice::from_ref(step)),
            None => {
                let names: Vec<&str> = ALL.iter().chain(NAMED).map(|step| step.name).collect();
                bail!("'{name}' is not one of {}", names.join(", "))
            }
        },
        _ => bail!("name one step, or none for all"),
    }
}

/// Runs the tests and counts them. Lines of tests that pass are not shown.
fn tests(which: &[&str]) -> Result<Option<String>> {
    let mut command = cargo(&TEST);
    command.arg("--no-fail-fast").args(which).stdout(Stdio::piped());
    // Properties are tried on the same inputs in every run, so that a failure is due to the change. `cargo test` draws new ones.
    if std::env::var_os("PROPTEST_RNG_SEED").is_none() {
        command.env("PROPTEST_RNG_SEED", "1");
    }
    let shown = shown(&command);
    let mut child = command.spawn().with_context(|| format!("could not start `{shown}`"))?;
    let output = child.stdout.take().context("the output of the tests")?;
    let (mut passed, mut failed, mut ignored) = (0, 0, 0);
    for line in BufReader::new(output).lines() {
        let line = line.context("the output of the tests")?;
        if let Some(counts) = line.strip_prefix("test result: ") {
            passed += counted(counts, " passed");
            failed += counted(counts, " failed");
            ignored += counted(counts, " ignored");
        } else if !(line.is_empty() || line.starts_with("running ") || line.ends_with(" ... ok")) {
            say(&line);
        }
    }
    let status = child.wait()?;
    if !status.success() {
        bail!("{failed} tests failed, {passed} passed (`{shown}`, {status})");
    }
    if ignored > 0 {
        bail!("{ignored} tests were ignored: a test that is not run is not a test");
    }
    Ok(Some(format!("{passed} passed")))
}

/// The number before a word in "ok. 12 passed; 0 failed; …".
fn counted(line: &str, word: &str) -> u64 {
    let before = line.split(word).next().unwrap_or_default();
    before.rsplit(' ').next().and_then(|n| n.parse().ok()).unwrap_or(0)
}

/// Runs every example of every crate. They are built together with the workspace: one by one, cargo would choose other
/// features for their dependencies and build those again.
fn examples() -> Result<Option<String>> {
    run(cargo(&["build", "--quiet", "--workspace", "--examples"]))?;
    let mut names = Vec::new();
    for folder in std::fs::read_dir(root().join("crates"))? {
        let Ok(examples) = std::fs::read_dir(folder?.path().join("examples")) else { continue };
        for file in examples {
            let path = file?.path();
            if path.extension().is_some_and(|e| e == "rs") {
                names.push(path.file_stem().unwrap_or_default().to_string_lossy().into_owned());
            }
        }
    }
    names.sort();
    for name in &names {
        let file = format!("{name}{}", std::env::consts::EXE_SUFFIX);
        let mut example = program(target().join("debug/examples").join(file), &[] as &[&str]);
        example.stdout(Stdio::null());
        run(example).with_context(|| format!("example {name}"))?;
    }
    Ok(Some(format!("{} run", names.len())))
}

#[cfg(test)]
mod tests {
    use super::counted;

    #[test]
    fn counts_are_read_from_the_summary_line() {
        let line = "ok. 12 passed; 3 failed; 1 ignored; 0 measured; 0 filtered out; finished in 0.00s";
        assert_eq!(["passed", "failed", "ignored"].map(|w| counted(line, &format!(" {w}"))), [12, 3, 1]);
    }
}
