//! One pass over the attributes, a few columns at a time so that memory stays small for wide data and every
//! column is summed in file order, whatever the number of threads. Gathers what can be said of a column by
//! itself (range, zeros, constants) and of a column beside the labels (does it give them away?).

use std::collections::HashSet;

use rayon::prelude::*;
use serde::Serialize;

use super::reveals::{LabelProfile, Reveals};
use bagwise_core::{Bags, FeatureKind, Instances, Result, Stored, Target};

/// Columns handled together: 32 doubles are four cache lines of a row, and three numbers per bag and column
/// stay below 80 MB for a hundred thousand bags.
const BLOCK: usize = 32;

/// Fewer bags than this show nothing about ids.
const ENOUGH: usize = 20;

/// Numbers that programs and people write where there is no value, with either sign.
const CODES: [f64; 8] = [99.0, 999.0, 9999.0, 99999.0, 999999.0, 99.9, 999.9, 9999.9];

/// One attribute.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ColumnSummary {
    /// Its name.
    pub name: String,
    /// "numeric" or "categorical".
    pub kind: &'static str,
    /// Smallest value; none for categories.
    pub min: Option<f64>,
    /// Largest value; none for categories.
    pub max: Option<f64>,
    /// Mean over instances; none for categories.
    pub mean: Option<f64>,
    /// Standard deviation over instances, dividing by their number; none for categories.
    pub sd: Option<f64>,
    /// Share of instances whose value is 0; 0 for categories.
    pub zeros: f64,
    /// Number of instances without a value.
    pub missing: usize,
    /// Number of categories; none for numbers.
    pub categories: Option<usize>,
    /// One value everywhere.
    pub constant: bool,
    /// One value in each bag: a property of the bag, repeated for its instances.
    pub same_within_bags: bool,
    /// How the column gives the label away, if it does.
    pub reveals_label: Option<Reveals>,
    /// The share of the bags whose label the column alone predicts, or of the variance of a target, if it is suspiciously near 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub predicts_label: Option<f64>,
    /// How the column looks like a number that was given rather than measured, if it does.
    pub looks_like: Option<LooksLike>,
    /// A number such as -999 that stands far from all other values and seems to mean that there is none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub code: Option<f64>,
}

/// What a column of whole numbers looks like.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum LooksLike {
    /// It counts the rows of the file.
    RowNumber,
    /// It counts the instances of each bag.
    InstanceNumber,
    /// It is different for every bag and the same within each.
    BagId,
    /// It is different for every instance.
    InstanceId,
}

/// Summarises every column.
pub(super) fn columns(bags: &Bags, target: Option<&Target>) -> Result<Vec<ColumnSummary>> {
    let labels = LabelProfile::new(target, bags.width());
    if let Instances::Stored(stored) = bags.instances() {
        return stored_columns(bags, stored, &labels);
    }
    let starts: Vec<usize> = (0..bags.width()).step_by(BLOCK).collect();
    Ok(starts.par_iter().flat_map_iter(|&start| block(bags, start, &labels)).collect())
}

fn block(bags: &Bags, start: usize, labels: &LabelProfile<'_>) -> Vec<ColumnSummary> {
    let width = BLOCK.min(bags.width() - start);
    let mut tallies: Vec<Tally> = (0..width).map(|_| Tally::new(bags.len())).collect();
    let mut values = vec![0.0; width];
    for bag in 0..bags.len() {
        for (position, row) in bags.rows(bag).enumerate() {
            part_of_row(bags.instances(), row, start, &mut values);
            for (tally, &value) in tallies.iter_mut().zip(&values) {
                tally.add(value, position, row);
            }
        }
        for tally in &mut tallies {
            tally.close_bag();
        }
    }
    tallies.into_iter().enumerate().map(|(i, tally)| tally.finish(bags, start + i, labels)).collect()
}

