//! Methods over methods: what they report, what they refuse, and members of every kind.

use bagwise::method::Explanation;
use bagwise::prelude::*;
use bagwise::{Bags, Ctx, Groups, Instances, Mat, Rng};

fn data() -> Dataset {
    read("synthetic:gauss?bags=40&features=3").unwrap()
}

fn said<T>(result: bagwise::Result<T>) -> String {
    result.err().expect("refused").to_string()
}

/// Saving changes nothing, and parts add up to the outputs.
fn keeps_its_promises(model: &Model, data: &Dataset, what: &str) {
    let predicted = model.predict(&data.bags).unwrap();
    let loaded = Model::from_bytes(&model.to_bytes().unwrap()).unwrap();
    assert_eq!(loaded.predict(&data.bags).unwrap(), predicted, "{what}");
    assert_eq!(loaded.out_of_bag(), model.out_of_bag(), "{what}");
    for (p, machines) in predicted.iter().zip(model.explain(&data.bags).unwrap()) {
        for (value, explanation) in p.outputs.iter().zip(machines) {
            let Explanation::Additive { bias, parts } = explanation else { panic!("{what}: additive") };
            let sum = bias + parts.iter().sum::<f64>();
            assert!((sum - value).abs() < 1e-9, "{what}: {sum} and {value}");
        }
    }
}

#[test]
fn members_of_every_kind_work() {
    let data = data();
    // Kernels, witnesses, and what learns from labels before training.
    for member in ["mi-kernel", "mi-svm", "mg-acc", "majority"] {
        let model = method("bagging").unwrap().param("member", member).param("draws", 4).fit(&data).unwrap();
        keeps_its_promises(&model, &data, member);
        let [estimate] = model.out_of_bag()[..] else { panic!("{member}: one machine") };
        assert!((0.0..=1.0).contains(&estimate), "{member}: {estimate}");
    }
    for members in ["mi-kernel,mi-svm", "isk,mg-acc", "mi-kernel"] {
        let stacking = method("stacking").unwrap().param("members", members).param("folds", 3);
        keeps_its_promises(&stacking.fit(&data).unwrap(), &data, members);
    }
    // A member that cannot explain itself cannot be added up.
    let silent = method("bagging").unwrap().param("member", "dd-svm").param("draws", 2).fit(&data).unwrap();
    assert!(silent.predict(&data.bags).is_ok());
    assert!(said(silent.explain(&data.bags)).contains("dd-svm cannot explain by instance"));
    let silent = method("stacking").unwrap().param("members", "simple-mi,mg-acc").fit(&data).unwrap();
    assert!(silent.predict(&data.bags).is_ok());
    assert!(said(silent.explain(&data.bags)).contains("simple-mi can explain by instance only"));
}

/// A rule does not depend on scaling, so one that comes first must not keep it from the others.
#[test]
fn the_first_member_that_needs_scaling_decides_it() {
    let data = data();
    for (members, scale) in [
        ("mi-boost,mi-wrapper", Scale::MinMax),
        ("mil-net,mi-wrapper", Scale::ZScore),
        ("mi-boost,tlc", Scale::None),
    ] {
        let model =
            method("stacking").unwrap().param("members", members).param("folds", 2).fit(&data).unwrap();
        assert_eq!(model.header.transform.scale, scale, "{members}");
    }
}

#[test]
fn what_cannot_be_a_member_is_refused_by_name() {
    let data = data();
    let bagging = |member: &str| said(method("bagging").unwrap().param("member", member).fit(&data));
    assert!(bagging("mi-kernle").contains("did you mean 'mi-kernel'?"), "{}", bagging("mi-kernle"));
    assert!(bagging("stacking").contains("itself a combination of methods"));
    let stacking = |members: &str| said(method("stacking").unwrap().param("members", members).fit(&data));
    assert!(stacking("simple-mi,").contains("members"), "{}", stacking("simple-mi,"));
    assert!(stacking("simple-mi,nothing").contains("nothing"));
    let Some(Target::Classes { codes, .. }) = &data.target else { unreachable!() };
    let values = codes.iter().map(|&c| f64::from(c)).collect();
    let numbers = Dataset { target: Some(Target::Values(values)), ..data.clone() };
    let why = said(method("bagging").unwrap().param("member", "mi-svm").fit(&numbers));
    assert!(why.contains("mi-svm predicts classes"), "{why}");
}

#[test]
fn groups_are_whole_in_draws_and_folds() {
    // Labels are constant per group and otherwise random: only a member that has seen the group of a bag can know its label.
    let mut rng = Rng::new(3, "groups", &[]);
    let (mut rows, mut labels, mut groups) = (Vec::new(), Vec::new(), Vec::new());
    for group in 0..24 {
        let centre: Vec<f64> = (0..6).map(|_| 3.0 * rng.normal()).collect();
        for _ in 0..5 {
            rows.push(centre.iter().map(|c| c + 0.1 * rng.normal()).collect::<Vec<f64>>());
            labels.push((group % 2).to_string());
            groups.push(group.to_string());
        }
    }
    let bags = Bags::new(Instances::F64(Mat::from_rows(&rows)), (0..=rows.len()).collect()).unwrap();
    let plain = Dataset::new("groups", bags).with_target(Target::from_labels(&labels)).unwrap();
    let grouped = plain.clone().with_groups(Groups::from_names(&groups)).unwrap();
    let estimate = |data: &Dataset| {
        let bagging = method("bagging").unwrap().param("member", "mi-kernel");
        bagging.fit(data).unwrap().out_of_bag()[0]
    };
    let (split, whole) = (estimate(&plain), estimate(&grouped));
    assert!(split > 0.95, "split groups give the label away: {split}");
    // 24 groups decide: two standard deviations of chance are 0.2.
    assert!(whole < 0.75, "whole groups must not: {whole}");
    // What members that have not seen a group say of it is worth little, and the machine on top must notice.
    let spread = |data: &Dataset| {
        let stacking = method("stacking").unwrap().param("members", "mi-kernel").param("c", 0.1);
        let predicted = stacking.fit(data).unwrap().predict(&data.bags).unwrap();
        predicted.iter().map(|p| p.outputs[0].abs()).sum::<f64>() / predicted.len() as f64
    };
    assert!(spread(&grouped) < 0.7 * spread(&plain), "{} and {}", spread(&grouped), spread(&plain));
}

#[test]
fn attention_is_shown_where_there_is_any() {
    let data = data();
    let net =
        |pool: &str| method("mil-net").unwrap().param("pool", pool).param("steps", 5).fit(&data).unwrap();
    let shares = net("attention").attention(&data.bags, &Ctx::default()).unwrap();
    for (b, machines) in shares.iter().enumerate() {
        assert_eq!(machines[0].len(), data.bags.rows(b).len());
        assert!((machines[0].iter().sum::<f64>() - 1.0).abs() < 1e-12);
    }
    assert!(net("max").attention(&data.bags, &Ctx::default()).is_err());
    let why = said(method("mil-net").unwrap().param("loss", "bp").param("pool", "max").fit(&data));
    assert!(why.contains("pool=instance"), "{why}");
    let why = said(method("mil-net").unwrap().param("rate", 1e300).fit(&data));
    assert!(why.contains("smaller"), "{why}");
}
