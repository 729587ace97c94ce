//! Ridge logistic regression on rows: `min |w|^2 / 2 + sum_i cost_i log(1 + exp(-y_i f(x_i)))`, `f(x) = w x + b`, by
//! Newton's method.
//!
//! The matrix of the second derivatives at w = 0 is set up and factored, N d^2 / 2 multiply-adds; up to a factor it is the same
//! for all costs. The system of each step is then solved by conjugate gradients, with that factor as the preconditioner: 2 N d
//! for each of their steps and no matrix, some thirty in all. Where they become many, the matrix is set up anew. With more than
//! [`MOST_COLUMNS`] columns there is no preconditioner. Steps that do not lower the objective are halved, so that it never
//! rises.

use rayon::prelude::*;

use bagwise_core::{Ctx, Instances, Mat, Result};
use bagwise_engine::scatter::{CholeskyFactor, weighted_scatter};
use bagwise_engine::{add_row_products, add_weighted_rows};
use bagwise_svm::{Features, SolveOutcome, StopReason};

/// Columns up to which second derivatives are set up: 32 MB.
const MOST_COLUMNS: usize = 2000;

/// Steps of Newton's method; it needs ten, more where costs are huge.
const MOST_STEPS: usize = 100;

/// Conjugate gradients for one step without a preconditioner; a step that is not exact costs one more of Newton's.
const MOST_GRADIENTS: usize = 500;

/// Rows that a thread sums at a time. Sums of blocks are added in their order, on any number of threads.
const BLOCK: usize = 2048;

/// Rows that stay in the first-level cache between their products and their sum.
const NEAR: usize = 16;

/// The solution.
#[derive(Clone, Debug)]
pub(crate) struct Logistic {
    pub(crate) weights: Vec<f64>,
    pub(crate) bias: f64,
    pub(crate) outcome: SolveOutcome,
}

/// Rows with their labels. `features` are the numbers of `rows`.
pub(crate) struct LogisticProblem<'a> {
    pub(crate) rows: &'a Instances,
    pub(crate) features: Features<'a>,
    /// +1 or -1.
    pub(crate) y: &'a [f64],
    /// What each row weighs: its cost is this times the cost of the problem.
    pub(crate) shares: &'a [f64],
}

/// `log(1 + exp(-z))` and `1 / (1 + exp(z))`, without overflow.
fn loss(z: f64) -> (f64, f64) {
    let small = (-z.abs()).exp();
    let wrong = if z > 0.0 { small / (1.0 + small) } else { 1.0 / (1.0 + small) };
    ((-z).max(0.0) + small.ln_1p(), wrong)
}

fn largest(slopes: &[f64]) -> f64 {
    slopes.iter().fold(0.0, |m: f64, s| m.max(s.abs()))
}

