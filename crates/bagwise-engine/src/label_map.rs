//! Real-valued labels that are known only as a mixture: how similar two instances' labels are expected to be.
//!
//! Under one concept the label of an instance at nearness `u` has the density `(1 - |c - u|) / Z(u)` on [0, 1] with
//! `Z(u) = 1/2 + u - u^2`; under many, the mixture by belief. With a label kernel `kappa(c - c')` two instances compare by
//!
//! ```text
//! sum over h, h' of P_h P_h' G(u_h(x), u_h'(x')) / (Z(u_h(x)) Z(u_h'(x'))),
//! G(u, v) = integral of (1 - |c - u|) (1 - |c' - v|) kappa(c - c') over the unit square
//! ```
//!
//! `G` has a closed form for every even kernel: two integrations by parts in each variable leave iterated
//! antiderivatives of kappa at a few places ([`LabelKernel::similarity`]). The double sum over concepts is an inner
//! product: `G` is expanded in Chebyshev polynomials of u and v, the coefficient matrix `C` is positive, `C = R R'`, and
//! every instance gets a short vector ([`LabelMap`]). Cost: instances x concepts x polynomials instead of
//! pairs x concepts^2. Error of `G` for the numbers of polynomials used: 2.4e-15 (gaussian), 4e-13 (linear, whose
//! `|u - v|^5` ends the fast convergence).
//!
//! Kwok, Cheung: Marginalized multi-instance kernels, IJCAI 2007, section 4, where Z has lost its index: it depends on
//! the concept and cannot stand outside the sum.

use std::f64::consts::PI;

use bagwise_core::Mat;

/// Similarity of two labels of [0, 1].
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum LabelKernel {
    /// `1 - |a - b|`.
    Linear,
    /// `exp(-beta (a - b)^2)`.
    Gaussian {
        /// Width.
        beta: f64,
    },
}

/// The width at which labels half the range apart have similarity 1/10.
pub const BETA: f64 = 4.0 * std::f64::consts::LN_10;

/// Below this width the recursion for the Gaussian divides digits away, and a power series is used.
const SERIES: f64 = 1e-3;

impl LabelKernel {
    /// The second, third and fourth iterated antiderivative of the kernel at t, each 0 at 0.
    fn antiderivatives(self, t: f64) -> [f64; 3] {
        match self {
            LabelKernel::Linear => {
                let (a, t2) = (t.abs(), t * t);
                [
                    t2 / 2.0 - t2 * a / 6.0,
                    t * t2 / 6.0 - t * t2 * a / 24.0,
                    t2 * t2 / 24.0 - t2 * t2 * a / 120.0,
                ]
            }
            LabelKernel::Gaussian { beta } if beta < SERIES => {
                // kappa = sum of (-beta t^2)^n / n!; at |t| <= 1 four terms leave 1e-15.
                let mut out = [0.0; 3];
                let mut term = 1.0;
                for n in 0..5 {
                    let m = f64::from(2 * n);
                    let second = term * t * t / ((m + 1.0) * (m + 2.0));
                    out[0] += second;
                    out[1] += second * t / (m + 3.0);
                    out[2] += second * t * t / ((m + 3.0) * (m + 4.0));
                    term *= -beta * t * t / f64::from(n + 1);
                }
                out
            }
            LabelKernel::Gaussian { beta } => {
                let s = beta.sqrt();
                let k1 = PI.sqrt() / (2.0 * s) * erf(s * t);
                let k2 = t * k1 + (-beta * t * t).exp_m1() / (2.0 * beta);
                let k3 = (t * k2 + (k1 - t) / (2.0 * beta)) / 2.0;
                let k4 = (t * k3 + (k2 - t * t / 2.0) / (2.0 * beta)) / 3.0;
                [k2, k3, k4]
            }
        }
    }

    /// `G(u, v)`.
    pub fn similarity(self, u: f64, v: f64) -> f64 {
        let at = |t: f64| self.antiderivatives(t);
        let [k2, k3, k4] = at(1.0);
        let [one, two] = [u, v].map(|x| (at(x), at(1.0 - x)));
        let third = u * two.1[1] + (1.0 - u) * two.0[1] + v * one.1[1] + (1.0 - v) * one.0[1];
        let fourth = one.0[2] + one.1[2] + two.0[2] + two.1[2];
        k2 * (u * (1.0 - v) + v * (1.0 - u)) + 2.0 * k3 + 2.0 * k4 - 2.0 * third - 2.0 * fourth
            + 4.0 * at(u - v)[2]
    }

    /// Polynomials that give `G` to rounding, or nearly.
    fn polynomials(self) -> usize {
        match self {
            LabelKernel::Linear => 128,
            // The Gaussian's spectrum widens with its root.
            LabelKernel::Gaussian { beta } => 24.max((8.0 * beta.sqrt()).ceil() as usize).min(192),
        }
    }
}

/// The error function by a series of positive terms, right to the last digits: `erf(x) = 2 x exp(-x^2) / sqrt(pi) *
/// sum of (2 x^2)^n / (1 3 5 .. (2 n + 1))`.
fn erf(x: f64) -> f64 {
    // From here on it is 1 in double precision.
    if x.abs() > 6.0 {
        return x.signum();
    }
    let (mut term, mut sum, mut odd) = (1.0, 1.0, 1.0);
    while term > f64::EPSILON / 8.0 * sum {
        odd += 2.0;
        term *= 2.0 * x * x / odd;
        sum += term;
    }
    2.0 / PI.sqrt() * x * (-x * x).exp() * sum
}

/// What the label densities of instances are divided by.
pub fn normaliser(u: f64) -> f64 {
    0.5 + u - u * u
}

