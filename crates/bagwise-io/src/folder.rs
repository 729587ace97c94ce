//! A folder of `.npy` files, one per bag, and a table that says what is known of the bags: the patches of slides as a
//! foundation model left them. A bag is called like its file without the ending.
//!
//! Numbers are not brought into memory: the folder is an [`Instances::Stored`] whose rows are read from the files when
//! they are needed, by their place in the file (not mapped: a file that is cut short under our hands is then an error
//! and not a crash, and pages that were read do not count as ours). Every file is looked through once on opening:
//! its header must fit its size, and its numbers must be finite.

use std::collections::{BTreeMap, HashSet};
use std::fs::File;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rayon::prelude::*;

use super::assemble::{BagBuilder, SideColumns};
use super::npy::{NpyHeader, read_at};
use super::stream::TakePiece;
use super::text::Markers;
use super::{ReadOptions, Reader, compress, labels, relatives};
use bagwise_core::files::require_regular;
use bagwise_core::{
    CarriedColumn, Dataset, Error, Feature, Instances, Message, Place, Result, RowSource, Setting, Stored,
};

/// The format.
pub(crate) struct Folder;

impl Reader for Folder {
    fn name(&self) -> &'static str {
        "npy-folder"
    }

    fn recognises(&self, path: &Path, _: &[u8]) -> bool {
        path.is_dir()
    }

    fn read(&self, path: &Path, options: &ReadOptions) -> Result<Dataset> {
        read(path, options)
    }

    fn streams(&self) -> bool {
        true
    }

    /// The numbers are not in memory anyway, so that the bags are only divided.
    fn read_pieces(
        &self,
        path: &Path,
        options: &ReadOptions,
        rows: usize,
        take: TakePiece<'_>,
    ) -> Result<()> {
        let mut data = read(path, options)?;
        let (mut start, mut warnings) = (0, std::mem::take(&mut data.warnings));
        for bag in 0..data.bags.len() {
            let held = data.bags.rows(bag).end - data.bags.rows(start).start;
            if held >= rows || bag + 1 == data.bags.len() {
                let mut piece = data.select(&(start..=bag).collect::<Vec<_>>());
                piece.warnings = std::mem::take(&mut warnings);
                take(piece)?;
                start = bag + 1;
            }
        }
        Ok(())
    }
}

/// Names that a message lists before it only counts.
const SHOWN: usize = 5;

