//! A folder of feature maps, one sparse vector per bag, written by any number of processes: `.parquet` files as
//! `bagwise.arrow.mapper` gives them, or `.npz` files of `bagwise embed`. A table says which bags to learn from, in which order,
//! and their labels. Maps that do not fit into the memory that they may have wait in a file without a name, in the order of the
//! table, and are read again in blocks.

use std::collections::HashMap;
use std::fs::File;
use std::io::{self, BufWriter, Read as _, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::assemble::{BagBuilder, SideColumns};
use super::map_rows::{MapBounds, MapRows, MapStore, pack};
use super::npy::{NpyForm, read_at};
use super::npz::{Data, decode};
use super::stream::TakeMap;
use super::zip::{Archive, Content};
use super::{ReadOptions, compress, has_ending, labels, parquet, relatives};
use bagwise_core::files::explain_write;
use bagwise_core::{Dataset, Error, Feature, Instances, Mat, Message, Place, Result, Setting};

/// What a bag takes beside its map, in bytes: its name where it is read and where it is used, its label, and the vectors of the
/// solver. Measured: about 600 with names of seven characters.
const BAG: u64 = 640;

/// How far the length of a map may be from 1: values in single precision are allowed.
const SLACK: f64 = 1e-4;

/// What the maps of a model have in common.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MapShape {
    /// Number of columns.
    pub columns: usize,
    /// Whether a bag may be outside all cells, so that its map is empty.
    pub may_be_empty: bool,
    /// A digest of all that determines the map of a bag.
    pub digest: String,
}

/// Reads the maps of a folder, which a model with maps of this shape has made, for the bags of the table of labels that the options
/// name. Maps that do not say which model made them are read with a warning. If maps and all else that bags need exceed `memory`
/// bytes, the maps go to a file in `scratch`. The data set has the bags in the order of the table, with labels and groups, and a
/// single instance without meaning in each.
pub fn read_maps(
    folder: &Path,
    options: &ReadOptions,
    shape: &MapShape,
    memory: u64,
    scratch: &Path,
) -> Result<(Dataset, Arc<MapRows>)> {
    let source = folder.display().to_string();
    let files = map_files(folder)?;
    let Some(table) = &options.labels else {
        return Err(Error::data(
            Place::of(&source),
            "the labels of these maps are not given",
            Message::from("name the table that has them")
                .with([Setting::Labels])
                .and(", and its columns")
                .with([Setting::Bag, Setting::Label]),
        ));
    };
    let table = labels::read(table, options)?;
    let numbers: HashMap<&str, usize> =
        table.rows.iter().enumerate().map(|(i, row)| (&row.bag[..], i)).collect();
    let mut spool = MapsOnTheWay::new(table.rows.len(), shape, memory, scratch);
    let mut unmarked: Vec<&Path> = Vec::new();
    let mut unknown: Vec<String> = Vec::new();
    let mut unknown_count = 0usize;
    for path in &files {
        let place = || Place::of(path.display().to_string());
        let mut take = |bag: &str, digest: &str, columns: &[u32], values: &[f64]| {
            match digest {
                "" if unmarked.last() != Some(&path.as_path()) => unmarked.push(path),
                "" => {}
                own if own != shape.digest => return Err(from_another(place(), bag)),
                _ => {}
            }
            if let Some(&row) = numbers.get(bag) {
                return spool.push(row, bag, columns, values, place);
            }
            unknown_count += 1;
            if unknown.len() < 5 {
                unknown.push(format!("'{bag}'"));
            }
            Ok(())
        };
        match has_ending(path, "npz") {
            true => npz(path, shape.columns, &mut take)?,
            false => parquet::maps::read(path, &mut take)?,
        }
    }
    let mut warnings = table.warnings;
    let missing: Vec<&str> = table
        .rows
        .iter()
        .zip(&spool.places)
        .filter(|(_, p)| p.is_none())
        .map(|(row, _)| &row.bag[..])
        .collect();
    if missing.len() == table.rows.len() {
        return Err(Error::data(
            Place::of(&table.source),
            format!("no bag in the table has a map in {source}"),
            Message::from("the bag column must contain the names that the maps have; name it")
                .with([Setting::Bag]),
        ));
    }
    if !missing.is_empty() {
        let shown: Vec<String> = missing.iter().take(5).map(|name| format!("'{name}'")).collect();
        warnings
            .push(format!("{} bags in the table have no map: {}", missing.len(), shown.join(", ")).into());
    }
    if unknown_count > 0 {
        let found =
            format!("{unknown_count} maps are not in the table and are left out: {}", unknown.join(", "));
        warnings.push(found.into());
    }
    if let [first, ..] = unmarked[..] {
        let found = format!(
            "{} of {} files do not record the model that made their maps, such as {}; if it was another one, the new model will be wrong: \
             make the maps again with this model, or check that it made them",
            unmarked.len(),
            files.len(),
            first.display()
        );
        warnings.push(found.into());
    }
    let mut book = BagBuilder::new(&table.source, options).written_in(table.numbers);
    let mut unused_cells = Vec::new();
    for (row, place) in table.rows.iter().zip(&spool.places) {
        if place.is_some() {
            book.row(row.line, &row.bag, row.label.as_deref(), row.group.as_deref())?;
            unused_cells.push(row.unused.clone());
        }
    }
    let rows = Arc::new(spool.finish()?);
    let nothing = Instances::F32(Mat::zeros(rows.rows(), 1));
    let features: Arc<[Feature]> = Arc::new([Feature::numeric("map")]);
    let beside = SideColumns { kept: Vec::new(), instance_labels: None };
    let data = book
        .finish(nothing, features, &[], beside, options, Vec::new(), warnings)
        .map_err(|e| e.of_data(&source))?;
    let unused = relatives::unused_columns(table.unused, &unused_cells);
    Ok((Dataset { name: source, unused, ..data }, rows))
}

