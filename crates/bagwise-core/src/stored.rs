//! Instances that are not in memory: rows that are stored in files, or generated when they are read. They are read in
//! blocks. Selecting bags copies row numbers, and scaling is applied as rows are read, so methods that need one bag at
//! a time can work with data larger than memory.
//!
//! A read can fail: a file was moved or cut short while it was in use. So every function that may read returns a
//! `Result`, up to what is asked of a model. Loops over rows in memory match on the storage and have nothing to check.

use std::fmt;
use std::ops::Range;
use std::sync::Arc;

use crate::error::Result;

/// Where rows come from.
pub trait RowSource: Send + Sync {
    /// What the values are: "f16 files", "generated".
    fn kind(&self) -> &'static str;

    /// Number of rows.
    fn rows(&self) -> usize;

    /// Values in a row.
    fn cols(&self) -> usize;

    /// Bytes that the rows occupy where they are.
    fn bytes(&self) -> u64;

    /// True if every value is a number of single precision.
    fn is_single(&self) -> bool;

    /// True if values need not be looked at to know that they are finite.
    fn is_finite(&self) -> bool {
        false
    }

    /// Writes some rows, one after the other, in single precision (rounded, if they have more).
    fn read_f32(&self, rows: Range<usize>, out: &mut [f32]) -> Result<()>;

    /// The same in double precision.
    fn read_f64(&self, rows: Range<usize>, out: &mut [f64]) -> Result<()>;
}

/// A run of consecutive rows of the source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct RowRange {
    /// The first row, as counted here.
    at: usize,
    /// The first row, as counted by the source.
    from: usize,
    len: usize,
}

/// `(x - shift) / divisor`, or 0 where the divisor is 0.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Affine {
    /// What is taken off.
    pub shift: f64,
    /// What the rest is divided by; 0 makes every value 0.
    pub divisor: f64,
}

impl Affine {
    /// The scaled value.
    pub fn apply(self, x: f64) -> f64 {
        if self.divisor == 0.0 { 0.0 } else { (x - self.shift) / self.divisor }
    }
}

/// Some rows of a source, in some order, scaled as they are read.
#[derive(Clone)]
pub struct Stored {
    source: Arc<dyn RowSource>,
    runs: Arc<[RowRange]>,
    rows: usize,
    /// One per column.
    scaling: Option<Arc<[Affine]>>,
}

/// Two are equal if they read the same rows of the same source in the same way.
impl PartialEq for Stored {
    fn eq(&self, other: &Stored) -> bool {
        Arc::ptr_eq(&self.source, &other.source) && self.runs == other.runs && self.scaling == other.scaling
    }
}

impl fmt::Debug for Stored {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} x {} ({})", self.rows, self.cols(), self.kind())
    }
}

impl Stored {
    /// All rows of a source.
    pub fn new(source: Arc<dyn RowSource>) -> Stored {
        let rows = source.rows();
        let runs = Arc::new([RowRange { at: 0, from: 0, len: rows }]);
        Stored { source, runs, rows, scaling: None }
    }

