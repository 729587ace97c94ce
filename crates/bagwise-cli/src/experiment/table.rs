//! The tables of an experiment: what was printed of each method on each data set, from a file of printed numbers or from the
//! experiment itself, and what cannot be compared.

use std::collections::BTreeMap;
use std::path::PathBuf;

use anyhow::{Result, bail};
use bagwise::judge::Metric;
use serde::Deserialize;

use super::printed::{self, PrintedNumbers, PrintedRow};
use super::{Data, Entry, Experiment, Measure};

/// A table of an experiment.
#[derive(Clone, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(super) struct TableSettings {
    title: String,
    pub(super) metric: String,
    #[serde(default)]
    percent: bool,
    #[serde(default)]
    measure: Measure,
    printed: Option<PathBuf>,
    column: Option<String>,
    references: Option<PathBuf>,
    /// The data sets of this table; all if not given.
    pub(super) data: Option<Vec<String>>,
    /// Tests over data sets, in a file beside this one.
    pub(super) tests: Option<PathBuf>,
    /// The method that the tests and the axis of ranks compare the others with.
    pub(super) control: Option<String>,
    /// Methods whose printed numbers are something else here, and why.
    pub(super) incomparable: Option<Incomparable>,
}

/// Methods whose printed numbers do not measure what ours do.
#[derive(Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Incomparable {
    pub(super) methods: Vec<String>,
    why: String,
}

/// A table with everything that was printed.
pub(crate) struct PrintedTable {
    /// Its name.
    pub(crate) title: String,
    /// What ours are.
    pub(crate) metric: Metric,
    /// Printed numbers are in percent.
    pub(crate) percent: bool,
    /// What the printed numbers are.
    pub(crate) measure: Measure,
    /// The data sets of this table; all if not given.
    data: Option<Vec<String>>,
    /// The printed numbers.
    pub(crate) numbers: PrintedNumbers,
    /// Numbers of an independent implementation.
    references: PrintedNumbers,
    /// Printed tests of the control against each other method.
    pub(crate) tests: Vec<PrintedRow>,
    /// The method that the others are compared with.
    pub(crate) control: Option<String>,
    incomparable: Option<Incomparable>,
    /// Numbers in the file of the experiment belong to this table.
    first: bool,
}

/// What was printed of one method on one data set.
#[derive(Clone, Default)]
pub(crate) struct PrintedCell {
    /// The number.
    pub(crate) value: Option<f64>,
    /// What is printed behind it.
    pub(crate) spread: String,
    /// What is to be known of it.
    pub(crate) remark: String,
    /// What an independent implementation reached.
    pub(crate) reference: Option<f64>,
    /// Why it cannot be compared with ours, if so.
    pub(crate) incomparable: Option<String>,
}

impl PrintedTable {
    /// Whether the table has data sets of its own, and not all of the experiment.
    pub(crate) fn lists_data(&self) -> bool {
        self.data.is_some()
    }

    /// Whether the table has this data set.
    pub(crate) fn has(&self, data: &Data) -> bool {
        self.data.as_ref().is_none_or(|list| list.contains(&data.name))
    }

    /// What was printed of a method on a data set.
    pub(crate) fn cell(&self, data: &Data, entry: &Entry) -> PrintedCell {
        let set = data.printed_name();
        let row = self.numbers.of(set, &entry.name);
        let inline = |map: &BTreeMap<String, f64>| map.get(&data.name).copied().filter(|_| self.first);
        let own = self.incomparable.as_ref().filter(|i| i.methods.contains(&entry.name));
        let void = row.filter(|r| r.is_void()).map(|r| r.remark.clone());
        let why = [data.incomparable.clone(), entry.incomparable.clone(), own.map(|i| i.why.clone()), void];
        PrintedCell {
            value: inline(&entry.printed).or(row.and_then(PrintedRow::number)),
            spread: row.map_or(String::new(), |r| r.spread.clone()),
            remark: row.map_or(String::new(), |r| r.remark.clone()),
            reference: inline(&entry.reference)
                .or(self.references.of(set, &entry.name).and_then(PrintedRow::number)),
            incomparable: why.into_iter().flatten().next(),
        }
    }
}

