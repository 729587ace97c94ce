//! Methods that papers compare with, beside what independent programs computed: small made problems with every
//! intermediate step, and Musk1, where Weka 3.6.14 gives the same labels.

use std::sync::Arc;

use bagwise::io::{ReadOptions, read};
use bagwise::method::{Explanation, Method, Outputs, Predictor, Scope, Training};
use bagwise::methods;
use bagwise::params::{Grid, WhenUnset};
use bagwise::preprocess::{Scale, Transform};
use bagwise::{Bags, Ctx, Dataset, Instances, Mat, Target};
use serde_json::Value;

fn golden(name: &str) -> Value {
    let path = format!("{}/tests/golden/comparators/{name}.json", env!("CARGO_MANIFEST_DIR"));
    serde_json::from_str(&std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("{path}: {e}"))).unwrap()
}

fn numbers(value: &Value) -> Vec<f64> {
    value.as_array().unwrap().iter().map(|v| v.as_f64().unwrap()).collect()
}

fn counts(value: &Value) -> Vec<usize> {
    value.as_array().unwrap().iter().map(|v| v.as_u64().unwrap() as usize).collect()
}

fn bags(value: &Value) -> Bags {
    let (mut rows, mut offsets) = (Vec::new(), vec![0]);
    for bag in value.as_array().unwrap() {
        rows.extend(bag.as_array().unwrap().iter().map(numbers));
        offsets.push(rows.len());
    }
    let names = (0..offsets.len() - 1).map(|b| b.to_string()).collect();
    Bags::new(Instances::F64(Mat::from_rows(&rows)), offsets).unwrap().with_ids(names).unwrap()
}

/// Musk1 as the golden file has it: every attribute to 0..1 over all bags.
fn musk1() -> (Bags, Vec<f64>) {
    let data: Dataset = read("musk1", &ReadOptions::default()).unwrap();
    let all: Vec<usize> = (0..data.bags.len()).collect();
    let scaling = Transform::fit(Scale::MinMax, false, &data.bags, None, &all).unwrap();
    let bags = scaling.apply(&data.bags, &Ctx::default()).unwrap();
    let Some(Target::Classes { codes, .. }) = data.target else { panic!("Musk1 has classes") };
    (bags, codes.iter().map(|&c| if c == 1 { 1.0 } else { -1.0 }).collect())
}

fn close(found: f64, expected: f64, tolerance: f64, what: &str) {
    assert!(
        (found - expected).abs() <= tolerance * expected.abs().max(1.0),
        "{what}: {found} and {expected}"
    );
}

fn all_close(found: &[f64], expected: &[f64], tolerance: f64, what: &str) {
    assert_eq!(found.len(), expected.len(), "{what}");
    for (i, (&f, &e)) in found.iter().zip(expected).enumerate() {
        close(f, e, tolerance, &format!("{what}, number {i}"));
    }
}

/// A model of some of the bags, one machine with all weights 1.
fn model(
    method: &str,
    given: &[(&str, &str)],
    bags: &Bags,
    train: &[usize],
    y: &[f64],
    regression: bool,
) -> Box<dyn Predictor> {
    let method: &dyn Method = methods::find(method).unwrap();
    let given: Vec<(String, String)> = given.iter().map(|(n, v)| (n.to_string(), v.to_string())).collect();
    let points = Grid::new(method.info().name, method.params(), &given, WhenUnset::Default, regression)
        .unwrap()
        .points;
    let labels = if method.learns_labels() { y } else { &[] };
    let scope = Scope { y: labels, ..Scope::of(train) };
    let ctx = Ctx::default();
    let prepared = method.prepare(Arc::new(bags.clone()), &points, &scope, &ctx).unwrap();
    let weights = vec![1.0; train.len()];
    let fits = prepared.fit(&[0], &Training { bags: train, y, weights: &weights, regression }, &ctx).unwrap();
    let model = prepared.model(&[&fits[0]], train, &ctx).unwrap();
    // What is in memory and what is loaded again are one.
    let loaded = method.load(&points[0], &model.save().unwrap()).unwrap();
    assert_eq!(scores(&*loaded, bags), scores(&*model, bags));
    loaded
}

fn scores(model: &dyn Predictor, bags: &Bags) -> Vec<f64> {
    let Outputs { scores, .. } = model.predict(bags, &Ctx::default()).unwrap();
    scores.into_data()
}

