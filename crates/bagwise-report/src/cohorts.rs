//! Saved models on bags from elsewhere, side by side: a row for each model and cohort, beside what was estimated where the model
//! was trained. Cohorts are not ranked with data sets: nothing was trained on them.

use bagwise::judge::Metric;
use bagwise::{calibration_line, count};

use crate::figures::percent;
use crate::forest::{ForestPlot, ForestRow};
use crate::markup::{Markup, fixed, listed};
use crate::plot::{Figure, figure};
use crate::results::{capital, digits, heading};
use crate::table::{TableCell, TableOptions, numbers, table, words};
use crate::view::View;

/// The views of external validation among all.
pub(crate) fn of<'v, 'a>(views: &'v [View<'a>]) -> Vec<&'v View<'a>> {
    views.iter().filter(|v| v.run.is_external()).collect()
}

/// What the model of a view is called: its file, or its method where the file is not known.
fn model<'v>(view: &'v View<'_>) -> &'v str {
    view.run.context.model.as_ref().map_or(view.winner(), |m| m.file.as_str())
}

fn value(view: &View<'_>) -> Option<f64> {
    view.verdict.best().metrics[0].mean
}

/// What came out, in a sentence.
pub(crate) fn sentence(cohorts: &[&View<'_>]) -> String {
    let mut models: Vec<&str> = cohorts.iter().map(|v| model(v)).collect();
    models.sort_unstable();
    models.dedup();
    let said = |view: &&View<'_>| {
        let metric = view.verdict.metric;
        let of = if models.len() > 1 { format!("{} ", model(view)) } else { String::new() };
        let value = value(view).map_or("no value".into(), |v| fixed(v, digits(metric)));
        format!("{of}{} {value} on {}", heading(metric), view.verdict.data)
    };
    let who = if let [only] = models.as_slice() { (*only).to_string() } else { count(models.len(), "model") };
    let on = format!("{who} on {}", count(cohorts.len(), "external cohort"));
    // More would be a list and not a sentence.
    if cohorts.len() <= 4 {
        return format!("{on}: {}.", listed(&cohorts.iter().map(said).collect::<Vec<_>>()));
    }
    let metric = cohorts[0].verdict.metric;
    let mut sorted: Vec<&&View<'_>> =
        cohorts.iter().filter(|v| v.verdict.metric == metric && value(v).is_some()).collect();
    sorted.sort_by(|a, b| value(a).partial_cmp(&value(b)).unwrap_or(std::cmp::Ordering::Equal));
    match (sorted.first(), sorted.last()) {
        (Some(low), Some(high)) => format!("{on}: from {} to {}.", said(low), said(high)),
        _ => format!("{on}."),
    }
}

