//! `bagwise evaluate`: how good one method is on bags it has not seen.

use std::path::PathBuf;

use anyhow::Result;
use bagwise::io::save_whole;
use bagwise::judge::{MetricSummary, Protocol, ProtocolName, Resampling, bootstrap_method};
use bagwise::run::{Contender, Plan};

use crate::args::Data;
use crate::judging::{Judging, Results, carry_out, metric_json};
use crate::learning::{AUTO, Choosing, Learning};
use crate::output::{BOLD, Digits, Object, Output, Paint, Rows};
use crate::session::{Outcome, Session};
use crate::wording;

/// Estimate how good a method is on new bags
#[derive(clap::Args)]
#[command(after_help = HELP)]
pub(crate) struct Args {
    /// A file, a built-in name or a generator
    #[arg(value_name = "DATA")]
    data: String,
    /// The method; auto estimates the whole choice among all methods
    #[arg(long, value_name = "METHOD")]
    method: String,
    /// Test bags in a file of their own; DATA is all training
    #[arg(long, value_name = "DATA", conflicts_with_all = ["protocol", "folds", "repeats", "fold_column", "fold_file"])]
    test: Option<String>,
    /// Folder for records, folds and predictions; one that holds part of the same run is completed
    #[arg(short, long, value_name = "FOLDER")]
    output: Option<PathBuf>,
    #[command(flatten)]
    judging: Judging,
    #[command(flatten)]
    learning: Learning,
    #[command(flatten)]
    choosing: Choosing,
    #[command(flatten)]
    read: Data,
}

const HELP: &str = "\
Parameters, scaling, thresholds and calibration are learned from the training bags of each fold only; groups \
are never split. The interval is Nadeau and Bengio's over folds.

Examples:
  bagwise evaluate musk1 --method mi-kernel
  bagwise evaluate musk1 --method migraph -p gamma=2^-5..2^5 -p c=100 --scale minmax --format json
  bagwise evaluate molecules.csv --bag mol --label active --group scaffold --method auto -o auto
  bagwise evaluate musk1 --method mi-kernel --protocol kfold -p gamma=0.5 -p norm=mean --repeats 5";

pub(crate) fn run(args: &Args, session: &Session) -> Result<Outcome> {
    args.choosing.check_best(args.method == AUTO)?;
    let options = args.judging.read_options(&args.read);
    let mut data = session.read(&args.data, &options)?;
    let mut given = args.judging.given(&mut data, &args.read)?;
    let mut plan = args.judging.plan(&data, &args.learning, &args.choosing, session.ctx.seed)?;
    let mut tested = None;
    if let Some(test) = &args.test {
        let test = session.read(test, &options)?;
        let (train, said) = (data.bags.len(), data.warnings.len());
        data = data.with_test(&test)?;
        for warning in &data.warnings[said..] {
            session.warn(&warning.worded(&wording::option));
        }
        let part = |bag: usize| if bag < train { "train" } else { "test" };
        given = Some((0..data.bags.len()).map(|bag| part(bag).to_string()).collect());
        plan.protocol = Protocol::new(ProtocolName::TrainTest, 1, args.judging.inner);
        tested = Some(test.name);
    }
    let setups = args.learning.setups(&args.method, &data, args.read.fills_gaps(), args.judging.fill())?;
    let contenders = [Contender { name: canonical(&args.method), setups }];
    let ctx = args.learning.seeing.ctx(&session.ctx);
    let level = args.judging.level;
    let results =
        carry_out(&data, &contenders, &plan, level, given.as_deref(), args.output.as_deref(), session, &ctx)?;
    let estimate = Estimate {
        results: &results,
        plan: &plan,
        level,
        method: &contenders[0].name,
        data: &data.name,
        tested: tested.as_deref(),
        metrics: results.one(plan.metric, level)?,
    };
    if let Some(folder) = &args.output {
        save_whole(&folder.join("summary.json"), estimate.json()?.as_bytes())?;
    }
    session.print(&estimate)?;
    for edge in results.edges() {
        session.warn(&edge);
    }
    if plan.protocol.optimistic() {
        session
            .warn("best-on-cv chooses parameters on the folds that it reports: the estimate is optimistic");
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

/// The method's own name, also where an alias was typed.
fn canonical(name: &str) -> String {
    bagwise::methods::find(name).map_or(name.to_string(), |m| m.info().name.to_string())
}

struct Estimate<'a> {
    results: &'a Results,
    plan: &'a Plan,
    level: f64,
    method: &'a str,
    data: &'a str,
    tested: Option<&'a str>,
    metrics: Vec<MetricSummary>,
}

impl Estimate<'_> {
    fn rows(&self, digits: Digits, printed: bool) -> Rows {
        let mut rows = Rows::new(["metric", "mean", "sd", "low", "high"]);
        let wanted = |m: &&MetricSummary| printed || m.metric == self.plan.metric || !m.metric.is_printed();
        for m in self.metrics.iter().filter(wanted) {
            let (low, high) = m.interval.map_or((None, None), |i| (Some(i.low), Some(i.high)));
            let mut row = vec![m.metric.name().to_string()];
            row.extend([m.mean, m.sd, low, high].map(|v| digits.show(v)));
            rows.push(row);
        }
        rows
    }

    /// The bootstrap interval of the metric that was optimised.
    fn bootstrap(&self) -> Option<(f64, f64)> {
        const DRAWS: usize = 2000;
        let Results { records, roster, .. } = self.results;
        let found = bootstrap_method(
            records,
            roster,
            self.method,
            self.plan.metric,
            DRAWS,
            self.level,
            Resampling::Percentile,
            self.plan.seed,
        );
        found.ok().flatten().map(|b| (b.interval.low, b.interval.high))
    }
}

