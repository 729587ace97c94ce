//! The targets that read tables and arrays, in one program.

#![no_main]

#[path = "../src/choices.rs"]
mod choices;
#[path = "../src/chosen.rs"]
mod chosen;
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

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| chosen::run(tables::TABLES, bytes));
