//! CSV and TSV, one row per instance. How the table is written (`dialect`) and the heading are found by
//! looking; quotes, a byte order mark, both line ends and Excel's line `sep=;` are understood. Reading streams: what is
//! held is numbers, not text, and one row of at most [`MAX_ROW`] bytes.
//!
//! A first row with a usual heading (`bag`, `label`, …) or one that the options name, or without a single number above
//! rows that have some, is the heading. A row of which one cannot tell is refused. Without a heading the first column is
//! the bag, the second its label, and the features are called f1, f2, …
//!
//! What is written is read back equal: numbers in the shortest form that gives the same double, single
//! precision widened first (it comes back as double precision of the same values). Four things a table
//! cannot say must be declared again: categories that look like numbers, dates or names, whole numbers that are
//! measurements, and classes that look like fractions. Categories and classes that no bag has are not written.

mod quotes;
mod write;

use std::cell::{Cell, RefCell};
use std::io::{self, Cursor, Read};
use std::path::Path;
use std::rc::Rc;

use self::quotes::{BadQuote, BadQuoteKind, QuoteCheck};
use super::assemble::{BagBuilder, SideColumns};
use super::cells::{CellContent, FeatureCells, MAX_COLUMNS};
use super::columns::{self, Role, Roles};
use super::dialect::{Dialect, DialectOptions, Numbers};
use super::encoding::{Encoding, Transcode};
use super::stream::{SeenBags, TakePiece};
use super::text::{MAX_ROW, Markers, check_head, is_missing, shown, too_long, utf8};
use super::{Column, ReadOptions, Reader, Writer, compress};
use bagwise_core::{CarriedColumn, Dataset, Error, Message, Place, Result, Setting};

const BUFFER: usize = 1 << 16;

/// Stands after the end of the file. A quote that is never closed swallows it, and is so found.
const END: &[u8] = b"\n\x01end of table\x01\n";

/// Reads CSV and TSV.
pub(super) struct Csv;

pub(super) use write::check_names;
pub use write::{csv_safe, write_csv_safe};

impl Reader for Csv {
    fn name(&self) -> &'static str {
        "csv"
    }

    fn recognises(&self, path: &Path, head: &[u8]) -> bool {
        let is_text = !head.contains(&0) || Encoding::of(head) == Encoding::Utf16;
        !path.is_dir() && (Writer::recognises(self, path) || is_text)
    }

    fn read(&self, path: &Path, options: &ReadOptions) -> Result<Dataset> {
        read(&path.display().to_string(), compress::open(path)?, options, has_tabs(path))
    }

    fn streams(&self) -> bool {
        true
    }

    fn read_pieces(
        &self,
        path: &Path,
        options: &ReadOptions,
        piece: usize,
        take: TakePiece<'_>,
    ) -> Result<()> {
        let source = path.display().to_string();
        let mut rows = rows(&source, compress::open(path)?, options, has_tabs(path))?;
        pieces(&source, &mut rows, options, piece, Some(SeenBags::default()), take)
    }
}

pub(super) fn has_tabs(path: &Path) -> bool {
    super::plain_extension(path).is_some_and(|e| e == "tsv" || e == "tab")
}

/// Reads a table from decompressed bytes; `source` is its name in messages, `tabs` whether that says that tabs separate.
pub(crate) fn read(
    source: &str,
    input: impl Read + 'static,
    options: &ReadOptions,
    tabs: bool,
) -> Result<Dataset> {
    assemble(source, &mut rows(source, input, options, tabs)?, options)
}

