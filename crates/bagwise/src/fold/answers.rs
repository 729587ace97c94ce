//! Answers for bags that training has not seen, with why they are what they are: what a judged fold records.

use super::{Machines, PreparedFold, TrainingTask};
use crate::method::{Explanation, Predictor};
use crate::model::pieces;
use bagwise_core::{Bags, Ctx, Error, Mat, Result};

/// What machines said of new bags.
pub struct Answers {
    /// Bags x machines; not a number where there is no machine.
    pub outputs: Mat,
    /// The machines there are.
    pub machines: Vec<usize>,
    /// For each bag, why each of these machines said so; none if the method cannot tell.
    pub reasons: Option<Vec<Vec<Explanation>>>,
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
        let mut outputs = Mat::new(bags.len(), width, vec![f64::NAN; bags.len() * width]);
        let there: Vec<usize> = (0..width).filter(|&k| machines.0[k].is_some()).collect();
        if there.is_empty() || bags.is_empty() {
            return Ok(Answers { outputs, machines: there, reasons: None });
        }
        let new = frame.transform.apply(&self.bags.select(bags), ctx)?;
        let mut reasons = Some(vec![Vec::with_capacity(there.len()); bags.len()]);
        let mut columns = there.iter();
        for model in self.models(frame, machines, train, ctx)? {
            let scores = model.answer(&new, ctx)?.scores;
            for (column, &k) in (0..scores.cols()).zip(&mut columns) {
                (0..bags.len()).for_each(|row| outputs.set(row, k, scores.get(row, column)));
            }
            let Some(known) = &mut reasons else { continue };
            match explain(&*model, &new, ctx) {
                Ok(own) => known.iter_mut().zip(own).for_each(|(all, own)| all.extend(own)),
                Err(Error::Cancelled) => return Err(Error::Cancelled),
                // A method that cannot tell why, or not within the memory there is, is judged all the same.
                Err(_) => reasons = None,
            }
        }
        Ok(Answers { outputs, machines: there, reasons })
    }
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
