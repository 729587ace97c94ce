//! WMKSVM, the weighted matrix kernel: instances in the middle of their bag count more.
//!
//! With `S_i` the sum of squared distances from instance `i` to the others of its bag, its weight is
//! `w_i = (1 / S_i) / sum_j (1 / S_j)`, and `K(X, Y) = sum_{i, j} w_i w_j exp(-gamma |x_i - z_j|^2)`.
//! A bag whose instances are all equal (a singleton among them) has weights `1 / n`.
//!
//! The paper's printed accuracies look like a choice of the best grid cell on the test folds; nested selection
//! gives one to five points less (docs/reproduction.md).

use crate::families::kernel_svm::KernelSvm;
use crate::families::set_kernel::{Norm, Rbf, SetKernel, WIDTH};
use crate::method::Info;
use crate::params::{Kind, Level, ParamSpec, Point};
use crate::preprocess::Scale;
use bagwise_core::{BagRef, Result};
use bagwise_engine::within;

/// The method, for the registry.
pub(crate) static METHOD: KernelSvm<Rbf<Wmksvm>> = KernelSvm(Rbf(Wmksvm));

#[derive(Clone)]
pub(crate) struct Wmksvm;

static INFO: Info = Info {
    name: "wmksvm",
    aliases: &[],
    title: "weighted matrix kernel: instances in the middle of their bag count more",
    about: "K(X, Y) = sum over x in X, z in Y of w(x) w(z) exp(-gamma |x - z|^2), with w proportional to the inverse \
            of the sum of squared distances to the other instances of the bag; a support vector machine learns on \
            the bags.",
    reference: "Xu, Fan, Zheng: Multi-instance learning on inner structure of bags via weighted matrix kernel",
    family: "set kernel + SVM",
    regression: true,
    scale: Scale::MinMax,
    complexity: 30,
    explains: "additive",
};

static PARAMS: &[ParamSpec] = &[
    WIDTH,
    ParamSpec {
        name: "norm",
        help: "Normalisation: none, as printed, or by the self-similarities (sqrt).",
        kind: Kind::Word(&["none", "sqrt"]),
        default: "none",
        grid: "none",
        level: Level::Representation,
        regression_only: false,
    },
    crate::families::svm::COST,
    crate::families::svm::TUBE,
];

impl SetKernel for Wmksvm {
    fn info(&self) -> &'static Info {
        &INFO
    }

    fn params(&self) -> &'static [ParamSpec] {
        PARAMS
    }

    fn weights(&self, points: &[(&Point, f64)], bag: BagRef<'_>) -> Result<Vec<Vec<f64>>> {
        Ok(vec![inverse_spread(bag)?; points.len()])
    }

    fn norm(&self, point: &Point) -> Norm {
        match point.word("norm") {
            "none" => Norm::None,
            _ => Norm::Cosine,
        }
    }
}

fn inverse_spread(bag: BagRef<'_>) -> Result<Vec<f64>> {
    let n = bag.len();
    let squared = within::squared_distances(bag)?;
    let spread: Vec<f64> = (0..n).map(|i| squared.row(i).iter().sum()).collect();
    // Either every sum is positive or the bag is a singleton or all duplicates: distances come from differences.
    if spread.contains(&0.0) {
        return Ok(vec![1.0 / n as f64; n]);
    }
    let total: f64 = spread.iter().map(|s| 1.0 / s).sum();
    Ok(spread.iter().map(|s| 1.0 / s / total).collect())
}
