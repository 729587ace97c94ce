//! Classification trees on weighted instances, grown level by level: binary cuts of single columns by the Gini impurity, as in
//! CART.
//!
//! All nodes of a level find their cuts in one scan over the sorted columns, so that a tree costs `n d` for each level and the
//! sorting once. Nodes are numbered level by level: a shallower tree is the beginning of a deeper one. A node is a leaf
//! where no cut lowers the impurity, where a side would have too few instances, or at the limit of depth. Nothing is pruned.

use std::collections::VecDeque;

use crate::families::stumps::{Criterion, EQUAL, NodeInstances, SortedColumns};
use crate::method::State;
use crate::state::refuse;
use bagwise_core::{Ctx, Instances, Result};

/// Where a tree stops.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TreeLimits {
    /// Cuts between the root and a leaf at most.
    pub(crate) depth: usize,
    /// Instances on either side of a cut at least.
    pub(crate) leaf: usize,
}

/// What a node asks, and where its answers lie: at or below the cut, then above.
#[derive(Clone, Copy, Debug, PartialEq)]
struct TreeCut {
    attribute: usize,
    cut: f64,
    children: usize,
}

/// Nodes level by level, the root first; nothing at a leaf.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Tree {
    nodes: Vec<Option<TreeCut>>,
    width: usize,
}

/// The number of no node.
const NONE: u32 = u32::MAX;

impl Tree {
    /// Grows a tree. `signed` has the weight of every instance times its class, which is +1 or -1.
    pub(crate) fn grow(instances: &Instances, signed: &[f64], limits: TreeLimits, ctx: &Ctx) -> Result<Tree> {
        let (count, width) = (instances.rows(), instances.cols());
        let columns = SortedColumns::new(instances, ctx)?;
        let equal = EQUAL * signed.iter().map(|s| s.abs()).sum::<f64>();
        let mut nodes: Vec<Option<TreeCut>> = vec![None];
        // The nodes of the last level, and which of them each instance reaches.
        let mut open = vec![0];
        let mut node_of = vec![0; count];
        for _ in 0..limits.depth {
            let mut inside = vec![NodeInstances::default(); open.len()];
            for (&node, &weight) in node_of.iter().zip(signed).filter(|(node, _)| **node != NONE) {
                inside[node as usize].add(weight);
            }
            let cuts = columns.best_of_nodes(signed, &node_of, &inside, limits.leaf, Criterion::Gini, ctx)?;
            let mut next = Vec::new();
            // Of each open node its cut, and the first of its children among the next open ones.
            let mut divided = vec![None; open.len()];
            for (k, cut) in cuts.into_iter().enumerate() {
                let Some(cut) = cut else { continue };
                if cut.cost < inside[k].weights.cost(Criterion::Gini) - equal {
                    let children = nodes.len();
                    nodes[open[k]] = Some(TreeCut { attribute: cut.attribute, cut: cut.cut, children });
                    nodes.extend([None, None]);
                    divided[k] = Some((cut, next.len() as u32));
                    next.extend([children, children + 1]);
                }
            }
            if next.is_empty() {
                break;
            }
            instances.each_row(0..count, |i, row| {
                let own = divided.get(node_of[i] as usize).copied().flatten();
                node_of[i] = own.map_or(NONE, |(cut, first)| first + u32::from(row[cut.attribute] > cut.cut));
            })?;
            open = next;
        }
        Ok(Tree { nodes, width })
    }

    /// The same tree without what lies deeper.
    pub(crate) fn up_to(&self, depth: usize) -> Tree {
        let mut nodes = Vec::new();
        // Depths in the order of nodes: a level ends where the children of the one before end.
        let mut depths = VecDeque::from([0]);
        for node in &self.nodes {
            let Some(own) = depths.pop_front() else { break };
            let kept = node.filter(|_| own < depth);
            if kept.is_some() {
                depths.extend([own + 1, own + 1]);
            }
            nodes.push(kept);
        }
        Tree { nodes, width: self.width }
    }

    /// Number of nodes.
    pub(crate) fn len(&self) -> usize {
        self.nodes.len()
    }

    /// Columns of the instances.
    pub(crate) fn width(&self) -> usize {
        self.width
    }

    /// Calls `see` with every node that an instance passes, from the root to its leaf.
    pub(crate) fn each_node(&self, row: &[f64], mut see: impl FnMut(usize)) {
        let mut at = 0;
        loop {
            see(at);
            let Some(TreeCut { attribute, cut, children }) = self.nodes[at] else { return };
            at = children + usize::from(row[attribute] > cut);
        }
    }

    /// Puts the tree into a state; the attribute of a leaf is one beyond all.
    pub(crate) fn save(&self, state: &mut State) {
        state.put_counts("width", [self.width]);
        state.put_counts("attributes", self.nodes.iter().map(|n| n.map_or(self.width, |n| n.attribute)));
        state.put("cuts", &self.nodes.iter().map(|n| n.map_or(0.0, |n| n.cut)).collect::<Vec<_>>());
    }

