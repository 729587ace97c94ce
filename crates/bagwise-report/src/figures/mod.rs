//! The figures of one data set, each a function of the view, and each silent where it has nothing to show.

mod convergence;
mod coverage;
mod curves;
mod differences;
mod gram;
mod instances;
mod learning;
mod parameters;
mod spread;
mod time;
mod values;

pub(crate) use coverage::percent;
pub(crate) use parameters::word;

use crate::markup::Markup;
use crate::view::View;

/// The learning curves of all runs that have some, each below the name of its data set.
pub(crate) fn learning_curves(page: &mut Markup, views: &[View<'_>]) {
    let drawn: Vec<&View<'_>> = views.iter().filter(|v| learning::is_in(v)).collect();
    if drawn.is_empty() {
        return;
    }
    page.tag("section", &[("id", "curves")], |page| {
        page.leaf("h2", &[], "Learning curves");
        page.tag("div", &[("class", "figures")], |page| {
            for view in drawn {
                page.tag("div", &[], |page| {
                    page.leaf("h3", &[("class", "part")], &view.verdict.data);
                    learning::write(page, view, &format!("{}-curve", view.id));
                });
            }
        });
    });
}

/// All figures about how good methods are.
pub(crate) fn quality(page: &mut Markup, view: &View<'_>) {
    page.tag("div", &[("class", "figures")], |page| {
        learning::write(page, view, &format!("{}-learning", view.id));
        differences::write(page, view);
        spread::write(page, view);
        time::write(page, view);
        values::write(page, view);
    });
    page.tag("div", &[("class", "figures three")], |page| {
        curves::roc(page, view);
        curves::precision_recall(page, view);
        curves::reliability(page, view);
    });
    coverage::write(page, view);
}

/// All figures about how methods came to their answers.
pub(crate) fn reasons(page: &mut Markup, view: &View<'_>) {
    parameters::write(page, view);
    convergence::write(page, view);
    instances::write(page, view);
    gram::write(page, view);
}
