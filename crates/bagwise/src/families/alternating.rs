//! Alternation: train a machine on chosen rows, look at what it says of every instance, choose again.
//!
//! An author writes what is believed at the start, which rows a belief asks to train on (instances, or the means of
//! bags) with their labels, and how the machine's outputs revise the belief ([`Alternating`]). A bag's output is the
//! largest of its instances', and that instance is the explanation. The rest is here:
//!
//! * *Ends.* A belief that is not revised has converged; one that was held before is a cycle, whose length is recorded;
//!   after `max-iter` machines the search stops. The machine is the last one trained, in all three cases.
//! * *Restarts.* Of several searches the best is kept: converged before not, then the more training bags right, then
//!   the larger dual objective, then the first.
//! * *Speed.* Each machine starts from the coefficients of the last one, and outputs that the solver knows are not
//!   computed again. Kernel values: see `kernel`.
//!
//! Beliefs are lists of numbers whose meaning is the author's, so that all past ones can be kept and compared.

mod follow;
pub(crate) mod kernel;
pub(crate) mod model;
mod stock;

use std::sync::Arc;

use crate::families::svm;
use crate::families::width::{Width, twins};
use crate::method::{
    AlternationEnd, Explains, Follow, Info, MemoryEstimate, Method, Predictor, Prepared, Representative,
    Rounds, Scope, SolvedFit, State, TracedRound, Training,
};
use crate::multiclass::Scheme;
use crate::params::{Grid, Kind, ParamSpec, Point, representations};
use crate::preprocess::Scale;
use bagwise_core::{Bags, Ctx, Error, Instances, Result};
use bagwise_svm::linear_bytes;
use kernel::{Kernel, PreviousRound, Solved, is_linear};
use model::History;
use stock::{distinct, with_means};

/// What the author of a method writes.
pub(crate) trait Alternating: Clone + Send + Sync + 'static {
    /// The method with the parameters of a point, besides those that all have ([`SearchParams`]).
    fn at(&self, _point: &Point) -> Result<Self> {
        Ok(self.clone())
    }

    /// True if the means of bags are among the rows to train on: behind the instances, one for each bag.
    fn wants_means(&self) -> bool {
        false
    }

    /// True if the mean of a bag is that of its kernel rows rather than of its instances; as far as a Gram fits.
    fn averages_kernel(&self) -> bool {
        false
    }

    /// True if machines are trained on a small part of the rows.
    fn wants_few(&self) -> bool {
        false
    }

    /// Operations of a search on so many instances in so many bags: some rounds, each a machine on all instances, or one on few
    /// that all instances are then compared with.
    fn rounds_work(&self, instances: f64, bags: f64) -> f64 {
        match self.wants_few() || self.wants_means() {
            true => 900.0 * instances * bags,
            false => 150.0 * instances * instances,
        }
    }

    /// How many rounds a search usually takes.
    fn usual_rounds(&self) -> f64 {
        10.0
    }

    /// What is believed at first; `attempt` counts restarts.
    fn start(&self, problem: &Problem<'_>, attempt: u64) -> Vec<u32>;

    /// An error if a start that is given has no meaning for these bags.
    fn check_start(&self, bags: &Bags, y: &[f64], start: &[u32]) -> Result<()>;

    /// The rows to train on.
    fn rows(&self, problem: &Problem<'_>, belief: &[u32]) -> Vec<TrainingRow>;

    /// What is believed after seeing the output of every instance of the training bags.
    fn revise(&self, problem: &Problem<'_>, belief: &[u32], outputs: &[f64]) -> Vec<u32>;

    /// What multiplies `c` besides the weight of a bag.
    fn share(&self, _problem: &Problem<'_>) -> f64 {
        1.0
    }

    /// The bias, if it is not the solver's.
    fn bias(&self, _problem: &Problem<'_>, _trained: &TrainedRound<'_>) -> Result<Option<f64>> {
        Ok(None)
    }

    /// What the whole search makes smaller, if it is that kind of search; it ends where this stops falling. `costs` are
    /// those of the training bags, `outputs` those of all instances, bias included.
    fn objective(
        &self,
        _problem: &Problem<'_>,
        _trained: &TrainedRound<'_>,
        _costs: &[f64],
        _outputs: &[f64],
    ) -> Option<f64> {
        None
    }

    /// The instance that stands for each training bag that has one, counted within the bag.
    fn chosen(&self, _problem: &Problem<'_>, _belief: &[u32]) -> Vec<Option<u32>> {
        Vec::new()
    }

    /// True if a bag whose output is 0 exactly is positive.
    fn zero_is_positive(&self) -> bool {
        false
    }
}

/// One training problem, as its author sees it.
pub(crate) struct Problem<'a> {
    /// All prepared bags.
    pub(crate) bags: &'a Bags,
    /// For each of their instances, true unless it equals an earlier one of its bag: of equal instances the first is
    /// chosen, whatever the rounding.
    pub(crate) distinct: &'a [bool],
    /// The training bags.
    pub(crate) train: &'a [usize],
    /// +1 or -1 for each of them.
    pub(crate) y: &'a [f64],
    pub(crate) seed: u64,
}

/// What every search asks of a point.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SearchParams {
    /// Nothing for a linear kernel.
    width: Option<Width>,
    cost: f64,
    /// Machines at most.
    rounds: usize,
    restarts: usize,
}

