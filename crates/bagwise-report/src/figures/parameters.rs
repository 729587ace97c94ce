//! Which parameters inner folds chose, as a map over the grid: folds that choose all over it say that the choice hardly
//! matters or cannot be made from so few bags; folds that choose its end say that it is too small.

use std::collections::BTreeMap;

use bagwise::judge::Truth;
use serde_json::Value;

use crate::markup::{Markup, listed};
use crate::plot::{Figure, figure, label, rect, titled};
use crate::table::{TableCell, TableOptions, numbers, table, words};
use crate::view::View;

const CELL: (f64, f64) = (40.0, 26.0);
/// Characters of a value that an axis has room for. A grid may hold lists of names.
const LONGEST: usize = 24;

/// One method's choices.
struct Choices {
    method: String,
    /// Parameters with more than one value, the longest list first.
    axes: Vec<(String, Vec<String>)>,
    /// The chosen values of each fit, by parameter.
    fits: Vec<BTreeMap<String, String>>,
}

pub(crate) fn write(page: &mut Markup, view: &View<'_>) {
    methods_chosen(page, view);
    // Among many data sets the best methods are enough.
    let most = if view.alone { usize::MAX } else { 3 };
    let maps: Vec<Choices> = view
        .verdict
        .table
        .iter()
        .filter_map(|l| choices(view, &l.method))
        .filter(|c| !c.axes.is_empty())
        .take(most)
        .collect();
    if maps.is_empty() {
        return;
    }
    page.leaf("h3", &[("class", "part")], "Chosen parameters");
    page.leaf(
        "p",
        &[("class", "lead")],
        "How often inner folds chose each point of the grid. If choices are at an end of the grid, try a wider one. \
         If they are spread over the whole grid, the parameter has little effect or there are too few bags.",
    );
    page.tag("div", &[("class", "figures small")], |page| {
        for (i, map) in maps.iter().enumerate() {
            heat_map(page, view, i, map);
        }
    });
}

/// What the outer folds chose, where the choice was among methods.
struct MethodsChosen {
    /// What was chosen, with the values on inner folds.
    choices: Vec<(String, Vec<f64>)>,
    /// Methods, in how many folds each took part, and the sum of its shares.
    members: Vec<(String, usize, f64)>,
    /// What several together gained over the single method in the folds that took several.
    gains: Vec<f64>,
    fits: usize,
}

impl MethodsChosen {
    fn of(view: &View<'_>, method: &str) -> Option<MethodsChosen> {
        let mut choices: BTreeMap<String, Vec<f64>> = BTreeMap::new();
        let mut members: BTreeMap<String, (usize, f64)> = BTreeMap::new();
        let (mut gains, mut fits) = (Vec::new(), 0);
        for record in view.records(method).filter(|r| r.succeeded()) {
            let text = |key: &str| record.parameters.get(key).map(word);
            let Some(method) = text("method") else { continue };
            let name = match (text("members"), text("scale")) {
                (Some(members), _) => format!("together: {members}"),
                (None, Some(scale)) => format!("{method}, scaling {scale}"),
                (None, None) => method.clone(),
            };
            choices.entry(name).or_default().extend(record.inner);
            let shares = record.parameters.iter().filter_map(|(key, value)| {
                let share = value.as_str()?.split(' ').next()?.parse::<f64>().ok()?;
                Some((key.strip_prefix("member ")?.to_string(), share))
            });
            let mut shares: Vec<(String, f64)> = shares.collect();
            if shares.is_empty() {
                shares.push((method, 1.0));
            }
            for (member, share) in shares {
                let (folds, sum) = members.entry(member).or_default();
                (*folds, *sum) = (*folds + 1, *sum + share);
            }
            gains.extend(record.gain.as_ref().map(|gain| gain.mean));
            fits += 1;
        }
        let mut choices: Vec<(String, Vec<f64>)> = choices.into_iter().collect();
        choices.sort_by(|a, b| b.1.len().cmp(&a.1.len()).then(a.0.cmp(&b.0)));
        let mut members: Vec<(String, usize, f64)> =
            members.into_iter().map(|(name, (folds, sum))| (name, folds, sum)).collect();
        members.sort_by(|a, b| b.2.total_cmp(&a.2).then(a.0.cmp(&b.0)));
        (fits > 0).then_some(MethodsChosen { choices, members, gains, fits })
    }

