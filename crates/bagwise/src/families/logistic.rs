//! Ridge logistic regression on rows: `min |w|^2 / 2 + sum_i cost_i log(1 + exp(-y_i f(x_i)))`, `f(x) = w x + b`, by
//! Newton's method.
//!
//! A step solves a system of d + 1 equations, N d^2 / 2 multiply-adds to set up, and some ten steps reach the end; with
//! more than [`MOST_COLUMNS`] columns the system is solved by conjugate gradients, 2 N d for each of their steps and no
//! matrix. Steps that do not lower the objective are halved, so that it never rises.

use bagwise_svm::{Features, SolveOutcome, StopReason};

use bagwise_core::{Ctx, Instances, Result};
use bagwise_engine::scatter::{solve_positive, weighted_scatter};

/// Columns up to which Newton's system is set up: 32 MB.
const MOST_COLUMNS: usize = 2000;

/// Steps of Newton's method; it needs ten, more where costs are huge.
const MOST_STEPS: usize = 100;

/// The solution.
#[derive(Clone, Debug)]
pub(crate) struct Logistic {
    pub(crate) weights: Vec<f64>,
    pub(crate) bias: f64,
    pub(crate) outcome: SolveOutcome,
}

/// One problem. `features` are the numbers of `rows`.
pub(crate) struct LogisticProblem<'a> {
    pub(crate) rows: &'a Instances,
    pub(crate) features: Features<'a>,
    /// +1 or -1.
    pub(crate) y: &'a [f64],
    pub(crate) costs: &'a [f64],
}

/// `log(1 + exp(-z))` and `1 / (1 + exp(z))`, without overflow.
fn loss(z: f64) -> (f64, f64) {
    let small = (-z.abs()).exp();
    let wrong = if z > 0.0 { small / (1.0 + small) } else { 1.0 / (1.0 + small) };
    ((-z).max(0.0) + small.ln_1p(), wrong)
}

