//! What is not overwritten: inputs, files that bagwise did not write, and what looks like an unfinished record but is none. Every
//! case ended with a lost file once.

#![cfg(unix)]

mod common;

use std::fs;
use std::os::unix::fs::symlink;

use common::{COMPARE, done, names, refused, run, scene, scene_with_run, text};

const FIT: &str = "fit d.csv --method mi-kernel -p gamma=0.5 -p norm=mean -p c=1 --inner 2 -o m.bagwise";
const GRAM: &str = "gram d.csv --method mi-kernel -p gamma=0.5 -p norm=mean --output";
const EMBED: &str = "embed d.csv --method isk -p psi=4 -p epsilon=1 --output";

#[test]
fn what_bagwise_did_not_write_is_not_overwritten_unless_forced() {
    let folder = scene_with_run();
    let at = |name: &str| folder.path().join(name);
    done(folder.path(), FIT);
    done(folder.path(), "fit d.csv --method migraph-explicit --inner 2 -p c=1 -o g.bagwise");
    let fit = FIT.strip_suffix(" m.bagwise").unwrap();
    for (verb, name) in [
        (GRAM, "notes.txt"),
        (GRAM, "foreign.npy"),
        (GRAM, "m.bagwise"),
        (EMBED, "notes.txt"),
        (EMBED, "foreign.npz"),
        (EMBED, "m.bagwise"),
        (fit, "notes.txt"),
        ("report run -o", "notes.txt"),
        ("report run -o", "m.bagwise"),
        ("report run", "report.html"),
        ("convert d.csv", "foreign.csv"),
        ("convert d.csv", "foreign.npz"),
        ("convert d.csv", "foreign.arff"),
        ("explain g.bagwise d.csv --graph", "foreign.dot"),
        ("explain g.bagwise d.csv --graph", "foreign.graphml"),
    ] {
        if name != "m.bagwise" {
            fs::write(at(name), "mine\n").unwrap();
        }
        let before = fs::read(at(name)).unwrap();
        let line = format!("{verb} {name}");
        let line = if name == "report.html" { verb.to_string() } else { line };
        let said = refused(folder.path(), &line);
        assert!(said.contains(name) && said.contains("--force"), "{line}: {said}");
        assert_eq!(fs::read(at(name)).unwrap(), before, "{line}");
        // And then it is done all the same, and again without a word.
        done(folder.path(), &format!("{line} --force"));
        assert_ne!(fs::read(at(name)).unwrap(), before, "{line}");
        if !name.ends_with(".csv") {
            done(folder.path(), &line);
        }
        if name == "m.bagwise" {
            fs::write(at(name), before).unwrap();
        }
    }
}

#[test]
fn an_input_is_not_overwritten_even_when_forced() {
    let folder = scene_with_run();
    done(folder.path(), FIT);
    done(folder.path(), "fit d.csv --method isk -p psi=4 -p epsilon=1 -p c=1 --inner 2 -o i.bagwise");
    symlink("d.csv", folder.path().join("link.csv")).unwrap();
    let fit = FIT.strip_suffix(" m.bagwise").unwrap();
    for (line, name) in [
        (format!("{GRAM} d.csv"), "d.csv"),
        (format!("{GRAM} ./link.csv"), "d.csv"),
        (format!("{GRAM} again.csv --against again.csv"), "again.csv"),
        (format!("{EMBED} d.csv"), "d.csv"),
        ("embed d.csv --model i.bagwise --output i.bagwise".into(), "i.bagwise"),
        (format!("{fit} d.csv"), "d.csv"),
        ("convert d.csv d.csv".into(), "d.csv"),
        ("explain m.bagwise d.dot --input-format csv --graph d.dot".into(), "d.dot"),
        ("report run -o run/records.jsonl".into(), "run/records.jsonl"),
        ("report run/records.jsonl -o run/records.jsonl".into(), "run/records.jsonl"),
        ("report run -o run/roster.json".into(), "run/roster.json"),
        ("report run -o run/folds.json".into(), "run/folds.json"),
    ] {
        let path = folder.path().join(name);
        if name == "again.csv" || name == "d.dot" {
            fs::copy(folder.path().join("d.csv"), &path).unwrap();
        }
        let before = fs::read(&path).unwrap();
        for force in ["", " --force"] {
            let said = refused(folder.path(), &format!("{line}{force}"));
            assert!(force.is_empty() || !said.contains("--force"), "{line}: {said}");
            assert_eq!(fs::read(&path).unwrap(), before, "{line}{force}");
        }
    }
}

