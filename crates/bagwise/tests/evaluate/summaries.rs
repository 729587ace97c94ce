//! From records to tables, on small cases worked by hand.

use bagwise::judge::{
    FitStatus, GroundTruth, Influences, Interval, Metric, Record, Resampling, ScoredBags, Standing, Truth,
    bootstrap_method, corrected_interval, pooled, prediction_rows, summarise, write_predictions,
};
use bagwise::{Bags, Dataset, Groups, Instances, Mat, Target};

use crate::records::record;

fn roster(groups: bool) -> GroundTruth {
    GroundTruth {
        data: "toy".into(),
        fingerprint: "d1".into(),
        bags: ["A", "B", "C", "D"].map(String::from).to_vec(),
        truth: Truth::Classes { codes: vec![0, 1, 0, 1], names: vec!["no".into(), "yes".into()] },
        positive: Some(1),
        groups: groups.then(|| ["g", "g", "h", "h"].map(String::from).to_vec()),
    }
}

fn fit(
    method: &str,
    repeat: usize,
    fold: usize,
    bags: [usize; 2],
    labels: [u32; 2],
    scores: [f64; 2],
) -> Record {
    let mut r = record(method, repeat, fold, None);
    r.trained = 2;
    r.scored = ScoredBags {
        bags: bags.to_vec(),
        labels: Some(labels.to_vec()),
        scores: scores.to_vec(),
        probabilities: None,
    };
    r
}

/// Two repeats of two folds: method "a" is right on 4 and 3 of 4 bags, "b" on 2 and 2.
fn records() -> Vec<Record> {
    vec![
        fit("a", 0, 0, [0, 1], [0, 1], [-1.0, 1.0]),
        fit("a", 0, 1, [2, 3], [0, 1], [-0.5, 0.5]),
        fit("a", 1, 0, [0, 3], [0, 0], [-1.0, -2.0]),
        fit("a", 1, 1, [1, 2], [1, 0], [0.5, -0.5]),
        fit("b", 0, 0, [0, 1], [1, 1], [1.0, 2.0]),
        fit("b", 0, 1, [2, 3], [1, 1], [1.0, 3.0]),
        fit("b", 1, 0, [0, 3], [1, 1], [1.0, 2.0]),
        fit("b", 1, 1, [1, 2], [1, 1], [3.0, 1.0]),
    ]
}

#[test]
fn the_table_pools_each_repeat_and_takes_the_interval_over_folds() {
    let mut all = records();
    all.push(record("a", 0, 0, Some(2))); // an inner fit is not judged, but its time counts
    let table =
        summarise(&all, &roster(false), &[Metric::Accuracy, Metric::RocAuc, Metric::Mse], 0.95).unwrap();
    assert_eq!(table.iter().map(|m| m.method.as_str()).collect::<Vec<_>>(), ["a", "b"]);
    let a = &table[0];
    assert_eq!((a.fits, a.failed, a.limited, a.seconds), (4, 0, 0, Some(1.25)));
    let accuracy = &a.metrics[0];
    assert_eq!(accuracy.values, [Some(1.0), Some(0.75)]);
    assert_eq!(accuracy.mean, Some(0.875));
    assert!((accuracy.sd.unwrap() - 0.125 * 2f64.sqrt()).abs() < 1e-15);
    let wide = corrected_interval(&[1.0, 1.0, 0.5, 1.0], 1.0, 0.95).unwrap().unwrap();
    assert!(wide.low < 0.0 && wide.high > 1.0, "four folds say little: {wide:?}");
    // An accuracy lies in 0..1, and so does its interval.
    assert_eq!(accuracy.interval, Some(Interval { low: 0.0, high: 1.0, ..wide }));
    assert_eq!(accuracy.folds, (4, 4));
    // Repeat 1 has one pair in each fold, of which one is in order.
    assert_eq!(a.metrics[1].values, [Some(1.0), Some(0.5)]);
    assert_eq!((a.metrics[2].mean, a.metrics[2].sd, a.metrics[2].folds), (None, None, (0, 4)));
    // The order of records does not matter.
    all.reverse();
    assert_eq!(
        summarise(&all, &roster(false), &[Metric::Accuracy], 0.95).unwrap()[1].metrics[0].mean,
        Some(0.5)
    );
}

