//! What happens to the numbers before a method sees them: missing values are filled, categories become
//! numbers, columns are scaled. All of it is fitted on training bags only and then applied to any bag, one
//! instance at a time, so that nothing about test bags can flow back.
//!
//! Order: medians into the gaps, then categories, then scaling of the numeric columns.
//! * Categories become, by the value difference metric, one column per class holding `P(class | value)` among
//!   training instances (each instance has its bag's label; a value never seen has all zeros). Squared distance
//!   between two values is then the VDM of the specification. Without classes they become indicator columns
//!   scaled by `1/sqrt(2)`, so that two different values are at squared distance 1. Neither is scaled again.
//! * `minmax` maps the training range to [0, 1]; a constant column becomes 0. `zscore` centres and divides by the
//!   population standard deviation; a constant column is only centred. `maxabs` divides by the largest magnitude.
//! * Sparse rows stay sparse while zero maps to zero, and become dense otherwise.

use std::str::FromStr;
use std::sync::Arc;

use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use bagwise_core::{
    Affine, Bags, Csr, Ctx, Error, Feature, FeatureKind, Instances, Mat, Message, Result, Setting, Stored,
    Target, in_blocks,
};

/// How columns are scaled.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Scale {
    /// Left as they are.
    None,
    /// The training range becomes [0, 1].
    MinMax,
    /// Mean 0, standard deviation 1.
    ZScore,
    /// The largest magnitude becomes 1.
    MaxAbs,
}

impl Scale {
    /// All, with the names users write.
    pub const ALL: [(&'static str, Scale); 4] = [
        ("none", Scale::None),
        ("minmax", Scale::MinMax),
        ("zscore", Scale::ZScore),
        ("maxabs", Scale::MaxAbs),
    ];

    /// The name users write.
    pub fn name(self) -> &'static str {
        Scale::ALL.iter().find(|(_, s)| *s == self).map_or("none", |(name, _)| name)
    }
}

impl FromStr for Scale {
    type Err = Error;

    fn from_str(text: &str) -> Result<Scale> {
        let found = Scale::ALL.iter().find(|(name, _)| *name == text).map(|(_, scale)| *scale);
        found.ok_or_else(|| Error::unknown("scaling", text, Scale::ALL.map(|(name, _)| name)))
    }
}

/// What has been learned from training bags, ready to be applied to any.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Transform {
    /// The scaling requested.
    pub scale: Scale,
    /// Whether medians were taken.
    medians: bool,
    columns: Vec<ColumnTransform>,
}

/// A column as models see it.
#[derive(Clone, Debug, PartialEq)]
pub struct OutputColumn {
    /// The input column it comes from.
    pub input: usize,
    /// For a category, the class whose frequency it holds.
    pub class: Option<String>,
    /// For a number, what was subtracted and what it was then divided by.
    undo: Option<(f64, f64)>,
}

impl OutputColumn {
    /// The value before scaling, where there is such a thing.
    pub fn restore(&self, value: f64) -> Option<f64> {
        self.undo.map(|(shift, divisor)| shift + divisor * value)
    }
}

/// What happens to one input column.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum ColumnTransform {
    /// `(x - shift) / divisor`, or 0 where the divisor is 0; `median` where `x` is missing. Divided, not multiplied
    /// by the inverse, so that the largest training value becomes exactly 1.
    Number { median: f64, shift: f64, divisor: f64 },
    /// The row of `table` that the code names; a missing or unseen value has zeros.
    Category { table: Vec<Vec<f64>>, names: Vec<String> },
    /// Left to the members of an ensemble, which have transforms of their own.
    Same,
}

impl Transform {
    /// Learns from the bags `train` of `bags`. `impute` takes medians for missing values; `target` gives categories
    /// their classes; only the labels of `train` are looked at.
    pub fn fit(
        scale: Scale,
        impute: bool,
        bags: &Bags,
        target: Option<&Target>,
        train: &[usize],
    ) -> Result<Transform> {
        let statistics = if scale == Scale::None && !impute {
            ColumnStatistics::unknown(bags.width())
        } else {
            ColumnStatistics::of(bags, impute, train)?
        };
        let columns = bags
            .features()
            .iter()
            .enumerate()
            .map(|(j, feature)| match &feature.kind {
                FeatureKind::Numeric => Ok(statistics.number(j, scale)),
                FeatureKind::Categorical { values } => {
                    category(bags, target, train, j, &feature.name, values)
                }
            })
            .collect::<Result<_>>()?;
        Ok(Transform { scale, medians: impute, columns })
    }

