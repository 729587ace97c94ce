//! What users conclude from a table: values that do not depend on how folds are pooled, on the last bit of a sum, or on a
//! seed that has no business there.

use bagwise::judge::{
    GroundTruth, Metric, PredictionRow, ProtocolName, Record, ScoredBags, Truth, prediction_rows, summarise,
};
use bagwise::{Bags, Dataset, Instances, Mat, Rng, Target};

use crate::records::record;

/// Bags of one to three instances of noise; `positive` of them are of class "1".
fn noise(bags: usize, positive: usize) -> Dataset {
    let mut rng = Rng::new(3, "pooling", &[]);
    let offsets: Vec<usize> =
        (0..=bags).scan(0, |at, b| Some(std::mem::replace(at, *at + 1 + b % 3))).collect();
    let rows = offsets[bags];
    let values = (0..rows * 2).map(|_| rng.normal()).collect();
    let bags_ = Bags::new(Instances::F64(Mat::new(rows, 2, values)), offsets).unwrap();
    let labels: Vec<&str> = (0..bags).map(|b| if b < positive { "1" } else { "0" }).collect();
    Dataset::new("noise", bags_).with_target(Target::from_labels(&labels)).unwrap()
}

fn value(data: &Dataset, config: bagwise::MethodConfig, metric: Metric) -> Option<f64> {
    let found = bagwise::evaluate(data, config).folds(7).optimize(metric).run().unwrap();
    found.verdict.best().metrics[0].mean
}

#[test]
fn a_constant_has_an_auc_of_one_half() {
    // 7 folds of 37 bags have different shares of the class, so that the constants of the folds differ.
    let data = noise(37, 15);
    assert_eq!(value(&data, "majority".into(), Metric::RocAuc), Some(0.5));
}

#[test]
fn the_majority_is_the_majority_whatever_classes_weigh() {
    // Of equal weights the last bit of a sum decided, differently for different numbers of bags.
    for (bags, positive) in [(40, 28), (60, 18), (50, 15), (30, 21), (110, 33)] {
        let balanced = bagwise::method("majority").unwrap().balanced(true);
        let accuracy = value(&noise(bags, positive), balanced, Metric::Accuracy);
        assert_eq!(accuracy, Some(0.7), "{positive} of {bags}");
    }
}

/// Class weights train, and do not judge: every bag counts once in a metric.
#[test]
fn metrics_do_not_know_class_weights() {
    let data = noise(60, 18);
    let run = |balanced: bool| {
        let method = bagwise::method("simple-mi").unwrap().param("c", 1.0).param("gamma", 1.0);
        let found = bagwise::evaluate(&data, method.balanced(balanced))
            .protocol(ProtocolName::Kfold)
            .probabilities(true)
            .folds(5)
            .run()
            .unwrap();
        let rows = prediction_rows(&found.records, &found.roster).unwrap();
        let metrics = [Metric::Accuracy, Metric::Recall, Metric::Brier];
        let table = summarise(&found.records, &found.roster, &metrics, 0.95).unwrap();
        (rows, table[0].metrics.iter().map(|m| m.mean.unwrap()).collect::<Vec<f64>>())
    };
    let (plain, _) = run(false);
    let (weighted, metrics) = run(true);
    let labels = |rows: &[PredictionRow]| rows.iter().map(|r| r.label.clone()).collect::<Vec<_>>();
    assert_ne!(labels(&plain), labels(&weighted), "weights must change what is predicted");
    let share = |of: &dyn Fn(&&PredictionRow) -> bool, among: &dyn Fn(&&PredictionRow) -> bool| {
        let own: Vec<&PredictionRow> = weighted.iter().filter(among).collect();
        own.iter().filter(|r| of(r)).count() as f64 / own.len() as f64
    };
    let right = |r: &&PredictionRow| r.truth == r.label;
    assert_eq!(metrics[..2], [share(&right, &|_| true), share(&right, &|r| r.truth == "1")]);
    let squares = weighted.iter().map(|r| (r.probability.unwrap() - f64::from(r.truth == "1")).powi(2));
    assert!((metrics[2] - squares.sum::<f64>() / 60.0).abs() < 1e-12, "{metrics:?}");
}

/// A fold of bags of which the first `right` are right, in each repeat.
pub(crate) fn repeats(method: &str, bags: usize, right: &[usize]) -> Vec<Record> {
    let one = |(repeat, &right): (usize, &usize)| {
        let mut r = record(method, repeat, 0, None);
        r.scored = ScoredBags {
            bags: (0..bags).collect(),
            labels: Some((0..bags).map(|b| u32::from((b % 2 == 1) == (b < right))).collect()),
            scores: vec![0.0; bags],
            probabilities: None,
        };
        r
    };
    right.iter().enumerate().map(one).collect()
}

