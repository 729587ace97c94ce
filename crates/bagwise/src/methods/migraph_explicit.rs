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
//! * Where the paper prints the normalisation with the same bag four times, we take self-similarities; `eps`,
//!   orientation, duplicates and the width for edges are not given there.
//!
//! An edge's part of an output goes half to each end.
//!
//! Zhou, Sun, Li: Multi-instance learning by treating instances as non-i.i.d. samples, ICML 2009.

use std::sync::Arc;

use rayon::prelude::*;

use crate::families::edge_sums::{Edges, Points, Way};
use crate::families::kernel_svm::{BagKernel, Bank, Comparison, Grams, KernelSvm, Parts};
use crate::families::set_kernel::{WIDTH, load_bags, normalise, parts_of, pass, resolve, save_bags};
use crate::families::svm;
use crate::graph::{Edge, Epsilon, Graph, Orient, Zero};
use crate::method::{Info, Needs, Scope, State, refuse};
use crate::params::{Kind, Level, ParamSpec, Point, Value, index_in};
use crate::preprocess::Scale;
use bagwise_core::{Bags, Ctx, Mat, Message, Result};
use bagwise_engine::{Output, Side};

/// The method, for the registry.
pub(crate) static METHOD: KernelSvm<ExplicitMiGraph> = KernelSvm(ExplicitMiGraph);

pub(crate) struct ExplicitMiGraph;

static INFO: Info = Info {
    name: "migraph-explicit",
    aliases: &[],
    title: "MIGraph: compares the instances of two bags and the edges of their graphs",
    about: "K(X, Y) = sum over instances of exp(-gamma |x - z|^2) + sum over edges of exp(-gamma_edge |e - f|^2), \
            divided by sqrt(K(X, X) K(Y, Y)). Instances of a bag closer than eps are joined by an edge, described \
            by the degrees and affinities at its ends. The edge sum is made in time proportional to the edges; a \
            support vector machine learns on the bags.",
    reference: "Zhou, Sun, Li: Multi-instance learning by treating instances as non-i.i.d. samples, ICML 2009",
    family: "set kernel + SVM",
    regression: true,
    scale: Scale::MinMax,
    complexity: 50,
    explains: "additive",
};

const fn shape(name: &'static str, help: &'static str, kind: Kind, default: &'static str) -> ParamSpec {
    ParamSpec {
        name,
        help,
        kind,
        default,
        grid: default,
        level: Level::Representation,
        regression_only: false,
    }
}

static PARAMS: &[ParamSpec] = &[
    WIDTH,
    shape(
        "gamma_edge",
        "Width of the edge kernel: that of the instances (gamma), or a number.",
        Kind::WordOrNumber(&["gamma"]),
        "gamma",
    ),
    shape(
        "eps",
        "Instances closer than this are joined by an edge: the bag's mean distance over pairs, or a number.",
        Kind::WordOrNumber(&["mean"]),
        "mean",
    ),
    shape(
        "orient",
        "Direction of an edge: both at half weight, the larger end first (canonical), or the earlier instance \
         first (index).",
        Kind::Word(&["both", "canonical", "index"]),
        "both",
    ),
    shape(
        "zero",
        "Equal instances: an edge with the affinity of the limit of small distances, or none (drop).",
        Kind::Word(&["limit", "drop"]),
        "limit",
    ),
    shape(
        "norm",
        "Normalisation: by the self-similarities (sqrt), or none.",
        Kind::Word(&["sqrt", "none"]),
        "sqrt",
    ),
    shape(
        "tol",
        "Absolute error that the edge sums may cause in the normalised kernel; 0 sums over all pairs of edges.",
        Kind::AtLeast { least: 0.0 },
        "1e-8",
    ),
    svm::COST,
    svm::TUBE,
];

/// Everything that decides which graphs a bag has and how edges are listed.
#[derive(Clone, Copy, PartialEq)]
struct Drawing {
    eps: Epsilon,
    zero: Zero,
}

impl Drawing {
    fn of(point: &Point) -> Drawing {
        Drawing {
            eps: match point.get("eps") {
                Value::Number(eps) => Epsilon::Number(*eps),
                _ => Epsilon::Mean,
            },
            zero: if point.word("zero") == "drop" { Zero::Drop } else { Zero::Limit },
        }
    }