fn read(folder: &Path, options: &ReadOptions) -> Result<Dataset> {
    let source = folder.display().to_string();
    let mut files = npy_files(folder)?;
    if files.is_empty() {
        return Err(Error::data(
            Place::of(&source),
            "this folder contains no .npy files",
            "give one file per bag, written with numpy.save, or a table with the rows",
        ));
    }
    // What only a model asks for, the user did not give.
    if let Some(column) = options.categorical.iter().find(|column| !options.optional.contains(column)) {
        return Err(Error::data(
            Place::of(&source),
            format!("'{column}' cannot be categorical: a folder of .npy files contains numbers only"),
            "declare no categories, or give a table with the rows",
        ));
    }
    let mut warnings: Vec<Message> = Vec::new();
    let mut book;
    let mut chosen: Vec<(String, PathBuf)> = Vec::new();
    // The columns of the table that are kept, and what they say of each bag.
    let mut kept_names = Vec::new();
    let mut kept_cells: Vec<Vec<String>> = Vec::new();
    let (mut unused_names, mut unused_cells) = (Vec::new(), Vec::new());
    match &options.labels {
        Some(table) => {
            let table = labels::read(table, options)?;
            book = BagBuilder::new(&table.source, options).written_in(table.numbers);
            kept_names = table.kept;
            unused_names = table.unused;
            warnings = table.warnings;
            let (mut without_file, mut seen) = (Vec::new(), HashSet::new());
            for row in table.rows {
                let name = row.bag.strip_suffix(".npy").unwrap_or(&row.bag).to_string();
                if !seen.insert(name.clone()) {
                    return Err(Error::data(
                        Place::line(&table.source, row.line),
                        format!("bag '{name}' is already in the table"),
                        "a table of labels has one row per bag",
                    ));
                }
                let Some(path) = files.remove(&name) else {
                    without_file.push(row.bag);
                    continue;
                };
                book.row(row.line, &name, row.label.as_deref(), row.group.as_deref())?;
                chosen.push((name, path));
                kept_cells.push(row.kept);
                unused_cells.push(row.unused);
            }
            if chosen.is_empty() {
                return Err(Error::data(
                    Place::of(&table.source),
                    format!(
                        "no bag in the table has a file in {source}: bags are called {}, files {}",
                        listed(&without_file),
                        listed(&files.keys().cloned().collect::<Vec<_>>())
                    ),
                    Message::from("call bags as their files, with or without .npy; if another column has these names, name it")
                        .with([Setting::Bag]),
                ));
            }
            if !without_file.is_empty() {
                warnings.push(
                    format!(
                        "{} bags in the table have no file: {}",
                        without_file.len(),
                        listed(&without_file)
                    )
                    .into(),
                );
            }
            if !files.is_empty() {
                let names: Vec<String> = files.keys().cloned().collect();
                warnings.push(
                    format!(
                        "{} files are not in the table and are left out: {}",
                        names.len(),
                        listed(&names)
                    )
                    .into(),
                );
            }
        }
        None if !options.keep.is_empty() => {
            let named: Vec<String> = options.keep.iter().map(ToString::to_string).collect();
            return Err(Error::data(
                Place::of(&source),
                format!("a folder has no columns that could be kept ({})", listed(&named)),
                Message::from("name the table that has them").with([Setting::Labels]),
            ));
        }
        None if options.unlabelled => {
            book = BagBuilder::new(&source, options);
            for (line, (name, path)) in (1..).zip(files) {
                book.row(line, &name, None, None)?;
                chosen.push((name, path));
            }
        }
        None => {
            return Err(Error::data(
                Place::of(&source),
                format!("the labels of these {} bags are not given", files.len()),
                Message::from("name the table that has them")
                    .with([Setting::Labels])
                    .and(", and its columns")
                    .with([Setting::Bag, Setting::Label]),
            ));
        }
    }
    let rows = NpyRows::open(&chosen)?;
    rows.check_values(&Markers::new(&options.missing_values))?;
    for (bag, file) in rows.files.iter().enumerate() {
        // `row` has noted each bag once.
        book.repeat(bag, file.header.rows - 1);
    }
    let features: Arc<[Feature]> = (1..=rows.cols).map(|f| Feature::numeric(format!("f{f}"))).collect();
    let mut kept: Vec<CarriedColumn> = kept_names
        .into_iter()
        .map(|name| CarriedColumn { name, values: Vec::with_capacity(rows.rows) })
        .collect();
    for (file, cells) in rows.files.iter().zip(kept_cells) {
        for (kept, cell) in kept.iter_mut().zip(cells) {
            kept.values.extend(std::iter::repeat_n(cell, file.header.rows));
        }
    }
    if let Some(coords) = &options.coords {
        let coordinates = coordinates(coords, &chosen, &rows)?;
        if let Some(twice) = kept.iter().find(|k| coordinates.iter().any(|c| c.name == k.name)) {
            return Err(Error::data(
                Place::of(coords.display().to_string()),
                format!("coordinates and a kept column are both called '{0}'", twice.name),
                "rename the column, or do not keep it",
            ));
        }
        kept.extend(coordinates);
    }
    let beside = SideColumns { kept, instance_labels: None };
    let instances = Instances::Stored(Stored::new(Arc::new(rows)));
    let data = book
        .finish(instances, features, &[], beside, options, Vec::new(), warnings)
        .map_err(|e| e.of_data(&source))?;
    let unused = relatives::unused_columns(unused_names, &unused_cells);
    Ok(Dataset { name: source, unused, ..data })
}

fn listed(names: &[String]) -> String {
    let mut list: Vec<String> = names.iter().take(SHOWN).map(|n| format!("'{n}'")).collect();
    if names.len() > SHOWN {
        list.push("…".into());
    }
    list.join(", ")
}

