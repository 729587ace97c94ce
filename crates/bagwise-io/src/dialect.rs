//! How a table of text is written: what separates its cells, its decimal mark and what groups the digits of
//! large numbers. What the user does not say is found in the first kilobytes, and every guess that is not the plain form
//! (UTF-8, commas, decimal points) is told once.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use super::encoding::Encoding;
use super::text::{Markers, number, shown};
use bagwise_core::{Error, Message, Result, Setting};

/// What separates cells, as a user writes it: a character, or a word for one that is hard to type.
pub fn delimiter(text: &str) -> Result<char> {
    let mut chars = text.chars();
    match (text, chars.next(), chars.next()) {
        ("tab" | "\\t", ..) => Ok('\t'),
        ("space", ..) => Ok(' '),
        ("comma", ..) => Ok(','),
        ("semicolon", ..) => Ok(';'),
        (_, Some(one), None) if one.is_ascii() && !matches!(one, '"' | '\n' | '\r') => Ok(one),
        _ => Err(Error::Invalid(format!(
            "'{text}' cannot be a column separator; use one character, tab or space"
        ))),
    }
}

/// The decimal mark, as a user writes it.
pub fn decimal(text: &str) -> Result<char> {
    match text {
        "." | "point" => Ok('.'),
        "," | "comma" => Ok(','),
        _ => Err(Error::Invalid(format!("'{text}' is not a decimal separator; use . or ,"))),
    }
}

/// What groups digits, as a user writes it.
pub fn thousands(text: &str) -> Result<char> {
    match text {
        "." | "point" => Ok('.'),
        "," | "comma" => Ok(','),
        " " | "space" => Ok(' '),
        "'" | "apostrophe" => Ok('\''),
        _ => {
            let found = format!(
                "'{text}' is not a thousands separator; use a comma, a point, a space or an apostrophe"
            );
            Err(Error::Invalid(found))
        }
    }
}

/// How numbers are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Numbers {
    decimal: char,
    /// What groups digits by threes. A space stands for those that do not break too, an apostrophe for both.
    thousands: Option<char>,
}

/// The ways that are looked for, the plainest first.
const WAYS: [Numbers; 8] = [
    Numbers::PLAIN,
    Numbers { decimal: ',', thousands: None },
    Numbers { decimal: '.', thousands: Some(',') },
    Numbers { decimal: ',', thousands: Some('.') },
    Numbers { decimal: '.', thousands: Some(' ') },
    Numbers { decimal: ',', thousands: Some(' ') },
    Numbers { decimal: '.', thousands: Some('\'') },
    Numbers { decimal: ',', thousands: Some('\'') },
];

impl Numbers {
    /// Decimal points, digits not grouped.
    pub(crate) const PLAIN: Numbers = Numbers { decimal: '.', thousands: None };

    /// The number a cell holds; may be infinite, never NaN.
    pub(crate) fn value(self, text: &[u8]) -> Option<f64> {
        if self == Numbers::PLAIN { number(text) } else { number(self.plain(text)?.as_bytes()) }
    }

