//! Weighted set kernels over a kernel of instances, the Gaussian `exp(-gamma |a - b|^2)` unless a method offers others:
//!
//! `K(X, Y) = sum_t sum_{a in X, b in Y} w_t(a) w_t(b) k(a, b)`, then normalised.
//!
//! A method of this family says how the instances of bags are weighted (one vector or several, by the bag alone or by what
//! was learned from training bags) and how the sum is normalised, and may add a sum over edges. Grams, comparison with
//! new bags, parts of instances, saving and loading are here, once; `base_kernel` knows which engine sums which kernel.
//! A bag whose similarity with itself is 0 (a linear kernel of instances that cancel, say) has cosine 0 with every other
//! bag and 1 with itself. Unless a method learns, an entry depends on its two bags (and on `gamma`) only, so Grams over all bags leak
//! nothing; a `gamma` relative to the median distance is resolved on training instances.

use std::sync::Arc;

use rayon::prelude::*;

use crate::families::base_kernel::{self, BaseKernel, WeightedSum};
use crate::families::edges::{EdgeGrams, KeptEdges, NewEdges};
use crate::families::kernel_svm::{BagKernel, CrossKernel, Grams, InstanceKernel, ReferenceBags, dot};
use crate::families::wanted_rows;
use crate::families::width::{Width, pass};
use crate::graph::Graph;
use crate::method::{MemoryEstimate, Scope, State, WeightedConcept};
use crate::params::{Grid, Point, index_in};
use crate::preprocess::Scale;
use crate::state::refuse;
use bagwise_core::{BagRef, Bags, Csr, Ctx, Error, Instances, Mat, Message, Result};
use bagwise_engine::Side;
use bagwise_engine::cells::Distance;

/// What the sum is divided by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Norm {
    /// Nothing.
    None,
    /// The sums of the weights of both bags.
    Sums,
    /// The roots of the sums of the weights.
    RootSums,
    /// The roots of the self-similarities: every bag has similarity 1 with itself.
    Cosine,
}

impl Norm {
    /// What each bag's rows and columns are divided by, from its sum with itself and its weights; 0 for a bag without
    /// length.
    fn factors(self, own: &[f64], weights: &[f64], offsets: &[usize]) -> Vec<f64> {
        let total = |b: usize| weights[offsets[b]..offsets[b + 1]].iter().sum::<f64>();
        (0..own.len())
            .map(|b| match self {
                Norm::None => 1.0,
                Norm::Sums => total(b),
                Norm::RootSums => total(b).sqrt(),
                // Rounding may leave a sum of terms of both signs below 0.
                Norm::Cosine => own[b].max(0.0).sqrt(),
            })
            .collect()
    }
}

