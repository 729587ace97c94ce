//! The compression of pages: snappy, gzip, zstd, brotli and LZ4, each under the limits of `compress`.

use std::io::Read;

use flate2::bufread::MultiGzDecoder;
use ruzstd::decoding::StreamingDecoder;

use super::pages::Budget;
use crate::compress::{MAX_RATIO, RATIO_FROM};
use crate::text::{Parsed, damaged, wrong};

/// Undoes the compression of a page that becomes `size` bytes.
pub(super) fn unpack(packed: &[u8], codec: i64, size: usize, budget: &mut Budget) -> Parsed<Vec<u8>> {
    if codec == 0 {
        return if packed.len() == size {
            Ok(packed.to_vec())
        } else {
            damaged("the sizes of a page do not match")
        };
    }
    let too_much = size as u64 > RATIO_FROM / 4 && size as u64 / packed.len().max(1) as u64 > MAX_RATIO;
    budget.spend_bytes(size)?;
    if too_much {
        return wrong(
            format!("a page of {} bytes claims to expand to {size}: a decompression bomb?", packed.len()),
            "if you trust the file, write it uncompressed",
        );
    }
    let most = size as u64 + 1;
    let all = |mut input: Box<dyn Read + '_>| {
        let mut out = Vec::new();
        input.read_to_end(&mut out).is_ok().then_some(out)
    };
    let out = match codec {
        1 => match snap::raw::decompress_len(packed) {
            Ok(length) if length == size => snap::raw::Decoder::new().decompress_vec(packed).ok(),
            _ => None,
        },
        2 => all(Box::new(MultiGzDecoder::new(packed).take(most))),
        4 => all(Box::new(brotli_decompressor::Decompressor::new(packed, 1 << 12).take(most))),
        5 => hadoop(packed, size).or_else(|| lz4_flex::block::decompress(packed, size).ok()),
        6 if size == 0 => Some(Vec::new()),
        6 => StreamingDecoder::new(packed).ok().and_then(|d| all(Box::new(d.take(most)))),
        7 => lz4_flex::block::decompress(packed, size).ok(),
        _ => {
            let name = if codec == 3 { "LZO" } else { "an unknown method" };
            return wrong(
                format!("the file is compressed with {name}, which is not supported"),
                "write it with snappy, zstd, gzip, LZ4, brotli or without compression",
            );
        }
    };
    match out {
        Some(out) if out.len() == size => Ok(out),
        _ => damaged("a page cannot be decompressed"),
    }
}

/// LZ4 as Hadoop frames it: sizes before and after, most significant byte first, then a block, as often as needed. The
/// codec of that name means this, and in old files a block alone.
fn hadoop(packed: &[u8], size: usize) -> Option<Vec<u8>> {
    let (mut rest, mut out) = (packed, Vec::new());
    while !rest.is_empty() {
        let (whole, after) = rest.split_first_chunk::<4>()?;
        let (block, after) = after.split_first_chunk::<4>()?;
        let whole = u32::from_be_bytes(*whole) as usize;
        let (block, after) = after.split_at_checked(u32::from_be_bytes(*block) as usize)?;
        if out.len().checked_add(whole)? > size {
            return None;
        }
        out.extend(lz4_flex::block::decompress(block, whole).ok()?);
        rest = after;
    }
    Some(out)
}
