//! Optimal transport between two sets of points with uniform weights: the earth mover's distance, exactly, or for large sets
//! within a known error ([`super::entropic`]).
//!
//! A network simplex on the complete bipartite graph. Weights are whole numbers (each of m points sends `n / gcd`, each of n
//! receives `m / gcd`), perturbed so that no basis is degenerate: with a factor of `2 m + 2` on all weights, every sender has one
//! more and the last receiver takes these m. No proper subset of senders then balances a subset of receivers, so that every
//! pivot moves something, nothing cycles, and flows are exact. The optimal basis is also one of the weights without
//! perturbation, whose flows are the nearest multiples (Orden 1956). The start takes the cheapest receivers with room, sender by
//! sender; the entering arc is the best of a block of rows. At the end the potentials are computed again from the tree and every
//! arc is checked with them: they certify the optimum.

use rayon::prelude::*;

use super::bag_distances::{PackedBags, reserve};
use super::entropic::entropic_cost;
use super::simd::least_difference;
use bagwise_core::{Bags, Ctx, Mat, Message, Result};

/// A reduced cost counts as negative below this share of the largest cost: far above what potentials lose by rounding, and a
/// bound on the error of the total, since all mass is 1.
const TOLERANCE: f64 = 1e-13;

/// What is moved, and the potentials that prove that no cheaper way exists.
#[derive(Clone, Debug, PartialEq)]
pub struct TransportPlan {
    /// The mean cost of a unit of mass.
    pub cost: f64,
    /// Sender, receiver and mass; all masses add up to 1.
    pub moves: Vec<(usize, usize, f64)>,
    /// For each sender; its potential and that of a receiver add up to at most their cost.
    pub senders: Vec<f64>,
    /// For each receiver.
    pub receivers: Vec<f64>,
}

/// The cheapest way to move the uniform distribution on the rows to that on the columns of a matrix of finite costs.
pub fn transport(costs: &Mat, ctx: &Ctx) -> Result<TransportPlan> {
    let mut tree = BasisTree::new(costs);
    tree.start();
    tree.pivot_until_optimal(ctx)?;
    Ok(tree.plan())
}

/// How the cost of a pair of bags is found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TransportSolver {
    /// Exactly up to [`LARGE_PAIR`], above it within the error of [`entropic_cost`].
    Auto,
    /// Always exactly.
    Exact,
    /// Always within the error.
    Entropic,
}

/// Pairs of instances from which on a search within an error takes less time than an exact one: 2,000 with 2,000.
pub const LARGE_PAIR: usize = 4_000_000;

impl TransportSolver {
    /// Whether bags of these sizes are compared within an error only. One instance has a single way to go.
    pub fn approximates(self, m: usize, n: usize) -> bool {
        m.min(n) > 1
            && match self {
                TransportSolver::Auto => m * n > LARGE_PAIR,
                TransportSolver::Exact => false,
                TransportSolver::Entropic => true,
            }
    }
}

/// The cost alone; bags of one instance need no search.
pub fn transport_cost(costs: &Mat, solver: TransportSolver, ctx: &Ctx) -> Result<f64> {
    let (m, n) = (costs.rows(), costs.cols());
    if m.min(n) == 1 {
        return Ok(costs.data().iter().sum::<f64>() / m.max(n) as f64);
    }
    let found = if solver.approximates(m, n) { entropic_cost(costs, ctx)? } else { None };
    found.map_or_else(|| Ok(transport(costs, ctx)?.cost), Ok)
}

/// The earth mover's distances of all pairs of bags, by distances of instances or by their squares: exactly symmetric, 0 on the
/// diagonal.
pub fn earth_movers(bags: &Bags, euclid: bool, solver: TransportSolver, ctx: &Ctx) -> Result<Mat> {
    let mut all = between(bags, bags, true, euclid, solver, ctx)?;
    super::pairs::mirror(&mut all);
    Ok(all)
}

