//! The same machines where the kernel matrix is too large to keep: a chunk of examples at a time.
//!
//! With `g = p - Kb` known for every example, take a chunk `W` of those that violate the optimality conditions most,
//! half of them upwards and half downwards, and solve the problem in which only they may move. In the moves `d` it is
//! again a [`Dual`],
//!
//! ```text
//! minimise 1/2 d'K_WW d - g_W'd   subject to  lower - b <= d <= upper - b,  sum d_i = 0,
//! ```
//!
//! so [`smo`] solves it on a Gram of `|W|^2` entries. Then `g` is brought up to date by one weighted sum over the
//! chunk's kernel rows, none of which is stored; examples at a bound that point firmly outwards are set aside meanwhile,
//! and looked at before the answer is accepted. Work goes through matrix products, memory is the chunk's Gram and a few
//! vectors, and kernel values are computed once for every time that their row moves. Since a chunk holds the pair that
//! violates most, every step gains at least what SMO's would. Half a chunk stays for the next step, because
//! examples pushed aside too early come back together.
//!
//! Chunking: Vapnik (1982); Joachims (1999) for the choice of violators; Wen, Shi, Li, He, Chen (ThunderSVM, JMLR 19,
//! 2018) for solving large chunks on a device and keeping half of them.

use std::sync::atomic::Ordering;

use crate::forms::{Form, Machine};
use crate::problem::{Dual, Gram};
use crate::smo::{SmoParams, Solution, SolveOutcome, StopReason, smo};

/// A kernel matrix whose parts are computed on demand. Nothing comes back once the caller was asked to
/// stop.
pub trait ChunkKernel {
    /// Number of examples.
    fn len(&self) -> usize;

    /// True if there are no examples.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The Gram matrix of some examples, row-major.
    fn gram(&self, which: &[usize]) -> Option<Vec<f64>>;

    /// For every `i` of `at`, the sum of `weights[k] K[which[k]][i]`.
    fn sums(&self, which: &[usize], weights: &[f64], at: &[usize]) -> Option<Vec<f64>>;
}

/// Coefficients to start from, with the outputs `Kb` that belong to them: without these a start would cost a pass over
/// the kernel rows of all of its coefficients.
#[derive(Clone, Debug)]
pub struct ChunkStart {
    /// Within their bounds, with sum 0 up to rounding.
    pub coefficients: Vec<f64>,
    /// One for each example.
    pub outputs: Vec<f64>,
}

/// Trains one classifier as [`crate::fit`] does, `chunk` examples at a time.
///
/// # Panics
/// As [`crate::fit`], if the form is not a classifier, and if a start is not feasible.
pub fn fit_chunks(
    kernel: &dyn ChunkKernel,
    form: Form<'_>,
    bounds: &[f64],
    start: Option<ChunkStart>,
    chunk: usize,
    params: &SmoParams<'_>,
) -> Machine {
    assert!(matches!(form, Form::Classify { .. }), "chunks are for classifiers");
    let dual = form.dual(bounds);
    dual.check(kernel.len());
    let mut state = ChunkState::new(&dual, start);
    let status = state.solve(kernel, chunk.max(2), params);
    state.into_machine(status)
}

/// A gap that counts as near the end, in units of labels; and how much larger chunks are from there on.
const NEAR: f64 = 0.1;
const LAST: usize = 4;

struct ChunkState<'d> {
    dual: &'d Dual,
    b: Vec<f64>,
    gradient: Vec<f64>,
    /// Examples whose gradient is kept up to date, ascending.
    active: Vec<usize>,
    /// The coefficients that the gradients of the others belong to.
    then: Vec<f64>,
    /// Chunks solved.
    steps: usize,
}

