//! bagwise for Python: conversions and nothing else. What users see is in `python/bagwise`; the core knows nothing of
//! Python.
//!
//! `runtime` runs every computation: it lets other Python threads run, reacts to Ctrl-C and turns errors into exceptions.
//! `bags`, `fitting`, `judging` and `tables` convert arguments and results; `borrowed` reads arrays where they are.

mod bags;
mod borrowed;
mod fitting;
mod judging;
mod runtime;
mod tables;

use std::ffi::OsString;

use pyo3::prelude::*;

/// Runs a command line, program name first; the exit code.
#[pyfunction]
fn main(py: Python<'_>, args: Vec<OsString>) -> u8 {
    py.detach(|| bagwise_cli::main_from(args))
}

#[pymodule]
#[pyo3(name = "_native")]
fn bagwise_native(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    module.add_class::<bags::NativeBags>()?;
    module.add_class::<fitting::Model>()?;
    module.add_function(wrap_pyfunction!(fitting::fit, module)?)?;
    module.add_function(wrap_pyfunction!(judging::evaluate, module)?)?;
    module.add_function(wrap_pyfunction!(judging::folds, module)?)?;
    module.add_function(wrap_pyfunction!(judging::report, module)?)?;
    module.add_function(wrap_pyfunction!(tables::gram, module)?)?;
    module.add_function(wrap_pyfunction!(tables::cautions, module)?)?;
    module.add_function(wrap_pyfunction!(tables::undecided, module)?)?;
    module.add_function(wrap_pyfunction!(tables::read, module)?)?;
    module.add_function(wrap_pyfunction!(tables::write, module)?)?;
    module.add_function(wrap_pyfunction!(tables::methods, module)?)?;
    module.add_function(wrap_pyfunction!(tables::builtin_names, module)?)?;
    module.add_function(wrap_pyfunction!(tables::fetch, module)?)?;
    module.add_function(wrap_pyfunction!(main, module)?)
}
