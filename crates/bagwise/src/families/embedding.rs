//! Embeddings: a bag becomes one vector, and vectors are compared by a Gaussian or by their inner product.
//!
//! A method of this family says what the vector of a bag is, perhaps by what it learned from training bags. Grams,
//! comparison with new bags, saving and loading are here. Points with the same vectors share a pass for all widths, and
//! a method may share more among its points (`learn_all`, `vectors_of_all`, `learn_vectors`).

use std::ops::Range;
use std::sync::Arc;

use crate::families::kernel_svm::{BagKernel, CrossKernel, Grams, InstanceKernel, ReferenceBags};
use crate::families::wanted_rows;
use crate::families::width::{Width, costly_representations};
use crate::method::{MemoryEstimate, Scope, State, WeightedConcept};
use crate::params::{Grid, Point, index_in};
use crate::state::refuse;
use bagwise_core::{Bags, Csr, Ctx, Error, Instances, Mat, Message, Place, Result, Setting};
use bagwise_engine::cells::Distance;
use bagwise_engine::{GramOutput, Side, dot, row_products};

/// What the author of an embedding writes: `read`, `work`, `needs_besides`, `vectors` and `columns`. The rest has defaults.
pub(crate) trait Embedding: Clone + Send + Sync + 'static {
    /// The parameters that the vectors depend on, and what was learned with them. Points whose parameters are equal before
    /// learning share their vectors.
    type Params: Clone + PartialEq + Send + Sync;

    /// The parameters at a point of the grid.
    fn read(&self, point: &Point) -> Result<Self::Params>;

    /// True if vectors are compared by their inner product.
    fn is_linear(&self, _point: &Point) -> Result<bool> {
        Ok(false)
    }

    /// As [`BagKernel::ignores_width`]: a linear kernel has no width, but its vectors may.
    fn ignores_width(&self, point: &Point) -> bool {
        self.is_linear(point).is_ok_and(|linear| linear)
    }

    /// As [`Method::admits`](crate::method::Method::admits).
    fn admits(&self, _point: &Point, _instances: usize) -> bool {
        true
    }

    /// As [`BagKernel::work`].
    fn work(&self, bags: &Bags, representations: usize) -> f64;

    /// As [`BagKernel::work_for`].
    fn work_for(&self, bags: &Bags, grid: &Grid) -> f64 {
        self.work(bags, costly_representations(grid))
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
    fn needs_besides(&self, bags: &Bags) -> MemoryEstimate;

    /// Learns from training bags.
    fn learn(&self, _params: &mut Self::Params, _bags: &Bags, _scope: &Scope<'_>, _ctx: &Ctx) -> Result<()> {
        Ok(())
    }

    /// Learns for several points, which may share what is the same for them.
    fn learn_all(
        &self,
        params: &mut [Self::Params],
        bags: &Bags,
        scope: &Scope<'_>,
        ctx: &Ctx,
    ) -> Result<()> {
        params.iter_mut().try_for_each(|params| self.learn(params, bags, scope, ctx))
    }

    /// The vectors of the bags, one row per bag.
    fn vectors(&self, params: &Self::Params, bags: &Bags, ctx: &Ctx) -> Result<Mat>;

    /// The same for several points, which may share what is the same for them.
    fn vectors_of_all(&self, params: &[Self::Params], bags: &Bags, ctx: &Ctx) -> Result<Vec<Mat>> {
        params.iter().map(|params| self.vectors(params, bags, ctx)).collect()
    }

    /// Learns for several points, and gives the vectors of the bags that it learns from. What both need is computed once here.
    fn learn_vectors(
        &self,
        params: &mut [Self::Params],
        bags: &Bags,
        scope: &Scope<'_>,
        ctx: &Ctx,
    ) -> Result<Vec<Mat>> {
        self.learn_all(params, bags, scope, ctx)?;
        self.vectors_of_all(params, bags, ctx)
    }

    /// The number of features of a bag, given the length of its vector. A saved model is checked with it.
    fn columns(&self, params: &Self::Params, length: usize) -> usize;

    /// The kernel values of new bags with kept vectors, divided among the instances; an error if that is not possible.
    fn parts(&self, _: &Self::Params, _: bool, _kept: &Mat, _: &Bags) -> Result<InstanceKernel> {
        Err(Error::Invalid(
            "predictions from these vectors cannot be explained by instance; use a set kernel such as mi-kernel"
                .into(),
        ))
    }

    /// For linear kernels, where a vector can be taken apart whatever the kept ones are: the part of each instance in
    /// the inner product of its bag's vector with each row of `weights`, instances x rows.
    fn weighted_parts(&self, _: &Self::Params, _weights: &Mat, _: &Bags, _: &Ctx) -> Result<Option<Mat>> {
        Ok(None)
    }

    /// Saves what was learned.
    fn save(&self, _params: &Self::Params, _state: &mut State) {}

    /// Loads what was learned.
    fn load(&self, _params: &mut Self::Params, _state: &State) -> Result<()> {
        Ok(())
    }

    /// The concepts that were learned.
    fn concepts(&self, _params: &Self::Params) -> Option<Vec<WeightedConcept>> {
        None
    }
}

