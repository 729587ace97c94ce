//! Values that the user marks as missing are missing in every format, however its numbers are written and stored, or the
//! marker is refused.

use bagwise_core::{Dataset, Error, FeatureKind, Setting};
use bagwise_io::{Column, ReadOptions, read};

fn marked(markers: &[&str]) -> ReadOptions {
    let missing_values = markers.iter().map(ToString::to_string).collect();
    ReadOptions { missing_values, allow_missing: true, ..ReadOptions::default() }
}

fn try_read(file: &str, bytes: impl AsRef<[u8]>, options: &ReadOptions) -> Result<Dataset, Error> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(file);
    std::fs::write(&path, bytes).unwrap();
    read(path.to_str().unwrap(), options)
}

fn refused(file: &str, bytes: impl AsRef<[u8]>, options: &ReadOptions) -> String {
    let error = try_read(file, bytes, options).err().unwrap_or_else(|| panic!("{file} was read"));
    error.worded(&|setting: &Setting| format!("{setting:?}"))
}

/// The values of all instances, where a missing one is none.
fn cells(data: &Dataset) -> Vec<Option<f64>> {
    let mut out = Vec::new();
    let rows = 0..data.bags.instance_count();
    let keep = |_: usize, row: &[f64]| out.extend(row.iter().map(|v| Some(*v).filter(|v| !v.is_nan())));
    data.bags.instances().each_row(rows, keep).unwrap();
    out
}

// --- numbers as tables write them

#[test]
fn markers_are_numbers_in_every_dialect() {
    let commas = "bag;label;f\na;x;-999,0\nb;y;2,5\nc;x;3,5\nd;y;1,5\n";
    let expected = [None, Some(2.5), Some(3.5), Some(1.5)];
    for marker in ["-999", "-999.0", "-999,0"] {
        assert_eq!(cells(&try_read("t.csv", commas, &marked(&[marker])).unwrap()), expected, "{marker}");
    }
    let told = ReadOptions { decimal: Some(','), ..marked(&["-9.9"]) };
    let data = try_read("t.csv", "bag;label;f\na;x;-9,9\nb;y;2,5\n", &told).unwrap();
    assert_eq!(cells(&data), [None, Some(2.5)]);
    let thousands = "bag,label,f\na,x,\"-9,999\"\nb,y,\"2,500.5\"\n";
    assert_eq!(cells(&try_read("t.csv", thousands, &marked(&["-9999"])).unwrap()), [None, Some(2500.5)]);
    // Where a comma separates thousands, -9,999 is not -9.999.
    assert!(!try_read("t.csv", thousands, &marked(&["-9.999"])).unwrap().bags.has_missing());
    // Without leave to be missing it is refused as any other.
    let strict = ReadOptions { allow_missing: false, ..marked(&["-999"]) };
    assert!(refused("t.csv", commas, &strict).contains(", line 2: bag 'a' has no value for 'f'"));
}

#[test]
fn markers_are_no_categories_and_no_labels_in_any_dialect() {
    let table = "bag;label;f;g\na;x;-999,0;1,5\nb;y;2,5;2,5\nc;x;2,5;3,5\n";
    let categorical = vec![Column::Name("f".into())];
    let data = try_read("t.csv", table, &ReadOptions { categorical, ..marked(&["-999"]) }).unwrap();
    assert_eq!(data.bags.features()[0].kind, FeatureKind::Categorical { values: vec!["2,5".into()] });
    assert_eq!(cells(&data)[0], None);
    let unlabelled = ReadOptions { unlabelled: true, ..marked(&["-999"]) };
    let data = try_read("t.csv", "bag;label;f\na;-999,0;1,5\nb;-999,0;2,5\n", &unlabelled).unwrap();
    assert_eq!(data.target, None);
    let said = refused("t.csv", "bag;label;group;f\na;0;-999,0;1,5\nb;1;2,5;2,5\n", &marked(&["-999"]));
    assert!(said.contains("bag 'a' has no group"), "{said}");
}
