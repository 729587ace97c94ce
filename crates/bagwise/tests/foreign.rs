//! Files that other programs wrote: Weka, NumPy, SciPy, pandas. Each stands in `tests/data`, beside the script that
//! made it.

use bagwise::io::{Column, ReadOptions, Task, read, write};
use bagwise::{Dataset, FeatureKind, Target};

fn path(file: &str) -> String {
    format!("{}/tests/data/{file}", env!("CARGO_MANIFEST_DIR"))
}

fn load_with(file: &str, options: &ReadOptions) -> Dataset {
    read(&path(file), options).unwrap_or_else(|e| panic!("{e}"))
}

fn load(file: &str) -> Dataset {
    load_with(file, &ReadOptions::default())
}

fn rows(data: &Dataset) -> Vec<Vec<f64>> {
    let mut out = Vec::new();
    data.bags.instances().each_row(0..data.bags.instance_count(), |_, row| out.push(row.to_vec())).unwrap();
    out
}

fn names(data: &Dataset) -> Vec<&str> {
    data.bags.features().iter().map(|f| f.name.as_str()).collect()
}

fn labels(data: &Dataset) -> Vec<&str> {
    match data.target.as_ref().unwrap() {
        Target::Classes { codes, names } => codes.iter().map(|&c| names[c as usize].as_str()).collect(),
        Target::Values(_) => panic!("real values"),
    }
}

/// What `make_numpy.py` wrote in every file.
fn expected() -> Vec<Vec<f64>> {
    vec![vec![1.5, -2.0], vec![0.25, 3.0], vec![0.0, 1.0], vec![4.0, 0.0], vec![5.0, -6.5], vec![0.5, 0.125]]
}

#[test]
fn arrays_of_numpy_and_scipy() {
    for (file, kind, ids, classes, grouped) in [
        ("numpy_ids.npz", "f32", ["a", "b", "c"], ["1", "0", "1"], true),
        ("numpy_zip64.npz", "f32", ["a", "b", "c"], ["1", "0", "1"], true),
        ("numpy_offsets.npz", "f64", ["a", "b", "c"], ["yes", "no", "yes"], true),
        ("numpy_half_big.npz", "f32", ["7", "8", "9"], ["1", "0", "1"], false),
        ("scipy_cells.mat", "f64", ["1", "2", "3"], ["1", "0", "1"], false),
        ("scipy_matrix.mat", "f64", ["7", "8", "9"], ["1", "0", "1"], false),
        ("scipy_sparse_pairs.mat", "sparse", ["1", "2", "3"], ["yes", "no", "yes"], false),
        ("scipy_texts.mat", "f32", ["a", "b", "c"], ["yes", "no", "yes"], false),
    ] {
        let data = load(file);
        assert_eq!(rows(&data), expected(), "{file}");
        assert_eq!(data.bags.instances().kind(), kind, "{file}");
        assert_eq!(data.bags.offsets(), [0, 2, 5, 6], "{file}");
        assert_eq!(data.bags.ids(), ids, "{file}");
        assert_eq!(labels(&data), classes, "{file}");
        let groups = data.groups.as_ref().map(|g| (g.codes.clone(), g.names.clone()));
        assert_eq!(groups, grouped.then(|| (vec![0, 0, 1], vec!["g".into(), "h".into()])), "{file}");
        let named = ["numpy_offsets.npz", "scipy_texts.mat"].contains(&file);
        assert_eq!(names(&data), if named { ["size", "log P"] } else { ["f1", "f2"] }, "{file}");
        let warns = data.warnings.iter().any(|w| w.to_string().contains("'embedding'"));
        assert_eq!(warns, file == "numpy_offsets.npz", "{:?}", data.warnings);
    }
}

