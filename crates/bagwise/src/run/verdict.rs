//! The conclusion of a comparison: methods from best to worst, how clearly each differs from the best and from the
//! baseline, which one is recommended, and a summary sentence. The terminal and the report both use it, so they never
//! differ.

use crate::config::BASELINE;
use crate::methods;
use bagwise_core::{Error, Result};
use bagwise_judge::{
    Difference, GroundTruth, Influences, LEAST_UNITS, MethodSummary, Metric, Record, Standing, recommended,
    summarise, that_saw_test_bags,
};
use serde::{Deserialize, Serialize};

/// Rank from simple to elaborate; what is not a single method comes last.
fn complexity(method: &str) -> u32 {
    methods::find(method).map_or(u32::MAX, |m| m.info().complexity)
}

/// The metrics that suit the records, `first` before the others.
fn metrics_of(records: &[Record], roster: &GroundTruth, first: Metric) -> Result<Vec<Metric>> {
    let scored = records.iter().find(|r| r.key.data == roster.data && !r.scored.bags.is_empty());
    let mut metrics = match scored {
        Some(record) => Metric::for_task(&roster.predictions(&record.scored)?),
        None => Vec::new(),
    };
    metrics.retain(|m| *m != first);
    metrics.insert(0, first);
    Ok(metrics)
}

/// All metrics of all methods, best first by `metric`; of equally good ones the simpler first.
pub fn ranked(
    records: &[Record],
    roster: &GroundTruth,
    metric: Metric,
    level: f64,
) -> Result<Vec<MethodSummary>> {
    use std::cmp::Ordering;
    let mut table = summarise(records, roster, &metrics_of(records, roster, metric)?, level)?;
    table.sort_by(|a, b| match (a.metrics[0].mean, b.metrics[0].mean) {
        (Some(x), Some(y)) if metric.better(x, y) => Ordering::Less,
        (Some(x), Some(y)) if metric.better(y, x) => Ordering::Greater,
        (Some(_), None) => Ordering::Less,
        (None, Some(_)) => Ordering::Greater,
        _ => complexity(&a.method).cmp(&complexity(&b.method)),
    });
    Ok(table)
}

/// What a comparison says.
#[derive(Clone, Debug)]
pub struct Verdict {
    /// What the data are called in the sentence.
    pub data: String,
    /// The metric that decides.
    pub metric: Metric,
    /// The level of intervals and tests.
    pub level: f64,
    /// Whether the values are too good, for one of the next two reasons.
    pub optimistic: bool,
    /// Whether parameters were chosen on the reported folds.
    chosen_on_folds: bool,
    /// Methods that drew on the bags they were judged by.
    pub saw_test_bags: Vec<String>,
    /// The methods, best first, the metric that decides first.
    pub table: Vec<MethodSummary>,
    /// How each stands to the best.
    pub standing: Vec<Standing>,
    /// Each against the best; none for the best.
    pub against_best: Vec<Option<Difference>>,
    /// Each against the best constant prediction; none for `majority`, which is one, and for all if a constant is no baseline for
    /// the metric.
    pub against_constant: Vec<Option<Difference>>,
    /// The value of the best constant prediction, if it is a baseline and has one.
    pub constant: Option<f64>,
    /// Each against the recommended method; none for that one.
    pub against_recommended: Vec<Option<Difference>>,
    /// Why a constant is no baseline for this metric.
    no_baseline: Option<&'static str>,
    /// Bags or groups that tests count.
    pub units: usize,
    /// Whether they are groups.
    pub grouped: bool,
    /// Which to take, a position in the table.
    recommended: usize,
    /// If no method is better than a constant: the one with the largest area under the ROC curve, beside the constant.
    ranks_best: Option<(usize, Difference)>,
}

/// What a constant prediction is called among methods.
pub(crate) const CONSTANT: &str = "constant";

/// A line of `differences.csv`: one method against the best, a constant or the recommended method.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct DifferenceRow {
    /// The method.
    pub method: String,
    /// The method that it is compared with.
    pub against: String,
    /// The method's value minus the other's.
    pub difference: Option<f64>,
    /// Lower end of its interval.
    pub low: Option<f64>,
    /// Upper end.
    pub high: Option<f64>,
    /// Adjusted probability of so large a difference by chance.
    pub p: Option<f64>,
    /// What that means.
    pub verdict: Standing,
}

impl DifferenceRow {
    fn new(method: &str, against: &str, found: &Difference) -> DifferenceRow {
        DifferenceRow {
            method: method.into(),
            against: against.into(),
            difference: found.value,
            low: found.interval.map(|i| i.low),
            high: found.interval.map(|i| i.high),
            p: found.p,
            verdict: found.standing,
        }
    }
}

