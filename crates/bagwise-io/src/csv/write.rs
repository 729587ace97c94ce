//! Writes CSV and TSV, and refuses names that would not be read back.

use std::borrow::Cow;
use std::io::{self, Write};
use std::path::Path;

use super::{Csv, has_tabs};
use crate::text::{Parsed, is_missing, wrong};
use crate::{Writer, save};
use bagwise_core::{Dataset, Error, FeatureKind, Place, Result, Target};

impl Writer for Csv {
    fn name(&self) -> &'static str {
        "csv"
    }

    fn recognises(&self, path: &Path) -> bool {
        has_tabs(path) || crate::plain_extension(path).is_some_and(|e| e == "csv")
    }

    fn write(&self, data: &Dataset, path: &Path) -> Result<()> {
        write_whole(data, path, false)
    }
}

/// Writes CSV, or TSV by the name of the file, with text as [`csv_safe`] has it.
pub fn write_csv_safe(data: &Dataset, path: &Path) -> Result<()> {
    write_whole(data, path, true)
}

fn write_whole(data: &Dataset, path: &Path, safe: bool) -> Result<()> {
    check_names(data)
        .map_err(|(found, remedy)| Error::data(Place::of(path.display().to_string()), found, remedy))?;
    let delimiter = if has_tabs(path) { b'\t' } else { b',' };
    save::whole(path, |out| write_table(data, delimiter, safe, out).map_err(system_error))
}

/// Text behind an apostrophe if a spreadsheet would run it as a formula. Numbers are none.
pub fn csv_safe(text: &str) -> Cow<'_, str> {
    match text.starts_with(['=', '+', '-', '@', '\t', '\r']) && text.parse::<f64>().is_err() {
        true => Cow::Owned(format!("'{text}")),
        false => Cow::Borrowed(text),
    }
}

/// Refuses what would not be read back as it is.
pub(crate) fn check_names(data: &Dataset) -> Parsed<()> {
    let refuse = |what: &str, name: &str, why: &str| {
        wrong(format!("the {what} '{name}' {why}"), "rename it before writing")
    };
    let changes = |text: &str| text.trim() != text || is_missing(text.as_bytes());
    let mut names: Vec<(&str, &str)> = data.bags.ids().iter().map(|id| ("bag id", id.as_str())).collect();
    if let Some(Target::Classes { names: classes, .. }) = &data.target {
        names.extend(classes.iter().map(|n| ("class name", n.as_str())));
    }
    if let Some(groups) = &data.groups {
        names.extend(groups.names.iter().map(|n| ("group", n.as_str())));
    }
    for feature in data.bags.features().iter() {
        if let FeatureKind::Categorical { values } = &feature.kind {
            names.extend(values.iter().map(|v| ("category", v.as_str())));
        }
    }
    // A bag or group may well be called NA; only an empty name would be lost.
    let lost = |what: &str, text: &str| match what {
        "bag id" | "group" => text.trim() != text || text.is_empty(),
        _ => changes(text),
    };
    if let Some((what, name)) = names.iter().find(|(what, name)| lost(what, name)) {
        return refuse(
            what,
            name,
            "could not be read back: it is empty, means a missing value, or has leading or trailing spaces",
        );
    }
    let labels = data.instance_labels.iter().flatten();
    if let Some(label) = labels.into_iter().find(|l| l.trim() != **l) {
        return refuse("instance label", label, "could not be read back: it has leading or trailing spaces");
    }
    let mut seen = std::collections::HashSet::new();
    let kept = data.kept.iter().map(|k| ("kept column", &k.name));
    let mut names = data.bags.features().iter().map(|f| &f.name).chain(data.kept.iter().map(|k| &k.name));
    let has_x = names.any(|name| name.eq_ignore_ascii_case("x"));
    for (what, name) in data.bags.features().iter().map(|f| ("feature", &f.name)).chain(kept) {
        let coordinate = name.eq_ignore_ascii_case("y") && data.target.is_some() && has_x;
        let is_role = crate::columns::is_usual_heading(name) && !coordinate;
        if is_role {
            return refuse(what, name, "would be read back as something else");
        }
        if name.trim() != name || name.is_empty() || !seen.insert(name) {
            return refuse(what, name, "needs a unique column name without leading or trailing spaces");
        }
    }
    let categorical: Vec<(usize, f64)> = (data.bags.features().iter().enumerate())
        .filter_map(|(column, feature)| match &feature.kind {
            FeatureKind::Categorical { values } => Some((column, values.len() as f64)),
            FeatureKind::Numeric => None,
        })
        .collect();
    if !categorical.is_empty() {
        let mut row = vec![0.0; data.bags.width()];
        for r in 0..data.bags.instance_count() {
            let read = data.bags.instances().row_into(r, &mut row);
            read.map_err(|e| (e.to_string(), "put the files of the data back".into()))?;
            if let Some(&(column, _)) = categorical.iter().find(|&&(column, codes)| row[column] >= codes) {
                let name = &data.bags.features()[column].name;
                return refuse("column", name, "has categories that are not in its list");
            }
        }
    }
    Ok(())
}

