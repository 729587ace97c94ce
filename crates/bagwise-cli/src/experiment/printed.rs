//! Printed numbers from files: `set,method,metric,value,spread,remark`, a line for each number of a paper. A table of an
//! experiment takes those whose metric is its column; the others of the file (averages, ranks, tests, descriptions of data)
//! are kept beside.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};
use bagwise::io::files::read_bounded;
use bagwise::{Error, Place};
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
    /// Where it stands in the file.
    #[serde(skip)]
    pub(crate) line: u64,
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

    /// An average rank of a method.
    pub(crate) fn is_rank(&self) -> bool {
        self.metric.ends_with("rank")
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
    let about = || format!("{}: a file of printed numbers", path.display());
    let header = reader.headers().with_context(about)?.clone();
    let mut rows = Vec::new();
    for record in reader.records() {
        let record = record.with_context(about)?;
        let row: PrintedRow = record.deserialize(Some(&header)).with_context(about)?;
        rows.push(PrintedRow { line: record.position().map_or(0, csv::Position::line), ..row });
    }
    Ok(rows)
}

/// Lines that compare methods by whatever a table shows: ranks, and what the metrics of others begin with.
const RANKS_OF_ANY_COLUMN: [&str; 2] = ["average_rank", "rank"];
const TESTS_OF_ANY_COLUMN: [&str; 3] = ["win/tie/loss", "holm_", "wilcoxon_"];

/// The numbers of one table.
#[derive(Clone, Default)]
pub(crate) struct PrintedNumbers {
    /// The file.
    path: PathBuf,
    /// The metric of its cells, as the file calls it.
    column: String,
    /// By data set, as the file calls it, and method.
    cells: BTreeMap<(String, String), PrintedRow>,
    /// What stands for several data sets.
    pub(crate) summaries: Vec<PrintedRow>,
}

impl PrintedNumbers {
    /// The lines of a file whose metric is `column`, and all summaries. A number that cannot be read, or that is there twice, would be
    /// missing from the table without a word.
    pub(crate) fn new(rows: Vec<PrintedRow>, column: &str, path: &Path) -> Result<PrintedNumbers> {
        let (path_of, column_of) = (path.to_path_buf(), column.to_string());
        let mut numbers = PrintedNumbers { path: path_of, column: column_of, ..PrintedNumbers::default() };
        for row in rows {
            let is_summary = row.is_summary();
            if !is_summary && row.metric != column {
                continue;
            }
            let refuse = |found: String, remedy: &str| {
                Err(Error::data(Place::line(path.display().to_string(), row.line), found, remedy).into())
            };
            let is_number = !is_summary || row.is_rank() || numbers.averages(&row);
            if is_number && !row.value.is_empty() && row.number().is_none_or(|v| !v.is_finite()) {
                return refuse(
                    format!("'{}' is not a number", row.value),
                    "write the number alone, what is printed behind it into the column spread, and nothing where there is none",
                );
            }
            let key = (row.set.clone(), row.method.clone());
            // A file may have the same summary of several columns.
            let same = |other: &&PrintedRow| {
                (&other.set, &other.method, &other.metric) == (&row.set, &row.method, &row.metric)
            };
            let first = match is_summary {
                true => numbers.summaries.iter().filter(|_| is_number && numbers.takes(&row)).find(same),
                false => numbers.cells.get(&key),
            };
            if let Some(PrintedRow { line, set, method, .. }) = first {
                return refuse(
                    format!("line {line} has this number too ({set}, {method})"),
                    "keep one of them",
                );
            }
            match is_summary {
                true => numbers.summaries.push(row),
                false => drop(numbers.cells.insert(key, row)),
            }
        }
        Ok(numbers)
    }

