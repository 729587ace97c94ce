//! MIBoost: boosted decision stumps whose votes are averaged over a bag.
//!
//! A stump looks at one attribute of an instance and says +1 or -1 on either side of a cut. In every round the stump is
//! chosen that fits the instances best, each with the label of its bag and the weight `W / m` of a bag of m. With `e`
//! the share of a bag's instances that it gets wrong, its factor is `c = argmin sum W exp((2e - 1) c)`, and bags it gets
//! wrong gain weight: `W <- W exp((2e - 1) c)`. The output is `f(B) = sum over rounds of c times the mean of h(x)`. The
//! search ends where a stump is no help: all e at most 1/2, all at least 1/2, or c not above 0.
//!
//! A model is a list of rules. Columns are sorted once, n d log n, and a round is one scan over them, n d; a shorter list
//! is the beginning of a longer one, so that a grid of rounds costs its longest. Memory 16 n d bytes.
//!
//! Xu, Frank: Logistic regression and boosting for labeled bags of instances, PAKDD 2004. With `criterion=entropy` and 10
//! rounds it is Weka's MIBoost with its DecisionStump. Scaling does not matter: any increasing map of a column gives the
//! same splits.

use std::sync::Arc;

use crate::families::stumps::{BoostedColumns, Criterion, SortedColumns};
use crate::method::{
    Capability, CutRule, Explanation, Info, MemoryEstimate, Method, Outputs, Predictor, Prepared, Scope,
    SolvedFit, State, Training,
};
use crate::multiclass::Scheme;
use crate::params::{Grid, Kind, ParamSpec, Point};
use crate::preprocess::Scale;
use crate::state::refuse;
use bagwise_core::{Bags, Ctx, Mat, Result};

/// The method, for the registry.
pub(crate) static METHOD: MiBoost = MiBoost;

pub(crate) struct MiBoost;

static INFO: Info = Info {
    name: "mi-boost",
    aliases: &["miboost"],
    title: "boosted decision stumps, averaged over the instances of a bag",
    about: "Each round adds a rule that compares one attribute with a threshold, and gives it the factor that lowers the \
            exponential loss of the bags most. The output of a bag is the sum over the rules of the mean over its \
            instances. The rules of a model can be printed.",
    reference: "Xu, Frank: Logistic regression and boosting for labeled bags of instances, PAKDD 2004",
    family: "boosting",
    regression: false,
    scale: Scale::None,
    complexity: 14,
    capabilities: &[Capability::Rules],
    scheme: Scheme::OneVsRest,
    params: PARAMS,
    ..Info::USUAL
};

static PARAMS: &[ParamSpec] = &[
    ParamSpec::new("rounds", Kind::Whole { least: 1, most: 10_000, words: &[] }, "50", "Maximum number of rules.")
        .grid("10,50,100")
        .solver(),
    ParamSpec::new(
        "criterion",
        Kind::Word(&["error", "entropy"]),
        "error",
        "How a threshold is chosen: by the weight of the instances it misclassifies, or by the entropy of the labels on its \
         two sides.",
    )
    .solver(),
];

/// What a point asks for.
#[derive(Clone, Copy, PartialEq)]
struct BoostParams {
    rounds: usize,
    criterion: Criterion,
}

