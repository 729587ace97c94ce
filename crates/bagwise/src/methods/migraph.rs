//! miGraph: a set kernel in which similar instances of a bag share one vote.
//!
//! Inside a bag two instances are neighbours if their dissimilarity is below `delta`; an instance with `k`
//! neighbours (itself included) weighs `W = 1 / k`, so that a clique counts as one instance. Then
//! `K(X, Y) = sum_{a, b} W_a W_b k(x_a, z_b)`, divided by `sum_a W_a * sum_b W_b` (`norm=eq5`), with the Gaussian
//! `k(x, z) = exp(-gamma |x - z|^2)` or another `kernel`: eq 5 takes any.
//!
//! * `dist`: `gauss` is `1 - exp(-gamma s)`, `euclid` is `sqrt(s)`, `sq` is `s`, with `s` the squared distance; `rkhs` is the
//!   distance in the feature space of the kernel, `sqrt(k(x, x) + k(z, z) - 2 k(x, z))`. Only `rkhs` depends on `kernel`.
//! * `distance=text` takes the isolation set-kernel paper's distance for text (its eq 15) for `s`, in the kernel and in bags.
//! * `delta`: `mean` is the mean over the unordered pairs of the bag, `mean_all` that over all ordered pairs with
//!   the zeros of the diagonal, else a number. The comparison is strict.
//!
//! Zhou, Sun, Li: Multi-instance learning by treating instances as non-i.i.d. samples, ICML 2009.

use crate::families::base_kernel::{BaseKernel, DEGREE, DISTANCE, KERNEL};
use crate::families::kernel_svm::KernelSvm;
use crate::families::set_kernel::{Norm, SetKernel, WeightedSet, Weights};
use crate::families::svm;
use crate::families::width::WIDTH;
use crate::method::{Capability, Info};
use crate::params::{Kind, ParamSpec, Point};
use bagwise_core::{Bags, Ctx, Mat, Result};
use bagwise_engine::cells::Distance;
use bagwise_engine::within;

/// The method, for the registry.
pub(crate) static METHOD: KernelSvm<WeightedSet<MiGraph>> =
    KernelSvm { info: &INFO, kernel: WeightedSet(MiGraph) };

#[derive(Clone)]
pub(crate) struct MiGraph;

static INFO: Info = Info {
    name: "migraph",
    aliases: &["miGraph", "migraph-implicit"],
    title: "miGraph: a set kernel in which similar instances of a bag share one vote",
    about: "K(X, Y) = sum over a in X, b in Y of W(a) W(b) exp(-gamma |a - b|^2) / (sum of W in X * sum of W in Y), \
            where W(a) is 1 divided by the number of instances of the bag closer to a than delta. Other instance \
            kernels can replace the Gaussian. An SVM is trained on the bags.",
    reference: "Zhou, Sun, Li: Multi-instance learning by treating instances as non-i.i.d. samples, ICML 2009",
    family: "set kernel + SVM",
    complexity: 40,
    capabilities: &[Capability::Kernel],
    params: PARAMS,
    ..Info::USUAL
};

static PARAMS: &[ParamSpec] = &[
    WIDTH,
    KERNEL,
    DEGREE,
    DISTANCE,
    ParamSpec::new(
        "dist",
        Kind::Word(&["gauss", "rkhs", "euclid", "sq"]),
        "gauss",
        "Dissimilarity inside a bag: gauss, one minus the Gaussian of width gamma; rkhs, the distance in the \
         feature space of the kernel; euclid; or sq, the squared distance.",
    ),
    ParamSpec::new(
        "delta",
        Kind::WordOrNumber(&["mean", "mean_all"]),
        "mean",
        "Instances closer than this are neighbours: the bag's mean over pairs, over all ordered pairs \
         (mean_all), or a number.",
    ),
    ParamSpec::new(
        "norm",
        Kind::Word(&["eq5", "sqrt", "sqrtsum", "none"]),
        "eq5",
        "Normalisation: by the sums of the weights (eq5), by the self-similarities (sqrt), by the \
         roots of the sums (sqrtsum), or none.",
    ),
    svm::COST,
    svm::TUBE,
];

/// The dissimilarity of two instances of a bag.
#[derive(Clone, Copy, PartialEq)]
enum Dissimilarity {
    Gauss,
    Rkhs,
    Euclid,
    Squared,
}

/// Below which dissimilarity instances are neighbours.
#[derive(Clone, Copy)]
enum Delta {
    Mean,
    MeanAll,
    Number(f64),
}

#[derive(Clone)]
pub(crate) struct MiGraphParams {
    dissimilarity: Dissimilarity,
    delta: Delta,
    norm: Norm,
    kernel: BaseKernel,
}

impl SetKernel for MiGraph {
    type Params = MiGraphParams;

