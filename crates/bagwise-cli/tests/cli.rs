//! Runs of the program as a user sees them: exit code, stdout, stderr. `cargo xtask golden` rewrites the snapshots.

mod common;

use common::{bagwise, folder, shown, text, timeless};

/// Runs a line of words without quotes and compares it with its snapshot.
fn snapshot(name: &str, line: &str) {
    let folder = folder();
    let args: Vec<&str> = line.split_whitespace().collect();
    let output = bagwise(folder.path(), &args);
    insta::with_settings!({prepend_module_to_snapshot => false, omit_expression => true}, {
        let page = shown(&format!("bagwise {line}"), &output);
        insta::assert_snapshot!(name, if line.is_empty() { timeless(&page) } else { page });
    });
}

const MOLECULES: &str = "inspect molecules.csv --bag mol --label active";

#[test]
fn help() {
    snapshot("help", "--help");
    snapshot("help_inspect", "inspect --help");
    snapshot("help_convert", "convert --help");
    snapshot("help_completions", "completions --help");
}

#[test]
fn inspect() {
    snapshot("alone", "");
    snapshot("inspect_musk1", "inspect musk1");
    snapshot("inspect_molecules", &format!("{MOLECULES} --group scaffold --keep conformer"));
    snapshot("inspect_suspicious", &format!("{MOLECULES} --group scaffold --quiet"));
    snapshot("inspect_ignore", &format!("{MOLECULES} --ignore shape,scaffold,conformer --quiet"));
    snapshot("inspect_regression", "inspect molecules.csv --bag mol --label active --task regression -q");
    snapshot("inspect_csv", &format!("{MOLECULES} --ignore scaffold --format csv --quiet"));
    snapshot("inspect_json", &format!("{MOLECULES} --ignore scaffold,conformer,shape --format json"));
}

#[test]
fn what_cannot_start_says_why() {
    snapshot("no_such_column", "inspect molecules.csv --bag molecule --label active");
    snapshot("no_such_verb", "inspekt musk1");
    snapshot("no_such_option", "inspect musk1 --bags mol");
    snapshot("no_data", "inspect");
    snapshot("no_threads", "inspect musk1 --threads 0");
    snapshot("no_memory", "inspect musk1 --memory 4potatoes");
    snapshot("no_such_input_format", "inspect molecules.csv --input-format excel");
    snapshot("no_such_output_format", "convert musk1 musk1.xyz");
    snapshot("no_such_folder", "convert musk1 nowhere/musk1.csv");
}

#[test]
fn a_name_that_is_not_there_is_told_what_is() {
    // No snapshot: the message lists the folders that were looked in, which depend on where the program lies.
    let folder = folder();
    let said = |name: &str| text(&bagwise(folder.path(), &["inspect", name]).stderr).to_string();
    assert!(said("musk7").ends_with("did you mean 'musk1'?\n"), "{}", said("musk7"));
    assert!(
        said("molecule.csv").starts_with("error: molecule.csv: no such file"),
        "{}",
        said("molecule.csv")
    );
}