impl SearchParams {
    fn read(point: &Point) -> Result<SearchParams> {
        let count = |name: &str| if point.has(name) { point.number(name).map(|v| v as usize) } else { Ok(1) };
        let rbf = point.choice(kernel::KERNEL.name, &[("rbf", true), ("linear", false)])?;
        Ok(SearchParams {
            width: rbf.then(|| Width::read(point)).transpose()?,
            cost: point.number(kernel::COST.name)?,
            rounds: count(ROUNDS.name)?,
            restarts: count(RESTARTS.name)?,
        })
    }
}

/// At most this many machines in one search.
pub(crate) const ROUNDS: ParamSpec = ParamSpec::new(
    "max-iter",
    Kind::Whole { least: 1, most: 100_000, words: &[] },
    "100",
    "Maximum number of rounds if the search neither converges nor cycles.",
)
.solver();

/// So many searches.
pub(crate) const RESTARTS: ParamSpec = ParamSpec::new(
    "restarts",
    Kind::Whole { least: 1, most: 10_000, words: &[] },
    "1",
    "Number of random starts; the best search is kept.",
)
.solver();

/// What methods of this family have in common.
pub(crate) const USUAL: Info = Info {
    family: "alternating SVM",
    regression: false,
    scale: Scale::ZScore,
    explains: Explains::Witness("the output of every instance, and the one that decides"),
    scheme: Scheme::OneVsRest,
    ..Info::USUAL
};

/// The error for a start that has no meaning.
pub(crate) fn bad_start(what: &str) -> Error {
    Error::Invalid(format!("the start must be {what}"))
}

impl Problem<'_> {
    /// The distinct instance of a bag with the largest value, the first of equals, counted within the bag.
    pub(crate) fn largest(&self, bag: usize, value: impl Fn(usize) -> f64) -> u32 {
        let rows = self.bags.rows(bag);
        let mut best = rows.start;
        for row in rows.clone().filter(|&r| self.distinct[r]) {
            if value(row) > value(best) {
                best = row;
            }
        }
        (best - rows.start) as u32
    }
}

/// A row to train on.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TrainingRow {
    /// Which: an instance, or (after all instances) the mean of a bag.
    pub(crate) at: usize,
    /// +1 or -1.
    pub(crate) y: f64,
    /// Position of its bag among the training bags.
    pub(crate) bag: usize,
    /// The row of the next round with the same place inherits the coefficient.
    pub(crate) place: usize,
    /// Multiplies what an error costs.
    pub(crate) factor: f64,
}

/// A machine that has just been trained.
pub(crate) struct TrainedRound<'a> {
    pub(crate) rows: &'a [TrainingRow],
    /// The bound of each row's coefficient.
    pub(crate) bounds: &'a [f64],
    pub(crate) solved: &'a Solved,
    /// For each row, the sum of its kernel values with all rows, weighted as given.
    pub(crate) sums: &'a dyn Fn(&[f64]) -> Result<Vec<f64>>,
}

