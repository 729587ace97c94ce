//! NumPy's `.npy`: the header of a matrix of numbers, its rows wherever they stand in the file, and
//! matrices written for other programs.
//!
//! Read are versions 1 to 3; f16, f32, f64, whole numbers of any size and booleans, of either byte order; rows or columns
//! first; two dimensions (one dimension is one row). The header is Python text, of which the three entries that the format demands are looked at.

use std::fs::File;
use std::io::{self, Read, Write};
use std::ops::Range;
use std::path::Path;

use super::compress::{Refusal, explain, no_room};
use super::save;
use super::text::{WHOLE, shown};
use bagwise_core::sizes::{filled, product};
use bagwise_core::{Mat, Place, Result};

/// What the numbers in a file are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Real {
    F16,
    F32,
    F64,
    /// Whole numbers of this many bytes.
    Signed(usize),
    Unsigned(usize),
    /// As another, the most significant byte first.
    Turned(&'static Real),
}

impl Real {
    /// By NumPy's word for it.
    fn of(descr: &str) -> Option<Real> {
        let (order, kind) = descr.split_at_checked(1)?;
        let real: &'static Real = match kind {
            "f2" => &Real::F16,
            "f4" => &Real::F32,
            "f8" => &Real::F64,
            "i1" => &Real::Signed(1),
            "i2" => &Real::Signed(2),
            "i4" => &Real::Signed(4),
            "i8" => &Real::Signed(8),
            "b1" | "u1" => &Real::Unsigned(1),
            "u2" => &Real::Unsigned(2),
            "u4" => &Real::Unsigned(4),
            "u8" => &Real::Unsigned(8),
            _ => return None,
        };
        match order {
            "<" | "|" => Some(*real),
            ">" if real.bytes() == 1 => Some(*real),
            ">" => Some(Real::Turned(real)),
            _ => None,
        }
    }

    pub(crate) fn bytes(self) -> usize {
        match self {
            Real::F16 => 2,
            Real::F32 => 4,
            Real::F64 => 8,
            Real::Signed(bytes) | Real::Unsigned(bytes) => bytes,
            Real::Turned(real) => real.bytes(),
        }
    }

    /// What a folder of such files holds.
    pub(crate) fn kind(self) -> &'static str {
        match self {
            Real::F16 => "f16 files",
            Real::F32 => "f32 files",
            Real::F64 => "f64 files",
            Real::Signed(_) | Real::Unsigned(_) => "integer files",
            Real::Turned(real) => real.kind(),
        }
    }

    pub(crate) fn is_whole(self) -> bool {
        match self {
            Real::F16 | Real::F32 | Real::F64 => false,
            Real::Signed(_) | Real::Unsigned(_) => true,
            Real::Turned(real) => real.is_whole(),
        }
    }

    /// True if single precision holds every value.
    pub(crate) fn is_single(self) -> bool {
        match self {
            Real::F16 | Real::F32 => true,
            Real::F64 => false,
            Real::Signed(bytes) | Real::Unsigned(bytes) => bytes <= 2,
            Real::Turned(real) => real.is_single(),
        }
    }

    /// A whole number that double precision does not hold is none, to be refused with its place.
    fn value(self, bytes: &[u8]) -> f64 {
        match self {
            Real::F16 => f64::from(half(u16::from_le_bytes(array(bytes)))),
            Real::F32 => f64::from(f32::from_le_bytes(array(bytes))),
            Real::F64 => f64::from_le_bytes(array(bytes)),
            Real::Unsigned(_) => match bytes.iter().rev().fold(0u64, |n, &b| n << 8 | u64::from(b)) {
                n if n <= WHOLE => n as f64,
                _ => f64::NAN,
            },
            Real::Signed(size) => {
                // The sign fills the bytes that are not there.
                let unused = 64 - 8 * size as u32;
                let n = bytes.iter().rev().fold(0i64, |n, &b| n << 8 | i64::from(b)) << unused >> unused;
                if n.unsigned_abs() <= WHOLE { n as f64 } else { f64::NAN }
            }
            Real::Turned(real) => {
                let mut turned = [0; 8];
                let turned = &mut turned[..bytes.len()];
                turned.copy_from_slice(bytes);
                turned.reverse();
                real.value(turned)
            }
        }
    }
}

