//! Embeddings: a bag becomes one vector, and vectors are compared by a Gaussian or by their inner product.
//!
//! A method of this family says what the vector of a bag is, perhaps by what it learned from training bags. Grams,
//! comparison with new bags, saving and loading are here. Points with the same vectors share a pass for all widths.

use std::sync::Arc;

use crate::families::kernel_svm::{BagKernel, CrossKernel, Grams, InstanceKernel, ReferenceBags};
use crate::families::width::Width;
use crate::method::{MemoryEstimate, Scope, State, WeightedConcept};
use crate::params::Point;
use crate::state::refuse;
use bagwise_core::{Bags, Ctx, Instances, Mat, Result};
use bagwise_engine::cells::Distance;
use bagwise_engine::{GramOutput, Side};

/// What the author of a method writes.
pub(crate) trait Embedding: Clone + Send + Sync + 'static {
    /// What decides the vectors: parameters, and what was learned for them. Before that, points with equal ones share
    /// their vectors.
    type Params: Clone + PartialEq + Send + Sync;

    fn read(&self, point: &Point) -> Result<Self::Params>;

    /// True if vectors are compared by their inner product.
    fn is_linear(&self, _point: &Point) -> Result<bool> {
        Ok(false)
    }

    /// As [`BagKernel::work`].
    fn work(&self, bags: &Bags, representations: usize) -> f64;

    /// As [`BagKernel::needs_besides`].
    fn needs_besides(&self, bags: &Bags) -> MemoryEstimate;

    /// Learns from training bags.
    fn learn(&self, _params: &mut Self::Params, _bags: &Bags, _scope: &Scope<'_>, _ctx: &Ctx) -> Result<()> {
        Ok(())
    }

    /// A row for each bag.
    fn vectors(&self, params: &Self::Params, bags: &Bags, ctx: &Ctx) -> Result<Mat>;

    /// The columns of bags whose vectors are so long.
    fn columns(&self, params: &Self::Params, length: usize) -> usize;

    /// The kernel values of new bags with kept vectors, taken apart; an error where that is not possible.
    fn parts(&self, params: &Self::Params, linear: bool, kept: &Mat, bags: &Bags) -> Result<InstanceKernel>;

    /// Puts what was learned into a state.
    fn save(&self, _params: &Self::Params, _state: &mut State) {}

    /// Takes what was learned from a state.
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
        self.0.is_linear(point).is_ok_and(|linear| linear)
    }

    fn work(&self, bags: &Bags, representations: usize) -> f64 {
        self.0.work(bags, representations)
    }

    /// Vectors are compared, not instances: next to nothing.
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
        let params = points.iter().map(|p| self.0.read(p)).collect::<Result<Vec<_>>>()?;
        let linear = points.iter().map(|p| self.0.is_linear(p)).collect::<Result<Vec<_>>>()?;
        let widths = points.iter().map(|p| Width::read(p)).collect::<Result<Vec<_>>>()?;
        let mut all: Vec<Option<EmbeddedBags<E>>> = points.iter().map(|_| None).collect();
        while let Some(first) = all.iter().position(Option::is_none) {
            let alike: Vec<usize> = (first..points.len()).filter(|&i| params[i] == params[first]).collect();
            let mut learned = params[first].clone();
            self.0.learn(&mut learned, &bags, scope, ctx)?;
            let vectors = Arc::new(singles(self.0.vectors(&learned, &bags, ctx)?)?);
            let here: Vec<Width> = alike.iter().map(|&i| widths[i]).collect();
            let gammas = Width::resolve(&here, &vectors, bags.width(), Distance::Euclidean, scope)?;
            let kernel = |(&i, gamma): (&usize, f64)| {
                if linear[i] { VectorKernel::Linear } else { VectorKernel::Rbf(gamma) }
            };
            let kernels: Vec<VectorKernel> = alike.iter().zip(gammas).map(kernel).collect();
            let grams = VectorKernel::matrices(&kernels, &vectors, None, ctx)?;
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

/// Vectors as bags of one instance each.
fn singles(vectors: Mat) -> Result<Bags> {
    let rows = vectors.rows();
    Bags::new(Instances::F64(vectors), (0..=rows).collect())
}

fn rows(vectors: &Bags) -> &Mat {
    match vectors.instances() {
        Instances::F64(rows) => rows,
        _ => unreachable!("vectors are dense"),
    }
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(x, y)| x * y).sum()
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum VectorKernel {
    Linear,
    Rbf(f64),
}

impl VectorKernel {
    /// All kernel values between two sets of vectors, or of one with itself: all widths in one pass.
    fn matrices(kernels: &[VectorKernel], left: &Bags, right: Option<&Bags>, ctx: &Ctx) -> Result<Vec<Mat>> {
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
            _ => bagwise_engine::symmetric(&side(left, &weights.0), &outputs, ctx.precision, ctx)?,
        };
        let mut gaussians = gaussians.into_iter();
        let (left, right) = (rows(left), rows(right.unwrap_or(left)));
        let dots = |a: usize| (0..right.rows()).map(move |b| dot(left.row(a), right.row(b)));
        let mut products = None;
        let of = |kernel: &VectorKernel| match kernel {
            VectorKernel::Rbf(_) => gaussians.next().expect("one for each width"),
            VectorKernel::Linear => {
                let all = || Mat::new(left.rows(), right.rows(), (0..left.rows()).flat_map(dots).collect());
                products.get_or_insert_with(all).clone()
            }
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
        let kernel = VectorKernel::matrices(&[self.kernel], &new, Some(&self.vectors), ctx)?.remove(0);
        Ok(CrossKernel { kernel, own: self.kernel.own(&new), kept: self.kernel.own(&self.vectors) })
    }

    fn parts(&self, bags: &Bags, _: &Ctx) -> Result<InstanceKernel> {
        let linear = self.kernel == VectorKernel::Linear;
        self.embedding.parts(&self.params, linear, rows(&self.vectors), bags)
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
