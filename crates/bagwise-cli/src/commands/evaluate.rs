//! `bagwise evaluate`: how good one method is on bags it has not seen.

use std::path::PathBuf;

use anyhow::Result;
use bagwise::evaluate::{Contender, MetricSummary, Plan, Resampling, bootstrap_method};
use serde_json::{Map, Value, json};

use crate::args::Data;
use crate::judging::{Judging, Results, carry_out};
use crate::learning::{Choosing, Learning};
use crate::output::{BOLD, Output, Paint, Rows};
use crate::session::{Outcome, Session};

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
    #[arg(long, value_name = "DATA")]
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
  bagwise evaluate musk1 --method migraph -p gamma=2^-5..2^5 -p c=100 --scale minmax --seed 3 --format json
  bagwise evaluate molecules.csv --bag mol --label active --group scaffold --method auto --folds 5 -o estimate
  bagwise evaluate musk1 --method mi-kernel --protocol kfold -p gamma=0.5 -p norm=mean --repeats 5";

pub(crate) fn run(args: &Args, session: &Session) -> Result<Outcome> {
    let mut options = args.read.read_options();
    options.keep.extend(args.judging.fold_column.clone());
    let mut data = session.read(&args.data, &options)?;
    let mut given = args.judging.given(&data)?;
    let mut plan = args.judging.plan(&data, &args.choosing, session.ctx.seed);
    if let Some(test) = &args.test {
        let test = session.read(test, &options)?;
        let train = data.bags.len();
        data = data.with_test(&test)?;
        given = Some(
            (0..data.bags.len()).map(|b| if b < train { "train" } else { "test" }.to_string()).collect(),
        );
        plan.protocol = bagwise::evaluate::Protocol::new(
            bagwise::evaluate::ProtocolName::TrainTest,
            1,
            args.judging.inner,
        );
    }
    let setups = args.learning.setups(&args.method, &data, args.read.fills_gaps(), args.judging.fill())?;
    let contenders = [Contender { name: canonical(&args.method), setups }];
    let ctx = args.learning.ctx(&session.ctx);
    let results =
        carry_out(&data, &contenders, &plan, given.as_deref(), args.output.as_deref(), session, &ctx)?;
    session.print(&Estimate {
        results: &results,
        plan: &plan,
        level: args.judging.level,
        method: &contenders[0].name,
        data: &data.name,
    })?;
    for edge in results.edges() {
        session.warn(&edge);
    }
    if plan.protocol.optimistic() {
        session
            .warn("best-on-cv chooses parameters on the folds that it reports: the estimate is optimistic");
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
}

impl Estimate<'_> {
    fn metrics(&self) -> Result<Vec<MetricSummary>> {
        let table = self.results.summaries(self.plan.metric, self.level)?;
        Ok(table.into_iter().next().map(|m| m.metrics).unwrap_or_default())
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
        let mut object = Map::new();
        object.insert("method".into(), json!(self.method));
        object.insert("data".into(), json!(self.data));
        object.insert("protocol".into(), json!(self.plan.protocol.name));
        object.insert("optimistic".into(), json!(self.plan.protocol.optimistic()));
        object.insert("seed".into(), json!(self.plan.seed));
        object.insert("repeats".into(), json!(self.plan.repeats));
        object.insert("optimized".into(), json!(self.plan.metric));
        object.insert("seconds".into(), json!(self.results.elapsed.as_secs_f64()));
        for m in self.metrics()? {
            let interval = m.interval.map(|i| json!({"low": i.low, "high": i.high, "level": i.level}));
            object.insert(
                m.metric.name().into(),
                json!({"mean": m.mean, "sd": m.sd, "values": m.values, "interval": interval}),
            );
        }
        Ok(serde_json::to_string_pretty(&Value::Object(object))?)
    }

    fn csv(&self) -> Rows {
        let mut rows = Rows::new(["metric", "mean", "sd", "low", "high"]);
        let number = |v: Option<f64>| v.map_or(String::new(), |v| format!("{v:.4}"));
        for m in self.metrics().unwrap_or_default() {
            let (low, high) = m.interval.map_or((None, None), |i| (Some(i.low), Some(i.high)));
            rows.push(vec![m.metric.name().into(), number(m.mean), number(m.sd), number(low), number(high)]);
        }
        rows
    }

    fn text(&self, paint: Paint) -> String {
        let mut page = format!(
            "{} on {}, {}, {} fits in {:.1} s\n\n",
            paint.paint(self.method, BOLD),
            self.data,
            self.plan.protocol,
            self.results.records.len(),
            self.results.elapsed.as_secs_f64()
        );
        page += &self.csv().to_string();
        page +=
            &format!("\nlow and high: {:.0} % interval over folds (Nadeau and Bengio)", 100.0 * self.level);
        if let Some((low, high)) = self.bootstrap() {
            let unit = if self.results.roster.groups.is_some() { "groups" } else { "bags" };
            page += &format!("; {} by bootstrap over {unit}: {low:.4} to {high:.4}", self.plan.metric.name());
        }
        page.push('\n');
        page
    }
}
