//! Damaged tables: each is refused with the file, the line where there is one, what was found and what would
//! do. None makes the reader panic.
#![allow(clippy::print_stderr)] // a skipped case says so

use std::io::Write;

use bagwise::io::{Column, ReadOptions, Task, read};
use flate2::Compression;
use flate2::write::GzEncoder;
use ruzstd::encoding::{CompressionLevel, compress_to_vec};

/// A file, how it is read, and what the message must say.
struct Case {
    file: &'static str,
    bytes: Vec<u8>,
    options: ReadOptions,
    line: Option<u64>,
    expected: &'static [&'static str],
}

fn case(
    file: &'static str,
    bytes: impl Into<Vec<u8>>,
    line: impl Into<Option<u64>>,
    expected: &'static [&'static str],
) -> Case {
    Case { file, bytes: bytes.into(), options: ReadOptions::default(), line: line.into(), expected }
}

impl Case {
    fn with(mut self, change: impl FnOnce(&mut ReadOptions)) -> Case {
        change(&mut self.options);
        self
    }
}

fn column(name: &str) -> Option<Column> {
    Some(name.parse().unwrap())
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

fn zstd(bytes: &[u8]) -> Vec<u8> {
    compress_to_vec(bytes, CompressionLevel::Fastest)
}

/// A small whole table.
fn table() -> Vec<u8> {
    let mut text = b"bag,label,f1,f2,f3\n".to_vec();
    for row in 0..60 {
        let bag = row / 3;
        writeln!(text, "b{bag},{},{},{}.5,-{row}e-1", bag % 2, row * 7, row).unwrap();
    }
    text
}

fn bomb() -> Vec<u8> {
    // A hundred megabytes of good rows: no line is long, only the sum is absurd.
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    let rows = b"b,1,0\n".repeat(100_000);
    for _ in 0..170 {
        encoder.write_all(&rows).unwrap();
    }
    encoder.finish().unwrap()
}

fn cases() -> Vec<Case> {
    let whole = table();
    let gz = gzip(&whole);
    let zst = zstd(&whole);
    let mut flipped = gz.clone();
    let middle = flipped.len() / 2;
    flipped[middle] ^= 0x55;
    let mut wrong_sum = gz.clone();
    let end = wrong_sum.len() - 6;
    wrong_sum[end] ^= 0xff;
    let utf16_bare: Vec<u8> = "bag,label,f1\na,1,2\n".encode_utf16().flat_map(u16::to_be_bytes).collect();
    let garbage: Vec<u8> = (0..5000u32).map(|i| (i.wrapping_mul(2_654_435_761) >> 13) as u8).collect();
    let long_line = [b"bag,label,f1\na,1,".to_vec(), vec![b'7'; 10_000_000], b"\n".to_vec()].concat();
    let long_cells = [b"bag,label,f1\na,1".to_vec(), b",1".repeat(5_000_000), b"\n".to_vec()].concat();
    let long_sparse = [b"a 1 1:2".to_vec(), vec![b' '; 10_000_000], b"\n".to_vec()].concat();
    let open_quote = [b"bag,label,f1\n\"a,1,2\n".to_vec(), b"b,0,1\n".repeat(2_000_000)].concat();
    let columns = vec![b','; 2_000_000];

    let mut cases = vec![
        // Shape.
        case(
            "short.csv",
            "bag,label,f1,f2\na,1,2,3\nb,0,4\n",
            3,
            &["bag 'b' has 1 features", "the first row has 2"],
        ),
        case(
            "long.csv",
            "bag,label,f1,f2\na,1,2,3\nb,0,4,5,6\n",
            3,
            &["bag 'b' has 3 features", "has 2; look for"],
        ),
        case(
            "stub.csv",
            "bag,label,f1,f2\na,1,2,3\nb\n",
            3,
            &["the row has 1 columns", "is the line truncated"],
        ),
        case("crlf.csv", "bag,label,f1,f2\r\na,1,2,3\r\n\r\nb,0,4\r\n", 4, &["bag 'b' has 1 features"]),
        case("blank.csv", "\n\nbag,label,f1\na,1,2\n\n\nb,0\n", 7, &["the row has 2 columns"]),
        case("first.csv", "1,1,0.5,2\n1,1,0.5\n", 2, &["bag '1' has 1 features", "the first row has 2"]),
        case("quoted.csv", "bag,label,f1\n\"a\nb\",1,2\nc,1,x\n", 4, &["'x' in column 'f1' is not a number"]),
        case("begun.csv", "bag,label,f1\nz,1,2\n\"a\nb\",1,x\n", 3, &["'x' in column 'f1' is not a number"]),
        case("mac.csv", "bag,label,f1\ra,1,2\r", None, &["carriage returns only", "line feeds"]),
        case(
            "one.csv",
            "bag\na\nb\n",
            1,
            &["'bag' is a single column", "commas, tabs, semicolons", "with Delimiter"],
        ),
        case("spaces.csv", "1 1 0.5\n1 1 0.6\n", 1, &["is a single column", "with Delimiter"]),
        // Nothing there.
        case("empty.csv", "", None, &["the file is empty", "give a table"]),
        case("newlines.csv", "\n\r\n\n", None, &["the file is empty"]),
        case("bom.csv", "\u{feff}", None, &["the file is empty"]),
        case("heading.csv", "bag,label,f1\n", None, &["a header but no rows", "at least one bag"]),
        case("nothing.csv.gz", gzip(b""), None, &["the file is empty"]),
        case("comments.sparse", "# only\n# comments\n", None, &["the table has no rows"]),
        // Values.
        case(
            "nan.csv",
            "bag,label,f1\na,1,2\na,1,NaN\n",
            3,
            &["bag 'a' has no value for 'f1'", "with AllowMissing"],
        ),
        case("na.csv", "bag,label,f1,f2\na,1,2,NA\n", 2, &["bag 'a' has no value for 'f2'"]),
        case("question.csv", "bag,label,f1,f2\na,1,?,1\n", 2, &["bag 'a' has no value for 'f1'"]),
        case("hole.csv", "bag,label,f1,f2\na,1,,1\n", 2, &["bag 'a' has no value for 'f1'", "fill it in"]),
        case(
            "inf.csv",
            "bag,label,f1\na,1,inf\n",
            2,
            &["'inf' in column 'f1' is infinite", "finite numbers"],
        ),
        case("minus.csv", "bag,label,f1\na,1,-Infinity\n", 2, &["'-Infinity' in column 'f1' is infinite"])
            .with(|o| o.allow_missing = true),
        case("huge.csv", "bag,label,f1\na,1,1\na,1,1e999\n", 3, &["'1e999' in column 'f1' is out of range"]),
        case(
            "text.csv",
            "bag,label,f1\na,1,1.5\na,1,l.5\n",
            3,
            &[
                "'l.5' in column 'f1' is not a number",
                "numbers since line 2",
                "with Categorical(Some(\"f1\"))",
            ],
        ),
        case(
            "mixed.csv",
            "bag,label,f1\na,1,O.5\na,1,0.5\n",
            2,
            &[
                "'O.5' in column 'f1' is not a number, but '0.5' in line 3 is",
                "with Categorical(Some(\"f1\"))",
            ],
        ),
        case(
            "comma3.csv",
            "bag;label;f1\na;1;1,000\n",
            2,
            &[
                "'1,000' in column 'f1' has a comma",
                "it is 1000 if that is a thousands separator",
                "with Decimal",
            ],
        ),
        case("group.csv", "bag,label,group,f1\na,1,p,3\nb,1,NA,4\n", 3, &["bag 'b' has no group"]),
        case("hex.csv", "bag,label,f1\na,1,1\na,1,0x1F\n", 3, &["'0x1F' in column 'f1' is not a number"]),
        case("control.csv", "bag,label,f1\na,1,1\na,1,1\x1b[31m\n", 3, &["'1\u{fffd}[31m' in column 'f1'"]),
        // Bags, labels, groups.
        case(
            "label.csv",
            "bag,label,f1\na,1,2\nb,0,2\na,0,3\n",
            4,
            &["bag 'a' has label '0', but '1' in line 2", "the same label", "with Label"],
        ),
        case(
            "group.csv",
            "bag,group,label,f1\na,g,1,2\na,h,1,3\n",
            3,
            &["bag 'a' has group 'h', but 'g' in line 2", "with Group"],
        ),
        case("nobag.csv", "bag,label,f1\na,1,2\n,1,3\n", 3, &["the row has no bag id", "fill it in"]),
        case("blankbag.csv", "bag,label,f1\n  ,1,3\n", 2, &["the row has no bag id"]),
        case("nolabel.csv", "bag,label,f1\na,1,2\nb,,3\n", 3, &["bag 'b' has no label", "fill it in"]),
        case("half.csv", "bag,label,f1\na,1,2\na,,3\n", 3, &["bag 'a' has label none, but '1' in line 2"])
            .with(|o| o.unlabelled = true),
        case("nogroup.csv", "bag,group,label,f1\na,,1,2\n", 2, &["bag 'a' has no group"]),
        case(
            "words.csv",
            "bag,label,f1\na,1.5,2\nb,high,2\n",
            3,
            &["the label 'high' of bag 'b' is not a finite number"],
        )
        .with(|o| o.task = Task::Regression),
        // Headings and columns.
        case(
            "twice.csv",
            "bag,label,f1,f1\na,1,2,3\n",
            1,
            &["columns 3 and 4 are both called 'f1'", "unique name"],
        ),
        case(
            "unnamed.csv",
            ",bag,label,f1\n0,a,1,2\n",
            1,
            &["column 1 has no name", "with Ignore(Some(\"1\"))"],
        ),
        case("nocolumn.csv", "mol,label,f1\na,1,2\n", 1, &["there is no column called bag", "with Bag"]),
        case(
            "unknown.csv",
            "mol,active,f1\na,1,2\n",
            1,
            &["there is no column 'activ'", "did you mean 'active'?"],
        )
        .with(|o| (o.bag, o.label) = (column("mol"), column("activ"))),
        case(
            "number.csv",
            "bag,label,f1\na,1,2\n",
            1,
            &["there is no column 9: the table has 3", "counted from 1"],
        )
        .with(|o| o.label = column("9")),
        case(
            "noheading.csv",
            "1,1,0.5\n",
            1,
            &["there is no column 'mol': the table has no header", "with Header"],
        )
        .with(|o| (o.bag, o.header) = (column("mol"), Some(false))),
        case(
            "same.csv",
            "bag,label,f1\na,1,2\n",
            1,
            &["column 'bag' is given both as bag and as label", "one role"],
        )
        .with(|o| (o.bag, o.label) = (column("bag"), column("bag"))),
        case("kept.csv", "bag,label,f1\na,1,2\n", 1, &["column 'f1' is given both as kept and as ignored"])
            .with(|o| (o.keep, o.ignore) = (vec![Column::Name("f1".into())], vec![Column::Number(3)])),
        case(
            "both.csv",
            "bag,label,class,f1\na,1,1,2\n",
            1,
            &["columns 'label' and 'class' could both be the label", "with Label"],
        ),
        case("nofeature.csv", "bag,label,f1\na,1,2\n", 1, &["none of the 3 columns is a feature"])
            .with(|o| o.ignore = vec![Column::Name("f1".into())]),
        case(
            "category.csv",
            "bag,label,f1\na,1,2\n",
            1,
            &["column 'label' cannot be categorical: its role is label"],
        )
        .with(|o| o.categorical = vec![Column::Name("label".into())]),
        case("columns.csv", columns, 1, &["2000001 columns; at most", "sparse form"]),
        case("format.csv", "bag,label,f1\na,1,2\n", None, &["unknown format 'cvs'", "did you mean 'csv'?"])
            .with(|o| o.format = Some("cvs".into())),
        // Not text.
        case("garbage.csv", garbage.clone(), None, &["not a text table", "CSV in UTF-8"]),
        case("garbage.bin", garbage, None, &["the format is not recognised", "with InputFormat"]),
        case("utf16be.csv", utf16_bare, None, &["not a text table"]),
        case("book.xlsx", b"PK\x03\x04....", None, &["zip archive or a spreadsheet", "as CSV"]),
        // Length.
        case("line.csv", long_line, 2, &["a row is longer than 8 MB"]),
        case("cells.csv", long_cells, 2, &["a row is longer than 8 MB", "sparse form"]),
        case("line.sparse", long_sparse, 1, &["a row is longer than 8 MB"]),
        case("openquote.csv", open_quote, 2, &["a row is longer than 8 MB", "quotation mark not closed"]),
        case("quote.csv", "bag,label,f1\na,1,2\n\"b,0,3\nc,1,4\n", 3, &["is not closed", "twice"]),
        case(
            "swallowed.csv",
            "bag,label,f1\n\"a,1,2\n\"a,1,3\nb,0,4\n",
            2,
            &["opens a cell, and the next one", "is followed by text", "close it in its own line"],
        ),
        case(
            "inches.csv",
            "bag,label,f1,f2\na,1,\"5,1\na,1,\"6,1\nb,0,4,1\n",
            2,
            &["opens a cell, and the next one"],
        ),
        case("quoteend.csv", "bag,label,f1\na,1,\"2\n", 2, &["is not closed"]),
        // Compression.
        case(
            "cut.csv.gz",
            gz[..gz.len() - 9].to_vec(),
            None,
            &["the gzip data is truncated", "download the file again"],
        ),
        case("cutearly.csv.gz", gz[..14].to_vec(), None, &["the gzip data is truncated"]),
        case("cut.csv.zst", zst[..zst.len() - 7].to_vec(), None, &["the zstd data is truncated"]),
        case("cutearly.csv.zst", zst[..6].to_vec(), None, &["the zstd data is truncated"]),
        case("flipped.csv.gz", flipped, None, &["the gzip data is damaged", "download the file again"]),
        case("sum.csv.gz", wrong_sum, None, &["the gzip data is damaged"]),
        case("bomb.csv.gz", bomb(), 780_000, &["a decompression bomb?", "decompress it first"]),
        case("zip.csv.gz", gzip(&gz), None, &["not a text table"]),
        // The sparse form.
        case("zero.sparse", "a 1 0:1 3:2\n", 1, &["'0:1' has index 0", "indices start at 1"]),
        case(
            "down.sparse",
            "a 1 1:1\na 1 5:1 3:2\n",
            2,
            &["index 3 of bag 'a' follows a larger one", "ascend"],
        ),
        case("double.sparse", "a 1 3:1 3:2\n", 1, &["index 3 of bag 'a' occurs twice"]),
        case(
            "far.sparse",
            "a 1 1:1\na 1 5000000000:1\n",
            2,
            &["has an index above 4294967295", "number the attributes"],
        ),
        case("farther.sparse", "a 1 99999999999999999999:1\n", 1, &["has no integer before the colon"]),
        case("negative.sparse", "a 1 -3:1\n", 1, &["has no integer before the colon", "start at 1"]),
        case(
            "nocolon.sparse",
            "a 1 1:1\na 1 2:1 three\n",
            2,
            &["'three' is not index:value", "with a colon"],
        ),
        case("novalue.sparse", "a 1 1:one\n", 1, &["'1:one' has no number after the colon"]),
        case("missing.sparse", "a 1 1:NaN\n", 1, &["'1:NaN' is a missing value", "with AllowMissing"]),
        case("inf.sparse", "a 1 1:1e400\n", 1, &["'1:1e400' is out of range"]),
        case(
            "nolabel.sparse",
            "a 1 1:1\nb 2:1\n",
            2,
            &["bag 'b' has no label", "with ? for an unknown label"],
        ),
        case("clash.sparse", "a 1 1:1\na 0 2:1\n", 2, &["bag 'a' has label '0', but '1' in line 1"]),
        case("unknown.sparse", "a ? 1:1\n", 1, &["bag 'a' has no label"]),
        case("zeros.sparse", "a 1\nb 0\n", None, &["no row has a value"]),
        case("group.sparse", "a 1 1:1\n", None, &["a column is given as group", "use CSV"])
            .with(|o| o.group = column("g")),
    ];
    // Cut anywhere: what is left of the last row is too short, or its number is another one; the cases here
    // are those where it must be noticed.
    for cut in
        ["bag,label,f1,f2\na,1,2,3\nb,0", "bag,label,f1,f2\na,1,2,3\nb,", "bag,label,f1,f2\na,1,2,3\nb"]
    {
        cases.push(case("cut.csv", cut, 3, &["the row has"]));
    }
    cases.push(case("cut.csv", "bag,label,f1,f2\na,1,2,3\nb,0,4,", 3, &["bag 'b' has no value for 'f2'"]));
    cases.push(case(
        "cut.csv",
        "bag,label,f1,f2\na,1,2,3\nb,0,4,1e",
        3,
        &["'1e' in column 'f2' is not a number"],
    ));
    cases
}

#[test]
fn every_damaged_table_is_refused_with_place_finding_and_remedy() {
    let folder = tempfile::tempdir().unwrap();
    let cases = cases();
    assert!(cases.len() >= 40);
    let mut wrong = Vec::new();
    for case in &cases {
        let path = folder.path().join(case.file);
        std::fs::write(&path, &case.bytes).unwrap();
        let typed = path.to_str().unwrap();
        let message = match read(typed, &case.options) {
            Ok(_) => "it was read".to_string(),
            // Settings by their names in the library.
            Err(error) => error.worded(&|setting| format!("{setting:?}")),
        };
        // The place: the file as typed, and the line. Only an unknown format has no place.
        let place = match case.line {
            // Inside a bomb the line where the limit strikes is not worth pinning.
            Some(line) if line > 100_000 => format!("{typed}, line "),
            Some(line) => format!("{typed}, line {line}: "),
            None if case.options.format.is_some() => String::new(),
            None => format!("{typed}: "),
        };
        let has_remedy = message.split_once("; ").is_some_and(|(_, remedy)| remedy.len() > 8);
        let says = case.expected.iter().all(|part| message.contains(part));
        if !message.starts_with(&place) || !has_remedy || !says {
            wrong.push(format!("{}: {message}\n    expected {place} {:?}", case.file, case.expected));
        }
        std::fs::remove_file(&path).unwrap();
    }
    assert!(wrong.is_empty(), "{} of {} messages:\n{}", wrong.len(), cases.len(), wrong.join("\n"));
}

fn refusal(name: &str) -> String {
    read(name, &ReadOptions::default()).unwrap_err().to_string()
}

#[test]
fn what_is_no_file_is_refused_by_name() {
    let folder = tempfile::tempdir().unwrap();
    let typed = folder.path().to_str().unwrap();
    assert_eq!(
        refusal(typed),
        format!(
            "{typed}: this folder contains no .npy files; give one file per bag, written with numpy.save, \
             or a table with the rows"
        )
    );
    let absent = format!("{typed}/absent.csv");
    assert_eq!(refusal(&absent), format!("{absent}: no such file; check the file name and the folder"));
    let below = folder.path().join("a.csv");
    std::fs::write(&below, table()).unwrap();
    assert!(
        refusal(&format!("{typed}/a.csv/b.csv")).starts_with(&format!("{typed}/a.csv/b.csv: no such file; "))
    );
    let misspelt = refusal("musk3");
    assert!(misspelt.starts_with("musk3: no such file or data set (looked for"), "{misspelt}");
    assert!(misspelt.contains("did you mean 'musk1'?"), "{misspelt}");
    assert!(refusal("musk1.csv").contains("the data set is called 'musk1'"), "{}", refusal("musk1.csv"));
    assert!(refusal("").starts_with("'': "), "{}", refusal(""));
    assert!(refusal("a\0b").contains("no such file; check"), "{}", refusal("a\0b"));
}

#[cfg(unix)]
#[test]
fn a_file_without_permission_is_refused_by_name() {
    use std::os::unix::fs::PermissionsExt;
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("secret.csv");
    std::fs::write(&path, table()).unwrap();
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o000)).unwrap();
    if std::fs::read(&path).is_ok() {
        eprintln!("skipped: this user may read everything");
        return;
    }
    assert!(refusal(path.to_str().unwrap()).contains("secret.csv: permission denied; ask"));
}

/// A table cut at any byte is read (where the cut leaves a whole table) or refused with the file's name.
#[test]
fn a_table_cut_anywhere_is_read_or_refused() {
    let folder = tempfile::tempdir().unwrap();
    let whole = table();
    for (file, bytes) in [("a.csv", whole.clone()), ("a.csv.gz", gzip(&whole)), ("a.csv.zst", zstd(&whole))] {
        let path = folder.path().join(file);
        let typed = path.to_str().unwrap();
        let mut refused = 0;
        for cut in 0..bytes.len() {
            std::fs::write(&path, &bytes[..cut]).unwrap();
            if let Err(error) = read(typed, &ReadOptions::default()) {
                assert!(error.to_string().starts_with(typed), "{error}");
                refused += 1;
            } else {
                // Less than the whole is read only if the file has no end of its own.
                assert_eq!(file, "a.csv", "cut at {cut}");
            }
        }
        assert!(refused > 0);
    }
}
