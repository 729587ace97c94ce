//! The targets that need more than readers, in one program because linking takes longer than compiling one: `BAGWISE_FUZZ`
//! names the target.

#![no_main]

use std::sync::OnceLock;

use bagwise_fuzz::{OTHERS, Target};

static CHOSEN: OnceLock<Target> = OnceLock::new();

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let target = CHOSEN.get_or_init(|| {
        // Small data are done before another thread has woken up.
        let own = rayon::ThreadPoolBuilder::new().num_threads(1).use_current_thread().build_global();
        own.expect("the first threads of the process");
        let name = std::env::var("BAGWISE_FUZZ").expect("BAGWISE_FUZZ names a target");
        *OTHERS.iter().find(|target| target.0 == name).expect("BAGWISE_FUZZ names a target")
    });
    target.1(bytes);
});
