//! Sequential minimal optimisation: two coefficients at a time.
//!
//! Let `g = p - Kb`. Moving `b_i` up and `b_j` down by the same small amount lowers the objective of
//! [`Dual`] at the rate `u_i - d_j`, where `u` and `d` are `g` less the slope of the tube in that direction.
//! The solution is reached when no pair promises anything, `max u <= min d`; we stop when the gap
//! `max u - min d` is at most the tolerance. Each iteration takes the `i` with the largest `u_i`, the `j` that
//! maximises `(u_i - d_j)^2 / (K_ii + K_jj - 2 K_ij)`, and moves the pair to the exact minimum of the
//! objective along that line, kinks of the tube included.
//!
//! An iteration costs two passes over the active variables and at most two new kernel rows. Variables that
//! sit at a bound (or at the kink) and point firmly outwards are set aside; before the answer is accepted they
//! return, with their gradient brought up to date by the coefficients that changed meanwhile.
//! The result depends on the problem only: not on the cache, the processor, or chance.
//!
//! Working set: Fan, Chen, Lin, JMLR 6 (2005) 1889, second-order selection. Signed coefficients: Bottou and
//! Lin, "Support vector machine solvers" (2007). Shrinking follows Joachims (1999). Where we differ: regression has `n`
//! variables with a kink instead of `2n`; variables set aside remember the coefficients of that moment, so no
//! running sum over bounded coefficients is kept.

use std::sync::atomic::{AtomicBool, Ordering};

use crate::problem::{Dual, KernelRows};
use crate::rows::RowCache;
use crate::scan::{self, Extremes, WorkingVariable};

/// How to solve.
#[derive(Clone, Copy, Debug)]
pub struct SmoParams<'a> {
    /// Largest gap `max u - min d` that counts as solved, in units of labels or targets.
    pub tolerance: f64,
    /// Iterations after which to give up.
    pub max_iterations: usize,
    /// Whether to set variables aside; never changes what counts as solved.
    pub shrinking: bool,
    /// Memory for kernel rows, in bytes. Two rows are kept in any case.
    pub cache_bytes: usize,
    /// Checked between iterations; once true, the solver returns what it has.
    pub cancel: Option<&'a AtomicBool>,
}

impl Default for SmoParams<'_> {
    fn default() -> Self {
        SmoParams {
            tolerance: 1e-3,
            max_iterations: 10_000_000,
            shrinking: true,
            cache_bytes: 256 << 20,
            cancel: None,
        }
    }
}

/// Why a solver stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StopReason {
    /// The tolerance was met.
    Converged,
    /// The iteration limit came first.
    IterationLimit,
    /// Rounding errors outweigh what is left to gain: the tolerance is below what `f64` can tell here.
    PrecisionLimit,
    /// The caller asked to stop.
    Cancelled,
}

/// How a solve ended.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SolveOutcome {
    /// Why it stopped.
    pub status: StopReason,
    /// Pair updates (SMO) or passes over the data (coordinate descent).
    pub iterations: usize,
    /// The dual objective `F`, which is minimised.
    pub objective: f64,
    /// `max u - min d`, or zero if negative.
    pub kkt_gap: f64,
    /// Primal objective plus `F`: an upper bound on how far either is from its optimum.
    pub duality_gap: f64,
}

/// Coefficients and how they were reached.
#[derive(Clone, Debug)]
pub struct Solution {
    /// The signed coefficients `b`.
    pub coefficients: Vec<f64>,
    /// `(Kb)_i` for every example of the problem, without the bias.
    pub outputs: Vec<f64>,
    /// The bias, by the rule of [`crate::Machine`].
    pub bias: f64,
    /// How the solve ended.
    pub outcome: SolveOutcome,
}

/// Solves one problem, from zero or from coefficients that need not be feasible.
///
/// A start is clipped to the bounds and balanced to sum to zero; its gradient costs one kernel row for each
/// coefficient that is not zero.
///
/// # Panics
/// If the parts of the problem differ in length, a value is not finite, or zero lies outside some bounds.
pub fn smo(kernel: &dyn KernelRows, dual: &Dual, start: Option<&[f64]>, params: &SmoParams<'_>) -> Solution {
    let mut solver = Solver::new(kernel, params);
    let start = start.map(|b| solver.feasible_start(dual, b)).unwrap_or_default();
    solver.solve(dual, start)
}

/// A feasible point and its outputs `Kb`; empty vectors stand for zero.
#[derive(Clone, Debug, Default)]
pub(crate) struct Start {
    pub(crate) coefficients: Vec<f64>,
    pub(crate) outputs: Vec<f64>,
}

/// Keeps kernel rows from one solve to the next on the same examples.
pub(crate) struct Solver<'k, 'p> {
    params: &'p SmoParams<'p>,
    rows: RowCache<'k>,
    diagonal: Vec<f64>,
    /// What the last solve no longer needs.
    spare: SmoState,
}

