//! The tables of a paper on the page: first the table as the paper has it, each cell with our value and a verdict, then
//! averages, ranks and tests, and every number in one long table.

use super::text::plus_minus;
use super::{Agreement, Paper, PaperCell, PaperSummary, PaperTable, RankAxis, axis};
use crate::markup::{Markup, fixed};
use crate::table::{TableCell, TableOptions, numbers, table, words};

const LEGEND: &str = "Each cell: the printed value, ours in bold, the difference with its 95 % interval. Reproduced: the \
                      printed value lies in our interval. Above, below: ours is higher or lower. Too imprecise: it lies in \
                      our interval, but the interval extends more than 3 points (a tenth of the value for regression \
                      errors) to either side, or there is no interval. Undefined: the metric has no value for what was \
                      predicted.";

const REFERRED: &str = "Each cell: the value of an independent implementation, and ours in bold.";

impl Paper {
    /// What stands at the top of the page; `first` draws what the runs themselves show of the paper, before its tables.
    pub(crate) fn write(&self, page: &mut Markup, first: &dyn Fn(&mut Markup)) {
        page.leaf("p", &[("class", "verdict")], &self.sentence());
        page.leaf("p", &[("class", "lead")], &self.origin());
        first(page);
        // What the paper prints comes before our accuracies, for which it has no numbers.
        summaries(page, "Densities around misclassified bags", &self.densities);
        for (i, table) in self.tables.iter().enumerate() {
            page.tag("section", &[("id", &format!("table-{i}"))], |page| {
                // The only table has the title of the page.
                if self.tables.len() > 1 {
                    page.leaf("h2", &[], &table.title);
                }
                table.matrix(page);
                let any = |of: fn(&PaperCell) -> Option<f64>| table.cells.iter().any(|c| of(c).is_some());
                let legend = match (any(|c| c.printed), any(|c| c.reference)) {
                    (true, _) => LEGEND,
                    (_, true) => REFERRED,
                    _ => "The paper prints no numbers for these cells: each has ours, in bold.",
                };
                page.leaf("p", &[("class", "lead")], &format!("{}. {legend}", capital(&table.quantity)));
                summaries(page, "Over all data sets", &table.summaries);
                axes(page, &table.axes, &format!("axis-{i}"));
                page.tag("details", &[("class", "numbers")], |page| {
                    page.leaf("summary", &[], "Every number, with remarks");
                    table.list(page);
                });
            });
        }
        for (i, figure) in self.figures.iter().enumerate() {
            figure.write(page, &format!("figure-{i}"));
        }
        summaries(page, "Ranks of ranks", &self.ranks_of_ranks);
        axes(page, &self.axes, "axis-all");
        summaries(page, "Data and methods, as described in the paper and as used here", &self.facts);
        if !self.notes.is_empty() {
            page.leaf("h3", &[("class", "part")], "Known differences");
            page.tag("ul", &[("class", "notes")], |page| {
                self.notes.iter().for_each(|note| page.leaf("li", &[], note));
            });
        }
    }
}

fn axes(page: &mut Markup, axes: &[RankAxis], id: &str) {
    for (i, one) in axes.iter().enumerate() {
        axis::draw(page, one, &format!("{id}-{i}"));
    }
}

pub(super) fn capital(text: &str) -> String {
    let mut rest = text.chars();
    rest.next().map_or(String::new(), |c| c.to_uppercase().chain(rest).collect())
}

pub(super) fn summaries(page: &mut Markup, caption: &str, list: &[PaperSummary]) {
    if list.is_empty() {
        return;
    }
    page.leaf("h3", &[("class", "part")], caption);
    let columns = [words("of"), words("what"), numbers("printed"), numbers("ours"), words("remark")];
    let rows = list.iter().map(|s| {
        let cells = [&s.of, &s.what, &s.printed, &s.ours, &s.remark];
        (String::new(), cells.map(|text| TableCell::text(text).class("remark")).into())
    });
    table(
        page,
        TableOptions { caption, sortable: true, ..TableOptions::default() },
        &columns,
        rows.collect(),
    );
}

