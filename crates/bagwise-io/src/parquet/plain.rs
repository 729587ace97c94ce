//! Plain values of a Parquet page: numbers, truth values, texts and decimals.

use super::pages::{ValueKind, or_cut};
use crate::npy::half;
use crate::text::{Parsed, damaged, wrong};

/// Values that are there.
pub(super) enum Plain {
    Whole(Vec<i64>),
    Numbers(Vec<f64>),
    /// Numbers of single or half precision: a page of every column is held while a table is read in pieces.
    Singles(Vec<f32>),
    Texts {
        texts: Vec<String>,
        codes: Vec<u32>,
    },
}

impl Plain {
    pub(super) fn len(&self) -> usize {
        match self {
            Plain::Whole(v) => v.len(),
            Plain::Numbers(v) => v.len(),
            Plain::Singles(v) => v.len(),
            Plain::Texts { codes, .. } => codes.len(),
        }
    }
}

/// Plain values.
pub(super) fn plain(bytes: &[u8], kind: ValueKind, count: usize) -> Parsed<Plain> {
    if kind == ValueKind::Bool {
        if bytes.len() < count.div_ceil(8) {
            return damaged("a page is truncated");
        }
        return Ok(Plain::Whole((0..count).map(|i| i64::from(bytes[i / 8] >> (i % 8) & 1)).collect()));
    }
    let Some(size) = kind.size() else {
        let (mut rest, mut items) = (bytes, Vec::new());
        for _ in 0..count {
            let (length, after) = or_cut(rest.split_first_chunk::<4>())?;
            let (item, after) = or_cut(after.split_at_checked(u32::from_le_bytes(*length) as usize))?;
            rest = after;
            items.push(item);
        }
        return byte_strings(items.into_iter(), kind);
    };
    let bytes = or_cut(count.checked_mul(size).and_then(|length| bytes.get(..length)))?;
    if let ValueKind::Decimal { .. } = kind {
        return decimals(bytes.chunks_exact(size), kind);
    }
    let items =
        bytes.chunks_exact(size).map(|item| item.iter().rev().fold(0u64, |n, &b| n << 8 | u64::from(b)));
    Ok(match kind {
        ValueKind::F16 => Plain::Singles(items.map(|b| half(b as u16)).collect()),
        ValueKind::F32 => Plain::Singles(items.map(|b| f32::from_bits(b as u32)).collect()),
        ValueKind::F64 => Plain::Numbers(items.map(f64::from_bits).collect()),
        ValueKind::I32 => Plain::Whole(items.map(|b| i64::from(b as i32)).collect()),
        ValueKind::U64 => {
            let whole: Option<Vec<i64>> = items.map(|b| i64::try_from(b).ok()).collect();
            match whole {
                Some(whole) => Plain::Whole(whole),
                None => return wrong("a whole number is beyond 2^63", "write such ids as strings"),
            }
        }
        _ => Plain::Whole(items.map(|b| b as i64).collect()),
    })
}

/// Values of any length.
pub(super) fn byte_strings<'b>(items: impl Iterator<Item = &'b [u8]>, kind: ValueKind) -> Parsed<Plain> {
    if kind != ValueKind::Text {
        return decimals(items, kind);
    }
    let mut texts = Vec::new();
    for item in items {
        match std::str::from_utf8(item) {
            Ok(text) => texts.push(text.to_string()),
            Err(_) => return wrong("a string is not UTF-8", "write it as a string column"),
        }
    }
    Ok(Plain::Texts { codes: (0..texts.len() as u32).collect(), texts })
}

/// Decimals as the nearest numbers of double precision; as whole numbers where they have no decimals.
fn decimals<'b>(items: impl Iterator<Item = &'b [u8]>, kind: ValueKind) -> Parsed<Plain> {
    let ValueKind::Decimal { little, scale, .. } = kind else {
        return damaged("a column of an unknown type");
    };
    let mut whole: Vec<i128> = Vec::new();
    for item in items {
        let mut bytes = item.to_vec();
        if !little {
            bytes.reverse();
        }
        if bytes.is_empty() || bytes.len() > 16 {
            return wrong("it contains decimals with more than 38 digits", "write them in double precision");
        }
        let negative = bytes[bytes.len() - 1] >= 0x80;
        bytes.resize(16, if negative { 0xff } else { 0 });
        whole.push(bytes.iter().rev().fold(0u128, |n, &b| n << 8 | u128::from(b)) as i128);
    }
    if scale > 0 {
        let number = |v: &i128| format!("{v}e-{scale}").parse::<f64>().unwrap_or(f64::NAN);
        return Ok(Plain::Numbers(whole.iter().map(number).collect()));
    }
    match whole.iter().map(|&v| i64::try_from(v).ok()).collect() {
        Some(whole) => Ok(Plain::Whole(whole)),
        None => wrong("a whole number is beyond 2^63", "write such ids as strings"),
    }
}
