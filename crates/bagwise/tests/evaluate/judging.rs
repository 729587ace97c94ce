//! Metrics, thresholds and the bootstrap: what they promise on random predictions.

use bagwise::Mat;
use bagwise::Rng;
use bagwise::judge::{
    Chosen, Classified, METRICS, Metric, Predictions, Resampling, Threshold, bootstrap, corrected_interval,
    corrected_t_test, wilson,
};
use proptest::prelude::*;

/// Labels at score 0, probabilities by the logistic function.
fn binary(truth: &[bool], scores: &[f64]) -> Predictions {
    let n = truth.len();
    let c = Classified::new(
        truth.iter().map(|&t| u32::from(t)).collect(),
        scores.iter().map(|&s| u32::from(s >= 0.0)).collect(),
        2,
        Some(1),
    )
    .and_then(|c| c.with_scores(Mat::new(n, 1, scores.to_vec())))
    .and_then(|c| {
        c.with_probabilities(Mat::new(n, 1, scores.iter().map(|s| 1.0 / (1.0 + (-s).exp())).collect()))
    });
    Predictions::Classes(c.unwrap())
}

/// Scores on a coarse grid, so that ties are common.
fn scored(most: usize) -> impl Strategy<Value = Vec<(bool, f64)>> {
    prop::collection::vec((any::<bool>(), (-8i32..8).prop_map(|s| f64::from(s) / 4.0)), 2..most)
}

fn recall_and_co(chosen: &Chosen, truth: &[bool], scores: &[f64]) -> [Option<f64>; 3] {
    let labels = scores.iter().map(|&s| u32::from(chosen.positive(s))).collect();
    let c = Classified::new(truth.iter().map(|&t| u32::from(t)).collect(), labels, 2, Some(1)).unwrap();
    let p = Predictions::Classes(c);
    [Metric::Recall, Metric::Specificity, Metric::Precision].map(|m| m.value(&p))
}

