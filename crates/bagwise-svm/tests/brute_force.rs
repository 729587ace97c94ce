//! Three and four points, solved by trying every combination of bounds.
//!
//! A coefficient is at its lower bound, its upper bound, at zero, or free and positive or negative. For each
//! combination the free ones and the bias solve a linear system; the feasible combination with the smallest
//! objective is the answer.

mod common;

use bagwise_svm::{Dual, Form, Gram, SmoParams, fit};
use common::{Random, audit, gram, points, rbf, upto};

/// Gaussian elimination with pivoting; `None` if singular.
fn solve(mut a: Vec<Vec<f64>>, mut y: Vec<f64>) -> Option<Vec<f64>> {
    let n = y.len();
    for c in 0..n {
        let pivot = (c..n).max_by(|&p, &q| a[p][c].abs().total_cmp(&a[q][c].abs()))?;
        if a[pivot][c].abs() < 1e-12 {
            return None;
        }
        a.swap(c, pivot);
        y.swap(c, pivot);
        for r in c + 1..n {
            let factor = a[r][c] / a[c][c];
            for k in c..n {
                a[r][k] -= factor * a[c][k];
            }
            y[r] -= factor * y[c];
        }
    }
    for c in (0..n).rev() {
        let known: f64 = (c + 1..n).map(|k| a[c][k] * y[k]).sum();
        y[c] = (y[c] - known) / a[c][c];
    }
    Some(y)
}

fn enumerate(k: &[f64], dual: &Dual) -> f64 {
    let n = dual.len();
    let mut best: f64 = 0.0; // zero is always feasible
    for code in 0..5usize.pow(n as u32) {
        let state: Vec<usize> = (0..n).map(|i| code / 5usize.pow(i as u32) % 5).collect();
        let mut b: Vec<f64> =
            (0..n).map(|i| [dual.lower[i], dual.upper[i], 0.0, 0.0, 0.0][state[i]]).collect();
        let free: Vec<usize> = (0..n).filter(|&i| state[i] >= 3).collect();
        if !free.is_empty() {
            let m = free.len();
            let mut a = vec![vec![0.0; m + 1]; m + 1];
            let mut y = vec![0.0; m + 1];
            for (r, &i) in free.iter().enumerate() {
                for (c, &j) in free.iter().enumerate() {
                    a[r][c] = k[i * n + j];
                }
                (a[r][m], a[m][r]) = (1.0, 1.0);
                let sign = if state[i] == 3 { 1.0 } else { -1.0 };
                let fixed: f64 = (0..n).map(|j| k[i * n + j] * b[j]).sum();
                y[r] = dual.linear[i] - sign * dual.tube - fixed;
            }
            y[m] = -b.iter().sum::<f64>();
            let Some(solution) = solve(a, y) else { continue };
            for (r, &i) in free.iter().enumerate() {
                b[i] = solution[r];
            }
        }
        let feasible = b.iter().sum::<f64>().abs() < 1e-9
            && (0..n).all(|i| b[i] >= dual.lower[i] - 1e-12 && b[i] <= dual.upper[i] + 1e-12);
        if feasible {
            let mut objective = 0.0;
            for i in 0..n {
                let output: f64 = (0..n).map(|j| k[i * n + j] * b[j]).sum();
                objective += 0.5 * b[i] * output - dual.linear[i] * b[i] + dual.tube * b[i].abs();
            }
            best = best.min(objective);
        }
    }
    best
}

#[test]
fn three_and_four_points() {
    let params = SmoParams { tolerance: 1e-12, ..SmoParams::default() };
    for seed in 0..60 {
        for n in [3, 4] {
            let data = points(n, 2, seed);
            let k = gram(&data.x, rbf(0.7));
            let mut random = Random(seed);
            let limits: Vec<f64> = (0..n).map(|_| 3.0 * random.uniform()).collect();
            for form in [
                Form::Classify { labels: &data.labels },
                Form::Regress { targets: &data.targets, tube: 0.0 },
                Form::Regress { targets: &data.targets, tube: 0.2 },
            ] {
                let index = upto(n);
                let machine = fit(&Gram::new(&k, n, &index), form, &limits, None, &params);
                let expected = enumerate(&k, &form.dual(&limits));
                let found = audit(&k, form, &limits, &machine.coefficients).objective;
                // Feasibility is granted to 1e-9 in the enumeration, whose slope is of order one.
                assert!(
                    (found - expected).abs() < 1e-8,
                    "seed {seed}, n {n}, {form:?}: {found}, not {expected}"
                );
            }
        }
    }
}
