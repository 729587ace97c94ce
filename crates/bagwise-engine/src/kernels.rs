//! The loops that take the time, once each, compiled for every instruction set and chosen at run time.
//!
//! Instances come packed in panels (see `pack`): a row panel holds `mr` instances, a column panel `nr`, attribute
//! after attribute. A register tile of `mr` x `nr` accumulators runs down the attributes; `products` then forms
//! |a|^2 + |b|^2 - 2ab about a centre near the rows, `differences` sums (a - b)^2 directly. Both leave squared
//! distances in a tile that stays in the first-level cache, which everything else reads: other engines (kernel
//! rows on demand, nearest centres) need only another reader.
//!
//! Cost per pair: `products` d multiply-adds, and d/12 operations to move the columns to the centre;
//! `differences` d multiply-adds and d subtractions, which some processors run side by side. Register tiles are 6 x 2 vectors with 16 registers and 12 x 2 with 32:
//! the largest that leave room for the operands. (A tile that spills runs at half the speed.)

use std::mem::MaybeUninit;

use super::simd::{Element, InstructionSet, Vector, exp2, table_of};

/// Rows of a tile: a multiple of every `mr`; with 64 columns of f64 a tile is 24 kB and fits the first cache.
pub(crate) const TILE_ROWS: usize = 48;
/// Columns of a tile and distance between its rows: a multiple of every `nr` and every vector.
pub(crate) const TILE_COLS: usize = 64;
/// Attributes per sweep. A column panel of 16 instances is then 16 kB and stays near while row panels pass; and
/// since every sweep starts from 0, rounding errors grow with the root of this number, not of the width.
const WIDTH_BLOCK: usize = 128;
/// Powers that one pass keeps in registers beside what `exp2` needs.
pub(crate) const MAX_STEPS: usize = 6;

/// Consecutive columns of a tile that are added into the Gram.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ColumnSpan {
    /// Where in the row of the Gram: the one entry, or the first if every column has its own.
    pub entry: usize,
    /// First column, counted in the tile.
    pub from: usize,
    /// Past the last column.
    pub to: usize,
    /// 2 where the mirror image of the block is not visited.
    pub factor: f64,
    /// Every column is a bag of its own.
    pub singles: bool,
}

/// The loops for one instruction set. All are unsafe to call unless the processor has it, and for no other
/// reason: lengths are asserted.
pub(crate) struct Kernels<T: Element> {
    /// The instruction set.
    pub set: InstructionSet,
    /// Instances in a row panel.
    pub mr: usize,
    /// Instances in a column panel.
    pub nr: usize,
    /// Squared distances by the expansion about `centre`, which has been subtracted from `a` (leaving the squared
    /// lengths `norms`) and is here subtracted from `b`.
    pub products: unsafe fn(a: &[T], norms: &[T], b: &[T], centre: &[T], tile: &mut [T]),
    /// Squared distances from differences.
    pub differences: unsafe fn(a: &[T], b: &[T], width: usize, tile: &mut [T]),
    /// Adds a . b over `width` attributes to what the tile holds: sums of outer products, attribute after attribute.
    pub outer: unsafe fn(a: &[T], b: &[T], width: usize, tile: &mut [T]),
    /// For each step i, out[i][j] = sum over rows r of weights[i][r] k_i(r, j), where k_0 = exp2(scale * tile)
    /// squared `squarings[0]` times, k_1 = k_0 squared `squarings[1]` times, and so on. If it `resumes`, the sums go on
    /// from what `out` holds, as if the rows before had been in the same tile.
    pub powers: unsafe fn(
        tile: &[T],
        columns: usize,
        scale: T,
        squarings: &[u32],
        weights: &[&[T]],
        resumes: bool,
        out: &mut [T],
    ),
    /// k = exp2(scale * tile).
    pub exponentials: unsafe fn(tile: &[T], columns: usize, scale: T, k: &mut [T]),
    /// k = k * k, `times` times.
    pub squares: unsafe fn(k: &mut [T], columns: usize, times: u32),
    /// out[i][j] = sum over rows r of weights[i][r] k(r, j); `resumes` as for the powers.
    pub weighted: unsafe fn(k: &[T], columns: usize, weights: &[&[T]], resumes: bool, out: &mut [T]),
    /// Adds sums of q[j] * weights[j] over the pieces into a row of the Gram.
    pub fold: unsafe fn(q: &[T], weights: &[f64], pieces: &[ColumnSpan], gram: &mut [f64]),
}

