//! `bagwise run`: an experiment from a file, and its results beside the numbers that a paper printed.

use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};
use bagwise::io::{OutputKind, save_whole};
use bagwise::judge::{FitStatus, Metric, Protocol, ProtocolName, Record, that_saw_test_bags};
use bagwise::{Evaluation, LEVEL};
use bagwise_report::{LoadedRun, ReportOptions, render};

use crate::args;
use crate::experiment::{Data, Entry, Experiment, Measure};
use crate::judging;
use crate::output::{BOLD, Digits, Object, Output, Paint, Rows};
use crate::reporting::REPORT;
use crate::session::{Outcome, Session};

const JSON: &str = "table.json";
const MARKDOWN: &str = "table.md";

/// Run an experiment file and compare the results with published ones
#[derive(clap::Args)]
#[command(after_help = HELP)]
pub(crate) struct Args {
    /// Experiment file (TOML)
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// Run the reduced version defined in the file, which takes minutes instead of hours
    #[arg(long)]
    quick: bool,
    /// Output folder for records and tables; if it contains part of the same run, the run resumes [default: named after the file]
    #[arg(short, long, value_name = "FOLDER")]
    output: Option<PathBuf>,
    /// Do not write report.html
    #[arg(long)]
    no_report: bool,
}

const HELP: &str = "\
The file describes data, methods, grids and protocol, together with the published numbers. experiments/ \
contains a file for every published table whose data are available. Data sets are looked up by name in $BAGWISE_DATA and data/. The \
table marks data sets that are missing and methods that bagwise does not implement.

Examples:
  bagwise run experiment.toml --quick
  bagwise run experiment.toml --quick -o again --format csv";

pub(crate) fn run(args: &Args, session: &Session) -> Result<Outcome> {
    let experiment = Experiment::read(&args.file, args.quick)?;
    let folder = args.output.clone().unwrap_or_else(|| default_folder(&args.file, args.quick));
    check_folder(&folder, args, session)?;
    std::fs::create_dir_all(&folder).with_context(|| format!("{}: cannot be created", folder.display()))?;
    let metric = experiment.metric()?;
    session.say(&format!("{} ({})", experiment.title, experiment.source));
    let mut table =
        Table { experiment: &experiment, metric, folder: folder.clone(), cells: Vec::new(), report: None };
    let mut runs = Vec::new();
    let mut outcome = Outcome::Done;
    for (position, data) in experiment.data.iter().enumerate() {
        match on_one(&experiment, position, data, metric, &folder, session)? {
            None => table.cells.extend(experiment.method.iter().map(|_| Cell::Missing)),
            Some(of_seeds) => {
                table.cells.extend(cells(&experiment, &of_seeds));
                for (own, results) in of_seeds {
                    runs.push(own);
                    if let Some(saw) = results.saw_test_bags() {
                        session.warn(&saw);
                    }
                    if let Some(failures) = results.failures() {
                        session.warn(&failures);
                        outcome = Outcome::FailedFits;
                    }
                }
            }
        }
    }
    if !args.no_report && !runs.is_empty() {
        table.report = Some(report(&experiment, &runs, &folder)?);
    }
    save_whole(&folder.join(JSON), table.json()?.as_bytes())?;
    save_whole(&folder.join(MARKDOWN), table.markdown().as_bytes())?;
    session.print(&table)?;
    Ok(outcome)
}

/// Refuses to overwrite tables and reports of somebody else; the folders of the single runs look after themselves.
fn check_folder(folder: &Path, args: &Args, session: &Session) -> Result<()> {
    let (json, markdown, report) = (folder.join(JSON), folder.join(MARKDOWN), folder.join(REPORT));
    let inputs = [&*args.file.to_string_lossy()];
    if json.exists() || markdown.exists() {
        // The text has no mark of its own, and goes with the numbers.
        let kept = if json.exists() { &json } else { &markdown };
        session.check_output(kept, OutputKind::Results, &inputs)?;
    }
    if report.exists() && !args.no_report {
        session.check_output(&report, OutputKind::Report, &inputs)?;
    }
    Ok(())
}

/// `NAME` or `NAME-quick`, after the file.
fn default_folder(file: &Path, quick: bool) -> PathBuf {
    let stem = file.file_stem().map_or("experiment".into(), |s| s.to_string_lossy().into_owned());
    PathBuf::from(if quick { format!("{stem}-quick") } else { stem })
}

