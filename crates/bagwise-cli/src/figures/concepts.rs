//! How much a marginalized kernel believes each concept: all of them, by increasing density, then the last method alone.

use std::path::Path;

use anyhow::Result;
use bagwise::judge::{Pool, Splits};
use bagwise_report::paper::{FigurePanel, PanelSeries, PaperFigure, PaperSummary, SeriesLook};

use super::around;
use crate::experiment::figure::FigureSettings;
use crate::experiment::printed;
use crate::session::Session;

pub(super) fn draw(figure: &FigureSettings, folder: &Path, session: &Session) -> Result<PaperFigure> {
    let Some(data) = super::read(figure, &figure.data[0], folder, session)? else {
        return Ok(PaperFigure::default());
    };
    let seed = session.ctx.seed;
    let learned = match figure.folds {
        None => data,
        Some(folds) => {
            let pool = Pool { target: data.require_target()?, groups: data.groups.as_ref(), given: None };
            let all: Vec<usize> = (0..data.bags.len()).collect();
            let first = Splits::KFold(folds).outer(pool, &all, seed, 0)?.swap_remove(0);
            data.select(&first.train)
        }
    };
    let mut found = Vec::new();
    let mut numbers = Vec::new();
    for method in &figure.method {
        let model = super::fit(&learned, method, &[], session)?;
        let mut concepts = model.concepts()?.concat();
        concepts.sort_by(|a, b| a.log_density.total_cmp(&b.log_density));
        let beliefs: Vec<f64> = concepts.iter().map(|c| c.belief).collect();
        found.push((method.name.clone(), beliefs));
    }
    // What weighs less than rounding is left out of a model; methods with the same search have as many concepts.
    let most = found.iter().map(|(_, beliefs)| beliefs.len()).max().unwrap_or(0);
    for (_, beliefs) in &mut found {
        let mut all = vec![0.0; most - beliefs.len()];
        all.append(beliefs);
        *beliefs = all;
    }
    let printed = figure.printed.as_ref().map_or(Ok(Vec::new()), |p| printed::read(&folder.join(p)))?;
    let mut panels = Vec::new();
    for (title, panel, methods) in [("(a) all methods", "panel a", 0), ("(b) the last alone", "panel b", 1)] {
        let shown = if methods == 0 { &found[..] } else { &found[found.len() - 1..] };
        let mut series = Vec::new();
        for (name, beliefs) in shown {
            let ours = beliefs.iter().enumerate().map(|(i, b)| ((i + 1) as f64, *b)).collect();
            series.push(PanelSeries {
                name: format!("{name}, ours"),
                look: SeriesLook::Line,
                pieces: vec![ours],
            });
            let theirs: Vec<(f64, f64)> = printed
                .iter()
                .filter(|row| row.method == *name && row.metric.contains(panel))
                .filter_map(|row| drawn(&row.metric).zip(row.number()))
                .map(|((at, unit), value)| (at, value * unit))
                .collect();
            if !theirs.is_empty() {
                if methods == 0 {
                    let highest = |points: &[(f64, f64)]| points.iter().map(|p| p.1).fold(0.0, f64::max);
                    numbers.push(PaperSummary {
                        of: name.clone(),
                        what: "largest belief".into(),
                        printed: format!("{:.4}", highest(&theirs)),
                        ours: format!("{:.4}", beliefs.iter().copied().fold(0.0, f64::max)),
                        remark: String::new(),
                    });
                }
                let name = format!("{name}, printed");
                series.push(PanelSeries { name, look: SeriesLook::Dashed, pieces: vec![theirs] });
            }
        }
        let points = || series.iter().flat_map(|s| s.pieces.iter().flatten());
        panels.push(FigurePanel {
            title: title.into(),
            axes: ("concepts by increasing density".into(), "P(h|D)".into()),
            x: (0.0, points().map(|p| p.0).fold(1.0, f64::max)),
            y: around(points().map(|p| p.1)),
            series,
            ..FigurePanel::default()
        });
    }
    let count = |ours: usize, what: &str, printed: &str| PaperSummary {
        of: figure.data[0].clone(),
        what: what.into(),
        printed: printed.into(),
        ours: ours.to_string(),
        remark: String::new(),
    };
    let drawn_to = printed.iter().filter_map(|row| drawn(&row.metric)).map(|d| d.0).fold(0.0, f64::max);
    let drawn_to = if drawn_to > 0.0 { drawn_to.to_string() } else { String::new() };
    numbers.push(count(most, "concepts", &drawn_to));
    numbers.push(count(learned.bags.len(), "training bags", ""));
    Ok(PaperFigure { panels, numbers, ..PaperFigure::default() })
}

/// The number of a concept in `P(h|D) of hypothesis 12, panel a`, and the unit of its value (`1000 P(h|D)` is in thousandths).
fn drawn(metric: &str) -> Option<(f64, f64)> {
    let (what, behind) = metric.split_once("P(h|D) of hypothesis ")?;
    let unit = match what.trim() {
        "" => 1.0,
        times => 1.0 / times.parse::<f64>().ok()?,
    };
    let number = behind.split([',', ' ']).next()?.parse().ok()?;
    Some((number, unit))
}

#[cfg(test)]
mod tests {
    use super::drawn;

    #[test]
    fn a_drawn_value_has_a_place_and_a_unit() {
        assert_eq!(drawn("P(h|D) of hypothesis 80, panel a"), Some((80.0, 1.0)));
        assert_eq!(drawn("1000 P(h|D) of hypothesis 7, panel b"), Some((7.0, 0.001)));
        assert_eq!(drawn("training accuracy of hypothesis 7, panel b"), None);
    }
}
