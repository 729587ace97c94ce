//! Kernel values between rows, for machines that are trained again and again on changing rows.
//!
//! Four ways, chosen by kernel, method and size:
//!
//! * *linear*: coordinate descent on the rows, without kernel values; or, up to [`LINEAR_GRAM`] rows, on their inner products,
//!   shared as the Gaussians are: with hundreds of columns single coordinates settle slowly. Outputs are products with the
//!   weights of the columns either way.
//! * *Gram*: the Gaussian of all pairs of rows, computed once for all widths (`bagwise_engine::rows`), and shared by all
//!   folds, costs and rounds: an entry depends on its two rows only. 8 n^2 bytes for each width, while that is at most
//!   [`GRAM_BYTES`] and the budget allows it.
//! * *rows*: where a method trains on few of the rows, those that some machine has asked for, kept for all folds, costs,
//!   rounds and (as distances) widths. At most what the Grams would take, and one more for the distances.
//! * *direct*: no matrix of all rows. A machine on few rows has a Gram of its own for the time of its training; one on
//!   many is trained chunk by chunk ([`fit_chunks`]). Outputs of all instances are one weighted pass of the
//!   engine, which stores nothing.

use std::cell::RefCell;
use std::collections::HashMap;
use std::sync::Arc;

use bagwise_svm::{
    ChunkKernel, ChunkStart, Features, Form, Gram, LinearParams, Machine, SmoParams, SolveOutcome,
    StopReason, fit, fit_chunks, fit_linear, fit_with_faces,
};

use super::{Effort, TrainingRow};
use crate::families::width::Width;
use crate::method::Scope;
use crate::params::{Kind, ParamSpec, Point};
use bagwise_core::{Bags, Ctx, Error, Instances, Mat, Precision, Result};
use bagwise_engine::cells::Distance;
use bagwise_engine::rows::{Distances, GaussianRows, gaussians, inner_products, singles};
use bagwise_engine::{GramOutput, Side};

/// Which kernel.
pub(crate) const KERNEL: ParamSpec = ParamSpec::new(
    "kernel",
    Kind::Word(&["rbf", "linear"]),
    "rbf",
    "Instance kernel: rbf, exp(-gamma |x - z|^2), or linear, the inner product.",
);

/// The width, in fewer steps than where the kernel is cheap: machines are trained many times.
pub(crate) const WIDTH: ParamSpec =
    ParamSpec { grid: "0.125/median,0.5/median,2/median,8/median", ..crate::families::width::WIDTH }
        .only_with("kernel", &["rbf"]);

/// The cost.
pub(crate) const COST: ParamSpec = ParamSpec {
    help: "Cost of an error; a larger value fits the training instances more closely.",
    default: "1",
    grid: "0.1,1,10,100",
    ..crate::families::svm::COST
};

/// The largest Gram of all rows: 15,800 of them. Beyond, computing entries again is cheaper than the memory.
const GRAM_BYTES: u64 = 2_000_000_000;

/// Up to this many rows a linear machine is found on inner products (128 MB), which take less time than a few passes of
/// coordinate descent over as many rows.
const LINEAR_GRAM: usize = 4000;

/// Whether a linear machine on so many rows is found on inner products.
pub(crate) fn products_fit(rows: usize) -> bool {
    rows <= LINEAR_GRAM
}

/// Whether the kernel of a point is linear.
pub(crate) fn is_linear(point: &Point) -> bool {
    point.choice(KERNEL.name, &[("rbf", false), ("linear", true)]).unwrap_or(false)
}

pub(crate) fn gram_bytes(rows: usize) -> u64 {
    8 * (rows as u64).pow(2)
}

pub(crate) fn gram_fits(rows: usize) -> bool {
    gram_bytes(rows) <= GRAM_BYTES
}

/// Kernel values of rows.
pub(crate) enum Kernel {
    /// With the inner products of all rows, if these are few.
    Linear(Option<Arc<Mat>>),
    Gram {
        gamma: f64,
        gram: Mat,
    },
    Rows(GaussianRows),
    Direct {
        gamma: f64,
    },
}

/// A trained machine, before its bias is settled.
pub(crate) struct Solved {
    /// One per row, signed.
    pub(crate) coefficients: Vec<f64>,
    /// The output of each row without the bias.
    pub(crate) outputs: Vec<f64>,
    pub(crate) bias: f64,
    pub(crate) outcome: SolveOutcome,
    /// Weights of the columns, for a linear kernel.
    pub(crate) weights: Option<Vec<f64>>,
}

