//! Grids that go on where they would end too early. If the best point stands at an end of a default list and is strictly
//! better than its neighbour, up to three values beyond the end are tried by the same inner folds, so that nothing but the
//! training part decides. A value is taken only if it is strictly better than the one before it: new points rank last among
//! equals. What lies beyond an end costs no more than the grid itself. Lists that the user gave do not grow.

use super::TrainingTask;
use crate::params::{Grid, Point};
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
        let own = self.bags.select(train);
        let cost = |points: &[Point]| {
            let grid = Grid::of(method.params(), points.to_vec());
            let prepare = method.work_for(&own, &grid) + method.search_work(&own, &grid, 1.0);
            prepare + method.machine_work(&own, &grid, 1.0)
        };
        // Some sizes cost as much as they are large, and nobody has planned for them.
        let most = if lines.is_empty() { 0.0 } else { cost(&self.setup.grid.points) };
        for (_, points) in &mut lines {
            let without_meaning = points.iter().position(|p| !self.admits(p, train, folds));
            points.truncate(without_meaning.unwrap_or(points.len()));
            while !points.is_empty() && cost(points) > most {
                points.pop();
            }
        }
        lines.retain(|(_, points)| !points.is_empty());
        if lines.is_empty() {
            return Ok(nothing);
        }
        let points: Vec<Point> = lines.iter().flat_map(|(_, points)| points.iter().cloned()).collect();
        let together = self.together(&own, ctx);
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
        for (name, line) in &lines {
            // As far as every step is better than the one before.
            let (mut here, mut steps) = (value, 0);
            for next in &found[first..first + line.len()] {
                match next {
                    Some(next) if metric.better(*next, here) => (here, steps) = (*next, steps + 1),
                    _ => break,
                }
            }
            let known = better.as_ref().map_or(value, |(_, value, _)| *value);
            if steps > 0 && metric.better(here, known) {
                better = Some((first + steps - 1, here, (steps == line.len()).then(|| (*name).to_string())));
            }
            first += line.len();
        }
        let better = better.map(|(which, value, still_rising)| GrownPoint {
            point: points[which].clone(),
            value,
            out_of_fold: outputs.swap_remove(which),
            still_rising,
        });
        Ok(Growth { tried: lines.into_iter().map(|(name, _)| name.to_string()).collect(), better })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fold::ResolvedConfig;
    use crate::methods::METHODS;
    use crate::params::WhenUnset;
    use bagwise_core::{Bags, Dataset, Instances, Target};

    /// Twelve bags of four instances in two columns.
    fn data(target: Target) -> Dataset {
        let row = |i: u32| [f64::from(i * 37 % 101) / 50.0, f64::from(i * 53 % 97) / 40.0];
        let rows: Vec<[f64; 2]> = (0..48).map(row).collect();
        let offsets = (0..=12).map(|b| 4 * b).collect();
        let bags = Bags::new(Instances::F64(Mat::from_rows(&rows)), offsets).unwrap();
        Dataset::new("made", bags).with_target(target).unwrap()
    }

    /// What a table allows its method must take, at every end of every list.
    #[test]
    fn methods_take_what_lies_beyond_their_lists() {
        let labels: Vec<&str> = (0..12).map(|b| if b % 2 == 0 { "yes" } else { "no" }).collect();
        let classes = data(Target::from_labels(&labels));
        let values = data(Target::Values((0..12).map(f64::from).collect()));
        let all: Vec<usize> = (0..12).collect();
        let mut grown = 0;
        for method in METHODS {
            let info = method.info();
            for (data, regression) in [(&classes, false), (&values, true)] {
                if regression && !info.regression {
                    continue;
                }
                let grid = Grid::new(info.name, method.params(), &[], WhenUnset::Grid, regression).unwrap();
                let mut points: Vec<Point> = Vec::new();
                for best in 0..grid.points.len() {
                    for (_, line) in grid.beyond(info.name, method.params(), best, |_| true) {
                        points.extend(line.last().cloned());
                    }
                }
                // One point for each value is enough: what else a point says was there before.
                let mut seen: Vec<String> = Vec::new();
                points.retain(|p| {
                    let new = p.iter().map(|(n, v)| format!("{n}={v}")).find(|t| !seen.contains(t));
                    seen.extend(new.clone());
                    new.is_some()
                });
                let setup = ResolvedConfig::new(*method, grid);
                let task = TrainingTask::new(data, &setup, None).unwrap();
                for point in points.iter().filter(|p| task.admits(p, &all, &[])) {
                    let ctx = Ctx::default();
                    let frame = task.frame(&all, std::slice::from_ref(point), &ctx);
                    let fitted = frame.and_then(|frame| task.fit(&frame, &[0], &all, &ctx).map(|_| ()));
                    assert!(fitted.is_ok(), "{} at {point}: {}", info.name, fitted.unwrap_err());
                    grown += 1;
                }
            }
        }
        assert!(grown > 40, "{grown} points");
    }
}
