//! The only file that prints. Results go to stdout as a text table, JSON or CSV; everything else goes to stderr. A
//! closed pipe (`bagwise … | head`) is not an error. Colour appears only on terminals, and never if `NO_COLOR` is set.

use std::io::{ErrorKind, IsTerminal as _, Write as _};

use anyhow::{Context as _, Result};
use bagwise::io::csv_safe;
use bagwise::{CarriedColumn, Setting};
use comfy_table::{CellAlignment, LineStyle, TableStyle};

use crate::args::Format;

/// The names of kept columns beside those that the output has of its `own`: one that is taken gets "given " before it.
pub(crate) fn kept_names<'k>(
    kept: impl IntoIterator<Item = &'k CarriedColumn>,
    own: impl Fn(&str) -> bool,
) -> Vec<String> {
    let names: Vec<&str> = kept.into_iter().map(|column| column.name.as_str()).collect();
    let shown = |name: &&str| {
        let mut shown = name.to_string();
        while own(&shown) || (shown != *name && names.contains(&shown.as_str())) {
            shown = format!("given {shown}");
        }
        shown
    };
    names.iter().map(shown).collect()
}

/// The exit code of a run that is done, with failed fits.
pub(crate) const FAILED_FITS: u8 = 1;
/// The exit code of a run that could not start.
pub(crate) const COULD_NOT_START: u8 = 2;
/// The exit code of a run that Ctrl-C ended, as shells count it.
pub(crate) const INTERRUPTED: u8 = 130;

/// A result that can be printed.
pub(crate) trait Output {
    /// For programs: everything. `serde_json::to_string_pretty` of a struct keeps the order of its fields.
    fn json(&self) -> Result<String>;
    /// For spreadsheets: the rows that matter most.
    fn csv(&self) -> Rows;
    /// For maps, where the result has coordinates.
    fn geojson(&self) -> Result<String> {
        anyhow::bail!("this result has no coordinates; --format geojson is for bagwise explain")
    }
    /// The rows for people: those of `csv`, unless they are rounded.
    fn text_rows(&self) -> Rows {
        self.csv()
    }
    /// For people. The rows, unless there is something better.
    fn text(&self, _paint: Style) -> String {
        self.text_rows().to_string()
    }
}

/// A JSON object whose keys keep the order they were put in.
#[derive(Default)]
pub(crate) struct Object(Vec<(String, Field)>);

/// What stands under a key.
enum Field {
    Value(serde_json::Value),
    Object(Object),
    List(Vec<Object>),
}

impl Object {
    /// Adds a key behind those that are there.
    pub(crate) fn put(&mut self, key: impl Into<String>, value: impl serde::Serialize) -> &mut Object {
        // What bagwise prints is numbers, texts and lists of them; a number that is not finite becomes null.
        let value = serde_json::to_value(value).unwrap_or_default();
        self.0.push((key.into(), Field::Value(value)));
        self
    }

    /// Adds an object.
    pub(crate) fn put_object(&mut self, key: impl Into<String>, value: Object) -> &mut Object {
        self.0.push((key.into(), Field::Object(value)));
        self
    }

    /// Adds a list of objects.
    pub(crate) fn put_list(&mut self, key: impl Into<String>, value: Vec<Object>) -> &mut Object {
        self.0.push((key.into(), Field::List(value)));
        self
    }
}

impl serde::Serialize for Object {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|(key, value)| (key, value)))
    }
}

impl serde::Serialize for Field {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Field::Value(value) => value.serialize(serializer),
            Field::Object(object) => object.serialize(serializer),
            Field::List(objects) => objects.serialize(serializer),
        }
    }
}

/// How numbers are written: in full for programs, rounded for people.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Digits {
    /// So that the same number is read back.
    All,
    /// So many behind the point.
    Few(usize),
}

impl Digits {
    /// The number; nothing if there is none.
    pub(crate) fn show(self, value: Option<f64>) -> String {
        match (value, self) {
            (None, _) => String::new(),
            (Some(value), Digits::All) => value.to_string(),
            (Some(value), Digits::Few(digits)) => {
                let text = format!("{value:.digits$}");
                // What rounds to nothing has no sign.
                let nothing = text.starts_with('-') && text.bytes().all(|b| b"-0.".contains(&b));
                if nothing { text[1..].to_string() } else { text }
            }
        }
    }
}

