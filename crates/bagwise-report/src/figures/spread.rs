//! How much a method's value differs from fold to fold: a dot for each fold, a line for the interval of the mean.

use crate::forest::{margin, shortened};
use crate::markup::{Markup, fixed, place};
use crate::plot::{AxisScale, Figure, figure, label, line, mark};
use crate::results::{capital, digits, heading};
use crate::table::{TableCell, TableOptions, numbers, table, words};
use crate::view::View;

/// Width of the part with the dots.
const INNER: f64 = 336.0;
const ROW: f64 = 26.0;

pub(crate) fn write(page: &mut Markup, view: &View<'_>) {
    let metric = view.verdict.metric;
    let folds: Vec<Vec<f64>> = view
        .verdict
        .table
        .iter()
        .map(|l| {
            view.records(&l.method).filter_map(|r| r.metrics.get(metric.name()).copied().flatten()).collect()
        })
        .collect();
    let all: Vec<f64> = folds.iter().flatten().copied().collect();
    if all.len() < 2 {
        return;
    }
    let low = all.iter().copied().fold(f64::INFINITY, f64::min);
    let high = all.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let pad = 0.02 * (high - low);
    let rows = folds.len() as f64;
    let left = margin(view.verdict.table.iter().map(|l| l.method.as_str()));
    let right = left + INNER;
    let size = (right, 14.0 + ROW * rows + 38.0);
    let x = AxisScale::new((low - pad, high + pad), (left, right - 14.0));
    let name = heading(metric);
    let count = folds.iter().map(Vec::len).max().unwrap_or(0);
    let lines: Vec<String> = view
        .verdict
        .table
        .iter()
        .zip(&folds)
        .filter(|(_, f)| !f.is_empty())
        .map(|(l, f)| {
            let five = five(f);
            format!(
                "{} from {} to {}, median {}",
                l.method,
                fixed(five[0], 3),
                fixed(five[4], 3),
                fixed(five[2], 3)
            )
        })
        .collect();
    let description =
        format!("Dots show the {name} of each of {count} folds, by method. {}.", lines.join("; "));
    let id = format!("{}-spread", view.id);
    let about = Figure {
        id: &id,
        title: &format!("{} from fold to fold", capital(metric)),
        note: "Each dot is a fold. The mark is the value over all bags, with its interval.",
        description: &description,
        size,
    };
    figure(
        page,
        about,
        |svg| {
            let bottom = 10.0 + ROW * rows;
            for tick in x.ticks(6) {
                line(svg, "g", (x.at(tick), 6.0), (x.at(tick), bottom));
                label(svg, "t", "middle", (x.at(tick), bottom + 16.0), &x.label(tick));
            }
            label(svg, "t", "middle", ((left + right) / 2.0, bottom + 33.0), name);
            for (i, (l, values)) in view.verdict.table.iter().zip(&folds).enumerate() {
                let y = 10.0 + ROW * (i as f64 + 0.5);
                let colour = view.colour(&l.method);
                label(svg, "", "end", (left - 10.0, y + 4.0), &shortened(&l.method));
                // Equal values would hide each other: they are stacked a little.
                let mut sorted = values.clone();
                sorted.sort_by(f64::total_cmp);
                let mut dots = String::new();
                for same in sorted.chunk_by(|a, b| place(x.at(*a)) == place(x.at(*b))) {
                    let step = (16.0 / same.len() as f64).min(4.0);
                    for k in 0..same.len() {
                        let dy = step * (k as f64 - (same.len() - 1) as f64 / 2.0);
                        dots += &format!("M{} {}h0", place(x.at(same[0])), place(y + dy));
                    }
                }
                svg.void("path", &[("class", &format!("dots {colour}")), ("d", &dots)]);
                if let Some(interval) = l.metrics[0].interval {
                    line(svg, &format!("i {colour}"), (x.at(interval.low), y), (x.at(interval.high), y));
                }
                if let Some(mean) = l.metrics[0].mean {
                    mark(
                        svg,
                        &colour,
                        (x.at(mean), y),
                        &format!("{}: {}", l.method, fixed(mean, digits(metric))),
                    );
                }
            }
        },
        Some(&|page| {
            let columns = [
                words("method"),
                numbers("folds"),
                numbers("lowest"),
                numbers("lower quarter"),
                numbers("median"),
                numbers("upper quarter"),
                numbers("highest"),
            ];
            let rows = view.verdict.table.iter().zip(&folds).filter(|(_, f)| !f.is_empty()).map(|(l, f)| {
                let mut cells = vec![TableCell::text(&l.method), TableCell::text(&f.len().to_string())];
                cells.extend(five(f).map(|v| TableCell::number(Some(v), digits(metric))));
                (String::new(), cells)
            });
            table(
                page,
                TableOptions {
                    caption: "Values of individual folds",
                    sortable: true,
                    ..TableOptions::default()
                },
                &columns,
                rows.collect(),
            );
        }),
    );
}

/// Lowest, quartiles, highest.
fn five(values: &[f64]) -> [f64; 5] {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    [0.0, 0.25, 0.5, 0.75, 1.0].map(|share| {
        let at = share * (sorted.len() - 1) as f64;
        let next = sorted[(at.floor() as usize + 1).min(sorted.len() - 1)];
        sorted[at.floor() as usize] + at.fract() * (next - sorted[at.floor() as usize])
    })
}
