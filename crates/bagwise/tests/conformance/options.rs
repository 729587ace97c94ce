//! The promises once more, for options that are not defaults and that another way of computing stands behind: other kernels of
//! instances, the distance for text, other label kernels, other codebooks, other poolings of a network.

use std::ops::Range;
use std::sync::Arc;

use bagwise::fold::ResolvedConfig;
use bagwise::method::{Explanation, Method};
use bagwise::methods::{self, METHODS};
use bagwise::model::Model;
use bagwise::params::WhenUnset;
use bagwise::preprocess::Scale;
use bagwise::{Bags, Csr, Ctx, Dataset, Instances, Mat, Result, RowSource, Stored, Target};

use super::toys::{all, can_learn, fit, setup, toy, toy_values};

/// Each with the part of what `toy` shows that it can learn: words are present or absent there, in no useful way.
const OPTIONS: &[&[(&str, &str)]] = &[
    &[("kernel", "linear")],
    &[("kernel", "linear"), ("norm", "none")],
    &[("kernel", "poly"), ("degree", "3")],
    &[("kernel", "poly"), ("dist", "rkhs")],
    &[("kernel", "linear"), ("dist", "rkhs")],
    &[("distance", "text")],
    &[("distance", "text"), ("dist", "sq"), ("norm", "sqrt")],
    &[("label-kernel", "both")],
    &[("hypotheses", "best")],
    &[("label-kernel", "linear"), ("hypotheses", "best")],
    &[("rank", "max"), ("citers", "0")],
    &[("criterion", "entropy"), ("rounds", "10")],
    &[("combine", "geometric")],
    &[("combine", "max")],
    // Of one centre: differences from the means of clusters that are the classes would be noise.
    &[("centres", "1"), ("energy", "1"), ("norm", "none")],
    &[("centres", "1"), ("energy", "8/10")],
    &[("centres", "12"), ("assign", "hard"), ("power", "1/2")],
    &[("centres", "6"), ("assign", "soft")],
    &[("combine", "mean")],
    &[("prototypes", "20")],
    &[("depth", "2"), ("leaf", "3")],
    &[("pool", "gated"), ("batch", "7"), ("rate", "0.01")],
    &[("pool", "mean"), ("layers", "2"), ("rate", "0.01"), ("steps", "60")],
    &[("pool", "max"), ("restarts", "2"), ("rate", "0.01"), ("steps", "60")],
    &[("pool", "lse"), ("rate", "0.01"), ("steps", "60")],
    &[("pool", "instance"), ("restarts", "2"), ("rate", "0.01"), ("steps", "60")],
    &[("pool", "instance"), ("loss", "bp"), ("rate", "0.02"), ("decay", "0")],
    &[("member", "mi-svm"), ("draws", "3")],
    &[("members", "mi-svm,simple-mi,mi-kernel"), ("folds", "3")],
];

/// Methods that have all these parameters, and take these values; only one of them if `BAGWISE_METHOD` names it.
fn variants(data: &Dataset) -> Vec<(&'static dyn Method, Vec<(&'static str, &'static str)>)> {
    let regression = matches!(data.target, Some(Target::Values(_)));
    let takes = |method: &dyn Method, name: &str, value: &str| {
        // Members must be able to learn what they are to be combined for.
        let able = |member: &str| methods::find(member).is_ok_and(|m| can_learn(m, data));
        if name.starts_with("member") && !value.split(',').all(able) {
            return false;
        }
        let given = [(name.to_string(), value.to_string())];
        bagwise::params::Grid::new("", method.params(), &given, WhenUnset::Default, regression).is_ok()
    };
    let named = std::env::var("BAGWISE_METHOD").ok();
    let mut found = Vec::new();
    for options in OPTIONS {
        // The isolation set-kernel's own tests try its distances.
        let able = METHODS.iter().filter(|m| m.info().name != "isk" && can_learn(**m, data));
        let able = able.filter(|m| named.as_ref().is_none_or(|name| name == m.info().name));
        for method in able.filter(|m| options.iter().all(|(name, value)| takes(**m, name, value))) {
            found.push((*method, options.to_vec()));
        }
    }
    assert!(found.len() >= 10 || named.is_some(), "{} variants", found.len());
    found
}

fn configured(method: &'static dyn Method, options: &[(&str, &str)], data: &Dataset) -> ResolvedConfig {
    let given: Vec<(&str, &str)> =
        options.iter().copied().chain([("gamma", "0.5/median,2/median"), ("c", "1,10")]).collect();
    let setup = setup(method, &given, WhenUnset::Default, data);
    let scale = method.scale(&setup.grid.points);
    assert!(method.refuses(&setup.grid.points, scale).is_none());
    ResolvedConfig { scale, ..setup }
}

