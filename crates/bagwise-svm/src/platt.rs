//! Scores to probabilities by a fitted sigmoid.
//!
//! Platt's model is `P(+1 | f) = 1 / (1 + exp(-(slope f + offset)))`, fitted by maximum likelihood to targets
//! drawn in from 0 and 1 by Laplace's rule: `(n+ + 1) / (n+ + 2)` for the positive class, `1 / (n- + 2)` for the
//! negative, so that separable scores still give finite parameters. The problem is convex in two variables;
//! Newton's method with a backtracking line search takes a dozen passes over the scores. Give it scores of
//! examples that the machine was *not* trained on (out-of-fold scores), or the sigmoid will be too steep.
//!
//! Platt, "Probabilistic outputs for support vector machines" (1999); the formulas that neither overflow nor
//! cancel are those of Lin, Lin, Weng, Machine Learning 68 (2007) 267.

/// A sigmoid over scores.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Platt {
    /// How fast the log odds grow with the score.
    pub slope: f64,
    /// The log odds at score zero.
    pub offset: f64,
    /// Whether the likelihood was maximised to a gradient of [`Platt::GRADIENT`].
    pub converged: bool,
}

impl Platt {
    /// Largest gradient accepted, per score. The likelihood is then flat to eight digits, beyond what any
    /// calibration set can tell.
    pub const GRADIENT: f64 = 1e-8;

    /// Fits scores with labels `+1` and `-1`. Without scores, the probability is one half everywhere.
    ///
    /// # Panics
    /// If the lengths differ or a score is not finite.
    pub fn fit(scores: &[f64], labels: &[f64]) -> Platt {
        assert_eq!(scores.len(), labels.len(), "each score needs a label");
        assert!(scores.iter().all(|f| f.is_finite()), "a score is not finite");
        if scores.is_empty() {
            return Platt { slope: 0.0, offset: 0.0, converged: true };
        }
        let positive = labels.iter().filter(|&&y| y > 0.0).count() as f64;
        let negative = labels.len() as f64 - positive;
        let (high, low) = ((positive + 1.0) / (positive + 2.0), 1.0 / (negative + 2.0));
        let examples: Vec<(f64, f64)> =
            scores.iter().zip(labels).map(|(&f, &y)| (f, if y > 0.0 { high } else { low })).collect();
        // Newton's method is blind to the scale of the scores, its safeguards are not: work in units of it.
        let scale = scores.iter().fold(0.0, |most: f64, f| most.max(f.abs()));
        let scale = if scale > 0.0 { scale } else { 1.0 };
        let examples: Vec<(f64, f64)> = examples.into_iter().map(|(f, t)| (f / scale, t)).collect();
        let (slope, offset, converged) = newton(&examples, ((positive + 1.0) / (negative + 1.0)).ln());
        Platt { slope: slope / scale, offset, converged }
    }

    /// The probability of the positive class.
    pub fn probability(&self, score: f64) -> f64 {
        sigmoid(self.slope * score + self.offset)
    }
}

/// Without cancellation on either side: the exponential is never of a positive number.
fn sigmoid(odds: f64) -> f64 {
    if odds >= 0.0 { 1.0 / (1.0 + (-odds).exp()) } else { odds.exp() / (1.0 + odds.exp()) }
}

/// Minus the log likelihood of one example: `log(1 + exp(z)) - t z`, arranged not to overflow.
fn loss(odds: f64, target: f64) -> f64 {
    let at_least_zero = if odds > 0.0 { odds } else { 0.0 };
    at_least_zero - target * odds + (-odds.abs()).exp().ln_1p()
}

