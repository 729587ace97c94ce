//! Thrift's compact protocol, in which Parquet describes itself: numbered fields of integers, texts, lists and structures,
//! read into a tree, written field by field. Every element takes at least one byte, so that a tree is never much larger than
//! its bytes; depth is limited.

/// A value of the protocol.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum ThriftValue {
    Bool(bool),
    Int(i64),
    Double,
    Bytes(Vec<u8>),
    List(Vec<ThriftValue>),
    Struct(Vec<(i16, ThriftValue)>),
}

/// Structures inside structures: Parquet has six.
const MAX_DEPTH: usize = 24;

impl ThriftValue {
    /// A field of a structure.
    pub(super) fn get(&self, id: i16) -> Option<&ThriftValue> {
        match self {
            ThriftValue::Struct(fields) => fields.iter().find(|(f, _)| *f == id).map(|(_, v)| v),
            _ => None,
        }
    }

    /// A whole number in a field.
    pub(super) fn int(&self, id: i16) -> Option<i64> {
        match self.get(id) {
            Some(ThriftValue::Int(v)) => Some(*v),
            _ => None,
        }
    }

    /// A whole number in a field that cannot be negative.
    pub(super) fn size(&self, id: i16) -> Option<usize> {
        usize::try_from(self.int(id)?).ok()
    }

    pub(super) fn list(&self, id: i16) -> &[ThriftValue] {
        match self.get(id) {
            Some(ThriftValue::List(list)) => list,
            _ => &[],
        }
    }

    pub(super) fn text(&self, id: i16) -> Option<String> {
        match self.get(id) {
            Some(ThriftValue::Bytes(bytes)) => Some(String::from_utf8_lossy(bytes).into_owned()),
            _ => None,
        }
    }
}

/// Bytes that are being read.
pub(super) struct Input<'b> {
    pub(super) bytes: &'b [u8],
}

impl Input<'_> {
    fn byte(&mut self) -> Option<u8> {
        let (&first, rest) = self.bytes.split_first()?;
        self.bytes = rest;
        Some(first)
    }

    pub(super) fn varint(&mut self) -> Option<u64> {
        let mut value = 0u64;
        for shift in (0..64).step_by(7) {
            let byte = self.byte()?;
            value |= u64::from(byte & 0x7f) << shift;
            if byte & 0x80 == 0 {
                return Some(value);
            }
        }
        None
    }

    fn zigzag(&mut self) -> Option<i64> {
        let v = self.varint()?;
        Some((v >> 1) as i64 ^ -((v & 1) as i64))
    }

    /// A structure, or nothing if the bytes are none.
    pub(super) fn structure(&mut self) -> Option<ThriftValue> {
        self.read(12, 0)
    }

    fn read(&mut self, kind: u8, depth: usize) -> Option<ThriftValue> {
        if depth > MAX_DEPTH {
            return None;
        }
        Some(match kind {
            1 | 2 => ThriftValue::Bool(kind == 1),
            3 => ThriftValue::Int(i64::from(self.byte()? as i8)),
            4..=6 => ThriftValue::Int(self.zigzag()?),
            7 => {
                self.bytes = self.bytes.get(8..)?;
                ThriftValue::Double
            }
            8 => {
                let length = usize::try_from(self.varint()?).ok()?;
                let (content, rest) = self.bytes.split_at_checked(length)?;
                self.bytes = rest;
                ThriftValue::Bytes(content.to_vec())
            }
            9 | 10 => {
                let head = self.byte()?;
                let count = if head >> 4 == 15 { self.varint()? } else { u64::from(head >> 4) };
                let mut list = Vec::new();
                for _ in 0..count {
                    list.push(self.element(head & 15, depth + 1)?);
                }
                ThriftValue::List(list)
            }
            11 => {
                let count = self.varint()?;
                let kinds = if count > 0 { self.byte()? } else { 0 };
                let mut list = Vec::new();
                for _ in 0..count {
                    list.push(self.element(kinds >> 4, depth + 1)?);
                    list.push(self.element(kinds & 15, depth + 1)?);
                }
                ThriftValue::List(list)
            }
            12 => {
                let (mut fields, mut last) = (Vec::new(), 0i16);
                loop {
                    let head = self.byte()?;
                    if head == 0 {
                        break;
                    }
                    last = match head >> 4 {
                        0 => i16::try_from(self.zigzag()?).ok()?,
                        step => last.checked_add(i16::from(step))?,
                    };
                    fields.push((last, self.read(head & 15, depth + 1)?));
                }
                ThriftValue::Struct(fields)
            }
            _ => return None,
        })
    }

    /// Inside a list a boolean is a byte of its own.
    fn element(&mut self, kind: u8, depth: usize) -> Option<ThriftValue> {
        match kind {
            1 | 2 => Some(ThriftValue::Bool(self.byte()? == 1)),
            _ => self.read(kind, depth),
        }
    }
}

