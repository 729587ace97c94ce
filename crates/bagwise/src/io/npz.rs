//! NumPy's `.npz` with a sparse matrix, as `scipy.sparse.load_npz` reads it: a zip archive of `.npy` files (format, shape,
//! data, indices, indptr), and `bags.npy`, the names of its rows, which `numpy.load` reads.
//!
//! The archive is written by hand: entries are stored, not compressed, which takes a header, a checksum (from flate2,
//! which we have) and a list at the end; a library for zip would bring a dozen things that are not needed.

use std::io::{self, Write};
use std::path::Path;

use super::save;
use crate::error::{Error, Place, Result};
use crate::mat::Csr;

/// Writes sparse rows and their names, whole or not at all.
pub fn write_npz(path: &Path, rows: &Csr, names: &[String]) -> Result<()> {
    // Sizes in a zip archive without extensions are 32 bits, signed in some readers.
    const MOST: usize = i32::MAX as usize;
    if rows.nnz() * 8 > MOST {
        return Err(Error::data(
            Place::of(path.display().to_string()),
            format!("{} entries are more than an npz file takes", rows.nnz()),
            "map fewer bags at a time, or with a smaller psi or t",
        ));
    }
    save::whole(path, |file| {
        let mut archive = Archive { out: file, at: 0, list: Vec::new(), entries: 0 };
        archive.add("format.npy", &npy("|S3", "", b"csr".to_vec()))?;
        let shape = [rows.rows() as i64, rows.cols() as i64];
        archive.add("shape.npy", &npy("<i8", "2,", bytes(shape.iter().map(|v| v.to_le_bytes()))))?;
        let data = bytes(rows.values().iter().map(|v| v.to_le_bytes()));
        archive.add("data.npy", &npy("<f8", &format!("{},", rows.nnz()), data))?;
        let indices = bytes(rows.indices().iter().map(|&v| (v as i32).to_le_bytes()));
        archive.add("indices.npy", &npy("<i4", &format!("{},", rows.nnz()), indices))?;
        let indptr = bytes(rows.indptr().iter().map(|&v| (v as i32).to_le_bytes()));
        archive.add("indptr.npy", &npy("<i4", &format!("{},", rows.rows() + 1), indptr))?;
        // Texts are padded with zeros to the longest, four bytes a letter.
        let longest = names.iter().map(|n| n.chars().count()).max().unwrap_or(0).max(1);
        let letters = names.iter().flat_map(|name| {
            name.chars().map(u32::from).chain(std::iter::repeat(0)).take(longest).map(u32::to_le_bytes)
        });
        archive
            .add("bags.npy", &npy(&format!("<U{longest}"), &format!("{},", names.len()), bytes(letters)))?;
        archive.finish()
    })
}

fn bytes<const N: usize>(numbers: impl Iterator<Item = [u8; N]>) -> Vec<u8> {
    numbers.flatten().collect()
}

/// An `.npy` file, version 1.0.
fn npy(kind: &str, shape: &str, data: Vec<u8>) -> Vec<u8> {
    let header = format!("{{'descr': '{kind}', 'fortran_order': False, 'shape': ({shape}), }}");
    let padded = (10 + header.len() + 1).next_multiple_of(64) - 10;
    let mut file = b"\x93NUMPY\x01\x00".to_vec();
    file.extend((padded as u16).to_le_bytes());
    file.extend(format!("{header:<width$}\n", width = padded - 1).into_bytes());
    file.extend(data);
    file
}

/// A zip archive of stored entries.
struct Archive<'a> {
    out: &'a mut dyn Write,
    at: u32,
    list: Vec<u8>,
    entries: u16,
}

