//! The solver against numbers computed by other programs.
//!
//! `csvc_dual.json`: 28 classifiers solved to 50 digits on a verified active set. `gauss_svm.json`: classifiers,
//! one-vs-one and regressions; measured in double precision its coefficients have KKT gaps of 1e-7 to 3e-6, and an
//! answer with a gap has outputs wrong by about as much, so each comparison is granted the gap of its reference. `isk_svm_*.json`: LIBSVM at tolerance 1e-12, which
//! keeps kernel rows in single precision, so its own decision values carry errors of about 1e-7.
//!
//! Ours run at tolerance 1e-10. Objectives must agree to 1e-8 relative and decision values to 1e-6: decision
//! values follow the gap (1e-10) through a kernel whose condition number may cost some digits, and the
//! single-precision references need 1e-6.

use bagwise_svm::{Form, Gram, Machine, SmoParams, StopReason, bounds, fit, fit_path};
use serde_json::Value;

const OBJECTIVE: f64 = 1e-8;
const OUTPUT: f64 = 1e-6;

fn golden(name: &str) -> Value {
    let path = format!("{}/tests/golden/{name}", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("{path}: {e}"));
    serde_json::from_str(&text).unwrap()
}

fn numbers(value: &Value) -> Vec<f64> {
    value.as_array().unwrap().iter().map(|v| v.as_f64().unwrap()).collect()
}

fn matrix(value: &Value) -> Vec<Vec<f64>> {
    value.as_array().unwrap().iter().map(numbers).collect()
}

fn exact() -> SmoParams<'static> {
    SmoParams { tolerance: 1e-10, ..SmoParams::default() }
}

fn assert_close(ours: f64, theirs: f64, tolerance: f64, what: &str) {
    assert!((ours - theirs).abs() <= tolerance, "{what}: {ours} against {theirs}");
}

fn train(gram: &[Vec<f64>], form: Form<'_>, cost: f64) -> Machine {
    let flat = gram.concat();
    let index: Vec<usize> = (0..gram.len()).collect();
    let machine = fit(&Gram::new(&flat, gram.len(), &index), form, &bounds(cost, gram.len()), None, &exact());
    assert_eq!(machine.outcome.status, StopReason::Converged);
    machine
}

/// The Gram as stored, or rebuilt from the points where the file leaves it out.
fn gram_of(problem: &Value) -> Vec<Vec<f64>> {
    if !problem["K"].is_null() {
        return matrix(&problem["K"]);
    }
    let x = matrix(&problem["X"]);
    let kernel = |a: &[f64], b: &[f64]| -> f64 {
        if problem["kernel"] == "linear" {
            return a.iter().zip(b).map(|(p, q)| p * q).sum();
        }
        let width = problem["param"].as_f64().unwrap();
        (-a.iter().zip(b).map(|(p, q)| (p - q) * (p - q)).sum::<f64>() / (2.0 * width * width)).exp()
    };
    x.iter().map(|a| x.iter().map(|b| kernel(a, b)).collect()).collect()
}

/// The KKT gap of given coefficients, straight from the definition.
fn gap(gram: &[Vec<f64>], form: Form<'_>, cost: f64, b: &[f64]) -> f64 {
    let dual = form.dual(&bounds(cost, b.len()));
    let (mut up, mut down) = (f64::NEG_INFINITY, f64::INFINITY);
    for (i, row) in gram.iter().enumerate() {
        let gradient = dual.linear[i] - row.iter().zip(b).map(|(k, b)| k * b).sum::<f64>();
        if b[i] < dual.upper[i] {
            up = up.max(gradient - if b[i] >= 0.0 { dual.tube } else { -dual.tube });
        }
        if b[i] > dual.lower[i] {
            down = down.min(gradient - if b[i] > 0.0 { dual.tube } else { -dual.tube });
        }
    }
    (up - down).max(0.0)
}

#[test]
fn classifiers_solved_to_fifty_digits() {
    let problems = golden("csvc_dual.json");
    let problems = problems["problems"].as_array().unwrap();
    assert_eq!(problems.len(), 28);
    for problem in problems {
        let name = format!("{} C={}", problem["name"], problem["C"]);
        let cost = problem["C"].as_f64().unwrap();
        let labels = numbers(&problem["y"]);
        let machine = train(&gram_of(problem), Form::Classify { labels: &labels }, cost);
        let objective = problem["dual_objective"].as_f64().unwrap();
        assert_close(-machine.outcome.objective / objective, 1.0, OBJECTIVE, &name);
        assert_close(machine.bias, problem["b"].as_f64().unwrap(), OUTPUT, &name);
        for (ours, theirs) in machine.training_outputs.iter().zip(numbers(&problem["f"])) {
            assert_close(*ours, theirs, OUTPUT, &name);
        }
        if problem["alpha_unique"].as_bool().unwrap() {
            for (i, theirs) in numbers(&problem["alpha"]).into_iter().enumerate() {
                assert_close(machine.coefficients[i] * labels[i] / cost, theirs / cost, 1e-6, &name);
            }
        }
    }
}