/// A register tile: `MR` rows by two vectors of columns, `width` attributes, added to what the tile holds
/// unless `first`; turned into squared distances if there are `norms`: of the rows, and of the columns. Meanwhile
/// the panel at `ahead` is fetched.
#[inline(always)]
unsafe fn register_tile<V: Vector, const MR: usize, const DIFFERENCES: bool>(
    width: usize,
    mut a: *const V::E,
    mut b: *const V::E,
    mut ahead: *const V::E,
    norms: Option<(*const V::E, [V; 2])>,
    first: bool,
    tile: *mut V::E,
) {
    // SAFETY: the callers below assert that `width` columns of both panels, MR rows of TILE_COLS numbers of the
    // tile and, where given, MR norms lie behind the pointers.
    unsafe {
        let mut acc = [[V::splat(V::E::default()); 2]; MR];
        for _ in 0..width {
            V::prefetch(ahead);
            ahead = ahead.wrapping_add(2 * V::LANES);
            let b0 = V::load(b);
            let b1 = V::load(b.add(V::LANES));
            for i in 0..MR {
                let x = V::splat(*a.add(i));
                if DIFFERENCES {
                    let d0 = b0.sub(x);
                    acc[i][0] = d0.mul_add(d0, acc[i][0]);
                    let d1 = b1.sub(x);
                    acc[i][1] = d1.mul_add(d1, acc[i][1]);
                } else {
                    acc[i][0] = x.mul_add(b0, acc[i][0]);
                    acc[i][1] = x.mul_add(b1, acc[i][1]);
                }
            }
            a = a.add(MR);
            b = b.add(2 * V::LANES);
        }
        if !first {
            for i in 0..MR {
                for j in 0..2 {
                    acc[i][j] = V::load(tile.add(i * TILE_COLS + j * V::LANES)).add(acc[i][j]);
                }
            }
        }
        if let Some((rows, cols)) = norms {
            let zero = V::splat(V::E::default());
            let minus_two = V::splat(V::E::MINUS_TWO);
            for i in 0..MR {
                let row = V::splat(*rows.add(i));
                for j in 0..2 {
                    // In this order, infinity minus infinity stays NaN, which `exp2` takes for far away.
                    acc[i][j] = zero.max(acc[i][j].mul_add(minus_two, cols[j].add(row)));
                }
            }
        }
        for i in 0..MR {
            for j in 0..2 {
                acc[i][j].store(tile.add(i * TILE_COLS + j * V::LANES));
            }
        }
    }
}

/// Where the panel that comes next will be read, for the `i`th row panel that meets this one: the first few row
/// panels fetch one cache line each of every attribute, later ones fetch again what is already there.
#[inline(always)]
fn next_panel<V: Vector>(b: &[V::E], next: usize, i: usize) -> *const V::E {
    let line = 64 / size_of::<V::E>();
    let lines = (2 * V::LANES).div_ceil(line);
    b.as_ptr().wrapping_add(next + i % lines * line)
}

/// Attributes in sweeps of equal length: calls `sweep(from, length, first, last)`.
#[inline(always)]
fn sweeps(width: usize, mut sweep: impl FnMut(usize, usize, bool, bool)) {
    let length = width.div_ceil(width.div_ceil(WIDTH_BLOCK));
    for from in (0..width).step_by(length) {
        let to = (from + length).min(width);
        sweep(from, to - from, from == 0, to == width);
    }
}

