//! The pairs engine: Grams of weighted set kernels over Gaussian instance kernels, many at once.
//!
//! ```text
//! Gram[X][Y] = sum over terms r, a in X, b in Y:  w_r(a) w_r(b) exp(-gamma |a - b|^2)
//! ```
//!
//! for every pair of bags, every gamma and any number of weight vectors, in one pass over the pairs of
//! instances. The pass goes tile by tile: squared distances of 48 x 64 instances by a packed matrix product, at
//! once turned into kernel values (one exponential serves up to six gammas, see `plan`) and at once summed into
//! the entries of the Grams. The n x n matrix is never stored: memory is the Grams, one packed copy of the
//! column side (where the budget has no room for it, columns are packed again for every chunk of rows), and some hundred kB per
//! thread. Cost n^2 d / 2 multiply-adds (n m d for a rectangle), an
//! exponential per six gammas and pair, and a multiply-add per gamma, weight vector and pair.
//!
//! *Threads.* Rows are cut into chunks by a rule that looks only at the data; a chunk sums its tiles in order,
//! chunks of one bag are added in order. Results are the same bit for bit on any number of threads.
//!
//! *Batches.* What [`rectangular`] and [`self_similarity`] say of a bag of rows depends on that bag and on the columns, to
//! the last bit, and not on the other bags of rows (see `layout`).
//!
//! *Accuracy.* |a - b|^2 = |a|^2 + |b|^2 - 2ab loses some eps (|a|^2 + |b|^2), hence a relative error of some
//! gamma eps (|a|^2 + |b|^2) in the kernel. It is therefore taken about the mean of the columns, or about the mean of up to
//! 48 rows of one bag where that bag is far from it: then |a| is small and |b| hardly larger than |a - b|. Rows for which
//! gamma |a|^2 still exceeds `EXPANSION_LIMIT`, and all within a bag, are compared by summing (a - b)^2 instead, so that
//! equal instances of a bag have k = 1 exactly. What remains is
//! the rounding of gamma |a - b|^2 itself, which any program has. Largest relative errors seen against 80-bit
//! arithmetic: on Musk2 4e-16 at gamma 2^-5 rising to 3e-13 at 2^5 (differences alone: the same); 5e-13 for pairs
//! made to be worst at the limit; in f32 1e-7 rising to 5e-5 on Musk2.
//! Kernel values below 2^-1022 (f32: 2^-126) count as 0.

use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};

use rayon::prelude::*;

use super::kernels::{AvailableKernels, ColumnSpan, Kernels, TILE_COLS, TILE_ROWS};
use super::layout::{GramShape, Group, column_runs, dense_groups, pieces, sparse_groups, strips};
use super::pack::{Buffer, Centred, centred, pack};
use super::plan::{GramOutput, TilePlan};
use super::simd::{Element, InstructionSet};
use super::source::DistanceSource;
use super::sparse;
use bagwise_core::{Csr, Ctx, Error, Instances, Mat, Precision, Result};

/// Largest gamma |a|^2 (about the centre of the tile) for which the expansion is used. The error of a
/// pair was at most 6 eps (eps = 1.1e-16) times gamma (|a|^2 + |b|^2), so that |a|^2 and as much of |b|^2 cost
/// 5e-13 at this limit: half of what the references are compared at, for a lone pair as far out as can be.
pub(crate) const EXPANSION_LIMIT: f64 = 400.0;

/// A stored value of a sparse row costs about as much as this many values of a dense one: it is addressed
/// through a table, and cannot use the register tile.
const SPARSE_FACTOR: usize = 6;

/// One side of a Gram: instances grouped in bags, and weight vectors with one value per instance.
#[derive(Clone, Copy)]
pub struct Side<'a> {
    /// The instances of all bags.
    pub instances: &'a Instances,
    /// Bag b owns the rows `offsets[b]..offsets[b + 1]`.
    pub offsets: &'a [usize],
    /// Any number of weight vectors.
    pub weights: &'a [Vec<f64>],
}

/// The Grams of one set of bags with itself: bags x bags, exactly symmetric, one per output.
pub fn symmetric(side: &Side, outputs: &[GramOutput], precision: Precision, ctx: &Ctx) -> Result<Vec<Mat>> {
    symmetric_rows(side, 0..side.offsets.len() - 1, outputs, precision, ctx)
}