    /// What the values are.
    pub fn kind(&self) -> &'static str {
        self.source.kind()
    }

    /// Number of rows.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// Values in a row.
    pub fn cols(&self) -> usize {
        self.source.cols()
    }

    /// Bytes that these rows occupy where they are.
    pub fn bytes(&self) -> u64 {
        let each = self.source.bytes() as f64 / self.source.rows().max(1) as f64;
        (each * self.rows as f64) as u64
    }

    /// True if every value is a number of single precision.
    pub fn is_single(&self) -> bool {
        self.source.is_single()
    }

    /// True if values are known to be finite without a look.
    pub fn is_finite(&self) -> bool {
        self.source.is_finite()
    }

    /// Rows that are worth reading at a time: about a megabyte of doubles.
    pub fn block_rows(&self) -> usize {
        ((1 << 17) / self.cols().max(1)).clamp(1, 1 << 14)
    }

    /// The rows named by `rows`, in that order.
    pub fn gather(&self, rows: &[usize]) -> Stored {
        let mut runs: Vec<RowRange> = Vec::new();
        for (at, &row) in rows.iter().enumerate() {
            let from = self.in_source(row);
            match runs.last_mut() {
                Some(run) if run.from + run.len == from => run.len += 1,
                _ => runs.push(RowRange { at, from, len: 1 }),
            }
        }
        Stored { runs: runs.into(), rows: rows.len(), ..self.clone() }
    }

    fn in_source(&self, row: usize) -> usize {
        assert!(row < self.rows, "row {row} of {}", self.rows);
        let run = self.runs[self.runs.partition_point(|run| run.at <= row) - 1];
        run.from + (row - run.at)
    }

    /// The same rows, scaled column by column as they are read. Numbers of single precision stay so.
    pub fn scaled(&self, scaling: Arc<[Affine]>) -> Stored {
        assert!(self.scaling.is_none(), "rows are scaled once");
        Stored { scaling: Some(scaling), ..self.clone() }
    }

    /// Writes some rows in double precision. After an error `out` means nothing.
    pub fn read_f64(&self, rows: Range<usize>, out: &mut [f64]) -> Result<()> {
        self.read(rows, out, |source, rows, out| source.read_f64(rows, out))?;
        if let Some(scaling) = &self.scaling {
            let single = self.is_single();
            for row in out.chunks_exact_mut(self.cols()) {
                for (x, column) in row.iter_mut().zip(scaling.iter()) {
                    // Nobody looks at these rows again to see whether they are finite.
                    let scaled = column.apply(*x);
                    *x = if single {
                        f64::from(single_precision(scaled))
                    } else {
                        scaled.clamp(f64::MIN, f64::MAX)
                    };
                }
            }
        }
        Ok(())
    }

    /// The same in single precision.
    pub fn read_f32(&self, rows: Range<usize>, out: &mut [f32]) -> Result<()> {
        self.read(rows, out, |source, rows, out| source.read_f32(rows, out))?;
        if let Some(scaling) = &self.scaling {
            for row in out.chunks_exact_mut(self.cols()) {
                for (x, column) in row.iter_mut().zip(scaling.iter()) {
                    *x = single_precision(column.apply(f64::from(*x)));
                }
            }
        }
        Ok(())
    }

    fn read<T>(
        &self,
        rows: Range<usize>,
        out: &mut [T],
        get: impl Fn(&dyn RowSource, Range<usize>, &mut [T]) -> Result<()>,
    ) -> Result<()> {
        assert!(rows.end <= self.rows && out.len() == rows.len() * self.cols(), "a block fits its rows");
        let mut rest = out;
        let mut row = rows.start;
        while row < rows.end {
            let run = self.runs[self.runs.partition_point(|run| run.at <= row) - 1];
            let count = (run.at + run.len).min(rows.end) - row;
            let from = run.from + (row - run.at);
            let (block, after) = rest.split_at_mut(count * self.cols());
            get(&*self.source, from..from + count, block)?;
            rest = after;
            row += count;
        }
        Ok(())
    }
}