/// The `.npy` files of a folder by name without the ending. Files whose names start with a dot are not looked at.
fn npy_files(folder: &Path) -> Result<BTreeMap<String, PathBuf>> {
    let refuse = |e| compress::explain(Place::of(folder.display().to_string()), e);
    let mut files = BTreeMap::new();
    for entry in std::fs::read_dir(folder).map_err(refuse)? {
        let path = entry.map_err(refuse)?.path();
        let name = path.file_stem().map(|s| s.to_string_lossy().into_owned()).unwrap_or_default();
        let npy = super::has_ending(&path, "npy");
        if npy
            && !name.starts_with('.')
            && let Some(other) = files.insert(name.clone(), path)
        {
            return Err(Error::data(
                Place::of(other.display().to_string()),
                format!("two files of this folder are called '{name}', apart from the extension"),
                "give each bag one file",
            ));
        }
    }
    Ok(files)
}

/// One file.
struct NpyFile {
    path: PathBuf,
    header: NpyHeader,
    /// Its first row among those of all files.
    first: usize,
}

/// The rows of many files.
struct NpyRows {
    files: Vec<NpyFile>,
    rows: usize,
    cols: usize,
}

impl NpyRows {
    fn open(chosen: &[(String, PathBuf)]) -> Result<NpyRows> {
        let headers: Vec<NpyHeader> =
            chosen.par_iter().map(|(_, path)| header(path)).collect::<Result<_>>()?;
        let cols = headers[0].cols;
        let mut files = Vec::with_capacity(chosen.len());
        let mut rows = 0;
        for ((_, path), header) in chosen.iter().zip(headers) {
            let refuse = |found: String, remedy: &str| {
                Err(Error::data(Place::of(path.display().to_string()), found, remedy))
            };
            if header.rows == 0 || header.cols == 0 {
                return refuse(
                    format!("the array is {} x {}", header.rows, header.cols),
                    "a bag needs at least one instance; delete the file or its line in the table",
                );
            }
            if header.cols != cols {
                return refuse(
                    format!("{} features, but the first file has {cols}", header.cols),
                    "all files must come from the same model",
                );
            }
            files.push(NpyFile { path: path.clone(), header, first: rows });
            rows += header.rows;
        }
        Ok(NpyRows { files, rows, cols })
    }

    /// An error that names the file and place of the first number that is none or stands for none.
    fn check_values(&self, markers: &Markers) -> Result<()> {
        self.files.par_iter().try_for_each(|file| {
            let real = file.header.real;
            let is_marked = |value: f64| match real.is_single() && !real.is_whole() {
                true => markers.is_single(value as f32),
                false => markers.is_number(value),
            };
            let step = ((1 << 18) / self.cols).max(1);
            let end = file.first + file.header.rows;
            for first in (file.first..end).step_by(step) {
                let mut found = None;
                self.read(first..(first + step).min(end), |i, value| {
                    if (!value.is_finite() || is_marked(value))
                        && found.is_none_or(|(earlier, _): (usize, f64)| i < earlier)
                    {
                        found = Some((i, value));
                    }
                })?;
                if let Some((i, value)) = found {
                    let what = match () {
                        () if is_marked(value) => "is marked as missing",
                        () if real.is_whole() => "is a whole number beyond 2^53",
                        () => "is not a finite number",
                    };
                    let (row, column) = (first - file.first + i / self.cols + 1, i % self.cols + 1);
                    let remedy = match is_marked(value) || !real.is_whole() {
                        true => {
                            "a folder of .npy files cannot hold missing values: remove the instance or fill in the value \
                             before saving the array"
                        }
                        false => "remove the instance or correct the value before saving the array",
                    };
                    return Err(Error::data(
                        Place::of(file.path.display().to_string()),
                        format!("row {row}, column {column} (counted from 1) {what}"),
                        remedy,
                    ));
                }
            }
            Ok(())
        })
    }

    fn read(&self, rows: Range<usize>, mut put: impl FnMut(usize, f64)) -> Result<()> {
        let mut row = rows.start;
        while row < rows.end {
            let file = &self.files[self.files.partition_point(|f| f.first <= row) - 1];
            let end = (file.first + file.header.rows).min(rows.end);
            let at = (row - rows.start) * self.cols;
            // Opened for every block: there may be more files than the system lets us keep open.
            let read = File::open(&file.path).and_then(|open| {
                file.header.rows_from(
                    row - file.first..end - file.first,
                    |place, bytes| read_at(&open, place, bytes),
                    |i, value| put(at + i, value),
                )
            });
            read.map_err(|e| compress::explain(Place::of(file.path.display().to_string()), e))?;
            row = end;
        }
        Ok(())
    }
}

