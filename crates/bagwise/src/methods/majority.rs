//! The constant baseline: the most frequent class, or the mean of the training values. A method that does not beat it
//! has learned nothing.

use std::sync::Arc;

use crate::method::{
    Explains, Explanation, Info, MemoryEstimate, Method, Outputs, Predictor, Prepared, Scope, SolvedFit,
    State, Training,
};
use crate::params::Point;
use crate::preprocess::Scale;
use crate::state::refuse;
use bagwise_core::{Bags, Ctx, Mat, Result};

/// The method, for the registry.
pub(crate) static METHOD: Majority = Majority;

pub(crate) struct Majority;

static INFO: Info = Info {
    name: "majority",
    aliases: &["zero-r"],
    title: "baseline: the most frequent class, or the mean",
    about: "Predicts the most frequent class of the training bags for every bag, or the mean of their values. A method \
            that does not beat it has learned nothing.",
    reference: "baseline",
    family: "baseline",
    scale: Scale::None,
    explains: Explains::Bias,
    weighs_classes: false,
    ..Info::USUAL
};

impl Method for Majority {
    fn info(&self) -> &'static Info {
        &INFO
    }

    fn work(&self, _: &Bags, _: usize) -> f64 {
        0.0
    }

    fn needs(&self, _: &Bags) -> MemoryEstimate {
        MemoryEstimate::default()
    }

    fn prepare(&self, _: Arc<Bags>, _: &[Point], _: &Scope<'_>, _: &Ctx) -> Result<Box<dyn Prepared>> {
        Ok(Box::new(Constant))
    }

    fn load(&self, _: &Point, state: &State) -> Result<Box<dyn Predictor>> {
        let values = state.mat("constants")?;
        if values.rows() != 1 {
            return Err(refuse("'constants' is not one row"));
        }
        Ok(Box::new(Constants(values.into_data())))
    }
}

struct Constant;

impl Prepared for Constant {
    fn fit(&self, points: &[usize], training: &Training<'_>, _: &Ctx) -> Result<Vec<SolvedFit>> {
        // For classes: the weighted share of +1 minus that of -1.
        let total: f64 = training.weights.iter().sum();
        let value = training.y.iter().zip(training.weights).map(|(y, w)| y * w).sum::<f64>() / total;
        Ok(points
            .iter()
            .map(|&point| SolvedFit { point, outcome: None, rounds: None, solution: Box::new(value) })
            .collect())
    }

    fn scores(&self, fit: &SolvedFit, bags: &[usize], _: &Ctx) -> Result<Vec<f64>> {
        Ok(vec![*fit.of::<f64>(); bags.len()])
    }

    fn model(&self, fits: &[&SolvedFit], _: &[usize], _: &Ctx) -> Result<Box<dyn Predictor>> {
        Ok(Box::new(Constants(fits.iter().map(|fit| *fit.of::<f64>()).collect())))
    }
}

/// One constant per output.
struct Constants(Vec<f64>);

impl Predictor for Constants {
    fn outputs(&self) -> usize {
        self.0.len()
    }

    fn width(&self) -> Option<usize> {
        None
    }

    fn predict(&self, bags: &Bags, _: &Ctx) -> Result<Outputs> {
        let scores = Mat::new(bags.len(), self.0.len(), self.0.repeat(bags.len()));
        Ok(Outputs { scores, nearest: vec![None; bags.len()] })
    }

    fn explain(&self, bags: &Bags, _: &Ctx) -> Result<Vec<Vec<Explanation>>> {
        let one =
            |b: usize, &bias: &f64| Explanation::Additive { bias, parts: vec![0.0; bags.rows(b).len()] };
        Ok((0..bags.len()).map(|b| self.0.iter().map(|bias| one(b, bias)).collect()).collect())
    }

    fn save(&self) -> Result<State> {
        let mut state = State::default();
        state.put_mat("constants", &Mat::new(1, self.0.len(), self.0.clone()));
        Ok(state)
    }
}
