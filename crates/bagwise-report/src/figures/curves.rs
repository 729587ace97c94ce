//! How scores order bags (ROC, precision and recall) and whether probabilities mean what they say (reliability). Curves
//! are of the first repeat, the mean of its folds, weighted so that their areas are those in the tables; only with two classes.

use bagwise::judge::{Metric, wilson};
use bagwise::{BASELINE, count};

use crate::markup::{Markup, fixed, maybe, place};
use crate::plot::{AxisScale, Figure, axes, figure, legend, line, mark, path, titled};
use crate::table::{TableCell, TableOptions, numbers, table, words};
use crate::view::{JudgedBag, View};

const SIZE: (f64, f64) = (400.0, 384.0);
/// Methods that get a colour in a figure of lines; the others are grey.
const LINES: usize = 6;

fn square() -> (AxisScale, AxisScale) {
    (AxisScale::new((0.0, 1.0), (48.0, 384.0)), AxisScale::new((0.0, 1.0), (342.0, 30.0)))
}

/// Scores and truth of each fold of the first repeat, best score first, in runs of equal scores: (positives, negatives).
/// Scores of two folds come from two models and are not compared.
fn runs(view: &View<'_>, method: usize) -> Option<Vec<Vec<(f64, f64)>>> {
    let positive = view.roster().positive?;
    let answers: Vec<&JudgedBag> = first(&view.answers[method]).collect();
    // Classes alone put bags in no order.
    if answers.iter().any(|a| a.score.is_none()) {
        return None;
    }
    let of_fold = |own: &[&JudgedBag]| {
        let mut list: Vec<(f64, bool)> =
            own.iter().filter_map(|a| Some((a.score?, view.class(a.bag) == Some(positive)))).collect();
        list.sort_by(|a, b| b.0.total_cmp(&a.0));
        let runs = list.chunk_by(|a, b| a.0 == b.0).map(|same| {
            let up = same.iter().filter(|s| s.1).count();
            (up as f64, (same.len() - up) as f64)
        });
        runs.collect()
    };
    Some(answers.chunk_by(|a, b| a.fold == b.fold).map(of_fold).collect())
}

/// Positives and negatives of a fold.
fn totals(runs: &[(f64, f64)]) -> (f64, f64) {
    runs.iter().fold((0.0, 0.0), |t, r| (t.0 + r.0, t.1 + r.1))
}

/// The mean of lines from 0 to 1, each with its weight: at every place where one of them bends, with both ends of a jump.
fn mean_line(parts: &[(f64, Vec<(f64, f64)>)]) -> Vec<(f64, f64)> {
    let mut places: Vec<f64> = parts.iter().flat_map(|(_, line)| line.iter().map(|p| p.0)).collect();
    places.sort_by(f64::total_cmp);
    places.dedup();
    let total: f64 = parts.iter().map(|p| p.0).sum();
    let mut points: Vec<(f64, f64)> = Vec::new();
    for x in places {
        let (mut before, mut after) = (0.0, 0.0);
        for (weight, line) in parts {
            let (from, to) = (line.partition_point(|p| p.0 < x), line.partition_point(|p| p.0 <= x));
            let ends = match (line.get(from.wrapping_sub(1)), line.get(from)) {
                _ if from < to => (line[from].1, line[to - 1].1),
                (Some(a), Some(b)) => {
                    let y = a.1 + (b.1 - a.1) * (x - a.0) / (b.0 - a.0);
                    (y, y)
                }
                // Rounding may let a line end a last bit before 1.
                (a, b) => a.or(b).map_or((0.0, 0.0), |p| (p.1, p.1)),
            };
            before += weight / total * ends.0;
            after += weight / total * ends.1;
        }
        points.push((x, before));
        if after != before {
            points.push((x, after));
        }
    }
    points
}

fn first(answers: &[JudgedBag]) -> impl Iterator<Item = &JudgedBag> {
    let repeat = answers.first().map_or(0, |a| a.repeat);
    answers.iter().filter(move |a| a.repeat == repeat)
}

