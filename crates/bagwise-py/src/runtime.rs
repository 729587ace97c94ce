//! Runs every computation that Python starts. The work runs on our own threads. The calling Python thread waits without the
//! interpreter's lock, so other Python threads keep running, and checks for signals (Ctrl-C) every few milliseconds. On a signal,
//! the work is asked to stop. If it does not stop within [`GRACE`], the call returns and the work ends later by itself; it owns
//! its data. Every error becomes an exception, and a panic an exception that calls it a bug in bagwise.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::Ordering;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use bagwise::Precision;
use bagwise::{Ctx, Error, Progress, Setting};
use pyo3::exceptions::{PyKeyboardInterrupt, PyMemoryError, PyOSError, PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use rayon::{ThreadPool, ThreadPoolBuilder};

/// How often the waiting thread checks for signals: often enough for a user, rarely enough to cost nothing.
const TICK: Duration = Duration::from_millis(20);

/// How long to wait for work that was asked to stop.
const GRACE: Duration = Duration::from_millis(500);

/// The settings of a computation, which Python passes as a dictionary with these keys.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct RunConfig {
    pub(crate) seed: u64,
    memory: u64,
    precision: String,
    threads: Option<usize>,
    /// Called from time to time with the current task, the number of finished steps and the total.
    progress: Option<Py<PyAny>>,
}

/// The latest progress of a computation, for the thread that may call Python.
#[derive(Default)]
struct LatestProgress(Mutex<Option<(String, u64, u64)>>);

impl LatestProgress {
    fn take(&self) -> Option<(String, u64, u64)> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}

impl Progress for LatestProgress {
    fn step(&self, what: &str, done: u64, total: u64) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some((what.into(), done, total));
    }
}

impl RunConfig {
    pub(crate) fn precision(&self) -> PyResult<Precision> {
        self.precision.parse().map_err(exception)
    }

    fn ctx(&self) -> PyResult<Ctx> {
        let mut ctx = Ctx::seeded(self.seed);
        ctx.memory = self.memory;
        ctx.precision = self.precision()?;
        Ok(ctx)
    }
}

/// Runs work on bags in memory on our threads and returns its result to Python.
pub(crate) fn run<T: Send + 'static>(
    py: Python<'_>,
    config: &RunConfig,
    work: impl FnOnce(&Ctx) -> bagwise::Result<T> + Send + 'static,
) -> PyResult<T> {
    let mut ctx = config.ctx()?;
    let latest = Arc::new(LatestProgress::default());
    if config.progress.is_some() {
        ctx.progress = Arc::clone(&latest) as Arc<dyn Progress>;
    }
    let tell = |py: Python<'_>| match (&config.progress, latest.take()) {
        (Some(call), Some(step)) => call.call1(py, step).map(drop),
        _ => Ok(()),
    };
    let cancel = ctx.canceller();
    let (send, mut receive) = mpsc::sync_channel(1);
    let pool = Pool::take(config.threads)?;
    let own = Arc::clone(&pool.threads);
    own.spawn(move || {
        let result = catch_unwind(AssertUnwindSafe(|| work(&ctx)));
        pool.give_back();
        // Nobody receives the result if the call has already returned.
        let _ = send.send(result);
    });
    let mut stopping: Option<(PyErr, Instant)> = None;
    loop {
        let (back, answer) = py.detach(move || {
            let answer = receive.recv_timeout(TICK);
            (receive, answer)
        });
        receive = back;
        let answer = match answer {
            Err(RecvTimeoutError::Timeout) => None,
            Err(RecvTimeoutError::Disconnected) => Some(Err(panicked())),
            Ok(Err(_)) => Some(Err(panicked())),
            Ok(Ok(result)) => Some(result.map_err(|e| worded(e, &argument_beside_bags))),
        };
        match (stopping.take(), answer) {
            (None, Some(result)) => {
                tell(py)?;
                return result;
            }
            (Some((signal, _)), Some(_)) => return Err(signal),
            (Some((signal, since)), None) if since.elapsed() > GRACE => return Err(signal),
            (Some(asked), None) => stopping = Some(asked),
            (None, None) => {
                if let Err(signal) = tell(py).and_then(|()| py.check_signals()) {
                    cancel.store(true, Ordering::Relaxed);
                    stopping = Some((signal, Instant::now()));
                }
            }
        }
    }
}

fn panicked() -> PyErr {
    PyRuntimeError::new_err(
        "bagwise panicked. This is a bug in bagwise; please report it with the shape of your data",
    )
}

