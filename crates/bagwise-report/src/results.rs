//! The first screen below the verdict: the table of methods, the winner's confusion at its threshold, and the bags it
//! gets wrong.

use std::collections::BTreeMap;

use bagwise::count;
use bagwise::judge::{Difference, MethodSummary, Metric, Standing, Truth};

use crate::markup::{Markup, duration, fixed, place};
use crate::plot::AxisScale;
use crate::table::{TableCell, TableOptions, numbers, table, words};
use crate::view::View;

/// Digits of a metric: errors of real values have any size.
pub(crate) fn digits(metric: Metric) -> usize {
    if matches!(metric, Metric::Rmse | Metric::Mse | Metric::Mae) { 4 } else { 3 }
}

/// A metric's name at the beginning of a title.
pub(crate) fn capital(metric: Metric) -> String {
    let mut rest = heading(metric).chars();
    rest.next().map_or(String::new(), |c| c.to_uppercase().chain(rest).collect())
}

/// A metric's name as a heading.
pub(crate) fn heading(metric: Metric) -> &'static str {
    match metric {
        Metric::PrAuc => "PR AUC",
        Metric::BalancedAccuracy => "balanced acc.",
        other => other.info().title,
    }
}

/// The table of methods.
pub(crate) fn methods(page: &mut Markup, view: &View<'_>) {
    let v = &view.verdict;
    let first = v.metric;
    let shown: Vec<usize> = v
        .best()
        .metrics
        .iter()
        .enumerate()
        .skip(1)
        .filter(|(_, m)| m.metric.is_default())
        .map(|(i, _)| i)
        .collect();
    let mut columns = vec![
        words("method"),
        numbers(heading(first)).hint(first.info().formula),
        words(&format!("{:.0}% interval", 100.0 * v.level)),
    ];
    let with_constant = v.against_constant.iter().any(Option::is_some);
    if view.several_methods() {
        let hint = format!(
            "sign-flip test over {}, adjusted for the number of methods",
            count(v.units, if v.grouped { "group" } else { "bag" })
        );
        columns.push(words("against best").hint(&hint));
        let hint = "value minus that of the best, with its interval and adjusted p-value";
        columns.push(words("difference from best").hint(hint));
        if with_constant {
            columns.push(words("against constant").hint("the same against the best constant prediction"));
        }
    }
    for &i in &shown {
        let metric = v.best().metrics[i].metric;
        columns.push(numbers(heading(metric)).hint(metric.info().formula));
    }
    columns.push(numbers("time").hint("of all fits, including the choice of parameters"));
    let ends = v
        .table
        .iter()
        .filter_map(|l| l.metrics[0].interval.map(|i| (i.low, i.high)).or(l.metrics[0].mean.map(|m| (m, m))));
    let (low, high) = ends.fold((f64::INFINITY, f64::NEG_INFINITY), |a, b| (a.0.min(b.0), a.1.max(b.1)));
    let scale = AxisScale::new((low, high), (5.0, 125.0));
    let rows = v.table.iter().enumerate().map(|(i, line)| {
        let standing = v.standing[i];
        let colour = view.colour(&line.method);
        let best = standing == Standing::Best && view.several_methods();
        let mut cells = vec![
            TableCell::of(|m| {
                m.tag("span", &[("class", "who"), ("data-m", &colour)], |m| {
                    m.tag(
                        "svg",
                        &[("viewBox", "0 0 14 14"), ("class", "key"), ("aria-hidden", "true")],
                        |svg| {
                            crate::plot::mark(svg, &colour, (7.0, 7.0), "");
                        },
                    );
                    m.text(&line.method);
                });
            }),
            TableCell::number(line.metrics[0].mean, digits(first)).class("main"),
            interval(line, &scale, &colour, digits(first)),
        ];
        if view.several_methods() {
            cells.push(TableCell::of(|m| pill(m, standing)));
            cells.push(difference(v.against_best[i].as_ref(), digits(first)));
            if with_constant {
                cells.push(against_constant(v.against_constant[i].as_ref(), digits(first)));
            }
        }
        cells.extend(
            shown.iter().map(|&i| TableCell::number(line.metrics[i].mean, digits(line.metrics[i].metric))),
        );
        cells.push(match line.seconds {
            Some(seconds) => TableCell::shown(seconds, &duration(seconds)),
            None => TableCell::number(None, 0),
        });
        (if best { "best".to_string() } else { String::new() }, cells)
    });
    let caption = match view.several_methods() {
        true => format!("Methods on {}, best first by {}", v.data, heading(first)),
        false => format!("{} on {}, evaluated by {}", view.winner(), v.data, heading(first)),
    };
    let look =
        TableOptions { caption: &caption, sortable: true, class: "results", ..TableOptions::default() };
    table(page, look, &columns, rows.collect());
    all_metrics(page, view);
}

