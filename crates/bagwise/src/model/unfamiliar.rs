//! Which columns make bags unlike the training bags.

use std::collections::BTreeMap;

use super::Model;
use bagwise_core::{Bags, Feature, FeatureKind, Result};

/// The first category of bags that a feature did not have in training.
fn unknown_category(trained: &Feature, bags: &Bags) -> Option<String> {
    let FeatureKind::Categorical { values: known } = &trained.kind else { return None };
    let found = bags.features().iter().find(|f| f.name == trained.name)?;
    let FeatureKind::Categorical { values } = &found.kind else { return None };
    values.iter().find(|value| !known.contains(value)).cloned()
}

impl Model {
    /// The columns in which some of these bags have values that training had not, by name: the number of such bags and, of a
    /// column of categories, one that training had not.
    pub fn unfamiliar_columns(
        &self,
        bags: &Bags,
        which: &[usize],
    ) -> Result<BTreeMap<String, (usize, Option<String>)>> {
        if which.is_empty() {
            return Ok(BTreeMap::new());
        }
        let aligned = bags.select(which).align(&self.header.features)?;
        let all: Vec<usize> = (0..aligned.len()).collect();
        let counts = self.header.familiarity.bags_outside(&aligned, &all)?;
        let outside = self.header.features.iter().zip(counts).filter(|(_, count)| *count > 0);
        Ok(outside.map(|(f, count)| (f.name.clone(), (count, unknown_category(f, bags)))).collect())
    }

    /// The missing values of each column that has some; the model fills them in.
    pub fn filled_columns(&self, bags: &Bags) -> Result<Vec<(String, usize)>> {
        let aligned = bags.align(&self.header.features)?;
        if !aligned.has_missing() {
            return Ok(Vec::new());
        }
        let mut missing = vec![0; aligned.width()];
        aligned.instances().each_row(0..aligned.instance_count(), |_, row| {
            missing.iter_mut().zip(row).for_each(|(count, value)| *count += usize::from(value.is_nan()));
        })?;
        let found = self.header.features.iter().zip(missing).filter(|(_, count)| *count > 0);
        Ok(found.map(|(feature, count)| (feature.name.clone(), count)).collect())
    }

    /// The columns whose values vary far less or far more in these bags than in training, and how many times more, which is below 1 if
    /// less: perhaps their unit is another one. None for fewer than ten bags.
    pub fn rescaled_columns(&self, bags: &Bags) -> Result<Vec<(String, f64)>> {
        let found = self.header.familiarity.rescaled(&bags.align(&self.header.features)?)?;
        Ok(found.into_iter().map(|(at, times)| (self.header.features[at].name.clone(), times)).collect())
    }
}
