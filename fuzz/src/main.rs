//! One program for every target, because linking takes longer than compiling one: `BAGWISE_FUZZ` names the target.

#![no_main]

use std::sync::OnceLock;

use bagwise_fuzz::{TARGETS, Target};

static CHOSEN: OnceLock<Target> = OnceLock::new();

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let target = CHOSEN.get_or_init(|| {
        let name = std::env::var("BAGWISE_FUZZ").expect("BAGWISE_FUZZ names a target");
        *TARGETS.iter().find(|target| target.0 == name).expect("BAGWISE_FUZZ names a target")
    });
    target.1(bytes);
});
