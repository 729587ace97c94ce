//! Weighted set kernels over the Gaussian instance kernel:
//!
//! `K(X, Y) = sum_{a in X, b in Y} w(a) w(b) exp(-gamma |a - b|^2)`, then normalised.
//!
//! A method of this family says how the instances of one bag are weighted and how the sum is normalised; the
//! pairs engine makes all Grams of a grid in one pass. An entry depends on its two bags (and on `gamma`) only, so
//! Grams over all bags leak nothing; a `gamma` relative to the median distance is resolved on training instances.

use std::sync::Arc;

use rayon::prelude::*;

use crate::families::kernel_svm::{BagKernel, Bank, Comparison, Grams, Parts};
use crate::method::{Info, Needs, Scope, State, Tensor, refuse};
use crate::params::{Kind, Level, ParamSpec, Point, Value, index_in};
use crate::preprocess::median;
use bagwise_core::{BagRef, Bags, Csr, Ctx, Instances, Mat, Message, Result, Rng};
use bagwise_engine::{Output, Side};

/// The width of the Gaussian.
pub(crate) const WIDTH: ParamSpec = ParamSpec {
    name: "gamma",
    help: "Width of the instance kernel exp(-gamma |x - z|^2).",
    kind: Kind::Width,
    default: "1/median",
    grid: "2^-5..2^5/median",
    level: Level::Representation,
    regression_only: false,
};

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

/// What the author of a method writes.
pub(crate) trait SetKernel: Send + Sync + 'static {
    fn info(&self) -> &'static Info;

    /// The whole table; [`WIDTH`] is part of it.
    fn params(&self) -> &'static [ParamSpec];

    /// The weights of the instances of one bag, for each of the points (given with their resolved gamma).
    /// Weights are positive.
    fn weights(&self, points: &[(&Point, f64)], bag: BagRef<'_>) -> Result<Vec<Vec<f64>>>;

    fn norm(&self, point: &Point) -> Norm;

    /// True if the weights need all distances inside a bag, which are kept in memory one bag at a time per thread.
    fn looks_within(&self) -> bool {
        true
    }
}

/// A set kernel as a bag kernel.
pub(crate) struct Rbf<S>(pub(crate) S);

impl<S: SetKernel + Clone> BagKernel for Rbf<S> {
    fn info(&self) -> &'static Info {
        self.0.info()
    }

    fn params(&self) -> &'static [ParamSpec] {
        self.0.params()
    }

    fn work(&self, bags: &Bags, representations: usize) -> f64 {
        let within = if self.0.looks_within() { bags.pairs_within() } else { 0.0 };
        pass(bags, representations) + within * (bags.values_per_instance() + 20.0 * representations as f64)
    }

    fn needs_besides(&self, bags: &Bags) -> Needs {
        // The engine's packed copy of the instances, and a weight vector.
        let packed = match bags.instances() {
            Instances::Sparse(_) => bags.instances().bytes(),
            _ => 8 * (bags.instance_count() * bags.width()) as u64,
        };
        Needs { fixed: packed, each: 8 * bags.instance_count() as u64 }
    }

    fn grams(
        &self,
        bags: Arc<Bags>,
        points: &[&Point],
        scope: &Scope<'_>,
        ctx: &Ctx,
    ) -> Result<Box<dyn Grams>> {
        reserve_within(&self.0, &bags, ctx)?;
        let gammas = resolve(points, &bags, scope, ctx)?;
        let with_gamma: Vec<(&Point, f64)> = points.iter().copied().zip(gammas.iter().copied()).collect();
        let (weights, term) = Weights::of(&self.0, &with_gamma, &bags)?;
        let side = Side { instances: bags.instances(), offsets: bags.offsets(), weights: &weights.vectors };
        // Points that differ only in their normalisation share a sum.
        let mut outputs: Vec<Output> = Vec::new();
        let output: Vec<usize> = gammas
            .iter()
            .zip(&term)
            .map(|(&gamma, &term)| {
                let same = |a: &Output, b: &Output| a.gamma == b.gamma && a.terms == b.terms;
                index_in(&mut outputs, Output { gamma, terms: vec![term] }, same)
            })
            .collect();
        let mut sums = bagwise_engine::symmetric(&side, &outputs, ctx.precision, ctx)?;
        let representations = (0..points.len())
            .map(|r| {
                let factors = factors(
                    self.0.norm(points[r]),
                    &sums[output[r]],
                    &weights.vectors[term[r]],
                    bags.offsets(),
                );
                // The last to use a sum takes it; the others copy.
                let needed_again = output[r + 1..].contains(&output[r]);
                let mut gram = if needed_again {
                    sums[output[r]].clone()
                } else {
                    std::mem::replace(&mut sums[output[r]], Mat::zeros(0, 0))
                };
                normalise(&mut gram, &factors, &factors);
                Representation { gamma: gammas[r], term: term[r], gram, factors }
            })
            .collect();
        let points = points.iter().map(|&p| p.clone()).collect();
        Ok(Box::new(RbfGrams { kernel: self.0.clone(), bags, points, weights, representations }))
    }

    fn load(&self, point: &Point, state: &State) -> Result<Box<dyn Bank>> {
        let bags = load_bags(state)?;
        let weights = state.vector("weights", bags.instance_count())?;
        let factors = state.vector("factors", bags.len())?;
        let gamma = state.vector("gamma", 1)?[0];
        if gamma <= 0.0 || factors.iter().chain(&weights).any(|&v| v <= 0.0) {
            return Err(refuse("a width, weight or norm is not above 0"));
        }
        let own = state.vector("own", bags.len())?;
        Ok(Box::new(RbfBank {
            kernel: self.0.clone(),
            point: point.clone(),
            gamma,
            bags,
            weights: vec![weights],
            factors,
            own,
        }))
    }
}