fn parts(model: &dyn Predictor, bags: &Bags) -> Vec<Vec<f64>> {
    let explained = model.explain(bags, &Ctx::default()).unwrap();
    let parts = |mut outputs: Vec<Explanation>| match outputs.remove(0) {
        Explanation::Additive { bias, parts } => {
            assert_eq!(bias, 0.0);
            parts
        }
        other => panic!("not additive: {other:?}"),
    };
    explained.into_iter().map(parts).collect()
}

fn others(count: usize, than: usize) -> Vec<usize> {
    (0..count).filter(|&b| b != than).collect()
}

mod citation {
    use super::*;
    use bagwise::unstable::engine::bag_distances::{HausdorffRank, hausdorff};

    /// Leaves out each bag in turn; a vote of a bag that is reference and citer counts twice.
    fn leave_one_out(
        what: &str,
        bags: &Bags,
        y: &[f64],
        given: &[(&str, &str)],
        rows: &Value,
        numbers_too: bool,
    ) {
        for (q, expected) in rows.as_array().unwrap().iter().enumerate() {
            let train = others(bags.len(), q);
            let own: Vec<f64> = train.iter().map(|&b| y[b]).collect();
            let model = model("citation-knn", given, bags, &train, &own, numbers_too);
            let query = bags.select(&[q]);
            close(scores(&*model, &query)[0], expected["score"].as_f64().unwrap(), 1e-12, what);
            let (references, citers) = (counts(&expected["references"]), counts(&expected["citers"]));
            let votes = model.votes(&query, &Ctx::default()).unwrap().unwrap().remove(0).remove(0);
            let found: Vec<(usize, usize)> =
                votes.iter().map(|v| (v.bag.parse().unwrap(), v.votes.into())).collect();
            let count = |b: &usize| usize::from(references.contains(b)) + usize::from(citers.contains(b));
            let expected: Vec<(usize, usize)> =
                (0..bags.len()).map(|b| (b, count(&b))).filter(|v| v.1 > 0).collect();
            assert_eq!(found, expected, "{what}, bag {q}");
        }
    }

    #[test]
    fn distances_votes_and_evidence_are_those_recorded() {
        let file = golden("citation");
        let (bags, y, values) = (bags(&file["bags"]), numbers(&file["y"]), numbers(&file["values"]));
        for rank in 1..=3 {
            let found = hausdorff(&bags, &[HausdorffRank::Nth(rank)], &Ctx::default()).unwrap().remove(0);
            for (b, row) in file["hausdorff"][rank.to_string()].as_array().unwrap().iter().enumerate() {
                all_close(found.row(b), &numbers(row), 1e-12, "distances");
            }
        }
        let cases = [
            ("R2C4H1", [("references", "2"), ("citers", "4"), ("rank", "1")]),
            ("R1C0H1", [("references", "1"), ("citers", "0"), ("rank", "1")]),
            ("R3C2H2", [("references", "3"), ("citers", "2"), ("rank", "2")]),
            ("R2C20H1", [("references", "2"), ("citers", "20"), ("rank", "1")]),
        ];
        for (name, given) in cases {
            leave_one_out(name, &bags, &y, &given, &file["leave_one_out"][name], false);
        }
        leave_one_out("values", &bags, &values, &cases[0].1, &file["regression_R2C4H1"], true);
        for (q, expected) in file["explanation_R2C4H1"].as_array().unwrap().iter().enumerate() {
            let train = others(bags.len(), q);
            let own: Vec<f64> = train.iter().map(|&b| y[b]).collect();
            let model = model("citation-knn", &[], &bags, &train, &own, false);
            let query = bags.select(&[q]);
            all_close(&parts(&*model, &query)[0], &numbers(&expected["parts"]), 1e-12, "parts");
            let votes = model.votes(&query, &Ctx::default()).unwrap().unwrap().remove(0).remove(0);
            let found: Vec<Vec<usize>> = votes
                .iter()
                .map(|v| vec![v.bag.parse().unwrap(), v.votes.into(), v.instance, v.its_instance])
                .collect();
            let recorded = expected["votes_bag_count_own_other"].as_array().unwrap();
            assert_eq!(found, recorded.iter().map(counts).collect::<Vec<_>>());
        }
    }

