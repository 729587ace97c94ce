//! Mixtures of Gaussians with diagonal covariances, fitted by expectation and maximisation.
//!
//! `p(x) = sum_k w_k prod_j N(x_j; mu_kj, v_kj)`. Points lie in the lanes of vectors. A pass over them takes the posteriors
//! g of a panel and adds it to `S0 = sum g`, `S1 = sum g x`, `S2 = sum g x^2`, from which the next mixture is made; the
//! same sums of a bag make its Fisher vector ([`MixtureSums`]). 6 N k d operations a step. Variances from S2 lose `|x|^2 / v` of
//! their precision, so points should lie about 0, as coordinates on [`axes`](crate::axes) do.
//!
//! scikit-learn's `GaussianMixture(covariance_type="diag")` takes the same steps from the same start; the amount added to
//! variances is relative to those of the points here, so that units do not matter.

use rayon::prelude::*;

use crate::simd::{InstructionSet, Vector, exp2, table_of};
use bagwise_core::{Ctx, Error, Mat, Message, Result, Setting};

/// Points of a panel at most: their values stay in the first caches.
const PANEL: usize = 256;

/// Panels whose sums one task keeps.
const PANELS: usize = 16;

/// Panels are padded to the widest vector.
const LANES: usize = 8;

/// Where the mean log likelihood changes by less, the fit ends.
const TOLERANCE: f64 = 1e-3;

/// Added to variances, in units of the mean variance of the points.
const REGULARISER: f64 = 1e-6;

/// A mixture.
#[derive(Clone, Debug, PartialEq)]
pub struct Mixture {
    weights: Vec<f64>,
    means: Mat,
    variances: Mat,
    /// What the loops need: log of weight over normaliser, and -1/(2 v).
    constants: Vec<f64>,
    factors: Mat,
}

/// Sums over points: for each component posteriors, points and squared points weighed by them.
#[derive(Clone, Debug, PartialEq)]
pub struct MixtureSums {
    /// `sum g_k`.
    pub zeroth: Vec<f64>,
    /// `sum g_k x`, components x columns.
    pub first: Mat,
    /// `sum g_k x^2`, components x columns.
    pub second: Mat,
}

impl MixtureSums {
    /// No points yet.
    pub fn zeros(components: usize, width: usize) -> MixtureSums {
        MixtureSums {
            zeroth: vec![0.0; components],
            first: Mat::zeros(components, width),
            second: Mat::zeros(components, width),
        }
    }

    fn add(&mut self, other: &MixtureSums) {
        let add = |to: &mut [f64], from: &[f64]| to.iter_mut().zip(from).for_each(|(t, f)| *t += f);
        add(&mut self.zeroth, &other.zeroth);
        add(self.first.data_mut(), other.first.data());
        add(self.second.data_mut(), other.second.data());
    }

    /// The mixture that these sums make likeliest.
    fn maximise(&self, regulariser: f64) -> Mixture {
        let (k, width) = (self.zeroth.len(), self.first.cols());
        let counts: Vec<f64> = self.zeroth.iter().map(|n| n + 10.0 * f64::EPSILON).collect();
        let total: f64 = counts.iter().sum();
        let (mut means, mut variances) = (Mat::zeros(k, width), Mat::zeros(k, width));
        for c in 0..k {
            for j in 0..width {
                let (s1, s2) = (self.first.get(c, j), self.second.get(c, j));
                let mean = s1 / counts[c];
                let spread = (s2 - 2.0 * mean * s1 + mean * mean * self.zeroth[c]) / counts[c];
                means.set(c, j, mean);
                variances.set(c, j, spread.max(0.0) + regulariser);
            }
        }
        Mixture::derived(counts.iter().map(|n| n / total).collect(), means, variances)
    }
}

impl Mixture {
    /// A mixture from its parts, components x columns; weights and variances must be above 0.
    pub fn new(weights: Vec<f64>, means: Mat, variances: Mat) -> Result<Mixture> {
        let positive = |values: &[f64]| values.iter().all(|&v| v.is_finite() && v > 0.0);
        let fits = !weights.is_empty()
            && means.cols() > 0
            && (means.rows(), means.cols()) == (weights.len(), variances.cols())
            && variances.rows() == weights.len();
        if !fits || !positive(&weights) || !positive(variances.data()) {
            return Err(Error::Invalid(format!(
                "{} weights, means and variances do not make a mixture: there must be as many of each, and weights and \
                 variances above 0",
                weights.len()
            )));
        }
        Ok(Mixture::derived(weights, means, variances))
    }

