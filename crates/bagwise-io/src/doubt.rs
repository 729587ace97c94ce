//! Columns that are no measurements although nobody said so: dates, names, ids, free text, the index of a data frame. They
//! are left out by name, and one line says which and why. And things written in two ways, which are pointed out.

use std::collections::{BTreeMap, HashSet};

use super::text::number;
use bagwise_core::{Feature, FeatureKind, Instances, Message, Result, Setting, count};

/// Up to this many different texts are categories whatever their share; beyond it they are names if there are more than
/// half as many as rows, or as bags where all rows of a bag have the same.
const FEW: usize = 20;

/// Names of columns that are listed before they are only counted.
const LISTED: usize = 5;

/// A column that is left out: its name, and what it has instead of measurements.
pub(crate) type DroppedColumn = (String, String);

/// The features that are none, by position, with the reason. `found` are the columns of text that nobody declared to be
/// categories, `of_row` the bag of each row.
pub(crate) fn no_features(
    instances: &Instances,
    features: &[Feature],
    found: &[usize],
    of_row: &[u32],
    bags: usize,
) -> Result<Vec<(usize, String)>> {
    let mut out = Vec::new();
    for (c, feature) in features.iter().enumerate() {
        let why = match &feature.kind {
            FeatureKind::Categorical { values } if found.contains(&c) => {
                if !values.is_empty() && values.iter().all(|v| is_date(v)) {
                    Some("dates or times".into())
                } else if let Some(unit) = unit(values) {
                    Some(format!("numbers followed by '{unit}': write it in the heading to use them"))
                } else if values.len() > FEW && is_name(&column(instances, c)?, values.len(), of_row, bags) {
                    Some(match values.iter().all(|v| number(v.as_bytes()).is_some()) {
                        true => "numbers stored as text: convert them to use them".into(),
                        false => format!("{} values", values.len()),
                    })
                } else {
                    None
                }
            }
            FeatureKind::Numeric if is_id_heading(&feature.name) && instances.rows() > 2 => {
                is_id(&column(instances, c)?, of_row).map(String::from)
            }
            FeatureKind::Numeric if may_be_days(instances, c, &feature.name) => {
                is_day_number(&column(instances, c)?, is_date_heading(&feature.name))
                    .then(|| "dates as numbers".into())
            }
            _ => None,
        };
        out.extend(why.map(|why| (c, why)));
    }
    Ok(out)
}

/// The values of a column.
pub(crate) fn column(instances: &Instances, c: usize) -> Result<Vec<f64>> {
    let rows = 0..instances.rows();
    Ok(match instances {
        Instances::F64(m) => rows.map(|r| m.get(r, c)).collect(),
        Instances::F32(m) => rows.map(|r| m.get(r, c).into()).collect(),
        other => {
            let mut values = Vec::with_capacity(rows.len());
            other.each_row(rows, |_, row| values.push(row[c]))?;
            values
        }
    })
}

fn is_name(values: &[f64], different: usize, of_row: &[u32], bags: usize) -> bool {
    let there = values.iter().filter(|v| !v.is_nan()).count();
    different * 2 > there || (different * 2 > bags && same_within_bags(values, of_row))
}

pub(crate) fn same_within_bags(values: &[f64], of_row: &[u32]) -> bool {
    let mut first: BTreeMap<u32, u64> = BTreeMap::new();
    values.iter().zip(of_row).all(|(v, &bag)| *first.entry(bag).or_insert(v.to_bits()) == v.to_bits())
}

/// True for the names that ids and the indices of data frames have.
fn is_id_heading(name: &str) -> bool {
    let small = name.to_lowercase();
    let usual = ["id", "index", "unnamed: 0", "level_0", "row", "rownames", "row_number", "uuid", "guid"];
    let ends = ["_id", "-id", ".id", " id", "_index", "_uuid"];
    let camel = name.strip_suffix("Id").or_else(|| name.strip_suffix("ID"));
    usual.contains(&small.as_str())
        || ends.iter().any(|end| small.ends_with(end))
        || camel.is_some_and(|before| before.ends_with(|c: char| c.is_lowercase()))
}

