//! What the test between methods must say of answers whose meaning is known.

use super::super::predictions::Classified;
use super::*;

/// A method that is right about these bags of class 0.
fn answers(right: &[bool]) -> Vec<Repeat> {
    let labels = right.iter().map(|&r| u32::from(!r)).collect();
    let classified = Classified::new(vec![0; right.len()], labels, 2, Some(1)).unwrap();
    let predictions = Predictions::Classes(classified);
    let (bags, folds) = ((0..right.len()).collect(), vec![0; right.len()]);
    vec![Repeat { repeat: 0, fold: None, bags, folds, predictions, complete: true }]
}

fn of(methods: &[Vec<bool>], groups: Option<&[u32]>) -> Influences {
    let all: Vec<Vec<Repeat>> = methods.iter().map(|m| answers(m)).collect();
    Influences::new(&all, groups, Metric::Accuracy, 0)
}

fn first(methods: &[Vec<bool>], groups: Option<&[u32]>) -> Difference {
    of(methods, groups).against(0, false, 0.95, 0)[1].unwrap()
}

#[test]
fn few_units_are_tried_with_every_pattern_of_signs() {
    // Six bags of six: of 32 patterns, the one with all signs equal is as extreme.
    let found = first(&[vec![true; 6], vec![false; 6]], None);
    assert_eq!(
        (found.value, found.p, found.standing),
        (Some(-1.0), Some(1.0 / 32.0), Standing::ClearlyWorse)
    );
    // Five of six: 7 of 32 patterns have at most one sign of its own, and the equal bag has none.
    let found = first(&[vec![true; 6], vec![false, false, false, false, false, true]], None);
    assert_eq!((found.p, found.standing), (Some(2.0 / 32.0), Standing::NoClearDifference));
    let found = first(&[vec![true; 5], vec![false; 5]], None);
    assert_eq!((found.value, found.p, found.standing), (Some(-1.0), None, Standing::TooFewBags));
    let groups: Vec<u32> = (0..50).map(|b| b % 5).collect();
    let found = first(&[vec![true; 50], vec![false; 50]], Some(&groups));
    assert_eq!((found.p, found.standing), (None, Standing::TooFewGroups));
}

#[test]
fn a_clear_difference_has_an_interval_without_zero_and_only_that() {
    for wrong in 0..40 {
        let other: Vec<bool> = (0..200).map(|b| b >= wrong).collect();
        let best: Vec<bool> = (0..200).map(|b| b != 150 && b != 151).collect();
        let found = first(&[best, other], None);
        let i = found.interval.unwrap();
        let holds_zero = i.low <= 0.0 && 0.0 <= i.high;
        assert_eq!(found.standing == Standing::NoClearDifference, holds_zero, "{wrong}: {found:?}");
        assert_eq!(found.p.unwrap() > 0.05, holds_zero, "{wrong}: {found:?}");
        assert!(i.low <= i.estimate && i.estimate <= i.high);
    }
}

#[test]
fn one_bag_that_differs_has_no_short_interval() {
    // One bag of sixty: whichever sign it has, the statistic is 1, and flips say nothing of its spread.
    let found = first(&[vec![true; 60], (0..60).map(|b| b != 7).collect()], None);
    assert_eq!((found.p, found.standing), (Some(1.0), Standing::NoClearDifference));
    // The usual interval of one success in sixty, twice its standard error of 1/60, and a tenth more.
    let i = found.interval.unwrap();
    assert!(i.low < -0.05 && i.high > 0.015, "{i:?}");
}

