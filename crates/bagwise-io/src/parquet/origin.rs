//! What the program that wrote a Parquet file said of its columns beyond their types: which are the index of a data
//! frame (pandas and fastparquet, as JSON), and which whole numbers are durations (the same, and Arrow's own schema, a
//! flatbuffer in Base64). Both are hints: what cannot be read says nothing.

use serde_json::Value as Json;

use super::thrift::ThriftValue;

/// Arrow's number for durations.
const DURATION: u8 = 18;

/// What stands under a key in the description of the file.
fn said(footer: &ThriftValue, key: &str) -> Option<String> {
    footer.list(5).iter().find(|pair| pair.text(1).as_deref() == Some(key)).and_then(|pair| pair.text(2))
}

fn pandas(footer: &ThriftValue) -> Option<Json> {
    serde_json::from_str(&said(footer, "pandas")?).ok()
}

/// The columns that are the index of a data frame.
pub(super) fn index(footer: &ThriftValue) -> Vec<String> {
    let pandas = pandas(footer);
    let columns = pandas.as_ref().and_then(|p| p.get("index_columns")).and_then(Json::as_array);
    columns.into_iter().flatten().filter_map(Json::as_str).map(String::from).collect()
}

/// The columns that are durations.
pub(super) fn durations(footer: &ThriftValue) -> Vec<String> {
    let pandas = pandas(footer);
    let columns = pandas.as_ref().and_then(|p| p.get("columns")).and_then(Json::as_array);
    let text = |column: &Json, key: &str| column.get(key).and_then(Json::as_str).map(String::from);
    let is_duration = |column: &&Json| {
        let types = [text(column, "numpy_type"), text(column, "pandas_type")];
        types.into_iter().flatten().any(|t| t.starts_with("timedelta"))
    };
    let name = |column: &Json| text(column, "field_name").or_else(|| text(column, "name"));
    let mut names: Vec<String> = columns.into_iter().flatten().filter(is_duration).filter_map(name).collect();
    if let Some(bytes) = said(footer, "ARROW:schema").and_then(|text| base64(&text)) {
        names.extend(arrow(&bytes).unwrap_or_default());
    }
    names
}

fn base64(text: &str) -> Option<Vec<u8>> {
    let (mut out, mut bits, mut count) = (Vec::new(), 0u32, 0);
    for byte in text.trim_end_matches('=').bytes() {
        let value = match byte {
            b'A'..=b'Z' => byte - b'A',
            b'a'..=b'z' => byte - b'a' + 26,
            b'0'..=b'9' => byte - b'0' + 52,
            b'+' => 62,
            b'/' => 63,
            _ => return None,
        };
        bits = bits << 6 | u32::from(value);
        count += 6;
        if count >= 8 {
            count -= 8;
            out.push((bits >> count) as u8);
        }
    }
    Some(out)
}

/// The names of the durations in a schema: a message of which the header is the schema, with a list of fields.
fn arrow(bytes: &[u8]) -> Option<Vec<String>> {
    let start = if bytes.starts_with(&[0xff; 4]) { 8 } else { 4 };
    let flat = Flat(bytes.get(start..)?);
    let message = flat.follow(0)?;
    let schema = flat.follow(flat.field(message, 2)?)?;
    let fields = flat.follow(flat.field(schema, 1)?)?;
    let mut names = Vec::new();
    for i in 0..flat.word(fields)?.min(1 << 20) {
        let field = flat.follow(fields + 4 + 4 * i)?;
        if flat.field(field, 2).and_then(|at| flat.0.get(at).copied()) == Some(DURATION) {
            let name = flat.follow(flat.field(field, 0)?)?;
            let text = flat.0.get(name + 4..)?.get(..flat.word(name)?)?;
            names.push(String::from_utf8_lossy(text).into_owned());
        }
    }
    Some(names)
}

/// A flatbuffer: tables that point to their parts.
struct Flat<'b>(&'b [u8]);

impl Flat<'_> {
    fn word(&self, at: usize) -> Option<usize> {
        let bytes = self.0.get(at..)?.first_chunk::<4>()?;
        Some(u32::from_le_bytes(*bytes) as usize)
    }

    /// Where the offset that stands there leads.
    fn follow(&self, at: usize) -> Option<usize> {
        at.checked_add(self.word(at)?)
    }

    /// The place of a field of a table, if it has it.
    fn field(&self, table: usize, number: usize) -> Option<usize> {
        let back = i64::from(self.word(table)? as u32 as i32);
        let sizes = usize::try_from(i64::try_from(table).ok()? - back).ok()?;
        let short = |at: usize| Some(usize::from(u16::from_le_bytes(*self.0.get(at..)?.first_chunk::<2>()?)));
        let slot = 4 + 2 * number;
        if slot >= short(sizes)? {
            return None;
        }
        match short(sizes + slot)? {
            0 => None,
            offset => Some(table + offset),
        }
    }
}