/// How a method stands, in the colour of good news or bad; what is not clear has none.
fn pill(page: &mut Markup, standing: Standing) {
    let class = match standing {
        Standing::Best | Standing::ClearlyBetter => "pill good",
        Standing::ClearlyWorse => "pill bad",
        _ => "pill",
    };
    page.leaf("span", &[("class", class)], standing.as_str());
}

/// A difference, its interval and its p.
fn difference(found: Option<&Difference>, digits: usize) -> TableCell {
    let Some((found, value)) = found.and_then(|d| Some((d, d.value?))) else {
        return TableCell::text("\u{2013}").sorted(0.0);
    };
    TableCell::of(|page| difference_lines(page, found, value, digits)).sorted(value)
}

/// The difference, and in a line of its own how sure it is.
fn difference_lines(page: &mut Markup, found: &Difference, value: f64, digits: usize) {
    page.text(&fixed(value, digits));
    if let Some(i) = found.interval {
        let ends = format!(" ({} to {})", fixed(i.low, digits), fixed(i.high, digits));
        page.leaf("span", &[("class", "ends")], &ends);
    }
    if let Some(p) = found.p {
        page.leaf("span", &[("class", "ends")], &format!(" p {}", fixed(p, 4)));
    }
}

/// The same behind what it means.
fn against_constant(found: Option<&Difference>, digits: usize) -> TableCell {
    let Some((found, value)) = found.and_then(|d| Some((d, d.value?))) else {
        return TableCell::text("\u{2013}").sorted(0.0);
    };
    let draw = |page: &mut Markup| {
        pill(page, found.standing);
        page.text(" ");
        difference_lines(page, found, value, digits);
    };
    TableCell::of(draw).sorted(value)
}

/// The interval as a line and as numbers.
fn interval(line: &MethodSummary, scale: &AxisScale, colour: &str, digits: usize) -> TableCell {
    let m = &line.metrics[0];
    let Some(mean) = m.mean else { return TableCell::text("\u{2013}").sorted(-1e9) };
    let (low, high) = m.interval.map_or((None, None), |i| (Some(i.low), Some(i.high)));
    TableCell::of(|page| {
        page.tag("svg", &[("viewBox", "0 0 130 14"), ("class", "inline"), ("aria-hidden", "true")], |svg| {
            if let (Some(low), Some(high)) = (low, high) {
                let d = format!("M{} 7H{}", place(scale.at(low)), place(scale.at(high)));
                svg.void("path", &[("class", &format!("i {colour}")), ("d", &d)]);
            }
            crate::plot::mark(svg, colour, (scale.at(mean), 7.0), "");
        });
        let text = match (low, high) {
            (Some(low), Some(high)) => format!("{} to {}", fixed(low, digits), fixed(high, digits)),
            _ => "none".into(),
        };
        page.leaf("span", &[("class", "ends")], &text);
    })
    .sorted(low.unwrap_or(mean))
}

/// Every metric of every method, behind a line: with intervals where there is one data set, else the means.
fn all_metrics(page: &mut Markup, view: &View<'_>) {
    let v = &view.verdict;
    let caption = format!("All metrics on {}", v.data);
    let look = TableOptions { caption: &caption, sortable: true, ..TableOptions::default() };
    page.tag("details", &[], |page| {
        if !view.alone {
            page.leaf("summary", &[], "All metrics");
            let mut columns = vec![words("method")];
            columns.extend(v.best().metrics.iter().map(|m| numbers(heading(m.metric))));
            let rows = v.table.iter().map(|line| {
                let means = line.metrics.iter().map(|m| TableCell::number(m.mean, digits(m.metric)));
                (String::new(), std::iter::once(TableCell::text(&line.method)).chain(means).collect())
            });
            return table(page, TableOptions { class: "many", ..look }, &columns, rows.collect());
        }
        page.leaf("summary", &[], "All metrics, with intervals and spread over repeats");
        let mut columns =
            vec![words("method"), words("metric"), numbers("mean"), numbers("low"), numbers("high")];
        let several = view.repeats() > 1;
        if several {
            columns.push(numbers("sd").hint("standard deviation over repeats"));
        }
        let mut rows = Vec::new();
        for line in &v.table {
            for m in &line.metrics {
                let mut cells = vec![TableCell::text(&line.method), TableCell::text(m.metric.info().title)];
                let ends = m.interval.map_or((None, None), |i| (Some(i.low), Some(i.high)));
                cells.extend([m.mean, ends.0, ends.1].map(|v| TableCell::number(v, 4)));
                if several {
                    cells.push(TableCell::number(m.sd, 4));
                }
                rows.push((String::new(), cells));
            }
        }
        table(page, look, &columns, rows);
    });
}

