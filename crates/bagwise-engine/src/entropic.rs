//! Optimal transport between two large sets of points with uniform weights, approximately: entropic transport, with bounds on the
//! exact cost.
//!
//! Potentials f and g are fitted to `exp((f_i + g_j - c_ij) / width)` having the wanted sums over rows and columns (Sinkhorn), for
//! widths that go down from a share of the largest cost. Every width starts in the log domain; then the sums are corrected by
//! factors, which go into the potentials at the end (Schmitzer 2019). After every width the exact cost is bounded: from above by
//! the matrix, corrected to be a plan (Altschuler, Weed, Rigollet 2017), and from below by potentials that no cost falls short of.
//! The middle of both is the answer once they are close enough: the error is known, not assumed.

use super::simd::{dot, least_difference};
use bagwise_core::{Ctx, Mat, Result};

/// How far the answer is off at most, as a share of the exact cost.
pub const ENTROPIC_ERROR: f64 = 0.01;

/// The first width, as a share of the largest cost, what the next is of it, and how many there are at most.
const FIRST_WIDTH: f64 = 0.125;
const NEXT_WIDTH: f64 = 0.25;
const WIDTHS: usize = 8;

/// Corrections for one width, at most; and how far sums may be off, in total, when they end.
const CORRECTIONS: usize = 200;
const OFF: f64 = 0.01;

/// The cost of moving the uniform distribution on the rows to that on the columns of a matrix of costs of at least 0, up to
/// [`ENTROPIC_ERROR`]; nothing if the bounds do not come that close, as where the cost is far below the largest.
pub fn entropic_cost(costs: &Mat, ctx: &Ctx) -> Result<Option<f64>> {
    let mirrored = mirrored(costs);
    // The same answer from either side.
    let (costs, mirrored) =
        match (costs.rows(), costs.data()).partial_cmp(&(mirrored.rows(), mirrored.data())) {
            Some(std::cmp::Ordering::Greater) => (&mirrored, costs),
            _ => (costs, &mirrored),
        };
    let largest = costs.data().iter().fold(0.0f64, |most, c| most.max(*c));
    if largest == 0.0 {
        return Ok(None);
    }
    let mut search = Potentials::new(costs, mirrored);
    let mut width = FIRST_WIDTH * largest;
    for _ in 0..WIDTHS {
        search.fit(width, ctx)?;
        let (lower, upper) = (search.lower(), search.upper());
        if upper - lower <= 2.0 * ENTROPIC_ERROR * lower {
            return Ok(Some(0.5 * (lower + upper)));
        }
        width *= NEXT_WIDTH;
    }
    Ok(None)
}

fn mirrored(costs: &Mat) -> Mat {
    let mut out = Mat::zeros(costs.cols(), costs.rows());
    for i in 0..costs.rows() {
        costs.row(i).iter().enumerate().for_each(|(j, c)| out.set(j, i, *c));
    }
    out
}

struct Potentials<'c> {
    costs: &'c Mat,
    mirrored: &'c Mat,
    senders: Vec<f64>,
    receivers: Vec<f64>,
    /// `exp((f + g - c) / width)` over the number of entries: all of it is 1.
    kernel: Mat,
}

impl<'c> Potentials<'c> {
    fn new(costs: &'c Mat, mirrored: &'c Mat) -> Potentials<'c> {
        Potentials {
            costs,
            mirrored,
            senders: vec![0.0; costs.rows()],
            receivers: vec![0.0; costs.cols()],
            kernel: Mat::zeros(costs.rows(), costs.cols()),
        }
    }

    /// Fits the potentials to a width, from those of the one before.
    fn fit(&mut self, width: f64, ctx: &Ctx) -> Result<()> {
        soft_least(self.costs, &self.receivers, width, &mut self.senders);
        ctx.check()?;
        soft_least(self.mirrored, &self.senders, width, &mut self.receivers);
        ctx.check()?;
        let (m, n) = (self.costs.rows(), self.costs.cols());
        let share = 1.0 / (m * n) as f64;
        for i in 0..m {
            let own = self.senders[i];
            let costs = self.costs.row(i).iter().zip(&self.receivers);
            let kernel = self.kernel.row_mut(i).iter_mut();
            kernel.zip(costs).for_each(|(k, (c, g))| *k = share * ((own + g - c) / width).exp());
        }
        let (mut rows, mut columns) = (vec![1.0; m], vec![1.0; n]);
        let mut sums = vec![0.0; n];
        for _ in 0..CORRECTIONS {
            ctx.check()?;
            sums.fill(0.0);
            let mut off = 0.0;
            for i in 0..m {
                let line = self.kernel.row(i);
                let sum = dot(line, &columns);
                off += (rows[i] * sum - 1.0 / m as f64).abs();
                rows[i] = 1.0 / (m as f64 * sum);
                sums.iter_mut().zip(line).for_each(|(s, k)| *s += rows[i] * k);
            }
            columns.iter_mut().zip(&sums).for_each(|(c, s)| *c = 1.0 / (n as f64 * s));
            if off <= OFF {
                break;
            }
        }
        for i in 0..m {
            self.senders[i] += width * rows[i].ln();
            let line = self.kernel.row_mut(i).iter_mut().zip(&columns);
            line.for_each(|(k, c)| *k *= rows[i] * c);
        }
        self.receivers.iter_mut().zip(&columns).for_each(|(g, c)| *g += width * c.ln());
        Ok(())
    }

    /// What no plan costs less than: the best receivers' potentials for these senders', and the best senders' for those.
    fn lower(&self) -> f64 {
        let least = |costs: &Mat, others: &[f64]| -> Vec<f64> {
            (0..costs.rows()).map(|i| least_difference(costs.row(i), others)).collect()
        };
        let receivers = least(self.mirrored, &self.senders);
        let senders = least(self.costs, &receivers);
        mean(&senders) + mean(&receivers)
    }

    /// What the kernel costs as a plan: rows and columns that are above their share are made smaller, and what is then lacking
    /// goes from each row to each column in proportion.
    fn upper(&self) -> f64 {
        let (m, n) = (self.costs.rows(), self.costs.cols());
        let (of_row, of_column) = (1.0 / m as f64, 1.0 / n as f64);
        let factors: Vec<f64> =
            (0..m).map(|i| (of_row / self.kernel.row(i).iter().sum::<f64>()).min(1.0)).collect();
        let mut sums = vec![0.0; n];
        for i in 0..m {
            sums.iter_mut().zip(self.kernel.row(i)).for_each(|(s, k)| *s += factors[i] * k);
        }
        let columns: Vec<f64> = sums.iter().map(|s| (of_column / s).min(1.0)).collect();
        let lacking: Vec<f64> = sums.iter().zip(&columns).map(|(s, c)| of_column - s * c).collect();
        let total: f64 = lacking.iter().sum();
        let mut cost = 0.0;
        for i in 0..m {
            let (mut sent, mut own, mut to_lacking) = (0.0, 0.0, 0.0);
            for (((k, c), e), l) in
                self.kernel.row(i).iter().zip(&columns).zip(self.costs.row(i)).zip(&lacking)
            {
                let moved = factors[i] * k * c;
                sent += moved;
                own += moved * e;
                to_lacking += l * e;
            }
            cost += own;
            if total > 0.0 {
                cost += (of_row - sent) * to_lacking / total;
            }
        }
        cost
    }
}

