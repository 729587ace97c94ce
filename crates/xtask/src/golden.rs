//! Rewrites what tests compare with, after a change that is meant: the snapshots of the command line, the output
//! that the documentation shows, and the estimators of the Python package. Read the difference before you commit it.

use anyhow::Result;

use crate::run::{cargo, run, say};

/// Rewrites snapshots and shown output.
pub(crate) fn run_all() -> Result<()> {
    let tests: [&[&str]; 3] = [
        &["--package", "bagwise", "--test", "reference"],
        &["--package", "bagwise-report"],
        &["--package", "bagwise-cli"],
    ];
    for which in tests {
        let mut command = cargo(&["test", "--quiet"]);
        command.args(which).env("INSTA_UPDATE", "always").env("BAGWISE_REWRITE_DOCS", "1");
        run(command)?;
    }
    crate::python::write()?;
    say("rewritten; `git diff` shows what changed");
    Ok(())
}