/// The same where only the rows of some bags are wanted, right of the diagonal; of other rows only the diagonal means anything.
/// What is computed is computed as in the whole, to the last bit.
pub fn symmetric_rows(
    side: &Side,
    part: Range<usize>,
    outputs: &[GramOutput],
    precision: Precision,
    ctx: &Ctx,
) -> Result<Vec<Mat>> {
    run(side, side, part, outputs, precision, GramShape::Symmetric, ctx)
}

/// The Grams between two sets of bags: rows' bags x columns' bags, one per output.
pub fn rectangular(
    rows: &Side,
    cols: &Side,
    outputs: &[GramOutput],
    precision: Precision,
    ctx: &Ctx,
) -> Result<Vec<Mat>> {
    run(rows, cols, 0..rows.offsets.len() - 1, outputs, precision, GramShape::Rectangular, ctx)
}

/// The similarity of every bag with itself, one vector per output: the diagonals of [`symmetric`].
pub fn self_similarity(side: &Side, outputs: &[GramOutput], ctx: &Ctx) -> Result<Vec<Vec<f64>>> {
    let all = 0..side.offsets.len() - 1;
    let grams = run(side, side, all, outputs, Precision::F64, GramShape::Diagonal, ctx)?;
    Ok(grams.into_iter().map(Mat::into_data).collect())
}

/// The instruction set the engine uses on this machine.
pub fn instruction_set() -> &'static str {
    InstructionSet::best().name()
}

fn run(
    rows: &Side,
    cols: &Side,
    part: Range<usize>,
    outputs: &[GramOutput],
    precision: Precision,
    shape: GramShape,
    ctx: &Ctx,
) -> Result<Vec<Mat>> {
    match precision {
        Precision::F64 => {
            run_with(rows, cols, part, outputs, shape, <f64 as AvailableKernels>::available()[0], ctx)
        }
        Precision::F32 => {
            run_with(rows, cols, part, outputs, shape, <f32 as AvailableKernels>::available()[0], ctx)
        }
    }
}

/// True if sparse rows are cheaper than dense panels made of them.
pub(crate) fn stays_sparse(csr: &Csr) -> bool {
    csr.nnz() * SPARSE_FACTOR < csr.rows() * csr.cols()
}

/// A whole call.
struct Job<'a, T: Element> {
    rows: &'a Side<'a>,
    cols: &'a Side<'a>,
    shape: GramShape,
    /// The bags whose rows are wanted; elsewhere a bag only meets itself.
    part: Range<usize>,
    plan: TilePlan,
    outputs: usize,
    kernels: &'static Kernels<T>,
    source: DistanceSource<'a, T>,
    /// The largest gamma.
    gamma: f64,
    /// The weights of the row side in the precision of the tiles.
    weights: Vec<Vec<T>>,
    /// Entries in a row of the Gram.
    width: usize,
    ctx: &'a Ctx,
}

pub(crate) fn run_with<T: Element>(
    rows: &Side,
    cols: &Side,
    part: Range<usize>,
    outputs: &[GramOutput],
    shape: GramShape,
    kernels: &'static Kernels<T>,
    ctx: &Ctx,
) -> Result<Vec<Mat>> {
    check(rows, cols, outputs)?;
    let (bags, width) = (rows.offsets.len() - 1, cols.offsets.len() - 1);
    let width = if shape == GramShape::Diagonal { 1 } else { width };
    let bytes = (outputs.len() * bags * width * 8) as u64;
    let sparse = match (rows.instances, cols.instances) {
        // The columns decide, because the rows may be any subset of the bags.
        (Instances::Sparse(a), Instances::Sparse(b)) if stays_sparse(b) => Some((a, b)),
        _ => None,
    };
    ctx.reserve("Gram matrices", bytes, "raise the memory budget, or use fewer widths at a time")?;
    let gamma = outputs.iter().fold(0.0, |max: f64, o| max.max(o.gamma));
    let source = match sparse {
        Some((a, b)) => DistanceSource::sparse(a, b)?,
        None => {
            let packed = (cols.instances.rows() * cols.instances.cols() * size_of::<T>()) as u64;
            DistanceSource::dense(rows.instances, cols.instances, kernels.nr, bytes + packed <= ctx.memory)?
        }
    };
    let job = Job {
        rows,
        cols,
        shape,
        part,
        plan: TilePlan::new(outputs),
        outputs: outputs.len(),
        kernels,
        source,
        gamma,
        weights: rows.weights.iter().map(|w| w.iter().map(|&v| T::from_f64(v)).collect()).collect(),
        width,
        ctx,
    };
    let mut grams = job.grams()?;
    if shape == GramShape::Symmetric {
        grams.par_iter_mut().for_each(mirror);
    }
    Ok(grams)
}

