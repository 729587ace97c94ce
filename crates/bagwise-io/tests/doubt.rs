//! Files that could be read in two ways. None is read silently in the wrong one: each is refused, or read with a warning,
//! and both name what would settle it.

#[path = "../../bagwise/tests/made/mod.rs"]
mod made;

use bagwise_core::{Dataset, Error, Setting, Target};
use bagwise_io::{Column, ReadOptions, read};
use made::{doubles, mat, matrix, npy, variable, zip};

fn try_read(file: &str, bytes: impl AsRef<[u8]>, options: &ReadOptions) -> Result<Dataset, Error> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(file);
    std::fs::write(&path, bytes).unwrap();
    read(path.to_str().unwrap(), options)
}

fn parse(text: &str) -> Dataset {
    try_read("t.csv", text, &ReadOptions::default()).unwrap_or_else(|e| panic!("{e}"))
}

fn fixture(file: &str) -> String {
    format!("{}/../bagwise/tests/data/{file}", env!("CARGO_MANIFEST_DIR"))
}

/// Settings by their names in the library.
fn by_name(setting: &Setting) -> String {
    format!("{setting:?}")
}

/// The message of a file that must be refused.
fn refused(file: &str, bytes: impl AsRef<[u8]>, options: &ReadOptions) -> String {
    match try_read(file, bytes, options) {
        Ok(data) => panic!("it was read, with {:?}", data.warnings),
        Err(error) => error.worded(&by_name),
    }
}

fn warnings(data: &Dataset) -> String {
    data.warnings.iter().map(|w| w.worded(&by_name)).collect::<Vec<_>>().join("\n")
}

fn names(data: &Dataset) -> Vec<&str> {
    data.bags.features().iter().map(|f| f.name.as_str()).collect()
}

fn rows(data: &Dataset) -> Vec<Vec<f64>> {
    let mut out = Vec::new();
    data.bags.instances().each_row(0..data.bags.instance_count(), |_, row| out.push(row.to_vec())).unwrap();
    out
}

fn label(name: &str) -> ReadOptions {
    ReadOptions { label: Some(Column::Name(name.into())), ..ReadOptions::default() }
}

fn has_all(text: &str, parts: &[&str]) {
    assert!(parts.iter().all(|part| text.contains(part)), "{text}\n    lacks one of {parts:?}");
}

// --- which array is the label

