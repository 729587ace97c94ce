//! The section for auditors: what was run, on which data, with which versions and seeds, and a model card of the
//! recommended method.

use bagwise::count;
use bagwise::judge::{Record, Truth, most_chosen};
use bagwise::method::Explains;
use bagwise::methods;

use crate::figures::word;
use crate::markup::{Markup, duration, fixed, listed};
use crate::results::{digits, heading};
use crate::view::View;
use crate::warnings::Warning;

/// A list of facts; those without content are left out.
fn facts(page: &mut Markup, list: &[(&str, String)]) {
    page.tag("dl", &[("class", "facts")], |page| {
        for (name, what) in list.iter().filter(|(_, what)| !what.is_empty()) {
            page.leaf("dt", &[], name);
            page.leaf("dd", &[], what);
        }
    });
}

/// A command to copy.
fn command(page: &mut Markup, text: &str) {
    page.tag("pre", &[("tabindex", "0")], |page| page.leaf("code", &[], text));
}

/// How the numbers came about.
pub(crate) fn provenance(page: &mut Markup, view: &View<'_>) {
    let c = &view.run.context;
    let records = &view.run.records;
    page.leaf("h3", &[("class", "part")], "How these numbers were computed");
    if !c.command.is_empty() {
        command(page, &c.command);
    }
    let folds = records.iter().map(|r| r.key.fold + 1).max().unwrap_or(0);
    let protocol = if c.protocol.is_empty() { records[0].protocol.clone() } else { c.protocol.clone() };
    let source = c.data.as_ref().map_or(String::new(), |d| d.source.clone());
    let seeds = distinct(records, |r| r.seed.to_string());
    facts(
        page,
        &[
            ("protocol", protocol),
            ("folds", format!("{folds}, {}", count(view.repeats(), "repeat"))),
            ("seed", seeds),
            ("decides", heading(view.verdict.metric).into()),
            ("level", format!("{}", view.verdict.level)),
            ("threshold", c.threshold.clone().unwrap_or_default()),
            ("kernel sums", c.precision.clone()),
            ("data", source),
            ("data fingerprint", view.roster().fingerprint.clone()),
            ("run fingerprint", distinct(records, |r| r.run.clone())),
            ("fits", records.len().to_string()),
            ("bagwise", c.version.clone()),
            (
                "system",
                if c.threads > 0 {
                    format!("{}, {}", c.system, count(c.threads, "thread"))
                } else {
                    c.system.clone()
                },
            ),
            ("finished", c.finished.map_or(String::new(), date)),
            ("took", c.seconds.map_or(String::new(), duration)),
        ],
    );
    if !c.setups.is_empty() {
        page.tag("details", &[], |page| {
            page.leaf("summary", &[], "Grids and scaling of all methods");
            page.tag("dl", &[("class", "facts")], |page| {
                for line in &view.verdict.table {
                    let Some(setup) = c.setups.get(&line.method) else { continue };
                    page.leaf("dt", &[], &line.method);
                    let grid: Vec<String> = setup
                        .grid
                        .iter()
                        .map(|(name, values)| format!("{name}: {}", values.join(", ")))
                        .collect();
                    let scale = if setup.scale.is_empty() {
                        String::new()
                    } else {
                        format!("scaling {}; ", setup.scale)
                    };
                    page.leaf(
                        "dd",
                        &[],
                        &format!("{scale}{}; {}", count(setup.points, "point"), grid.join("; ")),
                    );
                }
            });
        });
    }
    for note in &c.notes {
        page.leaf("p", &[("class", "muted")], note);
    }
}

fn distinct(records: &[Record], of: impl Fn(&Record) -> String) -> String {
    let mut all: Vec<String> = records.iter().map(of).collect();
    all.sort();
    all.dedup();
    all.join(", ")
}

