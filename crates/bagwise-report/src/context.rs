//! What a report shows beyond the records: how the run was started, what the data look like, which values grids had, how
//! instances are called, a picture of the winner's kernel. Every run writes it as `report.json` beside the records, so that
//! the page can be drawn without the data; every part may be missing, and the page then does without.

use std::collections::BTreeMap;

use bagwise::judge::Metric;
use bagwise::run::GramPicture;
use serde::{Deserialize, Serialize};

/// What is known of a run besides its records.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Context {
    /// The command as it was typed.
    pub command: String,
    /// The command that fits the method to take on all bags.
    pub fit_command: String,
    /// The method that it fits; empty if that is not known.
    pub fit_method: String,
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
    /// Methods that had part of their grid for lack of time, with the points they had and those of the grid.
    pub thinned: Vec<(String, usize, usize)>,
    /// Methods that took part in the last run; empty if that is not known. The folder keeps the records of others.
    pub methods: Vec<String>,
    /// What the data look like.
    pub data: Option<DataSummary>,
    /// For each method its setup and the values it chose from.
    pub setups: BTreeMap<String, SetupSummary>,
    /// Names of instances that decided, if a column was kept.
    pub kept: Option<KeptColumn>,
    /// Similarities of bags under the winner's kernel.
    pub gram: Option<GramPicture>,
    /// The saved model that was judged, if one was.
    pub model: Option<ModelSource>,
    /// How often its sets or intervals contain the true value, for each requested coverage; empty if it has none.
    pub coverage: Vec<CoverageSummary>,
    /// What calls the results of a saved model into question: it knows the bags or groups, or has never seen any like them.
    pub remarks: Vec<String>,
    /// What was left out of this file, and why.
    pub notes: Vec<String>,
}

/// A saved model that was judged by bags from elsewhere, and where it comes from.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct ModelSource {
    /// The file.
    pub file: String,
    /// What it was trained on.
    pub data: String,
    /// Bags that it was trained on.
    pub bags: usize,
    /// Groups of these bags, if there were groups.
    pub groups: Option<usize>,
    /// The fingerprint of the training data.
    pub fingerprint: String,
    /// The metric of the estimate.
    pub metric: String,
    /// What was estimated when it was fitted, on bags that were left out of tuning; nothing without such folds.
    pub estimate: Option<f64>,
    /// Its parameters, in words.
    pub parameters: String,
    /// Whether it is judged by the bags that it was trained on.
    pub saw_these_bags: bool,
}

/// The observed result for one requested coverage.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct CoverageSummary {
    /// The requested coverage.
    pub coverage: f64,
    /// The fraction of bags whose set or interval contains the true value; with groups, the mean over groups.
    pub held: f64,
    /// Its interval, for the luck of the bags or groups.
    pub interval: Option<(f64, f64)>,
    /// Groups, if they count instead of bags.
    pub groups: Option<usize>,
    /// Mean number of classes, or mean length.
    pub size: f64,
    /// The share of sets with one class; nothing for numbers.
    pub single: Option<f64>,
    /// The share of sets without any.
    pub empty: Option<f64>,
    /// By class the share of its bags that was held; nothing for a class without bags.
    pub classes: Vec<(String, Option<f64>)>,
    /// What is promised, in a sentence.
    pub promise: String,
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

/// What a kept column says of the instances that the page names.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct KeptColumn {
    /// The column.
    pub name: String,
    /// By bag, a position in the data set, and instance, numbered from 0 as in the file.
    pub values: BTreeMap<usize, BTreeMap<usize, String>>,
}