    fn read(&self, point: &Point) -> Result<MiGraphParams> {
        let dissimilarities = [
            ("gauss", Dissimilarity::Gauss),
            ("rkhs", Dissimilarity::Rkhs),
            ("euclid", Dissimilarity::Euclid),
            ("sq", Dissimilarity::Squared),
        ];
        let norms =
            [("eq5", Norm::Sums), ("sqrt", Norm::Cosine), ("sqrtsum", Norm::RootSums), ("none", Norm::None)];
        Ok(MiGraphParams {
            dissimilarity: point.choice("dist", &dissimilarities)?,
            delta: match point.number_or_word("delta")? {
                Some(delta) => Delta::Number(delta),
                None => point.choice("delta", &[("mean", Delta::Mean), ("mean_all", Delta::MeanAll)])?,
            },
            norm: point.choice("norm", &norms)?,
            kernel: BaseKernel::read(point)?,
        })
    }

    fn norm(&self, params: &MiGraphParams) -> Norm {
        params.norm
    }

    fn base(&self, params: &MiGraphParams) -> BaseKernel {
        params.kernel
    }

    fn weigh(&self, points: &[(MiGraphParams, f64)], bags: &Bags, ctx: &Ctx) -> Result<Weights> {
        let wants = |needs: fn(&MiGraphParams) -> bool| points.iter().any(|(params, _)| needs(params));
        let text = wants(|p| p.kernel.distance() == Distance::Text);
        let euclidean = wants(|p| p.kernel.distance() == Distance::Euclidean);
        let products = wants(MiGraphParams::needs_products);
        Weights::within(points.len(), bags, ctx, |bag| {
            let pairs = PairsOfBag {
                euclidean: euclidean.then(|| within::squared_distances(bag)).transpose()?,
                text: text.then(|| within::text_distances(bag)).transpose()?,
                products: products.then(|| within::products(bag)).transpose()?,
            };
            let weights = |(params, gamma): &(MiGraphParams, f64)| {
                clique_weights(bag.len(), params.delta, |a, u| pairs.dissimilarity(params, *gamma, a, u))
            };
            Ok(points.iter().map(weights).collect())
        })
    }

    fn looks_within(&self) -> bool {
        true
    }
}

impl MiGraphParams {
    /// A distance in the feature space of a polynomial comes from inner products.
    fn needs_products(&self) -> bool {
        self.dissimilarity == Dissimilarity::Rkhs && matches!(self.kernel, BaseKernel::Polynomial(_))
    }
}

/// What the points of a grid need to know of the pairs of a bag.
struct PairsOfBag {
    euclidean: Option<Mat>,
    text: Option<Mat>,
    products: Option<Mat>,
}

impl PairsOfBag {
    fn dissimilarity(&self, params: &MiGraphParams, gamma: f64, a: usize, u: usize) -> f64 {
        let squared = match params.kernel.distance() {
            Distance::Euclidean => &self.euclidean,
            Distance::Text => &self.text,
        };
        let s = squared.as_ref().expect("some point asked for it").get(a, u);
        match (params.dissimilarity, params.kernel) {
            (Dissimilarity::Gauss, _) => 1.0 - (-gamma * s).exp(),
            (Dissimilarity::Rkhs, BaseKernel::Gaussian(_)) => (2.0 - 2.0 * (-gamma * s).exp()).sqrt(),
            (Dissimilarity::Rkhs, BaseKernel::Polynomial(degree)) => {
                let products = self.products.as_ref().expect("some point asked for them");
                let k = |x: usize, z: usize| (products.get(x, z) + 1.0).powi(degree as i32);
                // Rounding may leave a difference of near instances below 0.
                (k(a, a) + k(u, u) - 2.0 * k(a, u)).max(0.0).sqrt()
            }
            (Dissimilarity::Rkhs, BaseKernel::Linear) | (Dissimilarity::Euclid, _) => s.sqrt(),
            (Dissimilarity::Squared, _) => s,
        }
    }
}

fn clique_weights(n: usize, delta: Delta, dissimilarity: impl Fn(usize, usize) -> f64) -> Vec<f64> {
    // Only pairs a < u: half the exponentials, and both ends see the same bits.
    let mut pairs = Vec::with_capacity(n * (n - 1) / 2);
    for a in 0..n {
        pairs.extend((a + 1..n).map(|u| dissimilarity(a, u)));
    }
    let sum: f64 = pairs.iter().sum();
    let delta = match delta {
        Delta::Number(delta) => delta,
        Delta::MeanAll => 2.0 * sum / (n * n) as f64,
        Delta::Mean => sum / pairs.len().max(1) as f64,
    };
    let mut neighbours = vec![1.0; n];
    let mut pair = pairs.iter();
    for a in 0..n {
        for u in a + 1..n {
            if *pair.next().expect("one value per pair") < delta {
                neighbours[a] += 1.0;
                neighbours[u] += 1.0;
            }
        }
    }
    neighbours.iter().map(|k| 1.0 / k).collect()
}