/// For each row `-width ln mean exp((other - cost) / width)`: about the least of `cost - other`, and that exactly as the width
/// goes to 0.
fn soft_least(costs: &Mat, others: &[f64], width: f64, out: &mut [f64]) {
    for (i, out) in out.iter_mut().enumerate() {
        let line = costs.row(i);
        let least = least_difference(line, others);
        let sum: f64 = line.iter().zip(others).map(|(c, g)| ((least - (c - g)) / width).exp()).sum();
        *out = least - width * (sum / others.len() as f64).ln();
    }
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::transport::{TransportSolver, transport, transport_cost};
    use bagwise_core::Rng;

    fn costs(m: usize, n: usize, width: usize, apart: f64, euclid: bool, rng: &mut Rng) -> Mat {
        let mut points = |count: usize, shift: f64| -> Vec<Vec<f64>> {
            (0..count).map(|_| (0..width).map(|_| rng.normal() + shift).collect()).collect()
        };
        let (a, b) = (points(m, 0.0), points(n, apart));
        let squared = |x: &[f64], z: &[f64]| x.iter().zip(z).map(|(x, z)| (x - z) * (x - z)).sum::<f64>();
        let cost = |x: &[f64], z: &[f64]| if euclid { squared(x, z).sqrt() } else { squared(x, z) };
        Mat::new(m, n, a.iter().flat_map(|x| b.iter().map(move |z| cost(x, z))).collect())
    }

    #[test]
    fn costs_are_within_the_stated_error_of_the_exact_ones() {
        let mut rng = Rng::new(1, "entropic", &[]);
        let ctx = Ctx::default();
        let mut met = 0;
        for case in 0..60 {
            let (m, n) = (2 + rng.below(80), 2 + rng.below(80));
            let apart = [0.0, 0.5, 20.0][case % 3];
            let costs = costs(m, n, 1 + case % 7, apart, case % 2 == 0, &mut rng);
            let exact = transport(&costs, &ctx).unwrap().cost;
            let found = transport_cost(&costs, TransportSolver::Entropic, &ctx).unwrap();
            let off = (found - exact).abs() / exact;
            assert!(off <= ENTROPIC_ERROR, "{m} x {n}, {apart} apart: {found} for {exact}");
            // From either side, to the bit.
            let bounded = entropic_cost(&costs, &ctx).unwrap();
            assert_eq!(entropic_cost(&mirrored(&costs), &ctx).unwrap(), bounded);
            met += usize::from(bounded.is_some());
        }
        // On a line the least cost may be far below all others, and is left to the exact solver.
        assert!(met >= 50, "the bounds met in {met} of 60 cases");
    }

    #[test]
    fn bounds_hold_at_every_width() {
        let mut rng = Rng::new(2, "entropic", &[]);
        let ctx = Ctx::default();
        let costs = costs(40, 60, 3, 0.3, true, &mut rng);
        let mirrored = mirrored(&costs);
        let exact = transport(&costs, &ctx).unwrap().cost;
        let mut search = Potentials::new(&costs, &mirrored);
        for width in [1.0, 0.1, 0.01, 0.001] {
            search.fit(width, &ctx).unwrap();
            let (lower, upper) = (search.lower(), search.upper());
            let rounding = 1e-12 * exact;
            assert!(lower <= exact + rounding && exact <= upper + rounding, "{lower} {exact} {upper}");
        }
    }

    #[test]
    fn equal_sets_are_at_distance_0() {
        let ctx = Ctx::default();
        let same = Mat::new(3, 3, vec![0.0, 1.0, 2.0, 1.0, 0.0, 1.0, 2.0, 1.0, 0.0]);
        for costs in [same, Mat::zeros(4, 5)] {
            assert_eq!(transport_cost(&costs, TransportSolver::Entropic, &ctx).unwrap(), 0.0);
        }
    }
}
