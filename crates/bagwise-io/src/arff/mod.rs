//! Weka's ARFF. In its multi-instance form a row is a bag: its id, its instances as one relational value (rows of the
//! inner attributes, in quotes, separated by `\n`), and its class.
//!
//! ```text
//! @relation musk
//! @attribute bag_id {m1,m2}
//! @attribute bag relational
//!   @attribute f1 numeric
//!   @attribute colour {red,green}
//! @end bag
//! @attribute class {0,1}
//! @data
//! m1,"42,red\n31,green",1
//! ```
//!
//! Without a relational attribute it is a table with a row per instance, whose columns have roles as in CSV. Nominal
//! attributes become categories, texts too; dates and relations inside relations are refused. Sparse rows
//! (`{0 1.5, 3 red}`, counted from 0) stand for zeros, or the first value of a nominal attribute. `?` is a missing
//! value. Weights of rows are dropped with a warning. A row has at most [`MAX_LINE`] bytes.

mod row;
mod write;

use std::collections::HashSet;
use std::io::{BufRead, BufReader, Cursor, Read};
use std::path::Path;

use super::assemble::{BagBuilder, SideColumns};
use super::cells::{CellContent, FeatureCells, MAX_COLUMNS};
use super::columns::{self, Roles};
use super::compress::MAX_RATIO;
use super::dialect::Numbers;
use super::text::{ParseProblem, Parsed, check_head, number, shown, utf8, wrong};
use super::{Column, ReadOptions, Reader, compress};
use bagwise_core::{CarriedColumn, Dataset, Error, Message, Place, Result, Setting};
use row::{ArffCell, Token, Tokens, cells};

/// A whole bag stands in one line.
const MAX_LINE: u64 = 256_000_000;

/// Values that sparse rows may unfold to in any file, however small it is.
const UNFOLDED: u64 = 1 << 24;

/// Reads ARFF; what writes it is in `write`.
pub(super) struct Arff;

impl Reader for Arff {
    fn name(&self) -> &'static str {
        "arff"
    }

    fn recognises(&self, path: &Path, head: &[u8]) -> bool {
        if path.is_dir() {
            return false;
        }
        let lines = head.split(|&b| b == b'\n').map(<[u8]>::trim_ascii);
        let first = lines.into_iter().find(|l| !l.is_empty() && !l.starts_with(b"%"));
        super::plain_extension(path).is_some_and(|e| e == "arff")
            || first.is_some_and(|l| l.get(..9).is_some_and(|w| w.eq_ignore_ascii_case(b"@relation")))
    }

    fn read(&self, path: &Path, options: &ReadOptions) -> Result<Dataset> {
        read(&path.display().to_string(), compress::open(path)?, options)
    }
}

enum AttributeKind {
    Numeric,
    Nominal { first: String, values: HashSet<String> },
    Text,
    Relational(Vec<Attribute>),
}

struct Attribute {
    name: String,
    kind: AttributeKind,
}

/// The lines of a file.
struct Lines<'s, R> {
    source: &'s str,
    input: BufReader<R>,
    bytes: Vec<u8>,
    line: u64,
    /// Bytes so far.
    read: u64,
}

impl<R: Read> Lines<'_, R> {
    /// Reads the next line that is neither empty nor a comment; false at the end.
    fn next(&mut self) -> Result<bool> {
        loop {
            self.bytes.clear();
            let place = Place::line(self.source, self.line + 1);
            let read = (&mut self.input)
                .take(MAX_LINE + 1)
                .read_until(b'\n', &mut self.bytes)
                .map_err(|e| compress::explain(place.clone(), e))? as u64;
            if read > MAX_LINE {
                let found = format!("a row is longer than {} MB", MAX_LINE / 1_000_000);
                return Err(Error::data(place, found, "use .npz or Parquet for large bags"));
            }
            self.line += 1;
            self.read += read;
            let text = self.bytes.trim_ascii();
            if read == 0 || !(text.is_empty() || text.starts_with(b"%")) {
                return Ok(read > 0);
            }
        }
    }

    fn text(&self) -> Result<&str> {
        utf8(self.source, self.line, self.bytes.trim_ascii())
    }

    fn refuse(&self, (found, remedy): ParseProblem) -> Error {
        Error::data(Place::line(self.source, self.line), found, remedy)
    }
}