    fn derived(weights: Vec<f64>, means: Mat, variances: Mat) -> Mixture {
        let constant = |c: usize| {
            let logs: f64 = variances.row(c).iter().map(|v| (2.0 * std::f64::consts::PI * v).ln()).sum();
            weights[c].ln() - 0.5 * logs
        };
        let constants = (0..weights.len()).map(constant).collect();
        let factors = variances.data().iter().map(|v| -0.5 / v).collect();
        let factors = Mat::new(variances.rows(), variances.cols(), factors);
        Mixture { weights, means, variances, constants, factors }
    }

    /// The one step of maximisation from groups: every point belongs to one component altogether.
    pub fn of_groups(points: &Mat, assignment: &[u32], components: usize) -> Mixture {
        let mut sums = MixtureSums::zeros(components, points.cols());
        for (i, &c) in assignment.iter().enumerate() {
            let c = c as usize;
            sums.zeroth[c] += 1.0;
            let moments = sums.first.row_mut(c).iter_mut().zip(sums.second.row_mut(c)).zip(points.row(i));
            moments.for_each(|((s1, s2), x)| (*s1, *s2) = (*s1 + x, *s2 + x * x));
        }
        sums.maximise(regulariser(points))
    }

    /// Expectation and maximisation from groups, until the mean log likelihood of a point changes by less than 1e-3
    /// or for at most this many steps. Also returns the mean log likelihood before each maximisation.
    pub fn fit(
        points: &Mat,
        assignment: &[u32],
        components: usize,
        iterations: usize,
        ctx: &Ctx,
    ) -> Result<(Mixture, Vec<f64>)> {
        let mixture = Mixture::of_groups(points, assignment, components);
        mixture.improve(points, iterations, TOLERANCE, ctx)
    }

    /// The same from this mixture, with another tolerance.
    pub fn improve(
        mut self,
        points: &Mat,
        iterations: usize,
        tolerance: f64,
        ctx: &Ctx,
    ) -> Result<(Mixture, Vec<f64>)> {
        let added = regulariser(points);
        let mut likelihoods: Vec<f64> = Vec::new();
        for _ in 0..iterations {
            let (sums, likelihood) = self.pass(points, ctx)?;
            self = sums.maximise(added);
            let before = likelihoods.last().copied().unwrap_or(f64::NEG_INFINITY);
            likelihoods.push(likelihood);
            if (likelihood - before).abs() < tolerance {
                break;
            }
        }
        // Squares of large values are infinite, and then nothing is left of the components.
        let is_sound =
            self.weights.iter().chain(self.means.data()).chain(self.variances.data()).all(|v| v.is_finite());
        if !is_sound {
            return Err(Error::refused(
                "the values are too large for a Gaussian mixture: their squares are not finite",
                Message::from("scale the columns").with([Setting::Scale(&["minmax", "zscore"])]),
            ));
        }
        Ok((self, likelihoods))
    }

    /// Sums over all points, and their mean log likelihood.
    fn pass(&self, points: &Mat, ctx: &Ctx) -> Result<(MixtureSums, f64)> {
        let (k, width) = (self.weights.len(), points.cols());
        let parts = points
            .data()
            .par_chunks(PANEL * PANELS * width)
            .map(|rows| {
                ctx.check()?;
                let mut sums = MixtureSums::zeros(k, width);
                let likelihood = self.add_to(rows, &mut sums);
                Ok((sums, likelihood))
            })
            .collect::<Result<Vec<_>>>()?;
        let (mut sums, mut likelihood) = (MixtureSums::zeros(k, width), 0.0);
        for (part, own) in &parts {
            sums.add(part);
            likelihood += own;
        }
        Ok((sums, likelihood / points.rows() as f64))
    }

