//! Simple-MI: a bag becomes one vector, and an ordinary support vector machine learns on the vectors.
//!
//! `embed`: the mean of the instances, the geometric centre `(min + max) / 2`, or minima and maxima side by side.
//! `kernel`: Gaussian `exp(-gamma |u - v|^2)` or linear `u . v`. Often hard to beat, hence in every comparison.
//! Instances can be told apart exactly only for `embed=mean kernel=linear`, where the output is a sum over them.

use std::sync::Arc;

use rayon::prelude::*;

use crate::families::kernel_svm::{BagKernel, Bank, Comparison, Grams, KernelSvm, Parts};
use crate::families::set_kernel::{WIDTH, gaussians, resolve_for, shares};
use crate::families::svm;
use crate::method::{Info, Needs, Scope, State, refuse};
use crate::params::{Kind, Level, ParamSpec, Point};
use crate::preprocess::Scale;
use bagwise_core::{BagRef, Bags, Ctx, Error, Instances, Mat, Result};

/// The method, for the registry.
pub(crate) static METHOD: KernelSvm<SimpleMi> = KernelSvm(SimpleMi);

pub(crate) struct SimpleMi;

static INFO: Info = Info {
    name: "simple-mi",
    aliases: &["mean-pool"],
    title: "bag means (or minima and maxima) and an ordinary SVM",
    about: "A bag becomes the mean of its instances, their geometric centre (min + max) / 2, or their minima and \
            maxima side by side; a support vector machine with a Gaussian or linear kernel learns on these vectors.",
    reference: "Dong: A comparison of multi-instance learning algorithms, thesis, University of Waikato, 2006",
    family: "embedding + SVM",
    regression: true,
    scale: Scale::MinMax,
    complexity: 10,
    explains: "additive for embed=mean kernel=linear, else not at all",
};

static PARAMS: &[ParamSpec] = &[
    ParamSpec {
        name: "embed",
        help: "The vector of a bag: mean, geometric (the centre of minima and maxima), or minmax (both side by side).",
        kind: Kind::Word(&["mean", "geometric", "minmax"]),
        default: "mean",
        grid: "mean,minmax",
        level: Level::Representation,
        regression_only: false,
    },
    ParamSpec {
        name: "kernel",
        help: "Kernel of the vectors.",
        kind: Kind::Word(&["rbf", "linear"]),
        default: "rbf",
        grid: "rbf",
        level: Level::Representation,
        regression_only: false,
    },
    WIDTH,
    svm::COST,
    svm::TUBE,
];

impl BagKernel for SimpleMi {
    fn info(&self) -> &'static Info {
        &INFO
    }

    fn params(&self) -> &'static [ParamSpec] {
        PARAMS
    }

    fn work(&self, bags: &Bags, representations: usize) -> f64 {
        // Vectors are dense, also those of sparse bags.
        let n = bags.len() as f64;
        n * n / 2.0 * (2 * bags.width() + 3 * representations) as f64
    }

    fn needs_besides(&self, bags: &Bags) -> Needs {
        // The vectors of the three embeddings and the engine's packed copy of one.
        Needs { fixed: 6 * 8 * (bags.len() * bags.width()) as u64, each: 0 }
    }

    fn grams(
        &self,
        bags: Arc<Bags>,
        points: &[&Point],
        scope: &Scope<'_>,
        ctx: &Ctx,
    ) -> Result<Box<dyn Grams>> {
        let mut representations: Vec<Option<Representation>> = points.iter().map(|_| None).collect();
        let mut embeds: Vec<&str> = points.iter().map(|p| p.word("embed")).collect();
        embeds.sort_unstable();
        embeds.dedup();
        for embed in embeds {
            // One pass over the vectors for all widths.
            let own: Vec<usize> = (0..points.len()).filter(|&i| points[i].word("embed") == embed).collect();
            let here: Vec<&Point> = own.iter().map(|&i| points[i]).collect();
            let vectors = Arc::new(embedded(embed, &bags)?);
            let gammas = resolve_for(&here, &vectors, bags.width(), scope, ctx)?;
            let kernel_of = |(point, gamma): (&&Point, f64)| match point.word("kernel") {
                "linear" => VectorKernel::Linear,
                _ => VectorKernel::Rbf(gamma),
            };
            let kernels: Vec<VectorKernel> = here.iter().zip(gammas).map(kernel_of).collect();
            let grams = VectorKernel::matrices(&kernels, &vectors, None, ctx)?;
            for ((i, kernel), gram) in own.into_iter().zip(kernels).zip(grams) {
                let (embed, vectors) = (embed.to_string(), Arc::clone(&vectors));
                representations[i] = Some(Representation { embed, kernel, vectors, gram });
            }
        }
        let representations = representations.into_iter().flatten().collect();
        Ok(Box::new(VectorGrams(representations)))
    }

    fn load(&self, point: &Point, state: &State) -> Result<Box<dyn Bank>> {
        let vectors = state.mat("vectors")?;
        let gamma = state.vector("gamma", 1)?[0];
        let rows = vectors.rows();
        let vectors =
            Bags::new(Instances::F64(vectors), (0..=rows).collect()).map_err(|e| refuse(e.to_string()))?;
        let kernel = match point.word("kernel") {
            "linear" => VectorKernel::Linear,
            _ if gamma > 0.0 => VectorKernel::Rbf(gamma),
            _ => return Err(refuse("the width is not above 0")),
        };
        Ok(Box::new(VectorBank { embed: point.word("embed").to_string(), kernel, vectors }))
    }
}

