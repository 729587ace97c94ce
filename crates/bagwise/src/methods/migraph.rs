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
use crate::families::set_kernel::{Norm, Rbf, SetKernel, WIDTH};
use crate::method::Info;
use crate::params::{Kind, Level, ParamSpec, Point, Value};
use crate::preprocess::Scale;
use bagwise_core::{BagRef, Mat, Result};
use bagwise_engine::within;

/// The method, for the registry.
pub(crate) static METHOD: KernelSvm<Rbf<MiGraph>> = KernelSvm(Rbf(MiGraph));

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
    regression: true,
    scale: Scale::MinMax,
    complexity: 40,
    explains: "additive",
};

static PARAMS: &[ParamSpec] = &[
    WIDTH,
    ParamSpec {
        name: "dist",
        help: "Dissimilarity inside a bag: gauss 1 - k, rkhs sqrt(2 - 2 k), euclid, or sq (squared Euclidean).",
        kind: Kind::Word(&["gauss", "rkhs", "euclid", "sq"]),
        default: "gauss",
        grid: "gauss",
        level: Level::Representation,
        regression_only: false,
    },
    ParamSpec {
        name: "delta",
        help: "Instances closer than this are neighbours: the bag's mean over pairs, over all ordered pairs \
               (mean_all), or a number.",
        kind: Kind::WordOrNumber(&["mean", "mean_all"]),
        default: "mean",
        grid: "mean",
        level: Level::Representation,
        regression_only: false,
    },
    ParamSpec {
        name: "norm",
        help: "Normalisation: by the sums of the weights (eq5), by the self-similarities (sqrt), by the roots of the \
               sums (sqrtsum), or none.",
        kind: Kind::Word(&["eq5", "sqrt", "sqrtsum", "none"]),
        default: "eq5",
        grid: "eq5",
        level: Level::Representation,
        regression_only: false,
    },
    crate::families::svm::COST,
    crate::families::svm::TUBE,
];

impl SetKernel for MiGraph {
    fn info(&self) -> &'static Info {
        &INFO
    }

    fn params(&self) -> &'static [ParamSpec] {
        PARAMS
    }

    fn weights(&self, points: &[(&Point, f64)], bag: BagRef<'_>) -> Result<Vec<Vec<f64>>> {
        let squared = within::squared_distances(bag)?;
        Ok(points.iter().map(|(point, gamma)| clique_weights(&squared, point, *gamma)).collect())
    }

    fn norm(&self, point: &Point) -> Norm {
        match point.word("norm") {
            "eq5" => Norm::Sums,
            "sqrt" => Norm::Cosine,
            "sqrtsum" => Norm::RootSums,
            _ => Norm::None,
        }
    }
}

fn clique_weights(squared: &Mat, point: &Point, gamma: f64) -> Vec<f64> {
    let n = squared.rows();
    let dissimilarity: fn(f64, f64) -> f64 = match point.word("dist") {
        "gauss" => |s, gamma| 1.0 - (-gamma * s).exp(),
        "rkhs" => |s, gamma| (2.0 - 2.0 * (-gamma * s).exp()).sqrt(),
        "euclid" => |s, _| s.sqrt(),
        _ => |s, _| s,
    };
    // Only pairs a < u: half the exponentials, and both ends see the same bits.
    let mut pairs = Vec::with_capacity(n * (n - 1) / 2);
    for a in 0..n {
        pairs.extend(squared.row(a)[a + 1..].iter().map(|&s| dissimilarity(s, gamma)));
    }
    let sum: f64 = pairs.iter().sum();
    let delta = match point.get("delta") {
        Value::Number(delta) => *delta,
        Value::Word(word) if word == "mean_all" => 2.0 * sum / (n * n) as f64,
        _ => sum / pairs.len().max(1) as f64,
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
