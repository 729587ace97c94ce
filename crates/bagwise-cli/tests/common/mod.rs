//! Running the program in a folder of its own, and reading the commands that help and documentation show.

#![allow(dead_code, reason = "each test file uses a part")]

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

/// The folder, beside the tables, where runs that are not done keep their records.
pub(crate) const CACHE: &str = "cache";

/// The root of the repository.
pub(crate) fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).unwrap().to_path_buf()
}

/// A folder that holds the tables the documentation works with.
pub(crate) fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    copy_tables(folder.path());
    folder
}

/// Copies the tables the documentation works with into a folder.
pub(crate) fn copy_tables(folder: &Path) {
    for table in ["molecules.csv", "new.csv", "mirsvm-figure-4.csv", "experiment.toml"] {
        std::fs::copy(root().join("docs").join(table), folder.join(table)).unwrap();
    }
}

/// The program, in a folder, away from any terminal and from settings of the person who runs the tests.
pub(crate) fn bagwise(folder: &Path, args: &[&str]) -> Output {
    program(folder).args(args).output().unwrap()
}

/// The same, to be started with other streams or in the background.
pub(crate) fn program(folder: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_bagwise"));
    away(&mut command, folder);
    command
}

/// A line of shell, in which `bagwise` is the program under test.
#[cfg(unix)]
pub(crate) fn shell(folder: &Path, line: &str) -> Output {
    let line = format!("bagwise() {{ \"$BAGWISE\" \"$@\"; }}\n{line}");
    let mut command = Command::new("sh");
    command.args(["-c", &line]).env("BAGWISE", env!("CARGO_BIN_EXE_bagwise"));
    away(&mut command, folder);
    command.output().unwrap()
}

/// Gives a command a folder to work in and the settings of a test, whatever program it starts.
pub(crate) fn away(command: &mut Command, folder: &Path) {
    for name in ["COLUMNS", "NO_COLOR", "BAGWISE_DATA", "RUST_BACKTRACE"] {
        command.env_remove(name);
    }
    // Sums differ between instruction sets in their last bits, and now and then a tie of two folds with them.
    command.env("BAGWISE_CACHE", CACHE).env("BAGWISE_SIMD", "avx2");
    command.current_dir(folder).stdin(Stdio::null());
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

/// Runs the words of a line, and expects success.
pub(crate) fn done(folder: &Path, line: &str) -> Output {
    let output = bagwise(folder, &line.split_whitespace().collect::<Vec<_>>());
    assert_eq!(output.status.code(), Some(0), "bagwise {line}\n{}", text(&output.stderr));
    output
}

/// The same, read as JSON.
pub(crate) fn json(folder: &Path, line: &str) -> serde_json::Value {
    serde_json::from_slice(&done(folder, &format!("{line} --format json")).stdout).unwrap()
}

/// Text in which times taken are `T`: `in 0.3 s`, `, 0.3 s` and the last column of a table.
pub(crate) fn timeless(page: &str) -> String {
    let is_time = |word: &str| {
        word.split_once('.').is_some_and(|(whole, part)| {
            !whole.is_empty() && part.len() == 1 && [whole, part].concat().bytes().all(|b| b.is_ascii_digit())
        })
    };
    let mut all = String::new();
    // How far a run is after so many seconds.
    let is_progress = |line: &str| line.contains(", fold ") && line.contains(" %, ");
    for line in page.lines().filter(|line| !is_progress(line)) {
        let words: Vec<&str> = line.split(' ').collect();
        let timed = |i: usize| is_time(words[i]) && (i + 1 == words.len() || words[i + 1] == "s");
        let shown: Vec<&str> = (0..words.len()).map(|i| if timed(i) { "T" } else { words[i] }).collect();
        let line = shown.join(" ");
        // A time of two digits moves the spaces before it.
        match line.strip_suffix(" T") {
            Some(rest) => all += &format!("{} T", rest.trim_end()),
            None => all += line.split_once("; about ").map_or(&line, |(before, _)| before),
        }
        all.push('\n');
    }
    all
}

/// The commands under "Examples:" in a help page, without the remarks behind them.
pub(crate) fn examples(help: &str) -> Vec<String> {
    let block = help.split("Examples:\n").nth(1).expect("help has examples");
    let lines = block.lines().take_while(|line| line.starts_with("  bagwise "));
    // A remark stands at least three spaces behind its command, or behind "then:".
    lines.map(|line| line.trim().split("   ").next().unwrap().to_string()).collect()
}

/// A comparison of the table of a scene.
pub(crate) const COMPARE: &str = "compare d.csv --methods majority --folds 4 -o run";

/// Sixteen bags of two classes, all numbers times `size`.
pub(crate) fn table(size: f64) -> String {
    let mut rows = String::from("bag,label,x,z\n");
    for bag in 0..16 {
        for row in 0..=bag % 3 {
            let x = f64::from(bag % 2) + 0.1 * f64::from(row) + 0.01 * f64::from(bag);
            rows +=
                &format!("b{bag},{},{:e},{:e}\n", bag % 2, x * size, f64::from(bag * row % 5) / 4.0 * size);
        }
    }
    rows
}

/// A folder with a table.
pub(crate) fn scene() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("d.csv"), table(1.0)).unwrap();
    folder
}

/// A folder with a table and the folder `run` of a comparison.
pub(crate) fn scene_with_run() -> tempfile::TempDir {
    let folder = scene();
    done(folder.path(), COMPARE);
    folder
}

/// Runs a line.
pub(crate) fn run(folder: &Path, line: &str) -> Output {
    bagwise(folder, &line.split_whitespace().collect::<Vec<_>>())
}

/// Runs a line that must be refused in one line with exit code 2; what it says.
pub(crate) fn refused(folder: &Path, line: &str) -> String {
    let output = run(folder, line);
    said_no(line, &output)
}

/// What was said by a line that was refused in one line.
pub(crate) fn said_no(line: &str, output: &Output) -> String {
    let said = text(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "bagwise {line}\n{said}");
    let errors: Vec<&str> = said.lines().filter(|l| l.starts_with("error: ")).collect();
    assert_eq!(errors.len(), 1, "bagwise {line}\n{said}");
    errors[0].to_string()
}

/// Names of what a folder holds, sorted.
pub(crate) fn names(folder: &Path) -> Vec<String> {
    let mut names: Vec<String> =
        std::fs::read_dir(folder).unwrap().map(|e| e.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

/// What a command printed, results and remarks together.
pub(crate) fn said(folder: &Path, line: &str) -> String {
    let output = done(folder, line);
    format!("{}{}", text(&output.stdout), text(&output.stderr))
}

/// Bags of three instances: `row` gives the cells of a bag's row after its id.
pub(crate) fn write(
    folder: &Path,
    name: &str,
    heading: &str,
    bags: usize,
    row: impl Fn(usize, usize) -> String,
) {
    let mut table = format!("bag,{heading}\n");
    for bag in 0..bags {
        (0..3).for_each(|i| writeln!(table, "b{bag},{}", row(bag, i)).unwrap());
    }
    std::fs::write(folder.join(name), table).unwrap();
}

/// A number that looks random and is the same in every run.
pub(crate) fn noise(a: usize, b: usize) -> f64 {
    let z = (a as u64 * 1_000_003 + b as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    ((z ^ (z >> 31)).wrapping_mul(0xbf58_476d_1ce4_e5b9) >> 40) as f64 / f64::from(1 << 24)
}