/// Reads the heading, up to and with `@data`.
fn heading<R: Read>(lines: &mut Lines<'_, R>) -> Result<Vec<Attribute>> {
    let mut outer: Vec<Attribute> = Vec::new();
    let mut inner: Option<(String, Vec<Attribute>)> = None;
    while lines.next()? {
        let text = lines.text()?;
        let keyword = text.split_ascii_whitespace().next().unwrap_or_default().to_ascii_lowercase();
        let rest = &text[keyword.len()..];
        match keyword.as_str() {
            "@relation" => {}
            "@attribute" => {
                let attribute = attribute(rest).map_err(|e| lines.refuse(e))?;
                let list = match (&mut inner, attribute.kind) {
                    (None, AttributeKind::Relational(_)) => {
                        inner = Some((attribute.name, Vec::new()));
                        continue;
                    }
                    (Some(_), AttributeKind::Relational(_)) => {
                        let found = "a relational attribute is nested inside another".to_string();
                        return Err(
                            lines.refuse((found, "bags of bags are not supported; flatten them".into()))
                        );
                    }
                    (inner, kind) => {
                        let list = inner.as_mut().map_or(&mut outer, |(_, list)| list);
                        list.push(Attribute { name: attribute.name, kind });
                        list
                    }
                };
                if list.len() > MAX_COLUMNS {
                    let found = format!("the file has more than {MAX_COLUMNS} attributes");
                    return Err(lines.refuse((found, "leave some out, or use the sparse form".into())));
                }
            }
            "@end" => {
                let Some((name, list)) = inner.take().filter(|(_, list)| !list.is_empty()) else {
                    let found = "@end without attributes before it".to_string();
                    return Err(
                        lines.refuse((found, "@end closes the attributes of a relational attribute".into()))
                    );
                };
                outer.push(Attribute { name, kind: AttributeKind::Relational(list) });
            }
            "@data" => {
                if let Some((name, _)) = inner {
                    let found =
                        format!("the relational attribute '{}' is not closed", shown(name.as_bytes()));
                    return Err(lines.refuse((found, format!("write @end {name} before @data").into())));
                }
                return Ok(outer);
            }
            _ => {
                let found = format!("'{}' is not valid in a header", shown(keyword.as_bytes()));
                let remedy = "expected @relation, @attribute, @end, then @data".into();
                return Err(lines.refuse((found, remedy)));
            }
        }
    }
    Err(Error::data(Place::of(lines.source), "there is no @data line", "is the file truncated, or not ARFF?"))
}

/// What stands behind `@attribute`.
fn attribute(text: &str) -> Parsed<Attribute> {
    let mut tokens = Tokens::new(text);
    let name = match tokens.next()? {
        Some(Token::Word(name)) if !name.trim().is_empty() => name.trim().to_string(),
        _ => return wrong("an attribute has no name", "write @attribute NAME TYPE"),
    };
    let shown_name = shown(name.as_bytes());
    let kind = match tokens.next()? {
        Some(Token::Open) => {
            let (mut first, mut values) = (None, HashSet::new());
            loop {
                let value = match tokens.next()? {
                    Some(Token::Word(value)) => value.trim().to_string(),
                    Some(Token::Comma) => continue,
                    Some(Token::Close) => break,
                    _ => {
                        let found = format!("the values of attribute '{shown_name}' are not closed");
                        return wrong(found, "close the list with a brace on the same line");
                    }
                };
                first.get_or_insert_with(|| value.clone());
                values.insert(value);
            }
            AttributeKind::Nominal { first: first.unwrap_or_default(), values }
        }
        Some(Token::Word(word)) => match word.to_ascii_lowercase().as_str() {
            "numeric" | "real" | "integer" => AttributeKind::Numeric,
            "string" => AttributeKind::Text,
            "relational" => AttributeKind::Relational(Vec::new()),
            "date" => {
                let found = format!("attribute '{shown_name}' is a date");
                return wrong(found, "convert it to a number, such as days since the first date");
            }
            other => {
                let found =
                    format!("attribute '{shown_name}' has the unknown type '{}'", shown(other.as_bytes()));
                return wrong(found, "expected numeric, {value, value, …}, string or relational");
            }
        },
        _ => return wrong(format!("attribute '{shown_name}' has no type"), "write @attribute NAME TYPE"),
    };
    Ok(Attribute { name, kind })
}

