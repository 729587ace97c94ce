//! The page: head, verdict, and the order of everything else. Style and script are separate files, inlined unchanged.
//! The page loads nothing from the network, and its content policy forbids it.

use bagwise::run::Verdict;
use bagwise::{Error, Result, count};

use crate::audit::{date, model_card, provenance};
use crate::load::LoadedRun;
use crate::markup::{Markup, listed};
use crate::overview::{Overview, OverviewOutcome};
use crate::paper::Paper;
use crate::view::View;
use crate::warnings::{self, warnings};
use crate::{cohorts, figures, results};

const STYLE: &str = include_str!("../assets/style.css");
const SCRIPT: &str = include_str!("../assets/script.js");

/// How a report is drawn.
#[derive(Clone, Debug, Default)]
pub struct ReportOptions {
    /// Bags by number instead of by name; groups and kept columns not at all.
    pub hide_ids: bool,
    /// The heading; made from the data without one.
    pub title: Option<String>,
}

/// Draws a report of one run or several, each on its own data.
pub fn render(runs: &[LoadedRun], options: &ReportOptions) -> Result<String> {
    draw(runs, options, None)
}

/// The same with the tables of a paper before everything else.
pub fn render_with_paper(runs: &[LoadedRun], options: &ReportOptions, paper: &Paper) -> Result<String> {
    draw(runs, options, Some(paper))
}

fn draw(runs: &[LoadedRun], options: &ReportOptions, paper: Option<&Paper>) -> Result<String> {
    // Figures need no runs.
    if runs.is_empty() && paper.is_none_or(|p| p.figures.is_empty()) {
        return Err(Error::Invalid("there is no run to report on; give the output folder of a run".into()));
    }
    let verdicts = verdicts(runs)?;
    let mut colours: Vec<String> = Vec::new();
    for line in verdicts.iter().flat_map(|v| &v.table) {
        if !colours.contains(&line.method) {
            colours.push(line.method.clone());
        }
    }
    // Over several data sets colours go by average rank.
    let overview = Overview::of(runs, &verdicts)?;
    if let OverviewOutcome::Ranked(overview) = &overview {
        let ranked = overview.methods();
        colours.retain(|m| !ranked.contains(m));
        colours = ranked.into_iter().chain(colours).collect();
    }
    let views = views(runs, verdicts, options.hide_ids, &colours)?;
    let title = options.title.clone().unwrap_or_else(|| heading(&views));
    let mut page = Markup::default();
    page.fixed("<!doctype html>\n");
    page.tag("html", &[("lang", "en")], |page| {
        head(page, &title);
        page.tag("body", &[], |page| {
            page.tag("header", &[], |page| {
                page.leaf("p", &[("class", "brand")], "bagwise report");
                page.leaf("h1", &[], &title);
                page.leaf("p", &[("class", "sub")], &subtitle(&views));
            });
            page.tag("main", &[], |page| match paper {
                Some(paper) => paper_and_runs(page, paper, &views),
                None => body(page, &views, &overview),
            });
            page.tag("footer", &[], |page| {
                page.text("Written by bagwise ");
                page.text(env!("CARGO_PKG_VERSION"));
                page.text(
                    " from the records of the run. This file is self-contained and loads nothing from the \
                    network.",
                );
            });
            page.tag("script", &[], |page| page.fixed(SCRIPT));
        });
    });
    Ok(page.into_string())
}

/// What each run says, under a short name.
pub(crate) fn verdicts(runs: &[LoadedRun]) -> Result<Vec<Verdict>> {
    let mut verdicts = Vec::with_capacity(runs.len());
    for run in runs {
        verdicts.push(Verdict::new(&run.records, &run.roster, run.metric(), run.level(), run.optimistic())?);
    }
    name_shortly(&mut verdicts);
    Ok(verdicts)
}

/// A path is called by its last part, unless two would then be called alike; runs of the same name are numbered.
fn name_shortly(verdicts: &mut [Verdict]) {
    let last = |name: &str| match name.contains('?') {
        true => name.to_string(),
        false => name.rsplit(['/', '\\']).next().unwrap_or(name).to_string(),
    };
    let whole: Vec<String> = verdicts.iter().map(|v| v.data.clone()).collect();
    let short: Vec<String> = whole.iter().map(|name| last(name)).collect();
    for (i, verdict) in verdicts.iter_mut().enumerate() {
        let clear = short.iter().zip(&whole).all(|(s, w)| *s != short[i] || *w == whole[i]);
        if !short[i].is_empty() && clear {
            verdict.data = short[i].clone();
        }
        let same = |w: &&String| **w == whole[i];
        if whole.iter().filter(same).count() > 1 {
            verdict.data += &format!(" (run {})", whole[..=i].iter().filter(same).count());
        }
    }
}

