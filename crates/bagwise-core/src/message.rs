//! Messages that the command line and Python word differently. The library says what would help ("allow more memory")
//! and names the setting by type; each front end adds its own name for the setting: `with --memory`, or `with
//! memory=BYTES`.

use serde::{Serialize, Serializer};

/// What a user can set, with a helpful value if one is known. Not `non_exhaustive`: a front end that has no word
/// for a setting does not compile.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Setting {
    /// The memory budget.
    Memory,
    /// How many instances of each bag are drawn.
    MaxInstances,
    /// Whether data may have missing values.
    AllowMissing,
    /// How missing values are filled for learning.
    FillMissing,
    /// The scaling: one of these.
    Scale(&'static [&'static str]),
    /// A parameter of a method, and a value.
    Parameter(&'static str, &'static str),
    /// What the label is: `classification` or `regression`.
    Task(&'static str),
    /// That a model keeps the models of folds, for conformal predictions.
    Conformal,
    /// The coverage of conformal predictions.
    Coverage,
    /// The number of outer folds.
    Folds,
    /// The number of inner folds.
    Inner,
    /// The fold of each bag, given with the data.
    GivenFolds,
    /// The time that a run may take.
    Budget,
    /// The metric that decides: this one.
    Optimize(&'static str),
    /// The protocol.
    Protocol(&'static str),
    /// The format of the data.
    InputFormat,
    /// That the first row names the columns.
    Header,
    /// That the first row is data.
    NoHeader,
    /// What separates the cells of a table.
    Delimiter,
    /// The decimal mark of a table.
    Decimal,
    /// What groups the digits of large numbers in a table.
    Thousands,
    /// The encoding of a table.
    Encoding,
    /// Texts that stand for no value: this one, or those that the message is about.
    MissingValues(Option<String>),
    /// The table of labels beside a folder of bags.
    Labels,
    /// The column of bag ids.
    Bag,
    /// The label column.
    Label,
    /// The group column.
    Group,
    /// That this column names the groups.
    GroupColumn(String),
    /// The column of instance labels.
    InstanceLabel,
    /// Columns that are carried along.
    Keep,
    /// That data are read as a whole, not in pieces.
    ReadWhole,
    /// The source of a data set, downloaded by other means.
    SourceFile,
    /// Where data sets are put.
    DataFolder,
    /// That a file which bagwise did not write may be replaced.
    Overwrite,
    /// Columns that are left out: this one, or those that the message is about.
    Ignore(Option<String>),
    /// Columns taken as categories: this one, or those that the message is about.
    Categorical(Option<String>),
}

/// A sentence for people that may name settings. `Display` leaves their names out.
///
/// ```
/// use bagwise_core::{Message, Setting};
///
/// let message = Message::from("give it a heading, or leave it out").with([Setting::Ignore(Some("3".into()))]);
/// assert_eq!(message.to_string(), "give it a heading, or leave it out");
/// assert_eq!(message.worded(&|_| "--ignore 3".into()), "give it a heading, or leave it out with --ignore 3");
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Message(Vec<Part>);

#[derive(Clone, Debug, PartialEq, Eq)]
enum Part {
    Text(String),
    /// Any of these does what the text before says.
    With(Vec<Setting>),
}

/// A number of things, in words: "1 bag", "2 bags".
pub fn count(n: usize, what: &str) -> String {
    format!("{n} {what}{}", if n == 1 { "" } else { "s" })
}

/// The name of a setting in a front end (the command line or Python).
pub type Wording<'a> = &'a dyn Fn(&Setting) -> String;

impl Message {
    /// "allow more memory", the first advice wherever memory is short.
    pub fn more_memory() -> Message {
        Message::from("allow more memory").with([Setting::Memory])
    }

    /// What to do about a missing value in a file.
    pub fn fill_or_allow_missing() -> Message {
        Message::from("fill it in, drop the row, or allow missing values").with([Setting::AllowMissing])
    }

    /// Names the settings, one of which does what was said last.
    pub fn with(mut self, settings: impl IntoIterator<Item = Setting>) -> Message {
        self.0.push(Part::With(settings.into_iter().collect()));
        self
    }

    /// More text.
    pub fn and(mut self, text: impl Into<String>) -> Message {
        self.0.push(Part::Text(text.into()));
        self
    }

    /// Another way to help.
    pub fn or(mut self, other: impl Into<Message>) -> Message {
        self = self.and(", or ");
        self.0.extend(other.into().0);
        self
    }

    /// The sentence with settings named as in a front end.
    pub fn worded(&self, wording: Wording<'_>) -> String {
        self.compose(|settings| {
            let names: Vec<String> = settings.iter().map(wording).collect();
            match names.split_last() {
                Some((last, [])) => format!(" with {last}"),
                Some((last, others)) => format!(" with {} or {last}", others.join(", ")),
                None => String::new(),
            }
        })
    }

    /// The same with every text and name passed through `change`.
    pub(crate) fn map(mut self, change: impl Fn(String) -> String) -> Message {
        for part in &mut self.0 {
            match part {
                Part::Text(text) => *text = change(std::mem::take(text)),
                Part::With(settings) => {
                    for setting in settings {
                        if let Setting::Ignore(Some(name))
                        | Setting::GroupColumn(name)
                        | Setting::Categorical(Some(name))
                        | Setting::MissingValues(Some(name)) = setting
                        {
                            *name = change(std::mem::take(name));
                        }
                    }
                }
            }
        }
        self
    }

    fn compose(&self, settings: impl Fn(&[Setting]) -> String) -> String {
        let part = |part: &Part| match part {
            Part::Text(text) => text.clone(),
            Part::With(named) => settings(named),
        };
        self.0.iter().map(part).collect()
    }
}

impl std::fmt::Display for Message {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.compose(|_| String::new()))
    }
}

impl<S: Into<String>> From<S> for Message {
    fn from(text: S) -> Message {
        Message(vec![Part::Text(text.into())])
    }
}

impl Serialize for Message {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_are_named_at_the_door_only() {
        let message = Message::more_memory()
            .or("say what it is")
            .with([Setting::Label, Setting::Group, Setting::Keep])
            .and("; see the guide");
        assert_eq!(message.to_string(), "allow more memory, or say what it is; see the guide");
        let front_end = |setting: &Setting| format!("{setting:?}").to_lowercase();
        assert_eq!(
            message.worded(&front_end),
            "allow more memory with memory, or say what it is with label, group or keep; see the guide"
        );
    }
}