    /// Adds points, row after row, to sums. Returns the sum of their log likelihoods.
    pub fn add_to(&self, rows: &[f64], sums: &mut MixtureSums) -> f64 {
        let mut likelihood = 0.0;
        self.each_panel(rows, |panel, posteriors, own| {
            likelihood += own.iter().sum::<f64>();
            let run: &MixtureLoops = table_of!(InstructionSet::best(), LOOPS);
            // SAFETY: the processor has this instruction set.
            unsafe { (run.sums)(panel, posteriors, sums) };
        });
        likelihood
    }

    /// The posterior of every component for each of some points, points x components.
    pub fn posteriors(&self, rows: &[f64]) -> Mat {
        let k = self.weights.len();
        let mut all = Mat::zeros(rows.len() / self.means.cols(), k);
        let mut first = 0;
        self.each_panel(rows, |_, posteriors, own| {
            let stride = posteriors.len() / k;
            for i in 0..own.len() {
                (0..k).for_each(|c| all.set(first + i, c, posteriors[c * stride + i]));
            }
            first += own.len();
        });
        all
    }

    /// Calls `each(panel, posteriors, log likelihoods)`: points attribute after attribute and component after component,
    /// padded with zeros; likelihoods are those of the points alone.
    fn each_panel(&self, rows: &[f64], mut each: impl FnMut(&[f64], &[f64], &[f64])) {
        let (k, width) = (self.weights.len(), self.means.cols());
        assert!(rows.len().is_multiple_of(width), "whole rows");
        let run: &MixtureLoops = table_of!(InstructionSet::best(), LOOPS);
        for rows in rows.chunks(PANEL * width) {
            let count = rows.len() / width;
            let stride = count.next_multiple_of(LANES);
            let mut panel = vec![0.0; stride * width];
            for (i, row) in rows.chunks_exact(width).enumerate() {
                row.iter().enumerate().for_each(|(j, &x)| panel[j * stride + i] = x);
            }
            let mut posteriors = vec![0.0; stride * k];
            let mut likelihoods = vec![0.0; stride];
            // SAFETY: the processor has this instruction set.
            unsafe { (run.posteriors)(self, &panel, &mut posteriors, &mut likelihoods) };
            // The padding is no point.
            posteriors.chunks_exact_mut(stride).for_each(|own| own[count..].fill(0.0));
            each(&panel, &posteriors, &likelihoods[..count]);
        }
    }

    /// Gradients of the log likelihood by means and by deviations, each over the root of its expected square, for points with
    /// these sums: all means, component after component, then all deviations. The Fisher vector is this over the number of
    /// points. Perronnin, Sanchez, Mensink, ECCV 2010.
    pub fn gradient(&self, sums: &MixtureSums) -> Vec<f64> {
        let (k, width) = (self.weights.len(), self.means.cols());
        let mut all = Vec::with_capacity(2 * k * width);
        for c in 0..k {
            let root = self.weights[c].sqrt();
            for j in 0..width {
                let (mean, variance) = (self.means.get(c, j), self.variances.get(c, j));
                all.push((sums.first.get(c, j) - mean * sums.zeroth[c]) / (root * variance.sqrt()));
            }
        }
        for c in 0..k {
            let root = (2.0 * self.weights[c]).sqrt();
            for j in 0..width {
                let (mean, variance) = (self.means.get(c, j), self.variances.get(c, j));
                let (s1, s2) = (sums.first.get(c, j), sums.second.get(c, j));
                let spread = s2 - 2.0 * mean * s1 + (mean * mean - variance) * sums.zeroth[c];
                all.push(spread / (root * variance));
            }
        }
        all
    }

    /// The mixture of the components that weigh at least so much, or of the heaviest if none does.
    pub fn without_components_below(self, least: f64) -> Mixture {
        if self.weights.iter().all(|&w| w >= least) {
            return self;
        }
        let most = self.weights.iter().copied().fold(0.0, f64::max).min(least);
        let kept: Vec<usize> = (0..self.weights.len()).filter(|&c| self.weights[c] >= most).collect();
        let total: f64 = kept.iter().map(|&c| self.weights[c]).sum();
        let weights = kept.iter().map(|&c| self.weights[c] / total).collect();
        Mixture::derived(weights, self.means.gather(&kept), self.variances.gather(&kept))
    }