/// What a column of whole numbers numbers, if it does.
fn is_id(values: &[f64], of_row: &[u32]) -> Option<&'static str> {
    if values.iter().any(|v| v.is_nan() || v.fract() != 0.0) {
        return None;
    }
    let different: HashSet<u64> = values.iter().map(|v| v.to_bits()).collect();
    if different.len() == values.len() {
        return Some("a number for each row");
    }
    let bags: HashSet<u32> = of_row.iter().copied().collect();
    if different.len() == bags.len() && bags.len() > 2 && same_within_bags(values, of_row) {
        return Some("a number for each bag");
    }
    let mut last: BTreeMap<u32, f64> = BTreeMap::new();
    let counts = values.iter().zip(of_row).all(|(&v, &bag)| match last.insert(bag, v) {
        Some(before) => v == before + 1.0,
        None => v == values[0],
    });
    counts.then_some("it counts the rows of each bag")
}

/// What follows the number in each of these texts, if it is the same in all.
fn unit(values: &[String]) -> Option<&str> {
    fn of(value: &str) -> Option<&str> {
        let is_digit = |c: char| c.is_ascii_digit() || matches!(c, '.' | ',' | '-' | '+' | '\u{2212}' | '\'');
        let at = value.find(|c: char| !is_digit(c))?;
        let (number, unit) = (&value[..at], value[at..].trim());
        let good =
            number.contains(|c: char| c.is_ascii_digit()) && !unit.contains(|c: char| c.is_ascii_digit());
        (good && !unit.is_empty()).then_some(unit)
    }
    let (first, rest) = values.split_first().filter(|(_, rest)| !rest.is_empty())?;
    let unit = of(first)?;
    rest.iter().all(|value| of(value) == Some(unit)).then_some(unit)
}

fn is_date_heading(name: &str) -> bool {
    let small = name.to_lowercase();
    small
        .split(|c: char| !c.is_alphanumeric())
        .any(|word| matches!(word, "date" | "datum" | "datetime" | "timestamp"))
}

/// A first look at a column of numbers that may be dates, which costs nothing where it is none.
fn may_be_days(instances: &Instances, c: usize, name: &str) -> bool {
    let first = match instances {
        Instances::F64(m) if m.rows() > 0 => m.get(0, c),
        Instances::F32(m) if m.rows() > 0 => m.get(0, c).into(),
        _ => return is_date_heading(name),
    };
    first.is_nan() || is_day(first) || is_date_heading(name)
}

/// True for 20240131.
fn is_day(value: f64) -> bool {
    let (day, month) = (value % 100.0, (value / 100.0).floor() % 100.0);
    value.fract() == 0.0
        && (19_000_101.0..=21_001_231.0).contains(&value)
        && (1.0..=31.0).contains(&day)
        && (1.0..=12.0).contains(&month)
}

/// True if all numbers are days like 20240131 or, where the heading says that they are dates, days since 1900 or seconds.
fn is_day_number(values: &[f64], is_headed: bool) -> bool {
    let there = || values.iter().filter(|v| !v.is_nan());
    let different: HashSet<u64> = there().map(|v| v.to_bits()).collect();
    let counted = |v: &f64| (20_000.0..80_000.0).contains(v) || *v > 3e8 && v.fract() == 0.0;
    different.len() > 2 && (there().all(|v| is_day(*v)) || is_headed && there().all(counted))
}

/// True if a text is a date, a time of day, both, or a duration as pandas writes it.
pub(crate) fn is_date(text: &str) -> bool {
    let text = text.trim();
    let is_time = |text: &str| {
        let text = text.trim_end_matches('Z');
        let zone = text.rfind(['+', '-']).filter(|&at| at > 0).unwrap_or(text.len());
        let parts: Vec<&str> = text[..zone].split(':').collect();
        let digits = |part: &&str| !part.is_empty() && part.bytes().all(|b| b.is_ascii_digit() || b == b'.');
        (2..=3).contains(&parts.len()) && parts.iter().all(digits)
    };
    let is_day = |text: &str| {
        let Some(mark) = text.chars().find(|c| !c.is_alphanumeric()) else { return false };
        let parts: Vec<&str> = text.split(mark).collect();
        let [a, b, c] = parts[..] else { return false };
        const MONTHS: [&str; 12] =
            ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];
        let number = |text: &str| text.parse::<u32>().ok().filter(|_| text.len() <= 4);
        let day = |text: &str| number(text).is_some_and(|n| (1..=31).contains(&n) && text.len() <= 2);
        let month = |text: &str| {
            number(text).is_some_and(|n| (1..=12).contains(&n) && text.len() <= 2)
                || text.is_char_boundary(3) && MONTHS.contains(&text[..3].to_lowercase().as_str())
        };
        let year = |text: &str| number(text).is_some() && (text.len() == 4 || text.len() == 2);
        matches!(mark, '-' | '/' | '.' | ' ')
            && (year(a) && a.len() == 4 && month(b) && day(c)
                || day(a) && month(b) && year(c)
                || month(a) && day(b) && year(c))
    };
    if let Some((days, rest)) = text.split_once(" days") {
        return days.parse::<i64>().is_ok() && (rest.is_empty() || is_time(rest.trim()));
    }
    match text.split_once(['T', ' ']) {
        Some((day, time)) if is_time(time) => is_day(day),
        _ => is_day(text) || is_time(text),
    }
}

