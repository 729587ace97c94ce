//! MI-SVM: a positive bag is represented by the instance with the largest output, its witness; a negative bag by all of
//! its instances.
//!
//! The first machine has the means of the positive bags for witnesses. After each machine a positive bag's witness is
//! its instance with the largest output; until the witnesses stay, return, or `max-iter` machines are trained. A
//! bag's output is the largest of its instances', so that the margin is one of bags.
//!
//! Andrews, Tsochantaridis, Hofmann: Support vector machines for multiple-instance learning, NIPS 2002, where it is
//! written MI-SVM and told from mi-SVM (`mi-svm`) by capitals alone.

use crate::families::alternating::kernel::{COST, KERNEL, WIDTH};
use crate::families::alternating::{
    Alternating, Alternation, Problem, ROUNDS, TrainingRow, USUAL, bad_start,
};
use crate::method::Info;
use crate::params::ParamSpec;
use bagwise_core::{Bags, Result};

/// The method, for the registry.
pub(crate) static METHOD: Alternation<MiSvmBag> = Alternation { info: &INFO, method: MiSvmBag };

#[derive(Clone)]
pub(crate) struct MiSvmBag;

/// In the place of a witness: the mean of the bag.
const MEAN: u32 = u32::MAX;

static INFO: Info = Info {
    name: "mi-svm-bag",
    aliases: &["MI-SVM", "mi-svm-witness"],
    title: "SVM on one witness per positive bag and all negative instances",
    about: "An SVM is trained on one witness of each positive bag (at first the mean of its instances) and on all \
            instances of negative bags. The instance with the largest output becomes the new witness. This repeats \
            until no witness changes. The output of a bag is the largest output of its instances.",
    reference: "Andrews, Tsochantaridis, Hofmann: Support vector machines for multiple-instance learning, NIPS 2002",
    complexity: 32,
    params: PARAMS,
    ..USUAL
};

static PARAMS: &[ParamSpec] = &[KERNEL, WIDTH, COST, ParamSpec { default: "50", grid: "50", ..ROUNDS }];

impl Alternating for MiSvmBag {
    fn wants_means(&self) -> bool {
        true
    }

    /// The witness of each training bag; 0 for negative bags, which have none.
    fn start(&self, problem: &Problem<'_>, _: u64) -> Vec<u32> {
        problem.y.iter().map(|&y| if y > 0.0 { MEAN } else { 0 }).collect()
    }

    fn check_start(&self, bags: &Bags, y: &[f64], start: &[u32]) -> Result<()> {
        let inside = |b: usize| start[b] == MEAN && y[b] > 0.0 || (start[b] as usize) < bags.rows(b).len();
        if start.len() == bags.len() && (0..bags.len()).all(inside) {
            return Ok(());
        }
        Err(bad_start(
            "an instance of each positive bag, or 4294967295 for its mean, and 0 for each negative bag",
        ))
    }

    fn rows(&self, problem: &Problem<'_>, belief: &[u32]) -> Vec<TrainingRow> {
        let means = problem.bags.instance_count();
        let mut rows = Vec::new();
        for (bag, (&b, &witness)) in problem.train.iter().zip(belief).enumerate() {
            let (own, y) = (problem.bags.rows(b), problem.y[bag]);
            if y > 0.0 {
                let at = if witness == MEAN { means + b } else { own.start + witness as usize };
                rows.push(TrainingRow { at, y, bag, place: means + b, factor: 1.0 });
            } else {
                rows.extend(own.map(|at| TrainingRow { at, y, bag, place: at, factor: 1.0 }));
            }
        }
        rows
    }

    fn revise(&self, problem: &Problem<'_>, _: &[u32], outputs: &[f64]) -> Vec<u32> {
        let of = |(&bag, &y): (&usize, &f64)| if y > 0.0 { problem.largest(bag, |i| outputs[i]) } else { 0 };
        problem.train.iter().zip(problem.y).map(of).collect()
    }

    fn chosen(&self, problem: &Problem<'_>, belief: &[u32]) -> Vec<Option<u32>> {
        let of = |(&witness, &y): (&u32, &f64)| (y > 0.0 && witness != MEAN).then_some(witness);
        belief.iter().zip(problem.y).map(of).collect()
    }
}
