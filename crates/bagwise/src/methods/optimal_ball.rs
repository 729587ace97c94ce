//! Optimal ball: a bag is positive if one of its instances lies inside a ball around an instance of a positive bag.
//!
//! Every instance of every positive training bag is tried as the centre. With the distance of each bag to it (that of the
//! bag's nearest instance) in ascending order, radii half way between neighbours are tried, and the ball that gets most
//! bags right is kept; of these the largest, then the first. The output is the radius minus the distance of the bag,
//! and 0 is positive.
//!
//! N^2 d / 2 multiply-adds for distances of instances to bags, N x bags numbers of memory, then one sort of the bags for
//! each centre. Auer, Ortner: A boosting approach to multiple instance learning, ECML 2004; Weka's MIOptimalBall. What
//! `dd` climbs to is compared with here: a centre that is an instance, and every attribute weighs the same.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use rayon::prelude::*;

use crate::method::{
    Explains, Explanation, Info, MemoryEstimate, Method, Outputs, Predictor, Prepared, Scope, SolvedFit,
    State, Training,
};
use crate::multiclass::Scheme;
use crate::params::Point;
use crate::state::refuse;
use bagwise_core::{Bags, Ctx, Mat, Result};
use bagwise_engine::bag_distances::nearest;

/// The method, for the registry.
pub(crate) static METHOD: OptimalBall = OptimalBall;

pub(crate) struct OptimalBall;

static INFO: Info = Info {
    name: "optimal-ball",
    aliases: &["mi-optimal-ball"],
    title: "the ball around an instance that separates the training bags best",
    about: "A bag is positive if one of its instances lies inside a ball. Every instance of a positive training bag is \
            tried as the centre, with every radius that makes a difference. The ball that classifies most training bags \
            correctly is kept; among ties, the largest. The output of a bag is the radius minus the distance of its nearest instance.",
    reference: "Auer, Ortner: A boosting approach to multiple instance learning, ECML 2004",
    family: "best concept",
    regression: false,
    complexity: 11,
    explains: Explains::Witness("the instance nearest to the centre"),
    scheme: Scheme::OneVsRest,
    ..Info::USUAL
};

/// Weights and distances this close to each other, relatively, are equal.
const EQUAL: f64 = 1e-12;

impl Method for OptimalBall {
    fn info(&self) -> &'static Info {
        &INFO
    }

    fn work(&self, bags: &Bags, _: usize) -> f64 {
        let (n, count) = (bags.instance_count() as f64, bags.len() as f64);
        // All pairs, and for an outer fold and its five inner ones a sort for each centre.
        n * n * bags.values_per_instance() + 6.0 * n * count * (count.log2() + 4.0)
    }

    fn needs(&self, bags: &Bags) -> MemoryEstimate {
        let (n, width) = (bags.instance_count() as u64, bags.width() as u64);
        MemoryEstimate { fixed: 2 * 8 * n * width + 8 * n * bags.len() as u64, each: 0 }
    }

    fn prepare(&self, bags: Arc<Bags>, _: &[Point], _: &Scope<'_>, ctx: &Ctx) -> Result<Box<dyn Prepared>> {
        let bags = bags.in_memory(ctx)?;
        Ok(Box::new(BallPrepared { bags, near: Mutex::default() }))
    }

    fn load(&self, _: &Point, state: &State) -> Result<Box<dyn Predictor>> {
        let centres = state.mat("centres")?;
        let radii = state.vector("radii", centres.rows())?;
        let constants = state.vector("constants", centres.rows())?;
        let fits = radii.iter().all(|r| *r >= 0.0) && constants.iter().all(|c| [-1.0, 0.0, 1.0].contains(c));
        if centres.rows() == 0 || centres.cols() == 0 || !fits {
            return Err(refuse("its balls are inconsistent"));
        }
        let ball = |k: usize| match constants[k] {
            0.0 => BallRule::Ball { centre: centres.row(k).to_vec(), radius: radii[k] },
            side => BallRule::Always(side),
        };
        Ok(Box::new(Balls { outputs: (0..centres.rows()).map(ball).collect(), width: centres.cols() }))
    }
}

struct BallPrepared {
    bags: Arc<Bags>,
    /// By bag, the squared distances of its instances to every bag: of bags that were positive in some training.
    near: Mutex<BTreeMap<usize, Arc<Mat>>>,
}

/// One output.
#[derive(Clone, Debug, PartialEq)]
enum BallRule {
    /// Inside is positive.
    Ball { centre: Vec<f64>, radius: f64 },
    /// Training bags of one class only.
    Always(f64),
}

