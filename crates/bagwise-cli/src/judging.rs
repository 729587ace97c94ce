//! What `evaluate` and `compare` share: protocol options, and the messages printed during a run.

use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use anyhow::{Context as _, Result, bail};
use bagwise::io::files::read_bounded;
use bagwise::io::{Column, ReadOptions};
use bagwise::judge::{MethodSummary, MetricSummary, ProtocolName, Truth};
use bagwise::plan::{METHOD_TIME, NOMINAL_TIME};
use bagwise::{BASELINE, Dataset, Evaluate, Evaluation, Event, LEVEL, Shard, Target, TimePlan, human_bytes};
use bagwise_report::Context;
use clap::Args;

use crate::args::Data;
use crate::learning::Choosing;
use crate::output::{Object, quoted};
use crate::reporting;
use crate::session::{Outcome, Session};

/// How methods are judged.
#[derive(Args)]
#[command(next_help_heading = "Protocol")]
pub(crate) struct Judging {
    /// nested, kfold (fixed parameters), loo, half, learning-curve, given, train-test, or best-on-cv
    /// (optimistic)
    /// [default: nested, or given if folds are given]
    #[arg(long, value_name = "NAME")]
    protocol: Option<ProtocolName>,
    /// Number of outer folds, or of random halves [default: 10, or the number of groups if smaller; 5 halves]
    #[arg(long, value_name = "N")]
    pub(crate) folds: Option<usize>,
    /// Number of inner folds, used to choose parameters [default: 5, or the number of groups left if smaller]
    #[arg(long, value_name = "N")]
    pub(crate) inner: Option<usize>,
    /// Number of repeats, each with new random folds
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub(crate) repeats: usize,
    /// Column with the fold of each bag, for protocol given or train-test
    #[arg(long, value_name = "COLUMN")]
    pub(crate) fold_column: Option<Column>,
    /// Table `bag,fold` with the fold of each bag, for protocol given or train-test
    #[arg(long, value_name = "FILE", conflicts_with = "fold_column")]
    pub(crate) fold_file: Option<PathBuf>,
    /// Confidence level of intervals and tests
    #[arg(long, value_name = "SHARE", default_value_t = LEVEL, value_parser = level)]
    pub(crate) level: f64,
    /// Compute probabilities even if all parameters are fixed; this trains inner folds that are otherwise not needed
    #[arg(long)]
    probabilities: bool,
    /// Try all points of the grids of named methods, however long it takes
    #[arg(long)]
    whole_grids: bool,
}

/// Which part of a run to do.
#[derive(Args, Default)]
#[command(next_help_heading = "Shards")]
pub(crate) struct Sharding {
    /// Run part I of N of the fits, such as 3/7, in the folder shard-I-of-N of the output folder; the same command
    /// without --shard joins the parts
    #[arg(long, value_name = "I/N")]
    pub(crate) shard: Option<Shard>,
}

impl Judging {
    /// What was said, for the library.
    pub(crate) fn apply<'a>(
        &self,
        evaluate: Evaluate<'a>,
        choosing: &Choosing,
        given: Option<Vec<String>>,
    ) -> Evaluate<'a> {
        evaluate
            .protocol(self.protocol)
            .folds(self.folds)
            .inner(self.inner)
            .repeats(self.repeats)
            .given_folds(given)
            .level(self.level)
            .probabilities(self.probabilities)
            .whole_grids(self.whole_grids)
            .optimize(choosing.optimize)
            .threshold(choosing.threshold)
            .best(choosing.best)
            .positive(choosing.positive.clone())
    }

    /// How data are read, with the column of folds carried along.
    pub(crate) fn read_options(&self, read: &Data) -> ReadOptions {
        let mut options = read.read_options();
        options.keep.extend(self.fold_column.clone().filter(|column| !options.keep.contains(column)));
        options
    }

    /// The fold of each bag, from a column or a table. A column that was carried along for this alone is taken out.
    pub(crate) fn given(&self, data: &mut Dataset, read: &Data) -> Result<Option<Vec<String>>> {
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
                    "{}: bag '{}' is in fold '{}' and in fold '{other}'; give all rows of a bag the same '{column}'",
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
    const MOST: u64 = 1_000_000_000;
    let bytes = read_bounded(path, "a table of folds", MOST)?;
    let mut reader = csv::Reader::from_reader(&bytes[..]);
    let header = reader.headers().with_context(|| format!("{name}: cannot be read"))?.clone();
    let column = |wanted: &str| {
        header
            .iter()
            .position(|h| h == wanted)
            .with_context(|| format!("{name}: no column '{wanted}'; the columns bag and fold are required"))
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
            bail!(
                "{name}, line {line}: bag '{bag}' is in fold '{before}' and in fold '{fold}'; keep one of them"
            );
        }
    }
    let find = |id: &String| {
        of_bag
            .get(id)
            .cloned()
            .with_context(|| format!("{name}: bag '{id}' of {} has no fold; add a line for it", data.name))
    };
    data.bags.ids().iter().map(find).collect()
}

