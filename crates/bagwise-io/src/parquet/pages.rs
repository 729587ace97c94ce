//! A column chunk of Parquet: pages one after the other, each a header, levels (which value is missing, which begins a new
//! list) and values, plain or as positions in the dictionary that stands first.
//!
//! Sizes that pages claim are believed only within the limits of `compress`, and the number of their values only as far as
//! [`Budget`] goes: a run of a billion equal values takes six bytes.

use std::collections::HashMap;

use flate2::Crc;

use super::codec::unpack;
use super::delta::{deltas, runs, strings};
use super::plain::{Plain, byte_strings, plain};
use super::thrift::{Input, ThriftValue};
use crate::arrays::Values;
use crate::compress::{DecompressBudget, MAX_RATIO};
use crate::text::{Parsed, damaged, wrong};

pub(super) fn or_cut<T>(value: Option<T>) -> Parsed<T> {
    value.map_or_else(|| damaged("a page is truncated"), Ok)
}

/// How much more may come out of the file: values, which runs multiply, and bytes, which compression does.
pub(super) struct Budget {
    values: u64,
    bytes: DecompressBudget,
}

impl Budget {
    /// For a file of this many bytes, which may have `values` however small it is.
    pub(super) fn new(length: u64, values: u64) -> Budget {
        Budget { values: length.saturating_mul(MAX_RATIO).max(values), bytes: DecompressBudget::of(length) }
    }

    /// An error if there cannot be that many.
    pub(super) fn allows(&self, values: usize) -> Parsed<()> {
        if values as u64 <= self.values {
            return Ok(());
        }
        wrong(
            format!("it claims {values} more values than is plausible for the size of the file"),
            "if you trust the file, write it without dictionaries",
        )
    }

    /// Takes bytes that come out of compression.
    pub(super) fn spend_bytes(&mut self, bytes: usize) -> Parsed<()> {
        if self.bytes.take(bytes as u64) {
            return Ok(());
        }
        wrong(
            "its pages expand to more than is plausible for the size of the file: a decompression bomb?",
            "if you trust the file, write it uncompressed",
        )
    }

    fn spend(&mut self, values: usize) -> Parsed<()> {
        self.allows(values)?;
        self.values -= values as u64;
        Ok(())
    }
}

/// What the values of a column are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ValueKind {
    Bool,
    I32,
    U32,
    I64,
    U64,
    F16,
    F32,
    F64,
    Text,
    /// Whole numbers to be divided by a power of ten: of this many bytes, or as many as stand before each; the most
    /// significant byte first unless they are `little`.
    Decimal {
        bytes: Option<usize>,
        little: bool,
        scale: u32,
    },
}

impl ValueKind {
    /// Bytes of a value, where all have the same.
    pub(super) fn size(self) -> Option<usize> {
        match self {
            ValueKind::Bool | ValueKind::Text => None,
            ValueKind::Decimal { bytes, .. } => bytes,
            ValueKind::F16 => Some(2),
            ValueKind::I32 | ValueKind::U32 | ValueKind::F32 => Some(4),
            ValueKind::I64 | ValueKind::U64 | ValueKind::F64 => Some(8),
        }
    }

    fn is_single(self) -> bool {
        matches!(self, ValueKind::F16 | ValueKind::F32)
    }

    fn is_whole(self) -> bool {
        use ValueKind::{Bool, Decimal, I32, I64, U32, U64};
        matches!(self, Bool | I32 | U32 | I64 | U64 | Decimal { scale: 0, .. })
    }
}

/// A column of the table, down to where its values are.
#[derive(Clone, Debug)]
pub(super) struct Leaf {
    pub(super) kind: ValueKind,
    /// Levels at which something may be missing.
    pub(super) max_def: u32,
    /// Lists inside each other: none or one.
    pub(super) max_rep: u32,
    /// The level from which on a list has a value, which may be missing.
    pub(super) list_def: u32,
}

/// The values of a chunk, missing ones as NaN or empty texts.
pub(super) struct ColumnValues {
    pub(super) values: Values,
    /// For lists, how many values each row has.
    pub(super) lengths: Vec<usize>,
}

/// Everything a chunk gives while its pages are read.
#[derive(Default)]
struct Gathered {
    whole: Vec<Option<i64>>,
    numbers: Vec<f64>,
    singles: Vec<f32>,
    texts: Vec<String>,
    codes: Vec<u32>,
    missing: bool,
    lengths: Vec<usize>,
}