    pub(crate) fn load(state: &State) -> Result<Tree> {
        let width = state.count("width")?;
        let attributes = state.counts("attributes")?;
        let cuts = state.vector("cuts", attributes.len())?;
        let mut nodes = Vec::with_capacity(attributes.len());
        let mut children = 1;
        for (at, (&attribute, &cut)) in attributes.iter().zip(&cuts).enumerate() {
            if attribute > width || at >= children {
                return Err(refuse("the nodes of its tree are inconsistent"));
            }
            let inner = attribute < width;
            nodes.push(inner.then_some(TreeCut { attribute, cut, children }));
            children += if inner { 2 } else { 0 };
        }
        if nodes.len() != children {
            return Err(refuse(format!("a tree of {} nodes has {children}", nodes.len())));
        }
        Ok(Tree { nodes, width })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use bagwise_core::{Mat, Rng};

    fn deep(depth: usize, leaf: usize) -> TreeLimits {
        TreeLimits { depth, leaf }
    }

    /// The best cut of some rows by its definition, and the gain.
    fn literal(rows: &Mat, signed: &[f64], own: &[usize], leaf: usize) -> Option<(usize, f64)> {
        let gini = |side: &[usize]| {
            let plus: f64 = side.iter().map(|&i| signed[i].max(0.0)).sum();
            let minus: f64 = side.iter().map(|&i| (-signed[i]).max(0.0)).sum();
            if plus + minus > 0.0 { 2.0 * plus * minus / (plus + minus) } else { 0.0 }
        };
        let mut best: Option<(f64, usize, f64)> = None;
        for c in 0..rows.cols() {
            let mut values: Vec<f64> = own.iter().map(|&i| rows.get(i, c)).collect();
            values.sort_by(f64::total_cmp);
            values.dedup();
            for pair in values.windows(2) {
                let cut = 0.5 * pair[0] + 0.5 * pair[1];
                let (low, high): (Vec<usize>, Vec<usize>) = own.iter().partition(|&&i| rows.get(i, c) <= cut);
                let cost = gini(&low) + gini(&high);
                let few = low.len() < leaf || high.len() < leaf;
                if !few && best.is_none_or(|(least, ..)| cost < least - 1e-12) {
                    best = Some((cost, c, cut));
                }
            }
        }
        best.filter(|(cost, ..)| *cost < gini(own) - 1e-12).map(|(_, c, cut)| (c, cut))
    }

    #[test]
    fn every_node_has_the_cut_that_its_definition_gives() {
        let mut rng = Rng::new(3, "tree", &[]);
        // Few distinct values: ties of columns and of cuts.
        let values: Vec<f64> = (0..80 * 4).map(|_| f64::from(rng.below(6) as u32)).collect();
        let rows = Mat::new(80, 4, values);
        let signed: Vec<f64> =
            (0..80).map(|i| if rng.below(2) == 0 { 1.0 } else { -0.5 } / f64::from(1 + i % 3)).collect();
        let instances = Instances::F64(rows.clone());
        let tree = Tree::grow(&instances, &signed, deep(5, 3), &Ctx::default()).unwrap();
        let mut reached = vec![Vec::new(); tree.len()];
        (0..80).for_each(|i| tree.each_node(rows.row(i), |node| reached[node].push(i)));
        let mut inner = 0;
        // Leaves of the last level may be such because of the limit.
        for (node, own) in reached.iter().enumerate().take(tree.up_to(4).len()) {
            let found = tree.nodes[node].map(|n| (n.attribute, n.cut));
            inner += usize::from(found.is_some());
            assert_eq!(literal(&rows, &signed, own, 3), found, "node {node}");
        }
        assert!(inner > 5, "{inner}");
    }

    #[test]
    fn a_shallower_tree_is_the_beginning_of_a_deeper_one() {
        let mut rng = Rng::new(5, "tree", &[]);
        let rows = Mat::new(60, 3, (0..180).map(|_| rng.below(1000) as f64).collect());
        let signed: Vec<f64> = (0..60).map(|i| if i % 3 == 0 { 1.0 } else { -1.0 }).collect();
        let instances = Instances::F64(rows);
        let whole = Tree::grow(&instances, &signed, deep(8, 1), &Ctx::default()).unwrap();
        for depth in 0..8 {
            let own = Tree::grow(&instances, &signed, deep(depth, 1), &Ctx::default()).unwrap();
            assert_eq!(whole.up_to(depth), own, "{depth}");
        }
        assert!(whole.len() > whole.up_to(3).len());
    }

    #[test]
    fn an_altered_tree_is_refused() {
        let rows = Instances::F64(Mat::from_rows(&[[1.0, 5.0], [2.0, 5.0], [3.0, 5.0]]));
        let tree = Tree::grow(&rows, &[1.0, -1.0, 1.0], deep(4, 1), &Ctx::default()).unwrap();
        let mut state = State::default();
        tree.save(&mut state);
        assert_eq!(Tree::load(&state).unwrap(), tree);
        assert_eq!(tree.len(), 5);
        for attributes in
            [vec![0, 0, 0, 2, 2], vec![2, 2, 2, 2, 2], vec![9, 2, 2, 2, 2], vec![0, 0, 2, 2], vec![]]
        {
            let mut altered = state.clone();
            altered.put_counts("attributes", attributes.iter().copied());
            altered.put("cuts", &vec![0.0; attributes.len()]);
            assert!(Tree::load(&altered).is_err(), "{attributes:?}");
        }
    }
}