/// Runs an evaluation, shows how it goes, and leaves in its folder what a report needs to know. A run that is stopped says
/// how to go on.
pub(crate) fn run(evaluate: Evaluate<'_>, level: f64, session: &Session) -> Result<Evaluation> {
    watched(evaluate, level, 1, session, |evaluate| evaluate.run())
}

/// The same for one shard, of which nothing can be said but that it is done. `folder` is that of the whole run.
pub(crate) fn run_shard(
    evaluate: Evaluate<'_>,
    shard: Shard,
    level: f64,
    folder: &Path,
    session: &Session,
) -> Result<Outcome> {
    let records = watched(evaluate, level, shard.of(), session, |evaluate| evaluate.run_shard(shard))?;
    session.say(&format!(
        "shard {shard}: {} fits are done, in {}; when all shards are done, run the same command without --shard",
        records.len(),
        shard.folder(folder).display()
    ));
    let failed = records.iter().filter(|r| !r.succeeded()).count();
    if failed == 0 {
        return Ok(Outcome::Done);
    }
    session.warn(&format!("{failed} of {} fits failed", records.len()));
    Ok(Outcome::FailedFits)
}

/// Says which of two classes counts as positive where nobody said it and the names do not: recall, F1 and methods that look for
/// positive instances depend on it.
pub(crate) fn say_positive(data: &Dataset, given: Option<&str>, session: &Session) {
    if let Some(Target::Classes { names, .. }) = &data.target
        && let Some(remark) = positive_remark(names, given, session.takes_positive())
    {
        match names.as_slice() {
            [other, positive] if denies(positive, other) => session.note(&remark),
            _ => session.say(&remark),
        }
    }
}

/// Whether the name of a class reads as the negative of two: methods that look for positive instances would look for the wrong ones.
fn denies(name: &str, other: &str) -> bool {
    const NEGATIVE: [&str; 14] = [
        "no", "n", "nein", "non", "false", "negative", "neg", "inactive", "control", "normal", "healthy",
        "absent", "none", "benign",
    ];
    let (name, other) = (name.to_lowercase(), other.to_lowercase());
    let rest = ["in", "non", "not", "no", "un"].iter().find_map(|prefix| name.strip_prefix(prefix));
    let is_negated = rest.is_some_and(|rest| rest.trim_start_matches(['-', '_', ' ']) == other);
    is_negated || NEGATIVE.contains(&name.as_str())
}

/// The same, for the end of a table; `option` if the verb has one to change it.
pub(crate) fn positive_remark(classes: &[String], given: Option<&str>, option: bool) -> Option<String> {
    const PLAIN: [&str; 9] = ["1", "1.0", "true", "yes", "y", "positive", "pos", "active", "+1"];
    let [other, positive] = classes else { return None };
    let unsaid = given.is_none() && !PLAIN.contains(&positive.to_lowercase().as_str());
    let remedy = if option {
        format!("use --positive {} to change this", quoted(other))
    } else {
        "rename the classes to change this".into()
    };
    unsaid.then(|| {
        format!(
            "positive class: {positive}, the last in sort order; scores and recall are those of {positive}, and some methods search for \
             instances that make a bag {positive}; {remedy}"
        )
    })
}