impl From<Machine> for Solved {
    fn from(machine: Machine) -> Solved {
        let Machine { coefficients, bias, training_outputs, outcome } = machine;
        let outputs = training_outputs.into_iter().map(|o| o - bias).collect();
        Solved { coefficients, outputs, bias, outcome, weights: None }
    }
}

/// The machine of the round before.
pub(crate) struct PreviousRound<'a> {
    pub(crate) rows: &'a [TrainingRow],
    pub(crate) solved: &'a Solved,
    /// By instance, without the bias; not a number where it is not known.
    pub(crate) outputs: &'a [f64],
}

impl PreviousRound<'_> {
    /// The coefficients of rows by their places; 0 for a row that is new there or has changed sides.
    fn inherited(&self, rows: &[TrainingRow]) -> Vec<f64> {
        let by_place: HashMap<usize, f64> =
            self.rows.iter().zip(&self.solved.coefficients).map(|(r, &b)| (r.place, b)).collect();
        rows.iter()
            .map(|r| by_place.get(&r.place).copied().filter(|b| b * r.y > 0.0).unwrap_or(0.0))
            .collect()
    }

    /// A feasible start near the inherited coefficients, and its outputs: those of the last machine, and one pass over
    /// the rows whose coefficients differ. Nothing if outputs are not known.
    fn start(
        &self,
        stock: &Instances,
        rows: &[TrainingRow],
        own: &Instances,
        mut coefficients: Vec<f64>,
        gamma: f64,
        ctx: &Ctx,
    ) -> Result<Option<ChunkStart>> {
        let before: Vec<f64> =
            rows.iter().map(|r| self.outputs.get(r.at).copied().unwrap_or(f64::NAN)).collect();
        if before.iter().any(|o| o.is_nan()) {
            return Ok(None);
        }
        // The heavier side gives up the coefficients of those who are furthest on their side and need them least.
        // (Scaling all of them would change every one, and each change costs a kernel row.)
        let mut excess: f64 = coefficients.iter().sum();
        let mut order: Vec<usize> = (0..rows.len()).filter(|&k| coefficients[k] * excess > 0.0).collect();
        order.sort_by(|&a, &b| {
            let margin = |k: usize| rows[k].y * before[k];
            margin(b).total_cmp(&margin(a)).then(a.cmp(&b))
        });
        for k in order {
            let given = if excess > 0.0 { coefficients[k].min(excess) } else { coefficients[k].max(excess) };
            coefficients[k] -= given;
            excess -= given;
            if excess == 0.0 {
                break;
            }
        }
        // If one side has nothing to give up, only rounding errors may be left: then start again.
        let size: f64 = coefficients.iter().map(|b| b.abs()).sum();
        if coefficients.iter().sum::<f64>().abs() > 1e-10 * size {
            return Ok(None);
        }
        // A row may have stood on both sides.
        let mut changes: HashMap<usize, f64> = HashMap::new();
        for (row, b) in self.rows.iter().zip(&self.solved.coefficients) {
            *changes.entry(row.at).or_insert(0.0) -= b;
        }
        for (row, b) in rows.iter().zip(&coefficients) {
            *changes.entry(row.at).or_insert(0.0) += b;
        }
        let mut changes: Vec<(usize, f64)> = changes.into_iter().filter(|(_, d)| *d != 0.0).collect();
        changes.sort_unstable_by_key(|c| c.0);
        let (at, by): (Vec<usize>, Vec<f64>) = changes.into_iter().unzip();
        let all: Vec<usize> = (0..rows.len()).collect();
        let kept = stock.gather(&at);
        let sums = weighted(own, &all, &kept, vec![by], gamma, Precision::F64, ctx)?.remove(0);
        let outputs = before.iter().zip(sums.data()).map(|(o, s)| o + s).collect();
        Ok(Some(ChunkStart { coefficients, outputs }))
    }
}

