//! MIWrapper: logistic regression on all instances, each with the label of its bag and an equal share of its weight.
//!
//! A bag of m instances and weight t gives each of them the weight `t / m`, so that large bags count no more than small
//! ones. A ridge logistic regression learns from all instances (`families/logistic.rs`), and the probabilities
//! `q = 1 / (1 + exp(-f(x)))` of a bag's instances are combined: their mean (minus 1/2), the mean of their log odds, or
//! their largest.
//!
//! Linear in the instances: N d^2 / 2 multiply-adds once, and some 70 N d for each cost. Frank, Xu: Applying propositional learning algorithms to
//! multi-instance data, University of Waikato 2003. Weka's MIWrapper with Logistic -R rho is `c = N / (2 rho n)` after its
//! weighted standardisation, with N instances in n bags; its default learner is ZeroR, which looks at no attribute.

use std::sync::Arc;

use bagwise_svm::Features;

use crate::families::logistic::{Logistic, LogisticProblem};
use crate::families::svm;
use crate::method::{
    Explains, Explanation, Info, MemoryEstimate, Method, Outputs, Predictor, Prepared, Scope, SolvedFit,
    State, Training,
};
use crate::multiclass::Scheme;
use crate::params::{Kind, ParamSpec, Point};
use crate::state::refuse;
use bagwise_core::{Bags, Ctx, Instances, Mat, Result};
use bagwise_engine::dot;
use bagwise_svm::{SolveOutcome, StopReason};

/// The method, for the registry.
pub(crate) static METHOD: MiWrapper = MiWrapper;

pub(crate) struct MiWrapper;

static INFO: Info = Info {
    name: "mi-wrapper",
    aliases: &["miwrapper"],
    title: "logistic regression on instances, probabilities averaged over a bag",
    about: "Every instance gets the label of its bag and an equal share of its weight. A ridge logistic regression is \
            trained on all instances, and the probabilities of a bag's instances are combined: by default the output \
            is their mean minus 1/2.",
    reference: "Frank, Xu: Applying propositional learning algorithms to multi-instance data, University of Waikato \
                2003",
    family: "logistic regression",
    regression: false,
    complexity: 13,
    explains: Explains::AdditiveOrWitness(&[("combine", "max")]),
    scheme: Scheme::OneVsRest,
    params: PARAMS,
    ..Info::USUAL
};

static PARAMS: &[ParamSpec] = &[
    ParamSpec { default: "1", grid: "0.01,0.1,1,10", ..svm::COST },
    ParamSpec::new(
        "combine",
        Kind::Word(&["mean", "geometric", "max"]),
        "mean",
        "How the probabilities of instances become that of their bag: their mean, the mean of their log odds, or the \
         largest.",
    )
    .solver(),
];

/// How instances make a bag.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Combine {
    Mean,
    Geometric,
    Max,
}

#[derive(Clone, Copy)]
struct WrapperParams {
    cost: f64,
    combine: Combine,
}

impl WrapperParams {
    fn read(point: &Point) -> Result<WrapperParams> {
        let words = [("mean", Combine::Mean), ("geometric", Combine::Geometric), ("max", Combine::Max)];
        Ok(WrapperParams { cost: point.number("c")?, combine: point.choice("combine", &words)? })
    }
}

/// Probabilities of instances are kept this far from 0 and 1 where their logarithms are taken.
const LEAST_ODDS: f64 = 0.001;

impl Combine {
    /// What an instance of output f says of its bag.
    fn says(self, f: f64) -> f64 {
        match self {
            // The probability minus 1/2.
            Combine::Mean | Combine::Max => 0.5 * (0.5 * f).tanh(),
            Combine::Geometric => {
                let most = ((1.0 - LEAST_ODDS) / LEAST_ODDS).ln();
                f.clamp(-most, most)
            }
        }
    }

    fn of_bag(self, said: &[f64]) -> f64 {
        match self {
            Combine::Max => said.iter().copied().fold(f64::NEG_INFINITY, f64::max),
            Combine::Mean | Combine::Geometric => said.iter().sum::<f64>() / said.len() as f64,
        }
    }
}

