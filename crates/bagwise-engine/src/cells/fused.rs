//! Nearest centres by products, with the minimum kept in registers.
//!
//! With x and c moved to the mean of the centres, `|x - c|^2 / 2 = |x|^2 / 2 + (|c|^2 / 2 - x c)`, and the first term does
//! not matter. Points lie in lanes; a tile of 8 centres (6 with 16 registers) by two vectors of points starts at |c|^2 / 2 and
//! runs down the attributes, one multiply-add each. Then a value's place in the tile is written into its lowest
//! bits, and the smallest and second smallest so far are kept; which tile the smallest came from is one comparison
//! a tile. Centres pass by in groups that stay in the first cache.
//!
//! Where the two smallest are closer than rounding can tell (see `limit`), the row is compared with the list again
//! by the definition. So the result never depends on precision, tiles or instruction set: the products only sift, and
//! single precision, which is twice as fast, sifts data in double precision as well. Where it leaves too many rows in
//! doubt (values far from the others, differences in the last digits) the block goes on in double precision.

use std::ops::Range;
use std::sync::{Arc, OnceLock};

use super::{BLOCK, CentreLists, literal};
use crate::pack::Buffer;
use crate::simd::{Element, InstructionSet, Vector, table_of};
use bagwise_core::{Ctx, Instances, Message, Result};

/// Bits that hold a centre's place in its tile.
const TAG_BITS: u32 = 3;

/// Attributes whose products are added up on their own: errors then grow with this number and not with the width.
const SWEEP: usize = 128;

/// Attributes of a row that are put into lanes together: a line of the cache in double precision. One attribute of all rows after
/// the other would fetch every line of wide rows as often as it has attributes.
const STRIP: usize = 8;

/// Bytes of centres that pass by together: half of a first-level cache.
const GROUP: usize = 16_384;

/// Lists a block is compared with before it is asked whether single precision will do for the others: the rows of a
/// block are sample enough.
const TRIAL: usize = 1;

/// One row among this many that only double precision would tell apart costs what double precision costs for all of them.
const DOUBT: usize = 25;

/// Both precisions; double only when a block first needs it.
pub(super) struct NearestCentre {
    single: Fused<f32>,
    double: OnceLock<Option<Fused<f64>>>,
    trial: usize,
}

impl NearestCentre {
    pub(super) fn new(p: &CentreLists, psis: &[usize], ctx: &Ctx) -> Result<NearestCentre> {
        let single = Fused::new(p, psis, f32::kernels()[0], 0, ctx)?;
        Ok(NearestCentre { single, double: OnceLock::new(), trial: TRIAL })
    }

    /// Cells of `count` rows.
    pub(super) fn find<X: Element>(
        &self,
        p: &CentreLists,
        x: &[X],
        count: usize,
        found: &mut [Vec<u16>],
        ctx: &Ctx,
    ) {
        let trial = self.trial.min(p.t);
        let doubts = self.single.find(p, 0..trial, x, count, found);
        if trial == p.t {
            return;
        }
        let double = if doubts * DOUBT >= trial * count * self.single.psis.len() {
            // Without the memory for it, single precision finds the same, only later.
            let make = || {
                let single = self.single.bytes();
                Fused::new(p, &self.single.psis, f64::kernels()[0], single, ctx).ok()
            };
            self.double.get_or_init(make).as_ref()
        } else {
            None
        };
        match double {
            Some(double) => double.find(p, trial..p.t, x, count, found),
            None => self.single.find(p, trial..p.t, x, count, found),
        };
    }

    /// With these loops: rows are compared in single precision with the first `trial` lists.
    #[cfg(test)]
    pub(super) fn with(single: Fused<f32>, double: Fused<f64>, trial: usize) -> NearestCentre {
        NearestCentre { single, double: Some(double).into(), trial }
    }

    /// Whether a block needed double precision.
    #[cfg(test)]
    pub(super) fn went_on_in_double(&self) -> bool {
        self.double.get().is_some_and(Option::is_some)
    }
}

