//! A first look at a table whose columns have no roles yet: what each column contains in the first rows, and which
//! could be the bag, the label and the group.

use std::collections::{HashMap, HashSet};
use std::path::Path;

use super::columns::Role;
use super::doubt::is_date;
use super::text::{Markers, number};
use super::{ReadOptions, columns, csv, parquet, reader_of};
use bagwise_core::Result;

/// Rows that are looked at.
const ROWS: usize = 5000;

/// A column of a table.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct ColumnSketch {
    /// Its heading.
    pub name: String,
    /// "numbers", "whole numbers", "dates", "text" or "nothing".
    pub holds: &'static str,
    /// Different values.
    pub different: usize,
    /// Cells without a value.
    pub missing: usize,
    /// The first value.
    pub example: String,
}

/// The columns of a table, and what they could be.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct TableSketch {
    /// Rows that were looked at.
    pub rows: usize,
    /// The columns.
    pub columns: Vec<ColumnSketch>,
    /// The column whose values come in the most blocks of rows.
    pub bag: Option<String>,
    /// The column that is the same within those blocks and has the fewest values.
    pub label: Option<String>,
    /// One that is the same within blocks and lies between the two.
    pub group: Option<String>,
}

/// A look at the table of this name, if it has headings and none of them says which column is the bag.
pub fn sketch(name: &str, options: &ReadOptions) -> Result<Option<TableSketch>> {
    let path = Path::new(name);
    if options.bag.is_some() || !path.is_file() {
        return Ok(None);
    }
    let table = match reader_of(path, options)?.name() {
        "csv" => csv::first_rows(path, options, ROWS)?,
        "parquet" => parquet::first_rows(path, ROWS)?,
        _ => None,
    };
    let is_bag = |(name, _): &(String, Vec<String>)| columns::is_usual_for(name, Role::Bag);
    Ok(table.filter(|table| !table.iter().any(is_bag)).map(|table| look(&table, options)))
}

fn look(table: &[(String, Vec<String>)], options: &ReadOptions) -> TableSketch {
    let markers = Markers::new(&options.missing_values);
    let is_there = |text: &&String| !markers.missing(text.as_bytes()) && !Markers::perhaps(text.as_bytes());
    let rows = table.first().map_or(0, |(_, cells)| cells.len());
    let columns: Vec<ColumnSketch> = table
        .iter()
        .map(|(name, cells)| {
            let there: Vec<&String> = cells.iter().filter(is_there).collect();
            let numbers: Option<Vec<f64>> = there.iter().map(|text| number(text.as_bytes())).collect();
            let holds = match numbers {
                _ if there.is_empty() => "nothing",
                Some(numbers) if numbers.iter().all(|v| v.fract() == 0.0) => "whole numbers",
                Some(_) => "numbers",
                None if there.iter().all(|text| is_date(text)) => "dates",
                None => "text",
            };
            ColumnSketch {
                name: name.clone(),
                holds,
                different: there.iter().collect::<HashSet<_>>().len(),
                missing: cells.len() - there.len(),
                example: there.first().map_or(String::new(), |text| text.to_string()),
            }
        })
        .collect();
    // Rows of a bag stand together; a bag has no missing id and is no measurement.
    let in_blocks = |c: usize| {
        let blocks = 1 + table[c].1.windows(2).filter(|w| w[0] != w[1]).count();
        let sketch = &columns[c];
        (2..rows).contains(&blocks)
            && blocks == sketch.different
            && sketch.missing == 0
            && matches!(sketch.holds, "text" | "whole numbers")
    };
    let bag =
        (0..columns.len()).filter(|&c| in_blocks(c)).max_by_key(|&c| (columns[c].different, usize::MAX - c));
    let same = |c: usize, bag: usize| {
        let mut first: HashMap<&str, &str> = HashMap::new();
        table[bag].1.iter().zip(&table[c].1).all(|(bag, text)| *first.entry(bag).or_insert(text) == text)
    };
    let inside: Vec<usize> = match bag {
        Some(bag) => {
            (0..columns.len()).filter(|&c| c != bag && columns[c].different > 1 && same(c, bag)).collect()
        }
        None => Vec::new(),
    };
    let label = match &options.label {
        Some(named) => columns.iter().position(|c| c.name == named.to_string()),
        // A column of that name may be a coordinate.
        None => (columns.iter().enumerate())
            .position(|(c, sketch)| {
                columns::is_usual_for(&sketch.name, Role::Label) && bag.is_none_or(|bag| same(c, bag))
            })
            .or_else(|| inside.iter().copied().min_by_key(|&c| columns[c].different)),
    };
    let between = |c: &usize| {
        let most = bag.map_or(0, |bag| columns[bag].different);
        Some(*c) != label && columns[*c].holds == "text" && (3..most).contains(&columns[*c].different)
    };
    let group = inside.iter().copied().filter(between).max_by_key(|&c| columns[c].different);
    let name = |c: Option<usize>| c.map(|c| columns[c].name.clone());
    let (bag, label, group) = (name(bag), name(label), name(group));
    TableSketch { rows, columns, bag, label, group }
}
