//! `bagwise compare`, the main command: runs every method on the same folds, and says which is best and whether the
//! difference could be chance. `bagwise demo` does the same on the built-in Musk1.

use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Result, bail};
use bagwise::io::{OutputKind, save_whole};
use bagwise::judge::{Difference, MethodSummary, Metric, Truth};
use bagwise::plan::NOMINAL_TIME;
use bagwise::run::files::{REPORT, SUMMARY};
use bagwise::{BASELINE, Evaluation, RecordLocation, Target, TimePlan};
use bagwise_report::ReportOptions;

use crate::args::Data;
use crate::judging::{self, Judging, Sharding, metric_json, positive_remark, shown};
use crate::learning::{Choosing, Learning};
use crate::output::{BOLD, Digits, Object, Output, Rows, Style, quoted};
use crate::outside;
use crate::reporting;
use crate::session::{Outcome, Session};

/// Compare methods by cross-validation on the same folds
#[derive(clap::Args)]
#[command(after_help = HELP)]
pub(crate) struct Args {
    /// Files, built-in data sets or generators
    #[arg(value_name = "DATA", required = true)]
    data: Vec<String>,
    /// Methods to compare, or all; the baselines majority and simple-mi are always included
    /// [default: those that finish within ten minutes on two ordinary cores]
    #[arg(long, value_name = "A,B,…", value_delimiter = ',')]
    methods: Vec<String>,
    /// Plan for this much time (such as 90s, 10m or 2h) at the speed of this machine, and stop when it is up; run the same
    /// command again to continue
    #[arg(long, value_name = "TIME", value_parser = duration, conflicts_with = "shard")]
    budget: Option<Duration>,
    /// Repeat the plan of another run: the plan.json in its folder
    #[arg(long, value_name = "FILE", conflicts_with = "budget")]
    plan: Option<PathBuf>,
    /// Output folder for records, folds, predictions and the summary; if it contains part of the same run, the run resumes
    /// [default: a new folder named after the data]
    #[arg(short, long, value_name = "FOLDER")]
    output: Option<PathBuf>,
    /// Also compare predictions that were computed elsewhere on the same folds: a table with the columns bag, fold, predicted, score,
    /// probability and actual, such as a predictions.csv of bagwise; can be given several times
    #[arg(long, value_name = "NAME=FILE", value_parser = named_file)]
    with: Vec<(String, PathBuf)>,
    /// Do not write report.html; bagwise report can write it later from the folder
    #[arg(long)]
    no_report: bool,
    /// In the report, show bag numbers instead of names, and hide groups and kept columns
    #[arg(long, conflicts_with = "no_report")]
    hide_ids: bool,
    #[arg(skip)]
    demo: bool,
    #[command(flatten)]
    sharding: Sharding,
    #[command(flatten)]
    judging: Judging,
    #[command(flatten)]
    learning: Learning,
    #[command(flatten)]
    choosing: Choosing,
    #[command(flatten)]
    read: Data,
}

impl Args {
    /// What `bagwise compare DATA` says.
    fn on(data: &str, output: Option<PathBuf>) -> Args {
        Args {
            data: vec![data.into()],
            methods: Vec::new(),
            budget: None,
            plan: None,
            output,
            with: Vec::new(),
            no_report: false,
            hide_ids: false,
            demo: true,
            sharding: Sharding::default(),
            judging: Judging::default(),
            learning: Learning::default(),
            choosing: Choosing::default(),
            read: Data::default(),
        }
    }
}

const HELP: &str = "\
Parameters are chosen by inner folds of the training bags, so test bags do not influence them. All methods use the same \
folds. Each method is compared with the best one and with the baseline majority: the difference, its interval, and a p-value adjusted \
for the number of methods. The recommended method is the simplest one within one standard error of the best. To set a parameter \
of one method, use -p METHOD.KEY=VALUE, or -p KEY=VALUE if --methods names a single method.

--with NAME=FILE includes a method that another program trained on the same folds. Its table has one row per bag and repeat, \
with the columns bag, fold (counted from 0, as in folds.json and predictions.csv) and what was predicted: the class \
(predicted), the score or probability of the positive class, or a column `score CLASS` or `probability CLASS` for each class; \
for regression, predicted or score. compare checks the folds, the bags and, if there is a column actual, the labels. The same \
seed and options give the same folds; --fold-file sets them.

