//! What is to be predicted: a class or a number for each bag.

use std::collections::HashMap;

use crate::message::{Message, Setting};

/// What is to be predicted, one entry per bag.
#[derive(Clone, Debug, PartialEq)]
pub enum Target {
    /// Classes: `codes[bag]` is a position in `names`.
    Classes {
        /// The class of each bag.
        codes: Vec<u32>,
        /// The classes, numbers ascending by value, else by name.
        names: Vec<String>,
    },
    /// Real values.
    Values(Vec<f64>),
}

impl Target {
    /// Classes from the labels as written. Class names are sorted: by value if all are numbers, else as text.
    pub fn from_labels<S: AsRef<str>>(labels: &[S]) -> Target {
        let mut names: Vec<&str> = labels.iter().map(AsRef::as_ref).collect();
        names.sort_unstable();
        names.dedup();
        sort_names(&mut names);
        let code: HashMap<&str, u32> = names.iter().zip(0..).map(|(&n, c)| (n, c)).collect();
        let codes = labels.iter().map(|l| code[l.as_ref()]).collect();
        Target::Classes { codes, names: names.into_iter().map(String::from).collect() }
    }

    /// Number of bags.
    pub fn len(&self) -> usize {
        match self {
            Target::Classes { codes, .. } => codes.len(),
            Target::Values(values) => values.len(),
        }
    }

    /// True if there are no bags.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The entries of `bags`, in that order; class names stay.
    pub fn select(&self, bags: &[usize]) -> Target {
        match self {
            Target::Classes { codes, names } => {
                Target::Classes { codes: bags.iter().map(|&b| codes[b]).collect(), names: names.clone() }
            }
            Target::Values(values) => Target::Values(bags.iter().map(|&b| values[b]).collect()),
        }
    }
}

/// Labels with more different whole numbers than this are rarely classes.
const MANY: usize = 20;
/// Labels with up to this many different values are classes, however few bags there are.
const FEW: usize = 10;

/// Whether integer labels with this many different values on this many bags may be measurements: more than 20 values, or
/// more than 10 and more than half as many as there are bags. The user must then choose the task.
pub fn may_be_measurements(distinct: usize, bags: usize) -> bool {
    distinct > MANY || distinct > FEW && 2 * distinct > bags
}

/// The question to the user if labels may be classes or measurements, and how to answer it.
pub fn undecided_target(distinct: usize, bags: usize) -> (String, Message) {
    let rule = if distinct > MANY {
        format!("more than {MANY}")
    } else {
        format!("more than {FEW}, and more than half as many as bags")
    };
    let found = format!(
        "the labels are {distinct} different whole numbers on {bags} bags ({rule}); they could be classes or measurements"
    );
    let remedy =
        Message::from("specify which").with([Setting::Task("classification"), Setting::Task("regression")]);
    (found, remedy)
}

/// Sorts names of classes or categories: by value if all are numbers, else as text.
pub fn sort_names<S: AsRef<str>>(names: &mut [S]) {
    names.sort_unstable_by(|a, b| a.as_ref().cmp(b.as_ref()));
    let number = |name: &S| name.as_ref().parse::<f64>().ok().filter(|v| v.is_finite());
    if names.iter().all(|name| number(name).is_some()) {
        // Stable: names of equal value keep the order of their text.
        names.sort_by(|a, b| number(a).partial_cmp(&number(b)).expect("finite numbers compare"));
    }
}
