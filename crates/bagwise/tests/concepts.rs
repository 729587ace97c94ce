//! Methods built on diverse density: what they find, what they say where there is little to find, and what they refuse.

use std::sync::Arc;

use bagwise::Rng;
use bagwise::fold::{ResolvedConfig, TrainingTask};
use bagwise::fold::{TrainOptions, train};
use bagwise::judge::{Metric, Splits};
use bagwise::method::{Explanation, Scope};
use bagwise::methods;
use bagwise::model::Model;
use bagwise::params::{Grid, WhenUnset};
use bagwise::unstable::engine::density::{BagTarget as Known, Concept, Evidence};
use bagwise::{Bags, Ctx, Dataset, Instances, Mat, Target};

const METHODS: [&str; 5] = ["dd", "em-dd", "dd-svm", "mg-ddv", "mg-acc"];
const REGRESSORS: [&str; 4] = ["dd", "em-dd", "mg-ddv", "mg-acc"];

/// Bags in four attributes of which two count: positive ones have an instance near (2, -1) in the first two.
fn planted(bags: usize, seed: u64) -> Dataset {
    let mut rng = Rng::new(seed, "planted", &[]);
    let (mut rows, mut offsets, mut labels) = (Vec::new(), vec![0], Vec::new());
    for b in 0..bags {
        for i in 0..4 {
            let mut row: Vec<f64> = (0..4).map(|_| 2.0 * rng.normal()).collect();
            if b % 2 == 0 && i == b % 4 {
                row[0] = 2.0 + 0.1 * rng.normal();
                row[1] = -1.0 + 0.1 * rng.normal();
            }
            rows.push(row);
        }
        offsets.push(rows.len());
        labels.push(if b % 2 == 0 { "yes" } else { "no" }.to_string());
    }
    let bags = Bags::new(Instances::F64(Mat::from_rows(&rows)), offsets).unwrap();
    Dataset::new("planted", bags).with_target(Target::from_labels(&labels)).unwrap()
}

fn with_values(data: &Dataset, values: Vec<f64>) -> Dataset {
    Dataset { target: Some(Target::Values(values)), ..data.clone() }
}

fn fit(method: &str, given: &[(&str, &str)], data: &Dataset) -> bagwise::Result<Model> {
    let method = methods::find(method)?;
    let given: Vec<(String, String)> = given
        .iter()
        .filter(|(name, _)| method.params().iter().any(|p| p.name == *name))
        .map(|(k, v)| (k.to_string(), v.to_string()))
        .collect();
    let regression = matches!(data.target, Some(Target::Values(_)));
    let grid = Grid::new(method.info().name, method.params(), &given, WhenUnset::Default, regression)?;
    let setup = ResolvedConfig::new(method, grid);
    let learners = [TrainingTask::new(data, &setup, None)?];
    let metric = if regression { Metric::Mse } else { Metric::Accuracy };
    let all: Vec<usize> = (0..data.bags.len()).collect();
    train(&learners, &all, Splits::KFold(3), &TrainOptions::by(metric), &Ctx::seeded(1))
}

fn outputs(model: &Model, bags: &Bags) -> Vec<f64> {
    model.predict_with(bags, &Ctx::default()).unwrap().iter().map(|p| p.outputs[0]).collect()
}

#[test]
fn the_planted_concept_is_found_and_its_instance_named() {
    let (data, new) = (planted(60, 1), planted(40, 2));
    for method in ["dd", "em-dd"] {
        let model = fit(method, &[], &data).unwrap();
        let concept = &model.concepts().unwrap()[0][0];
        assert!(concept.of_plus, "{method}: the positive bags come near");
        let columns: Vec<_> = model.header.transform.outputs().collect();
        let place = |k: usize| columns[k].restore(concept.concept.point[k]).unwrap();
        // Spread 0.1 around the place; the best of many climbs is well inside.
        assert!(
            (place(0) - 2.0).abs() < 0.3 && (place(1) + 1.0).abs() < 0.3,
            "{method}: {}, {}",
            place(0),
            place(1)
        );
        let weight = |k: usize| concept.concept.weights[k].abs();
        assert!(weight(0).min(weight(1)) > 3.0 * weight(2).max(weight(3)), "{method}: {concept:?}");
        let explained = model.explain_with(&new.bags, &Ctx::default()).unwrap();
        let named = (0..40).step_by(2).filter(|&b| {
            let Explanation::Witness { chosen, .. } = explained[b][0] else { unreachable!() };
            chosen == b % 4
        });
        assert!(named.count() >= 19, "{method} names other instances");
        let right = outputs(&model, &new.bags)
            .iter()
            .enumerate()
            .filter(|(b, o)| (**o > 0.0) == (b % 2 == 0))
            .count();
        assert!(right >= 36, "{method}: {right} of 40");
    }
}