#[test]
fn the_folder_of_a_run_is_one_that_a_run_wrote() {
    let folder = scene();
    // Another program's run.json does not make the folder ours.
    for name in ["run.json", "predictions.csv"] {
        fs::create_dir_all(folder.path().join("theirs")).unwrap();
        fs::write(folder.path().join("theirs").join(name), "{}\n").unwrap();
    }
    let said = refused(folder.path(), "compare d.csv --methods majority --folds 4 -o theirs");
    assert!(said.contains("theirs"), "{said}");
    assert_eq!(fs::read(folder.path().join("theirs/predictions.csv")).unwrap(), b"{}\n");
    assert_eq!(names(&folder.path().join("theirs")), ["predictions.csv", "run.json"]);
    // In a folder of ours, files of other people under our names stay too, unless the user insists.
    for (name, mine) in [
        ("predictions.csv", "mine\n"),
        ("differences.csv", "mine\n"),
        ("report.html", "mine\n"),
        ("summary.json", "{\"data\": \"mine\"}\n"),
        ("report.json", "{}\n"),
        ("plan.json", "mine\n"),
        ("folds.json", "[[1, 2], [3, 4]]\n"),
        ("roster.json", "{\"bags\": [\"mine\"]}\n"),
    ] {
        done(folder.path(), COMPARE);
        let path = folder.path().join("run").join(name);
        fs::write(&path, mine).unwrap();
        let said = refused(folder.path(), COMPARE);
        assert!(said.contains(name) && said.contains("--force"), "{said}");
        assert_eq!(fs::read(&path).unwrap(), mine.as_bytes());
        done(folder.path(), &format!("{COMPARE} --force"));
        assert_ne!(fs::read(&path).unwrap(), mine.as_bytes(), "{name}");
    }
}

#[test]
fn every_command_that_fills_a_folder_spares_the_files_of_others_in_it() {
    let folder = scene();
    done(folder.path(), FIT);
    for line in [
        "evaluate d.csv --method majority --folds 4 -o own",
        "evaluate --model m.bagwise d.csv -o own",
        "compare d.csv --methods majority --folds 4 --shard 1/2 -o own",
    ] {
        let own = folder.path().join("own");
        let _ = fs::remove_dir_all(&own);
        done(folder.path(), line);
        let inside = if line.contains("--shard") { own.join("shard-1-of-2") } else { own };
        for name in ["folds.json", "roster.json", "plan.json", "report.json", "summary.json"] {
            let path = inside.join(name);
            fs::write(&path, "{\"mine\": 1}").unwrap();
            let said = refused(folder.path(), line);
            assert!(said.contains(name) && said.contains("--force"), "{line}: {said}");
            assert_eq!(fs::read(&path).unwrap(), b"{\"mine\": 1}", "{line}");
            done(folder.path(), &format!("{line} --force"));
            // A shard has no summary, so nothing is there to replace it.
            let _ = fs::remove_file(path);
            done(folder.path(), line);
        }
    }
}

#[test]
fn no_input_is_overwritten_even_by_force() {
    let folder = scene();
    let path = folder.path();
    fs::create_dir(path.join("fold")).unwrap();
    let labels: String = (0..8).map(|bag| format!("b{bag},{}\n", bag % 2)).collect();
    let labels = format!("bag,label\n{labels}");
    for bag in 0..8 {
        let mut npy =
            b"\x93NUMPY\x01\x00\x36\x00{'descr':'<f8','fortran_order':False,'shape':(1,2)}  \n".to_vec();
        npy.extend([f64::from(bag), f64::from(bag % 2)].iter().flat_map(|v| v.to_le_bytes()));
        fs::write(path.join(format!("fold/b{bag}.npy")), npy).unwrap();
    }
    fs::write(path.join("c.data"), "b0,1,0.5,1.\nb1,1,0.2,0.\nb2,1,0.9,1.\nb3,1,.1,0.\n").unwrap();
    let names = "0,1.\nmol: b0,b1,b2,b3.\nconf: ignore.\nx: continuous.\n";
    for line in [
        "fit fold --labels lab.csv --method mi-kernel --inner 2 -o lab.csv --force",
        "convert fold lab.csv --labels lab.csv --force",
        "gram fold --labels lab.csv --method mi-kernel -o lab.csv --force",
        "gram c.data --method mi-kernel -o c.names --force",
    ] {
        fs::write(path.join("lab.csv"), &labels).unwrap();
        fs::write(path.join("c.names"), names).unwrap();
        let output = run(path, line);
        assert_eq!(output.status.code(), Some(2), "{line}");
        assert!(text(&output.stderr).contains("input and output are the same file"), "{line}");
        assert_eq!(fs::read_to_string(path.join("lab.csv")).unwrap(), labels, "{line}");
        assert_eq!(fs::read_to_string(path.join("c.names")).unwrap(), names, "{line}");
    }
}

