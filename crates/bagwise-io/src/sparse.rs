//! The sparse text form, one row per instance: `bag label index:value index:value …`, separated by spaces or
//! tabs. Indices count from 1 and ascend within a row; what is not named is zero; the largest index is the
//! number of attributes. `?` in place of the label says that there is none. A line that starts with `#` and
//! what follows a `#` after the label are comments.
//!
//! Where few of the indices occur (hashed words), only those become attributes, under their numbers: the others are zero in
//! every row, and memory and time should follow from the size of the file, not from its largest index.
//!
//! The form has no place for groups, kept columns, instance labels, categories or names of attributes, so data
//! that has them is not written in it rather than written in part.

use std::io::{self, BufReader, Cursor, Read, Write};
use std::path::Path;
use std::sync::Arc;

use super::assemble::{BagBuilder, SideColumns};
use super::text::{Markers, Parsed, check_head, is_missing, next_line, number, shown, utf8, wrong};
use super::{Column, ReadOptions, Reader, Writer, compress, save};
use bagwise_core::{
    Csr, Dataset, Error, Feature, Instances, Message, Place, Result, Target, mostly_absent, numbered,
};

/// Reads and writes the sparse text form.
pub(super) struct Sparse;

impl Reader for Sparse {
    fn name(&self) -> &'static str {
        "sparse"
    }

    fn recognises(&self, path: &Path, head: &[u8]) -> bool {
        if path.is_dir() {
            return false;
        }
        if Writer::recognises(self, path) {
            return true;
        }
        // By content: the first row that is no comment has a pair in its third place.
        let row = head.split(|&b| b == b'\n').find(|l| !l.trim_ascii().is_empty() && !l.starts_with(b"#"));
        row.is_some_and(|row| tokens(row).nth(2).is_some_and(is_pair))
    }

    fn read(&self, path: &Path, options: &ReadOptions) -> Result<Dataset> {
        read(&path.display().to_string(), compress::open(path)?, options)
    }
}

fn tokens(row: &[u8]) -> impl Iterator<Item = &[u8]> {
    row.split(|b| b.is_ascii_whitespace()).filter(|t| !t.is_empty())
}

/// True for `index:value` as far as its look goes.
fn is_pair(token: &[u8]) -> bool {
    token.iter().position(|&b| b == b':').is_some_and(|colon| {
        colon > 0
            && token[..colon].iter().all(u8::is_ascii_digit)
            && (number(&token[colon + 1..]).is_some() || is_missing(&token[colon + 1..]))
    })
}

