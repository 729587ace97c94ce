//! Data sets by name. Musk1 is inside the program; any other `NAME` is looked for as `NAME.csv`,
//! `NAME.csv.gz`, `NAME.sparse` or `NAME.sparse.gz` in `$BAGWISE_DATA`, then in the folder `data` beside the
//! current folder or one above it, and beside the program or one above that (a checkout of the repository).

use std::path::{Path, PathBuf};
use std::{env, io};

use super::{ReadOptions, compress, csv, read_path};
use bagwise_core::{Dataset, Error, Place, Result};

const MUSK1: &[u8] = include_bytes!("../../../data/musk1.csv.gz");

const NAMES: &[&str] = &["musk1", "musk2", "elephant", "image1000", "image2000", "protein"];

const ENDINGS: [&str; 6] = ["csv", "csv.gz", "csv.zst", "sparse", "sparse.gz", "sparse.zst"];

/// The names that a user can type in place of a path and that come with the repository. `musk1` is always
/// there; the others are files in its `data` folder.
pub fn builtin_names() -> &'static [&'static str] {
    NAMES
}

/// Reads the data set of this name.
pub(crate) fn read(name: &str, options: &ReadOptions) -> Result<Dataset> {
    if name == "musk1" {
        return csv::read(name, compress::decode(MUSK1).map_err(|e| Error::io(name, e))?, options, false);
    }
    // Anything else that is no bare word is a path, and it is not there.
    if name.is_empty() || name.contains(['/', '\\', ':', '\0']) || name.starts_with('.') {
        let place = Place::of(if name.is_empty() { "''" } else { name });
        return Err(compress::explain(place, io::ErrorKind::NotFound.into()));
    }
    let folders = searched();
    match find(name, &folders) {
        Some(path) => Ok(Dataset { name: name.into(), ..read_path(&path, options)? }),
        None => Err(not_found(name, &folders)),
    }
}

/// True if there are data of this name.
pub(crate) fn is_here(name: &str) -> bool {
    name == "musk1" || path(name).is_some()
}

/// The file that has the data of this name; none if they are in the program, or not here.
pub(crate) fn path(name: &str) -> Option<PathBuf> {
    let bare = !name.is_empty() && !name.contains(['/', '\\', ':', '\0']) && !name.starts_with('.');
    if bare && name != "musk1" { find(name, &searched()) } else { None }
}

/// The folders that are searched on this machine.
fn searched() -> Vec<PathBuf> {
    let program = env::current_exe().ok().and_then(|exe| exe.parent().map(Path::to_path_buf));
    folders(
        env::var_os("BAGWISE_DATA").map(PathBuf::from),
        env::current_dir().ok().into_iter().chain(program),
    )
}

/// The file that has the data of this name.
fn find(name: &str, folders: &[PathBuf]) -> Option<PathBuf> {
    let files = |folder: &PathBuf| ENDINGS.map(|ending| folder.join(format!("{name}.{ending}")));
    folders.iter().flat_map(files).find(|path| path.is_file())
}

/// The folders that are searched, those that exist: the one given, then `data` beside or above each start.
fn folders(given: Option<PathBuf>, starts: impl IntoIterator<Item = PathBuf>) -> Vec<PathBuf> {
    let mut folders: Vec<PathBuf> = given.into_iter().collect();
    for start in starts {
        folders.extend(start.ancestors().map(|folder| folder.join("data")));
    }
    let mut seen = std::collections::HashSet::new();
    folders.retain(|folder| folder.is_dir() && seen.insert(folder.clone()));
    folders
}

fn not_found(name: &str, folders: &[PathBuf]) -> Error {
    let places: Vec<String> = folders.iter().map(|f| f.display().to_string()).collect();
    let places = match places.len() {
        0 => "there is no folder called data here or in a parent folder".to_string(),
        _ => format!("looked for {name}.csv, {name}.csv.gz and similar names in {}", places.join(", ")),
    };
    if NAMES.contains(&name) {
        return Error::data(
            Place::of(name),
            format!("the data set was not found ({places})"),
            "run bagwise inside a checkout of the repository, or set BAGWISE_DATA to the folder that contains it",
        );
    }
    // "musk1.csv" is a path that is not there, but the name in it is one.
    let stem = name.split('.').next().unwrap_or(name);
    // A list of what is not here helps nobody; a slip in a name does not depend on where the data are.
    let here: Vec<&str> =
        NAMES.iter().copied().filter(|name| *name == "musk1" || find(name, folders).is_some()).collect();
    let near = |known: &[&str]| match Error::unknown("data set", stem, known.iter().copied()) {
        Error::Unknown { suggestion: Some(s), .. } if s.starts_with("did you mean") => Some(s),
        _ => None,
    };
    let suggestion = match Error::unknown("data set", stem, here) {
        _ if NAMES.contains(&stem) => format!("the data set is called '{stem}', without a file extension"),
        _ if near(NAMES).is_some() => near(NAMES).unwrap_or_default(),
        Error::Unknown { suggestion: Some(suggestion), .. } => suggestion,
        _ => "give a path or a name".to_string(),
    };
    Error::data(Place::of(name), format!("no such file or data set ({places})"), suggestion)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_data_that_are_here_are_listed() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("protein.csv"), "bag,label,f\n").unwrap();
        let said = |name: &str| not_found(name, &[folder.path().to_path_buf()]).to_string();
        assert!(said("nosuch.csv").ends_with("available: musk1, protein"), "{}", said("nosuch.csv"));
        assert!(said("elefant").ends_with("did you mean 'elephant'?"), "{}", said("elefant"));
    }

    #[test]
    fn a_name_is_found_in_the_folder_given_and_in_data_above() {
        let top = tempfile::tempdir().unwrap();
        let (given, data, deep) = (top.path().join("given"), top.path().join("data"), top.path().join("a/b"));
        for folder in [&given, &data, &deep] {
            std::fs::create_dir_all(folder).unwrap();
        }
        std::fs::write(data.join("assay.csv"), "bag,label,f1\na,1,2\n").unwrap();
        std::fs::write(data.join("words.sparse.gz"), "a 1 1:2\n").unwrap();
        let below = || folders(None, [deep.clone()]);
        assert_eq!(below()[0], data);
        assert_eq!(find("assay", &below()), Some(data.join("assay.csv")));
        assert_eq!(find("words", &below()), Some(data.join("words.sparse.gz")));
        assert_eq!(find("other", &below()), None);
        // What the user's variable names comes first.
        std::fs::write(given.join("assay.csv.gz"), "bag,label,f1\na,1,2\n").unwrap();
        assert_eq!(
            find("assay", &folders(Some(given.clone()), [deep.clone()])),
            Some(given.join("assay.csv.gz"))
        );
    }

    #[test]
    fn what_is_not_found_says_where_it_was_looked_for() {
        let error = not_found("musk2", &["/some/data".into()]).to_string();
        assert!(error.starts_with("musk2: the data set was not found (looked for musk2.csv,"), "{error}");
        assert!(error.contains("in /some/data); run bagwise inside a checkout"), "{error}");
        let error = not_found("assay", &[]).to_string();
        assert!(
            error.contains("(there is no folder called data here or in a parent folder); available: musk1"),
            "{error}"
        );
    }
}