/// The winner's answers against the truth.
pub(crate) fn confusion(page: &mut Markup, view: &View<'_>) {
    let names = view.classes();
    // Beyond this many classes a table of all pairs is no longer looked at.
    if names.is_empty() || names.len() > 20 || view.answers[0].is_empty() {
        return;
    }
    let mut counts = vec![vec![0u64; names.len()]; names.len()];
    for a in &view.answers[0] {
        if let (Some(truth), Some(label)) = (view.class(a.bag), a.label) {
            counts[truth as usize][label as usize] += 1;
        }
    }
    page.tag("section", &[("class", "confusion")], |page| {
        page.leaf("h3", &[], &format!("What {} confuses", view.winner()));
        page.leaf("p", &[], &in_words(view, &counts));
        let mut columns = vec![words("actual")];
        columns.extend(names.iter().map(|n| numbers(&format!("predicted {n}"))));
        columns.push(numbers(if view.answers_per_bag(0) > 1.0 { "predictions" } else { "bags" }));
        let rows = counts.iter().enumerate().map(|(t, row)| {
            let total: u64 = row.iter().sum();
            let mut cells = vec![TableCell::name(&names[t])];
            for (l, &n) in row.iter().enumerate() {
                let share = n as f64 / total.max(1) as f64;
                let class = match (t == l, n) {
                    (_, 0) => "zero".to_string(),
                    // Five shades, so that colours can be told and printed.
                    (true, _) => format!("right s{}", (share * 4.99) as usize),
                    (false, _) => format!("wrong s{}", (share * 4.99) as usize),
                };
                cells.push(
                    TableCell::of(|m| {
                        m.text(&n.to_string());
                        m.leaf("span", &[("class", "share")], &format!("{:.0}%", 100.0 * share));
                    })
                    .class(&class),
                );
            }
            cells.push(TableCell::text(&total.to_string()));
            (String::new(), cells)
        });
        let caption = format!("Predictions of {} by class", view.winner());
        table(
            page,
            TableOptions { caption: &caption, class: "matrix", ..TableOptions::default() },
            &columns,
            rows.collect(),
        );
        if view.roster().positive.is_some() && view.verdict.table.len() > 1 {
            page.tag("details", &[], |page| {
                page.leaf("summary", &[], "The same for all methods");
                let columns = [
                    words("method"),
                    numbers("true positives").hint("positive bags predicted positive"),
                    numbers("false negatives").hint("positive bags predicted negative"),
                    numbers("false positives").hint("negative bags predicted positive"),
                    numbers("true negatives").hint("negative bags predicted negative"),
                ];
                let rows = view.verdict.table.iter().enumerate().filter_map(|(i, line)| {
                    let n = view.confusion(i)?;
                    let cells = [n.tp, n.fn_, n.fp, n.tn].map(|c| TableCell::text(&c.to_string()));
                    Some((
                        String::new(),
                        std::iter::once(TableCell::text(&line.method)).chain(cells).collect(),
                    ))
                });
                let caption = "Correct and wrong predictions by method";
                table(
                    page,
                    TableOptions { caption, sortable: true, ..TableOptions::default() },
                    &columns,
                    rows.collect(),
                );
            });
        }
    });
}

