//! Less than the program asks for: threads that the system does not start, memory that the user does not allow.

#![cfg(target_os = "linux")]
#![allow(clippy::print_stderr)] // a skipped test says so

mod common;

use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::process::{Command, Stdio};

use common::{bagwise, done, text};

/// Runs the program as a user who may have so many processes and threads; nothing if this system cannot limit them.
fn limited(most: usize, options: &str) -> Option<(i32, String)> {
    let folder = tempfile::tempdir().unwrap();
    std::fs::set_permissions(folder.path(), std::fs::Permissions::from_mode(0o755)).unwrap();
    let program = folder.path().join("bagwise");
    std::fs::copy(env!("CARGO_BIN_EXE_bagwise"), &program).unwrap();
    // Limits do not hold for the administrator, and count all processes of anybody else: except in a namespace of users, where
    // they count anew.
    let is_root = std::fs::metadata("/proc/self").unwrap().uid() == 0;
    let alone: &[&str] =
        if is_root { &["setpriv", "--reuid=60123", "--clear-groups"] } else { &["unshare", "--user"] };
    let output = Command::new(alone[0])
        .args(&alone[1..])
        .args(["prlimit", &format!("--nproc={most}")])
        .arg(&program)
        .args(
            "evaluate musk1 --method simple-mi -p c=1 --folds 3".split(' ').chain(options.split_whitespace()),
        )
        .env("BAGWISE_CACHE", "")
        .env("RAYON_NUM_THREADS", "2")
        .env_remove("RUST_BACKTRACE")
        .current_dir(folder.path())
        .stdin(Stdio::null())
        .output()
        .ok()?;
    let said = text(&output.stderr).to_string();
    let possible = !["setpriv:", "unshare:", "prlimit:"].iter().any(|tool| said.contains(tool));
    possible.then(|| (output.status.code().unwrap_or(-1), said))
}

#[test]
fn fewer_threads_than_asked_for_are_enough() {
    // The program itself, one for progress and one for Ctrl-C; half of the others compute.
    for most in 1..=9 {
        for options in ["", "--threads 8", "--quiet --threads 8"] {
            let Some((code, said)) = limited(most, options) else {
                eprintln!("skipped: this system does not limit the threads of a user");
                return;
            };
            let worked = code == 0;
            assert!(
                worked || code == 2 && said.contains("error: ") && said.contains("ulimit -u"),
                "{most} {options}: {code}, {said}"
            );
            assert!(worked || most < 4, "{most} {options}: {said}");
            let fewer = said.contains("of 8 threads are used, because the system did not start all of them");
            assert_eq!(fewer, worked && options == "--threads 8", "{most} {options}: {said}");
        }
    }
}

#[test]
fn a_small_stack_is_enough() {
    for size in [64 << 10, 256 << 10, 1 << 20] {
        let output = Command::new("prlimit")
            .args([&format!("--stack={size}"), env!("CARGO_BIN_EXE_bagwise")])
            .args("evaluate musk1 --method simple-mi -p c=1 --folds 3 --threads 1".split(' '))
            // The caller's environment would be on that stack.
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .env("BAGWISE_CACHE", "")
            .stdin(Stdio::null())
            .output();
        let Ok(output) = output else {
            eprintln!("skipped: this system has no prlimit");
            return;
        };
        assert_eq!(output.status.code(), Some(0), "{size}: {}", text(&output.stderr));
    }
}

#[test]
fn a_program_that_may_have_little_memory_starts() {
    let folder = tempfile::tempdir().unwrap();
    let output = Command::new("prlimit")
        .args(["--data=12000000", env!("CARGO_BIN_EXE_bagwise"), "methods", "isk", "--threads", "1"])
        .current_dir(folder.path())
        .stdin(Stdio::null())
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
}

#[test]
fn a_number_of_threads_that_no_machine_has_is_not_tried() {
    let folder = tempfile::tempdir().unwrap();
    // Room for the stacks of a thousand threads, not for those of so many.
    let output = Command::new("prlimit")
        .args(["--as=8000000000", env!("CARGO_BIN_EXE_bagwise"), "methods", "isk"])
        .env("RAYON_NUM_THREADS", "100000")
        .current_dir(folder.path())
        .stdin(Stdio::null())
        .output()
        .unwrap();
    assert_eq!((output.status.code(), text(&output.stderr)), (Some(0), ""));
}

/// A table of two bags for each of so many classes.
fn many_classes(classes: usize) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let mut rows = String::from("bag,label,x\n");
    for bag in 0..2 * classes {
        rows += &format!("b{bag},c{},{}\n", bag / 2, (bag * 37 % 101) as f64 / 100.0);
    }
    std::fs::write(folder.path().join("many.csv"), rows).unwrap();
    folder
}

#[test]
fn machines_of_many_classes_keep_to_the_memory_or_are_refused() {
    let fit = "fit many.csv --method simple-mi --inner 2 -o m.bagwise";
    // 44,850 pairs: more than 300 bytes each, for every c, and outputs for 600 bags.
    let folder = many_classes(300);
    let words = format!("{fit} --memory 50MB");
    let output = bagwise(folder.path(), &words.split(' ').collect::<Vec<_>>());
    let said = text(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{said}");
    assert!(said.contains("44850 machines for 300 classes, with their outputs"), "{said}");
    assert!(said.contains("50.0 MB") && said.contains("--memory"), "{said}");
    assert!(!folder.path().join("m.bagwise").exists());
    let folder = many_classes(60);
    done(folder.path(), fit);
    // A pair knows four of the 120 bags: a matrix would take 1.7 MB.
    let size = std::fs::metadata(folder.path().join("m.bagwise")).unwrap().len();
    assert!(size < 600_000, "{size}");
    let said = done(folder.path(), "predict m.bagwise many.csv --format csv");
    assert_eq!(text(&said.stdout).lines().count(), 121);
}

#[test]
fn help_that_cannot_be_printed_is_an_error() {
    let full = std::fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
    let output =
        Command::new(env!("CARGO_BIN_EXE_bagwise")).args(["fit", "--help"]).stdout(full).output().unwrap();
    let said = text(&output.stderr);
    assert!(output.status.code() == Some(2) && said.contains("No space left on device"), "{said}");
}

#[test]
fn a_name_that_is_not_utf_8_is_shown() {
    use std::os::unix::ffi::OsStrExt as _;
    let name = std::ffi::OsStr::from_bytes(b"caf\xe9.csv");
    let output = Command::new(env!("CARGO_BIN_EXE_bagwise")).arg("inspect").arg(name).output().unwrap();
    let said = text(&output.stderr);
    assert!(output.status.code() == Some(2), "{said}");
    assert!(said.contains("caf\u{fffd}.csv: the name is not valid UTF-8; rename the file"), "{said}");
}
