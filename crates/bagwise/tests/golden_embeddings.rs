//! Axes, k-means, mixtures and the embeddings made from them against independent implementations: `golden/comparators`, whose
//! starts are given, and scikit-learn (`golden/clusters_sklearn.json`). Closed forms agree to 1e-12 relative, some orders above
//! the rounding of both; chains of expectation and maximisation to 1e-9, because every step divides by what it has found.

use bagwise::method::{Explanation, State, Tensor};
use bagwise::model::{pack, unpack};
use bagwise::preprocess::{Scale, Transform};
use bagwise::unstable::engine::axes::AllAxes;
use bagwise::unstable::engine::clusters::{Centroids, KMeans};
use bagwise::unstable::engine::minima::Places;
use bagwise::unstable::engine::mixture::{Mixture, MixtureSums};
use bagwise::{Bags, Ctx, Dataset, Instances, Mat, Model, Target};
use serde_json::Value;

const CLOSED: f64 = 1e-12;
const CHAIN: f64 = 1e-9;

fn golden(name: &str) -> Value {
    let path = format!("{}/tests/golden/{name}.json", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("{path}: {e}"));
    serde_json::from_str(&text).unwrap()
}

fn number(value: &Value) -> f64 {
    value.as_f64().unwrap()
}

fn numbers(value: &Value) -> Vec<f64> {
    value.as_array().unwrap().iter().map(number).collect()
}

fn counts(value: &Value) -> Vec<u32> {
    value.as_array().unwrap().iter().map(|v| v.as_u64().unwrap() as u32).collect()
}

fn matrix(value: &Value) -> Mat {
    Mat::from_rows(&value.as_array().unwrap().iter().map(numbers).collect::<Vec<_>>())
}

fn bags(value: &Value) -> Bags {
    let (mut rows, mut offsets) = (Vec::new(), vec![0]);
    for bag in value.as_array().unwrap() {
        rows.extend(bag.as_array().unwrap().iter().map(numbers));
        offsets.push(rows.len());
    }
    Bags::new(Instances::F64(Mat::from_rows(&rows)), offsets).unwrap()
}

fn dense(bags: &Bags) -> &Mat {
    match bags.instances() {
        Instances::F64(rows) => rows,
        _ => unreachable!(),
    }
}

/// How well an axis is known: rounding of the largest variance over the gap to the nearest other one. The covariance has that
/// rounding; the reference takes the instances themselves apart.
fn axis_tolerance(variances: &[f64], k: usize) -> f64 {
    let others = variances.iter().enumerate().filter(|(i, _)| *i != k);
    let gap = others.map(|(_, v)| (v - variances[k]).abs()).fold(f64::INFINITY, f64::min);
    CLOSED.max(4.0 * f64::EPSILON * variances[0] / gap)
}

/// In units of the largest expected number.
fn close(found: &[f64], expected: &[f64], tolerance: f64, case: &str) {
    assert_eq!(found.len(), expected.len(), "{case}");
    let scale = expected.iter().fold(1e-300f64, |m, v| m.max(v.abs()));
    for (i, (f, e)) in found.iter().zip(expected).enumerate() {
        assert!((f - e).abs() <= tolerance * scale, "{case} [{i}]: {f:e}, expected {e:e}");
    }
}

fn products(rows: &Mat) -> Vec<f64> {
    let dot = |a: usize, b: usize| rows.row(a).iter().zip(rows.row(b)).map(|(x, y)| x * y).sum::<f64>();
    (0..rows.rows()).flat_map(|a| (0..rows.rows()).map(move |b| (a, b))).map(|(a, b)| dot(a, b)).collect()
}

fn roots_of_length_1(values: &[f64]) -> Vec<f64> {
    let roots: Vec<f64> = values.iter().map(|v| v.signum() * v.abs().sqrt()).collect();
    let length = roots.iter().map(|v| v * v).sum::<f64>().sqrt();
    roots.iter().map(|v| if length > 0.0 { v / length } else { 0.0 }).collect()
}