/// The line about the columns that are left out.
pub(crate) fn left_out(columns: &[DroppedColumn]) -> Message {
    let named: Vec<String> = columns.iter().map(|(name, why)| format!("'{name}' ({why})")).collect();
    Message::from(format!("left out, because these are not measurements: {}", listed(&named)))
        .and("; copy them to the results")
        .with([Setting::Keep])
        .or("treat them as categories")
        .with([Setting::Categorical(None)])
}

/// The line about text that became categories although nobody said so.
pub(crate) fn taken_as_categories(features: &[Feature], found: &[usize]) -> Message {
    let named: Vec<String> = found
        .iter()
        .filter_map(|&c| match &features[c].kind {
            FeatureKind::Categorical { values } => {
                Some(format!("'{}' ({} values)", features[c].name, values.len()))
            }
            FeatureKind::Numeric => None,
        })
        .collect();
    Message::from(format!("text columns are treated as categories: {}", listed(&named)))
        .and("; keep or ignore those that are not features")
        .with([Setting::Keep, Setting::Ignore(None)])
}

/// Names, the first few of them.
pub(crate) fn listed(names: &[String]) -> String {
    let more = names.len().saturating_sub(LISTED);
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    format!("{}{more}", names[..names.len().min(LISTED)].join(", "))
}

/// Texts that are written in two ways: as `key` has it they are the same.
pub(crate) fn written_twice<'t>(
    texts: impl Iterator<Item = &'t str>,
    key: impl Fn(&str) -> Option<String>,
) -> Vec<(&'t str, &'t str)> {
    let mut first: BTreeMap<String, &str> = BTreeMap::new();
    let mut pairs = BTreeMap::new();
    for text in texts {
        let Some(key) = key(text) else { continue };
        match first.get(&key) {
            Some(&known) if known != text => {
                pairs.entry(key).or_insert((known.min(text), known.max(text)));
            }
            Some(_) => {}
            None => drop(first.insert(key, text)),
        }
    }
    pairs.into_values().collect()
}

/// Letters and spaces that people write now so, now so.
pub(crate) fn without_case(text: &str) -> Option<String> {
    Some(text.to_lowercase().split_whitespace().collect::<Vec<_>>().join(" "))
}

/// A class in one spelling, where yes, true and 1 are one.
pub(crate) fn truth(text: &str) -> Option<String> {
    let plain = without_case(text)?;
    Some(match plain.as_str() {
        "true" | "yes" | "y" | "1" => "1".into(),
        "false" | "no" | "n" | "0" => "0".into(),
        "positive" | "pos" | "+" => "+".into(),
        "negative" | "neg" | "-" => "-".into(),
        _ => plain,
    })
}

/// True for a dash, which may stand for nothing.
pub(crate) fn is_dash(text: &str) -> bool {
    ["-", "--", "\u{2013}", "\u{2014}", "."].contains(&text)
}

/// True for what the last row of a table is called if it sums up the others.
pub(crate) fn is_summary(name: &str) -> bool {
    const NAMES: [&str; 18] = [
        "total",
        "totals",
        "grand total",
        "sum",
        "mean",
        "average",
        "avg",
        "median",
        "count",
        "std",
        "summe",
        "gesamt",
        "mittelwert",
        "durchschnitt",
        "somme",
        "moyenne",
        "totale",
        "media",
    ];
    NAMES.contains(&name.trim_end_matches(':').to_lowercase().as_str())
}

