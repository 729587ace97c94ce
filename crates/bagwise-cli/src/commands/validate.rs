//! `bagwise evaluate --model`: scores a saved model on labelled bags that it was not trained on, with intervals and the
//! calibration of its probabilities.

use std::path::{Path, PathBuf};

use anyhow::{Result, bail};
use bagwise::io::{OutputKind, save_whole};
use bagwise::judge::{Metric, MetricSummary, Truth};
use bagwise::model::Model;
use bagwise::run::files::{REPORT, SUMMARY};
use bagwise::{Evaluation, Target, calibration_line, count, labelled_like, validate};
use bagwise_report::{Context, CoverageSummary, ReportOptions, coverage};

use crate::args::Data;
use crate::judging::{metric_json, shown};
use crate::novelty::Novelty;
use crate::output::{BOLD, Digits, Object, Output, Rows, Style};
use crate::reporting;
use crate::session::{Outcome, Session};

/// The options of `evaluate --model`.
pub(crate) struct ValidateOptions<'a> {
    pub(crate) model: &'a Path,
    pub(crate) data: &'a str,
    pub(crate) metric: Option<Metric>,
    pub(crate) level: f64,
    pub(crate) folder: Option<&'a Path>,
}

/// Fewer bags of a class say little about it.
const FEW: usize = 5;

pub(crate) fn run(asked: &ValidateOptions<'_>, read: &Data, session: &Session) -> Result<Outcome> {
    if asked.data.ends_with(".bagwise") {
        bail!("{} is a model; give the labelled bags after it", asked.data);
    }
    if let Some(report) = asked.folder.map(|folder| folder.join(REPORT))
        && report.exists()
    {
        session.check_output(
            &report,
            OutputKind::Report,
            &read.inputs([asked.data.as_ref(), asked.model.as_os_str()]),
        )?;
    }
    let model = Model::load(asked.model)?;
    let data = labelled_like(&model, session.read_labelled_for(&model, asked.data, read.read_options())?)?;
    let seen = model.training_bags_among(&data.bags)?.len();
    let known = seen > 0;
    // What the report must say, too.
    let mut remarks: Vec<String> = Vec::new();
    if !model.knows_training_bags() {
        remarks.push(
            "the model cannot tell which bags it was trained on, because it is an older one, or was trained on maps or drawn instances; \
             if some of these are among them, the values are optimistic"
                .into(),
        );
    }
    if known {
        session.note(&format!(
            "{seen} of the {} bags are in the training data of the model, so the values are optimistic; leave them out",
            data.bags.len()
        ));
    }
    if let (Some(groups), false) = (&data.groups, known)
        && let shared = model.training_groups_among(groups)
        && let Some(first) = shared.first()
    {
        remarks.push(format!(
            "{} of the {} groups have the name of a group in the training data, such as '{first}'; if they are the same, the values \
             are optimistic",
            shared.len(),
            groups.names.len()
        ));
    }
    let mut novelty = Novelty::default();
    let predicted = model.predict_with(&data.bags, &session.ctx).map_err(|e| e.of_data(&data.name))?;
    novelty.add(&model, &data, &predicted, false)?;
    remarks.extend(novelty.warnings());
    remarks.iter().for_each(|remark| session.note(remark));
    if let Some(Target::Classes { codes, names }) = &data.target {
        for (code, name) in names.iter().enumerate() {
            let bags = codes.iter().filter(|c| **c as usize == code).count();
            if bags > 0 && bags < FEW {
                session.note(&format!(
                    "{} of class {name}: recall, balanced accuracy and ROC AUC depend on so few",
                    count(bags, "bag")
                ));
            }
        }
    }
    let folder = asked.folder.map(|folder| (folder, session.force()));
    let found = validate(&model, &data, &predicted, asked.metric, asked.level, folder, &session.ctx)?;
    let mut result = Validated {
        model: asked.model,
        header: &model,
        data: asked.data,
        known,
        calibration: Reliability::of(&found)?,
        coverage: coverage(&model, &data, asked.level, &session.ctx)?,
        found: &found,
        warnings: session.take_notes(),
        report: None,
    };
    if let Some(folder) = &found.folder {
        let context = Context::begin(&data, &[], &found.plan, asked.level, reporting::command())?;
        let context = context.of_model(asked.model, &model, known, result.coverage.clone()).remarked(remarks);
        context.finish(&data, &found, &session.ctx)?.save(folder)?;
        result.report = Some(reporting::draw(folder, &ReportOptions::default(), session)?);
        save_whole(&folder.join(SUMMARY), result.json()?.as_bytes())?;
    }
    session.print(&result)?;
    Ok(Outcome::Done)
}