fn product(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

/// One visit of all rows.
struct Visit {
    /// The sum of the rows by their factors, and the sum of the factors behind it.
    sum: Vec<f64>,
    factors: Vec<f64>,
    loss: f64,
}

/// The objective at some weights, its slopes, and what each row adds to the curvature.
struct IteratePoint {
    w: Vec<f64>,
    value: f64,
    slopes: Vec<f64>,
    curvatures: Vec<f64>,
}

impl LogisticProblem<'_> {
    /// Solves for each of the costs until no slope is above `tolerance` times the cost (at least 1), or until rounding ends
    /// all progress.
    pub(crate) fn solve(&self, costs: &[f64], tolerance: f64, ctx: &Ctx) -> Result<Vec<Logistic>> {
        let start = match self.rows.cols() <= MOST_COLUMNS {
            // At w = 0 every row is as probable as not.
            true => {
                let quarters: Vec<f64> = self.shares.iter().map(|s| 0.25 * s).collect();
                Some(self.curvature(&quarters, ctx)?)
            }
            false => None,
        };
        costs.iter().map(|&cost| self.solve_one(cost, start.as_ref(), tolerance, ctx)).collect()
    }

    fn solve_one(&self, cost: f64, start: Option<&Mat>, tolerance: f64, ctx: &Ctx) -> Result<Logistic> {
        let d = self.rows.cols();
        // More conjugate gradients than this take longer than a new matrix.
        let many = 8 + d / 16;
        // The weights, and the bias behind them.
        let mut at = self.place(vec![0.0; d + 1], cost);
        let mut factor = start.and_then(|start| with_ridge(start, cost));
        let (mut steps, mut status, mut last) = (0, StopReason::IterationLimit, 0);
        while steps < MOST_STEPS {
            ctx.check()?;
            if largest(&at.slopes) <= tolerance * cost.max(1.0) {
                status = StopReason::Converged;
                break;
            }
            let step = if steps > 0 && start.is_some() && (factor.is_none() || last > many) {
                last = 0;
                factor = with_ridge(&self.curvature(&at.curvatures, ctx)?, 1.0);
                match &factor {
                    Some(factor) => factor.solve(at.slopes.clone()),
                    // Rounding errors make the system unsolvable.
                    None => {
                        status = StopReason::PrecisionLimit;
                        break;
                    }
                }
            } else {
                let most = if factor.is_some() { 4 * many } else { MOST_GRADIENTS };
                let (step, used) = self.conjugate_gradients(&at, factor.as_ref(), most, ctx)?;
                last = used;
                step
            };
            let mut share = 1.0;
            let moved = loop {
                let next: Vec<f64> = at.w.iter().zip(&step).map(|(w, s)| w - share * s).collect();
                let next = self.place(next, cost);
                // The last steps change the objective by less than its last digit, and still the solution.
                if next.value < at.value || share == 1.0 && ends(&at, &next) {
                    break Some(next);
                }
                share *= 0.5;
                if share < 1e-10 {
                    break None;
                }
            };
            steps += 1;
            let Some(next) = moved else {
                status = StopReason::PrecisionLimit;
                break;
            };
            at = next;
        }
        let outcome = SolveOutcome {
            status,
            iterations: steps,
            objective: at.value,
            kkt_gap: largest(&at.slopes),
            duality_gap: 0.0,
        };
        let bias = at.w.pop().unwrap_or(0.0);
        Ok(Logistic { weights: at.w, bias, outcome })
    }

    /// Visits every row i with its output f: `each(i, f)` gives its factor in the sum of rows, and its loss.
    fn visit(&self, v: &[f64], each: impl Fn(usize, f64) -> (f64, f64) + Sync) -> Visit {
        let (n, d) = (self.y.len(), v.len() - 1);
        let of_block = |block: usize| {
            let rows = block * BLOCK..((block + 1) * BLOCK).min(n);
            let mut own = Visit { sum: vec![0.0; d + 1], factors: Vec::with_capacity(rows.len()), loss: 0.0 };
            for first in rows.clone().step_by(NEAR) {
                let near = first..(first + NEAR).min(rows.end);
                let mut outputs = [0.0; NEAR];
                match self.features {
                    Features::Dense { values, .. } => {
                        let values = &values[near.start * d..near.end * d];
                        add_row_products(values, &v[..d], d, &mut outputs[..near.len()], 1);
                    }
                    _ => near.clone().for_each(|i| outputs[i - first] = self.features.dot(i, &v[..d])),
                }
                for i in near.clone() {
                    let (factor, loss) = each(i, outputs[i - first] + v[d]);
                    own.factors.push(factor);
                    own.sum[d] += factor;
                    own.loss += loss;
                }
                let factors = &own.factors[own.factors.len() - near.len()..];
                match self.features {
                    Features::Dense { values, .. } => {
                        add_weighted_rows(&values[near.start * d..near.end * d], factors, &mut own.sum[..d]);
                    }
                    _ => near.zip(factors).for_each(|(i, f)| self.features.add_to(i, *f, &mut own.sum[..d])),
                }
            }
            own
        };
        let mut blocks: Vec<Visit> = match n.div_ceil(BLOCK) {
            1 => vec![of_block(0)],
            blocks => (0..blocks).into_par_iter().map(of_block).collect(),
        };
        let mut all = blocks.remove(0);
        for block in blocks {
            all.sum.iter_mut().zip(&block.sum).for_each(|(all, own)| *all += own);
            all.factors.extend(block.factors);
            all.loss += block.loss;
        }
        all
    }

    fn place(&self, w: Vec<f64>, cost: f64) -> IteratePoint {
        let d = w.len() - 1;
        let visit = self.visit(&w, |i, f| {
            let (cost, y) = (cost * self.shares[i], self.y[i]);
            let (loss, wrong) = loss(y * f);
            (-cost * y * wrong, cost * loss)
        });
        let mut slopes = visit.sum;
        slopes[..d].iter_mut().zip(&w).for_each(|(slope, w)| *slope += w);
        let of_row = |(factor, share): (&f64, &f64)| {
            let cost = cost * share;
            if cost > 0.0 { factor.abs() * (1.0 - factor.abs() / cost) } else { 0.0 }
        };
        let curvatures = visit.factors.iter().zip(self.shares).map(of_row).collect();
        let value = 0.5 * product(&w[..d], &w[..d]) + visit.loss;
        IteratePoint { w, value, slopes, curvatures }
    }

    /// `sum_i s_i x_i x_i'`, with a constant column behind the others.
    fn curvature(&self, curvatures: &[f64], ctx: &Ctx) -> Result<Mat> {
        let d = self.rows.cols();
        let inner = weighted_scatter(self.rows, curvatures, ctx)?;
        let last = self.visit(&vec![0.0; d + 1], |i, _| (curvatures[i], 0.0)).sum;
        let mut all = Mat::zeros(d + 1, d + 1);
        for i in 0..d {
            all.row_mut(i)[..d].copy_from_slice(inner.row(i));
            all.set(i, d, last[i]);
        }
        all.row_mut(d).copy_from_slice(&last);
        Ok(all)
    }

    /// The step of Newton's method to a tenth of the slopes, or closer near the end; and how many gradients it took.
    fn conjugate_gradients(
        &self,
        at: &IteratePoint,
        factor: Option<&CholeskyFactor>,
        most: usize,
        ctx: &Ctx,
    ) -> Result<(Vec<f64>, usize)> {
        let d = at.w.len() - 1;
        let image = |v: &[f64]| {
            let mut out = self.visit(v, |i, f| (at.curvatures[i] * f, 0.0)).sum;
            out[..d].iter_mut().zip(v).for_each(|(out, v)| *out += v);
            out
        };
        let precondition = |rest: &[f64]| match factor {
            Some(factor) => factor.solve(rest.to_vec()),
            None => rest.to_vec(),
        };
        let (mut step, mut rest) = (vec![0.0; d + 1], at.slopes.clone());
        let mut direction = precondition(&rest);
        let mut length = product(&rest, &direction);
        let enough = length * largest(&at.slopes).min(0.1).powi(2);
        let mut used = 0;
        while used < most && length > enough {
            ctx.check()?;
            let image = image(&direction);
            let curvature = product(&direction, &image);
            if curvature <= 0.0 || curvature.is_nan() {
                break;
            }
            let along = length / curvature;
            step.iter_mut().zip(&direction).for_each(|(s, x)| *s += along * x);
            rest.iter_mut().zip(&image).for_each(|(r, x)| *r -= along * x);
            let turned = precondition(&rest);
            let next = product(&rest, &turned);
            direction.iter_mut().zip(&turned).for_each(|(x, t)| *x = t + next / length * *x);
            length = next;
            used += 1;
        }
        Ok((step, used))
    }
}

