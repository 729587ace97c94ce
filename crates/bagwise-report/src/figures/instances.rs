//! Which instances decided, for the surest right answers and for wrong ones: a bar for each of the most telling
//! instances of a bag. The model is that of the fold that tested the bag, so it had not seen it.

use bagwise::judge::Truth;
use bagwise::{BASELINE, count};

use crate::explained::{Explained, explained};
use crate::markup::{Markup, fixed, place};
use crate::plot::{AxisScale, drawing, label, line, titled};
use crate::view::{JudgedBag, View};

const LEFT: f64 = 108.0;
const WIDTH: f64 = 340.0;
const ROW: f64 = 20.0;
/// Instances of a bag that are shown.
const INSTANCES: usize = 8;

pub(crate) fn write(page: &mut Markup, view: &View<'_>) {
    let found = explained(&view.run.records, view.roster(), &view.verdict);
    let Some((place, explained)) = found else {
        // At least one method uses instances, but none can explain its predictions.
        if view.verdict.table.iter().any(|line| line.method != BASELINE) {
            page.leaf("h3", &[("class", "part")], "The instances that decided");
            let told =
                "No method here explains its predictions by instance; bagwise methods lists those that can.";
            page.leaf("p", &[("class", "lead")], told);
        }
        return;
    };
    let method = &view.verdict.table[place].method;
    let answers = &view.answers[place];
    page.leaf("h3", &[("class", "part")], "The instances that decided");
    let additive = explained.iter().any(|e| e.reason.bias.is_some());
    let how = if additive {
        "A bar is the contribution of an instance to the decision value. All contributions and the bias add up to it."
    } else {
        "A bar is the decision value of an instance. The bag gets the value of the deciding instance."
    };
    // Of several machines each says in its own figure which class is to the right.
    let one = explained.iter().all(|e| e.sides == explained[0].sides);
    let side = match explained[0].sides {
        Some((side, _)) if one => format!(" Bars to the right favour class {side}."),
        _ => String::new(),
    };
    let instead = match place {
        0 => String::new(),
        _ => format!(
            " {} cannot explain by instance, so these are the predictions of {method}.",
            view.winner()
        ),
    };
    let without =
        if view.verdict.saw_test_bags.contains(method) { "the label of the bag" } else { "the bag" };
    let by = match &view.run.context.model {
        Some(_) => format!("Each bag is predicted by the saved {method} model."),
        None => format!(
            "Each bag is predicted by the {method} model of its outer fold, which was trained without {without}, with the \
             parameters chosen in that fold."
        ),
    };
    page.leaf("p", &[("class", "lead")], &format!("{how}{side}{instead} {by}"));
    let wrong = |e: &&Explained<'_>| said(answers, e).is_some_and(|a| view.class(a.bag) != a.label);
    let parts: Vec<(&str, Vec<&Explained<'_>>)> = match view.roster().truth {
        Truth::Values(_) => vec![("Largest errors", explained.iter().collect())],
        Truth::Classes { .. } => {
            let (bad, good) = explained.iter().partition(wrong);
            vec![
                ("Wrong predictions, the most confident first", bad),
                ("Right predictions, the most confident first", good),
            ]
        }
    };
    for (title, list) in parts {
        if list.is_empty() {
            continue;
        }
        page.leaf("h4", &[], title);
        page.tag("div", &[("class", "figures small")], |page| {
            for e in list {
                bars(page, view, e, said(answers, e), !one);
            }
        });
    }
}

/// The prediction for an explained bag.
fn said<'v>(answers: &'v [JudgedBag], e: &Explained<'_>) -> Option<&'v JudgedBag> {
    answers.iter().find(|a| a.bag == e.bag && a.fold == e.fold && a.repeat == 0)
}

fn bars(page: &mut Markup, view: &View<'_>, e: &Explained<'_>, answer: Option<&JudgedBag>, name_side: bool) {
    let reason = e.reason;
    let values = &reason.parts[..reason.parts.len().min(INSTANCES)];
    let said = answer.and_then(|a| a.label).and_then(|l| view.classes().get(l as usize)).cloned();
    let name = if view.hide { format!("Bag {}", e.bag + 1) } else { format!("Bag {}", view.bag(e.bag)) };
    let said = said.map_or(String::new(), |s| format!(", predicted {s}"));
    let title = format!("{name}: actual {}{said}", view.truth(e.bag));
    let more = reason.instances().saturating_sub(values.len());
    let mut note = format!("Decision value {}", fixed(reason.output(), 3));
    if let Some(bias) = reason.bias.filter(|b| *b != 0.0) {
        note += &format!(", bias {}", fixed(bias, 3));
    }
    if let Some((plus, minus)) = e.sides.filter(|_| name_side) {
        note += &format!("; {plus} vs {minus}: bars to the right favour {plus}");
    }
    if more > 0 {
        note += &format!("; {} not shown", count(more, "weaker instance"));
    }
    let id = format!("{}-bag-{}", view.id, e.bag);
    let kept = view.run.context.kept.as_ref().filter(|_| !view.hide);
    let label_of = |instance: usize| {
        let named = kept.and_then(|k| Some((&k.name, k.values.get(&e.bag)?.get(&instance)?)));
        let number = instance + 1;
        named.map_or(format!("instance {number}"), |(name, value)| format!("{number}: {name} {value}"))
    };
    let listing: Vec<String> =
        values.iter().map(|v| format!("{} {}", label_of(v.0), fixed(v.1, 3))).collect();
    let description = format!("{note}. {}.", listing.join(", "));
    let size = (WIDTH, ROW * values.len() as f64 + 8.0);
    let far = values.iter().map(|v| v.1.abs()).fold(1e-12, f64::max);
    let x = AxisScale::new((-far, far), (LEFT + 50.0, WIDTH - 44.0));
    page.tag("figure", &[("id", &id)], |page| {
        page.tag("figcaption", &[], |page| {
            page.tag("h5", &[], |page| page.leaf("bdi", &[], &title));
            page.leaf("p", &[], &note);
        });
        drawing(page, &id, &title, &description, size, |svg| {
            line(svg, "a", (x.at(0.0), 2.0), (x.at(0.0), size.1 - 4.0));
            for (i, (instance, value)) in values.iter().enumerate() {
                let y = 4.0 + ROW * i as f64;
                let (a, b) = (x.at(value.min(0.0)), x.at(value.max(0.0)));
                let class = if *value >= 0.0 { "for" } else { "against" };
                let text = label_of(*instance);
                let attributes = [
                    ("class", class),
                    ("x", &place(a)),
                    ("y", &place(y + 3.0)),
                    ("width", &place((b - a).max(0.5))),
                    ("height", "12"),
                ];
                titled(svg, "rect", &attributes, &format!("{text}: {}", fixed(*value, 4)));
                // A name longer than its place is cut; the title has all of it.
                let short: String = if text.chars().count() > 16 {
                    text.chars().take(15).chain(['…']).collect()
                } else {
                    text
                };
                label(svg, "t", "end", (LEFT, y + 13.0), &short);
                let (anchor, at) = if *value >= 0.0 { ("start", b + 5.0) } else { ("end", a - 5.0) };
                label(svg, "t", anchor, (at, y + 13.0), &fixed(*value, 2));
            }
        });
    });
}
