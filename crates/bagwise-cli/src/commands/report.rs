//! `bagwise report`: a page for people from the folders of runs, without computing anything again.

use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, bail};
use bagwise::io::{check_writable, save_whole};
use bagwise_report::{LoadedRun, ReportOptions, render};

use crate::session::{Outcome, Session};

/// Draw a report from what compare, evaluate and run recorded
#[derive(clap::Args)]
#[command(after_help = HELP)]
pub(crate) struct Args {
    /// Folders of compare, evaluate and run, or their records.jsonl; several data sets make one report over all of them
    #[arg(value_name = "FOLDER", required = true)]
    runs: Vec<PathBuf>,
    /// The page to write
    #[arg(short, long, value_name = "FILE.html", default_value = "report.html")]
    output: PathBuf,
    /// The heading [default: how many methods on what]
    #[arg(long, value_name = "TEXT")]
    title: Option<String>,
    /// Show bags by number instead of by name, and neither groups nor kept columns
    #[arg(long)]
    hide_ids: bool,
}

const HELP: &str = "\
The page is one file that loads nothing: send it, print it, open it on a phone. Nothing is computed again, so other \
options, or a later bagwise, can draw it again from the same folder. From five data sets on it tests the methods over \
all of them and draws critical differences. docs/report.md explains its parts.

Examples:
  bagwise report musk1-compare
  bagwise report musk1-compare --hide-ids --title 'Musk, by number' -o musk1.html
  bagwise report musk1-compare molecules-compare -o both.html";

pub(crate) fn run(args: &Args, session: &Session) -> Result<Outcome> {
    check_writable(&args.output)?;
    let mut folders = Vec::new();
    for path in &args.runs {
        folders.extend(runs_in(path)?);
    }
    let runs = folders.iter().map(|path| LoadedRun::read(path)).collect::<bagwise::Result<Vec<_>>>()?;
    let options = ReportOptions { hide_ids: args.hide_ids, title: args.title.clone() };
    let page = render(&runs, &options)?;
    save_whole(&args.output, page.as_bytes())?;
    session.say(&format!("wrote {}: {} kB", args.output.display(), page.len().div_ceil(1000)));
    Ok(Outcome::Done)
}

/// A path itself, or, of a folder without records (that of `run`), the folders in it that have some, by name.
fn runs_in(path: &Path) -> Result<Vec<PathBuf>> {
    let has_records = |folder: &Path| folder.join("records.jsonl").exists();
    if !path.is_dir() || has_records(path) {
        return Ok(vec![path.into()]);
    }
    let entries = std::fs::read_dir(path).with_context(|| format!("{}: cannot be read", path.display()))?;
    let mut found = Vec::new();
    for entry in entries {
        let folder = entry.with_context(|| format!("{}: cannot be read", path.display()))?.path();
        if has_records(&folder) {
            found.push(folder);
        }
    }
    if found.is_empty() {
        bail!(
            "{}: there are no records, neither here nor one folder below; give a folder that bagwise compare, evaluate or \
             run wrote, or a records.jsonl",
            path.display()
        );
    }
    found.sort();
    Ok(found)
}
