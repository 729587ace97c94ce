//! MInD: a bag becomes its distances to the training bags, and a support vector machine learns on these.
//!
//! With the distance `e(x, z) = |x - z|^2` of instances, or its root (`metric`), coordinate B of a bag A is one number for all
//! pairs (`summary`): the mean over x in A of `min over z in B of e(x, z)` (meanmin), the largest (maxmin) or the least (minmin) of
//! these minima, or the mean of all pairs (meanmean). `direction` is from A to B, from B to A, or the mean of both. DistanceColumns are
//! brought to mean 0 and variance 1 over the training bags and divided by the root of their number, so that a cost means the
//! same for few bags and for many; then a Gaussian or linear kernel. The distance of a training bag to itself, 0, stays in.
//!
//! One pass over the pairs of instances (`bagwise_engine::bag_summaries`), N^2 d / 2, serves every summary, metric and
//! inner fold. A model keeps the training bags. For meanmin to the training bags and a linear kernel an output is a sum
//! over instances: the part of x is the sum over B of `w_B min over z of e(x, z) / |A|`.
//!
//! Cheplygina, Tax, Loog: Multiple instance learning with bag dissimilarities, Pattern Recognition 48, 2015.

use std::sync::Arc;

use crate::families::embedding::{Embedded, Embedding};
use crate::families::kernel_svm::{InstanceKernel, KernelSvm};
use crate::families::svm;
use crate::families::width::WIDTH;
use crate::method::{Capability, Explains, Info, MemoryEstimate, Scope, State};
use crate::params::{Kind, ParamSpec, Point};
use crate::preprocess::Scale;
use crate::state::refuse;
use bagwise_core::{Bags, Ctx, Error, Mat, Result};
use bagwise_engine::bag_distances::nearest;
use bagwise_engine::bag_summaries::{BagSummary, PairSummary, SummaryDirection, summaries, summaries_to};

/// The method, for the registry.
pub(crate) static METHOD: KernelSvm<Embedded<Mind>> = KernelSvm { info: &INFO, kernel: Embedded(Mind) };

#[derive(Clone)]
pub(crate) struct Mind;

static INFO: Info = Info {
    name: "mind",
    aliases: &["minds"],
    title: "distances to training bags and an SVM",
    about: "A bag becomes the vector of its distances to the training bags, by default the mean over its instances of the squared \
            distance to the nearest instance of the other bag. An SVM with a Gaussian or linear kernel is trained on these \
            vectors.",
    reference: "Cheplygina, Tax, Loog: Multiple instance learning with bag dissimilarities, Pattern Recognition 48, 2015",
    family: "embedding + SVM",
    scale: Scale::ZScore,
    complexity: 25,
    explains: Explains::AdditiveFor(&[("summary", "meanmin"), ("direction", "to"), ("kernel", "linear")]),
    capabilities: &[Capability::Kernel],
    params: PARAMS,
    ..Info::USUAL
};

static PARAMS: &[ParamSpec] = &[
    ParamSpec::new(
        "summary",
        Kind::Word(&["minmin", "meanmin", "maxmin", "meanmean"]),
        "meanmin",
        "The distance between two bags: the least (minmin), mean (meanmin) or largest (maxmin) distance from an instance to its \
         nearest neighbour in the other bag, or the mean over all pairs (meanmean).",
    ),
    ParamSpec::new(
        "direction",
        Kind::Word(&["to", "from", "both"]),
        "to",
        "Over which instances meanmin and maxmin are taken: those of the bag (to), those of the training bag (from), or the \
         mean of the two (both).",
    ),
    ParamSpec::new(
        "metric",
        Kind::Word(&["squared", "euclid"]),
        "squared",
        "Distance between two instances: squared or plain Euclidean.",
    )
    .grid("squared,euclid"),
    ParamSpec::new("kernel", Kind::Word(&["rbf", "linear"]), "rbf", "Kernel between the vectors of bags.")
        .grid("rbf,linear"),
    ParamSpec {
        grid: "4^-2..4^1/median",
        help: "Gamma of the Gaussian kernel exp(-gamma |u - v|^2) of the vectors of bags; the median is taken \
               over the distances between these vectors.",
        ..WIDTH
    },
    ParamSpec { default: "10", grid: "0.1,1,10,100", ..svm::COST },
    svm::TUBE,
];