#[inline(always)]
unsafe fn differences<V: Vector, const MR: usize>(a: &[V::E], b: &[V::E], width: usize, tile: &mut [V::E]) {
    let nr = 2 * V::LANES;
    let (rows, cols) = (a.len() / width, b.len() / width);
    assert!(rows.is_multiple_of(MR) && cols.is_multiple_of(nr) && cols <= TILE_COLS, "whole panels");
    assert!(a.len() == rows * width && b.len() == cols * width && tile.len() >= rows * TILE_COLS);
    sweeps(width, |from, length, first, _| {
        for j in (0..cols).step_by(nr) {
            for i in (0..rows).step_by(MR) {
                // SAFETY: panel i of `a` starts at i * width and has MR * width numbers, panel j of `b` at
                // j * width; the assertions above bound them and the tile. The caller vouches for the
                // instruction set.
                unsafe {
                    register_tile::<V, MR, true>(
                        length,
                        a.as_ptr().add(i * width + from * MR),
                        b.as_ptr().add(j * width + from * nr),
                        next_panel::<V>(b, (j + nr) * width + from * nr, i / MR),
                        None,
                        first,
                        tile.as_mut_ptr().add(i * TILE_COLS + j),
                    );
                }
            }
        }
    });
}

#[inline(always)]
unsafe fn outer<V: Vector, const MR: usize>(a: &[V::E], b: &[V::E], width: usize, tile: &mut [V::E]) {
    let nr = 2 * V::LANES;
    let (rows, cols) = (a.len() / width, b.len() / width);
    assert!(rows.is_multiple_of(MR) && cols.is_multiple_of(nr) && cols <= TILE_COLS, "whole panels");
    assert!(a.len() == rows * width && b.len() == cols * width && tile.len() >= rows * TILE_COLS);
    sweeps(width, |from, length, _, _| {
        for j in (0..cols).step_by(nr) {
            for i in (0..rows).step_by(MR) {
                // SAFETY: as for `differences`, whose bounds these are.
                unsafe {
                    register_tile::<V, MR, false>(
                        length,
                        a.as_ptr().add(i * width + from * MR),
                        b.as_ptr().add(j * width + from * nr),
                        next_panel::<V>(b, (j + nr) * width + from * nr, i / MR),
                        None,
                        false,
                        tile.as_mut_ptr().add(i * TILE_COLS + j),
                    );
                }
            }
        }
    });
}

