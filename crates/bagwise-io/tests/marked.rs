//! Values that the user marks as missing are missing in every format, however its numbers are written and stored, or the
//! marker is refused.

#[path = "../../bagwise/tests/made/mod.rs"]
mod made;

use bagwise_core::{Dataset, Error, Feature, FeatureKind, Instances, Mat, Setting};
use bagwise_io::{Column, ReadOptions, read, write};
use made::{mat, matrix, npy, zip};

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

fn singles(values: &[f32]) -> Vec<u8> {
    values.iter().flat_map(|v| v.to_le_bytes()).collect()
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

// --- single precision

#[test]
fn markers_are_rounded_where_values_are_single() {
    let array = |values: &[f32]| {
        let list = |values: &[u8]| npy("'|i1'", "(2,)", values);
        zip(&[
            ("X.npy", npy("'<f4'", "(2, 2)", &singles(values))),
            ("bag.npy", list(&[1, 2])),
            ("y.npy", list(&[0, 1])),
        ])
    };
    let file = array(&[-999.9, 1.0, 2.0, 3.0]);
    let expected = [None, Some(1.0), Some(2.0), Some(3.0)];
    assert_eq!(cells(&try_read("t.npz", &file, &marked(&["-999.9"])).unwrap()), expected);
    // Also beside a column of categories, where all are stored in double precision.
    for categorical in ["f1", "f2"] {
        let categorical = vec![Column::Name(categorical.into())];
        let options = ReadOptions { categorical, ..marked(&["-999.9"]) };
        let data = try_read("t.npz", &file, &options).unwrap();
        assert_eq!(cells(&data)[0], None, "{:?}", data.bags.features());
    }
    let lowest = array(&[f32::MIN, 1.0, 2.0, 3.0]);
    assert_eq!(cells(&try_read("t.npz", lowest, &marked(&["-3.4028235e38"])).unwrap()), expected);
    // Double precision tells more numbers apart.
    let x = matrix("X", 2, 2, &[f64::from(-999.9f32), 1.0, 2.0, 3.0]);
    let file = mat(&[x, matrix("bag", 2, 1, &[1.0, 2.0]), matrix("y", 2, 1, &[0.0, 1.0])]);
    assert!(!try_read("t.mat", file, &marked(&["-999.9"])).unwrap().bags.has_missing());
}

#[test]
fn markers_are_rounded_in_single_columns_of_parquet() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("t.parquet");
    let named = |file: &str, text: &str| try_read(file, text, &ReadOptions::default()).unwrap();
    let plain = named("t.csv", "bag,label,f,g\na,0,1,1\nb,1,2,2\n");
    let single = Instances::F32(Mat::new(2, 2, vec![-999.9, 1.0, 0.0, 2.0]));
    let offsets = plain.bags.offsets().to_vec();
    let features = |categorical: bool| -> Vec<Feature> {
        let values = vec!["x".into(), "y".into()];
        let kind = if categorical { FeatureKind::Categorical { values } } else { FeatureKind::Numeric };
        vec![Feature::numeric("f"), Feature { name: "g".into(), kind }]
    };
    for categorical in [false, true] {
        let mut values = single.clone();
        if let (true, Instances::F32(m)) = (categorical, &mut values) {
            m.data_mut()[3] = 0.0;
        }
        let bags = bagwise_core::Bags::named(
            values,
            offsets.clone(),
            Some(plain.bags.ids().to_vec()),
            Some(features(categorical).into()),
        );
        let data = Dataset { bags: bags.unwrap(), ..plain.clone() };
        write(&data, &path, None).unwrap();
        let back = read(path.to_str().unwrap(), &marked(&["-999.9"])).unwrap();
        assert_eq!(cells(&back)[0], None, "categorical {categorical}: {:?}", cells(&back));
    }
}