impl Method for MiBoost {
    fn info(&self) -> &'static Info {
        &INFO
    }

    fn work(&self, bags: &Bags, _: usize) -> f64 {
        // Sorting.
        450.0 * (bags.instance_count() * bags.width()) as f64
    }

    /// The longest search finds the rules of the shorter ones.
    fn machine_work(&self, bags: &Bags, grid: &Grid, share: f64) -> f64 {
        /// Of a value in a round, and of an instance.
        const VALUE: f64 = 13.0;
        const INSTANCE: f64 = 2600.0;
        let rounds = grid.points.iter().filter_map(|p| p.number("rounds").ok()).fold(0.0, f64::max);
        rounds * share * bags.instance_count() as f64 * (VALUE * bags.width() as f64 + INSTANCE)
    }

    /// Rules are looked up.
    fn answer_work(&self, bags: &Bags, _: f64, new: f64) -> f64 {
        new * bags.instance_count() as f64 * 100.0 * 10.0
    }

    fn needs(&self, bags: &Bags) -> MemoryEstimate {
        let values = (bags.instance_count() * bags.width()) as u64;
        // The instances, every column sorted (values and rows), and the rows that are trained on.
        MemoryEstimate { fixed: (8 + 12 + 4) * values, each: 0 }
    }

    fn prepare(
        &self,
        bags: Arc<Bags>,
        points: &[Point],
        _: &Scope<'_>,
        ctx: &Ctx,
    ) -> Result<Box<dyn Prepared>> {
        let read = |p: &Point| {
            Ok(BoostParams {
                rounds: p.number("rounds")? as usize,
                criterion: p
                    .choice("criterion", &[("error", Criterion::Error), ("entropy", Criterion::Entropy)])?,
            })
        };
        let points = points.iter().map(read).collect::<Result<_>>()?;
        let bags = bags.in_memory(ctx)?;
        let columns = SortedColumns::new(bags.instances(), ctx)?;
        Ok(Box::new(BoostPrepared { bags, points, columns }))
    }

    fn load(&self, _: &Point, state: &State) -> Result<Box<dyn Predictor>> {
        let width = state.count("width")?;
        let ends = state.counts("ends")?;
        let attributes = state.counts("attributes")?;
        let cuts = state.vector("cuts", attributes.len())?;
        let (below, above) =
            (state.vector("below", attributes.len())?, state.vector("above", attributes.len())?);
        let ordered = ends.windows(2).all(|w| w[0] <= w[1]) && ends.last() == Some(&attributes.len());
        if !ordered || attributes.iter().any(|&a| a >= width) {
            return Err(refuse("its rules are inconsistent"));
        }
        let rule =
            |i: usize| CutRule { attribute: attributes[i], cut: cuts[i], below: below[i], above: above[i] };
        let starts = std::iter::once(0).chain(ends.iter().copied());
        let outputs = starts.zip(&ends).map(|(from, &to)| (from..to).map(rule).collect());
        Ok(Box::new(RuleLists { outputs: outputs.collect(), width }))
    }
}

struct BoostPrepared {
    bags: Arc<Bags>,
    points: Vec<BoostParams>,
    columns: SortedColumns,
}

impl BoostPrepared {
    /// The rules of the longest search; a shorter one finds the first of them.
    fn boost(
        &self,
        rounds: usize,
        criterion: Criterion,
        training: &Training<'_>,
        ctx: &Ctx,
    ) -> Result<Vec<CutRule>> {
        let count = training.bags.len() as f64;
        // Weights of bags add up to their number.
        let scaled = |weights: Vec<f64>| {
            let total: f64 = weights.iter().sum();
            weights.into_iter().map(|w| w * count / total).collect::<Vec<_>>()
        };
        let mut weights = scaled(training.weights.to_vec());
        let mut signed = vec![0.0; self.bags.instance_count()];
        let mut rules = Vec::new();
        let mut boosted: Option<BoostedColumns<'_>> = None;
        while rules.len() < rounds {
            ctx.check()?;
            for ((&bag, y), w) in training.bags.iter().zip(training.y).zip(&weights) {
                let rows = self.bags.rows(bag);
                // 0 is for bags that are not trained on, and so no weight may vanish.
                let own = y * (w / rows.len() as f64).max(f64::MIN_POSITIVE);
                signed[rows].fill(own);
            }
            if rules.is_empty() && criterion == Criterion::Error {
                boosted = BoostedColumns::new(&self.columns, &signed, ctx)?;
            }
            let stump = match &boosted {
                Some(columns) => columns.best(&signed, ctx)?,
                None => self.columns.best(&signed, criterion, ctx)?,
            };
            let said = self.columns.says(&stump);
            let errors: Vec<f64> = training
                .bags
                .iter()
                .zip(training.y)
                .map(|(&bag, y)| {
                    let rows = self.bags.rows(bag);
                    let wrong = rows.clone().filter(|&i| said[i] != *y).count();
                    wrong as f64 / rows.len() as f64
                })
                .collect();
            let factor = factor(&weights, &errors);
            match factor {
                Some(c) => rules.push(stump.times(c)),
                // A first rule that cannot be weighed is all there is.
                None if rules.is_empty() => rules.push(stump.times(1.0)),
                None => {}
            }
            let Some(c) = factor else { break };
            let moved = weights.iter().zip(&errors).map(|(w, e)| w * ((2.0 * e - 1.0) * c).exp());
            weights = scaled(moved.collect());
        }
        Ok(rules)
    }
}