impl Archive<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.at += bytes.len() as u32;
        self.out.write_all(bytes)
    }

    fn add(&mut self, name: &str, file: &[u8]) -> io::Result<()> {
        let mut sum = flate2::Crc::new();
        sum.update(file);
        let size = u32::try_from(file.len()).map_err(|_| io::Error::other("an entry of more than 4 GB"))?;
        // Needs version 2.0; no flags; stored; 1 January 1980, so that equal maps make equal files.
        let mut common = Vec::new();
        [20u16, 0, 0, 0, 0x21].iter().for_each(|v| common.extend(v.to_le_bytes()));
        [sum.sum(), size, size].iter().for_each(|v| common.extend(v.to_le_bytes()));
        [name.len() as u16, 0].iter().for_each(|v| common.extend(v.to_le_bytes()));
        self.list.extend(b"PK\x01\x02\x14\x00");
        self.list.extend(&common);
        // No comment, first disk, no attributes.
        self.list.extend([0; 10]);
        self.list.extend(self.at.to_le_bytes());
        self.list.extend(name.as_bytes());
        self.entries += 1;
        self.write(b"PK\x03\x04")?;
        self.write(&common)?;
        self.write(name.as_bytes())?;
        self.write(file)
    }

    fn finish(mut self) -> io::Result<()> {
        let (start, list) = (self.at, std::mem::take(&mut self.list));
        self.write(&list)?;
        let mut end = b"PK\x05\x06\x00\x00\x00\x00".to_vec();
        [self.entries, self.entries].iter().for_each(|v| end.extend(v.to_le_bytes()));
        [list.len() as u32, start].iter().for_each(|v| end.extend(v.to_le_bytes()));
        end.extend([0, 0]);
        self.write(&end)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Entries of an archive, found as readers find them: from the list at the end.
    fn entries(bytes: &[u8]) -> Vec<(String, Vec<u8>)> {
        let number = |at: usize, size: usize| {
            bytes[at..at + size].iter().rev().fold(0usize, |n, &b| n << 8 | usize::from(b))
        };
        let end = bytes.len() - 22;
        assert_eq!(&bytes[end..end + 4], b"PK\x05\x06");
        let (count, mut at) = (number(end + 10, 2), number(end + 16, 4));
        assert_eq!(at + number(end + 12, 4), end, "the list ends where the end begins");
        (0..count)
            .map(|_| {
                assert_eq!(&bytes[at..at + 4], b"PK\x01\x02");
                let (sum, size, name) = (number(at + 16, 4), number(at + 24, 4), number(at + 28, 2));
                let local = number(at + 42, 4);
                let text = String::from_utf8(bytes[at + 46..at + 46 + name].to_vec()).unwrap();
                assert_eq!(&bytes[local..local + 4], b"PK\x03\x04");
                assert_eq!(number(local + 14, 4), sum);
                let from = local + 30 + number(local + 26, 2) + number(local + 28, 2);
                let file = bytes[from..from + size].to_vec();
                let mut found = flate2::Crc::new();
                found.update(&file);
                assert_eq!(found.sum() as usize, sum);
                at += 46 + name;
                (text, file)
            })
            .collect()
    }

    #[test]
    fn the_archive_holds_what_scipy_looks_for() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("e.npz");
        let mut rows = Csr::empty(7);
        rows.push_row([(1, 0.5), (6, 0.25)]);
        rows.push_row([(0, 2.0)]);
        write_npz(&path, &rows, &["é1".into(), "b".into()]).unwrap();
        let bytes = std::fs::read(&path).unwrap();
        let entries = entries(&bytes);
        let names: Vec<&str> = entries.iter().map(|e| e.0.as_str()).collect();
        assert_eq!(names, ["format.npy", "shape.npy", "data.npy", "indices.npy", "indptr.npy", "bags.npy"]);
        let expect = [
            ("'|S3', 'fortran_order': False, 'shape': ()", b"csr".to_vec()),
            (
                "'<i8', 'fortran_order': False, 'shape': (2,)",
                [2i64, 7].iter().flat_map(|v| v.to_le_bytes()).collect(),
            ),
            (
                "'<f8', 'fortran_order': False, 'shape': (3,)",
                [0.5f64, 0.25, 2.0].iter().flat_map(|v| v.to_le_bytes()).collect(),
            ),
            (
                "'<i4', 'fortran_order': False, 'shape': (3,)",
                [1i32, 6, 0].iter().flat_map(|v| v.to_le_bytes()).collect(),
            ),
            (
                "'<i4', 'fortran_order': False, 'shape': (3,)",
                [0i32, 2, 3].iter().flat_map(|v| v.to_le_bytes()).collect(),
            ),
            (
                "'<U2', 'fortran_order': False, 'shape': (2,)",
                [0xe9u32, 0x31, 0x62, 0].iter().flat_map(|v| v.to_le_bytes()).collect::<Vec<u8>>(),
            ),
        ];
        for ((name, file), (header, data)) in entries.iter().zip(expect) {
            assert!(file.starts_with(b"\x93NUMPY\x01\x00"), "{name}");
            let from = 10 + usize::from(file[8]) + 256 * usize::from(file[9]);
            assert!(from.is_multiple_of(64), "{name}");
            assert!(String::from_utf8_lossy(&file[..from]).contains(header), "{name}");
            assert_eq!(file[from..], data, "{name}");
        }
        // The same map makes the same file.
        write_npz(&path, &rows, &["é1".into(), "b".into()]).unwrap();
        assert_eq!(std::fs::read(&path).unwrap(), bytes);
    }
}
