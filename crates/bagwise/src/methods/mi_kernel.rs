//! MI-Kernel: the similarity of two bags is the sum of the similarities of all their instance pairs.
//!
//! `K(X, Y) = sum_{x in X} sum_{z in Y} k(x, z)`, then by `norm`: as it is, divided by the numbers of instances (`mean`),
//! or by the self-similarities (`sqrt`, so that every bag has similarity 1 with itself). `k` is the Gaussian
//! `exp(-gamma |x - z|^2)` or another `kernel`; the definition takes any. `distance=text` puts the isolation set-kernel
//! paper's distance for text (its eq 15) into the Gaussian.
//!
//! Gaertner, Flach, Kowalczyk, Smola: Multi-instance kernels, ICML 2002. On text the cosine form throws away the
//! within-bag similarity that separates the classes, so the default grid has both.

use crate::families::base_kernel::{BaseKernel, DEGREE, DISTANCE, KERNEL};
use crate::families::kernel_svm::KernelSvm;
use crate::families::set_kernel::{Norm, SetKernel, WeightedSet, Weights};
use crate::families::svm;
use crate::families::width::WIDTH;
use crate::method::{Capability, Info};
use crate::params::{Kind, ParamSpec, Point};
use bagwise_core::{Bags, Ctx, Result};

/// The method, for the registry.
pub(crate) static METHOD: KernelSvm<WeightedSet<MiKernel>> =
    KernelSvm { info: &INFO, kernel: WeightedSet(MiKernel) };

#[derive(Clone)]
pub(crate) struct MiKernel;

static INFO: Info = Info {
    name: "mi-kernel",
    aliases: &["nsk"],
    title: "set kernel: the sum of the similarities of all pairs of instances",
    about: "K(X, Y) = sum over x in X, z in Y of exp(-gamma |x - z|^2), divided by the numbers of instances \
            (norm=mean) or by the self-similarities (norm=sqrt). Other instance kernels can replace the Gaussian. \
            An SVM is trained on the bags.",
    reference: "Gaertner, Flach, Kowalczyk, Smola: Multi-instance kernels, ICML 2002",
    family: "set kernel + SVM",
    complexity: 20,
    capabilities: &[Capability::Kernel],
    params: PARAMS,
    ..Info::USUAL
};

static PARAMS: &[ParamSpec] = &[
    WIDTH.only_with("kernel", &["rbf"]),
    KERNEL,
    DEGREE,
    DISTANCE,
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
    type Params = (Norm, BaseKernel);

    fn read(&self, point: &Point) -> Result<(Norm, BaseKernel)> {
        let norms = [("none", Norm::None), ("mean", Norm::Sums), ("sqrt", Norm::Cosine)];
        Ok((point.choice("norm", &norms)?, BaseKernel::read(point)?))
    }

    fn norm(&self, params: &(Norm, BaseKernel)) -> Norm {
        params.0
    }

    fn base(&self, params: &(Norm, BaseKernel)) -> BaseKernel {
        params.1
    }

    fn weigh(&self, points: &[((Norm, BaseKernel), f64)], bags: &Bags, _: &Ctx) -> Result<Weights> {
        Ok(Weights::equal(points.len(), bags))
    }
}