impl BallRule {
    /// The output of one instance.
    fn output(&self, row: &[f64]) -> f64 {
        match self {
            BallRule::Always(side) => *side,
            BallRule::Ball { centre, radius } => {
                let output = radius - distance(row, centre);
                // On the sphere is inside; machines above take 0 for negative.
                if output.abs() <= EQUAL * radius { f64::MIN_POSITIVE } else { output }
            }
        }
    }

    /// The output of every instance of a bag, and the first of the largest.
    fn outputs(&self, bags: &Bags, bag: usize) -> Result<(Vec<f64>, usize)> {
        let mut all = Vec::with_capacity(bags.rows(bag).len());
        bags.instances().each_row(bags.rows(bag), |_, row| all.push(self.output(row)))?;
        let chosen = (1..all.len()).fold(0, |best, i| if all[i] > all[best] { i } else { best });
        Ok((all, chosen))
    }
}

/// The distance of two points, and at most the largest number: an instance that is too far away for squares is still outside.
fn distance(row: &[f64], centre: &[f64]) -> f64 {
    let apart = || row.iter().zip(centre).map(|(x, c)| x - c);
    let squared: f64 = apart().map(|d| d * d).sum();
    if squared.is_finite() {
        return squared.sqrt();
    }
    let most = apart().fold(0.0f64, |most, d| most.max(d.abs())).min(f64::MAX);
    let shares: f64 = apart().map(|d| (d / most).clamp(-1.0, 1.0)).map(|d| d * d).sum();
    (most * shares.sqrt()).min(f64::MAX)
}

/// A ball that was tried.
#[derive(Clone, Copy)]
struct TriedBall {
    instance: usize,
    /// Weight of the bags it gets right.
    right: f64,
    radius: f64,
}

impl BallPrepared {
    /// The squared distances of the instances of these bags to every bag, bag by bag.
    fn near(&self, bags: &[usize], ctx: &Ctx) -> Result<Vec<Arc<Mat>>> {
        let mut known = self.near.lock().expect("nobody panics with it");
        let missing: Vec<usize> = bags.iter().copied().filter(|bag| !known.contains_key(bag)).collect();
        if !missing.is_empty() {
            let found = nearest(self.bags.select(&missing).instances(), &self.bags, ctx)?;
            let mut first = 0;
            for bag in missing {
                let rows: Vec<usize> = (first..first + self.bags.rows(bag).len()).collect();
                first += rows.len();
                known.insert(bag, Arc::new(found.gather(&rows)));
            }
        }
        Ok(bags.iter().map(|bag| Arc::clone(&known[bag])).collect())
    }

    /// The best radius around an instance, by its squared distances to every bag.
    fn best_radius(instance: usize, near: &[f64], training: &Training<'_>, total: f64) -> Option<TriedBall> {
        let distance = |k: usize| near[training.bags[k]].sqrt();
        let mut sorted: Vec<(f64, usize)> = (0..training.bags.len()).map(|k| (distance(k), k)).collect();
        sorted.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        // With nothing inside, negative bags are right.
        let outside = training.y.iter().zip(training.weights).filter(|(y, _)| **y < 0.0);
        let mut right: f64 = outside.map(|(_, w)| w).sum();
        let mut inside = 0;
        let mut best: Option<TriedBall> = None;
        for pair in sorted.windows(2) {
            let radius = pair[1].0 - (pair[1].0 - pair[0].0) / 2.0;
            while inside < sorted.len() && sorted[inside].0 <= radius {
                let k = sorted[inside].1;
                right += training.y[k] * training.weights[k];
                inside += 1;
            }
            let found = TriedBall { instance, right, radius };
            if best.is_none_or(|b| found.beats(&b, total)) {
                best = Some(found);
            }
        }
        best
    }

