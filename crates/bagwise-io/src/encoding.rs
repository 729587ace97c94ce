//! The encodings that tables of text are written in, and reading them as UTF-8.

use std::collections::VecDeque;
use std::io::{self, Read};

use super::compress::Refusal;
use bagwise_core::{Error, Result};

/// The encoding of a text file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Encoding {
    /// UTF-8.
    Utf8,
    /// UTF-16 of either byte order, as Excel's "Unicode text" is.
    Utf16,
    /// Windows code page 1252, which has the letters of Latin-1.
    Windows1252,
}

impl std::str::FromStr for Encoding {
    type Err = Error;

    fn from_str(text: &str) -> Result<Encoding> {
        match text.to_ascii_lowercase().replace(['_', ' '], "-").as_str() {
            "utf-8" | "utf8" | "utf-8-sig" | "ascii" => Ok(Encoding::Utf8),
            "utf-16" | "utf16" | "utf-16le" | "utf-16be" => Ok(Encoding::Utf16),
            "cp1252" | "windows-1252" | "latin-1" | "latin1" | "iso-8859-1" => Ok(Encoding::Windows1252),
            _ => Err(Error::unknown("encoding", text, ["utf-8", "utf-16", "cp1252"])),
        }
    }
}

impl Encoding {
    /// As it is written in options.
    pub fn name(self) -> &'static str {
        match self {
            Encoding::Utf8 => "utf-8",
            Encoding::Utf16 => "utf-16",
            Encoding::Windows1252 => "cp1252",
        }
    }

    /// What the first bytes of a file say.
    pub(crate) fn of(head: &[u8]) -> Encoding {
        if head.starts_with(b"\xff\xfe") || head.starts_with(b"\xfe\xff") {
            return Encoding::Utf16;
        }
        match std::str::from_utf8(head) {
            // The last letter may be cut where the head ends.
            Err(e) if e.error_len().is_some() && !head.contains(&0) => Encoding::Windows1252,
            _ => Encoding::Utf8,
        }
    }
}

/// The letters of code page 1252 from 0x80 to 0x9f. Five places are not used.
const LETTERS: [char; 32] = [
    '€', '\u{81}', '‚', 'ƒ', '„', '…', '†', '‡', 'ˆ', '‰', 'Š', '‹', 'Œ', '\u{8d}', 'Ž', '\u{8f}', '\u{90}',
    '‘', '’', '“', '”', '•', '–', '—', '˜', '™', 'š', '›', 'œ', '\u{9d}', 'ž', 'Ÿ',
];

/// Turns a stream into UTF-8 as it is read.
pub(crate) struct Transcode<R> {
    inner: R,
    encoding: Encoding,
    /// For UTF-16, whether the high byte comes first; found in the first two bytes.
    big: Option<bool>,
    /// Bytes that are not a whole letter yet.
    rest: Vec<u8>,
    out: VecDeque<u8>,
}

impl<R: Read> Transcode<R> {
    pub(crate) fn new(inner: R, encoding: Encoding) -> Transcode<R> {
        Transcode { inner, encoding, big: None, rest: Vec::new(), out: VecDeque::new() }
    }

    fn put(&mut self, letter: char) {
        self.out.extend(letter.encode_utf8(&mut [0; 4]).as_bytes());
    }

    /// Takes in what was read; nothing more comes if it is empty.
    fn take(&mut self, bytes: &[u8]) -> io::Result<()> {
        match self.encoding {
            Encoding::Utf8 => self.out.extend(bytes),
            Encoding::Windows1252 => {
                for &byte in bytes {
                    self.put(match byte {
                        0x80..=0x9f => LETTERS[usize::from(byte - 0x80)],
                        other => char::from(other),
                    });
                }
            }
            Encoding::Utf16 => {
                let ended = bytes.is_empty();
                let mut rest = std::mem::take(&mut self.rest);
                rest.extend(bytes);
                if self.big.is_none() && rest.len() >= 2 {
                    let marked = [b"\xff\xfe", b"\xfe\xff"].iter().any(|mark| rest.starts_with(*mark));
                    self.big = Some(rest.starts_with(b"\xfe\xff"));
                    rest.drain(..if marked { 2 } else { 0 });
                }
                let unit = |pair: &[u8]| match self.big {
                    Some(true) => u16::from_be_bytes([pair[0], pair[1]]),
                    _ => u16::from_le_bytes([pair[0], pair[1]]),
                };
                let mut whole = rest.len() / 2 * 2;
                // Half a pair of surrogates waits for the other half.
                if whole >= 2 && !ended && (0xd800..0xdc00).contains(&unit(&rest[whole - 2..whole])) {
                    whole -= 2;
                }
                let units: Vec<u16> = rest[..whole].chunks_exact(2).map(unit).collect();
                for letter in char::decode_utf16(units) {
                    match letter {
                        Ok(letter) => self.put(letter),
                        Err(_) => return Err(bad_utf16()),
                    }
                }
                rest.drain(..whole);
                if ended && !rest.is_empty() {
                    return Err(bad_utf16());
                }
                self.rest = rest;
            }
        }
        Ok(())
    }
}

fn bad_utf16() -> io::Error {
    Refusal::error("the UTF-16 text contains an invalid character", "save the table as UTF-8")
}

impl<R: Read> Read for Transcode<R> {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        while self.out.is_empty() && !buf.is_empty() {
            let mut bytes = [0; 1 << 14];
            let read = self.inner.read(&mut bytes)?;
            self.take(&bytes[..read])?;
            if read == 0 {
                break;
            }
        }
        self.out.read(buf)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn encodings_are_undone_whatever_the_pieces() {
        struct Bytewise<'b>(&'b [u8]);
        impl Read for Bytewise<'_> {
            fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
                let n = usize::from(!self.0.is_empty() && !buf.is_empty());
                buf[..n].copy_from_slice(&self.0[..n]);
                self.0 = &self.0[n..];
                Ok(n)
            }
        }
        let text = "bag,größe €\n😀,1\n";
        for big in [true, false] {
            let units = std::iter::once(0xfeff).chain(text.encode_utf16());
            let bytes: Vec<u8> =
                units.flat_map(|u| if big { u.to_be_bytes() } else { u.to_le_bytes() }).collect();
            assert_eq!(Encoding::of(&bytes), Encoding::Utf16);
            let mut out = String::new();
            Transcode::new(Bytewise(&bytes), Encoding::Utf16).read_to_string(&mut out).unwrap();
            assert_eq!(out, text);
            let mut cut = Transcode::new(Bytewise(&bytes[..bytes.len() - 1]), Encoding::Utf16);
            assert!(cut.read_to_end(&mut Vec::new()).is_err());
        }
        let mut out = String::new();
        let windows = b"gr\xf6\xdfe \x80";
        assert_eq!(Encoding::of(windows), Encoding::Windows1252);
        Transcode::new(&windows[..], Encoding::Windows1252).read_to_string(&mut out).unwrap();
        assert_eq!(out, "größe €");
        assert_eq!(Encoding::of("größe €".as_bytes().split_last().unwrap().1), Encoding::Utf8);
    }
}
