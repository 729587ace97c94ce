//! What a run leaves for a report besides its records, while its data are at hand: its settings, what the data look like,
//! what a kept column says of instances that decided, and a picture of the winner's kernel. Nothing is trained.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::SystemTime;

use bagwise::inspect::{Severity, inspect};
use bagwise::io::save_whole;
use bagwise::judge::{GroundTruth, Protocol, ProtocolName, Record, Splits};
use bagwise::run::{Candidate, RunPlan, Verdict, picture};
use bagwise::{CarriedColumn, Ctx, Dataset, Error, Evaluation, Result};

use crate::context::{CONTEXT_FILE, Context, DataSummary, KeptColumn, SetupSummary, Suspicion};
use crate::explained::explained;

impl Context {
    /// What is known of a run before its first fit; `command` is how the user started it. A run that is interrupted can
    /// be reported on too.
    pub fn begin(
        data: &Dataset,
        candidates: &[Candidate],
        plan: &RunPlan,
        level: f64,
        command: String,
    ) -> Result<Context> {
        Ok(Context {
            command,
            threads: rayon::current_num_threads(),
            version: env!("CARGO_PKG_VERSION").into(),
            system: format!("{} {}", std::env::consts::OS, std::env::consts::ARCH),
            metric: Some(plan.metric),
            level: Some(level),
            protocol: in_words(&plan.protocol),
            optimistic: plan.protocol.optimistic(),
            threshold: plan.threshold.map(|t| t.to_string()),
            precision: plan.precision.name().into(),
            setups: candidates.iter().filter_map(|c| Some((c.name.clone(), setup(c)?))).collect(),
            data: Some(summary(data, candidates.iter().flat_map(|c| &c.setups).any(|s| s.impute))?),
            ..Context::default()
        })
    }

    /// Adds what shows when the run is done.
    pub fn finish(mut self, data: &Dataset, evaluation: &Evaluation, ctx: &Ctx) -> Result<Context> {
        let Evaluation { candidates, records, roster, verdict, .. } = evaluation;
        self.finished = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).ok().map(|d| d.as_secs());
        self.seconds = Some(evaluation.elapsed.as_secs_f64());
        self.kept = kept(data, records, roster, verdict);
        // Of a run whose time was up there is no picture: it would take more of what there is none of.
        let winner = candidates.iter().find(|c| c.name == verdict.best().method);
        if let Some(winner) = winner.filter(|_| evaluation.incomplete.is_empty()) {
            match picture(data, winner, records, ctx) {
                Ok(picture) => self.gram = picture,
                Err(Error::Cancelled) => return Err(Error::Cancelled),
                // What is only an extra must not spoil a run.
                Err(e) => self.notes.push(format!("The kernel matrix could not be shown: {e}.")),
            }
        }
        Ok(self)
    }

    /// Writes it into the folder of the run.
    pub fn save(&self, folder: &Path) -> Result<()> {
        let text = serde_json::to_vec(self).map_err(|e| Error::Invalid(format!("the report's data: {e}")))?;
        save_whole(&folder.join(CONTEXT_FILE), &text)
    }
}

/// What the data look like; `filled` if missing values were filled.
fn summary(data: &Dataset, filled: bool) -> Result<DataSummary> {
    let found = inspect(data)?;
    let suspicion = |f: &bagwise::inspect::Finding| match filled && f.kind == "missing" {
        // Nothing is left to be done.
        true => Suspicion {
            warning: false,
            kind: f.kind.into(),
            message: f.message.replacen(
                "are missing",
                "were missing and are filled by medians of the training bags",
                1,
            ),
            remedy: String::new(),
        },
        false => Suspicion {
            warning: f.level == Severity::Warning,
            kind: f.kind.into(),
            message: f.message.clone(),
            remedy: f.remedy.to_string(),
        },
    };
    let sizes = &found.bag_sizes.spread;
    Ok(DataSummary {
        source: data.name.clone(),
        instances: found.instances,
        attributes: found.attributes,
        sizes: (sizes.min, sizes.median, sizes.max),
        findings: found.findings.iter().map(suspicion).collect(),
        warnings: found.warnings.iter().map(ToString::to_string).collect(),
    })
}