fn fisher(mixture: &Mixture, bags: &Bags, points: &Mat) -> Mat {
    let of = |b: usize| {
        let mut sums = MixtureSums::zeros(mixture.weights().len(), points.cols());
        let rows = bags.rows(b);
        mixture.add_to(&points.data()[rows.start * points.cols()..rows.end * points.cols()], &mut sums);
        mixture.gradient(&sums).iter().map(|g| g / rows.len() as f64).collect::<Vec<_>>()
    };
    Mat::from_rows(&(0..bags.len()).map(of).collect::<Vec<_>>())
}

fn vlad(centres: &Mat, nearest: &[u32], bags: &Bags, points: &Mat) -> Mat {
    let mut all = Mat::zeros(bags.len(), centres.rows() * centres.cols());
    for b in 0..bags.len() {
        for i in bags.rows(b) {
            let c = nearest[i] as usize;
            for j in 0..centres.cols() {
                all.row_mut(b)[c * centres.cols() + j] += points.get(i, j) - centres.get(c, j);
            }
        }
    }
    all
}

#[test]
fn k_means_takes_the_steps_of_the_reference() {
    let file = golden("comparators/codebook");
    let bags = bags(&file["bags"]);
    let ctx = Ctx::default();
    for (name, case) in file["kmeans"].as_object().unwrap() {
        let (points, start) = match case.get("start") {
            Some(start) => (Instances::F64(matrix(&case["points"])), matrix(start)),
            None => {
                let rows: Vec<usize> = counts(&case["start_rows"]).iter().map(|&r| r as usize).collect();
                (bags.instances().clone(), dense(&bags).gather(&rows))
            }
        };
        let rounds = case["assignments"].as_array().unwrap();
        for (round, expected) in rounds.iter().enumerate() {
            // After so many moves of the centres.
            let fit = match round {
                0 => {
                    let centroids = Centroids::new(start.clone()).unwrap();
                    centroids.finder(&ctx).unwrap().nearest(&points, 0..points.rows(), &ctx).unwrap()
                }
                _ => KMeans::fit(&points, start.clone(), round, &ctx).unwrap().assignment,
            };
            assert_eq!(fit, counts(expected), "{name}, round {round}");
        }
        let fit = KMeans::fit(&points, start, 100, &ctx).unwrap();
        assert!(fit.converged, "{name}");
        assert_eq!(fit.rounds, rounds.len() + 1, "{name}: one more round, which changes nothing");
        assert_eq!(fit.assignment, counts(&case["final"]), "{name}");
        close(fit.centroids.centres().data(), matrix(&case["centres"]).data(), CLOSED, name);
        close(&[fit.inertia(&points).unwrap()], &[number(&case["inertia"])], CLOSED, name);
    }
}

#[test]
fn axes_are_those_of_the_reference_up_to_signs() {
    let file = golden("comparators/fisher");
    let wide = bags(&file["wide"]);
    let all = AllAxes::of(wide.instances(), &Ctx::default()).unwrap();
    for (share, case) in file["pca"].as_object().unwrap() {
        let axes = all.with_share(share.parse().unwrap());
        let expected = matrix(&case["axes"]);
        assert_eq!(axes.count(), expected.cols(), "{share}");
        close(axes.mean(), &numbers(&case["mean"]), CLOSED, share);
        for k in 0..axes.count() {
            let theirs: Vec<f64> = (0..expected.rows()).map(|j| expected.get(j, k)).collect();
            let own = axes.directions().row(k);
            let sign: f64 = own.iter().zip(&theirs).map(|(a, b)| a * b).sum::<f64>().signum();
            let tolerance = axis_tolerance(all.variances(), k);
            assert!(tolerance < 1e-9, "{share}: axis {k} says nothing");
            let own: Vec<f64> = own.iter().map(|v| v * sign).collect();
            close(&own, &theirs, tolerance, &format!("{share}, axis {k}"));
        }
    }
}

