//! Figures of a paper on the page, drawn again: panels with lines and points over two axes, or with a map of values over the
//! plane. What was printed and what came out here share a panel.

use super::write::summaries;
use super::{FigurePanel, PanelMap, PanelSeries, PaperFigure, SeriesLook};
use crate::markup::{Markup, fixed, place};
use crate::plot::{AxisScale, Figure, axes, figure, label, line, mark, path, sampled_legend, titled};
use crate::png::{base64, palette, png};

/// Width and height of a panel, and where its axes stand.
const SIZE: (f64, f64) = (400.0, 330.0);
const ACROSS: (f64, f64) = (56.0, 386.0);
const UPWARDS: (f64, f64) = (286.0, 30.0);
/// The colour scale of a map: the top and the height of its strip, and how much room it takes below the panel.
const STRIP: (f64, f64) = (336.0, 12.0);
const STRIP_ROOM: f64 = 40.0;

impl PaperFigure {
    /// Draws every panel; `id` tells the figure from others on the page.
    pub(super) fn write(&self, page: &mut Markup, id: &str) {
        page.tag("section", &[("id", id)], |page| {
            page.leaf("h2", &[], &self.title);
            if !self.note.is_empty() {
                page.leaf("p", &[("class", "lead")], &self.note);
            }
            page.tag("div", &[("class", "figures")], |page| {
                for (i, panel) in self.panels.iter().enumerate() {
                    panel.draw(page, &format!("{id}-{i}"));
                }
            });
            summaries(page, "In numbers", &self.numbers);
        });
    }
}

impl FigurePanel {
    fn draw(&self, page: &mut Markup, id: &str) {
        let names: Vec<&str> = self.series.iter().map(|s| s.name.as_str()).collect();
        let shown = match &self.map {
            Some(map) => {
                format!(
                    "values from {} to {}, dark to light",
                    fixed(map.range().0, 3),
                    fixed(map.range().1, 3)
                )
            }
            None => names.join(", "),
        };
        let description = format!("{} against {}: {shown}.", self.axes.1, self.axes.0);
        let size = (SIZE.0, SIZE.1 + if self.map.is_some() { STRIP_ROOM } else { 0.0 });
        let about = Figure { id, title: &self.title, note: &self.note, description: &description, size };
        page.tag("div", &[], |page| {
            figure(page, about, |svg| self.inside(svg), None);
            if !self.series.is_empty() {
                let names = self.series.iter().enumerate();
                let items: Vec<_> =
                    names.map(|(i, s)| (self.colour(i), s.name.clone(), String::new())).collect();
                sampled_legend(page, &items, |svg, i| self.sample(svg, i));
            }
        });
    }

    fn inside(&self, svg: &mut Markup) {
        let (x, y) = (AxisScale::new(self.x, ACROSS), AxisScale::new(self.y, UPWARDS));
        if let Some(map) = &self.map {
            map.draw(svg);
            map.strip(svg);
        }
        axes(svg, &x, &y, (&self.axes.0, &self.axes.1));
        for (i, series) in self.series.iter().enumerate() {
            let colour = self.colour(i);
            let places = |piece: &Vec<(f64, f64)>| -> Vec<(f64, f64)> {
                piece.iter().map(|p| (x.at(p.0), y.at(p.1))).collect()
            };
            let points = || series.pieces.iter().flat_map(places);
            match series.look {
                SeriesLook::Line | SeriesLook::Dashed => {
                    let d: String = series.pieces.iter().map(|piece| path(&places(piece))).collect();
                    let class = line_class(series.look, &colour);
                    titled(svg, "path", &[("class", &class), ("d", &d)], &series.name);
                }
                SeriesLook::Marks => points().for_each(|p| mark(svg, &colour, p, &series.name)),
                SeriesLook::Dots => points().for_each(|p| dot(svg, &colour, p)),
            }
        }
    }

    /// A series in the legend, as it looks in the panel.
    fn sample(&self, svg: &mut Markup, at: usize) {
        let (colour, middle) = (self.colour(at), (7.0, 7.0));
        match self.series[at].look {
            look @ (SeriesLook::Line | SeriesLook::Dashed) => {
                line(svg, &line_class(look, &colour), (0.0, 7.0), (14.0, 7.0));
            }
            SeriesLook::Dots => dot(svg, &colour, middle),
            SeriesLook::Marks => mark(svg, &colour, middle, ""),
        }
    }

    /// Series differ in colour, in the order of the legend; what was printed has the colour of ours.
    fn colour(&self, at: usize) -> String {
        let own = |i: usize| self.series[i].printed_of(&self.series).is_none();
        let shown = self.series[at].printed_of(&self.series).unwrap_or(at);
        format!("m{}", (0..shown).filter(|&i| own(i)).count() % 8)
    }
}

impl PanelSeries {
    /// The series among others whose printed counterpart this is: `boundary` of `boundary, printed`.
    fn printed_of(&self, all: &[PanelSeries]) -> Option<usize> {
        let ours = self.name.strip_suffix(", printed")?;
        all.iter().position(|s| s.name == ours || s.name.strip_suffix(", ours") == Some(ours))
    }
}

