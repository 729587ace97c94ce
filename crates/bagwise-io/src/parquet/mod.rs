//! Parquet: a table by columns, in row groups that are read one after the other. Features are wide columns of numbers or
//! texts, or one column of lists (of any list type) whose values have the same number in every row and are called
//! `NAME_1`, `NAME_2`, …
//!
//! Read are booleans, whole numbers to 64 bits, half, single and double precision, decimals and texts, in every encoding
//! of the format but the one of old levels, compressed by snappy, gzip, zstd, LZ4, brotli or not: what pandas, pyarrow,
//! Polars, DuckDB, fastparquet and Spark write. Dates, times and durations are left out of the features by name. Not read
//! are structures, maps, lists of lists, encryption and LZO; each is refused by name.
//!
//! Written by hand: the `parquet` crate takes 78 s of CPU to build (with a C compiler for zstd), allocates what a page
//! claims and panics on some damaged files; the part of the format that is needed here adds three small crates
//! (`snap`, `lz4_flex`, `brotli-decompressor`).

mod codec;
mod delta;
pub(crate) mod maps;
mod origin;
mod pages;
mod pieces;
mod plain;
mod schema;
mod thrift;
mod write;

use std::borrow::Cow;
use std::collections::HashMap;
use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::Path;

use super::arrays::{FeatureTable, Values};
use super::cells::{MAX_COLUMNS, code, sorted};
use super::columns::{self, Roles};
use super::compress;
use super::doubt::{self, DroppedColumn};
use super::stream::{SeenBags, TakePiece};
use super::text::{Markers, ParseProblem, Parsed, damaged, rounded_remedy, shown, wrong};
use super::{ReadOptions, Reader};
use bagwise_core::files::require_regular;
use bagwise_core::sizes::{OutOfMemory, filled, more_room, product};
use bagwise_core::{Dataset, Error, Feature, FeatureKind, Instances, Mat, Message, Place, Result, Setting};
use pages::{Budget, ColumnValues, Leaf, ValueKind};
use schema::{DATES, DURATIONS, SchemaField, fields};
use thrift::{Input, ThriftValue};

/// Reads and writes Parquet.
pub(super) struct Parquet;

const MAGIC: &[u8] = b"PAR1";

/// Bytes of the description at the end of a file.
const MAX_FOOTER: u64 = 256_000_000;

/// Values that any file may hold, however small it is.
const VALUES: u64 = 1 << 24;

/// What pandas calls an index that it keeps as a column.
const PANDAS_INDEX: &str = "__index_level_";

impl Reader for Parquet {
    fn name(&self) -> &'static str {
        "parquet"
    }

    fn recognises(&self, path: &Path, head: &[u8]) -> bool {
        !path.is_dir() && (head.starts_with(MAGIC) || has_ending(path))
    }

    fn read(&self, path: &Path, options: &ReadOptions) -> Result<Dataset> {
        let mut file = ParquetFile::open(path)?;
        let footer = file.footer()?;
        let fields = fields(&footer).map_err(|e| file.refuse(e))?;
        let (source, length) = (file.name.clone(), file.length);
        table(&source, &footer, &fields, |start, size| file.at(start, size), length, options)
    }

    fn streams(&self) -> bool {
        true
    }

    fn read_pieces(
        &self,
        path: &Path,
        options: &ReadOptions,
        rows: usize,
        take: TakePiece<'_>,
    ) -> Result<()> {
        pieces::read(path, options, rows, take)
    }
}

/// An open file.
struct ParquetFile {
    name: String,
    file: File,
    length: u64,
}

impl ParquetFile {
    fn open(path: &Path) -> Result<ParquetFile> {
        let name = path.display().to_string();
        let explain = |e| compress::explain(Place::of(&name), e);
        require_regular(path)?;
        let mut file = File::open(path).map_err(explain)?;
        super::refuse_packed(path, &mut file)?;
        let length = file.seek(SeekFrom::End(0)).map_err(explain)?;
        Ok(ParquetFile { name, file, length })
    }

    fn at(&mut self, start: u64, size: u64) -> Parsed<Vec<u8>> {
        if start.checked_add(size).is_none_or(|end| end > self.length) {
            return damaged("it is truncated, or an offset in it is wrong");
        }
        let mut bytes = filled(size as usize, 0).map_err(OutOfMemory::parts)?;
        match self.file.seek(SeekFrom::Start(start)).and_then(|_| self.file.read_exact(&mut bytes)) {
            Ok(()) => Ok(bytes),
            Err(e) => wrong(format!("reading failed: {e}"), "check the disk, or copy the file"),
        }
    }

