//! Protocols by name: how bags are divided, and how parameters are chosen.
//!
//! | name | outer folds | parameters |
//! |---|---|---|
//! | `nested` | k-fold, repeated | by inner folds on the training bags of each outer fold |
//! | `kfold` | k-fold, repeated | fixed |
//! | `loo` | each bag (or group) alone | by inner folds if there are several |
//! | `half` | half of every class, n splits | by inner folds if there are several |
//! | `given` | as a column or file says | by inner folds if there are several |
//! | `train-test` | one split | by inner folds if there are several |
//! | `learning-curve` | k-fold, each with 10, 20, …, 100 % of its training bags | by inner folds if there are several |
//! | (`external`) | none: a saved model on bags from elsewhere | those of the model |
//! | `best-on-cv` | k-fold, repeated | the best on the very folds that are reported: optimistic |

use std::str::FromStr;

use serde::{Deserialize, Serialize};

use super::split::Splits;
use bagwise_core::{Error, Result};

/// How a method is judged.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Protocol {
    /// Its name.
    pub name: ProtocolName,
    /// How bags are divided into training and test.
    pub outer: Splits,
    /// How training bags are divided for choosing and calibrating.
    pub inner: Splits,
}

/// The names of protocols.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ProtocolName {
    /// Parameters by inner folds.
    #[default]
    Nested,
    /// Fixed parameters.
    Kfold,
    /// Each bag alone.
    Loo,
    /// Random halves.
    Half,
    /// Folds given with the data.
    Given,
    /// One given split.
    TrainTest,
    /// Folds with growing shares of their training bags.
    LearningCurve,
    /// Parameters by the reported folds.
    BestOnCv,
    /// A saved model on bags from elsewhere; not a name that users write.
    External,
}

const NAMES: [(&str, ProtocolName); 8] = [
    ("nested", ProtocolName::Nested),
    ("kfold", ProtocolName::Kfold),
    ("loo", ProtocolName::Loo),
    ("half", ProtocolName::Half),
    ("given", ProtocolName::Given),
    ("train-test", ProtocolName::TrainTest),
    ("learning-curve", ProtocolName::LearningCurve),
    ("best-on-cv", ProtocolName::BestOnCv),
];

impl ProtocolName {
    /// The name users write.
    pub fn as_str(self) -> &'static str {
        NAMES.iter().find(|(_, p)| *p == self).map_or("external", |(name, _)| name)
    }

    /// True if parameters that are not given are chosen from their grid; false if they have their defaults.
    pub fn tunes(self) -> bool {
        self != ProtocolName::Kfold
    }

    /// Outer folds where nothing is said: five halves or folds of a learning curve, else ten folds or as many as there are bags or
    /// groups to deal out.
    pub fn default_folds(self, units: usize) -> usize {
        match self {
            ProtocolName::Half => 5,
            ProtocolName::LearningCurve => units.clamp(2, 5),
            _ => units.clamp(2, 10),
        }
    }
}

impl FromStr for ProtocolName {
    type Err = Error;

    fn from_str(text: &str) -> Result<ProtocolName> {
        let found = NAMES.iter().find(|(name, _)| *name == text).map(|(_, p)| *p);
        found.ok_or_else(|| Error::unknown("protocol", text, NAMES.map(|(name, _)| name)))
    }
}

impl Protocol {
    /// A protocol with `folds` outer folds (or half splits) and `inner` inner folds.
    pub fn new(name: ProtocolName, folds: usize, inner: usize) -> Protocol {
        let outer = match name {
            ProtocolName::Nested | ProtocolName::Kfold | ProtocolName::BestOnCv => Splits::KFold(folds),
            ProtocolName::Loo => Splits::LeaveOneOut,
            ProtocolName::Half => Splits::Half(folds),
            ProtocolName::LearningCurve => Splits::Curve(folds),
            ProtocolName::Given => Splits::Given,
            ProtocolName::TrainTest | ProtocolName::External => Splits::TrainTest,
        };
        Protocol { name, outer, inner: Splits::KFold(inner) }
    }

    /// True if the reported folds also chose the parameters, so that the estimate flatters.
    pub fn optimistic(&self) -> bool {
        self.name == ProtocolName::BestOnCv
    }
}

impl std::fmt::Display for Protocol {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.name {
            ProtocolName::Nested => write!(f, "nested ({}, inner {})", self.outer, self.inner),
            ProtocolName::BestOnCv => write!(f, "best-on-cv ({}; optimistic)", self.outer),
            ProtocolName::External => f.write_str("external validation"),
            _ => write!(f, "{}", self.outer),
        }
    }
}
