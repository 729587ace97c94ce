//! What hostile trials broke: files that must not be overwritten, files that are no files, folders and models that
//! were edited, names that talk to the terminal. Every case ended with a lost file, a hang, a crash or a wrong answer once. Limits and
//! devices are those of Linux.

#![cfg(target_os = "linux")]

mod common;

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, SystemTime};

use bagwise::method::Tensor;
use bagwise::model::{pack, unpack};
use common::{
    COMPARE, bagwise, done, names, refused, run, said_no, scene, scene_with_run, shell, table, text,
};
use serde_json::Value;

const FIT: &str = "fit d.csv --method mi-kernel -p gamma=0.5 -p norm=mean -p c=1 --inner 2 -o m.bagwise";
const GRAM: &str = "gram d.csv --method mi-kernel -p gamma=0.5 -p norm=mean --output";

/// Rewrites a file of JSON.
fn edit(path: &Path, change: impl FnOnce(&mut Value)) {
    let mut value: Value = serde_json::from_slice(&fs::read(path).unwrap()).unwrap();
    change(&mut value);
    fs::write(path, value.to_string()).unwrap();
}

/// Rewrites one line of records.
fn edit_record(folder: &Path, line: usize, change: impl FnOnce(&mut Value)) {
    let path = folder.join("run/records.jsonl");
    let page = fs::read_to_string(&path).unwrap();
    let mut lines: Vec<String> = page.lines().map(String::from).collect();
    let mut record: Value = serde_json::from_str(&lines[line - 1]).unwrap();
    change(&mut record);
    lines[line - 1] = record.to_string();
    fs::write(path, lines.join("\n") + "\n").unwrap();
}

#[test]
fn a_truth_that_does_not_fit_its_bags_is_refused() {
    let changes: [(&str, fn(&mut Value)); 5] = [
        ("one class less than bags", |r| {
            r["truth"]["classes"]["codes"].as_array_mut().unwrap().pop();
        }),
        ("a class without a name", |r| r["truth"]["classes"]["codes"][3] = 7.into()),
        ("a positive class that is none", |r| r["positive"] = 9.into()),
        ("fewer groups than bags", |r| r["groups"] = vec!["g"; 3].into()),
        ("values for classes, too few", |r| r["truth"] = serde_json::json!({ "values": [1.0, 2.0] })),
    ];
    for (name, change) in changes {
        let folder = scene_with_run();
        edit(&folder.path().join("run/roster.json"), change);
        let said = refused(folder.path(), "report run -o page.html");
        assert!(said.contains("roster.json"), "{name}: {said}");
        assert!(!folder.path().join("page.html").exists());
    }
}

/// Each verb that writes a file, before the name of that file, and what it may not replace.
#[test]
fn whether_a_file_can_be_written_is_found_out_without_touching_it() {
    let folder = scene();
    // Creating the target, even for a moment, would replace this link.
    symlink("nowhere/else.bagwise", folder.path().join("m.bagwise")).unwrap();
    let said = refused(folder.path(), &FIT.replace("c=1", "c=-1"));
    assert!(said.contains(" c "), "{said}");
    assert!(folder.path().join("m.bagwise").symlink_metadata().is_ok(), "the link is gone");
    assert_eq!(names(folder.path()), ["d.csv", "m.bagwise"]);
}

/// A file that is as large as it says, and takes no room.
fn huge(path: &Path) {
    fs::File::create(path).unwrap().set_len(40_000_000_000).unwrap();
}

/// The same as `refused`, in little memory and time.
fn refused_soon(folder: &Path, line: &str) -> String {
    let output = shell(folder, &format!("ulimit -v 6000000; timeout 60 \"$BAGWISE\" --threads 1 {line}"));
    said_no(line, &output)
}

#[test]
fn what_is_too_large_is_refused_before_it_is_read() {
    let folder = scene_with_run();
    for (name, line) in [
        ("h.bagwise", "predict h.bagwise d.csv"),
        ("h.mat", "inspect h.mat"),
        ("h.toml", "run h.toml"),
        ("run/records.jsonl", "report run -o page.html"),
        ("run/records.jsonl", COMPARE),
        ("run/roster.json", "report run -o page.html"),
        ("run/report.json", "report run -o page.html"),
    ] {
        let path = folder.path().join(name);
        let before = fs::read(&path).ok();
        huge(&path);
        let said = refused_soon(folder.path(), line);
        let file = Path::new(name).file_name().unwrap().to_str().unwrap();
        assert!(said.contains(file) && said.contains("40.0 GB"), "{line}: {said}");
        fs::remove_file(&path).unwrap();
        if let Some(before) = before {
            fs::write(path, before).unwrap();
        }
    }
}

