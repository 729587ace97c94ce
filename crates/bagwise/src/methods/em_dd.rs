//! EM-DD: diverse density, searched with one instance per bag at a time. Choose in every bag the instance
//! nearest to the concept, then move the concept to where these are most probable. Repeat until the density stops increasing.
//!
//! A round costs bags x d instead of instances x d. Zhang, Goldman: EM-DD: an improved multiple-instance learning
//! technique, NIPS 2001. From ten instances of positive bags, drawn by the seed, as they do (`starts=all` climbs from every one, which takes
//! long), keeping the best round. The rest is that of `dd`.

use crate::families::best_concept::{BestConcept, USUAL, table};
use crate::families::concepts::Producer;
use crate::method::Info;
use crate::params::ParamSpec;

/// The method, for the registry.
pub(crate) static METHOD: BestConcept = BestConcept { info: &INFO, producer: Producer::EmDd };

static PARAMS: [ParamSpec; 6] = table("10");

static INFO: Info = Info {
    name: "em-dd",
    aliases: &["emdd"],
    title: "diverse density, searched with one instance per bag at a time",
    about: "The concept of dd, found by alternation: choose the instance of every bag that is closest to the concept, \
            then improve the concept on the chosen instances, until the density stops \
                increasing. The search starts from ten \
            instances of positive bags, and the best result predicts as in dd.",
    reference: "Zhang, Goldman: EM-DD: an improved multiple-instance learning technique, NIPS 2001",
    complexity: 31,
    params: &PARAMS,
    ..USUAL
};
