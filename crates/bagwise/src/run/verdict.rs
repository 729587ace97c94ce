//! What a comparison says in the end: methods from best to worst, which of them could be the best as well, and one
//! sentence. Terminal and report take it from here, so that they never differ.

use crate::config::BASELINE;
use crate::methods;
use bagwise_core::{Error, Result};
use bagwise_judge::{GroundTruth, MethodSummary, Metric, Record, compare, summarise, that_saw_test_bags};

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

/// How a method stands to the best.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Standing {
    /// It is the best.
    Best,
    /// No clear difference from the best.
    Ties,
    /// It is worse.
    Worse,
    /// Too few folds compare it with the best.
    Untested,
    /// It has no value.
    NoResult,
}

impl Standing {
    /// In words.
    pub fn as_str(self) -> &'static str {
        match self {
            Standing::Best => "best",
            Standing::Ties => "no clear difference",
            Standing::Worse => "worse",
            Standing::Untested => "not tested",
            Standing::NoResult => "no result",
        }
    }
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
        let best = table
            .first()
            .ok_or_else(|| Error::Invalid(format!("there are no records of {}", roster.data)))?
            .method
            .clone();
        let tests = compare(records, roster, metric, &best, level)?;
        let standing = table
            .iter()
            .enumerate()
            .map(|(i, line)| match tests.iter().find(|t| t.method == line.method) {
                _ if line.metrics[0].mean.is_none() => Standing::NoResult,
                None => {
                    if i == 0 {
                        Standing::Best
                    } else {
                        Standing::Untested
                    }
                }
                Some(t) if t.test.is_none() => Standing::Untested,
                Some(t) if t.distinguishable() => Standing::Worse,
                Some(_) => Standing::Ties,
            })
            .collect();
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
        })
    }

    /// The best method.
    pub fn best(&self) -> &MethodSummary {
        &self.table[0]
    }

    /// Methods without a clear difference from the best, by name.
    pub fn ties(&self) -> Vec<&str> {
        let mut ties: Vec<&str> = self
            .table
            .iter()
            .zip(&self.standing)
            .filter(|(_, s)| **s == Standing::Ties)
            .map(|(line, _)| line.method.as_str())
            .collect();
        ties.sort_unstable();
        ties
    }

    /// Those of them that are simpler than the best.
    pub fn simpler(&self) -> Vec<&str> {
        let own = complexity(&self.best().method);
        self.ties().into_iter().filter(|m| complexity(m) < own).collect()
    }

    /// What came out: the winner, its interval, simpler methods that tie, the baseline. Of one method alone only its value.
    pub fn sentence(&self) -> String {
        let (best, name) = (self.best(), self.metric.name());
        let Some(mean) = best.metrics[0].mean else {
            return format!("No method has a value of {name} on {}.", self.data);
        };
        // One alone is the best of nothing.
        let alone = self.table.len() == 1;
        let is_best = if alone { "" } else { " is best" };
        let mut text = format!("{}{is_best} on {}: {name} {mean:.3}", best.method, self.data);
        if let Some(i) = best.metrics[0].interval {
            text += &format!(" ({:.0} % interval {:.3} to {:.3})", 100.0 * self.level, i.low, i.high);
        }
        let (ties, simpler) = (self.ties(), self.simpler());
        if best.method == BASELINE && !alone {
            text += ". No method does better than answering the same for every bag";
        } else if simpler.contains(&BASELINE) {
            text += ". These folds do not tell it from answering the same for every bag (majority)";
        } else if !simpler.is_empty() {
            text += &format!(". Not distinguishable from it, and simpler: {}", simpler.join(", "));
        } else if !ties.is_empty() {
            text += &format!(". Not distinguishable from it: {}", ties.join(", "));
        }
        if self.chosen_on_folds {
            text += ". The protocol is optimistic: parameters were chosen on the reported folds";
        }
        if !self.saw_test_bags.is_empty() {
            text += &format!(
                ". Values are too good for {}, which drew on the test bags",
                self.saw_test_bags.join(" and ")
            );
        }
        text.push('.');
        text
    }
}
