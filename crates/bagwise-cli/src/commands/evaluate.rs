//! `bagwise evaluate`: estimates how well one method predicts bags that it was not trained on.

use std::path::PathBuf;

use anyhow::{Result, bail};
use bagwise::io::save_whole;
use bagwise::judge::{MethodSummary, Metric, MetricSummary, ProtocolName, Resampling, bootstrap_method};
use bagwise::run::files::SUMMARY;
use bagwise::{Evaluation, count};

use crate::args::Data;
use crate::judging::{self, Judging, Sharding, metric_json, shown};
use crate::learning::{Choosing, Learning};
use crate::output::{BOLD, Digits, Object, Output, Rows, Style};
use crate::session::{Outcome, Session};
use crate::wording;

/// Estimate how well a method predicts new bags
#[derive(clap::Args)]
#[command(after_help = HELP)]
pub(crate) struct Args {
    /// A file, a built-in data set or a generator
    #[arg(value_name = "DATA")]
    data: String,
    /// The method; auto evaluates the whole procedure of choosing a method and its scaling
    #[arg(long, value_name = "METHOD", required_unless_present = "model")]
    method: Option<String>,
    /// Score a saved model on the labelled bags of DATA, which it was not trained on, instead of a method by cross-validation
    #[arg(
        long,
        value_name = "FILE",
        conflicts_with_all = ["method", "test", "protocol", "folds", "repeats", "fold_column", "fold_file", "params",
            "scale", "multiclass", "balanced", "positive", "best", "threshold", "probabilities"]
    )]
    model: Option<PathBuf>,
    /// Separate test bags; all of DATA is then used for training
    #[arg(long, value_name = "DATA", conflicts_with_all = ["protocol", "folds", "repeats", "fold_column", "fold_file"])]
    test: Option<String>,
    /// Output folder for records, folds and predictions; if it contains part of the same run, the run resumes
    #[arg(short, long, value_name = "FOLDER")]
    output: Option<PathBuf>,
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

const HELP: &str = "\
Parameters, scaling, thresholds and calibration are learned only from the training bags of each fold. Groups \
are never split. The confidence interval is Nadeau and Bengio's, over folds; that of a single test set is as for --model.

With --model, nothing is trained: a saved model predicts all bags of DATA, and the predictions are compared with the labels. \
The intervals reflect the sampling of test bags; the model is fixed. Accuracy has a Wilson interval if there are no groups; \
all other intervals come from a bootstrap over bags or groups and, where no bag of a class is wrong, from the Wilson interval of that class. The calibration table compares predicted probabilities with \
observed frequencies. Columns are those that the model was trained with. With -o, the folder gets a report.

Examples:
  bagwise evaluate musk1 --method mi-kernel
  bagwise evaluate musk1 --method migraph -p gamma=2^-5..2^5 -p c=100 --scale minmax --format json
  bagwise evaluate molecules.csv --bag mol --label active --group scaffold --method auto -o auto
  bagwise evaluate --model m.bagwise molecules.csv -o new-bags
  bagwise evaluate musk1 --method mi-kernel --protocol kfold -p gamma=0.5 -p norm=mean --repeats 5
  bagwise evaluate musk1 --method mi-kernel --repeats 5 --shard 3/7 -o mi-kernel";

/// Why a shard without a folder is refused.
const NEEDS_FOLDER: &str =
    "a shard needs a folder for its records, the same for all shards; name it with -o FOLDER";

/// Refuses a command that cannot be cut into shards.
pub(crate) fn check_shards(args: &Args) -> Result<()> {
    if args.output.is_none() {
        bail!(NEEDS_FOLDER);
    }
    Ok(())
}

pub(crate) fn run(args: &Args, session: &Session) -> Result<Outcome> {
    if let Some(model) = &args.model {
        if args.sharding.shard.is_some() {
            bail!("--shard is for fits, and --model makes none; leave one of them out");
        }
        let asked = super::validate::ValidateOptions {
            model,
            data: &args.data,
            metric: args.choosing.optimize,
            level: args.judging.level,
            folder: args.output.as_deref(),
        };
        return super::validate::run(&asked, &args.read, session);
    }
    let method = args.method.as_deref().unwrap_or_default();
    let options = args.judging.read_options(&args.read);
    let mut data = session.read(&args.data, &options)?;
    let given = args.judging.given(&mut data, &args.read)?;
    let ctx = args.learning.seeing.ctx(&session.ctx);
    let config = args.learning.config(method, &args.read);
    let mut evaluate = args.judging.apply(bagwise::evaluate(&data, config), &args.choosing, given).ctx(&ctx);
    evaluate = evaluate.params(&args.learning.seeing.params);
    let mut tested = None;
    if let Some(test) = &args.test {
        let test = session.read(test, &options)?;
        session.say(&format!("{} bags to train on, {} to test", data.bags.len(), test.bags.len()));
        evaluate = evaluate.test(&test)?;
        for warning in &evaluate.data().warnings[data.warnings.len()..] {
            session.note(&warning.worded(&wording::option));
        }
        tested = Some(test.name);
    }
    if let Some(folder) = &args.output {
        evaluate = evaluate.folder(folder);
    }
    if let Some(shard) = args.sharding.shard {
        let Some(folder) = &args.output else {
            bail!(NEEDS_FOLDER);
        };
        return judging::run_shard(evaluate, shard, args.judging.level, folder, session);
    }
    let results = judging::run(evaluate, args.judging.level, session)?;
    let mut remarks = judging::remarks(&results);
    if results.plan.protocol.optimistic() {
        let saw = "best-on-cv chooses parameters on the folds that it reports, so the estimate is optimistic";
        remarks.insert(0, saw.into());
    }
    let warnings = [session.take_notes(), remarks.clone()].concat();
    let estimate = Estimate { results: &results, data: &data.name, tested: tested.as_deref(), warnings };
    if let Some(folder) = &results.folder {
        save_whole(&folder.join(SUMMARY), estimate.json()?.as_bytes())?;
    }
    session.print(&estimate)?;
    Ok(judging::conclude(&results, &remarks, session))
}

