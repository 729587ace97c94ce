//! Cells as small numbers, and how often two rows of them agree.
//!
//! `m(x, y)`, the number of partitionings in which x and y share a cell, is t times the isolation kernel. Rows are padded to
//! whole cache lines of zeros, so that one instruction compares 64 cells; the padding always agrees and is
//! subtracted. The largest number means that a row lies in no cell, which it shares with nobody. Inside a bag every pair is counted once for all thresholds: |S|^2 t / 2 comparisons, whatever psi and the
//! width of the data.

use std::ops::Range;

/// The cells of some rows: one number per row and partitioning.
#[derive(Clone, Debug, PartialEq)]
pub struct Ids {
    rows: usize,
    t: usize,
    psi: usize,
    /// Whether rows may lie in no cell.
    partial: bool,
    cells: Cells,
}

#[derive(Clone, Debug, PartialEq)]
enum Cells {
    U8(Vec<u8>),
    U16(Vec<u16>),
}

/// Rows that stand side by side: a multiple of the lanes of every instruction set.
pub(super) const BLOCK: usize = 64;

/// Cells block after block of rows, partitioning after partitioning. Behind the last row are zeros.
pub(super) enum SideBySide {
    U8(Vec<u8>),
    U16(Vec<u16>),
}

/// Some rows, to be filled.
pub(super) enum IdSlice<'a> {
    U8(&'a mut [u8], usize),
    U16(&'a mut [u16], usize),
}

/// A cell's number.
pub(super) trait CellNumber: Copy + Eq + Default + Send + Sync + 'static {
    /// No cell at all.
    const NONE: Self;
    fn from_wide(wide: u16) -> Self;
    fn wide(self) -> u16;
    /// As a counter.
    fn one_more_if(self, condition: bool) -> Self;
}

impl CellNumber for u8 {
    const NONE: u8 = u8::MAX;
    fn from_wide(wide: u16) -> u8 {
        wide as u8
    }
    fn wide(self) -> u16 {
        u16::from(self)
    }
    #[inline(always)]
    fn one_more_if(self, condition: bool) -> u8 {
        self.wrapping_add(u8::from(condition))
    }
}

impl CellNumber for u16 {
    const NONE: u16 = super::NO_CELL;
    fn from_wide(wide: u16) -> u16 {
        wide
    }
    fn wide(self) -> u16 {
        self
    }
    #[inline(always)]
    fn one_more_if(self, condition: bool) -> u16 {
        self.wrapping_add(u16::from(condition))
    }
}

/// The share of similar pairs above which an instance counts as similar: `m * denominator > numerator * t`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Share {
    /// The part.
    pub numerator: u32,
    /// Of how many.
    pub denominator: u32,
}

impl Share {
    /// The largest m that is not above the share.
    fn last(self, t: usize) -> u32 {
        (u64::from(self.numerator) * t as u64 / u64::from(self.denominator)) as u32
    }

    /// True if nothing is above it, so that weights are equal.
    pub fn is_all(self) -> bool {
        self.numerator >= self.denominator
    }
}

impl Ids {
    pub(super) fn zeros(rows: usize, t: usize, psi: usize, partial: bool) -> Ids {
        let cells = if fits_a_byte(psi, partial) {
            Cells::U8(vec![0; rows * t.next_multiple_of(64)])
        } else {
            Cells::U16(vec![0; rows * t.next_multiple_of(32)])
        };
        Ids { rows, t, psi, partial, cells }
    }

    /// Number of rows.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// Number of partitionings.
    pub fn t(&self) -> usize {
        self.t
    }

    /// Cells of a partitioning.
    pub fn psi(&self) -> usize {
        self.psi
    }

    /// Bytes for this many rows.
    pub(super) fn bytes(rows: usize, t: usize, psi: usize, partial: bool) -> u64 {
        let row = if fits_a_byte(psi, partial) { t.next_multiple_of(64) } else { 2 * t.next_multiple_of(32) };
        (rows * row) as u64
    }

