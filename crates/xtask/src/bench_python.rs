//! `cargo xtask bench python`: the Python package beside what people use today, on the same folds, in one run. The peer
//! is `peers/python.py`; sawmil comes from the package index if it can be had, Weka's MISMO where Debian put it.
//! `cargo xtask bench memory`: what simple-mi, isk and mi-kernel take beside large data, in Python and on the command line.

use anyhow::Result;

use crate::run::{program, release_binary, root, run, say};
use crate::{venv, weka, wheel};

/// The sets of the promise. `BAGWISE_BENCH_SETS` names others, for a quick look.
const SETS: &str = "musk1,elephant,musk2";

/// Runs the bench.
pub(crate) fn measure() -> Result<()> {
    let python = venv::python(wheel::PACKAGES)?;
    // A peer that cannot be installed is left out, and the table says so.
    if venv::python(&["sawmil==0.2.1", "osqp"]).is_err() {
        say("sawmil could not be installed and is left out");
    }
    let file = wheel::build(&python, true)?;
    wheel::install(&python, &file)?;
    let sets = std::env::var("BAGWISE_BENCH_SETS").unwrap_or(SETS.into());
    let mut peer = program(&python, &["crates/xtask/peers/python.py", &sets, "3"]);
    if let Ok(jar) = weka::jar() {
        peer.arg(jar);
    }
    peer.current_dir(root());
    run(peer)
}

/// Peak memory beside data of some gigabytes. Words: the gigabytes, those of the memory budget, then methods and forms.
pub(crate) fn memory(words: &[String]) -> Result<()> {
    let python = venv::python(wheel::PACKAGES)?;
    let file = wheel::build(&python, true)?;
    wheel::install(&python, &file)?;
    let mut peer = program(&python, &["crates/xtask/peers/memory.py"]);
    peer.arg(release_binary()?).args(words);
    run(peer)
}
