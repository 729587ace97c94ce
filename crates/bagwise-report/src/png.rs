//! A picture of bytes as a PNG with a palette, for what has too many cells to be drawn one by one. The format is the PNG
//! specification's (W3C 2003): signature, then chunks of length, name, content and checksum.

use std::io::Write as _;

use flate2::{Compression, Crc, write::ZlibEncoder};

/// `levels`, row after row, in colours of the palette.
pub(crate) fn png(width: usize, levels: &[u8], palette: &[[u8; 3]; 256]) -> Vec<u8> {
    let height = levels.len() / width.max(1);
    let mut out = b"\x89PNG\r\n\x1a\n".to_vec();
    let mut head = Vec::new();
    head.extend((width as u32).to_be_bytes());
    head.extend((height as u32).to_be_bytes());
    // Eight bits, palette, the only compression and filter method, not interlaced.
    head.extend([8, 3, 0, 0, 0]);
    chunk(&mut out, b"IHDR", &head);
    chunk(&mut out, b"PLTE", palette.as_flattened());
    let mut rows = Vec::with_capacity(levels.len() + height);
    for row in levels.chunks_exact(width.max(1)) {
        rows.push(0); // no filter
        rows.extend(row);
    }
    let mut packed = ZlibEncoder::new(Vec::new(), Compression::best());
    // Writing to memory does not fail.
    let _ = packed.write_all(&rows);
    chunk(&mut out, b"IDAT", &packed.finish().unwrap_or_default());
    chunk(&mut out, b"IEND", &[]);
    out
}

fn chunk(out: &mut Vec<u8>, name: &[u8; 4], content: &[u8]) {
    out.extend((content.len() as u32).to_be_bytes());
    out.extend(name);
    out.extend(content);
    let mut crc = Crc::new();
    crc.update(name);
    crc.update(content);
    out.extend(crc.sum().to_be_bytes());
}

/// Bytes as text (RFC 4648).
pub(crate) fn base64(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for group in bytes.chunks(3) {
        let word = group.iter().fold(0u32, |w, b| w << 8 | u32::from(*b)) << (8 * (3 - group.len()));
        for i in 0..4 {
            let digit = DIGITS[(word >> (18 - 6 * i)) as usize & 63] as char;
            text.push(if i <= group.len() { digit } else { '=' });
        }
    }
    text
}

/// From dark to light through blue and green to yellow: lightness grows evenly, so that it survives print in grey and is the
/// same to every kind of colour vision.
pub(crate) fn palette() -> [[u8; 3]; 256] {
    const STOPS: [[f64; 3]; 6] = [
        [18.0, 20.0, 60.0],
        [42.0, 62.0, 120.0],
        [34.0, 112.0, 140.0],
        [42.0, 158.0, 132.0],
        [140.0, 200.0, 90.0],
        [250.0, 232.0, 80.0],
    ];
    std::array::from_fn(|i| {
        let at = i as f64 / 255.0 * (STOPS.len() - 1) as f64;
        let k = (at as usize).min(STOPS.len() - 2);
        let part = at - k as f64;
        std::array::from_fn(|c| (STOPS[k][c] + part * (STOPS[k + 1][c] - STOPS[k][c])).round() as u8)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn base64_of_the_standard() {
        let pairs = [("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foobar", "Zm9vYmFy")];
        for (plain, text) in pairs {
            assert_eq!(base64(plain.as_bytes()), text);
        }
    }

    #[test]
    fn a_picture_has_its_parts() {
        let bytes = png(2, &[0, 255, 128, 7], &palette());
        assert!(bytes.starts_with(b"\x89PNG\r\n\x1a\n"));
        for name in [b"IHDR", b"PLTE", b"IDAT", b"IEND"] {
            assert!(bytes.windows(4).any(|w| w == name));
        }
        // The checksum of an empty last chunk is known.
        assert!(bytes.ends_with(&[0xae, 0x42, 0x60, 0x82]));
    }
}