/// Copies the upper triangle to the lower, in blocks that fit the cache: one of the two is walked across rows.
pub(crate) fn mirror(gram: &mut Mat) {
    const BLOCK: usize = 32;
    let n = gram.rows();
    for top in (0..n).step_by(BLOCK) {
        for left in (0..=top).step_by(BLOCK) {
            for i in top..(top + BLOCK).min(n) {
                for j in left..(left + BLOCK).min(i) {
                    gram.set(i, j, gram.get(j, i));
                }
            }
        }
    }
}

pub(crate) fn check(rows: &Side, cols: &Side, outputs: &[GramOutput]) -> Result<()> {
    let refuse = |what: String| Err(Error::Invalid(what));
    for side in [rows, cols] {
        let n = side.instances.rows();
        if side.offsets.first() != Some(&0) || side.offsets.last() != Some(&n) {
            return refuse(format!("offsets do not run from 0 to the {n} instances"));
        }
        if side.offsets.windows(2).any(|w| w[1] <= w[0]) {
            return refuse("a bag needs at least one instance".into());
        }
        if let Some(w) = side.weights.iter().find(|w| w.len() != n) {
            return refuse(format!("a weight vector has {} values for {n} instances", w.len()));
        }
    }
    if rows.instances.cols() == 0 {
        return refuse("instances need at least one attribute".into());
    }
    if rows.instances.cols() != cols.instances.cols() {
        return refuse(format!(
            "instances of {} and of {} attributes cannot be compared",
            rows.instances.cols(),
            cols.instances.cols()
        ));
    }
    let terms = rows.weights.len().min(cols.weights.len());
    for output in outputs {
        if !(output.gamma >= 0.0 && output.gamma.is_finite()) {
            return refuse(format!("gamma {} is not a number of at least 0", output.gamma));
        }
        if let Some(term) = output.terms.iter().find(|&&t| t >= terms) {
            return refuse(format!("term {term} of an output has no weight vector; there are {terms}"));
        }
    }
    Ok(())
}

/// Up to `TILE_ROWS` rows, ready to meet columns.
struct Strip<T> {
    rows: Range<usize>,
    /// For dense data: as they are, and about a centre.
    packed: Option<(Buffer<T>, Centred<T>)>,
    /// The rows, counted in the strip, for which the expansion would not be exact enough.
    far: Vec<usize>,
}

/// What a thread needs beside its sums.
struct TileScratch<T> {
    tile: Buffer<T>,
    k: Buffer<T>,
    /// One row of sums per slot.
    q: Buffer<T>,
    pieces: Vec<ColumnSpan>,
}