    /// The same with a weight for each bag of `bags`: a bag of weight 2 counts like two of them towards means and deviations.
    pub fn weighted(mut self, bags: &Bags, train: &[usize], weights: &[f64]) -> Result<Transform> {
        if self.scale != Scale::ZScore {
            return Ok(self);
        }
        let width = bags.width();
        let rows = || train.iter().map(|&b| (bags.rows(b).collect::<Vec<usize>>(), weights[b]));
        let mut total = vec![0.0; width];
        for (rows, weight) in rows() {
            let missing = count_missing(bags, &rows)?;
            total.iter_mut().zip(missing).for_each(|(t, gaps)| *t += weight * (rows.len() - gaps) as f64);
        }
        // In units of the deviation without weights, so that no square leaves the range of double precision.
        let unit = |c: &ColumnTransform| match c {
            ColumnTransform::Number { shift, divisor, .. } if *divisor > 0.0 => Some((*shift, *divisor)),
            _ => None,
        };
        let units: Vec<Option<(f64, f64)>> = self.columns.iter().map(unit).collect();
        let (mut sum, mut seen) = (vec![0.0; width], vec![0.0; width]);
        let mut squares = vec![0.0; width];
        for (rows, weight) in rows() {
            visit(bags.instances(), &rows, |j, x| {
                let (shift, divisor) = units[j].unwrap_or((0.0, 1.0));
                let away = scaled(x, shift, divisor);
                sum[j] += weight * away;
                squares[j] += weight * away * away;
                seen[j] += weight;
            })?;
        }
        for (j, column) in self.columns.iter_mut().enumerate() {
            let (ColumnTransform::Number { shift, divisor, .. }, Some(_)) = (column, units[j]) else {
                continue;
            };
            if total[j] <= 0.0 {
                continue;
            }
            // Zeros that sparse rows do not store.
            let (zero, more) = (scaled(0.0, *shift, *divisor), total[j] - seen[j]);
            let mean = (sum[j] + more * zero) / total[j];
            let variance = (squares[j] + more * zero * zero) / total[j] - mean * mean;
            *shift += mean * *divisor;
            if variance > 0.0 {
                *divisor *= variance.sqrt();
            }
        }
        Ok(self)
    }

    /// Bags as they are, for a model whose members have transforms of their own; `impute` says whether these fill gaps.
    pub(crate) fn same(width: usize, impute: bool) -> Transform {
        Transform { scale: Scale::None, medians: impute, columns: vec![ColumnTransform::Same; width] }
    }

    fn leaves_all(&self) -> bool {
        self.columns.iter().all(|c| *c == ColumnTransform::Same)
    }

    /// True if this changes nothing, so that the bags can be used as they are.
    pub fn is_identity(&self, bags: &Bags) -> bool {
        let unchanged = |c: &ColumnTransform| matches!(c, ColumnTransform::Number { shift, divisor, .. } if *shift == 0.0 && *divisor == 1.0);
        !bags.has_missing() && self.columns.iter().all(unchanged)
    }

    /// True if missing values can be filled: medians were taken.
    pub fn fills_gaps(&self) -> bool {
        self.medians
    }

    /// Number of columns that it gives.
    pub fn output_width(&self) -> usize {
        let width = |c: &ColumnTransform| match c {
            ColumnTransform::Number { .. } | ColumnTransform::Same => 1,
            ColumnTransform::Category { names, .. } => names.len(),
        };
        self.columns.iter().map(width).sum()
    }

    /// For each column that it gives: the input column it comes from, the class it counts where that is a category, and
    /// how a number of it is undone.
    pub fn outputs(&self) -> impl Iterator<Item = OutputColumn> {
        self.columns.iter().enumerate().flat_map(|(input, column)| {
            let (classes, undo) = match column {
                ColumnTransform::Number { shift, divisor, .. } => (&[][..], Some((*shift, *divisor))),
                ColumnTransform::Category { names, .. } => (names.as_slice(), None),
                ColumnTransform::Same => (&[][..], Some((0.0, 1.0))),
            };
            let number = undo.map(|undo| OutputColumn { input, class: None, undo: Some(undo) });
            let of_class =
                move |class: &String| OutputColumn { input, class: Some(class.clone()), undo: None };
            number.into_iter().chain(classes.iter().map(of_class))
        })
    }

    /// True if the tables of categories are complete: a transform that came from a file may be anything.
    pub fn is_whole(&self) -> bool {
        self.columns.iter().all(|c| match c {
            ColumnTransform::Number { .. } => true,
            // Of some columns only it would be no transform of ours.
            ColumnTransform::Same => self.leaves_all(),
            ColumnTransform::Category { table, names } => {
                !names.is_empty() && table.iter().all(|row| row.len() == names.len())
            }
        })
    }

