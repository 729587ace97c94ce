//! Engines: the few loops that take all the time, apart from the methods that use them.
//!
//! [`symmetric`], [`rectangular`] and [`self_similarity`] are the pairs engine (see `pairs`): all Grams of
//! weighted set kernels over Gaussian instance kernels in one pass; [`direct`] sums over other instance kernels. `rows` keeps the values of single pairs. [`within`]
//! gives distances inside a bag; [`cells`] finds the nearest of many centres; [`density`] searches for concepts by
//! diverse density; `edge_map` turns sums over pairs of edges into sums over edges.

pub mod cells;
pub mod density;
pub mod direct;
pub mod edge_map;
mod eigen;
mod kernels;
pub mod label_map;
mod layout;
mod pack;
mod pairs;
mod plan;
pub mod rows;
mod simd;
#[cfg(target_arch = "x86_64")]
mod simd_x86;
mod sparse;
#[cfg(test)]
mod tests;
pub mod within;

pub use pairs::{Side, instruction_set, rectangular, self_similarity, symmetric};
pub use plan::GramOutput;
pub use simd::dot;
