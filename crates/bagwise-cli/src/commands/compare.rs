//! `bagwise compare`: the main job. Every method on the same folds, which is best, and whether that is more than
//! luck. `bagwise demo` is the same on the built-in Musk1.

use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context as _, Result, bail};
use bagwise::io::save_whole;
use bagwise::judge::{MethodSummary, ProtocolName};
use bagwise::methods::{self, METHODS};
use bagwise::run::{BASELINE, Contender, Plan, Verdict};
use bagwise::{Dataset, human_bytes};
use bagwise_report::Options;

use crate::args::Data;
use crate::judging::{Judging, Results, carry_out, metric_json};
use crate::learning::{AUTO, Choosing, Learning, can_learn};
use crate::output::{BOLD, Digits, Object, Output, Paint, Rows, quoted};
use crate::reporting;
use crate::session::{Outcome, Session};

/// Compare methods on the same folds: the main job
#[derive(clap::Args)]
#[command(after_help = HELP)]
pub(crate) struct Args {
    /// Files, built-in names or generators
    #[arg(value_name = "DATA", required = true)]
    data: Vec<String>,
    /// Methods to compare, or all; the baselines majority and simple-mi are always there
    #[arg(long, value_name = "A,B,…", value_delimiter = ',', default_value = "all")]
    methods: Vec<String>,
    /// Skip methods that would take the run beyond this time, such as 90s, 10m or 2h
    #[arg(long, value_name = "TIME", value_parser = duration)]
    budget: Option<Duration>,
    /// Folder for records, folds, predictions and the summary; one that holds part of the same run is completed
    /// [default: a new one named after the data]
    #[arg(short, long, value_name = "FOLDER")]
    output: Option<PathBuf>,
    /// Write no report.html; bagwise report draws it from the folder
    #[arg(long)]
    no_report: bool,
    /// In the report show bags by number instead of by name, and neither groups nor kept columns
    #[arg(long, conflicts_with = "no_report")]
    hide_ids: bool,
    #[command(flatten)]
    judging: Judging,
    #[command(flatten)]
    learning: Learning,
    #[command(flatten)]
    choosing: Choosing,
    #[command(flatten)]
    read: Data,
}

/// What stands in every comparison.
const BASELINES: [&str; 2] = [BASELINE, "simple-mi"];

const HELP: &str = "\
Parameters are chosen by inner folds on training bags, so the estimates are honest; all methods see the same \
folds. A method whose difference from the best could be luck (paired corrected t-test) is marked. Parameters \
of one method are given as -p METHOD.KEY=VALUE.

Examples:
  bagwise compare musk1
  bagwise compare molecules.csv --bag mol --label active --group scaffold --positive 1 --folds 5
  bagwise compare musk1 --methods mi-kernel,migraph -p mi-kernel.norm=mean --budget 5m -o musk1-two";

/// Compare all methods on the built-in Musk1: what bagwise alone does
#[derive(clap::Args, Default)]
#[command(after_help = DEMO_HELP)]
pub(crate) struct DemoArgs {
    /// Folder for records, folds, predictions and the summary [default: musk1-compare]
    #[arg(short, long, value_name = "FOLDER")]
    output: Option<PathBuf>,
}

const DEMO_HELP: &str = "\
Examples:
  bagwise demo
  bagwise demo -o first-look";

pub(crate) fn demo(args: &DemoArgs, session: &Session) -> Result<Outcome> {
    session.say(
        "bagwise compares all its methods on the built-in Musk1: 92 molecules (bags) in 476 shapes (instances), of\n\
         which 47 smell of musk. Nested 10-fold cross-validation; this takes about half a minute. `bagwise --help` has more.\n",
    );
    let line = ["bagwise", "compare", "musk1"].map(String::from);
    let parsed = <Parsed as clap::Parser>::try_parse_from(&line[1..]).context("the demo's own command")?;
    run(&Args { output: args.output.clone(), ..parsed.args }, session)
}

