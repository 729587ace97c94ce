//! The figures of one data set, each a function of the view, and each silent where it has nothing to show.

mod convergence;
mod curves;
mod gram;
mod instances;
mod learning;
mod parameters;
mod spread;
mod time;
mod values;

pub(crate) use parameters::word;

use crate::markup::Markup;
use crate::view::View;

/// All figures about how good methods are.
pub(crate) fn quality(page: &mut Markup, view: &View<'_>) {
    page.tag("div", &[("class", "figures")], |page| {
        learning::write(page, view);
        spread::write(page, view);
        time::write(page, view);
        values::write(page, view);
    });
    page.tag("div", &[("class", "figures three")], |page| {
        curves::roc(page, view);
        curves::precision_recall(page, view);
        curves::reliability(page, view);
    });
}

/// All figures about how methods came to their answers.
pub(crate) fn reasons(page: &mut Markup, view: &View<'_>) {
    parameters::write(page, view);
    convergence::write(page, view);
    instances::write(page, view);
    gram::write(page, view);
}
