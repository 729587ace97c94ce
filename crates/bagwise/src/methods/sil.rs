//! Single-instance learning: every instance has the label of its bag, and the output of a bag is that of its most
//! positive instance.
//!
//! The simplest method that works on instances, and the first round of `mi-svm`. If positive instances are rare, most
//! labels in positive bags are wrong; yet it is often hard to beat, so it belongs in comparisons.
//!
//! Ray, Craven: Supervised versus multiple instance learning: an empirical comparison, ICML 2005.

use crate::families::alternating::kernel::{COST, KERNEL, WIDTH};
use crate::families::alternating::{Alternating, Alternation, Problem, TrainingRow, USUAL, bad_start};
use crate::method::Info;
use crate::methods::mi_svm::instances;
use crate::params::ParamSpec;
use bagwise_core::{Bags, Result};

/// The method, for the registry.
pub(crate) static METHOD: Alternation<Sil> = Alternation { info: &INFO, method: Sil };

#[derive(Clone)]
pub(crate) struct Sil;

static INFO: Info = Info {
    name: "sil",
    aliases: &["single-instance"],
    title: "SVM on all instances with the labels of their bags",
    about: "Every instance gets the label of its bag, and an SVM is trained on all instances. The output of a bag is \
            the largest output of its instances.",
    reference: "Ray, Craven: Supervised versus multiple instance learning: an empirical comparison, ICML 2005",
    complexity: 15,
    params: PARAMS,
    ..USUAL
};

static PARAMS: &[ParamSpec] = &[KERNEL, WIDTH, COST];

impl Alternating for Sil {
    fn usual_rounds(&self) -> f64 {
        1.0
    }

    /// Nothing is believed besides the labels, and so nothing is revised.
    fn start(&self, _: &Problem<'_>, _: u64) -> Vec<u32> {
        Vec::new()
    }

    fn check_start(&self, _: &Bags, _: &[f64], start: &[u32]) -> Result<()> {
        if start.is_empty() { Ok(()) } else { Err(bad_start("empty: nothing is chosen")) }
    }

    fn rows(&self, problem: &Problem<'_>, _: &[u32]) -> Vec<TrainingRow> {
        instances(problem)
            .map(|(bag, i)| TrainingRow { at: i, y: problem.y[bag], bag, place: i, factor: 1.0 })
            .collect()
    }

    fn revise(&self, _: &Problem<'_>, _: &[u32], _: &[f64]) -> Vec<u32> {
        Vec::new()
    }
}
