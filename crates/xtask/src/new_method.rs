//! `cargo xtask new-method`: adds a method of a new family to a copy of the repository, follows the four steps of CONTRIBUTING.md,
//! and checks which files changed. Only two may change by hand, the method and the registry. `cargo xtask golden` writes all
//! others, and the tests of all methods must pass for the new one.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

use anyhow::{Context as _, Result, bail, ensure};

use crate::run::{program, root, run, say, target};

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
    let copy = target().join("new-method");
    copy_repository(&copy)?;
    // The same target folder, so that dependencies are not built again. Windows cannot replace a running xtask.
    let builds = if cfg!(windows) { target().join("new-method-target") } else { target() };
    let inside = |name: &str, args: &[&str]| {
        let mut command = program(name, args);
        command.current_dir(&copy).env("CARGO_TARGET_DIR", &builds);
        command
    };
    let git = |args: &[&str]| run(inside("git", args));
    git(&["init", "--quiet"])?;
    git(&["add", "--all"])?;
    git(&["-c", "user.name=x", "-c", "user.email=x", "commit", "--quiet", "--message", "before"])?;

    std::fs::write(copy.join(FILE), METHOD)?;
    let registry = std::fs::read_to_string(copy.join(REGISTRY))?;
    let with = registry.replacen("mod sil;", "mod nearest_mean;\nmod sil;", 1).replacen(
        "    &sil::METHOD,",
        "    &nearest_mean::METHOD,\n    &sil::METHOD,",
        1,
    );
    ensure!(with.matches("nearest_mean").count() == 2, "{REGISTRY} has no line to put the method beside");
    std::fs::write(copy.join(REGISTRY), with)?;

    // Step 3, for the new method alone: the others did not change. It fails early if the method does not compile.
    let mut conformance =
        inside("cargo", &["test", "--quiet", "--package", "bagwise", "--test", "conformance"]);
    conformance.env("BAGWISE_METHOD", NAME);
    run(conformance)?;
    // Step 4.
    run(inside("cargo", &["xtask", "golden"]))?;
    let changed = output(inside("git", &["status", "--porcelain", "--untracked-files=all"]))?;
    let changed: Vec<&str> = changed.lines().filter_map(|l| l.get(3..)).collect();
    let (generated, by_hand): (Vec<&str>, Vec<&str>) = changed.iter().copied().partition(|f| is_generated(f));
    ensure!(by_hand == [REGISTRY, FILE], "more than the method and the registry changed: {by_hand:?}");
    for file in ["docs/methods.md", "python/bagwise/_estimators.py"] {
        ensure!(generated.contains(&file), "{file} does not know the new method");
    }
    // Further tests that loop over the registry.
    let others = ["--test", "properties", "--test", "sources", "--test", "hostile"];
    run(inside("cargo", &[&["test", "--quiet", "--package", "bagwise"][..], &others].concat()))?;
    run(inside("cargo", &["test", "--quiet", "--package", "bagwise-cli", "--test", "models"]))?;
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

/// Copies the tracked and new files of the working tree. An unchanged file keeps its modification time, so that a second run
/// builds only what changed.
fn copy_repository(to: &Path) -> Result<()> {
    let git = to.join(".git");
    if git.exists() {
        std::fs::remove_dir_all(&git).with_context(|| git.display().to_string())?;
    }
    let listed = output(program("git", &["ls-files", "--cached", "--others", "--exclude-standard"]))?;
    let files: BTreeSet<PathBuf> =
        listed.lines().map(PathBuf::from).filter(|f| root().join(f).is_file()).collect();
    for file in &files {
        let target = to.join(file);
        let text = std::fs::read(root().join(file)).with_context(|| file.display().to_string())?;
        if std::fs::read(&target).is_ok_and(|old| old == text) {
            continue;
        }
        std::fs::create_dir_all(target.parent().context("a file lies in a folder")?)?;
        std::fs::write(&target, text).with_context(|| target.display().to_string())?;
    }
    remove_others(to, Path::new(""), &files)
}

/// Removes the files of the copy that the repository does not have.
fn remove_others(copy: &Path, folder: &Path, files: &BTreeSet<PathBuf>) -> Result<()> {
    for entry in std::fs::read_dir(copy.join(folder))? {
        let entry = entry?;
        let path = folder.join(entry.file_name());
        if entry.file_type()?.is_dir() {
            remove_others(copy, &path, files)?;
        } else if !files.contains(&path) {
            std::fs::remove_file(entry.path()).with_context(|| entry.path().display().to_string())?;
        }
    }
    Ok(())
}

fn output(mut command: Command) -> Result<String> {
    let output = command.output()?;
    if !output.status.success() {
        bail!("{}", String::from_utf8_lossy(&output.stderr));
    }
    Ok(String::from_utf8(output.stdout)?)
}