/// The Python argument for a setting that a message names, with a value that would help or a placeholder.
pub(crate) fn argument(setting: &Setting) -> String {
    let column = |name: &Option<String>| name.as_ref().map_or("COLUMN".into(), |name| format!("{name:?}"));
    match setting {
        Setting::Memory => "memory=BYTES".into(),
        Setting::MaxInstances => "max_instances=N".into(),
        // Bags may be read or made by themselves, or inside `fit`.
        Setting::AllowMissing => "missing=True (read, Bags) or missing=\"median\" (estimators)".into(),
        Setting::Budget => "budget=SECONDS".into(),
        Setting::FillMissing => "missing=\"median\"".into(),
        Setting::Scale(names) => format!("scale=\"{}\"", names.join("\" or \"")),
        Setting::Parameter(name, value) => match value.parse::<f64>() {
            Ok(_) => format!("{}={value}", keyword(name)),
            Err(_) => format!("{}=\"{value}\"", keyword(name)),
        },
        Setting::Task(name) => format!("task=\"{name}\""),
        Setting::Conformal => "conformal=True in fit".into(),
        Setting::Coverage => "coverage=".into(),
        Setting::Folds => "folds=N".into(),
        Setting::Inner => "inner=N".into(),
        Setting::GivenFolds => "folds=[…], one entry per bag".into(),
        Setting::Optimize(metric) => format!("optimize=\"{metric}\""),
        Setting::Protocol(name) => format!("protocol=\"{name}\""),
        Setting::InputFormat => "format=NAME".into(),
        Setting::ReadWhole => "read(...)".into(),
        Setting::SourceFile => "file=PATH".into(),
        Setting::DataFolder => "folder=PATH".into(),
        Setting::Header => "header=True".into(),
        Setting::NoHeader => "header=False".into(),
        Setting::Delimiter => "delimiter=TEXT".into(),
        Setting::Decimal => "decimal=TEXT".into(),
        Setting::Thousands => "thousands=TEXT".into(),
        Setting::Encoding => "encoding=NAME".into(),
        Setting::MissingValues(text) => {
            format!("missing_values=[{}]", text.as_ref().map_or("TEXT".into(), |text| format!("{text:?}")))
        }
        Setting::Labels => "labels=FILE".into(),
        Setting::Bag => "bag=COLUMN".into(),
        Setting::Label => "label=COLUMN".into(),
        Setting::Group => "group=COLUMN".into(),
        Setting::GroupColumn(name) => format!("group={name:?}"),
        Setting::InstanceLabel => "instance_label=COLUMN".into(),
        Setting::Keep => "keep=[COLUMN]".into(),
        // Files are replaced here without asking, as NumPy does.
        Setting::Overwrite => "--force on the command line".into(),
        Setting::Ignore(name) => format!("ignore=[{}]", column(name)),
        Setting::Categorical(name) => format!("categorical=[{}]", column(name)),
    }
}

/// The same for what is said of bags in memory: the functions that say it have no columns, so that what has to do with them is
/// named together with the function that makes bags of columns.
pub(crate) fn argument_beside_bags(setting: &Setting) -> String {
    match setting {
        Setting::Group => "groups=[…], one entry per bag".into(),
        Setting::GroupColumn(name) => format!("groups=[…], the {name:?} of each bag"),
        Setting::Bag | Setting::Label | Setting::Keep | Setting::Ignore(_) => {
            format!("{} in bagwise.read or bagwise.from_frame", argument(setting))
        }
        Setting::InstanceLabel
        | Setting::MaxInstances
        | Setting::MissingValues(_)
        | Setting::Categorical(_) => format!("{} in bagwise.read", argument(setting)),
        _ => argument(setting),
    }
}

/// What Python calls a parameter of a method.
fn keyword(name: &str) -> String {
    name.replace('-', "_")
}

/// The exception for an error.
pub(crate) fn exception(error: Error) -> PyErr {
    worded(error, &argument)
}

fn worded(error: Error, wording: &dyn Fn(&Setting) -> String) -> PyErr {
    let error = match error {
        Error::Param { method, name, problem } => Error::Param { method, name: keyword(&name), problem },
        other => other,
    };
    let message = error.worded(wording);
    match error {
        Error::Io { path, source } => match source.raw_os_error() {
            // Python chooses FileNotFoundError and the like by the number.
            Some(code) => PyOSError::new_err((code, source.to_string(), path)),
            None => PyOSError::new_err(message),
        },
        Error::Memory { .. } => PyMemoryError::new_err(message),
        Error::Cancelled => PyKeyboardInterrupt::new_err(message),
        _ => PyValueError::new_err(message),
    }
}

/// Threads for one computation at a time. Two concurrent computations have separate threads, so that neither waits for the
/// other. The threads of a parent process do not exist in a forked process, which starts new ones.
struct Pool {
    process: u32,
    wanted: Option<usize>,
    threads: Arc<ThreadPool>,
}

static IDLE: Mutex<Vec<Pool>> = Mutex::new(Vec::new());

impl Pool {
    fn take(wanted: Option<usize>) -> PyResult<Pool> {
        let process = std::process::id();
        let mut idle = IDLE.lock().unwrap_or_else(PoisonError::into_inner);
        // Dropping a pool waits for its threads, and those of a parent process no longer exist.
        while let Some(at) = idle.iter().position(|p| p.process != process) {
            std::mem::forget(idle.swap_remove(at));
        }
        if let Some(at) = idle.iter().position(|p| p.wanted == wanted) {
            return Ok(idle.swap_remove(at));
        }
        let builder = ThreadPoolBuilder::new().num_threads(wanted.unwrap_or(0));
        let threads =
            builder.build().map_err(|e| PyRuntimeError::new_err(format!("could not start threads: {e}")))?;
        Ok(Pool { process, wanted, threads: Arc::new(threads) })
    }

    fn give_back(self) {
        /// More concurrent computations than this are rare; their threads are dropped.
        const KEPT: usize = 4;
        let mut idle = IDLE.lock().unwrap_or_else(PoisonError::into_inner);
        if idle.len() < KEPT {
            idle.push(self);
        }
    }
}
