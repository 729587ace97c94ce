//! A summary of a data set, and what is suspicious about it before any method is tried: columns that leak the label,
//! ids used as features, bag sizes that predict the label, duplicates with different labels. Everything is computed
//! from the data alone in one pass over the columns (`columns`), one over the rows (`duplicates`) and a few over the
//! bags; `findings` turns it into sentences.

mod columns;
mod findings;
mod relatives;
mod reveals;
mod scaling;

use std::collections::BTreeSet;

use serde::{Serialize, Serializer};

pub use bagwise_core::{Duplicates, repeats_of_earlier};
pub use columns::{ColumnSummary, LooksLike};
pub use findings::{Finding, Severity, imbalanced_share};
pub use reveals::Reveals;
pub use scaling::Scaling;

use bagwise_core::{Dataset, Groups, Instances, Message, Result, Target, copied_bags};
use bagwise_judge::Metric;

/// What [`inspect`] found.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Inspection {
    /// Where the data came from.
    pub data: String,
    /// Number of bags.
    pub bags: usize,
    /// Number of instances in all bags.
    pub instances: usize,
    /// Number of attributes.
    pub attributes: usize,
    /// Bags of each class, in the order of the classes; empty without classes.
    #[serde(serialize_with = "as_map")]
    pub classes: Vec<(String, usize)>,
    /// The target, if it is a number.
    pub target: Option<Spread>,
    /// Groups, if there are any.
    pub groups: Option<GroupSummary>,
    /// Instances per bag.
    pub bag_sizes: BagSizes,
    /// Number of attributes that are numbers.
    pub numeric: usize,
    /// Number of attributes that are categories.
    pub categorical: usize,
    /// Smallest and largest number of all numeric attributes.
    pub range: Option<(f64, f64)>,
    /// Share of the values of numeric attributes that are 0.
    pub zeros: f64,
    /// Values that are missing.
    pub missing: usize,
    /// "f64", "f32" or "sparse".
    pub storage: &'static str,
    /// Bytes the values occupy in memory.
    pub bytes: u64,
    /// Columns carried along, never learned from.
    pub kept: Vec<String>,
    /// Instances of each true instance label, if the source knows them.
    #[serde(serialize_with = "as_map")]
    pub instance_labels: Vec<(String, usize)>,
    /// Repetitions.
    pub duplicates: Duplicates,
    /// Names of the attributes with one value everywhere.
    pub constant: Vec<String>,
    /// How to scale, and why.
    pub scaling: Scaling,
    /// What is suspicious, worst first.
    pub findings: Vec<Finding>,
    /// What the reader wanted the user to know.
    pub warnings: Vec<Message>,
    /// Every attribute.
    pub columns: Vec<ColumnSummary>,
}

/// A number per bag, summarised.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Spread {
    /// Smallest.
    pub min: f64,
    /// Middle (the mean of the two middle ones if their number is even).
    pub median: f64,
    /// Mean.
    pub mean: f64,
    /// Largest.
    pub max: f64,
}

/// Groups of bags.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct GroupSummary {
    /// Number of groups.
    pub count: usize,
    /// Bags in the largest group.
    pub largest: usize,
    /// Groups with bags of more than one class.
    pub mixed: usize,
    /// Groups with bags of each class, in the order of the classes.
    #[serde(skip)]
    pub of_class: Vec<usize>,
}

/// Instances per bag.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct BagSizes {
    /// Smallest, median, mean and largest.
    #[serde(flatten)]
    pub spread: Spread,
    /// Bags by size.
    pub histogram: Vec<Bin>,
    /// How well the size alone tells a class from the others.
    pub predicts: Option<SizePredicts>,
}

/// Bags whose size lies in a range.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Bin {
    /// Smallest size of the range.
    pub from: usize,
    /// Largest size of the range.
    pub to: usize,
    /// Bags in it.
    pub bags: usize,
}

/// The size of a bag as a predictor of a class.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SizePredicts {
    /// The class that size tells best from the others (the second of two).
    pub class: String,
    /// Area under the ROC curve with the size as score: 0.5 is chance, below it smaller bags are of the class.
    pub auc: f64,
    /// Distance of the area from 0.5 in standard errors of chance.
    pub z: f64,
}

