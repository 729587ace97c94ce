//! Maps that were made elsewhere, as the solver sees them: rows of a folder of maps, in memory or in a file. From a file a block
//! of consecutive rows is at hand at a time, so that a pass over all rows reads the file once.

use std::io;
use std::sync::{Mutex, MutexGuard, PoisonError};

use bagwise_core::{Error, Place, Result};
use bagwise_io::MapRows;
use bagwise_svm::FeatureRows;

/// Bytes of a block: enough that reading it is not seeking, little beside the model and the coefficients of the bags.
const BLOCK: u64 = 64_000_000;

/// Some rows of a folder of maps.
#[derive(Debug)]
pub(crate) struct MapView<'m> {
    maps: &'m MapRows,
    /// Which rows of the folder these are.
    rows: Vec<usize>,
    /// The first row of each block.
    firsts: Vec<usize>,
    /// Rows without entries have a column of their own, behind those of the maps.
    own_columns: bool,
    at_hand: Mutex<MapBlock>,
    failed: Mutex<Option<io::Error>>,
}

/// The rows of a block, one after the other.
#[derive(Debug, Default)]
struct MapBlock {
    /// Which block it is; none at the beginning.
    number: Option<usize>,
    starts: Vec<usize>,
    columns: Vec<u32>,
    values: Vec<f64>,
    /// As it is in the file.
    bytes: Vec<u8>,
}

impl<'m> MapView<'m> {
    /// The rows `rows` of the folder. With `own_columns` the machine on maps is the one on the Gram, where bags outside all
    /// cells are similar to themselves alone.
    pub(crate) fn new(maps: &'m MapRows, rows: Vec<usize>, own_columns: bool) -> MapView<'m> {
        MapView::in_blocks(maps, rows, own_columns, BLOCK)
    }

    fn in_blocks(maps: &'m MapRows, rows: Vec<usize>, own_columns: bool, block: u64) -> MapView<'m> {
        let own_columns = own_columns && rows.iter().any(|&row| maps.bytes(row) == 0);
        let mut firsts = vec![0];
        if maps.is_on_disk() {
            let mut bytes = 0;
            for (at, &row) in rows.iter().enumerate() {
                // What lies between two rows is read too. Rows that go back begin a block.
                let (before, goes_back) = match at.checked_sub(1).map(|p| rows[p]) {
                    Some(before) if before < row => ((before + 1..row).map(|r| maps.bytes(r)).sum(), false),
                    before => (0, before.is_some()),
                };
                bytes += before + maps.bytes(row);
                if at > 0 && (bytes > block || goes_back) {
                    firsts.push(at);
                    bytes = maps.bytes(row);
                }
            }
        }
        MapView { maps, rows, firsts, own_columns, at_hand: Mutex::default(), failed: Mutex::default() }
    }

    /// An error if some row could not be read, so that what was computed means nothing.
    pub(crate) fn check(&self) -> Result<()> {
        match lock(&self.failed).take() {
            None => Ok(()),
            Some(error) => Err(Error::data(
                Place::of("the maps of bags"),
                format!("reading them again failed: {error}"),
                "check the disk",
            )),
        }
    }

    fn load(&self, number: usize, block: &mut MapBlock) {
        let end = self.firsts.get(number + 1).copied().unwrap_or(self.rows.len());
        let own = &self.rows[self.firsts[number]..end];
        (block.number, block.starts) = (Some(number), vec![0]);
        block.columns.clear();
        block.values.clear();
        let range = own[0]..own[own.len() - 1] + 1;
        let read = self.maps.read(
            range,
            &mut block.bytes,
            |row| own.binary_search(&row).is_ok(),
            |_, columns, values| {
                block.columns.extend_from_slice(columns);
                block.values.extend_from_slice(values);
                block.starts.push(block.columns.len());
            },
        );
        if let Err(error) = read {
            lock(&self.failed).get_or_insert(error);
            block.starts.resize(own.len() + 1, block.columns.len());
        }
    }
}

fn lock<T>(of: &Mutex<T>) -> MutexGuard<'_, T> {
    of.lock().unwrap_or_else(PoisonError::into_inner)
}

impl FeatureRows for MapView<'_> {
    fn len(&self) -> usize {
        self.rows.len()
    }

    fn columns(&self) -> usize {
        self.maps.cols() + if self.own_columns { self.rows.len() } else { 0 }
    }

    fn visit(&self, row: usize, see: &mut dyn FnMut(&[u32], &[f64])) {
        if self.own_columns && self.maps.bytes(self.rows[row]) == 0 {
            return see(&[(self.maps.cols() + row) as u32], &[1.0]);
        }
        if let Some((columns, values)) = self.maps.row(self.rows[row]) {
            return see(columns, values);
        }
        let number = self.block(row);
        let mut block = lock(&self.at_hand);
        if block.number != Some(number) {
            self.load(number, &mut block);
        }
        let at = row - self.firsts[number];
        let entries = block.starts[at]..block.starts[at + 1];
        see(&block.columns[entries.clone()], &block.values[entries]);
    }

    fn block(&self, row: usize) -> usize {
        self.firsts.partition_point(|&first| first <= row) - 1
    }
}
