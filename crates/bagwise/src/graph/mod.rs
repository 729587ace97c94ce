//! The graph of a bag: instances are nodes, those closer than `eps` are joined by an edge.
//!
//! `eps` is a number or the mean distance of the bag's pairs; the comparison is strict. With `m` edges, node `u`
//! has the share `d_u = deg(u) / m`, and an edge has at each end the share `p_u = w_uv / sum_{t ~ u} w_ut` of the
//! affinities `w = 1 / distance` there. The edge vector is `(d_u, p_u, d_v, p_v)`: four numbers in `[0, 1]`,
//! comparable between bags of any size. Cost `n^2 d / 2` for distances, memory of 32 bytes per edge.
//!
//! Equal instances have infinite affinity. `Zero::Limit` takes the limit of equal distances that shrink to 0: a node
//! with `z` such neighbours has `p = 1/z` towards each and 0 towards all others; `Zero::Drop` gives them no edge.
//! Shares are computed relative to the nearest neighbour, so that no distance, however small, overflows.
//!
//! Zhou, Sun, Li: Multi-instance learning by treating instances as non-i.i.d. samples, ICML 2009, section 3.

mod write;

pub use write::{GraphFormat, write_graphs};

use bagwise_core::{BagRef, Result};
use bagwise_engine::edge_map::EdgeMap;
use bagwise_engine::within;

/// How close instances must be to be joined.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Epsilon {
    /// Closer than the mean distance of the pairs of their bag.
    Mean,
    /// Closer than this.
    Number(f64),
}

/// What equal instances mean.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Zero {
    /// An edge, whose affinity is the limit of small distances.
    Limit,
    /// No edge.
    Drop,
}

/// In which order an edge vector names its ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Orient {
    /// Both, each with half the weight.
    Both,
    /// The larger of `(d_u, p_u)` and `(d_v, p_v)` first.
    Canonical,
    /// The earlier instance first.
    Index,
}

/// An edge between instances `ends[0] < ends[1]` of a bag.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Edge {
    /// The instances, counted within their bag.
    pub ends: [u32; 2],
    /// Their distance.
    pub length: f64,
    /// The share of this edge in the affinities at each end.
    pub affinity: [f64; 2],
}

/// The graph of one bag.
#[derive(Clone, Debug, PartialEq)]
pub struct Graph {
    /// Of each node, its edges over all edges; 0 where there are none.
    pub degree: Vec<f64>,
    /// The edges, by first and then by second end.
    pub edges: Vec<Edge>,
}

impl Graph {
    /// The graph of a bag.
    pub fn of(bag: BagRef<'_>, eps: Epsilon, zero: Zero) -> Result<Graph> {
        let mut length = within::squared_distances(bag)?;
        length.data_mut().iter_mut().for_each(|s| *s = s.sqrt());
        let n = length.rows();
        let eps = match eps {
            Epsilon::Number(eps) => eps,
            Epsilon::Mean => {
                let sum: f64 = (0..n).flat_map(|u| length.row(u)[u + 1..].iter()).sum();
                sum / (n * (n - 1) / 2).max(1) as f64
            }
        };
        let mut edges = Vec::new();
        let mut nodes = vec![Node::default(); n];
        for u in 0..n {
            for (v, &length) in length.row(u).iter().enumerate().skip(u + 1) {
                if length < eps && (length > 0.0 || zero == Zero::Limit) {
                    edges.push(Edge { ends: [u as u32, v as u32], length, affinity: [0.0; 2] });
                    nodes[u].meet(length);
                    nodes[v].meet(length);
                }
            }
        }
        for edge in &edges {
            for end in edge.ends {
                nodes[end as usize].affinities += nodes[end as usize].affinity(edge.length);
            }
        }
        for edge in &mut edges {
            edge.affinity = edge.ends.map(|end| {
                let node = &nodes[end as usize];
                node.affinity(edge.length) / node.affinities
            });
        }
        let all = edges.len().max(1) as f64;
        Ok(Graph { degree: nodes.iter().map(|node| node.edges as f64 / all).collect(), edges })
    }

    /// The vector of an edge; for `Orient::Both` the one of its two that starts with the earlier instance.
    pub fn vector(&self, edge: &Edge, orient: Orient) -> [f64; 4] {
        let [u, v] = [0, 1].map(|end| (self.degree[edge.ends[end] as usize], edge.affinity[end]));
        let (u, v) = if orient == Orient::Canonical && v > u { (v, u) } else { (u, v) };
        [u.0, u.1, v.0, v.1]
    }
}