fn outputs(model: &Model, bags: &Bags) -> Vec<f64> {
    model.predict_with(bags, &Ctx::default()).unwrap().iter().flat_map(|p| p.outputs.clone()).collect()
}

#[test]
fn models_survive_saving_and_explanations_add_up() {
    for data in [toy(24, 2, 3), toy(24, 3, 3), toy_values(24, 3)] {
        let new = toy(12, 2, 5).bags;
        for (method, options) in variants(&data) {
            let what = format!("{} {options:?}", method.info().name);
            let model = fit(&configured(method, &options, &data), &data, &all(&data));
            let bytes = model.to_bytes().unwrap();
            let loaded = Model::from_bytes(&bytes).unwrap_or_else(|e| panic!("{what}: {e}"));
            assert_eq!(outputs(&loaded, &new), outputs(&model, &new), "{what}");
            assert_eq!(loaded.to_bytes().unwrap(), bytes, "{what}: saving is not stable");
            let predictions = model.predict_with(&new, &Ctx::default()).unwrap();
            let Ok(explanations) = model.explain_with(&new, &Ctx::default()) else {
                assert_ne!(method.info().explains, bagwise::method::Explains::Additive, "{what}");
                continue;
            };
            for (p, machines) in predictions.iter().zip(explanations) {
                for (value, explanation) in p.outputs.iter().zip(machines) {
                    let sum = match explanation {
                        Explanation::Additive { bias, parts } => bias + parts.iter().sum::<f64>(),
                        Explanation::Witness { outputs, chosen } => outputs[chosen],
                    };
                    // Coefficients up to 10 on polynomials up to some thousand, in another order.
                    assert!((sum - value).abs() < 1e-8, "{what}: {sum} and {value}");
                }
            }
        }
    }
}

#[test]
fn separable_bags_are_separated() {
    let (data, new) = (toy(30, 2, 1), toy(60, 2, 2));
    let Some(Target::Classes { codes, names }) = &new.target else { unreachable!() };
    for (method, options) in variants(&data) {
        let model = fit(&configured(method, &options, &data), &data, &all(&data));
        let predictions = model.predict_with(&new.bags, &Ctx::default()).unwrap();
        let wrong =
            predictions.iter().zip(codes).filter(|(p, c)| p.label.as_ref() != Some(&names[**c as usize]));
        let wrong = wrong.count();
        // A tenth: sil gives every instance the label of its bag, which a linear machine cannot undo.
        assert!(wrong <= 6, "{} {options:?}: {wrong} of 60 wrong", method.info().name);
    }
}

/// Rows outside memory, as they are.
struct Elsewhere(Mat);

impl RowSource for Elsewhere {
    fn kind(&self) -> &'static str {
        "elsewhere"
    }
    fn rows(&self) -> usize {
        self.0.rows()
    }
    fn cols(&self) -> usize {
        self.0.cols()
    }
    fn bytes(&self) -> u64 {
        8 * self.0.data().len() as u64
    }
    fn is_single(&self) -> bool {
        false
    }
    fn read_f32(&self, rows: Range<usize>, out: &mut [f32]) -> Result<()> {
        let values = &self.0.data()[rows.start * self.cols()..rows.end * self.cols()];
        out.iter_mut().zip(values).for_each(|(o, &v)| *o = v as f32);
        Ok(())
    }
    fn read_f64(&self, rows: Range<usize>, out: &mut [f64]) -> Result<()> {
        out.copy_from_slice(&self.0.data()[rows.start * self.cols()..rows.end * self.cols()]);
        Ok(())
    }
}