/// Where the instances that the page names are, or what a kept column says of them: coordinates if there are some, else the first
/// column that differs within the bags that are shown. What is the same throughout a bag tells no instance from another.
fn kept(data: &Dataset, records: &[Record], roster: &GroundTruth, verdict: &Verdict) -> Option<KeptColumn> {
    let (_, shown) = explained(records, roster, verdict)?;
    let column = |name: &str| data.kept.iter().find(|k| k.name.eq_ignore_ascii_case(name));
    let differs = |column: &&CarriedColumn| {
        shown.iter().any(|e| column.values[data.bags.rows(e.bag)].windows(2).any(|w| w[0] != w[1]))
    };
    let (name, text): (String, Box<dyn Fn(usize) -> String + '_>) = match (column("x"), column("y")) {
        (Some(x), Some(y)) => {
            ("at".into(), Box::new(move |row: usize| format!("{}, {}", x.values[row], y.values[row])))
        }
        _ => {
            let column = data.kept.iter().find(differs)?;
            (column.name.clone(), Box::new(move |row: usize| column.values[row].clone()))
        }
    };
    let mut values: BTreeMap<usize, BTreeMap<usize, String>> = BTreeMap::new();
    for e in &shown {
        let rows = data.bags.rows(e.bag);
        let own = values.entry(e.bag).or_default();
        for (i, row) in rows.enumerate() {
            let number = data.instance_number(e.bag, i) - 1;
            if e.reason.parts.iter().any(|p| p.0 == number) {
                own.insert(number, text(row));
            }
        }
    }
    Some(KeptColumn { name, values })
}

/// The protocol as one would say it.
fn in_words(protocol: &Protocol) -> String {
    let inner = match protocol.inner {
        Splits::KFold(k) => format!("parameters chosen by {k} inner folds"),
        other => format!("parameters chosen by {other}"),
    };
    match (protocol.name, protocol.outer) {
        (ProtocolName::Nested, Splits::KFold(k)) => format!("nested cross-validation, {k} folds, {inner}"),
        (ProtocolName::Kfold, Splits::KFold(k)) => format!("cross-validation, {k} folds, fixed parameters"),
        (ProtocolName::BestOnCv, Splits::KFold(k)) => {
            format!("cross-validation, {k} folds, parameters chosen on these folds")
        }
        (ProtocolName::Loo, _) => format!("each bag or group left out in turn, {inner}"),
        (ProtocolName::Half, Splits::Half(n)) => format!("{n} random halves, {inner}"),
        (ProtocolName::LearningCurve, Splits::Curve(k)) => {
            format!("{k} folds, each with 10 to 100 % of its training bags, {inner}")
        }
        (ProtocolName::Given, _) => format!("given folds, {inner}"),
        (ProtocolName::External, _) => "a saved model on new bags".into(),
        (ProtocolName::TrainTest, _) => format!("one given split, {inner}"),
        _ => protocol.to_string(),
    }
}

/// A method's grid, parameter by parameter; none for a choice among methods.
fn setup(candidate: &Candidate) -> Option<SetupSummary> {
    let [setup] = candidate.setups.as_slice() else { return None };
    let mut grid: Vec<(String, Vec<String>)> = Vec::new();
    for point in &setup.grid.points {
        for (name, value) in point.to_map() {
            let value = value.as_str().map_or(value.to_string(), String::from);
            match grid.iter_mut().find(|(n, _)| *n == name) {
                None => grid.push((name, vec![value])),
                Some((_, values)) if !values.contains(&value) => values.push(value),
                Some(_) => {}
            }
        }
    }
    Some(SetupSummary { scale: setup.scale.name().into(), points: setup.grid.points.len(), grid })
}
