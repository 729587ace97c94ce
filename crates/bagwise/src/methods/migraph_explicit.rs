//! MIGraph: the instances of a bag and the edges between them, each compared with those of the other bag.
//!
//! The instances of a bag that are closer than `eps` are joined (see `graph`); an edge is the vector
//! `e = (d_u, p_u, d_v, p_v)` of the degrees and affinities at its ends. Then
//!
//! `K(X, Y) = sum_{x, z} exp(-gamma |x - z|^2) + sum_{e, f} exp(-gamma_edge |e - f|^2)`, divided by
//! `sqrt(K(X, X) K(Y, Y))` (`norm=sqrt`).
//!
//! The second sum has edges x edges terms, which made the method unusable for large bags. It is computed by a finite
//! feature map (`bagwise_engine::edge_map`) in time proportional to the edges, with an absolute error of about `tol` in the
//! normalised kernel, or directly where that is cheaper or `tol=0` (`families::edge_sums`).
//!
//! * `orient`: the edge has no direction, its vector has: `both` averages over both, `canonical` puts the larger end
//!   first, `index` the earlier instance (and then depends on the order of instances).
//! * `zero`: equal instances are joined by an edge with the affinity of the `limit`, or `drop`ped from the graph.
//! * `kernel` is that of the instances, for which the definition takes any; edges, vectors of degrees and affinities in
//!   `[0, 1]^4`, keep the Gaussian, which their feature map is made for. Edges always join by Euclidean distance.
//! * Where the paper prints the normalisation with the same bag four times, we take self-similarities; `eps`,
//!   orientation, duplicates and the width for edges are not given there.
//!
//! An edge's part of an output goes half to each end.
//!
//! Zhou, Sun, Li: Multi-instance learning by treating instances as non-i.i.d. samples, ICML 2009.

use crate::families::base_kernel::{BaseKernel, DEGREE, KERNEL};
use crate::families::edges::{EdgeGrams, EdgeKernel, GraphBuilder, KeptEdges};
use crate::families::kernel_svm::KernelSvm;
use crate::families::set_kernel::{Norm, SetKernel, WeightedSet, Weights};
use crate::families::svm;
use crate::families::width::{WIDTH, pass};
use crate::graph::{Epsilon, Orient, Zero};
use crate::method::{Capability, Info, MemoryEstimate, State};
use crate::params::{Kind, ParamSpec, Point};
use bagwise_core::{Bags, Ctx, Mat, Result};

/// The method, for the registry.
pub(crate) static METHOD: KernelSvm<WeightedSet<ExplicitMiGraph>> =
    KernelSvm { info: &INFO, kernel: WeightedSet(ExplicitMiGraph) };

#[derive(Clone)]
pub(crate) struct ExplicitMiGraph;

static INFO: Info = Info {
    name: "migraph-explicit",
    aliases: &["MIGraph"],
    title: "MIGraph: compares the instances of two bags and the edges of their neighbour graphs",
    about: "K(X, Y) = sum over instances of exp(-gamma |x - z|^2) + sum over edges of exp(-gamma_edge |e - f|^2), \
            divided by sqrt(K(X, X) K(Y, Y)). Instances of a bag closer than eps are joined by an edge, described \
            by the degrees and affinities at its ends. The edge sum is computed in time proportional to the number of edges. \
            Other instance kernels can replace the first Gaussian. An SVM is trained on the bags.",
    reference: "Zhou, Sun, Li: Multi-instance learning by treating instances as non-i.i.d. samples, ICML 2009",
    family: "set kernel + SVM",
    complexity: 50,
    capabilities: &[Capability::Kernel, Capability::Graphs],
    params: PARAMS,
    ..Info::USUAL
};

static PARAMS: &[ParamSpec] = &[
    WIDTH,
    KERNEL,
    DEGREE,
    ParamSpec::new(
        "gamma_edge",
        Kind::WordOrNumber(&["gamma"]),
        "gamma",
        "Gamma of the edge kernel: the same as for instances (gamma), or a number.",
    ),
    ParamSpec::new(
        "eps",
        Kind::WordOrNumber(&["mean"]),
        "mean",
        "Instances closer than this are joined by an edge: the bag's mean distance over pairs, or a \
         number.",
    ),
    ParamSpec::new(
        "orient",
        Kind::Word(&["both", "canonical", "index"]),
        "both",
        "Direction of an edge: both at half weight, the larger end first (canonical), or the earlier \
         instance first (index).",
    ),
    ParamSpec::new(
        "zero",
        Kind::Word(&["limit", "drop"]),
        "limit",
        "Identical instances: joined by an edge with the limit of the affinity for small distances, or not joined \
         (drop).",
    ),
    ParamSpec::new(
        "norm",
        Kind::Word(&["sqrt", "none"]),
        "sqrt",
        "Normalisation: by the self-similarities (sqrt), or none.",
    ),
    ParamSpec::new(
        "tol",
        Kind::AtLeast { least: 0.0 },
        "1e-8",
        "Maximum absolute error of the normalised kernel due to the approximation of edge sums; 0 sums over all \
         pairs of edges.",
    ),
    svm::COST,
    svm::TUBE,
];

