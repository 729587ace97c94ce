//! What evaluation needs to know about the bags of a data set: names, true labels, groups, the positive class. It is
//! stored once with the results, so records contain only positions, and every table can be computed without the data.

use serde::{Deserialize, Serialize};

use super::fingerprint::data_fingerprint;
use super::metrics::Metric;
use super::predictions::{Classified, Predictions};
use super::record::{Record, ScoredBags};
use super::split::FoldPlan;
use bagwise_core::{Dataset, Error, Mat, Result, Target};

/// The truth of each bag.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Truth {
    /// Classes: `codes[bag]` is a position in `names`.
    Classes {
        /// The class of each bag.
        codes: Vec<u32>,
        /// The classes.
        names: Vec<String>,
    },
    /// Real values.
    Values(Vec<f64>),
}

/// The bags of one data set.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct GroundTruth {
    /// The data set's name.
    pub data: String,
    /// Its fingerprint.
    pub fingerprint: String,
    /// The name of each bag.
    pub bags: Vec<String>,
    /// The truth of each bag.
    pub truth: Truth,
    /// The positive class; none for real values and for more than two classes.
    pub positive: Option<u32>,
    /// The group of each bag, if there are groups.
    pub groups: Option<Vec<String>>,
}

/// The prediction of a method for one bag.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BagPrediction {
    /// The predicted class; none for real values.
    pub label: Option<u32>,
    /// The score of the positive class, else of the predicted one; the predicted value of a real target. None if only the class was
    /// predicted.
    pub score: Option<f64>,
    /// The probability of the same class.
    pub probability: Option<f64>,
}

impl GroundTruth {
    /// The roster of a data set. Of two classes `positive` names the positive one, else it is the last.
    pub fn new(data: &Dataset, positive: Option<&str>) -> Result<GroundTruth> {
        let truth = match data.require_target()? {
            Target::Classes { codes, names } => Truth::Classes { codes: codes.clone(), names: names.clone() },
            Target::Values(values) => Truth::Values(values.clone()),
        };
        let positive = match (&truth, positive) {
            (Truth::Classes { names, .. }, Some(class)) => {
                let code = names
                    .iter()
                    .position(|n| n == class)
                    .ok_or_else(|| Error::unknown("class", class, names.iter().map(String::as_str)))?;
                if names.len() > 2 {
                    return Err(Error::Invalid(format!(
                        "{} has {} classes; there is a positive class only if there are two",
                        data.name,
                        names.len()
                    )));
                }
                Some(code as u32)
            }
            (Truth::Classes { names, .. }, None) => (names.len() == 2).then_some(1),
            (Truth::Values(_), Some(class)) => {
                return Err(Error::Invalid(format!(
                    "the label of {} is a number, so '{class}' cannot be the positive class",
                    data.name
                )));
            }
            (Truth::Values(_), None) => None,
        };
        Ok(GroundTruth {
            data: data.name.clone(),
            fingerprint: data_fingerprint(data)?,
            bags: data.bags.ids().to_vec(),
            truth,
            positive,
            groups: data
                .groups
                .as_ref()
                .map(|g| g.codes.iter().map(|&c| g.names[c as usize].clone()).collect()),
        })
    }

    /// Returns an error if the lists, read from a file, are inconsistent.
    pub fn check(&self) -> Result<()> {
        let bags = self.bags.len();
        let refuse = |what: String| Err(Error::Invalid(what));
        let (known, classes) = match &self.truth {
            Truth::Values(values) => {
                if values.iter().any(|v| !v.is_finite()) {
                    return refuse("a value is not a finite number".into());
                }
                (values.len(), 0)
            }
            Truth::Classes { codes, names } => {
                if let Some(code) = codes.iter().find(|&&code| code as usize >= names.len()) {
                    return refuse(format!(
                        "a bag is of class {code}, but there are {} classes",
                        names.len()
                    ));
                }
                (codes.len(), names.len())
            }
        };
        if known != bags {
            return refuse(format!("labels are given for {known} bags, but there are {bags}"));
        }
        if let Some(groups) = self.groups.as_ref().filter(|groups| groups.len() != bags) {
            return refuse(format!("groups are given for {} bags, but there are {bags}", groups.len()));
        }
        match self.positive {
            Some(class) if classes != 2 || class > 1 => {
                refuse(format!("class {class} of {classes} cannot be the positive class"))
            }
            _ => Ok(()),
        }
    }