#[inline(always)]
unsafe fn products<V: Vector, const MR: usize>(
    a: &[V::E],
    norms: &[V::E],
    b: &[V::E],
    centre: &[V::E],
    tile: &mut [V::E],
) {
    let (nr, width) = (2 * V::LANES, centre.len());
    let (rows, cols) = (norms.len(), b.len() / width);
    assert!(rows.is_multiple_of(MR) && cols.is_multiple_of(nr) && cols <= TILE_COLS, "whole panels");
    assert!(a.len() == rows * width && b.len() == cols * width && tile.len() >= rows * TILE_COLS);
    // The part of a column panel that a sweep needs, about the centre: 16 kB.
    let mut moved = MaybeUninit::<[[V; 2]; WIDTH_BLOCK]>::uninit();
    let moved = moved.as_mut_ptr().cast::<[V; 2]>();
    // SAFETY: nothing is touched; the caller vouches for the instruction set.
    let zero = unsafe { V::splat(V::E::default()) };
    // Panels have at least four columns.
    let mut lengths = [[zero; 2]; TILE_COLS / 4];
    sweeps(width, |from, length, first, last| {
        for j in (0..cols).step_by(nr) {
            // Four sums side by side: faster, and with fewer roundings one after the other.
            let mut sums = [[zero; 2]; 4];
            // SAFETY: panel j of `b` starts at j * width and has nr * width numbers, of which from..from +
            // length are read; length <= WIDTH_BLOCK, the room in `moved`; `centre` has `width` numbers.
            let squares = unsafe {
                let panel = b.as_ptr().add(j * width + from * nr);
                let centre = centre.as_ptr().add(from);
                let step = |k: usize, sums: &mut [V; 2]| {
                    let c = V::splat(*centre.add(k));
                    let b0 = V::load(panel.add(k * nr)).sub(c);
                    let b1 = V::load(panel.add(k * nr + V::LANES)).sub(c);
                    *sums = [b0.mul_add(b0, sums[0]), b1.mul_add(b1, sums[1])];
                    moved.add(k).write([b0, b1]);
                };
                let fours = length / 4 * 4;
                for k in (0..fours).step_by(4) {
                    step(k, &mut sums[0]);
                    step(k + 1, &mut sums[1]);
                    step(k + 2, &mut sums[2]);
                    step(k + 3, &mut sums[3]);
                }
                for k in fours..length {
                    step(k, &mut sums[k - fours]);
                }
                let sum = |h: usize| sums[0][h].add(sums[1][h]).add(sums[2][h].add(sums[3][h]));
                [lengths[j / nr][0].add(sum(0)), lengths[j / nr][1].add(sum(1))]
            };
            lengths[j / nr] = squares;
            for i in (0..rows).step_by(MR) {
                // SAFETY: panel i of `a` starts at i * width and has MR * width numbers; `length` pairs of
                // vectors have just been written to `moved`; the assertions bound norms and tile.
                unsafe {
                    register_tile::<V, MR, false>(
                        length,
                        a.as_ptr().add(i * width + from * MR),
                        moved.cast::<V::E>(),
                        next_panel::<V>(b, (j + nr) * width + from * nr, i / MR),
                        last.then(|| (norms.as_ptr().add(i), squares)),
                        first,
                        tile.as_mut_ptr().add(i * TILE_COLS + j),
                    );
                }
            }
        }
    });
}

/// `STEPS` powers of one vector of columns in registers. `DOUBLING`: one squaring between steps, none before.
#[inline(always)]
unsafe fn powers_of<V: Vector, const STEPS: usize, const DOUBLING: bool>(
    tile: &[V::E],
    columns: usize,
    scale: V::E,
    squarings: &[u32],
    weights: &[&[V::E]],
    resumes: bool,
    out: &mut [V::E],
) {
    let rows = tile.len() / TILE_COLS;
    assert!(columns <= TILE_COLS && out.len() >= STEPS * TILE_COLS);
    assert!(weights.len() == STEPS && squarings.len() == STEPS && weights.iter().all(|w| w.len() >= rows));
    // SAFETY: vectors start below `columns` <= TILE_COLS, a multiple of LANES, so that they end inside a row of
    // the tile and of `out`; weights have `rows` numbers. The caller vouches for the instruction set.
    unsafe {
        let scale = V::splat(scale);
        let weights: [*const V::E; STEPS] = std::array::from_fn(|i| weights.get_unchecked(i).as_ptr());
        for j in (0..columns).step_by(V::LANES) {
            let mut acc = [V::splat(V::E::default()); STEPS];
            if resumes {
                for i in 0..STEPS {
                    acc[i] = V::load(out.as_ptr().add(i * TILE_COLS + j));
                }
            }
            for r in 0..rows {
                let mut k = exp2(V::load(tile.as_ptr().add(r * TILE_COLS + j)).mul(scale));
                for i in 0..STEPS {
                    if DOUBLING {
                        if i > 0 {
                            k = k.square();
                        }
                    } else {
                        for _ in 0..*squarings.get_unchecked(i) {
                            k = k.square();
                        }
                    }
                    acc[i] = k.mul_add(V::splat(*weights[i].add(r)), acc[i]);
                }
            }
            for i in 0..STEPS {
                acc[i].store(out.as_mut_ptr().add(i * TILE_COLS + j));
            }
        }
    }
}

