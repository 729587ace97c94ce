//! The density of many concepts at once. Concepts are taken 64 at a time, bags in pieces of a few hundred instances:
//! distances of the piece to the concepts, at once turned into slopes of the log-likelihood, at once summed into the
//! gradients by a packed matrix product,
//!
//! ```text
//! S = sum c,  X_k = sum c x_k,  Q_k = sum c x_k^2   over instances with slope c
//! dF/dh_k = 2 w_k^2 (h_k S - X_k)                   dF/dw_k = 2 w_k (h_k^2 S - 2 h_k X_k + Q_k)
//! ```
//!
//! All of it stays in the second-level cache but the two packed copies of the instances, which pass by once per 64
//! concepts. Instances closer than `NEAR` (every climb starts on one) would lose digits in these sums; they, and bags
//! whose likelihood is too small for a number, go through the plain form. A concept's numbers do not depend on its
//! neighbours in the batch.

use std::ops::Range;

use rayon::prelude::*;

use super::likelihood::{self, BagTarget};
use super::loops::{Loops, loops_of};
use super::{Concept, Evidence};
use crate::kernels::{AvailableKernels, Kernels, TILE_COLS};
use crate::pack::Buffer;
use crate::simd::InstructionSet;
use bagwise_core::{Ctx, Mat, Result};

/// Distances below are computed from differences: above, `w x - w h` leaves them ten digits and more where the terms
/// are of size 1, and slopes stay below 1e6.
const NEAR: f64 = 1e-6;

/// Likelihoods below are computed by logarithms; of two numbers above, and 1e-150 of a product, the product is a number.
const SMALL: f64 = 1e-140;
const FOLDED: f64 = 1e-150;

/// Instances of a piece: enough that a gradient in the cache is read and written seldom.
const PIECE: usize = 192;

/// Whole bags, packed twice.
struct BagBlock {
    bags: Range<usize>,
    rows: Range<usize>,
    /// Rows rounded up to whole panels.
    padded: usize,
    /// Panels of instances, attribute after attribute.
    panels: Buffer<f64>,
    /// Panels of moments (x, 1, x^2), instance after instance; empty where only distances are wanted.
    moments: Buffer<f64>,
}

/// Evidence packed for the evaluation of many concepts.
pub struct Batch<'a> {
    evidence: &'a Evidence,
    weighted: bool,
    loops: &'static Loops,
    kernels: &'static Kernels<f64>,
    pieces: Vec<BagBlock>,
}

impl<'a> Batch<'a> {
    /// Packs the evidence; `weighted` asks for gradients by the weights as well.
    pub fn new(evidence: &'a Evidence, weighted: bool, ctx: &Ctx) -> Result<Batch<'a>> {
        Batch::with(evidence, weighted, <f64 as AvailableKernels>::available()[0], ctx)
    }

    pub(crate) fn with(
        evidence: &'a Evidence,
        weighted: bool,
        kernels: &'static Kernels<f64>,
        ctx: &Ctx,
    ) -> Result<Batch<'a>> {
        let count = (evidence.rows.rows() * (evidence.width() + moments(evidence.width(), weighted))) as u64;
        ctx.reserve(
            "packed instances of a search for concepts",
            8 * count,
            "raise the memory budget, or use fewer bags or columns",
        )?;
        let loops = loops_of(kernels.set);
        let mut pieces: Vec<Range<usize>> = Vec::new();
        for b in 0..evidence.targets.len() {
            match pieces.last_mut() {
                Some(piece) if evidence.offsets[b] - evidence.offsets[piece.start] < PIECE => {
                    piece.end = b + 1
                }
                _ => pieces.push(b..b + 1),
            }
        }
        let pieces = pieces.into_par_iter().map(|bags| {
            let rows = evidence.offsets[bags.start]..evidence.offsets[bags.end];
            let padded = rows.len().next_multiple_of(loops.mr);
            let panels = pack_rows(&evidence.rows, rows.clone(), loops.mr);
            let moments = pack_moments(&evidence.rows, rows.clone(), padded, weighted, kernels.mr);
            BagBlock { bags, rows, padded, panels, moments }
        });
        Ok(Batch { evidence, weighted, loops, kernels, pieces: pieces.collect() })
    }