/// The rows of a table, from decompressed bytes.
pub(super) fn rows<'s>(
    source: &'s str,
    mut input: impl Read + 'static,
    options: &ReadOptions,
    tabs: bool,
) -> Result<CsvRows<'s>> {
    let explain = |e| compress::explain(Place::of(source), e);
    let mut head = super::read_head(&mut input).map_err(explain)?;
    let encoding = options.encoding.unwrap_or_else(|| Encoding::of(&head));
    let mut input: Box<dyn Read> = match encoding {
        Encoding::Utf8 => Box::new(input),
        other => {
            let mut decoded = Transcode::new(Cursor::new(head).chain(input), other);
            head = super::read_head(&mut decoded).map_err(explain)?;
            Box::new(decoded)
        }
    };
    let mut text = check_head(source, &head)?;
    // Excel's own way to name the delimiter.
    let first = text.split(|&b| b == b'\n').next().unwrap_or_default();
    let first = first.strip_suffix(b"\r").unwrap_or(first);
    let named = first.strip_prefix(b"sep=").filter(|mark| mark.len() == 1 && text.len() > first.len());
    let mut delimiter = tabs.then_some(b'\t');
    if let Some(mark) = named {
        delimiter = Some(mark[0]);
        let end = text.iter().position(|&b| b == b'\n').map_or(text.len(), |at| at + 1);
        text = &text[end..];
    }
    if let Some(told) = options.delimiter {
        delimiter = Some(u8::try_from(told).ok().filter(u8::is_ascii).ok_or_else(|| {
            let found = format!("'{told}' cannot be a column separator");
            Error::refused(found, Message::from("use a single ASCII character").with([Setting::Delimiter]))
        })?);
    }
    let told = DialectOptions {
        delimiter,
        decimal: options.decimal,
        thousands: options.thousands,
        markers: Markers::new(&options.missing_values),
    };
    let dialect = Dialect::find(text, &told, Some(encoding).filter(|_| options.encoding.is_none()));
    if dialect.in_doubt {
        return Err(Error::data(
            Place::of(source),
            "semicolons separate the columns, and all numbers with points are like 1.234",
            Message::from("it is 1234 if points are thousands separators: specify them")
                .with([Setting::Thousands])
                .or("1.234 if they are decimal separators: specify them")
                .with([Setting::Decimal]),
        ));
    }
    if let Some(cell) = dialect.slip {
        let (mark, decimal) = if cell.contains('.') { ("a point", "commas") } else { ("a comma", "points") };
        return Err(Error::data(
            Place::of(source),
            format!("'{cell}' has {mark}, and other numbers of its column have decimal {decimal}"),
            Message::from("write all of them in one way, or specify what separates thousands")
                .with([Setting::Thousands]),
        ));
    }
    let since_row = Rc::new(Cell::new(0));
    let quotes = Rc::new(RefCell::new(QuoteCheck::new(dialect.delimiter)));
    input = Box::new(Cursor::new(text.to_vec()).chain(input).chain(END));
    let reader = csv::ReaderBuilder::new()
        .delimiter(dialect.delimiter)
        // Else the line of a row would be wrong where \r\n ends it; the \r is taken off below.
        .terminator(csv::Terminator::Any(b'\n'))
        .has_headers(false)
        .flexible(true)
        .buffer_capacity(BUFFER)
        .from_reader(Guarded { inner: input, since_row: Rc::clone(&since_row), quotes: Rc::clone(&quotes) });
    Ok(CsvRows {
        source,
        reader,
        record: csv::ByteRecord::new(),
        ahead: None,
        since_row,
        quotes,
        skipped: u64::from(named.is_some()),
        line: 0,
        numbers: dialect.numbers,
        notes: dialect.notes,
    })
}

/// Stops a row that does not end, and notices one that has swallowed others.
pub(super) struct Guarded<R> {
    inner: R,
    since_row: Rc<Cell<usize>>,
    quotes: Rc<RefCell<QuoteCheck>>,
}

impl<R: Read> Read for Guarded<R> {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        let n = self.inner.read(buf)?;
        self.quotes.borrow_mut().take(&buf[..n]);
        let since = self.since_row.get() + n;
        self.since_row.set(since);
        if since > MAX_ROW + BUFFER {
            return Err(too_long());
        }
        Ok(n)
    }
}

/// The rows of a file with their lines.
pub(super) struct CsvRows<'s> {
    source: &'s str,
    reader: csv::Reader<Guarded<Box<dyn Read>>>,
    pub(super) record: csv::ByteRecord,
    /// A row that was looked at before its turn, and its line; nothing behind the last one.
    ahead: Option<Option<(csv::ByteRecord, u64)>>,
    since_row: Rc<Cell<usize>>,
    quotes: Rc<RefCell<QuoteCheck>>,
    /// Lines before the first that the reader sees.
    skipped: u64,
    pub(super) line: u64,
    /// How numbers are written.
    pub(super) numbers: Numbers,
    /// What was guessed about the table.
    pub(super) notes: Vec<Message>,
}