#[derive(clap::Parser)]
struct Parsed {
    #[command(flatten)]
    args: Args,
}

pub(crate) fn run(args: &Args, session: &Session) -> Result<Outcome> {
    let mut outcome = Outcome::Done;
    if args.data.len() > 1 && args.output.is_some() {
        bail!(
            "-o names one folder, and there are {} data sets; leave it out and each gets its own",
            args.data.len()
        );
    }
    for name in &args.data {
        if one(args, name, session)? == Outcome::FailedFits {
            outcome = Outcome::FailedFits;
        }
    }
    Ok(outcome)
}

fn one(args: &Args, name: &str, session: &Session) -> Result<Outcome> {
    args.choosing.check_best(args.methods.iter().any(|m| m == AUTO))?;
    let mut data = session.read(name, &args.judging.read_options(&args.read))?;
    let given = args.judging.given(&mut data, &args.read)?;
    let plan = args.judging.plan(&data, &args.learning, &args.choosing, session.ctx.seed)?;
    let mut contenders = contenders(args, &data)?;
    let skipped = within_budget(&mut contenders, &data, &plan, args.budget, session)?;
    let folder = args.output.clone().unwrap_or_else(|| new_folder(name));
    let ctx = args.learning.seeing.ctx(&session.ctx);
    let level = args.judging.level;
    let results =
        carry_out(&data, &contenders, &plan, level, given.as_deref(), Some(&folder), session, &ctx)?;
    let mut comparison = Comparison::new(&results, &contenders, &plan, args, name, &folder, skipped)?;
    reporting::add(&folder, |known| {
        known.fit_command = comparison.fit_command.clone();
        known.skipped = comparison.skipped.clone();
        known.seconds = Some(comparison.seconds);
        known.data.iter_mut().for_each(|d| d.source = name.into());
    })?;
    if !args.no_report {
        let options = Options { hide_ids: args.hide_ids, title: None };
        comparison.report = Some(reporting::draw(&folder, &options)?);
    }
    save_whole(&folder.join("summary.json"), comparison.json()?.as_bytes())?;
    session.print(&comparison)?;
    for edge in results.edges() {
        session.warn(&edge);
    }
    if let Some(saw) = results.saw_test_bags() {
        session.warn(&saw);
    }
    match results.failures() {
        Some(failures) => {
            session.warn(&failures);
            Ok(Outcome::FailedFits)
        }
        None => Ok(Outcome::Done),
    }
}

/// What was asked for, and the baselines.
fn contenders(args: &Args, data: &Dataset) -> Result<Vec<Contender>> {
    let mut names: Vec<&str> = Vec::new();
    for name in &args.methods {
        match name.as_str() {
            "all" => names.extend(METHODS.iter().filter(|m| can_learn(**m, data)).map(|m| m.info().name)),
            AUTO => names.push(AUTO),
            other => names.push(methods::find(other)?.info().name),
        }
    }
    names.extend(BASELINES);
    let mut unique: Vec<&str> = Vec::new();
    names.into_iter().for_each(|n| {
        if !unique.contains(&n) {
            unique.push(n)
        }
    });
    for (key, _) in &args.learning.seeing.params {
        if let Some((of, _)) = key.split_once('.')
            && !unique.contains(&methods::find(of)?.info().name)
            && !unique.contains(&AUTO)
        {
            bail!("-p {key}: {of} is not among the methods compared");
        }
        if !key.contains('.') {
            bail!("-p {key}=… needs a method among several; write -p METHOD.{key}=…");
        }
    }
    unique
        .into_iter()
        .map(|name| {
            let setups = args.learning.setups(name, data, args.read.fills_gaps(), args.judging.fill())?;
            Ok(Contender { name: name.into(), setups })
        })
        .collect()
}