/// Every method of the experiment on one data set, a run for each seed in a folder of its own; nothing if the data are
/// not there.
fn on_one(
    experiment: &Experiment,
    position: usize,
    data: &Data,
    metric: Metric,
    folder: &Path,
    session: &Session,
) -> Result<Option<Vec<(PathBuf, Evaluation)>>> {
    if !bagwise::io::is_here(data.read()) {
        session.warn(&format!("{}: no data set of this name in $BAGWISE_DATA or data/", data.read()));
        return Ok(None);
    }
    let set = session.read(data.read(), &data.options()?)?;
    let judged = experiment.judged(data)?;
    let mut configs = Vec::new();
    for entry in &experiment.method {
        let Some(name) = &entry.method else { continue };
        let learning = entry.learning(&data.name)?;
        let config = learning.config(name, &args::Data::default()).called(&entry.name);
        configs.push(config.params(&learning.seeing.params));
    }
    // Numbered, so that names need not be names of folders.
    let own = format!("{:02}-{}", position + 1, plain(&data.name));
    let mut of_seeds = Vec::new();
    for seed in (session.ctx.seed..).take(judged.seeds) {
        let own = folder.join(if judged.seeds > 1 { format!("{own}-seed-{seed}") } else { own.clone() });
        let evaluate = bagwise::compare(&set)
            .baselines(false)
            .methods(configs.clone())
            .protocol(judged.protocol)
            .folds(Some(judged.folds).filter(|_| judged.protocol != ProtocolName::Loo))
            .inner(judged.inner)
            .repeats(judged.repeats)
            .level(LEVEL)
            .optimize(metric)
            .folder(&own)
            .ctx(&session.ctx)
            .seed(seed);
        let results = judging::run(evaluate, LEVEL, session).with_context(|| data.name.clone())?;
        of_seeds.push((own, results));
    }
    Ok(Some(of_seeds))
}

/// One report over all data sets, from their records.
fn report(experiment: &Experiment, runs: &[PathBuf], folder: &Path) -> Result<PathBuf> {
    let runs = runs.iter().map(|run| LoadedRun::read(run)).collect::<bagwise::Result<Vec<_>>>()?;
    let options = ReportOptions { hide_ids: false, title: Some(experiment.title.clone()) };
    let path = folder.join(REPORT);
    save_whole(&path, render(&runs, &options)?.as_bytes())?;
    Ok(path)
}

/// Letters, digits and dashes.
fn plain(name: &str) -> String {
    name.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '-' }).collect()
}

/// What the runs of all seeds say of each method.
fn cells(experiment: &Experiment, of_seeds: &[(PathBuf, Evaluation)]) -> Vec<Cell> {
    let mut cells: Vec<Cell> = Vec::new();
    for entry in &experiment.method {
        if entry.method.is_none() {
            cells.push(Cell::NoMethod);
            continue;
        }
        let mut ours = Ours::default();
        for (_, results) in of_seeds {
            let Some(s) = results.verdict.table.iter().find(|s| s.method == entry.name) else { continue };
            // One seed's spread is over its repeats; that of several is over seeds.
            match of_seeds.len() {
                1 => {
                    ours.values.clone_from(&s.metrics[0].values);
                    (ours.mean, ours.sd) = (s.metrics[0].mean, s.metrics[0].sd);
                }
                _ => ours.values.push(s.metrics[0].mean),
            }
            ours.repeats += results.repeats();
            ours.limited += s.limited;
            ours.fits += s.fits;
            ours.seconds += s.seconds;
            ours.saw_test_bags |= that_saw_test_bags(&results.records).contains(&entry.name);
            let judged =
                |r: &&Record| r.key.method == entry.name && r.key.inner.is_none() && r.key.point.is_empty();
            for outcome in results.records.iter().filter(judged).map(|r| &r.outcome) {
                ours.cycled += usize::from(outcome.status == FitStatus::Cycle);
                ours.rounds += outcome.changed.len();
            }
        }
        if of_seeds.len() > 1 {
            (ours.mean, ours.sd) = mean_and_deviation(&ours.values);
        }
        cells.push(if ours.fits == 0 { Cell::Missing } else { Cell::Ours(ours) });
    }
    cells
}

/// Mean and standard deviation (n - 1) of the values of seeds; none unless every seed has one.
fn mean_and_deviation(values: &[Option<f64>]) -> (Option<f64>, Option<f64>) {
    let Some(values) = values.iter().copied().collect::<Option<Vec<f64>>>() else { return (None, None) };
    let count = values.len() as f64;
    let mean = values.iter().sum::<f64>() / count;
    let squares = values.iter().map(|v| (v - mean).powi(2)).sum::<f64>();
    (Some(mean), Some((squares / (count - 1.0)).sqrt()))
}