/// What [`inspect()`] finds that would mislead whoever is about to learn from the data: what gives the label or the target
/// away, ids and codes of missing values among the attributes, bags that are there twice or may be related, a target in units
/// that parameters are not made for, and one class in nearly all bags if methods are chosen by accuracy (the default of
/// `optimize`). Rows outside memory are looked at once, for bags that are there twice.
pub fn cautions(data: &Dataset, optimize: Option<Metric>) -> Result<Vec<Finding>> {
    let mut list = Vec::new();
    if let Some(Target::Classes { codes, names }) = &data.target
        && optimize.unwrap_or(Metric::default_for(false)) == Metric::Accuracy
    {
        let count = |code: usize| codes.iter().filter(|&&c| c as usize == code).count();
        let classes: Vec<usize> = (0..names.len()).map(count).filter(|&n| n > 0).collect();
        list.extend(findings::imbalance(&classes));
    }
    if let Some(Target::Values(values)) = &data.target
        && !values.is_empty()
    {
        list.extend(findings::target_units(&spread(values)));
    }
    if let Some(groups) = &data.groups {
        let groups = group_summary(groups, data.target.as_ref());
        list.extend(findings::pure_groups(&groups, data.bags.len()).filter(|f| f.level == Severity::Warning));
    }
    let target = data.target.as_ref();
    let (columns, twice) = match data.bags.instances() {
        Instances::Stored(_) => (Vec::new(), copied_bags(&data.bags, target)?),
        _ => (columns::columns(&data.bags, target)?, bagwise_core::duplicates(&data.bags, target)?),
    };
    let numbers = matches!(target, Some(Target::Values(_)));
    list.extend(findings::leaks(&columns, numbers, &twice, data.groups.as_ref()));
    let shared = relatives::shared_columns(data, &columns)?;
    let related = shared.iter().map(|column| findings::related(column, data.bags.len()));
    list.extend(related.filter(|f| f.level == Severity::Warning));
    Ok(list)
}

/// Looks at a data set.
///
/// ```
/// let data = bagwise::io::read("synthetic:gauss?bags=30", &Default::default())?;
/// let found = bagwise::inspect::inspect(&data)?;
/// assert_eq!(found.bags, 30);
/// assert_eq!(found.classes, [("0".to_string(), 15), ("1".to_string(), 15)]);
/// # Ok::<(), bagwise::Error>(())
/// ```
pub fn inspect(data: &Dataset) -> Result<Inspection> {
    let bags = &data.bags;
    let target = data.target.as_ref();
    let columns = columns::columns(bags, target)?;
    let numbers: Vec<(f64, f64)> = columns.iter().filter_map(|c| Some((c.min?, c.max?))).collect();
    let zeros = columns.iter().map(|c| c.zeros).sum::<f64>() / numbers.len().max(1) as f64;
    let mut found = Inspection {
        data: data.name.clone(),
        bags: bags.len(),
        instances: bags.instance_count(),
        attributes: bags.width(),
        classes: class_counts(target),
        target: match target {
            Some(Target::Values(values)) => Some(spread(values)),
            _ => None,
        },
        groups: data.groups.as_ref().map(|groups| group_summary(groups, target)),
        bag_sizes: bag_sizes(data),
        numeric: columns.iter().filter(|c| c.categories.is_none()).count(),
        categorical: columns.iter().filter(|c| c.categories.is_some()).count(),
        range: numbers.into_iter().reduce(|a, b| (a.0.min(b.0), a.1.max(b.1))),
        zeros,
        missing: columns.iter().map(|c| c.missing).sum(),
        storage: bags.instances().kind(),
        bytes: bags.instances().bytes(),
        kept: data.kept.iter().map(|k| k.name.clone()).collect(),
        instance_labels: class_counts(data.instance_labels.as_deref().map(Target::from_labels).as_ref()),
        duplicates: bagwise_core::duplicates(bags, target)?,
        constant: columns.iter().filter(|c| c.constant).map(|c| c.name.clone()).collect(),
        scaling: scaling::suggest(&columns, zeros, bags.instances().kind()),
        findings: Vec::new(),
        warnings: data.warnings.clone(),
        columns,
    };
    let shared = relatives::shared_columns(data, &found.columns)?;
    found.findings =
        findings::findings(&found, target.is_some(), data.undecided, data.groups.as_ref(), &shared);
    Ok(found)
}

fn class_counts(target: Option<&Target>) -> Vec<(String, usize)> {
    let Some(Target::Classes { codes, names }) = target else { return Vec::new() };
    let mut counts = vec![0; names.len()];
    for &code in codes {
        counts[code as usize] += 1;
    }
    names.iter().cloned().zip(counts).collect()
}