    /// How stable the choice is, and what is gained by taking several methods.
    fn sentence(&self, of_values: bool) -> String {
        let MethodsChosen { choices, gains, fits, .. } = self;
        let mut text = match choices.len() {
            // There is nothing to compare a single fold with.
            _ if *fits == 1 => "There is one fold.".into(),
            1 => format!("All {fits} folds made the same choice."),
            n => format!("{n} different choices in {fits} folds."),
        };
        if !gains.is_empty() {
            let mean = gains.iter().sum::<f64>() / gains.len() as f64;
            let (by, way) = (number(mean.abs()), if mean < 0.0 { "higher" } else { "lower" });
            let what = if of_values { "squared error" } else { "squared error of the probabilities" };
            text += &format!(
                " {} used an ensemble. On inner folds, its {what} was {way} by {by} on average than that of the \
                 single method. An ensemble is used unless it is worse by more than one standard error, so this is no estimate for new \
                 bags.",
                if *fits == 1 {
                    "It".into()
                } else if gains.len() == *fits {
                    "All folds".into()
                } else {
                    format!("{} of {fits} folds", gains.len())
                },
            );
        }
        text
    }
}

/// Which methods each outer fold chose: how often, with which scaling or shares, and what inner folds promised.
fn methods_chosen(page: &mut Markup, view: &View<'_>) {
    for line in &view.verdict.table {
        let Some(chosen) = MethodsChosen::of(view, &line.method) else { continue };
        let fits = chosen.fits;
        page.leaf("h3", &[("class", "part")], &format!("What {} chose", line.method));
        page.leaf(
            "p",
            &[("class", "lead")],
            &format!(
                "The choice is made anew in each outer fold. If folds choose different methods, the data do not tell them apart; the \
                 estimate is that of the choice as a whole. {}",
                chosen.sentence(matches!(view.roster().truth, Truth::Values(_)))
            ),
        );
        let of_fits = |n: usize| TableCell::shown(n as f64, &format!("{n} of {fits}"));
        let columns = [words("method"), numbers("folds"), numbers("mean share")];
        let rows = chosen.members.iter().map(|(name, folds, sum)| {
            let cells =
                vec![TableCell::text(name), of_fits(*folds), TableCell::number(Some(sum / fits as f64), 2)];
            (String::new(), cells)
        });
        let caption = format!("Methods that {} used, and their mean share over all folds", line.method);
        table(page, TableOptions { caption: &caption, ..TableOptions::default() }, &columns, rows.collect());
        let columns = [words("choice"), numbers("folds"), numbers("inner folds")];
        let rows = chosen.choices.iter().map(|(name, inner)| {
            let mean = inner.iter().sum::<f64>() / inner.len().max(1) as f64;
            let cells = vec![TableCell::text(name), of_fits(inner.len()), TableCell::number(Some(mean), 3)];
            (String::new(), cells)
        });
        let caption = format!("What {} chose in each outer fold", line.method);
        table(page, TableOptions { caption: &caption, ..TableOptions::default() }, &columns, rows.collect());
    }
}

/// A parameter value as people write it.
pub(crate) fn word(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Number(n) => number(n.as_f64().unwrap_or(0.0)),
        other => other.to_string(),
    }
}

/// Up to four digits; powers of two as they are.
fn number(v: f64) -> String {
    let size = v.abs();
    // Rounded, a power of two would be none.
    if size > 0.0 && size.log2().fract() == 0.0 && (1e-4..1e5).contains(&size) {
        return v.to_string();
    }
    if v == 0.0 || (1e-3..1e5).contains(&size) {
        let text = format!("{v:.4}");
        text.trim_end_matches('0').trim_end_matches('.').to_string()
    } else {
        let text = format!("{v:.1e}");
        text.replace(".0e", "e")
    }
}

