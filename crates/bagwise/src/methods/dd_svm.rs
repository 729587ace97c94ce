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
    DISTANCE, EVALUATIONS, ITERATIONS, Producer, RHO, STARTS, class_targets, dense, load_concepts, options,
    save_concepts,
};
use crate::families::kernel_svm::{BagKernel, Bank, Comparison, Grams, KernelSvm, Parts};
use crate::families::set_kernel::{WIDTH, gaussians, resolve_for};
use crate::families::svm;
use crate::method::{Believed, Info, Needs, Scope, State, refuse};
use crate::params::{ParamSpec, Point};
use crate::preprocess::Scale;
use bagwise_core::{Bags, Ctx, Error, Instances, Mat, Result};
use bagwise_engine::density::{Concept, Evidence, Found, belief};

/// The method, for the registry.
pub(crate) static METHOD: KernelSvm<DdSvm> = KernelSvm(DdSvm);

pub(crate) struct DdSvm;

static INFO: Info = Info {
    name: "dd-svm",
    aliases: &[],
    title: "distances to the concepts of both classes and an ordinary SVM",
    about: "Diverse density is climbed from every instance of every positive bag, and with the labels swapped from the \
            others; distinct concepts above the middle of the log densities are kept. A bag becomes the vector of the \
            distances of its nearest instance to each, and a support vector machine with a Gaussian kernel learns on the \
            vectors.",
    reference: "Chen, Wang: Image categorization by learning and reasoning with regions, JMLR 5, 2004",
    family: "diverse density + SVM",
    regression: false,
    scale: Scale::ZScore,
    complexity: 40,
    explains: "not at all: nearest instances of many concepts decide together",
};

static PARAMS: &[ParamSpec] = &[WIDTH, DISTANCE, RHO, STARTS, ITERATIONS, svm::COST];

/// Concepts are the same if no training instance tells them apart by more than this.
const APART: f64 = 0.01;

impl BagKernel for DdSvm {
    fn info(&self) -> &'static Info {
        &INFO
    }

    fn params(&self) -> &'static [ParamSpec] {
        PARAMS
    }

    fn learns_labels(&self) -> bool {
        true
    }

    fn work(&self, bags: &Bags, _: usize) -> f64 {
        // A climb from every instance, for one side or the other.
        let n = bags.instance_count() as f64;
        EVALUATIONS * n * n * 4.0 * bags.width() as f64
    }

    fn needs_besides(&self, bags: &Bags) -> Needs {
        // Instances dense, packed for distances and twice for gradients.
        Needs { fixed: 5 * 8 * (bags.instance_count() * bags.width()) as u64, each: 0 }
    }

    fn grams(
        &self,
        bags: Arc<Bags>,
        points: &[&Point],
        scope: &Scope<'_>,
        ctx: &Ctx,
    ) -> Result<Box<dyn Grams>> {
        let instances = dense(&bags, ctx)?;
        let mut representations: Vec<Option<Representation>> = points.iter().map(|_| None).collect();
        for first in 0..points.len() {
            if representations[first].is_some() {
                continue;
            }
            // One search, and one pass for all widths, of points that search alike.
            let asked = options(points[first]);
            let alike: Vec<usize> = (first..points.len()).filter(|&i| options(points[i]) == asked).collect();
            let concepts = Arc::new(concepts(&bags, scope, points[first], ctx)?);
            let vectors = Arc::new(embedded(&instances, &bags, &concepts, ctx)?);
            let here: Vec<&Point> = alike.iter().map(|&i| points[i]).collect();
            let gammas = resolve_for(&here, &vectors, bags.width(), scope, ctx)?;
            let grams = gaussians(&vectors, None, &gammas, ctx)?;
            for ((i, gamma), gram) in alike.into_iter().zip(gammas).zip(grams) {
                let (concepts, vectors) = (Arc::clone(&concepts), Arc::clone(&vectors));
                representations[i] = Some(Representation { gamma, concepts, vectors, gram });
            }
        }
        let representations = representations.into_iter().flatten().collect();
        Ok(Box::new(ConceptGrams { width: bags.width(), representations }))
    }

    fn load(&self, _: &Point, state: &State) -> Result<Box<dyn Bank>> {
        let concepts = load_concepts(state)?;
        let vectors = state.mat("vectors")?;
        let gamma = state.vector("gamma", 1)?[0];
        let width = *state.counts("width")?.first().ok_or_else(|| refuse("'width' is empty"))?;
        let fits = vectors.cols() == concepts.len().max(1) && vectors.rows() > 0;
        if !fits || gamma <= 0.0 || concepts.iter().any(|c| c.concept.point.len() != width) {
            return Err(refuse("its concepts, vectors and width do not fit together"));
        }
        let rows = vectors.rows();
        let vectors =
            Bags::new(Instances::F64(vectors), (0..=rows).collect()).map_err(|e| refuse(e.to_string()))?;
        Ok(Box::new(ConceptBank { gamma, concepts: Arc::new(concepts), vectors, width }))
    }
}