/// The header of a file, if it fits the size of the file.
fn header(path: &Path) -> Result<NpyHeader> {
    require_regular(path)?;
    let read = || {
        let mut file = File::open(path)?;
        let header = NpyHeader::read(&mut file)?;
        header.check_size(file.metadata()?.len())?;
        Ok(header)
    };
    read().map_err(|e| compress::explain(Place::of(path.display().to_string()), e))
}

impl RowSource for NpyRows {
    fn kind(&self) -> &'static str {
        let mut kinds = self.files.iter().map(|f| f.header.real.kind());
        let first = kinds.next().unwrap_or_default();
        if kinds.all(|kind| kind == first) { first } else { "files of mixed precision" }
    }

    fn rows(&self) -> usize {
        self.rows
    }

    fn cols(&self) -> usize {
        self.cols
    }

    fn bytes(&self) -> u64 {
        self.files.iter().map(|f| (f.header.rows * f.header.cols * f.header.real.bytes()) as u64).sum()
    }

    fn is_single(&self) -> bool {
        self.files.iter().all(|f| f.header.real.is_single())
    }

    fn is_finite(&self) -> bool {
        true
    }

    fn read_f32(&self, rows: Range<usize>, out: &mut [f32]) -> Result<()> {
        self.read(rows, |i, value| out[i] = value as f32)
    }

    fn read_f64(&self, rows: Range<usize>, out: &mut [f64]) -> Result<()> {
        self.read(rows, |i, value| out[i] = value)
    }
}