fn choices(view: &View<'_>, method: &str) -> Option<Choices> {
    // A choice among methods has a table of its own.
    if view.records(method).any(|r| r.parameters.contains_key("method")) {
        return None;
    }
    let fits: Vec<BTreeMap<String, String>> = view
        .records(method)
        .filter(|r| r.succeeded())
        .map(|r| r.parameters.iter().map(|(k, v)| (k.clone(), word(v))).collect())
        .collect();
    let mut axes: Vec<(String, Vec<String>)> = match view.run.context.setups.get(method) {
        Some(setup) if !setup.grid.is_empty() => setup
            .grid
            .iter()
            .map(|(name, values)| (name.clone(), values.iter().map(|v| tidy(v)).collect()))
            .collect(),
        _ => seen(&fits),
    };
    // A list that grew has values that the table does not.
    for (name, values) in &mut axes {
        let grown: Vec<&String> =
            fits.iter().filter_map(|f| f.get(name)).filter(|v| !values.contains(v)).collect();
        if grown.iter().all(|v| value(v).is_some())
            && values.iter().all(|v| value(v).is_some())
            && !grown.is_empty()
        {
            let mut all = values.clone();
            all.extend(grown.into_iter().cloned());
            all.sort_by(|a, b| value(a).unwrap_or(0.0).total_cmp(&value(b).unwrap_or(0.0)));
            all.dedup();
            *values = all;
        }
    }
    axes.retain(|(_, values)| values.len() > 1 && values.iter().all(|v| v.chars().count() <= LONGEST));
    // Numbers before words, long lists before short ones; the order of the table among equals.
    axes.sort_by_key(|(_, values)| {
        (values.iter().any(|v| value(v).is_none()), std::cmp::Reverse(values.len()))
    });
    // What is on the axes must be what was chosen.
    let known = |fit: &BTreeMap<String, String>| {
        axes.iter().take(2).all(|(name, values)| fit.get(name).is_some_and(|v| values.contains(v)))
    };
    (!fits.is_empty() && fits.iter().all(known)).then_some(Choices { method: method.into(), axes, fits })
}

/// A number of the grid as a number of the records is written.
fn tidy(text: &str) -> String {
    text.parse::<f64>().map_or(text.into(), number)
}

/// Its size, also of `N/median`.
fn value(text: &str) -> Option<f64> {
    text.trim_end_matches("/median").parse().ok()
}

/// The values there are, where the grid is not known.
fn seen(fits: &[BTreeMap<String, String>]) -> Vec<(String, Vec<String>)> {
    let mut all: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for (name, chosen) in fits.iter().flatten() {
        let list = all.entry(name.clone()).or_default();
        if !list.contains(chosen) {
            list.push(chosen.clone());
        }
    }
    for list in all.values_mut() {
        list.sort_by(|a, b| match (value(a), value(b)) {
            (Some(x), Some(y)) => x.total_cmp(&y),
            _ => a.cmp(b),
        });
    }
    all.into_iter().collect()
}

/// Values as an axis shows them, and what is said of the parameter's name: a common `/median` is said once, powers of two
/// are written as such.
fn short(name: &str, values: &[String]) -> (String, Vec<String>) {
    let common = values.iter().all(|v| v.ends_with("/median"));
    let bare: Vec<&str> =
        values.iter().map(|v| if common { v.trim_end_matches("/median") } else { v }).collect();
    let name = if common { format!("{name}, times 1/median") } else { name.to_string() };
    let power = |v: &&str| v.parse::<f64>().ok().map(f64::log2).filter(|p| p.fract() == 0.0);
    let powers: Option<Vec<f64>> = bare.iter().map(power).collect();
    let long = bare.iter().any(|v| v.len() > 4);
    match powers.filter(|_| long) {
        Some(powers) => (name, powers.iter().map(|p| format!("2{}", superscript(*p as i32))).collect()),
        None => (name, bare.into_iter().map(String::from).collect()),
    }
}

