//! What figures share: scales, ticks, axes, marks, and the frame that gives every figure a title, a description for
//! those who do not see it, and where that helps the numbers as a table. Colours are classes, so that the style sheet
//! decides them for light, dark and paper; methods differ in shape as well as colour.

use crate::markup::{Markup, place};

/// From values to places.
#[derive(Clone, Copy, Debug)]
pub(crate) struct AxisScale {
    from: (f64, f64),
    to: (f64, f64),
    log: bool,
}

impl AxisScale {
    /// Values from `low` to `high` on `start` to `end`.
    pub(crate) fn new((low, high): (f64, f64), to: (f64, f64)) -> AxisScale {
        // A range of nothing is widened, so that its value stands in the middle.
        let from = if high > low { (low, high) } else { (low - 0.5, low + 0.5) };
        AxisScale { from, to, log: false }
    }

    /// The same by powers; values are above 0.
    pub(crate) fn log((low, high): (f64, f64), to: (f64, f64)) -> AxisScale {
        let from = if high > low { (low, high) } else { (low / 2.0, low * 2.0) };
        AxisScale { from, to, log: true }
    }

    /// The place of a value; values outside stand at the end.
    pub(crate) fn at(&self, value: f64) -> f64 {
        let f = |v: f64| if self.log { v.max(f64::MIN_POSITIVE).ln() } else { v };
        let share = (f(value) - f(self.from.0)) / (f(self.from.1) - f(self.from.0));
        self.to.0 + share.clamp(0.0, 1.0) * (self.to.1 - self.to.0)
    }

    /// Round values along the scale, about this many.
    pub(crate) fn ticks(&self, about: usize) -> Vec<f64> {
        let (low, high) = self.from;
        if self.log {
            let decades = low.log10().floor() as i32..=high.log10().ceil() as i32;
            let wide = decades.clone().count() > 4;
            let steps: &[f64] = if wide { &[1.0] } else { &[1.0, 3.0] };
            return decades
                .flat_map(|d| steps.iter().map(move |s| s * 10f64.powi(d)))
                .filter(|v| (low..=high).contains(v))
                .collect();
        }
        let rough = (high - low) / about.max(1) as f64;
        let power = 10f64.powf(rough.log10().floor());
        let step = [1.0, 2.0, 5.0, 10.0].map(|s| s * power).into_iter().find(|s| *s >= rough * 0.999);
        let step = step.unwrap_or(10.0 * power);
        let first = (low / step - 1e-9).ceil() as i64;
        let last = (high / step + 1e-9).floor() as i64;
        (first..=last).map(|i| i as f64 * step).collect()
    }

    /// A tick as text.
    pub(crate) fn label(&self, value: f64) -> String {
        if self.log {
            return crate::markup::duration(value)
                .replace(".0 ", " ")
                .replace(".00 ", " ")
                .replace(".10 ", ".1 ")
                .replace(".30 ", ".3 ");
        }
        let text = format!("{:.4}", value);
        let text = text.trim_end_matches('0').trim_end_matches('.');
        if text == "-0" { "0".into() } else { text.replace('-', "\u{2212}") }
    }
}

/// What a figure is.
pub(crate) struct Figure<'a> {
    /// The id of its drawing.
    pub(crate) id: &'a str,
    /// Its heading.
    pub(crate) title: &'a str,
    /// What to see in it, for all.
    pub(crate) note: &'a str,
    /// What is in it, for those who do not see it.
    pub(crate) description: &'a str,
    /// Width and height of the drawing.
    pub(crate) size: (f64, f64),
}

/// Writes a figure; `numbers` writes what stands behind "Numbers", if anything.
pub(crate) fn figure(
    page: &mut Markup,
    about: Figure<'_>,
    draw: impl FnOnce(&mut Markup),
    numbers: Option<&dyn Fn(&mut Markup)>,
) {
    page.tag("figure", &[("id", about.id)], |page| {
        page.tag("figcaption", &[], |page| {
            page.leaf("h3", &[], about.title);
            if !about.note.is_empty() {
                page.leaf("p", &[], about.note);
            }
        });
        drawing(page, about.id, about.title, about.description, about.size, draw);
        if let Some(numbers) = numbers {
            page.tag("details", &[("class", "numbers")], |page| {
                page.leaf("summary", &[], "Numbers");
                numbers(page);
            });
        }
    });
}

