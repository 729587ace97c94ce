//! Writing Parquet: wide columns called as in CSV, plain values in pages compressed by snappy, row groups of
//! [`GROUP`] rows.

use std::io::{self, Write};
use std::path::Path;

use super::super::arrays::{Values, labels};
use super::super::{Writer, csv, save};
use super::thrift::{ThriftWriter, put_varint};
use super::{MAGIC, Parquet, has_ending};
use bagwise_core::{Dataset, Error, FeatureKind, Place, Result};

/// Rows of a row group: a column of doubles then takes half a megabyte.
const GROUP: usize = 1 << 16;

impl Writer for Parquet {
    fn name(&self) -> &'static str {
        "parquet"
    }

    fn recognises(&self, path: &Path) -> bool {
        has_ending(path)
    }

    fn write(&self, data: &Dataset, path: &Path) -> Result<()> {
        csv::check_names(data)
            .map_err(|(found, remedy)| Error::data(Place::of(path.display().to_string()), found, remedy))?;
        save::whole(path, |out| write(data, out))
    }
}

/// A column that is written.
enum ColumnSource<'d> {
    /// An entry per bag.
    Bags(Values),
    /// A text per instance.
    Texts(&'d [String]),
    /// A feature.
    Feature(usize),
}

#[derive(Clone, Copy, PartialEq)]
enum ColumnKind {
    I64,
    F32,
    F64,
    Text,
}

struct ParquetColumn<'d> {
    name: &'d str,
    kind: ColumnKind,
    source: ColumnSource<'d>,
    /// Some value may be missing.
    optional: bool,
}

fn columns(data: &Dataset) -> Vec<ParquetColumn<'_>> {
    let bags = &data.bags;
    let text = |name, source| ParquetColumn { name, kind: ColumnKind::Text, source, optional: false };
    let mut columns = vec![text("bag", ColumnSource::Bags(Values::texts(bags.ids().to_vec())))];
    if let Some(target) = &data.target {
        let values = labels(target);
        let kind = match values {
            Values::Numbers(_) => ColumnKind::F64,
            Values::Whole(_) => ColumnKind::I64,
            Values::Gaps(_) | Values::Texts { .. } => ColumnKind::Text,
        };
        columns.push(ParquetColumn {
            name: "label",
            kind,
            source: ColumnSource::Bags(values),
            optional: false,
        });
    }
    if let Some(groups) = &data.groups {
        let values = Values::Texts { texts: groups.names.clone(), codes: groups.codes.clone() };
        columns.push(text("group", ColumnSource::Bags(values)));
    }
    if let Some(labels) = &data.instance_labels {
        columns.push(text("instance_label", ColumnSource::Texts(labels)));
    }
    columns.extend(data.kept.iter().map(|k| text(&k.name, ColumnSource::Texts(&k.values))));
    let single = bags.instances().is_single();
    for (f, feature) in bags.features().iter().enumerate() {
        let kind = match feature.kind {
            FeatureKind::Categorical { .. } => ColumnKind::Text,
            FeatureKind::Numeric if single => ColumnKind::F32,
            FeatureKind::Numeric => ColumnKind::F64,
        };
        let source = ColumnSource::Feature(f);
        columns.push(ParquetColumn { name: &feature.name, kind, source, optional: bags.has_missing() });
    }
    columns
}

fn physical(kind: ColumnKind) -> i32 {
    match kind {
        ColumnKind::I64 => 2,
        ColumnKind::F32 => 4,
        ColumnKind::F64 => 5,
        ColumnKind::Text => 6,
    }
}

