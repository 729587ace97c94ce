//! What an experiment hands over: tables with a sentence before each, as plain text or Markdown.

/// The result of an experiment.
#[derive(Default)]
pub(super) struct Section {
    parts: Vec<Part>,
    /// The time that it took and what kind of time this is, where some of it was computed before.
    pub(super) seconds: Option<(f64, &'static str)>,
}

enum Part {
    /// A table and what is to be said before it.
    Table(String, Table),
    /// Markdown from elsewhere.
    Page(String),
}

/// Cells under headings.
pub(super) struct Table {
    rows: Vec<Vec<String>>,
}

impl Table {
    /// A table with these headings.
    pub(super) fn new(headings: &[&str]) -> Table {
        Table { rows: vec![headings.iter().map(|h| h.to_string()).collect()] }
    }

    /// Adds a row.
    pub(super) fn row(&mut self, cells: Vec<String>) {
        assert_eq!(cells.len(), self.rows[0].len(), "a cell for each heading");
        self.rows.push(cells);
    }

    fn widths(&self) -> Vec<usize> {
        let width = |c: usize| self.rows.iter().map(|r| r[c].chars().count()).max().unwrap_or(0);
        (0..self.rows[0].len()).map(width).collect()
    }

    fn lines(&self, between: &str) -> Vec<String> {
        let widths = self.widths();
        let line = |row: &Vec<String>| {
            let cells = row.iter().zip(&widths).map(|(cell, &width)| format!("{cell:<width$}"));
            cells.collect::<Vec<_>>().join(between)
        };
        self.rows.iter().map(line).collect()
    }
}

impl Section {
    /// Adds a table and what is to be said before it.
    pub(super) fn add(&mut self, about: impl Into<String>, table: Table) {
        self.parts.push(Part::Table(about.into(), table));
    }

    /// Adds Markdown as it is.
    pub(super) fn page(&mut self, text: String) {
        self.parts.push(Part::Page(text));
    }

    /// For a terminal.
    pub(super) fn text(&self) -> String {
        self.joined(|table| table.lines("  ").iter().map(|l| l.trim_end().to_string()).collect())
    }

    /// For a page.
    pub(super) fn markdown(&self) -> String {
        self.joined(|table| {
            let mut lines: Vec<String> = table.lines(" | ").iter().map(|l| format!("| {l} |")).collect();
            lines.insert(1, format!("|{}", "---|".repeat(table.rows[0].len())));
            lines
        })
    }

    fn joined(&self, lines: impl Fn(&Table) -> Vec<String>) -> String {
        let part = |part: &Part| match part {
            Part::Table(about, table) => format!("{about}\n\n{}\n", lines(table).join("\n")),
            Part::Page(text) => text.clone(),
        };
        self.parts.iter().map(part).collect::<Vec<_>>().join("\n")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_section_is_text_or_markdown() {
        let mut table = Table::new(&["set", "±"]);
        table.row(vec!["fox".into(), "1.5".into()]);
        let mut section = Section::default();
        section.add("Sets.", table);
        section.page("* More.\n".into());
        assert_eq!(section.text(), "Sets.\n\nset  ±\nfox  1.5\n\n* More.\n");
        assert_eq!(section.markdown(), "Sets.\n\n| set | ±   |\n|---|---|\n| fox | 1.5 |\n\n* More.\n");
    }
}
