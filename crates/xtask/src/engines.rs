//! `cargo xtask test engines`: the recipes of `docs/scale.md` with the real engines: PySpark on a local cluster with an executor
//! that is killed, Dask on two processes of which one is killed, DataFusion, Polars and DuckDB. They are large, so that they
//! have an environment of their own and this is no part of `test`. What is missing is said.
//!
//! Words choose engines and sizes: `cargo xtask test engines bags=40000 kills=10 spark dask` gives both 40,000 bags with 1,999,955
//! instances of 64 features, once undisturbed and in ten runs with a killed process.

use std::path::PathBuf;

use anyhow::{Context as _, Result, bail};

use crate::run::{program, run as call};
use crate::{venv, wheel};

/// The engines, and what the package itself asks for.
const PACKAGES: [&str; 9] = [
    "numpy",
    "scikit-learn",
    "pandas",
    "pyarrow",
    "pyspark",
    "dask[distributed]",
    "datafusion",
    "polars",
    "duckdb",
];

/// The program that runs the recipes.
const RECIPES: &str = "crates/xtask/peers/engines.py";

/// An interpreter that has the package and the engines.
fn python() -> Result<PathBuf> {
    let built = wheel::build(&venv::python(wheel::PACKAGES)?, true)?;
    let python = venv::python_in("venv-engines", &PACKAGES)?;
    wheel::install(&python, &built)?;
    Ok(python)
}

/// Runs the recipes that the words choose, and shows what they say.
pub(crate) fn run(words: &[String]) -> Result<()> {
    let mut command = program(&python()?, &[RECIPES]);
    command.args(words);
    call(command)
}

/// Runs every recipe; the last line says which engines agreed, and which were missing.
pub(crate) fn test() -> Result<Option<String>> {
    let said = program(&python()?, &[RECIPES]).output().context("starting the engines")?;
    let text = String::from_utf8_lossy(&said.stdout).into_owned();
    if !said.status.success() {
        bail!("an engine disagreed:\n{text}\n{}", String::from_utf8_lossy(&said.stderr));
    }
    Ok(text.lines().last().map(String::from))
}
