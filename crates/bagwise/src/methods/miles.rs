//! MILES: a bag becomes its similarities to training instances, and a linear support vector machine learns on these.
//!
//! Coordinate c of a bag is `M(B, c) = max over x of exp(-gamma |x - c|^2)`, for every training instance c, over the root of their
//! number P, so that a cost means the same for few and for many. All widths of a grid come from one pass over the least
//! distances: N P d. The part of an instance is the sum of `w_c M(B, c)` over the coordinates at which it is nearest, in
//! equal shares among equals.
//!
//! Chen, Bi, Wang: MILES: Multiple-instance learning via embedded instance selection, IEEE PAMI 28, 2006. The paper's machine has an
//! L1 penalty and keeps few prototypes; ours is the usual one (L2), which was 4 points better on musk1 and is a kernel. Of
//! more than 10,000 training instances so many are drawn by the seed (`prototypes`), so that the time stays linear.

use std::sync::Arc;

use rayon::prelude::*;

use crate::families::embedding::{Embedded, Embedding};
use crate::families::kernel_svm::KernelSvm;
use crate::families::svm;
use crate::families::width::{WIDTH, Width};
use crate::method::{Capability, Info, MemoryEstimate, Scope, State};
use crate::params::{Kind, ParamSpec, Point};
use crate::state::refuse;
use bagwise_core::{Bags, Ctx, Mat, Message, Result, Rng};
use bagwise_engine::cells::Distance;
use bagwise_engine::minima::Places;

/// The method, for the registry.
pub(crate) static METHOD: KernelSvm<Embedded<Miles>> = KernelSvm { info: &INFO, kernel: Embedded(Miles) };

#[derive(Clone)]
pub(crate) struct Miles;

static INFO: Info = Info {
    name: "miles",
    title: "similarities to training instances and a linear SVM",
    about: "A bag becomes the vector of its similarities max over x of exp(-gamma |x - c|^2) to the training instances c, \
            and a linear SVM is trained on these vectors. In effect, the SVM weights training instances as prototypes of \
            the two classes. The original SVM has an L1 penalty and keeps few prototypes. It was 4 points worse on musk1 \
            and is not available.",
    reference: "Chen, Bi, Wang: MILES: Multiple-instance learning via embedded instance selection, IEEE PAMI 28, 2006",
    family: "embedding + SVM",
    complexity: 30,
    capabilities: &[Capability::Kernel],
    params: PARAMS,
    ..Info::USUAL
};

/// Prototypes where nothing else is said: all training instances of usual data sets.
const AUTO: usize = 10_000;

static PARAMS: &[ParamSpec] = &[
    ParamSpec {
        default: "4/median",
        grid: "2^-1..2^5/median",
        help: "Width of the similarity exp(-gamma |x - c|^2) of instances x and prototypes c.",
        ..WIDTH
    },
    ParamSpec::new(
        "prototypes",
        Kind::Whole { least: 1, most: 1_000_000, words: &["auto"] },
        "auto",
        "Number of training instances that bags are compared with, sampled by the seed if there are more; auto uses all, up \
         to 10,000.",
    ),
    ParamSpec { grid: "1,10,100,1000", ..svm::COST },
    svm::TUBE,
];

/// A width and prototypes.
#[derive(Clone)]
pub(crate) struct MilesParams {
    width: Width,
    most: usize,
    /// 0 and nothing before they are learned.
    gamma: f64,
    prototypes: Option<Arc<Prototypes>>,
}

struct Prototypes {
    rows: Mat,
    places: Places,
}

/// Before anything is learned: what it is learned by.
impl PartialEq for MilesParams {
    fn eq(&self, other: &MilesParams) -> bool {
        (self.width, self.most) == (other.width, other.most)
    }
}

impl MilesParams {
    fn prototypes(&self) -> &Arc<Prototypes> {
        self.prototypes.as_ref().expect("prototypes are learned before bags are mapped")
    }

    /// A similarity from a squared distance; the root of the number of prototypes is taken off.
    fn similarity(&self, squared: f64) -> f64 {
        (-self.gamma * squared).exp() / (self.prototypes().rows.rows() as f64).sqrt()
    }
}

fn draw(bags: &Bags, train: &[usize], most: usize, ctx: &Ctx) -> Result<Prototypes> {
    let mut rows: Vec<usize> = train.iter().flat_map(|&b| bags.rows(b)).collect();
    if rows.len() > most {
        let mut drawn = Rng::new(ctx.seed, "prototypes", &[most as u64]).sample(rows.len(), most);
        drawn.sort_unstable();
        rows = drawn.into_iter().map(|i| rows[i]).collect();
    }
    ctx.reserve(
        "prototypes and the similarities of bags to them",
        8 * (rows.len() * (2 * bags.width() + 2 * bags.len())) as u64,
        Message::more_memory().or("choose fewer prototypes"),
    )?;
    let drawn = bags.instances().gather(&rows);
    let mut dense = Mat::zeros(rows.len(), bags.width());
    drawn.each_row(0..rows.len(), |i, row| dense.row_mut(i).copy_from_slice(row))?;
    let places = Places::new(&dense)?;
    Ok(Prototypes { rows: dense, places })
}

impl Embedding for Miles {
    type Params = MilesParams;

    fn read(&self, point: &Point) -> Result<MilesParams> {
        let most = point.whole("prototypes")?.unwrap_or(AUTO);
        Ok(MilesParams { width: Width::read(point)?, most, gamma: 0.0, prototypes: None })
    }