/// Bags that are of either class in turn.
pub(crate) fn two_classes(bags: usize) -> GroundTruth {
    GroundTruth {
        data: "toy".into(),
        fingerprint: "d1".into(),
        bags: (0..bags).map(|b| b.to_string()).collect(),
        truth: Truth::Classes {
            codes: (0..bags as u32).map(|b| b % 2).collect(),
            names: vec!["0".into(), "1".into()],
        },
        positive: Some(1),
        groups: None,
    }
}

#[test]
fn equal_counts_have_equal_means_to_the_last_bit() {
    // All are right 327 times of 400; added up as shares, they differ.
    let each = [[80, 82, 83, 82], [81, 82, 82, 82], [83, 84, 80, 80], [99, 90, 61, 77]];
    let records: Vec<Record> =
        each.iter().enumerate().flat_map(|(i, right)| repeats(&format!("m{i}"), 100, right)).collect();
    let table = summarise(&records, &two_classes(100), &[Metric::Accuracy], 0.95).unwrap();
    let means: Vec<Option<f64>> = table.iter().map(|line| line.metrics[0].mean).collect();
    assert_eq!(means, [Some(327.0 / 400.0); 4]);
}

fn one_bag(fold: usize, bag: usize) -> Record {
    let mut r = record("a", 0, fold, None);
    r.scored =
        ScoredBags { bags: vec![bag], labels: Some(vec![0]), scores: vec![bag as f64], probabilities: None };
    r
}

/// Leaving one bag out, every fold has one class: the average precision of a positive bag alone would be 1.
#[test]
fn folds_of_one_class_add_nothing_to_metrics_that_compare_bags() {
    let records: Vec<Record> = (0..6).map(|bag| one_bag(bag, bag)).collect();
    for metric in [Metric::RocAuc, Metric::PrAuc] {
        let found = &summarise(&records, &two_classes(6), &[metric], 0.95).unwrap()[0].metrics[0];
        assert_eq!(found.mean, None, "{}", metric.name());
    }
}

#[test]
fn an_auc_has_an_interval_although_a_fold_has_one_class() {
    let fold = |fold: usize, bags: [usize; 4], scores: [f64; 4]| {
        let mut r = record("a", 0, fold, None);
        r.scored = ScoredBags {
            bags: bags.to_vec(),
            labels: Some(vec![0; 4]),
            scores: scores.to_vec(),
            probabilities: None,
        };
        r
    };
    let records = [
        fold(0, [0, 1, 2, 3], [0.0, 1.0, 2.0, 3.0]),
        fold(1, [4, 5, 6, 7], [0.0, 1.0, 0.5, 0.2]),
        fold(2, [8, 10, 12, 14], [0.0, 1.0, 0.5, 0.2]),
    ];
    let auc = &summarise(&records, &two_classes(100), &[Metric::RocAuc], 0.95).unwrap()[0].metrics[0];
    // Three of four pairs in either of two folds; the last has one class and adds none.
    assert_eq!((auc.mean, auc.folds), (Some(6.0 / 8.0), (2, 3)));
    // Two folds of the same value say nothing of their spread, and the table says so.
    assert_eq!((auc.interval, auc.no_interval.as_deref()), (None, Some("it is the same in every fold")));
    let mut records = records;
    records[1].scored.scores[3] = 0.7;
    let auc = |records: &[Record]| {
        summarise(records, &two_classes(100), &[Metric::RocAuc], 0.95).unwrap().remove(0).metrics.remove(0)
    };
    let found = auc(&records);
    assert_eq!((found.mean, found.no_interval), (Some(7.0 / 8.0), None));
    assert!(found.interval.is_some());
    // One bag in each fold: there is nothing to compare.
    let alone: Vec<Record> = (0..4).map(|fold| one_bag(fold, fold)).collect();
    let found = auc(&alone);
    let why = "it compares bags of the same fold, and every fold tests a single bag";
    assert_eq!((found.mean, found.no_interval.as_deref()), (None, Some(why)));
    assert_eq!(found.missing("a"), Some(format!("no value for a: {why}")));
}

#[test]
fn a_median_width_does_not_depend_on_the_seed() {
    let data = noise(21, 10);
    let gram = |seed: u64| {
        let setup = bagwise::method("mi-kernel").unwrap().param("gamma", "1/median").single(None).unwrap();
        let ctx = bagwise::Ctx::seeded(seed);
        bagwise::gram(setup.method, &setup.grid.points[0], setup.scale, false, &data.bags, None, None, &ctx)
            .unwrap()
    };
    assert!(gram(1).data() == gram(2).data());
}
