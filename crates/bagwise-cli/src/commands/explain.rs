//! `bagwise explain`: prints the exact contribution of each instance to a prediction.

use std::path::{Path, PathBuf};

use anyhow::{Result, bail};
use bagwise::graph::{GraphFormat, write_graphs};
use bagwise::io::{OutputKind, is_same_output};
use bagwise::method::{Capability, Explanation, Representative, TracedRound};
use bagwise::methods;
use bagwise::model::{Model, Prediction};
use bagwise::{CarriedColumn, Dataset};

use crate::args::Data;
use crate::output::{Digits, Object, Output, Rows, Style, kept_names};
use crate::session::{Outcome, Session};
use crate::streaming::{Streaming, Target, each_piece};

/// Show which instances drove each prediction
#[derive(clap::Args)]
#[command(after_help = HELP)]
pub(crate) struct Args {
    /// A model file from bagwise fit
    #[arg(value_name = "MODEL")]
    model: PathBuf,
    /// A file, a built-in data set or a generator; labels are not needed
    #[arg(value_name = "DATA", required_unless_present_any = ["representatives", "concepts", "trace", "rules"])]
    data: Option<String>,
    /// List the instances that represent the training bags, instead of explaining new bags; for mirsvm, mi-svm-bag
    /// and misssvm models
    #[arg(long, conflicts_with_all = ["data", "top", "graph", "concepts"])]
    representatives: bool,
    /// Show the rounds of training, instead of explaining new bags; for mirsvm, mi-svm,
    /// mi-svm-bag, misssvm and sil models
    #[arg(long, conflicts_with_all = ["data", "top", "graph", "concepts", "representatives"])]
    trace: bool,
    /// Show only the K instances of each bag that contribute most to its prediction, largest first
    #[arg(long, value_name = "K", value_parser = clap::value_parser!(u32).range(1..))]
    top: Option<u32>,
    /// Also write the graphs of the bags to a file, as GraphML (.graphml) or Graphviz (.dot, .gv); for migraph-explicit
    /// models
    #[arg(long, value_name = "FILE")]
    graph: Option<PathBuf>,
    /// Show the concepts of the model, instead of explaining new bags: one row per attribute, highest weight first; with --top, only
    /// the first K of each concept
    #[arg(long, conflicts_with_all = ["data", "graph"])]
    concepts: bool,
    /// Show the rules of the model in the order in which they were found, instead of explaining new bags; with --top,
    /// only the first K; for mi-boost models
    #[arg(long, conflicts_with_all = ["data", "graph", "concepts", "representatives", "trace"])]
    rules: bool,
    /// Show the training bags that vote on each bag, and the pair of instances that makes them neighbours; with --top,
    /// only the K that count most; for citation-knn models
    #[arg(long, conflicts_with_all = ["graph", "concepts", "representatives", "trace", "rules"])]
    votes: bool,
    /// With several classes, explain every binary model separately, instead of the predicted class
    #[arg(long)]
    machines: bool,
    /// With --format geojson: draw each instance as a square of this size, with its coordinates as the first corner, instead of a point
    #[arg(long, value_name = "SIZE", value_parser = side)]
    tile: Option<f64>,
    /// Write the explanations to a file instead of stdout: JSON if its name ends in .json, GeoJSON if it ends in
    /// .geojson, else CSV
    #[arg(short, long, value_name = "FILE", conflicts_with_all = ["concepts", "representatives", "trace", "rules", "votes"])]
    output: Option<PathBuf>,
    #[command(flatten)]
    streaming: Streaming,
    #[command(flatten)]
    read: Data,
}

fn side(text: &str) -> Result<f64, String> {
    let found = text.parse().ok().filter(|v: &f64| v.is_finite() && *v > 0.0);
    found.ok_or_else(|| "give a number above 0, such as 256".into())
}

const HELP: &str = "\
There is one row per bag and instance (counted from 1 within its bag). What is explained is the output of the model: with two \
classes, the decision value of the positive class (`machine` is `1 vs 0`; negative values favour 0); with more classes, the \
support of all binary models for the predicted class (`cat vs rest`); for regression, the predicted value. If the kind is \
`part`, the value is the contribution of the instance. The contributions and the `bias` add up to the score that bagwise \
predict prints. If the method has an intercept, it is divided among the instances of a bag in proportion to their weights, so the \
sign of a contribution shows which class the instance supports. The bias is then 0, and the intercept is printed. If the kind is \
`output`, the value is the decision value of the instance itself, and the bag gets the value of the `chosen` instance. If the \
kind is `attention` (mil-net), the value is the share of the network's attention, which shows where the network looks, not \
which class it favours. --top 1 shows the instance that contributes most to the prediction; for a bag that is predicted \
negative, that is the most negative one. --machines explains each binary model of several classes.

