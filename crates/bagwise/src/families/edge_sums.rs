//! Sums of a Gaussian over all pairs of edges of two bags, one of two ways:
//!
//! * *direct*: edges are points in `[0, 1]^4`, and the pairs engine sums over pairs of them as it does over pairs
//!   of instances. Exact; cost edges x edges, one pass for all widths.
//! * *map*: a bag becomes the small matrix of [`EdgeMap`], and two bags an inner product. Error below `tol`; cost
//!   edges x terms^2, and as much per pair of bags as a matrix has entries.
//!
//! The cheaper is chosen by [`EdgeStrategy::choose`] from the training bags alone, and kept with a model: training and new
//! bags must be compared the same way.

use rayon::prelude::*;

use crate::graph::{Graph, Orient};
use crate::method::State;
use crate::state::refuse;
use bagwise_core::{Bags, Ctx, Instances, Mat, Message, Result, Setting};
use bagwise_engine::edge_map::EdgeMap;
use bagwise_engine::{GramOutput, Side, dot, row_products};

/// What a pair of points costs the pairs engine, in multiply-adds of its packed loops: measured (`xtask bench
/// migraph`), for a grid whose widths share exponentials.
const PAIR: f64 = 5.0;
/// What a term costs beside the product: functions, features, packing.
const TERM: f64 = 30.0;
/// What a number of an inner product of two bags costs.
const ENTRY: f64 = 1.0;

/// How edge sums are computed.
pub(crate) enum EdgeStrategy {
    /// Over all pairs, with this width.
    Direct(f64),
    /// By a feature map.
    Map(EdgeMap),
}

impl EdgeStrategy {
    /// The cheaper way to compare bags with this many edges each. `tol` = 0 asks for the direct sum.
    pub(crate) fn choose(gamma: f64, tol: f64, orient: Orient, edges: &[usize]) -> EdgeStrategy {
        if tol == 0.0 {
            return EdgeStrategy::Direct(gamma);
        }
        let (sum, bags) = (edges.iter().sum::<usize>() as f64, edges.len() as f64);
        let points = if orient == Orient::Both { 2.0 * sum } else { sum };
        let direct = PAIR * points * points / 2.0;
        // The map of the smallest width there is has one term.
        if direct <= sum * (TERM + 1.0) {
            return EdgeStrategy::Direct(gamma);
        }
        match EdgeMap::new(gamma, tol) {
            Some(map) => {
                let terms = map.terms() as f64;
                let size = map.size(orient == Orient::Both) as f64;
                let by_map = sum * terms * (terms + TERM) + bags * bags / 2.0 * size * ENTRY;
                if by_map < direct { EdgeStrategy::Map(map) } else { EdgeStrategy::Direct(gamma) }
            }
            None => EdgeStrategy::Direct(gamma),
        }
    }

