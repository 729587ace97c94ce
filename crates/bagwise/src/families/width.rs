//! The width of a Gaussian: as a number, or relative to the training instances.

use crate::method::{Scope, pair_work};
use crate::params::{Grid, Kind, ParamSpec, Point, Value, index_in};
use crate::preprocess::median;
use bagwise_core::{Bags, Error, Result, Rng};
use bagwise_engine::cells::Distance;

/// The width of the Gaussian.
pub(crate) const WIDTH: ParamSpec = ParamSpec::new(
    "gamma",
    Kind::Width,
    "1/median",
    "Gamma of the Gaussian kernel exp(-gamma |x - z|^2); a larger \
        gamma means a narrower kernel.",
)
.grid("2^-5..2^5/median");

/// The same kernel by the length `sigma`, with `gamma = 1 / (2 sigma^2)`.
pub(crate) const SIGMA: ParamSpec = ParamSpec::new(
    "sigma",
    Kind::Length,
    "1*median",
    "Width of the Gaussian kernel exp(-|x - z|^2 / (2 sigma^2)).",
)
.grid("0.25*median,0.5*median,1*median,2*median");

/// For each point, the first that differs from it in nothing, or in nothing but a width that neither looks at.
pub(crate) fn twins(points: &[Point], ignores_width: impl Fn(&Point) -> bool) -> Vec<usize> {
    let ignores: Vec<bool> = points.iter().map(ignores_width).collect();
    let rest = |p: usize| points[p].iter().filter(|(name, _)| *name != WIDTH.name && *name != SIGMA.name);
    let alike = |p: usize, q: usize| ignores[p] && ignores[q] && rest(p).eq(rest(q));
    (0..points.len()).map(|p| (0..p).find(|&q| alike(p, q)).unwrap_or(p)).collect()
}

/// A width as a point gives it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Width {
    Gamma(f64),
    GammaOverMedian(f64),
    GammaOverAttributes(f64),
    Sigma(f64),
    SigmaTimesMedian(f64),
}

impl Width {
    /// By [`WIDTH`], or by [`SIGMA`] where the table has that.
    pub(crate) fn read(point: &Point) -> Result<Width> {
        let by_sigma = point.has(SIGMA.name);
        let value = point.get(if by_sigma { SIGMA.name } else { WIDTH.name })?;
        match (value, by_sigma) {
            (Value::Number(gamma), false) => Ok(Width::Gamma(*gamma)),
            (Value::OverMedian(n), false) => Ok(Width::GammaOverMedian(*n)),
            (Value::OverWidth(n), false) => Ok(Width::GammaOverAttributes(*n)),
            (Value::Number(sigma), true) => Ok(Width::Sigma(*sigma)),
            (Value::TimesMedian(n), true) => Ok(Width::SigmaTimesMedian(*n)),
            (other, _) => Err(Error::Invalid(format!("{other} is not a width"))),
        }
    }

    /// Widths in numbers for bags, or vectors made from bags, that had this many attributes, in units of this distance.
    pub(crate) fn resolve(
        widths: &[Width],
        bags: &Bags,
        attributes: usize,
        distance: Distance,
        scope: &Scope<'_>,
    ) -> Result<Vec<f64>> {
        let relative =
            |width: &Width| matches!(width, Width::GammaOverMedian(_) | Width::SigmaTimesMedian(_));
        let median = match widths.iter().any(relative) {
            true => median_squared_distance(bags, scope.train, distance)?,
            false => 1.0,
        };
        Ok(widths.iter().map(|width| width.number(median, attributes)).collect())
    }

    /// A width as a number, where the median of what it scales and the number of attributes are known.
    pub(crate) fn number(self, median: f64, attributes: usize) -> f64 {
        // The smallest and largest widths that are still numbers, so that any sigma above 0 is possible.
        let clamp = |gamma: f64| gamma.clamp(f64::MIN_POSITIVE, f64::MAX);
        match self {
            Width::Gamma(gamma) => gamma,
            Width::GammaOverMedian(n) => n / median,
            Width::GammaOverAttributes(n) => n / attributes as f64,
            Width::Sigma(sigma) => clamp(0.5 / (sigma * sigma)),
            Width::SigmaTimesMedian(n) => clamp(0.5 / (n * n * median)),
        }
    }
}

