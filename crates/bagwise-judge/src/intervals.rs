//! How far a measured value can be trusted.
//!
//! Folds of one data set share training bags, so their values are not independent and the plain t-interval is
//! too short. *Nadeau and Bengio* (Inference for the generalization error, Machine Learning 52, 2003) enlarge the
//! variance of the mean of J values from s^2 / J to (1 / J + n_test / n_train) s^2, with J - 1 degrees of freedom;
//! the same holds for the differences of two methods on the same folds.
//!
//! The *bootstrap* resamples what was judged independently: bags, or whole groups. It holds the models fixed,
//! so it measures the luck of the test bags, not that of training. *Wilson's* interval does the same for one share.

use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use statrs::distribution::{ContinuousCDF, Normal, StudentsT};

use bagwise_core::{Error, Result, Rng};

/// A value and the range that holds the true one with probability `level`.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Interval {
    /// The value itself.
    pub estimate: f64,
    /// Lower end.
    pub low: f64,
    /// Upper end.
    pub high: f64,
    /// Probability, 0.95 as a rule.
    pub level: f64,
}

impl Interval {
    /// The same interval, cut off at the ends of what is possible.
    pub fn within(self, (least, most): (f64, f64)) -> Interval {
        Interval { low: self.low.clamp(least, most), high: self.high.clamp(least, most), ..self }
    }
}

/// Whether two methods differ, judged on the same folds.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct PairedTest {
    /// Mean of first minus second, with its corrected interval.
    pub difference: Interval,
    /// The statistic; none if the differences do not vary.
    pub t: Option<f64>,
    /// Degrees of freedom.
    pub df: f64,
    /// Two-sided probability of so large a difference by chance. Differences that do not vary give 1 if they are
    /// 0, else 0.
    pub p: f64,
}

fn level_checked(level: f64) -> Result<f64> {
    if level > 0.0 && level < 1.0 {
        return Ok(level);
    }
    Err(Error::Invalid(format!("confidence level {level} is not between 0 and 1; use 0.95")))
}

/// P(T <= t) of Student's distribution.
pub fn t_cdf(t: f64, df: f64) -> f64 {
    StudentsT::new(0.0, 1.0, df).expect("positive degrees of freedom").cdf(t)
}

/// The value below which Student's t falls with probability `p`.
pub fn t_quantile(p: f64, df: f64) -> f64 {
    StudentsT::new(0.0, 1.0, df).expect("positive degrees of freedom").inverse_cdf(p)
}

fn normal() -> Normal {
    Normal::standard()
}

/// Mean, corrected standard error and degrees of freedom; none for fewer than two values.
fn corrected(values: &[f64], test_to_train: f64) -> Option<(f64, f64, f64)> {
    let n = values.len();
    if n < 2 {
        return None;
    }
    let mean = values.iter().sum::<f64>() / n as f64;
    // Equal values have variance 0, whatever the rounding of their mean.
    let variance = if values.windows(2).all(|w| w[0] == w[1]) {
        0.0
    } else {
        values.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / (n - 1) as f64
    };
    Some((mean, ((1.0 / n as f64 + test_to_train) * variance).sqrt(), (n - 1) as f64))
}

/// The mean of the values of repeats x folds with Nadeau and Bengio's interval. `test_to_train` is the number of
/// test bags over the number of training bags (their mean over folds if it varies); 0 gives the plain
/// t-interval, for independent values. None for fewer than two values.
pub fn corrected_interval(values: &[f64], test_to_train: f64, level: f64) -> Result<Option<Interval>> {
    let level = level_checked(level)?;
    Ok(corrected(values, test_to_train).map(|(mean, error, df)| {
        let reach = t_quantile(0.5 + level / 2.0, df) * error;
        Interval { estimate: mean, low: mean - reach, high: mean + reach, level }
    }))
}

/// Nadeau and Bengio's paired test of two methods whose values stand in the same order of repeats and folds.
/// None for fewer than two pairs.
pub fn corrected_t_test(
    first: &[f64],
    second: &[f64],
    test_to_train: f64,
    level: f64,
) -> Result<Option<PairedTest>> {
    if first.len() != second.len() {
        return Err(Error::Invalid(format!(
            "{} values against {}; a paired test needs the same folds",
            first.len(),
            second.len()
        )));
    }
    let differences: Vec<f64> = first.iter().zip(second).map(|(a, b)| a - b).collect();
    let Some(difference) = corrected_interval(&differences, test_to_train, level)? else {
        return Ok(None);
    };
    let (mean, error, df) = corrected(&differences, test_to_train).expect("two pairs or more");
    let t = (error > 0.0).then(|| mean / error);
    let p = match t {
        Some(t) => (2.0 * t_cdf(-t.abs(), df)).min(1.0),
        None => f64::from(u8::from(mean == 0.0)),
    };
    Ok(Some(PairedTest { difference, t, df, p }))
}

