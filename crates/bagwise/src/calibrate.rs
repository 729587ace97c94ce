//! From outputs to probabilities: a sigmoid per machine, fitted on out-of-fold outputs of training bags, so that
//! confidence is judged on bags the machine had not seen.

use bagwise_svm::Platt;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use crate::multiclass::{BinaryTask, ClassBags, couple};
use bagwise_core::{Ctx, Mat, Result, Target};

/// The sigmoid of each machine.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Calibration {
    machines: Vec<Option<Sigmoid>>,
}

/// `1 / (1 + exp(-(slope * f + offset)))`.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
struct Sigmoid {
    slope: f64,
    offset: f64,
}

impl Calibration {
    /// Fits every machine on the bags of its own classes; `outputs` are bags x machines, in the order of `truth`.
    pub fn fit(truth: &Target, outputs: &Mat, tasks: &[BinaryTask], ctx: &Ctx) -> Result<Calibration> {
        let Target::Classes { codes, .. } = truth else { return Ok(Calibration::default()) };
        let bags: Vec<usize> = (0..codes.len()).collect();
        let by_class = ClassBags::new(codes, &bags);
        let machines = tasks
            .par_iter()
            .enumerate()
            .map(|(k, task)| {
                ctx.check()?;
                let (own, y) = by_class.problem(task);
                let (scores, labels): (Vec<f64>, Vec<f64>) = own
                    .iter()
                    .zip(y)
                    .map(|(&b, y)| (outputs.get(b, k), y))
                    .filter(|(f, _)| f.is_finite())
                    .unzip();
                Ok((!scores.is_empty()).then(|| {
                    let platt = Platt::fit(&scores, &labels);
                    if platt.slope < 0.0 {
                        // Outputs that run against the classes on bags the machine had not seen say nothing: the
                        // shares of the classes do.
                        let plus = labels.iter().filter(|&&y| y > 0.0).count() as f64;
                        let offset = ((plus + 1.0) / (labels.len() as f64 - plus + 1.0)).ln();
                        return Sigmoid { slope: 0.0, offset };
                    }
                    Sigmoid { slope: platt.slope, offset: platt.offset }
                }))
            })
            .collect::<Result<_>>()?;
        Ok(Calibration { machines })
    }

    /// Slope and offset of this many machines, by which outputs become log odds; a machine that says nothing has 0 and 0.
    pub(crate) fn lines(&self, machines: usize) -> Vec<(f64, f64)> {
        let line =
            |k: usize| self.machines.get(k).copied().flatten().map_or((0.0, 0.0), |s| (s.slope, s.offset));
        (0..machines).map(line).collect()
    }

    /// False for a model that was trained without probabilities, and for real values.
    pub fn is_fitted(&self) -> bool {
        !self.machines.is_empty()
    }

    /// Probabilities: bags x 1 (of the plus class) for one machine, else bags x classes.
    pub fn probabilities(
        &self,
        outputs: &Mat,
        tasks: &[BinaryTask],
        classes: usize,
        ctx: &Ctx,
    ) -> Result<Mat> {
        let probability = |k: usize, f: f64| {
            self.machines.get(k).copied().flatten().map_or(f64::NAN, |s| {
                Platt { slope: s.slope, offset: s.offset, converged: true }.probability(f)
            })
        };
        if tasks.len() == 1 {
            let column =
                outputs.data().iter().map(|&f| probability(0, f)).map(|p| if p.is_nan() { 0.5 } else { p });
            return Ok(Mat::new(outputs.rows(), 1, column.collect()));
        }
        let row = |b: usize| {
            ctx.check()?;
            let machine: Vec<f64> =
                outputs.row(b).iter().enumerate().map(|(k, &f)| probability(k, f)).collect();
            Ok(couple(&machine, tasks, classes))
        };
        let rows = (0..outputs.rows()).into_par_iter().map(row);
        Ok(Mat::from_rows(&rows.collect::<Result<Vec<_>>>()?))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::multiclass::{Scheme, tasks};

    #[test]
    fn probabilities_never_run_against_the_outputs() {
        let truth = Target::from_labels(&["a", "b", "a", "b", "a", "a"]);
        let tasks = tasks(2, Scheme::OneVsOne, 1);
        let against = Mat::new(6, 1, vec![1.0, -1.0, 0.8, -0.7, 0.9, 1.1]);
        let ctx = Ctx::default();
        let p = |outputs: &Mat| {
            let calibration = Calibration::fit(&truth, outputs, &tasks, &ctx).unwrap();
            calibration.probabilities(outputs, &tasks, 2, &ctx).unwrap()
        };
        let of_against = p(&against);
        // Two of six are positive; with one added to each class, three of eight.
        assert!(of_against.data().iter().all(|v| (v - 3.0 / 8.0).abs() < 1e-12), "{of_against:?}");
        let along = Mat::new(6, 1, against.data().iter().map(|v| -v).collect());
        let p = p(&along);
        assert!(p.get(1, 0) > 0.5 && p.get(0, 0) < 0.5);
    }
}
