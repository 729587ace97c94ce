//! How many folds of a run are fitted side by side.

use super::{Candidate, Run};
use crate::config::INNER_FOLDS;
use crate::plan::fold_cost;
use bagwise_core::Ctx;

/// Seconds of a nominal core up to which folds are fitted side by side: what may be lost if the program is killed.
const LITTLE: f64 = 20.0;

impl Run<'_> {
    /// How many folds are fitted side by side. A fold of little work keeps one thread busy most of the time; the parts of a
    /// larger one keep all of them busy, and then one fold after another takes less memory and is kept sooner.
    pub(super) fn folds_at_once(&self, candidate: &Candidate, ctx: &Ctx) -> usize {
        let (mut seconds, mut bytes) = (0.0, 1);
        let bags = &self.data.bags;
        let inner = if self.trains_inner { INNER_FOLDS } else { 0 };
        for setup in &candidate.setups {
            seconds += fold_cost(setup, self.data, 1.0, 0.0, inner).seconds();
            let needs = setup.method.needs(bags);
            let groups = needs.each.saturating_mul(setup.grid.groups.len() as u64);
            // What fits take on top is seldom more than what they were prepared from.
            bytes = bytes.max(2u64.saturating_mul(needs.fixed.saturating_add(groups)));
        }
        let room = ctx.memory / 4 / bytes.saturating_add(8 * (bags.instance_count() * bags.width()) as u64);
        match seconds <= LITTLE {
            true => rayon::current_num_threads().min(room as usize).max(1),
            false => 1,
        }
    }
}