    fn search(&self, training: &Training<'_>, ctx: &Ctx) -> Result<BallRule> {
        let first = training.y[0];
        if training.y.iter().all(|y| *y == first) {
            return Ok(BallRule::Always(first));
        }
        let total: f64 = training.weights.iter().sum();
        let positive = training.bags.iter().zip(training.y).filter(|(_, y)| **y > 0.0);
        let positive: Vec<usize> = positive.map(|(&bag, _)| bag).collect();
        let near = self.near(&positive, ctx)?;
        let rows_of = |(&bag, near): (&usize, &Arc<Mat>)| {
            let near = Arc::clone(near);
            self.bags.rows(bag).enumerate().map(move |(i, row)| (row, i, Arc::clone(&near)))
        };
        let centres: Vec<(usize, usize, Arc<Mat>)> = positive.iter().zip(&near).flat_map(rows_of).collect();
        let tried: Vec<Option<TriedBall>> = centres
            .par_iter()
            .map(|(instance, i, near)| {
                ctx.check()?;
                Ok(Self::best_radius(*instance, near.row(*i), training, total))
            })
            .collect::<Result<_>>()?;
        let mut best: Option<TriedBall> = None;
        for found in tried.into_iter().flatten() {
            if best.is_none_or(|b| found.beats(&b, total)) {
                best = Some(found);
            }
        }
        let TriedBall { instance, radius, .. } = best.expect("two bags have a radius between them");
        let mut centre = vec![0.0; self.bags.width()];
        self.bags.instances().row_into(instance, &mut centre)?;
        Ok(BallRule::Ball { centre, radius })
    }
}

impl TriedBall {
    /// Whether it is kept rather than another that was tried before it.
    fn beats(&self, other: &TriedBall, total: f64) -> bool {
        let more = self.right - other.right;
        more > EQUAL * total || more >= -EQUAL * total && self.radius > other.radius
    }
}

impl Prepared for BallPrepared {
    fn fit(&self, points: &[usize], training: &Training<'_>, ctx: &Ctx) -> Result<Vec<SolvedFit>> {
        let rule = self.search(training, ctx)?;
        let fit = |&point: &usize| SolvedFit {
            point,
            outcome: None,
            rounds: None,
            solution: Box::new(rule.clone()),
        };
        Ok(points.iter().map(fit).collect())
    }

    fn scores(&self, fit: &SolvedFit, bags: &[usize], ctx: &Ctx) -> Result<Vec<f64>> {
        let score = |&b: &usize| {
            ctx.check()?;
            let (outputs, chosen) = fit.of::<BallRule>().outputs(&self.bags, b)?;
            Ok(outputs[chosen])
        };
        bags.iter().map(score).collect()
    }

    fn joins_points(&self) -> bool {
        true
    }

    fn model(&self, fits: &[&SolvedFit], _: &[usize], _: &Ctx) -> Result<Box<dyn Predictor>> {
        let outputs = fits.iter().map(|fit| fit.of::<BallRule>().clone()).collect();
        Ok(Box::new(Balls { outputs, width: self.bags.width() }))
    }
}

/// A ball for each output.
struct Balls {
    outputs: Vec<BallRule>,
    width: usize,
}

impl Predictor for Balls {
    fn outputs(&self) -> usize {
        self.outputs.len()
    }

    fn width(&self) -> Option<usize> {
        Some(self.width)
    }

    fn predict(&self, bags: &Bags, ctx: &Ctx) -> Result<Outputs> {
        let mut scores = Mat::zeros(bags.len(), self.outputs.len());
        for b in 0..bags.len() {
            ctx.check()?;
            for (k, rule) in self.outputs.iter().enumerate() {
                let (outputs, chosen) = rule.outputs(bags, b)?;
                scores.set(b, k, outputs[chosen]);
            }
        }
        Ok(Outputs { scores, nearest: vec![None; bags.len()] })
    }

    fn explain(&self, bags: &Bags, ctx: &Ctx) -> Result<Vec<Vec<Explanation>>> {
        let of_bag = |b: usize| {
            ctx.check()?;
            let one = |rule: &BallRule| {
                rule.outputs(bags, b).map(|(outputs, chosen)| Explanation::Witness { outputs, chosen })
            };
            self.outputs.iter().map(one).collect()
        };
        (0..bags.len()).map(of_bag).collect()
    }

    fn save(&self) -> Result<State> {
        let mut state = State::default();
        let nowhere = vec![0.0; self.width];
        let of = |rule: &BallRule| match rule {
            BallRule::Ball { centre, radius } => (centre.clone(), *radius, 0.0),
            BallRule::Always(side) => (nowhere.clone(), 0.0, *side),
        };
        let all: Vec<(Vec<f64>, f64, f64)> = self.outputs.iter().map(of).collect();
        state.put_mat("centres", &Mat::from_rows(&all.iter().map(|a| &a.0[..]).collect::<Vec<_>>()));
        state.put("radii", &all.iter().map(|a| a.1).collect::<Vec<_>>());
        state.put("constants", &all.iter().map(|a| a.2).collect::<Vec<_>>());
        Ok(state)
    }
}
