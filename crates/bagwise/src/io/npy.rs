//! NumPy's `.npy`, version 1.0, for matrices of doubles: a Gram goes to any other program through it.

use std::path::Path;

use super::save;
use crate::error::Result;
use crate::mat::Mat;

/// Writes a matrix, row after row, whole or not at all.
pub fn write_npy(path: &Path, mat: &Mat) -> Result<()> {
    save::whole(path, |file| {
        let header = format!(
            "{{'descr': '<f8', 'fortran_order': False, 'shape': ({}, {}), }}",
            mat.rows(),
            mat.cols()
        );
        // Magic, version and length take 10 bytes; numbers start at a multiple of 64, as the format asks.
        let padded = (10 + header.len() + 1).next_multiple_of(64) - 10;
        file.write_all(b"\x93NUMPY\x01\x00")?;
        file.write_all(&(padded as u16).to_le_bytes())?;
        file.write_all(format!("{header:<width$}\n", width = padded - 1).as_bytes())?;
        for value in mat.data() {
            file.write_all(&value.to_le_bytes())?;
        }
        Ok(())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_header_is_numpys() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("g.npy");
        write_npy(&path, &Mat::from_rows(&[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])).unwrap();
        let bytes = std::fs::read(path).unwrap();
        assert_eq!(bytes.len(), 128 + 48);
        assert!(bytes.starts_with(
            b"\x93NUMPY\x01\x00\x76\x00{'descr': '<f8', 'fortran_order': False, 'shape': (2, 3), }"
        ));
        assert_eq!(bytes[127], b'\n');
        assert_eq!(bytes[128 + 40..], 6f64.to_le_bytes());
    }
}
