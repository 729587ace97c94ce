//! How good predictions are, as one number. The table [`METRICS`] is the source of names, titles, direction
//! and formulas. With a positive class (binary) TP, TN, FP, FN count bags; without one (multi-class) precision,
//! recall, F1, balanced accuracy and ROC AUC are means over the classes that occur in the truth ("macro"), of
//! which there must be two.
//!
//! A value that does not exist is `None`: precision without a positive prediction, AUC with one class, a metric
//! of another task, log loss without probabilities. Three conventions are taken over: kappa is 0 when chance agreement
//! is complete, MCC is 0 when truth or labels are all of one class, and Spearman's correlation is 0 for predictions that
//! do not vary. Definitions: spec of MIRSVM, eq. 18 (the paper's printed kappa and AUC keep names of their
//! own); average precision is the step sum over distinct scores, without interpolation.
//!
//! Metrics that compare bags with each other ([`Metric::compares_bags`]) compare bags of the same fold only: every fold has
//! a model of its own, whose outputs have an offset of their own. Pooled, a constant would be judged by how its
//! offsets happen to follow the shares of the classes.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

mod formulas;
use super::predictions::Predictions;
use super::quantity::Quantity;
use bagwise_core::{Error, Result, Target};

/// A measure of quality.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[allow(missing_docs)] // METRICS has a line for each.
pub enum Metric {
    Accuracy,
    BalancedAccuracy,
    RocAuc,
    PrAuc,
    Precision,
    Recall,
    Specificity,
    F1,
    Mcc,
    Kappa,
    LogLoss,
    Brier,
    CalibrationError,
    KappaPrinted,
    AucPrinted,
    Rmse,
    R2,
    Spearman,
    Concordance,
    Mae,
    Mse,
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
pub static METRICS: [MetricInfo; 22] = [
    info(Metric::Accuracy, "accuracy", "accuracy", Tasks::Classes, true,
        "fraction of bags with the correct label"),
    info(Metric::BalancedAccuracy, "balanced_accuracy", "balanced accuracy", Tasks::Classes, true,
        "mean over classes of the recall of the class"),
    info(Metric::RocAuc, "roc_auc", "ROC AUC", Tasks::Classes, true,
        "fraction of (positive, negative) pairs within a fold in which the positive bag scores higher, ties count \
         one half, counted over all folds; several classes: mean of the one-versus-rest AUCs"),
    info(Metric::PrAuc, "pr_auc", "PR AUC (average precision)", Tasks::Binary, true,
        "sum over distinct scores, descending, of (recall - previous recall) * precision, in each fold with both \
         classes, whose bags are weighted so that the classes have the shares that they have over all folds; mean \
         over these folds, weighted by the number of positive bags"),
    info(Metric::Precision, "precision", "precision", Tasks::Classes, true,
        "TP / (TP + FP); undefined without a positive prediction"),
    info(Metric::Recall, "recall", "recall", Tasks::Classes, true,
        "TP / (TP + FN)"),
    info(Metric::Specificity, "specificity", "specificity", Tasks::Binary, true,
        "TN / (TN + FP)"),
    info(Metric::F1, "f1", "F1", Tasks::Classes, true,
        "2 TP / (2 TP + FP + FN)"),
    info(Metric::Mcc, "mcc", "Matthews correlation", Tasks::Classes, true,
        "(n r - sum t l) / sqrt((n^2 - sum t^2)(n^2 - sum l^2)): n bags, r correct, sums over classes with t bags \
         and l predictions; 0 if all bags or all predictions are of one class"),
    info(Metric::Kappa, "kappa", "Cohen's kappa", Tasks::Classes, true,
        "(po - pe) / (1 - pe), po = accuracy, pe = sum over classes of actual proportion times predicted \
         proportion; 0 if pe = 1"),
    info(Metric::LogLoss, "log_loss", "log loss", Tasks::Classes, false,
        "- mean of ln p(true class), p at least 2^-52"),
    info(Metric::Brier, "brier", "Brier score", Tasks::Classes, false,
        "binary: mean of (p - y)^2, y in {0, 1}; classes: mean of the sum over classes of (p - y)^2, 0..2"),
    info(Metric::CalibrationError, "calibration_error", "calibration error", Tasks::Classes, false,
        "mean over 15 equally large bins of |mean p - proportion of positive bags|; several classes: p of the \
         predicted class, and proportion of correct predictions"),
    info(Metric::KappaPrinted, "kappa_printed", "kappa as printed (18d)", Tasks::Binary, true,
        "(n - e) / (1 - e), e = (TP + FN)(TP + FP) / n; not Cohen's kappa"),
    info(Metric::AucPrinted, "auc_printed", "AUC as printed (18e)", Tasks::Binary, true,
        "(TP / (TP + FN) + TN / (TN + FP)) / 2; the balanced accuracy"),
    info(Metric::Rmse, "rmse", "root mean squared error", Tasks::Values, false,
        "square root of the mean of (predicted - actual)^2"),
    info(Metric::R2, "r2", "R2", Tasks::Values, true,
        "1 - sum (predicted - actual)^2 / sum (actual - mean actual)^2; undefined if actual values do not vary"),
    info(Metric::Spearman, "spearman", "Spearman correlation", Tasks::Values, true,
        "correlation of the ranks of predicted and actual values within a fold; mean over folds, weighted by the \
         number of bags; 0 if predicted values do not vary, undefined if actual values do not"),
    info(Metric::Concordance, "concordance", "concordance", Tasks::Values, true,
        "fraction of pairs within a fold with different actual values whose predicted values are in the same order, \
         ties count one half, counted over all folds"),
    info(Metric::Mae, "mae", "mean absolute error", Tasks::Values, false,
        "mean of |predicted - actual|"),
    info(Metric::Mse, "mse", "mean squared error", Tasks::Values, false,
        "mean of (predicted - actual)^2"),
    info(Metric::ErrPercent, "err_percent", "%err", Tasks::Values, false,
        "100 times the fraction of bags whose actual and predicted values are on different sides of 0.5 (0.5 counts \
         as above)"),
];

/// Probabilities below this count as this in the log loss, so that one wrong certainty is not infinite; the
/// spacing of doubles at 1, as scikit-learn has it.
pub(super) const LEAST_PROBABILITY: f64 = f64::EPSILON;

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
    /// What parameters are chosen by where nothing is said: accuracy, or the root mean squared error of numbers.
    pub fn default_for(numbers: bool) -> Metric {
        if numbers { Metric::Rmse } else { Metric::Accuracy }
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

    /// Why predicting the most frequent class for every bag is no baseline, if it is none: with a `positive` class, predicting that
    /// one for every bag may have a higher value, and so may a random order of few bags.
    pub fn no_baseline(self, positive: bool) -> Option<&'static str> {
        match self {
            Metric::F1 | Metric::Recall | Metric::Precision | Metric::Specificity if positive => {
                Some("predicting the other class for every bag may have a higher value")
            }
            Metric::PrAuc => Some("in small folds, a random order has a higher value"),
            Metric::CalibrationError => {
                Some("the share of each class is calibrated, and says nothing about a bag")
            }
            _ => None,
        }
    }

