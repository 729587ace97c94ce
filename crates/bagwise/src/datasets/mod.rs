//! The data sets that experiments name: where each comes from, whether it is here, and how to get it. Most cannot be shipped
//! with the program. [`fetch`] takes one from its public source at a fixed commit, converts it with the readers of
//! `bagwise-io`, checks its bags, labels and values against a digest, and puts it where names are looked for.
//!
//! Downloading is left to `curl`, which every system that people use has. A client inside the program means a TLS library,
//! some thirty crates and certificates that age; curl brings all of these, and knows the user's proxy.

mod convert;
mod sources;

use std::fs::File;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use bagwise_core::files::make_folder;
use bagwise_core::{Dataset, Error, Message, Place, Result, Setting, human_bytes};
use bagwise_io::save::temporary_beside;
use bagwise_io::{ReadOptions, Task, is_here, path_of, read};
use bagwise_judge::content_digest;

use sources::SETS;
pub use sources::{KnownDataset, Origin};

/// A server that has what GitHub has, as `OWNER/REPOSITORY/COMMIT/PATH`.
const MIRROR: &str = "BAGWISE_MIRROR";
const GITHUB: &str = "https://raw.githubusercontent.com";

/// The largest file that is downloaded. No source is larger than 40 MB.
const MOST: u64 = 1_000_000_000;

/// Every data set that is known by name.
pub fn all() -> &'static [KnownDataset] {
    SETS
}

/// The data set of this name.
pub fn find(name: &str) -> Option<&'static KnownDataset> {
    SETS.iter().find(|set| set.name == name)
}

/// The same, or an error that says which there are.
pub fn known(name: &str) -> Result<&'static KnownDataset> {
    find(name).ok_or_else(|| Error::unknown("data set", name, SETS.iter().map(|set| set.name)))
}

impl KnownDataset {
    /// Whether there are data of this name.
    pub fn is_here(&self) -> bool {
        is_here(self.name)
    }

    /// The file that has them; none if they are in the program or not here.
    pub fn path(&self) -> Option<PathBuf> {
        path_of(self.name)
    }

    /// Where the source can be downloaded.
    pub fn url(&self) -> Option<String> {
        self.url_at(&server())
    }

    fn url_at(&self, server: &str) -> Option<String> {
        match self.origin {
            Origin::Shipped => None,
            Origin::GitHub { repository, commit, path, .. } => {
                Some(format!("{}/{repository}/{commit}/{path}", server.trim_end_matches('/')))
            }
        }
    }

    /// How the data are read: labels of some are measurements.
    fn options(&self) -> ReadOptions {
        let task = if self.is_regression() { Task::Regression } else { Task::Classification };
        ReadOptions { task, ..ReadOptions::default() }
    }

    /// The digest of the data that are here.
    pub fn digest_here(&self) -> Result<String> {
        content_digest(&read(self.name, &self.options())?)
    }

    fn check(&self, data: &Dataset, place: &str) -> Result<()> {
        let sizes = |bags: usize, instances: usize, width: usize| {
            format!("{bags} bags, {instances} instances, {width} attributes")
        };
        let found = (data.bags.len(), data.bags.instance_count(), data.bags.width());
        let refuse = |what: String| {
            let remedy =
                "the source may have changed or the download be damaged; try again, or take another copy";
            Err(Error::data(Place::of(place), what, remedy))
        };
        if found != (self.bags, self.instances, self.attributes) {
            let should = sizes(self.bags, self.instances, self.attributes);
            return refuse(format!(
                "it has {}, and {} has {should}",
                sizes(found.0, found.1, found.2),
                self.name
            ));
        }
        let digest = content_digest(data)?;
        if digest != self.digest {
            return refuse(format!(
                "its bags, labels and values are not those of {} (digest {digest}, not {})",
                self.name, self.digest
            ));
        }
        Ok(())
    }
}

/// Gets a data set by name: downloads its source, or takes it from a file of the user's, converts and checks it, and writes
/// `NAME.csv.gz` into the folder. The path of that file.
pub fn fetch(name: &str, from: Option<&Path>, folder: &Path) -> Result<PathBuf> {
    fetch_from(&server(), known(name)?, from, folder)
}