/// A word as a shell takes it.
pub(crate) fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_alphanumeric() || "-_./:=,+@%^".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        word.into()
    } else {
        format!("'{}'", word.replace('\'', "'\\''"))
    }
}

/// A table: its header and its rows.
pub(crate) struct Rows {
    header: Vec<String>,
    rows: Vec<Vec<String>>,
}

impl Rows {
    /// A table without rows.
    pub(crate) fn new<S: Into<String>>(header: impl IntoIterator<Item = S>) -> Rows {
        Rows { header: header.into_iter().map(Into::into).collect(), rows: Vec::new() }
    }

    /// Adds a row.
    pub(crate) fn push(&mut self, row: Vec<String>) {
        debug_assert_eq!(row.len(), self.header.len());
        self.rows.push(row);
    }

    /// Adds the rows of a table with the same columns.
    pub(crate) fn append(&mut self, more: Rows) {
        debug_assert_eq!(self.header, more.header);
        self.rows.extend(more.rows);
    }

    /// As CSV, with the header or without; `safe` disarms what a spreadsheet would take for a formula.
    pub(crate) fn to_csv(&self, safe: bool, header: bool) -> Result<Vec<u8>> {
        let mut writer = csv::Writer::from_writer(Vec::new());
        for row in header.then_some(&self.header).into_iter().chain(&self.rows) {
            match safe {
                true => writer.write_record(row.iter().map(|cell| csv_safe(cell).into_owned()))?,
                false => writer.write_record(row)?,
            }
        }
        writer.into_inner().context("could not finish the table")
    }
}

/// A rule under the header, and space.
const RULED: TableStyle = TableStyle::new().header_separator(LineStyle::none().fill('─').junction('─'));

impl std::fmt::Display for Rows {
    /// Columns of numbers stand to the right.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mut table = comfy_table::Table::new();
        table.load_style(RULED).set_header(self.header.iter().map(|cell| visible(cell)));
        for row in &self.rows {
            table.add_row(row.iter().map(|cell| visible(cell)));
        }
        for (i, column) in table.column_iter_mut().enumerate() {
            let number = |row: &Vec<String>| row[i].is_empty() || row[i].parse::<f64>().is_ok();
            if self.rows.iter().all(number) {
                column.set_cell_alignment(CellAlignment::Right);
            }
        }
        for line in table.lines() {
            writeln!(f, "{}", line.trim_end())?;
        }
        Ok(())
    }
}

/// Prints a result in the format asked for.
pub(crate) fn print(result: &impl Output, format: Format, csv_safe: bool) -> Result<()> {
    to_stdout(&bytes(result, format, csv_safe)?)
}

/// A result in a format.
pub(crate) fn bytes(result: &impl Output, format: Format, csv_safe: bool) -> Result<Vec<u8>> {
    Ok(match format {
        Format::Table => printable(&result.text(Style::stdout())).into_bytes(),
        Format::Csv => result.csv().to_csv(csv_safe, true)?,
        Format::Json => (result.json()? + "\n").into_bytes(),
        Format::Geojson => (result.geojson()? + "\n").into_bytes(),
    })
}

