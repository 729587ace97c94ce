//! Files and names in, data sets out. A format is one file in this folder: a [`Reader`] that recognises its
//! files and streams them into a [`Dataset`], and, where it can be written, a [`Writer`]; adding one is that
//! file and one line in [`READERS`] or [`WRITERS`].
//!
//! What formats share is in files of its own: `compress` opens a file and undoes gzip, zstd and bzip2, `dialect` finds how a
//! table is written, `columns` gives columns their roles, `cells` turns text into numbers and categories, `arrays` turns
//! arrays into columns, `assemble` turns rows into bags, `doubt` finds columns that are no measurements, `zip` is the
//! container of `.npz`, `save` writes a file whole or not at all, `replace` says what it may overwrite.
//!
//! A data set is named by a path, by a built-in name (`musk1`) or by a generator (`synthetic:gauss?bags=200`).

mod arff;
mod arrays;
mod assemble;
mod builtin;
mod c45;
mod cells;
mod columns;
pub mod compress;
mod csv;
mod dialect;
mod doubt;
mod encoding;
mod folder;
mod labels;
mod map_rows;
mod maps;
mod matlab;
mod npy;
mod npz;
mod npz_sparse;
mod parquet;
mod relatives;
mod remember;
mod replace;
pub mod save;
mod sketch;
mod sparse;
mod stream;
mod synthetic;
mod text;
mod zip;

use std::io::Read;
use std::path::{Path, PathBuf};

use bagwise_core::{Dataset, Error, Message, Place, Result, Setting};

pub use bagwise_core::{checksum, files};
pub use builtin::builtin_names;
pub use csv::{csv_safe, write_csv_safe};
pub use dialect::{decimal, delimiter, thousands};
pub use encoding::Encoding;
pub use map_rows::MapRows;
pub use maps::{MapShape, read_maps};
pub use npy::{npy_size, read_npy, write_npy};
pub use npz_sparse::{MapSpool, write_npz};
pub use relatives::{could_name_groups, is_group_heading};
pub use replace::{GRAPHS_MARK, OutputKind, RESULTS_MARK, check_output, is_same_output};
pub use sketch::{ColumnSketch, TableSketch, sketch};
pub use stream::{PIECE, TakePiece, can_stream, read_pieces};
pub use synthetic::{GENERATORS, Generator, GeneratorOption};

/// A column of a table, as the user names it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Column {
    /// By its heading.
    Name(String),
    /// By its position, counted from 1.
    Number(usize),
}

impl std::str::FromStr for Column {
    type Err = std::convert::Infallible;

    /// A whole number above 0 is a position (a heading that is a number can still be found: names are tried first).
    fn from_str(text: &str) -> Result<Column, Self::Err> {
        Ok(match text.parse::<usize>() {
            Ok(n) if n > 0 => Column::Number(n),
            _ => Column::Name(text.to_string()),
        })
    }
}

impl std::fmt::Display for Column {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Column::Name(name) => f.write_str(name),
            Column::Number(number) => write!(f, "{number}"),
        }
    }
}

/// What the label column holds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Task {
    /// Classes, unless some label is a number with a fraction.
    #[default]
    Auto,
    /// Classes.
    Classification,
    /// Real values.
    Regression,
}

impl std::str::FromStr for Task {
    type Err = Error;

    fn from_str(text: &str) -> Result<Task> {
        match text {
            "auto" => Ok(Task::Auto),
            "classification" => Ok(Task::Classification),
            "regression" => Ok(Task::Regression),
            _ => Err(Error::unknown("task", text, ["auto", "classification", "regression"])),
        }
    }
}

/// How a table is to be understood. The default finds the columns `bag`, `label`, `group` and
/// `instance_label` by name and takes all others as features.
///
/// As JSON it is what a model remembers ([`ReadOptions::remembered`]): columns and the dialect of tables.
#[derive(Clone, Debug, Default, serde::Serialize, serde::Deserialize)]
#[serde(default)]
pub struct ReadOptions {
    /// The format's name; found by content and file name if not given.
    #[serde(skip)]
    pub format: Option<String>,
    /// Column of bag ids.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bag: Option<Column>,
    /// Column of labels.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub label: Option<Column>,
    /// Column of groups.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub group: Option<Column>,
    /// Column of true instance labels: never a feature.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub instance_label: Option<Column>,
    /// Columns carried along, never features.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub keep: Vec<Column>,
    /// Columns left out.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub ignore: Vec<Column>,
    /// Columns to take as categories even if they hold numbers.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub categorical: Vec<Column>,
    /// Whether the first row is a heading; found by looking if not given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub header: Option<bool>,
    /// What separates the cells of a table; found by looking if not given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub delimiter: Option<char>,
    /// The decimal mark of a table, a point or a comma; found by looking if not given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub decimal: Option<char>,
    /// What groups the digits of numbers in a table: a comma, a point, a space or an apostrophe; found by looking if
    /// not given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub thousands: Option<char>,
    /// The encoding of a table; found by looking if not given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub encoding: Option<Encoding>,
    /// Texts and numbers that stand for no value, besides the usual ones.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub missing_values: Vec<String>,
    /// Classes or real values.
    #[serde(skip)]
    pub task: Task,
    /// Let cells be missing (they become NaN, to be imputed) instead of refusing them.
    #[serde(skip)]
    pub allow_missing: bool,
    /// The label column may be absent or empty: prediction data.
    #[serde(skip)]
    pub unlabelled: bool,
    /// The table that has the labels of the bags, where the data are a folder.
    #[serde(skip)]
    pub labels: Option<PathBuf>,
    /// A folder of coordinates, files named as those of the bags: carried along, never features.
    #[serde(skip)]
    pub coords: Option<PathBuf>,
    /// At most this many instances of each bag, drawn with the seed. A model remembers it to compare; it is not recalled.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_instances: Option<usize>,
    /// Seed of that draw.
    #[serde(skip)]
    pub seed: u64,
    /// The feature columns that are wanted, such as those of a model. Where a heading names any of them all other
    /// columns are left out, whatever they hold, and none of them is taken for a label because of its name.
    #[serde(skip)]
    pub features: Vec<String>,
    /// Named columns that may be absent, because a model remembers them and the user did not say them.
    #[serde(skip)]
    pub optional: Vec<Column>,
}