Kept columns and coordinates (--keep, --coords, or columns stored in the model) are copied to the output. --format geojson \
writes a point (with --tile, a square) for every instance, with its contribution as the property `part`; it needs the columns \
x and y. With --graph, each node has the contribution of its instance to the first machine. With --representatives, there is \
one row per training bag that has a representative, with the output of that instance (counted among the sampled instances, if \
the model was fitted with --max-instances).

With --trace, there is one row per machine and round: the dual objective of the SVM trained in that round (larger is better for the \
same training rows, but these change between rounds), how many choices or labels changed afterwards, the number of support vectors, \
and in the last row how the search ended: converged, in a cycle of N rounds, or at the limit (-p max-iter=N).

With --concepts, explain prints the concepts of a dd, em-dd, dd-svm, mg-ddv or mg-acc model. A concept is a \
point in instance space (`place`, in the units of the data) with a `weight` for every attribute. Weights are in scaled \
units: an instance that differs by 1/weight in one attribute alone has a closeness of exp(-1). `near` is the class \
whose bags are close to the concept, and `belief` is the share of the concept in the model.

With --rules, there is one row per rule of a mi-boost model. An instance whose attribute is at or below the `cut` (in the \
units of the data) adds `at_or_below`, any other adds `above`. The decision value of a bag is the mean over its instances of \
the sum over all rules.

With --votes, there is one row per bag and training bag that votes on it (two rows if each is among the nearest of the other), \
with the two instances that are nearest to each other and the contribution of the vote to the decision value.

With --stream, the data are read in pieces, and rows are printed piece by piece, as in bagwise predict.

Examples:
  bagwise explain mi.bagwise musk1 --top 3
  bagwise explain m.bagwise new.csv -o parts.csv
  bagwise explain mi.bagwise musk1 --format csv > parts.csv";

pub(crate) fn run(args: &Args, session: &Session) -> Result<Outcome> {
    let model = Model::load(&args.model)?;
    if args.concepts {
        session.print(&super::concepts::Concepts::of(&model, args.top)?)?;
        return Ok(Outcome::Done);
    }
    if args.rules {
        session.print(&super::rules::RuleTable::of(&model, args.top)?)?;
        return Ok(Outcome::Done);
    }
    if args.trace {
        let rounds = model.trace();
        if rounds.is_empty() {
            bail!(
                "{} is not trained in rounds; mirsvm, mi-svm, mi-svm-bag, misssvm and sil are",
                model.header.method
            );
        }
        session.print(&Trace { model: &model, rounds })?;
        return Ok(Outcome::Done);
    }
    let Some(data) = &args.data else {
        let chosen = model.representatives();
        if chosen.is_empty() {
            bail!(
                "{} has no representative instances; mirsvm, mi-svm-bag and misssvm have",
                model.header.method
            );
        }
        session.print(&RepresentativesTable { model: &model, chosen })?;
        return Ok(Outcome::Done);
    };
    let inputs = args.read.inputs([data.as_ref(), args.model.as_os_str()]);
    if let Some(path) = &args.output {
        session.check_output(path, OutputKind::Table, &inputs)?;
    }
    if let Some(path) = &args.graph {
        // Before any work.
        GraphFormat::of(path)?;
        session.check_output(path, OutputKind::Graphs, &inputs)?;
        if args.output.as_ref().is_some_and(|other| is_same_output(path, other)) {
            bail!("{}: explanations and graphs cannot go to the same file; name two", path.display());
        }
    }
    let options = args.read.read_options();
    // Graphs and votes are written as a whole.
    if args.votes {
        let data = session.read_for(&model, data, options)?;
        session.print(&super::votes::VoteTable::of(&model, &data, args.top, &session.ctx)?)?;
        return Ok(Outcome::Done);
    }
    let as_map = session.wants_map() || args.output.as_ref().is_some_and(|path| is_map(path));
    let whole = as_map || args.graph.is_some();
    if whole && args.streaming.is_asked_for() {
        bail!("graphs and GeoJSON are written as a whole, not in pieces; leave out --stream");
    }
    let in_pieces = !whole && args.streaming.is_on(data, &options)?;
    if in_pieces {
        let target = Target::new(args.output.clone());
        target.check(&inputs, session)?;
        let mut note = None;
        target.write(session, |sink| {
            each_piece(&model, data, options, in_pieces, session, |data| {
                let explained = args.explained(&model, &data, session)?;
                let parts = args.parts(&model, &data, &explained, None, session)?;
                note = parts.note();
                sink.push(&parts)
            })
        })?;
        note.iter().for_each(|note| session.say(note));
        return Ok(Outcome::Done);
    }
    let data = session.read_for(&model, data, options)?;
    let coordinates = as_map.then(|| Coordinates::of(&data)).transpose()?;
    let explained = args.explained(&model, &data, session)?;
    if let Some(path) = &args.graph {
        let graphs = model.graphs(&data.bags, &session.ctx)?;
        let machines = model.explain_with(&data.bags, &session.ctx).map_err(|e| e.of_data(&data.name))?;
        write_graphs(path, &data, &graphs, &first_machine(&machines))?;
        session.say(&format!("wrote {}: the graphs of {} bags", path.display(), graphs.len()));
    }
    let parts = args.parts(&model, &data, &explained, coordinates, session)?;
    match &args.output {
        Some(path) => session.write(&parts, path)?,
        None => session.print(&parts)?,
    }
    if let Some(note) = parts.note() {
        session.say(&note);
    }
    Ok(Outcome::Done)
}

