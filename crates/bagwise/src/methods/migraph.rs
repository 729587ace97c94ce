//! miGraph: instances that resemble others of their bag share one vote.
//!
//! Inside a bag two instances are neighbours if their dissimilarity is below `delta`; an instance with `k`
//! neighbours (itself included) weighs `W = 1 / k`, so that a clique counts as one instance. Then
//! `K(X, Y) = sum_{a, b} W_a W_b exp(-gamma |x_a - z_b|^2)`, divided by `sum_a W_a * sum_b W_b` (`norm=eq5`).
//!
//! * `dist`: `gauss` is `1 - exp(-gamma s)`, `rkhs` is `sqrt(2 - 2 exp(-gamma s))`, `euclid` is `sqrt(s)`, `sq` is
//!   `s`, with `s` the squared distance.
//! * `delta`: `mean` is the mean over the unordered pairs of the bag, `mean_all` that over all ordered pairs with
//!   the zeros of the diagonal, else a number. The comparison is strict.
//!
//! Zhou, Sun, Li: Multi-instance learning by treating instances as non-i.i.d. samples, ICML 2009.

use crate::families::kernel_svm::KernelSvm;
use crate::families::set_kernel::{Norm, Rbf, SetKernel, Weights};
use crate::families::svm;
use crate::families::width::WIDTH;
use crate::method::{Info, Offer};
use crate::params::{Kind, ParamSpec, Point};
use bagwise_core::{Bags, Ctx, Mat, Result};
use bagwise_engine::within;

/// The method, for the registry.
pub(crate) static METHOD: KernelSvm<Rbf<MiGraph>> = KernelSvm { info: &INFO, kernel: Rbf(MiGraph) };

#[derive(Clone)]
pub(crate) struct MiGraph;

static INFO: Info = Info {
    name: "migraph",
    aliases: &["migraph-implicit"],
    title: "miGraph: instances that resemble others of their bag share one vote",
    about: "K(X, Y) = sum over a in X, b in Y of W(a) W(b) exp(-gamma |a - b|^2) / (sum of W in X * sum of W in Y), \
            where W(a) is one over the number of instances of the bag closer to a than delta; a support vector \
            machine learns on the bags.",
    reference: "Zhou, Sun, Li: Multi-instance learning by treating instances as non-i.i.d. samples, ICML 2009",
    family: "set kernel + SVM",
    complexity: 40,
    offers: &[Offer::Kernel],
    params: PARAMS,
    ..Info::USUAL
};

static PARAMS: &[ParamSpec] = &[
    WIDTH,
    ParamSpec::new(
        "dist",
        Kind::Word(&["gauss", "rkhs", "euclid", "sq"]),
        "gauss",
        "Dissimilarity inside a bag: gauss 1 - k, rkhs sqrt(2 - 2 k), euclid, or sq (squared \
         Euclidean).",
    ),
    ParamSpec::new(
        "delta",
        Kind::WordOrNumber(&["mean", "mean_all"]),
        "mean",
        "Instances closer than this are neighbours: the bag's mean over pairs, over all ordered pairs \
         (mean_all), or a number.",
    ),
    ParamSpec::new(
        "norm",
        Kind::Word(&["eq5", "sqrt", "sqrtsum", "none"]),
        "eq5",
        "Normalisation: by the sums of the weights (eq5), by the self-similarities (sqrt), by the \
         roots of the sums (sqrtsum), or none.",
    ),
    svm::COST,
    svm::TUBE,
];

/// The dissimilarity of two instances of a bag from their squared distance and the width of the kernel.
type Dissimilarity = fn(f64, f64) -> f64;

/// Below which dissimilarity instances are neighbours.
#[derive(Clone, Copy)]
enum Delta {
    Mean,
    MeanAll,
    Number(f64),
}

#[derive(Clone)]
pub(crate) struct MiGraphParams {
    dissimilarity: Dissimilarity,
    delta: Delta,
    norm: Norm,
}

impl SetKernel for MiGraph {
    type Params = MiGraphParams;

    fn read(&self, point: &Point) -> Result<MiGraphParams> {
        let dissimilarities: [(&str, Dissimilarity); 4] = [
            ("gauss", |s, gamma| 1.0 - (-gamma * s).exp()),
            ("rkhs", |s, gamma| (2.0 - 2.0 * (-gamma * s).exp()).sqrt()),
            ("euclid", |s, _| s.sqrt()),
            ("sq", |s, _| s),
        ];
        let norms =
            [("eq5", Norm::Sums), ("sqrt", Norm::Cosine), ("sqrtsum", Norm::RootSums), ("none", Norm::None)];
        Ok(MiGraphParams {
            dissimilarity: point.choice("dist", &dissimilarities)?,
            delta: match point.number_or_word("delta")? {
                Some(delta) => Delta::Number(delta),
                None => point.choice("delta", &[("mean", Delta::Mean), ("mean_all", Delta::MeanAll)])?,
            },
            norm: point.choice("norm", &norms)?,
        })
    }

    fn norm(&self, params: &MiGraphParams) -> Norm {
        params.norm
    }

    fn weigh(&self, points: &[(MiGraphParams, f64)], bags: &Bags, ctx: &Ctx) -> Result<Weights> {
        Weights::within(points.len(), bags, ctx, |bag| {
            let squared = within::squared_distances(bag)?;
            Ok(points.iter().map(|(params, gamma)| clique_weights(&squared, params, *gamma)).collect())
        })
    }

    fn looks_within(&self) -> bool {
        true
    }
}

fn clique_weights(squared: &Mat, params: &MiGraphParams, gamma: f64) -> Vec<f64> {
    let n = squared.rows();
    // Only pairs a < u: half the exponentials, and both ends see the same bits.
    let mut pairs = Vec::with_capacity(n * (n - 1) / 2);
    for a in 0..n {
        pairs.extend(squared.row(a)[a + 1..].iter().map(|&s| (params.dissimilarity)(s, gamma)));
    }
    let sum: f64 = pairs.iter().sum();
    let delta = match params.delta {
        Delta::Number(delta) => delta,
        Delta::MeanAll => 2.0 * sum / (n * n) as f64,
        Delta::Mean => sum / pairs.len().max(1) as f64,
    };
    let mut neighbours = vec![1.0; n];
    let mut pair = pairs.iter();
    for a in 0..n {
        for u in a + 1..n {
            if *pair.next().expect("one value per pair") < delta {
                neighbours[a] += 1.0;
                neighbours[u] += 1.0;
            }
        }
    }
    neighbours.iter().map(|k| 1.0 / k).collect()
}