impl Output for Estimate<'_> {
    fn json(&self) -> Result<String> {
        let mut object = Object::default();
        object.put("method", self.method).put("data", self.data);
        if let Some(test) = self.tested {
            object.put("test", test);
        }
        let optimistic = self.plan.protocol.optimistic() || self.results.saw_test_bags().is_some();
        object.put("protocol", self.plan.protocol.name).put("optimistic", optimistic);
        object.put("seed", self.plan.seed).put("repeats", self.results.repeats);
        object.put("optimized", self.plan.metric).put("seconds", self.results.elapsed.as_secs_f64());
        let failed = self.results.records.iter().filter(|r| !r.succeeded()).count();
        object.put("fits", self.results.records.len()).put("failed", failed);
        for m in &self.metrics {
            object.put_object(m.metric.name(), metric_json(m));
        }
        Ok(serde_json::to_string_pretty(&object)?)
    }

    fn csv(&self) -> Rows {
        self.rows(Digits::All, true)
    }

    fn text(&self, paint: Paint) -> String {
        let count = self.results.records.len();
        let mut page = format!(
            "{} on {}{}, {}, {count} {} in {:.1} s\n\n",
            paint.paint(self.method, BOLD),
            self.data,
            self.tested.map_or(String::new(), |test| format!(", tested on {test}")),
            self.plan.protocol,
            if count == 1 { "fit" } else { "fits" },
            self.results.elapsed.as_secs_f64()
        );
        page += &self.rows(Digits::Few(4), false).to_string();
        let mut notes = Vec::new();
        if self.metrics.iter().any(|m| m.interval.is_some()) {
            let level = 100.0 * self.level;
            notes.push(format!("low and high: {level:.0} % interval over folds (Nadeau and Bengio)"));
        }
        if let Some((low, high)) = self.bootstrap() {
            let unit = if self.results.roster.groups.is_some() { "groups" } else { "bags" };
            let metric = self.plan.metric.name();
            notes.push(format!("{metric} by bootstrap over {unit}: {low:.4} to {high:.4}"));
        }
        if !notes.is_empty() {
            page += &format!("\n{}\n", notes.join("; "));
        }
        page
    }
}
