//! Runs in shards: their union is the run without shards, whichever were killed, and reports join them. Processes and signals
//! are real.

#![cfg(unix)]

mod common;

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use common::{bagwise, done, folder, text};
use serde_json::Value;

/// Three methods (the baselines come along), five folds, two repeats.
const RUN: &str =
    "compare musk1 --methods mi-kernel -p mi-kernel.gamma=0.5,2 --folds 5 --inner 3 --repeats 2 --seed 7";

/// The records of files without their times, in the order of the files.
fn records(files: &[std::path::PathBuf]) -> Vec<String> {
    let mut all = Vec::new();
    for file in files {
        for line in std::fs::read_to_string(file).unwrap().lines() {
            // Everything but the time is compared as bytes, the seal with it.
            let (front, back) = line.rsplit_once("\"seconds\":").unwrap();
            let (seconds, seal) = back.split_once(',').unwrap();
            assert!(seconds.parse::<f64>().is_ok(), "{seconds}");
            all.push(format!("{front}{seal}"));
        }
    }
    all
}

fn sorted(mut all: Vec<String>) -> Vec<String> {
    all.sort();
    all
}

fn of_shards(folder: &Path, shards: usize) -> Vec<std::path::PathBuf> {
    (1..=shards).map(|i| folder.join(format!("shard-{i}-of-{shards}/records.jsonl"))).collect()
}

fn lines(file: &Path) -> usize {
    std::fs::read(file).map_or(0, |bytes| bytes.iter().filter(|&&b| b == b'\n').count())
}

/// Starts a command and kills it when the file has this many lines.
fn kill_at(home: &Path, line: &str, file: &Path, count: usize) {
    let mut child = common::program(home)
        .args(line.split_whitespace())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let started = Instant::now();
    while lines(file) < count {
        assert!(started.elapsed() < Duration::from_secs(60), "no {count} records in a minute");
        std::thread::sleep(Duration::from_millis(1));
    }
    child.kill().unwrap();
    child.wait().unwrap();
}

#[test]
fn the_union_of_shards_is_the_run() {
    let home = folder();
    done(home.path(), &format!("{RUN} -o whole"));
    let cut = home.path().join("cut");
    // One shard is killed twice.
    let third = of_shards(&cut, 7)[2].clone();
    for count in [1, 3] {
        kill_at(home.path(), &format!("{RUN} --shard 3/7 -o cut"), &third, count);
    }
    for i in [7, 1, 3, 2, 5, 6, 4] {
        done(home.path(), &format!("{RUN} --shard {i}/7 -o cut"));
    }
    let whole = records(&[home.path().join("whole/records.jsonl")]);
    let union = records(&of_shards(&cut, 7));
    assert_eq!(whole.len(), 30);
    assert!(of_shards(&cut, 7).iter().all(|file| (4..=5).contains(&lines(file))));
    assert_eq!(sorted(union), sorted(whole.clone()));
    // A report joins them without the data.
    let page = done(home.path(), "report cut -o cut.html --format json");
    let of_whole = done(home.path(), "report whole -o whole.html --format json");
    assert_eq!(numbers(&page.stdout), numbers(&of_whole.stdout));
    assert!(!text(&page.stderr).contains("missing"), "{}", text(&page.stderr));
    // The command without --shard joins them, in the order in which it would have written them, and trains nothing.
    let joined = done(home.path(), &format!("{RUN} -o cut"));
    assert!(text(&joined.stderr).contains("30 of 30 fits are done"), "{}", text(&joined.stderr));
    assert_eq!(records(&[cut.join("records.jsonl")]), whole);
    for file in ["folds.json", "roster.json", "predictions.csv", "differences.csv"] {
        let read = |run: &str| std::fs::read(home.path().join(run).join(file)).unwrap();
        assert!(read("whole") == read("cut"), "{file}");
    }
}

/// What a report says of methods, without times.
fn numbers(json: &[u8]) -> Value {
    let mut value: Value = serde_json::from_slice(json).unwrap();
    for run in value["runs"].as_array_mut().unwrap() {
        for method in run["methods"].as_array_mut().unwrap() {
            if let Some(object) = method.as_object_mut() {
                object.remove("seconds");
            }
        }
    }
    value
}