    fn footer(&mut self) -> Result<ThriftValue> {
        let length = self.length;
        footer(&mut |start, size| self.at(start, size), length).map_err(|e| self.refuse(e))
    }

    fn refuse(&self, (found, remedy): ParseProblem) -> Error {
        Error::data(Place::of(&self.name), found, remedy)
    }
}

/// The first rows of a table by column, as far as its first row group has them and its columns are plain.
pub(super) fn first_rows(path: &Path, most: usize) -> Result<Option<Vec<(String, Vec<String>)>>> {
    let mut file = ParquetFile::open(path)?;
    let footer = file.footer()?;
    let fields = fields(&footer).map_err(|e| file.refuse(e))?;
    let Some(group) = footer.list(4).first() else { return Ok(None) };
    let mut budget = Budget::new(file.length, VALUES);
    let (mut table, index) = (Vec::new(), origin::index(&footer));
    for field in fields.iter().filter(|f| !f.name.starts_with(PANDAS_INDEX) && !index.contains(&f.name)) {
        let read = part(group, field, &mut |start, size| file.at(start, size), &mut budget);
        if let Ok(values) = read.and_then(list_free) {
            let text =
                |i: usize| Some(values.text(i).into_owned()).filter(|t| t != "NaN").unwrap_or_default();
            table.push((field.name.clone(), (0..values.len().min(most)).map(text).collect()));
        }
    }
    Ok(Some(table))
}

fn has_ending(path: &Path) -> bool {
    super::has_ending(path, "parquet") || super::has_ending(path, "pq")
}

/// The description at the end of the file.
fn footer(at: &mut impl FnMut(u64, u64) -> Parsed<Vec<u8>>, length: u64) -> Parsed<ThriftValue> {
    if length < 12 {
        return damaged("it is too short for a Parquet file");
    }
    let end = at(length - 8, 8)?;
    match &end[4..] {
        b"PAR1" => {}
        b"PARE" => return wrong("the file is encrypted", "write it without encryption"),
        _ => return damaged("it does not end like a Parquet file"),
    }
    let size = u64::from(u32::from_le_bytes([end[0], end[1], end[2], end[3]]));
    if size > MAX_FOOTER || size > length - 12 {
        return damaged("its metadata lies outside the file");
    }
    let bytes = at(length - 8 - size, size)?;
    Input { bytes: &bytes }.structure().map_or_else(|| damaged("its metadata cannot be read"), Ok)
}

/// A feature column while row groups arrive.
struct Wide<'f> {
    field: &'f SchemaField,
    /// Codes of categories, if it has them.
    codes: Option<HashMap<String, u32>>,
    declared: bool,
    /// The first of its features, and how many it makes.
    first: usize,
    width: usize,
    /// The part that was read to learn the width of lists, and its row group.
    read: Option<(usize, ColumnValues)>,
}

impl Wide<'_> {
    fn is_list(&self) -> bool {
        matches!(self.field.leaf, Ok((_, Leaf { max_rep: 1, .. })))
    }

    /// Puts values where they belong, row after row from the first of `data`.
    fn place<T>(
        &mut self,
        values: &Values,
        markers: &Markers,
        data: &mut [T],
        total: usize,
        convert: impl Fn(f64) -> T,
    ) {
        let single = !markers.has_no_number() && is_single(self.field);
        for i in 0..values.len() {
            let (row, column) = (i / self.width, self.first + i % self.width);
            let value = match &mut self.codes {
                Some(codes) => {
                    let text = values.text(i);
                    let text = text.trim();
                    let missing = markers.missing(text.as_bytes())
                        || single && values.number(i).is_some_and(|v| markers.is_single(v as f32));
                    if missing { f64::NAN } else { code(codes, text) }
                }
                // Beside other columns it is stored in double precision.
                None => {
                    values.number(i).filter(|&v| !(single && markers.is_single(v as f32))).unwrap_or(f64::NAN)
                }
            };
            data[row * total + column] = convert(value);
        }
    }
}

/// True if the numbers of a column are of single precision or less.
fn is_single(field: &SchemaField) -> bool {
    matches!(field.leaf, Ok((_, Leaf { kind: ValueKind::F16 | ValueKind::F32, .. })))
}

/// The columns of a table, and what they are.
struct FoundColumns<'f> {
    names: Vec<String>,
    roles: Roles,
    left_out: Vec<DroppedColumn>,
    wide: Vec<Wide<'f>>,
    /// Features of all columns.
    total: usize,
    /// Columns that have a role beside the features.
    beside: Vec<usize>,
    /// Whether all features are of single precision.
    single: bool,
}