/// Reads the pages of a chunk, which holds `count` values.
pub(super) fn chunk(
    bytes: &[u8],
    leaf: &Leaf,
    codec: i64,
    count: usize,
    budget: &mut Budget,
) -> Parsed<ColumnValues> {
    let mut pages = ChunkPages::new(leaf, codec, count);
    let mut rest = bytes;
    while !pages.is_done() {
        let (header, used) = or_cut(ChunkPages::header(rest))?;
        let packed = ChunkPages::packed(&header)?;
        let (content, after) = or_cut(rest[used..].split_at_checked(packed))?;
        rest = after;
        pages.add(&header, content, budget)?;
    }
    let out = pages.out;
    let values = match leaf.kind {
        ValueKind::Text => Values::Texts { texts: out.texts, codes: out.codes },
        kind if kind.is_whole() && out.missing => Values::Gaps(out.whole),
        kind if kind.is_whole() => Values::Whole(out.whole.into_iter().flatten().collect()),
        kind if kind.is_single() => Values::Numbers(out.singles.into_iter().map(f64::from).collect()),
        _ => Values::Numbers(out.numbers),
    };
    Ok(ColumnValues { values, lengths: out.lengths })
}

/// A chunk while its pages come one after the other; rows that were taken are forgotten.
pub(super) struct ChunkPages<'l> {
    leaf: &'l Leaf,
    codec: i64,
    /// Values that the chunk has, and those that were seen.
    count: usize,
    seen: usize,
    dictionary: Option<Plain>,
    /// Texts of the dictionary, which stand first.
    dictionary_texts: usize,
    out: Gathered,
    /// Values and rows of `out` that were taken.
    taken: usize,
    taken_rows: usize,
}

