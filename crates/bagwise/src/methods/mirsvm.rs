//! MIRSVM: every bag, positive or negative, is represented by one instance, and the machine that learns from the
//! representatives chooses them again.
//!
//! With representatives `S` (one instance per bag), labels `Y` and the Gaussian `k` of width `sigma`, train
//! `o(x) = sum_I a_I Y_I k(x, x_{S_I}) + b` on them, `0 <= a_I <= C`; then `S_I` becomes the instance of bag `I` with
//! the largest `o`; and again. A bag's output is the largest of its instances', positive from 0 on.
//!
//! Melki, Cano, Ventura: MIRSVM: multi-instance support vector machine with bag representatives, Pattern Recognition 79
//! (2018). The paper prints some things in two ways; each is a switch, and the defaults follow its prose:
//!
//! * `bound`: `c` (algorithm) or `c/n`, over the number of training bags (formula 13b);
//! * `select`: `max` (formula 12) or `printed` (line 14 of the algorithm, where a negative bag is represented by its
//!   *least* positive instance);
//! * `bias`: `free` (mean over coefficients inside their bounds: the optimality conditions), `all` (formula 16: over
//!   all that are not 0, which errs by the slack of those at the bound), `printed` (line 12, with labels inside the
//!   kernel matrix: a slip).
//!
//! For negative bags the selection works against the machine, so that no objective falls: with `max` the search nearly
//! always ends in a cycle or at the limit; with `printed` it nearly always converges, to worse machines. The paper
//! tunes `sigma` in 0.1 to 10; our default grid is relative to the median distance, which also serves unscaled columns.
//! A round costs a machine on as many rows as there are bags, and a pass over instances x support rows.

use crate::families::alternating::kernel::{COST, KERNEL};
use crate::families::alternating::{
    Alternating, Alternation, Problem, RESTARTS, ROUNDS, TrainedRound, TrainingRow, USUAL, bad_start,
};
use crate::families::width::SIGMA;
use crate::method::Info;
use crate::params::{Kind, ParamSpec, Point};
use bagwise_core::{Bags, Result, Rng, absorb};

/// The method, for the registry.
pub(crate) static METHOD: Alternation<Mirsvm> = Alternation {
    info: &INFO,
    method: Mirsvm { bound_over_bags: false, select_as_printed: false, bias: Bias::Free },
};

/// The switches.
#[derive(Clone)]
pub(crate) struct Mirsvm {
    bound_over_bags: bool,
    select_as_printed: bool,
    bias: Bias,
}

static INFO: Info = Info {
    name: "mirsvm",
    title: "SVM on one representative instance per bag, chosen by the SVM itself",
    about: "Every bag is represented by one instance, at first a random one. An SVM is trained on the \
            representatives. Each bag is then represented by its instance with the largest output, and the SVM is \
            trained again. This repeats until the representatives stay the same, return to an earlier choice, or \
            max-iter is reached. The output of a bag is \
            the largest output of its instances.",
    reference: "Melki, Cano, Ventura: MIRSVM: multi-instance support vector machine with bag representatives, \
                Pattern Recognition 79, 2018",
    complexity: 35,
    params: PARAMS,
    ..USUAL
};

static PARAMS: &[ParamSpec] = &[
    COST,
    KERNEL,
    SIGMA.only_with("kernel", &["rbf"]),
    ParamSpec::new(
        "bound",
        Kind::Word(&["c", "c/n"]),
        "c",
        "Upper bound of a coefficient: c, or c divided by the number of bags.",
    )
    .solver(),
    ParamSpec::new(
        "select",
        Kind::Word(&["max", "printed"]),
        "max",
        "The representative of a bag: the instance with the largest output (max), or with the largest output times \
         the label of the bag, as printed in the paper (printed).",
    )
    .solver(),
    ParamSpec::new(
        "bias",
        Kind::Word(&["free", "all", "printed"]),
        "free",
        "The bias from coefficients inside their bounds, from all that are not 0, or as the algorithm \
         prints it.",
    )
    .solver(),
    ROUNDS,
    RESTARTS,
];

#[derive(Clone, Copy, Debug, PartialEq)]
enum Bias {
    Free,
    All,
    Printed,
}

