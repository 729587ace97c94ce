//! Work that ends when its time is up: whole fits are cancelled through the flag that Ctrl-C sets, so that nothing is half
//! done.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::Duration;

use bagwise_core::{Clock, Ctx, Error, Result};

/// When time is up, by a clock.
pub(crate) struct Deadline {
    /// What time it is.
    pub(crate) clock: Arc<dyn Clock>,
    /// When time is up.
    pub(crate) at: Duration,
}

impl Deadline {
    /// Whether time is up.
    pub(crate) fn passed(&self) -> bool {
        self.clock.now() >= self.at
    }
}

/// How often the clock is read: a small part of the second within which work is to stop.
const TICK: Duration = Duration::from_millis(20);

/// Does work that is cancelled if the user asks for it, which is an error, or when time is up: then there is no result.
pub(crate) fn until<T>(
    deadline: Option<&Deadline>,
    ctx: &Ctx,
    work: impl FnOnce(&Ctx) -> Result<T>,
) -> Result<Option<T>> {
    let Some(deadline) = deadline else { return work(ctx).map(Some) };
    let (asked, stop) = (ctx.canceller(), Arc::new(AtomicBool::new(false)));
    let inside = ctx.with_canceller(Arc::clone(&stop));
    let outcome = std::thread::scope(|scope| {
        let (done, wait) = channel::<()>();
        let asked = &asked;
        let stop = &stop;
        let watch = move || {
            while wait.recv_timeout(TICK) == Err(RecvTimeoutError::Timeout) {
                if asked.load(Ordering::Relaxed) || deadline.passed() {
                    stop.store(true, Ordering::Relaxed);
                }
            }
        };
        std::thread::Builder::new().spawn_scoped(scope, watch).map_err(|e| {
            Error::refused(
                format!("a thread that watches the time could not be started ({e})"),
                "use fewer threads, raise the limit of processes, or set no time limit",
            )
        })?;
        let outcome = work(&inside);
        drop(done);
        outcome
    });
    match outcome {
        Err(Error::Cancelled) if asked.load(Ordering::Relaxed) => Err(Error::Cancelled),
        Err(Error::Cancelled) => Ok(None),
        other => other.map(Some),
    }
}