    /// The edges of some bags, ready to be compared.
    pub(crate) fn ready<'g>(
        &self,
        graphs: impl IntoIterator<Item = &'g Graph>,
        orient: Orient,
        ctx: &Ctx,
    ) -> Result<Edges> {
        let graphs: Vec<&Graph> = graphs.into_iter().collect();
        match self {
            EdgeStrategy::Direct(_) => Ok(Edges::Points(Points::of(&graphs, orient)?)),
            EdgeStrategy::Map(map) => {
                let size = map.size(orient == Orient::Both);
                ctx.reserve(
                    "the moments of the edges",
                    8 * (size * graphs.len()) as u64,
                    Message::more_memory()
                        .or("raise the tolerance")
                        .with([Setting::Parameter("tol", "1e-6")]),
                )?;
                let mut moments = Mat::zeros(graphs.len(), size);
                moments.data_mut().par_chunks_mut(size).zip(&graphs).try_for_each(|(row, graph)| {
                    ctx.check()?;
                    row.copy_from_slice(&map.moments(&vectors(graph, orient), orient == Orient::Both));
                    Ok::<(), bagwise_core::Error>(())
                })?;
                Ok(Edges::Moments(moments))
            }
        }
    }

    /// The edge sums of some bags with each other.
    pub(crate) fn symmetric(&self, edges: &Edges, ctx: &Ctx) -> Result<Mat> {
        match (self, edges) {
            (EdgeStrategy::Direct(gamma), Edges::Points(points)) => {
                Ok(points.symmetric(&[*gamma], ctx)?.remove(0))
            }
            (EdgeStrategy::Map(_), Edges::Moments(moments)) => row_products(moments, None, ctx),
            _ => unreachable!("edges go back to the way they were made ready for"),
        }
    }

    /// The edge sums between two sets of bags.
    pub(crate) fn rectangular(&self, rows: &Edges, cols: &Edges, ctx: &Ctx) -> Result<Mat> {
        match (self, rows, cols) {
            (EdgeStrategy::Direct(gamma), Edges::Points(rows), Edges::Points(cols)) => {
                let output = [GramOutput { gamma: *gamma, terms: vec![0] }];
                Ok(bagwise_engine::rectangular(&rows.side(), &cols.side(), &output, ctx.precision, ctx)?
                    .remove(0))
            }
            (EdgeStrategy::Map(_), Edges::Moments(rows), Edges::Moments(cols)) => {
                row_products(rows, Some(cols), ctx)
            }
            _ => unreachable!("edges go back to the way they were made ready for"),
        }
    }

    /// The edge sum of each bag with itself.
    pub(crate) fn own(&self, edges: &Edges, ctx: &Ctx) -> Result<Vec<f64>> {
        match (self, edges) {
            (EdgeStrategy::Direct(gamma), Edges::Points(points)) => {
                let output = [GramOutput { gamma: *gamma, terms: vec![0] }];
                Ok(bagwise_engine::self_similarity(&points.side(), &output, ctx)?.remove(0))
            }
            (EdgeStrategy::Map(_), Edges::Moments(moments)) => {
                Ok((0..moments.rows()).map(|b| dot(moments.row(b), moments.row(b))).collect())
            }
            _ => unreachable!("edges go back to the way they were made ready for"),
        }
    }

    /// Adds to the rows of each graph's nodes, which follow each other in `parts` (nodes x kept bags), half of what
    /// each of their edges adds to the edge sums with the kept bags.
    pub(crate) fn halves(
        &self,
        graphs: &[Graph],
        orient: Orient,
        kept: &Edges,
        parts: &mut Mat,
        ctx: &Ctx,
    ) -> Result<()> {
        // Shares of this many edges are held at a time.
        const EDGES: usize = 1 << 14;
        let mut first = 0;
        for graph in graphs {
            for edges in graph.edges.chunks(EDGES) {
                ctx.check()?;
                let vectors: Vec<[f64; 4]> = edges.iter().map(|e| graph.vector(e, orient)).collect();
                let shares = match (self, kept) {
                    (EdgeStrategy::Direct(gamma), Edges::Points(kept)) => {
                        let points = Points::new(vectors.iter().map(std::slice::from_ref), orient)?;
                        let output = [GramOutput { gamma: *gamma, terms: vec![0] }];
                        bagwise_engine::rectangular(
                            &points.side(),
                            &kept.side(),
                            &output,
                            ctx.precision,
                            ctx,
                        )?
                        .remove(0)
                    }
                    (EdgeStrategy::Map(map), Edges::Moments(kept)) => {
                        map.shares(&vectors, orient == Orient::Both, kept)
                    }
                    _ => unreachable!("edges go back to the way they were made ready for"),
                };
                for (e, edge) in edges.iter().enumerate() {
                    for end in edge.ends {
                        let row = parts.row_mut(first + end as usize);
                        row.iter_mut().zip(shares.row(e)).for_each(|(part, share)| *part += 0.5 * share);
                    }
                }
            }
            first += graph.degree.len();
        }
        Ok(())
    }

    /// The way and the edges of some bags as numbers.
    pub(crate) fn save(&self, edges: &Edges) -> Result<State> {
        let mut state = State::default();
        match (self, edges) {
            (EdgeStrategy::Direct(gamma), Edges::Points(points)) => {
                state.put("width", &[*gamma]);
                state.put("weights", &points.weights[0]);
                let mut inside = State::default();
                inside.put_bags(&points.bags)?;
                state.nest("points", inside);
            }
            (EdgeStrategy::Map(map), Edges::Moments(moments)) => {
                let (coefficients, lengths) = map.parts();
                state.put_mat("coefficients", coefficients);
                state.put_counts("lengths", lengths.iter().copied());
                state.put_mat("moments", moments);
            }
            _ => unreachable!("edges go back to the way they were made ready for"),
        }
        Ok(state)
    }

    /// What [`save`](EdgeStrategy::save) wrote of `bags` bags.
    pub(crate) fn load(state: &State, orient: Orient, bags: usize) -> Result<(EdgeStrategy, Edges)> {
        if state.tensors.contains_key("moments") {
            let map = EdgeMap::from_parts(state.mat("coefficients")?, state.counts("lengths")?)
                .ok_or_else(|| refuse("its map of edges is inconsistent"))?;
            let moments = state.mat("moments")?;
            if (moments.rows(), moments.cols()) != (bags, map.size(orient == Orient::Both)) {
                return Err(refuse("its moments of edges do not fit its map"));
            }
            return Ok((EdgeStrategy::Map(map), Edges::Moments(moments)));
        }
        let gamma = state.vector("width", 1)?[0];
        let points = state.nested("points").bags()?;
        let weights = state.vector("weights", points.instance_count())?;
        if gamma < 0.0 || points.width() != 4 || points.len() != bags || weights.iter().any(|&w| w < 0.0) {
            return Err(refuse("its edges are inconsistent"));
        }
        Ok((EdgeStrategy::Direct(gamma), Edges::Points(Points { bags: points, weights: vec![weights] })))
    }
}