/// Estimates the time of every method, says it, and leaves out what goes beyond the budget.
fn within_budget(
    contenders: &mut Vec<Contender>,
    data: &Dataset,
    plan: &Plan,
    budget: Option<Duration>,
    session: &Session,
) -> Result<Vec<String>> {
    let threads = rayon::current_num_threads() as f64;
    let estimates: Vec<f64> =
        contenders.iter().map(|c| bagwise::run::estimate_seconds(c, data, plan) / threads).collect();
    let total: f64 = estimates.iter().sum();
    session.say(&format!(
        "{}: {} bags, {} instances x {} ({}); {} methods, {}; roughly {}",
        data.name,
        data.bags.len(),
        data.bags.instance_count(),
        data.bags.width(),
        human_bytes(data.bags.instances().bytes()),
        contenders.len(),
        plan.protocol,
        human_seconds(total)
    ));
    let Some(budget) = budget else { return Ok(Vec::new()) };
    let mut left = budget.as_secs_f64();
    let mut skipped = Vec::new();
    let mut order: Vec<usize> = (0..contenders.len()).collect();
    order.sort_by(|&a, &b| estimates[a].total_cmp(&estimates[b]));
    let mut keep = vec![true; contenders.len()];
    for i in order {
        // Without its baselines a comparison says nothing.
        if estimates[i] <= left || BASELINES.contains(&contenders[i].name.as_str()) {
            left -= estimates[i];
        } else {
            keep[i] = false;
            skipped.push(contenders[i].name.clone());
            session.warn(&format!(
                "{} is skipped: roughly {} does not fit the budget",
                contenders[i].name,
                human_seconds(estimates[i])
            ));
        }
    }
    let mut kept = keep.into_iter();
    contenders.retain(|_| kept.next().unwrap_or(true));
    Ok(skipped)
}

fn human_seconds(seconds: f64) -> String {
    match seconds {
        s if s < 1.0 => "a second".into(),
        s if s < 120.0 => format!("{s:.0} s"),
        s if s < 7200.0 => format!("{:.0} min", s / 60.0),
        s => format!("{:.1} h", s / 3600.0),
    }
}

/// `NAME-compare`, or the first of `NAME-compare-2`, … that does not exist.
fn new_folder(data: &str) -> PathBuf {
    let stem = Path::new(data).file_name().map_or(data.into(), |n| n.to_string_lossy().into_owned());
    let stem = stem.split(['.', '?']).next().unwrap_or("data").replace(':', "-");
    let plain = PathBuf::from(format!("{stem}-compare"));
    if !plain.exists() {
        return plain;
    }
    (2..).map(|n| PathBuf::from(format!("{stem}-compare-{n}"))).find(|p| !p.exists()).unwrap_or(plain)
}

fn duration(text: &str) -> Result<Duration, String> {
    let (number, unit) = text.split_at(text.find(|c: char| c.is_ascii_alphabetic()).unwrap_or(text.len()));
    let factor = match unit {
        "" | "s" => 1.0,
        "m" | "min" => 60.0,
        "h" => 3600.0,
        _ => return Err("a time such as 90s, 10m or 2h".into()),
    };
    let seconds = number.trim().parse::<f64>().ok().filter(|n| *n > 0.0 && *n < 1e7);
    seconds.map(|n| Duration::from_secs_f64(n * factor)).ok_or_else(|| "a time such as 90s, 10m or 2h".into())
}

/// What a comparison says, and where it is.
struct Comparison {
    verdict: Verdict,
    plan: Plan,
    repeats: usize,
    skipped: Vec<String>,
    folder: PathBuf,
    report: Option<PathBuf>,
    seconds: f64,
    fit_command: String,
}