/// A drawing with its text alternative.
pub(crate) fn drawing(
    page: &mut Markup,
    id: &str,
    title: &str,
    description: &str,
    (width, height): (f64, f64),
    draw: impl FnOnce(&mut Markup),
) {
    let (t, d) = (format!("{id}-t"), format!("{id}-d"));
    let labelled = format!("{t} {d}");
    let view = format!("0 0 {} {}", place(width), place(height));
    // As wide as drawn where there is room, narrower where there is not.
    let style = format!("max-width:{}px", place(width));
    page.tag(
        "svg",
        &[("role", "img"), ("aria-labelledby", &labelled), ("viewBox", &view), ("style", &style)],
        |svg| {
            svg.leaf("title", &[("id", &t)], title);
            svg.leaf("desc", &[("id", &d)], description);
            draw(svg);
        },
    );
}

/// A straight line.
pub(crate) fn line(svg: &mut Markup, class: &str, from: (f64, f64), to: (f64, f64)) {
    let d = format!("M{} {}L{} {}", place(from.0), place(from.1), place(to.0), place(to.1));
    svg.void("path", &[("class", class), ("d", &d)]);
}

/// Text; `anchor` is start, middle or end.
pub(crate) fn label(svg: &mut Markup, class: &str, anchor: &str, (x, y): (f64, f64), text: &str) {
    let (x, y) = (place(x), place(y));
    let mut attributes = vec![("x", x.as_str()), ("y", y.as_str())];
    if !class.is_empty() {
        attributes.push(("class", class));
    }
    if anchor != "start" {
        attributes.push(("text-anchor", anchor));
    }
    svg.leaf("text", &attributes, text);
}

/// A rectangle.
pub(crate) fn rect(svg: &mut Markup, class: &str, (x, y): (f64, f64), (w, h): (f64, f64)) {
    svg.void(
        "rect",
        &[("class", class), ("x", &place(x)), ("y", &place(y)), ("width", &place(w)), ("height", &place(h))],
    );
}

/// A path through points.
pub(crate) fn path(points: &[(f64, f64)]) -> String {
    let mut d = String::new();
    let mut last: Option<(String, String)> = None;
    for &(x, y) in points {
        let (x, y) = (place(x), place(y));
        match &last {
            None => d += &format!("M{x} {y}"),
            Some((a, b)) if *a == x && *b == y => continue,
            Some((_, b)) if *b == y => d += &format!("H{x}"),
            Some((a, _)) if *a == x => d += &format!("V{y}"),
            Some(_) => d += &format!("L{x} {y}"),
        }
        last = Some((x, y));
    }
    d
}

/// A mark of a method: its shape goes with its colour.
pub(crate) fn mark(svg: &mut Markup, colour: &str, (x, y): (f64, f64), title: &str) {
    let at = colour[1..].parse::<usize>().unwrap_or(3);
    // The second round of colours is hollow.
    let class = if at >= 8 { format!("mark hollow {colour}") } else { format!("mark {colour}") };
    let p = |dx: f64, dy: f64| format!("{} {}", place(x + dx), place(y + dy));
    let d = match at % 5 {
        1 => format!("M{}L{}L{}L{}Z", p(-4.2, -4.2), p(4.2, -4.2), p(4.2, 4.2), p(-4.2, 4.2)),
        2 => format!("M{}L{}L{}Z", p(0.0, -5.4), p(5.2, 4.0), p(-5.2, 4.0)),
        3 => format!("M{}L{}L{}L{}Z", p(0.0, -5.8), p(5.8, 0.0), p(0.0, 5.8), p(-5.8, 0.0)),
        4 => format!("M{}L{}L{}Z", p(0.0, 5.4), p(5.2, -4.0), p(-5.2, -4.0)),
        _ => {
            let attributes = [("class", class.as_str()), ("cx", &place(x)), ("cy", &place(y)), ("r", "4.6")];
            return titled(svg, "circle", &attributes, title);
        }
    };
    titled(svg, "path", &[("class", &class), ("d", &d)], title);
}