impl CsvRows<'_> {
    /// Reads the next row into `record`; false at the end.
    pub(super) fn next(&mut self) -> Result<bool> {
        match self.ahead.take() {
            Some(Some((record, line))) => {
                (self.record, self.line) = (record, line);
                Ok(true)
            }
            Some(None) => Ok(false),
            None => self.read(),
        }
    }

    /// The row behind the current one, which stays it.
    fn peek(&mut self) -> Result<Option<&csv::ByteRecord>> {
        if self.ahead.is_none() {
            let (record, line) = (self.record.clone(), self.line);
            let more = self.read()?;
            let next = (std::mem::replace(&mut self.record, record), std::mem::replace(&mut self.line, line));
            self.ahead = Some(more.then_some(next));
        }
        Ok(self.ahead.as_ref().and_then(|ahead| ahead.as_ref()).map(|(record, _)| record))
    }

    fn read(&mut self) -> Result<bool> {
        loop {
            let begun = self.skipped + self.reader.position().line();
            self.reader.read_byte_record(&mut self.record).map_err(|e| match e.into_kind() {
                csv::ErrorKind::Io(e) => compress::explain(Place::line(self.source, begun), e),
                other => Error::Invalid(format!("{}: {other:?}", self.source)),
            })?;
            self.since_row.set(0);
            // The reader's own line of a record is that of blank lines before it, so count back from its end.
            let inside = self.record.as_slice().iter().filter(|&&b| b == b'\n').count() as u64;
            let after = self.skipped + self.reader.position().line();
            self.line = after.saturating_sub(1 + inside).max(1);
            let last = self.record.iter().next_back().unwrap_or_default();
            if last.ends_with(END) || last == END.trim_ascii() {
                if self.record.len() == 1 && last == END.trim_ascii() {
                    return Ok(false);
                }
                self.line = after.saturating_sub(inside).max(1); // the swallowed end closed no line
                return Err(self.error(
                    "a quotation mark is not closed",
                    "close it; inside a quoted cell, write a quotation mark twice",
                ));
            }
            let bad = self.quotes.borrow().found();
            if let Some(bad) = bad.filter(|bad| bad.at < self.reader.position().byte()) {
                return Err(self.bad_quote(bad));
            }
            if self.record.as_slice().contains(&0) {
                return Err(self.error(
                    "the row contains zero bytes",
                    "is the file damaged, or not text? Write the table again as CSV in UTF-8",
                ));
            }
            if last.ends_with(b"\r") {
                self.take_off_return();
            }
            if self.record.is_empty() {
                return Ok(false);
            }
            // Blank lines, and rows of nothing, which spreadsheets leave behind their tables.
            let is_wide = self.record.len() > MAX_COLUMNS;
            if is_wide || self.record.iter().any(|cell| !cell.trim_ascii().is_empty()) {
                return Ok(true);
            }
        }
    }

    fn bad_quote(&self, bad: BadQuote) -> Error {
        let column = bad.cell + 1;
        match bad.kind {
            BadQuoteKind::Swallows => self.error(
                "a quotation mark opens a cell, and the next one, in a line below, is followed by text",
                "close it in its own line; inside a quoted cell, write a quotation mark twice",
            ),
            BadQuoteKind::Continues => self.error(
                format!("column {column} continues after its closing quotation mark"),
                "put the whole cell in quotation marks and write each quotation mark inside it twice, or leave them out",
            ),
            BadQuoteKind::Indented => self.error(
                format!("column {column} has a space before its quotation mark"),
                "remove spaces between the delimiter and the quotation mark",
            ),
        }
    }

    /// Takes the end of line \r off the last cell.
    fn take_off_return(&mut self) {
        let last = self.record.len() - 1;
        let cell = self.record[last].to_vec();
        self.record.truncate(last);
        self.record.push_field(&cell[..cell.len() - 1]);
    }

    fn place(&self) -> Place {
        Place::line(self.source, self.line)
    }

    fn error(&self, found: impl Into<String>, remedy: impl Into<Message>) -> Error {
        Error::data(self.place(), found, remedy)
    }

    fn text(&self, column: usize) -> Result<&str> {
        utf8(self.source, self.line, &self.record[column])
    }
}