Whether a method finishes within ten minutes is estimated from the size of the data, not measured, so the same command runs \
the same methods on every machine. compare prints what it leaves out; --methods all runs everything.

--shard 3/7 runs a seventh of the fits, on any machine that shares the folder. To resume a shard that was killed, run the same \
command again. When all shards are done, the same command without --shard joins their records and writes the tables. `bagwise \
slurm` prints a script that runs the shards on a cluster.

Examples:
  bagwise compare musk1 --budget 20s                                 what fits into 20 seconds
  bagwise compare molecules.csv --bag mol --label active --group scaffold --positive 1 --folds 5
  bagwise compare musk1 --methods mi-kernel,migraph -p mi-kernel.norm=mean --budget 5m -o musk1-two
  bagwise compare musk1 --methods mi-kernel --shard 1/7 -o musk1-cut";

/// Compare methods on the built-in Musk1 data, as bagwise does without arguments
#[derive(clap::Args, Default)]
#[command(after_help = DEMO_HELP)]
pub(crate) struct DemoArgs {
    /// Output folder for records, folds, predictions and the summary [default: musk1-compare]
    #[arg(short, long, value_name = "FOLDER")]
    output: Option<PathBuf>,
}

/// Seconds on two ordinary cores that the first impression may take.
const DEMO_TIME: f64 = 14.0;

const DEMO_HELP: &str = "\
Examples:
  bagwise demo
  bagwise demo -o first-look";

pub(crate) fn demo(args: &DemoArgs, session: &Session) -> Result<Outcome> {
    session.say(
        "Comparing quick methods on the built-in Musk1 data: 92 molecules (bags) in 476 conformations (instances). 47 of the\n\
         molecules smell of musk. Nested 10-fold cross-validation. See `bagwise --help` for more.\n",
    );
    let args = Args::on("musk1", args.output.clone());
    run(&args, session)
}

pub(crate) fn run(args: &Args, session: &Session) -> Result<Outcome> {
    let mut outcome = Outcome::Done;
    if args.data.len() > 1 && args.output.is_some() {
        bail!(
            "-o names one folder, but there are {} data sets; without -o, each gets its own folder",
            args.data.len()
        );
    }
    if args.data.len() > 1 && !args.with.is_empty() {
        bail!("--with works with a single data set, but there are {}", args.data.len());
    }
    for name in &args.data {
        if one(args, name, session)? == Outcome::FailedFits {
            outcome = Outcome::FailedFits;
        }
    }
    Ok(outcome)
}