/// What the system said, inside an error of the CSV writer, which hides whether the disk is full.
fn system_error(error: io::Error) -> io::Error {
    if !error.get_ref().is_some_and(|inner| inner.is::<csv::Error>()) {
        return error;
    }
    let inner = error.into_inner().and_then(|inner| inner.downcast::<csv::Error>().ok());
    match inner.map(|error| error.into_kind()) {
        Some(csv::ErrorKind::Io(own)) => own,
        other => io::Error::other(format!("the table: {other:?}")),
    }
}

fn write_table(data: &Dataset, delimiter: u8, safe: bool, out: &mut dyn Write) -> io::Result<()> {
    let bags = &data.bags;
    fn cell(text: &str, safe: bool) -> Cow<'_, str> {
        if safe { csv_safe(text) } else { Cow::Borrowed(text) }
    }
    let heading = |name: &'static str, present: bool| present.then_some(name);
    let roles = [
        heading("bag", true),
        heading("label", data.target.is_some()),
        heading("group", data.groups.is_some()),
        heading("instance_label", data.instance_labels.is_some()),
    ];
    let headings: Vec<&str> = (roles.into_iter().flatten())
        .chain(data.kept.iter().map(|k| k.name.as_str()))
        .chain(bags.features().iter().map(|f| f.name.as_str()))
        .collect();
    // The delimiter is found by counting in the first row, where others hide only in quotes.
    let quotes = match headings.iter().any(|h| h.contains([',', ';', '\t'])) {
        true => csv::QuoteStyle::Always,
        false => csv::QuoteStyle::Necessary,
    };
    let mut first = csv::WriterBuilder::new().delimiter(delimiter).quote_style(quotes).from_writer(&mut *out);
    first.write_record(headings.iter().map(|heading| cell(heading, safe).into_owned()))?;
    first.flush()?;
    drop(first);
    let mut out = csv::WriterBuilder::new().delimiter(delimiter).flexible(true).from_writer(out);
    let mut values = vec![0.0; bags.width()];
    let mut text = String::new();
    for bag in 0..bags.len() {
        for row in bags.rows(bag) {
            out.write_field(cell(&bags.ids()[bag], safe).as_bytes())?;
            match &data.target {
                Some(Target::Classes { codes, names }) => {
                    out.write_field(cell(&names[codes[bag] as usize], safe).as_bytes())?;
                }
                Some(Target::Values(values)) => {
                    save::number(values[bag], &mut text);
                    out.write_field(&text)?;
                }
                None => {}
            }
            if let Some(groups) = &data.groups {
                out.write_field(cell(&groups.names[groups.codes[bag] as usize], safe).as_bytes())?;
            }
            if let Some(labels) = &data.instance_labels {
                out.write_field(cell(&labels[row], safe).as_bytes())?;
            }
            for kept in &data.kept {
                out.write_field(cell(&kept.values[row], safe).as_bytes())?;
            }
            bags.instances().row_into(row, &mut values).map_err(io::Error::other)?;
            for (&value, feature) in values.iter().zip(bags.features().iter()) {
                match &feature.kind {
                    _ if value.is_nan() => out.write_field("")?,
                    FeatureKind::Categorical { values } => {
                        out.write_field(cell(&values[value as usize], safe).as_bytes())?;
                    }
                    FeatureKind::Numeric => {
                        save::number(value, &mut text);
                        out.write_field(&text)?;
                    }
                }
            }
            out.write_record(None::<&[u8]>)?;
        }
    }
    out.flush()
}
