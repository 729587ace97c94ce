//! Records of a run: the same with any number of threads and after any interruption, never mixed with those of another
//! run. Processes and signals are real.

#![cfg(unix)]

mod common;

use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use common::{bagwise, done, folder, text};
use serde_json::Value;

const RUN: &str = "compare musk1 --methods mi-kernel,migraph --folds 5 --inner 3 --repeats 3 --seed 7";

/// The records in a folder without their times, sorted by key.
fn records(folder: &Path) -> Vec<String> {
    let page = std::fs::read_to_string(folder.join("records.jsonl")).unwrap();
    let mut all: Vec<String> = page
        .lines()
        .map(|line| {
            let mut record: Value = serde_json::from_str(line).unwrap();
            assert!(record["seconds"].take().is_number());
            record.to_string()
        })
        .collect();
    all.sort();
    all
}

/// The run, on its own in the background.
fn start(folder: &Path, line: &str) -> Child {
    common::program(folder)
        .args(line.split_whitespace())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap()
}

fn lines(file: &Path) -> usize {
    std::fs::read(file).map_or(0, |bytes| bytes.iter().filter(|&&b| b == b'\n').count())
}

/// Waits until the run has written some records.
fn wait_for(file: &Path, count: usize) {
    let started = Instant::now();
    while lines(file) < count {
        assert!(started.elapsed() < Duration::from_secs(60), "no {count} records in a minute");
        std::thread::sleep(Duration::from_millis(1));
    }
}

#[test]
fn threads_change_no_record() {
    let folder = folder();
    done(folder.path(), &format!("{RUN} --threads 1 -o one"));
    done(folder.path(), &format!("{RUN} --threads 2 -o two"));
    let one = records(&folder.path().join("one"));
    // Four methods (the baselines come along), five folds, three repeats.
    assert_eq!(one.len(), 60);
    assert_eq!(one, records(&folder.path().join("two")));
    for file in ["folds.json", "roster.json", "predictions.csv"] {
        let read = |run: &str| std::fs::read(folder.path().join(run).join(file)).unwrap();
        assert!(read("one") == read("two"), "{file}");
    }
}

#[test]
fn a_killed_run_is_completed_and_loses_nothing() {
    let folder = folder();
    done(folder.path(), &format!("{RUN} -o whole"));
    let whole = records(&folder.path().join("whole"));
    for (i, at) in [1, 17, 33, 52].into_iter().enumerate() {
        let name = format!("killed{i}");
        let file = folder.path().join(&name).join("records.jsonl");
        let mut child = start(folder.path(), &format!("{RUN} -o {name}"));
        wait_for(&file, at);
        child.kill().unwrap(); // SIGKILL
        child.wait().unwrap();
        let left = std::fs::read_to_string(&file).unwrap();
        assert!(lines(&file) >= at);
        let output = done(folder.path(), &format!("{RUN} -o {name}"));
        let after = std::fs::read_to_string(&file).unwrap();
        let kept = &left[..left.rfind('\n').unwrap() + 1];
        assert!(after.starts_with(kept), "what was written stays as it is");
        assert!(text(&output.stderr).contains("fits are done"), "{}", text(&output.stderr));
        assert_eq!(records(&folder.path().join(&name)), whole, "killed after {at}");
    }
}

#[test]
fn a_torn_last_line_is_dropped_and_its_fit_done_again() {
    let folder = folder();
    done(folder.path(), &format!("{RUN} -o run"));
    let file = folder.path().join("run/records.jsonl");
    let whole = std::fs::read(&file).unwrap();
    let before = records(&folder.path().join("run"));
    for cut in [1, 40, 400] {
        std::fs::write(&file, &whole[..whole.len() - cut]).unwrap();
        let output = done(folder.path(), &format!("{RUN} -o run"));
        assert!(text(&output.stderr).contains("an incomplete record is dropped"), "{}", text(&output.stderr));
        assert_eq!(records(&folder.path().join("run")), before, "{cut} bytes torn off");
    }
    // A line in the middle is not a torn one.
    let mut damaged = whole.clone();
    damaged[10] = b'#';
    std::fs::write(&file, &damaged).unwrap();
    let output = bagwise(folder.path(), &format!("{RUN} -o run").split(' ').collect::<Vec<_>>());
    assert_eq!(output.status.code(), Some(2));
    assert!(text(&output.stderr).contains("records.jsonl, line 1: not a record"), "{}", text(&output.stderr));
    assert!(std::fs::read(&file).unwrap() == damaged, "nothing was changed");
}