/// Wilson's score interval for `hits` of `n` independent bags. None for no bags.
pub fn wilson(hits: u64, n: u64, level: f64) -> Result<Option<Interval>> {
    let level = level_checked(level)?;
    if hits > n {
        return Err(Error::Invalid(format!("{hits} of {n}")));
    }
    if n == 0 {
        return Ok(None);
    }
    let z = normal().inverse_cdf(0.5 + level / 2.0);
    let (share, count) = (hits as f64 / n as f64, n as f64);
    let shrink = 1.0 + z * z / count;
    let centre = (share + z * z / (2.0 * count)) / shrink;
    let reach = z / shrink * (share * (1.0 - share) / count + z * z / (4.0 * count * count)).sqrt();
    // At the ends the formula gives 0 and 1 but for rounding.
    let low = if hits == 0 { 0.0 } else { centre - reach };
    let high = if hits == n { 1.0 } else { centre + reach };
    Ok(Some(Interval { estimate: share, low, high, level }))
}

/// How bootstrap draws become an interval.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Resampling {
    /// Quantiles of the draws.
    Percentile,
    /// Quantiles corrected for bias and acceleration (Efron 1987); the percentile's where the correction does not
    /// exist.
    Bca,
}

/// A bootstrap interval and how it came about.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Bootstrap {
    /// The value on the data as they are, and its interval.
    pub interval: Interval,
    /// Samples drawn.
    pub draws: usize,
    /// Samples on which the value did not exist; they are left out, and many of them make the interval doubtful.
    pub undefined: usize,
}

/// Resamples `units` (each a list of rows: one bag, or the bags of a group) with replacement and computes
/// `statistic` on the rows of each sample. None if the statistic does not exist on the data, if there are fewer
/// than two units, or if it exists on less than half of the samples. Draw `i` has its own stream, so the
/// number of threads changes nothing.
pub fn bootstrap(
    units: &[Vec<usize>],
    statistic: impl Fn(&[usize]) -> Option<f64> + Sync,
    draws: usize,
    level: f64,
    kind: Resampling,
    seed: u64,
) -> Result<Option<Bootstrap>> {
    let level = level_checked(level)?;
    if draws == 0 {
        return Err(Error::Invalid("0 bootstrap draws give no interval; use 2000".into()));
    }
    let Some(estimate) = statistic(&units.concat()).filter(|_| units.len() >= 2) else {
        return Ok(None);
    };
    let values: Vec<Option<f64>> = (0..draws as u64)
        .into_par_iter()
        .map(|draw| {
            let mut rng = Rng::new(seed, "bootstrap", &[draw]);
            let mut rows = Vec::new();
            for _ in 0..units.len() {
                rows.extend_from_slice(&units[rng.below(units.len())]);
            }
            statistic(&rows)
        })
        .collect();
    let mut defined: Vec<f64> = values.into_iter().flatten().collect();
    let undefined = draws - defined.len();
    if 2 * defined.len() < draws {
        return Ok(None);
    }
    let left_out: Vec<f64> = match kind {
        Resampling::Percentile => Vec::new(),
        Resampling::Bca => {
            let values: Option<Vec<f64>> = (0..units.len())
                .into_par_iter()
                .map(|out| {
                    let rows: Vec<usize> =
                        units[..out].iter().chain(&units[out + 1..]).flatten().copied().collect();
                    statistic(&rows)
                })
                .collect();
            values.unwrap_or_default()
        }
    };
    let (low, high) = interval_of_draws(estimate, &mut defined, &left_out, level);
    Ok(Some(Bootstrap { interval: Interval { estimate, low, high, level }, draws, undefined }))
}

/// The ends of the interval from the statistic on the data, on the samples (sorted here), and with each unit
/// left out; without the last, plain percentiles.
///
/// # Panics
/// If there are no draws.
pub fn interval_of_draws(estimate: f64, draws: &mut [f64], left_out: &[f64], level: f64) -> (f64, f64) {
    draws.sort_by(f64::total_cmp);
    let (low, high) = ((1.0 - level) / 2.0, (1.0 + level) / 2.0);
    let (low, high) = bca_shares(estimate, draws, left_out, (low, high)).unwrap_or((low, high));
    (quantile(draws, low), quantile(draws, high))
}

/// Efron's corrected shares; none where bias or acceleration do not exist.
fn bca_shares(estimate: f64, draws: &[f64], left_out: &[f64], shares: (f64, f64)) -> Option<(f64, f64)> {
    if left_out.is_empty() {
        return None;
    }
    let below = draws.iter().filter(|&&d| d < estimate).count();
    let not_above = draws.iter().filter(|&&d| d <= estimate).count();
    let bias = normal().inverse_cdf((below + not_above) as f64 / (2 * draws.len()) as f64);
    let mean = left_out.iter().sum::<f64>() / left_out.len() as f64;
    let (mut square, mut cube) = (0.0, 0.0);
    for value in left_out {
        let d = mean - value;
        square += d * d;
        cube += d * d * d;
    }
    let acceleration = cube / (6.0 * square.powf(1.5));
    let shift = |share: f64| {
        let z = bias + normal().inverse_cdf(share);
        normal().cdf(bias + z / (1.0 - acceleration * z))
    };
    let (low, high) = (shift(shares.0), shift(shares.1));
    (bias.is_finite() && low.is_finite() && high.is_finite() && low < high).then_some((low, high))
}

/// The `share` quantile of ascending values, linear between neighbours.
fn quantile(sorted: &[f64], share: f64) -> f64 {
    let at = share * (sorted.len() - 1) as f64;
    let (i, part) = (at.floor() as usize, at.fract());
    let next = sorted[(i + 1).min(sorted.len() - 1)];
    sorted[i] + part * (next - sorted[i])
}
