//! What a model keeps of the bags it was trained on, so that a test on them is recognised: digests of their values, and of the names
//! of their groups.

use super::{Model, refuse};
use crate::state::{State, Tensor};
use bagwise_core::{Bags, Dataset, Groups, Result, bag_digests, checksum, one_spelling};

/// Digests in ascending order; none in models from before they were kept.
#[derive(Default)]
pub(super) struct TrainingDigests {
    bags: Vec<u64>,
    groups: Vec<u64>,
}

/// The names of the two arrays in a file.
const NAMES: [&str; 2] = ["training.bags", "training.groups"];

impl TrainingDigests {
    fn of(data: &Dataset, has_instances: bool) -> Result<TrainingDigests> {
        // Of instances that were drawn the bag has more.
        let mut bags = match has_instances && data.drawn.is_none() {
            true => bag_digests(&data.bags)?,
            false => Vec::new(),
        };
        let mut groups = data.groups.as_ref().map_or(Vec::new(), |groups| {
            let all = group_digests(groups);
            groups.codes.iter().map(|&code| all[code as usize]).collect()
        });
        bags.sort_unstable();
        groups.sort_unstable();
        groups.dedup();
        Ok(TrainingDigests { bags, groups })
    }

    pub(super) fn save(&self, state: &mut State) {
        for (name, digests) in NAMES.into_iter().zip([&self.bags, &self.groups]) {
            if !digests.is_empty() {
                state.tensors.insert(name.into(), Tensor::U64(vec![digests.len()], digests.clone()));
            }
        }
    }

    pub(super) fn load(state: &State) -> Result<TrainingDigests> {
        let read = |name: &str| match state.tensors.get(name) {
            None => Ok(Vec::new()),
            Some(Tensor::U64(_, digests)) if digests.is_sorted() => Ok(digests.clone()),
            Some(_) => Err(refuse("the digests of its training bags or groups are inconsistent")),
        };
        Ok(TrainingDigests { bags: read(NAMES[0])?, groups: read(NAMES[1])? })
    }
}

/// A checksum of each name. Parts of a data set keep the names of all groups; those without a bag are left out in training.
fn group_digests(groups: &Groups) -> Vec<u64> {
    groups.names.iter().map(|name| checksum::of_bytes(name.as_bytes())).collect()
}

impl Model {
    /// Stores digests of the bags it was trained on, unless these are maps without the instances, and of their groups.
    pub(crate) fn remember(mut self, data: &Dataset, has_instances: bool) -> Result<Model> {
        self.seen = TrainingDigests::of(data, has_instances)?;
        Ok(self)
    }

    /// Whether it can tell which bags it was trained on. Models of maps or of drawn instances cannot, nor those of older versions.
    pub fn knows_training_bags(&self) -> bool {
        !self.seen.bags.is_empty()
    }

    /// The bags that it was trained on: predictions for them are not a test. Models saved by older versions do not have this
    /// information.
    pub fn training_bags_among(&self, bags: &Bags) -> Result<Vec<usize>> {
        let digests = bag_digests(&bags.align(&self.header.features)?)?;
        let is_known = |bag: &usize| self.seen.bags.binary_search(&digests[*bag]).is_ok();
        Ok((0..bags.len()).filter(is_known).collect())
    }

    /// The groups with the name of one that it was trained on: bags of one group resemble each other, so they are not a test
    /// either.
    pub fn training_groups_among<'g>(&self, groups: &'g Groups) -> Vec<&'g str> {
        let is_known = |name: &&String| {
            spellings(name)
                .iter()
                .any(|name| self.seen.groups.binary_search(&checksum::of_bytes(name.as_bytes())).is_ok())
        };
        groups.names.iter().filter(is_known).map(String::as_str).collect()
    }
}

/// How a name may have been written in training: a whole number also with a fraction of 0, as pandas writes it beside empty cells.
fn spellings(name: &str) -> Vec<String> {
    let mut all = vec![name.to_string()];
    if let Some(number) = one_spelling(name) {
        all.push(number.trim_end_matches('.').to_string());
        all.extend(number.ends_with('.').then(|| format!("{number}0")));
    }
    all
}