/// The first rows of a table by column, if it has headings or may have.
pub(super) fn first_rows(
    path: &Path,
    options: &ReadOptions,
    most: usize,
) -> Result<Option<Vec<(String, Vec<String>)>>> {
    let source = path.display().to_string();
    let mut rows = rows(&source, compress::open(path)?, options, has_tabs(path))?;
    if !rows.next()? {
        return Ok(None);
    }
    refuse_title(&mut rows, options)?;
    let is_heading = options.header.unwrap_or_else(|| is_heading(&mut rows, options).unwrap_or(true));
    if !is_heading {
        return Ok(None);
    }
    let text = |cell: &[u8]| String::from_utf8_lossy(cell.trim_ascii()).into_owned();
    let mut table: Vec<(String, Vec<String>)> = rows.record.iter().map(|c| (text(c), Vec::new())).collect();
    while rows.next()? && table[0].1.len() < most {
        for (c, (_, cells)) in table.iter_mut().enumerate() {
            let cell = rows.record.get(c).unwrap_or_default().trim_ascii();
            cells.push(rows.numbers.plain(cell).map_or_else(|| text(cell), |number| number.into_owned()));
        }
    }
    let is_empty =
        |(name, cells): &(String, Vec<String>)| name.is_empty() && cells.iter().all(String::is_empty);
    while table.len() > 1 && table.last().is_some_and(is_empty) {
        table.pop();
    }
    Ok(Some(table))
}

/// Reads all rows into one data set.
fn assemble(source: &str, rows: &mut CsvRows<'_>, options: &ReadOptions) -> Result<Dataset> {
    let mut all = None;
    let mut keep = |data: Dataset| {
        all = Some(data);
        Ok(())
    };
    pieces(source, rows, options, usize::MAX, None, &mut keep)?;
    all.ok_or_else(|| Error::Invalid(format!("{source}: the table has no rows")))
}