/// The same for rows outside memory: they are read once, block by block, and the columns of a block shared out.
fn stored_columns(bags: &Bags, stored: &Stored, labels: &LabelProfile<'_>) -> Result<Vec<ColumnSummary>> {
    let width = bags.width();
    let mut tallies: Vec<Tally> = (0..width).map(|_| Tally::new(bags.len())).collect();
    let mut block = vec![0.0; stored.block_rows() * width];
    for bag in 0..bags.len() {
        let rows = bags.rows(bag);
        for first in rows.clone().step_by(stored.block_rows()) {
            let count = stored.block_rows().min(rows.end - first);
            stored.read_f64(first..first + count, &mut block[..count * width])?;
            let block = &block[..count * width];
            tallies.par_iter_mut().enumerate().with_min_len(16).for_each(|(column, tally)| {
                for (i, row) in block.chunks_exact(width).enumerate() {
                    tally.add(row[column], first + i - rows.start, first + i);
                }
            });
        }
        tallies.iter_mut().for_each(Tally::close_bag);
    }
    let finished =
        tallies.into_par_iter().enumerate().map(|(column, tally)| tally.finish(bags, column, labels));
    Ok(finished.collect())
}

/// The columns from `start` on of one row, as many as `out` holds.
fn part_of_row(instances: &Instances, row: usize, start: usize, out: &mut [f64]) {
    let end = start + out.len();
    match instances {
        Instances::F64(m) => out.copy_from_slice(&m.row(row)[start..end]),
        Instances::F32(m) => {
            for (o, &v) in out.iter_mut().zip(&m.row(row)[start..end]) {
                *o = f64::from(v);
            }
        }
        Instances::Sparse(m) => {
            out.fill(0.0);
            let (columns, values) = m.row(row);
            let first = columns.partition_point(|&c| (c as usize) < start);
            for (&c, &v) in columns[first..].iter().zip(&values[first..]) {
                if c as usize >= end {
                    break;
                }
                out[c as usize - start] = v;
            }
        }
        Instances::Stored(_) => unreachable!("rows outside memory are walked once, with all columns"),
    }
}

/// What is known of a column while its rows go by.
struct Tally {
    count: usize,
    missing: usize,
    zeros: usize,
    min: f64,
    max: f64,
    /// The values next to the smallest and the largest, and how often those two occur.
    second: f64,
    last_but_one: f64,
    at_min: usize,
    at_max: usize,
    mean: f64,
    m2: f64,
    whole: bool,
    counts_rows: bool,
    counts_in_bags: bool,
    same_within_bags: bool,
    /// The values so far, while all are whole and different.
    different: Option<HashSet<u64>>,
    first: f64,
    previous: f64,
    bag: BagTally,
    per_bag: Vec<BagTally>,
}

/// Smallest, largest and mean value of a column in one bag; NaN if it has none.
#[derive(Clone, Copy)]
pub(super) struct BagTally {
    pub(super) min: f64,
    pub(super) max: f64,
    sum: f64,
    count: usize,
}

impl BagTally {
    const NEW: BagTally = BagTally { min: f64::INFINITY, max: f64::NEG_INFINITY, sum: 0.0, count: 0 };

    pub(super) fn mean(&self) -> f64 {
        self.sum / self.count as f64
    }
}

impl Tally {
    fn new(bags: usize) -> Tally {
        Tally {
            count: 0,
            missing: 0,
            zeros: 0,
            min: f64::INFINITY,
            max: f64::NEG_INFINITY,
            second: f64::INFINITY,
            last_but_one: f64::NEG_INFINITY,
            at_min: 0,
            at_max: 0,
            mean: 0.0,
            m2: 0.0,
            whole: true,
            counts_rows: true,
            counts_in_bags: true,
            same_within_bags: true,
            different: Some(HashSet::new()),
            first: 0.0,
            previous: 0.0,
            bag: BagTally::NEW,
            per_bag: Vec::with_capacity(bags),
        }
    }

