//! Average ranks on an axis with a bar around the control's rank, to either side as long as Bonferroni and Dunn's critical
//! difference: methods whose rank lies under the bar are not told from the control.

use super::RankAxis;
use crate::markup::{Markup, fixed};
use crate::plot::{Figure, figure, label, line};

/// Draws the axis; `id` tells it from others on the page.
pub(super) fn draw(page: &mut Markup, axis: &RankAxis, id: &str) {
    let mut ranks: Vec<&(String, f64)> = axis.ranks.iter().collect();
    ranks.sort_by(|a, b| a.1.total_cmp(&b.1));
    let k = ranks.len();
    // Names need some seven units for a letter, with the rank behind them.
    let longest = ranks.iter().map(|(name, _)| name.chars().count()).max().unwrap_or(0);
    let left = 30.0 + 7.2 * (longest + 5) as f64;
    let right = left + 420.0;
    let x = |rank: f64| left + (rank - 1.0) / (k.max(2) as f64 - 1.0) * (right - left);
    let half = k.div_ceil(2);
    let (top, first_row) = (40.0, 66.0);
    let size = (right + left, first_row + 20.0 * half as f64 + 4.0);
    let text = |(name, rank): &(String, f64)| format!("{name} {}", fixed(*rank, 2));
    let description = ranks.iter().map(|r| text(r)).collect::<Vec<_>>().join(", ");
    let note = format!(
        "Average ranks; 1 is best. The bar extends {} ranks to either side of {}. Methods under it do not differ significantly \
         from that method (Bonferroni-Dunn, level {}).",
        fixed(axis.length, 3),
        axis.control,
        fixed(axis.level, 2)
    );
    let about = Figure { id, title: &axis.title, note: &note, description: &description, size };
    figure(
        page,
        about,
        |svg| {
            line(svg, "a", (x(1.0), top), (x(k.max(2) as f64), top));
            for tick in 2..=2 * k.max(2) {
                let at = x(tick as f64 / 2.0);
                let height = if tick % 2 == 0 { 6.0 } else { 3.0 };
                line(svg, "a", (at, top), (at, top - height));
                if tick % 2 == 0 {
                    label(svg, "t", "middle", (at, top - 10.0), &(tick / 2).to_string());
                }
            }
            if let Some((_, from)) = ranks.iter().find(|(name, _)| *name == axis.control) {
                let (low, high) = ((from - axis.length).max(1.0), (from + axis.length).min(k as f64));
                line(svg, "bar-line", (x(low), top + 8.0), (x(high), top + 8.0));
            }
            for (i, entry) in ranks.iter().enumerate() {
                let best = i < half;
                let row = if best { i } else { k - 1 - i };
                let y = first_row + 20.0 * row as f64;
                let end = if best { left - 8.0 } else { right + 8.0 };
                line(svg, "a", (x(entry.1), top), (x(entry.1), y));
                line(svg, "a", (x(entry.1), y), (end, y));
                let (anchor, place) = if best { ("end", end - 5.0) } else { ("start", end + 5.0) };
                label(svg, "", anchor, (place, y + 4.0), &text(entry));
            }
        },
        None,
    );
}