#[test]
fn mixtures_take_the_steps_of_the_reference() {
    let file = golden("comparators/fisher");
    let bags = bags(&file["bags"]);
    let (points, ctx) = (dense(&bags), Ctx::default());
    let start = Mixture::of_groups(points, &counts(&file["start"]["assignment"]), 3);
    let same = |found: &Mixture, case: &Value, what: &str| {
        close(found.weights(), &numbers(&case["weights"]), CHAIN, what);
        close(found.means().data(), matrix(&case["means"]).data(), CHAIN, what);
        close(found.variances().data(), matrix(&case["variances"]).data(), CHAIN, what);
    };
    same(&start, &file["start"], "start");
    for (steps, case) in file["em"].as_object().unwrap() {
        let (most, tolerance) = steps.parse().map_or((100, 1e-3), |steps| (steps, 0.0));
        let (found, likelihoods) = start.clone().improve(points, most, tolerance, &ctx).unwrap();
        same(&found, case, steps);
        close(&likelihoods, &numbers(&case["mean_log_likelihood"]), CHAIN, steps);
    }
    let (mixture, _) = start.improve(points, 100, 1e-3, &ctx).unwrap();
    close(mixture.posteriors(points.data()).data(), matrix(&file["posterior"]).data(), CHAIN, "posteriors");
    let raw = fisher(&mixture, &bags, points);
    close(raw.data(), matrix(&file["raw"]).data(), CHAIN, "Fisher vectors");
    let unit = Mat::from_rows(&(0..12).map(|b| roots_of_length_1(raw.row(b))).collect::<Vec<_>>());
    close(unit.data(), matrix(&file["unit"]).data(), CHAIN, "Fisher vectors of length 1");
    close(&products(&unit), matrix(&file["gram"]).data(), CHAIN, "Gram");
}

#[test]
fn the_whole_chain_from_axes_to_vectors_is_that_of_the_reference() {
    let file = golden("comparators/fisher");
    let wide = bags(&file["wide"]);
    let ctx = Ctx::default();
    let axes = AllAxes::of(wide.instances(), &ctx).unwrap().with_share(0.9);
    let points = axes.project(wide.instances(), 0..wide.instance_count(), &ctx).unwrap();
    let instances = Instances::F64(points.clone());
    for (k, case) in file["chain_energy_0_9"].as_object().unwrap() {
        let rows: Vec<usize> = counts(&case["start_rows"]).iter().map(|&r| r as usize).collect();
        let fit = KMeans::fit(&instances, points.gather(&rows), 100, &ctx).unwrap();
        assert_eq!(fit.assignment, counts(&case["assignment"]), "{k}");
        close(&[fit.inertia(&instances).unwrap()], &[number(&case["inertia"])], CLOSED, k);
        let sums = vlad(fit.centroids.centres(), &fit.assignment, &wide, &points);
        let unit = |rows: &Mat| {
            Mat::from_rows(&(0..rows.rows()).map(|b| roots_of_length_1(rows.row(b))).collect::<Vec<_>>())
        };
        close(&products(&unit(&sums)), matrix(&case["vlad_gram"]).data(), CLOSED, &format!("{k}, VLAD"));
        let count = rows.len();
        let (mixture, likelihoods) = Mixture::fit(&points, &fit.assignment, count, 100, &ctx).unwrap();
        close(&likelihoods, &numbers(&case["log_likelihood"]), CHAIN, k);
        let raw = fisher(&mixture, &wide, &points);
        close(&products(&unit(&raw)), matrix(&case["fisher_gram"]).data(), CHAIN, &format!("{k}, Fisher"));
    }
}