#[test]
fn a_missing_shard_is_said_and_made_up_for() {
    let home = folder();
    done(home.path(), &format!("{RUN} --shard 1/3 -o cut"));
    done(home.path(), &format!("{RUN} --shard 3/3 -o cut"));
    let page = done(home.path(), "report cut -o cut.html");
    assert!(
        text(&page.stderr).contains("fits are missing; run again with --shard 2/3, or"),
        "{}",
        text(&page.stderr)
    );
    // Also if it was begun.
    kill_at(
        home.path(),
        &format!("{RUN} --shard 2/3 -o cut"),
        &home.path().join("cut/shard-2-of-3/records.jsonl"),
        1,
    );
    let page = done(home.path(), "report cut -o cut.html");
    assert!(text(&page.stderr).contains("run again with --shard 2/3, or"), "{}", text(&page.stderr));
    let joined = done(home.path(), &format!("{RUN} -o cut"));
    assert!(text(&joined.stderr).contains("resuming"), "{}", text(&joined.stderr));
    assert_eq!(lines(&home.path().join("cut/records.jsonl")), 30);
}

#[test]
fn one_choice_on_all_folds_is_one_unit() {
    let home = folder();
    let run = "evaluate musk1 --method simple-mi --protocol best-on-cv --folds 4 --repeats 3";
    done(home.path(), &format!("{run} -o whole"));
    for i in 1..=5 {
        done(home.path(), &format!("{run} --shard {i}/5 -o cut"));
    }
    let files = of_shards(&home.path().join("cut"), 5);
    assert!(files.iter().all(|file| lines(file).is_multiple_of(4)));
    let whole = records(&[home.path().join("whole/records.jsonl")]);
    assert_eq!(sorted(records(&files)), sorted(whole));
    // Shards without fits are no error.
    done(home.path(), "report cut -o cut.html");
}

#[test]
fn shards_of_other_settings_are_refused() {
    let home = folder();
    let run = "evaluate musk1 --method simple-mi --folds 4 --inner 2";
    done(home.path(), &format!("{run} --shard 1/2 -o cut"));
    for line in [format!("{run} --seed 1 --shard 1/2 -o cut"), format!("{run} --seed 1 -o cut")] {
        let output = bagwise(home.path(), &line.split_whitespace().collect::<Vec<_>>());
        assert_eq!(output.status.code(), Some(2), "{line}");
        assert!(text(&output.stderr).contains("another run"), "{}", text(&output.stderr));
    }
    for (line, said) in [
        (format!("{run} --shard 1/2"), "name it with -o"),
        (format!("{run} --shard 3/2 -o new"), "such as 3/7"),
        (format!("{run} --shard two -o new"), "such as 3/7"),
        ("compare musk1 --shard 1/2 --budget 5m".into(), "cannot be used with"),
    ] {
        let output = bagwise(home.path(), &line.split_whitespace().collect::<Vec<_>>());
        assert_eq!(output.status.code(), Some(2), "{line}");
        assert!(text(&output.stderr).contains(said), "{line}\n{}", text(&output.stderr));
    }
    std::fs::create_dir(home.path().join("mine")).unwrap();
    std::fs::write(home.path().join("mine/notes.txt"), "mine").unwrap();
    let line = format!("{run} --shard 1/2 -o mine");
    let output = bagwise(home.path(), &line.split_whitespace().collect::<Vec<_>>());
    assert!(text(&output.stderr).contains("not empty"), "{}", text(&output.stderr));
}

#[test]
fn an_experiment_is_cut_as_well() {
    let home = folder();
    done(home.path(), "run experiment.toml --quick -o whole");
    for i in 1..=3 {
        done(home.path(), &format!("run experiment.toml --quick --shard {i}/3 -o cut"));
    }
    let page = done(home.path(), "report cut -o cut.html --format json");
    let of_whole = done(home.path(), "report whole -o whole.html --format json");
    assert_eq!(numbers(&page.stdout), numbers(&of_whole.stdout));
    let joined = done(home.path(), "run experiment.toml --quick -o cut");
    assert!(text(&joined.stderr).contains("fits are done"), "{}", text(&joined.stderr));
}