/// A format that can be read.
pub trait Reader: Sync {
    /// The name for `--input-format`.
    fn name(&self) -> &'static str;
    /// True if this reader should take the file: `head` is the first few kilobytes after decompression.
    fn recognises(&self, path: &Path, head: &[u8]) -> bool;
    /// Reads the file.
    fn read(&self, path: &Path, options: &ReadOptions) -> Result<Dataset>;
    /// True if [`Reader::read_pieces`] can read it.
    fn streams(&self) -> bool {
        false
    }
    /// Reads the file in pieces of whole bags, of about `rows` instances.
    fn read_pieces(
        &self,
        path: &Path,
        options: &ReadOptions,
        _rows: usize,
        take: TakePiece<'_>,
    ) -> Result<()> {
        take(self.read(path, options)?)
    }
}

/// A format that can be written. Files appear whole or not at all.
pub trait Writer: Sync {
    /// The name for `--output-format`.
    fn name(&self) -> &'static str;
    /// True if a file of this name should be in this format.
    fn recognises(&self, path: &Path) -> bool;
    /// Writes the file.
    fn write(&self, data: &Dataset, path: &Path) -> Result<()>;
}

/// Every format that can be read, in the order in which they are tried.
pub static READERS: &[&dyn Reader] = &[
    &folder::Folder,
    &npz::Npz,
    &parquet::Parquet,
    &arff::Arff,
    &matlab::Matlab,
    &c45::C45,
    &sparse::Sparse,
    &csv::Csv,
];

/// Every format that can be written.
pub static WRITERS: &[&dyn Writer] = &[&csv::Csv, &sparse::Sparse, &npz::Npz, &arff::Arff, &parquet::Parquet];

/// How much of a file is looked at to recognise it.
const HEAD: u64 = 1 << 16;

/// Reads a data set by what the user typed: a path, a built-in name, or a generator
/// (`synthetic:gauss?bags=200`). A path that exists wins over a built-in name.
///
/// ```
/// let data = bagwise_io::read("musk1", &Default::default())?;
/// assert_eq!((data.bags.len(), data.bags.instance_count(), data.bags.width()), (92, 476, 166));
/// # Ok::<(), bagwise_core::Error>(())
/// ```
pub fn read(name: &str, options: &ReadOptions) -> Result<Dataset> {
    let path = Path::new(name);
    if (options.labels.is_some() || options.coords.is_some()) && !path.is_dir() {
        return Err(Error::data(
            Place::of(name),
            "a table of labels or a folder of coordinates requires a folder of .npy files, and this is not one",
            "leave these out, or give the folder",
        ));
    }
    let data = if let Some(generator) = name.strip_prefix("synthetic:") {
        synthetic::generate(name, generator)
    } else {
        match std::fs::metadata(path) {
            Ok(_) => read_path(path, options),
            Err(e) if e.kind() == std::io::ErrorKind::NotFound => builtin::read(name, options),
            Err(e) => Err(compress::explain(Place::of(name), e)),
        }
    }?;
    Ok(match options.max_instances {
        Some(most) => data.with_at_most(most, options.seed),
        None => data,
    })
}

/// The file or folder that a name stands for, if it stands for one.
pub fn path_of(name: &str) -> Option<PathBuf> {
    if Path::new(name).exists() { Some(name.into()) } else { builtin::path(name) }
}

/// True if what a user typed names data that are here: a generator, a path, or a name that is found.
pub fn is_here(name: &str) -> bool {
    name.starts_with("synthetic:") || Path::new(name).exists() || builtin::is_here(name)
}

/// Reads a file or folder that is there.
pub(crate) fn read_path(path: &Path, options: &ReadOptions) -> Result<Dataset> {
    reader_of(path, options)?.read(path, options)
}