/// `N/median` and `N/d` in numbers: N over the median squared distance of training instances, or over the number of
/// attributes.
pub(crate) fn resolve(points: &[&Point], bags: &Bags, scope: &Scope<'_>, ctx: &Ctx) -> Result<Vec<f64>> {
    resolve_for(points, bags, bags.width(), scope, ctx)
}

/// The same for vectors that bags with so many attributes were made into.
pub(crate) fn resolve_for(
    points: &[&Point],
    bags: &Bags,
    attributes: usize,
    scope: &Scope<'_>,
    ctx: &Ctx,
) -> Result<Vec<f64>> {
    let relative = points.iter().any(|p| matches!(p.get("gamma"), Value::OverMedian(_)));
    let typical = if relative { median_squared_distance(bags, scope.train, ctx.seed)? } else { 1.0 };
    let gamma = |p: &&Point| match p.get("gamma") {
        Value::Number(gamma) => *gamma,
        Value::OverMedian(n) => n / typical,
        Value::OverWidth(n) => n / attributes as f64,
        other => unreachable!("the table lets no {other} through"),
    };
    Ok(points.iter().map(gamma).collect())
}

/// Gaussian kernels of vectors, which are bags of one instance each: one matrix per width, of `rows` with `cols`, or with
/// themselves.
pub(crate) fn gaussians(rows: &Bags, cols: Option<&Bags>, gammas: &[f64], ctx: &Ctx) -> Result<Vec<Mat>> {
    let outputs: Vec<Output> = gammas.iter().map(|&gamma| Output { gamma, terms: vec![0] }).collect();
    let ones = |bags: &Bags| vec![vec![1.0; bags.len()]];
    let (left, right) = (ones(rows), cols.map(ones));
    let left = Side { instances: rows.instances(), offsets: rows.offsets(), weights: &left };
    match (cols, &right) {
        (Some(cols), Some(weights)) => {
            let right = Side { instances: cols.instances(), offsets: cols.offsets(), weights };
            bagwise_engine::rectangular(&left, &right, &outputs, ctx.precision, ctx)
        }
        _ => bagwise_engine::symmetric(&left, &outputs, ctx.precision, ctx),
    }
}

