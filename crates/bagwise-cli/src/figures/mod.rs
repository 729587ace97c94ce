//! The figures of an experiment, computed: a [`PaperFigure`] for each. Everything is drawn from models and kernels that any
//! user can have; a kind of figure has a file of its own.

mod boundary;
mod concepts;
pub(crate) mod densities;
mod plane;
mod rounds;

use std::path::Path;

use anyhow::Result;
use bagwise::{Dataset, Model};
use bagwise_report::paper::PaperFigure;

use crate::experiment::figure::{FigureKind, FigureMethod, FigureSettings};
use crate::session::Session;
use crate::wording::how_to_get;

/// Draws a figure; `folder` holds the files that it names.
pub(crate) fn draw(figure: &FigureSettings, folder: &Path, session: &Session) -> Result<PaperFigure> {
    session.say(&format!("drawing {}", figure.title));
    let mut drawn = match figure.shows {
        FigureKind::KernelMap => plane::kernel_map(figure, session)?,
        FigureKind::SharedCells => plane::shared_cells(figure, session)?,
        FigureKind::ConceptWeights => concepts::draw(figure, folder, session)?,
        FigureKind::Boundary => boundary::draw(figure, folder, session)?,
        FigureKind::Convergence => rounds::draw(figure, folder, session)?,
    };
    drawn.title.clone_from(&figure.title);
    drawn.note.clone_from(&figure.note);
    Ok(drawn)
}

/// The data of a figure; none, and a warning, if they are not here.
fn read(figure: &FigureSettings, name: &str, folder: &Path, session: &Session) -> Result<Option<Dataset>> {
    let source = figure.read(name, folder);
    if !bagwise::io::is_here(&source) {
        let known = bagwise::datasets::find(name).map(|set| format!("; {}", how_to_get(set)));
        session.warn(&format!(
            "{}: no data set {name} in $BAGWISE_DATA or data/, and no file {}{}",
            figure.title,
            folder.join(name).display(),
            known.unwrap_or_default()
        ));
        return Ok(None);
    }
    Ok(Some(session.read(&source, &Default::default())?))
}

/// A model of all bags, without probabilities.
fn fit(data: &Dataset, method: &FigureMethod, more: &[(&str, String)], session: &Session) -> Result<Model> {
    let fit = bagwise::fit(data).method(method.config(more)).probabilities(false);
    Ok(fit.ctx(&session.ctx).seed(session.ctx.seed).run()?)
}

/// The smallest range that holds all numbers, a little widened.
fn around(numbers: impl Iterator<Item = f64>) -> (f64, f64) {
    let (low, high) = numbers.fold((f64::INFINITY, f64::NEG_INFINITY), |(l, h), v| (l.min(v), h.max(v)));
    let pad = 0.04 * (high - low);
    (low - pad, high + pad)
}
