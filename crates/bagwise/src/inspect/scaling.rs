//! Which scaling to start with. A suggestion, not a rule: `compare` can try several.

use serde::Serialize;

use super::ColumnSummary;

/// A scaling and why it was chosen.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Scaling {
    /// "none", "minmax", "zscore" or "maxabs", as `--scale` takes it.
    pub name: &'static str,
    /// Why.
    pub reason: String,
}

/// Suggests a scaling from the ranges of the columns.
pub(super) fn suggest(columns: &[ColumnSummary], zeros: f64, storage: &str) -> Scaling {
    let of = |name, reason: String| Scaling { name, reason };
    // Each varying numeric column: smallest, largest, mean, standard deviation.
    let varying: Vec<[f64; 4]> = columns
        .iter()
        .filter(|c| !c.constant)
        .filter_map(|c| Some([c.min?, c.max?, c.mean?, c.sd?]))
        .filter(|c| c[3] > 0.0)
        .collect();
    if varying.is_empty() {
        return of("none", "no numeric attribute varies".into());
    }
    if storage == "sparse" || (zeros > 0.5 && varying.iter().all(|c| c[0] >= 0.0)) {
        let share = 100.0 * zeros;
        return of("maxabs", format!("{share:.0}% of the values are 0, and maxabs keeps them 0"));
    }
    let share = |holds: &dyn Fn(&[f64; 4]) -> bool| {
        varying.iter().filter(|c| holds(c)).count() as f64 / varying.len() as f64
    };
    // Makers standardise a larger collection and cut the data set out of it, so that mean and deviation are near
    // 0 and 1, not equal to them, and rare attributes are further off. None has another unit, though.
    let near = share(&|c| c[2].abs() < 0.25 && (0.5..2.0).contains(&c[3])) > 2.0 / 3.0;
    if near && varying.iter().all(|c| c[2].abs() < 1.0 && c[3] < 4.0) {
        return of(
            "none",
            "the attributes are already standardised (mean near 0, standard deviation near 1)".into(),
        );
    }
    if share(&|c| c[0] >= -1.0 && c[1] <= 1.0 && c[1] - c[0] >= 0.5) > 0.9 {
        return of("none", "the attributes already lie in [-1, 1] and use most of it".into());
    }
    // A value 10 deviations out leaves min-max less than a tenth of its range for nearly all others.
    let tailed = varying.iter().filter(|c| ((c[1] - c[2]).max(c[2] - c[0])) / c[3] > 10.0).count();
    if tailed * 10 > varying.len() {
        return of(
            "zscore",
            format!(
                "{tailed} of {} attributes have values more than 10 standard deviations from their mean; minmax \
                 would squeeze all other values together",
                varying.len()
            ),
        );
    }
    let widths = || varying.iter().map(|c| c[1] - c[0]);
    let (narrow, wide) = (widths().fold(f64::INFINITY, f64::min), widths().fold(0.0, f64::max));
    let (narrow, wide) = (round(narrow), round(wide));
    of(
        "minmax",
        if varying.len() == 1 {
            format!("the range is {wide} wide, without extreme outliers")
        } else {
            format!("the ranges are {narrow} to {wide} wide, without extreme outliers")
        },
    )
}

/// Three digits are enough to judge by.
fn round(value: f64) -> String {
    let text = format!("{value:.2e}");
    text.parse::<f64>().map_or(text.clone(), |v| if (1e-4..1e7).contains(&v) { v.to_string() } else { text })
}