#[test]
fn the_script_of_an_array_does_all_shards() {
    let home = folder();
    let run = "evaluate musk1 --method simple-mi --folds 4 --inner 2 -o cut";
    let script = done(home.path(), &format!("slurm --shards 3 --cpus 2 --time 1:00:00 {run}"));
    let script = text(&script.stdout).to_string();
    assert!(
        script.contains("#SBATCH --array=1-3\n#SBATCH --cpus-per-task=2\n#SBATCH --time=1:00:00\n"),
        "{script}"
    );
    std::fs::write(home.path().join("job.sh"), &script).unwrap();
    let path = Path::new(env!("CARGO_BIN_EXE_bagwise")).parent().unwrap().display();
    let path = format!("{path}:{}", std::env::var("PATH").unwrap());
    for task in 1..=3 {
        let mut job = Command::new("sh");
        common::away(&mut job, home.path());
        job.arg("job.sh").env("PATH", &path).env("SLURM_ARRAY_TASK_ID", task.to_string());
        assert!(job.stderr(Stdio::null()).status().unwrap().success());
    }
    let joined = done(home.path(), run);
    assert!(text(&joined.stderr).contains("4 of 4 fits are done"), "{}", text(&joined.stderr));
    for (line, said) in [
        ("slurm --shards 3 evaluate musk1 --shard 1/3", "--shard"),
        ("slurm --shards 3 predict m.bagwise musk1", "--shard"),
        ("slurm --shards 3 compare musk1 --budget 5m", "--budget"),
        ("slurm --shards 3 compare musk1 --threads 2", "--cpus"),
        ("slurm --shards 3 --time 1h;rm compare musk1", "letters"),
    ] {
        let output = bagwise(home.path(), &line.split_whitespace().collect::<Vec<_>>());
        assert_eq!(output.status.code(), Some(2), "{line}");
        assert!(text(&output.stderr).contains(said), "{line}\n{}", text(&output.stderr));
    }
}

#[test]
fn shards_of_different_runs_do_not_share_a_folder() {
    let home = folder();
    const RUN: &str = "evaluate musk1 --folds 3 --inner 2 -p c=1 -o mixed";
    done(home.path(), &format!("{RUN} --method simple-mi --shard 1/2"));
    let refused = |line: &str| {
        let output = bagwise(home.path(), &line.split_whitespace().collect::<Vec<_>>());
        assert_eq!(output.status.code(), Some(2), "{line}: {}", text(&output.stderr));
        text(&output.stderr).to_string()
    };
    for (line, why) in [
        ("--method sil --shard 2/2", "methods (simple-mi there, sil here)"),
        ("--method simple-mi --seed 5 --shard 2/2", "seed (0 there, 5 here)"),
        // Nor does the run that joins them begin.
        ("--method simple-mi --seed 5", "seed (0 there, 5 here)"),
    ] {
        let said = refused(&format!("{RUN} {line}"));
        assert!(said.contains("mixed") && said.contains("belongs to another run"), "{said}");
        assert!(said.contains(why), "{said}");
        let entries: Vec<_> = std::fs::read_dir(home.path().join("mixed")).unwrap().collect();
        assert_eq!(entries.len(), 1, "{line}: {entries:?}");
    }
    // The other shard of the same run is welcome, also when the run was cut in another way before.
    done(home.path(), &format!("{RUN} --method simple-mi --shard 2/3"));
    done(home.path(), &format!("{RUN} --method simple-mi --shard 2/2"));
    done(home.path(), &format!("{RUN} --method simple-mi"));
    let said = refused(&format!("{RUN} --method sil --shard 2/2"));
    assert!(said.contains("methods (simple-mi there, sil here)"), "{said}");
}

#[test]
fn a_report_on_shards_of_two_runs_says_so_once() {
    let home = folder();
    for method in ["simple-mi", "sil"] {
        let line =
            format!("evaluate musk1 --folds 3 --inner 2 -p c=1 --method {method} --shard 1/2 -o {method}");
        done(home.path(), &line);
    }
    let both = home.path().join("both");
    std::fs::create_dir(&both).unwrap();
    std::fs::rename(home.path().join("simple-mi/shard-1-of-2"), both.join("shard-1-of-2")).unwrap();
    std::fs::rename(home.path().join("sil/shard-1-of-2"), both.join("shard-2-of-2")).unwrap();
    let output = bagwise(home.path(), &["report", "both", "-o", "page.html"]);
    let said = text(&output.stderr);
    assert_eq!(said.lines().filter(|l| l.starts_with("warning: both: ")).count(), 1, "{said}");
    assert!(said.contains("2 different runs"), "{said}");
}
