//! The fits of a run, or of one of its shards: existing records are kept, missing fits are run.

use std::collections::HashSet;
use std::sync::Arc;
use std::time::Instant;

use bagwise_core::{Dataset, Error, NoProgress, Result, SystemClock};
use bagwise_judge::{FoldPlan, GroundTruth, Key, Record, summarise};

use super::meter::Meter;
use super::{Evaluate, Event};
use crate::config::ALL;
use crate::fit::check_best;
use crate::methods;
use crate::plan::TimePlan;
use crate::run::{CONSTANT, Candidate, Deadline, FitStep, RecordStore, Run, RunPlan, Shard, until};

/// A run whose fits are done.
pub(super) struct Fits {
    pub(super) plan: RunPlan,
    pub(super) candidates: Vec<Candidate>,
    pub(super) time: TimePlan,
    pub(super) roster: GroundTruth,
    pub(super) folds: FoldPlan,
    pub(super) store: RecordStore,
    /// Fits that were there already, and the seconds that they took.
    pub(super) known: usize,
    pub(super) earlier: f64,
    pub(super) total: usize,
    /// Fits that a method has when all are done.
    pub(super) of_method: usize,
}

impl Evaluate<'_> {
    /// Every fit of the run, or of a shard, that is not there already.
    pub(super) fn fits(
        &self,
        shard: Option<Shard>,
        started: Instant,
        tell: &mut dyn FnMut(&Event<'_>) -> Result<()>,
    ) -> Result<Fits> {
        let clock = self.clock.clone().unwrap_or_else(|| Arc::new(SystemClock::since(started)));
        let plan = self.plan()?;
        let entries = self.entries()?;
        if self.one && entries.len() > 1 {
            return Err(Error::Invalid("evaluate takes one method; use compare for several".into()));
        }
        let time = self.time_plan_of(&entries, &plan, &*clock)?;
        let candidates = self.candidates(&time, &entries)?;
        check_best(self.best, candidates.iter().map(|c| c.setups.len()).max().unwrap_or(1))?;
        let data: &Dataset = &self.data;
        let run = Run::new(data, &candidates, &plan, self.given.as_deref())?;
        // Before any work.
        let mut outside = Vec::new();
        for (name, predictions) in &self.outside {
            check_outside_name(name, &candidates, &outside)?;
            outside.extend(run.outside_records(name, predictions)?);
        }
        let mut store = match shard {
            None => RecordStore::open(&self.keep, self.overwrite, &run, &time)?,
            Some(shard) => RecordStore::open_shard(&self.keep, self.overwrite, shard, &run, &time)?,
        };
        let wanted = shard.map(|shard| run.keys_of(shard));
        let trained = |r: &&Record| candidates.iter().any(|c| c.name == r.key.method);
        let known: HashSet<Key> = store.records().filter(trained).map(|r| r.key.clone()).collect();
        // A run that is completed took what its earlier sessions took as well. Fits that go on side by side share the time, so
        // that all times add up.
        let earlier: f64 = store.records().map(|r| r.seconds).sum();
        let (total, done) = (wanted.as_ref().map_or(run.len(), HashSet::len), known.len());
        let folder = store.folder.clone();
        tell(&Event::Started {
            data,
            candidates: &candidates,
            plan: &plan,
            done,
            total,
            time: &time,
            folder: folder.as_deref(),
            torn: store.torn().as_deref(),
        })?;
        // Fits are counted here; what goes on inside one would only make a bar flicker.
        let mut inside = self.ctx.sharing();
        inside.progress = Arc::new(NoProgress);
        let mut meter = Meter::new(&data.name, &time, &run, total, &known);
        let of_method = meter.folds;
        let deadline = self.budget.map(|at| Deadline { clock: Arc::clone(&clock), at });
        let mut step = |step: FitStep<'_>| {
            let record = match step {
                FitStep::Begins(key) => {
                    self.ctx.progress.run(&meter.at(&key.method));
                    return Ok(());
                }
                FitStep::Done(record) => *record,
            };
            store.append(record.clone())?;
            let (done, own) = meter.add(&record);
            if done == total {
                self.ctx.progress.run(&meter.at(&record.key.method));
            }
            tell(&Event::Fitted { record: &record, done, total })?;
            if own == of_method {
                let of_method = store.records().filter(|r| r.key.method == record.key.method);
                let own: Vec<Record> = of_method.cloned().collect();
                let table = summarise(&own, &run.roster, &[plan.metric], self.level)?;
                table.iter().try_for_each(|line| tell(&Event::Judged { line }))?;
            }
            match &deadline {
                Some(deadline) if deadline.passed() && done < total => Err(Error::Cancelled),
                _ => Ok(()),
            }
        };
        let elsewhere = |key: &Key| wanted.as_ref().is_some_and(|wanted| !wanted.contains(key));
        until(deadline.as_ref(), &inside, |inside| {
            run.execute_steps(&|key| known.contains(key) || elsewhere(key), &mut step, inside)
        })?;
        // Shards train; what comes from elsewhere joins them.
        for record in outside.iter().filter(|_| shard.is_none()) {
            let before = store.records().find(|r| r.key == record.key).map(|r| r.scored == record.scored);
            match before {
                None => store.append(record.clone())?,
                Some(true) => {}
                Some(false) => {
                    return Err(Error::Invalid(format!(
                        "the folder has other predictions of {}; use the same ones, another name or a new folder",
                        record.key.method
                    )));
                }
            }
        }
        let (roster, folds, known) = (run.roster, run.folds, known.len());
        Ok(Fits { plan, candidates, time, roster, folds, store, known, earlier, total, of_method })
    }
}

/// Refuses a name that a table would show twice.
fn check_outside_name(name: &str, candidates: &[Candidate], others: &[Record]) -> Result<()> {
    // A table of differences calls a constant prediction so.
    let reserved = name == ALL || name == CONSTANT;
    let taken = candidates.iter().any(|c| c.name == name) || methods::find(name).is_ok() || reserved;
    if name.trim().is_empty() || taken || others.iter().any(|r| r.key.method == name) {
        return Err(Error::Invalid(format!(
            "'{name}' cannot be the name of predictions from elsewhere: it is empty, taken, or a word of bagwise; choose another"
        )));
    }
    Ok(())
}
