//! Isolation trees: the cells of a partitioning are the leaves of a random tree over its psi instances.
//!
//! A node with different points draws an attribute among those with a range there, and a split between the least and the
//! largest value; what is below the split goes left. A node whose points are all equal is a leaf. Leaves are counted
//! from left to right. The draws of a node come from a stream of its own, keyed by psi, tree and the node's number in
//! preorder. No distances, no scaling: finding a cell is about 2 ln psi comparisons.

use std::rc::Rc;

use rayon::prelude::*;

use super::{CentreLists, MOST_CENTRES};
use bagwise_core::{Csr, Ctx, Error, Instances, Message, Result, Rng};

/// A node as a row passes it: on to `child`, or to the next one if the value is not below the split. A leaf leads to itself,
/// by a split that is not a number, which nothing reaches.
#[derive(Clone, Copy, Debug)]
pub(super) struct TreeNode {
    pub(super) split: f64,
    pub(super) attribute: u32,
    pub(super) child: u32,
}

/// An inner node of a tree: values of the attribute below `at` go left.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Split {
    /// The attribute.
    pub attribute: u32,
    /// The first value that goes right.
    pub at: f64,
}

/// t trees of at most psi leaves.
#[derive(Clone, Debug)]
pub struct Forest {
    width: usize,
    psi: usize,
    /// Tree after tree; children are numbered inside their tree.
    nodes: Vec<TreeNode>,
    /// For each node that is a leaf its cell.
    cells: Vec<u16>,
    /// Where each tree begins, and the end.
    starts: Vec<usize>,
}

impl Forest {
    /// Trees from their nodes in preorder, one tree after the other; `None` is a leaf.
    pub fn new(width: usize, t: usize, psi: usize, preorder: &[Option<Split>]) -> Result<Forest> {
        if width == 0 || t == 0 || psi == 0 || psi > MOST_CENTRES {
            return Err(Error::Invalid(format!("{t} trees of up to {psi} leaves over {width} attributes")));
        }
        let mut nodes = preorder.iter();
        let mut trees = Vec::new();
        for _ in 0..t {
            let mut tree = GrowingTree::new();
            let mut waiting = vec![0];
            while let Some(place) = waiting.pop() {
                match nodes.next() {
                    None => return Err(Error::Invalid("a tree ends before its leaves".into())),
                    Some(None) => tree.make_leaf(place),
                    Some(Some(split)) if (split.attribute as usize) < width && split.at.is_finite() => {
                        let child = tree.divide(place, *split);
                        waiting.extend([child + 1, child]);
                    }
                    Some(Some(split)) => {
                        return Err(Error::Invalid(format!(
                            "a tree splits attribute {} of {width} at {}",
                            split.attribute, split.at
                        )));
                    }
                }
                if tree.leaves > psi {
                    return Err(Error::Invalid(format!("a tree has more than {psi} leaves")));
                }
            }
            trees.push(tree);
        }
        if nodes.next().is_some() {
            return Err(Error::Invalid(format!("there are nodes beyond the {t} trees")));
        }
        Ok(Forest::of(width, psi, trees))
    }

    fn of(width: usize, psi: usize, trees: Vec<GrowingTree>) -> Forest {
        let mut forest = Forest { width, psi, nodes: Vec::new(), cells: Vec::new(), starts: vec![0] };
        for tree in trees {
            forest.nodes.extend(tree.nodes);
            forest.cells.extend(tree.cells);
            forest.starts.push(forest.nodes.len());
        }
        // `go_down` relies on this and does not look again.
        for tree in forest.starts.windows(2).map(|w| &forest.nodes[w[0]..w[1]]) {
            // A leaf is its own child, an inner node has two side by side.
            let last = |n: &TreeNode| n.child as usize + usize::from(!n.split.is_nan());
            let inside = |n: &TreeNode| (n.attribute as usize) < width && last(n) < tree.len();
            assert!(!tree.is_empty() && tree.iter().all(inside), "children and attributes are there");
        }
        forest
    }

    /// Grows a tree over the first `psi` centres of every list.
    pub(super) fn grow(lists: &CentreLists, psi: usize, ctx: &Ctx) -> Result<Forest> {
        // Two nodes for each instance.
        ctx.reserve(
            "the trees of all partitionings",
            (lists.t * 2 * psi * (size_of::<TreeNode>() + size_of::<u16>())) as u64,
            Message::more_memory().or("choose a smaller psi or t"),
        )?;
        let trees = (0..lists.t)
            .into_par_iter()
            .map(|i| {
                ctx.check()?;
                let sample = Sample::of(lists, &lists.list(i)[..psi])?;
                Ok(grow_tree(sample, |node| Rng::new(ctx.seed, "forest", &[psi as u64, i as u64, node])))
            })
            .collect::<Result<Vec<_>>>()?;
        Ok(Forest::of(lists.width(), psi, trees))
    }