#[test]
fn pipes_and_devices_are_no_models_runs_or_arrays() {
    let folder = scene_with_run();
    let pipe = |name: &str| {
        let path = folder.path().join(name);
        let _ = fs::remove_file(&path);
        assert!(Command::new("mkfifo").arg(&path).status().unwrap().success());
        path
    };
    for (name, line) in [
        ("p.bagwise", "predict p.bagwise d.csv"),
        ("p.npz", "inspect p.npz"),
        ("p.parquet", "inspect p.parquet"),
        ("p.mat", "inspect p.mat"),
        ("p.toml", "run p.toml"),
        ("bags/one.npy", "convert bags out.npz --unlabelled"),
        ("run/roster.json", "report run -o page.html"),
    ] {
        fs::create_dir_all(folder.path().join("bags")).unwrap();
        let path = pipe(name);
        let said = refused_soon(folder.path(), line);
        assert!(said.contains("not a regular file"), "{line}: {said}");
        fs::remove_file(path).unwrap();
    }
    for line in ["predict /dev/zero d.csv", "run /dev/zero", "report /dev/zero -o page.html"] {
        let said = refused_soon(folder.path(), line);
        assert!(said.contains("not a regular file"), "{line}: {said}");
    }
}

#[test]
fn a_model_that_cannot_be_read_back_is_not_written() {
    let folder = scene();
    fs::write(folder.path().join("d.csv"), table(1e300)).unwrap();
    let line = "fit d.csv --method mi-kernel --scale none --inner 2 -o m.bagwise";
    let said = refused(folder.path(), line);
    assert!(said.contains("m.bagwise") && said.contains("--scale"), "{said}");
    assert_eq!(names(folder.path()), ["d.csv"]);
}

#[test]
fn names_do_not_talk_to_the_terminal() {
    let folder = scene();
    done(folder.path(), FIT);
    let evil = table(1.0).replace("b3,", "e\u{1b}]0;pwned\u{7}\u{1b}[31mvil\u{202e},");
    fs::write(folder.path().join("evil.csv"), &evil).unwrap();
    for line in ["predict m.bagwise evil.csv", "explain m.bagwise evil.csv"] {
        let output = done(folder.path(), line);
        let page = text(&output.stdout);
        let bad = |c: char| (c.is_control() && c != '\n') || c == '\u{202e}';
        assert!(!page.contains(bad), "{line}: {page:?}");
        assert!(page.contains("e\\u{1b}]0;pwned\\u{7}\\u{1b}[31mvil\\u{202e}"), "{line}: {page}");
        // Programs get the name as it is.
        let csv = done(folder.path(), &format!("{line} --format csv"));
        assert!(text(&csv.stdout).contains("e\u{1b}]0;pwned\u{7}\u{1b}[31mvil\u{202e}"), "{line}");
    }
    // A heading is quoted in warnings.
    fs::write(folder.path().join("evil.csv"), evil.replace("z\n", "\u{1b}[2Jz\n").replace(",0\n", ",red\n"))
        .unwrap();
    let output = run(folder.path(), "inspect evil.csv");
    assert!(!text(&output.stderr).contains('\u{1b}'), "{}", text(&output.stderr));
}

#[test]
fn formulas_in_csv_are_disarmed_on_demand() {
    let folder = scene();
    done(folder.path(), FIT);
    let evil = table(1.0).replace("b3,", "=1+1,").replace("b4,", "@SUM(A1),").replace("b5,", "-2,");
    fs::write(folder.path().join("evil.csv"), evil).unwrap();
    let plain = done(folder.path(), "predict m.bagwise evil.csv --format csv");
    let safe = done(folder.path(), "predict m.bagwise evil.csv --format csv --csv-safe");
    let (plain, safe) = (text(&plain.stdout), text(&safe.stdout));
    assert!(plain.contains("\n=1+1,") && plain.contains("\n@SUM(A1),"), "{plain}");
    // Numbers stay numbers, scores below zero among them.
    assert_eq!(safe, plain.replace("\n=1+1,", "\n'=1+1,").replace("\n@SUM(A1),", "\n'@SUM(A1),"));
    assert!(safe.contains("\n-2,"), "{safe}");
}

