//! `bagwise predict`: what a model says of new bags, and whether it knows what it is talking about.

use std::path::PathBuf;

use anyhow::{Result, bail};
use bagwise::io::Column;
use bagwise::model::{Model, Prediction};
use bagwise::{CarriedColumn, Dataset};

use crate::args::Data;
use crate::output::{Digits, Object, Output, Rows, beside};
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
    #[command(flatten)]
    target: Target,
    #[command(flatten)]
    streaming: Streaming,
    #[command(flatten)]
    read: Data,
}

const HELP: &str = "\
Columns are matched by name. For each bag, predict prints the label, the decision value, the probability, the \
similarity to the nearest training bag (nearest), the fraction of values outside the training range (outside) and a \
status. unfamiliar means that the bag resembles no training bag, so the prediction is a guess. Columns given with \
--keep are shown if they have one value per bag, as `given NAME` if the output already has a column NAME.

With --stream, the data are read in pieces, and memory does not grow with them: CSV (also compressed), Parquet and folders of .npy \
files. CSV and JSON are written as they come; a table for people is printed at the end. The results are the same. The rows of a bag \
must be adjacent: a bag that comes back later is an error.

Examples:
  bagwise predict musk1.bagwise musk1
  bagwise predict m.bagwise new.csv --bag mol --format csv > predictions.csv
  bagwise predict m.bagwise new.csv --bag mol --stream -o streamed.csv";

pub(crate) fn run(args: &Args, session: &Session) -> Result<Outcome> {
    args.target.check(&[&args.data, &args.model.to_string_lossy()], session)?;
    let model = Model::load(&args.model)?;
    let options = args.read.read_options();
    let in_pieces = args.streaming.is_on(&args.data, &options)?;
    let (mut bags, mut strange) = (0, 0);
    let mut uneven: Vec<String> = Vec::new();
    args.target.write(session, |sink| {
        each_piece(&model, &args.data, options, in_pieces, session, |data| {
            let predictions =
                model.predict_with(&data.bags, &session.ctx).map_err(|e| e.of_data(&data.name))?;
            bags += predictions.len();
            strange += predictions.iter().filter(|p| !p.familiar).count();
            let kept = data.kept.iter().filter(|kept| args.asks_for(kept));
            let (kept, mixed): (Vec<&CarriedColumn>, Vec<&CarriedColumn>) =
                kept.partition(|k| is_of_bags(k, &data));
            // Which columns there are is said before it is known what comes.
            if let (Some(column), true) = (mixed.first(), in_pieces) {
                bail!(
                    "{}: the column {} cannot be kept: the output has one row per bag, and the value differs within a bag; \
                     leave it out, or use bagwise explain, which prints one row per instance",
                    data.name,
                    column.name
                );
            }
            uneven.extend(mixed.iter().map(|k| k.name.clone()));
            sink.push(&Answers { model: &model, predictions: &predictions, data: &data, kept })
        })
    })?;
    if !uneven.is_empty() {
        session.warn(&format!(
            "{} not shown: the output has one row per bag, and the value differs within a bag; bagwise explain prints one \
             row per instance",
            uneven.join(", ")
        ));
    }
    if strange > 0 {
        session.warn(&format!(
            "{strange} of {bags} bags are unfamiliar: they resemble no training bag, so their predictions are guesses"
        ));
    }
    Ok(Outcome::Done)
}

impl Args {
    /// Coordinates and the like that a format keeps by itself are not asked for here.
    fn asks_for(&self, kept: &CarriedColumn) -> bool {
        let is = |column: &Column| match column {
            Column::Name(name) => *name == kept.name,
            Column::Number(_) => true,
        };
        self.read.keep.iter().any(is)
    }
}

/// True if all instances of a bag have the same value.
fn is_of_bags(kept: &CarriedColumn, data: &Dataset) -> bool {
    (0..data.bags.len()).all(|b| kept.values[data.bags.rows(b)].windows(2).all(|w| w[0] == w[1]))
}

struct Answers<'a> {
    model: &'a Model,
    predictions: &'a [Prediction],
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
    "scores",
    "probabilities",
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

    /// The class that a two-class model's score and probability are about.
    fn positive(&self) -> Option<usize> {
        let header = &self.model.header;
        (header.classes.len() == 2).then(|| header.tasks[0].plus as usize)
    }
}

impl Answers<'_> {
    fn rows(&self, digits: Digits, fewer: Digits) -> Rows {
        let header = &self.model.header;
        let mut columns = vec!["bag".to_string()];
        match (header.classes.is_empty(), self.positive()) {
            (true, _) => columns.push("value".into()),
            (_, Some(_)) => columns.extend(["label", "score", "probability"].map(String::from)),
            (_, None) => {
                columns.push("label".into());
                columns
                    .extend((0..header.tasks.len()).map(|k| format!("score {}", self.model.machine_name(k))));
                columns.extend(header.classes.iter().map(|c| format!("probability {c}")));
            }
        }
        columns.extend(["nearest", "outside", "status"].map(String::from));
        columns.extend(self.kept.iter().map(|k| beside(&k.name, OWN)));
        let mut rows = Rows::new(columns);
        for (bag, p) in self.predictions.iter().enumerate() {
            let mut row = vec![p.bag.clone()];
            row.extend(p.label.clone());
            row.extend(p.outputs.iter().map(|v| digits.show(Some(*v))));
            match self.positive() {
                Some(class) => row.push(fewer.show(Some(p.probabilities[class]))),
                None => row.extend(p.probabilities.iter().map(|v| fewer.show(Some(*v)))),
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
        match (header.classes.is_empty(), self.positive()) {
            (true, _) => {
                object.put("value", p.outputs[0]);
            }
            (_, Some(class)) => {
                object.put("label", &p.label).put("score", p.outputs[0]);
                object.put("probability", p.probabilities[class]);
            }
            (_, None) => {
                let (mut scores, mut probabilities) = (Object::default(), Object::default());
                p.outputs.iter().enumerate().for_each(|(k, v)| {
                    scores.put(self.model.machine_name(k), v);
                });
                header.classes.iter().zip(&p.probabilities).for_each(|(class, v)| {
                    probabilities.put(class, v);
                });
                object.put("label", &p.label).put_object("scores", scores);
                object.put_object("probabilities", probabilities);
            }
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
