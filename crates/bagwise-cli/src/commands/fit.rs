//! `bagwise fit`: learns from all bags and writes a model.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use anyhow::{Result, bail};
use bagwise::io::{OutputKind, read_maps};
use bagwise::judge::Metric;
use bagwise::model::TrainingSummary;
use bagwise::params::Point;
use bagwise::{AUTO, BASELINE, Model};

use crate::args::Data;
use crate::judging::{human_seconds, say_plan, say_positive};
use crate::learning::{Choosing, Learning};
use crate::output::{Digits, Object, Output, Rows, Style, quoted};
use crate::session::{Outcome, Session};

use super::show::{members, members_json};

/// Train a model on labelled bags and save it
#[derive(clap::Args)]
#[command(after_help = HELP)]
pub(crate) struct Args {
    /// A file, a built-in data set or a generator
    #[arg(value_name = "DATA", required_unless_present = "maps", conflicts_with = "maps")]
    data: Option<String>,
    /// The method; auto compares several methods and scalings and uses a weighted mean of up to five, or the simplest within one
    /// standard error of the best if that is better; all chooses from all methods
    #[arg(long, value_name = "METHOD", default_value = AUTO)]
    method: String,
    /// Output file
    #[arg(short, long, value_name = "FILE.bagwise")]
    output: PathBuf,
    /// Number of folds used to choose parameters and calibrate probabilities [default: 5, or the number of groups if smaller]
    #[arg(long, value_name = "N")]
    inner: Option<usize>,
    /// Also store the models of N folds [default: 10], each tuned and trained without its fold, for the prediction sets
    /// and intervals of bagwise predict --coverage; takes N times longer, and the file is N times larger
    #[arg(long, value_name = "N", num_args = 0..=1, require_equals = true, default_missing_value = "10",
        value_parser = clap::value_parser!(u32).range(2..))]
    conformal: Option<u32>,
    /// Train on the feature maps in this folder (.parquet files from bagwise.arrow.mapper, .npz files from bagwise embed) instead
    /// of instances; --labels names the table with the bags and their labels. Maps that exceed --memory stay on disk
    #[arg(long, value_name = "FOLDER", requires_all = ["model", "labels"], conflicts_with_all = ["scale", "conformal"])]
    maps: Option<PathBuf>,
    /// The model that computed the maps; the new model has the same feature map
    #[arg(long, value_name = "FILE.bagwise", requires = "maps")]
    model: Option<PathBuf>,
    #[command(flatten)]
    learning: Learning,
    #[command(flatten)]
    choosing: Choosing,
    #[command(flatten)]
    read: Data,
}

const HELP: &str = "\
Parameters that are not given are chosen by cross-validation on the training bags, without splitting groups. \
The model remembers columns and the dialect of the table, so bagwise predict needs no options. To estimate how well the model predicts new bags, use bagwise evaluate.

To train on millions of bags, fit an isk model on a sample, compute the feature maps of all bags with it (bagwise embed, or \
bagwise.arrow.mapper in Spark), and train on the maps: bagwise fit --maps FOLDER --model SAMPLE.bagwise --labels BAGS.csv -o \
ALL.bagwise.

Examples:
  bagwise fit musk1 -o musk1.bagwise                                 choose method and parameters
  bagwise fit molecules.csv --bag mol --label active --group scaffold --method isk -o m.bagwise
  bagwise fit musk1 --method mi-kernel -p gamma=2/median --threshold recall=0.95 -o mi.bagwise
  bagwise fit musk1 --method mi-kernel --conformal -o sure.bagwise      for predict --coverage 0.9
  bagwise fit musk1 --method isk -p psi=64 -p epsilon=1 -p c=8 -o isk.bagwise";