    /// True for the few that tables show where nothing is said.
    pub fn is_default(self) -> bool {
        use Metric as M;
        matches!(self, M::Accuracy | M::BalancedAccuracy | M::RocAuc | M::Rmse | M::R2 | M::Spearman)
    }

    /// True for variants from papers, which are computed only on request.
    pub fn is_on_request(self) -> bool {
        matches!(self, Metric::KappaPrinted | Metric::AucPrinted | Metric::ErrPercent)
    }

    /// True if bags are compared with each other by their scores, which are comparable within a fold only.
    pub fn compares_bags(self) -> bool {
        matches!(self, Metric::RocAuc | Metric::PrAuc | Metric::Spearman | Metric::Concordance)
    }

    /// True if it looks at probabilities.
    pub fn needs_probabilities(self) -> bool {
        matches!(self, Metric::LogLoss | Metric::Brier | Metric::CalibrationError)
    }

    /// The smallest and the largest value there can be.
    pub fn range(self) -> (f64, f64) {
        use Metric as M;
        match self {
            M::Accuracy | M::BalancedAccuracy | M::Precision | M::Recall | M::Specificity | M::F1 => {
                (0.0, 1.0)
            }
            M::RocAuc | M::PrAuc | M::AucPrinted | M::CalibrationError | M::Concordance => (0.0, 1.0),
            M::Kappa | M::Mcc | M::Spearman => (-1.0, 1.0),
            M::KappaPrinted => (f64::NEG_INFINITY, f64::INFINITY),
            M::LogLoss => (0.0, -LEAST_PROBABILITY.ln()),
            M::Brier => (0.0, 2.0),
            M::Rmse | M::Mse | M::Mae => (0.0, f64::INFINITY),
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
            "{} is not a metric for {what}; use one of: {}",
            self.name(),
            usable.join(", ")
        )))
    }

    /// The metrics that judge such predictions, but for those on request.
    pub fn for_task(predictions: &Predictions) -> Vec<Metric> {
        METRICS
            .iter()
            .filter(|m| !m.metric.is_on_request())
            .filter(|m| match predictions {
                Predictions::Classes(c) => {
                    m.tasks == Tasks::Classes || m.tasks == Tasks::Binary && c.positive.is_some()
                }
                Predictions::Values { .. } => m.tasks == Tasks::Values,
            })
            .map(|m| m.metric)
            .collect()
    }

    /// The value, if these predictions of one fold have one.
    pub fn value(self, predictions: &Predictions) -> Option<f64> {
        self.measured(predictions, None).map(Quantity::value)
    }

    /// The value over several folds, `folds[i]` being the fold of bag `i`. Bags are compared with bags of their own fold:
    /// pairs are added up over folds (ROC AUC, concordance), or the values of folds averaged, weighted by positive bags
    /// (average precision) or by bags (Spearman). A fold without a pair adds nothing. Average precision weights the bags of a
    /// fold so that its classes have the shares that they have over all folds.
    pub fn over_folds(self, predictions: &Predictions, folds: &[usize]) -> Option<f64> {
        self.measured(predictions, Some(folds)).map(Quantity::value)
    }

    /// The value of one fold among others: `whole` has the bags of all.
    pub(crate) fn in_fold(self, fold: &Predictions, whole: &Predictions) -> Option<f64> {
        self.among(fold, None, whole).map(Quantity::value)
    }

    /// The same, exact where it is a ratio of counts.
    pub(crate) fn measured(self, predictions: &Predictions, folds: Option<&[usize]>) -> Option<Quantity> {
        self.among(predictions, folds, predictions)
    }

    fn among(self, part: &Predictions, folds: Option<&[usize]>, whole: &Predictions) -> Option<Quantity> {
        if part.is_empty() {
            return None;
        }
        formulas::measure(self, part, folds, whole).filter(|v| v.value().is_finite())
    }

    /// The value from counts alone, for metrics that need no more.
    pub fn of_counts(self, n: &Confusion) -> Option<f64> {
        formulas::of_counts(self, n).map(Quantity::value)
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
