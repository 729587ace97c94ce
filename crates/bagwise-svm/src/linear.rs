//! The same machines on explicit features, by dual coordinate descent.
//!
//! For a linear kernel the outputs need no kernel rows: with `w = sum_i b_i x_i` kept up to date, one
//! coefficient can be set to its best value for the price of one row. What stands in the way is the
//! unpenalised bias, which ties the coefficients together by `sum b_i = 0`. We add the multiplier `c` of that
//! constraint and a quadratic penalty,
//!
//! ```text
//! minimise F(b) + c s + rho s^2 / 2,   s = sum b_i,   lower_i <= b_i <= upper_i,
//! ```
//!
//! whose coordinates are again independent, and set `c <- c + rho s` whenever the coordinates are settled
//! better than the constraint: the method of multipliers, here the same as proximal steps on the bias, whose
//! current estimate is `c + rho s`. Its limit is exactly the problem of `problem.rs`, not one with a
//! penalised bias. With `rho` the mean squared norm of a row the constraint is as stiff as the data,
//! whatever their scale.
//!
//! A pass costs one visit to each active row (twice its non-zeros). Coefficients at a bound that point outwards
//! by more than the last pass's largest violation are skipped until the end. An answer is accepted after `w` has
//! been summed afresh, the constraint been met exactly, and the KKT gap of all rows been measured. Rows are
//! visited in random order from a fixed seed: the same problem gives the same bits.
//!
//! Coordinate descent: Hsieh, Chang, Lin, Keerthi, Sundararajan, ICML 2008; regression: Ho and Lin, JMLR 13
//! (2012) 3323. Multipliers: Bertsekas, "Constrained optimization and Lagrange multiplier methods" (1982).

use std::sync::atomic::{AtomicBool, Ordering};

use crate::forms::{Form, stretch};
use crate::problem::Dual;
use crate::smo::{Outcome, Solution, Status};

/// Rows of explicit features.
#[derive(Clone, Copy, Debug)]
pub enum Features<'a> {
    /// Row-major values.
    Dense {
        /// `rows * columns` values.
        values: &'a [f64],
        /// Features of one row.
        columns: usize,
    },
    /// Compressed sparse rows: row `i` owns entries `starts[i]..starts[i + 1]`.
    Sparse {
        /// One more than there are rows.
        starts: &'a [usize],
        /// Column of each entry, at most once in a row.
        indices: &'a [u32],
        /// Value of each entry.
        values: &'a [f64],
        /// Features of one row.
        columns: usize,
    },
}