/// Predicted probabilities and observed frequencies.
struct Reliability {
    /// Lower end, upper end, bags, mean probability, share of bags that were so.
    bins: Vec<(f64, f64, usize, f64, f64)>,
    /// Mean probability and share over all bags.
    overall: (f64, f64),
    /// Slope and intercept of the outcome on the log odds: 1 and 0 if the probabilities are right.
    line: Option<(f64, f64)>,
}

impl Reliability {
    /// Nothing without probabilities. Of two classes it is about the positive one, of several about the predicted one.
    fn of(found: &Evaluation) -> Result<Option<Reliability>> {
        const BINS: usize = 5;
        let (record, roster) = (&found.records[0], &found.roster);
        let Truth::Classes { codes, .. } = &roster.truth else { return Ok(None) };
        let mut pairs: Vec<(f64, bool)> = Vec::new();
        for (row, &bag) in record.scored.bags.iter().enumerate() {
            let answer = roster.prediction(&record.scored, row);
            let Some(p) = answer.probability else { return Ok(None) };
            pairs.push((p, roster.positive.or(answer.label) == Some(codes[bag])));
        }
        let mean = |pairs: &[(f64, bool)]| {
            let n = pairs.len() as f64;
            let hits = pairs.iter().filter(|p| p.1).count() as f64;
            (pairs.iter().map(|p| p.0).sum::<f64>() / n, hits / n)
        };
        let bin = |k: usize| {
            let (low, high) = (k as f64 / BINS as f64, (k + 1) as f64 / BINS as f64);
            let own: Vec<(f64, bool)> =
                pairs.iter().copied().filter(|p| p.0 >= low && (p.0 < high || k + 1 == BINS)).collect();
            let (p, share) = mean(&own);
            (!own.is_empty()).then_some((low, high, own.len(), p, share))
        };
        Ok(Some(Reliability {
            bins: (0..BINS).filter_map(bin).collect(),
            overall: mean(&pairs),
            line: calibration_line(&pairs),
        }))
    }
}

struct Validated<'a> {
    model: &'a Path,
    header: &'a Model,
    data: &'a str,
    /// Whether some of them are among the bags that it was trained on.
    known: bool,
    found: &'a Evaluation,
    calibration: Option<Reliability>,
    /// Of a model that gives sets or intervals.
    coverage: Vec<CoverageSummary>,
    warnings: Vec<String>,
    report: Option<PathBuf>,
}

impl Validated<'_> {
    fn rows<'m>(&self, digits: Digits, metrics: impl Iterator<Item = &'m MetricSummary>) -> Rows {
        let mut rows = Rows::new(["metric", "value", "low", "high"]);
        for m in metrics {
            let (low, high) = m.interval.map_or((None, None), |i| (Some(i.low), Some(i.high)));
            let mut row = vec![m.metric.name().to_string()];
            row.extend([m.mean, low, high].map(|v| digits.show(v)));
            rows.push(row);
        }
        rows
    }
}

