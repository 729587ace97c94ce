//! Writing a file whole or not at all: into a temporary file in the same folder, which takes the place of the
//! old one when everything has been written. A name that ends in `.gz` is compressed.

use std::fs::OpenOptions;
use std::io::{self, BufWriter, Write};
use std::path::Path;

use flate2::Compression;
use flate2::write::GzEncoder;

use super::has_ending;
use bagwise_core::{Error, Place, Result};

/// Writes a file through `fill`.
pub fn whole(path: &Path, fill: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> Result<()> {
    let explain = |e: io::Error| explain(path, e);
    check_ending(path)?;
    let gzip = has_ending(path, "gz");
    match path.metadata() {
        Ok(found) if found.is_dir() => Err(Error::data(
            Place::of(path.display().to_string()),
            "this is a folder",
            "give the name of a file in it",
        )),
        // A pipe or device cannot be replaced, only written to.
        Ok(found) if !found.is_file() => {
            let out = OpenOptions::new().write(true).open(path).map_err(explain)?;
            compressed(out, gzip, fill).map(drop).map_err(explain)
        }
        _ => {
            let file = temporary(path).map_err(explain)?;
            let file = compressed(file, gzip, fill).map_err(explain)?;
            file.as_file().sync_all().map_err(explain)?;
            file.persist(path).map_err(|e| explain(e.error)).map(drop)
        }
    }
}

/// Whether [`whole`] will be able to write there, before the work whose result it would write.
pub fn possible(path: &Path) -> Result<()> {
    match path.metadata() {
        // A pipe or device: not to be opened before there is something to say.
        Ok(found) if !found.is_file() && !found.is_dir() => Ok(()),
        // Its place is taken by a new file; what counts is the folder.
        Ok(found) if found.is_file() => {
            check_ending(path)?;
            temporary(path).map(drop).map_err(|e| explain(path, e))
        }
        Ok(_) => whole(path, |_| Ok(())),
        Err(_) => {
            whole(path, |_| Ok(()))?;
            std::fs::remove_file(path).map_err(|e| explain(path, e))
        }
    }
}

/// A file in the folder of another, whose place it may take.
fn temporary(path: &Path) -> io::Result<tempfile::NamedTempFile> {
    let folder = match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    };
    let mut builder = tempfile::Builder::new();
    builder.prefix(".bagwise-");
    #[cfg(unix)]
    {
        // As any new file: what the user's umask leaves of this.
        use std::os::unix::fs::PermissionsExt;
        builder.permissions(std::fs::Permissions::from_mode(0o666));
    }
    builder.tempfile_in(folder)
}

fn check_ending(path: &Path) -> Result<()> {
    if has_ending(path, "zst") {
        return Err(Error::data(
            Place::of(path.display().to_string()),
            "zstd is read, not written",
            "let the name end in .gz, or leave the file uncompressed",
        ));
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

fn explain(path: &Path, error: io::Error) -> Error {
    let place = Place::of(path.display().to_string());
    match error.kind() {
        io::ErrorKind::NotFound => {
            Error::data(place, "the folder does not exist", "create it, or write somewhere else")
        }
        io::ErrorKind::PermissionDenied => {
            Error::data(place, "permission denied", "write where you may, or ask the folder's owner")
        }
        io::ErrorKind::StorageFull => Error::data(place, "the disk is full", "make room, or write elsewhere"),
        // The temporary file's name would only confuse.
        _ => Error::Io {
            path: path.into(),
            source: error.raw_os_error().map_or(error, io::Error::from_raw_os_error),
        },
    }
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
    fn what_cannot_be_written_is_refused_with_its_name() {
        let folder = tempfile::tempdir().unwrap();
        let refuse = |path: &Path| whole(path, |_| Ok(())).unwrap_err().to_string();
        assert!(refuse(&folder.path().join("no/a.csv")).contains("a.csv: the folder does not exist"));
        assert!(refuse(folder.path()).contains("this is a folder"));
        assert!(refuse(&folder.path().join("a.csv.zst")).contains("zstd is read, not written"));
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
