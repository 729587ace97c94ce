//! A learning curve: the metric against the share of the training bags, a line per method. Drawn where the protocol is
//! `learning-curve`, whose folds come share by share.

use bagwise::judge::{ProtocolName, SHARES};

use crate::markup::{Markup, fixed};
use crate::plot::{AxisScale, Figure, axes, figure, legend, mark, path};
use crate::results::{capital, digits, heading};
use crate::table::{TableCell, TableOptions, numbers, table, words};
use crate::view::View;

/// Whether a run has such a curve.
pub(crate) fn is_in(view: &View<'_>) -> bool {
    view.run.records.iter().any(|r| r.protocol == ProtocolName::LearningCurve.as_str())
}

/// The curves of a run; `id` is that of the drawing.
pub(crate) fn write(page: &mut Markup, view: &View<'_>, id: &str) {
    let records = &view.run.records;
    if !is_in(view) {
        return;
    }
    let metric = view.verdict.metric;
    let folds = 1 + records.iter().map(|r| r.key.fold).max().unwrap_or(0);
    // The mean over folds and repeats of what was learned from each share.
    let of_method = |method: &str| -> Vec<(f64, f64)> {
        let share = |s: usize| {
            let own = records.iter().filter(|r| r.key.method == method && r.key.inner.is_none());
            let own = own.filter(|r| r.key.fold * SHARES / folds == s && r.succeeded());
            let values: Vec<f64> = own
                .filter_map(|r| view.roster().predictions(&r.scored).ok())
                .filter_map(|predictions| metric.value(&predictions))
                .collect();
            let mean = values.iter().sum::<f64>() / values.len() as f64;
            (!values.is_empty()).then_some(((s + 1) as f64 * 100.0 / SHARES as f64, mean))
        };
        (0..SHARES).filter_map(share).collect()
    };
    let names = view.verdict.table.iter().map(|l| l.method.as_str());
    let drawn: Vec<(&str, Vec<(f64, f64)>)> =
        names.map(|name| (name, of_method(name))).filter(|(_, points)| !points.is_empty()).collect();
    let values = || drawn.iter().flat_map(|(_, points)| points.iter().map(|p| p.1));
    if drawn.is_empty() {
        return;
    }
    let (low, high) = (values().fold(f64::INFINITY, f64::min), values().fold(f64::NEG_INFINITY, f64::max));
    let pad = 0.08 * (high - low).max(1e-9);
    let x = AxisScale::new((0.0, 100.0), (52.0, 446.0));
    let y = AxisScale::new((low - pad, high + pad), (262.0, 30.0));
    let last = |points: &[(f64, f64)]| points.last().map_or(String::new(), |p| fixed(p.1, digits(metric)));
    let ends: Vec<String> = drawn.iter().map(|(name, points)| format!("{name} {}", last(points))).collect();
    let about = Figure {
        id,
        title: &format!("{} against the share of training bags", capital(metric)),
        note: "Mean over folds and repeats; test bags are the same at every share.",
        description: &format!("With all training bags: {}.", ends.join("; ")),
        size: (460.0, 304.0),
    };
    let numbers_of = |page: &mut Markup| {
        let mut columns = vec![words("method")];
        columns.extend((1..=SHARES).map(|s| numbers(&format!("{} %", s * 100 / SHARES))));
        let rows = drawn.iter().map(|(name, points)| {
            let at = |s: usize| points.iter().find(|p| p.0 == (s * 100 / SHARES) as f64).map(|p| p.1);
            let cells = (1..=SHARES).map(|s| TableCell::number(at(s), digits(metric)));
            (String::new(), std::iter::once(TableCell::text(name)).chain(cells).collect())
        });
        let caption = format!("{} by share of training bags", heading(metric));
        table(page, TableOptions { caption: &caption, ..TableOptions::default() }, &columns, rows.collect());
    };
    page.tag("div", &[("class", "with-legend")], |page| {
        figure(
            page,
            about,
            |svg| {
                axes(svg, &x, &y, ("% of training bags", heading(metric)));
                for (name, points) in drawn.iter().rev() {
                    let places: Vec<(f64, f64)> = points.iter().map(|p| (x.at(p.0), y.at(p.1))).collect();
                    let colour = view.colour(name);
                    svg.void("path", &[("class", &format!("c {colour}")), ("d", &path(&places))]);
                    for (place, point) in places.iter().zip(points) {
                        let title = format!("{name}, {:.0} %: {}", point.0, fixed(point.1, digits(metric)));
                        mark(svg, &colour, *place, &title);
                    }
                }
            },
            Some(&numbers_of),
        );
        let items: Vec<(String, String, String)> =
            drawn.iter().map(|(name, points)| (view.colour(name), name.to_string(), last(points))).collect();
        legend(page, &items);
    });
}
