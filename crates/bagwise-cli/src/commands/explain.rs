//! `bagwise explain`: which instances decided, exactly.

use std::path::PathBuf;

use anyhow::{Result, bail};
use bagwise::Dataset;
use bagwise::graph::{GraphFormat, write_graphs};
use bagwise::io::OutputKind;
use bagwise::method::{Explanation, Offer, Representative, TracedRound};
use bagwise::methods;
use bagwise::model::Model;

use crate::args::Data;
use crate::output::{Digits, Object, Output, Paint, Rows, beside};
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
    /// Show only the K instances of each bag that contribute most to the positive class, largest first
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
    /// Instead of explaining new bags, show the rules of the model, in the order in which they were found; with --top only the first K;
    /// for models of mi-boost
    #[arg(long, conflicts_with_all = ["data", "graph", "concepts", "representatives", "trace"])]
    rules: bool,
    /// Show the training bags that vote for each bag, and the pair of instances that makes them near; with --top only the K that
    /// count most; for models of citation-knn
    #[arg(long, conflicts_with_all = ["graph", "concepts", "representatives", "trace", "rules"])]
    votes: bool,
    #[command(flatten)]
    streaming: Streaming,
    #[command(flatten)]
    read: Data,
}

const HELP: &str = "\
There is one row per bag, instance (counted from 1 within its bag) and machine (the binary model of two classes). If the kind is \
`part`, the value is the contribution of the instance to the decision value; the contributions and the `bias` add up to it. \
If the kind is `output`, the value is the decision value of the instance itself, and the bag gets the value of the `chosen` \
instance. If the kind is `attention` (mil-net), it is the share of the network's attention: where it looks, not which way it votes. Columns given with --keep are copied. With --graph, each node has the contribution of its instance to the first machine. \
With --representatives, there is one row per training bag that has a representative, with the output of that instance (counted among \
the sampled instances, if the model was fitted with --max-instances).

With --trace, there is one row per machine and round: the dual objective of the SVM trained in that round (larger is better for the \
same training rows, but these change between rounds), how many choices or labels changed afterwards, the number of support vectors, \
and in the last row how the search ended: converged, in a cycle of N rounds, or at the limit (-p max-iter=N).

With --concepts, explain prints the concepts of a dd, em-dd, dd-svm, mg-ddv or mg-acc model. A concept is a \
point in instance space (`place`, in the units of the data) with a `weight` for every attribute. Weights are in scaled \
units: an instance that differs by 1/weight in one attribute alone has a closeness of exp(-1). `near` is the class \
whose bags are close to the concept, and `belief` is the share of the concept in the model.

With --rules: a row per rule of mi-boost. An instance whose attribute is at or below the `cut` (in the units of the data) adds \
`at_or_below`, any other adds `above`; the decision value of a bag is the mean over its instances of what all rules add.

With --votes: a row per bag and training bag that votes for it (twice if each is among the nearest of the other), with the \
instances that are nearest to each other and what the vote adds to the decision value.

With --stream, the data are read in pieces, and rows are printed as they come, as by bagwise predict.

