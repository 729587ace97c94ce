//! Weka as a peer: where it lies, the data as it reads them, and the time that it took.

use std::path::{Path, PathBuf};

use anyhow::Result;
use bagwise::Dataset;

/// Where Debian's package `weka` puts it.
const JAR: &str = "/usr/share/java/weka.jar";

/// Weka, where it is installed.
pub(crate) fn jar() -> Result<&'static str> {
    anyhow::ensure!(Path::new(JAR).is_file(), "there is no {JAR} (Debian's package weka)");
    Ok(JAR)
}

/// Writes bags as Weka's multi-instance classifiers read them: a bag is a table in one cell.
pub(crate) fn write(data: &Dataset, folder: &Path) -> Result<PathBuf> {
    let plain = Dataset { groups: None, kept: Vec::new(), instance_labels: None, ..data.clone() };
    let path = folder.join("bags.arff");
    bagwise::io::write(&plain, &path, None)?;
    Ok(path)
}

/// CPU seconds of all processes that were waited for.
#[cfg(unix)]
pub(crate) fn children_seconds() -> f64 {
    // SAFETY: all zeros is a value of this struct of numbers; the pointer is to it.
    let usage = unsafe {
        let mut usage: libc::rusage = std::mem::zeroed();
        assert_eq!(libc::getrusage(libc::RUSAGE_CHILDREN, &mut usage), 0, "the usage of children");
        usage
    };
    let seconds = |t: libc::timeval| t.tv_sec as f64 + t.tv_usec as f64 * 1e-6;
    seconds(usage.ru_utime) + seconds(usage.ru_stime)
}

/// Where the system does not tell, nothing is known.
#[cfg(not(unix))]
pub(crate) fn children_seconds() -> f64 {
    f64::NAN
}
