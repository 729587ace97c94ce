//! The tables of a paper as Markdown and as LaTeX.

use super::write::capital;
use super::{Paper, PaperCell, PaperSummary, PaperTable};

impl Paper {
    /// Everything as Markdown, below a heading for each table.
    pub fn markdown(&self, title: &str) -> String {
        let quick = if self.quick.is_empty() { "" } else { " (quick version)" };
        let mut text = format!(
            "### {}{quick}\n\n{}\n\n{}\n",
            plain(title),
            plain(&self.origin()),
            plain(&self.sentence())
        );
        let line = |cells: &[String]| {
            let cells: Vec<String> = cells.iter().map(|cell| in_a_cell(cell)).collect();
            format!("| {} |\n", cells.join(" | "))
        };
        let mut lists: Vec<(&str, Vec<Vec<String>>)> = Vec::new();
        let mut add = |title, list: &'_ [PaperSummary]| {
            if !list.is_empty() {
                lists.push((title, list.iter().map(words).collect()));
            }
        };
        self.figures.iter().for_each(|f| add(&f.title, &f.numbers));
        add("Ranks of the average ranks", &self.ranks_of_ranks);
        add("Density around misclassified bags", &self.densities);
        add("The data", &self.facts);
        // One table needs no heading beside the title.
        let several = self.tables.len() + lists.len() > 1;
        let heading = |text: &mut String, title: &str| {
            if several {
                *text += &format!("\n#### {}\n", plain(title));
            }
        };
        let rows = |text: &mut String, head: &[&str], rows: &[Vec<String>]| {
            let head: Vec<String> = head.iter().map(|h| h.to_string()).collect();
            *text += &format!("\n{}|{}\n", line(&head), "---|".repeat(head.len()));
            rows.iter().for_each(|row| *text += &line(row));
        };
        for table in &self.tables {
            heading(&mut text, &table.title);
            let mut head = HEAD.to_vec();
            head[3] = &table.quantity;
            let shown: Vec<Vec<String>> = table.shown().map(|(d, m, c)| table.words(d, m, c)).collect();
            rows(&mut text, &head, &shown);
            if !table.summaries.is_empty() {
                rows(&mut text, &SUMMARY, &table.summaries.iter().map(words).collect::<Vec<_>>());
            }
        }
        for (title, list) in &lists {
            heading(&mut text, title);
            rows(&mut text, &SUMMARY, list);
        }
        self.notes.iter().for_each(|note| text += &format!("\n* {}", plain(note)));
        text + "\n"
    }

    /// The tables as LaTeX, one `table` each, for `\usepackage{booktabs}`.
    pub fn latex(&self) -> String {
        let mut text = format!("% {}\n% needs \\usepackage{{booktabs}}\n", escaped(&self.origin()));
        for table in &self.tables {
            let columns = "r".repeat(table.data.len());
            text += &format!(
                "\\begin{{table}}\n\\caption{{{}}}\n\\begin{{tabular}}{{l{columns}}}\n\\toprule\n",
                escaped(&(table.caption() + &self.quick_sentence()))
            );
            text += " & ";
            text += &table.data.iter().map(|d| escaped(d)).collect::<Vec<_>>().join(" & ");
            text += " \\\\\n\\midrule\n";
            for (m, method) in table.methods.iter().enumerate() {
                let cells = (0..table.data.len()).map(|d| {
                    let cell = table.cell(d, m);
                    let number = |v: Option<f64>| table.number(v);
                    let printed = [number(cell.printed), plus_minus(&cell.spread, "$\\pm$")].concat();
                    match (cell.printed, cell.ours) {
                        (None, None) => String::new(),
                        (_, None) => printed,
                        (None, _) => format!("-- / \\textbf{{{}}}", number(cell.ours)),
                        _ => {
                            format!("{printed} / \\textbf{{{}}} ({})", number(cell.ours), table.verdict(cell))
                        }
                    }
                });
                text += &format!("{} & {} \\\\\n", escaped(method), cells.collect::<Vec<_>>().join(" & "));
            }
            text += "\\bottomrule\n\\end{tabular}\n\\end{table}\n";
        }
        text
    }
}