#[inline(always)]
unsafe fn powers<V: Vector>(
    tile: &[V::E],
    columns: usize,
    scale: V::E,
    squarings: &[u32],
    weights: &[&[V::E]],
    resumes: bool,
    out: &mut [V::E],
) {
    let doubling = squarings.iter().enumerate().all(|(i, &s)| s == u32::from(i > 0));
    // SAFETY: the caller vouches for the instruction set.
    unsafe {
        match (squarings.len(), doubling) {
            (1, true) => powers_of::<V, 1, true>(tile, columns, scale, squarings, weights, resumes, out),
            (2, true) => powers_of::<V, 2, true>(tile, columns, scale, squarings, weights, resumes, out),
            (3, true) => powers_of::<V, 3, true>(tile, columns, scale, squarings, weights, resumes, out),
            (4, true) => powers_of::<V, 4, true>(tile, columns, scale, squarings, weights, resumes, out),
            (5, true) => powers_of::<V, 5, true>(tile, columns, scale, squarings, weights, resumes, out),
            (6, true) => powers_of::<V, 6, true>(tile, columns, scale, squarings, weights, resumes, out),
            (1, false) => powers_of::<V, 1, false>(tile, columns, scale, squarings, weights, resumes, out),
            (2, false) => powers_of::<V, 2, false>(tile, columns, scale, squarings, weights, resumes, out),
            (3, false) => powers_of::<V, 3, false>(tile, columns, scale, squarings, weights, resumes, out),
            (4, false) => powers_of::<V, 4, false>(tile, columns, scale, squarings, weights, resumes, out),
            (5, false) => powers_of::<V, 5, false>(tile, columns, scale, squarings, weights, resumes, out),
            (6, false) => powers_of::<V, 6, false>(tile, columns, scale, squarings, weights, resumes, out),
            (steps, _) => unreachable!("the plan made a pass of {steps} steps"),
        }
    }
}

#[inline(always)]
unsafe fn exponentials<V: Vector>(tile: &[V::E], columns: usize, scale: V::E, k: &mut [V::E]) {
    assert!(columns <= TILE_COLS && k.len() >= tile.len());
    for row in 0..tile.len() / TILE_COLS {
        for j in (0..columns).step_by(V::LANES) {
            let at = row * TILE_COLS + j;
            // SAFETY: the vector ends inside row `row` of both tiles; the caller vouches for the instructions.
            unsafe {
                exp2(V::load(tile.as_ptr().add(at)).mul(V::splat(scale))).store(k.as_mut_ptr().add(at));
            }
        }
    }
}

#[inline(always)]
unsafe fn squares<V: Vector>(k: &mut [V::E], columns: usize, times: u32) {
    assert!(columns <= TILE_COLS);
    for row in 0..k.len() / TILE_COLS {
        for j in (0..columns).step_by(V::LANES) {
            // SAFETY: the vector ends inside row `row`; the caller vouches for the instruction set.
            unsafe {
                let at = k.as_mut_ptr().add(row * TILE_COLS + j);
                let mut v = V::load(at);
                for _ in 0..times {
                    v = v.square();
                }
                v.store(at);
            }
        }
    }
}

