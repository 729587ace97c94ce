//! Rows become bags, the same way for every format that has one row per instance: rows of a bag may stand
//! anywhere in the file (they are brought together in the order in which they came, with a warning), a bag's
//! label and group are the same in all its rows, and what is not is refused with both lines.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Arc;

use super::dialect::Numbers;
use super::doubt::{self, DroppedColumn};
use super::relatives::dropped_column;
use super::stream::{SeenBags, comes_back};
use super::text::{Markers, WHOLE, is_missing, is_rounded_name, number, shown};
use super::{ReadOptions, Task};
use bagwise_core::{
    Bags, CarriedColumn, Dataset, Error, Feature, Groups, Instances, Message, Place, Result, Setting, Target,
    columns_of, may_be_measurements, one_class, one_spelling,
};

/// One bag while its rows arrive.
struct Entry {
    id: String,
    /// Empty if missing.
    label: String,
    group: String,
    line: u64,
}

/// The bag of every row so far, with the labels and groups of the bags.
pub(crate) struct BagBuilder {
    source: String,
    /// What rows are counted in, for messages: lines of text, or rows of arrays.
    unit: &'static str,
    unlabelled: bool,
    task: Task,
    markers: Markers,
    /// How numbers are written, in a table of text.
    numbers: Option<Numbers>,
    has_label: bool,
    has_group: bool,
    codes: HashMap<String, u32>,
    bags: Vec<Entry>,
    of_row: Vec<u32>,
    /// Bags whose rows are interrupted by other bags, with the first line where that shows.
    scattered: Option<(u32, u64)>,
    /// The bags that went by, where a file is read in pieces: none may come back then.
    seen: Option<SeenBags>,
    /// The first label that is a number only as other tables write it, with its line and bag.
    slip: Option<(u64, String, String)>,
}

/// The columns of a row other than its features, in file order.
#[derive(Default)]
pub(crate) struct SideColumns {
    pub(crate) kept: Vec<CarriedColumn>,
    pub(crate) instance_labels: Option<Vec<String>>,
}

impl BagBuilder {
    pub(crate) fn new(source: &str, options: &ReadOptions) -> BagBuilder {
        BagBuilder {
            source: source.into(),
            unit: "line",
            unlabelled: options.unlabelled,
            task: options.task,
            markers: Markers::new(&options.missing_values),
            numbers: None,
            has_label: false,
            has_group: false,
            codes: HashMap::new(),
            bags: Vec::new(),
            of_row: Vec::new(),
            scattered: None,
            seen: None,
            slip: None,
        }
    }

    /// The same behind the bags of earlier pieces; bags do not come back then.
    pub(crate) fn after(self, seen: Option<SeenBags>) -> BagBuilder {
        BagBuilder { seen, ..self }
    }

    /// The same for a table that writes numbers like this.
    pub(crate) fn written_in(self, numbers: Numbers) -> BagBuilder {
        BagBuilder { numbers: Some(numbers), ..self }
    }

    /// The same for data without lines.
    pub(crate) fn counting(self, unit: &'static str) -> BagBuilder {
        BagBuilder { unit, ..self }
    }

    /// Number of rows so far.
    pub(crate) fn rows(&self) -> usize {
        self.of_row.len()
    }

    /// True if a row of this bag would go on with the last one.
    pub(crate) fn goes_on(&self, bag: &str) -> bool {
        self.of_row.last().is_some_and(|&last| self.bags[last as usize].id == bag)
    }

    /// Adds a row: its line in the file, its bag, and the bag's label and group if the table has them.
    pub(crate) fn row(
        &mut self,
        line: u64,
        bag: &str,
        label: Option<&str>,
        group: Option<&str>,
    ) -> Result<()> {
        if bag.is_empty() {
            return Err(self.error(line, "the row has no bag id".into(), "fill it in"));
        }
        self.has_label |= label.is_some();
        self.has_group |= group.is_some();
        if self.slip.is_none()
            && let Some(label) = label.filter(|label| self.is_slip(label))
        {
            self.slip = Some((line, bag.into(), label.into()));
        }
        // Labels and groups may be numbers: 1,0 is then 1.0.
        let (label, group) = (label.map(|l| self.plain(l)), group.map(|g| self.plain(g)));
        let is_there = |text: &Cow<'_, str>| !self.markers.missing(text.as_bytes());
        let (label, group) =
            (label.filter(is_there).unwrap_or_default(), group.filter(is_there).unwrap_or_default());
        let (label, group) = (label.as_ref(), group.as_ref());

        let last = self.of_row.last().copied();
        let code = match last {
            Some(last) if self.bags[last as usize].id == bag => last,
            _ => match self.codes.get(bag) {
                Some(_) if self.seen.is_some() => return Err(self.returned(line, bag)),
                Some(&code) => {
                    self.scattered.get_or_insert((code, line));
                    code
                }
                None => return self.new_bag(line, bag, label, group),
            },
        };
        let known = &self.bags[code as usize];
        if known.label != label && !same_number(&known.label, label) {
            return Err(self.clash(line, known, "label", &known.label, label));
        }
        if known.group != group && !is_one_number(&known.group, group) {
            return Err(self.clash(line, known, "group", &known.group, group));
        }
        self.of_row.push(code);
        Ok(())
    }

