//! Parameters: one table per method is the single source of names, defaults, ranges, grids and help.
//!
//! A *point* gives every parameter one value; a *grid* is a list of points in the order in which ties are
//! broken: the first parameter of the table is the outermost loop, numbers ascend, fractions descend, words keep
//! their order. `value.rs` says how values are written.

mod value;

use std::collections::BTreeMap;
use std::fmt;

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use bagwise_core::{Error, Result};

pub use value::Value;
use value::{beyond, check, magnitude, parse_value, parse_values, thinned, thinning};

/// One row of a method's table.
#[derive(Clone, Copy, Debug)]
pub struct ParamSpec {
    /// The name after `-p`.
    pub name: &'static str,
    /// One sentence.
    pub help: &'static str,
    /// What values it takes.
    pub kind: Kind,
    /// The value where none is given, as a user would write it.
    pub default: &'static str,
    /// The values tried where the parameter is tuned, as a user would write them.
    pub grid: &'static str,
    /// True if it shapes only the solution, such as the cost; otherwise it shapes the representation, such as a kernel's width.
    pub solver_only: bool,
    /// True if it has a meaning for real-valued targets only.
    pub regression_only: bool,
    /// True if it has a meaning for classes only. A table may have a name twice: once for classes, once for values.
    pub classes_only: bool,
    /// Another parameter, and its words without which this one has no meaning: `degree` needs `kernel=poly`.
    pub only_with: Option<(&'static str, &'static [&'static str])>,
}

impl ParamSpec {
    /// A parameter that shapes the representation; where it is tuned its default is the only value.
    pub const fn new(name: &'static str, kind: Kind, default: &'static str, help: &'static str) -> ParamSpec {
        ParamSpec {
            name,
            help,
            kind,
            default,
            grid: default,
            solver_only: false,
            regression_only: false,
            classes_only: false,
            only_with: None,
        }
    }

    /// With values to try where it is tuned.
    pub const fn grid(self, grid: &'static str) -> ParamSpec {
        ParamSpec { grid, ..self }
    }

    /// Used by [`Prepared::fit`](crate::method::Prepared::fit) alone: points that differ only in such parameters share their
    /// representation, and are fitted together.
    pub const fn solver(self) -> ParamSpec {
        ParamSpec { solver_only: true, ..self }
    }

    /// For real-valued targets only.
    pub const fn for_values(self) -> ParamSpec {
        ParamSpec { regression_only: true, ..self }
    }

    /// For classes only.
    pub const fn for_classes(self) -> ParamSpec {
        ParamSpec { classes_only: true, ..self }
    }

    /// Only where another parameter is one of these words.
    pub const fn only_with(self, other: &'static str, words: &'static [&'static str]) -> ParamSpec {
        ParamSpec { only_with: Some((other, words)), ..self }
    }

    /// Whether it has a meaning for real values, or for classes.
    pub fn applies(&self, regression: bool) -> bool {
        if regression { !self.classes_only } else { !self.regression_only }
    }
}

/// What a parameter takes.
#[derive(Clone, Copy, Debug)]
pub enum Kind {
    /// A number above `above` (exclusive).
    Number {
        /// The exclusive lower end.
        above: f64,
    },
    /// A number not below `least`.
    AtLeast {
        /// The inclusive lower end.
        least: f64,
    },
    /// A number above 0, at most 1.
    Share,
    /// A number above 0, `N/median`, or `N/d`.
    Width,
    /// A number above 0, or `N*median`: a length, where [`Kind::Width`] is one over a squared length.
    Length,
    /// A whole number within these ends (inclusive), or one of the words.
    Whole {
        /// The least.
        least: u32,
        /// The most.
        most: u32,
        /// What may stand in its place.
        words: &'static [&'static str],
    },
    /// A fraction from 0 to 1: `11/20`, or with a decimal point, which is the same. Tried from the largest down.
    Fraction,
    /// A name, or several, separated by commas; what they name is known to the method.
    Names {
        /// Whether a list is one value; otherwise each name is.
        several: bool,
    },
    /// One of these words.
    Word(&'static [&'static str]),
    /// One of these words, or a number not below 0 (infinity allowed: `inf`).
    WordOrNumber(&'static [&'static str]),
}

impl Kind {
    fn is_whole(&self) -> bool {
        matches!(self, Kind::Whole { .. })
    }