/// Vectors whose inner products are expected label similarities.
pub struct LabelMap {
    /// Polynomials x terms.
    root: Mat,
}

impl LabelMap {
    /// The map of a kernel.
    pub fn new(kernel: LabelKernel) -> LabelMap {
        let n = kernel.polynomials();
        let angle = |i: usize| PI * (i as f64 + 0.5) / n as f64;
        let nodes: Vec<f64> = (0..n).map(|i| 0.5 * (1.0 + angle(i).cos())).collect();
        let transform = Mat::from_rows(
            &(0..n)
                .map(|k| {
                    let factor = if k == 0 { 1.0 } else { 2.0 } / n as f64;
                    (0..n).map(|i| factor * (k as f64 * angle(i)).cos()).collect()
                })
                .collect::<Vec<Vec<f64>>>(),
        );
        let values = Mat::from_rows(
            &nodes
                .iter()
                .map(|&u| nodes.iter().map(|&v| kernel.similarity(u, v)).collect())
                .collect::<Vec<Vec<f64>>>(),
        );
        let half = product(&transform, &values);
        let mut coefficients = Mat::zeros(n, n);
        for i in 0..n {
            for j in 0..=i {
                let entry: f64 = half.row(i).iter().zip(transform.row(j)).map(|(a, b)| a * b).sum();
                coefficients.set(i, j, entry);
                coefficients.set(j, i, entry);
            }
        }
        let root = pivoted_root(coefficients);
        LabelMap { root }
    }

    /// Length of the vectors.
    pub fn terms(&self) -> usize {
        self.root.cols()
    }

    /// The vector of an instance with this nearness to the concepts, which are believed so much.
    pub fn vector(&self, near: &[f64], belief: &[f64], out: &mut [f64]) {
        let n = self.root.rows();
        let mut moments = vec![0.0; n];
        for (&u, &p) in near.iter().zip(belief).filter(|(_, p)| **p > 0.0) {
            let (x, weight) = (2.0 * u - 1.0, p / normaliser(u));
            let (mut before, mut now) = (x, 1.0);
            for moment in &mut moments {
                *moment += weight * now;
                (before, now) = (now, 2.0 * x * now - before);
            }
        }
        out.fill(0.0);
        for (k, moment) in moments.iter().enumerate() {
            out.iter_mut().zip(self.root.row(k)).for_each(|(o, r)| *o += moment * r);
        }
    }
}

fn product(a: &Mat, b: &Mat) -> Mat {
    let mut out = Mat::zeros(a.rows(), b.cols());
    for i in 0..a.rows() {
        for (k, &x) in a.row(i).iter().enumerate() {
            out.row_mut(i).iter_mut().zip(b.row(k)).for_each(|(o, y)| *o += x * y);
        }
    }
    out
}

/// R with R R' = C, by Cholesky's method with the largest pivot first; it ends where what is left of a positive matrix is
/// rounding.
fn pivoted_root(mut left: Mat) -> Mat {
    let n = left.rows();
    let largest = (0..n).map(|i| left.get(i, i)).fold(0.0, f64::max);
    let mut columns: Vec<Vec<f64>> = Vec::new();
    while columns.len() < n {
        let pivot = (0..n).fold(0, |best, i| if left.get(i, i) > left.get(best, best) { i } else { best });
        let value = left.get(pivot, pivot);
        if value <= 1e-17 * largest {
            break;
        }
        let column: Vec<f64> = left.row(pivot).iter().map(|v| v / value.sqrt()).collect();
        for i in 0..n {
            left.row_mut(i).iter_mut().zip(&column).for_each(|(l, c)| *l -= column[i] * c);
        }
        columns.push(column);
    }
    let mut root = Mat::zeros(n, columns.len());
    for (t, column) in columns.iter().enumerate() {
        (0..n).for_each(|k| root.set(k, t, column[k]));
    }
    root
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn inner_products_are_similarities_over_normalisers() {
        for kernel in
            [LabelKernel::Linear, LabelKernel::Gaussian { beta: BETA }, LabelKernel::Gaussian { beta: 40.0 }]
        {
            let map = LabelMap::new(kernel);
            let places: Vec<f64> = (0..=40).map(|i| f64::from(i) / 40.0).chain([1e-9, 1.0 - 1e-9]).collect();
            let vector = |u: f64| {
                let mut out = vec![0.0; map.terms()];
                map.vector(&[u], &[1.0], &mut out);
                out
            };
            let vectors: Vec<Vec<f64>> = places.iter().map(|&u| vector(u)).collect();
            for (a, &u) in vectors.iter().zip(&places) {
                for (b, &v) in vectors.iter().zip(&places) {
                    let found: f64 = a.iter().zip(b).map(|(x, y)| x * y).sum();
                    let expected = kernel.similarity(u, v) / (normaliser(u) * normaliser(v));
                    // The fifth power in the linear kernel ends the expansion at 4e-13, over normalisers of 1/2 each.
                    assert!((found - expected).abs() < 2e-12, "{kernel:?} {u} {v}: {found} {expected}");
                }
            }
        }
    }

    #[test]
    fn the_error_function_has_all_its_digits() {
        // From tables of 20 digits.
        for (x, expected) in [
            (0.5, 0.520_499_877_813_046_5),
            (1.0, 0.842_700_792_949_714_9),
            (2.0, 0.995_322_265_018_952_7),
            (3.0, 0.999_977_909_503_001_4),
        ] {
            assert!((erf(x) - expected).abs() < 4.0 * f64::EPSILON, "{x}: {}", erf(x));
            assert_eq!(erf(-x), -erf(x));
        }
        assert_eq!((erf(0.0), erf(7.0)), (0.0, 1.0));
    }
}
