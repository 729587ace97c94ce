//! WMKSVM, the weighted matrix kernel SVM: a set kernel in which instances near the centre of their bag count more.
//!
//! With `S_i` the sum of squared distances from instance `i` to the others of its bag, its weight is
//! `w_i = (1 / S_i) / sum_j (1 / S_j)`, and `K(X, Y) = sum_{i, j} w_i w_j k(x_i, z_j)` with the Gaussian
//! `k(x, z) = exp(-gamma |x - z|^2)`, or another `kernel`: the definition, an inner product of weighted matrices of feature
//! vectors, takes any. Weights always come from Euclidean distances. A bag whose instances are all equal (a singleton among them) has weights `1 / n`.
//!
//! The paper's printed accuracies look like a choice of the best grid cell on the test folds; nested selection
//! gives one to five points less (docs/reproduction.md).
//!
//! Xu, Fan, Zheng: Multi-instance learning on inner structure of bags via weighted matrix kernel.

use crate::families::base_kernel::{BaseKernel, DEGREE, KERNEL};
use crate::families::kernel_svm::KernelSvm;
use crate::families::set_kernel::{Norm, SetKernel, WeightedSet, Weights};
use crate::families::svm;
use crate::families::width::WIDTH;
use crate::method::{Capability, Info};
use crate::params::{Kind, ParamSpec, Point};
use bagwise_core::{BagRef, Bags, Ctx, Result};
use bagwise_engine::within;

/// The method, for the registry.
pub(crate) static METHOD: KernelSvm<WeightedSet<Wmksvm>> =
    KernelSvm { info: &INFO, kernel: WeightedSet(Wmksvm) };

#[derive(Clone)]
pub(crate) struct Wmksvm;

static INFO: Info = Info {
    name: "wmksvm",
    title: "weighted matrix kernel SVM: a set kernel in which instances near the centre of their bag count more",
    about: "K(X, Y) = sum over x in X, z in Y of w(x) w(z) exp(-gamma |x - z|^2), with w proportional to the inverse \
            of the sum of squared distances to the other instances of the bag. Other instance kernels can replace \
            the Gaussian. An SVM is trained on the bags.",
    reference: "Xu, Fan, Zheng: Multi-instance learning on inner structure of bags via weighted matrix kernel",
    family: "set kernel + SVM",
    complexity: 30,
    capabilities: &[Capability::Kernel],
    params: PARAMS,
    ..Info::USUAL
};

static PARAMS: &[ParamSpec] = &[
    WIDTH,
    KERNEL,
    DEGREE,
    ParamSpec::new(
        "norm",
        Kind::Word(&["none", "sqrt"]),
        "none",
        "Normalisation: none, as in the paper, or by the self-similarities (sqrt).",
    ),
    svm::COST,
    svm::TUBE,
];

impl SetKernel for Wmksvm {
    type Params = (Norm, BaseKernel);

    fn read(&self, point: &Point) -> Result<(Norm, BaseKernel)> {
        let norm = point.choice("norm", &[("none", Norm::None), ("sqrt", Norm::Cosine)])?;
        Ok((norm, BaseKernel::read(point)?))
    }

    fn norm(&self, params: &(Norm, BaseKernel)) -> Norm {
        params.0
    }

    fn base(&self, params: &(Norm, BaseKernel)) -> BaseKernel {
        params.1
    }

    fn weigh(&self, points: &[((Norm, BaseKernel), f64)], bags: &Bags, ctx: &Ctx) -> Result<Weights> {
        Weights::within(points.len(), bags, ctx, |bag| Ok(vec![inverse_spread(bag)?; points.len()]))
    }

    fn looks_within(&self) -> bool {
        true
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
