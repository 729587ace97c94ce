//! Files that are read as a whole or from their end: models, records, rosters, settings, archives. They must be regular
//! files, because a pipe has no end to start from and may never give a byte, and those that are held in memory have a
//! largest size, which is looked at before anything is read.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use crate::error::{Error, Place, Result, human_bytes};

/// Refuses a pipe, device or socket before it is opened: opening a pipe waits for its writer. If the file does not exist, opening
/// it will report that.
pub fn require_regular(path: &Path) -> Result<()> {
    match path.metadata() {
        Ok(found) if !found.is_file() && !found.is_dir() => Err(Error::data(
            Place::of(path.display().to_string()),
            "this is not a regular file but a pipe, a device or a socket",
            "copy its content to a file first",
        )),
        _ => Ok(()),
    }
}

/// Opens a regular file of at most `most` bytes; `what` says what it should be: "a model".
pub fn open_bounded(path: &Path, what: &str, most: u64) -> Result<File> {
    require_regular(path)?;
    let file = File::open(path).map_err(|e| Error::io(path, e))?;
    let found = file.metadata().map_err(|e| Error::io(path, e))?;
    check_bound(path, what, found.len(), most)?;
    Ok(file)
}

/// Refuses what has more than `most` bytes.
pub fn check_bound(path: &Path, what: &str, bytes: u64, most: u64) -> Result<()> {
    if bytes <= most {
        return Ok(());
    }
    Err(Error::data(
        Place::of(path.display().to_string()),
        format!("the file has {}, but {what} has at most {}", human_bytes(bytes), human_bytes(most)),
        "is this the right file?",
    ))
}

/// The bytes of a regular file of at most `most` bytes.
pub fn read_bounded(path: &Path, what: &str, most: u64) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    let file = open_bounded(path, what, most)?;
    file.take(most.saturating_add(1)).read_to_end(&mut bytes).map_err(|e| Error::io(path, e))?;
    // It may have grown.
    check_bound(path, what, bytes.len() as u64, most)?;
    Ok(bytes)
}

/// Makes the name of a new file survive a power cut. Not every system and file system can, and none of them loses the file
/// without a power cut, so that only a disk that fails is reported.
pub fn sync_folder_of(path: &Path) -> Result<()> {
    use io::ErrorKind::{InvalidInput, PermissionDenied, Unsupported};
    if !cfg!(unix) {
        return Ok(());
    }
    match File::open(folder_of(path)).and_then(|folder| folder.sync_all()) {
        // A folder may be written to without being readable.
        Err(e) if ![InvalidInput, PermissionDenied, Unsupported].contains(&e.kind()) => {
            Err(explain_write(path, e))
        }
        _ => Ok(()),
    }
}

/// Makes a folder and those above it, so that they survive a power cut.
pub fn make_folder(folder: &Path) -> Result<()> {
    let is_missing = |f: &&Path| !f.as_os_str().is_empty() && !f.exists();
    let made: Vec<&Path> = folder.ancestors().take_while(is_missing).collect();
    std::fs::create_dir_all(folder).map_err(|e| explain_write(folder, e))?;
    made.into_iter().rev().try_for_each(sync_folder_of)
}

/// The folder that a path is in; the current one if it names none.
pub fn folder_of(path: &Path) -> &Path {
    match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    }
}

/// The error of a failed write to `path`, without the names of temporary files.
pub fn explain_write(path: &Path, error: io::Error) -> Error {
    let place = Place::of(path.display().to_string());
    match error.kind() {
        io::ErrorKind::NotFound => {
            Error::data(place, "the folder does not exist", "create it, or write somewhere else")
        }
        io::ErrorKind::PermissionDenied => {
            Error::data(place, "permission denied", "choose another folder, or change the permissions")
        }
        io::ErrorKind::AlreadyExists | io::ErrorKind::NotADirectory => {
            Error::data(place, "there is a file where a folder is needed", "name another folder")
        }
        io::ErrorKind::StorageFull => {
            Error::data(place, "the disk is full", "free some space, or write to another disk")
        }
        io::ErrorKind::QuotaExceeded => {
            Error::data(place, "the disk quota is exceeded", "free some space, or write to another disk")
        }
        io::ErrorKind::FileTooLarge => Error::data(
            place,
            "the file would exceed the file size limit of the system",
            "raise the limit, or write to another disk",
        ),
        _ => Error::Io { path: path.into(), source: without_path(error) },
    }
}

/// What the system said, without the name of the temporary file, which `tempfile` puts behind it and offers no way around.
fn without_path(error: io::Error) -> io::Error {
    match error.to_string().split_once(" at path ") {
        Some((said, _)) if error.raw_os_error().is_none() => io::Error::new(error.kind(), said),
        _ => error,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_failed_is_named_without_the_temporary_file() {
        let wrapped = io::Error::other("Input/output error (os error 5) at path \"/tmp/.bagwise-0\"");
        let said = explain_write(Path::new("m.bagwise"), wrapped).to_string();
        assert_eq!(said, "m.bagwise: Input/output error (os error 5)");
    }

    #[test]
    fn a_file_in_the_place_of_a_folder_is_named() {
        let file = std::env::temp_dir().join(format!("bagwise-file-{}", std::process::id()));
        std::fs::write(&file, "").unwrap();
        let said = [file.clone(), file.join("inside")].map(|f| make_folder(&f).unwrap_err().to_string());
        std::fs::remove_file(&file).unwrap();
        assert!(said.iter().all(|s| s.contains("there is a file where a folder is needed")), "{said:?}");
    }

    #[test]
    fn the_size_is_looked_at_first() {
        let path = std::env::temp_dir().join(format!("bagwise-files-{}", std::process::id()));
        std::fs::write(&path, "12345").unwrap();
        assert_eq!(read_bounded(&path, "a test", 5).unwrap(), b"12345");
        let said = read_bounded(&path, "a test", 4).unwrap_err().to_string();
        std::fs::remove_file(&path).unwrap();
        assert!(said.contains("the file has 5 bytes, but a test has at most 4 bytes"), "{said}");
        assert!(matches!(read_bounded(&path, "a test", 4), Err(Error::Io { .. })));
        assert!(read_bounded(Path::new("/dev/null"), "a test", 4).is_err() || !cfg!(unix));
    }
}
