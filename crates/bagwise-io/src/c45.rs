//! The C4.5 form of the UCI musk data: no heading, values between commas, the class last and a full stop behind it.
//!
//! ```text
//! MUSK-188,188_1+1,42,-198,-109,…,1.
//! ```
//!
//! The first column is the molecule, which is the bag, the second the conformation, which is kept; the features are
//! called f1, f2, … as in UCI's description. Options that name columns may use these names (`molecule_name`,
//! `conformation_name`, `class`) or numbers. What follows a `|` is a comment. Read, not written.

use std::io::{BufReader, Cursor, Read};
use std::path::Path;

use super::assemble::{BagBuilder, SideColumns};
use super::cells::{CellContent, FeatureCells, MAX_COLUMNS};
use super::dialect::Numbers;
use super::text::{check_head, next_line, shown, utf8};
use super::{Column, ReadOptions, Reader, columns, compress};
use bagwise_core::{CarriedColumn, Dataset, Error, Place, Result};

const BAG: &str = "molecule_name";
const KEPT: &str = "conformation_name";

/// Reads the C4.5 form of musk.
pub(super) struct C45;

impl Reader for C45 {
    fn name(&self) -> &'static str {
        "uci-musk"
    }

    fn recognises(&self, path: &Path, head: &[u8]) -> bool {
        if path.is_dir() || super::plain_extension(path).as_deref() != Some("data") {
            return false;
        }
        let row = head.split(|&b| b == b'\n').map(content).find(|row| !row.is_empty());
        row.is_some_and(|row| row.ends_with(b".") && row.iter().filter(|&&b| b == b',').count() >= 3)
    }

    fn read(&self, path: &Path, options: &ReadOptions) -> Result<Dataset> {
        read(&path.display().to_string(), compress::open(path)?, options)
    }
}

/// A row without its comment.
fn content(row: &[u8]) -> &[u8] {
    row.split(|&b| b == b'|').next().unwrap_or_default().trim_ascii()
}

fn read(source: &str, mut input: impl Read, options: &ReadOptions) -> Result<Dataset> {
    let head = super::read_head(&mut input).map_err(|e| compress::explain(Place::of(source), e))?;
    let text = check_head(source, &head)?.to_vec();
    let mut input = BufReader::new(Cursor::new(text).chain(input));
    let mut options = options.clone();
    options.bag.get_or_insert(Column::Name(BAG.into()));
    let kept = Column::Name(KEPT.into());
    let named = [&options.keep, &options.ignore].iter().any(|list| list.contains(&kept))
        || [&options.label, &options.group, &options.instance_label].contains(&&Some(kept.clone()))
        || [&options.keep, &options.ignore].iter().any(|list| list.contains(&Column::Number(2)))
        || options.features.iter().any(|f| f == KEPT);
    if !named {
        options.keep.push(kept);
    }

    let mut book = BagBuilder::new(source, &options);
    let mut table = None;
    let (mut row, mut line) = (Vec::new(), 0);
    while next_line(&mut input, &mut row).map_err(|e| compress::explain(Place::line(source, line + 1), e))? {
        line += 1;
        let content = content(&row);
        if content.is_empty() {
            continue;
        }
        let refuse = |found: String, remedy: &str| Error::data(Place::line(source, line), found, remedy);
        let content = content.strip_suffix(b".").ok_or_else(|| {
            let last = content.rsplit(|&b| b == b',').next().unwrap_or_default();
            refuse(
                format!("the row ends with '{}' instead of a full stop", shown(last)),
                "every row must end with its class and a full stop; is the line truncated?",
            )
        })?;
        let cells: Vec<&[u8]> = content.split(|&b| b == b',').map(<[u8]>::trim_ascii).collect();
        let (roles, store, beside, width) = match &mut table {
            Some(table) => table,
            None => table.insert(start(source, line, cells.len(), &options)?),
        };
        if cells.len() != *width {
            return Err(refuse(
                format!("the row has {} values", cells.len()),
                &format!("the first row has {width}; look for a missing or extra comma"),
            ));
        }
        let text = |column: usize| utf8(source, line, cells[column]);
        let id = text(roles.bag)?;
        book.row(line, id, roles.label.map(text).transpose()?, roles.group.map(text).transpose()?)?;
        for (kept, &column) in beside.kept.iter_mut().zip(&roles.keep) {
            kept.values.push(text(column)?.to_string());
        }
        if let (Some(labels), Some(column)) = (&mut beside.instance_labels, roles.instance_label) {
            labels.push(text(column)?.to_string());
        }
        for (i, &column) in roles.features.iter().enumerate() {
            store.push(line, id, i, cells[column])?;
        }
        store.end_row();
    }
    let Some((roles, cells, beside, _)) = table else {
        return Err(Error::data(
            Place::of(source),
            "the table has no rows",
            "give at least one bag with one instance",
        ));
    };
    let (instances, features, found) = cells.finish()?;
    book.finish(instances, features, &found, beside, &options, Vec::new(), roles.warnings)
}

/// What the width of the first row says about the table.
fn start(
    source: &str,
    line: u64,
    width: usize,
    options: &ReadOptions,
) -> Result<(columns::Roles, FeatureCells, SideColumns, usize)> {
    let place = Place::line(source, line);
    if !(4..=MAX_COLUMNS).contains(&width) {
        return Err(Error::data(
            place,
            format!("the row has {width} values"),
            "give molecule, conformation, at least one feature, and class",
        ));
    }
    let names: Vec<String> = [BAG.to_string(), KEPT.to_string()]
        .into_iter()
        .chain((1..=width - 3).map(|f| format!("f{f}")))
        .chain(["class".to_string()])
        .collect();
    let roles = columns::find(&place, Some(&names), width, options)?;
    let content = |is: bool| if is { CellContent::Categories } else { CellContent::Any };
    let declared =
        roles.features.iter().zip(&roles.categorical).map(|(&c, &is)| (names[c].clone(), content(is)));
    let cells = FeatureCells::new(source, declared.collect(), options, Numbers::PLAIN);
    let beside = SideColumns {
        kept: roles
            .keep
            .iter()
            .map(|&c| CarriedColumn { name: names[c].clone(), values: Vec::new() })
            .collect(),
        instance_labels: roles.instance_label.map(|_| Vec::new()),
    };
    Ok((roles, cells, beside, width))
}
