//! A Python environment under `target/venv`, for the programs we are compared with and the tests of the Python
//! package. Made once; packages are installed when they are first asked for.

use std::io::Write as _;
use std::path::PathBuf;

use anyhow::{Context as _, Result, bail};

use crate::run::{program, run, say, target};

/// `cargo xtask venv [PACKAGE…]`.
pub(crate) fn command(packages: &[String]) -> Result<()> {
    let packages: Vec<&str> = packages.iter().map(String::as_str).collect();
    let python = python(&packages)?;
    writeln!(std::io::stdout().lock(), "{}", python.display())?;
    Ok(())
}

/// The interpreter of an environment that has the packages, each "name" or "name==version".
pub(crate) fn python(packages: &[&str]) -> Result<PathBuf> {
    python_in("venv", packages)
}

/// The same of the environment in this folder of `target/`.
pub(crate) fn python_in(folder: &str, packages: &[&str]) -> Result<PathBuf> {
    let venv = target().join(folder);
    let python = if cfg!(windows) { venv.join("Scripts/python.exe") } else { venv.join("bin/python") };
    if !works(&python) {
        say(&format!("making the Python environment {}", venv.display()));
        let system = if cfg!(windows) { "python" } else { "python3" };
        let mut make = program(system, &["-m", "venv", "--clear"]);
        make.arg(&venv);
        run(make).context("Python 3 with its venv module is needed (on Debian: apt install python3-venv)")?;
    }
    let missing = missing(&python, packages)?;
    if !missing.is_empty() {
        say(&format!("installing {}", missing.join(" ")));
        let mut install =
            program(&python, &["-m", "pip", "install", "--quiet", "--disable-pip-version-check"]);
        install.args(&missing);
        run(install)?;
    }
    Ok(python)
}

/// An interpreter that starts and has pip: an environment may have been left half made, or its Python removed.
fn works(python: &PathBuf) -> bool {
    let check = program(python, &["-c", "import pip"]).output();
    check.is_ok_and(|output| output.status.success())
}

/// Those of the packages that are not installed, or not in the version asked for.
fn missing<'a>(python: &PathBuf, packages: &[&'a str]) -> Result<Vec<&'a str>> {
    const ASK: &str = "\
import sys
from importlib.metadata import version, PackageNotFoundError
for i, wanted in enumerate(sys.argv[1:]):
    name, _, number = wanted.partition('==')
    try:
        found = version(name.partition('[')[0])
    except PackageNotFoundError:
        found = None
    if found is None or number and found != number:
        print(i)
";
    let output =
        program(python, &["-c", ASK]).args(packages).output().context("asking Python what it has")?;
    if !output.status.success() {
        bail!("asking Python what it has: {}", String::from_utf8_lossy(&output.stderr));
    }
    let text = String::from_utf8(output.stdout).context("what Python said")?;
    text.lines()
        .map(|line| line.trim().parse().ok().and_then(|i: usize| packages.get(i).copied()))
        .collect::<Option<Vec<&str>>>()
        .with_context(|| format!("Python said {text:?}"))
}