/// The factor of `cost` times second derivatives of the losses, and of the ridge.
fn with_ridge(curvature: &Mat, cost: f64) -> Option<CholeskyFactor> {
    let d = curvature.rows() - 1;
    let mut system = curvature.clone();
    system.data_mut().iter_mut().for_each(|v| *v *= cost);
    (0..d).for_each(|i| system.set(i, i, system.get(i, i) + 1.0));
    CholeskyFactor::new(system)
}

/// True if a step changes the objective by no more than rounding, and lowers the slopes.
fn ends(at: &IteratePoint, next: &IteratePoint) -> bool {
    (next.value - at.value).abs() <= 1e-12 * at.value.abs() && largest(&next.slopes) < largest(&at.slopes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use bagwise_core::{Mat, Rng};

    #[test]
    fn conjugate_gradients_end_at_the_same_place_with_and_without_a_factor() {
        let mut rng = Rng::new(3, "logistic", &[]);
        let (n, d) = (80, 5);
        let values: Vec<f64> = (0..n * d).map(|_| rng.normal()).collect();
        let y: Vec<f64> =
            (0..n).map(|i| if values[i * d] + rng.normal() > 0.0 { 1.0 } else { -1.0 }).collect();
        // The same columns, and so many without a number that no matrix is set up.
        let solve = |columns: usize| {
            let wide: Vec<f64> = (0..n * columns)
                .map(|k| if k % columns < d { values[k / columns * d + k % columns] } else { 0.0 })
                .collect();
            let rows = Instances::F64(Mat::new(n, columns, wide.clone()));
            let features = Features::Dense { values: &wide, columns };
            LogisticProblem { rows: &rows, features, y: &y, shares: &vec![1.0; n] }
                .solve(&[10.0], 1e-12, &Ctx::default())
                .unwrap()
                .remove(0)
        };
        let (few, many) = (solve(d), solve(MOST_COLUMNS + 1));
        assert_eq!(few.outcome.status, StopReason::Converged);
        assert_eq!(many.outcome.status, StopReason::Converged);
        // Slopes of 1e-11, curvatures of at least 1.
        assert!((few.bias - many.bias).abs() < 1e-10);
        few.weights.iter().zip(&many.weights).for_each(|(a, b)| assert!((a - b).abs() < 1e-10));
    }

    #[test]
    fn a_solution_depends_neither_on_threads_nor_on_storage_nor_on_other_costs() {
        let mut rng = Rng::new(4, "logistic", &[]);
        // Several blocks of rows, the last not whole, and columns that differ much in size.
        let (n, d) = (2 * BLOCK + 37, 20);
        let values: Vec<f64> =
            (0..n * d).map(|k| rng.normal() * (1.0 + 30.0 * f64::from(u8::from(k % d == 3)))).collect();
        let y: Vec<f64> =
            (0..n).map(|i| if values[i * d] + 0.1 * rng.normal() > 0.0 { 1.0 } else { -1.0 }).collect();
        let shares: Vec<f64> = (0..n).map(|i| 1.0 / (1 + i % 5) as f64).collect();
        let rows = Instances::F64(Mat::new(n, d, values.clone()));
        let features = Features::Dense { values: &values, columns: d };
        let problem = LogisticProblem { rows: &rows, features, y: &y, shares: &shares };
        let solve = |costs: &[f64]| problem.solve(costs, 1e-11, &Ctx::default()).unwrap();
        let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
        let costs = [0.01, 1.0, 100.0];
        let all = solve(&costs);
        for ((cost, found), alone) in costs.iter().zip(&all).zip(pool.install(|| solve(&costs))) {
            assert_eq!((&found.weights, found.bias), (&alone.weights, alone.bias), "threads, cost {cost}");
            let alone = &solve(&[*cost])[0];
            assert_eq!((&found.weights, found.bias), (&alone.weights, alone.bias), "cost {cost} alone");
            assert_eq!(found.outcome.status, StopReason::Converged, "cost {cost}");
            // The gradient, by its definition.
            let mut slopes = found.weights.clone();
            let mut of_bias = 0.0;
            for i in 0..n {
                let row = &values[i * d..(i + 1) * d];
                let f = product(row, &found.weights) + found.bias;
                let factor = -cost * shares[i] * y[i] / (1.0 + (y[i] * f).exp());
                slopes.iter_mut().zip(row).for_each(|(s, x)| *s += factor * x);
                of_bias += factor;
            }
            // Sums of thousands of terms of size cost in another order.
            let tolerance = 1e-9 * cost.max(1.0);
            assert!(largest(&slopes) < tolerance && of_bias.abs() < tolerance, "cost {cost}: {slopes:?}");
        }
        let mut csr = bagwise_core::Csr::empty(d);
        let of_row = |i: usize| (0..d as u32).zip(values[i * d..(i + 1) * d].iter().copied());
        (0..n).for_each(|i| csr.push_row(of_row(i)));
        let features = Features::Sparse {
            starts: csr.indptr(),
            indices: csr.indices(),
            values: csr.values(),
            columns: d,
        };
        let sparse = LogisticProblem { rows: &rows, features, y: &y, shares: &shares };
        let sparse = sparse.solve(&costs, 1e-11, &Ctx::default()).unwrap();
        for (a, b) in sparse.iter().zip(&all) {
            a.weights.iter().zip(&b.weights).for_each(|(a, b)| assert!((a - b).abs() < 1e-8, "{a} {b}"));
        }
    }
}
