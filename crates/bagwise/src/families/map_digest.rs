//! A digest of everything that determines the map of a bag: feature names, scaling, cells and weighting of instances. It tells maps of
//! one model from those of another with as many columns. The machine, classes and probabilities are not part of it, so a model that
//! learned from maps has the digest of the model that made them. Files keep digests: the same map must have the same one in all
//! versions.

use crate::families::map_svm::CellMap;
use crate::families::saved_cells::save_partitions;
use crate::preprocess::Transform;
use crate::state::{State, Tensor};
use bagwise_core::{Error, Feature, Result, checksum};
use bagwise_engine::cells::{Distance, Partitions};

impl CellMap {
    /// The digest of this map for bags with these features, transformed in this way, in hexadecimal digits.
    pub(crate) fn digest(&self, features: &[Feature], transform: &Transform) -> Result<String> {
        let read = serde_json::to_string(&(features, transform))
            .map_err(|e| Error::Invalid(format!("the features and scaling of a map: {e}")))?;
        let mut sum = checksum::BEGIN;
        // Byte by byte: of whole words two changed signs would cancel out.
        let mut take =
            |bytes: &[u8]| sum = bytes.iter().fold(sum, |sum, &b| checksum::step(sum, u64::from(b)));
        take(read.as_bytes());
        for (name, tensor) in &self.cells()?.tensors {
            take(name.as_bytes());
            tensor.shape().iter().for_each(|&n| take(&(n as u64).to_le_bytes()));
            match tensor {
                Tensor::F64(_, values) => values.iter().for_each(|v| take(&v.to_le_bytes())),
                Tensor::F32(_, values) => values.iter().for_each(|v| take(&v.to_le_bytes())),
                Tensor::U64(_, values) => values.iter().for_each(|v| take(&v.to_le_bytes())),
            }
        }
        Ok(format!("{sum:016x}"))
    }

    /// Partitionings and weighting as arrays.
    fn cells(&self) -> Result<State> {
        let mut state = State::default();
        // Those that a model keeps, also if others were drawn with them.
        let partitions = self.partitions.shortened(self.psi);
        save_partitions(&partitions, &mut state)?;
        let text = matches!(&partitions, Partitions::Centres(lists) if lists.distance() == Distance::Text);
        state.put_counts("t, psi, text", [partitions.t(), self.psi, usize::from(text)]);
        state.put_counts("epsilon", [self.share.numerator as usize, self.share.denominator as usize]);
        Ok(state)
    }
}