    fn draw(self, bags: &Bags, ctx: &Ctx) -> Result<Vec<Graph>> {
        // All distances of a bag on every thread, and edges, at most all pairs.
        let mut sizes: Vec<u64> = (0..bags.len()).map(|b| bags.rows(b).len() as u64).collect();
        let edges: u64 = sizes.iter().map(|n| size_of::<Edge>() as u64 * (n * (n - 1) / 2)).sum();
        sizes.sort_unstable();
        let distances: u64 = sizes.iter().rev().take(rayon::current_num_threads()).map(|n| 8 * n * n).sum();
        ctx.reserve(
            "the graphs of bags",
            edges + distances,
            Message::more_memory().or("choose migraph, which keeps no edges"),
        )?;
        let draw = |b: usize| {
            ctx.check()?;
            Graph::of(bags.bag(b), self.eps, self.zero)
        };
        (0..bags.len()).into_par_iter().map(draw).collect()
    }
}

fn orient(point: &Point) -> Orient {
    match point.word("orient") {
        "canonical" => Orient::Canonical,
        "index" => Orient::Index,
        _ => Orient::Both,
    }
}

/// The width of the edge kernel; an infinite one tells equal edges from others, as the largest number does.
fn edge_width(point: &Point, gamma: f64) -> f64 {
    match point.get("gamma_edge") {
        Value::Number(width) => width.min(f64::MAX),
        _ => gamma,
    }
}

/// What rows and columns of the Gram are divided by.
fn factors(point: &Point, own: &[f64]) -> Vec<f64> {
    let cosine = point.word("norm") == "sqrt";
    own.iter().map(|k| if cosine { k.sqrt() } else { 1.0 }).collect()
}

impl BagKernel for ExplicitMiGraph {
    fn info(&self) -> &'static Info {
        &INFO
    }

    fn params(&self) -> &'static [ParamSpec] {
        PARAMS
    }

    fn work(&self, bags: &Bags, representations: usize) -> f64 {
        // If half of all pairs are edges, each an outer product of the map's terms: the mean of their squares over the
        // default widths.
        const TERMS_SQUARED: f64 = 17_000.0;
        pass(bags, representations) + bags.pairs_within() / 2.0 * TERMS_SQUARED * representations as f64
    }

    fn needs_besides(&self, bags: &Bags) -> Needs {
        // The engine's packed copy of the instances; edges, at most all pairs, as such and as points in both
        // directions; the matrix of a hundred features for each bag.
        const EDGE: u64 = 32 + 2 * 5 * 8;
        const MOMENTS: u64 = 8 * 5_000;
        let packed = 8 * (bags.instance_count() * (bags.width() + 1)) as u64;
        let pairs = |b: usize| (bags.rows(b).len() as u64).pow(2) / 2;
        let edges: u64 = (0..bags.len()).map(|b| EDGE * (pairs(b) + 1) + MOMENTS).sum();
        // Sums over nodes and over edges are held beside the Gram that they are added to.
        Needs { fixed: packed + edges, each: 2 * 8 * (bags.len() as u64).pow(2) }
    }

    fn grams(
        &self,
        bags: Arc<Bags>,
        points: &[&Point],
        scope: &Scope<'_>,
        ctx: &Ctx,
    ) -> Result<Box<dyn Grams>> {
        let gammas = resolve(points, &bags, scope, ctx)?;
        let mut widths: Vec<f64> = Vec::new();
        let width: Vec<usize> = gammas.iter().map(|&gamma| index_in(&mut widths, gamma, f64::eq)).collect();
        let node_sums = bagwise_engine::symmetric(
            &Nodes::of(&bags).side(&bags),
            &widths.iter().map(|&gamma| Output { gamma, terms: vec![0] }).collect::<Vec<_>>(),
            ctx.precision,
            ctx,
        )?;
        let mut drawings: Vec<Drawing> = Vec::new();
        let drawing: Vec<usize> =
            points.iter().map(|p| index_in(&mut drawings, Drawing::of(p), Drawing::eq)).collect();
        let graphs = drawings.iter().map(|d| d.draw(&bags, ctx)).collect::<Result<Vec<_>>>()?;
        // Points that agree in their edges share sums.
        let mut edge_keys: Vec<(usize, Orient, f64, f64)> = Vec::new();
        let edge_key: Vec<usize> = (0..points.len())
            .map(|r| {
                let width = edge_width(points[r], gammas[r]);
                let key = (drawing[r], orient(points[r]), width, points[r].number("tol"));
                index_in(&mut edge_keys, key, |a, b| a == b)
            })
            .collect();
        let mut ways = Vec::with_capacity(edge_keys.len());
        for &(d, orient, width, tol) in &edge_keys {
            let edges: Vec<usize> = scope.train.iter().map(|&b| graphs[d][b].edges.len()).collect();
            ways.push(Arc::new(Way::choose(width, tol, orient, &edges)));
        }
        let edge_sums = edge_sums(&edge_keys, &ways, &graphs, ctx)?;
        let representations = (0..points.len())
            .map(|r| {
                let mut gram = node_sums[width[r]].clone();
                gram.data_mut().iter_mut().zip(edge_sums[edge_key[r]].data()).for_each(|(g, e)| *g += e);
                let own: Vec<f64> = (0..gram.rows()).map(|b| gram.get(b, b)).collect();
                let factors = factors(points[r], &own);
                normalise(&mut gram, &factors, &factors);
                Representation {
                    point: points[r].clone(),
                    gamma: gammas[r],
                    drawing: drawing[r],
                    way: Arc::clone(&ways[edge_key[r]]),
                    gram,
                    factors,
                }
            })
            .collect();
        Ok(Box::new(GraphGrams { bags, graphs, representations }))
    }

    fn load(&self, point: &Point, state: &State) -> Result<Box<dyn Bank>> {
        let bags = load_bags(state)?;
        let factors = state.vector("factors", bags.len())?;
        let own = state.vector("own", bags.len())?;
        let gamma = state.vector("gamma", 1)?[0];
        if gamma <= 0.0 || factors.iter().any(|&v| v <= 0.0) {
            return Err(refuse("a width or norm is not above 0"));
        }
        let (way, edges) = Way::load(&state.nested("edges"), orient(point), bags.len())?;
        let nodes = Nodes::of(&bags);
        Ok(Box::new(GraphBank {
            point: point.clone(),
            gamma,
            way: Arc::new(way),
            bags,
            nodes,
            edges,
            factors,
            own,
        }))
    }
}

