//! Stacking: several methods, and a linear SVM that learns how to weight them.
//!
//! The training bags are divided into `folds` (classes in proportion, groups whole). Every member predicts the bags of
//! a fold after training on the others; on these outputs `g_m`, brought to mean 0 and variance 1, a linear support
//! vector machine is trained: `f = b + sum over members of u_m g_m`. The members are then trained on all training bags.
//! The SVM therefore never sees an output for a bag that the member was trained on, and only training bags are used.
//!
//! Members have their default parameters. All see the same scaling: that of the first member that needs one (rules and trees do not),
//! unless another is asked for.
//!
//! Wolpert: Stacked generalization, Neural Networks 5, 1992. Its levels have probabilities of classes; ours have decision values.

use std::sync::Arc;

use super::members::{self, CombinedModel, FittedMember, PreparedMembers};
use crate::families::svm::{self, SvmParams, TUBE};
use crate::method::{
    Explains, Info, MemoryEstimate, Method, Predictor, Prepared, Scope, SolvedFit, State, Training,
};
use crate::multiclass::Scheme;
use crate::params::{Grid, Kind, ParamSpec, Point};
use crate::preprocess::Scale;
use bagwise_core::{Bags, Ctx, Error, Groups, Mat, Result, Rng, Target};
use bagwise_judge::{Pool, Splits};
use bagwise_svm::Features;

/// The method, for the registry.
pub(crate) static METHOD: Stacking = Stacking;

pub(crate) struct Stacking;

static INFO: Info = Info {
    name: "stacking",
    title: "a linear SVM on the outputs of several methods",
    about: "A linear SVM is trained on the outputs of several methods, its members. The outputs for training bags come from \
            members that were trained on other folds. Members use their default parameters and the scaling of the first member \
            that needs one.",
    reference: "Wolpert: Stacked generalization, Neural Networks 5, 1992",
    family: "ensemble of methods",
    complexity: 75,
    explains: Explains::ByMembers("additive, if all members can explain their predictions"),
    scheme: Scheme::OneVsRest,
    over_methods: true,
    params: PARAMS,
    ..Info::USUAL
};

static PARAMS: &[ParamSpec] = &[
    ParamSpec::new(
        "members",
        Kind::Names { several: true },
        "simple-mi,mi-kernel",
        "The methods, separated by commas, each at its default parameters.",
    ),
    ParamSpec::new(
        "folds",
        Kind::Whole { least: 2, most: 100, words: &[] },
        "5",
        "Number of folds of the training bags; members predict each fold after training on the others.",
    ),
    ParamSpec::new(
        "c",
        Kind::Number { above: 0.0 },
        "1",
        "Cost of an error of the SVM; a smaller value weights the members more equally.",
    )
    .grid("0.1,1,10")
    .solver(),
    TUBE,
];

fn named(point: &Point) -> Result<Vec<&'static dyn Method>> {
    members::named(INFO.name, "members", point)
}

