//! Which methods are better together, and whether they are: members and their shares by greedy selection on out-of-fold
//! outputs, unless a single method is better on inner folds that had no part in the choice of parameters, sigmoids and members.
//!
//! Outputs become log odds by a sigmoid per machine, fitted without the fold whose bags it is applied to, and are averaged. What is
//! minimised is the mean squared error of the class probabilities (of numbers: of the values), weighted as errors cost. It tells
//! more of a bag than right or wrong does. Caruana, Niculescu-Mizil, Crew, Ksikes: Ensemble selection from libraries of models,
//! ICML 2004.

use crate::calibrate::Calibration;
use crate::multiclass::couple;
use bagwise_core::{Ctx, Mat, Result, Target};

use super::TrainingTask;

/// Members at most: more are hard to read, and add little.
const MOST_MEMBERS: usize = 5;

/// Rounds of the selection, each of which gives a tenth of the whole. Finer shares fit the noise of some hundred bags.
const ROUNDS: usize = 10;

/// What inner folds said of the training bags, for one learner: rows are training bags.
pub(super) struct OutOfFold<'a> {
    /// For each inner fold, at the point chosen without it; points by which a grid grew are not among them.
    pub(super) without: Vec<&'a Mat>,
    /// Whether it may be a member.
    pub(super) may_join: bool,
}

/// Training bags as the selection sees them.
pub(super) struct Judge<'a> {
    task: &'a TrainingTask<'a>,
    truth: Target,
    /// The inner fold of each row.
    folds: &'a [usize],
    /// What an error on each row costs.
    weights: Vec<f64>,
    /// What is added to the log odds of each machine, so that costs count as bags would.
    shifts: Vec<f64>,
    /// The unit (bag or group) of each row.
    units: Vec<usize>,
}

/// Members with their shares, and the sum's outputs for training bags by sigmoids that had not seen them.
pub(super) struct MethodMix {
    /// Which learners, the largest share first.
    pub(super) members: Vec<(usize, f64)>,
    pub(super) out_of_fold: Mat,
    pub(super) gain: Gain,
}

/// By how much the loss of a bag is lower together than with the single learner, on folds that had no part in the choice.
#[derive(Clone, Copy)]
pub(crate) struct Gain {
    pub(crate) mean: f64,
    /// The standard error of the mean over bags, or groups.
    pub(crate) error: f64,
}

impl Gain {
    /// Whether it is not negative by more than its standard error. What makes no difference at all is not worth having.
    fn is_not_clearly_worse(&self) -> bool {
        self.mean > -self.error
    }
}

impl<'a> Judge<'a> {
    pub(super) fn new(task: &'a TrainingTask<'a>, train: &[usize], folds: &'a [usize]) -> Judge<'a> {
        let truth = task.target.select(train);
        let (weights, shifts) = task.costs(train);
        let groups = task.data.groups.as_ref();
        let units = train.iter().map(|&b| groups.map_or(b, |g| g.codes[b] as usize)).collect();
        Judge { task, truth, folds, weights, shifts, units }
    }

    fn rows(&self, keep: impl Fn(usize) -> bool) -> Vec<usize> {
        (0..self.folds.len()).filter(|&row| keep(self.folds[row])).collect()
    }

    /// Slope and offset of each machine, from some rows.
    pub(super) fn lines(&self, outputs: &Mat, rows: &[usize], ctx: &Ctx) -> Result<Vec<(f64, f64)>> {
        if self.task.is_regression() {
            return Ok(vec![(1.0, 0.0); outputs.cols()]);
        }
        let truth = self.truth.select(rows);
        let calibration = Calibration::fit(&truth, &outputs.gather(rows), &self.task.tasks, ctx)?;
        let shifted = calibration.lines(outputs.cols()).into_iter().zip(&self.shifts);
        Ok(shifted.map(|((slope, offset), shift)| (slope, offset + shift)).collect())
    }

    /// The same from all rows.
    pub(super) fn final_lines(&self, outputs: &Mat, ctx: &Ctx) -> Result<Vec<(f64, f64)>> {
        self.lines(outputs, &self.rows(|_| true), ctx)
    }

    /// Log odds of some rows; 0 where there is no machine.
    fn odds(outputs: &Mat, lines: &[(f64, f64)], rows: &[usize], out: &mut Mat) {
        for &row in rows {
            for (k, (slope, offset)) in lines.iter().enumerate() {
                let f = outputs.get(row, k);
                out.set(row, k, if f.is_finite() { slope * f + offset } else { 0.0 });
            }
        }
    }

    /// Log odds of all rows, each by outputs and a sigmoid that were chosen without its fold: outputs at the point that is best
    /// on all folds flatter methods with many points. `without` has the outputs for each fold.
    fn cross_fitted<'m>(&self, without: impl Fn(usize) -> &'m Mat, ctx: &Ctx) -> Result<Mat> {
        let shape = without(0);
        let mut out = Mat::zeros(shape.rows(), shape.cols());
        for v in 0..=self.folds.iter().copied().max().unwrap_or(0) {
            let outputs = without(v);
            let lines = self.lines(outputs, &self.rows(|f| f != v), ctx)?;
            Self::odds(outputs, &lines, &self.rows(|f| f == v), &mut out);
        }
        Ok(out)
    }

