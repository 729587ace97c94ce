//! How good predictions are, as one number. The table [`METRICS`] is the source of names, titles, direction
//! and formulas. With a positive class (binary) TP, TN, FP, FN count bags; without one (multi-class) precision,
//! recall, F1, balanced accuracy and ROC AUC are means over the classes that occur in the truth ("macro"), of
//! which there must be two.
//!
//! A value that does not exist is `None`: precision without a positive prediction, AUC with one class, a metric
//! of another task, log loss without probabilities. One convention is taken over: kappa is 0 when chance agreement
//! is complete. Definitions: spec of MIRSVM, eq. 18 (the paper's printed kappa and AUC keep names of their
//! own); average precision is the step sum over distinct scores, without interpolation.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use super::predictions::{Classified, Predictions, column};
use bagwise_core::{Error, Result, Target};

/// A measure of quality.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[allow(missing_docs)] // METRICS has a line for each.
pub enum Metric {
    Accuracy,
    BalancedAccuracy,
    Precision,
    Recall,
    Specificity,
    F1,
    Kappa,
    RocAuc,
    PrAuc,
    LogLoss,
    Brier,
    KappaPrinted,
    AucPrinted,
    Mse,
    Mae,
    R2,
    ErrPercent,
}

/// What can be judged by a metric.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tasks {
    /// Two classes, one of them positive.
    Binary,
    /// Any number of classes.
    Classes,
    /// Real values.
    Values,
}

/// One line of the table of metrics.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MetricInfo {
    /// The metric.
    pub metric: Metric,
    /// Its name in commands, records and JSON.
    pub name: &'static str,
    /// Its name for readers.
    pub title: &'static str,
    /// What it judges.
    pub tasks: Tasks,
    /// Whether larger is better.
    pub larger: bool,
    /// Its definition.
    pub formula: &'static str,
}

const fn info(
    metric: Metric,
    name: &'static str,
    title: &'static str,
    tasks: Tasks,
    larger: bool,
    formula: &'static str,
) -> MetricInfo {
    MetricInfo { metric, name, title, tasks, larger, formula }
}

/// Every metric, in the order of [`Metric`].
#[rustfmt::skip]
pub static METRICS: [MetricInfo; 17] = [
    info(Metric::Accuracy, "accuracy", "accuracy", Tasks::Classes, true,
        "share of bags with the right label"),
    info(Metric::BalancedAccuracy, "balanced_accuracy", "balanced accuracy", Tasks::Classes, true,
        "mean over classes of the share of the class's bags with the right label"),
    info(Metric::Precision, "precision", "precision", Tasks::Classes, true,
        "TP / (TP + FP); none without a positive prediction"),
    info(Metric::Recall, "recall", "recall", Tasks::Classes, true,
        "TP / (TP + FN)"),
    info(Metric::Specificity, "specificity", "specificity", Tasks::Binary, true,
        "TN / (TN + FP)"),
    info(Metric::F1, "f1", "F1", Tasks::Classes, true,
        "2 TP / (2 TP + FP + FN)"),
    info(Metric::Kappa, "kappa", "Cohen's kappa", Tasks::Classes, true,
        "(po - pe) / (1 - pe), po = accuracy, pe = sum over classes of actual share times predicted share; 0 if pe = 1"),
    info(Metric::RocAuc, "roc_auc", "ROC AUC", Tasks::Classes, true,
        "share of (positive, negative) pairs with the positive scored higher, ties one half; classes: mean of one against the rest"),
    info(Metric::PrAuc, "pr_auc", "PR AUC (average precision)", Tasks::Binary, true,
        "sum over distinct scores, descending, of (recall - recall before) * precision"),
    info(Metric::LogLoss, "log_loss", "log loss", Tasks::Classes, false,
        "- mean of ln p(true class), p at least 2^-52"),
    info(Metric::Brier, "brier", "Brier score", Tasks::Classes, false,
        "binary: mean of (p - y)^2, y in {0, 1}; classes: mean of the sum over classes of (p - y)^2, 0..2"),
    info(Metric::KappaPrinted, "kappa_printed", "kappa as printed (18d)", Tasks::Binary, true,
        "(n - e) / (1 - e), e = (TP + FN)(TP + FP) / n; not Cohen's kappa"),
    info(Metric::AucPrinted, "auc_printed", "AUC as printed (18e)", Tasks::Binary, true,
        "(TP / (TP + FN) + TN / (TN + FP)) / 2; the balanced accuracy"),
    info(Metric::Mse, "mse", "mean squared error", Tasks::Values, false,
        "mean of (predicted - actual)^2"),
    info(Metric::Mae, "mae", "mean absolute error", Tasks::Values, false,
        "mean of |predicted - actual|"),
    info(Metric::R2, "r2", "R2", Tasks::Values, true,
        "1 - sum (predicted - actual)^2 / sum (actual - mean actual)^2; none if actual values do not vary"),
    info(Metric::ErrPercent, "err_percent", "%err", Tasks::Values, false,
        "100 times the share of bags whose actual and predicted values lie on different sides of 0.5 (0.5 counts as above)"),
];