impl Verdict {
    /// Judges the records of the roster's data; `chosen_on_folds` if the protocol chose parameters on the folds that it
    /// reports.
    pub fn new(
        records: &[Record],
        roster: &GroundTruth,
        metric: Metric,
        level: f64,
        chosen_on_folds: bool,
    ) -> Result<Verdict> {
        let table = ranked(records, roster, metric, level)?;
        if table.is_empty() {
            return Err(Error::Invalid(format!("there are no records for {}", roster.data)));
        }
        let methods: Vec<&str> = table.iter().map(|line| line.method.as_str()).collect();
        let seed = records.first().map_or(0, |r| r.seed);
        let influences = Influences::of_records(records, roster, &methods, metric)?;
        let against = |reference: usize, chosen: bool| {
            let mut found = influences.against(reference, chosen, level, seed);
            found.truncate(methods.len());
            found
        };
        let majority = methods.iter().position(|m| *m == BASELINE);
        let mut against_best = against(0, true);
        // Which method is the baseline was not chosen by the data. So it needs no more evidence against the best than the best
        // needs against it.
        if let Some(at) = majority.filter(|&at| at > 0) {
            against_best[at] = against(at, false)[0].map(Difference::reversed);
        }
        let no_baseline = metric.no_baseline(roster.positive.is_some());
        let constant = influences.value(methods.len()).filter(|_| no_baseline.is_none());
        let against_constant = match no_baseline {
            None => {
                let of = |(at, found)| if majority == Some(at) { None } else { found };
                against(methods.len(), false).into_iter().enumerate().map(of).collect()
            }
            Some(_) => vec![None; methods.len()],
        };
        let standing: Vec<Standing> = table
            .iter()
            .zip(&against_best)
            .map(|(line, found)| match found {
                _ if line.metrics[0].mean.is_none() => Standing::NoResult,
                Some(found) => found.standing,
                None => Standing::Best,
            })
            .collect();
        let complexities: Vec<u32> = methods.iter().map(|m| complexity(m)).collect();
        // What is no better than a constant has learned nothing that is of use, and neither has what is not clearly better
        // where the best is.
        let is_clear =
            |found: &Option<Difference>| found.is_some_and(|f| f.standing == Standing::ClearlyBetter);
        let useful = |m: usize| {
            let own = table[m].metrics[0].mean;
            let better = constant.is_none_or(|least| own.is_some_and(|own| metric.better(own, least)));
            better && (is_clear(&against_constant[m]) || !is_clear(&against_constant[0]))
        };
        let no_better = |least| table[0].metrics[0].mean.is_some_and(|best| !metric.better(best, least));
        let recommended = match majority {
            // Nothing was learned, so the simplest is enough.
            Some(at) if constant.is_some_and(no_better) => at,
            _ => recommended(0, &against_best, &complexities, useful),
        };
        // Which one is recommended depends on the data, as which one is best does.
        let against_recommended = match recommended {
            0 => against_best.clone(),
            at => against(at, true),
        };
        let ranks_best = match !useful(0) && metric != Metric::RocAuc {
            true => ranks_best(records, roster, &methods, &table, level)?,
            false => None,
        };
        let saw_test_bags = that_saw_test_bags(records);
        Ok(Verdict {
            data: roster.data.clone(),
            metric,
            level,
            optimistic: chosen_on_folds || !saw_test_bags.is_empty(),
            chosen_on_folds,
            saw_test_bags,
            table,
            standing,
            against_best,
            against_constant,
            constant,
            against_recommended,
            no_baseline,
            units: influences.units(),
            grouped: influences.grouped(),
            recommended,
            ranks_best,
        })
    }

    /// The best method.
    pub fn best(&self) -> &MethodSummary {
        &self.table[0]
    }

    /// The method to take: the simplest that is within one standard error of the best; `majority` if no method is better than a
    /// constant.
    pub fn recommended(&self) -> &str {
        &self.table[self.recommended].method
    }

    /// Methods without a clear difference from the best, by name.
    pub fn ties(&self) -> Vec<&str> {
        let lines = self.table.iter().zip(&self.standing);
        let mut ties: Vec<&str> =
            lines.filter(|(_, s)| s.is_open()).map(|(line, _)| line.method.as_str()).collect();
        ties.sort_unstable();
        ties
    }

