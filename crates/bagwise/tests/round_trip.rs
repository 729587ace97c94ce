//! What is written is read back equal, and what would not be is not written.

use std::path::PathBuf;

use bagwise::io::{Column, ReadOptions, Task, read, write};
use bagwise::{Bags, CarriedColumn, Csr, Dataset, Feature, FeatureKind, Groups, Instances, Mat, Target};
use proptest::prelude::*;

fn at(folder: &tempfile::TempDir, file: &str) -> PathBuf {
    folder.path().join(file)
}

fn rows(data: &Dataset) -> Vec<Vec<f64>> {
    let mut row = vec![0.0; data.bags.width()];
    (0..data.bags.instance_count())
        .map(|r| {
            data.bags.instances().row_into(r, &mut row).unwrap();
            row.clone()
        })
        .collect()
}

/// Everything but the name and the layout, which text does not carry.
fn assert_equal(written: &Dataset, found: &Dataset) {
    assert_eq!(found.bags.ids(), written.bags.ids());
    assert_eq!(found.bags.offsets(), written.bags.offsets());
    assert_eq!(found.bags.features(), written.bags.features());
    let bits = |d: &Dataset| -> Vec<u64> {
        // -0 and 0 are one value; NaN stands for missing whatever its bits.
        rows(d).concat().iter().map(|v| if v.is_nan() { u64::MAX } else { (v + 0.0).to_bits() }).collect()
    };
    assert_eq!(bits(found), bits(written));
    assert_eq!(found.target, written.target);
    assert_eq!(found.groups, written.groups);
    assert_eq!(found.kept, written.kept);
    assert_eq!(found.instance_labels, written.instance_labels);
}

fn options_for(data: &Dataset) -> ReadOptions {
    ReadOptions {
        keep: data.kept.iter().map(|k| Column::Name(k.name.clone())).collect(),
        categorical: (data.bags.features().iter())
            .filter(|f| f.is_categorical())
            .map(|f| Column::Name(f.name.clone()))
            .collect(),
        allow_missing: data.bags.has_missing(),
        task: match data.target {
            Some(Target::Values(_)) => Task::Regression,
            _ => Task::Classification,
        },
        unlabelled: data.target.is_none(),
        ..ReadOptions::default()
    }
}

fn round_trip(data: &Dataset, file: &str) {
    let folder = tempfile::tempdir().unwrap();
    let path = at(&folder, file);
    write(data, &path, None).unwrap_or_else(|e| panic!("{e}"));
    let found = read(path.to_str().unwrap(), &options_for(data)).unwrap_or_else(|e| panic!("{file}: {e}"));
    assert_equal(data, &found);
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1, "no temporary file is left");
}

#[test]
fn shipped_data_come_back_equal_in_every_format() {
    for name in ["musk1", "elephant", "image1000", "synthetic:gauss?groups=5&bags=50&f32=1"] {
        let mut data = read(name, &ReadOptions::default()).unwrap();
        for file in ["a.csv", "a.tsv", "a.csv.gz", "a.npz", "a.parquet"] {
            round_trip(&data, file);
        }
        data.groups = None;
        data.instance_labels = None;
        for file in ["a.sparse", "a.sparse.gz", "a.arff", "a.arff.gz"] {
            round_trip(&data, file);
        }
    }
}

#[test]
fn sparse_rows_cost_what_they_hold_and_not_their_largest_index() {
    let folder = tempfile::tempdir().unwrap();
    let path = at(&folder, "hashed.sparse");
    std::fs::write(&path, "a 1 2:0.5 4000000000:1\na 1 2:1\nb 0 7:2\n").unwrap();
    let data = read(path.to_str().unwrap(), &ReadOptions::default()).unwrap();
    let names: Vec<&str> = data.bags.features().iter().map(|f| f.name.as_str()).collect();
    assert_eq!(names, ["f2", "f7", "f4000000000"]);
    assert_eq!(rows(&data), [[0.5, 0.0, 1.0], [1.0, 0.0, 0.0], [0.0, 2.0, 0.0]]);
    let warning = data.warnings[0].to_string();
    assert!(warning.contains("3 of the indices up to 4000000000 have a value"), "{warning}");
    round_trip(&data, "a.sparse");

    // A narrow file keeps all attributes, as do zeros that are written out.
    std::fs::write(&path, "a 1 2:0.5\nb 0 7:2 9000:0\n").unwrap();
    assert_eq!(read(path.to_str().unwrap(), &ReadOptions::default()).unwrap().bags.width(), 9000);
}

#[test]
fn headings_full_of_other_delimiters_do_not_mislead() {
    let bags = Bags::new(Instances::F64(Mat::zeros(2, 2)), vec![0, 1, 2]).unwrap();
    let features = ["a;b;c;d;e;f", "g\th\ti\tj"].map(Feature::numeric);
    let data = Dataset::new("t", bags.with_features(features.to_vec().into()).unwrap());
    for file in ["a.csv", "a.tsv"] {
        round_trip(&data, file);
    }
}