/// How many features an end of an edge has where Gaussian sums over pairs of edges are made by a feature map: their
/// square is the cost of an edge. Nothing if such a map would be too long, and pairs are summed instead.
pub fn feature_count(gamma: f64, tol: f64) -> Option<usize> {
    EdgeMap::new(gamma, tol).map(|map| map.terms())
}

/// What the edges at a node have in common.
#[derive(Clone, Default)]
struct Node {
    edges: usize,
    /// The shortest edge.
    nearest: Option<f64>,
    /// Of all edges together.
    affinities: f64,
}

impl Node {
    fn meet(&mut self, length: f64) {
        self.edges += 1;
        self.nearest = Some(self.nearest.map_or(length, |nearest| nearest.min(length)));
    }

    /// In units of the shortest edge's: at most 1, and the limit where that has no length.
    fn affinity(&self, length: f64) -> f64 {
        match self.nearest {
            Some(0.0) => f64::from(u8::from(length == 0.0)),
            Some(nearest) => nearest / length,
            None => 0.0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use bagwise_core::{Bags, Instances, Mat};

    fn line(positions: &[f64], eps: Epsilon, zero: Zero) -> Graph {
        let instances = Instances::F64(Mat::new(positions.len(), 1, positions.to_vec()));
        Graph::of(Bags::new(instances, vec![0, positions.len()]).unwrap().bag(0), eps, zero).unwrap()
    }

    #[test]
    fn two_instances_are_not_closer_than_their_mean_distance() {
        assert!(line(&[0.0], Epsilon::Mean, Zero::Limit).edges.is_empty());
        assert!(line(&[0.0, 1.0], Epsilon::Mean, Zero::Limit).edges.is_empty());
        let joined = line(&[0.0, 1.0], Epsilon::Number(2.0), Zero::Limit);
        assert_eq!(joined.vector(&joined.edges[0], Orient::Both), [1.0; 4]);
    }

    #[test]
    fn a_wide_threshold_gives_the_complete_graph() {
        let graph = line(&[0.0, 1.0, 3.0, 7.0], Epsilon::Number(f64::INFINITY), Zero::Limit);
        assert_eq!(graph.edges.len(), 6);
        assert_eq!(graph.degree, [0.5; 4]);
        // At 0: affinities 1, 1/3, 1/7.
        let expected = 1.0 / (1.0 + 1.0 / 3.0 + 1.0 / 7.0);
        assert!((graph.edges[0].affinity[0] - expected).abs() < 1e-15);
        for u in 0..4 {
            let at = |e: &Edge| (0..2).filter(|&i| e.ends[i] == u).map(|i| e.affinity[i]).sum::<f64>();
            // Shares of a whole: three roundings.
            assert!((graph.edges.iter().map(at).sum::<f64>() - 1.0).abs() < 1e-15);
        }
    }

    #[test]
    fn equal_instances_share_all_affinity_or_have_no_edge() {
        let limit = line(&[0.0, 0.0, 0.0, 1.0], Epsilon::Number(2.0), Zero::Limit);
        assert_eq!(limit.edges.len(), 6);
        assert_eq!(limit.edges[0].affinity, [0.5, 0.5]);
        // Towards the distant node nothing is left; it sees three equal neighbours.
        assert_eq!(limit.edges[2].affinity, [0.0, 1.0 / 3.0]);
        let dropped = line(&[0.0, 0.0, 0.0, 1.0], Epsilon::Number(2.0), Zero::Drop);
        assert_eq!(dropped.edges.len(), 3);
        assert!(line(&[1.0, 1.0], Epsilon::Mean, Zero::Limit).edges.is_empty());
    }

    #[test]
    fn the_larger_end_comes_first_if_asked() {
        let graph = line(&[0.0, 1.0, 1.5], Epsilon::Number(1.2), Zero::Limit);
        let [first, _] = &graph.edges[..] else { panic!("two edges") };
        assert_eq!(graph.vector(first, Orient::Index)[0], 0.5);
        assert_eq!(graph.vector(first, Orient::Canonical)[0], 1.0);
    }

    #[test]
    fn extreme_distances_give_shares() {
        for scale in [1e-160, 1e-300, 1e150, 1e200, 1e300] {
            let graph = line(&[0.0, scale, 3.0 * scale], Epsilon::Number(f64::INFINITY), Zero::Limit);
            for edge in &graph.edges {
                let v = graph.vector(edge, Orient::Both);
                assert!(v.iter().all(|x| (0.0..=1.0).contains(x)), "{scale}: {v:?}");
            }
        }
    }
}