impl Method for MiWrapper {
    fn info(&self) -> &'static Info {
        &INFO
    }

    fn work(&self, bags: &Bags, _: usize) -> f64 {
        // A matrix of columns, and forty visits of all rows for each of four costs, on an outer fold and its five inner ones.
        let (n, d) = (bags.instance_count() as f64, bags.width() as f64);
        6.0 * n * d * (d.min(2000.0) + 4.0 * 160.0)
    }

    fn needs(&self, bags: &Bags) -> MemoryEstimate {
        let (rows, width) = (bags.instance_count() as u64, bags.width() as u64);
        // The instances, those trained on, and a matrix of columns with its factor.
        MemoryEstimate { fixed: 3 * 8 * rows * width + 3 * 8 * width.min(2000).pow(2), each: 0 }
    }

    fn prepare(
        &self,
        bags: Arc<Bags>,
        points: &[Point],
        _: &Scope<'_>,
        ctx: &Ctx,
    ) -> Result<Box<dyn Prepared>> {
        let points = points.iter().map(WrapperParams::read).collect::<Result<_>>()?;
        Ok(Box::new(WrapperPrepared { bags: bags.in_memory(ctx)?, points }))
    }

    fn load(&self, point: &Point, state: &State) -> Result<Box<dyn Predictor>> {
        let weights = state.mat("weights")?;
        let biases = state.vector("biases", weights.rows())?;
        if weights.rows() == 0 || weights.cols() == 0 {
            return Err(refuse("it has no weights"));
        }
        let combine = vec![WrapperParams::read(point)?.combine; weights.rows()];
        Ok(Box::new(WrapperModel { weights, biases, combine }))
    }
}

struct WrapperPrepared {
    bags: Arc<Bags>,
    points: Vec<WrapperParams>,
}

impl WrapperPrepared {
    /// The solution for each of the costs.
    fn solve(
        &self,
        costs: &[f64],
        rows: &Instances,
        training: &Training<'_>,
        ctx: &Ctx,
    ) -> Result<Vec<Logistic>> {
        let first = training.y[0];
        if training.y.iter().all(|y| *y == first) {
            // A free bias would grow without end: probabilities of 1 or 0, to the last digit.
            let outcome = SolveOutcome {
                status: StopReason::Converged,
                iterations: 0,
                objective: 0.0,
                kkt_gap: 0.0,
                duality_gap: 0.0,
            };
            let one = Logistic { weights: vec![0.0; rows.cols()], bias: 40.0 * first, outcome };
            return Ok(vec![one; costs.len()]);
        }
        let (mut y, mut shares) = (Vec::with_capacity(rows.rows()), Vec::with_capacity(rows.rows()));
        for ((&bag, label), weight) in training.bags.iter().zip(training.y).zip(training.weights) {
            let size = self.bags.rows(bag).len();
            y.extend(std::iter::repeat_n(*label, size));
            shares.extend(std::iter::repeat_n(weight / size as f64, size));
        }
        let features = match rows {
            Instances::F64(m) => Features::Dense { values: m.data(), columns: m.cols() },
            Instances::Sparse(m) => Features::Sparse {
                starts: m.indptr(),
                indices: m.indices(),
                values: m.values(),
                columns: m.cols(),
            },
            _ => unreachable!("rows in double precision"),
        };
        LogisticProblem { rows, features, y: &y, shares: &shares }.solve(costs, 1e-11, ctx)
    }

    /// The instances of the training bags in double precision.
    fn rows(&self, training: &Training<'_>) -> Result<Instances> {
        let at: Vec<usize> = training.bags.iter().flat_map(|&b| self.bags.rows(b)).collect();
        let own = self.bags.instances().gather(&at);
        Ok(match own {
            Instances::F32(m) => {
                let data = m.data().iter().map(|&v| f64::from(v)).collect();
                Instances::F64(Mat::new(m.rows(), m.cols(), data))
            }
            other => other,
        })
    }
}

/// A solution and how it is used.
#[derive(Clone)]
struct WrapperFit {
    logistic: Logistic,
    combine: Combine,
}

