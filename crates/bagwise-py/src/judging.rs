//! Evaluations and comparisons: every method on the same folds. What comes back is JSON, made into tables in Python.

use std::time::{Instant, SystemTime};

use bagwise::evaluate::{
    Contender, MethodSummary, Metric, Plan, Protocol, ProtocolName, Record, Roster, Run, Verdict,
};
use bagwise::{Error, Target};
use bagwise_report::{Comparison, Context, Options, render};
use numpy::PyReadonlyArray1;
use pyo3::prelude::*;
use serde::{Deserialize, Serialize};

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
#[derive(Serialize, Deserialize)]
struct Judged {
    /// The metric that methods were chosen by.
    metric: Metric,
    level: f64,
    optimistic: bool,
    /// How methods were judged, in words.
    protocol: String,
    seconds: f64,
    finished: Option<u64>,
    precision: String,
    /// What came out, in a sentence.
    sentence: String,
    /// One line per method, best first.
    table: Vec<MethodSummary>,
    /// How each stands to the best.
    standing: Vec<String>,
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
        let started = Instant::now();
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
        let verdict =
            Verdict::new(&records, &run.roster, plan.metric, judging.level, plan.protocol.optimistic())?;
        let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
        let judged = Judged {
            metric: plan.metric,
            level: judging.level,
            optimistic: verdict.optimistic,
            protocol: plan.protocol.to_string(),
            seconds: started.elapsed().as_secs_f64(),
            finished: now.ok().map(|d| d.as_secs()),
            precision: format!("{precision:?}").to_lowercase(),
            sentence: verdict.sentence(),
            standing: verdict.standing.iter().map(|s| s.as_str().to_string()).collect(),
            table: verdict.table,
            records,
            roster: run.roster,
        };
        serde_json::to_string(&judged).map_err(|e| Error::Invalid(format!("the results: {e}")))
    })
}

/// The report of an evaluation, from the JSON that [`evaluate`] gave: a page that loads nothing.
#[pyfunction]
pub(crate) fn report(judged: &str, title: Option<String>, hide_ids: bool) -> PyResult<String> {
    let page = || {
        let judged: Judged =
            serde_json::from_str(judged).map_err(|e| Error::Invalid(format!("the results: {e}")))?;
        let context = Context {
            command: "bagwise.compare in Python".into(),
            version: env!("CARGO_PKG_VERSION").into(),
            system: format!("{} {}", std::env::consts::OS, std::env::consts::ARCH),
            finished: judged.finished,
            seconds: Some(judged.seconds),
            metric: Some(judged.metric),
            level: Some(judged.level),
            protocol: judged.protocol,
            optimistic: judged.optimistic,
            precision: judged.precision,
            ..Context::default()
        };
        let comparison = Comparison::new(judged.records, judged.roster, context)?;
        render(&[comparison], &Options { hide_ids, title })
    };
    page().map_err(exception)
}
