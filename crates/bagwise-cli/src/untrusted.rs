//! Readers of files that may come from strangers and that no command runs by itself: for fuzz targets, and for the test that
//! replays what these found.

use std::path::Path;

use anyhow::Result;

use crate::experiment::Experiment;
use crate::experiment::printed::{PrintedNumbers, read, unknown_names};

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
    let rows = read(path)?;
    for row in &rows {
        let _ = (row.number(), row.is_summary(), row.is_void());
    }
    // As a table of the first metric, and of the last.
    let columns = [rows.first(), rows.last()].map(|row| row.map_or(String::new(), |r| r.metric.clone()));
    for column in columns {
        let numbers = PrintedNumbers::new(rows.clone(), &column, path)?;
        let _ = (numbers.ranked().len(), numbers.sets(), numbers.is_empty());
        unknown_names(&[&numbers], &["a".into()], &["a".into()]);
    }
    Ok(())
}
