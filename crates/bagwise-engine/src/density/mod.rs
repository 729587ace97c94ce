//! Diverse density: how well a point of instance space, with a weight for every attribute, explains the labels of bags
//! as the place that positive bags come near and negative bags avoid.
//!
//! ```text
//! D(x) = sum over k of w_k^2 (h_k - x_k)^2          u(x) = exp(-D(x))
//! log DD(h, w) = sum over positive bags of log(1 - prod (1 - u)) + sum over negative bags of log prod (1 - u)
//! ```
//!
//! and for real values of [0, 1] the sum of `log(1 - |y - max u|)`; the weights of bags multiply their terms. [`search`] climbs it by L-BFGS from every instance of
//! every positive bag ([`Starts`] tells when from fewer), all climbs in one batched evaluation (`batch`): `4 d` multiply-adds per climb, instance and
//! evaluation at about the speed of a matrix product. [`search_em`] is EM-DD: the same climb with one instance per bag,
//! chosen again until nothing is gained. Results do not depend on the number of threads or on which climbs share a
//! batch.
//!
//! Maron, Lozano-Perez: A framework for multiple-instance learning, NIPS 1998; Zhang, Goldman: EM-DD, NIPS 2001.
//! Without the weights the density of z-scored Musk has a single maximum that explains nothing; hence they are the
//! default.

mod batch;
pub mod belief;
mod lbfgs;
mod likelihood;
mod loops;
mod search;
#[cfg(test)]
mod tests;

pub use batch::Batch;
pub use lbfgs::{End, Stop};
pub use likelihood::BagTarget;
pub(crate) use likelihood::first_least;
pub use search::{
    AUTO_EVALUATIONS, ConceptMetric, FoundConcept, SearchOptions, Starts, auto_starts, search, search_em,
};

use std::hash::{Hash, Hasher};

use bagwise_core::{Bags, Ctx, Mat, Result};

/// A place in instance space and what each attribute counts there.
#[derive(Clone, Debug, PartialEq)]
pub struct Concept {
    /// The point h.
    pub point: Vec<f64>,
    /// The weight w of each attribute; its square counts, its sign does not.
    pub weights: Vec<f64>,
}

impl Concept {
    /// The weighted squared distance of an instance, from differences.
    pub fn distance(&self, instance: &[f64]) -> f64 {
        let term = |((h, w), x): ((&f64, &f64), &f64)| (w * (h - x)).powi(2);
        self.point.iter().zip(&self.weights).zip(instance).map(term).sum()
    }
}

/// Bags and what is known of them: what a concept is to explain.
pub struct Evidence {
    rows: Mat,
    offsets: Vec<usize>,
    targets: Vec<BagTarget>,
    /// How often each bag counts.
    weights: Vec<f64>,
}

impl Evidence {
    /// The bags `which`, with a target for each.
    pub fn new(bags: &Bags, which: &[usize], targets: Vec<BagTarget>, ctx: &Ctx) -> Result<Evidence> {
        assert_eq!(which.len(), targets.len(), "a target for each bag");
        let count: usize = which.iter().map(|&b| bags.rows(b).len()).sum();
        ctx.reserve(
            "the instances that concepts are searched among",
            8 * (count * bags.width()) as u64,
            "raise the memory budget, or use fewer bags or columns",
        )?;
        let mut rows = Mat::zeros(count, bags.width());
        let (mut at, mut offsets) = (0, vec![0]);
        for &b in which {
            bags.instances().each_row(bags.rows(b), |_, values| {
                rows.row_mut(at).copy_from_slice(values);
                at += 1;
            })?;
            offsets.push(at);
        }
        let weights = vec![1.0; targets.len()];
        Ok(Evidence { rows, offsets, targets, weights })
    }

    /// The same with a weight for each bag: the power of its likelihood, so that a weight of 2 is the bag twice.
    pub fn with_weights(mut self, weights: &[f64]) -> Evidence {
        assert_eq!(weights.len(), self.targets.len(), "a weight for each bag");
        self.weights = weights.to_vec();
        self
    }

    /// Number of attributes.
    pub fn width(&self) -> usize {
        self.rows.cols()
    }

    /// Instances of all bags.
    pub fn instances(&self) -> &Mat {
        &self.rows
    }

    /// Bag b has the instances `offsets[b]..offsets[b + 1]`.
    pub fn offsets(&self) -> &[usize] {
        &self.offsets
    }

    /// A digest of everything a search looks at, by which the same evidence is known again while a program runs.
    pub fn digest(&self, state: &mut impl Hasher) {
        self.width().hash(state);
        self.offsets.hash(state);
        self.rows.data().iter().for_each(|x| x.to_bits().hash(state));
        for target in &self.targets {
            match target {
                BagTarget::Positive => 1u64.hash(state),
                BagTarget::Negative => 2u64.hash(state),
                BagTarget::Value(y) => (3u64, y.to_bits()).hash(state),
            }
        }
        self.weights.iter().for_each(|w| w.to_bits().hash(state));
    }

    /// What is known of each bag.
    pub fn targets(&self) -> &[BagTarget] {
        &self.targets
    }

    /// Log density of a concept and its gradient by point and weights, from differences: the plain form, which the
    /// batched one is held against.
    pub fn density(&self, concept: &Concept) -> (f64, Vec<f64>, Vec<f64>) {
        let all: Vec<Vec<usize>> = self.offsets.windows(2).map(|w| (w[0]..w[1]).collect()).collect();
        self.density_of(concept, &all)
    }

    /// The same with some instances of each bag only.
    fn density_of(&self, concept: &Concept, chosen: &[Vec<usize>]) -> (f64, Vec<f64>, Vec<f64>) {
        let d = self.width();
        let (mut value, mut by_point, mut by_weight) = (0.0, vec![0.0; d], vec![0.0; d]);
        let (mut distances, mut slopes) = (Vec::new(), Vec::new());
        for ((rows, &target), weight) in chosen.iter().zip(&self.targets).zip(&self.weights) {
            distances.clear();
            distances.extend(rows.iter().map(|&r| concept.distance(self.rows.row(r))));
            slopes.resize(rows.len(), 0.0);
            value += weight * likelihood::of_bag(target, &distances, &mut slopes);
            for (&row, &slope) in rows.iter().zip(&slopes).filter(|(_, s)| **s != 0.0) {
                concept.add_gradient(self.rows.row(row), weight * slope, &mut by_point, &mut by_weight);
            }
        }
        (value, by_point, by_weight)
    }
}

impl Concept {
    /// Adds what an instance with this slope contributes to a gradient by point and weights.
    fn add_gradient(&self, instance: &[f64], slope: f64, by_point: &mut [f64], by_weight: &mut [f64]) {
        for (k, x) in instance.iter().enumerate() {
            let (away, w) = (self.point[k] - x, self.weights[k]);
            by_point[k] += slope * (2.0 * w * w * away);
            by_weight[k] += slope * (2.0 * w * away * away);
        }
    }
}
