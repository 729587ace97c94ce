//! Evaluations and comparisons: every method on the same folds. What comes back is JSON, made into tables in Python.

use std::path::PathBuf;
use std::time::Duration;

use bagwise::judge::{GroundTruth, MethodSummary, Metric, ProtocolName, Record};
use bagwise::run::{DifferenceRow, OutsidePrediction};
use bagwise::{Ctx, Dataset, Error, Evaluate, Event, TimePlan};
use bagwise_report::{Context, LoadedRun, ReportOptions, render};
use numpy::PyReadonlyArray1;
use pyo3::prelude::*;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::bags::NativeBags;
use crate::fitting::{Learning, dataset};
use crate::runtime::{RunConfig, argument_beside_bags, exception, run};

/// How methods are judged: a dictionary with these keys.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct Judging {
    /// As the other keys suggest if not given.
    protocol: Option<String>,
    /// Outer folds; as many as suit the protocol if not given.
    folds: Option<usize>,
    inner: usize,
    repeats: usize,
    /// The fold of each bag, for the protocols that need it.
    given: Option<Vec<String>>,
    level: f64,
    /// Whether the baselines take part.
    baselines: bool,
    /// Where records are kept; in the user's cache until the run is done if not given.
    folder: Option<PathBuf>,
    /// Probabilities also where nothing is chosen by inner folds.
    probabilities: bool,
    /// Seconds that the run may take.
    budget: Option<f64>,
    /// The plan of another run, to be repeated.
    plan: Option<PathBuf>,
    /// What methods from elsewhere said: a name, and a row per bag, repeat and fold.
    outside: Vec<(String, Vec<OutsideRow>)>,
}

/// Bag, repeat and fold as positions, the predicted class, and scores and probabilities (of the positive class or of each).
type OutsideRow = (usize, usize, usize, Option<String>, Vec<f64>, Vec<f64>);

impl Judging {
    /// All options, in the form that the library takes.
    fn evaluate<'a>(
        &self,
        data: &'a Dataset,
        learning: &Learning,
        ctx: &Ctx,
    ) -> bagwise::Result<Evaluate<'a>> {
        let evaluate = learning
            .apply(bagwise::compare(data).baselines(self.baselines))?
            .protocol(self.protocol.as_deref().map(str::parse::<ProtocolName>).transpose()?)
            .folds(self.folds)
            .inner(self.inner)
            .repeats(self.repeats)
            .given_folds(self.given.clone())
            .level(self.level)
            .probabilities(self.probabilities)
            .budget(
                self.budget
                    .map(Duration::try_from_secs_f64)
                    .transpose()
                    .map_err(|e| Error::Invalid(format!("budget: {e}; give a number of seconds above 0")))?,
            )
            .time_plan(self.plan.as_deref().map(TimePlan::read).transpose()?)
            .ctx(ctx);
        let evaluate = self.outside.iter().fold(evaluate, |evaluate, (name, rows)| {
            let prediction = |row: &OutsideRow| OutsidePrediction {
                bag: data.bags.ids().get(row.0).cloned().unwrap_or_default(),
                repeat: row.1,
                fold: row.2,
                actual: None,
                predicted: row.3.clone(),
                scores: row.4.clone(),
                probabilities: row.5.clone(),
            };
            evaluate.outside(name, rows.iter().map(prediction).collect())
        });
        Ok(match &self.folder {
            Some(folder) => evaluate.folder(folder),
            None => evaluate,
        })
    }
}

/// Everything a table or a report is made of.
#[derive(Serialize, Deserialize)]
struct RunSummary {
    /// The metric that methods were chosen by.
    metric: Metric,
    optimistic: bool,
    /// The methods that drew on the bags they were judged by.
    saw_test_bags: Vec<String>,
    /// Which fits failed and why, what was chosen at the end of its grid, what was left out: sentences.
    #[serde(default)]
    warnings: Vec<String>,
    /// Which methods took part with how many points, and what there was no time for.
    plan: TimePlan,
    /// How methods were judged, in words.
    protocol: String,
    /// What came out, in a sentence.
    sentence: String,
    /// One line per method, best first.
    table: Vec<MethodSummary>,
    /// How each stands to the best.
    standing: Vec<String>,
    /// Each against the best and against the baseline.
    differences: Vec<DifferenceRow>,
    /// Which to take.
    recommended: String,
    records: Vec<Record>,
    roster: GroundTruth,
    /// What a report shows besides.
    context: Context,
}