/// What the author of a method writes.
pub(crate) trait SetKernel: Clone + Send + Sync + 'static {
    /// The parameters of a point besides the width (which tables have as `families::width::WIDTH`), and what was learned
    /// for it.
    type Params: Clone + Send + Sync;

    fn read(&self, point: &Point) -> Result<Self::Params>;

    fn norm(&self, params: &Self::Params) -> Norm;

    /// The weights of all instances of some bags at points with their resolved widths.
    fn weigh(&self, points: &[(Self::Params, f64)], bags: &Bags, ctx: &Ctx) -> Result<Weights>;

    /// The kernel of two instances.
    fn base(&self, _params: &Self::Params) -> BaseKernel {
        BaseKernel::Gaussian(Distance::Euclidean)
    }

    /// True if the weights need all distances inside a bag.
    fn looks_within(&self) -> bool {
        false
    }

    /// As [`Method::reuses_labels`](crate::method::Method::reuses_labels).
    fn reuses_labels(&self, _params: &Self::Params) -> bool {
        false
    }

    /// As [`BagKernel::work`].
    fn work(&self, bags: &Bags, representations: usize) -> f64 {
        let within = if self.looks_within() { bags.pairs_within() } else { 0.0 };
        pass(bags, representations)
            + within * (4.0 * bags.values_per_instance() + 60.0 * representations as f64)
    }

    /// As [`BagKernel::search_work`].
    fn search_work(&self, _bags: &Bags, _grid: &Grid, _share: f64) -> f64 {
        0.0
    }

    /// As [`BagKernel::search_name`].
    fn search_name(&self, _grid: &Grid) -> Option<String> {
        None
    }

    /// As [`BagKernel::needs_besides`].
    fn needs_besides(&self, bags: &Bags) -> MemoryEstimate {
        // The engine's packed copy of the instances, and a weight vector.
        let packed = match bags.instances() {
            Instances::Sparse(_) => bags.instances().bytes(),
            _ => 8 * (bags.instance_count() * bags.width()) as u64,
        };
        MemoryEstimate { fixed: packed, each: 8 * bags.instance_count() as u64 }
    }

    /// Learns from training bags, for all points together.
    fn learn(
        &self,
        _params: &mut [Self::Params],
        _bags: &Bags,
        _scope: &Scope<'_>,
        _ctx: &Ctx,
    ) -> Result<()> {
        Ok(())
    }

    /// Puts what was learned, for bags with this many columns, into a state.
    fn save(&self, _params: &Self::Params, _columns: usize, _state: &mut State) {}

    /// Takes it from there.
    fn load(&self, _params: &mut Self::Params, _columns: usize, _state: &State) -> Result<()> {
        Ok(())
    }

    /// The concepts that were learned.
    fn concepts(&self, _params: &Self::Params) -> Option<Vec<WeightedConcept>> {
        None
    }

    /// Sums over edges, which are added to those over instances: for each point one of the matrices.
    fn edge_sums(
        &self,
        _points: &[(Self::Params, f64)],
        _bags: &Bags,
        _train: &[usize],
        _ctx: &Ctx,
    ) -> Result<Option<(EdgeGrams, Vec<Mat>)>> {
        Ok(None)
    }

    /// The edges of this many bags from a state.
    fn load_edges(&self, _params: &Self::Params, _bags: usize, _state: &State) -> Result<Option<KeptEdges>> {
        Ok(None)
    }
}

/// Weight vectors over all instances of some bags, and which of them the kernel sums over at each point.
pub(crate) struct Weights {
    pub(crate) vectors: Vec<Vec<f64>>,
    pub(crate) terms: Vec<Vec<usize>>,
}

impl Weights {
    /// Every instance counts 1.
    pub(crate) fn equal(points: usize, bags: &Bags) -> Weights {
        Weights { vectors: vec![vec![1.0; bags.instance_count()]], terms: vec![vec![0]; points] }
    }

    /// Positive weights that the other instances of the bag decide; `of` gives a vector for each point.
    pub(crate) fn within(
        points: usize,
        bags: &Bags,
        ctx: &Ctx,
        of: impl Fn(BagRef<'_>) -> Result<Vec<Vec<f64>>> + Sync,
    ) -> Result<Weights> {
        let largest = bags.offsets().windows(2).map(|w| w[1] - w[0]).max().unwrap_or(0) as u64;
        // Distances and, for cliques, as many dissimilarities of pairs.
        ctx.reserve(
            "comparing all instances of the largest bag",
            12 * largest * largest,
            Message::more_memory().or("choose a method that does not look inside bags"),
        )?;
        let per_bag: Vec<Vec<Vec<f64>>> =
            (0..bags.len()).into_par_iter().map(|b| of(bags.bag(b))).collect::<Result<_>>()?;
        let mut vectors: Vec<Vec<f64>> = Vec::new();
        let terms = (0..points)
            .map(|p| {
                let vector: Vec<f64> = per_bag.iter().flat_map(|w| w[p].iter().copied()).collect();
                vec![index_in(&mut vectors, vector, |a, b| a == b)]
            })
            .collect();
        Ok(Weights { vectors, terms })
    }
}

/// A set kernel as a bag kernel.
pub(crate) struct WeightedSet<S>(pub(crate) S);

impl<S: SetKernel> BagKernel for WeightedSet<S> {
    fn reuses_labels(&self, point: &Point) -> bool {
        self.0.read(point).is_ok_and(|params| self.0.reuses_labels(&params))
    }

