//! Distances between bags beside what an independent program computed (`golden/distances`): every summary of `mind` in every
//! direction, the earth mover's distances, and the Gram matrices of `emd`.

use std::sync::Arc;

use bagwise::method::{Method, Scope};
use bagwise::methods;
use bagwise::params::{Grid, WhenUnset};
use bagwise::{Bags, Ctx, Instances, Mat, Rng};
use bagwise_engine::bag_summaries::{BagSummary, PairSummary, SummaryDirection, summaries, summaries_to};
use bagwise_engine::transport::{TransportSolver, earth_movers, earth_movers_to};
use serde_json::Value;

fn golden() -> Vec<Value> {
    let path = format!("{}/tests/golden/distances/bags.json", env!("CARGO_MANIFEST_DIR"));
    serde_json::from_str(&std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("{path}: {e}"))).unwrap()
}

fn mat(value: &Value) -> Mat {
    let row = |r: &Value| r.as_array().unwrap().iter().map(|v| v.as_f64().unwrap()).collect::<Vec<f64>>();
    Mat::from_rows(&value.as_array().unwrap().iter().map(row).collect::<Vec<_>>())
}

fn bags(value: &Value) -> Bags {
    let all: Vec<Mat> = value.as_array().unwrap().iter().map(mat).collect();
    let rows: Vec<Vec<f64>> =
        all.iter().flat_map(|bag| (0..bag.rows()).map(|i| bag.row(i).to_vec())).collect();
    let offsets = std::iter::once(0).chain(all.iter().scan(0, |end, bag| {
        *end += bag.rows();
        Some(*end)
    }));
    Bags::new(Instances::F64(Mat::from_rows(&rows)), offsets.collect()).unwrap()
}

fn all_close(found: &Mat, known: &Mat, what: &str) {
    assert_eq!((found.rows(), found.cols()), (known.rows(), known.cols()), "{what}");
    for (f, k) in found.data().iter().zip(known.data()) {
        assert!((f - k).abs() <= 1e-10 * k.abs().max(1.0), "{what}: {f} and {k}");
    }
}

fn transposed(mat: &Mat) -> Mat {
    let values = (0..mat.cols()).flat_map(|j| (0..mat.rows()).map(move |i| mat.get(i, j)));
    Mat::new(mat.cols(), mat.rows(), values.collect())
}

#[test]
fn summaries_are_those_of_another_program() {
    let ctx = Ctx::default();
    for case in golden() {
        let bags = bags(&case["bags"]);
        let all: Vec<usize> = (0..bags.len()).collect();
        for (metric, euclid) in [("squared", false), ("euclid", true)] {
            for (name, summary) in [
                ("minmin", PairSummary::MinMin),
                ("meanmin", PairSummary::MeanMin),
                ("maxmin", PairSummary::MaxMin),
                ("meanmean", PairSummary::MeanMean),
            ] {
                let to = mat(&case["summaries"][metric][name]);
                let from = transposed(&to);
                let mean = to.data().iter().zip(from.data()).map(|(t, f)| 0.5 * (t + f)).collect();
                let both = Mat::new(to.rows(), to.cols(), mean);
                for (direction, known) in [
                    (SummaryDirection::To, &to),
                    (SummaryDirection::From, &from),
                    (SummaryDirection::Both, &both),
                ] {
                    let what = format!("{} {metric} {name} {direction:?}", case["name"]);
                    let kinds = [BagSummary { summary, direction, euclid }];
                    all_close(&summaries(&bags, &kinds, &ctx).unwrap()[0], known, &what);
                    let new = summaries_to(&bags.select(&all), &bags, &kinds, &ctx).unwrap();
                    all_close(&new[0], known, &what);
                }
            }
        }
    }
}

#[test]
fn equal_instances_are_at_distance_0() {
    let kind = BagSummary { summary: PairSummary::MaxMin, direction: SummaryDirection::To, euclid: true };
    for case in golden() {
        let bags = bags(&case["bags"]);
        let distances = summaries(&bags, &[kind], &Ctx::default()).unwrap().remove(0);
        (0..bags.len()).for_each(|b| assert_eq!(distances.get(b, b), 0.0, "{}", case["name"]));
    }
}

#[test]
fn earth_movers_distances_and_kernels_are_those_of_another_program() {
    let ctx = Ctx::default();
    for case in golden() {
        let bags = bags(&case["bags"]);
        for (name, euclid) in [("emd", true), ("emd_squared", false)] {
            let known = mat(&case[name]);
            let what = format!("{} {name}", case["name"]);
            all_close(&earth_movers(&bags, euclid, TransportSolver::Auto, &ctx).unwrap(), &known, &what);
            all_close(
                &earth_movers_to(&bags, &bags, euclid, TransportSolver::Auto, &ctx).unwrap(),
                &known,
                &what,
            );
        }
        let emd: &dyn Method = methods::find("emd").unwrap();
        let train: Vec<usize> = (0..bags.len()).collect();
        for (width, known) in case["emd_kernel"].as_object().unwrap() {
            let given = [("gamma".to_string(), format!("{width}/median"))];
            let points = Grid::new("emd", emd.params(), &given, WhenUnset::Default, false).unwrap().points;
            let prepared = emd.prepare(Arc::new(bags.clone()), &points, &Scope::of(&train), &ctx).unwrap();
            let gram = prepared.gram(0, &ctx).unwrap().unwrap();
            all_close(gram, &mat(known), &format!("{} gamma={width}/median", case["name"]));
            let new = prepared.against(0, &bags, &ctx).unwrap().unwrap();
            all_close(&new, &mat(known), &format!("{} new, gamma={width}/median", case["name"]));
        }
    }
}

