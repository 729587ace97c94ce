//! The winner's kernel: how similar bags are, ordered by class. Classes that a kernel tells apart show as bright blocks on
//! the diagonal.

use crate::markup::{Markup, fixed, place};
use crate::plot::{Figure, figure, label, line};
use crate::png::{base64, palette, png};
use crate::view::View;

pub(crate) fn write(page: &mut Markup, view: &View<'_>) {
    let Some(gram) = view.run.context.gram.as_ref().filter(|g| !g.bags.is_empty()) else { return };
    let n = gram.bags.len();
    const SIDE: f64 = 360.0;
    const TOP: f64 = 26.0;
    const LEFT: f64 = 66.0;
    // Runs of one class.
    let mut runs: Vec<(String, usize, usize)> = Vec::new();
    if !view.classes().is_empty() {
        for (i, &bag) in gram.bags.iter().enumerate() {
            let name = view.truth(bag);
            match runs.last_mut().filter(|r| r.0 == name) {
                Some(run) => run.2 = i + 1,
                None => runs.push((name, i, i + 1)),
            }
        }
    }
    let of_all = if n < view.roster().bags.len() {
        format!(" {n} of {} bags.", view.roster().bags.len())
    } else {
        String::new()
    };
    let level = |a: usize, b: usize| f64::from(gram.levels[a * n + b]) / 255.0;
    let similarity = |v: f64| gram.range.0 + v * (gram.range.1 - gram.range.0);
    let mut blocks = Vec::new();
    for (i, a) in runs.iter().enumerate() {
        for b in &runs[i..] {
            let pairs: Vec<f64> = (a.1..a.2)
                .flat_map(|r| (b.1..b.2).filter(move |&c| c != r).map(move |c| (r, c)))
                .map(|(r, c)| level(r, c))
                .collect();
            if !pairs.is_empty() {
                let mean = similarity(pairs.iter().sum::<f64>() / pairs.len() as f64);
                blocks.push(format!("{} with {}: {}", a.0, b.0, fixed(mean, 3)));
            }
        }
    }
    let description = format!(
        "Similarity of {n} bags to each other, ordered by class. Mean similarity by class: {}.",
        blocks.join("; ")
    );
    let note = format!(
        "{}. Normalised kernel: bright means similar ({} to {}).{of_all} Computed on all bags with the parameters \
         chosen most often.",
        gram.of,
        fixed(gram.range.0, 2),
        fixed(gram.range.1, 2)
    );
    let picture = format!("data:image/png;base64,{}", base64(&png(n, &gram.levels, &palette())));
    let id = format!("{}-gram", view.id);
    let about = Figure {
        id: &id,
        title: "How similar bags are",
        note: &note,
        description: &description,
        size: (LEFT + SIDE + 6.0, TOP + SIDE + 8.0),
    };
    figure(
        page,
        about,
        |svg| {
            svg.void(
                "image",
                &[
                    ("href", &picture),
                    ("x", &place(LEFT)),
                    ("y", &place(TOP)),
                    ("width", &place(SIDE)),
                    ("height", &place(SIDE)),
                    ("style", "image-rendering:pixelated"),
                    ("preserveAspectRatio", "none"),
                ],
            );
            let at = |i: usize| SIDE * i as f64 / n as f64;
            for (k, (name, from, to)) in runs.iter().enumerate() {
                let middle = (at(*from) + at(*to)) / 2.0;
                if at(*to) - at(*from) > 12.0 {
                    let short: String = if name.chars().count() > 9 {
                        name.chars().take(8).chain(['…']).collect()
                    } else {
                        name.clone()
                    };
                    label(svg, "t", "end", (LEFT - 7.0, TOP + middle + 4.0), &short);
                    label(svg, "t", "middle", (LEFT + middle, TOP - 8.0), &short);
                }
                if k > 0 {
                    line(svg, "cut", (LEFT + at(*from), TOP), (LEFT + at(*from), TOP + SIDE));
                    line(svg, "cut", (LEFT, TOP + at(*from)), (LEFT + SIDE, TOP + at(*from)));
                }
            }
        },
        (!blocks.is_empty()).then_some(&|page: &mut Markup| {
            page.tag("ul", &[], |page| blocks.iter().for_each(|b| page.leaf("li", &[], b)));
        }),
    );
}
