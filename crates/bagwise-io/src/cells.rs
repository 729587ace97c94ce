//! Feature cells as text, gathered into instances. A column is numeric if its first value is a number and
//! categorical if it is not (or was declared so); a column that holds both is refused unless declared, because
//! one slip of the keyboard would otherwise turn a measurement into categories. Categories are coded in sorted
//! order, so that the code does not depend on the order of rows.
//!
//! Wide tables (more than [`WIDE`] columns) are gathered as sparse rows, and stay so if fewer than
//! [`DENSITY`] of the cells are not zero: counts of words, where dense storage and dense distances would cost
//! twenty times and more. Narrow tables are always dense: there is little to win.

use std::collections::HashMap;
use std::sync::Arc;

use super::ReadOptions;
use super::dialect::Numbers;
use super::text::{Markers, is_rounded, rounded_remedy, shown, utf8};
use bagwise_core::{Csr, Error, Feature, FeatureKind, Instances, Mat, Message, Place, Result, Setting};

/// Tables of at most this many features are stored densely.
const WIDE: usize = 1000;

/// Wide tables with a smaller share of values that are not zero are stored as sparse rows.
const DENSITY: f64 = 0.05;

/// Beyond this many columns a table wants the sparse form; each column costs about a hundred bytes by itself.
pub(crate) const MAX_COLUMNS: usize = 1 << 20;

/// What is known of a column so far.
enum ColumnState {
    /// Only missing values yet, and cells that are missing if the column turns out to be one of numbers: their rows,
    /// lines and texts.
    Unknown { perhaps: Vec<(usize, u64, String)> },
    /// Numbers, since this line.
    Number { since: u64 },
    /// Categories: declared, or found in this line.
    Category { content: CellContent, since: u64, codes: HashMap<String, u32> },
}

/// What the cells of a column are to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CellContent {
    /// Numbers or categories, as the first of them is.
    Any,
    /// Categories, whatever they look like.
    Categories,
    /// Text, whatever it looks like: categories unless it is names or dates.
    Text,
}

struct TextCell {
    name: String,
    state: ColumnState,
}

enum CellStore {
    Dense(Vec<f64>),
    Sparse { indptr: Vec<usize>, indices: Vec<u32>, values: Vec<f64> },
}

/// Rows of feature cells, growing. FeatureCells arrive row after row, each row from the first column to the last.
pub(crate) struct FeatureCells {
    source: String,
    columns: Vec<TextCell>,
    allow_missing: bool,
    markers: Markers,
    numbers: Numbers,
    rows: usize,
    store: CellStore,
}

impl FeatureCells {
    /// No rows yet. `columns` are names, and what each holds.
    pub(crate) fn new(
        source: &str,
        columns: Vec<(String, CellContent)>,
        options: &ReadOptions,
        numbers: Numbers,
    ) -> FeatureCells {
        let store = if columns.len() > WIDE {
            CellStore::Sparse { indptr: vec![0], indices: Vec::new(), values: Vec::new() }
        } else {
            CellStore::Dense(Vec::new())
        };
        let mut cells = FeatureCells {
            source: source.into(),
            columns: Vec::new(),
            allow_missing: options.allow_missing,
            markers: Markers::new(&options.missing_values),
            numbers,
            rows: 0,
            store,
        };
        for (name, content) in columns {
            let state = match content {
                CellContent::Any => ColumnState::Unknown { perhaps: Vec::new() },
                content => ColumnState::Category { content, since: 0, codes: HashMap::new() },
            };
            cells.columns.push(TextCell { name, state });
        }
        if cells.columns.iter().any(|c| matches!(c.state, ColumnState::Category { .. })) {
            cells.make_dense(0);
        }
        cells
    }

    /// Takes the next cell of a row; `bag` is for messages.
    pub(crate) fn push(&mut self, line: u64, bag: &str, column: usize, text: &[u8]) -> Result<()> {
        match text.trim_ascii() {
            text if self.markers.missing_as(text, |text| self.numbers.value(text)) => {
                self.push_missing(line, bag, column)
            }
            text if Markers::perhaps(text) => match &mut self.columns[column].state {
                ColumnState::Number { .. } => self.push_missing(line, bag, column),
                ColumnState::Unknown { perhaps } => {
                    perhaps.push((self.rows, line, utf8(&self.source, line, text)?.into()));
                    self.store(column, f64::NAN);
                    Ok(())
                }
                ColumnState::Category { .. } => self.push_present(line, column, text),
            },
            text => self.push_present(line, column, text),
        }
    }

