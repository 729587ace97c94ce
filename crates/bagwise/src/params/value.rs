//! Values of parameters as users write them: `0.5`, `2^-5`, `1/median` (relative to the median squared distance of
//! training instances), `1/d` (relative to the number of attributes), `2*median` (relative to the root of that
//! median), `mean`, `11/20` (a fraction, kept as one, so that comparisons with it are exact). Several are separated
//! by commas; powers and fractions can be ranges: `2^-5..2^5`, `11/20..20/20`.

use std::fmt;

use super::{Kind, ParamSpec};
use bagwise_core::{Error, Result};

/// One value.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// A number.
    Number(f64),
    /// A number over the median squared distance of training instances.
    OverMedian(f64),
    /// A number over the number of attributes.
    OverWidth(f64),
    /// A number times the root of the median squared distance of training instances.
    TimesMedian(f64),
    /// A fraction in lowest terms.
    Fraction(u32, u32),
    /// A word.
    Word(String),
}

impl Value {
    /// A fraction, reduced, so that equal ones are equal.
    pub fn fraction(numerator: u32, denominator: u32) -> Value {
        let (mut a, mut b) = (numerator, denominator);
        while b != 0 {
            (a, b) = (b, a % b);
        }
        let common = a.max(1);
        Value::Fraction(numerator / common, denominator / common)
    }
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Value::Number(v) => write!(f, "{v}"),
            Value::OverMedian(v) => write!(f, "{v}/median"),
            Value::OverWidth(v) => write!(f, "{v}/d"),
            Value::TimesMedian(v) => write!(f, "{v}*median"),
            Value::Fraction(n, d) => write!(f, "{n}/{d}"),
            Value::Word(w) => f.write_str(w),
        }
    }
}

/// A number (also `2^-5`), one with a unit, a fraction, else a word.
pub(super) fn parse_value(text: &str) -> Value {
    let text = text.trim();
    if let Some((numerator, denominator)) = parse_fraction(text) {
        return Value::fraction(numerator, denominator);
    }
    let (number, unit) = unit(text);
    parse_number(number).map_or_else(|| Value::Word(text.to_string()), unit)
}

/// A text without its unit, and what the unit makes of a number.
fn unit(text: &str) -> (&str, fn(f64) -> Value) {
    let units: [(&str, fn(f64) -> Value); 3] =
        [("/median", Value::OverMedian), ("/d", Value::OverWidth), ("*median", Value::TimesMedian)];
    let found = units.iter().find_map(|(ending, unit)| Some((text.strip_suffix(ending)?, *unit)));
    found.unwrap_or((text, Value::Number))
}

fn parse_number(text: &str) -> Option<f64> {
    match parse_power(text) {
        Some((base, exponent)) => Some(base.powi(exponent)),
        None => text.parse().ok().filter(|v: &f64| !v.is_nan()),
    }
}

/// `11/20`, not reduced.
fn parse_fraction(text: &str) -> Option<(u32, u32)> {
    let (numerator, denominator) = text.split_once('/')?;
    let denominator = denominator.trim().parse().ok().filter(|&d| d > 0)?;
    Some((numerator.trim().parse().ok()?, denominator))
}

/// `0.55` as 55/100: what is written, not its nearest double.
fn parse_decimal(text: &str) -> Option<Value> {
    let (whole, part) = text.split_once('.').unwrap_or((text, ""));
    let denominator = 10u32.checked_pow(u32::try_from(part.len()).ok()?)?;
    // `.5` and `1.` have digits on one side; a point alone, or nothing at all, is no number.
    if whole.is_empty() && part.is_empty() {
        return None;
    }
    let digits = |t: &str| t.bytes().all(|b| b.is_ascii_digit()).then(|| format!("0{t}").parse::<u32>().ok());
    let (whole, part) = (digits(whole)??, digits(part)??);
    Some(Value::fraction(whole.checked_mul(denominator)?.checked_add(part)?, denominator))
}

fn parse_power(text: &str) -> Option<(f64, i32)> {
    let (base, exponent) = text.split_once('^')?;
    Some((base.trim().parse().ok()?, exponent.trim().parse().ok()?))
}