    fn scale(&self, points: &[Point], usual: Scale) -> Scale {
        if base_kernel::is_text(points) { Scale::None } else { usual }
    }

    fn refuses(&self, method: &str, points: &[Point], scale: Scale) -> Option<Error> {
        base_kernel::refuses_distance(method, points).or(base_kernel::refuses_scaling(points, scale))
    }

    fn work(&self, bags: &Bags, representations: usize) -> f64 {
        self.0.work(bags, representations)
    }

    fn search_work(&self, bags: &Bags, grid: &Grid, share: f64) -> f64 {
        self.0.search_work(bags, grid, share)
    }

    fn search_name(&self, grid: &Grid) -> Option<String> {
        self.0.search_name(grid)
    }

    fn needs_besides(&self, bags: &Bags) -> MemoryEstimate {
        self.0.needs_besides(bags)
    }

    fn keeps_instances(&self) -> bool {
        true
    }

    fn grams(
        &self,
        bags: Arc<Bags>,
        points: &[&Point],
        scope: &Scope<'_>,
        ctx: &Ctx,
    ) -> Result<Box<dyn Grams>> {
        let widths = points.iter().map(|p| Width::read(p)).collect::<Result<Vec<_>>>()?;
        let mut params = points.iter().map(|p| self.0.read(p)).collect::<Result<Vec<_>>>()?;
        let resolve = |by: Distance| Width::resolve(&widths, &bags, bags.width(), by, scope);
        let mut gammas = resolve(Distance::Euclidean)?;
        let is_text = |params: &S::Params| self.0.base(params).distance() == Distance::Text;
        if params.iter().any(is_text) {
            let by_text = resolve(Distance::Text)?;
            let text = (0..gammas.len()).filter(|&p| is_text(&params[p]));
            text.for_each(|p| gammas[p] = by_text[p]);
        }
        self.0.learn(&mut params, &bags, scope, ctx)?;
        let points: Vec<(S::Params, f64)> = params.into_iter().zip(gammas).collect();
        let weights = self.0.weigh(&points, &bags, ctx)?;
        // Points that differ only in their normalisation share a sum.
        let mut wanted: Vec<WeightedSum> = Vec::new();
        let output: Vec<usize> = points
            .iter()
            .zip(&weights.terms)
            .map(|((params, gamma), terms)| {
                let sum = WeightedSum { kernel: self.0.base(params), gamma: *gamma, terms: terms.clone() };
                sum.place(&mut wanted)
            })
            .collect();
        let part = wanted_rows(scope, bags.len());
        let mut sums = base_kernel::own_sums(&side(&bags, &weights.vectors), &part, &wanted, ctx)?;
        let (edges, edge_sums) = self.0.edge_sums(&points, &bags, scope.train, ctx)?.unzip();
        let (mut grams, mut factors) = (Vec::new(), Vec::new());
        for (r, (params, _)) in points.iter().enumerate() {
            // The last to use a sum takes it; the others copy.
            let needed_again = output[r + 1..].contains(&output[r]);
            let mut gram = if needed_again {
                sums[output[r]].clone()
            } else {
                std::mem::replace(&mut sums[output[r]], Mat::zeros(0, 0))
            };
            if let (Some(edges), Some(sums)) = (&edges, &edge_sums) {
                add(&mut gram, &sums[edges.which(r)]);
            }
            let own: Vec<f64> = (0..gram.rows()).map(|b| gram.get(b, b)).collect();
            let first = &weights.vectors[weights.terms[r][0]];
            let own_factors = self.0.norm(params).factors(&own, first, bags.offsets());
            normalise(&mut gram, &own_factors, &own_factors);
            let without_length = own_factors.iter().enumerate().filter(|(_, f)| **f == 0.0);
            without_length.for_each(|(b, _)| gram.set(b, b, 1.0));
            grams.push(gram);
            factors.push(own_factors);
        }
        Ok(Box::new(SetGrams { kernel: self.0.clone(), bags, points, weights, edges, grams, factors }))
    }