    /// Number of input columns.
    pub fn width(&self) -> usize {
        self.columns.len()
    }

    /// The bags as methods see them.
    pub fn apply(&self, bags: &Bags, ctx: &Ctx) -> Result<Bags> {
        if bags.width() != self.columns.len() {
            return Err(Error::Invalid(format!(
                "the bags have {} columns, the scaling was fitted on {}",
                bags.width(),
                self.columns.len()
            )));
        }
        if self.leaves_all() {
            return Ok(bags.clone());
        }
        let features: Arc<[Feature]> = self.output_features(bags.features()).into();
        let width = features.len();
        if let Some(rows) = self.scaled_in_blocks(bags, ctx) {
            return bags.with_instances(Instances::Stored(rows), features);
        }
        let instances = match bags.instances() {
            Instances::Sparse(rows) if self.keeps_zeros() => Instances::Sparse(self.sparse(rows)),
            Instances::Stored(rows) => match self.affine() {
                Some(scaling) => Instances::Stored(rows.scaled(scaling)),
                None => return Err(Error::Invalid("categories must be in memory to become numbers".into())),
            },
            Instances::F32(rows) => {
                let mut out = Mat::<f32>::zeros(rows.rows(), width);
                out.data_mut().par_chunks_mut(width).zip(rows.data().par_chunks(rows.cols())).for_each(
                    |(out, row)| {
                        self.row(row.iter().map(|&v| f64::from(v)), |k, v| out[k] = v as f32);
                    },
                );
                Instances::F32(out)
            }
            other => {
                let bytes = 8 * (other.rows() * width) as u64;
                ctx.reserve(
                    "scaled data",
                    bytes,
                    Message::from("keep sparse rows sparse")
                        .with([Setting::Scale(&["none", "maxabs"])])
                        .or(Message::more_memory()),
                )?;
                let mut out = Mat::<f64>::zeros(other.rows(), width);
                out.data_mut().par_chunks_mut(width).enumerate().try_for_each_init(
                    || vec![0.0; other.cols()],
                    |row, (i, out)| {
                        other.row_into(i, row)?;
                        self.row(row.iter().copied(), |k, v| out[k] = v);
                        Ok::<(), Error>(())
                    },
                )?;
                Instances::F64(out)
            }
        };
        bags.with_instances(instances, features)
    }

    /// Dense rows that are scaled as they are read, if a scaled copy would take more than half of the memory budget.
    fn scaled_in_blocks(&self, bags: &Bags, ctx: &Ctx) -> Option<Stored> {
        if bags.has_missing() || bags.instances().bytes() <= ctx.memory / 2 {
            return None;
        }
        Some(in_blocks(bags)?.scaled(self.affine()?))
    }

    fn row(&self, values: impl Iterator<Item = f64>, mut put: impl FnMut(usize, f64)) {
        let mut k = 0;
        for (column, x) in self.columns.iter().zip(values) {
            match column {
                ColumnTransform::Same => unreachable!("a transform that leaves all leaves rows alone"),
                ColumnTransform::Number { median, shift, divisor } => {
                    put(k, scaled(if x.is_nan() { *median } else { x }, *shift, *divisor));
                    k += 1;
                }
                ColumnTransform::Category { table, names } => {
                    // A code beyond the table is a value that training never saw; NaN casts to 0, so test it first.
                    let row = if x.is_nan() { None } else { table.get(x as usize) };
                    for c in 0..names.len() {
                        put(k, row.map_or(0.0, |r| r[c]));
                        k += 1;
                    }
                }
            }
        }
    }

    /// What happens to each column, if all are numbers.
    fn affine(&self) -> Option<Arc<[Affine]>> {
        let one = |c: &ColumnTransform| match c {
            ColumnTransform::Number { shift, divisor, .. } => {
                Some(Affine { shift: *shift, divisor: *divisor })
            }
            ColumnTransform::Category { .. } | ColumnTransform::Same => None,
        };
        self.columns.iter().map(one).collect()
    }

    fn keeps_zeros(&self) -> bool {
        self.columns.iter().all(|c| matches!(c, ColumnTransform::Number { shift, .. } if *shift == 0.0))
    }

    fn sparse(&self, rows: &Csr) -> Csr {
        let mut out = Csr::empty(rows.cols());
        for i in 0..rows.rows() {
            let (indices, values) = rows.row(i);
            out.push_row(indices.iter().zip(values).map(|(&j, &x)| match &self.columns[j as usize] {
                ColumnTransform::Number { median, divisor, .. } => {
                    (j, scaled(if x.is_nan() { *median } else { x }, 0.0, *divisor))
                }
                _ => unreachable!("checked before: only numbers keep zeros"),
            }));
        }
        out
    }

