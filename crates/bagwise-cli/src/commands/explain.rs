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

/// Say which instances decided
#[derive(clap::Args)]
#[command(after_help = HELP)]
pub(crate) struct Args {
    /// A model that bagwise fit wrote
    #[arg(value_name = "MODEL")]
    model: PathBuf,
    /// A file, a built-in name or a generator; labels are not needed
    #[arg(value_name = "DATA", required_unless_present_any = ["representatives", "concepts", "trace"])]
    data: Option<String>,
    /// Instead of explaining new bags, name the instances that stand for the training bags; for models of mirsvm and
    /// mi-svm-bag
    #[arg(long, conflicts_with_all = ["data", "top", "graph", "concepts"])]
    representatives: bool,
    /// Instead of explaining new bags, show the search that the model came from, round by round; for models of mirsvm,
    /// mi-svm, mi-svm-bag and sil
    #[arg(long, conflicts_with_all = ["data", "top", "graph", "concepts", "representatives"])]
    trace: bool,
    /// Only the K instances of each bag that speak most for the plus side, in that order
    #[arg(long, value_name = "K", value_parser = clap::value_parser!(u32).range(1..))]
    top: Option<u32>,
    /// Write the graphs of the bags to a file as well: GraphML (.graphml) or Graphviz (.dot, .gv); for models of
    /// migraph-explicit
    #[arg(long, value_name = "FILE")]
    graph: Option<PathBuf>,
    /// Instead of explaining new bags, show the concepts of the model: a row for each attribute, those that count most first; with --top only
    /// the first K of each concept
    #[arg(long, conflicts_with_all = ["data", "graph"])]
    concepts: bool,
    #[command(flatten)]
    read: Data,
}

const HELP: &str = "\
A row per bag, instance (counted from 1 within its bag) and machine. Of kind `part`, the value is what the \
instance adds to the decision value; parts and the `bias` add up to it exactly. Of kind `output` it is the \
instance's own decision value, and the bag's is that of the `chosen`. Of kind `attention` (mil-net) it is the share of the \
network's attention: where it looks, not which way it votes. Columns given with --keep come along. \
With --graph, nodes carry the part that the instance adds to the first machine's value. With --representatives, a row \
per training bag that has one, with the output of the instance (counted among those drawn, if the model was fitted with \
--max-instances).

With --trace, a row per machine and round: the dual objective of the SVM trained in that round (larger is better for these \
rows, but the rows change), how many bags or instances were chosen or labelled differently afterwards, the number of support vectors, \
and in the last round how the search ended: converged, in a cycle of so many rounds, or at the limit (-p max-iter=N).

With --concepts: what a model of dd, em-dd, dd-svm, mg-ddv or mg-acc has learned before it looks at bags. A concept is a \
place in instance space (`place` in the units of the data) and the `weight` of every attribute there (in scaled \
units: an instance that is 1/weight scaled units away in this attribute alone is near by exp(-1)); `near` is the class \
whose bags come near it, `belief` its share.

Examples:
  bagwise explain mi.bagwise musk1 --top 3
  bagwise explain mi.bagwise musk1 --format csv > parts.csv";

pub(crate) fn run(args: &Args, session: &Session) -> Result<Outcome> {
    let model = Model::load(&args.model)?;
    if args.concepts {
        session.print(&super::concepts::Concepts::of(&model, args.top)?)?;
        return Ok(Outcome::Done);
    }
    if args.trace {
        let rounds = model.trace();
        if rounds.is_empty() {
            bail!("{} does not search in rounds; mirsvm, mi-svm, mi-svm-bag and sil do", model.header.method);
        }
        session.print(&Trace { model: &model, rounds })?;
        return Ok(Outcome::Done);
    }
    let Some(data) = &args.data else {
        let chosen = model.representatives();
        if chosen.is_empty() {
            bail!("{} chooses no instances to stand for bags; mirsvm and mi-svm-bag do", model.header.method);
        }
        session.print(&Standing { model: &model, chosen })?;
        return Ok(Outcome::Done);
    };
    if let Some(path) = &args.graph {
        // Before any work.
        GraphFormat::of(path)?;
        session.check_output(path, OutputKind::Graphs, &[data, &args.model.to_string_lossy()])?;
    }
    let data = session.read_for(&model, data, args.read.read_options())?;
    let explanations = model.explain_with(&data.bags, &session.ctx).map_err(|e| e.of_data(&data.name))?;
    if let Some(path) = &args.graph {
        let graphs = model.graphs(&data.bags, &session.ctx)?;
        write_graphs(path, &data, &graphs, &first_machine(&explanations))?;
        session.say(&format!("wrote {}: the graphs of {} bags", path.display(), graphs.len()));
    }
    let attention = match methods::find(&model.header.method)?.info().has(Offer::Attention) {
        // Not every pooling has one.
        true => model.attention(&data.bags, &session.ctx).unwrap_or_default(),
        false => Vec::new(),
    };
    let rows = rows(&explanations, &attention, args.top);
    session.print(&Parts { model: &model, data: &data, rows })?;
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

    fn text(&self, _: Paint) -> String {
        self.table(Digits::Few(6)).to_string()
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
