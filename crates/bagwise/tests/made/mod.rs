//! Files of arrays made by hand, byte by byte, so that tests can also make those that no program would write.

#![allow(dead_code)] // each test crate uses some

use std::io::Write;

use flate2::Compression;
use flate2::write::DeflateEncoder;

/// An array in NumPy's own form.
pub(crate) fn npy(descr: &str, shape: &str, data: &[u8]) -> Vec<u8> {
    let mut out = b"\x93NUMPY\x01\x00".to_vec();
    let header = format!("{{'descr': {descr}, 'fortran_order': False, 'shape': {shape}, }}\n");
    out.extend((header.len() as u16).to_le_bytes());
    out.extend(header.as_bytes());
    out.extend(data);
    out
}

/// Numbers as bytes.
pub(crate) fn doubles(values: &[f64]) -> Vec<u8> {
    values.iter().flat_map(|v| v.to_le_bytes()).collect()
}

/// A zip archive; members are stored, or deflated where the name starts with a dash, which is taken off.
pub(crate) fn zip(members: &[(&str, Vec<u8>)]) -> Vec<u8> {
    let (mut out, mut directory) = (Vec::new(), Vec::new());
    for (name, content) in members {
        let mut crc = flate2::Crc::new();
        crc.update(content);
        let (name, method, packed) = match name.strip_prefix('-') {
            Some(name) => {
                let mut encoder = DeflateEncoder::new(Vec::new(), Compression::best());
                encoder.write_all(content).unwrap();
                (name, 8u16, encoder.finish().unwrap())
            }
            None => (*name, 0u16, content.clone()),
        };
        let mut common = vec![20, 0, 0, 0];
        common.extend(method.to_le_bytes());
        common.extend([0; 4]);
        common.extend(crc.sum().to_le_bytes());
        common.extend((packed.len() as u32).to_le_bytes());
        common.extend((content.len() as u32).to_le_bytes());
        common.extend((name.len() as u16).to_le_bytes());
        common.extend([0; 2]);
        directory.extend(b"PK\x01\x02\x14\x00");
        directory.extend(&common);
        directory.extend([0; 10]);
        directory.extend((out.len() as u32).to_le_bytes());
        directory.extend(name.as_bytes());
        out.extend(b"PK\x03\x04");
        out.extend(&common);
        out.extend(name.as_bytes());
        out.extend(packed);
    }
    let start = out.len() as u32;
    out.extend(&directory);
    out.extend(b"PK\x05\x06\0\0\0\0");
    out.extend((members.len() as u16).to_le_bytes().repeat(2));
    out.extend((directory.len() as u32).to_le_bytes());
    out.extend(start.to_le_bytes());
    out.extend([0; 2]);
    out
}

/// An element of a `.mat` file.
pub(crate) fn element(kind: u32, content: &[u8]) -> Vec<u8> {
    let mut out = [kind.to_le_bytes(), (content.len() as u32).to_le_bytes()].concat();
    out.extend(content);
    out.resize(out.len().next_multiple_of(8), 0);
    out
}

/// A variable of a `.mat` file.
pub(crate) fn variable(class: u32, sizes: &[i32], name: &str, content: &[u8]) -> Vec<u8> {
    let flags: Vec<u8> = [class.to_le_bytes(), [0; 4]].concat();
    let sizes: Vec<u8> = sizes.iter().flat_map(|s| s.to_le_bytes()).collect();
    element(
        14,
        &[element(6, &flags), element(5, &sizes), element(1, name.as_bytes()), content.to_vec()].concat(),
    )
}

/// A `.mat` file.
pub(crate) fn mat(variables: &[Vec<u8>]) -> Vec<u8> {
    let mut out = b"MATLAB 5.0 MAT-file".to_vec();
    out.resize(124, b' ');
    out.extend(b"\x00\x01IM");
    variables.iter().for_each(|v| out.extend(v));
    out
}

/// A matrix of a `.mat` file; values stand column after column.
pub(crate) fn matrix(name: &str, rows: i32, cols: i32, values: &[f64]) -> Vec<u8> {
    variable(6, &[rows, cols], name, &element(9, &doubles(values)))
}
