//! How far a run is, for progress: by what its fits are expected to take, corrected by what they took.

use std::collections::{BTreeMap, HashSet};

use bagwise_core::RunProgress;
use bagwise_judge::{Key, Record};

use crate::plan::TimePlan;
use crate::run::Run;

/// How far a run is, by what its fits are expected to take.
pub(super) struct Meter<'t> {
    data: &'t str,
    time: &'t TimePlan,
    /// Fits of a method, and of all.
    pub(super) folds: usize,
    total: usize,
    /// The part of the run that is to be done here; less than 1 in a shard.
    part: f64,
    /// Fits that are done, by method.
    done: BTreeMap<String, usize>,
    /// Fits of this session: what they were expected to take, in seconds of a nominal core, and what they took.
    expected: f64,
    taken: f64,
}

impl<'t> Meter<'t> {
    /// `total` fits are to be done here, of those of the run.
    pub(super) fn new(
        data: &'t str,
        time: &'t TimePlan,
        run: &Run<'_>,
        total: usize,
        known: &HashSet<Key>,
    ) -> Meter<'t> {
        let folds = run.len() / time.methods.len().max(1);
        let part = total as f64 / run.len().max(1) as f64;
        let mut done = BTreeMap::new();
        known.iter().for_each(|key| *done.entry(key.method.clone()).or_insert(0) += 1);
        Meter { data, time, folds, total, part, done, expected: 0.0, taken: 0.0 }
    }

    /// What a fit of a method is expected to take, in seconds of a nominal core.
    fn of_fit(&self, method: &str) -> f64 {
        self.time.of(method).map_or(0.0, |m| m.seconds) / self.folds.max(1) as f64
    }

    /// Counts a fit; how many the run and its method have.
    pub(super) fn add(&mut self, record: &Record) -> (usize, usize) {
        self.expected += self.of_fit(&record.key.method);
        self.taken += record.seconds;
        let own = self.done.entry(record.key.method.clone()).or_insert(0);
        *own += 1;
        let own = *own;
        (self.done.values().sum(), own)
    }

    /// Where the run stands when a fit begins.
    pub(super) fn at<'p>(&'p self, method: &'p str) -> RunProgress<'p> {
        let all = (self.part * self.time.core_seconds()).max(1e-9);
        let done: f64 = self.done.iter().map(|(method, n)| self.of_fit(method) * *n as f64).sum();
        // After a hundredth of the work, what was taken tells more than the nominal speed.
        let pace =
            if self.expected > 0.01 * all { self.taken / self.expected } else { 1.0 / self.time.here() };
        RunProgress {
            data: self.data,
            method,
            fold: (self.done.get(method).copied().unwrap_or(0) + 1).min(self.folds),
            folds: self.folds,
            done: self.done.values().sum(),
            total: self.total,
            share: (done / all).min(1.0),
            seconds_left: (all - done).max(0.0) * pace,
        }
    }
}