/// The class of a line. Some colours are dashed elsewhere on the page; here dashes say what was printed.
fn line_class(look: SeriesLook, colour: &str) -> String {
    format!("c {} {colour}", if look == SeriesLook::Dashed { "dashed" } else { "solid" })
}

fn dot(svg: &mut Markup, colour: &str, (x, y): (f64, f64)) {
    let (cx, cy, class) = (place(x), place(y), format!("mark {colour}"));
    svg.void("circle", &[("class", &class), ("cx", &cx), ("cy", &cy), ("r", "2.4")]);
}

impl PanelMap {
    fn range(&self) -> (f64, f64) {
        let low = self.values.iter().copied().fold(f64::INFINITY, f64::min);
        (low, self.values.iter().copied().fold(f64::NEG_INFINITY, f64::max))
    }

    /// A pixel for each value, the first row at the bottom.
    fn draw(&self, svg: &mut Markup) {
        let (low, high) = self.range();
        let width = (high - low).max(f64::MIN_POSITIVE);
        let level = |v: &f64| ((v - low) / width * 255.0).round() as u8;
        let rows = self.values.chunks(self.columns.max(1)).rev();
        let levels: Vec<u8> = rows.flat_map(|row| row.iter().map(level)).collect();
        let (width, height) = (ACROSS.1 - ACROSS.0, UPWARDS.0 - UPWARDS.1);
        picture(svg, self.columns, &levels, (ACROSS.0, UPWARDS.1), (width, height));
    }

    /// Which colour is which value.
    fn strip(&self, svg: &mut Markup) {
        let levels: Vec<u8> = (0..=255).collect();
        let (top, height) = STRIP;
        picture(svg, levels.len(), &levels, (ACROSS.0, top), (ACROSS.1 - ACROSS.0, height));
        let (low, high) = self.range();
        for (share, anchor) in [(0.0, "start"), (0.5, "middle"), (1.0, "end")] {
            let at = ACROSS.0 + share * (ACROSS.1 - ACROSS.0);
            label(svg, "t", anchor, (at, top + height + 15.0), &fixed(low + share * (high - low), 3));
        }
    }
}

/// Levels as pixels, from a corner on, stretched to this size.
fn picture(svg: &mut Markup, columns: usize, levels: &[u8], (x, y): (f64, f64), (w, h): (f64, f64)) {
    let source = format!("data:image/png;base64,{}", base64(&png(columns, levels, &palette())));
    svg.void(
        "image",
        &[
            ("href", &source),
            ("x", &place(x)),
            ("y", &place(y)),
            ("width", &place(w)),
            ("height", &place(h)),
            ("style", "image-rendering:pixelated"),
            ("preserveAspectRatio", "none"),
        ],
    );
}

#[cfg(test)]
mod tests {
    use super::*;

    fn drawn(panel: FigurePanel) -> String {
        let figure = PaperFigure { title: "Figure 2".into(), panels: vec![panel], ..PaperFigure::default() };
        let mut page = Markup::default();
        figure.write(&mut page, "figure-0");
        page.into_string()
    }

    #[test]
    fn a_panel_has_a_path_for_each_series_and_a_legend() {
        let series =
            |name: &str, look, pieces: Vec<Vec<(f64, f64)>>| PanelSeries { name: name.into(), look, pieces };
        let line = vec![(0.0, 0.0), (1.0, 1.0)];
        let page = drawn(FigurePanel {
            title: "(a)".into(),
            axes: ("psi".into(), "probability".into()),
            x: (0.0, 1.0),
            y: (0.0, 1.0),
            series: vec![
                series("curve", SeriesLook::Line, vec![line.clone(), line.clone()]),
                series("curve, printed", SeriesLook::Dashed, vec![line.clone()]),
                series("chosen", SeriesLook::Marks, vec![line]),
            ],
            ..FigurePanel::default()
        });
        assert!(page.contains("class=\"c solid m0\" d=\"M56 286L386 30M56 286L386 30\""), "{page}");
        // A line in the drawing and one in the legend, and two marks and one; the printed line has the colour of ours.
        assert_eq!(page.matches("class=\"c dashed m0\"").count(), 2, "{page}");
        assert_eq!(page.matches("class=\"c solid m0\"").count(), 2, "{page}");
        assert_eq!(page.matches("mark m1").count(), 3, "{page}");
        assert!(page.contains("probability against psi: curve, curve, printed, chosen."));
    }

    #[test]
    fn a_map_becomes_a_picture_with_its_first_row_at_the_bottom() {
        let panel = |values: Vec<f64>| {
            let map = Some(PanelMap { columns: 2, values });
            drawn(FigurePanel { x: (-1.0, 1.0), y: (-1.0, 1.0), map, ..FigurePanel::default() })
        };
        let page = panel(vec![0.0, 0.0, 1.0, 1.0]);
        assert!(page.contains("data:image/png;base64,") && page.contains("0.000 to 1.000"), "{page}");
        assert_ne!(page, panel(vec![1.0, 1.0, 0.0, 0.0]));
        // The map and its colour scale, with the values at its ends and in its middle.
        assert_eq!(page.matches("<image ").count(), 2, "{page}");
        for value in [">0.000<", ">0.500<", ">1.000<"] {
            assert_eq!(page.matches(value).count(), 1, "{value}: {page}");
        }
    }
}
