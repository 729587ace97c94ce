//! Data stored as arrays instead of rows of text (`.npz`, `.mat`, Parquet): a matrix of features, and with it
//! arrays with an entry per instance or per bag. Arrays become columns here, so that the same options name
//! them (`--label`, `--group`, `--keep`) and the same rules hold as for tables.
//!
//! An array with an entry per bag is only understood where it is plain which bag is which: the file gives offsets,
//! or bag ids ascend. NumPy's `unique` sorts, other programs do not, and a label on the wrong bag is not noticed later.

mod selected;

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use super::assemble::{BagBuilder, SideColumns};
use super::columns::{self, Role, Roles};
use super::doubt::{self, DroppedColumn};
use super::stream::SeenBags;
use super::text::{Markers, WHOLE, shown};
use super::{Column, ReadOptions, save};
use bagwise_core::{
    CarriedColumn, Csr, Dataset, Error, Feature, Instances, Message, Place, Result, Setting, Target,
    columns_of,
};

pub(crate) use selected::SelectedColumn;

/// Arrays other than the features, with an entry per instance or per bag.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Values {
    /// Numbers; NaN is missing.
    Numbers(Vec<f64>),
    /// Whole numbers, which may be too large for a double.
    Whole(Vec<i64>),
    /// The same, some of them missing.
    Gaps(Vec<Option<i64>>),
    /// Texts, as positions in a list.
    Texts { texts: Vec<String>, codes: Vec<u32> },
}

impl Values {
    /// One text for each entry.
    pub(crate) fn texts(texts: Vec<String>) -> Values {
        let codes = (0..texts.len() as u32).collect();
        Values::Texts { texts, codes }
    }

    pub(crate) fn len(&self) -> usize {
        match self {
            Values::Numbers(v) => v.len(),
            Values::Whole(v) => v.len(),
            Values::Gaps(v) => v.len(),
            Values::Texts { codes, .. } => codes.len(),
        }
    }

    /// An entry as a table would have it.
    pub(crate) fn text(&self, i: usize) -> Cow<'_, str> {
        match self {
            Values::Numbers(v) => {
                let mut text = String::new();
                save::number(v[i], &mut text);
                Cow::Owned(text)
            }
            Values::Whole(v) => Cow::Owned(v[i].to_string()),
            Values::Gaps(v) => v[i].map_or(Cow::Borrowed(""), |v| Cow::Owned(v.to_string())),
            Values::Texts { texts, codes } => Cow::Borrowed(&texts[codes[i] as usize]),
        }
    }

    /// An entry as a number; texts are none.
    pub(crate) fn number(&self, i: usize) -> Option<f64> {
        match self {
            Values::Numbers(v) => Some(v[i]),
            Values::Whole(v) => Some(v[i] as f64),
            Values::Gaps(v) => Some(v[i].map_or(f64::NAN, |v| v as f64)),
            Values::Texts { .. } => None,
        }
    }

    /// The first entry that is a whole number which double precision does not hold.
    pub(crate) fn first_rounded(&self) -> Option<usize> {
        match self {
            Values::Whole(v) => v.iter().position(|&v| is_rounded(v)),
            Values::Gaps(v) => v.iter().position(|v| v.is_some_and(is_rounded)),
            _ => None,
        }
    }

    /// True if the entries are the same, one by one.
    fn is_equal(&self, other: &Values) -> bool {
        self.len() == other.len() && (0..self.len()).all(|i| self.text(i) == other.text(i))
    }

    /// Whole numbers as those that may be missing.
    fn with_gaps(&mut self) -> Option<&mut Vec<Option<i64>>> {
        if let Values::Whole(v) = self {
            *self = Values::Gaps(std::mem::take(v).into_iter().map(Some).collect());
        }
        match self {
            Values::Gaps(v) => Some(v),
            _ => None,
        }
    }

    /// Adds the entries of another.
    pub(crate) fn append(&mut self, more: Values) {
        match (&mut *self, more) {
            (Values::Numbers(a), Values::Numbers(b)) => a.extend(b),
            (Values::Whole(a), Values::Whole(b)) => a.extend(b),
            (Values::Texts { texts, codes }, Values::Texts { texts: more, codes: others }) => {
                let base = texts.len() as u32;
                texts.extend(more);
                codes.extend(others.iter().map(|c| base + c));
            }
            (_, mut more) => {
                // Whole numbers here, with gaps there. A column has one type, so that it is nothing else.
                if let (Some(all), Some(more)) = (self.with_gaps(), more.with_gaps()) {
                    all.append(more);
                }
            }
        }
    }

    /// Takes off the entries from `at` on.
    pub(crate) fn split_off(&mut self, at: usize) -> Values {
        match self {
            Values::Numbers(v) => Values::Numbers(v.split_off(at)),
            Values::Whole(v) => Values::Whole(v.split_off(at)),
            Values::Gaps(v) => Values::Gaps(v.split_off(at)),
            Values::Texts { texts, codes } => {
                let (mut own, mut known) = (Vec::new(), HashMap::new());
                let rest = codes.split_off(at).into_iter().map(|code| {
                    *known.entry(code).or_insert_with(|| {
                        own.push(texts[code as usize].clone());
                        own.len() as u32 - 1
                    })
                });
                let codes = rest.collect();
                Values::Texts { texts: own, codes }
            }
        }
    }

    /// Entries of bags, repeated for their instances: `of_row` is the bag of each.
    fn spread(&self, of_row: &[u32]) -> Values {
        match self {
            Values::Numbers(v) => Values::Numbers(of_row.iter().map(|&b| v[b as usize]).collect()),
            Values::Whole(v) => Values::Whole(of_row.iter().map(|&b| v[b as usize]).collect()),
            Values::Gaps(v) => Values::Gaps(of_row.iter().map(|&b| v[b as usize]).collect()),
            Values::Texts { texts, codes } => Values::Texts {
                texts: texts.clone(),
                codes: of_row.iter().map(|&b| codes[b as usize]).collect(),
            },
        }
    }
}

