//! Problems at the edge, each with the answer that theory gives.

mod common;

use std::sync::atomic::AtomicBool;

use bagwise_svm::{Form, Gram, Machine, SmoParams, StopReason, balanced_weights, bounds, fit, fit_path};
use common::{audit, dot, gram, largest_difference, points, rbf, upto};

fn train(k: &[f64], form: Form<'_>, limits: &[f64], tolerance: f64) -> Machine {
    let index = upto(limits.len());
    fit(
        &Gram::new(k, limits.len(), &index),
        form,
        limits,
        None,
        &SmoParams { tolerance, ..SmoParams::default() },
    )
}

fn classify<'a>(labels: &'a [f64]) -> Form<'a> {
    Form::Classify { labels }
}

#[test]
fn nothing_to_learn_from() {
    let machine = train(&[], classify(&[]), &[], 1e-3);
    assert_eq!((machine.bias, machine.coefficients.len()), (0.0, 0));
    assert_eq!(machine.outcome.status, StopReason::Converged);
}

#[test]
fn one_example() {
    for label in [1.0, -1.0] {
        let machine = train(&[1.0], classify(&[label]), &[5.0], 1e-3);
        assert_eq!((machine.coefficients[0], machine.bias), (0.0, label));
    }
    let machine = train(&[1.0], Form::Regress { targets: &[2.5], tube: 0.1 }, &[5.0], 1e-3);
    assert_eq!((machine.coefficients[0], machine.bias), (0.0, 2.5));
}

#[test]
fn one_class_gives_a_constant() {
    let data = points(12, 2, 1);
    let k = gram(&data.x, rbf(1.0));
    for label in [1.0, -1.0] {
        let machine = train(&k, classify(&[label; 12]), &bounds(10.0, 12), 1e-3);
        assert_eq!(machine.support().count(), 0);
        assert!(machine.training_outputs.iter().all(|&f| f == label));
        assert_eq!((machine.outcome.objective, machine.outcome.duality_gap), (0.0, 0.0));
    }
}

#[test]
fn two_examples_by_hand() {
    // Distance 2 on a line: a = 2 / 4 on both, the boundary in the middle.
    let k = [1.0, -1.0, -1.0, 1.0];
    let machine = train(&k, classify(&[1.0, -1.0]), &bounds(10.0, 2), 1e-9);
    assert_eq!((machine.coefficients[0], machine.coefficients[1], machine.bias), (0.5, -0.5, 0.0));
    // A bound below that holds both, and the bias is the midpoint of what remains optimal.
    let machine = train(&k, classify(&[1.0, -1.0]), &bounds(0.1, 2), 1e-9);
    assert_eq!((machine.coefficients[0], machine.coefficients[1], machine.bias), (0.1, -0.1, 0.0));
    // Regression within the tube: flat, halfway between the targets.
    let machine = train(&k, Form::Regress { targets: &[1.0, 1.5], tube: 0.5 }, &bounds(1.0, 2), 1e-9);
    assert_eq!((machine.support().count(), machine.bias), (0, 1.25));
}

#[test]
fn every_coefficient_at_its_bound() {
    let data = points(20, 2, 3);
    let labels: Vec<f64> = (0..20).map(|i| if i % 2 == 0 { 1.0 } else { -1.0 }).collect();
    let k = gram(&data.x, rbf(1.0));
    let machine = train(&k, classify(&labels), &bounds(1e-6, 20), 1e-10);
    assert!(machine.coefficients.iter().zip(&labels).all(|(b, y)| *b == y * 1e-6));
    let (least, most) = audit(&k, classify(&labels), &bounds(1e-6, 20), &machine.coefficients).interval;
    // Outputs are of size 1e-5, so both sides agree to their rounding.
    assert!((machine.bias - 0.5 * (least + most)).abs() < 1e-15 && most - least > 1.9);
}

