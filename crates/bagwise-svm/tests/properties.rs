//! What must hold for every problem: optimality conditions, and that the roads to an answer agree.

mod common;

use bagwise_svm::{Form, Gram, RowFn, SmoParams, StopReason, fit, fit_path, fit_with_faces};
use common::{Random, audit, dot, gram, points, rbf, upto};
use proptest::prelude::*;

const TOLERANCE: f64 = 1e-8;

fn params() -> SmoParams<'static> {
    SmoParams { tolerance: TOLERANCE, ..SmoParams::default() }
}

fn problem_gram(x: &[Vec<f64>], linear: bool) -> Vec<f64> {
    if linear { gram(x, dot) } else { gram(x, rbf(0.5)) }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 128, failure_persistence: None, ..ProptestConfig::default() })]

    /// Feasible, optimal by the definition, and the outcome tells the truth.
    #[test]
    fn kkt_conditions(seed: u64, n in 1usize..40, linear: bool, regress: bool, shrinking: bool, faces: bool, log_cost in -3i32..3) {
        let data = points(n, 3, seed);
        let k = problem_gram(&data.x, linear);
        let mut random = Random(seed ^ 1);
        // Bounds differ from example to example, and some are zero.
        let cost = 10f64.powi(log_cost);
        let limits: Vec<f64> =
            (0..n).map(|_| if random.uniform() < 0.1 { 0.0 } else { cost * (0.5 + random.uniform()) }).collect();
        let form = if regress {
            Form::Regress { targets: &data.targets, tube: 0.1 }
        } else {
            Form::Classify { labels: &data.labels }
        };
        let index = upto(n);
        let train = if faces { fit_with_faces } else { fit };
        let machine = train(&Gram::new(&k, n, &index), form, &limits, None, &SmoParams { shrinking, ..params() });
        let seen = audit(&k, form, &limits, &machine.coefficients);
        prop_assert_eq!(machine.outcome.status, StopReason::Converged);
        prop_assert_eq!(seen.outside.max(0.0), 0.0);
        // Sums and outputs of up to 40 terms of size up to 1.5 cost times a kernel value of at most about 20,
        // in other orders than the solver's: 1e-13 of that is some hundred roundings.
        let rounding = 1e-13 * (1.0 + 30.0 * cost * n as f64);
        prop_assert!(seen.sum.abs() <= rounding, "sum {}", seen.sum);
        prop_assert!(seen.gap <= TOLERANCE + rounding, "gap {}", seen.gap);
        prop_assert!((seen.objective - machine.outcome.objective).abs() <= rounding * (1.0 + cost) * n as f64);
        prop_assert!((machine.outcome.kkt_gap - seen.gap).abs() <= rounding);
        // Weak duality; and each example's slack is at most its bound times the gap.
        prop_assert!(machine.outcome.duality_gap >= -rounding * (1.0 + cost) * n as f64);
        let total: f64 = limits.iter().sum();
        prop_assert!(machine.outcome.duality_gap <= 2.0 * TOLERANCE * total + rounding * (1.0 + cost) * n as f64);
        let (least, most) = seen.interval;
        prop_assert!(machine.bias >= least - TOLERANCE - rounding && machine.bias <= most + TOLERANCE + rounding);
        for (ours, output) in machine.training_outputs.iter().zip(&seen.outputs) {
            prop_assert!((ours - output - machine.bias).abs() <= rounding);
        }
    }

    /// Free coefficients that are moved together arrive where pairs do, from anywhere.
    #[test]
    fn faces_lead_to_the_same_machine(seed: u64, n in 20usize..120, log_cost in -1i32..3) {
        let data = points(n, 8, seed);
        let k = gram(&data.x, dot);
        let (index, limits) = (upto(n), vec![10f64.powi(log_cost); n]);
        let form = Form::Classify { labels: &data.labels };
        let kernel = Gram::new(&k, n, &index);
        let by_pairs = fit(&kernel, form, &limits, None, &params());
        let by_faces = fit_with_faces(&kernel, form, &limits, None, &params());
        prop_assert_eq!(by_faces.outcome.status, StopReason::Converged);
        let gaps = by_pairs.outcome.duality_gap + by_faces.outcome.duality_gap;
        let apart = (by_pairs.outcome.objective - by_faces.outcome.objective).abs();
        prop_assert!(apart <= gaps + 1e-9 * by_pairs.outcome.objective.abs(), "{apart} and {gaps}");
        let again = fit_with_faces(&kernel, form, &limits, Some(&by_pairs.coefficients), &params());
        prop_assert!(again.outcome.iterations <= by_faces.outcome.iterations);
    }

    /// An index list, a copied matrix, and rows on demand in a cache of two rows: the same bits.
    #[test]
    fn sources_agree_to_the_bit(seed: u64, n in 2usize..60, regress: bool) {
        let data = points(n, 3, seed);
        let k = gram(&data.x, rbf(0.5));
        let mut random = Random(seed ^ 2);
        let fold: Vec<usize> = (0..n).filter(|_| random.uniform() < 0.8).collect();
        let m = fold.len();
        let labels: Vec<f64> = fold.iter().map(|&i| data.labels[i]).collect();
        let targets: Vec<f64> = fold.iter().map(|&i| data.targets[i]).collect();
        let form = if regress { Form::Regress { targets: &targets, tube: 0.1 } } else { Form::Classify { labels: &labels } };
        let copy: Vec<f64> = fold.iter().flat_map(|&i| fold.iter().map(move |&j| (i, j))).map(|(i, j)| k[i * n + j]).collect();
        let everything = upto(m);
        let limits = vec![10.0; m];
        let listed = fit(&Gram::new(&k, n, &fold), form, &limits, None, &params());
        let copied = fit(&Gram::new(&copy, m, &everything), form, &limits, None, &params());
        let rows = RowFn::new(vec![1.0; m], |i, columns, out: &mut [f64]| {
            for (value, &j) in out.iter_mut().zip(columns) {
                *value = copy[i * m + j];
            }
        });
        let computed = fit(&rows, form, &limits, None, &SmoParams { cache_bytes: 0, ..params() });
        prop_assert_eq!(&listed.coefficients, &copied.coefficients);
        prop_assert_eq!(&listed.coefficients, &computed.coefficients);
        prop_assert_eq!(listed.bias, copied.bias);
        prop_assert_eq!(listed.bias, computed.bias);
        prop_assert_eq!(listed.outcome, computed.outcome);
    }

    /// Any start, feasible or not, leads to the same machine; so does a path.
    #[test]
    fn starts_and_paths_agree(seed: u64, n in 2usize..40, regress: bool) {
        let data = points(n, 3, seed);
        let k = gram(&data.x, rbf(0.5));
        let index = upto(n);
        let kernel = Gram::new(&k, n, &index);
        let form = if regress {
            Form::Regress { targets: &data.targets, tube: 0.05 }
        } else {
            Form::Classify { labels: &data.labels }
        };
        let costs = [30.0, 0.1, 1.0, 1.0, 3.0];
        let path = fit_path(&kernel, form, &vec![1.0; n], &costs, &params());
        let mut random = Random(seed ^ 3);
        for (machine, cost) in path.iter().zip(costs) {
            let limits = vec![cost; n];
            let start: Vec<f64> = (0..n).map(|_| 2.0 * cost * random.normal()).collect();
            let cold = fit(&kernel, form, &limits, None, &params());
            let warm = fit(&kernel, form, &limits, Some(&start), &params());
            let again = fit(&kernel, form, &limits, Some(&cold.coefficients), &params());
            for other in [machine, &warm, &again] {
                prop_assert_eq!(other.outcome.status, StopReason::Converged);
                let seen = audit(&k, form, &limits, &other.coefficients);
                prop_assert!(seen.gap <= TOLERANCE + 1e-10 && seen.sum.abs() <= 1e-10 && seen.outside <= 0.0);
                // Both objectives exceed the optimum by at most their duality gaps.
                let slack = cold.outcome.duality_gap.max(other.outcome.duality_gap) + 1e-10;
                prop_assert!((other.outcome.objective - cold.outcome.objective).abs() <= slack);
            }
            // A solution needs no update, up to the drift of its gradient at the edge of the tolerance.
            prop_assert!(again.outcome.iterations <= 2, "{}", again.outcome.iterations);
        }
    }

    /// An example of weight two is two examples.
    #[test]
    fn weights_count_examples(seed: u64, n in 2usize..20) {
        let data = points(n, 2, seed);
        let k = gram(&data.x, rbf(0.5));
        let twice: Vec<usize> = (0..n).chain([0]).collect();
        let labels: Vec<f64> = twice.iter().map(|&i| data.labels[i]).collect();
        let index = upto(n);
        let mut limits = vec![1.0; n];
        let doubled = fit(&Gram::new(&k, n, &twice), Form::Classify { labels: &labels }, &vec![1.0; n + 1], None, &params());
        limits[0] = 2.0;
        let weighted = fit(&Gram::new(&k, n, &index), Form::Classify { labels: &data.labels }, &limits, None, &params());
        let slack = doubled.outcome.duality_gap + weighted.outcome.duality_gap + 1e-10;
        prop_assert!((doubled.outcome.objective - weighted.outcome.objective).abs() <= slack);
        // Outputs without the bias are unique for a positive definite kernel; they follow the gap.
        for i in 0..n {
            let (a, b) = (doubled.training_outputs[i] - doubled.bias, weighted.training_outputs[i] - weighted.bias);
            prop_assert!((a - b).abs() <= 1e-5, "{} {}", a, b);
        }
    }
}

