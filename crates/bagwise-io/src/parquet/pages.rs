//! A column chunk of Parquet: pages one after the other, each a header, levels (which value is missing, which begins a new
//! list) and values, plain or as positions in the dictionary that stands first.
//!
//! Sizes that pages claim are believed only within the limits of `compress`, and the number of their values only as far as
//! [`Budget`] goes: a run of a billion equal values takes six bytes.

use std::io::Read;

use flate2::Crc;
use flate2::bufread::MultiGzDecoder;
use ruzstd::decoding::StreamingDecoder;

use super::thrift::{Input, Value};
use crate::arrays::Values;
use crate::compress::{DecompressBudget, MAX_RATIO, RATIO_FROM};
use crate::npy::half;
use crate::text::{Parsed, damaged, wrong};

fn or_cut<T>(value: Option<T>) -> Parsed<T> {
    value.map_or_else(|| damaged("a page is cut short"), Ok)
}

/// How much more may come out of the file: values, which runs multiply, and bytes, which compression does.
pub(super) struct Budget {
    values: u64,
    bytes: DecompressBudget,
}

impl Budget {
    /// For a file of so many bytes, which may have `values` however small it is.
    pub(super) fn new(length: u64, values: u64) -> Budget {
        Budget { values: length.saturating_mul(MAX_RATIO).max(values), bytes: DecompressBudget::of(length) }
    }