/// The edge sums for each key; those summed directly share a pass.
fn edge_sums(
    keys: &[(usize, Orient, f64, f64)],
    ways: &[Arc<Way>],
    graphs: &[Vec<Graph>],
    ctx: &Ctx,
) -> Result<Vec<Mat>> {
    let mut sums: Vec<Option<Mat>> = keys.iter().map(|_| None).collect();
    for k in 0..keys.len() {
        let (drawing, orient, ..) = keys[k];
        ctx.progress.step("edges", k as u64, keys.len() as u64);
        if let Way::Map(_) = &*ways[k] {
            sums[k] = Some(ways[k].symmetric(&ways[k].ready(&graphs[drawing], orient, ctx)?, ctx)?);
        } else if sums[k].is_none() {
            let together: Vec<usize> = (k..keys.len())
                .filter(|&o| {
                    matches!(&*ways[o], Way::Direct(_)) && (keys[o].0, keys[o].1) == (drawing, orient)
                })
                .collect();
            let points = Points::of(&graphs[drawing].iter().collect::<Vec<_>>(), orient)?;
            let widths: Vec<f64> = together.iter().map(|&o| keys[o].2).collect();
            for (o, sum) in together.into_iter().zip(points.symmetric(&widths, ctx)?) {
                sums[o] = Some(sum);
            }
        }
    }
    Ok(sums.into_iter().map(|s| s.expect("one way or the other")).collect())
}

/// Instances with equal weights, in the shape the engine takes.
struct Nodes {
    weights: Vec<Vec<f64>>,
}

impl Nodes {
    fn of(bags: &Bags) -> Nodes {
        Nodes { weights: vec![vec![1.0; bags.instance_count()]] }
    }

    fn side<'a>(&'a self, bags: &'a Bags) -> Side<'a> {
        Side { instances: bags.instances(), offsets: bags.offsets(), weights: &self.weights }
    }
}

struct Representation {
    point: Point,
    gamma: f64,
    drawing: usize,
    way: Arc<Way>,
    gram: Mat,
    factors: Vec<f64>,
}

struct GraphGrams {
    bags: Arc<Bags>,
    /// For each drawing, the graph of each bag.
    graphs: Vec<Vec<Graph>>,
    representations: Vec<Representation>,
}

impl Grams for GraphGrams {
    fn gram(&self, representation: usize) -> &Mat {
        &self.representations[representation].gram
    }