/// The vectors as bags of one instance each.
fn embedded(embed: &str, bags: &Bags) -> Result<Bags> {
    let rows: Vec<Vec<f64>> =
        (0..bags.len()).into_par_iter().map(|b| vector(embed, bags.bag(b))).collect::<Result<_>>()?;
    Bags::new(Instances::F64(Mat::from_rows(&rows)), (0..=bags.len()).collect())
}

fn vector(embed: &str, bag: BagRef<'_>) -> Result<Vec<f64>> {
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
        "mean" => sum.iter().map(|s| s / bag.len() as f64).collect(),
        "geometric" => low.iter().zip(&high).map(|(l, h)| 0.5 * (l + h)).collect(),
        _ => [low, high].concat(),
    })
}

#[derive(Clone, Copy, Debug)]
enum VectorKernel {
    Linear,
    Rbf(f64),
}

impl VectorKernel {
    /// All kernel values between two sets of vectors, or of one with itself: all widths in one pass.
    fn matrices(kernels: &[VectorKernel], rows: &Bags, cols: Option<&Bags>, ctx: &Ctx) -> Result<Vec<Mat>> {
        let width = |kernel: &VectorKernel| match kernel {
            VectorKernel::Rbf(gamma) => Some(*gamma),
            VectorKernel::Linear => None,
        };
        let gammas: Vec<f64> = kernels.iter().filter_map(width).collect();
        let gaussian = if gammas.is_empty() { Vec::new() } else { gaussians(rows, cols, &gammas, ctx)? };
        let mut gaussian = gaussian.into_iter();
        let linear = kernels.iter().any(|k| width(k).is_none()).then(|| dots(rows, cols.unwrap_or(rows)));
        let of = |kernel: &VectorKernel| match kernel {
            VectorKernel::Rbf(_) => gaussian.next().expect("one for each width"),
            VectorKernel::Linear => linear.clone().expect("computed where one is asked for"),
        };
        Ok(kernels.iter().map(of).collect())
    }

    /// The kernel of each vector with itself.
    fn own(self, bags: &Bags) -> Vec<f64> {
        let squared = |b: usize| rows(bags).row(b).iter().map(|x| x * x).sum();
        match self {
            VectorKernel::Linear => (0..bags.len()).map(squared).collect(),
            VectorKernel::Rbf(_) => vec![1.0; bags.len()],
        }
    }
}

/// The inner products of two sets of vectors.
fn dots(rows: &Bags, cols: &Bags) -> Mat {
    let (left, right) = (self::rows(rows), self::rows(cols));
    let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(x, y)| x * y).sum::<f64>();
    let row = |a: usize| (0..right.rows()).map(|b| dot(left.row(a), right.row(b))).collect();
    Mat::from_rows(&(0..left.rows()).map(row).collect::<Vec<Vec<_>>>())
}

/// Vectors that [`embedded`] made, or that were loaded.
fn rows(vectors: &Bags) -> &Mat {
    let Instances::F64(rows) = vectors.instances() else { unreachable!("vectors are dense") };
    rows
}

struct Representation {
    embed: String,
    kernel: VectorKernel,
    vectors: Arc<Bags>,
    gram: Mat,
}

struct VectorGrams(Vec<Representation>);

impl Grams for VectorGrams {
    fn gram(&self, representation: usize) -> &Mat {
        &self.0[representation].gram
    }

    fn bank(&self, representation: usize, train: &[usize], _: &Ctx) -> Result<Box<dyn Bank>> {
        let Representation { embed, kernel, vectors, .. } = &self.0[representation];
        Ok(Box::new(VectorBank { embed: embed.clone(), kernel: *kernel, vectors: vectors.select(train) }))
    }
}

/// The vectors of the training bags.
struct VectorBank {
    embed: String,
    kernel: VectorKernel,
    vectors: Bags,
}

impl Bank for VectorBank {
    fn len(&self) -> usize {
        self.vectors.len()
    }

    fn width(&self) -> usize {
        if self.embed == "minmax" { self.vectors.width() / 2 } else { self.vectors.width() }
    }

    fn compare(&self, bags: &Bags, ctx: &Ctx) -> Result<Comparison> {
        let new = embedded(&self.embed, bags)?;
        if new.width() != self.vectors.width() {
            return Err(refuse(format!(
                "it keeps vectors of {}, these bags give {}",
                self.vectors.width(),
                new.width()
            )));
        }
        let kernel = VectorKernel::matrices(&[self.kernel], &new, Some(&self.vectors), ctx)?.remove(0);
        Ok(Comparison { kernel, own: self.kernel.own(&new), kept: self.kernel.own(&self.vectors) })
    }

    fn parts(&self, bags: &Bags, _: &Ctx) -> Result<Parts> {
        if !matches!(self.kernel, VectorKernel::Linear) || self.embed != "mean" {
            return Err(Error::Invalid(
                "simple-mi can tell instances apart only with embed=mean and kernel=linear; \
                 fit it so, or choose a set kernel such as mi-kernel, whose outputs are sums over instances"
                    .into(),
            ));
        }
        let mut parts = Mat::zeros(bags.instance_count(), self.vectors.len());
        let kept = rows(&self.vectors);
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
        let equal = vec![1.0; bags.instance_count()];
        Ok(Parts { kernel: parts, share: shares(&equal, bags.offsets()) })
    }

    fn save(&self) -> Result<State> {
        let mut state = State::default();
        state.put_mat("vectors", rows(&self.vectors));
        state.put("gamma", &[if let VectorKernel::Rbf(gamma) = self.kernel { gamma } else { 0.0 }]);
        Ok(state)
    }
}
