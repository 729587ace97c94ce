//! What `evaluate` and `compare` share: protocol options, carrying out a run with its folder, and its summary.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail};
use clap::Args;

use bagwise::io::{Column, ReadOptions, save_whole};
use bagwise::judge::{
    Metric, MetricSummary, Protocol, ProtocolName, Record, RecordFile, Roster, often_on_edge,
    prediction_rows, that_saw_test_bags, write_predictions,
};
use bagwise::params::Fill;
use bagwise::run::{Contender, Plan, Run, ranked};
use bagwise::{Ctx, Dataset};
use bagwise_report::Finished;

use crate::args::Data;
use crate::learning::{Choosing, Learning};
use crate::output::{Object, quoted};
use crate::reporting;
use crate::session::Session;

/// How methods are judged.
#[derive(Args)]
#[command(next_help_heading = "Protocol")]
pub(crate) struct Judging {
    /// nested, kfold (fixed parameters), loo, half, given, train-test, or best-on-cv (optimistic)
    /// [default: nested, or given where folds are]
    #[arg(long, value_name = "NAME")]
    protocol: Option<ProtocolName>,
    /// Outer folds, or random halves [default: 10, or as many as there are groups; 5 halves]
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
    /// The protocol: what was said, else what the other options mean.
    fn protocol(&self) -> ProtocolName {
        let given = self.fold_column.is_some() || self.fold_file.is_some();
        self.protocol.unwrap_or(if given { ProtocolName::Given } else { ProtocolName::Nested })
    }

    /// Refuses what only the command line knows of: a run refuses the rest itself.
    fn check(&self) -> Result<()> {
        let protocol = self.protocol();
        let takes_given = matches!(protocol, ProtocolName::Given | ProtocolName::TrainTest);
        if takes_given && self.fold_column.is_none() && self.fold_file.is_none() {
            bail!(
                "protocol {} needs the fold of each bag; name a column with --fold-column or a table with --fold-file",
                protocol.as_str()
            );
        }
        if self.folds.is_some() && (takes_given || protocol == ProtocolName::Loo) {
            bail!("protocol {} has no use for --folds; leave one of them out", protocol.as_str());
        }
        Ok(())
    }

    /// The plan of a run.
    pub(crate) fn plan(
        &self,
        data: &Dataset,
        learning: &Learning,
        choosing: &Choosing,
        seed: u64,
    ) -> Result<Plan> {
        self.check()?;
        let protocol = self.protocol();
        let units = data.groups.as_ref().map_or(data.bags.len(), |g| g.names.len());
        let folds = self.folds.unwrap_or(protocol.default_folds(units));
        Ok(Plan {
            protocol: Protocol::new(protocol, folds, self.inner),
            metric: choosing.metric(data),
            threshold: choosing.threshold,
            best: choosing.best,
            positive: choosing.positive.clone(),
            precision: learning.seeing.precision(),
            seed,
            repeats: self.repeats,
        })
    }

    /// What stands in for parameters that are not given.
    pub(crate) fn fill(&self) -> Fill {
        Fill::when_tuned(self.protocol().tunes())
    }

    /// How data are read, with the column of folds carried along.
    pub(crate) fn read_options(&self, read: &Data) -> ReadOptions {
        let mut options = read.read_options();
        options.keep.extend(self.fold_column.clone().filter(|column| !options.keep.contains(column)));
        options
    }

    /// The fold of each bag, from a column or a table. A column that was carried along for this alone is taken out.
    pub(crate) fn given(&self, data: &mut Dataset, read: &Data) -> Result<Option<Vec<String>>> {
        let folds = self.read_given(data, read)?;
        let split = |folds: &Vec<String>| folds.iter().all(|f| f == "train" || f == "test");
        if self.protocol.is_none() && folds.as_ref().is_some_and(split) {
            bail!(
                "the folds are called train and test; say --protocol train-test for one split, or given to test both"
            );
        }
        Ok(folds)
    }

