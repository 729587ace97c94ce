//! The nearest class mean: a bag is its mean instance, and belongs to the class whose mean is nearer.
//!
//! With `m(X)` the mean of the instances of `X` and `p`, `q` the weighted means of `m(X)` over the bags of the two
//! sides, the output is `f(X) = |m(X) - q|^2 - |m(X) - p|^2 = 2 <m(X) - (p + q) / 2, p - q>`. It is linear in `m(X)`,
//! so every instance has its part. `shrink` brings each component of `p - q` that much closer to 0, which drops features
//! that hardly differ.
//!
//! An example of a method that belongs to no family: CONTRIBUTING.md points to it, and `cargo xtask new-method` adds it to
//! the checkout for a while, to show that nothing else has to be written.

use std::sync::Arc;

use crate::method::{
    Explanation, Info, MemoryEstimate, Method, Outputs, Predictor, Prepared, Scope, SolvedFit, State,
    Training,
};
use crate::params::{Kind, ParamSpec, Point};
use crate::state::refuse;
use bagwise_core::{Bags, Ctx, Mat, Result};

/// The method, for the registry.
pub(crate) static METHOD: NearestMean = NearestMean;

pub(crate) struct NearestMean;

static INFO: Info = Info {
    name: "nearest-mean",
    title: "nearest class mean of the bags' mean instances",
    about: "Each bag becomes the mean of its instances, and each class the mean of its bags. A new bag gets the class \
            whose mean is nearer.",
    reference: "Hastie, Tibshirani, Friedman: The Elements of Statistical Learning, section 18.2",
    family: "nearest mean",
    regression: false,
    complexity: 5,
    params: PARAMS,
    ..Info::USUAL
};

static PARAMS: &[ParamSpec] = &[ParamSpec::new(
    "shrink",
    Kind::AtLeast { least: 0.0 },
    "0",
    "How much closer to 0 the difference of the class means is brought, feature by feature; those that reach it \
     have no say.",
)
.grid("0,0.05,0.1")
.solver()];

impl Method for NearestMean {
    fn info(&self) -> &'static Info {
        &INFO
    }

    fn work(&self, bags: &Bags, _: usize) -> f64 {
        (bags.instance_count() * bags.width()) as f64
    }

    fn needs(&self, bags: &Bags) -> MemoryEstimate {
        // The scaled instances and the means.
        let rows = bags.instance_count() + bags.len();
        MemoryEstimate { fixed: 8 * (rows * bags.width()) as u64, each: 0 }
    }

    fn prepare(
        &self,
        bags: Arc<Bags>,
        points: &[Point],
        _: &Scope<'_>,
        _: &Ctx,
    ) -> Result<Box<dyn Prepared>> {
        let shrink = points.iter().map(|p| p.number("shrink")).collect::<Result<_>>()?;
        let means = (0..bags.len()).map(|b| mean(&bags, b)).collect::<Result<Vec<_>>>()?;
        Ok(Box::new(BagMeans { shrink, means }))
    }

    fn load(&self, _: &Point, state: &State) -> Result<Box<dyn Predictor>> {
        let directions = state.mat("directions")?;
        let biases = state.vector("biases", directions.rows())?;
        if directions.rows() == 0 {
            return Err(refuse("'directions' has no rows"));
        }
        Ok(Box::new(Directions { directions, biases }))
    }
}

fn mean(bags: &Bags, bag: usize) -> Result<Vec<f64>> {
    let mut sum = vec![0.0; bags.width()];
    let rows = bags.rows(bag);
    let share = 1.0 / rows.len() as f64;
    bags.instances().each_row(rows, |_, row| sum.iter_mut().zip(row).for_each(|(s, x)| *s += share * x))?;
    Ok(sum)
}

struct BagMeans {
    shrink: Vec<f64>,
    means: Vec<Vec<f64>>,
}

/// `f(X) = <m(X), direction> + bias`.
#[derive(Clone)]
struct Direction {
    direction: Vec<f64>,
    bias: f64,
}

