//! A Parquet file in pieces of whole bags. Columns are read page by page, side by side, because a row group may be as large as
//! the file: what is held is a page of every column and the rows of a piece.

use std::cell::RefCell;
use std::collections::HashMap;
use std::path::Path;

use super::pages::{Budget, ChunkPages, ColumnValues};
use super::thrift::ThriftValue;
use super::{
    ColumnChunk, FoundColumns, ParquetFile, SchemaField, VALUES, check_width, fields, list_free, of_column,
    refuse_rounded,
};
use crate::ReadOptions;
use crate::arrays::Values;
use crate::stream::{SeenBags, TakePiece};
use crate::text::{Markers, ParseProblem, Parsed, damaged};
use bagwise_core::{Instances, Mat, Message, Result};

/// Bytes that are read to find where the header of a page ends.
const HEADER: u64 = 1 << 12;

/// A column of a row group while its pages are read.
pub(super) struct OpenColumn<'f> {
    pages: ChunkPages<'f>,
    /// Where the next page begins, and the bytes that the column still has.
    at: u64,
    left: u64,
}

impl<'f> OpenColumn<'f> {
    pub(super) fn open(group: &ThriftValue, field: &'f SchemaField) -> Parsed<OpenColumn<'f>> {
        let chunk = ColumnChunk::find(group, field)?;
        let pages = ChunkPages::new(chunk.leaf, chunk.codec, chunk.count);
        Ok(OpenColumn { pages, at: chunk.start, left: chunk.size })
    }

    /// The next rows: as many as asked for, which the column must have.
    pub(super) fn rows(
        &mut self,
        count: usize,
        file: &mut ParquetFile,
        budget: &mut Budget,
    ) -> Parsed<ColumnValues> {
        while self.pages.rows() < count {
            if self.pages.is_done() {
                return damaged("its columns have different numbers of rows");
            }
            let mut look = HEADER.min(self.left);
            let (header, used) = loop {
                let bytes = file.at(self.at, look)?;
                match ChunkPages::header(&bytes) {
                    Some(found) => break found,
                    None if look < self.left => look = (look * 8).min(self.left),
                    None => return damaged("a page is truncated"),
                }
            };
            let packed = ChunkPages::packed(&header)? as u64;
            let used = used as u64;
            if self.left < used || self.left - used < packed {
                return damaged("a page is truncated");
            }
            let content = file.at(self.at + used, packed)?;
            (self.at, self.left) = (self.at + used + packed, self.left - used - packed);
            self.pages.add(&header, &content, budget)?;
        }
        Ok(self.pages.take(count))
    }
}

/// Hands out the bags of a file, piece by piece.
pub(super) fn read(path: &Path, options: &ReadOptions, rows: usize, take: TakePiece<'_>) -> Result<()> {
    let mut file = ParquetFile::open(path)?;
    let footer = file.footer()?;
    let fields = fields(&footer).map_err(|e| file.refuse(e))?;
    let source = file.name.clone();
    let budget = RefCell::new(Budget::new(file.length, VALUES));
    // How long lists are, the first page says.
    let width_of = |field: &SchemaField| {
        for group in footer.list(4).iter().filter(|group| group.int(3) != Some(0)) {
            let first = OpenColumn::open(group, field)?.rows(1, &mut file, &mut budget.borrow_mut())?;
            if let Some(&width) = first.lengths.first().filter(|&&width| width > 0) {
                return Ok((width, None));
            }
        }
        Ok((0, None))
    };
    let mut layout = FoundColumns::find(&source, &footer, &fields, width_of, options)?;
    let mut budget = budget.into_inner();
    let of_column = |c: usize, fault: ParseProblem| of_column(&source, &fields[c].name, fault);
    let markers = Markers::new(&options.missing_values);
    let seen = SeenBags::default();
    let (total, single) = (layout.total, layout.single);
    let mut held = PendingRows::default();
    // What is said once, and rows that were handed out.
    let mut warnings = std::mem::take(&mut layout.roles.warnings);
    let mut before = 0usize;
    for group in footer.list(4) {
        let Some(mut left) = group.size(3) else {
            return Err(
                file.refuse(("a row group has no number of rows".into(), "write the file again".into()))
            );
        };
        let open = |columns: &[usize]| -> Result<Vec<OpenColumn<'_>>> {
            columns
                .iter()
                .map(|&c| OpenColumn::open(group, &fields[c]).map_err(|e| of_column(c, e)))
                .collect()
        };
        let (mut beside, mut features) = (open(&layout.beside)?, open(&layout.roles.features)?);
        while left > 0 {
            // A bag that is longer than a piece is read on in steps, which grow with it.
            let step = rows.div_ceil(4).max(held.rows / 2);
            let count = left.min(rows.saturating_sub(held.rows).max(step));
            for (column, &c) in beside.iter_mut().zip(&layout.beside) {
                let part = column.rows(count, &mut file, &mut budget).and_then(list_free);
                held.append(c, part.map_err(|e| of_column(c, e))?);
            }
            budget.allows(count.saturating_mul(total)).map_err(|e| file.refuse(e))?;
            let from = held.rows * total;
            match single {
                true => held.f32s.resize(from + count * total, 0.0),
                false => held.f64s.resize(from + count * total, 0.0),
            }
            let at = before + held.rows;
            for ((column, w), &c) in features.iter_mut().zip(&mut layout.wide).zip(&layout.roles.features) {
                let part = column.rows(count, &mut file, &mut budget).map_err(|e| of_column(c, e))?;
                check_width(&part, w, count, at).map_err(|e| of_column(c, e))?;
                refuse_rounded(&part, w, at).map_err(|e| of_column(c, e))?;
                match single {
                    true => w.place(&part.values, &markers, &mut held.f32s[from..], total, |v| v as f32),
                    false => w.place(&part.values, &markers, &mut held.f64s[from..], total, |v| v),
                }
            }
            held.rows += count;
            left -= count;
            let whole = if held.rows >= rows { held.whole_bags(layout.roles.bag) } else { 0 };
            if whole > 0 {
                let (columns, instances) = held.take(whole, &layout);
                let place = (before, Some(seen.clone()));
                let said: Vec<Message> = std::mem::take(&mut warnings);
                take(layout.finish(&source, &columns, instances, place, said, options)?)?;
                before += whole;
            }
        }
    }
    if held.rows == 0 && before == 0 {
        return Err(
            file.refuse(("the table has no rows".into(), "give at least one bag with one instance".into()))
        );
    }
    if held.rows > 0 {
        let (columns, instances) = held.take(held.rows, &layout);
        take(layout.finish(&source, &columns, instances, (before, Some(seen)), warnings, options)?)?;
    }
    Ok(())
}

