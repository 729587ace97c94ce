//! Model files from strangers: headers that are well-formed JSON and still lie. (Random damage is in
//! `conformance.rs`; here every lie is a deliberate one, and each must be refused, not believed.)

use bagwise::evaluate::{Metric, Splits};
use bagwise::learn::{Learner, Setup};
use bagwise::methods;
use bagwise::model::{Trained, pack, unpack};
use bagwise::multiclass::Scheme;
use bagwise::params::{Fill, Grid};
use bagwise::preprocess::Scale;
use bagwise::train::{Wanted, train};
use bagwise::{Bags, Ctx, Dataset, Feature, FeatureKind, Instances, Mat, Target};
use serde_json::{Value, json};

/// Eight bags with a number, a category and, once, a missing value.
fn data(target: Target) -> Dataset {
    let rows: Vec<[f64; 2]> = (0..16)
        .map(|i| {
            let x = if i == 3 { f64::NAN } else { f64::from(i % 5) };
            [x, f64::from(i % 3)]
        })
        .collect();
    let categories = FeatureKind::Categorical { values: vec!["a".into(), "b".into(), "c".into()] };
    let features = [Feature::numeric("x"), Feature { name: "z".into(), kind: categories }];
    let bags =
        Bags::with_missing(Instances::F64(Mat::from_rows(&rows)), (0..=8).map(|b| 2 * b).collect()).unwrap();
    let bags = bags.with_features(features.into()).unwrap();
    Dataset::new("mixed", bags).with_target(target).unwrap()
}

fn model(method: &str, data: &Dataset) -> Vec<u8> {
    let method = methods::find(method).unwrap();
    let regression = matches!(data.target, Some(Target::Values(_)));
    let setup = Setup {
        method,
        grid: Grid::new(method.info().name, method.params(), &[], Fill::Default, regression).unwrap(),
        scale: Scale::MinMax,
        scheme: Scheme::OneVsOne,
        balanced: false,
        impute: true,
    };
    let metric = if regression { Metric::Mse } else { Metric::Accuracy };
    let learners = [Learner::new(data, &setup, None).unwrap()];
    let wanted = Wanted::by(metric);
    let all: Vec<usize> = (0..data.bags.len()).collect();
    train(&learners, &all, Splits::KFold(2), &wanted, &Ctx::default()).unwrap().to_bytes().unwrap()
}

/// The same file with another header, and the checksum that belongs to it.
fn with_header(bytes: &[u8], change: impl FnOnce(&mut Value)) -> Vec<u8> {
    let (header, state) = unpack(bytes).unwrap();
    let mut header: Value = serde_json::from_str(&header).unwrap();
    change(&mut header);
    pack(&header.to_string(), state).unwrap()
}

fn classes() -> Dataset {
    data(Target::from_labels(&["p", "q", "p", "q", "p", "q", "p", "q"]))
}

fn values() -> Dataset {
    data(Target::Values(vec![0.1, 0.9, 0.2, 0.8, 0.3, 0.7, 0.4, 0.6]))
}

#[test]
fn categories_and_gaps_survive_saving() {
    for data in [classes(), values()] {
        for method in ["mi-kernel", "migraph", "wmksvm", "simple-mi", "migraph-explicit", "majority"] {
            let bytes = model(method, &data);
            let same = with_header(&bytes, |_| {});
            let before = Trained::from_bytes(&bytes).unwrap().predict(&data.bags, &Ctx::default()).unwrap();
            let after = Trained::from_bytes(&same).unwrap().predict(&data.bags, &Ctx::default()).unwrap();
            assert_eq!(before, after, "{method}");
            assert!(before.iter().all(|p| p.outputs[0].is_finite()), "{method}");
        }
    }
}

#[test]
fn a_header_that_lies_is_refused() {
    type Lie = (&'static str, fn(&mut Value));
    let lies: &[Lie] = &[
        ("no upper ends", |h| h["familiarity"]["high"] = json!([])),
        ("no lower ends", |h| h["familiarity"]["low"] = json!([])),
        ("a category table with short rows", |h| {
            h["transform"]["columns"][1]["category"]["table"][0] = json!([])
        }),
        ("a category without columns", |h| h["transform"]["columns"][1]["category"]["names"] = json!([])),
        ("one column too few", |h| h["transform"]["columns"] = json!([])),
        ("no features", |h| h["features"] = json!([])),
        ("no machines", |h| h["duels"] = json!([])),
        ("a machine too many", |h| {
            let duel = h["duels"][0].clone();
            h["duels"] = json!([duel, duel]);
        }),
        ("a class that does not exist", |h| h["duels"][0]["plus"] = json!(77)),
        ("an opponent that does not exist", |h| h["duels"][0]["minus"] = json!(77)),
        ("one class", |h| h["classes"] = json!(["p"])),
        ("an unknown method", |h| h["method"] = json!("nonsense")),
        ("a parameter out of range", |h| h["parameters"]["c"] = json!(-1)),
        ("a parameter of another method", |h| h["parameters"]["nonsense"] = json!(1)),
        ("no parameters", |h| h["parameters"] = json!({})),
        ("a newer format", |h| h["format"] = json!(2)),
        ("a format that is no number", |h| h["format"] = json!("one")),
    ];
    for data in [classes(), values()] {
        let bytes = model("mi-kernel", &data);
        for (what, lie) in lies {
            let lied = with_header(&bytes, lie);
            // With real values there are no classes for a machine to miss: an opponent of any kind is the lie.
            let error = Trained::from_bytes(&lied).err();
            assert!(error.is_some(), "{what}: believed");
        }
    }
    let opponent = with_header(&model("mi-kernel", &values()), |h| h["duels"][0]["minus"] = json!(0));
    assert!(Trained::from_bytes(&opponent).is_err(), "numbers have no opponent");
}