    #[test]
    fn ties_all_count() {
        let ties = &golden("citation")["ties"];
        let (bags, y) = (bags(&ties["bags"]), numbers(&ties["y"]));
        let given = [("references", "1"), ("citers", "1")];
        leave_one_out("ties", &bags, &y, &given, &ties["leave_one_out_R1C1"], false);
    }

    #[test]
    fn one_training_bag_gives_its_value_and_many_references_are_all() {
        let file = golden("citation");
        let (bags, y) = (bags(&file["bags"]), numbers(&file["y"]));
        for citers in ["0", "4", "1000"] {
            let given = [("references", "1000"), ("citers", citers)];
            let one = model("citation-knn", &given, &bags, &[3], &[0.7], true);
            assert!(scores(&*one, &bags).iter().all(|s| (s - 0.7).abs() < 1e-15));
        }
        let all: Vec<usize> = (0..bags.len()).collect();
        let everyone =
            model("citation-knn", &[("references", "1000"), ("citers", "0")], &bags, &all, &y, false);
        assert!(scores(&*everyone, &bags).iter().all(|s| *s == 0.0));
    }

    #[test]
    fn musk1_gives_the_recorded_scores() {
        let (bags, y) = musk1();
        let expected = numbers(&golden("musk1")["citation_R2C4"]["score"]);
        for q in 0..bags.len() {
            let train = others(bags.len(), q);
            let own: Vec<f64> = train.iter().map(|&b| y[b]).collect();
            let model = model("citation-knn", &[], &bags, &train, &own, false);
            close(scores(&*model, &bags.select(&[q]))[0], expected[q], 1e-12, &format!("bag {q}"));
        }
    }
}

mod boost {
    use super::*;

    /// Rules beside recorded rounds: attribute, cut, sides and factors.
    fn same_rules(model: &dyn Predictor, rounds: &Value, what: &str) {
        let rules = model.rules().unwrap().remove(0);
        let rounds = rounds.as_array().unwrap();
        assert_eq!(rules.len(), rounds.len(), "{what}");
        for (rule, round) in rules.iter().zip(rounds) {
            let number = |name: &str| round[name].as_f64().unwrap();
            assert_eq!(rule.attribute as f64, number("attribute"), "{what}");
            close(rule.cut, number("cut"), 1e-12, what);
            // Factors come from Newton's steps: 1e-9.
            close(rule.below, number("below") * number("c"), 1e-9, what);
            close(rule.above, number("above") * number("c"), 1e-9, what);
        }
    }

    #[test]
    fn rules_outputs_and_parts_are_those_recorded() {
        let file = golden("miboost");
        let (bags, y) = (bags(&file["bags"]), numbers(&file["y"]));
        let all: Vec<usize> = (0..bags.len()).collect();
        for criterion in ["entropy", "error"] {
            let expected = &file[criterion];
            let given = [("rounds", "10"), ("criterion", criterion)];
            let model = model("mi-boost", &given, &bags, &all, &y, false);
            same_rules(&*model, &expected["rounds"], criterion);
            all_close(&scores(&*model, &bags), &numbers(&expected["output"]), 1e-9, criterion);
            for (found, expected) in parts(&*model, &bags).iter().zip(expected["parts"].as_array().unwrap()) {
                all_close(found, &numbers(expected), 1e-9, criterion);
            }
        }
    }

    #[test]
    fn fewer_rounds_are_the_beginning_of_more() {
        let file = golden("miboost");
        let (bags, y) = (bags(&file["bags"]), numbers(&file["y"]));
        let all: Vec<usize> = (0..bags.len()).collect();
        let rules = |rounds: &str| {
            let model = model("mi-boost", &[("rounds", rounds)], &bags, &all, &y, false);
            model.rules().unwrap().remove(0)
        };
        let long = rules("40");
        assert!(long.len() > 7, "{} rules", long.len());
        assert_eq!(rules("7"), long[..7]);
    }

    #[test]
    fn bags_that_one_rule_separates_stop_the_search() {
        let rows: Vec<[f64; 1]> = (0..6).map(|i| [f64::from(i)]).collect();
        let bags = Bags::new(Instances::F64(Mat::from_rows(&rows)), (0..=6).collect()).unwrap();
        let y = [-1.0, -1.0, -1.0, 1.0, 1.0, 1.0];
        let all: Vec<usize> = (0..6).collect();
        let model = model("mi-boost", &[], &bags, &all, &y, false);
        let rules = model.rules().unwrap().remove(0);
        assert_eq!(rules.len(), 1);
        assert_eq!((rules[0].cut, rules[0].below, rules[0].above), (2.5, -1.0, 1.0));
    }

