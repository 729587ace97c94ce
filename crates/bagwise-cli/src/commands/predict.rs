//! `bagwise predict`: what a model says of new bags, and whether it knows what it is talking about.

use std::path::PathBuf;

use anyhow::Result;
use bagwise::io::{Column, OutputKind};
use bagwise::model::{Model, Prediction};
use bagwise::{CarriedColumn, Dataset};

use crate::args::Data;
use crate::output::{Digits, Object, Output, Paint, Rows, beside, quoted};
use crate::session::{Outcome, Session};

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
    /// Write the predictions to a file instead of the screen: JSON if its name ends in .json, else CSV
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Also give each bag a set of classes, or an interval, that holds the truth for this share of new bags; the model must have been
    /// fitted with --conformal
    #[arg(long, value_name = "SHARE", value_parser = share)]
    coverage: Option<f64>,
    /// With --coverage: hold it in each class, however rare
    #[arg(long, requires = "coverage")]
    per_class: bool,
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

With --coverage, `set` lists the classes that the bag can have (joined by | in CSV), or `low` and `high` are the ends of the \
interval of a number. They come from the models of folds, by CV+: on average over data sets they hold the truth for about the given \
share of new bags, and by proof for 1 - 2 alpha, where alpha is one minus the share. If the training bags had groups, every group \
weighs the same, and this is about bags of new groups. An empty set means that no class fits the bag. Too few groups (or bags of a \
class, with --per-class) for a share are refused: there must be 1/alpha - 1.

Examples:
  bagwise predict musk1.bagwise musk1
  bagwise predict m.bagwise new.csv -o predictions.csv
  bagwise predict m.bagwise new.csv --format json
  bagwise predict sure.bagwise musk1 --coverage 0.9";

pub(crate) fn run(args: &Args, session: &Session) -> Result<Outcome> {
    if let Some(path) = &args.output {
        session.check_output(path, OutputKind::Table, &[&args.data, &args.model.to_string_lossy()])?;
    }
    let model = Model::load(&args.model)?;
    let data = session.read_for(&model, &args.data, args.read.read_options())?;
    let predictions = model.predict_with(&data.bags, &session.ctx).map_err(|e| e.of_data(&data.name))?;
    let covered = args.coverage.map(|coverage| {
        let (bags, ctx) = (&data.bags, &session.ctx);
        match model.header.classes.is_empty() {
            true => model.predict_intervals(bags, coverage, ctx).map(Covered::Intervals),
            false => model.predict_sets(bags, coverage, args.per_class, ctx).map(Covered::Sets),
        }
    });
    let covered = covered.transpose().map_err(|e| e.of_data(&data.name))?;
    let strange = predictions.iter().filter(|p| !p.familiar).count();
    // Coordinates and the like that a format keeps by itself are not asked for here.
    let among = |columns: &[Column], kept: &CarriedColumn| {
        let is = |column: &Column| match column {
            Column::Name(name) => *name == kept.name,
            Column::Number(_) => true,
        };
        columns.iter().any(is)
    };
    let remembered = model.header.reading.as_ref().map_or(&[][..], |r| &r.keep);
    let asked = if args.read.keep.is_empty() { remembered } else { &args.read.keep };
    let (kept, uneven): (Vec<&CarriedColumn>, Vec<&CarriedColumn>) =
        data.kept.iter().filter(|k| among(asked, k)).partition(|k| is_of_bags(k, &data));
    let answers =
        Answers { model: &model, predictions: &predictions, covered: covered.as_ref(), data: &data, kept };
    match &args.output {
        Some(path) => session.write(&answers, path)?,
        None => session.print(&answers)?,
    }
    if let Some(coverage) = args.coverage {
        session.say(&model.coverage_promise(coverage, args.per_class)?);
    }
    // What the model remembers was not asked for now.
    if !uneven.is_empty() && !args.read.keep.is_empty() {
        let names: Vec<&str> = uneven.iter().map(|k| k.name.as_str()).collect();
        session.warn(&format!(
            "{} not shown: the output has one row per bag, and the value differs within a bag; bagwise explain prints one \
             row per instance",
            names.join(", ")
        ));
    }
    if data.target.is_some() {
        let (model, data) = (quoted(&args.model.to_string_lossy()), quoted(&args.data));
        session.say(&format!(
            "the data have labels; to score the predictions, next: bagwise evaluate --model {model} {data}{}",
            args.read.words()
        ));
    }
    if strange > 0 {
        session.warn(&format!(
            "{strange} of {} bags are unfamiliar: they resemble no training bag, so their predictions are guesses",
            predictions.len()
        ));
    }
    Ok(Outcome::Done)
}

/// True if all instances of a bag have the same value.
fn is_of_bags(kept: &CarriedColumn, data: &Dataset) -> bool {
    (0..data.bags.len()).all(|b| kept.values[data.bags.rows(b)].windows(2).all(|w| w[0] == w[1]))
}

/// What holds the truth with a chosen coverage.
enum Covered {
    /// For each bag, whether each class.
    Sets(Vec<Vec<bool>>),
    /// For each bag, the ends.
    Intervals(Vec<(f64, f64)>),
}

struct Answers<'a> {
    model: &'a Model,
    predictions: &'a [Prediction],
    covered: Option<&'a Covered>,
    data: &'a Dataset,
    /// Columns that say something of bags.
    kept: Vec<&'a CarriedColumn>,
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
    /// Names and values of the columns that come along with a bag.
    fn kept(&self, bag: usize) -> impl Iterator<Item = (String, &str)> {
        let first = self.data.bags.rows(bag).start;
        self.kept.iter().map(move |k| (beside(&k.name, OWN), k.values[first].as_str()))
    }
}

impl Answers<'_> {
    /// The classes of a bag's set.
    fn set(&self, classes: &[bool]) -> Vec<&str> {
        let names = &self.model.header.classes;
        names.iter().zip(classes).filter(|(_, held)| **held).map(|(name, _)| name.as_str()).collect()
    }
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
            Some(Covered::Sets(_)) => columns.push("set".into()),
            Some(Covered::Intervals(_)) => columns.extend(["low", "high"].map(String::from)),
            None => {}
        }
        columns.extend(["nearest", "outside", "status"].map(String::from));
        columns.extend(self.kept.iter().map(|k| beside(&k.name, OWN)));
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
                Some(Covered::Sets(sets)) => {
                    let set = self.set(&sets[bag]);
                    row.push(match digits {
                        Digits::All => set.join("|"),
                        Digits::Few(_) => format!("{{{}}}", set.join(", ")),
                    });
                }
                Some(Covered::Intervals(all)) => {
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
            Some(Covered::Sets(sets)) => {
                object.put("set", self.set(&sets[bag]));
            }
            Some(Covered::Intervals(all)) => {
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

    fn text(&self, _: Paint) -> String {
        self.rows(Digits::Few(4), Digits::Few(3)).to_string()
    }
}
