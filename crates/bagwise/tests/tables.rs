//! Tables in and out: what the reader understands, what it warns of, and that what is written is read back.

use std::path::PathBuf;

use bagwise::io::{Column, ReadOptions, Task, read, write};
use bagwise::{Bags, Csr, Dataset, Feature, FeatureKind, Groups, Instances, Kept, Mat, Target};
use proptest::prelude::*;

fn at(folder: &tempfile::TempDir, file: &str) -> PathBuf {
    folder.path().join(file)
}

fn parse_as(file: &str, bytes: impl AsRef<[u8]>, options: &ReadOptions) -> Dataset {
    let folder = tempfile::tempdir().unwrap();
    let path = at(&folder, file);
    std::fs::write(&path, bytes).unwrap();
    read(path.to_str().unwrap(), options).unwrap_or_else(|e| panic!("{e}"))
}

fn parse(text: &str) -> Dataset {
    parse_as("t.csv", text, &ReadOptions::default())
}

fn columns(names: &[&str]) -> Vec<Column> {
    names.iter().map(|n| n.parse().unwrap()).collect()
}

fn rows(data: &Dataset) -> Vec<Vec<f64>> {
    let mut row = vec![0.0; data.bags.width()];
    (0..data.bags.instance_count())
        .map(|r| {
            data.bags.instances().row_into(r, &mut row);
            row.clone()
        })
        .collect()
}

fn names(data: &Dataset) -> Vec<&str> {
    data.bags.features().iter().map(|f| f.name.as_str()).collect()
}

fn class_names(data: &Dataset) -> &[String] {
    match data.target.as_ref().unwrap() {
        Target::Classes { names, .. } => names,
        Target::Values(_) => panic!("real values"),
    }
}

#[test]
fn dialects_give_the_same_data() {
    let plain = parse("bag,label,f1,f2\na,1,0.5,-2\na,1,3,4\nb,0,1e-3,7\n");
    assert_eq!(rows(&plain), [[0.5, -2.0], [3.0, 4.0], [0.001, 7.0]]);
    assert_eq!(plain.bags.ids(), ["a", "b"]);
    assert_eq!(plain.bags.offsets(), [0, 2, 3]);
    let others = [
        ("t.csv", "bag;label;f1;f2\na;1;0.5;-2\na;1;3;4\nb;0;1e-3;7"),
        ("t.txt", "bag\tlabel\tf1\tf2\na\t1\t0.5\t-2\na\t1\t3\t4\nb\t0\t1e-3\t7\n"),
        ("t.tsv", "bag\tlabel\tf1\tf2\na\t1\t0.5\t-2\na\t1\t3\t4\nb\t0\t1e-3\t7\n"),
        ("t.csv", "bag,label,f1,f2\r\na,1,0.5,-2\r\n\r\na,1,3,4\r\nb,0,1e-3,7\r\n"),
        ("t.csv", "\u{feff}bag,label,f1,f2\na,1,0.5,-2\na,1,3,4\nb,0,1e-3,7\n"),
        (
            "t.csv",
            "\"bag\",\"label\",\"f1\",\"f2\"\n\"a\",\"1\",\"0.5\",\"-2\"\n\"a\",1,3,4\nb,0,1e-3,\"7\"\n",
        ),
        ("t.csv", " bag , label , f1 , f2 \n a , 1 , 0.5 , -2 \n a , 1 , 3 , 4 \n b , 0 , 1e-3 , 7 \n"),
        ("t.csv", "label,f1,Bag_ID,f2\n1,0.5,a,-2\n1,3,a,4\n0,1e-3,b,7\n"),
        ("t.csv", "a,1,0.5,-2\na,1,3,4\nb,0,1e-3,7\n"),
        ("t.sparse", "# a comment\na 1 1:0.5 2:-2\na\t1  1:3 2:4 # another\n\nb 0 1:1e-3 2:7\n"),
    ];
    for (file, text) in others {
        let other = parse_as(file, text, &ReadOptions::default());
        assert_eq!(rows(&other), rows(&plain), "{text}");
        assert_eq!(other.bags.ids(), plain.bags.ids(), "{text}");
        assert_eq!(other.target, plain.target, "{text}");
        assert_eq!(names(&other), ["f1", "f2"], "{text}");
        assert!(other.warnings.is_empty(), "{text}: {:?}", other.warnings);
    }
    // The sparse form is known by its content too.
    assert_eq!(
        parse_as("t.data", "a 1 1:0.5 2:-2\n", &ReadOptions::default()).bags.instances().kind(),
        "sparse"
    );
}