#[test]
fn a_report_says_which_line_it_leaves_out() {
    let folder = folder();
    let run = "compare musk1 --methods simple-mi --folds 3 --inner 2 -o run";
    done(folder.path(), run);
    let said = |line: &str| text(&done(folder.path(), line).stderr).to_string();
    assert!(!said("report run").contains("incomplete"));
    let file = folder.path().join("run/records.jsonl");
    let whole = std::fs::read(&file).unwrap();
    std::fs::write(&file, &whole[..whole.len() - 40]).unwrap();
    let torn = said("report run");
    assert!(torn.contains("run/records.jsonl, line 6: this record is incomplete and left out"), "{torn}");
    assert!(std::fs::read(&file).unwrap() == whole[..whole.len() - 40], "a report changes no record");
    // Zeros are what a power cut leaves.
    let mut zeros = whole.clone();
    let first = whole.iter().position(|&b| b == b'\n').unwrap();
    zeros[..first].fill(0);
    std::fs::write(&file, &zeros).unwrap();
    assert!(said("report run").contains("run/records.jsonl, line 1: this record is incomplete"));
    // What the message recommends helps.
    assert!(said(run).contains("an incomplete record is dropped"));
    assert!(!said("report run").contains("incomplete"));
    assert!(!said(run).contains("incomplete"));
    // Nothing is left to report on.
    std::fs::write(&file, &whole[..first]).unwrap();
    let output = bagwise(folder.path(), &["report", "run"]);
    assert_eq!(output.status.code(), Some(2));
    let none = text(&output.stderr);
    assert!(none.contains("run/records.jsonl, line 1: the record is incomplete"), "{none}");
    // What the message recommends helps.
    done(folder.path(), run);
    assert!(!said("report run").contains("incomplete"));
}

#[test]
fn a_record_under_another_name_is_refused() {
    let folder = folder();
    // Both methods have the same parameters.
    let run = "compare musk1 --methods mi-kernel,wmksvm -p mi-kernel.gamma=1 -p mi-kernel.c=10 -p wmksvm.gamma=1 \
               -p wmksvm.c=10 --folds 3 -o run";
    done(folder.path(), run);
    let file = folder.path().join("run/records.jsonl");
    let whole = std::fs::read_to_string(&file).unwrap();
    let renamed = |from: &str, to: &str| {
        let quoted = |name: &str| format!("\"method\":\"{name}\"");
        whole.replacen(&quoted(from), &quoted(to), 1)
    };
    let swapped = renamed("mi-kernel", "other").replace("\"wmksvm\"", "\"mi-kernel\"");
    let swapped = swapped.replace("\"other\"", "\"wmksvm\"");
    let others = [
        swapped,
        renamed("mi-kernel", "no-such-method"),
        whole.replacen("\"c\":10", "\"c\":11", 1),
        whole.replacen("\"seed\":0", "\"seed\":1", 1),
    ];
    for edited in others {
        assert!(edited != whole);
        std::fs::write(&file, &edited).unwrap();
        for command in ["report run", run] {
            let output = bagwise(folder.path(), &command.split_whitespace().collect::<Vec<_>>());
            let said = text(&output.stderr);
            assert_eq!(output.status.code(), Some(2), "{said}");
            assert!(said.contains("run/records.jsonl, line "), "{said}");
            assert!(said.contains("was edited") && said.contains("delete the line"), "{said}");
        }
        assert!(std::fs::read_to_string(&file).unwrap() == edited, "nothing was changed");
    }
    // Records of earlier versions have no seal.
    let unsealed: Vec<String> = whole
        .lines()
        .map(|line| {
            let mut record: Value = serde_json::from_str(line).unwrap();
            assert!(record.as_object_mut().unwrap().remove("seal").is_some());
            record.to_string() + "\n"
        })
        .collect();
    std::fs::write(&file, unsealed.concat()).unwrap();
    assert!(text(&done(folder.path(), run).stderr).contains("of 12 fits are done"));
}

