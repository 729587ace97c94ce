//! `auto`: what it chooses it chooses from training bags alone, and what it makes of several methods is a model like any other.

use bagwise::fold::{ResolvedConfig, TrainOptions, TrainingTask, train};
use bagwise::judge::{EnsembleGain, Metric, Splits};
use bagwise::method::Explanation;
use bagwise::{Bags, Ctx, Dataset, Groups, Instances, Mat, MethodConfig, Model, Rng, Target, evaluate, fit};

/// Bags whose label shows in two ways, each of them noisy: in the mean of the first columns, and in whether an instance lies far out
/// in the last. Methods that see the one better than the other are better together.
fn two_signs(bags: usize, positive: f64, seed: u64) -> Dataset {
    let mut rng = Rng::new(seed, "two signs", &[]);
    let (mut rows, mut offsets, mut labels): (Vec<[f64; 6]>, Vec<usize>, Vec<&str>) =
        (Vec::new(), vec![0], Vec::new());
    for b in 0..bags {
        let yes = (b as f64 + 0.5) / (bags as f64) < positive;
        let shift = if yes { 0.7 } else { 0.0 } + 0.6 * rng.normal();
        let far = rng.uniform() < if yes { 0.75 } else { 0.15 };
        let instances = 3 + rng.below(5);
        for i in 0..instances {
            let mut row = [0.0; 6];
            row.iter_mut().take(3).for_each(|v| *v = shift + rng.normal());
            row.iter_mut().skip(3).for_each(|v| *v = if far && i == 0 { 4.0 } else { 0.0 } + rng.normal());
            rows.push(row);
        }
        offsets.push(rows.len());
        labels.push(if yes { "yes" } else { "no" });
    }
    let bags = Bags::new(Instances::F64(Mat::from_rows(&rows)), offsets).unwrap();
    Dataset::new("two signs", bags).with_target(Target::from_labels(&labels)).unwrap()
}

/// The quick ones of what `auto` tries.
const QUICK: [&str; 6] = ["majority", "simple-mi", "citation-knn", "mi-kernel", "mind", "miles"];

/// Those whose outputs are sums over instances.
const ADDITIVE: [&str; 2] = ["mi-kernel", "mi-fv"];

fn learned(data: &Dataset, bags: &[usize], balanced: bool) -> Model {
    learned_by(&QUICK, data, bags, balanced)
}

fn learned_by(methods: &[&str], data: &Dataset, bags: &[usize], balanced: bool) -> Model {
    let mut setups: Vec<ResolvedConfig> = MethodConfig::new("auto").resolve(data, true).unwrap();
    setups.retain(|s| methods.contains(&s.method.info().name));
    setups.iter_mut().for_each(|s| s.balanced = balanced);
    let learners: Vec<TrainingTask<'_>> =
        setups.iter().map(|s| TrainingTask::new(data, s, None).unwrap()).collect();
    let metric = Metric::default_for(matches!(data.target, Some(Target::Values(_))));
    train(&learners, bags, Splits::KFold(5), &TrainOptions::by(metric), &Ctx::seeded(3)).unwrap()
}

fn all(data: &Dataset) -> Vec<usize> {
    (0..data.bags.len()).collect()
}

/// Data of which several methods together are made.
fn ensemble(methods: &[&str], balanced: bool) -> (Dataset, Model) {
    for seed in 0..6 {
        let data = two_signs(120, if balanced { 0.2 } else { 0.5 }, seed);
        let model = learned_by(methods, &data, &all(&data), balanced);
        if !model.members().is_empty() {
            return (data, model);
        }
    }
    panic!("of six data sets none has an ensemble");
}

#[test]
fn several_methods_together_are_a_model_like_any_other() {
    let (data, model) = ensemble(&QUICK, false);
    let members = model.members();
    assert!((2..=5).contains(&members.len()));
    assert!((members.iter().map(|m| m.3).sum::<f64>() - 1.0).abs() < 1e-9);
    assert_eq!(model.header.method, "ensemble");
    // Saved and loaded, it answers the same to the last bit, and saves the same again.
    let said = model.predict(&data.bags).unwrap();
    let bytes = model.to_bytes().unwrap();
    let loaded = Model::from_bytes(&bytes).unwrap();
    assert_eq!(loaded.predict(&data.bags).unwrap(), said);
    assert!(loaded.to_bytes().unwrap() == bytes, "saving is not stable");
    assert_eq!(loaded.members(), members);
    let right =
        |(b, p): (usize, &bagwise::Prediction)| p.label.as_deref() == Some(if b < 60 { "yes" } else { "no" });
    assert!(said.iter().enumerate().filter(|(b, p)| right((*b, p))).count() > 90);
    assert!(said.iter().all(|p| (p.probabilities.iter().sum::<f64>() - 1.0).abs() < 1e-9));
    // What was damaged is refused: a share, a transform, a member.
    let (header, state) = bagwise::model::unpack(&bytes).unwrap();
    let share = format!("\"share\":{}", serde_json::to_string(&members[0].3).unwrap());
    assert!(header.contains(&share), "{share}");
    for other in ["\"share\":2.0", "\"share\":-1.0"] {
        let damaged = bagwise::model::pack(&header.replacen(&share, other, 1), state.clone()).unwrap();
        assert!(Model::from_bytes(&damaged).is_err(), "{other}");
    }
}

