//! NumPy's `.npz`: a zip archive of arrays.
//!
//! | array | shape | holds |
//! |---|---|---|
//! | `X` | instances x features | numbers: f2, f4, f8, whole numbers or booleans |
//! | `bag` | instances | the bag of each instance; with `offsets`: one id per bag |
//! | `offsets` | bags + 1 | bag `b` has rows `offsets[b]` to `offsets[b + 1]` |
//! | `y` | bags or instances | labels: numbers or texts (`<U…`, `\|S…`) |
//! | `groups` | bags or instances | groups |
//! | `features` | features | names of the features |
//! | `instance_label` | instances | true instance labels |
//!
//! Single and half precision are kept as single precision. Arrays of Python objects are pickles, which can hold
//! programs, and are refused. Written are `X`, `offsets`, `bag` and what else there is, uncompressed, so that NumPy can
//! read any of them alone; kept columns are arrays of their own name. There is no place for categories.

use std::io::{self, Read, Write};
use std::path::Path;

use super::arrays::{self, Arrays, Values, labels};
use super::compress::{self, Refusal};
use super::npy::{self, NpyForm, half};
use super::replace::TABLE_MARK;
use super::text::shown;
use super::zip::{Archive, Member, Pack};
use super::{Column, ReadOptions, Reader, Writer, csv, save};
use bagwise_core::{Dataset, Error, Instances, Mat, Place, Result};

/// Reads and writes `.npz`.
pub(super) struct Npz;

impl Reader for Npz {
    fn name(&self) -> &'static str {
        "npz"
    }

    fn recognises(&self, path: &Path, head: &[u8]) -> bool {
        if path.is_dir() {
            return false;
        }
        // The name of the first member stands behind its header of 30 bytes.
        let first = || head.get(30..330.min(head.len())).unwrap_or_default();
        Writer::recognises(self, path)
            || head.starts_with(b"PK\x03\x04") && first().windows(4).any(|w| w == b".npy")
    }

    fn read(&self, path: &Path, options: &ReadOptions) -> Result<Dataset> {
        read(path, options)
    }
}

/// An array of any type that is read.
pub(super) struct Array {
    shape: Vec<usize>,
    fortran: bool,
    pub(super) data: Data,
}

pub(super) enum Data {
    F32(Vec<f32>),
    F64(Vec<f64>),
    Whole(Vec<i64>),
    Texts(Vec<String>),
}

fn read(path: &Path, options: &ReadOptions) -> Result<Dataset> {
    let source = path.display().to_string();
    let refuse = |found: String, remedy: &str| Error::data(Place::of(&source), found, remedy);
    let mut archive = Archive::open(path)?;
    let name_of = |member: &Member| member.name.strip_suffix(".npy").unwrap_or(&member.name).to_string();
    let find = |name: &str| archive.members.iter().find(|m| name_of(m) == name).cloned();
    let matrix = find("X").or_else(|| find("x"));
    let take = |archive: &mut Archive, member: &Member| -> Result<Array> {
        let place = Place::of(format!("{source}, array '{}'", shown(name_of(member).as_bytes())));
        let content = archive.member(member).map_err(|e| compress::explain(place.clone(), e))?;
        decode(content, member.size).map_err(|e| compress::explain(place, e))
    };

    let Some(matrix) = matrix else {
        let names: Vec<String> =
            archive.members.iter().take(12).map(|m| shown(name_of(m).as_bytes())).collect();
        return Err(refuse(
            format!("there is no array 'X'; the file has: {}", names.join(", ")),
            "write it with numpy.savez(path, X=…, bag=…, y=…), where X has one row per instance",
        ));
    };
    let instances = into_instances(take(&mut archive, &matrix)?)
        .map_err(|e| compress::explain(Place::of(format!("{source}, array '{}'", name_of(&matrix))), e))?;
    let mut offsets = None;
    let mut features = None;
    let (mut beside, mut unused) = (Vec::new(), Vec::new());
    for member in archive.members.clone() {
        let name = name_of(&member);
        match name.as_str() {
            _ if member.name == matrix.name => {}
            "offsets" | "features" => {
                let values = into_values(take(&mut archive, &member)?)
                    .map_err(|e| compress::explain(Place::of(format!("{source}, array '{name}'")), e))?;
                match (name.as_str(), values) {
                    ("offsets", Values::Whole(values)) => {
                        // A negative offset becomes one that is too large, and is refused with the rest.
                        let values = values.iter().map(|&v| usize::try_from(v).unwrap_or(usize::MAX));
                        offsets = Some(values.collect());
                    }
                    ("features", Values::Texts { texts, .. }) => features = Some(texts),
                    (name, _) => {
                        return Err(refuse(
                            format!("the array '{name}' has the wrong type"),
                            "offsets must be integers, features must be strings",
                        ));
                    }
                }
            }
            _ if options.ignore.contains(&Column::Name(name.clone())) => {}
            _ if Arrays::uses(&name, options) => {
                let place = Place::of(format!("{source}, array '{}'", shown(name.as_bytes())));
                let values =
                    into_values(take(&mut archive, &member)?).map_err(|e| compress::explain(place, e))?;
                beside.push((name, values));
            }
            _ => unused.push(format!("'{}'", shown(name.as_bytes()))),
        }
    }
    let known: Vec<&String> = features.iter().flatten().chain(beside.iter().map(|(name, _)| name)).collect();
    let mut options = options.clone();
    options.ignore.retain(|column| match column {
        // Arrays that are left out are not there any more.
        Column::Name(name) => known.contains(&name) || !archive.members.iter().any(|m| name_of(m) == *name),
        Column::Number(_) => true,
    });
    Arrays { source: &source, instances, features, offsets, beside, unused }.finish(&options)
}