    /// The squared error of one row.
    fn loss(&self, odds: &[f64], row: usize) -> f64 {
        let probability = |z: f64| 1.0 / (1.0 + (-z).exp());
        match &self.truth {
            Target::Values(values) => (odds[0] - values[row]).powi(2),
            Target::Classes { codes, names } => match self.task.tasks.as_slice() {
                [task] => {
                    let yes = f64::from(u8::from(codes[row] == task.plus));
                    (probability(odds[0]) - yes).powi(2)
                }
                tasks => {
                    let machines: Vec<f64> = odds.iter().map(|&z| probability(z)).collect();
                    let found = couple(&machines, tasks, names.len());
                    let error = |(class, p): (usize, &f64)| {
                        (p - f64::from(u8::from(codes[row] as usize == class))).powi(2)
                    };
                    found.iter().enumerate().map(error).sum::<f64>() / 2.0
                }
            },
        }
    }

    /// The weighted mean over some rows.
    fn mean_loss(&self, odds: &Mat, rows: &[usize]) -> f64 {
        let (mut sum, mut weight) = (0.0, 0.0);
        for &row in rows {
            sum += self.weights[row] * self.loss(odds.row(row), row);
            weight += self.weights[row];
        }
        if weight > 0.0 { sum / weight } else { f64::INFINITY }
    }

