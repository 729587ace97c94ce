//! Tables: a box that scrolls on its own where the screen is narrow, a header that a script can sort by, numbers to the
//! right. A cell carries the value to sort by where its text would sort wrongly.

use crate::markup::{Markup, fixed, maybe};

/// A column.
pub(crate) struct TableColumn {
    name: String,
    number: bool,
    hint: String,
}

/// A column of text.
pub(crate) fn words(name: &str) -> TableColumn {
    TableColumn { name: name.into(), number: false, hint: String::new() }
}

/// A column of numbers.
pub(crate) fn numbers(name: &str) -> TableColumn {
    TableColumn { name: name.into(), number: true, hint: String::new() }
}

impl TableColumn {
    /// What the column means, shown on hovering.
    pub(crate) fn hint(mut self, hint: &str) -> TableColumn {
        self.hint = hint.into();
        self
    }
}

/// A cell.
#[derive(Default)]
pub(crate) struct TableCell {
    inside: Markup,
    sort: Option<String>,
    class: String,
}

impl TableCell {
    /// Text.
    pub(crate) fn text(text: &str) -> TableCell {
        let mut inside = Markup::default();
        inside.text(text);
        TableCell { inside, ..TableCell::default() }
    }

    /// A name that came with the data; its direction of writing stays its own.
    pub(crate) fn name(text: &str) -> TableCell {
        let mut inside = Markup::default();
        inside.leaf("bdi", &[], text);
        TableCell { inside, ..TableCell::default() }
    }

    /// A number, sorted by all its digits.
    pub(crate) fn number(value: Option<f64>, digits: usize) -> TableCell {
        let mut cell = TableCell::text(&maybe(value, digits));
        // A sort needs no more than seven digits, and pages have many cells.
        cell.sort = Some(value.map_or(String::new(), short));
        cell
    }

    /// A number with text of its own.
    pub(crate) fn shown(value: f64, text: &str) -> TableCell {
        let mut cell = TableCell::text(text);
        cell.sort = Some(short(value));
        cell
    }

    /// Markup.
    pub(crate) fn of(draw: impl FnOnce(&mut Markup)) -> TableCell {
        let mut inside = Markup::default();
        draw(&mut inside);
        TableCell { inside, ..TableCell::default() }
    }

    /// With a value to sort by.
    pub(crate) fn sorted(mut self, by: f64) -> TableCell {
        self.sort = Some(short(by));
        self
    }

    /// With a class.
    pub(crate) fn class(mut self, class: &str) -> TableCell {
        self.class = class.into();
        self
    }
}

fn short(value: f64) -> String {
    let text = fixed(value, 6).replace('\u{2212}', "-");
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').to_string() } else { text }
}

/// How a table behaves.
#[derive(Clone, Copy, Default)]
pub(crate) struct TableOptions<'a> {
    /// What the table shows, for those who do not see it.
    pub(crate) caption: &'a str,
    /// A script may sort it.
    pub(crate) sortable: bool,
    /// A script may filter its rows.
    pub(crate) filter: Option<&'a str>,
    /// Another class.
    pub(crate) class: &'a str,
}

/// Writes a table; `rows` carry the classes of their lines.
pub(crate) fn table(
    page: &mut Markup,
    look: TableOptions<'_>,
    columns: &[TableColumn],
    rows: Vec<(String, Vec<TableCell>)>,
) {
    table_with_foot(page, look, columns, rows, Vec::new());
}

/// The same with lines that stay below whatever the order.
pub(crate) fn table_with_foot(
    page: &mut Markup,
    look: TableOptions<'_>,
    columns: &[TableColumn],
    rows: Vec<(String, Vec<TableCell>)>,
    foot: Vec<Vec<TableCell>>,
) {
    // A box that scrolls can be reached by the keyboard.
    let mut around =
        vec![("class", "box"), ("tabindex", "0"), ("role", "region"), ("aria-label", look.caption)];
    if let Some(what) = look.filter {
        around.push(("data-filter", what));
    }
    page.tag("div", &around, |page| {
        let class = if look.sortable { format!("sort {}", look.class) } else { look.class.to_string() };
        page.tag("table", &[("class", class.trim())], |page| {
            page.leaf("caption", &[], look.caption);
            page.tag("thead", &[], |page| {
                page.tag("tr", &[], |page| {
                    for column in columns {
                        let mut attributes = vec![("scope", "col")];
                        if column.number {
                            attributes.push(("class", "n"));
                        }
                        if !column.hint.is_empty() {
                            attributes.push(("title", &column.hint));
                        }
                        page.leaf("th", &attributes, &column.name);
                    }
                });
            });
            page.tag("tbody", &[], |page| {
                for (class, cells) in rows {
                    let attributes = [("class", class.as_str())];
                    page.tag("tr", if class.is_empty() { &[] } else { &attributes }, |page| {
                        line(page, columns, cells)
                    });
                }
            });
            if !foot.is_empty() {
                page.tag("tfoot", &[], |page| {
                    for cells in foot {
                        page.tag("tr", &[], |page| line(page, columns, cells));
                    }
                });
            }
        });
    });
}

fn line(page: &mut Markup, columns: &[TableColumn], cells: Vec<TableCell>) {
    debug_assert_eq!(columns.len(), cells.len());
    for (i, (cell, column)) in cells.into_iter().zip(columns).enumerate() {
        let class = match (column.number, cell.class.as_str()) {
            (true, "") => "n".to_string(),
            (true, other) => format!("n {other}"),
            (false, other) => other.to_string(),
        };
        let mut attributes: Vec<(&str, &str)> = Vec::new();
        if i == 0 {
            attributes.push(("scope", "row"));
        }
        if !class.is_empty() {
            attributes.push(("class", &class));
        }
        if let Some(sort) = &cell.sort {
            attributes.push(("data-v", sort));
        }
        page.tag(if i == 0 { "th" } else { "td" }, &attributes, |page| page.append(&cell.inside));
    }
}