impl Features<'_> {
    /// Number of rows.
    pub fn len(&self) -> usize {
        match self {
            Features::Dense { columns: 0, .. } => 0,
            Features::Dense { values, columns } => values.len() / columns,
            Features::Sparse { starts, .. } => starts.len().saturating_sub(1),
        }
    }

    /// True if there are no rows.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    fn columns(&self) -> usize {
        match *self {
            Features::Dense { columns, .. } | Features::Sparse { columns, .. } => columns,
        }
    }

    fn check(&self) {
        match *self {
            Features::Dense { values, columns } => {
                assert!(
                    columns > 0 && values.len().is_multiple_of(columns),
                    "dense rows of {columns} features"
                );
            }
            Features::Sparse { starts, indices, values, columns } => {
                assert_eq!(indices.len(), values.len(), "each entry needs a column and a value");
                assert!(starts.is_sorted(), "row starts must not descend");
                assert_eq!(starts.first().copied().unwrap_or(0), 0, "the first row starts at 0");
                assert_eq!(
                    starts.last().copied().unwrap_or(0),
                    indices.len(),
                    "the last row ends with the entries"
                );
                assert!(indices.iter().all(|&c| (c as usize) < columns), "a column is not below {columns}");
            }
        }
    }

    /// The product of row `i` and `w`.
    #[inline]
    fn dot(&self, i: usize, w: &[f64]) -> f64 {
        // Four sums, so that one addition need not wait for the last.
        let mut sums = [0.0; 4];
        match *self {
            Features::Dense { values, columns } => {
                let row = &values[i * columns..(i + 1) * columns];
                let (row_fours, row_rest) = row.as_chunks::<4>();
                let (w_fours, w_rest) = w.as_chunks::<4>();
                for (x, v) in row_fours.iter().zip(w_fours) {
                    for lane in 0..4 {
                        sums[lane] += x[lane] * v[lane];
                    }
                }
                for (x, v) in row_rest.iter().zip(w_rest) {
                    sums[0] += x * v;
                }
            }
            Features::Sparse { starts, indices, values, .. } => {
                let entries = starts[i]..starts[i + 1];
                let (columns_fours, columns_rest) = indices[entries.clone()].as_chunks::<4>();
                let (values_fours, values_rest) = values[entries].as_chunks::<4>();
                for (columns, x) in columns_fours.iter().zip(values_fours) {
                    for lane in 0..4 {
                        sums[lane] += x[lane] * w[columns[lane] as usize];
                    }
                }
                for (&column, x) in columns_rest.iter().zip(values_rest) {
                    sums[0] += x * w[column as usize];
                }
            }
        }
        (sums[0] + sums[1]) + (sums[2] + sums[3])
    }

    /// `w += factor * row i`.
    #[inline]
    fn add_to(&self, i: usize, factor: f64, w: &mut [f64]) {
        match *self {
            Features::Dense { values, columns } => {
                for (v, x) in w.iter_mut().zip(&values[i * columns..(i + 1) * columns]) {
                    *v += factor * x;
                }
            }
            Features::Sparse { starts, indices, values, .. } => {
                let entries = starts[i]..starts[i + 1];
                for (&column, x) in indices[entries.clone()].iter().zip(&values[entries]) {
                    w[column as usize] += factor * x;
                }
            }
        }
    }

    fn squared_norm(&self, i: usize) -> f64 {
        match *self {
            Features::Dense { values, columns } => {
                values[i * columns..(i + 1) * columns].iter().map(|x| x * x).sum()
            }
            Features::Sparse { starts, values, .. } => {
                values[starts[i]..starts[i + 1]].iter().map(|x| x * x).sum()
            }
        }
    }
}

/// How to solve.
#[derive(Clone, Copy, Debug)]
pub struct LinearParams<'a> {
    /// Largest KKT gap that counts as solved, as in [`crate::SmoParams`].
    pub tolerance: f64,
    /// Passes over the rows after which to give up.
    pub max_passes: usize,
    /// Checked between passes; once true, the solver returns what it has.
    pub cancel: Option<&'a AtomicBool>,
}

impl Default for LinearParams<'_> {
    fn default() -> Self {
        LinearParams { tolerance: 1e-3, max_passes: 100_000, cancel: None }
    }
}

/// A trained linear machine, `f(x) = weights . x + bias`.
#[derive(Clone, Debug)]
pub struct LinearMachine {
    /// One weight for each feature.
    pub weights: Vec<f64>,
    /// The constant term, by the rule of [`crate::Machine`].
    pub bias: f64,
    /// Dual coefficients of the rows; `weights` is their combination of the rows.
    pub coefficients: Vec<f64>,
    /// Outputs on the training rows, bias included.
    pub training_outputs: Vec<f64>,
    /// How training ended.
    pub outcome: Outcome,
}

impl LinearMachine {
    /// The output for each row.
    ///
    /// # Panics
    /// If the rows have more features than the machine.
    pub fn outputs(&self, features: &Features<'_>) -> Vec<f64> {
        features.check();
        assert!(features.columns() <= self.weights.len(), "rows have more features than the machine");
        (0..features.len()).map(|i| features.dot(i, &self.weights) + self.bias).collect()
    }
}

/// Trains one linear machine; arguments as in [`crate::fit`].
///
/// # Panics
/// As [`crate::fit`], and if the rows are malformed.
pub fn fit_linear(
    features: &Features<'_>,
    form: Form<'_>,
    bounds: &[f64],
    start: Option<&[f64]>,
    params: &LinearParams<'_>,
) -> LinearMachine {
    features.check();
    let (solution, weights) = solve(features, &form.dual(bounds), start, params);
    machine(solution, weights)
}