/// The files of a folder that hold maps, in order. Names with a dot or a low line in front are those of notes that engines leave.
fn map_files(folder: &Path) -> Result<Vec<PathBuf>> {
    let refuse = |e| compress::explain(Place::of(folder.display().to_string()), e);
    let mut files = Vec::new();
    for entry in std::fs::read_dir(folder).map_err(refuse)? {
        let path = entry.map_err(refuse)?.path();
        let name = path.file_name().map(|n| n.to_string_lossy().into_owned()).unwrap_or_default();
        let fits = ["npz", "parquet", "pq"].iter().any(|ending| has_ending(&path, ending));
        if fits && path.is_file() && !name.starts_with(['.', '_']) {
            files.push(path);
        }
    }
    if files.is_empty() {
        return Err(Error::data(
            Place::of(folder.display().to_string()),
            "this folder contains no maps: no .parquet and no .npz files",
            "write them with bagwise.arrow.mapper, or with bagwise embed",
        ));
    }
    files.sort();
    Ok(files)
}

fn from_another(place: Place, bag: &str) -> Error {
    Error::data(
        place,
        format!("the map of bag '{bag}' was made by another model"),
        "make the maps with the model that is given",
    )
}

/// Maps on their way, in the order in which they come.
struct MapsOnTheWay<'s> {
    cols: usize,
    /// Whether a bag may be outside all cells.
    may_be_empty: bool,
    memory: u64,
    scratch: &'s Path,
    /// Packed rows that are in memory: all of them, or one that is on its way to the file.
    packed: Vec<u8>,
    file: Option<BufWriter<File>>,
    bytes: u64,
    /// The map of each row of the table.
    places: Vec<Option<MapBounds>>,
}

