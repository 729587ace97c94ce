//! The error type of the library. A message names the place, what was found there and what would help. The variants
//! hold these parts, and `Display` composes them. [`Error::worded`] names settings as the command line or Python does.

use std::path::PathBuf;

use crate::message::{Message, Wording};

/// What every fallible function of the library returns.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Everything that can go wrong, by who can fix it.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// Data that cannot be used: a file with a place in it, or an array handed over by a program.
    #[error("{place}: {found}; {remedy}")]
    Data {
        /// File and line, or bag and row.
        place: Place,
        /// What stands there.
        found: String,
        /// What would help.
        remedy: Message,
    },
    /// A parameter outside its table.
    #[error("parameter {name} of {method}: {problem}")]
    Param {
        /// The method the parameter belongs to.
        method: String,
        /// The parameter.
        name: String,
        /// What is wrong and what would do.
        problem: String,
    },
    /// A name that is not known, with the nearest one that is.
    #[error("unknown {kind} '{name}'{}", hint(.suggestion))]
    Unknown {
        /// What was looked up: "method", "column", "metric".
        kind: &'static str,
        /// The name that was given.
        name: String,
        /// The nearest known name, or a sentence that lists what there is.
        suggestion: Option<String>,
    },
    /// A request that makes no sense for these data or this method.
    #[error("{0}")]
    Invalid(String),
    /// The same, where a setting would help.
    #[error("{found}; {remedy}")]
    Refused {
        /// What makes no sense.
        found: String,
        /// What would help.
        remedy: Message,
    },
    /// A model file that cannot be used.
    #[error("{place}: not a usable model: {problem}")]
    Model {
        /// The file.
        place: Place,
        /// What is wrong with it and what would do.
        problem: String,
    },
    /// The operating system refused.
    #[error("{}: {source}", .path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// More memory than the budget allows.
    #[error("{what} needs {}, the memory budget is {}; {remedy}", human_bytes(*.needed), human_bytes(*.budget))]
    Memory {
        /// What was about to be allocated.
        what: String,
        /// Bytes needed.
        needed: u64,
        /// Bytes allowed.
        budget: u64,
        /// What would help.
        remedy: Message,
    },
    /// The user asked to stop.
    #[error("interrupted")]
    Cancelled,
}

/// Where in the input a problem stands.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Place {
    /// File or data set; empty for arrays in memory.
    pub source: String,
    /// Line of a text file, counted from 1.
    pub line: Option<u64>,
}

impl Place {
    /// A whole file or data set.
    pub fn of(source: impl Into<String>) -> Place {
        Place { source: source.into(), line: None }
    }

    /// One line of a file, counted from 1.
    pub fn line(source: impl Into<String>, line: u64) -> Place {
        Place { source: source.into(), line: Some(line) }
    }
}

impl std::fmt::Display for Place {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let source = if self.source.is_empty() { "data" } else { &self.source };
        match self.line {
            Some(line) => write!(f, "{source}, line {line}"),
            None => f.write_str(source),
        }
    }
}

impl Error {
    /// A problem with the data: where, what was found, what would help. Of what is very long, because it quotes a name
    /// that is, beginning and end are kept.
    pub fn data(place: Place, found: impl Into<String>, remedy: impl Into<Message>) -> Error {
        Error::Data { place, found: legible(found.into()), remedy: remedy.into().map(legible) }
    }

    /// A request that makes no sense, and what would help.
    pub fn refused(found: impl Into<String>, remedy: impl Into<Message>) -> Error {
        Error::Refused { found: found.into(), remedy: remedy.into() }
    }

    /// The message with settings named as in a front end.
    pub fn worded(&self, wording: Wording<'_>) -> String {
        let neutral = self.to_string();
        match self {
            Error::Data { remedy, .. } | Error::Refused { remedy, .. } | Error::Memory { remedy, .. } => {
                // Each of these ends in its remedy.
                let found = neutral.strip_suffix(&remedy.to_string()).unwrap_or_default();
                format!("{found}{}", remedy.worded(wording))
            }
            _ => neutral,
        }
    }

    /// The same error, of the data set `name` if it does not say of which.
    pub fn of_data(self, name: &str) -> Error {
        match self {
            Error::Data { place: Place { source, line }, found, remedy } if source.is_empty() => {
                Error::Data { place: Place { source: name.into(), line }, found, remedy }
            }
            other => other,
        }
    }

    /// A file the operating system refused.
    pub fn io(path: impl Into<PathBuf>, source: std::io::Error) -> Error {
        Error::Io { path: path.into(), source }
    }

    /// A parameter outside its table.
    pub fn param(method: &str, name: &str, problem: impl Into<String>) -> Error {
        Error::Param { method: method.into(), name: name.into(), problem: problem.into() }
    }

    /// An unknown name; the suggestion is the one of `known` that it begins, or the nearest, or the list itself where nothing is near.
    pub fn unknown<'a>(kind: &'static str, name: &str, known: impl IntoIterator<Item = &'a str>) -> Error {
        let known: Vec<&str> = known.into_iter().collect();
        let same = known.iter().find(|k| is_same_name(k, name));
        let is_part = |k: &&&str| k.split(['_', '-']).any(|word| word == name.to_lowercase());
        let (lower, long) = (name.to_lowercase(), name.chars().count() > 1);
        let begun = known.iter().filter(|k| long && k.to_lowercase().starts_with(&lower));
        let near = known
            .iter()
            .map(|k| (edit_distance(&name.to_lowercase(), &k.to_lowercase()), k))
            .min()
            // Beyond a third of the word the guess is noise.
            .filter(|(distance, _)| *distance <= 1 + name.chars().count() / 3)
            // And with no letter in common it is one whatever the length.
            .filter(|(distance, _)| *distance < name.chars().count())
            .map(|(_, k)| k);
        let begun = begun.min_by_key(|k| k.chars().count());
        let meant =
            same.or(known.iter().find(is_part)).or(begun).or(near).map(|k| format!("did you mean '{k}'?"));
        let suggestion = meant.or_else(|| (!known.is_empty()).then(|| shorten(&known)));
        Error::Unknown { kind, name: name.into(), suggestion }
    }
}