fn superscript(n: i32) -> String {
    const DIGITS: [char; 10] = ['⁰', '¹', '²', '³', '⁴', '⁵', '⁶', '⁷', '⁸', '⁹'];
    let digits = n.unsigned_abs().to_string();
    let digits = digits.bytes().map(|b| DIGITS[usize::from(b - b'0')]);
    if n < 0 { std::iter::once('⁻').chain(digits).collect() } else { digits.collect() }
}

fn heat_map(page: &mut Markup, view: &View<'_>, at: usize, map: &Choices) {
    let (across, down) = (&map.axes[0], map.axes.get(1));
    let one = vec![String::new()];
    let rows = down.map_or(&one, |d| &d.1);
    let mut counts: BTreeMap<(usize, usize), usize> = BTreeMap::new();
    for fit in &map.fits {
        let column = across.1.iter().position(|v| *v == fit[&across.0]);
        let row = down.map_or(Some(0), |(name, values)| values.iter().position(|v| *v == fit[name]));
        if let (Some(c), Some(r)) = (column, row) {
            *counts.entry((r, c)).or_default() += 1;
        }
    }
    let most = counts.values().copied().max().unwrap_or(1) as f64;
    // Long labels of columns stand on their side.
    let (across_name, across_shown) = short(&across.0, &across.1);
    let (down_name, rows_shown) = down.map_or((String::new(), vec![String::new()]), |d| short(&d.0, &d.1));
    let characters = |shown: &[String]| shown.iter().map(|v| v.chars().count()).max().unwrap_or(0);
    let left = if down.is_some() { 16.0 + 7.0 * characters(&rows_shown) as f64 } else { 10.0 };
    let longest = characters(&across_shown);
    let cell = if across_shown.len() > 8 { (31.0, CELL.1) } else { CELL };
    let below = if longest > 5 { 8.0 + 6.2 * longest as f64 } else { 20.0 };
    let (w, h) = (cell.0 * across.1.len() as f64, cell.1 * rows.len() as f64);
    let top = if down.is_some() { 22.0 } else { 6.0 };
    let rest: Vec<String> = map.axes.iter().skip(2).map(|(name, _)| tally(name, &map.fits)).collect();
    let note = if rest.is_empty() {
        format!("{} fits.", map.fits.len())
    } else {
        format!("{} fits; {}.", map.fits.len(), rest.join("; "))
    };
    let listing: Vec<String> = counts
        .iter()
        .map(|((r, c), n)| {
            let row = down.map_or(String::new(), |(name, values)| format!(" and {name} {}", values[*r]));
            format!("{} {}{row}: {n}", across.0, across.1[*c])
        })
        .collect();
    let description =
        format!("How often {} chose each point of its grid: {}.", map.method, listing.join("; "));
    let id = format!("{}-grid-{at}", view.id);
    let about = Figure {
        id: &id,
        title: &map.method,
        note: &note,
        description: &description,
        size: ((left + w + 14.0).max(180.0), top + h + below + 22.0),
    };
    figure(
        page,
        about,
        |svg| {
            if down.is_some() {
                label(svg, "t", "start", (0.0, 14.0), &down_name);
            }
            rect(svg, "frame", (left, top), (w, h));
            for c in 1..across.1.len() {
                let x = left + c as f64 * cell.0;
                crate::plot::line(svg, "g", (x, top), (x, top + h));
            }
            for r in 1..rows.len() {
                let y = top + r as f64 * cell.1;
                crate::plot::line(svg, "g", (left, y), (left + w, y));
            }
            for ((r, c), n) in &counts {
                let (x, y) = (left + *c as f64 * cell.0, top + *r as f64 * cell.1);
                let shade = format!("heat s{}", (4.99 * *n as f64 / most) as usize);
                let attributes = [
                    ("class", shade.as_str()),
                    ("x", &crate::markup::place(x + 1.0)),
                    ("y", &crate::markup::place(y + 1.0)),
                    ("width", &crate::markup::place(cell.0 - 2.0)),
                    ("height", &crate::markup::place(cell.1 - 2.0)),
                ];
                let row = down.map_or(String::new(), |(name, values)| format!(", {name} {}", values[*r]));
                titled(
                    svg,
                    "rect",
                    &attributes,
                    &format!("{} {}{row}: {n} of {} fits", across.0, across.1[*c], map.fits.len()),
                );
                let tone = if *n as f64 / most > 0.6 { "cell on" } else { "cell" };
                label(svg, tone, "middle", (x + cell.0 / 2.0, y + cell.1 / 2.0 + 4.0), &n.to_string());
            }
            for (r, text) in rows_shown.iter().enumerate() {
                label(svg, "t", "end", (left - 7.0, top + (r as f64 + 0.5) * cell.1 + 4.0), text);
            }
            for (c, text) in across_shown.iter().enumerate() {
                let x = left + (c as f64 + 0.5) * cell.0;
                if longest > 5 {
                    let turn = format!(
                        "rotate(-90 {} {})",
                        crate::markup::place(x + 4.0),
                        crate::markup::place(top + h + 8.0)
                    );
                    svg.leaf(
                        "text",
                        &[
                            ("class", "t"),
                            ("text-anchor", "end"),
                            ("x", &crate::markup::place(x + 4.0)),
                            ("y", &crate::markup::place(top + h + 8.0)),
                            ("transform", &turn),
                        ],
                        text,
                    );
                } else {
                    label(svg, "t", "middle", (x, top + h + 16.0), text);
                }
            }
            label(svg, "t", "middle", (left + w / 2.0, top + h + below + 14.0), &across_name);
        },
        None,
    );
}

