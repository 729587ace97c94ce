//! Splits: what every division promises, on random data.

use bagwise::Rng;
use bagwise::judge::{Fold, FoldPlan, Pool, Splits};
use bagwise::{Groups, Target};
use proptest::prelude::*;

fn classes(codes: &[u32]) -> Target {
    let names = (0..=*codes.iter().max().unwrap()).map(|c| c.to_string()).collect();
    Target::Classes { codes: codes.to_vec(), names }
}

fn groups(codes: &[u32]) -> Groups {
    Groups::from_names(&codes.iter().map(|c| c.to_string()).collect::<Vec<_>>())
}

fn pool<'a>(target: &'a Target, groups: Option<&'a Groups>) -> Pool<'a> {
    Pool { target, groups, given: None }
}

fn ascending(list: &[usize]) -> bool {
    list.windows(2).all(|w| w[0] < w[1])
}

/// Train and test together are `bags`, ascending, without overlap, and neither is empty.
fn check_parts(fold: &Fold, bags: &[usize]) {
    assert!(ascending(&fold.train) && ascending(&fold.test));
    assert!(!fold.train.is_empty() && !fold.test.is_empty());
    let mut all = [fold.train.clone(), fold.test.clone()].concat();
    all.sort_unstable();
    assert_eq!(all, bags);
}

/// Every bag is tested exactly once.
fn check_partition(folds: &[Fold], bags: &[usize]) {
    folds.iter().for_each(|f| check_parts(f, bags));
    let mut tested: Vec<usize> = folds.iter().flat_map(|f| f.test.clone()).collect();
    tested.sort_unstable();
    assert_eq!(tested, bags);
}

fn check_groups(folds: &[Fold], groups: &Groups) {
    for fold in folds {
        for &bag in &fold.test {
            assert!(fold.train.iter().all(|&t| groups.codes[t] != groups.codes[bag]), "group of bag {bag}");
        }
    }
}

fn count(target: &Target, bags: &[usize], class: u32) -> usize {
    let Target::Classes { codes, .. } = target else { panic!() };
    bags.iter().filter(|&&b| codes[b] == class).count()
}

fn spread(values: impl Iterator<Item = usize> + Clone) -> usize {
    values.clone().max().unwrap() - values.min().unwrap()
}

/// Some of the bags, at least `least`.
fn subset(n: usize, least: usize, seed: u64) -> Vec<usize> {
    let mut rng = Rng::new(seed, "test", &[]);
    let k = least + rng.below(n - least + 1);
    let mut bags = rng.sample(n, k);
    bags.sort_unstable();
    bags
}

