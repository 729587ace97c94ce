//! Edges of bags as a term of a set kernel: graphs are drawn, their edges listed, and summed over the cheaper way
//! (`edge_sums`).

use std::sync::Arc;

use rayon::prelude::*;

use crate::families::edge_sums::{EdgeStrategy, Edges, Points};
use crate::graph::{Edge, Epsilon, Graph, Orient, Zero};
use crate::method::State;
use crate::params::index_in;
use bagwise_core::{Bags, Csr, Ctx, Mat, Message, Result};

/// Which instances of a bag are joined.
#[derive(Clone, Copy, PartialEq)]
pub(crate) struct GraphBuilder {
    pub(crate) eps: Epsilon,
    pub(crate) zero: Zero,
}

impl GraphBuilder {
    fn draw(self, bags: &Bags, ctx: &Ctx) -> Result<Vec<Graph>> {
        // All distances of a bag on every thread, and edges, at most all pairs.
        let mut sizes: Vec<u64> = (0..bags.len()).map(|b| bags.rows(b).len() as u64).collect();
        let edges: u64 = sizes.iter().map(|n| size_of::<Edge>() as u64 * (n * (n - 1) / 2)).sum();
        sizes.sort_unstable();
        let distances: u64 = sizes.iter().rev().take(rayon::current_num_threads()).map(|n| 8 * n * n).sum();
        ctx.reserve(
            "the graphs of bags",
            edges + distances,
            Message::more_memory().or("choose a method without edges"),
        )?;
        let draw = |b: usize| {
            ctx.check()?;
            Graph::of(bags.bag(b), self.eps, self.zero)
        };
        (0..bags.len()).into_par_iter().map(draw).collect()
    }
}

/// How edges are drawn, listed and compared.
#[derive(Clone, Copy, PartialEq)]
pub(crate) struct EdgeKernel {
    pub(crate) builder: GraphBuilder,
    pub(crate) orient: Orient,
    pub(crate) gamma: f64,
    pub(crate) tol: f64,
}

/// The edges of prepared bags at all points.
pub(crate) struct EdgeGrams {
    kernels: Vec<EdgeKernel>,
    /// The kernel of each point.
    kernel: Vec<usize>,
    drawings: Vec<GraphBuilder>,
    /// For each drawing, the graph of each bag.
    graphs: Vec<Vec<Graph>>,
    ways: Vec<Arc<EdgeStrategy>>,
}

impl EdgeGrams {
    /// The edges of bags under the kernels of some points, and one matrix of sums for each that differs.
    pub(crate) fn new(
        points: &[EdgeKernel],
        bags: &Bags,
        train: &[usize],
        ctx: &Ctx,
    ) -> Result<(EdgeGrams, Vec<Mat>)> {
        let mut kernels: Vec<EdgeKernel> = Vec::new();
        let kernel = points.iter().map(|&k| index_in(&mut kernels, k, EdgeKernel::eq)).collect();
        let mut drawings: Vec<GraphBuilder> = Vec::new();
        for kernel in &kernels {
            index_in(&mut drawings, kernel.builder, GraphBuilder::eq);
        }
        let graphs = drawings.iter().map(|d| d.draw(bags, ctx)).collect::<Result<Vec<_>>>()?;
        let mut all = EdgeGrams { kernels, kernel, drawings, graphs, ways: Vec::new() };
        for k in &all.kernels {
            let edges: Vec<usize> = train.iter().map(|&b| all.graphs(k)[b].edges.len()).collect();
            all.ways.push(Arc::new(EdgeStrategy::choose(k.gamma, k.tol, k.orient, &edges)));
        }
        let sums = all.sums(ctx)?;
        Ok((all, sums))
    }

    fn graphs(&self, kernel: &EdgeKernel) -> &[Graph] {
        let drawn = self.drawings.iter().zip(&self.graphs).find(|(d, _)| **d == kernel.builder);
        drawn.expect("every builder was drawn").1
    }

