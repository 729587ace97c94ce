//! A measured value that stays exact while it can. Most metrics are ratios of counts; as fractions, two methods that are
//! right equally often have the same mean over repeats, while sums of rounded shares differ in the last bit and make a
//! winner of one of them. What is no fraction, or outgrows the integers, is an ordinary number.

/// A value, exact or rounded. A fraction is in lowest terms and its denominator is positive, so that equal fractions are the
/// same number.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Quantity {
    Fraction(i128, i128),
    Real(f64),
}

impl Quantity {
    /// A ratio of counts; nothing without a denominator.
    pub(crate) fn ratio(part: u64, whole: u64) -> Option<Quantity> {
        Quantity::fraction(i128::from(part), i128::from(whole))
    }

    /// A fraction; nothing if the denominator is 0.
    pub(crate) fn fraction(part: i128, whole: i128) -> Option<Quantity> {
        if whole == 0 {
            return None;
        }
        let (part, whole) = if whole < 0 { (-part, -whole) } else { (part, whole) };
        let common = gcd(part.unsigned_abs(), whole.unsigned_abs()) as i128;
        Some(Quantity::Fraction(part / common, whole / common))
    }

    /// As a number, rounded once.
    pub(crate) fn value(self) -> f64 {
        match self {
            Quantity::Fraction(part, whole) => part as f64 / whole as f64,
            Quantity::Real(value) => value,
        }
    }

    pub(crate) fn plus(self, other: Quantity) -> Quantity {
        let exact = match (self, other) {
            (Quantity::Fraction(a, b), Quantity::Fraction(c, d)) => {
                let common = gcd(b.unsigned_abs(), d.unsigned_abs()) as i128;
                let sum = |a: i128, c: i128| {
                    let part = a.checked_mul(d / common)?.checked_add(c.checked_mul(b / common)?)?;
                    Quantity::fraction(part, b.checked_mul(d / common)?)
                };
                sum(a, c)
            }
            _ => None,
        };
        exact.unwrap_or_else(|| Quantity::Real(self.value() + other.value()))
    }

    pub(crate) fn times(self, count: u64) -> Quantity {
        let exact = match self {
            Quantity::Fraction(a, b) => {
                a.checked_mul(i128::from(count)).and_then(|a| Quantity::fraction(a, b))
            }
            Quantity::Real(_) => None,
        };
        exact.unwrap_or_else(|| Quantity::Real(self.value() * count as f64))
    }

    pub(crate) fn over(self, count: u64) -> Quantity {
        let exact = match self {
            Quantity::Fraction(a, b) => {
                b.checked_mul(i128::from(count)).and_then(|b| Quantity::fraction(a, b))
            }
            Quantity::Real(_) => None,
        };
        exact.unwrap_or_else(|| Quantity::Real(self.value() / count as f64))
    }

    /// The mean; nothing of nothing.
    pub(crate) fn mean(values: &[Quantity]) -> Option<Quantity> {
        let sum = values.iter().copied().reduce(Quantity::plus)?;
        Some(sum.over(values.len() as u64))
    }
}

fn gcd(mut a: u128, mut b: u128) -> u128 {
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a.max(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fractions_are_exact_until_they_do_not_fit() {
        let third = Quantity::ratio(1, 3).unwrap();
        assert_eq!(third.plus(third).plus(third), Quantity::Fraction(1, 1));
        assert_eq!(Quantity::mean(&[third, Quantity::ratio(2, 6).unwrap()]), Some(third));
        assert_eq!(Quantity::fraction(2, -4), Some(Quantity::Fraction(-1, 2)));
        assert_eq!(Quantity::ratio(0, 7).unwrap().plus(third).times(6), Quantity::Fraction(2, 1));
        assert_eq!((Quantity::ratio(1, 0), Quantity::mean(&[])), (None, None));
        // Denominators that are powers of neighbouring primes outgrow any integer, and the sum goes on rounded.
        let mut sum = third;
        for prime in [1_000_003u64, 1_000_033, 1_000_037, 1_000_039, 1_000_081, 1_000_099, 1_000_117] {
            sum = sum.plus(Quantity::ratio(1, prime).unwrap());
        }
        let Quantity::Real(value) = sum else { panic!("{sum:?}") };
        // Seven terms of 1e-6 beside a third.
        assert!((value - 1.0 / 3.0 - 7e-6).abs() < 1e-9, "{value}");
    }
}