/// Reads an array of `size` bytes in all.
pub(super) fn decode(mut input: impl Read, size: u64) -> io::Result<Array> {
    let form = NpyForm::read(&mut input)?;
    let refuse_type = || {
        let (found, remedy) = match form.descr.as_str() {
            "|O" => ("it contains Python objects", "convert it first, with .astype(str) or .astype(float)"),
            _ => ("", "use numbers, booleans or strings"),
        };
        let found = match found {
            "" => format!("its values have type '{}'", shown(form.descr.as_bytes())),
            found => found.into(),
        };
        Refusal::error(found, remedy)
    };
    let (order, rest) = form.descr.split_at_checked(1).ok_or_else(refuse_type)?;
    let (kind, length) = rest.split_at_checked(1).ok_or_else(refuse_type)?;
    let length: usize = length.parse().map_err(|_| refuse_type())?;
    let big = match order {
        "<" | "|" | "=" => false,
        ">" => true,
        _ => return Err(refuse_type()),
    };
    let item = if kind == "U" { length.checked_mul(4).ok_or_else(refuse_type)? } else { length };
    let count = form.shape.iter().try_fold(1usize, |n, &d| n.checked_mul(d));
    let bytes = count.and_then(|n| n.checked_mul(item)).map(|b| b as u64);
    let (Some(count), true) = (count, bytes.is_some_and(|b| b.checked_add(form.start) == Some(size))) else {
        return Err(Refusal::error(
            format!("its shape {:?} with {item} bytes per value does not match its {size} bytes", form.shape),
            "write it again with numpy.savez",
        ));
    };
    if item == 0 && count > 0 && kind != "U" && kind != "S" {
        return Err(refuse_type());
    }
    // Texts of no length take no bytes: their number is then only a claim.
    if item == 0 && count > 1 << 20 {
        return Err(Refusal::error(format!("{count} empty strings"), "write it again with numpy.savez"));
    }
    let mut reader = Items { input, item, big, count };
    let data = match (kind, length) {
        ("f", 2) => Data::F32(reader.all(|b| half(u16::from_le_bytes(b)))?),
        ("f", 4) => Data::F32(reader.all(f32::from_le_bytes)?),
        ("f", 8) => Data::F64(reader.all(f64::from_le_bytes)?),
        ("b", 1) => Data::Whole(reader.all(|b: [u8; 1]| i64::from(b[0] != 0))?),
        ("i", 1) => Data::Whole(reader.all(|b| i8::from_le_bytes(b).into())?),
        ("i", 2) => Data::Whole(reader.all(|b| i16::from_le_bytes(b).into())?),
        ("i", 4) => Data::Whole(reader.all(|b| i32::from_le_bytes(b).into())?),
        ("i", 8) => Data::Whole(reader.all(i64::from_le_bytes)?),
        ("u", 1) => Data::Whole(reader.all(|b| u8::from_le_bytes(b).into())?),
        ("u", 2) => Data::Whole(reader.all(|b| u16::from_le_bytes(b).into())?),
        ("u", 4) => Data::Whole(reader.all(|b| u32::from_le_bytes(b).into())?),
        ("u", 8) => {
            let values: Vec<u64> = reader.all(u64::from_le_bytes)?;
            match values.iter().map(|&v| i64::try_from(v).ok()).collect() {
                Some(values) => Data::Whole(values),
                // Ids may be that large; numbers are not.
                None => Data::Texts(values.iter().map(u64::to_string).collect()),
            }
        }
        ("U", _) => Data::Texts(reader.texts(|bytes| {
            let chars: Option<String> = bytes
                .chunks_exact(4)
                .map(|c| char::from_u32(u32::from_le_bytes([c[0], c[1], c[2], c[3]])))
                .collect();
            chars.ok_or_else(|| Refusal::error("a string has an invalid character", "write it again"))
        })?),
        ("S", _) => Data::Texts(reader.texts(|bytes| match std::str::from_utf8(bytes) {
            Ok(text) => Ok(text.into()),
            Err(_) => Err(Refusal::error(
                format!("'{}' is not UTF-8 text", shown(bytes)),
                "decode it first, with numpy.char.decode",
            )),
        })?),
        _ => return Err(refuse_type()),
    };
    Ok(Array { shape: form.shape, fortran: form.fortran, data })
}