/// A distance of bags and, once learned, the bags that others are compared with.
#[derive(Clone)]
pub(crate) struct MindParams {
    kind: BagSummary,
    columns: Option<Arc<DistanceColumns>>,
}

struct DistanceColumns {
    bags: Arc<Bags>,
    mean: Vec<f64>,
    /// What a column is multiplied with.
    factor: Vec<f64>,
}

/// Before anything is learned: what it is learned by.
impl PartialEq for MindParams {
    fn eq(&self, other: &MindParams) -> bool {
        self.kind == other.kind
    }
}

impl MindParams {
    fn columns(&self) -> &DistanceColumns {
        self.columns.as_ref().expect("columns are learned before bags are mapped")
    }
}

impl DistanceColumns {
    /// From the distances of training bags to each other, training bags in the rows `train`.
    fn learn(bags: &Arc<Bags>, distances: &Mat, train: &[usize]) -> DistanceColumns {
        let n = train.len() as f64;
        let column = |c: usize| train.iter().map(move |&b| distances.get(b, c));
        let mean: Vec<f64> = (0..distances.cols()).map(|c| column(c).sum::<f64>() / n).collect();
        let spread = |c: usize| (column(c).map(|v| (v - mean[c]).powi(2)).sum::<f64>() / n).sqrt();
        let factor = |c: usize| {
            let spread = spread(c);
            // Distances that do not differ tell nothing.
            if spread > 0.0 { 1.0 / (spread * n.sqrt()) } else { 0.0 }
        };
        let factor = (0..distances.cols()).map(factor).collect();
        DistanceColumns { bags: Arc::clone(bags), mean, factor }
    }

    /// Distances as coordinates.
    fn standardise(&self, mut distances: Mat) -> Mat {
        for b in 0..distances.rows() {
            let row = distances.row_mut(b).iter_mut().zip(self.mean.iter().zip(&self.factor));
            row.for_each(|(v, (mean, factor))| *v = (*v - mean) * factor);
        }
        distances
    }
}

impl Embedding for Mind {
    type Params = MindParams;

    fn read(&self, point: &Point) -> Result<MindParams> {
        let summary = point.choice(
            "summary",
            &[
                ("minmin", PairSummary::MinMin),
                ("meanmin", PairSummary::MeanMin),
                ("maxmin", PairSummary::MaxMin),
                ("meanmean", PairSummary::MeanMean),
            ],
        )?;
        let directions = [
            ("to", SummaryDirection::To),
            ("from", SummaryDirection::From),
            ("both", SummaryDirection::Both),
        ];
        let direction = point.choice("direction", &directions)?;
        let euclid = point.choice("metric", &[("squared", false), ("euclid", true)])?;
        Ok(MindParams { kind: BagSummary { summary, direction, euclid }, columns: None })
    }

    fn is_linear(&self, point: &Point) -> Result<bool> {
        point.choice("kernel", &[("rbf", false), ("linear", true)])
    }

    fn work(&self, bags: &Bags, representations: usize) -> f64 {
        let (n, b) = (bags.instance_count() as f64, bags.len() as f64);
        // Differences and squares, two minima; then products of vectors for each width.
        n * n / 2.0 * (1.5 * bags.values_per_instance() + 6.0) + b * b * (b + 10.0 * representations as f64)
    }

    fn needs_besides(&self, bags: &Bags) -> MemoryEstimate {
        // The bags as they are kept and packed; vectors as they are made and laid out for products.
        let copies = 2 * 8 * bags.instance_count() * bags.width();
        MemoryEstimate { fixed: copies as u64, each: (3 * 8 * bags.len() * bags.len()) as u64 }
    }

