//! Against numbers made elsewhere: the MIRSVM specification's metrics, scikit-learn and SciPy.

use std::collections::BTreeSet;

use bagwise::Mat;
use bagwise::judge::{
    Classified, Confusion, METRICS, Metric, Predictions, corrected_interval, corrected_t_test,
    interval_of_draws, t_cdf, t_quantile, wilson,
};
use serde_json::Value;

pub(crate) fn load(name: &str) -> Value {
    let path = format!("{}/tests/golden/{name}", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("{path}: {e}"));
    serde_json::from_str(&text).unwrap()
}

pub(crate) fn cases<'a>(file: &'a Value, name: &str) -> &'a Vec<Value> {
    let list = file[name].as_array().unwrap();
    assert!(!list.is_empty(), "{name}");
    list
}

pub(crate) fn numbers(value: &Value) -> Vec<f64> {
    value.as_array().unwrap().iter().map(|v| v.as_f64().unwrap()).collect()
}

fn codes(value: &Value) -> Vec<u32> {
    value.as_array().unwrap().iter().map(|v| v.as_u64().unwrap() as u32).collect()
}

/// Equal within `tol` relative to the larger of 1 and the expected value; both may be missing.
#[track_caller]
fn close(got: Option<f64>, want: &Value, tol: f64, what: &str) {
    match (got, want.as_f64()) {
        (None, None) => {}
        (Some(g), Some(w)) if (g - w).abs() <= tol * w.abs().max(1.0) => {}
        (g, w) => panic!("{what}: {g:?}, expected {w:?}"),
    }
}

#[test]
fn metrics_of_the_specification() {
    let file = load("mirsvm/metrics.json");
    for (i, case) in cases(&file, "cases").iter().enumerate() {
        let count = |name: &str| case[name].as_u64().unwrap();
        let n = Confusion { tp: count("tp"), tn: count("tn"), fp: count("fp"), fn_: count("fn") };
        for (metric, name) in [
            (Metric::Accuracy, "accuracy"),
            (Metric::Precision, "precision"),
            (Metric::Recall, "recall"),
            (Metric::KappaPrinted, "kappa_printed_18d"),
            (Metric::Kappa, "kappa_cohen"),
            (Metric::AucPrinted, "auc_18e_balanced_accuracy"),
            (Metric::BalancedAccuracy, "auc_18e_balanced_accuracy"),
        ] {
            assert!(case.get(name).is_some(), "{name}");
            close(metric.of_counts(&n), &case[name], 1e-12, &format!("case {i}, {name}"));
        }
    }
}

fn check_metrics(
    what: &str,
    value: impl Fn(Metric, &Predictions) -> Option<f64>,
    predictions: &Predictions,
    expected: &Value,
) {
    for (name, wanted) in expected.as_object().unwrap() {
        let metric: Metric = name.parse().unwrap();
        close(value(metric, predictions), wanted, 1e-12, &format!("{what}, {name}"));
    }
}

/// Two classes, scores and probabilities in one column.
fn binary(case: &Value) -> Predictions {
    let column = |name: &str| {
        let values = numbers(&case[name]);
        Mat::new(values.len(), 1, values)
    };
    classified(case, 2, Some(1), column("scores"), column("probabilities"))
}

/// Several classes, a column for each.
fn multi(case: &Value) -> Predictions {
    let classes = case["classes"].as_u64().unwrap() as usize;
    let table = |name: &str| {
        let values = numbers(&case[name]);
        Mat::new(values.len() / classes, classes, values)
    };
    classified(case, classes, None, table("scores"), table("probabilities"))
}

fn classified(case: &Value, classes: usize, positive: Option<u32>, scores: Mat, p: Mat) -> Predictions {
    let c = Classified::new(codes(&case["truth"]), codes(&case["labels"]), classes, positive)
        .and_then(|c| c.with_scores(scores))
        .and_then(|c| c.with_probabilities(p));
    Predictions::Classes(c.unwrap())
}

fn values(case: &Value) -> Predictions {
    Predictions::values(numbers(&case["truth"]), numbers(&case["predicted"])).unwrap()
}

#[test]
fn binary_metrics_agree_with_scikit_learn() {
    for (i, case) in cases(&load("metrics_sklearn.json"), "binary").iter().enumerate() {
        assert_eq!(case["metrics"].as_object().unwrap().len(), 13);
        check_metrics(&format!("binary {i}"), Metric::value, &binary(case), &case["metrics"]);

        // The same with one column per class.
        let two = |name: &str, other: fn(f64) -> f64| {
            let rows: Vec<[f64; 2]> = numbers(&case[name]).into_iter().map(|v| [other(v), v]).collect();
            Mat::from_rows(&rows)
        };
        let p = classified(case, 2, Some(1), two("scores", |v| -v), two("probabilities", |v| 1.0 - v));
        check_metrics(&format!("binary {i}, two columns"), Metric::value, &p, &case["metrics"]);
    }
}

#[test]
fn multi_class_metrics_agree_with_scikit_learn() {
    for (i, case) in cases(&load("metrics_sklearn.json"), "multi").iter().enumerate() {
        check_metrics(&format!("multi {i}"), Metric::value, &multi(case), &case["metrics"]);
    }
}

