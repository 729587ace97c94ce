//! Whether a bag resembles the training bags: how many of its values lie outside the training range, and how similar it
//! is to the nearest training bag. Both are compared with the usual values among the training bags themselves, each
//! computed without the bag in question.

use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use bagwise_core::{Bags, FeatureKind, Result};

/// The usual, as the training bags show it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Familiarity {
    /// Smallest training value of each column; nothing where none was present.
    low: Vec<Option<f64>>,
    /// Largest training value of each column.
    high: Vec<Option<f64>>,
    /// The interquartile range of each column, over some training instances; none in models from before it was kept.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    spread: Vec<Option<f64>>,
    /// More values out of range than this share are unfamiliar.
    pub(crate) most_outside: f64,
    /// Less similarity to the nearest training bag than this is unfamiliar.
    pub(crate) least_similar: Option<f64>,
}

/// Even in small data sets a bag may have one value in twenty out of range without being strange.
const TOLERATED: f64 = 0.05;

/// One training bag in a hundred may look strange to the others.
const RARE: f64 = 0.01;

/// Fewer bags than this may be alike by chance.
const ENOUGH_BAGS: usize = 10;

/// Columns that vary so many times less than in training are in doubt: units differ by 60, 100 or 1000.
const FAR_NARROWER: f64 = 30.0;

/// Columns that vary so many times more are in doubt as well. New bags may well be more alike than those of training, but
/// hardly ever differ by so much more: a factor of 10 between units is found.
const FAR_WIDER: f64 = 8.0;

/// Instances of a column that quartiles are taken from, and values of all columns together.
const SAMPLED: usize = 256;
const MOST_VALUES: usize = 4_000_000;

impl Familiarity {
    /// From the training bags, before any transform; `nearest` is the similarity of each to its nearest other.
    pub(crate) fn of(bags: &Bags, train: &[usize], nearest: Option<Vec<f64>>) -> Result<Familiarity> {
        let width = bags.width();
        // Extremes, the bag that has them, and the extremes of all other bags: a bag is judged by the others.
        let mut low = vec![[f64::INFINITY; 2]; width];
        let mut high = vec![[f64::NEG_INFINITY; 2]; width];
        let mut low_bag = vec![usize::MAX; width];
        let mut high_bag = vec![usize::MAX; width];
        let extremes = |&bag: &usize| {
            let (mut least, mut most) = (vec![f64::INFINITY; width], vec![f64::NEG_INFINITY; width]);
            bags.instances().each_row(bags.rows(bag), |_, row| {
                for j in 0..width {
                    // Comparisons with NaN (missing) leave the extremes alone.
                    least[j] = least[j].min(row[j]);
                    most[j] = most[j].max(row[j]);
                }
            })?;
            Ok((bag, least, most))
        };
        // Some bags at a time, so that their extremes stay small beside the data.
        for found in
            train.chunks(256).flat_map(|bags| bags.par_iter().map(extremes).collect::<Vec<Result<_>>>())
        {
            let (bag, least, most) = found?;
            for j in 0..width {
                if least[j] < low[j][0] {
                    low[j] = [least[j], low[j][0]];
                    low_bag[j] = bag;
                } else {
                    low[j][1] = low[j][1].min(least[j]);
                }
                if most[j] > high[j][0] {
                    high[j] = [most[j], high[j][0]];
                    high_bag[j] = bag;
                } else {
                    high[j][1] = high[j][1].max(most[j]);
                }
            }
        }
        let finite = |v: f64| v.is_finite().then_some(v);
        let familiarity = Familiarity {
            low: low.iter().map(|l| finite(l[0])).collect(),
            high: high.iter().map(|h| finite(h[0])).collect(),
            spread: spreads(bags, train)?,
            most_outside: TOLERATED,
            least_similar: nearest.map(|mut values| quantile(&mut values, RARE)),
        };
        let mut shares = train
            .par_iter()
            .map(|&bag| {
                outside(bags, bag, |j| {
                    (low[j][usize::from(low_bag[j] == bag)], high[j][usize::from(high_bag[j] == bag)])
                })
            })
            .collect::<Result<Vec<f64>>>()?;
        let usual = if train.len() > 1 { quantile(&mut shares, 1.0 - RARE) } else { 0.0 };
        Ok(Familiarity { most_outside: usual.max(TOLERATED), ..familiarity })
    }

