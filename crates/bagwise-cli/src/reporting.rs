//! What runs leave for a report besides their records: settings, command, grids, what the data look like. Every run that has
//! a folder writes it there, and the page is drawn from the folder alone.

use std::path::{Path, PathBuf};

use anyhow::Result;
use bagwise::io::{OutputKind, save_whole};
use bagwise::run::files::REPORT;
use bagwise_report::{Context, LoadedRun, ReportOptions, render};

use crate::output::quoted;
use crate::session::Session;

/// Draws `report.html` from the folder of a run; its path.
pub(crate) fn draw(folder: &Path, options: &ReportOptions, session: &Session) -> Result<PathBuf> {
    let path = folder.join(REPORT);
    session.check_output(&path, OutputKind::Report, &[])?;
    save_whole(&path, render(&[LoadedRun::read(folder)?], options)?.as_bytes())?;
    Ok(path)
}

/// Changes what is known of the run in a folder.
pub(crate) fn add(folder: &Path, change: impl FnOnce(&mut Context)) -> bagwise::Result<()> {
    let mut context = Context::read(folder)?;
    change(&mut context);
    context.save(folder)
}

/// Whether the run in a folder was finished, and all is known of it.
pub(crate) fn complete(folder: &Path) -> bool {
    Context::read(folder).is_ok_and(|c| c.finished.is_some() && c.data.is_some())
}

/// The command as the user typed it.
pub(crate) fn command() -> String {
    let mut words = std::env::args_os().map(|word| word.to_string_lossy().into_owned());
    let program = words
        .next()
        .map(|p| Path::new(&p).file_stem().map_or(p.clone(), |n| n.to_string_lossy().into_owned()));
    program.into_iter().chain(words.map(|w| quoted(&w))).collect::<Vec<String>>().join(" ")
}