/// True if double precision holds another number instead.
pub(crate) fn is_rounded(value: i64) -> bool {
    (value as f64) as i128 != i128::from(value)
}

/// A matrix of instances and the arrays that belong to it.
pub(crate) struct Arrays<'s> {
    /// The file.
    pub(crate) source: &'s str,
    pub(crate) instances: Instances,
    /// The names of the columns, if the file has any.
    pub(crate) features: Option<Vec<String>>,
    /// Where bags start, and the end, if the file says so; otherwise one of the arrays has bag ids.
    pub(crate) offsets: Option<Vec<usize>>,
    /// The other arrays by name.
    pub(crate) beside: Vec<(String, Values)>,
    /// Arrays of the file that have no role and were not requested.
    pub(crate) unused: Vec<String>,
}

/// Names that other programs use, and what they are here.
const ALSO: [(&str, Role); 5] = [
    ("labels", Role::Label),
    ("groups", Role::Group),
    ("bags", Role::Bag),
    ("bag_ids", Role::Bag),
    ("ids", Role::Bag),
];

/// True if an array of this name has a role by default.
pub(crate) fn is_usual(name: &str) -> bool {
    columns::is_usual_heading(name) || ALSO.iter().any(|(also, _)| also.eq_ignore_ascii_case(name))
}

/// True if an array of this name has this role (bag, label or group) by default.
pub(crate) fn is_usual_for(name: &str, role: Role) -> bool {
    let also = ALSO.iter().any(|(also, of)| *of == role && also.eq_ignore_ascii_case(name));
    also || columns::is_usual_for(name, role)
}

/// True if the options name an array.
fn is_named(options: &ReadOptions, name: &str) -> bool {
    let single = [&options.bag, &options.label, &options.group, &options.instance_label];
    let lists = options.keep.iter().chain(&options.ignore);
    let is = |column: &Column| matches!(column, Column::Name(n) if n == name);
    single.into_iter().flatten().any(is) || lists.into_iter().any(is)
}

