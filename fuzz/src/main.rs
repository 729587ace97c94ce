//! The targets that need more than readers, in one program.

#![no_main]

mod chosen;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| chosen::run(bagwise_fuzz::OTHERS, bytes));