fn one(args: &Args, name: &str, session: &Session) -> Result<Outcome> {
    if let Some(report) = args.output.as_ref().map(|folder| folder.join(REPORT))
        && !args.no_report
        && report.exists()
    {
        // Not after hours of work.
        session.check_output(&report, OutputKind::Report, &args.read.inputs([name.as_ref()]))?;
    }
    let mut data = session.read(name, &args.judging.read_options(&args.read))?;
    let given = args.judging.given(&mut data, &args.read)?;
    let ctx = args.learning.seeing.ctx(&session.ctx);
    let own_folder = || PathBuf::from(format!("{}-compare", stem_of(name)));
    let keep =
        args.output.clone().map_or_else(|| RecordLocation::FolderNamed(own_folder()), RecordLocation::Folder);
    let classes = match &data.target {
        Some(Target::Classes { names, .. }) => names.clone(),
        _ => Vec::new(),
    };
    let mut evaluate = args
        .judging
        .apply(bagwise::compare(&data), &args.choosing, given)
        .methods(args.methods.iter().map(String::as_str))
        .each(args.learning.config("", &args.read))
        .budget(args.budget)
        .time_plan(args.plan.as_deref().map(TimePlan::read).transpose()?)
        .nominal_time(Duration::from_secs_f64(if args.demo { DEMO_TIME } else { NOMINAL_TIME }))
        .clock(session.clock())
        .keep(keep)
        .params(&args.learning.seeing.params)
        .ctx(&ctx);
    let positive = args.choosing.positive.as_ref().or(classes.get(1).filter(|_| classes.len() == 2));
    for (name, path) in &args.with {
        let rows = outside::read(name, path, &classes)?;
        let contradiction = positive.and_then(|positive| outside::contradiction(name, &rows, positive));
        contradiction.iter().for_each(|warning| session.note(warning));
        evaluate = evaluate.outside(name, rows);
    }
    if let Some(shard) = args.sharding.shard {
        let folder = args.output.clone().unwrap_or_else(own_folder);
        return judging::run_shard(evaluate, shard, args.judging.level, &folder, session);
    }
    let results = judging::run(evaluate, args.judging.level, session)?;
    for (program, _) in &args.with {
        let own = results.verdict.table.iter().find(|line| line.method == *program);
        let area = own.and_then(|line| line.metrics.iter().find(|m| m.metric == Metric::RocAuc)?.mean);
        if let Some(area) = area.filter(|&area| area < 0.3) {
            let meaning = match positive {
                Some(class) => format!("those of the other class, or distances; a higher score must mean {class}"),
                None => "distances, or their columns in another order; a higher score must mean that the bag is more likely of that class".into(),
            };
            session.note(&format!("{program}: the ROC AUC is {area:.3}, so the scores may be {meaning}"));
        }
    }
    let remarks = judging::remarks(&results);
    let mut comparison = Comparison::new(&results, args, name)?;
    comparison.warnings = [session.take_notes(), remarks.clone()].concat();
    reporting::add(comparison.folder(), |known| {
        known.fit_command = comparison.fit_command.clone();
        known.fit_method = comparison.fit_method.clone();
        known.skipped = results.skipped();
        known.level = Some(args.judging.level);
        known.seconds = Some(results.elapsed.as_secs_f64());
        known.data.iter_mut().for_each(|d| d.source = name.into());
    })?;
    if !args.no_report {
        let options = ReportOptions { hide_ids: args.hide_ids, title: None };
        comparison.report = Some(reporting::draw(comparison.folder(), &options, session)?);
    }
    save_whole(&comparison.folder().join(SUMMARY), comparison.json()?.as_bytes())?;
    session.print(&comparison)?;
    Ok(judging::conclude(&results, &remarks, session))
}

/// What output is named after: the data without folders and endings.
fn stem_of(data: &str) -> String {
    let stem = Path::new(data).file_name().map_or(data.into(), |n| n.to_string_lossy().into_owned());
    stem.split(['.', '?']).next().unwrap_or("data").replace(':', "-")
}

fn named_file(text: &str) -> Result<(String, PathBuf), String> {
    match text.split_once('=') {
        Some((name, file)) if !name.trim().is_empty() && !file.is_empty() => {
            Ok((name.trim().to_string(), PathBuf::from(file)))
        }
        _ => Err("give NAME=FILE, such as forest=predictions.csv".into()),
    }
}

fn duration(text: &str) -> Result<Duration, String> {
    let (number, unit) = text.split_at(text.find(|c: char| c.is_ascii_alphabetic()).unwrap_or(text.len()));
    let factor = match unit {
        "" | "s" => 1.0,
        "m" | "min" => 60.0,
        "h" => 3600.0,
        _ => return Err("give a time such as 90s, 10m or 2h".into()),
    };
    let seconds = number.trim().parse::<f64>().ok().filter(|n| *n > 0.0 && *n < 1e7);
    seconds
        .map(|n| Duration::from_secs_f64(n * factor))
        .ok_or_else(|| "give a time such as 90s, 10m or 2h".into())
}

/// What a comparison says, and what to do next.
struct Comparison<'a> {
    results: &'a Evaluation,
    /// What the user called the data.
    data: &'a str,
    report: Option<PathBuf>,
    /// Looks at the data, read as here.
    inspect_command: String,
    fit_command: String,
    /// What it fits.
    fit_method: String,
    warnings: Vec<String>,
}