#[test]
fn differences_that_do_not_vary_have_no_short_interval() {
    // Five positives ranked perfectly in every fold, against the same score for all: no bag moves either value.
    let actual: Vec<u32> = (0..30).map(|b| u32::from(b % 6 == 0)).collect();
    let scored = |score: fn(u32) -> f64| {
        let scores = bagwise_core::Mat::new(30, 1, actual.iter().map(|&y| score(y)).collect());
        let classified = Classified::new(actual.clone(), actual.clone(), 2, Some(1)).unwrap();
        let predictions = Predictions::Classes(classified.with_scores(scores).unwrap());
        let folds = (0..30).map(|b| b / 12).collect();
        vec![Repeat { repeat: 0, fold: None, bags: (0..30).collect(), folds, predictions, complete: true }]
    };
    let methods = [scored(|_| 0.0), scored(f64::from)];
    let found = Influences::new(&methods, None, Metric::RocAuc, 0).against(0, false, 0.95, 0)[1].unwrap();
    // They are only five.
    let i = found.interval.unwrap();
    assert!(found.value == Some(0.5) && i.high - i.low > 0.5, "{found:?}");
    let accuracy = first(&[vec![false; 30], vec![true; 30]], None);
    assert_eq!((accuracy.standing, accuracy.interval), (Standing::ClearlyBetter, None));
}

#[test]
fn six_positive_bags_are_six_however_many_others_there_are() {
    // Six methods that know nothing, on a hundred bags in ten folds. Were the difference spread over all bags alike, 24 of these
    // 200 data sets would have a method that is clearly worse than the best.
    const SETS: u64 = 200;
    let folds: Vec<usize> = (0..100).map(|b| b % 10).collect();
    let actual: Vec<u32> = (0..100).map(|b| u32::from(b < 6)).collect();
    let alarms = (0..SETS).filter(|&set| {
        let mut rng = Rng::new(set, "random scores", &[]);
        let methods: Vec<Vec<Repeat>> = (0..6)
            .map(|_| {
                let scores = bagwise_core::Mat::new(100, 1, (0..100).map(|_| rng.normal()).collect());
                let classified = Classified::new(actual.clone(), actual.clone(), 2, Some(1)).unwrap();
                let predictions = Predictions::Classes(classified.with_scores(scores).unwrap());
                let (bags, folds) = ((0..100).collect(), folds.clone());
                vec![Repeat { repeat: 0, fold: None, bags, folds, predictions, complete: true }]
            })
            .collect();
        let found = Influences::new(&methods, None, Metric::RocAuc, 0);
        let against = found.against(found.best().unwrap(), true, 0.95, set);
        against.iter().flatten().any(|d| d.standing == Standing::ClearlyWorse)
    });
    // The level of 0.05 and three standard errors of a share of 200.
    assert!(alarms.count() as f64 <= 0.05 * SETS as f64 + 9.0);
}

#[test]
fn bags_of_a_group_count_once() {
    // The method differs in 40 bags, which are two groups of sixteen.
    let groups: Vec<u32> = (0..320).map(|b| b / 20).collect();
    let other: Vec<bool> = (0..320).map(|b| b >= 40).collect();
    let methods = [vec![true; 320], other];
    assert_eq!(first(&methods, None).standing, Standing::ClearlyWorse);
    assert_eq!(first(&methods, Some(&groups)).standing, Standing::NoClearDifference);
}

#[test]
fn more_methods_need_more_evidence_and_the_same_answers_none() {
    let method = |wrong: usize, of: usize| (0..100).map(|b| b % of != 0 || b / of >= wrong).collect();
    let few: Vec<Vec<bool>> = vec![vec![true; 100], method(7, 3)];
    let many: Vec<Vec<bool>> = few.iter().cloned().chain((4..12).map(|of| method(3, of))).collect();
    let p = |methods: &[Vec<bool>]| of(methods, None).against(0, true, 0.95, 0)[1].unwrap().p.unwrap();
    assert!(p(&few) < p(&many), "{} {}", p(&few), p(&many));
    let same = first(&[vec![true; 100], vec![true; 100]], None);
    assert_eq!((same.p, same.interval, same.standing), (Some(1.0), None, Standing::NoClearDifference));
}

#[test]
fn leaving_units_out_gives_a_mean_the_same_parts() {
    let right: Vec<bool> = (0..30).map(|b| b % 3 != 0).collect();
    let repeat = &answers(&right)[0];
    let unit_of = |bag: usize| bag / 4;
    let means = Answered::new(repeat, Metric::Accuracy, 8, &unit_of).parts().unwrap();
    // The specificity of bags of class 0 is their accuracy, and is not taken as a mean.
    let left_out = Answered::new(repeat, Metric::Specificity, 8, &unit_of).parts().unwrap();
    for (a, b) in means.iter().zip(&left_out) {
        // Sums of thirty numbers below 1.
        assert!((a - b).abs() < 1e-14, "{a} {b}");
    }
}

