//! How fits ended: a table of all methods that have a solver, and for methods that alternate between choosing and fitting
//! how many choices changed from round to round. A line that reaches 0 has converged; one that goes on up and down
//! may be in a cycle.

use bagwise::count;
use bagwise::judge::{FitStatus, Record};

use crate::markup::Markup;
use crate::plot::{AxisScale, Figure, axes, figure, path, titled};
use crate::table::{TableCell, TableOptions, numbers, table, words};
use crate::view::View;

pub(crate) fn write(page: &mut Markup, view: &View<'_>) {
    let mut rows = Vec::new();
    for l in &view.verdict.table {
        let ended =
            |status: FitStatus| view.records(&l.method).filter(|r| r.outcome.status == status).count();
        let mut steps: Vec<u64> = view.records(&l.method).filter_map(|r| r.outcome.iterations).collect();
        let gap = view
            .records(&l.method)
            .filter_map(|r| r.outcome.gap)
            .fold(None, |m: Option<f64>, g| Some(m.map_or(g, |m| m.max(g))));
        if steps.is_empty() && ended(FitStatus::Failed) == 0 {
            continue;
        }
        steps.sort_unstable();
        let step = |at: usize| {
            steps.get(at).map_or(TableCell::text("\u{2013}"), |s| TableCell::shown(*s as f64, &s.to_string()))
        };
        let mut cells = vec![TableCell::text(&l.method)];
        cells.extend(
            [FitStatus::Converged, FitStatus::IterationLimit, FitStatus::Cycle, FitStatus::Failed].map(|s| {
                let n = ended(s);
                let cell = TableCell::shown(n as f64, &n.to_string());
                if n > 0 && s != FitStatus::Converged { cell.class("alert") } else { cell }
            }),
        );
        cells.push(step(steps.len() / 2));
        cells.push(step(steps.len().saturating_sub(1)));
        cells.push(gap.map_or(TableCell::text("\u{2013}"), |g| TableCell::shown(g, &format!("{g:.1e}"))));
        rows.push((String::new(), cells));
    }
    if rows.is_empty() {
        return;
    }
    page.leaf("h3", &[("class", "part")], "How fits ended");
    page.leaf("p", &[("class", "lead")], "One fit per outer fold, with the chosen parameters.");
    let columns = [
        words("method"),
        numbers("converged"),
        numbers("at the limit").hint("the solver stopped before it reached its tolerance"),
        numbers("in a cycle").hint("the search came back to an earlier state"),
        numbers("failed"),
        numbers("steps, median"),
        numbers("steps, most"),
        numbers("largest gap").hint("violation of the optimality conditions"),
    ];
    table(
        page,
        TableOptions { caption: "How fits ended", sortable: true, ..TableOptions::default() },
        &columns,
        rows,
    );
    if view.run.records.iter().any(|r| !r.outcome.changed.is_empty()) {
        page.leaf("h3", &[("class", "part")], "How the choice of instances settled");
        page.leaf(
            "p",
            &[("class", "lead")],
            "These methods choose instances, fit, and choose again. Each line is a fit: blue settled, orange came \
             back to an earlier choice, dashed yellow stopped at the limit.",
        );
        page.tag("div", &[("class", "figures small")], |page| {
            for (at, line) in view.verdict.table.iter().enumerate() {
                rounds(page, view, at, &line.method);
            }
        });
    }
}

/// A line for each fit of a method that alternates.
fn rounds(page: &mut Markup, view: &View<'_>, at: usize, method: &str) {
    let fits: Vec<&Record> = view.records(method).filter(|r| !r.outcome.changed.is_empty()).collect();
    if fits.is_empty() {
        return;
    }
    let longest = fits.iter().map(|r| r.outcome.changed.len()).max().unwrap_or(1);
    let most = fits.iter().flat_map(|r| &r.outcome.changed).copied().max().unwrap_or(1).max(1);
    let x = AxisScale::new((1.0, longest.max(2) as f64), (44.0, 326.0));
    let y = AxisScale::new((0.0, most as f64), (176.0, 30.0));
    let settled = fits.iter().filter(|r| r.outcome.status == FitStatus::Converged).count();
    let mut lengths: Vec<usize> = fits.iter().map(|r| r.outcome.changed.len()).collect();
    lengths.sort_unstable();
    let note = format!(
        "{settled} of {} settled; median {}.",
        count(fits.len(), "fit"),
        count(lengths[lengths.len() / 2], "round")
    );
    let last: Vec<String> = fits
        .iter()
        .take(10)
        .map(|r| {
            let changed: Vec<String> = r.outcome.changed.iter().take(12).map(ToString::to_string).collect();
            let more = if r.outcome.changed.len() > 12 { ", and so on" } else { "" };
            format!("fold {}: {}{more}", r.key.fold + 1, changed.join(", "))
        })
        .collect();
    let id = format!("{}-rounds-{at}", view.id);
    let description = format!("Choices changed by {method} in each round. {note} {}.", last.join("; "));
    let about =
        Figure { id: &id, title: method, note: &note, description: &description, size: (340.0, 218.0) };
    figure(
        page,
        about,
        |svg| {
            axes(svg, &x, &y, ("round", "choices that changed"));
            // More lines than this hide each other.
            for record in fits.iter().take(40) {
                let points: Vec<(f64, f64)> = record
                    .outcome
                    .changed
                    .iter()
                    .enumerate()
                    .map(|(i, &n)| (x.at((i + 1) as f64), y.at(n as f64)))
                    .collect();
                let (class, end) = match record.outcome.status {
                    FitStatus::Converged => ("c m0", "settled"),
                    FitStatus::Cycle => ("c m1", "in a cycle"),
                    _ => ("c m4", "stopped at its limit"),
                };
                let title = format!("repeat {}, fold {}: {end}", record.key.repeat + 1, record.key.fold + 1);
                titled(svg, "path", &[("class", class), ("d", &path(&points))], &title);
            }
        },
        None,
    );
}
