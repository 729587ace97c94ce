//! Several methods on several data sets: which is better over all of them, and could that be chance?
//!
//! The input is a table of values, a row per data set and a column per method. Within a row methods are ranked,
//! 1 for the best, the mean rank where values tie: where they differ by no more than the rounding of sums
//! ([`TIE`]). Everything but Wilcoxon's test looks at ranks alone, so that
//! data sets need not be commensurable (Demšar, Statistical comparisons of classifiers over multiple data sets,
//! JMLR 7, 2006). [`friedman`](RankTable::friedman) asks whether the methods differ at all, [`nemenyi`] and
//! [`bonferroni_dunn`] how far average ranks must be apart, [`holm`] which methods differ from one of them, and
//! [`wilcoxon`] compares two methods by the sizes of their differences.

mod friedman;
mod post_hoc;
mod studentized;
mod wilcoxon;

pub use friedman::{Friedman, ImanDavenport};
pub use post_hoc::{Holm, HolmStep, bonferroni_dunn, cliques, holm, nemenyi, nemenyi_p};
pub use studentized::{range_cdf, range_quantile};
pub use wilcoxon::{Wilcoxon, wilcoxon, wilcoxon_p};

use serde::Serialize;

use bagwise_core::{Error, Result};

/// Values that differ by no more than this share of the larger one tie. Sums of a million rounded terms are further apart
/// from each other than that only by what they measure.
pub const TIE: f64 = 1e-12;

/// True if two values are the same but for the rounding of sums.
fn tie(a: f64, b: f64) -> bool {
    a == b || (a - b).abs() <= TIE * a.abs().max(b.abs())
}

/// Values of methods on data sets, and their ranks.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct RankTable {
    /// The methods: columns.
    pub methods: Vec<String>,
    /// The data sets: rows.
    pub data: Vec<String>,
    /// `values[data set][method]`.
    pub values: Vec<Vec<f64>>,
    /// Whether larger values are better.
    pub larger: bool,
    /// `ranks[data set][method]`: 1 is best.
    pub ranks: Vec<Vec<f64>>,
    /// The mean rank of each method.
    pub average: Vec<f64>,
}

impl RankTable {
    /// Ranks every row. There must be two methods and a data set, and every value a finite number: a method that
    /// failed somewhere has no fair rank there, so it, or the data set, is left out by the caller.
    pub fn new(
        methods: Vec<String>,
        data: Vec<String>,
        values: Vec<Vec<f64>>,
        larger: bool,
    ) -> Result<RankTable> {
        if methods.len() < 2 || data.is_empty() {
            return Err(Error::Invalid(format!(
                "{} methods on {} data sets cannot be ranked; give at least two methods and a data set",
                methods.len(),
                data.len()
            )));
        }
        if values.len() != data.len() {
            return Err(Error::Invalid(format!("{} rows for {} data sets", values.len(), data.len())));
        }
        for (row, name) in values.iter().zip(&data) {
            if row.len() != methods.len() {
                return Err(Error::Invalid(format!(
                    "{name}: {} values for {} methods",
                    row.len(),
                    methods.len()
                )));
            }
            if let Some(at) = row.iter().position(|v| !v.is_finite()) {
                return Err(Error::Invalid(format!(
                    "{name}: {} has no finite value; leave the method or the data set out",
                    methods[at]
                )));
            }
        }
        let ranks: Vec<Vec<f64>> = values.iter().map(|row| ranks(row, larger)).collect();
        let average = (0..methods.len())
            .map(|m| ranks.iter().map(|row| row[m]).sum::<f64>() / data.len() as f64)
            .collect();
        Ok(RankTable { methods, data, values, larger, ranks, average })
    }

    /// The method with the smallest average rank, the first of equals.
    pub fn best(&self) -> usize {
        let mut best = 0;
        for (m, rank) in self.average.iter().enumerate() {
            if *rank < self.average[best] {
                best = m;
            }
        }
        best
    }

    /// One method's values minus another's, data set by data set, positive where the first is better.
    pub fn differences(&self, first: usize, second: usize) -> Vec<f64> {
        let sign = if self.larger { 1.0 } else { -1.0 };
        let difference = |a: f64, b: f64| if tie(a, b) { 0.0 } else { sign * (a - b) };
        self.values.iter().map(|row| difference(row[first], row[second])).collect()
    }
}

/// The ranks of values, 1 for the best; values that tie share the mean of their ranks.
pub fn ranks(values: &[f64], larger: bool) -> Vec<f64> {
    let mut ranks = vec![0.0; values.len()];
    let mut before = 0;
    for ties in tied(values, larger) {
        // Ranks before + 1 to before + ties, whose mean is a whole or a half.
        let rank = before as f64 + (ties.len() + 1) as f64 / 2.0;
        ties.iter().for_each(|&i| ranks[i] = rank);
        before += ties.len();
    }
    ranks
}

/// The positions of values from best to worst, those that tie together.
fn tied(values: &[f64], larger: bool) -> Vec<Vec<usize>> {
    let mut order: Vec<usize> = (0..values.len()).collect();
    order.sort_by(|&a, &b| {
        let ascending = values[a].total_cmp(&values[b]);
        if larger { ascending.reverse() } else { ascending }
    });
    order.chunk_by(|&a, &b| tie(values[a], values[b])).map(<[usize]>::to_vec).collect()
}

/// Ranks of ranks: each row holds the average ranks of the same methods by one measure (accuracy, recall, time, …);
/// methods are ranked within every row and those ranks averaged.
pub fn meta_rank(rows: &[Vec<f64>]) -> Vec<f64> {
    let width = rows.first().map_or(0, Vec::len);
    let each: Vec<Vec<f64>> = rows.iter().map(|row| ranks(row, false)).collect();
    (0..width).map(|m| each.iter().map(|row| row[m]).sum::<f64>() / rows.len() as f64).collect()
}