/// The median squared distance of random pairs of training instances; their mean, then 1, where the median is 0.
pub(crate) fn median_squared_distance(bags: &Bags, train: &[usize], seed: u64) -> Result<f64> {
    // The median of this many pairs has a relative standard error of one to two per cent, far below the factor 2
    // between neighbouring widths of a grid.
    const PAIRS: usize = 5000;
    let rows: Vec<usize> = train.iter().flat_map(|&b| bags.rows(b)).collect();
    if rows.len() < 2 {
        return Ok(1.0);
    }
    let mut rng = Rng::new(seed, "median", &[]);
    let (mut x, mut z) = (vec![0.0; bags.width()], vec![0.0; bags.width()]);
    let mut squared = (0..PAIRS)
        .map(|_| {
            let a = rng.below(rows.len());
            let b = (a + 1 + rng.below(rows.len() - 1)) % rows.len();
            bags.instances().row_into(rows[a], &mut x)?;
            bags.instances().row_into(rows[b], &mut z)?;
            Ok(x.iter().zip(&z).map(|(x, z)| (x - z) * (x - z)).sum())
        })
        .collect::<Result<Vec<f64>>>()?;
    let mean = squared.iter().sum::<f64>() / PAIRS as f64;
    Ok([median(&mut squared).unwrap_or(0.0), mean].into_iter().find(|&v| v > 0.0).unwrap_or(1.0))
}

/// Multiply-adds of one pass of the pairs engine: products, and some three for each width.
pub(crate) fn pass(bags: &Bags, representations: usize) -> f64 {
    let n = bags.instance_count() as f64;
    n * n / 2.0 * (bags.values_per_instance() + 3.0 * representations as f64)
}

/// An error if the distances inside the largest bag would exceed the memory budget.
fn reserve_within<S: SetKernel>(kernel: &S, bags: &Bags, ctx: &Ctx) -> Result<()> {
    if !kernel.looks_within() {
        return Ok(());
    }
    let largest = bags.offsets().windows(2).map(|w| w[1] - w[0]).max().unwrap_or(0) as u64;
    // Distances and, for cliques, as many dissimilarities of pairs.
    ctx.reserve(
        "comparing all instances of the largest bag",
        12 * largest * largest,
        Message::more_memory().or("choose mi-kernel, which does not look inside bags"),
    )
}

/// Distinct weight vectors over all instances.
struct Weights {
    vectors: Vec<Vec<f64>>,
}

impl Weights {
    /// The vectors, and which of them each point uses.
    fn of<S: SetKernel>(kernel: &S, points: &[(&Point, f64)], bags: &Bags) -> Result<(Weights, Vec<usize>)> {
        let per_bag: Vec<Vec<Vec<f64>>> = (0..bags.len())
            .into_par_iter()
            .map(|b| kernel.weights(points, bags.bag(b)))
            .collect::<Result<_>>()?;
        let mut vectors: Vec<Vec<f64>> = Vec::new();
        let term = (0..points.len())
            .map(|p| {
                let vector: Vec<f64> = per_bag.iter().flat_map(|w| w[p].iter().copied()).collect();
                index_in(&mut vectors, vector, |a, b| a == b)
            })
            .collect();
        Ok((Weights { vectors }, term))
    }
}

/// What each bag's rows and columns are divided by.
fn factors(norm: Norm, sums: &Mat, weights: &[f64], offsets: &[usize]) -> Vec<f64> {
    let own: Vec<f64> = (0..sums.rows()).map(|b| sums.get(b, b)).collect();
    bag_factors(norm, &own, weights, offsets)
}

fn bag_factors(norm: Norm, own: &[f64], weights: &[f64], offsets: &[usize]) -> Vec<f64> {
    let total = |b: usize| weights[offsets[b]..offsets[b + 1]].iter().sum::<f64>();
    (0..own.len())
        .map(|b| match norm {
            Norm::None => 1.0,
            Norm::Sums => total(b),
            Norm::RootSums => total(b).sqrt(),
            Norm::Cosine => own[b].sqrt(),
        })
        .collect()
}

/// Sums of instances x kept bags as parts: divided as the bags they belong to are, with shares by weight.
pub(crate) fn parts_of(mut sums: Mat, bags: &Bags, weights: &[f64], factors: &[f64], kept: &[f64]) -> Parts {
    let of_instance: Vec<f64> = (0..bags.len()).flat_map(|b| bags.rows(b).map(move |_| factors[b])).collect();
    normalise(&mut sums, &of_instance, kept);
    Parts { kernel: sums, share: shares(weights, bags.offsets()) }
}

