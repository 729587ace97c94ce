//! Tables as people export them, damaged or in doubt: each is refused with its place and a remedy, or read with a warning
//! that names what was assumed and what would settle it.

use bagwise_core::{Dataset, Error, Setting, Target};
use bagwise_io::{Column, Encoding, ReadOptions, Task, read};

/// What must become of a file.
enum Outcome {
    /// It is refused; the message says these, the first right behind the name of the file.
    Refused,
    /// It is read, and the warnings say these.
    Warned,
}
use Outcome::{Refused, Warned};

fn read_bytes(file: &str, bytes: &[u8], options: &ReadOptions) -> (String, Result<Dataset, Error>) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(file);
    std::fs::write(&path, bytes).unwrap();
    let typed = path.to_str().unwrap().to_string();
    let data = read(&typed, options);
    (typed, data)
}

fn by_name(setting: &Setting) -> String {
    format!("{setting:?}")
}

/// A table of 30 bags of two rows with a column whose cells `cell` gives.
fn table(heading: &str, cell: impl Fn(usize) -> String) -> String {
    let rows: String = (0..60).map(|r| format!("b{},{},{},{}\n", r / 2, r / 2 % 2, cell(r), r % 7)).collect();
    format!("bag,label,{heading},f\n{rows}")
}

fn cases() -> Vec<(&'static str, Vec<u8>, Outcome, &'static [&'static str])> {
    let t = |text: &str| text.as_bytes().to_vec();
    let utf16 = |text: &str| text.encode_utf16().flat_map(u16::to_le_bytes).collect::<Vec<u8>>();
    let marked = |text: &str| [&b"\xff\xfe"[..], &utf16(text)].concat();
    vec![
        // Which column is the label?
        (
            "a.csv",
            t("bag,label,y,f\na,1,1,5\nb,0,0,6\n"),
            Refused,
            &[", line 1: ", "could both be the label", "with Label"],
        ),
        (
            "a.csv",
            t("bag,label,class,f\na,1,1,5\n"),
            Refused,
            &[", line 1: ", "could both be the label", "Ignore"],
        ),
        ("a.csv", t("bag,target,Class,f\na,1,1,5\n"), Refused, &[", line 1: ", "could both be the label"]),
        (
            "a.csv",
            t("bag,bag_id,label,f\na,1,1,5\n"),
            Refused,
            &[", line 1: ", "could both be the bag", "with Bag"],
        ),
        (
            "a.csv",
            t("mol,active,f\na,1,5\nb,0,6\n"),
            Refused,
            &[", line 1: ", "there is no column called bag", "with Bag"],
        ),
        // Is the first row a heading?
        (
            "a.csv",
            t("mol,active,0,1,2\nm1,1,5,6,7\n"),
            Refused,
            &[", line 1: ", "'active' in column 2", "Header"],
        ),
        (
            "a.csv",
            t("mol,active,0,1\nm1,yes,5,6\n"),
            Refused,
            &[", line 1: ", "numbers the columns", "NoHeader"],
        ),
        (
            "a.csv",
            t("mol,active,1,2,3\nm1,yes,5,6,1\n"),
            Refused,
            &[", line 1: ", "numbers the columns", "NoHeader"],
        ),
        (
            "a.csv",
            t("0,1,2,3\n100,0,0.25,-1.5\n100,0,0.5,2\n"),
            Refused,
            &[", line 1: ", "numbers the columns", "NoHeader"],
        ),
        ("a.csv", t("m1,yes,red\nm2,no,blue\n"), Refused, &[", line 1: ", "header or data", "Header"]),
        ("a.csv", t("mol,active,2019,2020\nm1,1,5,6\n"), Refused, &[", line 1: ", "is followed by a number"]),
        ("a.csv", t("a,1,x,2\nb,0,3,4\n"), Refused, &[", line 1: ", "'x' in column 3", "NoHeader"]),
        // Decimal commas and thousands.
        (
            "a.csv",
            t("bag;label;f\na;1;1,5\nb;0;2,25\n"),
            Warned,
            &["semicolons", "decimal commas", "Delimiter or Decimal"],
        ),
        (
            "a.csv",
            t("bag;label;f\na;1;1.234,5\nb;0;2,25\n"),
            Warned,
            &["decimal commas", "points between thousands", "Thousands"],
        ),
        ("a.csv", t("bag,label,f\na,1,\"1,234.5\"\nb,0,2.25\n"), Warned, &["commas between thousands"]),
        ("a.csv", t("bag;label;f\na;1;1 234,5\nb;0;2,25\n"), Warned, &["spaces between thousands"]),
        ("a.csv", t("bag;label;f\na;1;1'234.5\nb;0;2.25\n"), Warned, &["apostrophes between thousands"]),
        ("a.csv", t("bag,label,f\na,1,\"1,5\"\nb,0,\"2,5\"\n"), Warned, &["decimal commas"]),
        (
            "a.csv",
            t("bag;label;f\na;1;1.234\nb;0;506\n"),
            Refused,
            &[": ", "like 1.234", "with Thousands", "with Decimal"],
        ),
        ("a.csv", t("bag;label;f\na;1;0,063\nb;0;2,345\n"), Warned, &["decimal commas"]),
        (
            "a.csv",
            t("bag;label;f\na;1;1,234\nb;0;2,345\n"),
            Refused,
            &[", line 2: ", "'1,234'", "with Thousands", "with Decimal"],
        ),
        (
            "a.csv",
            t("bag;label;f;g\na;1;1,5;2.5\n"),
            Refused,
            &[", line 2: ", "'1,5' in column 'f' has a decimal comma", "with Decimal"],
        ),
        (
            "a.csv",
            t("bag;label;f\na;1;1,5\nb;0;2,5\nc;0;3,5\nd;1;4,5\ne;1;1.5\n"),
            Refused,
            &[", line 6: ", "'1.5' in column 'f'", "with Decimal"],
        ),
        (
            "a.csv",
            t("bag,label,f\na,1,1.5\nb,0,2.5\nc,0,3.5\nd,1,4.5\ne,1,\"1,5\"\n"),
            Refused,
            &[", line 6: ", "decimal comma", "line 2"],
        ),
        ("a.csv", t("bag;label;f\na;1,5;1\nb;2,5;0\n"), Warned, &["decimal commas"]),
        // What separates cells.
        ("a.csv", t("bag|label|f\na|1|5\nb|0|6\n"), Warned, &["bars between columns", "Delimiter"]),
        ("a.txt", t("bag\tlabel\tf\na\t1\t5\n"), Warned, &["tabs between columns"]),
        ("a.csv", t("bag label f\na 1 5\n"), Refused, &[", line 1: ", "a single column", "with Delimiter"]),
        ("a.csv", t("bag:label:f\na:1:5\n"), Refused, &[", line 1: ", "a single column", "with Delimiter"]),
        (
            "a.csv",
            t("sep=;\nbag;label;f\na;1;x\nb;0;5\n"),
            Refused,
            &[", line 3: ", "'x' in column 'f'", "MissingValues"],
        ),
        (
            "a.csv",
            t("bag,label,f\na,1,0,5\n"),
            Refused,
            &[", line 2: ", "bag 'a' has 2 features", "extra delimiter"],
        ),
        // Encodings.
        ("a.csv", b"bag,label,gr\xf6\xdfe\na,1,5\n".to_vec(), Warned, &["cp1252", "Encoding"]),
        ("a.csv", marked("bag,label,f\na,1,5\n"), Warned, &["UTF-16", "Encoding"]),
        ("a.txt", marked("bag\tlabel\tf\na\t1\t5\n"), Warned, &["UTF-16 text and tabs between columns"]),
        (
            "a.csv",
            marked("bag,label,f\na,1,5\n")[..31].to_vec(),
            Refused,
            &[": ", "UTF-16", "invalid character"],
        ),
        ("a.csv", utf16("bag,label,f\na,1,5\n"), Refused, &[": ", "zero bytes"]),
        ("a.csv", t("bag,label,f\ra,1,5\r"), Refused, &[": ", "carriage returns"]),
        // Missing values.
        (
            "a.csv",
            t("bag,label,f\na,1,n/a\nb,0,5\n"),
            Refused,
            &[", line 2: ", "no value for 'f'", "AllowMissing"],
        ),
        ("a.csv", t("bag,label,f\na,1,5\nb,0,#N/A\n"), Refused, &[", line 3: ", "no value for 'f'"]),
        ("a.csv", t("bag,label,f\na,1,5\nb,0,#DIV/0!\n"), Refused, &[", line 3: ", "no value for 'f'"]),
        ("a.csv", t("bag,label,f\na,1,5\nb,0,#NV\n"), Refused, &[", line 3: ", "no value for 'f'"]),
        ("a.csv", t("bag,label,f\na,1,5\nb,0,NULL\n"), Refused, &[", line 3: ", "no value for 'f'"]),
        ("a.csv", t("bag,label,f\na,1,5\nb,0,<NA>\n"), Refused, &[", line 3: ", "no value for 'f'"]),
        ("a.csv", t("bag,label,f\na,1,5\nb,0,-\n"), Refused, &[", line 3: ", "no value for 'f'"]),
        (
            "a.csv",
            t("bag,label,f\na,1,-\nb,0,5\n"),
            Refused,
            &[", line 2: ", "'-' in column 'f' means a missing value", "AllowMissing"],
        ),
        ("a.csv", t("bag,label,f\na,1,None\nb,0,None\n"), Refused, &[", line 2: ", "'None' in column 'f'"]),
        (
            "a.csv",
            t("bag,label,f\na,1,n.d.\nb,0,5\n"),
            Refused,
            &[
                ", line 2: ",
                "'n.d.' in column 'f' is not a number, but '5' in line 3 is",
                "MissingValues(Some(\"n.d.\"))",
            ],
        ),
        (
            "a.csv",
            t("bag,label,f\na,1,5\nb,0,n.d.\n"),
            Refused,
            &[", line 3: ", "'n.d.' in column 'f' is not a number", "MissingValues"],
        ),
        ("a.csv", t("bag,label,f\na,n/a,5\n"), Refused, &[", line 2: ", "bag 'a' has no label"]),
        ("a.csv", t("bag,label,group,f\na,1,#N/A,5\n"), Refused, &[", line 2: ", "bag 'a' has no group"]),
        // Numbers that collapse.
        (
            "a.csv",
            t("bag,label,f\na,1,9007199254740993\n"),
            Refused,
            &[", line 2: ", "would be rounded", "with Keep"],
        ),
        (
            "a.csv",
            t("bag,label,f\na,1,-12345678901234567891\n"),
            Refused,
            &[", line 2: ", "would be rounded"],
        ),
        ("a.csv", t("bag,label,f\na,1,1e999\n"), Refused, &[", line 2: ", "out of range"]),
        // Written in two ways.
        (
            "a.csv",
            t("bag,label,group,f\na,1,1,5\nb,0,1.0,6\n"),
            Warned,
            &["groups '1' and '1.0' are treated as one"],
        ),
        (
            "a.csv",
            t("bag,label,group,f\na,1,P 1,5\nb,0,p 1,6\n"),
            Warned,
            &["groups 'P 1' and 'p 1' are treated as two"],
        ),
        (
            "a.csv",
            t("bag,label,f\na,Active,5\nb,active,6\n"),
            Warned,
            &["labels 'Active' and 'active' are treated as two"],
        ),
        ("a.csv", t("bag,label,f\n7,1,5\n07,0,6\n"), Warned, &["bags '07' and '7' are treated as two"]),
        (
            "a.csv",
            t("bag,label,f\na,01,5\nb,1,6\nc,2,7\n"),
            Warned,
            &["labels '01' and '1' are treated as one"],
        ),
        (
            "a.csv",
            t("bag,label,f\na,1e1,5\nb,10,6\nc,-0,7\nd,0,8\n"),
            Warned,
            &["labels '-0' and '0' are treated as one (and 1 more such pair)"],
        ),
        ("a.csv", t("bag,label,f\nM1,1,5\nm1,0,6\n"), Warned, &["bags 'M1' and 'm1' are treated as two"]),
        (
            "a.csv",
            t("bag,label,f\na,TRUE,5\nb,1,6\nc,0,7\n"),
            Warned,
            &["labels '1' and 'TRUE' are treated as two"],
        ),
        ("a.csv", t("bag,label,f\na,Yes,5\nb,y,6\nc,no,7\n"), Warned, &["labels 'Yes' and 'y'"]),
        (
            "a.csv",
            t("bag,label,f\n-,-,0\na,1,5\nb,0,6\n"),
            Warned,
            &["the label '-' is treated as a class", "MissingValues(Some(\"-\"))"],
        ),
        // What stands around a table.
        (
            "a.csv",
            t("bag,label,f\na,1,5\nb,0,6\nTotal,1,11\n"),
            Warned,
            &["the last row, bag 'Total', looks like a summary", "remove it"],
        ),
        (
            "a.csv",
            (table("g", |r| r.to_string()) + "Mean,0.5,30,3\n").into(),
            Warned,
            &["because that of bag 'Mean' is 0.5, but 30 of 31", "Task(\"classification\")", "a summary"],
        ),
        (
            "a.csv",
            t("Results of 2024,,\nbag,label,f\na,1,5\n"),
            Refused,
            &[", line 1: ", "looks like a title above the column names", "remove"],
        ),
        ("a.csv", t("Results\nbag,label,f\na,1,5\n"), Refused, &[", line 1: ", "looks like a title"]),
        ("a.csv", t(",,sizes,\nbag,label,f,g\na,1,5,6\n"), Refused, &[", line 1: ", "looks like a title"]),
        (
            "a.csv",
            t("bag,label,f,,\na,1,5,,\nb,0,6,7,\n"),
            Refused,
            &[", line 3: ", "column 4 has no name", "Ignore"],
        ),
        // Columns that are no measurements.
        (
            "a.csv",
            table("share", |r| format!("{r}.5%")).into(),
            Warned,
            &["left out", "'share' (numbers followed by '%': write it in the heading to use them)"],
        ),
        (
            "a.csv",
            table("dose", |r| format!("{} mg", r % 3)).into(),
            Warned,
            &["left out", "'dose' (numbers followed by 'mg'"],
        ),
        (
            "a.csv",
            table("measured", |r| format!("202401{:02}", r % 28 + 1)).into(),
            Warned,
            &["left out", "'measured' (dates as numbers)"],
        ),
        (
            "a.csv",
            table("date", |r| (45_000 + r % 9).to_string()).into(),
            Warned,
            &["left out", "'date' (dates as numbers)"],
        ),
        (
            "a.csv",
            table("day", |r| format!("{}.12.2024", r % 28 + 1)).into(),
            Warned,
            &["left out", "'day' (dates or times)"],
        ),
        (
            "a.csv",
            table("at", |r| format!("2024-01-01T{:02}:00", r % 24)).into(),
            Warned,
            &["left out", "'at' (dates or times)"],
        ),
        (
            "a.csv",
            table("name", |r| format!("n{r}")).into(),
            Warned,
            &["left out", "'name' (60 values)", "Categorical"],
        ),
        (
            "a.csv",
            table("name", |r| format!("n{}", r / 2)).into(),
            Warned,
            &["left out", "'name' (30 values)"],
        ),
        (
            "a.csv",
            table("colour", |r| format!("c{}", r % 5)).into(),
            Warned,
            &["treated as categories: 'colour' (5 values)"],
        ),
        (
            "a.csv",
            table("mol_id", |r| (r / 2 * 7).to_string()).into(),
            Warned,
            &["left out", "'mol_id' (a number for each bag)"],
        ),
        (
            "a.csv",
            table("Unnamed: 0", |r| r.to_string()).into(),
            Warned,
            &["left out", "'Unnamed: 0' (a number for each row)"],
        ),
        (
            "a.csv",
            table("rowId", |r| (r % 2).to_string()).into(),
            Warned,
            &["left out", "counts the rows of each bag"],
        ),
        (
            "a.csv",
            t(",bag,label,f\n0,a,1,5\n1,b,0,6\n"),
            Refused,
            &[", line 1: ", "column 1 has no name", "Ignore"],
        ),
        (
            "a.csv",
            t("bag,label,day\na,1,2024-01-01\nb,0,2024-01-02\n"),
            Refused,
            &[": ", "no column of the table contains measurements", "'day'", "Keep"],
        ),
        // Compression.
        ("a.csv.xz", b"\xfd7zXZ\0\0\x04".to_vec(), Refused, &[": ", "compressed with xz", "xz -d"]),
        ("a.csv.bz2", b"BZh91AY&SYabcd".to_vec(), Refused, &[": ", "bzip2 data is", "again"]),
    ]
}

#[test]
fn no_table_in_doubt_is_read_silently() {
    let cases = cases();
    assert!(cases.len() >= 60, "{}", cases.len());
    let mut wrong = Vec::new();
    for (file, bytes, outcome, expected) in &cases {
        let (typed, data) = read_bytes(file, bytes, &ReadOptions::default());
        let shown = String::from_utf8_lossy(&bytes[..bytes.len().min(60)]).into_owned();
        let said = match (&data, outcome) {
            (Err(error), Refused) => error.worded(&by_name),
            (Ok(data), Warned) => data.warnings.iter().map(|w| w.worded(&by_name) + "\n").collect(),
            (Err(error), Warned) => format!("refused: {}", error.worded(&by_name)),
            (Ok(data), Refused) => format!("read, with {:?}", data.warnings),
        };
        let after = said.strip_prefix(&typed).unwrap_or(&said);
        let has_place = matches!(outcome, Warned) || after.starts_with(expected[0]);
        let has_remedy =
            matches!(outcome, Warned) || after.split_once("; ").is_some_and(|(_, r)| r.len() > 8);
        if !has_place || !has_remedy || !expected.iter().all(|part| after.contains(part)) {
            wrong.push(format!("{shown:?}\n    {said}\n    expected {expected:?}"));
        }
    }
    assert!(wrong.is_empty(), "{} of {}:\n{}", wrong.len(), cases.len(), wrong.join("\n"));
}

/// Labels whose commas may be decimal or separate thousands were classes without a word.
#[test]
fn labels_with_the_other_separator_are_refused() {
    let said = |text: &str, options: &ReadOptions| match read_bytes("a.csv", text.as_bytes(), options).1 {
        Ok(data) => panic!("{text:?} was read, with {:?}", data.target),
        Err(error) => error.worded(&by_name),
    };
    let plain = ReadOptions::default();
    let both = "bag;label;f\na;1,234;1\nb;2,345;2\nc;3,250;4\n";
    let found = said(both, &plain);
    assert!(found.contains(", line 2: the label '1,234' of bag 'a' has a comma; it is 1234 if"), "{found}");
    assert!(found.contains("Thousands") && found.contains("Decimal"), "{found}");
    let target =
        |options: ReadOptions, text: &str| read_bytes("a.csv", text.as_bytes(), &options).1.unwrap().target;
    let values = |v: &[f64]| Some(Target::Values(v.to_vec()));
    let decimal = ReadOptions { decimal: Some(','), ..Default::default() };
    assert_eq!(target(decimal, both), values(&[1.234, 2.345, 3.25]));
    let thousands = ReadOptions { thousands: Some(','), task: Task::Regression, ..Default::default() };
    assert_eq!(target(thousands, both), values(&[1234.0, 2345.0, 3250.0]));
    // Behind the rows by which the table is known to have decimal commas.
    let many: String = (0..9000).map(|b| format!("b{b};0,5;0,25\n")).collect();
    let found = said(&format!("bag;label;f\n{many}z;1.234;7,5\n"), &plain);
    assert!(found.contains("line 9002: the label '1.234' of bag 'z' has a point; it is 1234 if"), "{found}");
    let regression = ReadOptions { task: Task::Regression, ..Default::default() };
    for text in [
        "bag;label;f\na;1,5;1.5\nb;2,5;2.5\nc;3;4.5\n",
        "bag,label,f\na,\"1,5\",1.5\nb,\"2,5\",2.5\nc,3,4.5\n",
        "bag;label;f\nc;3;4.5\na;1,5;1.5\nb;2,5;2.5\n",
    ] {
        for options in [&plain, &regression] {
            let found = said(text, options);
            assert!(found.contains("the label '1,5' of bag 'a' has a decimal comma; write 1.5"), "{found}");
        }
        // They may be classes after all.
        let classes = ReadOptions { task: Task::Classification, ..Default::default() };
        assert!(matches!(target(classes, text), Some(Target::Classes { .. })));
    }
    // Beside words they are classes.
    let text = "bag,label,f\na,\"1,5\",1.5\nb,\"2,5\",2.5\nc,none found,4.5\n";
    assert!(matches!(target(ReadOptions::default(), text), Some(Target::Classes { .. })));
}

#[test]
fn malformed_quotes_are_refused_with_line_and_column() {
    for (text, place, what) in [
        (
            "bag,label,f\na,1,5\nb,0,\"1\"2\n",
            ", line 3: ",
            "column 3 continues after its closing quotation mark",
        ),
        ("bag,label,f\na,1,5\nb,\"a\"x,7\n", ", line 3: ", "column 2 continues"),
        ("bag,label,f\na,1,5\n\"\"b2\",\"0\",\"7\"\n", ", line 3: ", "column 1 continues"),
        ("bag,label,f\na,1,5\nb,\"0\" x,7\n", ", line 3: ", "column 2 continues"),
        ("bag,label,f\n \"b2\",0,5\nb,0,7\n", ", line 2: ", "column 1 has a space before its quotation mark"),
        ("bag;label;f\nb;0; \"7\"\n", ", line 2: ", "column 3 has a space"),
        ("sep=;\nbag;label;f\n\nb;0;\"7\"8\n", ", line 4: ", "column 3 continues"),
        ("bag,\"la\"bel,f\nb,0,7\n", ", line 1: ", "column 2 continues"),
    ] {
        let (typed, data) = read_bytes("a.csv", text.as_bytes(), &ReadOptions::default());
        let said = match data {
            Ok(data) => panic!("{text:?} was read, with {:?}", data.bags.ids()),
            Err(error) => error.worded(&by_name),
        };
        let said = said.strip_prefix(&typed).unwrap();
        assert!(said.starts_with(place) && said.contains(what), "{text:?}: {said}");
        assert!(said.contains("quotation mark") && said.contains("; "), "{said}");
    }
    // These are in order.
    let text = "bag,label,f,g\n\"a\" ,1,\"5\"\t,5\" bolt\n\"b\",0,6,\"6\"\" bolt\"\nc,0,7, 6\"\r\n\"d\",0,8,\"x\"\r\n";
    let (_, data) = read_bytes("a.csv", text.as_bytes(), &ReadOptions::default());
    assert_eq!(data.unwrap().bags.ids(), ["a", "b", "c", "d"]);
}

#[test]
fn what_is_told_settles_every_doubt() {
    let value = |text: &str, options: ReadOptions| {
        let (_, data) = read_bytes("a.csv", text.as_bytes(), &options);
        let data = data.unwrap_or_else(|e| panic!("{text}: {e}"));
        let mut row = vec![0.0; data.bags.width()];
        data.bags.instances().row_into(0, &mut row).unwrap();
        row[0]
    };
    let text = "bag;label;f\na;1;1,234\nb;0;2,345\n";
    assert_eq!(value(text, ReadOptions { decimal: Some(','), ..Default::default() }), 1.234);
    assert_eq!(value(text, ReadOptions { thousands: Some(','), ..Default::default() }), 1234.0);
    let text = "bag;label;f\na;1;1.234\nb;0;2.345\n";
    assert_eq!(value(text, ReadOptions { decimal: Some('.'), ..Default::default() }), 1.234);
    assert_eq!(value(text, ReadOptions { thousands: Some('.'), ..Default::default() }), 1234.0);
    assert_eq!(
        value("bag:label:f\na:1:5\n", ReadOptions { delimiter: Some(':'), ..Default::default() }),
        5.0
    );
    // A power of ten follows no thousands; a table may be typeset; columns without name and cells are none.
    assert_eq!(value("bag;label;f\na;1;1,288E+00\nb;0;2,345E+01\n", ReadOptions::default()), 1.288);
    assert_eq!(value("bag,label,f\na,1,\u{2212}1.5\nb,0,2\n", ReadOptions::default()), -1.5);
    for text in ["bag,label,f,,\na,1,5,,\nb,0,6,,\n", "bag,label,f,,\na,1,5\n", "bag,label,f\na,1,5,\n"] {
        assert_eq!(value(text, ReadOptions::default()), 5.0);
    }
    let ignored = ReadOptions { ignore: vec![Column::Number(4)], ..Default::default() };
    assert_eq!(value("bag,label,f,,\na,1,5,x,\n", ignored), 5.0);
    // Excel's first line, whose separator is a blank itself.
    assert_eq!(value("sep=\t\r\nbag\tlabel\tf\r\na\t1\t5\r\n", ReadOptions::default()), 5.0);
    let told = ReadOptions {
        missing_values: vec!["n.d.".into(), "-999".into()],
        allow_missing: true,
        ..Default::default()
    };
    assert!(value("bag,label,f\na,1,n.d.\nb,0,5\n", told.clone()).is_nan());
    assert!(value("bag,label,f\na,1,-999.0\nb,0,5\n", told).is_nan());
    // A strand is + or -, and neither is missing.
    let (_, data) = read_bytes("a.csv", b"bag,label,strand\na,1,-\na,1,+\nb,0,-\n", &ReadOptions::default());
    let data = data.unwrap();
    assert!(data.bags.features()[0].is_categorical() && !data.bags.has_missing());
    // The encoding decides what a letter is.
    let told = ReadOptions { encoding: Some(Encoding::Windows1252), ..Default::default() };
    let (_, data) = read_bytes("a.csv", b"bag,label,\x80\na,1,5\n", &told);
    let data = data.unwrap();
    assert_eq!((data.bags.features()[0].name.as_str(), data.warnings.len()), ("€", 0));
}
