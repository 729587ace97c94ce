//! Boundary and margins of models in the plane, beside those that a paper drew: contours of the output of bags of one instance.

use std::path::Path;

use anyhow::{Context as _, Result, bail};
use bagwise::{Bags, Dataset, Instances, Mat, Model, Target};
use bagwise_report::paper::{FigurePanel, PanelSeries, PaperFigure, PaperSummary, SeriesLook};
use serde::Deserialize;

use super::around;
use crate::experiment::figure::FigureSettings;
use crate::experiment::printed;
use crate::session::Session;

/// Places along each side where the output is computed.
const SIDE: usize = 101;

/// A vertex of a printed curve.
#[derive(Deserialize)]
struct Vertex {
    method: String,
    curve: String,
    piece: usize,
    x1: f64,
    x2: f64,
}

pub(super) fn draw(figure: &FigureSettings, folder: &Path, session: &Session) -> Result<PaperFigure> {
    let Some(data) = super::read(figure, &figure.data[0], folder, session)? else {
        return Ok(PaperFigure::default());
    };
    let (Target::Classes { codes, .. }, 2) = (data.require_target()?, data.bags.width()) else {
        bail!("{}: a boundary is drawn for classes in two attributes", figure.data[0]);
    };
    let printed = curves(figure, folder)?;
    let numbers = figure.numbers.as_ref().map_or(Ok(Vec::new()), |p| printed::read(&folder.join(p)))?;
    let points = |class: u32| -> Result<Vec<(f64, f64)>> {
        let mut points = Vec::new();
        for bag in (0..data.bags.len()).filter(|&b| codes[b] == class) {
            data.bags.instances().each_row(data.bags.rows(bag), |_, row| points.push((row[0], row[1])))?;
        }
        Ok(points)
    };
    let (negative, positive) = (points(0)?, points(1)?);
    let all = || negative.iter().chain(&positive);
    // Printed curves may leave the part of the plane that has points.
    let x = around(all().map(|p| p.0).chain(printed.iter().map(|v| v.x1)));
    let y = around(all().map(|p| p.1).chain(printed.iter().map(|v| v.x2)));
    let mut drawn = PaperFigure::default();
    for method in &figure.method {
        let model = super::fit(&data, method, &[], session)?;
        let outputs = outputs(&model, &data, x, y)?;
        let line = |name: &str, look, pieces| PanelSeries { name: name.into(), look, pieces };
        let mut series = vec![
            line("instances of positive bags", SeriesLook::Dots, vec![positive.clone()]),
            line("instances of negative bags", SeriesLook::Dots, vec![negative.clone()]),
            line("chosen instances", SeriesLook::Marks, vec![chosen(&model, &data)?]),
        ];
        for (curve, level) in [("boundary", 0.0), ("positive margin", 1.0), ("negative margin", -1.0)] {
            series.push(line(curve, SeriesLook::Line, contour(&outputs, level, x, y)));
            let theirs: Vec<Vec<(f64, f64)>> = printed
                .chunk_by(|a, b| (&a.method, &a.curve, a.piece) == (&b.method, &b.curve, b.piece))
                .filter(|piece| piece[0].method == method.name && piece[0].curve == curve)
                .map(|piece| piece.iter().map(|v| (v.x1, v.x2)).collect())
                .collect();
            if !theirs.is_empty() {
                series.push(line(&format!("{curve}, printed"), SeriesLook::Dashed, theirs));
            }
        }
        if let Some(last) = model.trace().last() {
            let number = |what: &str, ours: usize| {
                let row = numbers.iter().find(|row| row.method == method.name && row.metric == what);
                PaperSummary {
                    of: method.name.clone(),
                    what: what.into(),
                    printed: row.map_or(String::new(), |row| row.value.clone()),
                    ours: ours.to_string(),
                    remark: row.map_or(String::new(), |row| row.remark.clone()),
                }
            };
            drawn.numbers.push(number("support vectors", last.support));
            drawn.numbers.push(number("rounds", model.trace().len()));
        }
        let axes = (data.bags.features()[0].name.clone(), data.bags.features()[1].name.clone());
        drawn.panels.push(FigurePanel {
            title: method.name.clone(),
            axes,
            x,
            y,
            series,
            ..FigurePanel::default()
        });
    }
    Ok(drawn)
}