/// The text of a cell, `?` if it is missing, checked against what its attribute may hold.
fn value<'c>(cell: &'c ArffCell<'_>, attribute: &'c Attribute) -> Parsed<&'c str> {
    let text = match (cell, &attribute.kind) {
        (ArffCell::Missing, _) => return Ok("?"),
        (ArffCell::Default, AttributeKind::Nominal { first, .. }) => return Ok(first),
        (ArffCell::Default, _) => return Ok("0"),
        (ArffCell::Text(text), _) => text.trim(),
    };
    let name = || shown(attribute.name.as_bytes());
    match &attribute.kind {
        AttributeKind::Nominal { values, .. } if !values.contains(text) => wrong(
            format!("'{}' is not among the values of attribute '{}'", shown(text.as_bytes()), name()),
            "fix it, or add it to the list in the header",
        ),
        AttributeKind::Numeric if number(text.as_bytes()).is_none() => wrong(
            format!("'{}' is not a number, but attribute '{}' is numeric", shown(text.as_bytes()), name()),
            "fix it, or write ? if it is missing",
        ),
        _ => Ok(text),
    }
}

/// Which attribute is what. Columns are those beside the relational attribute, then those inside it.
fn roles(
    place: &Place,
    names: &[String],
    outer: usize,
    relational: bool,
    options: &ReadOptions,
) -> Result<Roles> {
    let mut options = options.clone();
    if relational {
        // By position, as Weka has it: the id first, the class last.
        let name = |at: usize| Some(Column::Name(names[at].clone()));
        let usual = ["bag_id", "bagid", "bag"];
        let bag = (0..outer).find(|&c| usual.iter().any(|u| u.eq_ignore_ascii_case(&names[c]))).unwrap_or(0);
        if options.bag.is_none() && outer > 0 {
            options.bag = name(bag);
        }
        let known = |c: &usize| {
            let column = name(*c);
            let single = [&options.bag, &options.group];
            let lists = [&options.keep, &options.ignore];
            single.contains(&&column) || column.is_some_and(|c| lists.iter().any(|l| l.contains(&c)))
        };
        let free = || (0..outer).rev().filter(|c| !known(c));
        let class = free().find(|&c| columns::is_label(&names[c])).or_else(|| free().next());
        if options.label.is_none() {
            options.label = class.and_then(name);
        }
    }
    let roles = columns::find(place, Some(names), names.len(), &options)?;
    if let Some(&column) = roles.features.iter().find(|&&c| relational && c < outer) {
        return Err(Error::data(
            place.clone(),
            format!("attribute '{}' is outside the bag", shown(names[column].as_bytes())),
            Message::from("specify its role").with([
                Setting::Label,
                Setting::Group,
                Setting::Keep,
                Setting::Ignore(None),
            ]),
        ));
    }
    Ok(roles)
}