impl MapsOnTheWay<'_> {
    fn new<'s>(rows: usize, shape: &MapShape, memory: u64, scratch: &'s Path) -> MapsOnTheWay<'s> {
        // With less than a quarter hardly any work would be done between two reads.
        let memory = memory.saturating_sub(BAG * rows as u64).max(memory / 4);
        MapsOnTheWay {
            cols: shape.columns,
            may_be_empty: shape.may_be_empty,
            memory,
            scratch,
            packed: Vec::new(),
            file: None,
            bytes: 0,
            places: vec![None; rows],
        }
    }

    fn push(
        &mut self,
        row: usize,
        bag: &str,
        columns: &[u32],
        values: &[f64],
        place: impl Fn() -> Place,
    ) -> Result<()> {
        let refuse = |found: String, remedy: &str| Err(Error::data(place(), found, remedy));
        if self.places[row].is_some() {
            return refuse(
                format!("bag '{bag}' has a second map"),
                "map every bag once: rows of a bag must meet in one partition, and a folder holds one set of maps",
            );
        }
        if let Some(column) = columns.iter().find(|&&c| c as usize >= self.cols) {
            let found = format!(
                "the map of bag '{bag}' has column {column}, but maps of the model have {}",
                self.cols
            );
            return refuse(found, "make the maps with the model that is given");
        }
        let length = values.iter().map(|v| v * v).sum::<f64>();
        if columns.is_empty() && !self.may_be_empty {
            return refuse(
                format!(
                    "the map of bag '{bag}' is missing or empty; this model gives every bag a map with entries"
                ),
                "look for bags that a join left without a map, and make the maps with the model that is given",
            );
        }
        if !(columns.is_empty() || (length - 1.0).abs() <= SLACK) {
            let found = format!("the map of bag '{bag}' has squared length {length}, not 1");
            return refuse(found, "make the maps with the model that is given, and leave them as they are");
        }
        if !columns.is_sorted_by(|a, b| a < b) {
            let found = format!("the columns of the map of bag '{bag}' do not ascend");
            return refuse(found, "leave the lists as they are");
        }
        if u32::try_from(columns.len()).is_err() {
            return refuse(format!("the map of bag '{bag}' is too long"), "use a smaller psi or t");
        }
        let own = pack(columns, values, self.cols, &mut self.packed);
        self.places[row] = Some(MapBounds { start: self.bytes, ..own });
        self.bytes += own.bytes(self.cols);
        if self.file.is_some() || self.bytes > self.memory {
            self.move_out().map_err(|e| explain_write(self.scratch, e))?;
        }
        Ok(())
    }

    /// Moves the rows in memory to the file, behind those that are there.
    fn move_out(&mut self) -> io::Result<()> {
        let file = match &mut self.file {
            Some(file) => file,
            none => none.insert(BufWriter::with_capacity(1 << 20, tempfile::tempfile_in(self.scratch)?)),
        };
        file.write_all(&self.packed)?;
        self.packed.clear();
        // The first time that is most of the memory; then there is a row at a time.
        self.packed.shrink_to(1 << 16);
        Ok(())
    }

    /// The rows in the order of the table.
    fn finish(self) -> Result<MapRows> {
        let mut bounds: Vec<MapBounds> = self.places.iter().flatten().copied().collect();
        let explain = |e| explain_write(self.scratch, e);
        let store = match self.file {
            None => MapStore::Memory(self.packed),
            Some(file) => {
                let mut file = file.into_inner().map_err(|e| explain(e.into_error()))?;
                if !bounds.is_sorted_by_key(|place| place.start) {
                    file = in_order(file, &mut bounds, self.cols, self.scratch).map_err(explain)?;
                }
                MapStore::File(file)
            }
        };
        Ok(MapRows { cols: self.cols, bounds, store, memory: self.memory })
    }
}

/// Copies rows into the order of `bounds`, so that reading them one after the other is reading the file.
fn in_order(file: File, bounds: &mut [MapBounds], cols: usize, scratch: &Path) -> io::Result<File> {
    let mut ordered = BufWriter::with_capacity(1 << 20, tempfile::tempfile_in(scratch)?);
    let (mut bytes, mut start) = (Vec::new(), 0);
    for place in bounds {
        bytes.resize(place.bytes(cols) as usize, 0);
        read_at(&file, place.start, &mut bytes)?;
        ordered.write_all(&bytes)?;
        place.start = start;
        start += bytes.len() as u64;
    }
    ordered.into_inner().map_err(io::IntoInnerError::into_error)
}

