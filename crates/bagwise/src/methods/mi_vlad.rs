//! miVLAD: a bag becomes the sums of its instances' differences from their nearest centres, and a linear support vector machine
//! learns on these.
//!
//! Training instances go to the principal axes that have a share `energy` of their variance, and k-means divides them there.
//! Block k of a bag's vector is `sum over x with nearest centre k of x - c_k`. Then signed roots and length 1 (`norm=power`).
//!
//! Wei, Wu, Zhou: Scalable multi-instance learning, ICDM 2014; Scalable algorithms for multi-instance learning, IEEE TNNLS
//! 28, 2017. The papers' grids of energy and K are ours to fix.

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
        read: |point| CodebookMap::on_axes(point, Summary::Differences),
        usual: (5.0, true),
        numbers: |centres, width| centres * width as f64,
    }),
};

static INFO: Info = Info {
    name: "mi-vlad",
    aliases: &["vlad"],
    title: "sums of differences from nearest centres and a linear SVM",
    about: "k-means clusters the principal components of the training instances. A bag becomes, for each centre, the sum of \
            the differences between the instances nearest to it and the centre. The sums are transformed by signed square roots \
            and scaled to length 1, and a linear SVM is trained on these vectors. Time is linear in the number of \
            instances.",
    reference: "Wei, Wu, Zhou: Scalable algorithms for multi-instance learning, IEEE TNNLS 28, 2017",
    family: "embedding + SVM",
    complexity: 24,
    capabilities: &[Capability::Kernel],
    params: PARAMS,
    ..Info::USUAL
};

static PARAMS: &[ParamSpec] = &[
    CENTRES.grid("1,2,5,10"),
    ENERGY,
    NORM,
    ITERATIONS,
    // Vectors have length 1.
    ParamSpec { default: "1", grid: "0.1,1,10,100", ..svm::COST },
    svm::TUBE,
];