#[test]
fn columns_take_the_roles_they_are_given() {
    let text = "mol,scaffold,active,shape,junk,w,instance_label,h\n\
                m1,s1,yes,c1,9,1,0,2\nm1,s1,yes,c2,9,3,1,4\nm2,s1,no,\"c,3\",9,5,0,6\n";
    let options = ReadOptions {
        bag: Some("mol".parse().unwrap()),
        label: Some("3".parse().unwrap()),
        group: Some("scaffold".parse().unwrap()),
        keep: columns(&["shape"]),
        ignore: columns(&["5"]),
        ..ReadOptions::default()
    };
    let data = parse_as("t.csv", text, &options);
    assert_eq!(names(&data), ["w", "h"]);
    assert_eq!(rows(&data), [[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]);
    assert_eq!(class_names(&data), ["no", "yes"]);
    assert_eq!(data.groups.as_ref().unwrap().names, ["s1"]);
    assert_eq!(
        data.kept,
        [Kept { name: "shape".into(), values: vec!["c1".into(), "c2".into(), "c,3".into()] }]
    );
    assert_eq!(data.instance_labels.as_ref().unwrap(), &["0", "1", "0"]);
}

#[test]
fn a_heading_is_found_or_told() {
    // Numbers in the heading, but a usual name too.
    assert_eq!(names(&parse("bag,label,10,20\na,1,2,3\n")), ["10", "20"]);
    // A heading known only by what the options name.
    let named = ReadOptions {
        bag: Some("m".parse().unwrap()),
        label: Some("t".parse().unwrap()),
        ..ReadOptions::default()
    };
    assert_eq!(names(&parse_as("t.csv", "m,t,1,2\na,1,2,3\n", &named)), ["1", "2"]);
    // A column whose heading is a number is found by that name before the position.
    let by_name = ReadOptions { ignore: columns(&["4"]), ..ReadOptions::default() };
    assert_eq!(names(&parse_as("t.csv", "bag,label,4,x\na,1,2,3\n", &by_name)), ["x"]);
    let told = ReadOptions { header: Some(false), ..ReadOptions::default() };
    let data = parse_as("t.csv", "bag,label,red\na,1,blue\n", &told);
    assert_eq!(data.bags.ids(), ["bag", "a"]);
    // Without a heading and without labels the second column is a feature.
    let unlabelled = ReadOptions { unlabelled: true, ..ReadOptions::default() };
    let data = parse_as("t.csv", "1,2,3\n1,4,5\n", &unlabelled);
    assert_eq!((rows(&data), &data.target), (vec![vec![2.0, 3.0], vec![4.0, 5.0]], &None));
}

#[test]
fn scattered_rows_come_together_in_their_order() {
    let options = ReadOptions { keep: columns(&["k"]), ..ReadOptions::default() };
    let text = "bag,label,k,instance_label,f1\nb,0,k1,x,1\na,1,k2,y,2\nb,0,k3,z,3\na,1,k4,u,4\n";
    let data = parse_as("t.csv", text, &options);
    assert_eq!(data.bags.ids(), ["b", "a"]);
    assert_eq!(rows(&data), [[1.0], [3.0], [2.0], [4.0]]);
    assert_eq!(data.kept[0].values, ["k1", "k3", "k2", "k4"]);
    assert_eq!(data.instance_labels.unwrap(), ["x", "z", "y", "u"]);
    assert_eq!(data.warnings.len(), 1);
    assert!(data.warnings[0].contains("(first: bag 'b', line 4)"), "{:?}", data.warnings);
}

#[test]
fn text_columns_are_categories_with_a_warning_and_declared_ones_without() {
    let text = "bag,label,colour,size,f1\na,1,red,10,1\na,1,blue,9,2\nb,0,red,x,3\n";
    let options = ReadOptions { categorical: columns(&["size"]), ..ReadOptions::default() };
    let data = parse_as("t.csv", text, &options);
    let values = |i: usize| match &data.bags.features()[i].kind {
        FeatureKind::Categorical { values } => values.join(" "),
        FeatureKind::Numeric => "numbers".into(),
    };
    assert_eq!((values(0), values(1), values(2)), ("blue red".into(), "10 9 x".into(), "numbers".into()));
    assert_eq!(rows(&data), [[1.0, 0.0, 1.0], [0.0, 1.0, 2.0], [1.0, 2.0, 3.0]]);
    assert_eq!(data.warnings.len(), 1);
    assert!(data.warnings[0].contains("'colour' (2 values)") && !data.warnings[0].contains("size"));
    // Numbers among declared categories are coded in the order of their values.
    let data = parse_as("t.csv", "bag,label,size\na,1,10\na,1,9\n", &options);
    assert_eq!(rows(&data), [[1.0], [0.0]]);
}

#[test]
fn missing_values_are_nan_where_they_are_allowed() {
    let options = ReadOptions { allow_missing: true, ..ReadOptions::default() };
    let data = parse_as("t.csv", "bag,label,f1,c,e\na,1,?,red,\na,1,2,NA,nan\n", &options);
    assert!(data.bags.has_missing());
    let found = rows(&data);
    assert!(found[0][0].is_nan() && found[1][1].is_nan() && found[0][2].is_nan() && found[1][2].is_nan());
    assert_eq!((found[1][0], found[0][1]), (2.0, 0.0));
    assert!(!data.bags.features()[2].is_categorical(), "a column without values is numeric");
    let data = parse_as("t.sparse", "a 1 1:? 3:2\n", &options);
    assert!(data.bags.has_missing() && rows(&data)[0][0].is_nan());
}

#[test]
fn labels_are_classes_unless_one_has_a_fraction() {
    let task = |task| ReadOptions { task, ..ReadOptions::default() };
    let text = "bag,label,f1\na,2,1\nb,10,1\nc,0.5,1\n";
    assert_eq!(parse(text).target, Some(Target::Values(vec![2.0, 10.0, 0.5])));
    assert_eq!(class_names(&parse_as("t.csv", text, &task(Task::Classification))), ["0.5", "2", "10"]);
    let whole = "bag,label,f1\na,1.0,1\nb,0,1\nb,0.0,2\nc,1,1\n";
    assert_eq!(class_names(&parse(whole)), ["0", "1.0"], "one class for each value");
    assert_eq!(
        parse_as("t.csv", whole, &task(Task::Regression)).target,
        Some(Target::Values(vec![1.0, 0.0, 1.0]))
    );
    let many: String = (0..60).map(|b| format!("b{b},{b},1\n")).collect();
    assert!(parse(&format!("bag,label,f1\n{many}")).warnings[0].contains("--task regression"));
}

#[test]
fn data_to_predict_needs_no_labels() {
    let options = ReadOptions { unlabelled: true, ..ReadOptions::default() };
    assert_eq!(parse("bag,f1\na,1\n").target, None);
    assert_eq!(parse_as("t.csv", "bag,label,f1\na,,1\nb,?,1\n", &options).target, None);
    let some = parse_as("t.csv", "bag,label,f1\na,1,1\nb,,1\n", &options);
    assert!(some.target.is_none() && some.warnings[0].contains("1 of 2 bags have no label"));
    assert!(parse_as("t.csv", "bag,label,f1\na,1,1\nb,0,1\n", &options).target.is_some());
    assert_eq!(parse_as("t.sparse", "a ? 1:1\n", &options).target, None);
}

#[test]
fn a_usual_heading_among_the_features_is_pointed_out() {
    let options = ReadOptions { label: Some("t".parse().unwrap()), ..ReadOptions::default() };
    let data = parse_as("t.csv", "bag,t,label,f1\na,1,1,2\n", &options);
    assert!(data.warnings[0].contains("column 'label' is taken as a feature"), "{:?}", data.warnings);
}

#[test]
fn wide_tables_are_sparse_if_they_are_mostly_zero() {
    let table = |every: usize| {
        let heading: Vec<String> = (1..=1500).map(|f| format!("f{f}")).collect();
        let mut text = format!("bag,label,{}\n", heading.join(","));
        for row in 0..20 {
            let cells: Vec<String> = (0..1500)
                .map(|c| if (c + row) % every == 0 { "2.5".into() } else { "0".to_string() })
                .collect();
            text += &format!("b{},1,{}\n", row / 4, cells.join(","));
        }
        text
    };
    let sparse = parse(&table(50));
    let dense = parse(&table(10));
    assert_eq!((sparse.bags.instances().kind(), dense.bags.instances().kind()), ("sparse", "f64"));
    for (data, every) in [(sparse, 50), (dense, 10)] {
        for (r, row) in rows(&data).iter().enumerate() {
            for (c, &value) in row.iter().enumerate() {
                assert_eq!(value, if (c + r) % every == 0 { 2.5 } else { 0.0 });
            }
        }
    }
    // A category in the middle of a wide row: everything before it is kept.
    let mut text = table(50);
    text = text.replacen("\nb0,1,", ",colour\nb0,1,", 1);
    text = text
        .lines()
        .enumerate()
        .map(|(i, l)| if i == 0 { format!("{l}\n") } else { format!("{l},red\n") })
        .collect();
    let mixed = parse(&text);
    assert_eq!(mixed.bags.width(), 1501);
    for (r, row) in rows(&mixed).iter().enumerate() {
        assert!((0..1500).all(|c| row[c] == if (c + r) % 50 == 0 { 2.5 } else { 0.0 }));
    }
}

#[test]
fn a_wide_dense_table_is_dense_from_early_on() {
    let mut text = String::new();
    for row in 0..1100 {
        let cells: Vec<String> = (0..1001).map(|c| (c + row).to_string()).collect();
        text += &format!("b{},1,{}\n", row / 10, cells.join(","));
    }
    let data = parse(&text);
    assert_eq!(data.bags.instances().kind(), "f64");
    assert_eq!((rows(&data)[1099][1000], rows(&data)[0][1]), (2099.0, 1.0));
}

#[cfg(unix)]
#[test]
fn a_pipe_is_read_once() {
    use std::io::Write;
    let folder = tempfile::tempdir().unwrap();
    let path = at(&folder, "pipe");
    let made = std::process::Command::new("mkfifo").arg(&path).status();
    if !made.is_ok_and(|status| status.success()) {
        return;
    }
    let to = path.clone();
    let writer = std::thread::spawn(move || {
        std::fs::OpenOptions::new()
            .write(true)
            .open(to)
            .unwrap()
            .write_all(b"bag,label,f1\na,1,2\n")
            .unwrap();
    });
    let data = read(path.to_str().unwrap(), &ReadOptions::default()).unwrap();
    writer.join().unwrap();
    assert_eq!(rows(&data), [[2.0]]);
}

// ---- what is written is read back ----

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
        for file in ["a.csv", "a.tsv", "a.csv.gz"] {
            round_trip(&data, file);
        }
        data.groups = None;
        data.instance_labels = None;
        for file in ["a.sparse", "a.sparse.gz"] {
            round_trip(&data, file);
        }
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
    kept.kept.push(Kept { name: "k".into(), values: vec!["1".into(), "2".into()] });
    let grouped = base().with_groups(Groups::from_names(&["g", "h"])).unwrap();
    let unseen = {
        let kind = FeatureKind::Categorical { values: vec![] };
        let mut data = base();
        data.bags = data.bags.with_features(vec![Feature { name: "c".into(), kind }].into()).unwrap();
        data
    };
    for (data, file, expected) in [
        (named("label"), "a.csv", "the feature 'label' would be read back as something else"),
        (named(" x"), "a.csv", "needs a heading of its own"),
        (with_id(" x"), "a.csv", "the bag id ' x' would not be read back"),
        (with_id(""), "a.csv", "the bag id '' would not be read back"),
        (classes("NA"), "a.csv", "the class name 'NA' would not be read back"),
        (unseen, "a.csv", "has categories that are not in its list"),
        (with_id("two words"), "a.sparse", "the bag id 'two words' is not one word"),
        (with_id("#1"), "a.sparse", "is not one word"),
        (classes("3:4"), "a.sparse", "the class name '3:4' would not be read back"),
        (named("weight"), "a.sparse", "no place for names of attributes"),
        (kept, "a.sparse", "no place for kept columns; write CSV"),
        (grouped, "a.sparse", "no place for groups"),
        (base(), "a.xyz", "does not say which format to write"),
        (base(), "a", "does not say which format to write"),
    ] {
        let error = write(&data, &at(&folder, file), None).unwrap_err().to_string();
        assert!(error.contains(expected) && error.contains(file), "{error}");
    }
    let error = write(&base(), &at(&folder, "a.csv"), Some("xlsx")).unwrap_err().to_string();
    assert!(error.contains("unknown format 'xlsx'; there are: csv, sparse"), "{error}");
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
            data.kept.push(Kept { name: headings[6 + k].clone(), values });
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
}
