//! Choosing a point of a grid by inner folds: all points are trained on every inner fold in frames that share as much as
//! memory allows, and judged by their outputs for the bags they had not seen.

use std::ops::Range;
use std::sync::{Arc, Mutex};

use rayon::prelude::*;

use super::grow::GrownPoint;
use super::{FoldScope, Machines, PreparedFold, TrainingTask, Tuned};
use crate::calibrate::Calibration;
use crate::method::draws_on_all;
use crate::params::{Grid, Point};
use bagwise_core::{Bags, Ctx, Mat, Result, Target};
use bagwise_judge::{Fold, Metric};

/// Which points of a grid are tried, and what else is wanted of them.
#[derive(Clone, Copy)]
pub(super) struct Among<'p> {
    /// Some points of the grid; all if nothing.
    pub(super) points: Option<&'p [usize]>,
    /// Whether default lists go on where they end too early.
    pub(super) grow: bool,
    /// Whether the choices without each inner fold are wanted too.
    pub(super) without: bool,
}

impl TrainingTask<'_> {
    /// Chooses a point by inner folds over `train`: the largest (or smallest, as the metric says) value over all
    /// inner folds together, ties to the first point. Default lists go on where they end too early (see `grow`).
    pub fn tune(
        &self,
        train: &[usize],
        inner: &[Fold],
        metric: Metric,
        frames: FoldScope,
        ctx: &Ctx,
    ) -> Result<Tuned> {
        self.tune_among(train, inner, metric, frames, Among { points: None, grow: true, without: false }, ctx)
    }

    /// The same among some points.
    pub(super) fn tune_among(
        &self,
        train: &[usize],
        inner: &[Fold],
        metric: Metric,
        frames: FoldScope,
        among: Among<'_>,
        ctx: &Ctx,
    ) -> Result<Tuned> {
        let grid = &self.setup.grid;
        let by_fold = frames == FoldScope::PerFold || self.frames_by_fold();
        let mut admitted = self.admitted(train, if by_fold { inner } else { &[] });
        if let Some(points) = among.points
            && admitted.iter().any(|i| points.contains(i))
        {
            admitted.retain(|i| points.contains(i));
        }
        let summary = match self.has_many_machines() && admitted.len() > 1 {
            true if !metric.needs_probabilities() => Some(metric),
            _ => None,
        };
        // Outputs for the training bags are kept of every point, or, where machines are many, of the chosen one.
        let together = grid.groups.iter().map(Vec::len).max().unwrap_or(1);
        let points_kept = if summary.is_some() { 1 } else { admitted.len() };
        // Those of a fold are copied.
        let of_fold = inner.iter().map(|fold| fold.test.len()).max();
        let tested = of_fold.map_or(0, |tested| train.len() * points_kept + tested);
        self.reserve_machines(train.len(), together, tested, ctx)?;
        let mut out_of_fold: Vec<Option<Mat>> = vec![None; grid.points.len()];
        let mut kept: Option<PreparedFold> = None;
        let (chunks, mut own) = self.chunks(&admitted, train, ctx);
        if by_fold {
            own = None;
        }
        for chunk in chunks {
            ctx.check()?;
            kept = None;
            let points: Vec<Point> = chunk.iter().map(|&i| grid.points[i].clone()).collect();
            let outputs = if by_fold {
                self.cross_fit_by_fold(&points, train, inner, summary, ctx)?
            } else {
                // Where the grid needs several frames, memory is short: the bags are then copied again for each.
                let own = own.take().unwrap_or_else(|| self.bags.select(train));
                let frame = self.frame_of(own, train, &points, ctx)?;
                let outputs = self.cross_fit(&frame, train, inner, summary, ctx)?;
                kept = Some(frame);
                outputs
            };
            for (i, outputs) in chunk.into_iter().zip(outputs) {
                out_of_fold[i] = Some(outputs);
            }
        }
        let truth = self.target.select(train);
        // Bags are compared with bags of the same inner fold only.
        let mut tested_by = vec![0; self.bags.len()];
        inner.iter().enumerate().for_each(|(f, fold)| fold.test.iter().for_each(|&bag| tested_by[bag] = f));
        let folds: Vec<usize> = train.iter().map(|&bag| tested_by[bag]).collect();
        let judged = |outputs: &Option<Mat>| match outputs {
            Some(summary_rows) if summary.is_some() => {
                ctx.check()?;
                self.judge_summary(&truth, summary_rows, metric, &folds)
            }
            Some(outputs) => self.judge(&truth, outputs, metric, &folds, ctx),
            None => Ok(None),
        };
        let values: Vec<Option<f64>> = out_of_fold.par_iter().map(judged).collect::<Result<_>>()?;
        let mut best = admitted[0];
        for (i, value) in values.iter().enumerate() {
            if let Some(value) = value
                && values[best].is_none_or(|b| metric.better(*value, b))
            {
                best = i;
            }
        }
        let without = match among.without && summary.is_none() && inner.len() > 1 {
            true => self.without_each_fold(&truth, &out_of_fold, best, metric, &folds, ctx)?,
            false => Vec::new(),
        };
        // The optimistic protocol repeats papers, whose grids are what they are.
        let grows = among.grow && frames == FoldScope::PerPart && summary.is_none() && !inner.is_empty();
        let growth = match grows {
            true => {
                let judge = |outputs: &Mat| self.judge(&truth, outputs, metric, &folds, ctx);
                Some(self.grow((best, &values), by_fold, (train, inner, metric), judge, ctx)?)
            }
            false => None,
        };
        let tried = growth.as_ref().map_or(&[][..], |g| &g.tried);
        // An end beyond which nothing is better is not one at which the search ended.
        // Nor one of a parameter that changes nothing, such as the width of a linear kernel.
        let ends = grid.edges(&grid.points[best]).into_iter();
        let ends = ends.filter(|name| tried.iter().all(|t| t != name) && grid.matters(best, name, &values));
        let mut on_edge: Vec<String> = ends.map(String::from).collect();
        if let Some(GrownPoint { point, value, out_of_fold, still_rising }) = growth.and_then(|g| g.better) {
            on_edge.extend(still_rising);
            return Ok(Tuned {
                best,
                point,
                value: Some(value),
                values,
                out_of_fold,
                on_edge,
                without,
                frame: None,
            });
        }
        let mut frame = kept.filter(|f| f.points.contains(&grid.points[best]));
        let mut out_of_fold = out_of_fold.swap_remove(best).expect("the best was tried");
        if summary.is_some() {
            // Together with the points that it was solved along with, so that its outputs are those that were judged.
            let group = grid.groups.iter().find(|g| g.contains(&best)).expect("every point has a group");
            let members = || group.iter().filter(|i| admitted.contains(i)).map(|&i| grid.points[i].clone());
            let points: Vec<Point> = members().collect();
            let at = points.iter().position(|p| *p == grid.points[best]).expect("the best was tried");
            out_of_fold = if by_fold {
                let places: Vec<usize> = (0..points.len()).collect();
                self.cross_fit_one(None, &points, (&places, at), train, inner, ctx)?
            } else {
                let frame = match frame {
                    Some(ref frame) => frame,
                    None => frame.insert(self.frame(train, &points, ctx)?),
                };
                let places = frame.points.iter().enumerate().filter(|(_, p)| points.contains(p));
                let places: Vec<usize> = places.map(|(place, _)| place).collect();
                self.cross_fit_one(Some(frame), &points, (&places, at), train, inner, ctx)?
            };
        }
        let (point, value) = (grid.points[best].clone(), values[best]);
        Ok(Tuned { best, point, value, values, out_of_fold, on_edge, without, frame })
    }

    /// For each inner fold the outputs of the point that is best on the others, ties to the first.
    fn without_each_fold(
        &self,
        truth: &Target,
        out_of_fold: &[Option<Mat>],
        usual: usize,
        metric: Metric,
        folds: &[usize],
        ctx: &Ctx,
    ) -> Result<Vec<Arc<Mat>>> {
        let last = folds.iter().copied().max().unwrap_or(0);
        let mut kept: Vec<(usize, Arc<Mat>)> = Vec::new();
        let mut all = Vec::with_capacity(last + 1);
        for v in 0..=last {
            let rows: Vec<usize> = (0..folds.len()).filter(|&row| folds[row] != v).collect();
            let (truth, folds) =
                (truth.select(&rows), rows.iter().map(|&r| folds[r]).collect::<Vec<usize>>());
            let value = |outputs: &Option<Mat>| match outputs {
                Some(outputs) => self.judge(&truth, &outputs.gather(&rows), metric, &folds, ctx),
                None => Ok(None),
            };
            let values: Vec<Option<f64>> = out_of_fold.par_iter().map(value).collect::<Result<_>>()?;
            let mut best: Option<(usize, f64)> = None;
            for (i, value) in values.iter().enumerate() {
                if let Some(value) = value
                    && best.is_none_or(|(_, known)| metric.better(*value, known))
                {
                    best = Some((i, *value));
                }
            }
            let point = best.map_or(usual, |(i, _)| i);
            let outputs = match kept.iter().find(|(i, _)| *i == point) {
                Some((_, outputs)) => Arc::clone(outputs),
                None => {
                    let outputs = Arc::new(out_of_fold[point].clone().expect("the point was tried"));
                    kept.push((point, Arc::clone(&outputs)));
                    outputs
                }
            };
            all.push(outputs);
        }
        Ok(all)
    }

    /// The points that have a meaning for the training bags, and for those of every one of `folds`; all if none has,
    /// so that the method can say why.
    fn admitted(&self, train: &[usize], folds: &[Fold]) -> Vec<usize> {
        let points = &self.setup.grid.points;
        let admitted: Vec<usize> =
            (0..points.len()).filter(|&i| self.admits(&points[i], train, folds)).collect();
        if admitted.is_empty() { (0..points.len()).collect() } else { admitted }
    }

    /// Whether a point has a meaning for the training bags, and for those of every one of `folds`.
    pub(super) fn admits(&self, point: &Point, train: &[usize], folds: &[Fold]) -> bool {
        let instances = |bags: &[usize]| bags.iter().map(|&b| self.bags.rows(b).len()).sum::<usize>();
        let fewest = || folds.iter().map(|f| instances(&f.train)).chain([instances(train)]).min();
        let drawn_from = match draws_on_all(point) {
            true => self.bags.instance_count(),
            false => fewest().unwrap_or(0),
        };
        self.setup.method.admits(point, drawn_from)
    }

    /// How many representations fit the memory budget together, for these training bags.
    pub(super) fn together(&self, own: &Bags, ctx: &Ctx) -> usize {
        let mut needs = self.setup.method.needs(own);
        if self.setup.method.learns_labels() {
            // Every machine has something prepared of its own.
            needs.each = needs.each.saturating_mul(self.tasks.len() as u64);
        }
        needs.together(ctx.memory)
    }

    /// Lists of `points`, whole representation groups, that fit the memory budget together. In the order of the grid
    /// if it fits as a whole. With the copy of the training bags that this was judged by, if one was made.
    fn chunks(&self, points: &[usize], train: &[usize], ctx: &Ctx) -> (Vec<Vec<usize>>, Option<Bags>) {
        let grid = &self.setup.grid;
        if grid.groups.len() == 1 {
            return (vec![points.to_vec()], None);
        }
        // Of the training bags alone: not even the size of a test bag may reach what is computed.
        let own = self.bags.select(train);
        let together = self.together(&own, ctx);
        if grid.groups.len() <= together {
            return (vec![points.to_vec()], Some(own));
        }
        // Points that stand together in the grid stay together.
        let mut chunks: Vec<Vec<usize>> = Vec::new();
        let mut groups: Vec<usize> = Vec::new();
        for &point in points {
            let group = grid.groups.iter().position(|g| g.contains(&point)).expect("every point has a group");
            if !groups.contains(&group) {
                if groups.len() == together || chunks.is_empty() {
                    chunks.push(Vec::new());
                    groups.clear();
                }
                groups.push(group);
            }
            chunks.last_mut().expect("a chunk was begun").push(point);
        }
        (chunks, Some(own))
    }

    /// Runs jobs in parallel, or one at a time if together they would take more than half of the memory; what is below them
    /// uses all threads anyway. `bytes` is what one takes. Results are in the order of the jobs.
    fn each_job<J: Send, T: Send>(
        bytes: u64,
        jobs: Vec<J>,
        job: impl Fn(J) -> Result<T> + Send + Sync,
        ctx: &Ctx,
    ) -> Result<Vec<T>> {
        // A thread that waits inside one job may begin another, so that all count.
        match bytes.saturating_mul(jobs.len() as u64) > ctx.memory / 2 {
            true => jobs.into_iter().map(job).collect(),
            false => jobs.into_par_iter().map(job).collect(),
        }
    }

    /// Out-of-fold outputs of every point of a frame that serves all inner folds, or the [summary](Self::summary) of them
    /// for a metric.
    pub(super) fn cross_fit(
        &self,
        frame: &PreparedFold,
        train: &[usize],
        inner: &[Fold],
        summary: Option<Metric>,
        ctx: &Ctx,
    ) -> Result<Vec<Mat>> {
        let grid = Grid::of(self.setup.method.params(), frame.points.clone());
        let mut all = self.cross_fit_groups(frame, &grid.groups, train, inner, summary, ctx)?.into_iter();
        let mut of_point: Vec<Option<Mat>> = vec![None; frame.points.len()];
        grid.groups.iter().flatten().for_each(|&point| of_point[point] = all.next());
        Ok(of_point.into_iter().map(|outputs| outputs.expect("every point has a group")).collect())
    }

    /// The same for some groups of points, in their order.
    fn cross_fit_groups(
        &self,
        frame: &PreparedFold,
        groups: &[Vec<usize>],
        train: &[usize],
        inner: &[Fold],
        summary: Option<Metric>,
        ctx: &Ctx,
    ) -> Result<Vec<Mat>> {
        let original = frame.originals(groups);
        let jobs: Vec<(&Fold, usize)> = inner
            .iter()
            .flat_map(|f| (0..groups.len()).map(move |g| (f, g)))
            .filter(|&(_, g)| original[g] == g)
            .collect();
        let first = |g: usize| groups[..g].iter().map(Vec::len).sum::<usize>();
        let job = |(fold, g): (_, usize)| {
            let outputs = self.outputs_of_fold(frame, &groups[g], fold, summary, ctx)?;
            Ok((fold, first(g)..first(g + 1), outputs))
        };
        let together = groups.iter().map(Vec::len).max().unwrap_or(0);
        let bytes = self.job_bytes(frame, together, train, inner, summary);
        let results: Vec<(&Fold, Range<usize>, Vec<Mat>)> = Self::each_job(bytes, jobs, job, ctx)?;
        let mut all = self.collect_out_of_fold(train, first(groups.len()), results);
        for g in (0..groups.len()).filter(|&g| original[g] != g) {
            (0..groups[g].len()).for_each(|i| all[first(g) + i] = all[first(original[g]) + i].clone());
        }
        Ok(all)
    }

    /// The same where labels are learned from: every inner fold has a frame of its own. Here tested bags are new to the
    /// frame, and points that agree on its bags may differ on them.
    pub(super) fn cross_fit_by_fold(
        &self,
        points: &[Point],
        train: &[usize],
        inner: &[Fold],
        summary: Option<Metric>,
        ctx: &Ctx,
    ) -> Result<Vec<Mat>> {
        let grid = Grid::of(self.setup.method.params(), points.to_vec());
        let mut results: Vec<(&Fold, Vec<usize>, Vec<Mat>)> = Vec::new();
        for fold in inner {
            let frame = self.frame(&fold.train, points, ctx)?;
            let job = |group: &Vec<usize>| self.outputs_of_fold(&frame, group, fold, summary, ctx);
            let together = grid.groups.iter().map(Vec::len).max().unwrap_or(0);
            let bytes = self.job_bytes(&frame, together, train, inner, summary);
            let fitted = Self::each_job(bytes, grid.groups.iter().collect(), job, ctx)?;
            results.extend(
                grid.groups.iter().zip(fitted).map(|(group, outputs)| (fold, group.clone(), outputs)),
            );
        }
        Ok(self.collect_out_of_fold(train, points.len(), results))
    }

    /// Out-of-fold outputs of one point, the `at`-th of the `places` of a frame that are trained together; every inner fold has a
    /// frame of its own with `points` if no frame is `shared`. The outputs of many machines are held once, and none of other points.
    fn cross_fit_one(
        &self,
        shared: Option<&PreparedFold>,
        points: &[Point],
        (places, at): (&[usize], usize),
        train: &[usize],
        inner: &[Fold],
        ctx: &Ctx,
    ) -> Result<Mat> {
        let row_of = self.rows_of(train);
        let all = Mutex::new(Mat::zeros(train.len(), self.tasks.len()));
        let job = |fold: &Fold| {
            let own;
            let frame = match shared {
                Some(frame) => frame,
                None => {
                    own = self.frame(&fold.train, points, ctx)?;
                    &own
                }
            };
            let fits = self.fit(frame, places, &fold.train, ctx)?;
            let outputs = self.outputs(frame, &fits[at], &fold.train, &fold.test, ctx)?;
            let mut all = all.lock().expect("nobody panics with it");
            scatter(&outputs, &fold.test, &row_of, &mut all);
            Ok(())
        };
        // Frames of folds are made one after the other.
        let bytes = shared.map_or(u64::MAX, |frame| self.job_bytes(frame, places.len(), train, inner, None));
        Self::each_job(bytes, inner.iter().collect(), job, ctx)?;
        Ok(all.into_inner().expect("nobody panics with it"))
    }

    /// Bytes that training some points together on an inner fold takes, with the outputs for its test bags, or with the votes
    /// where a summary of them is enough.
    fn job_bytes(
        &self,
        frame: &PreparedFold,
        points: usize,
        train: &[usize],
        inner: &[Fold],
        summary: Option<Metric>,
    ) -> u64 {
        let largest = inner.iter().max_by_key(|fold| fold.test.len());
        let votes = largest.filter(|_| summary.is_some()).and_then(|f| self.vote_bytes(frame, points, f));
        votes.unwrap_or_else(|| {
            let machines = self.machine_bytes(train.len(), points);
            let outputs = self.output_bytes(largest.map_or(0, |fold| fold.test.len()));
            frame.fit_bytes().saturating_add(machines).saturating_add(outputs)
        })
    }

    /// Trains points that share their representation on a fold, and tests them.
    fn outputs_of_fold(
        &self,
        frame: &PreparedFold,
        group: &[usize],
        fold: &Fold,
        summary: Option<Metric>,
        ctx: &Ctx,
    ) -> Result<Vec<Mat>> {
        if let Some(metric) = summary
            && self.vote_bytes(frame, group.len(), fold).is_some()
        {
            return self.votes_of_fold(frame, group, fold, metric, ctx);
        }
        let fits = self.fit(frame, group, &fold.train, ctx)?;
        let Some(metric) = summary else {
            return self.outputs_of_each(frame, &fits, &fold.train, &fold.test, ctx);
        };
        let one = |machines: &Machines| {
            let outputs = self.outputs(frame, machines, &fold.train, &fold.test, ctx)?;
            Ok(self.summary(&outputs, metric))
        };
        fits.iter().map(one).collect()
    }

    fn collect_out_of_fold(
        &self,
        train: &[usize],
        points: usize,
        results: Vec<(&Fold, impl IntoIterator<Item = usize>, Vec<Mat>)>,
    ) -> Vec<Mat> {
        let row_of = self.rows_of(train);
        let columns = results.iter().find_map(|(_, _, outputs)| outputs.first()).map(Mat::cols);
        let mut all = vec![Mat::zeros(train.len(), columns.unwrap_or(self.tasks.len())); points];
        for (fold, group, outputs) in results {
            for (point, outputs) in group.into_iter().zip(outputs) {
                scatter(&outputs, &fold.test, &row_of, &mut all[point]);
            }
        }
        all
    }

    /// The row of each training bag, by its place among all bags.
    fn rows_of(&self, train: &[usize]) -> Vec<usize> {
        let mut row_of = vec![usize::MAX; self.bags.len()];
        train.iter().enumerate().for_each(|(row, &bag)| row_of[bag] = row);
        row_of
    }

    /// The value of out-of-fold outputs, whose folds are given bag by bag.
    pub(super) fn judge(
        &self,
        truth: &Target,
        outputs: &Mat,
        metric: Metric,
        folds: &[usize],
        ctx: &Ctx,
    ) -> Result<Option<f64>> {
        ctx.check()?;
        let calibration = self.calibrated_for(metric, truth, outputs, ctx)?;
        Ok(metric.over_folds(&self.predictions(truth, outputs, &calibration, None, ctx)?, folds))
    }

    /// A calibration where a metric looks at probabilities: a sigmoid per point of a grid is work for nothing elsewhere.
    pub(super) fn calibrated_for(
        &self,
        metric: Metric,
        truth: &Target,
        outputs: &Mat,
        ctx: &Ctx,
    ) -> Result<Calibration> {
        match metric.needs_probabilities() {
            true => Calibration::fit(truth, outputs, &self.tasks, ctx),
            false => Ok(Calibration::default()),
        }
    }
}

/// Puts the outputs of tested bags into the rows of these bags.
fn scatter(outputs: &Mat, tested: &[usize], row_of: &[usize], all: &mut Mat) {
    for (i, &bag) in tested.iter().enumerate() {
        all.row_mut(row_of[bag]).copy_from_slice(outputs.row(i));
    }
}
