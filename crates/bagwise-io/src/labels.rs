//! The table that describes a folder of bags: one row per bag with its name, label, group and what is kept, under a heading unless
//! the options say that there is none.

use std::path::Path;

use super::columns::{Roles, find_beside};
use super::dialect::Numbers;
use super::text::utf8;
use super::{ReadOptions, compress, csv};
use bagwise_core::{Error, Message, Place, Result, Setting};

/// The values of a row of the table, for one bag.
pub(super) struct LabelRow {
    pub(super) line: u64,
    pub(super) bag: String,
    pub(super) label: Option<String>,
    pub(super) group: Option<String>,
    /// What the columns to keep say of it.
    pub(super) kept: Vec<String>,
    /// What the columns without a role say of it.
    pub(super) unused: Vec<String>,
}

/// The rows of a table of labels, in its order.
pub(super) struct LabelTable {
    pub(super) source: String,
    /// The names of the columns to keep.
    pub(super) kept: Vec<String>,
    /// The names of the columns without a role.
    pub(super) unused: Vec<String>,
    pub(super) rows: Vec<LabelRow>,
    /// How it writes numbers.
    pub(super) numbers: Numbers,
    /// What the user should know about the table.
    pub(super) warnings: Vec<Message>,
}

/// Reads a table of labels.
pub(super) fn read(path: &Path, options: &ReadOptions) -> Result<LabelTable> {
    let source = path.display().to_string();
    let mut table = csv::rows(&source, compress::open(path)?, options, csv::has_tabs(path))?;
    let refuse =
        |line: u64, found: String, remedy: &str| Err(Error::data(Place::line(&source, line), found, remedy));
    if !table.next()? {
        return refuse(1, "the table is empty".into(), "add a header and one row per bag");
    }
    let heading_line = table.line;
    let headed = options.header != Some(false);
    let first: Vec<String> = table
        .record
        .iter()
        .map(|cell| utf8(&source, heading_line, cell).map(|text| text.trim().to_string()))
        .collect::<Result<_>>()?;
    let Roles { bag, label, group, keep, features: unused, .. } =
        find_beside(&Place::line(&source, heading_line), headed.then_some(&first[..]), first.len(), options)?;
    if label.is_none() && !options.unlabelled {
        return Err(Error::data(
            Place::line(&source, heading_line),
            "there is no column called label, class or target",
            Message::from("name the label column").with([Setting::Label]),
        ));
    }
    let mut rows = Vec::new();
    let mut lines = std::collections::HashMap::new();
    let mut more = if headed { table.next()? } else { true };
    while more {
        let line = table.line;
        if table.record.len() != first.len() {
            return refuse(
                line,
                format!("{} columns", table.record.len()),
                &format!("the first line has {}; look for a missing or extra delimiter", first.len()),
            );
        }
        let cell =
            |column: usize| utf8(&source, line, &table.record[column]).map(|text| text.trim().to_string());
        let row = LabelRow {
            line,
            bag: cell(bag)?,
            label: label.map(cell).transpose()?,
            group: group.map(cell).transpose()?,
            kept: keep.iter().map(|&c| cell(c)).collect::<Result<_>>()?,
            unused: unused.iter().map(|&c| cell(c)).collect::<Result<_>>()?,
        };
        if let Some(before) = lines.insert(row.bag.clone(), line) {
            return refuse(
                line,
                format!("bag '{}' is already in line {before}", row.bag),
                "a table of labels has one row per bag",
            );
        }
        rows.push(row);
        more = table.next()?;
    }
    let warnings = std::mem::take(&mut table.notes);
    let name = |c: usize| if headed { first[c].clone() } else { format!("column {}", c + 1) };
    let kept = keep.iter().map(|&c| name(c)).collect();
    let unused = unused.iter().map(|&c| name(c)).collect();
    Ok(LabelTable { source: source.clone(), kept, unused, rows, numbers: table.numbers, warnings })
}
