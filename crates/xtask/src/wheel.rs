//! The Python package: builds its wheel, installs it where no Rust is to be found, and runs its tests, the examples in
//! its documentation, its guides, and a type checker over package and guides.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result, bail};

use crate::run::{print, program, root, run, target};
use crate::venv;

/// What building and testing need. The package itself asks for numpy and scikit-learn.
pub(crate) const PACKAGES: &[&str] = &[
    "maturin==1.16.0",
    "numpy",
    "scikit-learn",
    "pandas",
    "polars",
    "pyarrow",
    "h5py",
    "skops",
    "matplotlib",
    "pytest",
    "mypy",
    "ruff",
];

/// `cargo xtask wheel`: an optimised wheel, installed in the environment under `target/venv`.
pub(crate) fn command() -> Result<()> {
    let python = venv::python(PACKAGES)?;
    let wheel = build(&python, true)?;
    install(&python, &wheel)?;
    print(&format!("{}\n", wheel.display()));
    Ok(())
}

/// Builds the wheel; the tests' build shares what `cargo test` has compiled.
pub(crate) fn build(python: &Path, optimised: bool) -> Result<PathBuf> {
    let folder = target().join("wheels");
    // A wheel of an earlier version must not be taken for this one.
    if folder.is_dir() {
        std::fs::remove_dir_all(&folder).with_context(|| format!("removing {}", folder.display()))?;
    }
    let mut build = program(python, &["-m", "maturin", "build", "--quiet", "--out"]);
    build.arg(&folder);
    if optimised {
        build.arg("--release");
    }
    run(build)?;
    let mut wheels =
        std::fs::read_dir(&folder)?.map(|entry| Ok(entry?.path())).filter(|path: &Result<PathBuf>| {
            path.as_ref().is_ok_and(|p| p.extension().is_some_and(|e| e == "whl"))
        });
    wheels.next().context("maturin wrote no wheel")?
}

/// Installs the wheel, without a Rust compiler in sight.
pub(crate) fn install(python: &Path, wheel: &Path) -> Result<()> {
    let mut install = without_rust(
        python,
        &["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--force-reinstall", "--no-deps"],
    );
    install.arg(wheel);
    run(install)
}

/// A program that finds only what lies beside the interpreter.
fn without_rust(python: &Path, args: &[&str]) -> Command {
    let mut command = program(python, args);
    command.env("PATH", python.parent().unwrap_or(Path::new("")));
    for name in ["CARGO", "CARGO_HOME", "RUSTUP_HOME", "RUSTUP_TOOLCHAIN"] {
        command.env_remove(name);
    }
    command
}

/// Everything that must pass.
pub(crate) fn test() -> Result<Option<String>> {
    let python = venv::python(PACKAGES)?;
    let wheel = build(&python, false)?;
    install(&python, &wheel)?;
    let code = ["python", "docs/python", "crates/xtask/peers/python.py"];
    let cache = |name: &str| target().join(name).display().to_string();
    for words in [&["ruff", "check", "--quiet"][..], &["ruff", "format", "--quiet", "--check"]] {
        let mut command = program(&python, &["-m"]);
        run_quietly(command.args(words).args(["--cache-dir", &cache("ruff")]).args(code))?;
    }
    let mut types = program(&python, &["-m", "mypy", "--strict", "--no-error-summary", "--cache-dir"]);
    run_quietly(types.arg(cache("mypy")).args(["python/bagwise", "docs/python"]))?;
    let tests = ["-m", "pytest", "-p", "no:cacheprovider", "--quiet", "--pyargs", "python/tests", "bagwise"];
    let mut tests = without_rust(&python, &tests);
    tests.env("PYTHONDONTWRITEBYTECODE", "1");
    let said = tests.output().context("starting pytest")?;
    let text = String::from_utf8_lossy(&said.stdout).into_owned();
    if !said.status.success() {
        bail!("pytest failed:\n{text}\n{}", String::from_utf8_lossy(&said.stderr));
    }
    Ok(text.lines().last().map(|line| line.trim_matches(['=', ' ']).to_string()))
}

/// Runs a checker that speaks on stdout, where only results belong, and shows what it said if it fails.
fn run_quietly(command: &mut Command) -> Result<()> {
    let shown = crate::run::shown(command);
    let said = command.current_dir(root()).output().with_context(|| format!("starting `{shown}`"))?;
    if !said.status.success() {
        bail!(
            "`{shown}`:\n{}{}",
            String::from_utf8_lossy(&said.stdout),
            String::from_utf8_lossy(&said.stderr)
        );
    }
    Ok(())
}