impl Prepared for WrapperPrepared {
    fn fit(&self, points: &[usize], training: &Training<'_>, ctx: &Ctx) -> Result<Vec<SolvedFit>> {
        svm::check_costs(points.iter().map(|&p| self.points[p].cost), training)?;
        let rows = self.rows(training)?;
        let mut costs: Vec<f64> = points.iter().map(|&p| self.points[p].cost).collect();
        costs.sort_by(f64::total_cmp);
        costs.dedup();
        let solved = self.solve(&costs, &rows, training, ctx)?;
        let mut fits = Vec::with_capacity(points.len());
        for &point in points {
            let WrapperParams { cost, combine } = self.points[point];
            let at = costs.iter().position(|known| *known == cost).expect("one of the costs");
            let logistic = solved[at].clone();
            let outcome = Some(logistic.outcome);
            let solution = Box::new(WrapperFit { logistic, combine });
            fits.push(SolvedFit { point, outcome, rounds: None, solution });
        }
        Ok(fits)
    }

    fn fit_bytes(&self) -> u64 {
        // Each copies the instances it is trained on.
        8 * (self.bags.instance_count() * self.bags.width()) as u64
    }

    fn joins_points(&self) -> bool {
        true
    }

    fn scores(&self, fit: &SolvedFit, bags: &[usize], ctx: &Ctx) -> Result<Vec<f64>> {
        let model = WrapperModel::of(&[fit]);
        let score = |&b: &usize| {
            ctx.check()?;
            Ok(model.combine[0].of_bag(&model.said(&self.bags, b)?[0]))
        };
        bags.iter().map(score).collect()
    }

    fn model(&self, fits: &[&SolvedFit], _: &[usize], _: &Ctx) -> Result<Box<dyn Predictor>> {
        Ok(Box::new(WrapperModel::of(fits)))
    }
}

/// Weights of columns and a bias for each output.
struct WrapperModel {
    weights: Mat,
    biases: Vec<f64>,
    combine: Vec<Combine>,
}

impl WrapperModel {
    fn of(fits: &[&SolvedFit]) -> WrapperModel {
        let fits: Vec<&WrapperFit> = fits.iter().map(|fit| fit.of()).collect();
        let weights: Vec<&[f64]> = fits.iter().map(|f| &f.logistic.weights[..]).collect();
        WrapperModel {
            weights: Mat::from_rows(&weights),
            biases: fits.iter().map(|f| f.logistic.bias).collect(),
            combine: fits.iter().map(|f| f.combine).collect(),
        }
    }

    /// What each instance of a bag says, output by output.
    fn said(&self, bags: &Bags, bag: usize) -> Result<Vec<Vec<f64>>> {
        let rows = bags.rows(bag);
        let mut all = vec![Vec::with_capacity(rows.len()); self.biases.len()];
        bags.instances().each_row(rows, |_, row| {
            for (k, said) in all.iter_mut().enumerate() {
                said.push(self.combine[k].says(dot(row, self.weights.row(k)) + self.biases[k]));
            }
        })?;
        Ok(all)
    }
}

impl Predictor for WrapperModel {
    fn outputs(&self) -> usize {
        self.biases.len()
    }

    fn width(&self) -> Option<usize> {
        Some(self.weights.cols())
    }

    fn predict(&self, bags: &Bags, ctx: &Ctx) -> Result<Outputs> {
        let mut scores = Mat::zeros(bags.len(), self.biases.len());
        for b in 0..bags.len() {
            ctx.check()?;
            for (k, said) in self.said(bags, b)?.iter().enumerate() {
                scores.set(b, k, self.combine[k].of_bag(said));
            }
        }
        Ok(Outputs { scores, nearest: vec![None; bags.len()] })
    }

    fn explain(&self, bags: &Bags, ctx: &Ctx) -> Result<Vec<Vec<Explanation>>> {
        let one = |(k, said): (usize, Vec<f64>)| match self.combine[k] {
            Combine::Max => {
                let most = self.combine[k].of_bag(&said);
                let chosen = said.iter().position(|s| *s == most).unwrap_or(0);
                Explanation::Witness { outputs: said, chosen }
            }
            Combine::Mean | Combine::Geometric => {
                let share = 1.0 / said.len() as f64;
                Explanation::Additive { bias: 0.0, parts: said.iter().map(|s| share * s).collect() }
            }
        };
        let of_bag = |b: usize| {
            ctx.check()?;
            Ok(self.said(bags, b)?.into_iter().enumerate().map(one).collect())
        };
        (0..bags.len()).map(of_bag).collect()
    }

    fn save(&self) -> Result<State> {
        let mut state = State::default();
        state.put_mat("weights", &self.weights);
        state.put("biases", &self.biases);
        Ok(state)
    }
}