/// The items of an array, read in pieces: memory grows with the actual data, not with the size that the header claims.
struct Items<R> {
    input: R,
    item: usize,
    big: bool,
    count: usize,
}

impl<R: Read> Items<R> {
    fn pieces(&mut self, mut each: impl FnMut(&[u8]) -> io::Result<()>) -> io::Result<()> {
        let step = ((1 << 16) / self.item.max(1)).max(1);
        let mut piece = Vec::new();
        for first in (0..self.count).step_by(step) {
            let bytes = step.min(self.count - first) * self.item;
            piece.clear();
            (&mut self.input).take(bytes as u64).read_to_end(&mut piece)?;
            if piece.len() != bytes {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
            piece.chunks_exact(self.item).try_for_each(&mut each)?;
        }
        Ok(())
    }

    fn all<const N: usize, T>(&mut self, convert: impl Fn([u8; N]) -> T) -> io::Result<Vec<T>> {
        let (mut out, big) = (Vec::new(), self.big);
        self.pieces(|bytes| {
            let mut item = [0; N];
            item.copy_from_slice(bytes);
            if big {
                item.reverse();
            }
            out.push(convert(item));
            Ok(())
        })?;
        Ok(out)
    }

    /// Texts, which end before their last zeros.
    fn texts(&mut self, convert: impl Fn(&[u8]) -> io::Result<String>) -> io::Result<Vec<String>> {
        if self.item == 0 {
            return Ok(vec![String::new(); self.count]);
        }
        let (mut out, big, wide) = (Vec::new(), self.big, self.item.is_multiple_of(4));
        self.pieces(|bytes| {
            let mut bytes = bytes.to_vec();
            if big && wide {
                bytes.chunks_exact_mut(4).for_each(<[u8]>::reverse);
            }
            let text = convert(&bytes)?;
            out.push(text.trim_end_matches('\0').to_string());
            Ok(())
        })?;
        Ok(out)
    }
}

/// A matrix, rows first.
fn into_instances(array: Array) -> io::Result<Instances> {
    let refuse = |found: String| {
        Err(Refusal::error(
            found,
            "use a matrix of numbers with one row per instance and one column per feature",
        ))
    };
    let (rows, cols) = match array.shape[..] {
        [rows, cols] => (rows, cols),
        _ => return refuse(format!("it has {} dimensions", array.shape.len())),
    };
    if rows == 0 || cols == 0 {
        return refuse(format!("it is empty: {rows} x {cols}"));
    }
    let turn = array.fortran && rows > 1 && cols > 1;
    Ok(match array.data {
        Data::F32(data) => Instances::F32(Mat::new(rows, cols, rows_first(data, rows, cols, turn))),
        Data::F64(data) => Instances::F64(Mat::new(rows, cols, rows_first(data, rows, cols, turn))),
        Data::Whole(data) => {
            if let Some(at) = data.iter().position(|&v| arrays::is_rounded(v)) {
                let (row, column) = if turn { (at % rows, at / rows) } else { (at / cols, at % cols) };
                let place = format!("row {}, column {} (counted from 1)", row + 1, column + 1);
                return Err(Refusal::error(
                    format!("{place}: the whole number {} would be rounded", data[at]),
                    "numbers this large are usually ids; put them in a separate array",
                ));
            }
            let data = data.into_iter().map(|v| v as f64).collect();
            Instances::F64(Mat::new(rows, cols, rows_first(data, rows, cols, turn)))
        }
        Data::Texts(_) => return refuse("it contains strings or whole numbers from 2^63 on".into()),
    })
}

/// Turns columns first into rows first.
pub(super) fn rows_first<T: Copy>(data: Vec<T>, rows: usize, cols: usize, turn: bool) -> Vec<T> {
    if !turn {
        return data;
    }
    (0..rows).flat_map(|r| (0..cols).map(move |c| (r, c))).map(|(r, c)| data[c * rows + r]).collect()
}

/// A list: one dimension, or two of which one is 1.
fn into_values(array: Array) -> io::Result<Values> {
    let is_list = matches!(array.shape[..], [_] | [_, 1] | [1, _]);
    if !is_list {
        return Err(Refusal::error(
            format!("it has the shape {:?}", array.shape),
            "use one dimension, with one entry per bag or per instance",
        ));
    }
    Ok(match array.data {
        Data::F32(data) => Values::Numbers(data.into_iter().map(f64::from).collect()),
        Data::F64(data) => Values::Numbers(data),
        Data::Whole(data) => Values::Whole(data),
        Data::Texts(texts) => Values::texts(texts),
    })
}

impl Writer for Npz {
    fn name(&self) -> &'static str {
        "npz"
    }

