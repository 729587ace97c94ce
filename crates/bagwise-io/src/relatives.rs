//! Columns that may name what several bags have in common: the patient of slides, the scaffold of molecules. If nobody says that
//! they are groups, bags of one patient are in training and in test, and estimates are too good.

use super::doubt::{is_date, same_within_bags};
use super::text::{Markers, number};
use bagwise_core::{Feature, FeatureKind, Groups, UnusedColumn};

/// Words in the headings of columns that name what several bags may have in common.
const WORDS: [&str; 26] = [
    "patient",
    "patients",
    "pat",
    "subject",
    "subjects",
    "participant",
    "proband",
    "person",
    "individual",
    "donor",
    "spender",
    "case",
    "animal",
    "mouse",
    "specimen",
    "family",
    "household",
    "scaffold",
    "gerüst",
    "cluster",
    "series",
    "batch",
    "cohort",
    "group",
    "gruppe",
    "id",
];

/// True for a heading with a word that groups usually have in theirs: `patient`, `PatientID`, `donor_id`.
pub fn is_group_heading(name: &str) -> bool {
    let mut words = vec![String::new()];
    let mut before = ' ';
    for c in name.chars() {
        if !c.is_alphanumeric() || c.is_uppercase() && before.is_lowercase() {
            words.push(String::new());
        }
        if c.is_alphabetic() {
            words.last_mut().expect("starts with one").extend(c.to_lowercase());
        }
        before = c;
    }
    words.iter().any(|word| WORDS.contains(&word.as_str()))
}

/// True if a column with these values, one per bag, could name groups. Numbers are measurements (ages, counts) unless the heading
/// says otherwise, and bags of one day need not be related.
pub fn could_name_groups<S: AsRef<str>>(name: &str, values: &[S]) -> bool {
    let markers = Markers::new(&[]);
    let there = || values.iter().map(AsRef::as_ref).filter(|v| !is_missing(v, &markers));
    let whole = |text: &str| number(text.as_bytes()).is_some_and(|v| v.fract() == 0.0);
    if there().all(is_date) {
        false
    } else if there().all(|text| number(text.as_bytes()).is_some()) {
        there().all(whole) && is_group_heading(name)
    } else {
        true
    }
}

/// The columns of a table of bags that have no role and could name groups. `cells` has a row for each bag. A bag without a value
/// shares it with no other.
pub(crate) fn unused_columns(names: Vec<String>, cells: &[Vec<String>]) -> Vec<UnusedColumn> {
    let columns = names.into_iter().enumerate().filter_map(|(c, name)| {
        let values: Vec<&str> = cells.iter().map(|row| row[c].as_str()).collect();
        could_name_groups(&name, &values)
            .then(|| UnusedColumn { name, values: Groups::from_names(&own_if_missing(&values)) })
    });
    columns.collect()
}

fn own_if_missing(values: &[&str]) -> Vec<String> {
    let markers = Markers::new(&[]);
    let own = |(bag, value): (usize, &&str)| match is_missing(value, &markers) {
        true => format!("{value} (bag {bag})"),
        false => value.to_string(),
    };
    values.iter().enumerate().map(own).collect()
}

fn is_missing(text: &str, markers: &Markers) -> bool {
    Markers::perhaps(text.as_bytes()) || markers.missing(text.as_bytes())
}

/// A column of text that is left out, if it could name groups: its codes in the rows of a file, whose bags are `of_row`.
pub(crate) fn dropped_column(
    feature: &Feature,
    codes: &[f64],
    of_row: &[u32],
    bags: usize,
) -> Option<UnusedColumn> {
    let FeatureKind::Categorical { values } = &feature.kind else { return None };
    if !same_within_bags(codes, of_row) || codes.iter().any(|code| code.is_nan()) {
        return None;
    }
    let mut of_bag = vec![""; bags];
    for (&code, &bag) in codes.iter().zip(of_row) {
        of_bag[bag as usize] = &values[code as usize];
    }
    let name = feature.name.clone();
    could_name_groups(&name, &of_bag).then(|| UnusedColumn { name, values: Groups::from_names(&of_bag) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headings_of_groups_are_known() {
        for name in [
            "patient",
            "PatientID",
            "patient_id",
            "Pat.",
            "donor-2",
            "scaffold",
            "Case",
            "site_id",
            "SubjectNr",
        ] {
            assert!(is_group_heading(name), "{name}");
        }
        for name in ["age", "sex", "pattern", "casein", "idle", "grid", "plate", ""] {
            assert!(!is_group_heading(name), "{name}");
        }
    }

    #[test]
    fn numbers_and_dates_name_no_groups_unless_the_heading_says_so() {
        let could = |name: &str, values: [&str; 4]| could_name_groups(name, &values);
        assert!(could("origin", ["p1", "p1", "p2", "p2"]) && could("patient", ["7", "7", "8", "8"]));
        assert!(could("patient", ["7", "NA", "8", "8"]));
        assert!(!could("age", ["40", "40", "51", "51"]) && !could("patient", ["1.5", "1.5", "2.5", "2.5"]));
        assert!(!could("taken", ["2024-01-02", "2024-01-02", "2024-01-03", "2024-01-03"]));
    }
}