impl Prepared for BagMeans {
    fn fit(&self, points: &[usize], training: &Training<'_>, _: &Ctx) -> Result<Vec<SolvedFit>> {
        let class_mean = |sign: f64| {
            let own = || {
                training.y.iter().zip(training.weights).zip(training.bags).filter(|((y, _), _)| **y == sign)
            };
            let total: f64 = own().map(|((_, w), _)| w).sum();
            let mut sum = vec![0.0; self.means[0].len()];
            own().for_each(|((_, w), &b)| {
                sum.iter_mut().zip(&self.means[b]).for_each(|(s, x)| *s += w / total * x);
            });
            sum
        };
        let (plus, minus) = (class_mean(1.0), class_mean(-1.0));
        let solve = |&point: &usize| {
            let shrunk = |d: f64| (d.abs() - self.shrink[point]).max(0.0).copysign(d);
            let direction: Vec<f64> = plus.iter().zip(&minus).map(|(p, q)| 2.0 * shrunk(p - q)).collect();
            // The output is 0 in the middle of the two means.
            let bias = -direction
                .iter()
                .zip(plus.iter().zip(&minus))
                .map(|(d, (p, q))| d * 0.5 * (p + q))
                .sum::<f64>();
            SolvedFit {
                point,
                outcome: None,
                rounds: None,
                solution: Box::new(Direction { direction, bias }),
            }
        };
        Ok(points.iter().map(solve).collect())
    }

    fn scores(&self, fit: &SolvedFit, bags: &[usize], _: &Ctx) -> Result<Vec<f64>> {
        let Direction { direction, bias } = fit.of::<Direction>();
        Ok(bags.iter().map(|&b| bias + dot(&self.means[b], direction)).collect())
    }

    fn model(&self, fits: &[&SolvedFit], _: &[usize], _: &Ctx) -> Result<Box<dyn Predictor>> {
        let rows: Vec<Vec<f64>> = fits.iter().map(|f| f.of::<Direction>().direction.clone()).collect();
        let biases = fits.iter().map(|f| f.of::<Direction>().bias).collect();
        Ok(Box::new(Directions { directions: Mat::from_rows(&rows), biases }))
    }
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(x, y)| x * y).sum()
}

/// One direction and bias per output.
struct Directions {
    directions: Mat,
    biases: Vec<f64>,
}

impl Predictor for Directions {
    fn outputs(&self) -> usize {
        self.biases.len()
    }

    fn width(&self) -> Option<usize> {
        Some(self.directions.cols())
    }

    fn predict(&self, bags: &Bags, _: &Ctx) -> Result<Outputs> {
        let mut scores = Mat::zeros(bags.len(), self.outputs());
        for b in 0..bags.len() {
            let mean = mean(bags, b)?;
            for (k, bias) in self.biases.iter().enumerate() {
                scores.set(b, k, bias + dot(&mean, self.directions.row(k)));
            }
        }
        Ok(Outputs { scores, nearest: vec![None; bags.len()] })
    }

    fn explain(&self, bags: &Bags, _: &Ctx) -> Result<Vec<Vec<Explanation>>> {
        let mut all = Vec::new();
        for b in 0..bags.len() {
            let rows = bags.rows(b);
            let mut parts = vec![Vec::with_capacity(rows.len()); self.outputs()];
            let share = 1.0 / rows.len() as f64;
            bags.instances().each_row(rows, |_, row| {
                parts
                    .iter_mut()
                    .enumerate()
                    .for_each(|(k, p)| p.push(share * dot(row, self.directions.row(k))));
            })?;
            let one = |(parts, &bias)| Explanation::Additive { bias, parts };
            all.push(parts.into_iter().zip(&self.biases).map(one).collect());
        }
        Ok(all)
    }

    fn save(&self) -> Result<State> {
        let mut state = State::default();
        state.put_mat("directions", &self.directions);
        state.put("biases", &self.biases);
        Ok(state)
    }
}