fn server() -> String {
    std::env::var(MIRROR).unwrap_or_else(|_| GITHUB.into())
}

fn fetch_from(server: &str, set: &KnownDataset, from: Option<&Path>, folder: &Path) -> Result<PathBuf> {
    let name = set.name;
    let url = set.url_at(server).unwrap_or_default();
    let Origin::GitHub { layout, .. } = set.origin else {
        return Err(Error::data(
            Place::of(name),
            "the data set comes with the repository of bagwise, in its folder data",
            format!("copy {name}.csv.gz from there to {}", folder.display()),
        ));
    };
    let target = folder.join(format!("{name}.csv.gz"));
    if target.exists() {
        // A table has no mark that says who wrote it; what counts is whether it is this data set.
        let here = read(&target.display().to_string(), &set.options());
        return match here.and_then(|data| content_digest(&data)) {
            Ok(digest) if digest == set.digest => Ok(target),
            _ => Err(Error::data(
                Place::of(target.display().to_string()),
                format!("a file of this name exists, and it is not {name}"),
                Message::from("move it, or name another folder").with([Setting::DataFolder]),
            )),
        };
    }
    make_folder(folder)?;
    let (source, loaded) = match from {
        Some(file) => (file.to_path_buf(), None),
        None => {
            // If the program is killed, writing the target removes it later.
            let loaded = temporary_beside(&target)?;
            download(name, &url, &loaded, MOST)?;
            (loaded.to_path_buf(), Some(loaded))
        }
    };
    let place = from.map_or(url, |file| file.display().to_string());
    let converted = convert::convert(set, layout, &source, &place).map_err(|e| match e {
        // The file of the download is gone when this is read.
        Error::Data { place: Place { source, line }, found, remedy }
            if loaded.as_deref() == Some(Path::new(&source)) =>
        {
            Error::Data { place: Place { source: place.clone(), line }, found, remedy }
        }
        other => other,
    });
    let checked = converted.and_then(|data| set.check(&data, &place).map(|()| data));
    drop(loaded);
    bagwise_io::write(&checked?, &target, None)?;
    Ok(target)
}

/// Where a data set goes if nobody says: the folder that is searched first.
pub fn default_folder() -> PathBuf {
    if let Some(folder) = std::env::var_os("BAGWISE_DATA") {
        return folder.into();
    }
    let here = std::env::current_dir().unwrap_or_default();
    let above = here.ancestors().map(|folder| folder.join("data")).find(|folder| folder.is_dir());
    above.unwrap_or_else(|| here.join("data"))
}

/// Downloads a file of at most so many bytes.
fn download(name: &str, url: &str, to: &Path, most: u64) -> Result<()> {
    let failed = match curl(url, to, most) {
        Ok(None) => return Ok(()),
        Ok(Some(failed)) => failed,
        Err(e) => e.to_string(),
    };
    Err(Error::data(
        Place::of(name),
        format!("{url} cannot be downloaded ({failed})"),
        Message::from("try again with a network, or download that file by other means and give it")
            .with([Setting::SourceFile]),
    ))
}

/// What went wrong, if anything did. The file comes through this process: curl before 8.4 only believes a server that says how long a
/// file is, and ends when this process does.
fn curl(url: &str, to: &Path, most: u64) -> io::Result<Option<String>> {
    let mut child = Command::new("curl")
        .args(["--fail", "--location", "--silent", "--show-error", "--connect-timeout", "20"])
        // A server that goes silent.
        .args(["--speed-limit", "10", "--speed-time", "60", "--url", url])
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(|e| io::Error::new(e.kind(), format!("curl cannot be started: {e}")))?;
    let copied = match child.stdout.take() {
        Some(from) => File::create(to).and_then(|mut file| io::copy(&mut from.take(most + 1), &mut file)),
        None => Ok(0),
    };
    if !matches!(copied, Ok(bytes) if bytes <= most) {
        // It may have ended by itself.
        let _ = child.kill();
    }
    let output = child.wait_with_output()?;
    if copied? > most {
        return Ok(Some(format!("it is larger than {}", human_bytes(most))));
    }
    let said = String::from_utf8_lossy(&output.stderr).trim().replace('\n', "; ");
    Ok((!output.status.success()).then_some(said))
}

#[cfg(test)]
mod tests;