impl Experiment {
    /// The tables, with what the files beside the experiment say was printed.
    pub(crate) fn tables(&self) -> Result<Vec<PrintedTable>> {
        let top = TableSettings {
            title: self.title.clone(),
            metric: self.metric.clone(),
            percent: self.percent,
            measure: self.measure,
            printed: self.printed.clone(),
            column: self.column.clone(),
            references: self.references.clone(),
            data: None,
            tests: None,
            control: None,
            incomparable: None,
        };
        let all = match (self.data.is_empty(), self.table.is_empty()) {
            // Figures alone.
            (true, _) => Vec::new(),
            (_, true) => vec![top],
            _ => self.table.clone(),
        };
        let read = |path: &Option<PathBuf>| {
            path.as_ref().map_or(Ok(Vec::new()), |p| printed::read(&self.folder.join(p)))
        };
        let file = |path: &Option<PathBuf>| path.as_ref().map_or(PathBuf::new(), |p| self.folder.join(p));
        all.into_iter()
            .enumerate()
            .map(|(i, t)| {
                let usual = match t.measure {
                    Measure::Seconds => "seconds".to_string(),
                    Measure::Metric if t.percent => format!("{}_percent", t.metric),
                    Measure::Metric => t.metric.clone(),
                };
                let column = t.column.as_deref().unwrap_or(&usual);
                let rows = read(&t.printed)?;
                let found = rows.first().map(|row| row.metric.clone());
                let numbers = PrintedNumbers::new(rows, column, &file(&t.printed))?;
                // Else the page would say that the paper has no numbers.
                if let (Some(file), Some(found), true) = (&t.printed, found, numbers.is_empty()) {
                    bail!(
                        "{}: no line has the metric '{column}'; its first line has '{found}': set column = \"{found}\"",
                        file.display()
                    );
                }
                Ok(PrintedTable {
                    metric: t.metric.parse()?,
                    numbers,
                    references: PrintedNumbers::new(read(&t.references)?, column, &file(&t.references))?,
                    tests: read(&t.tests)?,
                    title: t.title,
                    percent: t.percent,
                    measure: t.measure,
                    data: t.data,
                    control: t.control,
                    incomparable: t.incomparable,
                    first: i == 0,
                })
            })
            .collect()
    }

    /// Warnings about names in the files of its tables that the experiment does not have.
    pub(crate) fn unknown_names(&self, tables: &[PrintedTable]) -> Vec<String> {
        let numbers: Vec<&PrintedNumbers> = tables.iter().flat_map(|t| [&t.numbers, &t.references]).collect();
        printed::unknown_names(&numbers, &self.named.printed_sets, &self.named.methods)
    }

    /// Everything that is read beside the file itself.
    pub(crate) fn files(&self) -> Vec<PathBuf> {
        let tables = self.table.iter().flat_map(|t| [&t.printed, &t.references, &t.tests]);
        let figures = self.figure.iter().flat_map(|f| [&f.printed, &f.numbers]);
        let own = [&self.printed, &self.references, &self.meta_rank];
        let named = own.into_iter().chain(tables).chain(figures).flatten();
        let named = named.chain(&self.facts).chain(self.densities.as_ref().map(|d| &d.printed));
        let beside = named.map(|path| self.folder.join(path));
        let of_figures = self.figure.iter().flat_map(|f| &f.data).map(|name| self.folder.join(name));
        // A name of known data may also be that of a folder.
        let of_figures = of_figures.filter(|path| path.is_file());
        beside.chain(of_figures).chain(self.data.iter().map(|d| PathBuf::from(d.read()))).collect()
    }

    /// The file of printed numbers of each table.
    #[cfg(test)]
    pub(super) fn printed_files(&self) -> Vec<Option<PathBuf>> {
        let all = self.table.iter().map(|t| t.printed.clone()).collect();
        if self.table.is_empty() { vec![self.printed.clone()] } else { all }
    }

    /// Printed ranks over all tables.
    pub(crate) fn ranks_of_ranks(&self) -> Result<Vec<PrintedRow>> {
        self.meta_rank.as_ref().map_or(Ok(Vec::new()), |path| printed::read(&self.folder.join(path)))
    }

    /// Printed densities around misclassified bags.
    pub(crate) fn printed_densities(&self) -> Result<Vec<PrintedRow>> {
        self.densities.as_ref().map_or(Ok(Vec::new()), |d| printed::read(&self.folder.join(&d.printed)))
    }

    /// What the paper says of its data.
    pub(crate) fn facts(&self) -> Result<Vec<PrintedRow>> {
        let files = self.facts.iter().map(|path| printed::read(&self.folder.join(path)));
        Ok(files.collect::<Result<Vec<_>>>()?.concat())
    }
}
