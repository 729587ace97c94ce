//! `bagwise run`: an experiment from a file, and its results beside the numbers that a paper printed.

use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};
use bagwise::io::save_whole;
use bagwise::judge::{Metric, Protocol, ProtocolName, that_saw_test_bags};
use bagwise::{Evaluation, LEVEL, MethodConfig};
use bagwise_report::{Comparison, Options, render};

use crate::args;
use crate::experiment::{Data, Experiment, Measure};
use crate::judging;
use crate::output::{BOLD, Digits, Object, Output, Paint, Rows};
use crate::session::{Outcome, Session};

/// Repeat a published experiment from a file, beside what its paper printed
#[derive(clap::Args)]
#[command(after_help = HELP)]
pub(crate) struct Args {
    /// The experiment, a TOML file
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// Less of everything, as the file says: minutes instead of hours, and rougher
    #[arg(long)]
    quick: bool,
    /// Folder for records and tables; one that holds part of the same run is completed [default: named after the file]
    #[arg(short, long, value_name = "FOLDER")]
    output: Option<PathBuf>,
    /// Write no report.html
    #[arg(long)]
    no_report: bool,
}

const HELP: &str = "\
The file names data, methods, grids and protocol, and the numbers that a paper printed for them; experiments/ \
has one for every table that the data at hand allow. Data sets are looked for by name in $BAGWISE_DATA and data/; one that \
is not there is a line that says so, and so is a method that bagwise does not have.

Examples:
  bagwise run experiment.toml --quick
  bagwise run experiment.toml --quick -o again --format csv";