impl PaperTable {
    /// Methods against data sets, the longer of the two downwards.
    fn matrix(&self, page: &mut Markup) {
        let downwards = self.data.len() > self.methods.len();
        let (rows, across) =
            if downwards { (&self.data, &self.methods) } else { (&self.methods, &self.data) };
        let mut columns = vec![words(if downwards { "data set" } else { "method" })];
        columns.extend(across.iter().map(|name| numbers(name)));
        let body = rows.iter().enumerate().map(|(r, name)| {
            let cell = |c: usize| if downwards { self.cell(r, c) } else { self.cell(c, r) };
            let cells = (0..across.len()).map(|c| self.look(cell(c)));
            (String::new(), std::iter::once(TableCell::text(name)).chain(cells).collect())
        });
        let look = TableOptions { caption: &self.title, class: "paper", ..TableOptions::default() };
        table(page, look, &columns, body.collect());
    }

    fn look(&self, cell: &PaperCell) -> TableCell {
        TableCell::of(|m| {
            if cell.printed.is_none() && cell.ours.is_none() {
                return m.text("\u{2013}");
            }
            let mut printed = self.number(cell.printed) + &plus_minus(&cell.spread, "\u{b1}");
            if let (None, Some(reference)) = (cell.printed, cell.reference) {
                printed = format!("reference {}", self.number(Some(reference)));
            }
            m.leaf("span", &[], if printed.is_empty() { "\u{2013}" } else { &printed });
            if cell.ours.is_some() {
                m.leaf("b", &[], &self.number(cell.ours));
            }
            if let Some(text) = cell.difference().map(|d| self.difference(d)) {
                m.leaf("span", &[("class", "ends")], &text);
            }
            if cell.agreement != Agreement::NotPrinted {
                let class = match cell.agreement {
                    Agreement::Reproduced => "pill good",
                    _ if self.is_worse(cell) => "pill bad",
                    _ => "pill",
                };
                m.leaf("span", &[("class", class), ("title", cell.remark.as_str())], self.verdict(cell));
            }
        })
    }

    fn difference(&self, (value, interval): (f64, Option<(f64, f64)>)) -> String {
        let signed = |v: f64| self.signed(v).replace('-', "\u{2212}");
        let ends = interval.map(|(low, high)| format!(" ({} to {})", signed(low), signed(high)));
        signed(value) + &ends.unwrap_or_default()
    }

    /// Every number in a line of its own.
    fn list(&self, page: &mut Markup) {
        let columns = [
            words("data set"),
            words("method"),
            numbers("printed"),
            words("spread"),
            numbers("ours"),
            numbers("sd"),
            words("interval"),
            words("difference"),
            numbers("reference").hint("by an independent implementation"),
            words("verdict"),
            words("remark"),
        ];
        let ends =
            |(low, high): (f64, f64)| format!("{} to {}", fixed(low, self.digits), fixed(high, self.digits));
        let rows = self.shown().map(|(data, method, cell)| {
            let number = |value| TableCell::number(value, self.digits);
            let difference = cell.difference();
            let cells = vec![
                TableCell::text(data),
                TableCell::text(method),
                number(cell.printed),
                TableCell::text(plus_minus(&cell.spread, "\u{b1}").trim()),
                number(cell.ours),
                number(cell.sd),
                TableCell::text(&cell.interval.map_or(String::new(), ends)),
                match difference {
                    Some(found) => TableCell::text(&self.difference(found)).sorted(found.0),
                    None => TableCell::text(""),
                },
                number(cell.reference),
                TableCell::text(self.verdict(cell)),
                TableCell::text(&cell.remark).class("remark"),
            ];
            (String::new(), cells)
        });
        let look = TableOptions {
            caption: &self.title,
            sortable: true,
            filter: Some("methods or data"),
            ..TableOptions::default()
        };
        table(page, look, &columns, rows.collect());
    }
}
