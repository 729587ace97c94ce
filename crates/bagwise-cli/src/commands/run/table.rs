//! What `bagwise run` prints: every published number next to ours, as a table for people, CSV or JSON.

use std::path::PathBuf;

use anyhow::Result;
use bagwise::judge::Metric;
use bagwise_report::paper::Paper;

use crate::experiment::Measure;
use crate::output::{BOLD, Digits, Object, Output, Rows, Style};
use crate::paper::{self, Cell, Line, Results};

/// All results, table by table, data set by data set and within them in the order of the methods.
pub(super) struct Table<'a> {
    pub(super) found: Results<'a>,
    pub(super) metric: Metric,
    pub(super) paper: Paper,
    /// What would mislead whoever reads the results, and of which data.
    pub(super) warnings: Vec<String>,
    pub(super) folder: PathBuf,
    pub(super) report: Option<PathBuf>,
}

impl Table<'_> {
    /// Where the result is to lie, and whether it does.
    fn expected(&self, line: &Line<'_>) -> (Option<[f64; 2]>, Option<bool>) {
        // The file was checked when it was read.
        let expected = self.found.experiment.expected(line.method, &line.data.name).ok().flatten();
        let within = |([low, high], mean): ([f64; 2], f64)| (low..=high).contains(&mean);
        (expected, expected.zip(line.cell.shown(line.table).0).map(within))
    }

    /// Lines that say something: a result, or a printed number without one.
    fn rows(&self, full: bool) -> Rows {
        let several = self.found.tables.len() > 1;
        let judged = self.found.lines().any(|line| self.expected(&line).0.is_some());
        let mut head = if several { vec!["table"] } else { Vec::new() };
        head.extend([
            "data",
            "method",
            "printed",
            "ours",
            "sd",
            "interval",
            "difference",
            "reference",
            "verdict",
        ]);
        head.extend(judged.then_some(["expected", "within"]).into_iter().flatten());
        // Above a table for people it is said once.
        head.extend(full.then_some("version"));
        let version = if self.found.experiment.shortened.is_some() { "quick" } else { "full" };
        let mut rows = Rows::new(head.into_iter().chain(["remark", "seconds"]));
        for line in self.found.lines() {
            let cell = line.cell();
            if cell.ours.is_none() && cell.printed.is_none() && cell.reference.is_none() {
                continue;
            }
            let digits = if full { Digits::All } else { Digits::Few(paper::digits(line.table)) };
            let range =
                |low: f64, high: f64| format!("{} to {}", digits.show(Some(low)), digits.show(Some(high)));
            let signed = |text: String| {
                if full || text.starts_with('-') || text.is_empty() { text } else { format!("+{text}") }
            };
            let mut row = if several { vec![line.table.title.clone()] } else { Vec::new() };
            row.extend([
                line.data.name.clone(),
                line.method.shown().to_string(),
                digits.show(cell.printed),
                digits.show(cell.ours),
                digits.show(cell.sd),
                cell.interval.map_or(String::new(), |(low, high)| range(low, high)),
                signed(digits.show(cell.difference().map(|d| d.0))),
                digits.show(cell.reference),
                line.verdict(&cell).into(),
            ]);
            if judged {
                let (expected, within) = self.expected(&line);
                row.push(expected.map_or(String::new(), |[low, high]| range(low, high)));
                row.push(within.map_or("", |w| if w { "yes" } else { "no" }).into());
            }
            row.extend(full.then(|| version.to_string()));
            let seconds = match line.cell {
                Cell::OurResult(ours) => Some(ours.seconds),
                _ => None,
            };
            row.extend([cell.remark, Digits::Few(1).show(seconds)]);
            rows.push(row);
        }
        rows
    }

    fn line(&self, line: &Line<'_>) -> Object {
        let cell = line.cell();
        let mut object = Object::default();
        object.put("table", &line.table.title);
        object
            .put("data", &line.data.name)
            .put("name", line.method.shown())
            .put("method", line.method.method());
        object.put("printed", cell.printed).put("spread", &cell.spread).put("reference", cell.reference);
        let (expected, within) = self.expected(line);
        object.put("expected", expected).put("within", within);
        match line.cell {
            Cell::OurResult(ours) => {
                object.put("saw_test_bags", ours.saw_test_bags);
                object.put("mean", cell.ours).put("sd", cell.sd).put("interval", cell.interval);
                if line.table.measure == Measure::Metric {
                    let unit = if line.table.percent { 100.0 } else { 1.0 };
                    object.put("values", ours.values.iter().map(|v| v.map(|v| v * unit)).collect::<Vec<_>>());
                }
                object.put("repeats", ours.repeats).put("fits", ours.fits).put("limited", ours.limited);
                object.put("cycled", ours.cycled).put("rounds", ours.rounds);
                object.put("seconds", ours.seconds).put("status", "done")
            }
            Cell::Missing(_) => object.put("status", "data missing"),
            Cell::LeftOut => object.put("status", "left out"),
            Cell::NoMethod => object.put("status", "no such method"),
        };
        object.put("verdict", line.verdict(&cell)).put("remark", cell.remark);
        object
    }
}

impl Output for Table<'_> {
    fn json(&self) -> Result<String> {
        let experiment = self.found.experiment;
        let mut object = Object::default();
        object.put("title", &experiment.title).put("source", &experiment.source);
        object.put("metric", self.metric).put("percent", experiment.percent);
        object.put("measure", experiment.measure);
        object.put("protocol", &self.paper.protocol).put("quick", experiment.shortened.is_some());
        object.put("quick_version", &experiment.shortened).put("notes", &experiment.notes);
        object.put("summary", self.paper.sentence());
        object
            .put_list("results", self.found.lines().map(|line| self.line(&line)).collect())
            .put("figures", &self.paper.figures)
            .put("densities", &self.paper.densities)
            .put("warnings", &self.warnings)
            .put("folder", &self.folder)
            .put("report", &self.report);
        Ok(serde_json::to_string_pretty(&object)?)
    }

    fn csv(&self) -> Rows {
        self.rows(true)
    }

    fn text(&self, paint: Style) -> String {
        let experiment = self.found.experiment;
        let mut text = format!("{}\n", paint.paint(&experiment.title, BOLD));
        let quick = experiment.shortened.iter().map(|what| format!("quick version: {what}"));
        let how = Some(self.paper.protocol.clone()).filter(|p| !p.is_empty()).into_iter().chain(quick);
        text += &format!("{}\n", how.collect::<Vec<_>>().join("; "));
        text += &self.rows(false).to_string();
        text += &format!("{}\n", self.paper.sentence());
        for note in &experiment.notes {
            text += &format!("* {note}\n");
        }
        if let Some(report) = &self.report {
            text += &format!("report: {}\n", report.display());
        }
        text + &format!("wrote records and tables to {}\n", self.folder.display())
    }
}
