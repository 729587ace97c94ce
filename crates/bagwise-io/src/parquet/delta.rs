//! Numbers packed into few bits: runs and groups of small ones (levels, positions in dictionaries), and the encodings that
//! keep differences: DELTA_BINARY_PACKED for whole numbers, DELTA_LENGTH_BYTE_ARRAY and DELTA_BYTE_ARRAY for texts.

use super::pages::{Budget, or_cut};
use super::thrift::Input;
use crate::text::{Parsed, damaged};

/// Numbers of `width` bits each, the lowest bit first.
fn packed(bytes: &[u8], width: usize, count: usize) -> impl Iterator<Item = u64> {
    (0..count).map(move |i| {
        let at = i * width;
        (0..width)
            .fold(0u64, |value, bit| value | u64::from(bytes[(at + bit) / 8] >> ((at + bit) % 8) & 1) << bit)
    })
}

/// Small numbers as runs and packed groups of eight.
pub(super) fn runs(bytes: &[u8], width: u32, count: usize) -> Parsed<Vec<u32>> {
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
        if length == 0 {
            return damaged("a run of length 0");
        }
        if head & 1 == 0 {
            let size = width.div_ceil(8) as usize;
            let (item, rest) = or_cut(input.bytes.split_at_checked(size))?;
            input.bytes = rest;
            let value = item.iter().rev().fold(0u64, |n, &b| n << 8 | u64::from(b)) as u32;
            out.resize(out.len().saturating_add(length).min(count), value);
        } else {
            let size = or_cut(length.checked_mul(width as usize))?;
            // The last group may be cut where its values end.
            let (group, rest) = input.bytes.split_at(size.min(input.bytes.len()));
            input.bytes = rest;
            let values = length.saturating_mul(8).min(count - out.len());
            if (group.len() as u64) * 8 < values as u64 * u64::from(width) {
                return damaged("a page is truncated");
            }
            out.extend(packed(group, width as usize, values).map(|v| v as u32));
        }
    }
    Ok(out)
}

/// Whole numbers by their differences, `count` of them: blocks with a smallest difference, cut into pieces of which each has
/// a width in bits.
pub(super) fn deltas(input: &mut Input<'_>, count: usize) -> Parsed<Vec<i64>> {
    let mut size = || or_cut(input.varint()).map(|v| usize::try_from(v).unwrap_or(usize::MAX));
    let (block, pieces, total) = (size()?, size()?, size()?);
    let first = zigzag(input)?;
    if total != count || pieces == 0 || block == 0 || !block.is_multiple_of(pieces) {
        return damaged("a page of differences contradicts itself");
    }
    let each = block / pieces;
    if !each.is_multiple_of(8) || each > 1 << 20 {
        return damaged("a page of differences has pieces of an odd size");
    }
    let mut out = Vec::new();
    if count > 0 {
        out.push(first);
    }
    let mut last = first;
    while out.len() < count {
        let least = zigzag(input)?;
        let (widths, rest) = or_cut(input.bytes.split_at_checked(pieces))?;
        input.bytes = rest;
        for &width in widths {
            if out.len() == count {
                break; // The widths of pieces that are not there mean nothing.
            }
            if width > 64 {
                return damaged("differences of more than 64 bits");
            }
            let (piece, rest) = or_cut(input.bytes.split_at_checked(each / 8 * usize::from(width)))?;
            input.bytes = rest;
            for delta in packed(piece, usize::from(width), each.min(count - out.len())) {
                last = last.wrapping_add(least).wrapping_add(delta as i64);
                out.push(last);
            }
        }
    }
    Ok(out)
}

fn zigzag(input: &mut Input<'_>) -> Parsed<i64> {
    let value = or_cut(input.varint())?;
    Ok((value >> 1) as i64 ^ -((value & 1) as i64))
}

/// Byte strings with their lengths before all of them; where `prefixed`, each begins with as much of the one before as
/// stands in front.
pub(super) fn strings(
    bytes: &[u8],
    count: usize,
    prefixed: bool,
    budget: &mut Budget,
) -> Parsed<Vec<Vec<u8>>> {
    let mut input = Input { bytes };
    let size = |v: i64| usize::try_from(v).map_or_else(|_| damaged("a string of negative length"), Ok);
    let shared = if prefixed { deltas(&mut input, count)? } else { vec![0; count] };
    let lengths = deltas(&mut input, count)?;
    let mut out: Vec<Vec<u8>> = Vec::new();
    for (&shared, &length) in shared.iter().zip(&lengths) {
        let (own, rest) = or_cut(input.bytes.split_at_checked(size(length)?))?;
        input.bytes = rest;
        let before = out.last().map_or(&[][..], |last| last);
        let Some(front) = before.get(..size(shared)?) else {
            return damaged("a string has a longer prefix than the one before it");
        };
        // A long text can be repeated in a few bits.
        budget.spend_bytes(front.len())?;
        out.push([front, own].concat());
    }
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn differences_of_the_specification_come_back() {
        // 7, 5, 3, 1, 2, 3, 4, 5: first value 7, smallest difference -2, two bits each, in a block of 128 and 4 pieces.
        let mut bytes = vec![0x80, 1, 4, 8, 14, 3, 2, 0, 0, 0];
        let deltas_of = [0u8, 0, 0, 3, 3, 3, 3];
        let mut piece = vec![0u8; 8];
        for (i, delta) in deltas_of.iter().enumerate() {
            piece[i / 4] |= delta << (2 * (i % 4));
        }
        bytes.extend(piece);
        assert_eq!(deltas(&mut Input { bytes: &bytes }, 8).unwrap(), [7, 5, 3, 1, 2, 3, 4, 5]);
        assert!(deltas(&mut Input { bytes: &bytes }, 9).is_err());
        for cut in 0..bytes.len() - 1 {
            assert!(deltas(&mut Input { bytes: &bytes[..cut] }, 8).is_err(), "{cut}");
        }
    }
}
