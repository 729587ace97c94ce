//! A sparse matrix as `.npz`, as `scipy.sparse.load_npz` reads it: the arrays format, shape, data, indices and indptr. `numpy.load`
//! also reads `bags`, the names of its rows, and `map`, the digest of the map that made them.

use std::fs::File;
use std::io::{self, Seek as _, SeekFrom, Write};
use std::path::{Path, PathBuf};

use super::arrays::Values;
use super::npz::{array, values};
use super::replace::MAP_MARK;
use super::save;
use super::zip::Pack;
use bagwise_core::files::{explain_write, folder_of};
use bagwise_core::{Csr, Error, Place, Result};

/// Writes sparse rows, their names and the digest of the map that made them, whole or not at all.
pub fn write_npz(path: &Path, rows: &Csr, names: &[String], digest: &str) -> Result<()> {
    check_entries(path, rows.nnz())?;
    save::whole(path, |out| {
        let layout = MapLayout { cols: rows.cols(), indptr: rows.indptr(), names, digest };
        let data =
            |out: &mut dyn Write| rows.values().iter().try_for_each(|v| out.write_all(&v.to_le_bytes()));
        let indices =
            |out: &mut dyn Write| rows.indices().iter().try_for_each(|v| out.write_all(&v.to_le_bytes()));
        layout.write(out, data, indices)
    })
}

/// SciPy's indices are 32 bits wide.
fn check_entries(path: &Path, entries: usize) -> Result<()> {
    if i32::try_from(entries).is_ok() {
        return Ok(());
    }
    Err(Error::data(
        Place::of(path.display().to_string()),
        format!("{entries} entries exceed the range of SciPy's indices"),
        "map fewer bags at a time, or with a smaller psi or t",
    ))
}

/// What an archive has besides its entries.
struct MapLayout<'m> {
    cols: usize,
    /// Where each row starts, and the end.
    indptr: &'m [usize],
    names: &'m [String],
    digest: &'m str,
}

impl MapLayout<'_> {
    fn write(
        &self,
        out: &mut dyn Write,
        data: impl Fn(&mut dyn Write) -> io::Result<()>,
        indices: impl Fn(&mut dyn Write) -> io::Result<()>,
    ) -> io::Result<()> {
        let (rows, entries) = (self.names.len(), self.indptr.last().copied().unwrap_or(0));
        let mut pack = Pack::new(out);
        array(&mut pack, "format", "|S3", &[], 3, |out| out.write_all(b"csr"))?;
        values(&mut pack, "shape", &Values::Whole(vec![rows as i64, self.cols as i64]))?;
        array(&mut pack, "data", "<f8", &[entries], 8, data)?;
        array(&mut pack, "indices", "<i4", &[entries], 4, indices)?;
        array(&mut pack, "indptr", "<i4", &[rows + 1], 4, |out| {
            self.indptr.iter().try_for_each(|&v| out.write_all(&(v as i32).to_le_bytes()))
        })?;
        values(&mut pack, "bags", &Values::texts(self.names.to_vec()))?;
        values(&mut pack, "map", &Values::texts(vec![self.digest.into()]))?;
        pack.finish(MAP_MARK)
    }
}

/// The same file from rows that come in pieces. Entries wait on the disk, in files without a name beside the output.
pub struct MapSpool {
    path: PathBuf,
    data: File,
    indices: File,
    cols: usize,
    indptr: Vec<usize>,
    names: Vec<String>,
    digest: String,
}

impl MapSpool {
    /// Nothing yet, to be written to `path`, of the map with this digest.
    pub fn new(path: &Path, digest: String) -> Result<MapSpool> {
        let spool = || tempfile::tempfile_in(folder_of(path)).map_err(|e| explain_write(path, e));
        let (data, indices) = (spool()?, spool()?);
        let (indptr, names) = (vec![0], Vec::new());
        Ok(MapSpool { path: path.into(), data, indices, cols: 0, indptr, names, digest })
    }

    /// Adds rows and their names.
    pub fn push(&mut self, rows: &Csr, names: &[String]) -> Result<()> {
        let before = self.entries();
        check_entries(&self.path, before + rows.nnz())?;
        self.cols = rows.cols();
        self.indptr.extend(rows.indptr()[1..].iter().map(|end| before + end));
        self.names.extend_from_slice(names);
        let data: Vec<u8> = rows.values().iter().flat_map(|v| v.to_le_bytes()).collect();
        let indices: Vec<u8> = rows.indices().iter().flat_map(|v| v.to_le_bytes()).collect();
        let written = self.data.write_all(&data).and_then(|()| self.indices.write_all(&indices));
        written.map_err(|e| explain_write(&self.path, e))
    }

    /// Rows, columns and entries so far.
    pub fn size(&self) -> (usize, usize, usize) {
        (self.names.len(), self.cols, self.entries())
    }

    fn entries(&self) -> usize {
        self.indptr.last().copied().unwrap_or(0)
    }

    /// Writes the file, whole or not at all.
    pub fn finish(self) -> Result<()> {
        let copy = |mut file: &File, out: &mut dyn Write| {
            file.seek(SeekFrom::Start(0))?;
            io::copy(&mut file, out).map(drop)
        };
        let MapSpool { cols, indptr, names, digest, .. } = &self;
        let layout = MapLayout { cols: *cols, indptr, names, digest };
        save::whole(&self.path, |out| {
            layout.write(out, |out| copy(&self.data, out), |out| copy(&self.indices, out))
        })
    }
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
        write_npz(&path, &rows, &["é1".into(), "b".into()], "0f").unwrap();
        let bytes = std::fs::read(&path).unwrap();
        let entries = entries(&path);
        let names: Vec<&str> = entries.iter().map(|e| e.0.as_str()).collect();
        let others = ["format.npy", "shape.npy", "data.npy", "indices.npy", "indptr.npy"];
        assert_eq!(names, [&others[..], &["bags.npy", "map.npy"]].concat());
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
            (
                "'<U2', 'fortran_order': False, 'shape': (1,)",
                [0x30u32, 0x66].iter().flat_map(|v| v.to_le_bytes()).collect::<Vec<u8>>(),
            ),
        ];
        for ((name, file), (header, data)) in entries.iter().zip(expect) {
            assert!(file.starts_with(b"\x93NUMPY\x01\x00"), "{name}");
            let from = 10 + usize::from(file[8]) + 256 * usize::from(file[9]);
            assert!(from.is_multiple_of(64), "{name}");
            assert!(String::from_utf8_lossy(&file[..from]).contains(header), "{name}");
            assert_eq!(file[from..], data, "{name}");
        }
        // Rows that come one after the other make the same file.
        let mut spool = MapSpool::new(&path, "0f".into()).unwrap();
        let mut first = Csr::empty(7);
        first.push_row([(1, 0.5), (6, 0.25)]);
        spool.push(&first, &["é1".into()]).unwrap();
        let mut second = Csr::empty(7);
        second.push_row([(0, 2.0)]);
        spool.push(&second, &["b".into()]).unwrap();
        assert_eq!(spool.size(), (2, 7, 3));
        spool.finish().unwrap();
        assert_eq!(std::fs::read(&path).unwrap(), bytes);
        // The same map makes the same file.
        write_npz(&path, &rows, &["é1".into(), "b".into()], "0f").unwrap();
        assert_eq!(std::fs::read(&path).unwrap(), bytes);
    }
}