/// Edges of bags, ready for one way.
pub(crate) enum Edges {
    Points(Points),
    /// Bags x moments.
    Moments(Mat),
}

/// Edges as weighted points.
pub(crate) struct Points {
    bags: Bags,
    /// One vector, in the shape the engine takes.
    weights: Vec<Vec<f64>>,
}

impl Points {
    pub(crate) fn of(graphs: &[&Graph], orient: Orient) -> Result<Points> {
        let all: Vec<Vec<[f64; 4]>> = graphs.iter().map(|g| vectors(g, orient)).collect();
        Points::new(all.iter().map(Vec::as_slice), orient)
    }

    fn new<'v>(bags: impl Iterator<Item = &'v [[f64; 4]]>, orient: Orient) -> Result<Points> {
        let (mut values, mut offsets, mut weights) = (Vec::new(), vec![0], Vec::new());
        for edges in bags {
            for &[a, b, c, d] in edges {
                values.extend([a, b, c, d]);
                if orient == Orient::Both {
                    values.extend([c, d, a, b]);
                    weights.extend([0.5, 0.5]);
                } else {
                    weights.push(1.0);
                }
            }
            if edges.is_empty() {
                // The engine knows no empty bag; a point of weight 0 adds nothing.
                values.extend([0.0; 4]);
                weights.push(0.0);
            }
            offsets.push(weights.len());
        }
        let bags = Bags::new(Instances::F64(Mat::new(weights.len(), 4, values)), offsets)?;
        Ok(Points { bags, weights: vec![weights] })
    }

    fn side(&self) -> Side<'_> {
        Side { instances: self.bags.instances(), offsets: self.bags.offsets(), weights: &self.weights }
    }

    /// The edge sums of the bags with each other for several widths, in one pass.
    pub(crate) fn symmetric(&self, gammas: &[f64], ctx: &Ctx) -> Result<Vec<Mat>> {
        let outputs: Vec<GramOutput> =
            gammas.iter().map(|&gamma| GramOutput { gamma, terms: vec![0] }).collect();
        bagwise_engine::symmetric(&self.side(), &outputs, ctx.precision, ctx)
    }
}

fn vectors(graph: &Graph, orient: Orient) -> Vec<[f64; 4]> {
    graph.edges.iter().map(|e| graph.vector(e, orient)).collect()
}

#[cfg(test)]
#[expect(clippy::print_stdout, reason = "errors are worth reading beside the bar")]
mod tests {
    use super::*;
    use crate::graph::{Epsilon, Zero};
    use crate::preprocess::{Scale, Transform};
    use bagwise_core::Rng;
    use bagwise_io::{ReadOptions, read};

    const TOL: f64 = 1e-8;

    /// The largest difference between the cosine Grams of the edges alone, by the map and directly.
    fn error(graphs: &[Graph], gamma: f64, orient: Orient) -> f64 {
        let ctx = Ctx::default();
        let graphs: Vec<&Graph> = graphs.iter().filter(|g| !g.edges.is_empty()).collect();
        let cosine = |way: EdgeStrategy| {
            let edges = way.ready(graphs.iter().copied(), orient, &ctx).unwrap();
            let sums = way.symmetric(&edges, &ctx).unwrap();
            let own = way.own(&edges, &ctx).unwrap();
            Mat::from_rows(
                &(0..own.len())
                    .map(|i| (0..own.len()).map(|j| sums.get(i, j) / (own[i] * own[j]).sqrt()).collect())
                    .collect::<Vec<Vec<f64>>>(),
            )
        };
        let direct = cosine(EdgeStrategy::Direct(gamma));
        let map = cosine(EdgeStrategy::Map(EdgeMap::new(gamma, TOL).unwrap()));
        direct.data().iter().zip(map.data()).map(|(d, m)| (d - m).abs()).fold(0.0, f64::max)
    }

    fn check(name: &str, graphs: &[Graph]) {
        for orient in [Orient::Both, Orient::Canonical, Orient::Index] {
            let errors: Vec<f64> = (-5..=5).map(|e| error(graphs, 2f64.powi(e), orient) / TOL).collect();
            println!("{name}, {orient:?}: error of the cosine Gram in units of tol: {errors:.2?}");
            // A bag of many different edges has a self-similarity below the square of their number, by which
            // the error per pair of edges grows: hence 2.
            assert!(errors.iter().all(|&e| e <= 2.0), "{name}, {orient:?}: {errors:?}");
        }
    }

