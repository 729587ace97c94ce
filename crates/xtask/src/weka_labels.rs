//! Labels of Weka's classes beside ours, bag by bag: ten folds of Musk1, the same bags for both, at settings that are the same
//! method. Where Weka's scaling is its own, ours is given data that were scaled like that.
//!
//! * `optimal-ball` is MIOptimalBall, both on columns from 0 to 1.
//! * `mi-boost` with 10 rules by entropy is MIBoost with DecisionStump.
//! * `mi-wrapper` is MIWrapper with Logistic -R 1 at `c = N / (2 n)` for N instances in n bags, on columns standardised with
//!   the weights of instances.
//! * `citation-knn` is CitationKNN on columns divided by `1.05 max - 0.95 min`. Weka widens that range with every test bag, and
//!   keeps the distances among training bags; so only test bags inside the range can be compared.
#![expect(clippy::print_stdout, reason = "a bench exists to print")]

use anyhow::{Context as _, Result};
use bagwise::io::{ReadOptions, read};
use bagwise::judge::{Fold, Pool, Splits};
use bagwise::preprocess::Scale;
use bagwise::{Bags, Ctx, Dataset, Instances, Mat, MethodConfig, Rng, Target, method};

use crate::bench_pairs::verdict;
use crate::run::data_file;
use crate::weka;

/// Ten folds of each method.
pub(crate) fn run() -> Result<()> {
    let data: Dataset = read(&data_file("musk1")?.display().to_string(), &ReadOptions::default())?;
    if let Err(why) = weka::jar() {
        println!("Weka's labels were not compared: {why}");
        return Ok(());
    }
    let target = data.target.as_ref().context("musk1 has labels")?;
    let pool = Pool { target, groups: None, given: None };
    let all: Vec<usize> = (0..data.bags.len()).collect();
    let folds = Splits::KFold(10).divide(pool, &all, &mut Rng::new(0, "weka", &[]))?;
    println!("musk1: labels of 10 folds beside Weka");
    let ball = method("optimal-ball")?.scale(Scale::MinMax);
    agree("optimal-ball", &data, &folds, "MIOptimalBall", &[], |_| Ok((data.clone(), ball.clone())))?;
    let boost = method("mi-boost")?.param("rounds", 10).param("criterion", "entropy").scale(Scale::None);
    let stumps = ["-R", "10", "-W", "weka.classifiers.trees.DecisionStump"];
    agree("mi-boost", &data, &folds, "MIBoost", &stumps, |_| Ok((data.clone(), boost.clone())))?;
    let logistic = ["-W", "weka.classifiers.functions.Logistic", "--", "-R", "1"];
    agree("mi-wrapper", &data, &folds, "MIWrapper", &logistic, |fold| {
        let instances: usize = fold.train.iter().map(|&b| data.bags.rows(b).len()).sum();
        let c = instances as f64 / (2.0 * fold.train.len() as f64);
        let config = method("mi-wrapper")?.param("c", c).scale(Scale::None);
        Ok((scaled(&data, &weighted_deviations(&data, fold)?)?, config))
    })?;
    let knn = method("citation-knn")?.param("references", 2).param("citers", 4).scale(Scale::None);
    let inside: Vec<Fold> = folds
        .iter()
        .map(|fold| {
            let ranges = ranges(&data, &fold.train)?;
            let mut test = Vec::new();
            for &b in &fold.test {
                let mut fits = true;
                data.bags.instances().each_row(data.bags.rows(b), |_, row| {
                    fits &= row.iter().zip(&ranges).all(|(x, (low, high))| low <= x && x <= high);
                })?;
                test.extend(fits.then_some(b));
            }
            Ok(Fold { train: fold.train.clone(), test })
        })
        .collect::<Result<_>>()?;
    agree("citation-knn", &data, &inside, "CitationKNN", &["-R", "2", "-C", "4"], |fold| {
        let length = |(low, high): (f64, f64)| 1.05 * high - 0.95 * low;
        let lengths = ranges(&data, &fold.train)?.into_iter().map(length).collect::<Vec<_>>();
        Ok((scaled(&data, &lengths)?, knn.clone()))
    })
}

/// Counts test bags for which both give the same class. `prepare` gives the data and the method for a fold.
fn agree(
    name: &str,
    data: &Dataset,
    folds: &[Fold],
    class: &str,
    given: &[&str],
    prepare: impl Fn(&Fold) -> Result<(Dataset, MethodConfig)>,
) -> Result<()> {
    let Some(Target::Classes { names, .. }) = &data.target else { return Ok(()) };
    let (mut same, mut all) = (0, 0);
    for fold in folds.iter().filter(|f| !f.test.is_empty()) {
        let (own, config) = prepare(fold)?;
        let model = config.fit(&own.select(&fold.train))?;
        let ours = model.predict_with(&own.bags.select(&fold.test), &Ctx::default())?;
        let theirs = weka::predict(data, fold, class, given)?;
        let equal = |(p, code): &(&bagwise::Prediction, &u32)| p.label.as_ref() == names.get(**code as usize);
        same += ours.iter().zip(&theirs).filter(equal).count();
        all += theirs.len();
    }
    println!("  {name:<13} {same} of {all} as {class}: {}", verdict(same == all));
    Ok(())
}

/// Data with every column divided by a number; 0 leaves it as it is.
fn scaled(data: &Dataset, lengths: &[f64]) -> Result<Dataset> {
    let mut rows = Mat::zeros(data.bags.instance_count(), data.bags.width());
    data.bags.instances().each_row(0..data.bags.instance_count(), |i, row| {
        for ((own, x), length) in rows.row_mut(i).iter_mut().zip(row).zip(lengths) {
            *own = if *length == 0.0 { *x } else { x / length };
        }
    })?;
    let bags = Bags::new(Instances::F64(rows), data.bags.offsets().to_vec())?;
    Ok(Dataset { bags: bags.with_ids(data.bags.ids().to_vec())?, ..data.clone() })
}

/// The least and the largest value of every column among some bags.
fn ranges(data: &Dataset, bags: &[usize]) -> Result<Vec<(f64, f64)>> {
    let mut ranges = vec![(f64::INFINITY, f64::NEG_INFINITY); data.bags.width()];
    for &b in bags {
        data.bags.instances().each_row(data.bags.rows(b), |_, row| {
            for ((low, high), &x) in ranges.iter_mut().zip(row) {
                (*low, *high) = (low.min(x), high.max(x));
            }
        })?;
    }
    Ok(ranges)
}

/// Standard deviations of the columns of training instances, where the instances of a bag of m weigh `N / (n m)` each. A shift of
/// columns changes nothing where the bias is free.
fn weighted_deviations(data: &Dataset, fold: &Fold) -> Result<Vec<f64>> {
    let sizes: Vec<usize> = fold.train.iter().map(|&b| data.bags.rows(b).len()).collect();
    let total = sizes.iter().sum::<usize>() as f64;
    let mut sums = vec![(0.0, 0.0); data.bags.width()];
    for (&b, &size) in fold.train.iter().zip(&sizes) {
        let weight = total / (sizes.len() * size) as f64;
        data.bags.instances().each_row(data.bags.rows(b), |_, row| {
            for ((sum, squares), x) in sums.iter_mut().zip(row) {
                *sum += weight * x;
                *squares += weight * x * x;
            }
        })?;
    }
    let deviation = |(sum, squares): (f64, f64)| {
        let mean = sum / total;
        ((squares - total * mean * mean).abs() / (total - 1.0)).sqrt()
    };
    Ok(sums.into_iter().map(deviation).collect())
}