fn views<'a>(
    runs: &'a [LoadedRun],
    verdicts: Vec<Verdict>,
    hide: bool,
    colours: &'a [String],
) -> Result<Vec<View<'a>>> {
    runs.iter()
        .zip(verdicts)
        .enumerate()
        .map(|(i, (run, verdict))| View::new(run, verdict, format!("d{i}"), hide, runs.len() == 1, colours))
        .collect()
}

fn heading(views: &[View<'_>]) -> String {
    let (external, own): (Vec<&View<'_>>, Vec<&View<'_>>) = views.iter().partition(|v| v.run.is_external());
    let also = if external.is_empty() || own.is_empty() {
        String::new()
    } else {
        format!(", and {}", count(external.len(), "external cohort"))
    };
    match own.as_slice() {
        [] => match external.as_slice() {
            [one] => {
                let model = one.run.context.model.as_ref().map_or(one.winner(), |m| &m.file);
                format!("External validation of {model} on {}", one.verdict.data)
            }
            _ => format!("External validation on {}", count(external.len(), "cohort")),
        },
        [one] => format!("{} on {}{also}", count(one.verdict.table.len(), "method"), one.verdict.data),
        _ => {
            let methods = own.iter().map(|v| v.verdict.table.len()).max().unwrap_or(0);
            let sets = distinct(views).filter(|v| !v.run.is_external()).count();
            format!("{} on {}{also}", count(methods, "method"), count(sets, "data set"))
        }
    }
}

/// The first view of each data set.
fn distinct<'v, 'a>(views: &'v [View<'a>]) -> impl Iterator<Item = &'v View<'a>> {
    let earlier = |i: usize, print: &str| views[..i].iter().any(|v| v.roster().fingerprint == print);
    views.iter().enumerate().filter(move |(i, v)| !earlier(*i, &v.roster().fingerprint)).map(|(_, v)| v)
}

