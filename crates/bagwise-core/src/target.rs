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

/// A number in one spelling: 1, 1.0 and 01 are the same. None for what is not digits, so that 1e5 is no number here:
/// ids in hexadecimal digits look like that.
pub fn one_spelling(text: &str) -> Option<String> {
    let unsigned = text.strip_prefix(['-', '+']).unwrap_or(text);
    let (whole, fraction) = unsigned.split_once('.').unwrap_or((unsigned, ""));
    let digits = |text: &str| text.bytes().all(|b| b.is_ascii_digit());
    if whole.is_empty() || !digits(whole) || !digits(fraction) {
        return None;
    }
    let (whole, fraction) = (whole.trim_start_matches('0'), fraction.trim_end_matches('0'));
    let is_zero = whole.is_empty() && fraction.is_empty();
    let sign = if text.starts_with('-') && !is_zero { "-" } else { "" };
    Some(format!("{sign}{}.{fraction}", if whole.is_empty() { "0" } else { whole }))
}

/// Which of these classes a label means: the one that is written alike, or else the same number in another spelling.
pub fn class_called(names: &[String], label: &str) -> Option<usize> {
    let exactly = names.iter().position(|name| name == label);
    exactly.or_else(|| {
        let number = one_spelling(label)?;
        names.iter().position(|name| one_spelling(name).as_ref() == Some(&number))
    })
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_one_spelling() {
        let same = |a: &str, b: &str| one_spelling(a).is_some() && one_spelling(a) == one_spelling(b);
        assert!(same("1", "1.0") && same("01", "1") && same("-2.50", "-2.5") && same("-0", "0.0"));
        assert!(!same("1", "10") && !same("1e5", "1e5") && !same("a", "a") && !same("1", "-1"));
    }

    #[test]
    fn a_label_means_one_class_only() {
        let names = ["9007199254740992", "100000", "1", "1.0", "yes"].map(String::from);
        let of = |label: &str| class_called(&names, label);
        assert_eq!((of("1.0"), of("01"), of("yes"), of("100000.0")), (Some(3), Some(2), Some(4), Some(1)));
        // The same in double precision, but not the same label.
        assert_eq!((of("9007199254740993"), of("1e5"), of("Yes")), (None, None, None));
    }
}
