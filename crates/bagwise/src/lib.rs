//! bagwise: multi-instance learning, fast and honest.
//!
//! A *bag* is a set of instances (the shapes of a molecule, the patches of a slide, the posts of a forum);
//! labels belong to bags. [`Bags`] holds instances row after row with offsets that cut them into bags, a
//! [`Dataset`] adds what is to be predicted.

mod align;
pub mod alternation;
mod bags;
mod calibrate;
mod ctx;
mod dataset;
pub mod engine;
mod error;
pub mod evaluate;
mod familiar;
mod families;
mod gram;
pub mod graph;
pub mod inspect;
pub mod io;
pub mod learn;
mod mat;
pub mod method;
pub mod methods;
pub mod model;
pub mod multiclass;
pub mod params;
pub mod preprocess;
pub mod rng;
mod stored;
pub mod train;

pub use bags::{BagRef, Bags, Feature, FeatureKind, Instances};
pub use ctx::{Ctx, Progress, Silent};
pub use dataset::{Dataset, Groups, Kept, Target};
pub use error::{Error, Place, Result, human_bytes};
pub use gram::{feature_map, gram};
pub use mat::{Csr, Mat};
pub use stored::{RowSource, Stored};

/// The program in the README is compiled and run.
#[cfg(doctest)]
#[doc = include_str!("../../../README.md")]
struct Readme;