fn array<const N: usize>(bytes: &[u8]) -> [u8; N] {
    let mut out = [0; N];
    out.copy_from_slice(bytes);
    out
}

/// A number of half precision.
pub(crate) fn half(bits: u16) -> f32 {
    let sign = u32::from(bits >> 15) << 31;
    let (exponent, fraction) = (u32::from(bits >> 10 & 31), u32::from(bits & 1023));
    match exponent {
        // Below the smallest normal number: a multiple of 2^-24.
        0 => f32::from_bits(sign | (fraction as f32 * 2f32.powi(-24)).to_bits()),
        31 => f32::from_bits(sign | 0x7f80_0000 | fraction << 13),
        _ => f32::from_bits(sign | (exponent + 112) << 23 | fraction << 13),
    }
}

/// What the header says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct NpyHeader {
    pub(crate) real: Real,
    /// Columns stand first.
    pub(crate) fortran: bool,
    pub(crate) rows: usize,
    pub(crate) cols: usize,
    /// Where the numbers start.
    pub(crate) start: u64,
}

const MAGIC: &[u8] = b"\x93NUMPY";

/// NumPy's default limit for the length of a header.
const MAX_HEADER: usize = 10_000;

/// What any header says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct NpyForm {
    /// NumPy's word for the type, such as `<f8`.
    pub(crate) descr: String,
    pub(crate) fortran: bool,
    pub(crate) shape: Vec<usize>,
    pub(crate) start: u64,
}

impl NpyForm {
    /// Reads the header at the front of a stream.
    pub(crate) fn read(input: &mut impl Read) -> io::Result<NpyForm> {
        let mut front = [0; 8];
        fill(input, &mut front)?;
        if !front.starts_with(MAGIC) {
            return Err(Refusal::error(
                "this is not a .npy file: its first bytes are not NumPy's",
                "write it with numpy.save",
            ));
        }
        let (length, before) = match front[6] {
            1 => {
                let mut length = [0; 2];
                fill(input, &mut length)?;
                (usize::from(u16::from_le_bytes(length)), 10)
            }
            2 | 3 => {
                let mut length = [0; 4];
                fill(input, &mut length)?;
                (u32::from_le_bytes(length) as usize, 12)
            }
            version => {
                return Err(Refusal::error(
                    format!("version {version} of the .npy format is not supported"),
                    "versions 1, 2 and 3 are supported; write it again with numpy.save",
                ));
            }
        };
        if length > MAX_HEADER {
            return Err(Refusal::error(
                format!("a header of {length} bytes is too long"),
                "write it again with numpy.save, as a plain array",
            ));
        }
        let mut text = vec![0; length];
        fill(input, &mut text)?;
        let text = String::from_utf8_lossy(&text);
        NpyForm::parse(&text, (before + length) as u64)
    }

    fn parse(text: &str, start: u64) -> io::Result<NpyForm> {
        let refuse = |found: &str| Err(Refusal::error(found, "write it again with numpy.save"));
        let entry = |name: &str| {
            let at = text.find(&format!("'{name}'"))?;
            let value = text[at + name.len() + 2..].trim_start().strip_prefix(':')?;
            Some(value.trim_start())
        };
        let (Some(descr), Some(order), Some(shape)) =
            (entry("descr"), entry("fortran_order"), entry("shape"))
        else {
            return refuse("the header lacks descr, fortran_order or shape");
        };
        let descr =
            descr.strip_prefix('\'').and_then(|d| d.split('\'').next()).unwrap_or("a structured type");
        let fortran = match order {
            o if o.starts_with("True") => true,
            o if o.starts_with("False") => false,
            _ => return refuse("fortran_order is neither True nor False"),
        };
        let inside = shape.strip_prefix('(').and_then(|s| s.split_once(')')).map(|(inside, _)| inside);
        let sizes: Option<Vec<usize>> = inside.and_then(|inside| {
            let parts = inside.split(',').map(str::trim).filter(|p| !p.is_empty());
            parts.map(|p| p.parse().ok()).collect()
        });
        match sizes {
            Some(shape) => Ok(NpyForm { descr: descr.into(), fortran, shape, start }),
            None => refuse("its shape cannot be read"),
        }
    }
}