    fn output_features(&self, inputs: &[Feature]) -> Vec<Feature> {
        let mut out = Vec::with_capacity(inputs.len());
        for (column, input) in self.columns.iter().zip(inputs) {
            match column {
                ColumnTransform::Number { .. } => out.push(Feature::numeric(input.name.clone())),
                ColumnTransform::Same => out.push(input.clone()),
                ColumnTransform::Category { names, .. } => {
                    out.extend(names.iter().map(|n| Feature::numeric(n.clone())))
                }
            }
        }
        out
    }
}

fn scaled(x: f64, shift: f64, divisor: f64) -> f64 {
    Affine { shift, divisor }.apply(x)
}

/// Per column: count of present values, extremes, mean and variance over the training instances, implicit zeros
/// of sparse rows included; medians where values are missing.
struct ColumnStatistics {
    min: Vec<f64>,
    max: Vec<f64>,
    mean: Vec<f64>,
    sd: Vec<f64>,
    median: Vec<f64>,
}

impl ColumnStatistics {
    /// Where nothing is asked of them.
    fn unknown(width: usize) -> ColumnStatistics {
        let zeros = || vec![0.0; width];
        ColumnStatistics { min: zeros(), max: zeros(), mean: zeros(), sd: zeros(), median: zeros() }
    }

    fn of(bags: &Bags, impute: bool, train: &[usize]) -> Result<ColumnStatistics> {
        let width = bags.width();
        let rows: Vec<usize> = train.iter().flat_map(|&b| bags.rows(b)).collect();
        let mut min = vec![f64::INFINITY; width];
        let mut max = vec![f64::NEG_INFINITY; width];
        let mut sum = vec![0.0; width];
        let mut count = vec![0usize; width];
        visit(bags.instances(), &rows, |j, x| {
            min[j] = min[j].min(x);
            max[j] = max[j].max(x);
            sum[j] += x;
            count[j] += 1;
        })?;
        let missing = count_missing(bags, &rows)?;
        for j in 0..width {
            let zeros = rows.len() - count[j] - missing[j];
            if zeros > 0 {
                min[j] = min[j].min(0.0);
                max[j] = max[j].max(0.0);
                count[j] += zeros;
            }
            if count[j] == 0 {
                // Nothing known of this column in training: it carries no information.
                (min[j], max[j]) = (0.0, 0.0);
            }
        }
        // Numbers whose squares would be none are brought near 1 by a power of two, which loses nothing.
        let near_one: Vec<f64> = (0..width).map(|j| near_one(min[j].abs().max(max[j].abs()))).collect();
        if near_one.iter().any(|&f| f != 1.0) {
            sum = vec![0.0; width];
            visit(bags.instances(), &rows, |j, x| sum[j] += x * near_one[j])?;
        }
        let mean: Vec<f64> =
            (0..width).map(|j| if count[j] > 0 { sum[j] / count[j] as f64 } else { 0.0 }).collect();
        // Second pass: the sum of squares about the mean keeps its digits where the one-pass formula loses them.
        let mut squares = vec![0.0; width];
        let mut seen = vec![0usize; width];
        visit(bags.instances(), &rows, |j, x| {
            let from_mean = x * near_one[j] - mean[j];
            squares[j] += from_mean * from_mean;
            seen[j] += 1;
        })?;
        let sd = (0..width)
            .map(|j| {
                let zeros = (count[j] - seen[j].min(count[j])) as f64;
                ((squares[j] + zeros * mean[j] * mean[j]) / count[j].max(1) as f64).sqrt() / near_one[j]
            })
            .collect();
        let mean = mean.iter().zip(&near_one).map(|(mean, f)| mean / f).collect();
        let median = if impute { medians(bags, &rows)? } else { vec![0.0; width] };
        Ok(ColumnStatistics { min, max, mean, sd, median })
    }

    fn number(&self, j: usize, scale: Scale) -> ColumnTransform {
        let constant = self.min[j] == self.max[j];
        let (shift, divisor) = match scale {
            Scale::None => (0.0, 1.0),
            Scale::MinMax if constant => (0.0, 0.0),
            Scale::MinMax => (self.min[j], self.max[j] - self.min[j]),
            Scale::ZScore if constant => (self.min[j], 1.0),
            Scale::ZScore => (self.mean[j], self.sd[j]),
            Scale::MaxAbs => {
                let largest = self.min[j].abs().max(self.max[j].abs());
                (0.0, if largest > 0.0 { largest } else { 1.0 })
            }
        };
        // Values beyond half the largest number have no finite range: such a column says nothing.
        let divisor = if divisor.is_finite() { divisor } else { 0.0 };
        ColumnTransform::Number { median: self.median[j], shift, divisor }
    }
}

