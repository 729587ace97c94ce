//! Finds a quotation mark that swallows rows: it opens a cell, and the next one, lines below, was to open another. Nothing shows this
//! once cells are taken apart, since the rows between have become text of one cell. But the mark that ends the cell is then
//! followed by text, where a delimiter or the end of the line would stand.

/// Looks at the bytes of a table as they are read.
pub(super) struct QuoteCheck {
    delimiter: u8,
    state: QuoteState,
    /// Bytes of earlier pieces.
    before: u64,
    /// Behind the first mark that ends a cell of several lines and is followed by text.
    found: Option<u64>,
}

#[derive(Clone, Copy)]
enum QuoteState {
    /// Outside of quotation marks, at the start of a cell.
    Start,
    /// In a cell, outside of quotation marks.
    Plain,
    /// In quotation marks.
    Quoted { several_lines: bool },
    /// Behind a mark that ends the cell, or is the first of two that stand for one.
    Marked { several_lines: bool },
}

impl QuoteCheck {
    pub(super) fn new(delimiter: u8) -> QuoteCheck {
        QuoteCheck { delimiter, state: QuoteState::Start, before: 0, found: None }
    }

    /// Where the text stands that follows such a mark.
    pub(super) fn found(&self) -> Option<u64> {
        self.found
    }

    /// Takes the next bytes.
    pub(super) fn take(&mut self, bytes: &[u8]) {
        let plain = matches!(self.state, QuoteState::Start | QuoteState::Plain);
        // Most tables have no quotation marks.
        if plain && !bytes.contains(&b'"') {
            if let Some(&last) = bytes.last() {
                self.state = self.behind(last);
            }
        } else {
            for (at, &byte) in bytes.iter().enumerate() {
                self.state = self.next(byte, at);
            }
        }
        self.before += bytes.len() as u64;
    }

    fn next(&mut self, byte: u8, at: usize) -> QuoteState {
        match self.state {
            QuoteState::Start if byte == b'"' => QuoteState::Quoted { several_lines: false },
            QuoteState::Start | QuoteState::Plain => self.behind(byte),
            QuoteState::Quoted { several_lines } => match byte {
                b'"' => QuoteState::Marked { several_lines },
                _ => QuoteState::Quoted { several_lines: several_lines || byte == b'\n' },
            },
            QuoteState::Marked { several_lines } if byte == b'"' => QuoteState::Quoted { several_lines },
            QuoteState::Marked { several_lines } => {
                let ends = byte == self.delimiter || byte.is_ascii_whitespace();
                if several_lines && !ends && self.found.is_none() {
                    self.found = Some(self.before + at as u64);
                }
                self.behind(byte)
            }
        }
    }

    fn behind(&self, byte: u8) -> QuoteState {
        if byte == self.delimiter || byte == b'\n' { QuoteState::Start } else { QuoteState::Plain }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str, piece: usize) -> Option<u64> {
        let mut check = QuoteCheck::new(b',');
        text.as_bytes().chunks(piece).for_each(|bytes| check.take(bytes));
        check.found()
    }

    #[test]
    fn a_mark_that_swallows_rows_is_found_in_pieces_of_any_size() {
        for (text, at) in [
            ("a,b\n\"c,1\n\"d,2\n", Some(10)),
            ("\"c,1\n\"d,2\n", Some(6)),
            ("x,\"5\nx,\"6\nx,7\n", Some(8)),
            // Cells of several lines, marks inside cells, and cells that go on behind a mark in the same line.
            ("\"c\nd\",1\n", None),
            ("\"c\nd\"\r\n1\n", None),
            ("\"c\n\"\"d\"\"\",1\n", None),
            ("\"c\nd\" ,1\n", None),
            ("5\" bolt,1\n6\" bolt,2\n", None),
            ("\"5\" bolt,1\n\"6\" bolt,2\n", None),
            ("a,b\n1,2\n", None),
        ] {
            for piece in 1..=text.len() {
                assert_eq!(found(text, piece), at, "{text:?} in pieces of {piece}");
            }
        }
    }
}