    /// The cell of a row, if it lies in one.
    pub fn get(&self, row: usize, partitioning: usize) -> Option<usize> {
        let (cell, none) = match &self.cells {
            Cells::U8(cells) => {
                (usize::from(cells[row * self.stride() + partitioning]), usize::from(u8::NONE))
            }
            Cells::U16(cells) => {
                (usize::from(cells[row * self.stride() + partitioning]), usize::from(u16::NONE))
            }
        };
        (!self.partial || cell != none).then_some(cell)
    }

    /// Whether rows may lie in no cell.
    pub(super) fn is_partial(&self) -> bool {
        self.partial
    }

    /// The same cells, 64 rows side by side.
    pub(super) fn side_by_side(&self) -> SideBySide {
        match &self.cells {
            Cells::U8(cells) => SideBySide::U8(side_by_side(cells, self.stride(), self.t)),
            Cells::U16(cells) => SideBySide::U16(side_by_side(cells, self.stride(), self.t)),
        }
    }

    /// Bytes of that.
    pub(super) fn bytes_side_by_side(&self) -> u64 {
        let cell = if matches!(self.cells, Cells::U8(_)) { 1 } else { 2 };
        (cell * self.rows.next_multiple_of(BLOCK) * self.t) as u64
    }

    fn stride(&self) -> usize {
        match &self.cells {
            Cells::U8(_) => self.t.next_multiple_of(64),
            Cells::U16(_) => self.t.next_multiple_of(32),
        }
    }

    pub(super) fn pieces(&mut self, rows: usize) -> Vec<IdSlice<'_>> {
        let stride = self.stride();
        match &mut self.cells {
            Cells::U8(cells) => cells.chunks_mut(rows * stride).map(|c| IdSlice::U8(c, stride)).collect(),
            Cells::U16(cells) => cells.chunks_mut(rows * stride).map(|c| IdSlice::U16(c, stride)).collect(),
        }
    }

    /// For every instance of a bag and every share, how many instances of the bag are similar to it, itself included.
    pub fn similar(&self, bag: Range<usize>, shares: &[Share]) -> Vec<Vec<u32>> {
        let size = bag.len();
        let mut similar = vec![vec![1u32; size]; shares.len()];
        let mut levels: Vec<(u32, usize)> = shares
            .iter()
            .enumerate()
            .filter(|(_, s)| !s.is_all())
            .map(|(e, s)| (s.last(self.t), e))
            .collect();
        if levels.is_empty() || size < 2 {
            return similar;
        }
        levels.sort_unstable();
        let lasts: Vec<u32> = levels.iter().map(|l| l.0).collect();
        let bins = match &self.cells {
            Cells::U8(cells) => bins(cells, self.stride(), self.t, self.partial, bag, &lasts),
            Cells::U16(cells) => bins(cells, self.stride(), self.t, self.partial, bag, &lasts),
        };
        let width = lasts.len() + 1;
        for x in 0..size {
            // A pair in bin k is above the k lowest levels.
            let mut above = 0;
            for (k, &(_, e)) in levels.iter().enumerate().rev() {
                above += bins[x * width + k + 1];
                similar[e][x] += above;
            }
        }
        similar
    }

    /// The weights of the instances of a bag for every share: one over the number of similar ones, summing to 1.
    pub fn weights(&self, bag: Range<usize>, shares: &[Share]) -> Vec<Vec<f64>> {
        let normalised = |counts: Vec<u32>| {
            let mut weights: Vec<f64> = counts.iter().map(|&c| 1.0 / f64::from(c)).collect();
            let sum: f64 = weights.iter().sum();
            weights.iter_mut().for_each(|w| *w /= sum);
            weights
        };
        self.similar(bag, shares).into_iter().map(normalised).collect()
    }

    /// Calls `each(partitioning, cell)` for a row, where it lies in a cell.
    pub(super) fn row(&self, row: usize, mut each: impl FnMut(usize, usize)) {
        let range = row * self.stride()..row * self.stride() + self.t;
        let partial = self.partial;
        match &self.cells {
            Cells::U8(cells) => cells[range]
                .iter()
                .enumerate()
                .filter(|(_, c)| !partial || **c != u8::NONE)
                .for_each(|(i, &c)| each(i, usize::from(c))),
            Cells::U16(cells) => cells[range]
                .iter()
                .enumerate()
                .filter(|(_, c)| !partial || **c != u16::NONE)
                .for_each(|(i, &c)| each(i, usize::from(c))),
        }
    }
}

