//! `bagwise explain`: which instances decided, exactly.

use std::path::PathBuf;

use anyhow::Result;
use bagwise::Dataset;
use bagwise::method::Explanation;
use bagwise::model::Trained;
use serde_json::{Map, Value, json};

use crate::args::Data;
use crate::output::{Output, Rows};
use crate::session::{Outcome, Session};

/// Say which instances decided
#[derive(clap::Args)]
#[command(after_help = HELP)]
pub(crate) struct Args {
    /// A model that bagwise fit wrote
    #[arg(value_name = "MODEL")]
    model: PathBuf,
    /// A file, a built-in name or a generator; labels are not needed
    #[arg(value_name = "DATA")]
    data: String,
    /// Only the K instances of each bag that speak most for the plus side, in that order
    #[arg(long, value_name = "K")]
    top: Option<usize>,
    #[command(flatten)]
    read: Data,
}

const HELP: &str = "\
A row per bag, instance (counted from 1 within its bag) and machine. Of kind `part`, the value is what the \
instance adds to the decision value; parts and the `bias` add up to it exactly. Of kind `output` it is the \
instance's own decision value, and the bag's is that of the `chosen`. Columns given with --keep come along.

Examples:
  bagwise explain musk1.bagwise musk1 --top 3
  bagwise explain m.bagwise new.csv --bag mol --keep conformer --format csv > parts.csv";

pub(crate) fn run(args: &Args, session: &Session) -> Result<Outcome> {
    let model = Trained::load(&args.model)?;
    let mut options = args.read.read_options();
    options.unlabelled = true;
    let data = session.read(&args.data, &options)?;
    let explanations = model.explain(&data.bags, &session.ctx)?;
    session.print(&Parts { model: &model, data: &data, rows: rows(&explanations, args.top) })?;
    Ok(Outcome::Done)
}

/// One line: bag, instance (none for the bias), machine, kind, value.
struct Line {
    bag: usize,
    instance: Option<usize>,
    machine: usize,
    kind: &'static str,
    value: f64,
}

fn rows(explanations: &[Vec<Explanation>], top: Option<usize>) -> Vec<Line> {
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
                order.sort_by(|&a, &b| values[b].total_cmp(&values[a]));
                order.truncate(top);
            }
            lines.extend(order.into_iter().map(|i| {
                let kind = match chosen {
                    None => "part",
                    Some(chosen) if chosen == i => "chosen",
                    Some(_) => "output",
                };
                Line { bag, instance: Some(i), machine, kind, value: values[i] }
            }));
        }
    }
    lines
}

struct Parts<'a> {
    model: &'a Trained,
    data: &'a Dataset,
    rows: Vec<Line>,
}

impl Parts<'_> {
    fn kept<'s>(&'s self, line: &'s Line) -> impl Iterator<Item = (&'s str, &'s str)> {
        let row = line.instance.map(|i| self.data.bags.rows(line.bag).start + i);
        self.data.kept.iter().map(move |k| (k.name.as_str(), row.map_or("", |r| k.values[r].as_str())))
    }
}

impl Output for Parts<'_> {
    fn json(&self) -> Result<String> {
        let object = |line: &Line| {
            let mut object = Map::new();
            object.insert("bag".into(), json!(self.data.bags.ids()[line.bag]));
            object.insert("instance".into(), json!(line.instance.map(|i| i + 1)));
            object.insert("machine".into(), json!(self.model.machine_name(line.machine)));
            object.insert("kind".into(), json!(line.kind));
            object.insert("value".into(), json!(line.value));
            object.extend(self.kept(line).map(|(name, value)| (name.to_string(), json!(value))));
            Value::Object(object)
        };
        Ok(serde_json::to_string_pretty(&self.rows.iter().map(object).collect::<Vec<_>>())?)
    }

    fn csv(&self) -> Rows {
        let columns = ["bag", "instance", "machine", "kind", "value"].into_iter();
        let mut rows = Rows::new(columns.chain(self.data.kept.iter().map(|k| k.name.as_str())));
        for line in &self.rows {
            let mut row = vec![
                self.data.bags.ids()[line.bag].clone(),
                line.instance.map_or(String::new(), |i| (i + 1).to_string()),
                self.model.machine_name(line.machine),
                line.kind.into(),
                line.value.to_string(),
            ];
            row.extend(self.kept(line).map(|(_, value)| value.to_string()));
            rows.push(row);
        }
        rows
    }
}