    /// What would do, for messages and reference pages.
    pub fn expects(&self) -> String {
        match self {
            Kind::Number { above } => format!("a number above {above}"),
            Kind::AtLeast { least } => format!("a number of at least {least}"),
            Kind::Share => "a number above 0, at most 1".into(),
            Kind::Width => {
                "a number above 0, N/median (N divided by the median squared distance between training instances), \
                 or N/d (N divided by the number of attributes)"
                    .into()
            }
            Kind::Length => {
                "a number above 0, or N*median (N times the square root of the median squared distance between \
                 training instances)"
                    .into()
            }
            Kind::Whole { least, most, words } => {
                let number = format!("a whole number from {least} to {most}");
                words.iter().map(|w| w.to_string()).chain([number]).collect::<Vec<_>>().join(" | ")
            }
            Kind::Fraction => "a fraction from 0 to 1, such as 11/20".into(),
            Kind::Names { several: false } => "a name".into(),
            Kind::Names { several: true } => "names, separated by commas".into(),
            Kind::Word(words) => words.join(" | "),
            Kind::WordOrNumber(words) => format!("{} | a number of at least 0", words.join(" | ")),
        }
    }
}

/// Every parameter of a method with one value, in the order of its table; those for real-valued targets only are
/// left out where the target is classes, and the other way round.
#[derive(Clone, Debug, PartialEq)]
pub struct Point(Vec<(String, Value)>);

/// Methods look parameters up once, where they read a point into types of their own.
impl Point {
    /// Without the parameters that have no meaning beside the others, for people to read. Files keep all.
    pub fn relevant(&self, table: &[ParamSpec]) -> Point {
        let means_something = |name: &str| {
            let needs = table.iter().find(|spec| spec.name == name).and_then(|spec| spec.only_with);
            needs.is_none_or(|(other, words)| match self.find(other) {
                Some(Value::Word(word)) => words.contains(&word.as_str()),
                _ => true,
            })
        };
        Point(self.0.iter().filter(|(name, _)| means_something(name)).cloned().collect())
    }

    fn find(&self, name: &str) -> Option<&Value> {
        self.0.iter().find(|(n, _)| n == name).map(|(_, v)| v)
    }

    /// The value of a parameter; an error if there is none of this name.
    pub fn get(&self, name: &str) -> Result<&Value> {
        self.find(name).ok_or_else(|| Error::Invalid(format!("the point '{self}' has no parameter '{name}'")))
    }

    /// What is made of a value; an error if nothing can be.
    fn read<'p, T>(&'p self, name: &str, what: &str, of: impl Fn(&'p Value) -> Option<T>) -> Result<T> {
        let value = self.get(name)?;
        of(value).ok_or_else(|| Error::Invalid(format!("parameter {name} is {value}, not {what}")))
    }

    /// A number.
    pub fn number(&self, name: &str) -> Result<f64> {
        self.read(name, "a number", |value| match value {
            Value::Number(v) => Some(*v),
            _ => None,
        })
    }

    /// A number; nothing where a word stands for it.
    pub fn number_or_word(&self, name: &str) -> Result<Option<f64>> {
        self.read(name, "a number or a word", |value| match value {
            Value::Number(v) => Some(Some(*v)),
            Value::Word(_) => Some(None),
            _ => None,
        })
    }

    /// A whole number; nothing where a word stands for it.
    pub fn whole(&self, name: &str) -> Result<Option<usize>> {
        Ok(self.number_or_word(name)?.map(|v| v as usize))
    }

    /// A fraction: numerator and denominator.
    pub fn fraction(&self, name: &str) -> Result<(u32, u32)> {
        self.read(name, "a fraction", |value| match value {
            Value::Fraction(n, d) => Some((*n, *d)),
            _ => None,
        })
    }

    /// A word.
    pub fn word(&self, name: &str) -> Result<&str> {
        self.read(name, "a word", |value| match value {
            Value::Word(w) => Some(w.as_str()),
            _ => None,
        })
    }

    /// What a word stands for.
    pub fn choice<T: Copy>(&self, name: &str, meanings: &[(&str, T)]) -> Result<T> {
        self.read(name, "one of its words", |value| match value {
            Value::Word(w) => meanings.iter().find(|(word, _)| word == w).map(|(_, meaning)| *meaning),
            _ => None,
        })
    }