/// Good concepts of both sides, those of the positive side first, densest first.
fn concepts(bags: &Bags, scope: &Scope<'_>, point: &Point, ctx: &Ctx) -> Result<Vec<Believed>> {
    let mut all = Vec::new();
    for sign in [1.0, -1.0] {
        let y: Vec<f64> = scope.y.iter().map(|y| sign * y).collect();
        let evidence = Evidence::new(bags, scope.train, class_targets(&y), ctx)?;
        let found = Producer::DiverseDensity.search(&evidence, &options(point), ctx)?;
        all.extend(distinct(&evidence, found, ctx)?.into_iter().map(|found| (found, sign > 0.0)));
    }
    let belief = 1.0 / all.len().max(1) as f64;
    let believed = |(Found { concept, log_density, .. }, of_plus): (Found, bool)| Believed {
        concept,
        belief,
        log_density,
        of_plus,
    };
    Ok(all.into_iter().map(believed).collect())
}

/// Concepts above the middle of the log densities, without those that look like a denser one.
fn distinct(evidence: &Evidence, mut found: Vec<Found>, ctx: &Ctx) -> Result<Vec<Found>> {
    let most = found.iter().map(|f| f.log_density).fold(f64::NEG_INFINITY, f64::max);
    let least = found.iter().map(|f| f.log_density).fold(f64::INFINITY, f64::min);
    found.retain(|f| f.log_density >= 0.5 * (most + least));
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

/// The vectors of bags, as bags of one instance each. Without concepts all bags are the same.
fn embedded(instances: &Mat, bags: &Bags, concepts: &[Believed], ctx: &Ctx) -> Result<Bags> {
    let mut vectors = Mat::new(bags.len(), 1, vec![0.0; bags.len()]);
    if !concepts.is_empty() {
        let places: Vec<Concept> = concepts.iter().map(|b| b.concept.clone()).collect();
        let count = places.len();
        vectors = Mat::new(bags.len(), count, vec![f64::INFINITY; bags.len() * count]);
        let distances = belief::distances_of(instances, &places, ctx)?;
        for b in 0..bags.len() {
            for row in bags.rows(b) {
                let least = vectors.row_mut(b).iter_mut().zip(distances.row(row));
                least.for_each(|(least, d)| *least = least.min((d / count as f64).sqrt()));
            }
        }
        // A weight that has grown without bound puts bags infinitely far; so far is far enough.
        vectors.data_mut().iter_mut().for_each(|v| *v = v.min(1e100));
    }
    Bags::new(Instances::F64(vectors), (0..=bags.len()).collect())
}

struct Representation {
    gamma: f64,
    concepts: Arc<Vec<Believed>>,
    vectors: Arc<Bags>,
    gram: Mat,
}

struct ConceptGrams {
    width: usize,
    representations: Vec<Representation>,
}

impl Grams for ConceptGrams {
    fn gram(&self, representation: usize) -> &Mat {
        &self.representations[representation].gram
    }

    fn bank(&self, representation: usize, train: &[usize], _: &Ctx) -> Result<Box<dyn Bank>> {
        let Representation { gamma, concepts, vectors, .. } = &self.representations[representation];
        let (concepts, vectors) = (Arc::clone(concepts), vectors.select(train));
        Ok(Box::new(ConceptBank { gamma: *gamma, concepts, vectors, width: self.width }))
    }
}

/// The vectors of the training bags.
struct ConceptBank {
    gamma: f64,
    concepts: Arc<Vec<Believed>>,
    vectors: Bags,
    width: usize,
}

impl Bank for ConceptBank {
    fn len(&self) -> usize {
        self.vectors.len()
    }

    fn width(&self) -> usize {
        self.width
    }

    fn compare(&self, bags: &Bags, ctx: &Ctx) -> Result<Comparison> {
        let new = embedded(&dense(bags, ctx)?, bags, &self.concepts, ctx)?;
        let kernel = gaussians(&new, Some(&self.vectors), &[self.gamma], ctx)?.remove(0);
        Ok(Comparison { kernel, own: vec![1.0; bags.len()], kept: vec![1.0; self.vectors.len()] })
    }

    fn parts(&self, _: &Bags, _: &Ctx) -> Result<Parts> {
        Err(Error::Invalid(
            "dd-svm cannot tell instances apart: the nearest instances of many concepts decide together; \
             dd and em-dd name the instance that decides, mg-ddv and mg-acc add instances up"
                .into(),
        ))
    }

    fn concepts(&self) -> Option<Vec<Believed>> {
        Some(self.concepts.to_vec())
    }

    fn save(&self) -> Result<State> {
        let mut state = State::default();
        save_concepts(&mut state, self.width, &self.concepts);
        let Instances::F64(vectors) = self.vectors.instances() else { unreachable!("vectors are dense") };
        state.put_mat("vectors", vectors);
        state.put("gamma", &[self.gamma]);
        state.put_counts("width", [self.width]);
        Ok(state)
    }
}
