//! MI-Kernel: the similarity of two bags is the sum of the similarities of all their instance pairs.
//!
//! `K(X, Y) = sum_{x in X} sum_{z in Y} exp(-gamma |x - z|^2)`, then by `norm`: as it is, divided by the numbers
//! of instances (`mean`), or by the self-similarities (`sqrt`, so that every bag has similarity 1 with itself).
//!
//! Gaertner, Flach, Kowalczyk, Smola: Multi-instance kernels, ICML 2002. On text the cosine form throws away the
//! within-bag similarity that separates the classes, so the default grid has both.

use crate::families::kernel_svm::KernelSvm;
use crate::families::set_kernel::{Norm, Rbf, SetKernel, WIDTH};
use crate::method::Info;
use crate::params::{Kind, Level, ParamSpec, Point};
use crate::preprocess::Scale;
use bagwise_core::{BagRef, Result};

/// The method, for the registry.
pub(crate) static METHOD: KernelSvm<Rbf<MiKernel>> = KernelSvm(Rbf(MiKernel));

#[derive(Clone)]
pub(crate) struct MiKernel;

static INFO: Info = Info {
    name: "mi-kernel",
    aliases: &["nsk"],
    title: "sum of the similarities of all instance pairs",
    about: "K(X, Y) = sum over x in X, z in Y of exp(-gamma |x - z|^2), divided by the numbers of instances \
            (norm=mean) or by the self-similarities (norm=sqrt); a support vector machine learns on the bags.",
    reference: "Gaertner, Flach, Kowalczyk, Smola: Multi-instance kernels, ICML 2002",
    family: "set kernel + SVM",
    regression: true,
    scale: Scale::MinMax,
    complexity: 20,
    explains: "additive",
};

static PARAMS: &[ParamSpec] = &[
    WIDTH,
    ParamSpec {
        name: "norm",
        help: "Normalisation: none, by the numbers of instances (mean), or by the self-similarities (sqrt).",
        kind: Kind::Word(&["none", "mean", "sqrt"]),
        default: "sqrt",
        grid: "mean,sqrt",
        level: Level::Representation,
        regression_only: false,
    },
    crate::families::svm::COST,
    crate::families::svm::TUBE,
];

impl SetKernel for MiKernel {
    fn info(&self) -> &'static Info {
        &INFO
    }

    fn params(&self) -> &'static [ParamSpec] {
        PARAMS
    }

    fn weights(&self, points: &[(&Point, f64)], bag: BagRef<'_>) -> Result<Vec<Vec<f64>>> {
        Ok(vec![vec![1.0; bag.len()]; points.len()])
    }

    fn looks_within(&self) -> bool {
        false
    }

    fn norm(&self, point: &Point) -> Norm {
        match point.word("norm") {
            "none" => Norm::None,
            "mean" => Norm::Sums,
            _ => Norm::Cosine,
        }
    }
}