fn read(source: &str, mut input: impl Read, options: &ReadOptions) -> Result<Dataset> {
    refuse_columns(source, options)?;
    let markers = Markers::new(&options.missing_values);
    markers.check_sparse(source)?;
    let head = super::read_head(&mut input).map_err(|e| compress::explain(Place::of(source), e))?;
    let text = check_head(source, &head)?.to_vec();
    let mut input = BufReader::new(Cursor::new(text).chain(input));
    let mut book = BagBuilder::new(source, options);
    let (mut indptr, mut indices, mut values) = (vec![0], Vec::new(), Vec::new());
    let mut width = 0;
    let mut row = Vec::new();
    let mut line = 0;
    while next_line(&mut input, &mut row).map_err(|e| compress::explain(Place::line(source, line + 1), e))? {
        line += 1;
        if row.starts_with(b"#") {
            continue;
        }
        let mut parts = tokens(&row);
        let Some(bag) = parts.next() else { continue };
        let refuse = |found: String, remedy: Message| Error::data(Place::line(source, line), found, remedy);
        let bag = utf8(source, line, bag)?;
        let label = parts.next().filter(|token| !is_pair(token)).ok_or_else(|| {
            refuse(
                format!("bag '{bag}' has no label"),
                "write `bag label index:value …`, with ? for an unknown label".into(),
            )
        })?;
        book.row(line, bag, Some(utf8(source, line, label)?), None)?;
        let mut last = 0;
        for pair in parts {
            if pair.starts_with(b"#") {
                break;
            }
            let (index, value) = entry(pair, &markers, options.allow_missing)
                .map_err(|(found, remedy)| refuse(found, remedy))?;
            if index <= last {
                let order = if index == last { "occurs twice" } else { "follows a larger one" };
                return Err(refuse(
                    format!("index {index} of bag '{bag}' {order}"),
                    "indices must be in ascending order within a row, without duplicates".into(),
                ));
            }
            last = index;
            width = width.max(index);
            if value != 0.0 {
                indices.push(index - 1);
                values.push(value);
            }
        }
        indptr.push(indices.len());
    }
    let occurring = occurring(&indices);
    let few = mostly_absent(occurring.len(), width as usize);
    if book.rows() > 0 && (width == 0 || few && occurring.is_empty()) {
        return Err(Error::data(Place::of(source), "no row has a value", "write `bag label index:value …`"));
    }
    let mut warnings = Vec::new();
    let named = |number: u32| Feature::numeric(format!("f{number}"));
    let features: Arc<[Feature]> = if few {
        warnings.push(
            format!(
                "{} of the indices up to {width} have a value; the other attributes are zero in every row and left out",
                occurring.len()
            )
            .into(),
        );
        for index in &mut indices {
            // Every index is among those that occur.
            *index = occurring.partition_point(|o| o < index) as u32;
        }
        occurring.iter().map(|o| named(o + 1)).collect()
    } else {
        (1..=width).map(named).collect()
    };
    let instances = Instances::Sparse(Csr::new(features.len(), indptr, indices, values));
    book.finish(instances, features, &[], SideColumns::default(), options, Vec::new(), warnings)
}

/// The different indices, ascending.
fn occurring(indices: &[u32]) -> Vec<u32> {
    let mut distinct = indices.to_vec();
    distinct.sort_unstable();
    distinct.dedup();
    distinct
}

/// Options that name columns make no sense here, and ignoring them would mislead.
fn refuse_columns(source: &str, options: &ReadOptions) -> Result<()> {
    // What only a model asks for, the user did not give.
    let is_given = |column: &Column| !options.optional.contains(column);
    let single = |column: &Option<Column>| column.as_ref().is_some_and(is_given);
    let any = |columns: &[Column]| columns.iter().any(is_given);
    let named = [
        ("bag", single(&options.bag)),
        ("label", single(&options.label)),
        ("group", single(&options.group)),
        ("instance label", single(&options.instance_label)),
        ("kept", any(&options.keep)),
        ("ignored", any(&options.ignore)),
        ("categorical", any(&options.categorical)),
    ];
    match named.iter().find(|(_, given)| *given) {
        None => Ok(()),
        Some((role, _)) => Err(Error::data(
            Place::of(source),
            format!("a column is given as {role}, but the sparse format has no columns"),
            "leave it out, or use CSV",
        )),
    }
}

/// The index (from 1) and value of a pair, or what is wrong with it and what would do.
fn entry(pair: &[u8], markers: &Markers, allow_missing: bool) -> Parsed<(u32, f64)> {
    let what = || format!("'{}'", shown(pair));
    let colon = pair.iter().position(|&b| b == b':').ok_or_else(|| {
        (format!("{} is not index:value", what()), "separate index and value with a colon".into())
    })?;
    let index =
        std::str::from_utf8(&pair[..colon]).ok().and_then(|t| t.parse::<u64>().ok()).ok_or_else(|| {
            (format!("{} has no integer before the colon", what()), "indices start at 1".into())
        })?;
    if index == 0 {
        return wrong(format!("{} has index 0", what()), "indices start at 1: add 1 to every index");
    }
    let index = u32::try_from(index).map_err(|_| {
        (
            format!("{} has an index above {}", what(), u32::MAX),
            "renumber the attributes, or hash them into fewer".into(),
        )
    })?;
    let text = &pair[colon + 1..];
    let value = if markers.missing(text) {
        if !allow_missing {
            return wrong(format!("{} is a missing value", what()), Message::fill_or_allow_missing());
        }
        f64::NAN
    } else {
        let value = number(text)
            .ok_or_else(|| (format!("{} has no number after the colon", what()), "fix the value".into()))?;
        if value.is_infinite() {
            return wrong(format!("{} is out of range for a number", what()), "give finite numbers");
        }
        value
    };
    Ok((index, value))
}

