//! Parquet files that are nearly right: schema, row groups, pages and sizes fit each other, but for what the bytes choose
//! to get wrong.

use super::choices::Choices;

const NAMES: [&str; 6] = ["bag", "label", "f1", "f2", "group", "list"];

/// A structure of Thrift's compact protocol that is being written.
#[derive(Default)]
struct Thrift {
    bytes: Vec<u8>,
    last: i16,
}

impl Thrift {
    fn field(&mut self, id: i16, kind: u8) {
        let step = id - self.last;
        if (1..16).contains(&step) {
            self.bytes.push((step as u8) << 4 | kind);
        } else {
            self.bytes.push(kind);
            zigzag(i64::from(id), &mut self.bytes);
        }
        self.last = id;
    }

    fn int(mut self, id: i16, value: i64) -> Thrift {
        self.field(id, 5);
        zigzag(value, &mut self.bytes);
        self
    }

    fn long(mut self, id: i16, value: i64) -> Thrift {
        self.field(id, 6);
        zigzag(value, &mut self.bytes);
        self
    }

    fn text(mut self, id: i16, value: &[u8]) -> Thrift {
        self.field(id, 8);
        put(value, &mut self.bytes);
        self
    }

    fn inner(mut self, id: i16, value: Thrift) -> Thrift {
        self.field(id, 12);
        self.bytes.extend(value.end());
        self
    }

    fn list(mut self, id: i16, kind: u8, items: &[Vec<u8>]) -> Thrift {
        self.field(id, 9);
        if items.len() < 15 {
            self.bytes.push((items.len() as u8) << 4 | kind);
        } else {
            self.bytes.push(0xf0 | kind);
            varint(items.len() as u64, &mut self.bytes);
        }
        self.bytes.extend(items.concat());
        self
    }

    fn end(mut self) -> Vec<u8> {
        self.bytes.push(0);
        self.bytes
    }
}