    /// A number in the plain form; none if it is no number.
    pub(crate) fn plain(self, text: &[u8]) -> Option<Cow<'_, str>> {
        let text = std::str::from_utf8(text).ok()?;
        if self == Numbers::PLAIN {
            return number(text.as_bytes()).map(|_| Cow::Borrowed(text));
        }
        let unsigned = text.strip_prefix(['-', '+', '\u{2212}']).unwrap_or(text);
        let sign = if text.starts_with(['-', '\u{2212}']) { "-" } else { "" };
        let (mantissa, exponent) = match unsigned.find(['e', 'E']) {
            Some(at) => unsigned.split_at(at),
            None => (unsigned, ""),
        };
        let digits = |text: &str| text.bytes().all(|b| b.is_ascii_digit());
        let power = exponent.get(1..).unwrap_or_default();
        let power_digits = power.strip_prefix(['-', '+']).unwrap_or(power);
        if !digits(power_digits) || exponent.len() == 1 {
            return None;
        }
        let (whole, fraction) = mantissa.split_once(self.decimal).unwrap_or((mantissa, ""));
        let whole = match self.thousands {
            _ if digits(whole) => whole.to_string(),
            // Nobody groups the digits before a power of ten: 1,288E+00 has a decimal comma.
            Some(mark) if exponent.is_empty() => ungroup(whole, mark)?,
            _ => return None,
        };
        if !digits(fraction) || whole.len() + fraction.len() == 0 {
            return None;
        }
        let whole = if whole.is_empty() { "0" } else { &whole };
        let point = if fraction.is_empty() { "" } else { "." };
        Some(Cow::Owned(format!("{sign}{whole}{point}{fraction}{exponent}")))
    }

    /// What a text would be whose points or commas mean something else than they do here.
    pub(crate) fn other_mark(self, text: &[u8]) -> Option<OtherMark> {
        let (mark, name) = if self == Numbers::PLAIN { (b',', "comma") } else { (b'.', "point") };
        if !text.contains(&mark) {
            return None;
        }
        let changed = |by: Option<u8>| -> Option<String> {
            let changed: Vec<u8> =
                text.iter().filter_map(|&b| if b == mark { by } else { Some(b) }).collect();
            number(&changed).map(|_| shown(&changed))
        };
        let decimal = changed(Some(b'.'));
        let whole = if is_grouped(text, mark) { changed(None) } else { None };
        (decimal.is_some() || whole.is_some()).then_some(OtherMark { name, whole, decimal })
    }

    /// The way that the cells of some rows are written, as far as they tell, and whether the plain way is a guess.
    fn find(
        cells: impl Iterator<Item = (usize, Vec<u8>)>,
        allowed: impl Fn(Numbers) -> bool,
    ) -> Option<FoundNumbers> {
        let ways: Vec<Numbers> = WAYS.into_iter().filter(|&w| allowed(w)).collect();
        // For each column: cells in all, and for each way those that are numbers, with a sum that tells values apart.
        let mut columns: Vec<(usize, Vec<(usize, u64)>)> = Vec::new();
        let mut groups: Vec<GroupedDigits> = ways.iter().map(|_| GroupedDigits::default()).collect();
        for (column, cell) in cells {
            if column >= columns.len() {
                columns.resize(column + 1, (0, vec![(0, 0); ways.len()]));
            }
            let (all, each) = &mut columns[column];
            *all += 1;
            match same_in_every_way(&cell) {
                Some(None) => continue,
                Some(Some(value)) => {
                    for (count, sum) in each {
                        *count += 1;
                        *sum = sum.rotate_left(7) ^ value.to_bits();
                    }
                    continue;
                }
                None => {}
            }
            for ((&way, (count, sum)), groups) in ways.iter().zip(each).zip(&mut groups) {
                if let Some(value) = way.value(&cell) {
                    groups.see(way, column, &cell);
                    *count += 1;
                    *sum = sum.rotate_left(7) ^ value.to_bits();
                }
            }
        }
        let mut possible = vec![true; ways.len()];
        let mut sums: Vec<Vec<u64>> = Vec::new();
        for (all, each) in &columns {
            let most = each.iter().map(|(count, _)| *count).max().unwrap_or(0);
            // A column of numbers may have a slip or two, one of text a cell that looks like a number.
            if most == 0 || most * 5 < all * 4 {
                continue;
            }
            possible.iter_mut().zip(each).for_each(|(is, (count, _))| *is &= *count == most);
            sums.push(each.iter().map(|(_, sum)| *sum).collect());
        }
        let chosen = possible.iter().position(|&is| is)?;
        let differs = |way: usize| sums.iter().any(|column| column[way] != column[chosen]);
        let in_doubt = (0..ways.len()).any(|way| possible[way] && differs(way));
        Some(FoundNumbers { numbers: ways[chosen], in_doubt, slip: groups.swap_remove(chosen).slip() })
    }
}