/// Variables in the order of [`RowCache::order`]; the first `active` take part.
#[derive(Default)]
struct SmoState {
    b: Vec<f64>,
    lower: Vec<f64>,
    upper: Vec<f64>,
    gradient: Vec<f64>,
    up: Vec<f64>,
    down: Vec<f64>,
    diagonal: Vec<f64>,
    active: usize,
    set_aside: Vec<ShrunkRange>,
    tube: f64,
}

/// Variables at positions `from..to`, whose gradient belongs to the coefficients of an earlier moment.
struct ShrunkRange {
    from: usize,
    to: usize,
    /// By variable, not by position.
    coefficients_then: Vec<f64>,
}

/// A coefficient this close to a bound, in units of the width of its box, is put on the bound: four roundings.
const SNAP: f64 = 1e-15;

impl<'k, 'p> Solver<'k, 'p> {
    pub(crate) fn new(kernel: &'k dyn KernelRows, params: &'p SmoParams<'p>) -> Solver<'k, 'p> {
        let diagonal = (0..kernel.len()).map(|i| kernel.diagonal(i)).collect();
        let rows = RowCache::new(kernel, params.cache_bytes);
        Solver { params, rows, diagonal, spare: SmoState::default() }
    }

    pub(crate) fn feasible_start(&mut self, dual: &Dual, coefficients: &[f64]) -> Start {
        let n = dual.len();
        assert_eq!(coefficients.len(), n, "a start needs one coefficient for each of {n} examples");
        let mut coefficients = coefficients.to_vec();
        dual.make_feasible(&mut coefficients);
        let mut in_order = vec![0.0; n];
        for variable in (0..n).filter(|&i| coefficients[i] != 0.0) {
            let slot = self.rows.fetch(variable, n);
            add_scaled(&mut in_order, coefficients[variable], self.rows.get(slot, n));
        }
        let mut outputs = vec![0.0; n];
        for (position, &variable) in self.rows.order.iter().enumerate() {
            outputs[variable] = in_order[position];
        }
        Start { coefficients, outputs }
    }

    pub(crate) fn solve(&mut self, dual: &Dual, start: Start) -> Solution {
        self.solve_for(dual, start, self.params.max_iterations)
    }

    /// As `solve`, with another limit of iterations.
    pub(crate) fn solve_for(&mut self, dual: &Dual, start: Start, max_iterations: usize) -> Solution {
        dual.check(self.diagonal.len());
        let n = dual.len();
        let mut state = std::mem::take(&mut self.spare);
        state.begin(dual, &start, &self.rows.order, &self.diagonal);
        let largest = self.diagonal.iter().fold(0.0, |most: f64, &k| most.max(k.abs()));
        // Duplicates have no curvature between them and an indefinite matrix has negative curvature: both are
        // given a curvature just above rounding, so that the step is long and a bound ends it.
        let flattest = if largest > 0.0 { 1e-12 * largest } else { 1.0 };
        let shrink_every = n.clamp(1, 1000);
        let mut until_shrink = shrink_every;
        let mut all_returned_early = false;
        let mut iterations = 0;
        // An upper bound on the rounding error that updates have left in the gradient.
        let mut drift = 0.0;
        let mut stuck = false;
        let mut extremes = state.extremes();
        let status = loop {
            let gap = extremes.up - extremes.down;
            if gap <= self.params.tolerance {
                let fresh = drift <= 0.1 * self.params.tolerance;
                if state.active == n && fresh {
                    break StopReason::Converged;
                }
                self.return_all(&mut state);
                if !fresh {
                    self.rebuild(&mut state, dual);
                    drift = 0.0;
                }
                extremes = state.extremes();
                until_shrink = shrink_every;
                if extremes.up - extremes.down <= self.params.tolerance {
                    break StopReason::Converged;
                }
                continue;
            }
            if iterations >= max_iterations {
                break StopReason::IterationLimit;
            }
            if self.params.cancel.is_some_and(|cancel| cancel.load(Ordering::Relaxed)) {
                break StopReason::Cancelled;
            }
            until_shrink -= 1;
            if until_shrink == 0 {
                until_shrink = shrink_every;
                if gap <= state.rounding(largest) {
                    // No gradient can be known better than this; see once more with the best we can compute.
                    self.return_all(&mut state);
                    self.rebuild(&mut state, dual);
                    drift = 0.0;
                    extremes = state.extremes();
                    if extremes.up - extremes.down <= state.rounding(largest) {
                        break StopReason::PrecisionLimit;
                    }
                    continue;
                }
                if self.params.shrinking {
                    // Close to the end, what was set aside too early is cheaper to find now than after the
                    // remaining variables have been polished.
                    if gap <= 10.0 * self.params.tolerance && !all_returned_early && state.active < n {
                        all_returned_early = true;
                        self.return_all(&mut state);
                        extremes = state.extremes();
                    }
                    self.shrink(&mut state, &mut extremes);
                }
            }

            iterations += 1;
            let i = extremes.up_at;
            let slot_i = self.rows.fetch(self.rows.order[i], state.active);
            let chosen = state.partner(i, extremes.up, self.rows.get(slot_i, state.active), flattest);
            let Some(j) = chosen else { break StopReason::PrecisionLimit };
            let slot_j = self.rows.fetch(self.rows.order[j], state.active);
            let (row_i, row_j) = (self.rows.get(slot_i, state.active), self.rows.get(slot_j, state.active));
            let amount = state.move_pair(i, j, row_i[j], flattest);
            if amount == 0.0 {
                // The step is lost in rounding. Once, that may be the gradient's fault.
                if stuck {
                    break StopReason::PrecisionLimit;
                }
                stuck = true;
                self.return_all(&mut state);
                self.rebuild(&mut state, dual);
                drift = 0.0;
                extremes = state.extremes();
                continue;
            }
            stuck = false;
            drift += f64::EPSILON * (extremes.up.abs() + 2.0 * amount * largest);
            extremes = state.step(row_i, row_j, amount);
        };
        self.return_all(&mut state);
        let solution = state.solution(dual, start, &self.rows.order, status, iterations);
        self.spare = state;
        solution
    }