pub(super) struct Fused<T: Element> {
    kernel: &'static FusedLoop<T>,
    psis: Vec<usize>,
    mean: Vec<f64>,
    /// The tiles of one list up to each psi.
    ends: Vec<usize>,
    /// The position of a tile's first centre in its list.
    starts: Arc<[u16]>,
    /// All tiles are whole, so that tile k starts at k times `mr`.
    whole: bool,
    /// Tiles of all lists: `mr` centres, attribute after attribute, with the sign turned.
    centres: Buffer<T>,
    /// Half the squared length of every centre of a tile.
    halves: Buffer<T>,
    /// The largest squared length in each list.
    longest: Vec<f64>,
}

/// The loop for one instruction set.
pub(super) struct FusedLoop<T: Element> {
    #[cfg(test)]
    name: &'static str,
    mr: usize,
    points: usize,
    /// Lets tiles pass by a panel: panel, width, centres, halves, number of the first tile, state.
    race: unsafe fn(&[T], usize, &[T], &[T], usize, &mut [T]),
    /// Reads tiles and places (as tile times `mr` plus place) off a state, and whether the second came too close:
    /// state, limits of the points and of the list, places, marks of what is close. True if any is.
    tell: unsafe fn(&[T], &[T], T, &mut [u32], &mut [u8]) -> bool,
}

/// A share of the limit, for a squared length about the mean: that of a point, or the longest of a list.
///
/// Two values of `|c|^2 / 2 - x c` that differ by more than the shares of x and of the list together belong to centres whose
/// distances by the definition differ in the same sense. With u the rounding error of the products and C, N bounds of
/// |c|^2 and |x|^2: moving to the mean, s products and sums from |c|^2 / 2 one after the other, and the tag move a value by
/// at most (s + 24) u (C + N); the definition, in double precision, errs by (d + 2) u' |x - c|^2 / 2 <= (d + 2) u' (C + N).
fn limit<T: Element>(width: usize, length: f64) -> T {
    let d = width as f64;
    // Near overflow nothing is certain, nor with NaN.
    let certain = length < T::HIGHEST.to_f64() * 1e-4;
    if !certain {
        return T::from_f64(f64::INFINITY);
    }
    let one_after_the_other = width.min(SWEEP + width.div_ceil(SWEEP) + 1) as f64;
    let relative = 2.0 * (one_after_the_other + 24.0) * T::ROUNDING + 2.0 * (d + 2.0) * f64::EPSILON;
    // Some more, for the roundings of the shares and of their sum.
    T::from_f64(1.05 * relative * length + 8.0 * (d + 8.0) * T::SMALLEST)
}

impl<T: FusedLoops> Fused<T> {
    /// Packs the centres, for which there is memory besides this many bytes.
    pub(super) fn new(
        p: &CentreLists,
        psis: &[usize],
        kernel: &'static FusedLoop<T>,
        besides: u64,
        ctx: &Ctx,
    ) -> Result<Fused<T>> {
        let (mr, width) = (kernel.mr, p.width());
        // Every psi ends with a whole tile.
        let (mut starts, mut ends, mut from) = (Vec::new(), Vec::new(), 0);
        for &psi in psis {
            starts.extend((from..psi).step_by(mr).map(|s| s as u16));
            ends.push(starts.len());
            from = psi;
        }
        let tiles = starts.len();
        let bytes = (p.t * tiles * mr * (width + 1) * size_of::<T>()) as u64;
        ctx.reserve(
            "the centres of all partitionings, packed",
            besides + bytes,
            Message::more_memory().or("choose a smaller psi or t"),
        )?;
        let mean = crate::pack::mean(&p.centres)?;
        let mut fused = Fused {
            kernel,
            psis: psis.to_vec(),
            mean,
            ends,
            whole: psis.iter().all(|psi| psi.is_multiple_of(mr)),
            starts: starts.into(),
            centres: Buffer::zeros(p.t * tiles * mr * width),
            halves: Buffer::zeros(p.t * tiles * mr),
            longest: vec![0.0; p.t],
        };
        fused.halves.fill(T::HIGHEST);
        let mut row = vec![0.0; width];
        let starts = Arc::clone(&fused.starts);
        for i in 0..p.t {
            let mut ends = fused.ends.iter().zip(psis);
            let (mut end, mut psi) = ends.next().map_or((0, 0), |(&e, &p)| (e, p));
            for (tile, &start) in starts.iter().enumerate() {
                if tile == end {
                    (end, psi) = ends.next().map_or((0, 0), |(&e, &p)| (e, p));
                }
                let start = usize::from(start);
                for place in 0..mr.min(psi - start) {
                    p.centres.row_into(p.list(i)[start + place] as usize, &mut row)?;
                    let at = (i * tiles + tile) * mr;
                    let mut length = 0.0;
                    for (k, (v, m)) in row.iter().zip(&fused.mean).enumerate() {
                        let v = T::from_f64(v - m);
                        fused.centres[at * width + k * mr + place] = T::from_f64(-v.to_f64());
                        length += v.to_f64() * v.to_f64();
                    }
                    fused.halves[at + place] = T::from_f64(0.5 * length);
                    // Not `max`, which prefers numbers to NaN.
                    if length > fused.longest[i] || length.is_nan() {
                        fused.longest[i] = length;
                    }
                }
            }
        }
        Ok(fused)
    }