proptest! {
    #[test]
    fn metrics_are_in_range_and_do_not_know_the_order_of_bags(data in scored(40), seed in 0u64..1000) {
        let (truth, scores): (Vec<bool>, Vec<f64>) = data.into_iter().unzip();
        let p = binary(&truth, &scores);
        let mut order: Vec<usize> = (0..truth.len()).collect();
        Rng::new(seed, "test", &[]).shuffle(&mut order);
        let shuffled = p.pick(&order);
        for info in &METRICS {
            let (a, b) = (info.metric.value(&p), info.metric.value(&shuffled));
            prop_assert_eq!(a.is_some(), b.is_some());
            if let (Some(a), Some(b)) = (a, b) {
                prop_assert!((a - b).abs() <= 1e-12 * a.abs().max(1.0), "{}: {a} {b}", info.name);
                let (low, high) = info.metric.range();
                prop_assert!((low..=high).contains(&a), "{}: {a}", info.name);
            }
        }
    }

    #[test]
    fn roc_auc_is_the_share_of_pairs_and_ignores_monotone_maps(data in scored(40)) {
        let (truth, scores): (Vec<bool>, Vec<f64>) = data.into_iter().unzip();
        let auc = |s: &[f64]| Metric::RocAuc.value(&binary(&truth, s));
        let (mut won, mut pairs) = (0.0, 0.0);
        for i in 0..truth.len() {
            for j in 0..truth.len() {
                if truth[i] && !truth[j] {
                    pairs += 1.0;
                    won += if scores[i] > scores[j] { 1.0 } else if scores[i] == scores[j] { 0.5 } else { 0.0 };
                }
            }
        }
        prop_assert_eq!(auc(&scores), (pairs > 0.0).then(|| won / pairs));
        let mapped: Vec<f64> = scores.iter().map(|s| s.exp() + s.powi(3)).collect();
        prop_assert_eq!(auc(&scores), auc(&mapped));
        prop_assert_eq!(
            Metric::PrAuc.value(&binary(&truth, &scores)), Metric::PrAuc.value(&binary(&truth, &mapped))
        );
        // Turned round, it is the complement.
        let negated: Vec<f64> = scores.iter().map(|s| -s).collect();
        if let (Some(a), Some(b)) = (auc(&scores), auc(&negated)) {
            prop_assert!((a + b - 1.0).abs() < 1e-12);
        }
    }

    #[test]
    fn a_constant_of_each_fold_says_nothing(
        data in prop::collection::vec((any::<bool>(), 0usize..5), 1..60), seed in 0u64..1000,
    ) {
        let (truth, folds): (Vec<bool>, Vec<usize>) = data.into_iter().unzip();
        let mut rng = Rng::new(seed, "constants", &[]);
        let constants: Vec<f64> = (0..5).map(|_| rng.normal()).collect();
        let scores: Vec<f64> = folds.iter().map(|&f| constants[f]).collect();
        let p = binary(&truth, &scores);
        let share = |f: usize| {
            let own: Vec<bool> = (0..truth.len()).filter(|&i| folds[i] == f).map(|i| truth[i]).collect();
            (own.iter().filter(|&&t| t).count() as f64, own.len() as f64)
        };
        let shares: Vec<(f64, f64)> = (0..5).map(share).collect();
        let pairs = shares.iter().any(|(up, all)| *up > 0.0 && up < all);
        prop_assert_eq!(Metric::RocAuc.over_folds(&p, &folds), pairs.then_some(0.5));
        // The average precision is the share of positive bags, to the last bit, however they are spread over folds.
        let positives: f64 = shares.iter().map(|s| s.0).sum();
        let share = positives / truth.len() as f64;
        prop_assert_eq!(Metric::PrAuc.over_folds(&p, &folds), pairs.then_some(share));
        let one = Metric::PrAuc.value(&binary(&truth, &vec![0.25; truth.len()]));
        prop_assert_eq!(one, (positives > 0.0 && share < 1.0).then_some(share));
        // Of values: a constant puts nothing in order.
        let target: Vec<f64> = (0..truth.len()).map(|_| rng.normal()).collect();
        let values = Predictions::values(target, scores).unwrap();
        let several = shares.iter().any(|s| s.1 > 1.0);
        prop_assert_eq!(Metric::Spearman.over_folds(&values, &folds), several.then_some(0.0));
        prop_assert_eq!(Metric::Concordance.over_folds(&values, &folds), several.then_some(0.5));
    }

    #[test]
    fn a_threshold_reaches_what_it_was_asked_for_and_no_other_is_better(
        data in scored(30), share in 0.0f64..=1.0,
    ) {
        let (truth, scores): (Vec<bool>, Vec<f64>) = data.into_iter().unzip();
        let rules = [
            Threshold::Recall(share), Threshold::Specificity(share), Threshold::Precision(share),
            Threshold::Balanced,
        ];
        if truth.iter().all(|&t| t) || !truth.iter().any(|&t| t) {
            rules.iter().for_each(|r| assert!(r.choose(&truth, &scores).is_err()));
            return Ok(());
        }
        // Every labelling a threshold can give, by brute force.
        let mut cuts = scores.clone();
        cuts.push(f64::MAX);
        let others: Vec<[Option<f64>; 3]> = cuts
            .iter()
            .map(|&t| recall_and_co(&Threshold::Value(t).choose(&truth, &scores).unwrap(), &truth, &scores))
            .collect();
        for rule in rules {
            let chosen = rule.choose(&truth, &scores).unwrap();
            let got = recall_and_co(&chosen, &truth, &scores);
            prop_assert_eq!(got, [chosen.recall, chosen.specificity, chosen.precision]);
            let (asked, wanted) = match rule {
                Threshold::Recall(_) => (0, 1),
                Threshold::Specificity(_) => (1, 0),
                Threshold::Precision(_) => (2, 0),
                _ => {
                    let sum = |r: &[Option<f64>; 3]| r[0].unwrap() + r[1].unwrap();
                    prop_assert!(others.iter().all(|o| sum(o) <= sum(&got) + 1e-12));
                    continue;
                }
            };
            let able: Vec<_> = others.iter().filter(|o| o[asked].is_some_and(|v| v >= share)).collect();
            prop_assert_eq!(chosen.met, !able.is_empty(), "{}", rule);
            if chosen.met {
                prop_assert!(got[asked].unwrap() >= share, "{}: {:?}", rule, got);
                prop_assert!(able.iter().all(|o| o[wanted] <= got[wanted]), "{}: {:?}", rule, got);
            } else {
                prop_assert!(others.iter().all(|o| o[asked] <= got[asked]));
            }
        }
    }
}

