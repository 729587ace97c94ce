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
//!
//! [`Distances`] and [`GaussianRows`] are for learners that need few of the rows, and do not know beforehand which: a row
//! is computed when it is first asked for, n d differences, and kept. By differences and never by expansion, whose
//! rounding would depend on the rows that happen to be computed together.

use std::ops::Range;
use std::sync::{Arc, OnceLock};

use rayon::prelude::*;

use super::kernels::{AvailableKernels, Kernels, TILE_COLS, TILE_ROWS};
use super::pack::{Buffer, Centred, centred, pack};
use super::pairs::{EXPANSION_LIMIT, Side, mirror, stays_sparse, symmetric};
use super::plan::GramOutput;
use super::products::row_products;
use bagwise_core::{Ctx, Instances, Mat, Message, Precision, Result};

/// The Gaussians of all pairs of some instances: one matrix per gamma, exactly symmetric, 1 on the diagonal.
pub fn gaussians(instances: &Instances, gammas: &[f64], ctx: &Ctx) -> Result<Vec<Mat>> {
    let n = instances.rows();
    ctx.reserve(
        "kernel values of instances",
        8 * (n as u64).pow(2) * gammas.len() as u64,
        "raise the memory budget, or use fewer widths at a time",
    )?;
    if sparse(instances) {
        let (offsets, ones) = singles(n);
        let side = Side { instances, offsets: &offsets, weights: &ones };
        let one = |&gamma: &f64| {
            let output = [GramOutput { gamma, terms: vec![0] }];
            Ok(symmetric(&side, &output, Precision::F64, ctx)?.remove(0))
        };
        return gammas.iter().map(one).collect();
    }
    let mut grams = Columns::new(instances)?.with_themselves(instances, gammas, ctx)?;
    grams.par_iter_mut().for_each(mirror);
    Ok(grams)
}

fn sparse(instances: &Instances) -> bool {
    matches!(instances, Instances::Sparse(csr) if stays_sparse(csr))
}

/// The inner products of all pairs of some instances: exactly symmetric.
pub fn inner_products(instances: &Instances, ctx: &Ctx) -> Result<Mat> {
    let (n, width) = (instances.rows(), instances.cols());
    let bytes = 8 * (n as u64).pow(2) + 8 * (n * width) as u64;
    ctx.reserve("inner products of instances", bytes, Message::more_memory())?;
    let mut dense = Mat::zeros(n, width);
    (0..n).try_for_each(|i| instances.row_into(i, dense.row_mut(i)))?;
    row_products(&dense, None, ctx)
}

