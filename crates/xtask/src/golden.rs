//! Rewrites what tests compare with, after a change that is meant: the snapshots of the command line, the output
//! that the documentation shows, and the estimators of the Python package. Read the difference before you commit it.

use std::path::Path;

use anyhow::{Context as _, Result, ensure};

use crate::run::{self, root};

/// Packages with such tests, those first that the others' output quotes.
const PACKAGES: [&str; 3] = ["bagwise", "bagwise-report", "bagwise-cli"];

/// What a test that compares with a file says in its source.
const MARKS: [&str; 2] = ["assert_snapshot!", "BAGWISE_REWRITE_DOCS"];

/// Rewrites snapshots and shown output. Only the tests that compare with files are built and run: the others would
/// take ten times as long and rewrite nothing.
pub(crate) fn run_all() -> Result<()> {
    for package in PACKAGES {
        let names = comparing(&root().join("crates").join(package).join("tests"))?;
        ensure!(!names.is_empty(), "no test of {package} compares with a file");
        let mut command = run::tests(&names);
        command.env("INSTA_UPDATE", "always").env("BAGWISE_REWRITE_DOCS", "1");
        run::run(command)?;
    }
    crate::python::write()?;
    run::say("rewritten; `git diff` shows what changed");
    Ok(())
}

/// The tests of a folder that compare with files: single files, or folders with a `main.rs`.
fn comparing(folder: &Path) -> Result<Vec<String>> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).with_context(|| folder.display().to_string())? {
        let path = entry?.path();
        let is_test =
            path.join("main.rs").is_file() || path.is_file() && path.extension().is_some_and(|e| e == "rs");
        if is_test && compares(&path)? {
            found.extend(path.file_stem().map(|stem| stem.to_string_lossy().into_owned()));
        }
    }
    found.sort();
    Ok(found)
}

/// Whether a source, or one in this folder, has one of the marks.
fn compares(path: &Path) -> Result<bool> {
    if path.is_dir() {
        for entry in std::fs::read_dir(path)? {
            if compares(&entry?.path())? {
                return Ok(true);
            }
        }
        return Ok(false);
    }
    if path.extension().is_none_or(|e| e != "rs") {
        return Ok(false);
    }
    let text = std::fs::read_to_string(path).with_context(|| path.display().to_string())?;
    Ok(MARKS.iter().any(|mark| text.contains(mark)))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A snapshot of a package that is not listed would never be renewed.
    #[test]
    fn every_test_that_compares_with_a_file_is_run() {
        for entry in std::fs::read_dir(root().join("crates")).unwrap() {
            let package = entry.unwrap().path();
            let tests = package.join("tests");
            if tests.is_dir() && !comparing(&tests).unwrap().is_empty() {
                let name = package.file_name().unwrap().to_str().unwrap();
                assert!(PACKAGES.contains(&name), "{name} has tests that compare with files");
            }
        }
        let of_cli = comparing(&root().join("crates/bagwise-cli/tests")).unwrap();
        assert_eq!(of_cli, ["cli", "examples", "verbs"]);
    }
}
