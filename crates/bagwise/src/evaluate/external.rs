//! External validation: a saved model on labelled bags that it was not trained on. The predictions become the records
//! of a run with one fold, all of whose bags are tested, so that tables and reports are made of them as of any other
//! run. The model is fixed, so intervals reflect only the sampling of test bags.

use std::path::Path;
use std::time::Instant;

use bagwise_core::{Ctx, Dataset, Error, Result, Target, coded_like};
use bagwise_judge::{Metric, Protocol, ProtocolName};

use super::Evaluation;
use crate::config::INNER_FOLDS;
use crate::fit::metric_for;
use crate::model::{Model, Prediction};
use crate::plan::TimePlan;
use crate::run::{RecordLocation, RecordStore, Run, RunPlan, Verdict};

/// The same bags with classes coded as in the model; an error if there are other classes, or numbers instead.
pub fn labelled_like(model: &Model, mut data: Dataset) -> Result<Dataset> {
    let classes = &model.header.classes;
    let target = match (data.require_target()?, classes.is_empty()) {
        (Target::Values(values), true) => Target::Values(values.clone()),
        (Target::Classes { codes, names }, false) => {
            let codes = coded_like(codes, names, classes).map_err(|name| {
                Error::Invalid(format!(
                    "{} has bags of class '{name}', which the model does not know; it knows {}",
                    data.name,
                    classes.join(", ")
                ))
            })?;
            Target::Classes { codes, names: classes.clone() }
        }
        (Target::Values(_), false) => {
            return Err(Error::Invalid(format!(
                "the labels of {} are numbers, and the model predicts classes",
                data.name
            )));
        }
        (Target::Classes { .. }, true) => {
            return Err(Error::Invalid(format!(
                "the labels of {} are classes, and the model predicts numbers",
                data.name
            )));
        }
    };
    data.target = Some(target);
    Ok(data)
}

/// The first label of the bags that is none of the model's: a column may have been taken for the label by mistake.
pub fn unknown_label(model: &Model, target: &Target) -> Option<String> {
    let classes = &model.header.classes;
    match (target, classes.is_empty()) {
        (Target::Values(_), true) => None,
        (Target::Classes { codes, names }, false) => {
            coded_like(codes, names, classes).err().map(String::from)
        }
        // Labels are read without knowing the model: whole numbers are taken for classes, and others for numbers.
        (Target::Values(values), false) => {
            let names: Vec<String> = values.iter().map(f64::to_string).collect();
            let codes: Vec<u32> = (0..names.len() as u32).collect();
            coded_like(&codes, &names, classes).err().map(String::from)
        }
        (Target::Classes { names, .. }, true) => {
            names.iter().find(|name| !name.parse::<f64>().is_ok_and(f64::is_finite)).cloned()
        }
    }
}

/// Judges a model by what it predicted for bags from [`labelled_like`]. `metric` decides, by default the one that the model was
/// chosen by; records and predictions are left in `folder`, if there is one. It says whether files in it that bagwise did not
/// write may be replaced.
pub fn validate(
    model: &Model,
    data: &Dataset,
    predicted: &[Prediction],
    metric: Option<Metric>,
    level: f64,
    folder: Option<(&Path, bool)>,
    ctx: &Ctx,
) -> Result<Evaluation> {
    let started = Instant::now();
    let target = data.require_target()?;
    let chosen = || model.header.training.chosen_by.parse().ok();
    let metric = metric_for(metric.or_else(chosen), target);
    metric.check(target)?;
    let positive = (model.header.classes.len() == 2).then(|| model.positive_name().to_string());
    let plan = RunPlan {
        protocol: Protocol::new(ProtocolName::External, 1, INNER_FOLDS),
        metric,
        threshold: None,
        best: false,
        positive,
        precision: ctx.precision,
        seed: ctx.seed,
        repeats: 1,
        probabilities: false,
    };
    let run = Run::external(data, &plan, model)?;
    let time = TimePlan::nothing();
    let (keep, overwrite) = match folder {
        Some((folder, overwrite)) => (RecordLocation::Folder(folder.into()), overwrite),
        None => (RecordLocation::Nowhere, false),
    };
    let mut store = RecordStore::open(&keep, overwrite, &run, &time)?;
    let known = store.records().next().is_some();
    if !known {
        store.append(run.judge_model(model, predicted, started, ctx)?)?;
    }
    let records = store.sorted();
    let verdict = Verdict::new(&records, &run.roster, metric, level, false)?;
    let (roster, folds) = (run.roster, run.folds);
    let folder = store.finish(&records, &roster, &verdict, true)?;
    Ok(Evaluation {
        verdict,
        plan,
        candidates: Vec::new(),
        records,
        roster,
        folds,
        time,
        incomplete: Vec::new(),
        elapsed: started.elapsed(),
        folder,
        resumed: known,
    })
}