    /// Weights of the components, which add up to 1.
    pub fn weights(&self) -> &[f64] {
        &self.weights
    }

    /// Means, components x columns.
    pub fn means(&self) -> &Mat {
        &self.means
    }

    /// Variances, components x columns.
    pub fn variances(&self) -> &Mat {
        &self.variances
    }
}

/// What is added to variances: a millionth of the mean variance of the columns, or a millionth where there is none.
fn regulariser(points: &Mat) -> f64 {
    let (n, width) = (points.rows() as f64, points.cols());
    let mut mean = vec![0.0; width];
    for row in points.data().chunks_exact(width) {
        mean.iter_mut().zip(row).for_each(|(m, x)| *m += x);
    }
    mean.iter_mut().for_each(|m| *m /= n);
    let mut spread = vec![0.0; width];
    for row in points.data().chunks_exact(width) {
        spread.iter_mut().zip(row.iter().zip(&mean)).for_each(|(s, (x, m))| *s += (x - m) * (x - m));
    }
    let variance = spread.iter().sum::<f64>() / (n * width as f64);
    REGULARISER * if variance > 0.0 { variance } else { 1.0 }
}

struct MixtureLoops {
    posteriors: unsafe fn(&Mixture, &[f64], &mut [f64], &mut [f64]),
    sums: unsafe fn(&[f64], &[f64], &mut MixtureSums),
}

/// Posteriors of a panel, and log likelihoods.
#[inline(always)]
unsafe fn posteriors<V: Vector<E = f64>>(
    mixture: &Mixture,
    panel: &[f64],
    out: &mut [f64],
    likelihoods: &mut [f64],
) {
    let (k, width, stride) = (mixture.weights.len(), mixture.means.cols(), likelihoods.len());
    assert!(panel.len() == stride * width && out.len() == stride * k && stride.is_multiple_of(V::LANES));
    assert!(k > 0 && mixture.constants.len() == k);
    assert!(mixture.means.rows() == k && mixture.factors.rows() == k && mixture.factors.cols() == width);
    // Vectors of points whose sums run side by side.
    const SIDE: usize = 4;
    let step = SIDE * V::LANES;
    let whole = stride / step * step;
    // SAFETY: all places lie inside, by the assertions; the caller vouches for the instruction set.
    unsafe {
        for c in 0..k {
            let to = out.as_mut_ptr().add(c * stride);
            let (mean, factor) = (mixture.means.row(c).as_ptr(), mixture.factors.row(c).as_ptr());
            let start = V::splat(mixture.constants[c]);
            for at in (0..whole).step_by(step) {
                log_density::<V, SIDE>(
                    panel.as_ptr().add(at),
                    stride,
                    width,
                    mean,
                    factor,
                    start,
                    to.add(at),
                );
            }
            for at in (whole..stride).step_by(V::LANES) {
                log_density::<V, 1>(panel.as_ptr().add(at), stride, width, mean, factor, start, to.add(at));
            }
        }
        let log2e = V::splat(std::f64::consts::LOG2_E);
        for at in (0..stride).step_by(V::LANES) {
            let to = out.as_mut_ptr().add(at);
            let mut most = V::load(to);
            for c in 1..k {
                most = most.max(V::load(to.add(c * stride)));
            }
            let mut sum = V::splat(0.0);
            for c in 0..k {
                let value = exp2(V::load(to.add(c * stride)).sub(most).mul(log2e));
                sum = sum.add(value);
                value.store(to.add(c * stride));
            }
            let one = V::splat(1.0).div(sum);
            for c in 0..k {
                V::load(to.add(c * stride)).mul(one).store(to.add(c * stride));
            }
            let mut lanes = [[0.0; LANES]; 2];
            most.store(lanes[0].as_mut_ptr());
            sum.store(lanes[1].as_mut_ptr());
            for lane in 0..V::LANES {
                likelihoods[at + lane] = lanes[0][lane] + lanes[1][lane].ln();
            }
        }
    }
}

