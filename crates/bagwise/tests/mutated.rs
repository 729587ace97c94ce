//! Valid files, changed at random: the reader returns a data set or a message with the file's name. It never
//! panics, and never works for long.

use std::io::Write;
use std::time::{Duration, Instant};

use bagwise::io::{Column, ReadOptions, read};
use flate2::Compression;
use flate2::write::GzEncoder;
use proptest::prelude::*;
use ruzstd::encoding::{CompressionLevel, compress_to_vec};

fn csv() -> Vec<u8> {
    let mut text = b"bag,label,group,instance_label,colour,f1,\"f,2\"\n".to_vec();
    for row in 0..40 {
        let bag = row / 4;
        let colour = ["red", "\"dark \"\"blue\"\"\"", "green"][row % 3];
        writeln!(text, "b{bag},{},g{},{},{colour},{}.25,-1e{}", bag % 2, bag / 2, row % 2, row, row % 20)
            .unwrap();
    }
    text
}

fn sparse() -> Vec<u8> {
    let mut text = b"# bag label index:value\n".to_vec();
    for row in 0..40 {
        writeln!(text, "b{} {} {}:0.5 {}:{row} 99:1e-3", row / 4, row / 4 % 2, 1 + row % 5, 7 + row).unwrap();
    }
    text
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

fn files() -> Vec<(&'static str, Vec<u8>)> {
    let fixture = |file: &'static str| {
        (file, std::fs::read(format!("{}/tests/data/{file}", env!("CARGO_MANIFEST_DIR"))).unwrap())
    };
    let tabs = csv().into_iter().map(|b| if b == b',' { b'\t' } else { b }).collect();
    vec![
        ("a.csv", csv()),
        ("a.csv", String::from_utf8(csv()).unwrap().replace('\n', "\r\n").into_bytes()),
        ("a.tsv", tabs),
        ("a.sparse", sparse()),
        ("a.data", sparse()),
        ("a.csv.gz", gzip(&csv())),
        ("a.csv.zst", compress_to_vec(&csv()[..], CompressionLevel::Fastest)),
        ("a.sparse.gz", gzip(&sparse())),
        ("clean1.data", b"m1,m1_1,1,2,0.\nm1,m1_2,3,4,0.\nm2,m2_1,5,6,1.\n".to_vec()),
        ("a.arff.gz", gzip(&fixture("weka_bags.arff").1)),
        fixture("weka_bags.arff"),
        fixture("weka_sparse.arff"),
        fixture("numpy_ids.npz"),
        fixture("numpy_offsets.npz"),
        fixture("numpy_half_big.npz"),
        fixture("scipy_cells.mat"),
        fixture("scipy_matrix.mat"),
        fixture("scipy_texts.mat"),
        fixture("scipy_sparse_pairs.mat"),
        fixture("pandas_wide.parquet"),
        fixture("pandas_mixed.parquet"),
        fixture("pandas_zstd.parquet"),
        fixture("pyarrow_lists.parquet"),
        fixture("pyarrow_fixed.parquet"),
        fixture("pyarrow_split.parquet"),
    ]
}

#[derive(Clone, Debug)]
enum Change {
    Flip { at: usize, bits: u8 },
    Cut { at: usize },
    Insert { at: usize, bytes: Vec<u8> },
    Remove { at: usize, count: usize },
    Copy { from: usize, to: usize, count: usize },
    SwapLines { a: usize, b: usize },
}

fn change() -> impl Strategy<Value = Change> {
    let at = || any::<prop::sample::Index>().prop_map(|i| i.index(1 << 20));
    // Bytes that mean something to a parser are likelier than others to confuse it.
    let byte =
        prop_oneof![any::<u8>(), prop::sample::select(b",;\t\n\r\"': \0#?.-+eE0919NaInf{}%\\@\xff".to_vec())];
    prop_oneof![
        (at(), any::<u8>()).prop_map(|(at, bits)| Change::Flip { at, bits }),
        at().prop_map(|at| Change::Cut { at }),
        (at(), prop::collection::vec(byte, 1..12)).prop_map(|(at, bytes)| Change::Insert { at, bytes }),
        (at(), 1usize..40).prop_map(|(at, count)| Change::Remove { at, count }),
        (at(), at(), 1usize..200).prop_map(|(from, to, count)| Change::Copy { from, to, count }),
        (at(), at()).prop_map(|(a, b)| Change::SwapLines { a, b }),
    ]
}