#[test]
fn scikit_learn_finds_the_same_axes_centres_and_mixtures() {
    let ctx = Ctx::default();
    for (i, case) in golden("clusters_sklearn")["cases"].as_array().unwrap().iter().enumerate() {
        let what = format!("case {i}");
        let points = matrix(&case["points"]);
        let instances = Instances::F64(points.clone());
        let all = AllAxes::of(&instances, &ctx).unwrap();
        let axes = all.with_share(0.9);
        let theirs = matrix(&case["axes"]);
        assert_eq!(axes.count(), theirs.rows(), "{what}");
        close(&all.variances()[..axes.count()], &numbers(&case["variances"]), CLOSED, &what);
        for k in 0..axes.count() {
            let (own, theirs) = (axes.directions().row(k), theirs.row(k));
            let sign: f64 = own.iter().zip(theirs).map(|(a, b)| a * b).sum::<f64>().signum();
            let own: Vec<f64> = own.iter().map(|v| v * sign).collect();
            close(&own, theirs, axis_tolerance(all.variances(), k), &what);
        }
        let fit = KMeans::fit(&instances, matrix(&case["start"]), 300, &ctx).unwrap();
        assert_eq!(fit.assignment, counts(&case["labels"]), "{what}");
        close(fit.centroids.centres().data(), matrix(&case["centres"]).data(), CLOSED, &what);
        close(&[fit.inertia(&instances).unwrap()], &[number(&case["inertia"])], CLOSED, &what);
        let (start, end) = (&case["mixture_start"], &case["mixture"]);
        let mixture =
            Mixture::new(numbers(&start["weights"]), matrix(&case["centres"]), matrix(&start["variances"]))
                .unwrap();
        let steps = end["steps"].as_u64().unwrap() as usize;
        // Not even rounding ends it before.
        let (mixture, _) = mixture.improve(&points, steps, 0.0, &ctx).unwrap();
        close(mixture.weights(), &numbers(&end["weights"]), CHAIN, &what);
        close(mixture.means().data(), matrix(&end["means"]).data(), CHAIN, &what);
        close(mixture.variances().data(), matrix(&end["variances"]).data(), CHAIN, &what);
        let first = &points.data()[..5 * points.cols()];
        close(mixture.posteriors(first).data(), matrix(&end["posteriors"]).data(), CHAIN, &what);
    }
}

/// A model of this method whose arrays are then replaced: what it answers is the formula, whatever was learned.
fn altered(bags: &Bags, method: &str, given: &[(&str, &str)], arrays: &[(&str, Tensor)]) -> Model {
    let labels: Vec<String> = (0..bags.len()).map(|b| (b % 2).to_string()).collect();
    let data = Dataset::new("golden", bags.clone()).with_target(Target::from_labels(&labels)).unwrap();
    let config = bagwise::method(method).unwrap().params(given).scale(Scale::None);
    let model = bagwise::fit(&data).method(config).probabilities(false).run().unwrap();
    let (header, mut state): (String, State) = unpack(&model.to_bytes().unwrap()).unwrap();
    for (name, tensor) in arrays {
        let name = format!("model0.{name}");
        assert!(state.tensors.insert(name.clone(), tensor.clone()).is_some(), "{name} is new");
    }
    Model::from_bytes(&pack(&header, state).unwrap()).unwrap()
}

fn array(mat: &Mat) -> Tensor {
    Tensor::F64(vec![mat.rows(), mat.cols()], mat.data().to_vec())
}

fn vector(values: &[f64]) -> Tensor {
    Tensor::F64(vec![values.len()], values.to_vec())
}

/// One kept vector with coefficient 1: the weights themselves.
fn machine(weights: &[f64], bias: f64) -> Vec<(&'static str, Tensor)> {
    vec![
        ("bank.vectors", Tensor::F64(vec![1, weights.len()], weights.to_vec())),
        ("coefficients", Tensor::F64(vec![1, 1], vec![1.0])),
        ("biases", vector(&[bias])),
    ]
}