impl Arrays<'_> {
    /// True if an array of this name would be used: by its usual name, or because the options name it.
    pub(crate) fn uses(name: &str, options: &ReadOptions) -> bool {
        let single = [&options.bag, &options.label, &options.group, &options.instance_label];
        let named = |column: &Column| matches!(column, Column::Name(n) if n == name);
        is_usual(name) || single.into_iter().flatten().chain(&options.keep).any(named)
    }

    fn error(&self, found: impl Into<String>, remedy: impl Into<Message>) -> Error {
        Error::data(Place::of(self.source), found, remedy)
    }

    /// The data set.
    pub(crate) fn finish(mut self, options: &ReadOptions) -> Result<Dataset> {
        let mut options = options.clone();
        self.one_of_each(&mut options)?;
        if let Some(offsets) = self.offsets.take() {
            self.bags_by_offsets(offsets, &mut options)?;
        } else {
            self.bags_by_ids(&options)?;
        }
        let cols = self.instances.cols();
        let mut names = match self.features.take() {
            Some(names) if names.len() != cols => {
                return Err(self.error(
                    format!("{} names for {cols} features", names.len()),
                    "name every column of the matrix, or none",
                ));
            }
            Some(names) => names,
            None => (1..=cols).map(|f| format!("f{f}")).collect(),
        };
        names.extend(self.beside.iter().map(|(name, _)| name.clone()));
        let roles = columns::find(&Place::of(self.source), Some(&names), names.len(), &options)?;
        let column = |c: usize| -> Result<Cow<'_, Values>> {
            Ok(match c.checked_sub(cols) {
                None => Cow::Owned(Values::Numbers(doubt::column(&self.instances, c)?)),
                Some(beside) => Cow::Borrowed(&self.beside[beside].1),
            })
        };
        let taken = FeatureTable {
            bag: column(roles.bag)?,
            label: roles.label.map(column).transpose()?,
            group: roles.group.map(column).transpose()?,
            instance_label: roles.instance_label.map(column).transpose()?,
            kept: (roles.keep.iter().map(|&c| Ok((names[c].clone(), column(c)?)))).collect::<Result<_>>()?,
            first: 0,
            seen: None,
        };
        let Roles { features, categorical, mut warnings, .. } = roles;
        if !self.unused.is_empty() {
            self.unused.truncate(12);
            let found = format!("unused arrays: {}", self.unused.join(", "));
            let said =
                Message::from(found).and("; arrays with one entry per instance can be copied to the results");
            warnings.push(said.with([Setting::Keep]));
        }
        let of_matrix = features.iter().all(|&c| c < cols);
        if of_matrix && !categorical.contains(&true) {
            let named = features.iter().map(|&c| Feature::numeric(&names[c])).collect();
            let whole = features.iter().copied().eq(0..cols);
            let instances = match whole {
                true => self.instances.clone(),
                false => columns_of(&self.instances, &features)?,
            };
            return taken.finish(self.source, instances, named, &[], &options, Vec::new(), warnings);
        }
        let markers = Markers::new(&options.missing_values);
        let is_single = |c: usize| c < cols && matches!(self.instances, Instances::F32(_));
        let picked: Vec<SelectedColumn> = features
            .iter()
            .zip(categorical)
            .map(|(&c, is)| {
                Ok(SelectedColumn::new(names[c].clone(), &*column(c)?, is, is_single(c), &markers))
            })
            .collect::<Result<_>>()?;
        let (instances, features) = SelectedColumn::join(picked, self.instances.rows());
        taken.finish(self.source, instances, features, &[], &options, Vec::new(), warnings)
    }

    /// Settles which arrays are the bags, the labels and the groups, also by the names that other programs use. Two arrays
    /// of one rank are refused, unless they are equal bags or groups: the other would be learned from, or the wrong one believed.
    fn one_of_each(&mut self, options: &mut ReadOptions) -> Result<()> {
        for role in [Role::Bag, Role::Label, Role::Group] {
            let is_free = |name: &str| is_usual_for(name, role) && !is_named(options, name);
            let free: Vec<usize> = (0..self.beside.len()).filter(|&i| is_free(&self.beside[i].0)).collect();
            let told = match role {
                Role::Bag => &mut options.bag,
                Role::Label => &mut options.label,
                _ => &mut options.group,
            };
            if let Some(Column::Number(_)) = told {
                continue;
            }
            let mut others = free.clone();
            if told.is_none() && !free.is_empty() {
                // A name of our own comes before those of other programs, but for labels, which nobody may guess.
                let own = |&&i: &&usize| columns::is_usual_for(&self.beside[i].0, role);
                let ours: Vec<usize> = free.iter().filter(own).copied().collect();
                let possible = if role == Role::Label || ours.is_empty() { &free } else { &ours };
                let (name, values) = &self.beside[possible[0]];
                let differs = |&&i: &&usize| role == Role::Label || !values.is_equal(&self.beside[i].1);
                if let Some(&other) = possible[1..].iter().find(differs) {
                    let place = Place::of(self.source);
                    return Err(columns::could_both_be(&place, name, &self.beside[other].0, role));
                }
                if !columns::is_usual_for(name, role) {
                    *told = Some(Column::Name(name.clone()));
                }
                others.retain(|&i| i != possible[0]);
            }
            for &i in others.iter().rev() {
                let (name, _) = self.beside.remove(i);
                self.unused.push(format!("'{}'", shown(name.as_bytes())));
            }
        }
        Ok(())
    }

    fn bag_array(&self, options: &ReadOptions) -> Option<usize> {
        let is_bag = |name: &str| match &options.bag {
            Some(Column::Name(wanted)) => wanted == name,
            Some(Column::Number(_)) => false,
            None => ["bag", "bag_id", "bagid"].iter().any(|b| b.eq_ignore_ascii_case(name)),
        };
        self.beside.iter().position(|(name, _)| is_bag(name))
    }

    fn bags_by_offsets(&mut self, offsets: Vec<usize>, options: &mut ReadOptions) -> Result<()> {
        let rows = self.instances.rows();
        let bags = offsets.len().saturating_sub(1);
        if offsets.first() != Some(&0) || offsets.last() != Some(&rows) || bags == 0 {
            return Err(self.error(
                format!("the offsets must start at 0 and end at the number of instances, {rows}"),
                "bag b has rows offsets[b] to offsets[b + 1], so there is one more offset than bags",
            ));
        }
        if let Some(bag) = offsets.windows(2).position(|w| w[1] <= w[0]) {
            return Err(self.error(
                format!("bag {} (counted from 1) has no instances: offsets must ascend", bag + 1),
                "leave empty bags out",
            ));
        }
        let of_row: Vec<u32> = offsets
            .windows(2)
            .zip(0u32..)
            .flat_map(|(w, bag)| std::iter::repeat_n(bag, w[1] - w[0]))
            .collect();
        if let Some(ids) = self.bag_array(options) {
            let (name, values) = &self.beside[ids];
            if values.len() != bags {
                return Err(self.error(
                    format!("'{name}' has {} entries for {bags} bags", values.len()),
                    "with offsets, there must be one id per bag",
                ));
            }
            let mut seen = HashSet::new();
            if let Some(twice) = (0..bags).find(|&b| !seen.insert(values.text(b))) {
                return Err(self.error(
                    format!("two bags are called '{}'", shown(values.text(twice).as_bytes())),
                    "give each bag a unique id",
                ));
            }
        } else {
            if let Some(wanted) = &options.bag {
                return Err(
                    self.error(format!("there is no array '{wanted}'"), "use one that is in the file")
                );
            }
            let numbers = Values::Whole((1..=bags as i64).collect());
            self.beside.push(("bag".into(), numbers));
            options.bag = Some(Column::Name("bag".into()));
        }
        self.spread(&of_row, bags, None)
    }

    fn bags_by_ids(&mut self, options: &ReadOptions) -> Result<()> {
        let rows = self.instances.rows();
        if self.beside.iter().all(|(_, values)| values.len() == rows) {
            return Ok(());
        }
        let Some(ids) = self.bag_array(options).filter(|&i| self.beside[i].1.len() == rows) else {
            let (name, values) = self.beside.iter().find(|(_, v)| v.len() != rows).expect("just found");
            return Err(self.error(
                format!("'{name}' has {} entries for {rows} instances", values.len()),
                "use an array of bag ids with one entry per instance, or offsets",
            ));
        };
        // The bags in the order in which they come, and whether that is also the sorted order.
        let mut numbers: HashMap<Cow<'_, str>, u32> = HashMap::new();
        let mut firsts = Vec::new();
        let values = &self.beside[ids].1;
        let of_row: Vec<u32> = (0..rows)
            .map(|r| {
                let next = numbers.len() as u32;
                *numbers.entry(values.text(r)).or_insert_with(|| {
                    firsts.push(r);
                    next
                })
            })
            .collect();
        let ascending = firsts.windows(2).all(|w| match values {
            Values::Numbers(v) => v[w[0]] < v[w[1]],
            Values::Whole(v) => v[w[0]] < v[w[1]],
            Values::Gaps(v) => v[w[0]] < v[w[1]],
            Values::Texts { .. } => values.text(w[0]) < values.text(w[1]),
        });
        let bags = firsts.len();
        drop(numbers);
        let name = self.beside[ids].0.clone();
        self.spread(&of_row, bags, (!ascending).then_some(name.as_str()))
    }

    /// Repeats entries of bags for their instances. `unordered` is the array of ids, if they do not ascend.
    fn spread(&mut self, of_row: &[u32], bags: usize, unordered: Option<&str>) -> Result<()> {
        let rows = of_row.len();
        for i in 0..self.beside.len() {
            let (name, values) = &self.beside[i];
            match values.len() {
                // One instance per bag: both are the same.
                n if n == rows => {}
                n if n == bags => {
                    if let Some(ids) = unordered {
                        return Err(self.error(
                            format!(
                                "'{name}' has one entry per bag, but the ids in '{ids}' are not in ascending order, \
                                 so it is unclear which entry belongs to which bag"
                            ),
                            format!("give '{name}' one entry per instance, or add offsets"),
                        ));
                    }
                    self.beside[i].1 = values.spread(of_row);
                }
                n => {
                    return Err(self.error(
                        format!("'{name}' has {n} entries for {bags} bags and {rows} instances"),
                        "use one entry per bag or one per instance",
                    ));
                }
            }
        }
        Ok(())
    }
}

