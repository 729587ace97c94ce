//! Pieces of text files: what is a number, what is a missing value, what is not text at all, and how messages quote a
//! piece.

use std::io::{self, BufRead, Read};

use super::compress::Refusal;
use bagwise_core::{Error, Message, Place, Result, Setting};

/// The largest whole number up to which double precision holds all of them.
pub(crate) const WHOLE: u64 = 1 << 53;

/// Bytes that one row may have.
pub(crate) const MAX_ROW: usize = 8_000_000;

/// What is wrong and what would be valid; the caller adds the place.
pub(crate) type ParseProblem = (String, Message);

/// What a parser that does not know its place returns.
pub(crate) type Parsed<T> = Result<T, ParseProblem>;

/// Something is wrong.
pub(crate) fn wrong<T>(found: impl Into<String>, remedy: impl Into<Message>) -> Parsed<T> {
    Err((found.into(), remedy.into()))
}

/// A file that contradicts itself.
pub(crate) fn damaged<T>(what: &str) -> Parsed<T> {
    wrong(format!("the file is damaged: {what}"), "copy it or write it again")
}

/// A row that does not end.
pub(crate) fn too_long() -> io::Error {
    Refusal::error(
        format!("a row is longer than {} MB", MAX_ROW / 1_000_000),
        "is a quotation mark not closed, or is this not a table? For very many features, use the sparse format `bag \
         label index:value …`",
    )
}

/// Reads a line; false at the end.
pub(crate) fn next_line(input: &mut impl BufRead, line: &mut Vec<u8>) -> io::Result<bool> {
    line.clear();
    let read = input.by_ref().take(MAX_ROW as u64 + 1).read_until(b'\n', line)?;
    if read > MAX_ROW {
        return Err(too_long());
    }
    Ok(read > 0)
}

/// What the first bytes say: the text without its byte order mark, or why it is no text.
pub(crate) fn check_head<'h>(source: &str, head: &'h [u8]) -> Result<&'h [u8]> {
    let refuse = |found: &str, remedy: &str| Err(Error::data(Place::of(source), found, remedy));
    let text = head.strip_prefix(b"\xef\xbb\xbf").unwrap_or(head);
    if text.trim_ascii().is_empty() {
        return refuse("the file is empty", "give a table with one row per instance");
    }
    if head.starts_with(b"\xff\xfe") || head.starts_with(b"\xfe\xff") {
        return refuse("the file is UTF-16 text", "save the table as UTF-8");
    }
    if head.starts_with(b"PK\x03\x04") {
        return refuse("the file is a zip archive or a spreadsheet", "save the table as CSV and read that");
    }
    if head.contains(&0) {
        return Err(Error::data(
            Place::of(source),
            "the file is not a text table: it contains zero bytes",
            Message::from("give CSV in UTF-8, or name the format").with([Setting::InputFormat]),
        ));
    }
    if text.contains(&b'\r') && !text.contains(&b'\n') {
        return refuse(
            "its lines end with carriage returns only",
            "save the table with line feeds (LF or CRLF)",
        );
    }
    Ok(text)
}

/// The number a cell holds; may be infinite, never NaN.
pub(crate) fn number(text: &[u8]) -> Option<f64> {
    if let [digit @ b'0'..=b'9'] = text {
        return Some(f64::from(digit - b'0')); // most cells of a table of counts
    }
    let parse = |text: &[u8]| std::str::from_utf8(text).ok()?.parse::<f64>().ok().filter(|v| !v.is_nan());
    parse(text).or_else(|| match unsigned(text) {
        // Typeset tables have a minus of their own.
        (true, digits @ [b'0'..=b'9' | b'.', ..]) => parse(digits).map(|v| -v),
        _ => None,
    })
}

/// Whether a number has a minus, and what follows its sign.
fn unsigned(text: &[u8]) -> (bool, &[u8]) {
    let minus = text.strip_prefix(b"-").or_else(|| text.strip_prefix("\u{2212}".as_bytes()));
    (minus.is_some(), minus.or_else(|| text.strip_prefix(b"+")).unwrap_or(text))
}

/// True if a whole number in text is another one in double precision.
pub(crate) fn is_rounded(text: &[u8], value: f64) -> bool {
    let (_, digits) = unsigned(text);
    // All numbers of 15 digits are exact.
    if digits.len() <= 15 || !digits.iter().all(u8::is_ascii_digit) {
        return false;
    }
    let first = digits.iter().position(|&b| b != b'0').unwrap_or(digits.len() - 1);
    format!("{:.0}", value.abs()).as_bytes() != &digits[first..]
}

/// What to do about a whole number that double precision does not hold.
pub(crate) fn rounded_remedy() -> Message {
    Message::from("numbers this large are usually ids; copy the column to the results")
        .with([Setting::Keep])
        .or("leave it out")
        .with([Setting::Ignore(None)])
}