#[test]
fn tables_of_pandas_and_pyarrow() {
    for (file, kind, columns) in [
        ("pandas_wide.parquet", "f64", ["f1", "f2"]),
        ("pandas_zstd.parquet", "f64", ["f1", "f2"]),
        ("pyarrow_lists.parquet", "f32", ["f_1", "f_2"]),
        ("pyarrow_fixed.parquet", "f32", ["f_1", "f_2"]),
        ("pyarrow_split.parquet", "f64", ["f1", "f2"]),
        ("pyarrow_delta.parquet", "f64", ["f1", "f2"]),
    ] {
        let data = load(file);
        assert_eq!(rows(&data), expected(), "{file}");
        assert_eq!((data.bags.instances().kind(), names(&data)), (kind, columns.to_vec()), "{file}");
        assert_eq!(
            (data.bags.ids(), data.bags.offsets()),
            (&["a", "b", "c"].map(String::from)[..], &[0, 2, 5, 6][..])
        );
        assert_eq!(labels(&data), ["1", "0", "1"], "{file}");
        assert_eq!(data.groups.as_ref().unwrap().codes, [0, 0, 1], "{file}");
        // The one with an index that counts nothing.
        let indexed = data.warnings.iter().any(|w| w.to_string().contains("the index of a data frame"));
        assert_eq!((indexed, data.warnings.len()), (file == "pandas_zstd.parquet", usize::from(indexed)));
    }
    let options = ReadOptions { allow_missing: true, ..ReadOptions::default() };
    let mixed = load_with("pandas_mixed.parquet", &options);
    assert_eq!(names(&mixed), ["f1", "f2", "colour", "small", "flag"]);
    let FeatureKind::Categorical { values } = &mixed.bags.features()[2].kind else { panic!("no categories") };
    assert_eq!(values, &["blue", "green", "red"]);
    assert_eq!(
        (&rows(&mixed)[0][..], &rows(&mixed)[5][..]),
        (&[1.5, -2.0, 2.0, 1.0, 1.0][..], &[0.5, 0.125, 1.0, 250.0, 0.0][..])
    );
    assert!(rows(&mixed)[1][0].is_nan() && rows(&mixed)[2][2].is_nan());
    let refused = read(&path("pandas_mixed.parquet"), &ReadOptions::default()).unwrap_err().to_string();
    assert!(refused.contains("row 2: bag 'a' has no value for 'f1'; fill it in"), "{refused}");
    for (file, values) in [
        ("pyarrow_lz4", [1.5, 0.25, 0.0, 4.0, 5.0, 0.5]),
        ("pyarrow_brotli", [1.5, 0.25, 0.0, 4.0, 5.0, 0.5]),
        ("pyarrow_decimal", [1.0; 6]),
    ] {
        let data = load(&format!("{file}.parquet"));
        assert_eq!(rows(&data), values.map(|v| [v]), "{file}");
        assert_eq!(data.warnings.len(), usize::from(file == "pyarrow_decimal"), "{:?}", data.warnings);
    }
}

#[test]
fn options_name_arrays_and_columns() {
    let options = ReadOptions {
        label: Some(Column::Name("groups".into())),
        ignore: vec![Column::Name("y".into()), Column::Number(1)],
        ..ReadOptions::default()
    };
    let data = load_with("numpy_offsets.npz", &options);
    assert_eq!(labels(&data), ["g", "g", "h"]);
    assert_eq!((names(&data), rows(&data)[4].as_slice()), (vec!["log P"], &[-6.5][..]));
    let options = ReadOptions { categorical: vec![Column::Number(1)], ..ReadOptions::default() };
    let data = load_with("numpy_ids.npz", &options);
    let FeatureKind::Categorical { values } = &data.bags.features()[0].kind else { panic!("no categories") };
    assert_eq!(values, &["0", "0.25", "0.5", "1.5", "4", "5"]);
    assert_eq!(rows(&data)[4], [5.0, -6.5]);
    // The columns that a model learned from, whatever else there is.
    let options = ReadOptions { features: vec!["log P".into()], unlabelled: true, ..ReadOptions::default() };
    assert_eq!(names(&load_with("scipy_texts.mat", &options)), ["log P"]);
}

