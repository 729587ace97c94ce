//! Which column of a table is what: the bag's id, its label and group, the true instance labels, what is kept
//! or left out, and the features, which are the rest. The user names columns by heading or number; what is not
//! named is found by its usual heading. A column has one role, and a doubt (two columns that could both be the
//! label) is an error, because a label among the features would be learned from.

use super::{Column, ReadOptions};
use bagwise_core::{Error, Message, Place, Result, Setting, is_same_name};

/// Headings that have a role by default, in upper or lower case. `y` is a coordinate where there is an `x`; where there is
/// none it is the label, or in doubt if there is another.
const BAG: &[&str] = &["bag", "bag_id", "bagid"];
const LABEL: &[&str] = &["label", "class", "target"];
const LABEL_LAST: &[&str] = &["y"];
const GROUP: &[&str] = &["group"];
const INSTANCE_LABEL: &[&str] = &["instance_label"];

/// What a column is.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Role {
    Bag,
    Label,
    Group,
    InstanceLabel,
    Kept,
    Ignored,
    /// A feature that was requested by name.
    Wanted,
}

impl Role {
    fn name(self) -> &'static str {
        match self {
            Role::Bag => "bag",
            Role::Label => "label",
            Role::Group => "group",
            Role::InstanceLabel => "instance label",
            Role::Kept => "kept",
            Role::Ignored => "ignored",
            Role::Wanted => "feature",
        }
    }

    /// How users name the column.
    fn setting(self) -> Option<Setting> {
        match self {
            Role::Bag => Some(Setting::Bag),
            Role::Label => Some(Setting::Label),
            Role::Group => Some(Setting::Group),
            Role::InstanceLabel => Some(Setting::InstanceLabel),
            Role::Kept => Some(Setting::Keep),
            Role::Ignored => Some(Setting::Ignore(None)),
            Role::Wanted => None,
        }
    }
}

/// The columns of a table by role, as positions counted from 0.
#[derive(Debug, Default)]
pub(crate) struct Roles {
    pub(crate) bag: usize,
    pub(crate) label: Option<usize>,
    pub(crate) group: Option<usize>,
    pub(crate) instance_label: Option<usize>,
    pub(crate) keep: Vec<usize>,
    pub(crate) features: Vec<usize>,
    /// For each feature, whether the user declared it categorical.
    pub(crate) categorical: Vec<bool>,
    pub(crate) warnings: Vec<Message>,
}

/// True if a heading is one that [`find`] looks for.
pub(crate) fn is_usual_heading(name: &str) -> bool {
    [BAG, LABEL, LABEL_LAST, GROUP, INSTANCE_LABEL].iter().any(|list| is_one_of(name, list))
}

/// True if a heading has this role (bag, label or group) by default.
pub(crate) fn is_usual_for(name: &str, role: Role) -> bool {
    match role {
        Role::Bag => is_one_of(name, BAG),
        Role::Label => is_one_of(name, LABEL) || is_one_of(name, LABEL_LAST),
        Role::Group => is_one_of(name, GROUP),
        _ => false,
    }
}

/// True if a heading is one that labels usually have.
pub(crate) fn is_label(name: &str) -> bool {
    is_one_of(name, LABEL)
}

/// True if a `y` among these is a coordinate.
pub(crate) fn has_x(names: &[String]) -> bool {
    names.iter().any(|name| name.eq_ignore_ascii_case("x"))
}

fn is_one_of(name: &str, list: &[&str]) -> bool {
    list.iter().any(|known| known.eq_ignore_ascii_case(name))
}

/// Finds the bag, label and group columns of a table that has a row per bag; its `features` are the columns without a role.
pub(crate) fn find_beside(
    place: &Place,
    names: Option<&[String]>,
    width: usize,
    options: &ReadOptions,
) -> Result<Roles> {
    let mut table = ColumnTable { place, names, taken: vec![None; width] };
    let (roles, _) = table.roles(options)?;
    Ok(Roles { features: (0..width).filter(|&c| table.taken[c].is_none()).collect(), ..roles })
}

