//! Multi-instance learning, fast and honest.
//!
//! A *bag* is a set of instances: the shapes of a molecule, the patches of a slide, the posts of a forum. Labels belong
//! to bags. bagwise trains models on such data, predicts new bags, shows which instances decided, and compares methods
//! with sound statistics.
//!
//! ```
//! # fn main() -> bagwise::Result<()> {
//! let data = bagwise::read("musk1")?;
//! println!("{}", bagwise::compare(&data).methods(["mi-kernel", "simple-mi"]).run()?);
//! let model = bagwise::method("mi-kernel")?.param("c", [1., 10., 100.]).fit(&data)?;
//! for p in model.predict(&data.bags)? {
//!     println!("{} {:?} {:.2}", p.bag, p.label, p.score());
//! }
//! # let folder = tempfile::tempdir().unwrap();
//! # let file = folder.path().join("m.bagwise");
//! model.save(&file)
//! # }
//! ```
//!
//! | to | call |
//! |---|---|
//! | read a file, a folder, a built-in set or a generator | [`read`]; [`io::read`] with options |
//! | make bags of arrays | [`Bags::new`], [`Dataset::new`] |
//! | see what is suspicious about data | [`inspect::inspect`] |
//! | name a method and its parameters | [`method()`], [`MethodConfig`] |
//! | learn from all bags | [`fit()`], [`MethodConfig::fit`] |
//! | use a model | [`Model::predict`], [`Model::explain`], [`Model::save`], [`Model::load`] |
//! | estimate how good a method is on new bags | [`evaluate()`] |
//! | compare methods on the same folds | [`compare`] |
//! | use kernels elsewhere | [`gram()`], [`feature_map`] |
//!
//! Everything random follows from a seed, and results are the same on any number of threads. A run that was stopped goes
//! on where it was when the same call is made again. Methods are listed in [`methods::METHODS`]; what a new one must do
//! is in [`mod@method`].

mod alternation;
mod calibrate;
mod config;
pub mod datasets;
mod evaluate;
mod familiar;
mod families;
mod fit;
pub mod fold;
mod gram;
pub mod graph;
pub mod inspect;
pub mod method;
pub mod methods;
pub mod model;
pub mod multiclass;
pub mod params;
pub mod plan;
pub mod preprocess;
pub mod run;
mod shard;
mod state;

pub use bagwise_core::{
    BagRef, Bags, CarriedColumn, Clock, Csr, Ctx, Dataset, Error, Feature, FeatureKind, Groups, Instances,
    Mat, Message, NoProgress, Place, Precision, Progress, Result, Rng, RowSource, RunProgress, Setting,
    Stored, SystemClock, Target, count, human_bytes, may_be_measurements, undecided_target,
};
pub use bagwise_engine::check_instruction_set;
pub use bagwise_io as io;
pub use bagwise_judge as judge;
pub use config::{ALL, AUTO, BASELINE, BASELINES, INNER_FOLDS, MethodConfig, ParamText};
pub use evaluate::{
    Evaluate, Evaluation, Event, LEVEL, calibration_line, labelled_like, unknown_label, validate,
};
pub use fit::{Fit, ResolvedFit};
pub use gram::{feature_map, gram, gram_part, join_grams, open_part, seal_part, shard_rows};
pub use model::{Model, Prediction};
pub use plan::TimePlan;
pub use run::{RecordLocation, Shard};

/// What most programs need: `use bagwise::prelude::*`.
pub mod prelude {
    pub use crate::judge::{Metric, ProtocolName, Threshold};
    pub use crate::preprocess::Scale;
    pub use crate::{Bags, Dataset, MethodConfig, Model, Target, compare, evaluate, fit, method, read};
}

/// What benchmarks, tests and the curious may look at, and what may change in any version: the engines, and the searches
/// of alternating methods round by round.
pub mod unstable {
    pub use crate::alternation::{AlternationStep, Trajectory, follow};
    pub use bagwise_engine as engine;
}

/// Reads a data set: a path, a built-in name such as `musk1`, or a generator such as `synthetic:gauss?bags=200`. Columns
/// `bag`, `label` and `group` are found by name; [`io::read`] takes options.
pub fn read(name: impl AsRef<std::path::Path>) -> Result<Dataset> {
    io::read(&name.as_ref().to_string_lossy(), &io::ReadOptions::default())
}

/// A method by name or alias, or `auto`, to be configured; [`methods::METHODS`] lists them.
pub fn method(name: &str) -> Result<MethodConfig> {
    if name != AUTO && name != ALL {
        methods::find(name)?;
    }
    Ok(MethodConfig::new(name))
}

/// Learns from all bags: by the simplest method within one standard error of the best, unless one is named. Methods that
/// take too long on a machine of nominal speed are not tried ([`TimePlan`]).
pub fn fit(data: &Dataset) -> Fit<'_> {
    Fit::new(data)
}

/// Estimates how good a method is on new bags: nested cross-validation unless it is said otherwise.
pub fn evaluate<'a>(data: &'a Dataset, method: impl Into<MethodConfig>) -> Evaluate<'a> {
    Evaluate::new(data).methods([method]).one()
}

/// Compares methods on the same folds, always with the baselines: those that are named, or all that end within ten minutes on a
/// machine of nominal speed ([`TimePlan`]).
pub fn compare(data: &Dataset) -> Evaluate<'_> {
    Evaluate::new(data).baselines(true)
}

/// The program in the README is compiled and run.
#[cfg(doctest)]
#[doc = include_str!("../../../README.md")]
struct Readme;
