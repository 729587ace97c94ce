//! Gaussians of single instances: every value kept, none summed.
//!
//! `k(i, j) = exp(-gamma |x_i - x_j|^2)` for all pairs of some instances and for several gammas in one pass over the
//! pairs, by the loops of the pairs engine: a tile of squared distances from packed panels, and one exponential per pair
//! and gamma. (No powers of powers: a value must not depend on the other gammas that were asked for.) For learners that
//! train on instances.
//!
//! Cost n^2 d / 2 multiply-adds and an exponential per pair and gamma; 8 n^2 bytes per gamma. Accuracy as in `pairs`.
//! Threads share out strips of rows; every value is computed alone, so that the result is the same on any number of
//! threads. Sparse instances take the way of the pairs engine, one gamma at a time.

use std::ops::Range;

use rayon::prelude::*;

use super::kernels::{Available, Kernels, TILE_COLS, TILE_ROWS};
use super::pack::{Buffer, Centred, centred, pack};
use super::pairs::{EXPANSION_LIMIT, Output, Precision, Side, mirror, stays_sparse, symmetric};
use crate::bags::Instances;
use crate::ctx::Ctx;
use crate::error::Result;
use crate::mat::Mat;

/// The Gaussians of all pairs of some instances: one matrix per gamma, exactly symmetric, 1 on the diagonal.
pub(crate) fn gaussians(instances: &Instances, gammas: &[f64], ctx: &Ctx) -> Result<Vec<Mat>> {
    let n = instances.rows();
    ctx.reserve(
        "kernel values of instances",
        8 * (n as u64).pow(2) * gammas.len() as u64,
        "raise the memory budget, or ask for fewer widths at a time",
    )?;
    if sparse(instances) {
        let (offsets, ones) = singles(n);
        let side = Side { instances, offsets: &offsets, weights: &ones };
        let one = |&gamma: &f64| {
            let output = [Output { gamma, terms: vec![0] }];
            Ok(symmetric(&side, &output, Precision::F64, ctx)?.remove(0))
        };
        return gammas.iter().map(one).collect();
    }
    let mut grams = Columns::new(instances).with_themselves(instances, gammas, ctx)?;
    grams.par_iter_mut().for_each(mirror);
    Ok(grams)
}

fn sparse(instances: &Instances) -> bool {
    matches!(instances, Instances::Sparse(csr) if stays_sparse(csr))
}

/// Offsets and weights of instances as bags of their own.
pub(crate) fn singles(rows: usize) -> (Vec<usize>, Vec<Vec<f64>>) {
    ((0..=rows).collect(), vec![vec![1.0; rows]])
}

/// Packed instances that rows are compared with.
struct Columns {
    kernels: &'static Kernels<f64>,
    panels: Buffer<f64>,
    count: usize,
    width: usize,
}

impl Columns {
    fn new(instances: &Instances) -> Columns {
        let kernels = <f64 as Available>::available()[0];
        let (count, width) = (instances.rows(), instances.cols());
        Columns { kernels, panels: pack(instances, 0..count, None, kernels.nr), count, width }
    }

    /// A matrix per gamma; only what lies right of the diagonal, and the tiles that it crosses.
    fn with_themselves(&self, rows: &Instances, gammas: &[f64], ctx: &Ctx) -> Result<Vec<Mat>> {
        let mut all: Vec<Mat> = gammas.iter().map(|_| Mat::zeros(self.count, self.count)).collect();
        let strips: Vec<Range<usize>> =
            (0..rows.rows()).step_by(TILE_ROWS).map(|r| r..(r + TILE_ROWS).min(rows.rows())).collect();
        let mut owned: Vec<Vec<&mut [f64]>> = strips.iter().map(|_| Vec::new()).collect();
        for mat in &mut all {
            let parts = mat.data_mut().chunks_mut(TILE_ROWS * self.count.max(1));
            owned.iter_mut().zip(parts).for_each(|(owned, part)| owned.push(part));
        }
        strips.into_par_iter().zip(owned).try_for_each(|(strip, mut out)| {
            ctx.check()?;
            self.strip(rows, strip, gammas, &mut out);
            Ok::<(), crate::error::Error>(())
        })?;
        Ok(all)
    }

