//! How much better or worse than the recommended method each other one is, with the interval of the difference.

use bagwise::count;

use crate::forest::{ForestPlot, ForestRow};
use crate::markup::{Markup, fixed};
use crate::plot::{Figure, figure};
use crate::results::{digits, heading};
use crate::table::{TableCell, TableOptions, numbers, table, words};
use crate::view::View;

pub(crate) fn write(page: &mut Markup, view: &View<'_>) {
    let v = &view.verdict;
    let (metric, digits) = (v.metric, digits(v.metric));
    let recommended = v.recommended();
    let found: Vec<_> = v
        .table
        .iter()
        .zip(&v.against_recommended)
        .filter_map(|(line, found)| found.as_ref().map(|f| (line.method.as_str(), f)))
        .filter_map(|(name, f)| Some((name, f, f.value?)))
        .collect();
    if found.is_empty() {
        return;
    }
    let said = |(name, f, value): &(&str, &bagwise::judge::Difference, f64)| {
        let ends = f.interval.map_or(String::new(), |i| {
            format!(", interval {} to {}", signed(i.low, digits), signed(i.high, digits))
        });
        format!("{name} {}{ends}, {}", signed(*value, digits), f.standing.as_str())
    };
    let rows = found
        .iter()
        .map(|one| ForestRow {
            name: one.0.into(),
            colour: view.colour(one.0),
            value: one.2,
            ends: one.1.interval.map(|i| (i.low, i.high)),
            aim: None,
            title: said(one),
        })
        .collect();
    let axis = format!("{} minus that of {recommended}", heading(metric));
    let forest = ForestPlot { rows, reference: Some(0.0), axis: &axis };
    let lines: Vec<String> = found.iter().map(said).collect();
    let side = if metric.info().larger { "right" } else { "left" };
    let ends = match found.iter().any(|(_, f, _)| f.interval.is_some()) {
        true => format!(
            " Lines are simultaneous {:.0}% intervals over {}; if one contains 0, the difference may be chance.",
            100.0 * v.level,
            count(v.units, if v.grouped { "group" } else { "bag" })
        ),
        false => " There are too few units for intervals."
            .replace("units", if v.grouped { "groups" } else { "bags" }),
    };
    let id = format!("{}-differences", view.id);
    let about = Figure {
        id: &id,
        title: &format!("Difference from {recommended}, the recommended method"),
        note: &format!("Methods to the {side} of 0 are better than {recommended}.{ends}"),
        description: &format!("{axis}: {}.", lines.join("; ")),
        size: forest.size(),
    };
    figure(
        page,
        about,
        |svg| forest.draw(svg),
        Some(&|page| {
            let columns = [
                words("method"),
                numbers("difference"),
                numbers("low"),
                numbers("high"),
                numbers("p").hint("adjusted for the number of methods"),
                words(&format!("against {recommended}")),
            ];
            let rows = found.iter().map(|(name, f, value)| {
                let number = |value: Option<f64>| match value {
                    Some(value) => TableCell::shown(value, &signed(value, digits)),
                    None => TableCell::number(None, digits),
                };
                let cells = vec![
                    TableCell::text(name),
                    number(Some(*value)),
                    number(f.interval.map(|i| i.low)),
                    number(f.interval.map(|i| i.high)),
                    TableCell::number(f.p, 4),
                    TableCell::text(f.standing.as_str()),
                ];
                (String::new(), cells)
            });
            let caption = format!("Differences from {recommended}");
            table(
                page,
                TableOptions { caption: &caption, sortable: true, ..TableOptions::default() },
                &columns,
                rows.collect(),
            );
        }),
    );
}

/// A difference says by its sign which way it goes.
fn signed(value: f64, digits: usize) -> String {
    let text = fixed(value, digits);
    if value > 0.0 { format!("+{text}") } else { text }
}