    fn read_given(&self, data: &mut Dataset, read: &Data) -> Result<Option<Vec<String>>> {
        if let Some(path) = &self.fold_file {
            return given_by_file(path, data).map(Some);
        }
        let Some(column) = &self.fold_column else { return Ok(None) };
        // Columns to keep come in the order in which they were named, and some formats add their own behind.
        let named = match column {
            Column::Name(name) => data.kept.iter().position(|k| k.name == *name),
            Column::Number(_) => Some(read.keep.iter().position(|c| c == column).unwrap_or(read.keep.len())),
        };
        let at = named
            .filter(|&at| at < data.kept.len())
            .with_context(|| format!("{}: there is no column '{column}' with folds", data.name))?;
        let kept = &data.kept[at];
        let mut folds = Vec::with_capacity(data.bags.len());
        for bag in 0..data.bags.len() {
            let values = &kept.values[data.bags.rows(bag)];
            if let Some(other) = values.iter().find(|v| **v != values[0]) {
                bail!(
                    "{}: bag '{}' is in fold '{}' and in fold '{other}'; column '{column}' must be the same in all its rows",
                    data.name,
                    data.bags.ids()[bag],
                    values[0]
                );
            }
            folds.push(values[0].clone());
        }
        if !read.keep.contains(column) {
            data.kept.remove(at);
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
        let (bag, fold) = (record[bag].trim().to_string(), record[fold].trim().to_string());
        if let Some(before) = of_bag.insert(bag.clone(), fold.clone())
            && before != fold
        {
            let line = record.position().map_or(0, csv::Position::line);
            bail!("{name}, line {line}: bag '{bag}' is in fold '{before}' and in fold '{fold}'; give it one");
        }
    }
    let find = |id: &String| {
        of_bag.get(id).cloned().with_context(|| {
            format!("{name}: bag '{id}' of {} has no fold; give every bag a line", data.name)
        })
    };
    data.bags.ids().iter().map(find).collect()
}

/// A run's results.
pub(crate) struct Results {
    /// The records, sorted by key.
    pub(crate) records: Vec<Record>,
    /// The bags.
    pub(crate) roster: Roster,
    /// Repeats there were; one where the folds are not drawn at random.
    pub(crate) repeats: usize,
    /// Time the run took, earlier sessions included.
    pub(crate) elapsed: Duration,
}

impl Results {
    /// All metrics of the only method, `metric` first.
    pub(crate) fn one(&self, metric: Metric, level: f64) -> Result<Vec<MetricSummary>> {
        let table = ranked(&self.records, &self.roster, metric, level)?;
        Ok(table.into_iter().next().map(|m| m.metrics).unwrap_or_default())
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

    /// The methods, if any, that drew on the bags they were judged by.
    pub(crate) fn saw_test_bags(&self) -> Option<String> {
        let methods = that_saw_test_bags(&self.records);
        (!methods.is_empty()).then(|| {
            format!("{} drew on test bags too (pool=all): the estimate is optimistic", methods.join(" and "))
        })
    }

    /// Chosen parameters that sit at the end of their grid in most fits, one sentence per method.
    pub(crate) fn edges(&self) -> Vec<String> {
        let methods: BTreeSet<&str> = self.records.iter().map(|r| r.key.method.as_str()).collect();
        let sentence = |method: &str| {
            let often = often_on_edge(self.records.iter().filter(|r| r.key.method == method));
            let list: Vec<String> = often.iter().map(ToString::to_string).collect();
            let list = list.join(" and ");
            (!often.is_empty())
                .then(|| format!("{method} chose {list} at the end of the grid; a wider grid may do better"))
        };
        methods.into_iter().filter_map(sentence).collect()
    }
}

/// Carries a run out, with one record per fit in `folder` if there is one, and beside them what a report needs to know
/// of the run. A folder that holds part of the same run is completed.
pub(crate) fn carry_out(
    data: &Dataset,
    contenders: &[Contender],
    plan: &Plan,
    level: f64,
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
    // A run that is completed took what its earlier sessions took as well; fits go one after another, so their times add up.
    let earlier: f64 = file.iter().flat_map(RecordFile::records).map(|r| r.seconds).sum();
    // What is known of a run that was finished before stays.
    let reported = folder.filter(|f| done.len() < run.len() || !reporting::complete(f));
    let known = reported.map(|f| reporting::begin(f, data, contenders, plan, level)).transpose()?;
    // Fits are counted here; what goes on inside one would only make the bar flicker.
    let mut inside = ctx.clone();
    inside.progress = Arc::new(bagwise::Silent);
    let total = run.len() as u64;
    let mut live = Live {
        metric: plan.metric,
        per_method: run.len() / contenders.len().max(1),
        several: contenders.len() > 1,
        method: String::new(),
        fits: 0,
        bags: 0.0,
        sum: 0.0,
        seconds: 0.0,
    };
    let mut count = done.len() as u64;
    ctx.progress.step(&plan_name(data), count, total);
    let outcome = run.carry_out(
        &|key| done.contains(key),
        &mut |record| {
            count += 1;
            if let Some(line) = live.line_after(&record) {
                session.say(&line);
            }
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
            "{count} of {total} fits are kept; to go on from there, give the same command with -o {}",
            quoted(&folder.to_string_lossy())
        ));
    }
    outcome?;
    let mut records = file.map_or(kept, RecordFile::into_records);
    records.sort_by(|a, b| a.key.cmp(&b.key));
    let repeats = run.folds.repeats.len();
    let elapsed = started.elapsed() + Duration::try_from_secs_f64(earlier).unwrap_or_default();
    let results = Results { records, roster: run.roster, repeats, elapsed };
    if let Some(folder) = folder {
        let rows = prediction_rows(&results.records, &results.roster)?;
        let mut bytes = Vec::new();
        write_predictions(&rows, &mut bytes)?;
        save_whole(&folder.join("predictions.csv"), &bytes)?;
    }
    if let (Some(folder), Some(known)) = (reported, known) {
        let Results { records, roster, .. } = &results;
        let run = Finished { data, contenders, plan, level, records, roster };
        reporting::finish(folder, known, &run, elapsed, ctx)?;
    }
    Ok(results)
}

/// A metric as JSON: mean, sd, values of the repeats, interval.
pub(crate) fn metric_json(m: &MetricSummary) -> Object {
    let mut object = Object::default();
    object.put("mean", m.mean).put("sd", m.sd).put("values", &m.values);
    match m.interval {
        None => object.put("interval", ()),
        Some(i) => {
            let mut interval = Object::default();
            interval.put("low", i.low).put("high", i.high).put("level", i.level);
            object.put_object("interval", interval)
        }
    };
    object
}

/// The line that a method gets as soon as its last fit of this session is done: the live table of a comparison.
struct Live {
    metric: Metric,
    per_method: usize,
    several: bool,
    method: String,
    fits: usize,
    bags: f64,
    sum: f64,
    seconds: f64,
}

impl Live {
    /// Takes a record in; the line, if it was the method's last. Fits of a resumed run that are not seen here leave it out.
    fn line_after(&mut self, record: &Record) -> Option<String> {
        if record.key.method != self.method {
            self.method = record.key.method.clone();
            (self.fits, self.bags, self.sum, self.seconds) = (0, 0.0, 0.0, 0.0);
        }
        self.fits += 1;
        self.seconds += record.seconds;
        if let Some(value) = record.metrics.get(self.metric.name()).copied().flatten() {
            let bags = record.scored.bags.len() as f64;
            self.bags += bags;
            self.sum += bags * value;
        }
        let done = self.several && self.fits == self.per_method && self.bags > 0.0;
        done.then(|| {
            format!(
                "  {:<18} {} {:.3} (mean of folds) in {:.1} s",
                self.method,
                self.metric.name(),
                self.sum / self.bags,
                self.seconds
            )
        })
    }
}

fn plan_name(data: &Dataset) -> String {
    format!("fits on {}", data.name)
}

/// Makes the folder of a run, or opens that of the same run.
fn open(folder: &Path, run: &Run<'_>, session: &Session) -> Result<RecordFile> {
    std::fs::create_dir_all(folder)
        .with_context(|| format!("{}: the folder cannot be made", folder.display()))?;
    let file = RecordFile::open(&folder.join("records.jsonl"), &run.fingerprint)?;
    if file.torn() > 0 {
        session.warn(&format!(
            "{}: the last line was torn when the run ended, and is dropped",
            folder.join("records.jsonl").display()
        ));
    }
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
