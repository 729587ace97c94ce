//! What a metric without probabilities looks at, where machines are too many to keep the outputs of each: a row for each bag
//! with its label and, where bags are compared by them, its score for every class. Counted from the outputs of all machines,
//! or as they come.

use super::{OwnedTraining, PROBLEMS, PreparedFold, TrainingTask};
use crate::method::Training;
use crate::multiclass::{BinaryTask, class_scores, first_largest, least_score, vote};
use bagwise_core::{Ctx, Mat, Result, Target};
use bagwise_judge::{Classified, Fold, Metric, Predictions};

impl TrainingTask<'_> {
    /// The rows from the outputs of all machines, bags x machines.
    pub(super) fn summary(&self, outputs: &Mat, metric: Metric) -> Mat {
        let label = |b: usize| f64::from(vote(outputs.row(b), &self.tasks, self.classes(), None));
        let scores = |b: usize| match metric.compares_bags() {
            true => class_scores(outputs.row(b), &self.tasks, self.classes()),
            false => Vec::new(),
        };
        let row = |b: usize| [&[label(b)][..], &scores(b)].concat();
        Mat::from_rows(&(0..outputs.rows()).map(row).collect::<Vec<_>>())
    }

    /// The rows of each of some points that share their representation, trained on a fold: machines and outputs are gone as
    /// soon as they have voted.
    pub(super) fn votes_of_fold(
        &self,
        frame: &PreparedFold,
        points: &[usize],
        fold: &Fold,
        metric: Metric,
        ctx: &Ctx,
    ) -> Result<Vec<Mat>> {
        let tested = frame.positions(&fold.test);
        let none = || ClassVotes::new(&self.tasks, self.classes(), tested.len(), metric.compares_bags());
        let mut votes: Vec<ClassVotes<'_>> = points.iter().map(|_| none()).collect();
        let each = &mut |point: usize, machine: usize, first: usize, values: &[f64]| {
            votes[point].add(machine, first, values);
        };
        let mut problems = self.problems(frame, &fold.train).flatten();
        loop {
            let some: Vec<OwnedTraining> = problems.by_ref().take(PROBLEMS).collect();
            if some.is_empty() {
                break;
            }
            let some: Vec<(usize, Training<'_>)> = some.iter().map(|p| (p.machine, p.training())).collect();
            frame.prepared(0).each_output(points, &some, &tested, each, ctx)?;
        }
        Ok(votes.iter().map(ClassVotes::summary).collect())
    }

    /// Bytes that this takes; none if it cannot be done so.
    pub(super) fn vote_bytes(&self, frame: &PreparedFold, points: usize, fold: &Fold) -> Option<u64> {
        let kernel = frame.prepared(0).stream_bytes(fold.test.len())?;
        let votes = ClassVotes::bytes(self.classes(), fold.test.len()).saturating_mul(points as u64);
        (frame.is_shared() && frame.holds(&fold.test)).then(|| kernel.saturating_add(votes))
    }

    /// The value of such rows.
    pub(super) fn judge_summary(
        &self,
        truth: &Target,
        summary: &Mat,
        metric: Metric,
        folds: &[usize],
    ) -> Result<Option<f64>> {
        let Target::Classes { codes, names } = truth else { unreachable!("only pairs of classes are many") };
        let labels = (0..summary.rows()).map(|b| summary.get(b, 0) as u32).collect();
        let mut classified = Classified::new(codes.clone(), labels, names.len(), None)?;
        if metric.compares_bags() {
            let scores: Vec<&[f64]> = (0..summary.rows()).map(|b| &summary.row(b)[1..]).collect();
            classified = classified.with_scores(Mat::from_rows(&scores))?;
        }
        Ok(metric.over_folds(&Predictions::Classes(classified), folds))
    }
}

/// Votes for every class and bag, counted as outputs come: [`vote`] and [`class_scores`] with the same results. The bags
/// of a class lie side by side, because outputs come for many bags of one machine.
pub(super) struct ClassVotes<'t> {
    tasks: &'t [BinaryTask],
    bags: usize,
    classes: usize,
    votes: CastVotes,
    scores: Option<ClassSums>,
}

enum CastVotes {
    /// Of pairs: small numbers, so that those of a point stay in the cache.
    Counts(Vec<u32>),
    /// Of classes against the rest: their outputs.
    Outputs(Vec<f64>),
}

struct ClassSums {
    sums: Vec<f64>,
    known: Vec<bool>,
}