impl Args {
    /// Why the model predicts what it predicts, bag by bag.
    fn explained(&self, model: &Model, data: &Dataset, session: &Session) -> Result<Vec<Vec<Explained>>> {
        let of_data = |e: bagwise::Error| e.of_data(&data.name);
        if self.machines {
            let all = model.explain_with(&data.bags, &session.ctx).map_err(of_data)?;
            return Ok(all.into_iter().map(|own| Explained::of_machines(model, own)).collect());
        }
        let all = model.explain_predictions(&data.bags, &session.ctx).map_err(of_data)?;
        Ok(all.into_iter().map(|(said, why)| vec![Explained::of_prediction(model, &said, why)]).collect())
    }

    /// The rows to print.
    fn parts<'a>(
        &self,
        model: &Model,
        data: &'a Dataset,
        explained: &'a [Vec<Explained>],
        coordinates: Option<Coordinates>,
        session: &Session,
    ) -> Result<Parts<'a>> {
        let attention = match methods::find(&model.header.method)?.info().has(Capability::Attention) {
            // Not every pooling has one, and that of several machines is not that of a class.
            true if self.machines || model.header.tasks.len() == 1 => {
                model.attention(&data.bags, &session.ctx).unwrap_or_default()
            }
            _ => Vec::new(),
        };
        let rows = rows(explained, &attention, self.top);
        let kept_names = kept_names(&data.kept, |name| OWN.contains(&name));
        Ok(Parts { data, explained, rows, coordinates, tile: self.tile, kept_names })
    }
}

fn is_map(path: &Path) -> bool {
    path.extension().is_some_and(|e| e.eq_ignore_ascii_case("geojson"))
}

/// One explanation of one bag.
struct Explained {
    /// The two sides that the value separates; empty for regression.
    machine: String,
    why: Explanation,
    /// What the model predicts; nothing where single machines are explained.
    predicted: Option<String>,
    /// 1 if larger parts support the prediction (of a single machine: its output), -1 if smaller ones do, 0 for regression.
    sign: f64,
    /// The constant that the parts contain.
    intercept: Option<f64>,
}

impl Explained {
    fn of_prediction(model: &Model, said: &Prediction, why: Explanation) -> Explained {
        let header = &model.header;
        let sign = match (&said.label, header.tasks.len()) {
            (None, _) => 0.0,
            (Some(label), 1) if label != model.positive_name() => -1.0,
            _ => 1.0,
        };
        let number = || Digits::Few(4).show(said.outputs.first().copied());
        Explained {
            machine: model.explained_name(said),
            predicted: Some(said.label.clone().unwrap_or_else(number)),
            sign,
            intercept: model.shared_intercept(said),
            why,
        }
    }

