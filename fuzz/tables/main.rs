//! The targets that read tables and arrays, in one program: `BAGWISE_FUZZ` names the target.

#![no_main]

#[path = "../src/choices.rs"]
mod choices;
#[path = "../src/made_mat.rs"]
mod made_mat;
#[path = "../src/made_npz.rs"]
mod made_npz;
#[path = "../src/made_parquet.rs"]
mod made_parquet;
#[path = "../src/tables.rs"]
mod tables;

/// What the targets use.
mod facade {
    pub(crate) use bagwise_core::Bags;
    pub(crate) use bagwise_io::{ReadOptions, read, write};
}

use std::sync::OnceLock;

use tables::{TABLES, Target};

static CHOSEN: OnceLock<Target> = OnceLock::new();

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let target = CHOSEN.get_or_init(|| {
        // Small data are done before another thread has woken up.
        let own = rayon::ThreadPoolBuilder::new().num_threads(1).use_current_thread().build_global();
        own.expect("the first threads of the process");
        let name = std::env::var("BAGWISE_FUZZ").expect("BAGWISE_FUZZ names a target");
        *TABLES.iter().find(|target| target.0 == name).expect("BAGWISE_FUZZ names a target")
    });
    target.1(bytes);
});