impl Method for Stacking {
    fn info(&self) -> &'static Info {
        &INFO
    }

    fn scale(&self, points: &[Point]) -> Scale {
        let members = points.first().and_then(|p| named(p).ok()).unwrap_or_default();
        let mut scales = members.into_iter().map(members::scale_of);
        scales.find(|scale| *scale != Scale::None).unwrap_or(Scale::None)
    }

    fn refuses(&self, points: &[Point], scale: Scale) -> Option<Error> {
        points.iter().find_map(|p| match named(p) {
            Ok(found) => found.into_iter().find_map(|m| members::refuses(m, scale)),
            Err(why) => Some(why),
        })
    }

    fn work(&self, _: &Bags, _: usize) -> f64 {
        0.0
    }

    fn work_for(&self, bags: &Bags, grid: &Grid) -> f64 {
        let named = grid.groups.iter().filter_map(|g| named(&grid.points[g[0]]).ok());
        named.flatten().map(|member| members::work_of(member, bags)).sum()
    }

    /// Members are fitted in every fold and once more on all bags, and serve all points of a group.
    fn machine_work(&self, bags: &Bags, grid: &Grid, share: f64) -> f64 {
        let of = |group: &Vec<usize>| -> Result<f64> {
            let point = &grid.points[group[0]];
            let folds = point.whole("folds")?.unwrap_or(1) as f64;
            let fits = |m: &&dyn Method| {
                folds * members::fit_work_of(*m, bags, share * (1.0 - 1.0 / folds))
                    + members::fit_work_of(*m, bags, share)
            };
            Ok(named(point)?.iter().map(fits).sum())
        };
        grid.groups.iter().filter_map(|g| of(g).ok()).sum()
    }

    fn answer_work(&self, bags: &Bags, known: f64, new: f64) -> f64 {
        let members = PARAMS[0].default.split(',').filter_map(|name| super::find(name).ok());
        members.map(|member| member.answer_work(bags, known, new)).sum()
    }

    fn needs(&self, bags: &Bags) -> MemoryEstimate {
        let usual: Vec<&dyn Method> = (PARAMS[0].default.split(','))
            .map(|name| super::find(name).expect("the defaults are registered"))
            .collect();
        members::needs_of(&usual, bags)
    }

    fn prepare(
        &self,
        bags: Arc<Bags>,
        points: &[Point],
        scope: &Scope<'_>,
        ctx: &Ctx,
    ) -> Result<Box<dyn Prepared>> {
        let mut prepared = PreparedMembers::default();
        let own = |point: &Point| {
            let place = |method| prepared.place(method, &bags, scope, ctx);
            let members = named(point)?.into_iter().map(place).collect::<Result<_>>()?;
            let folds = point.whole("folds")?.unwrap_or(2);
            Ok(StackPoint { members, folds, machine: SvmParams::read(point)? })
        };
        let points = points.iter().map(own).collect::<Result<_>>()?;
        Ok(Box::new(StackingPrepared { members: prepared, points, groups: scope.groups.cloned() }))
    }

    fn load(&self, point: &Point, state: &State) -> Result<Box<dyn Predictor>> {
        let members = named(point)?;
        Ok(Box::new(CombinedModel::load(state, |m| members.get(m).copied())?))
    }
}

struct StackPoint {
    /// Which of the prepared members.
    members: Vec<usize>,
    folds: usize,
    machine: SvmParams,
}

struct StackingPrepared {
    members: PreparedMembers,
    points: Vec<StackPoint>,
    groups: Option<Groups>,
}

struct StackingSolution {
    /// Trained on all bags; shared by points that differ in the machine on top.
    members: Arc<Vec<FittedMember>>,
    weights: Vec<f64>,
    bias: f64,
    regression: bool,
}

impl StackingPrepared {
    /// Folds of the training bags, as positions among them.
    fn folds(&self, wanted: usize, training: &Training<'_>, ctx: &Ctx) -> Result<Vec<bagwise_judge::Fold>> {
        let n = training.bags.len();
        let target = match training.regression {
            true => Target::Values(training.y.to_vec()),
            false => Target::Classes {
                codes: training.y.iter().map(|y| u32::from(*y > 0.0)).collect(),
                names: vec!["-1".into(), "1".into()],
            },
        };
        let groups = self.groups.as_ref().map(|groups| Groups {
            codes: training.bags.iter().map(|&b| groups.codes[b]).collect(),
            names: groups.names.clone(),
        });
        let mut units: Vec<u32> = groups.as_ref().map_or((0..n as u32).collect(), |g| g.codes.clone());
        units.sort_unstable();
        units.dedup();
        let pool = Pool { target: &target, groups: groups.as_ref(), given: None };
        let all: Vec<usize> = (0..n).collect();
        Splits::KFold(wanted.min(units.len())).divide(pool, &all, &mut Rng::new(ctx.seed, "stacking", &[]))
    }

    /// Outputs of members for bags that they were not trained on, bags x members.
    fn out_of_fold(&self, point: &StackPoint, training: &Training<'_>, ctx: &Ctx) -> Result<Mat> {
        let mut outputs = Mat::zeros(training.bags.len(), point.members.len());
        for fold in self.folds(point.folds, training, ctx)? {
            let of = |values: &[f64]| fold.train.iter().map(|&i| values[i]).collect::<Vec<f64>>();
            let bags = |list: &[usize]| list.iter().map(|&i| training.bags[i]).collect::<Vec<usize>>();
            let (train, test) = (bags(&fold.train), bags(&fold.test));
            let own =
                Training { bags: &train, y: &of(training.y), weights: &of(training.weights), ..*training };
            for (m, &member) in point.members.iter().enumerate() {
                ctx.check()?;
                let scores = self.members.fit(member, &own, ctx)?.scores(&test, ctx)?;
                fold.test.iter().zip(scores).for_each(|(&i, score)| outputs.set(i, m, score));
            }
        }
        Ok(outputs)
    }
}