/// The reader of a file or folder that is there.
fn reader_of(path: &Path, options: &ReadOptions) -> Result<&'static dyn Reader> {
    Ok(*match &options.format {
        Some(format) => READERS
            .iter()
            .find(|r| r.name() == format)
            .ok_or_else(|| Error::unknown("format", format, READERS.iter().map(|r| r.name())))?,
        None => {
            // A pipe gives its bytes only once: its format is known by its name or the user's word.
            let head = if path.is_file() {
                let mut input = compress::open(path)?;
                read_head(&mut input)
                    .map_err(|e| compress::explain(Place::of(path.display().to_string()), e))?
            } else {
                Vec::new()
            };
            READERS.iter().find(|r| r.recognises(path, &head)).ok_or_else(|| not_recognised(path, &head))?
        }
    })
}

/// Refuses a container that was compressed once more: its parts are found from its end.
pub(crate) fn refuse_packed(path: &Path, file: &mut std::fs::File) -> Result<()> {
    use std::io::Seek;
    let mut head = [0; 8];
    let explain = |e| compress::explain(Place::of(path.display().to_string()), e);
    let read = file.by_ref().take(8).read(&mut head).map_err(explain)?;
    file.rewind().map_err(explain)?;
    match compress::form(&head[..read]) {
        None => Ok(()),
        Some(form) => Err(Error::data(
            Place::of(path.display().to_string()),
            format!("the whole file is compressed with {form}"),
            "decompress it first; the format has its own compression",
        )),
    }
}

/// Writes a data set, in the format named or the one that the file name means; `.gz` compresses. The file
/// appears whole or not at all. Returns the name of the format.
pub fn write(data: &Dataset, path: &Path, format: Option<&str>) -> Result<&'static str> {
    let writer = writer_of(path, format)?;
    writer.write(data, path)?;
    Ok(writer.name())
}

/// The name of the format in which [`write`](write()) would write a file.
pub fn output_format(path: &Path, format: Option<&str>) -> Result<&'static str> {
    Ok(writer_of(path, format)?.name())
}

fn writer_of(path: &Path, format: Option<&str>) -> Result<&'static dyn Writer> {
    let known = || WRITERS.iter().map(|w| w.name());
    Ok(*match format {
        Some(format) => WRITERS
            .iter()
            .find(|w| w.name() == format)
            .ok_or_else(|| Error::unknown("format", format, known()))?,
        None => WRITERS.iter().find(|w| w.recognises(path)).ok_or_else(|| {
            Error::data(
                Place::of(path.display().to_string()),
                "the file extension is not a known output format",
                format!(
                    "use .csv, .tsv, .sparse or .arff (add .gz to compress), .npz or .parquet, or choose one of: {}",
                    known().collect::<Vec<_>>().join(", ")
                ),
            )
        })?,
    })
}

/// Writes bytes to a file, whole or not at all.
pub fn save_whole(path: &Path, bytes: &[u8]) -> Result<()> {
    save::whole(path, |file| file.write_all(bytes))
}

fn not_recognised(path: &Path, head: &[u8]) -> Error {
    let place = Place::of(path.display().to_string());
    if path.is_dir() {
        return compress::explain(place, std::io::ErrorKind::IsADirectory.into());
    }
    let is_hdf = head.starts_with(b"\x89HDF");
    if is_hdf || plain_extension(path).is_some_and(|e| e == "pt" || e == "pth") {
        return Error::data(
            place,
            format!(
                "this is {}, which is not supported here",
                if is_hdf { "an HDF5 file" } else { "a torch file" }
            ),
            "convert it with the Python package: bagwise.convert(FILE, \"data.npz\")",
        );
    }
    let extension = plain_extension(path).unwrap_or_default();
    if ["xlsx", "xlsm", "xls", "ods"].contains(&extension.as_str()) {
        let remedy = "save the sheet as CSV in the program that made it, and give that file";
        return Error::data(place, "this is a spreadsheet, which is not supported", remedy);
    }
    if head.starts_with(b"\x93NUMPY") {
        let remedy = "each .npy file of a folder is one bag: give the folder, or use an .npz file";
        return Error::data(place, "this is a single array", remedy);
    }
    let known: Vec<&str> = READERS.iter().map(|r| r.name()).collect();
    Error::data(
        place,
        "the format is not recognised",
        Message::from(format!("use one of: {}; or specify the format", known.join(", ")))
            .with([Setting::InputFormat]),
    )
}

/// The first bytes of a stream, as many as recognition looks at.
pub(crate) fn read_head(input: &mut impl Read) -> std::io::Result<Vec<u8>> {
    let mut head = Vec::new();
    input.take(HEAD).read_to_end(&mut head)?;
    Ok(head)
}

/// True if a file name ends in a dot and this, in letters of any size.
pub(crate) fn has_ending(path: &Path, ending: &str) -> bool {
    path.extension().is_some_and(|e| e.eq_ignore_ascii_case(ending))
}

/// The extension in small letters, after that of a compression is taken off.
pub(crate) fn plain_extension(path: &Path) -> Option<String> {
    let extension = |p: &Path| p.extension().map(|e| e.to_string_lossy().to_lowercase());
    match extension(path).as_deref() {
        Some("gz" | "zst" | "bz2" | "xz") => extension(Path::new(path.file_stem()?)),
        other => other.map(String::from),
    }
}
