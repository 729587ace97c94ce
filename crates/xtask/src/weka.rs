//! Weka as a peer: where it lies, the data as it reads them, what it predicts, and the time that it took.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result, bail, ensure};
use bagwise::Dataset;
use bagwise::judge::Fold;

use crate::run::{program, run, say, target};

/// Where Debian's package `weka` puts it.
const JAR: &str = "usr/share/java/weka.jar";

/// Weka, where it is installed; otherwise from Debian's package, unpacked under `target/weka`.
pub(crate) fn jar() -> Result<PathBuf> {
    let installed = Path::new("/").join(JAR);
    if installed.is_file() {
        return Ok(installed);
    }
    let folder = target().join("weka");
    let unpacked = folder.join(JAR);
    if !unpacked.is_file() {
        say("downloading Debian's package weka");
        std::fs::create_dir_all(&folder)?;
        let mut download = program("apt-get", &["-qq", "download", "weka"]);
        download.current_dir(&folder);
        run(download).context("Weka is neither installed nor in the archives of apt (package weka)")?;
        let mut files = std::fs::read_dir(&folder)?.filter_map(|f| Some(f.ok()?.path()));
        let package = files.find(|f| f.extension().is_some_and(|e| e == "deb")).context("no package came")?;
        let mut unpack = program("dpkg-deb", &["-x"]);
        unpack.args([&package, &folder]);
        run(unpack)?;
        ensure!(unpacked.is_file(), "the package has no {JAR}");
    }
    Ok(unpacked)
}

/// A folder of our own that is removed in the end.
struct Scratch(PathBuf);

impl Scratch {
    fn new() -> Result<Scratch> {
        let folder = std::env::temp_dir().join(format!("bagwise-bench-weka-{}", std::process::id()));
        std::fs::create_dir_all(&folder)?;
        Ok(Scratch(folder))
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn java(jar: &Path, class: &str) -> Command {
    let mut command = Command::new("java");
    command.arg("-Xmx4g").arg("-cp").arg(jar).arg(format!("weka.classifiers.mi.{class}"));
    command
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
    let (jar, folder) = (jar()?, Scratch::new()?);
    let arff = write(data, &folder.0)?;
    let before = children_seconds();
    let output = java(&jar, class)
        .args(["-x", "10", "-v", "-o", "-t"])
        .arg(&arff)
        .args(given)
        .output()
        .context("starting java")?;
    let seconds = children_seconds() - before;
    let text =
        String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
    match text.lines().find(|l| l.starts_with("Correctly Classified")) {
        Some(line) => Ok((seconds, line.split_whitespace().collect::<Vec<_>>().join(" "))),
        None => bail!("Weka said: {}", text.lines().take(3).collect::<Vec<_>>().join(" / ")),
    }
}

/// The classes that a class in `weka.classifiers.mi` predicts for the test bags of a fold, as codes.
pub(crate) fn predict(data: &Dataset, fold: &Fold, class: &str, given: &[&str]) -> Result<Vec<u32>> {
    let (jar, folder) = (jar()?, Scratch::new()?);
    // One header for both files: a line after it is a bag.
    let text = std::fs::read_to_string(write(data, &folder.0)?)?;
    let (header, rows) = text.split_once("@data\n").context("an ARFF file has data")?;
    let rows: Vec<&str> = rows.lines().collect();
    ensure!(rows.len() == data.bags.len(), "{} lines for {} bags", rows.len(), data.bags.len());
    let mut files = Vec::new();
    for (name, bags) in [("train.arff", &fold.train), ("test.arff", &fold.test)] {
        let own: String = bags.iter().map(|&b| format!("{}\n", rows[b])).collect();
        files.push(folder.0.join(name));
        std::fs::write(folder.0.join(name), format!("{header}@data\n{own}"))?;
    }
    let output = java(&jar, class)
        .arg("-t")
        .arg(&files[0])
        .arg("-T")
        .arg(&files[1])
        .args(["-p", "0"])
        .args(given)
        .output()
        .context("starting java")?;
    let said = String::from_utf8_lossy(&output.stdout);
    // A line: number, actual, predicted (its place among the classes and its name), a plus where they differ, probability.
    let code = |line: &str| -> Option<u32> {
        let words: Vec<&str> = line.split_whitespace().collect();
        words.first()?.parse::<usize>().ok()?;
        words.get(2)?.split_once(':')?.0.parse::<u32>().ok()?.checked_sub(1)
    };
    let found: Vec<u32> = said.lines().filter_map(code).collect();
    let error = String::from_utf8_lossy(&output.stderr);
    ensure!(
        found.len() == fold.test.len(),
        "Weka predicted {} of {} bags: {}",
        found.len(),
        fold.test.len(),
        error.lines().take(3).collect::<Vec<_>>().join(" / ")
    );
    Ok(found)
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