/// Names come from files of anybody. What would command the terminal, or turn the direction of writing, is spelled out.
fn is_command(c: char) -> bool {
    c.is_control() || matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// A cell without such characters: `\u{1b}` for an escape, `\n` for the end of a line.
fn visible(cell: &str) -> String {
    cell.chars().map(|c| if is_command(c) { c.escape_default().to_string() } else { c.to_string() }).collect()
}

/// A text without such characters, but for the ends of its lines and the styles of [`Style`].
pub(crate) fn printable(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find(|c| is_command(c) && c != '\n') {
        let (plain, after) = rest.split_at(at);
        out += plain;
        let style = ["0", BOLD, RED, YELLOW].iter().map(|style| format!("\x1b[{style}m"));
        let length = match style.into_iter().find(|style| after.starts_with(style.as_str())) {
            Some(style) => {
                out += &style;
                style.len()
            }
            None => {
                let c = after.chars().next().expect("a character was found");
                out.extend(c.escape_default());
                c.len_utf8()
            }
        };
        rest = &after[length..];
    }
    out + rest
}

/// Writes to stdout.
pub(crate) fn to_stdout(bytes: &[u8]) -> Result<()> {
    let mut out = std::io::stdout().lock();
    match out.write_all(bytes).and_then(|()| out.flush()) {
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(()),
        other => other.context("could not write the result"),
    }
}

/// Writes a line to stderr. If that fails, there is nowhere left to report it.
pub(crate) fn to_stderr(line: &str) {
    let _ = writeln!(std::io::stderr().lock(), "{line}");
}

/// Prints an error as one message, its causes behind it and settings called as `wording` does, and gives the exit code.
pub(crate) fn failure(error: &anyhow::Error, wording: fn(&Setting) -> String) -> u8 {
    if let Some(bagwise::Error::Cancelled) = error.downcast_ref() {
        to_stderr("interrupted");
        return INTERRUPTED;
    }
    to_stderr(&format!("{} {}", paint_stderr("error:", RED), chain(error, wording)));
    COULD_NOT_START
}

/// The error and its causes on one line; a cause that the message before it already quotes is not repeated.
fn chain(error: &anyhow::Error, wording: fn(&Setting) -> String) -> String {
    let mut message = String::new();
    let said = |cause: &(dyn std::error::Error + 'static)| match cause.downcast_ref::<bagwise::Error>() {
        Some(error) => error.worded(&wording),
        None => cause.to_string(),
    };
    for cause in error.chain().map(said) {
        if message.is_empty() {
            message = cause;
        } else if !message.contains(&cause) {
            message.push_str(": ");
            message.push_str(&cause);
        }
    }
    // A message may quote the input, and the input may hold anything.
    message.chars().map(|c| if c.is_control() { '\u{fffd}' } else { c }).collect()
}

/// Bold.
pub(crate) const BOLD: &str = "1";
/// Red.
pub(crate) const RED: &str = "1;31";
/// Yellow.
pub(crate) const YELLOW: &str = "1;33";

/// Colour, where it is seen.
#[derive(Clone, Copy)]
pub(crate) struct Style(bool);

impl Style {
    /// No styles at all.
    pub(crate) const NONE: Style = Style(false);

    fn stdout() -> Style {
        Style(std::io::stdout().is_terminal() && colour_allowed())
    }

    /// The text in a style.
    pub(crate) fn paint(self, text: &str, style: &str) -> String {
        if self.0 { format!("\x1b[{style}m{text}\x1b[0m") } else { text.to_string() }
    }
}

/// The text in a style, if stderr shows it.
pub(crate) fn paint_stderr(text: &str, style: &str) -> String {
    Style(std::io::stderr().is_terminal() && colour_allowed()).paint(text, style)
}

fn colour_allowed() -> bool {
    let set = |name: &str| std::env::var_os(name).filter(|v| !v.is_empty());
    set("NO_COLOR").is_none() && set("TERM").is_none_or(|term| term != "dumb")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_stand_right_and_text_left() {
        let mut rows = Rows::new(["name", "n"]);
        rows.push(vec!["long name".into(), "5".into()]);
        rows.push(vec!["b".into(), "1234".into()]);
        let text = rows.to_string();
        assert!(text.contains(" long name      5") && text.contains(" b           1234"), "{text}");
    }

    #[test]
    fn an_error_is_one_line_and_says_nothing_twice() {
        let missing = std::io::Error::new(ErrorKind::NotFound, "no such file");
        let error = anyhow::Error::new(bagwise::Error::io("a.csv", missing)).context("reading\nthe table");
        assert_eq!(chain(&error, crate::wording::option), "reading\u{fffd}the table: a.csv: no such file");
    }

    #[test]
    fn csv_quotes_what_needs_it() {
        let mut rows = Rows::new(["a", "b"]);
        rows.push(vec!["x,y".into(), "say \"hi\"".into()]);
        assert_eq!(
            String::from_utf8(rows.to_csv(false, true).unwrap()).unwrap(),
            "a,b\n\"x,y\",\"say \"\"hi\"\"\"\n"
        );
    }
}
