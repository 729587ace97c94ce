//! Diverse density: finds a point in instance space, with a weight for each attribute, that is close to every positive bag and
//! far from every negative one. A bag is positive if its nearest instance is close enough.
//!
//! The density, its search and its cost are in `bagwise_engine::density`, the rule in `families::best_concept`. Maron,
//! Lozano-Perez: A framework for multiple-instance learning, NIPS 1998. We start every climb with weights that suit
//! scaled columns, stop after thirty steps (three hundred are no better), and take the threshold from training bags.
//! For real values the likelihood is `1 - |y - max u|`.

use crate::families::best_concept::{BestConcept, USUAL, table};
use crate::families::concepts::Producer;
use crate::method::Info;
use crate::params::ParamSpec;

/// The method, for the registry.
pub(crate) static METHOD: BestConcept = BestConcept { info: &INFO, producer: Producer::DiverseDensity };

static PARAMS: [ParamSpec; 6] = table("auto");

static INFO: Info = Info {
    name: "dd",
    aliases: &["midd"],
    title: "diverse density: finds a point that is close to every positive bag and far from negative bags",
    about: "A concept is a point h with a weight w for every attribute. With D(x) = sum of w^2 (h - x)^2, the \
            closeness of a bag is the largest exp(-D(x)) of its instances. Gradient ascent from instances of \
            positive bags finds the concept that makes the training labels most probable (noisy-or). A bag is \
            positive if its closeness reaches a threshold; for regression the closeness is the prediction.",
    reference: "Maron, Lozano-Perez: A framework for multiple-instance learning, NIPS 1998",
    complexity: 30,
    params: &PARAMS,
    ..USUAL
};
