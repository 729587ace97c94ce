//! Values with their intervals below each other, a row for each: differences of methods, cohorts, coverages. Names stand on the
//! left in a margin as wide as they need; long ones are cut in the middle, because data sets often differ at the end.

use crate::markup::Markup;
use crate::plot::{AxisScale, label, line, mark};

/// Letters of a name that are shown.
const LETTERS: usize = 26;
/// Width of the part with the values.
const INNER: f64 = 330.0;
const ROW: f64 = 26.0;

/// A row.
pub(crate) struct ForestRow {
    pub(crate) name: String,
    /// The class of its colour.
    pub(crate) colour: String,
    pub(crate) value: f64,
    pub(crate) ends: Option<(f64, f64)>,
    /// Where the value should be, if that is known.
    pub(crate) aim: Option<f64>,
    /// What hovering shows.
    pub(crate) title: String,
}

/// Rows on a common scale.
pub(crate) struct ForestPlot<'a> {
    pub(crate) rows: Vec<ForestRow>,
    /// A line through all rows.
    pub(crate) reference: Option<f64>,
    /// What the scale shows.
    pub(crate) axis: &'a str,
}

impl ForestPlot<'_> {
    fn margin(&self) -> f64 {
        margin(self.rows.iter().map(|row| row.name.as_str()))
    }

    /// Width and height of the drawing.
    pub(crate) fn size(&self) -> (f64, f64) {
        (self.margin() + INNER, 14.0 + ROW * self.rows.len() as f64 + 38.0)
    }

    pub(crate) fn draw(&self, svg: &mut Markup) {
        let ends = self.rows.iter().flat_map(|row| {
            let (low, high) = row.ends.unwrap_or((row.value, row.value));
            [row.value, low, high].into_iter().chain(row.aim)
        });
        let (low, high) = ends
            .chain(self.reference)
            .fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), v| (low.min(v), high.max(v)));
        let pad = 0.04 * (high - low);
        let (left, right) = (self.margin(), self.margin() + INNER);
        let x = AxisScale::new((low - pad, high + pad), (left, right - 14.0));
        let bottom = 10.0 + ROW * self.rows.len() as f64;
        for tick in x.ticks(6) {
            line(svg, "g", (x.at(tick), 6.0), (x.at(tick), bottom));
            label(svg, "t", "middle", (x.at(tick), bottom + 16.0), &x.label(tick));
        }
        label(svg, "t", "middle", ((left + right) / 2.0, bottom + 33.0), self.axis);
        if let Some(at) = self.reference {
            line(svg, "a", (x.at(at), 6.0), (x.at(at), bottom));
        }
        for (i, row) in self.rows.iter().enumerate() {
            let y = 10.0 + ROW * (i as f64 + 0.5);
            label(svg, "", "end", (left - 10.0, y + 4.0), &shortened(&row.name));
            if let Some(aim) = row.aim {
                line(svg, "a", (x.at(aim), y - 9.0), (x.at(aim), y + 9.0));
            }
            if let Some((low, high)) = row.ends {
                line(svg, &format!("i {}", row.colour), (x.at(low), y), (x.at(high), y));
            }
            mark(svg, &row.colour, (x.at(row.value), y), &row.title);
        }
    }
}

/// The width that names need on the left of a drawing: some seven and a half units for a letter.
pub(crate) fn margin<'n>(names: impl Iterator<Item = &'n str>) -> f64 {
    let longest = names.map(|name| name.chars().count().min(LETTERS)).max().unwrap_or(0);
    (18.0 + 7.6 * longest as f64).max(124.0)
}

/// A name that fits, cut in the middle.
pub(crate) fn shortened(name: &str) -> String {
    let letters: Vec<char> = name.chars().collect();
    if letters.len() <= LETTERS {
        return name.into();
    }
    let tail = LETTERS / 2;
    let head = LETTERS - tail - 1;
    let part = |letters: &[char]| letters.iter().collect::<String>();
    format!("{}\u{2026}{}", part(&letters[..head]), part(&letters[letters.len() - tail..]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_names_keep_both_ends() {
        assert_eq!(shortened("mi-kernel"), "mi-kernel");
        let short = shortened("synthetic:gauss?bags=60&seed=2");
        assert_eq!(short.chars().count(), LETTERS);
        assert!(short.starts_with("synthetic:") && short.ends_with("&seed=2"), "{short}");
    }

    #[test]
    fn names_have_room() {
        assert_eq!(margin(["a"].into_iter()), 124.0);
        let long = "a name that is much longer than anything that fits";
        assert_eq!(margin([long].into_iter()), margin([&long[..LETTERS]].into_iter()));
    }
}