/// `argmin sum W exp((2e - 1) c)` if it is above 0 and finite. The sum is convex: its slope is followed by Newton's steps,
/// inside a bracket.
fn factor(weights: &[f64], errors: &[f64]) -> Option<f64> {
    if errors.iter().all(|e| *e <= 0.5) || errors.iter().all(|e| *e >= 0.5) {
        return None;
    }
    let slopes = |c: f64| {
        let (mut first, mut second) = (0.0, 0.0);
        for (w, e) in weights.iter().zip(errors) {
            let a = 2.0 * e - 1.0;
            let term = w * a * (a * c).exp();
            first += term;
            second += term * a;
        }
        (first, second)
    };
    if slopes(0.0).0 >= 0.0 {
        return None;
    }
    let (mut low, mut high) = (0.0, 1.0);
    while slopes(high).0 < 0.0 {
        (low, high) = (high, 2.0 * high);
    }
    let mut c = 0.5 * (low + high);
    // Newton's steps end after some ten; halving the bracket alone after sixty.
    for _ in 0..200 {
        let (first, second) = slopes(c);
        if first < 0.0 {
            low = c
        } else {
            high = c
        }
        let step = c - first / second;
        let next = if step > low && step < high { step } else { 0.5 * (low + high) };
        let moved = (next - c).abs();
        c = next;
        if moved <= 1e-15 * c {
            break;
        }
    }
    Some(c)
}

impl Prepared for BoostPrepared {
    fn fit(&self, points: &[usize], training: &Training<'_>, ctx: &Ctx) -> Result<Vec<SolvedFit>> {
        let mut longest: Vec<(Criterion, Vec<CutRule>)> = Vec::new();
        for &p in points {
            let BoostParams { criterion, .. } = self.points[p];
            if longest.iter().all(|(known, _)| *known != criterion) {
                let same = points.iter().map(|&p| self.points[p]).filter(|p| p.criterion == criterion);
                let rounds = same.map(|p| p.rounds).max().unwrap_or(0);
                longest.push((criterion, self.boost(rounds, criterion, training, ctx)?));
            }
        }
        let fit = |&point: &usize| {
            let BoostParams { rounds, criterion } = self.points[point];
            let (_, rules) = longest.iter().find(|(known, _)| *known == criterion).expect("it was searched");
            let own = rules[..rounds.min(rules.len())].to_vec();
            SolvedFit { point, outcome: None, rounds: None, solution: Box::new(own) }
        };
        Ok(points.iter().map(fit).collect())
    }

    fn scores(&self, fit: &SolvedFit, bags: &[usize], ctx: &Ctx) -> Result<Vec<f64>> {
        let rules: &Vec<CutRule> = fit.of();
        let score = |&b: &usize| {
            ctx.check()?;
            Ok(parts(rules, &self.bags, b)?.iter().sum())
        };
        bags.iter().map(score).collect()
    }

    fn fit_bytes(&self) -> u64 {
        // The rows it is trained on, in the order of every column.
        4 * (self.bags.instance_count() * self.bags.width()) as u64
    }

