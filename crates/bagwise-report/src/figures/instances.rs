//! Which instances decided, for the surest right answers and for wrong ones: a bar for each of the most telling
//! instances of a bag. The model is that of the fold that tested the bag, so it had not seen it.

use bagwise::judge::Truth;

use crate::context::Explained;
use crate::markup::{Markup, count, fixed, place};
use crate::plot::{Scale, drawing, label, line, titled};
use crate::view::View;

const LEFT: f64 = 108.0;
const WIDTH: f64 = 340.0;
const ROW: f64 = 20.0;

pub(crate) fn write(page: &mut Markup, view: &View<'_>) {
    let explained = &view.run.context.explained;
    if explained.is_empty() {
        return;
    }
    page.leaf("h3", &[("class", "part")], "The instances that decided");
    let additive = explained.iter().any(|e| e.bias.is_some());
    let how = if additive {
        "A bar is what an instance adds to the decision value; all instances and the bias add up to it."
    } else {
        "A bar is the decision value of an instance by itself; that of the bag is that of the instance that decides."
    };
    // Of several machines each says in its own figure which class is to the right.
    let one = explained.iter().all(|e| e.machine == explained[0].machine);
    let side = match plus(&explained[0]) {
        Some(side) if one => format!(" To the right speaks for class {side}."),
        _ => String::new(),
    };
    page.leaf(
        "p",
        &[("class", "lead")],
        &format!(
            "{how}{side} Each bag is answered by {} as its outer fold had it: fitted again without {}, with the parameters that \
             fold chose.",
            view.winner(),
            if view.winner_saw_test_bags() { "the label of the bag" } else { "the bag" }
        ),
    );
    let wrong = |e: &&Explained| {
        view.answers[0]
            .iter()
            .any(|a| a.bag == e.bag && a.fold == e.fold && a.repeat == 0 && view.class(a.bag) != a.label)
    };
    let parts: Vec<(&str, Vec<&Explained>)> = match view.roster().truth {
        Truth::Values(_) => vec![("Farthest from the truth", explained.iter().collect())],
        Truth::Classes { .. } => {
            let (bad, good) = explained.iter().partition(wrong);
            vec![("Wrong answers, the surest first", bad), ("Right answers, the surest first", good)]
        }
    };
    for (title, list) in parts {
        if list.is_empty() {
            continue;
        }
        page.leaf("h4", &[], title);
        page.tag("div", &[("class", "figures small")], |page| {
            for e in list {
                bars(page, view, e, !one);
            }
        });
    }
}

/// The class that positive values speak for.
fn plus(e: &Explained) -> Option<&str> {
    e.machine.split(" vs ").next().filter(|side| !side.is_empty())
}

fn bars(page: &mut Markup, view: &View<'_>, e: &Explained, name_side: bool) {
    let answer = view.answers[0].iter().find(|a| a.bag == e.bag && a.fold == e.fold);
    let said = answer.and_then(|a| a.label).and_then(|l| view.classes().get(l as usize)).cloned();
    let name = if view.hide { format!("Bag {}", e.bag + 1) } else { format!("Bag {}", view.bag(e.bag)) };
    let said = said.map_or(String::new(), |s| format!(", answered {s}"));
    let title = format!("{name}: truth {}{said}", view.truth(e.bag));
    let more = e.instances.saturating_sub(e.values.len());
    let mut note = format!("Decision value {}", fixed(e.output, 3));
    if let Some(bias) = e.bias.filter(|b| *b != 0.0) {
        note += &format!(", bias {}", fixed(bias, 3));
    }
    if let Some(side) = plus(e).filter(|_| name_side) {
        note += &format!("; {}: to the right for {side}", e.machine);
    }
    if more > 0 {
        note += &format!("; {} not shown", count(more, "weaker instance"));
    }
    let id = format!("{}-bag-{}", view.id, e.bag);
    let label_of = |i: usize| match e.kept.get(i) {
        Some(kept) if !view.hide && !kept.is_empty() => kept.clone(),
        _ => format!("instance {}", e.values[i].0 + 1),
    };
    let listing: Vec<String> =
        e.values.iter().enumerate().map(|(i, v)| format!("{} {}", label_of(i), fixed(v.1, 3))).collect();
    let description = format!("{note}. {}.", listing.join(", "));
    let size = (WIDTH, ROW * e.values.len() as f64 + 8.0);
    let far = e.values.iter().map(|v| v.1.abs()).fold(1e-12, f64::max);
    let x = Scale::new((-far, far), (LEFT + 50.0, WIDTH - 44.0));
    page.tag("figure", &[("id", &id)], |page| {
        page.tag("figcaption", &[], |page| {
            page.tag("h5", &[], |page| page.leaf("bdi", &[], &title));
            page.leaf("p", &[], &note);
        });
        drawing(page, &id, &title, &description, size, |svg| {
            line(svg, "a", (x.at(0.0), 2.0), (x.at(0.0), size.1 - 4.0));
            for (i, (_, value)) in e.values.iter().enumerate() {
                let y = 4.0 + ROW * i as f64;
                let (a, b) = (x.at(value.min(0.0)), x.at(value.max(0.0)));
                let class = if *value >= 0.0 { "for" } else { "against" };
                let text = label_of(i);
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
