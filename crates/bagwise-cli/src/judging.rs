//! What `evaluate` and `compare` share: protocol options, carrying out a run with its folder, and its summary.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail};
use clap::Args;

use bagwise::evaluate::{
    Contender, MethodSummary, Metric, Plan, Predictions, Protocol, ProtocolName, Record, RecordFile, Roster,
    Run, Scored, prediction_rows, summarise, write_predictions,
};
use bagwise::io::{Column, save_whole};
use bagwise::params::Fill;
use bagwise::{Ctx, Dataset};

use crate::learning::Choosing;
use crate::session::Session;

/// How methods are judged.
#[derive(Args)]
#[command(next_help_heading = "Protocol")]
pub(crate) struct Judging {
    /// nested, kfold (fixed parameters), loo, half, given, train-test, or best-on-cv (optimistic)
    #[arg(long, value_name = "NAME", default_value = "nested")]
    pub(crate) protocol: ProtocolName,
    /// Outer folds, or random halves
    #[arg(long, value_name = "N")]
    pub(crate) folds: Option<usize>,
    /// Inner folds, by which parameters are chosen
    #[arg(long, value_name = "N", default_value_t = 5)]
    pub(crate) inner: usize,
    /// How often the folds are drawn anew
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub(crate) repeats: usize,
    /// Column with the fold of each bag, for protocol given or train-test
    #[arg(long, value_name = "COLUMN")]
    pub(crate) fold_column: Option<Column>,
    /// Table `bag,fold` with the fold of each bag, for protocol given or train-test
    #[arg(long, value_name = "FILE", conflicts_with = "fold_column")]
    pub(crate) fold_file: Option<PathBuf>,
    /// Level of intervals and tests
    #[arg(long, value_name = "SHARE", default_value_t = 0.95, value_parser = level)]
    pub(crate) level: f64,
}

impl Judging {
    /// The plan of a run.
    pub(crate) fn plan(&self, data: &Dataset, choosing: &Choosing, seed: u64) -> Plan {
        let folds = self.folds.unwrap_or(if self.protocol == ProtocolName::Half { 5 } else { 10 });
        Plan {
            protocol: Protocol::new(self.protocol, folds, self.inner),
            metric: choosing.metric(data),
            threshold: choosing.threshold,
            positive: choosing.positive.clone(),
            seed,
            repeats: self.repeats,
        }
    }

    /// Fixed protocols take defaults for what is not given, all others the grid.
    pub(crate) fn fill(&self) -> Fill {
        if self.protocol == ProtocolName::Kfold { Fill::Default } else { Fill::Grid }
    }

    /// The fold of each bag, from a kept column or a table.
    pub(crate) fn given(&self, data: &Dataset) -> Result<Option<Vec<String>>> {
        if let Some(path) = &self.fold_file {
            return given_by_file(path, data).map(Some);
        }
        let Some(column) = &self.fold_column else { return Ok(None) };
        // The column was read as the last one to keep.
        let kept = data.kept.last().context("the fold column was not read")?;
        let mut folds = Vec::with_capacity(data.bags.len());
        for bag in 0..data.bags.len() {
            let values = &kept.values[data.bags.rows(bag)];
            if let Some(other) = values.iter().find(|v| **v != values[0]) {
                bail!(
                    "{}: bag '{}' is in fold '{}' and in fold '{other}'; column {column:?} must be the same in all its rows",
                    data.name,
                    data.bags.ids()[bag],
                    values[0]
                );
            }
            folds.push(values[0].clone());
        }
        Ok(Some(folds))
    }
}

fn given_by_file(path: &Path, data: &Dataset) -> Result<Vec<String>> {
    let name = path.display();
    let mut reader = csv::Reader::from_path(path).with_context(|| format!("{name}: cannot be read"))?;
    let header = reader.headers().with_context(|| format!("{name}: cannot be read"))?.clone();
    let column = |wanted: &str| {
        header
            .iter()
            .position(|h| h == wanted)
            .with_context(|| format!("{name}: no column '{wanted}'; it needs bag and fold"))
    };
    let (bag, fold) = (column("bag")?, column("fold")?);
    let mut of_bag = std::collections::HashMap::new();
    for record in reader.records() {
        let record = record.with_context(|| format!("{name}: cannot be read"))?;
        of_bag.insert(record[bag].to_string(), record[fold].to_string());
    }
    let find = |id: &String| {
        of_bag.get(id).cloned().with_context(|| format!("{name}: bag '{id}' of {} has no fold", data.name))
    };
    data.bags.ids().iter().map(find).collect()
}

/// A run's results.
pub(crate) struct Results {
    /// The records, sorted by key.
    pub(crate) records: Vec<Record>,
    /// The bags.
    pub(crate) roster: Roster,
    /// Time the run took.
    pub(crate) elapsed: Duration,
}

impl Results {
    /// All metrics that make sense for the task.
    pub(crate) fn metrics(&self) -> Result<Vec<Metric>> {
        let any = self.records.iter().find(|r| r.succeeded()).map(|r| r.scored.clone()).unwrap_or_default();
        Ok(match self.predictions(&any) {
            Some(predictions) => Metric::for_task(&predictions),
            None => Vec::new(),
        })
    }

