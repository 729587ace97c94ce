//! What a second look at hostile files found: models that are huge or overflow, and inputs whose names are no text.

#![cfg(target_os = "linux")]

mod common;

use std::ffi::OsStr;
use std::fs::{self, File};
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;

use bagwise::method::Tensor;
use bagwise::model::{pack, unpack};
use common::{bagwise, done, shell, text};

/// Sixteen bags of two classes.
const FIT: &str = "fit d.csv --method mi-kernel -p gamma=0.5 -p norm=mean -p c=1 --inner 2 -o m.bagwise";

fn scene() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let mut rows = String::from("bag,label,x,z\n");
    for bag in 0..16 {
        for row in 0..=bag % 3 {
            let x = f64::from(bag % 2) + 0.1 * f64::from(row) + 0.01 * f64::from(bag);
            rows += &format!("b{bag},{},{x},{}\n", bag % 2, bag * row % 5);
        }
    }
    fs::write(folder.path().join("d.csv"), rows).unwrap();
    folder
}

fn refused(folder: &Path, line: &str) -> String {
    let output = bagwise(folder, &line.split_whitespace().collect::<Vec<_>>());
    assert_eq!(output.status.code(), Some(2), "{line}: {}", text(&output.stderr));
    text(&output.stderr).to_string()
}