/// Brings each column to mean 0 and variance 1; with the means and deviations.
fn standardised(mut values: Mat) -> (Mat, Vec<(f64, f64)>) {
    let rows = values.rows();
    let column = |values: &Mat, m: usize| {
        let mean = (0..rows).map(|i| values.get(i, m)).sum::<f64>() / rows as f64;
        let variance = (0..rows).map(|i| (values.get(i, m) - mean).powi(2)).sum::<f64>() / rows as f64;
        (mean, if variance > 0.0 { variance.sqrt() } else { 1.0 })
    };
    let scaling: Vec<(f64, f64)> = (0..values.cols()).map(|m| column(&values, m)).collect();
    for i in 0..rows {
        values.row_mut(i).iter_mut().zip(&scaling).for_each(|(v, (mean, spread))| *v = (*v - mean) / spread);
    }
    (values, scaling)
}

impl Prepared for StackingPrepared {
    fn fit(&self, points: &[usize], training: &Training<'_>, ctx: &Ctx) -> Result<Vec<SolvedFit>> {
        // Points that share their representation have the same members and folds.
        let first = &self.points[points[0]];
        let (values, scaling) = standardised(self.out_of_fold(first, training, ctx)?);
        let fitted = first.members.iter().map(|&m| self.members.fit(m, training, ctx));
        let fitted = Arc::new(fitted.collect::<Result<Vec<_>>>()?);
        let machines: Vec<SvmParams> = points.iter().map(|&p| self.points[p].machine).collect();
        let features = Features::Dense { values: values.data(), columns: values.cols() };
        let solved = svm::solve_linear(&features, &machines, training, ctx)?;
        let one = |(&point, machine): (&usize, bagwise_svm::LinearMachine)| {
            let weights: Vec<f64> = machine.weights.iter().zip(&scaling).map(|(u, (_, s))| u / s).collect();
            let shift: f64 = weights.iter().zip(&scaling).map(|(u, (mean, _))| u * mean).sum();
            let solution = StackingSolution {
                members: Arc::clone(&fitted),
                weights,
                bias: machine.bias - shift,
                regression: training.regression,
            };
            let outcome = members::outcome(fitted.iter()).filter(|o| !crate::method::converged(o));
            let outcome = Some(outcome.unwrap_or(machine.outcome));
            SolvedFit { point, outcome, rounds: None, solution: Box::new(solution) }
        };
        Ok(points.iter().zip(solved).map(one).collect())
    }

    fn scores(&self, fit: &SolvedFit, bags: &[usize], ctx: &Ctx) -> Result<Vec<f64>> {
        let StackingSolution { members, weights, bias, .. } = fit.of();
        let mut sum = vec![*bias; bags.len()];
        for (member, weight) in members.iter().zip(weights) {
            let scores = member.scores(bags, ctx)?;
            sum.iter_mut().zip(scores).for_each(|(f, g)| *f += weight * g);
        }
        Ok(sum)
    }

    fn fit_bytes(&self) -> u64 {
        self.members.fit_bytes()
    }

    fn model(&self, fits: &[&SolvedFit], _: &[usize], ctx: &Ctx) -> Result<Box<dyn Predictor>> {
        let solutions: Vec<&StackingSolution> = fits.iter().map(|fit| fit.of()).collect();
        let members: Vec<Vec<&FittedMember>> = solutions.iter().map(|s| s.members.iter().collect()).collect();
        let weights: Vec<&[f64]> = solutions.iter().map(|s| s.weights.as_slice()).collect();
        let biases = solutions.iter().map(|s| s.bias).collect();
        let regression = solutions[0].regression;
        let model =
            CombinedModel::new(&members, Mat::from_rows(&weights), biases, Vec::new(), regression, ctx)?;
        Ok(Box::new(model))
    }
}