    fn recognises(&self, path: &Path) -> bool {
        super::has_ending(path, "npz")
    }

    fn write(&self, data: &Dataset, path: &Path) -> Result<()> {
        let refuse = |found: String, remedy: &str| {
            Err(Error::data(Place::of(path.display().to_string()), found, remedy))
        };
        if let Some(feature) = data.bags.features().iter().find(|f| f.is_categorical()) {
            return refuse(
                format!("the .npz format cannot store categories, and '{}' is categorical", feature.name),
                "write CSV, ARFF or Parquet, or leave those columns out when reading",
            );
        }
        csv::check_names(data)
            .map_err(|(found, remedy)| Error::data(Place::of(path.display().to_string()), found, remedy))?;
        let own = ["X", "offsets", "features"];
        let bad = |name: &str| own.contains(&name) || arrays::is_usual(name) || name.contains(['/', '\0']);
        if let Some(kept) = data.kept.iter().find(|k| bad(&k.name) || k.name.len() > 200) {
            return refuse(
                format!("the kept column '{}' cannot be an array of that name", shown(kept.name.as_bytes())),
                "rename it before writing",
            );
        }
        let texts = beside(data);
        let changes = texts.iter().any(|(_, values)| {
            matches!(values, Values::Texts { texts, .. } if texts.iter().any(|t| t.ends_with('\0')))
        });
        if changes {
            return refuse(
                "a string ends with a zero byte, which NumPy would remove".into(),
                "rename it before writing",
            );
        }
        save::whole(path, |out| write(data, &texts, out))
    }
}

