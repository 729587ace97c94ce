//! Any bytes as CSV and TSV: read or refused, never a panic.

#![no_main]
libfuzzer_sys::fuzz_target!(|bytes: &[u8]| bagwise_fuzz::table("a.csv", "csv", bytes));