/// Up to this many training instances every pair counts towards the median: some half a million, whose distances take a
/// fraction of a second.
const EXACT: usize = 1000;
/// And up to this many differences of attributes: a second's work.
const EXACT_DIFFERENCES: usize = 1_000_000_000;
/// Pairs that are drawn of more. Their median has a relative standard error of one to two per cent, far below the factor 2
/// between neighbouring widths of a grid.
const PAIRS: usize = 5000;

/// Whether the median is that of all pairs of so many rows.
fn takes_all_pairs(rows: usize, width: usize) -> bool {
    let differences = || (rows * rows.saturating_sub(1) / 2).saturating_mul(width);
    rows <= EXACT && differences() <= EXACT_DIFFERENCES
}

/// The median squared distance of pairs of training instances; their mean, then 1, where the median is 0. Of many instances
/// pairs are drawn by a stream that knows their number and nothing else: the same bags have the same median, whatever the seed.
fn median_squared_distance(bags: &Bags, train: &[usize], distance: Distance) -> Result<f64> {
    let rows: Vec<usize> = train.iter().flat_map(|&b| bags.rows(b)).collect();
    if rows.len() < 2 {
        return Ok(1.0);
    }
    let (mut x, mut z) = (vec![0.0; bags.width()], vec![0.0; bags.width()]);
    let mut squared = Vec::new();
    if takes_all_pairs(rows.len(), bags.width()) {
        for (i, &a) in rows.iter().enumerate() {
            bags.instances().row_into(a, &mut x)?;
            for &b in &rows[..i] {
                bags.instances().row_into(b, &mut z)?;
                squared.push(distance.squared(&x, &z));
            }
        }
    } else {
        let mut rng = Rng::new(0, "median", &[rows.len() as u64]);
        for _ in 0..PAIRS {
            let a = rng.below(rows.len());
            let b = (a + 1 + rng.below(rows.len() - 1)) % rows.len();
            bags.instances().row_into(rows[a], &mut x)?;
            bags.instances().row_into(rows[b], &mut z)?;
            squared.push(distance.squared(&x, &z));
        }
    }
    Ok(usual(squared))
}

/// The median of some distances; their mean, then 1, where the median is 0.
pub(crate) fn usual(mut distances: Vec<f64>) -> f64 {
    // Sorted first, so that neither depends on the order of bags.
    let middle = median(&mut distances).unwrap_or(0.0);
    let mean = distances.iter().sum::<f64>() / distances.len() as f64;
    [middle, mean].into_iter().find(|&v| v > 0.0).unwrap_or(1.0)
}

/// Operations of one pass of the pairs engine: products, an exponential for each width, and the median distance.
pub(crate) fn pass(bags: &Bags, widths: usize) -> f64 {
    let n = bags.instance_count() as f64;
    // Differences one by one, then sorted.
    let exact = takes_all_pairs(bags.instance_count(), bags.width());
    let pairs = if exact { n * n / 2.0 } else { PAIRS as f64 };
    n * n / 2.0 * pair_work(bags, widths) + pairs * (8.0 * bags.width() as f64 + 100.0)
}

/// How many representations of a grid a pass over pairs takes time for: one for each width, since points that differ in other
/// things share the exponentials. Points without widths share nothing.
pub(crate) fn costly_representations(grid: &Grid) -> usize {
    let mut widths: Vec<Width> = Vec::new();
    for width in grid.points.iter().filter_map(|p| Width::read(p).ok()) {
        index_in(&mut widths, width, |a, b| a == b);
    }
    if widths.is_empty() { grid.groups.len() } else { widths.len() }
}