/// The card of the model that the command in it trains, or of the saved model that was evaluated.
pub(crate) fn model_card(page: &mut Markup, view: &View<'_>, warnings: &[Warning]) {
    let c = &view.run.context;
    // What other programs trained may be the best and is not what the command trains.
    let trained = match c.fit_method.is_empty() && !c.fit_command.is_empty() && c.model.is_none() {
        true => view.verdict.recommended(),
        false => &c.fit_method,
    };
    let place = view.verdict.table.iter().position(|line| line.method == trained).unwrap_or(0);
    let method = view.verdict.table[place].method.as_str();
    page.leaf("h3", &[("class", "part")], &format!("Model card: {method}"));
    let lead = match &c.model {
        Some(source) => format!("Describes the saved model {}. Nothing was trained here.", source.file),
        None => "Describes a model trained by this procedure on all bags. The numbers come from the models of the folds, \
                 which were trained on fewer bags."
            .into(),
    };
    page.leaf("p", &[("class", "lead")], &lead);
    if !c.fit_command.is_empty() {
        if method != view.winner() {
            let best = view.winner();
            page.leaf(
                "p",
                &[("class", "lead")],
                &format!(
                    "This command trains {method}, the method to take. The card describes it, not {best}."
                ),
            );
        }
        command(page, &c.fit_command);
    }
    let own = &view.verdict.table[place].metrics[0];
    let value = own.mean.map_or("no value".into(), |mean| {
        let interval = own.interval.map_or(String::new(), |i| {
            let d = digits(own.metric);
            format!(", {:.0}% interval {} to {}", 100.0 * i.level, fixed(i.low, d), fixed(i.high, d))
        });
        format!(
            "{} {}{interval}, {}",
            heading(own.metric),
            fixed(mean, digits(own.metric)),
            judged_on(view, method)
        )
    });
    let info = methods::find(method).ok().map(|m| m.info());
    let bags = view.roster().bags.len();
    let data = c.data.as_ref().map_or(String::new(), |d| {
        format!(", {}, {}", count(d.instances, "instance"), count(d.attributes, "attribute"))
    });
    let groups = view.roster().groups.as_ref().map_or("; no groups".into(), |g| {
        let mut names: Vec<&String> = g.iter().collect();
        names.sort();
        names.dedup();
        format!("; {}, never split", count(names.len(), "group"))
    });
    let answers = match &view.roster().truth {
        Truth::Classes { names, .. } => format!("one of the classes {}, with a probability", listed(names)),
        Truth::Values(_) => "a number".into(),
    };
    let errors = view.confusion(place).map_or(String::new(), |n| {
        let per = |a: u64, b: u64| format!("{:.0}%", 100.0 * a as f64 / (a + b).max(1) as f64);
        format!(
            "misses {} of the positive bags, predicts {} of the negative bags as positive",
            per(n.fn_, n.tp),
            per(n.fp, n.tn)
        )
    });
    let never_split = format!("{}: {}{data}{groups}", view.verdict.data, count(bags, "bag"));
    let (trained_on, judged_by, estimate, parameters) = match &c.model {
        None => (never_split, String::new(), String::new(), usual_point(view, method)),
        Some(source) => (
            format!(
                "{}: {}{}",
                source.data,
                count(source.bags, "bag"),
                source.groups.map_or(String::new(), |n| format!(", {}", count(n, "group")))
            ),
            never_split.replace(", never split", ""),
            source.estimate.map_or(String::new(), |v| {
                format!("{} {}, parameters chosen within each fold", source.metric, fixed(v, 3))
            }),
            source.parameters.clone(),
        ),
    };
    let severe: Vec<String> =
        warnings.iter().filter(|w| w.is_severe()).map(|w| w.message().to_string()).collect();
    let limits = match (severe.is_empty(), warnings.len()) {
        (true, 0) => "No warnings about these data.".into(),
        (true, notes) => {
            format!("No severe warnings about these data; see the {} above.", count(notes, "note"))
        }
        (false, _) => severe.join(" "),
    };
    facts(
        page,
        &[
            ("method", info.map_or(method.into(), |i| format!("{method}: {}", i.title))),
            ("published", info.map_or(String::new(), |i| i.reference.into())),
            ("parameters", parameters),
            ("predictions", answers),
            ("trained on", trained_on),
            ("cross-validation", estimate),
            ("evaluated on", judged_by),
            ("how good", value),
            ("errors", errors),
            ("explains", info.map_or(String::new(), |i| explains(i.explains))),
            (
                "intended use",
                "bags collected like the training bags, with the same attributes measured in the same way".into(),
            ),
            (
                "out of scope",
                "bags that predict marks as unfamiliar, and populations that are not represented in the training \
                 bags".into(),
            ),
            ("known limitations", limits),
        ],
    );
}