/// The section.
pub(crate) fn write(page: &mut Markup, views: &[View<'_>]) {
    let cohorts = of(views);
    if cohorts.is_empty() {
        return;
    }
    page.tag("section", &[("id", "cohorts")], |page| {
        page.leaf("h2", &[], "External cohorts");
        page.leaf(
            "p",
            &[("class", "lead")],
            "Saved models on bags from elsewhere. Nothing was trained or tuned here, so the intervals reflect only the sampling \
             of the bags, or of the groups.",
        );
        page.tag("div", &[("class", "figures")], |page| {
            let mut drawn: Vec<Metric> = Vec::new();
            for metric in cohorts.iter().map(|v| v.verdict.metric) {
                if !drawn.contains(&metric) {
                    plot(page, &cohorts, metric, drawn.len());
                    drawn.push(metric);
                }
            }
        });
        listing(page, &cohorts);
    });
}

/// The cohorts that one metric decides, model by model.
fn plot(page: &mut Markup, cohorts: &[&View<'_>], metric: Metric, number: usize) {
    let own: Vec<&&View<'_>> = cohorts.iter().filter(|v| v.verdict.metric == metric).collect();
    let mut models: Vec<&str> = Vec::new();
    own.iter().for_each(|v| {
        if !models.contains(&model(v)) {
            models.push(model(v))
        }
    });
    let mut rows = Vec::new();
    for name in &models {
        let of_model: Vec<&&&View<'_>> = own.iter().filter(|v| model(v) == *name).collect();
        let before = if models.len() > 1 { format!("{name}: ") } else { String::new() };
        // What cross-validation said where it was trained stands before what came of it elsewhere.
        let source = of_model.iter().find_map(|v| v.run.context.model.as_ref());
        if let Some((source, estimate)) = source.and_then(|s| Some((s, s.estimate?)))
            && source.metric == metric.name()
        {
            rows.push(ForestRow {
                name: format!("{before}training data"),
                colour: "mx".into(),
                value: estimate,
                ends: None,
                aim: None,
                title: format!(
                    "{name}, cross-validated on {}: {}",
                    source.data,
                    fixed(estimate, digits(metric))
                ),
            });
        }
        for view in of_model {
            let m = &view.verdict.best().metrics[0];
            let Some(mean) = m.mean else { continue };
            rows.push(ForestRow {
                name: format!("{before}{}", view.verdict.data),
                colour: view.colour(view.winner()),
                value: mean,
                ends: m.interval.map(|i| (i.low, i.high)),
                aim: None,
                title: format!("{name} on {}: {}", view.verdict.data, fixed(mean, digits(metric))),
            });
        }
    }
    if rows.is_empty() {
        return;
    }
    let lines: Vec<String> = rows.iter().map(|r| r.title.clone()).collect();
    let known = rows.iter().any(|r| r.colour == "mx");
    let forest = ForestPlot { rows, reference: None, axis: heading(metric) };
    let note = match known {
        true => "Grey: cross-validation on the training data.",
        false => "",
    };
    figure(
        page,
        Figure {
            id: &format!("cohorts-{number}"),
            title: &format!("{} on external cohorts", capital(metric)),
            note,
            description: &format!("{}.", lines.join("; ")),
            size: forest.size(),
        },
        |svg| forest.draw(svg),
        None,
    );
}

/// Everything about each cohort that fits in a row.
fn listing(page: &mut Markup, cohorts: &[&View<'_>]) {
    let several = cohorts.iter().any(|v| v.verdict.metric != cohorts[0].verdict.metric);
    let calibrated: Vec<Option<Calibrated>> = cohorts.iter().map(|v| Calibrated::of(v)).collect();
    let with_chances = calibrated.iter().any(Option::is_some);
    let covered = |view: &View<'_>| {
        view.run.context.coverage.iter().find(|c| (c.coverage - 0.9).abs() < 1e-9).map(|c| c.held)
    };
    let with_coverage = cohorts.iter().any(|v| covered(v).is_some());
    let mut columns = vec![words("cohort"), words("model"), words("trained on"), numbers("bags")];
    if several {
        columns.push(words("metric"));
    }
    columns.push(numbers(if several { "value" } else { heading(cohorts[0].verdict.metric) }));
    columns.push(words(&format!("{:.0}% interval", 100.0 * cohorts[0].verdict.level)));
    if with_chances {
        columns.push(numbers("mean probability").hint("of the positive class, or of the predicted one"));
        columns.push(numbers("observed").hint("share of bags of that class"));
        columns.push(
            numbers("slope").hint("calibration slope: 1 is ideal, less means too extreme probabilities"),
        );
    }
    if with_coverage {
        columns
            .push(numbers("coverage at 90%").hint("share of sets or intervals that contain the true label"));
    }
    let rows = cohorts.iter().zip(&calibrated).map(|(view, calibrated)| {
        let m = &view.verdict.best().metrics[0];
        let digits = digits(view.verdict.metric);
        let source = view.run.context.model.as_ref();
        let bags = view.roster().bags.len();
        let mut cells = vec![
            TableCell::of(|m| {
                m.tag("a", &[("href", &format!("#{}", view.id))], |m| m.leaf("bdi", &[], &view.verdict.data))
            }),
            TableCell::name(model(view)).class("remark"),
            TableCell::name(source.map_or("", |s| s.data.as_str())).class("remark"),
            TableCell::shown(bags as f64, &bags.to_string()),
        ];
        if several {
            cells.push(TableCell::text(heading(view.verdict.metric)));
        }
        cells.push(TableCell::number(m.mean, digits).class("main"));
        cells.push(TableCell::text(&m.interval.map_or("\u{2013}".into(), |i| {
            format!("{} to {}", fixed(i.low, digits), fixed(i.high, digits))
        })));
        if with_chances {
            let c = calibrated.as_ref();
            cells.push(TableCell::number(c.map(|c| c.probability), 3));
            cells.push(TableCell::number(c.map(|c| c.share), 3));
            cells.push(TableCell::number(c.and_then(|c| c.slope), 2));
        }
        if with_coverage {
            let held = covered(view);
            cells.push(held.map_or(TableCell::text("\u{2013}"), |h| TableCell::shown(h, &percent(h))));
        }
        (String::new(), cells)
    });
    let caption = "External cohorts, one row each";
    table(
        page,
        TableOptions { caption, sortable: true, class: "many", ..TableOptions::default() },
        &columns,
        rows.collect(),
    );
}

/// Predicted probabilities and observed frequencies.
struct Calibrated {
    probability: f64,
    share: f64,
    slope: Option<f64>,
}

impl Calibrated {
    /// Nothing without probabilities.
    fn of(view: &View<'_>) -> Option<Calibrated> {
        let positive = view.roster().positive;
        let pairs: Option<Vec<(f64, bool)>> = view.answers[0]
            .iter()
            .map(|a| Some((a.probability?, view.class(a.bag)? == positive.or(a.label)?)))
            .collect();
        let pairs = pairs.filter(|p| !p.is_empty())?;
        let n = pairs.len() as f64;
        Some(Calibrated {
            probability: pairs.iter().map(|p| p.0).sum::<f64>() / n,
            share: pairs.iter().filter(|p| p.1).count() as f64 / n,
            slope: calibration_line(&pairs).map(|line| line.0),
        })
    }
}