/// A power of two that brings numbers up to `largest` near 1, if their squares, or sums of them, leave the range of double
/// precision; 1 for all others.
fn near_one(largest: f64) -> f64 {
    // Beyond a quarter of the largest number differences have no end either: such a column is given up, as it is.
    if largest == 0.0 || largest > f64::MAX / 4.0 || (1e-140..1e140).contains(&largest) {
        return 1.0;
    }
    2f64.powi(-(largest.log2().floor() as i32).clamp(-1000, 1000))
}

/// Calls `f` with every present value of the rows; implicit zeros of sparse rows and missing values are passed over.
fn visit(instances: &Instances, rows: &[usize], mut f: impl FnMut(usize, f64)) -> Result<()> {
    if let Instances::Sparse(m) = instances {
        for &row in rows {
            let (columns, values) = m.row(row);
            columns.iter().zip(values).filter(|(_, x)| !x.is_nan()).for_each(|(&j, &x)| f(j as usize, x));
        }
        return Ok(());
    }
    // Rows of neighbouring bags stand together: rows outside memory are read in blocks of them.
    for run in rows.chunk_by(|a, b| a + 1 == *b) {
        instances.each_row(run[0]..run[0] + run.len(), |_, row| {
            row.iter().enumerate().filter(|(_, x)| !x.is_nan()).for_each(|(j, &x)| f(j, x));
        })?;
    }
    Ok(())
}

fn count_missing(bags: &Bags, rows: &[usize]) -> Result<Vec<usize>> {
    let mut missing = vec![0; bags.width()];
    if bags.has_missing() {
        let mut row = vec![0.0; bags.width()];
        for &r in rows {
            bags.instances().row_into(r, &mut row)?;
            row.iter().enumerate().filter(|(_, x)| x.is_nan()).for_each(|(j, _)| missing[j] += 1);
        }
    }
    Ok(missing)
}

/// The median of the present values of each column; the mean of the middle two for an even count.
fn medians(bags: &Bags, rows: &[usize]) -> Result<Vec<f64>> {
    let mut columns: Vec<Vec<f64>> = vec![Vec::new(); bags.width()];
    let mut row = vec![0.0; bags.width()];
    for &r in rows {
        bags.instances().row_into(r, &mut row)?;
        row.iter().enumerate().filter(|(_, x)| !x.is_nan()).for_each(|(j, &x)| columns[j].push(x));
    }
    Ok(columns.into_iter().map(|mut values| median(&mut values).unwrap_or(0.0)).collect())
}

/// The median, or nothing of nothing.
pub(crate) fn median(values: &mut [f64]) -> Option<f64> {
    if values.is_empty() {
        return None;
    }
    values.sort_unstable_by(f64::total_cmp);
    let (low, high) = (values[(values.len() - 1) / 2], values[values.len() / 2]);
    Some(if low == high { low } else { 0.5 * (low + high) })
}

fn category(
    bags: &Bags,
    target: Option<&Target>,
    train: &[usize],
    j: usize,
    name: &str,
    values: &[String],
) -> Result<ColumnTransform> {
    let Some(Target::Classes { codes, names }) = target else {
        // Indicators at 1/sqrt(2): different values are at squared distance 1.
        let table = (0..values.len())
            .map(|v| {
                (0..values.len())
                    .map(|c| if c == v { std::f64::consts::FRAC_1_SQRT_2 } else { 0.0 })
                    .collect()
            })
            .collect();
        let names = values.iter().map(|v| format!("{name}={v}")).collect();
        return Ok(ColumnTransform::Category { table, names });
    };
    let mut counts = vec![vec![0.0; names.len()]; values.len()];
    let mut row = vec![0.0; bags.width()];
    for &bag in train {
        for r in bags.rows(bag) {
            bags.instances().row_into(r, &mut row)?;
            if let Some(count) = (!row[j].is_nan()).then(|| counts.get_mut(row[j] as usize)).flatten() {
                count[codes[bag] as usize] += 1.0;
            }
        }
    }
    for count in &mut counts {
        let total: f64 = count.iter().sum();
        if total > 0.0 {
            count.iter_mut().for_each(|c| *c /= total);
        }
    }
    let names = names.iter().map(|class| format!("P({class}|{name})")).collect();
    Ok(ColumnTransform::Category { table: counts, names })
}

#[cfg(test)]
mod tests;
