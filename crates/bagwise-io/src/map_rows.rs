//! Feature maps of bags, packed: in memory, or in a file that is read in blocks. Both hold the same bytes.
//!
//! A map counts the instances in cells, so that few of its values differ. A row has a table of its values, and for each entry a
//! column of two bytes (four beyond 65,536 columns) and the number of its value, one byte: 3 bytes instead of 12. A row with more
//! than 256 values, or with too few repeats to save anything, has the values themselves. Nothing is rounded.

use std::fs::File;
use std::io;
use std::ops::Range;

use super::npy::read_at;

/// Values that a byte can number.
const MOST_VALUES: usize = 256;

/// Where the map of a bag is, and what it has.
#[derive(Clone, Copy, Debug)]
pub(crate) struct MapBounds {
    /// The first byte.
    pub(crate) start: u64,
    pub(crate) entries: u32,
    /// Values in the table; 0 if every entry has its own.
    pub(crate) table: u32,
}

impl MapBounds {
    /// Bytes of the row.
    pub(crate) fn bytes(&self, cols: usize) -> u64 {
        let value = if self.table > 0 { 1 } else { 8 };
        8 * u64::from(self.table) + u64::from(self.entries) * (column_bytes(cols) as u64 + value)
    }
}

/// Bytes of a column.
fn column_bytes(cols: usize) -> usize {
    if cols <= 1 << 16 { 2 } else { 4 }
}

/// Appends a row of at most `u32::MAX` entries to others, and says what it has: its table, its columns, and its values or their
/// numbers.
pub(crate) fn pack(columns: &[u32], values: &[f64], cols: usize, out: &mut Vec<u8>) -> MapBounds {
    let start = out.len() as u64;
    let mut table: Vec<u64> = values.iter().map(|v| v.to_bits()).collect();
    table.sort_unstable();
    table.dedup();
    // A table must be smaller than what it saves.
    if table.len() > MOST_VALUES || 8 * table.len() >= 7 * values.len() {
        table.clear();
    }
    table.iter().for_each(|bits| out.extend_from_slice(&bits.to_le_bytes()));
    match column_bytes(cols) {
        2 => columns.iter().for_each(|&c| out.extend_from_slice(&(c as u16).to_le_bytes())),
        _ => columns.iter().for_each(|&c| out.extend_from_slice(&c.to_le_bytes())),
    }
    if table.is_empty() {
        values.iter().for_each(|v| out.extend_from_slice(&v.to_le_bytes()));
    } else {
        let number = |v: &f64| table.partition_point(|&bits| bits < v.to_bits()) as u8;
        out.extend(values.iter().map(number));
    }
    MapBounds { start, entries: columns.len() as u32, table: table.len() as u32 }
}

/// Sparse rows of length 1, one for each bag of a data set: in memory, or in a file.
#[derive(Debug)]
pub struct MapRows {
    pub(crate) cols: usize,
    pub(crate) bounds: Vec<MapBounds>,
    pub(crate) store: MapStore,
    /// Bytes of rows that may be in memory.
    pub(crate) memory: u64,
}

/// Packed rows.
#[derive(Debug)]
pub(crate) enum MapStore {
    Memory(Vec<u8>),
    /// In the order of the rows.
    File(File),
}

impl MapRows {
    /// Number of rows.
    pub fn rows(&self) -> usize {
        self.bounds.len()
    }

    /// Number of columns.
    pub fn cols(&self) -> usize {
        self.cols
    }

    /// Entries that are not zero.
    pub fn nnz(&self) -> u64 {
        self.bounds.iter().map(|b| u64::from(b.entries)).sum()
    }

    /// True if the rows are outside memory.
    pub fn is_on_disk(&self) -> bool {
        matches!(self.store, MapStore::File(_))
    }

    /// Bytes of rows that may be in memory at a time.
    pub fn memory(&self) -> u64 {
        self.memory
    }

    /// Bytes of a row, 0 if it has no entries.
    pub fn bytes(&self, row: usize) -> u64 {
        self.bounds[row].bytes(self.cols)
    }