    /// Adds as many rows of a bag again, which must be the last one or one before it.
    pub(crate) fn repeat(&mut self, bag: usize, times: usize) {
        let at = self.of_row.partition_point(|&b| b as usize <= bag);
        self.of_row.splice(at..at, std::iter::repeat_n(bag as u32, times));
    }

    /// A number of the table in the plain form; other text as it is.
    fn plain<'t>(&self, text: &'t str) -> Cow<'t, str> {
        match self.numbers {
            None | Some(Numbers::PLAIN) => Cow::Borrowed(text),
            Some(numbers) => numbers.plain(text.as_bytes()).unwrap_or(Cow::Borrowed(text)),
        }
    }

    /// True for `1.234` in a table of decimal commas: read as it stands it would be a number, but perhaps a thousand times too small.
    fn is_slip(&self, label: &str) -> bool {
        let Some(numbers) = self.numbers.filter(|&n| n != Numbers::PLAIN && label.contains('.')) else {
            return false;
        };
        numbers.plain(label.as_bytes()).is_none() && number(label.as_bytes()).is_some()
    }

    fn new_bag(&mut self, line: u64, bag: &str, label: &str, group: &str) -> Result<()> {
        // A number that stands for a missing value elsewhere may well name a bag.
        if is_missing(bag.as_bytes()) {
            let found = format!("the bag id '{bag}' stands for a missing value");
            return Err(self.error(line, found, "fill it in, or call the bag something else"));
        }
        for (what, name) in [("bag", bag), ("group", group)] {
            if is_rounded_name(name.as_bytes()) {
                let found = format!(
                    "the name '{name}' of a {what} was rounded by a spreadsheet, so several may have become one"
                );
                let remedy = "write the table again with this column formatted as text, or as numbers without decimals";
                return Err(self.error(line, found, remedy));
            }
        }
        if self.has_label && label.is_empty() && !self.unlabelled {
            return Err(self.error(
                line,
                format!("bag '{bag}' has no label"),
                "fill it in, or remove the bag; labels may be missing only in data for prediction",
            ));
        }
        if self.has_group && group.is_empty() {
            return Err(self.error(
                line,
                format!("bag '{bag}' has no group"),
                "fill it in; a bag without relatives is its own group",
            ));
        }
        if self.task == Task::Regression
            && !label.is_empty()
            && !number(label.as_bytes()).is_some_and(f64::is_finite)
        {
            if let Some(error) = self.other_mark(line, bag, label) {
                return Err(error);
            }
            return Err(self.error(
                line,
                format!("the label '{label}' of bag '{bag}' is not a finite number"),
                Message::from("regression needs numbers; if these are classes, specify that")
                    .with([Setting::Task("classification")]),
            ));
        }
        if self.seen.as_ref().is_some_and(|seen| !seen.begin(bag)) {
            return Err(self.returned(line, bag));
        }
        let code = self.bags.len() as u32;
        self.bags.push(Entry { id: bag.into(), label: label.into(), group: group.into(), line });
        self.codes.insert(bag.into(), code);
        self.of_row.push(code);
        Ok(())
    }

    /// The error about a label that would be a number if a point or comma meant something else.
    fn other_mark(&self, line: u64, bag: &str, label: &str) -> Option<Error> {
        let mark = self.numbers?.other_mark(label.as_bytes())?;
        let found = mark.found(&format!("the label '{}' of bag '{bag}'", shown(label.as_bytes())));
        let classes =
            Message::from("if these are classes, specify that").with([Setting::Task("classification")]);
        Some(self.error(line, found, mark.remedy("").or(classes)))
    }

    /// True if all labels are numbers, some of them only if a point or comma means something else.
    fn has_other_marks(&self) -> bool {
        let Some(numbers) = self.numbers.filter(|_| self.task == Task::Auto && !self.unlabelled) else {
            return false;
        };
        let is_number = |b: &Entry| number(b.label.as_bytes()).is_some_and(f64::is_finite);
        let is_other = |b: &Entry| numbers.other_mark(b.label.as_bytes()).is_some();
        self.bags.iter().all(|b| is_number(b) || is_other(b))
    }

    /// A bag comes back whose rows were handed out, or that other bags interrupt.
    fn returned(&self, line: u64, bag: &str) -> Error {
        let (found, remedy) = comes_back(bag);
        self.error(line, found, remedy)
    }

    fn error(&self, line: u64, found: String, remedy: impl Into<Message>) -> Error {
        let place = match self.unit {
            "line" => Place::line(&self.source, line),
            unit => Place::of(format!("{}, {unit} {line}", self.source)),
        };
        Error::data(place, found, remedy)
    }

    fn clash(&self, line: u64, bag: &Entry, what: &str, before: &str, now: &str) -> Error {
        let quote = |s: &str| if s.is_empty() { "none".to_string() } else { format!("'{s}'") };
        self.error(
            line,
            format!(
                "bag '{}' has {what} {}, but {} in {} {}",
                bag.id,
                quote(now),
                quote(before),
                self.unit,
                bag.line
            ),
            Message::from(format!(
                "all rows of a bag must have the same {what}; fix it, or name another column"
            ))
            .with([if what == "group" { Setting::Group } else { Setting::Label }, Setting::Bag]),
        )
    }

    /// The data set. `found` are the features that are text which nobody declared to be categories, `left_out` columns
    /// that are none already.
    pub(crate) fn finish(
        self,
        instances: Instances,
        features: Arc<[Feature]>,
        found: &[usize],
        beside: SideColumns,
        options: &ReadOptions,
        mut left_out: Vec<DroppedColumn>,
        mut warnings: Vec<Message>,
    ) -> Result<Dataset> {
        let place = Place::of(&self.source);
        if self.bags.is_empty() {
            return Err(Error::data(
                place,
                "the table has no rows",
                "give at least one bag with one instance",
            ));
        }
        let (mut instances, mut features) = (instances, features);
        let mut unused = Vec::new();
        // Whoever names the features knows what they hold.
        if options.features.is_empty() {
            let none = doubt::no_features(&instances, &features, found, &self.of_row, self.bags.len())?;
            let is_none = |c: usize| none.iter().any(|(out, _)| *out == c);
            let categories: Vec<usize> = found.iter().copied().filter(|&c| !is_none(c)).collect();
            if !categories.is_empty() {
                warnings.push(doubt::taken_as_categories(&features, &categories));
            }
            if !none.is_empty() {
                let rest: Vec<usize> = (0..features.len()).filter(|&c| !is_none(c)).collect();
                left_out.extend(none.iter().map(|(c, why)| (features[*c].name.clone(), why.clone())));
                if rest.is_empty() {
                    let said = doubt::left_out(&left_out);
                    return Err(Error::data(place, "no column of the table contains measurements", said));
                }
                for (c, _) in &none {
                    let codes = doubt::column(&instances, *c)?;
                    unused.extend(dropped_column(&features[*c], &codes, &self.of_row, self.bags.len()));
                }
                instances = columns_of(&instances, &rest)?;
                features = rest.iter().map(|&c| features[c].clone()).collect();
            }
            if !left_out.is_empty() {
                warnings.push(doubt::left_out(&left_out));
            }
        }
        let mut offsets = vec![0usize; self.bags.len() + 1];
        for &bag in &self.of_row {
            offsets[bag as usize + 1] += 1;
        }
        for b in 0..self.bags.len() {
            offsets[b + 1] += offsets[b];
        }
        let mut beside = beside;
        if let Some((bag, line)) = self.scattered {
            warnings.push(
                format!(
                    "rows of a bag are not adjacent (first: bag '{}', {} {line}); they were collected",
                    self.bags[bag as usize].id, self.unit
                )
                .into(),
            );
            let order = stable_order(&self.of_row, &offsets);
            instances = instances.gather(&order);
            let pick = |values: &mut Vec<String>| {
                *values = order.iter().map(|&r| std::mem::take(&mut values[r])).collect();
            };
            beside.kept.iter_mut().for_each(|k| pick(&mut k.values));
            beside.instance_labels.iter_mut().for_each(pick);
        }

        let (target, undecided) = self.target(&mut warnings)?;
        let groups = self.has_group.then(|| self.groups(&mut warnings));
        let spelling = |id: &str| one_spelling(&self.plain(id)).or_else(|| doubt::without_case(id));
        let twice = doubt::written_twice(self.bags.iter().map(|b| b.id.as_str()), spelling);
        warnings.extend(doubt::two_ways("bags", &twice, false));
        // Spreadsheets end in the sums of their columns.
        if let [_, .., last] = &self.bags[..]
            && self.of_row.last() == Some(&(self.bags.len() as u32 - 1))
            && offsets[self.bags.len()] - offsets[self.bags.len() - 1] == 1
            && doubt::is_summary(&last.id)
        {
            let found = format!("the last row, bag '{}', looks like a summary of the rows above", last.id);
            warnings.push(format!("{found}; if it is one, remove it").into());
        }
        let ids: Vec<String> = self.bags.into_iter().map(|b| b.id).collect();
        let bags = if options.allow_missing {
            Bags::with_missing(instances, offsets)
                .and_then(|bags| bags.with_ids(ids))
                .and_then(|bags| bags.with_features(features))
        } else {
            Bags::named(instances, offsets, Some(ids), Some(features))
        };
        let bags = bags.map_err(|e| e.of_data(&self.source))?;
        let mut data = Dataset::new(self.source, bags);
        data.target = target;
        data.undecided = undecided;
        data.groups = groups;
        data.kept = beside.kept;
        data.unused = unused;
        data.instance_labels = beside.instance_labels;
        data.warnings = warnings;
        Ok(data)
    }

    /// Groups, whatever the spelling of numbers: a group that is two would be split between training and test.
    fn groups(&self, warnings: &mut Vec<Message>) -> Groups {
        let each = || self.bags.iter().map(|b| b.group.as_str());
        warnings.extend(doubt::two_ways("groups", &doubt::written_twice(each(), one_spelling), true));
        warnings.extend(doubt::two_ways("groups", &doubt::written_twice(each(), doubt::without_case), false));
        let mut spelling: HashMap<String, &str> = HashMap::new();
        let names: Vec<&str> = each()
            .map(|name| match one_spelling(name) {
                Some(number) => *spelling.entry(number).or_insert(name),
                None => name,
            })
            .collect();
        Groups::from_names(&names)
    }

    /// The target, and of whole numbers that may be measurements how many there are.
    fn target(&self, warnings: &mut Vec<Message>) -> Result<(Option<Target>, Option<usize>)> {
        if !self.has_label {
            return Ok((None, None));
        }
        let without = self.bags.iter().filter(|b| b.label.is_empty()).count();
        if without > 0 {
            if without < self.bags.len() {
                warnings.push(
                    format!("{without} of {} bags have no label; labels are ignored", self.bags.len()).into(),
                );
            }
            return Ok((None, None));
        }
        let finite = |b: &Entry| number(b.label.as_bytes()).filter(|v| v.is_finite());
        let numbers: Option<Vec<f64>> = self.bags.iter().map(finite).collect();
        let fractions = numbers.as_ref().is_some_and(|n| n.iter().any(|v| v.fract() != 0.0));
        if let Some(numbers) = &numbers
            && (self.task == Task::Regression || (self.task == Task::Auto && fractions))
        {
            let slip = self.slip.as_ref().filter(|_| !self.unlabelled);
            if let Some(error) = slip.and_then(|(line, bag, label)| self.other_mark(*line, bag, label)) {
                return Err(error);
            }
            if self.task == Task::Auto {
                warnings.extend(self.few_fractions(numbers));
            }
            return Ok((Some(Target::Values(numbers.clone())), None));
        }
        if numbers.is_none() && self.has_other_marks() {
            let mut errors = self.bags.iter().filter_map(|b| self.other_mark(b.line, &b.id, &b.label));
            if let Some(error) = errors.next() {
                return Err(error);
            }
        }
        let mut undecided = None;
        let mut labels: Vec<&str> = self.bags.iter().map(|b| b.label.as_str()).collect();
        let each = || self.bags.iter().map(|b| b.label.as_str());
        warnings.extend(doubt::two_ways("labels", &doubt::written_twice(each(), doubt::truth), false));
        if let Some(odd) =
            each().find(|label| doubt::is_dash(label)).filter(|_| !each().any(|l| l.starts_with('+')))
        {
            warnings.push(
                Message::from(format!(
                    "the label '{odd}' is treated as a class; if it means that there is none, mark it"
                ))
                .with([Setting::MissingValues(Some(odd.into()))]),
            );
        }
        // "1" and "1.0" are one class, called as it was first written. Codes may have meant two classes by "01" and "1".
        let class_of = |b: usize, label: &str| match &numbers {
            // Adding 0 makes one zero of -0 and 0.
            Some(numbers) if numbers[b].abs() < EXACT => Some((numbers[b] + 0.0).to_string()),
            Some(_) => Some(label.to_string()),
            None => one_class(label),
        };
        let mut spelling = HashMap::new();
        let mut merged = BTreeMap::new();
        for (b, label) in labels.iter_mut().enumerate() {
            let Some(class) = class_of(b, label) else { continue };
            let first: &str = spelling.entry(class.clone()).or_insert(*label);
            if first != *label {
                merged.entry(class).or_insert((first.min(*label), first.max(*label)));
            }
            *label = first;
        }
        let merged: Vec<(&str, &str)> = merged.into_values().collect();
        warnings.extend(doubt::two_ways("labels", &merged, true));
        let is_open = numbers.is_some() && self.task == Task::Auto;
        if is_open && may_be_measurements(spelling.len(), self.bags.len()) {
            undecided = Some(spelling.len());
        } else if let (true, Some(numbers)) = (is_open, &numbers) {
            warnings.extend(rounded_measurements(numbers, spelling.len()));
        }
        if let (None, Task::Auto) = (&numbers, self.task)
            && self.bags.iter().filter_map(finite).any(|v| v.fract() != 0.0)
        {
            let other = self.bags.iter().find(|b| finite(b).is_none()).map_or("", |b| b.label.as_str());
            let found = format!(
                "some labels are numbers with fractions, but '{}' is not a number, so all are treated as classes",
                shown(other.as_bytes())
            );
            warnings.push(
                Message::from(found)
                    .and("; if they are measurements, fix it and use regression")
                    .with([Setting::Task("regression")]),
            );
        }
        Ok((Some(Target::from_labels(&labels)), undecided))
    }

    /// A slip, or a mean below the table, makes numbers of what were classes.
    fn few_fractions(&self, numbers: &[f64]) -> Option<Message> {
        let whole: HashSet<u64> =
            numbers.iter().filter(|v| v.fract() == 0.0).map(|v| (v + 0.0).to_bits()).collect();
        let odd: Vec<usize> = (0..numbers.len()).filter(|&b| numbers[b].fract() != 0.0).collect();
        if whole.len() > 10 || odd.len() * 10 > numbers.len() {
            return None;
        }
        let (Entry { id, label, .. }, rest) = (&self.bags[odd[0]], numbers.len() - odd.len());
        let found = format!(
            "labels are treated as measurements because that of bag '{id}' is {label}, but {rest} of {} are whole \
             numbers, {} different ones",
            numbers.len(),
            whole.len()
        );
        Some(
            Message::from(found)
                .and("; if they are classes, fix it, or specify that")
                .with([Setting::Task("classification")]),
        )
    }
}