/// `P` weight vectors against two vectors of columns: 2 P accumulators, so that a kernel value is read once for
/// P uses and a weight once for two.
#[inline(always)]
unsafe fn weighted_of<V: Vector, const P: usize>(
    k: &[V::E],
    columns: usize,
    weights: &[&[V::E]],
    resumes: bool,
    out: &mut [V::E],
) {
    let rows = k.len() / TILE_COLS;
    assert!(columns <= TILE_COLS && out.len() >= P * TILE_COLS);
    assert!(weights.len() == P && weights.iter().all(|w| w.len() >= rows));
    // SAFETY: pairs of vectors start below `columns` <= TILE_COLS, a multiple of 2 LANES; weights have `rows`
    // numbers. The caller vouches for the instruction set.
    unsafe {
        let weights: [*const V::E; P] = std::array::from_fn(|i| weights.get_unchecked(i).as_ptr());
        for j in (0..columns).step_by(2 * V::LANES) {
            let mut acc = [[V::splat(V::E::default()); 2]; P];
            if resumes {
                for i in 0..P {
                    let from = out.as_ptr().add(i * TILE_COLS + j);
                    acc[i] = [V::load(from), V::load(from.add(V::LANES))];
                }
            }
            for r in 0..rows {
                let at = k.as_ptr().add(r * TILE_COLS + j);
                let (k0, k1) = (V::load(at), V::load(at.add(V::LANES)));
                for i in 0..P {
                    let w = V::splat(*weights[i].add(r));
                    acc[i][0] = k0.mul_add(w, acc[i][0]);
                    acc[i][1] = k1.mul_add(w, acc[i][1]);
                }
            }
            for i in 0..P {
                let to = out.as_mut_ptr().add(i * TILE_COLS + j);
                acc[i][0].store(to);
                acc[i][1].store(to.add(V::LANES));
            }
        }
    }
}

#[inline(always)]
unsafe fn weighted<V: Vector>(
    k: &[V::E],
    columns: usize,
    weights: &[&[V::E]],
    resumes: bool,
    out: &mut [V::E],
) {
    // Six at a time: 12 accumulators, two kernel vectors and a weight are 15 of 16 registers.
    for (weights, out) in weights.chunks(6).zip(out.chunks_mut(6 * TILE_COLS)) {
        // SAFETY: the caller vouches for the instruction set.
        unsafe {
            match weights.len() {
                1 => weighted_of::<V, 1>(k, columns, weights, resumes, out),
                2 => weighted_of::<V, 2>(k, columns, weights, resumes, out),
                3 => weighted_of::<V, 3>(k, columns, weights, resumes, out),
                4 => weighted_of::<V, 4>(k, columns, weights, resumes, out),
                5 => weighted_of::<V, 5>(k, columns, weights, resumes, out),
                _ => weighted_of::<V, 6>(k, columns, weights, resumes, out),
            }
        }
    }
}

#[inline(always)]
unsafe fn fold<T: Element>(q: &[T], weights: &[f64], pieces: &[ColumnSpan], gram: &mut [f64]) {
    let mut products = [0.0; TILE_COLS];
    for (p, (q, w)) in products.iter_mut().zip(q.iter().zip(weights)) {
        *p = q.to_f64() * w;
    }
    for piece in pieces {
        let terms = &products[piece.from..piece.to];
        if piece.singles {
            for (g, t) in gram[piece.entry..][..terms.len()].iter_mut().zip(terms) {
                *g += t;
            }
        } else {
            // Eight sums side by side are one or two vectors.
            let mut sums = [0.0; 8];
            let mut eights = terms.chunks_exact(8);
            for eight in &mut eights {
                for i in 0..8 {
                    sums[i] += eight[i];
                }
            }
            let mut sum = 0.0;
            for t in eights.remainder() {
                sum += t;
            }
            if terms.len() >= 8 {
                sum +=
                    ((sums[0] + sums[4]) + (sums[1] + sums[5])) + ((sums[2] + sums[6]) + (sums[3] + sums[7]));
            }
            gram[piece.entry] += piece.factor * sum;
        }
    }
}

