//! `bagwise predict`: predicts new bags with a saved model, and marks bags that are unlike its training bags.

use std::path::{Path, PathBuf};

use anyhow::{Result, anyhow, bail};
use bagwise::io::Column;
use bagwise::model::{Model, Prediction};
use bagwise::{CarriedColumn, Dataset, unknown_label};

use crate::args::Data;
use crate::novelty::Novelty;
use crate::output::{Digits, Object, Output, Rows, kept_names, quoted};
use crate::session::{Outcome, Session};
use crate::streaming::{Streaming, Target, each_piece};

/// Predict the labels of new bags with a saved model
#[derive(clap::Args)]
#[command(after_help = HELP)]
pub(crate) struct Args {
    /// A model file from bagwise fit
    #[arg(value_name = "MODEL")]
    model: PathBuf,
    /// A file, a built-in data set or a generator; labels are not needed
    #[arg(value_name = "DATA")]
    data: String,
    /// Also print a set of classes for each bag, or an interval, that contains the true value for this fraction of new
    /// bags; the model must have been fitted with --conformal
    #[arg(long, value_name = "SHARE", value_parser = share)]
    coverage: Option<f64>,
    /// With --coverage: the coverage holds within each class, even a rare one
    #[arg(long, requires = "coverage")]
    per_class: bool,
    #[command(flatten)]
    target: Target,
    #[command(flatten)]
    streaming: Streaming,
    #[command(flatten)]
    read: Data,
}

fn share(text: &str) -> Result<f64, String> {
    let found = text.parse().ok().filter(|v| *v > 0.0 && *v < 1.0);
    found.ok_or_else(|| "give a number between 0 and 1, such as 0.9".into())
}

const HELP: &str = "\
Features are matched by name. The columns for bag, label and group, kept columns and the dialect of tables are those that the model \
was trained with (bagwise show MODEL prints them), unless options say otherwise.

For each bag, predict prints the label, the decision value (score), the probability of each class, the similarity to the nearest \
training bag (nearest), the fraction of values outside the training range (outside) and a status. unfamiliar means that the bag \
resembles no training bag, so the prediction is a guess. With two classes, the score is that of the positive class; with more, \
that of the predicted class. With more than four classes, the table shows the probability of the predicted class and the second most \
probable one; CSV and JSON have all. Kept columns are shown if they have one value per bag, as `given NAME` if the output already \
has a column NAME.

With --coverage, `set` lists the plausible classes of the bag (joined by | in CSV); for regression, `low` and `high` are the \
ends of an interval. They are computed by CV+ from the models of folds. On average over data sets, they contain the true value \
for about the given fraction of new bags; the proven fraction is 1 - 2 alpha, where alpha is one minus the coverage. If the \
training bags had groups, every group has the same weight, and the coverage refers to bags of new groups. An empty set means \
that no class fits the bag. There must be at least 1/alpha - 1 groups, or bags if there are no groups; with --per-class, in \
each class.

With --stream, the data are read in pieces, and memory does not grow with them: CSV (also compressed), Parquet and folders of \
.npy files. CSV and JSON are written piece by piece; a text table is printed at the end. The results are the same. The rows of \
a bag must be adjacent: a bag that reappears later is an error.

Examples:
  bagwise predict musk1.bagwise musk1
  bagwise predict m.bagwise new.csv -o predictions.csv
  bagwise predict m.bagwise new.csv --stream --format csv > streamed.csv
  bagwise predict sure.bagwise musk1 --coverage 0.9";