/// Gives every column of a table its role. `names` are the headings, if the table has any.
pub(crate) fn find(
    place: &Place,
    names: Option<&[String]>,
    width: usize,
    options: &ReadOptions,
) -> Result<Roles> {
    let mut table = ColumnTable { place, names, taken: vec![None; width] };
    let (mut roles, wanted) = table.roles(options)?;

    let is_feature = |role: &Option<Role>| if wanted { *role == Some(Role::Wanted) } else { role.is_none() };
    roles.features = (0..width)
        .filter(|&c| is_feature(&table.taken[c]) || table.is_misspelt(c, &options.features))
        .collect();
    if roles.features.is_empty() {
        return Err(table.error(
            format!("none of the {width} columns is a feature"),
            Message::from(
                "include at least one column besides bag, label and ignored columns; if columns are not separated \
                 by commas, tabs or semicolons, specify the separator",
            )
            .with([Setting::Delimiter]),
        ));
    }
    roles.categorical = vec![false; roles.features.len()];
    for column in &options.categorical {
        let made_up = table.made_up(column);
        let is_beyond = made_up.is_some_and(|feature| feature >= roles.features.len());
        // What a model was trained on as categories is aligned with it later.
        let is_aligned = table.lacks(column) || matches!(column, Column::Number(_)) || is_beyond;
        if options.optional.contains(column) && is_aligned {
            continue;
        }
        if let Some(feature) = made_up.filter(|_| !is_beyond) {
            roles.categorical[feature] = true;
            continue;
        }
        let position = table.locate(column)?;
        match roles.features.iter().position(|&f| f == position) {
            Some(feature) => roles.categorical[feature] = true,
            None => {
                let role = table.taken[position].map_or("none", Role::name);
                return Err(table.error(
                    format!("column {} cannot be categorical: its role is {role}", table.called(position)),
                    Message::from("name only feature columns").with([Setting::Categorical(None)]),
                ));
            }
        }
    }
    if let Some(names) = names {
        for &feature in &roles.features {
            if names[feature].is_empty() {
                return Err(unnamed(place, feature + 1));
            }
            let coordinate = is_one_of(&names[feature], LABEL_LAST) && has_x(names);
            if is_usual_heading(&names[feature]) && !coordinate {
                let name = &names[feature];
                roles.warnings.push(
                    Message::from(format!(
                        "column '{name}' is treated as a feature; if it is not one, leave it out"
                    ))
                    .with([Setting::Ignore(Some(name.clone()))]),
                );
            }
        }
    }
    Ok(roles)
}

/// The error about a column, counted from 1, that has no heading.
pub(crate) fn unnamed(place: &Place, column: usize) -> Error {
    Error::data(
        place.clone(),
        format!("column {column} has no name"),
        Message::from("give it one, or leave it out").with([Setting::Ignore(Some(column.to_string()))]),
    )
}

/// The error about two columns or arrays of which only one can have a role.
pub(crate) fn could_both_be(place: &Place, one: &str, other: &str, role: Role) -> Error {
    Error::data(
        place.clone(),
        format!("columns '{one}' and '{other}' could both be the {}", role.name()),
        Message::from("specify which")
            .with(role.setting())
            .and(", and leave the other out")
            .with([Setting::Ignore(Some(other.into()))]),
    )
}

struct ColumnTable<'a> {
    place: &'a Place,
    names: Option<&'a [String]>,
    /// The role each column has been given.
    taken: Vec<Option<Role>>,
}