fn npz(more: &[(&'static str, Vec<u8>)]) -> Vec<u8> {
    let mut arrays = vec![
        ("X.npy", npy("'<f8'", "(4, 1)", &doubles(&[1.0, 2.0, 3.0, 4.0]))),
        ("bag.npy", npy("'|i1'", "(4,)", &[1, 1, 2, 3])),
    ];
    arrays.extend(more.iter().cloned());
    zip(&arrays)
}

#[test]
fn two_arrays_that_could_be_the_label_are_refused() {
    let list = |values: &[u8]| npy("'|i1'", &format!("({},)", values.len()), values);
    for (one, other) in [("label", "y"), ("labels", "y"), ("label", "labels"), ("class", "target")] {
        let (a, b) = (format!("{one}.npy"), format!("{other}.npy"));
        let (a, b): (&'static str, &'static str) = (a.leak(), b.leak());
        let file = npz(&[(a, list(&[1, 0, 1])), (b, list(&[1, 0, 1]))]);
        let said = refused("t.npz", &file, &ReadOptions::default());
        has_all(&said, &["could both be the label", one, other, "with Label", "with Ignore"]);
        // Told which, the other one is left out, not learned from.
        let data = try_read("t.npz", &file, &label(other)).unwrap();
        assert_eq!(names(&data), ["f1"], "{one} {other}");
        has_all(&warnings(&data), &["unused", one]);
    }
    let x = matrix("X", 3, 2, &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
    let bag = matrix("bag", 3, 1, &[1.0, 1.0, 2.0]);
    let file = mat(&[x, bag, matrix("y", 2, 1, &[0.0, 1.0]), matrix("label", 2, 1, &[0.0, 1.0])]);
    has_all(&refused("t.mat", &file, &ReadOptions::default()), &["could both be the label", "with Label"]);
    assert_eq!(names(&try_read("t.mat", &file, &label("y")).unwrap()), ["f1", "f2"]);
}

#[test]
fn two_variables_of_one_name_are_refused() {
    let x = |first: f64| matrix("X", 3, 2, &[first, 2.0, 3.0, 4.0, 5.0, 6.0]);
    let (bag, y) = (matrix("bag", 3, 1, &[1.0, 1.0, 2.0]), matrix("y", 2, 1, &[0.0, 1.0]));
    let said = refused("t.mat", mat(&[x(1.0), x(7.0), bag, y]), &ReadOptions::default());
    has_all(&said, &["two variables are called 'X'", "remove one"]);
}

#[test]
fn large_unsigned_numbers_are_not_called_strings() {
    let x = npy("'<u8'", "(1, 1)", &u64::MAX.to_le_bytes());
    let said = refused("t.npz", zip(&[("X.npy", x)]), &ReadOptions::default());
    has_all(&said, &["array 'X': it contains strings or whole numbers from 2^63 on"]);
}

// --- which arrays are the bags and groups

#[test]
fn of_two_arrays_that_could_be_the_bags_one_is_taken_or_both_refused_in_any_order() {
    let list = |values: &[u8]| npy("'|i1'", "(4,)", values);
    let x = || ("X.npy", npy("'<f8'", "(4, 1)", &doubles(&[1.0, 2.0, 3.0, 4.0])));
    let y = || ("y.npy", list(&[0, 0, 1, 1]));
    let (ids, bags) = (&[1, 2, 3, 4], &[7, 7, 8, 8]);
    let all = [("ids.npy", "bag_id.npy"), ("bag_ids.npy", "bag.npy"), ("bags.npy", "bag.npy")];
    for (one, other) in all.into_iter().chain([("bag.npy", "bag_id.npy"), ("ids.npy", "bags.npy")]) {
        let (one_name, other_name) = (one.trim_end_matches(".npy"), other.trim_end_matches(".npy"));
        for arrays in [
            [x(), (one, list(ids)), (other, list(bags)), y()],
            [x(), (other, list(bags)), (one, list(ids)), y()],
        ] {
            // A name of our own comes before those of other programs.
            if ["bag_id", "bag"].contains(&other_name) && one_name != "bag" {
                let data = try_read("t.npz", zip(&arrays), &ReadOptions::default()).unwrap();
                assert_eq!(data.bags.ids(), ["7", "8"], "{one} {other}");
                has_all(&warnings(&data), &["unused arrays", one_name]);
            } else {
                let said = refused("t.npz", zip(&arrays), &ReadOptions::default());
                has_all(&said, &["could both be the bag", one_name, other_name, "with Bag", "with Ignore"]);
            }
            let bag = Some(Column::Name(other_name.into()));
            let told = ReadOptions { bag, ..ReadOptions::default() };
            assert_eq!(try_read("t.npz", zip(&arrays), &told).unwrap().bags.ids(), ["7", "8"]);
            let ignore = vec![Column::Name(one_name.into())];
            let told = ReadOptions { ignore, ..ReadOptions::default() };
            assert_eq!(try_read("t.npz", zip(&arrays), &told).unwrap().bags.ids(), ["7", "8"]);
        }
        // The same twice is no doubt.
        let arrays = [x(), (one, list(bags)), (other, list(bags)), y()];
        let data = try_read("t.npz", zip(&arrays), &ReadOptions::default()).unwrap();
        assert_eq!((data.bags.ids(), names(&data)), (&["7".to_string(), "8".into()][..], vec!["f1"]));
    }
    let numbers = |name: &str, values: &[f64]| matrix(name, 4, 1, values);
    let file = mat(&[
        matrix("X", 4, 2, &[1.0, 2.0, 3.0, 4.0, 1.0, 2.0, 3.0, 4.0]),
        numbers("ids", &[1.0, 2.0, 3.0, 4.0]),
        numbers("bag_id", &[7.0, 7.0, 8.0, 8.0]),
        numbers("y", &[0.0, 0.0, 1.0, 1.0]),
    ]);
    assert_eq!(try_read("t.mat", &file, &ReadOptions::default()).unwrap().bags.ids(), ["7", "8"]);
}

#[test]
fn of_two_arrays_of_groups_one_is_taken_in_any_order() {
    let list = |values: &[u8]| npy("'|i1'", "(3,)", values);
    for (one, other) in [("group.npy", "groups.npy"), ("groups.npy", "group.npy")] {
        let y = ("y.npy", list(&[1, 0, 1]));
        let data = try_read(
            "t.npz",
            npz(&[(one, list(&[5, 6, 6])), (other, list(&[5, 6, 6])), y.clone()]),
            &Default::default(),
        );
        let data = data.unwrap();
        assert_eq!((names(&data), &data.groups.as_ref().unwrap().codes[..]), (vec!["f1"], &[0, 1, 1][..]));
        let file = npz(&[(one, list(&[5, 6, 6])), (other, list(&[5, 6, 7])), y]);
        let data = try_read("t.npz", &file, &ReadOptions::default()).unwrap();
        let own = if one == "group.npy" { [0, 1, 1] } else { [0, 1, 2] };
        assert_eq!((names(&data), &data.groups.as_ref().unwrap().codes[..]), (vec!["f1"], &own[..]));
        has_all(&warnings(&data), &["unused arrays", "'groups'"]);
        for (group, codes) in [(one, [0, 1, 1]), (other, [0, 1, 2])] {
            let group = Some(Column::Name(group.trim_end_matches(".npy").into()));
            let data = try_read("t.npz", &file, &ReadOptions { group, ..ReadOptions::default() }).unwrap();
            assert_eq!((names(&data), &data.groups.as_ref().unwrap().codes[..]), (vec!["f1"], &codes[..]));
        }
    }
}

#[test]
fn a_column_y_beside_a_label_is_doubted_unless_it_is_a_coordinate() {
    let said = refused("t.csv", "bag,label,y,f\na,1,1,5\nb,0,0,6\n", &ReadOptions::default());
    has_all(&said, &["columns 'label' and 'y' could both be the label", "with Label"]);
    assert_eq!(names(&parse("bag,label,x,y\na,1,1,5\nb,0,0,6\n")), ["x", "y"]);
    let told = try_read("t.csv", "bag,label,y,f\na,1,1,5\nb,0,0,6\n", &label("label")).unwrap();
    assert_eq!(names(&told), ["y", "f"]);
    has_all(&warnings(&told), &["column 'y' is treated as a feature", "Ignore(Some(\"y\"))"]);
}

// --- is the first row a heading?

#[test]
fn a_heading_of_numbers_is_not_read_as_a_bag() {
    // What pandas writes for a frame whose columns are numbers.
    let said = refused("t.csv", "mol,active,0,1,2\nm1,1,5,6,7\nm2,0,8,9,1\n", &ReadOptions::default());
    has_all(&said, &["line 1", "header", "with Header or NoHeader"]);
    // Nothing below tells text from text.
    let said = refused("t.csv", "mol,active,0,1\nm1,yes,5,6\nm2,no,8,9\n", &ReadOptions::default());
    has_all(&said, &["line 1", "header", "with Header or NoHeader"]);
    // A first row of text that could be data, where columns are named by number.
    let by_number =
        ReadOptions { bag: Some(Column::Number(1)), label: Some(Column::Number(2)), ..Default::default() };
    let said = refused("t.csv", "m1,yes,red\nm2,no,blue\n", &by_number);
    has_all(&said, &["line 1", "header", "with Header or NoHeader"]);
    let told = ReadOptions { header: Some(true), ..by_number };
    let data = try_read("t.csv", "mol,active,3,4\nm1,yes,5,6\nm2,no,8,9\n", &told).unwrap();
    assert_eq!((names(&data), rows(&data)), (vec!["3", "4"], vec![vec![5.0, 6.0], vec![8.0, 9.0]]));
    // Data without a heading still are, whatever their first row is.
    let data = parse("a,1,0.5,-2\na,1,3,4\nb,0,1,7\n");
    assert_eq!(data.bags.ids(), ["a", "b"]);
    let data = parse("m1,yes,3,4\n17,no,5,6\n");
    assert_eq!(data.bags.ids(), ["m1", "17"]);
}

// --- numbers that collapse

#[test]
fn ids_with_gaps_are_kept_to_the_last_digit() {
    let keep = vec![Column::Name("id".into())];
    let options = ReadOptions { keep, ..ReadOptions::default() };
    let data = read(&fixture("doubt_large_ids.parquet"), &options).unwrap();
    assert_eq!(
        data.kept[0].values,
        ["9007199254740993", "9007199254740992", "9007199254740994", "1", "", "7"]
    );
}

#[test]
fn whole_numbers_that_would_be_rounded_are_no_features() {
    let large = 9_007_199_254_740_993i64;
    let text = format!("bag,label,f\na,1,{large}\nb,0,1\n");
    has_all(&refused("t.csv", text, &ReadOptions::default()), &["line 2", "would be rounded", "with Keep"]);
    let bytes: Vec<u8> = [large, 1, 2, 3].iter().flat_map(|v| v.to_le_bytes()).collect();
    let file = zip(&[
        ("X.npy", npy("'<i8'", "(4, 1)", &bytes)),
        ("bag.npy", npy("'|i1'", "(4,)", &[1, 1, 2, 3])),
        ("y.npy", npy("'|i1'", "(3,)", &[1, 0, 1])),
    ]);
    has_all(&refused("t.npz", file, &ReadOptions::default()), &["row 1", "would be rounded"]);
    let allow = ReadOptions { allow_missing: true, ..ReadOptions::default() };
    let said = read(&fixture("doubt_large_ids.parquet"), &allow).unwrap_err().worded(&by_name);
    has_all(&said, &["column 'id'", "row 1", "would be rounded", "with Keep"]);
    // What double precision holds is no matter.
    assert_eq!(rows(&parse("bag,label,f\na,1,10000000000000000000\n")), [[1e19]]);
}

// --- cells of MATLAB

#[test]
fn a_second_cell_that_could_be_a_bag_or_a_label_is_refused() {
    let cells = |sizes: &[i32], cells: &[Vec<u8>]| variable(1, sizes, "bags", &cells.concat());
    let tall = matrix("", 3, 1, &[1.0, 2.0, 3.0]);
    let one = matrix("", 1, 1, &[1.0]);
    let row = cells(&[1, 2], &[tall, one.clone()]);
    let said = refused("t.mat", mat(std::slice::from_ref(&row)), &ReadOptions::default());
    has_all(&said, &["labels or bags", "label"]);
    // With labels of their own they are two bags.
    let data =
        try_read("t.mat", mat(&[row, matrix("label", 2, 1, &[0.0, 1.0])]), &Default::default()).unwrap();
    assert_eq!(data.bags.offsets(), [0, 3, 4]);
    // A number cannot be a bag of two columns.
    let wide = matrix("", 2, 2, &[1.0, 2.0, 3.0, 4.0]);
    let pair = cells(&[1, 2], &[wide, one]);
    let data = try_read("t.mat", mat(std::slice::from_ref(&pair)), &Default::default()).unwrap();
    assert_eq!((data.bags.len(), data.bags.width()), (1, 2));
    // Labels in the cells and beside them.
    let both = mat(&[pair, matrix("label", 2, 1, &[0.0, 1.0])]);
    has_all(
        &refused("t.mat", both, &Default::default()),
        &["second column of cells", "'label'", "could both be"],
    );
}

// --- one thing written in two ways

#[test]
fn a_group_written_in_two_ways_is_one_group() {
    let text = "bag,label,group,f\na,1,1,1\nb,0,1.0,2\nc,1,2,3\nd,0,2,4\nd,0,2.0,5\n";
    let data = parse(text);
    let groups = data.groups.as_ref().unwrap();
    assert_eq!(
        (&groups.codes[..], &groups.names[..]),
        (&[0, 0, 1, 1][..], &["1".to_string(), "2".into()][..])
    );
    has_all(&warnings(&data), &["groups", "'1'", "'1.0'"]);
    // Letters may matter, so that they are only pointed out.
    let data = parse("bag,label,group,f\na,yes,P1,1\nb,Yes,p1,2\nc,no,P2,3\n");
    assert_eq!(data.groups.as_ref().unwrap().names.len(), 3);
    has_all(&warnings(&data), &["groups 'P1' and 'p1'", "labels 'Yes' and 'yes'"]);
    let data = parse("bag,label,f\n1,1,1\n1.0,1,2\n2,0,3\n");
    has_all(&warnings(&data), &["bags '1' and '1.0'"]);
    assert_eq!(data.bags.len(), 3);
    // The same where numbers have commas.
    let data = parse("bag;label;group;f\na;1;1;1,5\nb;0;1,0;2,5\nc;1;2;3,5\n");
    assert_eq!(data.groups.as_ref().unwrap().codes, [0, 0, 1]);
    has_all(&warnings(&data), &["groups", "'1'", "'1.0'"]);
    let data = parse("bag,label,group,f\na,1,1000,\"1,000.5\"\nb,0,\"1,000\",2\nc,1,2,3\n");
    assert_eq!(data.groups.as_ref().unwrap().codes, [0, 0, 1]);
    let data = parse("bag;label;f\n1;1;1,5\n1,0;1;2,5\n2;0;3,5\n");
    has_all(&warnings(&data), &["bags '1' and '1,0'"]);
    assert_eq!(data.bags.ids(), ["1", "1,0", "2"]);
    // Hexadecimal ids are not numbers that happen to be equal.
    let data = parse("bag,label,group,f\na,1,1e5,1\nb,0,100000,2\n");
    assert_eq!((data.groups.as_ref().unwrap().names.len(), warnings(&data)), (2, String::new()));
    let Some(Target::Classes { names, .. }) = parse("bag,label,f\na,1,1\nb,1.0,1\nc,0,1\n").target else {
        panic!("no classes")
    };
    assert_eq!(names, ["0", "1"]);
}

// --- columns that are no measurements

#[test]
fn durations_and_dates_are_left_out_by_name() {
    for file in ["pandas", "polars", "pyarrow", "fastparquet"] {
        let data = read(&fixture(&format!("doubt_duration_{file}.parquet")), &Default::default()).unwrap();
        assert_eq!(names(&data), ["f1"], "{file}");
        has_all(&warnings(&data), &["left out", "'spent'"]);
        let label = read(&fixture(&format!("doubt_duration_{file}.parquet")), &label("spent"));
        has_all(&label.unwrap_err().worded(&by_name), &["column 'spent'", "not supported"]);
    }
    let data = parse("bag,label,taken,f\na,1,2024-01-31,1\na,1,2024-02-29,2\nb,0,2023-12-01,3\n");
    assert_eq!(names(&data), ["f"]);
    has_all(&warnings(&data), &["left out", "'taken'", "date", "Categorical"]);
}

#[test]
fn the_index_of_a_frame_is_no_feature() {
    let data = read(&fixture("doubt_index.parquet"), &Default::default()).unwrap();
    assert_eq!(names(&data), ["f1"]);
    has_all(&warnings(&data), &["left out", "'index'"]);
    let data = read(&fixture("doubt_index_is_bag.parquet"), &Default::default()).unwrap();
    assert_eq!((names(&data), data.bags.len(), warnings(&data)), (vec!["f1"], 3, String::new()));
    let table = |name: &str, start: usize| {
        let rows: String =
            (0..30).map(|r| format!("{},b{},{},{}\n", r + start, r / 3, r / 3 % 2, r % 7)).collect();
        parse(&format!("{name},bag,label,f\n{rows}"))
    };
    for data in [table("Unnamed: 0", 0), table("index", 0), table("id", 1)] {
        assert_eq!(names(&data), ["f"]);
        has_all(&warnings(&data), &["left out"]);
    }
    // A measurement that happens to count.
    assert_eq!(names(&table("time", 0)), ["time", "f"]);
}

#[test]
fn texts_shifted_by_levels_are_refused() {
    let said = read(&fixture("doubt_levels.parquet"), &Default::default()).unwrap_err().worded(&by_name);
    has_all(&said, &["column 'bag'", "have definition levels", "write it again"]);
}

#[test]
fn names_and_free_text_are_no_categories() {
    let rows: String = (0..60)
        .map(|r| {
            let bag = r / 2;
            format!(
                "b{bag},{},compound {bag},note {r} of many,{},{}\n",
                bag % 2,
                ["red", "blue"][r % 2],
                r % 7
            )
        })
        .collect();
    let text = format!("bag,label,compound,note,colour,f\n{rows}");
    let data = parse(&text);
    assert_eq!(names(&data), ["colour", "f"]);
    has_all(&warnings(&data), &["left out", "'compound' (30 values)", "'note' (60 values)", "Categorical"]);
    has_all(&warnings(&data), &["treated as categories: 'colour' (2 values)"]);
    let categorical = vec![Column::Name("compound".into())];
    let told = ReadOptions { categorical, ..ReadOptions::default() };
    assert_eq!(names(&try_read("t.csv", text, &told).unwrap()), ["compound", "colour", "f"]);
}