/// The values a user wrote for one parameter: commas separate, `2^-5..2^5` is every power between.
pub(super) fn parse_values(spec: &ParamSpec, method: &str, text: &str) -> Result<Vec<Value>> {
    let mut values = Vec::new();
    if let Kind::Names { several: true } = spec.kind {
        let names: Vec<&str> = text.split(',').map(str::trim).collect();
        let list = Value::Word(names.join(","));
        check(spec, method, &list)?;
        return Ok(vec![list]);
    }
    for item in text.split(',') {
        let item = item.trim();
        match item.split_once("..") {
            None => values.push(match (spec.kind, parse_decimal(item)) {
                (Kind::Fraction, Some(fraction)) => fraction,
                _ => parse_value(item),
            }),
            Some((from, to)) => {
                if let (Kind::Fraction, Some((low, d)), Some((high, e))) =
                    (spec.kind, parse_fraction(from), parse_fraction(to))
                    && d == e
                    && low <= high
                    && high <= d
                    && high - low < 200
                {
                    values.extend((low..=high).map(|n| Value::fraction(n, d)));
                    continue;
                }
                let (to, unit) = unit(to);
                // Thousands of powers are a slip of the keyboard, not a grid.
                const MOST: i64 = 200;
                match (parse_power(from), parse_power(to)) {
                    (Some((a, low)), Some((b, high)))
                        if a == b && low <= high && i64::from(high) - i64::from(low) < MOST =>
                    {
                        values.extend((low..=high).map(|e| unit(a.powi(e))));
                    }
                    _ => {
                        return Err(Error::param(
                            method,
                            spec.name,
                            match spec.kind {
                                Kind::Fraction => format!(
                                    "'{item}' is not a range; write fractions of one denominator, ascending: 11/20..20/20"
                                ),
                                _ => format!(
                                    "'{item}' is not a range; write powers of one base, ascending: 2^-5..2^5"
                                ),
                            },
                        ));
                    }
                }
            }
        }
    }
    for value in &values {
        check(spec, method, value)?;
    }
    if values.iter().all(|v| magnitude(v).is_some()) {
        values.sort_by(|a, b| magnitude(a).unwrap_or(0.0).total_cmp(&magnitude(b).unwrap_or(0.0)));
        if matches!(spec.kind, Kind::Fraction) {
            values.reverse();
        }
    }
    let mut distinct: Vec<Value> = Vec::with_capacity(values.len());
    for value in values {
        if !distinct.contains(&value) {
            distinct.push(value);
        }
    }
    Ok(distinct)
}

/// An error unless the parameter takes the value.
pub(super) fn check(spec: &ParamSpec, method: &str, value: &Value) -> Result<()> {
    let good = match (spec.kind, value) {
        (Kind::Number { above }, Value::Number(v)) => v.is_finite() && *v > above,
        (Kind::Share, Value::Number(v)) => *v > 0.0 && *v <= 1.0,
        (Kind::AtLeast { least }, Value::Number(v)) => v.is_finite() && *v >= least,
        (Kind::Width, Value::Number(v) | Value::OverMedian(v) | Value::OverWidth(v)) => {
            v.is_finite() && *v > 0.0
        }
        (Kind::Length, Value::Number(v) | Value::TimesMedian(v)) => v.is_finite() && *v > 0.0,
        (Kind::Whole { least, most, .. }, Value::Number(v)) => {
            v.fract() == 0.0 && *v >= f64::from(least) && *v <= f64::from(most)
        }
        (Kind::Fraction, Value::Fraction(n, d)) => n <= d && *d > 0,
        (Kind::Names { several }, Value::Word(list)) => {
            let is_name = |name: &str| name.starts_with(|c: char| c.is_ascii_alphabetic());
            (several || !list.contains(',')) && list.split(',').all(is_name)
        }
        (Kind::Whole { words, .. }, Value::Word(w)) => words.contains(&w.as_str()),
        (Kind::Word(words) | Kind::WordOrNumber(words), Value::Word(w)) => words.contains(&w.as_str()),
        (Kind::WordOrNumber(_), Value::Number(v)) => *v >= 0.0,
        _ => false,
    };
    if good {
        return Ok(());
    }
    let found = match value {
        Value::Word(word) if word.is_empty() => "an empty value".into(),
        other => other.to_string(),
    };
    Err(Error::param(method, spec.name, format!("{found} is not allowed; expected {}", spec.kind.expects())))
}

/// The size by which values are ordered; words have none.
pub(super) fn magnitude(value: &Value) -> Option<f64> {
    match value {
        Value::Number(v) | Value::OverMedian(v) | Value::OverWidth(v) | Value::TimesMedian(v) => Some(*v),
        Value::Fraction(n, d) => Some(f64::from(*n) / f64::from(*d)),
        Value::Word(_) => None,
    }
}

