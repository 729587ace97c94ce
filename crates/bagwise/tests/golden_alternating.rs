//! The alternating methods beside searches that an independent program made, round by round: every selection, every
//! switch. `mirsvm_trajectories.json`: three toy problems; `mirsvm_musk1.json`: Musk1; `mi_svm_trajectories.json`:
//! mi-SVM and MI-SVM.

use bagwise::io::{ReadOptions, read};
use bagwise::method::AlternationEnd;
use bagwise::methods;
use bagwise::params::{Grid, Point, WhenUnset};
use bagwise::unstable::{AlternationStep, Trajectory, follow};
use bagwise::{Bags, Ctx, Instances, Mat};
use serde_json::Value;

fn golden(name: &str) -> Value {
    let path = format!("{}/tests/golden/mirsvm/{name}", env!("CARGO_MANIFEST_DIR"));
    serde_json::from_str(&std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("{path}: {e}"))).unwrap()
}

fn numbers(value: &Value) -> Vec<f64> {
    value.as_array().unwrap().iter().map(|v| v.as_f64().unwrap()).collect()
}

fn choice(value: &Value) -> Vec<u32> {
    numbers(value).into_iter().map(|v| v as u32).collect()
}

fn bags(value: &Value) -> Bags {
    let (mut rows, mut offsets) = (Vec::new(), vec![0]);
    for bag in value.as_array().unwrap() {
        rows.extend(bag.as_array().unwrap().iter().map(numbers));
        offsets.push(rows.len());
    }
    Bags::new(Instances::F64(Mat::from_rows(&rows)), offsets).unwrap()
}

fn point(method: &str, given: &[(&str, String)]) -> Point {
    let method = methods::find(method).unwrap();
    let given: Vec<(String, String)> = given.iter().map(|(n, v)| (n.to_string(), v.clone())).collect();
    Grid::new(method.info().name, method.params(), &given, WhenUnset::Default, false)
        .unwrap()
        .points
        .remove(0)
}

fn ended(status: &str) -> AlternationEnd {
    match status.strip_prefix("cycle") {
        Some(length) => AlternationEnd::Cycle(length.parse().unwrap()),
        None if status == "converged" => AlternationEnd::Converged,
        None => AlternationEnd::Limit,
    }
}

fn close(found: &[f64], expected: &[f64], tolerance: f64, what: &str) {
    assert_eq!(found.len(), expected.len(), "{what}");
    for (i, (f, e)) in found.iter().zip(expected).enumerate() {
        assert!((f - e).abs() <= tolerance, "{what}, number {i}: {f} and {e}");
    }
}

/// The largest output of each bag, without the bias.
fn bag_outputs(bags: &Bags, step: &AlternationStep) -> Vec<f64> {
    let most = |b: usize| bags.rows(b).map(|i| step.outputs[i]).fold(f64::NEG_INFINITY, f64::max);
    (0..bags.len()).map(most).collect()
}

/// Runs a recorded search under every rule for the bias and compares selections, ends and biases.
fn mirsvm(what: &str, bags: &Bags, y: &[f64], run: &Value, start: &[u32], limit: &str) -> Trajectory {
    let text = |name: &str| match &run[name] {
        Value::String(word) => word.to_lowercase(),
        number => number.to_string(),
    };
    let trace = run["trace"].as_array().unwrap();
    let mut last = None;
    for rule in ["free", "all", "printed"] {
        let given = [
            ("c", text("C")),
            ("sigma", text("sigma")),
            ("bound", text("bound")),
            ("select", text("select")),
            ("bias", rule.to_string()),
            ("max-iter", limit.to_string()),
        ];
        let found =
            follow("mirsvm", &point("mirsvm", &given), bags, y, Some(start), 1e-12, &Ctx::default()).unwrap();
        assert_eq!(found.steps.len(), trace.len(), "{what}");
        for (step, expected) in found.steps.iter().zip(trace) {
            assert_eq!(step.choice, choice(&expected["S"]), "{what}");
            assert_eq!(step.next, choice(&expected["S_next"]), "{what}");
        }
        assert_eq!(found.rounds.ended, ended(run["status"].as_str().unwrap()), "{what}");
        let changed: Vec<usize> = found
            .steps
            .iter()
            .map(|s| s.choice.iter().zip(&s.next).filter(|(a, b)| a != b).count())
            .collect();
        assert_eq!(found.rounds.changed, changed, "{what}");
        let (bias, expected) = (found.steps.last().unwrap().bias, run["bias"][rule].as_f64().unwrap());
        // Biases of machines that are solved to 1e-12; sums of some hundred terms up to 100.
        assert!((bias - expected).abs() < 1e-8, "{what}, {rule}: {bias} and {expected}");
        last = Some(found);
    }
    last.unwrap()
}