    fn bytes(&self) -> u64 {
        ((self.centres.len() + self.halves.len()) * size_of::<T>()) as u64
    }

    #[cfg(test)]
    pub(super) fn kernel_name(&self) -> &'static str {
        self.kernel.name
    }

    /// Cells of `count` rows in these lists; returns for how many more precision would have told the cell.
    fn find<X: Element>(
        &self,
        p: &CentreLists,
        lists: Range<usize>,
        x: &[X],
        count: usize,
        found: &mut [Vec<u16>],
    ) -> usize {
        let (mr, points, width) = (self.kernel.mr, self.kernel.points, p.width());
        let panels = count.div_ceil(points);
        let mut packed: Buffer<T> = Buffer::zeros(panels * points * width);
        let mut lengths = vec![0.0; panels * points];
        let panels_of = packed.chunks_exact_mut(points * width).zip(lengths.chunks_exact_mut(points));
        for ((panel, lengths), rows) in panels_of.zip(x.chunks(points * width)) {
            let strips = panel.chunks_mut(STRIP * points).zip(self.mean.chunks(STRIP));
            for (strip, (panel, mean)) in strips.enumerate() {
                for (place, row) in rows.chunks_exact(width).enumerate() {
                    let row = &row[strip * STRIP..];
                    // A number of values that is known beforehand takes vector instructions.
                    match (row.first_chunk::<STRIP>(), mean.first_chunk::<STRIP>()) {
                        (Some(row), Some(mean)) => {
                            let moved: [T; STRIP] =
                                std::array::from_fn(|k| T::from_f64(row[k].to_f64() - mean[k]));
                            (0..STRIP).for_each(|k| panel[k * points + place] = moved[k]);
                        }
                        _ => {
                            for (k, (v, mean)) in row.iter().zip(mean).enumerate() {
                                panel[k * points + place] = T::from_f64(v.to_f64() - mean);
                            }
                        }
                    }
                }
                // Attribute after attribute, so that the sums of many rows go on side by side.
                for to in panel.chunks_exact(points) {
                    for (length, v) in lengths.iter_mut().zip(to) {
                        *length += v.to_f64() * v.to_f64();
                    }
                }
            }
        }
        let tiles = self.starts.len();
        let group = (GROUP / (mr * width * size_of::<T>())).max(1);
        // Smallest, second smallest and tile of the smallest, for each point of a panel.
        let mut states: Buffer<T> = Buffer::zeros(panels * 3 * points);
        let limits: Vec<T> = lengths.iter().map(|&length| limit(width, length)).collect();
        let mut doubts = 0;
        for i in lists {
            for state in states.chunks_exact_mut(3 * points) {
                state[..2 * points].fill(T::HIGHEST);
                state[2 * points..].fill(T::default());
            }
            let mut from = 0;
            for ((&end, &psi), found) in self.ends.iter().zip(&self.psis).zip(found.iter_mut()) {
                for first in (from..end).step_by(group) {
                    let last = (first + group).min(end);
                    let (a, b) = ((i * tiles + first) * mr, (i * tiles + last) * mr);
                    for (panel, state) in
                        packed.chunks_exact(points * width).zip(states.chunks_exact_mut(3 * points))
                    {
                        // SAFETY: `kernels` lists what the processor has.
                        unsafe {
                            (self.kernel.race)(
                                panel,
                                width,
                                &self.centres[a * width..b * width],
                                &self.halves[a..b],
                                first,
                                state,
                            );
                        }
                    }
                }
                from = end;
                doubts += self.read(p, i, psi, x, count, &states, &limits, &mut found[i * BLOCK..]);
            }
        }
        doubts
    }

    /// Turns states into cells, and settles what is too close to call; returns for how many of these rows more precision
    /// would have told the cell.
    fn read<X: Element>(
        &self,
        p: &CentreLists,
        i: usize,
        psi: usize,
        x: &[X],
        count: usize,
        states: &[T],
        limits: &[T],
        found: &mut [u16],
    ) -> usize {
        let (mr, points) = (self.kernel.mr, self.kernel.points);
        // Panels may reach beyond the block's last row.
        let mut close = [0u8; BLOCK + 64];
        let mut at = [0u32; BLOCK + 64];
        let mut any = false;
        let longest = limit(p.width(), self.longest[i]);
        for (panel, state) in states.chunks_exact(3 * points).enumerate() {
            let rows = panel * points..(panel + 1) * points;
            // SAFETY: `kernels` lists what the processor has.
            any |= unsafe {
                (self.kernel.tell)(
                    state,
                    &limits[rows.clone()],
                    longest,
                    &mut at[rows.clone()],
                    &mut close[rows],
                )
            };
        }
        if self.whole {
            found.iter_mut().zip(&at[..count]).for_each(|(found, &at)| *found = at as u16);
        } else {
            for (found, &at) in found.iter_mut().zip(&at[..count]) {
                *found = self.starts[at as usize / mr] + (at as usize % mr) as u16;
            }
        }
        if !any {
            return 0;
        }
        let width = p.width();
        let mut wide = vec![0.0; width];
        let mut doubts = 0;
        for row in (0..count).filter(|&row| close[row] == 1) {
            wide.iter_mut().zip(&x[row * width..]).for_each(|(w, x)| *w = x.to_f64());
            let (cell, tied) = match &p.centres {
                Instances::F64(z) => settle(&wide, z.data(), &p.list(i)[..psi]),
                Instances::F32(z) => settle(&wide, z.data(), &p.list(i)[..psi]),
                _ => unreachable!("centres are in memory, and sparse ones are scanned"),
            };
            found[row] = cell;
            doubts += usize::from(!tied);
        }
        doubts
    }
}