fn varint(mut value: u64, out: &mut Vec<u8>) {
    while value >= 0x80 {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

fn zigzag(value: i64, out: &mut Vec<u8>) {
    varint((value << 1 ^ value >> 63) as u64, out);
}

fn put(bytes: &[u8], out: &mut Vec<u8>) {
    varint(bytes.len() as u64, out);
    out.extend(bytes);
}

/// A whole number of the file: right, or one that tempts.
fn maybe(right: usize, choices: &mut Choices<'_>) -> i64 {
    if choices.rarely(24) { choices.number() as i64 } else { right as i64 }
}

/// A file.
pub(crate) fn file(bytes: &[u8]) -> Vec<u8> {
    let mut choices = Choices::new(bytes);
    let rows = 1 + choices.below(6);
    let columns = 2 + choices.below(4);
    // A physical type for each, and whether values may be missing or repeat.
    let kinds: Vec<(usize, usize)> = (0..columns)
        .map(|c| {
            let usual = if c == 0 { 6 } else { 5 };
            let kind = if choices.rarely(3) { choices.of(&[0, 1, 2, 3, 4, 5, 6, 7]) } else { usual };
            (kind, if choices.rarely(4) { 1 + choices.below(2) } else { 0 })
        })
        .collect();
    let mut schema = vec![Thrift::default().text(4, b"schema").int(5, maybe(columns, &mut choices)).end()];
    for (c, &(kind, repeats)) in kinds.iter().enumerate() {
        let mut column = Thrift::default().int(1, maybe(kind, &mut choices));
        if kind == 7 {
            column = column.int(2, maybe(2, &mut choices));
        }
        column = column.int(3, maybe(repeats, &mut choices)).text(4, NAMES[c].as_bytes());
        if choices.rarely(4) {
            column = column.int(6, choices.below(22) as i64);
        }
        schema.push(column.end());
    }
    let mut out = b"PAR1".to_vec();
    let mut groups = Vec::new();
    for _ in 0..1 + choices.below(2) {
        let mut chunks = Vec::new();
        for (c, &(kind, repeats)) in kinds.iter().enumerate() {
            chunks.push(chunk(NAMES[c], kind, repeats, rows, &mut out, &mut choices));
        }
        let group = Thrift::default().list(1, 12, &chunks).long(2, maybe(100, &mut choices));
        groups.push(group.long(3, maybe(rows, &mut choices)).end());
    }
    let all = maybe(rows * groups.len(), &mut choices);
    let footer = Thrift::default().int(1, 1).list(2, 12, &schema).long(3, all).list(4, 12, &groups).end();
    out.extend(&footer);
    out.extend((maybe(footer.len(), &mut choices) as u32).to_le_bytes());
    out.extend(b"PAR1");
    out
}

/// The pages of a column, and what the footer says of them.
fn chunk(
    name: &str,
    kind: usize,
    repeats: usize,
    rows: usize,
    out: &mut Vec<u8>,
    choices: &mut Choices<'_>,
) -> Vec<u8> {
    let start = out.len();
    let dictionary = choices.rarely(3);
    if dictionary {
        let body = values(kind, 3, choices);
        let head = Thrift::default().int(1, maybe(3, choices)).int(2, 0);
        page(2, 7, head, &body, out, choices);
    }
    let data_at = out.len();
    // Plain, dictionary, runs, the three deltas and split bytes.
    let encoding = match dictionary {
        true => 8,
        false if choices.rarely(3) => choices.of(&[2, 3, 4, 5, 6, 7, 8, 9]),
        false => 0,
    };
    let mut body = Vec::new();
    let second = choices.rarely(4);
    let levels = level(rows, choices);
    let level_bytes = if repeats > 0 { levels.len() } else { 0 };
    for _ in 0..repeats.min(2) {
        if !second {
            body.extend((maybe(levels.len(), choices) as u32).to_le_bytes());
        }
        body.extend(&levels);
    }
    match encoding {
        0 => body.extend(values(kind, rows, choices)),
        2 | 8 => {
            body.push(2);
            body.extend(runs(rows, choices));
        }
        _ => body.extend(choices.some(24)),
    }
    if second {
        let head = Thrift::default()
            .int(1, maybe(rows, choices))
            .int(2, maybe(0, choices))
            .int(3, maybe(rows, choices))
            .int(4, encoding as i64)
            .int(5, maybe(level_bytes, choices))
            .int(6, maybe(if repeats == 2 { level_bytes } else { 0 }, choices));
        page(3, 8, head, &body, out, choices);
    } else {
        let head = Thrift::default().int(1, maybe(rows, choices)).int(2, encoding as i64).int(3, 3).int(4, 3);
        page(0, 5, head, &body, out, choices);
    }
    let codec = if choices.rarely(12) { choices.below(8) } else { 0 };
    let mut about = Thrift::default()
        .int(1, maybe(kind, choices))
        .list(2, 5, &[vec![0]])
        .list(3, 8, &[[vec![name.len() as u8], name.as_bytes().to_vec()].concat()])
        .int(4, codec as i64)
        .long(5, maybe(rows, choices))
        .long(6, maybe(out.len() - start, choices))
        .long(7, maybe(out.len() - start, choices))
        .long(9, maybe(data_at, choices));
    if dictionary {
        about = about.long(11, maybe(start, choices));
    }
    Thrift::default().long(2, maybe(start, choices)).inner(3, about).end()
}

/// A page with its header.
fn page(kind: i64, field: i16, head: Thrift, body: &[u8], out: &mut Vec<u8>, choices: &mut Choices<'_>) {
    let sizes =
        Thrift::default().int(1, kind).int(2, maybe(body.len(), choices)).int(3, maybe(body.len(), choices));
    out.extend(sizes.inner(field, head).end());
    out.extend(body);
}

/// Plain values.
fn values(kind: usize, count: usize, choices: &mut Choices<'_>) -> Vec<u8> {
    let mut out = Vec::new();
    for i in 0..count {
        match kind {
            0 if i % 8 == 0 => out.push(choices.byte()),
            0 => {}
            1 => out.extend(u32::from(choices.byte()).to_le_bytes()),
            2 => out.extend(u64::from(choices.byte()).to_le_bytes()),
            3 => out.extend([choices.byte(); 12]),
            4 => out.extend((choices.value() as f32).to_le_bytes()),
            5 => out.extend(choices.value().to_le_bytes()),
            6 => {
                let text = [b'a' + choices.byte() % 3];
                out.extend((maybe(1, choices) as u32).to_le_bytes());
                out.extend(text);
            }
            _ => out.extend([choices.byte(); 2]),
        }
    }
    out
}

/// Levels: a run of ones, or a mix.
fn level(rows: usize, choices: &mut Choices<'_>) -> Vec<u8> {
    if choices.rarely(3) { runs(rows, choices) } else { vec![(rows as u8) << 1, 1] }
}

/// The hybrid of runs and packed bits.
fn runs(rows: usize, choices: &mut Choices<'_>) -> Vec<u8> {
    let mut out = Vec::new();
    match choices.below(3) {
        0 => {
            varint((maybe(rows, choices) as u64).wrapping_mul(2) % (1 << 40), &mut out);
            out.push(choices.byte() % 4);
        }
        1 => {
            varint(3, &mut out);
            out.extend([choices.byte(), choices.byte()]);
        }
        _ => out.extend(choices.some(6)),
    }
    out
}
