//! MI-Kernel: the similarity of two bags is the sum of the similarities of all their instance pairs.
//!
//! `K(X, Y) = sum_{x in X} sum_{z in Y} exp(-gamma |x - z|^2)`, then by `norm`: as it is, divided by the numbers
//! of instances (`mean`), or by the self-similarities (`sqrt`, so that every bag has similarity 1 with itself).
//!
//! Gaertner, Flach, Kowalczyk, Smola: Multi-instance kernels, ICML 2002. On text the cosine form throws away the
//! within-bag similarity that separates the classes, so the default grid has both.

use crate::families::kernel_svm::KernelSvm;
use crate::families::set_kernel::{Norm, Rbf, SetKernel, Weights};
use crate::families::svm;
use crate::families::width::WIDTH;
use crate::method::{Info, Offer};
use crate::params::{Kind, ParamSpec, Point};
use bagwise_core::{Bags, Ctx, Result};

/// The method, for the registry.
pub(crate) static METHOD: KernelSvm<Rbf<MiKernel>> = KernelSvm { info: &INFO, kernel: Rbf(MiKernel) };

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
    complexity: 20,
    offers: &[Offer::Kernel],
    params: PARAMS,
    ..Info::USUAL
};

static PARAMS: &[ParamSpec] = &[
    WIDTH,
    ParamSpec::new(
        "norm",
        Kind::Word(&["none", "mean", "sqrt"]),
        "sqrt",
        "Normalisation: none, by the numbers of instances (mean), or by the self-similarities (sqrt).",
    )
    .grid("mean,sqrt"),
    svm::COST,
    svm::TUBE,
];

impl SetKernel for MiKernel {
    type Params = Norm;

    fn read(&self, point: &Point) -> Result<Norm> {
        point.choice("norm", &[("none", Norm::None), ("mean", Norm::Sums), ("sqrt", Norm::Cosine)])
    }

    fn norm(&self, norm: &Norm) -> Norm {
        *norm
    }

    fn weigh(&self, points: &[(Norm, f64)], bags: &Bags, _: &Ctx) -> Result<Weights> {
        Ok(Weights::equal(points.len(), bags))
    }
}
