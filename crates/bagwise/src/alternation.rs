//! Searches of the alternating methods, round by round: what the machines were trained on, what they said, what was
//! chosen next. For those who study convergence; `learn` and `train` are for everybody else.

use std::sync::Arc;

use crate::families::alternating::{Alternating, Alternation, Effort, Round};
use crate::method::Rounds;
use crate::methods::{mi_svm, mi_svm_bag, mirsvm, sil};
use crate::params::Point;
use bagwise_core::{Bags, Ctx, Error, Instances, Result};

/// One round of a search.
#[derive(Clone, Debug, PartialEq)]
pub struct Step {
    /// What it was trained on. `mirsvm`: the representative of each bag, counted within the bag; `mi-svm`: 1 or 0 for
    /// each instance; `mi-svm-bag`: the witness of each positive bag (`u32::MAX` for its mean), 0 for the others.
    pub choice: Vec<u32>,
    /// What was chosen afterwards.
    pub next: Vec<u32>,
    /// The signed coefficients of the rows trained on, in the order of bags and instances.
    pub coefficients: Vec<f64>,
    /// The bias.
    pub bias: f64,
    /// The dual objective, which is maximised.
    pub objective: f64,
    /// The output of every instance, without the bias.
    pub outputs: Vec<f64>,
}

/// A whole search.
#[derive(Clone, Debug, PartialEq)]
pub struct Trajectory {
    /// Its rounds; the machine is that of the last.
    pub steps: Vec<Step>,
    /// How it ended.
    pub rounds: Rounds,
}

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
        return Err(Error::Invalid(
            "some instances have missing values; fill them before following a search".into(),
        ));
    }
    let read;
    let bags = match bags.instances() {
        Instances::Stored(_) => {
            read = Arc::new(bags.clone()).in_memory(ctx)?;
            &*read
        }
        _ => bags,
    };
    let effort = Effort { tolerance };
    match method {
        "mirsvm" => one(&mirsvm::METHOD, point, bags, y, start, effort, ctx),
        "mi-svm" => one(&mi_svm::METHOD, point, bags, y, start, effort, ctx),
        "mi-svm-bag" => one(&mi_svm_bag::METHOD, point, bags, y, start, effort, ctx),
        "sil" => one(&sil::METHOD, point, bags, y, start, effort, ctx),
        other => Err(Error::unknown("alternating method", other, ["mirsvm", "mi-svm", "mi-svm-bag", "sil"])),
    }
}

fn one<A: Alternating + Clone>(
    method: &Alternation<A>,
    point: &Point,
    bags: &Bags,
    y: &[f64],
    start: Option<&[u32]>,
    effort: Effort,
    ctx: &Ctx,
) -> Result<Trajectory> {
    point.check(method.0.info().name, method.0.params())?;
    if let Some(start) = start {
        method.0.check_start(bags, y, start)?;
    }
    let mut steps = Vec::new();
    let mut watch = |round: &Round<'_>| {
        steps.push(Step {
            choice: round.belief.to_vec(),
            next: round.next.to_vec(),
            coefficients: round.solved.coefficients.clone(),
            bias: round.bias,
            objective: -round.solved.outcome.objective,
            outputs: round.outputs.to_vec(),
        });
    };
    let searched = method.watch(bags, y, point, start.map(<[u32]>::to_vec), effort, &mut watch, ctx)?;
    Ok(Trajectory { steps, rounds: searched.rounds })
}
