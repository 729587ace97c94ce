//! Finds quotation marks that do not enclose a whole cell. One that swallows rows opens a cell, and the next one, lines below, was
//! to open another. Nothing shows this once cells are taken apart, since the rows between have become text of one cell. But the mark
//! that ends the cell is then followed by text, where a delimiter or the end of the line would stand. In one line the same makes `12`
//! of `"1"2`; and after a space a mark is text, so that ` "b"` is another name than `b`.

/// Looks at the bytes of a table as they are read.
pub(super) struct QuoteCheck {
    delimiter: u8,
    state: QuoteState,
    /// The cell of its row, counted from 0.
    cell: usize,
    /// Bytes of earlier pieces.
    before: u64,
    found: Option<BadQuote>,
}

/// A quotation mark out of place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct BadQuote {
    pub(super) kind: BadQuoteKind,
    /// The byte that shows it.
    pub(super) at: u64,
    /// The cell of its row, counted from 0.
    pub(super) cell: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum BadQuoteKind {
    /// Text follows the mark that ends a cell of several lines.
    Swallows,
    /// Text follows the mark that ends a cell.
    Continues,
    /// Spaces stand before the mark that begins a cell.
    Indented,
}

#[derive(Clone, Copy)]
enum QuoteState {
    /// Outside of quotation marks, at the start of a cell.
    Start,
    /// The same behind spaces.
    Spaces,
    /// In a cell, outside of quotation marks.
    Plain,
    /// In quotation marks.
    Quoted { several_lines: bool },
    /// Behind a mark that ends the cell, or is the first of two that stand for one.
    Marked { several_lines: bool },
    /// Behind spaces after a mark that ends the cell.
    Ended { several_lines: bool },
}

impl QuoteCheck {
    pub(super) fn new(delimiter: u8) -> QuoteCheck {
        QuoteCheck { delimiter, state: QuoteState::Start, cell: 0, before: 0, found: None }
    }

    /// The first mark that is out of place.
    pub(super) fn found(&self) -> Option<BadQuote> {
        self.found
    }

    /// Takes the next bytes.
    pub(super) fn take(&mut self, bytes: &[u8]) {
        let plain = matches!(self.state, QuoteState::Start | QuoteState::Spaces | QuoteState::Plain);
        // Most tables have no quotation marks: only the last line matters then.
        let start = match bytes.iter().rposition(|&b| b == b'\n') {
            Some(end) if plain && !bytes.contains(&b'"') => {
                (self.cell, self.state) = (0, QuoteState::Start);
                end + 1
            }
            _ => 0,
        };
        for (at, &byte) in bytes.iter().enumerate().skip(start) {
            self.state = self.next(byte, at);
        }
        self.before += bytes.len() as u64;
    }

    fn next(&mut self, byte: u8, at: usize) -> QuoteState {
        match self.state {
            QuoteState::Start if byte == b'"' => QuoteState::Quoted { several_lines: false },
            QuoteState::Spaces if byte == b'"' => {
                self.find(BadQuoteKind::Indented, at);
                QuoteState::Plain
            }
            QuoteState::Start | QuoteState::Spaces => match self.behind(byte) {
                QuoteState::Plain if byte.is_ascii_whitespace() => QuoteState::Spaces,
                state => state,
            },
            QuoteState::Plain => self.behind(byte),
            QuoteState::Quoted { several_lines } => match byte {
                b'"' => QuoteState::Marked { several_lines },
                _ => QuoteState::Quoted { several_lines: several_lines || byte == b'\n' },
            },
            QuoteState::Marked { several_lines } if byte == b'"' => QuoteState::Quoted { several_lines },
            QuoteState::Marked { several_lines } | QuoteState::Ended { several_lines } => {
                match self.behind(byte) {
                    QuoteState::Plain if byte.is_ascii_whitespace() => QuoteState::Ended { several_lines },
                    QuoteState::Plain => {
                        let kind =
                            if several_lines { BadQuoteKind::Swallows } else { BadQuoteKind::Continues };
                        self.find(kind, at);
                        QuoteState::Plain
                    }
                    state => state,
                }
            }
        }
    }

    fn find(&mut self, kind: BadQuoteKind, at: usize) {
        self.found.get_or_insert(BadQuote { kind, at: self.before + at as u64, cell: self.cell });
    }

    /// The state behind a byte that is in no quotation marks.
    fn behind(&mut self, byte: u8) -> QuoteState {
        match byte {
            b'\n' => self.cell = 0,
            _ if byte == self.delimiter => self.cell += 1,
            _ => return QuoteState::Plain,
        }
        QuoteState::Start
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str, piece: usize) -> Option<BadQuote> {
        let mut check = QuoteCheck::new(b',');
        text.as_bytes().chunks(piece).for_each(|bytes| check.take(bytes));
        check.found()
    }

    #[test]
    fn a_mark_out_of_place_is_found_in_pieces_of_any_size() {
        use BadQuoteKind::{Continues, Indented, Swallows};
        for (text, expected) in [
            ("a,b\n\"c,1\n\"d,2\n", Some((Swallows, 10, 0))),
            ("\"c,1\n\"d,2\n", Some((Swallows, 6, 0))),
            ("x,\"5\nx,\"6\nx,7\n", Some((Swallows, 8, 1))),
            // Cells of several lines, marks inside cells, and spaces behind a cell.
            ("\"c\nd\",1\n", None),
            ("\"c\nd\"\r\n1\n", None),
            ("\"c\n\"\"d\"\"\",1\n", None),
            ("\"c\nd\" ,1\n", None),
            ("5\" bolt,1\n6\" bolt,2\n", None),
            (" 5\" bolt,1\n6, \n\"7\"\n", None),
            ("a,b\n1,2\n", None),
            // In one line.
            ("a,b\n1,\"5\"2\n", Some((Continues, 9, 1))),
            ("\"5\" bolt,1\n\"6\" bolt,2\n", Some((Continues, 4, 0))),
            ("a,b,c\n1,2,\"\"b\"\n", Some((Continues, 12, 2))),
            ("a,b\n1, \"b\"\n", Some((Indented, 7, 1))),
        ] {
            for piece in 1..=text.len() {
                let found = found(text, piece).map(|bad| (bad.kind, bad.at, bad.cell));
                assert_eq!(found, expected, "{text:?} in pieces of {piece}");
            }
        }
    }
}