/// "norm: mean 6, sqrt 4".
fn tally(name: &str, fits: &[BTreeMap<String, String>]) -> String {
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for fit in fits {
        if let Some(value) = fit.get(name) {
            *counts.entry(value).or_default() += 1;
        }
    }
    let mut list: Vec<(usize, &str)> = counts.into_iter().map(|(v, n)| (n, v)).collect();
    list.sort_by(|a, b| b.0.cmp(&a.0).then(a.1.cmp(b.1)));
    let words: Vec<String> = list.iter().map(|(n, v)| format!("{v} {n}")).collect();
    format!("{name}: {}", listed(&words))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_choice_is_summed_up_in_words() {
        let chosen = |choices: &[&str], gains: &[f64]| MethodsChosen {
            choices: choices.iter().map(|name| (name.to_string(), vec![0.9])).collect(),
            members: Vec::new(),
            gains: gains.to_vec(),
            fits: 3,
        };
        assert_eq!(chosen(&["a"], &[]).sentence(false), "All 3 folds made the same choice.");
        let said = chosen(&["a", "b"], &[0.5, -0.25]).sentence(false);
        assert_eq!(
            said,
            "2 different choices in 3 folds. 2 of 3 folds used an ensemble. On inner folds, its squared error of the \
             probabilities was lower by 0.125 on average than that of the single method. An ensemble is used unless it is worse by \
             more than one standard error, so this is no estimate for new bags."
        );
        assert!(chosen(&["a"], &[-0.5; 3]).sentence(true).contains("All folds used"));
        assert!(chosen(&["a"], &[-0.5; 3]).sentence(true).contains("its squared error was higher by 0.5"));
    }

    #[test]
    fn powers_of_two_are_written_as_such() {
        assert_eq!(
            [number(0.03125), number(8.0), number(0.3), number(1e-5)],
            ["0.03125", "8", "0.3", "1e-5"]
        );
        let values = [0.03125, 0.125, 0.5, 2.0].map(number);
        let shown = short("gamma", &values.map(|v| format!("{v}/median")));
        assert_eq!(
            shown,
            ("gamma, times 1/median".into(), ["2⁻⁵", "2⁻³", "2⁻¹", "2¹"].map(String::from).into())
        );
    }
}