    /// True if the parameter has a value here: those for real-valued targets only have none where the target is
    /// classes, and the other way round.
    pub fn has(&self, name: &str) -> bool {
        self.find(name).is_some()
    }

    /// Names and values in the order of the table.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &Value)> {
        self.0.iter().map(|(n, v)| (n.as_str(), v))
    }

    /// The point as records have it: numbers as numbers, everything else as the user writes it.
    pub fn to_map(&self) -> BTreeMap<String, serde_json::Value> {
        self.0.iter().map(|(name, value)| (name.clone(), json(value))).collect()
    }

    /// Checks a point that came from a file against the table.
    pub fn check(&self, method: &str, table: &[ParamSpec]) -> Result<()> {
        for spec in table {
            // What a name means for the other kind of target will do as well: the method knows which it reads.
            let other = table.iter().find(|s| s.name == spec.name && s.classes_only != spec.classes_only);
            match self.0.iter().find(|(n, _)| n == spec.name) {
                Some((_, value)) if other.is_some_and(|other| check(other, method, value).is_ok()) => {}
                Some((_, value)) => check(spec, method, value)?,
                None if spec.regression_only || spec.classes_only => {}
                None => return Err(Error::param(method, spec.name, "is not given")),
            }
        }
        match self.0.iter().find(|(n, _)| table.iter().all(|s| s.name != n)) {
            Some((name, _)) => Err(Error::param(method, name, "is not in the method's table")),
            None => Ok(()),
        }
    }

    /// The same point in the order of the table.
    pub fn ordered(mut self, table: &[ParamSpec]) -> Point {
        self.0.sort_by_key(|(name, _)| table.iter().position(|s| s.name == name));
        self
    }
}

impl fmt::Display for Point {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, (name, value)) in self.0.iter().enumerate() {
            write!(f, "{}{name}={value}", if i > 0 { " " } else { "" })?;
        }
        Ok(())
    }
}

fn json(value: &Value) -> serde_json::Value {
    match value {
        Value::Number(v) if v.is_finite() => serde_json::json!(v),
        other => serde_json::json!(other.to_string()),
    }
}

/// In files a point is an object: numbers as numbers, everything else as the user writes it.
impl Serialize for Point {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|(name, value)| (name, json(value))))
    }
}

impl<'de> Deserialize<'de> for Point {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Point, D::Error> {
        let map = serde_json::Map::deserialize(deserializer)?;
        let value = |json: serde_json::Value| match json {
            serde_json::Value::String(text) => Ok(parse_value(&text)),
            other => other
                .as_f64()
                .map(Value::Number)
                .ok_or_else(|| D::Error::custom("a parameter is a number or a text")),
        };
        map.into_iter().map(|(name, json)| Ok((name, value(json)?))).collect::<Result<_, _>>().map(Point)
    }
}

/// A list of points, grouped by what they share.
#[derive(Clone, Debug)]
pub struct Grid {
    /// The points, in the order in which ties are broken.
    pub points: Vec<Point>,
    /// Indices of points that agree in all representation parameters, by first appearance.
    pub groups: Vec<Vec<usize>>,
    /// Parameters whose list is that of the method's table: it may go on beyond its ends where the best point stands at one.
    pub grows: Vec<&'static str>,
}

/// What stands in for a parameter the user did not give.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WhenUnset {
    /// Its default: one point.
    Default,
    /// Its grid: to be tuned.
    Grid,
    /// Its grid, of which every level halves the longest list of three or more numbers, until all lists have a quarter of their
    /// values. The default stays.
    Thinned(u32),
}

impl WhenUnset {
    /// The grid where parameters are tuned, else the defaults.
    pub fn when_tuned(tuned: bool) -> WhenUnset {
        if tuned { WhenUnset::Grid } else { WhenUnset::Default }
    }
}