/// Does what `go` does with the evaluation, which is one of `parts`, and shows how it goes.
fn watched<T>(
    evaluate: Evaluate<'_>,
    level: f64,
    parts: usize,
    session: &Session,
    go: impl FnOnce(Evaluate<'_>) -> bagwise::Result<T>,
) -> Result<T> {
    let data = evaluate.data();
    let cautions = evaluate.cautions()?;
    session.caution(&cautions);
    let size = format!(
        "{}: {} bags, {} instances x {} ({})",
        data.name,
        data.bags.len(),
        data.bags.instance_count(),
        data.bags.width(),
        human_bytes(data.bags.instances().bytes())
    );
    let mut several = false;
    let mut reported = None;
    let kept = Mutex::new((0, 0));
    let watch = |event: &Event<'_>| {
        match event {
            Event::Started { data, candidates, plan, done, total, time, folder, torn } => {
                several = candidates.len() > 1;
                say_positive(data, plan.positive.as_deref(), session);
                let methods = match &candidates[..] {
                    [one] => one.name.clone(),
                    all => format!("{} methods", all.len()),
                };
                session.say(&format!(
                    "{size}; {methods}, {}; about {}",
                    plan.protocol,
                    human_seconds(time.seconds() / parts as f64)
                ));
                say_plan(time, "--methods", session);
                let approximate = candidates.iter().flat_map(|c| c.approximations(data));
                approximate.for_each(|what| session.say(&what));
                if let Some(file) = torn {
                    session.warn(&format!(
                        "{}: an incomplete record is dropped; its fit will be repeated",
                        file.display()
                    ));
                }
                if *done > 0 {
                    let place = folder.map_or("this run".into(), |f| f.display().to_string());
                    session.say(&format!("{place}: resuming, {done} of {total} fits are done"));
                }
                *lock(&kept) = (*done, *total);
                // What is known of a run that was finished before stays.
                if let Some(folder) = folder.filter(|f| done < total || !reporting::complete(f)) {
                    let known = Context::begin(data, candidates, plan, level, reporting::command())?;
                    let mut known = known.warned_of(&cautions);
                    known.thinned =
                        time.thinned().map(|m| (m.method.clone(), m.points, m.whole_grid)).collect();
                    known.save(folder)?;
                    reported = Some((folder.to_path_buf(), known));
                }
            }
            Event::Fitted { done, total, .. } => *lock(&kept) = (*done, *total),
            Event::Judged { line } => {
                let metric = &line.metrics[0];
                if several && let Some(value) = metric.mean {
                    let time = line.seconds.map_or(String::new(), |s| format!(" in {s:.1} s"));
                    session.say(&format!("  {:<18} {} {value:.3}{time}", line.method, metric.metric));
                }
            }
            Event::Finished { data, evaluation } => {
                if let Some((folder, known)) = reported.take() {
                    known.finish(data, evaluation, &session.ctx)?.save(&folder)?;
                } else if let Some(folder) = &evaluation.folder {
                    Context::read(folder)?.took_part(&evaluation.verdict).save(folder)?;
                }
            }
        }
        Ok(())
    };
    let outcome = go(evaluate.overwrite(session.force()).watch(watch));
    if let (Err(bagwise::Error::Cancelled), (done, total)) = (&outcome, *lock(&kept)) {
        session.say(&format!("{done} of {total} fits are saved; run the same command again to resume"));
    }
    Ok(outcome?)
}

/// Says what a plan leaves out, and the option that includes it.
pub(crate) fn say_plan(time: &TimePlan, option: &str, session: &Session) {
    // Named methods have no common time.
    let within = time.time.map_or_else(|| format!("{} each", human_seconds(METHOD_TIME)), human_seconds);
    let (speed, remedy) = match time.measured {
        true => ("at the speed of this machine", "a larger --budget".to_string()),
        // The demonstration has no options, and less time than any other plan.
        false if time.time.is_some_and(|time| time < NOMINAL_TIME) => {
            ("on two ordinary cores", "bagwise compare musk1".to_string())
        }
        false if time.time.is_none() => ("on two ordinary cores", "--whole-grids".to_string()),
        false => ("on two ordinary cores", format!("{option} all")),
    };
    let thinned: Vec<String> =
        time.thinned().map(|m| format!("{} ({} of {})", m.method, m.points, m.whole_grid)).collect();
    if !thinned.is_empty() {
        // What was fitted with fewer points stays as it is where a run goes on.
        let anew = if time.measured { " in a new folder" } else { "" };
        session.say(&format!(
            "fewer grid points, to finish within {within} {speed}: {}; {remedy}{anew} tries all of them",
            thinned.join(", ")
        ));
    }
    let wall = |seconds: f64| human_seconds(seconds / time.speed);
    let left_out: Vec<String> =
        time.left_out.iter().map(|l| format!("{} ({})", l.method, wall(l.seconds))).collect();
    if !left_out.is_empty() {
        session.say(&format!(
            "left out, to finish within {within} {speed}: {}; {remedy} includes them",
            left_out.join(", ")
        ));
    }
}