/// What came out for a method on a data set.
enum Cell {
    /// A result.
    Ours(Ours),
    /// The data set is not there.
    Missing,
    /// bagwise does not have the method.
    NoMethod,
}

/// A result.
#[derive(Default)]
struct Ours {
    /// Of each repeat, or of each seed if there are several.
    values: Vec<Option<f64>>,
    mean: Option<f64>,
    sd: Option<f64>,
    /// Of all seeds together, as everything below.
    repeats: usize,
    limited: usize,
    /// Of the limited, those that came back to an earlier state.
    cycled: usize,
    /// Rounds of alternations.
    rounds: usize,
    fits: usize,
    seconds: f64,
    saw_test_bags: bool,
}

impl Ours {
    fn remark(&self) -> String {
        let mut remarks = Vec::new();
        if self.mean.is_none() {
            remarks.push("no result".to_string());
        } else if self.limited > 0 {
            let Ours { limited, cycled, fits, .. } = self;
            let mut remark = format!(
                "{limited} of {fits} fits ended at a limit ({}) or in a cycle ({cycled})",
                limited - cycled
            );
            if self.rounds > 0 {
                remark += &format!(", {:.0} rounds on average", self.rounds as f64 / *fits as f64);
            }
            remarks.push(remark);
        }
        if self.saw_test_bags {
            remarks.push("saw test bags".into());
        }
        remarks.join("; ")
    }
}

/// All results, data set by data set and within them in the order of the methods.
struct Table<'a> {
    experiment: &'a Experiment,
    metric: Metric,
    folder: PathBuf,
    cells: Vec<Cell>,
    report: Option<PathBuf>,
}

impl Table<'_> {
    fn unit(&self) -> f64 {
        if self.experiment.percent { 100.0 } else { 1.0 }
    }

    /// Mean and deviation in the unit of the printed numbers.
    fn ours(&self, cell: &Cell) -> (Option<f64>, Option<f64>) {
        match (cell, self.experiment.measure) {
            (Cell::Ours(ours), Measure::Metric) => {
                (ours.mean.map(|m| m * self.unit()), ours.sd.map(|s| s * self.unit()))
            }
            (Cell::Ours(ours), Measure::Seconds) => (Some(ours.seconds / ours.repeats as f64), None),
            _ => (None, None),
        }
    }

    /// Where the result is to lie, and whether it does.
    fn expected(&self, data: &Data, method: &Entry, cell: &Cell) -> (Option<[f64; 2]>, Option<bool>) {
        // The file was checked when it was read.
        let expected = self.experiment.expected(method, &data.name).ok().flatten();
        let within = |([low, high], mean): ([f64; 2], f64)| (low..=high).contains(&mean);
        (expected, expected.zip(self.ours(cell).0).map(within))
    }

    /// Digits behind the point that printed numbers of this size have.
    fn digits(&self) -> Digits {
        let short = self.experiment.percent || self.experiment.measure == Measure::Seconds;
        Digits::Few(if short { 1 } else { 4 })
    }

    fn lines(&self) -> impl Iterator<Item = (&Data, &Entry, &Cell)> {
        let pairs =
            self.experiment.data.iter().flat_map(|d| self.experiment.method.iter().map(move |m| (d, m)));
        pairs.zip(&self.cells).map(|((data, method), cell)| (data, method, cell))
    }

    /// Lines that say something: a result, or a printed number without one.
    fn rows(&self, digits: Digits) -> Rows {
        let name = match (self.experiment.measure, self.experiment.percent) {
            (Measure::Seconds, _) => "ours".into(),
            (_, true) => format!("{} %", self.metric.name()),
            (_, false) => self.metric.name().into(),
        };
        let head = ["data", "method", "printed", &name, "sd", "difference", "reference", "remark", "seconds"];
        let judged = self.lines().any(|(data, method, cell)| self.expected(data, method, cell).0.is_some());
        let more = if judged { &["expected", "within"][..] } else { &[] };
        let mut rows = Rows::new(head[..7].iter().chain(more).chain(&head[7..]).copied());
        for (data, method, cell) in self.lines() {
            let printed = method.printed.get(&data.name).copied();
            let reference = method.reference.get(&data.name).copied();
            let (mean, sd) = self.ours(cell);
            let (seconds, remark) = match cell {
                Cell::Ours(ours) => (Some(ours.seconds), ours.remark()),
                Cell::Missing => (None, "data not available".into()),
                Cell::NoMethod if printed.is_none() && reference.is_none() => continue,
                Cell::NoMethod => (None, "not implemented".into()),
            };
            let difference = printed.zip(mean).map(|(p, m)| m - p);
            let signed = |text: String| {
                if text.starts_with('-') || text.is_empty() { text } else { format!("+{text}") }
            };
            let mut row = vec![
                data.name.clone(),
                method.name.clone(),
                digits.show(printed),
                digits.show(mean),
                digits.show(sd),
                if digits == Digits::All { digits.show(difference) } else { signed(digits.show(difference)) },
                digits.show(reference),
            ];
            if judged {
                let (expected, within) = self.expected(data, method, cell);
                let range = |[low, high]: [f64; 2]| {
                    format!("{} to {}", digits.show(Some(low)), digits.show(Some(high)))
                };
                row.push(expected.map_or(String::new(), range));
                row.push(within.map_or("", |w| if w { "yes" } else { "no" }).into());
            }
            row.extend([remark, Digits::Few(1).show(seconds)]);
            rows.push(row);
        }
        rows
    }

    /// How the data sets were judged, in words.
    fn protocols(&self) -> String {
        let mut all: Vec<String> = Vec::new();
        for data in &self.experiment.data {
            if let Ok(judged) = self.experiment.judged(data) {
                let several = |n: usize, of: &str| if n > 1 { format!(", {n} {of}") } else { String::new() };
                let text = format!(
                    "{}{}{}",
                    Protocol::new(judged.protocol, judged.folds, judged.inner),
                    several(judged.repeats, "repeats"),
                    several(judged.seeds, "seeds")
                );
                if !all.contains(&text) {
                    all.push(text);
                }
            }
        }
        all.join("; ")
    }

    fn markdown(&self) -> String {
        let mut text =
            format!("### {}\n\n{}. {}.\n\n", self.experiment.title, self.experiment.source, self.protocols());
        text += &self.rows(self.digits()).markdown();
        for note in &self.experiment.notes {
            text += &format!("\n* {note}");
        }
        text.push('\n');
        text
    }
}

