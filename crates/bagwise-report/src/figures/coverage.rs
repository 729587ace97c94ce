//! How many sets or intervals of a conformal model contain the true label of new bags, beside the requested coverage, and how
//! large they are.

use crate::context::CoverageSummary;
use crate::forest::{ForestPlot, ForestRow};
use crate::markup::{Markup, fixed, maybe};
use crate::plot::{Figure, figure};
use crate::table::{TableCell, TableOptions, numbers, table, words};
use crate::view::View;

/// Percent of a share, with as many digits as it needs.
pub(crate) fn percent(share: f64) -> String {
    let text = fixed(100.0 * share, 1);
    format!("{}%", text.strip_suffix(".0").unwrap_or(&text))
}

pub(crate) fn write(page: &mut Markup, view: &View<'_>) {
    let found = &view.run.context.coverage;
    let Some(first) = found.first() else { return };
    let classes = !view.classes().is_empty();
    let what = if classes { "sets of classes" } else { "intervals" };
    let said = |c: &CoverageSummary| {
        let ends = c.interval.map_or(String::new(), |(low, high)| {
            format!(" (interval {} to {})", percent(low), percent(high))
        });
        format!("requested {}, observed {}{ends}", percent(c.coverage), percent(c.held))
    };
    let rows = found.iter().map(|c| ForestRow {
        name: format!("requested {}", percent(c.coverage)),
        colour: view.colour(view.winner()),
        value: c.held,
        ends: c.interval,
        aim: Some(c.coverage),
        title: said(c),
    });
    let of = if first.groups.is_some() { "Every group has the same weight. " } else { "" };
    let axis = format!("share of {what} that contain the true {}", if classes { "class" } else { "value" });
    let forest = ForestPlot { rows: rows.collect(), reference: None, axis: &axis };
    let lines: Vec<String> = found.iter().map(said).collect();
    let id = format!("{}-coverage", view.id);
    let about = Figure {
        id: &id,
        title: "Coverage",
        note: &format!(
            "How many {what} contain the true {}. {of}The short vertical line is the requested coverage. If an interval lies to \
             the left of it, these bags differ from the training bags.",
            if classes { "class" } else { "value" }
        ),
        description: &format!("{}.", lines.join("; ")),
        size: forest.size(),
    };
    page.tag("div", &[("class", "figures")], |page| {
        figure(page, about, |svg| forest.draw(svg), None);
        page.tag("ul", &[("class", "notes")], |page| {
            for c in found {
                page.leaf("li", &[], &format!("{}: {}.", percent(c.coverage), c.promise));
            }
        });
    });
    sizes(page, view, found);
}

/// Classes beyond which their own coverage is no longer shown.
const CLASSES: usize = 8;

/// The numbers, with how large sets or intervals are.
fn sizes(page: &mut Markup, view: &View<'_>, found: &[CoverageSummary]) {
    let classes = !view.classes().is_empty();
    let own: &[(String, Option<f64>)] = match found.first() {
        Some(first) if first.classes.len() <= CLASSES => &first.classes,
        _ => &[],
    };
    let mut columns = vec![
        numbers("requested"),
        numbers("observed"),
        words(&format!("{:.0}% interval", 100.0 * view.verdict.level)),
        numbers(if classes { "mean classes" } else { "mean length" }),
    ];
    if classes {
        columns.push(numbers("one class").hint("sets of a single class"));
        columns.push(numbers("empty").hint("sets without a class: no class fits the bag"));
        columns.extend(
            own.iter().map(|(name, _)| {
                numbers(&format!("observed, class {name}")).hint("of the bags of this class")
            }),
        );
    }
    let rows = found.iter().map(|c| {
        let mut cells =
            vec![
                TableCell::shown(c.coverage, &percent(c.coverage)),
                TableCell::shown(c.held, &percent(c.held)),
                TableCell::text(&c.interval.map_or("\u{2013}".into(), |(low, high)| {
                    format!("{} to {}", percent(low), percent(high))
                })),
                TableCell::text(&maybe(Some(c.size), if classes { 2 } else { 3 })),
            ];
        if classes {
            let each = c.classes.iter().take(own.len()).map(|(_, share)| *share);
            let shares = [c.single, c.empty].into_iter().chain(each);
            cells.extend(shares.map(|s| TableCell::text(&s.map_or("\u{2013}".into(), percent))));
        }
        (String::new(), cells)
    });
    let look = TableOptions { caption: "Coverage on these bags", class: "many", ..TableOptions::default() };
    table(page, look, &columns, rows.collect());
}