#[test]
fn the_time_of_a_completed_run_is_that_of_all_its_fits() {
    let folder = folder();
    let run = "compare musk1 --methods simple-mi --folds 3 --inner 2 -o run";
    done(folder.path(), run);
    let file = folder.path().join("run/records.jsonl");
    let page = std::fs::read_to_string(&file).unwrap();
    // As if each fit had taken a hundred seconds; the last is done again.
    let slow: Vec<String> = page
        .lines()
        .map(|line| {
            let mut record: Value = serde_json::from_str(line).unwrap();
            record["seconds"] = 100.0.into();
            record.to_string() + "\n"
        })
        .collect();
    assert_eq!(slow.len(), 6);
    for kept in [5, 6] {
        std::fs::write(&file, slow[..kept].concat()).unwrap();
        let output = done(folder.path(), run);
        let known: Value =
            serde_json::from_slice(&std::fs::read(folder.path().join("run/report.json")).unwrap()).unwrap();
        let (took, earlier) = (known["seconds"].as_f64().unwrap(), 100.0 * kept as f64);
        assert!((earlier..earlier + 60.0).contains(&took), "{took} s with {kept} fits there");
        assert!(
            text(&output.stdout).contains(&format!("run; all sessions took {took:.1} s")),
            "{}",
            text(&output.stdout)
        );
    }
}

#[test]
fn ctrl_c_keeps_what_is_done_and_says_how_to_go_on() {
    let folder = folder();
    done(folder.path(), &format!("{RUN} -o whole"));
    let file = folder.path().join("stopped/records.jsonl");
    let child = start(folder.path(), &format!("{RUN} -o stopped"));
    wait_for(&file, 5);
    let sent = Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    assert!(sent.success());
    let output = child.wait_with_output().unwrap();
    let said = text(&output.stderr);
    assert_eq!(output.status.code(), Some(130), "{said}");
    assert_eq!(text(&output.stdout), "");
    let kept = lines(&file);
    assert!((5..60).contains(&kept), "{kept}");
    assert!(
        said.contains(&format!("{kept} of 60 fits are saved; run the same command again to resume")),
        "{said}"
    );
    assert!(said.ends_with("interrupted\n"), "{said}");
    done(folder.path(), &format!("{RUN} -o stopped"));
    assert_eq!(records(&folder.path().join("stopped")), records(&folder.path().join("whole")));
}

/// Stops a run by Ctrl-C as soon as a file of records has so many.
fn interrupt(child: Child, file: &Path, count: usize) -> String {
    wait_for(file, count);
    let sent = Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    assert!(sent.success());
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(130), "{}", text(&output.stderr));
    text(&output.stderr).to_string()
}

#[test]
fn the_same_command_goes_on_without_a_folder_named() {
    let folder = folder();
    done(folder.path(), &format!("{RUN} -o whole"));
    let child = start(folder.path(), RUN);
    let said = interrupt(child, &folder.path().join("musk1-compare/records.jsonl"), 5);
    assert!(said.contains("run the same command again to resume"), "{said}");
    let output = done(folder.path(), RUN);
    assert!(text(&output.stderr).contains("musk1-compare: "), "{}", text(&output.stderr));
    assert_eq!(records(&folder.path().join("musk1-compare")), records(&folder.path().join("whole")));
    assert!(!folder.path().join("musk1-compare-2").exists());
    // Another run gets a folder of its own, and the same finished one is shown again.
    done(folder.path(), &format!("{RUN} --level 0.9"));
    assert!(!folder.path().join("musk1-compare-2").exists(), "the level changes no record");
    let other = RUN.replace("--seed 7", "--seed 8");
    for _ in 0..2 {
        done(folder.path(), &other);
        assert!(
            folder.path().join("musk1-compare-2").exists() && !folder.path().join("musk1-compare-3").exists()
        );
    }
}