pub(crate) fn run(args: &Args, session: &Session) -> Result<Outcome> {
    args.target.check(&args.read.inputs([args.data.as_ref(), args.model.as_os_str()]), session)?;
    let model = Model::load(&args.model).map_err(|error| {
        let (first, second) = (&args.model.to_string_lossy(), &args.data);
        // Only a file that exists can have been given in the wrong place.
        match Path::new(second).is_file() && Model::load(Path::new(second)).is_ok() {
            true => anyhow!(
                "{first}: not a model, but {second} is; next: bagwise predict {} {}{}",
                quoted(second),
                quoted(first),
                args.read.words()
            ),
            false => error.into(),
        }
    })?;
    if let Some(coverage) = args.coverage {
        // Before anything is written.
        model.coverage_promise(coverage, args.per_class)?;
    }
    let options = args.read.read_options();
    let in_pieces = args.streaming.is_on(&args.data, &options)?;
    let (mut bags, mut less_probable, mut labelled) = (0, 0, false);
    let mut novelty = Novelty::default();
    // Columns whose values differ within a bag.
    let mut uneven: Vec<String> = Vec::new();
    let mut begun = false;
    let (mut seen, mut strange) = (0, None);
    args.target.write(session, |sink| {
        each_piece(&model, &args.data, options, in_pieces, session, |data| {
            let of_data = |e: bagwise::Error| e.of_data(&data.name);
            let predictions = model.predict_with(&data.bags, &session.ctx).map_err(of_data)?;
            let covered = args.covered(&model, &data, session).map_err(of_data)?;
            bags += predictions.len();
            novelty.add(&model, &data, &predictions, in_pieces).map_err(of_data)?;
            if let Some(target) = &data.target {
                strange = strange.take().or_else(|| unknown_label(&model, target));
                seen += model.training_bags_among(&data.bags).map_err(of_data)?.len();
            }
            let classes = &model.header.classes;
            less_probable += predictions.iter().filter(|p| is_less_probable(p, classes)).count();
            labelled |= data.target.is_some();
            let wanted: Vec<&CarriedColumn> =
                data.kept.iter().filter(|k| args.asks_for(k, &model) && !uneven.contains(&k.name)).collect();
            let (kept, mixed): (Vec<&CarriedColumn>, Vec<&CarriedColumn>) =
                wanted.into_iter().partition(|k| is_of_bags(k, &data));
            // The columns of the output are those of the first piece. Columns stored in the model are optional here.
            if let (Some(column), true) = (mixed.first(), in_pieces && (begun || !args.read.keep.is_empty())) {
                bail!(
                    "{}: the column {} cannot be kept: the output has one row per bag, and the value differs within a bag; \
                     leave it out, or use bagwise explain, which prints one row per instance",
                    data.name,
                    column.name
                );
            }
            begun = true;
            uneven.extend(mixed.iter().map(|k| k.name.clone()));
            let classes = &model.header.classes;
            let own = |name: &str| {
                let class = name.strip_prefix("probability ");
                OWN.contains(&name) || class.is_some_and(|class| classes.iter().any(|c| c == class))
            };
            let answers = Answers {
                model: &model,
                predictions: &predictions,
                covered: covered.as_ref(),
                data: &data,
                kept_names: kept_names(kept.iter().copied(), own),
                kept,
            };
            sink.push(&answers)
        })
    })?;
    if let Some(coverage) = args.coverage {
        session.say(&model.coverage_promise(coverage, args.per_class)?);
    }
    if !uneven.is_empty() && !args.read.keep.is_empty() {
        session.warn(&format!(
            "{} not shown: the output has one row per bag, and the value differs within a bag; bagwise explain prints one \
             row per instance",
            uneven.join(", ")
        ));
    }
    if less_probable > 0 {
        session.say(&format!(
            "{less_probable} of {bags} labels are not the most probable class: labels follow the score, and probabilities were \
             calibrated on other bags; bagwise fit --threshold chooses where a label changes"
        ));
    }
    if seen > 0 {
        session.say(&format!(
            "{seen} of {bags} bags are in the training data of the model: predictions for them do not show how good it is"
        ));
    }
    if let Some(label) = &strange {
        session.warn(&format!(
            "'{label}' was read as the label of a bag, but the model was not trained on this label; check that the columns are those of the training \
             data, or name the column with --label"
        ));
    }
    if labelled && strange.is_none() && seen < bags {
        let (model, data) = (quoted(&args.model.to_string_lossy()), quoted(&args.data));
        session.say(&format!(
            "the data have labels; to score the predictions, next: bagwise evaluate --model {model} {data}{}",
            args.read.words()
        ));
    }
    novelty.warnings().iter().for_each(|warning| session.warn(warning));
    Ok(Outcome::Done)
}