/// Offsets and weights of instances as bags of their own.
pub fn singles(rows: usize) -> (Vec<usize>, Vec<Vec<f64>>) {
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
    fn new(instances: &Instances) -> Result<Columns> {
        let kernels = <f64 as AvailableKernels>::available()[0];
        let (count, width) = (instances.rows(), instances.cols());
        Ok(Columns { kernels, panels: pack(instances, 0..count, None, kernels.nr)?, count, width })
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
            self.strip(rows, strip, gammas, &mut out)
        })?;
        Ok(all)
    }

    fn strip(
        &self,
        rows: &Instances,
        strip: Range<usize>,
        gammas: &[f64],
        out: &mut [&mut [f64]],
    ) -> Result<()> {
        let raw: Buffer<f64> = pack(rows, strip.clone(), None, self.kernels.mr)?;
        let moved = centred(&raw, strip.len(), self.width, self.kernels.mr, None);
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
                let scale = exponent(*gamma);
                // SAFETY: the kernels come from `available`, which checked the instruction set.
                unsafe { (self.kernels.exponentials)(&tile[..used], cols.len(), scale, &mut k[..used]) };
                for (i, values) in out.chunks_exact_mut(self.count).enumerate() {
                    values[cols.clone()].copy_from_slice(&k[i * TILE_COLS..][..cols.len()]);
                }
            }
        }
        Ok(())
    }

    /// The packed instances of some columns that begin a tile.
    fn panels(&self, cols: Range<usize>) -> &[f64] {
        let end = cols.end.next_multiple_of(self.kernels.nr);
        &self.panels[cols.start * self.width..end * self.width]
    }

    /// The squared distances of some instances to all, by differences; of whole tiles.
    fn distances(&self, instances: &Instances, which: &[usize]) -> Result<Vec<Box<[f64]>>> {
        let Columns { kernels, count, width, .. } = self;
        let raw: Buffer<f64> = pack(&instances.gather(which), 0..which.len(), None, kernels.mr)?;
        let mut tile = Buffer::zeros(TILE_ROWS * TILE_COLS);
        let mut rows: Vec<Box<[f64]>> =
            which.iter().map(|_| vec![0.0; count.next_multiple_of(TILE_COLS)].into()).collect();
        for from in (0..*count).step_by(TILE_COLS) {
            let panels = self.panels(from..(from + TILE_COLS).min(*count));
            // SAFETY: the kernels come from `available`, which checked the instruction set.
            unsafe { (kernels.differences)(&raw, panels, *width, &mut tile) };
            for (row, values) in rows.iter_mut().zip(tile.chunks_exact(TILE_COLS)) {
                row[from..from + TILE_COLS].copy_from_slice(values);
            }
        }
        Ok(rows)
    }

    fn fill(&self, raw: &[f64], moved: &Centred<f64>, cols: Range<usize>, exact: bool, tile: &mut [f64]) {
        let columns = self.panels(cols);
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

/// The squared distances of chosen instances to all, row by row as they are asked for.
pub struct Distances {
    columns: Columns,
    /// Of whole tiles: what lies behind the last instance has no meaning.
    rows: Vec<OnceLock<Box<[f64]>>>,
}

impl Distances {
    /// Nothing yet for instances that are not sparse; `None` for those that are.
    pub fn new(instances: &Instances) -> Result<Option<Distances>> {
        if sparse(instances) {
            return Ok(None);
        }
        let rows = (0..instances.rows()).map(|_| OnceLock::new()).collect();
        Ok(Some(Distances { columns: Columns::new(instances)?, rows }))
    }

    /// Computes the rows `at` of the same instances that are not there yet.
    fn provide(&self, instances: &Instances, at: &[usize], ctx: &Ctx) -> Result<()> {
        let mut missing: Vec<usize> = at.iter().copied().filter(|&i| self.rows[i].get().is_none()).collect();
        missing.sort_unstable();
        missing.dedup();
        missing.par_chunks(TILE_ROWS).try_for_each(|strip| {
            ctx.check()?;
            for (&i, row) in strip.iter().zip(self.columns.distances(instances, strip)?) {
                // Another thread may have been faster; its values are the same.
                let _ = self.rows[i].set(row);
            }
            Ok(())
        })
    }
}

/// The Gaussians of chosen instances with all, row by row as they are asked for.
pub struct GaussianRows {
    distances: Arc<Distances>,
    gamma: f64,
    rows: Vec<OnceLock<Box<[f64]>>>,
}

impl GaussianRows {
    /// Rows of one width over distances that may be shared.
    pub fn new(distances: Arc<Distances>, gamma: f64) -> GaussianRows {
        let rows = distances.rows.iter().map(|_| OnceLock::new()).collect();
        GaussianRows { distances, gamma, rows }
    }

    /// The width.
    pub fn gamma(&self) -> f64 {
        self.gamma
    }

    /// The rows `at` of the instances that the distances are of.
    pub fn rows(&self, instances: &Instances, at: &[usize], ctx: &Ctx) -> Result<Vec<&[f64]>> {
        self.distances.provide(instances, at, ctx)?;
        Ok(at.iter().map(|&i| self.row(i)).collect())
    }

    fn row(&self, i: usize) -> &[f64] {
        let Columns { kernels, count, .. } = &self.distances.columns;
        let row = self.rows[i].get_or_init(|| {
            let distances = self.distances.rows[i].get().expect("provided before");
            let mut row: Box<[f64]> = vec![0.0; distances.len()].into();
            let scale = exponent(self.gamma);
            for (from, to) in distances.chunks_exact(TILE_COLS).zip(row.chunks_exact_mut(TILE_COLS)) {
                // SAFETY: the kernels come from `available`, which checked the instruction set.
                unsafe { (kernels.exponentials)(from, TILE_COLS, scale, to) };
            }
            row
        });
        &row[..*count]
    }
}

/// What a squared distance is multiplied with in the exponent of 2; finite, so that distance 0 times it is 0.
fn exponent(gamma: f64) -> f64 {
    (-gamma * std::f64::consts::LOG2_E).max(-f64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use bagwise_core::{Csr, Rng};

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
    fn rows_on_demand_are_those_of_the_formula_whatever_comes_with_them() {
        for (rows, cols) in [(1, 1), (47, 3), (130, 5), (200, 40)] {
            let m = random(rows, cols, rows as u64);
            let instances = Instances::F64(m.clone());
            let every: Vec<usize> = (0..rows).rev().collect();
            let new = || Arc::new(Distances::new(&instances).unwrap().unwrap());
            for gamma in [0.01, 0.3, 100.0, 1e300] {
                let (together, alone) = (GaussianRows::new(new(), gamma), GaussianRows::new(new(), gamma));
                let ctx = Ctx::default();
                let all = together.rows(&instances, &every, &ctx).unwrap();
                for (k, &i) in every.iter().enumerate() {
                    let row = alone.rows(&instances, &[i, i], &ctx).unwrap()[1];
                    assert_eq!(row, all[k]);
                    assert_eq!(row[i], 1.0);
                    for (j, v) in row.iter().enumerate() {
                        let value = expected(&m, i, j, gamma);
                        // The engine's own bound, which its tests hold it to.
                        assert!(
                            (v - value).abs() <= 1e-12 * value + 1e-300,
                            "{rows} x {cols}: {i} {j} {gamma}"
                        );
                        assert_eq!(*v, all[rows - 1 - j][i]);
                    }
                }
            }
        }
    }

    #[test]
    fn inner_products_are_symmetric_to_the_bit() {
        for (rows, cols) in [(1, 1), (47, 3), (130, 166)] {
            let m = random(rows, cols, 5);
            let found = inner_products(&Instances::F64(m.clone()), &Ctx::default()).unwrap();
            for i in 0..rows {
                for j in 0..rows {
                    let value: f64 = m.row(i).iter().zip(m.row(j)).map(|(a, b)| a * b).sum();
                    assert!((found.get(i, j) - value).abs() < 1e-10, "{rows} x {cols}: {i} {j}");
                    assert_eq!(found.get(i, j), found.get(j, i));
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
