//! Scores that are not finite numbers: whether the bag or the model is to blame.

use super::Model;
use bagwise_core::{Bags, Error, Place, Result};

/// Scaled values up to this size cannot make a score overflow: all kernels together raise them to powers far below 50.
const ORDINARY: f64 = 1e6;

impl Model {
    /// The error of a bag whose score is not finite; `raw` are the bags as they were given, `ready` the same after scaling.
    pub(super) fn overflow(&self, raw: &Bags, ready: &Bags, bag: usize) -> Result<Error> {
        let found = format!("the score of bag '{}' is not a finite number", raw.ids()[bag]);
        Ok(match self.is_ordinary(raw, Some(ready), bag)? {
            true => self.too_large(&found),
            false => Error::data(
                Place::default(),
                found,
                "its numbers are too large for this model: correct them, or leave the bag out",
            ),
        })
    }

    /// What went wrong with bags on their way to scores: an error of the first bag that is not ordinary, or of the model if all
    /// are. The bags are finite, so whatever is wrong with what was computed from them is an overflow.
    pub(super) fn blamed(&self, error: Error, raw: &Bags, ready: Option<&Bags>) -> Error {
        let Error::Data { place, found, .. } = &error else { return error };
        if !place.source.is_empty() {
            return error;
        }
        match (0..raw.len()).find(|&bag| !self.is_ordinary(raw, ready, bag).unwrap_or(false)) {
            None => self.too_large(found),
            Some(bag) => Error::data(
                Place::default(),
                format!("the numbers of bag '{}' are too large for this model", raw.ids()[bag]),
                "correct them, or leave the bag out",
            ),
        }
    }

    fn too_large(&self, found: &str) -> Error {
        let place = match self.place.source.is_empty() {
            true => Place::of(format!("the {} model of {}", self.header.method, self.header.training.data)),
            false => self.place.clone(),
        };
        let problem = format!(
            "{found}, though the numbers of the data are ordinary: those of the model are too large; train it again"
        );
        Error::Model { place, problem }
    }

    /// Whether the values of a bag are in the range of the training bags, or small after scaling.
    fn is_ordinary(&self, raw: &Bags, ready: Option<&Bags>, bag: usize) -> Result<bool> {
        if self.header.familiarity.outside(raw, bag)? == 0.0 {
            return Ok(true);
        }
        let Some(ready) = ready else { return Ok(false) };
        let mut largest = 0.0f64;
        ready.instances().each_row(ready.rows(bag), |_, row| {
            largest = row.iter().fold(largest, |l, v| l.max(v.abs()));
        })?;
        Ok(largest <= ORDINARY)
    }
}