    /// The sums of each kernel; those summed directly share a pass.
    fn sums(&self, ctx: &Ctx) -> Result<Vec<Mat>> {
        let count = self.kernels.len();
        let mut sums: Vec<Option<Mat>> = vec![None; count];
        for (k, kernel) in self.kernels.iter().enumerate() {
            ctx.progress.step("edges", k as u64, count as u64);
            let (way, graphs) = (&*self.ways[k], self.graphs(kernel));
            if let EdgeStrategy::Map(_) = way {
                sums[k] = Some(way.symmetric(&way.ready(graphs, kernel.orient, ctx)?, ctx)?);
            } else if sums[k].is_none() {
                let listed = |o: usize| (self.kernels[o].builder, self.kernels[o].orient);
                let together: Vec<usize> = (k..count)
                    .filter(|&o| matches!(&*self.ways[o], EdgeStrategy::Direct(_)) && listed(o) == listed(k))
                    .collect();
                let points = Points::of(&graphs.iter().collect::<Vec<_>>(), kernel.orient)?;
                let widths: Vec<f64> = together.iter().map(|&o| self.kernels[o].gamma).collect();
                for (o, sum) in together.into_iter().zip(points.symmetric(&widths, ctx)?) {
                    sums[o] = Some(sum);
                }
            }
        }
        Ok(sums.into_iter().map(|s| s.expect("one way or the other")).collect())
    }

    /// Which of the sums is that of a point.
    pub(crate) fn which(&self, point: usize) -> usize {
        self.kernel[point]
    }

    /// The edges of some bags, kept for comparison with new ones.
    pub(crate) fn keep(&self, point: usize, train: &[usize], ctx: &Ctx) -> Result<KeptEdges> {
        let kernel = self.kernels[self.kernel[point]];
        let way = Arc::clone(&self.ways[self.kernel[point]]);
        let graphs = self.graphs(&kernel);
        let edges = way.ready(train.iter().map(|&b| &graphs[b]), kernel.orient, ctx)?;
        Ok(KeptEdges { builder: kernel.builder, orient: kernel.orient, way, edges })
    }
}

/// The edges of training bags.
pub(crate) struct KeptEdges {
    builder: GraphBuilder,
    orient: Orient,
    way: Arc<EdgeStrategy>,
    edges: Edges,
}

impl KeptEdges {
    /// The graphs of new bags.
    pub(crate) fn graphs(&self, bags: &Bags, ctx: &Ctx) -> Result<Vec<Graph>> {
        self.builder.draw(bags, ctx)
    }

    /// The edges of new bags, ready to be compared.
    pub(crate) fn look_at(&self, bags: &Bags, ctx: &Ctx) -> Result<NewEdges> {
        let graphs = self.graphs(bags, ctx)?;
        let edges = self.way.ready(&graphs, self.orient, ctx)?;
        Ok(NewEdges { graphs, edges })
    }

    /// The sum of each new bag with itself.
    pub(crate) fn own(&self, new: &NewEdges, ctx: &Ctx) -> Result<Vec<f64>> {
        self.way.own(&new.edges, ctx)
    }

    /// The sums of new bags with kept ones.
    pub(crate) fn sums(&self, new: &NewEdges, ctx: &Ctx) -> Result<Mat> {
        self.way.rectangular(&new.edges, &self.edges, ctx)
    }

    /// Adds to each instance of new bags half of what each of its edges adds to these sums.
    pub(crate) fn add_halves(&self, new: &NewEdges, parts: &mut Mat, ctx: &Ctx) -> Result<()> {
        self.way.halves(&new.graphs, self.orient, &self.edges, parts, ctx)
    }

    /// The edges of the kept bags, divided by `factors`, summed by the coefficients of each output: as if there were a bag for
    /// each. Only maps can be summed.
    pub(crate) fn combined(&self, coefficients: &Csr, factors: &[f64]) -> Option<KeptEdges> {
        let Edges::Moments(moments) = &self.edges else { return None };
        let mut sums = Mat::zeros(coefficients.rows(), moments.cols());
        sums.data_mut().par_chunks_mut(moments.cols()).enumerate().for_each(|(k, sum)| {
            let (bags, values) = coefficients.row(k);
            // A bag without a length has no part.
            for (&b, value) in bags.iter().zip(values).filter(|(b, _)| factors[**b as usize] != 0.0) {
                let weight = value / factors[b as usize];
                sum.iter_mut().zip(moments.row(b as usize)).for_each(|(sum, m)| *sum += weight * m);
            }
        });
        Some(KeptEdges { way: Arc::clone(&self.way), edges: Edges::Moments(sums), ..*self })
    }

    pub(crate) fn save(&self) -> Result<State> {
        self.way.save(&self.edges)
    }

    /// Loads what [`save`](KeptEdges::save) wrote for this many bags.
    pub(crate) fn load(
        builder: GraphBuilder,
        orient: Orient,
        bags: usize,
        state: &State,
    ) -> Result<KeptEdges> {
        let (way, edges) = EdgeStrategy::load(state, orient, bags)?;
        Ok(KeptEdges { builder, orient, way: Arc::new(way), edges })
    }
}

/// The edges of new bags.
pub(crate) struct NewEdges {
    graphs: Vec<Graph>,
    edges: Edges,
}