/// Some whole numbers as classes, of which the least is neither 0 nor 1, where codes begin: they may be rounded measurements.
fn rounded_measurements(numbers: &[f64], classes: usize) -> Option<Message> {
    let least = numbers.iter().copied().fold(f64::INFINITY, f64::min);
    let most = numbers.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let is_code = least == 0.0 || least == 1.0;
    (classes > 4 && !is_code).then(|| {
        Message::from(format!(
            "the labels are {classes} whole numbers from {least} to {most} and are treated as classes without an order; if they are \
             measurements, use regression"
        ))
        .with([Setting::Task("regression")])
        .or("specify that they are classes")
        .with([Setting::Task("classification")])
    })
}

/// From here on, neighbouring whole numbers are the same number in double precision: they are told apart as texts.
const EXACT: f64 = WHOLE as f64;

/// True for 1 and 1.0.
fn is_one_number(a: &str, b: &str) -> bool {
    one_spelling(a).is_some_and(|number| one_spelling(b) == Some(number))
}

fn same_number(a: &str, b: &str) -> bool {
    matches!((number(a.as_bytes()), number(b.as_bytes())), (Some(a), Some(b)) if a == b && a.abs() < EXACT)
}

/// Rows sorted by bag, in file order within a bag.
fn stable_order(of_row: &[u32], offsets: &[usize]) -> Vec<usize> {
    let mut next = offsets.to_vec();
    let mut order = vec![0; of_row.len()];
    for (row, &bag) in of_row.iter().enumerate() {
        order[next[bag as usize]] = row;
        next[bag as usize] += 1;
    }
    order
}