    fn is_linear(&self, _: &Point) -> Result<bool> {
        Ok(true)
    }

    fn ignores_width(&self, _: &Point) -> bool {
        false
    }

    fn work(&self, bags: &Bags, representations: usize) -> f64 {
        let (n, b) = (bags.instance_count() as f64, bags.len() as f64);
        let prototypes = n.min(AUTO as f64);
        // Differences and squares, then powers and products for each width, which pass through memory.
        n * prototypes * 2.5 * bags.width() as f64
            + representations as f64 * b * prototypes * (3.0 * b + 10.0)
    }

    fn needs_besides(&self, bags: &Bags) -> MemoryEstimate {
        let prototypes = bags.instance_count().min(AUTO);
        // Prototypes twice, least distances; vectors as they are made, as they are kept, and laid out for products.
        let fixed = 8 * prototypes * (2 * bags.width() + bags.len());
        MemoryEstimate { fixed: fixed as u64, each: (3 * 8 * prototypes * bags.len()) as u64 }
    }

    fn learn_all(&self, params: &mut [MilesParams], bags: &Bags, scope: &Scope<'_>, ctx: &Ctx) -> Result<()> {
        let widths: Vec<Width> = params.iter().map(|p| p.width).collect();
        let gammas = Width::resolve(&widths, bags, bags.width(), Distance::Euclidean, scope)?;
        let mut drawn: Vec<(usize, Arc<Prototypes>)> = Vec::new();
        for (params, gamma) in params.iter_mut().zip(gammas) {
            params.gamma = gamma;
            let known = drawn.iter().find(|(most, _)| *most == params.most);
            let prototypes = match known {
                Some((_, prototypes)) => Arc::clone(prototypes),
                None => {
                    let new = Arc::new(draw(bags, scope.train, params.most, ctx)?);
                    drawn.push((params.most, Arc::clone(&new)));
                    new
                }
            };
            params.prototypes = Some(prototypes);
        }
        Ok(())
    }

    fn vectors(&self, params: &MilesParams, bags: &Bags, ctx: &Ctx) -> Result<Mat> {
        Ok(self.vectors_of_all(std::slice::from_ref(params), bags, ctx)?.remove(0))
    }

    fn vectors_of_all(&self, params: &[MilesParams], bags: &Bags, ctx: &Ctx) -> Result<Vec<Mat>> {
        let mut all: Vec<Option<Mat>> = params.iter().map(|_| None).collect();
        while let Some(first) = all.iter().position(Option::is_none) {
            let prototypes = params[first].prototypes();
            let minima = prototypes.places.minima(bags, ctx)?;
            for i in (first..params.len()).filter(|&i| Arc::ptr_eq(params[i].prototypes(), prototypes)) {
                let similar = minima.data().par_iter().map(|&squared| params[i].similarity(squared));
                all[i] = Some(Mat::new(minima.rows(), minima.cols(), similar.collect()));
            }
        }
        Ok(all.into_iter().flatten().collect())
    }

    fn columns(&self, params: &MilesParams, _: usize) -> usize {
        params.prototypes().rows.cols()
    }

    fn weighted_parts(
        &self,
        params: &MilesParams,
        weights: &Mat,
        bags: &Bags,
        ctx: &Ctx,
    ) -> Result<Option<Mat>> {
        let prototypes = params.prototypes();
        if weights.cols() != prototypes.rows.rows() {
            return Err(refuse(format!(
                "{} weights for {} prototypes",
                weights.cols(),
                prototypes.rows.rows()
            )));
        }
        let minima = prototypes.places.minima(bags, ctx)?;
        let of_bag = |b: usize| -> Result<Mat> {
            let rows = bags.rows(b);
            let mut equals = vec![0u32; minima.cols()];
            prototypes.places.each_distance(bags, rows.clone(), ctx, |_, from, distances| {
                let least = &minima.row(b)[from..];
                for ((equals, d), least) in equals[from..].iter_mut().zip(distances).zip(least) {
                    *equals += u32::from(d == least);
                }
            })?;
            let mut parts = Mat::zeros(rows.len(), weights.rows());
            prototypes.places.each_distance(bags, rows.clone(), ctx, |row, from, distances| {
                for (c, d) in (from..).zip(distances).filter(|(c, d)| **d == minima.get(b, *c)) {
                    let share = params.similarity(*d) / f64::from(equals[c]);
                    for k in 0..weights.rows() {
                        let part = parts.get(row - rows.start, k) + weights.get(k, c) * share;
                        parts.set(row - rows.start, k, part);
                    }
                }
            })?;
            Ok(parts)
        };
        let parts = (0..bags.len()).into_par_iter().map(of_bag).collect::<Result<Vec<_>>>()?;
        let data = parts.into_iter().flat_map(Mat::into_data).collect();
        Ok(Some(Mat::new(bags.instance_count(), weights.rows(), data)))
    }

    fn save(&self, params: &MilesParams, state: &mut State) {
        state.put_mat("prototypes", &params.prototypes().rows);
        state.put("gamma", &[params.gamma]);
    }

    fn load(&self, params: &mut MilesParams, state: &State) -> Result<()> {
        let rows = state.mat("prototypes")?;
        if rows.rows() == 0 || rows.cols() == 0 || rows.rows() > params.most {
            return Err(refuse(format!("{} prototypes of {} columns", rows.rows(), rows.cols())));
        }
        let places = Places::new(&rows)?;
        params.gamma = state.positive("gamma")?;
        params.prototypes = Some(Arc::new(Prototypes { rows, places }));
        Ok(())
    }
}
