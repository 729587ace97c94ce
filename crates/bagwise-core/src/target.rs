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

/// A label in one spelling where some labels are words: 1 and 1.0 are the same, as pandas writes whole numbers beside empty
/// cells. Versions and codes are words, so that 1.1 is not 1.10, and 01 is not 1.
pub fn one_class(text: &str) -> Option<String> {
    let unsigned = text.strip_prefix(['-', '+']).unwrap_or(text);
    let whole = unsigned.split_once('.').map_or(unsigned, |(whole, _)| whole);
    one_spelling(text).filter(|number| number.ends_with('.') && (whole == "0" || !whole.starts_with('0')))
}

/// Numbers from here on are told apart as texts: neighbouring whole numbers are the same number in double precision.
const EXACT: f64 = (1u64 << 53) as f64;

/// Codes of classes as others call them: by the class that is written alike, or else by the same number. An error is the name of a
/// class that they do not have.
pub fn coded_like<'n>(codes: &[u32], names: &'n [String], others: &[String]) -> Result<Vec<u32>, &'n str> {
    let number = |name: &String| name.parse().ok().filter(|v: &f64| v.abs() < EXACT);
    let numbers: Option<Vec<f64>> = others.iter().map(number).collect();
    let meant = |name: &String| {
        let exactly = others.iter().position(|other| other == name);
        exactly.or_else(|| match &numbers {
            Some(numbers) => {
                let value = number(name)?;
                numbers.iter().position(|v| *v == value)
            }
            None => {
                let class = one_class(name)?;
                others.iter().position(|other| one_class(other).as_ref() == Some(&class))
            }
        })
    };
    // A class that no bag has may be among the names.
    let mut used = vec![false; names.len()];
    codes.iter().for_each(|&c| used[c as usize] = true);
    let mut known = vec![0; names.len()];
    for (c, name) in names.iter().enumerate().filter(|(c, _)| used[*c]) {
        known[c] = meant(name).ok_or(name.as_str())? as u32;
    }
    Ok(codes.iter().map(|&c| known[c as usize]).collect())
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
        let of = |names: &[&str], label: &str| {
            let names: Vec<String> = names.iter().map(|&name| name.into()).collect();
            coded_like(&[0], &[label.into()], &names).ok().map(|codes| codes[0])
        };
        let words = |label: &str| of(&["9007199254740992", "100000", "1", "1.1", "1.0", "yes"], label);
        assert_eq!([words("1.0"), words("1.00"), words("yes")], [Some(4), Some(2), Some(5)]);
        assert_eq!(words("100000.0"), Some(1));
        // Codes and versions; the same in double precision, but not the same label.
        assert_eq!([words("01"), words("1.10"), words("1e5"), words("Yes")], [None; 4]);
        assert_eq!(words("9007199254740993"), None);
        // Where all are numbers, they are the same by value, as in one table.
        let numbers = |label: &str| of(&["100000", "1", "-0.5"], label);
        assert_eq!([numbers("1e+05"), numbers("01"), numbers("-.50")], [Some(0), Some(1), Some(2)]);
        assert_eq!([numbers("2"), numbers("one"), numbers("nan")], [None; 3]);
        assert_eq!(of(&["9007199254740992", "1"], "9007199254740993"), None);
    }

    #[test]
    fn classes_without_bags_need_no_counterpart() {
        let names = |all: &[&str]| all.iter().map(|&name| name.into()).collect::<Vec<String>>();
        assert_eq!(coded_like(&[0, 2], &names(&["a", "x", "b"]), &names(&["b", "a"])), Ok(vec![1, 0]));
        assert_eq!(coded_like(&[1], &names(&["a", "x"]), &names(&["a"])), Err("x"));
    }
}