#[test]
fn every_search_of_mirsvm_takes_the_recorded_path() {
    let file = golden("mirsvm_trajectories.json");
    let mut runs = 0;
    for problem in file["problems"].as_array().unwrap() {
        let (bags, y) = (bags(&problem["bags"]), numbers(&problem["y"]));
        for run in problem["runs"].as_array().unwrap() {
            let what = format!(
                "{}, {} {} {} C {} sigma {}",
                problem["name"], run["init"], run["select"], run["bound"], run["C"], run["sigma"]
            );
            let found = mirsvm(&what, &bags, &y, run, &choice(&run["S0"]), "100");
            for (step, expected) in found.steps.iter().zip(run["trace"].as_array().unwrap()) {
                // The Gaussian is positive definite, so that coefficients are unique; conditions up to 1e4.
                let sizes: Vec<f64> = step.coefficients.iter().map(|b| b.abs()).collect();
                close(&sizes, &numbers(&expected["alpha"]), 1e-7, &what);
                let objective = expected["dual_objective"].as_f64().unwrap();
                assert!((step.objective - objective).abs() < 1e-9 * objective.max(1.0), "{what}");
            }
            let outputs = bag_outputs(&bags, found.steps.last().unwrap());
            close(&outputs, &numbers(&run["train_max_output_without_bias"]), 1e-8, &what);
            runs += 1;
        }
    }
    assert!(runs >= 24, "{runs} searches");
}

/// Mean 0 and variance 1 over all instances, by n - 1 as in the file (our own scaling divides by n).
fn standardised(bags: &Bags) -> Bags {
    let Instances::F64(m) = bags.instances() else { panic!("Musk1 is dense") };
    let n = m.rows() as f64;
    let mut scaled = m.clone();
    for c in 0..m.cols() {
        let mean = (0..m.rows()).map(|r| m.get(r, c)).sum::<f64>() / n;
        let variance = (0..m.rows()).map(|r| (m.get(r, c) - mean).powi(2)).sum::<f64>() / (n - 1.0);
        let sd = if variance > 0.0 { variance.sqrt() } else { 1.0 };
        (0..m.rows()).for_each(|r| scaled.set(r, c, (m.get(r, c) - mean) / sd));
    }
    Bags::new(Instances::F64(scaled), bags.offsets().to_vec()).unwrap()
}

#[test]
fn musk1_takes_the_recorded_path() {
    let file = golden("mirsvm_musk1.json");
    let data = read("musk1", &ReadOptions::default()).unwrap();
    let bags = standardised(&data.bags);
    let Some(bagwise::Target::Classes { codes, .. }) = &data.target else { unreachable!() };
    let y: Vec<f64> = codes.iter().map(|&c| if c == 1 { 1.0 } else { -1.0 }).collect();
    for run in file["runs"].as_array().unwrap() {
        let what = format!("musk1, {} {} C {} sigma {}", run["select"], run["bound"], run["C"], run["sigma"]);
        let found = mirsvm(&what, &bags, &y, run, &vec![0; bags.len()], "6");
        for (step, expected) in found.steps.iter().zip(run["trace"].as_array().unwrap()) {
            let objective = expected["dual_objective"].as_f64().unwrap();
            assert!((step.objective - objective).abs() < 1e-8 * objective, "{what}");
            if let Value::Array(_) = expected["alpha"] {
                let sizes: Vec<f64> = step.coefficients.iter().map(|b| b.abs()).collect();
                // The file's machines are good to 1e-6.
                close(&sizes, &numbers(&expected["alpha"]), 1e-6, &what);
            }
        }
        let outputs = bag_outputs(&bags, found.steps.last().unwrap());
        close(&outputs, &numbers(&run["train_bag_output_without_bias"]), 1e-6, &what);
    }
}

