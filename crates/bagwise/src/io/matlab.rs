//! MATLAB's `.mat`, version 5 (what MATLAB's `save -v7` and `-v6`, Octave and SciPy's `savemat` write), in two forms:
//!
//! - a cell array of matrices, one per bag with a row per instance (called `X`, `bags` or `data`, or the only one that
//!   there is), and vectors with an entry per bag; or two columns of cells, matrices and labels;
//! - one matrix `X` with a row per instance, `bag` with the bag of each, and vectors with an entry per bag or instance.
//!
//! Labels are `label`, `labels`, `class`, `target` or `y`, groups `group` or `groups`, names `features`; texts are cells or
//! rows of characters. Full and sparse real numbers of every class are read; structures and objects are passed over.
//! Version 7.3 is HDF5 and is refused with advice. Read by hand: the part of the format that is needed is small, and
//! every size is held against the bytes that are there before anything is allocated.

use std::io::Read;
use std::path::Path;

use flate2::read::ZlibDecoder;

use super::arrays::{Arrays, Values};
use super::cells::MAX_COLUMNS;
use super::compress::{self, MAX_RATIO, MAX_TOTAL, RATIO_FROM};
use super::npz::rows_first;
use super::text::shown;
use super::{ReadOptions, Reader};
use crate::bags::Instances;
use crate::dataset::Dataset;
use crate::error::{Error, Place, Result};
use crate::mat::{Csr, Mat};

/// Reads `.mat` files.
pub(super) struct Matlab;

impl Reader for Matlab {
    fn name(&self) -> &'static str {
        "matlab"
    }

    fn recognises(&self, path: &Path, head: &[u8]) -> bool {
        !path.is_dir()
            && (super::plain_extension(path).is_some_and(|e| e == "mat") || head.starts_with(b"MATLAB "))
    }

    fn read(&self, path: &Path, options: &ReadOptions) -> Result<Dataset> {
        read(path, options)
    }
}

/// What is wrong and what would do.
type Wrong = (String, String);
type Parsed<T> = Result<T, Wrong>;

fn wrong<T>(found: impl Into<String>, remedy: impl Into<String>) -> Parsed<T> {
    Err((found.into(), remedy.into()))
}

fn damaged<T>(what: &str) -> Parsed<T> {
    wrong(format!("the file is damaged: {what}"), "copy or save it again")
}

/// A variable, as far as it can be used. Numbers stand column after column, as in the file.
enum Var {
    Full { rows: usize, cols: usize, values: Vec<f64>, single: bool },
    Sparse { rows: usize, cols: usize, starts: Vec<usize>, row_of: Vec<usize>, values: Vec<f64> },
    Texts(Vec<String>),
    Cell { rows: usize, cells: Vec<Var> },
    Other,
}

impl Var {
    fn size(&self) -> Option<(usize, usize)> {
        match *self {
            Var::Full { rows, cols, .. } | Var::Sparse { rows, cols, .. } => Some((rows, cols)),
            _ => None,
        }
    }

    fn is_vector(&self) -> bool {
        self.size().is_some_and(|(rows, cols)| rows == 1 || cols == 1)
    }
}

fn read(path: &Path, options: &ReadOptions) -> Result<Dataset> {
    let source = path.display().to_string();
    let refuse = |(found, remedy): Wrong| Error::data(Place::of(&source), found, remedy);
    let mut bytes = Vec::new();
    compress::open(path)?.read_to_end(&mut bytes).map_err(|e| compress::explain(Place::of(&source), e))?;
    let variables = variables(&bytes).map_err(refuse)?;
    // Claimed rows cost memory even where nothing is in them.
    let most = bytes.len().max(1 << 20);
    drop(bytes);
    gather(&source, variables, most, options).map_err(refuse)?.finish(options)
}

