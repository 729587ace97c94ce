//! Conformal prediction by CV+: sets of classes and intervals that contain the true value with a chosen coverage,
//! whatever the method.
//!
//! `fit` divides the training bags into K folds and keeps the model of each, trained (and tuned) without the bags of that
//! fold. Every training bag `i` then has a score `S_i` from the model that had not seen it: one minus the probability of its
//! class, or the distance of its value from the prediction. For a new bag `x` and a coverage `1 - a`, with `-k(i)` the model
//! without the fold of bag `i`:
//!
//! - classes: `y` is in the set if fewer than `(1 - a)(n + 1)` training bags have `S_i < s_{-k(i)}(x, y)`
//!   (*Romano, Sesia and Candès*, Classification with valid and adaptive coverage, NeurIPS 2020; *Vovk*, Cross-conformal
//!   predictors, 2015);
//! - numbers: from the lower to the upper `(1 - a)(n + 1)`-th of `f_{-k(i)}(x) -+ S_i` (*Barber, Candès, Ramdas and
//!   Tibshirani*, Predictive inference with the jackknife+, Annals of Statistics 2021).
//!
//! On average over data the truth is covered with probability `1 - 2a`, less a term that vanishes with the size of folds, and
//! in practice with about `1 - a`.
//!
//! Bags of a group are not exchangeable with those of other groups, but groups are. So every group weighs the same, its bags
//! share its weight, and `n` counts groups: the promise is for a bag of a new group (*Lee, Barber and Willett*,
//! Distribution-free inference with hierarchical data, 2023). Per class, only the bags of a class are compared with a bag that
//! could be of that class, so that the promise holds in each class.

use serde::{Deserialize, Serialize};

use super::{Model, ModelHeader, Prediction};
use crate::method::State;
use crate::state::refuse;
use bagwise_core::{Bags, Ctx, Error, Message, Result, Setting};

/// Sums of shares of groups are rounded; a count that is reached but for that is reached.
const ROUNDING: f64 = 1e-9;

/// What the header of a model says of its folds.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct ConformalHeader {
    /// The model of each fold.
    folds: Vec<ModelHeader>,
    /// Whether the bags had groups.
    grouped: bool,
}

/// The models of the folds, and what they said of the bags that they had not seen.
pub(crate) struct Conformal {
    folds: Vec<Model>,
    grouped: bool,
    bags: Vec<CalibrationBag>,
}

/// A training bag.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct CalibrationBag {
    /// The fold that tested it.
    pub(crate) fold: usize,
    /// Its group; its own number if there are no groups.
    pub(crate) group: usize,
    /// Its class; 0 for numbers.
    pub(crate) class: usize,
    /// How badly the model of the fold predicted it.
    pub(crate) score: f64,
}

/// How badly a prediction agrees with a class.
pub(crate) fn class_score(prediction: &Prediction, class: usize) -> f64 {
    1.0 - prediction.probabilities[class]
}

impl Conformal {
    pub(crate) fn new(folds: Vec<Model>, grouped: bool, bags: Vec<CalibrationBag>) -> Conformal {
        Conformal { folds, grouped, bags }
    }

    pub(crate) fn header(&self) -> ConformalHeader {
        ConformalHeader {
            folds: self.folds.iter().map(|m| m.header.clone()).collect(),
            grouped: self.grouped,
        }
    }

    /// Adds its arrays to those of the model.
    pub(crate) fn save(&self, state: &mut State) -> Result<()> {
        let mut own = State::default();
        own.put_counts("fold", self.bags.iter().map(|b| b.fold));
        own.put_counts("group", self.bags.iter().map(|b| b.group));
        own.put_counts("class", self.bags.iter().map(|b| b.class));
        own.put("score", &self.bags.iter().map(|b| b.score).collect::<Vec<_>>());
        state.nest("conformal", own);
        for (k, model) in self.folds.iter().enumerate() {
            state.nest(&format!("fold{k}"), model.state()?);
        }
        Ok(())
    }

