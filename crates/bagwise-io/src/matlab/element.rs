//! The elements of a `.mat` file, version 5: a tag with type and size, then content, padded to eight bytes; variables are
//! elements made of elements.

use std::io::Read;

use flate2::read::ZlibDecoder;

use crate::compress::DecompressBudget;
use crate::text::{Parsed, WHOLE, damaged, shown, wrong};

/// A variable, as far as it can be used. Numbers stand column after column, as in the file.
pub(super) enum Var {
    Full { rows: usize, cols: usize, values: Vec<f64>, single: bool },
    Sparse { rows: usize, cols: usize, starts: Vec<usize>, row_of: Vec<usize>, values: Vec<f64> },
    Texts(Vec<String>),
    Cell { rows: usize, cells: Vec<Var> },
    Other,
}

impl Var {
    pub(super) fn size(&self) -> Option<(usize, usize)> {
        match *self {
            Var::Full { rows, cols, .. } | Var::Sparse { rows, cols, .. } => Some((rows, cols)),
            _ => None,
        }
    }

    pub(super) fn is_vector(&self) -> bool {
        self.size().is_some_and(|(rows, cols)| rows == 1 || cols == 1)
    }
}

/// The variables of a file by name.
pub(super) fn variables(bytes: &[u8]) -> Parsed<Vec<(String, Var)>> {
    let is_hdf = bytes.starts_with(b"MATLAB 7.3") || bytes.starts_with(b"\x89HDF");
    if is_hdf || bytes.get(512..).is_some_and(|b| b.starts_with(b"\x89HDF")) {
        return wrong(
            "this is version 7.3 of MATLAB's format (HDF5), which is not supported",
            "save it in MATLAB with save(file, '-v7'), or convert it with Python (h5py) to .npz",
        );
    }
    if bytes.len() < 128 {
        return damaged("it is shorter than its header");
    }
    let big = match &bytes[126..128] {
        b"IM" => false,
        b"MI" => true,
        _ => {
            return wrong(
                "this is not version 5 of MATLAB's format (or an older one)",
                "save it in MATLAB with save(file, '-v7'), in Python with scipy.io.savemat",
            );
        }
    };
    let mut top = Cursor { bytes: &bytes[128..], big };
    let mut variables = Vec::new();
    let mut room = DecompressBudget::of(bytes.len() as u64);
    while !top.bytes.is_empty() {
        let (kind, content) = top.element(true)?;
        let unpacked;
        let content = if kind == 15 {
            unpacked = unpack(content, &mut room)?;
            let mut inside = Cursor { bytes: &unpacked, big };
            match inside.element(false)? {
                (14, content) => content,
                _ => continue,
            }
        } else if kind == 14 {
            content
        } else {
            continue;
        };
        let (name, variable) = Cursor { bytes: content, big }.matrix(0)?;
        if !name.is_empty() {
            variables.push((name, variable));
        }
    }
    Ok(variables)
}

/// Undoes the compression of an element.
fn unpack(packed: &[u8], room: &mut DecompressBudget) -> Parsed<Vec<u8>> {
    let mut out = Vec::new();
    let mut input = ZlibDecoder::new(packed).take(room.left() + 1);
    if input.read_to_end(&mut out).is_err() {
        return damaged("a compressed variable cannot be decompressed");
    }
    if !room.take(out.len() as u64) {
        return wrong(
            "its compressed variables expand to more than 250 times its size: a decompression bomb?",
            "if you trust the file, save it uncompressed (in MATLAB '-v6')",
        );
    }
    Ok(out)
}

/// A place in the bytes of an element.
struct Cursor<'b> {
    bytes: &'b [u8],
    big: bool,
}

