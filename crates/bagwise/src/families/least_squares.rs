//! Least squares by the pseudo-inverse: the shortest solution, with singular values that are too small taken for 0.
//!
//! One-sided Jacobi rotations make the columns orthogonal; their lengths are then the singular values. Some ten sweeps of
//! rows x columns^2 multiply-adds, the same bits on every run, and accurate for singular values of very different size.
//! Golub, van Loan: Matrix Computations, section 8.6.

use bagwise_core::{Ctx, Mat, Result};
use bagwise_engine::dot;

/// Sweeps after which we stop whatever is left: convergence is quadratic and takes six to ten.
const SWEEPS: usize = 40;

/// `argmin |A x - b|`, of minimal length; singular values up to `smallest` times the largest count as 0.
pub(crate) fn solve_least_squares(a: Mat, b: &[f64], smallest: f64, ctx: &Ctx) -> Result<Vec<f64>> {
    let (rows, count) = (a.rows(), a.cols());
    // Columns as rows, and the rotations beside them.
    let mut columns: Vec<Vec<f64>> = (0..count).map(|j| (0..rows).map(|i| a.get(i, j)).collect()).collect();
    let mut turned: Vec<Vec<f64>> =
        (0..count).map(|j| (0..count).map(|k| f64::from(u8::from(j == k))).collect()).collect();
    for _ in 0..SWEEPS {
        ctx.check()?;
        let mut largest = 0.0f64;
        for p in 0..count {
            for q in p + 1..count {
                let [pp, qq, pq] = [(p, p), (q, q), (p, q)].map(|(i, j)| dot(&columns[i], &columns[j]));
                let scale = (pp * qq).sqrt();
                if pq == 0.0 || pq.abs() <= f64::EPSILON * scale {
                    continue;
                }
                largest = largest.max(pq.abs() / scale);
                let theta = (qq - pp) / (2.0 * pq);
                let t = theta.signum() / (theta.abs() + (theta * theta + 1.0).sqrt());
                let t = if theta == 0.0 { 1.0 } else { t };
                let c = 1.0 / (t * t + 1.0).sqrt();
                rotate(&mut columns, p, q, c, c * t);
                rotate(&mut turned, p, q, c, c * t);
            }
        }
        if largest <= 1e-15 {
            break;
        }
    }
    let squared: Vec<f64> = columns.iter().map(|u| dot(u, u)).collect();
    let most = squared.iter().copied().fold(0.0, f64::max);
    let mut x = vec![0.0; count];
    for ((u, v), s) in columns.iter().zip(&turned).zip(squared) {
        if s.sqrt() > smallest * most.sqrt() {
            let along = dot(u, b) / s;
            x.iter_mut().zip(v).for_each(|(x, v)| *x += along * v);
        }
    }
    Ok(x)
}

fn rotate(vectors: &mut [Vec<f64>], p: usize, q: usize, c: f64, s: f64) {
    let (before, from) = vectors.split_at_mut(q);
    for (x, y) in before[p].iter_mut().zip(&mut from[0]) {
        (*x, *y) = (c * *x - s * *y, s * *x + c * *y);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_shortest_of_all_solutions_is_found() {
        // The third column is the sum of the others: x = (2, 1, 0) + t (1, 1, -1), shortest for t = -1.
        let a = Mat::from_rows(&[[1.0, 0.0, 1.0], [0.0, 1.0, 1.0], [1.0, 1.0, 2.0], [2.0, 1.0, 3.0]]);
        let b: Vec<f64> = (0..4).map(|i| 2.0 * a.get(i, 0) + a.get(i, 1)).collect();
        let x = solve_least_squares(a, &b, 1e-10, &Ctx::default()).unwrap();
        x.iter().zip([1.0, 0.0, 1.0]).for_each(|(x, e)| assert!((x - e).abs() < 1e-14, "{x} and {e}"));
    }
}