proptest! {
    #[test]
    fn k_folds_partition_and_stratify(
        codes in prop::collection::vec(0u32..4, 10..80), folds in 2usize..10, seed in 0u64..1000,
    ) {
        let target = classes(&codes);
        let bags = subset(codes.len(), 10, seed);
        let parts = Splits::KFold(folds).outer(pool(&target, None), &bags, seed, 0).unwrap();
        prop_assert_eq!(parts.len(), folds);
        check_partition(&parts, &bags);
        for class in 0..4 {
            prop_assert!(spread(parts.iter().map(|f| count(&target, &f.test, class))) <= 1);
        }
        prop_assert!(spread(parts.iter().map(|f| f.test.len())) <= 1);

        // The same seed gives the same folds, in whatever order the bags are named; others give others.
        let mut reversed = bags.clone();
        reversed.reverse();
        let again = Splits::KFold(folds).outer(pool(&target, None), &reversed, seed, 0).unwrap();
        prop_assert_eq!(&parts, &again);
        let json = serde_json::to_string(&parts).unwrap();
        prop_assert_eq!(&parts, &serde_json::from_str::<Vec<Fold>>(&json).unwrap());
    }

    #[test]
    fn real_targets_are_dealt_evenly(n in 10usize..60, folds in 2usize..10, seed in 0u64..1000) {
        let target = Target::Values((0..n).map(|i| i as f64).collect());
        let bags: Vec<usize> = (0..n).collect();
        let parts = Splits::KFold(folds).outer(pool(&target, None), &bags, seed, 0).unwrap();
        check_partition(&parts, &bags);
        prop_assert!(spread(parts.iter().map(|f| f.test.len())) <= 1);
    }

    #[test]
    fn groups_are_never_split(
        pairs in prop::collection::vec((0u32..3, 0u32..25), 30..120), folds in 2usize..6, seed in 0u64..1000,
    ) {
        let (codes, of_group): (Vec<u32>, Vec<u32>) = pairs.into_iter().unzip();
        let (target, groups) = (classes(&codes), groups(&of_group));
        let bags = subset(codes.len(), codes.len() / 2, seed);
        let pool = pool(&target, Some(&groups));
        let mut there: Vec<u32> = bags.iter().map(|&b| groups.codes[b]).collect();
        there.sort_unstable();
        there.dedup();
        for splits in [Splits::KFold(folds), Splits::LeaveOneOut, Splits::Half(3)] {
            let Ok(parts) = splits.outer(pool, &bags, seed, 0) else {
                prop_assert!(there.len() < folds, "{} groups, {}", there.len(), splits);
                continue;
            };
            check_groups(&parts, &groups);
            if splits == Splits::Half(3) {
                parts.iter().for_each(|f| check_parts(f, &bags));
            } else {
                check_partition(&parts, &bags);
            }
            if splits == Splits::LeaveOneOut {
                prop_assert_eq!(parts.len(), there.len());
            }
            prop_assert_eq!(&parts, &splits.outer(pool, &bags, seed, 0).unwrap());
            // Inner folds of every outer training part, again whole groups.
            for (f, fold) in parts.iter().enumerate() {
                if let Ok(inner) = Splits::KFold(2).inner(pool, &fold.train, seed, 0, f as u64) {
                    check_partition(&inner, &fold.train);
                    check_groups(&inner, &groups);
                }
            }
        }
    }

    #[test]
    fn groups_of_one_bag_are_stratified_within_one(
        codes in prop::collection::vec(0u32..3, 10..80), folds in 2usize..8, seed in 0u64..1000,
    ) {
        let target = classes(&codes);
        let alone = groups(&(0..codes.len() as u32).collect::<Vec<_>>());
        let bags: Vec<usize> = (0..codes.len()).collect();
        let parts = Splits::KFold(folds).outer(pool(&target, Some(&alone)), &bags, seed, 0).unwrap();
        for class in 0..3 {
            prop_assert!(spread(parts.iter().map(|f| count(&target, &f.test, class))) <= 1);
        }
    }

    #[test]
    fn halves_take_half_of_every_class(codes in prop::collection::vec(0u32..4, 12..60), seed in 0u64..1000) {
        let target = classes(&codes);
        let bags: Vec<usize> = (0..codes.len()).collect();
        let parts = Splits::Half(4).outer(pool(&target, None), &bags, seed, 0).unwrap();
        prop_assert_eq!(parts.len(), 4);
        for fold in &parts {
            check_parts(fold, &bags);
            for class in 0..4 {
                let all = count(&target, &bags, class);
                prop_assert_eq!(count(&target, &fold.train, class), all.div_ceil(2));
            }
        }
        // More splits begin with the same ones.
        prop_assert_eq!(&parts[..2], &Splits::Half(2).outer(pool(&target, None), &bags, seed, 0).unwrap()[..]);
    }
}

#[test]
fn grouped_folds_keep_classes_in_proportion() {
    // 40 groups of 1 to 6 bags, a third of them of class 1: a greedy deal keeps each fold's share near a fifth.
    let mut rng = Rng::new(5, "test", &[]);
    let (mut codes, mut of_group) = (Vec::new(), Vec::new());
    for g in 0..40u32 {
        for _ in 0..1 + rng.below(6) {
            codes.push(u32::from(g % 3 == 0));
            of_group.push(g);
        }
    }
    let (target, groups) = (classes(&codes), groups(&of_group));
    let bags: Vec<usize> = (0..codes.len()).collect();
    for seed in 0..20 {
        let parts = Splits::KFold(5).outer(pool(&target, Some(&groups)), &bags, seed, 0).unwrap();
        for class in 0..2 {
            let total = count(&target, &bags, class);
            for fold in &parts {
                let share = count(&target, &fold.test, class) as f64 / total as f64;
                assert!((share - 0.2).abs() < 0.06, "seed {seed}, class {class}: {share}");
            }
        }
    }
}

