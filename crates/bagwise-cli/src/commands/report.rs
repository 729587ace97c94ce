//! `bagwise report`: an HTML page from the folders of runs, without computing anything again.

use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, bail};
use bagwise::io::{OutputKind, save_whole};
use bagwise::run::files::{ALL_FILES, RECORDS};
use bagwise_report::{CONTEXT_FILE, Joint, LoadedRun, ReportOptions, joint, render};

use crate::output::{Digits, Output, Rows};
use crate::session::{Outcome, Session};

/// Write an HTML report from the results of compare, evaluate or run
#[derive(clap::Args)]
#[command(after_help = HELP)]
pub(crate) struct Args {
    /// Output folders of compare, evaluate or run, or their records.jsonl; several data sets are combined in one report
    #[arg(value_name = "FOLDER", required = true)]
    runs: Vec<PathBuf>,
    /// Output file
    #[arg(short, long, value_name = "FILE.html", default_value = "report.html")]
    output: PathBuf,
    /// Title of the report [default: the number of methods and the data]
    #[arg(long, value_name = "TEXT")]
    title: Option<String>,
    /// Show bag numbers instead of names, and hide groups and kept columns
    #[arg(long)]
    hide_ids: bool,
}

const HELP: &str = "\
The report is a single HTML file that loads nothing from the network. No fits are repeated, so you can write the report again \
with other options or a later version of bagwise. With five or more data sets, it tests the methods over \
all of them and draws a critical-difference diagram. docs/report.md explains its sections. --format json and csv also print the numbers: \
values, ranks and tests over all data sets.

Examples:
  bagwise report musk1-compare
  bagwise report musk1-compare --hide-ids --title 'Musk, by number' -o musk1.html
  bagwise report musk1-compare molecules-compare -o both.html
  bagwise report musk1-compare molecules-compare --format json";

pub(crate) fn run(args: &Args, session: &Session) -> Result<Outcome> {
    let mut folders = Vec::new();
    for path in &args.runs {
        folders.extend(runs_in(path)?);
    }
    let inputs: Vec<String> = folders.iter().flat_map(|path| files_of(path)).collect();
    let inputs: Vec<&str> = inputs.iter().map(String::as_str).collect();
    session.check_output(&args.output, OutputKind::Report, &inputs)?;
    let runs = folders.iter().map(|path| LoadedRun::read(path)).collect::<bagwise::Result<Vec<_>>>()?;
    let options = ReportOptions { hide_ids: args.hide_ids, title: args.title.clone() };
    let page = render(&runs, &options)?;
    save_whole(&args.output, page.as_bytes())?;
    session.say(&format!("wrote {}: {} kB", args.output.display(), page.len().div_ceil(1000)));
    if session.for_programs() {
        session.print(&Numbers(joint(&runs)?))?;
    }
    Ok(Outcome::Done)
}

/// The numbers of the page, for programs.
struct Numbers(Joint);

impl Output for Numbers {
    fn json(&self) -> Result<String> {
        Ok(serde_json::to_string_pretty(&self.0)?)
    }

    /// A row per method over all data sets; of a run by itself, or of runs that cannot be ranked together, one per method and run.
    fn csv(&self) -> Rows {
        let show = |value: Option<f64>| Digits::All.show(value);
        let Some(together) = &self.0.together else {
            let mut rows = Rows::new(["data", "method", "metric", "mean", "low", "high", "against_best"]);
            for run in &self.0.runs {
                for m in &run.methods {
                    let mut row = vec![run.data.clone(), m.method.clone(), run.metric.to_string()];
                    row.extend([show(m.mean), show(m.low), show(m.high), m.against_best.into()]);
                    rows.push(row);
                }
            }
            return rows;
        };
        let ranks = &together.ranks;
        let own = [
            "method",
            "average_rank",
            "nemenyi_p",
            "holm_p",
            "holm_adjusted",
            "told_from_best",
            "wilcoxon_p",
        ];
        let values = ranks.data.iter().map(|data| format!("{} on {data}", together.metric));
        let mut rows = Rows::new(own.map(String::from).into_iter().chain(values));
        for m in &together.methods {
            let mut row = vec![m.method.clone()];
            row.extend([Some(m.average_rank), m.nemenyi_p, m.holm_p, m.holm_adjusted].map(show));
            row.push(m.told_from_best.map_or(String::new(), |told| told.to_string()));
            row.push(show(m.wilcoxon.map(|w| w.p)));
            let column = ranks.methods.iter().position(|name| *name == m.method);
            row.extend(ranks.values.iter().map(|row| show(column.map(|c| row[c]))));
            rows.push(row);
        }
        rows
    }
}

/// What belongs to a run, or to the folder that a file of records lies in; a report beside them may be drawn again.
fn files_of(run: &Path) -> Vec<String> {
    let (folder, records) = if run.is_dir() {
        (run, run.join(RECORDS))
    } else {
        (run.parent().unwrap_or(Path::new("")), run.to_path_buf())
    };
    let beside = ALL_FILES.into_iter().chain([CONTEXT_FILE]).map(|name| folder.join(name));
    beside.chain([records]).map(|path| path.to_string_lossy().into_owned()).collect()
}

/// A path itself, or, of a folder without records (that of `run`), the folders in it that have some, by name.
fn runs_in(path: &Path) -> Result<Vec<PathBuf>> {
    let has_records = |folder: &Path| folder.join(RECORDS).exists();
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
            "{}: no records found, neither here nor in its subfolders; give an output folder of bagwise compare, evaluate or \
             run, or a records.jsonl",
            path.display()
        );
    }
    found.sort();
    Ok(found)
}