/// The number that a cell is however numbers are written, or that it is none; nothing if that depends. Most cells are like
/// this, and need not be looked at in eight ways.
fn same_in_every_way(cell: &[u8]) -> Option<Option<f64>> {
    match cell {
        [b'0'..=b'9', rest @ ..] if rest.iter().all(u8::is_ascii_digit) => number(cell).map(Some),
        // Infinity and what is not a number begin with these.
        [b'i' | b'I' | b'n' | b'N', ..] => None,
        [b'a'..=b'z' | b'A'..=b'Z', ..] => Some(None),
        _ => None,
    }
}

/// A text that is no number of its table, but would be one if a point or comma meant something else.
pub(crate) struct OtherMark {
    /// A comma or a point.
    name: &'static str,
    /// The number, if the mark separates thousands.
    whole: Option<String>,
    /// The number with a decimal point, if the mark is decimal.
    decimal: Option<String>,
}

impl OtherMark {
    /// True if the mark can only separate thousands.
    pub(crate) fn is_only_thousands(&self) -> bool {
        self.decimal.is_none()
    }

    /// What is wrong with the text that `what` names.
    pub(crate) fn found(&self, what: &str) -> String {
        let decimal = if self.whole.is_none() { "decimal " } else { "" };
        format!("{what} has a {decimal}{}", self.name)
    }

    /// What would be valid. `before` says why, where the mark can only be decimal.
    pub(crate) fn remedy(&self, before: &str) -> Message {
        match (&self.whole, &self.decimal) {
            (Some(whole), Some(decimal)) => {
                Message::from(format!("it is {whole} if that is a thousands separator: specify it"))
                    .with([Setting::Thousands])
                    .or(format!("{decimal} if it is a decimal separator: specify it"))
                    .with([Setting::Decimal])
            }
            (Some(whole), None) => {
                Message::from(format!("if it is a thousands separator ({whole}), specify it"))
                    .with([Setting::Thousands])
            }
            (None, decimal) => {
                let plain = decimal.as_deref().unwrap_or_default();
                // As the rest of the table is written.
                let write = if self.name == "point" { plain.replace('.', ",") } else { plain.into() };
                Message::from(format!("{before}write {write}"))
                    .or("specify the decimal separator")
                    .with([Setting::Decimal])
            }
        }
    }
}

/// True for 1,000 and -12,345,678: what might be thousands.
fn is_grouped(text: &[u8], mark: u8) -> bool {
    let unsigned = text.strip_prefix(b"-").or_else(|| text.strip_prefix(b"+")).unwrap_or(text);
    let mut groups = unsigned.split(|&b| b == mark);
    let digits = |group: &[u8]| group.iter().all(u8::is_ascii_digit);
    let first = groups.next().unwrap_or_default();
    let mut more = groups.peekable();
    more.peek().is_some()
        && (1..=3).contains(&first.len())
        && digits(first)
        && first[0] != b'0'
        && more.all(|group| group.len() == 3 && digits(group))
}

struct FoundNumbers {
    numbers: Numbers,
    /// Another way gives other values.
    in_doubt: bool,
    /// A cell like 372.442 in a column of cells like 372,442.
    slip: Option<String>,
}

/// What cells with grouped digits say about one way of writing numbers.
#[derive(Default)]
struct GroupedDigits {
    /// Whether a number can only be meant this way: 1.234,5 or 1.234.567.
    is_sure: bool,
    /// The columns that have a number with decimals.
    with_decimals: BTreeSet<usize>,
    /// In each column the first number with one mark and no decimals.
    alone: BTreeMap<usize, String>,
}