/// Hands out the maps of a file of `bagwise embed`, or of `scipy.sparse.save_npz` with an array `bags` beside, and perhaps `map`.
fn npz(path: &Path, cols: usize, take: TakeMap<'_>) -> Result<()> {
    let place = || Place::of(path.display().to_string());
    let explain = |e| compress::explain(place(), e);
    let refuse = |found: &str| Error::data(place(), found, "write the maps with bagwise embed");
    let if_there = |name: &str| -> Result<Option<Data>> {
        let mut archive = Archive::open(path)?;
        let member = archive.members.iter().find(|m| m.name == format!("{name}.npy")).cloned();
        let Some(member) = member else { return Ok(None) };
        let array = decode(archive.member(&member).map_err(explain)?, member.size).map_err(explain)?;
        Ok(Some(array.data))
    };
    let whole = |name: &str| if_there(name)?.ok_or_else(|| refuse(&format!("there is no array '{name}'")));
    let Data::Whole(shape) = whole("shape")? else {
        return Err(refuse("its shape is not a pair of numbers"));
    };
    if shape.get(1).is_none_or(|&own| own != cols as i64) {
        let found =
            format!("its maps have {} columns, but those of the model {cols}", shape.get(1).unwrap_or(&0));
        return Err(Error::data(place(), found, "make the maps with the model that is given"));
    }
    let Data::Whole(indptr) = whole("indptr")? else {
        return Err(refuse("its row starts are not whole numbers"));
    };
    let names = match whole("bags")? {
        Data::Texts(names) => names,
        Data::Whole(names) => names.iter().map(ToString::to_string).collect(),
        _ => return Err(refuse("the names of its bags are neither texts nor whole numbers")),
    };
    let digest = match if_there("map")? {
        None => String::new(),
        Some(Data::Texts(texts)) if texts.len() == 1 => texts.concat(),
        Some(_) => return Err(refuse("its array 'map' is not one text")),
    };
    if indptr.len() != names.len() + 1 || indptr[0] != 0 || !indptr.is_sorted() {
        return Err(refuse("its row starts do not fit its bags"));
    }
    // Both arrays are read side by side, a row at a time.
    let (mut first, mut second) = (Archive::open(path)?, Archive::open(path)?);
    let mut columns = MapArray::open(&mut first, "indices").map_err(explain)?;
    let mut numbers = MapArray::open(&mut second, "data").map_err(explain)?;
    let entries = indptr[names.len()] as u64;
    if columns.count != entries || numbers.count != entries {
        return Err(refuse("its entries do not fit its row starts"));
    }
    let (mut own, mut values) = (Vec::new(), Vec::new());
    for (name, ends) in names.iter().zip(indptr.windows(2)) {
        let length = (ends[1] - ends[0]) as usize;
        if length > cols {
            return Err(refuse("a map has more entries than columns"));
        }
        columns.next(length, &mut own).map_err(explain)?;
        numbers.next(length, &mut values).map_err(explain)?;
        let row: Option<Vec<u32>> = own.iter().map(|&c| u32::try_from(c as i64).ok()).collect();
        take(name, &digest, &row.ok_or_else(|| refuse("a column is below 0"))?, &values)?;
    }
    Ok(())
}

/// An array of numbers that is read from front to back.
struct MapArray<'a> {
    content: Content<'a>,
    kind: String,
    count: u64,
}

impl<'a> MapArray<'a> {
    fn open(archive: &'a mut Archive, name: &str) -> io::Result<MapArray<'a>> {
        let refuse = |found: String| compress::Refusal::error(found, "write the maps with bagwise embed");
        let member = archive.members.iter().find(|m| m.name == format!("{name}.npy")).cloned();
        let member = member.ok_or_else(|| refuse(format!("there is no array '{name}'")))?;
        let mut content = archive.member(&member)?;
        let form = NpyForm::read(&mut content)?;
        let known = ["<f8", "<f4", "<i4", "<i8"];
        if !known.contains(&form.descr.as_str()) || form.shape.len() != 1 {
            return Err(refuse(format!("the array '{name}' has type '{}'", form.descr)));
        }
        Ok(MapArray { content, kind: form.descr, count: form.shape[0] as u64 })
    }

    fn next(&mut self, count: usize, out: &mut Vec<f64>) -> io::Result<()> {
        out.clear();
        let size = if self.kind.ends_with('8') { 8 } else { 4 };
        let mut bytes = vec![0; size * count];
        self.content.read_exact(&mut bytes)?;
        let eights = bytes.as_chunks::<8>().0.iter();
        let fours = bytes.as_chunks::<4>().0.iter();
        match self.kind.as_str() {
            "<f8" => out.extend(eights.map(|&b| f64::from_le_bytes(b))),
            "<i8" => out.extend(eights.map(|&b| i64::from_le_bytes(b) as f64)),
            "<f4" => out.extend(fours.map(|&b| f64::from(f32::from_le_bytes(b)))),
            _ => out.extend(fours.map(|&b| f64::from(i32::from_le_bytes(b)))),
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_maps_with_gaps_may_be_empty() {
        let folder = tempfile::tempdir().unwrap();
        let push = |may_be_empty: bool| {
            let shape = MapShape { columns: 20, may_be_empty, digest: String::new() };
            let mut maps = MapsOnTheWay::new(1, &shape, 1000, folder.path());
            maps.push(0, "a", &[], &[], || Place::of("maps.parquet"))
        };
        push(true).unwrap();
        let said = push(false).unwrap_err().to_string();
        assert!(said.contains("the map of bag 'a' is missing or empty"), "{said}");
    }
}