/// The kernels of points that differ in representation (no width: linear), over all rows of `stock`; `few` if machines are trained on a
/// small part of them.
pub(crate) fn prepare(
    points: &[Option<Width>],
    stock: &Instances,
    few: bool,
    bags: &Bags,
    scope: &Scope<'_>,
    ctx: &Ctx,
) -> Result<Vec<Kernel>> {
    let gaussian: Vec<Width> = points.iter().copied().flatten().collect();
    let wanted = Width::resolve(&gaussian, bags, bags.width(), Distance::Euclidean, scope)?;
    let rows = stock.rows();
    // Asked of one width: whether there is room must not depend on the others. (How many come at once is for those
    // to see to who divide a grid by `needs`.)
    let values = |widths: usize| gram_bytes(rows).saturating_mul(widths as u64 + u64::from(few));
    let roomy = gram_fits(rows) && values(1) <= ctx.memory;
    let distances = if few && roomy { Distances::new(stock)?.map(Arc::new) } else { None };
    if distances.is_some() {
        ctx.reserve(
            "kernel values of instances",
            values(wanted.len()),
            "raise the memory budget, or use fewer widths at a time",
        )?;
    }
    let mut matrices = match &distances {
        None if roomy && !wanted.is_empty() => gaussians(stock, &wanted, ctx)?,
        _ => Vec::new(),
    }
    .into_iter();
    let products = match points.contains(&None) && products_fit(rows) && gram_bytes(rows) <= ctx.memory {
        true => Some(Arc::new(inner_products(stock, ctx)?)),
        false => None,
    };
    let mut widths = wanted.into_iter();
    let mut kernel = |width: &Option<Width>| {
        let Some(gamma) = width.and_then(|_| widths.next()) else {
            return Kernel::Linear(products.clone());
        };
        match (&distances, matrices.next()) {
            (Some(distances), _) => Kernel::Rows(GaussianRows::new(distances.clone(), gamma)),
            (None, Some(gram)) => Kernel::Gram { gamma, gram },
            (None, None) => Kernel::Direct { gamma },
        }
    };
    Ok(points.iter().map(&mut kernel).collect())
}

impl Kernel {
    /// The width; 0 for a linear kernel.
    pub(crate) fn gamma(&self) -> f64 {
        match self {
            Kernel::Linear(_) => 0.0,
            Kernel::Gram { gamma, .. } | Kernel::Direct { gamma } => *gamma,
            Kernel::Rows(rows) => rows.gamma(),
        }
    }

    /// Makes the mean of a bag the mean of its kernel rows, where there is a Gram; a mean instance else.
    pub(crate) fn average_means(&mut self, bags: &Bags) {
        let Kernel::Gram { gram, .. } = self else { return };
        let n = bags.instance_count();
        for b in 0..bags.len() {
            let rows = bags.rows(b);
            // The means of bags before this one are among the columns.
            for j in 0..=n + b {
                let sum: f64 = rows.clone().map(|i| gram.get(i, j)).sum();
                gram.set(n + b, j, sum / rows.len() as f64);
                gram.set(j, n + b, sum / rows.len() as f64);
            }
        }
    }

    /// Whether the mean of a bag is the mean of its kernel rows, if requested.
    pub(crate) fn has_averages(&self) -> bool {
        matches!(self, Kernel::Gram { .. })
    }

    /// Whether every training takes much memory of its own.
    pub(crate) fn is_heavy(&self) -> bool {
        matches!(self, Kernel::Direct { .. })
    }

