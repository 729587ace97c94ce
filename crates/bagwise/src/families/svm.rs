//! What every method that ends in a support vector machine on bags shares: its parameters and its solve.

use bagwise_svm::{
    Features, Form, Gram, LinearMachine, LinearParams, Machine, SmoParams, StopReason, fit_linear_path,
    fit_path,
};

use crate::method::Training;
use crate::params::{Kind, ParamSpec, Point};
use bagwise_core::{Ctx, Error, Mat, Result};

/// The cost of an error.
pub(crate) const COST: ParamSpec = ParamSpec::new(
    "c",
    Kind::Number { above: 0.0 },
    "100",
    "Cost of an error; a larger value fits the training bags more closely.",
)
.grid("1,10,100")
.solver();

/// The width within which errors are free.
pub(crate) const TUBE: ParamSpec = ParamSpec::new(
    "tube",
    Kind::Number { above: 0.0 },
    "0.01",
    "Epsilon of support vector regression: errors up to this size, in units of the target, cost nothing.",
)
.solver()
.for_values();

/// What a point asks of its machine.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct SvmParams {
    pub(crate) cost: f64,
    /// 0 for classes.
    pub(crate) tube: f64,
}

impl SvmParams {
    pub(crate) fn read(point: &Point) -> Result<SvmParams> {
        let tube = if point.has(TUBE.name) { point.number(TUBE.name)? } else { 0.0 };
        Ok(SvmParams { cost: point.number(COST.name)?, tube })
    }
}

/// One machine per point on one Gram; costs are solved as a path, each from the solution of the one before.
pub(crate) fn solve(
    gram: &Mat,
    points: &[SvmParams],
    training: &Training<'_>,
    ctx: &Ctx,
) -> Result<Vec<Machine>> {
    let kernel = Gram::new(gram.data(), gram.cols(), training.bags);
    let cancel = ctx.canceller();
    let params = SmoParams { tolerance: tolerance(training), cancel: Some(&cancel), ..SmoParams::default() };
    let path = |form: Form<'_>, costs: &[f64]| fit_path(&kernel, form, training.weights, costs, &params);
    along_paths(points, training, ctx, path, |machine| machine.outcome.status)
}

/// Rows from which on a small duality gap is enough: the worst of so many says little about the machine.
const MANY_ROWS: usize = 10_000;

/// The same machines on explicit features, a row for each of `training.bags`, without a Gram.
pub(crate) fn solve_linear(
    features: &Features<'_>,
    points: &[SvmParams],
    training: &Training<'_>,
    ctx: &Ctx,
) -> Result<Vec<LinearMachine>> {
    let cancel = ctx.canceller();
    let params = LinearParams {
        tolerance: tolerance(training),
        relative_gap: if training.bags.len() < MANY_ROWS { 0.0 } else { 1e-5 },
        cancel: Some(&cancel),
        ..LinearParams::default()
    };
    let path =
        |form: Form<'_>, costs: &[f64]| fit_linear_path(features, form, training.weights, costs, &params);
    along_paths(points, training, ctx, path, |machine| machine.outcome.status)
}

/// LIBSVM's tolerance, the one of the published experiments; for real values in units of their spread, because
/// the stopping rule is in units of the target.
fn tolerance(training: &Training<'_>) -> f64 {
    1e-3 * if training.regression { spread(training.y) } else { 1.0 }
}

/// An error if a cost times the weight of a bag is beyond all numbers.
pub(crate) fn check_costs(costs: impl IntoIterator<Item = f64>, training: &Training<'_>) -> Result<()> {
    let heaviest = training.weights.iter().copied().fold(0.0, f64::max);
    match costs.into_iter().find(|c| !(c * heaviest).is_finite()) {
        Some(c) => Err(too_costly(c)),
        None => Ok(()),
    }
}

/// The error of a cost that its factors make infinite. As a power: 308 digits say nothing.
pub(crate) fn too_costly(c: f64) -> Error {
    Error::Invalid(format!("c={c:e} times the weight of a bag is not a finite number; use a smaller c"))
}

/// Solves the points tube by tube, each a path of costs.
fn along_paths<M>(
    points: &[SvmParams],
    training: &Training<'_>,
    ctx: &Ctx,
    path: impl Fn(Form<'_>, &[f64]) -> Vec<M>,
    status: impl Fn(&M) -> StopReason,
) -> Result<Vec<M>> {
    ctx.check()?;
    check_costs(points.iter().map(|p| p.cost), training)?;
    let mut machines: Vec<Option<M>> = points.iter().map(|_| None).collect();
    let mut tubes: Vec<f64> = points.iter().map(|p| p.tube).collect();
    tubes.sort_by(f64::total_cmp);
    tubes.dedup();
    for tube in tubes {
        let here: Vec<usize> = (0..points.len()).filter(|&i| points[i].tube == tube).collect();
        let costs: Vec<f64> = here.iter().map(|&i| points[i].cost).collect();
        let form = if training.regression {
            Form::Regress { targets: training.y, tube }
        } else {
            Form::Classify { labels: training.y }
        };
        for (i, machine) in here.into_iter().zip(path(form, &costs)) {
            if status(&machine) == StopReason::Cancelled {
                return Err(Error::Cancelled);
            }
            machines[i] = Some(machine);
        }
    }
    Ok(machines.into_iter().map(|m| m.expect("every point has a tube")).collect())
}

/// The standard deviation, or 1 where there is none.
fn spread(values: &[f64]) -> f64 {
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    let sd = (values.iter().map(|v| (v - mean) * (v - mean)).sum::<f64>() / n).sqrt();
    if sd > 0.0 { sd } else { 1.0 }
}
