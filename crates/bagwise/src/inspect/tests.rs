//! Small made-up data sets, each with one thing wrong, and one with nothing wrong.

use super::*;
use bagwise_core::{Bags, CarriedColumn, Csr, Feature, FeatureKind, Instances, Mat, Rng};

/// `bags` bags of one to seven instances, alternately of class "0" and "1", with attributes of noise.
fn noise(bags: usize, width: usize, seed: u64) -> Dataset {
    let sizes: Vec<usize> = (0..bags).map(|b| 1 + (b / 2 * 5) % 7).collect();
    let mut rng = Rng::new(seed, "inspect", &[]);
    let rows = sizes.iter().map(|s| vec![0.0; s * width]).map(|mut bag| {
        bag.iter_mut().for_each(|v| *v = 10.0 * rng.normal());
        bag
    });
    let data: Vec<f64> = rows.flatten().collect();
    build(&sizes, width, data)
}

fn build(sizes: &[usize], width: usize, data: Vec<f64>) -> Dataset {
    let offsets = sizes.iter().fold(vec![0], |mut at, s| {
        at.push(at[at.len() - 1] + s);
        at
    });
    let rows = data.len() / width;
    let bags = Bags::new(Instances::F64(Mat::new(rows, width, data)), offsets).unwrap();
    let labels: Vec<&str> = (0..sizes.len()).map(|b| if b % 2 == 0 { "0" } else { "1" }).collect();
    Dataset::new("made-up", bags).with_target(Target::from_labels(&labels)).unwrap()
}

/// The data set with column 0 replaced by a function of (bag, position in the bag, row).
fn with_column(data: &Dataset, value: impl Fn(usize, usize, usize) -> f64) -> Dataset {
    let bags = &data.bags;
    let mut rows = Mat::zeros(bags.instance_count(), bags.width());
    for bag in 0..bags.len() {
        for (i, row) in bags.rows(bag).enumerate() {
            bags.instances().row_into(row, rows.row_mut(row)).unwrap();
            rows.set(row, 0, value(bag, i, row));
        }
    }
    let bags = bags.with_instances(Instances::F64(rows), bags.features().clone()).unwrap();
    Dataset { bags, ..data.clone() }
}

fn inspect(data: &Dataset) -> Inspection {
    super::inspect(data).unwrap()
}

fn kinds(found: &Inspection) -> Vec<&'static str> {
    found.findings.iter().map(|f| f.kind).collect()
}

#[test]
fn honest_data_raise_no_suspicion() {
    for seed in 0..20 {
        let found = inspect(&noise(60, 30, seed));
        assert_eq!(kinds(&found), Vec::<&str>::new(), "seed {seed}: {:#?}", found.findings);
    }
}

#[test]
fn counts_ranges_and_classes_are_those_of_the_data() {
    let data = build(&[1, 3], 2, vec![1.0, 0.0, 2.0, -5.0, 3.0, 0.0, 6.0, 1.0]);
    let found = inspect(&data);
    assert_eq!((found.bags, found.instances, found.attributes), (2, 4, 2));
    assert_eq!(found.classes, [("0".into(), 1), ("1".into(), 1)]);
    assert_eq!(found.range, Some((-5.0, 6.0)));
    assert_eq!(found.zeros, 0.25);
    let first = &found.columns[0];
    assert_eq!((first.min, first.max, first.mean), (Some(1.0), Some(6.0), Some(3.0)));
    // Deviations -2, -1, 0, 3: variance 14 / 4.
    assert!((first.sd.unwrap() - 3.5f64.sqrt()).abs() < 1e-15);
    let sizes = &found.bag_sizes.spread;
    assert_eq!((sizes.min, sizes.median, sizes.mean, sizes.max), (1.0, 2.0, 2.0, 3.0));
}

