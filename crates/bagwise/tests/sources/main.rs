//! Rules about the sources of the library that no tool checks: layers, the wording of messages, the names of types,
//! unsafe code, and links in documents.

mod layers;
mod links;
mod names;
mod unsafe_code;
mod wording;

use std::path::{Path, PathBuf};

/// The crates that the command line and Python share.
const LIBRARY: [&str; 7] = [
    "bagwise",
    "bagwise-core",
    "bagwise-engine",
    "bagwise-io",
    "bagwise-judge",
    "bagwise-report",
    "bagwise-svm",
];

/// The folder that holds all crates.
fn crates() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("crates/bagwise lies in crates/")
}

/// All Rust files below a folder.
fn rust_files(folder: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for entry in std::fs::read_dir(folder).expect("a source folder is readable") {
        let path = entry.expect("a folder can be listed").path();
        if path.is_dir() {
            files.extend(rust_files(&path));
        } else if path.extension().is_some_and(|e| e == "rs") {
            files.push(path);
        }
    }
    files
}
