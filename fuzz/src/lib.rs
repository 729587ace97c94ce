//! What every target asks of a reader: a data set that keeps its promises, or an error with the file's name and a
//! remedy. Panics, hangs and memory are the fuzzer's to notice.

use std::cell::RefCell;
use std::path::PathBuf;

use bagwise::Bags;
use bagwise::io::{ReadOptions, read, write};

thread_local! {
    static FOLDER: RefCell<Option<tempfile::TempDir>> = const { RefCell::new(None) };
}

/// A file with these bytes, in memory where the system has a place for that.
pub fn file(name: &str, bytes: &[u8]) -> PathBuf {
    FOLDER.with_borrow_mut(|folder| {
        let folder = folder.get_or_insert_with(|| {
            let memory = std::path::Path::new("/dev/shm");
            if memory.is_dir() { tempfile::tempdir_in(memory) } else { tempfile::tempdir() }
                .expect("a folder for the file")
        });
        let path = folder.path().join(name);
        std::fs::create_dir_all(path.parent().expect("inside the folder")).expect("a folder");
        std::fs::write(&path, bytes).expect("room for the file");
        path
    })
}

/// Reads the bytes as a file of this name, in both moods, and writes what was read.
pub fn table(name: &str, format: &str, bytes: &[u8]) {
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
                    // Whatever was read can be written, or is refused with a reason.
                    let to = path.with_file_name("out.csv");
                    let _ = write(&data, &to, None);
                }
            }
            Err(error) => {
                let message = error.to_string();
                assert!(message.contains("; "), "no remedy: {message}");
                assert!(message.chars().count() < 1500, "{message}");
            }
        }
    }
}

fn check(bags: &Bags) {
    assert!(bags.offsets().windows(2).all(|w| w[0] < w[1]));
    assert_eq!(bags.offsets().last(), Some(&bags.instance_count()));
    assert_eq!((bags.features().len(), bags.ids().len()), (bags.width(), bags.len()));
}