/// One figure of lines: a name, the points of a method's line in a fold (given the positives and negatives of all folds), the
/// weight of a fold with these positives and negatives, the metric that sums it up.
fn lines(
    page: &mut Markup,
    view: &View<'_>,
    what: (&str, &str, &str, (&str, &str)),
    metric: Metric,
    diagonal: bool,
    points: &dyn Fn(&[(f64, f64)], (f64, f64)) -> Vec<(f64, f64)>,
    weight: &dyn Fn((f64, f64)) -> f64,
) {
    let (x, y) = square();
    let mut drawn = Vec::new();
    for (i, l) in view.verdict.table.iter().enumerate() {
        let folds = runs(view, i).unwrap_or_default();
        let whole = totals(&folds.concat());
        let parts: Vec<(f64, Vec<(f64, f64)>)> = folds
            .iter()
            .map(|runs| (weight(totals(runs)), runs))
            .filter(|(weight, _)| *weight > 0.0)
            .map(|(weight, runs)| (weight, points(runs, whole)))
            .collect();
        if !parts.is_empty() {
            let area = l.metrics.iter().find(|m| m.metric == metric).and_then(|m| m.mean);
            drawn.push((l.method.as_str(), mean_line(&parts), area));
        }
    }
    if drawn.is_empty() {
        return;
    }
    if !view.alone {
        // Among many data sets the best methods and the baseline are enough.
        let mut at = 0..;
        drawn.retain(|d| at.next().is_some_and(|i: usize| i < LINES) || d.0 == BASELINE);
    }
    let (name, title, note, axis) = what;
    let id = format!("{}-{name}", view.id);
    let areas: Vec<String> = drawn.iter().map(|d| format!("{} {}", d.0, maybe(d.2, 3))).collect();
    let description = format!("{title}. {}: {}.", metric.info().title, areas.join(", "));
    let about = Figure { id: &id, title, note, description: &description, size: SIZE };
    figure(
        page,
        about,
        |svg| {
            axes(svg, &x, &y, axis);
            if diagonal {
                line(svg, "d", (x.at(0.0), y.at(0.0)), (x.at(1.0), y.at(1.0)));
            }
            // The winner is drawn last, above the others.
            for (i, (method, points, area)) in drawn.iter().enumerate().rev() {
                let colour = if i < LINES { view.colour(method) } else { "mx".into() };
                // Half a unit is as fine as the line is thick; thousands of bags then make no longer path than hundreds.
                let half = |v: f64| (2.0 * v).round() / 2.0;
                let at: Vec<(f64, f64)> = points.iter().map(|p| (half(x.at(p.0)), half(y.at(p.1)))).collect();
                let class = if i == 0 { format!("c first {colour}") } else { format!("c {colour}") };
                let title = format!("{method}: {}", maybe(*area, 3));
                titled(svg, "path", &[("class", &class), ("d", &path(&at))], &title);
            }
        },
        None,
    );
    let items: Vec<(String, String, String)> = drawn
        .iter()
        .enumerate()
        .map(|(i, d)| {
            let colour = if i < LINES { view.colour(d.0) } else { "mx".into() };
            (colour, d.0.to_string(), maybe(d.2, 3))
        })
        .collect();
    legend(page, &items);
}

pub(crate) fn roc(page: &mut Markup, view: &View<'_>) {
    if view.roster().positive.is_none() {
        return;
    }
    page.tag("div", &[("class", "with-legend")], |page| {
        lines(
            page,
            view,
            (
                "roc",
                "ROC curves",
                "True positive rate against false positive rate. Next to each name: the area \
                under the curve, mean over \
                repeats.",
                ("false positive rate", "true positive rate"),
            ),
            Metric::RocAuc,
            true,
            &|runs, _| {
                let (up, down) = totals(runs);
                let mut at = (0.0, 0.0);
                let mut points = vec![at];
                for r in runs {
                    at = (at.0 + r.1 / down, at.1 + r.0 / up);
                    points.push(at);
                }
                points
            },
            // So weighted, the area is the share of pairs of all folds.
            &|(up, down)| up * down,
        );
    });
}

pub(crate) fn precision_recall(page: &mut Markup, view: &View<'_>) {
    if view.roster().positive.is_none() {
        return;
    }
    page.tag("div", &[("class", "with-legend")], |page| {
        lines(
            page,
            view,
            (
                "pr",
                "Precision and recall",
                "The fraction of bags predicted positive that are positive, against the \
                fraction of positive bags that are found. Next to each name: average \
                precision.",
                ("recall", "precision"),
            ),
            Metric::PrAuc,
            false,
            &|runs, whole| {
                let (up, down) = totals(runs);
                let (mut found, mut false_alarms) = (0.0, 0.0);
                let mut points: Vec<(f64, f64)> = Vec::new();
                for r in runs {
                    // Weighted as in the metric, so that every fold has the classes in the shares of all folds.
                    found += r.0 / up * whole.0;
                    false_alarms += r.1 / down * whole.1;
                    let here = (found / whole.0, found / (found + false_alarms));
                    // A step: the precision of a recall is that of the score that reaches it.
                    if let Some(last) = points.last().copied() {
                        if here.0 > last.0 {
                            points.push((last.0, here.1));
                        }
                    } else {
                        points.push((0.0, here.1));
                    }
                    points.push(here);
                }
                points
            },
            &|(up, down)| if down > 0.0 { up } else { 0.0 },
        );
    });
}

