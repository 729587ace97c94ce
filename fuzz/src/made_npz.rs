//! Archives of NumPy arrays that are nearly right: headers, shapes, types and the directory of the archive fit each other,
//! but for what the bytes choose to get wrong.

use super::choices::Choices;

const NAMES: [&str; 8] = ["X", "bag", "offsets", "y", "groups", "features", "instance_label", "extra"];
const TYPES: [(&str, usize); 12] = [
    ("<f8", 8),
    ("<f4", 4),
    ("<f2", 2),
    (">f8", 8),
    ("<i8", 8),
    ("<i4", 4),
    ("|b1", 1),
    ("<U2", 8),
    ("|S3", 3),
    ("|u1", 1),
    ("|O", 8),
    ("<c16", 16),
];

/// An archive.
pub(crate) fn file(bytes: &[u8]) -> Vec<u8> {
    let mut choices = Choices::new(bytes);
    let (rows, bags) = (1 + choices.below(6), 1 + choices.below(3));
    let mut members = Vec::new();
    for name in NAMES.iter().take(2 + choices.below(NAMES.len() - 1)) {
        if choices.rarely(8) {
            continue;
        }
        let name = if choices.rarely(16) { choices.of(&NAMES) } else { name };
        members.push((format!("{name}.npy"), array(name, rows, bags, &mut choices)));
    }
    archive(&members, &mut choices)
}

/// An array that fits its name.
fn array(name: &str, rows: usize, bags: usize, choices: &mut Choices<'_>) -> Vec<u8> {
    let usual = match name {
        "X" => 0,
        "offsets" | "bag" => 4,
        "features" => 7,
        _ => 5,
    };
    let (kind, size) = if choices.rarely(4) { choices.of(&TYPES) } else { TYPES[usual] };
    let mut shape = match name {
        "X" => vec![rows as u64, 1 + choices.below(3) as u64],
        "offsets" => vec![bags as u64 + 1],
        "features" => vec![2],
        _ => vec![rows as u64],
    };
    let items: u64 = shape.iter().product();
    if choices.rarely(8) {
        let at = choices.below(shape.len());
        shape[at] = choices.number();
    }
    if choices.rarely(16) {
        shape.push(choices.number());
    }
    let mut body = Vec::new();
    for item in 0..items as usize {
        match (name, size) {
            ("offsets", 8) if !choices.rarely(16) => body.extend((item * rows / bags).to_le_bytes()),
            ("bag", 8) if !choices.rarely(16) => body.extend((item * bags / rows).to_le_bytes()),
            (_, 8) if kind.ends_with("f8") => body.extend(choices.value().to_le_bytes()),
            _ => body.extend((0..size).map(|i| if i == 0 { choices.byte() } else { 0 })),
        }
    }
    let body_end = if choices.rarely(16) { body.len() / 2 } else { body.len() };
    let shown: Vec<String> = shape.iter().map(|n| n.to_string()).collect();
    let order = if choices.rarely(4) { "True" } else { "False" };
    let header =
        format!("{{'descr': '{kind}', 'fortran_order': {order}, 'shape': ({},), }}\n", shown.join(", "));
    let mut file = b"\x93NUMPY".to_vec();
    file.extend([if choices.rarely(8) { choices.byte() } else { 1 }, 0]);
    let length = if choices.rarely(16) { choices.number() as u16 } else { header.len() as u16 };
    file.extend(length.to_le_bytes());
    file.extend(header.as_bytes());
    file.extend(&body[..body_end]);
    file
}

/// Members, stored, with a directory.
fn archive(members: &[(String, Vec<u8>)], choices: &mut Choices<'_>) -> Vec<u8> {
    let (mut file, mut directory) = (Vec::new(), Vec::new());
    for (name, content) in members {
        let size = if choices.rarely(16) { choices.number() as u32 } else { content.len() as u32 };
        let crc = if choices.rarely(16) { 1 } else { crc32(content) };
        let at = if choices.rarely(16) { choices.number() as u32 } else { file.len() as u32 };
        let packing: u16 = if choices.rarely(16) { 8 } else { 0 };
        let mut common = vec![20, 0, 0, 0];
        common.extend(packing.to_le_bytes());
        common.extend([0; 4]);
        for word in [crc, size, size] {
            common.extend(word.to_le_bytes());
        }
        common.extend((name.len() as u16).to_le_bytes());
        common.extend([0, 0]);
        file.extend(b"PK\x03\x04");
        file.extend(&common);
        file.extend(name.as_bytes());
        file.extend(content);
        directory.extend(b"PK\x01\x02\x14\x00");
        directory.extend(&common);
        directory.extend([0; 10]);
        directory.extend(at.to_le_bytes());
        directory.extend(name.as_bytes());
    }
    let at = file.len() as u32;
    let count = if choices.rarely(16) { choices.number() as u16 } else { members.len() as u16 };
    file.extend(&directory);
    file.extend(b"PK\x05\x06\x00\x00\x00\x00");
    file.extend(count.to_le_bytes());
    file.extend(count.to_le_bytes());
    file.extend((directory.len() as u32).to_le_bytes());
    file.extend(at.to_le_bytes());
    file.extend([0, 0]);
    file
}

fn crc32(bytes: &[u8]) -> u32 {
    !bytes.iter().fold(!0u32, |mut sum, &byte| {
        sum ^= u32::from(byte);
        for _ in 0..8 {
            sum = (sum >> 1) ^ (0xedb8_8320 & (sum & 1).wrapping_neg());
        }
        sum
    })
}
