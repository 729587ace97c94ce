//! The files of `fuzz/corpus`, through the targets that the fuzzer runs: what it once found, and the smallest files that reach
//! the most. No target may panic.

#[path = "../../../fuzz/src/lib.rs"]
#[allow(unreachable_pub, reason = "it is the library of the fuzzer")]
mod targets;

use std::path::Path;

#[test]
fn no_file_of_the_corpus_breaks_its_reader() {
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus");
    let mut count = 0;
    let all = targets::TABLES.iter().chain(targets::OTHERS);
    for (name, target) in all.clone() {
        let files = std::fs::read_dir(corpus.join(name));
        let files =
            files.unwrap_or_else(|e| panic!("fuzz/corpus/{name}: {e}; run `cargo xtask fuzz corpus`"));
        for file in files {
            let path = file.unwrap().path();
            let bytes = std::fs::read(&path).unwrap();
            let passed = std::panic::catch_unwind(|| target(&bytes)).is_ok();
            assert!(passed, "{}", path.display());
            count += 1;
        }
    }
    assert!(count >= 3 * all.count(), "only {count} files");
}