/// How hard the solver tries: the published experiments' tolerance, or what a test asks for.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Effort {
    pub(crate) tolerance: f64,
}

/// A search whose objective falls by less than this share of itself has converged.
const SETTLED: f64 = 1e-9;

/// The tolerance of LIBSVM.
pub(crate) const LIBSVM: Effort = Effort { tolerance: 1e-3 };

/// A method by alternation. Its table has `kernel`, a width, `c` and whatever else.
pub(crate) struct Alternation<A> {
    pub(crate) info: &'static Info,
    pub(crate) method: A,
}

impl<A: Alternating> Method for Alternation<A> {
    fn info(&self) -> &'static Info {
        self.info
    }

    fn work(&self, bags: &Bags, representations: usize) -> f64 {
        // All pairs once, in Grams or as they are asked for; machines come on top. Grams of instances do not fit the caches.
        const STORED: f64 = 350.0;
        let n = bags.instance_count() as f64;
        let stored = if kernel::gram_fits(bags.instance_count()) { STORED * n * n / 2.0 } else { 0.0 };
        crate::families::width::pass(bags, representations) + representations as f64 * stored
    }

    fn work_for(&self, bags: &Bags, grid: &Grid) -> f64 {
        // Inner products are few beside kernel values.
        let of_kernels = grid.groups.iter().filter(|group| !is_linear(&grid.points[group[0]])).count();
        self.work(bags, of_kernels)
    }

    fn machine_work(&self, bags: &Bags, grid: &Grid, share: f64) -> f64 {
        let (n, b) = (share * bags.instance_count() as f64, share * bags.len() as f64);
        let width = bags.values_per_instance();
        // A machine on rows of values: passes over them, and steps with the products of all columns.
        let columns = if matches!(bags.instances(), Instances::Sparse(_)) { 0.0 } else { width.min(1000.0) };
        let on_rows = self.method.usual_rounds() * n * width * (3000.0 + 60.0 * columns);
        let linear = grid.points.iter().filter(|p| is_linear(p) && !kernel::products_fit(n as usize)).count();
        let others = (grid.points.len() - linear) as f64;
        linear as f64 * on_rows + others * self.method.rounds_work(n, b)
    }

    fn needs(&self, bags: &Bags) -> MemoryEstimate {
        let rows = bags.instance_count() + if self.method.wants_means() { bags.len() } else { 0 };
        let copy = 8 * (rows * bags.width()) as u64;
        // Where a Gram is too large its entries are computed when they are needed.
        let each = if kernel::gram_fits(rows) { kernel::gram_bytes(rows) } else { 0 };
        let distances = if self.method.wants_few() { each } else { 0 };
        // A linear machine may be on all rows.
        let machine = linear_bytes(rows, bags.width());
        MemoryEstimate { fixed: 2 * copy + distances + machine, each }
    }

    fn prepare(
        &self,
        bags: Arc<Bags>,
        points: &[Point],
        scope: &Scope<'_>,
        ctx: &Ctx,
    ) -> Result<Box<dyn Prepared>> {
        let bags = bags.in_memory(ctx)?;
        let means = if self.method.wants_means() { Some(with_means(&bags)?) } else { None };
        let distinct = distinct(&bags)?;
        let (first, representation) = representations(self.params(), points);
        let stock = means.as_ref().unwrap_or(bags.instances());
        let twins = twins(points, is_linear);
        let read = |p: &Point| Ok((self.method.at(p)?, SearchParams::read(p)?));
        let points = points.iter().map(read).collect::<Result<Vec<_>>>()?;
        let widths =
            first.into_iter().map(|p| Ok(SearchParams::read(p)?.width)).collect::<Result<Vec<_>>>()?;
        let mut kernels = kernel::prepare(&widths, stock, self.method.wants_few(), &bags, scope, ctx)?;
        if self.method.averages_kernel() {
            kernels.iter_mut().for_each(|kernel| kernel.average_means(&bags));
        }
        let zero_is_positive = self.method.zero_is_positive();
        Ok(Box::new(AlternatingPrepared {
            zero_is_positive,
            bags,
            means,
            distinct,
            points,
            kernels,
            representation,
            twins,
        }))
    }

    fn load(&self, point: &Point, state: &State) -> Result<Box<dyn Predictor>> {
        let linear = SearchParams::read(point)?.width.is_none();
        model::load(linear, state, self.method.zero_is_positive())
    }

    fn alternation(&self) -> Option<&dyn Follow> {
        Some(self)
    }
}