#[test]
fn an_evaluation_without_a_folder_goes_on_and_leaves_nothing_behind() {
    let folder = folder();
    let run = "evaluate musk1 --method migraph --folds 5 --inner 3 --repeats 10";
    let whole = common::json(folder.path(), &format!("{run} -o whole"));
    let child = start(folder.path(), run);
    let cache = folder.path().join(common::CACHE).join("runs");
    let file = |cache: &Path| std::fs::read_dir(cache).ok()?.flatten().map(|e| e.path()).next();
    let started = Instant::now();
    let kept = loop {
        assert!(started.elapsed() < Duration::from_secs(60), "no records in a minute");
        if let Some(file) = file(&cache) {
            break file;
        }
        std::thread::sleep(Duration::from_millis(1));
    };
    let said = interrupt(child, &kept, 3);
    assert!(said.contains("of 50 fits are saved; run the same command again to resume"), "{said}");
    let output = done(folder.path(), &format!("{run} --format json"));
    assert!(text(&output.stderr).contains("of 50 fits are done"), "{}", text(&output.stderr));
    let resumed: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(resumed["accuracy"], whole["accuracy"]);
    assert_eq!(file(&cache), None, "a finished run is not kept");
}

#[test]
fn another_run_is_not_mixed_in() {
    let folder = folder();
    let run = "evaluate musk1 --method mi-kernel -p gamma=1/median -p c=10 --folds 3 -o run";
    done(folder.path(), run);
    let file = folder.path().join("run/records.jsonl");
    let before = std::fs::read(&file).unwrap();
    for (other, differs) in [
        ("--seed 1", "what differs: seed (0 there, 1 here)"),
        ("--inner 4", "what differs: inner folds (kfold=5 there, kfold=4 here)"),
        ("--scale zscore", "what differs: scaling of mi-kernel (minmax there, zscore here)"),
        ("--precision f32", "what differs: precision (f64 there, f32 here)"),
        ("--balanced", "what differs: balanced weights of mi-kernel (false there, true here)"),
        ("--optimize f1", "what differs: metric (accuracy there, f1 here)"),
        ("--threshold balanced", "what differs: threshold (none there, balanced here)"),
        ("--positive 0", "what differs: "),
        ("-p norm=mean", "what differs: parameters of mi-kernel"),
    ] {
        let line = format!("{run} {other}");
        let output = bagwise(folder.path(), &line.split(' ').collect::<Vec<_>>());
        let said = text(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{other}: {said}");
        assert!(said.contains("belongs to another run") && said.contains("new folder"), "{said}");
        assert!(said.contains(differs), "{said}");
        assert!(std::fs::read(&file).unwrap() == before, "{other}");
    }
    // The same run again has nothing left to do.
    assert!(text(&done(folder.path(), run).stderr).contains("3 of 3 fits are done"));
    assert!(std::fs::read(&file).unwrap() == before);
}

#[test]
fn labels_that_belong_to_groups_are_learned_only_where_groups_are_split() {
    // Twenty groups of four bags that resemble each other; the group decides the label, and nothing else does.
    let folder = folder();
    let mut page = "bag,patient,label,a,b,c,d\n".to_string();
    // A plain generator: the points only have to be apart.
    let mut state = 12345u64;
    let mut draw = || {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (state >> 40) as f64 / f64::from(1u32 << 24)
    };
    for group in 0..20 {
        let centre = [draw(), draw(), draw(), draw()];
        let label = (group * 7 + group / 3) % 2;
        for bag in 0..4 {
            for _ in 0..2 {
                let cells: Vec<String> = centre.iter().map(|c| format!("{:.4}", c + 0.02 * draw())).collect();
                page += &format!("g{group}b{bag},p{group},{label},{}\n", cells.join(","));
            }
        }
    }
    std::fs::write(folder.path().join("patients.csv"), page).unwrap();
    let accuracy = |options: &str| {
        let line = format!("evaluate patients.csv --method mi-kernel --folds 5 --inner 4 {options}");
        common::json(folder.path(), &line)["accuracy"]["mean"].as_f64().unwrap()
    };
    let (split, whole) = (accuracy("--ignore patient"), accuracy("--group patient"));
    assert!(split > 0.95, "bags of a group give each other away: {split}");
    // Twenty groups decide: two standard deviations of chance are 0.22.
    assert!(whole < 0.72, "whole groups cannot: {whole}");
}