pub(crate) fn run(args: &Args, session: &Session) -> Result<Outcome> {
    let experiment = Experiment::read(&args.file, args.quick)?;
    let folder = args.output.clone().unwrap_or_else(|| default_folder(&args.file, args.quick));
    let metric = experiment.metric()?;
    session.say(&format!("{} ({})", experiment.title, experiment.source));
    let mut table =
        Table { experiment: &experiment, metric, folder: folder.clone(), cells: Vec::new(), report: None };
    let mut runs = Vec::new();
    let mut outcome = Outcome::Done;
    for (position, data) in experiment.data.iter().enumerate() {
        match on_one(&experiment, position, data, metric, &folder, session)? {
            None => table.cells.extend(experiment.method.iter().map(|_| Cell::Missing)),
            Some((cells, results)) => {
                table.cells.extend(cells);
                runs.push(folder_of(&folder, position, data));
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
    if !args.no_report && !runs.is_empty() {
        table.report = Some(report(&experiment, &runs, &folder)?);
    }
    save_whole(&folder.join("table.json"), table.json()?.as_bytes())?;
    save_whole(&folder.join("table.md"), table.markdown().as_bytes())?;
    session.print(&table)?;
    Ok(outcome)
}

/// `NAME` or `NAME-quick`, after the file.
fn default_folder(file: &Path, quick: bool) -> PathBuf {
    let stem = file.file_stem().map_or("experiment".into(), |s| s.to_string_lossy().into_owned());
    PathBuf::from(if quick { format!("{stem}-quick") } else { stem })
}

/// Every method of the experiment on one data set; nothing if the data are not there.
fn on_one(
    experiment: &Experiment,
    position: usize,
    data: &Data,
    metric: Metric,
    folder: &Path,
    session: &Session,
) -> Result<Option<(Vec<Cell>, Evaluation)>> {
    if !bagwise::io::is_here(data.read()) {
        session.warn(&format!("{}: there are no data of this name in $BAGWISE_DATA or data/", data.read()));
        return Ok(None);
    }
    let set = session.read(data.read(), &data.options()?)?;
    let judged = experiment.judged(data)?;
    let mut configs = Vec::new();
    for entry in &experiment.method {
        let Some(name) = &entry.method else { continue };
        let learning = entry.learning(&data.name)?;
        let config = learning.config(name, &args::Data::default()).called(&entry.name);
        let named = |config: MethodConfig, (key, value): &(String, String)| config.param(key, value);
        configs.push(learning.seeing.params.iter().fold(config, named));
    }
    let evaluate = bagwise::compare(&set)
        .baselines(false)
        .methods(configs)
        .protocol(judged.protocol)
        .folds(Some(judged.folds).filter(|_| judged.protocol != ProtocolName::Loo))
        .inner(judged.inner)
        .repeats(judged.repeats)
        .level(LEVEL)
        .optimize(metric)
        .folder(folder_of(folder, position, data))
        .ctx(&session.ctx);
    let results = judging::run(evaluate, LEVEL, session).with_context(|| data.name.clone())?;
    Ok(Some((cells(experiment, &results), results)))
}

/// The folder of one data set: numbered, so that names need not be names of folders.
fn folder_of(folder: &Path, position: usize, data: &Data) -> PathBuf {
    folder.join(format!("{:02}-{}", position + 1, plain(&data.name)))
}

/// One report over all data sets, from their records.
fn report(experiment: &Experiment, runs: &[PathBuf], folder: &Path) -> Result<PathBuf> {
    let runs = runs.iter().map(|run| Comparison::read(run)).collect::<bagwise::Result<Vec<_>>>()?;
    let options = Options { hide_ids: false, title: Some(experiment.title.clone()) };
    let path = folder.join("report.html");
    save_whole(&path, render(&runs, &options)?.as_bytes())?;
    Ok(path)
}

/// Letters, digits and dashes.
fn plain(name: &str) -> String {
    name.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '-' }).collect()
}

fn cells(experiment: &Experiment, results: &Evaluation) -> Vec<Cell> {
    let saw = that_saw_test_bags(&results.records);
    let summaries = &results.verdict.table;
    let cell = |name: &str, ours: &Option<String>| match ours {
        None => Cell::NoMethod,
        Some(_) => match summaries.iter().find(|s| s.method == name) {
            None => Cell::Missing,
            Some(s) => Cell::Ours {
                mean: s.metrics[0].mean,
                sd: s.metrics[0].sd,
                repeats: results.repeats(),
                limited: s.limited,
                fits: s.fits,
                seconds: s.seconds,
                saw_test_bags: saw.iter().any(|m| m == name),
            },
        },
    };
    experiment.method.iter().map(|entry| cell(&entry.name, &entry.method)).collect()
}

/// What came out for a method on a data set.
enum Cell {
    /// A result.
    Ours {
        mean: Option<f64>,
        sd: Option<f64>,
        repeats: usize,
        limited: usize,
        fits: usize,
        seconds: f64,
        saw_test_bags: bool,
    },
    /// The data set is not there.
    Missing,
    /// bagwise does not have the method.
    NoMethod,
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
            (Cell::Ours { mean, sd, .. }, Measure::Metric) => {
                (mean.map(|m| m * self.unit()), sd.map(|s| s * self.unit()))
            }
            (Cell::Ours { repeats, seconds, .. }, Measure::Seconds) => {
                (Some(seconds / *repeats as f64), None)
            }
            _ => (None, None),
        }
    }

    /// Digits behind the point that printed numbers of this size have.
    fn digits(&self) -> Digits {
        let short = self.experiment.percent || self.experiment.measure == Measure::Seconds;
        Digits::Few(if short { 1 } else { 4 })
    }

    fn lines(&self) -> impl Iterator<Item = (&Data, &crate::experiment::Entry, &Cell)> {
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
        let mut rows = Rows::new(head);
        for (data, method, cell) in self.lines() {
            let printed = method.printed.get(&data.name).copied();
            let reference = method.reference.get(&data.name).copied();
            let (mean, sd) = self.ours(cell);
            let (seconds, remark) = match cell {
                Cell::Ours { mean, limited, fits, seconds, saw_test_bags, .. } => {
                    let mut remarks = Vec::new();
                    if mean.is_none() {
                        remarks.push("no result".to_string());
                    } else if *limited > 0 {
                        remarks.push(format!("{limited} of {fits} fits ended at a limit or in a cycle"));
                    }
                    if *saw_test_bags {
                        remarks.push("drew on test bags".into());
                    }
                    (Some(*seconds), remarks.join("; "))
                }
                Cell::Missing => (None, "the data are not here".into()),
                Cell::NoMethod if printed.is_none() && reference.is_none() => continue,
                Cell::NoMethod => (None, "not in bagwise".into()),
            };
            let difference = printed.zip(mean).map(|(p, m)| m - p);
            let signed = |text: String| {
                if text.starts_with('-') || text.is_empty() { text } else { format!("+{text}") }
            };
            rows.push(vec![
                data.name.clone(),
                method.name.clone(),
                digits.show(printed),
                digits.show(mean),
                digits.show(sd),
                if digits == Digits::All { digits.show(difference) } else { signed(digits.show(difference)) },
                digits.show(reference),
                remark,
                Digits::Few(1).show(seconds),
            ]);
        }
        rows
    }

    /// How the data sets were judged, in words.
    fn protocols(&self) -> String {
        let mut all: Vec<String> = Vec::new();
        for data in &self.experiment.data {
            if let Ok(judged) = self.experiment.judged(data) {
                let text = format!(
                    "{}{}",
                    Protocol::new(judged.protocol, judged.folds, judged.inner),
                    if judged.repeats > 1 { format!(", {} repeats", judged.repeats) } else { String::new() }
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
        let line = |(data, method, cell): (&Data, &crate::experiment::Entry, &Cell)| {
            let mut object = Object::default();
            object.put("data", &data.name).put("name", &method.name).put("method", &method.method);
            object.put("printed", method.printed.get(&data.name));
            object.put("reference", method.reference.get(&data.name));
            match cell {
                Cell::Ours { repeats, limited, fits, seconds, saw_test_bags, .. } => {
                    object.put("saw_test_bags", saw_test_bags);
                    let (mean, sd) = self.ours(cell);
                    object.put("mean", mean).put("sd", sd);
                    object.put("repeats", repeats).put("fits", fits).put("limited", limited);
                    object.put("seconds", seconds).put("status", "done")
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
        text + &format!("records and tables: {}\n", self.folder.display())
    }
}
