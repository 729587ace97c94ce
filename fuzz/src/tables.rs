//! The targets that read tables and arrays. They need nothing but the readers, and so are a program of their own, `tables`:
//! libFuzzer goes through the counters of the whole program after every execution, and nearly all of them are in learners.
//! `facade` is where that program and the other one have the names from.

use std::cell::RefCell;
use std::collections::HashMap;
use std::fs::File;
use std::io::{Seek as _, Write as _};
use std::path::{Path, PathBuf};

use super::facade::{Bags, ReadOptions, read, write};
use super::{made_mat, made_npz, made_parquet};

/// A target: its name, and what it does with the fuzzer's bytes.
pub type Target = (&'static str, fn(&[u8]));

/// Those that read tables and arrays.
pub const TABLES: &[Target] = &[
    ("arff", |bytes| table("a.arff", "arff", bytes)),
    ("c45", |bytes| table("a.data", "uci-musk", bytes)),
    ("csv", |bytes| table("a.csv", "csv", bytes)),
    ("gzip", |bytes| table("a.csv.gz", "csv", bytes)),
    ("labels", labels),
    ("made-mat", |bytes| table("a.mat", "matlab", &made_mat::file(bytes))),
    ("made-npz", |bytes| table("a.npz", "npz", &made_npz::file(bytes))),
    ("made-parquet", |bytes| table("a.parquet", "parquet", &made_parquet::file(bytes))),
    ("matlab", |bytes| table("a.mat", "matlab", bytes)),
    ("npy", npy),
    ("npz", |bytes| table("a.npz", "npz", bytes)),
    ("parquet", |bytes| table("a.parquet", "parquet", bytes)),
    ("sparse", |bytes| table("a.sparse", "sparse", bytes)),
    ("zstd", |bytes| table("a.csv.zst", "csv", bytes)),
];

thread_local! {
    static FOLDER: RefCell<Option<OpenFolder>> = const { RefCell::new(None) };
}

/// A folder, and its files, which stay open: the same few are filled again and again.
struct OpenFolder {
    folder: tempfile::TempDir,
    files: HashMap<String, (PathBuf, File)>,
}

/// A file with these bytes, in memory where the system has a place for that.
pub(crate) fn file(name: &str, bytes: &[u8]) -> PathBuf {
    FOLDER.with_borrow_mut(|open| {
        let open = open.get_or_insert_with(|| {
            let memory = Path::new("/dev/shm");
            let folder = if memory.is_dir() { tempfile::tempdir_in(memory) } else { tempfile::tempdir() };
            OpenFolder { folder: folder.expect("a folder for the file"), files: HashMap::new() }
        });
        if !open.files.contains_key(name) {
            let path = open.folder.path().join(name);
            std::fs::create_dir_all(path.parent().expect("inside the folder")).expect("a folder");
            let file = File::create(&path).expect("a file");
            open.files.insert(name.into(), (path, file));
        }
        let (path, file) = &mut open.files.get_mut(name).expect("just opened");
        file.rewind().and_then(|()| file.write_all(bytes)).expect("room for the file");
        file.set_len(bytes.len() as u64).expect("a file that can be cut");
        path.clone()
    })
}

/// A file whose bytes never change, written once.
pub(crate) fn fixed(name: &str, bytes: &[u8]) -> PathBuf {
    let known = FOLDER.with_borrow(|open| Some(open.as_ref()?.files.get(name)?.0.clone()));
    known.unwrap_or_else(|| file(name, bytes))
}

/// A refusal is short and has a remedy.
pub(crate) fn refused(message: &str) {
    assert!(message.contains("; "), "no remedy: {message}");
    assert!(message.chars().count() < 1500, "{message}");
}

/// Reads the bytes as a file of this name, in both moods, and writes what was read.
fn table(name: &str, format: &str, bytes: &[u8]) {
    let path = file(name, bytes);
    let typed = path.to_str().expect("a plain name");
    for lenient in [false, true] {
        let options = ReadOptions {
            format: Some(format.into()),
            allow_missing: lenient,
            unlabelled: lenient,
            ..ReadOptions::default()
        };
        match read(typed, &options) {
            Ok(data) => {
                check(&data.bags);
                assert!(lenient || !data.bags.has_missing());
                assert!(data.kept.iter().all(|k| k.values.len() == data.bags.instance_count()));
                if data.bags.instance_count() * data.bags.width() < 10_000 {
                    // Whatever was read can be written, or is refused with a reason. How a file takes the place of another
                    // does not depend on what is in it.
                    let nowhere = Path::new("/dev/null");
                    let to = if nowhere.exists() { nowhere } else { &path.with_file_name("out.csv") };
                    let _ = write(&data, to, Some("csv"));
                }
            }
            Err(error) => refused(&error.to_string()),
        }
    }
}

fn check(bags: &Bags) {
    assert!(bags.offsets().windows(2).all(|w| w[0] < w[1]));
    assert_eq!(bags.offsets().last(), Some(&bags.instance_count()));
    assert_eq!((bags.features().len(), bags.ids().len()), (bags.width(), bags.len()));
}

/// Any bytes as one bag of a folder of `.npy` files.
fn npy(bytes: &[u8]) {
    let path = file("bags/a.npy", bytes);
    table_in(path.parent().expect("inside the folder"), None);
}

/// Any bytes as the table of labels beside a folder of two bags.
fn labels(bytes: &[u8]) {
    let folder = fixed("labelled/a.npy", TWO_NUMBERS);
    fixed("labelled/b.npy", TWO_NUMBERS);
    let labels = file("labels.csv", bytes);
    table_in(folder.parent().expect("inside the folder"), Some(labels));
}

/// A `.npy` of two rows and one column.
const TWO_NUMBERS: &[u8] =
    b"\x93NUMPY\x01\x00\x36\x00{'descr':'<f4','fortran_order':False,'shape':(2,1)}  \n\
      \x00\x00\x80\x3f\x00\x00\x00\x40";

fn table_in(folder: &Path, labels: Option<PathBuf>) {
    for unlabelled in [false, true] {
        let options = ReadOptions { unlabelled, labels: labels.clone(), ..ReadOptions::default() };
        match read(folder.to_str().expect("a plain name"), &options) {
            Ok(data) => {
                check(&data.bags);
                let mut sum = 0.0;
                let rows = 0..data.bags.instance_count();
                let read = data.bags.instances().each_row(rows, |_, row| sum += row.iter().sum::<f64>());
                assert!(read.is_ok() && !sum.is_nan());
            }
            Err(error) => refused(&error.to_string()),
        }
    }
}