    /// Whether a summary is about the numbers of this table: its file may have several columns.
    pub(crate) fn takes(&self, row: &PrintedRow) -> bool {
        let column = self.column.as_str();
        let ranked = row.metric.strip_suffix(" rank");
        // Ranks have no unit.
        let of_column = ranked.is_some_and(|r| r == column || Some(r) == column.strip_suffix("_percent"));
        let of_any = RANKS_OF_ANY_COLUMN.contains(&row.metric.as_str())
            || TESTS_OF_ANY_COLUMN.iter().any(|test| row.metric.starts_with(test));
        row.metric == column || of_column || of_any
    }

    /// Whether a summary is the average of a method over the data sets of this table.
    pub(crate) fn averages(&self, row: &PrintedRow) -> bool {
        row.set == "(average)" && row.metric == self.column
    }

    /// Whether this is the table of the file that shows a summary: one that takes it, or any if none does.
    pub(crate) fn shows<'n>(
        &self,
        row: &PrintedRow,
        mut all: impl Iterator<Item = &'n PrintedNumbers>,
    ) -> bool {
        self.takes(row) || !all.any(|other| other.path == self.path && other.takes(row))
    }

    /// The methods whose ranks the paper prints; if it prints none, those with a number.
    pub(crate) fn ranked(&self) -> BTreeSet<&str> {
        let ranks: BTreeSet<&str> = self.ranks().map(|row| row.method.as_str()).collect();
        if ranks.is_empty() { self.cells.keys().map(|(_, method)| method.as_str()).collect() } else { ranks }
    }

    /// The printed average ranks.
    pub(crate) fn ranks(&self) -> impl Iterator<Item = &PrintedRow> {
        self.summaries.iter().filter(|row| row.is_rank() && self.takes(row))
    }

    /// How many data sets have a number.
    pub(crate) fn sets(&self) -> usize {
        self.cells.keys().map(|(set, _)| set).collect::<BTreeSet<_>>().len()
    }

    /// Whether no line of the file belongs to the table.
    pub(crate) fn is_empty(&self) -> bool {
        self.cells.is_empty() && !self.summaries.iter().any(|row| self.takes(row))
    }

    /// What the file says of a method on a data set.
    pub(crate) fn of(&self, set: &str, method: &str) -> Option<&PrintedRow> {
        self.cells.get(&(set.to_string(), method.to_string()))
    }
}

/// Warnings about names in files of printed numbers that are not among those of the experiment; each is said once for a file, however
/// many tables read it.
pub(crate) fn unknown_names(all: &[&PrintedNumbers], sets: &[String], methods: &[String]) -> Vec<String> {
    let mut rows: Vec<(&Path, &PrintedRow)> = Vec::new();
    for numbers in all {
        rows.extend(numbers.cells.values().chain(&numbers.summaries).map(|row| (&*numbers.path, row)));
    }
    let place_of = |path: &Path| all.iter().position(|numbers| numbers.path == path);
    // Numbers of single data sets come first, because the warning about these says more.
    rows.sort_by_key(|(path, row)| (place_of(path), row.is_summary(), row.line));
    let mut said: BTreeSet<(&Path, &str, &str)> = BTreeSet::new();
    let mut warnings = Vec::new();
    for (path, row) in rows {
        let set = Some(row.set.as_str()).filter(|set| !set.starts_with('('));
        let of_sets = set.into_iter().map(|set| ("data set", set, sets));
        let of_methods = row.method.split(" vs. ").map(|method| ("method", method, methods));
        for (what, name, known) in of_sets.chain(of_methods) {
            if name.is_empty() || known.iter().any(|k| k == name) || !said.insert((path, what, name)) {
                continue;
            }
            let meant = match Error::unknown(what, name, known.iter().map(String::as_str)) {
                Error::Unknown { suggestion: Some(suggestion), .. } => format!("; {suggestion}"),
                _ => String::new(),
            };
            let so = match (row.is_summary(), what) {
                (true, _) => "there is no value of ours next to its numbers",
                (false, "method") => "its numbers on single data sets are not shown",
                _ => "its numbers are not shown",
            };
            warnings.push(format!(
                "{}, line {}: no {what} is called '{name}' in the experiment, so {so}{meant}",
                path.display(),
                row.line
            ));
        }
    }
    warnings
}