#[test]
fn a_model_that_is_not_finite_is_refused() {
    let folder = scene();
    done(folder.path(), FIT);
    let path = folder.path().join("m.bagwise");
    let (header, state) = unpack(&fs::read(&path).unwrap()).unwrap();
    let mut tried = 0;
    for name in state.tensors.keys() {
        for value in [f64::INFINITY, f64::NEG_INFINITY, f64::NAN] {
            let mut broken = state.clone();
            match broken.tensors.get_mut(name).unwrap() {
                Tensor::F64(_, v) => v.iter_mut().for_each(|v| *v = value),
                Tensor::F32(_, v) => v.iter_mut().for_each(|v| *v = value as f32),
                Tensor::U64(..) => continue,
            }
            fs::write(&path, pack(&header, broken).unwrap()).unwrap();
            let said = refused(folder.path(), "predict m.bagwise d.csv");
            assert!(said.contains("not a usable model"), "{name} {value}: {said}");
            tried += 1;
        }
    }
    assert!(tried > 0);
}

#[test]
fn a_score_that_is_not_finite_is_no_answer() {
    let folder = scene();
    // A model of usual numbers, asked about unusual ones.
    let line = "fit d.csv --method simple-mi -p kernel=linear -p c=100 --scale none --inner 2 -o m.bagwise";
    done(folder.path(), line);
    fs::write(folder.path().join("far.csv"), "bag,x,z\nok,1,1\nfar,1.7e308,1e307\n").unwrap();
    let said = refused(folder.path(), "predict m.bagwise far.csv");
    assert!(said.contains("the score of bag 'far' is not a finite number"), "{said}");
}

#[test]
fn edited_records_are_refused_with_their_line() {
    let changes: [(&str, fn(&mut Value)); 6] = [
        ("a label", |r| {
            let label = &mut r["scored"]["labels"][0];
            *label = (1 - label.as_u64().unwrap()).into();
        }),
        ("a metric", |r| r["metrics"]["accuracy"] = 1.0.into()),
        ("a fold", |r| r["key"]["fold"] = 999.into()),
        ("a repeat", |r| r["key"]["repeat"] = 5.into()),
        ("a bag of another fold", |r| {
            let bags = r["scored"]["bags"].as_array().unwrap().clone();
            let other = (0..16u64).find(|b| !bags.contains(&Value::from(*b))).unwrap();
            r["scored"]["bags"][0] = other.into();
        }),
        ("a bag that is none", |r| r["scored"]["bags"][0] = 4000.into()),
    ];
    for (name, change) in changes {
        let folder = scene_with_run();
        edit_record(folder.path(), 3, change);
        for line in ["report run -o page.html", COMPARE] {
            let said = refused(folder.path(), line);
            assert!(said.contains("records.jsonl, line 3"), "{name}, {line}: {said}");
        }
        assert!(!folder.path().join("page.html").exists());
    }
}

#[test]
fn a_file_that_grows_too_large_is_an_error_with_its_own_name() {
    let folder = scene();
    for line in ["convert musk1 out.csv", "compare musk1 --methods majority -o out"] {
        // 20 blocks of 512 bytes; the shell's own kill would be signal 25.
        let output = shell(folder.path(), &format!("ulimit -f 20; \"$BAGWISE\" {line}"));
        let said = said_no(line, &output);
        assert!(said.contains("out") && !said.contains(".bagwise-"), "{line}: {said}");
        assert!(said.contains("would exceed the file size limit"), "{line}: {said}");
    }
    assert_eq!(names(folder.path()).iter().filter(|n| n.starts_with(".bagwise")).count(), 0);
    let full = shell(folder.path(), &format!("\"$BAGWISE\" {GRAM} /dev/full"));
    let said = said_no("gram to a full device", &full);
    assert!(said.contains("/dev/full") && said.contains("the disk is full"), "{said}");
}

#[test]
fn a_zero_byte_far_into_a_table_is_found() {
    let folder = scene();
    let mut rows = String::from("bag,label,x,z\n");
    for row in 0..20_000 {
        rows += &format!("b{},{},{row},1\n", row / 2, row / 2 % 2);
    }
    assert!(rows.len() > 3 * 65_536);
    let line = rows[..200_000].matches('\n').count() + 2;
    let start = 200_000 + rows[200_000..].find('\n').unwrap() + 1;
    let (before, after) = rows.split_at(start + 1);
    // Inside the name of a bag, where any text goes.
    fs::write(folder.path().join("zero.csv"), format!("{before}\0{after}")).unwrap();
    let said = refused(folder.path(), "inspect zero.csv");
    assert!(said.contains(&format!("zero.csv, line {line}")), "{line}: {said}");
}