Examples:
  bagwise explain mi.bagwise musk1 --top 3
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
        session.print(&Standing { model: &model, chosen })?;
        return Ok(Outcome::Done);
    };
    if let Some(path) = &args.graph {
        // Before any work.
        GraphFormat::of(path)?;
        session.check_output(path, OutputKind::Graphs, &[data, &args.model.to_string_lossy()])?;
    }
    let options = args.read.read_options();
    // Graphs and votes are written as a whole.
    if args.votes {
        let data = session.read_for(&model, data, options)?;
        session.print(&super::votes::VoteTable::of(&model, &data, args.top, &session.ctx)?)?;
        return Ok(Outcome::Done);
    }
    let in_pieces = args.graph.is_none() && args.streaming.is_on(data, &options)?;
    let has_attention = methods::find(&model.header.method)?.info().has(Offer::Attention);
    Target::stdout().write(session, |sink| {
        each_piece(&model, data, options, in_pieces, session, |data| {
            let explanations =
                model.explain_with(&data.bags, &session.ctx).map_err(|e| e.of_data(&data.name))?;
            if let Some(path) = &args.graph {
                let graphs = model.graphs(&data.bags, &session.ctx)?;
                write_graphs(path, &data, &graphs, &first_machine(&explanations))?;
                session.say(&format!("wrote {}: the graphs of {} bags", path.display(), graphs.len()));
            }
            let attention = match has_attention {
                // Not every pooling has one.
                true => model.attention(&data.bags, &session.ctx).unwrap_or_default(),
                false => Vec::new(),
            };
            let rows = rows(&explanations, &attention, args.top);
            sink.push(&Parts { model: &model, data: &data, rows })
        })
    })?;
    Ok(Outcome::Done)
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

fn rows(explanations: &[Vec<Explanation>], attention: &[Vec<Vec<f64>>], top: Option<u32>) -> Vec<Line> {
    let mut lines = Vec::new();
    for (bag, machines) in explanations.iter().enumerate() {
        for (machine, explanation) in machines.iter().enumerate() {
            let (values, chosen) = match explanation {
                Explanation::Additive { bias, parts } => {
                    lines.push(Line { bag, instance: None, machine, kind: "bias", value: *bias });
                    (parts, None)
                }
                Explanation::Witness { outputs, chosen } => (outputs, Some(*chosen)),
            };
            let mut order: Vec<usize> = (0..values.len()).collect();
            if let Some(top) = top {
                // The one that decides first, then by size.
                let decides = |i: usize| Some(i) == chosen;
                order.sort_by(|&a, &b| decides(b).cmp(&decides(a)).then(values[b].total_cmp(&values[a])));
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

struct Parts<'a> {
    model: &'a Model,
    data: &'a Dataset,
    rows: Vec<Line>,
}

/// The columns of an explanation.
const OWN: &[&str] = &["bag", "instance", "machine", "kind", "value"];

impl Parts<'_> {
    /// Which instance of its bag a line is about.
    fn number(&self, line: &Line) -> Option<usize> {
        line.instance.map(|i| self.data.instance_number(line.bag, i))
    }

    fn kept<'s>(&'s self, line: &'s Line) -> impl Iterator<Item = (String, &'s str)> {
        let row = line.instance.map(|i| self.data.bags.rows(line.bag).start + i);
        self.data.kept.iter().map(move |k| (beside(&k.name, OWN), row.map_or("", |r| k.values[r].as_str())))
    }

    fn table(&self, digits: Digits) -> Rows {
        let columns = OWN.iter().map(ToString::to_string);
        let mut rows = Rows::new(columns.chain(self.data.kept.iter().map(|k| beside(&k.name, OWN))));
        for line in &self.rows {
            let mut row = vec![
                self.data.bags.ids()[line.bag].clone(),
                self.number(line).map_or(String::new(), |number| number.to_string()),
                self.model.machine_name(line.machine),
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
            object.put("machine", self.model.machine_name(line.machine)).put("kind", line.kind);
            object.put("value", line.value);
            self.kept(line).for_each(|(name, value)| {
                object.put(name, value);
            });
            object
        };
        Ok(serde_json::to_string_pretty(&self.rows.iter().map(object).collect::<Vec<_>>())?)
    }

    fn csv(&self) -> Rows {
        self.table(Digits::All)
    }

    fn text_rows(&self) -> Rows {
        self.table(Digits::Few(6))
    }
}

/// The instances that stand for training bags.
struct Standing<'a> {
    model: &'a Model,
    chosen: Vec<Representative>,
}

impl Standing<'_> {
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

impl Output for Standing<'_> {
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

    fn text(&self, _: Paint) -> String {
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

    fn text(&self, _: Paint) -> String {
        self.table(Digits::Few(6)).to_string()
    }
}