    /// Trains a machine on some rows, from the coefficients of a similar one if there is one.
    pub(crate) fn solve(
        &self,
        stock: &Instances,
        rows: &[TrainingRow],
        bounds: &[f64],
        last: Option<&PreviousRound<'_>>,
        effort: Effort,
        ctx: &Ctx,
    ) -> Result<Solved> {
        let at: Vec<usize> = rows.iter().map(|r| r.at).collect();
        let labels: Vec<f64> = rows.iter().map(|r| r.y).collect();
        let form = Form::Classify { labels: &labels };
        let inherited: Option<Vec<f64>> = last.map(|last| last.inherited(rows));
        let start = inherited.as_deref();
        let cancel = ctx.canceller();
        let params = SmoParams { tolerance: effort.tolerance, cancel: Some(&cancel), ..SmoParams::default() };
        let solved: Solved = match self {
            Kernel::Linear(Some(products)) => {
                let kernel = Gram::new(products.data(), products.cols(), &at);
                let solved: Solved = fit_with_faces(&kernel, form, bounds, start, &params).into();
                Solved { weights: Some(combined(stock, &at, &solved.coefficients)?), ..solved }
            }
            Kernel::Linear(None) => {
                let params = LinearParams {
                    tolerance: effort.tolerance,
                    cancel: Some(&cancel),
                    ..LinearParams::default()
                };
                linear(&stock.gather(&at), form, bounds, start, &params)
            }
            Kernel::Gram { gram, .. } => {
                fit(&Gram::new(gram.data(), gram.cols(), &at), form, bounds, start, &params).into()
            }
            Kernel::Rows(rows) => {
                let gram = square(&rows.rows(stock, &at, ctx)?, &at);
                let all: Vec<usize> = (0..at.len()).collect();
                fit(&Gram::new(gram.data(), gram.cols(), &all), form, bounds, start, &params).into()
            }
            Kernel::Direct { gamma } => {
                let own = stock.gather(&at);
                // Room for the Gram beside what is prepared.
                if gram_bytes(at.len()) <= ctx.memory / 8 {
                    let gram = gaussians(&own, &[*gamma], ctx)?.remove(0);
                    let all: Vec<usize> = (0..at.len()).collect();
                    fit(&Gram::new(gram.data(), gram.cols(), &all), form, bounds, start, &params).into()
                } else {
                    let start = match (last, inherited) {
                        (Some(last), Some(inherited)) => {
                            last.start(stock, rows, &own, inherited, *gamma, ctx)?
                        }
                        _ => None,
                    };
                    let kernel = Chunked { rows: &own, gamma: *gamma, failure: RefCell::new(None), ctx };
                    let machine = fit_chunks(&kernel, form, bounds, start, chunk(ctx.memory), &params);
                    if let Some(failure) = kernel.failure.into_inner() {
                        return Err(failure);
                    }
                    machine.into()
                }
            }
        };
        if solved.outcome.status == StopReason::Cancelled {
            return Err(Error::Cancelled);
        }
        Ok(solved)
    }

    /// Writes the outputs, without the bias, of the instances `asked`; others may be written as well.
    pub(crate) fn outputs(
        &self,
        stock: &Instances,
        rows: &[TrainingRow],
        solved: &Solved,
        asked: &[usize],
        out: &mut [f64],
        ctx: &Ctx,
    ) -> Result<()> {
        if let (Kernel::Linear(_), Some(weights)) = (self, &solved.weights) {
            let mut row = vec![0.0; stock.cols()];
            for &i in asked {
                stock.row_into(i, &mut row)?;
                out[i] = row.iter().zip(weights).map(|(x, w)| x * w).sum();
            }
            return Ok(());
        }
        let mut known = vec![false; out.len()];
        for (row, &output) in rows.iter().zip(&solved.outputs) {
            // Means of bags are no instances.
            if row.at < known.len() {
                out[row.at] = output;
                known[row.at] = true;
            }
        }
        let missing: Vec<usize> = asked.iter().copied().filter(|&i| !known[i]).collect();
        if missing.is_empty() {
            return Ok(());
        }
        let support: Vec<(usize, f64)> = rows
            .iter()
            .zip(&solved.coefficients)
            .filter(|(_, b)| **b != 0.0)
            .map(|(r, &b)| (r.at, b))
            .collect();
        let (at, weights): (Vec<usize>, Vec<f64>) = support.into_iter().unzip();
        match self {
            Kernel::Gram { gram, .. } => {
                combine(&at.iter().map(|&i| gram.row(i)).collect::<Vec<_>>(), &weights, out)
            }
            Kernel::Rows(rows) => combine(&rows.rows(stock, &at, ctx)?, &weights, out),
            _ => {
                let values = weighted(
                    stock,
                    &missing,
                    &stock.gather(&at),
                    vec![weights],
                    self.gamma(),
                    ctx.precision,
                    ctx,
                )?;
                missing.iter().zip(values[0].data()).for_each(|(&i, &v)| out[i] = v);
            }
        }
        Ok(())
    }
}

impl Kernel {
    /// For each row, the sum of its kernel values with all of `rows`, weighted.
    pub(crate) fn sums(
        &self,
        stock: &Instances,
        rows: &[TrainingRow],
        weights: &[f64],
        ctx: &Ctx,
    ) -> Result<Vec<f64>> {
        let at: Vec<usize> = rows.iter().map(|r| r.at).collect();
        match self {
            Kernel::Gram { gram, .. } => {
                let sum = |i: &usize| at.iter().zip(weights).map(|(&j, w)| w * gram.get(*i, j)).sum();
                Ok(at.iter().map(sum).collect())
            }
            Kernel::Rows(rows) => {
                let sum = |row: &[f64]| at.iter().zip(weights).map(|(&j, w)| w * row[j]).sum();
                Ok(rows.rows(stock, &at, ctx)?.into_iter().map(sum).collect())
            }
            Kernel::Direct { gamma } => {
                let kept = stock.gather(&at);
                let weights = vec![weights.to_vec()];
                Ok(weighted(stock, &at, &kept, weights, *gamma, Precision::F64, ctx)?.remove(0).into_data())
            }
            Kernel::Linear(_) => {
                let sum = combined(stock, &at, weights)?;
                let mut row = vec![0.0; stock.cols()];
                let mut product = |&i: &usize| {
                    stock.row_into(i, &mut row)?;
                    Ok(row.iter().zip(&sum).map(|(x, s)| x * s).sum())
                };
                at.iter().map(&mut product).collect()
            }
        }
    }
}

