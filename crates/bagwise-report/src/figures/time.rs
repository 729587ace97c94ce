//! What quality costs: the metric against the time of all fits.

use crate::markup::{Markup, duration, fixed};
use crate::plot::{Figure, Scale, axes, figure, label, mark};
use crate::results::{digits, heading};
use crate::view::View;

pub(crate) fn write(page: &mut Markup, view: &View<'_>) {
    let metric = view.verdict.metric;
    let points: Vec<(&str, f64, f64)> = view
        .verdict
        .table
        .iter()
        .filter_map(|l| Some((l.method.as_str(), l.seconds.max(1e-4), l.metrics[0].mean?)))
        .collect();
    if points.len() < 2 {
        return;
    }
    let span = |f: &dyn Fn(&(&str, f64, f64)) -> f64| {
        points.iter().map(f).fold((f64::INFINITY, f64::NEG_INFINITY), |a, v| (a.0.min(v), a.1.max(v)))
    };
    let (fast, slow) = span(&|p| p.1);
    let (low, high) = span(&|p| p.2);
    let pad = 0.08 * (high - low).max(1e-9);
    let x = Scale::log((fast / 1.6, slow * 1.6), (52.0, 506.0));
    let y = Scale::new((low - pad, high + pad), (262.0, 30.0));
    let lines: Vec<String> = points
        .iter()
        .map(|p| format!("{} {} in {}", p.0, fixed(p.2, digits(metric)), duration(p.1)))
        .collect();
    let id = format!("{}-time", view.id);
    let description = format!("{} against time, by method: {}.", heading(metric), lines.join("; "));
    let about = Figure {
        id: &id,
        title: &format!("{} against time", heading(metric)),
        note: "Time of all fits, parameters chosen included; the scale is logarithmic.",
        description: &description,
        size: (520.0, 304.0),
    };
    figure(
        page,
        about,
        |svg| {
            axes(svg, &x, &y, ("time", heading(metric)));
            for ((name, seconds, value), at) in points.iter().zip(places(&points, &x, &y)) {
                let (px, py) = (x.at(*seconds), y.at(*value));
                let title = format!("{name}: {} in {}", fixed(*value, digits(metric)), duration(*seconds));
                mark(svg, &view.colour(name), (px, py), &title);
                let right = px < 330.0;
                let anchor = if right { "start" } else { "end" };
                label(svg, "", anchor, (px + if right { 9.0 } else { -9.0 }, at + 4.0), name);
            }
        },
        None,
    );
}

/// Heights of the names: at their marks, pushed apart where they would lie on each other.
fn places(points: &[(&str, f64, f64)], x: &Scale, y: &Scale) -> Vec<f64> {
    const APART: f64 = 14.0;
    let mut order: Vec<usize> = (0..points.len()).collect();
    order.sort_by(|&a, &b| y.at(points[a].2).total_cmp(&y.at(points[b].2)));
    let mut at = vec![0.0; points.len()];
    let mut done: Vec<usize> = Vec::new();
    for &i in &order {
        let mut here = y.at(points[i].2);
        for &j in &done {
            let near = (x.at(points[i].1) - x.at(points[j].1)).abs() < 150.0;
            if near && (here - at[j]).abs() < APART {
                here = at[j] + APART;
            }
        }
        at[i] = here;
        done.push(i);
    }
    at
}
