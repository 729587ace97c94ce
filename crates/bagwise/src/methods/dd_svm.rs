//! DD-SVM: a bag becomes the vector of its distances to all good concepts of both classes, and an ordinary support
//! vector machine learns on the vectors.
//!
//! Concepts are the maxima of the diverse density reached from every instance of every positive bag, and of every
//! negative one with the labels swapped; of each side those are kept whose log density lies above the middle between best and
//! worst and which differ from denser ones. Coordinate k of a bag is `min over x of |x - x_k|_w = sqrt(min D_k(x))`,
//! over the root of the number of concepts, so that a width means the same for few and for many.
//!
//! Chen, Wang: Image categorization by learning and reasoning with regions, JMLR 5, 2004. Two concepts differ if
//! some training instance is nearer to one than to the other by more than 0.01 of nearness exp(-D).

use std::sync::Arc;

use crate::families::concepts::{
    self, DISTANCE, ITERATIONS, Producer, RHO, STARTS, SearchSides, class_targets, dense, load_concepts,
    options, save_concepts,
};
use crate::families::embedding::{Embedded, Embedding};
use crate::families::kernel_svm::{InstanceKernel, KernelSvm};
use crate::families::svm;
use crate::families::width::WIDTH;
use crate::method::{Capability, Explains, Info, MemoryEstimate, Scope, State, WeightedConcept};
use crate::params::{Grid, ParamSpec, Point};
use crate::preprocess::Scale;
use crate::state::refuse;
use bagwise_core::{Bags, Ctx, Error, Mat, Result};
use bagwise_engine::density::{Concept, Evidence, FoundConcept, SearchOptions, belief};

/// The method, for the registry.
pub(crate) static METHOD: KernelSvm<Embedded<DdSvm>> = KernelSvm { info: &INFO, kernel: Embedded(DdSvm) };

#[derive(Clone)]
pub(crate) struct DdSvm;

static INFO: Info = Info {
    name: "dd-svm",
    title: "distances to concepts of both classes and an SVM",
    about: "Diverse density is maximised from every instance of every positive bag, and again with the labels swapped. \
            Distinct concepts in the upper half of the range of log densities are kept. A bag becomes the vector of \
            distances from each concept to its nearest instance, and an SVM with a Gaussian kernel is trained on these \
            vectors.",
    reference: "Chen, Wang: Image categorization by learning and reasoning with regions, JMLR 5, 2004",
    family: "diverse density + SVM",
    regression: false,
    scale: Scale::ZScore,
    complexity: 40,
    explains: Explains::No("the output depends on the nearest instances to many concepts"),
    capabilities: &[Capability::Concepts],
    learns_labels: true,
    params: PARAMS,
    ..Info::USUAL
};

static PARAMS: &[ParamSpec] = &[WIDTH, DISTANCE, RHO, STARTS, ITERATIONS, svm::COST];

/// Concepts are the same if no training instance tells them apart by more than this.
const APART: f64 = 0.01;

/// How concepts are searched for, and those that were found.
#[derive(Clone, PartialEq)]
pub(crate) struct Concepts {
    search: SearchOptions,
    found: Arc<Vec<WeightedConcept>>,
    /// Columns of the bags.
    width: usize,
}

impl Embedding for DdSvm {
    type Params = Concepts;

    fn read(&self, point: &Point) -> Result<Concepts> {
        Ok(Concepts { search: options(point)?, found: Arc::default(), width: 0 })
    }

    /// Distances to some hundred concepts.
    fn work(&self, bags: &Bags, _: usize) -> f64 {
        200.0 * (bags.instance_count() * bags.width()) as f64
    }

    fn search_work(&self, bags: &Bags, grid: &Grid, share: f64) -> f64 {
        let Some(point) = grid.points.first() else { return 0.0 };
        concepts::search_work(Producer::DiverseDensity, point, bags, share, SearchSides::Both)
    }

    fn search_name(&self, grid: &Grid) -> Option<String> {
        concepts::search_name(Producer::DiverseDensity, grid)
    }

    fn needs_besides(&self, bags: &Bags) -> MemoryEstimate {
        // Instances dense, packed for distances and twice for gradients.
        MemoryEstimate { fixed: 5 * 8 * (bags.instance_count() * bags.width()) as u64, each: 0 }
    }

    fn learn(&self, params: &mut Concepts, bags: &Bags, scope: &Scope<'_>, ctx: &Ctx) -> Result<()> {
        params.found = Arc::new(good_concepts(bags, scope, &params.search, ctx)?);
        params.width = bags.width();
        Ok(())
    }

