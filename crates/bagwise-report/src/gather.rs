//! What a run leaves for a report besides its records, while its data are at hand: its settings, what the data look like,
//! what a kept column says of instances that decided, and a picture of the winner's kernel. Nothing is trained.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::SystemTime;

use bagwise::inspect::{Finding, Severity, inspect};
use bagwise::io::save_whole;
use bagwise::judge::{GroundTruth, Protocol, ProtocolName, Record, Splits, corrected_interval, wilson};
use bagwise::model::Model;
use bagwise::run::files::CONTEXT;
use bagwise::run::{Candidate, RunPlan, Verdict, picture};
use bagwise::{CarriedColumn, Ctx, Dataset, Error, Evaluation, Result, Target};

use crate::context::{
    Context, CoverageSummary, DataSummary, KeptColumn, ModelSource, SetupSummary, Suspicion,
};
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

    /// Adds what else would mislead about the results, of kinds that the data themselves did not show.
    pub fn warned_of(mut self, findings: &[Finding]) -> Context {
        if let Some(data) = &mut self.data {
            let is_new = |f: &&Finding| data.findings.iter().all(|known| known.kind != f.kind);
            let new: Vec<Suspicion> = findings.iter().filter(is_new).map(Suspicion::of).collect();
            data.findings.extend(new);
        }
        self
    }

    /// Adds what was said of a model and the bags that it is judged by.
    pub fn remarked(mut self, remarks: Vec<String>) -> Context {
        self.remarks = remarks;
        self
    }

    /// Adds what shows when the run is done.
    pub fn finish(mut self, data: &Dataset, evaluation: &Evaluation, ctx: &Ctx) -> Result<Context> {
        let Evaluation { candidates, records, roster, verdict, .. } = evaluation;
        self.finished = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).ok().map(|d| d.as_secs());
        self.seconds = Some(evaluation.elapsed.as_secs_f64());
        self.kept = kept(data, records, roster, verdict);
        self = self.took_part(verdict);
        // A run that ran out of time has no picture, because that would take more time.
        let winner = candidates.iter().find(|c| c.name == verdict.best().method);
        if let Some(winner) = winner.filter(|_| evaluation.incomplete.is_empty()) {
            match picture(data, winner, records, ctx) {
                Ok(picture) => self.gram = picture,
                Err(Error::Cancelled) => return Err(Error::Cancelled),
                // The run must not fail because of an optional extra.
                Err(e) => self.notes.push(format!("The kernel matrix could not be shown: {e}.")),
            }
        }
        Ok(self)
    }

    /// Adds where a saved model comes from that was judged, and what came of its [`coverage`].
    pub fn of_model(
        mut self,
        file: &Path,
        model: &Model,
        saw_these_bags: bool,
        coverage: Vec<CoverageSummary>,
    ) -> Context {
        let training = &model.header.training;
        let words = model.header.parameters.to_map();
        let words = words.iter().map(|(name, value)| format!("{name} {}", crate::figures::word(value)));
        self.model = Some(ModelSource {
            file: file.display().to_string(),
            data: training.data.clone(),
            bags: training.bags,
            groups: training.groups,
            fingerprint: training.fingerprint.clone(),
            metric: training.chosen_by.clone(),
            estimate: training.nested_value,
            parameters: words.collect::<Vec<_>>().join(", "),
            saw_these_bags,
        });
        self.coverage = coverage;
        self
    }

    /// Says which methods took part. The folder may hold records of others.
    pub fn took_part(mut self, verdict: &Verdict) -> Context {
        self.methods = verdict.table.iter().map(|line| line.method.clone()).collect();
        self
    }

    /// Writes it into the folder of the run.
    pub fn save(&self, folder: &Path) -> Result<()> {
        let text = serde_json::to_vec(self).map_err(|e| Error::Invalid(format!("the report's data: {e}")))?;
        save_whole(&folder.join(CONTEXT), &text)
    }
}

/// The coverages that are looked at.
const COVERAGES: [f64; 3] = [0.8, 0.9, 0.95];