fn subtitle(views: &[View<'_>]) -> String {
    let mut parts = Vec::new();
    if views.is_empty() {
        return String::new();
    }
    if let [view] = views {
        parts.push(count(view.roster().bags.len(), "bag"));
        if let Some(data) = &view.run.context.data {
            parts.push(count(data.instances, "instance"));
            parts.push(count(data.attributes, "attribute"));
        }
        let protocol = &view.run.context.protocol;
        parts.push(if protocol.is_empty() { view.run.records[0].protocol.clone() } else { protocol.clone() });
    } else {
        let bags: usize = distinct(views).map(|v| v.roster().bags.len()).sum();
        parts.push(count(bags, "bag"));
        if distinct(views).count() < views.len() {
            parts.push(count(views.len(), "run"));
        }
        parts.push(count(views.iter().map(|v| v.run.records.len()).sum(), "fit"));
    }
    if views[0].repeats() > 1 {
        parts.push(count(views[0].repeats(), "repeat"));
    }
    if let Some(finished) = views.iter().filter_map(|v| v.run.context.finished).max() {
        parts.push(date(finished));
    }
    parts.join(" · ")
}

fn head(page: &mut Markup, title: &str) {
    page.tag("head", &[], |page| {
        page.void("meta", &[("charset", "utf-8")]);
        page.void("meta", &[("name", "viewport"), ("content", "width=device-width, initial-scale=1")]);
        page.void("meta", &[("name", "color-scheme"), ("content", "light dark")]);
        // Nothing is loaded, nothing is sent, and no script runs but the one below.
        let policy = format!(
            "default-src 'none'; img-src data:; style-src 'unsafe-inline'; script-src 'sha256-{}'; base-uri 'none'; form-action 'none'",
            crate::png::base64(&crate::sha256::sha256(SCRIPT.as_bytes()))
        );
        page.void("meta", &[("http-equiv", "Content-Security-Policy"), ("content", &policy)]);
        page.void("meta", &[("name", "referrer"), ("content", "no-referrer")]);
        // By this a later run knows that it may replace the file.
        page.void("meta", &[("name", "generator"), ("content", concat!("bagwise ", env!("CARGO_PKG_VERSION")))]);
        page.leaf("title", &[], title);
        // An icon of its own, so that browsers do not go looking for one.
        page.void("link", &[("rel", "icon"), ("href", "data:,")]);
        page.tag("style", &[], |page| page.fixed(STYLE));
    });
}

fn body(page: &mut Markup, views: &[View<'_>], overview: &OverviewOutcome) {
    if let [view] = views {
        page.leaf("p", &[("class", "verdict")], &spoken(&view.verdict));
        data_set(page, view);
        return;
    }
    let own: Vec<&View<'_>> = views.iter().filter(|v| !v.run.is_external()).collect();
    let mut sentence = match (overview, own.as_slice()) {
        (OverviewOutcome::Ranked(overview), _) => overview.sentence(),
        (_, []) => String::new(),
        (_, [one]) => spoken(&one.verdict),
        (OverviewOutcome::Apart(why), several) => {
            let names: Vec<&str> = several.iter().map(|v| v.verdict.data.as_str()).collect();
            format!("Data sets one by one: {}. {why}", listed(&names))
        }
    };
    let external = cohorts::of(views);
    if !external.is_empty() {
        sentence = format!("{sentence} {}", cohorts::sentence(&external)).trim().to_string();
    }
    page.leaf("p", &[("class", "verdict")], &format!("{sentence}{}", too_good(views)));
    warnings::write(page, &warnings::severe_of_all(views));
    if let OverviewOutcome::Ranked(overview) = overview {
        overview.write(page, views);
    }
    cohorts::write(page, views);
    each_set(page, views);
}

/// The tables of a paper, then every run.
fn paper_and_runs(page: &mut Markup, paper: &Paper, views: &[View<'_>]) {
    paper.write(page, &|page| figures::learning_curves(page, views));
    let flattering = too_good(views);
    if !flattering.is_empty() {
        page.leaf("p", &[("class", "lead")], flattering.trim());
    }
    if views.is_empty() {
        return;
    }
    page.leaf("h2", &[], "The runs behind the table");
    warnings::write(page, &warnings::severe_of_all(views));
    each_set(page, views);
}

fn each_set(page: &mut Markup, views: &[View<'_>]) {
    for view in views {
        page.tag("details", &[("class", "set"), ("id", &view.id)], |page| {
            page.tag("summary", &[], |page| {
                page.tag("h2", &[], |page| page.leaf("bdi", &[], &view.verdict.data));
                page.leaf("span", &[], &spoken(&view.verdict));
            });
            data_set(page, view);
        });
    }
}

/// What flatters the values of several runs, as the sentence of each says it; nothing where nothing does.
fn too_good(views: &[View<'_>]) -> String {
    let runs = |of: &dyn Fn(&View<'_>) -> bool| {
        let runs: Vec<&str> = views.iter().filter(|v| of(v)).map(|v| v.verdict.data.as_str()).collect();
        if runs.len() == views.len() { String::new() } else { format!(" on {}", listed(&runs)) }
    };
    let mut text = String::new();
    if views.iter().any(|v| v.run.optimistic()) {
        let runs = runs(&|v| v.run.optimistic());
        text += &format!(" The protocol is optimistic{runs}: parameters were chosen on the reported folds.");
    }
    let mut methods: Vec<&String> = views.iter().flat_map(|v| &v.verdict.saw_test_bags).collect();
    methods.sort();
    methods.dedup();
    for method in methods {
        let runs = runs(&|v| v.verdict.saw_test_bags.contains(method));
        text += &format!(" The values of {method} are optimistic: test bags were seen in training{runs}.");
    }
    text
}

/// The sentence with the name of the metric as readers know it.
fn spoken(verdict: &Verdict) -> String {
    verdict.sentence().replacen(
        &format!(": {} ", verdict.metric.name()),
        &format!(": {} ", verdict.metric.info().title),
        1,
    )
}

/// Everything about one data set.
fn data_set(page: &mut Markup, view: &View<'_>) {
    let warned = warnings(view);
    let section = |page: &mut Markup, id: &str, title: &str, inside: &mut dyn FnMut(&mut Markup)| {
        page.tag("section", &[("id", &format!("{}-{id}", view.id))], |page| {
            page.leaf("h2", &[], title);
            inside(page);
        });
    };
    if view.alone {
        page.tag("nav", &[("aria-label", "Sections of this report")], |page| {
            for (id, text) in [
                ("results", "Results"),
                ("quality", "How good"),
                ("reasons", "Why"),
                ("audit", "For auditors"),
            ] {
                page.leaf("a", &[("href", &format!("#{}-{id}", view.id))], text);
            }
        });
    }
    warnings::write(page, &warned);
    section(page, "results", "Results", &mut |page| {
        results::methods(page, view);
        // A matrix of many classes needs the whole width.
        let pair = if view.classes().len() > 4 { "pair stacked" } else { "pair" };
        page.tag("div", &[("class", pair)], |page| {
            results::confusion(page, view);
            results::mistakes(page, view, if view.alone { 200 } else { 20 });
        });
    });
    section(page, "quality", "Performance and uncertainty", &mut |page| figures::quality(page, view));
    section(page, "reasons", "How the predictions were made", &mut |page| figures::reasons(page, view));
    section(page, "audit", "For auditors", &mut |page| {
        page.tag("div", &[("class", "pair even")], |page| {
            page.tag("div", &[], |page| provenance(page, view));
            page.tag("div", &[], |page| model_card(page, view, &warned));
        });
    });
}