impl Comparison<'_> {
    fn new<'a>(results: &'a Evaluation, args: &Args, data: &'a str) -> Result<Comparison<'a>> {
        let Evaluation { verdict, plan, candidates, .. } = results;
        // What was trained elsewhere cannot be fitted here.
        let own = |name: &str| candidates.iter().any(|c| c.name == name);
        let taken = match own(verdict.recommended()) {
            true => verdict.recommended(),
            // The best that has learned something, if any has.
            false => {
                let names = || verdict.table.iter().map(|line| line.method.as_str()).filter(|name| own(name));
                names().find(|name| *name != BASELINE).or(names().next()).unwrap_or(BASELINE)
            }
        };
        // The fold column is no feature, and seed and inner folds are those of this run.
        let fold = args
            .judging
            .fold_column
            .as_ref()
            .map_or(String::new(), |c| format!(" --ignore {}", quoted(&c.to_string())));
        let inner = args.judging.inner.map_or(String::new(), |folds| format!(" --inner {folds}"));
        // Fixed parameters are judged as they are, and would be tuned if they were not said.
        let fixed = candidates
            .iter()
            .find(|c| c.name == taken && !plan.protocol.name.tunes())
            .map_or(&[][..], |c| &c.setups);
        let seed = if plan.seed == 0 { String::new() } else { format!(" --seed {}", plan.seed) };
        let read = format!("{}{}{fold}", quoted(data), args.read.words());
        let inspect_command = format!("bagwise inspect {read}{seed}");
        let fit_command = format!(
            "bagwise fit {read} --method {taken}{}{}{inner}{seed} -o {}",
            args.learning.words(taken, &args.methods, fixed),
            args.choosing.words(taken),
            // With the data in its name, the next data set does not replace the model.
            quoted(&format!("{}-{taken}.bagwise", stem_of(data))),
        );
        Ok(Comparison {
            results,
            data,
            report: None,
            inspect_command,
            fit_command,
            fit_method: taken.into(),
            warnings: Vec::new(),
        })
    }

    fn folder(&self) -> &Path {
        self.results.folder.as_deref().unwrap_or(Path::new("."))
    }

    fn rows(&self, digits: Digits) -> Rows {
        let verdict = &self.results.verdict;
        // The metric that decides with its interval, and those that are shown always.
        let mut head = vec!["method"];
        for (i, m) in shown(verdict.best()) {
            head.push(m.metric.name());
            if i == 0 {
                head.extend(["low", "high"]);
            }
        }
        head.extend(["against best", "seconds"]);
        let mut rows = Rows::new(head);
        for (line, standing) in verdict.table.iter().zip(&verdict.standing) {
            let mut row = vec![line.method.clone()];
            for (i, m) in shown(line) {
                row.push(digits.show(m.mean));
                if i == 0 {
                    row.extend(
                        [m.interval.map(|i| i.low), m.interval.map(|i| i.high)].map(|v| digits.show(v)),
                    );
                }
            }
            row.extend([standing.as_str().to_string(), Digits::Few(1).show(line.seconds)]);
            rows.push(row);
        }
        rows
    }

    /// Every method against the best and against a constant prediction.
    fn differences(&self) -> Rows {
        let verdict = &self.results.verdict;
        let numbers = ["difference", "low", "high", "p"];
        let best = format!("against {}", verdict.best().method);
        // Of a constant that is the best, or no baseline for the metric, there is nothing more to say.
        let twice = verdict.best().method != BASELINE && verdict.against_constant.iter().any(Option::is_some);
        let mut head = vec!["method", best.as_str()];
        head.extend(numbers);
        if twice {
            head.push("against constant");
            head.extend(numbers);
        }
        let mut rows = Rows::new(head);
        for (i, line) in verdict.table.iter().enumerate() {
            let mut row = vec![line.method.clone()];
            row.extend(difference_cells(verdict.against_best[i].as_ref()));
            if twice {
                row.extend(difference_cells(verdict.against_constant[i].as_ref()));
            }
            rows.push(row);
        }
        rows
    }

    /// The command that goes on from here. None if all that there is to do is to remove the cause of failed fits.
    fn next_command(&self) -> Option<&str> {
        match self.fit_method == BASELINE {
            true if self.results.verdict.only_constants() => None,
            // A model that has learned nothing is of no use.
            true => Some(&self.inspect_command),
            false => Some(&self.fit_command),
        }
    }
}

/// What a difference means, itself, the ends of its interval, and p.
fn difference_cells(found: Option<&Difference>) -> [String; 5] {
    let Some(found) = found else { return Default::default() };
    let show = |v: Option<f64>| v.map_or(String::new(), |v| format!("{v:+.3}"));
    [
        found.standing.as_str().into(),
        show(found.value),
        show(found.interval.map(|i| i.low)),
        show(found.interval.map(|i| i.high)),
        found.p.map_or(String::new(), |p| format!("{p:.4}")),
    ]
}