/// The length of the lists of a column, and the row group that was read to learn it.
type ListWidth = (usize, Option<(usize, ColumnValues)>);

impl<'f> FoundColumns<'f> {
    /// `width_of` says how long the lists of a column are.
    fn find(
        source: &str,
        footer: &ThriftValue,
        fields: &'f [SchemaField],
        mut width_of: impl FnMut(&'f SchemaField) -> Parsed<ListWidth>,
        options: &ReadOptions,
    ) -> Result<FoundColumns<'f>> {
        let names: Vec<String> = fields.iter().map(|f| f.name.clone()).collect();
        let mut roles = columns::find(&Place::of(source), Some(&names), names.len(), options)?;
        let left_out = leave_out(footer, fields, &mut roles, options);
        if roles.features.is_empty() {
            let found = "no column of the table contains measurements";
            return Err(Error::data(Place::of(source), found, doubt::left_out(&left_out)));
        }
        let is_decimal = |c: &usize| {
            matches!(fields[*c].leaf, Ok((_, Leaf { kind: ValueKind::Decimal { scale: 1.., .. }, .. })))
        };
        let decimals: Vec<String> =
            roles.features.iter().filter(|c| is_decimal(c)).map(|&c| format!("'{}'", names[c])).collect();
        if !decimals.is_empty() {
            let found = format!("decimals are read in double precision: {}", doubt::listed(&decimals));
            roles.warnings.push(found.into());
        }
        let mut wide: Vec<Wide<'f>> = Vec::new();
        let mut total = 0;
        for (&c, &declared) in roles.features.iter().zip(&roles.categorical) {
            let is_text = matches!(fields[c].leaf, Ok((_, Leaf { kind: ValueKind::Text, .. })));
            let codes = (declared || is_text).then(HashMap::new);
            let mut column = Wide { field: &fields[c], codes, declared, first: total, width: 1, read: None };
            if column.is_list() {
                if column.codes.is_some() {
                    let found = "it contains lists of strings or categories".to_string();
                    let remedy =
                        Message::from("use lists of numbers, or leave it out").with([Setting::Ignore(None)]);
                    return Err(of_column(source, &names[c], (found, remedy)));
                }
                (column.width, column.read) =
                    width_of(&fields[c]).map_err(|e| of_column(source, &names[c], e))?;
            }
            total += column.width;
            wide.push(column);
            if total > MAX_COLUMNS {
                let found = format!("there are more than {MAX_COLUMNS} features");
                let remedy = "use the sparse format `bag label index:value …`";
                return Err(of_column(source, &names[c], (found, remedy.into())));
            }
        }
        let beside: Vec<usize> = [Some(roles.bag), roles.label, roles.group, roles.instance_label]
            .into_iter()
            .flatten()
            .chain(roles.keep.iter().copied())
            .collect();
        let single = wide.iter().all(|w| w.codes.is_none() && is_single(w.field));
        Ok(FoundColumns { names, roles, left_out, wide, total, beside, single })
    }

    /// The features, with the categories that are known, and those of them that nobody declared to be categories.
    fn features(&self) -> (Vec<Feature>, Vec<usize>) {
        let (mut features, mut found) = (Vec::new(), Vec::new());
        for w in &self.wide {
            let name = &w.field.name;
            match &w.codes {
                Some(codes) => {
                    if !w.declared {
                        found.push(features.len());
                    }
                    let kind = FeatureKind::Categorical { values: sorted(codes).0 };
                    features.push(Feature { name: name.clone(), kind });
                }
                None if w.is_list() => {
                    features.extend((1..=w.width).map(|i| Feature::numeric(format!("{name}_{i}"))));
                }
                None => features.push(Feature::numeric(name)),
            }
        }
        (features, found)
    }

    /// Codes of categories, which count as they come, in sorted order.
    fn rank(&self, data: &mut [f64]) {
        for w in &self.wide {
            if let Some(codes) = &w.codes {
                let (_, rank) = sorted(codes);
                for value in data.iter_mut().skip(w.first).step_by(self.total).filter(|v| !v.is_nan()) {
                    *value = rank[*value as usize];
                }
            }
        }
    }

    /// The data set of these rows, the first of which is row `first` of the file.
    fn finish(
        &self,
        source: &str,
        columns: &HashMap<usize, Values>,
        instances: Instances,
        (first, seen): (usize, Option<SeenBags>),
        warnings: Vec<Message>,
        options: &ReadOptions,
    ) -> Result<Dataset> {
        let roles = &self.roles;
        let column = |c: usize| Cow::Borrowed(&columns[&c]);
        let taken = FeatureTable {
            bag: column(roles.bag),
            label: roles.label.map(column),
            group: roles.group.map(column),
            instance_label: roles.instance_label.map(column),
            kept: roles.keep.iter().map(|&c| (self.names[c].clone(), column(c))).collect(),
            first,
            seen,
        };
        let (features, found) = self.features();
        taken.finish(source, instances, features.into(), &found, options, self.left_out.clone(), warnings)
    }
}