/// Shrinking sets variables aside, reorders rows and rebuilds gradients: on a problem large enough to shrink
/// several times it must end where plain SMO ends, also when rows are computed and dropped.
#[test]
fn shrinking_changes_nothing() {
    let n = 1500;
    let data = points(n, 4, 7);
    let k = gram(&data.x, rbf(0.3));
    let index = upto(n);
    let kernel = Gram::new(&k, n, &index);
    let rows = RowFn::new(vec![1.0; n], |i, columns, out: &mut [f64]| {
        for (value, &j) in out.iter_mut().zip(columns) {
            *value = k[i * n + j];
        }
    });
    for form in [Form::Classify { labels: &data.labels }, Form::Regress { targets: &data.targets, tube: 0.3 }]
    {
        for tolerance in [1e-3, 1e-7] {
            let limits = vec![10.0; n];
            let plain = SmoParams { tolerance, shrinking: false, ..SmoParams::default() };
            let shrunk = SmoParams { shrinking: true, ..plain };
            let small_cache = SmoParams { cache_bytes: 40 * 8 * n, ..shrunk };
            let expected = fit(&kernel, form, &limits, None, &plain);
            for machine in [
                fit(&kernel, form, &limits, None, &shrunk),
                fit(&rows, form, &limits, None, &shrunk),
                fit(&rows, form, &limits, None, &small_cache),
            ] {
                assert_eq!(machine.outcome.status, StopReason::Converged);
                let seen = audit(&k, form, &limits, &machine.coefficients);
                // Outputs are sums of up to 1,500 terms of size 10: rounding 1e-11.
                assert!(seen.gap <= tolerance + 1e-11, "{} {tolerance}", seen.gap);
                assert!(seen.sum.abs() < 1e-9 && seen.outside <= 0.0);
                let slack = expected.outcome.duality_gap + machine.outcome.duality_gap;
                assert!((machine.outcome.objective - expected.outcome.objective).abs() <= slack);
            }
        }
    }
}

/// With 21 examples in 8 dimensions, moving all free coefficients is moving along directions without curvature. Steps of pure
/// rounding once undid what pairs had reached, for ever.
#[test]
fn steps_of_rounding_do_not_undo_pairs() {
    let n = 21;
    let data = points(n, 8, 9_362_481_157_077_981_102);
    let k = gram(&data.x, dot);
    let (index, limits) = (upto(n), vec![100.0; n]);
    let form = Form::Classify { labels: &data.labels };
    let machine = fit_with_faces(&Gram::new(&k, n, &index), form, &limits, None, &params());
    assert_eq!(machine.outcome.status, StopReason::Converged);
}
