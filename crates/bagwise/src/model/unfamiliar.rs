//! Which columns make bags unlike the training bags.

use super::Model;
use bagwise_core::{Bags, Feature, FeatureKind, Result};

/// A column in which bags have values that training had not.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnfamiliarColumn {
    /// Its name.
    pub name: String,
    /// Bags with such values.
    pub bags: usize,
    /// A category that training had not, if it has categories.
    pub category: Option<String>,
}

/// The first category of bags that a feature did not have in training.
fn unknown_category(trained: &Feature, bags: &Bags) -> Option<String> {
    let FeatureKind::Categorical { values: known } = &trained.kind else { return None };
    let found = bags.features().iter().find(|f| f.name == trained.name)?;
    let FeatureKind::Categorical { values } = &found.kind else { return None };
    values.iter().find(|value| !known.contains(value)).cloned()
}

impl Model {
    /// The columns in which some of these bags have values that training had not, those of most bags first.
    pub fn unfamiliar_columns(&self, bags: &Bags, which: &[usize]) -> Result<Vec<UnfamiliarColumn>> {
        let aligned = bags.select(which).align(&self.header.features)?;
        let all: Vec<usize> = (0..aligned.len()).collect();
        let counts = self.header.familiarity.bags_outside(&aligned, &all)?;
        let mut found: Vec<UnfamiliarColumn> = (self.header.features.iter().zip(counts))
            .filter(|(_, count)| *count > 0)
            .map(|(feature, bags_outside)| UnfamiliarColumn {
                name: feature.name.clone(),
                bags: bags_outside,
                category: unknown_category(feature, bags),
            })
            .collect();
        found.sort_by_key(|column| std::cmp::Reverse(column.bags)); // stable
        Ok(found)
    }
}
