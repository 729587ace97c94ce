//! Any bytes as the C4.5 form of musk: read or refused, never a panic.

#![no_main]
libfuzzer_sys::fuzz_target!(|bytes: &[u8]| bagwise_fuzz::table("a.data", "uci-musk", bytes));
