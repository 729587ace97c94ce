//! Predictions and explanations for the test bags of a fold, which its record stores.

use std::collections::BTreeMap;

use super::{MANY_MACHINES, Machines, PreparedFold, TrainingTask};
use crate::method::{Explanation, Predictor};
use crate::model::pieces;
use crate::multiclass::BinaryTask;
use bagwise_core::{Bags, Ctx, Error, Mat, Result};

/// Outputs of the binary models for new bags.
pub struct Answers {
    /// Bags x machines; not a number where there is no machine.
    pub outputs: Mat,
    /// For each bag, the binary model that decided, and its explanation; `None` if the method cannot explain.
    pub reasons: Option<Vec<(usize, Explanation)>>,
}

impl TrainingTask<'_> {
    /// The outputs of [`TrainingTask::outputs`] for bags that are not in the frame, and why, by the same models.
    pub fn answers(
        &self,
        frame: &PreparedFold,
        machines: &Machines,
        train: &[usize],
        bags: &[usize],
        ctx: &Ctx,
    ) -> Result<Answers> {
        let width = self.tasks.len();
        // What the models say, and the same in the order of the machines.
        self.reserve_machines(train.len(), 1, 2 * bags.len(), ctx)?;
        let there: Vec<usize> = (0..width).filter(|&k| machines.0[k].is_some()).collect();
        if there.is_empty() || bags.is_empty() {
            let outputs = Mat::new(bags.len(), width, vec![f64::NAN; bags.len() * width]);
            return Ok(Answers { outputs, reasons: None });
        }
        let new = frame.transform.apply(&self.bags.select(bags), ctx)?;
        let models = self.models(frame, machines, train, ctx)?;
        let many = (there.len() > MANY_MACHINES).then_some((frame, machines, train));
        self.answers_of_models(&models, &there, &new, many, ctx)
    }

    /// The answers of models that have the outputs of machines that are `there`; of many machines only those that decide are asked
    /// why, one by one.
    pub(super) fn answers_of_models(
        &self,
        models: &[Box<dyn Predictor>],
        there: &[usize],
        new: &Bags,
        many: Option<(&PreparedFold, &Machines, &[usize])>,
        ctx: &Ctx,
    ) -> Result<Answers> {
        let outputs = self.outputs_of_models(models, there, new, ctx)?;
        let bags = new.len();
        let labels = self.labels(&outputs, None);
        let decided = |row: usize| decisive(&self.tasks, outputs.row(row), labels.get(row).copied());
        let Some(decided) = (0..bags).map(decided).collect::<Option<Vec<usize>>>() else {
            return Ok(Answers { outputs, reasons: None });
        };
        let reasons = match many {
            Some((frame, machines, train)) => {
                self.explained_one_by_one(frame, machines, train, new, &decided, ctx)
            }
            None => explained(models, there, new, &decided, ctx),
        };
        match reasons {
            Ok(reasons) => Ok(Answers { outputs, reasons: Some(decided.into_iter().zip(reasons).collect()) }),
            Err(Error::Cancelled) => Err(Error::Cancelled),
            // A method that cannot tell why, or not within the memory there is, is judged all the same.
            Err(_) => Ok(Answers { outputs, reasons: None }),
        }
    }

    /// Outputs of models in the order of the machines, not a number where there is no machine.
    fn outputs_of_models(
        &self,
        models: &[Box<dyn Predictor>],
        there: &[usize],
        new: &Bags,
        ctx: &Ctx,
    ) -> Result<Mat> {
        let (bags, width) = (new.len(), self.tasks.len());
        // Most often one model has them all, in order. With hundreds of classes a copy would take hundreds of megabytes.
        if let [model] = models
            && there.len() == width
            && model.outputs() == width
        {
            return Ok(model.predict(new, ctx)?.scores);
        }
        let mut outputs = Mat::new(bags, width, vec![f64::NAN; bags * width]);
        let mut first = 0;
        for model in models {
            let scores = model.predict(new, ctx)?.scores;
            let own = &there[first..first + scores.cols()];
            for row in 0..bags {
                own.iter().zip(scores.row(row)).for_each(|(&k, &score)| outputs.set(row, k, score));
            }
            first += scores.cols();
        }
        Ok(outputs)
    }

    /// Why the machine that decided a bag said so, by a model of that machine alone: of the many pairs of many classes few
    /// decide a bag.
    fn explained_one_by_one(
        &self,
        frame: &PreparedFold,
        machines: &Machines,
        train: &[usize],
        new: &Bags,
        decided: &[usize],
        ctx: &Ctx,
    ) -> Result<Vec<Explanation>> {
        let at = frame.positions(train);
        let mut rows_of: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
        decided.iter().enumerate().for_each(|(row, &k)| rows_of.entry(k).or_default().push(row));
        let mut all: Vec<Option<Explanation>> = vec![None; decided.len()];
        for (k, rows) in rows_of {
            let fit = machines.0[k].as_ref().expect("a machine that decides is there");
            let model = frame.prepared(k).model(&[fit], &at, ctx)?;
            for (row, mut own) in rows.iter().zip(explain(&*model, &new.select(&rows), ctx)?) {
                all[*row] = own.pop();
            }
        }
        Ok(all.into_iter().flatten().collect())
    }
}

/// Why the machine that decided a bag said so, from models of all machines that are `there`.
fn explained(
    models: &[Box<dyn Predictor>],
    there: &[usize],
    new: &Bags,
    decided: &[usize],
    ctx: &Ctx,
) -> Result<Vec<Explanation>> {
    let mut all: Vec<Option<Explanation>> = vec![None; decided.len()];
    let mut first = 0;
    for model in models {
        let own = &there[first..first + model.outputs()];
        first += model.outputs();
        for ((one, known), k) in all.iter_mut().zip(explain(&**model, new, ctx)?).zip(decided) {
            if let Some(at) = own.iter().position(|there| there == k) {
                *one = known.into_iter().nth(at);
            }
        }
    }
    Ok(all.into_iter().flatten().collect())
}

/// Of the machines there are, the one that speaks least for the label among those that know it; the only one there can be.
pub(crate) fn decisive(tasks: &[BinaryTask], outputs: &[f64], label: Option<u32>) -> Option<usize> {
    if tasks.len() == 1 {
        return Some(0);
    }
    let label = label?;
    let speaks = |(k, (task, &output)): (usize, (&BinaryTask, &f64))| match task.plus == label {
        true => Some((k, output)),
        false => (task.minus == Some(label)).then_some((k, -output)),
    };
    let known = tasks.iter().zip(outputs).enumerate().filter(|(_, (_, o))| !o.is_nan()).filter_map(speaks);
    known.min_by(|a, b| a.1.total_cmp(&b.1)).map(|(k, _)| k)
}

/// Explains bags piece by piece: some methods compare every instance with every training bag.
fn explain(model: &dyn Predictor, bags: &Bags, ctx: &Ctx) -> Result<Vec<Vec<Explanation>>> {
    let mut all = Vec::with_capacity(bags.len());
    for piece in pieces(bags) {
        ctx.check()?;
        match piece.len() == bags.len() {
            true => all.extend(model.explain(bags, ctx)?),
            false => all.extend(model.explain(&bags.select(&piece), ctx)?),
        }
    }
    Ok(all)
}