    fn learn_vectors(
        &self,
        params: &mut [MindParams],
        bags: &Bags,
        scope: &Scope<'_>,
        ctx: &Ctx,
    ) -> Result<Vec<Mat>> {
        let kinds: Vec<BagSummary> = params.iter().map(|p| p.kind).collect();
        let kept = Arc::new(bags.select(scope.train)).in_memory(ctx)?;
        let all = scope.train.iter().copied().eq(0..bags.len());
        let distances =
            if all { summaries(&kept, &kinds, ctx)? } else { summaries_to(bags, &kept, &kinds, ctx)? };
        let learned = params.iter_mut().zip(distances).map(|(params, distances)| {
            let columns = DistanceColumns::learn(&kept, &distances, scope.train);
            let vectors = columns.standardise(distances);
            params.columns = Some(Arc::new(columns));
            vectors
        });
        Ok(learned.collect())
    }

    fn vectors(&self, params: &MindParams, bags: &Bags, ctx: &Ctx) -> Result<Mat> {
        let columns = params.columns();
        check_width(columns, bags)?;
        let distances = summaries_to(bags, &columns.bags, &[params.kind], ctx)?.remove(0);
        Ok(columns.standardise(distances))
    }

    fn columns(&self, params: &MindParams, _: usize) -> usize {
        params.columns().bags.width()
    }

    fn parts(&self, _: &MindParams, _: bool, _: &Mat, _: &Bags) -> Result<InstanceKernel> {
        Err(Error::Invalid(
            "mind can explain by instance only with summary=meanmin, direction=to and kernel=linear; use these, or \
             a set kernel such as mi-kernel"
                .into(),
        ))
    }

    fn weighted_parts(
        &self,
        params: &MindParams,
        weights: &Mat,
        bags: &Bags,
        ctx: &Ctx,
    ) -> Result<Option<Mat>> {
        let BagSummary { summary, direction, euclid } = params.kind;
        if summary != PairSummary::MeanMin || direction != SummaryDirection::To {
            return Ok(None);
        }
        let columns = params.columns();
        check_width(columns, bags)?;
        if weights.cols() != columns.bags.len() {
            return Err(refuse(format!("{} weights for {} bags", weights.cols(), columns.bags.len())));
        }
        let minima = nearest(bags.instances(), &columns.bags, ctx)?;
        let mut parts = Mat::zeros(bags.instance_count(), weights.rows());
        for b in 0..bags.len() {
            let size = bags.rows(b).len() as f64;
            for i in bags.rows(b) {
                for k in 0..weights.rows() {
                    let part = |c: usize| {
                        let squared = minima.get(i, c);
                        let distance = if euclid { squared.sqrt() } else { squared };
                        weights.get(k, c) * (distance - columns.mean[c]) * columns.factor[c]
                    };
                    parts.set(i, k, (0..weights.cols()).map(part).sum::<f64>() / size);
                }
            }
        }
        Ok(Some(parts))
    }

    fn save(&self, params: &MindParams, state: &mut State) {
        let DistanceColumns { bags, mean, factor } = params.columns();
        let mut kept = State::default();
        kept.put_bags(bags).expect("kept bags are in memory");
        state.nest("kept", kept);
        state.put("mean", mean);
        state.put("factor", factor);
    }

    fn load(&self, params: &mut MindParams, state: &State) -> Result<()> {
        let bags = Arc::new(state.nested("kept").bags()?);
        let (mean, factor) = (state.vector("mean", bags.len())?, state.vector("factor", bags.len())?);
        params.columns = Some(Arc::new(DistanceColumns { bags, mean, factor }));
        Ok(())
    }
}

fn check_width(columns: &DistanceColumns, bags: &Bags) -> Result<()> {
    match (columns.bags.width(), bags.width()) {
        (kept, new) if kept == new => Ok(()),
        (kept, new) => Err(refuse(format!("it keeps bags of {kept} columns, these have {new}"))),
    }
}
