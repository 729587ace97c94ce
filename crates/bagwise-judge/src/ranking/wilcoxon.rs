//! Wilcoxon's signed-rank test: two methods on n data sets, by the ranks of the sizes of their differences
//! (Biometrics Bulletin 1, 1945). R+ is the rank sum of the differences in favour of the first method, R- of the
//! others, T the smaller. Zero differences, as Demšar has it: if their number is odd one is dropped, and half of the
//! rank sum of the others goes to either side.
//!
//! The probability is exact for untied ranks 1..n: min(1, 2 P(W <= T)), P by counting the subsets of 1..n with a sum
//! of at most T, which costs n^3 / 4 additions. Ties can make T a half; then the mean of the two neighbours is taken.
//! Differences are rounded to ten decimals first, so that values that were printed equal differ by exactly nothing.

use serde::Serialize;

use super::ranks;

/// What the test says.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Wilcoxon {
    /// Differences that were ranked.
    pub n: usize,
    /// Differences of zero, before one was dropped.
    pub zeros: usize,
    /// Rank sum in favour of the first method.
    pub plus: f64,
    /// Rank sum in favour of the second.
    pub minus: f64,
    /// Two-sided probability of so small a T if the methods do not differ.
    pub p: f64,
}

/// The test on differences, first method minus second in the sense that positive is better. None without differences.
pub fn wilcoxon(differences: &[f64]) -> Option<Wilcoxon> {
    let mut rounded: Vec<f64> = differences.iter().map(|d| (d * 1e10).round() / 1e10).collect();
    if rounded.is_empty() || rounded.iter().any(|d| !d.is_finite()) {
        return None;
    }
    let zeros = rounded.iter().filter(|d| **d == 0.0).count();
    if zeros % 2 == 1
        && let Some(at) = rounded.iter().position(|d| *d == 0.0)
    {
        rounded.remove(at);
    }
    let sizes: Vec<f64> = rounded.iter().map(|d| d.abs()).collect();
    let (mut plus, mut minus) = (0.0, 0.0);
    for (d, rank) in rounded.iter().zip(ranks(&sizes, false)) {
        if *d == 0.0 {
            plus += rank / 2.0;
            minus += rank / 2.0;
        } else if *d > 0.0 {
            plus += rank;
        } else {
            minus += rank;
        }
    }
    let t = f64::min(plus, minus);
    Some(Wilcoxon { n: rounded.len(), zeros, plus, minus, p: wilcoxon_p(rounded.len(), t) })
}

/// min(1, 2 P(W <= t)) for untied ranks 1..n; for a half the mean of the two neighbours.
pub fn wilcoxon_p(n: usize, t: f64) -> f64 {
    if t < 0.0 {
        return 0.0;
    }
    // The statistic is at most half of all ranks together, and one more for the upper neighbour.
    let most = (n * (n + 1) / 2).min(t.ceil() as usize);
    // share[s]: of all sets of signs, those whose rank sum is s. Halved at every rank, it cannot overflow.
    let mut share = vec![0.0; most + 1];
    share[0] = 1.0;
    for rank in 1..=n {
        for s in (0..=most).rev() {
            share[s] = 0.5 * (share[s] + if s >= rank { share[s - rank] } else { 0.0 });
        }
    }
    let p = |t: usize| (2.0 * share[..=t.min(most)].iter().sum::<f64>()).min(1.0);
    0.5 * (p(t.floor() as usize) + p(t.ceil() as usize))
}