impl Writer for Sparse {
    fn name(&self) -> &'static str {
        "sparse"
    }

    fn recognises(&self, path: &Path) -> bool {
        super::plain_extension(path).is_some_and(|e| e == "sparse")
    }

    fn write(&self, data: &Dataset, path: &Path) -> Result<()> {
        let refuse = |found: String, remedy: &str| {
            Err(Error::data(Place::of(path.display().to_string()), found, remedy))
        };
        let unfit = [
            ("groups", data.groups.is_some()),
            ("kept columns", !data.kept.is_empty()),
            ("instance labels", data.instance_labels.is_some()),
            ("categories", data.bags.features().iter().any(Feature::is_categorical)),
            ("names of attributes", !numbered(data.bags.features())),
        ];
        if let Some((what, _)) = unfit.iter().find(|(_, present)| *present) {
            return refuse(
                format!("the sparse format cannot store {what}"),
                "write CSV, or leave those columns out when reading",
            );
        }
        let is_word =
            |text: &str| !text.is_empty() && !text.contains(char::is_whitespace) && !text.starts_with('#');
        if let Some(id) = data.bags.ids().iter().find(|id| !is_word(id)) {
            return refuse(format!("the bag id '{id}' is not one word"), "rename the bag, or write CSV");
        }
        if let Some(Target::Classes { names, .. }) = &data.target
            && let Some(name) =
                names.iter().find(|n| !is_word(n) || is_pair(n.as_bytes()) || is_missing(n.as_bytes()))
        {
            return refuse(
                format!("the class name '{name}' could not be read back"),
                "rename the class, or write CSV",
            );
        }
        save::whole(path, |out| write_rows(data, out))
    }
}

fn write_rows(data: &Dataset, out: &mut dyn Write) -> io::Result<()> {
    let bags = &data.bags;
    let width = bags.width();
    let numbers: Vec<u32> = bags.features().iter().filter_map(Feature::number).collect();
    let mut row = vec![0.0; width];
    let mut text = String::new();
    let mut first = true;
    for bag in 0..bags.len() {
        let label = match &data.target {
            Some(Target::Classes { codes, names }) => names[codes[bag] as usize].clone(),
            Some(Target::Values(values)) => {
                save::number(values[bag], &mut text);
                text.clone()
            }
            None => "?".into(),
        };
        for r in bags.rows(bag) {
            write!(out, "{} {label}", bags.ids()[bag])?;
            let mut pair = |column: usize, value: f64| {
                save::number(value, &mut text);
                write!(out, " {}:{text}", numbers[column])
            };
            let mut last = 0;
            if let Instances::Sparse(m) = bags.instances() {
                let (columns, values) = m.row(r);
                for (&column, &value) in columns.iter().zip(values) {
                    pair(column as usize, value)?;
                    last = column as usize + 1;
                }
            } else {
                bags.instances().row_into(r, &mut row).map_err(io::Error::other)?;
                for (column, &value) in row.iter().enumerate().filter(|(_, v)| **v != 0.0) {
                    pair(column, value)?;
                    last = column + 1;
                }
            }
            // The largest index is the number of attributes, so the first row always names it.
            if first && last < width {
                pair(width - 1, 0.0)?;
            }
            first = false;
            writeln!(out)?;
        }
    }
    Ok(())
}