    /// The loss of one learner over all rows, by its outputs without each fold: what rungs rank by.
    pub(super) fn value<'m>(&self, without: impl Fn(usize) -> &'m Mat, ctx: &Ctx) -> Result<f64> {
        let odds = self.cross_fitted(without, ctx)?;
        Ok(self.mean_loss(&odds, &self.rows(|_| true)))
    }

    /// Members with their shares, from some rows, the largest share first: in each round the learner is added that makes the mean
    /// best, for the first time or again. If the best alone is better than all together, it remains alone.
    fn greedy(&self, odds: &[(usize, Mat)], rows: &[usize], ctx: &Ctx) -> Result<Vec<(usize, f64)>> {
        let Some((_, first)) = odds.first() else { return Ok(Vec::new()) };
        let mut times = vec![0_usize; odds.len()];
        let mut sum = Mat::zeros(first.rows(), first.cols());
        let mut mean = sum.clone();
        let (mut alone, mut together) = ((0, f64::INFINITY), f64::INFINITY);
        for round in 0..ROUNDS {
            let share = 1.0 / (round + 1) as f64;
            let full = times.iter().filter(|&&t| t > 0).count() == MOST_MEMBERS;
            let mut found = (0, f64::INFINITY);
            for (i, (_, own)) in odds.iter().enumerate().filter(|(i, _)| !full || times[*i] > 0) {
                ctx.check()?;
                for &row in rows {
                    let parts = sum.row(row).iter().zip(own.row(row));
                    mean.row_mut(row).iter_mut().zip(parts).for_each(|(m, (a, b))| *m = share * (a + b));
                }
                let loss = self.mean_loss(&mean, rows);
                if loss < found.1 {
                    found = (i, loss);
                }
            }
            Self::add(1.0, &odds[found.0].1, rows, &mut sum);
            times[found.0] += 1;
            together = found.1;
            if round == 0 {
                alone = found;
            }
        }
        // Copies of one method gain nothing but rounding.
        if together >= alone.1 * (1.0 - 1e-6) {
            return Ok(vec![(odds[alone.0].0, 1.0)]);
        }
        let mut members: Vec<(usize, f64)> = (odds.iter().zip(times))
            .filter(|(_, times)| *times > 0)
            .map(|((which, _), times)| (*which, times as f64 / ROUNDS as f64))
            .collect();
        members.sort_by(|a, b| b.1.total_cmp(&a.1));
        Ok(members)
    }

    /// Adds a share of log odds in some rows.
    fn add(share: f64, own: &Mat, rows: &[usize], out: &mut Mat) {
        for &row in rows {
            out.row_mut(row).iter_mut().zip(own.row(row)).for_each(|(o, z)| *o += share * z);
        }
    }

    /// The sum of some members' log odds in some rows.
    fn sum(members: &[(usize, f64)], odds: &[(usize, Mat)], rows: &[usize], out: &mut Mat) {
        for (which, share) in members {
            let own = odds.iter().find(|(w, _)| w == which).map(|(_, m)| m).expect("a member has odds");
            Self::add(*share, own, rows, out);
        }
    }

    /// What is best together, unless the single learner is better by more than one paired standard error on folds that had no part
    /// in the choice. To ask for a gain of one standard error instead loses: some hundred bags seldom show it, and the mean of
    /// several methods has less noise (docs/reproduction.md has the figures). The single learner itself was chosen with all folds,
    /// which is to its advantage. What is checked is close to what is kept, not equal to it: lines and members are found anew
    /// with all folds at the end. Outer folds judge that.
    pub(super) fn mixture(
        &self,
        learners: &[OutOfFold<'_>],
        single: usize,
        ctx: &Ctx,
    ) -> Result<Option<MethodMix>> {
        let joining: Vec<usize> = (0..learners.len()).filter(|&i| learners[i].may_join).collect();
        if joining.is_empty() {
            return Ok(None);
        }
        let last = self.folds.iter().copied().max().unwrap_or(0);
        let mut gains = vec![0.0; self.folds.len()];
        for v in 0..=last {
            ctx.check()?;
            let (tested, others) = (self.rows(|f| f == v), self.rows(|f| f != v));
            let all = self.rows(|_| true);
            let mut odds: Vec<(usize, Mat)> = Vec::with_capacity(joining.len());
            let of = |which: usize| -> Result<Mat> {
                let outputs = learners[which].without[v];
                let mut out = Mat::zeros(outputs.rows(), outputs.cols());
                Self::odds(outputs, &self.lines(outputs, &others, ctx)?, &all, &mut out);
                Ok(out)
            };
            for &which in &joining {
                odds.push((which, of(which)?));
            }
            let members = self.greedy(&odds, &others, ctx)?;
            let mut together = Mat::zeros(self.folds.len(), self.task.tasks.len());
            Self::sum(&members, &odds, &tested, &mut together);
            let alone = of(single)?;
            for &row in &tested {
                gains[row] =
                    self.weights[row] * (self.loss(alone.row(row), row) - self.loss(together.row(row), row));
            }
        }
        let Some(gain) = self.gain(&gains).filter(Gain::is_not_clearly_worse) else { return Ok(None) };
        let mut odds = Vec::with_capacity(joining.len());
        for &which in &joining {
            odds.push((which, self.cross_fitted(|v| learners[which].without[v], ctx)?));
        }
        let all = self.rows(|_| true);
        let members = self.greedy(&odds, &all, ctx)?;
        let mut out_of_fold = Mat::zeros(self.folds.len(), self.task.tasks.len());
        Self::sum(&members, &odds, &all, &mut out_of_fold);
        Ok(Some(MethodMix { members, out_of_fold, gain }))
    }

    /// The mean of paired differences and its standard error; units are bags, or groups. One unit has none.
    fn gain(&self, gains: &[f64]) -> Option<Gain> {
        let mut of_unit = std::collections::BTreeMap::new();
        for (unit, gain) in self.units.iter().zip(gains) {
            *of_unit.entry(*unit).or_insert(0.0) += gain;
        }
        let (n, weight) = (of_unit.len() as f64, self.weights.iter().sum::<f64>());
        if n < 2.0 || weight <= 0.0 {
            return None;
        }
        let sum: f64 = of_unit.values().sum();
        let spread: f64 = of_unit.values().map(|g: &f64| (g - sum / n).powi(2)).sum();
        let gain = Gain { mean: sum / weight, error: (spread * n / (n - 1.0)).sqrt() / weight };
        // Squares of large numbers may be infinite; such a gain decides nothing.
        (gain.mean.is_finite() && gain.error.is_finite()).then_some(gain)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fold::ResolvedConfig;
    use crate::methods;
    use crate::params::{Grid, WhenUnset};
    use bagwise_core::{Bags, Dataset, Groups, Instances, Rng};

    const BAGS: usize = 200;

    fn majority_setup() -> ResolvedConfig {
        let method = methods::find("majority").unwrap();
        let grid = Grid::new("majority", method.params(), &[], WhenUnset::Default, false).unwrap();
        ResolvedConfig::new(method, grid)
    }

    fn data(positive: usize) -> Dataset {
        let rows: Vec<[f64; 1]> = (0..BAGS).map(|b| [b as f64]).collect();
        let bags = Bags::new(Instances::F64(Mat::from_rows(&rows)), (0..=BAGS).collect()).unwrap();
        let labels: Vec<&str> =
            (0..BAGS).map(|b| if b % (BAGS / positive) == 0 { "b" } else { "a" }).collect();
        Dataset::new("made", bags).with_target(Target::from_labels(&labels)).unwrap()
    }

    fn truth(data: &Dataset) -> Vec<f64> {
        let Some(Target::Classes { codes, .. }) = &data.target else { unreachable!() };
        codes.iter().map(|&c| if c == 1 { 1.0 } else { -1.0 }).collect()
    }

    /// Outputs that know the truth up to noise of their own.
    fn noisy(data: &Dataset, noise: f64, seed: u64) -> Mat {
        let mut rng = Rng::new(seed, "noise", &[]);
        let values = truth(data).iter().map(|y| y + noise * rng.normal()).collect();
        Mat::new(BAGS, 1, values)
    }

    fn candidates<'m>(outputs: &'m [Mat], folds: usize) -> Vec<OutOfFold<'m>> {
        let one = |m: &'m Mat| OutOfFold { without: vec![m; folds], may_join: true };
        outputs.iter().map(one).collect()
    }

    fn chosen(data: &Dataset, outputs: &[Mat]) -> Option<Vec<(usize, f64)>> {
        let setup = majority_setup();
        let task = TrainingTask::new(data, &setup, None).unwrap();
        let all: Vec<usize> = (0..BAGS).collect();
        let folds: Vec<usize> = (0..BAGS).map(|b| b / 2 % 5).collect();
        let judge = Judge::new(&task, &all, &folds);
        judge.mixture(&candidates(outputs, 5), 0, &Ctx::default()).unwrap().map(|m| m.members)
    }

    #[test]
    fn methods_with_errors_of_their_own_are_better_together() {
        let data = data(100);
        let outputs: Vec<Mat> = (0..3).map(|seed| noisy(&data, 1.5, seed)).collect();
        let members = chosen(&data, &outputs).expect("three independent opinions are better than one");
        assert!(members.len() >= 2, "{members:?}");
        assert!((members.iter().map(|m| m.1).sum::<f64>() - 1.0).abs() < 1e-12);
        assert!(members.windows(2).all(|w| w[0].1 >= w[1].1), "the largest share first: {members:?}");
    }

    #[test]
    fn copies_and_noise_replace_nothing() {
        let data = data(100);
        let one = noisy(&data, 1.0, 1);
        assert_eq!(chosen(&data, &[one.clone(), one.clone()]), None);
        let nothing = Mat::new(BAGS, 1, (0..BAGS).map(|b| ((b * 37) % 11) as f64).collect());
        assert_eq!(chosen(&data, &[one, nothing]), None);
    }

    #[test]
    fn better_methods_have_larger_shares() {
        let data = data(100);
        // One that knows more, and seven that know less, each with errors of its own.
        let outputs: Vec<Mat> = (0..8).map(|k| noisy(&data, if k == 0 { 0.8 } else { 1.6 }, k)).collect();
        let members = chosen(&data, &outputs).expect("eight opinions are better than one");
        assert!(members.len() <= MOST_MEMBERS, "{members:?}");
        assert_eq!(members[0].0, 0);
        assert!(members[0].1 > members[1].1, "{members:?}");
        let tenths = members.iter().map(|m| 10.0 * m.1);
        assert!(
            tenths.clone().all(|t| (t - t.round()).abs() < 1e-12)
                && (tenths.sum::<f64>() - 10.0).abs() < 1e-9
        );
    }

    #[test]
    fn what_a_point_says_of_folds_that_chose_it_does_not_count() {
        let data = data(100);
        let folds: Vec<usize> = (0..BAGS).map(|b| b / 2 % 5).collect();
        // Knows the truth of all folds but the one that it was chosen without.
        let truth = truth(&data);
        let noise = noisy(&data, 50.0, 9);
        let without = |v: usize| {
            let value = |b: usize| if folds[b] == v { noise.get(b, 0) } else { truth[b] };
            Mat::new(BAGS, 1, (0..BAGS).map(value).collect())
        };
        let flattered: Vec<Mat> = (0..5).map(without).collect();
        let honest: Vec<Mat> = (0..2).map(|seed| noisy(&data, 1.5, seed)).collect();
        let mut all = candidates(&honest, 5);
        all.push(OutOfFold { without: flattered.iter().collect(), may_join: true });
        let setup = majority_setup();
        let task = TrainingTask::new(&data, &setup, None).unwrap();
        let rows: Vec<usize> = (0..BAGS).collect();
        let judge = Judge::new(&task, &rows, &folds);
        let ctx = Ctx::default();
        let own = |which: usize| judge.value(|v| all[which].without[v], &ctx).unwrap();
        assert!(own(2) > own(0), "{} {}", own(2), own(0));
        let odds = |which: usize| (which, judge.cross_fitted(|v| all[which].without[v], &ctx).unwrap());
        let members = judge.greedy(&[odds(0), odds(1), odds(2)], &rows, &ctx).unwrap();
        assert!(members.iter().all(|m| m.0 != 2), "{members:?}");
    }

    #[test]
    fn costs_move_the_odds_as_bags_would() {
        // One bag in twenty is positive; balanced, both classes cost the same.
        let data = data(10);
        let mut setup = majority_setup();
        let all: Vec<usize> = (0..BAGS).collect();
        let folds: Vec<usize> = (0..BAGS).map(|b| b % 5).collect();
        let shift = |setup: &ResolvedConfig| {
            let task = TrainingTask::new(&data, setup, None).unwrap();
            Judge::new(&task, &all, &folds).shifts[0]
        };
        assert_eq!(shift(&setup), 0.0);
        setup.balanced = true;
        assert!((shift(&setup) - 19f64.ln()).abs() < 1e-12);
    }

    #[test]
    fn groups_count_as_one() {
        // The same loss in every bag of two groups out of many: of bags that is certain, of groups it is not.
        let codes: Vec<u32> = (0..BAGS as u32).map(|b| b / 10).collect();
        let names = (0..20).map(|g| g.to_string()).collect();
        let data = data(100).with_groups(Groups { codes, names }).unwrap();
        let setup = majority_setup();
        let task = TrainingTask::new(&data, &setup, None).unwrap();
        let all: Vec<usize> = (0..BAGS).collect();
        let folds = vec![0; BAGS];
        let judge = Judge::new(&task, &all, &folds);
        let gains: Vec<f64> = (0..BAGS).map(|b| if b < 20 { -1.0 } else { 0.05 }).collect();
        assert!(judge.gain(&gains).unwrap().is_not_clearly_worse());
        let alone = Judge { units: (0..BAGS).collect(), ..judge };
        assert!(!alone.gain(&gains).unwrap().is_not_clearly_worse());
        assert!(!alone.gain(&[0.0; BAGS]).unwrap().is_not_clearly_worse(), "no difference at all");
    }
}
