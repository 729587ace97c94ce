//! From records to tables: pure functions of the records of a run and the roster of its data.
//!
//! Only fits judged on outer folds count (no inner fold, no grid point of their own). The value of a repeat is
//! the metric over all bags the repeat tested ([`Metric::over_folds`]); the table's mean and standard deviation (n - 1) are over
//! repeats. The mean of ratios of counts is exact before it is rounded, so that methods that are right equally often tie. Where the folds of a repeat test some bag twice (random halves), every fold stands as a repeat of its
//! own. A repeat with a failed fit, or with fewer folds than others have, has no value: the bags that are left
//! would flatter or slander the method. The interval is Nadeau and Bengio's, over the values of single folds and
//! around their mean, which for ratios such as F1 or AUC is not quite the pooled value; it ends where the metric does. Where there
//! is none, the table says why.

use std::collections::{BTreeMap, BTreeSet};
use std::io::Write;

use serde::{Deserialize, Serialize};

use super::intervals::{Bootstrap, Interval, Resampling, bootstrap, corrected_interval, wilson};
use super::metrics::{Confusion, Metric};
use super::predictions::Predictions;
use super::protocol::ProtocolName;
use super::quantity::Quantity;
use super::record::{FitStatus, Record, ScoredBags};
use super::roster::{BagPrediction, GroundTruth, Truth};
use bagwise_core::{Error, Result};

/// Everything one repeat tested.
#[derive(Clone, Debug, PartialEq)]
pub struct Repeat {
    /// Repeat, counted from 0.
    pub repeat: usize,
    /// The fold, where folds stand for themselves.
    pub fold: Option<usize>,
    /// The bags, as positions in the data set.
    pub bags: Vec<usize>,
    /// Truth and prediction, in the order of `bags`.
    pub predictions: Predictions,
    /// The fold that tested each bag.
    pub folds: Vec<usize>,
    /// False if a fit failed or is not done yet, so that bags are missing.
    pub complete: bool,
}

impl Repeat {
    /// The same bags, with the one prediction that suits them best: the most frequent class, or the mean. It knows the bags that it is
    /// judged by, so that no constant does better. (What `majority` learns from training bags does worse where folds leave out a
    /// class: it then predicts the other.)
    pub fn constant(&self) -> Repeat {
        let predictions = match &self.predictions {
            Predictions::Classes(c) => Predictions::Classes(c.constant()),
            Predictions::Values { truth, .. } => {
                let mean = mean(truth).unwrap_or(0.0);
                Predictions::Values { truth: truth.clone(), predicted: vec![mean; truth.len()] }
            }
        };
        Repeat { predictions, ..self.clone() }
    }
}

/// One metric of one method.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct MetricSummary {
    /// The metric.
    pub metric: Metric,
    /// The value of each repeat, over all its folds.
    pub values: Vec<Option<f64>>,
    /// Mean of the values there are.
    pub mean: Option<f64>,
    /// Their standard deviation, from two values on.
    pub sd: Option<f64>,
    /// As wide as Nadeau and Bengio's over single folds, about `mean`; of a single test set, that of its bags. None unless the
    /// values of folds differ and every fold has one; a fold in which a metric that compares bags finds none to compare is left out.
    pub interval: Option<Interval>,
    /// Why there is no interval.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub no_interval: Option<String>,
    /// Folds that have a value, and all folds.
    pub folds: (usize, usize),
}

impl MetricSummary {
    /// Why there is no value, or no interval, `of` a metric or a method.
    pub fn missing(&self, of: &str) -> Option<String> {
        let what = if self.mean.is_none() { "value" } else { "interval" };
        self.no_interval.as_ref().map(|why| format!("no {what} for {of}: {why}"))
    }
}

/// One method, in one line of the table.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct MethodSummary {
    /// The method.
    pub method: String,
    /// Fits that were judged.
    pub fits: usize,
    /// Of these, fits that failed.
    pub failed: usize,
    /// Of these, fits that ended at a limit or in a cycle.
    pub limited: usize,
    /// Time of all its fits, inner ones too; none if its predictions came from elsewhere.
    pub seconds: Option<f64>,
    /// The metrics, in the requested order.
    pub metrics: Vec<MetricSummary>,
}