#[test]
fn a_failed_fit_takes_its_repeat_out() {
    let mut all = records();
    all[1].outcome.status = FitStatus::Failed;
    all[1].scored = ScoredBags::default();
    all[2].outcome.status = FitStatus::Cycle;
    let table = summarise(&all, &roster(false), &[Metric::Accuracy], 0.95).unwrap();
    assert_eq!((table[0].failed, table[0].limited), (1, 1));
    assert_eq!(table[0].metrics[0].values, [None, Some(0.75)]);
    assert_eq!((table[0].metrics[0].mean, table[0].metrics[0].sd), (Some(0.75), None));
    assert_eq!(table[0].metrics[0].folds, (3, 4));
    let complete: Vec<bool> = pooled(&all, &roster(false), "a").unwrap().iter().map(|r| r.complete).collect();
    assert_eq!(complete, [false, true]);
    let only_whole =
        bootstrap_method(&all, &roster(false), "a", Metric::Accuracy, 50, 0.9, Resampling::Percentile, 3);
    assert_eq!(only_whole.unwrap().unwrap().interval.estimate, 0.75);
    // A fold that is not done yet counts like a failed one.
    all.remove(1);
    let table = summarise(&all, &roster(false), &[Metric::Accuracy], 0.95).unwrap();
    assert_eq!(table[0].metrics[0].values, [None, Some(0.75)]);
    all = records();
    all[1].outcome.status = FitStatus::Failed;
    all[1].scored = ScoredBags::default();
    assert_eq!(prediction_rows(&all, &roster(false)).unwrap().len(), 14);
}

#[test]
fn overlapping_splits_stand_for_themselves() {
    let all = [
        fit("a", 0, 0, [0, 1], [0, 1], [-1.0, 1.0]),
        fit("a", 0, 1, [0, 3], [0, 0], [-1.0, -1.0]),
        fit("a", 0, 2, [2, 3], [0, 1], [-1.0, 1.0]),
    ];
    let table = summarise(&all, &roster(false), &[Metric::Accuracy], 0.95).unwrap();
    assert_eq!(table[0].metrics[0].values, [Some(1.0), Some(0.5), Some(1.0)]);
    let folds: Vec<_> = pooled(&all, &roster(false), "a").unwrap().iter().map(|r| r.fold).collect();
    assert_eq!(folds, [Some(0), Some(1), Some(2)]);
}

#[test]
fn methods_are_compared_on_the_same_bags() {
    let mut all = records();
    let compared = |all: &[Record], methods: &[&str]| {
        Influences::of_records(all, &roster(false), methods, Metric::Accuracy)
    };
    let found = compared(&all, &["a", "b"]).unwrap();
    // Bag D of method a is right in one of two repeats.
    assert_eq!((found.units(), found.grouped(), found.best()), (4, false, Some(0)));
    let against = found.against(0, true, 0.95, 0);
    assert_eq!(against[0], None);
    let b = against[1].unwrap();
    assert_eq!((b.value, b.p, b.standing), (Some(-0.375), None, Standing::TooFewBags));
    assert!(Influences::of_records(&all, &roster(true), &["a", "b"], Metric::Accuracy).unwrap().grouped());
    // A repeat with a failed fit does not count, and a method without a value is not compared.
    all[5].outcome.status = FitStatus::Failed;
    assert_eq!(
        compared(&all, &["a", "b"]).unwrap().against(0, true, 0.95, 0)[1].unwrap().value,
        Some(-0.375)
    );
    all[7].outcome.status = FitStatus::Failed;
    let none = compared(&all, &["a", "b"]).unwrap().against(0, true, 0.95, 0)[1].unwrap();
    assert_eq!((none.value, none.standing), (None, Standing::NoResult));
    let mut all = records();
    all[6].scored =
        ScoredBags { bags: vec![0], labels: Some(vec![1]), scores: vec![1.0], probabilities: None };
    let message = compared(&all, &["a", "b"]).unwrap_err().to_string();
    assert!(message.contains("a and b were tested on different bags in repeat 1"), "{message}");
    let message = compared(&all, &["aa"]).unwrap_err().to_string();
    assert!(message.contains("did you mean 'a'?"), "{message}");
}

#[test]
fn the_bootstrap_takes_a_bags_repeats_along_and_knows_groups() {
    let run = |groups| {
        bootstrap_method(
            &records(),
            &roster(groups),
            "a",
            Metric::Accuracy,
            400,
            0.9,
            Resampling::Percentile,
            3,
        )
        .unwrap()
        .unwrap()
    };
    let bags = run(false);
    assert_eq!(bags.interval.estimate, 0.875);
    // Bag D is right in one of two repeats, the others always: a sample has a mean of 1 - (times D) / 8.
    assert!(bags.interval.high == 1.0 && bags.interval.low <= 0.75, "{bags:?}");
    // Group g scores 1, group h 0.75: nothing lies below.
    let groups = run(true);
    assert_eq!((groups.interval.low, groups.interval.high), (0.75, 1.0));
}

