//! Running the program in a folder of its own, and reading the commands that help and documentation show.

#![allow(dead_code, reason = "each test file uses a part")]

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

/// The root of the repository.
pub(crate) fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).unwrap().to_path_buf()
}

/// A folder that holds the table the documentation works with.
pub(crate) fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    std::fs::copy(root().join("docs/molecules.csv"), folder.path().join("molecules.csv")).unwrap();
    folder
}

/// The program, in a folder, away from any terminal and from settings of the person who runs the tests.
pub(crate) fn bagwise(folder: &Path, args: &[&str]) -> Output {
    away(Command::new(env!("CARGO_BIN_EXE_bagwise")).args(args), folder)
}

/// A line of shell, in which `bagwise` is the program under test.
#[cfg(unix)]
pub(crate) fn shell(folder: &Path, line: &str) -> Output {
    let line = format!("bagwise() {{ \"$BAGWISE\" \"$@\"; }}\n{line}");
    let mut command = Command::new("sh");
    away(command.args(["-c", &line]).env("BAGWISE", env!("CARGO_BIN_EXE_bagwise")), folder)
}

fn away(command: &mut Command, folder: &Path) -> Output {
    for name in ["COLUMNS", "NO_COLOR", "BAGWISE_DATA", "RUST_BACKTRACE"] {
        command.env_remove(name);
    }
    command.current_dir(folder).stdin(Stdio::null()).output().unwrap()
}

/// What a run printed.
pub(crate) fn text(bytes: &[u8]) -> &str {
    std::str::from_utf8(bytes).unwrap()
}

/// A run as a snapshot shows it.
pub(crate) fn shown(command: &str, output: &Output) -> String {
    let mut page = format!("$ {command}\nexit {}\n", output.status.code().unwrap());
    for (name, bytes) in [("stdout", &output.stdout), ("stderr", &output.stderr)] {
        if !bytes.is_empty() {
            write!(page, "--- {name}\n{}", text(bytes)).unwrap();
        }
    }
    page
}

/// The commands under "Examples:" in a help page, without the remarks behind them.
pub(crate) fn examples(help: &str) -> Vec<String> {
    let block = help.split("Examples:\n").nth(1).expect("help has examples");
    let lines = block.lines().take_while(|line| line.starts_with("  bagwise "));
    // A remark stands at least three spaces behind its command, or behind "then:".
    lines.map(|line| line.trim().split("   ").next().unwrap().to_string()).collect()
}