/// The arrays beside the matrix.
fn beside(data: &Dataset) -> Vec<(&str, Values)> {
    let bags = &data.bags;
    let mut out = vec![
        ("offsets", Values::Whole(bags.offsets().iter().map(|&o| o as i64).collect())),
        ("bag", Values::texts(bags.ids().to_vec())),
        ("features", Values::texts(bags.features().iter().map(|f| f.name.clone()).collect())),
    ];
    if let Some(target) = &data.target {
        out.push(("y", labels(target)));
    }
    if let Some(groups) = &data.groups {
        out.push(("groups", Values::Texts { texts: groups.names.clone(), codes: groups.codes.clone() }));
    }
    if let Some(labels) = &data.instance_labels {
        out.push(("instance_label", Values::texts(labels.clone())));
    }
    out.extend(data.kept.iter().map(|k| (k.name.as_str(), Values::texts(k.values.clone()))));
    out
}

fn write(data: &Dataset, beside: &[(&str, Values)], out: &mut dyn Write) -> io::Result<()> {
    let bags = &data.bags;
    let single = bags.instances().is_single();
    let (rows, cols) = (bags.instance_count(), bags.width());
    let mut pack = Pack::new(out);
    array(
        &mut pack,
        "X",
        if single { "<f4" } else { "<f8" },
        &[rows, cols],
        if single { 4 } else { 8 },
        |out| {
            let mut done = Ok(());
            let read = bags.instances().each_row(0..rows, |_, row| {
                for &value in row.iter().take_while(|_| done.is_ok()) {
                    let written = match single {
                        true => out.write_all(&(value as f32).to_le_bytes()),
                        false => out.write_all(&value.to_le_bytes()),
                    };
                    if written.is_err() {
                        done = written;
                        break;
                    }
                }
            });
            read.map_err(io::Error::other).and(done)
        },
    )?;
    for (name, list) in beside {
        values(&mut pack, name, list)?;
    }
    pack.finish(TABLE_MARK)
}

/// Adds a list.
pub(super) fn values(pack: &mut Pack<'_>, name: &str, list: &Values) -> io::Result<()> {
    let shape = [list.len()];
    match list {
        Values::Numbers(v) => array(pack, name, "<f8", &shape, 8, |out| {
            v.iter().try_for_each(|v| out.write_all(&v.to_le_bytes()))
        }),
        Values::Whole(v) => array(pack, name, "<i8", &shape, 8, |out| {
            v.iter().try_for_each(|v| out.write_all(&v.to_le_bytes()))
        }),
        Values::Gaps(v) => {
            let texts = v.iter().map(|v| v.map_or(String::new(), |v| v.to_string())).collect();
            values(pack, name, &Values::texts(texts))
        }
        Values::Texts { texts, codes } => {
            // Padded with zeros to the longest, four bytes a letter.
            let width = texts.iter().map(|t| t.chars().count()).max().unwrap_or(0).max(1);
            array(pack, name, &format!("<U{width}"), &shape, 4 * width, |out| {
                codes.iter().try_for_each(|&code| {
                    let letters = texts[code as usize].chars().map(u32::from);
                    let mut padded = letters.chain(std::iter::repeat(0)).take(width);
                    padded.try_for_each(|letter| out.write_all(&letter.to_le_bytes()))
                })
            })
        }
    }
}

/// Adds an array whose content `fill` writes, twice the same.
pub(super) fn array(
    pack: &mut Pack<'_>,
    name: &str,
    descr: &str,
    shape: &[usize],
    item: usize,
    fill: impl Fn(&mut dyn Write) -> io::Result<()>,
) -> io::Result<()> {
    let mut header = Vec::new();
    let sizes = match shape {
        [one] => format!("({one},)"),
        more => format!("({})", more.iter().map(usize::to_string).collect::<Vec<_>>().join(", ")),
    };
    npy::write_header(&mut header, descr, &sizes)?;
    let size = header.len() as u64 + (shape.iter().product::<usize>() * item) as u64;
    pack.member(&format!("{name}.npy"), size, |out| {
        out.write_all(&header)?;
        fill(out)
    })
}