#[test]
fn order_storage_and_test_bags_change_nothing() {
    let data = toy(20, 2, 8);
    let Instances::F64(dense) = data.bags.instances() else { unreachable!() };
    // Values that single precision holds exactly, a third of them zeros, so that the storages hold the same numbers.
    let exact: Vec<f64> = (dense.data().iter().enumerate())
        .map(|(i, v)| if i % 3 == 0 { 0.0 } else { f64::from((v * 64.0).round() as f32 / 64.0) })
        .collect();
    let (rows, cols) = (dense.rows(), dense.cols());
    let mut csr = Csr::empty(cols);
    for row in exact.chunks(cols) {
        csr.push_row(row.iter().enumerate().map(|(j, &v)| (j as u32, v)));
    }
    let whole = Mat::new(rows, cols, exact.clone());
    let storages = [
        Instances::F64(whole.clone()),
        Instances::F32(Mat::new(rows, cols, exact.iter().map(|&v| v as f32).collect())),
        Instances::Sparse(csr),
        Instances::Stored(Stored::new(Arc::new(Elsewhere(whole)))),
    ];
    let train: Vec<usize> = (0..16).collect();
    for (method, options) in variants(&data) {
        let what = format!("{} {options:?}", method.info().name);
        let setup = ResolvedConfig { scale: Scale::None, ..configured(method, &options, &data) };
        let models: Vec<Model> = storages
            .iter()
            .map(|instances| {
                let bags = Bags::new(instances.clone(), data.bags.offsets().to_vec()).unwrap();
                fit(&setup, &Dataset { bags, ..data.clone() }, &train)
            })
            .collect();
        let bags = Bags::new(storages[0].clone(), data.bags.offsets().to_vec()).unwrap();
        let straight = outputs(&models[0], &bags);
        for (model, instances) in models.iter().zip(&storages) {
            let same = Bags::new(instances.clone(), data.bags.offsets().to_vec()).unwrap();
            for (a, b) in straight.iter().zip(outputs(model, &same)) {
                // Kernels agree to rounding; the solver stops at 1e-3 and may stop elsewhere by as much.
                assert!((a - b).abs() < 4e-3, "{what}, {}: {a} and {b}", instances.kind());
            }
        }
        // Backwards within every bag.
        let order: Vec<usize> = (0..bags.len()).flat_map(|b| bags.rows(b).rev()).collect();
        let turned = Bags::new(bags.instances().gather(&order), bags.offsets().to_vec()).unwrap();
        for (a, b) in straight.iter().zip(outputs(&models[0], &turned)) {
            assert!((a - b).abs() < 1e-8, "{what}: {a} and {b}");
        }
        // Other test bags, the same model.
        let altered = Dataset { bags: bags.clone(), ..data.clone() }.select(&train);
        let alone = fit(&setup, &altered, &all(&altered));
        assert!(alone.to_bytes().unwrap() == models[0].to_bytes().unwrap(), "{what}: the model changed");
    }
}

#[test]
fn bags_without_length_have_defined_answers() {
    // Sums of instances vanish, and so do inner products with them.
    let rows: Vec<[f64; 2]> =
        (0..12).map(|i| if i < 4 { [0.0, 0.0] } else { [f64::from(i), f64::from(i % 3)] }).collect();
    let bags = Bags::new(Instances::F64(Mat::from_rows(&rows)), (0..=6).map(|b| 2 * b).collect()).unwrap();
    let data = Dataset::new("zeros", bags)
        .with_target(Target::from_labels(&["a", "b", "a", "b", "a", "b"]))
        .unwrap();
    for (method, options) in variants(&data) {
        let setup = ResolvedConfig { scale: Scale::None, ..configured(method, &options, &data) };
        let model = fit(&setup, &data, &all(&data));
        let found = outputs(&model, &data.bags);
        assert!(found.iter().all(|v| v.is_finite()), "{} {options:?}: {found:?}", method.info().name);
        let loaded = Model::from_bytes(&model.to_bytes().unwrap()).unwrap();
        assert_eq!(outputs(&loaded, &data.bags), found, "{} {options:?}", method.info().name);
    }
    let method = methods::find("mi-kernel").unwrap();
    let points = configured(method, &[("kernel", "linear")], &data).grid.points;
    let gram = bagwise::gram(method, &points[0], Scale::None, false, &data.bags, None, None, &Ctx::default())
        .unwrap();
    assert_eq!((gram.get(0, 0), gram.get(0, 1), gram.get(0, 2)), (1.0, 0.0, 0.0));
}

#[test]
fn a_distance_that_would_be_ignored_is_refused() {
    let data = toy(8, 2, 1);
    let method = methods::find("mi-kernel").unwrap();
    let of = |given: &[(&str, &str)]| setup(method, given, WhenUnset::Default, &data).grid.points;
    let text = of(&[("distance", "text")]);
    assert_eq!(method.scale(&text), Scale::None);
    assert!(method.refuses(&text, Scale::MinMax).unwrap().to_string().contains("changes zeros"));
    let idle = method.refuses(&of(&[("distance", "text"), ("kernel", "linear")]), Scale::None);
    assert!(idle.unwrap().to_string().contains("kernel=linear uses inner products"));
    assert!(method.refuses(&of(&[("kernel", "linear")]), Scale::MinMax).is_none());
}