/// Probabilities in tenths against how often they came true, for the winner.
pub(crate) fn reliability(page: &mut Markup, view: &View<'_>) {
    const BINS: usize = 10;
    let answers = &view.answers[0];
    if view.classes().is_empty() || !answers.iter().any(|a| a.probability.is_some()) {
        return;
    }
    let positive = view.roster().positive;
    // (sum of probabilities, came true, answers)
    let mut bins = [(0.0, 0u64, 0u64); BINS];
    for a in answers {
        let Some(p) = a.probability else { continue };
        let bin = &mut bins[((p * BINS as f64) as usize).min(BINS - 1)];
        let came_true = match positive {
            Some(class) => view.class(a.bag) == Some(class),
            None => view.class(a.bag) == a.label,
        };
        *bin = (bin.0 + p, bin.1 + u64::from(came_true), bin.2 + 1);
    }
    let level = view.verdict.level;
    let rows: Vec<(f64, f64, (f64, f64), u64)> = bins
        .iter()
        .filter(|b| b.2 > 0)
        .map(|b| {
            let (said, seen) = (b.0 / b.2 as f64, b.1 as f64 / b.2 as f64);
            // Another answer about the same bag does not make an interval shorter.
            let bags = (b.2 as f64 / view.answers_per_bag(0)).round().max(1.0);
            let hits = (seen * bags).round();
            let ends = wilson(hits as u64, bags as u64, level)
                .ok()
                .flatten()
                .map_or((seen, seen), |i| (i.low.min(seen), i.high.max(seen)));
            (said, seen, ends, b.2)
        })
        .collect();
    let (x, y) = (AxisScale::new((0.0, 1.0), (48.0, 384.0)), AxisScale::new((0.0, 1.0), (286.0, 30.0)));
    let most = rows.iter().map(|r| r.3).max().unwrap_or(1) as f64;
    let colour = view.colour(view.winner());
    let what = positive
        .map_or("of the predicted class".to_string(), |p| format!("of class {}", view.classes()[p as usize]));
    let lines: Vec<String> = rows
        .iter()
        .map(|r| {
            format!(
                "predicted {}, observed {} ({})",
                fixed(r.0, 2),
                fixed(r.1, 2),
                count(r.3 as usize, "prediction")
            )
        })
        .collect();
    let description = format!(
        "Probabilities of {}, in tenths, against the observed frequency: {}.",
        view.winner(),
        lines.join("; ")
    );
    let note = format!(
        "On the dashed line, the probabilities of {} match the observed frequencies. Vertical lines are intervals \
         for the sampling of bags; bars below count predictions.",
        view.winner()
    );
    let id = format!("{}-reliability", view.id);
    let about = Figure {
        id: &id,
        title: "Are the probabilities calibrated?",
        note: &note,
        description: &description,
        size: (400.0, 384.0),
    };
    figure(
        page,
        about,
        |svg| {
            axes(svg, &x, &y, ("", "observed frequency"));
            line(svg, "d", (x.at(0.0), y.at(0.0)), (x.at(1.0), y.at(1.0)));
            for (i, (_, _, n)) in bins.iter().enumerate() {
                let (a, b) = (x.at(i as f64 / 10.0), x.at((i + 1) as f64 / 10.0));
                let h = 28.0 * *n as f64 / most;
                let attributes = [
                    ("class", "bar"),
                    ("x", &place(a + 2.0)),
                    ("y", &place(338.0 - h)),
                    ("width", &place(b - a - 4.0)),
                    ("height", &place(h)),
                ];
                titled(svg, "rect", &attributes, &format!("{n} predictions"));
            }
            crate::plot::label(svg, "t", "middle", (216.0, 366.0), &format!("predicted probability {what}"));
            for (said, seen, ends, n) in &rows {
                let title =
                    format!("predicted {}, observed {}, {n} predictions", fixed(*said, 2), fixed(*seen, 2));
                line(svg, &format!("i {colour}"), (x.at(*said), y.at(ends.0)), (x.at(*said), y.at(ends.1)));
                mark(svg, &colour, (x.at(*said), y.at(*seen)), &title);
            }
        },
        Some(&|page| {
            let columns = [
                words("probability"),
                numbers("mean"),
                numbers("observed"),
                numbers("low"),
                numbers("high"),
                numbers("count").hint("predictions"),
            ];
            let lines = bins.iter().enumerate().filter(|(_, b)| b.2 > 0).zip(&rows).map(|((i, _), r)| {
                let range = format!("{:.1} to {:.1}", i as f64 / 10.0, (i + 1) as f64 / 10.0);
                let mut cells = vec![TableCell::text(&range)];
                cells.extend([r.0, r.1, r.2.0, r.2.1].map(|v| TableCell::number(Some(v), 3)));
                cells.push(TableCell::text(&r.3.to_string()));
                (String::new(), cells)
            });
            table(
                page,
                TableOptions { caption: "Reliability", ..TableOptions::default() },
                &columns,
                lines.collect(),
            );
        }),
    );
}

#[cfg(test)]
mod tests {
    use super::mean_line;

    #[test]
    fn lines_are_averaged_with_their_jumps() {
        let steps = vec![(0.0, 0.0), (0.0, 1.0), (1.0, 1.0)];
        let diagonal = vec![(0.0, 0.0), (1.0, 1.0)];
        let mean = mean_line(&[(3.0, steps), (1.0, diagonal.clone())]);
        assert_eq!(mean, [(0.0, 0.0), (0.0, 0.75), (1.0, 1.0)]);
        let bend = vec![(0.0, 0.0), (0.5, 1.0), (1.0, 1.0)];
        assert_eq!(mean_line(&[(1.0, bend), (1.0, diagonal)]), [(0.0, 0.0), (0.5, 0.75), (1.0, 1.0)]);
    }
}
