//! Data sets by name. Musk1 is inside the program; any other `NAME` is looked for as `NAME.csv`,
//! `NAME.csv.gz`, `NAME.sparse` or `NAME.sparse.gz` in `$BAGWISE_DATA`, then in the folder `data` beside the
//! current folder or one above it, and beside the program or one above that (a checkout of the repository).

use std::env;
use std::path::{Path, PathBuf};

use super::{ReadOptions, compress, csv, read_path};
use crate::dataset::Dataset;
use crate::error::{Error, Place, Result};

const MUSK1: &[u8] = include_bytes!("../../../../data/musk1.csv.gz");

const NAMES: &[&str] = &["musk1", "musk2", "elephant", "image1000", "image2000", "protein"];

const ENDINGS: &[&str] = &["csv", "csv.gz", "csv.zst", "sparse", "sparse.gz", "sparse.zst"];

/// The names that a user can type in place of a path and that come with the repository. `musk1` is always
/// there; the others are files in its `data` folder.
pub fn builtin_names() -> &'static [&'static str] {
    NAMES
}

/// Reads the data set of this name.
pub(crate) fn read(name: &str, options: &ReadOptions) -> Result<Dataset> {
    if name == "musk1" {
        return csv::read(name, compress::decode(MUSK1).map_err(|e| Error::io(name, e))?, options, None);
    }
    let bare = !name.is_empty() && !name.contains(['/', '\\', ':']) && !name.starts_with('.');
    let folders = if bare { folders() } else { Vec::new() };
    for folder in &folders {
        for ending in ENDINGS {
            let path = folder.join(format!("{name}.{ending}"));
            if path.is_file() {
                return Ok(Dataset { name: name.into(), ..read_path(&path, options)? });
            }
        }
    }
    Err(not_found(name, bare, &folders))
}

fn not_found(name: &str, bare: bool, folders: &[PathBuf]) -> Error {
    let place = Place::of(if name.is_empty() { "''" } else { name });
    if !bare {
        return compress::explain(place, std::io::ErrorKind::NotFound.into());
    }
    // "musk1.csv" is a path that is not there, but the name in it may be one.
    let stem = name.split('.').next().unwrap_or(name);
    let suggestion = match Error::unknown("data set", stem, NAMES.iter().copied()) {
        _ if NAMES.contains(&stem) => format!("the data set is called '{stem}' (without an ending)"),
        Error::Unknown { suggestion: Some(suggestion), .. } => suggestion,
        _ => String::new(),
    };
    let tried = if NAMES.contains(&name) {
        let list: Vec<String> = folders.iter().map(|f| f.display().to_string()).collect();
        let list = if list.is_empty() { "there is no folder called data".into() } else { list.join(", ") };
        return Error::data(
            place,
            format!("the data set is not here (looked for {name}.csv, {name}.csv.gz and so on: {list})"),
            "run inside a checkout of the repository, or set BAGWISE_DATA to the folder that has it",
        );
    } else if folders.is_empty() {
        String::new()
    } else {
        let list: Vec<String> = folders.iter().map(|f| f.display().to_string()).collect();
        format!(" (looked for {stem}.csv and the like in {})", list.join(", "))
    };
    Error::data(place, format!("no such file, and no data set of this name{tried}"), suggestion)
}

/// The folders that are searched, those that exist.
fn folders() -> Vec<PathBuf> {
    let mut folders: Vec<PathBuf> = env::var_os("BAGWISE_DATA").map(PathBuf::from).into_iter().collect();
    let above = |start: Option<PathBuf>| {
        let start = start.unwrap_or_default();
        start.ancestors().map(|folder| folder.join("data")).collect::<Vec<_>>()
    };
    folders.extend(above(env::current_dir().ok()));
    folders.extend(above(env::current_exe().ok().and_then(|exe| exe.parent().map(Path::to_path_buf))));
    folders.retain(|folder| folder.is_dir());
    let mut seen = std::collections::HashSet::new();
    folders.retain(|folder| seen.insert(folder.clone()));
    folders
}