    fn load(&self, point: &Point, state: &State) -> Result<Box<dyn ReferenceBags>> {
        let mut params = self.0.read(point)?;
        let bags = state.bags()?;
        self.0.load(&mut params, bags.width(), state)?;
        let weights = state.mat("weights")?;
        if weights.rows() == 0 || weights.cols() != bags.instance_count() {
            return Err(refuse("weights and instances differ in number"));
        }
        let weights: Vec<Vec<f64>> = (0..weights.rows()).map(|t| weights.row(t).to_vec()).collect();
        let factors = state.vector("factors", bags.len())?;
        // Several weights of an instance are a vector, whose parts may be anything.
        let positive = weights.iter().filter(|_| weights.len() == 1).flatten().chain(&factors);
        if positive.into_iter().any(|&v| v < 0.0) {
            return Err(refuse("a weight or norm is below 0"));
        }
        let own = state.vector("own", bags.len())?;
        let edges = self.0.load_edges(&params, bags.len(), &state.nested("edges"))?;
        let point = (params, state.positive("gamma")?);
        Ok(Box::new(KeptBags { kernel: self.0.clone(), point, bags, weights, factors, own, edges }))
    }
}

fn side<'a>(bags: &'a Bags, weights: &'a [Vec<f64>]) -> Side<'a> {
    Side { instances: bags.instances(), offsets: bags.offsets(), weights }
}

fn add(sums: &mut Mat, more: &Mat) {
    let width = sums.cols().max(1);
    sums.data_mut().par_chunks_mut(width).zip(more.data().par_chunks(width)).for_each(|(sums, more)| {
        sums.iter_mut().zip(more).for_each(|(sum, more)| *sum += more);
    });
}

fn normalise(gram: &mut Mat, rows: &[f64], cols: &[f64]) {
    gram.data_mut().par_chunks_mut(cols.len().max(1)).zip(rows).for_each(|(row, row_factor)| {
        for (value, col_factor) in row.iter_mut().zip(cols) {
            *value = divided(*value, row_factor * col_factor, 0.0);
        }
    });
}

/// A sum over a factor; `without` where a bag has no length.
fn divided(sum: f64, factor: f64, without: f64) -> f64 {
    if factor == 0.0 { without } else { sum / factor }
}

/// The share of each instance in the weight of its bag; equal shares where no instance has weight.
pub(crate) fn shares(weights: &[f64], offsets: &[usize]) -> Vec<f64> {
    let of_bag = |w: &[usize]| {
        let own = &weights[w[0]..w[1]];
        let total: f64 = own.iter().sum();
        own.iter().map(|v| divided(*v, total, 1.0 / own.len() as f64)).collect::<Vec<f64>>()
    };
    offsets.windows(2).flat_map(of_bag).collect()
}

/// Prepared bags at all points.
struct SetGrams<S: SetKernel> {
    kernel: S,
    bags: Arc<Bags>,
    points: Vec<(S::Params, f64)>,
    weights: Weights,
    edges: Option<EdgeGrams>,
    grams: Vec<Mat>,
    factors: Vec<Vec<f64>>,
}

impl<S: SetKernel> Grams for SetGrams<S> {
    fn gram(&self, representation: usize) -> &Mat {
        &self.grams[representation]
    }