#[test]
fn zero_gram_knows_only_the_classes() {
    // All outputs equal the bias; with three against two the larger class wins.
    let labels = [1.0, 1.0, 1.0, -1.0, -1.0];
    let machine = train(&[0.0; 25], classify(&labels), &bounds(2.0, 5), 1e-6);
    assert_eq!(machine.outcome.status, StopReason::Converged);
    assert_eq!(machine.bias, 1.0);
    // The smaller class is misclassified at the price of 2 for each of 2 examples: loss 2 * 2 * 2.
    assert!((machine.outcome.objective + 8.0).abs() < 1e-12); // sums of a few small integers
    assert!(machine.outcome.duality_gap.abs() < 1e-12);
    let targets = [1.0, 5.0, 2.0];
    let machine = train(&[0.0; 9], Form::Regress { targets: &targets, tube: 0.0 }, &bounds(1.0, 3), 1e-6);
    assert_eq!(machine.bias, 2.0); // the median
}

#[test]
fn duplicates_with_either_label() {
    // Four copies of one point, three of them positive: the machine can only say +1.
    let labels = [1.0, 1.0, 1.0, -1.0];
    let machine = train(&[1.0; 16], classify(&labels), &bounds(1.0, 4), 1e-9);
    assert_eq!(machine.outcome.status, StopReason::Converged);
    for f in &machine.training_outputs {
        assert!((f - 1.0).abs() < 1e-9, "{f}"); // the tolerance
    }
    assert!((machine.outcome.objective + 2.0).abs() < 1e-9);
    // Every point twice, labels alike: the same function as once, at twice the cost.
    let data = points(15, 2, 5);
    let twice: Vec<Vec<f64>> = data.x.iter().chain(&data.x).cloned().collect();
    let labels: Vec<f64> = data.labels.iter().chain(&data.labels).copied().collect();
    let single = train(&gram(&data.x, rbf(1.0)), classify(&data.labels), &bounds(2.0, 15), 1e-10);
    let double = train(&gram(&twice, rbf(1.0)), classify(&labels), &bounds(1.0, 30), 1e-10);
    for i in 0..15 {
        // The gap of 1e-10 through a Gram of condition below 1e4.
        assert!((single.training_outputs[i] - double.training_outputs[i]).abs() < 1e-6);
    }
}

#[test]
fn tiny_and_huge_costs() {
    let data = points(30, 3, 9);
    for k in [gram(&data.x, rbf(0.5)), gram(&data.x, dot)] {
        for form in [classify(&data.labels), Form::Regress { targets: &data.targets, tube: 0.1 }] {
            let small = train(&k, form, &bounds(1e-6, 30), 1e-3);
            assert_eq!(small.outcome.status, StopReason::Converged);
            let seen = audit(&k, form, &bounds(1e-6, 30), &small.coefficients);
            assert!(seen.gap <= 1e-3 && seen.sum.abs() < 1e-18);
        }
    }
    // Separable by its kernel: beyond some cost the bound no longer matters.
    let k = gram(&data.x, rbf(2.0));
    let large = train(&k, classify(&data.labels), &bounds(1e6, 30), 1e-10);
    let larger = train(&k, classify(&data.labels), &bounds(1e7, 30), 1e-10);
    assert_eq!(large.outcome.status, StopReason::Converged);
    assert!(large.coefficients.iter().all(|b| b.abs() < 1e5));
    assert_eq!(large.coefficients, larger.coefficients);
    assert!(large.training_outputs.iter().zip(&data.labels).all(|(f, y)| f * y > 1.0 - 1e-9));
    // Contradictions at cost 1e6: outputs are known to about 1e-16 * 1e6 * 30, so a tolerance of 1e-14 cannot be
    // met and the solver must say so instead of running for ever.
    let mut x = data.x.clone();
    let mut labels = data.labels.clone();
    x.extend(data.x.iter().take(8).cloned());
    labels.extend(data.labels.iter().take(8).map(|y| -y));
    let machine = train(&gram(&x, rbf(0.5)), classify(&labels), &bounds(1e6, 38), 1e-14);
    assert_eq!(machine.outcome.status, StopReason::PrecisionLimit);
    assert!(machine.outcome.kkt_gap < 1e-7, "{}", machine.outcome.kkt_gap);
}

