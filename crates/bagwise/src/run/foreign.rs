//! Files in the folder of a run that bagwise did not write. They are known by their content: a table by its columns, JSON by the
//! names that ours has. The command line looks at the report itself.

use std::fs::File;
use std::io::Read as _;
use std::path::Path;

use bagwise_core::files::read_bounded;
use bagwise_core::{Error, Message, Place, Result, Setting};
use bagwise_judge::write_predictions;
use serde::de::IgnoredAny;
use std::collections::BTreeMap;

use super::files::{CONTEXT, DIFFERENCES, FOLDS, PLAN, PREDICTIONS, ROSTER, SUMMARY};

/// Names that the JSON files of a run have, in all versions and for all commands.
const NAMES: [(&str, &[&str]); 5] = [
    (PLAN, &["request", "measured", "methods"]),
    (FOLDS, &["splits", "seed", "repeats"]),
    (ROSTER, &["data", "fingerprint", "bags", "truth"]),
    (SUMMARY, &["data", "optimized", "optimistic"]),
    (CONTEXT, &["command", "version", "setups"]),
];

/// The largest of these files, as those who read them have it.
const MOST: u64 = 1_000_000_000;

/// Refuses a folder in which a run would replace files that no run wrote.
pub(super) fn check_files(folder: &Path) -> Result<()> {
    let mut columns = Vec::new();
    write_predictions(&[], &mut columns)?;
    for (name, start) in [(PREDICTIONS, &columns[..]), (DIFFERENCES, b"method,against,difference,")] {
        let path = folder.join(name);
        if !begins_with(&path, start)? {
            return Err(foreign(&path));
        }
    }
    for (name, names) in NAMES {
        let path = folder.join(name);
        if path.exists() && !has_names(&read_bounded(&path, "a file of a run", MOST)?, names) {
            return Err(foreign(&path));
        }
    }
    Ok(())
}

/// Whether a file begins like this, is empty, or does not exist.
fn begins_with(path: &Path, start: &[u8]) -> Result<bool> {
    let Ok(file) = File::open(path) else { return Ok(true) };
    let mut head = Vec::new();
    file.take(start.len() as u64).read_to_end(&mut head).map_err(|e| Error::io(path, e))?;
    Ok(head.is_empty() || head == start)
}

/// Whether JSON has all of these names at the top. There is nothing to lose in an empty file.
fn has_names(bytes: &[u8], names: &[&str]) -> bool {
    let found: Result<BTreeMap<String, IgnoredAny>, _> = serde_json::from_slice(bytes);
    bytes.is_empty() || found.is_ok_and(|found| names.iter().all(|name| found.contains_key(*name)))
}

fn foreign(path: &Path) -> Error {
    Error::data(
        Place::of(path.display().to_string()),
        "this file is damaged, or was not written by bagwise; it would be overwritten",
        Message::from("move it, name another folder, or overwrite it").with([Setting::Overwrite]),
    )
}