impl ColumnTable<'_> {
    /// The roles besides features, and whether the wanted features were set aside.
    fn roles(&mut self, options: &ReadOptions) -> Result<(Roles, bool)> {
        if let Some(names) = self.names {
            self.refuse_twice(names)?;
        }
        let shifted;
        let options = match self.without_label(options) {
            Some(others) => {
                shifted = others;
                &shifted
            }
            None => options,
        };
        // What the user named comes first, so that a usual heading never takes a column away from it.
        let mut roles = Roles::default();
        let absent = |table: &ColumnTable<'_>, c: &Column| options.optional.contains(c) && table.lacks(c);
        let bag = options.bag.as_ref().filter(|c| !absent(self, c));
        let bag = self.claim(bag, Role::Bag)?;
        // Bags to be predicted, for which the features of a model are wanted, may lack what training had besides, under the same
        // options. Elsewhere a column that is named and not there is a typing error, also where labels may be absent.
        let to_predict = options.unlabelled && !options.features.is_empty();
        let there = |table: &ColumnTable<'_>, column: &Option<Column>| {
            let lacks = |c: &Column| to_predict && matches!(c, Column::Name(_)) && table.lacks(c);
            column.clone().filter(|c| !lacks(c) && !absent(table, c))
        };
        roles.label = self.claim(there(self, &options.label).as_ref(), Role::Label)?;
        roles.group = self.claim(there(self, &options.group).as_ref(), Role::Group)?;
        roles.instance_label =
            self.claim(there(self, &options.instance_label).as_ref(), Role::InstanceLabel)?;
        for column in &options.keep {
            let column = Some(column).filter(|c| !absent(self, c));
            roles.keep.extend(self.claim(column, Role::Kept)?);
        }
        for column in &options.ignore {
            let column = Some(column).filter(|c| !absent(self, c));
            self.claim(column, Role::Ignored)?;
        }

        let wanted = self.reserve(&options.features)?;

        // Then the usual headings; without headings the first column is the bag and the second its label.
        let bag = match bag {
            Some(bag) => Some(bag),
            None if self.names.is_some() => self.usual(BAG, Role::Bag)?,
            None => self.free(0, Role::Bag),
        };
        if roles.label.is_none() {
            roles.label = match self.names {
                Some(names) => {
                    let found = self.usual(LABEL, Role::Label)?;
                    let free = |c: usize| self.taken[c].is_none() && is_one_of(&names[c], LABEL_LAST);
                    match (found, (0..names.len()).find(|&c| free(c))) {
                        (None, _) => self.usual(LABEL_LAST, Role::Label)?,
                        (Some(one), Some(other)) if !has_x(names) => {
                            return Err(could_both_be(self.place, &names[one], &names[other], Role::Label));
                        }
                        (found, _) => found,
                    }
                }
                // One column more than the features that are wanted: that is the label.
                None if options.unlabelled && !self.has_one_more_than(&options.features) => None,
                None => self.free(1, Role::Label),
            };
        }
        if roles.group.is_none() {
            roles.group = self.usual(GROUP, Role::Group)?;
        }
        if roles.instance_label.is_none() {
            roles.instance_label = self.usual(INSTANCE_LABEL, Role::InstanceLabel)?;
        }
        roles.bag = bag.ok_or_else(|| {
            let found = match &options.bag {
                Some(column) => {
                    format!("there is no column '{column}', which the model was trained with as the bag")
                }
                None => "there is no column called bag, bag_id or bagid".into(),
            };
            self.error(found, Message::from("name the column of bag ids").with([Setting::Bag]))
        })?;
        Ok((roles, wanted))
    }

    /// Remembered options for a table without headings that lacks the label: the columns behind it have moved.
    fn without_label(&self, options: &ReadOptions) -> Option<ReadOptions> {
        let label = options.label.as_ref().filter(|c| options.unlabelled && options.optional.contains(c))?;
        let Column::Number(label) = label else { return None };
        let single = [&options.bag, &options.label, &options.group, &options.instance_label];
        let named = single.into_iter().flatten().chain(&options.keep).chain(&options.ignore).count();
        // A bag that is not named is the first column.
        let columns = options.features.len() + named + usize::from(options.bag.is_none());
        if self.names.is_some() || options.features.is_empty() || self.taken.len() + 1 != columns {
            return None;
        }
        let moved = |column: &Column| match column {
            Column::Number(n) if n > label && options.optional.contains(column) => Column::Number(n - 1),
            other => other.clone(),
        };
        let all = |columns: &[Column]| columns.iter().map(moved).collect();
        Some(ReadOptions {
            bag: options.bag.as_ref().map(moved),
            label: None,
            group: options.group.as_ref().map(moved),
            instance_label: options.instance_label.as_ref().map(moved),
            keep: all(&options.keep),
            ignore: all(&options.ignore),
            categorical: all(&options.categorical),
            optional: all(&options.optional),
            ..options.clone()
        })
    }

    fn error(&self, found: impl Into<String>, remedy: impl Into<Message>) -> Error {
        Error::data(self.place.clone(), found, remedy)
    }

    fn refuse_twice(&self, names: &[String]) -> Result<()> {
        let mut seen = std::collections::HashMap::new();
        for (i, name) in names.iter().enumerate() {
            if let Some(before) = seen.insert(name.as_str(), i)
                && !name.is_empty()
            {
                return Err(self.error(
                    format!("columns {} and {} are both called '{name}'", before + 1, i + 1),
                    "give each column a unique name",
                ));
            }
        }
        Ok(())
    }

    /// How a message names a column.
    fn called(&self, column: usize) -> String {
        match self.names {
            Some(names) if !names[column].is_empty() => format!("'{}'", names[column]),
            _ => (column + 1).to_string(),
        }
    }

    /// The position of a column the user named.
    fn locate(&self, column: &Column) -> Result<usize> {
        let width = self.taken.len();
        let by_name = |wanted: &str| self.names.and_then(|names| names.iter().position(|n| n == wanted));
        match column {
            Column::Number(n) => match by_name(&n.to_string()) {
                Some(position) => Ok(position),
                None if *n >= 1 && *n <= width => Ok(n - 1),
                None => Err(self.error(
                    format!("there is no column {n}: the table has {width}"),
                    "columns are counted from 1",
                )),
            },
            Column::Name(name) => by_name(name).ok_or_else(|| match self.names {
                Some(names) => {
                    let unknown = Error::unknown("column", name, names.iter().map(String::as_str));
                    let Error::Unknown { suggestion, .. } = unknown else { return unknown };
                    self.error(format!("there is no column '{name}'"), suggestion.unwrap_or_default())
                }
                None => self.error(
                    format!("there is no column '{name}': the table has no header"),
                    Message::from("give columns by number, or specify that the first row is a header")
                        .with([Setting::Header]),
                ),
            }),
        }
    }

    /// Which feature of a table without a heading is called so: they are f1, f2, …
    fn made_up(&self, column: &Column) -> Option<usize> {
        match (column, self.names) {
            (Column::Name(name), None) => {
                let number: usize = name.strip_prefix('f')?.parse().ok()?;
                // Not f01.
                if format!("f{number}") == *name { number.checked_sub(1) } else { None }
            }
            _ => None,
        }
    }

    /// True if the heading does not have this name.
    fn lacks(&self, column: &Column) -> bool {
        match (column, self.names) {
            (Column::Name(name), Some(names)) => !names.contains(name),
            (Column::Name(_), None) => false,
            (Column::Number(n), Some(names)) => *n > names.len() && !names.contains(&n.to_string()),
            (Column::Number(n), None) => *n > self.taken.len(),
        }
    }

    /// Gives a column the user named its role.
    fn claim(&mut self, column: Option<&Column>, role: Role) -> Result<Option<usize>> {
        let Some(column) = column else { return Ok(None) };
        let position = self.locate(column)?;
        if let Some(other) = self.taken[position] {
            let found = if other == role {
                format!("column {} is given twice as {}", self.called(position), role.name())
            } else {
                format!(
                    "column {} is given both as {} and as {}",
                    self.called(position),
                    other.name(),
                    role.name()
                )
            };
            return Err(self.error(found, "a column has one role"));
        }
        self.taken[position] = Some(role);
        Ok(Some(position))
    }

    /// Sets the wanted features aside; false if the heading names none of them, so that the rest is taken.
    fn reserve(&mut self, wanted: &[String]) -> Result<bool> {
        let Some(names) = self.names else { return Ok(false) };
        let wanted: std::collections::HashSet<&str> = wanted.iter().map(String::as_str).collect();
        let mut any = false;
        for c in (0..names.len()).filter(|&c| wanted.contains(names[c].as_str())) {
            if let Some(other) = self.taken[c] {
                return Err(self.error(
                    format!(
                        "column {} is given as {}, but the model was trained on it",
                        self.called(c),
                        other.name()
                    ),
                    Message::from("name other columns").with(other.setting()).or("train a model without it"),
                ));
            }
            self.taken[c] = Some(Role::Wanted);
            any = true;
        }
        Ok(any)
    }

    /// True for a column without a role that would be a wanted one that is not there, but for capitals, spaces and low lines. It is
    /// read, so that the error about the missing one can name it.
    fn is_misspelt(&self, c: usize, wanted: &[String]) -> bool {
        let (Some(names), None) = (self.names, self.taken[c]) else { return false };
        wanted.iter().any(|name| is_same_name(name, &names[c]) && !names.contains(name))
    }

    /// True if, besides those with a role, there is one column more than the wanted features.
    fn has_one_more_than(&self, wanted: &[String]) -> bool {
        !wanted.is_empty() && self.taken.iter().filter(|role| role.is_none()).count() == wanted.len() + 1
    }

    /// The free column with one of the usual headings, if there is exactly one.
    fn usual(&mut self, headings: &[&str], role: Role) -> Result<Option<usize>> {
        let Some(names) = self.names else { return Ok(None) };
        let free: Vec<usize> =
            (0..names.len()).filter(|&c| self.taken[c].is_none() && is_one_of(&names[c], headings)).collect();
        match free[..] {
            [] => Ok(None),
            [one] => {
                self.taken[one] = Some(role);
                Ok(Some(one))
            }
            [one, other, ..] => Err(could_both_be(self.place, &names[one], &names[other], role)),
        }
    }

    /// A column by position, if it exists and has no role yet.
    fn free(&mut self, position: usize, role: Role) -> Option<usize> {
        let free = matches!(self.taken.get(position), Some(None));
        if free {
            self.taken[position] = Some(role);
        }
        free.then_some(position)
    }
}
