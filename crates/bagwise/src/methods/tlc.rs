//! TLC, two-level classification: a tree learns from instances, a bag becomes the numbers of its instances in the nodes of the
//! tree, and a linear support vector machine learns on these.
//!
//! Every instance has the label of its bag and the weight 1/m of a bag of m. A tree of binary cuts divides the space of instances
//! (`families/trees.rs`). Coordinate k of a bag is the number of its instances that pass node k, interior nodes
//! included, over the standard deviation of that number among training bags and over the root of the number of nodes that vary.
//! Output and parts are linear in the counts: the part of an instance is the sum of the weights of the nodes it
//! passes, and parts add up exactly.
//!
//! Linear in the instances: columns are sorted once, n d log n, and each level of the tree is one scan, n d; shallower trees of a
//! grid are the beginnings of the deepest. Memory 20 n d bytes. Scaling does not matter: any increasing map of a column
//! gives the same nodes.
//!
//! Weidmann, Frank, Pfahringer: A two-level learning method for generalized multi-instance problems, ECML 2003. Both levels
//! differ from the original, hence "TLC (CART)" in tables. Its tree is C4.5: cuts by gain ratio, and pruned by pessimistic
//! error estimates; ours cuts by the Gini impurity, as CART, and is not pruned but limited in depth, which is tuned. Its second
//! level is LogitBoost, ten regression stumps on the counts; ours is a linear SVM.

use std::collections::BTreeSet;
use std::sync::Arc;

use rayon::prelude::*;

use crate::families::embedding::{Embedded, Embedding};
use crate::families::kernel_svm::KernelSvm;
use crate::families::svm;
use crate::families::trees::{Tree, TreeLimits};
use crate::method::{Info, MemoryEstimate, Scope, State};
use crate::params::{Kind, ParamSpec, Point};
use crate::preprocess::Scale;
use crate::state::refuse;
use bagwise_core::{Bags, Ctx, Error, Mat, Message, Result};

/// The method, for the registry.
pub(crate) static METHOD: KernelSvm<Embedded<Tlc>> = KernelSvm { info: &INFO, kernel: Embedded(Tlc) };

#[derive(Clone)]
pub(crate) struct Tlc;

static INFO: Info = Info {
    name: "tlc",
    aliases: &["two-level"],
    title: "counts of instances in the nodes of a tree and a linear SVM",
    about: "A decision tree is grown on all instances, each with the label of its bag and an equal share of its weight. A bag \
            becomes the numbers of its instances that pass each node, standardised, and a linear SVM is trained on these \
            vectors. The original has a pruned C4.5 tree and boosted stumps on the counts (LogitBoost). Here, the tree is that \
            of CART (Gini impurity), limited in depth instead of pruned, and the second level is an SVM, so that the \
            contributions of instances add up.",
    reference: "Weidmann, Frank, Pfahringer: A two-level learning method for generalized multi-instance problems, ECML 2003",
    family: "embedding + SVM",
    regression: false,
    scale: Scale::None,
    complexity: 22,
    learns_labels: true,
    params: PARAMS,
    ..Info::USUAL
};

static PARAMS: &[ParamSpec] = &[
    ParamSpec::new(
        "depth",
        Kind::Whole { least: 1, most: 30, words: &[] },
        "4",
        "Maximum depth of the tree: the number of comparisons from the root to a leaf.",
    )
    .grid("2,4,8"),
    ParamSpec::new(
        "leaf",
        Kind::Whole { least: 1, most: 1_000_000, words: &[] },
        "2",
        "Minimum number of instances in a leaf.",
    ),
    ParamSpec { default: "1", grid: "0.1,1,10", ..svm::COST },
];

/// How a tree is grown, and what was learned.
#[derive(Clone)]
pub(crate) struct TlcParams {
    limits: TreeLimits,
    learned: Option<Arc<NodeCounts>>,
}

/// A tree, and the factor of the count of each of its nodes.
struct NodeCounts {
    tree: Tree,
    factors: Vec<f64>,
}

/// Before anything is learned: what it is learned by.
impl PartialEq for TlcParams {
    fn eq(&self, other: &TlcParams) -> bool {
        self.limits == other.limits
    }
}

impl TlcParams {
    fn learned(&self) -> &NodeCounts {
        self.learned.as_ref().expect("a tree is learned before bags are mapped")
    }
}

impl NodeCounts {
    fn new(tree: Tree, bags: &Bags, train: &[usize]) -> Result<NodeCounts> {
        let counts = train.par_iter().map(|&b| count(&tree, bags, b)).collect::<Result<Vec<_>>>()?;
        let n = counts.len() as f64;
        let variance = |node: usize| {
            let mean = counts.iter().map(|c| c[node]).sum::<f64>() / n;
            counts.iter().map(|c| (c[node] - mean) * (c[node] - mean)).sum::<f64>() / n
        };
        let variances: Vec<f64> = (0..tree.len()).map(variance).collect();
        let varying = variances.iter().filter(|v| **v > 0.0).count() as f64;
        // What is the same for all training bags says nothing of others.
        let factor = |v: &f64| if *v > 0.0 { 1.0 / (v * varying).sqrt() } else { 0.0 };
        let factors = variances.iter().map(factor).collect();
        Ok(NodeCounts { tree, factors })
    }
}