impl<'l> ChunkPages<'l> {
    pub(super) fn new(leaf: &'l Leaf, codec: i64, count: usize) -> ChunkPages<'l> {
        ChunkPages {
            leaf,
            codec,
            count,
            seen: 0,
            dictionary: None,
            dictionary_texts: 0,
            out: Gathered::default(),
            taken: 0,
            taken_rows: 0,
        }
    }

    /// The header of a page, and its bytes; nothing if there are too few.
    pub(super) fn header(bytes: &[u8]) -> Option<(ThriftValue, usize)> {
        let mut input = Input { bytes };
        let header = input.structure()?;
        Some((header, bytes.len() - input.bytes.len()))
    }

    /// Bytes of a page behind its header.
    pub(super) fn packed(header: &ThriftValue) -> Parsed<usize> {
        match (header.size(2), header.size(3)) {
            (Some(_), Some(packed)) => Ok(packed),
            _ => damaged("a page has no size"),
        }
    }

    /// True if all values of the chunk were seen.
    pub(super) fn is_done(&self) -> bool {
        self.seen >= self.count
    }

    /// Rows that can be taken. The last list may go on in the next page.
    pub(super) fn rows(&self) -> usize {
        match self.leaf.max_rep {
            0 => self.values() - self.taken,
            _ => (self.out.lengths.len() - self.taken_rows).saturating_sub(usize::from(!self.is_done())),
        }
    }

    fn values(&self) -> usize {
        match self.leaf.kind {
            ValueKind::Text => self.out.codes.len(),
            kind if kind.is_whole() => self.out.whole.len(),
            kind if kind.is_single() => self.out.singles.len(),
            _ => self.out.numbers.len(),
        }
    }

    /// The next rows, which must be there.
    pub(super) fn take(&mut self, rows: usize) -> ColumnValues {
        let lengths: Vec<usize> = match self.leaf.max_rep {
            0 => Vec::new(),
            _ => self.out.lengths[self.taken_rows..self.taken_rows + rows].to_vec(),
        };
        let count = if self.leaf.max_rep == 0 { rows } else { lengths.iter().sum() };
        let range = self.taken..self.taken + count;
        let values = match self.leaf.kind {
            ValueKind::Text => {
                let (texts, codes) = self.out.texts_of(&self.out.codes[range]);
                Values::Texts { texts, codes }
            }
            kind if kind.is_whole() => {
                let whole = &self.out.whole[range];
                match whole.iter().copied().collect::<Option<Vec<i64>>>() {
                    Some(whole) => Values::Whole(whole),
                    None => Values::Gaps(whole.to_vec()),
                }
            }
            kind if kind.is_single() => {
                Values::Numbers(self.out.singles[range].iter().map(|&v| v.into()).collect())
            }
            _ => Values::Numbers(self.out.numbers[range].to_vec()),
        };
        self.taken += count;
        self.taken_rows += rows;
        ColumnValues { values, lengths }
    }

    /// Forgets what was taken.
    fn forget(&mut self) {
        let taken = std::mem::take(&mut self.taken);
        let rows = std::mem::take(&mut self.taken_rows);
        if taken == 0 && rows == 0 {
            return;
        }
        let out = &mut self.out;
        if self.leaf.max_rep > 0 {
            out.lengths.drain(..rows);
        }
        match self.leaf.kind {
            ValueKind::Text => {
                out.codes.drain(..taken);
                // Of texts that stand outside the dictionary only those stay that are still to be taken.
                let fixed = self.dictionary_texts;
                let mut texts: Vec<String> = out.texts.drain(fixed..).collect();
                for code in out.codes.iter_mut().filter(|code| **code as usize >= fixed) {
                    let text = std::mem::take(&mut texts[*code as usize - fixed]);
                    *code = out.texts.len() as u32;
                    out.texts.push(text);
                }
            }
            kind if kind.is_whole() => drop(out.whole.drain(..taken)),
            kind if kind.is_single() => drop(out.singles.drain(..taken)),
            _ => drop(out.numbers.drain(..taken)),
        }
    }

    /// Adds a page.
    pub(super) fn add(&mut self, header: &ThriftValue, content: &[u8], budget: &mut Budget) -> Parsed<()> {
        self.forget();
        let (leaf, codec) = (self.leaf, self.codec);
        let Some(size) = header.size(2) else { return damaged("a page has no size") };
        if let Some(wanted) = header.int(4) {
            let mut crc = Crc::new();
            crc.update(content);
            if crc.sum() != wanted as u32 {
                return damaged("the checksum of a page is wrong");
            }
        }
        match header.int(1) {
            Some(2) => {
                let inner = header.get(7).unwrap_or(&ThriftValue::Double);
                let values = inner.size(1).unwrap_or(0);
                budget.spend(values)?;
                if self.dictionary.is_some() || self.seen > 0 || !matches!(inner.int(2), Some(0 | 2)) {
                    return damaged("its dictionary is not a plain one, or there are two");
                }
                let content = unpack(content, codec, size, budget)?;
                let plain = plain(&content, leaf.kind, values)?;
                if let Plain::Texts { texts, .. } = &plain {
                    self.dictionary_texts = texts.len();
                    self.out.texts.extend(texts.iter().cloned());
                }
                self.dictionary = Some(plain);
            }
            Some(kind @ (0 | 3)) => {
                let second = kind == 3;
                let inner = header.get(if second { 8 } else { 5 }).unwrap_or(&ThriftValue::Double);
                let Some(values) = inner.size(1) else { return damaged("a page has no number of values") };
                budget.spend(values)?;
                self.seen = self.seen.saturating_add(values);
                if self.seen > self.count {
                    return damaged("a column has more values than declared");
                }
                let encoding = inner.int(if second { 4 } else { 2 }).unwrap_or(-1);
                let page = if second {
                    let (def, rep) = (inner.size(5).unwrap_or(0), inner.size(6).unwrap_or(0));
                    let levels = or_cut(def.checked_add(rep))?;
                    let (levels, body) = or_cut(content.split_at_checked(levels))?;
                    let body = match inner.get(7) {
                        Some(ThriftValue::Bool(false)) => body.to_vec(),
                        _ => unpack(body, codec, or_cut(size.checked_sub(levels.len()))?, budget)?,
                    };
                    let (rep, def) = levels.split_at(rep);
                    Page { rep: rep.to_vec(), def: def.to_vec(), body, values }
                } else {
                    let packed_levels = |max: u32, field: i16| max > 0 && inner.int(field) != Some(3);
                    if packed_levels(leaf.max_def, 3) || packed_levels(leaf.max_rep, 4) {
                        return wrong("levels use an obsolete encoding", "write the file again");
                    }
                    let content = unpack(content, codec, size, budget)?;
                    let mut body = Input { bytes: &content };
                    let rep = sized(&mut body, leaf.max_rep)?;
                    let def = sized(&mut body, leaf.max_def)?;
                    Page { rep, def, body: body.bytes.to_vec(), values }
                };
                page.add(leaf, encoding, self.dictionary.as_ref(), 0, &mut self.out, budget)?;
            }
            // An index: not needed.
            Some(1) => {}
            _ => return damaged("a page of an unknown kind"),
        }
        Ok(())
    }
}

impl Gathered {
    /// The texts of these codes, each once, and the codes among them.
    fn texts_of(&self, codes: &[u32]) -> (Vec<String>, Vec<u32>) {
        let (mut texts, mut known) = (Vec::new(), HashMap::new());
        let own = codes
            .iter()
            .map(|&code| {
                *known.entry(code).or_insert_with(|| {
                    texts.push(self.texts[code as usize].clone());
                    texts.len() as u32 - 1
                })
            })
            .collect();
        (texts, own)
    }
}

/// Levels with their length before them.
fn sized(input: &mut Input<'_>, max: u32) -> Parsed<Vec<u8>> {
    if max == 0 {
        return Ok(Vec::new());
    }
    let (length, rest) = or_cut(input.bytes.split_first_chunk::<4>())?;
    let (levels, rest) = or_cut(rest.split_at_checked(u32::from_le_bytes(*length) as usize))?;
    input.bytes = rest;
    Ok(levels.to_vec())
}

/// A page of data, unpacked.
struct Page {
    rep: Vec<u8>,
    def: Vec<u8>,
    body: Vec<u8>,
    values: usize,
}

impl Page {
    fn add(
        &self,
        leaf: &Leaf,
        encoding: i64,
        dictionary: Option<&Plain>,
        dictionary_at: u32,
        out: &mut Gathered,
        budget: &mut Budget,
    ) -> Parsed<()> {
        let width = |max: u32| u32::BITS - max.leading_zeros();
        let def = match leaf.max_def {
            0 => None,
            max => Some(runs(&self.def, width(max), self.values)?),
        };
        let there =
            def.as_ref().map_or(self.values, |def| def.iter().filter(|&&d| d == leaf.max_def).count());
        if leaf.max_rep > 0 {
            let rep = runs(&self.rep, width(leaf.max_rep), self.values)?;
            for (i, &level) in rep.iter().enumerate() {
                if level == 0 {
                    out.lengths.push(0);
                }
                // A list that is missing or empty has a level below that of its values.
                let holds = def.as_ref().is_none_or(|d| d[i] >= leaf.list_def);
                match out.lengths.last_mut() {
                    Some(length) => *length += usize::from(holds),
                    None => return damaged("a list does not begin"),
                }
            }
        }
        let is_dictionary = matches!(encoding, 2 | 8);
        let plain = match (encoding, dictionary) {
            (0, _) => {
                let is_text = leaf.kind == ValueKind::Text && leaf.max_def == 0 && leaf.max_rep == 0;
                if is_text && has_levels(&self.body, there) {
                    return damaged("strings that cannot be missing have definition levels");
                }
                plain(&self.body, leaf.kind, there)?
            }
            (3, _) if leaf.kind == ValueKind::Bool => {
                let (length, rest) = or_cut(self.body.split_first_chunk::<4>())?;
                let levels = or_cut(rest.get(..u32::from_le_bytes(*length) as usize))?;
                Plain::Whole(runs(levels, 1, there)?.into_iter().map(i64::from).collect())
            }
            (9, _) if leaf.kind.size().is_some() => {
                let size = leaf.kind.size().unwrap_or(1);
                if self.body.len() != or_cut(there.checked_mul(size))? {
                    return damaged("the size of a page does not match its values");
                }
                let joined: Vec<u8> = (0..there)
                    .flat_map(|i| (0..size).map(move |b| (i, b)))
                    .map(|(i, b)| self.body[b * there + i])
                    .collect();
                plain(&joined, leaf.kind, there)?
            }
            (2 | 8, Some(dictionary)) => {
                let (&width, indices) = match self.body.split_first() {
                    Some(split) => split,
                    None if there == 0 => (&0, &[][..]),
                    None => return damaged("a page is truncated"),
                };
                let codes = runs(indices, width.into(), there)?;
                if codes.iter().any(|&c| c as usize >= dictionary.len()) {
                    return damaged("a value is not in the dictionary");
                }
                let codes = codes.iter().map(|&c| c as usize);
                match dictionary {
                    Plain::Whole(v) => Plain::Whole(codes.map(|c| v[c]).collect()),
                    Plain::Numbers(v) => Plain::Numbers(codes.map(|c| v[c]).collect()),
                    Plain::Singles(v) => Plain::Singles(codes.map(|c| v[c]).collect()),
                    Plain::Texts { .. } => {
                        Plain::Texts { texts: Vec::new(), codes: codes.map(|c| c as u32).collect() }
                    }
                }
            }
            (2 | 8, None) => return damaged("a dictionary is missing"),
            (5, _)
                if leaf.kind.is_whole() || matches!(leaf.kind, ValueKind::Decimal { little: true, .. }) =>
            {
                // Differences wrap around at the width of the type.
                let items = deltas(&mut Input { bytes: &self.body }, there)?;
                let bytes: Vec<u8> = match leaf.kind.size() {
                    Some(4) => items.iter().flat_map(|&v| (v as i32).to_le_bytes()).collect(),
                    _ => items.iter().flat_map(|v| v.to_le_bytes()).collect(),
                };
                plain(&bytes, leaf.kind, there)?
            }
            (6 | 7, _)
                if matches!(leaf.kind, ValueKind::Text | ValueKind::Decimal { .. } | ValueKind::F16) =>
            {
                let items = strings(&self.body, there, encoding == 7, budget)?;
                match leaf.kind.size() {
                    Some(size) if items.iter().any(|item| item.len() != size) => {
                        return damaged("the size of a value does not match its column");
                    }
                    Some(_) => plain(&items.concat(), leaf.kind, there)?,
                    None => byte_strings(items.iter().map(Vec::as_slice), leaf.kind)?,
                }
            }
            _ => {
                return wrong(
                    format!("a column uses encoding number {encoding}, which is not supported for its type"),
                    "write it with the encodings PLAIN or RLE_DICTIONARY (in pyarrow the default)",
                );
            }
        };
        let holds = |i: usize| {
            // In lists only values count, missing ones too; elsewhere every row has its place.
            leaf.max_rep == 0 || def.as_ref().is_none_or(|d| d[i] >= leaf.list_def)
        };
        let is_there = |i: usize| def.as_ref().is_none_or(|d| d[i] == leaf.max_def);
        let base = if is_dictionary { dictionary_at } else { out.texts.len() as u32 };
        if let Plain::Texts { texts, .. } = &plain {
            out.texts.extend(texts.iter().cloned());
        }
        if there == self.values && leaf.max_rep == 0 {
            match plain {
                Plain::Whole(v) => out.whole.extend(v.into_iter().map(Some)),
                Plain::Numbers(v) => out.numbers.extend(v),
                Plain::Singles(v) => out.singles.extend(v),
                Plain::Texts { codes, .. } => out.codes.extend(codes.iter().map(|code| base + code)),
            }
            return Ok(());
        }
        let mut next = 0;
        for i in (0..self.values).filter(|&i| holds(i)) {
            if is_there(i) {
                match &plain {
                    Plain::Whole(v) => out.whole.push(Some(v[next])),
                    Plain::Numbers(v) => out.numbers.push(v[next]),
                    Plain::Singles(v) => out.singles.push(v[next]),
                    Plain::Texts { codes, .. } => out.codes.push(base + codes[next]),
                }
                next += 1;
            } else {
                out.missing = true;
                if leaf.kind == ValueKind::Text {
                    out.codes.push(out.texts.len() as u32);
                    out.texts.push(String::new());
                } else if leaf.kind.is_whole() {
                    out.whole.push(None);
                } else if leaf.kind.is_single() {
                    out.singles.push(f32::NAN);
                } else {
                    out.numbers.push(f64::NAN);
                }
            }
        }
        Ok(())
    }
}

/// True if plain texts stand behind levels that their column does not have, as fastparquet may write them: read as they
/// are they would be shifted by one. The levels are a run of ones, with their length before them.
fn has_levels(body: &[u8], count: usize) -> bool {
    let levels = body.split_first_chunk::<4>().and_then(|(length, rest)| {
        let mut input = Input { bytes: rest.get(..u32::from_le_bytes(*length) as usize)? };
        Some((input.varint()?, input.bytes))
    });
    levels == Some(((count as u64) << 1, &[1]))
}