impl NpyHeader {
    /// Bytes of the numbers; nothing if that is no possible size.
    fn data_bytes(&self) -> Option<u64> {
        let bytes = self.rows.checked_mul(self.cols)?.checked_mul(self.real.bytes())?;
        u64::try_from(bytes).ok().filter(|&b| b <= i64::MAX as u64)
    }

    /// Reads the header at the front of a stream.
    pub(crate) fn read(input: &mut impl Read) -> io::Result<NpyHeader> {
        NpyHeader::of(NpyForm::read(input)?)
    }

    /// A header of a matrix of numbers.
    fn of(form: NpyForm) -> io::Result<NpyHeader> {
        let refuse = |found: String| {
            Err(Refusal::error(found, "use a two-dimensional array of numbers, written with numpy.save"))
        };
        let Some(real) = Real::of(&form.descr) else {
            return refuse(format!("its values have type '{}'", shown(form.descr.as_bytes())));
        };
        let (rows, cols) = match form.shape[..] {
            [cols] => (1, cols),
            [rows, cols] => (rows, cols),
            _ => return refuse(format!("it has {} dimensions", form.shape.len())),
        };
        let header = NpyHeader { real, fortran: form.fortran, rows, cols, start: form.start };
        if header.data_bytes().is_none() {
            return refuse(format!("{rows} x {cols} numbers are more than any file can hold"));
        }
        Ok(header)
    }

    /// An error unless a file of `bytes` bytes holds exactly what the header promises.
    pub(crate) fn check_size(&self, bytes: u64) -> io::Result<()> {
        let there = bytes.saturating_sub(self.start);
        let promised = self.data_bytes().unwrap_or(u64::MAX);
        if there == promised {
            return Ok(());
        }
        let found = if there < promised { "is truncated" } else { "continues after its numbers" };
        Err(Refusal::error(
            format!(
                "the file {found}: {there} bytes of numbers, {} x {} need {promised}",
                self.rows, self.cols
            ),
            "write it or copy it again",
        ))
    }

    /// Gives some rows, value by value, to `put(position, value)`; `read_at` reads bytes at a place in the file.
    pub(crate) fn rows_from(
        &self,
        rows: Range<usize>,
        read_at: impl Fn(u64, &mut [u8]) -> io::Result<()>,
        mut put: impl FnMut(usize, f64),
    ) -> io::Result<()> {
        let size = self.real.bytes();
        let mut take = |first: usize, count: usize, place: &dyn Fn(usize) -> usize| {
            let bytes = product(&[count, size]).and_then(|bytes| filled(bytes, 0));
            let mut bytes = bytes.map_err(no_room)?;
            read_at(self.start + (first * size) as u64, &mut bytes)?;
            bytes.chunks_exact(size).enumerate().for_each(|(i, b)| put(place(i), self.real.value(b)));
            Ok(())
        };
        if !self.fortran || self.cols == 1 || self.rows == 1 {
            return take(rows.start * self.cols, rows.len() * self.cols, &|i| i);
        }
        (0..self.cols).try_for_each(|c| take(c * self.rows + rows.start, rows.len(), &|i| i * self.cols + c))
    }
}

fn fill(input: &mut impl Read, out: &mut [u8]) -> io::Result<()> {
    input.read_exact(out).map_err(|e| match e.kind() {
        io::ErrorKind::UnexpectedEof => {
            Refusal::error("the file ends inside its header", "write it or copy it again")
        }
        _ => e,
    })
}

/// Reads bytes at a place in a file, without moving in it.
#[cfg(unix)]
pub(crate) fn read_at(file: &File, place: u64, out: &mut [u8]) -> io::Result<()> {
    std::os::unix::fs::FileExt::read_exact_at(file, out, place)
}

/// Reads bytes at a place in a file.
#[cfg(windows)]
pub(crate) fn read_at(file: &File, mut place: u64, mut out: &mut [u8]) -> io::Result<()> {
    while !out.is_empty() {
        let count = std::os::windows::fs::FileExt::seek_read(file, out, place)?;
        if count == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        out = &mut out[count..];
        place += count as u64;
    }
    Ok(())
}

