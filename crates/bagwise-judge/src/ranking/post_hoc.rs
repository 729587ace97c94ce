//! After Friedman's test: which methods differ. Average ranks of k methods on N data sets have the standard error
//! s = sqrt(k (k + 1) / (6 N)) per difference.
//! * *Nemenyi*, all pairs: a difference counts from q_alpha / sqrt(2) * s on, q_alpha from the studentized range.
//! * *Bonferroni and Dunn*, against a control: from z_(alpha / (2 (k - 1))) * s on.
//! * *Holm*, against a control, step by step: two-sided p of z = (R_j - R_0) / s, ascending; the i-th of the k - 1 is
//!   compared with alpha / (k - i) and the first that fails ends it. The adjusted p is the running maximum of
//!   min(1, (k - i) p). Never weaker than Bonferroni and Dunn (Holm, Scandinavian Journal of Statistics 6, 1979).

use serde::Serialize;
use statrs::distribution::{ContinuousCDF, Normal};

use super::RankTable;
use super::studentized::{range_cdf, range_quantile};

/// The standard error of a difference of average ranks.
fn standard_error(methods: usize, data: usize) -> f64 {
    let k = methods as f64;
    (k * (k + 1.0) / (6.0 * data as f64)).sqrt()
}

/// Nemenyi's critical difference of average ranks, for all pairs.
pub fn nemenyi(methods: usize, data: usize, alpha: f64) -> f64 {
    range_quantile(1.0 - alpha, methods) / std::f64::consts::SQRT_2 * standard_error(methods, data)
}

/// The probability of so large a difference between two average ranks of any pair, by Nemenyi's test.
pub fn nemenyi_p(difference: f64, methods: usize, data: usize) -> f64 {
    let q = difference.abs() * std::f64::consts::SQRT_2 / standard_error(methods, data);
    (1.0 - range_cdf(q, methods)).max(0.0)
}

/// Bonferroni and Dunn's critical difference of average ranks, against a control.
pub fn bonferroni_dunn(methods: usize, data: usize, alpha: f64) -> f64 {
    let share = alpha / (2.0 * (methods - 1) as f64);
    -Normal::standard().inverse_cdf(share) * standard_error(methods, data)
}

/// Every method against a control.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Holm {
    /// The control, a position among the methods.
    pub control: usize,
    /// The level of the whole family.
    pub alpha: f64,
    /// The other methods, in their order.
    pub steps: Vec<HolmStep>,
}

/// One method against the control.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct HolmStep {
    /// A position among the methods.
    pub method: usize,
    /// The difference of average ranks in standard errors; positive if the control is better.
    pub z: f64,
    /// Two-sided probability of so large a difference by chance.
    pub p: f64,
    /// What p is compared with.
    pub threshold: f64,
    /// The smallest level at which the method would differ from the control.
    pub adjusted: f64,
    /// True if it is.
    pub rejected: bool,
}

/// Holm's procedure.
pub fn holm(table: &RankTable, control: usize, alpha: f64) -> Holm {
    let k = table.methods.len();
    let se = standard_error(k, table.data.len());
    let mut steps: Vec<HolmStep> = (0..k)
        .filter(|&m| m != control)
        .map(|method| {
            let z = (table.average[method] - table.average[control]) / se;
            let p = 2.0 * Normal::standard().sf(z.abs());
            HolmStep { method, z, p, threshold: 0.0, adjusted: 1.0, rejected: false }
        })
        .collect();
    let mut order: Vec<usize> = (0..steps.len()).collect();
    order.sort_by(|&a, &b| steps[a].p.total_cmp(&steps[b].p));
    let (mut so_far, mut going) = (0.0f64, true);
    for (i, at) in order.into_iter().enumerate() {
        let left = (k - 1 - i) as f64;
        let step = &mut steps[at];
        step.threshold = alpha / left;
        so_far = so_far.max((left * step.p).min(1.0));
        step.adjusted = so_far;
        going &= step.p <= step.threshold;
        step.rejected = going;
    }
    Holm { control, alpha, steps }
}

/// The bars of a critical-difference diagram: sets of methods, best first, whose average ranks lie within `difference`,
/// as large as can be, none within another. Positions refer to `average`; sets of one are left out.
pub fn cliques(average: &[f64], difference: f64) -> Vec<Vec<usize>> {
    let mut order: Vec<usize> = (0..average.len()).collect();
    order.sort_by(|&a, &b| average[a].total_cmp(&average[b]));
    let mut found: Vec<Vec<usize>> = Vec::new();
    let mut reached = 0;
    for (i, &first) in order.iter().enumerate() {
        let end = order.iter().rposition(|&m| average[m] - average[first] <= difference).map_or(i, |e| e) + 1;
        if end - i > 1 && end > reached {
            found.push(order[i..end].to_vec());
            reached = end;
        }
    }
    found
}