    /// The nodes of all trees in preorder; `None` is a leaf.
    pub fn preorder(&self) -> Vec<Option<Split>> {
        let mut all = Vec::with_capacity(self.nodes.len());
        for i in 0..self.t() {
            let (nodes, _) = self.tree(i);
            let mut waiting = vec![0];
            while let Some(place) = waiting.pop() {
                let TreeNode { split: at, attribute, child } = nodes[place as usize];
                let leaf = child == place;
                all.push((!leaf).then_some(Split { attribute, at }));
                if !leaf {
                    waiting.extend([child + 1, child]);
                }
            }
        }
        all
    }

    /// The largest number of leaves of a tree.
    pub fn psi(&self) -> usize {
        self.psi
    }

    /// Number of trees.
    pub fn t(&self) -> usize {
        self.starts.len() - 1
    }

    /// Number of attributes.
    pub fn width(&self) -> usize {
        self.width
    }

    /// The nodes of all trees, as rows pass them.
    pub(super) fn nodes(&self) -> &[TreeNode] {
        &self.nodes
    }

    /// Where the nodes of a tree lie.
    pub(super) fn range(&self, i: usize) -> std::ops::Range<usize> {
        self.starts[i]..self.starts[i + 1]
    }

    /// The nodes of a tree, and the cells of those that are leaves.
    pub(super) fn tree(&self, i: usize) -> (&[TreeNode], &[u16]) {
        (&self.nodes[self.range(i)], &self.cells[self.range(i)])
    }
}

/// A tree whose nodes are divided or made leaves in preorder.
struct GrowingTree {
    nodes: Vec<TreeNode>,
    cells: Vec<u16>,
    leaves: usize,
}

impl GrowingTree {
    fn new() -> GrowingTree {
        let mut tree = GrowingTree { nodes: Vec::new(), cells: Vec::new(), leaves: 0 };
        tree.add();
        tree
    }

    fn add(&mut self) -> u32 {
        let place = self.nodes.len() as u32;
        self.nodes.push(TreeNode { split: f64::NAN, attribute: 0, child: place });
        self.cells.push(0);
        place
    }

    fn make_leaf(&mut self, place: u32) {
        self.cells[place as usize] = self.leaves as u16;
        self.leaves += 1;
    }

    /// Gives a node two children, which lie side by side.
    fn divide(&mut self, place: u32, split: Split) -> u32 {
        let child = self.add();
        self.add();
        self.nodes[place as usize] = TreeNode { split: split.at, attribute: split.attribute, child };
        child
    }
}

/// Where to split between two values: above the lower and not above the higher, so that both sides have points.
pub(super) fn split_between(low: f64, high: f64, uniform: f64) -> f64 {
    // In two parts, since the difference of finite numbers may be infinite.
    let at = if (high - low).is_finite() {
        low + uniform * (high - low)
    } else {
        (1.0 - uniform) * low + uniform * high
    };
    let at = if at > low { at.min(high) } else { low + (0.5 * high - 0.5 * low) };
    // Between neighbours there is no middle.
    if at > low { at } else { high }
}

fn grow_tree(mut sample: Sample, stream: impl Fn(u64) -> Rng) -> GrowingTree {
    let mut tree = GrowingTree::new();
    let mut members: Vec<u32> = (0..sample.rows as u32).collect();
    // A list and not recursion: a tree may be as deep as it has points.
    let mut waiting = vec![(0, 0..sample.rows, sample.attributes())];
    let mut number = 0;
    while let Some((place, range, attributes)) = waiting.pop() {
        let here = &mut members[range.clone()];
        let varying = sample.varying(here, attributes);
        if varying.is_empty() {
            tree.make_leaf(place);
        } else {
            let mut rng = stream(number);
            let attribute = varying[rng.below(varying.len())];
            let values = here.iter().map(|&row| sample.value(row, attribute));
            let (low, high) =
                values.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), v| (low.min(v), high.max(v)));
            let at = split_between(low, high, rng.uniform());
            let mut left = 0;
            for k in 0..here.len() {
                if sample.value(here[k], attribute) < at {
                    here.swap(left, k);
                    left += 1;
                }
            }
            let child = tree.divide(place, Split { attribute, at });
            let middle = range.start + left;
            waiting.push((child + 1, middle..range.end, Rc::clone(&varying)));
            waiting.push((child, range.start..middle, varying));
        }
        number += 1;
    }
    tree
}

