//! MIGraph through its feature map, on a set large enough for the map to be chosen: the promises that
//! `conformance.rs` checks on small bags, where edges are summed directly.

use bagwise::Rng;
use bagwise::fold::{ResolvedConfig, TrainingTask};
use bagwise::fold::{TrainOptions, train};
use bagwise::io::{ReadOptions, read};
use bagwise::judge::{Metric, Splits};
use bagwise::method::Explanation;
use bagwise::methods;
use bagwise::model::Model;
use bagwise::multiclass::Scheme;
use bagwise::params::{Grid, WhenUnset};
use bagwise::preprocess::Scale;
use bagwise::{Ctx, Dataset, gram};

fn musk1() -> Dataset {
    read("musk1", &ReadOptions::default()).unwrap()
}

fn fit(data: &Dataset, given: &[(&str, &str)]) -> Model {
    let method = methods::find("migraph-explicit").unwrap();
    let given: Vec<(String, String)> = given.iter().map(|(n, v)| (n.to_string(), v.to_string())).collect();
    let setup = ResolvedConfig {
        method,
        grid: Grid::new(method.info().name, method.params(), &given, WhenUnset::Default, false).unwrap(),
        scale: Scale::MinMax,
        scheme: Scheme::OneVsOne,
        balanced: false,
        impute: false,
    };
    let learners = [TrainingTask::new(data, &setup, None).unwrap()];
    let wanted = TrainOptions { metric: Metric::Accuracy, threshold: None, best: false };
    let all: Vec<usize> = (0..data.bags.len()).collect();
    train(&learners, &all, Splits::KFold(3), &wanted, &Ctx::seeded(7)).unwrap()
}

fn contains(bytes: &[u8], word: &[u8]) -> bool {
    bytes.windows(word.len()).any(|w| w == word)
}

#[test]
fn a_model_with_a_map_survives_saving_and_explains_itself() {
    let data = musk1();
    for orient in ["both", "canonical", "index"] {
        let model = fit(&data, &[("gamma", "1"), ("gamma_edge", "2^-5"), ("c", "10"), ("orient", orient)]);
        let bytes = model.to_bytes().unwrap();
        assert!(contains(&bytes, b"moments"), "{orient}: the map was not chosen, so nothing is tested");
        let before = model.predict_with(&data.bags, &Ctx::default()).unwrap();
        let loaded = Model::from_bytes(&bytes).unwrap();
        assert_eq!(loaded.predict_with(&data.bags, &Ctx::default()).unwrap(), before);
        assert_eq!(loaded.to_bytes().unwrap(), bytes);
        let explanations = loaded.explain_with(&data.bags, &Ctx::default()).unwrap();
        for (p, machines) in before.iter().zip(explanations) {
            let Explanation::Additive { bias, parts } = &machines[0] else { panic!("additive") };
            let sum = bias + parts.iter().sum::<f64>();
            // Sums of up to some hundred edges in another order, times coefficients of at most 10.
            assert!((sum - p.outputs[0]).abs() < 1e-10, "{orient}: {sum} and {}", p.outputs[0]);
        }
        let graphs = loaded.graphs(&data.bags, &Ctx::default()).unwrap();
        assert!((0..data.bags.len()).all(|b| graphs[b].degree.len() == data.bags.bag(b).len()));
        assert!(graphs.iter().any(|g| !g.edges.is_empty()));
    }
}

#[test]
fn the_tolerance_is_kept_and_directly_summed_models_answer_alike() {
    let data = musk1();
    let method = methods::find("migraph-explicit").unwrap();
    for gamma in ["2^-5", "1", "8"] {
        let matrix = |tol: &str| {
            let given = [("gamma", gamma), ("tol", tol)].map(|(n, v)| (n.to_string(), v.to_string()));
            let grid =
                Grid::new(method.info().name, method.params(), &given, WhenUnset::Default, false).unwrap();
            gram(method, &grid.points[0], Scale::MinMax, false, &data.bags, None, None, &Ctx::default())
                .unwrap()
        };
        let exact = matrix("0");
        for tol in ["1e-4", "1e-8"] {
            let bound = 2.0 * tol.parse::<f64>().unwrap();
            let approximate = matrix(tol);
            for (a, e) in approximate.data().iter().zip(exact.data()) {
                assert!((a - e).abs() <= bound, "gamma {gamma}, tol {tol}: {a} and {e}");
            }
            if gamma == "1" {
                assert_ne!(approximate, exact, "both were summed directly, so nothing is tested");
            }
        }
    }
}

#[test]
fn one_result_on_any_number_of_threads() {
    let data = musk1();
    let bytes = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| fit(&data, &[("gamma", "1")]).to_bytes().unwrap())
    };
    assert!(bytes(1) == bytes(3), "the models differ");
}

#[test]
fn a_damaged_model_with_a_map_never_panics() {
    let data = musk1();
    let bytes = fit(&data, &[("gamma", "1"), ("gamma_edge", "2^-5")]).to_bytes().unwrap();
    assert!(contains(&bytes, b"moments"), "the map was not chosen, so nothing is tested");
    let few = data.bags.select(&[0, 1]);
    let mut rng = Rng::new(0, "damage", &[]);
    for round in 0..300 {
        let mut damaged = bytes.clone();
        for _ in 0..1 + rng.below(4) {
            // Half of the damage to the header, where lengths and shapes stand, half to the numbers.
            let end = if round % 2 == 0 { bytes.len().min(6000) } else { bytes.len() };
            damaged[rng.below(end)] ^= 1 << rng.below(8);
        }
        if let Ok(model) = Model::from_bytes(&damaged) {
            let _ = model.predict_with(&few, &Ctx::default());
            let _ = model.explain_with(&few, &Ctx::default());
        }
    }
}
