//! A point near the optimum of a machine on dense features, by an interior point method: where coordinate descent has not come to
//! an end after many passes, it goes on from here.
//!
//! Descent needs the more passes the higher the cost, the more rows overlap and the more features are correlated. Newton's
//! method on the relaxed optimality conditions
//!
//! ```text
//! X X'b - linear + y - l + u = 0,   sum b_i = 0,   l_i (b_i - lower_i) = u_i (upper_i - b_i) = mu,   mu -> 0
//! ```
//!
//! (`l`, `u` the multipliers of the bounds, `y` the bias) takes some twenty steps whatever the data. Each solves
//! `(D + X X') x = r` with a diagonal `D`, by the inverse of `I + X'D^-1 X`, which is as small as there are features: n d^2 / 2
//! multiply-adds a step. Coefficients that descent has left at their bounds may stay there: then the others have a sum other than
//! 0. What it finds is rounded to the bounds that hold, and is only a start: descent decides when the problem
//! is solved.
//!
//! Ferris, Munson: Interior-point methods for massive support vector machines, SIAM J. Optimization 13 (2002) 783; the steps are
//! Mehrotra's, SIAM J. Optimization 2 (1992) 575.

use std::sync::atomic::{AtomicBool, Ordering};

use crate::cholesky::Factor;
use crate::problem::Dual;
use crate::scan::{add_products, in_wide_vectors};

/// Beyond this many features the small matrix is no longer small.
const MOST_COLUMNS: usize = 1024;
/// Steps after which it has failed; twenty are usual.
const MOST_STEPS: usize = 80;
/// What is left of the duality gap, as a share of the objective. The faces are known then.
const GAP: f64 = 1e-8;
/// What is left of the optimality conditions, as a share of the largest number in them.
const SLACK: f64 = 1e-6;
/// Rows between two looks at whether to stop: a fraction of a second. A multiple of the rows that are added up together.
const ROWS_AT_ONCE: usize = 8192;
/// The share of the way to the nearest bound that a step goes.
const SHARE: f64 = 0.99;

/// Passes of coordinate descent that cost about what these steps do: descent is tried for so long. Nothing where these steps
/// cannot be taken.
pub(crate) fn passes_before(columns: usize, dual: &Dual) -> Option<usize> {
    let fits = dual.tube == 0.0 && (1..=MOST_COLUMNS).contains(&columns) && dual.len() > columns;
    // As measured with 50 features (40 passes), and growing like d^2 / d.
    fits.then(|| 25 + columns / 3)
}

/// Bytes that these steps hold at the most, besides the rows: twenty numbers for each of them (bounds, multipliers, the two steps and
/// what they are made of), a copy of at most half of them, the small matrix, and half of it for its factor.
pub(crate) fn bytes(rows: usize, columns: usize) -> u64 {
    let small = if columns <= MOST_COLUMNS && rows > columns { columns as u64 } else { 0 };
    8 * (20 * rows as u64 + rows as u64 * small / 2 + 3 * small * small / 2)
}

/// Dense rows.
struct DenseRows<'a> {
    values: &'a [f64],
    columns: usize,
}