/// Rounded to single precision; what is beyond its range becomes its largest number, so that rows stay finite.
fn single_precision(x: f64) -> f32 {
    (x as f32).clamp(f32::MIN, f32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Error;

    /// Row r is r, r + 0.5; rows from `broken` on cannot be read.
    struct Counting {
        broken: usize,
    }

    impl RowSource for Counting {
        fn kind(&self) -> &'static str {
            "counted"
        }
        fn rows(&self) -> usize {
            100
        }
        fn cols(&self) -> usize {
            2
        }
        fn bytes(&self) -> u64 {
            800
        }
        fn is_single(&self) -> bool {
            true
        }
        fn read_f32(&self, rows: Range<usize>, out: &mut [f32]) -> Result<()> {
            if rows.end > self.broken {
                return Err(Error::Invalid("the disk is gone".into()));
            }
            for (row, out) in rows.zip(out.chunks_exact_mut(2)) {
                out.copy_from_slice(&[row as f32, row as f32 + 0.5]);
            }
            Ok(())
        }
        fn read_f64(&self, rows: Range<usize>, out: &mut [f64]) -> Result<()> {
            let mut single = vec![0.0; out.len()];
            self.read_f32(rows, &mut single)?;
            out.iter_mut().zip(single).for_each(|(o, v)| *o = f64::from(v));
            Ok(())
        }
    }

    fn counting(broken: usize) -> Stored {
        Stored::new(Arc::new(Counting { broken }))
    }

    /// Doubles of all sizes, one per row.
    struct Doubles([f64; 3]);

    impl RowSource for Doubles {
        fn kind(&self) -> &'static str {
            "doubles"
        }
        fn rows(&self) -> usize {
            3
        }
        fn cols(&self) -> usize {
            1
        }
        fn bytes(&self) -> u64 {
            24
        }
        fn is_single(&self) -> bool {
            false
        }
        fn read_f32(&self, rows: Range<usize>, out: &mut [f32]) -> Result<()> {
            out.iter_mut().zip(&self.0[rows]).for_each(|(o, v)| *o = *v as f32);
            Ok(())
        }
        fn read_f64(&self, rows: Range<usize>, out: &mut [f64]) -> Result<()> {
            out.copy_from_slice(&self.0[rows]);
            Ok(())
        }
    }

    #[test]
    fn scaled_doubles_stay_finite() {
        let doubles = Stored::new(Arc::new(Doubles([1e300, -1e300, 3.0])));
        let mut out = [0.0; 3];
        doubles.scaled(Arc::new([Affine { shift: 1.0, divisor: 1e-20 }])).read_f64(0..3, &mut out).unwrap();
        assert_eq!(out, [f64::MAX, f64::MIN, 2.0 / 1e-20]);
    }

    fn firsts(stored: &Stored, rows: Range<usize>) -> Vec<f64> {
        let mut out = vec![0.0; rows.len() * 2];
        stored.read_f64(rows, &mut out).unwrap();
        out.chunks(2).map(|row| row[0]).collect()
    }

    #[test]
    fn gathered_rows_are_read_in_the_order_asked_for_also_twice_over() {
        let picked = counting(100).gather(&[5, 6, 7, 50, 2, 3, 99]);
        assert_eq!(firsts(&picked, 0..7), [5.0, 6.0, 7.0, 50.0, 2.0, 3.0, 99.0]);
        assert_eq!(firsts(&picked, 2..5), [7.0, 50.0, 2.0]);
        let again = picked.gather(&[6, 0, 1, 3]);
        assert_eq!(firsts(&again, 0..4), [99.0, 5.0, 6.0, 50.0]);
        assert_eq!((again.rows(), again.cols(), again.bytes()), (4, 2, 32));
        assert_eq!(again, picked.gather(&[6, 0, 1, 3]));
        assert_ne!(again, picked);
    }

    #[test]
    fn scaling_happens_as_rows_are_read_and_is_the_same_in_both_precisions() {
        let scaling: Arc<[Affine]> =
            Arc::new([Affine { shift: 1.0, divisor: 3.0 }, Affine { shift: 0.0, divisor: 0.0 }]);
        let scaled = counting(100).scaled(scaling);
        let (mut double, mut single) = ([0.0; 4], [0.0f32; 4]);
        scaled.read_f64(1..3, &mut double).unwrap();
        scaled.read_f32(1..3, &mut single).unwrap();
        assert_eq!(single, [0.0, 0.0, 1.0 / 3.0, 0.0]);
        assert_eq!(double, single.map(f64::from));
    }

    #[test]
    fn a_failed_read_is_an_error_and_spares_the_rows_before_it() {
        let some = counting(10).gather(&[3, 40]);
        assert_eq!(firsts(&some, 0..1), [3.0]);
        let refused = |read: Result<()>| assert_eq!(read.unwrap_err().to_string(), "the disk is gone");
        refused(some.read_f64(0..2, &mut [0.0; 4]));
        refused(some.read_f32(1..2, &mut [0.0; 2]));
        assert_eq!(firsts(&some, 0..1), [3.0]);
    }
}