    fn bank(&self, representation: usize, train: &[usize], ctx: &Ctx) -> Result<Box<dyn ReferenceBags>> {
        let gather = |&term: &usize| {
            train
                .iter()
                .flat_map(|&b| self.weights.vectors[term][self.bags.rows(b)].iter().copied())
                .collect()
        };
        let (gram, factors) = (&self.grams[representation], &self.factors[representation]);
        // A model keeps no reference to files or arrays that may change.
        let bags = Arc::new(self.bags.select(train)).in_memory(ctx)?;
        Ok(Box::new(KeptBags {
            kernel: self.kernel.clone(),
            point: self.points[representation].clone(),
            bags: Arc::unwrap_or_clone(bags),
            weights: self.weights.terms[representation].iter().map(gather).collect(),
            factors: train.iter().map(|&b| factors[b]).collect(),
            own: train.iter().map(|&b| gram.get(b, b)).collect(),
            edges: self.edges.as_ref().map(|e| e.keep(representation, train, ctx)).transpose()?,
        }))
    }
}

/// Training bags with all that a comparison needs.
struct KeptBags<S: SetKernel> {
    kernel: S,
    point: (S::Params, f64),
    bags: Bags,
    /// A vector for each term.
    weights: Vec<Vec<f64>>,
    factors: Vec<f64>,
    /// The normalised kernel of each bag with itself.
    own: Vec<f64>,
    edges: Option<KeptEdges>,
}

/// What is known of new bags before they are compared.
struct NewBags {
    weights: Vec<Vec<f64>>,
    factors: Vec<f64>,
    own: Vec<f64>,
    edges: Option<NewEdges>,
}

impl NewBags {
    /// The factor of each instance's bag.
    fn factors_of_instances(&self, bags: &Bags) -> Vec<f64> {
        let of_bag = |(b, factor): (usize, &f64)| vec![*factor; bags.rows(b).len()];
        self.factors.iter().enumerate().flat_map(of_bag).collect()
    }
}

impl<S: SetKernel> KeptBags<S> {
    fn wanted(&self) -> [WeightedSum; 1] {
        let (params, gamma) = &self.point;
        let terms = (0..self.weights.len()).collect();
        [WeightedSum { kernel: self.kernel.base(params), gamma: *gamma, terms }]
    }

    /// The sums of some instances, cut into bags by `offsets`, with the kept bags.
    fn sums(&self, bags: &Bags, offsets: &[usize], weights: &[Vec<f64>], ctx: &Ctx) -> Result<Mat> {
        let (rows, cols) = (Side { offsets, ..side(bags, weights) }, side(&self.bags, &self.weights));
        Ok(base_kernel::sums(&rows, &cols, &self.wanted(), ctx)?.remove(0))
    }

    /// The sums of every instance, with the weight that it has in its bag, with the kept bags.
    fn instance_sums(&self, bags: &Bags, weights: &[Vec<f64>], ctx: &Ctx) -> Result<Mat> {
        self.sums(bags, &bagwise_engine::rows::singles(bags.instance_count()).0, weights, ctx)
    }

    fn look_at(&self, bags: &Bags, ctx: &Ctx) -> Result<NewBags> {
        let weights = self.kernel.weigh(std::slice::from_ref(&self.point), bags, ctx)?.vectors;
        if weights.len() != self.weights.len() {
            return Err(refuse("its bags and its kernel differ in the number of weights"));
        }
        let mut own = base_kernel::self_sums(&side(bags, &weights), &self.wanted(), ctx)?.remove(0);
        let edges = self.edges.as_ref().map(|e| e.look_at(bags, ctx)).transpose()?;
        if let (Some(kept), Some(new)) = (&self.edges, &edges) {
            own.iter_mut().zip(kept.own(new, ctx)?).for_each(|(sum, edges)| *sum += edges);
        }
        let factors = self.kernel.norm(&self.point.0).factors(&own, &weights[0], bags.offsets());
        own.iter_mut().zip(&factors).for_each(|(k, f)| *k = divided(*k, f * f, 1.0));
        Ok(NewBags { weights, factors, own, edges })
    }
}

impl<S: SetKernel> ReferenceBags for KeptBags<S> {
    fn len(&self) -> usize {
        self.bags.len()
    }