#[test]
fn the_table_is_in_order_and_names_read_back() {
    for (i, info) in METRICS.iter().enumerate() {
        assert_eq!(info.metric as usize, i, "{}", info.name);
        assert_eq!(info.name.parse::<Metric>().unwrap(), info.metric);
        assert_eq!(serde_json::to_string(&info.metric).unwrap(), format!("\"{}\"", info.name));
    }
    assert_eq!("roc-auc".parse::<Metric>().unwrap(), Metric::RocAuc);
    assert_eq!(
        "acuracy".parse::<Metric>().unwrap_err().to_string(),
        "unknown metric 'acuracy'; did you mean 'accuracy'?"
    );
    assert!(Metric::Accuracy.better(0.9, 0.8) && Metric::LogLoss.better(0.1, 0.2));
}

#[test]
fn values_that_do_not_exist_are_none() {
    let nothing = binary(&[], &[]);
    let positives = binary(&[true, true], &[-1.0, -2.0]);
    for info in &METRICS {
        assert_eq!(info.metric.value(&nothing), None, "{}", info.name);
    }
    assert_eq!(Metric::Precision.value(&positives), None);
    assert_eq!(Metric::Specificity.value(&positives), None);
    assert_eq!(Metric::BalancedAccuracy.value(&positives), None);
    assert_eq!(Metric::RocAuc.value(&positives), None);
    assert_eq!(Metric::F1.value(&positives), Some(0.0));
    // The one convention: complete chance agreement is no agreement beyond chance.
    assert_eq!(Metric::Kappa.value(&binary(&[true, true], &[1.0, 2.0])), Some(0.0));
    let bare = Predictions::Classes(Classified::new(vec![0, 1], vec![0, 1], 2, Some(1)).unwrap());
    for metric in [Metric::RocAuc, Metric::PrAuc, Metric::LogLoss, Metric::Brier, Metric::Mse] {
        assert_eq!(metric.value(&bare), None, "{metric}");
    }
    assert_eq!(Metric::R2.value(&Predictions::values(vec![1.0], vec![2.0]).unwrap()), None);
}

#[test]
fn the_positive_class_may_be_the_first() {
    let c = |positive| {
        Classified::new(vec![0, 0, 0, 1], vec![0, 0, 1, 1], 2, Some(positive))
            .and_then(|c| c.with_scores(Mat::new(4, 1, vec![3.0, 2.0, -1.0, 0.0])))
            .unwrap()
    };
    assert_eq!(Metric::Recall.value(&Predictions::Classes(c(0))), Some(2.0 / 3.0));
    assert_eq!(Metric::Recall.value(&Predictions::Classes(c(1))), Some(1.0));
    assert_eq!(Metric::Specificity.value(&Predictions::Classes(c(1))), Some(2.0 / 3.0));
    assert_eq!(Metric::RocAuc.value(&Predictions::Classes(c(0))), Some(2.0 / 3.0));
}