#[inline(always)]
unsafe fn log_density<V: Vector<E = f64>, const SIDE: usize>(
    panel: *const f64,
    stride: usize,
    width: usize,
    mean: *const f64,
    factor: *const f64,
    start: V,
    to: *mut f64,
) {
    // SAFETY: `posteriors` has checked panel, tables and room.
    unsafe {
        let mut sums = [start; SIDE];
        for j in 0..width {
            let (m, f) = (V::splat(*mean.add(j)), V::splat(*factor.add(j)));
            let x = panel.add(j * stride);
            for s in 0..SIDE {
                let d = V::load(x.add(s * V::LANES)).sub(m);
                sums[s] = d.mul(d).mul_add(f, sums[s]);
            }
        }
        for s in 0..SIDE {
            sums[s].store(to.add(s * V::LANES));
        }
    }
}

/// Adds a panel to sums.
#[inline(always)]
unsafe fn sums<V: Vector<E = f64>>(panel: &[f64], posteriors: &[f64], to: &mut MixtureSums) {
    let (k, width) = (to.zeroth.len(), to.first.cols());
    let stride = posteriors.len() / k;
    assert!(panel.len() == stride * width && posteriors.len() == stride * k);
    assert!(stride.is_multiple_of(V::LANES) && to.second.data().len() == k * width);
    // Columns whose sums run side by side.
    const SIDE: usize = 4;
    let whole = width / SIDE * SIDE;
    for c in 0..k {
        let own = &posteriors[c * stride..(c + 1) * stride];
        to.zeroth[c] += own.iter().sum::<f64>();
        let (first, second) = (to.first.row_mut(c).as_mut_ptr(), to.second.row_mut(c).as_mut_ptr());
        // SAFETY: columns and rows lie inside, by the assertions; the caller vouches for the instruction set.
        unsafe {
            for j in (0..whole).step_by(SIDE) {
                let x = panel.as_ptr().add(j * stride);
                moments::<V, SIDE>(own, x, stride, first.add(j), second.add(j));
            }
            for j in whole..width {
                moments::<V, 1>(own, panel.as_ptr().add(j * stride), stride, first.add(j), second.add(j));
            }
        }
    }
}

#[inline(always)]
unsafe fn moments<V: Vector<E = f64>, const SIDE: usize>(
    posteriors: &[f64],
    x: *const f64,
    stride: usize,
    first: *mut f64,
    second: *mut f64,
) {
    // SAFETY: `sums` has checked SIDE columns of `stride` points, and room for their sums.
    unsafe {
        let zero = V::splat(0.0);
        let (mut s1, mut s2) = ([zero; SIDE], [zero; SIDE]);
        let mut at = 0;
        while at < stride {
            let g = V::load(posteriors.as_ptr().add(at));
            for s in 0..SIDE {
                let x = V::load(x.add(s * stride + at));
                let weighed = g.mul(x);
                s1[s] = s1[s].add(weighed);
                s2[s] = weighed.mul_add(x, s2[s]);
            }
            at += V::LANES;
        }
        let mut lanes = [0.0; LANES];
        for s in 0..SIDE {
            for (sum, to) in [(s1[s], first), (s2[s], second)] {
                sum.store(lanes.as_mut_ptr());
                let mut all = 0.0;
                for lane in &lanes[..V::LANES] {
                    all += lane;
                }
                *to.add(s) += all;
            }
        }
    }
}