#[test]
fn json_has_counts_first_and_classes_as_an_object_in_order() {
    let json = serde_json::to_string(&inspect(&noise(60, 3, 1))).unwrap();
    assert!(
        json.starts_with(r#"{"data":"made-up","bags":60,"instances":"#)
            && json.contains(r#""attributes":3,"classes":{"0":30,"1":30}"#),
        "{json}"
    );
}

#[test]
fn a_column_that_gives_the_label_away_is_named() {
    let data = noise(40, 4, 3);
    let revealed = |value: &dyn Fn(usize, usize, usize) -> f64| {
        let found = inspect(&with_column(&data, value));
        assert!(found.columns[1..].iter().all(|c| c.reveals_label.is_none()));
        let reported = kinds(&found).contains(&"reveals_label");
        assert_eq!(reported, found.columns[0].reveals_label.is_some());
        found.columns[0].reveals_label
    };
    assert_eq!(revealed(&|bag, _, _| (bag % 2) as f64), Some(Reveals::Equals));
    assert_eq!(revealed(&|bag, _, _| (bag % 6) as f64), Some(Reveals::Determines));
    // An instance label by another name: one positive instance in each positive bag.
    assert_eq!(revealed(&|bag, i, _| f64::from(bag % 2 == 1 && i == 0)), Some(Reveals::Largest));
    assert_eq!(
        revealed(&|bag, i, r| if i == 0 { -((bag % 2) as f64) } else { r as f64 }),
        Some(Reveals::Smallest)
    );
    // One bag off, and it may be an ordinary good attribute.
    assert_eq!(revealed(&|bag, _, _| if bag == 7 { 0.0 } else { (bag % 2) as f64 }), None);
    // A bag's own value, different for all: says nothing.
    assert_eq!(revealed(&|bag, _, _| (bag as f64 * 0.37).sin()), None);
}

#[test]
fn a_column_that_nearly_gives_the_label_away_is_named_with_its_share() {
    let data = noise(40, 4, 3);
    let share = |data: &Dataset, value: &dyn Fn(usize, usize, usize) -> f64| {
        let found = inspect(&with_column(data, value));
        assert!(found.columns[1..].iter().all(|c| c.predicts_label.is_none()));
        assert_eq!(kinds(&found).contains(&"predicts_label"), found.columns[0].predicts_label.is_some());
        found.columns[0].predicts_label
    };
    let wrong =
        |most: usize| move |bag: usize, _: usize, _: usize| ((bag + usize::from(bag < most)) % 2) as f64;
    assert_eq!(share(&data, &wrong(1)), Some(0.975));
    assert_eq!(share(&data, &wrong(2)), Some(0.95));
    assert_eq!(share(&data, &wrong(3)), None);
    // Either direction, by the mean in the bag, and by values that have no order.
    assert_eq!(share(&data, &|bag, i, r| 9.0 - wrong(1)(bag, i, r) + 1e-3 * r as f64), Some(0.975));
    assert_eq!(
        share(&data, &|bag, i, r| [3.0, 2.0, 5.0, 4.0][(bag / 2 % 2) * 2 + wrong(1)(bag, i, r) as usize]),
        Some(0.975)
    );
    // Of 40 bags, 2 are of class 1: one of them and all others are right, which is 97.5% and no news.
    let rare = |codes: &dyn Fn(usize) -> bool| {
        let labels: Vec<&str> = (0..40).map(|b| if codes(b) { "1" } else { "0" }).collect();
        Dataset { target: Some(Target::from_labels(&labels)), ..data.clone() }
    };
    assert_eq!(share(&rare(&|b| b < 2), &|bag, _, _| f64::from(bag < 1)), None);
    // Twelve bags and a slip are chance among many columns.
    let few = noise(12, 2000, 3);
    assert_eq!(inspect(&with_column(&few, wrong(0))).columns[0].predicts_label, None);
    let y: Vec<f64> = (0..40).map(|b| (b as f64 * 1.7).sin()).collect();
    let real = Dataset { target: Some(Target::Values(y.clone())), ..data };
    let explained = share(&real, &|bag, i, _| 3.0 * y[bag] + 0.1 * ((bag + i) as f64 * 2.3).cos()).unwrap();
    assert!((0.99..1.0).contains(&explained), "{explained}");
    assert_eq!(share(&real, &|bag, i, _| y[bag] + 0.4 * ((bag + i) as f64 * 2.3).cos()), None);
}

#[test]
fn no_attribute_of_the_data_that_come_with_us_is_accused() {
    let data = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../data");
    for name in ["musk1", "musk2", "elephant", "protein", "image1000"] {
        let path = data.join(format!("{name}.csv.gz"));
        let found = inspect(&bagwise_io::read(path.to_str().unwrap(), &Default::default()).unwrap());
        let accused = |f: &&Finding| ["predicts_label", "reveals_label", "related_bags"].contains(&f.kind);
        assert_eq!(found.findings.iter().find(accused), None, "{name}");
    }
}

#[test]
fn a_code_for_a_missing_value_is_named() {
    let data = noise(40, 4, 3);
    let code = |value: &dyn Fn(usize, usize, usize) -> f64| {
        let found = inspect(&with_column(&data, value));
        assert!(found.columns[1..].iter().all(|c| c.code.is_none()));
        assert_eq!(kinds(&found).contains(&"missing_code"), found.columns[0].code.is_some());
        found.columns[0].code
    };
    let wave = |row: usize| 20.0 + (row as f64).sin();
    assert_eq!(code(&|_, _, r| if r % 9 == 0 { -999.0 } else { wave(r) }), Some(-999.0));
    assert_eq!(code(&|_, _, r| if r % 9 == 0 { 9999.0 } else { wave(r) }), Some(9999.0));
    // Once may be an outlier, -7 is no code, 99 is near 80, and two values in all may be meant.
    assert_eq!(code(&|_, _, r| if r == 9 { -999.0 } else { wave(r) }), None);
    assert_eq!(code(&|_, _, r| if r % 9 == 0 { -7.0 } else { wave(r) / 100.0 }), None);
    assert_eq!(code(&|_, _, r| if r % 9 == 0 { 99.0 } else { (r % 81) as f64 }), None);
    assert_eq!(code(&|_, _, r| if r % 9 == 0 { 999.0 } else { 0.0 }), None);
    assert_eq!(code(&|_, _, _| 999.0), None);
}

#[test]
fn learning_is_warned_of_ids_and_of_copies_that_may_be_split() {
    let said =
        |data: &Dataset| -> Vec<&str> { cautions(data, None).unwrap().iter().map(|f| f.kind).collect() };
    let honest = noise(40, 4, 3);
    assert_eq!(said(&honest), Vec::<&str>::new());
    assert_eq!(said(&with_column(&honest, |_, _, r| r as f64)), ["looks_like_id"]);
    // Every bag twice, one after the other.
    let bags: Vec<usize> = (0..80).map(|b| b / 2).collect();
    let twice = honest.select(&bags);
    assert_eq!(said(&twice), ["duplicate_bags"]);
    let grouped = |by: usize| {
        let names: Vec<String> = (0..80).map(|b| format!("g{}", b / by)).collect();
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        Dataset { groups: Some(Groups::from_names(&names)), ..twice.clone() }
    };
    assert_eq!(said(&grouped(2)), Vec::<&str>::new());
    assert_eq!(said(&grouped(1)), ["duplicate_bags"]);
}

#[test]
fn few_bags_separate_by_chance_and_are_not_accused() {
    // 6 bags and 200 attributes: some column separates them, as one in ten does by chance.
    let found = inspect(&noise(6, 200, 5));
    assert!(found.columns.iter().all(|c| c.reveals_label.is_none()));
}

#[test]
fn a_multiple_of_a_real_target_is_named() {
    let data = noise(30, 3, 4);
    let y: Vec<f64> = (0..30).map(|b| (b as f64 * 1.7).sin()).collect();
    let data = Dataset { target: Some(Target::Values(y.clone())), ..data };
    let found = inspect(&with_column(&data, |bag, _, _| 3.0 - 2.0 * y[bag]));
    assert_eq!(found.columns[0].reveals_label, Some(Reveals::Equals));
    assert!(found.classes.is_empty() && found.target.is_some());
    assert!(inspect(&data).columns[0].reveals_label.is_none());
}

#[test]
fn a_target_in_units_that_parameters_are_not_made_for_is_named() {
    let of = |unit: f64| {
        let y = (0..30).map(|b| unit * (b as f64 * 1.7).sin()).collect();
        let data = Dataset { target: Some(Target::Values(y)), ..noise(30, 3, 4) };
        let said: Vec<&str> = cautions(&data, None).unwrap().iter().map(|f| f.kind).collect();
        assert_eq!(inspect(&data).findings.iter().any(|f| f.kind == "target_units"), !said.is_empty());
        said
    };
    assert_eq!(of(1.0), Vec::<&str>::new());
    assert_eq!(of(100.0), Vec::<&str>::new());
    for unit in [1e-3, 1e6] {
        assert_eq!(of(unit), ["target_units"]);
    }
}

#[test]
fn what_is_derived_from_a_real_target_is_named() {
    let data = noise(40, 3, 4);
    let y: Vec<f64> = (0..40).map(|b| (b as f64 * 1.7).sin()).collect();
    let data = Dataset { target: Some(Target::Values(y.clone())), ..data };
    let revealed = |value: &dyn Fn(usize, usize, usize) -> f64| {
        inspect(&with_column(&data, value)).columns[0].reveals_label
    };
    // A label made from it by a threshold, or in steps; a curve of it; a value that one instance of the bag has.
    assert_eq!(revealed(&|bag, _, _| f64::from(u8::from(y[bag] > 0.3))), Some(Reveals::Determines));
    assert_eq!(revealed(&|bag, _, _| (3.0 * y[bag]).floor()), Some(Reveals::Determines));
    assert_eq!(revealed(&|bag, _, _| -(2.0 * y[bag]).exp()), Some(Reveals::Determines));
    assert_eq!(revealed(&|bag, i, _| y[bag].exp() - i as f64), Some(Reveals::Largest));
    assert_eq!(revealed(&|bag, i, _| y[bag] + 2.0 * i as f64), Some(Reveals::Smallest));
    // What only follows the target is a good attribute, and a class that hardly any bag has says nothing.
    assert_eq!(revealed(&|bag, _, _| y[bag] + 0.2 * (bag as f64 * 2.3).cos()), None);
    assert_eq!(revealed(&|bag, _, _| f64::from(u8::from(y[bag] > 0.99))), None);
}

#[test]
fn numbers_that_were_given_are_told_from_measurements() {
    let data = noise(60, 3, 6);
    let looks = |value: &dyn Fn(usize, usize, usize) -> f64| {
        inspect(&with_column(&data, value)).columns[0].looks_like
    };
    assert_eq!(looks(&|_, _, row| row as f64 + 1.0), Some(LooksLike::RowNumber));
    assert_eq!(looks(&|_, i, _| i as f64), Some(LooksLike::InstanceNumber));
    assert_eq!(looks(&|bag, _, _| ((bag * 37) % 101) as f64), Some(LooksLike::BagId));
    assert_eq!(looks(&|_, _, row| ((row * 7919) % 100_003) as f64), Some(LooksLike::InstanceId));
    assert_eq!(looks(&|_, _, row| ((row * 7919) % 103) as f64), None);
    assert_eq!(looks(&|bag, _, _| (bag / 2) as f64), None);
    assert_eq!(looks(&|_, _, row| row as f64 + 0.5), None);
}

#[test]
fn a_size_that_predicts_the_label_is_reported_with_its_area() {
    let sizes: Vec<usize> = (0..40).map(|b| if b % 2 == 1 { 4 + b % 3 } else { 1 + b % 4 }).collect();
    let total: usize = sizes.iter().sum();
    let mut rng = Rng::new(1, "inspect", &[]);
    let found = inspect(&build(&sizes, 2, (0..2 * total).map(|_| rng.normal()).collect()));
    let predicts = found.bag_sizes.predicts.as_ref().unwrap();
    assert_eq!((predicts.class.as_str(), predicts.auc), ("1", 1.0));
    assert!(kinds(&found).contains(&"size_predicts"));
}

#[test]
fn the_area_counts_ties_half_and_knows_its_error() {
    let (area, z) = auc(&[1.0, 2.0, 2.0, 3.0], &[false, false, true, true]).unwrap();
    assert_eq!(area, 0.875); // 3 pairs right, 1 tie
    // n = 4, one pair tied: variance (5 - 6 / 12) / (12 * 4).
    assert!((z - 0.375 / (4.5f64 / 48.0).sqrt()).abs() < 1e-12);
    assert_eq!(auc(&[1.0, 1.0], &[false, true]), None);
    assert_eq!(auc(&[1.0, 2.0], &[true, true]), None);
}

#[test]
fn repetitions_are_counted_within_and_across_bags() {
    // Bags: {a, a}, {b, a} of the other class, {b, a} reordered (class of the first), {c}.
    let (a, b, c) = ([1.0, 2.0], [-0.0, 5.0], [9.0, 9.0]);
    let rows = [a, a, b, a, a, [0.0, 5.0], c].concat();
    let found = inspect(&build(&[2, 2, 2, 1], 2, rows)).duplicates;
    assert_eq!(found.instances, 4);
    assert_eq!(found.within_bags, 1);
    assert_eq!(found.across_labels, 2);
    assert_eq!(found.bags, 1);
    assert_eq!(found.clashing_bags, [("3".to_string(), "2".to_string())]);
}

#[test]
fn ten_thousand_equal_rows_take_no_time() {
    let found = inspect(&build(&[10_000, 10_000], 3, vec![0.0; 60_000]));
    assert_eq!((found.duplicates.instances, found.duplicates.bags), (19_999, 1));
    assert_eq!(found.constant, ["f1", "f2", "f3"]);
    assert_eq!(found.scaling.name, "none");
}

#[test]
fn every_storage_gives_the_same_findings() {
    let sizes: Vec<usize> = (0..30).map(|b| 1 + b % 3).collect();
    let rows: usize = sizes.iter().sum();
    let mut rng = Rng::new(2, "inspect", &[]);
    let values: Vec<f64> =
        (0..rows * 70).map(|_| if rng.below(4) == 0 { rng.below(9) as f64 } else { 0.0 }).collect();
    let dense = build(&sizes, 70, values.clone());
    let mut csr = Csr::empty(70);
    for row in values.chunks(70) {
        csr.push_row(row.iter().enumerate().map(|(i, &v)| (i as u32, v)));
    }
    let single = Mat::new(rows, 70, values.iter().map(|&v| v as f32).collect());
    let want = inspect(&dense);
    for instances in [Instances::Sparse(csr), Instances::F32(single)] {
        let bags = Bags::new(instances, dense.bags.offsets().to_vec()).unwrap();
        let got = inspect(&Dataset { bags, ..dense.clone() });
        assert_eq!(got.columns, want.columns);
        assert_eq!(got.duplicates, want.duplicates);
        assert_eq!(got.findings, want.findings);
    }
}

#[test]
fn sizes_fall_into_bins_that_cover_them_once() {
    let cases: [&[usize]; 4] = [&[1, 2, 2, 9], &[100, 140, 200, 333], &[1, 5, 1044, 16, 31, 32], &[7]];
    for sizes in cases {
        let bins = histogram(sizes);
        assert_eq!(bins.iter().map(|b| b.bags).sum::<usize>(), sizes.len(), "{bins:?}");
        assert!(bins.windows(2).all(|w| w[0].to + 1 == w[1].from) && bins.len() <= 11, "{bins:?}");
        assert_eq!(
            (bins[0].from, bins[bins.len() - 1].to),
            (*sizes.iter().min().unwrap(), *sizes.iter().max().unwrap())
        );
    }
    let doubling = histogram(&[1, 5, 1044]);
    assert_eq!((doubling[2].from, doubling[2].to, doubling[2].bags), (4, 7, 1));
}

#[test]
fn labels_groups_and_shape_are_judged() {
    let data = noise(60, 80, 7);
    assert_eq!(kinds(&inspect(&data)), ["wide"]);
    let one = Dataset { target: Some(Target::from_labels(&["x"; 60])), ..noise(60, 3, 7) };
    assert_eq!(kinds(&inspect(&one)), ["one_class"]);
    let none = Dataset { target: None, ..noise(60, 3, 7) };
    assert_eq!(kinds(&inspect(&none)), ["no_labels"]);
    let ids: Vec<String> = (0..60).map(|b| format!("m{b}")).collect();
    let many = Dataset { target: Some(Target::from_labels(&ids)), ..noise(60, 3, 7) };
    assert_eq!(kinds(&inspect(&many)), ["many_classes"]);

    let grouped = |name: &dyn Fn(usize) -> usize| {
        let names: Vec<String> = (0..60).map(|b| name(b).to_string()).collect();
        inspect(&noise(60, 3, 7).with_groups(Groups::from_names(&names)).unwrap())
    };
    assert_eq!(kinds(&grouped(&|b| b / 4)), ["mixed_groups"]);
    assert_eq!(
        grouped(&|b| b / 4).groups,
        Some(GroupSummary { count: 15, largest: 4, mixed: 15, of_class: vec![15, 15] })
    );
    // Classes 0, 1, 0 in a group: mixed although the last is as the first.
    assert_eq!(
        grouped(&|b| b / 3).groups,
        Some(GroupSummary { count: 20, largest: 3, mixed: 20, of_class: vec![20, 20] })
    );
    // Three groups of a class are few; six are as many as patients of a small study.
    let level = |found: Inspection| found.findings.iter().map(|f| (f.kind, f.level)).collect::<Vec<_>>();
    assert_eq!(level(grouped(&|b| b % 6)), [("pure_groups", Severity::Warning)]);
    assert_eq!(level(grouped(&|b| b % 12)), [("pure_groups", Severity::Note)]);
    assert_eq!(kinds(&grouped(&|_| 0)), ["one_group"]);
    assert_eq!(kinds(&grouped(&|b| b)), ["groups_are_bags"]);
}

#[test]
fn missing_values_and_categories_are_counted_apart() {
    let rows = Mat::from_rows(&[[1.0, 0.0], [f64::NAN, 1.0], [3.0, 0.0]]);
    let features = [
        Feature::numeric("size"),
        Feature {
            name: "colour".into(),
            kind: FeatureKind::Categorical { values: vec!["red".into(), "blue".into()] },
        },
    ];
    let bags = Bags::with_missing(Instances::F64(rows), vec![0, 2, 3])
        .unwrap()
        .with_features(features.into())
        .unwrap();
    let mut data = Dataset::new("t", bags);
    data.kept.push(CarriedColumn { name: "note".into(), values: vec![String::new(); 3] });
    data.instance_labels = Some(vec!["1".into(), "0".into(), "0".into()]);
    let found = inspect(&data);
    assert_eq!((found.numeric, found.categorical, found.missing), (1, 1, 1));
    assert_eq!((found.columns[0].mean, found.columns[1].mean), (Some(2.0), None));
    assert_eq!(found.columns[1].categories, Some(2));
    assert_eq!(found.kept, ["note"]);
    assert_eq!(found.instance_labels, [("0".into(), 2), ("1".into(), 1)]);
    assert!(kinds(&found).contains(&"missing"));
}

#[test]
fn the_scaling_follows_the_ranges() {
    let scaled = |value: &dyn Fn(f64) -> f64| {
        let mut rng = Rng::new(9, "inspect", &[]);
        let data: Vec<f64> = (0..400).map(|_| value(rng.normal())).collect();
        inspect(&build(&[50, 50], 4, data)).scaling.name
    };
    assert_eq!(scaled(&|v| v), "none");
    // One attribute of four has another unit.
    let mut rng = Rng::new(9, "inspect", &[]);
    let unit = |(i, v): (usize, f64)| if i % 4 == 3 { 350.0 + 50.0 * v } else { v };
    let mixed: Vec<f64> = (0..400).map(|_| rng.normal()).enumerate().map(unit).collect();
    assert_eq!(inspect(&build(&[50, 50], 4, mixed)).scaling.name, "minmax");
    assert_eq!(scaled(&|v| v.sin()), "none");
    assert_eq!(scaled(&|v| 100.0 + 30.0 * v), "minmax");
    assert_eq!(scaled(&|v| (3.0 * v).exp() * 1e3), "minmax");
    assert_eq!(scaled(&|v| if v > 0.3 { v } else { 0.0 }), "maxabs");
    // One row of 400 far out: 20 deviations.
    let mut far = vec![0.0; 4 * 400];
    for (i, v) in far.iter_mut().enumerate() {
        *v = 5.0 + (i as f64).sin();
    }
    far[..4].fill(1e6);
    assert_eq!(inspect(&build(&[200, 200], 4, far)).scaling.name, "zscore");
}