fn group_summary(groups: &Groups, target: Option<&Target>) -> GroupSummary {
    let mut sizes = vec![0usize; groups.names.len()];
    let mut classes = vec![BTreeSet::new(); groups.names.len()];
    let mut of_class = Vec::new();
    for (bag, &group) in groups.codes.iter().enumerate() {
        sizes[group as usize] += 1;
        if let Some(Target::Classes { codes, names }) = target {
            of_class.resize(names.len(), 0);
            of_class[codes[bag] as usize] += usize::from(classes[group as usize].insert(codes[bag]));
        }
    }
    GroupSummary {
        count: sizes.iter().filter(|&&s| s > 0).count(),
        largest: sizes.iter().copied().max().unwrap_or(0),
        mixed: classes.iter().filter(|c| c.len() > 1).count(),
        of_class,
    }
}

fn spread(values: &[f64]) -> Spread {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let n = sorted.len();
    Spread {
        min: sorted[0],
        median: 0.5 * (sorted[(n - 1) / 2] + sorted[n / 2]),
        mean: sorted.iter().sum::<f64>() / n as f64,
        max: sorted[n - 1],
    }
}

fn bag_sizes(data: &Dataset) -> BagSizes {
    let sizes: Vec<usize> = (0..data.bags.len()).map(|b| data.bags.rows(b).len()).collect();
    let as_numbers: Vec<f64> = sizes.iter().map(|&s| s as f64).collect();
    BagSizes {
        spread: spread(&as_numbers),
        histogram: histogram(&sizes),
        predicts: size_predicts(&as_numbers, data.target.as_ref()),
    }
}

/// One bin per size while there are few, else ten of equal width, else (sizes of different orders) one per doubling.
fn histogram(sizes: &[usize]) -> Vec<Bin> {
    const BINS: usize = 10;
    let (low, high) = (sizes.iter().min().copied().unwrap_or(1), sizes.iter().max().copied().unwrap_or(1));
    let mut bins = Vec::new();
    let mut from = low;
    while from <= high {
        let width = if high - low < BINS {
            1
        } else if high / low < 8 {
            (high - low + BINS) / BINS
        } else {
            (from + 1).next_power_of_two() - from
        };
        let to = (from + width - 1).min(high);
        bins.push(Bin { from, to, bags: sizes.iter().filter(|&&s| from <= s && s <= to).count() });
        from = to + 1;
    }
    bins
}

fn size_predicts(sizes: &[f64], target: Option<&Target>) -> Option<SizePredicts> {
    let Some(Target::Classes { codes, names }) = target else { return None };
    let candidates = if names.len() == 2 { 1..2 } else { 0..names.len() };
    candidates
        .filter_map(|class| {
            let positive: Vec<bool> = codes.iter().map(|&c| c as usize == class).collect();
            let (auc, z) = auc(sizes, &positive)?;
            Some(SizePredicts { class: names[class].clone(), auc, z })
        })
        .max_by(|a, b| a.z.abs().total_cmp(&b.z.abs()))
}

/// Area under the ROC curve (ties count half) and its distance from 0.5 in standard errors under chance; none if
/// a side is empty or all scores are equal. The standard error has the usual correction for ties.
fn auc(scores: &[f64], positive: &[bool]) -> Option<(f64, f64)> {
    let mut order: Vec<usize> = (0..scores.len()).collect();
    order.sort_by(|&a, &b| scores[a].total_cmp(&scores[b]));
    let (mut rank_sum, mut before, mut ties) = (0.0, 0.0, 0.0);
    for same in order.chunk_by(|&a, &b| scores[a] == scores[b]) {
        let count = same.len() as f64;
        let rank = before + (count + 1.0) / 2.0;
        rank_sum += rank * same.iter().filter(|&&i| positive[i]).count() as f64;
        ties += count.powi(3) - count;
        before += count;
    }
    let n = scores.len() as f64;
    let pos = positive.iter().filter(|&&p| p).count() as f64;
    let neg = n - pos;
    let variance = (n + 1.0 - ties / (n * (n - 1.0))) / (12.0 * pos * neg);
    if !(variance > 0.0 && variance.is_finite()) {
        return None;
    }
    let auc = (rank_sum - pos * (pos + 1.0) / 2.0) / (pos * neg);
    Some((auc, (auc - 0.5) / variance.sqrt()))
}

/// A list of pairs as a JSON object that keeps their order.
fn as_map<S: Serializer>(pairs: &[(String, usize)], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_map(pairs.iter().map(|(name, count)| (name, count)))
}

#[cfg(test)]
mod tests;
