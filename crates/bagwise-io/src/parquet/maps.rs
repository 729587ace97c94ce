//! Feature maps in a Parquet file, as engines write what `bagwise.arrow.mapper` gives: a row per bag with its name (`bag`), in two
//! lists of equal length the columns of its map (`columns`) and their values (`values`), and the digest of the map that it was mapped
//! by (`map`), which may be missing.

use std::borrow::Cow;
use std::path::Path;

use super::pages::{Budget, ColumnValues};
use super::pieces::OpenColumn;
use super::{ParquetFile, VALUES, fields, list_free, of_column};
use crate::arrays::Values;
use crate::stream::TakeMap;
use crate::text::{ParseProblem, Parsed, wrong};
use bagwise_core::{Message, Result};

/// Rows that are read at a time; a map has some thousand entries.
const ROWS: usize = 256;

/// Hands out the maps of a file, row by row.
pub(crate) fn read(path: &Path, take: TakeMap<'_>) -> Result<()> {
    let mut file = ParquetFile::open(path)?;
    let footer = file.footer()?;
    let fields = fields(&footer).map_err(|e| file.refuse(e))?;
    let source = file.name.clone();
    let named = |name: &str| fields.iter().find(|field| field.name == name);
    let (Some(bag), Some(columns), Some(values)) = (named("bag"), named("columns"), named("values")) else {
        let names: Vec<String> = fields.iter().map(|f| format!("'{}'", f.name)).collect();
        let found =
            format!("maps have the columns bag, columns and values; this file has {}", names.join(", "));
        return Err(file
            .refuse((found, "write it with bagwise.arrow.mapper, and nothing else into the folder".into())));
    };
    let in_column = |name: &str, fault: ParseProblem| of_column(&source, name, fault);
    let mut budget = Budget::new(file.length, VALUES);
    for group in footer.list(4) {
        let Some(mut left) = group.size(3) else {
            return Err(
                file.refuse(("a row group has no number of rows".into(), "write the file again".into()))
            );
        };
        let open = |field| OpenColumn::open(group, field);
        let mut bags = open(bag).map_err(|e| in_column("bag", e))?;
        let mut lists = open(columns).map_err(|e| in_column("columns", e))?;
        let mut numbers = open(values).map_err(|e| in_column("values", e))?;
        let mut digests = named("map").map(open).transpose().map_err(|e| in_column("map", e))?;
        while left > 0 {
            let count = left.min(ROWS);
            let names = bags.rows(count, &mut file, &mut budget).and_then(list_free);
            let names = names.map_err(|e| in_column("bag", e))?;
            let lists = lists.rows(count, &mut file, &mut budget).and_then(|part| whole(part, count));
            let (lengths, columns) = lists.map_err(|e| in_column("columns", e))?;
            let numbers = numbers.rows(count, &mut file, &mut budget).and_then(|part| floats(part, &lengths));
            let values = numbers.map_err(|e| in_column("values", e))?;
            let digests = match &mut digests {
                Some(digests) => {
                    let part = digests.rows(count, &mut file, &mut budget).and_then(list_free);
                    Some(part.map_err(|e| in_column("map", e))?)
                }
                None => None,
            };
            let mut from = 0;
            for (row, length) in lengths.into_iter().enumerate() {
                let to = from + length;
                let digest = digests.as_ref().map_or(Cow::Borrowed(""), |all| all.text(row));
                take(names.text(row).trim(), digest.trim(), &columns[from..to], &values[from..to])?;
                from = to;
            }
            left -= count;
        }
    }
    Ok(())
}

fn lists(message: &str) -> ParseProblem {
    (message.into(), Message::from("write it with bagwise.arrow.mapper"))
}

/// Lists of columns, one after the other, and their lengths.
fn whole(part: ColumnValues, rows: usize) -> Parsed<(Vec<usize>, Vec<u32>)> {
    if part.lengths.len() != rows {
        return Err(lists("it is not a list of whole numbers"));
    }
    let Values::Whole(whole) = part.values else {
        return Err(lists("it is not a list of whole numbers, or some are missing"));
    };
    match whole.iter().map(|&c| u32::try_from(c).ok()).collect() {
        Some(columns) => Ok((part.lengths, columns)),
        None => wrong("a column is below 0, or far too large", "write it with bagwise.arrow.mapper"),
    }
}

/// Lists of values, as long as those of columns.
fn floats(part: ColumnValues, lengths: &[usize]) -> Parsed<Vec<f64>> {
    match part.values {
        Values::Numbers(numbers) if part.lengths == lengths => Ok(numbers),
        Values::Numbers(_) => Err(lists("a list of values is not as long as its list of columns")),
        _ => Err(lists("it is not a list of numbers")),
    }
}