/// Some of a list of numbers: the default, or the one in the middle, and every `step`th to both sides of it.
pub(super) fn thinned(values: Vec<Value>, default: Option<&Value>, step: usize) -> Vec<Value> {
    let middle = values.iter().position(|v| Some(v) == default).unwrap_or(values.len() / 2);
    let kept = |(i, value)| (usize::abs_diff(i, middle) % step == 0).then_some(value);
    values.into_iter().enumerate().filter_map(kept).collect()
}

/// How far lists of this many values are thinned: every level takes every second value of the longest list that is left, of equals
/// the first, until all have every fourth. Lists of fewer than three values stay as they are.
pub(super) fn thinning(lengths: &[usize], level: u32) -> Vec<usize> {
    const MOST: usize = 4;
    let mut steps = vec![1; lengths.len()];
    for _ in 0..level {
        let left = |i: usize| if lengths[i] >= 3 && steps[i] < MOST { lengths[i] / steps[i] } else { 0 };
        let longest = (0..lengths.len()).rev().max_by_key(|&i| left(i)).filter(|&i| left(i) > 0);
        longest.into_iter().for_each(|i| steps[i] *= 2);
    }
    steps
}

/// For a value at an end of a list of three or more numbers of one unit: its neighbour inside, and three values that continue
/// the list outwards. Where all steps are equal, and in lists of fractions, they go on by the last difference, else by the last
/// ratio. Whole numbers stay whole.
pub(super) fn beyond<'v>(
    values: &[&'v Value],
    value: &Value,
    whole: bool,
) -> Option<(&'v Value, Vec<Value>)> {
    /// More than this, and the table's list is wrong.
    const STEPS: i32 = 3;
    let mut order: Vec<(f64, &Value)> =
        values.iter().map(|v| Some((magnitude(v)?, *v))).collect::<Option<_>>()?;
    order.sort_by(|a, b| a.0.total_cmp(&b.0));
    let one_unit = order.windows(2).all(|w| std::mem::discriminant(w[0].1) == std::mem::discriminant(w[1].1));
    if order.len() < 3 || !one_unit {
        return None;
    }
    let last = order.len() - 1;
    let ((end, _), (inside, neighbour)) = match order.iter().position(|(_, v)| *v == value)? {
        0 => (order[0], order[1]),
        at if at == last => (order[last], order[last - 1]),
        _ => return None,
    };
    if let (Value::Fraction(a, b), Value::Fraction(c, d)) = (value, neighbour) {
        // Over a common denominator, which stays small for the fractions of a table.
        let (a, b, c, d) = (i64::from(*a), i64::from(*b), i64::from(*c), i64::from(*d));
        let at = |k: i64| {
            let numerator = u32::try_from(a * d + k * (a * d - c * b)).ok()?;
            Some(Value::fraction(numerator, u32::try_from(b * d).ok()?))
        };
        return Some((neighbour, (1..=i64::from(STEPS)).map_while(at).collect()));
    }
    let step = end - inside;
    let even = order.windows(2).all(|w| (w[1].0 - w[0].0 - step.abs()).abs() <= 1e-9 * step.abs());
    let ratio = end / inside;
    let mut all: Vec<Value> = Vec::new();
    let mut before = end;
    for k in 1..=STEPS {
        let exact = if even { end + f64::from(k) * step } else { end * ratio.powi(k) };
        // As a user would write it: 0.01, not 0.010000000000000002, and no more digits than a step is worth.
        let next = match whole {
            true => exact.round(),
            false => {
                let short: f64 = format!("{exact:.2e}").parse().unwrap_or(exact);
                if (short / exact - 1.0).abs() < 1e-9 || !is_power_of_two(ratio) { short } else { exact }
            }
        };
        if !next.is_finite() || next == before || (next > before) != (step > 0.0) {
            break;
        }
        before = next;
        all.push(match value {
            Value::OverMedian(_) => Value::OverMedian(next),
            Value::OverWidth(_) => Value::OverWidth(next),
            Value::TimesMedian(_) => Value::TimesMedian(next),
            _ => Value::Number(next),
        });
    }
    Some((neighbour, all))
}

/// Such ratios keep every digit: 2^-8 is not 0.0039.
fn is_power_of_two(ratio: f64) -> bool {
    ratio > 0.0 && ratio.log2().fract() == 0.0
}