fn apply(bytes: &mut Vec<u8>, change: &Change) {
    let place = |at: usize, len: usize| at % (len + 1);
    let len = bytes.len();
    match change {
        Change::Flip { at, bits } => {
            if len > 0 {
                bytes[at % len] ^= bits;
            }
        }
        Change::Cut { at } => bytes.truncate(place(*at, len)),
        Change::Insert { at, bytes: new } => {
            let at = place(*at, len);
            bytes.splice(at..at, new.iter().copied());
        }
        Change::Remove { at, count } => {
            let at = place(*at, len);
            bytes.drain(at..(at + count).min(len));
        }
        Change::Copy { from, to, count } => {
            let from = place(*from, len);
            let piece = bytes[from..(from + count).min(len)].to_vec();
            let to = place(*to, len);
            bytes.splice(to..to, piece);
        }
        Change::SwapLines { a, b } => {
            let mut lines: Vec<Vec<u8>> =
                bytes.split_inclusive(|&b| b == b'\n').map(<[u8]>::to_vec).collect();
            if !lines.is_empty() {
                let count = lines.len();
                lines.swap(a % count, b % count);
            }
            *bytes = lines.concat();
        }
    }
}

fn options() -> impl Strategy<Value = ReadOptions> {
    let column = || prop::sample::select(vec!["bag", "label", "colour", "f1", "1", "2", "7", "nothing"]);
    (
        any::<(bool, bool)>(),
        prop::option::of(any::<bool>()),
        prop::option::weighted(0.2, column()),
        prop::option::weighted(0.2, column()),
        prop::option::weighted(0.2, column()),
    )
        .prop_map(|((allow_missing, unlabelled), header, label, keep, categorical)| {
            let parse = |name: &str| -> Column { name.parse().unwrap() };
            ReadOptions {
                allow_missing,
                unlabelled,
                header,
                label: label.map(parse),
                keep: keep.map(parse).into_iter().collect(),
                categorical: categorical.map(parse).into_iter().collect(),
                ..ReadOptions::default()
            }
        })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(6000))]

    #[test]
    fn a_changed_file_is_read_or_refused(
        (file, mut bytes) in prop::sample::select(files()),
        changes in prop::collection::vec(change(), 1..5),
        options in options(),
    ) {
        for change in &changes {
            apply(&mut bytes, change);
        }
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(file);
        std::fs::write(&path, &bytes).unwrap();
        let typed = path.to_str().unwrap();
        let start = Instant::now();
        match read(typed, &options) {
            Ok(data) => {
                // What is promised of bags holds.
                prop_assert!(data.bags.offsets().windows(2).all(|w| w[0] < w[1]));
                prop_assert_eq!(data.bags.features().len(), data.bags.width());
                prop_assert!(options.allow_missing || !data.bags.has_missing());
                prop_assert!(data.instance_labels.is_none_or(|l| l.len() == data.bags.instance_count()));
                prop_assert!(data.kept.iter().all(|k| k.values.len() == data.bags.instance_count()));
            }
            Err(error) => {
                let message = error.to_string();
                prop_assert!(message.starts_with(typed), "{}", message);
                prop_assert!(message.contains("; "), "no remedy: {}", message);
                prop_assert!(message.len() < typed.len() + 800, "{}", message);
            }
        }
        // On a busy machine too; what reads without end takes longer.
        prop_assert!(start.elapsed() < Duration::from_secs(30));
    }
}
