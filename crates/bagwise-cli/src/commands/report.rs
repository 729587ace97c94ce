//! `bagwise report`: writes an HTML report from the folders of runs, without repeating any fits.

use std::collections::HashMap;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, bail};
use bagwise::io::{OutputKind, save_whole};
use bagwise::run::files::{ALL_FILES, CONTEXT, PLAN, RECORDS};
use bagwise::run::shard_folders;
use bagwise::{Shard, TimePlan};
use bagwise_report::{Joint, LoadedRun, ReportOptions, joint, render};

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
with other options or a later version of bagwise. The shards of a run are joined; pass their common folder. With five or more \
data sets, the report tests the methods over all of them and draws a critical-difference diagram. docs/report.md explains its \
sections. --format json and csv also print the numbers: values, ranks and tests over all data sets.

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
    let folders = with_records(folders)?;
    let inputs: Vec<PathBuf> = folders.iter().flat_map(|path| files_of(path)).collect();
    let inputs: Vec<&OsStr> = inputs.iter().map(|path| path.as_os_str()).collect();
    session.check_output(&args.output, OutputKind::Report, &inputs)?;
    let runs = joined(&folders, session)?;
    for place in runs.iter().flat_map(|run| &run.torn) {
        session.warn(&format!(
            "{place}: this record is incomplete and left out; repeat the command that wrote it, which goes on with the run and \
             repeats its fit"
        ));
    }
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
fn files_of(run: &Path) -> Vec<PathBuf> {
    let (folder, records) = if run.is_dir() {
        (run, run.join(RECORDS))
    } else {
        (run.parent().unwrap_or(Path::new("")), run.to_path_buf())
    };
    let beside = ALL_FILES.into_iter().chain([CONTEXT]).map(|name| folder.join(name));
    beside.chain([records]).collect()
}

/// Reads runs, and joins shards of the same run. Says what is missing of a run whose shards are not all done.
fn joined(folders: &[PathBuf], session: &Session) -> Result<Vec<LoadedRun>> {
    let mut runs: Vec<LoadedRun> = Vec::new();
    // Which of these are shards, by the fingerprint of their run.
    let mut shards: HashMap<String, (usize, &Path)> = HashMap::new();
    let mut fits: HashMap<(String, Shard), usize> = HashMap::new();
    for folder in folders {
        let run = LoadedRun::read(folder)?;
        let fingerprint = run.records[0].run.clone();
        if let Some(shard) = Shard::of_folder(folder) {
            fits.insert((fingerprint.clone(), shard), run.records.len());
        }
        let known = shards.get(&fingerprint).map(|(at, _)| *at);
        match (Shard::of_folder(folder), known) {
            (Some(_), Some(at)) => runs[at].join(run)?,
            (shard, _) => {
                if shard.is_some() {
                    shards.insert(fingerprint, (runs.len(), folder.as_path()));
                }
                runs.push(run);
            }
        }
    }
    let mut cut: Vec<(usize, &Path)> = shards.into_values().collect();
    cut.sort_unstable();
    let whole = |folder: &Path| folder.parent().unwrap_or(folder).to_path_buf();
    let runs_in = |whole: &Path| cut.iter().filter(|(_, shard)| shard.parent() == Some(whole)).count();
    let mut mixed: Vec<PathBuf> = Vec::new();
    for &(at, folder) in &cut {
        let several = runs_in(&whole(folder));
        if several > 1 {
            if !mixed.contains(&whole(folder)) {
                session.warn(&format!(
                    "{}: the shards belong to {several} different runs; give each run a folder of its own",
                    whole(folder).display()
                ));
                mixed.push(whole(folder));
            }
            continue;
        }
        let methods = TimePlan::read(&folder.join(PLAN))?.methods.len();
        let folds = LoadedRun::folds(folder)?;
        let expected = methods * folds.iter().sum::<usize>();
        let found = runs[at].records.len();
        if found < expected {
            let fingerprint = &runs[at].records[0].run;
            let (of, together) = (Shard::of_folder(folder).map_or(1, Shard::of), runs[at].optimistic());
            let done = |shard: Shard| fits.get(&(fingerprint.clone(), shard)).copied().unwrap_or(0);
            let unfinished: Vec<String> = (1..=of)
                .filter_map(|i| Shard::new(i, of).ok())
                .filter(|&shard| done(shard) < shard.fits(fingerprint, methods, &folds, together))
                .map(|shard| shard.to_string())
                .collect();
            session.warn(&format!(
                "{}: {} of {expected} fits are missing; run again with --shard {}, or without --shard for all of them",
                whole(folder).display(),
                expected - found,
                a_few(&unfinished)
            ));
        }
    }
    Ok(runs)
}

/// The first of these texts, and how many there are beside.
fn a_few(all: &[String]) -> String {
    const SHOWN: usize = 10;
    match all.len().checked_sub(SHOWN) {
        None | Some(0) => all.join(", "),
        Some(others) => format!("{} and {others} others", all[..SHOWN].join(", ")),
    }
}

/// Without the shards that have no fits, of which a run may have some if it has more shards than fits.
fn with_records(folders: Vec<PathBuf>) -> Result<Vec<PathBuf>> {
    let empty = |folder: &Path| {
        Shard::of_folder(folder).is_some()
            && std::fs::metadata(folder.join(RECORDS)).is_ok_and(|m| m.len() == 0)
    };
    let found: Vec<PathBuf> = folders.iter().filter(|folder| !empty(folder)).cloned().collect();
    if found.is_empty() {
        bail!("{}: no fit of any shard is done yet; start the shards first", folders[0].display());
    }
    Ok(found)
}

/// A path itself, or, of a folder without records (that of `run`, or of shards), the folders in it that have some, by name.
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
        } else {
            found.extend(shard_folders(&folder).into_iter().filter(|shard| has_records(shard)));
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
