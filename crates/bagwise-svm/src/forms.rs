//! Machines as instances of [`Dual`]: C-SVC and epsilon-SVR.
//!
//! With outputs `f(x) = sum_i b_i k(x_i, x) + bias` both minimise `1/2 |f|^2 + sum_i upper_i loss_i`:
//!
//! * classification, `y_i = +1` or `-1`: `loss = max(0, 1 - y f)`, hence `p = y`, no tube, `0 <= y_i b_i <= upper_i`;
//! * regression: `loss = max(0, |y - f| - tube)`, hence `p = y` and `-upper_i <= b_i <= upper_i`.
//!
//! The bound of example `i` is the cost `C` times its weight, so class weights, example weights and per-example
//! bounds are one thing. The bias is not penalised.
//!
//! A path solves for several costs in ascending order. Each solve starts from the last solution times the
//! factor that minimises the new objective along that ray within the new bounds, known in closed form; kernel
//! rows and outputs carry over, so that nothing but new rows is computed again. A solution that no cost holds back is the
//! solution for every larger cost.

use crate::problem::{Dual, KernelRows};
use crate::smo::{SmoParams, Solution, SolveOutcome, Solver, Start, smo};

/// What the machine is to learn.
#[derive(Clone, Copy, Debug)]
pub enum Form<'a> {
    /// C-SVC: labels are `+1.0` or `-1.0`.
    Classify {
        /// One label for each example.
        labels: &'a [f64],
    },
    /// Epsilon-SVR: deviations up to `tube` cost nothing.
    Regress {
        /// One target for each example.
        targets: &'a [f64],
        /// Half the width of the tube.
        tube: f64,
    },
}

impl Form<'_> {
    /// The problem of this form with the given bound on each example's coefficient.
    ///
    /// # Panics
    /// If a label is neither `+1` nor `-1`, or the lengths differ.
    pub fn dual(&self, bounds: &[f64]) -> Dual {
        match *self {
            Form::Classify { labels } => {
                assert!(labels.iter().all(|&y| y == 1.0 || y == -1.0), "a label is neither +1 nor -1");
                assert_eq!(labels.len(), bounds.len(), "each label needs a bound");
                let side = |sign: f64| -> Vec<f64> {
                    labels
                        .iter()
                        .zip(bounds)
                        .map(|(&y, &bound)| if y == sign { sign * bound } else { 0.0 })
                        .collect()
                };
                Dual { linear: labels.to_vec(), lower: side(-1.0), upper: side(1.0), tube: 0.0 }
            }
            Form::Regress { targets, tube } => Dual {
                linear: targets.to_vec(),
                lower: bounds.iter().map(|bound| -bound).collect(),
                upper: bounds.to_vec(),
                tube,
            },
        }
    }

    fn len(&self) -> usize {
        match self {
            Form::Classify { labels } => labels.len(),
            Form::Regress { targets, .. } => targets.len(),
        }
    }
}

/// A trained machine over the examples of its kernel, in their order.
///
/// The bias is the mean of `y_i - (Kb)_i - sign(b_i) tube` over coefficients strictly inside their bounds. Where
/// none is, every value of an interval is optimal and the bias is its midpoint, or its finite end if only one
/// exists: a classifier that saw one class returns that class's label everywhere.
#[derive(Clone, Debug)]
pub struct Machine {
    /// `y_i a_i` of a classifier, `b_i` of a regression; zero for examples that do not matter.
    pub coefficients: Vec<f64>,
    /// The constant term.
    pub bias: f64,
    /// Outputs on the training examples, bias included: they cost nothing, the solver has them.
    pub training_outputs: Vec<f64>,
    /// How training ended.
    pub outcome: SolveOutcome,
}

impl Machine {
    /// Positions and coefficients of the examples that matter.
    pub fn support(&self) -> impl Iterator<Item = (usize, f64)> {
        self.coefficients.iter().copied().enumerate().filter(|&(_, b)| b != 0.0)
    }

    /// The output for an example, from its kernel values with the training examples.
    pub fn output(&self, kernel_with: impl Fn(usize) -> f64) -> f64 {
        self.support().map(|(i, b)| b * kernel_with(i)).sum::<f64>() + self.bias
    }
}

impl From<Solution> for Machine {
    fn from(solution: Solution) -> Machine {
        let Solution { coefficients, mut outputs, bias, outcome } = solution;
        outputs.iter_mut().for_each(|f| *f += bias);
        Machine { coefficients, bias, training_outputs: outputs, outcome }
    }
}

/// Trains one machine; `bounds[i]` is the cost of example `i` (see [`bounds`]).
///
/// `start` may hold the coefficients of a similar problem; they need not be feasible for this one.
///
/// # Panics
/// If lengths differ, a label is not `+1` or `-1`, a bound is negative, or a value is not finite.
pub fn fit(
    kernel: &dyn KernelRows,
    form: Form<'_>,
    bounds: &[f64],
    start: Option<&[f64]>,
    params: &SmoParams<'_>,
) -> Machine {
    smo(kernel, &form.dual(bounds), start, params).into()
}

