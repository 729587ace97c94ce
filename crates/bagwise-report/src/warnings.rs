//! What a reader should know before trusting the numbers: suspicious data, parameters at the end of their grid, fits
//! that failed or did not converge, optimistic protocols.

use std::collections::BTreeMap;

use bagwise::judge::{FitStatus, MethodSummary, often_at_grid_end};
use bagwise::multiclass::Scheme;
use bagwise::{BASELINE, count};

use crate::markup::{Markup, listed};
use crate::view::View;

/// A warning.
pub(crate) struct Warning {
    /// Results may be wrong, not only better understood.
    severe: bool,
    message: String,
    remedy: String,
}

impl Warning {
    /// Results may be wrong.
    pub(crate) fn is_severe(&self) -> bool {
        self.severe
    }

    /// What is wrong.
    pub(crate) fn message(&self) -> &str {
        &self.message
    }
}

fn warning(severe: bool, message: String, remedy: &str) -> Warning {
    Warning { severe, message, remedy: remedy.into() }
}

/// All there are, severe ones first.
pub(crate) fn warnings(view: &View<'_>) -> Vec<Warning> {
    let mut all = Vec::new();
    protocol(view, &mut all);
    fits(view, &mut all);
    edges(view, &mut all);
    data(view, &mut all);
    all.sort_by_key(|w| !w.severe); // stable
    all
}

fn protocol(view: &View<'_>, all: &mut Vec<Warning>) {
    if view.run.optimistic() {
        all.push(warning(
            true,
            "Parameters were chosen on the reported folds (best-on-cv), so every value is optimistic.".into(),
            "Use the nested protocol for an unbiased estimate.",
        ));
    }
    let context = &view.run.context;
    if !context.command.is_empty() && context.finished.is_none() {
        let missing: Vec<&str> = (context.setups.keys().map(String::as_str))
            .filter(|name| view.verdict.table.iter().all(|line| line.method != **name))
            .collect();
        let without =
            if missing.is_empty() { String::new() } else { format!("; {} did not start", listed(&missing)) };
        all.push(warning(
            true,
            format!("The run is not finished: methods have different folds, and some have none{without}."),
            "Run the same command again to resume it.",
        ));
    }
    if context.model.as_ref().is_some_and(|m| m.saw_these_bags) {
        all.push(warning(
            true,
            "The model was trained on some of these bags, so every value is optimistic.".into(),
            "Evaluate it on bags that it has not seen.",
        ));
    }
    match &context.remarks[..] {
        [] => {}
        // They name groups.
        remarks if view.hide => {
            let message = format!(
                "{} about the model and these bags, not shown because names are hidden.",
                count(remarks.len(), "remark")
            );
            all.push(warning(true, message, ""));
        }
        remarks => all.extend(remarks.iter().map(|text| warning(true, sentence(text), ""))),
    }
    let methods = &view.verdict.saw_test_bags;
    if !methods.is_empty() {
        all.push(warning(
            true,
            format!(
                "{} used the features of test bags, without their labels (pool=all), so its values are optimistic \
                 for new bags.",
                listed(methods)
            ),
            "Use pool=train for an unbiased estimate.",
        ));
    }
    let skipped = &view.run.context.skipped;
    if !skipped.is_empty() {
        let message = format!("Skipped because of the time budget: {}.", listed(skipped));
        all.push(warning(false, message, "Increase the time budget to include them."));
    }
    let thinned = &view.run.context.thinned;
    if !thinned.is_empty() {
        let each: Vec<String> =
            thinned.iter().map(|(method, points, whole)| format!("{method} ({points} of {whole})")).collect();
        let message = format!("Fewer grid points, to save time: {}.", listed(&each));
        all.push(warning(false, message, "With more time, these methods may do better."));
    }
    positive(view, all);
    if view.roster().groups.is_none() {
        let remedy = match view.run.is_external() {
            true => {
                "If several bags come from the same patient, scaffold or source, name that column as the group. \
                 Otherwise, intervals are too short."
            }
            false => {
                "If several bags come from the same patient, scaffold or source, name that column as the group. \
                 Otherwise, related bags in training and test make every estimate optimistic."
            }
        };
        all.push(warning(false, "The bags have no groups.".into(), remedy));
    }
}

/// The class that methods look for instances of.
fn positive(view: &View<'_>, all: &mut Vec<Warning>) {
    let ([_, _], Some(positive)) = (view.classes(), view.roster().positive) else { return };
    let looks = |line: &&MethodSummary| {
        bagwise::methods::find(&line.method).is_ok_and(|m| m.info().scheme == Scheme::OneVsRest)
    };
    let methods: Vec<&str> =
        view.verdict.table.iter().filter(looks).map(|line| line.method.as_str()).collect();
    if !methods.is_empty() {
        let (class, other) = (&view.classes()[positive as usize], &view.classes()[1 - positive as usize]);
        let message =
            format!("The positive class is {class}. What {} learned may depend on it.", listed(&methods));
        let remedy = format!("If single instances make a bag {other}, name {other} as the positive class.");
        all.push(warning(false, message, &remedy));
    }
}