/// An embedding as a bag kernel.
pub(crate) struct Embedded<E>(pub(crate) E);

impl<E: Embedding> BagKernel for Embedded<E> {
    fn ignores_width(&self, point: &Point) -> bool {
        self.0.ignores_width(point)
    }

    fn admits(&self, point: &Point, instances: usize) -> bool {
        self.0.admits(point, instances)
    }

    fn work(&self, bags: &Bags, representations: usize) -> f64 {
        self.0.work(bags, representations)
    }

    fn work_for(&self, bags: &Bags, grid: &Grid) -> f64 {
        self.0.work_for(bags, grid)
    }

    fn search_work(&self, bags: &Bags, grid: &Grid, share: f64) -> f64 {
        self.0.search_work(bags, grid, share)
    }

    fn search_name(&self, grid: &Grid) -> Option<String> {
        self.0.search_name(grid)
    }

    /// Vectors are compared, not instances: the cost is negligible.
    fn answer_work(&self, _: &Bags, _: f64, _: f64) -> f64 {
        0.0
    }

    fn needs_besides(&self, bags: &Bags) -> MemoryEstimate {
        self.0.needs_besides(bags)
    }

    fn grams(
        &self,
        bags: Arc<Bags>,
        points: &[&Point],
        scope: &Scope<'_>,
        ctx: &Ctx,
    ) -> Result<Box<dyn Grams>> {
        let mut kinds: Vec<E::Params> = Vec::new();
        let mut kind_of = Vec::with_capacity(points.len());
        for point in points {
            kind_of.push(index_in(&mut kinds, self.0.read(point)?, |a, b| a == b));
        }
        let linear = points.iter().map(|p| self.0.is_linear(p)).collect::<Result<Vec<_>>>()?;
        let vectors = self.0.learn_vectors(&mut kinds, &bags, scope, ctx)?;
        let mut all: Vec<Option<EmbeddedBags<E>>> = points.iter().map(|_| None).collect();
        for (kind, (learned, vectors)) in kinds.into_iter().zip(vectors).enumerate() {
            let alike: Vec<usize> = (0..points.len()).filter(|&i| kind_of[i] == kind).collect();
            let vectors = Arc::new(singles(vectors)?);
            let here = alike.iter().map(|&i| width(points[i], linear[i])).collect::<Result<Vec<_>>>()?;
            let gammas = Width::resolve(&here, &vectors, bags.width(), Distance::Euclidean, scope)?;
            let kernel = |(&i, gamma): (&usize, f64)| {
                if linear[i] { VectorKernel::Linear } else { VectorKernel::Rbf(gamma) }
            };
            let kernels: Vec<VectorKernel> = alike.iter().zip(gammas).map(kernel).collect();
            let grams =
                VectorKernel::matrices(&kernels, &vectors, None, wanted_rows(scope, bags.len()), ctx)?;
            for ((i, kernel), gram) in alike.into_iter().zip(kernels).zip(grams) {
                let (embedding, params, vectors) = (self.0.clone(), learned.clone(), Arc::clone(&vectors));
                all[i] = Some(EmbeddedBags { embedding, params, kernel, vectors, gram });
            }
        }
        Ok(Box::new(all.into_iter().flatten().collect::<Vec<_>>()))
    }

