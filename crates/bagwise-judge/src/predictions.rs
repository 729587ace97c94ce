//! What was true and what a method said, for some bags: the input of every metric. A table of scores or
//! probabilities has one row per bag and either one column per class, or a single column that belongs to the
//! positive class.

use bagwise_core::{Error, Mat, Result};

/// Truth and prediction of some bags.
#[derive(Clone, Debug, PartialEq)]
pub enum Predictions {
    /// Of classes.
    Classes(Classified),
    /// Of real values.
    Values {
        /// True values.
        truth: Vec<f64>,
        /// Predicted values.
        predicted: Vec<f64>,
    },
}

/// Truth and prediction of classes. With a positive class, all others count as negative; without one, metrics
/// treat every class alike.
#[derive(Clone, Debug, PartialEq)]
pub struct Classified {
    pub(super) truth: Vec<u32>,
    pub(super) labels: Vec<u32>,
    pub(super) classes: usize,
    pub(super) positive: Option<u32>,
    pub(super) scores: Option<Mat>,
    pub(super) probabilities: Option<Mat>,
}

impl Classified {
    /// Predicted `labels` beside the `truth`, codes below `classes`.
    pub fn new(
        truth: Vec<u32>,
        labels: Vec<u32>,
        classes: usize,
        positive: Option<u32>,
    ) -> Result<Classified> {
        same_length(truth.len(), labels.len())?;
        if let Some(code) = truth.iter().chain(&labels).chain(&positive).find(|&&c| c as usize >= classes) {
            return Err(Error::Invalid(format!("class {code} of {classes} classes (counted from 0)")));
        }
        Ok(Classified { truth, labels, classes, positive, scores: None, probabilities: None })
    }

    /// Adds the scores behind the labels: larger means more likely.
    pub fn with_scores(mut self, scores: Mat) -> Result<Classified> {
        self.check("score", &scores)?;
        self.scores = Some(scores);
        Ok(self)
    }

    /// Adds class probabilities.
    pub fn with_probabilities(mut self, probabilities: Mat) -> Result<Classified> {
        self.check("probability", &probabilities)?;
        if let Some(p) = probabilities.data().iter().find(|p| !(0.0..=1.0).contains(*p)) {
            return Err(Error::Invalid(format!("a probability is {p}; it must lie in 0..1")));
        }
        self.probabilities = Some(probabilities);
        Ok(self)
    }

    fn check(&self, what: &str, table: &Mat) -> Result<()> {
        same_length(self.truth.len(), table.rows())?;
        let single = table.cols() == 1 && self.positive.is_some();
        if table.cols() != self.classes && !single {
            return Err(Error::Invalid(format!(
                "{} columns of {what} for {} classes; give one per class, or one with a positive class",
                table.cols(),
                self.classes
            )));
        }
        if let Some(i) = table.data().iter().position(|v| !v.is_finite()) {
            return Err(Error::Invalid(format!(
                "the {what} of bag {} (counted from 1) is not a finite number",
                i / table.cols() + 1
            )));
        }
        Ok(())
    }

    /// The same bags, all predicted to be of the most frequent class (of equally frequent ones the first), with equal scores and
    /// the shares of the classes as probabilities.
    pub(super) fn constant(&self) -> Classified {
        let mut counts = vec![0.0; self.classes];
        self.truth.iter().for_each(|&class| counts[class as usize] += 1.0);
        let most = counts.iter().fold(0.0, |most: f64, count| most.max(*count));
        let class = counts.iter().position(|count| *count == most).unwrap_or(0) as u32;
        let rows = self.truth.len();
        let shares: Vec<f64> = counts.iter().map(|count| count / rows.max(1) as f64).collect();
        Classified {
            truth: self.truth.clone(),
            labels: vec![class; rows],
            classes: self.classes,
            positive: self.positive,
            scores: Some(Mat::zeros(rows, self.classes)),
            probabilities: Some(Mat::from_rows(&vec![shares; rows])),
        }
    }

    /// For each bag, whether it belongs to class `class`.
    pub(super) fn is(&self, class: u32) -> Vec<bool> {
        self.truth.iter().map(|&t| t == class).collect()
    }

    /// A bag's probability of being of `class`.
    pub(super) fn probability(&self, table: &Mat, bag: usize, class: u32) -> f64 {
        match (table.cols(), self.positive) {
            (1, Some(positive)) if class == positive => table.get(bag, 0),
            (1, Some(_)) => 1.0 - table.get(bag, 0),
            _ => table.get(bag, class as usize),
        }
    }
}

/// The column of `table` that belongs to `class`: the only one, or the class's own.
pub(super) fn column(table: &Mat, class: u32) -> Vec<f64> {
    let at = if table.cols() == 1 { 0 } else { class as usize };
    (0..table.rows()).map(|i| table.get(i, at)).collect()
}

fn same_length(truth: usize, predicted: usize) -> Result<()> {
    if truth == predicted {
        return Ok(());
    }
    Err(Error::Invalid(format!("{predicted} predictions for {truth} bags")))
}

impl Predictions {
    /// Real values.
    pub fn values(truth: Vec<f64>, predicted: Vec<f64>) -> Result<Predictions> {
        same_length(truth.len(), predicted.len())?;
        if let Some(i) = predicted.iter().zip(&truth).position(|(p, t)| !p.is_finite() || !t.is_finite()) {
            return Err(Error::Invalid(format!(
                "the actual or predicted value of bag {} (counted from 1) is not a finite number",
                i + 1
            )));
        }
        Ok(Predictions::Values { truth, predicted })
    }

    /// Number of bags.
    pub fn len(&self) -> usize {
        match self {
            Predictions::Classes(c) => c.truth.len(),
            Predictions::Values { truth, .. } => truth.len(),
        }
    }

    /// True if there are no bags.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The bags at `rows`, in that order, repeats allowed: a bootstrap sample, or a part.
    pub fn pick(&self, rows: &[usize]) -> Predictions {
        let codes = |all: &[u32]| rows.iter().map(|&i| all[i]).collect();
        let numbers = |all: &[f64]| rows.iter().map(|&i| all[i]).collect();
        match self {
            Predictions::Classes(c) => Predictions::Classes(Classified {
                truth: codes(&c.truth),
                labels: codes(&c.labels),
                classes: c.classes,
                positive: c.positive,
                scores: c.scores.as_ref().map(|m| m.gather(rows)),
                probabilities: c.probabilities.as_ref().map(|m| m.gather(rows)),
            }),
            Predictions::Values { truth, predicted } => {
                Predictions::Values { truth: numbers(truth), predicted: numbers(predicted) }
            }
        }
    }
}