/// The ways to write that there is no value, in any column: nothing, `?`, `NA`; `NaN`, `N/A` and `NULL` in any case;
/// `NaT` and `<NA>` of pandas; the errors of spreadsheets, whatever their language.
pub(crate) fn is_missing(text: &[u8]) -> bool {
    // Nearly every cell is longer or starts with a digit or sign, so this costs one comparison.
    match text {
        [] | b"?" | b"NA" | b"NaT" | b"<NA>" => true,
        [b'n' | b'N', ..] => [&b"nan"[..], b"n/a", b"null"].iter().any(|m| text.eq_ignore_ascii_case(m)),
        [b'+' | b'-', rest @ ..] => rest.eq_ignore_ascii_case(b"nan"),
        [b'#', .., b'!' | b'?'] => true,
        [b'#', ..] => [&b"#N/A"[..], b"#N/A N/A", b"#NA", b"#NV", b"#N/D", b"#N/B"].contains(&text),
        _ => false,
    }
}

/// Whether this is how spreadsheets show a number of twelve digits or more, `2.02003E+12`: its last digits are lost, so as a name it may
/// be that of several things. Other programs write six digits or more behind the point, or a small e.
pub(crate) fn is_rounded_name(text: &[u8]) -> bool {
    let [b'1'..=b'9', b'.' | b',', rest @ ..] = text else { return false };
    let digits = rest.iter().take_while(|c| c.is_ascii_digit()).count();
    match &rest[digits..] {
        [b'E', b'+', tens @ b'1'..=b'9', ones @ b'0'..=b'9'] => digits <= 5 && (*tens, *ones) > (b'1', b'0'),
        _ => false,
    }
}

/// Texts that stand for no value.
#[derive(Clone, Debug, Default)]
pub(crate) struct Markers {
    /// Those that the user named, and which of them are numbers.
    texts: Vec<String>,
    numbers: Vec<f64>,
}

impl Markers {
    /// The usual ones and these.
    pub(crate) fn new(more: &[String]) -> Markers {
        let texts: Vec<String> = more.iter().map(|text| text.trim().to_string()).collect();
        let numbers = texts.iter().filter_map(|text| number(text.as_bytes())).collect();
        Markers { texts, numbers }
    }

    /// True if a text stands for no value in any column.
    pub(crate) fn missing(&self, text: &[u8]) -> bool {
        self.missing_as(text, number)
    }

    /// The same where `value` says which number a text is.
    pub(crate) fn missing_as(&self, text: &[u8], value: impl Fn(&[u8]) -> Option<f64>) -> bool {
        is_missing(text) || (!self.texts.is_empty() && self.is_named(text, value))
    }

    fn is_named(&self, text: &[u8], value: impl Fn(&[u8]) -> Option<f64>) -> bool {
        self.texts.iter().any(|named| named.as_bytes() == text)
            || !self.numbers.is_empty() && value(text).is_some_and(|value| self.numbers.contains(&value))
    }

    /// Refuses a marker that sparse data cannot have: most of their zeros are not in the file.
    pub(crate) fn check_sparse(&self, source: &str) -> Result<()> {
        if !self.is_number(0.0) {
            return Ok(());
        }
        Err(Error::data(
            Place::of(source),
            "0 cannot mark missing values in sparse data, where every value that is not in the file is 0",
            Message::from("use other markers")
                .with([Setting::MissingValues(None)])
                .or("give the data in a dense format, such as CSV"),
        ))
    }

    /// True if no number stands for no value.
    pub(crate) fn has_no_number(&self) -> bool {
        self.numbers.is_empty()
    }

    /// True if a number stands for no value.
    pub(crate) fn is_number(&self, value: f64) -> bool {
        self.numbers.contains(&value)
    }

    /// The same in single precision, where -999.9 is another number.
    pub(crate) fn is_single(&self, value: f32) -> bool {
        // Not every number that is too large is infinite.
        self.is_number(value.into()) || value.is_finite() && self.numbers.iter().any(|&n| n as f32 == value)
    }

    /// True if a text stands for no value in a column of numbers. In one of text it is a category: strands are + and -.
    pub(crate) fn perhaps(text: &[u8]) -> bool {
        const TEXTS: [&[u8]; 10] =
            [b"-", b"--", b".", b"None", b"none", b"na", b"n.a.", b"N.A.", b"\xe2\x80\x93", b"\xe2\x80\x94"];
        matches!(text, [b'-' | b'.' | b'N' | b'n' | 0xe2, ..] if text.len() <= 4 && TEXTS.contains(&text))
    }
}

/// A piece of a file as text.
pub(crate) fn utf8<'t>(source: &str, line: u64, text: &'t [u8]) -> Result<&'t str> {
    std::str::from_utf8(text).map_err(|_| {
        Error::data(
            Place::line(source, line),
            format!("'{}' is not UTF-8 text", shown(text)),
            Message::from("save the table as UTF-8, or specify its encoding").with([Setting::Encoding]),
        )
    })
}

/// A cell as a message shows it: readable and short.
pub(crate) fn shown(text: &[u8]) -> String {
    const SHOWN: usize = 40;
    let text = String::from_utf8_lossy(&text[..text.len().min(4 * SHOWN)]);
    let mut short: String =
        text.chars().map(|c| if c.is_control() { '\u{fffd}' } else { c }).take(SHOWN).collect();
    if text.chars().count() > SHOWN {
        short.push('…');
    }
    short
}