fn newton(examples: &[(f64, f64)], offset: f64) -> (f64, f64, bool) {
    let total = |a: f64, b: f64| -> f64 { examples.iter().map(|&(f, t)| loss(a * f + b, t)).sum() };
    let enough = Platt::GRADIENT * examples.len() as f64;
    let (mut a, mut b) = (0.0, offset);
    let mut value = total(a, b);
    for _ in 0..100 {
        // A ridge of 1e-12 keeps the Hessian invertible when all scores are equal or all odds saturated.
        let (mut aa, mut ab, mut bb) = (1e-12, 0.0, 1e-12);
        let (mut ga, mut gb) = (0.0, 0.0);
        for &(f, t) in examples {
            let p = sigmoid(a * f + b);
            let curvature = p * (1.0 - p);
            aa += f * f * curvature;
            ab += f * curvature;
            bb += curvature;
            ga += f * (p - t);
            gb += p - t;
        }
        if ga.abs() <= enough && gb.abs() <= enough {
            return (a, b, true);
        }
        let determinant = aa * bb - ab * ab;
        let (da, db) = (-(bb * ga - ab * gb) / determinant, -(aa * gb - ab * ga) / determinant);
        let promised = ga * da + gb * db;
        let mut step = 1.0;
        loop {
            let (next_a, next_b) = (a + step * da, b + step * db);
            let next = total(next_a, next_b);
            if next <= value + 1e-4 * step * promised {
                (a, b, value) = (next_a, next_b, next);
                break;
            }
            step *= 0.5;
            if step < 1e-10 {
                // The likelihood no longer changes in its last digits.
                return (a, b, false);
            }
        }
    }
    (a, b, false)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Scores whose best sigmoid is known: the targets' own log odds, when two scores hold one class each.
    #[test]
    fn two_scores_are_met_exactly() {
        // Three positives at 2, five negatives at -1: targets 4/5 and 1/7.
        let scores = [2.0, 2.0, 2.0, -1.0, -1.0, -1.0, -1.0, -1.0];
        let labels = [1.0, 1.0, 1.0, -1.0, -1.0, -1.0, -1.0, -1.0];
        let platt = Platt::fit(&scores, &labels);
        assert!(platt.converged);
        // The gradient bound of 1e-8 divided by the curvature p(1-p) of about 0.1.
        assert!((platt.probability(2.0) - 0.8).abs() < 1e-6, "{platt:?}");
        assert!((platt.probability(-1.0) - 1.0 / 7.0).abs() < 1e-6, "{platt:?}");
    }

    #[test]
    fn the_likelihood_is_stationary() {
        let scores: Vec<f64> = (0..50).map(|i| ((i * 37) % 50) as f64 / 10.0 - 2.5).collect();
        let labels: Vec<f64> =
            (0..50).map(|i| if scores[i] + ((i * 13) % 7) as f64 - 3.0 > 0.0 { 1.0 } else { -1.0 }).collect();
        let positive = labels.iter().filter(|&&y| y > 0.0).count() as f64;
        let (high, low) = ((positive + 1.0) / (positive + 2.0), 1.0 / (50.0 - positive + 2.0));
        let total = |a: f64, b: f64| -> f64 {
            scores.iter().zip(&labels).map(|(f, &y)| loss(a * f + b, if y > 0.0 { high } else { low })).sum()
        };
        let platt = Platt::fit(&scores, &labels);
        assert!(platt.converged && platt.slope > 0.0);
        let here = total(platt.slope, platt.offset);
        for (da, db) in [(1e-3, 0.0), (-1e-3, 0.0), (0.0, 1e-3), (0.0, -1e-3)] {
            assert!(total(platt.slope + da, platt.offset + db) > here);
        }
    }

    #[test]
    fn odd_inputs_stay_finite() {
        for (scores, labels) in [
            (vec![], vec![]),
            (vec![3.0], vec![1.0]),
            (vec![0.0, 0.0, 0.0], vec![1.0, -1.0, -1.0]),
            (vec![1e9, -1e9, 5e8], vec![1.0, -1.0, 1.0]),
            (vec![1e-9, -1e-9], vec![-1.0, 1.0]),
            (vec![1.0, 2.0, 3.0], vec![1.0, 1.0, 1.0]),
        ] {
            let platt = Platt::fit(&scores, &labels);
            assert!(platt.slope.is_finite() && platt.offset.is_finite(), "{scores:?}: {platt:?}");
            for &score in &scores {
                let p = platt.probability(score);
                assert!(p > 0.0 && p < 1.0, "{scores:?}: {p}");
            }
        }
        assert_eq!(Platt::fit(&[], &[]).probability(7.0), 0.5);
    }

    /// The unit of the scores must not matter.
    #[test]
    fn scaling_scores_scales_the_slope() {
        let scores = [0.3, -0.2, 0.8, -1.1, 0.1, 0.5, -0.6];
        let labels = [1.0, -1.0, 1.0, -1.0, -1.0, 1.0, 1.0];
        let small = Platt::fit(&scores, &labels);
        let large = Platt::fit(&scores.map(|f| f * 1e6), &labels);
        // Both run on the same scaled numbers but for roundings of the scale.
        assert!((large.slope * 1e6 / small.slope - 1.0).abs() < 1e-9);
        assert!((large.offset - small.offset).abs() < 1e-9);
    }
}
