//! Eigenvalues and eigenvectors of a symmetric matrix of up to a thousand rows or so.
//!
//! Householder reflections make the matrix tridiagonal, and implicit QL steps make that diagonal: about `9 n^3`
//! multiply-adds, a fifth of what the rotations of `eigen` take, all along rows. Small eigenvalues are right to rounding
//! of the largest, which is all that shares of variance need. Golub, van Loan: Matrix Computations, sections 8.3.1 and 8.3.3.

use crate::simd::dot;
use bagwise_core::{Ctx, Mat, Result};

/// Implicit QL steps for one eigenvalue; two or three are usual.
const STEPS: usize = 60;

/// Eigenvalues in descending order and the eigenvectors as rows, each with its largest entry positive.
pub(crate) fn symmetric_eigen_rows(a: Mat, ctx: &Ctx) -> Result<(Vec<f64>, Mat)> {
    let n = a.rows();
    let (mut diagonal, mut beside, mut vectors) = tridiagonal(a, ctx)?;
    diagonalise(&mut diagonal, &mut beside, &mut vectors, ctx)?;
    let mut order: Vec<usize> = (0..n).collect();
    order.sort_by(|&i, &j| diagonal[j].total_cmp(&diagonal[i]));
    let values = order.iter().map(|&i| diagonal[i]).collect();
    let mut sorted = vectors.gather(&order);
    for i in 0..n {
        let row = sorted.row_mut(i);
        let largest = row.iter().fold(0.0f64, |m, &v| if v.abs() > m.abs() { v } else { m });
        if largest < 0.0 {
            row.iter_mut().for_each(|v| *v = -*v);
        }
    }
    Ok((values, sorted))
}

/// The least eigenvalue of a symmetric matrix.
pub fn least_eigenvalue(a: &Mat, ctx: &Ctx) -> Result<f64> {
    Ok(symmetric_eigen_rows(a.clone(), ctx)?.0.last().copied().unwrap_or(0.0))
}

/// The diagonal, what stands beside it, and the transposed orthogonal matrix: `A = Q T Q'`, rows of Q' are returned.
fn tridiagonal(mut a: Mat, ctx: &Ctx) -> Result<(Vec<f64>, Vec<f64>, Mat)> {
    let n = a.rows();
    let mut reflections: Vec<(Vec<f64>, f64)> = Vec::with_capacity(n);
    let mut beside = vec![0.0; n];
    for k in 0..n.saturating_sub(1) {
        ctx.check()?;
        let mut v: Vec<f64> = a.row(k)[k + 1..].to_vec();
        let scale = v.iter().fold(0.0f64, |m, x| m.max(x.abs()));
        let length =
            if scale > 0.0 { scale * v.iter().map(|x| (x / scale).powi(2)).sum::<f64>().sqrt() } else { 0.0 };
        // Nothing but the first entry: nothing to reflect.
        if v[1..].iter().all(|&x| x == 0.0) {
            beside[k] = v[0];
            reflections.push((Vec::new(), 0.0));
            continue;
        }
        let alpha = if v[0] > 0.0 { -length } else { length };
        beside[k] = alpha;
        v[0] -= alpha;
        // In units of its largest entry: squares of tiny numbers would vanish.
        let unit = v.iter().fold(0.0f64, |m, x| m.max(x.abs()));
        v.iter_mut().for_each(|x| *x /= unit);
        let beta = 2.0 / dot(&v, &v);
        let mut p: Vec<f64> = (k + 1..n).map(|i| beta * dot(&a.row(i)[k + 1..], &v)).collect();
        let half = 0.5 * beta * dot(&p, &v);
        p.iter_mut().zip(&v).for_each(|(p, v)| *p -= half * v);
        for i in k + 1..n {
            let (vi, wi) = (v[i - k - 1], p[i - k - 1]);
            let row = &mut a.row_mut(i)[k + 1..];
            row.iter_mut().zip(v.iter().zip(&p)).for_each(|(a, (v, w))| *a -= vi * w + wi * v);
        }
        reflections.push((v, beta));
    }
    let diagonal = (0..n).map(|i| a.get(i, i)).collect();
    // Q = H_0 H_1 …, and its transpose is built from the last reflection on: rows of Q' = … H_1 H_0.
    let mut rows = Mat::zeros(n, n);
    (0..n).for_each(|i| rows.set(i, i, 1.0));
    for (k, (v, beta)) in reflections.iter().enumerate().rev() {
        if v.is_empty() {
            continue;
        }
        ctx.check()?;
        for i in k + 1..n {
            let row = &mut rows.row_mut(i)[k + 1..];
            let along = beta * dot(row, v);
            row.iter_mut().zip(v).for_each(|(x, v)| *x -= along * v);
        }
    }
    Ok((diagonal, beside, rows))
}

