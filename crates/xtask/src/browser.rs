//! The report of real runs, opened in headless Chromium (`crates/bagwise-report/tests/browser.py` does the looking). Pages,
//! screenshots and a PDF stay under `target/report` for people to look at. Where there is no Chromium and this is Debian or
//! Ubuntu with the right to install it, it is installed; elsewhere the step says that it was skipped.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context as _, Result, bail};

use crate::run::{cargo, program, root, run, say, target};

/// Programs that answer to Chromium's options.
const NAMES: [&str; 4] = ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable"];

/// A page of sixteen methods on ten data sets, which a test of the report draws from made-up records: training would take long.
const MANY: &str = "sixteen_methods_on_ten_data_sets_make_a_page";

/// At least one of each family; a page of all of them is drawn from results that are made up.
const METHODS: &str =
    "simple-mi,mi-kernel,isk,migraph,wmksvm,mg-ddv,mirsvm,mi-svm,dd,citation-knn,mi-boost,miles,auto";

/// Makes runs of every kind, draws their reports and looks at them.
pub(crate) fn check() -> Result<Option<String>> {
    let Some(chromium) = chromium() else {
        say(
            "no Chromium here, and it cannot be installed: reports are not looked at. Install chromium, or name one in CHROMIUM.",
        );
        return Ok(Some("SKIPPED, no Chromium".into()));
    };
    run(cargo(&["build", "--quiet", "--workspace", "--features", "bagwise/ndarray", "--bin", "bagwise"]))?;
    let folder = target().join("report");
    if folder.exists() {
        std::fs::remove_dir_all(&folder).with_context(|| format!("emptying {}", folder.display()))?;
    }
    std::fs::create_dir_all(&folder)?;
    let bagwise = target().join("debug").join(format!("bagwise{}", std::env::consts::EXE_SUFFIX));
    let molecules = root().join("docs/molecules.csv");
    let molecules = molecules.to_string_lossy();
    let columns = ["--bag", "mol", "--label", "active", "--group", "scaffold", "--keep", "conformer"];
    let mut each: Vec<&str> = vec!["compare", &molecules, "--methods", METHODS, "-q", "-o", "molecules"];
    each.extend(columns);
    inside(&bagwise, &folder, &["compare", "musk1", "--methods", METHODS, "-q", "-o", "musk1"])?;
    inside(&bagwise, &folder, &each)?;
    // Five data sets make a report over all of them.
    let mut all = vec!["report".to_string()];
    for seed in 0..5 {
        let name = format!("gauss-{seed}");
        let data = format!("synthetic:gauss?bags=30&seed={seed}");
        inside(
            &bagwise,
            &folder,
            &["compare", &data, "--methods", METHODS, "-q", "--folds", "3", "--no-report", "-o", &name],
        )?;
        all.push(name);
    }
    all.extend(["-q".to_string(), "-o".into(), "several.html".into()]);
    inside(&bagwise, &folder, &all.iter().map(String::as_str).collect::<Vec<_>>())?;
    // A saved model on bags from elsewhere, once and several times.
    let fit = "fit synthetic:gauss?bags=60 --method simple-mi -p embed=mean -p kernel=linear --conformal=5 -q -o m.bagwise";
    inside(&bagwise, &folder, &fit.split(' ').collect::<Vec<_>>())?;
    for seed in 1..4 {
        let data = format!("synthetic:gauss?bags=40&seed={seed}");
        let name = format!("cohort-{seed}");
        inside(&bagwise, &folder, &["evaluate", "--model", "m.bagwise", &data, "-q", "-o", &name])?;
    }
    let cohorts = "report gauss-0 cohort-1 cohort-2 cohort-3 -q -o cohorts.html";
    inside(&bagwise, &folder, &cohorts.split(' ').collect::<Vec<_>>())?;
    // Results beside printed numbers.
    for name in ["experiment.toml", "molecules.csv"] {
        std::fs::copy(root().join("docs").join(name), folder.join(name))?;
    }
    inside(&bagwise, &folder, &["run", "experiment.toml", "--quick", "-q", "-o", "experiment"])?;
    let mut pages = Vec::new();
    for name in ["musk1", "molecules", "cohort-1", "experiment"] {
        let page = folder.join(format!("{name}.html"));
        let report = folder.join(name).join("report.html");
        std::fs::copy(&report, &page).with_context(|| format!("copying {}", report.display()))?;
        pages.push(page);
    }
    pages.extend(["several.html", "cohorts.html"].map(|name| folder.join(name)));
    let made = target().join("tmp/sixteen.html");
    if made.exists() {
        std::fs::remove_file(&made)?;
    }
    // The features of the tests, so that nothing is built twice.
    let test = ["--workspace", "--features", "bagwise/ndarray", "--test", "report", MANY];
    run(cargo(&[&["test", "--quiet"], &test[..]].concat()))?;
    let many = folder.join("sixteen.html");
    std::fs::copy(made, &many)?;
    pages.push(many);
    let python = ["python3", "python"].into_iter().find(|name| answers(name)).context("no Python 3")?;
    let mut look = program(python, &["crates/bagwise-report/tests/browser.py"]);
    look.arg(chromium).arg(folder.join("seen")).args(&pages);
    run(look)?;
    Ok(Some(format!("{} pages, screenshots in {}", pages.len(), folder.join("seen").display())))
}

/// Runs the program in the folder, without its tables.
fn inside(bagwise: &Path, folder: &Path, args: &[&str]) -> Result<()> {
    let mut command = Command::new(bagwise);
    command.args(args).current_dir(folder).stdout(Stdio::null());
    run(command)
}

fn answers(name: impl AsRef<std::ffi::OsStr>) -> bool {
    let mut command = Command::new(name);
    command.arg("--version").stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    command.status().is_ok_and(|s| s.success())
}

/// The browser named in CHROMIUM, one that is installed, or one that is installed now.
fn chromium() -> Option<PathBuf> {
    if let Some(named) = std::env::var_os("CHROMIUM") {
        return Some(named.into());
    }
    let found = || NAMES.into_iter().find(|name| answers(name)).map(PathBuf::from);
    found().or_else(|| {
        install()
            .and_then(|()| found().context("installed, but not found"))
            .map_err(|e| say(&format!("{e:#}")))
            .ok()
    })
}

/// Debian's package, where this user may install it.
fn install() -> Result<()> {
    let root = Command::new("id").arg("-u").output().is_ok_and(|o| o.stdout.trim_ascii() == b"0");
    if !root || !answers("apt-get") {
        bail!("Chromium is not installed, and this user cannot install it with apt-get");
    }
    say("installing chromium with apt-get");
    let apt = |args: &[&str]| {
        let mut command = Command::new("apt-get");
        command
            .args(args)
            .env("DEBIAN_FRONTEND", "noninteractive")
            .stdin(Stdio::null())
            .stdout(Stdio::null());
        run(command)
    };
    // A fresh machine has no list of packages yet.
    apt(&["update", "-qq"])?;
    apt(&["install", "-y", "-qq", "--no-install-recommends", "chromium"])
}
