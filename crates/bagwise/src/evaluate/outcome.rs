//! The results of an evaluation, and their default text format.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::time::Duration;

use bagwise_judge::{FoldPlan, GroundTruth, Interval, Record, often_at_grid_end, that_saw_test_bags};

use crate::config::BASELINE;
use crate::plan::TimePlan;
use crate::run::{Candidate, RunPlan, Verdict};

/// What came out of a run.
pub struct Evaluation {
    /// Methods from best to worst, and what that means.
    pub verdict: Verdict,
    /// How methods were judged.
    pub plan: RunPlan,
    /// Who took part.
    pub candidates: Vec<Candidate>,
    /// One record per fit, sorted by key.
    pub records: Vec<Record>,
    /// The bags and their labels.
    pub roster: GroundTruth,
    /// The folds.
    pub folds: FoldPlan,
    /// What there was time for.
    pub time: TimePlan,
    /// Methods that were not judged on all folds when the time was up, with the fits that each has. They are not ranked; the
    /// same call goes on with them.
    pub incomplete: Vec<(String, usize)>,
    /// The time it took, earlier sessions included.
    pub elapsed: Duration,
    /// Where records, folds and predictions are.
    pub folder: Option<PathBuf>,
    /// Whether some fits were there already.
    pub resumed: bool,
}

impl Evaluation {
    /// Repeats there were; one where the folds are not drawn at random.
    pub fn repeats(&self) -> usize {
        self.folds.repeats.len()
    }

    /// Fits that each method has when all are done.
    pub fn fits_of_a_method(&self) -> usize {
        self.folds.repeats.iter().map(Vec::len).sum()
    }

    /// Methods that the plan had no time for.
    pub fn skipped(&self) -> Vec<String> {
        self.time.left_out.iter().map(|l| l.method.clone()).collect()
    }

    /// Fits that failed, with the first reason.
    pub fn failures(&self) -> Option<String> {
        let failed: Vec<&Record> = self.records.iter().filter(|r| !r.succeeded()).collect();
        let first = failed.first()?;
        let why = first.outcome.message.as_deref().unwrap_or("no reason given");
        Some(format!(
            "{} of {} fits failed; the first, {}: {why}",
            failed.len(),
            self.records.len(),
            first.key
        ))
    }

    /// The methods, if any, that drew on the bags they were judged by.
    pub fn saw_test_bags(&self) -> Option<String> {
        let methods = that_saw_test_bags(&self.records);
        (!methods.is_empty()).then(|| {
            format!(
                "{} used the features of test bags (pool=all), so the estimate is optimistic",
                methods.join(" and ")
            )
        })
    }

    /// Chosen parameters that sit at the end of their grid in most fits, one sentence per method that could gain from a wider one.
    pub fn edges(&self) -> Vec<String> {
        let line = |method: &str| self.verdict.table.iter().find(|line| line.method == method);
        let baseline = line(BASELINE);
        let may_improve = |method: &&str| line(method).is_none_or(|line| line.may_improve(baseline));
        let methods: BTreeSet<&str> =
            self.records.iter().map(|r| r.key.method.as_str()).filter(may_improve).collect();
        let sentence = |method: &str| {
            let often = often_at_grid_end(self.records.iter().filter(|r| r.key.method == method));
            let list: Vec<String> = often.iter().map(ToString::to_string).collect();
            let list = list.join(" and ");
            (!often.is_empty())
                .then(|| format!("{method} chose {list} at the end of the grid; try a wider grid"))
        };
        methods.into_iter().filter_map(sentence).collect()
    }
}

/// A table with the metric that decides, its interval, how each method stands to the best, and by what difference, interval
/// and p; then the verdict.
impl std::fmt::Display for Evaluation {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let width = self.verdict.table.iter().map(|line| line.method.len()).max().unwrap_or(0).max(6);
        let number = |v: Option<f64>| v.map_or(String::new(), |v| format!("{v:.3}"));
        let ends =
            |i: Option<Interval>| i.map_or(String::new(), |i| format!("{:.3} to {:.3}", i.low, i.high));
        let name = self.plan.metric.name();
        write!(f, "{:width$}  {name:>10}  {:16}  {:22}", "method", "interval", "against best")?;
        writeln!(f, "  {:>10}  {:16}  {:>6}", "difference", "interval", "p")?;
        for (i, line) in self.verdict.table.iter().enumerate() {
            let (value, interval) = (number(line.metrics[0].mean), ends(line.metrics[0].interval));
            let standing = self.verdict.standing[i].as_str();
            let row = format!("{:width$}  {value:>10}  {interval:16}  {standing:22}", line.method);
            let found = self.verdict.against_best[i].map_or(String::new(), |found| {
                let (d, p) = (number(found.value), number(found.p));
                format!("  {d:>10}  {:16}  {p:>6}", ends(found.interval))
            });
            writeln!(f, "{}", format!("{row}{found}").trim_end())?;
        }
        write!(f, "{}", self.verdict.sentence())
    }
}
