//! A folder with one file.
#![no_main]

use bagwise::io::{ReadOptions, read};

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let path = bagwise_fuzz::file("bags/a.npy", bytes);
    let folder = path.parent().expect("a folder").to_str().expect("a plain name").to_string();
    let options = ReadOptions { unlabelled: true, ..ReadOptions::default() };
    match read(&folder, &options) {
        Ok(data) => {
            let mut sum = 0.0;
            let rows = 0..data.bags.instance_count();
            let read = data.bags.instances().each_row(rows, |_, row| sum += row.iter().sum::<f64>());
            assert!(read.is_ok() && !sum.is_nan());
        }
        Err(error) => assert!(error.to_string().contains("; "), "no remedy: {error}"),
    }
});