/// Outputs, and parts without the shares of the bias.
fn answers(model: &Model, bags: &Bags, bias: f64) -> (Vec<f64>, Vec<Vec<f64>>) {
    let ctx = Ctx::default();
    let outputs = model.predict_with(bags, &ctx).unwrap().iter().map(|p| p.outputs[0]).collect();
    let parts = model.explain_with(bags, &ctx).unwrap().into_iter().map(|machines| match &machines[0] {
        Explanation::Additive { bias: none, parts } => {
            assert_eq!(*none, 0.0);
            parts.iter().map(|p| p - bias / parts.len() as f64).collect()
        }
        Explanation::Witness { .. } => panic!("parts add up"),
    });
    (outputs, parts.collect())
}

fn compare(model: &Model, bags: &Bags, case: &Value, bias: f64, tolerance: f64, what: &str) {
    let (outputs, parts) = answers(model, bags, bias);
    close(&outputs, &numbers(&case["output"]), tolerance, what);
    for (b, (own, theirs)) in parts.iter().zip(case["parts"].as_array().unwrap()).enumerate() {
        // Shares of what nearly cancels are large: some more digits are lost there.
        close(own, &numbers(theirs), 100.0 * tolerance, &format!("{what}, parts of bag {b}"));
    }
}

/// Axes that change nothing.
fn no_axes(width: usize) -> Vec<(&'static str, Tensor)> {
    let mut same = Mat::zeros(width, width);
    (0..width).for_each(|j| same.set(j, j, 1.0));
    vec![("bank.codebook.mean", vector(&vec![0.0; width])), ("bank.codebook.axes", array(&same))]
}

#[test]
fn fisher_vectors_are_explained_as_by_the_reference() {
    let file = golden("comparators/fisher");
    let bags = bags(&file["bags"]);
    let mixture = &file["em"]["tol_1e-3"];
    let case = &file["explanation"];
    let mut arrays = [machine(&numbers(&case["weights"]), 0.0), no_axes(3)].concat();
    arrays.push(("bank.codebook.weights", vector(&numbers(&mixture["weights"]))));
    arrays.push(("bank.codebook.means", array(&matrix(&mixture["means"]))));
    arrays.push(("bank.codebook.variances", array(&matrix(&mixture["variances"]))));
    let model = altered(&bags, "mi-fv", &[("centres", "3")], &arrays);
    compare(&model, &bags, case, 0.0, CHAIN, "mi-fv");
}

#[test]
fn differences_from_centres_are_explained_as_by_the_reference() {
    let file = golden("comparators/vlad");
    let bags = bags(&file["bags"]);
    let centres = matrix(&file["centres"]);
    let ctx = Ctx::default();
    let centroids = Centroids::new(centres.clone()).unwrap();
    let nearest =
        centroids.finder(&ctx).unwrap().nearest(bags.instances(), 0..bags.instance_count(), &ctx).unwrap();
    let sums = vlad(&centres, &nearest, &bags, dense(&bags));
    close(sums.data(), matrix(&file["sums"]).data(), CLOSED, "sums");
    let case = &file["explanation"];
    let mut arrays = [machine(&numbers(&case["weights"]), 0.0), no_axes(3)].concat();
    arrays.push(("bank.codebook.centres", array(&centres)));
    let model = altered(&bags, "mi-vlad", &[("centres", "3")], &arrays);
    compare(&model, &bags, case, 0.0, CLOSED, "mi-vlad");
}