/// Probabilities below this count as this in the log loss, so that one wrong certainty is not infinite; the
/// spacing of doubles at 1, as scikit-learn has it.
const LEAST_PROBABILITY: f64 = f64::EPSILON;

/// Counts of bags by truth and label.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Confusion {
    /// Positive, called positive.
    pub tp: u64,
    /// Negative, called negative.
    pub tn: u64,
    /// Negative, called positive.
    pub fp: u64,
    /// Positive, called negative.
    pub fn_: u64,
}

impl Metric {
    /// What parameters are chosen by where nothing is said: accuracy, or the mean squared error of numbers.
    pub fn default_for(numbers: bool) -> Metric {
        if numbers { Metric::Mse } else { Metric::Accuracy }
    }

    /// Its line in the table.
    pub fn info(self) -> &'static MetricInfo {
        &METRICS[self as usize]
    }

    /// Its name.
    pub fn name(self) -> &'static str {
        self.info().name
    }

    /// True if `a` is a better value than `b`.
    pub fn better(self, a: f64, b: f64) -> bool {
        if self.info().larger { a > b } else { a < b }
    }

    /// True for the variants of a paper's printed formulas, which tables for readers leave out.
    pub fn is_printed(self) -> bool {
        matches!(self, Metric::KappaPrinted | Metric::AucPrinted)
    }

    /// The smallest and the largest value there can be.
    pub fn range(self) -> (f64, f64) {
        use Metric as M;
        match self {
            M::Accuracy | M::BalancedAccuracy | M::Precision | M::Recall | M::Specificity | M::F1 => {
                (0.0, 1.0)
            }
            M::RocAuc | M::PrAuc | M::AucPrinted => (0.0, 1.0),
            M::Kappa => (-1.0, 1.0),
            M::KappaPrinted => (f64::NEG_INFINITY, f64::INFINITY),
            M::LogLoss => (0.0, -LEAST_PROBABILITY.ln()),
            M::Brier => (0.0, 2.0),
            M::Mse | M::Mae => (0.0, f64::INFINITY),
            M::R2 => (f64::NEG_INFINITY, 1.0),
            M::ErrPercent => (0.0, 100.0),
        }
    }

    /// Refuses a metric that cannot judge this kind of target.
    pub fn check(self, target: &Target) -> Result<()> {
        let suits = |tasks: Tasks| match target {
            Target::Values(_) => tasks == Tasks::Values,
            Target::Classes { names, .. } => {
                tasks == Tasks::Classes || tasks == Tasks::Binary && names.len() == 2
            }
        };
        if suits(self.info().tasks) {
            return Ok(());
        }
        let what = match target {
            Target::Values(_) => "numbers".to_string(),
            Target::Classes { names, .. } => format!("{} classes", names.len()),
        };
        let usable: Vec<&str> = METRICS.iter().filter(|m| suits(m.tasks)).map(|m| m.name).collect();
        Err(Error::Invalid(format!(
            "{} does not judge {what}; use one of: {}",
            self.name(),
            usable.join(", ")
        )))
    }

    /// The metrics that judge such predictions.
    pub fn for_task(predictions: &Predictions) -> Vec<Metric> {
        METRICS
            .iter()
            .filter(|m| match predictions {
                Predictions::Classes(c) => {
                    m.tasks == Tasks::Classes || m.tasks == Tasks::Binary && c.positive.is_some()
                }
                Predictions::Values { .. } => m.tasks == Tasks::Values,
            })
            .map(|m| m.metric)
            .collect()
    }

    /// The value, if these predictions have one.
    pub fn value(self, predictions: &Predictions) -> Option<f64> {
        if predictions.is_empty() {
            return None;
        }
        match predictions {
            Predictions::Values { truth, predicted } => self.of_values(truth, predicted),
            Predictions::Classes(c) => match c.positive {
                Some(positive) => self.of_binary(c, positive),
                None => self.of_classes(c),
            },
        }
        .filter(|v| v.is_finite())
    }

    /// The value from counts alone, for metrics that need no more.
    pub fn of_counts(self, n: &Confusion) -> Option<f64> {
        let Confusion { tp, tn, fp, fn_ } = *n;
        let total = tp + tn + fp + fn_;
        match self {
            Metric::Accuracy => ratio(tp + tn, total),
            Metric::Precision => ratio(tp, tp + fp),
            Metric::Recall => ratio(tp, tp + fn_),
            Metric::Specificity => ratio(tn, tn + fp),
            Metric::F1 => ratio(2 * tp, 2 * tp + fp + fn_),
            Metric::BalancedAccuracy | Metric::AucPrinted => {
                Some((ratio(tp, tp + fn_)? + ratio(tn, tn + fp)?) / 2.0)
            }
            Metric::Kappa => kappa(total, tp + tn, &[tp + fn_, fp + tn], &[tp + fp, fn_ + tn]),
            Metric::KappaPrinted => {
                let e = ratio((tp + fn_) * (tp + fp), total)?;
                (e != 1.0).then(|| (total as f64 - e) / (1.0 - e))
            }
            _ => None,
        }
    }

    fn of_binary(self, c: &Classified, positive: u32) -> Option<f64> {
        match self {
            Metric::RocAuc => roc_auc(&c.is(positive), &column(c.scores.as_ref()?, positive)),
            Metric::PrAuc => average_precision(&c.is(positive), &column(c.scores.as_ref()?, positive)),
            Metric::LogLoss => log_loss(c),
            Metric::Brier => {
                let p = column(c.probabilities.as_ref()?, positive);
                mean(c.is(positive).iter().zip(&p).map(|(&y, p)| (p - f64::from(u8::from(y))).powi(2)))
            }
            _ => self.of_counts(&counts(c, positive)),
        }
    }

    fn of_classes(self, c: &Classified) -> Option<f64> {
        let present: Vec<u32> = (0..c.classes as u32).filter(|k| c.truth.contains(k)).collect();
        let macro_mean = |of: &dyn Fn(u32) -> Option<f64>| -> Option<f64> {
            let values: Vec<f64> = present.iter().map(|&k| of(k)).collect::<Option<_>>()?;
            (values.len() >= 2).then(|| mean(values.into_iter()))?
        };
        match self {
            Metric::Accuracy => ratio(
                c.truth.iter().zip(&c.labels).filter(|(t, l)| t == l).count() as u64,
                c.truth.len() as u64,
            ),
            Metric::BalancedAccuracy | Metric::Recall => {
                macro_mean(&|k| Metric::Recall.of_counts(&counts(c, k)))
            }
            Metric::Precision | Metric::F1 => macro_mean(&|k| self.of_counts(&counts(c, k))),
            Metric::Kappa => {
                let tally = |codes: &[u32]| {
                    let mut tally = vec![0u64; c.classes];
                    codes.iter().for_each(|&k| tally[k as usize] += 1);
                    tally
                };
                let right = c.truth.iter().zip(&c.labels).filter(|(t, l)| t == l).count();
                kappa(c.truth.len() as u64, right as u64, &tally(&c.truth), &tally(&c.labels))
            }
            Metric::RocAuc => {
                let scores = c.scores.as_ref()?;
                macro_mean(&|k| roc_auc(&c.is(k), &column(scores, k)))
            }
            Metric::LogLoss => log_loss(c),
            Metric::Brier => {
                let table = c.probabilities.as_ref()?;
                mean(c.truth.iter().enumerate().map(|(bag, &t)| {
                    (0..c.classes as u32)
                        .map(|k| (c.probability(table, bag, k) - f64::from(u8::from(k == t))).powi(2))
                        .sum()
                }))
            }
            _ => None,
        }
    }

    fn of_values(self, truth: &[f64], predicted: &[f64]) -> Option<f64> {
        let pairs = || truth.iter().zip(predicted);
        match self {
            Metric::Mse => mean(pairs().map(|(t, p)| (p - t).powi(2))),
            Metric::Mae => mean(pairs().map(|(t, p)| (p - t).abs())),
            Metric::R2 => {
                if truth.windows(2).all(|w| w[0] == w[1]) {
                    return None;
                }
                let centre = mean(truth.iter().copied())?;
                let total: f64 = truth.iter().map(|t| (t - centre).powi(2)).sum();
                let rest: f64 = pairs().map(|(t, p)| (p - t).powi(2)).sum();
                (total > 0.0).then(|| 1.0 - rest / total)
            }
            Metric::ErrPercent => {
                let wrong = pairs().filter(|(t, p)| (**t >= 0.5) != (**p >= 0.5)).count();
                Some(100.0 * ratio(wrong as u64, truth.len() as u64)?)
            }
            _ => None,
        }
    }
}