/// `sum_k b_k row_k` of the rows themselves.
fn combined(stock: &Instances, at: &[usize], weights: &[f64]) -> Result<Vec<f64>> {
    let (mut row, mut sum) = (vec![0.0; stock.cols()], vec![0.0; stock.cols()]);
    for (&i, w) in at.iter().zip(weights).filter(|(_, w)| **w != 0.0) {
        stock.row_into(i, &mut row)?;
        sum.iter_mut().zip(&row).for_each(|(s, x)| *s += w * x);
    }
    Ok(sum)
}

/// What some rows say of each other.
fn square(rows: &[&[f64]], at: &[usize]) -> Mat {
    let data = rows.iter().flat_map(|row| at.iter().map(|&j| row[j])).collect();
    Mat::new(rows.len(), at.len(), data)
}

/// `out = sum_k b_k row_k`, over as many columns as `out` has.
fn combine(rows: &[&[f64]], weights: &[f64], out: &mut [f64]) {
    // Columns that stay in the first-level cache while the rows pass by, four rows at a time.
    const COLUMNS: usize = 1024;
    for (c, out) in out.chunks_mut(COLUMNS).enumerate() {
        out.fill(0.0);
        let columns = c * COLUMNS..c * COLUMNS + out.len();
        let mut fours = rows.chunks_exact(4).zip(weights.chunks_exact(4));
        for (four, weights) in &mut fours {
            let [r0, r1, r2, r3] = [0, 1, 2, 3].map(|k: usize| &four[k][columns.clone()]);
            let [b0, b1, b2, b3] = [0, 1, 2, 3].map(|k: usize| weights[k]);
            for i in 0..out.len() {
                out[i] += (b0 * r0[i] + b1 * r1[i]) + (b2 * r2[i] + b3 * r3[i]);
            }
        }
        let rest = rows.len() / 4 * 4;
        for (row, b) in rows[rest..].iter().zip(&weights[rest..]) {
            for (o, k) in out.iter_mut().zip(&row[columns.clone()]) {
                *o += b * k;
            }
        }
    }
}

/// For each vector of weights and each of `asked`, the weighted sum of its kernel values with the rows `kept`:
/// one column per vector of weights.
pub(crate) fn weighted(
    stock: &Instances,
    asked: &[usize],
    kept: &Instances,
    weights: Vec<Vec<f64>>,
    gamma: f64,
    precision: Precision,
    ctx: &Ctx,
) -> Result<Vec<Mat>> {
    if kept.rows() == 0 {
        return Ok(weights.iter().map(|_| Mat::zeros(asked.len(), 1)).collect());
    }
    let gathered;
    let all = asked.len() == stock.rows() && asked.iter().enumerate().all(|(i, &a)| i == a);
    let instances = if all {
        stock
    } else {
        gathered = stock.gather(asked);
        &gathered
    };
    let (offsets, _) = singles(asked.len());
    let ones = vec![vec![1.0; asked.len()]; weights.len()];
    let new = Side { instances, offsets: &offsets, weights: &ones };
    let whole = [0, kept.rows()];
    let kept = Side { instances: kept, offsets: &whole, weights: &weights };
    let outputs: Vec<GramOutput> = (0..weights.len()).map(|k| GramOutput { gamma, terms: vec![k] }).collect();
    bagwise_engine::rectangular(&new, &kept, &outputs, precision, ctx)
}