/// True for names that differ in capitals, spaces and punctuation alone: `PocketFit` and `pocket_fit`.
pub fn is_same_name(a: &str, b: &str) -> bool {
    let plain = |text: &str| -> String {
        text.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect()
    };
    let a = plain(a);
    !a.is_empty() && a == plain(b)
}

/// Text of at most 400 characters and a bit.
fn legible(text: String) -> String {
    const FRONT: usize = 300;
    const BACK: usize = 100;
    let count = text.chars().count();
    if count <= FRONT + BACK {
        return text;
    }
    let front: String = text.chars().take(FRONT).collect();
    let back: String = text.chars().skip(count - BACK).collect();
    format!("{front} … {back}")
}

fn shorten(known: &[&str]) -> String {
    // All methods and all files of experiments; columns of a table may be thousands.
    const SHOWN: usize = 48;
    let mut list = known[..known.len().min(SHOWN)].join(", ");
    if known.len() > SHOWN {
        list.push_str(&format!(" and {} more", known.len() - SHOWN));
    }
    format!("available: {list}")
}

fn hint(suggestion: &Option<String>) -> String {
    suggestion.as_ref().map_or(String::new(), |s| format!("; {s}"))
}

/// Levenshtein distance, one row of the table at a time.
fn edit_distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, ca) in a.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, cb) in b.iter().enumerate() {
            let replace = diagonal + usize::from(ca != *cb);
            diagonal = row[j + 1];
            row[j + 1] = replace.min(row[j] + 1).min(diagonal + 1);
        }
    }
    row[b.len()]
}

/// A size in bytes as people read it.
pub fn human_bytes(bytes: u64) -> String {
    const UNITS: [&str; 5] = ["bytes", "kB", "MB", "GB", "TB"];
    let mut value = bytes as f64;
    let mut unit = 0;
    while value >= 1000.0 && unit + 1 < UNITS.len() {
        value /= 1000.0;
        unit += 1;
    }
    if unit == 0 { format!("{bytes} bytes") } else { format!("{value:.1} {}", UNITS[unit]) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::message::Setting;

    #[test]
    fn messages_name_place_finding_and_remedy() {
        let error = Error::data(
            Place::line("musk1.csv", 214),
            "bag 'MUSK-88' has 165 features",
            "the first bag has 166",
        );
        assert_eq!(
            error.to_string(),
            "musk1.csv, line 214: bag 'MUSK-88' has 165 features; the first bag has 166"
        );
    }

    #[test]
    fn a_door_names_the_setting_behind_the_remedy() {
        let remedy = Message::from("fill it in, or allow more").with([Setting::Memory]);
        let front_end = |_: &Setting| "--memory".to_string();
        let refused = Error::refused("too large", remedy.clone());
        assert_eq!(refused.to_string(), "too large; fill it in, or allow more");
        assert_eq!(refused.worded(&front_end), "too large; fill it in, or allow more with --memory");
        let data = Error::data(Place::of("a.csv"), "a hole", remedy);
        assert_eq!(data.worded(&front_end), "a.csv: a hole; fill it in, or allow more with --memory");
        assert_eq!(Error::Cancelled.worded(&front_end), "interrupted");
    }

    #[test]
    fn a_name_without_end_does_not_make_a_message_without_end() {
        let found = format!("bag '{}' has no label", "ä".repeat(5000));
        let message = Error::data(Place::line("a.data", 1), found, "give it one").to_string();
        assert!(
            message.starts_with("a.data, line 1: bag 'ää")
                && message.ends_with("ä' has no label; give it one")
        );
        assert!(message.chars().count() < 450, "{message}");
    }

    #[test]
    fn a_near_name_is_suggested_and_a_far_one_lists_what_there_is() {
        let known = ["mi-kernel", "migraph", "wmksvm"];
        assert_eq!(
            Error::unknown("method", "migrap", known).to_string(),
            "unknown method 'migrap'; did you mean 'migraph'?"
        );
        assert_eq!(
            Error::unknown("method", "zzz", known).to_string(),
            "unknown method 'zzz'; available: mi-kernel, migraph, wmksvm"
        );
    }

    #[test]
    fn the_beginning_of_a_name_is_completed() {
        let known = ["mcc", "accuracy", "balanced_accuracy", "mean_error", "mean"];
        let suggested = |name: &str| Error::unknown("metric", name, known).to_string();
        assert!(suggested("acc").ends_with("did you mean 'accuracy'?"), "{}", suggested("acc"));
        assert!(suggested("ACCU").ends_with("did you mean 'accuracy'?"));
        assert!(suggested("me").ends_with("did you mean 'mean'?"), "the shortest");
        assert!(suggested("mac").ends_with("did you mean 'mcc'?"), "a typing error");
        assert!(suggested("a").contains("available"), "a letter alone says little");
    }

    #[test]
    fn a_long_list_is_cut() {
        let many: Vec<String> = (0..54).map(|i| format!("x{i}")).collect();
        let said = Error::unknown("column", "abc", many.iter().map(String::as_str)).to_string();
        assert!(said.ends_with("x47 and 6 more"), "{said}");
    }

    #[test]
    fn bytes_read_well() {
        assert_eq!(human_bytes(999), "999 bytes");
        assert_eq!(human_bytes(1_500_000), "1.5 MB");
    }
}
