//! What learning a codebook takes, in operations and in memory, from the shape of the data alone. `cargo xtask bench estimates`
//! compares it with the clock.

use super::MOST_INSTANCES;
use bagwise_core::{Bags, Instances};
use bagwise_engine::axes::MOST_COLUMNS;

/// Operations of k-means for a value of an instance and a centre, in all rounds, as costs are estimated.
const ROUNDS_OF_MEANS: f64 = 25.0;

/// The same of a mixture, whose steps are more and have exponentials.
const STEPS_OF_MIXTURE: f64 = 400.0;

/// Instances from which on a few large groups need more rounds the more instances there are, up to the most that are allowed.
const FEW_INSTANCES: f64 = 5000.0;

/// Operations to fetch a value and put it into its lane in a round of k-means, whatever the number of centres.
const FETCHING: f64 = 16.0;

/// The cost of learning this many codebooks with this many centres, with or without principal axes.
pub(crate) fn learning_work(bags: &Bags, codebooks: usize, centres: f64, on_axes: bool) -> f64 {
    let axes = if on_axes { axes_work(bags) } else { 0.0 };
    axes + codebooks as f64 * grouping_work(bags, centres, on_axes, false)
}

/// Axes, and the coordinates of all instances on some third of them, once for learning and once for the vectors.
pub(super) fn axes_work(bags: &Bags) -> f64 {
    let (d, side) = (bags.width() as f64, bags.width().min(MOST_COLUMNS) as f64);
    let n = bags.instance_count().min(MOST_INSTANCES) as f64;
    n * d * side / 2.0 + 9.0 * side.powi(3) + (n + bags.instance_count() as f64) * d * side / 3.0
}

/// All rounds of k-means, or all steps of a mixture. Of axes about half have the share of the variance that is asked for.
pub(super) fn grouping_work(bags: &Bags, centres: f64, on_axes: bool, mixture: bool) -> f64 {
    let n = bags.instance_count().min(MOST_INSTANCES) as f64;
    let side = bags.width().min(MOST_COLUMNS) as f64;
    let inside = if on_axes { side / 2.0 } else { bags.values_per_instance() };
    let many = (n / FEW_INSTANCES).clamp(1.0, 8.0);
    // A distance has to be compared too.
    let compared = n * centres * (inside + 6.0);
    match (mixture, on_axes) {
        (true, _) => STEPS_OF_MIXTURE * many.powf(0.45) * compared,
        (false, true) => ROUNDS_OF_MEANS * many.powf(0.75) * (compared + n * FETCHING * inside),
        // The many centres without axes soon have their instances.
        (false, false) => ROUNDS_OF_MEANS * compared,
    }
}

/// Memory for codebooks: the drawn instances, the covariance and its parts, and coordinates on axes.
pub(crate) fn learning_memory(bags: &Bags, on_axes: bool) -> u64 {
    let n = bags.instance_count().min(MOST_INSTANCES) as u64;
    let (d, side) = (bags.width() as u64, bags.width().min(MOST_COLUMNS) as u64);
    let here = !matches!(bags.instances(), Instances::Stored(_)) && bags.instance_count() <= MOST_INSTANCES;
    let drawn = if here { 0 } else { (8.0 * n as f64 * bags.values_per_instance()) as u64 };
    // A group and its padding for every instance.
    let groups = 72 * n;
    let axes = if on_axes { 8 * (4 * side * side + 2 * side * d + n * side.min(n)) } else { 0 };
    drawn + groups + axes
}
