//! mi-SVM: instances have labels of their own, and the machine that learns from them assigns them again.
//!
//! Every instance starts with the label of its bag. A support vector machine learns from all instances; in each
//! positive bag those with output above 0 become positive and the others negative, and if none is above 0 the one with
//! the largest output stays positive; instances of negative bags stay negative. Again, until the labels stay,
//! return, or `max-iter` machines are trained. A bag is positive if an instance has an output above 0.
//!
//! Andrews, Tsochantaridis, Hofmann: Support vector machines for multiple-instance learning, NIPS 2002. Weka's class
//! `MISVM` is this method, not the one that the paper writes with capitals (`mi-svm-bag`).

use crate::families::alternating::kernel::{COST, KERNEL, WIDTH};
use crate::families::alternating::{
    Alternating, Alternation, Problem, ROUNDS, TrainingRow, USUAL, bad_start,
};
use crate::method::Info;
use crate::params::ParamSpec;
use bagwise_core::{Bags, Result};

/// The method, for the registry.
pub(crate) static METHOD: Alternation<MiSvm> = Alternation { info: &INFO, method: MiSvm };

#[derive(Clone)]
pub(crate) struct MiSvm;

static INFO: Info = Info {
    name: "mi-svm",
    aliases: &["mi-SVM", "mi-svm-instance"],
    title: "SVM on all instances that revises their labels",
    about: "Instances start with the label of their bag, and an SVM is trained on all of them. In positive bags, \
            instances with an output above 0 (and always the largest) then become positive and the others negative. \
            This repeats until no label changes. The output of a bag is the largest output of its instances.",
    reference: "Andrews, Tsochantaridis, Hofmann: Support vector machines for multiple-instance learning, NIPS 2002",
    complexity: 30,
    params: PARAMS,
    ..USUAL
};

static PARAMS: &[ParamSpec] = &[KERNEL, WIDTH, COST, ParamSpec { default: "50", grid: "50", ..ROUNDS }];

/// The instances of the training bags one after the other, with the position of their bag among these.
pub(crate) fn instances<'p>(problem: &'p Problem<'_>) -> impl Iterator<Item = (usize, usize)> + 'p {
    problem.train.iter().enumerate().flat_map(|(bag, &b)| problem.bags.rows(b).map(move |i| (bag, i)))
}

impl Alternating for MiSvm {
    /// A 1 or 0 for each instance of the training bags.
    fn start(&self, problem: &Problem<'_>, _: u64) -> Vec<u32> {
        instances(problem).map(|(bag, _)| u32::from(problem.y[bag] > 0.0)).collect()
    }

    fn check_start(&self, bags: &Bags, _: &[f64], start: &[u32]) -> Result<()> {
        if start.len() == bags.instance_count() && start.iter().all(|&one| one <= 1) {
            return Ok(());
        }
        Err(bad_start("1 or 0 for each instance"))
    }

    fn rows(&self, problem: &Problem<'_>, belief: &[u32]) -> Vec<TrainingRow> {
        let sides = belief.iter().map(|&one| if one == 1 { 1.0 } else { -1.0 });
        instances(problem)
            .zip(sides)
            .map(|((bag, i), y)| TrainingRow { at: i, y, bag, place: i, factor: 1.0 })
            .collect()
    }

    fn revise(&self, problem: &Problem<'_>, belief: &[u32], outputs: &[f64]) -> Vec<u32> {
        let mut next = Vec::with_capacity(belief.len());
        for (&bag, &y) in problem.train.iter().zip(problem.y) {
            let rows = problem.bags.rows(bag);
            let first = next.len();
            next.extend(rows.map(|i| u32::from(y > 0.0 && outputs[i] > 0.0)));
            if y > 0.0 && !next[first..].contains(&1) {
                next[first + problem.largest(bag, |i| outputs[i]) as usize] = 1;
            }
        }
        next
    }
}