    /// Refuses a record of these data that contradicts the bags, the folds or itself: one that was edited, or that belongs to
    /// another run. Records of other data are not looked at.
    pub fn check_record(&self, record: &Record, folds: Option<&FoldPlan>) -> Result<()> {
        let (key, scored) = (&record.key, &record.scored);
        let refuse = |what: String| Err(Error::Invalid(format!("fit of {key}: {what}")));
        if key.data != self.data {
            return Ok(());
        }
        if record.data != self.fingerprint {
            return refuse("the record belongs to other data with the same name".into());
        }
        if let Some(folds) = folds {
            let Some(fold) = folds.repeats.get(key.repeat).and_then(|folds| folds.get(key.fold)) else {
                return refuse("the run has no such repeat or fold".into());
            };
            let judged = key.inner.is_none() && record.succeeded();
            if judged && (scored.bags != fold.test || record.trained != fold.train.len()) {
                return refuse("its bags do not match the fold".into());
            }
        }
        if !record.succeeded() {
            return Ok(());
        }
        let predictions = self.predictions(scored)?;
        for (name, &stored) in &record.metrics {
            // A later bagwise may have metrics that this one does not know.
            let Ok(metric) = name.parse::<Metric>() else { continue };
            let value = metric.value(&predictions).filter(|v| v.is_finite());
            let same = match (stored, value) {
                // Sums may differ in their last bits between machines and versions; an edit does not.
                (Some(a), Some(b)) => (a - b).abs() <= 1e-9 * a.abs().max(b.abs()).max(1.0),
                (a, b) => a.is_none() == b.is_none(),
            };
            if !same {
                let shown = |v: Option<f64>| v.map_or("undefined".into(), |v| v.to_string());
                return refuse(format!(
                    "{name} is recorded as {}, but labels and scores give {}: the record was edited",
                    shown(stored),
                    shown(value)
                ));
            }
        }
        Ok(())
    }

    /// The group of each bag as a number, groups by name; none without groups.
    pub fn group_codes(&self) -> Option<Vec<u32>> {
        let groups = self.groups.as_ref()?;
        let names: std::collections::BTreeSet<&str> = groups.iter().map(String::as_str).collect();
        let code: std::collections::BTreeMap<&str, u32> = names.into_iter().zip(0..).collect();
        Some(groups.iter().map(|name| code[name.as_str()]).collect())
    }

    /// The predictions of a method for some bags, with their true labels.
    pub fn predictions(&self, scored: &ScoredBags) -> Result<Predictions> {
        if let Some(bag) = scored.bags.iter().find(|&&b| b >= self.bags.len()) {
            return Err(Error::Invalid(format!(
                "a record scores bag {bag}, but {} has {} bags; the record belongs to other data",
                self.data,
                self.bags.len()
            )));
        }
        match &self.truth {
            Truth::Values(values) => {
                Predictions::values(scored.bags.iter().map(|&b| values[b]).collect(), scored.scores.clone())
            }
            Truth::Classes { codes, names } => {
                let labels = scored.labels.clone().ok_or_else(|| {
                    Error::Invalid(format!("a record has no labels, but {} has classes", self.data))
                })?;
                let truth = scored.bags.iter().map(|&b| codes[b]).collect();
                let rows = scored.bags.len();
                let mut c = Classified::new(truth, labels, names.len(), self.positive)?;
                if rows > 0 {
                    if !scored.scores.is_empty() {
                        c = c.with_scores(table("scores", rows, &scored.scores)?)?;
                    }
                    if let Some(p) = &scored.probabilities {
                        c = c.with_probabilities(table("probabilities", rows, p)?)?;
                    }
                }
                Ok(Predictions::Classes(c))
            }
        }
    }
}

impl GroundTruth {
    /// The prediction in a row of a record that matches this data set ([`GroundTruth::predictions`] checks that).
    pub fn prediction(&self, scored: &ScoredBags, row: usize) -> BagPrediction {
        let label = scored.labels.as_ref().map(|l| l[row]);
        let cell = |values: &[f64]| {
            let width = values.len() / scored.bags.len();
            let at = if width == 1 { 0 } else { self.positive.or(label).unwrap_or(0) as usize };
            values[row * width + at]
        };
        let probability = scored.probabilities.as_deref().map(cell);
        let score = (!scored.scores.is_empty()).then(|| cell(&scored.scores));
        BagPrediction { label, score, probability }
    }

    /// How sure an answer is, to put the surest first; of real values how far it is from the truth. Below 0 where a threshold decided
    /// against the more probable class.
    pub fn sureness(&self, bag: usize, answer: &BagPrediction) -> f64 {
        // A class alone says nothing of how sure it is.
        let score = answer.score.unwrap_or(0.0);
        match (&self.truth, self.positive, answer.probability) {
            (Truth::Values(values), ..) => (score - values[bag]).abs(),
            // Probability and score are those of the positive class, whatever the answer.
            (_, Some(positive), probability) => {
                let towards = probability.map_or(score, |p| p - 0.5);
                if answer.label == Some(positive) { towards } else { -towards }
            }
            (_, None, probability) => probability.unwrap_or(score),
        }
    }
}

fn table(what: &str, rows: usize, values: &[f64]) -> Result<Mat> {
    if values.is_empty() || !values.len().is_multiple_of(rows) {
        return Err(Error::Invalid(format!("{} {what} for {rows} bags", values.len())));
    }
    Ok(Mat::new(rows, values.len() / rows, values.to_vec()))
}