const HEAD: [&str; 9] =
    ["data", "method", "printed", "ours", "interval", "difference", "reference", "verdict", "remark"];
const SUMMARY: [&str; 5] = ["of", "what", "printed", "ours", "remark"];

fn words(summary: &PaperSummary) -> Vec<String> {
    let PaperSummary { of, what, printed, ours, remark } = summary.clone();
    vec![of, what, printed, ours, remark]
}

/// A spread behind a number.
pub(super) fn plus_minus(spread: &str, sign: &str) -> String {
    match spread.split_once("..") {
        _ if spread.is_empty() => String::new(),
        Some((low, high)) => format!(" ({low} to {high})"),
        None => format!(" {sign} {spread}"),
    }
}

/// Text that stays in its cell of a Markdown table, and is no HTML.
fn in_a_cell(text: &str) -> String {
    plain(text).replace('|', "\\|")
}

/// Text on one line that is no HTML. A `<` before a space is none, and stays as it is in the text of the file.
fn plain(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text.chars().peekable();
    while let Some(c) = rest.next() {
        let opens = |next: char| next.is_ascii_alphabetic() || "/!?".contains(next);
        match c {
            '\n' => out.push(' '),
            '<' if rest.peek().copied().is_some_and(opens) => out += "&lt;",
            c => out.push(c),
        }
    }
    out
}

/// Text that LaTeX takes as it is.
fn escaped(text: &str) -> String {
    let mut out = String::new();
    for c in text.chars() {
        match c {
            '&' | '%' | '$' | '#' | '_' | '{' | '}' => out.extend(['\\', c]),
            '\\' => out += "\\textbackslash{}",
            '~' => out += "\\textasciitilde{}",
            '^' => out += "\\textasciicircum{}",
            '|' => out += "\\textbar{}",
            '<' => out += "\\textless{}",
            '>' => out += "\\textgreater{}",
            '\n' => out.push(' '),
            '\u{2212}' => out += "$-$",
            c => out.push(c),
        }
    }
    out
}

impl PaperTable {
    /// Cells that say something: a value of ours, or a printed one.
    pub(super) fn shown(&self) -> impl Iterator<Item = (&str, &str, &PaperCell)> {
        self.lines().filter(|(_, _, c)| c.printed.is_some() || c.ours.is_some() || c.reference.is_some())
    }

    /// A number with the digits of the table; nothing if there is none.
    pub(super) fn number(&self, value: Option<f64>) -> String {
        let digits = self.digits;
        let text = value.map_or(String::new(), |v| format!("{v:.digits$}"));
        let nothing = text.starts_with('-') && text.bytes().all(|b| b"-0.".contains(&b));
        if nothing { text[1..].to_string() } else { text }
    }

    /// A number with its sign.
    pub(super) fn signed(&self, value: f64) -> String {
        let text = self.number(Some(value));
        if text.starts_with('-') { text } else { format!("+{text}") }
    }

    /// What the table is and what its cells hold. A title often ends with the quantity.
    fn caption(&self) -> String {
        let PaperTable { title, quantity, .. } = self;
        let cells = "the printed value, ours in bold, and the verdict";
        match title.to_lowercase().ends_with(&quantity.to_lowercase()) {
            true => format!("{title}. Each cell: {cells}."),
            false => format!("{title}. {}: {cells}.", capital(quantity)),
        }
    }

    fn words(&self, data: &str, method: &str, cell: &PaperCell) -> Vec<String> {
        let ends =
            |(low, high): (f64, f64)| format!("{} to {}", self.number(Some(low)), self.number(Some(high)));
        vec![
            data.into(),
            method.into(),
            self.number(cell.printed) + &plus_minus(&cell.spread, "±"),
            self.number(cell.ours),
            cell.interval.map_or(String::new(), ends),
            cell.difference().map_or(String::new(), |(d, _)| self.signed(d)),
            self.number(cell.reference),
            self.verdict(cell).into(),
            cell.remark.clone(),
        ]
    }
}