struct AlternatingPrepared<A> {
    zero_is_positive: bool,
    bags: Arc<Bags>,
    /// Instances, then the means of the bags, if the method wants them.
    means: Option<Instances>,
    distinct: Vec<bool>,
    points: Vec<(A, SearchParams)>,
    kernels: Vec<Kernel>,
    /// The kernel of each point.
    representation: Vec<usize>,
    twins: Vec<usize>,
}

/// What a family's fit holds.
pub(crate) struct AlternationFit {
    /// The rows of the last machine and their coefficients, those that are not 0.
    pub(crate) support: Vec<(usize, f64)>,
    /// The weights of the columns, for a linear kernel.
    pub(crate) weights: Option<Vec<f64>>,
    pub(crate) bias: f64,
    /// The output of every prepared instance, bias included.
    pub(crate) outputs: Vec<f64>,
    /// Bags with their instances, counted within the bag.
    pub(crate) chosen: Vec<(usize, u32)>,
    /// The rounds of the search.
    pub(crate) trace: Vec<TracedRound>,
}

impl<A: Alternating> AlternatingPrepared<A> {
    fn stock(&self) -> &Instances {
        self.means.as_ref().unwrap_or(self.bags.instances())
    }

    fn one(&self, at: usize, training: &Training<'_>, ctx: &Ctx) -> Result<SolvedFit> {
        let (method, params) = &self.points[at];
        let problem = Problem {
            bags: &self.bags,
            distinct: &self.distinct,
            train: training.bags,
            y: training.y,
            seed: ctx.seed,
        };
        let search = Search {
            method,
            params: *params,
            stock: self.stock(),
            kernel: &self.kernels[self.representation[at]],
            problem,
            weights: training.weights,
            effort: LIBSVM,
        };
        let mut best: Option<(Searched, Vec<TracedRound>)> = None;
        for attempt in 0..params.restarts as u64 {
            let start = method.start(&search.problem, attempt);
            let mut trace = Vec::new();
            let found = search.run(start, &mut |round| trace.push(round.traced()), ctx)?;
            if best.as_ref().is_none_or(|(b, _)| found.beats(b)) {
                best = Some((found, trace));
            }
        }
        let (best, mut trace) = best.expect("one attempt at least");
        if let Some(last) = trace.last_mut() {
            last.ended = Some(best.rounds.ended);
        }
        let found = AlternationFit { trace, ..search.finish(&best, ctx)? };
        Ok(SolvedFit {
            point: at,
            outcome: Some(best.solved.outcome),
            rounds: Some(best.rounds),
            solution: Box::new(found),
        })
    }
}

impl<A: Alternating> Prepared for AlternatingPrepared<A> {
    fn fit(&self, points: &[usize], training: &Training<'_>, ctx: &Ctx) -> Result<Vec<SolvedFit>> {
        points.iter().map(|&at| self.one(at, training, ctx)).collect()
    }

    fn twin(&self, point: usize) -> usize {
        self.twins[point]
    }

    fn fit_bytes(&self) -> u64 {
        if self.kernels.iter().any(Kernel::is_heavy) { u64::MAX } else { 0 }
    }

    fn scores(&self, fit: &SolvedFit, bags: &[usize], _: &Ctx) -> Result<Vec<f64>> {
        let found: &AlternationFit = fit.of();
        let most = |&b: &usize| self.bags.rows(b).map(|i| found.outputs[i]).fold(f64::NEG_INFINITY, f64::max);
        Ok(bags.iter().map(|b| model::decided(most(b), self.zero_is_positive)).collect())
    }

