//! A run that trains nothing: a saved model on labelled bags from elsewhere.

use std::time::Instant;

use bagwise_core::{Ctx, Dataset, Error, Result};
use bagwise_judge::{Fold, FoldPlan, GroundTruth, Key, Record};

use super::{FoldResult, Run, RunPlan, reasons};
use crate::model::{Model, Prediction};

impl<'a> Run<'a> {
    /// One fold, all of whose bags are tested.
    pub(crate) fn external(data: &'a Dataset, plan: &'a RunPlan, model: &Model) -> Result<Run<'a>> {
        let test: Vec<usize> = (0..data.bags.len()).collect();
        let folds = FoldPlan {
            splits: plan.protocol.outer,
            seed: plan.seed,
            repeats: vec![vec![Fold { train: Vec::new(), test }]],
        };
        let roster = GroundTruth::new(data, plan.positive.as_deref())?;
        let fingerprint = bagwise_judge::fingerprint(&(
            env!("CARGO_PKG_VERSION"),
            &data.name,
            &roster.fingerprint,
            plan,
            model.digest()?,
        ));
        Ok(Run { data, plan, candidates: &[], given: None, trains_inner: false, folds, roster, fingerprint })
    }

    /// The only record of such a run.
    pub(crate) fn judge_model(
        &self,
        model: &Model,
        predicted: &[Prediction],
        started: Instant,
        ctx: &Ctx,
    ) -> Result<Record> {
        let fold = &self.folds.repeats[0][0];
        let header = &model.header;
        let judged = FoldResult {
            parameters: header.parameters.to_map(),
            reasons: match model.explain_with(&self.data.bags, ctx) {
                Ok(explained) => reasons::of_model(model, self.data, predicted, &explained),
                Err(Error::Cancelled) => return Err(Error::Cancelled),
                // A method that cannot tell why is judged all the same.
                Err(_) => Vec::new(),
            },
            scored: model.scored(&fold.test, predicted),
            threshold: header.threshold,
            ..FoldResult::default()
        };
        let key = Key {
            data: self.data.name.clone(),
            method: header.method.clone(),
            repeat: 0,
            fold: 0,
            inner: None,
            point: String::new(),
        };
        self.record(key, fold, Ok(judged), started.elapsed().as_secs_f64())
    }
}