/// Reads rows into pieces of whole bags, at least `piece` rows each but for the last. `seen` are the bags that went by; if
/// there is none, bags may come back, and there is one piece.
fn pieces(
    source: &str,
    rows: &mut CsvRows<'_>,
    options: &ReadOptions,
    piece: usize,
    seen: Option<SeenBags>,
    take: TakePiece<'_>,
) -> Result<()> {
    if !rows.next()? {
        return Err(Error::data(
            Place::of(source),
            "the file is empty",
            "give a table with one row per instance",
        ));
    }
    refuse_title(rows, options)?;
    let mut width = rows.record.len();
    if width > MAX_COLUMNS {
        return Err(rows.error(
            format!("the table has {width} columns; at most {MAX_COLUMNS} are read"),
            "use the sparse format `bag label index:value …`",
        ));
    }
    if width == 1 {
        return Err(rows.error(
            format!("'{}' is a single column", shown(&rows.record[0])),
            Message::from(
                "columns are separated by commas, tabs, semicolons or bars; otherwise, specify the separator",
            )
            .with([Setting::Delimiter]),
        ));
    }
    let mut names = heading(rows, options)?;
    // Spreadsheets write columns that were used once, without a name and empty.
    let unnamed = names.as_ref().map(|names| names.iter().rev().take_while(|n| n.is_empty()).count());
    let all = width;
    if let (Some(names), Some(unnamed)) = (&mut names, unnamed) {
        width -= unnamed.min(width - last_number(options).clamp(1, width));
        names.truncate(width);
    }
    let Roles { bag, label, group, instance_label, keep, features, categorical, mut warnings } =
        columns::find(&rows.place(), names.as_deref(), width, options)?;
    warnings.append(&mut rows.notes);

    let name_of = |column: usize, position: usize| match &names {
        Some(names) => names[column].clone(),
        None => format!("f{}", position + 1),
    };
    let content = |is: bool| if is { CellContent::Categories } else { CellContent::Any };
    let declared: Vec<(String, CellContent)> = (features.iter().enumerate().zip(categorical))
        .map(|((i, &c), is)| (name_of(c, i), content(is)))
        .collect();
    let numbers = rows.numbers;
    let new_cells = || FeatureCells::new(source, declared.clone(), options, numbers);
    let new_book = || BagBuilder::new(source, options).written_in(numbers).after(seen.clone());
    let new_beside = || SideColumns {
        kept: keep
            .iter()
            .map(|&c| CarriedColumn {
                name: names.as_ref().map_or_else(|| format!("column{}", c + 1), |names| names[c].clone()),
                values: Vec::new(),
            })
            .collect(),
        instance_labels: instance_label.map(|_| Vec::new()),
    };
    let (mut cells, mut book, mut beside) = (new_cells(), new_book(), new_beside());

    let mut more = names.is_none() || rows.next()?;
    while more {
        let is_blank = |cell: &[u8]| cell.trim_ascii().is_empty();
        while names.is_some()
            && rows.record.len() > width
            && rows.record.iter().next_back().is_some_and(is_blank)
        {
            rows.record.truncate(rows.record.len() - 1);
        }
        let found = rows.record.len();
        if found > width && found <= all {
            return Err(columns::unnamed(&rows.place(), found));
        }
        if found != width {
            return Err(wrong_width(rows, bag, found, width, features.len()));
        }
        let line = rows.line;
        let id = rows.text(bag)?.trim();
        if book.rows() >= piece && !book.goes_on(id) {
            let book = std::mem::replace(&mut book, new_book());
            let beside = std::mem::replace(&mut beside, new_beside());
            let (instances, features, found) = std::mem::replace(&mut cells, new_cells()).finish()?;
            let said = std::mem::take(&mut warnings);
            take(book.finish(instances, features, &found, beside, options, Vec::new(), said)?)?;
        }
        let text = |column: Option<usize>| column.map(|c| rows.text(c).map(str::trim)).transpose();
        book.row(line, id, text(label)?, text(group)?)?;
        for (kept, &column) in beside.kept.iter_mut().zip(&keep) {
            kept.values.push(rows.text(column)?.to_string());
        }
        if let (Some(labels), Some(column)) = (&mut beside.instance_labels, instance_label) {
            labels.push(rows.text(column)?.trim().to_string());
        }
        for (i, &column) in features.iter().enumerate() {
            cells.push(line, id, i, &rows.record[column])?;
        }
        cells.end_row();
        more = rows.next()?;
    }
    if book.rows() == 0 {
        return Err(Error::data(
            Place::of(source),
            "the table has a header but no rows",
            "give at least one bag with one instance",
        ));
    }
    let (instances, features, found) = cells.finish()?;
    take(book.finish(instances, features, &found, beside, options, Vec::new(), warnings)?)
}

/// Refuses a title above the headings: nothing below it has the role that its cells say.
fn refuse_title(rows: &mut CsvRows<'_>, options: &ReadOptions) -> Result<()> {
    let named = named_columns(options);
    let is_bag = |cell: &[u8]| {
        let text = std::str::from_utf8(cell.trim_ascii()).unwrap_or_default();
        columns::is_usual_for(text, Role::Bag) || named.contains(&text)
    };
    let (cells, is_headed) = (rows.record.len(), rows.record.iter().any(is_bag));
    let filled = rows.record.iter().filter(|cell| !cell.trim_ascii().is_empty()).count();
    let numbers = rows.numbers;
    let is_name = |cell: &[u8]| !cell.trim_ascii().is_empty() && numbers.value(cell.trim_ascii()).is_none();
    let Some(next) = rows.peek()?.filter(|_| options.header.is_none() && !is_headed) else { return Ok(()) };
    let is_title = next.iter().any(is_bag) && (filled < cells || cells < next.len())
            // A spreadsheet fills the line of the title up with delimiters.
            || filled == 1 && next.len() > 2 && (cells == 1 || next.iter().all(is_name));
    if !is_title {
        return Ok(());
    }
    Err(rows.error(
        "the line looks like a title above the column names",
        Message::from(
            "remove what stands above the column names; if the line is not a title, specify what it is",
        )
        .with([Setting::Header, Setting::NoHeader]),
    ))
}

/// The headings, if the row just read holds them.
fn heading(rows: &mut CsvRows<'_>, options: &ReadOptions) -> Result<Option<Vec<String>>> {
    let is_heading = match options.header {
        Some(told) => told,
        None => is_heading(rows, options)?,
    };
    if !is_heading {
        return Ok(None);
    }
    let cells = rows.record.iter().map(<[u8]>::trim_ascii);
    cells.map(|cell| utf8(rows.source, rows.line, cell).map(String::from)).collect::<Result<_>>().map(Some)
}