fn fits(view: &View<'_>, all: &mut Vec<Warning>) {
    let mut failed: BTreeMap<&str, (usize, &str)> = BTreeMap::new();
    let mut limited: BTreeMap<&str, usize> = BTreeMap::new();
    for line in &view.verdict.table {
        for record in view.records(&line.method) {
            match record.outcome.status {
                FitStatus::Failed => {
                    let why = record.outcome.message.as_deref().unwrap_or("no reason given");
                    failed.entry(&line.method).or_insert((0, why)).0 += 1;
                }
                FitStatus::IterationLimit | FitStatus::Cycle => {
                    *limited.entry(&line.method).or_default() += 1
                }
                FitStatus::Converged => {}
            }
        }
    }
    for (method, (n, why)) in failed {
        // The reason may quote the data.
        let why = if view.hide { String::new() } else { format!(" The first: {why}.") };
        let message =
            format!("{} of {method} failed, so it has no value in those repeats.{why}", count(n, "fit"));
        all.push(warning(true, message, "Fix the cause, or leave the method out."));
    }
    for (method, n) in limited {
        let fits = view.records(method).count();
        let message = format!("{n} of {fits} fits of {method} stopped before they converged.");
        let severe = method == view.winner() && 2 * n > fits;
        all.push(warning(
            severe,
            message,
            "Their predictions are used as they are. More steps, another scaling or a smaller c may help.",
        ));
    }
}

fn edges(view: &View<'_>, all: &mut Vec<Warning>) {
    let winner = view.winner();
    let (mut others, mut also) = (Vec::new(), "");
    let baseline = view.verdict.table.iter().find(|line| line.method == BASELINE);
    let tuned = view.verdict.table.iter().filter(|l| l.method != BASELINE && l.may_improve(baseline));
    for line in tuned {
        let often = often_at_grid_end(view.records(&line.method));
        let names: Vec<String> = often.iter().map(ToString::to_string).collect();
        if names.is_empty() {
            continue;
        }
        if line.method == winner {
            let who = if view.several_methods() { "The winner " } else { "" };
            let message = format!("{who}{winner} chose {} at the end of its grid.", listed(&names));
            all.push(warning(false, message, "Try a wider grid."));
            also = "Also ";
        } else {
            others.push(line.method.as_str());
        }
    }
    if !others.is_empty() {
        let often = if also.is_empty() { "Often" } else { "often" };
        let message = format!("{also}{often} at the end of a grid: {}.", listed(&others));
        all.push(warning(false, message, "A wider grid may improve them."));
    }
}

/// With a capital letter and a full stop.
fn sentence(text: &str) -> String {
    let mut chars = text.chars();
    let first = chars.next().map(|c| c.to_uppercase().to_string()).unwrap_or_default();
    format!("{first}{}{}", chars.as_str(), if text.ends_with(['.', '!', '?']) { "" } else { "." })
}

fn data(view: &View<'_>, all: &mut Vec<Warning>) {
    let Some(data) = &view.run.context.data else {
        imbalance(view, all);
        return;
    };
    for found in &data.findings {
        // Only these findings name bags; the others are about columns and counts.
        let hidden = view.hide && found.kind == "clashing_bags";
        let message =
            if hidden { "Some bags have the same instances but different labels" } else { &found.message };
        all.push(warning(found.warning, sentence(message), &sentence(&found.remedy)));
    }
    if view.hide && !data.warnings.is_empty() {
        let message = format!(
            "Reading the data gave {}, not shown because names are hidden.",
            count(data.warnings.len(), "remark")
        );
        all.push(warning(false, message, ""));
    } else {
        all.extend(data.warnings.iter().map(|w| warning(false, sentence(w), "")));
    }
}

/// If the data were not inspected, the class counts of the roster still show an imbalance.
fn imbalance(view: &View<'_>, all: &mut Vec<Warning>) {
    let mut counts = vec![0usize; view.classes().len()];
    for bag in 0..view.roster().bags.len() {
        if let Some(class) = view.class(bag) {
            counts[class as usize] += 1;
        }
    }
    if let Some(share) = bagwise::inspect::imbalanced_share(&counts) {
        let message = format!("{:.0}% of the bags are of one class.", 100.0 * share);
        all.push(warning(false, message, "Use balanced accuracy or AUC instead of accuracy."));
    }
}

/// The severe ones of several runs, which lie folded away below: each once, with the runs that it concerns.
pub(crate) fn severe_of_all(views: &[View<'_>]) -> Vec<Warning> {
    let mut all: Vec<(Warning, Vec<&str>)> = Vec::new();
    for view in views {
        for w in warnings(view).into_iter().filter(Warning::is_severe) {
            match all.iter_mut().find(|(known, _)| known.message == w.message) {
                Some((_, runs)) => runs.push(&view.verdict.data),
                None => all.push((w, vec![&view.verdict.data])),
            }
        }
    }
    let named = |(w, runs): (Warning, Vec<&str>)| match runs.len() == views.len() {
        true => w,
        false => Warning { message: format!("{}: {}", listed(&runs), w.message), ..w },
    };
    all.into_iter().map(named).collect()
}

/// Writes them.
pub(crate) fn write(page: &mut Markup, all: &[Warning]) {
    if all.is_empty() {
        return;
    }
    page.tag("ul", &[("class", "warnings")], |page| {
        for w in all {
            page.tag("li", &[("class", if w.severe { "severe" } else { "" })], |page| {
                page.leaf("strong", &[], if w.severe { "Warning" } else { "Note" });
                page.text(&format!(" {} ", w.message));
                if !w.remedy.is_empty() {
                    page.leaf("span", &[("class", "muted")], &w.remedy);
                }
            });
        }
    });
}