/// How many instances of a bag pass each node.
fn count(tree: &Tree, bags: &Bags, bag: usize) -> Result<Vec<f64>> {
    let mut counts = vec![0.0; tree.len()];
    bags.instances().each_row(bags.rows(bag), |_, row| tree.each_node(row, |node| counts[node] += 1.0))?;
    Ok(counts)
}

impl Embedding for Tlc {
    type Params = TlcParams;

    fn read(&self, point: &Point) -> Result<TlcParams> {
        let whole = |name: &str| Ok::<_, Error>(point.whole(name)?.unwrap_or(1));
        Ok(TlcParams { limits: TreeLimits { depth: whole("depth")?, leaf: whole("leaf")? }, learned: None })
    }

    fn is_linear(&self, _: &Point) -> Result<bool> {
        Ok(true)
    }

    fn work(&self, bags: &Bags, representations: usize) -> f64 {
        // Sorting; some five levels of each tree, whose values lie far apart; then its counts.
        let values = (bags.instance_count() * bags.width()) as f64;
        values * 500.0 + representations as f64 * (values * 5.0 * 110.0 + bags.instance_count() as f64 * 60.0)
    }

    fn needs_besides(&self, bags: &Bags) -> MemoryEstimate {
        // The training instances, and every column sorted: values and rows. A deep tree has a node for each instance at most.
        let values = (bags.instance_count() * bags.width()) as u64;
        let nodes = bags.instance_count().min(1 << 8) as u64;
        MemoryEstimate { fixed: 20 * values, each: 3 * 8 * nodes * bags.len() as u64 }
    }

    fn learn_all(&self, params: &mut [TlcParams], bags: &Bags, scope: &Scope<'_>, ctx: &Ctx) -> Result<()> {
        let rows: Vec<usize> = scope.train.iter().flat_map(|&b| bags.rows(b)).collect();
        ctx.reserve(
            "the training instances",
            (8.0 * rows.len() as f64 * bags.values_per_instance()) as u64,
            Message::more_memory().or("use fewer instances or columns"),
        )?;
        let instances = bags.instances().gather(&rows).in_memory()?;
        let of_bag = |(&b, y): (&usize, &f64)| {
            let size = bags.rows(b).len();
            std::iter::repeat_n(y.signum() / size as f64, size)
        };
        let signed: Vec<f64> = scope.train.iter().zip(scope.y).flat_map(of_bag).collect();
        let mut deepest: Vec<(TreeLimits, Tree)> = Vec::new();
        for leaf in params.iter().map(|p| p.limits.leaf).collect::<BTreeSet<_>>() {
            let same = params.iter().map(|p| p.limits).filter(|l| l.leaf == leaf);
            let limits = TreeLimits { depth: same.map(|l| l.depth).max().unwrap_or(1), leaf };
            deepest.push((limits, Tree::grow(&instances, &signed, limits, ctx)?));
        }
        for params in params {
            let grown = deepest.iter().find(|(limits, _)| limits.leaf == params.limits.leaf);
            let tree = grown.expect("one was grown for each size of a leaf").1.up_to(params.limits.depth);
            params.learned = Some(Arc::new(NodeCounts::new(tree, bags, scope.train)?));
        }
        Ok(())
    }

    fn vectors(&self, params: &TlcParams, bags: &Bags, ctx: &Ctx) -> Result<Mat> {
        let NodeCounts { tree, factors } = params.learned();
        let one = |b: usize| {
            ctx.check()?;
            let mut counts = count(tree, bags, b)?;
            counts.iter_mut().zip(factors).for_each(|(c, f)| *c *= f);
            Ok(counts)
        };
        let rows: Vec<Vec<f64>> = (0..bags.len()).into_par_iter().map(one).collect::<Result<_>>()?;
        Ok(Mat::from_rows(&rows))
    }

    fn columns(&self, params: &TlcParams, _: usize) -> usize {
        params.learned().tree.width()
    }

    fn weighted_parts(
        &self,
        params: &TlcParams,
        weights: &Mat,
        bags: &Bags,
        ctx: &Ctx,
    ) -> Result<Option<Mat>> {
        let NodeCounts { tree, factors } = params.learned();
        let mut parts = Mat::zeros(bags.instance_count(), weights.rows());
        for b in 0..bags.len() {
            ctx.check()?;
            bags.instances().each_row(bags.rows(b), |i, row| {
                let own = parts.row_mut(i);
                tree.each_node(row, |node| {
                    own.iter_mut()
                        .enumerate()
                        .for_each(|(k, part)| *part += weights.get(k, node) * factors[node]);
                });
            })?;
        }
        Ok(Some(parts))
    }

    fn save(&self, params: &TlcParams, state: &mut State) {
        let NodeCounts { tree, factors } = params.learned();
        tree.save(state);
        state.put("factors", factors);
    }

    fn load(&self, params: &mut TlcParams, state: &State) -> Result<()> {
        let tree = Tree::load(state)?;
        let factors = state.vector("factors", tree.len())?;
        if factors.iter().any(|f| *f < 0.0) {
            return Err(refuse("a factor of its counts is below 0"));
        }
        params.learned = Some(Arc::new(NodeCounts { tree, factors }));
        Ok(())
    }
}