    /// Number of columns, if both ends have as many.
    pub(crate) fn width(&self) -> Option<usize> {
        (self.low.len() == self.high.len()).then_some(self.low.len())
    }

    /// The share of a bag's values outside the training range. Unseen categories are outside, missing values inside.
    pub(crate) fn outside(&self, bags: &Bags, bag: usize) -> Result<f64> {
        outside(bags, bag, |j| self.range(bags, j))
    }

    /// For each column, how many of these bags have a value outside the training range.
    pub(crate) fn bags_outside(&self, bags: &Bags, which: &[usize]) -> Result<Vec<usize>> {
        let ranges: Vec<(f64, f64)> = (0..bags.width()).map(|j| self.range(bags, j)).collect();
        let mut counts = vec![0; bags.width()];
        for &bag in which {
            let mut is_outside = vec![false; bags.width()];
            bags.instances().each_row(bags.rows(bag), |_, row| {
                for (found, (x, (low, high))) in is_outside.iter_mut().zip(row.iter().zip(&ranges)) {
                    *found |= x < low || x > high;
                }
            })?;
            counts.iter_mut().zip(is_outside).for_each(|(count, found)| *count += usize::from(found));
        }
        Ok(counts)
    }

    /// Columns whose values vary far less or far more in these bags than in training, and how many times more (0.001 if a thousand
    /// times less): a unit may be another one. Few bags may well be alike, and so may values that are mostly one and the same.
    pub(crate) fn rescaled(&self, bags: &Bags) -> Result<Vec<(usize, f64)>> {
        if bags.len() < ENOUGH_BAGS || self.spread.is_empty() {
            return Ok(Vec::new());
        }
        let now = spreads(bags, &(0..bags.len()).collect::<Vec<_>>())?;
        let varies = |spread: Option<f64>| spread.filter(|s| *s > 0.0);
        let times = |(&then, now): (&Option<f64>, Option<f64>)| Some(varies(now)? / varies(then)?);
        let is_far = |times: &f64| *times > FAR_WIDER || *times < 1.0 / FAR_NARROWER;
        let all = self.spread.iter().zip(now).map(times).enumerate();
        let is_numeric = |column: usize| matches!(bags.features()[column].kind, FeatureKind::Numeric);
        Ok(all
            .filter_map(|(column, times)| Some((column, times.filter(is_far)?)))
            .filter(|(column, _)| is_numeric(*column))
            .collect())
    }

    fn range(&self, bags: &Bags, column: usize) -> (f64, f64) {
        let unseen = match &bags.features()[column].kind {
            FeatureKind::Categorical { values } => values.len() as f64 - 1.0,
            FeatureKind::Numeric => f64::INFINITY,
        };
        let (low, high) = (self.low[column], self.high[column]);
        (low.unwrap_or(f64::NEG_INFINITY), high.unwrap_or(f64::INFINITY).min(unseen))
    }

    /// False if the bag looks like nothing in training.
    pub(crate) fn is_familiar(&self, outside: f64, nearest: Option<f64>) -> bool {
        let similar = match (nearest, self.least_similar) {
            (Some(nearest), Some(least)) => nearest >= least,
            _ => true,
        };
        similar && outside <= self.most_outside
    }
}

fn outside(bags: &Bags, bag: usize, range: impl Fn(usize) -> (f64, f64)) -> Result<f64> {
    let ranges: Vec<(f64, f64)> = (0..bags.width()).map(range).collect();
    let mut count = 0;
    bags.instances().each_row(bags.rows(bag), |_, row| {
        count += row.iter().zip(&ranges).filter(|(x, (low, high))| *x < low || *x > high).count();
    })?;
    Ok(count as f64 / (bags.rows(bag).len() * bags.width()) as f64)
}