/// The share of each instance in the weight of its bag.
pub(crate) fn shares(weights: &[f64], offsets: &[usize]) -> Vec<f64> {
    let of_bag = |w: &[usize]| {
        let own = &weights[w[0]..w[1]];
        let total: f64 = own.iter().sum();
        own.iter().map(|v| v / total).collect::<Vec<f64>>()
    };
    offsets.windows(2).flat_map(of_bag).collect()
}

pub(crate) fn normalise(gram: &mut Mat, rows: &[f64], cols: &[f64]) {
    for (i, row_factor) in rows.iter().enumerate() {
        for (value, col_factor) in gram.row_mut(i).iter_mut().zip(cols) {
            *value /= row_factor * col_factor;
        }
    }
}

struct Representation {
    gamma: f64,
    term: usize,
    gram: Mat,
    factors: Vec<f64>,
}

struct RbfGrams<S> {
    kernel: S,
    bags: Arc<Bags>,
    points: Vec<Point>,
    weights: Weights,
    representations: Vec<Representation>,
}

impl<S: SetKernel + Clone> Grams for RbfGrams<S> {
    fn gram(&self, representation: usize) -> &Mat {
        &self.representations[representation].gram
    }

    fn bank(&self, representation: usize, train: &[usize], _: &Ctx) -> Result<Box<dyn Bank>> {
        let Representation { gamma, term, gram, factors } = &self.representations[representation];
        let weights =
            train.iter().flat_map(|&b| self.weights.vectors[*term][self.bags.rows(b)].iter().copied());
        Ok(Box::new(RbfBank {
            kernel: self.kernel.clone(),
            point: self.points[representation].clone(),
            gamma: *gamma,
            bags: self.bags.select(train),
            weights: vec![weights.collect()],
            factors: train.iter().map(|&b| factors[b]).collect(),
            own: train.iter().map(|&b| gram.get(b, b)).collect(),
        }))
    }
}

/// Training bags with their weights and norms.
struct RbfBank<S> {
    kernel: S,
    point: Point,
    gamma: f64,
    bags: Bags,
    /// One vector, in the shape the engine takes.
    weights: Vec<Vec<f64>>,
    factors: Vec<f64>,
    /// The normalised kernel of each bag with itself.
    own: Vec<f64>,
}

impl<S: SetKernel> RbfBank<S> {
    fn output(&self) -> [Output; 1] {
        [Output { gamma: self.gamma, terms: vec![0] }]
    }

    fn side(&self) -> Side<'_> {
        Side { instances: self.bags.instances(), offsets: self.bags.offsets(), weights: &self.weights }
    }

    /// Weights and norms of new bags, and their normalised self-similarities.
    fn look_at(&self, bags: &Bags, ctx: &Ctx) -> Result<(Vec<Vec<f64>>, Vec<f64>, Vec<f64>)> {
        reserve_within(&self.kernel, bags, ctx)?;
        let (weights, _) = Weights::of(&self.kernel, &[(&self.point, self.gamma)], bags)?;
        let side = Side { instances: bags.instances(), offsets: bags.offsets(), weights: &weights.vectors };
        let raw = bagwise_engine::self_similarity(&side, &self.output(), ctx)?.remove(0);
        let factors = bag_factors(self.kernel.norm(&self.point), &raw, &weights.vectors[0], bags.offsets());
        let own = raw.iter().zip(&factors).map(|(k, f)| k / (f * f)).collect();
        Ok((weights.vectors, factors, own))
    }
}

impl<S: SetKernel> Bank for RbfBank<S> {
    fn len(&self) -> usize {
        self.bags.len()
    }

    fn width(&self) -> usize {
        self.bags.width()
    }

    fn compare(&self, bags: &Bags, ctx: &Ctx) -> Result<Comparison> {
        let (weights, factors, own) = self.look_at(bags, ctx)?;
        let side = Side { instances: bags.instances(), offsets: bags.offsets(), weights: &weights };
        let mut kernel =
            bagwise_engine::rectangular(&side, &self.side(), &self.output(), ctx.precision, ctx)?.remove(0);
        normalise(&mut kernel, &factors, &self.factors);
        Ok(Comparison { kernel, own, kept: self.own.clone() })
    }

