//! `bagwise report`: a page for people from the folders of runs, without computing anything again.

use std::path::PathBuf;

use anyhow::Result;
use bagwise::io::{check_writable, save_whole};
use bagwise_report::{Comparison, Options, render};

use crate::session::{Outcome, Session};

/// Draw a report from what compare and evaluate recorded
#[derive(clap::Args)]
#[command(after_help = HELP)]
pub(crate) struct Args {
    /// Folders of runs, or their records.jsonl; several make one report over all their data sets
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
options, or a later bagwise, can draw it anew from the same folder. From five data sets on it tests the methods over \
all of them and draws critical differences. docs/report.md explains its parts.

Examples:
  bagwise report musk1-compare
  bagwise report musk1-compare --hide-ids --title 'Musk, by number' -o musk1.html
  bagwise report musk1-compare molecules-compare -o both.html";

pub(crate) fn run(args: &Args, session: &Session) -> Result<Outcome> {
    check_writable(&args.output)?;
    let runs = args.runs.iter().map(|path| Comparison::read(path)).collect::<bagwise::Result<Vec<_>>>()?;
    let options = Options { hide_ids: args.hide_ids, title: args.title.clone() };
    let page = render(&runs, &options)?;
    save_whole(&args.output, page.as_bytes())?;
    session.say(&format!("wrote {}: {} kB", args.output.display(), page.len().div_ceil(1000)));
    Ok(Outcome::Done)
}