    /// Sets aside variables that no pair can want: `u` below every `d`, and `d` above every `u`.
    fn shrink(&mut self, state: &mut SmoState, extremes: &mut Extremes) {
        let active = state.active;
        let idle = |k: usize| {
            state.gradient[k] + state.up[k] < extremes.down && state.gradient[k] + state.down[k] > extremes.up
        };
        let (mut positions, idle): (Vec<usize>, Vec<usize>) = (0..active).partition(|&k| !idle(k));
        // Reordering touches every cached row: worth it for a fifth of the variables, not for a handful.
        if idle.len() * 5 < active {
            return;
        }
        let keep = positions.len();
        positions.extend(idle);
        let mut coefficients_then = vec![0.0; state.b.len()];
        for (position, &variable) in self.rows.order.iter().enumerate() {
            coefficients_then[variable] = state.b[position];
        }
        self.rows.reorder(&positions, keep);
        state.reorder(&positions);
        state.active = keep;
        state.set_aside.push(ShrunkRange { from: keep, to: active, coefficients_then });
        extremes.up_at = positions[..keep].binary_search(&extremes.up_at).expect("a violator is never idle");
    }

    /// Brings the gradient of everything set aside up to date and lets it take part again.
    fn return_all(&mut self, state: &mut SmoState) {
        for aside in std::mem::take(&mut state.set_aside) {
            let mut row = vec![0.0; aside.to - aside.from];
            for position in 0..state.b.len() {
                let variable = self.rows.order[position];
                let change = state.b[position] - aside.coefficients_then[variable];
                if change != 0.0 {
                    self.rows.uncached(variable, aside.from, aside.to, &mut row);
                    add_scaled(&mut state.gradient[aside.from..aside.to], -change, &row);
                }
            }
        }
        state.active = state.b.len();
    }

    /// Computes the gradient afresh. All variables must be active.
    fn rebuild(&mut self, state: &mut SmoState, dual: &Dual) {
        let n = state.active;
        for (position, &variable) in self.rows.order.iter().enumerate() {
            state.gradient[position] = dual.linear[variable];
        }
        for position in 0..n {
            if state.b[position] != 0.0 {
                let slot = self.rows.fetch(self.rows.order[position], n);
                add_scaled(&mut state.gradient, -state.b[position], self.rows.get(slot, n));
            }
        }
    }
}

impl SmoState {
    /// Takes up a problem, in the lists of an earlier one.
    fn begin(&mut self, dual: &Dual, start: &Start, order: &[usize], diagonal: &[f64]) {
        let fill = |list: &mut Vec<f64>, values: &[f64]| {
            list.clear();
            list.extend(order.iter().map(|&i| values[i]));
        };
        let n = dual.len();
        match start.coefficients.is_empty() {
            true => {
                self.b.clear();
                self.b.resize(n, 0.0);
            }
            false => fill(&mut self.b, &start.coefficients),
        }
        fill(&mut self.gradient, &dual.linear);
        if !start.outputs.is_empty() {
            for (g, &variable) in self.gradient.iter_mut().zip(order) {
                *g -= start.outputs[variable];
            }
        }
        fill(&mut self.lower, &dual.lower);
        fill(&mut self.upper, &dual.upper);
        fill(&mut self.diagonal, diagonal);
        self.up.clear();
        self.down.clear();
        for k in 0..n {
            let (up, down) = Dual::shifts(dual.tube, self.lower[k], self.upper[k], self.b[k]);
            self.up.push(up);
            self.down.push(down);
        }
        self.active = n;
        self.set_aside.clear();
        self.tube = dual.tube;
    }

