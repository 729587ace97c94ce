//! Simple-MI: a bag becomes one vector, and an ordinary support vector machine learns on the vectors.
//!
//! `embed`: the mean of the instances, the geometric centre `(min + max) / 2`, or minima and maxima side by side.
//! `kernel`: Gaussian `exp(-gamma |u - v|^2)` or linear `u . v`. Often hard to beat, hence in every comparison.
//! Instances can be told apart exactly only for `embed=mean kernel=linear`, where the output is a sum over them.

use rayon::prelude::*;

use crate::families::embedding::{Embedded, Embedding};
use crate::families::kernel_svm::{InstanceKernel, KernelSvm};
use crate::families::set_kernel::shares;
use crate::families::svm;
use crate::families::width::WIDTH;
use crate::method::{Capability, Explains, Info, MemoryEstimate};
use crate::params::{Kind, ParamSpec, Point};
use bagwise_core::{BagRef, Bags, Ctx, Error, Mat, Result};

/// The method, for the registry.
pub(crate) static METHOD: KernelSvm<Embedded<SimpleMi>> =
    KernelSvm { info: &INFO, kernel: Embedded(SimpleMi) };

#[derive(Clone)]
pub(crate) struct SimpleMi;

static INFO: Info = Info {
    name: "simple-mi",
    aliases: &["mean-pool"],
    title: "SVM on bag means (or minima and maxima)",
    about: "A bag becomes the mean of its instances, the centre of their range (min + max) / 2, or their minima and \
            maxima side by side. An SVM with a Gaussian or linear kernel is trained on these vectors.",
    reference: "Dong: A comparison of multi-instance learning algorithms, thesis, University of Waikato, 2006",
    family: "embedding + SVM",
    complexity: 10,
    explains: Explains::AdditiveFor(&[("embed", "mean"), ("kernel", "linear")]),
    capabilities: &[Capability::Kernel],
    params: PARAMS,
    ..Info::USUAL
};

static PARAMS: &[ParamSpec] = &[
    ParamSpec::new(
        "embed",
        Kind::Word(&["mean", "geometric", "minmax"]),
        "mean",
        "The vector of a bag: mean, geometric (the centre of the range), or minmax (minima and maxima side by side).",
    )
    .grid("mean,minmax"),
    ParamSpec::new("kernel", Kind::Word(&["rbf", "linear"]), "rbf", "Kernel between the vectors of bags."),
    WIDTH,
    svm::COST,
    svm::TUBE,
];

/// What becomes of a bag.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Embed {
    Mean,
    Geometric,
    MinMax,
}

impl Embedding for SimpleMi {
    type Params = Embed;

    fn read(&self, point: &Point) -> Result<Embed> {
        let embeds = [("mean", Embed::Mean), ("geometric", Embed::Geometric), ("minmax", Embed::MinMax)];
        point.choice("embed", &embeds)
    }

    fn is_linear(&self, point: &Point) -> Result<bool> {
        point.choice("kernel", &[("rbf", false), ("linear", true)])
    }

    fn work(&self, bags: &Bags, representations: usize) -> f64 {
        // Vectors are dense, also those of sparse bags.
        let n = bags.len() as f64;
        n * n / 2.0 * (2 * bags.width() + 3 * representations) as f64
    }

    fn needs_besides(&self, bags: &Bags) -> MemoryEstimate {
        // The vectors of the three embeddings and the engine's packed copy of one.
        MemoryEstimate { fixed: 6 * 8 * (bags.len() * bags.width()) as u64, each: 0 }
    }

    fn vectors(&self, embed: &Embed, bags: &Bags, _: &Ctx) -> Result<Mat> {
        let one = |b: usize| vector(*embed, bags.bag(b));
        let rows: Vec<Vec<f64>> = (0..bags.len()).into_par_iter().map(one).collect::<Result<_>>()?;
        Ok(Mat::from_rows(&rows))
    }

    fn columns(&self, embed: &Embed, length: usize) -> usize {
        if *embed == Embed::MinMax { length / 2 } else { length }
    }

    fn parts(&self, embed: &Embed, linear: bool, kept: &Mat, bags: &Bags) -> Result<InstanceKernel> {
        if !linear || *embed != Embed::Mean {
            return Err(Error::Invalid(
                "simple-mi can explain by instance only with embed=mean and kernel=linear; use these, or a set \
                 kernel such as mi-kernel"
                    .into(),
            ));
        }
        let mut parts = Mat::zeros(bags.instance_count(), kept.rows());
        let mut row = vec![0.0; bags.width()];
        for b in 0..bags.len() {
            let share = 1.0 / bags.rows(b).len() as f64;
            for i in bags.rows(b) {
                bags.instances().row_into(i, &mut row)?;
                for k in 0..kept.rows() {
                    let dot: f64 = row.iter().zip(kept.row(k)).map(|(x, v)| x * v).sum();
                    parts.set(i, k, share * dot);
                }
            }
        }
        Ok(InstanceKernel { kernel: parts, share: shares(&vec![1.0; bags.instance_count()], bags.offsets()) })
    }
}

fn vector(embed: Embed, bag: BagRef<'_>) -> Result<Vec<f64>> {
    let width = bag.width();
    let (mut sum, mut low, mut high) =
        (vec![0.0; width], vec![f64::INFINITY; width], vec![f64::NEG_INFINITY; width]);
    let (instances, rows) = bag.parts();
    instances.each_row(rows, |_, row| {
        for (j, &x) in row.iter().enumerate() {
            sum[j] += x;
            low[j] = low[j].min(x);
            high[j] = high[j].max(x);
        }
    })?;
    Ok(match embed {
        Embed::Mean => sum.iter().map(|s| s / bag.len() as f64).collect(),
        Embed::Geometric => low.iter().zip(&high).map(|(l, h)| 0.5 * (l + h)).collect(),
        Embed::MinMax => [low, high].concat(),
    })
}
