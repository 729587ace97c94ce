//! Printed numbers from files: `set,method,metric,value,spread,remark`, a line for each number of a paper. A table of an
//! experiment takes those whose metric is its column; the others of the file (averages, ranks, tests, descriptions of data)
//! are kept beside.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use anyhow::{Context as _, Result};
use bagwise::io::files::read_bounded;
use serde::Deserialize;

/// A line of a file.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct PrintedRow {
    /// The data set; in brackets what stands for several.
    pub(crate) set: String,
    /// The method, or none.
    pub(crate) method: String,
    /// What the number is.
    pub(crate) metric: String,
    /// The number as printed; empty where the paper has none.
    pub(crate) value: String,
    /// What is printed behind it.
    pub(crate) spread: String,
    /// What is to be known of it.
    pub(crate) remark: String,
}

impl PrintedRow {
    /// The number, if it is one.
    pub(crate) fn number(&self) -> Option<f64> {
        self.value.parse().ok()
    }

    /// Stands for several data sets, or several repeats.
    pub(crate) fn is_summary(&self) -> bool {
        self.set.starts_with('(') || self.metric.starts_with("win/tie/loss")
    }

    /// The remark says that the number means nothing.
    pub(crate) fn is_void(&self) -> bool {
        self.remark.starts_with("corrupt") || self.remark.starts_with("void")
    }
}

/// The lines of a file.
pub(crate) fn read(path: &Path) -> Result<Vec<PrintedRow>> {
    // The name of the file is part of an experiment, which may be a stranger's.
    const MOST: u64 = 16_000_000;
    let bytes = read_bounded(path, "a file of printed numbers", MOST)?;
    let mut reader = csv::Reader::from_reader(&bytes[..]);
    let rows = reader.deserialize().collect::<Result<Vec<PrintedRow>, _>>();
    rows.with_context(|| format!("{}: a file of printed numbers", path.display()))
}

/// The numbers of one table.
#[derive(Clone, Default)]
pub(crate) struct PrintedNumbers {
    /// By data set, as the file calls it, and method.
    cells: BTreeMap<(String, String), PrintedRow>,
    /// What stands for several data sets.
    pub(crate) summaries: Vec<PrintedRow>,
}

impl PrintedNumbers {
    /// The lines whose metric is `column`, and summaries.
    pub(crate) fn new(rows: Vec<PrintedRow>, column: &str) -> PrintedNumbers {
        let mut numbers = PrintedNumbers::default();
        for row in rows {
            if row.is_summary() {
                numbers.summaries.push(row);
            } else if row.metric == column {
                numbers.cells.insert((row.set.clone(), row.method.clone()), row);
            }
        }
        numbers
    }

    /// How many data sets have a number.
    pub(crate) fn sets(&self) -> usize {
        self.cells.keys().map(|(set, _)| set).collect::<BTreeSet<_>>().len()
    }

    /// Whether no line of the file belongs to the table.
    pub(crate) fn is_empty(&self) -> bool {
        self.cells.is_empty() && self.summaries.is_empty()
    }

    /// What the file says of a method on a data set.
    pub(crate) fn of(&self, set: &str, method: &str) -> Option<&PrintedRow> {
        self.cells.get(&(set.to_string(), method.to_string()))
    }
}