struct Estimate<'a> {
    results: &'a Evaluation,
    data: &'a str,
    tested: Option<&'a str>,
    warnings: Vec<String>,
}

impl Estimate<'_> {
    /// The only line of the table: all metrics, the one that decides first.
    fn line(&self) -> &MethodSummary {
        self.results.verdict.best()
    }

    fn rows<'m>(&self, digits: Digits, metrics: impl Iterator<Item = &'m MetricSummary>) -> Rows {
        let mut rows = Rows::new(["metric", "mean", "sd", "low", "high"]);
        for m in metrics {
            let (low, high) = m.interval.map_or((None, None), |i| (Some(i.low), Some(i.high)));
            let mut row = vec![m.metric.name().to_string()];
            row.extend([m.mean, m.sd, low, high].map(|v| digits.show(v)));
            rows.push(row);
        }
        rows
    }

    /// The bootstrap interval of the metric that was optimised; none if all resamples have the same value, which says nothing of
    /// others.
    fn bootstrap(&self) -> Option<(f64, f64)> {
        const DRAWS: usize = 2000;
        let Evaluation { records, roster, .. } = self.results;
        let found = bootstrap_method(
            records,
            roster,
            &self.line().method,
            self.results.plan.metric,
            DRAWS,
            self.results.verdict.level,
            Resampling::Percentile,
            self.results.plan.seed,
        );
        let ends = found.ok().flatten().map(|b| (b.interval.low, b.interval.high));
        ends.filter(|(low, high)| low < high)
    }
}

impl Output for Estimate<'_> {
    fn json(&self) -> Result<String> {
        let mut object = Object::default();
        object.put("method", &self.line().method).put("data", self.data);
        if let Some(test) = self.tested {
            object.put("test", test);
        }
        let optimistic = self.results.plan.protocol.optimistic() || self.results.saw_test_bags().is_some();
        object.put("protocol", self.results.plan.protocol.name).put("optimistic", optimistic);
        object.put("seed", self.results.plan.seed).put("repeats", self.results.repeats());
        object.put("optimized", self.results.plan.metric).put("seconds", self.results.elapsed.as_secs_f64());
        let failed = self.results.records.iter().filter(|r| !r.succeeded()).count();
        object.put("fits", self.results.records.len()).put("failed", failed);
        // What each outer fold chose, where the choice was among methods.
        let chosen: Vec<_> = self.results.records.iter().map(|r| &r.parameters).collect();
        object.put("chosen", Some(chosen).filter(|all| all.iter().all(|p| p.contains_key("method"))));
        for m in &self.line().metrics {
            object.put_object(m.metric.name(), metric_json(m));
        }
        object.put("warnings", &self.warnings);
        Ok(serde_json::to_string_pretty(&object)?)
    }

    fn csv(&self) -> Rows {
        self.rows(Digits::All, self.line().metrics.iter())
    }

    fn text(&self, paint: Style) -> String {
        let mut page = format!(
            "{} on {}{}, {}, {} in {:.1} s\n\n",
            paint.paint(&self.line().method, BOLD),
            self.data,
            self.tested.map_or(String::new(), |test| format!(", tested on {test}")),
            self.results.plan.protocol,
            count(self.results.records.len(), "fit"),
            self.results.elapsed.as_secs_f64()
        );
        // A rule for the threshold is about these, and what it costs shows in the other one.
        let ruled = |m: &MetricSummary| {
            self.results.plan.threshold.is_some() && matches!(m.metric, Metric::Recall | Metric::Precision)
        };
        let usual: Vec<Metric> = shown(self.line()).map(|(_, m)| m.metric).collect();
        let metrics = self.line().metrics.iter().filter(|m| usual.contains(&m.metric) || ruled(m));
        page += &self.rows(Digits::Few(4), metrics).to_string();
        let mut notes = Vec::new();
        let thresholds = || self.results.records.iter().filter_map(|r| r.threshold);
        if let (Some(rule), Some(low)) = (self.results.plan.threshold, thresholds().min_by(f64::total_cmp)) {
            let high = thresholds().fold(low, f64::max);
            notes.push(format!(
                "threshold by {rule}, chosen on the training bags of each fold: {low:.4} to {high:.4}"
            ));
        }
        let single = self.results.plan.protocol.name == ProtocolName::TrainTest;
        let unit = if self.results.roster.groups.is_some() { "groups" } else { "bags" };
        if self.line().metrics.iter().any(|m| m.interval.is_some()) {
            let level = 100.0 * self.results.verdict.level;
            notes.push(match single {
                true => {
                    format!("low and high: {level:.0}% interval over test {unit}; training is not varied")
                }
                false => format!("low and high: {level:.0}% interval over folds (Nadeau and Bengio)"),
            });
        }
        // The interval of a single test set is about its bags already.
        if !single && let Some((low, high)) = self.bootstrap() {
            let metric = self.results.plan.metric.name();
            notes.push(format!("bootstrap interval of {metric} over {unit}: {low:.4} to {high:.4}"));
        }
        notes.extend(shown(self.line()).filter_map(|(_, m)| m.missing(m.metric.name())));
        page += "\n";
        notes.push("use --format json or csv for all metrics".into());
        notes.into_iter().for_each(|note| page += &format!("{note}\n"));
        page
    }
}