/// The line about `what` that is written in two ways and taken as one thing, or as two.
pub(crate) fn two_ways(what: &str, pairs: &[(&str, &str)], as_one: bool) -> Option<Message> {
    let (a, b) = pairs.first()?;
    let more = match pairs.len() {
        1 => String::new(),
        n => format!(" (and {})", count(n - 1, "more such pair")),
    };
    let (found, remedy) = match as_one {
        true => ("are treated as one", "write them the same way, or add a letter if they are different"),
        false => ("are treated as two", "write them the same way if they are the same"),
    };
    Some(format!("{what} '{a}' and '{b}' {found}{more}; {remedy}").into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_unit_is_what_follows_every_number() {
        let of = |values: &[&str]| {
            let values: Vec<String> = values.iter().map(|v| v.to_string()).collect();
            unit(&values).map(str::to_string)
        };
        assert_eq!(of(&["3 mm", "4.5 mm"]).as_deref(), Some("mm"));
        assert_eq!(of(&["3 mm\u{a0}", "4.5\u{2009}mm "]).as_deref(), Some("mm"));
        assert_eq!(of(&["61.\u{201c}l\u{b}", "7\u{201c}l"]).as_deref(), Some("\u{201c}l"));
        assert_eq!(of(&["3 mm", "4 cm"]), None);
    }

    #[test]
    fn dates_are_told_from_other_text() {
        for text in [
            "2024-01-31",
            "2024/1/3",
            "31.12.2024",
            "1/31/24",
            "2024-01-31T12:30:00Z",
            "2024-01-31 12:30:00+01:00",
            "12:30",
            "12:30:15.5",
            "31-Jan-2024",
            "2 days 03:00:00",
            "1 days",
        ] {
            assert!(is_date(text), "{text}");
        }
        for text in ["red", "1.2", "A-1-2", "1-2", "2024", "99/99/2024", "10:a", "x 12:30", "C1-C2-C3", ""] {
            assert!(!is_date(text), "{text}");
        }
    }

    #[test]
    fn numbers_stored_as_text_are_called_so() {
        let of_row: Vec<u32> = (0..60).map(|r| r / 2).collect();
        let why = |text: fn(usize) -> String| {
            let values: Vec<String> = (0..60).map(text).collect();
            let codes: Vec<f64> = (0..60).map(f64::from).collect();
            let features = [Feature { name: "f".into(), kind: FeatureKind::Categorical { values } }];
            let instances = Instances::F64(bagwise_core::Mat::new(60, 1, codes));
            no_features(&instances, &features, &[0], &of_row, 30).unwrap().remove(0).1
        };
        assert_eq!(why(|r| format!("{r}.5")), "numbers stored as text: convert them to use them");
        assert_eq!(why(|r| format!("n{r}")), "60 values");
    }

    #[test]
    fn units_and_dates_as_numbers_are_known() {
        let texts = |list: &[&str]| list.iter().map(|t| t.to_string()).collect::<Vec<_>>();
        assert_eq!(unit(&texts(&["20.33%", "5%", "-1%"])), Some("%"));
        assert_eq!(unit(&texts(&["20,3 mg", "1 mg"])), Some("mg"));
        for none in
            [&["1 mg", "1 g"][..], &["a%", "b%"], &["1-2", "3-4"], &["A1", "B1"], &["5%"], &["1", "2"]]
        {
            assert_eq!(unit(&texts(none)), None, "{none:?}");
        }
        assert!(is_day_number(&[20240131.0, 20231201.0, 19990505.0, f64::NAN], false));
        assert!(!is_day_number(&[20241331.0, 20231201.0, 19990505.0], false));
        assert!(!is_day_number(&[20240131.0, 20240131.0, 20240201.0], false));
        assert!(
            is_day_number(&[45000.0, 45001.5, 45002.0], true)
                && !is_day_number(&[45000.0, 45001.5, 45002.0], false)
        );
        assert!(is_date_heading("Date") && is_date_heading("assay_date") && !is_date_heading("candidate"));
    }

    #[test]
    fn ids_are_known_by_heading_and_values() {
        for name in ["id", "ID", "mol_id", "MolID", "molId", "Unnamed: 0", "index", "row"] {
            assert!(is_id_heading(name), "{name}");
        }
        for name in ["grid", "width", "solid", "lipid", "PID", "f1", "idle"] {
            assert!(!is_id_heading(name), "{name}");
        }
        let bags = [0, 0, 1, 1, 2, 2];
        assert!(is_id(&[5.0, 3.0, 9.0, 8.0, 1.0, 2.0], &bags).is_some());
        assert!(is_id(&[7.0, 7.0, 4.0, 4.0, 1.0, 1.0], &bags).is_some());
        assert!(is_id(&[1.0, 2.0, 1.0, 2.0, 1.0, 2.0], &bags).is_some());
        assert!(is_id(&[1.0, 1.0, 1.0, 1.0, 2.0, 2.0], &bags).is_none());
        assert!(is_id(&[1.5, 2.0, 3.0, 4.0, 5.0, 6.0], &bags).is_none());
    }
}
