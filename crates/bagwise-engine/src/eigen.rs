//! Eigenvalues and eigenvectors of a small symmetric matrix by cyclic Jacobi rotations.
//!
//! Every rotation zeroes one pair of entries off the diagonal; after a few sweeps all are 0 to rounding. About
//! `10 n^3` multiply-adds for the matrices of some tens of rows met here, the same bits on every run, and small
//! eigenvalues of positive matrices come out with more correct digits than other methods give them, which is what
//! an expansion down to 1e-8 lives on. Golub, van Loan: Matrix Computations, section 8.5.

use bagwise_core::Mat;

/// Sweeps after which we stop whatever is left: convergence is quadratic and takes six to ten.
const SWEEPS: usize = 40;

/// Eigenvalues in descending order and the eigenvectors as columns, each with its largest entry positive.
pub(crate) fn symmetric_eigen(mut a: Mat) -> (Vec<f64>, Mat) {
    let n = a.rows();
    let mut vectors = Mat::zeros(n, n);
    (0..n).for_each(|i| vectors.set(i, i, 1.0));
    let total: f64 = a.data().iter().map(|v| v * v).sum();
    for _ in 0..SWEEPS {
        let off: f64 =
            (0..n).flat_map(|i| (0..i).map(move |j| (i, j))).map(|(i, j)| a.get(i, j).powi(2)).sum();
        // (1e-17)^2 of the whole: a tenth of what rounding leaves.
        if off <= 1e-34 * total {
            break;
        }
        for p in 0..n {
            for q in p + 1..n {
                rotate(&mut a, &mut vectors, p, q);
            }
        }
    }
    let mut order: Vec<usize> = (0..n).collect();
    order.sort_by(|&i, &j| a.get(j, j).total_cmp(&a.get(i, i)));
    let values = order.iter().map(|&i| a.get(i, i)).collect();
    let mut sorted = Mat::zeros(n, n);
    for (to, &from) in order.iter().enumerate() {
        let largest =
            (0..n).map(|i| vectors.get(i, from)).fold(0.0, |m: f64, v| if v.abs() > m.abs() { v } else { m });
        for i in 0..n {
            sorted.set(i, to, vectors.get(i, from) * largest.signum());
        }
    }
    (values, sorted)
}

/// Zeroes the entry p, q.
fn rotate(a: &mut Mat, vectors: &mut Mat, p: usize, q: usize) {
    let n = a.rows();
    let entry = a.get(p, q);
    if entry == 0.0 {
        return;
    }
    let theta = (a.get(q, q) - a.get(p, p)) / (2.0 * entry);
    // The smaller of the two angles that do it; overflow of theta^2 gives 0, its limit.
    let t = theta.signum() / (theta.abs() + (theta * theta + 1.0).sqrt());
    let t = if theta == 0.0 { 1.0 } else { t };
    let c = 1.0 / (t * t + 1.0).sqrt();
    let s = t * c;
    for k in 0..n {
        let (x, y) = (a.get(k, p), a.get(k, q));
        a.set(k, p, c * x - s * y);
        a.set(k, q, s * x + c * y);
    }
    for k in 0..n {
        let (x, y) = (a.get(p, k), a.get(q, k));
        a.set(p, k, c * x - s * y);
        a.set(q, k, s * x + c * y);
        let (x, y) = (vectors.get(k, p), vectors.get(k, q));
        vectors.set(k, p, c * x - s * y);
        vectors.set(k, q, s * x + c * y);
    }
    a.set(p, q, 0.0);
    a.set(q, p, 0.0);
}

#[cfg(test)]
mod tests {
    use super::*;
    use bagwise_core::Rng;

    /// The largest entry of A V - V diag(values), and of V'V - I.
    fn errors(a: &Mat, values: &[f64], vectors: &Mat) -> (f64, f64) {
        let n = a.rows();
        let (mut residual, mut skew) = (0.0f64, 0.0f64);
        for i in 0..n {
            for j in 0..n {
                let av: f64 = (0..n).map(|k| a.get(i, k) * vectors.get(k, j)).sum();
                residual = residual.max((av - vectors.get(i, j) * values[j]).abs());
                let vv: f64 = (0..n).map(|k| vectors.get(k, i) * vectors.get(k, j)).sum();
                skew = skew.max((vv - if i == j { 1.0 } else { 0.0 }).abs());
            }
        }
        (residual, skew)
    }

    #[test]
    fn random_and_degenerate_matrices_are_taken_apart() {
        let mut rng = Rng::new(1, "eigen", &[]);
        for n in [1, 2, 3, 10, 40] {
            let mut a = Mat::zeros(n, n);
            for i in 0..n {
                for j in 0..=i {
                    let v = rng.normal();
                    a.set(i, j, v);
                    a.set(j, i, v);
                }
            }
            for a in [a, Mat::zeros(n, n), Mat::new(n, n, vec![1.0; n * n])] {
                let (values, vectors) = symmetric_eigen(a.clone());
                let (residual, skew) = errors(&a, &values, &vectors);
                // Entries of size 1 and sums of up to 40 of them: some hundred roundings.
                assert!(residual < 1e-13 * n as f64 && skew < 1e-13, "n = {n}: {residual:e} {skew:e}");
                assert!(values.windows(2).all(|w| w[0] >= w[1]));
            }
        }
    }

    #[test]
    fn known_eigenvalues() {
        let (values, vectors) = symmetric_eigen(Mat::new(2, 2, vec![2.0, -1.0, -1.0, 2.0]));
        // One rotation by 45 degrees: a few roundings.
        assert!((values[0] - 3.0).abs() < 1e-15 && (values[1] - 1.0).abs() < 1e-15, "{values:?}");
        assert!((vectors.get(0, 1) - 0.5f64.sqrt()).abs() < 1e-15);
    }
}