/// Whether the first row is a heading, by what it and the second hold; an error if one cannot tell.
fn is_heading(rows: &mut CsvRows<'_>, options: &ReadOptions) -> Result<bool> {
    let named = named_columns(options);
    let known = |cell: &[u8]| {
        std::str::from_utf8(cell).is_ok_and(|text| columns::is_usual_heading(text) || named.contains(&text))
    };
    let first: Vec<Vec<u8>> = rows.record.iter().map(|cell| cell.trim_ascii().to_vec()).collect();
    if first.iter().any(|cell| known(cell)) {
        return Ok(true);
    }
    let numbers = rows.numbers;
    let is_number = |cell: &[u8]| numbers.value(cell).is_some();
    let is_value = |cell: &[u8]| is_number(cell) || (is_missing(cell) && !cell.is_empty());
    let has_values = first.iter().any(|cell| is_value(cell));
    let second: Option<Vec<Vec<u8>>> =
        rows.peek()?.map(|row| row.iter().map(|cell| cell.trim_ascii().to_vec()).collect());
    let doubt = |found: String, remedy: &'static str| {
        Err(rows.error(found, Message::from(remedy).with([Setting::Header, Setting::NoHeader])))
    };
    let name_or_say =
        "name the bag and label columns (or give their numbers), or specify what the first row is";
    let Some(second) = second else { return Ok(!has_values) };
    if !has_values {
        return match second.iter().any(|cell| is_value(cell)) {
            true => Ok(true),
            false => doubt(
                "the first two rows are both text, so the first could be a header or data".into(),
                name_or_say,
            ),
        };
    }
    let is_text = |cell: &[u8]| !is_value(cell) && !cell.is_empty();
    // Ids may be text here and numbers there; other columns are not.
    let over = (1..first.len().min(second.len())).find(|&c| is_text(&first[c]) && is_number(&second[c]));
    if let Some(c) = over {
        let found = format!(
            "'{}' in column {} is followed by a number, so the first row could be a header or data",
            shown(&first[c]),
            c + 1
        );
        return doubt(found, name_or_say);
    }
    // The columns of a data frame without names are 0, 1, 2, …
    let counts = |row: &[Vec<u8>]| {
        let counted: Vec<f64> = row.iter().filter_map(|cell| numbers.value(cell)).collect();
        counted.len() > 1
            && (counted[0] == 0.0 || counted[0] == 1.0)
            && counted.windows(2).all(|w| w[1] == w[0] + 1.0)
    };
    let beside_text = first.iter().any(|cell| is_text(cell));
    if counts(&first) && (beside_text || first.len() > 3 && !counts(&second)) {
        let found = "the first row numbers the columns, so it could be a header or data".into();
        return doubt(found, "specify what the first row is");
    }
    Ok(false)
}

fn told_columns(options: &ReadOptions) -> impl Iterator<Item = &Column> {
    let single = [&options.bag, &options.label, &options.group, &options.instance_label];
    let lists = [&options.keep, &options.ignore, &options.categorical];
    single.into_iter().flatten().chain(lists.into_iter().flatten())
}

/// The columns that the options call by name.
fn named_columns(options: &ReadOptions) -> Vec<&str> {
    told_columns(options)
        .filter_map(|column| match column {
            Column::Name(name) => Some(name.as_str()),
            Column::Number(_) => None,
        })
        .collect()
}

/// The largest number by which the options call a column.
fn last_number(options: &ReadOptions) -> usize {
    let number = |column: &Column| if let Column::Number(n) = column { *n } else { 0 };
    told_columns(options).map(number).max().unwrap_or(0)
}

fn wrong_width(rows: &CsvRows<'_>, bag: usize, found: usize, width: usize, features: usize) -> Error {
    let id = rows.record.get(bag).map(shown).unwrap_or_default();
    let beside = width - features;
    if found <= beside {
        return rows.error(
            format!("the row has {found} columns"),
            format!("the first row has {width}; is the line truncated, or a delimiter missing?"),
        );
    }
    rows.error(
        format!("bag '{id}' has {} features", found - beside),
        format!("the first row has {features}; look for a missing or extra delimiter"),
    )
}