/// A shape with a text that appears on hovering.
pub(crate) fn titled(svg: &mut Markup, name: &str, attributes: &[(&str, &str)], title: &str) {
    if title.is_empty() {
        svg.void(name, attributes);
    } else {
        svg.tag(name, attributes, |svg| svg.leaf("title", &[], title));
    }
}

/// The frame of a plot with two scales, its grid and the names of its axes.
pub(crate) fn axes(svg: &mut Markup, x: &AxisScale, y: &AxisScale, names: (&str, &str)) {
    let (left, right) = x.to;
    let (bottom, top) = y.to;
    for tick in x.ticks(5) {
        let at = x.at(tick);
        line(svg, "g", (at, bottom), (at, top));
        label(svg, "t", "middle", (at, bottom + 16.0), &x.label(tick));
    }
    for tick in y.ticks(5) {
        let at = y.at(tick);
        line(svg, "g", (left, at), (right, at));
        label(svg, "t", "end", (left - 7.0, at + 4.0), &y.label(tick));
    }
    line(svg, "a", (left, bottom), (right, bottom));
    line(svg, "a", (left, bottom), (left, top));
    label(svg, "t", "middle", ((left + right) / 2.0, bottom + 33.0), names.0);
    label(svg, "t", "start", (4.0, top - 10.0), names.1);
}

/// A legend in HTML, so that it wraps: a mark and a name for each method, with what `note` says of it.
pub(crate) fn legend(page: &mut Markup, items: &[(String, String, String)]) {
    sampled_legend(page, items, |svg, i| mark(svg, &items[i].0, (7.0, 7.0), ""));
}

/// The same with other samples than marks: `sample` draws that of an item into a square of 14.
pub(crate) fn sampled_legend(
    page: &mut Markup,
    items: &[(String, String, String)],
    sample: impl Fn(&mut Markup, usize),
) {
    page.tag("ul", &[("class", "legend")], |page| {
        for (i, (colour, name, note)) in items.iter().enumerate() {
            page.tag("li", &[("data-m", colour)], |page| {
                page.tag(
                    "svg",
                    &[("viewBox", "0 0 14 14"), ("class", "key"), ("aria-hidden", "true")],
                    |svg| sample(svg, i),
                );
                page.text(&format!("{name} "));
                if !note.is_empty() {
                    page.leaf("span", &[("class", "muted")], note);
                }
            });
        }
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_are_round_and_inside() {
        assert_eq!(
            AxisScale::new((0.0, 1.0), (0.0, 100.0)).ticks(5),
            [0.0, 0.2, 0.4, 0.6000000000000001, 0.8, 1.0]
        );
        assert_eq!(AxisScale::new((0.83, 0.97), (0.0, 100.0)).ticks(3).len(), 3);
        assert_eq!(AxisScale::log((0.02, 40.0), (0.0, 1.0)).ticks(5), [0.1, 1.0, 10.0]);
        assert_eq!(AxisScale::log((0.5, 5.0), (0.0, 1.0)).ticks(5), [1.0, 3.0]);
        let same = AxisScale::new((0.5, 0.5), (0.0, 10.0));
        assert_eq!(same.at(0.5), 5.0);
        assert_eq!(same.at(9.0), 10.0);
    }

    #[test]
    fn paths_are_short() {
        assert_eq!(path(&[(0.0, 0.0), (0.0, 5.0), (5.0, 5.0), (5.01, 5.0), (9.0, 1.0)]), "M0 0V5H5L9 1");
    }
}