fn of_column(source: &str, name: &str, (found, remedy): ParseProblem) -> Error {
    Error::data(Place::of(format!("{source}, column '{}'", shown(name.as_bytes()))), found, remedy)
}

fn table(
    source: &str,
    footer: &ThriftValue,
    fields: &[SchemaField],
    mut at: impl FnMut(u64, u64) -> Parsed<Vec<u8>>,
    length: u64,
    options: &ReadOptions,
) -> Result<Dataset> {
    let mut budget = Budget::new(length, VALUES);
    // How long lists are, the first row group that has rows says.
    let width_of = |field: &SchemaField| {
        let (mut width, mut read) = (0, None);
        for (g, group) in footer.list(4).iter().enumerate().filter(|(_, group)| group.int(3) != Some(0)) {
            let part = part(group, field, &mut at, &mut budget)?;
            width = part.lengths.first().copied().unwrap_or(0);
            read = Some((g, part));
            if width > 0 {
                break;
            }
        }
        Ok((width, read))
    };
    let mut layout = FoundColumns::find(source, footer, fields, width_of, options)?;
    let refuse = |(found, remedy): ParseProblem| Error::data(Place::of(source), found, remedy);
    let of_column = |c: usize, fault: ParseProblem| of_column(source, &fields[c].name, fault);
    let markers = Markers::new(&options.missing_values);
    let FoundColumns { total, single, .. } = layout;

    let mut columns: HashMap<usize, Values> = HashMap::new();
    let (mut f32s, mut f64s): (Vec<f32>, Vec<f64>) = (Vec::new(), Vec::new());
    let mut rows = 0usize;
    for (g, group) in footer.list(4).iter().enumerate() {
        let mut count = None;
        for &c in &layout.beside {
            let part = part(group, &fields[c], &mut at, &mut budget).map_err(|e| of_column(c, e))?;
            let part = list_free(part).map_err(|e| of_column(c, e))?;
            agree(&mut count, part.len()).map_err(|e| of_column(c, e))?;
            match columns.get_mut(&c) {
                Some(known) => known.append(part),
                None => drop(columns.insert(c, part)),
            }
        }
        let count = count.unwrap_or(0);
        // No more room than the file can still fill.
        budget.allows(count.saturating_mul(total)).map_err(refuse)?;
        let more = product(&[count, total]).map_err(|e| refuse(e.parts()))?;
        if single {
            more_room(&mut f32s, more).map_err(|e| refuse(e.parts()))?;
            f32s.resize(f32s.len() + more, 0.0);
        } else {
            more_room(&mut f64s, more).map_err(|e| refuse(e.parts()))?;
            f64s.resize(f64s.len() + more, 0.0);
        }
        for (w, &c) in layout.wide.iter_mut().zip(&layout.roles.features) {
            let column = match w.read.take_if(|(of, _)| *of == g) {
                Some((_, column)) => column,
                None => part(group, w.field, &mut at, &mut budget).map_err(|e| of_column(c, e))?,
            };
            check_width(&column, w, count, rows).map_err(|e| of_column(c, e))?;
            refuse_rounded(&column, w, rows).map_err(|e| of_column(c, e))?;
            if single {
                w.place(&column.values, &markers, &mut f32s[rows * total..], total, |v| v as f32)
            } else {
                w.place(&column.values, &markers, &mut f64s[rows * total..], total, |v| v)
            }
        }
        rows += count;
    }
    if rows == 0 {
        return Err(refuse((
            "the table has no rows".into(),
            "give at least one bag with one instance".into(),
        )));
    }

    let instances = match single {
        true => Instances::F32(Mat::new(rows, total, f32s)),
        false => {
            layout.rank(&mut f64s);
            Instances::F64(Mat::new(rows, total, f64s))
        }
    };
    let warnings = std::mem::take(&mut layout.roles.warnings);
    layout.finish(source, &columns, instances, (0, None), warnings, options)
}