    fn model(&self, fits: &[&SolvedFit], _: &[usize], _: &Ctx) -> Result<Box<dyn Predictor>> {
        let found: Vec<&AlternationFit> = fits.iter().map(|f| f.of()).collect();
        let representatives = found.iter().enumerate().flat_map(|(output, found)| {
            found.chosen.iter().map(move |&(bag, instance)| Representative {
                bag: self.bags.ids()[bag].clone(),
                instance: instance as usize,
                output,
                value: found.outputs[self.bags.rows(bag).start + instance as usize],
            })
        });
        let kernel = &self.kernels[self.representation[fits[0].point]];
        let traced = found.iter().enumerate();
        let trace = traced.flat_map(|(output, found)| {
            found.trace.iter().map(move |round| TracedRound { output, ..round.clone() })
        });
        let history = History { representatives: representatives.collect(), trace: trace.collect() };
        model::build(kernel, self.stock(), &found, history, self.zero_is_positive)
    }
}

/// A search from one belief.
pub(crate) struct Search<'a, A> {
    pub(crate) method: &'a A,
    pub(crate) params: SearchParams,
    pub(crate) stock: &'a Instances,
    pub(crate) kernel: &'a Kernel,
    pub(crate) problem: Problem<'a>,
    pub(crate) weights: &'a [f64],
    pub(crate) effort: Effort,
}

/// What a search found: its last machine.
pub(crate) struct Searched {
    pub(crate) rounds: Rounds,
    pub(crate) belief: Vec<u32>,
    pub(crate) rows: Vec<TrainingRow>,
    pub(crate) solved: Solved,
    pub(crate) bias: f64,
    /// By instance, without the bias; not a number where it was not asked for.
    outputs: Vec<f64>,
    /// Training bags on the right side.
    right: usize,
}

impl Searched {
    /// Whether it is kept rather than another that came before it.
    fn beats(&self, other: &Searched) -> bool {
        let rank = |s: &Searched| (s.rounds.ended == AlternationEnd::Converged, s.right);
        // The solver minimises the negated dual objective.
        let objective = |s: &Searched| -s.solved.outcome.objective;
        rank(self) > rank(other) || rank(self) == rank(other) && objective(self) > objective(other)
    }
}

/// One round, for those who watch.
pub(crate) struct Round<'a> {
    pub(crate) belief: &'a [u32],
    pub(crate) next: &'a [u32],
    pub(crate) solved: &'a Solved,
    pub(crate) bias: f64,
    /// By instance, without the bias.
    pub(crate) outputs: &'a [f64],
}

impl Round<'_> {
    /// The dual objective, which is maximised: the solver minimises the negated one.
    fn objective(&self) -> f64 {
        -self.solved.outcome.objective
    }

    fn traced(&self) -> TracedRound {
        TracedRound {
            output: 0,
            objective: self.objective(),
            changed: changes(self.belief, self.next),
            support: self.solved.coefficients.iter().filter(|b| **b != 0.0).count(),
            ended: None,
        }
    }
}

/// In how many places two beliefs differ.
fn changes(belief: &[u32], next: &[u32]) -> usize {
    belief.iter().zip(next).filter(|(a, b)| a != b).count()
}