#[test]
fn explanations_are_the_weighted_parts_of_the_members() {
    let (data, model) = ensemble(&ADDITIVE, false);
    let (said, explained) = (model.predict(&data.bags).unwrap(), model.explain(&data.bags).unwrap());
    for (p, why) in said.iter().zip(explained) {
        let Explanation::Additive { bias, parts } = &why[0] else { panic!("a sum is additive") };
        let sum = bias + parts.iter().sum::<f64>();
        let near = (sum - p.outputs[0]).abs() < 1e-9 * (1.0 + sum.abs());
        assert!(near, "{}: {sum} is not {}", p.bag, p.outputs[0]);
    }
}

#[test]
fn test_bags_have_no_part_in_the_choice() {
    let data = two_signs(120, 0.5, 1);
    let (train, test): (Vec<usize>, Vec<usize>) = all(&data).into_iter().partition(|b| b % 4 != 0);
    // Test bags become larger, and change their labels.
    let mut rows = Vec::new();
    let mut offsets = vec![0];
    for b in 0..data.bags.len() {
        let own = data.bags.bag(b).to_dense().unwrap();
        let times = if test.contains(&b) { 3 } else { 1 };
        for _ in 0..times {
            for i in 0..own.rows() {
                rows.push(own.row(i).iter().map(|v| v * times as f64).collect::<Vec<f64>>());
            }
        }
        offsets.push(rows.len());
    }
    let bags = Bags::new(Instances::F64(Mat::from_rows(&rows)), offsets).unwrap();
    let Some(Target::Classes { codes, names }) = data.target.clone() else { unreachable!() };
    let codes = codes.iter().enumerate().map(|(b, c)| if test.contains(&b) { 1 - c } else { *c }).collect();
    let altered = Dataset::new("two signs", bags).with_target(Target::Classes { codes, names }).unwrap();
    let bytes = |data: &Dataset| learned(data, &train, false).to_bytes().unwrap();
    assert!(bytes(&data) == bytes(&altered));
}

#[test]
fn a_rare_class_is_found_if_classes_cost_the_same() {
    let (data, model) = ensemble(&QUICK, true);
    let said = model.predict(&data.bags).unwrap();
    let found =
        |range: std::ops::Range<usize>| range.filter(|&b| said[b].label.as_deref() == Some("yes")).count();
    // One bag in five is positive.
    assert!(found(0..24) >= 16, "{} of 24", found(0..24));
    assert!(found(24..120) <= 40, "{} of 96", found(24..120));
}

#[test]
fn numbers_have_a_choice_too() {
    let mut data = two_signs(90, 0.5, 2);
    let mean = |b: usize| {
        let own = data.bags.bag(b).to_dense().unwrap();
        (0..own.rows()).map(|i| own.get(i, 0) + own.get(i, 1)).sum::<f64>() / own.rows() as f64
    };
    let values: Vec<f64> = (0..90).map(mean).collect();
    data.target = Some(Target::Values(values.clone()));
    let model = learned(&data, &all(&data), false);
    let said = model.predict(&data.bags).unwrap();
    let error: f64 = said.iter().zip(&values).map(|(p, v)| (p.outputs[0] - v).powi(2)).sum();
    assert!(error < 0.2 * values.iter().map(|v| v * v).sum::<f64>(), "{error}");
    let loaded = Model::from_bytes(&model.to_bytes().unwrap()).unwrap();
    assert_eq!(loaded.predict(&data.bags).unwrap(), said);
}

#[test]
fn three_classes_are_chosen_for() {
    let mut data = two_signs(90, 0.5, 4);
    let labels: Vec<&str> = (0..90).map(|b| ["a", "b", "c"][b / 30]).collect();
    data.target = Some(Target::from_labels(&labels));
    let model = learned(&data, &all(&data), false);
    let loaded = Model::from_bytes(&model.to_bytes().unwrap()).unwrap();
    assert_eq!(loaded.predict(&data.bags).unwrap(), model.predict(&data.bags).unwrap());
}

#[test]
fn the_front_door_judges_the_choice_as_a_whole() {
    let groups =
        Groups { codes: (0..60).map(|b| b / 2).collect(), names: (0..30).map(|g| g.to_string()).collect() };
    let data = two_signs(60, 0.5, 5).with_groups(groups).unwrap();
    let found = evaluate(&data, "auto").folds(3).inner(3).run().unwrap();
    assert_eq!(found.records.len(), 3);
    let mut several = 0;
    for record in &found.records {
        assert!(record.succeeded(), "{:?}", record.outcome);
        let method = record.parameters["method"].as_str().unwrap();
        assert!(record.parameters.contains_key(if method == "ensemble" { "members" } else { "scale" }));
        assert_eq!(record.gain.is_some(), method == "ensemble");
        if let Some(EnsembleGain { mean, error, .. }) = record.gain {
            // It was not worse than the single method by more than the error, or would not be used.
            assert!(error > 0.0 && mean > -error && mean < 1.0, "{mean} {error}");
            // What was measured is not among what was chosen: folds that choose the same must be equal there.
            let chosen = |key: &String| key == "method" || key == "members" || key.starts_with("member ");
            assert!(record.parameters.keys().all(chosen), "{:?}", record.parameters);
            several += 1;
        }
    }
    assert!(several > 0, "no fold took several");
    // A scaling that is asked for is the only one, and methods with parameters of the user's take part.
    let config = MethodConfig::new("auto").scale(bagwise::preprocess::Scale::ZScore).param("wmksvm.c", 3);
    let setups = config.resolve(&data, true).unwrap();
    assert!(setups.iter().all(|s| s.scale == bagwise::preprocess::Scale::ZScore));
    assert!(setups.iter().any(|s| s.method.info().name == "wmksvm" && !s.grid.grows.contains(&"c")));
    // What auto made of several methods has a name, but cannot be asked for.
    let why = fit(&data).method("ensemble").run().err().unwrap().to_string();
    assert!(why.contains("use auto"), "{why}");
}