    fn add(&mut self, value: f64, position: usize, row: usize) {
        if value.is_nan() {
            self.missing += 1;
            self.counts_rows = false;
            self.counts_in_bags = false;
            self.same_within_bags = false;
            self.different = None;
            return;
        }
        self.count += 1;
        self.zeros += usize::from(value == 0.0);
        if value < self.min {
            (self.second, self.min, self.at_min) = (self.min, value, 1);
        } else if value == self.min {
            self.at_min += 1;
        } else {
            self.second = self.second.min(value);
        }
        if value > self.max {
            (self.last_but_one, self.max, self.at_max) = (self.max, value, 1);
        } else if value == self.max {
            self.at_max += 1;
        } else {
            self.last_but_one = self.last_but_one.max(value);
        }
        let off = value - self.mean;
        self.mean += off / self.count as f64;
        self.m2 += off * (value - self.mean);
        self.whole &= value.fract() == 0.0;
        if row == 0 {
            self.first = value;
        }
        self.counts_rows &= value == self.first + row as f64;
        if position == 0 {
            self.counts_in_bags &= value == self.first;
        } else {
            self.counts_in_bags &= value == self.previous + 1.0;
            self.same_within_bags &= value == self.previous;
        }
        if !self.whole || !self.different.as_mut().is_none_or(|seen| seen.insert(value.to_bits())) {
            self.different = None;
        }
        self.previous = value;
        self.bag.min = self.bag.min.min(value);
        self.bag.max = self.bag.max.max(value);
        self.bag.sum += value;
        self.bag.count += 1;
    }

    fn close_bag(&mut self) {
        self.per_bag.push(std::mem::replace(&mut self.bag, BagTally::NEW));
    }

    fn finish(self, bags: &Bags, column: usize, labels: &LabelProfile<'_>) -> ColumnSummary {
        let feature = &bags.features()[column];
        let constant = self.missing == 0 && self.min == self.max;
        let (kind, categories) = match &feature.kind {
            FeatureKind::Numeric => ("numeric", None),
            FeatureKind::Categorical { values } => ("categorical", Some(values.len())),
        };
        let reveals_label = match constant || self.missing > 0 {
            true => None,
            false => labels.revealed_by(&self.per_bag, self.same_within_bags, categories.is_some()),
        };
        let predicts_label = match constant || self.missing > 0 || reveals_label.is_some() {
            true => None,
            false => labels.nearly_revealed_by(&self.per_bag, self.same_within_bags, categories.is_some()),
        };
        let number = |value: f64| (categories.is_none() && self.count > 0).then_some(value);
        ColumnSummary {
            name: feature.name.clone(),
            kind,
            min: number(self.min),
            max: number(self.max),
            mean: number(self.mean),
            sd: number((self.m2 / self.count as f64).sqrt()),
            zeros: if categories.is_some() { 0.0 } else { self.zeros as f64 / bags.instance_count() as f64 },
            missing: self.missing,
            categories,
            constant,
            same_within_bags: self.same_within_bags && bags.len() < bags.instance_count(),
            reveals_label,
            predicts_label,
            // The codes of categories are ours.
            looks_like: if constant || categories.is_some() { None } else { self.looks_like(bags) },
            code: if categories.is_some() { None } else { self.code() },
        }
    }

    /// Codes are round in their way, occur again, and lie farther from the other values than these from each other.
    fn code(&self) -> Option<f64> {
        let is_code = |value: f64| CODES.contains(&value.abs());
        let low = self.second - self.min > self.max - self.second;
        let high = self.max - self.last_but_one > self.last_but_one - self.min;
        if self.second >= self.max {
            None // two values in all: both may be meant
        } else if is_code(self.min) && self.at_min > 1 && low {
            Some(self.min)
        } else if is_code(self.max) && self.at_max > 1 && high {
            Some(self.max)
        } else {
            None
        }
    }

    fn looks_like(&self, bags: &Bags) -> Option<LooksLike> {
        if !self.whole || self.missing > 0 {
            return None;
        }
        let instances = bags.instance_count();
        if self.counts_rows && instances >= ENOUGH {
            return Some(LooksLike::RowNumber);
        }
        // Bags of one instance cannot count.
        let counting = (0..bags.len()).filter(|&b| bags.rows(b).len() > 2).count();
        if self.counts_in_bags && counting >= 5 {
            return Some(LooksLike::InstanceNumber);
        }
        if self.same_within_bags && bags.len() >= ENOUGH && bags.len() < instances {
            let values: HashSet<u64> = self.per_bag.iter().map(|b| b.min.to_bits()).collect();
            if values.len() == bags.len() {
                return Some(LooksLike::BagId);
            }
        }
        // Measurements rounded to whole numbers repeat themselves long before a hundred rows.
        (self.different.is_some() && instances >= 100).then_some(LooksLike::InstanceId)
    }
}
