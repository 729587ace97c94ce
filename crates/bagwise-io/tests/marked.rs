//! Values that the user marks as missing are missing in every format, however its numbers are written and stored, or the
//! marker is refused.

#[path = "../../bagwise/tests/made/mod.rs"]
mod made;

use bagwise_core::{Dataset, Error, Feature, FeatureKind, Instances, Mat, Setting};
use bagwise_io::{Column, ReadOptions, read, write};
use made::{doubles, element, mat, matrix, npy, variable, zip};

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

// --- sparse data and folders

#[test]
fn markers_hold_for_stored_values_of_sparse_data() {
    let text = "a 0 1:1 2:-999\nb 1 1:2 2:3\n";
    let expected = [Some(1.0), None, Some(2.0), Some(3.0)];
    assert_eq!(cells(&try_read("t.sparse", text, &marked(&["-999.0"])).unwrap()), expected);
    let named = "a 0 1:1 2:n.d.\nb 1 1:2 2:3\n";
    assert_eq!(cells(&try_read("t.sparse", named, &marked(&["n.d."])).unwrap()), expected);
    let strict = ReadOptions { allow_missing: false, ..marked(&["-999"]) };
    let said = refused("t.sparse", text, &strict);
    assert!(said.contains(", line 1: '2:-999' is a missing value"), "{said}");
    // Columns first: 1 and 2, then -999 and 3.
    let sparse = |values: &[f64]| {
        let whole =
            |values: &[i32]| element(5, &values.iter().flat_map(|v| v.to_le_bytes()).collect::<Vec<_>>());
        let parts = [whole(&[0, 1, 0, 1]), whole(&[0, 2, 4]), element(9, &doubles(values))];
        let x = variable(5, &[2, 2], "X", &parts.concat());
        mat(&[x, matrix("bag", 2, 1, &[1.0, 2.0]), matrix("y", 2, 1, &[0.0, 1.0])])
    };
    let file = sparse(&[1.0, 2.0, -999.0, 3.0]);
    let data = try_read("t.mat", &file, &marked(&["-999"])).unwrap();
    assert!(matches!(data.bags.instances(), Instances::Sparse(_)));
    assert_eq!(cells(&data), expected);
    let said = refused("t.mat", &file, &strict);
    assert!(said.contains("t.mat, row 1: bag '1' has no value for 'f2'"), "{said}");
    // Most zeros are not in the file.
    for (file, bytes) in [("t.sparse", text.as_bytes().to_vec()), ("t.mat", file)] {
        let said = refused(file, bytes, &marked(&["0"]));
        assert!(said.contains("0 cannot mark missing values in sparse data"), "{said}");
        assert!(said.contains("dense") && said.contains("MissingValues"), "{said}");
    }
}

#[test]
fn marked_values_in_a_folder_are_refused_because_none_can_be_missing() {
    let top = tempfile::tempdir().unwrap();
    let folder = top.path().join("slides");
    std::fs::create_dir(&folder).unwrap();
    std::fs::write(folder.join("s1.npy"), npy("'<f4'", "(1, 2)", &singles(&[1.0, 2.0]))).unwrap();
    std::fs::write(folder.join("s2.npy"), npy("'<f4'", "(2, 2)", &singles(&[3.0, 4.0, 5.0, -999.9])))
        .unwrap();
    let read = |markers: &[&str]| {
        read(folder.to_str().unwrap(), &ReadOptions { unlabelled: true, ..marked(markers) })
    };
    let said = read(&["-999.9"]).unwrap_err().to_string();
    assert!(said.contains("s2.npy: row 2, column 2 (counted from 1) is marked as missing"), "{said}");
    assert!(said.contains("a folder of .npy files cannot hold missing values"), "{said}");
    // The table of labels may need the marker.
    assert_eq!(read(&["-888", "n.d."]).unwrap().bags.len(), 2);
}

// --- options that name columns where there are none

#[test]
fn options_for_columns_are_refused_where_there_are_none() {
    let text = "a 0 1:1 2:5\nb 1 1:2 2:3\n";
    let name = || Some(Column::Name("age".into()));
    let default = ReadOptions::default;
    for (role, options) in [
        ("bag", ReadOptions { bag: name(), ..default() }),
        ("label", ReadOptions { label: name(), ..default() }),
        ("group", ReadOptions { group: name(), ..default() }),
    ] {
        let said = refused("t.sparse", text, &options);
        let found = format!("a column is given as {role}, but the sparse format has no columns");
        assert!(said.contains(&found), "{said}");
        // What a model remembers, nobody said.
        let options = default().recall(&options);
        assert_eq!(try_read("t.sparse", text, &options).unwrap().bags.len(), 2, "{role}");
    }
    let top = tempfile::tempdir().unwrap();
    std::fs::write(top.path().join("s1.npy"), npy("'<f8'", "(1, 2)", &doubles(&[1.0, 2.0]))).unwrap();
    let remembered = ReadOptions { categorical: vec![Column::Name("f1".into())], ..default() };
    let folder = top.path().to_str().unwrap();
    let options = ReadOptions { unlabelled: true, ..remembered.clone() };
    let said = read(folder, &options).unwrap_err().to_string();
    assert!(
        said.contains("'f1' cannot be categorical: a folder of .npy files contains numbers only"),
        "{said}"
    );
    let options = ReadOptions { unlabelled: true, ..default() }.recall(&remembered);
    assert_eq!(read(folder, &options).unwrap().bags.len(), 1);
}
