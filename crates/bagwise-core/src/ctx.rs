//! What a long computation is given besides its inputs: the seed, the memory it may use, somewhere to report
//! progress, and a flag that asks it to stop. Threads are the ambient rayon pool.

use std::any::Any;
use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;
use std::sync::Mutex;
use std::sync::PoisonError;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use crate::error::{Error, Result};
use crate::message::Message;

/// Where progress is shown. Called from any thread.
pub trait Progress: Send + Sync {
    /// `done` of `total` steps of `what` are finished.
    fn step(&self, what: &str, done: u64, total: u64);

    /// A run of many fits has come so far.
    fn run(&self, at: &RunProgress<'_>) {
        self.step(&at.to_string(), at.done as u64, at.total as u64);
    }
}

/// The current time, for deadlines. Tests use their own clock.
pub trait Clock: Send + Sync {
    /// The time since some fixed moment.
    fn now(&self) -> Duration;
}

/// The clock of the system, from the moment it was made.
pub struct SystemClock(Instant);

impl SystemClock {
    /// A clock that started at a moment.
    pub fn since(start: Instant) -> SystemClock {
        SystemClock(start)
    }
}

impl Clock for SystemClock {
    fn now(&self) -> Duration {
        self.0.elapsed()
    }
}

/// The progress of a run of many fits, to be displayed.
#[derive(Clone, Debug, PartialEq)]
pub struct RunProgress<'a> {
    /// The data set.
    pub data: &'a str,
    /// The method that is being judged.
    pub method: &'a str,
    /// Its fold, counted from 1 over all repeats.
    pub fold: usize,
    /// All its folds.
    pub folds: usize,
    /// Fits that are done.
    pub done: usize,
    /// All fits of the run.
    pub total: usize,
    /// The share of the expected work that is done, from 0 to 1.
    pub share: f64,
    /// What the rest will take, in seconds.
    pub seconds_left: f64,
}

/// `musk1: mi-kernel, fold 3 of 10, 42 %`.
impl fmt::Display for RunProgress<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let RunProgress { data, method, fold, folds, share, .. } = self;
        let percent = (100.0 * share.clamp(0.0, 1.0)).round() as u32;
        write!(f, "{data}: {method}, fold {fold} of {folds}, {percent} %")
    }
}

/// Shows nothing.
pub struct NoProgress;

impl Progress for NoProgress {
    fn step(&self, _: &str, _: u64, _: u64) {}
}

/// The precision of distances and kernel values; sums into the Grams are always f64.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Precision {
    /// Double: what every figure elsewhere assumes.
    #[default]
    F64,
    /// Single: about twice as fast, six digits.
    F32,
}

impl Precision {
    /// The name users write.
    pub fn name(self) -> &'static str {
        match self {
            Precision::F64 => "f64",
            Precision::F32 => "f32",
        }
    }
}

impl std::str::FromStr for Precision {
    type Err = Error;

    fn from_str(text: &str) -> Result<Precision> {
        let all = [Precision::F64, Precision::F32];
        let found = all.into_iter().find(|p| p.name() == text);
        found.ok_or_else(|| Error::unknown("precision", text, all.map(Precision::name)))
    }
}

/// A cache, limited in size, of results that several computations of a run need. A computation looks here first, and
/// leaves it here afterwards. Nothing is ever removed: runs come back to their folds in much the same order, so that of a list
/// that is too long the beginning serves better than the end.
pub struct SharedResults {
    limit: u64,
    kept: Mutex<SharedEntries>,
}

#[derive(Default)]
struct SharedEntries {
    bytes: u64,
    entries: HashMap<u128, Arc<dyn Any + Send + Sync>>,
}

impl SharedResults {
    /// A cache of this many bytes.
    pub fn new(limit: u64) -> SharedResults {
        SharedResults { limit, kept: Mutex::default() }
    }

    /// The result of a digest, if it is here.
    pub fn get<T: Send + Sync + 'static>(&self, digest: u128) -> Option<Arc<T>> {
        let kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        kept.entries.get(&digest).cloned()?.downcast().ok()
    }

    /// Stores a result of this many bytes, if there is room.
    pub fn keep<T: Send + Sync + 'static>(&self, digest: u128, result: &Arc<T>, bytes: u64) {
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        if kept.bytes.saturating_add(bytes) <= self.limit && !kept.entries.contains_key(&digest) {
            kept.bytes += bytes;
            kept.entries.insert(digest, Arc::<T>::clone(result));
        }
    }

    /// How many results are here.
    pub fn len(&self) -> usize {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner).entries.len()
    }

    /// True if there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// The surroundings of a computation.
#[derive(Clone)]
pub struct Ctx {
    /// The run's seed.
    pub seed: u64,
    /// Bytes that Grams, caches and copies may occupy together.
    pub memory: u64,
    /// Precision of kernel sums.
    pub precision: Precision,
    /// Where progress is shown.
    pub progress: Arc<dyn Progress>,
    /// Results that the methods of a run share; none where a method stands alone.
    pub shared: Option<Arc<SharedResults>>,
    cancel: Arc<AtomicBool>,
}

impl Default for Ctx {
    fn default() -> Ctx {
        Ctx {
            seed: 0,
            memory: 4_000_000_000,
            precision: Precision::F64,
            progress: Arc::new(NoProgress),
            shared: None,
            cancel: Arc::default(),
        }
    }
}

impl Ctx {
    /// The default surroundings with a seed.
    pub fn seeded(seed: u64) -> Ctx {
        Ctx { seed, ..Ctx::default() }
    }

    /// The flag that asks the computation to stop; set it from a signal handler or another thread.
    pub fn canceller(&self) -> Arc<AtomicBool> {
        Arc::clone(&self.cancel)
    }

    /// The same surroundings with a flag of their own, for work that may be stopped for itself.
    pub fn with_canceller(&self, flag: Arc<AtomicBool>) -> Ctx {
        Ctx { cancel: flag, ..self.clone() }
    }

    /// The same surroundings with room for results that methods share: an eighth of the memory.
    pub fn sharing(&self) -> Ctx {
        Ctx { shared: Some(Arc::new(SharedResults::new(self.memory / 8))), ..self.clone() }
    }

    /// An error if the user asked to stop. Loops of more than a few milliseconds call this.
    pub fn check(&self) -> Result<()> {
        if self.cancel.load(Ordering::Relaxed) { Err(Error::Cancelled) } else { Ok(()) }
    }

    /// An error if `needed` bytes for `what` exceed the budget.
    pub fn reserve(&self, what: &str, needed: u64, remedy: impl Into<Message>) -> Result<()> {
        if needed > self.memory {
            return Err(Error::Memory {
                what: what.into(),
                needed,
                budget: self.memory,
                remedy: remedy.into(),
            });
        }
        Ok(())
    }
}