impl Alternating for Mirsvm {
    fn at(&self, point: &Point) -> Result<Mirsvm> {
        let biases = [("free", Bias::Free), ("all", Bias::All), ("printed", Bias::Printed)];
        Ok(Mirsvm {
            bound_over_bags: point.choice("bound", &[("c", false), ("c/n", true)])?,
            select_as_printed: point.choice("select", &[("max", false), ("printed", true)])?,
            bias: point.choice("bias", &biases)?,
        })
    }

    fn wants_few(&self) -> bool {
        true
    }

    /// A random instance of each bag, by the bag's name: the same in every fold.
    fn start(&self, problem: &Problem<'_>, attempt: u64) -> Vec<u32> {
        let of = |&bag: &usize| {
            let name = problem.bags.ids()[bag].bytes().fold(0, |state, b| absorb(state, u64::from(b)));
            let mut rng = Rng::new(problem.seed, "representatives", &[attempt, name]);
            rng.below(problem.bags.rows(bag).len()) as u32
        };
        problem.train.iter().map(of).collect()
    }

    fn check_start(&self, bags: &Bags, _: &[f64], start: &[u32]) -> Result<()> {
        let inside =
            start.iter().enumerate().all(|(b, &i)| b < bags.len() && (i as usize) < bags.rows(b).len());
        if start.len() == bags.len() && inside {
            return Ok(());
        }
        Err(bad_start("an instance of each bag, counted from 0"))
    }

    fn rows(&self, problem: &Problem<'_>, belief: &[u32]) -> Vec<TrainingRow> {
        let row = |bag: usize| TrainingRow {
            at: problem.bags.rows(problem.train[bag]).start + belief[bag] as usize,
            y: problem.y[bag],
            bag,
            place: bag,
            factor: 1.0,
        };
        (0..belief.len()).map(row).collect()
    }

    fn revise(&self, problem: &Problem<'_>, _: &[u32], outputs: &[f64]) -> Vec<u32> {
        let of = |(&bag, &y): (&usize, &f64)| {
            problem.largest(bag, |i| if self.select_as_printed { y * outputs[i] } else { outputs[i] })
        };
        problem.train.iter().zip(problem.y).map(of).collect()
    }

    fn share(&self, problem: &Problem<'_>) -> f64 {
        if self.bound_over_bags { 1.0 / problem.train.len() as f64 } else { 1.0 }
    }

    fn bias(&self, _: &Problem<'_>, trained: &TrainedRound<'_>) -> Result<Option<f64>> {
        let TrainedRound { rows, bounds, solved, .. } = trained;
        let support = |k: &usize| solved.coefficients[*k].abs() > EDGE * bounds[*k];
        let below = |k: &usize| solved.coefficients[*k].abs() < (1.0 - EDGE) * bounds[*k];
        let mean =
            |values: &[f64]| (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64);
        let all: Vec<usize> = (0..rows.len()).filter(support).collect();
        let residual = |k: usize| rows[k].y - solved.outputs[k];
        Ok(match self.bias {
            Bias::All => mean(&all.iter().map(|&k| residual(k)).collect::<Vec<_>>()),
            Bias::Printed => {
                // Y_I Y_K K_IK in the place of K_IK: the output with all labels taken for 1, times the label.
                let sizes: Vec<f64> = solved.coefficients.iter().map(|b| b.abs()).collect();
                let sums = (trained.sums)(&sizes)?;
                mean(&all.iter().map(|&k| rows[k].y * (1.0 - sums[k])).collect::<Vec<_>>())
            }
            // Without a coefficient inside its bounds the solver takes the middle of what is optimal.
            Bias::Free => mean(&all.iter().copied().filter(below).map(residual).collect::<Vec<_>>()),
        })
    }

    fn chosen(&self, _: &Problem<'_>, belief: &[u32]) -> Vec<Option<u32>> {
        belief.iter().map(|&i| Some(i)).collect()
    }

    fn zero_is_positive(&self) -> bool {
        true
    }
}

/// Coefficients this close to 0 or to their bound, in units of the bound, are taken to be there.
const EDGE: f64 = 1e-8;