    /// Log density and gradient (by the point, then by the weights if they are free) of each concept.
    pub fn densities(&self, concepts: &[Concept], ctx: &Ctx) -> Result<Vec<(f64, Vec<f64>)>> {
        // Small enough that every thread has some; what a concept gets does not depend on it.
        let each = concepts.len().div_ceil(2 * rayon::current_num_threads());
        let strip = each.next_multiple_of(self.loops.nr).clamp(self.loops.nr, TILE_COLS);
        let strips: Vec<Vec<(f64, Vec<f64>)>> =
            concepts.par_chunks(strip).map(|own| self.strip(own, ctx)).collect::<Result<_>>()?;
        Ok(strips.into_iter().flatten().collect())
    }

    fn strip(&self, concepts: &[Concept], ctx: &Ctx) -> Result<Vec<(f64, Vec<f64>)>> {
        let (d, nr) = (self.evidence.width(), self.loops.nr);
        let panels: Vec<Buffer<f64>> = concepts.chunks(nr).map(|own| pack_concepts(own, d, nr)).collect();
        let rows = moments(d, self.weighted).next_multiple_of(self.kernels.mr);
        let mut sums: Buffer<f64> = Buffer::zeros(rows * TILE_COLS);
        let mut direct: Vec<Option<Direct>> = concepts.iter().map(|_| None).collect();
        let mut values: Vec<Folded> = vec![Folded { log: 0.0, factor: 1.0 }; concepts.len()];
        let largest = self.pieces.iter().map(|p| p.padded).max().unwrap_or(0);
        let bags = self.pieces.iter().map(|p| p.bags.len()).max().unwrap_or(0);
        let mut slopes: Buffer<f64> = Buffer::zeros(panels.len() * largest * nr);
        let mut scratch = BagScratch { likelihood: vec![0.0; bags * nr], nearest: vec![0.0; bags * nr] };
        for piece in &self.pieces {
            ctx.check()?;
            let size = piece.padded * nr;
            for (p, panel) in panels.iter().enumerate() {
                let slopes = &mut slopes[p * size..(p + 1) * size];
                // SAFETY: the loops go with kernels from `available`, which checked the instruction set.
                unsafe { (self.loops.distances)(&piece.panels, panel, d, slopes) };
                let lanes = p * nr..((p + 1) * nr).min(concepts.len());
                self.likelihoods(
                    piece,
                    &concepts[lanes.clone()],
                    slopes,
                    &mut scratch,
                    &mut values[lanes.clone()],
                    &mut direct[lanes],
                );
                slopes[piece.rows.len() * nr..].fill(0.0);
            }
            // SAFETY: as above.
            unsafe {
                (self.kernels.outer)(&piece.moments, &slopes[..panels.len() * size], piece.padded, &mut sums);
            }
        }
        let finish = |(lane, concept): (usize, &Concept)| {
            let (log, factor) = (values[lane].log, values[lane].factor);
            (log + factor.ln(), self.gradient(concept, &sums, lane, direct[lane].as_ref()))
        };
        Ok(concepts.iter().enumerate().map(finish).collect())
    }

    /// Distances of a piece to a panel of concepts become slopes; likelihoods are multiplied into the values.
    fn likelihoods(
        &self,
        piece: &BagBlock,
        concepts: &[Concept],
        slopes: &mut [f64],
        scratch: &mut BagScratch,
        values: &mut [Folded],
        direct: &mut [Option<Direct>],
    ) {
        let nr = self.loops.nr;
        let targets = &self.evidence.targets[piece.bags.clone()];
        let bounds: Vec<usize> = self.evidence.offsets[piece.bags.start..=piece.bags.end]
            .iter()
            .map(|o| o - piece.rows.start)
            .collect();
        let classes = targets.iter().all(|t| !matches!(t, BagTarget::Value(_)));
        if classes {
            let positive: Vec<bool> = targets.iter().map(|t| *t == BagTarget::Positive).collect();
            // SAFETY: as in `strip`.
            unsafe {
                (self.loops.odds)(slopes, &bounds, &positive, &mut scratch.likelihood, &mut scratch.nearest);
            }
        } else {
            values_of(targets, &bounds, slopes, nr, scratch);
        }
        for b in 0..targets.len() {
            let likelihood = &scratch.likelihood[b * nr..(b + 1) * nr];
            let nearest = &scratch.nearest[b * nr..(b + 1) * nr];
            let weight = self.evidence.weights[piece.bags.start + b];
            if weight != 1.0 {
                slopes[bounds[b] * nr..bounds[b + 1] * nr].iter_mut().for_each(|slope| *slope *= weight);
            }
            for (lane, value) in values.iter_mut().enumerate() {
                if -nearest[lane] >= NEAR && likelihood[lane] >= SMALL {
                    match weight == 1.0 {
                        true => value.times(likelihood[lane]),
                        false => value.log += weight * likelihood[lane].ln(),
                    }
                } else {
                    let direct = direct[lane].get_or_insert_with(|| Direct::new(self.evidence.width()));
                    value.log += self.plainly(piece, b, &concepts[lane], slopes, lane, direct);
                }
            }
        }
    }