#[test]
fn repeats_seeds_and_levels_have_folds_of_their_own() {
    let target = classes(&[0, 1].repeat(20));
    let p = pool(&target, None);
    let bags: Vec<usize> = (0..40).collect();
    let k = Splits::KFold(10);
    let made = [
        k.outer(p, &bags, 0, 0).unwrap(),
        k.outer(p, &bags, 0, 1).unwrap(),
        k.outer(p, &bags, 1, 0).unwrap(),
        k.inner(p, &bags, 0, 0, 0).unwrap(),
        k.inner(p, &bags, 0, 0, 1).unwrap(),
        k.inner(p, &bags, 0, 1, 0).unwrap(),
    ];
    for i in 0..made.len() {
        for j in 0..i {
            assert_ne!(made[i], made[j], "{i} and {j}");
        }
    }
    let plan = FoldPlan::new(k, p, 0, 2).unwrap();
    assert_eq!(plan.repeats, made[..2]);
    assert_eq!(FoldPlan::new(Splits::LeaveOneOut, p, 0, 7).unwrap().repeats.len(), 1);
    let json = serde_json::to_string(&plan).unwrap();
    assert!(json.starts_with(r#"{"splits":"kfold=10","seed":0,"repeats":[[{"train":["#), "{json}");
    assert_eq!(plan, serde_json::from_str(&json).unwrap());
}

#[test]
fn folds_are_pinned() {
    // A change here changes every result users have published.
    let target = classes(&[0, 0, 0, 0, 0, 1, 1, 1, 1]);
    let bags: Vec<usize> = (0..9).collect();
    let parts = Splits::KFold(3).outer(pool(&target, None), &bags, 0, 0).unwrap();
    let tests: Vec<Vec<usize>> = parts.into_iter().map(|f| f.test).collect();
    assert_eq!(tests, PINNED);
}

const PINNED: [[usize; 3]; 3] = [[1, 2, 8], [3, 4, 6], [0, 5, 7]];

#[test]
fn the_second_class_continues_where_the_first_stopped() {
    // 4 of class 0 fill folds 0, 1, 2, 0; 2 of class 1 go to folds 1 and 2: all folds have two bags.
    let target = classes(&[0, 0, 0, 0, 1, 1]);
    for seed in 0..20 {
        let parts = Splits::KFold(3).outer(pool(&target, None), &[0, 1, 2, 3, 4, 5], seed, 0).unwrap();
        let of_class_1: Vec<usize> = parts.iter().map(|f| count(&target, &f.test, 1)).collect();
        assert_eq!(of_class_1, [0, 1, 1]);
    }
}

#[test]
fn given_folds_and_train_test_marks_are_followed() {
    let target = classes(&[0, 1, 0, 1]);
    let marks = |names: [&str; 4]| names.map(String::from);
    let divide = |splits: Splits, names: &[String; 4], groups: Option<&Groups>| {
        let pool = Pool { target: &target, groups, given: Some(names) };
        splits.outer(pool, &[0, 1, 2, 3], 0, 0)
    };
    let folds = divide(Splits::Given, &marks(["10", "9", "9", "10"]), None).unwrap();
    assert_eq!(folds[0], Fold { train: vec![0, 3], test: vec![1, 2] });
    assert_eq!(folds.len(), 2);
    let folds = divide(Splits::TrainTest, &marks(["train", "test", "train", "test"]), None).unwrap();
    assert_eq!(folds, [Fold { train: vec![0, 2], test: vec![1, 3] }]);

    let refused = |splits, names, groups| divide(splits, &marks(names), groups).unwrap_err().to_string();
    let group = groups(&[7, 8, 8, 9]);
    assert_eq!(
        refused(Splits::Given, ["a", "a", "b", "b"], Some(&group)),
        "group '8' is in both folds 'a' and 'b'; put each group in one fold"
    );
    assert!(
        refused(Splits::TrainTest, ["train", "train", "test", "test"], Some(&group)).contains("group '8'")
    );
    assert!(refused(Splits::Given, ["a", "a", "a", "a"], None).contains("in the same fold"));
    assert!(refused(Splits::Given, ["a", "", "b", "b"], None).contains("bag 2 (counted from 1) has no fold"));
    assert!(refused(Splits::TrainTest, ["train", "test", "dev", "test"], None).contains("marked 'dev'"));
    assert!(refused(Splits::TrainTest, ["test"; 4], None).contains("no bag is marked 'train'"));
    let none = Splits::Given.outer(pool(&target, None), &[0, 1], 0, 0).unwrap_err().to_string();
    assert!(none.contains("need the fold of each bag"), "{none}");
}

#[test]
fn what_cannot_be_divided_is_refused_with_a_remedy() {
    let target = classes(&[0, 1, 0, 1]);
    let all = [0, 1, 2, 3];
    let refused = |splits: Splits, groups: Option<&Groups>, bags: &[usize]| {
        splits.outer(pool(&target, groups), bags, 0, 0).unwrap_err().to_string()
    };
    assert_eq!(
        refused(Splits::KFold(5), None, &all),
        "4 bags cannot be split into 5 folds; use at most 4 folds, or leave one out"
    );
    let (one, three) = (groups(&[3, 3, 3, 3]), groups(&[0, 0, 1, 2]));
    assert_eq!(
        refused(Splits::KFold(4), Some(&three), &all),
        "3 groups cannot be split into 4 folds; use at most 3 folds, or leave one out"
    );
    for splits in [Splits::KFold(2), Splits::LeaveOneOut, Splits::Half(1)] {
        assert!(refused(splits, Some(&one), &all).starts_with("one group cannot be split into 2 folds"));
        assert!(refused(splits, None, &[2]).starts_with("one bag cannot be split"));
    }
    assert!(refused(Splits::KFold(2), None, &[1, 1]).contains("twice"));
    assert!(refused(Splits::KFold(2), None, &[1, 9]).contains("there are 4 bags"));
    assert!(refused(Splits::Half(1), None, &[0, 1]).contains("use loo"));
    // Fewer members than folds is no error: the folds without the class have none.
    let parts = Splits::KFold(4).outer(pool(&target, None), &all, 0, 0).unwrap();
    assert_eq!(parts.iter().map(|f| count(&target, &f.test, 1)).sum::<usize>(), 2);
}

#[test]
fn names_read_and_write_the_same() {
    for text in ["kfold=7", "loo", "half=3", "given", "train-test"] {
        assert_eq!(text.parse::<Splits>().unwrap().to_string(), text);
    }
    assert_eq!("kfold".parse::<Splits>().unwrap(), Splits::KFold(10));
    assert_eq!("half".parse::<Splits>().unwrap(), Splits::Half(5));
    for bad in ["kfold=1", "kfold=x", "loo=3", "half=0", "kfolds", ""] {
        assert!(bad.parse::<Splits>().is_err(), "{bad}");
    }
}

#[test]
fn a_run_refuses_what_its_protocol_would_not_heed() {
    use bagwise::judge::{Metric, Protocol, ProtocolName, Threshold};
    use bagwise::run::{Run, RunPlan};
    let data = bagwise::io::read("synthetic:gauss?bags=8", &bagwise::io::ReadOptions::default()).unwrap();
    let folds: Vec<String> = (0..data.bags.len()).map(|b| (b % 2).to_string()).collect();
    let refused = |name: ProtocolName, repeats: usize, threshold: Option<Threshold>, given: bool| {
        let plan = RunPlan {
            protocol: Protocol::new(name, 2, 2),
            metric: Metric::Accuracy,
            threshold,
            best: false,
            positive: None,
            precision: Default::default(),
            seed: 0,
            repeats,
            probabilities: true,
        };
        let run = Run::new(&data, &[], &plan, given.then_some(&folds[..]));
        run.err().map_or(String::new(), |e| e.to_string())
    };
    use ProtocolName::{BestOnCv, Given, Half, Kfold, Loo, Nested};
    for name in [Nested, Kfold, Half, BestOnCv, Loo] {
        let said = refused(name, 1, None, true);
        assert!(said.contains("draws its own folds"), "{}: {said}", name.as_str());
    }
    for (name, given) in [(Loo, false), (Given, true)] {
        let said = refused(name, 3, None, given);
        assert!(said.contains("so 3 repeats add little"), "{}: {said}", name.as_str());
    }
    let said = refused(BestOnCv, 1, Some(Threshold::Balanced), false);
    assert!(said.contains("best-on-cv does not choose a threshold"), "{said}");
    assert!(refused(Given, 1, None, false).contains("fold"), "folds that are not given are missed");
    for (name, repeats, threshold, given) in [
        (Nested, 3, Some(Threshold::Balanced), false),
        (Half, 2, None, false),
        (BestOnCv, 2, None, false),
        (Given, 1, None, true),
        (Loo, 1, None, false),
    ] {
        assert_eq!(refused(name, repeats, threshold, given), "", "{}", name.as_str());
    }
}

#[test]
fn a_learning_curve_grows_within_each_fold_and_tests_the_same_bags() {
    let target =
        Target::from_labels(&(0..60).map(|i| if i % 3 == 0 { "1" } else { "0" }).collect::<Vec<_>>());
    let bags: Vec<usize> = (0..60).collect();
    let folds = Splits::Curve(3).outer(pool(&target, None), &bags, 7, 0).unwrap();
    let whole = Splits::KFold(3).outer(pool(&target, None), &bags, 7, 0).unwrap();
    assert_eq!(folds.len(), 30);
    for (i, fold) in folds.iter().enumerate() {
        let (share, of) = (i / 3 + 1, &whole[i % 3]);
        assert_eq!((fold.train.len(), &fold.test), (4 * share, &of.test), "fold {i}");
        assert!(fold.train.iter().all(|bag| of.train.contains(bag)));
        if share > 1 {
            assert!(
                folds[i - 3].train.iter().all(|bag| fold.train.contains(bag)),
                "the smaller share is inside"
            );
        }
        let positive = fold.train.iter().filter(|&&bag| bag % 3 == 0).count();
        assert!(positive.abs_diff(fold.train.len() / 3) <= 1, "{positive} of {}", fold.train.len());
    }
    assert_eq!(folds[29].train, whole[2].train, "all training bags in the end");
    // Groups stay whole: a share holds all bags of a group or it is the last one that is cut.
    let groups = Groups::from_names(&(0..60).map(|i| (i / 2).to_string()).collect::<Vec<_>>());
    let folds = Splits::Curve(3).outer(pool(&target, Some(&groups)), &bags, 7, 0).unwrap();
    for fold in &folds {
        assert!(fold.test.iter().all(|bag| !fold.train.iter().any(|b| b / 2 == bag / 2)));
    }
    assert_eq!("curve=4".parse::<Splits>().unwrap().to_string(), "curve=4");
}

/// Large groups fill folds of their own, so that a training part can lack most of the groups.
#[test]
fn the_usual_number_of_inner_folds_can_be_had_in_every_training_part() {
    let sizes = [40, 40, 5, 5, 5, 5, 5, 5];
    let codes: Vec<u32> = sizes.iter().zip(0..).flat_map(|(&size, group)| vec![group; size]).collect();
    let mut data = bagwise::read("synthetic:gauss?bags=110").unwrap();
    data.target = Some(Target::Values((0..110).map(|bag| f64::from(bag % 7)).collect()));
    let data = data.with_groups(groups(&codes)).unwrap();
    for seed in 0..4 {
        let run = bagwise::evaluate(&data, "simple-mi").params(&[("gamma", "1/median"), ("c", "1,10")]);
        let found = run.folds(3).seed(seed).run().unwrap();
        assert!(found.records.iter().all(|record| record.succeeded()), "seed {seed}: {found}");
    }
}