macro_rules! instruction_set {
    ($module:ident, $vector:ty $(, $feature:literal)?) => {
        mod $module {
            use super::*;
            $(#[target_feature(enable = $feature)])?
            unsafe fn find(mixture: &Mixture, panel: &[f64], out: &mut [f64], likelihoods: &mut [f64]) {
                // SAFETY: this function carries the instruction set; its callers checked for it.
                unsafe { posteriors::<$vector>(mixture, panel, out, likelihoods) }
            }
            $(#[target_feature(enable = $feature)])?
            unsafe fn add(panel: &[f64], own: &[f64], to: &mut MixtureSums) {
                // SAFETY: as above.
                unsafe { sums::<$vector>(panel, own, to) }
            }
            pub(super) static LOOPS: MixtureLoops = MixtureLoops { posteriors: find, sums: add };
        }
    };
}

instruction_set!(portable, [f64; 2]);
#[cfg(target_arch = "x86_64")]
instruction_set!(avx2, crate::simd_x86::Avx2F64, "avx2,fma");
#[cfg(target_arch = "x86_64")]
instruction_set!(avx512, crate::simd_x86::Avx512F64, "avx512f,avx2,fma");

#[cfg(test)]
mod tests {
    use super::*;
    use bagwise_core::Rng;

    fn made(rows: usize, width: usize) -> (Mat, Vec<u32>) {
        let mut rng = Rng::new(5, "mixture", &[]);
        let groups: Vec<u32> = (0..rows).map(|i| (i % 3) as u32).collect();
        let value = |i: usize, rng: &mut Rng| f64::from(groups[i / width]) - 1.0 + 0.5 * rng.normal();
        let data = (0..rows * width).map(|i| value(i, &mut rng)).collect();
        (Mat::new(rows, width, data), groups)
    }

    #[test]
    fn every_instruction_set_has_the_posteriors_and_sums_of_the_formula() {
        let (points, groups) = made(53, 5);
        let mixture = Mixture::of_groups(&points, &groups, 3);
        let log = |c: usize, x: &[f64]| {
            let one = |j: usize| {
                let v = mixture.variances.get(c, j);
                (x[j] - mixture.means.get(c, j)).powi(2) / v + (2.0 * std::f64::consts::PI * v).ln()
            };
            mixture.weights[c].ln() - 0.5 * (0..5).map(one).sum::<f64>()
        };
        let stride = 56;
        let mut panel = vec![0.0; stride * 5];
        (0..53).for_each(|i| (0..5).for_each(|j| panel[j * stride + i] = points.get(i, j)));
        for set in InstructionSet::available() {
            let run: &MixtureLoops = table_of!(set, LOOPS);
            let (mut found, mut likelihoods) = (vec![0.0; stride * 3], vec![0.0; stride]);
            let mut sums = MixtureSums::zeros(3, 5);
            // SAFETY: the set is available.
            unsafe { (run.posteriors)(&mixture, &panel, &mut found, &mut likelihoods) };
            found.chunks_exact_mut(stride).for_each(|own| own[53..].fill(0.0));
            // SAFETY: as above.
            unsafe { (run.sums)(&panel, &found, &mut sums) };
            let mut second = 0.0;
            for i in 0..53 {
                let densities: Vec<f64> = (0..3).map(|c| log(c, points.row(i)).exp()).collect();
                let total: f64 = densities.iter().sum();
                // Logs of size 10 and their powers: some tens of roundings.
                assert!((likelihoods[i] - total.ln()).abs() < 1e-13);
                (0..3).for_each(|c| assert!((found[c * stride + i] - densities[c] / total).abs() < 1e-13));
                second += densities[1] / total * points.get(i, 4).powi(2);
            }
            assert!((sums.second.get(1, 4) - second).abs() < 1e-12);
        }
    }

    #[test]
    fn likelihood_never_falls_and_threads_change_nothing() {
        let (points, groups) = made(9000, 4);
        let turned: Vec<u32> =
            groups.iter().enumerate().map(|(i, g)| if i % 4 == 0 { 0 } else { *g }).collect();
        let fit = || Mixture::fit(&points, &turned, 3, 60, &Ctx::default()).unwrap();
        let (one, likelihoods) = fit();
        // Maximisation adds a millionth to variances, which costs less than this.
        assert!(likelihoods.windows(2).all(|w| w[1] >= w[0] - 1e-5), "{likelihoods:?}");
        assert!(likelihoods.len() > 3);
        let pool = rayon::ThreadPoolBuilder::new().num_threads(3).build().unwrap();
        assert_eq!(pool.install(fit), (one, likelihoods));
    }

    #[test]
    fn equal_points_and_unused_components_are_no_trouble() {
        let points = Mat::new(6, 2, vec![1.5; 12]);
        let (mixture, _) = Mixture::fit(&points, &[0; 6], 2, 10, &Ctx::default()).unwrap();
        assert!(mixture.weights.iter().chain(mixture.means.data()).all(|v| v.is_finite()));
        let posteriors = mixture.posteriors(points.data());
        assert_eq!(mixture.clone().without_components_below(1.0 / 6.0).weights, [1.0]);
        assert!(posteriors.data().iter().all(|g| (0.0..=1.0).contains(g)));
    }
}