/// The same as JSON.
fn difference_json(found: &Difference) -> Object {
    let mut object = Object::default();
    object.put("difference", found.value).put("low", found.interval.map(|i| i.low));
    object.put("high", found.interval.map(|i| i.high)).put("p", found.p).put("verdict", found.standing);
    object
}

impl Output for Comparison<'_> {
    fn json(&self) -> Result<String> {
        let ties = self.results.verdict.ties();
        let verdict = &self.results.verdict;
        let method = |(i, m): (usize, &MethodSummary)| {
            let mut object = Object::default();
            object.put("method", &m.method).put("fits", m.fits).put("failed", m.failed);
            object.put("limited", m.limited).put("seconds", m.seconds);
            object.put("ties_with_best", ties.contains(&m.method.as_str()));
            let against = [
                ("against_best", verdict.against_best[i]),
                ("against_constant", verdict.against_constant[i]),
                ("against_recommended", verdict.against_recommended[i]),
            ];
            for (name, found) in against {
                match &found {
                    Some(found) => object.put_object(name, difference_json(found)),
                    None => object.put(name, ()),
                };
            }
            for metric in &m.metrics {
                object.put_object(metric.metric.name(), metric_json(metric));
            }
            object
        };
        let mut object = Object::default();
        object.put("data", self.data).put("protocol", self.results.plan.protocol.name);
        object.put("optimistic", self.results.verdict.optimistic).put("seed", self.results.plan.seed);
        object.put("repeats", self.results.repeats()).put("optimized", self.results.plan.metric);
        object
            .put("verdict", self.results.verdict.sentence())
            .put("best", &self.results.verdict.best().method)
            .put("recommended", verdict.recommended())
            .put("units", verdict.units)
            .put("grouped", verdict.grouped);
        object.put_list("methods", verdict.table.iter().enumerate().map(method).collect());
        let incomplete = |(method, fits): &(String, usize)| {
            let mut object = Object::default();
            object.put("method", method).put("fits", *fits).put("of", self.results.fits_of_a_method());
            object
        };
        object.put("skipped", self.results.skipped());
        object.put_list("incomplete", self.results.incomplete.iter().map(incomplete).collect());
        object.put("folder", self.folder()).put("report", &self.report);
        object.put("warnings", &self.warnings).put("next", self.next_command());
        Ok(serde_json::to_string_pretty(&object)?)
    }

    fn csv(&self) -> Rows {
        self.rows(Digits::All)
    }

    fn text(&self, paint: Style) -> String {
        let folder = self.folder().display();
        let report = self.report.as_ref().map_or(String::new(), |r| format!("report: {}\n", r.display()));
        let mut without = String::new();
        for line in &self.results.verdict.table {
            let first = line.metrics[0].missing(&line.method);
            let empty = shown(line).skip(1).filter(|(_, m)| m.mean.is_none());
            let empty = empty.filter_map(|(_, m)| m.missing(&format!("{} of {}", m.metric, line.method)));
            first.into_iter().chain(empty).for_each(|note| without += &format!("{note}\n"));
        }
        let positive = match &self.results.roster.truth {
            Truth::Classes { names, .. } => {
                positive_remark(names, self.results.plan.positive.as_deref(), true)
            }
            Truth::Values(_) => None,
        };
        let positive = positive.map_or(String::new(), |remark| format!("{remark}\n"));
        // Of a run that goes on, most of the time may have been spent before.
        let took = if self.results.resumed { "; all sessions took" } else { " in" };
        let next = match self.next_command() {
            None => "remove the cause of the failed fits, then run the command with a new folder (-o FOLDER): a failed fit is not repeated in this one".into(),
            Some(command) if self.fit_method == BASELINE => format!(
                "next: by {}, no method is better than a constant; check labels and features: {command}",
                self.results.plan.metric.name(),
            ),
            Some(command) => format!("next: {command}"),
        };
        format!(
            "{}{without}\n{}\n{}\n{positive}wrote records, folds, predictions, differences and summary to {folder}{took} {:.1} s\n{report}{next}\n",
            self.rows(Digits::Few(3)),
            self.differences(),
            paint.paint(&self.results.verdict.sentence(), BOLD),
            self.results.elapsed.as_secs_f64(),
        )
    }
}