/// Trains one machine for each cost, in the order given; example `i` is bounded by `cost * weights[i]`. A machine that no cost
/// holds back is that of all larger costs too; its outcome is then that of the smallest such cost.
///
/// # Panics
/// As [`fit`].
pub fn fit_path(
    kernel: &dyn KernelRows,
    form: Form<'_>,
    weights: &[f64],
    costs: &[f64],
    params: &SmoParams<'_>,
) -> Vec<Machine> {
    let mut solver = Solver::new(kernel, params);
    along_path(form, weights, costs, params.tolerance, |dual, last| {
        let start = last.map(|(solution, ratio)| stretch(dual, solution, ratio)).unwrap_or_default();
        let solution = solver.solve(dual, start);
        (solution.clone(), solution.into())
    })
}

/// Visits the costs in ascending order, handing each solve the last solution and how much wider the bounds
/// are now; returns what the solves return, in the order of the costs as given. What is solved to `tolerance` and not held back
/// by its cost is returned for all larger costs too.
pub(crate) fn along_path<M: Clone>(
    form: Form<'_>,
    weights: &[f64],
    costs: &[f64],
    tolerance: f64,
    mut solve: impl FnMut(&Dual, Option<(Solution, f64)>) -> (Solution, M),
) -> Vec<M> {
    assert_eq!(weights.len(), form.len(), "each example needs a weight");
    assert!(costs.iter().all(|cost| cost.is_finite()), "a cost is not finite");
    let mut ascending: Vec<usize> = (0..costs.len()).collect();
    ascending.sort_by(|&a, &b| costs[a].total_cmp(&costs[b]));
    let mut machines: Vec<Option<M>> = costs.iter().map(|_| None).collect();
    let mut last: Option<(Solution, f64)> = None;
    let mut of_larger: Option<M> = None;
    for at in ascending {
        if of_larger.is_some() {
            machines[at] = of_larger.clone();
            continue;
        }
        let bounds: Vec<f64> = weights.iter().map(|weight| costs[at] * weight).collect();
        let last_here = last.map(|(solution, cost)| (solution, costs[at] / cost));
        let dual = form.dual(&bounds);
        let (solution, machine) = solve(&dual, last_here);
        let held_back = |i: usize| {
            let b = solution.coefficients[i];
            b != 0.0 && !(dual.lower[i] < b && b < dual.upper[i])
        };
        // A small duality gap is not enough: it grows with the cost.
        let solved = solution.outcome.kkt_gap <= tolerance;
        if solved && costs[at] > 0.0 && !(0..dual.len()).any(held_back) {
            of_larger = Some(machine.clone());
        }
        machines[at] = Some(machine);
        last = Some((solution, costs[at]));
    }
    machines.into_iter().map(|machine| machine.expect("every cost was visited")).collect()
}

/// The multiple of an earlier solution that suits new bounds `ratio` times as wide.
///
/// Along `s b` the objective is `s^2 b'Kb / 2 - s (p'b - tube sum |b|)`.
pub(crate) fn stretch(dual: &Dual, solution: Solution, ratio: f64) -> Start {
    let Solution { mut coefficients, mut outputs, .. } = solution;
    let (mut quadratic, mut linear) = (0.0, 0.0);
    for i in 0..coefficients.len() {
        quadratic += coefficients[i] * outputs[i];
        linear += dual.linear[i] * coefficients[i] - dual.tube * coefficients[i].abs();
    }
    let best = if quadratic > 0.0 { linear / quadratic } else { ratio };
    let factor = best.clamp(0.0, if ratio.is_finite() { ratio } else { 0.0 });
    for i in 0..coefficients.len() {
        // The product of bound and ratio may miss the new bound by a rounding.
        coefficients[i] = (coefficients[i] * factor).clamp(dual.lower[i], dual.upper[i]);
        outputs[i] *= factor;
    }
    Start { coefficients, outputs }
}

/// The bounds for a plain cost: the same for every example.
pub fn bounds(cost: f64, examples: usize) -> Vec<f64> {
    vec![cost; examples]
}

/// Weights that give both classes the same total: `n / (2 n_class)`, or 1 if there is only one class.
pub fn balanced_weights(labels: &[f64]) -> Vec<f64> {
    let n = labels.len() as f64;
    let positive = labels.iter().filter(|&&y| y > 0.0).count() as f64;
    if positive == 0.0 || positive == n {
        return vec![1.0; labels.len()];
    }
    labels.iter().map(|&y| n / (2.0 * if y > 0.0 { positive } else { n - positive })).collect()
}