#[test]
fn predictions_that_cannot_be_judged_are_refused() {
    let plain = || Classified::new(vec![0, 1, 2], vec![0, 1, 2], 3, None).unwrap();
    assert!(Classified::new(vec![0], vec![0, 1], 2, None).is_err());
    assert!(Classified::new(vec![0], vec![2], 2, None).is_err());
    assert!(plain().with_scores(Mat::zeros(3, 1)).is_err(), "one column needs a positive class");
    assert!(plain().with_scores(Mat::zeros(2, 3)).is_err());
    let nan = Mat::new(3, 3, vec![0.0, 0.0, 0.0, 0.0, f64::NAN, 0.0, 0.0, 0.0, 0.0]);
    let message = plain().with_scores(nan).unwrap_err().to_string();
    assert_eq!(message, "the score of bag 2 (counted from 1) is not a finite number");
    assert!(plain().with_probabilities(Mat::new(3, 3, vec![1.5; 9])).is_err());
    assert!(Predictions::values(vec![1.0], vec![f64::INFINITY]).is_err());
}

#[test]
fn thresholds_read_write_and_break_ties_as_documented() {
    for text in ["0.3", "-2", "balanced", "recall=0.95", "specificity=1", "precision=0.8"] {
        assert_eq!(text.parse::<Threshold>().unwrap().to_string(), text);
    }
    for bad in ["recall", "recall=1.5", "recall=nan", "youden", "nan", "inf", "f1=0.5", ""] {
        assert!(bad.parse::<Threshold>().is_err(), "{bad}");
    }
    let truth = [true, true, false, true, false];
    let scores = [5.0, 4.0, 3.0, 2.0, 1.0];
    let cut = |rule: Threshold| rule.choose(&truth, &scores).unwrap().threshold;
    // A third of the positives is reached at 4.5 already; 3.5 costs no specificity and has more recall.
    assert_eq!(cut(Threshold::Recall(0.3)), 3.5);
    assert_eq!(cut(Threshold::Recall(0.7)), 1.5);
    assert_eq!(cut(Threshold::Specificity(1.0)), 3.5);
    assert_eq!(cut(Threshold::Precision(0.75)), 1.5);
    assert_eq!(cut(Threshold::Balanced), 3.5);
    assert_eq!(cut(Threshold::Value(0.25)), 0.25);
    // Neighbouring doubles have no midpoint; the label still follows the class.
    let close = [1.0f64.next_up(), 1.0];
    let chosen = Threshold::Balanced.choose(&[true, false], &close).unwrap();
    assert!(chosen.positive(close[0]) && !chosen.positive(close[1]));
    // Out of reach: the best there is, and it says so.
    let chosen = Threshold::Precision(0.9).choose(&[false, true, false], &[3.0, 2.0, 1.0]).unwrap();
    assert_eq!((chosen.met, chosen.precision, chosen.threshold), (false, Some(0.5), 1.5));
}

fn mean_of(data: &[f64]) -> impl Fn(&[usize]) -> Option<f64> + Sync {
    move |rows: &[usize]| Some(rows.iter().map(|&r| data[r]).sum::<f64>() / rows.len() as f64)
}

fn units(n: usize) -> Vec<Vec<usize>> {
    (0..n).map(|i| vec![i]).collect()
}

#[test]
fn the_bootstrap_is_the_same_on_any_number_of_threads() {
    let mut rng = Rng::new(0, "test", &[]);
    let data: Vec<f64> = (0..40).map(|_| rng.normal()).collect();
    // Few draws, all of which count (an interval of nearly everything), slow enough for every thread to take some.
    let slow = |rows: &[usize]| {
        std::thread::sleep(std::time::Duration::from_millis(1));
        mean_of(&data)(rows)
    };
    let run = |threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| {
            let draw =
                |seed, level| bootstrap(&units(40), slow, 50, level, Resampling::Bca, seed).unwrap().unwrap();
            [draw(1, 0.1), draw(1, 0.5), draw(1, 0.999), draw(2, 0.5)]
        })
    };
    let (one, two) = (run(1), run(4));
    assert_eq!(one, two);
    assert_ne!(one[1].interval, one[3].interval, "seeds differ");
}