impl GroupedDigits {
    /// Looks at a cell that is a number this way.
    fn see(&mut self, way: Numbers, column: usize, cell: &[u8]) {
        // Other marks are no decimal separators anywhere.
        let (Some(mark @ ('.' | ',')), Ok(text)) = (way.thousands, std::str::from_utf8(cell)) else { return };
        let (marks, decimals) = (text.matches(mark).count(), text.contains(way.decimal));
        self.is_sure |= marks > 1 || marks == 1 && decimals;
        if decimals {
            self.with_decimals.insert(column);
        } else if marks == 1 {
            self.alone.entry(column).or_insert_with(|| text.to_string());
        }
    }

    /// A number whose mark is more likely another decimal separator: its column has decimals, and nothing in the table has grouped
    /// digits for certain.
    fn slip(self) -> Option<String> {
        let in_doubt = |(column, _): &(usize, String)| self.with_decimals.contains(column);
        if self.is_sure { None } else { self.alone.into_iter().find(in_doubt).map(|(_, text)| text) }
    }
}

/// Digits without the marks between groups of three.
fn ungroup(text: &str, mark: char) -> Option<String> {
    let is_mark = |c: char| match mark {
        ' ' => matches!(c, ' ' | '\u{a0}' | '\u{202f}' | '\u{2009}'),
        '\'' => matches!(c, '\'' | '’'),
        mark => c == mark,
    };
    let mut groups = text.split(is_mark);
    let first = groups.next().filter(|g| (1..=3).contains(&g.len()))?;
    let mut out = first.to_string();
    for group in groups {
        // Nobody writes 63 as 0,063.
        if group.len() != 3 || first.starts_with('0') {
            return None;
        }
        out.push_str(group);
    }
    out.bytes().all(|b| b.is_ascii_digit()).then_some(out)
}

/// Everything about how a table is written.
pub(crate) struct Dialect {
    pub(crate) delimiter: u8,
    pub(crate) numbers: Numbers,
    /// What was guessed.
    pub(crate) notes: Vec<Message>,
    /// True if all numbers are like 1.234 and semicolons separate them: in some countries that is 1234.
    pub(crate) in_doubt: bool,
    /// A number with the other decimal separator than its column, or with grouped digits.
    pub(crate) slip: Option<String>,
}

/// What the user said.
pub(crate) struct DialectOptions {
    pub(crate) delimiter: Option<u8>,
    pub(crate) decimal: Option<char>,
    pub(crate) thousands: Option<char>,
    pub(crate) markers: Markers,
}

impl Dialect {
    /// Of a table that begins like this. `encoding` is the one that was guessed, if it was not UTF-8.
    pub(crate) fn find(text: &[u8], told: &DialectOptions, encoding: Option<Encoding>) -> Dialect {
        let mut notes: Vec<(&str, Setting)> = Vec::new();
        match encoding {
            Some(Encoding::Windows1252) => {
                notes.push(("cp1252 (Windows) text, because it is not UTF-8", Setting::Encoding));
            }
            Some(Encoding::Utf16) => notes.push(("UTF-16 text", Setting::Encoding)),
            _ => {}
        }
        let delimiter = told.delimiter.unwrap_or_else(|| find_delimiter(text));
        if told.delimiter.is_none() {
            match delimiter {
                b';' => notes.push(("semicolons between columns", Setting::Delimiter)),
                b'\t' => notes.push(("tabs between columns", Setting::Delimiter)),
                b'|' => notes.push(("bars between columns", Setting::Delimiter)),
                _ => {}
            }
        }
        let allowed = |way: Numbers| {
            told.decimal.is_none_or(|d| d == way.decimal)
                && told.thousands.is_none_or(|t| Some(t) == way.thousands)
        };
        let found = Numbers::find(sample(text, delimiter, &told.markers), allowed);
        let given = Numbers {
            decimal: told.decimal.unwrap_or(if told.thousands == Some('.') { ',' } else { '.' }),
            thousands: told.thousands,
        };
        let mut numbers = given;
        let slip =
            found.as_ref().filter(|f| !f.in_doubt && told.thousands.is_none()).and_then(|f| f.slip.clone());
        match &found {
            Some(found) if !found.in_doubt && found.numbers != given => {
                numbers = found.numbers;
                if told.decimal.is_none() && numbers.decimal == ',' {
                    notes.push(("decimal commas", Setting::Decimal));
                }
                match numbers.thousands.filter(|_| told.thousands.is_none()) {
                    Some(',') => notes.push(("commas between thousands", Setting::Thousands)),
                    Some('.') => notes.push(("points between thousands", Setting::Thousands)),
                    Some(' ') => notes.push(("spaces between thousands", Setting::Thousands)),
                    Some(_) => notes.push(("apostrophes between thousands", Setting::Thousands)),
                    None => {}
                }
            }
            _ => {}
        }
        // Elsewhere points are decimal: programs that write commas or tabs between cells do not group digits by points.
        let in_doubt = delimiter == b';' && found.is_some_and(|f| f.in_doubt && f.numbers == Numbers::PLAIN);
        let notes = match notes.split_last() {
            None => Vec::new(),
            Some((last, before)) => {
                let mut list = before.iter().map(|(what, _)| *what).collect::<Vec<_>>().join(", ");
                list += if before.is_empty() { "" } else { " and " };
                let settings: Vec<Setting> = notes.iter().map(|(_, setting)| setting.clone()).collect();
                vec![
                    Message::from(format!("read with {list}{}", last.0))
                        .and("; if that is wrong, override it")
                        .with(settings),
                ]
            }
        };
        Dialect { delimiter, numbers, notes, in_doubt, slip }
    }
}

