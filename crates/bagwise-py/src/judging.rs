//! Evaluations and comparisons: every method on the same folds. What comes back is JSON, made into tables in Python.

use std::time::{Instant, SystemTime};

use bagwise::fold::Setup;
use bagwise::judge::{MethodSummary, Metric, Protocol, ProtocolName, Record, Roster};
use bagwise::run::{Contender, Plan, Run, Verdict};
use bagwise::{Dataset, Error, Target};
use bagwise_report::{Comparison, Context, Finished, Options, basics, gather, render};
use numpy::PyReadonlyArray1;
use pyo3::prelude::*;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::bags::NativeBags;
use crate::door::{Around, enter, exception};
use crate::fitting::{Learning, dataset};

/// How methods are judged: a dictionary with these keys.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct Judging {
    protocol: String,
    /// Outer folds; as many as suit the protocol if not given.
    folds: Option<usize>,
    inner: usize,
    repeats: usize,
    /// The fold of each bag, for the protocols that need it.
    given: Option<Vec<String>>,
    level: f64,
    /// Judge the whole choice among the methods as one method, `auto`.
    auto: bool,
}

/// Everything that an evaluation starts from; one call's arguments.
struct Question {
    data: Dataset,
    contenders: Vec<Contender>,
    plan: Plan,
    given: Option<Vec<String>>,
    level: f64,
}

impl Question {
    fn new(data: Dataset, learning: &Learning, judging: Judging, around: &Around) -> PyResult<Question> {
        let precision = around.precision()?;
        let put = || {
            let target = data.require_target()?;
            let setups = learning.setups(matches!(target, Target::Values(_)))?;
            let contenders: Vec<Contender> = if judging.auto {
                vec![Contender { name: "auto".into(), setups }]
            } else {
                let one =
                    |setup: Setup| Contender { name: setup.method.info().name.into(), setups: vec![setup] };
                setups.into_iter().map(one).collect()
            };
            let name: ProtocolName = judging.protocol.parse()?;
            let units = data.groups.as_ref().map_or(data.bags.len(), |g| g.names.len());
            let folds = judging.folds.unwrap_or(name.default_folds(units));
            let plan = Plan {
                protocol: Protocol::new(name, folds, judging.inner),
                metric: learning.metric(target)?,
                threshold: learning.threshold()?,
                best: learning.best,
                positive: None,
                precision,
                seed: around.seed,
                repeats: judging.repeats,
            };
            Ok((contenders, plan))
        };
        let (contenders, plan) = put().map_err(exception)?;
        Ok(Question { data, contenders, plan, given: judging.given, level: judging.level })
    }

    fn run(&self) -> bagwise::Result<Run<'_>> {
        Run::new(&self.data, &self.contenders, &self.plan, self.given.as_deref())
    }
}

/// Everything a table or a report is made of.
#[derive(Serialize, Deserialize)]
struct Judged {
    /// The metric that methods were chosen by.
    metric: Metric,
    optimistic: bool,
    /// The methods that drew on the bags they were judged by.
    saw_test_bags: Vec<String>,
    /// How methods were judged, in words.
    protocol: String,
    /// What came out, in a sentence.
    sentence: String,
    /// One line per method, best first.
    table: Vec<MethodSummary>,
    /// How each stands to the best.
    standing: Vec<String>,
    records: Vec<Record>,
    roster: Roster,
    /// What a report shows beyond the records.
    context: Context,
}

/// Carries an evaluation out, which the user called by `command`; JSON.
#[pyfunction]
#[pyo3(signature = (bags, y, classes, groups, learning, judging, around, command))]
pub(crate) fn evaluate(
    py: Python<'_>,
    bags: &Bound<'_, NativeBags>,
    y: PyReadonlyArray1<'_, f64>,
    classes: Option<Vec<String>>,
    groups: Option<Vec<String>>,
    learning: Learning,
    judging: Judging,
    around: Around,
    command: String,
) -> PyResult<String> {
    let data = dataset(bags.get(), &y, classes, groups).map_err(exception)?;
    let question = Question::new(data, &learning, judging, &around)?;
    enter(py, &around, move |ctx| {
        let started = Instant::now();
        let Question { data, contenders, plan, level, .. } = &question;
        let run = question.run()?;
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
        let seconds = started.elapsed().as_secs_f64();
        let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
        let known = Context {
            command,
            threads: rayon::current_num_threads(),
            finished: now.ok().map(|d| d.as_secs()),
            seconds: Some(seconds),
            ..basics(data, contenders, plan, *level)
        };
        let roster = run.roster;
        let done = Finished { data, contenders, plan, level: *level, records: &records, roster: &roster };
        let context = gather(&done, known, ctx)?;
        let verdict = Verdict::new(&records, &roster, plan.metric, *level, plan.protocol.optimistic())?;
        to_json(&Judged {
            metric: plan.metric,
            optimistic: verdict.optimistic,
            protocol: plan.protocol.to_string(),
            sentence: verdict.sentence(),
            standing: verdict.standing.iter().map(|s| s.as_str().to_string()).collect(),
            saw_test_bags: verdict.saw_test_bags,
            table: verdict.table,
            records,
            roster,
            context,
        })
    })
}

/// The report of an evaluation, from the JSON that [`evaluate`] gave: a page that loads nothing.
#[pyfunction]
pub(crate) fn report(judged: &str, title: Option<String>, hide_ids: bool) -> PyResult<String> {
    let page = || {
        let judged: Judged = from_json(judged)?;
        let comparison = Comparison::new(judged.records, judged.roster, judged.context)?;
        render(&[comparison], &Options { hide_ids, title })
    };
    page().map_err(exception)
}

fn to_json(value: &impl Serialize) -> bagwise::Result<String> {
    serde_json::to_string(value).map_err(|e| Error::Invalid(format!("the results: {e}")))
}

fn from_json<T: DeserializeOwned>(text: &str) -> bagwise::Result<T> {
    serde_json::from_str(text).map_err(|e| Error::Invalid(format!("the results: {e}")))
}
