//! One pass over the attributes, a few columns at a time so that memory stays small for wide data and every
//! column is summed in file order, whatever the number of threads. Gathers what can be said of a column by
//! itself (range, zeros, constants) and of a column beside the labels (does it give them away?).

use std::collections::{BTreeMap, HashSet};

use rayon::prelude::*;
use serde::Serialize;

use bagwise_core::{Bags, FeatureKind, Instances, Result, Stored, Target};

/// Columns handled together: 32 doubles are four cache lines of a row, and three numbers per bag and column
/// stay below 80 MB for a hundred thousand bags.
const BLOCK: usize = 32;

/// A finding about a column may occur by chance in one of this many data sets.
const CHANCE: f64 = 1e-4;

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
    /// How the column looks like a number that was given rather than measured, if it does.
    pub looks_like: Option<LooksLike>,
    /// A number such as -999 that stands far from all other values and seems to mean that there is none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub code: Option<f64>,
}

/// How a column gives the label or the target away.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Reveals {
    /// The same in each bag, one value per class (or a multiple of the target).
    Equals,
    /// The same in each bag, and each of its values belongs to one class, or they lie in the order of the target.
    Determines,
    /// The smallest value in a bag tells the classes apart, or orders bags as the target does, without a mistake.
    Smallest,
    /// The largest value in a bag does.
    Largest,
    /// The mean value in a bag does.
    Mean,
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
struct BagTally {
    min: f64,
    max: f64,
    sum: f64,
    count: usize,
}

impl BagTally {
    const NEW: BagTally = BagTally { min: f64::INFINITY, max: f64::NEG_INFINITY, sum: 0.0, count: 0 };