impl MethodSummary {
    /// Whether other parameters may give a better value of the metric that decides: not if it is perfect, and hardly if it is no
    /// better than that of the baseline.
    pub fn may_improve(&self, baseline: Option<&MethodSummary>) -> bool {
        let Some(MetricSummary { metric, mean: Some(mean), .. }) = self.metrics.first() else { return true };
        let (low, high) = metric.range();
        let perfect = if metric.info().larger { high } else { low };
        let constant = baseline.and_then(|line| line.metrics.first()?.mean);
        metric.better(perfect, *mean) && constant.is_none_or(|constant| metric.better(*mean, constant))
    }
}

/// The judged records of a data set, by method, repeat and fold.
fn judged<'r>(
    records: &'r [Record],
    roster: &GroundTruth,
) -> Result<BTreeMap<&'r str, BTreeMap<(usize, usize), &'r Record>>> {
    let mut by_method: BTreeMap<&str, BTreeMap<(usize, usize), &Record>> = BTreeMap::new();
    for record in records.iter().filter(|r| r.key.data == roster.data) {
        if record.data != roster.fingerprint {
            return Err(Error::Invalid(format!(
                "the fit of {} belongs to other data; use the files of one run",
                record.key
            )));
        }
        if record.key.inner.is_some() || !record.key.point.is_empty() {
            continue;
        }
        let at = (record.key.repeat, record.key.fold);
        if by_method.entry(&record.key.method).or_default().insert(at, record).is_some() {
            return Err(Error::Invalid(format!("the fit of {} is recorded twice", record.key)));
        }
    }
    Ok(by_method)
}

fn of_method<'r>(
    records: &'r [Record],
    roster: &GroundTruth,
    method: &str,
) -> Result<BTreeMap<(usize, usize), &'r Record>> {
    let mut all = judged(records, roster)?;
    if let Some(own) = all.remove(method) {
        return Ok(own);
    }
    Err(Error::unknown("method among the records", method, all.into_keys()))
}

/// What each repeat of a method tested, put together.
pub fn pooled(records: &[Record], roster: &GroundTruth, method: &str) -> Result<Vec<Repeat>> {
    pool(&of_method(records, roster, method)?, roster, fold_count(&judged(records, roster)?))
}

/// The number of folds of a repeat, from the records of all methods.
fn fold_count(all: &BTreeMap<&str, BTreeMap<(usize, usize), &Record>>) -> usize {
    all.values().flat_map(|own| own.keys()).map(|&(_, fold)| fold + 1).max().unwrap_or(0)
}

fn pool(own: &BTreeMap<(usize, usize), &Record>, roster: &GroundTruth, count: usize) -> Result<Vec<Repeat>> {
    let mut by_repeat: BTreeMap<usize, Vec<&Record>> = BTreeMap::new();
    for record in own.values() {
        by_repeat.entry(record.key.repeat).or_default().push(record);
    }
    // Two random halves may happen to have no bag in common; each is a repeat all the same.
    let halves = own.values().any(|record| record.protocol == ProtocolName::Half.as_str());
    let overlapping = halves
        || by_repeat.values().any(|folds| {
            let mut seen = BTreeSet::new();
            !folds.iter().flat_map(|r| &r.scored.bags).all(|bag| seen.insert(bag))
        });
    let parts: Vec<Vec<&Record>> = if overlapping {
        own.values().map(|&record| vec![record]).collect()
    } else {
        by_repeat.into_values().collect()
    };
    parts
        .into_iter()
        .map(|folds| {
            let scored = joined(folds.iter().map(|r| &r.scored));
            Ok(Repeat {
                repeat: folds[0].key.repeat,
                fold: overlapping.then_some(folds[0].key.fold),
                predictions: roster.predictions(&scored)?,
                folds: folds.iter().flat_map(|r| vec![r.key.fold; r.scored.bags.len()]).collect(),
                bags: scored.bags,
                complete: folds.iter().all(|r| r.succeeded()) && (overlapping || folds.len() == count),
            })
        })
        .collect()
}

