//! What the readers understand, and what they warn of.

use std::path::PathBuf;

use bagwise::io::{Column, ReadOptions, Task, read, write};
use bagwise::{Bags, CarriedColumn, Dataset, FeatureKind, Instances, Mat, Target};

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
            data.bags.instances().row_into(r, &mut row).unwrap();
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
        ("t.csv", "bag,label,f1,\"f2\"\r\na,1,0.5,\"-2\"\r\na,1,3,4\r\nb,0,1e-3,\"7\"\r\n"),
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
        // A guess about the delimiter is told.
        let guessed =
            !text.contains(',') && text.contains([';', '\t']) && file != "t.tsv" && file != "t.sparse";
        assert_eq!(other.warnings.len(), usize::from(guessed), "{text}: {:?}", other.warnings);
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
        [CarriedColumn { name: "shape".into(), values: vec!["c1".into(), "c2".into(), "c,3".into()] }]
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
    assert!(data.warnings[0].to_string().contains("(first: bag 'b', line 4)"), "{:?}", data.warnings);
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
    assert!(
        data.warnings[0].to_string().contains("'colour' (2 values)")
            && !data.warnings[0].to_string().contains("size")
    );
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
    assert_eq!(parse(&format!("bag,label,f1\n{many}")).undecided, Some(60));
}

#[test]
fn labels_beyond_the_whole_numbers_of_double_precision_are_told_apart() {
    let data = parse("bag,label,f\na,9007199254740992,1\nb,9007199254740993,2\nc,9007199254740992,3\n");
    assert_eq!(class_names(&data), ["9007199254740992", "9007199254740993"]);
}

#[test]
fn measurements_with_a_slip_among_them_become_classes_with_a_warning() {
    let data = parse("bag,label,f\na,0.5,1\nb,abc,2\nc,1.7,3\n");
    assert_eq!(class_names(&data).len(), 3);
    assert!(
        data.warnings[0].to_string().contains("'abc' is not a number, so all are treated as classes"),
        "{:?}",
        data.warnings
    );
    assert!(parse("bag,label,f\na,1,1\nb,abc,2\n").warnings.is_empty());
}

#[test]
fn what_arff_declares_is_a_value_and_only_a_question_mark_is_none() {
    let text = "@relation r\n@attribute bag {a,b}\n@attribute label {0,1}\n@attribute where {EU,NA}\n@data\na,0,NA\nb,1,EU\n";
    let data = parse_as("a.arff", text, &ReadOptions::default());
    assert_eq!(rows(&data), [[1.0], [0.0]]);
    let gap = text.replace("b,1,EU", "b,1,?");
    let data = parse_as("a.arff", gap, &ReadOptions { allow_missing: true, ..Default::default() });
    assert!(rows(&data)[0][0] == 0.0 && rows(&data)[1][0].is_nan());
}

#[test]
fn leaving_out_columns_of_arrays_keeps_their_storage() {
    let folder = tempfile::tempdir().unwrap();
    let numbers = Instances::F32(Mat::new(2, 3, vec![1.0, 2.0, 3.0, 4.0, 5.0, 6.0]));
    let bags = Bags::new(numbers, vec![0, 1, 2]).unwrap();
    let data = Dataset::new("d", bags).with_target(Target::from_labels(&["0", "1"])).unwrap();
    write(&data, &at(&folder, "a.npz"), None).unwrap();
    let ignore = ReadOptions { ignore: columns(&["f2"]), ..Default::default() };
    let found = read(at(&folder, "a.npz").to_str().unwrap(), &ignore).unwrap();
    assert_eq!((found.bags.instances().kind(), names(&found)), ("f32", vec!["f1", "f3"]));
    assert_eq!(rows(&found), [[1.0, 3.0], [4.0, 6.0]]);
    let sparse = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/scipy_sparse_pairs.mat");
    let (whole, part) = (read(sparse, &Default::default()).unwrap(), read(sparse, &ignore).unwrap());
    assert_eq!((whole.bags.instances().kind(), part.bags.instances().kind()), ("sparse", "sparse"));
    assert_eq!(part.bags.width() + 1, whole.bags.width());
}

#[test]
fn drawn_instances_keep_their_numbers() {
    let data = parse("bag,label,f\na,1,0\na,1,1\na,1,2\na,1,3\na,1,4\nb,0,0\n").with_at_most(2, 3);
    for bag in 0..2 {
        for (i, row) in data.bags.rows(bag).enumerate() {
            // The value of an instance is its place in the file.
            assert_eq!(data.instance_number(bag, i), rows(&data)[row][0] as usize + 1);
        }
    }
    let fewer = data.clone().with_at_most(1, 5);
    assert_eq!(fewer.instance_number(0, 0), rows(&fewer)[0][0] as usize + 1);
    let one = data.select(&[1, 0]);
    assert_eq!(one.instance_number(1, 1), data.instance_number(0, 1));
}

#[test]
fn data_to_predict_needs_no_labels() {
    let options = ReadOptions { unlabelled: true, ..ReadOptions::default() };
    assert_eq!(parse("bag,f1\na,1\n").target, None);
    assert_eq!(parse_as("t.csv", "bag,label,f1\na,,1\nb,?,1\n", &options).target, None);
    let some = parse_as("t.csv", "bag,label,f1\na,1,1\nb,,1\n", &options);
    assert!(some.target.is_none() && some.warnings[0].to_string().contains("1 of 2 bags have no label"));
    assert!(parse_as("t.csv", "bag,label,f1\na,1,1\nb,0,1\n", &options).target.is_some());
    assert_eq!(parse_as("t.sparse", "a ? 1:1\n", &options).target, None);
}

#[test]
fn a_usual_heading_among_the_features_is_pointed_out() {
    let options = ReadOptions { label: Some("t".parse().unwrap()), ..ReadOptions::default() };
    let data = parse_as("t.csv", "bag,t,label,f1\na,1,1,2\n", &options);
    assert!(
        data.warnings[0].to_string().contains("column 'label' is treated as a feature"),
        "{:?}",
        data.warnings
    );
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