    fn parts(&self, bags: &Bags, ctx: &Ctx) -> Result<Parts> {
        let (weights, factors, _) = self.look_at(bags, ctx)?;
        // Every instance as a bag of its own, with the weight it has in its bag.
        let single = bagwise_engine::rows::singles(bags.instance_count()).0;
        let side = Side { instances: bags.instances(), offsets: &single, weights: &weights };
        let sums =
            bagwise_engine::rectangular(&side, &self.side(), &self.output(), ctx.precision, ctx)?.remove(0);
        Ok(parts_of(sums, bags, &weights[0], &factors, &self.factors))
    }

    fn save(&self) -> Result<State> {
        let mut state = State::default();
        save_bags(&mut state, &self.bags)?;
        state.put("weights", &self.weights[0]);
        state.put("factors", &self.factors);
        state.put("own", &self.own);
        state.put("gamma", &[self.gamma]);
        Ok(state)
    }
}

/// Puts instances and offsets into a state, in their own precision.
pub(crate) fn save_bags(state: &mut State, bags: &Bags) -> Result<()> {
    state.put_counts("offsets", bags.offsets().iter().copied());
    let shape = vec![bags.instance_count(), bags.width()];
    match bags.instances() {
        Instances::F64(m) => {
            drop(state.tensors.insert("instances".into(), Tensor::F64(shape, m.data().to_vec())))
        }
        Instances::F32(m) => {
            drop(state.tensors.insert("instances".into(), Tensor::F32(shape, m.data().to_vec())))
        }
        Instances::Sparse(m) => {
            save_sparse(state, m);
            state.put_counts("width", [m.cols()]);
        }
        Instances::Stored(_) => {
            let tensor = match bags.instances().clone().in_memory()? {
                Instances::F32(m) => Tensor::F32(shape, m.into_data()),
                Instances::F64(m) => Tensor::F64(shape, m.into_data()),
                _ => unreachable!("rows brought into memory are dense"),
            };
            drop(state.tensors.insert("instances".into(), tensor));
        }
    }
    Ok(())
}

/// Sparse rows without their width.
pub(crate) fn save_sparse(state: &mut State, rows: &Csr) {
    state.put_counts("indptr", rows.indptr().iter().copied());
    state.put_counts("indices", rows.indices().iter().map(|&i| i as usize));
    state.put("values", rows.values());
}

/// Sparse rows of a known width, with everything checked that [`Csr`] promises.
pub(crate) fn load_sparse(state: &State, width: usize) -> Result<Csr> {
    let (indptr, indices) = (state.counts("indptr")?, state.counts("indices")?);
    let values = state.vector("values", indices.len())?;
    let ordered = indptr.first() == Some(&0)
        && indptr.last() == Some(&indices.len())
        && indptr.windows(2).all(|w| w[0] <= w[1]);
    let fits = ordered
        && u32::try_from(width).is_ok()
        && indptr.windows(2).all(|w| {
            let row = &indices[w[0]..w[1]];
            row.windows(2).all(|c| c[0] < c[1]) && row.last().is_none_or(|&c| c < width)
        });
    if !fits {
        return Err(refuse("its sparse rows do not fit together"));
    }
    Ok(Csr::new(width, indptr, indices.into_iter().map(|c| c as u32).collect(), values))
}

/// Bags from a state, with everything checked that [`Bags`] and [`Csr`] promise.
pub(crate) fn load_bags(state: &State) -> Result<Bags> {
    let offsets = state.counts("offsets")?;
    let instances = match state.tensors.get("instances") {
        Some(Tensor::F64(shape, data)) if shape.len() == 2 => {
            Instances::F64(Mat::new(shape[0], shape[1], data.clone()))
        }
        Some(Tensor::F32(shape, data)) if shape.len() == 2 => {
            Instances::F32(Mat::new(shape[0], shape[1], data.clone()))
        }
        Some(other) => return Err(refuse(format!("'instances' has shape {:?}", other.shape()))),
        None => {
            let width = *state.counts("width")?.first().ok_or_else(|| refuse("'width' is empty"))?;
            Instances::Sparse(load_sparse(state, width)?)
        }
    };
    if offsets.windows(2).any(|w| w[0] >= w[1]) {
        return Err(refuse("its bags overlap or are empty"));
    }
    Bags::new(instances, offsets).map_err(|e| refuse(e.to_string()))
}