    fn joins_points(&self) -> bool {
        true
    }

    fn model(&self, fits: &[&SolvedFit], _: &[usize], _: &Ctx) -> Result<Box<dyn Predictor>> {
        let outputs = fits.iter().map(|fit| fit.of::<Vec<CutRule>>().clone()).collect();
        Ok(Box::new(RuleLists { outputs, width: self.bags.width() }))
    }
}

/// What each instance of a bag adds: the sum over the rules, divided by the size of the bag.
fn parts(rules: &[CutRule], bags: &Bags, bag: usize) -> Result<Vec<f64>> {
    let rows = bags.rows(bag);
    let share = 1.0 / rows.len() as f64;
    let mut parts = Vec::with_capacity(rows.len());
    bags.instances().each_row(rows, |_, row| {
        let sum: f64 = rules.iter().map(|r| if row[r.attribute] <= r.cut { r.below } else { r.above }).sum();
        parts.push(share * sum);
    })?;
    Ok(parts)
}

/// The rules of each output.
struct RuleLists {
    outputs: Vec<Vec<CutRule>>,
    width: usize,
}

impl RuleLists {
    fn parts(&self, bags: &Bags, ctx: &Ctx) -> Result<Vec<Vec<Vec<f64>>>> {
        let of_bag = |b: usize| {
            ctx.check()?;
            self.outputs.iter().map(|rules| parts(rules, bags, b)).collect()
        };
        (0..bags.len()).map(of_bag).collect()
    }
}

impl Predictor for RuleLists {
    fn outputs(&self) -> usize {
        self.outputs.len()
    }

    fn width(&self) -> Option<usize> {
        Some(self.width)
    }

    fn predict(&self, bags: &Bags, ctx: &Ctx) -> Result<Outputs> {
        let scores = self.parts(bags, ctx)?.into_iter().flatten().map(|parts| parts.iter().sum()).collect();
        let scores = Mat::new(bags.len(), self.outputs.len(), scores);
        Ok(Outputs { scores, nearest: vec![None; bags.len()] })
    }

    fn explain(&self, bags: &Bags, ctx: &Ctx) -> Result<Vec<Vec<Explanation>>> {
        let additive = |parts| Explanation::Additive { bias: 0.0, parts };
        let all = self.parts(bags, ctx)?.into_iter();
        Ok(all.map(|outputs| outputs.into_iter().map(additive).collect()).collect())
    }

    fn rules(&self) -> Option<Vec<Vec<CutRule>>> {
        Some(self.outputs.clone())
    }

    fn save(&self) -> Result<State> {
        let mut state = State::default();
        state.put_counts("width", [self.width]);
        let rules = || self.outputs.iter().flatten();
        let ends = self.outputs.iter().scan(0, |end, rules| {
            *end += rules.len();
            Some(*end)
        });
        state.put_counts("ends", ends);
        state.put_counts("attributes", rules().map(|r| r.attribute));
        let numbers = |of: fn(&CutRule) -> f64| rules().map(of).collect::<Vec<_>>();
        state.put("cuts", &numbers(|r| r.cut));
        state.put("below", &numbers(|r| r.below));
        state.put("above", &numbers(|r| r.above));
        Ok(state)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_factor_is_where_the_slope_is_0() {
        // Half of the weight times e^-c against a quarter times e^c: c = ln(2) / 2.
        let c = factor(&[1.0, 1.0, 1.0, 1.0], &[0.0, 0.0, 1.0, 0.5]).unwrap();
        assert!((c - 0.5 * 2.0f64.ln()).abs() < 1e-15);
        assert_eq!(factor(&[1.0, 1.0], &[0.0, 0.5]), None, "no bag loses");
        assert_eq!(factor(&[1.0, 1.0], &[0.0, 1.0]), None, "as much is lost as won");
        assert!(factor(&[1.0, 1e-200], &[0.0, 1.0]).unwrap() > 200.0);
    }
}
