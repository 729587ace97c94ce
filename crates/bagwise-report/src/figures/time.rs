//! What quality costs: the metric against the time of all fits.

use crate::markup::{Markup, duration, fixed};
use crate::plot::{AxisScale, Figure, axes, figure, legend, mark};
use crate::results::{capital, digits, heading};
use crate::view::View;

pub(crate) fn write(page: &mut Markup, view: &View<'_>) {
    let metric = view.verdict.metric;
    let points: Vec<(&str, f64, f64)> = view
        .verdict
        .table
        .iter()
        .filter_map(|l| Some((l.method.as_str(), l.seconds?.max(1e-4), l.metrics[0].mean?)))
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
    let x = AxisScale::log((fast / 1.6, slow * 1.6), (52.0, 446.0));
    let y = AxisScale::new((low - pad, high + pad), (262.0, 30.0));
    let lines: Vec<String> = points
        .iter()
        .map(|p| format!("{} {} in {}", p.0, fixed(p.2, digits(metric)), duration(p.1)))
        .collect();
    let id = format!("{}-time", view.id);
    let description = format!("{} against time, by method: {}.", heading(metric), lines.join("; "));
    let about = Figure {
        id: &id,
        title: &format!("{} against time", capital(metric)),
        note: "Total time of all fits, including the choice of parameters, on a logarithmic scale.",
        description: &description,
        size: (460.0, 304.0),
    };
    page.tag("div", &[("class", "with-legend")], |page| {
        figure(
            page,
            about,
            |svg| {
                axes(svg, &x, &y, ("time", heading(metric)));
                // The best is drawn last, above the others.
                for (name, seconds, value) in points.iter().rev() {
                    let title =
                        format!("{name}: {} in {}", fixed(*value, digits(metric)), duration(*seconds));
                    mark(svg, &view.colour(name), (x.at(*seconds), y.at(*value)), &title);
                }
            },
            None,
        );
        let items: Vec<(String, String, String)> =
            points.iter().map(|p| (view.colour(p.0), p.0.to_string(), duration(p.1))).collect();
        legend(page, &items);
    });
}
