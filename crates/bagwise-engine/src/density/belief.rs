//! How much each concept is believed, P(h | D), given the bags it was found in; and how near instances are to them.
//!
//! By density: a softmax of the log densities. By accuracy: in proportion to the bags it gets right, `max u >= 1/2`
//! meaning positive. For real values: in proportion to the extended density `prod (1 - |y - max u|)`, or to how
//! much its squared error lies below the largest. Kwok, Cheung: Marginalized multi-instance kernels, IJCAI 2007,
//! equations 6, 11 and 17.

use std::sync::Mutex;

use super::batch::distances;
use super::likelihood::BagTarget;
use super::{Concept, Evidence};
use bagwise_core::{Ctx, Mat, Message, Result, Setting};

/// A factor of the extended density is at least this.
const LEAST: f64 = 1e-300;

/// In proportion to the density.
pub fn by_density(log_densities: &[f64]) -> Vec<f64> {
    let most = log_densities.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    normalised(log_densities.iter().map(|f| (f - most).exp()).collect())
}

/// In proportion to the number of bags that are classified correctly.
pub fn by_accuracy(nearest: &Mat, targets: &[BagTarget]) -> Vec<f64> {
    normalised(correct(nearest, targets).into_iter().map(|right| right as f64).collect())
}

/// The number of bags that each concept classifies correctly.
pub fn correct(nearest: &Mat, targets: &[BagTarget]) -> Vec<usize> {
    let right = |h: usize| {
        let hit = |(b, t): (usize, &BagTarget)| (nearest.get(b, h) >= 0.5) == (*t == BagTarget::Positive);
        targets.iter().enumerate().filter(|(b, t)| hit((*b, t))).count()
    };
    (0..nearest.cols()).map(right).collect()
}

/// In proportion to the extended density of real values.
pub fn by_extended_density(nearest: &Mat, values: &[f64]) -> Vec<f64> {
    by_density(&extended_log_densities(nearest, values))
}

/// The logarithm of the extended density of each concept.
pub fn extended_log_densities(nearest: &Mat, values: &[f64]) -> Vec<f64> {
    let log = |h: usize| {
        let factor = |(b, y): (usize, &f64)| (1.0 - (y - nearest.get(b, h)).abs()).max(LEAST).ln();
        values.iter().enumerate().map(factor).sum()
    };
    (0..nearest.cols()).map(log).collect()
}

/// By squared error: the worst has none, all the same where all are equally good.
pub fn by_error(nearest: &Mat, values: &[f64]) -> Vec<f64> {
    let errors = squared_errors(nearest, values);
    let most = errors.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let least = errors.iter().copied().fold(f64::INFINITY, f64::min);
    if most <= least {
        return normalised(vec![1.0; errors.len()]);
    }
    normalised(errors.iter().map(|e| 1.0 - (e - least) / (most - least)).collect())
}

/// The squared error of each concept over all bags.
pub fn squared_errors(nearest: &Mat, values: &[f64]) -> Vec<f64> {
    let error = |h: usize| values.iter().enumerate().map(|(b, y)| (y - nearest.get(b, h)).powi(2)).sum();
    (0..nearest.cols()).map(error).collect()
}

/// Sums to 1; all the same where everything is 0.
fn normalised(mut belief: Vec<f64>) -> Vec<f64> {
    let total: f64 = belief.iter().sum();
    let even = 1.0 / belief.len() as f64;
    belief.iter_mut().for_each(|b| *b = if total > 0.0 { *b / total } else { even });
    belief
}

/// `max u` of every bag (rows) for every concept (columns).
pub fn nearest_of_bags(evidence: &Evidence, concepts: &[Concept], ctx: &Ctx) -> Result<Mat> {
    let near = near(evidence.instances(), concepts, ctx)?;
    let mut out: Mat = Mat::zeros(evidence.targets().len(), concepts.len());
    for (b, w) in evidence.offsets().windows(2).enumerate() {
        for row in w[0]..w[1] {
            out.row_mut(b).iter_mut().zip(near.row(row)).for_each(|(most, u)| *most = most.max(*u));
        }
    }
    Ok(out)
}

/// `u` of every instance (rows) for every concept (columns).
pub fn near(instances: &Mat, concepts: &[Concept], ctx: &Ctx) -> Result<Mat> {
    map_near(instances, concepts, concepts.len(), ctx, |near, out| out.copy_from_slice(near))
}

/// The squared distance of every instance (rows) to every concept (columns).
pub fn distances_of(instances: &Mat, concepts: &[Concept], ctx: &Ctx) -> Result<Mat> {
    map_distances(instances, concepts, concepts.len(), ctx, |distances, out| out.copy_from_slice(distances))
}

/// For every instance some `terms` numbers made of its `u` for all concepts.
pub fn map_near(
    instances: &Mat,
    concepts: &[Concept],
    terms: usize,
    ctx: &Ctx,
    of: impl Fn(&[f64], &mut [f64]) + Sync,
) -> Result<Mat> {
    map_distances(instances, concepts, terms, ctx, |distances, out| {
        let near: Vec<f64> = distances.iter().map(|d| (-d).exp()).collect();
        of(&near, out);
    })
}

fn map_distances(
    instances: &Mat,
    concepts: &[Concept],
    terms: usize,
    ctx: &Ctx,
    of: impl Fn(&[f64], &mut [f64]) + Sync,
) -> Result<Mat> {
    ctx.reserve(
        "what instances are to concepts",
        8 * (instances.rows() * terms) as u64,
        Message::more_memory().or("search from fewer starts").with([Setting::Parameter("starts", "200")]),
    )?;
    let mut out = Mat::zeros(instances.rows(), terms);
    if concepts.is_empty() {
        (0..instances.rows()).for_each(|i| of(&[], out.row_mut(i)));
        return Ok(out);
    }
    let shared = Mutex::new(out);
    distances(instances, concepts, ctx, |rows, distances| {
        let mut piece = vec![0.0; rows.len() * terms];
        for (distances, out) in distances.chunks_exact(concepts.len()).zip(piece.chunks_exact_mut(terms)) {
            of(distances, out);
        }
        let mut out = shared.lock().expect("no thread panics with it");
        out.data_mut()[rows.start * terms..rows.end * terms].copy_from_slice(&piece);
    })?;
    Ok(shared.into_inner().expect("no thread panics with it"))
}