/// Trains one linear machine for each cost; arguments as in [`crate::fit_path`].
///
/// # Panics
/// As [`fit_linear`].
pub fn fit_linear_path(
    features: &Features<'_>,
    form: Form<'_>,
    weights: &[f64],
    costs: &[f64],
    params: &LinearParams<'_>,
) -> Vec<LinearMachine> {
    features.check();
    crate::forms::along_path(form, weights, costs, |dual, last| {
        let start = last.map(|(solution, ratio)| stretch(dual, solution, ratio).coefficients);
        let (solution, weights) = solve(features, dual, start.as_deref(), params);
        (solution.clone(), machine(solution, weights))
    })
}

fn machine(solution: Solution, weights: Vec<f64>) -> LinearMachine {
    let Solution { coefficients, mut outputs, bias, outcome } = solution;
    outputs.iter_mut().for_each(|f| *f += bias);
    LinearMachine { weights, bias, coefficients, training_outputs: outputs, outcome }
}

struct Descent<'a> {
    features: &'a Features<'a>,
    dual: &'a Dual,
    norms: Vec<f64>,
    b: Vec<f64>,
    w: Vec<f64>,
    /// `sum b_i`, the multiplier of its constraint, and the penalty on it.
    sum: f64,
    multiplier: f64,
    penalty: f64,
}

fn solve(
    features: &Features<'_>,
    dual: &Dual,
    start: Option<&[f64]>,
    params: &LinearParams<'_>,
) -> (Solution, Vec<f64>) {
    dual.check(features.len());
    let n = dual.len();
    let mut descent = Descent::new(features, dual, start);
    let mut random = Random(0x9E37_79B9_7F4A_7C15);
    let mut active: Vec<usize> = (0..n).collect();
    // Violations that coordinates may keep before the answer is examined; half the gap on either side.
    let mut goal = 0.5 * params.tolerance;
    let mut skip_beyond = f64::INFINITY;
    let mut passes = 0;
    let (status, mut outputs) = loop {
        if passes >= params.max_passes {
            break (Status::IterationLimit, descent.settle());
        }
        if params.cancel.is_some_and(|cancel| cancel.load(Ordering::Relaxed)) {
            break (Status::Cancelled, descent.settle());
        }
        passes += 1;
        random.shuffle(&mut active);
        let violation = descent.pass(&mut active, skip_beyond);
        let imbalance = descent.penalty * descent.sum.abs();
        skip_beyond = violation + imbalance;
        if violation <= goal && imbalance <= goal {
            if active.len() < n {
                // Everything settled among those still visited: now all of them, without skipping.
                active = (0..n).collect();
                skip_beyond = f64::INFINITY;
                continue;
            }
            let outputs = descent.settle();
            if dual.finish(&descent.b, &outputs).kkt_gap <= params.tolerance {
                break (Status::Converged, outputs);
            }
            // The last steps of a pass disturb what its first ones settled; ask for more. Below the rounding
            // of an output there is nothing left to ask.
            goal *= 0.5;
            let largest = outputs.iter().fold(1.0, |most: f64, o| most.max(o.abs()));
            if goal < 16.0 * f64::EPSILON * largest {
                break (Status::PrecisionLimit, outputs);
            }
        } else if violation <= imbalance {
            descent.multiplier += imbalance.copysign(descent.sum);
        }
    };
    let end = dual.finish(&descent.b, &outputs);
    outputs.truncate(n);
    let outcome = Outcome {
        status,
        iterations: passes,
        objective: end.objective,
        kkt_gap: end.kkt_gap,
        duality_gap: end.duality_gap,
    };
    (Solution { coefficients: descent.b, outputs, bias: end.bias, outcome }, descent.w)
}