impl Comparison {
    fn new(
        results: &Results,
        contenders: &[Contender],
        plan: &Plan,
        args: &Args,
        data: &str,
        folder: &Path,
        skipped: Vec<String>,
    ) -> Result<Comparison> {
        let Results { records, roster, repeats, elapsed, .. } = results;
        let chosen_on_folds = plan.protocol.optimistic();
        let mut verdict = Verdict::new(records, roster, plan.metric, args.judging.level, chosen_on_folds)?;
        verdict.data = data.into();
        let best = &verdict.best().method;
        // The fold column is no feature, and seed and inner folds are those of this run.
        let fold = args
            .judging
            .fold_column
            .as_ref()
            .map_or(String::new(), |c| format!(" --ignore {}", quoted(&c.to_string())));
        let inner =
            if args.judging.inner == 5 { String::new() } else { format!(" --inner {}", args.judging.inner) };
        // Fixed parameters are judged as they are, and would be tuned if they were not said.
        let fixed = contenders
            .iter()
            .find(|c| c.name == *best && plan.protocol.name == ProtocolName::Kfold)
            .map_or(&[][..], |c| &c.setups);
        let seed = if plan.seed == 0 { String::new() } else { format!(" --seed {}", plan.seed) };
        let fit_command = format!(
            "bagwise fit {}{}{fold} --method {best}{}{}{inner}{seed} -o {best}.bagwise",
            quoted(data),
            args.read.words(),
            args.learning.words(best, fixed),
            args.choosing.words(),
        );
        Ok(Comparison {
            verdict,
            plan: plan.clone(),
            repeats: *repeats,
            skipped,
            folder: folder.into(),
            report: None,
            seconds: elapsed.as_secs_f64(),
            fit_command,
        })
    }

    fn rows(&self, digits: Digits) -> Rows {
        // The metric that decides with its interval, and the next three.
        let mut head = vec!["method"];
        for (i, m) in self.verdict.best().metrics.iter().take(4).enumerate() {
            head.push(m.metric.name());
            if i == 0 {
                head.extend(["low", "high"]);
            }
        }
        head.extend(["against best", "seconds"]);
        let mut rows = Rows::new(head);
        for (line, standing) in self.verdict.table.iter().zip(&self.verdict.standing) {
            let mut row = vec![line.method.clone()];
            for (i, m) in line.metrics.iter().take(4).enumerate() {
                row.push(digits.show(m.mean));
                if i == 0 {
                    row.extend(
                        [m.interval.map(|i| i.low), m.interval.map(|i| i.high)].map(|v| digits.show(v)),
                    );
                }
            }
            row.extend([standing.as_str().to_string(), format!("{:.1}", line.seconds)]);
            rows.push(row);
        }
        rows
    }
}

impl Output for Comparison {
    fn json(&self) -> Result<String> {
        let ties = self.verdict.ties();
        let method = |m: &MethodSummary| {
            let mut object = Object::default();
            object.put("method", &m.method).put("fits", m.fits).put("failed", m.failed);
            object.put("limited", m.limited).put("seconds", m.seconds);
            object.put("ties_with_best", ties.contains(&m.method.as_str()));
            for metric in &m.metrics {
                object.put_object(metric.metric.name(), metric_json(metric));
            }
            object
        };
        let mut object = Object::default();
        object.put("data", &self.verdict.data).put("protocol", self.plan.protocol.name);
        object.put("optimistic", self.verdict.optimistic).put("seed", self.plan.seed);
        object.put("repeats", self.repeats).put("optimized", self.plan.metric);
        object.put("verdict", self.verdict.sentence()).put("best", &self.verdict.best().method);
        object.put_list("methods", self.verdict.table.iter().map(method).collect());
        object.put("skipped", &self.skipped).put("folder", &self.folder).put("report", &self.report);
        object.put("next", &self.fit_command);
        Ok(serde_json::to_string_pretty(&object)?)
    }

    fn csv(&self) -> Rows {
        self.rows(Digits::All)
    }

    fn text(&self, paint: Paint) -> String {
        let folder = self.folder.display();
        let report = self.report.as_ref().map_or(String::new(), |r| format!("report: {}\n", r.display()));
        format!(
            "{}\n{}\nrecords, folds, predictions and summary: {folder}, {:.1} s\n{report}next: {}\n",
            self.rows(Digits::Few(3)),
            paint.paint(&self.verdict.sentence(), BOLD),
            self.seconds,
            self.fit_command
        )
    }
}