/// Instantiates the loops inside functions that carry an instruction set.
macro_rules! instruction_set {
    ($module:ident, $set:expr, $mr:expr, $f64:ty, $f32:ty $(, $feature:literal)?) => {
        mod $module {
            use super::*;

            $(#[target_feature(enable = $feature)])?
            unsafe fn products<V: Vector>(
                a: &[V::E], norms: &[V::E], b: &[V::E], centre: &[V::E], tile: &mut [V::E],
            ) {
                // SAFETY: this function carries the instruction set; its callers checked for it.
                unsafe { super::products::<V, { $mr }>(a, norms, b, centre, tile) }
            }
            $(#[target_feature(enable = $feature)])?
            unsafe fn differences<V: Vector>(a: &[V::E], b: &[V::E], width: usize, tile: &mut [V::E]) {
                // SAFETY: as above.
                unsafe { super::differences::<V, { $mr }>(a, b, width, tile) }
            }
            $(#[target_feature(enable = $feature)])?
            unsafe fn outer<V: Vector>(a: &[V::E], b: &[V::E], width: usize, tile: &mut [V::E]) {
                // SAFETY: as above.
                unsafe { super::outer::<V, { $mr }>(a, b, width, tile) }
            }
            $(#[target_feature(enable = $feature)])?
            unsafe fn powers<V: Vector>(
                tile: &[V::E], columns: usize, scale: V::E, squarings: &[u32], weights: &[&[V::E]],
                resumes: bool, out: &mut [V::E],
            ) {
                // SAFETY: as above.
                unsafe { super::powers::<V>(tile, columns, scale, squarings, weights, resumes, out) }
            }
            $(#[target_feature(enable = $feature)])?
            unsafe fn exponentials<V: Vector>(tile: &[V::E], columns: usize, scale: V::E, k: &mut [V::E]) {
                // SAFETY: as above.
                unsafe { super::exponentials::<V>(tile, columns, scale, k) }
            }
            $(#[target_feature(enable = $feature)])?
            unsafe fn squares<V: Vector>(k: &mut [V::E], columns: usize, times: u32) {
                // SAFETY: as above.
                unsafe { super::squares::<V>(k, columns, times) }
            }
            $(#[target_feature(enable = $feature)])?
            unsafe fn weighted<V: Vector>(
                k: &[V::E], columns: usize, weights: &[&[V::E]], resumes: bool, out: &mut [V::E],
            ) {
                // SAFETY: as above.
                unsafe { super::weighted::<V>(k, columns, weights, resumes, out) }
            }
            $(#[target_feature(enable = $feature)])?
            unsafe fn fold<T: Element>(q: &[T], weights: &[f64], pieces: &[ColumnSpan], gram: &mut [f64]) {
                // SAFETY: as above.
                unsafe { super::fold(q, weights, pieces, gram) }
            }

            const fn table<V: Vector>() -> Kernels<V::E> {
                Kernels {
                    set: $set,
                    mr: $mr,
                    nr: 2 * V::LANES,
                    products: products::<V>,
                    differences: differences::<V>,
                    outer: outer::<V>,
                    powers: powers::<V>,
                    exponentials: exponentials::<V>,
                    squares: squares::<V>,
                    weighted: weighted::<V>,
                    fold: fold::<V::E>,
                }
            }
            pub(super) static F64: Kernels<f64> = table::<$f64>();
            pub(super) static F32: Kernels<f32> = table::<$f32>();
        }
    };
}

instruction_set!(portable, InstructionSet::Portable, 4, [f64; 2], [f32; 4]);
#[cfg(target_arch = "x86_64")]
instruction_set!(
    avx2,
    InstructionSet::Avx2,
    6,
    crate::simd_x86::Avx2F64,
    crate::simd_x86::Avx2F32,
    "avx2,fma"
);
#[cfg(target_arch = "x86_64")]
instruction_set!(
    avx512,
    InstructionSet::Avx512,
    12,
    crate::simd_x86::Avx512F64,
    crate::simd_x86::Avx512F32,
    "avx512f,avx2,fma"
);

/// The loops this processor can run, fastest first; the last runs everywhere.
pub(crate) trait AvailableKernels: Element {
    fn available() -> Vec<&'static Kernels<Self>>;
}

macro_rules! available {
    ($e:ty, $table:ident) => {
        impl AvailableKernels for $e {
            fn available() -> Vec<&'static Kernels<$e>> {
                InstructionSet::available()
                    .map(|set| -> &'static Kernels<$e> { table_of!(set, $table) })
                    .collect()
            }
        }
    };
}
available!(f64, F64);
available!(f32, F32);
