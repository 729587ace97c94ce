//! Evaluations and comparisons: every method on the same folds. What comes back is JSON, made into tables in Python.

use bagwise::evaluate::{
    Comparison, Contender, MethodSummary, Metric, Plan, Protocol, ProtocolName, Record, Roster, Run, compare,
    summarise,
};
use bagwise::{Error, Target};
use numpy::PyReadonlyArray1;
use pyo3::prelude::*;
use serde::Serialize;

use crate::bags::NativeBags;
use crate::door::{Around, enter, exception};
use crate::fitting::{Learning, dataset};

/// How methods are judged: a dictionary with these keys.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct Judging {
    protocol: String,
    folds: usize,
    inner: usize,
    repeats: usize,
    /// The fold of each bag, for the protocols that need it.
    given: Option<Vec<String>>,
    level: f64,
    /// Judge the whole choice among the methods as one method, `auto`.
    auto: bool,
    seed: u64,
}

/// Everything a table or a report is made of.
#[derive(Serialize)]
struct Judged {
    /// The metric that methods were chosen by.
    metric: &'static str,
    larger_is_better: bool,
    optimistic: bool,
    /// How methods were judged, in words.
    protocol: String,
    /// One line per method, best first.
    table: Vec<MethodSummary>,
    /// The others against the first.
    tests: Vec<Comparison>,
    records: Vec<Record>,
    roster: Roster,
}

/// Carries an evaluation out; JSON.
#[pyfunction]
#[pyo3(signature = (bags, y, classes, groups, learning, judging, around))]
pub(crate) fn evaluate(
    py: Python<'_>,
    bags: &Bound<'_, NativeBags>,
    y: PyReadonlyArray1<'_, f64>,
    classes: Option<Vec<String>>,
    groups: Option<Vec<String>>,
    learning: Learning,
    judging: Judging,
    around: Around,
) -> PyResult<String> {
    let data = dataset(bags.get(), &y, classes, groups).map_err(exception)?;
    let precision = around.precision()?;
    enter(py, &around, move |ctx| {
        let target = data.require_target()?;
        let setups = learning.setups(matches!(target, Target::Values(_)))?;
        let contenders: Vec<Contender> = if judging.auto {
            vec![Contender { name: "auto".into(), setups }]
        } else {
            let one = |setup: bagwise::learn::Setup| Contender {
                name: setup.method.info().name.into(),
                setups: vec![setup],
            };
            setups.into_iter().map(one).collect()
        };
        let name: ProtocolName = judging.protocol.parse()?;
        let plan = Plan {
            protocol: Protocol::new(name, judging.folds, judging.inner),
            metric: learning.metric(target)?,
            threshold: learning.threshold()?,
            best: learning.best,
            positive: learning.positive.clone(),
            precision,
            seed: judging.seed,
            repeats: judging.repeats,
        };
        let run = Run::new(&data, &contenders, &plan, judging.given.as_deref())?;
        let mut records = Vec::with_capacity(run.len());
        run.carry_out(
            &|_| false,
            &mut |record| {
                records.push(record);
                Ok(())
            },
            ctx,
        )?;
        records.sort_by(|a, b| a.key.cmp(&b.key));
        judged(records, run.roster, &plan, judging.level)
    })
}

fn judged(records: Vec<Record>, roster: Roster, plan: &Plan, level: f64) -> bagwise::Result<String> {
    let metric = plan.metric;
    let scored = records.iter().find(|r| r.succeeded()).map(|r| roster.predictions(&r.scored)).transpose()?;
    let mut metrics = scored.map_or(Vec::new(), |p| Metric::for_task(&p));
    metrics.retain(|m| *m != metric);
    metrics.insert(0, metric);
    let mut table = summarise(&records, &roster, &metrics, level)?;
    // Best first; without a value last; equals by name, which `summarise` sorted by.
    let rank = |line: &MethodSummary| match line.metrics[0].mean {
        Some(mean) if metric.better(1.0, 0.0) => -mean,
        Some(mean) => mean,
        None => f64::INFINITY,
    };
    table.sort_by(|a, b| rank(a).total_cmp(&rank(b)));
    let tests = match table.first() {
        Some(best) => compare(&records, &roster, metric, &best.method, level)?,
        None => Vec::new(),
    };
    let all = Judged {
        metric: metric.name(),
        larger_is_better: metric.better(1.0, 0.0),
        optimistic: plan.protocol.optimistic(),
        protocol: plan.protocol.to_string(),
        table,
        tests,
        records,
        roster,
    };
    serde_json::to_string(&all).map_err(|e| Error::Invalid(format!("the results: {e}")))
}