#[test]
fn a_huge_file_that_is_no_model_is_not_read_as_a_whole() {
    let folder = scene();
    done(folder.path(), FIT);
    let whole = fs::read(folder.path().join("m.bagwise")).unwrap();
    let longer = |name: &str, bytes: &[u8]| {
        let path = folder.path().join(name);
        fs::write(&path, bytes).unwrap();
        // Sparse: it takes no room on the disk.
        File::options().write(true).open(path).unwrap().set_len(15_000_000_000).unwrap();
    };
    longer("zeros.bagwise", b"");
    longer("text.bagwise", b"bag,label,x\n");
    longer("long.bagwise", &whole);
    let list = br#"{"a":{"dtype":"F64","shape":[1],"data_offsets":[0,8]}}"#;
    longer("other.bagwise", &[&(list.len() as u64).to_le_bytes(), &list[..]].concat());
    for name in ["zeros", "text", "long", "other"] {
        let line = format!("ulimit -v 2000000; bagwise predict {name}.bagwise d.csv --threads 1");
        let output = shell(folder.path(), &line);
        let said = text(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{name}: {said}");
        assert!(said.contains(&format!("{name}.bagwise: not a usable model")), "{said}");
    }
}

#[test]
fn a_model_that_overflows_is_named() {
    let folder = scene();
    let path = folder.path().join("m.bagwise");
    for fit in [FIT, "fit d.csv --method simple-mi -p kernel=linear -p c=1 --inner 2 -o m.bagwise"] {
        done(folder.path(), fit);
        let (header, state) = unpack(&fs::read(&path).unwrap()).unwrap();
        // Whether the model is named.
        let tried = |header: &str, state| {
            fs::write(&path, pack(header, state).unwrap()).unwrap();
            let output = bagwise(folder.path(), &["predict", "m.bagwise", "d.csv"]);
            let said = text(&output.stderr);
            assert!(matches!(output.status.code(), Some(0 | 2)), "{said}");
            assert!(!said.contains("error: d.csv") && !said.contains("leave the bag out"), "{said}");
            said.contains("m.bagwise: not a usable model: the score of bag 'b")
        };
        let mut named = 0;
        for name in state.tensors.keys() {
            for size in [1e200, 1.7e308] {
                let mut huge = state.clone();
                let Some(Tensor::F64(_, values)) = huge.tensors.get_mut(name) else { continue };
                values.iter_mut().for_each(|v| *v = size * v.signum());
                named += usize::from(tried(&header, huge));
            }
        }
        assert!(named > 0, "{fit}");
        // The scaling may overflow as well.
        let mut edited: serde_json::Value = serde_json::from_str(&header).unwrap();
        let columns = edited["transform"]["columns"].as_array_mut().unwrap();
        for column in columns {
            let number = if column.get("divisor").is_some() { column } else { &mut column["number"] };
            number["divisor"] = 1e-308.into();
            number["shift"] = (-1e10).into();
        }
        tried(&edited.to_string(), state);
    }
}

#[test]
fn an_instance_far_outside_a_ball_has_an_output() {
    let folder = scene();
    done(folder.path(), "fit d.csv --method optimal-ball --scale none --inner 2 -o ball.bagwise");
    let rows = "bag,x,z\nfar,1,1\nfar,1e200,1\nfar,1.7e308,-1.7e308\n";
    fs::write(folder.path().join("far.csv"), rows).unwrap();
    let output = done(folder.path(), "explain ball.bagwise far.csv --format csv");
    let values: Vec<f64> = text(&output.stdout)
        .lines()
        .skip(1)
        .map(|line| line.rsplit(',').next().unwrap().parse().unwrap())
        .collect();
    assert_eq!(values.len(), 3);
    assert!(values.iter().all(|v| v.is_finite()), "{values:?}");
    assert_eq!(values[1], -1e200);
    assert_eq!(values[2], f64::MIN);
}

#[test]
fn an_input_is_never_overwritten_whatever_its_name() {
    let folder = scene();
    // Latin-1, as old archives have it.
    let name = OsStr::from_bytes(b"gr\xfcn.csv");
    let labels = folder.path().join(name);
    let mut table = String::from("bag,label\n");
    (0..16).for_each(|bag| table += &format!("b{bag},{}\n", bag % 2));
    fs::write(&labels, &table).unwrap();
    let plain = "bag,x,z\n".to_string()
        + &(0..16).map(|bag| format!("b{bag},{},{}\n", bag % 2, bag)).collect::<String>();
    fs::write(folder.path().join("plain.csv"), plain).unwrap();
    let run = |words: &[&OsStr]| common::program(folder.path()).args(words).output().unwrap();
    let words = |line: &'static str| line.split(' ').map(OsStr::new);
    let line = words("fit plain.csv --method majority --inner 2 --force --labels").chain([name]);
    let output = run(&line.chain(words("-o")).chain([name]).collect::<Vec<_>>());
    let said = text(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{said}");
    assert!(said.contains("input and output are the same file"), "{said}");
    assert_eq!(fs::read_to_string(&labels).unwrap(), table);
    // Nor a model.
    let model = OsStr::from_bytes(b"m\xfc.bagwise");
    done(folder.path(), FIT);
    fs::rename(folder.path().join("m.bagwise"), folder.path().join(model)).unwrap();
    let before = fs::read(folder.path().join(model)).unwrap();
    let line = words("explain --force").chain([model]).chain(words("d.csv -o")).chain([model]);
    let output = run(&line.collect::<Vec<_>>());
    assert_eq!(output.status.code(), Some(2), "{}", String::from_utf8_lossy(&output.stderr));
    assert!(fs::read(folder.path().join(model)).unwrap() == before);
    // The same with an ordinary name.
    let said = refused(folder.path(), "fit d.csv --method majority --inner 2 --force -o d.csv");
    assert!(said.contains("input and output are the same file"), "{said}");
}

#[test]
fn a_tolerance_that_is_no_number_is_refused() {
    let folder = common::folder();
    let whole = fs::read_to_string(folder.path().join("experiment.toml")).unwrap();
    for bad in ["nan", "inf", "-1.0", "'nan %'", "'-20 %'"] {
        fs::write(folder.path().join("e.toml"), format!("tolerance = {bad}\n{whole}")).unwrap();
        let said = refused(folder.path(), "run e.toml --quick -o out");
        assert!(said.contains("is not a number from 0 on"), "{bad}: {said}");
        assert!(!folder.path().join("out").exists());
    }
}