    /// Every method against the best, then against a constant, then against the recommended method if it is not the best.
    pub fn differences(&self) -> Vec<DifferenceRow> {
        let rows = |against: &str, found: &[Option<Difference>]| -> Vec<DifferenceRow> {
            let lines = self.table.iter().zip(found);
            lines.filter_map(|(l, d)| Some(DifferenceRow::new(&l.method, against, d.as_ref()?))).collect()
        };
        let mut all = rows(&self.best().method, &self.against_best);
        all.extend(rows(CONSTANT, &self.against_constant));
        if self.recommended != 0 {
            all.extend(rows(self.recommended(), &self.against_recommended));
        }
        all
    }

    /// The differences as a table with a header, also if there are none.
    pub fn differences_csv(&self) -> Result<Vec<u8>> {
        let fail = |e: String| Error::Invalid(format!("differences.csv: {e}"));
        let mut out = csv::WriterBuilder::new().has_headers(false).from_writer(Vec::new());
        let head = ["method", "against", "difference", "low", "high", "p", "verdict"];
        out.write_record(head).map_err(|e| fail(e.to_string()))?;
        for row in self.differences() {
            out.serialize(row).map_err(|e| fail(e.to_string()))?;
        }
        out.into_inner().map_err(|e| fail(e.to_string()))
    }

    /// What came out: the winner, its interval, whether it beats the baseline, what may be as good, and what to take. Of one
    /// method alone only its value.
    pub fn sentence(&self) -> String {
        let (best, name) = (self.best(), self.metric.name());
        let Some(mean) = best.metrics[0].mean else {
            return format!("No method has a value for {name} on {}.", self.data);
        };
        // One alone is the best of nothing.
        let alone = self.table.len() == 1;
        let is_best = if alone { "" } else { " is best" };
        let mut text = format!("{}{is_best} on {}: {name} {mean:.3}", best.method, self.data);
        if let Some(i) = best.metrics[0].interval {
            text += &format!(" ({:.0}% interval {:.3} to {:.3})", 100.0 * self.level, i.low, i.high);
        }
        if !alone {
            text += &self.compared();
        }
        if self.chosen_on_folds {
            text += ". The protocol is optimistic: parameters were chosen on the reported folds";
        }
        if !self.saw_test_bags.is_empty() {
            text += &format!(
                ". The values of {} are optimistic: test bags were seen in training",
                self.saw_test_bags.join(" and ")
            );
        }
        text.push('.');
        text
    }

    /// Methods without a value because fits failed.
    fn failed(&self) -> Vec<&str> {
        let without = |line: &&MethodSummary| line.failed > 0 && line.metrics[0].mean.is_none();
        self.table.iter().filter(without).map(|line| line.method.as_str()).collect()
    }

    /// True if no method that learns has a value, because fits failed.
    pub fn only_constants(&self) -> bool {
        let learning = self.table.iter().filter(|line| line.method != BASELINE).count();
        learning > 0 && self.failed().iter().filter(|name| **name != BASELINE).count() == learning
    }

    /// How the best stands to the others.
    fn compared(&self) -> String {
        let ties = self.ties();
        let mut text = String::new();
        if self.units < LEAST_UNITS {
            let units = if self.grouped { "groups" } else { "bags" };
            text += &format!(
                ". There are too few {units} to compare methods: {}, and {LEAST_UNITS} are needed",
                self.units
            );
        } else if self.only_constants() {
            let failed = |line: &MethodSummary| line.method == BASELINE || line.failed == line.fits;
            text += match self.table.iter().all(failed) {
                true => ". All fits of the other methods failed, so nothing is known of them",
                false => ". Fits of every other method failed, so none of them has a value",
            };
        } else if self.best().method == BASELINE || !self.beats_constant(0) {
            let failed = self.failed();
            let with_result = if failed.is_empty() { "" } else { " that has a result" };
            let name = self.metric.name();
            text += &format!(". By {name}, no method{with_result} is better than a constant prediction");
            if let (Some(value), true) = (self.constant, self.best().method != BASELINE) {
                text += &format!(" ({value:.3})");
            }
            text += &self.below_constant();
            text += &self.ranking();
        } else if let Some(why) = self.no_baseline {
            text += &format!(". It is not compared with a constant prediction: {why}");
        } else if let Some(found) = &self.against_constant[0] {
            let than = match found.standing {
                Standing::ClearlyBetter => "It is clearly better than a constant prediction",
                Standing::NoResult => "It is not compared with a constant prediction, which has no value",
                Standing::NotTested => {
                    "It is not compared with a constant prediction: without some bag there is no value"
                }
                _ => "It is not clearly better than a constant prediction",
            };
            let value = self.constant.map_or(String::new(), |value| format!("{value:.3}, "));
            text += &format!(". {than} ({value}{})", numbers(found));
        }
        let others: Vec<&str> = ties.iter().copied().filter(|m| *m != BASELINE).collect();
        let tested = self.units >= LEAST_UNITS;
        if tested && !others.is_empty() {
            // After a sentence about another method, "it" would be that one.
            let it = if self.best().method == BASELINE { BASELINE } else { "It" };
            text += &format!(". {it} does not differ clearly from {}", others.join(", "));
        } else if tested && self.standing[1..].iter().all(|s| *s == Standing::ClearlyWorse) {
            text += ". All others are clearly worse";
        }
        if self.recommended != 0 && self.recommended() != BASELINE {
            let doubtful = |found: &Difference| found.standing == Standing::NoClearDifference;
            let (method, simplest) =
                (self.recommended(), "the simplest method within one standard error of the best");
            text += &match self.against_constant[self.recommended].as_ref().is_some_and(doubtful) {
                // To recommend what may be no better than nothing would contradict the sentences before.
                true => {
                    format!(
                        ". {method} is {simplest}, and not clearly better than a constant prediction either"
                    )
                }
                false => format!(". Recommended: {method}, {simplest}"),
            };
        }
        text
    }

