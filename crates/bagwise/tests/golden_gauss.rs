//! Grams of the Gaussian set kernels against an independent implementation (`golden/gauss`), entry by entry.
//! The reference's own error is below 1e-14; 1e-12 relative leaves room for another order of summation.

use bagwise::graph::{Epsilon, Graph, Orient, Zero};
use bagwise::params::{Grid, WhenUnset};
use bagwise::preprocess::Scale;
use bagwise::{Bags, Ctx, Instances, Mat, gram, methods};
use serde_json::Value;

const TOLERANCE: f64 = 1e-12;

fn golden(name: &str) -> Value {
    let path = format!("{}/tests/golden/gauss/{name}.json", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("{path}: {e}"));
    serde_json::from_str(&text).unwrap()
}

fn numbers(value: &Value) -> Vec<f64> {
    value.as_array().unwrap().iter().map(|v| v.as_f64().unwrap()).collect()
}

fn bags(value: &Value) -> Bags {
    let mut rows = Vec::new();
    let mut offsets = vec![0];
    for bag in value.as_array().unwrap() {
        rows.extend(bag.as_array().unwrap().iter().map(numbers));
        offsets.push(rows.len());
    }
    Bags::new(Instances::F64(Mat::from_rows(&rows)), offsets).unwrap()
}

fn assert_equal(found: &Mat, expected: &Value, case: &str) {
    let expected = Mat::from_rows(&expected.as_array().unwrap().iter().map(numbers).collect::<Vec<_>>());
    assert_eq!((found.rows(), found.cols()), (expected.rows(), expected.cols()));
    for i in 0..found.rows() {
        for j in 0..found.cols() {
            let (f, e) = (found.get(i, j), expected.get(i, j));
            assert!((f - e).abs() <= TOLERANCE * e.abs(), "{case}: entry {i}, {j} is {f:e}, expected {e:e}");
        }
    }
}

/// Compares every case of a file; `extra` parameters are ours, not the file's.
fn check(method: &str, file: &str, extra: &[(&str, &str)]) -> usize {
    let inputs = golden("bags");
    let (a, b) = (bags(&inputs["bags_a"]), bags(&inputs["bags_b"]));
    let cases = golden(file);
    let cases = cases["cases"].as_array().unwrap();
    let method = methods::find(method).unwrap();
    for case in cases {
        let given: Vec<(String, String)> = case["params"]
            .as_object()
            .unwrap()
            .iter()
            .filter(|(name, _)| *name != "kernel")
            // Nothing given means the width of the instances.
            .map(|(name, value)| match value {
                Value::Null => (name.clone(), "gamma".into()),
                Value::String(word) => (name.clone(), word.clone()),
                number => (name.clone(), number.to_string()),
            })
            .chain(extra.iter().map(|(name, value)| (name.to_string(), value.to_string())))
            .collect();
        let grid = Grid::new(method.info().name, method.params(), &given, WhenUnset::Default, false).unwrap();
        assert_eq!(grid.points.len(), 1);
        let label = grid.points[0].to_string();
        let ctx = Ctx::default();
        let square = gram(method, &grid.points[0], Scale::None, false, &a, None, None, &ctx).unwrap();
        assert_equal(&square, &case["gram_aa"], &label);
        let wide = gram(method, &grid.points[0], Scale::None, false, &a, Some(&b), None, &ctx).unwrap();
        assert_equal(&wide, &case["gram_ab"], &label);
    }
    cases.len()
}

#[test]
fn mi_kernel() {
    assert_eq!(check("mi-kernel", "mi_kernel", &[]), 12);
}

#[test]
fn migraph() {
    assert_eq!(check("migraph", "migraph_implicit", &[]), 78);
}

#[test]
fn wmksvm() {
    assert_eq!(check("wmksvm", "wmksvm", &[]), 8);
}

#[test]
fn migraph_explicit() {
    assert_eq!(check("migraph-explicit", "migraph_explicit", &[("tol", "0")]), 40);
}

#[test]
fn edges_of_migraph_explicit() {
    let bags = bags(&golden("bags")["bags_a"]);
    let cases = golden("intermediates");
    let mut compared = 0;
    for case in cases["migraph_explicit_edges_a"].as_array().unwrap() {
        let params = &case["params"];
        let eps = params["eps"].as_f64().map_or(Epsilon::Mean, Epsilon::Number);
        let zero = if params["zero"] == "drop" { Zero::Drop } else { Zero::Limit };
        let orient = match params["orient"].as_str().unwrap() {
            "both" => Orient::Both,
            "canonical" => Orient::Canonical,
            _ => Orient::Index,
        };
        for (b, expected) in case["edges"].as_array().unwrap().iter().enumerate() {
            let mut expected: Vec<Vec<f64>> = expected.as_array().unwrap().iter().map(numbers).collect();
            let graph = Graph::of(bags.bag(b), eps, zero).unwrap();
            let mut found: Vec<Vec<f64>> = Vec::new();
            for edge in &graph.edges {
                let v = graph.vector(edge, orient);
                found.push(v.to_vec());
                if orient == Orient::Both {
                    found.push(vec![v[2], v[3], v[0], v[1]]);
                }
            }
            assert_eq!(found.len(), expected.len(), "{params}, bag {b}");
            // A set of edges has no order. Rounded, so that equal numbers sort alike on both sides.
            let key = |v: &Vec<f64>| v.iter().map(|x| (x * 1e9).round() as i64).collect::<Vec<_>>();
            found.sort_by_key(key);
            expected.sort_by_key(key);
            for (f, e) in found.iter().flatten().zip(expected.iter().flatten()) {
                assert!((f - e).abs() <= TOLERANCE, "{params}, bag {b}: {f} and {e}");
                compared += 1;
            }
        }
    }
    assert!(compared > 1000, "{compared} numbers");
}