/// The rows that were read and not yet handed out.
#[derive(Default)]
struct PendingRows {
    f32s: Vec<f32>,
    f64s: Vec<f64>,
    beside: HashMap<usize, Values>,
    rows: usize,
}

impl PendingRows {
    fn append(&mut self, column: usize, part: Values) {
        match self.beside.get_mut(&column) {
            Some(known) => known.append(part),
            None => drop(self.beside.insert(column, part)),
        }
    }

    /// Rows before the last bag, of which there may be more in the file.
    fn whole_bags(&self, bag: usize) -> usize {
        let Some(ids) = self.beside.get(&bag) else { return 0 };
        let last = ids.text(self.rows - 1);
        let other = |row: &usize| ids.text(*row).trim() != last.trim();
        (0..self.rows).rev().find(other).map_or(0, |row| row + 1)
    }

    /// The first rows; the others stay.
    fn take(&mut self, rows: usize, layout: &FoundColumns<'_>) -> (HashMap<usize, Values>, Instances) {
        let cells = rows * layout.total;
        let mut columns = HashMap::new();
        for (&c, values) in &mut self.beside {
            let rest = values.split_off(rows);
            columns.insert(c, std::mem::replace(values, rest));
        }
        self.rows -= rows;
        let instances = if layout.single {
            let rest = self.f32s.split_off(cells);
            Instances::F32(Mat::new(rows, layout.total, std::mem::replace(&mut self.f32s, rest)))
        } else {
            let rest = self.f64s.split_off(cells);
            let mut data = std::mem::replace(&mut self.f64s, rest);
            layout.rank(&mut data);
            Instances::F64(Mat::new(rows, layout.total, data))
        };
        (columns, instances)
    }
}