impl Output for Validated<'_> {
    fn json(&self) -> Result<String> {
        let Evaluation { verdict, roster, plan, .. } = self.found;
        let mut object = Object::default();
        object.put("model", self.model).put("method", &self.header.header.method).put("data", self.data);
        object.put("trained_on", &self.header.header.training.data).put("bags", roster.bags.len());
        object.put(
            "groups",
            roster.groups.as_ref().map(|g| g.iter().collect::<std::collections::BTreeSet<_>>().len()),
        );
        object.put("optimized", plan.metric).put("level", verdict.level).put("optimistic", self.known);
        for m in &verdict.best().metrics {
            object.put_object(m.metric.name(), metric_json(m));
        }
        if let Some(found) = &self.calibration {
            let bin = |&(low, high, bags, p, share): &(f64, f64, usize, f64, f64)| {
                let mut object = Object::default();
                object.put("low", low).put("high", high).put("bags", bags);
                object.put("probability", p).put("share", share);
                object
            };
            let mut calibration = Object::default();
            calibration.put("probability", found.overall.0).put("share", found.overall.1);
            calibration.put("slope", found.line.map(|l| l.0)).put("intercept", found.line.map(|l| l.1));
            calibration.put_list("bins", found.bins.iter().map(bin).collect());
            object.put_object("calibration", calibration);
        }
        if !self.coverage.is_empty() {
            let one = |found: &CoverageSummary| {
                let mut object = Object::default();
                object.put("requested", found.coverage).put("observed", found.held);
                object.put("low", found.interval.map(|i| i.0)).put("high", found.interval.map(|i| i.1));
                object.put("size", found.size).put("single", found.single).put("empty", found.empty);
                object
            };
            object.put_list("coverage", self.coverage.iter().map(one).collect());
        }
        object.put("warnings", &self.warnings);
        object.put("folder", &self.found.folder).put("report", &self.report);
        Ok(serde_json::to_string_pretty(&object)?)
    }

    fn csv(&self) -> Rows {
        self.rows(Digits::All, self.found.verdict.best().metrics.iter())
    }

    fn text(&self, paint: Style) -> String {
        let Evaluation { verdict, roster, .. } = self.found;
        let line = verdict.best();
        let mut page = format!(
            "{} ({}) on {}: {} bags{}\n\n",
            paint.paint(&self.model.display().to_string(), BOLD),
            self.header.header.method,
            self.data,
            roster.bags.len(),
            if self.known { ", some in its training data" } else { "" }
        );
        page += &self.rows(Digits::Few(4), shown(line).map(|(_, m)| m)).to_string();
        let unit = if roster.groups.is_some() { "groups" } else { "bags" };
        page += &format!(
            "\nlow and high: {:.0}% interval over test {unit}; the model is fixed\n",
            100.0 * verdict.level
        );
        for note in shown(line).filter_map(|(_, m)| m.missing(m.metric.name())) {
            page += &format!("{note}\n");
        }
        if let Some(found) = &self.calibration {
            let of = match roster.positive {
                Some(_) => format!("class {}", self.header.positive_name()),
                None => "the predicted class".into(),
            };
            let mut rows = Rows::new(["probability", "bags", "mean probability", "share"]);
            for (low, high, bags, p, share) in &found.bins {
                rows.push(vec![
                    format!("{low:.1} to {high:.1}"),
                    bags.to_string(),
                    format!("{p:.3}"),
                    format!("{share:.3}"),
                ]);
            }
            page += &format!("\npredicted probability of {of}, and the observed share\n{rows}");
            let (p, share) = found.overall;
            page += &format!("\nover all bags: mean probability {p:.3}, share {share:.3}");
            if let Some((slope, intercept)) = found.line {
                page += &format!(
                    "; calibration slope {slope:.2} (1 is ideal; below 1, probabilities are too extreme), intercept {intercept:.2}"
                );
            }
            page += "\n";
        }
        if !self.coverage.is_empty() {
            let sets = !self.header.header.classes.is_empty();
            let what = if sets { "sets of classes" } else { "intervals" };
            let mut rows = Rows::new(["coverage", "observed", "low", "high", "mean size"]);
            for c in &self.coverage {
                let ends = c.interval.map_or((None, None), |(low, high)| (Some(low), Some(high)));
                let mut row = vec![c.coverage.to_string(), format!("{:.3}", c.held)];
                row.extend([ends.0, ends.1, Some(c.size)].map(|v| Digits::Few(3).show(v)));
                rows.push(row);
            }
            page += &format!("\nobserved coverage of {what}, by requested coverage\n{rows}\n");
        }
        page += "use --format json or csv for all metrics\n";
        if let Some(report) = &self.report {
            page += &format!("report: {}\n", report.display());
        }
        page
    }
}