/// The cell by the definition, and whether several centres come as near as double precision can tell. Distances are first
/// summed in eight parts; only those within rounding of the least are summed from left to right.
fn settle<Z: Element>(x: &[f64], z: &[Z], list: &[u32]) -> (u16, bool) {
    let width = x.len();
    let row = |j: usize| &z[list[j] as usize * width..(list[j] as usize + 1) * width];
    let mut rough = vec![0.0; list.len()];
    rough_distances(x, z, list, &mut rough);
    let least = rough.iter().copied().fold(f64::INFINITY, f64::min);
    // Both sums are within (d + 2) u of the truth.
    let reach = least * (1.0 + 8.0 * (width as f64 + 4.0) * f64::EPSILON) + width as f64 * f64::MIN_POSITIVE;
    let mut nearest = literal::Nearest::new();
    let mut near = 0;
    for (j, &rough) in rough.iter().enumerate() {
        // Not the opposite comparison: NaN stays in.
        let farther = rough > reach;
        if !farther {
            near += 1;
            nearest.offer(j, literal::dense(super::Distance::Euclidean, x, row(j)));
        }
    }
    (nearest.at(), near > 1)
}

fn rough_distances<Z: Element>(x: &[f64], z: &[Z], list: &[u32], out: &mut [f64]) {
    #[cfg(target_arch = "x86_64")]
    {
        #[target_feature(enable = "avx2,fma")]
        unsafe fn wide<Z: Element>(x: &[f64], z: &[Z], list: &[u32], out: &mut [f64]) {
            rough_of(x, z, list, out);
        }
        if InstructionSet::best() != InstructionSet::Portable {
            // SAFETY: the processor has just been asked; all others have these two.
            return unsafe { wide(x, z, list, out) };
        }
    }
    rough_of(x, z, list, out);
}