fn write(data: &Dataset, out: &mut dyn Write) -> io::Result<()> {
    let bags = &data.bags;
    let columns = columns(data);
    let (rows, width) = (bags.instance_count(), bags.width());
    let mut at = MAGIC.len() as i64;
    out.write_all(MAGIC)?;
    let mut groups = Vec::new();
    for start in (0..rows).step_by(GROUP) {
        let end = (start + GROUP).min(rows);
        // Features stand in rows and are wanted in columns.
        let mut block = Vec::with_capacity((end - start) * width);
        bags.instances().each_row(start..end, |_, row| block.extend(row)).map_err(io::Error::other)?;
        let (mut chunks, mut total) = (Vec::new(), 0);
        for column in &columns {
            let (levels, values) = page(data, column, start..end, &block);
            let mut body = Vec::new();
            if column.optional {
                body.extend((levels.len() as u32).to_le_bytes());
                body.extend(&levels);
            }
            body.extend(&values);
            let size =
                |n: usize| i32::try_from(n).map_err(|_| io::Error::other("a page is larger than 2 GB"));
            let packed = snap::raw::Encoder::new().compress_vec(&body).map_err(io::Error::other)?;
            let header = ThriftWriter::default()
                .int(1, 0)
                .int(2, size(body.len())?)
                .int(3, size(packed.len())?)
                .structure(
                    5,
                    ThriftWriter::default().int(1, (end - start) as i32).int(2, 0).int(3, 3).int(4, 3),
                )
                .finish();
            out.write_all(&header)?;
            out.write_all(&packed)?;
            let (whole, stored) = (header.len() + body.len(), header.len() + packed.len());
            total += whole as i64;
            let meta = ThriftWriter::default()
                .int(1, physical(column.kind))
                .ints(2, &[0, 3])
                .texts(3, &[column.name])
                .int(4, 1)
                .wide(5, (end - start) as i64)
                .wide(6, whole as i64)
                .wide(7, stored as i64)
                .wide(9, at);
            chunks.push(ThriftWriter::default().wide(2, at).structure(3, meta));
            at += stored as i64;
        }
        groups
            .push(ThriftWriter::default().structures(1, chunks).wide(2, total).wide(3, (end - start) as i64));
    }
    let mut schema = vec![ThriftWriter::default().text(4, "schema").int(5, columns.len() as i32)];
    for column in &columns {
        let element = ThriftWriter::default()
            .int(1, physical(column.kind))
            .int(3, i32::from(column.optional))
            .text(4, column.name);
        schema.push(match column.kind {
            // UTF8, and the same said in the newer way.
            ColumnKind::Text => {
                let string = ThriftWriter::default().structure(1, ThriftWriter::default());
                element.int(6, 0).structure(10, string)
            }
            _ => element,
        });
    }
    let footer = ThriftWriter::default()
        .int(1, 1)
        .structures(2, schema)
        .wide(3, rows as i64)
        .structures(4, groups)
        .text(6, concat!("bagwise version ", env!("CARGO_PKG_VERSION")))
        .finish();
    out.write_all(&footer)?;
    out.write_all(&(footer.len() as u32).to_le_bytes())?;
    out.write_all(MAGIC)
}

/// The levels of some rows of a column, and its values, those that are there.
fn page(
    data: &Dataset,
    column: &ParquetColumn<'_>,
    rows: std::ops::Range<usize>,
    block: &[f64],
) -> (Vec<u8>, Vec<u8>) {
    let width = data.bags.width();
    let (mut there, mut values) = (Vec::with_capacity(rows.len()), Vec::new());
    let text = |text: &str, values: &mut Vec<u8>| {
        values.extend((text.len() as u32).to_le_bytes());
        values.extend(text.as_bytes());
    };
    let mut bag = data.bags.bag_of_row(rows.start);
    for (i, row) in rows.enumerate() {
        while data.bags.rows(bag).end <= row {
            bag += 1;
        }
        match &column.source {
            ColumnSource::Bags(Values::Numbers(v)) => values.extend(v[bag].to_le_bytes()),
            ColumnSource::Bags(Values::Whole(v)) => values.extend(v[bag].to_le_bytes()),
            ColumnSource::Bags(v) => text(&v.text(bag), &mut values),
            ColumnSource::Texts(texts) => text(&texts[row], &mut values),
            ColumnSource::Feature(f) => {
                let value = block[i * width + f];
                there.push(!value.is_nan());
                match &data.bags.features()[*f].kind {
                    _ if value.is_nan() => {}
                    FeatureKind::Categorical { values: names } => text(&names[value as usize], &mut values),
                    FeatureKind::Numeric if column.kind == ColumnKind::F32 => {
                        values.extend((value as f32).to_le_bytes())
                    }
                    FeatureKind::Numeric => values.extend(value.to_le_bytes()),
                }
            }
        }
    }
    // One run of packed bits.
    let mut levels = Vec::new();
    put_varint((there.len().div_ceil(8) as u64) << 1 | 1, &mut levels);
    for eight in there.chunks(8) {
        levels.push(eight.iter().zip(0..).map(|(&t, bit)| u8::from(t) << bit).sum());
    }
    (levels, values)
}