#[test]
fn histograms_and_their_powers_are_those_of_the_reference() {
    let file = golden("comparators/codebook");
    let bags = bags(&file["bags"]);
    let centres = array(&matrix(&file["kmeans"]["five"]["centres"]));
    for (power, case) in file["bow"]["powers"].as_object().unwrap() {
        // Unit weights read one coordinate after the other off the map.
        for k in 0..5 {
            let unit: Vec<f64> = (0..5).map(|j| f64::from(u8::from(j == k))).collect();
            let mut arrays = machine(&unit, 0.0);
            arrays.push(("bank.codebook.centres", centres.clone()));
            let model = altered(&bags, "bow", &[("centres", "5"), ("power", power)], &arrays);
            let map = matrix(&case["map"]);
            let expected: Vec<f64> = (0..12).map(|b| map.get(b, k)).collect();
            close(&answers(&model, &bags, 0.0).0, &expected, CLOSED, &format!("power {power}, column {k}"));
        }
    }
    let case = &file["bow"]["parts_half"];
    let bias = number(&case["bias"]);
    let mut arrays = machine(&numbers(&case["weights"]), bias);
    arrays.push(("bank.codebook.centres", centres));
    let model = altered(&bags, "bow", &[("centres", "5"), ("power", "1/2")], &arrays);
    compare(&model, &bags, case, bias, CLOSED, "bow");
}

#[test]
fn posteriors_to_a_power_are_the_kernel_of_ppmm() {
    let file = golden("comparators/ppmm");
    let bags = bags(&file["bags"]);
    let mixture = &file["mixture"];
    let powers = numbers(&file["p"]);
    let grams = file["gram"].as_array().unwrap();
    // Powers above 1 are no fractions; they gained nothing.
    for (power, gram) in powers.iter().zip(grams).filter(|(p, _)| **p <= 1.0) {
        let columns: Vec<Vec<f64>> = (0..3)
            .map(|k| {
                let unit: Vec<f64> = (0..3).map(|j| f64::from(u8::from(j == k))).collect();
                let mut arrays = [machine(&unit, 0.0), no_axes(3)].concat();
                arrays.push(("bank.codebook.weights", vector(&numbers(&mixture["weights"]))));
                arrays.push(("bank.codebook.means", array(&matrix(&mixture["means"]))));
                arrays.push(("bank.codebook.variances", array(&matrix(&mixture["variances"]))));
                let power = power.to_string();
                let given = [("centres", "3"), ("assign", "soft"), ("power", power.as_str())];
                let model = altered(&bags, "bow", &given, &arrays);
                let (outputs, parts) = answers(&model, &bags, 0.0);
                let sums: Vec<f64> = parts.iter().map(|p| p.iter().sum()).collect();
                close(&sums, &outputs, CLOSED, "parts add up");
                outputs
            })
            .collect();
        let rows: Vec<Vec<f64>> = (0..12).map(|b| columns.iter().map(|c| c[b]).collect()).collect();
        close(&products(&Mat::from_rows(&rows)), matrix(gram).data(), CHAIN, &format!("power {power}"));
    }
}

#[test]
fn votes_and_means_of_members_are_those_of_the_reference() {
    let file = golden("comparators/codebook");
    let bags = bags(&file["bags"]);
    let case = &file["cce"];
    let mut arrays = Vec::new();
    for (m, member) in case["members"].as_array().unwrap().iter().enumerate() {
        let name = member["centres"].as_str().unwrap().strip_prefix("kmeans.").unwrap();
        let weights = numbers(&member["weights"]);
        arrays
            .push((format!("member{m}.codebook.centres"), array(&matrix(&file["kmeans"][name]["centres"]))));
        arrays.push((format!("member{m}.weights"), Tensor::F64(vec![1, weights.len()], weights)));
        arrays.push((format!("member{m}.biases"), vector(&[number(&member["bias"])])));
    }
    let arrays: Vec<(&str, Tensor)> = arrays.iter().map(|(n, t)| (n.as_str(), t.clone())).collect();
    let of = |combine: &str| {
        altered(&bags, "cce", &[("members", "2"), ("step", "5"), ("combine", combine)], &arrays)
    };
    let vote = of("vote").predict_with(&bags, &Ctx::default()).unwrap();
    close(&vote.iter().map(|p| p.outputs[0]).collect::<Vec<_>>(), &numbers(&case["vote"]), CLOSED, "vote");
    assert!(of("vote").explain_with(&bags, &Ctx::default()).is_err());
    let bias = number(&case["bias_mean"]);
    let (mean, parts) = answers(&of("mean"), &bags, bias);
    close(&mean, &numbers(&case["mean"]), CLOSED, "mean");
    for (own, theirs) in parts.iter().zip(case["parts_mean"].as_array().unwrap()) {
        close(own, &numbers(theirs), CLOSED, "parts of the mean");
    }
}