/// Takes out of the features what is none by its type, or is the index of a data frame; says what and why.
fn leave_out(
    footer: &ThriftValue,
    fields: &[SchemaField],
    roles: &mut Roles,
    options: &ReadOptions,
) -> Vec<DroppedColumn> {
    let index = origin::index(footer);
    let mut out = Vec::new();
    let why = |c: usize, declared: bool| match &fields[c].leaf {
        _ if declared || !options.features.is_empty() => None,
        Err(DATES) => Some("dates or times"),
        Err(DURATIONS) => Some("durations"),
        _ if index.contains(&fields[c].name) || fields[c].name.starts_with(PANDAS_INDEX) => {
            Some("the index of a data frame")
        }
        _ => None,
    };
    let pairs: Vec<(usize, bool)> = roles.features.iter().copied().zip(roles.categorical.clone()).collect();
    let (features, categorical) = pairs
        .into_iter()
        .filter(|&(c, declared)| match why(c, declared) {
            Some(why) => {
                out.push((fields[c].name.clone(), why.to_string()));
                false
            }
            None => true,
        })
        .unzip();
    (roles.features, roles.categorical) = (features, categorical);
    out
}

/// The part of a column that a row group has.
fn part(
    group: &ThriftValue,
    field: &SchemaField,
    at: &mut impl FnMut(u64, u64) -> Parsed<Vec<u8>>,
    budget: &mut Budget,
) -> Parsed<ColumnValues> {
    let chunk = ColumnChunk::find(group, field)?;
    let bytes = at(chunk.start, chunk.size)?;
    pages::chunk(&bytes, chunk.leaf, chunk.codec, chunk.count, budget)
}

/// Where the part of a column is that a row group has.
struct ColumnChunk<'f> {
    leaf: &'f Leaf,
    start: u64,
    size: u64,
    codec: i64,
    /// Its values.
    count: usize,
}

impl<'f> ColumnChunk<'f> {
    fn find(group: &ThriftValue, field: &'f SchemaField) -> Parsed<ColumnChunk<'f>> {
        let (number, leaf) = match &field.leaf {
            Ok(leaf) => leaf,
            Err(why) => {
                return wrong(
                    format!("{why}, which is not supported"),
                    Message::from("convert it to numbers or strings, or leave it out")
                        .with([Setting::Ignore(None)]),
                );
            }
        };
        let chunks = group.list(1);
        let Some(meta) = chunks.get(*number).and_then(|chunk| chunk.get(3)) else {
            return damaged("a row group lacks a column, or its columns are encrypted");
        };
        if chunks[*number].get(1).is_some() {
            return wrong("its values are in another file", "combine the files into one");
        }
        let places = [meta.int(11), meta.int(9)].into_iter().flatten().filter(|&p| p > 0);
        let (Some(start), Some(size), Some(count)) = (places.min(), meta.int(7), meta.size(5)) else {
            return damaged("a column has no offset");
        };
        let Ok(size) = u64::try_from(size) else { return damaged("a column has no size") };
        Ok(ColumnChunk { leaf, start: start as u64, size, codec: meta.int(4).unwrap_or(-1), count })
    }
}

/// Refuses whole numbers that double precision does not hold; `rows` stand before the first.
fn refuse_rounded(column: &ColumnValues, wide: &Wide<'_>, rows: usize) -> Parsed<()> {
    match column.values.first_rounded().filter(|_| wide.codes.is_none()) {
        None => Ok(()),
        Some(at) => {
            let row = rows + at / wide.width.max(1) + 1;
            let found = format!("row {row}: the whole number {} would be rounded", column.values.text(at));
            Err((found, rounded_remedy()))
        }
    }
}

/// A column with one value in each row.
fn list_free(column: ColumnValues) -> Parsed<Values> {
    if column.lengths.is_empty() || column.lengths.iter().all(|&l| l == 1) {
        return Ok(column.values);
    }
    let remedy = Message::from("only features may be lists: leave it out").with([Setting::Ignore(None)]);
    wrong("it contains lists", remedy)
}

/// All columns of a group have the same rows.
fn agree(count: &mut Option<usize>, found: usize) -> Parsed<()> {
    if *count.get_or_insert(found) == found {
        Ok(())
    } else {
        damaged("its columns have different numbers of rows")
    }
}

/// Every row of a feature column has the same number of values.
fn check_width(column: &ColumnValues, wide: &Wide<'_>, count: usize, rows: usize) -> Parsed<()> {
    if !wide.is_list() {
        return agree(&mut Some(count), column.values.len());
    }
    agree(&mut Some(count), column.lengths.len())?;
    match column.lengths.iter().position(|&l| l != wide.width || l == 0) {
        None => Ok(()),
        Some(row) => wrong(
            format!(
                "row {} has {} values, but the first has {}",
                rows + row + 1,
                column.lengths[row],
                wide.width
            ),
            "give every row the same number of values, at least one",
        ),
    }
}
