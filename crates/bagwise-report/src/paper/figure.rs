//! Figures of a paper on the page, drawn again: panels with lines and points over two axes, or with a map of values over the
//! plane. What was printed and what came out here share a panel.

use super::write::summaries;
use super::{FigurePanel, PanelMap, PaperFigure, SeriesLook};
use crate::markup::{Markup, fixed, place};
use crate::plot::{AxisScale, Figure, axes, figure, legend, mark, path, titled};
use crate::png::{base64, palette, png};

/// Width and height of a panel, and where its axes stand.
const SIZE: (f64, f64) = (400.0, 330.0);
const ACROSS: (f64, f64) = (56.0, 386.0);
const UPWARDS: (f64, f64) = (286.0, 30.0);

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
        let about =
            Figure { id, title: &self.title, note: &self.note, description: &description, size: SIZE };
        page.tag("div", &[], |page| {
            figure(page, about, |svg| self.inside(svg), None);
            if !self.series.is_empty() {
                let names = self.series.iter().enumerate();
                let items: Vec<_> = names.map(|(i, s)| (colour(i), s.name.clone(), String::new())).collect();
                legend(page, &items);
            }
        });
    }

    fn inside(&self, svg: &mut Markup) {
        let (x, y) = (AxisScale::new(self.x, ACROSS), AxisScale::new(self.y, UPWARDS));
        if let Some(map) = &self.map {
            map.draw(svg);
        }
        axes(svg, &x, &y, (&self.axes.0, &self.axes.1));
        for (i, series) in self.series.iter().enumerate() {
            let colour = colour(i);
            let places = |piece: &Vec<(f64, f64)>| -> Vec<(f64, f64)> {
                piece.iter().map(|p| (x.at(p.0), y.at(p.1))).collect()
            };
            let points = || series.pieces.iter().flat_map(places);
            match series.look {
                SeriesLook::Line | SeriesLook::Dashed => {
                    let dashed = if series.look == SeriesLook::Dashed { "dashed " } else { "" };
                    let d: String = series.pieces.iter().map(|piece| path(&places(piece))).collect();
                    let class = format!("c {dashed}{colour}");
                    titled(svg, "path", &[("class", &class), ("d", &d)], &series.name);
                }
                SeriesLook::Marks => points().for_each(|p| mark(svg, &colour, p, &series.name)),
                SeriesLook::Dots => points().for_each(|p| {
                    let (cx, cy, class) = (place(p.0), place(p.1), format!("mark {colour}"));
                    svg.void("circle", &[("class", &class), ("cx", &cx), ("cy", &cy), ("r", "2.4")]);
                }),
            }
        }
    }
}

/// Series differ in colour, in the order of the legend.
fn colour(at: usize) -> String {
    format!("m{}", at % 8)
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
        let picture = format!("data:image/png;base64,{}", base64(&png(self.columns, &levels, &palette())));
        let (left, top) = (place(ACROSS.0), place(UPWARDS.1));
        let (width, height) = (place(ACROSS.1 - ACROSS.0), place(UPWARDS.0 - UPWARDS.1));
        svg.void(
            "image",
            &[
                ("href", &picture),
                ("x", &left),
                ("y", &top),
                ("width", &width),
                ("height", &height),
                ("style", "image-rendering:pixelated"),
                ("preserveAspectRatio", "none"),
            ],
        );
    }
}

#[cfg(test)]
mod tests {
    use super::super::PanelSeries;
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
                series("ours", SeriesLook::Line, vec![line.clone(), line.clone()]),
                series("printed", SeriesLook::Dashed, vec![line.clone()]),
                series("chosen", SeriesLook::Marks, vec![line]),
            ],
            ..FigurePanel::default()
        });
        assert!(page.contains("class=\"c m0\" d=\"M56 286L386 30M56 286L386 30\""), "{page}");
        assert_eq!(page.matches("class=\"c dashed m1\"").count(), 1);
        // Two in the drawing, one in the legend.
        assert_eq!(page.matches("mark m2").count(), 3);
        assert!(page.contains("probability against psi: ours, printed, chosen."));
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
    }
}