/// The interquartile range of each column over evenly spaced instances of these bags; nothing where none has a value.
fn spreads(bags: &Bags, which: &[usize]) -> Result<Vec<Option<f64>>> {
    // Of very many columns fewer instances: what is kept of them is to be small.
    let sampled = (MOST_VALUES / bags.width().max(1)).clamp(16, SAMPLED);
    let count: usize = which.iter().map(|&bag| bags.rows(bag).len()).sum();
    let mut columns: Vec<Vec<f64>> = vec![Vec::new(); bags.width()];
    for row in which.iter().flat_map(|&bag| bags.rows(bag)).step_by(count.div_ceil(sampled).max(1)) {
        bags.instances().each_row(row..row + 1, |_, values| {
            columns.iter_mut().zip(values).filter(|(_, v)| !v.is_nan()).for_each(|(c, &v)| c.push(v));
        })?;
    }
    let spread = |column: &mut Vec<f64>| match column.is_empty() {
        true => None,
        false => Some(quantile(column, 0.75) - quantile(column, 0.25)).filter(|s| s.is_finite()),
    };
    Ok(columns.iter_mut().map(spread).collect())
}

/// The value with a share `p` of the others below it (the nearest rank, downwards).
fn quantile(values: &mut [f64], p: f64) -> f64 {
    values.sort_unstable_by(f64::total_cmp);
    values[((values.len() - 1) as f64 * p).floor() as usize]
}

#[cfg(test)]
mod tests {
    use super::*;
    use bagwise_core::{Instances, Mat};

    fn line(points: &[f64]) -> Bags {
        let rows: Vec<[f64; 1]> = points.iter().map(|&p| [p]).collect();
        Bags::new(Instances::F64(Mat::from_rows(&rows)), (0..=points.len()).collect()).unwrap()
    }

    #[test]
    fn values_out_of_the_training_range_are_counted() {
        let train: Vec<f64> = (0..200).map(|i| f64::from(i % 10)).collect();
        let known = Familiarity::of(&line(&train), &(0..200).collect::<Vec<_>>(), None).unwrap();
        assert_eq!(known.most_outside, TOLERATED);
        let new = line(&[5.0, 9.0, 9.5, -1.0]);
        let shares: Vec<f64> = (0..4).map(|b| known.outside(&new, b).unwrap()).collect();
        assert_eq!(shares, [0.0, 0.0, 1.0, 1.0]);
        assert!(known.is_familiar(0.0, None) && !known.is_familiar(1.0, None));
    }

    #[test]
    fn a_column_in_another_unit_varies_less_or_more() {
        let metres: Vec<f64> = (0..40).map(|i| 50.0 + f64::from(i * 7 % 40)).collect();
        let known = Familiarity::of(&line(&metres), &(0..40).collect::<Vec<_>>(), None).unwrap();
        let rescaled = |values: &[f64]| known.rescaled(&line(values)).unwrap();
        let times = |factor: f64| -> Vec<f64> { metres.iter().map(|m| m * factor).collect() };
        for factor in [0.001, 0.01, 10.0, 1000.0] {
            let [(0, found)] = rescaled(&times(factor))[..] else { panic!("{factor}") };
            assert!((found / factor - 1.0).abs() < 1e-9, "{factor}: {found}");
        }
        assert_eq!(rescaled(&metres[..20]), []);
        assert_eq!(rescaled(&times(5.0)), [], "bags may differ more");
        assert_eq!(rescaled(&times(0.001)[..9]), [], "too few");
        assert_eq!(rescaled(&[0.0; 40]), [], "one value, as in columns that are mostly 0");
    }

    #[test]
    fn a_training_bag_is_judged_by_the_others() {
        // Bag 3 alone spans 0..9: from the point of view of the others it is outside.
        let known =
            Familiarity::of(&line(&[1.0, 1.0, 1.0, 9.0]), &[0, 1, 2, 3], Some(vec![0.9, 0.8, 0.9, 0.1]))
                .unwrap();
        assert_eq!(known.least_similar, Some(0.1));
        assert!(!known.is_familiar(0.0, Some(0.05)));
    }
}