/// A thread that panicked while it counted has left nothing worth guarding.
fn lock<T>(value: &Mutex<T>) -> MutexGuard<'_, T> {
    value.lock().unwrap_or_else(PoisonError::into_inner)
}

/// What the user should know of a finished run, besides what is said of its data: sentences.
pub(crate) fn remarks(evaluation: &Evaluation) -> Vec<String> {
    let mut all = evaluation.edges();
    if !evaluation.incomplete.is_empty() {
        let of = evaluation.fits_of_a_method();
        let list: Vec<String> =
            evaluation.incomplete.iter().map(|(method, fits)| format!("{method} ({fits} of {of})")).collect();
        all.push(format!(
            "the time was up before all folds were tested, so these are not ranked: {}; run the same command again to continue",
            list.join(", ")
        ));
    }
    all.extend(evaluation.saw_test_bags());
    all.extend(finds_no_positive(evaluation));
    all.extend(evaluation.failures());
    all
}

/// A warning if the recommended method takes no positive bag for one, as metrics that compare bags do not show.
fn finds_no_positive(evaluation: &Evaluation) -> Option<String> {
    let method = evaluation.verdict.recommended();
    let Truth::Classes { codes, names } = &evaluation.roster.truth else { return None };
    let called = evaluation.plan.positive.as_ref().or(names.get(1)).filter(|_| names.len() == 2)?;
    let positive = names.iter().position(|name| name == called)? as u32;
    let fits = evaluation.records.iter().filter(|r| r.key.method == method && r.key.inner.is_none());
    let labels = fits.filter_map(|r| Some(r.scored.bags.iter().zip(r.scored.labels.as_ref()?))).flatten();
    let of_positive: Vec<u32> =
        labels.filter(|(bag, _)| codes[**bag] == positive).map(|(_, &label)| label).collect();
    let finds_none = !of_positive.is_empty() && !of_positive.contains(&positive);
    (finds_none && method != BASELINE).then(|| {
        format!(
            "{method} predicts no bag of class {called} as such; try --balanced or --threshold, which \
             find more of them, at the cost of more false positives"
        )
    })
}

/// Says so, and how the program ends.
pub(crate) fn conclude(evaluation: &Evaluation, remarks: &[String], session: &Session) -> Outcome {
    remarks.iter().for_each(|remark| session.warn(remark));
    match evaluation.failures() {
        Some(_) => Outcome::FailedFits,
        None => Outcome::Done,
    }
}

/// A time as people say it.
pub(crate) fn human_seconds(seconds: f64) -> String {
    match seconds {
        s if s < 1.0 => "a second".into(),
        s if s < 120.0 => format!("{s:.0} s"),
        s if s < 7200.0 => format!("{:.0} min", s / 60.0),
        s => format!("{:.1} h", s / 3600.0),
    }
}

/// The metrics of a line that a table shows: the one that decides, and those that are shown always.
pub(crate) fn shown(line: &MethodSummary) -> impl Iterator<Item = (usize, &MetricSummary)> {
    line.metrics.iter().enumerate().filter(|(i, m)| *i == 0 || m.metric.is_default())
}

/// A metric as JSON: mean, sd, values of the repeats, interval, or why there is none.
pub(crate) fn metric_json(m: &MetricSummary) -> Object {
    let mut object = Object::default();
    object.put("mean", m.mean).put("sd", m.sd).put("values", &m.values);
    match m.interval {
        None => object.put("interval", ()).put("no_interval", &m.no_interval),
        Some(i) => {
            let mut interval = Object::default();
            interval.put("low", i.low).put("high", i.high).put("level", i.level);
            object.put_object("interval", interval)
        }
    };
    object
}

/// What the command line means where nothing is said; the defaults above say the same for help.
impl Default for Judging {
    fn default() -> Judging {
        Judging {
            protocol: None,
            folds: None,
            inner: None,
            repeats: 1,
            fold_column: None,
            fold_file: None,
            level: LEVEL,
            probabilities: false,
            whole_grids: false,
        }
    }
}

fn level(text: &str) -> Result<f64, String> {
    text.parse().ok().filter(|l| (0.5..1.0).contains(l)).ok_or_else(|| "give a number such as 0.95".into())
}