    fn of_machines(model: &Model, all: Vec<Explanation>) -> Vec<Explained> {
        let one = |(machine, why): (usize, Explanation)| {
            let output = match &why {
                Explanation::Additive { bias, parts } => bias + parts.iter().sum::<f64>(),
                Explanation::Witness { outputs, chosen } => outputs[*chosen],
            };
            let sign = match model.header.classes.is_empty() {
                true => 0.0,
                false if output > 0.0 => 1.0,
                false => -1.0,
            };
            Explained { machine: model.machine_name(machine), why, predicted: None, sign, intercept: None }
        };
        all.into_iter().enumerate().map(one).collect()
    }

    /// How much a part supports the prediction; for regression, its absolute value.
    fn weight(&self, part: f64) -> f64 {
        if self.sign == 0.0 { part.abs() } else { self.sign * part }
    }
}

/// What each instance adds to (or says as) the first machine.
fn first_machine(explanations: &[Vec<Explanation>]) -> Vec<Vec<f64>> {
    let values = |machines: &Vec<Explanation>| match &machines[0] {
        Explanation::Additive { parts, .. } => parts.clone(),
        Explanation::Witness { outputs, .. } => outputs.clone(),
    };
    explanations.iter().map(values).collect()
}

/// One line: bag, instance (none for the bias), machine, kind, value.
struct Line {
    bag: usize,
    instance: Option<usize>,
    machine: usize,
    kind: &'static str,
    value: f64,
}

fn rows(explained: &[Vec<Explained>], attention: &[Vec<Vec<f64>>], top: Option<u32>) -> Vec<Line> {
    let mut lines = Vec::new();
    for (bag, machines) in explained.iter().enumerate() {
        for (machine, explained) in machines.iter().enumerate() {
            let (values, chosen) = match &explained.why {
                Explanation::Additive { bias, parts } => {
                    lines.push(Line { bag, instance: None, machine, kind: "bias", value: *bias });
                    (parts, None)
                }
                Explanation::Witness { outputs, chosen } => (outputs, Some(*chosen)),
            };
            let mut order: Vec<usize> = (0..values.len()).collect();
            if let Some(top) = top {
                // The one that decides first, then by what they say for the prediction.
                let decides = |i: usize| Some(i) == chosen;
                let weight = |i: usize| match chosen {
                    Some(_) => values[i],
                    None => explained.weight(values[i]),
                };
                order.sort_by(|&a, &b| decides(b).cmp(&decides(a)).then(weight(b).total_cmp(&weight(a))));
                order.truncate(top as usize);
            }
            let attended: Vec<Line> = match attention.get(bag) {
                None => Vec::new(),
                Some(machines) => (order.iter())
                    .map(|&i| {
                        let value = machines[machine][i];
                        Line { bag, instance: Some(i), machine, kind: "attention", value }
                    })
                    .collect(),
            };
            lines.extend(order.into_iter().map(|i| {
                let kind = match chosen {
                    None => "part",
                    Some(chosen) if chosen == i => "chosen",
                    Some(_) => "output",
                };
                Line { bag, instance: Some(i), machine, kind, value: values[i] }
            }));
            lines.extend(attended);
        }
    }
    lines
}

/// Where the instances are.
struct Coordinates {
    x: Vec<f64>,
    y: Vec<f64>,
}

impl Coordinates {
    fn of(data: &Dataset) -> Result<Coordinates> {
        let column = |names: [&str; 2]| {
            let kept = data.kept.iter().find(|k| names.iter().any(|n| k.name.eq_ignore_ascii_case(n)));
            let Some(kept) = kept else {
                bail!(
                    "{}: there is no kept column '{}', so instances cannot be drawn; keep the coordinates with --keep x,y, or \
                     give them with --coords",
                    data.name,
                    names[0]
                );
            };
            let number = |(row, text): (usize, &String)| match text
                .trim()
                .parse::<f64>()
                .ok()
                .filter(|v| v.is_finite())
            {
                Some(value) => Ok(value),
                None => {
                    let bag = data.bags.bag_of_row(row);
                    let number = data.instance_number(bag, row - data.bags.rows(bag).start);
                    bail!(
                        "{}: '{text}' in column '{}' is not a coordinate (bag '{}', instance {number})",
                        data.name,
                        kept.name,
                        data.bags.ids()[bag]
                    )
                }
            };
            kept.values.iter().enumerate().map(number).collect::<Result<Vec<f64>>>()
        };
        Ok(Coordinates { x: column(["x", "coord1"])?, y: column(["y", "coord2"])? })
    }
}

