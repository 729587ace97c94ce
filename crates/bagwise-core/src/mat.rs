//! Row-major storage: a dense matrix and sparse rows. Just enough for instances and Grams; the engines
//! pack what they need into their own layout.

/// A dense matrix, row after row.
#[derive(Clone, Debug, PartialEq)]
pub struct Mat<T = f64> {
    rows: usize,
    cols: usize,
    data: Vec<T>,
}

impl<T: Copy + Default> Mat<T> {
    /// A matrix from its values, row after row.
    ///
    /// # Panics
    /// If `data` does not hold `rows * cols` values.
    pub fn new(rows: usize, cols: usize, data: Vec<T>) -> Mat<T> {
        assert_eq!(data.len(), rows * cols, "a {rows} x {cols} matrix");
        Mat { rows, cols, data }
    }

    /// A matrix of zeros.
    pub fn zeros(rows: usize, cols: usize) -> Mat<T> {
        Mat { rows, cols, data: vec![T::default(); rows * cols] }
    }

    /// A matrix from equally long rows.
    ///
    /// # Panics
    /// If the rows differ in length.
    pub fn from_rows<R: AsRef<[T]>>(rows: &[R]) -> Mat<T> {
        let cols = rows.first().map_or(0, |r| r.as_ref().len());
        let mut data = Vec::with_capacity(rows.len() * cols);
        for row in rows {
            assert_eq!(row.as_ref().len(), cols, "rows of equal length");
            data.extend_from_slice(row.as_ref());
        }
        Mat { rows: rows.len(), cols, data }
    }

    /// Number of rows.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// Number of columns.
    pub fn cols(&self) -> usize {
        self.cols
    }

    /// One row.
    pub fn row(&self, i: usize) -> &[T] {
        &self.data[i * self.cols..(i + 1) * self.cols]
    }

    /// One row, to write.
    pub fn row_mut(&mut self, i: usize) -> &mut [T] {
        &mut self.data[i * self.cols..(i + 1) * self.cols]
    }

    /// One entry.
    pub fn get(&self, i: usize, j: usize) -> T {
        debug_assert!(j < self.cols);
        self.data[i * self.cols + j]
    }

    /// Changes one entry.
    pub fn set(&mut self, i: usize, j: usize, value: T) {
        debug_assert!(j < self.cols);
        self.data[i * self.cols + j] = value;
    }

    /// All values, row after row.
    pub fn data(&self) -> &[T] {
        &self.data
    }

    /// All values, to write.
    pub fn data_mut(&mut self) -> &mut [T] {
        &mut self.data
    }

    /// The values themselves.
    pub fn into_data(self) -> Vec<T> {
        self.data
    }

    /// The rows named by `rows`, in that order.
    pub fn gather(&self, rows: &[usize]) -> Mat<T> {
        let mut data = Vec::with_capacity(rows.len() * self.cols);
        for &row in rows {
            data.extend_from_slice(self.row(row));
        }
        Mat { rows: rows.len(), cols: self.cols, data }
    }
}

/// Sparse rows: row `i` has the values `values[indptr[i]..indptr[i + 1]]` in the columns `indices[..]`,
/// ascending and without repeats.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct Csr {
    cols: usize,
    indptr: Vec<usize>,
    indices: Vec<u32>,
    values: Vec<f64>,
}

impl Csr {
    /// No rows yet, for `cols` columns.
    pub fn empty(cols: usize) -> Csr {
        Csr { cols, indptr: vec![0], indices: Vec::new(), values: Vec::new() }
    }

    /// Rows from their parts, as SciPy lays them out.
    ///
    /// # Panics
    /// If the parts do not fit each other; readers check their input before.
    pub fn new(cols: usize, indptr: Vec<usize>, indices: Vec<u32>, values: Vec<f64>) -> Csr {
        assert_eq!(indices.len(), values.len(), "one value per index");
        assert_eq!(indptr.first(), Some(&0), "the first row starts at 0");
        assert_eq!(indptr.last(), Some(&indices.len()), "the last row ends at the end");
        for row in indptr.windows(2) {
            let columns = &indices[row[0]..row[1]];
            assert!(columns.windows(2).all(|w| w[0] < w[1]), "columns ascend within a row");
            assert!(columns.last().is_none_or(|&c| (c as usize) < cols), "columns lie inside the matrix");
        }
        Csr { cols, indptr, indices, values }
    }

    /// Adds a row of (column, value) pairs in ascending columns; zeros are not stored.
    pub fn push_row(&mut self, entries: impl IntoIterator<Item = (u32, f64)>) {
        let start = self.indices.len();
        for (column, value) in entries {
            debug_assert!((column as usize) < self.cols);
            debug_assert!(self.indices.len() == start || *self.indices.last().unwrap() < column);
            if value != 0.0 {
                self.indices.push(column);
                self.values.push(value);
            }
        }
        self.indptr.push(self.indices.len());
    }

    /// Number of rows.
    pub fn rows(&self) -> usize {
        self.indptr.len() - 1
    }

    /// Number of columns.
    pub fn cols(&self) -> usize {
        self.cols
    }

    /// Widens (never narrows) the matrix.
    pub fn set_cols(&mut self, cols: usize) {
        assert!(cols >= self.cols, "columns are only added");
        self.cols = cols;
    }

    /// Number of stored values.
    pub fn nnz(&self) -> usize {
        self.values.len()
    }

    /// Columns and values of one row.
    pub fn row(&self, i: usize) -> (&[u32], &[f64]) {
        let range = self.indptr[i]..self.indptr[i + 1];
        (&self.indices[range.clone()], &self.values[range])
    }

    /// Where each row starts, and the end.
    pub fn indptr(&self) -> &[usize] {
        &self.indptr
    }

    /// Columns of all stored values.
    pub fn indices(&self) -> &[u32] {
        &self.indices
    }

    /// All stored values.
    pub fn values(&self) -> &[f64] {
        &self.values
    }

    /// The rows named by `rows`, in that order.
    pub fn gather(&self, rows: &[usize]) -> Csr {
        let mut out = Csr::empty(self.cols);
        for &row in rows {
            let (indices, values) = self.row(row);
            out.indices.extend_from_slice(indices);
            out.values.extend_from_slice(values);
            out.indptr.push(out.indices.len());
        }
        out
    }
}