#[test]
fn a_class_on_which_two_methods_agree_by_chance_is_not_certain() {
    // Ten positives that both miss. Of 190 negatives, one method gets 36 wrong, as it would of positives were it to guess.
    let truth: Vec<u32> = (0..200).map(|b| u32::from(b < 10)).collect();
    let says = |labels: Vec<u32>| {
        let predictions = Predictions::Classes(Classified::new(truth.clone(), labels, 2, Some(1)).unwrap());
        let (bags, folds) = ((0..200).collect(), (0..200).map(|b| b % 5).collect());
        vec![Repeat { repeat: 0, fold: None, bags, folds, predictions, complete: true }]
    };
    let methods = [says(vec![0; 200]), says((0..200).map(|b| u32::from((100..136).contains(&b))).collect())];
    let found =
        Influences::new(&methods, None, Metric::BalancedAccuracy, 0).against(0, false, 0.95, 0)[1].unwrap();
    assert_eq!(found.standing, Standing::NoClearDifference, "{found:?}");
    let i = found.interval.unwrap();
    assert!(i.low < -0.15 && i.high > 0.0, "{i:?}");
    // Where positives differ too, they speak for themselves.
    let found_all = says((0..200).map(|b| u32::from(b < 10)).collect());
    let methods = [says(vec![0; 200]), found_all];
    let found =
        Influences::new(&methods, None, Metric::BalancedAccuracy, 0).against(0, false, 0.95, 0)[1].unwrap();
    assert_eq!(found.standing, Standing::ClearlyBetter, "{found:?}");
}

#[test]
fn the_error_of_a_difference_is_that_of_paired_bags() {
    // Nine bags speak for the one and four for the other: a difference of 5, with an error of the root of 13 less 25/100.
    let one: Vec<bool> = (0..100).map(|b| b >= 9).collect();
    let other: Vec<bool> = (0..100).map(|b| !(50..54).contains(&b)).collect();
    let found = first(&[one, other], None);
    let expected = WIDENING * ((13.0 - 25.0 / 100.0) * 100.0 / 99.0f64).sqrt() / 100.0;
    assert!((found.error.unwrap() - expected).abs() < 1e-12, "{found:?} {expected}");
    assert!((found.value.unwrap() - 0.05).abs() < 1e-12 && !found.is_within_error());
    assert_eq!(found.reversed().value, found.value.map(|v| -v));
    assert_eq!(found.reversed().reversed(), found);
}

#[test]
fn the_simplest_within_one_error_of_the_best_is_recommended() {
    use Standing::{ClearlyWorse, NoClearDifference as Open, NotTested, TooFewGroups};
    let found = |standing, value: f64| {
        Some(Difference { value: Some(value), interval: None, p: Some(0.5), error: Some(0.05), standing })
    };
    let near = found(Open, -0.04);
    assert_eq!(recommended(0, &[None, near, near], &[50, 20, 30], |_| true), 1);
    assert_eq!(recommended(0, &[None, found(ClearlyWorse, -0.04), near], &[50, 20, 30], |_| true), 2);
    // What differs by more may be as good, but nothing speaks for it.
    assert_eq!(recommended(0, &[None, found(Open, -0.06), near], &[50, 20, 30], |_| true), 2);
    assert_eq!(recommended(0, &[None, near, found(NotTested, -0.04)], &[10, 20, 0], |_| true), 0);
    assert_eq!(recommended(0, &[None, near], &[10, 10], |_| true), 0);
    // The baseline is no choice unless nothing is better.
    assert_eq!(recommended(0, &[None, near, near], &[50, 0, 30], |_| true), 2);
    assert_eq!(recommended(1, &[near, None], &[10, 0], |_| true), 1);
    // A simpler method that is of no use is no choice either.
    assert_eq!(recommended(0, &[None, near, near], &[50, 10, 0], |m| m != 1), 0);
    // Without a test nothing speaks for a lower value.
    assert_eq!(recommended(0, &[None, found(TooFewGroups, -0.04)], &[50, 10], |_| true), 0);
}