#[test]
fn predictions_are_written_as_csv() {
    let mut all = records()[..2].to_vec();
    all[0].scored.probabilities = Some(vec![0.25, 0.1 + 0.2]);
    let rows = prediction_rows(&all, &roster(true)).unwrap();
    let mut out = Vec::new();
    write_predictions(&rows, &mut out).unwrap();
    assert_eq!(
        String::from_utf8(out).unwrap(),
        "bag,group,fold,actual,score,probability,predicted,method,repeat\n\
         A,g,0,no,-1.0,0.25,no,a,0\n\
         B,g,0,yes,1.0,0.30000000000000004,yes,a,0\n\
         C,h,1,no,-0.5,,no,a,0\n\
         D,h,1,yes,0.5,,yes,a,0\n"
    );
    let mut out = Vec::new();
    write_predictions(&[], &mut out).unwrap();
    assert_eq!(out, b"bag,group,fold,actual,score,probability,predicted,method,repeat\n");
}

#[test]
fn several_classes_and_real_targets_have_rows_too() {
    let mut three = roster(false);
    three.truth =
        Truth::Classes { codes: vec![0, 1, 2, 1], names: ["x", "y", "z"].map(String::from).to_vec() };
    three.positive = None;
    let mut r = fit("a", 0, 0, [1, 2], [1, 0], [0.0, 0.0]);
    r.scored.scores = vec![0.1, 0.7, 0.2, 0.5, 0.4, 0.3];
    let rows = prediction_rows(&[r.clone()], &three).unwrap();
    assert_eq!((rows[0].score, rows[0].label.as_str()), (Some(0.7), "y"));
    assert_eq!((rows[1].score, rows[1].label.as_str(), rows[1].truth.as_str()), (Some(0.5), "x", "z"));
    assert_eq!(summarise(&[r], &three, &[Metric::Accuracy], 0.95).unwrap()[0].metrics[0].mean, Some(0.5));

    let mut real = roster(false);
    real.truth = Truth::Values(vec![0.0, 0.5, 1.0, 1.5]);
    real.positive = None;
    let mut r = fit("a", 0, 0, [1, 2], [0, 0], [0.75, 1.25]);
    r.scored.labels = None;
    let rows = prediction_rows(&[r.clone()], &real).unwrap();
    assert_eq!((rows[0].truth.as_str(), rows[0].score, rows[0].label.as_str()), ("0.5", Some(0.75), "0.75"));
    assert_eq!(summarise(&[r], &real, &[Metric::Mse], 0.95).unwrap()[0].metrics[0].mean, Some(0.0625));
}

#[test]
fn records_of_other_data_are_refused() {
    let mut all = records();
    all[3].data = "d2".into();
    let message = summarise(&all, &roster(false), &[], 0.95).unwrap_err().to_string();
    assert!(message.contains("belongs to other data"), "{message}");
    all[3].data = "d1".into();
    all[3].scored.bags = vec![1, 9];
    assert!(summarise(&all, &roster(false), &[], 0.95).unwrap_err().to_string().contains("scores bag 9"));
}

#[test]
fn a_roster_knows_the_positive_class() {
    let data = |labels: &[&str]| {
        let bags =
            Bags::new(Instances::F64(Mat::zeros(labels.len(), 1)), (0..=labels.len()).collect()).unwrap();
        Dataset::new("toy", bags).with_target(Target::from_labels(labels)).unwrap()
    };
    let two = data(&["0", "1", "0"]).with_groups(Groups::from_names(&["p", "q", "p"])).unwrap();
    let roster = GroundTruth::new(&two, None).unwrap();
    assert_eq!(roster.positive, Some(1));
    assert_eq!(roster.groups, Some(["p", "q", "p"].map(String::from).to_vec()));
    assert_eq!(GroundTruth::new(&two, Some("0")).unwrap().positive, Some(0));
    assert!(GroundTruth::new(&two, Some("2")).is_err());
    let three = data(&["a", "b", "c"]);
    assert_eq!(GroundTruth::new(&three, None).unwrap().positive, None);
    assert!(GroundTruth::new(&three, Some("a")).unwrap_err().to_string().contains("3 classes"));
    let json = serde_json::to_string(&roster).unwrap();
    assert_eq!(roster, serde_json::from_str(&json).unwrap());
}