#[test]
fn the_bootstrap_covers_as_often_as_it_says() {
    // 300 samples of 40 normals; at 90 % the true mean 0 is inside 270 times, give or take 5 standard deviations
    // of 5.2 and a little for the percentile interval's shortness at n = 40 (about 1.5 points).
    for kind in [Resampling::Percentile, Resampling::Bca] {
        let covered = (0..300u64)
            .filter(|&sample| {
                let mut rng = Rng::new(sample, "coverage", &[]);
                let data: Vec<f64> = (0..40).map(|_| rng.normal()).collect();
                let b = bootstrap(&units(40), mean_of(&data), 400, 0.9, kind, sample).unwrap().unwrap();
                b.interval.low <= 0.0 && 0.0 <= b.interval.high
            })
            .count();
        assert!((239..=292).contains(&covered), "{kind:?}: {covered} of 300");
    }
}

#[test]
fn resampling_groups_widens_the_interval_when_bags_of_a_group_agree() {
    // 20 groups of 5 equal values: the bags say 100 independent values, the groups know there are 20.
    let mut rng = Rng::new(4, "test", &[]);
    let data: Vec<f64> = (0..20).flat_map(|_| [rng.normal(); 5]).collect();
    let grouped: Vec<Vec<usize>> = (0..20).map(|g| (5 * g..5 * g + 5).collect()).collect();
    let width = |units: &[Vec<usize>]| {
        let i =
            bootstrap(units, mean_of(&data), 500, 0.95, Resampling::Percentile, 0).unwrap().unwrap().interval;
        i.high - i.low
    };
    let ratio = width(&grouped) / width(&units(100));
    // sqrt(5) = 2.24, give or take the noise of 500 draws.
    assert!((1.8..2.7).contains(&ratio), "{ratio}");
}

#[test]
fn samples_without_a_value_are_counted_and_too_many_give_no_interval() {
    let rare = |rows: &[usize]| rows.contains(&0).then_some(1.0);
    let b = bootstrap(&units(3), rare, 200, 0.95, Resampling::Percentile, 0).unwrap().unwrap();
    // A draw of three misses unit 0 with probability 8 / 27: 59 of 200.
    assert!((30..90).contains(&b.undefined), "{}", b.undefined);
    let never = |rows: &[usize]| (rows.len() > 3 || rows == [0, 1, 2]).then_some(1.0);
    assert_eq!(bootstrap(&units(3), never, 200, 0.95, Resampling::Percentile, 0).unwrap(), None);
    assert_eq!(bootstrap(&units(1), |_| Some(1.0), 200, 0.95, Resampling::Percentile, 0).unwrap(), None);
}

#[test]
fn intervals_of_little_or_equal_data() {
    assert_eq!(corrected_interval(&[0.5], 0.1, 0.95).unwrap(), None);
    let flat = corrected_interval(&[0.1; 3], 0.1, 0.95).unwrap().unwrap();
    assert_eq!((flat.low, flat.high), (flat.estimate, flat.estimate));
    let test = |a: &[f64], b: &[f64]| corrected_t_test(a, b, 0.1, 0.95).unwrap().unwrap();
    let same = test(&[0.3, 0.6], &[0.3, 0.6]);
    assert_eq!((same.t, same.p), (None, 1.0));
    let apart = test(&[0.75, 0.5], &[0.5, 0.25]);
    assert_eq!((apart.t, apart.p), (None, 0.0));
    assert!(corrected_t_test(&[0.1], &[0.1, 0.2], 0.1, 0.95).is_err());
    assert!(corrected_interval(&[0.1, 0.2], 0.1, 95.0).is_err());
    assert_eq!(wilson(0, 0, 0.95).unwrap(), None);
    assert!(wilson(3, 2, 0.95).is_err());
    // The correction only widens.
    let plain = corrected_interval(&[0.1, 0.2, 0.4], 0.0, 0.95).unwrap().unwrap();
    let wide = corrected_interval(&[0.1, 0.2, 0.4], 1.0 / 9.0, 0.95).unwrap().unwrap();
    assert!(wide.low < plain.low && wide.high > plain.high);
}