impl<T: Element> Job<'_, T> {
    fn grams(&self) -> Result<Vec<Mat>> {
        let bags = self.rows.offsets.len() - 1;
        let mut grams: Vec<Mat> = (0..self.outputs).map(|_| Mat::zeros(bags, self.width)).collect();
        let groups = self.groups();
        let mut owned: Vec<Vec<&mut [f64]>> = groups.iter().map(|_| Vec::new()).collect();
        for gram in &mut grams {
            let mut rest = gram.data_mut();
            for (group, owned) in groups.iter().zip(&mut owned) {
                let (mine, others) = rest.split_at_mut(group.bags.len() * self.width);
                owned.push(mine);
                rest = others;
            }
        }
        let (done, total) = (AtomicU64::new(0), self.rows.instances.rows() as u64);
        groups.par_iter().zip(owned).try_for_each(|(group, mut owned)| {
            let report = |chunk: &Range<usize>| {
                let rows = chunk.len() as u64;
                self.ctx.progress.step("pairs", done.fetch_add(rows, Ordering::Relaxed) + rows, total);
            };
            // A first touch that reads makes the system hand out a page of zeros, and then another to write to.
            owned.iter_mut().for_each(|sums| sums.fill(0.0));
            if let [chunk] = &group.chunks[..] {
                self.chunk(group, chunk.clone(), &mut owned)?;
                report(chunk);
                return Ok(());
            }
            let entries = group.bags.len() * self.width;
            let parts = group.chunks.par_iter().map(|chunk| {
                let mut part = vec![0.0; self.outputs * entries];
                let mut sums: Vec<&mut [f64]> = part.chunks_exact_mut(entries).collect();
                self.chunk(group, chunk.clone(), &mut sums)?;
                report(chunk);
                Ok(part)
            });
            // In the order of the chunks, whichever thread computed them.
            for part in parts.collect::<Result<Vec<_>>>()? {
                for (gram, part) in owned.iter_mut().zip(part.chunks_exact(entries)) {
                    for (g, p) in gram.iter_mut().zip(part) {
                        *g += p;
                    }
                }
            }
            Ok::<(), Error>(())
        })?;
        Ok(grams)
    }

    fn groups(&self) -> Vec<Group> {
        match self.source {
            DistanceSource::Sparse { .. } => sparse_groups(self.rows.offsets),
            DistanceSource::Dense { .. } => dense_groups(self.rows.offsets),
        }
    }

    /// The bag a row belongs to.
    fn bag_of(&self, row: usize) -> usize {
        self.rows.offsets.partition_point(|&start| start <= row) - 1
    }

    /// Adds what some rows contribute: for every output, to bags of the group x entries.
    fn chunk(&self, group: &Group, rows: Range<usize>, sums: &mut [&mut [f64]]) -> Result<()> {
        let mut scratch = TileScratch {
            tile: Buffer::zeros(TILE_ROWS * TILE_COLS),
            k: Buffer::zeros(TILE_ROWS * TILE_COLS),
            q: Buffer::zeros(self.plan.slots.len() * TILE_COLS),
            pieces: Vec::new(),
        };
        let wanted = group.bags.start < self.part.end && self.part.start < group.bags.end;
        let n = match self.shape == GramShape::Symmetric && !wanted {
            true => self.rows.offsets[group.bags.end],
            false => self.cols.instances.rows(),
        };
        match self.shape {
            GramShape::Rectangular => self.block(group, rows, 0..n, &mut scratch, sums),
            GramShape::Symmetric => {
                let first = rows.start / self.kernels.nr * self.kernels.nr;
                self.block(group, rows, first..n, &mut scratch, sums)
            }
            // Bag by bag: only then do tiles begin where the bag does.
            GramShape::Diagonal => self.runs(rows).try_for_each(|run| {
                let bag = self.bag_of(run.start);
                let all = self.rows.offsets[bag]..self.rows.offsets[bag + 1];
                if all.len() == 1 {
                    for slot in &self.plan.slots {
                        let weight = self.rows.weights[slot.weight][all.start];
                        slot.outputs.iter().for_each(|&o| sums[o][bag - group.bags.start] += weight * weight);
                    }
                    return Ok(());
                }
                self.block(group, run.clone(), run.start..all.end, &mut scratch, sums)
            }),
        }
    }

    /// The parts of the bags that some rows belong to.
    fn runs(&self, rows: Range<usize>) -> impl Iterator<Item = Range<usize>> {
        let mut bag = self.bag_of(rows.start);
        let mut row = rows.start;
        std::iter::from_fn(move || {
            (row < rows.end).then(|| {
                let run = row..self.rows.offsets[bag + 1].min(rows.end);
                (row, bag) = (run.end, bag + 1);
                run
            })
        })
    }

    /// Adds what some rows contribute where they meet some columns.
    fn block(
        &self,
        group: &Group,
        rows: Range<usize>,
        columns: Range<usize>,
        scratch: &mut TileScratch<T>,
        sums: &mut [&mut [f64]],
    ) -> Result<()> {
        let strips = self.strips(rows.clone())?;
        let table = match &self.source {
            DistanceSource::Sparse { rows: csr, tables, .. } => {
                let spare = tables.lock().expect("no thread panics with it").pop();
                let mut table = spare.unwrap_or_else(|| sparse::UnpackedRows::new(csr.cols()));
                table.write(csr, rows.clone());
                Some(table)
            }
            DistanceSource::Dense { .. } => None,
        };
        // A tile begins with a whole panel. Where columns begin anywhere, it has room for a part of a panel more.
        let panel = self.kernels.nr;
        let step = if self.shape == GramShape::Diagonal { TILE_COLS - panel } else { TILE_COLS };
        for from in columns.clone().step_by(step) {
            self.ctx.check()?;
            let wanted = from..(from + step).min(columns.end);
            let cols = from / panel * panel..wanted.end;
            let column_runs = column_runs(self.cols.offsets, wanted);
            let packed = self.source.packed(self.cols.instances, &cols, self.kernels.nr)?;
            for strip in &strips {
                // Where bags meet themselves: rows and columns of one numbering.
                let own_end = self.rows.offsets[self.bag_of(strip.rows.end - 1) + 1];
                let own = self.shape != GramShape::Rectangular && cols.start < own_end;
                if self.shape != GramShape::Rectangular && cols.end <= strip.rows.start {
                    continue;
                }
                self.distances(strip, own, cols.clone(), &packed, table.as_ref(), scratch);
                for run in self.runs(strip.rows.clone()) {
                    let bag = self.bag_of(run.start);
                    // A rectangle's bag goes on from strip to strip as if there were no strips.
                    let whole =
                        self.rows.offsets[bag].max(rows.start)..self.rows.offsets[bag + 1].min(rows.end);
                    let resumes = self.shape == GramShape::Rectangular && run.start > whole.start;
                    let goes_on = self.shape == GramShape::Rectangular && run.end < whole.end;
                    pieces(self.shape, bag, &strip.rows, &column_runs, cols.start, &mut scratch.pieces);
                    if !scratch.pieces.is_empty() {
                        self.reduce(run.start - strip.rows.start, run, &cols, resumes, scratch);
                        if !goes_on {
                            self.fold(bag - group.bags.start, &cols, scratch, sums);
                        }
                    }
                }
            }
        }
        if let (DistanceSource::Sparse { tables, .. }, Some(table)) = (&self.source, table) {
            tables.lock().expect("no thread panics with it").push(table);
        }
        Ok(())
    }

    /// Fills the tile with the squared distances of a strip to some columns.
    fn distances(
        &self,
        strip: &Strip<T>,
        own: bool,
        cols: Range<usize>,
        columns: &[T],
        table: Option<&sparse::UnpackedRows>,
        scratch: &mut TileScratch<T>,
    ) {
        let Strip { rows, packed, far } = strip;
        let all = own || far.len() == rows.len();
        let tile = &mut scratch.tile;
        match (&self.source, packed, table) {
            (DistanceSource::Dense { .. }, Some((raw, moved)), _) => {
                let (width, mr) = (self.cols.instances.cols(), self.kernels.mr);
                // SAFETY: the kernels come from `available`, which checked the instruction set.
                unsafe {
                    if all {
                        (self.kernels.differences)(raw, columns, width, tile);
                        return;
                    }
                    (self.kernels.products)(&moved.panels, &moved.norms, columns, &moved.centre, tile);
                    for panel in far.chunk_by(|a, b| a / mr == b / mr) {
                        let first = panel[0] / mr * mr;
                        // The buffer for kernel values can be overwritten: the next step does not read it.
                        let raw = &raw[first * width..][..mr * width];
                        (self.kernels.differences)(raw, columns, width, &mut scratch.k);
                        for &row in panel {
                            tile[row * TILE_COLS..][..TILE_COLS]
                                .copy_from_slice(&scratch.k[(row - first) * TILE_COLS..][..TILE_COLS]);
                        }
                    }
                }
            }
            (DistanceSource::Sparse { rows: a, cols: b, .. }, _, _) if all => {
                sparse::fill_exact(a, rows.clone(), b, cols, tile);
            }
            (DistanceSource::Sparse { rows: a, cols: b, norms, .. }, _, Some(table)) => {
                table.fill(b, cols.clone(), &norms[0][rows.clone()], &norms[1], tile);
                for &row in far {
                    let at = rows.start + row;
                    sparse::fill_exact(a, at..at + 1, b, cols.clone(), &mut tile[row * TILE_COLS..]);
                }
            }
            _ => unreachable!("a source comes with its rows"),
        }
    }

    /// True if rows of at most this squared length may use the expansion. (Not where it is infinite or NaN.)
    fn expandable(&self, squared_length: f64) -> bool {
        self.gamma * squared_length <= EXPANSION_LIMIT
    }

    /// Prepares some rows to meet all columns.
    fn strips(&self, rows: Range<usize>) -> Result<Vec<Strip<T>>> {
        let far_among = |norms: &mut dyn Iterator<Item = f64>| {
            norms.enumerate().filter(|&(_, norm)| !self.expandable(norm)).map(|(row, _)| row).collect()
        };
        match &self.source {
            DistanceSource::Dense { subtracted, mean, middle, .. } => {
                let (width, mr) = (self.cols.instances.cols(), self.kernels.mr);
                let mut failed = None;
                let is_far = |run: Range<usize>| {
                    // Within a bag there are only differences, and what is far would depend on the other bags.
                    if self.shape == GramShape::Diagonal {
                        return false;
                    }
                    let mut far = false;
                    let read = self.rows.instances.each_row(run, |_, row| {
                        let squared: f64 = row.iter().zip(mean).map(|(x, m)| (x - m) * (x - m)).sum();
                        far |= !self.expandable(squared);
                    });
                    failed = failed.take().or(read.err());
                    far
                };
                let ranges = strips(self.runs(rows), mr, is_far);
                if let Some(error) = failed {
                    return Err(error);
                }
                let strip = |(rows, own): (Range<usize>, bool)| {
                    let raw = pack(self.rows.instances, rows.clone(), subtracted.then_some(mean), mr)?;
                    let centre = (!own).then_some(&middle[..]);
                    let moved = centred(&raw, rows.len(), width, mr, centre);
                    let far = far_among(&mut moved.norms[..rows.len()].iter().map(|n| n.to_f64()));
                    Ok(Strip { rows, packed: Some((raw, moved)), far })
                };
                ranges.into_iter().map(strip).collect()
            }
            DistanceSource::Sparse { norms, .. } => {
                let far = far_among(&mut norms[0][rows.clone()].iter().copied());
                Ok(vec![Strip { rows, packed: None, far }])
            }
        }
    }

    /// Sums over the rows `run` of one bag, which start at `first` in the tile: one row of sums per slot.
    fn reduce(
        &self,
        first: usize,
        run: Range<usize>,
        cols: &Range<usize>,
        resumes: bool,
        scratch: &mut TileScratch<T>,
    ) {
        let TileScratch { tile, k, q, .. } = scratch;
        let tile = &tile[first * TILE_COLS..(first + run.len()) * TILE_COLS];
        let k = &mut k[..tile.len()];
        let (columns, kernels) = (cols.len(), self.kernels);
        let mut weights: Vec<&[T]> = Vec::new();
        for pass in &self.plan.passes {
            // Finite also in f32, so that distance 0 times it is 0.
            let scale = T::from_f64(pass.scale.max(T::LOWEST));
            let slots = |from: usize, to: usize| {
                self.plan.slots[from..to].iter().map(|s| &self.weights[s.weight][run.clone()])
            };
            let (from, to) = (pass.starts[0], pass.starts[pass.starts.len() - 1]);
            if pass.lean {
                weights.clear();
                weights.extend(slots(from, to));
                let out = &mut q[from * TILE_COLS..];
                // SAFETY: the kernels come from `available`, which checked the instruction set.
                unsafe { (kernels.powers)(tile, columns, scale, &pass.squarings, &weights, resumes, out) };
                continue;
            }
            // SAFETY: as above.
            unsafe { (kernels.exponentials)(tile, columns, scale, k) };
            for (step, &squarings) in pass.squarings.iter().enumerate() {
                weights.clear();
                weights.extend(slots(pass.starts[step], pass.starts[step + 1]));
                // SAFETY: as above.
                unsafe {
                    if squarings > 0 {
                        (kernels.squares)(k, columns, squarings);
                    }
                    let out = &mut q[pass.starts[step] * TILE_COLS..];
                    (kernels.weighted)(k, columns, &weights, resumes, out);
                }
            }
        }
    }

    /// Adds the sums of `reduce`, weighted on the column side, to the entries of a bag.
    fn fold(&self, bag: usize, cols: &Range<usize>, scratch: &TileScratch<T>, sums: &mut [&mut [f64]]) {
        for (slot, q) in self.plan.slots.iter().zip(scratch.q.chunks_exact(TILE_COLS)) {
            let weights = &self.cols.weights[slot.weight][cols.clone()];
            for &output in &slot.outputs {
                let row = &mut sums[output][bag * self.width..][..self.width];
                // SAFETY: the kernels come from `available`, which checked the instruction set.
                unsafe { (self.kernels.fold)(q, weights, &scratch.pieces, row) };
            }
        }
    }
}