/// Several folds' scores as one; scores and probabilities only if all have them.
fn joined<'r>(parts: impl Iterator<Item = &'r ScoredBags> + Clone) -> ScoredBags {
    let filled = parts.filter(|s| !s.bags.is_empty());
    let scored = filled.clone().all(|s| !s.scores.is_empty());
    ScoredBags {
        bags: filled.clone().flat_map(|s| s.bags.iter().copied()).collect(),
        labels: filled.clone().map(|s| s.labels.as_deref()).collect::<Option<Vec<_>>>().map(|l| l.concat()),
        scores: filled.clone().filter(|_| scored).flat_map(|s| s.scores.iter().copied()).collect(),
        probabilities: filled
            .map(|s| s.probabilities.as_deref())
            .collect::<Option<Vec<_>>>()
            .map(|p| p.concat()),
    }
}

/// The value of each fold and its share of test to training bags; none where the fit failed or the value does
/// not exist.
fn fold_values(
    own: &BTreeMap<(usize, usize), &Record>,
    repeats: &[Repeat],
    roster: &GroundTruth,
    metric: Metric,
) -> Result<BTreeMap<(usize, usize), Option<(f64, f64)>>> {
    own.iter()
        .map(|(&at, record)| {
            let repeat = repeats.iter().find(|r| r.repeat == at.0 && r.fold.is_none_or(|fold| fold == at.1));
            let value = match repeat {
                Some(repeat) if record.succeeded() => {
                    metric.in_fold(&roster.predictions(&record.scored)?, &repeat.predictions)
                }
                _ => None,
            };
            let ratio = record.scored.bags.len() as f64 / record.trained.max(1) as f64;
            Ok((at, value.map(|v| (v, ratio))))
        })
        .collect()
}

