//! Maps that were made elsewhere, as the solver sees them: rows of a folder of maps, packed in memory or in a file, and unpacked
//! when they are visited. From a file a block of consecutive rows is at hand at a time, so that a pass over all rows reads the file
//! once. Rows that the solver asks to hold are kept beside it if there is room, so that passes over them read nothing.

use std::io;
use std::ops::Range;
use std::sync::{Mutex, MutexGuard, PoisonError};

use bagwise_core::{Error, Place, Result};
use bagwise_io::MapRows;
use bagwise_svm::FeatureRows;

/// Bytes of a block: as many as fit beside the rows that are held, and enough that reading it is not seeking.
fn block_bytes(maps: &MapRows) -> u64 {
    (maps.memory() / 4).clamp(64_000, 64_000_000)
}

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
    /// Bytes of rows that may be held.
    room: u64,
    at_hand: Mutex<MapsAtHand>,
    failed: Mutex<Option<io::Error>>,
}

/// What is in memory of rows that are packed.
#[derive(Debug, Default)]
struct MapsAtHand {
    block: MapBlock,
    held: HeldMaps,
    /// The row that was shown last, which is often shown twice.
    row: Option<usize>,
    columns: Vec<u32>,
    values: Vec<f64>,
}

/// The rows of a block.
#[derive(Debug, Default)]
struct MapBlock {
    /// Which block it is; none at the beginning.
    number: Option<usize>,
    /// As it is in the file; empty if it could not be read.
    bytes: Vec<u8>,
}

/// Rows that stay, packed.
#[derive(Debug, Default)]
struct HeldMaps {
    /// Where each row is among them; [`NOT_HELD`] if it is not. Empty as long as none is.
    places: Vec<u32>,
    starts: Vec<usize>,
    bytes: Vec<u8>,
}

const NOT_HELD: u32 = u32::MAX;

impl HeldMaps {
    fn packed(&self, row: usize) -> Option<&[u8]> {
        let place = self.places.get(row).copied().filter(|&place| place != NOT_HELD)? as usize;
        Some(&self.bytes[self.starts[place]..self.starts[place + 1]])
    }
}