fn in_words(view: &View<'_>, counts: &[Vec<u64>]) -> String {
    let names = view.classes();
    let repeats = view.repeats();
    let over = if repeats > 1 { format!(", over {repeats} repeats") } else { String::new() };
    let rule = threshold(view);
    // A bag that is answered several times counts as often.
    let (unit, of) =
        if view.answers_per_bag(0) > 1.0 { ("prediction", "for bags of") } else { ("bag", "of") };
    match view.roster().positive {
        Some(p) => {
            let (p, n) = (p as usize, 1 - p as usize);
            let (ups, downs): (u64, u64) = (counts[p].iter().sum(), counts[n].iter().sum());
            format!(
                "Of {} {of} class {}, {} were found; of {} {of} class {}, {} were predicted as {}{over}.{rule}",
                count(ups as usize, unit),
                names[p],
                counts[p][p],
                downs,
                names[n],
                counts[n][p],
                names[p]
            )
        }
        None => {
            let all: u64 = counts.iter().flatten().sum();
            let right: u64 = (0..counts.len()).map(|i| counts[i][i]).sum();
            let were = if unit == "bag" { "were predicted correctly" } else { "were correct" };
            format!("{right} of {} {were}{over}.{rule}", count(all as usize, unit))
        }
    }
}

/// Where the positive class begins, as the rule says or, where no rule is known, as the winner's records have it.
fn threshold(view: &View<'_>) -> String {
    if view.classes().len() != 2 {
        return String::new();
    }
    match &view.run.context.threshold {
        Some(rule) if rule.parse::<f64>().is_ok() => format!(" The threshold is a decision value of {rule}."),
        Some(rule) => format!(" The threshold follows the rule {rule}, chosen on training bags."),
        None => {
            let used = view.records(view.winner()).filter(|r| r.succeeded());
            let used = used.map(|r| r.threshold.unwrap_or(0.0));
            let (low, high) = used.fold((f64::INFINITY, f64::NEG_INFINITY), |(l, h), t| (l.min(t), h.max(t)));
            if low < high {
                format!(
                    " The threshold was chosen on the training bags of each fold: decision values from {} to {}.",
                    fixed(low, 3),
                    fixed(high, 3)
                )
            } else if low != 0.0 && low.is_finite() {
                format!(" The threshold is a decision value of {}.", fixed(low, 3))
            } else {
                " The threshold is a decision value of 0.".into()
            }
        }
    }
}

/// A bag that the winner got wrong at least once.
struct WrongBag {
    bag: usize,
    wrong: usize,
    judged: usize,
    score: Option<f64>,
    label: Option<u32>,
    probability: Option<f64>,
    /// How sure the answer was, or how far off.
    weight: f64,
    others: usize,
}

/// Rows of a list of bags that go on paper; `style.css` has the same number.
const PRINTED: usize = 20;

