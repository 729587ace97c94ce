//! Bag of words (kmeans-SVM): a bag becomes the shares of its instances in the groups of a codebook, and a linear support
//! vector machine learns on these.
//!
//! `q_k` is the share of the bag's instances whose nearest of `centres` centres is k (`assign=hard`), or the mean posterior of
//! component k of a mixture of Gaussians, fitted on the principal axes that have 9/10 of the variance (`assign=soft`).
//! Coordinates are `q_k^power` (0 stays 0; power 0 says whether anything is there), divided by their length. With `assign=soft`
//! and a power below 1 this is the kernel of PPMM. A part is `u_k q_k^power / |q^power|`, shared by the instances of group k.
//!
//! Csurka, Dance, Fan, Willamowski, Bray: Visual categorization with bags of keypoints, 2004. PPMM: Wang, Yang, Zha, ICML 2008;
//! its choice of the power by kernel-target alignment is not offered: `power` is tuned by inner folds like any parameter.

use crate::families::codebook::{
    CENTRES, CodebookEmbedding, CodebookMap, CodebookParams, Summary, USUAL_ITERATIONS, VectorNorm,
};
use crate::families::embedding::Embedded;
use crate::families::kernel_svm::KernelSvm;
use crate::families::svm;
use crate::method::{Capability, Info};
use crate::params::{Kind, ParamSpec, Point};
use bagwise_core::Result;

/// The method, for the registry.
pub(crate) static METHOD: KernelSvm<Embedded<CodebookEmbedding>> = KernelSvm {
    info: &INFO,
    // Axes belong to assign=soft, which is not the default; the memory they take is counted all the same.
    kernel: Embedded(CodebookEmbedding { read, usual: (100.0, true), numbers: |centres, _| centres }),
};

static INFO: Info = Info {
    name: "bow",
    aliases: &["kmeans-svm"],
    title: "histograms of instances over k-means clusters and a linear SVM",
    about: "k-means clusters the training instances. A bag becomes the histogram of its instances over the clusters (or, with \
            assign=soft, their mean posteriors under a Gaussian mixture), each share raised to a power, scaled to length 1. A \
            linear SVM is trained on these vectors. Time is linear in the number of instances.",
    reference: "Csurka, Dance, Fan, Willamowski, Bray: Visual categorization with bags of keypoints, 2004",
    family: "embedding + SVM",
    complexity: 20,
    capabilities: &[Capability::Kernel],
    params: PARAMS,
    ..Info::USUAL
};

static PARAMS: &[ParamSpec] = &[
    ParamSpec {
        default: "64",
        grid: "16,32,64,128,256",
        help: "Number of clusters of training instances; fewer if there are fewer distinct instances. Values above the \
               number of training instances are dropped from a list.",
        ..CENTRES
    },
    ParamSpec::new(
        "assign",
        Kind::Word(&["hard", "soft"]),
        "hard",
        "hard counts an instance in the cluster of its nearest centre; soft in all components of a Gaussian mixture, by \
         their posteriors.",
    ),
    ParamSpec::new(
        "power",
        Kind::Fraction,
        "1",
        "Exponent of the shares: 1 leaves them unchanged, 1/2 takes square roots, 0 keeps only whether a cluster is present.",
    ),
    ParamSpec { default: "10", grid: "0.1,1,10,100", ..svm::COST },
    svm::TUBE,
];

/// The share of the variance that axes keep for `assign=soft`.
const SOFT_ENERGY: (u32, u32) = (9, 10);

fn read(point: &Point) -> Result<CodebookMap> {
    let soft = point.choice("assign", &[("hard", false), ("soft", true)])?;
    let (numerator, denominator) = point.fraction("power")?;
    let params = CodebookParams {
        centres: point.number(CENTRES.name)? as usize,
        energy: soft.then_some(SOFT_ENERGY),
        mixture: soft,
        iterations: USUAL_ITERATIONS,
    };
    let norm = VectorNorm::Power(f64::from(numerator) / f64::from(denominator));
    Ok(CodebookMap { params, summary: Summary::Shares, norm, learned: None })
}
