//! miFV: a bag becomes its Fisher vector under a mixture of Gaussians, and a linear support vector machine learns on these.
//!
//! Training instances go to the principal axes that have a share `energy` of their variance; there k-means and then
//! expectation and maximisation fit K Gaussians with diagonal covariances. With `z = (x - mu_k) / sqrt(v_k)` and g the posteriors, a
//! bag of m instances has the coordinates `sum g_k z / (m sqrt(w_k))` and `sum g_k (z^2 - 1) / (m sqrt(2 w_k))`: in which
//! direction its instances would move means and deviations. Then signed roots and length 1 (`norm=power`).
//!
//! Wei, Wu, Zhou: Scalable multi-instance learning, ICDM 2014; Scalable algorithms for multi-instance learning, IEEE TNNLS
//! 28, 2017. As in VLFeat there is no gradient by the weights; components that stand for less than one training
//! instance are dropped. The papers' grids of energy and K are ours to fix.

use crate::families::codebook::{CENTRES, CodebookEmbedding, CodebookMap, ENERGY, ITERATIONS, NORM, Summary};
use crate::families::embedding::Embedded;
use crate::families::kernel_svm::KernelSvm;
use crate::families::svm;
use crate::method::{Capability, Info};
use crate::params::ParamSpec;

/// The method, for the registry.
pub(crate) static METHOD: KernelSvm<Embedded<CodebookEmbedding>> = KernelSvm {
    info: &INFO,
    kernel: Embedded(CodebookEmbedding {
        read: |point| CodebookMap::on_axes(point, Summary::Gradients),
        usual: (3.0, true),
        numbers: |centres, width| 2.0 * centres * width as f64,
    }),
};

static INFO: Info = Info {
    name: "mi-fv",
    aliases: &["fisher-vector"],
    title: "Fisher vectors of bags and a linear SVM",
    about: "A Gaussian mixture is fitted to the principal components of the training instances. A bag becomes the gradient of \
            its log likelihood with respect to the means and deviations of the mixture. The gradient is transformed by signed \
            square roots and scaled to length 1, and a linear SVM is trained on these vectors. Time is linear in the \
            number of instances.",
    reference: "Wei, Wu, Zhou: Scalable algorithms for multi-instance learning, IEEE TNNLS 28, 2017",
    family: "embedding + SVM",
    complexity: 25,
    capabilities: &[Capability::Kernel],
    params: PARAMS,
    ..Info::USUAL
};

static PARAMS: &[ParamSpec] = &[
    CENTRES.grid("1,2,3,4,5"),
    ENERGY,
    NORM,
    ITERATIONS,
    // Vectors have length 1.
    ParamSpec { default: "1", grid: "0.1,1,10,100", ..svm::COST },
    svm::TUBE,
];
