//! What runs leave for a report besides their records: settings, command, grids, what the data look like. Every run that has
//! a folder writes it there, and the page is drawn from the folder alone.

use std::path::{Path, PathBuf};
use std::time::SystemTime;

use bagwise::io::save_whole;
use bagwise::run::{Candidate, RunPlan};
use bagwise::{Ctx, Dataset, Error, Evaluation, Result};
use bagwise_report::{CONTEXT_FILE, Context, Finished, LoadedRun, ReportOptions, basics, gather, render};

use crate::output::quoted;

/// Draws `report.html` from the folder of a run; its path.
pub(crate) fn draw(folder: &Path, options: &ReportOptions) -> Result<PathBuf> {
    let path = folder.join("report.html");
    save_whole(&path, render(&[LoadedRun::read(folder)?], options)?.as_bytes())?;
    Ok(path)
}

/// Changes what is known of the run in a folder.
pub(crate) fn add(folder: &Path, change: impl FnOnce(&mut Context)) -> Result<()> {
    let mut context = Context::read(folder)?;
    change(&mut context);
    save(folder, &context)
}

/// Whether the run in a folder was finished, and all is known of it.
pub(crate) fn complete(folder: &Path) -> bool {
    Context::read(folder).is_ok_and(|c| c.finished.is_some() && c.data.is_some())
}

/// Writes what is known of a run before its first fit, since also one that is interrupted can be reported on.
pub(crate) fn begin(
    folder: &Path,
    data: &Dataset,
    candidates: &[Candidate],
    plan: &RunPlan,
    level: f64,
) -> Result<Context> {
    let mut words = std::env::args_os().map(|word| word.to_string_lossy().into_owned());
    let program = words
        .next()
        .map(|p| Path::new(&p).file_stem().map_or(p.clone(), |n| n.to_string_lossy().into_owned()));
    let command: Vec<String> = program.into_iter().chain(words.map(|w| quoted(&w))).collect();
    let known = Context {
        command: command.join(" "),
        threads: rayon::current_num_threads(),
        ..basics(data, candidates, plan, level)?
    };
    save(folder, &known)?;
    Ok(known)
}

/// Adds what shows when the run is done.
pub(crate) fn finish(
    folder: &Path,
    known: Context,
    data: &Dataset,
    evaluation: &Evaluation,
    level: f64,
    ctx: &Ctx,
) -> Result<()> {
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
    let Evaluation { candidates, plan, records, roster, elapsed, .. } = evaluation;
    let run = Finished { data, candidates, plan, level, records, roster };
    let context = gather(&run, known, ctx)?;
    let finished = now.ok().map(|d| d.as_secs());
    save(folder, &Context { finished, seconds: Some(elapsed.as_secs_f64()), ..context })
}

fn save(folder: &Path, context: &Context) -> Result<()> {
    let text = serde_json::to_vec(context).map_err(|e| Error::Invalid(format!("the report's data: {e}")))?;
    save_whole(&folder.join(CONTEXT_FILE), &text)
}