/// The coefficients with a given sum, rounded to the bounds that hold, from where the steps ended. Who asked looks whether that
/// is any better. `rest` is what other coefficients add to the objective: the gap is small or large beside the whole.
pub(crate) fn near_optimum(
    values: &[f64],
    columns: usize,
    dual: &Dual,
    (sum, rest): (f64, f64),
    cancel: Option<&AtomicBool>,
) -> Option<Vec<f64>> {
    let n = dual.len();
    let rows = DenseRows { values, columns };
    let range: Vec<f64> = (0..n).map(|i| dual.upper[i] - dual.lower[i]).collect();
    let moves = |i: usize| range[i] > 0.0;
    let movable = (0..n).filter(|&i| moves(i)).count();
    // From the middle of the box. Distances to the bounds are kept themselves: as differences they would lose their digits.
    let mut above: Vec<f64> = range.iter().map(|r| 0.5 * r).collect();
    let mut below = above.clone();
    let place = |i: usize, above: f64, below: f64| match above < below {
        true => dual.lower[i] + above,
        false => dual.upper[i] - below,
    };
    let mut b: Vec<f64> = (0..n).map(|i| place(i, above[i], below[i])).collect();
    let mut bias = 0.0;
    let mut low = vec![10.0; n];
    let mut high = vec![10.0; n];
    let mut last_worst = f64::INFINITY;
    for _ in 0..MOST_STEPS {
        let weights = rows.combined(&b);
        let slope = |i: usize, output: f64| output - dual.linear[i] + bias;
        let outputs = rows.products(&weights);
        let residual: Vec<f64> = (0..n).map(|i| low[i] - high[i] - slope(i, outputs[i])).collect();
        let imbalance = b.iter().sum::<f64>() - sum;
        let gap: f64 = (0..n).filter(|&i| moves(i)).map(|i| above[i] * low[i] + below[i] * high[i]).sum();
        let quadratic = 0.5 * weights.iter().map(|v| v * v).sum::<f64>();
        let objective = rest + quadratic - dual.linear.iter().zip(&b).map(|(l, b)| l * b).sum::<f64>();
        // What rounding leaves grows with the numbers that are added up.
        let largest = |values: &[f64]| values.iter().fold(1.0, |m: f64, v| m.max(v.abs()));
        let worst = (0..n).filter(|&i| moves(i)).fold(0.0, |worst: f64, i| worst.max(residual[i].abs()));
        let holds = worst <= SLACK * largest(&outputs) && imbalance.abs() <= SLACK * largest(&b);
        // Rounding may leave more than that. Further steps would only add to it.
        if gap <= GAP * (1.0 + objective.abs()) && (holds || worst > last_worst) {
            break;
        }
        last_worst = worst;
        let mu = gap / (2 * movable) as f64;
        let diagonal: Vec<f64> = (0..n)
            .map(|i| if moves(i) { 1.0 / (low[i] / above[i] + high[i] / below[i]) } else { 0.0 })
            .collect();
        let inverse = Inverse::new(&rows, &diagonal, cancel)?;
        let ones = inverse.times(&vec![1.0; n]);
        let of_ones: f64 = ones.iter().sum();
        // Where the two products go: to 0 first, then to what is left of them and what the first step neglects.
        let direction = |to_low: &dyn Fn(usize) -> f64, to_high: &dyn Fn(usize) -> f64| {
            let right = |i: usize| {
                if !moves(i) {
                    return 0.0;
                }
                residual[i] + (to_low(i) / above[i] - low[i]) - (to_high(i) / below[i] - high[i])
            };
            let mut moved = inverse.times(&(0..n).map(right).collect::<Vec<f64>>());
            let bias = (moved.iter().sum::<f64>() + imbalance) / of_ones;
            moved.iter_mut().zip(&ones).for_each(|(m, o)| *m -= bias * o);
            let of_low = |i: usize| (to_low(i) - low[i] * moved[i]) / above[i] - low[i];
            let of_high = |i: usize| (to_high(i) + high[i] * moved[i]) / below[i] - high[i];
            let lows: Vec<f64> = (0..n).map(|i| if moves(i) { of_low(i) } else { 0.0 }).collect();
            let highs: Vec<f64> = (0..n).map(|i| if moves(i) { of_high(i) } else { 0.0 }).collect();
            let mut longest: f64 = 1.0 / SHARE;
            for i in (0..n).filter(|&i| moves(i)) {
                let pairs =
                    [(above[i], moved[i]), (below[i], -moved[i]), (low[i], lows[i]), (high[i], highs[i])];
                for (now, change) in pairs {
                    if change < 0.0 {
                        longest = longest.min(-now / change);
                    }
                }
            }
            (moved, lows, highs, bias, longest)
        };
        let (moved, lows, highs, _, longest) = direction(&|_| 0.0, &|_| 0.0);
        let step = longest.min(1.0);
        let after = |i: usize| {
            (above[i] + step * moved[i]) * (low[i] + step * lows[i])
                + (below[i] - step * moved[i]) * (high[i] + step * highs[i])
        };
        let left: f64 = (0..n).filter(|&i| moves(i)).map(after).sum::<f64>() / (2 * movable) as f64;
        let aim = mu * (left / mu).max(0.0).powi(3);
        let (moved, lows, highs, of_bias, longest) =
            direction(&|i| aim - moved[i] * lows[i], &|i| aim + moved[i] * highs[i]);
        let step = SHARE * longest;
        if !of_bias.is_finite() || step < 1e-10 {
            break;
        }
        for i in (0..n).filter(|&i| moves(i)) {
            above[i] += step * moved[i];
            below[i] -= step * moved[i];
            low[i] += step * lows[i];
            high[i] += step * highs[i];
            b[i] = place(i, above[i], below[i]);
        }
        bias += step * of_bias;
    }
    // At a bound the multiplier is large beside the distance, which is about mu over it.
    let mut free = Vec::new();
    for i in (0..n).filter(|&i| moves(i)) {
        if low[i] > above[i] / range[i] {
            b[i] = dual.lower[i];
        } else if high[i] > below[i] / range[i] {
            b[i] = dual.upper[i];
        } else {
            free.push(i);
        }
    }
    // The others take what the sum lost by that, each by its room, so that what is at a bound stays there.
    let excess = b.iter().sum::<f64>() - sum;
    let room = |i: usize, b: f64| if excess > 0.0 { b - dual.lower[i] } else { dual.upper[i] - b };
    let total: f64 = free.iter().map(|&i| room(i, b[i])).sum();
    if total > excess.abs() {
        free.iter().for_each(|&i| b[i] -= excess / total * room(i, b[i]));
    }
    b.iter().all(|b| b.is_finite()).then_some(b)
}

