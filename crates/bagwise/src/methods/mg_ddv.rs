//! MG-DDV: a marginalized kernel whose concepts are believed by their diverse density (for real values by the extended
//! density). The kernel, its cost and where we differ are in `families::marginal`.
//!
//! Kwok, Cheung: Marginalized multi-instance kernels, IJCAI 2007.

use crate::families::kernel_svm::KernelSvm;
use crate::families::marginal::{Belief, Marginalized, USUAL};
use crate::families::set_kernel::WeightedSet;
use crate::method::Info;

/// The method, for the registry.
pub(crate) static METHOD: KernelSvm<WeightedSet<Marginalized>> =
    KernelSvm { info: &INFO, kernel: WeightedSet(Marginalized(Belief::Density)) };

static INFO: Info = Info {
    name: "mg-ddv",
    title: "set kernel in which pairs of instances with similar predicted labels count more; concepts weighted by \
        density",
    about: "K(X, Y) = sum over x in X, z in Y of exp(-gamma |x - z|^2) [p(x) p(z) + (1 - p(x)) (1 - p(z))], divided by \
            the self-similarities; p is the probability that an instance is positive, averaged over concepts found by \
            diverse density, each weighted by its density. For regression, the bracket is the expected similarity \
            of two labels. Concepts are learned separately in every fold and for every class.",
    complexity: 60,
    ..USUAL
};