    /// One bag of a piece and a concept from differences: instances that are near add to the gradient here, the others leave
    /// their slopes.
    fn plainly(
        &self,
        piece: &BagBlock,
        bag: usize,
        concept: &Concept,
        slopes: &mut [f64],
        lane: usize,
        direct: &mut Direct,
    ) -> f64 {
        let bag = piece.bags.start + bag;
        let (target, weight) = (self.evidence.targets[bag], self.evidence.weights[bag]);
        let start = piece.rows.start;
        let rows = self.evidence.offsets[bag] - start..self.evidence.offsets[bag + 1] - start;
        let instance = |r: usize| self.evidence.rows.row(start + r);
        let distances: Vec<f64> = rows.clone().map(|r| concept.distance(instance(r))).collect();
        let mut own = vec![0.0; distances.len()];
        let value = likelihood::of_bag(target, &distances, &mut own);
        for ((r, slope), distance) in rows.zip(own).zip(distances) {
            let (near, slope) = (distance < NEAR, weight * slope);
            if near {
                concept.add_gradient(instance(r), slope, &mut direct.by_point, &mut direct.by_weight);
            }
            slopes[r * self.loops.nr + lane] = if near { 0.0 } else { slope };
        }
        weight * value
    }

    fn gradient(&self, concept: &Concept, sums: &[f64], lane: usize, direct: Option<&Direct>) -> Vec<f64> {
        let d = self.evidence.width();
        let sum = |row: usize| sums[row * TILE_COLS + lane];
        let total = sum(d);
        let Concept { point: h, weights: w } = concept;
        let mut gradient: Vec<f64> = (0..d).map(|k| 2.0 * w[k] * w[k] * (h[k] * total - sum(k))).collect();
        if self.weighted {
            gradient.extend(
                (0..d).map(|k| 2.0 * w[k] * (h[k] * h[k] * total - 2.0 * h[k] * sum(k) + sum(d + 1 + k))),
            );
        }
        if let Some(Direct { by_point, by_weight }) = direct {
            gradient.iter_mut().zip(by_point.iter().chain(by_weight)).for_each(|(g, more)| *g += more);
        }
        gradient
    }
}

/// A product of likelihoods, part of it as a logarithm.
#[derive(Clone, Copy)]
struct Folded {
    log: f64,
    factor: f64,
}

impl Folded {
    fn times(&mut self, likelihood: f64) {
        self.factor *= likelihood;
        if self.factor < FOLDED {
            self.log += self.factor.ln();
            self.factor = 1.0;
        }
    }
}

/// What near instances add to a gradient.
struct Direct {
    by_point: Vec<f64>,
    by_weight: Vec<f64>,
}

impl Direct {
    fn new(d: usize) -> Direct {
        Direct { by_point: vec![0.0; d], by_weight: vec![0.0; d] }
    }
}

/// For each bag of a piece and lane.
struct BagScratch {
    likelihood: Vec<f64>,
    /// Minus the least distance.
    nearest: Vec<f64>,
}