#[test]
fn andrews_methods_take_the_recorded_path() {
    let file = golden("mi_svm_trajectories.json");
    let (bags, y) = (bags(&file["bags"]), numbers(&file["y"]));
    let positive = y.iter().filter(|&&y| y > 0.0).count();
    assert!(y[..positive].iter().all(|&y| y > 0.0), "the file lists positive bags first");
    for run in file["runs"].as_array().unwrap() {
        let given = [("c", run["C"].to_string()), ("gamma", file["gamma"].to_string())];
        let compare = |step: &AlternationStep, expected: &Value, outputs: &str| {
            let what = format!("C {}", run["C"]);
            let bias = expected["b"].as_f64().unwrap();
            // Solved to 1e-12 by us and to some 1e-10 by the file.
            assert!((step.bias - bias).abs() < 1e-8, "{what}: {} and {bias}", step.bias);
            let sizes: Vec<f64> = step.coefficients.iter().map(|b| b.abs()).collect();
            close(&sizes, &numbers(&expected["alpha"]), 1e-7, &what);
            let f: Vec<f64> = step.outputs.iter().map(|o| o + step.bias).collect();
            close(&f, &numbers(&expected[outputs]), 1e-8, &what);
            let objective = expected["dual_objective"].as_f64().unwrap();
            assert!((step.objective - objective).abs() < 1e-9 * objective, "{what}");
        };
        let ctx = Ctx::default();
        let found = follow("mi-svm", &point("mi-svm", &given), &bags, &y, None, 1e-12, &ctx).unwrap();
        let trace = run["mi_svm"]["trace"].as_array().unwrap();
        assert_eq!(found.steps.len(), trace.len());
        assert_eq!(found.rounds.ended, ended(run["mi_svm"]["status"].as_str().unwrap()));
        for (step, expected) in found.steps.iter().zip(trace) {
            let labels: Vec<u32> = numbers(&expected["labels"]).iter().map(|&l| u32::from(l > 0.0)).collect();
            assert_eq!(step.choice, labels);
            compare(step, expected, "f");
        }

        let found = follow("mi-svm-bag", &point("mi-svm-bag", &given), &bags, &y, None, 1e-12, &ctx).unwrap();
        let trace = run["MI_svm"]["trace"].as_array().unwrap();
        assert_eq!(found.steps.len(), trace.len());
        assert_eq!(found.rounds.ended, ended(run["MI_svm"]["status"].as_str().unwrap()));
        for (step, expected) in found.steps.iter().zip(trace) {
            if expected["witness"].is_array() {
                assert_eq!(step.choice[..positive], choice(&expected["witness"]));
            }
            assert_eq!(step.next[..positive], choice(&expected["witness_next"]));
            compare(step, expected, "f_all_instances");
        }
    }
}

#[test]
fn a_budget_without_room_for_all_pairs_takes_the_same_path() {
    let file = golden("mi_svm_trajectories.json");
    let (bags, y) = (bags(&file["bags"]), numbers(&file["y"]));
    // 57 instances: all pairs are 26 kB, those of 14 representatives less than 2. What has more rows is trained in chunks.
    let mut small = Ctx::default();
    small.memory = 20_000;
    for method in ["mirsvm", "mi-svm", "mi-svm-bag", "sil"] {
        for c in ["1", "10"] {
            let point = point(method, &[("c", c.to_string())]);
            let run = |ctx: &Ctx| follow(method, &point, &bags, &y, None, 1e-9, ctx).unwrap();
            let (roomy, tight) = (run(&Ctx::default()), run(&small));
            assert_eq!(roomy.rounds, tight.rounds, "{method}");
            for (a, b) in roomy.steps.iter().zip(&tight.steps) {
                assert_eq!((&a.choice, &a.next), (&b.choice, &b.next), "{method}");
                // Machines solved to 1e-9, with coefficients up to 10.
                assert!((a.bias - b.bias).abs() < 1e-6, "{method}: {} and {}", a.bias, b.bias);
                close(&a.outputs, &b.outputs, 1e-6, method);
            }
        }
    }
}

#[test]
fn a_start_that_makes_no_sense_is_refused() {
    let file = golden("mi_svm_trajectories.json");
    let (bags, y) = (bags(&file["bags"]), numbers(&file["y"]));
    let too_many = vec![0; bags.len() + 1];
    for (method, start) in [
        ("mirsvm", vec![99; bags.len()]),
        ("mirsvm", too_many.clone()),
        ("mi-svm", vec![2; bags.instance_count()]),
        ("mi-svm-bag", too_many),
        ("sil", vec![1]),
    ] {
        let found = follow(method, &point(method, &[]), &bags, &y, Some(&start), 1e-3, &Ctx::default());
        assert!(found.unwrap_err().to_string().contains("the start must be"), "{method}");
    }
    let refused = follow("mi-kernel", &point("sil", &[]), &bags, &y, None, 1e-3, &Ctx::default());
    assert!(refused.unwrap_err().to_string().contains("mi-kernel"));
}
