//! Columns that seem to name what several bags have in common, such as a patient, where nobody said which bags belong together.

use std::collections::HashMap;

use bagwise_core::{Dataset, FeatureKind, Groups, Instances, Result, Target};
use bagwise_io::{could_name_groups, is_group_heading};

use super::{ColumnSummary, Severity};

/// Fewer values than this are what a method learns from: sexes, sites.
const FEW: usize = 5;

/// From so many values on, with at most so many bags each, a column whose heading says nothing names things rather than kinds.
const NAMES: usize = 10;
const BAGS_PER_NAME: usize = 10;

/// Columns that are listed.
const LISTED: usize = 3;

/// A column that may say which bags are related.
pub(super) struct SharedColumn {
    pub(super) level: Severity,
    pub(super) name: String,
    /// How many different values it has.
    pub(super) values: usize,
}

/// The columns by which bags may be related, those with the most values first; none if the data have groups. `columns` are the
/// attributes as far as they were looked at.
pub(super) fn shared_columns(data: &Dataset, columns: &[ColumnSummary]) -> Result<Vec<SharedColumn>> {
    if data.groups.is_some() {
        return Ok(Vec::new());
    }
    let mut found: Vec<SharedColumn> =
        data.unused.iter().filter_map(|column| judge(&column.name, &column.values, data)).collect();
    for kept in &data.kept {
        found.extend(of_bags(data, &kept.values).and_then(|values| {
            could_name_groups(&kept.name, &values)
                .then(|| judge(&kept.name, &Groups::from_names(&values), data))?
        }));
    }
    for (c, column) in columns.iter().enumerate() {
        // What gives the label away is reported as that.
        let named = column.categories.is_some() || is_group_heading(&column.name);
        if named && column.same_within_bags && column.missing == 0 && column.reveals_label.is_none() {
            let values = feature_of_bags(data, c)?;
            if could_name_groups(&column.name, &values) {
                found.extend(judge(&column.name, &Groups::from_names(&values), data));
            }
        }
    }
    found.sort_by(|a, b| a.level.cmp(&b.level).then(b.values.cmp(&a.values)));
    found.truncate(LISTED);
    Ok(found)
}

/// The value of each bag, if it is the same in all its instances.
fn of_bags<'d>(data: &Dataset, values: &'d [String]) -> Option<Vec<&'d str>> {
    let of = |bag: usize| {
        let own = &values[data.bags.rows(bag)];
        own.iter().all(|v| *v == own[0]).then_some(own[0].as_str())
    };
    (0..data.bags.len()).map(of).collect()
}

/// The value of an attribute in the first instance of each bag.
fn feature_of_bags(data: &Dataset, c: usize) -> Result<Vec<String>> {
    let bags = &data.bags;
    if matches!(bags.instances(), Instances::Stored(_)) {
        return Ok(vec![String::new(); bags.len()]);
    }
    let mut row = vec![0.0; bags.width()];
    let of = |bag: usize| -> Result<String> {
        bags.instances().row_into(bags.rows(bag).start, &mut row)?;
        Ok(match &bags.features()[c].kind {
            FeatureKind::Categorical { values } => values[row[c] as usize].clone(),
            FeatureKind::Numeric => row[c].to_string(),
        })
    };
    (0..bags.len()).map(of).collect()
}

fn judge(name: &str, values: &Groups, data: &Dataset) -> Option<SharedColumn> {
    let mut bags = vec![0usize; values.names.len()];
    values.codes.iter().for_each(|&code| bags[code as usize] += 1);
    let different = bags.iter().filter(|&&n| n > 0).count();
    let sharing: usize = bags.iter().filter(|&&n| n > 1).sum();
    if different < FEW || 2 * sharing < values.codes.len() || is_target(values, data.target.as_ref()) {
        return None;
    }
    let names = different >= NAMES && values.codes.len() <= BAGS_PER_NAME * different;
    let level = if names || is_group_heading(name) { Severity::Warning } else { Severity::Note };
    Some(SharedColumn { level, name: name.into(), values: different })
}

/// True if a column has one value for each class: the label by another name.
fn is_target(values: &Groups, target: Option<&Target>) -> bool {
    let Some(Target::Classes { codes, .. }) = target else { return false };
    let (mut class_of, mut value_of) = (HashMap::new(), HashMap::new());
    let pairs = values.codes.iter().zip(codes);
    pairs.into_iter().all(|(value, class)| {
        class_of.entry(value).or_insert(class) == &class && value_of.entry(class).or_insert(value) == &value
    })
}
