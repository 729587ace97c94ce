//! Writes what `compare` leaves for a report, and the report itself, into the folder of its run.

use std::path::{Path, PathBuf};
use std::time::SystemTime;

use anyhow::Result;
use bagwise::Ctx;
use bagwise::io::save_whole;
use bagwise_report::{CONTEXT_FILE, Comparison, Context, Finished, Options, gather, render};

use crate::output::quoted;

/// What only the command knows of a run.
pub(crate) struct Told<'a> {
    pub(crate) seconds: f64,
    pub(crate) skipped: &'a [String],
    pub(crate) fit_command: &'a str,
}

/// Writes `report.json` and `report.html` into the folder of a run; the path of the page.
pub(crate) fn write(
    run: &Finished<'_>,
    told: &Told<'_>,
    folder: &Path,
    options: &Options,
    ctx: &Ctx,
) -> Result<PathBuf> {
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
    let mut words = std::env::args();
    let program = words
        .next()
        .map(|p| Path::new(&p).file_stem().map_or(p.clone(), |n| n.to_string_lossy().into_owned()));
    let command: Vec<String> = program.into_iter().chain(words.map(|w| quoted(&w))).collect();
    let context = Context {
        command: command.join(" "),
        fit_command: told.fit_command.into(),
        threads: rayon::current_num_threads(),
        finished: now.ok().map(|d| d.as_secs()),
        seconds: Some(told.seconds),
        skipped: told.skipped.to_vec(),
        ..gather(run, ctx)?
    };
    save_whole(&folder.join(CONTEXT_FILE), &serde_json::to_vec(&context)?)?;
    let comparison = Comparison::new(run.records.to_vec(), run.roster.clone(), context)?;
    let path = folder.join("report.html");
    save_whole(&path, render(&[comparison], options)?.as_bytes())?;
    Ok(path)
}