/// Whether a byte has a number for every cell, and one for none where there may be none.
fn fits_a_byte(psi: usize, partial: bool) -> bool {
    psi + usize::from(partial) <= 256
}

impl IdSlice<'_> {
    /// Takes numbers that lie partitioning after partitioning, `rows` of them each.
    pub(super) fn take(&mut self, found: &[u16], rows: usize, t: usize) {
        match self {
            IdSlice::U8(cells, stride) => transpose(cells, *stride, found, rows, t),
            IdSlice::U16(cells, stride) => transpose(cells, *stride, found, rows, t),
        }
    }
}

fn transpose<C: CellNumber>(cells: &mut [C], stride: usize, found: &[u16], rows: usize, t: usize) {
    // Sixteen rows at a time read whole cache lines of what was found.
    for (group, cells) in cells.chunks_mut(16 * stride).enumerate() {
        for (i, found) in found.chunks_exact(rows).take(t).enumerate() {
            for (row, cells) in cells.chunks_exact_mut(stride).enumerate() {
                cells[i] = C::from_wide(found[16 * group + row]);
            }
        }
    }
}

fn side_by_side<C: CellNumber>(cells: &[C], stride: usize, t: usize) -> Vec<C> {
    let rows = cells.len().checked_div(stride).unwrap_or(0);
    let mut all = vec![C::default(); rows.next_multiple_of(BLOCK) * t];
    for (block, cells) in all.chunks_exact_mut((BLOCK * t).max(1)).zip(cells.chunks(BLOCK * stride)) {
        for (lane, row) in cells.chunks_exact(stride).enumerate() {
            row[..t].iter().enumerate().for_each(|(i, &cell)| block[i * BLOCK + lane] = cell);
        }
    }
    all
}

/// Calls a function compiled for the best instruction set there is.
macro_rules! dispatched {
    ($name:ident $(<$c:ident>)?, $inner:ident, ($($arg:ident: $ty:ty),*) $(-> $ret:ty)?) => {
        pub(super) fn $name$(<$c: CellNumber>)?($($arg: $ty),*) $(-> $ret)? {
            #[cfg(target_arch = "x86_64")]
            {
                #[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512dq,avx2,fma,popcnt")]
                unsafe fn avx512$(<$c: CellNumber>)?($($arg: $ty),*) $(-> $ret)? {
                    $inner($($arg),*)
                }
                #[target_feature(enable = "avx2,fma,popcnt")]
                unsafe fn avx2$(<$c: CellNumber>)?($($arg: $ty),*) $(-> $ret)? {
                    $inner($($arg),*)
                }
                use crate::simd::InstructionSet;
                match InstructionSet::best() {
                    // SAFETY: the processor has just been asked.
                    InstructionSet::Avx512 => unsafe { avx512($($arg),*) },
                    // SAFETY: as above.
                    InstructionSet::Avx2 => unsafe { avx2($($arg),*) },
                    InstructionSet::Portable => $inner($($arg),*),
                }
            }
            #[cfg(not(target_arch = "x86_64"))]
            $inner($($arg),*)
        }
    };
}
pub(super) use dispatched;