fn curves(figure: &FigureSettings, folder: &Path) -> Result<Vec<Vertex>> {
    let Some(file) = &figure.printed else { return Ok(Vec::new()) };
    let path = folder.join(file);
    let mut reader = csv::Reader::from_path(&path).with_context(|| path.display().to_string())?;
    let vertices = reader.deserialize().collect::<Result<Vec<Vertex>, _>>();
    vertices.with_context(|| format!("{}: curves have the columns method,curve,piece,x1,x2", path.display()))
}

/// The instances that stand for their bags.
fn chosen(model: &Model, data: &Dataset) -> Result<Vec<(f64, f64)>> {
    let mut places = Vec::new();
    for one in model.representatives() {
        let bag = data.bags.ids().iter().position(|id| *id == one.bag);
        let row = data.bags.rows(bag.context("a model names its training bags")?).start + one.instance;
        let mut place = [0.0; 2];
        data.bags.instances().row_into(row, &mut place)?;
        places.push(place.into());
    }
    Ok(places)
}

/// The output of a bag of one instance at each place of a grid, row by row from below.
fn outputs(model: &Model, data: &Dataset, x: (f64, f64), y: (f64, f64)) -> Result<Vec<f64>> {
    let places: Vec<[f64; 2]> =
        (0..SIDE * SIDE).map(|k| [along(x, (k % SIDE) as f64), along(y, (k / SIDE) as f64)]).collect();
    let bags = Bags::new(Instances::F64(Mat::from_rows(&places)), (0..=places.len()).collect())?;
    let bags = bags.with_features(data.bags.features().clone())?;
    Ok(model.predict(&bags)?.iter().map(|p| p.outputs[0]).collect())
}

/// The place of step `k` of [`SIDE`].
fn along((low, high): (f64, f64), k: f64) -> f64 {
    low + (high - low) * k / (SIDE - 1) as f64
}

/// Where values on a grid cross a level: a short line in every square that it crosses, by linear interpolation along the
/// sides. Squares with two opposite corners above are cut twice.
fn contour(values: &[f64], level: f64, x: (f64, f64), y: (f64, f64)) -> Vec<Vec<(f64, f64)>> {
    let mut lines = Vec::new();
    for (row, column) in (0..SIDE - 1).flat_map(|r| (0..SIDE - 1).map(move |c| (r, c))) {
        let corners = [(0, 0), (0, 1), (1, 1), (1, 0)];
        let value = |k: usize| values[(row + corners[k].0) * SIDE + column + corners[k].1] - level;
        let mut crossed = Vec::new();
        for k in 0..4 {
            let (a, b) = (value(k), value((k + 1) % 4));
            if (a > 0.0) != (b > 0.0) {
                let share = a / (a - b);
                let (from, to) = (corners[k], corners[(k + 1) % 4]);
                let at = |f: usize, t: usize| f as f64 + share * (t as f64 - f as f64);
                let place = (column as f64 + at(from.1, to.1), row as f64 + at(from.0, to.0));
                crossed.push((along(x, place.0), along(y, place.1)));
            }
        }
        lines.extend(crossed.chunks(2).map(<[_]>::to_vec));
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_contour_of_a_cone_is_a_circle() {
        let (x, y) = ((-2.0, 2.0), (-2.0, 2.0));
        let at = |k: usize| (along(x, (k % SIDE) as f64), along(y, (k / SIDE) as f64));
        let cone: Vec<f64> = (0..SIDE * SIDE).map(|k| at(k).0.hypot(at(k).1)).collect();
        let lines = contour(&cone, 1.0, x, y);
        assert!(lines.len() > 100 && lines.iter().all(|l| l.len() == 2));
        for (a, b) in lines.concat() {
            assert!((a.hypot(b) - 1.0).abs() < 1e-3, "{a} {b}");
        }
        let length: f64 = lines.iter().map(|l| (l[0].0 - l[1].0).hypot(l[0].1 - l[1].1)).sum();
        assert!((length - std::f64::consts::TAU).abs() < 0.01, "{length}");
    }
}