#[test]
fn a_shifted_gram_has_no_negative_eigenvalue() {
    let emd: &dyn Method = methods::find("emd").unwrap();
    let ctx = Ctx::default();
    let mut rng = Rng::new(1, "shift", &[]);
    let (mut values, mut offsets) = (Vec::new(), vec![0]);
    for _ in 0..30 {
        let size = 2 + rng.below(3);
        values.extend((0..2 * size).map(|_| rng.normal()));
        offsets.push(offsets[offsets.len() - 1] + size);
    }
    let bags = Bags::new(Instances::F64(Mat::new(values.len() / 2, 2, values)), offsets).unwrap();
    let train: Vec<usize> = (0..bags.len()).collect();
    let gram = |metric: &str, psd: &str| {
        let given = [("psd", psd), ("metric", metric), ("gamma", "0.25/median")]
            .map(|(name, value)| (name.to_string(), value.to_string()));
        let points = Grid::new("emd", emd.params(), &given, WhenUnset::Default, false).unwrap().points;
        let prepared = emd.prepare(Arc::new(bags.clone()), &points, &Scope::of(&train), &ctx).unwrap();
        prepared.gram(0, &ctx).unwrap().unwrap().clone()
    };
    let least = |gram: &Mat| bagwise_engine::least_eigenvalue(gram, &ctx).unwrap();
    let (plain, shifted) = (gram("squared", "none"), gram("squared", "shift"));
    assert!(least(&plain) < -1e-3, "otherwise this shows nothing: {}", least(&plain));
    assert!(least(&shifted).abs() < 1e-9, "{}", least(&shifted));
    for a in 0..bags.len() {
        (0..a).for_each(|b| assert_eq!(plain.get(a, b), shifted.get(a, b)));
    }
    // Where nothing is lacking, nothing is added.
    assert!(least(&gram("euclid", "none")) > 0.0);
    assert_eq!(gram("euclid", "none"), gram("euclid", "shift"));
}

#[test]
fn approximate_distances_are_within_their_error_and_announced() {
    let emd: &dyn Method = methods::find("emd").unwrap();
    let ctx = Ctx::default();
    let points = |solver: &str| {
        let given =
            [("transport", solver), ("gamma", "0.5")].map(|(name, value)| (name.into(), value.into()));
        Grid::new("emd", emd.params(), &given, WhenUnset::Default, false).unwrap().points
    };
    let mut rng = Rng::new(1, "approximate", &[]);
    let mut made = |sizes: &[usize], width: usize| {
        let instances: usize = sizes.iter().sum();
        let values = (0..instances * width).map(|_| rng.normal()).collect();
        let ends = sizes.iter().scan(0, |end, size| {
            *end += size;
            Some(*end)
        });
        let offsets = std::iter::once(0).chain(ends).collect();
        Bags::new(Instances::F64(Mat::new(instances, width, values)), offsets).unwrap()
    };
    let bags = made(&[1, 7, 30, 12, 25, 7], 3);
    let train: Vec<usize> = (0..bags.len()).collect();
    let distances = |solver: &str| -> Vec<f64> {
        let points = points(solver);
        let prepared = emd.prepare(Arc::new(bags.clone()), &points, &Scope::of(&train), &ctx).unwrap();
        let gram = prepared.gram(0, &ctx).unwrap().unwrap();
        // What a model answers is what it was trained with.
        all_close(&prepared.against(0, &bags, &ctx).unwrap().unwrap(), gram, solver);
        gram.data().iter().map(|k| -2.0 * k.ln()).collect()
    };
    let (exact, entropic) = (distances("exact"), distances("entropic"));
    assert_eq!(exact, distances("auto"));
    assert_ne!(exact, entropic);
    for (e, x) in entropic.iter().zip(&exact) {
        assert!((e - x).abs() <= 0.01 * x + 1e-12, "{e} and {x}");
    }
    let large = made(&[2001, 2000, 3], 1);
    let said = |solver: &str, bags: &Bags| emd.approximation(bags, &points(solver));
    assert_eq!((said("auto", &bags), said("exact", &large)), (None, None));
    for text in [said("auto", &large), said("entropic", &bags)] {
        assert!(text.unwrap().contains("at most 1 %"));
    }
}
