//! Searches of the alternating methods, round by round: what the machines were trained on, what they said, what was
//! chosen next. For studies of convergence; use `fold` for anything else.

use std::sync::Arc;

use crate::methods;
use crate::params::Point;
use bagwise_core::{Bags, Ctx, Error, Instances, Result};

pub use crate::method::{AlternationStep, Trajectory};

/// Follows a search on all bags, with labels +1 and -1, from a given choice or the method's own start. The solver
/// stops at `tolerance`.
pub fn follow(
    method: &str,
    point: &Point,
    bags: &Bags,
    y: &[f64],
    start: Option<&[u32]>,
    tolerance: f64,
    ctx: &Ctx,
) -> Result<Trajectory> {
    if y.len() != bags.len() || y.iter().any(|&y| y != 1.0 && y != -1.0) {
        return Err(Error::Invalid("labels must be one +1 or -1 for each bag".into()));
    }
    if bags.has_missing() {
        return Err(Error::Invalid("some instances have missing values; fill them in first".into()));
    }
    let read;
    let bags = match bags.instances() {
        Instances::Stored(_) => {
            read = Arc::new(bags.clone()).in_memory(ctx)?;
            &*read
        }
        _ => bags,
    };
    let method = methods::find(method)?;
    let known = methods::METHODS.iter().filter(|m| m.alternation().is_some()).map(|m| m.info().name);
    let search = method
        .alternation()
        .ok_or_else(|| Error::unknown("alternating method", method.info().name, known))?;
    point.check(method.info().name, method.params())?;
    search.follow(point, bags, y, start, tolerance, ctx)
}