impl fmt::Display for Metric {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Metric {
    type Err = Error;

    /// The name in the table; hyphens count as underscores.
    fn from_str(text: &str) -> Result<Metric> {
        let name = text.replace('-', "_");
        METRICS
            .iter()
            .find(|m| m.name == name)
            .map(|m| m.metric)
            .ok_or_else(|| Error::unknown("metric", text, METRICS.iter().map(|m| m.name)))
    }
}

fn ratio(part: u64, whole: u64) -> Option<f64> {
    (whole > 0).then(|| part as f64 / whole as f64)
}

fn mean(values: impl ExactSizeIterator<Item = f64>) -> Option<f64> {
    let n = values.len();
    // Adding 0 turns the -0 of an empty or perfect sum into 0.
    (n > 0).then(|| (values.sum::<f64>() + 0.0) / n as f64)
}

/// One class against the rest.
fn counts(c: &Classified, positive: u32) -> Confusion {
    let mut n = Confusion::default();
    for (&truth, &label) in c.truth.iter().zip(&c.labels) {
        match (truth == positive, label == positive) {
            (true, true) => n.tp += 1,
            (false, false) => n.tn += 1,
            (false, true) => n.fp += 1,
            (true, false) => n.fn_ += 1,
        }
    }
    n
}

/// Cohen's kappa from bags, right ones, and the class counts of truth and labels.
fn kappa(total: u64, right: u64, truth: &[u64], labels: &[u64]) -> Option<f64> {
    let chance: u64 = truth.iter().zip(labels).map(|(t, l)| t * l).sum();
    if total == 0 {
        return None;
    }
    if chance == total * total {
        return Some(0.0);
    }
    let pe = chance as f64 / (total * total) as f64;
    Some((right as f64 / total as f64 - pe) / (1.0 - pe))
}

/// Mann and Whitney's statistic over the number of pairs; counted in whole (doubled) pairs, so exact.
fn roc_auc(positive: &[bool], scores: &[f64]) -> Option<f64> {
    let mut order: Vec<usize> = (0..scores.len()).collect();
    order.sort_by(|&a, &b| scores[a].total_cmp(&scores[b]));
    let (mut below, mut doubled) = (0u64, 0u64);
    for ties in order.chunk_by(|&a, &b| scores[a] == scores[b]) {
        let up = ties.iter().filter(|&&i| positive[i]).count() as u64;
        let down = ties.len() as u64 - up;
        doubled += up * (2 * below + down);
        below += down;
    }
    let pairs = below * (scores.len() as u64 - below);
    ratio(doubled, 2 * pairs)
}

fn average_precision(positive: &[bool], scores: &[f64]) -> Option<f64> {
    let total = positive.iter().filter(|&&p| p).count();
    if total == 0 {
        return None;
    }
    let mut order: Vec<usize> = (0..scores.len()).collect();
    order.sort_by(|&a, &b| scores[b].total_cmp(&scores[a]));
    let (mut found, mut called, mut sum) = (0, 0, 0.0);
    for ties in order.chunk_by(|&a, &b| scores[a] == scores[b]) {
        let up = ties.iter().filter(|&&i| positive[i]).count();
        found += up;
        called += ties.len();
        sum += up as f64 / total as f64 * (found as f64 / called as f64);
    }
    Some(sum)
}

fn log_loss(c: &Classified) -> Option<f64> {
    let table = c.probabilities.as_ref()?;
    mean(
        c.truth
            .iter()
            .enumerate()
            .map(|(bag, &t)| -c.probability(table, bag, t).clamp(LEAST_PROBABILITY, 1.0).ln()),
    )
}