#[test]
fn old_temporary_files_of_the_same_target_are_removed() {
    let folder = scene();
    let line = format!("{GRAM} k.npy");
    done(folder.path(), &line);
    let left = |name: &str, age: u64| -> PathBuf {
        let path = folder.path().join(name);
        fs::write(&path, "half").unwrap();
        let then = SystemTime::now() - Duration::from_secs(age);
        fs::File::options().write(true).open(&path).unwrap().set_modified(then).unwrap();
        path
    };
    let prefix = bagwise::io::save::temporary_prefix(Path::new("k.npy"));
    let of_other = bagwise::io::save::temporary_prefix(Path::new("other.npy"));
    assert!(prefix.starts_with(".bagwise-") && prefix != of_other);
    let old = left(&format!("{prefix}aaaaaa"), 7200);
    let young = left(&format!("{prefix}bbbbbb"), 60);
    let other = left(&format!("{of_other}cccccc"), 7200);
    let foreign = left(".bagwise-notes", 7200);
    done(folder.path(), &line);
    assert!(!old.exists());
    assert!(young.exists() && other.exists() && foreign.exists());
}

/// An experiment on the table, with lines of its own at the top.
fn experiment(first: &str) -> String {
    format!(
        "title = \"T\"\nsource = \"S\"\nmetric = \"accuracy\"\n{first}\n[protocol]\nname = \"kfold\"\nfolds = 2\n\
         [[data]]\nname = \"d\"\nread = \"d.csv\"\n[[method]]\nname = \"m\"\nmethod = \"majority\"\n"
    )
}

#[test]
fn files_that_an_experiment_names_are_regular_files() {
    let folder = scene();
    assert!(Command::new("mkfifo").arg(folder.path().join("pipe.csv")).status().unwrap().success());
    for name in ["pipe.csv", "/dev/zero"] {
        for key in
            ["printed = \"NAME\"", "references = \"NAME\"", "facts = [\"NAME\"]", "meta-rank = \"NAME\""]
        {
            fs::write(folder.path().join("e.toml"), experiment(&key.replace("NAME", name))).unwrap();
            let said = said_no(key, &shell(folder.path(), "timeout 60 \"$BAGWISE\" run e.toml -o out"));
            assert!(said.contains("not a regular file"), "{key}: {said}");
        }
    }
}

#[test]
fn numbers_of_runs_have_a_limit() {
    let folder = scene();
    for (line, why) in [
        ("seeds = 9223372036854775807", "between 1 and 10000"),
        ("repeats = 9223372036854775807", "at most 10000"),
    ] {
        let text = experiment("").replace("folds = 2", &format!("folds = 2\n{line}"));
        fs::write(folder.path().join("e.toml"), text).unwrap();
        let said = said_no(line, &shell(folder.path(), "timeout 60 \"$BAGWISE\" run e.toml -o out"));
        assert!(said.contains(why), "{said}");
    }
    let many = "evaluate d.csv --method majority --protocol half --folds 9223372036854775807";
    let said = said_no(many, &shell(folder.path(), &format!("timeout 60 \"$BAGWISE\" {many}")));
    assert!(said.contains("more than can be kept"), "{said}");
}

#[test]
fn each_table_of_an_experiment_is_looked_at_before_it_is_overwritten() {
    for name in ["table.json", "table.md", "table.tex", "report.html"] {
        let folder = scene();
        fs::create_dir(folder.path().join("out")).unwrap();
        let mine = folder.path().join("out").join(name);
        fs::write(folder.path().join("e.toml"), experiment("")).unwrap();
        fs::write(&mine, "mine\n").unwrap();
        let said = refused(folder.path(), "run e.toml -o out");
        assert!(said.contains(name), "{said}");
        assert_eq!(fs::read_to_string(&mine).unwrap(), "mine\n");
        // Nor in the folder of an experiment that is done.
        fs::remove_dir_all(folder.path().join("out")).unwrap();
        done(folder.path(), "run e.toml -o out");
        done(folder.path(), "run e.toml -o out");
        fs::write(&mine, "mine\n").unwrap();
        let said = refused(folder.path(), "run e.toml -o out");
        assert!(said.contains(name) && said.contains("--force"), "{said}");
        assert_eq!(fs::read_to_string(&mine).unwrap(), "mine\n");
        done(folder.path(), "run e.toml -o out --force");
        let written = fs::read_to_string(&mine).unwrap();
        assert_ne!(written, "mine\n");
        // Early versions wrote their texts without a mark.
        if name == "table.md" || name == "table.tex" {
            let (mark, old) = written.split_once('\n').unwrap();
            assert!(mark.contains("written by bagwise: results of an experiment"), "{mark}");
            fs::write(&mine, old.trim_start()).unwrap();
            done(folder.path(), "run e.toml -o out");
            assert_eq!(fs::read_to_string(&mine).unwrap(), written);
        }
    }
}

