//! MATLAB files that are nearly right: tags, sizes and nesting fit, but for what the bytes choose to get wrong.

use super::choices::Choices;

const NAMES: [&str; 8] = ["X", "bag", "y", "label", "group", "features", "data", "bags"];

/// A file with a few variables.
pub(crate) fn file(bytes: &[u8]) -> Vec<u8> {
    let mut choices = Choices::new(bytes);
    let mut file = b"MATLAB 5.0 MAT-file".to_vec();
    file.resize(124, b' ');
    file.extend([0, 1]);
    file.extend(if choices.rarely(32) { b"MI" } else { b"IM" });
    let rows = 1 + choices.below(5) as u64;
    for _ in 0..1 + choices.below(4) {
        let name = choices.of(&NAMES);
        let content = variable(name, rows, 0, &mut choices);
        element(14, &content, &mut file, &mut choices);
        if choices.is_empty() {
            break;
        }
    }
    file
}

/// An element with its tag, padded.
fn element(kind: u32, content: &[u8], out: &mut Vec<u8>, choices: &mut Choices<'_>) {
    let kind = if choices.rarely(32) { u32::from(choices.byte()) } else { kind };
    let size = if choices.rarely(32) { choices.number() as u32 } else { content.len() as u32 };
    if content.len() <= 4 && choices.rarely(2) {
        out.extend((size << 16 | kind).to_le_bytes());
        out.extend(content);
        out.resize(out.len().next_multiple_of(8), 0);
        return;
    }
    out.extend(kind.to_le_bytes());
    out.extend(size.to_le_bytes());
    out.extend(content);
    out.resize(out.len().next_multiple_of(8), 0);
}

/// The elements of a variable: flags, dimensions, name, content.
fn variable(name: &str, rows: u64, depth: usize, choices: &mut Choices<'_>) -> Vec<u8> {
    // Cells, structures, characters, sparse and full numbers of several classes.
    let class = choices.of(&[6u8, 6, 6, 1, 4, 5, 7, 9, 12, 2, 3]);
    let class = if depth > 3 && class < 4 { 6 } else { class };
    let columns = 1 + choices.below(3) as u64;
    let mut shape = vec![rows as u32, columns as u32];
    if choices.rarely(16) {
        let at = choices.below(2);
        shape[at] = choices.number() as u32;
    }
    if choices.rarely(16) {
        shape.push(choices.number() as u32);
    }
    let mut out = Vec::new();
    let nonzero = rows as u32;
    let flags = [u32::from(class) | if choices.rarely(16) { 0x800 } else { 0 }, nonzero];
    element(6, &words(&flags), &mut out, choices);
    element(5, &words(&shape), &mut out, choices);
    element(1, name.as_bytes(), &mut out, choices);
    let count = (rows * columns) as usize;
    match class {
        1 => {
            for _ in 0..count.min(6) {
                let inner = variable("", 1 + choices.below(3) as u64, depth + 1, choices);
                element(14, &inner, &mut out, choices);
            }
        }
        2 | 3 => {
            element(5, &words(&[8]), &mut out, choices);
            element(1, b"field\0\0\0", &mut out, choices);
            let inner = variable("", rows, depth + 1, choices);
            element(14, &inner, &mut out, choices);
        }
        4 => {
            let texts: Vec<u8> = (0..count).flat_map(|_| [choices.byte(), 0]).collect();
            element(4, &texts, &mut out, choices);
        }
        5 => {
            let at: Vec<u32> =
                (0..nonzero).map(|i| if choices.rarely(8) { choices.number() as u32 } else { i }).collect();
            element(5, &words(&at), &mut out, choices);
            let starts: Vec<u32> =
                (0..=columns as u32)
                    .map(|c| {
                        if choices.rarely(8) { choices.number() as u32 } else { c * nonzero / columns as u32 }
                    })
                    .collect();
            element(5, &words(&starts), &mut out, choices);
            let values: Vec<u8> = (0..nonzero).flat_map(|_| choices.value().to_le_bytes()).collect();
            element(9, &values, &mut out, choices);
        }
        7 => {
            let values: Vec<u8> = (0..count).flat_map(|_| (choices.value() as f32).to_le_bytes()).collect();
            element(7, &values, &mut out, choices);
        }
        9 => element(2, choices.some(count), &mut out, choices),
        12 => {
            let values: Vec<u8> = (0..count).flat_map(|_| u32::from(choices.byte()).to_le_bytes()).collect();
            element(5, &values, &mut out, choices);
        }
        _ => {
            let values: Vec<u8> = (0..count).flat_map(|_| choices.value().to_le_bytes()).collect();
            element(9, &values, &mut out, choices);
        }
    }
    out
}

fn words(all: &[u32]) -> Vec<u8> {
    all.iter().flat_map(|w| w.to_le_bytes()).collect()
}