impl<'a> Descent<'a> {
    fn new(features: &'a Features<'a>, dual: &'a Dual, start: Option<&[f64]>) -> Descent<'a> {
        let n = dual.len();
        let norms: Vec<f64> = (0..n).map(|i| features.squared_norm(i)).collect();
        let mean = norms.iter().sum::<f64>() / n.max(1) as f64;
        let mut b = start.map_or_else(|| vec![0.0; n], <[f64]>::to_vec);
        assert_eq!(b.len(), n, "a start needs one coefficient for each of {n} rows");
        dual.make_feasible(&mut b);
        let mut descent = Descent {
            features,
            dual,
            norms,
            b,
            w: vec![0.0; features.columns()],
            sum: 0.0,
            multiplier: 0.0,
            penalty: if mean > 0.0 { mean } else { 1.0 },
        };
        let outputs = descent.settle();
        descent.multiplier = dual.finish(&descent.b, &outputs).bias;
        descent
    }

    /// Sets each active coefficient to its best value in turn. Returns the largest violation met, and drops
    /// from `active` what points outwards by more than `skip_beyond`.
    fn pass(&mut self, active: &mut Vec<usize>, skip_beyond: f64) -> f64 {
        let (dual, tube) = (self.dual, self.dual.tube);
        let mut largest: f64 = 0.0;
        active.retain(|&i| {
            let (b, lower, upper) = (self.b[i], dual.lower[i], dual.upper[i]);
            let bias = self.multiplier + self.penalty * self.sum;
            let residual = dual.linear[i] - self.features.dot(i, &self.w) - bias;
            let (up, down) = Dual::shifts(tube, lower, upper, b);
            let (up, down) = (residual + up, residual + down);
            if up < -skip_beyond && down > skip_beyond {
                return false;
            }
            let violation = up.max(-down);
            if violation > 0.0 {
                largest = largest.max(violation);
                let curvature = self.norms[i] + self.penalty;
                let unpriced = b * curvature + residual;
                let priced = (unpriced.abs() - tube).max(0.0).copysign(unpriced);
                let new = (priced / curvature).clamp(lower, upper);
                self.features.add_to(i, new - b, &mut self.w);
                self.sum += new - b;
                self.b[i] = new;
            }
            true
        });
        largest
    }

    /// Meets the constraint exactly, sums `w` afresh and returns the outputs of all rows without the bias.
    fn settle(&mut self) -> Vec<f64> {
        // The multiplier keeps what the penalty said about the bias.
        self.multiplier += self.penalty * self.sum;
        self.balance();
        self.sum = 0.0;
        self.w.fill(0.0);
        for i in 0..self.b.len() {
            if self.b[i] != 0.0 {
                self.features.add_to(i, self.b[i], &mut self.w);
            }
        }
        (0..self.b.len()).map(|i| self.features.dot(i, &self.w)).collect()
    }

    /// Spreads the excess over free coefficients in proportion to their room, which keeps them free.
    fn balance(&mut self) {
        let (dual, b) = (self.dual, &mut self.b);
        let excess: f64 = b.iter().sum();
        let free = |i: usize, b: f64| b != 0.0 && b > dual.lower[i] && b < dual.upper[i];
        // Room towards the nearer of bound and zero in the direction that is needed.
        let room = |i: usize, b: f64| match (excess > 0.0, b > 0.0) {
            (true, true) => b,
            (true, false) => b - dual.lower[i],
            (false, true) => dual.upper[i] - b,
            (false, false) => -b,
        };
        let total: f64 = (0..b.len()).filter(|&i| free(i, b[i])).map(|i| room(i, b[i])).sum();
        if total > 2.0 * excess.abs() {
            for i in 0..b.len() {
                if free(i, b[i]) {
                    b[i] -= excess * (room(i, b[i]) / total);
                }
            }
        } else {
            dual.make_feasible(b);
        }
    }
}

/// Multiplicative congruential numbers with a mixing step (SplitMix64): an order to visit rows in, no more.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    fn shuffle(&mut self, items: &mut [usize]) {
        for k in (1..items.len()).rev() {
            let other = ((u128::from(self.next()) * (k as u128 + 1)) >> 64) as usize;
            items.swap(k, other);
        }
    }
}