#[cfg(test)]
mod tests {
    use crate::paper::{Agreement, Paper, PaperCell, PaperTable};

    fn paper() -> Paper {
        let cell = PaperCell {
            printed: Some(89.2),
            spread: "0.6".into(),
            ours: Some(88.0),
            interval: Some((86.0, 90.0)),
            agreement: Agreement::Reproduced,
            ..PaperCell::default()
        };
        let only_printed = PaperCell {
            printed: Some(83.9),
            spread: "81.2..85.7".into(),
            agreement: Agreement::NotRun,
            ..PaperCell::default()
        };
        let table = PaperTable {
            title: "Table 3".into(),
            quantity: "accuracy %".into(),
            digits: 1,
            data: vec!["a_b".into(), "c".into()],
            methods: vec!["M & N".into()],
            cells: vec![cell, only_printed],
            ..PaperTable::default()
        };
        Paper { source: "S".into(), protocol: "nested".into(), tables: vec![table], ..Paper::default() }
    }

    #[test]
    fn a_table_becomes_markdown_with_spread_difference_and_verdict() {
        let text = paper().markdown("T");
        assert!(
            text.contains("| a_b | M & N | 89.2 ± 0.6 | 88.0 | 86.0 to 90.0 | -1.2 |  | reproduced |  |\n"),
            "{text}"
        );
        assert!(text.contains("| c | M & N | 83.9 (81.2 to 85.7) |  |  |  |  | not run |  |\n"), "{text}");
    }

    #[test]
    fn each_of_several_tables_has_its_title() {
        let mut paper = paper();
        assert!(!paper.markdown("T").contains("####"));
        paper.tables.push(PaperTable { title: "Table 5".into(), ..paper.tables[0].clone() });
        let text = paper.markdown("T");
        let at = |part: &str| text.find(part).unwrap_or_else(|| panic!("no {part} in {text}"));
        assert!(at("#### Table 3\n") < at("| a_b |") && at("| a_b |") < at("#### Table 5\n"), "{text}");
    }

    #[test]
    fn a_bar_in_a_name_stays_in_its_cell() {
        let mut paper = paper();
        paper.tables[0].methods = vec!["p(x|y)\nmean".into()];
        let text = paper.markdown("T");
        assert!(text.contains("| a_b | p(x\\|y) mean | 89.2 ± 0.6 |"), "{text}");
        // In LaTeX's old encoding a bar of text is a dash.
        assert!(paper.latex().contains("p(x\\textbar{}y) mean & 89.2"), "{}", paper.latex());
    }

    #[test]
    fn a_name_is_no_html() {
        let mut paper = paper();
        paper.tables[0].methods = vec!["<script>alert(1)</script> p < 0.05".into()];
        let text = paper.markdown("<b>T</b>");
        assert!(text.contains("| &lt;script>alert(1)&lt;/script> p < 0.05 |"), "{text}");
        assert!(text.starts_with("### &lt;b>T&lt;/b>\n"), "{text}");
    }

    #[test]
    fn latex_has_a_row_per_method_and_escapes_names() {
        let text = paper().latex();
        assert!(text.contains(" & a\\_b & c \\\\\n\\midrule\n"), "{text}");
        let row = "M \\& N & 89.2 $\\pm$ 0.6 / \\textbf{88.0} (reproduced) & 83.9 (81.2 to 85.7) \\\\\n";
        assert!(text.contains(row), "{text}");
        assert!(
            text.contains(
                "\\caption{Table 3. Accuracy \\%: the printed value, ours in bold, and the verdict.}"
            ),
            "{text}"
        );
        let mut paper = paper();
        paper.tables[0].title = "Table 3: accuracy %".into();
        paper.quick = "1 of 2 data sets".into();
        let said = "\\caption{Table 3: accuracy \\%. Each cell: the printed value, ours in bold, and the verdict. \
                    Quick version: 1 of 2 data sets.}";
        assert!(paper.latex().contains(said), "{}", paper.latex());
        assert!(
            paper
                .markdown("T")
                .starts_with("### T (quick version)\n\nS. Ours: nested. Quick version: 1 of 2 data sets.\n")
        );
    }
}