#[test]
fn weights_of_zero_leave_an_example_out() {
    let data = points(20, 2, 11);
    let k = gram(&data.x, rbf(1.0));
    let mut limits = bounds(3.0, 20);
    limits[15..].fill(0.0);
    let with = train(&k, classify(&data.labels), &limits, 1e-8);
    let index = upto(15);
    let params = SmoParams { tolerance: 1e-8, ..SmoParams::default() };
    let without =
        fit(&Gram::new(&k, 20, &index), classify(&data.labels[..15]), &bounds(3.0, 15), None, &params);
    assert_eq!(with.coefficients[..15], without.coefficients);
    assert_eq!(with.bias, without.bias);
    assert_eq!(balanced_weights(&[1.0, -1.0, -1.0, -1.0]), [2.0, 2.0 / 3.0, 2.0 / 3.0, 2.0 / 3.0]);
    assert_eq!(balanced_weights(&[1.0, 1.0]), [1.0, 1.0]);
    // A cost of zero on a path: nothing can be learned, and the next cost starts afresh.
    let path =
        fit_path(&Gram::new(&k, 20, &index), classify(&data.labels[..15]), &[1.0; 15], &[0.0, 3.0], &params);
    assert_eq!(path[0].support().count(), 0);
    assert!((path[1].bias - without.bias).abs() < 1e-6); // two solves to a gap of 1e-8
}

#[test]
fn limits_and_cancellation_are_reported() {
    let data = points(40, 2, 13);
    let k = gram(&data.x, rbf(1.0));
    let index = upto(40);
    let kernel = Gram::new(&k, 40, &index);
    let stop = AtomicBool::new(true);
    for (params, status, iterations) in [
        (SmoParams { max_iterations: 3, ..SmoParams::default() }, StopReason::IterationLimit, 3),
        (SmoParams { cancel: Some(&stop), ..SmoParams::default() }, StopReason::Cancelled, 0),
    ] {
        let machine = fit(&kernel, classify(&data.labels), &bounds(10.0, 40), None, &params);
        assert_eq!((machine.outcome.status, machine.outcome.iterations), (status, iterations));
        assert!(machine.outcome.kkt_gap > 1e-3);
        assert!(machine.coefficients.iter().sum::<f64>().abs() < 1e-12); // feasible all the same
    }
}

#[test]
#[should_panic(expected = "neither +1 nor -1")]
fn labels_are_signs() {
    train(&[1.0], classify(&[0.0]), &[1.0], 1e-3);
}

#[test]
#[should_panic(expected = "outside the Gram")]
fn indices_lie_within() {
    Gram::new(&[1.0; 4], 2, &[0, 2]);
}

#[test]
fn a_solution_that_no_cost_holds_back_serves_all_larger_costs() {
    // Two classes that a machine tells apart: from some cost on, nothing is at its bound.
    let mut data = points(40, 2, 3);
    data.x.iter_mut().zip(&data.labels).for_each(|(x, y)| x[0] += 4.0 * y);
    let k = gram(&data.x, rbf(0.1));
    let index = upto(40);
    let kernel = Gram::new(&k, 40, &index);
    let params = SmoParams { tolerance: 1e-9, ..SmoParams::default() };
    let costs = [1e4, 0.01, 1e3, 0.1];
    let path = fit_path(&kernel, classify(&data.labels), &[1.0; 40], &costs, &params);
    assert_eq!(path[0].coefficients, path[2].coefficients);
    assert!(path[0].coefficients.iter().all(|b| b.abs() < 1e3));
    for (machine, cost) in path.iter().zip(costs) {
        let alone = fit(&kernel, classify(&data.labels), &bounds(cost, 40), None, &params);
        // Both solved to a gap of 1e-9.
        assert!(largest_difference(&machine.training_outputs, &alone.training_outputs) < 1e-7, "c={cost}");
    }
}
