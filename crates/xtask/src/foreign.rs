//! `cargo xtask foreign`: files that pandas, pyarrow, Polars, DuckDB, fastparquet, NumPy, SciPy and spreadsheets write, in
//! every form they offer, read by the command line and compared value by value. The writers are large, so that they have an
//! environment of their own and this is no part of `test`.

use anyhow::Result;

use crate::run::{cargo, program, run, target};
use crate::venv;

/// The writers.
const PACKAGES: [&str; 7] = ["numpy", "scipy", "pandas", "pyarrow", "polars", "duckdb", "fastparquet"];

/// Runs the comparison.
pub(crate) fn command() -> Result<()> {
    run(cargo(&["build", "--quiet", "--package", "bagwise-cli"]))?;
    let python = venv::python_in("venv-foreign", &PACKAGES)?;
    let binary = target().join("debug").join(if cfg!(windows) { "bagwise.exe" } else { "bagwise" });
    let mut peer = program(&python, &["crates/xtask/peers/foreign.py"]);
    peer.arg(binary);
    run(peer)
}