/// Where the numbers of a file of ours start. NumPy and others take the first multiple of 64 behind the header, 128 at
/// most; the format allows more spaces, and by these we know our own.
const MARKED_START: usize = 192;

/// The front of a file with a matrix, rows first.
pub(crate) fn write_header(out: &mut dyn Write, descr: &str, shape: &str) -> io::Result<()> {
    header_of(out, descr, shape, 64)
}

fn header_of(out: &mut dyn Write, descr: &str, shape: &str, least: usize) -> io::Result<()> {
    let header = format!("{{'descr': '{descr}', 'fortran_order': False, 'shape': {shape}, }}");
    // Magic, version and length take 10 bytes; numbers start at a multiple of 64, as the format requires.
    let padded = (10 + header.len() + 1).next_multiple_of(64).max(least) - 10;
    out.write_all(MAGIC)?;
    out.write_all(b"\x01\x00")?;
    out.write_all(&(padded as u16).to_le_bytes())?;
    out.write_all(format!("{header:<width$}\n", width = padded - 1).as_bytes())
}

/// Writes a matrix, row after row, whole or not at all.
pub fn write_npy(path: &Path, mat: &Mat) -> Result<()> {
    save::whole(path, |file| {
        header_of(file, "<f8", &format!("({}, {})", mat.rows(), mat.cols()), MARKED_START)?;
        mat.data().iter().try_for_each(|value| file.write_all(&value.to_le_bytes()))
    })
}

/// Bytes of a file that [`write_npy`] writes.
pub fn npy_size(rows: usize, cols: usize) -> u64 {
    MARKED_START as u64 + 8 * rows as u64 * cols as u64
}

/// Reads a matrix of numbers.
pub fn read_npy(path: &Path) -> Result<Mat> {
    let explain = |e| explain(Place::of(path.display().to_string()), e);
    let mut file = File::open(path).map_err(explain)?;
    let header = NpyHeader::read(&mut file).map_err(explain)?;
    header.check_size(file.metadata().map_err(explain)?.len()).map_err(explain)?;
    let room = product(&[header.rows, header.cols]).and_then(|count| filled(count, 0.0));
    let mut data = room.map_err(no_room).map_err(explain)?;
    let read =
        header.rows_from(0..header.rows, |at, out| read_at(&file, at, out), |at, value| data[at] = value);
    read.map_err(explain)?;
    Ok(Mat::new(header.rows, header.cols, data))
}

