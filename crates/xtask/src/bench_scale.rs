//! `cargo xtask bench scale`: CPU and peak memory of the stages of `docs/scale.md` on the command line, each in a process of its
//! own. Words choose stages: `stream`, `maps`, or `maps=100000,300000` for other sizes than up to a million bags.

use anyhow::Result;

use crate::run::{program, release_binary, run as call};
use crate::venv;

/// Runs the stages; the last line says what missed its bar.
pub(crate) fn run(stages: &[String]) -> Result<()> {
    let python = venv::python(&["numpy", "pyarrow"])?;
    let binary = release_binary()?;
    let mut command = program(&python, &["crates/xtask/peers/scale.py"]);
    command.arg(binary).args(stages);
    call(command)
}
