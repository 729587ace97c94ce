//! `cargo xtask new-method`: adds a method of a new family to the checkout, follows the four steps of CONTRIBUTING.md, checks
//! which files changed, and takes everything back. Only two files may change by hand, the method and the registry.
//! `cargo xtask golden` writes all others, and the tests of all methods must pass for the new one.
//!
//! It works in the checkout because a copy would have to build every crate again, which takes longer than all the rest.

use std::io::ErrorKind;
use std::process::Command;
use std::time::Instant;

use anyhow::{Result, bail, ensure};

use crate::run::{cargo, program, root, run, say, target, tests};

/// The method, which belongs to no family.
const METHOD: &str = include_str!("../templates/nearest_mean.rs");
const NAME: &str = "nearest-mean";
const REGISTRY: &str = "crates/bagwise/src/methods/mod.rs";
const FILE: &str = "crates/bagwise/src/methods/nearest_mean.rs";

/// Whether `cargo xtask golden` writes this file: the reference, output shown in documents, snapshots, and the Python classes.
fn is_generated(file: &str) -> bool {
    file.ends_with(".snap")
        || ["README.md", "python/bagwise/_estimators.py", "python/bagwise/__init__.py"].contains(&file)
        || file.starts_with("docs/") && file.ends_with(".md")
}

/// Adds the method, follows the steps, and lists the files that changed.
pub(crate) fn command() -> Result<()> {
    let start = Instant::now();
    // What an interrupted run has left.
    if root().join(FILE).exists() {
        take_back()?;
    }
    let before = changes()?;
    ensure!(
        before.is_empty(),
        "the checkout has changes, which could be taken for those of the method; commit them first: {before:?}"
    );
    let result = follow_steps(start);
    // The step that failed says more than what could not be taken back because of it.
    let restored = take_back();
    result.and(restored)
}

fn follow_steps(start: Instant) -> Result<()> {
    let registry = std::fs::read_to_string(root().join(REGISTRY))?;
    let with = registry.replacen("mod sil;", "mod nearest_mean;\nmod sil;", 1).replacen(
        "    &sil::METHOD,",
        "    &nearest_mean::METHOD,\n    &sil::METHOD,",
        1,
    );
    ensure!(with.matches("nearest_mean").count() == 2, "{REGISTRY} has no line to put the method beside");
    std::fs::write(root().join(FILE), METHOD)?;
    std::fs::write(root().join(REGISTRY), with)?;

    // Step 3, for the new method alone: the others did not change. It fails early if the method does not compile.
    let mut conformance = inside(tests(&["conformance"]));
    conformance.env("BAGWISE_METHOD", NAME);
    run(conformance)?;
    // Step 4. This program does not know the method, and is built again with it.
    run(inside(cargo(&["xtask", "golden"])))?;
    let changed = changes()?;
    let (generated, by_hand): (Vec<&str>, Vec<&str>) =
        changed.iter().map(String::as_str).partition(|f| is_generated(f));
    ensure!(by_hand == [REGISTRY, FILE], "more than the method and the registry changed: {by_hand:?}");
    for file in ["docs/methods.md", "python/bagwise/_estimators.py"] {
        ensure!(generated.contains(&file), "{file} does not know the new method");
    }
    // Further tests that loop over the registry.
    let mut others = inside(tests(&["properties", "sources", "hostile", "models"]));
    // The inputs of `cargo xtask test`: others may fail, which says nothing about the new method.
    others.env("PROPTEST_RNG_SEED", "1");
    run(others)?;
    say(&format!(
        "by hand {} files: {}\ngenerated {} files: {}\n{:.0} s",
        by_hand.len(),
        by_hand.join(", "),
        generated.len(),
        generated.join(", "),
        start.elapsed().as_secs_f64()
    ));
    Ok(())
}

/// With the builds of the checkout. Windows cannot replace a running xtask, which needs another folder there.
fn inside(mut command: Command) -> Command {
    if cfg!(windows) {
        command.env("CARGO_TARGET_DIR", target().join("new-method"));
    }
    command
}

/// The files of the checkout that differ from the last commit.
fn changes() -> Result<Vec<String>> {
    let listed = output(program("git", &["status", "--porcelain", "--untracked-files=all"]))?;
    Ok(listed.lines().filter_map(|line| line.get(3..)).map(String::from).collect())
}

/// Removes the method, and restores what was written for it. Other files stay as they are: someone may be working on them.
fn take_back() -> Result<()> {
    // A run that was stopped early has written some of it, or nothing.
    match std::fs::remove_file(root().join(FILE)) {
        Err(e) if e.kind() != ErrorKind::NotFound => return Err(e.into()),
        _ => {}
    }
    let written = changes()?.into_iter().filter(|file| file == REGISTRY || is_generated(file));
    let (known, new): (Vec<String>, Vec<String>) = written.partition(|file| {
        let mut listed = program("git", &["ls-files", "--error-unmatch", file]);
        listed.output().is_ok_and(|output| output.status.success())
    });
    for file in new {
        std::fs::remove_file(root().join(file))?;
    }
    if known.is_empty() {
        return Ok(());
    }
    run(program("git", &[vec!["restore".into(), "--".into()], known].concat()))
}

fn output(mut command: Command) -> Result<String> {
    let output = command.output()?;
    if !output.status.success() {
        bail!("{}", String::from_utf8_lossy(&output.stderr));
    }
    Ok(String::from_utf8(output.stdout)?)
}