#[test]
fn regression_metrics_agree_with_scikit_learn() {
    for (i, case) in cases(&load("metrics_sklearn.json"), "values").iter().enumerate() {
        check_metrics(&format!("values {i}"), Metric::value, &values(case), &case["metrics"]);
    }
}

/// Every metric there is, over folds.
#[test]
fn metrics_over_folds_agree_with_scikit_learn_and_scipy() {
    let mut seen = BTreeSet::new();
    for (i, case) in cases(&load("metrics_sklearn.json"), "folds").iter().enumerate() {
        let folds: Vec<usize> = codes(&case["folds"]).into_iter().map(|f| f as usize).collect();
        for (kind, read) in
            [("binary", binary as fn(&Value) -> Predictions), ("multi", multi), ("values", values)]
        {
            let (predictions, expected) = (read(&case[kind]), &case[kind]["metrics"]);
            let over = |metric: Metric, p: &Predictions| metric.over_folds(p, &folds);
            check_metrics(&format!("folds {i}, {kind}"), over, &predictions, expected);
            seen.extend(expected.as_object().unwrap().keys().cloned());
        }
    }
    assert_eq!(seen, METRICS.iter().map(|m| m.name.to_string()).collect());
}

#[test]
fn students_t_agrees_with_scipy() {
    for case in cases(&load("metrics_sklearn.json"), "t") {
        let df = case["df"].as_f64().unwrap();
        if let Some(p) = case["p"].as_f64() {
            let (got, want) = (t_quantile(p, df), case["quantile"].as_f64().unwrap());
            assert!((got - want).abs() <= 1e-9 * want.abs().max(1.0), "quantile {p} of {df}: {got}, {want}");
        } else {
            let t = case["t"].as_f64().unwrap();
            let (got, want) = (t_cdf(t, df), case["cdf"].as_f64().unwrap());
            // Relative, so that small p-values are right and not only small.
            assert!((got - want).abs() <= 1e-9 * want, "cdf of {t}, df {df}: {got}, {want}");
        }
    }
}

#[test]
fn corrected_intervals_and_tests_agree_with_the_formula() {
    for (i, case) in cases(&load("metrics_sklearn.json"), "corrected").iter().enumerate() {
        let (a, b) = (numbers(&case["first"]), numbers(&case["second"]));
        let (ratio, level) = (case["test_to_train"].as_f64().unwrap(), case["level"].as_f64().unwrap());
        for (name, ratio) in [("interval", ratio), ("plain", 0.0)] {
            let got = corrected_interval(&a, ratio, level).unwrap().unwrap();
            close(Some(got.estimate), &case[name]["mean"], 1e-12, &format!("{name} {i}"));
            close(Some(got.low), &case[name]["low"], 1e-9, &format!("{name} {i}"));
            close(Some(got.high), &case[name]["high"], 1e-9, &format!("{name} {i}"));
        }
        let test = corrected_t_test(&a, &b, ratio, level).unwrap().unwrap();
        close(test.t, &case["test"]["t"], 1e-9, &format!("t {i}"));
        let p = case["test"]["p"].as_f64().unwrap();
        assert!((test.p - p).abs() <= 1e-8 * p, "p {i}: {} {p}", test.p);
        close(Some(test.difference.low), &case["test"]["low"], 1e-9, &format!("difference {i}"));
        // Without correction it is the paired t-test of SciPy.
        let plain = corrected_t_test(&a, &b, 0.0, level).unwrap().unwrap();
        let p = case["scipy_plain_p"].as_f64().unwrap();
        assert!((plain.p - p).abs() <= 1e-8 * p, "plain p {i}: {} {p}", plain.p);
    }
}

#[test]
fn wilson_agrees_with_scipy() {
    for case in cases(&load("metrics_sklearn.json"), "wilson") {
        let (hits, n) = (case["hits"].as_u64().unwrap(), case["n"].as_u64().unwrap());
        let got = wilson(hits, n, case["level"].as_f64().unwrap()).unwrap().unwrap();
        close(Some(got.low), &case["low"], 1e-10, &format!("{hits} of {n}"));
        close(Some(got.high), &case["high"], 1e-10, &format!("{hits} of {n}"));
    }
}

#[test]
fn bootstrap_intervals_of_given_draws_agree_with_scipy() {
    for (i, case) in cases(&load("metrics_sklearn.json"), "bootstrap").iter().enumerate() {
        let level = case["level"].as_f64().unwrap();
        let estimate = case["estimate"].as_f64().unwrap();
        for (name, left_out) in [("percentile", Vec::new()), ("BCa", numbers(&case["left_out"]))] {
            let mut draws = numbers(&case["draws"]);
            let (low, high) = interval_of_draws(estimate, &mut draws, &left_out, level);
            close(Some(low), &case[name][0], 1e-9, &format!("{name} {i}"));
            close(Some(high), &case[name][1], 1e-9, &format!("{name} {i}"));
        }
        assert_ne!(case["percentile"], case["BCa"], "the two kinds must differ to be told apart");
    }
}
