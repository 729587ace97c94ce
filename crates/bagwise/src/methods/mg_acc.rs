//! MG-ACC: a marginalized kernel whose concepts are believed in proportion to the training bags they classify correctly
//! (for real values by how far their squared error lies below the largest). The kernel, its cost and where we differ are
//! in `families::marginal`.
//!
//! Kwok, Cheung: Marginalized multi-instance kernels, IJCAI 2007, equations 11 and 17.

use crate::families::kernel_svm::KernelSvm;
use crate::families::marginal::{Belief, Marginalized, USUAL};
use crate::families::set_kernel::WeightedSet;
use crate::method::Info;

/// The method, for the registry.
pub(crate) static METHOD: KernelSvm<WeightedSet<Marginalized>> =
    KernelSvm { info: &INFO, kernel: WeightedSet(Marginalized(Belief::Accuracy)) };

static INFO: Info = Info {
    name: "mg-acc",
    title: "set kernel in which pairs of instances with similar predicted labels count more; concepts weighted by \
        accuracy",
    about: "The kernel of mg-ddv with concepts weighted by the number of training bags they classify correctly (a bag \
            counts as positive if exp(-D) is at least 1/2 for one of its instances), or, for regression, by how \
            much smaller their squared error is than the largest. Unlike in mg-ddv, a single concept of high density \
            cannot dominate.",
    complexity: 61,
    ..USUAL
};
