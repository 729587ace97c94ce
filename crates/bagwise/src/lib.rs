//! bagwise: multi-instance learning, fast and honest.
//!
//! A *bag* is a set of instances (the shapes of a molecule, the patches of a slide, the posts of a forum);
//! labels belong to bags. [`Bags`] holds instances row after row with offsets that cut them into bags, a
//! [`Dataset`] adds what is to be predicted.

mod align;
mod bags;
mod ctx;
mod dataset;
mod error;
pub mod inspect;
pub mod io;
mod mat;
pub mod rng;

pub use bags::{BagRef, Bags, Feature, FeatureKind, Instances};
pub use ctx::{Ctx, Progress, Silent};
pub use dataset::{Dataset, Groups, Kept, Target};
pub use error::{Error, Place, Result, human_bytes};
pub use mat::{Csr, Mat};
