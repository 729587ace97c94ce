//! One file per verb: its arguments, the examples its help shows, and `run`.

pub(crate) mod compare;
pub(crate) mod completions;
pub(crate) mod concepts;
pub(crate) mod convert;
pub(crate) mod data;
pub(crate) mod embed;
pub(crate) mod evaluate;
pub(crate) mod explain;
pub(crate) mod fit;
pub(crate) mod gram;
pub(crate) mod inspect;
pub(crate) mod methods;
pub(crate) mod predict;
pub(crate) mod report;
pub(crate) mod rules;
pub(crate) mod run;
pub(crate) mod show;
pub(crate) mod validate;
pub(crate) mod votes;
