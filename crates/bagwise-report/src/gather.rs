//! What a run leaves for a report besides its records, while its data are at hand: its settings, what the data look like,
//! what a kept column says of instances that decided, and a picture of the winner's kernel. Nothing is trained.

use std::collections::BTreeMap;

use bagwise::inspect::{Severity, inspect};
use bagwise::judge::{GroundTruth, Protocol, ProtocolName, Record, Splits};
use bagwise::run::{Candidate, RunPlan, Verdict, picture};
use bagwise::{Ctx, Dataset, Error, Result};

use crate::context::{Context, DataSummary, KeptColumn, SetupSummary, Suspicion};
use crate::explained::explained;

/// A run that is done.
pub struct Finished<'a> {
    /// The data.
    pub data: &'a Dataset,
    /// What was compared.
    pub candidates: &'a [Candidate],
    /// How.
    pub plan: &'a RunPlan,
    /// The level of intervals and tests.
    pub level: f64,
    /// The records, sorted by key.
    pub records: &'a [Record],
    /// The bags.
    pub roster: &'a GroundTruth,
}

/// What is known of a run before its first fit. How it was started and how long it took are for the caller to add.
pub fn basics(data: &Dataset, candidates: &[Candidate], plan: &RunPlan, level: f64) -> Result<Context> {
    Ok(Context {
        version: env!("CARGO_PKG_VERSION").into(),
        system: format!("{} {}", std::env::consts::OS, std::env::consts::ARCH),
        metric: Some(plan.metric),
        level: Some(level),
        protocol: in_words(&plan.protocol),
        optimistic: plan.protocol.optimistic(),
        threshold: plan.threshold.map(|t| t.to_string()),
        precision: plan.precision.name().into(),
        setups: candidates.iter().filter_map(|c| Some((c.name.clone(), setup(c)?))).collect(),
        data: Some(summary(data)?),
        ..Context::default()
    })
}

/// Adds to what is known of a run what shows when it is done.
pub fn gather(run: &Finished<'_>, known: Context, ctx: &Ctx) -> Result<Context> {
    let Finished { data, plan, records, roster, .. } = *run;
    let mut context = known;
    // Where every fit failed there is no winner, and nothing to add.
    let Ok(verdict) = Verdict::new(records, roster, plan.metric, run.level, plan.protocol.optimistic())
    else {
        return Ok(context);
    };
    context.kept = kept(data, records, roster, &verdict);
    if let Some(winner) = run.candidates.iter().find(|c| c.name == verdict.best().method) {
        match picture(data, winner, records, ctx) {
            Ok(picture) => context.gram = picture,
            Err(Error::Cancelled) => return Err(Error::Cancelled),
            // What is only an extra must not spoil a run.
            Err(e) => context.notes.push(format!("The picture of the kernel could not be shown: {e}.")),
        }
    }
    Ok(context)
}

/// What the data look like.
fn summary(data: &Dataset) -> Result<DataSummary> {
    let found = inspect(data)?;
    let suspicion = |f: &bagwise::inspect::Finding| Suspicion {
        warning: f.level == Severity::Warning,
        kind: f.kind.into(),
        message: f.message.clone(),
        remedy: f.remedy.to_string(),
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

/// What the first kept column says of the instances that the page names.
fn kept(data: &Dataset, records: &[Record], roster: &GroundTruth, verdict: &Verdict) -> Option<KeptColumn> {
    let column = data.kept.first()?;
    let (_, shown) = explained(records, roster, verdict)?;
    let mut values: BTreeMap<usize, BTreeMap<usize, String>> = BTreeMap::new();
    for e in shown {
        let rows = data.bags.rows(e.bag);
        let own = values.entry(e.bag).or_default();
        for (i, row) in rows.enumerate() {
            let number = data.instance_number(e.bag, i) - 1;
            if e.reason.parts.iter().any(|p| p.0 == number) {
                own.insert(number, column.values[row].clone());
            }
        }
    }
    Some(KeptColumn { name: column.name.clone(), values })
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
        (ProtocolName::Given, _) => format!("given folds, {inner}"),
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