    fn load(&self, point: &Point, state: &State) -> Result<Box<dyn ReferenceBags>> {
        let mut params = self.0.read(point)?;
        self.0.load(&mut params, state)?;
        let vectors = singles(state.mat("vectors")?).map_err(|e| refuse(e.to_string()))?;
        let kernel = match self.0.is_linear(point)? {
            true => VectorKernel::Linear,
            false => VectorKernel::Rbf(state.positive("gamma")?),
        };
        Ok(Box::new(KeptVectors { embedding: self.0.clone(), params, kernel, vectors }))
    }
}

/// The width of a kernel; a linear one has none, and needs no median of distances for it.
fn width(point: &Point, linear: bool) -> Result<Width> {
    if linear { Ok(Width::Gamma(1.0)) } else { Width::read(point) }
}

/// Vectors as bags of one instance each.
fn singles(vectors: Mat) -> Result<Bags> {
    let rows = vectors.rows();
    // Bags have finite numbers, so those of a vector are finite unless the bags' are near the end of the range.
    if vectors.data().iter().any(|v| !v.is_finite()) {
        return Err(Error::data(
            Place::default(),
            "the numbers are too large for this method: sums or squares of them are not finite",
            Message::from("scale the columns").with([Setting::Scale(&["minmax", "zscore"])]),
        ));
    }
    Bags::new(Instances::F64(vectors), (0..=rows).collect())
}

