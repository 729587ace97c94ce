//! Predictions that were computed elsewhere, on the folds of a run: they take part in a comparison as if bagwise had trained
//! the method. Everything that can be checked is: every bag is there once in every repeat, in the fold that tests it, and with
//! the label that it has here.

use std::collections::BTreeMap;

use bagwise_core::{Error, Message, Result, Setting};
use bagwise_judge::{Key, Record, ScoredBags, Truth};

use super::{FoldResult, Run};

/// What a method from elsewhere said of one bag.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct OutsidePrediction {
    /// The bag.
    pub bag: String,
    /// The repeat, counted from 0.
    pub repeat: usize,
    /// The fold that tests the bag, counted from 0.
    pub fold: usize,
    /// The label that it was trained with, to be checked; nothing if it is not known.
    pub actual: Option<String>,
    /// The predicted class or value; nothing if it follows from scores or probabilities.
    pub predicted: Option<String>,
    /// The score of the positive class, or one for each class; may be empty.
    pub scores: Vec<f64>,
    /// Likewise, probabilities.
    pub probabilities: Vec<f64>,
}

impl Run<'_> {
    /// The records of a method from elsewhere, one for each fold; an error that says which bag does not fit.
    pub(crate) fn outside_records(&self, name: &str, rows: &[OutsidePrediction]) -> Result<Vec<Record>> {
        let refuse = |found: String, remedy: &str| {
            Err(Error::refused(format!("{name}: {found}"), Message::from(remedy)))
        };
        let mut position: BTreeMap<&str, usize> = BTreeMap::new();
        for (at, bag) in self.roster.bags.iter().enumerate() {
            position.insert(bag, at);
        }
        let mut of_bag: BTreeMap<(usize, usize, usize), &OutsidePrediction> = BTreeMap::new();
        for row in rows {
            let Some(&bag) = position.get(row.bag.as_str()) else {
                return refuse(
                    format!("bag '{}' is not in {}", row.bag, self.data.name),
                    "predict the bags of these data",
                );
            };
            let Some(folds) = self.folds.repeats.get(row.repeat) else {
                return refuse(
                    format!(
                        "bag '{}' is of repeat {}, and there are {} repeats",
                        row.bag,
                        row.repeat,
                        self.folds.repeats.len()
                    ),
                    "count repeats from 0, and predict all of them",
                );
            };
            let tests = |fold: usize| folds.get(fold).is_some_and(|f| f.test.binary_search(&bag).is_ok());
            if !tests(row.fold) {
                let own = (0..folds.len()).find(|&fold| tests(fold));
                let own = own.map_or("no fold".into(), |fold| format!("fold {fold}"));
                return Err(Error::refused(
                    format!(
                        "{name}: bag '{}' is predicted in fold {}, and this comparison tests it in {own}",
                        row.bag, row.fold
                    ),
                    Message::from("train on the folds of this comparison (folds.json in its folder), or give it the folds that were used")
                        .with([Setting::GivenFolds]),
                ));
            }
            self.check_actual(name, bag, row)?;
            if of_bag.insert((row.repeat, row.fold, bag), row).is_some() {
                return refuse(
                    format!("bag '{}' is predicted twice in fold {}", row.bag, row.fold),
                    "keep one of the two",
                );
            }
        }
        let mut records = Vec::new();
        for (repeat, folds) in self.folds.repeats.iter().enumerate() {
            for (at, fold) in folds.iter().enumerate() {
                let own: Vec<Option<&OutsidePrediction>> =
                    fold.test.iter().map(|&bag| of_bag.get(&(repeat, at, bag)).copied()).collect();
                if let Some(missing) = own.iter().position(Option::is_none) {
                    let bag = &self.roster.bags[fold.test[missing]];
                    return refuse(
                        format!("bag '{bag}' has no prediction in fold {at} of repeat {repeat}"),
                        "predict every bag by the model of the fold that tests it",
                    );
                }
                let own: Vec<&OutsidePrediction> = own.into_iter().flatten().collect();
                let judged =
                    FoldResult { scored: self.scored(name, &fold.test, &own)?, ..FoldResult::default() };
                let key = Key {
                    data: self.data.name.clone(),
                    method: name.into(),
                    repeat,
                    fold: at,
                    inner: None,
                    point: String::new(),
                };
                records.push(self.record(key, fold, Ok(judged), 0.0)?);
            }
        }
        Ok(records)
    }

    /// Refuses a label that is not the one here.
    fn check_actual(&self, name: &str, bag: usize, row: &OutsidePrediction) -> Result<()> {
        let Some(actual) = &row.actual else { return Ok(()) };
        let (same, here) = match &self.roster.truth {
            Truth::Classes { codes, names } => {
                let own = &names[codes[bag] as usize];
                (own == actual, own.clone())
            }
            Truth::Values(values) => {
                let value = values[bag];
                let near = |v: f64| (v - value).abs() <= 1e-9 * value.abs().max(1.0);
                (actual.trim().parse().is_ok_and(near), value.to_string())
            }
        };
        if same {
            return Ok(());
        }
        Err(Error::refused(
            format!(
                "{name}: the label of bag '{}' is {actual} in the predictions and {here} in {}",
                row.bag, self.data.name
            ),
            Message::from("use predictions for the same labels"),
        ))
    }

    /// What was said of the bags of a fold, as a record keeps it.
    fn scored(&self, name: &str, bags: &[usize], rows: &[&OutsidePrediction]) -> Result<ScoredBags> {
        let lacks = |row: &OutsidePrediction, what: &str| {
            Error::refused(
                format!("{name}: bag '{}' has no {what}", row.bag),
                Message::from("add it, for every bag"),
            )
        };
        let Truth::Classes { names, .. } = &self.roster.truth else {
            let value = |row: &&OutsidePrediction| -> Result<f64> {
                let told = row.predicted.as_ref().and_then(|text| text.trim().parse().ok());
                row.scores.first().copied().or(told).ok_or_else(|| lacks(row, "predicted value"))
            };
            let scores = rows.iter().map(value).collect::<Result<_>>()?;
            return Ok(ScoredBags { bags: bags.to_vec(), labels: None, scores, probabilities: None });
        };
        let width = |values: &[f64]| {
            values.is_empty()
                || values.len() == names.len()
                || values.len() == 1 && self.roster.positive.is_some()
        };
        for row in rows {
            if !width(&row.scores) || !width(&row.probabilities) {
                return Err(lacks(row, "score or probability for each class"));
            }
        }
        let label = |row: &&OutsidePrediction| -> Result<u32> {
            if let Some(predicted) = &row.predicted {
                let code = names.iter().position(|n| n == predicted).ok_or_else(|| {
                    Error::Invalid(format!(
                        "{name}: bag '{}' is predicted as '{predicted}'; the classes are {}",
                        row.bag,
                        names.join(", ")
                    ))
                })?;
                return Ok(code as u32);
            }
            let (values, middle) = match row.probabilities.is_empty() {
                true => (&row.scores, 0.0),
                false => (&row.probabilities, 0.5),
            };
            match (values.as_slice(), self.roster.positive) {
                ([], _) => Err(lacks(row, "predicted class")),
                ([value], Some(positive)) => Ok(if *value > middle { positive } else { 1 - positive }),
                (values, _) => {
                    let best =
                        (0..values.len()).max_by(|&a, &b| values[a].total_cmp(&values[b]).then(b.cmp(&a)));
                    Ok(best.unwrap_or(0) as u32)
                }
            }
        };
        let probabilities = rows.iter().all(|row| !row.probabilities.is_empty());
        let labels: Vec<u32> = rows.iter().map(label).collect::<Result<_>>()?;
        // Without scores bags are compared by probabilities. Classes alone put them in no order: a ROC AUC of them would be the balanced
        // accuracy by another name.
        let classes_only = rows.iter().any(|row| row.scores.is_empty() && row.probabilities.is_empty());
        let score = |row: &&OutsidePrediction| match row.scores.is_empty() {
            false => row.scores.clone(),
            true => row.probabilities.clone(),
        };
        let scores = if classes_only { Vec::new() } else { rows.iter().flat_map(score).collect() };
        Ok(ScoredBags {
            bags: bags.to_vec(),
            scores,
            probabilities: probabilities.then(|| rows.iter().flat_map(|r| r.probabilities.clone()).collect()),
            labels: Some(labels),
        })
    }
}