/// True if a file that begins like this is one that [`write_npy`] wrote.
pub(crate) fn is_marked(head: &[u8]) -> bool {
    let front =
        [MAGIC, b"\x01\x00", &(MARKED_START as u16 - 10).to_le_bytes(), b"{'descr': '<f8', "].concat();
    let spaces = &head.get(128..MARKED_START - 1);
    head.starts_with(&front) && spaces.is_some_and(|s| s.iter().all(|&b| b == b' '))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_header_is_numpys() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("g.npy");
        write_npy(&path, &Mat::from_rows(&[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])).unwrap();
        let bytes = std::fs::read(path).unwrap();
        assert_eq!(bytes.len(), 192 + 48);
        assert!(is_marked(&bytes));
        assert!(bytes.starts_with(
            b"\x93NUMPY\x01\x00\xb6\x00{'descr': '<f8', 'fortran_order': False, 'shape': (2, 3), }"
        ));
        assert_eq!(bytes[191], b'\n');
        assert_eq!(bytes[192 + 40..], 6f64.to_le_bytes());
        let header = NpyHeader::read(&mut &bytes[..]).unwrap();
        assert_eq!(header, NpyHeader { real: Real::F64, fortran: false, rows: 2, cols: 3, start: 192 });
        assert!(header.check_size(240).is_ok());
    }

    #[test]
    fn halves_have_the_values_of_the_standard() {
        let known = [
            (0x0000, 0.0),
            (0x0001, 5.960_464_5e-8),
            (0x03ff, 6.097_555e-5),
            (0x0400, 6.103_515_6e-5),
            (0x3555, 0.333_251_95),
            (0x3c00, 1.0),
            (0xc000, -2.0),
            (0x7bff, 65504.0),
            (0x7c00, f32::INFINITY),
            (0xfc00, f32::NEG_INFINITY),
        ];
        for (bits, value) in known {
            assert_eq!(half(bits), value, "{bits:#x}");
        }
        assert!(half(0x7e00).is_nan() && half(0x8000).is_sign_negative());
    }

    #[test]
    fn numbers_of_every_type_and_order_have_their_value() {
        let value = |descr: &str, bytes: &[u8]| Real::of(descr).unwrap().value(bytes);
        assert_eq!((value("|i1", &[0xfe]), value("|u1", &[0xfe]), value("|b1", &[1])), (-2.0, 254.0, 1.0));
        assert_eq!((value("<i2", &[0xfe, 0xff]), value(">i2", &[0xff, 0xfe])), (-2.0, -2.0));
        assert_eq!((value("<u4", &[1, 0, 0, 0x80]), value(">u2", &[1, 2])), (2_147_483_649.0, 258.0));
        assert_eq!(value("<i8", &(-(1i64 << 53)).to_le_bytes()), -9_007_199_254_740_992.0);
        assert_eq!(value(">f8", &1.5f64.to_be_bytes()), 1.5);
        assert_eq!((value(">f4", &2.5f32.to_be_bytes()), value(">f2", &[0x3c, 0])), (2.5, 1.0));
        // What double precision does not hold is no number.
        assert!(value("<i8", &i64::MIN.to_le_bytes()).is_nan() && value("<u8", &[0xff; 8]).is_nan());
        assert_eq!(
            [">f2", "<i2", "|u1", "<i4", "<f8"].map(|d| Real::of(d).unwrap().is_single()),
            [true, true, true, false, false]
        );
    }

    #[test]
    fn rows_are_the_same_from_both_orders() {
        // 3 x 2: rows first 1 2 3 4 5 6, columns first 1 3 5 2 4 6.
        for (fortran, stored) in [(false, [1, 2, 3, 4, 5, 6]), (true, [1, 3, 5, 2, 4, 6])] {
            let bytes: Vec<u8> = stored.iter().flat_map(|&v| (v as f32).to_le_bytes()).collect();
            let header = NpyHeader { real: Real::F32, fortran, rows: 3, cols: 2, start: 0 };
            let mut out = [0.0; 4];
            let read = |place: u64, into: &mut [u8]| {
                into.copy_from_slice(&bytes[place as usize..place as usize + into.len()]);
                Ok(())
            };
            header.rows_from(1..3, read, |i, v| out[i] = v).unwrap();
            assert_eq!(out, [3.0, 4.0, 5.0, 6.0]);
        }
    }

    #[test]
    fn what_is_no_matrix_of_numbers_is_refused_with_its_type_or_shape() {
        let parse = |text: &str| NpyForm::parse(text, 0).and_then(NpyHeader::of);
        let refused = |text: &str| parse(text).unwrap_err().to_string();
        let with = |descr: &str, shape: &str| {
            refused(&format!("{{'descr': {descr}, 'fortran_order': False, 'shape': {shape}, }}"))
        };
        assert!(with("'<c8'", "(2, 3)").contains("type '<c8'"));
        assert!(with("[('a', '<f4')]", "(2,)").contains("type 'a structured type'"));
        assert!(with("'<f4'", "(2, 3, 4)").contains("3 dimensions"));
        assert!(with("'<f4'", "(2, x)").contains("shape cannot be read"));
        assert!(with("'<f4'", "(18446744073709551615, 8)").contains("more than any file"));
        assert!(refused("{'descr': '<f4'}").contains("lacks"));
        let mut cut: &[u8] = b"\x93NUMPY\x01\x00\x76";
        assert!(NpyHeader::read(&mut cut).unwrap_err().to_string().contains("ends inside its header"));
        let mut other: &[u8] = b"\x93NUMPX\x01\x00\x76\x00";
        assert!(NpyHeader::read(&mut other).unwrap_err().to_string().contains("not a .npy file"));
        let one = parse("{'descr': '<f2', 'fortran_order': False, 'shape': (7,), }").unwrap();
        assert_eq!((one.rows, one.cols, one.real), (1, 7, Real::F16));
        assert!(one.check_size(13).unwrap_err().to_string().contains("is truncated"));
        assert!(one.check_size(15).unwrap_err().to_string().contains("continues"));
    }
}