impl LogisticProblem<'_> {
    /// Solves until no slope is above `tolerance`, or until rounding ends all progress.
    pub(crate) fn solve(&self, tolerance: f64, ctx: &Ctx) -> Result<Logistic> {
        let d = self.rows.cols();
        // The weights, and the bias behind them.
        let mut w = vec![0.0; d + 1];
        let mut value = self.objective(&w);
        let (mut steps, mut status, mut largest) = (0, StopReason::IterationLimit, f64::INFINITY);
        while steps < MOST_STEPS {
            ctx.check()?;
            let (slopes, curvatures) = self.slopes(&w);
            largest = slopes.iter().fold(0.0, |m: f64, s| m.max(s.abs()));
            if largest <= tolerance {
                status = StopReason::Converged;
                break;
            }
            let step = match d <= MOST_COLUMNS {
                true => self.newton(&slopes, &curvatures, ctx)?,
                false => Some(self.conjugate_gradients(&slopes, &curvatures, ctx)?),
            };
            let Some(step) = step else {
                status = StopReason::PrecisionLimit;
                break;
            };
            let mut share = 1.0;
            let moved = loop {
                let next: Vec<f64> = w.iter().zip(&step).map(|(w, s)| w - share * s).collect();
                let lower = self.objective(&next);
                if lower < value {
                    break Some((next, lower));
                }
                share *= 0.5;
                if share < 1e-10 {
                    break None;
                }
            };
            steps += 1;
            match moved {
                Some((next, lower)) => (w, value) = (next, lower),
                None => {
                    // The last steps change the objective by less than its last digit, and still the solution.
                    let next: Vec<f64> = w.iter().zip(&step).map(|(w, s)| w - s).collect();
                    let after = self.slopes(&next).0.iter().fold(0.0, |m: f64, s| m.max(s.abs()));
                    if after < largest {
                        (w, value) = (next.clone(), self.objective(&next));
                        continue;
                    }
                    status = StopReason::PrecisionLimit;
                    break;
                }
            }
        }
        let bias = w.pop().unwrap_or(0.0);
        let outcome =
            SolveOutcome { status, iterations: steps, objective: value, kkt_gap: largest, duality_gap: 0.0 };
        Ok(Logistic { weights: w, bias, outcome })
    }

    fn output(&self, i: usize, w: &[f64]) -> f64 {
        let d = w.len() - 1;
        self.features.dot(i, &w[..d]) + w[d]
    }

    fn objective(&self, w: &[f64]) -> f64 {
        let ridge: f64 = w[..w.len() - 1].iter().map(|w| w * w).sum();
        let loss = |i: usize| self.costs[i] * loss(self.y[i] * self.output(i, w)).0;
        0.5 * ridge + (0..self.y.len()).map(loss).sum::<f64>()
    }

    /// The gradient, and what each row adds to the curvature.
    fn slopes(&self, w: &[f64]) -> (Vec<f64>, Vec<f64>) {
        let d = w.len() - 1;
        let mut slopes = w.to_vec();
        slopes[d] = 0.0;
        let mut curvatures = Vec::with_capacity(self.y.len());
        for (i, (y, cost)) in self.y.iter().zip(self.costs).enumerate() {
            let (_, wrong) = loss(y * self.output(i, w));
            self.features.add_to(i, -cost * y * wrong, &mut slopes[..d]);
            slopes[d] -= cost * y * wrong;
            curvatures.push(cost * wrong * (1.0 - wrong));
        }
        (slopes, curvatures)
    }

    /// The step of Newton's method; `None` if rounding errors make the system unsolvable.
    fn newton(&self, slopes: &[f64], curvatures: &[f64], ctx: &Ctx) -> Result<Option<Vec<f64>>> {
        let d = slopes.len() - 1;
        let inner = weighted_scatter(self.rows, curvatures, ctx)?;
        let mut last = vec![0.0; d + 1];
        for (i, &s) in curvatures.iter().enumerate() {
            self.features.add_to(i, s, &mut last[..d]);
            last[d] += s;
        }
        let mut system = bagwise_core::Mat::zeros(d + 1, d + 1);
        for i in 0..d {
            system.row_mut(i)[..d].copy_from_slice(inner.row(i));
            system.set(i, i, inner.get(i, i) + 1.0);
            system.set(i, d, last[i]);
        }
        system.row_mut(d).copy_from_slice(&last);
        Ok(solve_positive(system, slopes.to_vec()))
    }

    /// The same step to a tenth of the slopes, or closer near the end.
    fn conjugate_gradients(&self, slopes: &[f64], curvatures: &[f64], ctx: &Ctx) -> Result<Vec<f64>> {
        let d = slopes.len() - 1;
        let product = |v: &[f64]| {
            let mut out = v.to_vec();
            out[d] = 0.0;
            for (i, s) in curvatures.iter().enumerate() {
                let factor = s * self.output(i, v);
                self.features.add_to(i, factor, &mut out[..d]);
                out[d] += factor;
            }
            out
        };
        let square = |v: &[f64]| v.iter().map(|x| x * x).sum::<f64>();
        let (mut step, mut rest) = (vec![0.0; d + 1], slopes.to_vec());
        let mut direction = rest.clone();
        let mut length = square(&rest);
        let enough = length * length.sqrt().min(0.01);
        // Enough steps for the accuracy asked for; a step that is not exact costs one more of Newton's.
        for _ in 0..500 {
            ctx.check()?;
            if length <= enough || length == 0.0 {
                break;
            }
            let image = product(&direction);
            let curvature: f64 = direction.iter().zip(&image).map(|(a, b)| a * b).sum();
            if curvature <= 0.0 {
                break;
            }
            let along = length / curvature;
            step.iter_mut().zip(&direction).for_each(|(s, x)| *s += along * x);
            rest.iter_mut().zip(&image).for_each(|(r, x)| *r -= along * x);
            let next = square(&rest);
            direction.iter_mut().zip(&rest).for_each(|(x, r)| *x = r + next / length * *x);
            length = next;
        }
        Ok(step)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use bagwise_core::{Mat, Rng};

    #[test]
    fn equations_and_conjugate_gradients_end_at_the_same_place() {
        let mut rng = Rng::new(3, "logistic", &[]);
        let (n, d) = (80, 5);
        let values: Vec<f64> = (0..n * d).map(|_| rng.normal()).collect();
        let y: Vec<f64> =
            (0..n).map(|i| if values[i * d] + rng.normal() > 0.0 { 1.0 } else { -1.0 }).collect();
        // The same columns, and so many without a number that equations are not set up.
        let solve = |columns: usize| {
            let wide: Vec<f64> = (0..n * columns)
                .map(|k| if k % columns < d { values[k / columns * d + k % columns] } else { 0.0 })
                .collect();
            let rows = Instances::F64(Mat::new(n, columns, wide.clone()));
            let features = Features::Dense { values: &wide, columns };
            LogisticProblem { rows: &rows, features, y: &y, costs: &vec![10.0; n] }
                .solve(1e-11, &Ctx::default())
                .unwrap()
        };
        let (few, many) = (solve(d), solve(MOST_COLUMNS + 1));
        assert_eq!(few.outcome.status, StopReason::Converged);
        assert_eq!(many.outcome.status, StopReason::Converged);
        // Slopes of 1e-11, curvatures of at least 1.
        assert!((few.bias - many.bias).abs() < 1e-10);
        few.weights.iter().zip(&many.weights).for_each(|(a, b)| assert!((a - b).abs() < 1e-10));
    }
}