#[test]
fn classifiers_and_regressions_on_a_set_kernel() {
    let file = golden("gauss_svm.json");
    let (gram, cross) = (matrix(&file["gram_train"]), matrix(&file["gram_test_train"]));
    let check = |machine: &Machine, record: &Value, outputs: &str, granted: f64| {
        let objective = record["dual_objective_min"].as_f64().unwrap();
        assert_close(machine.outcome.objective / objective, 1.0, OBJECTIVE, "objective");
        assert_close(machine.bias, record["bias"].as_f64().unwrap(), OUTPUT + granted, "bias");
        for (row, theirs) in cross.iter().zip(numbers(&record[outputs])) {
            assert_close(machine.output(|i| row[i]), theirs, OUTPUT + granted, outputs);
        }
    };
    let labels = numbers(&file["y_binary"]);
    let form = Form::Classify { labels: &labels };
    let records = file["csvc"].as_array().unwrap();
    assert_eq!(records.len(), 4);
    let reference_gap = |record: &Value| {
        let theirs: Vec<f64> = numbers(&record["alpha"]).iter().zip(&labels).map(|(a, y)| a * y).collect();
        gap(&gram, form, record["C"].as_f64().unwrap(), &theirs)
    };
    for record in records {
        let machine = train(&gram, form, record["C"].as_f64().unwrap());
        check(&machine, record, "decision_test", reference_gap(record));
    }
    // The same four as one path: warm starts must not change the answers.
    let costs: Vec<f64> = records.iter().map(|r| r["C"].as_f64().unwrap()).collect();
    let (flat, index) = (gram.concat(), (0..gram.len()).collect::<Vec<_>>());
    let kernel = Gram::new(&flat, gram.len(), &index);
    let form = Form::Classify { labels: &labels };
    for (machine, record) in
        fit_path(&kernel, form, &vec![1.0; gram.len()], &costs, &exact()).iter().zip(records)
    {
        check(machine, record, "decision_test", reference_gap(record));
    }
    let worst_gap = records.iter().map(reference_gap).fold(0.0, f64::max);
    let targets = numbers(&file["y_real"]);
    let records = file["esvr"].as_array().unwrap();
    assert_eq!(records.len(), 3);
    for record in records {
        let cost = record["C"].as_f64().unwrap();
        let form = Form::Regress { targets: &targets, tube: record["epsilon"].as_f64().unwrap() };
        let machine = train(&gram, form, cost);
        check(&machine, record, "predict_test", gap(&gram, form, cost, &numbers(&record["beta"])));
    }
    // The file keeps no coefficients of its pairs: grant the worst gap among its classifiers.
    let classes = numbers(&file["y_class"]);
    for record in file["ovo"].as_array().unwrap() {
        let theirs = matrix(&record["pair_decision_test_positive_means_first"]);
        check_pairs(&gram, &cross, &classes, record["C"].as_f64().unwrap(), &theirs, worst_gap);
    }
}

/// One-vs-one: every pair of classes is an index list into the same Gram.
fn check_pairs(
    gram: &[Vec<f64>],
    cross: &[Vec<f64>],
    classes: &[f64],
    cost: f64,
    theirs: &[Vec<f64>],
    granted: f64,
) {
    let flat = gram.concat();
    for (column, (p, q)) in [(0.0, 1.0), (0.0, 2.0), (1.0, 2.0)].into_iter().enumerate() {
        let index: Vec<usize> = (0..classes.len()).filter(|&i| classes[i] == p || classes[i] == q).collect();
        let labels: Vec<f64> = index.iter().map(|&i| if classes[i] == p { 1.0 } else { -1.0 }).collect();
        let kernel = Gram::new(&flat, gram.len(), &index);
        let machine =
            fit(&kernel, Form::Classify { labels: &labels }, &bounds(cost, index.len()), None, &exact());
        for (row, record) in cross.iter().zip(theirs) {
            assert_close(machine.output(|i| row[index[i]]), record[column], OUTPUT + granted, "pair");
        }
    }
}

#[test]
fn libsvm_on_isolation_set_kernels() {
    for file in [golden("isk_svm_binary.json"), golden("isk_svm_three_class.json")] {
        for record in std::iter::once(&file["unweighted"]).chain(file["weighted"].as_array().unwrap()) {
            let (gram, cross) = (matrix(&record["gram_normalised"]), matrix(&record["cross_normalised"]));
            let svm = &record["svm"];
            let cost = svm["C"].as_f64().unwrap();
            let classes = numbers(&svm["labels"]);
            if classes.contains(&2.0) {
                check_pairs(&gram, &cross, &classes, cost, &matrix(&svm["test_decision"]), 0.0);
                continue;
            }
            let labels: Vec<f64> = classes.iter().map(|&c| if c == 1.0 { 1.0 } else { -1.0 }).collect();
            let machine = train(&gram, Form::Classify { labels: &labels }, cost);
            for (ours, theirs) in machine.training_outputs.iter().zip(numbers(&svm["decision"])) {
                assert_close(*ours, theirs, OUTPUT, "training");
            }
            for (row, theirs) in cross.iter().zip(numbers(&svm["test_decision"])) {
                assert_close(machine.output(|i| row[i]), theirs, OUTPUT, "test");
            }
        }
    }
}