    /// The column turned out to be one of numbers: what was perhaps missing is.
    fn missing_after_all(&self, column: usize) -> Result<()> {
        match &self.columns[column].state {
            ColumnState::Unknown { perhaps } if !perhaps.is_empty() && !self.allow_missing => {
                let (_, line, text) = &perhaps[0];
                let found =
                    format!("'{text}' in column '{}' means a missing value", self.columns[column].name);
                Err(self.error(*line, found, Message::fill_or_allow_missing()))
            }
            _ => Ok(()),
        }
    }

    /// The same for a cell that has no value.
    pub(crate) fn push_missing(&mut self, line: u64, bag: &str, column: usize) -> Result<()> {
        if !self.allow_missing {
            return Err(self.error(
                line,
                format!("bag '{bag}' has no value for '{}'", self.columns[column].name),
                Message::fill_or_allow_missing(),
            ));
        }
        self.store(column, f64::NAN);
        Ok(())
    }

    /// The same for a cell that has one, whatever it looks like.
    pub(crate) fn push_present(&mut self, line: u64, column: usize, text: &[u8]) -> Result<()> {
        let value = match &mut self.columns[column].state {
            ColumnState::Number { .. } => match self.numbers.value(text) {
                Some(value) => value,
                None => return Err(self.not_a_number(line, column, text)),
            },
            ColumnState::Category { content: CellContent::Any, since, .. }
                if self.numbers.value(text).is_some() =>
            {
                let since = *since;
                return Err(self.mixed(line, column, text, since));
            }
            ColumnState::Category { codes, .. } => code(codes, utf8(&self.source, line, text)?),
            ColumnState::Unknown { perhaps } => match self.numbers.value(text) {
                Some(value) => {
                    self.missing_after_all(column)?;
                    self.columns[column].state = ColumnState::Number { since: line };
                    value
                }
                None => {
                    let perhaps = std::mem::take(perhaps);
                    self.refuse_marks(line, column, text)?;
                    let mut codes = HashMap::new();
                    let value = code(&mut codes, utf8(&self.source, line, text)?);
                    self.make_dense(column);
                    let width = self.columns.len();
                    if let CellStore::Dense(data) = &mut self.store {
                        for (row, _, text) in &perhaps {
                            data[row * width + column] = code(&mut codes, text);
                        }
                    }
                    let content = CellContent::Any;
                    self.columns[column].state = ColumnState::Category { content, since: line, codes };
                    value
                }
            },
        };
        let plain = matches!(self.columns[column].state, ColumnState::Number { .. }) && text.len() > 15;
        if plain && self.numbers.plain(text).is_some_and(|plain| is_rounded(plain.as_bytes(), value)) {
            let found =
                format!("'{}' in column '{}' would be rounded", shown(text), self.columns[column].name);
            return Err(self.error(line, found, rounded_remedy()));
        }
        if !value.is_finite() {
            let shown = shown(text);
            let found = if text.iter().any(u8::is_ascii_digit) {
                format!("'{shown}' in column '{}' is out of range for a number", self.columns[column].name)
            } else {
                format!("'{shown}' in column '{}' is infinite", self.columns[column].name)
            };
            return Err(self.error(
                line,
                found,
                "give finite numbers, or leave the cell empty if it is missing",
            ));
        }
        self.store(column, value);
        Ok(())
    }

    fn store(&mut self, column: usize, value: f64) {
        match &mut self.store {
            CellStore::Dense(data) => data.push(value),
            CellStore::Sparse { indices, values, .. } => {
                if value != 0.0 {
                    indices.push(column as u32);
                    values.push(value);
                }
            }
        }
    }

    /// Ends a row, once every column had its cell.
    pub(crate) fn end_row(&mut self) {
        self.rows += 1;
        if let CellStore::Sparse { indptr, indices, .. } = &mut self.store {
            indptr.push(indices.len());
            // Far from sparse: stop paying 12 bytes for every value. The first million cells decide nothing.
            let cells = self.rows * self.columns.len();
            if cells > 1_000_000 && indices.len() as f64 > 4.0 * DENSITY * cells as f64 {
                self.make_dense(0);
            }
        }
    }

    /// Goes on densely, also in the middle of a row that has `begun` cells so far.
    fn make_dense(&mut self, begun: usize) {
        let CellStore::Sparse { indptr, indices, values } = &mut self.store else { return };
        let width = self.columns.len();
        let mut data = vec![0.0; self.rows * width + begun];
        indptr.push(indices.len());
        for (row, bounds) in indptr.windows(2).enumerate() {
            for i in bounds[0]..bounds[1] {
                data[row * width + indices[i] as usize] = values[i];
            }
        }
        self.store = CellStore::Dense(data);
    }