    /// Reads what [`Conformal::save`] wrote for a model with these classes.
    pub(crate) fn load(header: &ConformalHeader, main: &ModelHeader, state: &State) -> Result<Conformal> {
        let own = state.nested("conformal");
        let (fold, group, class) = (own.counts("fold")?, own.counts("group")?, own.counts("class")?);
        let score = own.vector("score", fold.len())?;
        let same = [group.len(), class.len()].iter().all(|n| *n == fold.len());
        let known = fold.iter().all(|f| *f < header.folds.len())
            && class.iter().all(|c| *c < main.classes.len().max(1))
            && group.iter().all(|g| *g < fold.len());
        if !same || !known || fold.is_empty() || header.folds.len() < 2 {
            return Err(refuse("its folds and the scores of its training bags are inconsistent"));
        }
        let mut folds = Vec::with_capacity(header.folds.len());
        for (k, fold) in header.folds.iter().enumerate() {
            if fold.classes != main.classes || fold.features != main.features || fold.conformal.is_some() {
                return Err(refuse("the models of its folds predict something else"));
            }
            folds.push(Model::from_parts(fold.clone(), &state.nested(&format!("fold{k}")))?);
        }
        let bag =
            |i: usize| CalibrationBag { fold: fold[i], group: group[i], class: class[i], score: score[i] };
        Ok(Conformal { folds, grouped: header.grouped, bags: (0..fold.len()).map(bag).collect() })
    }

    /// The scores that a class is compared with; all of them where classes are not told apart.
    fn scores(&self, class: Option<usize>) -> WeighedScores {
        let bags: Vec<&CalibrationBag> =
            self.bags.iter().filter(|b| class.is_none_or(|class| b.class == class)).collect();
        let mut size = vec![0usize; self.bags.len()];
        bags.iter().for_each(|b| size[b.group] += 1);
        let mut folds = vec![Vec::new(); self.folds.len()];
        for bag in bags {
            folds[bag.fold].push((bag.score, 1.0 / size[bag.group] as f64));
        }
        folds.iter_mut().for_each(|own| own.sort_by(|a, b| a.0.total_cmp(&b.0)));
        WeighedScores { folds, units: size.iter().filter(|n| **n > 0).count() }
    }
}

/// Scores of training bags with their weights, fold by fold and smallest first.
struct WeighedScores {
    folds: Vec<Vec<(f64, f64)>>,
    /// Groups, or bags.
    units: usize,
}

impl WeighedScores {
    /// How much must lie on the inner side.
    fn needed(&self, coverage: f64) -> f64 {
        coverage * (self.units + 1) as f64 - ROUNDING
    }

    /// Whether so few scores are below those of a class, one by each fold's model, that it belongs to the set.
    fn holds(&self, of_folds: &[f64], coverage: f64) -> bool {
        let below: f64 = self
            .folds
            .iter()
            .zip(of_folds)
            .map(|(own, score)| own.iter().take_while(|s| s.0 < *score).map(|s| s.1).sum::<f64>())
            .sum();
        below < self.needed(coverage)
    }

    /// The interval around what each fold's model predicts.
    fn interval(&self, of_folds: &[f64], coverage: f64) -> (f64, f64) {
        let end = |sign: f64| {
            let mut ends: Vec<(f64, f64)> = self
                .folds
                .iter()
                .zip(of_folds)
                .flat_map(|(own, value)| {
                    own.iter().map(move |(score, weight)| (sign * value + score, *weight))
                })
                .collect();
            ends.sort_by(|a, b| a.0.total_cmp(&b.0));
            let mut sum = 0.0;
            let needed = self.needed(coverage);
            let at = ends.iter().find(|(_, weight)| {
                sum += weight;
                sum >= needed
            });
            sign * at.map_or(f64::INFINITY, |(end, _)| *end)
        };
        (end(-1.0), end(1.0))
    }
}

impl Model {
    /// Whether it can give sets of classes, or intervals of numbers, with a chosen coverage: whether the models of folds were
    /// kept when it was fitted.
    pub fn is_conformal(&self) -> bool {
        self.conformal.is_some()
    }

    /// Number of folds whose models are kept; 0 without.
    pub fn conformal_folds(&self) -> usize {
        self.conformal.as_ref().map_or(0, |c| c.folds.len())
    }

    /// What the model of each kept fold says of bags; empty without such models.
    pub fn fold_predictions(&self, bags: &Bags, ctx: &Ctx) -> Result<Vec<Vec<Prediction>>> {
        self.conformal.as_ref().map_or(Ok(Vec::new()), |c| c.predictions(bags, ctx))
    }

    /// The fold that each training bag was left out of; empty without models of folds.
    pub fn folds_of_bags(&self) -> Vec<usize> {
        self.conformal.iter().flat_map(|c| c.bags.iter().map(|b| b.fold)).collect()
    }