    /// Weka's MIBoost -R 10 with DecisionStump gives the same labels, and probabilities to 2e-6.
    #[test]
    fn musk1_gives_the_recorded_rules() {
        let (bags, y) = musk1();
        let all: Vec<usize> = (0..bags.len()).collect();
        let given = [("rounds", "10"), ("criterion", "entropy")];
        let model = model("mi-boost", &given, &bags, &all, &y, false);
        let expected = &golden("musk1")["miboost_entropy"];
        same_rules(&*model, &expected["rounds"], "musk1");
        all_close(&scores(&*model, &bags), &numbers(&expected["output"]), 1e-9, "musk1");
    }
}

mod wrapper {
    use super::*;

    fn weights(model: &dyn Predictor) -> (Vec<f64>, f64) {
        let state = model.save().unwrap();
        (state.mat("weights").unwrap().into_data(), state.vector("biases", 1).unwrap()[0])
    }

    #[test]
    fn weights_and_all_combinations_are_those_recorded() {
        let file = golden("wrapper");
        let (bags, y) = (bags(&file["bags"]), numbers(&file["y"]));
        let all: Vec<usize> = (0..bags.len()).collect();
        for case in file["cases"].as_array().unwrap() {
            let c = case["c"].to_string();
            for combine in ["mean", "geometric", "max"] {
                let given = [("c", c.as_str()), ("combine", combine)];
                let model = model("mi-wrapper", &given, &bags, &all, &y, false);
                let (found, bias) = weights(&*model);
                all_close(&found, &numbers(&case["weights"]), 1e-9, combine);
                close(bias, case["bias"].as_f64().unwrap(), 1e-9, combine);
                all_close(&scores(&*model, &bags), &numbers(&case[combine]), 1e-9, combine);
            }
        }
    }

    #[test]
    fn one_class_gives_its_sign() {
        let file = golden("wrapper");
        let bags = bags(&file["bags"]);
        for side in [1.0, -1.0] {
            let model = model("mi-wrapper", &[], &bags, &[0, 1, 2], &[side; 3], false);
            assert!(scores(&*model, &bags).iter().all(|s| s * side > 0.49));
        }
    }

    /// Weka's MIWrapper with Logistic gives the same labels after its own standardisation, and probabilities to 2e-5.
    #[test]
    fn musk1_gives_the_recorded_weights() {
        let (bags, y) = musk1();
        let all: Vec<usize> = (0..bags.len()).collect();
        let model = model("mi-wrapper", &[("c", "1")], &bags, &all, &y, false);
        let expected = &golden("musk1")["wrapper_c1"];
        let (found, bias) = weights(&*model);
        all_close(&found, &numbers(&expected["weights"]), 1e-9, "weights");
        close(bias, expected["bias"].as_f64().unwrap(), 1e-9, "bias");
        all_close(&scores(&*model, &bags), &numbers(&expected["mean"]), 1e-9, "outputs");
    }
}

mod ball {
    use super::*;

    fn check(bags: &Bags, y: &[f64], expected: &Value, what: &str) -> Box<dyn Predictor> {
        let all: Vec<usize> = (0..bags.len()).collect();
        let model = model("optimal-ball", &[], bags, &all, y, false);
        let state = model.save().unwrap();
        let number = |name: &str| expected[name].as_f64().unwrap();
        close(state.vector("radii", 1).unwrap()[0], number("radius"), 1e-12, what);
        let centre = bags.bag(number("bag") as usize).to_dense().unwrap();
        all_close(state.mat("centres").unwrap().data(), centre.row(number("instance") as usize), 1e-15, what);
        let right = scores(&*model, bags).iter().zip(y).filter(|(s, y)| (**s > 0.0) == (**y > 0.0)).count();
        assert_eq!(right as f64, number("right"), "{what}");
        model
    }

    #[test]
    fn centre_radius_and_outputs_are_those_recorded() {
        for case in golden("optimal_ball")["cases"].as_array().unwrap() {
            let (bags, y) = (bags(&case["bags"]), numbers(&case["y"]));
            let model = check(&bags, &y, case, "made");
            all_close(&scores(&*model, &bags), &numbers(&case["score"]), 1e-12, "scores");
        }
    }

