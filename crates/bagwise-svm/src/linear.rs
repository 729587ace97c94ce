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
//! Single coordinates settle which coefficients are free long before they settle their values, above all
//! where rows outnumber features and the cost is high. So after every few passes the free coefficients are moved
//! together: conjugate gradients on the face of the box that they span, with `sum b_i` held, one visit to
//! each free row a step; whoever would leave the face stops the step at its bound and is left out.
//!
//! Dense rows that need many passes get a start near the optimum from the method of `interior`: the active ones, for as long as
//! the others stay where they are.
//!
//! A pass costs one visit to each active row (twice its non-zeros). Coefficients at a bound that point outwards
//! by more than the last pass's largest violation are skipped until the end. An answer is accepted after `w` has
//! been summed afresh, the constraint been met exactly, and the KKT gap of all rows been measured. Rows are
//! visited in random order from a fixed seed: the same problem gives the same bits. Of rows outside memory, those that are
//! active are asked to be kept at hand as soon as there is room for them, so that only looks at all rows read the others.
//!
//! Coordinate descent: Hsieh, Chang, Lin, Keerthi, Sundararajan, ICML 2008; regression: Ho and Lin, JMLR 13
//! (2012) 3323. Steps on a face: More and Toraldo, SIAM J. Optimization 1 (1991) 93. Multipliers: Bertsekas, "Constrained optimization and Lagrange multiplier methods" (1982).

use std::sync::atomic::{AtomicBool, Ordering};

use crate::features::Features;
use crate::forms::{Form, stretch};
use crate::interior;
use crate::problem::Dual;
use crate::scan::in_wide_vectors;
use crate::smo::{Solution, SolveOutcome, StopReason};

/// How to solve.
#[derive(Clone, Copy, Debug)]
pub struct LinearParams<'a> {
    /// Largest KKT gap that counts as solved, as in [`crate::SmoParams`]. The default is wider than there: with
    /// very many rows the worst of them says little, and the duality gap is far smaller than this suggests.
    pub tolerance: f64,
    /// Largest duality gap, as a share of the objective, that counts as solved too; 0 for none. The number of passes to reach it
    /// hardly depends on that of the rows, whereas the worst of more rows is worse.
    pub relative_gap: f64,
    /// Passes over the rows after which to give up.
    pub max_passes: usize,
    /// Checked between passes; once true, the solver returns what it has.
    pub cancel: Option<&'a AtomicBool>,
}

