//! Whether the predictions of a method can be explained by instances, and how.

use std::fmt;

use crate::params::Point;

/// How a prediction is explained by the instances of its bag.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Explains {
    /// The contributions of the instances add up to the output.
    Additive,
    /// Additive if these parameters have these values; otherwise there is no explanation.
    AdditiveFor(&'static [(&'static str, &'static str)]),
    /// Additive, except if these parameters have these values: then one instance decides.
    AdditiveOrWitness(&'static [(&'static str, &'static str)]),
    /// The output does not depend on the instances; it is all bias.
    Bias,
    /// One instance decides; the text says which.
    Witness(&'static str),
    /// As the text says. Additive for the defaults and for all points of the default grid; there is no explanation if one of these
    /// parameters has this value.
    Unless(&'static [(&'static str, &'static str)], &'static str),
    /// As the text says: it depends on the members.
    ByMembers(&'static str),
    /// There is no explanation; the text says why.
    No(&'static str),
}

impl fmt::Display for Explains {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Explains::Additive => f.write_str("additive"),
            Explains::AdditiveFor(values) => {
                write!(f, "additive for {}, otherwise none", assignments(values))
            }
            Explains::AdditiveOrWitness(values) => {
                write!(f, "additive; witness for {}", assignments(values))
            }
            Explains::Bias => f.write_str("additive: only a bias"),
            Explains::Unless(_, how) | Explains::ByMembers(how) => f.write_str(how),
            Explains::Witness(which) => write!(f, "witness: {which}"),
            Explains::No(why) => write!(f, "none: {why}"),
        }
    }
}

impl Explains {
    /// Why a model with these parameters has no explanation, if it has none. What depends on members is not known here.
    pub fn why_not(&self, point: &Point) -> Option<String> {
        let is = |(name, value): &&(&str, &str)| point.word(name).is_ok_and(|word| word == *value);
        match *self {
            Explains::No(why) => Some(why.into()),
            Explains::AdditiveFor(values) => {
                let others: Vec<String> = values
                    .iter()
                    .filter(|(name, value)| point.word(name).is_ok_and(|word| word != *value))
                    .map(|(name, value)| format!("{name} is not {value}"))
                    .collect();
                Some(others.join(", ")).filter(|others| !others.is_empty())
            }
            Explains::Unless(values, _) => {
                values.iter().find(is).map(|(name, value)| format!("{name} is {value}"))
            }
            Explains::Additive
            | Explains::AdditiveOrWitness(_)
            | Explains::Bias
            | Explains::Witness(_)
            | Explains::ByMembers(_) => None,
        }
    }
}

fn assignments(values: &[(&str, &str)]) -> String {
    values.iter().map(|(name, value)| format!("{name}={value}")).collect::<Vec<_>>().join(" ")
}