impl Output for Table<'_> {
    fn json(&self) -> Result<String> {
        let line = |(data, method, cell): (&Data, &Entry, &Cell)| {
            let mut object = Object::default();
            object.put("data", &data.name).put("name", &method.name).put("method", &method.method);
            object.put("printed", method.printed.get(&data.name));
            object.put("reference", method.reference.get(&data.name));
            let (expected, within) = self.expected(data, method, cell);
            object.put("expected", expected).put("within", within);
            match cell {
                Cell::Ours(ours) => {
                    object.put("saw_test_bags", ours.saw_test_bags);
                    let (mean, sd) = self.ours(cell);
                    object.put("mean", mean).put("sd", sd);
                    if self.experiment.measure == Measure::Metric {
                        let values = ours.values.iter().map(|v| v.map(|v| v * self.unit()));
                        object.put("values", values.collect::<Vec<_>>());
                    }
                    object.put("repeats", ours.repeats).put("fits", ours.fits).put("limited", ours.limited);
                    object.put("cycled", ours.cycled).put("rounds", ours.rounds);
                    object.put("seconds", ours.seconds).put("status", "done")
                }
                Cell::Missing => object.put("status", "data missing"),
                Cell::NoMethod => object.put("status", "no such method"),
            };
            object
        };
        let mut object = Object::default();
        object.put("title", &self.experiment.title).put("source", &self.experiment.source);
        object.put("metric", self.metric).put("percent", self.experiment.percent);
        object.put("measure", self.experiment.measure);
        object.put("protocol", self.protocols()).put("notes", &self.experiment.notes);
        object
            .put_list("results", self.lines().map(line).collect())
            .put("folder", &self.folder)
            .put("report", &self.report);
        Ok(serde_json::to_string_pretty(&object)?)
    }

    fn csv(&self) -> Rows {
        self.rows(Digits::All)
    }

    fn text(&self, paint: Paint) -> String {
        let mut text = format!("{}\n{}\n", paint.paint(&self.experiment.title, BOLD), self.protocols());
        text += &self.rows(self.digits()).to_string();
        for note in &self.experiment.notes {
            text += &format!("* {note}\n");
        }
        if let Some(report) = &self.report {
            text += &format!("report: {}\n", report.display());
        }
        text + &format!("wrote records and tables to {}\n", self.folder.display())
    }
}