/// The earth mover's distances of new bags to kept ones, new x kept.
pub fn earth_movers_to(
    new: &Bags,
    kept: &Bags,
    euclid: bool,
    solver: TransportSolver,
    ctx: &Ctx,
) -> Result<Mat> {
    between(new, kept, false, euclid, solver, ctx)
}

fn between(
    rows: &Bags,
    cols: &Bags,
    symmetric: bool,
    euclid: bool,
    solver: TransportSolver,
    ctx: &Ctx,
) -> Result<Mat> {
    reserve(rows.len(), cols.len(), ctx)?;
    let all = cols.instance_count();
    let largest = (0..rows.len()).map(|b| rows.rows(b).len()).max().unwrap_or(0);
    let threads = rayon::current_num_threads();
    ctx.reserve(
        "distances of the instances of a bag to all others",
        8 * (largest * all * threads) as u64,
        Message::more_memory().or("use fewer instances of the largest bags"),
    )?;
    let columns = PackedBags::new(cols, rows.instances())?;
    let mut out = Mat::zeros(rows.len(), cols.len());
    // The largest bags first, so that no thread is left with one of them at the end.
    let mut lines: Vec<(usize, &mut [f64])> = out.data_mut().chunks_mut(cols.len()).enumerate().collect();
    lines.sort_by_key(|(b, _)| std::cmp::Reverse(rows.rows(*b).len()));
    lines.into_par_iter().try_for_each(|(b, line)| {
        let first = if symmetric { b + 1 } else { 0 };
        if first == cols.len() {
            return Ok(());
        }
        let instances = rows.rows(b);
        let mut costs = vec![0.0; instances.len() * all];
        columns.each_tile(rows.instances(), instances.clone(), first, ctx, |row, from, values| {
            let own = &mut costs[row * all..][from..from + values.len()];
            own.iter_mut().zip(values).for_each(|(c, v)| *c = if euclid { v.sqrt() } else { *v });
        })?;
        for other in first..cols.len() {
            let of_row = |i: usize| costs[i * all..][cols.rows(other)].iter().copied();
            let values = (0..instances.len()).flat_map(of_row).collect();
            let pair = Mat::new(instances.len(), cols.rows(other).len(), values);
            line[other] = transport_cost(&pair, solver, ctx)?;
        }
        Ok(())
    })?;
    Ok(out)
}

const NONE: u32 = u32::MAX;

/// A basis: a spanning tree of senders `0..m` and receivers `m..m + n`, hung from sender 0.
struct BasisTree<'c> {
    costs: &'c Mat,
    m: usize,
    n: usize,
    /// The factor of the perturbation.
    scale: i64,
    /// What a sender sends without the perturbation.
    sent: i64,
    received: i64,
    parent: Vec<u32>,
    /// On the arc to the parent.
    flow: Vec<i64>,
    depth: Vec<u32>,
    potential: Vec<f64>,
    first_child: Vec<u32>,
    next: Vec<u32>,
    previous: Vec<u32>,
    /// Where the search for the next arc begins.
    cursor: usize,
    stack: Vec<u32>,
}

fn gcd(a: usize, b: usize) -> usize {
    if b == 0 { a } else { gcd(b, a % b) }
}