#[inline(always)]
fn rough_of<Z: Element>(x: &[f64], z: &[Z], list: &[u32], out: &mut [f64]) {
    let (fronts, tail) = x.as_chunks::<8>();
    for (out, &centre) in out.iter_mut().zip(list) {
        let z = &z[centre as usize * x.len()..(centre as usize + 1) * x.len()];
        let (z_fronts, z_tail) = z.as_chunks::<8>();
        let mut sums = [0.0; 8];
        for (x, z) in fronts.iter().zip(z_fronts) {
            for l in 0..8 {
                let difference = x[l] - z[l].to_f64();
                sums[l] += difference * difference;
            }
        }
        for (l, (x, z)) in tail.iter().zip(z_tail).enumerate() {
            sums[l] += (x - z.to_f64()) * (x - z.to_f64());
        }
        *out = sums.iter().sum();
    }
}

#[inline(always)]
unsafe fn race<V: Vector, const MR: usize, const WIDE: bool>(
    panel: &[V::E],
    width: usize,
    centres: &[V::E],
    halves: &[V::E],
    first: usize,
    state: &mut [V::E],
) {
    let points = 2 * V::LANES;
    let tiles = halves.len() / MR;
    assert!(panel.len() == points * width && state.len() == 3 * points);
    assert!(halves.len() == tiles * MR && centres.len() == tiles * MR * width);
    // SAFETY: the assertions bound panel, centres, halves and state; the caller vouches for the instruction set.
    unsafe {
        let keep = V::splat(V::E::from_low_bits(!((1 << TAG_BITS) - 1)));
        let s = state.as_mut_ptr();
        let mut best = [V::load(s), V::load(s.add(V::LANES))];
        let mut second = [V::load(s.add(points)), V::load(s.add(points + V::LANES))];
        let mut from = [V::load(s.add(2 * points)), V::load(s.add(2 * points + V::LANES))];
        for tile in 0..tiles {
            let half = halves.as_ptr().add(tile * MR);
            let mut acc: [[V; 2]; MR] = std::array::from_fn(|i| [V::splat(*half.add(i)); 2]);
            let mut c = centres.as_ptr().add(tile * MR * width);
            let mut x = panel.as_ptr();
            let mut sums = [[V::splat(V::E::default()); 2]; MR];
            let mut left = width;
            loop {
                for _ in 0..if WIDE { left.min(SWEEP) } else { left } {
                    let (x0, x1) = (V::load(x), V::load(x.add(V::LANES)));
                    for i in 0..MR {
                        let c = V::splat(*c.add(i));
                        acc[i][0] = c.mul_add(x0, acc[i][0]);
                        acc[i][1] = c.mul_add(x1, acc[i][1]);
                    }
                    c = c.add(MR);
                    x = x.add(points);
                }
                if !WIDE {
                    break;
                }
                for i in 0..MR {
                    for h in 0..2 {
                        sums[i][h] = sums[i][h].add(acc[i][h]);
                        acc[i][h] = V::splat(V::E::default());
                    }
                }
                if left <= SWEEP {
                    acc = sums;
                    break;
                }
                left -= SWEEP;
            }
            let before = best;
            for i in 0..MR {
                let tag = V::splat(V::E::from_low_bits(i as u64));
                for h in 0..2 {
                    let value = acc[i][h].tagged(keep, tag);
                    second[h] = second[h].min(best[h].max(value));
                    best[h] = best[h].min(value);
                }
            }
            // As bits: it is moved about, never calculated with.
            let number = V::splat(V::E::from_low_bits((first + tile) as u64));
            for h in 0..2 {
                from[h] = best[h].if_below(before[h], number, from[h]);
            }
        }
        for h in 0..2 {
            best[h].store(s.add(h * V::LANES));
            second[h].store(s.add(points + h * V::LANES));
            from[h].store(s.add(2 * points + h * V::LANES));
        }
    }
}