    /// An error if there cannot be so many.
    pub(super) fn allows(&self, values: usize) -> Parsed<()> {
        if values as u64 <= self.values {
            return Ok(());
        }
        wrong(
            format!("it claims {values} more values than the size of the file makes likely"),
            "if the file is what it should be, write it without dictionaries",
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
pub(super) enum Kind {
    Bool,
    I32,
    U32,
    I64,
    U64,
    F16,
    F32,
    F64,
    Text,
}

impl Kind {
    /// Bytes of a value, where all have the same.
    fn size(self) -> Option<usize> {
        match self {
            Kind::Bool | Kind::Text => None,
            Kind::F16 => Some(2),
            Kind::I32 | Kind::U32 | Kind::F32 => Some(4),
            Kind::I64 | Kind::U64 | Kind::F64 => Some(8),
        }
    }

    fn is_whole(self) -> bool {
        matches!(self, Kind::Bool | Kind::I32 | Kind::U32 | Kind::I64 | Kind::U64)
    }
}

/// A column of the table, down to where its values are.
#[derive(Clone, Debug)]
pub(super) struct Leaf {
    pub(super) kind: Kind,
    /// Levels at which something may be missing.
    pub(super) max_def: u32,
    /// Lists inside each other: none or one.
    pub(super) max_rep: u32,
    /// The level from which on a list has a value, which may be missing.
    pub(super) list_def: u32,
}

/// The values of a chunk, missing ones as NaN or empty texts.
pub(super) struct Column {
    pub(super) values: Values,
    /// For lists, how many values each row has.
    pub(super) lengths: Vec<usize>,
}

/// Values that are there.
enum Plain {
    Whole(Vec<i64>),
    Numbers(Vec<f64>),
    Texts { texts: Vec<String>, codes: Vec<u32> },
}

impl Plain {
    fn len(&self) -> usize {
        match self {
            Plain::Whole(v) => v.len(),
            Plain::Numbers(v) => v.len(),
            Plain::Texts { codes, .. } => codes.len(),
        }
    }
}

/// Everything a chunk gives while its pages are read.
struct Gathered {
    whole: Vec<Option<i64>>,
    numbers: Vec<f64>,
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
) -> Parsed<Column> {
    let mut input = Input { bytes };
    let mut dictionary: Option<Plain> = None;
    let mut dictionary_at = 0;
    let mut out = Gathered {
        whole: Vec::new(),
        numbers: Vec::new(),
        texts: Vec::new(),
        codes: Vec::new(),
        missing: false,
        lengths: Vec::new(),
    };
    let mut seen = 0usize;
    while seen < count {
        let header = or_cut(input.structure())?;
        let (Some(size), Some(packed)) = (header.size(2), header.size(3)) else {
            return damaged("a page has no size");
        };
        let (content, rest) = or_cut(input.bytes.split_at_checked(packed))?;
        input.bytes = rest;
        if let Some(wanted) = header.int(4) {
            let mut crc = Crc::new();
            crc.update(content);
            if crc.sum() != wanted as u32 {
                return damaged("the checksum of a page is wrong");
            }
        }
        match header.int(1) {
            Some(2) => {
                let inner = header.get(7).unwrap_or(&Value::Double);
                let values = inner.size(1).unwrap_or(0);
                budget.spend(values)?;
                if dictionary.is_some() || !matches!(inner.int(2), Some(0 | 2)) {
                    return damaged("its dictionary is not a plain one, or there are two");
                }
                let content = unpack(content, codec, size, budget)?;
                let plain = plain(&content, leaf.kind, values)?;
                if let Plain::Texts { texts, .. } = &plain {
                    dictionary_at = out.texts.len() as u32;
                    out.texts.extend(texts.iter().cloned());
                }
                dictionary = Some(plain);
            }
            Some(kind @ (0 | 3)) => {
                let second = kind == 3;
                let inner = header.get(if second { 8 } else { 5 }).unwrap_or(&Value::Double);
                let Some(values) = inner.size(1) else { return damaged("a page has no number of values") };
                budget.spend(values)?;
                seen = seen.saturating_add(values);
                let encoding = inner.int(if second { 4 } else { 2 }).unwrap_or(-1);
                let page = if second {
                    let (def, rep) = (inner.size(5).unwrap_or(0), inner.size(6).unwrap_or(0));
                    let levels = or_cut(def.checked_add(rep))?;
                    let (levels, body) = or_cut(content.split_at_checked(levels))?;
                    let body = match inner.get(7) {
                        Some(Value::Bool(false)) => body.to_vec(),
                        _ => unpack(body, codec, or_cut(size.checked_sub(levels.len()))?, budget)?,
                    };
                    let (rep, def) = levels.split_at(rep);
                    Page { rep: rep.to_vec(), def: def.to_vec(), body, values }
                } else {
                    let packed_levels = |max: u32, field: i16| max > 0 && inner.int(field) != Some(3);
                    if packed_levels(leaf.max_def, 3) || packed_levels(leaf.max_rep, 4) {
                        return wrong("levels are packed as old versions did", "write the file again");
                    }
                    let content = unpack(content, codec, size, budget)?;
                    let mut body = Input { bytes: &content };
                    let rep = sized(&mut body, leaf.max_rep)?;
                    let def = sized(&mut body, leaf.max_def)?;
                    Page { rep, def, body: body.bytes.to_vec(), values }
                };
                page.add(leaf, encoding, dictionary.as_ref(), dictionary_at, &mut out)?;
            }
            // An index: not needed.
            Some(1) => {}
            _ => return damaged("a page of an unknown kind"),
        }
    }
    if seen != count {
        return damaged("a column has more values than it says");
    }
    let values = match leaf.kind {
        Kind::Text => Values::Texts { texts: out.texts, codes: out.codes },
        kind if kind.is_whole() && out.missing => Values::Gaps(out.whole),
        kind if kind.is_whole() => Values::Whole(out.whole.into_iter().flatten().collect()),
        _ => Values::Numbers(out.numbers),
    };
    Ok(Column { values, lengths: out.lengths })
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
            (0, _) => plain(&self.body, leaf.kind, there)?,
            (3, _) if leaf.kind == Kind::Bool => {
                let (length, rest) = or_cut(self.body.split_first_chunk::<4>())?;
                let levels = or_cut(rest.get(..u32::from_le_bytes(*length) as usize))?;
                Plain::Whole(runs(levels, 1, there)?.into_iter().map(i64::from).collect())
            }
            (9, _) if leaf.kind.size().is_some() => {
                let size = leaf.kind.size().unwrap_or(1);
                if self.body.len() != or_cut(there.checked_mul(size))? {
                    return damaged("a page has another size than its values need");
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
                    None => return damaged("a page is cut short"),
                };
                let codes = runs(indices, width.into(), there)?;
                if codes.iter().any(|&c| c as usize >= dictionary.len()) {
                    return damaged("a value is not in the dictionary");
                }
                let codes = codes.iter().map(|&c| c as usize);
                match dictionary {
                    Plain::Whole(v) => Plain::Whole(codes.map(|c| v[c]).collect()),
                    Plain::Numbers(v) => Plain::Numbers(codes.map(|c| v[c]).collect()),
                    Plain::Texts { .. } => {
                        Plain::Texts { texts: Vec::new(), codes: codes.map(|c| c as u32).collect() }
                    }
                }
            }
            (2 | 8, None) => return damaged("a dictionary is missing"),
            (other, _) => {
                let name = match other {
                    5 => "DELTA_BINARY_PACKED",
                    6 => "DELTA_LENGTH_BYTE_ARRAY",
                    7 => "DELTA_BYTE_ARRAY",
                    _ => "one that is not known",
                };
                return wrong(
                    format!("the encoding of a column is {name}, which is not read"),
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
        let mut next = 0;
        for i in (0..self.values).filter(|&i| holds(i)) {
            if is_there(i) {
                match &plain {
                    Plain::Whole(v) => out.whole.push(Some(v[next])),
                    Plain::Numbers(v) => out.numbers.push(v[next]),
                    Plain::Texts { codes, .. } => out.codes.push(base + codes[next]),
                }
                next += 1;
            } else {
                out.missing = true;
                if leaf.kind == Kind::Text {
                    out.codes.push(out.texts.len() as u32);
                    out.texts.push(String::new());
                } else if leaf.kind.is_whole() {
                    out.whole.push(None);
                } else {
                    out.numbers.push(f64::NAN);
                }
            }
        }
        Ok(())
    }
}

/// Undoes the compression of a page.
fn unpack(packed: &[u8], codec: i64, size: usize, budget: &mut Budget) -> Parsed<Vec<u8>> {
    if codec == 0 {
        return if packed.len() == size {
            Ok(packed.to_vec())
        } else {
            damaged("the sizes of a page differ")
        };
    }
    let too_much = size as u64 > RATIO_FROM / 4 && size as u64 / packed.len().max(1) as u64 > MAX_RATIO;
    if !budget.bytes.take(size as u64) {
        return wrong(
            "its pages become more together than the size of the file makes likely: a decompression bomb?",
            "if the file is what it should be, write it uncompressed",
        );
    }
    if too_much {
        return wrong(
            format!("a page of {} bytes claims to become {size}: a decompression bomb?", packed.len()),
            "if the file is what it should be, write it uncompressed",
        );
    }
    let mut out = Vec::new();
    let most = size as u64 + 1;
    let done = match codec {
        1 => match snap::raw::decompress_len(packed) {
            Ok(length) if length == size => {
                snap::raw::Decoder::new().decompress_vec(packed).map(|v| out = v).is_ok()
            }
            _ => false,
        },
        2 => MultiGzDecoder::new(packed).take(most).read_to_end(&mut out).is_ok(),
        6 if size == 0 => true,
        6 => StreamingDecoder::new(packed).is_ok_and(|d| d.take(most).read_to_end(&mut out).is_ok()),
        _ => {
            let name = match codec {
                3 => "LZO",
                4 => "brotli",
                5 | 7 => "LZ4",
                _ => "an unknown method",
            };
            return wrong(
                format!("the file is compressed by {name}, which is not read"),
                "write it with snappy, zstd, gzip or without compression",
            );
        }
    };
    if !done || out.len() != size {
        return damaged("a page cannot be decompressed");
    }
    Ok(out)
}

/// Plain values.
fn plain(bytes: &[u8], kind: Kind, count: usize) -> Parsed<Plain> {
    if kind == Kind::Bool {
        if bytes.len() < count.div_ceil(8) {
            return damaged("a page is cut short");
        }
        return Ok(Plain::Whole((0..count).map(|i| i64::from(bytes[i / 8] >> (i % 8) & 1)).collect()));
    }
    let Some(size) = kind.size() else {
        let (mut rest, mut texts) = (bytes, Vec::new());
        for _ in 0..count {
            let (length, after) = or_cut(rest.split_first_chunk::<4>())?;
            let (text, after) = or_cut(after.split_at_checked(u32::from_le_bytes(*length) as usize))?;
            rest = after;
            match std::str::from_utf8(text) {
                Ok(text) => texts.push(text.to_string()),
                Err(_) => return wrong("a text is not UTF-8", "write it as a string column"),
            }
        }
        return Ok(Plain::Texts { codes: (0..texts.len() as u32).collect(), texts });
    };
    let bytes = or_cut(count.checked_mul(size).and_then(|length| bytes.get(..length)))?;
    let items =
        bytes.chunks_exact(size).map(|item| item.iter().rev().fold(0u64, |n, &b| n << 8 | u64::from(b)));
    Ok(match kind {
        Kind::F16 => Plain::Numbers(items.map(|b| half(b as u16).into()).collect()),
        Kind::F32 => Plain::Numbers(items.map(|b| f32::from_bits(b as u32).into()).collect()),
        Kind::F64 => Plain::Numbers(items.map(f64::from_bits).collect()),
        Kind::I32 => Plain::Whole(items.map(|b| i64::from(b as i32)).collect()),
        Kind::U64 => {
            let whole: Option<Vec<i64>> = items.map(|b| i64::try_from(b).ok()).collect();
            match whole {
                Some(whole) => Plain::Whole(whole),
                None => return wrong("a whole number is beyond 2^63", "write such ids as texts"),
            }
        }
        _ => Plain::Whole(items.map(|b| b as i64).collect()),
    })
}

/// Small numbers as runs and packed groups of eight.
fn runs(bytes: &[u8], width: u32, count: usize) -> Parsed<Vec<u32>> {
    if width > 32 {
        return damaged("numbers of more than 32 bits");
    }
    let mut input = Input { bytes };
    let mut out: Vec<u32> = Vec::new();
    while out.len() < count {
        // Nothing at all stands for zeros where zero is all there can be.
        if width == 0 && input.bytes.is_empty() {
            out.resize(count, 0);
            break;
        }
        let head = or_cut(input.varint())?;
        let length = usize::try_from(head >> 1).unwrap_or(usize::MAX);
        if head & 1 == 0 {
            let size = width.div_ceil(8) as usize;
            let (item, rest) = or_cut(input.bytes.split_at_checked(size))?;
            input.bytes = rest;
            if length == 0 {
                return damaged("a run of no length");
            }
            let value = item.iter().rev().fold(0u64, |n, &b| n << 8 | u64::from(b)) as u32;
            out.resize(out.len().saturating_add(length).min(count), value);
        } else {
            let size = or_cut(length.checked_mul(width as usize))?;
            if length == 0 {
                return damaged("a run of no length");
            }
            // The last group may be cut where its values end.
            let (packed, rest) = input.bytes.split_at(size.min(input.bytes.len()));
            input.bytes = rest;
            let values = length.saturating_mul(8).min(count - out.len());
            if (packed.len() as u64) * 8 < values as u64 * u64::from(width) {
                return damaged("a page is cut short");
            }
            let mut bit = 0usize;
            for _ in 0..values {
                let mut value = 0u64;
                for b in 0..width as usize {
                    let at = bit + b;
                    value |= u64::from(packed[at / 8] >> (at % 8) & 1) << b;
                }
                out.push(value as u32);
                bit += width as usize;
            }
        }
    }
    Ok(out)
}