/// The same as `Loops::odds` for real values: only the nearest instance has a slope.
fn values_of(
    targets: &[BagTarget],
    bounds: &[usize],
    slopes: &mut [f64],
    nr: usize,
    scratch: &mut BagScratch,
) {
    for (b, target) in targets.iter().enumerate() {
        let BagTarget::Value(y) = *target else { unreachable!("classes and values do not mix") };
        for lane in 0..nr {
            let mut least = bounds[b];
            for r in bounds[b]..bounds[b + 1] {
                if slopes[r * nr + lane] < slopes[least * nr + lane] {
                    least = r;
                }
            }
            let distance = slopes[least * nr + lane];
            let (value, slope) = likelihood::of_nearest(y, distance);
            (bounds[b]..bounds[b + 1]).for_each(|r| slopes[r * nr + lane] = 0.0);
            slopes[least * nr + lane] = slope;
            scratch.likelihood[b * nr + lane] = value.exp();
            scratch.nearest[b * nr + lane] = -distance;
        }
    }
}

/// The distances of all rows of a matrix to some concepts, in pieces: calls `visit(rows, distances)` with as many
/// distances per row as there are concepts, row after row; in any order, from any thread.
pub(crate) fn distances(
    rows: &Mat,
    concepts: &[Concept],
    ctx: &Ctx,
    visit: impl Fn(Range<usize>, &[f64]) + Sync,
) -> Result<()> {
    let loops = loops_of(InstructionSet::best());
    let (d, nr) = (rows.cols(), loops.nr);
    let panels: Vec<Buffer<f64>> = concepts.chunks(nr).map(|own| pack_concepts(own, d, nr)).collect();
    let pieces: Vec<usize> = (0..rows.rows()).step_by(PIECE).collect();
    pieces.into_par_iter().try_for_each(|from| {
        ctx.check()?;
        let own = from..(from + PIECE).min(rows.rows());
        let packed = pack_rows(rows, own.clone(), loops.mr);
        let mut tile: Buffer<f64> = Buffer::zeros(own.len().next_multiple_of(loops.mr) * nr);
        let mut out = vec![0.0; own.len() * concepts.len()];
        for (p, panel) in panels.iter().enumerate() {
            // SAFETY: the loops are those of an instruction set that is here.
            unsafe { (loops.distances)(&packed, panel, d, &mut tile) };
            let lanes = nr.min(concepts.len() - p * nr);
            for (out, tile) in out.chunks_exact_mut(concepts.len()).zip(tile.chunks_exact(nr)) {
                out[p * nr..p * nr + lanes].copy_from_slice(&tile[..lanes]);
            }
        }
        visit(own, &out);
        Ok(())
    })
}

/// Rows of the gradient sums.
fn moments(d: usize, weighted: bool) -> usize {
    if weighted { 2 * d + 1 } else { d + 1 }
}

fn pack_rows(rows: &Mat, which: Range<usize>, lanes: usize) -> Buffer<f64> {
    let d = rows.cols();
    let mut packed: Buffer<f64> = Buffer::zeros(which.len().next_multiple_of(lanes) * d);
    for (i, row) in which.enumerate() {
        let panel = &mut packed[i / lanes * lanes * d..];
        for (k, &x) in rows.row(row).iter().enumerate() {
            panel[k * lanes + i % lanes] = x;
        }
    }
    packed
}

fn pack_moments(rows: &Mat, which: Range<usize>, padded: usize, weighted: bool, lanes: usize) -> Buffer<f64> {
    let d = rows.cols();
    let count = moments(d, weighted);
    let mut packed: Buffer<f64> = Buffer::zeros(count.next_multiple_of(lanes) * padded);
    for (i, row) in which.enumerate() {
        let row = rows.row(row);
        for m in 0..count {
            let value = match m {
                _ if m < d => row[m],
                _ if m == d => 1.0,
                _ => row[m - d - 1] * row[m - d - 1],
            };
            packed[(m / lanes * padded + i) * lanes + m % lanes] = value;
        }
    }
    packed
}

fn pack_concepts(concepts: &[Concept], d: usize, nr: usize) -> Buffer<f64> {
    let mut packed: Buffer<f64> = Buffer::zeros(2 * nr * d);
    for (lane, concept) in concepts.iter().enumerate() {
        for k in 0..d {
            packed[2 * nr * k + lane] = concept.weights[k];
            packed[2 * nr * k + nr + lane] = -concept.weights[k] * concept.point[k];
        }
    }
    packed
}
