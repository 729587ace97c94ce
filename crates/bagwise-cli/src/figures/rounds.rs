//! How many bags keep their representative from one round of a search to the next, on all bags of each data set.

use std::path::Path;

use anyhow::Result;
use bagwise_report::paper::{FigurePanel, PanelSeries, PaperFigure, SeriesLook};

use crate::experiment::figure::FigureSettings;
use crate::experiment::printed;
use crate::session::Session;

/// Rounds that are drawn, as in the paper.
const ROUNDS: usize = 10;

pub(super) fn draw(figure: &FigureSettings, folder: &Path, session: &Session) -> Result<PaperFigure> {
    let rows = figure.printed.as_ref().map_or(Ok(Vec::new()), |p| printed::read(&folder.join(p)))?;
    let mut panels = Vec::new();
    for name in &figure.data {
        let Some(data) = super::read(figure, name, folder, session)? else { continue };
        let bags = data.bags.len();
        let mut series = Vec::new();
        let mut notes = Vec::new();
        for method in &figure.method {
            let model = super::fit(&data, method, &[], session)?;
            let kept = kept(bags, model.trace().iter().map(|round| round.changed));
            let settled = kept.iter().position(|&n| n == bags).map(|at| at + 1);
            notes.push(match settled {
                Some(round) => format!("{}: all keep theirs in round {round}.", method.name),
                None => format!("{}: {} of {bags} at the end.", method.name, kept.last().unwrap_or(&0)),
            });
            let points = kept.iter().take(ROUNDS).enumerate().map(|(i, &n)| ((i + 1) as f64, n as f64));
            series.push(PanelSeries {
                name: method.name.clone(),
                look: SeriesLook::Line,
                pieces: vec![points.collect()],
            });
        }
        let theirs = |row: &&printed::PrintedRow| row.set == *name && !row.method.is_empty();
        let round = |row: &printed::PrintedRow| -> Option<(f64, f64)> {
            Some((row.metric.rsplit_once("iteration ")?.1.parse().ok()?, row.number()?))
        };
        let theirs: Vec<(f64, f64)> = rows.iter().filter(theirs).filter_map(round).collect();
        if !theirs.is_empty() {
            series.push(PanelSeries {
                name: "printed".into(),
                look: SeriesLook::Dashed,
                pieces: vec![theirs],
            });
        }
        let ends = vec![(1.0, bags as f64), (ROUNDS as f64, bags as f64)];
        series.push(PanelSeries {
            name: "number of bags".into(),
            look: SeriesLook::Dashed,
            pieces: vec![ends],
        });
        panels.push(FigurePanel {
            title: name.clone(),
            note: notes.join(" "),
            axes: ("round".into(), "bags that keep their representative".into()),
            x: (1.0, ROUNDS as f64),
            y: (0.0, (bags + 2) as f64),
            series,
            ..FigurePanel::default()
        });
    }
    Ok(PaperFigure { panels, ..PaperFigure::default() })
}

/// Bags whose representative is that of the round before: none in the first, which nothing precedes.
fn kept(bags: usize, changed: impl Iterator<Item = usize>) -> Vec<usize> {
    std::iter::once(0).chain(changed.map(|n| bags.saturating_sub(n))).collect()
}

#[cfg(test)]
mod tests {
    #[test]
    fn bags_that_did_not_change_kept_theirs() {
        assert_eq!(super::kept(20, [11, 6, 0].into_iter()), [0, 9, 14, 20]);
    }
}