    fn predictions(&self, scored: &Scored) -> Option<Predictions> {
        (!scored.bags.is_empty()).then(|| self.roster.predictions(scored).ok()).flatten()
    }

    /// The table, best first by `metric`.
    pub(crate) fn summaries(&self, metric: Metric, level: f64) -> Result<Vec<MethodSummary>> {
        let mut metrics = self.metrics()?;
        metrics.retain(|m| *m != metric);
        metrics.insert(0, metric);
        let mut table = summarise(&self.records, &self.roster, &metrics, level)?;
        table.sort_by(|a, b| match (a.metrics[0].mean, b.metrics[0].mean) {
            (Some(x), Some(y)) if metric.better(x, y) => std::cmp::Ordering::Less,
            (Some(x), Some(y)) if metric.better(y, x) => std::cmp::Ordering::Greater,
            (Some(_), None) => std::cmp::Ordering::Less,
            (None, Some(_)) => std::cmp::Ordering::Greater,
            // Equally good: the simpler first.
            _ => complexity(&a.method).cmp(&complexity(&b.method)),
        });
        Ok(table)
    }

    /// Fits that failed, with the first reason.
    pub(crate) fn failures(&self) -> Option<String> {
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

    /// Chosen parameters that sit on the edge of their grid, with how often.
    pub(crate) fn edges(&self) -> Vec<String> {
        let mut count: std::collections::BTreeMap<(&str, &str), (usize, usize)> = Default::default();
        for record in &self.records {
            for name in record.parameters.keys() {
                let entry = count.entry((&record.key.method, name)).or_default();
                entry.1 += 1;
                entry.0 += usize::from(record.on_edge.contains(name));
            }
        }
        count
            .into_iter()
            .filter(|(_, (edge, all))| 2 * edge > *all)
            .map(|((method, name), (edge, all))| {
                format!("{method}: {name} was chosen at the end of its grid in {edge} of {all} fits; a wider grid may do better")
            })
            .collect()
    }
}

/// Carries a run out, with one record per fit in `folder` if there is one. A folder that holds part of the same run
/// is completed.
pub(crate) fn carry_out(
    data: &Dataset,
    contenders: &[Contender],
    plan: &Plan,
    given: Option<&[String]>,
    folder: Option<&Path>,
    session: &Session,
    ctx: &Ctx,
) -> Result<Results> {
    let run = Run::new(data, contenders, plan, given)?;
    let started = Instant::now();
    let mut file = folder.map(|folder| open(folder, &run, session)).transpose()?;
    let mut kept: Vec<Record> = Vec::new();
    let done: std::collections::HashSet<_> =
        file.as_ref().map(|f| f.records().map(|r| r.key.clone()).collect()).unwrap_or_default();
    // Fits are counted here; what goes on inside one would only make the bar flicker.
    let mut inside = ctx.clone();
    inside.progress = Arc::new(bagwise::Silent);
    let total = run.len() as u64;
    let mut count = done.len() as u64;
    ctx.progress.step(&plan_name(data), count, total);
    let outcome = run.carry_out(
        &|key| done.contains(key),
        &mut |record| {
            count += 1;
            ctx.progress.step(&plan_name(data), count, total);
            match &mut file {
                Some(file) => file.append(record),
                None => {
                    kept.push(record);
                    Ok(())
                }
            }
        },
        &inside,
    );
    if let (Err(bagwise::Error::Cancelled), Some(folder)) = (&outcome, folder) {
        session.say(&format!(
            "{count} of {total} fits are kept in {}; the same command goes on from there",
            folder.display()
        ));
    }
    outcome?;
    let mut records = file.map_or(kept, RecordFile::into_records);
    records.sort_by(|a, b| a.key.cmp(&b.key));
    let results = Results { records, roster: run.roster, elapsed: started.elapsed() };
    if let Some(folder) = folder {
        let rows = prediction_rows(&results.records, &results.roster)?;
        let mut bytes = Vec::new();
        write_predictions(&rows, &mut bytes)?;
        save_whole(&folder.join("predictions.csv"), &bytes)?;
    }
    Ok(results)
}

/// Rank from simple to elaborate; what is not a single method comes last.
pub(crate) fn complexity(method: &str) -> u32 {
    bagwise::methods::find(method).map_or(u32::MAX, |m| m.info().complexity)
}

fn plan_name(data: &Dataset) -> String {
    format!("fits on {}", data.name)
}

/// Makes the folder of a run, or opens that of the same run.
fn open(folder: &Path, run: &Run<'_>, session: &Session) -> Result<RecordFile> {
    std::fs::create_dir_all(folder)
        .with_context(|| format!("{}: the folder cannot be made", folder.display()))?;
    let file = RecordFile::open(&folder.join("records.jsonl"), &run.fingerprint)?;
    if !file.is_empty() {
        session.say(&format!("{}: {} of {} fits are there already", folder.display(), file.len(), run.len()));
    }
    save_whole(&folder.join("folds.json"), &serde_json::to_vec_pretty(&run.folds)?)?;
    save_whole(&folder.join("roster.json"), &serde_json::to_vec_pretty(&run.roster)?)?;
    Ok(file)
}

fn level(text: &str) -> Result<f64, String> {
    text.parse().ok().filter(|l| (0.5..1.0).contains(l)).ok_or_else(|| "a share such as 0.95".into())
}
