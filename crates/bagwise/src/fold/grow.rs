//! Grids that go on where they would end too early. If the best point stands at an end of a default list and is strictly
//! better than its neighbour, up to three values beyond the end are tried by the same inner folds, so that nothing but the
//! training part decides. A value is taken only if it is strictly better than the one before it: new points rank last among
//! equals. Lists that the user gave do not grow.

use super::TrainingTask;
use crate::params::Point;
use bagwise_core::{Ctx, Mat, Result};
use bagwise_judge::{Fold, Metric};

/// What was found beyond the ends of a grid.
pub(super) struct Growth {
    /// The parameters whose lists were continued.
    pub(super) tried: Vec<String>,
    /// A point that is better than all of the grid.
    pub(super) better: Option<GrownPoint>,
}

/// A point beyond an end.
pub(super) struct GrownPoint {
    pub(super) point: Point,
    pub(super) value: f64,
    pub(super) out_of_fold: Mat,
    /// The parameter that still got better when its new values were used up.
    pub(super) still_rising: Option<String>,
}

impl TrainingTask<'_> {
    /// Tries what lies beyond the ends at which the best point of the grid stands; `judge` gives the value of out-of-fold
    /// outputs. Nothing is tried where the grid does not grow.
    pub(super) fn grow(
        &self,
        (best, values): (usize, &[Option<f64>]),
        by_fold: bool,
        (train, inner, metric): (&[usize], &[Fold], Metric),
        judge: impl Fn(&Mat) -> Result<Option<f64>>,
        ctx: &Ctx,
    ) -> Result<Growth> {
        let nothing = Growth { tried: Vec::new(), better: None };
        let Some(value) = values[best] else { return Ok(nothing) };
        let method = self.setup.method;
        let beats = |other: usize| values[other].is_some_and(|v| metric.better(value, v));
        let mut lines = self.setup.grid.beyond(method.info().name, method.params(), best, beats);
        let folds = if by_fold { inner } else { &[] };
        for (_, points) in &mut lines {
            let without_meaning = points.iter().position(|p| !self.admits(p, train, folds));
            points.truncate(without_meaning.unwrap_or(points.len()));
        }
        lines.retain(|(_, points)| !points.is_empty());
        if lines.is_empty() {
            return Ok(nothing);
        }
        let points: Vec<Point> = lines.iter().flat_map(|(_, points)| points.iter().cloned()).collect();
        let together = self.together(&self.bags.select(train), ctx);
        let mut outputs = Vec::with_capacity(points.len());
        for some in points.chunks(together) {
            ctx.check()?;
            outputs.extend(match by_fold {
                true => self.cross_fit_by_fold(some, train, inner, None, ctx)?,
                false => self.cross_fit(&self.frame(train, some, ctx)?, train, inner, None, ctx)?,
            });
        }
        let found = outputs.iter().map(judge).collect::<Result<Vec<Option<f64>>>>()?;
        let mut better: Option<(usize, f64, Option<String>)> = None;
        let mut first = 0;
        for (name, own) in &lines {
            // As far as every step is better than the one before.
            let (mut here, mut steps) = (value, 0);
            for next in &found[first..first + own.len()] {
                match next {
                    Some(next) if metric.better(*next, here) => (here, steps) = (*next, steps + 1),
                    _ => break,
                }
            }
            let known = better.as_ref().map_or(value, |(_, value, _)| *value);
            if steps > 0 && metric.better(here, known) {
                better = Some((first + steps - 1, here, (steps == own.len()).then(|| name.clone())));
            }
            first += own.len();
        }
        let better = better.map(|(which, value, still_rising)| GrownPoint {
            point: points[which].clone(),
            value,
            out_of_fold: outputs.swap_remove(which),
            still_rising,
        });
        Ok(Growth { tried: lines.into_iter().map(|(name, _)| name).collect(), better })
    }
}