pub(crate) fn run(args: &Args, session: &Session) -> Result<Outcome> {
    let data = args.data.as_ref().map(OsStr::new);
    let [model, maps] = [&args.model, &args.maps].map(|path| path.as_ref().map(|path| path.as_os_str()));
    let inputs = args.read.inputs([data, model, maps].into_iter().flatten());
    session.check_output(&args.output, OutputKind::Model, &inputs)?;
    let options = args.read.read_options();
    let config = args.learning.config(&args.method, &args.read).params(&args.learning.seeing.params);
    let ctx = args.learning.seeing.ctx(&session.ctx);
    let base = args.model.as_ref().map(Model::load).transpose()?;
    let (data, maps) = match (&args.data, &args.maps, &base) {
        (Some(data), ..) => (session.read(data, &options)?, None),
        (None, Some(folder), Some(base)) => {
            let scratch = bagwise::io::files::folder_of(&args.output);
            let (data, rows) = read_maps(folder, &options, &base.map_shape()?, ctx.memory, scratch)?;
            session.warn_of(&data);
            let place = if rows.is_on_disk() { "on disk" } else { "in memory" };
            session.say(&format!("{}: {} maps, {} entries, {place}", data.name, rows.rows(), rows.nnz()));
            (data, Some((base, rows)))
        }
        _ => bail!("give data, or maps and the model that made them"),
    };
    let mut fit = bagwise::fit(&data);
    match maps {
        Some((base, rows)) => fit = fit.maps(base, rows)?,
        None => session.caution(&bagwise::inspect::cautions(&data, args.choosing.optimize)?),
    }
    say_positive(&data, args.choosing.positive.as_deref(), session);
    let fit = fit
        .method(config)
        .inner(args.inner)
        .optimize(args.choosing.optimize)
        .threshold(args.choosing.threshold)
        .best(args.choosing.best)
        .positive(args.choosing.positive.clone())
        .conformal(args.conformal.map(|folds| folds as usize))
        .ctx(&ctx)
        .resolve()?;
    let plan = fit.plan();
    let methods = match &plan.methods[..] {
        [one] => one.method.clone(),
        all => format!("{} methods", all.len()),
    };
    // Of maps only the machine is learned, and how long that takes instances do not say.
    if args.maps.is_none() {
        // A fold is trained on almost all bags.
        let seconds = plan.seconds() * f64::from(1 + args.conformal.unwrap_or(0));
        session.say(&format!("{}: {methods}; about {}", data.name, human_seconds(seconds)));
        say_plan(plan, "--method", session);
        fit.approximations().iter().for_each(|what| session.say(what));
    }
    let chosen = fit.has_choice();
    let mut model = fit.run()?;
    if let Some(name) = &args.data {
        model.header.reading = Some(options.remembered(name));
    }
    model.save(&args.output)?;
    let header = &model.header;
    session.print_beside(&Fitted { model: &model, chosen, output: &args.output })?;
    if header.method != BASELINE && !beats_constant(&header.training) {
        session.warn("the model is not better than a constant prediction on the inner folds; do not rely on its predictions");
    }
    if !header.training.threshold_met {
        session.warn("no threshold satisfies the rule on the training bags; using the closest one");
    }
    if header.training.not_converged > 0 {
        let steps = header.parameters.has("iterations");
        session.warn(&format!(
            "{} of {} machines reached the iteration limit; {}",
            header.training.not_converged,
            header.tasks.len(),
            if steps { "increase it with -p iterations=N" } else { "try another scaling or a smaller c" }
        ));
    }
    if header.training.unsettled > 0 {
        session.warn(&format!(
            "the chosen instances of {} of {} machines did not settle: they cycle, or still changed in the last round",
            header.training.unsettled,
            header.tasks.len()
        ));
    }
    let file = quoted(&args.output.to_string_lossy());
    session.say(&format!("wrote {file}; next: bagwise predict {file} NEW_DATA"));
    if args.maps.is_none()
        && let Err(why) = model.explain_with(&data.bags.select(&[0]), &ctx)
        && !matches!(why, bagwise::Error::Cancelled)
    {
        session.say(&format!("bagwise explain does not work with this model: {why}"));
    }
    Ok(Outcome::Done)
}

/// Whether the inner folds say that a model is better than a constant; true if they say nothing.
fn beats_constant(training: &TrainingSummary) -> bool {
    let (Some(value), Some(constant), Ok(metric)) =
        (training.inner_value, training.constant_value, training.chosen_by.parse::<Metric>())
    else {
        return true;
    };
    metric.better(value, constant)
}