    /// The instances, the features, and which of them are text that nobody declared to be categories.
    pub(crate) fn finish(mut self) -> Result<(Instances, Arc<[Feature]>, Vec<usize>)> {
        let width = self.columns.len();
        (0..width).try_for_each(|c| self.missing_after_all(c))?;
        let mut found = Vec::new();
        let mut features = Vec::with_capacity(width);
        for (c, column) in self.columns.iter_mut().enumerate() {
            let name = std::mem::take(&mut column.name);
            let ColumnState::Category { content, codes, .. } = &column.state else {
                features.push(Feature::numeric(name));
                continue;
            };
            if *content != CellContent::Categories {
                found.push(c);
            }
            let (values, rank) = sorted(codes);
            if let CellStore::Dense(data) = &mut self.store {
                for value in data.iter_mut().skip(c).step_by(width).filter(|v| !v.is_nan()) {
                    *value = rank[*value as usize];
                }
            }
            features.push(Feature { name, kind: FeatureKind::Categorical { values } });
        }
        let instances = match self.store {
            CellStore::Sparse { ref values, .. }
                if values.len() as f64 >= DENSITY * (self.rows * width) as f64 =>
            {
                self.make_dense(0);
                let CellStore::Dense(data) = self.store else { unreachable!("just made dense") };
                Instances::F64(Mat::new(self.rows, width, data))
            }
            CellStore::Sparse { indptr, indices, values } => {
                Instances::Sparse(Csr::new(width, indptr, indices, values))
            }
            CellStore::Dense(data) => Instances::F64(Mat::new(self.rows, width, data)),
        };
        Ok((instances, features.into(), found))
    }

    fn error(&self, line: u64, found: impl Into<String>, remedy: impl Into<Message>) -> Error {
        Error::data(Place::line(&self.source, line), found, remedy)
    }

    fn not_a_number(&self, line: u64, column: usize, text: &[u8]) -> Error {
        if let Err(error) = self.refuse_marks(line, column, text) {
            return error;
        }
        let TextCell { name, state } = &self.columns[column];
        let before = match state {
            ColumnState::Number { since } => format!("the column has contained numbers since line {since}: "),
            _ => String::new(),
        };
        self.error(
            line,
            format!("'{}' in column '{name}' is not a number", shown(text)),
            Message::from(format!("{before}fix it")).or(as_missing(text)).or(as_categories(name)),
        )
    }

    fn mixed(&self, line: u64, column: usize, text: &[u8], since: u64) -> Error {
        let TextCell { name, state } = &self.columns[column];
        if let ColumnState::Category { codes, .. } = state
            && codes.len() == 1
            && let Some(only) = codes.keys().next()
        {
            // A single text before numbers: it is that one which is odd, and perhaps it stands for no value.
            return self.error(
                since,
                format!(
                    "'{}' in column '{name}' is not a number, but '{}' in line {line} is",
                    shown(only.as_bytes()),
                    shown(text)
                ),
                Message::from("fix it").or(as_missing(only.as_bytes())).or(as_categories(name)),
            );
        }
        self.error(
            line,
            format!("column '{name}' has a number, '{}', but text in line {since}", shown(text)),
            Message::from("fix that line").or(as_categories(name)),
        )
    }

    /// Refuses what is a number if its points and commas mean something else than they do in this table.
    fn refuse_marks(&self, line: u64, column: usize, text: &[u8]) -> Result<()> {
        let TextCell { name, state } = &self.columns[column];
        let Some(mark) = self.numbers.other_mark(text) else { return Ok(()) };
        let found = mark.found(&format!("'{}' in column '{name}'", shown(text)));
        let before = match state {
            ColumnState::Number { since } => {
                format!("other numbers of the column, as in line {since}, have none: ")
            }
            _ => String::new(),
        };
        let mut remedy = mark.remedy(&before);
        if mark.is_only_thousands() {
            remedy = remedy.or(as_categories(name));
        }
        Err(self.error(line, found, remedy))
    }
}

fn as_missing(text: &[u8]) -> Message {
    Message::from("mark it as a missing value").with([Setting::MissingValues(Some(shown(text)))])
}

fn as_categories(name: &str) -> Message {
    Message::from("treat the column as categories").with([Setting::Categorical(Some(name.into()))])
}

/// Categories in the order of their codes, and the code that each category had while reading to its place there.
pub(super) fn sorted(codes: &HashMap<String, u32>) -> (Vec<String>, Vec<f64>) {
    let mut values: Vec<&String> = codes.keys().collect();
    bagwise_core::sort_names(&mut values);
    let mut rank = vec![0.0; values.len()];
    for (new, value) in values.iter().enumerate() {
        rank[codes[*value] as usize] = new as f64;
    }
    (values.into_iter().cloned().collect(), rank)
}

pub(super) fn code(codes: &mut HashMap<String, u32>, text: &str) -> f64 {
    if let Some(&code) = codes.get(text) {
        return f64::from(code);
    }
    let next = codes.len() as u32;
    codes.insert(text.to_string(), next);
    f64::from(next)
}
