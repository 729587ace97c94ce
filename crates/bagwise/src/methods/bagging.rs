//! Bagging: the mean of one method's outputs over bags that were drawn with replacement.
//!
//! For each of `draws` members, as many bags are drawn with replacement as there are training bags; a bag that is drawn
//! k times counts k times. If bags have groups, whole groups are drawn. The output is the mean of the members' outputs,
//! and the parts of instances are means as well. In a member where one instance decides, that instance gets the whole
//! output.
//!
//! A training bag is left out of about a third of the draws. The mean of those members is its out-of-bag output, and
//! `fit` reports the accuracy of these outputs (for regression, the mean squared error). It is based on about a third
//! of the members. A bag is never left out while its group is drawn.
//!
//! The member has its default parameters. Several names are tried one by one where parameters are tuned.
//!
//! Breiman: Bagging predictors, Machine Learning 24, 1996.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::members::{self, CombinedModel, FittedMember, PreparedMembers};
use crate::method::{
    Explains, Info, MemoryEstimate, Method, Predictor, Prepared, Scope, SolvedFit, State, Training,
};
use crate::multiclass::Scheme;
use crate::params::{Grid, Kind, ParamSpec, Point};
use crate::preprocess::Scale;
use bagwise_core::{Bags, Ctx, Error, Groups, Mat, Result, Rng};

/// The method, for the registry.
pub(crate) static METHOD: Bagging = Bagging;

pub(crate) struct Bagging;

static INFO: Info = Info {
    name: "bagging",
    title: "the mean of a method over bootstrap samples of the bags",
    about: "Trains a method several times, each time on a bootstrap sample of the bags (of whole groups, if there are groups), and \
            averages the outputs. The bags left out of each sample give an out-of-bag estimate, which fit reports. The \
            member uses its default parameters and its own scaling.",
    reference: "Breiman: Bagging predictors, Machine Learning 24, 1996",
    family: "ensemble of methods",
    complexity: 70,
    explains: Explains::ByMembers("additive, if the member can explain its predictions"),
    scheme: Scheme::OneVsRest,
    over_methods: true,
    params: PARAMS,
    ..Info::USUAL
};

static PARAMS: &[ParamSpec] = &[
    ParamSpec::new(
        "member",
        Kind::Names { several: false },
        "simple-mi",
        "The method whose outputs are averaged, at its default parameters.",
    ),
    ParamSpec::new(
        "draws",
        Kind::Whole { least: 1, most: 1000, words: &[] },
        "10",
        "Number of bootstrap samples; a model is trained on each.",
    )
    .solver(),
];

fn member(point: &Point) -> Result<&'static dyn Method> {
    Ok(members::named(INFO.name, "member", point)?[0])
}

fn draws(point: &Point) -> Result<usize> {
    Ok(point.whole("draws")?.unwrap_or(1))
}

impl Method for Bagging {
    fn info(&self) -> &'static Info {
        &INFO
    }

    fn scale(&self, points: &[Point]) -> Scale {
        points.first().and_then(|p| member(p).ok()).map_or(INFO.scale, members::scale_of)
    }

    fn refuses(&self, points: &[Point], scale: Scale) -> Option<Error> {
        points.iter().find_map(|p| match member(p) {
            Ok(member) => members::refuses(member, scale),
            Err(why) => Some(why),
        })
    }

    fn work(&self, _: &Bags, _: usize) -> f64 {
        0.0
    }

    fn work_for(&self, bags: &Bags, grid: &Grid) -> f64 {
        grid.points.iter().filter_map(|p| member(p).ok()).map(|m| members::work_of(m, bags)).sum()
    }

    fn machine_work(&self, bags: &Bags, grid: &Grid, share: f64) -> f64 {
        let of = |p: &Point| Some(draws(p).ok()? as f64 * members::fit_work_of(member(p).ok()?, bags, share));
        grid.points.iter().filter_map(of).sum()
    }

    fn answer_work(&self, bags: &Bags, known: f64, new: f64) -> f64 {
        let member = super::find(PARAMS[0].default).expect("the default is registered");
        member.answer_work(bags, known, new)
    }

    fn needs(&self, bags: &Bags) -> MemoryEstimate {
        let usual = super::find(PARAMS[0].default).expect("the default is registered");
        members::needs_of(&[usual], bags)
    }

    fn prepare(
        &self,
        bags: Arc<Bags>,
        points: &[Point],
        scope: &Scope<'_>,
        ctx: &Ctx,
    ) -> Result<Box<dyn Prepared>> {
        let mut members = PreparedMembers::default();
        let own = |point| Ok((members.place(member(point)?, &bags, scope, ctx)?, draws(point)?));
        let points = points.iter().map(own).collect::<Result<_>>()?;
        Ok(Box::new(BaggingPrepared { members, points, groups: scope.groups.cloned() }))
    }

    fn load(&self, point: &Point, state: &State) -> Result<Box<dyn Predictor>> {
        let (member, draws) = (member(point)?, draws(point)?);
        Ok(Box::new(CombinedModel::load(state, |m| (m < draws).then_some(member))?))
    }
}

struct BaggingPrepared {
    members: PreparedMembers,
    /// Which member, and how many draws.
    points: Vec<(usize, usize)>,
    groups: Option<Groups>,
}

struct BaggingSolution {
    members: Vec<FittedMember>,
    out_of_bag: f64,
    regression: bool,
}