impl<'t> ClassVotes<'t> {
    /// No votes yet; `compared` if scores are wanted too.
    pub(super) fn new(
        tasks: &'t [BinaryTask],
        classes: usize,
        bags: usize,
        compared: bool,
    ) -> ClassVotes<'t> {
        let all = classes * bags;
        // As in `vote`.
        let votes = match tasks.iter().any(|task| task.minus.is_none()) {
            true => CastVotes::Outputs(vec![f64::NEG_INFINITY; all]),
            false => CastVotes::Counts(vec![0; all]),
        };
        let scores = compared.then(|| ClassSums { sums: vec![0.0; all], known: vec![false; all] });
        ClassVotes { tasks, bags, classes, votes, scores }
    }

    /// Bytes of the votes of a point.
    pub(super) fn bytes(classes: usize, bags: usize) -> u64 {
        17 * classes as u64 * bags as u64 // with outputs and scores, the most
    }

    /// Counts outputs of a machine.
    pub(super) fn add(&mut self, machine: usize, first: usize, values: &[f64]) {
        let task = self.tasks[machine];
        let of = |class: u32| {
            class as usize * self.bags + first..class as usize * self.bags + first + values.len()
        };
        // What is not a number is neither above 0 nor below.
        match &mut self.votes {
            CastVotes::Counts(votes) => {
                let plus = votes[of(task.plus)].iter_mut();
                plus.zip(values).for_each(|(votes, &output)| *votes += u32::from(output > 0.0));
                let minus = votes[of(task.minus.expect("a pair"))].iter_mut();
                minus.zip(values).for_each(|(votes, &output)| *votes += u32::from(output <= 0.0));
            }
            CastVotes::Outputs(votes) => {
                let own = votes[of(task.plus)].iter_mut();
                own.zip(values).filter(|(_, o)| !o.is_nan()).for_each(|(votes, &output)| *votes = output);
            }
        }
        let Some(ClassSums { sums, known }) = &mut self.scores else { return };
        for (class, sign) in [(Some(task.plus), 1.0), (task.minus, -1.0)] {
            let Some(class) = class else { continue };
            for ((sum, known), output) in sums[of(class)].iter_mut().zip(&mut known[of(class)]).zip(values) {
                if !output.is_nan() {
                    *sum += sign * output;
                    *known = true;
                }
            }
        }
    }

    /// The rows.
    pub(super) fn summary(&self) -> Mat {
        let of_bag = |b: usize, value: &dyn Fn(usize) -> f64| -> Vec<f64> {
            (0..self.classes).map(|c| value(c * self.bags + b)).collect()
        };
        let vote = |at: usize| match &self.votes {
            CastVotes::Counts(votes) => f64::from(votes[at]),
            CastVotes::Outputs(votes) => votes[at],
        };
        let row = |b: usize| {
            let mut row = vec![f64::from(first_largest(&of_bag(b, &vote)))];
            if let Some(ClassSums { sums, known }) = &self.scores {
                let sums = of_bag(b, &|at| sums[at]);
                let least = least_score(&sums);
                let known = (0..self.classes).map(|c| known[c * self.bags + b]);
                row.extend(sums.iter().zip(known).map(|(&sum, known)| if known { sum } else { least }));
            }
            row
        };
        Mat::from_rows(&(0..self.bags).map(row).collect::<Vec<_>>())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::multiclass::{Scheme, tasks};

    #[test]
    fn votes_counted_as_they_come_elect_the_same() {
        let (classes, bags) = (7, 11);
        let mut rng = bagwise_core::Rng::new(5, "votes", &[]);
        for scheme in [Scheme::OneVsOne, Scheme::OneVsRest] {
            let tasks = tasks(classes, scheme, 0);
            // Zeros and what is not a number too; a pair is unknown to all bags, another to one.
            let mut outputs = Mat::zeros(bags, tasks.len());
            for b in 0..bags {
                for k in 0..tasks.len() {
                    let value = match k {
                        2 => f64::NAN,
                        5 if b == 3 => f64::NAN,
                        _ => (4.0 * (rng.uniform() - 0.5)).round() / 2.0,
                    };
                    outputs.set(b, k, value);
                }
            }
            let mut votes = ClassVotes::new(&tasks, classes, bags, true);
            for machine in (0..tasks.len()).filter(|&k| k != 2) {
                for (first, count) in [(0, 8), (8, 3)] {
                    let values: Vec<f64> = (first..first + count).map(|b| outputs.get(b, machine)).collect();
                    votes.add(machine, first, &values);
                }
            }
            let rows = votes.summary();
            for b in 0..bags {
                let label = vote(outputs.row(b), &tasks, classes, None);
                let scores = class_scores(outputs.row(b), &tasks, classes);
                assert_eq!(rows.row(b), [&[f64::from(label)][..], &scores].concat(), "{scheme:?}, bag {b}");
            }
        }
    }
}