    #[test]
    fn one_class_gives_its_sign_and_the_sphere_is_inside() {
        let line = |values: &[f64]| {
            let rows: Vec<[f64; 1]> = values.iter().map(|&v| [v]).collect();
            Bags::new(Instances::F64(Mat::from_rows(&rows)), (0..=values.len()).collect()).unwrap()
        };
        let bags = line(&[0.0, 1.0, 5.0]);
        for side in [1.0, -1.0] {
            let model = model("optimal-ball", &[], &bags, &[0, 1, 2], &[side; 3], false);
            assert_eq!(scores(&*model, &bags), [side; 3]);
        }
        // Around 0 the radius is 3, half way between 1 and 5; so is 3 away, and inside.
        let model = model("optimal-ball", &[], &bags, &[0, 1, 2], &[1.0, 1.0, -1.0], false);
        let found = scores(&*model, &line(&[3.0, 3.5, 0.0]));
        assert!(found[0] > 0.0 && found[0] < 1e-300 && found[1] < 0.0 && found[2] == 3.0, "{found:?}");
    }

    /// Weka's MIOptimalBall gives the same labels.
    #[test]
    fn musk1_gives_the_recorded_ball() {
        let (bags, y) = musk1();
        check(&bags, &y, &golden("musk1")["optimal_ball"], "musk1");
    }
}

mod misssvm {
    use super::*;
    use bagwise::unstable::follow;

    /// The objective of the whole problem, from the outputs of instances and the length of the weights.
    fn objective(bags: &Bags, y: &[f64], c: f64, outputs: &[f64], squared_length: f64) -> f64 {
        let own = |b: usize| bags.rows(b).map(|i| outputs[i]);
        let count =
            |side: f64| (0..bags.len()).filter(|&b| y[b] == side).map(|b| bags.rows(b).len()).sum::<usize>();
        let (negative, unlabelled) = (count(-1.0) as f64, count(1.0) as f64);
        let positive = y.iter().filter(|y| **y > 0.0).count() as f64;
        let mut sum = 0.5 * squared_length;
        for b in 0..bags.len() {
            if y[b] < 0.0 {
                sum += c * own(b).map(|f| (1.0 + f).max(0.0)).sum::<f64>();
            } else {
                let most = own(b).fold(f64::NEG_INFINITY, f64::max);
                sum += c * negative / positive * (1.0 - most).max(0.0);
                sum += c * negative / unlabelled * own(b).map(|f| (1.0 - f.abs()).max(0.0)).sum::<f64>();
            }
        }
        sum
    }

    #[test]
    fn every_search_takes_the_recorded_path() {
        let file = golden("misssvm");
        let (bags, y) = (bags(&file["bags"]), numbers(&file["y"]));
        let method = methods::find("misssvm").unwrap();
        let mut followed = 0;
        for case in file["cases"].as_array().unwrap() {
            let c = case["c"].as_f64().unwrap();
            let mut given: Vec<(String, String)> = vec![
                ("kernel".into(), case["kernel"].as_str().unwrap().into()),
                ("c".into(), case["c"].to_string()),
            ];
            if let Some(gamma) = case["gamma"].as_f64() {
                given.push(("gamma".into(), gamma.to_string()));
            }
            let what = format!("{given:?}");
            let points =
                Grid::new("misssvm", method.params(), &given, WhenUnset::Default, false).unwrap().points;
            let found = follow("misssvm", &points[0], &bags, &y, None, 1e-12, &Ctx::default()).unwrap();
            let rounds = case["rounds"].as_array().unwrap();
            let values: Vec<(f64, Vec<f64>)> = found
                .steps
                .iter()
                .map(|step| {
                    let outputs: Vec<f64> = step.outputs.iter().map(|o| o + step.bias).collect();
                    let alphas: f64 = step.coefficients.iter().map(|b| b.abs()).sum();
                    (objective(&bags, &y, c, &outputs, 2.0 * (alphas - step.objective)), outputs)
                })
                .collect();
            assert!(values.windows(2).all(|w| w[1].0 <= w[0].0 * (1.0 + 1e-9)), "{what}: the objective rose");
            let last = rounds.last().unwrap()["objective"].as_f64().unwrap();
            // Where several instances of a bag lie on the margin together, rounding chooses the witness: only the end is
            // compared.
            if case["smallest_gap"].as_f64().unwrap() > 1e-3 {
                assert_eq!(values.len(), rounds.len(), "{what}");
                for ((value, outputs), round) in values.iter().zip(rounds) {
                    all_close(outputs, &numbers(&round["f"]), 1e-7, &what);
                    close(*value, round["objective"].as_f64().unwrap(), 1e-9, &what);
                }
                followed += 1;
            } else {
                close(values.last().unwrap().0, last, 1e-9, &what);
            }
        }
        assert_eq!(followed, 6);
    }
}