#[test]
fn gz_in_the_name_compresses() {
    let folder = tempfile::tempdir().unwrap();
    let data = read("musk1", &ReadOptions::default()).unwrap();
    write(&data, &at(&folder, "a.csv.gz"), None).unwrap();
    write(&data, &at(&folder, "b.txt"), Some("csv")).unwrap();
    let bytes = std::fs::read(at(&folder, "a.csv.gz")).unwrap();
    assert!(bytes.starts_with(&[0x1f, 0x8b]));
    assert!(bytes.len() * 2 < std::fs::read(at(&folder, "b.txt")).unwrap().len());
}

#[test]
fn what_would_not_come_back_is_not_written() {
    let folder = tempfile::tempdir().unwrap();
    let base = || {
        Dataset::new("t", Bags::new(Instances::F64(Mat::zeros(2, 1)), vec![0, 1, 2]).unwrap())
            .with_target(Target::from_labels(&["0", "1"]))
            .unwrap()
    };
    let named = |name: &str| {
        let mut data = base();
        data.bags = data.bags.with_features(vec![Feature::numeric(name)].into()).unwrap();
        data
    };
    let with_id = |id: &str| {
        let mut data = base();
        data.bags = data.bags.with_ids(vec![id.into(), "z".into()]).unwrap();
        data
    };
    let classes = |name: &str| base().with_target(Target::from_labels(&[name, "z"])).unwrap();
    let mut kept = base();
    kept.kept.push(CarriedColumn { name: "k".into(), values: vec!["1".into(), "2".into()] });
    let grouped = base().with_groups(Groups::from_names(&["g", "h"])).unwrap();
    let unseen = {
        let kind = FeatureKind::Categorical { values: vec![] };
        let mut data = base();
        data.bags = data.bags.with_features(vec![Feature { name: "c".into(), kind }].into()).unwrap();
        data
    };
    for (data, file, expected) in [
        (named("label"), "a.csv", "the feature 'label' would be read back as something else"),
        (named(" x"), "a.csv", "needs a unique column name"),
        (with_id(" x"), "a.csv", "the bag id ' x' could not be read back"),
        (with_id(""), "a.csv", "the bag id '' could not be read back"),
        (classes("NA"), "a.csv", "the class name 'NA' could not be read back"),
        (unseen, "a.csv", "has categories that are not in its list"),
        (with_id("two words"), "a.sparse", "the bag id 'two words' is not one word"),
        (with_id("#1"), "a.sparse", "is not one word"),
        (classes("3:4"), "a.sparse", "the class name '3:4' could not be read back"),
        (named("weight"), "a.sparse", "cannot store names of attributes"),
        (kept, "a.sparse", "cannot store kept columns; write CSV"),
        (grouped, "a.sparse", "cannot store groups"),
        (base(), "a.xyz", "is not a known output format"),
        (base(), "a", "is not a known output format"),
    ] {
        let error = write(&data, &at(&folder, file), None).unwrap_err().to_string();
        assert!(error.contains(expected) && error.contains(file), "{error}");
    }
    let error = write(&base(), &at(&folder, "a.csv"), Some("xlsx")).unwrap_err().to_string();
    assert!(error.contains("unknown format 'xlsx'; available: csv, sparse"), "{error}");
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0, "nothing is half written");
}

/// A name as people type it, and sometimes as they should not.
fn name() -> impl Strategy<Value = String> {
    prop_oneof!["[a-zA-Z][a-zA-Z0-9_-]{0,6}", "[1-9][0-9]{0,2}", "[a-z][a-z ,;\"'\t\n\r#:é漢]{0,5}[a-z]",]
        .prop_filter("no heading with a meaning, no missing value", |n| {
            let usual = ["bag", "label", "class", "target", "y", "group", "na", "nan", "bagid"];
            n.trim() == n && !usual.contains(&n.to_lowercase().as_str())
        })
}

fn number() -> impl Strategy<Value = f64> {
    prop_oneof![
        any::<f64>().prop_filter("finite", |v| v.is_finite()),
        (-100i32..100).prop_map(f64::from),
        Just(0.0),
    ]
}

