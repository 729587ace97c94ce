//! Real targets: the winner's answers against the truth.

use bagwise::judge::Truth;

use crate::markup::{Markup, fixed, maybe};
use crate::plot::{AxisScale, Figure, axes, figure, line};
use crate::view::View;

pub(crate) fn write(page: &mut Markup, view: &View<'_>) {
    let Truth::Values(truth) = &view.roster().truth else { return };
    let points: Vec<(f64, f64)> =
        view.answers[0].iter().filter_map(|a| Some((truth[a.bag], a.score?))).collect();
    if points.is_empty() {
        return;
    }
    let all = points.iter().flat_map(|p| [p.0, p.1]);
    let (low, high) = all.fold((f64::INFINITY, f64::NEG_INFINITY), |t, v| (t.0.min(v), t.1.max(v)));
    let pad = 0.03 * (high - low);
    let x = AxisScale::new((low - pad, high + pad), (52.0, 388.0));
    let y = AxisScale::new((low - pad, high + pad), (342.0, 30.0));
    let r2 = view.verdict.best().metrics.iter().find(|m| m.metric.name() == "r2").and_then(|m| m.mean);
    let id = format!("{}-values", view.id);
    let description = format!(
        "Predictions of {} against actual values of {} bags between {} and {}; R2 {}.",
        view.winner(),
        points.len(),
        fixed(low, 3),
        fixed(high, 3),
        maybe(r2, 3)
    );
    let about = Figure {
        id: &id,
        title: &format!("Predictions of {} against actual values", view.winner()),
        note: "On the dashed line, they are equal.",
        description: &description,
        size: (400.0, 384.0),
    };
    figure(
        page,
        about,
        |svg| {
            axes(svg, &x, &y, ("actual", "predicted"));
            line(svg, "d", (x.at(low), y.at(low)), (x.at(high), y.at(high)));
            let d: String = points
                .iter()
                .map(|p| {
                    format!("M{} {}h0", crate::markup::place(x.at(p.0)), crate::markup::place(y.at(p.1)))
                })
                .collect();
            svg.void("path", &[("class", &format!("dots big {}", view.colour(view.winner()))), ("d", &d)]);
        },
        None,
    );
}
