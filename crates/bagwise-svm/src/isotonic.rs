//! Scores to probabilities by a fitted monotone function.
//!
//! Among all functions that never fall as the score grows, take the one with the least squared distance to the
//! labels (1 for positive, 0 for negative). It is constant on blocks: scan the scores in ascending order, start
//! a block at each, and merge a block into the one before while their means are in the wrong order (pool
//! adjacent violators). Cost: one sort and one scan. Equal scores form one block from the start. Between blocks
//! the function is interpolated, outside it is constant.
//!
//! Compared with a sigmoid it assumes less and needs more scores; below a few hundred prefer
//! [`Platt`](crate::Platt). Ayer et al., Annals of Mathematical Statistics 26 (1955) 641.

/// A function that never falls.
#[derive(Clone, Debug, PartialEq)]
pub struct Isotonic {
    /// Ascending scores with their values; interpolated between.
    knots: Vec<(f64, f64)>,
}

struct PooledBlock {
    first: f64,
    last: f64,
    sum: f64,
    weight: f64,
}

impl Isotonic {
    /// Fits scores with labels `+1` and `-1`. Without scores, the probability is one half everywhere.
    ///
    /// # Panics
    /// If the lengths differ or a score is not finite.
    pub fn fit(scores: &[f64], labels: &[f64]) -> Isotonic {
        assert_eq!(scores.len(), labels.len(), "each score needs a label");
        assert!(scores.iter().all(|f| f.is_finite()), "a score is not finite");
        let mut order: Vec<usize> = (0..scores.len()).collect();
        order.sort_by(|&a, &b| scores[a].total_cmp(&scores[b]));
        let mut blocks: Vec<PooledBlock> = Vec::new();
        for i in order {
            let (score, value) = (scores[i], if labels[i] > 0.0 { 1.0 } else { 0.0 });
            match blocks.last_mut() {
                Some(block) if block.last == score => {
                    block.sum += value;
                    block.weight += 1.0;
                }
                _ => {
                    settle(&mut blocks);
                    blocks.push(PooledBlock { first: score, last: score, sum: value, weight: 1.0 });
                }
            }
        }
        settle(&mut blocks);
        let mut knots = Vec::with_capacity(2 * blocks.len());
        for block in blocks {
            let mean = block.sum / block.weight;
            knots.push((block.first, mean));
            if block.last > block.first {
                knots.push((block.last, mean));
            }
        }
        Isotonic { knots }
    }

    /// The probability of the positive class.
    pub fn probability(&self, score: f64) -> f64 {
        let after = self.knots.partition_point(|&(knot, _)| knot < score);
        match (after.checked_sub(1).map(|before| self.knots[before]), self.knots.get(after)) {
            (Some((left, low)), Some(&(right, high))) => {
                low + (high - low) * ((score - left) / (right - left))
            }
            (Some((_, value)), None) | (None, Some(&(_, value))) => value,
            (None, None) => 0.5,
        }
    }

    /// The knots: ascending scores with their values.
    pub fn knots(&self) -> &[(f64, f64)] {
        &self.knots
    }

    /// The function through given knots, as [`Isotonic::knots`] returned them.
    ///
    /// # Panics
    /// If scores do not ascend or values fall.
    pub fn from_knots(knots: Vec<(f64, f64)>) -> Isotonic {
        assert!(
            knots.windows(2).all(|pair| pair[0].0 < pair[1].0 && pair[0].1 <= pair[1].1),
            "not ascending"
        );
        Isotonic { knots }
    }
}

/// Merges the last block backwards until means ascend.
fn settle(blocks: &mut Vec<PooledBlock>) {
    while let [.., before, last] = blocks.as_mut_slice() {
        // Means compared without dividing, so that equal means are equal.
        if before.sum * last.weight < last.sum * before.weight {
            return;
        }
        before.last = last.last;
        before.sum += last.sum;
        before.weight += last.weight;
        blocks.pop();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn violators_are_pooled() {
        let scores = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0];
        let labels = [-1.0, 1.0, -1.0, -1.0, 1.0, 1.0];
        let fitted = Isotonic::fit(&scores, &labels);
        let third = 1.0 / 3.0;
        assert_eq!(fitted.knots(), [(1.0, 0.0), (2.0, third), (4.0, third), (5.0, 1.0), (6.0, 1.0)]);
        assert_eq!(fitted.probability(0.0), 0.0);
        assert_eq!(fitted.probability(9.0), 1.0);
        assert_eq!(fitted.probability(3.3), third);
        assert!((fitted.probability(1.5) - third / 2.0).abs() < 1e-15); // one rounding of the interpolation
        assert_eq!(Isotonic::from_knots(fitted.knots().to_vec()), fitted);
    }

    #[test]
    fn ties_share_one_value_and_extremes_are_constant() {
        let fitted = Isotonic::fit(&[2.0, 2.0, 2.0, 1.0], &[1.0, -1.0, 1.0, -1.0]);
        assert_eq!(fitted.probability(2.0), 2.0 / 3.0);
        assert_eq!(Isotonic::fit(&[], &[]).probability(1.0), 0.5);
        assert_eq!(Isotonic::fit(&[1.0, 2.0], &[1.0, -1.0]).probability(7.0), 0.5);
        assert_eq!(Isotonic::fit(&[1.0], &[1.0]).probability(-7.0), 1.0);
    }

    /// The defining property, by the max-min formula: the value at k is the largest over starts i <= k of the
    /// smallest mean over ends j >= k.
    #[test]
    fn max_min_formula() {
        let labels: Vec<f64> =
            (0..40).map(|i| if (i * i + 3 * i) % 11 < 5 + i / 10 { 1.0 } else { -1.0 }).collect();
        let scores: Vec<f64> = (0..40).map(f64::from).collect();
        let fitted = Isotonic::fit(&scores, &labels);
        let mean =
            |i: usize, j: usize| (i..=j).filter(|&k| labels[k] > 0.0).count() as f64 / (j - i + 1) as f64;
        for k in 0..40 {
            let expected = (0..=k)
                .map(|i| (k..40).map(|j| mean(i, j)).fold(f64::INFINITY, f64::min))
                .fold(f64::NEG_INFINITY, f64::max);
            // Quotients of the same two counts, or of counts with the same ratio: one rounding.
            assert!((fitted.probability(scores[k]) - expected).abs() < 1e-15, "{k}");
        }
    }
}