#[test]
fn similarities_to_prototypes_are_those_of_the_reference() {
    let file = golden("comparators/miles");
    let bags = bags(&file["bags"]);
    let count = bags.instance_count();
    for case in file["cases"].as_array().unwrap() {
        let gamma = number(&case["sigma"]).powi(-2);
        let minima = Places::new(dense(&bags)).unwrap().minima(&bags, &Ctx::default()).unwrap();
        let map: Vec<f64> = minima.data().iter().map(|d| (-gamma * d).exp()).collect();
        close(&map, matrix(&case["map"]).data(), CLOSED, "map");
        // Outputs and parts for the weights of the published machine, whose map is not divided by the root of its columns.
        for program in case["lp"].as_array().unwrap() {
            let mut weights = vec![0.0; count];
            for (at, weight) in program["weights_nonzero"].as_object().unwrap() {
                weights[at.parse::<usize>().unwrap()] = number(weight) * (count as f64).sqrt();
            }
            let bias = number(&program["bias"]);
            let text = gamma.to_string();
            let model = altered(&bags, "miles", &[("gamma", text.as_str())], &machine(&weights, bias));
            // The program itself was solved to some 1e-15 of its margins.
            match program["parts"].is_null() {
                true => {
                    close(&answers(&model, &bags, bias).0, &numbers(&program["output"]), CLOSED, "outputs")
                }
                false => compare(&model, &bags, program, bias, CLOSED, "miles"),
            }
        }
    }
}

#[test]
fn real_data_give_the_numbers_of_the_reference() {
    let file = golden("comparators/musk1");
    let data = bagwise::read("musk1").unwrap();
    let all: Vec<usize> = (0..data.bags.len()).collect();
    let ctx = Ctx::default();
    let transform = Transform::fit(Scale::MinMax, false, &data.bags, data.target.as_ref(), &all).unwrap();
    let bags = transform.apply(&data.bags, &ctx).unwrap();
    let (points, rows) = (bags.instances(), dense(&bags));
    let unit =
        |sums: &Mat| Mat::from_rows(&(0..20).map(|b| roots_of_length_1(sums.row(b))).collect::<Vec<_>>());

    let case = &file["kmeans"];
    let start: Vec<usize> = counts(&case["start_rows"]).iter().map(|&r| r as usize).collect();
    let fit = KMeans::fit(points, rows.gather(&start), 100, &ctx).unwrap();
    assert_eq!(fit.assignment, counts(&case["final"]));
    assert_eq!(fit.rounds, 1 + case["rounds"].as_u64().unwrap() as usize);
    close(&[fit.inertia(points).unwrap()], &[number(&case["inertia"])], CLOSED, "inertia");
    let sums = vlad(fit.centroids.centres(), &fit.assignment, &bags, rows);
    close(&products(&unit(&sums)), matrix(&case["vlad_gram_first_20"]).data(), CLOSED, "VLAD");

    let case = &file["mifv"];
    let axes = AllAxes::of(points, &ctx).unwrap().with_share(number(&case["energy"]));
    assert_eq!(axes.count(), case["axes"].as_u64().unwrap() as usize);
    let projected = axes.project(points, 0..points.rows(), &ctx).unwrap();
    let instances = Instances::F64(projected.clone());
    let start: Vec<usize> = counts(&case["start_rows"]).iter().map(|&r| r as usize).collect();
    let fit = KMeans::fit(&instances, projected.gather(&start), 100, &ctx).unwrap();
    assert_eq!(fit.assignment, counts(&case["assignment"]));
    let (mixture, likelihoods) = Mixture::fit(&projected, &fit.assignment, 3, 100, &ctx).unwrap();
    close(&likelihoods, &numbers(&case["log_likelihood"]), CHAIN, "log likelihood");
    close(mixture.weights(), &numbers(&case["weights"]), CHAIN, "weights");
    let raw = fisher(&mixture, &bags, &projected);
    close(&products(&unit(&raw)), matrix(&case["gram_first_20"]).data(), CHAIN, "Fisher");

    let case = &file["miles"];
    let minima = Places::new(rows).unwrap().minima(&bags, &ctx).unwrap();
    let gamma = number(&case["sigma"]).powi(-2);
    for (b, expected) in case["map_first_3"].as_array().unwrap().iter().enumerate() {
        let own: Vec<f64> = minima.row(b).iter().map(|d| (-gamma * d).exp()).collect();
        close(&own, &numbers(expected), CLOSED, "similarities");
    }
}

