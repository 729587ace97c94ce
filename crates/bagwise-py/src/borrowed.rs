//! Instances that stay where Python has them: arrays in single precision that are read in blocks, so that training and
//! predicting need no copy of large data. The arrays are held, so that they stay where they are. A model that was trained on
//! them must not refer to them, because the caller may write into them afterwards (`fitting.rs`).

use std::ops::Range;
use std::sync::Arc;

use bagwise::{Result, RowSource};
use numpy::PyReadonlyArray2;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;

/// An array of two dimensions; steps count numbers.
struct Block {
    first: *const f32,
    rows: usize,
    cols: usize,
    row_step: isize,
    col_step: isize,
}

impl Block {
    /// Copies a row; `to` has as many numbers as the block has columns.
    fn copy_row(&self, row: usize, to: &mut [f32]) {
        assert!(row < self.rows && to.len() == self.cols, "a row of the array");
        // SAFETY: the row and all its columns lie inside the array, which `BorrowedRows` keeps alive. Values are copied, so
        // that somebody who writes into the array meanwhile changes numbers and nothing else.
        unsafe {
            let start = self.first.offset(row as isize * self.row_step);
            if self.col_step == 1 {
                std::ptr::copy_nonoverlapping(start, to.as_mut_ptr(), self.cols);
            } else {
                to.iter_mut().enumerate().for_each(|(j, v)| *v = *start.offset(j as isize * self.col_step));
            }
        }
    }
}

/// Arrays as rows of instances.
pub(crate) struct BorrowedRows {
    blocks: Vec<Block>,
    /// Where each block starts: at a row if they lie below each other, at a column if they lie side by side.
    starts: Vec<usize>,
    below: bool,
    /// The order of the rows, if it is not that of the arrays.
    order: Option<Vec<usize>>,
    rows: usize,
    cols: usize,
    /// Keeps the arrays alive.
    _arrays: Vec<Py<PyAny>>,
}

// SAFETY: the pointers are only read, and lead into arrays that the fields keep alive.
unsafe impl Send for BorrowedRows {}
// SAFETY: as above.
unsafe impl Sync for BorrowedRows {}

impl BorrowedRows {
    /// Arrays below each other, the matrices of bags, or side by side, the columns of a table whose rows are taken in `order`.
    pub(crate) fn new(
        arrays: Vec<Bound<'_, PyAny>>,
        below: bool,
        order: Option<Vec<usize>>,
    ) -> PyResult<Arc<BorrowedRows>> {
        let (mut blocks, mut starts) = (Vec::with_capacity(arrays.len()), vec![0]);
        for array in &arrays {
            let array: PyReadonlyArray2<'_, f32> =
                array.extract().map_err(|_| PyTypeError::new_err("instances are matrices of float32"))?;
            let view = array.as_array();
            let (rows, cols) = view.dim();
            let (row_step, col_step) = (view.strides()[0], view.strides()[1]);
            blocks.push(Block { first: view.as_ptr(), rows, cols, row_step, col_step });
            starts.push(starts[starts.len() - 1] + if below { rows } else { cols });
        }
        let (along, across): (fn(&Block) -> usize, fn(&Block) -> usize) =
            if below { (|b| b.rows, |b| b.cols) } else { (|b| b.cols, |b| b.rows) };
        let across = match blocks.first() {
            Some(block) if blocks.iter().all(|b| across(b) == across(block)) => across(block),
            _ => return Err(PyTypeError::new_err("the arrays do not have the same size")),
        };
        let along: usize = blocks.iter().map(along).sum();
        let (rows, cols) = if below { (along, across) } else { (across, along) };
        if order.iter().flatten().any(|&row| row >= rows) {
            return Err(PyTypeError::new_err("the order contains row numbers that do not exist"));
        }
        let rows = order.as_ref().map_or(rows, Vec::len);
        let _arrays = arrays.into_iter().map(Bound::unbind).collect();
        Ok(Arc::new(BorrowedRows { blocks, starts, below, order, rows, cols, _arrays }))
    }

    fn copy_row(&self, row: usize, to: &mut [f32]) {
        let row = self.order.as_ref().map_or(row, |order| order[row]);
        if self.below {
            let block = self.starts.partition_point(|&start| start <= row) - 1;
            self.blocks[block].copy_row(row - self.starts[block], to);
            return;
        }
        for (block, ends) in self.blocks.iter().zip(self.starts.windows(2)) {
            block.copy_row(row, &mut to[ends[0]..ends[1]]);
        }
    }
}

impl RowSource for BorrowedRows {
    fn kind(&self) -> &'static str {
        "f32 arrays"
    }

    fn rows(&self) -> usize {
        self.rows
    }

    fn cols(&self) -> usize {
        self.cols
    }

    fn bytes(&self) -> u64 {
        4 * (self.rows * self.cols) as u64
    }

    fn is_single(&self) -> bool {
        true
    }

    fn read_f32(&self, rows: Range<usize>, out: &mut [f32]) -> Result<()> {
        rows.zip(out.chunks_exact_mut(self.cols)).for_each(|(row, to)| self.copy_row(row, to));
        Ok(())
    }

    fn read_f64(&self, rows: Range<usize>, out: &mut [f64]) -> Result<()> {
        let mut values = vec![0.0; self.cols];
        for (row, to) in rows.zip(out.chunks_exact_mut(self.cols)) {
            self.copy_row(row, &mut values);
            to.iter_mut().zip(&values).for_each(|(to, &v)| *to = f64::from(v));
        }
        Ok(())
    }
}
