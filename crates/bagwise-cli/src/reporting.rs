//! What runs leave for a report besides their records. Every run says what it was: metric, level, protocol, threshold,
//! command, grids. `compare` adds what the data and the winner have to tell, and draws the report.

use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use anyhow::Result;
use bagwise::Ctx;
use bagwise::io::save_whole;
use bagwise::run::{Contender, Plan};
use bagwise_report::{CONTEXT_FILE, Comparison, Context, Finished, Options, gather, render};

use crate::output::quoted;

/// Writes `report.json` and `report.html` into the folder of a run; the path of the page.
pub(crate) fn write(
    run: &Finished<'_>,
    known: Context,
    folder: &Path,
    options: &Options,
    ctx: &Ctx,
) -> Result<PathBuf> {
    let context = gather(run, known, ctx)?;
    save(folder, &context)?;
    let comparison = Comparison::new(run.records.to_vec(), run.roster.clone(), context)?;
    let path = folder.join("report.html");
    save_whole(&path, render(&[comparison], options)?.as_bytes())?;
    Ok(path)
}

/// Writes what is known of a run beside its records.
pub(crate) fn save(folder: &Path, context: &Context) -> bagwise::Result<()> {
    let text = serde_json::to_vec(context)
        .map_err(|e| bagwise::Error::Invalid(format!("the report's data: {e}")))?;
    save_whole(&folder.join(CONTEXT_FILE), &text)
}

/// Whether something is known of the run in a folder.
pub(crate) fn saved(folder: &Path) -> bool {
    folder.join(CONTEXT_FILE).exists()
}

/// What is known of every run, also while it goes on (`took` nothing).
pub(crate) fn basics(contenders: &[Contender], plan: &Plan, level: f64, took: Option<Duration>) -> Context {
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
    let mut words = std::env::args();
    let program = words
        .next()
        .map(|p| Path::new(&p).file_stem().map_or(p.clone(), |n| n.to_string_lossy().into_owned()));
    let command: Vec<String> = program.into_iter().chain(words.map(|w| quoted(&w))).collect();
    Context {
        command: command.join(" "),
        threads: rayon::current_num_threads(),
        finished: now.ok().filter(|_| took.is_some()).map(|d| d.as_secs()),
        seconds: took.map(|t| t.as_secs_f64()),
        ..bagwise_report::basics(contenders, plan, level)
    }
}
