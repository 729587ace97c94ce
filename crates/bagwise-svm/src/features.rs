//! Explicit feature rows, dense or compressed: what the linear solver needs of them is the product of a row with a
//! vector, and adding a multiple of a row to one. Both cost the row's non-zeros.

use std::fmt::Debug;

/// Sparse rows that lie somewhere else, perhaps outside memory. Rows of a block are read together, so that who visits many
/// rows visits block by block.
pub trait FeatureRows: Debug + Sync {
    /// Number of rows.
    fn len(&self) -> usize;

    /// True if there are no rows.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Features of one row.
    fn columns(&self) -> usize;

    /// Shows the columns (below `columns`, each at most once) and values of a row.
    fn visit(&self, row: usize, see: &mut dyn FnMut(&[u32], &[f64]));

    /// The block of a row; blocks of ascending rows do not descend.
    fn block(&self, row: usize) -> usize;

    /// Keeps these rows at hand, in place of those before, for many visits in any order. False if there is no room for them;
    /// rows that are not at hand are still shown, more slowly.
    fn hold(&self, rows: &[usize]) -> bool;
}

/// Rows of explicit features.
#[derive(Clone, Copy, Debug)]
pub enum Features<'a> {
    /// Row-major values.
    Dense {
        /// `rows * columns` values.
        values: &'a [f64],
        /// Features of one row.
        columns: usize,
    },
    /// Compressed sparse rows: row `i` owns entries `starts[i]..starts[i + 1]`.
    Sparse {
        /// One more than there are rows.
        starts: &'a [usize],
        /// Column of each entry, at most once in a row.
        indices: &'a [u32],
        /// Value of each entry.
        values: &'a [f64],
        /// Features of one row.
        columns: usize,
    },
    /// Sparse rows that lie somewhere else.
    Elsewhere(&'a dyn FeatureRows),
}

/// The product of a sparse row and `w`.
#[inline]
fn sparse_dot(columns: &[u32], values: &[f64], w: &[f64]) -> f64 {
    // Four sums, so that one addition need not wait for the last.
    let mut sums = [0.0; 4];
    let (columns_fours, columns_rest) = columns.as_chunks::<4>();
    let (values_fours, values_rest) = values.as_chunks::<4>();
    for (columns, x) in columns_fours.iter().zip(values_fours) {
        for lane in 0..4 {
            sums[lane] += x[lane] * w[columns[lane] as usize];
        }
    }
    for (&column, x) in columns_rest.iter().zip(values_rest) {
        sums[0] += x * w[column as usize];
    }
    (sums[0] + sums[1]) + (sums[2] + sums[3])
}

#[inline]
fn sparse_add(columns: &[u32], values: &[f64], factor: f64, w: &mut [f64]) {
    for (&column, x) in columns.iter().zip(values) {
        w[column as usize] += factor * x;
    }
}

impl Features<'_> {
    /// Number of rows.
    pub fn len(&self) -> usize {
        match self {
            Features::Dense { columns: 0, .. } => 0,
            Features::Dense { values, columns } => values.len() / columns,
            Features::Sparse { starts, .. } => starts.len().saturating_sub(1),
            Features::Elsewhere(rows) => rows.len(),
        }
    }

    /// True if there are no rows.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    pub(crate) fn columns(&self) -> usize {
        match *self {
            Features::Dense { columns, .. } | Features::Sparse { columns, .. } => columns,
            Features::Elsewhere(rows) => rows.columns(),
        }
    }

    /// The block of a row: rows of a block are at hand together.
    pub(crate) fn block(&self, row: usize) -> usize {
        match self {
            Features::Elsewhere(rows) => rows.block(row),
            _ => 0,
        }
    }

    /// Asks for rows to be kept at hand; true if they are.
    pub(crate) fn hold(&self, rows: &[usize]) -> bool {
        match self {
            Features::Elsewhere(all) => all.hold(rows),
            _ => true,
        }
    }

    pub(crate) fn check(&self) {
        match *self {
            Features::Dense { values, columns } => {
                assert!(
                    columns > 0 && values.len().is_multiple_of(columns),
                    "dense rows of {columns} features"
                );
            }
            Features::Sparse { starts, indices, values, columns } => {
                assert_eq!(indices.len(), values.len(), "each entry needs a column and a value");
                assert!(starts.is_sorted(), "row starts must not descend");
                assert_eq!(starts.first().copied().unwrap_or(0), 0, "the first row starts at 0");
                assert_eq!(
                    starts.last().copied().unwrap_or(0),
                    indices.len(),
                    "the last row ends with the entries"
                );
                assert!(indices.iter().all(|&c| (c as usize) < columns), "a column is not below {columns}");
            }
            // Whoever reads them checks them.
            Features::Elsewhere(_) => {}
        }
    }

    /// The product of row `i` and `w`.
    #[inline]
    pub fn dot(&self, i: usize, w: &[f64]) -> f64 {
        match *self {
            Features::Dense { values, columns } => {
                let mut sums = [0.0; 4];
                let row = &values[i * columns..(i + 1) * columns];
                let (row_fours, row_rest) = row.as_chunks::<4>();
                let (w_fours, w_rest) = w.as_chunks::<4>();
                for (x, v) in row_fours.iter().zip(w_fours) {
                    for lane in 0..4 {
                        sums[lane] += x[lane] * v[lane];
                    }
                }
                for (x, v) in row_rest.iter().zip(w_rest) {
                    sums[0] += x * v;
                }
                (sums[0] + sums[1]) + (sums[2] + sums[3])
            }
            Features::Sparse { starts, indices, values, .. } => {
                let entries = starts[i]..starts[i + 1];
                sparse_dot(&indices[entries.clone()], &values[entries], w)
            }
            Features::Elsewhere(rows) => {
                let mut product = 0.0;
                rows.visit(i, &mut |columns, values| product = sparse_dot(columns, values, w));
                product
            }
        }
    }

    /// `w += factor * row i`.
    #[inline]
    pub fn add_to(&self, i: usize, factor: f64, w: &mut [f64]) {
        match *self {
            Features::Dense { values, columns } => {
                for (v, x) in w.iter_mut().zip(&values[i * columns..(i + 1) * columns]) {
                    *v += factor * x;
                }
            }
            Features::Sparse { starts, indices, values, .. } => {
                let entries = starts[i]..starts[i + 1];
                sparse_add(&indices[entries.clone()], &values[entries], factor, w);
            }
            Features::Elsewhere(rows) => {
                rows.visit(i, &mut |columns, values| sparse_add(columns, values, factor, w));
            }
        }
    }

    pub(crate) fn squared_norm(&self, i: usize) -> f64 {
        match *self {
            Features::Dense { values, columns } => {
                values[i * columns..(i + 1) * columns].iter().map(|x| x * x).sum()
            }
            Features::Sparse { starts, values, .. } => {
                values[starts[i]..starts[i + 1]].iter().map(|x| x * x).sum()
            }
            Features::Elsewhere(rows) => {
                let mut sum = 0.0;
                rows.visit(i, &mut |_, values| sum = values.iter().map(|x| x * x).sum());
                sum
            }
        }
    }
}
