//! Running programs from the root of the repository, and the few commands that several words share.

use std::ffi::OsStr;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result, bail};

/// The root of the repository.
pub(crate) fn root() -> PathBuf {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.ancestors().nth(2).expect("crates/xtask lies two folders below the root").to_path_buf()
}

/// Folders that may have data, the one that the user names first.
pub(crate) fn data_folders() -> Vec<PathBuf> {
    let named = std::env::var_os("BAGWISE_DATA").map(PathBuf::from);
    let near = ["data", "../shared/data", "../../shared/data"].map(|folder| root().join(folder));
    named.into_iter().chain(near).collect()
}

/// The table of a data set, packed or not.
pub(crate) fn data_file(name: &str) -> Result<PathBuf> {
    let in_folder = |folder: &PathBuf| ["csv.gz", "csv"].map(|end| folder.join(format!("{name}.{end}")));
    let found = data_folders().iter().flat_map(in_folder).find(|path| path.exists());
    found.with_context(|| {
        format!("{name} is not in $BAGWISE_DATA, data/ or shared/data beside the repository")
    })
}

/// Where builds go.
pub(crate) fn target() -> PathBuf {
    match std::env::var_os("CARGO_TARGET_DIR") {
        Some(dir) => root().join(dir),
        None => root().join("target"),
    }
}

/// A line on stderr: what xtask says is about the work, not a result.
pub(crate) fn say(line: &str) {
    let _ = writeln!(std::io::stderr().lock(), "{line}");
}

/// A result, on stdout.
pub(crate) fn print(text: &str) {
    let _ = std::io::stdout().lock().write_all(text.as_bytes());
}

/// A program, started in the root of the repository.
pub(crate) fn program<S: AsRef<OsStr>>(name: impl AsRef<OsStr>, args: &[S]) -> Command {
    let mut command = Command::new(name);
    command.args(args).current_dir(root());
    command
}

/// The cargo that runs us, so that a toolchain chosen by hand stays chosen.
pub(crate) fn cargo<S: AsRef<OsStr>>(args: &[S]) -> Command {
    program(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()), args)
}

/// What every `cargo test` of this program begins with. Cargo chooses the features of dependencies by the packages that it is
/// asked for: with `--package`, each of them would have its own build of everything.
pub(crate) const TEST: [&str; 4] = ["test", "--workspace", "--features", "bagwise/ndarray"];

/// Some integration tests, by name, with the build that all others use.
pub(crate) fn tests(names: &[impl AsRef<str>]) -> Command {
    let mut command = cargo(&TEST);
    command.arg("--quiet");
    for name in names {
        command.args(["--test", name.as_ref()]);
    }
    command
}

/// Runs a command; an error if it fails.
pub(crate) fn run(mut command: Command) -> Result<()> {
    let shown = shown(&command);
    let status = command.status().with_context(|| format!("could not start `{shown}`"))?;
    if !status.success() {
        bail!("`{shown}` failed ({status})");
    }
    Ok(())
}

/// The command line as users run it, built if need be.
pub(crate) fn release_binary() -> Result<PathBuf> {
    run(cargo(&["build", "--release", "--quiet", "--package", "bagwise-cli"]))?;
    Ok(target().join("release").join(format!("bagwise{}", std::env::consts::EXE_SUFFIX)))
}

/// Runs xtask again as a release build, with these words, if this is none; whether it did.
pub(crate) fn released<S: AsRef<OsStr>>(words: &[S]) -> Result<bool> {
    if cfg!(debug_assertions) {
        let mut command = cargo(&["run", "--release", "--quiet", "--package", "xtask", "--"]);
        command.args(words);
        run(command)?;
    }
    Ok(cfg!(debug_assertions))
}

/// The command as one would type it.
pub(crate) fn shown(command: &Command) -> String {
    let word = |w: &OsStr| {
        let w = w.to_string_lossy();
        if w.contains([' ', '\'', '"', '$', '*']) { format!("{w:?}") } else { w.into_owned() }
    };
    let name = Path::new(command.get_program());
    let mut line: Vec<String> = command
        .get_envs()
        .filter_map(|(key, value)| Some(format!("{}={}", key.to_string_lossy(), word(value?))))
        .collect();
    line.push(word(name.file_name().unwrap_or(name.as_os_str())));
    line.extend(command.get_args().map(word));
    line.join(" ")
}

/// Formats the code, or checks that it is formatted.
pub(crate) fn format(check: bool) -> Result<()> {
    let check = if check { &["--check"][..] } else { &[] };
    let mut args = vec!["fmt", "--all"];
    if !check.is_empty() {
        args.extend(["--", "--check"]);
    }
    run(cargo(&args))?;
    // Modules that a macro declares are not reached from the crate's root.
    let mut files = Vec::new();
    let methods = root().join("crates/bagwise/src/methods");
    if methods.is_dir() {
        for entry in std::fs::read_dir(&methods)? {
            let path = entry?.path();
            if path.extension().is_some_and(|e| e == "rs") {
                files.push(path.into_os_string());
            }
        }
        files.sort();
    }
    if files.is_empty() {
        return Ok(());
    }
    let mut command = program("rustfmt", &["--edition", "2024"]);
    command.args(check).args(files);
    run(command)
}

/// Writes the reference of the library; a broken link is an error.
pub(crate) fn docs() -> Result<()> {
    let mut command = cargo(&["doc", "--workspace", "--no-deps", "--quiet"]);
    command.env("RUSTDOCFLAGS", "-D warnings");
    run(command)
}