impl<'d> ChunkState<'d> {
    fn new(dual: &'d Dual, start: Option<ChunkStart>) -> ChunkState<'d> {
        let n = dual.len();
        let Some(ChunkStart { coefficients: b, outputs }) = start else {
            let (b, then) = (vec![0.0; n], vec![0.0; n]);
            return ChunkState {
                dual,
                b,
                gradient: dual.linear.clone(),
                active: (0..n).collect(),
                then,
                steps: 0,
            };
        };
        assert!(b.len() == n && outputs.len() == n, "a start needs two numbers for each of {n} examples");
        let inside = (0..n).all(|i| (dual.lower[i]..=dual.upper[i]).contains(&b[i]));
        let (sum, size) = b.iter().fold((0.0, 0.0), |(sum, size): (f64, f64), b| (sum + b, size + b.abs()));
        assert!(inside && sum.abs() <= 1e-9 * size.max(f64::MIN_POSITIVE), "a start is not feasible");
        let gradient = dual.linear.iter().zip(&outputs).map(|(p, o)| p - o).collect();
        let then = b.clone();
        ChunkState { dual, b, gradient, active: (0..n).collect(), then, steps: 0 }
    }

    fn can_rise(&self, i: usize) -> bool {
        self.b[i] < self.dual.upper[i]
    }

    fn can_fall(&self, i: usize) -> bool {
        self.b[i] > self.dual.lower[i]
    }

    /// The largest `u` and the smallest `d` of the active examples.
    fn extremes(&self) -> (f64, f64) {
        let (mut up, mut down) = (f64::NEG_INFINITY, f64::INFINITY);
        for &i in &self.active {
            let g = self.gradient[i];
            if self.can_rise(i) {
                up = up.max(g);
            }
            if self.can_fall(i) {
                down = down.min(g);
            }
        }
        (up, down)
    }

    /// Sets aside examples at a bound that point outwards beyond every violation, if they are at least half: the
    /// gradients of half the examples are half the work of every step.
    fn set_aside(&mut self, up: f64, down: f64) {
        let idle = |&i: &usize| {
            !self.can_rise(i) && self.gradient[i] > up || !self.can_fall(i) && self.gradient[i] < down
        };
        let busy: Vec<usize> = self.active.iter().copied().filter(|i| !idle(i)).collect();
        if 2 * busy.len() <= self.active.len() {
            self.active = busy;
        }
    }

    /// Brings every gradient up to date; `None` if cancelled.
    fn return_all(&mut self, kernel: &dyn ChunkKernel) -> Option<()> {
        let n = self.b.len();
        let mut aside = vec![true; n];
        self.active.iter().for_each(|&i| aside[i] = false);
        let aside: Vec<usize> = (0..n).filter(|&i| aside[i]).collect();
        let moved: Vec<usize> = (0..n).filter(|&i| self.b[i] != self.then[i]).collect();
        if !aside.is_empty() && !moved.is_empty() {
            let by: Vec<f64> = moved.iter().map(|&i| self.b[i] - self.then[i]).collect();
            let sums = kernel.sums(&moved, &by, &aside)?;
            aside.iter().zip(sums).for_each(|(&i, s)| self.gradient[i] -= s);
        }
        self.active = (0..n).collect();
        Some(())
    }

    fn solve(&mut self, kernel: &dyn ChunkKernel, chunk: usize, params: &SmoParams<'_>) -> StopReason {
        let mut last: Vec<usize> = Vec::new();
        let mut looked_again = false;
        loop {
            let (up, down) = self.extremes();
            let gap = up - down;
            let whole = self.active.len() == self.b.len();
            if !whole && (gap <= params.tolerance || self.steps >= params.max_iterations) {
                if self.return_all(kernel).is_none() {
                    return StopReason::Cancelled;
                }
                continue;
            }
            if gap <= params.tolerance {
                return StopReason::Converged;
            }
            if self.steps >= params.max_iterations {
                return StopReason::IterationLimit;
            }
            if params.cancel.is_some_and(|cancel| cancel.load(Ordering::Relaxed)) {
                return StopReason::Cancelled;
            }
            self.steps += 1;
            // Not while most examples are still on their way, and not twice from one moment.
            if whole && gap <= 1.0 {
                self.then.copy_from_slice(&self.b);
                self.set_aside(up, down);
            }
            // Near the end a larger chunk may hold all examples that are free, and then a few steps are enough.
            let size = if gap <= NEAR { LAST * chunk } else { chunk };
            let which = self.choose(size, &last);
            let Some(gram) = kernel.gram(&which) else { return StopReason::Cancelled };
            let part = |values: &[f64]| which.iter().map(|&i| values[i]).collect::<Vec<f64>>();
            let room = |ends: &[f64]| which.iter().map(|&i| ends[i] - self.b[i]).collect::<Vec<f64>>();
            let inner = Dual {
                linear: part(&self.gradient),
                lower: room(&self.dual.lower),
                upper: room(&self.dual.upper),
                tube: 0.0,
            };
            let all: Vec<usize> = (0..which.len()).collect();
            // A tenth of what is left: the rest of the examples will move as well.
            let inner_params = SmoParams { tolerance: (0.1 * gap).max(0.5 * params.tolerance), ..*params };
            let Solution { coefficients, outcome, .. } =
                smo(&Gram::new(&gram, which.len(), &all), &inner, None, &inner_params);
            let (mut moved, mut by) = (Vec::new(), Vec::new());
            for (k, &i) in which.iter().enumerate() {
                let d = coefficients[k];
                if d != 0.0 {
                    let before = self.b[i];
                    self.b[i] = match () {
                        _ if d == inner.upper[k] => self.dual.upper[i],
                        _ if d == inner.lower[k] => self.dual.lower[i],
                        _ => (before + d).clamp(self.dual.lower[i], self.dual.upper[i]),
                    };
                    moved.push(i);
                    by.push(self.b[i] - before);
                }
            }
            if moved.is_empty() {
                // The most violating pair is in the chunk: the rest is below double precision.
                // Unless some were set aside: they are looked at once more.
                let whole = self.active.len() == self.b.len() || looked_again;
                if outcome.status == StopReason::Cancelled || self.return_all(kernel).is_none() {
                    return StopReason::Cancelled;
                }
                if whole {
                    return StopReason::PrecisionLimit;
                }
                looked_again = true;
                last.clear();
                continue;
            }
            let Some(sums) = kernel.sums(&moved, &by, &self.active) else { return StopReason::Cancelled };
            self.active.iter().zip(sums).for_each(|(&i, s)| self.gradient[i] -= s);
            last = which;
        }
    }

    /// The next chunk, ascending: of the last one those that are free, up to half, and those that violate most.
    fn choose(&self, chunk: usize, last: &[usize]) -> Vec<usize> {
        let mut taken = vec![false; self.b.len()];
        let mut which = Vec::with_capacity(chunk);
        let mut take = |which: &mut Vec<usize>, i: usize| {
            if !std::mem::replace(&mut taken[i], true) {
                which.push(i);
            }
        };
        let free = |i: usize| self.can_rise(i) && self.can_fall(i);
        last.iter().filter(|&&i| free(i)).take(chunk / 2).for_each(|&i| take(&mut which, i));
        let most = |keep: &dyn Fn(usize) -> bool, key: &dyn Fn(usize) -> f64, count: usize| {
            let mut all: Vec<(f64, usize)> =
                self.active.iter().filter(|&&i| keep(i)).map(|&i| (key(i), i)).collect();
            let order = |a: &(f64, usize), b: &(f64, usize)| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1));
            if all.len() > count {
                all.select_nth_unstable_by(count, order);
                all.truncate(count);
            }
            all
        };
        // At least the pair that violates most.
        let each = ((chunk - which.len()) / 2).max(1);
        for (_, i) in most(&|i| self.can_rise(i), &|i| -self.gradient[i], each) {
            take(&mut which, i);
        }
        for (_, i) in most(&|i| self.can_fall(i), &|i| self.gradient[i], each) {
            take(&mut which, i);
        }
        which.sort_unstable();
        which
    }

    fn into_machine(self, status: StopReason) -> Machine {
        let outputs: Vec<f64> = self.dual.linear.iter().zip(&self.gradient).map(|(p, g)| p - g).collect();
        let end = self.dual.finish(&self.b, &outputs);
        let outcome = SolveOutcome {
            status,
            iterations: self.steps,
            objective: end.objective,
            kkt_gap: end.kkt_gap,
            duality_gap: end.duality_gap,
        };
        Solution { coefficients: self.b, outputs, bias: end.bias, outcome }.into()
    }
}