pub(super) fn put_varint(mut value: u64, out: &mut Vec<u8>) {
    while value >= 0x80 {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

/// A structure as it is written: fields in ascending order.
#[derive(Default)]
pub(super) struct ThriftWriter {
    bytes: Vec<u8>,
    last: i16,
}

impl ThriftWriter {
    fn field(&mut self, id: i16, kind: u8) {
        let step = id - self.last;
        debug_assert!((1..16).contains(&step), "fields ascend");
        self.bytes.push((step as u8) << 4 | kind);
        self.last = id;
    }

    fn zigzag(&mut self, value: i64) {
        put_varint((value << 1 ^ value >> 63) as u64, &mut self.bytes);
    }

    /// A field of 32 bits or fewer.
    pub(super) fn int(mut self, id: i16, value: i32) -> ThriftWriter {
        self.field(id, 5);
        self.zigzag(value.into());
        self
    }

    /// A field of 64 bits.
    pub(super) fn wide(mut self, id: i16, value: i64) -> ThriftWriter {
        self.field(id, 6);
        self.zigzag(value);
        self
    }

    pub(super) fn text(mut self, id: i16, text: &str) -> ThriftWriter {
        self.field(id, 8);
        put_varint(text.len() as u64, &mut self.bytes);
        self.bytes.extend(text.as_bytes());
        self
    }

    pub(super) fn structure(mut self, id: i16, inner: ThriftWriter) -> ThriftWriter {
        self.field(id, 12);
        self.bytes.extend(inner.finish());
        self
    }

    fn list_head(&mut self, id: i16, kind: u8, count: usize) {
        self.field(id, 9);
        if count < 15 {
            self.bytes.push((count as u8) << 4 | kind);
        } else {
            self.bytes.push(0xf0 | kind);
            put_varint(count as u64, &mut self.bytes);
        }
    }

    pub(super) fn structures(mut self, id: i16, items: Vec<ThriftWriter>) -> ThriftWriter {
        self.list_head(id, 12, items.len());
        for item in items {
            self.bytes.extend(item.finish());
        }
        self
    }

    pub(super) fn texts(mut self, id: i16, items: &[&str]) -> ThriftWriter {
        self.list_head(id, 8, items.len());
        for item in items {
            put_varint(item.len() as u64, &mut self.bytes);
            self.bytes.extend(item.as_bytes());
        }
        self
    }

    pub(super) fn ints(mut self, id: i16, items: &[i32]) -> ThriftWriter {
        self.list_head(id, 5, items.len());
        for &item in items {
            self.zigzag(item.into());
        }
        self
    }

    /// The bytes, with the mark that ends a structure.
    pub(super) fn finish(mut self) -> Vec<u8> {
        self.bytes.push(0);
        self.bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read() {
        let inner = ThriftWriter::default().int(3, -7).wide(15, i64::MIN);
        let bytes = ThriftWriter::default()
            .int(1, i32::MAX)
            .text(2, "é")
            .structure(5, inner)
            .texts(6, &["a", "b"])
            .ints(7, &[0; 20])
            .finish();
        let mut input = Input { bytes: &bytes };
        let read = input.structure().unwrap();
        assert!(input.bytes.is_empty());
        assert_eq!((read.int(1), read.text(2).as_deref()), (Some(i32::MAX.into()), Some("é")));
        let inner = read.get(5).unwrap();
        assert_eq!((inner.int(3), inner.int(15), inner.size(3)), (Some(-7), Some(i64::MIN), None));
        assert_eq!((read.list(6).len(), read.list(7).len(), read.list(9).len()), (2, 20, 0));
        for cut in 0..bytes.len() {
            assert_eq!(Input { bytes: &bytes[..cut] }.structure(), None, "cut at {cut}");
        }
    }

    #[test]
    fn depth_and_claims_are_limited() {
        assert_eq!(Input { bytes: &[0x1c; 10_000] }.structure(), None);
        assert_eq!(Input { bytes: &[0x19, 0xfc, 0xff, 0xff, 0xff, 0xff, 0x0f, 0] }.structure(), None);
    }
}