fn read(source: &str, mut input: impl Read, options: &ReadOptions) -> Result<Dataset> {
    let head = super::read_head(&mut input).map_err(|e| compress::explain(Place::of(source), e))?;
    let text = check_head(source, &head)?.to_vec();
    let input = BufReader::new(Cursor::new(text).chain(input));
    let mut lines = Lines { source, input, bytes: Vec::new(), line: 0, read: 0 };
    let mut attributes = heading(&mut lines)?;
    let place = Place::line(source, lines.line);
    let relations: Vec<usize> = (0..attributes.len())
        .filter(|&a| matches!(attributes[a].kind, AttributeKind::Relational(_)))
        .collect();
    if relations.len() > 1 {
        let found = format!("the file has {} relational attributes", relations.len());
        return Err(Error::data(place, found, "there must be exactly one, with the instances of the bag"));
    }
    let relation = relations.first().copied();
    // Columns: those beside the relational attribute, then those inside.
    let inner = match relation.map(|r| std::mem::replace(&mut attributes[r].kind, AttributeKind::Text)) {
        Some(AttributeKind::Relational(inner)) => inner,
        _ => Vec::new(),
    };
    let beside_of: Vec<usize> = (0..attributes.len()).filter(|&a| Some(a) != relation).collect();
    let columns: Vec<&Attribute> = beside_of.iter().map(|&a| &attributes[a]).chain(&inner).collect();
    let names: Vec<String> = columns.iter().map(|a| a.name.clone()).collect();
    let outer = beside_of.len();
    let roles = roles(&place, &names, outer, relation.is_some(), options)?;

    let content = |c: usize, is: bool| match columns[c].kind {
        AttributeKind::Numeric if !is => CellContent::Any,
        AttributeKind::Text if !is => CellContent::Text,
        _ => CellContent::Categories,
    };
    let declared =
        roles.features.iter().zip(&roles.categorical).map(|(&c, &is)| (names[c].clone(), content(c, is)));
    let mut store = FeatureCells::new(source, declared.collect(), options, Numbers::PLAIN);
    let mut book = BagBuilder::new(source, options);
    let mut beside = SideColumns {
        kept: roles
            .keep
            .iter()
            .map(|&c| CarriedColumn { name: names[c].clone(), values: Vec::new() })
            .collect(),
        instance_labels: roles.instance_label.map(|_| Vec::new()),
    };
    let (mut weights, mut seen) = (0u64, HashSet::new());
    while lines.next()? {
        let line = lines.line;
        let refuse = |e: ParseProblem| Error::data(Place::line(source, line), e.0, e.1);
        let count = |found: usize, wanted: usize, what: &str| {
            let found = format!("{what} has {found} values");
            let remedy = format!(
                "{wanted} attributes are declared; look for a missing or extra comma, and quote values with spaces"
            );
            refuse((found, remedy.into()))
        };
        let (row, weighted) = cells(lines.text()?, attributes.len()).map_err(refuse)?;
        weights += u64::from(weighted);
        if row.len() != attributes.len() {
            return Err(count(row.len(), attributes.len(), "the row"));
        }
        let bag = match relation.map(|r| &row[r]) {
            Some(ArffCell::Text(text)) => text.as_ref(),
            Some(_) => {
                let found = "the bag has no instances".to_string();
                return Err(refuse((found, "leave the row out, or give at least one instance".into())));
            }
            None => "",
        };
        let inside = bag.split('\n').filter(|text| !text.trim().is_empty());
        let inside = relation.is_some().then_some(inside).into_iter().flatten();
        // One after the other: a sparse row is parsed into as many cells as there are attributes.
        let rows = inside.map(|text| cells(text, inner.len()));
        let itself = relation.is_none().then(|| Ok((Vec::new(), false)));
        let mut rows = rows.chain(itself).enumerate().peekable();
        if rows.peek().is_none() {
            let found = "the bag has no instances".to_string();
            return Err(refuse((found, "leave the row out, or give at least one instance".into())));
        }
        for (instance, parsed) in rows {
            let (inside, weighted) = parsed.map_err(refuse)?;
            weights += u64::from(weighted);
            if inside.len() != inner.len() {
                return Err(count(
                    inside.len(),
                    inner.len(),
                    &format!("instance {} of the bag", instance + 1),
                ));
            }
            let cell = |c: usize| if c < outer { &row[beside_of[c]] } else { &inside[c - outer] };
            let text = |c: usize| value(cell(c), columns[c]).map_err(refuse);
            let id = text(roles.bag)?;
            if relation.is_some() && instance == 0 && !seen.insert(id.to_string()) {
                let found = format!("a second row for bag '{}'", shown(id.as_bytes()));
                return Err(refuse((found, "give each bag one row and a unique id".into())));
            }
            book.row(line, id, roles.label.map(text).transpose()?, roles.group.map(text).transpose()?)?;
            for (kept, &column) in beside.kept.iter_mut().zip(&roles.keep) {
                kept.values.push(text(column)?.to_string());
            }
            if let (Some(labels), Some(column)) = (&mut beside.instance_labels, roles.instance_label) {
                labels.push(text(column)?.to_string());
            }
            for (i, &column) in roles.features.iter().enumerate() {
                match (cell(column), &columns[column].kind) {
                    (ArffCell::Missing, _) => store.push_missing(line, id, i)?,
                    // What is declared is a value, even if it is called NA.
                    (_, AttributeKind::Nominal { .. }) => {
                        store.push_present(line, i, text(column)?.as_bytes())?
                    }
                    _ => store.push(line, id, i, text(column)?.as_bytes())?,
                }
            }
            store.end_row();
            // Sparse rows unfold: three bytes can stand for a million zeros.
            let cells = (book.rows() * roles.features.len()) as u64;
            if cells > UNFOLDED && cells / lines.read.max(1) > MAX_RATIO {
                let found = format!("sparse rows expand to {cells} values: a decompression bomb?");
                return Err(refuse((found, "use the sparse format `bag label index:value …`".into())));
            }
        }
    }
    let (instances, features, found) = store.finish()?;
    let mut warnings = roles.warnings;
    if weights > 0 {
        warnings.push(format!("{weights} rows have weights, which are ignored").into());
    }
    book.finish(instances, features, &found, beside, options, Vec::new(), warnings)
}