#[test]
fn json_prints_the_counts_of_the_data() {
    let sets = [
        ("musk1", 92, 476, 166, r#"{"0":45,"1":47}"#),
        ("musk2", 102, 6598, 166, r#"{"0":63,"1":39}"#),
        ("elephant", 200, 1391, 230, r#"{"0":100,"1":100}"#),
        ("protein", 193, 26611, 9, r#"{"0":168,"1":25}"#),
    ];
    for (name, bags, instances, attributes, classes) in sets {
        let output = bagwise(&common::root(), &["inspect", name, "--format", "json"]);
        assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
        let json: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
        assert_eq!(json["bags"], bags);
        assert_eq!(json["instances"], instances);
        assert_eq!(json["attributes"], attributes);
        assert_eq!(json["classes"].to_string(), classes);
    }
}

#[test]
fn what_is_converted_reads_back_equal() {
    let folder = folder();
    let columns = ["--bag", "mol", "--label", "active", "--group", "scaffold", "--keep", "conformer"];
    for out in ["m.csv", "m.tsv", "m.csv.gz"] {
        let output = bagwise(folder.path(), &[&["convert", "molecules.csv", out], &columns[..]].concat());
        assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
        assert!(output.stdout.is_empty());
        assert!(text(&output.stderr).contains(&format!("wrote {out}: 40 bags, 124 instances, 5 attributes")));

        let seen = |args: &[&str]| {
            let output = bagwise(folder.path(), &[args, &["--format", "json"]].concat());
            assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
            let mut json: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
            json.as_object_mut().unwrap().remove("data");
            json
        };
        let before = seen(&[&["inspect", "molecules.csv"], &columns[..]].concat());
        assert_eq!(before["kept"], serde_json::json!(["conformer"]));
        assert_eq!(before, seen(&["inspect", out, "--keep", "conformer"]), "{out}");
    }
}

#[test]
fn options_reach_the_reader() {
    let folder = tempfile::tempdir().unwrap();
    let seen = |content: &str, options: &[&str]| -> serde_json::Value {
        std::fs::write(folder.path().join("t.csv"), content).unwrap();
        let output = bagwise(folder.path(), &[&["inspect", "t.csv", "--format", "json"], options].concat());
        assert_eq!(output.status.code(), Some(0), "{options:?}: {}", text(&output.stderr));
        serde_json::from_slice(&output.stdout).unwrap()
    };
    let numbers = "1,0,5\n1,0,6\n2,1,7\n";
    assert_eq!(seen(numbers, &["--no-header"])["instances"], 3);
    assert_eq!(seen(numbers, &["--header", "--bag", "1", "--label", "2"])["instances"], 2);
    assert_eq!(seen(numbers, &["--header", "--no-header"])["instances"], 3);

    let table = "bag,label,truth,x,z\na,0,0,5,\na,0,1,6,1\nb,1,1,7,2\n";
    let found = seen(table, &["--missing", "median", "--instance-label", "truth", "--categorical", "x"]);
    assert_eq!((&found["missing"], &found["categorical"]), (&1.into(), &1.into()));
    assert_eq!(found["instance_labels"], serde_json::json!({"0": 1, "1": 2}));
    let target = seen(table, &["--task", "regression", "--ignore", "z"]);
    assert_eq!((&target["classes"], &target["target"]["max"]), (&serde_json::json!({}), &1.0.into()));

    let unlabelled = "bag,label,x\na,,5\nb,,6\n";
    assert_eq!(seen(unlabelled, &["--unlabelled"])["findings"][0]["kind"], "single_instances");
    assert_eq!(seen(unlabelled, &["--unlabelled"])["classes"], serde_json::json!({}));
}

#[test]
fn threads_and_seed_change_no_result() {
    let folder = folder();
    let one = bagwise(folder.path(), &["inspect", "musk1", "--format", "json", "--threads", "1"]);
    let three =
        bagwise(folder.path(), &["--threads", "3", "--seed", "9", "inspect", "musk1", "--format", "json"]);
    assert_eq!(one.stdout, three.stdout);
    assert!(!one.stdout.is_empty());
}

#[test]
fn results_go_to_stdout_and_nothing_is_coloured_away_from_a_terminal() {
    let folder = folder();
    let args: Vec<&str> = MOLECULES.split(' ').collect();
    let output = bagwise(folder.path(), &args);
    assert!(text(&output.stdout).starts_with("molecules.csv: 40 bags"));
    assert!(text(&output.stderr).lines().all(|line| line.starts_with("warning: ")));
    assert!(![output.stdout, output.stderr].concat().contains(&0x1b));
    let quiet = bagwise(folder.path(), &[&args[..], &["--quiet"]].concat());
    assert!(quiet.stderr.is_empty());
}

#[cfg(unix)]
#[test]
fn a_reader_that_has_seen_enough_is_no_error() {
    use std::process::{Command, Stdio};
    let mut child = Command::new(env!("CARGO_BIN_EXE_bagwise"))
        .args(["inspect", "musk1", "--format", "json"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take()); // closed before the first byte is written
    let output = child.wait_with_output().unwrap();
    assert_eq!((output.status.code(), text(&output.stderr)), (Some(0), ""));
}

#[cfg(target_os = "linux")]
#[test]
fn ctrl_c_ends_without_a_result() {
    use std::process::{Command, Stdio};
    let child = Command::new(env!("CARGO_BIN_EXE_bagwise"))
        .args(["inspect", "synthetic:speaker"])
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // Half a million instances are not made, let alone looked at, in the moment after the program begins to listen.
    let listens = || {
        let status = std::fs::read_to_string(format!("/proc/{}/status", child.id())).unwrap();
        let caught = status.lines().find_map(|line| line.strip_prefix("SigCgt:")).unwrap();
        u64::from_str_radix(caught.trim(), 16).unwrap() & 0b10 != 0
    };
    while !listens() {
        std::thread::sleep(std::time::Duration::from_millis(1));
    }
    let killed = Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    assert!(killed.success());
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(130));
    assert_eq!(text(&output.stdout), "");
    assert_eq!(text(&output.stderr), "stopping; press Ctrl-C again to exit immediately\ninterrupted\n");
}

#[test]
fn completions_exist_for_every_shell() {
    let folder = folder();
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let output = bagwise(folder.path(), &["completions", shell]);
        let script = text(&output.stdout);
        assert!(script.contains("inspect") && script.contains("instance-label"), "{shell}");
    }
}