/// The columns that have a role, with an entry per instance.
pub(crate) struct FeatureTable<'a> {
    pub(crate) bag: Cow<'a, Values>,
    pub(crate) label: Option<Cow<'a, Values>>,
    pub(crate) group: Option<Cow<'a, Values>>,
    pub(crate) instance_label: Option<Cow<'a, Values>>,
    pub(crate) kept: Vec<(String, Cow<'a, Values>)>,
    /// Rows of the file before these.
    pub(crate) first: usize,
    /// The bags of earlier pieces, where the file is read in pieces.
    pub(crate) seen: Option<SeenBags>,
}

/// Bytes that a bag id, label or group may have: they are compared row by row.
const MAX_TEXT: usize = 1000;

/// Bytes that the texts of a column carried along may have together.
const MAX_KEPT: u64 = 4_000_000_000;

impl FeatureTable<'_> {
    /// A text is stored once and may stand in every row: what that comes to is checked before.
    fn check_texts(&self, source: &str) -> Result<()> {
        let refuse = |found: String, remedy: &str| Err(Error::data(Place::of(source), found, remedy));
        let roles = [Some(&self.bag), self.label.as_ref(), self.group.as_ref()];
        for values in roles.into_iter().flatten() {
            if let Values::Texts { texts, .. } = values.as_ref()
                && let Some(long) = texts.iter().find(|t| t.len() > MAX_TEXT)
            {
                return refuse(
                    format!("'{}' has {} bytes", shown(long.as_bytes()), long.len()),
                    "ids, labels and groups can have at most 1000; use shorter names",
                );
            }
        }
        for values in self.kept.iter().map(|(_, values)| values).chain(&self.instance_label) {
            if let Values::Texts { texts, codes } = values.as_ref()
                && codes.iter().map(|&c| texts[c as usize].len() as u64).sum::<u64>() > MAX_KEPT
            {
                return refuse("a column to keep has more than 4 GB of text".into(), "leave it out");
            }
        }
        Ok(())
    }

    /// The data set with these instances.
    pub(crate) fn finish(
        &self,
        source: &str,
        mut instances: Instances,
        features: Arc<[Feature]>,
        found: &[usize],
        options: &ReadOptions,
        left_out: Vec<DroppedColumn>,
        mut warnings: Vec<Message>,
    ) -> Result<Dataset> {
        self.check_texts(source)?;
        mark_missing(source, &mut instances, &features, &Markers::new(&options.missing_values))?;
        if let Values::Numbers(ids) = self.bag.as_ref()
            && ids.iter().any(|id| id.abs() >= WHOLE as f64)
        {
            let found = "bag ids beyond 2^53 are rounded in double precision, so different ids may have become the same";
            warnings.push(format!("{found}; store them as integers or text").into());
        }
        let mut book = BagBuilder::new(source, options).counting("row").after(self.seen.clone());
        for row in 0..instances.rows() {
            let (label, group) =
                (self.label.as_ref().map(|v| v.text(row)), self.group.as_ref().map(|v| v.text(row)));
            let id = self.bag.text(row);
            let id = if self.bag.number(row).is_some_and(f64::is_nan) { "" } else { id.trim() };
            let number = (self.first + row) as u64 + 1;
            book.row(number, id, label.as_deref().map(str::trim), group.as_deref().map(str::trim))?;
        }
        let is_bad = |v: f64| if options.allow_missing { v.is_infinite() } else { !v.is_finite() };
        let cols = instances.cols().max(1);
        // Its row, column and value.
        let bad = match &instances {
            Instances::F64(m) => {
                m.data().iter().position(|&v| is_bad(v)).map(|at| (at / cols, at % cols, m.data()[at]))
            }
            Instances::F32(m) => m
                .data()
                .iter()
                .position(|&v| is_bad(v.into()))
                .map(|at| (at / cols, at % cols, m.data()[at].into())),
            Instances::Sparse(m) => m.values().iter().position(|&v| is_bad(v)).map(|at| {
                (
                    m.indptr().partition_point(|&start| start <= at) - 1,
                    m.indices()[at] as usize,
                    m.values()[at],
                )
            }),
            _ => None,
        };
        if let Some((row, column, value)) = bad {
            let id = self.bag.text(row);
            let name = &features[column].name;
            let infinite = value.is_infinite();
            let place = Place::of(format!("{source}, row {}", self.first + row + 1));
            let id = shown(id.as_bytes());
            return Err(if infinite {
                Error::data(
                    place,
                    format!("the value of '{name}' in bag '{id}' is infinite"),
                    "give finite numbers, or NaN where a value is missing",
                )
            } else {
                Error::data(
                    place,
                    format!("bag '{id}' has no value for '{name}'"),
                    Message::fill_or_allow_missing(),
                )
            });
        }
        let all = |values: &Values| (0..instances.rows()).map(|r| values.text(r).into_owned()).collect();
        let beside = SideColumns {
            kept: self
                .kept
                .iter()
                .map(|(name, values)| CarriedColumn { name: name.clone(), values: all(values) })
                .collect(),
            instance_labels: self.instance_label.as_ref().map(|values| all(values)),
        };
        book.finish(instances, features, found, beside, options, left_out, warnings)
    }
}