#[test]
fn equal_instances_give_one_output_and_few_different_ones_few_cells() {
    let labels: Vec<String> = (0..8).map(|b| (b % 2).to_string()).collect();
    let equal = vec![[0.1, 0.7, 0.3]; 24];
    let three: Vec<[f64; 3]> = (0..24).map(|i| [f64::from(i % 3), 0.1, f64::from(i % 3) * 0.1]).collect();
    for (rows, most) in [(equal, 1), (three, 3)] {
        let bags =
            Bags::new(Instances::F64(Mat::from_rows(&rows)), (0..=8).map(|b| 3 * b).collect()).unwrap();
        let data = Dataset::new("few", bags).with_target(Target::from_labels(&labels)).unwrap();
        for method in ["mi-fv", "mi-vlad", "bow", "cce", "miles"] {
            let config = bagwise::method(method).unwrap().scale(Scale::None);
            let model = bagwise::fit(&data).method(config).probabilities(false).run().unwrap();
            let found = model.predict_with(&data.bags, &Ctx::default()).unwrap();
            let first = found[0].outputs[0];
            assert!(
                first.is_finite() && found.iter().all(|p| p.outputs[0] == first),
                "{method}: one output for all"
            );
            let (_, state) = unpack(&model.to_bytes().unwrap()).unwrap();
            for (name, tensor) in &state.tensors {
                if name.ends_with("codebook.centres") {
                    assert!(tensor.shape()[0] <= most, "{method}: {name} {:?}", tensor.shape());
                }
            }
        }
    }
}

#[test]
fn above_200_000_instances_codebooks_are_learned_from_a_sample_and_the_seed_decides_which() {
    // Bags of 1,000 instances in two columns: quick to learn from.
    let mut rng = bagwise::Rng::new(3, "many", &[]);
    let count = 201_000;
    let values: Vec<f64> = (0..2 * count).map(|i| rng.normal() + (i / 2000 % 2) as f64).collect();
    let bags =
        Bags::new(Instances::F64(Mat::new(count, 2, values)), (0..=201).map(|b| 1000 * b).collect()).unwrap();
    let labels: Vec<String> = (0..201).map(|b| (b % 2).to_string()).collect();
    let data = Dataset::new("many", bags).with_target(Target::from_labels(&labels)).unwrap();
    let fit = |seed: u64| {
        let config = bagwise::method("bow").unwrap().param("centres", 4).scale(Scale::None);
        bagwise::fit(&data).method(config).seed(seed).probabilities(false).run().unwrap().to_bytes().unwrap()
    };
    let one = fit(1);
    assert!(one == fit(1), "the same seed, the same model");
    assert!(one != fit(2));
}