#[test]
fn a_line_that_is_no_record_is_not_taken_for_a_torn_one() {
    // Windows writes UTF-16, whose zeros are not the hole of a power cut.
    let wide = |text: &str| text.encode_utf16().flat_map(u16::to_le_bytes).collect::<Vec<u8>>();
    for foreign in [
        b"my precious notes".to_vec(),
        br#"{"token":"secret"}"#.to_vec(),
        wide("my precious notes\nof two lines\n"),
    ] {
        let folder = scene();
        let path = folder.path();
        fs::create_dir(path.join("run")).unwrap();
        let records = path.join("run/records.jsonl");
        fs::write(&records, &foreign).unwrap();
        let output = run(path, COMPARE);
        assert_eq!(output.status.code(), Some(2), "{foreign:?}");
        assert_eq!(fs::read(&records).unwrap(), foreign);
    }
}

#[test]
fn records_that_an_editor_saved_as_utf_16_are_refused_and_kept() {
    let folder = scene_with_run();
    let path = folder.path();
    let records = path.join("run/records.jsonl");
    let text_of = fs::read_to_string(&records).unwrap();
    let wide: Vec<u8> = text_of.encode_utf16().flat_map(u16::to_le_bytes).collect();
    fs::write(&records, &wide).unwrap();
    let output = run(path, COMPARE);
    assert_eq!(output.status.code(), Some(2), "{}", text(&output.stderr));
    assert_eq!(fs::read(&records).unwrap(), wide);
}

#[test]
fn what_an_experiment_reads_is_not_replaced_even_if_forced() {
    const EXPERIMENT: &str = "title = 't'\nsource = 's'\nmetric = 'accuracy'\nprinted = 'table.json'\n\
        [[data]]\nname = 'a'\nread = 'synthetic:gauss?bags=20&features=2'\n\
        [[method]]\nname = 'M'\nmethod = 'majority'\n";
    const PRINTED: &str = "set,method,metric,value,spread,remark\na,M,accuracy,0.5,,\n";
    let folder = scene();
    let at = |name: &str| folder.path().join("run").join(name);
    fs::create_dir(folder.path().join("run")).unwrap();
    fs::write(at("table.json"), PRINTED).unwrap();
    fs::write(at("e.toml"), EXPERIMENT).unwrap();
    let said = refused(folder.path(), "run run/e.toml -o run --force");
    assert!(said.contains("input and output are the same file"), "{said}");
    assert_eq!(fs::read_to_string(at("table.json")).unwrap(), PRINTED);
    // Nor data under the name of the file that says whose the folder is.
    fs::rename(folder.path().join("d.csv"), at("experiment.json")).unwrap();
    let data = fs::read(at("experiment.json")).unwrap();
    let other = EXPERIMENT.replace("printed = 'table.json'\n", "");
    fs::write(at("e.toml"), other.replace("synthetic:gauss?bags=20&features=2", "experiment.json")).unwrap();
    refused(folder.path(), "run run/e.toml -o run --force");
    assert_eq!(fs::read(at("experiment.json")).unwrap(), data);
}

#[test]
fn explanations_and_graphs_do_not_share_a_file() {
    let folder = scene();
    done(folder.path(), "fit d.csv --method migraph-explicit --inner 2 -p c=1 -o g.bagwise");
    let said = refused(folder.path(), "explain g.bagwise d.csv -o q.dot --graph ./q.dot");
    assert!(said.contains("cannot go to the same file"), "{said}");
    assert!(!folder.path().join("q.dot").exists());
}