impl<'m> MapView<'m> {
    /// The rows `rows` of the folder, to be visited in their order.
    pub(crate) fn new(maps: &'m MapRows, rows: Vec<usize>) -> MapView<'m> {
        MapView::in_blocks(maps, rows, false, block_bytes(maps), 0)
    }

    /// The same, to be visited many times by a solver. Rows without entries get a column of their own: the machine on maps is then the
    /// one on the Gram, where bags outside all cells are similar to themselves alone.
    pub(crate) fn to_learn_from(maps: &'m MapRows, rows: Vec<usize>) -> MapView<'m> {
        let block = block_bytes(maps);
        MapView::in_blocks(maps, rows, true, block, maps.memory().saturating_sub(block))
    }

    fn in_blocks(
        maps: &'m MapRows,
        rows: Vec<usize>,
        own_columns: bool,
        block: u64,
        room: u64,
    ) -> MapView<'m> {
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
        let (at_hand, failed) = (Mutex::default(), Mutex::default());
        MapView { maps, rows, firsts, own_columns, room, at_hand, failed }
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
        block.number = Some(number);
        self.read(own[0]..own[own.len() - 1] + 1, &mut block.bytes);
    }

    /// Reads rows of the folder. Notes why they could not be read; until somebody asks, they have no entries.
    fn read(&self, rows: Range<usize>, bytes: &mut Vec<u8>) {
        if let Err(error) = self.maps.read(rows, bytes) {
            lock(&self.failed).get_or_insert(error);
            bytes.clear();
        }
    }

    /// Reads rows, in ascending order, block by block.
    fn read_held(&self, rows: &[usize], block: &mut MapBlock) -> HeldMaps {
        let bytes: u64 = rows.iter().map(|&row| self.maps.bytes(self.rows[row])).sum();
        let mut held = HeldMaps {
            places: vec![NOT_HELD; self.rows.len()],
            starts: Vec::with_capacity(rows.len() + 1),
            bytes: Vec::with_capacity(bytes as usize),
        };
        held.starts.push(0);
        // The block's room serves, so that what it had is gone.
        block.number = None;
        for own in rows.chunk_by(|&a, &b| self.block(a) == self.block(b)) {
            let (first, last) = (self.rows[own[0]], self.rows[own[own.len() - 1]]);
            self.read(first..last + 1, &mut block.bytes);
            for &row in own {
                if !block.bytes.is_empty() {
                    held.bytes.extend_from_slice(self.maps.row_of(self.rows[row], first, &block.bytes));
                }
                held.places[row] = (held.starts.len() - 1) as u32;
                held.starts.push(held.bytes.len());
            }
        }
        held
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
        let MapsAtHand { block, held, row: shown, columns, values } = &mut *lock(&self.at_hand);
        if *shown != Some(row) {
            let own = self.rows[row];
            let packed = match self.maps.packed(own).or_else(|| held.packed(row)) {
                Some(packed) => packed,
                None => {
                    let number = self.block(row);
                    if block.number != Some(number) {
                        self.load(number, block);
                    }
                    match &block.bytes[..] {
                        [] => &[],
                        bytes => self.maps.row_of(own, self.rows[self.firsts[number]], bytes),
                    }
                }
            };
            if packed.is_empty() {
                columns.clear();
                values.clear();
            } else {
                self.maps.unpack(own, packed, columns, values);
            }
            *shown = Some(row);
        }
        see(columns, values);
    }

    fn block(&self, row: usize) -> usize {
        self.firsts.partition_point(|&first| first <= row) - 1
    }

    fn hold(&self, rows: &[usize]) -> bool {
        if !self.maps.is_on_disk() {
            return true;
        }
        let MapsAtHand { block, held, .. } = &mut *lock(&self.at_hand);
        if rows.iter().all(|&row| held.packed(row).is_some()) {
            return true;
        }
        if rows.iter().map(|&row| self.maps.bytes(self.rows[row])).sum::<u64>() > self.room {
            return false;
        }
        let mut ascending = rows.to_vec();
        ascending.sort_unstable();
        // First without those before: both together may be too many.
        *held = HeldMaps::default();
        *held = self.read_held(&ascending, block);
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use bagwise_core::Csr;
    use bagwise_io::{MapShape, ReadOptions, read_maps, write_npz};

    /// The maps of 60 bags, in memory and on disk. Every seventh bag is outside all cells.
    fn maps() -> (Csr, std::sync::Arc<MapRows>) {
        let home = tempfile::tempdir().unwrap();
        let mut all = Csr::empty(20);
        for b in 0..60_u32 {
            let entries = if b % 7 == 3 { 0 } else { 1 + b % 4 };
            let value = 1.0 / f64::from(entries.max(1)).sqrt();
            all.push_row((0..entries).map(|k| (k * 4 + b % 5, value)));
        }
        let names: Vec<String> = (0..60).map(|b| b.to_string()).collect();
        write_npz(&home.path().join("maps.npz"), &all, &names, "0f").unwrap();
        let labels = home.path().join("labels.csv");
        let table: String = names.iter().map(|name| format!("{name},{}\n", name.len() % 2)).collect();
        std::fs::write(&labels, format!("bag,label\n{table}")).unwrap();
        let options = ReadOptions { labels: Some(labels), ..ReadOptions::default() };
        let shape = MapShape { columns: 20, may_be_empty: true, digest: "0f".into() };
        let (_, maps) = read_maps(home.path(), &options, &shape, 100, home.path()).unwrap();
        assert!(maps.is_on_disk());
        (all, maps)
    }

    fn same_rows(view: &MapView<'_>, all: &Csr, visits: &[usize]) {
        for &row in visits {
            view.visit(row, &mut |columns, values| {
                assert_eq!((columns, values), all.row(view.rows[row]), "row {row}");
            });
        }
        view.check().unwrap();
    }

    #[test]
    fn rows_are_the_same_at_hand_and_in_blocks() {
        let (all, maps) = maps();
        let rows: Vec<usize> = (0..60).filter(|b| b % 3 != 1).collect();
        let every: Vec<usize> = (0..rows.len()).collect();
        let back: Vec<usize> = every.iter().rev().copied().collect();
        let view = MapView::in_blocks(&maps, rows, false, 100, 200);
        assert!(view.block(every.len() - 1) > 3, "several blocks");
        same_rows(&view, &all, &every);
        // Too many, and then some, in any order, beside others that are not held.
        assert!(!view.hold(&every));
        let some = [31, 2, 3, 17, 5];
        assert!(view.hold(&some));
        same_rows(&view, &all, &back);
        // Some of those held need no room; others replace them.
        assert!(view.hold(&[17, 2]) && lock(&view.at_hand).held.packed(31).is_some());
        assert!(view.hold(&[8, 9, 17]) && lock(&view.at_hand).held.packed(31).is_none());
        same_rows(&view, &all, &every);
        assert!(!view.hold(&every), "room for 200 bytes");
        same_rows(&view, &all, &back);
    }
}
