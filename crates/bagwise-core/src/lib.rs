//! What every part of bagwise shares: [`Bags`] and [`Dataset`], matrices, the one error type, seeded random streams,
//! and the context of a long computation. It imports no other bagwise crate; users depend on `bagwise`, which
//! re-exports what they need.

mod align;
#[cfg(feature = "ndarray")]
mod arrays;
mod bags;
pub mod checksum;
mod ctx;
mod dataset;
mod duplicates;
mod error;
pub mod files;
mod held;
mod mat;
mod message;
mod rng;
pub mod sizes;
mod stored;
mod target;

pub use align::{columns_of, mostly_absent, numbered};
pub use bags::{BagRef, Bags, Feature, FeatureKind, Instances};
pub use ctx::{Clock, Ctx, NoProgress, Precision, Progress, RunProgress, SharedResults, SystemClock};
pub use dataset::{CarriedColumn, Dataset, Groups, UnusedColumn};
pub use duplicates::{Duplicates, bag_digests, copied_bags, duplicates, repeats_of_earlier};
pub use error::{Error, Place, Result, human_bytes, is_same_name};
pub use held::in_blocks;
pub use mat::{Csr, Mat};
pub use message::{Message, Setting, Wording, count};
pub use rng::{Rng, absorb, noise};
pub use stored::{Affine, RowSource, Stored};
pub use target::{
    Target, coded_like, may_be_measurements, one_class, one_spelling, sort_names, undecided_target,
};