impl Grid {
    /// The grid of a method's table with what the user gave as (name, text) pairs.
    pub fn new(
        method: &str,
        table: &[ParamSpec],
        given: &[(String, String)],
        fill: WhenUnset,
        regression: bool,
    ) -> Result<Grid> {
        for (name, _) in given {
            if table.iter().all(|spec| spec.name != name) {
                let known = table.iter().map(|s| s.name);
                let Error::Unknown { name, suggestion, .. } = Error::unknown("parameter", name, known) else {
                    unreachable!()
                };
                return Err(Error::param(
                    method,
                    &name,
                    format!(
                        "no such parameter; {}",
                        suggestion.unwrap_or("the method has no parameters".into())
                    ),
                ));
            }
        }
        for (i, (name, text)) in given.iter().enumerate() {
            if let Some((_, before)) = given[..i].iter().find(|(other, _)| other == name) {
                let problem = format!("given twice, as {before} and as {text}; {before},{text} tries both");
                return Err(Error::param(method, name, problem));
            }
        }
        let mut points = vec![Vec::new()];
        // Lists of numbers that nobody gave may be thinned.
        let is_given = |spec: &ParamSpec| given.iter().any(|(name, _)| name == spec.name);
        let length = |spec: &ParamSpec| -> Result<usize> {
            let values = parse_values(spec, method, spec.grid)?;
            let thins = spec.applies(regression) && !is_given(spec);
            let numbers = values.iter().all(|v| magnitude(v).is_some());
            Ok(if thins && numbers { values.len() } else { 0 })
        };
        let steps = match fill {
            WhenUnset::Thinned(level) => {
                thinning(&table.iter().map(length).collect::<Result<Vec<_>>>()?, level)
            }
            _ => vec![1; table.len()],
        };
        let mut grows = Vec::new();
        for (spec, step) in table.iter().zip(steps) {
            if !spec.applies(regression) {
                let here = table.iter().any(|s| s.name == spec.name && s.applies(regression));
                if !here && given.iter().any(|(name, _)| name == spec.name) {
                    let problem = match regression {
                        false => "is for real-valued targets; these are classes",
                        true => "is for classes; these targets are real-valued",
                    };
                    return Err(Error::param(method, spec.name, problem));
                }
                continue;
            }
            let text = match given.iter().find(|(name, _)| name == spec.name) {
                Some((_, text)) => text.as_str(),
                None if fill == WhenUnset::Default => spec.default,
                None => spec.grid,
            };
            let mut values = parse_values(spec, method, text)?;
            if step > 1 {
                values = thinned(values, parse_values(spec, method, spec.default)?.first(), step);
            }
            if fill != WhenUnset::Default && given.iter().all(|(name, _)| name != spec.name) {
                grows.push(spec.name);
            }
            points = points
                .into_iter()
                .flat_map(|point| {
                    values.iter().map(move |value| {
                        let mut longer: Vec<(String, Value)> = point.clone();
                        longer.push((spec.name.to_string(), value.clone()));
                        longer
                    })
                })
                .collect();
            // A grid of this size would not finish; it is a slip in one of the lists.
            const MOST: usize = 100_000;
            if points.len() > MOST {
                return Err(Error::param(method, spec.name, format!("the grid has more than {MOST} points")));
            }
        }
        Ok(Grid { grows, ..Grid::of(table, points.into_iter().map(Point).collect()) })
    }

    /// The grid of given points, which does not grow.
    pub fn of(table: &[ParamSpec], points: Vec<Point>) -> Grid {
        let mut groups: Vec<Vec<usize>> = Vec::new();
        for (i, point) in points.iter().enumerate() {
            match groups.iter_mut().find(|g| same_representation(table, &points[g[0]], point)) {
                Some(group) => group.push(i),
                None => groups.push(vec![i]),
            }
        }
        Grid { points, groups, grows: Vec::new() }
    }

    /// Points of a coarser grid: of every list of three or more numbers the default and every second value to both sides of it, or
    /// every fourth, eighth, … at higher levels. Lists of words stay whole.
    pub(crate) fn thinned_points(&self, table: &[ParamSpec], level: u32) -> Vec<usize> {
        let mut kept: Vec<(&str, Vec<Value>)> = Vec::new();
        for (name, _) in self.points.first().map_or(&[][..], |p| &p.0) {
            let mut values: Vec<Value> = Vec::new();
            for value in self.points.iter().filter_map(|p| p.find(name)) {
                if !values.contains(value) {
                    values.push(value.clone());
                }
            }
            let default = table.iter().find(|s| s.name == name).map(|s| parse_value(s.default));
            let is_list = values.len() >= 3 && values.iter().all(|v| magnitude(v).is_some());
            let step = if is_list { 1 << level.min(16) } else { 1 };
            kept.push((name, thinned(values, default.as_ref(), step)));
        }
        let stays =
            |p: &Point| kept.iter().all(|(name, values)| p.find(name).is_none_or(|v| values.contains(v)));
        let points: Vec<usize> = (0..self.points.len()).filter(|&i| stays(&self.points[i])).collect();
        if points.is_empty() { (0..self.points.len()).collect() } else { points }
    }