/// For each repeat and fold the bags that train and those that are tested.
#[pyfunction]
#[pyo3(signature = (bags, y, classes, groups, learning, judging, config))]
pub(crate) fn folds(
    py: Python<'_>,
    bags: &Bound<'_, NativeBags>,
    y: PyReadonlyArray1<'_, f64>,
    classes: Option<Vec<String>>,
    groups: Option<Vec<String>>,
    learning: Learning,
    judging: Judging,
    config: RunConfig,
) -> PyResult<Vec<Vec<(Vec<usize>, Vec<usize>)>>> {
    let data = dataset(bags.get(), &y, classes, groups).map_err(exception)?;
    let plan = run(py, &config, move |ctx| judging.evaluate(&data, &learning, ctx)?.fold_plan())?;
    let pair = |fold: bagwise::judge::Fold| (fold.train, fold.test);
    Ok(plan.repeats.into_iter().map(|folds| folds.into_iter().map(pair).collect()).collect())
}

/// Runs an evaluation, which the user called by `command`; JSON.
#[pyfunction]
#[pyo3(signature = (bags, y, classes, groups, learning, judging, config, command))]
pub(crate) fn evaluate(
    py: Python<'_>,
    bags: &Bound<'_, NativeBags>,
    y: PyReadonlyArray1<'_, f64>,
    classes: Option<Vec<String>>,
    groups: Option<Vec<String>>,
    learning: Learning,
    judging: Judging,
    config: RunConfig,
    command: String,
) -> PyResult<String> {
    let data = dataset(bags.get(), &y, classes, groups).map_err(exception)?;
    run(py, &config, move |ctx| {
        let mut context = Context::default();
        let evaluate = judging.evaluate(&data, &learning, ctx)?;
        let lacking = evaluate.fold_caution()?;
        let watch = |event: &Event<'_>| {
            match event {
                Event::Started { data, candidates, plan, folder, .. } => {
                    context = Context::begin(data, candidates, plan, judging.level, command.clone())?
                        .warned_of(lacking.as_slice());
                    folder.map_or(Ok(()), |folder| context.save(folder))?;
                }
                Event::Finished { data, evaluation } => {
                    context = std::mem::take(&mut context).finish(data, evaluation, ctx)?;
                    evaluation.folder.as_deref().map_or(Ok(()), |folder| context.save(folder))?;
                }
                Event::Fitted { .. } | Event::Judged { .. } => {}
            }
            Ok(())
        };
        let found = evaluate.watch(watch).run()?;
        let mut warnings: Vec<String> = found.failures().into_iter().collect();
        warnings.extend(
            lacking.as_ref().map(|f| format!("{}; {}", f.message, f.remedy.worded(&argument_beside_bags))),
        );
        warnings.extend(found.edges());
        if !found.skipped().is_empty() {
            let include = if found.time.measured { "a larger budget" } else { "methods=\"all\"" };
            let minutes = found.time.time.unwrap_or_default() / 60.0;
            warnings.push(format!(
                "left out, to finish within {minutes:.0} minutes: {}; {include} includes them",
                found.skipped().join(", ")
            ));
        }
        let thinned: Vec<String> = (found.time.thinned())
            .map(|m| format!("{} ({} of {} points)", m.method, m.points, m.whole_grid))
            .collect();
        if !thinned.is_empty() {
            warnings.push(format!(
                "fewer grid points, to save time: {}; set a larger budget, or the values of parameters, to try more",
                thinned.join(", ")
            ));
        }
        if !found.incomplete.is_empty() {
            let names: Vec<&str> = found.incomplete.iter().map(|(method, _)| method.as_str()).collect();
            warnings.push(format!(
                "the time was up before all folds were tested, so these are not ranked: {}; make the same call again to continue",
                names.join(", ")
            ));
        }
        to_json(&RunSummary {
            warnings,
            plan: found.time,
            metric: found.plan.metric,
            optimistic: found.verdict.optimistic,
            protocol: found.plan.protocol.to_string(),
            sentence: found.verdict.sentence(),
            standing: found.verdict.standing.iter().map(|s| s.as_str().to_string()).collect(),
            differences: found.verdict.differences(),
            recommended: found.verdict.recommended().to_string(),
            saw_test_bags: found.verdict.saw_test_bags,
            table: found.verdict.table,
            records: found.records,
            roster: found.roster,
            context,
        })
    })
}

/// The report of an evaluation, from the JSON that [`evaluate`] gave: a page that loads nothing.
#[pyfunction]
pub(crate) fn report(judged: &str, title: Option<String>, hide_ids: bool) -> PyResult<String> {
    let page = || {
        let judged: RunSummary = from_json(judged)?;
        let comparison = LoadedRun::new(judged.records, judged.roster, judged.context)?;
        render(&[comparison], &ReportOptions { hide_ids, title })
    };
    page().map_err(exception)
}

fn to_json(value: &impl Serialize) -> bagwise::Result<String> {
    serde_json::to_string(value).map_err(|e| Error::Invalid(format!("the results: {e}")))
}

fn from_json<T: DeserializeOwned>(text: &str) -> bagwise::Result<T> {
    serde_json::from_str(text).map_err(|e| Error::Invalid(format!("the results: {e}")))
}
