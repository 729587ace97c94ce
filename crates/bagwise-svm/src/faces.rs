//! The same machines by pairs and by faces: for kernels of few dimensions, above all linear ones, on up to some thousands of examples.
//!
//! Pairs settle soon which coefficients are free, and then take most of their time to settle the values: free coefficients depend on
//! each other through every dimension. So after some iterations for each example ([`PATIENCE`]) the free ones are moved together, to the
//! minimum on the face of the box that they span, with their sum held: one system of equations by Cholesky. Whoever reaches a
//! bound on the way ends the step and is left out of the next, for which the factor is brought up to date. Then pairs go on, and say when
//! it is enough: the stopping rule is that of [`crate::smo`]. Where free coefficients outnumber the dimensions, a step may be nothing but
//! rounding. A visit that does not lower the objective is therefore undone, and pairs work twice as long before the next.
//!
//! Steps on a face: More and Toraldo, SIAM J. Optimization 1 (1991) 93.

use crate::cholesky::Factor;
use crate::forms::{Form, Machine};
use crate::problem::{Dual, KernelRows};
use crate::smo::{SmoParams, Solution, Solver, Start, StopReason};

/// Iterations for each example between two visits to a face: about what a visit costs.
const PATIENCE: usize = 4;

/// Steps on a face in one visit. The first costs the cube of the free coefficients, others the square.
const STEPS: usize = 32;

/// More free coefficients than these are left to pairs: a step takes the cube.
const MOST_FREE: usize = 400;

/// Trains one machine; arguments as in [`crate::fit`].
///
/// # Panics
/// As [`crate::fit`].
pub fn fit_with_faces(
    kernel: &dyn KernelRows,
    form: Form<'_>,
    bounds: &[f64],
    start: Option<&[f64]>,
    params: &SmoParams<'_>,
) -> Machine {
    let dual = form.dual(bounds);
    let mut patience = (PATIENCE * dual.len()).max(1);
    let mut solver = Solver::new(kernel, params);
    let mut start = start.map(|b| solver.feasible_start(&dual, b)).unwrap_or_default();
    let mut iterations = 0;
    loop {
        let mut solution = solver.solve_for(&dual, start, patience.min(params.max_iterations - iterations));
        iterations += solution.outcome.iterations;
        if solution.outcome.status != StopReason::IterationLimit || iterations >= params.max_iterations {
            solution.outcome.iterations = iterations;
            return solution.into();
        }
        start = match on_face(kernel, &dual, &solution) {
            Some(better) => better,
            None => {
                patience = patience.saturating_mul(2);
                Start { coefficients: solution.coefficients, outputs: solution.outputs }
            }
        };
    }
}

/// Moves the free coefficients towards the minimum on their face; nothing if that does not lower the objective.
fn on_face(kernel: &dyn KernelRows, dual: &Dual, solution: &Solution) -> Option<Start> {
    let (mut b, mut outputs) = (solution.coefficients.clone(), solution.outputs.clone());
    let n = dual.len();
    let inside = |i: &usize| b[*i] != 0.0 && b[*i] > dual.lower[*i] && b[*i] < dual.upper[*i];
    let all_free: Vec<usize> = (0..n).filter(inside).collect();
    let before: Vec<f64> = all_free.iter().map(|&i| b[i]).collect();
    if all_free.len() > MOST_FREE {
        return None;
    }
    let mut free = all_free.clone();
    let mut gradient: Vec<f64> =
        free.iter().map(|&i| dual.linear[i] - outputs[i] - dual.tube.copysign(b[i])).collect();
    let mut factor = factor(kernel, &free);
    for _ in 0..STEPS {
        if free.len() < 2 {
            break;
        }
        let Some((moved, common)) = minimum(&factor, &gradient) else { break };
        // As far as the first bound or zero; the objective falls all the way.
        let end = |k: usize| match (moved[k] > 0.0, b[free[k]] > 0.0) {
            (true, true) => dual.upper[free[k]],
            (false, false) => dual.lower[free[k]],
            _ => 0.0,
        };
        let share = |k: usize| (end(k) - b[free[k]]) / moved[k];
        let moves = |k: &usize| moved[*k] != 0.0;
        let reach = (0..free.len()).filter(moves).map(share).fold(1.0, f64::min);
        let arrived: Vec<usize> =
            (0..free.len()).filter(|k| reach < 1.0 && moves(k) && share(*k) <= reach).collect();
        let ends: Vec<f64> = arrived.iter().map(|&k| end(k)).collect();
        for (k, &i) in free.iter().enumerate() {
            b[i] += reach * moved[k];
            // `K d` is what the gradient lacks to be the same for all.
            gradient[k] += reach * (common - gradient[k]);
        }
        for (&k, value) in arrived.iter().zip(ends).rev() {
            b[free[k]] = value;
            free.remove(k);
            gradient.remove(k);
            factor.remove(k);
        }
        if reach >= 1.0 {
            break;
        }
    }
    // Steps hold the sum up to rounding, which must not build up from visit to visit.
    let excess: f64 = b.iter().sum();
    let room = |i: usize| (b[i] - dual.lower[i]).min(dual.upper[i] - b[i]).min(b[i].abs());
    let roomiest = free.iter().copied().max_by(|&i, &j| room(i).total_cmp(&room(j)));
    if let Some(i) = roomiest.filter(|&i| room(i) > excess.abs()) {
        b[i] -= excess;
    }
    let (all, mut row): (Vec<usize>, Vec<f64>) = ((0..n).collect(), vec![0.0; n]);
    for (&i, before) in all_free.iter().zip(before) {
        let change = b[i] - before;
        kernel.row(i, &all, &mut row);
        outputs.iter_mut().zip(&row).for_each(|(o, k)| *o += change * k);
    }
    let fell = dual.finish(&b, &outputs).objective < solution.outcome.objective;
    fell.then_some(Start { coefficients: b, outputs })
}

/// The Cholesky factor of the kernel of the free examples.
fn factor(kernel: &dyn KernelRows, free: &[usize]) -> Factor {
    // Where free coefficients outnumber the dimensions, directions without curvature get a little: steps along them are long,
    // and a bound ends them.
    const LEAST: f64 = 1e-10;
    let largest = free.iter().map(|&i| kernel.diagonal(i)).fold(f64::MIN_POSITIVE, f64::max);
    let mut factor = Factor::default();
    for (i, &at) in free.iter().enumerate() {
        let mut row = vec![0.0; i + 1];
        kernel.row(at, &free[..=i], &mut row);
        factor.push(row, LEAST * largest);
    }
    factor
}

/// Changes `d` with `sum d = 0` that minimise `d'Kd / 2 - g'd`: `K d = g - c`, with the number `c` that makes the sum 0. Nothing
/// if rounding leaves no such changes.
fn minimum(factor: &Factor, gradient: &[f64]) -> Option<(Vec<f64>, f64)> {
    let (by_gradient, by_ones) = (factor.solve(gradient.to_vec()), factor.solve(vec![1.0; gradient.len()]));
    let common = by_gradient.iter().sum::<f64>() / by_ones.iter().sum::<f64>();
    let changes: Vec<f64> = by_gradient.iter().zip(&by_ones).map(|(u, v)| u - common * v).collect();
    changes.iter().all(|d| d.is_finite()).then_some((changes, common))
}
