//! Readers of files that may come from strangers and that no command runs by itself: for fuzz targets, and for the test that
//! replays what these found.

use std::path::Path;

use anyhow::Result;

use crate::experiment::{Experiment, printed as printed_numbers};

/// Reads an experiment, as `run` does before it computes anything.
pub fn experiment(path: &Path) -> Result<()> {
    for quick in [false, true] {
        let experiment = Experiment::read(path, quick)?;
        for entry in &experiment.method {
            for data in &experiment.data {
                let _ = (entry.learning(&data.name), experiment.expected(entry, &data.name));
            }
        }
    }
    Ok(())
}

/// Reads a file of printed numbers.
pub fn printed(path: &Path) -> Result<()> {
    let rows = printed_numbers::read(path)?;
    for row in &rows {
        let _ = (row.number(), row.is_summary(), row.is_void());
    }
    Ok(())
}
