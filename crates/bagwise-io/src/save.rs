//! Writing a file whole or not at all: into a temporary file in the same folder, which takes the place of the
//! old one when everything has been written and is on the disk. A name that ends in `.gz` is compressed.
//!
//! A process that is killed leaves its temporary file behind. Its name says which program made it and for which target, so
//! that the next one to write the same target removes it.

use std::fs::{DirEntry, OpenOptions};
use std::io::{self, BufWriter, Write};
use std::path::Path;
use std::time::{Duration, SystemTime};

use flate2::Compression;
use flate2::write::GzEncoder;

use super::has_ending;
use bagwise_core::files::{explain_write as explain, folder_of, sync_folder_of};
use bagwise_core::{Error, Place, Result, checksum};

/// Temporary files of this age belong to no process that is still writing.
const STALE: Duration = Duration::from_secs(3600);

/// Random letters at the end of a temporary name.
const LETTERS: usize = 6;

/// Writes a file through `fill`.
pub fn whole(path: &Path, fill: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> Result<()> {
    whole_checked(path, fill, |_| Ok(()))
}

/// The same, if `check` finds what was written, in the file it is given, to be good. A pipe or device is not read back.
pub fn whole_checked(
    path: &Path,
    fill: impl FnOnce(&mut dyn Write) -> io::Result<()>,
    check: impl FnOnce(&Path) -> Result<()>,
) -> Result<()> {
    let explain = |e: io::Error| explain(path, e);
    check_name(path)?;
    let gzip = has_ending(path, "gz");
    match path.metadata() {
        // A pipe or device cannot be replaced, only written to.
        Ok(found) if !found.is_file() => {
            let out = OpenOptions::new().write(true).open(path).map_err(explain)?;
            compressed(out, gzip, fill).map(drop).map_err(explain)
        }
        _ => {
            remove_stale(path);
            let file = temporary(path).map_err(explain)?;
            // Not to the wrapper, whose errors name the temporary file.
            compressed(file.as_file(), gzip, fill).map_err(explain)?;
            file.as_file().sync_all().map_err(explain)?;
            // The temporary file is no name that a user knows.
            check(file.path()).map_err(|e| match e {
                Error::Io { source, .. } => explain(source),
                other => other,
            })?;
            file.persist(path).map_err(|e| explain(e.error))?;
            sync_folder_of(path)
        }
    }
}

/// Whether [`whole`] will be able to write there, before the work whose result it would write. The target is not touched.
pub fn possible(path: &Path) -> Result<()> {
    check_name(path)?;
    match path.metadata() {
        // A pipe or device: not to be opened before there is something to say.
        Ok(found) if !found.is_file() => Ok(()),
        Err(e) if e.kind() != io::ErrorKind::NotFound => Err(explain(path, e)),
        // A new file takes the place of one that is there; what counts is the folder.
        _ => temporary(path).map(drop).map_err(|e| explain(path, e)),
    }
}

/// A file in the folder of another, whose place it may take.
fn temporary(path: &Path) -> io::Result<tempfile::NamedTempFile> {
    let prefix = temporary_prefix(path);
    let mut builder = tempfile::Builder::new();
    builder.prefix(&prefix).rand_bytes(LETTERS);
    #[cfg(unix)]
    {
        // As any new file: what the user's umask leaves of this.
        use std::os::unix::fs::PermissionsExt;
        builder.permissions(std::fs::Permissions::from_mode(0o666));
    }
    builder.tempfile_in(folder_of(path))
}

/// The path of an empty file in the folder of another; it is removed when the path is dropped.
pub fn temporary_beside(path: &Path) -> Result<tempfile::TempPath> {
    Ok(temporary(path).map_err(|e| explain(path, e))?.into_temp_path())
}

/// How the names of temporary files for a target begin: of fixed length, since a target's name may be as long as names can
/// be. Six letters follow.
pub fn temporary_prefix(path: &Path) -> String {
    let name = path.file_name().unwrap_or_default().as_encoded_bytes();
    let sum = checksum::of_bytes(name);
    format!(".bagwise-{sum:016x}-")
}

/// Whether the folder of a target does not exist, is empty, or has only what killed processes left of attempts to write this target.
pub fn is_first_in_folder(path: &Path) -> bool {
    let prefix = temporary_prefix(path);
    let is_left = |entry: io::Result<DirEntry>| entry.is_ok_and(|entry| is_temporary(&entry, &prefix));
    match std::fs::read_dir(folder_of(path)) {
        Ok(mut entries) => entries.all(is_left),
        Err(e) => e.kind() == io::ErrorKind::NotFound,
    }
}

/// Whether an entry of a folder is a temporary file whose name begins so. Of a link only the link counts.
fn is_temporary(entry: &DirEntry, prefix: &str) -> bool {
    let name = entry.file_name();
    let letters = name.to_str().and_then(|name| name.strip_prefix(prefix));
    letters.is_some_and(|l| l.len() == LETTERS && l.bytes().all(|b| b.is_ascii_alphanumeric()))
        && entry.metadata().is_ok_and(|found| found.is_file())
}

/// Removes what killed processes left of earlier attempts to write this target.
fn remove_stale(path: &Path) {
    let prefix = temporary_prefix(path);
    let Ok(entries) = std::fs::read_dir(folder_of(path)) else { return };
    for entry in entries.flatten().filter(|entry| is_temporary(entry, &prefix)) {
        let Ok(found) = entry.metadata() else { continue };
        let age = found.modified().ok().and_then(|then| SystemTime::now().duration_since(then).ok());
        if age.is_some_and(|age| age > STALE) {
            let _ = std::fs::remove_file(entry.path());
        }
    }
}

fn check_name(path: &Path) -> Result<()> {
    let refuse =
        |found: &str, remedy: &str| Err(Error::data(Place::of(path.display().to_string()), found, remedy));
    if path.is_dir() {
        return refuse("this is a folder", "give a file name");
    }
    if path.file_name().is_none() || path.as_os_str().as_encoded_bytes().ends_with(b"/") {
        return refuse("this is not a file name", "give one");
    }
    if has_ending(path, "zst") {
        return refuse("zstd can be read but not written", "use .gz, or leave the file uncompressed");
    }
    Ok(())
}

fn compressed<W: Write>(
    out: W,
    gzip: bool,
    fill: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> io::Result<W> {
    let out = if gzip {
        let mut out = BufWriter::new(GzEncoder::new(out, Compression::default()));
        fill(&mut out)?;
        out.into_inner().map_err(io::IntoInnerError::into_error)?.finish()?
    } else {
        let mut out = BufWriter::new(out);
        fill(&mut out)?;
        out.into_inner().map_err(io::IntoInnerError::into_error)?
    };
    Ok(out)
}

/// The shortest text that is read back as the same number. Very large and small ones get an exponent, since
/// Rust would otherwise spell out three hundred zeros.
pub fn number(value: f64, text: &mut String) {
    use std::fmt::Write;
    text.clear();
    let size = value.abs();
    let done = if value != 0.0 && !(1e-5..1e16).contains(&size) {
        write!(text, "{value:e}")
    } else {
        write!(text, "{value}")
    };
    done.expect("a String takes any text");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_come_back_as_they_were() {
        let mut text = String::new();
        for value in [0.0, -0.0, 1.0, -2.5, 0.1, 1e300, 5e-324, f64::MAX, 1.0 / 3.0, 1e16, 123_456_789.125] {
            number(value, &mut text);
            assert_eq!(text.parse::<f64>().unwrap().to_bits(), value.to_bits(), "{text}");
            assert!(text.len() < 26, "{text}");
        }
    }

    #[test]
    fn a_failure_leaves_the_old_file_and_nothing_else() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.csv");
        whole(&path, |out| out.write_all(b"old")).unwrap();
        let failed = whole(&path, |out| {
            out.write_all(b"half of the new")?;
            Err(io::Error::other("the writer gave up"))
        });
        assert!(failed.unwrap_err().to_string().contains("the writer gave up"));
        assert_eq!(std::fs::read(&path).unwrap(), b"old");
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    #[test]
    fn a_folder_with_nothing_but_a_broken_attempt_is_as_good_as_empty() {
        let folder = tempfile::tempdir().unwrap();
        let target = folder.path().join("new").join("a.json");
        assert!(is_first_in_folder(&target), "the folder does not exist");
        let target = folder.path().join("a.json");
        assert!(is_first_in_folder(&target), "the folder is empty");
        let left = |of: &str| format!("{}abc123", temporary_prefix(Path::new(of)));
        std::fs::write(folder.path().join(left("a.json")), "half").unwrap();
        assert!(is_first_in_folder(&target), "only a temporary file of the target");
        std::fs::write(folder.path().join(left("b.json")), "half").unwrap();
        assert!(!is_first_in_folder(&target), "a temporary file of another target");
        std::fs::remove_file(folder.path().join(left("b.json"))).unwrap();
        std::fs::create_dir(folder.path().join(left("a.json") + "4")).unwrap();
        assert!(!is_first_in_folder(&target), "something of the user's");
    }

    #[test]
    fn what_cannot_be_written_is_refused_with_its_name() {
        let folder = tempfile::tempdir().unwrap();
        let refuse = |path: &Path| whole(path, |_| Ok(())).unwrap_err().to_string();
        assert!(refuse(&folder.path().join("no/a.csv")).contains("a.csv: the folder does not exist"));
        assert!(refuse(folder.path()).contains("this is a folder"));
        assert!(refuse(&folder.path().join("a.csv.zst")).contains("zstd can be read but not written"));
    }

    #[test]
    fn a_file_that_cannot_be_read_back_is_called_by_its_own_name() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.csv");
        let unreadable = |written: &Path| Err(Error::io(written, io::Error::other("no more files")));
        let said = whole_checked(&path, |_| Ok(()), unreadable).unwrap_err().to_string();
        assert!(said.contains("a.csv") && said.contains("no more files"), "{said}");
        assert!(!said.contains(".bagwise-"), "{said}");
    }

    #[cfg(unix)]
    #[test]
    fn a_new_file_has_the_usual_rights() {
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().unwrap();
        let (ours, usual) = (folder.path().join("a"), folder.path().join("b"));
        whole(&ours, |_| Ok(())).unwrap();
        std::fs::write(&usual, "").unwrap();
        let mode = |p: &Path| p.metadata().unwrap().permissions().mode();
        assert_eq!(mode(&ours), mode(&usual));
    }
}
