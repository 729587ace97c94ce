//! Kernels of four points in a cross with another such cross in the plane, where the kernel may adapt to the density of random
//! points around them. The mean over pairs of points is the kernel of the two crosses before normalisation; for kernels of
//! cells it is the probability that a point of each share a cell.

use anyhow::{Context as _, Result};
use bagwise::{Bags, Dataset, Instances, Mat, Rng, Target};
use bagwise_report::paper::{FigurePanel, PanelMap, PanelSeries, PaperFigure, SeriesLook};

use crate::experiment::figure::{FigureAxis, FigureMethod, FigureSettings};
use crate::session::Session;

/// Shifts along each side of a map.
const SIDE: usize = 41;
/// The points of the cross lie so far from its centre.
const ARM: f64 = 0.1;
/// The points around a cross are divided into this many bags of two classes, because a model needs bags; its map ignores them.
const BAGS: usize = 10;

type Point = [f64; 2];

/// The kernel between a cross in the middle and the same, shifted; a map for each method.
pub(super) fn kernel_map(figure: &FigureSettings, session: &Session) -> Result<PaperFigure> {
    let shift = |k: usize| 2.0 * k as f64 / (SIDE - 1) as f64 - 1.0;
    let crosses: Vec<[Point; 4]> =
        (0..SIDE * SIDE).map(|k| cross([shift(k % SIDE), shift(k / SIDE)])).collect();
    let mut panels = Vec::new();
    for method in &figure.method {
        let values = kernels(method, &[], &[cross([0.0, 0.0])], &crosses, session)?.remove(0);
        panels.push(FigurePanel {
            title: method.name.clone(),
            note: background(method),
            axes: ("shift to the right".into(), "shift upwards".into()),
            x: (-1.0, 1.0),
            y: (-1.0, 1.0),
            map: Some(PanelMap { columns: SIDE, values }),
            ..FigurePanel::default()
        });
    }
    Ok(PaperFigure { panels, ..PaperFigure::default() })
}

/// The kernel between two crosses in the sparse half and in the dense half, along psi or along the distance of their centres.
pub(super) fn shared_cells(figure: &FigureSettings, session: &Session) -> Result<PaperFigure> {
    let along = figure.along.context("a figure of shared cells runs along psi or distance")?;
    let distance = figure.distance.unwrap_or(0.3);
    let mut series = Vec::new();
    for method in &figure.method {
        let [left, right] = method.background.unwrap_or_default();
        let middle = |sparse: bool| if sparse == (right < left) { 0.5 } else { -0.5 };
        for (name, sparse) in [("sparse region", true), ("dense region", false)] {
            let ends = |d: f64| [-d / 2.0, d / 2.0].map(|by| cross([middle(sparse) + by, 0.0]));
            let points: Vec<(f64, f64)> = match along {
                FigureAxis::Psi => {
                    let [from, to] = ends(distance);
                    let value = |&psi: &f64| -> Result<(f64, f64)> {
                        let more = [("psi", (psi as usize).to_string())];
                        Ok((psi, kernels(method, &more, &[from], &[to], session)?[0][0]))
                    };
                    figure.values.iter().map(value).collect::<Result<_>>()?
                }
                FigureAxis::Distance => {
                    let (from, to): (Vec<_>, Vec<_>) =
                        figure.values.iter().map(|&d| ends(d)).map(|[from, to]| (from, to)).unzip();
                    let found = kernels(method, &[], &from, &to, session)?;
                    figure.values.iter().enumerate().map(|(i, &d)| (d, found[i][i])).collect()
                }
            };
            series.push(PanelSeries {
                name: format!("{}, {name}", method.name),
                look: SeriesLook::Line,
                pieces: vec![points],
            });
        }
    }
    let last = figure.values.iter().copied().fold(0.0, f64::max);
    let across = match along {
        FigureAxis::Psi => "psi".to_string(),
        FigureAxis::Distance => "distance of the centres".to_string(),
    };
    let panel = FigurePanel {
        title: format!("Along {across}"),
        note: figure.method.first().map_or(String::new(), background),
        axes: (across, "probability of one cell".into()),
        x: (0.0, last),
        y: (0.0, 1.0),
        series,
        ..FigurePanel::default()
    };
    Ok(PaperFigure { panels: vec![panel], ..PaperFigure::default() })
}

fn background(method: &FigureMethod) -> String {
    method.background.map_or(String::new(), |[left, right]| {
        format!("{left} random points left of the middle, {right} to the right.")
    })
}

fn cross([x, y]: Point) -> [Point; 4] {
    [[x, y + ARM], [x, y - ARM], [x + ARM, y], [x - ARM, y]]
}

/// For each cross of `from` the kernel with each of `to`, a mean over pairs of points.
fn kernels(
    method: &FigureMethod,
    more: &[(&str, String)],
    from: &[[Point; 4]],
    to: &[[Point; 4]],
    session: &Session,
) -> Result<Vec<Vec<f64>>> {
    let (own, others) = (singles(from)?, singles(to)?);
    // Of bags of one instance, the normalised kernel is that of the instances.
    let pairs = match method.background {
        None => {
            let config = method.config(more).single(None)?;
            let point = &config.grid.points[0];
            let (scale, ctx) = (config.scale, &session.ctx);
            bagwise::gram(config.method, point, scale, false, &others, Some(&own), None, ctx)?
        }
        Some(points) => {
            let data = scattered(points, session.ctx.seed)?;
            let model = super::fit(&data, method, more, session)?;
            let (own, others) = (model.map(&own, &session.ctx)?, model.map(&others, &session.ctx)?);
            let mut pairs = Mat::zeros(others.rows(), own.rows());
            for column in 0..own.rows() {
                let mut dense = vec![0.0; own.cols()];
                std::iter::zip(own.row(column).0, own.row(column).1)
                    .for_each(|(&c, &v)| dense[c as usize] = v);
                for row in 0..others.rows() {
                    let (columns, values) = others.row(row);
                    let dot = columns.iter().zip(values).map(|(&c, v)| dense[c as usize] * v).sum();
                    pairs.set(row, column, dot);
                }
            }
            pairs
        }
    };
    let mean = |f: usize, t: usize| {
        let of_row = |row: usize| (4 * f..4 * f + 4).map(|column| pairs.get(row, column)).sum::<f64>();
        (4 * t..4 * t + 4).map(of_row).sum::<f64>() / 16.0
    };
    Ok((0..from.len()).map(|f| (0..to.len()).map(|t| mean(f, t)).collect()).collect())
}

/// A bag for each point.
fn singles(crosses: &[[Point; 4]]) -> Result<Bags> {
    let points = crosses.concat();
    Ok(Bags::new(Instances::F64(Mat::from_rows(&points)), (0..=points.len()).collect())?)
}

/// Random points in the square from -1 to 1, this many left and right of the middle.
fn scattered([left, right]: [usize; 2], seed: u64) -> Result<Dataset> {
    let mut rng = Rng::new(seed, "scattered points", &[]);
    let mut points: Vec<Point> = (0..left + right)
        .map(|i| {
            let (x, y) = (rng.uniform(), 2.0 * rng.uniform() - 1.0);
            [if i < left { -x } else { x }, y]
        })
        .collect();
    rng.shuffle(&mut points);
    let offsets = (0..=BAGS).map(|b| b * points.len() / BAGS).collect();
    let bags = Bags::new(Instances::F64(Mat::from_rows(&points)), offsets)?;
    let labels: Vec<String> = (0..BAGS).map(|b| (b % 2).to_string()).collect();
    Ok(Dataset::new("random points", bags).with_target(Target::from_labels(&labels))?)
}