impl Default for LinearParams<'_> {
    fn default() -> Self {
        LinearParams { tolerance: 1e-2, relative_gap: 0.0, max_passes: 10_000, cancel: None }
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
    pub outcome: SolveOutcome,
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

/// Bytes that training a linear machine takes at the most, besides its rows.
pub fn linear_bytes(rows: usize, columns: usize) -> u64 {
    interior::bytes(rows, columns)
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
    crate::forms::along_path(form, weights, costs, params.tolerance, |dual, last| {
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

/// Visits to rows, in passes, between two looks at all of them: a look costs two passes, and the step that follows
/// it at most a quarter of what went before.
const PATIENCE: usize = 10;

/// What a leap must gain, as a share of the objective, for another to be worth trying.
const LEAST_GAIN: f64 = 1e-12;

/// How many times as long descent goes on alone after each leap that gained nothing.
const LESS_OFTEN: usize = 8;

/// How many times the largest violation a coefficient must point outwards to be skipped, where skipped rows are outside
/// memory. With 1 they are looked at twice as often; with 10 the others are too many to be at hand.
const FAR_MARGIN: f64 = 4.0;

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
    let mut skip_beyond = f64::INFINITY;
    // To look at rows outside memory is expensive; to visit those at hand is not.
    let outside = n > 0 && features.block(n - 1) > 0;
    // Passes since the active rows were at hand.
    let mut away = usize::MAX;
    let mut passes = 0;
    let mut visited = 0;
    // How far the bias may still move before some skipped coefficient would point inwards.
    let mut spare = f64::INFINITY;
    let mut patience = PATIENCE * n;
    // The duality gap is known only when all rows are looked at and the constraint is met.
    let by_gap = params.relative_gap > 0.0;
    let longest = if by_gap { 2 } else { 64 } * PATIENCE * n;
    let mut objective_then = f64::INFINITY;
    // Where descent is slow, another method finds a better place to go on from.
    let mut leap = leap_after(features, dual);
    // Visits to rows since the start or the last leap.
    let mut visits = 0;
    let (status, outputs) = loop {
        passes += 1;
        visited += active.len();
        visits += active.len();
        let at_hand = random.order(&mut active, features);
        let bias_before = descent.bias();
        let violation = descent.pass(&mut active, skip_beyond, &mut spare);
        let imbalance = descent.penalty * descent.sum.abs();
        away = if at_hand { 0 } else { away.saturating_add(1) };
        let margin = if outside && away <= 1 { FAR_MARGIN } else { 1.0 };
        skip_beyond = margin * (violation + imbalance);
        // Half the tolerance on either side of the bias; the rest of the gap shows when all rows are examined.
        let settled = violation.max(imbalance) <= 0.5 * params.tolerance;
        let cancelled = params.cancel.is_some_and(|cancel| cancel.load(Ordering::Relaxed));
        let last = cancelled || passes >= params.max_passes;
        let leaps =
            leap.is_some_and(|enough| visits >= enough.saturating_mul(active.len().max(features.columns())));
        if settled || last || leaps || visited >= patience {
            // Where objectives are compared, the constraint must be met.
            let outputs = descent.refresh(settled || last || by_gap || leaps);
            let now = dual.finish(&descent.b, &outputs);
            if by_gap && now.duality_gap <= params.relative_gap * now.objective.abs() {
                break (StopReason::Converged, outputs);
            }
            let largest = outputs.iter().fold(1.0, |most: f64, o| most.max(o.abs()));
            match () {
                _ if now.kkt_gap <= params.tolerance && (settled || last) => {
                    break (StopReason::Converged, outputs);
                }
                _ if cancelled => break (StopReason::Cancelled, outputs),
                _ if last => break (StopReason::IterationLimit, outputs),
                // A fresh gap of a few roundings is as good as it gets.
                _ if settled && now.kkt_gap <= 16.0 * f64::EPSILON * largest => {
                    break (StopReason::PrecisionLimit, outputs);
                }
                _ => {}
            }
            if leaps {
                let better = descent.leap(&active, now.objective, params);
                // Rounding may be all that is left, or more than the other method can deal with: it is asked ever less often.
                leap = leap
                    .map(|enough| if better.is_some() { enough } else { enough.saturating_mul(LESS_OFTEN) });
                visits = 0;
                if let Some(better) = better {
                    descent = better;
                    active = (0..n).collect();
                    (skip_beyond, spare) = (f64::INFINITY, f64::INFINITY);
                    (patience, visited, objective_then) = (PATIENCE * n, 0, f64::INFINITY);
                    continue;
                }
            }
            // Passes and steps on the face share the work by what they achieve for each visit to a row.
            let (gain, spent) = descent.face(&outputs, visited / 4);
            let by_passes = (objective_then - now.objective) / visited as f64;
            patience =
                if gain > by_passes * spent as f64 { PATIENCE * n } else { (2 * patience).min(longest) };
            objective_then = now.objective - gain;
            visited = 0;
            if settled {
                spare = f64::NEG_INFINITY;
            }
        } else if violation <= imbalance {
            descent.multiplier += imbalance.copysign(descent.sum);
        }
        spare -= (descent.bias() - bias_before).abs();
        if spare < 0.0 {
            active = (0..n).collect();
            // Rows outside memory are looked at once, and not a second time to find out which to skip.
            if !(outside && away == 0) {
                skip_beyond = f64::INFINITY;
            }
            spare = f64::INFINITY;
        }
    };
    let end = dual.finish(&descent.b, &outputs);
    let outcome = SolveOutcome {
        status,
        iterations: passes,
        objective: end.objective,
        kkt_gap: end.kkt_gap,
        duality_gap: end.duality_gap,
    };
    (Solution { coefficients: descent.b, outputs, bias: end.bias, outcome }, descent.w)
}

/// An interior point method is asked, if it can be, when as many rows were visited as so many passes over the active ones would
/// visit.
fn leap_after(features: &Features<'_>, dual: &Dual) -> Option<usize> {
    let Features::Dense { columns, .. } = features else { return None };
    interior::passes_before(*columns, dual)
}

impl<'a> Descent<'a> {
    /// A descent from near the optimum of the active rows, if an interior point method finds a place where the objective is lower by
    /// more than rounding.
    fn leap(&self, active: &[usize], objective: f64, params: &LinearParams<'_>) -> Option<Descent<'a>> {
        let Features::Dense { values, columns } = *self.features else { return None };
        let mut b = self.b.clone();
        // A copy of more than half of the rows would save little.
        if 2 * active.len() > b.len() {
            b = interior::near_optimum(values, columns, self.dual, (0.0, 0.0), params.cancel)?;
        } else {
            let mut active = active.to_vec();
            active.sort_unstable();
            active.iter().for_each(|&i| b[i] = 0.0);
            let mut fixed = vec![0.0; columns];
            (0..b.len()).filter(|&i| b[i] != 0.0).for_each(|i| self.features.add_to(i, b[i], &mut fixed));
            let mut rows = Vec::with_capacity(active.len() * columns);
            active.iter().for_each(|&i| rows.extend_from_slice(&values[i * columns..(i + 1) * columns]));
            let some = |of: &[f64]| active.iter().map(|&i| of[i]).collect::<Vec<f64>>();
            let dual = Dual {
                linear: active.iter().map(|&i| self.dual.linear[i] - self.features.dot(i, &fixed)).collect(),
                lower: some(&self.dual.lower),
                upper: some(&self.dual.upper),
                tube: self.dual.tube,
            };
            let sum = -b.iter().sum::<f64>();
            let products = self.dual.linear.iter().zip(&b).map(|(l, b)| l * b);
            let rest = 0.5 * fixed.iter().map(|v| v * v).sum::<f64>() - products.sum::<f64>();
            let own = interior::near_optimum(&rows, columns, &dual, (sum, rest), params.cancel)?;
            active.iter().zip(own).for_each(|(&i, own)| b[i] = own);
        }
        let mut there = Descent::new(self.features, self.dual, Some(&b));
        let outputs = there.refresh(true);
        let gain = objective - self.dual.finish(&there.b, &outputs).objective;
        (gain > LEAST_GAIN * objective.abs()).then_some(there)
    }

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
        let outputs = descent.refresh(true);
        descent.multiplier = dual.finish(&descent.b, &outputs).bias;
        descent
    }

    /// The current estimate of the bias.
    fn bias(&self) -> f64 {
        self.multiplier + self.penalty * self.sum
    }

    /// Sets each active coefficient to its best value in turn. Returns the largest violation met, and drops
    /// from `active` what points outwards by more than `skip_beyond`, lowering `spare` to the least such amount.
    fn pass(&mut self, active: &mut Vec<usize>, skip_beyond: f64, spare: &mut f64) -> f64 {
        in_wide_vectors(|| self.pass_plain(active, skip_beyond, spare))
    }

    #[inline(always)]
    fn pass_plain(&mut self, active: &mut Vec<usize>, skip_beyond: f64, spare: &mut f64) -> f64 {
        let (dual, tube) = (self.dual, self.dual.tube);
        let mut largest: f64 = 0.0;
        active.retain(|&i| {
            let (b, lower, upper) = (self.b[i], dual.lower[i], dual.upper[i]);
            let residual = dual.linear[i] - self.features.dot(i, &self.w) - self.bias();
            let (up, down) = Dual::shifts(tube, lower, upper, b);
            let (up, down) = (residual + up, residual + down);
            if up < -skip_beyond && down > skip_beyond {
                *spare = spare.min(down.min(-up));
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

    /// Sums `w` afresh, after meeting the constraint exactly if asked to, and returns the outputs of all rows
    /// without the bias.
    fn refresh(&mut self, balance: bool) -> Vec<f64> {
        if balance {
            // The multiplier keeps what the penalty said about the bias.
            self.multiplier += self.penalty * self.sum;
            self.balance();
            self.sum = 0.0;
        } else {
            self.sum = self.b.iter().sum();
        }
        self.w.fill(0.0);
        for i in 0..self.b.len() {
            if self.b[i] != 0.0 {
                self.features.add_to(i, self.b[i], &mut self.w);
            }
        }
        (0..self.b.len()).map(|i| self.features.dot(i, &self.w)).collect()
    }

    /// Moves the free coefficients together towards the minimum on their face, with `sum b_i` held, spending at
    /// most `visits` visits to rows. Returns by how much the objective fell, and the visits spent.
    fn face(&mut self, outputs: &[f64], visits: usize) -> (f64, usize) {
        let (dual, features) = (self.dual, self.features);
        let mut free: Vec<usize> = (0..self.b.len())
            .filter(|&i| self.b[i] != 0.0 && self.b[i] > dual.lower[i] && self.b[i] < dual.upper[i])
            .collect();
        let mut gradient: Vec<f64> =
            free.iter().map(|&i| dual.linear[i] - outputs[i] - dual.tube.copysign(self.b[i])).collect();
        let mut visits_left = visits;
        let mut gain = 0.0;
        let at_hand = features.hold(&free);
        // Rows that are read again for every visit take as long as all rows.
        let all = self.b.len();
        let price = |rows: usize| if at_hand { rows } else { all };
        while free.len() > 1 && visits_left >= 2 * price(free.len()) {
            let m = free.len();
            let mut moved = vec![0.0; m];
            let mut moved_w = vec![0.0; self.w.len()];
            let mut residual = centred(&gradient);
            let mut direction = residual.clone();
            let mut squared: f64 = residual.iter().map(|r| r * r).sum();
            // Ten digits: rounding ends the usefulness of conjugate directions about there.
            let enough = 1e-20 * squared;
            let mut direction_w = vec![0.0; self.w.len()];
            while squared > enough && visits_left >= 2 * price(m) {
                visits_left -= 2 * price(m);
                direction_w.fill(0.0);
                for (d, &i) in direction.iter().zip(&free) {
                    features.add_to(i, *d, &mut direction_w);
                }
                let curvature: f64 = direction_w.iter().map(|v| v * v).sum();
                if curvature <= f64::EPSILON * squared {
                    // Flat: linearly dependent rows. The rest of the way leads nowhere in outputs.
                    break;
                }
                let step = squared / curvature;
                let image: Vec<f64> = free.iter().map(|&i| features.dot(i, &direction_w)).collect();
                let image = centred(&image);
                for k in 0..m {
                    moved[k] += step * direction[k];
                    residual[k] -= step * image[k];
                }
                for (total, v) in moved_w.iter_mut().zip(&direction_w) {
                    *total += step * v;
                }
                let next: f64 = residual.iter().map(|r| r * r).sum();
                for k in 0..m {
                    direction[k] = residual[k] + next / squared * direction[k];
                }
                squared = next;
            }
            // As far as the first bound; the objective falls all the way to the full step.
            let mut fraction: f64 = 1.0;
            for (change, &i) in moved.iter().zip(&free) {
                fraction = fraction.min(self.room(i, *change) / change.abs());
            }
            let slope: f64 = gradient.iter().zip(&moved).map(|(g, change)| g * change).sum();
            gain += fraction * slope - 0.5 * fraction * fraction * moved_w.iter().map(|v| v * v).sum::<f64>();
            for (v, change) in self.w.iter_mut().zip(&moved_w) {
                *v += fraction * change;
            }
            let mut stays = vec![true; m];
            for k in 0..m {
                let (i, change) = (free[k], moved[k]);
                let room = self.room(i, change);
                stays[k] = change == 0.0 || room > change.abs();
                let limit = self.b[i] + room.copysign(change);
                // Exactly onto the bound (or zero) for the one that ends the step.
                let arrives = change != 0.0 && room <= fraction * change.abs();
                self.b[i] = if arrives { self.landmark(i, limit) } else { self.b[i] + fraction * change };
            }
            let slope_of =
                |i: usize| dual.linear[i] - features.dot(i, &self.w) - dual.tube.copysign(self.b[i]);
            gradient = free.iter().map(|&i| slope_of(i)).collect();
            visits_left = visits_left.saturating_sub(price(m));
            // Free coefficients agree on the bias, the better the closer the face is to its minimum.
            self.multiplier = gradient.iter().sum::<f64>() / m as f64 - self.penalty * self.sum;
            if fraction == 1.0 {
                break;
            }
            (free, gradient) = (0..m).filter(|&k| stays[k]).map(|k| (free[k], gradient[k])).unzip();
        }
        (gain, visits - visits_left)
    }

    /// How far coefficient `i` may go in the direction of `change` on its face: to its bound, or to zero.
    fn room(&self, i: usize, change: f64) -> f64 {
        let b = self.b[i];
        let (low, high) = if b > 0.0 { (0.0, self.dual.upper[i]) } else { (self.dual.lower[i], 0.0) };
        if change > 0.0 { high - b } else { b - low }
    }

    fn landmark(&self, i: usize, near: f64) -> f64 {
        let marks = [self.dual.lower[i], 0.0, self.dual.upper[i]];
        marks.into_iter().min_by(|a, b| (a - near).abs().total_cmp(&(b - near).abs())).expect("three")
    }

    /// Spreads the excess over free coefficients in proportion to their room; scales one sign for what is left.
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
        if total > 0.0 {
            let share = (excess.abs() / total).min(1.0).copysign(excess);
            for i in 0..b.len() {
                if free(i, b[i]) {
                    b[i] -= share * room(i, b[i]);
                }
            }
        }
        dual.make_feasible(b);
        // What is left of a bound by this little was meant to be on it, and must not count as free for the bias.
        for i in 0..b.len() {
            let near = 1e-12 * (dual.upper[i] - dual.lower[i]);
            let marks = [dual.lower[i], 0.0, dual.upper[i]];
            b[i] = marks.into_iter().find(|mark| (b[i] - mark).abs() <= near).unwrap_or(b[i]);
        }
    }
}

fn centred(values: &[f64]) -> Vec<f64> {
    let mean = values.iter().sum::<f64>() / values.len() as f64;
    values.iter().map(|v| v - mean).collect()
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

    /// An order to visit rows in. Rows that are not all at hand are visited block by block: blocks in random order, and the
    /// rows of each. That takes several times as many passes as a random order of all rows, because the coefficients of a
    /// block settle against those of the others as they were. True if all are at hand.
    fn order(&mut self, rows: &mut [usize], features: &Features<'_>) -> bool {
        let last = rows.iter().max().map_or(0, |&row| features.block(row));
        if last == 0 || features.hold(rows) {
            self.shuffle(rows);
            return true;
        }
        rows.sort_unstable();
        let mut blocks: Vec<Vec<usize>> =
            rows.chunk_by(|&a, &b| features.block(a) == features.block(b)).map(<[usize]>::to_vec).collect();
        let mut turn: Vec<usize> = (0..blocks.len()).collect();
        self.shuffle(&mut turn);
        let mut at = 0;
        for block in turn {
            let own = &mut blocks[block];
            self.shuffle(own);
            rows[at..at + own.len()].copy_from_slice(own);
            at += own.len();
        }
        false
    }

    fn shuffle(&mut self, items: &mut [usize]) {
        for k in (1..items.len()).rev() {
            let other = ((u128::from(self.next()) * (k as u128 + 1)) >> 64) as usize;
            items.swap(k, other);
        }
    }
}
