//! Systems that give the program less than it asks for: threads.

#![cfg(target_os = "linux")]

mod common;

use std::os::unix::fs::PermissionsExt as _;
use std::process::{Command, Stdio};

use common::text;

/// Runs the program as a user who may have so many processes and threads; nothing if this system cannot limit them.
fn limited(most: usize, options: &str) -> Option<(i32, String)> {
    let folder = tempfile::tempdir().unwrap();
    std::fs::set_permissions(folder.path(), std::fs::Permissions::from_mode(0o755)).unwrap();
    let program = folder.path().join("bagwise");
    std::fs::copy(env!("CARGO_BIN_EXE_bagwise"), &program).unwrap();
    // Limits do not hold for the administrator, and count all processes of anybody else.
    let output = Command::new("setpriv")
        .args(["--reuid=60123", "--clear-groups", "prlimit", &format!("--nproc={most}")])
        .arg(&program)
        .args(
            "evaluate musk1 --method simple-mi -p c=1 --folds 3".split(' ').chain(options.split_whitespace()),
        )
        .env("BAGWISE_CACHE", "")
        .env_remove("RUST_BACKTRACE")
        .current_dir(folder.path())
        .stdin(Stdio::null())
        .output()
        .ok()?;
    let said = text(&output.stderr).to_string();
    let possible = !said.contains("setpriv:") && !said.contains("prlimit:");
    possible.then(|| (output.status.code().unwrap_or(-1), said))
}

#[test]
fn fewer_threads_than_asked_for_are_enough() {
    // The program itself, one for progress and one for Ctrl-C; half of the others compute.
    for most in 1..=9 {
        for options in ["", "--threads 8", "--quiet --threads 8"] {
            let Some((code, said)) = limited(most, options) else { return };
            let worked = code == 0;
            assert!(worked || code == 2 && said.contains("error: "), "{most} {options}: {code}, {said}");
            assert!(worked || most < 4, "{most} {options}: {said}");
            let fewer = said.contains("of 8 threads are used, because the system allows no more");
            assert_eq!(fewer, worked && options == "--threads 8", "{most} {options}: {said}");
        }
    }
}