fn mean(values: &[f64]) -> Option<f64> {
    (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
}

fn deviation(values: &[f64]) -> Option<f64> {
    if values.len() < 2 {
        return None;
    }
    if values.windows(2).all(|w| w[0] == w[1]) {
        return Some(0.0);
    }
    let centre = mean(values)?;
    Some((values.iter().map(|v| (v - centre).powi(2)).sum::<f64>() / (values.len() - 1) as f64).sqrt())
}

/// An interval of the same width about the value that is shown.
fn about(shown: Option<f64>, interval: Option<Interval>) -> Option<Interval> {
    let (shown, Interval { estimate, low, high, level }) = (shown?, interval?);
    Some(Interval { estimate: shown, low: low + shown - estimate, high: high + shown - estimate, level })
}

/// Why folds give no interval, if they give none.
fn no_interval(
    metric: Metric,
    shown: Option<f64>,
    of_folds: &[f64],
    failed: usize,
    folds: usize,
    single: bool,
    classes_only: bool,
) -> Option<String> {
    let without = folds - of_folds.len();
    if failed > 0 {
        return Some(format!("{failed} of {folds} fits failed"));
    }
    if metric.compares_bags() && classes_only {
        return Some("it needs scores, and only classes were predicted".into());
    }
    if shown.is_none() && metric.compares_bags() && single {
        return Some("it compares bags of the same fold, and every fold tests a single bag".into());
    }
    if shown.is_none() && metric.compares_bags() {
        return Some("no fold has bags to compare".into());
    }
    if shown.is_none() {
        return Some("it has no value on these predictions".into());
    }
    if of_folds.len() < 2 {
        return Some(format!(
            "it has a value in {} of {folds} folds, but an interval needs two",
            of_folds.len()
        ));
    }
    if without > 0 && !metric.compares_bags() {
        return Some(format!("it has no value in {without} of {folds} folds"));
    }
    // Folds that do not differ at all say nothing of how much values differ.
    let same = of_folds.windows(2).all(|w| w[0] == w[1]);
    same.then(|| "it is the same in every fold".into())
}

/// The table: one line per method, sorted by name.
pub fn summarise(
    records: &[Record],
    roster: &GroundTruth,
    metrics: &[Metric],
    level: f64,
) -> Result<Vec<MethodSummary>> {
    let mut table = Vec::new();
    let all = judged(records, roster)?;
    let count = fold_count(&all);
    for (method, own) in all {
        let repeats = pool(&own, roster, count)?;
        let ended =
            |wanted: &dyn Fn(FitStatus) -> bool| own.values().filter(|r| wanted(r.outcome.status)).count();
        let external = own.values().all(|r| r.protocol == ProtocolName::External.as_str());
        // A single test set shows the luck of its bags, and nothing of training.
        let is_split = own.values().all(|r| r.protocol == ProtocolName::TrainTest.as_str());
        let curve = own.values().any(|r| r.protocol == ProtocolName::LearningCurve.as_str());
        let mut lines = Vec::new();
        for &metric in metrics {
            let measured: Vec<Option<Quantity>> = repeats
                .iter()
                .map(|r| metric.measured(&r.predictions, Some(&r.folds)).filter(|_| r.complete))
                .collect();
            let there: Vec<Quantity> = measured.iter().copied().flatten().collect();
            let centre = Quantity::mean(&there).map(Quantity::value);
            let folds = fold_values(&own, &repeats, roster, metric)?;
            let (of_folds, ratios): (Vec<f64>, Vec<f64>) = folds.values().copied().flatten().unzip();
            let failed = own.values().filter(|r| !r.succeeded()).count();
            let no_interval = if curve {
                Some("it is a mean over shares of the training bags".into())
            } else {
                let single = own.values().all(|r| r.scored.bags.len() <= 1);
                let only_classes = |r: &Record| !r.scored.bags.is_empty() && r.scored.scores.is_empty();
                let classes_only = own.values().any(|r| r.succeeded() && only_classes(r));
                no_interval(metric, centre, &of_folds, failed, folds.len(), single, classes_only)
            };
            let interval = corrected_interval(&of_folds, mean(&ratios).unwrap_or(0.0), level)?;
            let (interval, no_interval) = match external || is_split && repeats.iter().all(|r| r.complete) {
                true => of_fixed_model(&repeats, roster, metric, level)?,
                false => (about(centre, interval).filter(|_| no_interval.is_none()), no_interval),
            };
            let values: Vec<Option<f64>> = measured.iter().map(|v| v.map(Quantity::value)).collect();
            lines.push(MetricSummary {
                metric,
                mean: centre,
                sd: deviation(&values.iter().copied().flatten().collect::<Vec<f64>>()),
                interval: interval.map(|interval| interval.within(metric.range())),
                no_interval,
                folds: (of_folds.len(), folds.len()),
                values,
            });
        }
        table.push(MethodSummary {
            method: method.to_string(),
            fits: own.len(),
            failed: ended(&|s| s == FitStatus::Failed),
            limited: ended(&|s| matches!(s, FitStatus::IterationLimit | FitStatus::Cycle)),
            seconds: Some(
                records
                    .iter()
                    .filter(|r| r.key.data == roster.data && r.key.method == method)
                    .map(|r| r.seconds)
                    .sum(),
            )
            .filter(|&sum: &f64| sum > 0.0),
            metrics: lines,
        });
    }
    Ok(table)
}

/// Samples of a bootstrap interval.
const DRAWS: usize = 2000;

/// The interval of one model, trained elsewhere or on the training bags of a single split, or why there is none. It is about the
/// luck of the test bags: Wilson's for the accuracy of independent bags, otherwise a bootstrap over bags, or over groups where there
/// are groups, widened by [`beyond_resamples`].
fn of_fixed_model(
    repeats: &[Repeat],
    roster: &GroundTruth,
    metric: Metric,
    level: f64,
) -> Result<(Option<Interval>, Option<String>)> {
    let none = |why: &str| Ok((None, Some(why.to_string())));
    let [tested] = repeats else { return none("there is more than one repeat") };
    let Some(value) = metric.value(&tested.predictions) else {
        return none("it has no value on these predictions");
    };
    let rows = tested.bags.len();
    if metric == Metric::Accuracy && roster.groups.is_none() {
        return Ok((wilson((value * rows as f64).round() as u64, rows as u64, level)?, None));
    }
    let mut units: BTreeMap<String, Vec<usize>> = BTreeMap::new();
    for (row, &bag) in tested.bags.iter().enumerate() {
        let unit = roster.groups.as_ref().map_or_else(|| bag.to_string(), |groups| groups[bag].clone());
        units.entry(unit).or_default().push(row);
    }
    let units: Vec<Vec<usize>> = units.into_values().collect();
    let statistic = |rows: &[usize]| metric.value(&tested.predictions.pick(rows));
    let Some(found) = bootstrap(&units, statistic, DRAWS, level, Resampling::Percentile, 0)? else {
        return none("there are too few bags to resample");
    };
    let interval = beyond_resamples(&tested.predictions, &units, metric, found.interval)?;
    if interval.low == interval.high {
        return none("it is the same in every resample");
    }
    Ok((Some(interval), None))
}

/// A bootstrap interval of a metric of counts, widened where a class has no errors, or nothing but errors: resamples of it do not
/// differ. The interval then extends to the value that the metric has if Wilson's interval for the bags, or groups, of that class is
/// used to its end, and the other class has the errors it has.
fn beyond_resamples(
    predictions: &Predictions,
    units: &[Vec<usize>],
    metric: Metric,
    found: Interval,
) -> Result<Interval> {
    let Predictions::Classes(c) = predictions else { return Ok(found) };
    let Some(positive) = c.positive else { return Ok(found) };
    // The shares of a class that may be right: the least, and the most.
    let shares = |is_positive: bool| -> Result<Option<(f64, [f64; 2])>> {
        let of_class = |row: usize| (c.truth[row] == positive) == is_positive;
        let rows: Vec<usize> = (0..c.truth.len()).filter(|&row| of_class(row)).collect();
        let right = rows.iter().filter(|&&row| c.truth[row] == c.labels[row]).count();
        let observed = right as f64 / rows.len() as f64;
        let independent = units.iter().filter(|rows| rows.iter().any(|&row| of_class(row))).count() as u64;
        let hits = if right == 0 { 0 } else { independent };
        let possible = wilson(hits, independent, found.level)?.map(|wilson| {
            [
                if right == rows.len() { wilson.low } else { observed },
                if right == 0 { wilson.high } else { observed },
            ]
        });
        Ok(possible.map(|possible| (rows.len() as f64 / c.truth.len() as f64, possible)))
    };
    let (Some((of_positive, hit)), Some((of_negative, refused))) = (shares(true)?, shares(false)?) else {
        return Ok(found);
    };
    // Counts are whole numbers; shares become some that are large enough.
    const WHOLE: f64 = 1e6;
    let at = |end: usize| {
        let part = |of: f64| (WHOLE * of).round() as u64;
        metric.of_counts(&Confusion {
            tp: part(of_positive * hit[end]),
            fn_: part(of_positive * (1.0 - hit[end])),
            tn: part(of_negative * refused[end]),
            fp: part(of_negative * (1.0 - refused[end])),
        })
    };
    // Counts of shares are rounded, so an end without need for it could move a little.
    let extreme = |end: usize| (hit[0] != hit[1] || refused[0] != refused[1]).then(|| at(end)).flatten();
    Ok(Interval {
        low: extreme(0).map_or(found.low, |low| found.low.min(low)),
        high: extreme(1).map_or(found.high, |high| found.high.max(high)),
        ..found
    })
}

/// Bootstrap interval for a method's mean over complete repeats, resampling bags, or groups where there are groups.
/// A bag takes its predictions of all repeats along. The same seed gives every method the same samples.
pub fn bootstrap_method(
    records: &[Record],
    roster: &GroundTruth,
    method: &str,
    metric: Metric,
    draws: usize,
    level: f64,
    kind: Resampling,
    seed: u64,
) -> Result<Option<Bootstrap>> {
    let repeats: Vec<Repeat> = pooled(records, roster, method)?.into_iter().filter(|r| r.complete).collect();
    let rows: Vec<BTreeMap<usize, usize>> =
        repeats.iter().map(|r| r.bags.iter().enumerate().map(|(row, &bag)| (bag, row)).collect()).collect();
    let tested: BTreeSet<usize> = repeats.iter().flat_map(|r| r.bags.iter().copied()).collect();
    let units: Vec<Vec<usize>> = match &roster.groups {
        None => tested.into_iter().map(|bag| vec![bag]).collect(),
        Some(groups) => {
            let mut by_group: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
            for bag in tested {
                by_group.entry(&groups[bag]).or_default().push(bag);
            }
            by_group.into_values().collect()
        }
    };
    let statistic = |bags: &[usize]| -> Option<f64> {
        let values: Vec<f64> = repeats
            .iter()
            .zip(&rows)
            .map(|(repeat, row_of)| {
                let picked: Vec<usize> = bags.iter().filter_map(|bag| row_of.get(bag).copied()).collect();
                let folds: Vec<usize> = picked.iter().map(|&row| repeat.folds[row]).collect();
                metric.over_folds(&repeat.predictions.pick(&picked), &folds)
            })
            .collect::<Option<_>>()?;
        mean(&values)
    };
    bootstrap(&units, statistic, draws, level, kind, seed)
}

/// A line of `predictions.csv`: one bag, judged once.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PredictionRow {
    /// The bag's name.
    pub bag: String,
    /// Its group, or nothing.
    pub group: String,
    /// The fold that tested it, counted from 0.
    pub fold: usize,
    /// The true class or value.
    pub truth: String,
    /// The score of the positive class, else of the predicted class; the predicted value of a real target.
    /// None if only the class was predicted.
    pub score: Option<f64>,
    /// The probability of the same class.
    pub probability: Option<f64>,
    /// The predicted class or value.
    pub label: String,
    /// The method.
    pub method: String,
    /// The repeat, counted from 0.
    pub repeat: usize,
}

