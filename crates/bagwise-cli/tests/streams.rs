//! Data that are read in pieces by `predict` and `explain`: the same bytes as from the whole, on stdout and in files that
//! appear when they are complete.

#![cfg(unix)]

mod common;

use std::path::Path;
use std::process::Stdio;

use common::{bagwise, done, folder, text};

/// A folder with a model and the same bags as CSV, compressed CSV and Parquet: 40,000 instances, three pieces.
fn prepared() -> tempfile::TempDir {
    let home = folder();
    let data = "synthetic:gauss?bags=4000&min=5&max=15&features=4";
    done(
        home.path(),
        "fit synthetic:gauss?bags=60&features=4 --method isk -p t=20 -p psi=8 -p c=1 -o m.bagwise",
    );
    for name in ["t.csv", "t.csv.gz", "t.parquet"] {
        done(home.path(), &format!("convert {data} {name}"));
    }
    home
}

fn fails(home: &Path, line: &str, said: &str) {
    let output = bagwise(home, &line.split_whitespace().collect::<Vec<_>>());
    assert_eq!(output.status.code(), Some(2), "{line}");
    assert!(text(&output.stderr).contains(said), "{line}\n{}", text(&output.stderr));
}

#[test]
fn the_output_is_that_of_the_whole() {
    let home = prepared();
    for verb in ["predict", "explain"] {
        for name in ["t.csv", "t.csv.gz", "t.parquet"] {
            for format in ["csv", "json", "table"] {
                let run = |stream: &str| {
                    done(home.path(), &format!("{verb} m.bagwise {name} --format {format} {stream}"))
                };
                let (whole, streamed) = (run("--stream=never"), run("--stream"));
                assert!(whole.stdout == streamed.stdout, "{verb} {name} {format}");
                assert_eq!(text(&whole.stderr), text(&streamed.stderr), "{verb} {name}");
            }
        }
    }
    let kept = |stream: &str| {
        done(home.path(), &format!("predict m.bagwise t.csv --keep label {stream} --format csv"))
    };
    assert!(kept("--stream").stdout == kept("--stream=never").stdout);
}

#[test]
fn maps_are_those_of_the_whole() {
    let home = prepared();
    for name in ["t.csv", "t.parquet"] {
        done(home.path(), &format!("embed {name} --model m.bagwise --stream=never -o whole.npz"));
        done(home.path(), &format!("embed {name} --model m.bagwise --stream -o streamed.npz"));
        let read = |name: &str| std::fs::read(home.path().join(name)).unwrap();
        assert!(read("whole.npz") == read("streamed.npz"), "{name}");
    }
    fails(home.path(), "embed t.csv --method isk --stream -o own.npz", "needs a --model");
}

#[test]
fn a_file_appears_when_it_is_complete() {
    let home = prepared();
    for (name, format) in [("out.csv", "csv"), ("out.json", "json")] {
        done(home.path(), &format!("predict m.bagwise t.parquet --stream -o {name}"));
        let printed = done(home.path(), &format!("predict m.bagwise t.parquet --format {format}"));
        assert!(std::fs::read(home.path().join(name)).unwrap() == printed.stdout, "{name}");
    }
    fails(home.path(), "predict m.bagwise t.parquet --stream -o out.csv", "exists");
    fails(home.path(), "predict m.bagwise t.csv --stream -o t.csv", "same file");
    fails(home.path(), "predict m.bagwise t.csv --stream -o out.txt", ".csv or .json");
    // A bag that comes back behind the last piece.
    let mut page = std::fs::read_to_string(home.path().join("t.csv")).unwrap();
    let first = page.lines().nth(1).unwrap().to_string();
    page += &first;
    std::fs::write(home.path().join("back.csv"), page).unwrap();
    fails(home.path(), "predict m.bagwise back.csv --stream -o back-out.csv", "reappears");
    fails(home.path(), "predict m.bagwise back.csv --stream -o back-out.csv", "--stream=never");
    let left: Vec<String> = std::fs::read_dir(home.path())
        .unwrap()
        .map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned())
        .filter(|name| name.contains("back-out"))
        .collect();
    assert!(left.is_empty(), "{left:?}");
    done(home.path(), "predict m.bagwise back.csv --stream=never -o back-out.csv");
    fails(home.path(), "predict m.bagwise musk1 --stream", "cannot be read in pieces");
    fails(home.path(), "predict m.bagwise t.csv --stream --max-instances 3", "cannot be read in pieces");
    let uneven = "bag,f1,f2,f3,f4,place\na,1,2,3,4,here\na,1,2,3,5,there\n";
    std::fs::write(home.path().join("uneven.csv"), uneven).unwrap();
    fails(home.path(), "predict m.bagwise uneven.csv --stream --keep place", "place cannot be kept");
}

#[test]
fn a_reader_that_has_seen_enough_is_no_error() {
    let home = prepared();
    let mut child = common::program(home.path())
        .args(["predict", "m.bagwise", "t.csv", "--stream", "--format", "csv"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
}