/// Turns the numbers that stand for no value into NaN, where features are numbers.
fn mark_missing(
    source: &str,
    instances: &mut Instances,
    features: &[Feature],
    markers: &Markers,
) -> Result<()> {
    if markers.has_no_number() {
        return Ok(());
    }
    // Sparse data have no categories.
    if let Instances::Sparse(m) = instances {
        markers.check_sparse(source)?;
        if m.values().iter().any(|&v| markers.is_number(v)) {
            let values =
                m.values().iter().map(|&v| if markers.is_number(v) { f64::NAN } else { v }).collect();
            *m = Csr::new(m.cols(), m.indptr().to_vec(), m.indices().to_vec(), values);
        }
    }
    let width = features.len();
    for c in (0..width).filter(|&c| !features[c].is_categorical()) {
        match instances {
            Instances::F64(m) => {
                let column = m.data_mut().iter_mut().skip(c).step_by(width);
                column.filter(|v| markers.is_number(**v)).for_each(|v| *v = f64::NAN);
            }
            Instances::F32(m) => {
                let column = m.data_mut().iter_mut().skip(c).step_by(width);
                column.filter(|v| markers.is_single(**v)).for_each(|v| *v = f32::NAN);
            }
            _ => {}
        }
    }
    Ok(())
}

/// The labels of a data set as an array with an entry per bag: whole numbers where every class is one.
pub(crate) fn labels(target: &Target) -> Values {
    match target {
        Target::Values(values) => Values::Numbers(values.clone()),
        Target::Classes { codes, names } => {
            let whole: Option<Vec<i64>> =
                names.iter().map(|n| n.parse::<i64>().ok().filter(|w| w.to_string() == *n)).collect();
            match whole {
                Some(whole) => Values::Whole(codes.iter().map(|&c| whole[c as usize]).collect()),
                None => Values::Texts { texts: names.clone(), codes: codes.clone() },
            }
        }
    }
}
