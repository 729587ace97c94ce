//! `cargo xtask test engines`: the recipes of `docs/scale.md` with the real engines: PySpark on a local cluster with an executor
//! that is killed, Dask on two processes of which one is killed, DataFusion, Polars and DuckDB. They are large, so that they
//! have an environment of their own and this is no part of `test`. What is missing is said.

use anyhow::{Context as _, Result, bail};

use crate::run::program;
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

/// Runs every recipe; the last line says which engines agreed, and which were missing.
pub(crate) fn test() -> Result<Option<String>> {
    let built = wheel::build(&venv::python(wheel::PACKAGES)?, true)?;
    let python = venv::python_in("venv-engines", &PACKAGES)?;
    wheel::install(&python, &built)?;
    let said =
        program(&python, &["crates/xtask/peers/engines.py"]).output().context("starting the engines")?;
    let text = String::from_utf8_lossy(&said.stdout).into_owned();
    if !said.status.success() {
        bail!("an engine disagreed:\n{text}\n{}", String::from_utf8_lossy(&said.stderr));
    }
    Ok(text.lines().last().map(String::from))
}
