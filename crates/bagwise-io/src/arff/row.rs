//! A row of ARFF: words, quotation marks and escapes, sparse rows and weights.

use std::borrow::Cow;

use crate::text::{Parsed, shown, wrong};

/// Splits a line: words (quoted ones unescaped), commas and braces; what follows an unquoted `%` is a comment.
pub(super) struct Tokens<'t> {
    text: &'t str,
    at: usize,
}

#[derive(Debug, PartialEq)]
pub(super) enum Token<'t> {
    Word(Cow<'t, str>),
    /// An unquoted question mark.
    Missing,
    Comma,
    Open,
    Close,
}

impl<'t> Tokens<'t> {
    pub(super) fn new(text: &'t str) -> Tokens<'t> {
        Tokens { text, at: 0 }
    }

    pub(super) fn next(&mut self) -> Parsed<Option<Token<'t>>> {
        let bytes = self.text.as_bytes();
        while bytes.get(self.at).is_some_and(|b| b.is_ascii_whitespace() || b.is_ascii_control()) {
            self.at += 1;
        }
        let start = self.at;
        let Some(&byte) = bytes.get(start) else { return Ok(None) };
        self.at += 1;
        Ok(Some(match byte {
            b'%' => {
                self.at = bytes.len();
                return Ok(None);
            }
            b',' => Token::Comma,
            b'{' => Token::Open,
            b'}' => Token::Close,
            b'"' | b'\'' => Token::Word(self.quoted(byte)?),
            _ => {
                let ends =
                    |b: &u8| matches!(b, b',' | b'{' | b'}' | b'%' | b'"' | b'\'') || b.is_ascii_whitespace();
                self.at = bytes[start..].iter().position(ends).map_or(bytes.len(), |n| start + n);
                match &self.text[start..self.at] {
                    "?" => Token::Missing,
                    word => Token::Word(Cow::Borrowed(word)),
                }
            }
        }))
    }

    /// The rest of a quoted word, behind its opening quotation mark.
    fn quoted(&mut self, mark: u8) -> Parsed<Cow<'t, str>> {
        let rest = &self.text[self.at..];
        let Some(end) = rest.bytes().position(|b| b == mark || b == b'\\') else {
            return wrong("a quotation mark is not closed", "is the line truncated?");
        };
        if rest.as_bytes()[end] == mark {
            self.at += end + 1;
            return Ok(Cow::Borrowed(&rest[..end]));
        }
        let mut word = String::new();
        let mut chars = rest.char_indices().peekable();
        while let Some((at, c)) = chars.next() {
            match c {
                c if c == char::from(mark) => {
                    self.at += at + 1;
                    return Ok(Cow::Owned(word));
                }
                '\\' => match chars.next().map(|(_, c)| c) {
                    Some('n') => word.push('\n'),
                    Some('t') => word.push('\t'),
                    Some('r') => word.push('\r'),
                    Some(c) => word.push(c),
                    None => break,
                },
                c => word.push(c),
            }
        }
        wrong("a quotation mark is not closed", "is the line truncated?")
    }
}

/// The value of a cell: text, nothing (`?`), or what a sparse row leaves out.
#[derive(Debug, PartialEq)]
pub(super) enum ArffCell<'t> {
    Text(Cow<'t, str>),
    Missing,
    Default,
}

/// The cells of a row, and whether it has a weight.
pub(super) fn cells<'t>(text: &'t str, width: usize) -> Parsed<(Vec<ArffCell<'t>>, bool)> {
    let mut tokens = Tokens::new(text);
    let mut cells = Vec::new();
    let value = |token: Option<Token<'t>>| match token {
        Some(Token::Word(word)) => Ok(ArffCell::Text(word)),
        Some(Token::Missing) => Ok(ArffCell::Missing),
        _ => wrong("a value is missing between commas", "write ? for a missing value"),
    };
    let mut first = tokens.next()?;
    if first == Some(Token::Open) {
        cells.resize_with(width, || ArffCell::Default);
        let mut last = None;
        loop {
            let index = match tokens.next()? {
                Some(Token::Close) => break,
                Some(Token::Comma) if last.is_some() => continue,
                Some(Token::Word(word)) => word,
                _ => return wrong("a sparse row has no index", "write {index value, index value, …}"),
            };
            let Some(at) = index.parse::<usize>().ok().filter(|&i| i < width) else {
                return wrong(
                    format!("'{}' is not a valid index in a sparse row", shown(index.as_bytes())),
                    format!("indices go from 0 to {}", width.saturating_sub(1)),
                );
            };
            if last.is_some_and(|l| at <= l) {
                return wrong(
                    format!("index {at} is out of order"),
                    "give each index once, in ascending order",
                );
            }
            last = Some(at);
            cells[at] = value(tokens.next()?)?;
        }
        first = tokens.next()?;
    } else {
        loop {
            cells.push(value(first)?);
            first = tokens.next()?;
            match first {
                Some(Token::Comma) => {
                    first = tokens.next()?;
                    // Weka passes over a comma at the end of a row, and some public sets have one.
                    if first.is_none() && cells.len() == width {
                        break;
                    }
                }
                // Weka takes spaces and tabs for commas.
                Some(Token::Word(_) | Token::Missing) if cells.len() <= width => {}
                _ => break,
            }
            // A brace here is not a value but the weight of the row.
            if first == Some(Token::Open) {
                return weight(&mut tokens).map(|()| (cells, true));
            }
            if cells.len() > width {
                break;
            }
        }
    }
    match first {
        None => Ok((cells, false)),
        Some(Token::Comma) if tokens.next()? == Some(Token::Open) => {
            weight(&mut tokens).map(|()| (cells, true))
        }
        Some(_) if cells.len() > width => Ok((cells, false)),
        Some(_) => wrong("unexpected brace among the values", "quote values that contain braces"),
    }
}

/// The rest of a weight, behind its brace.
fn weight(tokens: &mut Tokens<'_>) -> Parsed<()> {
    let value = tokens.next()?;
    // Weka itself writes weights that are NaN.
    let is_number = matches!(&value, Some(Token::Word(w)) if w.parse::<f64>().is_ok());
    if is_number && tokens.next()? == Some(Token::Close) && tokens.next()?.is_none() {
        return Ok(());
    }
    wrong("the braces do not contain a weight", "write {weight} after the last value, or leave it out")
}
