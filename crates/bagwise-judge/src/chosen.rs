//! What the folds of a method chose: the point that most of them took, parameters that sit at the end of their list so
//! often that a longer list may do better, and methods whose choice let them see test bags.

use std::collections::{BTreeMap, BTreeSet};

use super::record::Record;

/// A parameter that most fits chose from an end of its list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AtGridEnd {
    /// The parameter.
    pub name: String,
    /// Fits that chose it at an end.
    pub edge: usize,
    /// Fits that chose it at all: a failed fit chose nothing, and methods that take turns have parameters of their own.
    pub fits: usize,
}

impl std::fmt::Display for AtGridEnd {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} (in {} of {} fits)", self.name, self.edge, self.fits)
    }
}

/// The methods, by name, that drew on the bags they were judged by: [`Record::saw_test_bags`].
pub fn that_saw_test_bags<'r>(records: impl IntoIterator<Item = &'r Record>) -> Vec<String> {
    let saw = records.into_iter().filter(|r| r.saw_test_bags());
    saw.map(|r| r.key.method.clone()).collect::<BTreeSet<_>>().into_iter().collect()
}

/// Parameters of one method's records that more than half of the fits chose at an end, by name. Fits that chose a method too do not
/// count: each of its methods has a grid of its own, which nobody wrote, and a better one may be another method.
pub fn often_at_grid_end<'r>(records: impl IntoIterator<Item = &'r Record>) -> Vec<AtGridEnd> {
    let mut counts: BTreeMap<&str, (usize, usize)> = BTreeMap::new();
    for record in records.into_iter().filter(|r| !r.parameters.contains_key("method")) {
        for name in record.parameters.keys() {
            let (edge, fits) = counts.entry(name).or_default();
            *fits += 1;
            *edge += usize::from(record.on_edge.contains(name));
        }
    }
    let often = counts.into_iter().filter(|(_, (edge, fits))| 2 * edge > *fits);
    often.map(|(name, (edge, fits))| AtGridEnd { name: name.into(), edge, fits }).collect()
}

/// Of one method's records the first with the parameters that most fits chose, and how many those are; of equally
/// frequent ones those that were chosen first. None if no fit succeeded.
pub fn most_chosen<'r>(records: impl IntoIterator<Item = &'r Record>) -> Option<(&'r Record, usize)> {
    let mut counts: Vec<(&'r Record, usize)> = Vec::new();
    for record in records.into_iter().filter(|r| r.succeeded()) {
        match counts.iter_mut().find(|(first, _)| first.parameters == record.parameters) {
            Some((_, n)) => *n += 1,
            None => counts.push((record, 1)),
        }
    }
    let most = counts.iter().map(|(_, n)| *n).max()?;
    counts.into_iter().find(|(_, n)| *n == most)
}