/// The bags that the winner gets wrong, the surest mistakes first; of real values the farthest.
pub(crate) fn mistakes(page: &mut Markup, view: &View<'_>, most: usize) {
    if view.answers[0].is_empty() {
        return;
    }
    let mut list = wrong(view);
    let real = matches!(view.roster().truth, Truth::Values(_));
    let total = list.len();
    list.truncate(most);
    page.tag("section", &[("class", "mistakes")], |page| {
        let title =
            if real { "Largest errors".into() } else { format!("Bags that {} gets wrong", view.winner()) };
        page.leaf("h3", &[], &title);
        if list.is_empty() {
            page.leaf("p", &[], "None.");
            return;
        }
        let shown = if total > most {
            format!(" The first {most} of them are listed; predictions.csv has all.")
        } else {
            String::new()
        };
        let note = if real {
            format!("By the mean absolute error of {}.{shown}", view.winner())
        } else {
            let known = view.run.context.model.as_ref().is_some_and(|m| m.saw_these_bags);
            let by = match (known, view.winner_saw_test_bags()) {
                (true, _) => "predicted by the model that was trained on it",
                (false, true) => "predicted by a model that had not seen its label",
                (false, false) => "predicted by a model that had not seen it",
            };
            let all = match view.several_methods() {
                true => " If all methods get a bag wrong, its label may be wrong.",
                false => "",
            };
            format!(
                "{total} of {} bags, each {by}; the most confident mistakes first.{all}{shown}",
                view.roster().bags.len()
            )
        };
        page.leaf("p", &[], &note);
        let groups = view.roster().groups.as_ref().filter(|_| !view.hide);
        let several = view.answers_per_bag(0) > 1.0;
        let mut columns = vec![words("bag")];
        if groups.is_some() {
            columns.push(words("group"));
        }
        columns.push(if real { numbers("actual") } else { words("actual") });
        columns.push(if real { numbers("predicted") } else { words("predicted") });
        if real {
            columns.push(numbers("error"));
        } else {
            columns.push(numbers("score"));
            columns.push(numbers("probability").hint("of the positive class, or of the predicted one"));
            if several {
                columns.push(words("wrong in").hint("predictions for the bag"));
            }
            if view.several_methods() {
                columns.push(words("methods wrong").hint("number of methods that get it wrong"));
            }
        }
        let rows = list.iter().map(|w| {
            let mut cells = vec![TableCell::name(&view.bag(w.bag)).sorted_by_bag(w.bag, view.hide)];
            if let Some(groups) = groups {
                cells.push(TableCell::name(&groups[w.bag]));
            }
            cells.push(TableCell::name(&view.truth(w.bag)));
            if real {
                cells.push(TableCell::number(w.score, 3));
                cells.push(TableCell::number(Some(w.weight), 3));
            } else {
                cells.push(TableCell::name(
                    w.label.and_then(|l| view.classes().get(l as usize)).map_or("", String::as_str),
                ));
                cells.push(TableCell::number(w.score, 3));
                cells.push(TableCell::number(w.probability, 3));
                if several {
                    cells.push(
                        TableCell::text(&format!("{} of {}", w.wrong, w.judged))
                            .sorted(w.wrong as f64 / w.judged as f64),
                    );
                }
                if view.several_methods() {
                    cells.push(
                        TableCell::text(&format!("{} of {}", w.others, view.verdict.table.len()))
                            .sorted(w.others as f64),
                    );
                }
            }
            (String::new(), cells)
        });
        let look =
            TableOptions { caption: &title, sortable: true, filter: Some("bags"), ..TableOptions::default() };
        table(page, look, &columns, rows.collect());
        if list.len() > PRINTED {
            let note =
                format!("The first {PRINTED} of {} rows are printed; predictions.csv has all.", list.len());
            page.leaf("p", &[("class", "muted print-only")], &note);
        }
    });
}

impl TableCell {
    /// Hidden names sort by their number, shown ones by themselves.
    fn sorted_by_bag(self, bag: usize, hidden: bool) -> TableCell {
        if hidden { self.sorted(bag as f64) } else { self }
    }
}

fn wrong(view: &View<'_>) -> Vec<WrongBag> {
    let is_wrong = |bag: usize, label: Option<u32>| label.is_some() && view.class(bag) != label;
    let mut by_method: BTreeMap<usize, usize> = BTreeMap::new();
    for answers in &view.answers {
        let mut votes: BTreeMap<usize, (usize, usize)> = BTreeMap::new();
        for a in answers {
            let entry = votes.entry(a.bag).or_default();
            entry.1 += 1;
            entry.0 += usize::from(is_wrong(a.bag, a.label));
        }
        // A method gets a bag wrong if it does so in half of its answers or more.
        for (bag, (wrong, judged)) in votes {
            *by_method.entry(bag).or_default() += usize::from(wrong > 0 && 2 * wrong >= judged);
        }
    }
    let mut list: BTreeMap<usize, WrongBag> = BTreeMap::new();
    for a in &view.answers[0] {
        let weight = view.roster().sureness(a.bag, a);
        let counts = matches!(view.roster().truth, Truth::Values(_)) || is_wrong(a.bag, a.label);
        let w = list.entry(a.bag).or_insert(WrongBag {
            bag: a.bag,
            wrong: 0,
            judged: 0,
            score: a.score,
            label: a.label,
            probability: a.probability,
            weight: 0.0,
            others: by_method.get(&a.bag).copied().unwrap_or(0),
        });
        w.judged += 1;
        if counts {
            w.wrong += 1;
            // Of several mistakes the first is shown.
            if w.wrong == 1 {
                (w.score, w.label, w.probability) = (a.score, a.label, a.probability);
            }
            w.weight += weight;
        }
    }
    let mut list: Vec<WrongBag> = list.into_values().filter(|w| w.wrong > 0).collect();
    list.iter_mut().for_each(|w| w.weight /= w.wrong as f64);
    list.sort_by(|a, b| b.weight.total_cmp(&a.weight).then(a.bag.cmp(&b.bag)));
    list
}