/// The instances a tree is grown from.
struct Sample {
    rows: usize,
    width: usize,
    values: SampleValues,
}

enum SampleValues {
    Dense(Vec<f64>),
    /// With room to note what a node has of each attribute.
    Sparse(Csr, Vec<NonzeroRange>),
}

/// What the members of a node have of an attribute besides zeros.
#[derive(Clone, Copy, Default)]
struct NonzeroRange {
    count: usize,
    low: f64,
    high: f64,
}

impl Sample {
    fn of(lists: &CentreLists, list: &[u32]) -> Result<Sample> {
        let width = lists.width();
        let rows: Vec<usize> = list.iter().map(|&c| c as usize).collect();
        let values = match &lists.centres {
            Instances::Sparse(csr) => {
                SampleValues::Sparse(csr.gather(&rows), vec![NonzeroRange::default(); width])
            }
            dense => {
                let mut values = vec![0.0; rows.len() * width];
                for (&row, out) in rows.iter().zip(values.chunks_exact_mut(width)) {
                    dense.row_into(row, out)?;
                }
                SampleValues::Dense(values)
            }
        };
        Ok(Sample { rows: rows.len(), width, values })
    }

    /// The attributes that may vary; sparse samples find those themselves.
    fn attributes(&self) -> Rc<[u32]> {
        match &self.values {
            SampleValues::Dense(_) => (0..self.width as u32).collect(),
            SampleValues::Sparse(..) => Rc::default(),
        }
    }

    fn value(&self, row: u32, attribute: u32) -> f64 {
        match &self.values {
            SampleValues::Dense(values) => values[row as usize * self.width + attribute as usize],
            SampleValues::Sparse(rows, _) => {
                let (columns, values) = rows.row(row as usize);
                columns.binary_search(&attribute).map_or(0.0, |k| values[k])
            }
        }
    }

    /// In ascending order the attributes that differ between some rows, which are among those of the node above.
    fn varying(&mut self, members: &[u32], above: Rc<[u32]>) -> Rc<[u32]> {
        match &mut self.values {
            SampleValues::Dense(values) => varying_dense(values, self.width, members, above),
            SampleValues::Sparse(rows, noted) => varying_sparse(rows, noted, members),
        }
    }
}

fn varying_dense(values: &[f64], width: usize, members: &[u32], above: Rc<[u32]>) -> Rc<[u32]> {
    let row = |member: u32| &values[member as usize * width..][..width];
    let [first, others @ ..] = members else { return Rc::default() };
    let first = row(*first);
    let Some((second, others)) = others.split_first() else { return Rc::default() };
    let equal = |row: &[f64], a: u32| row[a as usize] == first[a as usize];
    let second = row(*second);
    let mut same: Vec<u32> = above.iter().copied().filter(|&a| equal(second, a)).collect();
    for &other in others {
        // What no longer varies does not vary again; mostly all still do.
        if same.is_empty() {
            break;
        }
        let other = row(other);
        same.retain(|&a| equal(other, a));
    }
    if same.is_empty() {
        return above;
    }
    let mut same = same.into_iter().peekable();
    above.iter().copied().filter(|a| same.next_if_eq(a).is_none()).collect()
}

fn varying_sparse(rows: &Csr, noted: &mut [NonzeroRange], members: &[u32]) -> Rc<[u32]> {
    let mut met: Vec<u32> = Vec::new();
    for &row in members {
        let (columns, values) = rows.row(row as usize);
        for (&column, &v) in columns.iter().zip(values) {
            let noted = &mut noted[column as usize];
            if noted.count == 0 {
                met.push(column);
                *noted = NonzeroRange { count: 0, low: v, high: v };
            }
            *noted = NonzeroRange { count: noted.count + 1, low: noted.low.min(v), high: noted.high.max(v) };
        }
    }
    met.sort_unstable();
    met.retain(|&column| {
        let NonzeroRange { count, low, high } = std::mem::take(&mut noted[column as usize]);
        if count < members.len() { low.min(0.0) < high.max(0.0) } else { low < high }
    });
    met.into()
}
