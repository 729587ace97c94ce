//! How often verdicts are wrong with metrics other than accuracy, above all where one class is rare: the data sets and learners of
//! [`super::verdict`], judged by the test that bagwise uses.

use anyhow::Result;
use bagwise::Mat;
use bagwise::judge::{Classified, Influences, Metric, Predictions, Repeat, Standing};
use rayon::prelude::*;

use super::section::{Section, Table};
use super::verdict::{BAGS, EXTRA, FEATURES, Family, GROUPS, Judged, LEVEL, SIGNAL};
use crate::run::say;

/// Data sets of a family: a share of 0.05 has a standard error of 0.007.
const SETS: u64 = 1000;

const METRICS: [Metric; 5] =
    [Metric::RocAuc, Metric::BalancedAccuracy, Metric::F1, Metric::Mcc, Metric::PrAuc];

pub(super) fn run() -> Result<Section> {
    let mut families = Vec::new();
    for (grouped, positive, signal) in [
        (false, 0.5, SIGNAL),
        (false, 0.1, SIGNAL),
        (false, 0.03, SIGNAL),
        (false, 0.03, 0.0),
        (true, 0.1, SIGNAL),
    ] {
        families.extend([2, 8].map(|methods| Family { grouped, positive, methods, signal }));
    }
    let mut headings = vec!["metric".to_string()];
    let name = |f: &Family| format!("{}{}", f.name(), if f.signal == 0.0 { ", no signal" } else { "" });
    headings.extend(families.iter().map(name));
    let headings: Vec<&str> = headings.iter().map(String::as_str).collect();
    let table = |extra: f64, of: fn(Found) -> f64| -> Result<Table> {
        let mut table = Table::new(&headings);
        let rates = families.iter().map(|f| rates(*f, extra, of)).collect::<Result<Vec<_>>>()?;
        for (at, metric) in METRICS.iter().enumerate() {
            let cells = rates.iter().map(|of_family| format!("{:.3}", of_family[at]));
            table.row([metric.info().name.to_string()].into_iter().chain(cells).collect());
        }
        Ok(table)
    };
    let mut section = Section::default();
    section.add(
        format!(
            "False alarms by metric: all methods are equally good, and an alarm is a data set in which some method is called \
             clearly worse than the best. Each cell is the rate over {SETS} data sets of {BAGS} bags. Columns give the unit \
             (single bags, or {GROUPS} groups), the percentage of positive bags, the number of methods, and whether the features \
             carry any signal. Each method is ridge regression on the bag means of its own block of {FEATURES} \
             features; it predicts the positive class above the mean of its targets. 10 folds, level {LEVEL}."
        ),
        table(0.0, |found| found.alarm)?,
    );
    section.add(
        format!(
            "Power by metric: the first block has {EXTRA} more signal. Each cell is the fraction of the other methods that are called \
             clearly worse."
        ),
        table(EXTRA, |found| found.seen)?,
    );
    Ok(section)
}

/// What was found on one data set: 1 if some method is called different, and the share of all but the first called worse than the
/// first.
#[derive(Clone, Copy, Default)]
struct Found {
    alarm: f64,
    seen: f64,
}

/// The mean of what was found, for each metric.
fn rates(family: Family, extra: f64, of: fn(Found) -> f64) -> Result<Vec<f64>> {
    let found = (0..SETS).into_par_iter().map(|seed| one(family, extra, seed)).collect::<Result<Vec<_>>>()?;
    say(&format!("{}: {SETS} data sets", family.name()));
    Ok((0..METRICS.len()).map(|at| found.iter().map(|f| of(f[at])).sum::<f64>() / SETS as f64).collect())
}

fn one(family: Family, extra: f64, seed: u64) -> Result<Vec<Found>> {
    let judged = Judged::new(family, extra, seed)?;
    let mut fold_of = vec![0; BAGS];
    for (at, fold) in judged.folds.iter().enumerate() {
        fold.test.iter().for_each(|&bag| fold_of[bag] = at);
    }
    // A rare class is predicted at a threshold that makes both classes count alike.
    let threshold = 2.0 * family.positive - 1.0;
    let repeat = |scores: &Vec<f64>| -> Result<Vec<Repeat>> {
        let labels = scores.iter().map(|s| u32::from(*s > threshold)).collect();
        let classified = Classified::new(judged.truth.clone(), labels, 2, Some(1))?;
        let predictions = Predictions::Classes(classified.with_scores(Mat::new(BAGS, 1, scores.clone()))?);
        let (bags, folds) = ((0..BAGS).collect(), fold_of.clone());
        Ok(vec![Repeat { repeat: 0, fold: None, bags, folds, predictions, complete: true }])
    };
    let methods = judged.scores.iter().map(repeat).collect::<Result<Vec<_>>>()?;
    let found = |metric: &Metric| {
        let influences = Influences::new(&methods, judged.groups.as_deref(), *metric, 0);
        let Some(best) = influences.best() else { return Found::default() };
        let clear: Vec<bool> = influences
            .against(best, true, LEVEL, seed)
            .iter()
            .map(|d| d.is_some_and(|d| d.standing == Standing::ClearlyWorse))
            .collect();
        let seen = if best == 0 { clear.iter().filter(|c| **c).count() } else { 0 };
        Found {
            alarm: f64::from(u8::from(clear.contains(&true))),
            seen: seen as f64 / (family.methods - 1) as f64,
        }
    };
    Ok(METRICS.iter().map(found).collect())
}