fn linear(
    rows: &Instances,
    form: Form<'_>,
    bounds: &[f64],
    start: Option<&[f64]>,
    params: &LinearParams<'_>,
) -> Solved {
    let wide;
    let features = match rows {
        Instances::F64(m) => Features::Dense { values: m.data(), columns: m.cols() },
        Instances::F32(m) => {
            wide = m.data().iter().map(|&v| f64::from(v)).collect::<Vec<f64>>();
            Features::Dense { values: &wide, columns: m.cols() }
        }
        Instances::Sparse(m) => Features::Sparse {
            starts: m.indptr(),
            indices: m.indices(),
            values: m.values(),
            columns: m.cols(),
        },
        Instances::Stored(_) => unreachable!("`prepare` brings instances into memory"),
    };
    let machine = fit_linear(&features, form, bounds, start, params);
    let outputs = machine.training_outputs.iter().map(|o| o - machine.bias).collect();
    Solved {
        coefficients: machine.coefficients,
        outputs,
        bias: machine.bias,
        outcome: machine.outcome,
        weights: Some(machine.weights),
    }
}

/// Rows that are trained on together, see `fit_chunks`: enough for its products, few enough that rows learn of each
/// other's moves; and such that the Gram of its largest chunks, four times this, takes a quarter of the budget.
fn chunk(memory: u64) -> usize {
    const MOST: usize = 2048;
    let rows = (memory as f64 / 32.0).sqrt() as usize;
    (rows / 4).clamp(2, MOST)
}

/// Kernel values for the solver that works in chunks.
struct Chunked<'a> {
    rows: &'a Instances,
    gamma: f64,
    /// Why nothing came back.
    failure: RefCell<Option<Error>>,
    ctx: &'a Ctx,
}

impl Chunked<'_> {
    fn note<T>(&self, result: Result<T>) -> Option<T> {
        result.map_err(|e| *self.failure.borrow_mut() = Some(e)).ok()
    }
}

impl ChunkKernel for Chunked<'_> {
    fn len(&self) -> usize {
        self.rows.rows()
    }

    fn gram(&self, which: &[usize]) -> Option<Vec<f64>> {
        Some(self.note(gaussians(&self.rows.gather(which), &[self.gamma], self.ctx))?.remove(0).into_data())
    }

    fn sums(&self, which: &[usize], weights: &[f64], at: &[usize]) -> Option<Vec<f64>> {
        let kept = self.rows.gather(which);
        // Gradients gather what every step adds, and with it every error.
        let precision = Precision::F64;
        let sums = weighted(self.rows, at, &kept, vec![weights.to_vec()], self.gamma, precision, self.ctx);
        Some(self.note(sums)?.remove(0).into_data())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use bagwise_core::Rng;

    #[test]
    fn a_linear_machine_is_the_same_on_inner_products_and_on_rows() {
        let mut rng = Rng::new(5, "linear", &[]);
        let (n, width) = (120, 30);
        let stock = Instances::F64(Mat::new(n, width, (0..n * width).map(|_| rng.normal()).collect()));
        let rows: Vec<TrainingRow> = (0..n)
            .map(|at| TrainingRow {
                at,
                y: if rng.uniform() < 0.4 { 1.0 } else { -1.0 },
                bag: at,
                place: at,
                factor: 1.0,
            })
            .collect();
        let ctx = Ctx::default();
        let products = Kernel::Linear(Some(Arc::new(inner_products(&stock, &ctx).unwrap())));
        for cost in [0.01, 1.0, 100.0] {
            let solve = |kernel: &Kernel| {
                let effort = Effort { tolerance: 1e-3 };
                kernel.solve(&stock, &rows, &vec![cost; n], None, effort, &ctx).unwrap()
            };
            let (on_products, on_rows) = (solve(&products), solve(&Kernel::Linear(None)));
            // Each is within its duality gap of the same optimum.
            let apart = (on_products.outcome.objective - on_rows.outcome.objective).abs();
            let gaps = on_products.outcome.duality_gap + on_rows.outcome.duality_gap;
            assert!(apart <= gaps, "{cost}: {apart} and {gaps}");
            // No violation above the tolerance: none of the rows can add more than its cost times that.
            let gap = on_products.outcome.duality_gap;
            assert!(gap < 1e-3 * n as f64 * cost.max(1.0), "{cost}: {gap}");
            let (mut out, asked) = (vec![0.0; n], (0..n).collect::<Vec<usize>>());
            products.outputs(&stock, &rows, &on_products, &asked, &mut out, &ctx).unwrap();
            for (by_weights, by_kernel) in out.iter().zip(&on_products.outputs) {
                // The solver's own outputs drift by a tenth of its tolerance at most.
                assert!((by_weights - by_kernel).abs() < 2e-4, "{by_weights} and {by_kernel}");
            }
        }
    }
}