impl Args {
    /// Sets of classes or intervals, if requested.
    fn covered(
        &self,
        model: &Model,
        data: &Dataset,
        session: &Session,
    ) -> bagwise::Result<Option<CoverageOutput>> {
        let Some(coverage) = self.coverage else { return Ok(None) };
        let (bags, ctx) = (&data.bags, &session.ctx);
        let covered = match model.header.classes.is_empty() {
            true => CoverageOutput::Intervals(model.predict_intervals(bags, coverage, ctx)?),
            false => CoverageOutput::Sets(model.predict_sets(bags, coverage, self.per_class, ctx)?),
        };
        Ok(Some(covered))
    }

    /// Without the columns that a format keeps by itself, such as coordinates.
    fn asks_for(&self, kept: &CarriedColumn, model: &Model) -> bool {
        let is = |column: &Column| match column {
            Column::Name(name) => *name == kept.name,
            Column::Number(_) => true,
        };
        let remembered = model.header.reading.as_ref().map_or(&[][..], |r| &r.keep);
        let asked = if self.read.keep.is_empty() { remembered } else { &self.read.keep };
        asked.iter().any(is)
    }
}

/// True if all instances of a bag have the same value.
fn is_of_bags(kept: &CarriedColumn, data: &Dataset) -> bool {
    (0..data.bags.len()).all(|b| kept.values[data.bags.rows(b)].windows(2).all(|w| w[0] == w[1]))
}

/// What holds the truth with a chosen coverage.
enum CoverageOutput {
    /// For each bag, whether each class.
    Sets(Vec<Vec<bool>>),
    /// For each bag, the ends.
    Intervals(Vec<(f64, f64)>),
}

struct Answers<'a> {
    model: &'a Model,
    predictions: &'a [Prediction],
    covered: Option<&'a CoverageOutput>,
    data: &'a Dataset,
    /// Columns that say something of bags.
    kept: Vec<&'a CarriedColumn>,
    /// Their names in the output.
    kept_names: Vec<String>,
}

/// What an answer has itself.
const OWN: &[&str] = &[
    "bag",
    "label",
    "value",
    "score",
    "probability",
    "next",
    "scores",
    "probabilities",
    "set",
    "low",
    "high",
    "nearest",
    "outside",
    "status",
];

impl Answers<'_> {
    /// Names and values of the kept columns of a bag.
    fn kept(&self, bag: usize) -> impl Iterator<Item = (&String, &str)> {
        let first = self.data.bags.rows(bag).start;
        self.kept_names.iter().zip(self.kept.iter().map(move |k| k.values[first].as_str()))
    }
}

impl Answers<'_> {
    /// The classes of a bag's set.
    fn set(&self, classes: &[bool]) -> Vec<&str> {
        let names = &self.model.header.classes;
        names.iter().zip(classes).filter(|(_, held)| **held).map(|(name, _)| name.as_str()).collect()
    }
}

/// Whether another class than the predicted one has a clearly higher probability: by more than rounding and ties.
fn is_less_probable(p: &Prediction, classes: &[String]) -> bool {
    const CLEARLY: f64 = 0.1;
    let own = classes.iter().position(|c| Some(c) == p.label.as_ref()).and_then(|c| p.probabilities.get(c));
    own.is_some_and(|own| p.probabilities.iter().any(|other| *other > own + CLEARLY))
}

/// So many classes have a column each in the table for people.
const FEW_CLASSES: usize = 4;

