//! Any bytes as files of records: read or refused, never a panic.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let path = bagwise_fuzz::file("records.jsonl", bytes);
    if let Err(error) = bagwise::judge::read_records(&path) {
        assert!(error.to_string().contains("; "), "no remedy: {error}");
    }
});