impl DenseRows<'_> {
    fn each(&self) -> impl Iterator<Item = &[f64]> {
        self.values.chunks_exact(self.columns)
    }

    /// The sum of the rows times some weights.
    fn combined(&self, weights: &[f64]) -> Vec<f64> {
        let mut sum = vec![0.0; self.columns];
        in_wide_vectors(|| {
            for (row, weight) in self.each().zip(weights).filter(|(_, w)| **w != 0.0) {
                sum.iter_mut().zip(row).for_each(|(s, x)| *s += weight * x);
            }
        });
        sum
    }

    /// The product of every row with a vector.
    fn products(&self, w: &[f64]) -> Vec<f64> {
        let features = crate::Features::Dense { values: self.values, columns: self.columns };
        in_wide_vectors(|| (0..features.len()).map(|i| features.dot(i, w)).collect())
    }
}

/// The inverse of `D + X X'`, by the factor of `I + X'D^-1 X`.
struct Inverse<'a> {
    rows: &'a DenseRows<'a>,
    diagonal: &'a [f64],
    factor: Factor,
}

impl<'a> Inverse<'a> {
    /// With the inverse of the diagonal; nothing if it is to stop.
    fn new(rows: &'a DenseRows<'a>, diagonal: &'a [f64], cancel: Option<&AtomicBool>) -> Option<Inverse<'a>> {
        let d = rows.columns;
        let mut sums = vec![0.0; d * d];
        (0..d).for_each(|j| sums[j * d + j] = 1.0);
        for (values, weights) in rows.values.chunks(ROWS_AT_ONCE * d).zip(diagonal.chunks(ROWS_AT_ONCE)) {
            if cancel.is_some_and(|cancel| cancel.load(Ordering::Relaxed)) {
                return None;
            }
            add_products(values, weights, d, &mut sums);
        }
        let mut factor = Factor::default();
        // The matrix is the identity and more, so that without rounding no pivot is below 1.
        sums.chunks(d).enumerate().for_each(|(j, row)| factor.push(row[..=j].to_vec(), 1.0));
        Some(Inverse { rows, diagonal, factor })
    }

    /// Times a vector.
    fn times(&self, r: &[f64]) -> Vec<f64> {
        let mut scaled: Vec<f64> = self.diagonal.iter().zip(r).map(|(d, r)| d * r).collect();
        let products = self.rows.products(&self.factor.solve(self.rows.combined(&scaled)));
        scaled.iter_mut().zip(self.diagonal).zip(products).for_each(|((s, d), p)| *s -= d * p);
        scaled
    }
}