impl Answers<'_> {
    /// The probability of the predicted class, and the second most probable class.
    fn first_two(&self, p: &Prediction) -> (Option<f64>, String) {
        let classes = &self.model.header.classes;
        let of = |c: usize| p.probabilities.get(c).copied().filter(|v| !v.is_nan());
        let own = classes.iter().position(|c| Some(c) == p.label.as_ref());
        let others = (0..classes.len()).filter(|&c| Some(c) != own && of(c).is_some());
        let next = others.max_by(|&a, &b| p.probabilities[a].total_cmp(&p.probabilities[b]).then(b.cmp(&a)));
        let next = next.map_or(String::new(), |c| format!("{} {}", classes[c], Digits::Few(3).show(of(c))));
        (own.and_then(of), next)
    }

    fn rows(&self, digits: Digits, fewer: Digits) -> Rows {
        let header = &self.model.header;
        let narrow = digits != Digits::All && header.classes.len() > FEW_CLASSES;
        let mut columns = vec!["bag".to_string()];
        match header.classes.len() {
            0 => columns.push("value".into()),
            _ if narrow => columns.extend(["label", "score", "probability", "next"].map(String::from)),
            _ => {
                columns.extend(["label", "score"].map(String::from));
                columns.extend(header.classes.iter().map(|c| format!("probability {c}")));
            }
        }
        match self.covered {
            Some(CoverageOutput::Sets(_)) => columns.push("set".into()),
            Some(CoverageOutput::Intervals(_)) => columns.extend(["low", "high"].map(String::from)),
            None => {}
        }
        columns.extend(["nearest", "outside", "status"].map(String::from));
        columns.extend(self.kept_names.iter().cloned());
        let mut rows = Rows::new(columns);
        let probability = |v: f64| fewer.show(Some(v).filter(|v| !v.is_nan()));
        for (bag, p) in self.predictions.iter().enumerate() {
            let mut row = vec![p.bag.clone()];
            row.extend(p.label.clone());
            row.push(digits.show(Some(self.model.decision_value(p))));
            match narrow {
                true => {
                    let (own, next) = self.first_two(p);
                    row.extend([fewer.show(own), next]);
                }
                false => row.extend(p.probabilities.iter().map(|v| probability(*v))),
            }
            match self.covered {
                Some(CoverageOutput::Sets(sets)) => {
                    let set = self.set(&sets[bag]);
                    row.push(match digits {
                        Digits::All => set.join("|"),
                        Digits::Few(_) => format!("{{{}}}", set.join(", ")),
                    });
                }
                Some(CoverageOutput::Intervals(all)) => {
                    row.extend([all[bag].0, all[bag].1].map(|end| digits.show(Some(end))));
                }
                None => {}
            }
            row.extend([fewer.show(p.nearest), fewer.show(Some(p.outside)), status(p).into()]);
            row.extend(self.kept(bag).map(|(_, value)| value.to_string()));
            rows.push(row);
        }
        rows
    }

    fn object(&self, bag: usize, p: &Prediction) -> Object {
        let header = &self.model.header;
        let mut object = Object::default();
        object.put("bag", &p.bag);
        match header.classes.is_empty() {
            true => {
                object.put("value", p.outputs[0]);
            }
            false => {
                object.put("label", &p.label).put("score", self.model.decision_value(p));
                if header.tasks.len() > 1 {
                    let mut scores = Object::default();
                    p.outputs.iter().enumerate().for_each(|(k, v)| {
                        scores.put(self.model.machine_name(k), v);
                    });
                    object.put_object("scores", scores);
                }
                let mut probabilities = Object::default();
                header.classes.iter().zip(&p.probabilities).for_each(|(class, v)| {
                    probabilities.put(class, v);
                });
                object.put_object("probabilities", probabilities);
            }
        }
        match self.covered {
            Some(CoverageOutput::Sets(sets)) => {
                object.put("set", self.set(&sets[bag]));
            }
            Some(CoverageOutput::Intervals(all)) => {
                object.put("low", all[bag].0).put("high", all[bag].1);
            }
            None => {}
        }
        object.put("nearest", p.nearest).put("outside", p.outside).put("status", status(p));
        self.kept(bag).for_each(|(name, value)| {
            object.put(name, value);
        });
        object
    }
}

fn status(prediction: &Prediction) -> &'static str {
    if prediction.familiar { "ok" } else { "unfamiliar" }
}

impl Output for Answers<'_> {
    fn json(&self) -> Result<String> {
        let all: Vec<Object> = self.predictions.iter().enumerate().map(|(b, p)| self.object(b, p)).collect();
        Ok(serde_json::to_string_pretty(&all)?)
    }

    fn csv(&self) -> Rows {
        self.rows(Digits::All, Digits::All)
    }

    fn text_rows(&self) -> Rows {
        self.rows(Digits::Few(4), Digits::Few(3))
    }
}
