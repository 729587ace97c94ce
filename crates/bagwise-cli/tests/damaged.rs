//! Tables that cannot be used. Each is refused with exit code 2 and one line that names the file, the line in it
//! (where there is one) and a remedy; nothing is printed to stdout, and no file is left behind.

mod common;

use std::io::Write as _;
use std::path::Path;

use common::{bagwise, text};

const GOOD: &str = "bag,label,x,z\na,0,1,2\na,0,3,4\nb,1,5,6\nb,1,7,8\n";
const SPARSE: &str = "a 0 1:1 2:0.5\na 0 3:1\nb 1 1:2\nb 1 2:2\n";

/// What keeps a table from being learned from, but not from being looked at.
const GOES_ON: [&str; 4] =
    ["has no value for", "is a missing value", "there is no column called bag", "could be a header or data"];

/// A damaged file, the options it is read with, and the line the message must name.
struct Case {
    name: &'static str,
    file: &'static str,
    bytes: Vec<u8>,
    options: &'static [&'static str],
    line: Option<u64>,
}

fn case(name: &'static str, bytes: impl Into<Vec<u8>>, line: Option<u64>) -> Case {
    Case { name, file: "table.csv", bytes: bytes.into(), options: &[], line }
}

/// The good table with options that do not fit it.
fn options(name: &'static str, options: &'static [&'static str]) -> Case {
    Case { options, ..case(name, GOOD, None) }
}

fn sparse(name: &'static str, bytes: String, line: u64) -> Case {
    Case { file: "table.sparse", ..case(name, bytes, Some(line)) }
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

fn cases() -> Vec<Case> {
    let mend = |from: &str, to: &str| {
        assert!(GOOD.contains(from), "{from}");
        GOOD.replacen(from, to, 1)
    };
    let mut all = vec![
        case("empty file", "", None),
        case("nothing but a byte order mark", "\u{feff}", None),
        case("nothing but blank lines", "\n\n\n", None),
        case("header and no rows", "bag,label,x,z\n", None),
        case("a row is short", mend("a,0,3,4", "a,0,3"), Some(3)),
        case("a row is long", mend("b,1,5,6", "b,1,5,6,7"), Some(4)),
        case("cut inside the last row", GOOD.trim_end_matches(",8\n"), Some(5)),
        case("cut behind the last bag's id", GOOD.trim_end_matches(",1,7,8\n"), Some(5)),
        case("cut inside the header", "bag,lab", None),
        case("NaN", mend("3,4", "NaN,4"), Some(3)),
        case("nan", mend("3,4", "3,nan"), Some(3)),
        case("empty cell", mend("3,4", ",4"), Some(3)),
        case("NA", mend("3,4", "NA,4"), Some(3)),
        case("infinity", mend("5,6", "inf,6"), Some(4)),
        case("minus infinity", mend("5,6", "5,-Infinity"), Some(4)),
        case("too large for a number", mend("5,6", "1e999,6"), Some(4)),
        case("text for a number", mend("5,6", "five,6"), Some(4)),
        case("hexadecimal", mend("7,8", "0x1f,8"), Some(5)),
        case("decimal comma", mend("5,6", "\"5,5\",6.5"), Some(4)),
        case("text before numbers", mend("1,2", "red,2"), Some(2)),
        case("header twice the same", mend("x,z", "x,x"), Some(1)),
        case("column without a name", mend("x,z", "x,"), Some(2)),
        case("labels clash in a bag", mend("a,0,3", "a,1,3"), Some(3)),
        case("no bag id", mend("b,1,5", ",1,5"), Some(4)),
        case("no label", mend("b,1,5", "b,,5"), Some(4)),
        case("no column of bags", mend("bag", "id"), Some(1)),
        case("quote never closed", mend("5,6", "\"5,6"), Some(4)),
        case("rows with another delimiter", GOOD.replacen("a,0,3,4", "a;0;3;4", 1), Some(3)),
        case("a line of 10 MB", mend("3,4", &format!("{},4", "3".repeat(10_000_000))), Some(3)),
        case(
            "binary garbage",
            (0..5000u32).map(|i| (i.wrapping_mul(2_654_435_761) >> 13) as u8).collect::<Vec<_>>(),
            None,
        ),
        case("zero bytes", vec![0; 4096], None),
        case("a zero byte in a number", mend("3,4", "3\0,4"), None),
        case(
            "Latin-1",
            GOOD.replace("b,1,7", "b,1,\u{1}")
                .bytes()
                .map(|b| if b == 1 { 0xe9 } else { b })
                .collect::<Vec<_>>(),
            Some(5),
        ),
        case("UTF-16", GOOD.encode_utf16().flat_map(u16::to_le_bytes).collect::<Vec<_>>(), None),
        case("a zip archive", b"PK\x03\x04\x14\0\0\0\x08\0table.csv".to_vec(), None),
        case("a picture", b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\x01\0".to_vec(), None),
        case(
            "gzip cut short",
            {
                let g = gzip(GOOD.as_bytes());
                g[..g.len() - 12].to_vec()
            },
            None,
        ),
        case("gzip cut behind its header", gzip(GOOD.as_bytes())[..10].to_vec(), None),
        case(
            "gzip with a wrong sum",
            {
                let mut g = gzip(GOOD.as_bytes());
                let n = g.len();
                g[n - 6] ^= 0xff;
                g
            },
            None,
        ),
        case("gzip of garbage", [&[0x1f, 0x8b, 8, 0][..], &[0xff; 64]].concat(), None),
        case("gzip of nothing", gzip(b""), None),
        case("gzip of a damaged table", gzip(mend("3,4", "NaN,4").as_bytes()), Some(3)),
        case("zstd of garbage", [&[0x28, 0xb5, 0x2f, 0xfd][..], &[0xff; 64]].concat(), None),
        case("decompression bomb", gzip(&GOOD.as_bytes().repeat(2_500_000)), None),
        options("unknown column of bags", &["--bag", "molecule"]),
        options("unknown column of labels", &["--label", "active"]),
        options("unknown column of groups", &["--group", "scaffold"]),
        options("unknown column to keep", &["--keep", "conformer"]),
        options("unknown column to leave out", &["--ignore", "f7"]),
        options("unknown column of categories", &["--categorical", "colour"]),
        options("a number beyond the columns", &["--label", "9"]),
        options("one column in two roles", &["--bag", "bag", "--label", "bag"]),
        options("no attribute left", &["--ignore", "x,z"]),
        options("categories in the label", &["--categorical", "label"]),
        Case { options: &["--group", "x"], ..case("groups clash in a bag", GOOD, Some(3)) },
        Case {
            options: &["--task", "regression"],
            ..case("words for a target", mend("a,0,1,2\na,0", "a,low,1,2\na,low"), Some(2))
        },
        sparse("sparse: no value", SPARSE.replacen("3:1", "3:", 1), 2),
        sparse("sparse: no index", SPARSE.replacen("3:1", ":1", 1), 2),
        sparse("sparse: text for a value", SPARSE.replacen("1:2", "1:two", 1), 3),
        sparse("sparse: NaN", SPARSE.replacen("1:2", "1:NaN", 1), 3),
        sparse("sparse: an index twice", SPARSE.replacen("2:0.5", "1:0.5", 1), 1),
        sparse("sparse: labels clash in a bag", SPARSE.replacen("b 1 2:2", "b 0 2:2", 1), 4),
        sparse("sparse: index beyond all measure", SPARSE.replacen("3:1", "99999999999999:1", 1), 2),
        sparse("sparse: a bag alone", SPARSE.replacen("b 1 1:2", "b", 1), 3),
    ];
    let arff =
        "@relation r\n@attribute id {a}\n@attribute bag relational\n@attribute x numeric\n@end bag\n@data\n";
    let binary = |name, file, bytes: &[u8]| Case { file, ..case(name, bytes, None) };
    all.extend([
        Case { file: "table.arff", ..case("ARFF: text for a number", format!("{arff}a,'one'\n"), Some(7)) },
        Case { file: "table.arff", ..case("ARFF: cut in a bag", format!("{arff}a,'1\\n2"), Some(7)) },
        Case { file: "table.data", ..case("C4.5: cut", "m,c,1,2,0.\nm,c,1,2", Some(2)) },
        binary("npz: nothing but its first bytes", "table.npz", b"PK\x03\x04\x14\0\0\0\0\0X.npy"),
        binary("npz: zeros", "table.npz", &[0; 1000]),
        binary("mat: version 7.3", "table.mat", b"MATLAB 7.3 MAT-file, Platform: GLNXA64"),
        binary("mat: cut", "table.mat", b"MATLAB 5.0 MAT-file"),
        binary("Parquet: cut", "table.parquet", b"PAR1\x15\0\x15"),
        binary("Parquet: zeros inside", "table.parquet", b"PAR1\0\0\0\0\0\0\0\0\0\x01\0\0\0PAR1"),
        binary("Parquet by its first bytes", "table.dat", b"PAR1PAR1PAR1PAR1"),
    ]);
    for cut in [7, 19, 25] {
        all.push(case("cut anywhere", GOOD[..cut].to_string(), None));
    }
    all
}

#[test]
fn every_damaged_table_ends_in_one_message_and_leaves_nothing() {
    let cases = cases();
    assert!(cases.len() >= 60);
    let mut wrong = Vec::new();
    for case in &cases {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join(case.file), &case.bytes).unwrap();
        let mut goes_on = false;
        for verb in [&["convert", case.file, "out.csv"][..], &["inspect", case.file]] {
            let output = bagwise(folder.path(), &[verb, case.options].concat());
            let said = String::from_utf8_lossy(&output.stderr);
            if goes_on && output.status.code() == Some(0) && !output.stdout.is_empty() {
                continue;
            }
            if let Some(problem) = problem(&output, &said, case, folder.path()) {
                wrong.push(format!("{} ({}): {problem}\n  {}", case.name, verb[0], said.trim_end()));
            }
            // What inspect counts or asks about instead.
            goes_on = GOES_ON.iter().any(|found| said.contains(found));
        }
    }
    assert!(wrong.is_empty(), "{} of {}:\n{}", wrong.len(), 2 * cases.len(), wrong.join("\n"));
}

fn problem(output: &std::process::Output, said: &str, case: &Case, folder: &Path) -> Option<String> {
    if output.status.code() != Some(2) {
        return Some(format!("exit code {:?}", output.status.code()));
    }
    if !output.stdout.is_empty() {
        return Some("something on stdout".into());
    }
    if !said.starts_with("error: ") || said.lines().count() != 1 || said.contains("panicked") {
        return Some("not one message".into());
    }
    let place = match case.line {
        Some(line) => format!("{}, line {line}:", case.file),
        None => case.file.to_string(),
    };
    if !said.contains(&place) {
        return Some(format!("does not name {place}"));
    }
    // "place: finding; remedy"
    let remedy = said.split_once("; ").map_or("", |(_, remedy)| remedy.trim());
    if remedy.split(' ').count() < 3 {
        return Some("no remedy".into());
    }
    if said.chars().count() > 400 || said.trim_end().chars().any(char::is_control) {
        return Some("quotes the input without measure".into());
    }
    let left: Vec<_> = std::fs::read_dir(folder).unwrap().map(|f| f.unwrap().file_name()).collect();
    (left != [case.file]).then(|| format!("left behind {left:?}"))
}

#[test]
fn the_good_tables_are_good() {
    for (file, content) in [("table.csv", GOOD), ("table.sparse", SPARSE)] {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join(file), content).unwrap();
        let output = bagwise(folder.path(), &["convert", file, "out.csv"]);
        assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
        assert!(folder.path().join("out.csv").exists());
    }
}

#[test]
fn a_file_that_cannot_be_opened_is_named() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::create_dir(folder.path().join("slides")).unwrap();
    for name in ["slides", "missing.csv", "no/such/folder.csv", "synthetic:nothing", "musk9"] {
        let output = bagwise(folder.path(), &["inspect", name]);
        let said = text(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{said}");
        assert!(said.lines().count() == 1 && said.contains(name.trim_start_matches("synthetic:")), "{said}");
    }
}

#[test]
fn an_output_that_cannot_be_written_leaves_what_was_there() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("out.csv"), "mine").unwrap();
    std::fs::write(folder.path().join("bad.csv"), GOOD.replacen("5,6", "5,x", 1)).unwrap();
    for args in [
        &["convert", "bad.csv", "out.csv"][..],
        &["convert", "musk1", "no/such/out.csv"],
        &["convert", "musk1", "out.csv", "--output-format", "excel"],
    ] {
        let output = bagwise(folder.path(), args);
        assert_eq!(output.status.code(), Some(2), "{args:?}");
        assert_eq!(text(&output.stderr).lines().count(), 1, "{args:?}");
    }
    assert_eq!(std::fs::read_to_string(folder.path().join("out.csv")).unwrap(), "mine");
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 2);
}