/// How often two padded rows agree, padding included; where `PARTIAL`, on a cell and not on none.
#[inline(always)]
pub(super) fn agree<C: CellNumber, const PARTIAL: bool>(a: &[C], b: &[C]) -> u32 {
    let same = |a: C, b: C| a == b && (!PARTIAL || a != C::NONE);
    // Sums of 64 lanes of one byte hold up to 255 rounds: 8160 partitionings of u16.
    let mut total = 0u32;
    let lanes = 64 / size_of::<C>();
    for (a, b) in a.chunks(255 * lanes).zip(b.chunks(255 * lanes)) {
        if lanes == 64 {
            let mut sums = [0u8; 64];
            for (a, b) in a.chunks_exact(64).zip(b.chunks_exact(64)) {
                for l in 0..64 {
                    sums[l] += u8::from(same(a[l], b[l]));
                }
            }
            total += sums.iter().map(|&s| u32::from(s)).sum::<u32>();
        } else {
            let mut sums = [0u16; 32];
            for (a, b) in a.chunks_exact(32).zip(b.chunks_exact(32)) {
                for l in 0..32 {
                    sums[l] += u16::from(same(a[l], b[l]));
                }
            }
            total += sums.iter().map(|&s| u32::from(s)).sum::<u32>();
        }
    }
    total
}

dispatched!(bins<C>, bins_of, (cells: &[C], stride: usize, t: usize, partial: bool, bag: Range<usize>, lasts: &[u32]) -> Vec<u32>);

/// For each instance of a bag, how many others agree with it more than k of the levels `lasts` (ascending) ask for.
#[inline(always)]
fn bins_of<C: CellNumber>(
    cells: &[C],
    stride: usize,
    t: usize,
    partial: bool,
    bag: Range<usize>,
    lasts: &[u32],
) -> Vec<u32> {
    if partial {
        bins_where::<C, true>(cells, stride, t, bag, lasts)
    } else {
        bins_where::<C, false>(cells, stride, t, bag, lasts)
    }
}

#[inline(always)]
fn bins_where<C: CellNumber, const PARTIAL: bool>(
    cells: &[C],
    stride: usize,
    t: usize,
    bag: Range<usize>,
    lasts: &[u32],
) -> Vec<u32> {
    let padding = (stride - t) as u32;
    let width = lasts.len() + 1;
    let size = bag.len();
    let mut bins = vec![0u32; size * width];
    let row = |x: usize| &cells[(bag.start + x) * stride..(bag.start + x + 1) * stride];
    let lowest = lasts[0] + padding;
    // Tiles of rows that fit the first cache together with the row they meet.
    let tile = (16_384 / (stride * size_of::<C>())).max(1);
    for from in (0..size).step_by(tile) {
        let to = (from + tile).min(size);
        for x in 0..to {
            let own = row(x);
            for y in from.max(x + 1)..to {
                let m = agree::<C, PARTIAL>(own, row(y));
                if m > lowest {
                    let m = m - padding;
                    let k = lasts.iter().take_while(|&&last| m > last).count();
                    bins[x * width + k] += 1;
                    bins[y * width + k] += 1;
                }
            }
        }
    }
    bins
}

/// How often row `x` agrees with each of `rows`.
pub(super) fn agreements(ids: &Ids, x: usize, rows: Range<usize>, out: &mut [f64]) {
    match &ids.cells {
        Cells::U8(cells) => counts(cells, ids.stride(), ids.t, ids.partial, x, rows, out),
        Cells::U16(cells) => counts(cells, ids.stride(), ids.t, ids.partial, x, rows, out),
    }
}

dispatched!(counts<C>, counts_of, (cells: &[C], stride: usize, t: usize, partial: bool, x: usize, rows: Range<usize>, out: &mut [f64]));

#[inline(always)]
fn counts_of<C: CellNumber>(
    cells: &[C],
    stride: usize,
    t: usize,
    partial: bool,
    x: usize,
    rows: Range<usize>,
    out: &mut [f64],
) {
    let padding = (stride - t) as u32;
    let own = &cells[x * stride..(x + 1) * stride];
    let others = cells[rows.start * stride..rows.end * stride].chunks_exact(stride).zip(out);
    if partial {
        others.for_each(|(other, out)| *out = f64::from(agree::<C, true>(own, other) - padding));
    } else {
        others.for_each(|(other, out)| *out = f64::from(agree::<C, false>(own, other) - padding));
    }
}
