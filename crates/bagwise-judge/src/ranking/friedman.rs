//! Friedman's test: do the methods differ at all? With N data sets, k methods and average ranks R,
//! chi2 = 12 N / (k (k + 1)) (sum R^2 - k (k + 1)^2 / 4) has k - 1 degrees of freedom (Friedman, JASA 32, 1937).
//! Without a correction for ties, as most papers print it; the corrected value divides by
//! 1 - sum (t^3 - t) / (N k (k^2 - 1)) over all sets of t values that tie in a row.
//! Iman and Davenport's F = (N - 1) chi2 / (N (k - 1) - chi2), with k - 1 and (k - 1)(N - 1) degrees of freedom, is less
//! conservative (Communications in Statistics A 9, 1980).

use serde::Serialize;
use statrs::distribution::{ChiSquared, ContinuousCDF};
use statrs::function::beta::beta_reg;

use super::{RankTable, tied};

/// What Friedman's test says.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Friedman {
    /// The statistic.
    pub chi2: f64,
    /// Degrees of freedom.
    pub df: f64,
    /// Probability of so large a statistic if the methods do not differ.
    pub p: f64,
    /// Iman and Davenport's version of it; none for a single data set.
    pub iman_davenport: Option<ImanDavenport>,
    /// The statistic corrected for ties; none if all values of every data set tie.
    pub chi2_ties: Option<f64>,
    /// Iman and Davenport's version of that.
    pub iman_davenport_ties: Option<ImanDavenport>,
}

/// Iman and Davenport's statistic.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct ImanDavenport {
    /// The statistic; infinite if all data sets agree entirely.
    pub f: f64,
    /// Degrees of freedom.
    pub df: (f64, f64),
    /// Probability of so large a statistic if the methods do not differ.
    pub p: f64,
}

impl RankTable {
    /// Friedman's test.
    pub fn friedman(&self) -> Friedman {
        let (k, n) = (self.methods.len() as f64, self.data.len() as f64);
        let squares: f64 = self.average.iter().map(|r| r * r).sum();
        // Rounding may leave a little less than nothing.
        let chi2 = (12.0 * n / (k * (k + 1.0)) * (squares - k * (k + 1.0).powi(2) / 4.0)).max(0.0);
        let tied: f64 = self.values.iter().map(|row| ties(row)).sum();
        let correction = 1.0 - tied / (n * k * (k * k - 1.0));
        let chi2_ties = (correction > 0.0).then(|| chi2 / correction);
        let df = k - 1.0;
        Friedman {
            chi2,
            df,
            p: ChiSquared::new(df).map_or(1.0, |d| d.sf(chi2)),
            iman_davenport: iman_davenport(chi2, n, k),
            chi2_ties,
            iman_davenport_ties: chi2_ties.and_then(|c| iman_davenport(c, n, k)),
        }
    }
}

/// Sum of t^3 - t over sets of t values that tie.
fn ties(row: &[f64]) -> f64 {
    tied(row, true).iter().map(|same| (same.len() as f64).powi(3) - same.len() as f64).sum()
}

fn iman_davenport(chi2: f64, n: f64, k: f64) -> Option<ImanDavenport> {
    if n < 2.0 {
        return None;
    }
    let df = (k - 1.0, (k - 1.0) * (n - 1.0));
    let rest = n * (k - 1.0) - chi2;
    // Entire agreement leaves nothing but rounding.
    if rest <= 1e-12 * n * k {
        return Some(ImanDavenport { f: f64::INFINITY, df, p: 0.0 });
    }
    let f = (n - 1.0) * chi2 / rest;
    // P(F > f), by the side that keeps its digits where it is small.
    let p = beta_reg(df.1 / 2.0, df.0 / 2.0, df.1 / (df.1 + df.0 * f));
    Some(ImanDavenport { f, df, p })
}