mod rbf_mip {
    use super::*;

    #[test]
    fn groups_widths_and_outputs_are_those_recorded() {
        let file = golden("rbf_mip");
        let (bags, values) = (bags(&file["bags"]), numbers(&file["values"]));
        let all: Vec<usize> = (0..bags.len()).collect();
        for case in file["cases"].as_array().unwrap() {
            let groups: Vec<Vec<usize>> = case["groups"].as_array().unwrap().iter().map(counts).collect();
            let share = (groups.len() as f64 / bags.len() as f64).to_string();
            let mu = case["mu"].to_string();
            let given = [("groups", share.as_str()), ("mu", mu.as_str())];
            let model = model("rbf-mip", &given, &bags, &all, &values, true);
            let state = model.save().unwrap().nested("output0");
            let mut found = vec![Vec::new(); groups.len()];
            for (bag, group) in state.counts("bags").unwrap().into_iter().zip(state.counts("groups").unwrap())
            {
                found[group].push(bag);
            }
            assert_eq!(found, groups);
            let width = state.vector("width_of_gaussians", 1).unwrap()[0];
            close(width, case["width"].as_f64().unwrap(), 1e-12, "width");
            // A closed form, up to the condition of the equations.
            all_close(&scores(&*model, &bags), &numbers(&case["output"]), 1e-9, "outputs");
        }
    }

    #[test]
    fn more_groups_than_bags_are_refused() {
        let method = methods::find("rbf-mip").unwrap();
        let given = [("groups".to_string(), "1.5".to_string())];
        let error = Grid::new("rbf-mip", method.params(), &given, WhenUnset::Default, true).unwrap_err();
        assert!(error.to_string().contains("at most 1"), "{error}");
    }
}

mod tlc {
    use super::*;

    #[test]
    fn nodes_and_counts_are_those_of_scikit_learn() {
        let file = golden("tree");
        let (bags, y) = (bags(&file["bags"]), numbers(&file["y"]));
        let all: Vec<usize> = (0..bags.len()).collect();
        for case in file["cases"].as_array().unwrap() {
            let (depth, leaf) = (case["depth"].to_string(), case["leaf"].to_string());
            let what = format!("depth {depth}, leaf {leaf}");
            let model = model("tlc", &[("depth", &depth), ("leaf", &leaf)], &bags, &all, &y, false);
            let state = model.save().unwrap().nested("bank");
            let nodes = case["nodes"].as_array().unwrap();
            let attributes = state.counts("attributes").unwrap();
            assert_eq!(attributes.len(), nodes.len(), "{what}");
            let cuts = state.vector("cuts", nodes.len()).unwrap();
            for ((node, attribute), cut) in nodes.iter().zip(&attributes).zip(cuts) {
                match node.as_array() {
                    Some(node) => {
                        assert_eq!(node[0].as_u64().unwrap() as usize, *attribute, "{what}");
                        // scikit-learn rounds attributes to single precision.
                        close(cut, node[1].as_f64().unwrap(), 1e-6, &what);
                    }
                    None => assert_eq!(*attribute, bags.width(), "{what}: a leaf"),
                }
            }
            let factors = state.vector("factors", nodes.len()).unwrap();
            let vectors = state.mat("vectors").unwrap();
            for (b, counts) in case["counts"].as_array().unwrap().iter().enumerate() {
                let scaled: Vec<f64> = numbers(counts).iter().zip(&factors).map(|(c, f)| c * f).collect();
                all_close(vectors.row(b), &scaled, 1e-12, &what);
            }
            let sums: Vec<f64> = parts(&*model, &bags).iter().map(|p| p.iter().sum()).collect();
            all_close(&sums, &scores(&*model, &bags), 1e-12, &what);
        }
    }
}