/// Implicit QL with Wilkinson's shift; `vectors` are turned along, row by row.
fn diagonalise(d: &mut [f64], e: &mut [f64], vectors: &mut Mat, ctx: &Ctx) -> Result<()> {
    let n = d.len();
    for l in 0..n {
        ctx.check()?;
        for _ in 0..STEPS {
            let negligible = |i: usize, d: &[f64], e: &[f64]| {
                e[i].abs() <= f64::EPSILON * (d[i].abs() + d[i + 1].abs()) || e[i].abs() < f64::MIN_POSITIVE
            };
            let m = (l..n - 1).find(|&i| negligible(i, d, e)).unwrap_or(n - 1);
            if m == l {
                break;
            }
            let mut g = (d[l + 1] - d[l]) / (2.0 * e[l]);
            let r = g.hypot(1.0);
            g = d[m] - d[l] + e[l] / (g + if g >= 0.0 { r } else { -r });
            let (mut s, mut c, mut p) = (1.0, 1.0, 0.0);
            let mut stopped = false;
            for i in (l..m).rev() {
                let (f, b) = (s * e[i], c * e[i]);
                let r = f.hypot(g);
                e[i + 1] = r;
                if r == 0.0 {
                    d[i + 1] -= p;
                    e[m] = 0.0;
                    stopped = true;
                    break;
                }
                s = f / r;
                c = g / r;
                g = d[i + 1] - p;
                let r = (d[i] - g) * s + 2.0 * c * b;
                p = s * r;
                d[i + 1] = g + p;
                g = c * r - b;
                let width = vectors.cols();
                let (above, below) = vectors.data_mut().split_at_mut((i + 1) * width);
                let pair = above[i * width..].iter_mut().zip(&mut below[..width]);
                pair.for_each(|(x, y)| (*y, *x) = (s * *x + c * *y, c * *x - s * *y));
            }
            if stopped {
                continue;
            }
            d[l] -= p;
            e[l] = g;
            e[m] = 0.0;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::eigen::symmetric_eigen;
    use bagwise_core::Rng;

    #[test]
    fn values_and_vectors_are_those_of_rotations() {
        let mut rng = Rng::new(2, "tridiagonal", &[]);
        let ctx = Ctx::default();
        for n in [1, 2, 3, 17, 60] {
            // A product with its transpose, of half the rank, so that many eigenvalues are equal to 0.
            let half = Mat::new(n, n.div_ceil(2), (0..n * n.div_ceil(2)).map(|_| rng.normal()).collect());
            let mut a = Mat::zeros(n, n);
            for i in 0..n {
                (0..n).for_each(|j| a.set(i, j, dot(half.row(i), half.row(j))));
            }
            for a in [a, Mat::zeros(n, n), Mat::new(n, n, vec![1.0; n * n])] {
                let (values, vectors) = symmetric_eigen_rows(a.clone(), &ctx).unwrap();
                let (exact, _) = symmetric_eigen(a.clone());
                let scale = exact[0].abs().max(1e-300);
                for i in 0..n {
                    // Some hundred roundings of the largest.
                    assert!(
                        (values[i] - exact[i]).abs() < 1e-13 * scale,
                        "n = {n}: {} {}",
                        values[i],
                        exact[i]
                    );
                    for j in 0..n {
                        let along = dot(a.row(j), vectors.row(i));
                        assert!((along - values[i] * vectors.get(i, j)).abs() < 1e-13 * scale, "n = {n}");
                        let skew = dot(vectors.row(i), vectors.row(j)) - f64::from(u8::from(i == j));
                        assert!(skew.abs() < 1e-13, "n = {n}: {skew:e}");
                    }
                }
            }
        }
    }

    #[test]
    fn tiny_and_huge_entries_are_no_trouble() {
        for scale in [1e-150, 1e150] {
            let a =
                Mat::new(3, 3, [2.0, -1.0, 0.5, -1.0, 2.0, 0.25, 0.5, 0.25, 1.0].map(|v| v * scale).to_vec());
            let (values, _) = symmetric_eigen_rows(a, &Ctx::default()).unwrap();
            let sum: f64 = values.iter().sum();
            // The trace, to rounding.
            assert!((sum / scale - 5.0).abs() < 1e-14, "{values:?}");
        }
    }
}