    fn width(&self) -> usize {
        self.bags.width()
    }

    fn compare(&self, bags: &Bags, ctx: &Ctx) -> Result<CrossKernel> {
        let NewBags { weights, factors, own, edges } = self.look_at(bags, ctx)?;
        let mut kernel = self.sums(bags, bags.offsets(), &weights, ctx)?;
        if let (Some(kept), Some(new)) = (&self.edges, &edges) {
            add(&mut kernel, &kept.sums(new, ctx)?);
        }
        normalise(&mut kernel, &factors, &self.factors);
        Ok(CrossKernel { kernel, own, kept: self.own.clone() })
    }

    fn parts(&self, bags: &Bags, ctx: &Ctx) -> Result<InstanceKernel> {
        let new = self.look_at(bags, ctx)?;
        let mut kernel = self.instance_sums(bags, &new.weights, ctx)?;
        if let (Some(kept), Some(new)) = (&self.edges, &new.edges) {
            kept.add_halves(new, &mut kernel, ctx)?;
        }
        normalise(&mut kernel, &new.factors_of_instances(bags), &self.factors);
        let weights = new.weights;
        let share = match &weights[..] {
            [only] => shares(only, bags.offsets()),
            several => {
                // The weight of an instance is the length of its vector.
                let length =
                    |i: usize| several.iter().map(|w| w[i] * w[i]).sum::<f64>().sqrt().max(f64::MIN_POSITIVE);
                shares(&(0..bags.instance_count()).map(length).collect::<Vec<f64>>(), bags.offsets())
            }
        };
        Ok(InstanceKernel { kernel, share })
    }

    fn weighted_parts(&self, coefficients: &Csr, bags: &Bags, ctx: &Ctx) -> Result<Option<Mat>> {
        // The edges of all kept bags are one matrix for each output, instead of one for each bag. All instances have the same
        // share in their bag where all weights are one.
        let equal = self.weights.iter().flatten().all(|&weight| weight == 1.0);
        let combined = self.edges.as_ref().filter(|_| equal && coefficients.rows() < self.len());
        let Some(combined) = combined.and_then(|edges| edges.combined(coefficients, &self.factors)) else {
            return Ok(None);
        };
        let new = self.look_at(bags, ctx)?;
        let mut kernel = self.instance_sums(bags, &new.weights, ctx)?;
        let factors = new.factors_of_instances(bags);
        normalise(&mut kernel, &factors, &self.factors);
        let mut parts = Mat::zeros(bags.instance_count(), coefficients.rows());
        if let Some(new) = &new.edges {
            combined.add_halves(new, &mut parts, ctx)?;
        }
        for (i, factor) in factors.iter().enumerate() {
            for (k, part) in parts.row_mut(i).iter_mut().enumerate() {
                *part = divided(*part, *factor, 0.0) + dot(kernel.row(i), coefficients.row(k));
            }
        }
        Ok(Some(parts))
    }

    fn graphs(&self, bags: &Bags, ctx: &Ctx) -> Result<Option<Vec<Graph>>> {
        self.edges.as_ref().map(|e| e.graphs(bags, ctx)).transpose()
    }

    fn concepts(&self) -> Option<Vec<WeightedConcept>> {
        self.kernel.concepts(&self.point.0)
    }

    fn save(&self) -> Result<State> {
        let mut state = State::default();
        state.put_bags(&self.bags)?;
        self.kernel.save(&self.point.0, self.bags.width(), &mut state);
        state.put_mat("weights", &Mat::from_rows(&self.weights));
        state.put("factors", &self.factors);
        state.put("own", &self.own);
        state.put("gamma", &[self.point.1]);
        if let Some(edges) = &self.edges {
            state.nest("edges", edges.save()?);
        }
        Ok(state)
    }
}
