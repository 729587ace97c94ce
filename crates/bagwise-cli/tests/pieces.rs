//! Data that are read in pieces: every method says the same of every bag, to the bit, whatever the size of the pieces, and a
//! bag that comes back is refused.

use std::path::Path;

use bagwise::io::{self, ReadOptions};
use bagwise::methods::METHODS;
use bagwise::model::{Model, Prediction};
use bagwise::{Ctx, Dataset, MethodConfig, Result};

/// Bags of 1 to 7 instances with 4 features.
fn toy(bags: usize, seed: u64) -> Dataset {
    let name = format!("synthetic:gauss?bags={bags}&min=1&max=7&features=4&distance=3&seed={seed}");
    io::read(&name, &ReadOptions::default()).unwrap()
}

/// How bags are read that a model is to answer for.
fn options(model: &Model) -> ReadOptions {
    let features = model.header.features.iter().map(|f| f.name.clone()).collect();
    ReadOptions { unlabelled: true, features, ..ReadOptions::default() }
}

fn whole(model: &Model, path: &Path) -> Vec<Prediction> {
    let data = io::read(&path.to_string_lossy(), &options(model)).unwrap();
    model.predict_with(&data.bags, &Ctx::default()).unwrap()
}

/// The predictions, and the number of pieces.
fn in_pieces(model: &Model, path: &Path, rows: usize) -> (Vec<Prediction>, usize) {
    let (mut all, mut pieces) = (Vec::new(), 0);
    let mut take = |data: Dataset| {
        all.extend(model.predict_with(&data.bags, &Ctx::default())?);
        pieces += 1;
        Ok(())
    };
    io::read_pieces(&path.to_string_lossy(), &options(model), rows, &mut take).unwrap();
    (all, pieces)
}

#[test]
fn pieces_of_any_size_are_answered_as_the_whole() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    // 4 instances a bag, on average.
    let (few, many) = (toy(60, 11), toy(4300, 12));
    for (data, name) in [(&few, "few"), (&many, "many")] {
        for ending in ["csv", "csv.gz", "parquet"] {
            io::write(data, &at(&format!("{name}.{ending}")), None).unwrap();
        }
    }
    let data = toy(24, 3);
    for method in METHODS {
        let name = method.info().name;
        let model = MethodConfig::new(name).tuned(false).fit(&data).unwrap_or_else(|e| panic!("{name}: {e}"));
        let expected = whole(&model, &at("few.csv"));
        for file in ["few.csv", "few.csv.gz", "few.parquet"] {
            let (found, pieces) = in_pieces(&model, &at(file), 1);
            assert!(pieces > 40, "{file} in {pieces} pieces");
            assert_eq!(found, expected, "{name}, {file}, bags one by one");
        }
        let expected = whole(&model, &at("many.csv"));
        for (file, rows) in [("many.csv", 500), ("many.parquet", 16_384)] {
            let (found, pieces) = in_pieces(&model, &at(file), rows);
            assert!(pieces >= 2, "{file} in {pieces} pieces");
            assert!(found == expected, "{name}, {file} in pieces of {rows}");
        }
    }
}

fn read(path: &Path, rows: usize, options: &ReadOptions) -> Result<Vec<Dataset>> {
    let mut all = Vec::new();
    let mut take = |data: Dataset| {
        all.push(data);
        Ok(())
    };
    io::read_pieces(&path.to_string_lossy(), options, rows, &mut take)?;
    Ok(all)
}

#[test]
fn the_pieces_together_are_the_table() {
    let folder = tempfile::tempdir().unwrap();
    let mut data = toy(300, 5);
    data.kept.push(bagwise::CarriedColumn {
        name: "place".into(),
        values: (0..data.bags.instance_count()).map(|i| format!("p{}", i % 7)).collect(),
    });
    for name in ["t.csv", "t.tsv", "t.parquet"] {
        let path = folder.path().join(name);
        io::write(&data, &path, None).unwrap();
        let keep = ReadOptions {
            keep: vec![io::Column::Name("place".into())],
            features: data.bags.features().iter().map(|f| f.name.clone()).collect(),
            ..ReadOptions::default()
        };
        let whole = io::read(&path.to_string_lossy(), &keep).unwrap();
        for rows in [1, 100, 1000, 1_000_000] {
            let (mut ids, mut values, mut kept) = (Vec::new(), Vec::new(), Vec::new());
            for piece in read(&path, rows, &keep).unwrap() {
                ids.extend(piece.bags.ids().to_vec());
                kept.extend(piece.kept[0].values.clone());
                let count = piece.bags.instance_count();
                assert!(count < rows + 10, "{name} by {rows}: {count} rows");
                piece.bags.instances().each_row(0..count, |_, row| values.extend(row.to_vec())).unwrap();
            }
            assert_eq!(ids, whole.bags.ids(), "{name} by {rows}");
            assert_eq!(kept, whole.kept[0].values, "{name} by {rows}");
            let mut expected = Vec::new();
            let all = 0..whole.bags.instance_count();
            whole.bags.instances().each_row(all, |_, row| expected.extend(row.to_vec())).unwrap();
            assert!(values == expected, "{name} by {rows}");
        }
    }
}

#[test]
fn a_bag_that_comes_back_is_an_error_by_name() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("t.csv");
    std::fs::write(&path, "bag,label,x\na,1,1\na,1,2\nb,0,3\nc,1,4\nb,0,5\n").unwrap();
    let options = ReadOptions { features: vec!["x".into()], ..ReadOptions::default() };
    for rows in [1, 2, 100] {
        let error = read(&path, rows, &options).map(|_| ()).unwrap_err().to_string();
        assert!(error.contains("line 6") && error.contains("bag 'b' reappears"), "{error}");
    }
    // Read as a whole, the rows are collected.
    let whole = io::read(&path.to_string_lossy(), &options).unwrap();
    assert_eq!(whole.bags.len(), 3);
}

#[test]
fn what_cannot_be_read_in_pieces_says_so() {
    let folder = tempfile::tempdir().unwrap();
    let arff = folder.path().join("t.arff");
    io::write(&Dataset { instance_labels: None, ..toy(6, 1) }, &arff, None).unwrap();
    assert!(!io::can_stream(&arff.to_string_lossy(), &ReadOptions::default()).unwrap());
    for name in ["musk1", "synthetic:gauss", &arff.to_string_lossy()] {
        let error = io::read_pieces(name, &ReadOptions::default(), 10, &mut |_| Ok(())).unwrap_err();
        assert!(error.to_string().contains("cannot be read in pieces"), "{error}");
    }
}