/// What the bags that a method was judged by had to do with training it.
fn judged_on(view: &View<'_>, method: &str) -> String {
    let mut seen = Vec::new();
    if view.run.context.model.as_ref().is_some_and(|m| m.saw_these_bags) {
        seen.push("on its training bags");
    }
    if view.verdict.saw_test_bags.iter().any(|m| m == method) {
        seen.push("on bags whose features were used in training, without their labels (pool=all)");
    }
    if view.run.optimistic() {
        seen.push("on the folds used to choose its parameters");
    }
    if seen.is_empty() {
        return "on bags not seen in training".into();
    }
    format!("{}: optimistic for new bags", listed(&seen))
}

/// How a method explains itself, in words.
fn explains(how: Explains) -> String {
    match how {
        Explains::Additive => {
            "exact: the contributions of the instances and a bias add up to the decision value".into()
        }
        other => other.to_string(),
    }
}

/// The point that most folds chose, in words.
fn usual_point(view: &View<'_>, method: &str) -> String {
    let Some((record, n)) = most_chosen(view.records(method)) else { return String::new() };
    let fits = view.records(method).filter(|r| r.succeeded()).count();
    // Parameters with one value only were not chosen.
    let setup = view.run.context.setups.get(method);
    let tuned =
        |name: &str| setup.is_none_or(|s| s.grid.iter().any(|(n, values)| n == name && values.len() > 1));
    let words: Vec<String> =
        record.parameters.iter().filter(|(k, _)| tuned(k)).map(|(k, v)| format!("{k} {}", word(v))).collect();
    if words.is_empty() {
        return String::new();
    }
    format!(
        "{} (chosen in {n} of {fits} folds); chosen again on all bags for the final model",
        words.join(", ")
    )
}

/// Seconds since 1970 as a date and time (the days of the proleptic Gregorian calendar, counted from 1 March so that the
/// leap day comes last).
pub(crate) fn date(seconds: u64) -> String {
    let (days, rest) = (seconds / 86_400, seconds % 86_400);
    let z = days + 719_468;
    let (era, doe) = (z / 146_097, z % 146_097);
    let yoe = (doe - doe / 1460 + doe / 36_524 - doe / 146_096) / 365;
    let doy = doe - (365 * yoe + yoe / 4 - yoe / 100);
    let mp = (5 * doy + 2) / 153;
    let (day, month) = (doy - (153 * mp + 2) / 5 + 1, if mp < 10 { mp + 3 } else { mp - 9 });
    let year = yoe + era * 400 + u64::from(month <= 2);
    format!("{year}-{month:02}-{day:02} {:02}:{:02} UTC", rest / 3600, rest % 3600 / 60)
}

#[cfg(test)]
mod tests {
    #[test]
    fn dates_of_known_moments() {
        assert_eq!(super::date(0), "1970-01-01 00:00 UTC");
        assert_eq!(super::date(951_782_400), "2000-02-29 00:00 UTC");
        assert_eq!(super::date(1_795_000_000), "2026-11-18 11:06 UTC");
    }
}