#[inline(always)]
fn tell<T: Element, const MR: usize>(
    state: &[T],
    limits: &[T],
    longest: T,
    at: &mut [u32],
    close: &mut [u8],
) -> bool {
    let points = limits.len();
    assert!(state.len() == 3 * points && at.len() == points && close.len() == points);
    let (best, rest) = state.split_at(points);
    let (second, tile) = rest.split_at(points);
    let mut any = 0;
    for l in 0..points {
        at[l] = tile[l].low_bits() as u32 * MR as u32 + (best[l].low_bits() as u32 & ((1 << TAG_BITS) - 1));
        let apart = second[l].minus(best[l]) > limits[l].plus(longest);
        close[l] = u8::from(!apart);
        any |= close[l];
    }
    any != 0
}

macro_rules! instruction_set {
    ($module:ident, $name:literal, $mr:expr, $f64:ty, $f32:ty $(, $feature:literal)?) => {
        mod $module {
            use super::*;
            $(#[target_feature(enable = $feature)])?
            unsafe fn go<V: Vector>(
                panel: &[V::E], width: usize, centres: &[V::E], halves: &[V::E], first: usize, state: &mut [V::E],
            ) {
                // SAFETY: this function carries the instruction set; its callers checked for it.
                unsafe {
                    if width > SWEEP {
                        race::<V, { $mr }, true>(panel, width, centres, halves, first, state)
                    } else {
                        race::<V, { $mr }, false>(panel, width, centres, halves, first, state)
                    }
                }
            }
            $(#[target_feature(enable = $feature)])?
            unsafe fn read<T: Element>(
                state: &[T], limits: &[T], longest: T, at: &mut [u32], close: &mut [u8],
            ) -> bool {
                tell::<T, { $mr }>(state, limits, longest, at, close)
            }
            const fn table<V: Vector>() -> FusedLoop<V::E> {
                FusedLoop {
                    #[cfg(test)]
                    name: $name,
                    mr: $mr,
                    points: 2 * V::LANES,
                    race: go::<V>,
                    tell: read::<V::E>,
                }
            }
            pub(super) static F64: FusedLoop<f64> = table::<$f64>();
            pub(super) static F32: FusedLoop<f32> = table::<$f32>();
        }
    };
}

instruction_set!(portable, "portable", 4, [f64; 2], [f32; 4]);
#[cfg(target_arch = "x86_64")]
instruction_set!(avx2, "avx2", 6, crate::simd_x86::Avx2F64, crate::simd_x86::Avx2F32, "avx2,fma");
#[cfg(target_arch = "x86_64")]
instruction_set!(
    avx512,
    "avx512",
    8,
    crate::simd_x86::Avx512F64,
    crate::simd_x86::Avx512F32,
    "avx512f,avx2,fma"
);

/// The loops this processor can run, fastest first; the last runs everywhere.
pub(super) trait FusedLoops: Element {
    fn kernels() -> Vec<&'static FusedLoop<Self>>;
}

macro_rules! fused_loops {
    ($e:ty, $table:ident) => {
        impl FusedLoops for $e {
            fn kernels() -> Vec<&'static FusedLoop<$e>> {
                InstructionSet::available()
                    .map(|set| -> &'static FusedLoop<$e> { table_of!(set, $table) })
                    .collect()
            }
        }
    };
}
fused_loops!(f64, F64);
fused_loops!(f32, F32);