impl<'c> BasisTree<'c> {
    fn new(costs: &'c Mat) -> BasisTree<'c> {
        let (m, n) = (costs.rows(), costs.cols());
        let common = gcd(m, n);
        let nodes = m + n;
        BasisTree {
            costs,
            m,
            n,
            scale: 2 * m as i64 + 2,
            sent: (n / common) as i64,
            received: (m / common) as i64,
            parent: vec![NONE; nodes],
            flow: vec![0; nodes],
            depth: vec![0; nodes],
            potential: vec![0.0; nodes],
            first_child: vec![NONE; nodes],
            next: vec![NONE; nodes],
            previous: vec![NONE; nodes],
            cursor: 0,
            stack: Vec::new(),
        }
    }

    fn cost(&self, a: usize, b: usize) -> f64 {
        let (sender, receiver) = (a.min(b), a.max(b) - self.m);
        self.costs.get(sender, receiver)
    }

    /// A basis from the cheapest receivers with room, sender by sender. Every arc fills a receiver or empties a sender, never
    /// both but the last: so the arcs are a tree.
    fn start(&mut self) {
        let (m, n) = (self.m, self.n);
        let mut room = vec![self.received * self.scale; n];
        room[n - 1] += m as i64;
        let mut arcs: Vec<Vec<(u32, i64)>> = vec![Vec::new(); m + n];
        for i in 0..m {
            let mut left = self.sent * self.scale + 1;
            while left > 0 {
                let open = (0..n).filter(|&j| room[j] > 0);
                let row = self.costs.row(i);
                let best = open.min_by(|&a, &b| row[a].total_cmp(&row[b])).expect("weights are balanced");
                let moved = left.min(room[best]);
                left -= moved;
                room[best] -= moved;
                arcs[i].push(((m + best) as u32, moved));
                arcs[m + best].push((i as u32, moved));
            }
        }
        let mut open = vec![0u32];
        while let Some(node) = open.pop() {
            for &(other, flow) in &arcs[node as usize] {
                if other != self.parent[node as usize] {
                    self.hang(other as usize, node as usize, flow);
                    open.push(other);
                }
            }
        }
        self.settle(0);
    }

    /// Makes a node without a parent the first child of another.
    fn hang(&mut self, node: usize, parent: usize, flow: i64) {
        let before = self.first_child[parent];
        self.parent[node] = parent as u32;
        self.flow[node] = flow;
        self.next[node] = before;
        self.previous[node] = NONE;
        if before != NONE {
            self.previous[before as usize] = node as u32;
        }
        self.first_child[parent] = node as u32;
    }

    /// Takes a node from its parent.
    fn cut(&mut self, node: usize) {
        let (before, after) = (self.previous[node], self.next[node]);
        match before {
            NONE => self.first_child[self.parent[node] as usize] = after,
            _ => self.next[before as usize] = after,
        }
        if after != NONE {
            self.previous[after as usize] = before;
        }
        self.parent[node] = NONE;
    }

    /// Depths and potentials below a node, from those of the node.
    fn settle(&mut self, node: usize) {
        self.stack.clear();
        self.stack.push(node as u32);
        while let Some(node) = self.stack.pop() {
            let node = node as usize;
            let mut child = self.first_child[node];
            while child != NONE {
                let c = child as usize;
                self.depth[c] = self.depth[node] + 1;
                self.potential[c] = self.cost(node, c) - self.potential[node];
                self.stack.push(child);
                child = self.next[c];
            }
        }
    }

    /// The arc with the most negative reduced cost among the next rows that have one.
    fn entering(&mut self, tolerance: f64) -> Option<(usize, usize)> {
        let block = ((self.m as f64 / self.n as f64).sqrt().ceil() as usize).max(1);
        let (senders, receivers) = self.potential.split_at(self.m);
        let mut best = (-tolerance, usize::MAX);
        for seen in 1..=self.m {
            let i = self.cursor;
            self.cursor = if i + 1 == self.m { 0 } else { i + 1 };
            let least = least_difference(self.costs.row(i), receivers) - senders[i];
            if least < best.0 {
                best = (least, i);
            }
            if seen % block == 0 && best.1 != usize::MAX {
                break;
            }
        }
        let (_, i) = best;
        if i == usize::MAX {
            return None;
        }
        let row = self.costs.row(i);
        let reduced = |j: &usize| row[*j] - receivers[*j];
        let j = (0..self.n).min_by(|a, b| reduced(a).total_cmp(&reduced(b)))?;
        Some((i, self.m + j))
    }

    /// Brings an arc into the basis and takes the one out whose flow ends first.
    fn pivot(&mut self, sender: usize, receiver: usize) {
        // What the new arc takes over, it takes from senders on its sender's side and receivers on the other.
        let (mut a, mut b) = (sender, receiver);
        let (mut leaving, mut least, mut on_sender_side) = (usize::MAX, i64::MAX, true);
        while a != b {
            if self.depth[a] >= self.depth[b] {
                if a < self.m && self.flow[a] < least {
                    (leaving, least, on_sender_side) = (a, self.flow[a], true);
                }
                a = self.parent[a] as usize;
            } else {
                if b >= self.m && self.flow[b] < least {
                    (leaving, least, on_sender_side) = (b, self.flow[b], false);
                }
                b = self.parent[b] as usize;
            }
        }
        let top = a;
        let m = self.m;
        let mut node = sender;
        while node != top {
            self.flow[node] += if node < m { -least } else { least };
            node = self.parent[node] as usize;
        }
        node = receiver;
        while node != top {
            self.flow[node] += if node < m { least } else { -least };
            node = self.parent[node] as usize;
        }
        // The part below the leaving arc hangs from the other end of the new one.
        let (inside, outside) = if on_sender_side { (sender, receiver) } else { (receiver, sender) };
        let (mut node, mut above, mut flow) = (inside, outside, least);
        loop {
            let (next, below) = (self.parent[node] as usize, self.flow[node]);
            self.cut(node);
            self.hang(node, above, flow);
            if node == leaving {
                break;
            }
            (above, node, flow) = (node, next, below);
        }
        self.depth[inside] = self.depth[outside] + 1;
        self.potential[inside] = self.cost(inside, outside) - self.potential[outside];
        self.settle(inside);
    }

    fn pivot_until_optimal(&mut self, ctx: &Ctx) -> Result<()> {
        let largest = self.costs.data().iter().fold(0.0f64, |most, c| most.max(c.abs()));
        let tolerance = TOLERANCE * largest;
        for pivots in 0u64.. {
            if pivots % 64 == 0 {
                ctx.check()?;
            }
            match self.entering(tolerance) {
                Some((sender, receiver)) => self.pivot(sender, receiver),
                None => break,
            }
        }
        Ok(())
    }

    fn plan(&self) -> TransportPlan {
        let total = (self.sent * self.m as i64) as f64;
        let mut moves = Vec::with_capacity(self.m + self.n - 1);
        for node in 1..self.m + self.n {
            let other = self.parent[node] as usize;
            let (sender, receiver) = (node.min(other), node.max(other) - self.m);
            // The perturbation of a flow is at most m either way: less than half of the factor.
            let units = (self.flow[node] + self.m as i64).div_euclid(self.scale);
            if units > 0 {
                moves.push((sender, receiver, units as f64 / total));
            }
        }
        moves.sort_by_key(|&(sender, receiver, _)| (sender, receiver));
        let cost = moves.iter().map(|&(i, j, mass)| mass * self.costs.get(i, j)).sum();
        let (senders, receivers) = self.potential.split_at(self.m);
        TransportPlan { cost, moves, senders: senders.to_vec(), receivers: receivers.to_vec() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use bagwise_core::Rng;

    /// That masses are right, that potentials allow no cheaper way, and that both agree on the cost.
    fn certify(costs: &Mat, what: &str) -> f64 {
        let TransportPlan { cost, moves, senders, receivers } = transport(costs, &Ctx::default()).unwrap();
        let (m, n) = (costs.rows(), costs.cols());
        let mut sent = vec![0.0; m];
        let mut received = vec![0.0; n];
        for &(i, j, mass) in &moves {
            assert!(mass > 0.0, "{what}");
            sent[i] += mass;
            received[j] += mass;
        }
        let near = |a: f64, b: f64| (a - b).abs() <= 1e-12;
        assert!(sent.iter().all(|s| near(*s, 1.0 / m as f64)), "{what}: {sent:?}");
        assert!(received.iter().all(|r| near(*r, 1.0 / n as f64)), "{what}: {received:?}");
        let largest = costs.data().iter().fold(0.0f64, |most, c| most.max(c.abs()));
        for i in 0..m {
            for j in 0..n {
                let slack = costs.get(i, j) - senders[i] - receivers[j];
                assert!(slack >= -1e-9 * largest, "{what}: {slack} at {i}, {j}");
            }
        }
        let dual = senders.iter().sum::<f64>() / m as f64 + receivers.iter().sum::<f64>() / n as f64;
        assert!((cost - dual).abs() <= 1e-9 * largest, "{what}: {cost} and {dual}");
        cost
    }

    fn points(count: usize, width: usize, rng: &mut Rng, whole: bool) -> Vec<Vec<f64>> {
        let mut value = || if whole { rng.below(3) as f64 } else { rng.normal() };
        (0..count).map(|_| (0..width).map(|_| value()).collect()).collect()
    }

    fn costs(a: &[Vec<f64>], b: &[Vec<f64>], euclid: bool) -> Mat {
        let squared = |x: &[f64], z: &[f64]| x.iter().zip(z).map(|(x, z)| (x - z) * (x - z)).sum::<f64>();
        let e = |x: &[f64], z: &[f64]| if euclid { squared(x, z).sqrt() } else { squared(x, z) };
        Mat::new(a.len(), b.len(), a.iter().flat_map(|x| b.iter().map(move |z| e(x, z))).collect())
    }

    #[test]
    fn every_plan_is_certified_by_its_potentials() {
        let mut rng = Rng::new(1, "transport", &[]);
        for case in 0..1000 {
            let (m, n) = match case % 5 {
                // One with many, equal numbers, and any.
                0 => (1, 1 + rng.below(500)),
                1 => (1 + rng.below(40), 1),
                2 => {
                    let m = 1 + rng.below(25);
                    (m, m)
                }
                _ => (1 + rng.below(30), 1 + rng.below(30)),
            };
            // Whole numbers have many ties and equal points.
            let (whole, width) = (case % 3 == 0, 1 + case % 4);
            let (a, b) = (points(m, width, &mut rng, whole), points(n, width, &mut rng, whole));
            for euclid in [true, false] {
                let costs = costs(&a, &b, euclid);
                let cost = certify(&costs, &format!("case {case}, {m} x {n}"));
                let known = transport_cost(&costs, TransportSolver::Auto, &Ctx::default()).unwrap();
                assert!((cost - known).abs() <= 1e-12 * cost.max(1.0));
            }
        }
    }

    #[test]
    fn large_problems_and_equal_points_are_certified() {
        let mut rng = Rng::new(2, "transport", &[]);
        let (a, b) = (points(600, 3, &mut rng, false), points(600, 3, &mut rng, false));
        assert!(certify(&costs(&a, &b, true), "600 x 600") > 0.0);
        assert_eq!(certify(&costs(&a, &a, true), "itself"), 0.0);
        let same = vec![vec![1.0, 2.0]; 40];
        assert_eq!(certify(&costs(&same, &same[..7], false), "one point"), 0.0);
        let (a, b) = (points(350, 2, &mut rng, true), points(210, 2, &mut rng, true));
        certify(&costs(&a, &b, false), "many ties");
    }

    #[test]
    fn on_a_line_sorted_points_are_matched() {
        let mut rng = Rng::new(3, "transport", &[]);
        for _ in 0..50 {
            let n = 2 + rng.below(40);
            let (a, b) = (points(n, 1, &mut rng, false), points(n, 1, &mut rng, false));
            let sorted = |points: &[Vec<f64>]| {
                let mut values: Vec<f64> = points.iter().map(|p| p[0]).collect();
                values.sort_by(f64::total_cmp);
                values
            };
            let known: f64 = sorted(&a).iter().zip(sorted(&b)).map(|(x, z)| (x - z).abs()).sum();
            let found = certify(&costs(&a, &b, true), "a line");
            assert!((found - known / n as f64).abs() < 1e-12);
        }
    }
}