/// The judged bags of all methods, by method, repeat, fold and position.
pub fn prediction_rows(records: &[Record], roster: &GroundTruth) -> Result<Vec<PredictionRow>> {
    let mut rows = Vec::new();
    for (method, own) in judged(records, roster)? {
        for record in own.values().filter(|r| r.succeeded()) {
            let s = &record.scored;
            // Checks that the record fits the roster.
            roster.predictions(s)?;
            for (i, &bag) in s.bags.iter().enumerate() {
                let BagPrediction { label, score, probability } = roster.prediction(s, i);
                let (truth, label) = match &roster.truth {
                    Truth::Values(values) => {
                        (values[bag].to_string(), score.map_or(String::new(), |s| s.to_string()))
                    }
                    Truth::Classes { codes, names } => (
                        names[codes[bag] as usize].clone(),
                        label.map_or(String::new(), |l| names[l as usize].clone()),
                    ),
                };
                rows.push(PredictionRow {
                    bag: roster.bags[bag].clone(),
                    group: roster.groups.as_ref().map_or(String::new(), |g| g[bag].clone()),
                    fold: record.key.fold,
                    truth,
                    score,
                    probability,
                    label,
                    method: method.to_string(),
                    repeat: record.key.repeat,
                });
            }
        }
    }
    Ok(rows)
}

/// Writes rows as CSV with a header, also if there are none.
pub fn write_predictions(rows: &[PredictionRow], to: impl Write) -> Result<()> {
    let fail = |e: csv::Error| Error::Invalid(format!("predictions.csv: {e}"));
    let mut out = csv::WriterBuilder::new().has_headers(false).from_writer(to);
    out.write_record([
        "bag",
        "group",
        "fold",
        "actual",
        "score",
        "probability",
        "predicted",
        "method",
        "repeat",
    ])
    .map_err(fail)?;
    for row in rows {
        out.serialize(row).map_err(fail)?;
    }
    out.flush().map_err(|e| fail(e.into()))
}