/// A directory as large as the file it is in. Without memory for it the process was ended by the allocator.
#[test]
fn memory_that_cannot_be_had_is_an_error() {
    use std::io::{Seek as _, SeekFrom, Write as _};
    const SIZE: u32 = 2_000_000_000;
    let folder = scene();
    let mut file = fs::File::create(folder.path().join("big.npz")).unwrap();
    // Zeros that take no room on the disk, then the record at the end of an archive.
    file.set_len(u64::from(SIZE)).unwrap();
    file.seek(SeekFrom::End(0)).unwrap();
    let mut end = b"PK\x05\x06\0\0\0\0\x01\0\x01\0".to_vec();
    end.extend(SIZE.to_le_bytes());
    end.extend([0; 6]);
    file.write_all(&end).unwrap();
    let output = shell(folder.path(), "ulimit -v 1500000; bagwise inspect big.npz --threads 1");
    let said = said_no("inspect big.npz", &output);
    assert!(
        said.contains("big.npz: reading it takes 2.0 GB of memory, which the system could not allocate"),
        "{said}"
    );
}

#[test]
fn links_and_pipes_in_the_folder_of_a_run_are_refused() {
    for name in ["records.jsonl", "summary.json", "report.json", "plan.json", "predictions.csv"] {
        let folder = scene_with_run();
        let path = folder.path();
        let file = path.join("run").join(name);
        fs::rename(&file, path.join("elsewhere")).unwrap();
        let before = fs::read(path.join("elsewhere")).unwrap();
        symlink("../elsewhere", &file).unwrap();
        let output = run(path, COMPARE);
        assert_eq!(output.status.code(), Some(2), "{name}");
        assert!(
            text(&output.stderr).contains("this is not a regular file"),
            "{name}: {}",
            text(&output.stderr)
        );
        assert_eq!(fs::read(path.join("elsewhere")).unwrap(), before, "{name}");
        fs::remove_file(&file).unwrap();
        assert!(Command::new("mkfifo").arg(&file).status().unwrap().success());
        assert_eq!(run(path, COMPARE).status.code(), Some(2), "{name}");
    }
}

#[test]
fn squares_that_are_not_finite_are_an_error() {
    let folder = scene();
    let path = folder.path();
    fs::write(path.join("large.csv"), table(1e160)).unwrap();
    for line in [
        "fit large.csv --method mi-fv --scale none --inner 2 -o m.bagwise",
        "gram large.csv --method wmksvm --scale none -o g.npy",
    ] {
        let output = run(path, line);
        assert_eq!(output.status.code(), Some(2), "{line}: {}", text(&output.stderr));
        assert!(text(&output.stderr).contains("finite"), "{line}: {}", text(&output.stderr));
        assert!(!path.join("g.npy").exists() && !path.join("m.bagwise").exists(), "{line}");
    }
}

#[test]
fn a_name_of_several_lines_stays_a_comment_of_a_script() {
    let folder = scene();
    let output =
        bagwise(folder.path(), &["slurm", "--shards", "3", "compare", "a\ntouch PWNED #.csv", "-o", "x"]);
    let script = text(&output.stdout);
    let exec = script.find("exec ").unwrap();
    assert!(script[..exec].lines().all(|line| line.is_empty() || line.starts_with('#')), "{script}");
}

#[test]
fn scores_of_classes_that_add_up_to_infinity_are_errors() {
    let folder = scene();
    let rows = "b0,a,0.9,-1.4\nb1,b,0.3,0.4\nb2,c,1.0,-0.1\nb3,a,0.2,-0.8\nb4,b,-0.3,0.2\nb5,c,3.0,-0.6\nb6,a,-0.3,1.6\n\
                b7,b,0.4,-0.5\nb8,c,4.4,-1.5\nb9,a,0.8,-2.0\nb10,b,0.4,1.5\nb11,c,3.2,-0.9\n";
    fs::write(folder.path().join("d.csv"), format!("bag,label,f,g\n{rows}")).unwrap();
    fs::write(folder.path().join("new.csv"), "bag,f,g\nn,1.0e+308,1.0e+308\n").unwrap();
    let line = "fit d.csv --method sil --inner 2 -o m.bagwise --scale none --multiclass one-vs-one -p kernel=linear -p c=1";
    done(folder.path(), line);
    for verb in ["predict", "explain"] {
        let said = refused(folder.path(), &format!("{verb} m.bagwise new.csv"));
        assert!(said.contains("'n'") && said.contains("too large for this model"), "{verb}: {said}");
    }
}