impl<'b> Cursor<'b> {
    fn take(&mut self, count: usize) -> Parsed<&'b [u8]> {
        match self.bytes.split_at_checked(count) {
            Some((taken, rest)) => {
                self.bytes = rest;
                Ok(taken)
            }
            None => damaged("it is truncated, or a size in it is wrong"),
        }
    }

    fn word(&mut self) -> Parsed<u32> {
        Ok(integer(self.take(4)?, self.big) as u32)
    }

    /// The next element: its type and content. Top-level compressed ones are not padded.
    fn element(&mut self, top: bool) -> Parsed<(u32, &'b [u8])> {
        let tag = self.word()?;
        if tag >> 16 != 0 {
            // The small form: size and type in one word, content in the next.
            let content = self.take(4)?;
            return match content.get(..(tag >> 16) as usize) {
                Some(content) => Ok((tag & 0xffff, content)),
                None => damaged("a small element is too large"),
            };
        }
        let size = self.word()? as usize;
        let content = self.take(size)?;
        if !(top && tag == 15) {
            // Padding at the very end may be left out.
            let padding = (size.next_multiple_of(8) - size).min(self.bytes.len());
            self.take(padding)?;
        }
        Ok((tag, content))
    }

    fn numbers(&mut self) -> Parsed<Vec<f64>> {
        let (kind, content) = self.element(false)?;
        let big = self.big;
        let size = match kind {
            1 | 2 | 16 => 1,
            3 | 4 | 17 => 2,
            5..=7 | 18 => 4,
            9 | 12 | 13 => 8,
            _ => return damaged("an element of an unknown type"),
        };
        if !content.len().is_multiple_of(size) {
            return damaged("an element ends in the middle of a number");
        }
        content
            .chunks_exact(size)
            .map(|item| {
                let bits = integer(item, big);
                Ok(match kind {
                    1 => f64::from(bits as i8),
                    3 => f64::from(bits as i16),
                    5 => f64::from(bits as i32),
                    7 => f64::from(f32::from_bits(bits as u32)),
                    9 => f64::from_bits(bits),
                    12 if (bits as i64).unsigned_abs() <= WHOLE => bits as i64 as f64,
                    12 | 13 if bits > WHOLE => {
                        return wrong(
                            "a whole number is beyond 2^53",
                            "use smaller numbers, or strings for ids",
                        );
                    }
                    _ => bits as f64,
                })
            })
            .collect()
    }

    fn indices(&mut self) -> Parsed<Vec<usize>> {
        let numbers = self.numbers()?;
        numbers
            .iter()
            .map(|&v| if v >= 0.0 { Ok(v as usize) } else { damaged("a sparse matrix has a negative index") })
            .collect()
    }

    /// The content of a matrix element: its name and value.
    fn matrix(&mut self, depth: usize) -> Parsed<(String, Var)> {
        if self.bytes.is_empty() {
            return Ok((String::new(), Var::Full { rows: 0, cols: 0, values: Vec::new(), single: false }));
        }
        let (kind, flags) = self.element(false)?;
        if kind != 6 || flags.len() != 8 {
            return damaged("a variable does not start with its flags");
        }
        let flags = integer(&flags[..4], self.big) as u32;
        let (class, complex) = (flags & 0xff, flags & 0x800 != 0);
        let sizes = self.indices()?;
        let (_, name) = self.element(false)?;
        let name = String::from_utf8_lossy(name).into_owned();
        let count = sizes.iter().try_fold(1usize, |n, &d| n.checked_mul(d));
        let (&[rows, cols], Some(count)) = (&sizes[..], count) else { return Ok((name, Var::Other)) };
        if complex && (5..=15).contains(&class) {
            return wrong(
                format!("'{}' has complex numbers", shown(name.as_bytes())),
                "give its real part, or another variable",
            );
        }
        let value = match class {
            1 => {
                if depth > 2 {
                    return wrong("cell arrays are nested too deeply", "use one cell per bag");
                }
                let mut cells = Vec::new();
                for _ in 0..count {
                    match self.element(false)? {
                        (14, content) => {
                            cells.push(Cursor { bytes: content, big: self.big }.matrix(depth + 1)?.1)
                        }
                        _ => return damaged("a cell contains no variable"),
                    }
                }
                Var::Cell { rows, cells }
            }
            4 => Var::Texts(self.texts(rows, cols, count)?),
            5 => self.sparse(rows, cols)?,
            6..=15 => {
                let values = self.numbers()?;
                if values.len() != count {
                    return damaged("the size of a matrix does not match its header");
                }
                Var::Full { rows, cols, values, single: class == 7 }
            }
            _ => Var::Other,
        };
        Ok((name, value))
    }

    /// The rows of a matrix of characters, without the spaces that make them equally long.
    fn texts(&mut self, rows: usize, cols: usize, count: usize) -> Parsed<Vec<String>> {
        let start = Cursor { ..*self }.element(false)?;
        let chars: Vec<char> = match start {
            (16, content) => String::from_utf8_lossy(content).chars().collect(),
            _ => {
                let units = self.numbers()?;
                let units: Vec<u16> = units.iter().map(|&u| u as u16).collect();
                char::decode_utf16(units).map(|c| c.unwrap_or(char::REPLACEMENT_CHARACTER)).collect()
            }
        };
        if rows <= 1 {
            return Ok(vec![chars.into_iter().collect()]);
        }
        if chars.len() != count {
            return damaged("the size of a character matrix does not match its header");
        }
        if cols == 0 {
            // Any number of rows takes no bytes.
            return Ok(Vec::new());
        }
        let row =
            |r: usize| (0..cols).map(|c| chars[c * rows + r]).collect::<String>().trim_end().to_string();
        Ok((0..rows).map(row).collect())
    }

    fn sparse(&mut self, rows: usize, cols: usize) -> Parsed<Var> {
        let (mut row_of, starts, mut values) = (self.indices()?, self.indices()?, self.numbers()?);
        let count = starts.last().copied().unwrap_or(0);
        let ascends = starts.first() == Some(&0) && starts.windows(2).all(|w| w[0] <= w[1]);
        if starts.len().checked_sub(1) != Some(cols)
            || !ascends
            || count > row_of.len()
            || count > values.len()
        {
            return damaged("the columns of a sparse matrix do not match its size");
        }
        // MATLAB may keep room for more.
        row_of.truncate(count);
        values.truncate(count);
        let in_order = starts.windows(2).all(|w| row_of[w[0]..w[1]].windows(2).all(|r| r[0] < r[1]));
        if !in_order || row_of.iter().any(|&r| r >= rows) {
            return damaged("the rows of a sparse matrix are out of order");
        }
        Ok(Var::Sparse { rows, cols, starts, row_of, values })
    }
}

/// Up to eight bytes as a number.
fn integer(bytes: &[u8], big: bool) -> u64 {
    let fold = |n: u64, &b: &u8| n << 8 | u64::from(b);
    if big { bytes.iter().fold(0, fold) } else { bytes.iter().rev().fold(0, fold) }
}