#[test]
fn values_outside_the_unit_interval_are_scaled_and_predicted_in_their_own_units() {
    let data = planted(30, 3);
    // Sixty-fourths from 0 to 1: scaling them to and fro is exact, so that the climbs are the same.
    let value = |b: u32| f64::from(if b.is_multiple_of(2) { 64 - b / 2 } else { b / 2 }) / 64.0;
    let scaled: Vec<f64> = (0..30).map(value).collect();
    for method in ["dd", "em-dd"] {
        let plain = fit(method, &[], &with_values(&data, scaled.clone())).unwrap();
        let moved: Vec<f64> = scaled.iter().map(|y| 512.0 * y - 256.0).collect();
        let moved = fit(method, &[], &with_values(&data, moved)).unwrap();
        for (a, b) in outputs(&plain, &data.bags).iter().zip(outputs(&moved, &data.bags)) {
            // One multiplication and one addition.
            assert!((512.0 * a - 256.0 - b).abs() < 1e-12, "{method}: {a} {b}");
        }
    }
}

#[test]
fn little_to_learn_from_has_defined_answers() {
    let data = planted(12, 4);
    let same = Instances::F64(Mat::new(48, 4, vec![3.0; 192]));
    let identical = Dataset { bags: Bags::new(same, data.bags.offsets().to_vec()).unwrap(), ..data.clone() };
    for method in METHODS {
        for (what, data, given) in [
            ("one start", &data, &[("starts", "1")][..]),
            ("identical instances", &identical, &[]),
            ("one step", &data, &[("iterations", "1")]),
            ("unweighted", &data, &[("distance", "unweighted")]),
        ] {
            let model = fit(method, given, data).unwrap_or_else(|e| panic!("{method}, {what}: {e}"));
            assert!(outputs(&model, &data.bags).iter().all(|o| o.is_finite()), "{method}, {what}");
        }
    }
    for method in REGRESSORS {
        for (what, values) in
            [("equal", vec![7.0; 12]), ("equal and small", vec![0.2; 12]), ("huge", vec![1e300; 12])]
        {
            let data = with_values(&data, values.clone());
            let model = fit(method, &[], &data).unwrap_or_else(|e| panic!("{method}, {what}: {e}"));
            assert!(outputs(&model, &data.bags).iter().all(|o| o.is_finite()), "{method}, {what}");
        }
    }
}

#[test]
fn without_a_positive_bag_the_kernel_is_that_of_the_instances() {
    let data = planted(10, 5);
    let all: Vec<usize> = (0..10).collect();
    let gram = |name: &str, extra: &[(&str, &str)], y: &[f64]| {
        let method = methods::find(name).unwrap();
        let given: Vec<(String, String)> =
            [("gamma", "0.1")].iter().chain(extra).map(|(k, v)| (k.to_string(), v.to_string())).collect();
        let grid = Grid::new(name, method.params(), &given, WhenUnset::Default, false).unwrap();
        let scope = Scope { y, ..Scope::of(&all) };
        let prepared =
            method.prepare(Arc::new(data.bags.clone()), &grid.points, &scope, &Ctx::default()).unwrap();
        prepared.gram(0, &Ctx::default()).unwrap().unwrap().clone()
    };
    let plain = gram("mi-kernel", &[("norm", "sqrt")], &[]);
    for name in ["mg-ddv", "mg-acc"] {
        let found = gram(name, &[], &[-1.0; 10]);
        for (f, p) in found.data().iter().zip(plain.data()) {
            // The same sums, with a second weight vector of zeros.
            assert!((f - p).abs() < 1e-15, "{name}: {f} {p}");
        }
        let learned = gram(name, &[], &[1.0, -1.0, 1.0, -1.0, 1.0, -1.0, 1.0, -1.0, 1.0, -1.0]);
        assert!(learned.data().iter().zip(plain.data()).any(|(f, p)| (f - p).abs() > 1e-3), "{name}");
    }
}

#[test]
fn what_cannot_be_meant_is_refused_by_name() {
    let data = planted(12, 6);
    let refusals = [
        ("mg-acc", ("starts", "0"), "starts of mg-acc"),
        ("dd-svm", ("starts", "2.5"), "a whole number from 1"),
        ("em-dd", ("iterations", "1.5"), "a whole number from 1"),
        ("dd", ("threshold", "1.5"), "between 0 and 1"),
    ];
    for (method, given, said) in refusals {
        let error = fit(method, &[given], &data).err().expect("refused").to_string();
        assert!(error.contains(said), "{error}");
    }
    let error = fit("mi-kernel", &[], &data).unwrap().concepts().unwrap_err().to_string();
    assert!(error.contains("mi-kernel has no concepts"), "{error}");
}