    /// Why `majority` is far below a constant, if it is: a class that is common in the other groups is rare in a group of its own.
    fn below_constant(&self) -> String {
        let majority = self.table.iter().find(|line| line.method == BASELINE);
        let matters = self.grouped && matches!(self.metric, Metric::Accuracy | Metric::BalancedAccuracy);
        match (majority.and_then(|line| line.metrics[0].mean), self.constant) {
            (Some(own), Some(constant)) if matters && constant - own > 0.1 => format!(
                ". {BASELINE} has {own:.3} because a class that is common in the training bags of a fold is rare in its test bags"
            ),
            _ => String::new(),
        }
    }

    /// Whether the value of a method is better than that of a constant, if that is known.
    fn beats_constant(&self, at: usize) -> bool {
        let own = self.table[at].metrics[0].mean;
        self.constant.is_none_or(|least| own.is_none_or(|own| self.metric.better(own, least)))
    }
}

impl Verdict {
    /// Whether some method ranks bags better than chance although a constant is the best.
    fn ranking(&self) -> String {
        /// Below this, a ranking that is not clearly better than chance is not worth a sentence.
        const NOTABLE: f64 = 0.75;
        let Some((at, found)) = &self.ranks_best else { return String::new() };
        let (method, auc) = (&self.table[*at].method, area(&self.table[*at]).unwrap_or(0.5));
        let p = p_value(found);
        match found.standing {
            Standing::ClearlyBetter => format!(
                ". But {method} ranks bags clearly better than chance (ROC AUC {auc:.3}{p}): compare by balanced accuracy or ROC \
                 AUC, or choose another threshold"
            ),
            _ if auc >= NOTABLE => format!(
                ". {method} may rank bags better than chance (ROC AUC {auc:.3}{p}), but these bags do not show it clearly: \
                 compare by balanced accuracy or ROC AUC"
            ),
            _ => String::new(),
        }
    }
}

/// The area under the ROC curve of a line of the table.
fn area(line: &MethodSummary) -> Option<f64> {
    line.metrics.iter().find(|m| m.metric == Metric::RocAuc)?.mean
}

/// The method with the largest area under the ROC curve, tested against a constant among all methods.
fn ranks_best(
    records: &[Record],
    roster: &GroundTruth,
    methods: &[&str],
    table: &[MethodSummary],
    level: f64,
) -> Result<Option<(usize, Difference)>> {
    let all = table.iter().enumerate().filter_map(|(at, line)| Some((at, area(line)?)));
    // Of equal ones the first.
    let Some((at, _)) = all.reduce(|best, one| if one.1 > best.1 { one } else { best }) else {
        return Ok(None);
    };
    let seed = records.first().map_or(0, |r| r.seed);
    let influences = Influences::of_records(records, roster, methods, Metric::RocAuc)?;
    Ok(influences.against(methods.len(), false, level, seed)[at].map(|found| (at, found)))
}

fn p_value(found: &Difference) -> String {
    found.p.map_or(String::new(), |p| format!(", p = {p:.4}"))
}

/// Difference, interval and p.
fn numbers(found: &Difference) -> String {
    let mut text = found.value.map_or(String::new(), |v| format!("difference {v:+.3}"));
    if let Some(i) = found.interval {
        text += &format!(", interval {:+.3} to {:+.3}", i.low, i.high);
    } else if found.p.is_some() && found.value != Some(0.0) {
        text += ", no interval because it is the same for every bag";
    }
    text + &p_value(found)
}