#[test]
fn what_most_folds_chose_and_what_lies_at_the_end_of_a_list() {
    use bagwise::judge::{most_chosen, often_at_grid_end};
    let mut all: Vec<Record> = (0..6).map(|fold| record("a", 0, fold, None)).collect();
    for (r, c) in all.iter_mut().zip([9, 1, 5, 5, 1, 7]) {
        r.parameters = [("c".to_string(), c.into())].into();
        r.on_edge = if c == 1 || c == 9 { vec!["c".into()] } else { Vec::new() };
    }
    // 1 and 5 are chosen twice each, 1 first. Where the last fit failed there are three of five at an end.
    let (most, times) = most_chosen(&all).unwrap();
    assert_eq!((&most.parameters["c"], times), (&1.into(), 2));
    assert!(often_at_grid_end(&all).is_empty(), "three of six is not most");
    all[5].outcome.status = FitStatus::Failed;
    all[5].parameters.clear();
    let often: Vec<String> = often_at_grid_end(&all).iter().map(ToString::to_string).collect();
    assert_eq!(often, ["c (in 3 of 5 fits)"]);
    // What chose a method too has no grid that anybody wrote.
    all.iter_mut().for_each(|r| drop(r.parameters.insert("method".into(), "isk".into())));
    assert!(often_at_grid_end(&all).is_empty());
    all.iter_mut().for_each(|r| r.outcome.status = FitStatus::Failed);
    assert!(most_chosen(&all).is_none());
}

#[test]
fn answers_are_of_the_positive_class_or_of_the_one_that_was_said() {
    let two = roster(false);
    let mut scored = ScoredBags {
        bags: vec![3, 0],
        labels: Some(vec![0, 0]),
        scores: vec![-2.0, -0.5],
        probabilities: Some(vec![0.9, 0.1, 0.6, 0.4]),
    };
    let answer = two.prediction(&scored, 1);
    assert_eq!((answer.label, answer.score, answer.probability), (Some(0), Some(-0.5), Some(0.4)));
    assert!((two.sureness(0, &answer) - 0.1).abs() < 1e-15);
    // By a threshold that finds more positive bags, against the probability: the less so, the surer.
    scored.labels = Some(vec![0, 1]);
    assert!((two.sureness(0, &two.prediction(&scored, 1)) + 0.1).abs() < 1e-15);
    scored.labels = Some(vec![0, 0]);
    scored.probabilities = None;
    assert_eq!(two.sureness(3, &two.prediction(&scored, 0)), 2.0);
    // Three classes: score and probability of the class that was said.
    let names = ["x", "y", "z"].map(String::from).to_vec();
    let three = GroundTruth {
        truth: Truth::Classes { codes: vec![0, 1, 2, 0], names },
        positive: None,
        ..roster(false)
    };
    let scored = ScoredBags {
        bags: vec![1],
        labels: Some(vec![2]),
        scores: vec![0.0, 1.0, 2.0],
        probabilities: Some(vec![0.1, 0.2, 0.7]),
    };
    let answer = three.prediction(&scored, 0);
    assert_eq!((answer.score, answer.probability, three.sureness(1, &answer)), (Some(2.0), Some(0.7), 0.7));
    // Numbers: the distance from the truth.
    let real =
        GroundTruth { truth: Truth::Values(vec![1.0, 2.0, 3.0, 4.0]), positive: None, ..roster(false) };
    let scored = ScoredBags { bags: vec![2], labels: None, scores: vec![4.5], probabilities: None };
    assert_eq!(real.sureness(2, &real.prediction(&scored, 0)), 1.5);
}

#[test]
fn defaults_and_names_have_one_place() {
    use bagwise::Precision;
    use bagwise::io::Task;
    use bagwise::judge::ProtocolName;
    assert_eq!((Metric::default_for(false), Metric::default_for(true)), (Metric::Accuracy, Metric::Rmse));
    assert_eq!((ProtocolName::Kfold.tunes(), ProtocolName::Half.tunes()), (false, true));
    let folds = |name: ProtocolName| [1, 7, 92].map(|units| name.default_folds(units));
    assert_eq!((folds(ProtocolName::Nested), folds(ProtocolName::Half)), ([2, 7, 10], [5, 5, 5]));
    for precision in [Precision::F64, Precision::F32] {
        assert_eq!(precision.name().parse::<Precision>().unwrap(), precision);
    }
    assert!("f16".parse::<Precision>().unwrap_err().to_string().contains("f16"));
    assert_eq!("regression".parse::<Task>().unwrap(), Task::Regression);
    assert!("ranking".parse::<Task>().is_err());
}