fn rows(vectors: &Bags) -> &Mat {
    match vectors.instances() {
        Instances::F64(rows) => rows,
        _ => unreachable!("vectors are dense"),
    }
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum VectorKernel {
    Linear,
    Rbf(f64),
}

impl VectorKernel {
    /// All kernel values between two sets of vectors, or of one with itself: all widths in one pass.
    fn matrices(
        kernels: &[VectorKernel],
        left: &Bags,
        right: Option<&Bags>,
        part: Range<usize>,
        ctx: &Ctx,
    ) -> Result<Vec<Mat>> {
        let width = |kernel: &VectorKernel| match kernel {
            VectorKernel::Rbf(gamma) => Some(GramOutput { gamma: *gamma, terms: vec![0] }),
            VectorKernel::Linear => None,
        };
        let outputs: Vec<GramOutput> = kernels.iter().filter_map(width).collect();
        let ones = |bags: &Bags| vec![vec![1.0; bags.len()]];
        let weights = (ones(left), right.map(ones));
        let side =
            |bags, weights| Side { instances: Bags::instances(bags), offsets: bags.offsets(), weights };
        let gaussians = match (right, &weights.1) {
            _ if outputs.is_empty() => Vec::new(),
            (Some(right), Some(ones)) => {
                let (left, right) = (side(left, &weights.0), side(right, ones));
                bagwise_engine::rectangular(&left, &right, &outputs, ctx.precision, ctx)?
            }
            _ => {
                let own = side(left, &weights.0);
                bagwise_engine::symmetric_rows(&own, part.clone(), &outputs, ctx.precision, ctx)?
            }
        };
        let mut gaussians = gaussians.into_iter();
        let linear = kernels.contains(&VectorKernel::Linear);
        let products = if linear { Some(row_products(rows(left), right.map(rows), ctx)?) } else { None };
        let of = |kernel: &VectorKernel| match kernel {
            VectorKernel::Rbf(_) => gaussians.next().expect("one for each width"),
            VectorKernel::Linear => products.clone().expect("made if a kernel is linear"),
        };
        Ok(kernels.iter().map(of).collect())
    }

    /// The kernel of each vector with itself.
    fn own(self, vectors: &Bags) -> Vec<f64> {
        let one = |v: usize| match self {
            VectorKernel::Linear => dot(rows(vectors).row(v), rows(vectors).row(v)),
            VectorKernel::Rbf(_) => 1.0,
        };
        (0..vectors.len()).map(one).collect()
    }
}

/// The vectors of prepared bags at one point.
struct EmbeddedBags<E: Embedding> {
    embedding: E,
    params: E::Params,
    kernel: VectorKernel,
    vectors: Arc<Bags>,
    gram: Mat,
}

impl<E: Embedding> Grams for Vec<EmbeddedBags<E>> {
    fn gram(&self, representation: usize) -> &Mat {
        &self[representation].gram
    }

    fn bank(&self, representation: usize, train: &[usize], _: &Ctx) -> Result<Box<dyn ReferenceBags>> {
        let EmbeddedBags { embedding, params, kernel, vectors, .. } = &self[representation];
        let (embedding, params) = (embedding.clone(), params.clone());
        Ok(Box::new(KeptVectors { embedding, params, kernel: *kernel, vectors: vectors.select(train) }))
    }
}

/// The vectors of training bags.
struct KeptVectors<E: Embedding> {
    embedding: E,
    params: E::Params,
    kernel: VectorKernel,
    vectors: Bags,
}

impl<E: Embedding> ReferenceBags for KeptVectors<E> {
    fn len(&self) -> usize {
        self.vectors.len()
    }

    fn width(&self) -> usize {
        self.embedding.columns(&self.params, self.vectors.width())
    }

    fn compare(&self, bags: &Bags, ctx: &Ctx) -> Result<CrossKernel> {
        let new = singles(self.embedding.vectors(&self.params, bags, ctx)?)?;
        let (kept, found) = (self.vectors.width(), new.width());
        if kept != found {
            return Err(refuse(format!("it keeps vectors of {kept}, these bags give {found}")));
        }
        let kernel =
            VectorKernel::matrices(&[self.kernel], &new, Some(&self.vectors), 0..new.len(), ctx)?.remove(0);
        Ok(CrossKernel { kernel, own: self.kernel.own(&new), kept: self.kernel.own(&self.vectors) })
    }

    fn parts(&self, bags: &Bags, _: &Ctx) -> Result<InstanceKernel> {
        let linear = self.kernel == VectorKernel::Linear;
        self.embedding.parts(&self.params, linear, rows(&self.vectors), bags)
    }

    fn weighted_parts(&self, coefficients: &Csr, bags: &Bags, ctx: &Ctx) -> Result<Option<Mat>> {
        if self.kernel != VectorKernel::Linear {
            return Ok(None);
        }
        let kept = rows(&self.vectors);
        let mut weights = Mat::zeros(coefficients.rows(), kept.cols());
        for k in 0..coefficients.rows() {
            let (vectors, values) = coefficients.row(k);
            for (&v, coefficient) in vectors.iter().zip(values) {
                let own = weights.row_mut(k).iter_mut().zip(kept.row(v as usize));
                own.for_each(|(w, x)| *w += coefficient * x);
            }
        }
        self.embedding.weighted_parts(&self.params, &weights, bags, ctx)
    }

    fn concepts(&self) -> Option<Vec<WeightedConcept>> {
        self.embedding.concepts(&self.params)
    }

    fn save(&self) -> Result<State> {
        let mut state = State::default();
        self.embedding.save(&self.params, &mut state);
        state.put_mat("vectors", rows(&self.vectors));
        if let VectorKernel::Rbf(gamma) = self.kernel {
            state.put("gamma", &[gamma]);
        }
        Ok(state)
    }
}