impl BaggingPrepared {
    /// How often each training bag is drawn. Drawn again while a class is missing: a member must see both.
    fn counts(&self, training: &Training<'_>, draw: usize, ctx: &Ctx) -> Vec<usize> {
        let n = training.bags.len();
        // The units that are drawn, as positions among the training bags.
        let units: Vec<Vec<usize>> = match &self.groups {
            None => (0..n).map(|i| vec![i]).collect(),
            Some(groups) => {
                // In the order in which groups appear.
                let mut units: Vec<Vec<usize>> = Vec::new();
                let mut unit_of: BTreeMap<u32, usize> = BTreeMap::new();
                for (i, &bag) in training.bags.iter().enumerate() {
                    let unit = *unit_of.entry(groups.codes[bag]).or_insert(units.len());
                    if unit == units.len() {
                        units.push(Vec::new());
                    }
                    units[unit].push(i);
                }
                units
            }
        };
        let classes = |counts: &[usize]| {
            let has = |sign: f64| counts.iter().zip(training.y).any(|(&c, &y)| c > 0 && y == sign);
            (has(1.0), has(-1.0))
        };
        let wanted = classes(&vec![1; n]);
        // A class that is missing from a hundred draws is too rare to wait for.
        const TRIES: u64 = 100;
        let mut counts = Vec::new();
        for attempt in 0..TRIES {
            let mut rng = Rng::new(ctx.seed, "bagging", &[draw as u64, attempt]);
            counts = vec![0; n];
            for _ in 0..units.len() {
                units[rng.below(units.len())].iter().for_each(|&i| counts[i] += 1);
            }
            if training.regression || classes(&counts) == wanted {
                break;
            }
        }
        counts
    }

    fn solve(&self, point: usize, training: &Training<'_>, ctx: &Ctx) -> Result<BaggingSolution> {
        let (member, draws) = self.points[point];
        let n = training.bags.len();
        let (mut sums, mut times) = (vec![0.0; n], vec![0usize; n]);
        let mut fitted = Vec::with_capacity(draws);
        for draw in 0..draws {
            ctx.check()?;
            let counts = self.counts(training, draw, ctx);
            let (drawn, left): (Vec<usize>, Vec<usize>) = (0..n).partition(|&i| counts[i] > 0);
            let of = |values: &[f64]| drawn.iter().map(|&i| values[i]).collect::<Vec<f64>>();
            let bags: Vec<usize> = drawn.iter().map(|&i| training.bags[i]).collect();
            let weights: Vec<f64> = drawn.iter().map(|&i| training.weights[i] * counts[i] as f64).collect();
            let own = Training { bags: &bags, y: &of(training.y), weights: &weights, ..*training };
            let fit = self.members.fit(member, &own, ctx)?;
            let out: Vec<usize> = left.iter().map(|&i| training.bags[i]).collect();
            for (i, score) in left.into_iter().zip(fit.scores(&out, ctx)?) {
                sums[i] += score;
                times[i] += 1;
            }
            fitted.push(fit);
        }
        let (mut total, mut weight) = (0.0, 0.0);
        for i in (0..n).filter(|&i| times[i] > 0) {
            let (output, y) = (sums[i] / times[i] as f64, training.y[i]);
            let value = match training.regression {
                true => (output - y) * (output - y),
                false => f64::from(u8::from((output > 0.0) == (y > 0.0))),
            };
            total += training.weights[i] * value;
            weight += training.weights[i];
        }
        let out_of_bag = if weight > 0.0 { total / weight } else { -1.0 };
        Ok(BaggingSolution { members: fitted, out_of_bag, regression: training.regression })
    }
}

impl Prepared for BaggingPrepared {
    fn fit(&self, points: &[usize], training: &Training<'_>, ctx: &Ctx) -> Result<Vec<SolvedFit>> {
        let one = |&point: &usize| {
            let solution = self.solve(point, training, ctx)?;
            let outcome = members::outcome(solution.members.iter());
            Ok(SolvedFit { point, outcome, rounds: None, solution: Box::new(solution) })
        };
        points.iter().map(one).collect()
    }

    fn scores(&self, fit: &SolvedFit, bags: &[usize], ctx: &Ctx) -> Result<Vec<f64>> {
        let members = &fit.of::<BaggingSolution>().members;
        let mut mean = vec![0.0; bags.len()];
        for member in members {
            let scores = member.scores(bags, ctx)?;
            mean.iter_mut().zip(scores).for_each(|(m, s)| *m += s / members.len() as f64);
        }
        Ok(mean)
    }

    fn fit_bytes(&self) -> u64 {
        self.members.fit_bytes()
    }

    fn model(&self, fits: &[&SolvedFit], _: &[usize], ctx: &Ctx) -> Result<Box<dyn Predictor>> {
        let solutions: Vec<&BaggingSolution> = fits.iter().map(|fit| fit.of()).collect();
        let members: Vec<Vec<&FittedMember>> = solutions.iter().map(|s| s.members.iter().collect()).collect();
        let draws = members[0].len();
        let weights = Mat::new(fits.len(), draws, vec![1.0 / draws as f64; fits.len() * draws]);
        // A bag that no draw left out says nothing.
        let out_of_bag: Vec<f64> = solutions.iter().map(|s| s.out_of_bag).collect();
        let out_of_bag = if out_of_bag.iter().all(|v| *v >= 0.0) { out_of_bag } else { Vec::new() };
        let biases = vec![0.0; fits.len()];
        let regression = solutions[0].regression;
        Ok(Box::new(CombinedModel::new(&members, weights, biases, out_of_bag, regression, ctx)?))
    }
}