/// The cells of the rows that stand whole in the beginning of a file, with their columns.
fn sample(text: &[u8], delimiter: u8, markers: &Markers) -> impl Iterator<Item = (usize, Vec<u8>)> {
    const ROWS: usize = 2000;
    let end = text.iter().rposition(|&b| b == b'\n').map_or(text.len(), |at| at + 1);
    let mut rows: Vec<csv::ByteRecord> = csv::ReaderBuilder::new()
        .delimiter(delimiter)
        .has_headers(false)
        .flexible(true)
        .from_reader(&text[..end])
        .into_byte_records()
        .map_while(|row| row.ok())
        .take(ROWS)
        .collect();
    // It may be a heading.
    if rows.len() > 1 {
        rows.remove(0);
    }
    rows.into_iter()
        .flat_map(|row| {
            let cells: Vec<Vec<u8>> = row.iter().map(|cell| cell.trim_ascii().to_vec()).collect();
            cells.into_iter().enumerate()
        })
        .filter(|(_, cell)| !markers.missing(cell) && !Markers::perhaps(cell))
}

/// The delimiter of the first row. Decimal commas are fewer than the semicolons around them.
fn find_delimiter(text: &[u8]) -> u8 {
    const MARKS: [u8; 4] = *b",\t;|";
    let (mut quoted, mut counts) = (false, [0usize; 4]);
    for &byte in text {
        match byte {
            b'"' => quoted = !quoted,
            _ if quoted => {}
            b'\n' if counts.iter().any(|&n| n > 0) => break,
            _ => {
                if let Some(mark) = MARKS.iter().position(|&m| m == byte) {
                    counts[mark] += 1;
                }
            }
        }
    }
    // A bar may stand inside a name: it counts only where nothing else separates.
    let [commas, tabs, semicolons, bars] = counts;
    match () {
        () if tabs > commas && tabs > semicolons => b'\t',
        () if semicolons > commas => b';',
        () if commas == 0 && tabs == 0 && bars > 0 => b'|',
        () => b',',
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn way(decimal: char, thousands: Option<char>) -> Numbers {
        Numbers { decimal, thousands }
    }

    #[test]
    fn numbers_have_one_value_in_each_way() {
        let german = way(',', Some('.'));
        for (text, value) in [
            ("1,5", Some(1.5)),
            ("-1.234,5", Some(-1234.5)),
            ("1.234", Some(1234.0)),
            ("1234", Some(1234.0)),
            ("1,5E+3", Some(1500.0)),
            ("+,5", Some(0.5)),
            ("5,", Some(5.0)),
            ("1.5", None),
            ("1.2345", None),
            ("1,234,5", None),
            (",", None),
            ("-", None),
            ("1,5e", None),
            ("1..234", None),
            ("1.288E+00", None),
            ("\u{2212}1,5", Some(-1.5)),
            ("", None),
        ] {
            assert_eq!(german.value(text.as_bytes()), value, "{text}");
        }
        assert_eq!(way(',', None).value(b"1.5"), None);
        assert_eq!(way('.', Some(' ')).value("12\u{a0}345.5".as_bytes()), Some(12345.5));
        assert_eq!(way('.', Some('\'')).value(b"1'000'000"), Some(1e6));
        assert_eq!(way('.', Some(',')).value(b"1,000.25"), Some(1000.25));
    }

    #[test]
    fn what_is_the_same_in_every_way_is() {
        let cells =
            ["7", "007", "12345678901234567890", "e5", "E", "x,y", "a1", "exp", "mol_1.5", "Zebra", ""];
        let more = ["inf", "nan", "1e5", "1.5", "1,5", "-3", "+3", "9 000", "infinity", "Norm", "ä", "1a"];
        let mut known = 0;
        for cell in cells.iter().chain(&more).map(|cell| cell.as_bytes()) {
            let Some(value) = same_in_every_way(cell) else { continue };
            known += 1;
            assert!(WAYS.iter().all(|way| way.value(cell) == value), "{cell:?}");
        }
        assert_eq!(known, 10);
    }

    fn find(text: &str) -> Option<FoundNumbers> {
        let cells =
            text.split('\n').flat_map(|row| row.split(';').map(|c| c.as_bytes().to_vec()).enumerate());
        Numbers::find(cells, |_| true)
    }

    fn found(text: &str) -> Option<(char, Option<char>)> {
        let found = find(text)?;
        (!found.in_doubt).then_some((found.numbers.decimal, found.numbers.thousands))
    }

    #[test]
    fn the_way_of_numbers_is_found_where_the_cells_tell() {
        assert_eq!(found("a;1;2\nb;3;4"), Some(('.', None)));
        assert_eq!(found("a;1,5;2"), Some((',', None)));
        assert_eq!(found("a;1,5;1.234"), Some((',', Some('.'))));
        assert_eq!(found("a;0.5;1,234"), Some(('.', Some(','))));
        assert_eq!(found("a;12 345,6"), Some((',', Some(' '))));
        assert_eq!(found("a;1'234.5"), Some(('.', Some('\''))));
        // A group of digits before others does not begin with 0.
        assert_eq!(found("a;0,063"), Some((',', None)));
        assert_eq!(found("a;0,063\nb;12,345"), Some((',', None)));
        assert_eq!(found("a;0.063\nb;12.345"), Some(('.', None)));
        assert_eq!(found("a;1,288E+00\nb;2,345E-01"), Some((',', None)));
        // One or a thousand times as much.
        assert_eq!(found("a;1,234"), None);
        // Both cannot be.
        assert_eq!(found("a;1,5;2.5"), None);
        let slip = |text: &str| find(text).and_then(|found| found.slip);
        // A point in a column of decimal commas is a slip, unless another number shows that digits are grouped.
        assert_eq!(slip("a;372,4\nb;372.442"), Some("372.442".into()));
        assert_eq!(slip("a;372.4\nb;372,442"), Some("372,442".into()));
        assert_eq!(slip("a;372,4;1\nb;372.442;2.345,5"), None);
        assert_eq!(slip("a;372,4;1\nb;372,442;2.345"), None);
        assert_eq!(slip("a;372,4\nb;1'372"), None);
        assert_eq!(found("a;x,y"), Some(('.', None)));
    }
}