    #[test]
    fn the_map_is_within_the_tolerance_of_the_direct_sum_on_shipped_data() {
        for name in ["musk1", "elephant", "image1000"] {
            let data = read(name, &ReadOptions::default()).unwrap();
            let all: Vec<usize> = (0..data.bags.len()).collect();
            let scaled = Transform::fit(Scale::MinMax, false, &data.bags, data.target.as_ref(), &all)
                .unwrap()
                .apply(&data.bags, &Ctx::default())
                .unwrap();
            // Every fifth image: a matrix per bag is large at the greatest width.
            let bags = all.iter().step_by(if all.len() > 500 { 5 } else { 1 });
            let graphs: Vec<Graph> =
                bags.map(|&b| Graph::of(scaled.bag(b), Epsilon::Mean, Zero::Limit).unwrap()).collect();
            check(name, &graphs);
        }
    }

    #[test]
    fn the_map_is_within_the_tolerance_of_the_direct_sum_on_random_graphs() {
        let mut rng = Rng::new(0, "random graphs", &[]);
        let graphs: Vec<Graph> = (0..40)
            .map(|b| {
                // From single edges, whose vectors lie in the corner (1, 1, 1, 1), to some hundred.
                let n = 2 + b;
                let values = (0..n * 3).map(|_| (4.0 * rng.normal()).round() / 4.0).collect();
                let bag = Bags::new(Instances::F64(Mat::new(n, 3, values)), vec![0, n]).unwrap();
                let eps = if b % 2 == 0 { Epsilon::Number(1.0 + 0.1 * b as f64) } else { Epsilon::Mean };
                Graph::of(bag.bag(0), eps, Zero::Limit).unwrap()
            })
            .collect();
        check("random", &graphs);
    }

    #[test]
    fn the_cheaper_way_is_chosen() {
        let is_map = |gamma: f64, tol: f64, edges: &[usize]| {
            matches!(EdgeStrategy::choose(gamma, tol, Orient::Both, edges), EdgeStrategy::Map(_))
        };
        assert!(is_map(1.0, TOL, &[10_000; 100]) && is_map(32.0, TOL, &[10_000; 100]));
        assert!(!is_map(1.0, 0.0, &[10_000; 100]), "nothing may be lost");
        assert!(!is_map(1.0, TOL, &[3; 10]), "a few edges");
        assert!(!is_map(32.0, TOL, &[20; 2000]), "many bags with few edges");
        assert!(!is_map(1e6, TOL, &[10_000; 100]), "no map is long enough");
    }

    #[test]
    fn halves_of_edges_add_up_to_the_sums_either_way() {
        let mut rng = Rng::new(1, "halves", &[]);
        let graphs: Vec<Graph> = (0..5)
            .map(|b| {
                let n = 1 + 4 * b;
                let values = (0..n * 2).map(|_| rng.normal()).collect();
                let bag = Bags::new(Instances::F64(Mat::new(n, 2, values)), vec![0, n]).unwrap();
                Graph::of(bag.bag(0), Epsilon::Mean, Zero::Limit).unwrap()
            })
            .collect();
        let ctx = Ctx::default();
        for orient in [Orient::Both, Orient::Canonical, Orient::Index] {
            for way in [EdgeStrategy::Direct(2.0), EdgeStrategy::Map(EdgeMap::new(2.0, TOL).unwrap())] {
                let edges = way.ready(&graphs, orient, &ctx).unwrap();
                let sums = way.rectangular(&edges, &edges, &ctx).unwrap();
                let nodes: usize = graphs.iter().map(|g| g.degree.len()).sum();
                let mut parts = Mat::zeros(nodes, graphs.len());
                way.halves(&graphs, orient, &edges, &mut parts, &ctx).unwrap();
                let mut first = 0;
                for (b, graph) in graphs.iter().enumerate() {
                    let rows = first..first + graph.degree.len();
                    first = rows.end;
                    for k in 0..graphs.len() {
                        let sum: f64 = rows.clone().map(|r| parts.get(r, k)).sum();
                        // Sums of some thousand terms of size 1, in two orders.
                        assert!((sum - sums.get(b, k)).abs() < 1e-10, "{sum} and {}", sums.get(b, k));
                    }
                }
                let saved = way.save(&edges).unwrap();
                let (_, again) = EdgeStrategy::load(&saved, orient, graphs.len()).unwrap();
                assert_eq!(way.rectangular(&edges, &again, &ctx).unwrap(), sums);
                assert!(EdgeStrategy::load(&saved, orient, graphs.len() + 1).is_err());
            }
        }
    }
}