    /// For each bag, whether each class belongs to the set that covers the truth with probability `coverage` in practice, and
    /// with `1 - 2 (1 - coverage)` by proof; `per_class` in each class, otherwise over all.
    pub fn predict_sets(
        &self,
        bags: &Bags,
        coverage: f64,
        per_class: bool,
        ctx: &Ctx,
    ) -> Result<Vec<Vec<bool>>> {
        // Refused before the work, not after it.
        self.ready_for(coverage, per_class)?;
        self.sets_from(&self.fold_predictions(bags, ctx)?, coverage, per_class)
    }

    /// The same from what [`Model::fold_predictions`] says of the bags, for several coverages of the same bags.
    pub fn sets_from(
        &self,
        said: &[Vec<Prediction>],
        coverage: f64,
        per_class: bool,
    ) -> Result<Vec<Vec<bool>>> {
        let conformal = self.ready_for(coverage, per_class)?;
        let classes = self.header.classes.len();
        if classes == 0 {
            return Err(Error::Invalid(
                "the model predicts numbers, so there are intervals and no sets".into(),
            ));
        }
        let scores: Vec<WeighedScores> = match per_class {
            true => (0..classes).map(|c| conformal.scores(Some(c))).collect(),
            false => vec![conformal.scores(None)],
        };
        let bags = said.first().map_or(0, Vec::len);
        let holds = |b: usize, c: usize| {
            let of_folds: Vec<f64> = said.iter().map(|own| class_score(&own[b], c)).collect();
            scores[c.min(scores.len() - 1)].holds(&of_folds, coverage)
        };
        Ok((0..bags).map(|b| (0..classes).map(|c| holds(b, c)).collect()).collect())
    }

    /// For each bag the interval that covers the value with probability `coverage` in practice, and with
    /// `1 - 2 (1 - coverage)` by proof.
    pub fn predict_intervals(&self, bags: &Bags, coverage: f64, ctx: &Ctx) -> Result<Vec<(f64, f64)>> {
        self.ready_for(coverage, false)?;
        self.intervals_from(&self.fold_predictions(bags, ctx)?, coverage)
    }

    /// The same from what [`Model::fold_predictions`] says of the bags.
    pub fn intervals_from(&self, said: &[Vec<Prediction>], coverage: f64) -> Result<Vec<(f64, f64)>> {
        let conformal = self.ready_for(coverage, false)?;
        if !self.header.classes.is_empty() {
            return Err(Error::Invalid(
                "the model predicts classes, so there are sets and no intervals".into(),
            ));
        }
        let scores = conformal.scores(None);
        let bags = said.first().map_or(0, Vec::len);
        let of = |b: usize| {
            let of_folds: Vec<f64> = said.iter().map(|own| own[b].outputs[0]).collect();
            scores.interval(&of_folds, coverage)
        };
        Ok((0..bags).map(of).collect())
    }

    /// What is promised of a coverage, in a sentence.
    pub fn coverage_promise(&self, coverage: f64, per_class: bool) -> Result<String> {
        let conformal = self.ready_for(coverage, per_class)?;
        let units = conformal.scores(None).units as f64;
        let folds = conformal.folds.len() as f64;
        // Barber et al., theorem 4.
        let few =
            (2.0 * (1.0 - 1.0 / folds) / (units / folds + 1.0)).min((1.0 - folds / units) / (folds + 1.0));
        let proven = (1.0 - 2.0 * (1.0 - coverage) - few.max(0.0)).max(0.0);
        let of = if conformal.grouped { "a bag of a new group" } else { "a new bag" };
        let each = if per_class { ", in each class" } else { "" };
        let what = if self.header.classes.is_empty() { "interval" } else { "set" };
        Ok(format!(
            "the {what} usually contains the true value for {:.0} % of new bags{each}; the proven coverage for {of} is \
             {:.0} % (1 - 2 alpha{})",
            100.0 * coverage,
            100.0 * proven,
            if few > 0.005 {
                format!(", less {few:.2} because there are few bags in a fold")
            } else {
                String::new()
            }
        ))
    }