#[test]
fn bags_and_tables_of_weka() {
    let options = ReadOptions { allow_missing: true, ..ReadOptions::default() };
    for file in ["weka_bags.arff", "weka_sparse.arff"] {
        let data = load_with(file, &options);
        assert_eq!(data.bags.ids(), ["mol 1", "mol2", "it's 3"], "{file}");
        assert_eq!(data.bags.offsets(), [0, 2, 3, 6], "{file}");
        assert_eq!(labels(&data), ["active", "not active", "active"], "{file}");
        assert_eq!(names(&data), ["size", "log P", "colour", "zeros"], "{file}");
        let FeatureKind::Categorical { values } = &data.bags.features()[2].kind else {
            panic!("no categories")
        };
        assert_eq!(values, &["50%, or more", "dark blue", "red"]);
        let found = rows(&data);
        assert_eq!(found[0], [1.5, -2.0, 2.0, 0.0], "{file}");
        assert_eq!(found[1], [0.0, 0.001, 1.0, 0.0], "{file}");
        assert!(found[2][1].is_nan() && found[2][0] == 3.0 && found[2][2..] == [0.0, 7.0], "{file}");
        assert_eq!(found[4], [0.0, 0.0, 2.0, 0.0], "{file}");
        assert_eq!(data.warnings.len(), usize::from(file == "weka_bags.arff"), "{:?}", data.warnings);
    }
    let refused = read(&path("weka_bags.arff"), &ReadOptions::default()).unwrap_err().to_string();
    assert!(refused.contains("line 15: bag 'mol2' has no value for 'log P'; fill it in"), "{refused}");
}

/// The musk data of UCI in the form in which UCI has them.
#[test]
fn musk_of_uci() {
    let musk = read("musk1", &ReadOptions::default()).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("clean1.data");
    let mut text = String::from("| molecules\n");
    let classes = match musk.target.as_ref().unwrap() {
        Target::Classes { codes, .. } => codes,
        Target::Values(_) => panic!("real values"),
    };
    for bag in 0..musk.bags.len() {
        for (i, row) in rows(&musk)[musk.bags.rows(bag)].iter().enumerate() {
            let values: Vec<String> = row.iter().map(f64::to_string).collect();
            text += &format!("MUSK-{bag},{bag}_{i}+1,{},{}.\n", values.join(","), classes[bag]);
        }
    }
    std::fs::write(&file, text).unwrap();
    let data = read(file.to_str().unwrap(), &ReadOptions::default()).unwrap();
    assert_eq!((data.bags.len(), data.bags.ids()[3].as_str()), (92, "MUSK-3"));
    assert_eq!((rows(&data), data.bags.offsets()), (rows(&musk), musk.bags.offsets()));
    assert_eq!(data.target, musk.target);
    assert_eq!((data.kept[0].name.as_str(), data.kept[0].values[1].as_str()), ("conformation_name", "0_1+1"));
    assert_eq!(names(&data)[165], "f166");
    let options = ReadOptions {
        ignore: vec![Column::Number(2), Column::Name("f2".into())],
        task: Task::Regression,
        ..ReadOptions::default()
    };
    let data = read(file.to_str().unwrap(), &options).unwrap();
    assert!(
        data.kept.is_empty() && data.bags.width() == 165 && matches!(data.target, Some(Target::Values(_)))
    );
}

/// From each file of another program to every format that holds it, and back.
#[test]
fn conversions_keep_everything() {
    let options = ReadOptions { allow_missing: true, ..ReadOptions::default() };
    for file in ["numpy_offsets.npz", "scipy_cells.mat", "weka_bags.arff", "pandas_mixed.parquet"] {
        let data = load_with(file, &options);
        for to in ["a.csv", "a.npz", "a.arff", "a.parquet"] {
            let folder = tempfile::tempdir().unwrap();
            let at = folder.path().join(to);
            match (write(&data, &at, None), file, to) {
                (Ok(_), ..) => {}
                (Err(_), "weka_bags.arff" | "pandas_mixed.parquet", "a.npz")
                | (Err(_), "numpy_offsets.npz", "a.arff") => continue,
                (Err(error), ..) => panic!("{error}"),
            }
            let back = read(at.to_str().unwrap(), &options).unwrap_or_else(|e| panic!("{e}"));
            let plain = |d: &Dataset| format!("{:?}", rows(d));
            assert_eq!(plain(&back), plain(&data), "{file} as {to}");
            assert_eq!((back.bags.ids(), back.bags.features()), (data.bags.ids(), data.bags.features()));
            assert_eq!((&back.target, &back.groups), (&data.target, &data.groups), "{file} as {to}");
        }
    }
}