    fn strip(&self, rows: &Instances, strip: Range<usize>, gammas: &[f64], out: &mut [&mut [f64]]) {
        let raw: Buffer<f64> = pack(rows, strip.clone(), None, self.kernels.mr);
        let moved = centred(&raw, strip.len(), self.width, self.kernels.mr);
        let mut tiles = [Buffer::zeros(TILE_ROWS * TILE_COLS), Buffer::zeros(TILE_ROWS * TILE_COLS)];
        let mut k = Buffer::zeros(TILE_ROWS * TILE_COLS);
        let begin = strip.start / TILE_COLS * TILE_COLS;
        for from in (begin..self.count).step_by(TILE_COLS) {
            let cols = from..(from + TILE_COLS).min(self.count);
            let crossed = cols.start < strip.end;
            // By expansion and by differences; which of the two is a matter of the gamma alone.
            let mut filled = [false; 2];
            for (gamma, out) in gammas.iter().zip(&mut *out) {
                // Not where it is infinite or no number.
                let expandable = gamma * moved.radius <= EXPANSION_LIMIT;
                let exact = usize::from(crossed || !expandable);
                let tile = &mut tiles[exact];
                if !std::mem::replace(&mut filled[exact], true) {
                    self.fill(&raw, &moved, cols.clone(), exact == 1, tile);
                }
                let used = strip.len() * TILE_COLS;
                // Finite, so that distance 0 times it is 0.
                let scale = (-gamma * std::f64::consts::LOG2_E).max(-f64::MAX);
                // SAFETY: the kernels come from `available`, which checked the instruction set.
                unsafe { (self.kernels.exponentials)(&tile[..used], cols.len(), scale, &mut k[..used]) };
                for (i, values) in out.chunks_exact_mut(self.count).enumerate() {
                    values[cols.clone()].copy_from_slice(&k[i * TILE_COLS..][..cols.len()]);
                }
            }
        }
    }

    fn fill(&self, raw: &[f64], moved: &Centred<f64>, cols: Range<usize>, exact: bool, tile: &mut [f64]) {
        let ends = cols.start * self.width..cols.end.next_multiple_of(self.kernels.nr) * self.width;
        let columns = &self.panels[ends];
        // SAFETY: the kernels come from `available`, which checked the instruction set.
        unsafe {
            if exact {
                (self.kernels.differences)(raw, columns, self.width, tile);
            } else {
                (self.kernels.products)(&moved.panels, &moved.norms, columns, &moved.centre, tile);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mat::Csr;
    use crate::rng::Rng;

    fn random(rows: usize, cols: usize, seed: u64) -> Mat {
        let mut rng = Rng::new(seed, "rows", &[]);
        Mat::new(rows, cols, (0..rows * cols).map(|_| 2.0 * rng.normal()).collect())
    }

    fn expected(m: &Mat, i: usize, j: usize, gamma: f64) -> f64 {
        let squared: f64 = m.row(i).iter().zip(m.row(j)).map(|(a, b)| (a - b) * (a - b)).sum();
        (-gamma * squared).exp()
    }

    #[test]
    fn values_are_those_of_the_formula_whatever_the_shape_and_storage() {
        let gammas = [0.01, 0.3, 100.0, 1e300];
        for (rows, cols) in [(1, 1), (47, 3), (49, 7), (130, 5), (200, 40)] {
            let m = random(rows, cols, rows as u64);
            let mut csr = Csr::empty(cols);
            (0..rows).for_each(|i| csr.push_row(m.row(i).iter().enumerate().map(|(c, &v)| (c as u32, v))));
            for instances in [Instances::F64(m.clone()), Instances::Sparse(csr)] {
                let grams = gaussians(&instances, &gammas, &Ctx::default()).unwrap();
                for (gram, &gamma) in grams.iter().zip(&gammas) {
                    for i in 0..rows {
                        assert_eq!(gram.get(i, i), 1.0);
                        for j in 0..rows {
                            let value = expected(&m, i, j, gamma);
                            // The engine's own bound, which its tests hold it to.
                            let close = |v: f64| (v - value).abs() <= 1e-12 * value + 1e-300;
                            assert!(close(gram.get(i, j)), "{rows} x {cols}: {i} {j} {gamma}");
                            assert_eq!(gram.get(i, j), gram.get(j, i));
                        }
                    }
                }
            }
        }
    }

    #[test]
    fn a_value_does_not_depend_on_other_gammas_or_threads() {
        let instances = Instances::F64(random(150, 20, 1));
        let together = gaussians(&instances, &[0.005, 0.02, 0.5, 50.0], &Ctx::default()).unwrap();
        let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
        for (gram, gamma) in together.iter().zip([0.005, 0.02, 0.5, 50.0]) {
            let alone = pool.install(|| gaussians(&instances, &[gamma], &Ctx::default()).unwrap()).remove(0);
            assert_eq!(gram.data(), alone.data());
        }
    }

    #[test]
    fn what_exceeds_the_budget_is_refused() {
        let instances = Instances::F64(random(100, 2, 1));
        let mut ctx = Ctx::default();
        ctx.memory = 100 * 100 * 8;
        assert!(gaussians(&instances, &[1.0], &ctx).is_ok());
        assert!(gaussians(&instances, &[1.0, 2.0], &ctx).is_err());
    }
}
