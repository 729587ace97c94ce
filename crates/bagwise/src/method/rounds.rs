//! Searches that alternate between training and choosing instances: how they ended, and how they went.

use std::fmt;

use bagwise_core::{Bags, Ctx, Result};

use crate::params::Point;

/// Summary of an alternation between training and choosing instances.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rounds {
    /// How it ended.
    pub ended: AlternationEnd,
    /// How many choices changed after each round.
    pub changed: Vec<usize>,
}

/// One round of an alternation.
#[derive(Clone, Debug, PartialEq)]
pub struct AlternationStep {
    /// What it was trained on. The method defines the meaning of this list.
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

/// A whole alternation.
#[derive(Clone, Debug, PartialEq)]
pub struct Trajectory {
    /// Its rounds; the last one gives the model.
    pub steps: Vec<AlternationStep>,
    /// How it ended.
    pub rounds: Rounds,
}

/// A method whose search can be followed round by round.
pub trait Follow {
    /// Searches on all bags, which are in memory, from a given choice or its own start, to a tolerance of the solver.
    fn follow(
        &self,
        point: &Point,
        bags: &Bags,
        y: &[f64],
        start: Option<&[u32]>,
        tolerance: f64,
        ctx: &Ctx,
    ) -> Result<Trajectory>;
}

/// How an alternation ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AlternationEnd {
    /// The last round changed nothing.
    Converged,
    /// The choices repeat those of this many rounds before.
    Cycle(usize),
    /// It reached the maximum number of rounds.
    Limit,
}

impl fmt::Display for AlternationEnd {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            AlternationEnd::Converged => f.write_str("converged"),
            AlternationEnd::Cycle(length) => write!(f, "cycle of {length}"),
            AlternationEnd::Limit => f.write_str("limit"),
        }
    }
}
