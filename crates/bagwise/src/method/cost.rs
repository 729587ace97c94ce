//! What steps of methods cost in time and memory, counted from the shape of the data.

use bagwise_core::Bags;

/// Bytes that `prepare` occupies.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MemoryEstimate {
    /// Whatever is prepared.
    pub fixed: u64,
    /// For each group of points that share their representation.
    pub each: u64,
}

impl MemoryEstimate {
    /// How many groups fit a budget together; at least one, which may then be refused.
    pub fn together(&self, budget: u64) -> usize {
        (budget.saturating_sub(self.fixed) / self.each.max(1)).max(1) as usize
    }
}

/// Operations that one core of an ordinary machine does in a second. An operation is a multiply-add of plain vectorised code;
/// the pairs engine, with wider vectors, does more of them, and what waits for memory or branches counts as several.
pub const NOMINAL_SPEED: f64 = 1.4e10;

/// Operations of support vector machines on a Gram of this many bags, one for each of some points.
pub(crate) fn gram_machine_work(bags: f64, points: usize) -> f64 {
    // Iterations grow with the bags, and each passes over two rows of the Gram.
    points as f64 * (42.0 * bags * bags + 6e3 * bags)
}

/// Operations that compare every instance of some bags with every instance of others, both shares of all bags, at one width.
pub(crate) fn comparison_work(bags: &Bags, known: f64, new: f64) -> f64 {
    /// What an instance adds to an answer is kept for the reasons.
    const PART: f64 = 60.0;
    let n = bags.instance_count() as f64;
    known * new * n * n * (pair_work(bags, 1) + PART)
}

/// Operations of one pair of instances in the pairs engine, for this many widths.
pub(crate) fn pair_work(bags: &Bags, widths: usize) -> f64 {
    // Measured from 10 to 384 columns, with one width and with eleven. Most widths are powers of others.
    const PRODUCT: f64 = 0.6;
    const WIDTH: f64 = 5.0;
    PRODUCT * bags.values_per_instance() + WIDTH * widths as f64
}