struct Parts<'a> {
    data: &'a Dataset,
    explained: &'a [Vec<Explained>],
    rows: Vec<Line>,
    coordinates: Option<Coordinates>,
    /// The side of the square of an instance.
    tile: Option<f64>,
    /// The names of kept columns in the output.
    kept_names: Vec<String>,
}

/// The columns of an explanation.
const COLUMNS: &[&str] = &["bag", "instance", "machine", "kind", "value"];
/// What an explanation has itself, in any format.
const OWN: &[&str] =
    &["bag", "instance", "machine", "kind", "value", "predicted", "shared_intercept", "part", "measurements"];

impl Parts<'_> {
    fn explained(&self, line: &Line) -> &Explained {
        &self.explained[line.bag][line.machine]
    }

    /// What people should know of the bias.
    fn note(&self) -> Option<String> {
        let mut all: Vec<f64> = self.explained.iter().flatten().filter_map(|e| e.intercept).collect();
        all.sort_by(f64::total_cmp);
        let (low, high) = (*all.first()?, *all.last()?);
        let value = match low == high {
            true => format!("({low:.4})"),
            false => format!("(from {low:.4} to {high:.4}, by predicted class)"),
        };
        let is_zero = self
            .explained
            .iter()
            .flatten()
            .all(|e| matches!(e.why, Explanation::Additive { bias, .. } if bias == 0.0));
        Some(match is_zero {
            true => format!(
                "the bias is 0 because the intercept of the model {value} is shared among the instances of a bag by weight; it is part \
                 of the values above"
            ),
            false => format!(
                "the part of the intercept {value} that is not in the bias is shared among the instances of a bag by weight; it is part \
                 of the values above"
            ),
        })
    }

    /// Which instance of its bag a line is about.
    fn number(&self, line: &Line) -> Option<usize> {
        line.instance.map(|i| self.data.instance_number(line.bag, i))
    }

    fn kept<'s>(&'s self, line: &'s Line) -> impl Iterator<Item = (&'s String, &'s str)> {
        let row = line.instance.map(|i| self.data.bags.rows(line.bag).start + i);
        let value = move |k: &'s CarriedColumn| row.map_or("", |r| k.values[r].as_str());
        self.kept_names.iter().zip(self.data.kept.iter().map(value))
    }

    fn table(&self, digits: Digits) -> Rows {
        let columns = COLUMNS.iter().map(ToString::to_string);
        let mut rows = Rows::new(columns.chain(self.kept_names.iter().cloned()));
        for line in &self.rows {
            let mut row = vec![
                self.data.bags.ids()[line.bag].clone(),
                self.number(line).map_or(String::new(), |number| number.to_string()),
                self.explained(line).machine.clone(),
                line.kind.into(),
                digits.show(Some(line.value)),
            ];
            row.extend(self.kept(line).map(|(_, value)| value.to_string()));
            rows.push(row);
        }
        rows
    }
}

