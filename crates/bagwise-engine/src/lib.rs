//! Engines: the few loops that take all the time, apart from the methods that use them.
//!
//! [`symmetric`], [`rectangular`] and [`self_similarity`] are the pairs engine (see `pairs`): all Grams of
//! weighted set kernels over Gaussian instance kernels in one pass; [`direct`] sums over other instance kernels. `rows` keeps the values of single pairs. [`within`]
//! gives distances inside a bag, [`bag_distances`] those between bags, [`bag_summaries`] and
//! [`transport`] other summaries of them, [`minima`] the nearest instance of a bag to many
//! places; [`cells`] finds the nearest of many centres; [`density`] searches for concepts by diverse density; [`axes`],
//! [`clusters`] and [`mixture`] are PCA, k-means and Gaussian mixtures; `edge_map` turns sums over pairs of edges into sums
//! over edges; [`scatter`] sums outer products; [`network`] passes bags through networks and back.

pub mod axes;
pub mod bag_distances;
pub mod bag_summaries;
pub mod cells;
pub mod clusters;
pub mod density;
pub mod direct;
pub mod edge_map;
mod eigen;
pub mod entropic;
mod kernels;
pub mod label_map;
mod layout;
pub mod minima;
pub mod mixture;
pub mod network;
mod pack;
mod pairs;
mod plan;
mod products;
pub mod rows;
pub mod scatter;
mod simd;
#[cfg(target_arch = "x86_64")]
mod simd_x86;
mod source;
mod sparse;
#[cfg(test)]
mod tests;
pub mod transport;
mod tridiagonal;
pub mod within;

pub use pairs::{Side, instruction_set, rectangular, self_similarity, symmetric, symmetric_rows};
pub use plan::GramOutput;
pub use products::{add_row_products, add_weighted_rows, row_products};
pub use simd::{check_instruction_set, dot};
pub use tridiagonal::least_eigenvalue;