    /// Points that continue the lists at whose end the point `best` stands, for every parameter that may grow and whose next
    /// value inside it `beats`: its name and up to three points, from the end outwards. Values are such as the table takes.
    pub(crate) fn beyond(
        &self,
        method: &str,
        table: &[ParamSpec],
        best: usize,
        beats: impl Fn(usize) -> bool,
    ) -> Vec<(&'static str, Vec<Point>)> {
        let point = &self.points[best];
        let mut lines = Vec::new();
        for (at, (name, value)) in point.0.iter().enumerate() {
            let Some(grown) = self.grows.iter().find(|g| *g == name) else { continue };
            let specs = || table.iter().filter(|s| s.name == name);
            let with = |value: &Value| {
                let mut other = point.clone();
                other.0[at].1 = value.clone();
                other
            };
            // A list of a parameter with a meaning for other points only does not matter to this one.
            if point.relevant(table).find(name).is_none() {
                continue;
            }
            let mut values: Vec<&Value> = Vec::new();
            for value in self.points.iter().filter_map(|p| p.find(name)) {
                if !values.contains(&value) {
                    values.push(value);
                }
            }
            let Some((inside, outside)) = beyond(&values, value, specs().any(|s| s.kind.is_whole())) else {
                continue;
            };
            let neighbour = with(inside);
            if !self.points.iter().position(|p| *p == neighbour).is_some_and(&beats) {
                continue;
            }
            let allowed = outside.iter().take_while(|v| specs().any(|s| check(s, method, v).is_ok()));
            let points: Vec<Point> = allowed.map(with).collect();
            if !points.is_empty() {
                lines.push((*grown, points));
            }
        }
        lines
    }

    /// Whether some point that differs from this one in a parameter alone has another value.
    pub(crate) fn matters(&self, at: usize, name: &str, values: &[Option<f64>]) -> bool {
        let own = &self.points[at];
        let others_equal = |point: &Point| point.0.iter().all(|(n, v)| n == name || own.find(n) == Some(v));
        self.points.iter().zip(values).any(|(point, value)| others_equal(point) && *value != values[at])
    }

    /// Parameters in which `point` sits at an end of three or more numbers: the best value may lie outside.
    pub fn edges(&self, point: &Point) -> Vec<&str> {
        let mut on_edge = Vec::new();
        for (name, value) in &self.points[0].0 {
            let mut values: Vec<f64> = self.points.iter().filter_map(|p| magnitude(p.find(name)?)).collect();
            values.sort_by(f64::total_cmp);
            values.dedup();
            let ends = [values.first().copied(), values.last().copied()];
            let chosen = point.find(name).and_then(magnitude);
            // Beyond a fraction of 1 there is nothing to try.
            if point.find(name) == Some(&Value::Fraction(1, 1)) {
                continue;
            }
            if values.len() >= 3 && chosen.is_some() && ends.contains(&chosen) && magnitude(value).is_some() {
                on_edge.push(name.as_str());
            }
        }
        on_edge
    }
}

/// The points that differ in representation, by first appearance, and which of them each point agrees with.
pub(crate) fn representations<'p>(table: &[ParamSpec], points: &'p [Point]) -> (Vec<&'p Point>, Vec<usize>) {
    let mut distinct: Vec<&Point> = Vec::new();
    let which = points
        .iter()
        .map(|point| index_in(&mut distinct, point, |a, b| same_representation(table, a, b)))
        .collect();
    (distinct, which)
}

/// The place in a list of what is the same as a value, which is added if there is none.
pub(crate) fn index_in<T>(list: &mut Vec<T>, value: T, same: impl Fn(&T, &T) -> bool) -> usize {
    list.iter().position(|known| same(known, &value)).unwrap_or_else(|| {
        list.push(value);
        list.len() - 1
    })
}

/// True if two points differ at most in solver parameters.
pub fn same_representation(table: &[ParamSpec], a: &Point, b: &Point) -> bool {
    table.iter().filter(|s| !s.solver_only).all(|s| a.find(s.name) == b.find(s.name))
}
#[cfg(test)]
mod tests;