    /// Without concepts all bags are the same.
    fn vectors(&self, params: &Concepts, bags: &Bags, ctx: &Ctx) -> Result<Mat> {
        if params.found.is_empty() {
            return Ok(Mat::zeros(bags.len(), 1));
        }
        let places: Vec<Concept> = params.found.iter().map(|b| b.concept.clone()).collect();
        let count = places.len();
        let mut vectors = Mat::new(bags.len(), count, vec![f64::INFINITY; bags.len() * count]);
        let distances = belief::distances_of(&dense(bags, ctx)?, &places, ctx)?;
        for b in 0..bags.len() {
            for row in bags.rows(b) {
                let least = vectors.row_mut(b).iter_mut().zip(distances.row(row));
                least.for_each(|(least, d)| *least = least.min((d / count as f64).sqrt()));
            }
        }
        // A weight that has grown without bound puts bags infinitely far; so far is far enough.
        vectors.data_mut().iter_mut().for_each(|v| *v = v.min(1e100));
        Ok(vectors)
    }

    fn columns(&self, params: &Concepts, _: usize) -> usize {
        params.width
    }

    fn parts(&self, _: &Concepts, _: bool, _: &Mat, _: &Bags) -> Result<InstanceKernel> {
        Err(Error::Invalid(
            "dd-svm cannot explain by instance, because its output depends on the nearest instances to many \
             concepts; dd and em-dd name the deciding instance, mg-ddv and mg-acc give contributions"
                .into(),
        ))
    }

    fn save(&self, params: &Concepts, state: &mut State) {
        save_concepts(state, params.width, &params.found);
        state.put_counts("width", [params.width]);
    }

    fn load(&self, params: &mut Concepts, state: &State) -> Result<()> {
        params.found = Arc::new(load_concepts(state)?);
        params.width = state.count("width")?;
        if params.found.iter().any(|c| c.concept.point.len() != params.width) {
            return Err(refuse("its concepts and their width are inconsistent"));
        }
        Ok(())
    }

    fn concepts(&self, params: &Concepts) -> Option<Vec<WeightedConcept>> {
        Some(params.found.to_vec())
    }
}

/// Good concepts of both sides, those of the positive side first, densest first.
fn good_concepts(
    bags: &Bags,
    scope: &Scope<'_>,
    options: &SearchOptions,
    ctx: &Ctx,
) -> Result<Vec<WeightedConcept>> {
    let mut all = Vec::new();
    for sign in [1.0, -1.0] {
        let y: Vec<f64> = scope.y.iter().map(|y| sign * y).collect();
        let evidence = Evidence::new(bags, scope.train, class_targets(&y), ctx)?;
        let found = Producer::DiverseDensity.search(&evidence, options, ctx)?;
        all.extend(distinct(&evidence, &found, ctx)?.into_iter().map(|found| (found, sign > 0.0)));
    }
    let belief = 1.0 / all.len().max(1) as f64;
    let believed = |(FoundConcept { concept, log_density, .. }, of_plus): (FoundConcept, bool)| {
        WeightedConcept { concept, belief, log_density, of_plus }
    };
    Ok(all.into_iter().map(believed).collect())
}

/// Concepts above the middle of the log densities, without those that look like a denser one.
fn distinct(evidence: &Evidence, found: &[FoundConcept], ctx: &Ctx) -> Result<Vec<FoundConcept>> {
    let most = found.iter().map(|f| f.log_density).fold(f64::NEG_INFINITY, f64::max);
    let least = found.iter().map(|f| f.log_density).fold(f64::INFINITY, f64::min);
    let dense = |f: &&FoundConcept| f.log_density >= 0.5 * (most + least);
    let mut found: Vec<FoundConcept> = found.iter().filter(dense).cloned().collect();
    found.sort_by(|a, b| b.log_density.total_cmp(&a.log_density));
    let concepts: Vec<Concept> = found.iter().map(|f| f.concept.clone()).collect();
    let near = belief::near(evidence.instances(), &concepts, ctx)?;
    let mut kept: Vec<usize> = Vec::new();
    for i in 0..found.len() {
        ctx.check()?;
        let alike = |&k: &usize| (0..near.rows()).all(|r| (near.get(r, i) - near.get(r, k)).abs() <= APART);
        if !kept.iter().any(alike) {
            kept.push(i);
        }
    }
    Ok(kept.into_iter().map(|i| found[i].clone()).collect())
}