/// The variables of a file by name.
fn variables(bytes: &[u8]) -> Parsed<Vec<(String, Var)>> {
    let is_hdf = bytes.starts_with(b"MATLAB 7.3") || bytes.starts_with(b"\x89HDF");
    if is_hdf || bytes.get(512..).is_some_and(|b| b.starts_with(b"\x89HDF")) {
        return wrong(
            "this is version 7.3 of MATLAB's format (HDF5), which is not read",
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
    while !top.bytes.is_empty() {
        let (kind, content) = top.element(true)?;
        let unpacked;
        let content = if kind == 15 {
            unpacked = unpack(content)?;
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
fn unpack(packed: &[u8]) -> Parsed<Vec<u8>> {
    let most = (packed.len() as u64).saturating_mul(MAX_RATIO).clamp(RATIO_FROM, MAX_TOTAL);
    let mut out = Vec::new();
    let mut input = ZlibDecoder::new(packed).take(most + 1);
    if input.read_to_end(&mut out).is_err() {
        return damaged("a compressed variable cannot be decompressed");
    }
    if out.len() as u64 > most {
        return wrong(
            "a compressed variable becomes more than 250 times its size: a decompression bomb?",
            "if the file is what it should be, save it uncompressed (in MATLAB '-v6')",
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
            None => damaged("it is cut short, or a size in it is wrong"),
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
            return damaged("an element ends within a number");
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
                    12 if (bits as i64).unsigned_abs() <= 1 << 53 => bits as i64 as f64,
                    12 | 13 if bits > 1 << 53 => {
                        return wrong(
                            "a whole number is beyond 2^53",
                            "use smaller numbers, or texts for ids",
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
                    return wrong("cells stand in cells in cells", "give one cell per bag");
                }
                let mut cells = Vec::new();
                for _ in 0..count {
                    match self.element(false)? {
                        (14, content) => {
                            cells.push(Cursor { bytes: content, big: self.big }.matrix(depth + 1)?.1)
                        }
                        _ => return damaged("a cell holds no variable"),
                    }
                }
                Var::Cell { rows, cells }
            }
            4 => Var::Texts(self.texts(rows, cols, count)?),
            5 => self.sparse(rows, cols)?,
            6..=15 => {
                let values = self.numbers()?;
                if values.len() != count {
                    return damaged("a matrix has another size than it says");
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
            return damaged("a matrix of characters has another size than it says");
        }
        let row =
            |r: usize| (0..cols).map(|c| chars[c * rows + r]).collect::<String>().trim_end().to_string();
        Ok((0..rows).filter(|_| cols > 0).map(row).collect())
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
            return damaged("the columns of a sparse matrix do not fit its size");
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

/// The names of the instances, in the order in which they are looked for.
const MATRICES: [&str; 6] = ["X", "bags", "bag", "data", "instances", "x"];

fn gather<'s>(
    source: &'s str,
    mut variables: Vec<(String, Var)>,
    most: usize,
    options: &ReadOptions,
) -> Parsed<Arrays<'s>> {
    let is_bags = |v: &Var| match v {
        Var::Cell { cells, .. } => cells.iter().any(|c| c.size().is_some_and(|(r, c)| r * c > 1)),
        Var::Full { .. } | Var::Sparse { .. } => !v.is_vector(),
        _ => false,
    };
    let candidates: Vec<usize> = (0..variables.len()).filter(|&i| is_bags(&variables[i].1)).collect();
    let named = MATRICES.iter().find_map(|n| candidates.iter().find(|&&i| variables[i].0 == *n));
    let chosen = match (named, &candidates[..]) {
        (Some(&one), _) | (None, &[one]) => one,
        (None, list) => {
            let all = list.is_empty().then_some(0..variables.len()).into_iter().flatten();
            let names: Vec<String> =
                all.chain(list.iter().copied()).take(12).map(|i| shown(variables[i].0.as_bytes())).collect();
            return wrong(
                format!("it is not plain which variable holds the instances, among: {}", names.join(", ")),
                "call it X: a cell array with a matrix per bag, or a matrix with a row per instance",
            );
        }
    };
    let (name, matrix) = variables.swap_remove(chosen);
    let mut beside = Vec::new();
    let (instances, offsets) = match matrix {
        Var::Cell { rows, mut cells } => {
            // Two columns: matrices, and what belongs to each.
            let pairs = cells.len() == 2 * rows && rows > 0 && cells[rows..].iter().all(|c| !is_bags(c));
            if pairs {
                let labels = Var::Cell { rows, cells: cells.split_off(rows) };
                match list(labels) {
                    Some(values) => beside.push(("label".to_string(), values)),
                    None => {
                        return wrong(
                            "the second column of cells has no labels",
                            "give a number or text in each",
                        );
                    }
                }
            }
            let (instances, offsets) = stack(&name, cells, most)?;
            (instances, Some(offsets))
        }
        other => {
            let (rows, cols) = other.size().unwrap_or((0, 0));
            if rows == 0 || cols == 0 || rows > most || cols > MAX_COLUMNS {
                return wrong(
                    format!("'{name}' is {rows} x {cols}"),
                    "give a row per instance, a column per feature",
                );
            }
            (instances(other), None)
        }
    };
    let mut features = None;
    for (name, variable) in variables {
        if ["features", "feature_names"].contains(&name.as_str()) {
            features = match list(variable) {
                Some(Values::Texts { texts, .. }) => Some(texts),
                _ => return wrong(format!("'{name}' has no texts"), "give a cell array of names"),
            };
        } else if Arrays::uses(&name, options) && !beside.iter().any(|(n, _)| *n == name) {
            let Some(values) = list(variable) else {
                return wrong(
                    format!("'{}' is no list of numbers or texts", shown(name.as_bytes())),
                    "give a vector, or a cell array of texts, with an entry per bag or instance",
                );
            };
            beside.push((name, values));
        }
    }
    Ok(Arrays { source, instances, features, offsets, beside })
}

/// A vector, or texts.
fn list(variable: Var) -> Option<Values> {
    Some(match variable {
        Var::Full { rows, cols, values, .. } if rows == 1 || cols == 1 => Values::Numbers(values),
        Var::Texts(texts) => Values::texts(texts),
        Var::Cell { cells, .. } => {
            let single = |cell: &Var| match cell {
                Var::Full { values, .. } if values.len() == 1 => Some(values[0]),
                _ => None,
            };
            let numbers: Option<Vec<f64>> = cells.iter().map(single).collect();
            if let Some(numbers) = numbers.filter(|n| !n.is_empty()) {
                return Some(Values::Numbers(numbers));
            }
            let text = |cell: Var| match cell {
                Var::Texts(mut texts) if texts.len() == 1 => texts.pop(),
                Var::Full { values, .. } if values.is_empty() => Some(String::new()),
                _ => None,
            };
            Values::texts(cells.into_iter().map(text).collect::<Option<_>>()?)
        }
        _ => return None,
    })
}

fn instances(matrix: Var) -> Instances {
    match matrix {
        Var::Full { rows, cols, values, single } => {
            let values = rows_first(values, rows, cols, true);
            if single {
                Instances::F32(Mat::new(rows, cols, values.into_iter().map(|v| v as f32).collect()))
            } else {
                Instances::F64(Mat::new(rows, cols, values))
            }
        }
        Var::Sparse { rows, cols, starts, row_of, values } => {
            // Columns to rows: count, then place, which leaves columns ascending within a row.
            let mut indptr = vec![0; rows + 1];
            row_of.iter().for_each(|&r| indptr[r + 1] += 1);
            (0..rows).for_each(|r| indptr[r + 1] += indptr[r]);
            let mut next = indptr.clone();
            let (mut indices, mut data) = (vec![0; values.len()], vec![0.0; values.len()]);
            for c in 0..cols {
                for i in starts[c]..starts[c + 1] {
                    let at = &mut next[row_of[i]];
                    (indices[*at], data[*at]) = (c as u32, values[i]);
                    *at += 1;
                }
            }
            Instances::Sparse(Csr::new(cols, indptr, indices, data))
        }
        _ => unreachable!("only matrices are chosen"),
    }
}

/// Matrices of bags, one below the other.
fn stack(name: &str, cells: Vec<Var>, most: usize) -> Parsed<(Instances, Vec<usize>)> {
    let mut offsets = vec![0usize];
    let width = cells.first().and_then(Var::size).map_or(0, |(_, cols)| cols);
    for (bag, cell) in cells.iter().enumerate() {
        let what = format!("cell {} of '{}'", bag + 1, shown(name.as_bytes()));
        let Some((rows, cols)) = cell.size() else {
            return wrong(format!("{what} is no matrix"), "give a matrix with a row per instance in each");
        };
        if rows == 0 || cols == 0 {
            return wrong(format!("{what} is empty"), "leave empty bags out");
        }
        if cols != width || cols > MAX_COLUMNS {
            let tall = cells.first().and_then(Var::size).is_some_and(|(first, _)| first == rows);
            let hint = if tall { " (are instances columns? transpose each matrix)" } else { "" };
            return wrong(
                format!("{what} has {cols} columns, the first has {width}{hint}"),
                "give each bag a row per instance and the same columns",
            );
        }
        offsets.push(offsets[bag].saturating_add(rows));
        if offsets[bag + 1] > most {
            return damaged("its sparse matrices have more rows than the file has bytes");
        }
    }
    let total = offsets[cells.len()];
    if cells.iter().any(|c| matches!(c, Var::Sparse { .. })) {
        let mut all = Csr::empty(width);
        let mut row = vec![0.0; width];
        for cell in cells {
            let part = instances(cell);
            for r in 0..part.rows() {
                if let Instances::Sparse(m) = &part {
                    let (columns, values) = m.row(r);
                    all.push_row(columns.iter().copied().zip(values.iter().copied()));
                } else {
                    part.row_into(r, &mut row);
                    all.push_row((0u32..).zip(row.iter().copied()));
                }
            }
        }
        return Ok((Instances::Sparse(all), offsets));
    }
    if cells.iter().all(|c| matches!(c, Var::Full { single: true, .. })) {
        let mut all: Vec<f32> = Vec::new();
        for cell in cells {
            if let Instances::F32(m) = instances(cell) {
                all.extend(m.data());
            }
        }
        return Ok((Instances::F32(Mat::new(total, width, all)), offsets));
    }
    let mut all = Mat::zeros(total, width);
    let mut next = 0;
    for cell in cells {
        let part = instances(cell);
        for r in 0..part.rows() {
            part.row_into(r, all.row_mut(next));
            next += 1;
        }
    }
    Ok((Instances::F64(all), offsets))
}
