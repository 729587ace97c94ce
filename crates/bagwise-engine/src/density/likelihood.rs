//! How likely a bag is under a concept, from the distances of its instances to it, and how that changes with each
//! distance. Everything is computed in logarithms and is finite for every distance in [0, 1e300].
//!
//! With `u = exp(-D)` and `l = log(1 - u)`, a negative bag has `log P = sum l` and a positive one, by noisy-or,
//! `log P = log(1 - exp(sum l))`. The latter would be log 0 where all instances are far (D > 745); with
//! `a = log(-l)`, for large D equal to `-D`, `log(-sum l)` is a log-sum-exp, and `log P` follows from it.
//! For real values the instance closest to the concept predicts: `log P = log(1 - |y - max u|)`.
//!
//! Maron, Lozano-Perez: A framework for multiple-instance learning, NIPS 1998; for real values Kwok, Cheung:
//! Marginalized multi-instance kernels, IJCAI 2007.

use std::f64::consts::LN_2;

/// Distances below count as this: a concept at an instance has a finite logarithm, and the sum over the other
/// instances of its bag survives beside it.
const FLOOR: f64 = 1e-300;

/// From here on `log(-log(1 - exp(-D)))` is `-D + exp(-D) / 2` to the last place.
const FAR: f64 = 30.0;

/// A prediction that is wrong by all but this much costs no more: its logarithm would have no end.
const WORST: f64 = 1e-12;

/// What a bag is known to be.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum BagTarget {
    /// Some instance is near the concept.
    Positive,
    /// No instance is.
    Negative,
    /// `max u` is about this value of [0, 1].
    Value(f64),
}

/// `log(1 - exp(-d))` for d > 0.
pub(crate) fn log1mexp(d: f64) -> f64 {
    if d <= LN_2 { (-(-d).exp_m1()).ln() } else { (-(-d).exp()).ln_1p() }
}

/// The log-likelihood of one bag with these distances; `slopes` gets its derivative by each.
pub(crate) fn of_bag(target: BagTarget, distances: &[f64], slopes: &mut [f64]) -> f64 {
    match target {
        BagTarget::Negative => negative(distances, slopes),
        BagTarget::Positive => positive(distances, slopes),
        BagTarget::Value(y) => {
            let nearest = first_least(distances);
            slopes.fill(0.0);
            let (value, slope) = of_nearest(y, distances[nearest]);
            slopes[nearest] = slope;
            value
        }
    }
}

fn negative(distances: &[f64], slopes: &mut [f64]) -> f64 {
    let mut sum = 0.0;
    for (d, slope) in distances.iter().zip(slopes) {
        let d = d.max(FLOOR);
        let l = log1mexp(d);
        sum += l;
        *slope = (-d - l).exp();
    }
    sum
}

fn positive(distances: &[f64], slopes: &mut [f64]) -> f64 {
    // The slopes hold the l of their instances until the sum is known.
    let (mut sum, mut most) = (0.0, f64::NEG_INFINITY);
    for (d, slope) in distances.iter().zip(slopes.iter_mut()) {
        let d = d.max(FLOOR);
        let l = log1mexp(d);
        sum += l;
        *slope = l;
        most = most.max(log_minus(d, l));
    }
    let scaled: f64 =
        distances.iter().zip(slopes.iter()).map(|(d, l)| (log_minus(d.max(FLOOR), *l) - most).exp()).sum();
    let m = most + scaled.ln();
    let value = if m < -FAR { m - m.exp() / 2.0 } else { log1mexp(m.exp()) };
    for (d, slope) in distances.iter().zip(slopes.iter_mut()) {
        *slope = -(-d.max(FLOOR) + (sum - *slope) - value).exp();
    }
    value
}

/// `log(-l)` of an instance at distance d.
fn log_minus(d: f64, l: f64) -> f64 {
    if d > FAR { -d + (-d).exp() / 2.0 } else { (-l).ln() }
}

/// Log-likelihood of the value `y`, and its slope, where the nearest instance is at this distance.
pub(crate) fn of_nearest(y: f64, distance: f64) -> (f64, f64) {
    let u = (-distance).exp();
    let right = 1.0 - (y - u).abs();
    if right <= WORST {
        return (WORST.ln(), 0.0);
    }
    let slope = if u == y { 0.0 } else { (u - y).signum() * u / right };
    (right.ln(), slope)
}

/// The first of the smallest.
pub(crate) fn first_least(values: &[f64]) -> usize {
    let mut least = 0;
    for (i, v) in values.iter().enumerate() {
        if *v < values[least] {
            least = i;
        }
    }
    least
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn logarithms_agree_with_products_where_those_have_digits() {
        for distances in [vec![0.3, 2.0, 0.01], vec![5.0], vec![20.0, 25.0, 31.0]] {
            let missing: f64 = distances.iter().map(|d: &f64| -(-d).exp_m1()).product();
            let mut slopes = vec![0.0; distances.len()];
            let found = of_bag(BagTarget::Negative, &distances, &mut slopes);
            assert!((found - missing.ln()).abs() < 1e-14 * missing.ln().abs().max(1.0));
            // 1 - product by a recurrence without cancellation.
            let some = distances.iter().fold(0.0, |p, d| p + (-d).exp() * (1.0 - p));
            let found = of_bag(BagTarget::Positive, &distances, &mut slopes);
            assert!((found - some.ln()).abs() < 1e-13 * some.ln().abs(), "{found} {}", some.ln());
        }
    }

    #[test]
    fn every_distance_has_a_finite_likelihood() {
        for d in [0.0, 1e-310, 1e-300, 1e-20, 0.7, 30.0, 745.0, 800.0, 1e5, 1e300] {
            for target in
                [BagTarget::Positive, BagTarget::Negative, BagTarget::Value(0.4), BagTarget::Value(1.0)]
            {
                let mut slopes = [0.0; 2];
                let value = of_bag(target, &[d, 2.0 * d], &mut slopes);
                assert!(value.is_finite() && slopes.iter().all(|s| s.is_finite()), "{target:?} {d}: {value}");
            }
        }
        // Far away only the nearest counts: log P = -D.
        assert_eq!(of_bag(BagTarget::Positive, &[800.0, 1600.0], &mut [0.0; 2]), -800.0);
    }

    #[test]
    fn slopes_are_those_of_small_steps() {
        let distances = [0.4, 1.3, 6.0];
        for target in [BagTarget::Positive, BagTarget::Negative, BagTarget::Value(0.4), BagTarget::Value(0.9)]
        {
            let mut slopes = [0.0; 3];
            of_bag(target, &distances, &mut slopes);
            for i in 0..3 {
                let at = |step: f64| {
                    let mut moved = distances;
                    moved[i] += step;
                    of_bag(target, &moved, &mut [0.0; 3])
                };
                let slope = (at(1e-5) - at(-1e-5)) / 2e-5;
                // Central differences: 1e-10 from the third derivative, 1e-11 from rounding.
                assert!((slope - slopes[i]).abs() < 1e-9, "{target:?} {i}: {slope} {}", slopes[i]);
            }
        }
    }
}
