//! Rows in memory as rows that are read in blocks: scaled as they are read, they need no second copy.

use std::ops::Range;
use std::sync::Arc;

use crate::bags::{Bags, Instances};
use crate::error::Result;
use crate::stored::{RowSource, Stored};

/// Dense instances that somebody else holds, too.
struct HeldRows(Arc<Instances>);

/// The instances of bags, to be read in blocks; `None` if they are not dense in memory.
pub fn in_blocks(bags: &Bags) -> Option<Stored> {
    match bags.instances() {
        Instances::F64(_) | Instances::F32(_) => {
            Some(Stored::new(Arc::new(HeldRows(bags.shared_instances()))))
        }
        Instances::Sparse(_) | Instances::Stored(_) => None,
    }
}

impl RowSource for HeldRows {
    fn kind(&self) -> &'static str {
        self.0.kind()
    }

    fn rows(&self) -> usize {
        self.0.rows()
    }

    fn cols(&self) -> usize {
        self.0.cols()
    }

    fn bytes(&self) -> u64 {
        self.0.bytes()
    }

    fn is_single(&self) -> bool {
        self.0.is_single()
    }

    fn read_f32(&self, rows: Range<usize>, out: &mut [f32]) -> Result<()> {
        let place = rows.start * self.cols()..rows.end * self.cols();
        match &*self.0 {
            Instances::F32(m) => out.copy_from_slice(&m.data()[place]),
            Instances::F64(m) => out.iter_mut().zip(&m.data()[place]).for_each(|(to, &v)| *to = v as f32),
            Instances::Sparse(_) | Instances::Stored(_) => unreachable!("these rows are dense"),
        }
        Ok(())
    }

    fn read_f64(&self, rows: Range<usize>, out: &mut [f64]) -> Result<()> {
        let place = rows.start * self.cols()..rows.end * self.cols();
        match &*self.0 {
            Instances::F32(m) => out.iter_mut().zip(&m.data()[place]).for_each(|(to, &v)| *to = f64::from(v)),
            Instances::F64(m) => out.copy_from_slice(&m.data()[place]),
            Instances::Sparse(_) | Instances::Stored(_) => unreachable!("these rows are dense"),
        }
        Ok(())
    }
}
