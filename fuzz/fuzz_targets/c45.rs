#![no_main]
libfuzzer_sys::fuzz_target!(|bytes: &[u8]| bagwise_fuzz::table("a.data", "uci-musk", bytes));