/// How often the sets or intervals of a model hold the truth; nothing of a model that gives none, or for a coverage that it had too
/// few bags for. Intervals have `level`.
pub fn coverage(model: &Model, data: &Dataset, level: f64, ctx: &Ctx) -> Result<Vec<CoverageSummary>> {
    if !model.is_conformal() {
        return Ok(Vec::new());
    }
    let said = model.fold_predictions(&data.bags, ctx)?;
    let bags = data.bags.len() as f64;
    let mut all = Vec::new();
    for coverage in COVERAGES {
        let Ok(promise) = model.coverage_promise(coverage, false) else { continue };
        let mut found = CoverageSummary { coverage, promise, ..CoverageSummary::default() };
        let held: Vec<bool> = match data.require_target()? {
            Target::Classes { codes, names } => {
                let sets = model.sets_from(&said, coverage, false)?;
                let classes: Vec<usize> = sets.iter().map(|s| s.iter().filter(|h| **h).count()).collect();
                let share = |n: usize| classes.iter().filter(|c| **c == n).count() as f64 / bags;
                found.size = classes.iter().sum::<usize>() as f64 / bags;
                (found.single, found.empty) = (Some(share(1)), Some(share(0)));
                let held: Vec<bool> = sets.iter().zip(codes).map(|(set, c)| set[*c as usize]).collect();
                let of_class = |(class, name): (usize, &String)| {
                    let own: Vec<bool> = codes
                        .iter()
                        .zip(&held)
                        .filter(|(c, _)| **c as usize == class)
                        .map(|(_, held)| *held)
                        .collect();
                    let n = own.iter().filter(|h| **h).count() as f64;
                    (name.clone(), (!own.is_empty()).then(|| n / own.len() as f64))
                };
                found.classes = names.iter().enumerate().map(of_class).collect();
                held
            }
            Target::Values(values) => {
                let intervals = model.intervals_from(&said, coverage)?;
                found.size = intervals.iter().map(|(low, high)| high - low).sum::<f64>() / bags;
                intervals.iter().zip(values).map(|((low, high), v)| low <= v && v <= high).collect()
            }
        };
        let ends = match &data.groups {
            None => {
                let hits = held.iter().filter(|h| **h).count();
                found.held = hits as f64 / bags;
                wilson(hits as u64, held.len() as u64, level)?
            }
            // The promise is for a bag of a new group, so that groups count and not bags.
            Some(groups) => {
                let mut of_group: BTreeMap<u32, (f64, f64)> = BTreeMap::new();
                for (code, held) in groups.codes.iter().zip(&held) {
                    let own = of_group.entry(*code).or_default();
                    *own = (own.0 + f64::from(u8::from(*held)), own.1 + 1.0);
                }
                let shares: Vec<f64> = of_group.values().map(|(held, bags)| held / bags).collect();
                found.held = shares.iter().sum::<f64>() / shares.len() as f64;
                found.groups = Some(shares.len());
                // Without any spread the interval of a share of groups, as for bags.
                match shares.iter().all(|share| *share == shares[0]) && [0.0, 1.0].contains(&shares[0]) {
                    true => wilson((shares[0] * shares.len() as f64) as u64, shares.len() as u64, level)?,
                    false => corrected_interval(&shares, 0.0, level)?.map(|i| i.within((0.0, 1.0))),
                }
            }
        };
        found.interval = ends.map(|i| (i.low, i.high));
        all.push(found);
    }
    Ok(all)
}

impl Suspicion {
    fn of(finding: &Finding) -> Suspicion {
        Suspicion {
            warning: finding.level == Severity::Warning,
            kind: finding.kind.into(),
            message: finding.message.clone(),
            remedy: finding.remedy.to_string(),
        }
    }
}

/// What the data look like; `filled` if missing values were filled.
fn summary(data: &Dataset, filled: bool) -> Result<DataSummary> {
    let found = inspect(data)?;
    let suspicion = |f: &Finding| match filled && f.kind == "missing" {
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
        false => Suspicion::of(f),
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
