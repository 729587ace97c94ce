//! The settings of a run, as `run.json` stores them. If another run is started in the same folder, the error can say which
//! setting differs, and not only that the fingerprints do.

use std::collections::BTreeMap;

use bagwise_judge::fingerprint;
use serde::Serialize;

use super::{Run, SetupText};

/// What stands before the fingerprint of a value that is too long to show.
const LONG: char = '#';

/// The setting that names the methods.
pub(super) const METHODS: &str = "methods";

/// How many differences a message lists.
const SHOWN: usize = 4;

/// Names and values, in the order in which differences are told. What follows from other settings, as the division into folds
/// does from the seed, stands last.
pub(crate) fn settings(run: &Run<'_>) -> Vec<(String, String)> {
    let plan = run.plan;
    let methods: Vec<&str> = run.candidates.iter().map(|c| c.name.as_str()).collect();
    let mut all = vec![
        ("name of the data".to_string(), run.data.name.clone()),
        ("data".into(), long(&run.roster.fingerprint)),
        (METHODS.into(), methods.join(", ")),
        ("protocol".into(), shown(&plan.protocol.name)),
        ("folds".into(), plan.protocol.outer.to_string()),
        ("inner folds".into(), plan.protocol.inner.to_string()),
        ("seed".into(), plan.seed.to_string()),
        ("repeats".into(), plan.repeats.to_string()),
        ("metric".into(), plan.metric.name().into()),
        ("threshold".into(), shown(&plan.threshold)),
        ("positive class".into(), shown(&plan.positive)),
        ("precision".into(), shown(&plan.precision)),
        ("best".into(), plan.best.to_string()),
        ("probabilities".into(), plan.probabilities.to_string()),
    ];
    for candidate in run.candidates {
        let setups: Vec<SetupText<'_>> = candidate.setups.iter().map(SetupText::of).collect();
        let each = |value: &dyn Fn(&SetupText<'_>) -> String| {
            let mut values: Vec<String> = setups.iter().map(value).collect();
            values.dedup();
            values.join(", ")
        };
        let of = |what: &str| format!("{what} of {}", candidate.name);
        let points: Vec<_> = setups.iter().map(|s| (s.method, s.points, s.grows)).collect();
        all.push((of("parameters"), long(&points)));
        all.push((of("scaling"), each(&|s| s.scale.into())));
        all.push((of("scheme for several classes"), each(&|s| shown(&s.scheme))));
        all.push((of("balanced weights"), each(&|s| s.balanced.to_string())));
        all.push((of("filling of missing values"), each(&|s| s.impute.to_string())));
    }
    all.push(("version of bagwise".into(), env!("CARGO_PKG_VERSION").into()));
    all.push(("division into folds".into(), long(&run.folds)));
    all
}

/// What differs between the settings that a folder keeps and those of this run, in a few words; none if nothing is known.
pub(crate) fn differences(there: &BTreeMap<String, String>, here: &[(String, String)]) -> Option<String> {
    let mut found: Vec<String> = Vec::new();
    for (name, value) in here {
        let Some(old) = there.get(name).filter(|old| *old != value) else { continue };
        if name == "division into folds" && !found.is_empty() {
            continue;
        }
        found.push(match old.starts_with(LONG) {
            true => name.clone(),
            false => format!("{name} ({old} there, {value} here)"),
        });
    }
    let more = found.len().saturating_sub(SHOWN);
    found.truncate(SHOWN);
    if more > 0 {
        found.push(format!("{more} more"));
    }
    (!found.is_empty()).then(|| found.join(", "))
}

/// A value in a word.
fn shown(value: &impl Serialize) -> String {
    match serde_json::to_value(value) {
        Ok(serde_json::Value::Null) => "none".into(),
        Ok(serde_json::Value::String(text)) => text,
        Ok(other) => other.to_string(),
        Err(_) => String::new(),
    }
}

fn long(value: &impl Serialize) -> String {
    format!("{LONG}{}", fingerprint(value))
}