    fn extremes(&self) -> Extremes {
        scan::extremes(&self.gradient[..self.active], &self.up, &self.down)
    }

    fn partner(&self, i: usize, up_i: f64, row_i: &[f64], flattest: f64) -> Option<usize> {
        let seeker = WorkingVariable { up: up_i, diagonal: self.diagonal[i], flattest };
        scan::partner(seeker, &self.gradient[..self.active], &self.down, &self.diagonal, row_i)
    }

    fn step(&mut self, row_i: &[f64], row_j: &[f64], amount: f64) -> Extremes {
        scan::step(&mut self.gradient[..self.active], row_i, row_j, amount, &self.up, &self.down)
    }

    /// Moves `b_i` up and `b_j` down to the minimum along that line; returns how far, zero if not at all.
    ///
    /// The objective is a parabola between kinks. Where a coefficient crosses zero the promise drops by twice
    /// the tube; the walk goes on only while something is left of it.
    fn move_pair(&mut self, i: usize, j: usize, k_ij: f64, flattest: f64) -> f64 {
        let (b_i, b_j) = (self.b[i], self.b[j]);
        let curvature = (self.diagonal[i] + self.diagonal[j] - 2.0 * k_ij).max(flattest);
        let room = (self.upper[i] - b_i).min(b_j - self.lower[j]);
        let mut promise = (self.gradient[i] + self.up[i]) - (self.gradient[j] + self.down[j]);
        let mut amount = 0.0;
        loop {
            let wanted = amount + promise / curvature;
            let kink = |b: f64| if self.tube > 0.0 && b > amount { b } else { f64::INFINITY };
            let next = kink(-b_i).min(kink(b_j));
            if wanted <= next || room <= next {
                amount = wanted.min(room);
                break;
            }
            promise -= curvature * (next - amount) + 2.0 * self.tube;
            amount = next;
            if promise <= 0.0 {
                break;
            }
        }
        let new_i = land(b_i + amount, [self.upper[i], 0.0], SNAP * (self.upper[i] - self.lower[i]), b_i);
        let new_j = land(b_j - amount, [self.lower[j], 0.0], SNAP * (self.upper[j] - self.lower[j]), b_j);
        if new_i <= b_i || new_j >= b_j {
            return 0.0;
        }
        for (k, value) in [(i, new_i), (j, new_j)] {
            self.b[k] = value;
            (self.up[k], self.down[k]) = Dual::shifts(self.tube, self.lower[k], self.upper[k], value);
        }
        amount
    }

    /// Rounding error that no gradient escapes: `Kb` sums terms of total size up to `largest * sum |b|`.
    fn rounding(&self, largest: f64) -> f64 {
        f64::EPSILON * largest * self.b.iter().map(|b| b.abs()).sum::<f64>()
    }

    fn reorder(&mut self, positions: &[usize]) {
        let arrays = [
            &mut self.b,
            &mut self.lower,
            &mut self.upper,
            &mut self.gradient,
            &mut self.up,
            &mut self.down,
            &mut self.diagonal,
        ];
        for array in arrays {
            let moved: Vec<f64> = positions.iter().map(|&from| array[from]).collect();
            array[..moved.len()].copy_from_slice(&moved);
        }
    }

    /// The solution, in the lists of the start.
    fn solution(
        &self,
        dual: &Dual,
        start: Start,
        order: &[usize],
        status: StopReason,
        iterations: usize,
    ) -> Solution {
        let Start { mut coefficients, mut outputs } = start;
        coefficients.resize(self.b.len(), 0.0);
        outputs.resize(self.b.len(), 0.0);
        for (position, &variable) in order.iter().enumerate() {
            coefficients[variable] = self.b[position];
            outputs[variable] = dual.linear[variable] - self.gradient[position];
        }
        let end = dual.finish(&coefficients, &outputs);
        let outcome = SolveOutcome {
            status,
            iterations,
            objective: end.objective,
            kkt_gap: end.kkt_gap,
            duality_gap: end.duality_gap,
        };
        Solution { coefficients, outputs, bias: end.bias, outcome }
    }
}

/// Puts a coefficient that arrives within `reach` of a landmark exactly on it, unless it started there.
fn land(value: f64, landmarks: [f64; 2], reach: f64, origin: f64) -> f64 {
    landmarks.into_iter().find(|&mark| (value - mark).abs() <= reach && mark != origin).unwrap_or(value)
}

fn add_scaled(sum: &mut [f64], factor: f64, row: &[f64]) {
    for (s, &k) in sum.iter_mut().zip(row) {
        *s += factor * k;
    }
}