    fn mean(&self) -> f64 {
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
            reveals_label: if constant || self.missing > 0 {
                None
            } else {
                labels.revealed_by(&self.per_bag, self.same_within_bags, categories.is_some())
            },
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

/// The labels, and what it takes to say that a column gives them away.
struct LabelProfile<'a> {
    target: Option<&'a Target>,
    /// Logarithm of the chance that a random column separates the classes in order, times the columns tried.
    separates_by_chance: f64,
    /// Logarithm of the chance that two bags are of one class.
    agree: f64,
    width: f64,
}

impl<'a> LabelProfile<'a> {
    fn new(target: Option<&'a Target>, width: usize) -> LabelProfile<'a> {
        let mut labels =
            LabelProfile { target: None, separates_by_chance: 0.0, agree: 0.0, width: (width as f64).ln() };
        let Some(target) = target else { return labels };
        labels.target = Some(target);
        if let Target::Classes { codes, names } = target {
            let mut counts = vec![0usize; names.len()];
            for &code in codes {
                counts[code as usize] += 1;
            }
            counts.retain(|&c| c > 0);
            if counts.len() < 2 {
                labels.target = None;
            }
            // k! n1! … nk! / n! orders of the bags keep each class together; three statistics are tried.
            let together: f64 = counts.iter().map(|&c| ln_factorial(c)).sum();
            labels.separates_by_chance =
                ln_factorial(counts.len()) + together - ln_factorial(codes.len()) + labels.width + 3f64.ln();
            let n = codes.len() as f64;
            labels.agree = counts.iter().map(|&c| (c as f64 / n).powi(2)).sum::<f64>().ln();
        }
        labels
    }

    fn revealed_by(&self, bags: &[BagTally], same_within_bags: bool, categorical: bool) -> Option<Reveals> {
        match self.target? {
            Target::Values(values) => self.of_values(bags, values, same_within_bags, categorical),
            Target::Classes { codes, names } => {
                if same_within_bags && let Some(found) = self.determined(bags, codes, names.len()) {
                    return Some(found);
                }
                if categorical || self.separates_by_chance > CHANCE.ln() {
                    return None;
                }
                let apart = |of: fn(&BagTally) -> f64| separated(bags.iter().map(of), codes, names.len());
                if apart(|b| b.max) {
                    Some(Reveals::Largest)
                } else if apart(|b| b.min) {
                    Some(Reveals::Smallest)
                } else if apart(BagTally::mean) {
                    Some(Reveals::Mean)
                } else {
                    None
                }
            }
        }
    }

    /// A column beside a real target: is it a multiple of it, or do bags lie in the order of the target?
    fn of_values(
        &self,
        bags: &[BagTally],
        values: &[f64],
        same_within_bags: bool,
        categorical: bool,
    ) -> Option<Reveals> {
        let statistic = |of: fn(&BagTally) -> f64| bags.iter().map(of).collect::<Vec<f64>>();
        let bar = 1.0 - 1e-9; // closer to 1 than measurements of the same thing ever are
        if same_within_bags && !categorical {
            let own = statistic(|b| b.min);
            if bags.len() >= 5 && correlation(&own, values).abs() > bar {
                return Some(Reveals::Equals);
            }
            return self.ordered(&own, values, false).then_some(Reveals::Determines);
        }
        if categorical {
            let own = statistic(|b| b.min);
            return (same_within_bags && self.ordered(&own, values, true)).then_some(Reveals::Determines);
        }
        if self.ordered(&statistic(|b| b.max), values, false) {
            Some(Reveals::Largest)
        } else if self.ordered(&statistic(|b| b.min), values, false) {
            Some(Reveals::Smallest)
        } else if self.ordered(&statistic(BagTally::mean), values, false) {
            Some(Reveals::Mean)
        } else {
            None
        }
    }

    /// Whether bags with equal scores lie together in the order of the target, and their scores rise or fall with it (of
    /// categories, whose codes have no order, in any order), where chance would hardly have it so.
    fn ordered(&self, scores: &[f64], values: &[f64], any_order: bool) -> bool {
        let mut order: Vec<usize> = (0..scores.len()).collect();
        order.sort_by(|&a, &b| scores[a].total_cmp(&scores[b]));
        let mut ranges: Vec<(f64, f64)> = Vec::new();
        // Of n! orders of the bags, those of equal scores or equal targets among themselves do not count.
        let mut by_chance = -ln_factorial(scores.len());
        for same in order.chunk_by(|&a, &b| scores[a] == scores[b]) {
            let own = same.iter().map(|&bag| values[bag]);
            ranges.push((own.clone().fold(f64::INFINITY, f64::min), own.fold(f64::NEG_INFINITY, f64::max)));
            by_chance += ln_factorial(same.len());
        }
        let mut sorted = values.to_vec();
        sorted.sort_by(f64::total_cmp);
        by_chance += sorted.chunk_by(|a, b| a == b).map(|same| ln_factorial(same.len())).sum::<f64>();
        // Rising or falling, or any order of the groups; three statistics are tried.
        by_chance += if any_order { ln_factorial(ranges.len()) } else { 2f64.ln() };
        if ranges.len() < 2 || by_chance + self.width + 3f64.ln() > CHANCE.ln() {
            return false;
        }
        if any_order {
            ranges.sort_by(|a, b| a.0.total_cmp(&b.0));
        }
        let rising = ranges.windows(2).all(|w| w[0].1 <= w[1].0);
        rising || ranges.windows(2).all(|w| w[0].0 >= w[1].1)
    }

    /// A column that is the same in each bag: does each value belong to one class?
    fn determined(&self, bags: &[BagTally], codes: &[u32], classes: usize) -> Option<Reveals> {
        let mut class_of: BTreeMap<u64, u32> = BTreeMap::new();
        for (bag, &code) in bags.iter().zip(codes) {
            // -0 and 0 are one value.
            if *class_of.entry((bag.min + 0.0).to_bits()).or_insert(code) != code {
                return None;
            }
        }
        let repeats = (bags.len() - class_of.len()) as f64;
        if repeats * self.agree + self.width > CHANCE.ln() {
            return None;
        }
        let used: HashSet<u32> = codes.iter().copied().collect();
        debug_assert!(used.len() <= classes);
        Some(if class_of.len() == used.len() { Reveals::Equals } else { Reveals::Determines })
    }
}

fn ln_factorial(n: usize) -> f64 {
    (2..=n).map(|i| (i as f64).ln()).sum()
}

/// True if the intervals of the classes do not touch.
fn separated(scores: impl Iterator<Item = f64>, codes: &[u32], classes: usize) -> bool {
    let mut ranges = vec![(f64::INFINITY, f64::NEG_INFINITY); classes];
    for (score, &code) in scores.zip(codes) {
        let range = &mut ranges[code as usize];
        *range = (range.0.min(score), range.1.max(score));
    }
    ranges.retain(|r| r.0 <= r.1);
    ranges.sort_by(|a, b| a.0.total_cmp(&b.0));
    ranges.windows(2).all(|w| w[0].1 < w[1].0)
}

fn correlation(a: &[f64], b: &[f64]) -> f64 {
    let n = a.len() as f64;
    let (ma, mb) = (a.iter().sum::<f64>() / n, b.iter().sum::<f64>() / n);
    let (mut ab, mut aa, mut bb) = (0.0, 0.0, 0.0);
    for (x, y) in a.iter().zip(b) {
        ab += (x - ma) * (y - mb);
        aa += (x - ma).powi(2);
        bb += (y - mb).powi(2);
    }
    if aa == 0.0 || bb == 0.0 { 0.0 } else { ab / (aa * bb).sqrt() }
}
