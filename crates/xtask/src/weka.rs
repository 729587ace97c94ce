//! Weka as a peer: where it lies, the data as it reads them, and the time that it took.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result, bail};
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

/// CPU seconds of ten folds of a class in `weka.classifiers.mi`, the start of Java included but not an evaluation on training
/// data, and what it says of its accuracy.
pub(crate) fn cross_validate(data: &Dataset, class: &str, given: &[&str]) -> Result<(f64, String)> {
    let jar = jar()?;
    let folder = std::env::temp_dir().join(format!("bagwise-bench-weka-{}", std::process::id()));
    std::fs::create_dir_all(&folder)?;
    let arff = write(data, &folder)?;
    let before = children_seconds();
    let output = Command::new("java")
        .args(["-Xmx4g", "-cp", jar, &format!("weka.classifiers.mi.{class}"), "-x", "10", "-v", "-o", "-t"])
        .arg(&arff)
        .args(given)
        .output()
        .context("starting java")?;
    let seconds = children_seconds() - before;
    std::fs::remove_dir_all(&folder)?;
    let text =
        String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
    match text.lines().find(|l| l.starts_with("Correctly Classified")) {
        Some(line) => Ok((seconds, line.split_whitespace().collect::<Vec<_>>().join(" "))),
        None => bail!("Weka said: {}", text.lines().take(3).collect::<Vec<_>>().join(" / ")),
    }
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