/// Columns carried along from a second folder whose files have the same names and as many rows: where a patch was.
fn coordinates(folder: &Path, chosen: &[(String, PathBuf)], rows: &NpyRows) -> Result<Vec<CarriedColumn>> {
    let files = npy_files(folder)?;
    let mut kept: Vec<CarriedColumn> = Vec::new();
    for ((name, path), own) in chosen.iter().zip(&rows.files) {
        let Some(path) = files.get(name) else {
            return Err(Error::data(
                Place::of(folder.display().to_string()),
                format!("there is no '{name}.npy', the coordinates of {}", path.display()),
                "give one file of coordinates for every bag, under the same name",
            ));
        };
        let coordinates = NpyRows::open(&[(name.clone(), path.clone())])?;
        if coordinates.files.iter().any(|f| f.header.real.is_whole()) {
            coordinates.check_values(&Markers::default())?;
        }
        let names: Vec<String> = match coordinates.cols {
            2 => ["x", "y"].map(String::from).to_vec(),
            n => (1..=n).map(|i| format!("coord{i}")).collect(),
        };
        if kept.is_empty() {
            kept = names.into_iter().map(|name| CarriedColumn { name, values: Vec::new() }).collect();
        }
        if coordinates.rows != own.header.rows || coordinates.cols != kept.len() {
            return Err(Error::data(
                Place::of(path.display().to_string()),
                format!("coordinates of {} x {}", coordinates.rows, coordinates.cols),
                format!("the instances of the bag need {} x {}", own.header.rows, kept.len()),
            ));
        }
        coordinates.read(0..coordinates.rows, |i, value| {
            kept[i % coordinates.cols].values.push(value.to_string())
        })?;
    }
    Ok(kept)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Column;
    use crate::npy::write_header;

    fn save(folder: &Path, name: &str, descr: &str, shape: (usize, usize), bytes: &[u8]) {
        let mut file = Vec::new();
        write_header(&mut file, descr, &format!("({}, {})", shape.0, shape.1)).unwrap();
        file.extend_from_slice(bytes);
        std::fs::write(folder.join(name), file).unwrap();
    }

    fn singles(values: &[f32]) -> Vec<u8> {
        values.iter().flat_map(|v| v.to_le_bytes()).collect()
    }

    /// Three slides of two features, one of them in half precision, and a table with one name too many.
    fn slides() -> (tempfile::TempDir, ReadOptions) {
        let top = tempfile::tempdir().unwrap();
        let folder = top.path().join("slides");
        std::fs::create_dir(&folder).unwrap();
        save(&folder, "s2.npy", "<f4", (2, 2), &singles(&[1.0, 2.0, 3.0, 4.0]));
        save(&folder, "s1.npy", "<f2", (1, 2), &[0x00, 0x3c, 0x00, 0xc0]);
        save(&folder, "s3.npy", "<f4", (3, 2), &singles(&[5.0, 6.0, 7.0, 8.0, 9.0, 10.0]));
        let table = top.path().join("labels.csv");
        std::fs::write(&table, "slide,patient,msi\ns1,p1,1\ns2.npy,p1,0\ns9,p2,1\n").unwrap();
        let column = |name: &str| Some(Column::Name(name.into()));
        let options = ReadOptions {
            labels: Some(table),
            bag: column("slide"),
            label: column("msi"),
            group: column("patient"),
            ..ReadOptions::default()
        };
        (top, options)
    }

    #[test]
    fn files_become_bags_in_the_order_of_the_table_and_what_does_not_match_is_listed() {
        let (top, options) = slides();
        let data = read(&top.path().join("slides"), &options).unwrap();
        assert_eq!(data.bags.ids(), ["s1", "s2"]);
        assert_eq!(data.bags.offsets(), [0, 1, 3]);
        assert_eq!(data.bags.bag(0).to_dense().unwrap().data(), [1.0, -2.0]);
        assert_eq!(data.bags.bag(1).to_dense().unwrap().data(), [1.0, 2.0, 3.0, 4.0]);
        assert_eq!(data.bags.instances().kind(), "files of mixed precision");
        assert_eq!(data.groups.unwrap().names, ["p1"]);
        assert_eq!(
            data.warnings.iter().map(ToString::to_string).collect::<Vec<_>>(),
            ["1 bags in the table have no file: 's9'", "1 files are not in the table and are left out: 's3'"]
        );
    }

    #[test]
    fn a_table_without_a_heading_is_read_from_its_first_line() {
        let (top, options) = slides();
        let folder = top.path().join("slides");
        std::fs::write(options.labels.as_ref().unwrap(), "s2,0,lung\ns1,1,liver\n").unwrap();
        let keep = vec![Column::Number(3)];
        let bare = ReadOptions { header: Some(false), bag: None, label: None, group: None, keep, ..options };
        let data = read(&folder, &bare).unwrap();
        assert_eq!(
            (data.bags.ids(), &data.kept[0].name[..]),
            (&["s2", "s1"].map(String::from)[..], "column 3")
        );
        assert_eq!(data.target, Some(bagwise_core::Target::from_labels(&["0", "1"])));
    }

    #[test]
    fn without_labels_all_files_are_there_to_be_predicted() {
        let (top, _) = slides();
        let folder = top.path().join("slides");
        let refused = read(&folder, &ReadOptions::default()).unwrap_err().to_string();
        assert!(refused.contains("the labels of these 3 bags are not given; name the table"), "{refused}");
        let data = read(&folder, &ReadOptions { unlabelled: true, ..ReadOptions::default() }).unwrap();
        assert_eq!((data.bags.ids().len(), data.bags.instance_count(), data.target), (3, 6, None));
    }

    #[test]
    fn coordinates_are_matched_by_name_and_must_fit() {
        let (top, options) = slides();
        let coords = top.path().join("coords");
        std::fs::create_dir(&coords).unwrap();
        let options = ReadOptions { coords: Some(coords.clone()), ..options };
        let folder = top.path().join("slides");
        assert!(read(&folder, &options).unwrap_err().to_string().contains("there is no 's1.npy'"));
        save(&coords, "s1.npy", "<f4", (1, 2), &singles(&[10.0, 20.0]));
        save(&coords, "s2.npy", "<f4", (2, 2), &singles(&[1.0, 2.0, 3.5, 4.0]));
        let data = read(&folder, &options).unwrap();
        assert_eq!(
            data.kept[0],
            CarriedColumn { name: "x".into(), values: ["10", "1", "3.5"].map(String::from).to_vec() }
        );
        // Coordinates are mostly whole numbers.
        let whole: Vec<u8> = [-7i64, 8, 1 << 40, 3].iter().flat_map(|v| v.to_le_bytes()).collect();
        save(&coords, "s2.npy", "<i8", (2, 2), &whole);
        assert_eq!(read(&folder, &options).unwrap().kept[0].values, ["10", "-7", "1099511627776"]);
        let beyond: Vec<u8> = [1i64, 1 << 60, 2, 3].iter().flat_map(|v| v.to_le_bytes()).collect();
        save(&coords, "s2.npy", "<i8", (2, 2), &beyond);
        let refused = read(&folder, &options).unwrap_err().to_string();
        assert!(
            refused.contains("row 1, column 2 (counted from 1) is a whole number beyond 2^53"),
            "{refused}"
        );
        save(&coords, "s2.npy", "<f4", (1, 2), &singles(&[1.0, 2.0]));
        let refused = read(&folder, &options).unwrap_err().to_string();
        assert!(refused.contains("coordinates of 1 x 2; the instances of the bag need 2 x 2"), "{refused}");
    }

    #[test]
    fn columns_of_the_table_are_kept_for_every_instance_of_their_bag() {
        let (top, options) = slides();
        let folder = top.path().join("slides");
        std::fs::write(
            options.labels.as_ref().unwrap(),
            "slide,msi,site,x\ns2,0,lung,7\ns9,1,skin,8\ns1,1,liver,9\n",
        )
        .unwrap();
        let keep = ["x", "site"].map(|name| Column::Name(name.into())).to_vec();
        let options = ReadOptions { keep, group: None, ..options };
        let data = read(&folder, &options).unwrap();
        let values = |list: [&str; 3]| list.map(String::from).to_vec();
        assert_eq!(
            data.kept,
            [
                CarriedColumn { name: "x".into(), values: values(["7", "7", "9"]) },
                CarriedColumn { name: "site".into(), values: values(["lung", "lung", "liver"]) }
            ]
        );
        // Coordinates come behind, under names of their own.
        let coords = top.path().join("coords");
        std::fs::create_dir(&coords).unwrap();
        save(&coords, "s1.npy", "<f4", (1, 2), &singles(&[10.0, 20.0]));
        save(&coords, "s2.npy", "<f4", (2, 2), &singles(&[1.0, 2.0, 3.5, 4.0]));
        let options = ReadOptions { coords: Some(coords), ..options };
        let refused = read(&folder, &options).unwrap_err().to_string();
        assert!(refused.contains("coordinates and a kept column are both called 'x'"), "{refused}");
        let site = ReadOptions { keep: vec![Column::Name("site".into())], ..options };
        let names: Vec<String> = read(&folder, &site).unwrap().kept.into_iter().map(|k| k.name).collect();
        assert_eq!(names, ["site", "x", "y"]);
        // Without the table there is nothing to keep.
        let alone = ReadOptions { labels: None, coords: None, unlabelled: true, ..site };
        let refused = read(&folder, &alone).unwrap_err().to_string();
        assert!(refused.contains("no columns that could be kept ('site')"), "{refused}");
    }

    #[test]
    fn damage_is_named_with_its_file() {
        let (top, options) = slides();
        let folder = top.path().join("slides");
        let refused = |bytes: &[u8], shape: (usize, usize)| {
            save(&folder, "s1.npy", "<f4", shape, bytes);
            read(&folder, &options).unwrap_err().to_string()
        };
        let named = |message: String, file: &str, found: &str| {
            assert!(message.contains(file) && message.contains(found), "{message}");
        };
        named(refused(&singles(&[1.0, 2.0, 3.0]), (1, 3)), "s2.npy", "2 features, but the first file has 3");
        named(refused(&singles(&[1.0]), (1, 2)), "s1.npy", "truncated: 4 bytes of numbers, 1 x 2 need 8");
        named(refused(&[], (0, 2)), "s1.npy", "the array is 0 x 2");
        named(refused(&singles(&[1.0, f32::NAN]), (1, 2)), "s1.npy", "row 1, column 2 (counted from 1)");
        std::fs::write(folder.join("s1.npy"), b"PNG").unwrap();
        assert!(read(&folder, &options).unwrap_err().to_string().contains("ends inside its header"));
    }

    #[test]
    fn a_file_that_vanishes_later_is_an_error_that_names_it() {
        let (top, options) = slides();
        let folder = top.path().join("slides");
        let data = read(&folder, &options).unwrap();
        std::fs::remove_file(folder.join("s2.npy")).unwrap();
        let message = data.bags.bag(1).to_dense().unwrap_err().to_string();
        assert!(message.contains("s2.npy: no such file"), "{message}");
    }
}