    /// The folds, if they were kept and there are enough bags or groups for this coverage.
    fn ready_for(&self, coverage: f64, per_class: bool) -> Result<&Conformal> {
        if !(coverage > 0.0 && coverage < 1.0) {
            return Err(Error::Invalid(format!(
                "coverage {coverage} is not between 0 and 1; use a value such as 0.9"
            )));
        }
        let Some(conformal) = &self.conformal else {
            return Err(Error::refused(
                "the model was fitted without the models of folds that coverage needs",
                Message::from("fit it again and keep them").with([Setting::Conformal]),
            ));
        };
        let unit = if conformal.grouped { "groups" } else { "bags" };
        let classes = &self.header.classes;
        if per_class && classes.is_empty() {
            return Err(Error::Invalid(
                "coverage in each class needs classes, and the model predicts numbers; ask for coverage over all bags".into(),
            ));
        }
        let parts: Vec<(String, usize)> = match per_class {
            true => (0..classes.len())
                .map(|c| (format!("{unit} of class {}", classes[c]), conformal.scores(Some(c)).units))
                .collect(),
            false => vec![(unit.to_string(), conformal.scores(None).units)],
        };
        if let Some((what, units)) = parts.iter().min_by_key(|(_, units)| *units)
            && coverage * (units + 1) as f64 > *units as f64 + ROUNDING
        {
            let least = (1.0 / (1.0 - coverage) - 1.0 - ROUNDING).ceil();
            let most = *units as f64 / (*units + 1) as f64;
            return Err(Error::refused(
                format!(
                    "coverage {coverage} needs at least {least} {what}, and the model was trained on {units}"
                ),
                Message::from(format!("ask for at most {:.3}", (1000.0 * most).floor() / 1000.0))
                    .with([Setting::Coverage])
                    .or("train on more"),
            ));
        }
        Ok(conformal)
    }
}

impl Conformal {
    /// What the model of each fold says of bags.
    fn predictions(&self, bags: &Bags, ctx: &Ctx) -> Result<Vec<Vec<Prediction>>> {
        self.folds.iter().map(|model| model.predict_with(bags, ctx)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scores(bags: &[(usize, usize, f64)]) -> WeighedScores {
        let bag =
            |&(fold, group, score): &(usize, usize, f64)| CalibrationBag { fold, group, class: 0, score };
        let mut size = vec![0usize; bags.len()];
        bags.iter().for_each(|b| size[b.1] += 1);
        let mut folds = vec![Vec::new(); 2];
        for bag in bags.iter().map(bag) {
            folds[bag.fold].push((bag.score, 1.0 / size[bag.group] as f64));
        }
        folds.iter_mut().for_each(|own| own.sort_by(|a, b| a.0.total_cmp(&b.0)));
        WeighedScores { folds, units: size.iter().filter(|n| **n > 0).count() }
    }

    #[test]
    fn an_interval_ends_at_the_ranks_of_the_definition() {
        // Nine bags without groups, coverage 0.8: the 8th smallest upper end and the 8th largest lower end.
        let bags: Vec<(usize, usize, f64)> = (0..9).map(|i| (i % 2, i, i as f64)).collect();
        let all = scores(&bags);
        let (low, high) = all.interval(&[10.0, 20.0], 0.8);
        let mut upper: Vec<f64> = (0..9).map(|i| [10.0, 20.0][i % 2] + i as f64).collect();
        let mut lower: Vec<f64> = (0..9).map(|i| [10.0, 20.0][i % 2] - i as f64).collect();
        upper.sort_by(f64::total_cmp);
        lower.sort_by(f64::total_cmp);
        // floor(0.2 * 10) = 2 from below, ceil(0.8 * 10) = 8.
        assert_eq!((low, high), (lower[1], upper[7]));
        assert_eq!(all.interval(&[10.0, 20.0], 0.9), (lower[0], upper[8]));
    }

    #[test]
    fn a_set_counts_the_scores_below_its_own() {
        let bags: Vec<(usize, usize, f64)> = (0..9).map(|i| (i % 2, i, i as f64 / 10.0)).collect();
        let all = scores(&bags);
        // Fewer than 8 of 9 scores are below 0.7; 8 are below 0.75.
        assert!(all.holds(&[0.7, 0.7], 0.8) && !all.holds(&[0.75, 0.75], 0.8));
    }

    #[test]
    fn a_group_of_many_bags_weighs_as_much_as_one_of_a_single_bag() {
        // Group 0 has six bags with large scores, groups 1 to 3 one bag each with small ones.
        let mut bags: Vec<(usize, usize, f64)> = (0..6).map(|_| (0, 0, 5.0)).collect();
        bags.extend([(0, 1, 1.0), (1, 2, 2.0), (1, 3, 3.0)]);
        let all = scores(&bags);
        assert_eq!(all.units, 4);
        // Three of the five shares that 0.6 of 4 + 1 needs are those of the small groups.
        assert_eq!(all.interval(&[0.0, 0.0], 0.6), (-3.0, 3.0));
        assert_eq!(all.interval(&[0.0, 0.0], 0.8), (-5.0, 5.0));
    }
}