impl<A: Alternating> Search<'_, A> {
    /// Alternates until the belief stands, returns, or the limit is reached.
    pub(crate) fn run(
        &self,
        start: Vec<u32>,
        watch: &mut dyn FnMut(&Round<'_>),
        ctx: &Ctx,
    ) -> Result<Searched> {
        let Search { problem, .. } = self;
        let limit = self.params.rounds;
        let cost = self.params.cost * self.method.share(problem);
        let costs: Vec<f64> = self.weights.iter().map(|w| cost * w).collect();
        let mut lowest = f64::INFINITY;
        let asked: Vec<usize> = problem.train.iter().flat_map(|&b| problem.bags.rows(b)).collect();
        let (mut belief, mut past, mut changed) = (start, Vec::new(), Vec::new());
        let mut last: Option<(Vec<TrainingRow>, Solved, Vec<f64>)> = None;
        loop {
            ctx.check()?;
            let rows = self.method.rows(problem, &belief);
            let bounds: Vec<f64> = rows.iter().map(|r| costs[r.bag] * r.factor).collect();
            // With the factors of the method, which may differ from round to round.
            if bounds.iter().any(|bound| !bound.is_finite()) {
                return Err(svm::too_costly(self.params.cost));
            }
            let warm = last.as_ref().map(|(rows, solved, outputs)| PreviousRound { rows, solved, outputs });
            let solved = self.kernel.solve(self.stock, &rows, &bounds, warm.as_ref(), self.effort, ctx)?;
            let sums = |weights: &[f64]| self.kernel.sums(self.stock, &rows, weights, ctx);
            let trained = TrainedRound { rows: &rows, bounds: &bounds, solved: &solved, sums: &sums };
            let bias = self.method.bias(problem, &trained)?.unwrap_or(solved.bias);
            let mut outputs = vec![f64::NAN; problem.bags.instance_count()];
            self.kernel.outputs(self.stock, &rows, &solved, &asked, &mut outputs, ctx)?;
            let biased: Vec<f64> = outputs.iter().map(|o| o + bias).collect();
            let next = self.method.revise(problem, &belief, &biased);
            let objective = self.method.objective(problem, &trained, &costs, &biased);
            let settled = objective.is_some_and(|o| lowest - o < SETTLED * lowest.abs());
            lowest = objective.unwrap_or(lowest);
            changed.push(changes(&belief, &next));
            watch(&Round { belief: &belief, next: &next, solved: &solved, bias, outputs: &outputs });
            let ended = if next == belief || settled {
                Some(AlternationEnd::Converged)
            } else if let Some(at) = past.iter().position(|p| *p == next) {
                Some(AlternationEnd::Cycle(past.len() + 1 - at))
            } else {
                (changed.len() >= limit).then_some(AlternationEnd::Limit)
            };
            if let Some(ended) = ended {
                let right = self.right(&biased);
                let rounds = Rounds { ended, changed };
                return Ok(Searched { rounds, belief, rows, solved, bias, outputs, right });
            }
            ctx.progress.step("rounds", changed.len() as u64, limit as u64);
            last = Some((rows, solved, outputs));
            past.push(std::mem::replace(&mut belief, next));
        }
    }

    fn right(&self, outputs: &[f64]) -> usize {
        let Problem { bags, train, y, .. } = &self.problem;
        let positive = |bag: usize| {
            let most = bags.rows(bag).map(|i| outputs[i]).fold(f64::NEG_INFINITY, f64::max);
            most > 0.0 || most == 0.0 && self.method.zero_is_positive()
        };
        train.iter().zip(*y).filter(|&(&bag, &y)| positive(bag) == (y > 0.0)).count()
    }

    /// The last machine of a search with its outputs for every prepared instance.
    fn finish(&self, searched: &Searched, ctx: &Ctx) -> Result<AlternationFit> {
        let Searched { rows, solved, bias, .. } = searched;
        let mut outputs = searched.outputs.clone();
        let missing: Vec<usize> = (0..outputs.len()).filter(|&i| outputs[i].is_nan()).collect();
        if !missing.is_empty() {
            self.kernel.outputs(self.stock, rows, solved, &missing, &mut outputs, ctx)?;
        }
        outputs.iter_mut().for_each(|o| *o += bias);
        let chosen = self.method.chosen(&self.problem, &searched.belief);
        let averaged = self.method.averages_kernel() && self.kernel.has_averages();
        let mut support = Vec::new();
        for (row, &b) in rows.iter().zip(&solved.coefficients).filter(|(_, b)| **b != 0.0) {
            match row.at.checked_sub(self.problem.bags.instance_count()) {
                Some(bag) if averaged => {
                    let own = self.problem.bags.rows(bag);
                    support.extend(own.clone().map(|i| (i, b / own.len() as f64)));
                }
                _ => support.push((row.at, b)),
            }
        }
        Ok(AlternationFit {
            support,
            weights: solved.weights.clone(),
            bias: *bias,
            outputs,
            chosen: self.problem.train.iter().zip(chosen).filter_map(|(&b, i)| Some((b, i?))).collect(),
            trace: Vec::new(),
        })
    }
}