impl Output for Parts<'_> {
    fn json(&self) -> Result<String> {
        let object = |line: &Line| {
            let mut object = Object::default();
            object.put("bag", &self.data.bags.ids()[line.bag]).put("instance", self.number(line));
            let explained = self.explained(line);
            object.put("machine", &explained.machine).put("kind", line.kind);
            object.put("value", line.value);
            if let Some(predicted) = &explained.predicted {
                object.put("predicted", predicted);
            }
            if let Some(intercept) = explained.intercept.filter(|_| line.kind == "bias") {
                object.put("shared_intercept", intercept);
            }
            self.kept(line).for_each(|(name, value)| {
                object.put(name, value);
            });
            object
        };
        Ok(serde_json::to_string_pretty(&self.rows.iter().map(object).collect::<Vec<_>>())?)
    }

    fn geojson(&self) -> Result<String> {
        let Some(at) = &self.coordinates else { bail!("there are no coordinates") };
        let feature = |line: &&Line| {
            let row = line.instance.map(|i| self.data.bags.rows(line.bag).start + i)?;
            let (x, y) = (at.x[row], at.y[row]);
            let mut geometry = Object::default();
            match self.tile {
                None => geometry.put("type", "Point").put("coordinates", [x, y]),
                Some(side) => {
                    let corners = [(0.0, 0.0), (side, 0.0), (side, side), (0.0, side), (0.0, 0.0)];
                    let ring = corners.map(|(dx, dy)| [x + dx, y + dy]);
                    geometry.put("type", "Polygon").put("coordinates", [ring])
                }
            };
            let explained = self.explained(line);
            let mut properties = Object::default();
            properties.put("bag", &self.data.bags.ids()[line.bag]).put("instance", self.number(line));
            properties.put("machine", &explained.machine).put("kind", line.kind).put("part", line.value);
            if let Some(predicted) = &explained.predicted {
                properties.put("predicted", predicted);
            }
            // Where QuPath looks for numbers.
            let mut measurements = Object::default();
            measurements.put(line.kind, line.value);
            properties.put_object("measurements", measurements);
            self.kept(line).for_each(|(name, value)| {
                properties.put(name, value);
            });
            let mut object = Object::default();
            object.put("type", "Feature").put_object("geometry", geometry);
            object.put_object("properties", properties);
            Some(object)
        };
        let mut object = Object::default();
        object.put("type", "FeatureCollection");
        object.put_list("features", self.rows.iter().filter_map(|line| feature(&line)).collect());
        Ok(serde_json::to_string(&object)?)
    }

    fn csv(&self) -> Rows {
        self.table(Digits::All)
    }

    fn text_rows(&self) -> Rows {
        self.table(Digits::Few(6))
    }
}

/// The instances that stand for training bags.
struct RepresentativesTable<'a> {
    model: &'a Model,
    chosen: Vec<Representative>,
}

impl RepresentativesTable<'_> {
    fn table(&self, digits: Digits) -> Rows {
        let mut rows = Rows::new(["bag", "instance", "machine", "value"]);
        for r in &self.chosen {
            rows.push(vec![
                r.bag.clone(),
                (r.instance + 1).to_string(),
                self.model.machine_name(r.output),
                digits.show(Some(r.value)),
            ]);
        }
        rows
    }
}

impl Output for RepresentativesTable<'_> {
    fn json(&self) -> Result<String> {
        let object = |r: &Representative| {
            let mut object = Object::default();
            object.put("bag", &r.bag).put("instance", r.instance + 1);
            object.put("machine", self.model.machine_name(r.output)).put("value", r.value);
            object
        };
        Ok(serde_json::to_string_pretty(&self.chosen.iter().map(object).collect::<Vec<_>>())?)
    }

    fn csv(&self) -> Rows {
        self.table(Digits::All)
    }

    fn text(&self, _: Style) -> String {
        self.table(Digits::Few(6)).to_string()
    }
}

/// The search that a model came from.
struct Trace<'a> {
    model: &'a Model,
    rounds: Vec<TracedRound>,
}

impl Trace<'_> {
    /// Every round with its number within its machine, from 1.
    fn numbered(&self) -> impl Iterator<Item = (usize, &TracedRound)> {
        let of_machine = |output: usize| self.rounds.iter().position(|r| r.output == output).unwrap_or(0);
        self.rounds.iter().enumerate().map(move |(at, r)| (at - of_machine(r.output) + 1, r))
    }

    fn table(&self, digits: Digits) -> Rows {
        let mut rows = Rows::new(["machine", "round", "objective", "changed", "support_vectors", "ended"]);
        for (number, r) in self.numbered() {
            rows.push(vec![
                self.model.machine_name(r.output),
                number.to_string(),
                digits.show(Some(r.objective)),
                r.changed.to_string(),
                r.support.to_string(),
                r.ended.map_or(String::new(), |e| e.to_string()),
            ]);
        }
        rows
    }
}

impl Output for Trace<'_> {
    fn json(&self) -> Result<String> {
        let object = |(number, r): (usize, &TracedRound)| {
            let mut object = Object::default();
            object.put("machine", self.model.machine_name(r.output)).put("round", number);
            object.put("objective", r.objective).put("changed", r.changed);
            object.put("support_vectors", r.support).put("ended", r.ended.map(|e| e.to_string()));
            object
        };
        Ok(serde_json::to_string_pretty(&self.numbered().map(object).collect::<Vec<_>>())?)
    }

    fn csv(&self) -> Rows {
        self.table(Digits::All)
    }

    fn text(&self, _: Style) -> String {
        self.table(Digits::Few(6)).to_string()
    }
}