/// Slope and intercept of the outcome on the log odds of predicted probabilities (Cox's calibration line): 1 and 0 if the
/// probabilities are right, a smaller slope if they are too extreme. Nothing where all outcomes, or all probabilities, are the
/// same, or where the probabilities separate the outcomes.
pub fn calibration_line(pairs: &[(f64, bool)]) -> Option<(f64, f64)> {
    const EDGE: f64 = 1e-6;
    let odds: Vec<f64> =
        pairs.iter().map(|(p, _)| p.clamp(EDGE, 1.0 - EDGE)).map(|p| (p / (1.0 - p)).ln()).collect();
    let hits = pairs.iter().filter(|p| p.1).count();
    if hits == 0 || hits == pairs.len() || odds.windows(2).all(|w| w[0] == w[1]) {
        return None;
    }
    // Outcomes that the odds separate have no finite line.
    let ends = |hit: bool| {
        let own = odds.iter().zip(pairs).filter(|(_, pair)| pair.1 == hit).map(|(x, _)| *x);
        own.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), x| (low.min(x), high.max(x)))
    };
    let (misses, hits) = (ends(false), ends(true));
    if misses.1 <= hits.0 || hits.1 <= misses.0 {
        return None;
    }
    // Newton's steps for a logistic regression on one column. A whole step from probabilities that are far off may lead farther
    // away, so it is halved until the outcomes are no less likely.
    let unlikely = |slope: f64, intercept: f64| -> f64 {
        let loss = |(x, (_, hit)): (&f64, &(f64, bool))| {
            let z = slope * x + intercept;
            (1.0 + (-z.abs()).exp()).ln() + z.max(0.0) - if *hit { z } else { 0.0 }
        };
        odds.iter().zip(pairs).map(loss).sum()
    };
    let (mut slope, mut intercept) = (1.0, 0.0);
    for _ in 0..100 {
        let (mut g, mut h) = ([0.0; 2], [0.0; 3]);
        for (x, (_, hit)) in odds.iter().zip(pairs) {
            let p = 1.0 / (1.0 + (-(slope * x + intercept)).exp());
            let (error, weight) = (f64::from(u8::from(*hit)) - p, p * (1.0 - p));
            g[0] += error * x;
            g[1] += error;
            h[0] += weight * x * x;
            h[1] += weight * x;
            h[2] += weight;
        }
        let determinant = h[0] * h[2] - h[1] * h[1];
        let mut step = [(h[2] * g[0] - h[1] * g[1]) / determinant, (h[0] * g[1] - h[1] * g[0]) / determinant];
        if !step.iter().all(|s| s.is_finite()) {
            return None;
        }
        let before = unlikely(slope, intercept);
        // Not for ever: at the solution, rounding decides.
        for _ in 0..40 {
            if unlikely(slope + step[0], intercept + step[1]) <= before {
                break;
            }
            step = step.map(|s| s / 2.0);
        }
        slope += step[0];
        intercept += step[1];
        if step.iter().all(|s| s.abs() < 1e-10) {
            return Some((slope, intercept));
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn right_probabilities_lie_on_the_line_of_slope_one() {
        // Of ten bags with probability p, 10 p are positive.
        let pairs: Vec<(f64, bool)> =
            (1..10).flat_map(|k| (0..10).map(move |i| (f64::from(k) / 10.0, i < k))).collect();
        let (slope, intercept) = calibration_line(&pairs).unwrap();
        assert!((slope - 1.0).abs() < 1e-9 && intercept.abs() < 1e-9, "{slope}, {intercept}");
        // Twice the odds are too sure by half.
        let sure: Vec<(f64, bool)> = pairs
            .iter()
            .map(|&(p, hit)| {
                let odds = 2.0 * (p / (1.0 - p)).ln();
                (1.0 / (1.0 + (-odds).exp()), hit)
            })
            .collect();
        assert!((calibration_line(&sure).unwrap().0 - 0.5).abs() < 1e-9);
        // From probabilities that are far off, whole steps of Newton's method lead away from the solution.
        let off = [
            (0.001, true),
            (0.002, true),
            (0.01, true),
            (0.02, false),
            (0.05, true),
            (0.4, false),
            (0.7, false),
        ];
        let (slope, intercept) = calibration_line(&off).unwrap();
        let residual = |weight: fn(f64) -> f64| {
            let one = |&(p, hit): &(f64, bool)| {
                let x: f64 = (p / (1.0 - p)).ln();
                (f64::from(u8::from(hit)) - 1.0 / (1.0 + (-(slope * x + intercept)).exp())) * weight(x)
            };
            off.iter().map(one).sum::<f64>()
        };
        assert!(residual(|_| 1.0).abs() < 1e-8 && residual(|x| x).abs() < 1e-8, "{slope}, {intercept}");
        assert_eq!(calibration_line(&[(0.2, false), (0.9, true)]), None, "separated");
        assert_eq!(calibration_line(&[(0.2, true), (0.9, true)]), None);
    }
}
