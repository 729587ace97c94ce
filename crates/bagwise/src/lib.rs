//! bagwise: multi-instance learning, fast and honest.
//!
//! A *bag* is a set of instances (the shapes of a molecule, the patches of a slide, the posts of a forum);
//! labels belong to bags. [`Bags`] holds instances row after row with offsets that cut them into bags, a
//! [`Dataset`] adds what is to be predicted.

pub mod alternation;
mod calibrate;
mod familiar;
mod families;
pub mod fold;
mod gram;
pub mod graph;
pub mod inspect;
pub mod method;
pub mod methods;
pub mod model;
pub mod multiclass;
pub mod params;
pub mod preprocess;
pub mod run;

pub use bagwise_core::{
    BagRef, Bags, Csr, Ctx, Dataset, Error, Feature, FeatureKind, Groups, Instances, Kept, Mat, Message,
    Place, Precision, Progress, Result, Rng, RowSource, Setting, Silent, Stored, Target, human_bytes,
};
pub use bagwise_engine as engine;
pub use bagwise_io as io;
pub use bagwise_judge as judge;
pub use gram::{feature_map, gram};

/// The program in the README is compiled and run.
#[cfg(doctest)]
#[doc = include_str!("../../../README.md")]
struct Readme;
