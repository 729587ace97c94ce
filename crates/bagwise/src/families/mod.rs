//! Families: each adapter turns the page that a method's author writes into the full [`Method`](crate::method::Method).

pub(crate) mod alternating;
pub(crate) mod base_kernel;
pub(crate) mod best_concept;
pub(crate) mod codebook;
pub(crate) mod concepts;
pub(crate) mod edge_sums;
pub(crate) mod edges;
pub(crate) mod embedding;
pub(crate) mod kernel_svm;
pub(crate) mod least_squares;
pub(crate) mod logistic;
pub(crate) mod many_machines;
pub(crate) mod map_digest;
pub(crate) mod map_svm;
pub(crate) mod map_view;
pub(crate) mod marginal;
pub(crate) mod nearest_bags;
pub(crate) mod saved_cells;
pub(crate) mod set_kernel;
pub(crate) mod stumps;
pub(crate) mod svm;
pub(crate) mod trees;
pub(crate) mod width;

/// The rows to compute of a Gram matrix of this many bags.
pub(crate) fn wanted_rows(scope: &crate::method::Scope<'_>, bags: usize) -> std::ops::Range<usize> {
    scope.rows.map_or(0..bags, |(from, to)| from..to)
}