    /// A row that is in memory, packed.
    pub fn packed(&self, row: usize) -> Option<&[u8]> {
        let MapStore::Memory(all) = &self.store else { return None };
        Some(self.row_among(row, 0, all))
    }

    /// Reads consecutive rows of a file, packed. `bytes` is room that serves again: fresh memory for every block took longer than
    /// reading it.
    pub fn read(&self, rows: Range<usize>, bytes: &mut Vec<u8>) -> io::Result<()> {
        bytes.clear();
        let (MapStore::File(file), false) = (&self.store, rows.is_empty()) else { return Ok(()) };
        let (from, last) = (self.bounds[rows.start].start, &self.bounds[rows.end - 1]);
        bytes.resize((last.start + last.bytes(self.cols) - from) as usize, 0);
        read_at(file, from, bytes)
    }

    /// A row among those that [`read`](MapRows::read) gave, of which `first` is the first.
    pub fn row_of<'b>(&self, row: usize, first: usize, bytes: &'b [u8]) -> &'b [u8] {
        self.row_among(row, self.bounds[first].start, bytes)
    }

    fn row_among<'b>(&self, row: usize, from: u64, bytes: &'b [u8]) -> &'b [u8] {
        let own = &self.bounds[row];
        let start = (own.start - from) as usize;
        &bytes[start..start + own.bytes(self.cols) as usize]
    }

    /// The columns and values of a packed row, in place of what is there.
    pub fn unpack(&self, row: usize, packed: &[u8], columns: &mut Vec<u32>, values: &mut Vec<f64>) {
        let MapBounds { entries, table, .. } = self.bounds[row];
        let (table, rest) = packed.split_at(8 * table as usize);
        let width = column_bytes(self.cols);
        let (own, rest) = rest.split_at(width * entries as usize);
        columns.clear();
        match width {
            2 => columns.extend(own.as_chunks::<2>().0.iter().map(|&b| u32::from(u16::from_le_bytes(b)))),
            _ => columns.extend(own.as_chunks::<4>().0.iter().map(|&b| u32::from_le_bytes(b))),
        }
        values.clear();
        let table = table.as_chunks::<8>().0;
        if table.is_empty() {
            values.extend(rest.as_chunks::<8>().0.iter().map(|&b| f64::from_le_bytes(b)));
        } else {
            values.extend(rest.iter().map(|&number| f64::from_le_bytes(table[usize::from(number)])));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Rows with few values, with many, with one entry and with none; columns of two bytes and of four.
    #[test]
    fn packing_keeps_every_bit() {
        for cols in [65_536, 65_537] {
            let last = cols as u32 - 1;
            let few = |k: u32| 0.1 * f64::from(k % 5 + 1);
            let many = |k: u32| 1.0 / f64::from(k + 3);
            let rows: Vec<(Vec<u32>, Vec<f64>)> = vec![
                ((0..400).chain([last]).collect(), (0..401).map(few).collect()),
                (vec![], vec![]),
                ((0..400).collect(), (0..400).map(many).collect()),
                (vec![last], vec![1.0]),
                // As many values as a byte numbers, and one more.
                ((0..2000).collect(), (0..2000).map(|k| many(k % 256)).collect()),
                ((0..2000).collect(), (0..2000).map(|k| many(k % 257)).collect()),
            ];
            let mut all = Vec::new();
            let bounds: Vec<MapBounds> = rows.iter().map(|(c, v)| pack(c, v, cols, &mut all)).collect();
            let tables: Vec<u32> = bounds.iter().map(|b| b.table).collect();
            assert_eq!(tables, [5, 0, 0, 0, 256, 0]);
            let width = if cols == 65_536 { 2 } else { 4 };
            assert_eq!(bounds[0].bytes(cols), 5 * 8 + 401 * (width + 1));
            let packed = MapRows { cols, bounds, store: MapStore::Memory(all), memory: 0 };
            let (mut columns, mut values) = (vec![7], vec![7.0]);
            for (row, (own_columns, own_values)) in rows.iter().enumerate() {
                packed.unpack(row, packed.packed(row).unwrap(), &mut columns, &mut values);
                assert_eq!((&columns, &values), (own_columns, own_values), "row {row} of {cols} columns");
            }
        }
    }
}