#[derive(Clone)]
pub(crate) struct GraphParams {
    builder: GraphBuilder,
    orient: Orient,
    /// That of the instances where it is not given.
    edge_width: Option<f64>,
    tol: f64,
    norm: Norm,
    kernel: BaseKernel,
}

impl SetKernel for ExplicitMiGraph {
    type Params = GraphParams;

    fn read(&self, point: &Point) -> Result<GraphParams> {
        let eps = point.number_or_word("eps")?.map_or(Epsilon::Mean, Epsilon::Number);
        let zero = point.choice("zero", &[("limit", Zero::Limit), ("drop", Zero::Drop)])?;
        let orients = [("both", Orient::Both), ("canonical", Orient::Canonical), ("index", Orient::Index)];
        Ok(GraphParams {
            builder: GraphBuilder { eps, zero },
            orient: point.choice("orient", &orients)?,
            // An infinite width tells equal edges from others, as the largest number does.
            edge_width: point.number_or_word("gamma_edge")?.map(|width| width.min(f64::MAX)),
            tol: point.number("tol")?,
            norm: point.choice("norm", &[("sqrt", Norm::Cosine), ("none", Norm::None)])?,
            kernel: BaseKernel::read(point)?,
        })
    }

    fn norm(&self, params: &GraphParams) -> Norm {
        params.norm
    }

    fn base(&self, params: &GraphParams) -> BaseKernel {
        params.kernel
    }

    fn weigh(&self, points: &[(GraphParams, f64)], bags: &Bags, _: &Ctx) -> Result<Weights> {
        Ok(Weights::equal(points.len(), bags))
    }

    fn work(&self, bags: &Bags, representations: usize) -> f64 {
        // If half of all pairs are edges, each an outer product of the map's terms: the mean of their squares over the
        // default widths.
        const TERMS_SQUARED: f64 = 17_000.0;
        /// The products of two bags' maps.
        const PRODUCTS: f64 = 10_000.0;
        let bags_squared = (bags.len() as f64).powi(2);
        let edges = bags.pairs_within() / 2.0 * TERMS_SQUARED + bags_squared / 2.0 * PRODUCTS;
        pass(bags, representations) + edges * representations as f64
    }

    fn needs_besides(&self, bags: &Bags) -> MemoryEstimate {
        // The engine's packed copy of the instances; edges, at most all pairs, as such and as points in both
        // directions; the matrix of a hundred features for each bag.
        const EDGE: u64 = 32 + 2 * 5 * 8;
        const MOMENTS: u64 = 8 * 5_000;
        let packed = 8 * (bags.instance_count() * (bags.width() + 1)) as u64;
        let pairs = |b: usize| (bags.rows(b).len() as u64).pow(2) / 2;
        let edges: u64 = (0..bags.len()).map(|b| EDGE * (pairs(b) + 1) + MOMENTS).sum();
        // Sums over nodes and over edges are held beside the Gram that they are added to.
        MemoryEstimate { fixed: packed + edges, each: 2 * 8 * (bags.len() as u64).pow(2) }
    }

    fn edge_sums(
        &self,
        points: &[(GraphParams, f64)],
        bags: &Bags,
        train: &[usize],
        ctx: &Ctx,
    ) -> Result<Option<(EdgeGrams, Vec<Mat>)>> {
        let kernel = |(p, gamma): &(GraphParams, f64)| EdgeKernel {
            builder: p.builder,
            orient: p.orient,
            gamma: p.edge_width.unwrap_or(*gamma),
            tol: p.tol,
        };
        let kernels: Vec<EdgeKernel> = points.iter().map(kernel).collect();
        EdgeGrams::new(&kernels, bags, train, ctx).map(Some)
    }

    fn load_edges(&self, params: &GraphParams, bags: usize, state: &State) -> Result<Option<KeptEdges>> {
        KeptEdges::load(params.builder, params.orient, bags, state).map(Some)
    }
}
