//! A sparse matrix as `.npz`, as `scipy.sparse.load_npz` reads it: the arrays format, shape, data, indices and indptr, and
//! `bags`, the names of its rows, which `numpy.load` reads.

use std::path::Path;

use super::arrays::Values;
use super::npz::{array, values};
use super::replace::MAP_MARK;
use super::save;
use super::zip::Pack;
use bagwise_core::{Csr, Error, Place, Result};

/// Writes sparse rows and their names, whole or not at all.
pub fn write_npz(path: &Path, rows: &Csr, names: &[String]) -> Result<()> {
    if i32::try_from(rows.nnz()).is_err() {
        return Err(Error::data(
            Place::of(path.display().to_string()),
            format!("{} entries exceed the range of SciPy's indices", rows.nnz()),
            "map fewer bags at a time, or with a smaller psi or t",
        ));
    }
    save::whole(path, |out| {
        let mut pack = Pack::new(out);
        array(&mut pack, "format", "|S3", &[], 3, |out| out.write_all(b"csr"))?;
        values(&mut pack, "shape", &Values::Whole(vec![rows.rows() as i64, rows.cols() as i64]))?;
        array(&mut pack, "data", "<f8", &[rows.nnz()], 8, |out| {
            rows.values().iter().try_for_each(|v| out.write_all(&v.to_le_bytes()))
        })?;
        array(&mut pack, "indices", "<i4", &[rows.nnz()], 4, |out| {
            rows.indices().iter().try_for_each(|v| out.write_all(&v.to_le_bytes()))
        })?;
        array(&mut pack, "indptr", "<i4", &[rows.rows() + 1], 4, |out| {
            rows.indptr().iter().try_for_each(|&v| out.write_all(&(v as i32).to_le_bytes()))
        })?;
        values(&mut pack, "bags", &Values::texts(names.to_vec()))?;
        pack.finish(MAP_MARK)
    })
}

#[cfg(test)]
mod tests {
    use std::io::Read;

    use super::super::zip::Archive;
    use super::*;

    fn entries(path: &Path) -> Vec<(String, Vec<u8>)> {
        let mut archive = Archive::open(path).unwrap();
        let members = archive.members.clone();
        members
            .into_iter()
            .map(|member| {
                let mut file = Vec::new();
                archive.member(&member).unwrap().read_to_end(&mut file).unwrap();
                (member.name, file)
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
        let entries = entries(&path);
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
