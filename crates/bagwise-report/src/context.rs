//! What a report shows beyond the records: how the run was started, what the data look like, which values grids had,
//! why some bags were answered as they were. Every run writes what it knows as `report.json` beside the records, and
//! `compare` adds what its data say; every part may be missing, and the page then does without.

use std::collections::BTreeMap;

use bagwise::judge::Metric;
use serde::{Deserialize, Serialize};

/// The file's name in the folder of a run.
pub const CONTEXT_FILE: &str = "report.json";

/// What is known of a run besides its records.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Context {
    /// The command as it was typed.
    pub command: String,
    /// The command that fits the winner on all bags.
    pub fit_command: String,
    /// The bagwise that ran.
    pub version: String,
    /// Operating system and processor.
    pub system: String,
    /// Threads it had.
    pub threads: usize,
    /// When it was done, in seconds since 1970.
    pub finished: Option<u64>,
    /// How long the run took; of one that was interrupted, the fits that were there already and the last session.
    pub seconds: Option<f64>,
    /// The metric that decides.
    pub metric: Option<Metric>,
    /// The level of intervals and tests.
    pub level: Option<f64>,
    /// The protocol in words.
    pub protocol: String,
    /// Whether parameters were chosen on the reported folds.
    pub optimistic: bool,
    /// The rule of the threshold; none for 0.
    pub threshold: Option<String>,
    /// The precision of kernel sums.
    pub precision: String,
    /// Methods left out for lack of time.
    pub skipped: Vec<String>,
    /// What the data look like.
    pub data: Option<DataSummary>,
    /// For each method its setup and the values it chose from.
    pub setups: BTreeMap<String, SetupSummary>,
    /// Why the winner answered some bags as it did.
    pub explained: Vec<Explained>,
    /// Similarities of bags under the winner's kernel.
    pub gram: Option<GramPicture>,
    /// What was left out of this file, and why.
    pub notes: Vec<String>,
}

/// What the data look like.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct DataSummary {
    /// The file or name that was given.
    pub source: String,
    /// Instances in all bags.
    pub instances: usize,
    /// Attributes.
    pub attributes: usize,
    /// Instances of the smallest, the middle and the largest bag.
    pub sizes: (f64, f64, f64),
    /// What is suspicious.
    pub findings: Vec<Suspicion>,
    /// What the reader said.
    pub warnings: Vec<String>,
}

/// Something suspicious about the data.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Suspicion {
    /// Worse than worth knowing.
    pub warning: bool,
    /// A fixed word.
    pub kind: String,
    /// What was found.
    pub message: String,
    /// What to do about it.
    pub remedy: String,
}

/// How a method was set up.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct SetupSummary {
    /// Scaling of columns.
    pub scale: String,
    /// Points it chose from.
    pub points: usize,
    /// The values of each parameter, in the order of the grid.
    pub grid: Vec<(String, Vec<String>)>,
}

/// Why a bag got its answer, by a model that had not seen it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Explained {
    /// The bag, a position in the data set.
    pub bag: usize,
    /// The fold that tested it.
    pub fold: usize,
    /// The classes that the machine tells apart, plus side first; empty for real values.
    pub machine: String,
    /// The output.
    pub output: f64,
    /// The part that belongs to no instance; none where one instance decides.
    pub bias: Option<f64>,
    /// Instances (from 0) and their parts or outputs, the most telling first; not always all.
    pub values: Vec<(usize, f64)>,
    /// Instances of the bag.
    pub instances: usize,
    /// What a kept column says of the instances in `values`; empty without one.
    pub kept: Vec<String>,
}

/// A Gram, scaled to similarities: 1 on the diagonal.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct GramPicture {
    /// The method and its parameters.
    pub of: String,
    /// Bags, as positions in the data set, ordered by class.
    pub bags: Vec<usize>,
    /// Similarity 0..1 in steps of 1/255, row after row.
    pub levels: Vec<u8>,
    /// Similarities that level 0 and level 255 stand for.
    pub range: (f64, f64),
}