/// A model that was learned, and what is known of it without new bags.
struct Fitted<'a> {
    model: &'a Model,
    /// Whether there was a choice, so that what the inner folds say flatters.
    chosen: bool,
    output: &'a Path,
}

impl Fitted<'_> {
    /// The parameters that have a meaning beside the others; JSON has all.
    fn point(&self) -> Point {
        let header = &self.model.header;
        match bagwise::methods::find(&header.method) {
            Ok(method) => header.parameters.relevant(method.params()),
            Err(_) => header.parameters.clone(),
        }
    }
}

impl Output for Fitted<'_> {
    fn json(&self) -> Result<String> {
        let header = &self.model.header;
        let training = &header.training;
        let mut object = Object::default();
        object.put("method", &header.method).put("parameters", &header.parameters);
        object.put("scaling", header.transform.scale.name()).put("members", members_json(self.model));
        object.put("data", &training.data).put("bags", training.bags).put("instances", training.instances);
        object.put("seed", training.seed).put("classes", &header.classes);
        object.put("positive", Some(self.model.positive_name()).filter(|p| !p.is_empty()));
        object.put("chosen_by", &training.chosen_by).put("inner_folds", training.inner_folds);
        object
            .put("nested_value", training.nested_value)
            .put("conformal_folds", self.model.conformal_folds());
        object.put("inner_value", training.inner_value).put("constant_value", training.constant_value);
        object.put("optimistic", self.chosen);
        object.put("threshold", header.threshold).put("threshold_met", training.threshold_met);
        object.put("out_of_bag", Some(self.model.out_of_bag()).filter(|values| !values.is_empty()));
        object.put("machines", header.tasks.len()).put("not_converged", training.not_converged);
        object.put("unsettled", training.unsettled).put("model", self.output);
        Ok(serde_json::to_string_pretty(&object)?)
    }

    fn csv(&self) -> Rows {
        let header = &self.model.header;
        let mut rows =
            Rows::new(["method", "parameters", "scaling", "chosen_by", "inner_value", "threshold", "model"]);
        rows.push(vec![
            header.method.clone(),
            self.point().to_string(),
            header.transform.scale.name().into(),
            header.training.chosen_by.clone(),
            Digits::All.show(header.training.inner_value),
            Digits::All.show(header.threshold),
            self.output.display().to_string(),
        ]);
        rows
    }

    fn text(&self, _: Style) -> String {
        let header = &self.model.header;
        let value = header.training.inner_value.map_or("undefined".into(), |v| format!("{v:.3}"));
        let remark = if self.chosen {
            " (optimistic, because parameters were chosen by it; use bagwise evaluate for an unbiased estimate)"
        } else {
            ""
        };
        let members = members(self.model);
        let what = match members.is_empty() {
            true => format!(
                "{}, scaling {}",
                format!("{} {}", header.method, self.point()).trim_end(),
                header.transform.scale.name()
            ),
            false => format!("an ensemble of {}:\n  {}", members.len(), members.join("\n  ")),
        };
        let constant = header
            .training
            .constant_value
            .map_or(String::new(), |v| format!("; a constant prediction has {v:.3}"));
        let mut text = format!(
            "{what}\n{} over {} inner folds: {value}{constant}{remark}\n",
            header.training.chosen_by, header.training.inner_folds
        );
        if let Some(value) = header.training.nested_value {
            text += &format!(
                "{} over {} kept folds, parameters chosen inside each: {value:.3}\n",
                header.training.chosen_by,
                self.model.conformal_folds()
            );
        }
        let what = if header.classes.is_empty() { "mean squared error" } else { "accuracy" };
        for (machine, value) in self.model.out_of_bag().into_iter().enumerate() {
            let of = match header.tasks.len() {
                1 => String::new(),
                _ => format!(" of {}", self.model.machine_name(machine)),
            };
            text += &format!("out-of-bag {what}{of}: {value:.3}\n");
        }
        if let Some(threshold) = header.threshold {
            text += &format!(
                "threshold: a score of {threshold:.4} or more is predicted as {}\n",
                self.model.positive_name()
            );
        }
        text
    }
}
