//! Rows go down trees, many rows of a block down the same tree at a time.
//!
//! A step has no branch: the next node is the left child, plus one if the value is not below the split, and leaves lead
//! to themselves. Eight rows take their steps side by side, so that the loads of one hide the latency of the others, until none
//! of them moves. A tree of 16 bytes a node and a few hundred rows stay in the caches together.

use std::sync::OnceLock;

use super::forest::{Forest, TreeNode};
use super::{BLOCK, Block};
use crate::simd::Element;

/// Rows that step together: their places fit the registers.
const TOGETHER: usize = 8;

/// Steps between two looks at whether any row still moves.
const STEPS: usize = 2;

/// Bytes of rows that go down all trees before the next: half of a second-level cache.
const ROW_BYTES: usize = 1 << 18;

/// Forests ready to be gone down, one for each psi.
pub(super) struct ForestWalk<'a> {
    forests: Vec<&'a Forest>,
    /// For sparse rows, made when the first are met.
    used: OnceLock<UsedAttributes>,
}

/// The attributes that occur in splits, and nodes that name them by their place among these: sparse rows may be much
/// wider than what is looked at.
struct UsedAttributes {
    /// For each attribute its place; the largest number if it is not used.
    places: Vec<u32>,
    count: usize,
    nodes: Vec<Vec<TreeNode>>,
}

impl UsedAttributes {
    fn new(forests: &[&Forest]) -> UsedAttributes {
        let width = forests.first().map_or(0, |f| f.width());
        let mut places = vec![u32::MAX; width];
        let inner = |node: &TreeNode| !node.split.is_nan();
        for node in forests.iter().flat_map(|f| f.nodes()).filter(|n| inner(n)) {
            places[node.attribute as usize] = 0;
        }
        let mut count = 0;
        for place in places.iter_mut().filter(|place| **place == 0) {
            *place = count;
            count += 1;
        }
        let renamed = |node: &TreeNode| {
            let attribute = if inner(node) { places[node.attribute as usize] } else { 0 };
            TreeNode { attribute, ..*node }
        };
        let nodes = forests.iter().map(|f| f.nodes().iter().map(renamed).collect()).collect();
        // Leaves look at a value too.
        UsedAttributes { places, count: (count as usize).max(1), nodes }
    }
}

impl<'a> ForestWalk<'a> {
    pub(super) fn new(forests: Vec<&'a Forest>) -> ForestWalk<'a> {
        ForestWalk { forests, used: OnceLock::new() }
    }

    /// Cells of `count` rows.
    pub(super) fn find(&self, block: &Block<'_>, count: usize, found: &mut [Vec<u16>]) {
        match block {
            Block::F64(x) => self.dense(x, count, found),
            Block::F32(x) => self.dense(x, count, found),
            Block::Sparse(rows, range) => {
                let used = self.used.get_or_init(|| UsedAttributes::new(&self.forests));
                let most = rows_at_a_time::<f64>(used.count);
                let mut x = vec![0.0; most * used.count];
                for first in (0..count).step_by(most) {
                    let some = most.min(count - first);
                    x.fill(0.0);
                    for (row, x) in x.chunks_exact_mut(used.count).take(some).enumerate() {
                        let (columns, values) = rows.row(range.start + first + row);
                        for (&column, &v) in columns.iter().zip(values) {
                            if let Some(value) = x.get_mut(used.places[column as usize] as usize) {
                                *value = v;
                            }
                        }
                    }
                    let nodes = used.nodes.iter().map(Vec::as_slice);
                    self.descend(nodes, &x[..some * used.count], used.count, first, found);
                }
            }
        }
    }

    fn dense<X: Element>(&self, x: &[X], count: usize, found: &mut [Vec<u16>]) {
        let width = x.len() / count.max(1);
        assert!(self.forests.iter().all(|f| f.width() == width), "rows are as wide as the trees");
        let most = rows_at_a_time::<X>(width);
        for (part, x) in x.chunks(most * width).enumerate() {
            let nodes = self.forests.iter().map(|f| f.nodes());
            self.descend(nodes, x, width, part * most, found);
        }
    }

    /// All trees for some rows, the first of which is row `first` of the block.
    fn descend<'n, X: Element>(
        &self,
        nodes: impl Iterator<Item = &'n [TreeNode]>,
        x: &[X],
        width: usize,
        first: usize,
        found: &mut [Vec<u16>],
    ) {
        for ((forest, nodes), found) in self.forests.iter().zip(nodes).zip(found) {
            for i in 0..forest.t() {
                let (_, cells) = forest.tree(i);
                let out = &mut found[i * BLOCK + first..][..x.len() / width];
                // SAFETY: a forest is made with children inside their tree and attributes below its width, which is that
                // of dense rows; renamed attributes are below the number of used ones.
                unsafe { go_down(&nodes[forest.range(i)], cells, x, width, out) };
            }
        }
    }
}

fn rows_at_a_time<X>(width: usize) -> usize {
    (ROW_BYTES / (width * size_of::<X>())).clamp(TOGETHER, BLOCK) / TOGETHER * TOGETHER
}

/// The cells of rows in one tree.
///
/// # Safety
/// The children of every node are in `nodes`, which has as many entries as `cells`, and its attribute is below `width`; there
/// are `width` values for every cell that is asked for.
unsafe fn go_down<X: Element>(nodes: &[TreeNode], cells: &[u16], x: &[X], width: usize, out: &mut [u16]) {
    assert!(nodes.len() == cells.len() && x.len() == out.len() * width);
    // A tree with this many leaves has at least one that is this deep.
    let surely = nodes.len().div_ceil(2).ilog2();
    for (some, out) in out.chunks_mut(TOGETHER).enumerate() {
        let x = &x[some * TOGETHER * width..][..out.len() * width];
        let mut at = [0u32; TOGETHER];
        // The last rows of a block are fewer: the others repeat the first.
        let rows: [usize; TOGETHER] = std::array::from_fn(|l| if l < out.len() { l * width } else { 0 });
        let step = |at: &mut [u32; TOGETHER]| {
            for l in 0..TOGETHER {
                // SAFETY: `at` is the root or a child, and the row has a value for every attribute.
                unsafe {
                    let node = nodes.get_unchecked(at[l] as usize);
                    let value = x.get_unchecked(rows[l] + node.attribute as usize).to_f64();
                    at[l] = node.child + u32::from(value >= node.split);
                }
            }
        };
        (0..surely).for_each(|_| step(&mut at));
        loop {
            let before = at;
            (0..STEPS).for_each(|_| step(&mut at));
            if at == before {
                break;
            }
        }
        for (out, &at) in out.iter_mut().zip(&at) {
            *out = cells[at as usize];
        }
    }
}