#[test]
fn reuse_changes_the_choice_and_not_the_concepts() {
    let data = planted(24, 7);
    let model = |reuse: &str| {
        fit("mg-acc", &[("gamma", "0.5/d,2/d"), ("c", "1,10"), ("reuse", reuse)], &data).unwrap()
    };
    let (none, outer) = (model("none"), model("outer"));
    assert_eq!(outer.header.parameters.word("reuse").unwrap(), "outer");
    assert_eq!(none.concepts().unwrap(), outer.concepts().unwrap());
    // The labels that choose are those the concepts have seen: the estimate of the choice is at least as rosy.
    assert!(outer.header.training.inner_value >= none.header.training.inner_value);
}

/// Values of a second implementation (`golden/mirsvm`): noisy-or, and its form with the most likely cause.
#[test]
fn densities_of_another_implementation() {
    let path = format!("{}/tests/golden/mirsvm/embeddings.json", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("{path}: {e}"));
    let file: serde_json::Value = serde_json::from_str(&text).unwrap();
    let numbers = |v: &serde_json::Value| {
        v.as_array().unwrap().iter().map(|x| x.as_f64().unwrap()).collect::<Vec<f64>>()
    };
    let case = &file["diverse_density"];
    let concept = Concept { point: numbers(&case["point"]), weights: numbers(&case["scale"]) };
    let bags: Vec<Vec<Vec<f64>>> = file["bags"]
        .as_array()
        .unwrap()
        .iter()
        .map(|b| b.as_array().unwrap().iter().map(numbers).collect())
        .collect();
    let known: Vec<Known> = numbers(&file["y"])
        .iter()
        .map(|&y| if y > 0.0 { Known::Positive } else { Known::Negative })
        .collect();
    let density = |bags: &[Vec<Vec<f64>>]| {
        let rows: Vec<Vec<f64>> = bags.iter().flatten().cloned().collect();
        let mut offsets = vec![0];
        bags.iter().for_each(|b| offsets.push(offsets[offsets.len() - 1] + b.len()));
        let all: Vec<usize> = (0..bags.len()).collect();
        let bags = Bags::new(Instances::F64(Mat::from_rows(&rows)), offsets).unwrap();
        Evidence::new(&bags, &all, known.clone(), &Ctx::default()).unwrap().density(&concept).0
    };
    let nearest: Vec<Vec<Vec<f64>>> = bags
        .iter()
        .map(|bag| {
            let least =
                bag.iter().min_by(|a, b| concept.distance(a).total_cmp(&concept.distance(b))).unwrap();
            vec![least.clone()]
        })
        .collect();
    for (found, key) in
        [(density(&bags), "neg_log_dd_noisy_or"), (density(&nearest), "neg_log_dd_most_likely_cause")]
    {
        let expected = case[key].as_f64().unwrap();
        assert!((-found / expected - 1.0).abs() < 1e-12, "{key}: {found} {expected}");
    }
}

#[test]
fn a_width_over_the_attributes_means_those_of_the_bags() {
    let data = planted(12, 8);
    // Four attributes, whatever the number of concepts and of coordinates that bags become.
    for (name, extra) in
        [("dd-svm", ("rho", "1")), ("simple-mi", ("embed", "minmax")), ("mi-kernel", ("c", "1"))]
    {
        let over = fit(name, &[("gamma", "2/d"), extra], &data).unwrap();
        let number = fit(name, &[("gamma", "0.5"), extra], &data).unwrap();
        assert_eq!(outputs(&over, &data.bags), outputs(&number, &data.bags), "{name}");
    }
}

#[test]
fn methods_of_a_run_share_their_searches_and_find_what_they_find_alone() {
    let data = planted(24, 8);
    let shared = Ctx::seeded(2).sharing();
    let mut searches = Vec::new();
    for name in ["dd", "dd-svm", "mg-ddv", "mg-acc"] {
        let method = methods::find(name).unwrap();
        let given = [("c".to_string(), "1,10".to_string())];
        let given = if name == "dd" { &[][..] } else { &given[..] };
        let grid = Grid::new(name, method.params(), given, WhenUnset::Default, false).unwrap();
        let setup = ResolvedConfig::new(method, grid);
        let learners = [TrainingTask::new(&data, &setup, None).unwrap()];
        let all: Vec<usize> = (0..data.bags.len()).collect();
        let learn = |ctx: &Ctx| {
            let model = train(&learners, &all, Splits::KFold(3), &TrainOptions::by(Metric::Accuracy), ctx);
            model.unwrap().to_bytes().unwrap()
        };
        let together = learn(&shared);
        assert!(together == learn(&Ctx::seeded(2)), "{name}");
        searches.push(shared.shared.as_ref().unwrap().len());
    }
    // Three inner folds and the whole, each with the labels as they are and swapped.
    assert_eq!(searches, [8; 4]);
}
