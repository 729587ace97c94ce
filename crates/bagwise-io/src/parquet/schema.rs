//! The columns of a Parquet file, from the tree in its footer.

use super::origin;
use super::pages::{Leaf, ValueKind};
use super::thrift::ThriftValue;
use crate::cells::MAX_COLUMNS;
use crate::text::{Parsed, damaged, wrong};

/// Why a column is no feature, but none that is in the way either.
pub(super) const DATES: &str = "it contains dates or times";
pub(super) const DURATIONS: &str = "it contains durations";

/// A column at the top of the table.
pub(super) struct SchemaField {
    pub(super) name: String,
    /// Why it cannot be read, or where its values are: the number of the chunk in every row group.
    pub(super) leaf: Result<(usize, Leaf), &'static str>,
}

/// The columns, from the tree of the description, which stands as a list in depth-first order.
pub(super) fn fields(footer: &ThriftValue) -> Parsed<Vec<SchemaField>> {
    let schema = footer.list(2);
    let Some(top) = schema.first().and_then(|root| root.size(5)) else {
        return damaged("it has no columns");
    };
    let (mut fields, mut next, mut leaves) = (Vec::new(), 1, 0);
    for _ in 0..top.min(schema.len()) {
        let Some(element) = schema.get(next) else { return damaged("a column is missing") };
        let name = element.text(4).unwrap_or_default();
        let before = leaves;
        let leaf = walk(
            schema,
            &mut next,
            &mut leaves,
            Leaf { kind: ValueKind::F64, max_def: 0, max_rep: 0, list_def: 0 },
            false,
            0,
        )?;
        let leaf = match leaf {
            Ok(_) if leaves != before + 1 => Err("it is a struct"),
            Ok(leaf) if leaf.max_rep > 1 => Err("it has lists of lists"),
            other => other,
        };
        fields.push(SchemaField { name, leaf: leaf.map(|leaf| (before, leaf)) });
    }
    let durations = origin::durations(footer);
    for field in fields.iter_mut().filter(|f| f.leaf.is_ok() && durations.contains(&f.name)) {
        field.leaf = Err(DURATIONS);
    }
    if fields.len() > MAX_COLUMNS {
        return wrong(
            format!("the table has {} columns", fields.len()),
            "store the features as one column of lists",
        );
    }
    Ok(fields)
}

/// One column and what is below it. A list is a group that says so, around a repeated group around the values.
fn walk(
    schema: &[ThriftValue],
    next: &mut usize,
    leaves: &mut usize,
    above: Leaf,
    in_list: bool,
    depth: usize,
) -> Parsed<Result<Leaf, &'static str>> {
    let Some(element) = schema.get(*next) else { return damaged("a column is missing") };
    if depth > 16 {
        return damaged("its columns are nested too deeply");
    }
    *next += 1;
    let mut here = above;
    match element.int(3) {
        Some(1) => here.max_def += 1,
        Some(2) => {
            here.max_def += 1;
            here.max_rep += 1;
            here.list_def = here.max_def;
        }
        _ => {}
    }
    let children = element.size(5).unwrap_or(0);
    if children == 0 {
        *leaves += 1;
        return Ok(kind(element).map(|kind| Leaf { kind, ..here }));
    }
    let is_list = element.int(6) == Some(3) || logical(element).is_some_and(|(id, _)| id == 3);
    let repeats = in_list && element.int(3) == Some(2);
    let mut last = Err("it is a struct");
    for _ in 0..children {
        last = walk(schema, next, leaves, here.clone(), is_list, depth + 1)?;
    }
    Ok(if is_list || repeats { last } else { Err("it is a struct") })
}

/// The number of a logical type, and what it says more.
fn logical(element: &ThriftValue) -> Option<(i16, &ThriftValue)> {
    match element.get(10) {
        Some(ThriftValue::Struct(union)) => union.first().map(|(id, inner)| (*id, inner)),
        _ => None,
    }
}

/// What the values of a column are, or why they cannot be read.
fn kind(element: &ThriftValue) -> Result<ValueKind, &'static str> {
    let logical = logical(element);
    let converted = element.int(6);
    match (logical.map(|(id, _)| id), converted) {
        (Some(5), _) | (None, Some(5)) => return decimal(element, logical),
        (Some(6..=8), _) | (None, Some(6..=10)) => return Err(DATES),
        (None, Some(21)) => return Err(DURATIONS),
        (Some(13 | 14), _) | (None, Some(20)) => return Err("it contains binary objects"),
        _ => {}
    }
    let unsigned = match logical {
        Some((10, inner)) => inner.get(2) == Some(&ThriftValue::Bool(false)),
        _ => matches!(converted, Some(11..=14)),
    };
    Ok(match (element.int(1), unsigned) {
        (Some(0), _) => ValueKind::Bool,
        (Some(1), false) => ValueKind::I32,
        (Some(1), true) => ValueKind::U32,
        (Some(2), false) => ValueKind::I64,
        (Some(2), true) => ValueKind::U64,
        (Some(3), _) => return Err(DATES),
        (Some(4), _) => ValueKind::F32,
        (Some(5), _) => ValueKind::F64,
        (Some(6), _) => ValueKind::Text,
        (Some(7), _) if logical.is_some_and(|(id, _)| id == 15) && element.int(2) == Some(2) => {
            ValueKind::F16
        }
        _ => return Err("it contains binary objects"),
    })
}

/// What decimals are stored as.
fn decimal(element: &ThriftValue, logical: Option<(i16, &ThriftValue)>) -> Result<ValueKind, &'static str> {
    let scale = logical.and_then(|(_, inner)| inner.int(1)).or(element.int(7)).unwrap_or(0);
    let Some(scale) = u32::try_from(scale).ok().filter(|&s| s <= 38) else {
        return Err("it contains decimals with an invalid scale");
    };
    let (bytes, little) = match (element.int(1), element.size(2)) {
        (Some(1), _) => (Some(4), true),
        (Some(2), _) => (Some(8), true),
        (Some(6), _) => (None, false),
        (Some(7), Some(bytes @ 1..=16)) => (Some(bytes), false),
        _ => return Err("it contains decimals with more than 38 digits"),
    };
    Ok(ValueKind::Decimal { bytes, little, scale })
}