    fn bank(&self, representation: usize, train: &[usize], ctx: &Ctx) -> Result<Box<dyn Bank>> {
        let Representation { point, gamma, drawing, way, gram, factors } =
            &self.representations[representation];
        let graphs = train.iter().map(|&b| &self.graphs[*drawing][b]);
        let bags = self.bags.select(train);
        Ok(Box::new(GraphBank {
            point: point.clone(),
            gamma: *gamma,
            way: Arc::clone(way),
            nodes: Nodes::of(&bags),
            bags,
            edges: way.ready(graphs, orient(point), ctx)?,
            factors: train.iter().map(|&b| factors[b]).collect(),
            own: train.iter().map(|&b| gram.get(b, b)).collect(),
        }))
    }
}

/// Training bags with their edges and norms.
struct GraphBank {
    point: Point,
    gamma: f64,
    way: Arc<Way>,
    bags: Bags,
    nodes: Nodes,
    edges: Edges,
    factors: Vec<f64>,
    /// The normalised kernel of each bag with itself.
    own: Vec<f64>,
}

/// New bags: their graphs, edges and norms.
struct Look {
    graphs: Vec<Graph>,
    edges: Edges,
    nodes: Nodes,
    factors: Vec<f64>,
    own: Vec<f64>,
}

impl GraphBank {
    fn output(&self) -> [Output; 1] {
        [Output { gamma: self.gamma, terms: vec![0] }]
    }

    fn look_at(&self, bags: &Bags, ctx: &Ctx) -> Result<Look> {
        let graphs = Drawing::of(&self.point).draw(bags, ctx)?;
        let edges = self.way.ready(&graphs, orient(&self.point), ctx)?;
        let nodes = Nodes::of(bags);
        let mut own = bagwise_engine::self_similarity(&nodes.side(bags), &self.output(), ctx)?.remove(0);
        own.iter_mut().zip(self.way.own(&edges, ctx)?).for_each(|(node, edge)| *node += edge);
        let factors = factors(&self.point, &own);
        own.iter_mut().zip(&factors).for_each(|(k, f)| *k /= f * f);
        Ok(Look { graphs, edges, nodes, factors, own })
    }
}

impl Bank for GraphBank {
    fn len(&self) -> usize {
        self.bags.len()
    }

    fn width(&self) -> usize {
        self.bags.width()
    }

    fn compare(&self, bags: &Bags, ctx: &Ctx) -> Result<Comparison> {
        let look = self.look_at(bags, ctx)?;
        let (rows, cols) = (look.nodes.side(bags), self.nodes.side(&self.bags));
        let mut kernel =
            bagwise_engine::rectangular(&rows, &cols, &self.output(), ctx.precision, ctx)?.remove(0);
        let edges = self.way.rectangular(&look.edges, &self.edges, ctx)?;
        kernel.data_mut().iter_mut().zip(edges.data()).for_each(|(k, e)| *k += e);
        normalise(&mut kernel, &look.factors, &self.factors);
        Ok(Comparison { kernel, own: look.own, kept: self.own.clone() })
    }

    fn parts(&self, bags: &Bags, ctx: &Ctx) -> Result<Parts> {
        let look = self.look_at(bags, ctx)?;
        // Every instance as a bag of its own.
        let single = bagwise_engine::rows::singles(bags.instance_count()).0;
        let rows = Side { offsets: &single, ..look.nodes.side(bags) };
        let cols = self.nodes.side(&self.bags);
        let mut parts =
            bagwise_engine::rectangular(&rows, &cols, &self.output(), ctx.precision, ctx)?.remove(0);
        self.way.halves(&look.graphs, orient(&self.point), &self.edges, &mut parts, ctx)?;
        let equal = vec![1.0; bags.instance_count()];
        Ok(parts_of(parts, bags, &equal, &look.factors, &self.factors))
    }

    fn graphs(&self, bags: &Bags, ctx: &Ctx) -> Result<Option<Vec<Graph>>> {
        Drawing::of(&self.point).draw(bags, ctx).map(Some)
    }

    fn save(&self) -> Result<State> {
        let mut state = State::default();
        save_bags(&mut state, &self.bags)?;
        state.put("factors", &self.factors);
        state.put("own", &self.own);
        state.put("gamma", &[self.gamma]);
        state.nest("edges", self.way.save(&self.edges)?);
        Ok(state)
    }
}