prop_compose! {
    /// A data set with everything a table can hold.
    fn dataset()(
        sizes in prop::collection::vec(1usize..4, 1..6),
        ids in prop::collection::hash_set(name(), 6),
        headings in prop::collection::hash_set(name(), 8),
        words in prop::collection::vec(name(), 5),
        free in prop::collection::vec("(?s)[^\0]{0,6}", 24),
        numbers in prop::collection::vec(number(), 24 * 5),
        width in 1usize..5,
        choices in prop::collection::vec(0usize..5, 64),
        storage in 0u8..3,
        target in 0u8..3,
        (grouped, labelled, missing) in (any::<bool>(), any::<bool>(), any::<bool>()),
        (kept, categorical) in (0usize..3, any::<u8>()),
    ) -> Dataset {
        let mut offsets = vec![0];
        for size in &sizes {
            offsets.push(offsets[offsets.len() - 1] + size);
        }
        let (bags, count) = (sizes.len(), offsets[sizes.len()]);
        let headings: Vec<String> = headings.into_iter().collect();
        let mut cells = Mat::new(count, width, numbers[..count * width].to_vec());
        let mut features = Vec::new();
        for c in 0..width {
            let mut feature = Feature::numeric(&headings[c]);
            if categorical >> c & 1 == 1 {
                let texts: Vec<&String> = (0..count).map(|r| &words[choices[(r + 7 * c) % 64]]).collect();
                // Categories are sorted as classes are.
                let Target::Classes { codes, names } = Target::from_labels(&texts) else { unreachable!() };
                for r in 0..count {
                    cells.set(r, c, f64::from(codes[r]));
                }
                feature.kind = FeatureKind::Categorical { values: names };
            } else if missing && c > 0 {
                cells.set(choices[c] % count, c, f64::NAN);
            }
            features.push(feature);
        }
        let instances = match storage {
            0 => Instances::F64(cells),
            1 => Instances::F32(Mat::new(
                count,
                width,
                // Out of the range of single precision is infinite, which bags refuse.
                cells.data().iter().map(|&v| if (v as f32).is_infinite() { 1.5 } else { v as f32 }).collect(),
            )),
            _ => {
                let mut rows = Csr::empty(width);
                (0..count).for_each(|r| rows.push_row(cells.row(r).iter().zip(0..).map(|(&v, c)| (c, v))));
                Instances::Sparse(rows)
            }
        };
        let bags_of = Bags::with_missing(instances, offsets)
            .unwrap()
            .with_ids(ids.into_iter().take(bags).collect())
            .unwrap()
            .with_features(features.into())
            .unwrap();
        let mut data = Dataset::new("random", bags_of);
        data.target = match target {
            0 => None,
            1 => Some(Target::from_labels(&(0..bags).map(|b| &words[choices[b]]).collect::<Vec<_>>())),
            _ => Some(Target::Values(numbers[..bags].to_vec())),
        };
        if grouped {
            data.groups =
                Some(Groups::from_names(&(0..bags).map(|b| &words[choices[b + 20]]).collect::<Vec<_>>()));
        }
        if labelled {
            data.instance_labels = Some((0..count).map(|r| words[choices[r]].clone()).collect());
        }
        for k in 0..kept {
            let values = (0..count).map(|r| free[(r + 5 * k) % 24].clone()).collect();
            data.kept.push(CarriedColumn { name: headings[6 + k].clone(), values });
        }
        data
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn random_data_come_back_equal(data in dataset()) {
        round_trip(&data, "a.csv");
        round_trip(&data, "a.tsv.gz");
        round_trip(&data, "a.parquet");
    }

    #[test]
    fn random_data_come_back_equal_as_sparse_text(data in dataset()) {
        // Reduced to what the form can hold.
        let numbered: Vec<Feature> =
            (1..=data.bags.width()).map(|f| Feature::numeric(format!("f{f}"))).collect();
        let ids: Vec<String> = (0..data.bags.len()).map(|b| format!("b{b}")).collect();
        let bags = data.bags.with_features(numbered.into()).unwrap().with_ids(ids).unwrap();
        let mut plain = Dataset::new("random", bags);
        plain.target = match data.target {
            Some(Target::Classes { codes, .. }) => Some(Target::from_labels(&codes.iter().map(u32::to_string).collect::<Vec<_>>())),
            other => other,
        };
        round_trip(&plain, "a.sparse");
    }

    #[test]
    fn random_data_come_back_equal_from_weka_and_numpy(data in dataset()) {
        // Reduced to what the forms can hold: no categories in one, nothing but bags and classes in the other.
        let mut numbers = data.clone();
        let features: Vec<Feature> = data.bags.features().iter().map(|f| Feature::numeric(&f.name)).collect();
        numbers.bags = numbers.bags.with_features(features.into()).unwrap();
        // Kept columns are arrays of their own name, which must not be one that has a meaning.
        numbers.kept.iter_mut().zip(0..).for_each(|(k, i)| k.name = format!("kept {i} {}", k.name));
        round_trip(&numbers, "a.npz");
        let mut plain = data;
        (plain.groups, plain.instance_labels) = (None, None);
        plain.kept.clear();
        round_trip(&plain, "a.arff");
    }
}
