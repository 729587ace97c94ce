//! Progress on stderr: on a terminal, one line with a bar and the time left; elsewhere, a plain line now and then, so
//! that logs contain no control characters and still show that work is going on.

use std::io::IsTerminal as _;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use bagwise::{Progress, RunProgress};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::judging::human_seconds;
use crate::output;

/// How often a plain line is written: rarely enough for a log, often enough for a user who waits.
const INTERVAL: Duration = Duration::from_secs(30);

/// How progress is shown.
pub(crate) struct ProgressDisplay {
    terminal: bool,
    now: Mutex<Option<Work>>,
}

/// What is going on.
struct Work {
    /// What is counted: a bar of other work is another bar.
    name: String,
    text: String,
    /// On a terminal.
    bar: Option<ProgressBar>,
    /// When this is expected to end, of a run.
    end: Option<Instant>,
}

impl Work {
    /// As a plain line.
    fn line(&self) -> String {
        let left = match self.end.map(|end| end.checked_duration_since(Instant::now())) {
            Some(Some(left)) => format!(", about {} left", human_seconds(left.as_secs_f64())),
            Some(None) => ", longer than estimated".into(),
            None => String::new(),
        };
        format!("{}{left}", self.text)
    }
}

impl ProgressDisplay {
    /// Begins to show progress, if it is wanted.
    pub(crate) fn start(quiet: bool) -> Option<Arc<ProgressDisplay>> {
        if quiet {
            return None;
        }
        let shown =
            Arc::new(ProgressDisplay { terminal: std::io::stderr().is_terminal(), now: Mutex::new(None) });
        if !shown.terminal {
            let watched = Arc::downgrade(&shown);
            let tell = move || {
                loop {
                    std::thread::sleep(INTERVAL);
                    let Some(shown) = watched.upgrade() else { break };
                    let line = shown.lock().as_ref().map(Work::line);
                    if let Some(line) = line {
                        output::to_stderr(&output::printable(&line));
                    }
                }
            };
            // A system without room for another thread shows no progress.
            std::thread::Builder::new().spawn(tell).ok()?;
        }
        Some(shown)
    }

    /// Takes what is shown off the screen.
    pub(crate) fn clear(&self) {
        if let Some(Work { bar: Some(bar), .. }) = self.lock().take() {
            bar.finish_and_clear();
        }
    }

    fn lock(&self) -> MutexGuard<'_, Option<Work>> {
        // A thread that panicked while it drew has left nothing worth guarding.
        self.now.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Shows work of a name: how much of it is done, and when it will end if that is known.
    fn show(&self, name: &str, text: String, done: u64, total: u64, end: Option<Instant>) {
        let mut now = self.lock();
        if now.as_ref().is_some_and(|work| work.name != name)
            && let Some(Work { bar: Some(old), .. }) = now.take()
        {
            old.finish_and_clear();
        }
        let bar = || {
            let left = if end.is_some() { "" } else { " {pos}/{len} {eta} left" };
            let style = ProgressStyle::with_template(&format!("{{msg}} {{wide_bar}}{left}"))
                .expect("the template is correct");
            ProgressBar::with_draw_target(Some(total), ProgressDrawTarget::stderr()).with_style(style)
        };
        let work = now.get_or_insert_with(|| Work {
            name: name.into(),
            text: String::new(),
            bar: self.terminal.then(bar),
            end,
        });
        (work.text, work.end) = (text, end);
        let message = if end.is_some() { work.line() } else { work.text.clone() };
        if let Some(bar) = &work.bar {
            bar.set_message(message);
            bar.set_length(total);
            bar.set_position(done);
        }
        if done >= total
            && let Some(Work { bar: Some(bar), .. }) = now.take()
        {
            bar.finish_and_clear();
        }
    }
}

impl Progress for ProgressDisplay {
    fn step(&self, what: &str, done: u64, total: u64) {
        let text = if self.terminal { what.into() } else { format!("{what}: {done} of {total}") };
        self.show(what, text, done, total, None);
    }

    fn run(&self, at: &RunProgress<'_>) {
        // A bar of a thousand parts: shares are what the fits are expected to take.
        let done = (1000.0 * at.share.clamp(0.0, 0.999)) as u64;
        let end =
            Duration::try_from_secs_f64(at.seconds_left).ok().and_then(|d| Instant::now().checked_add(d));
        self.show(at.data, at.to_string(), done, 1000, Some(end.unwrap_or_else(Instant::now)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown() -> ProgressDisplay {
        ProgressDisplay { terminal: true, now: Mutex::new(None) }
    }

    #[test]
    fn a_bar_goes_when_its_work_is_done_or_other_work_begins() {
        let shown = shown();
        let name = || shown.lock().as_ref().map(|work| work.name.clone());
        shown.step("folds", 1, 3);
        assert_eq!(name().as_deref(), Some("folds"));
        shown.step("grams", 1, 2);
        assert_eq!(name().as_deref(), Some("grams"));
        shown.step("grams", 2, 2);
        assert_eq!(name(), None);
        shown.step("folds", 2, 3);
        shown.clear();
        assert_eq!(name(), None);
    }

    #[test]
    fn a_run_says_method_set_fold_share_and_end() {
        let shown = shown();
        let at = RunProgress {
            data: "musk1",
            method: "mi-kernel",
            fold: 3,
            folds: 10,
            done: 12,
            total: 30,
            share: 0.42,
            seconds_left: 600.5,
        };
        shown.run(&at);
        let line = shown.lock().as_ref().map(Work::line).unwrap();
        assert_eq!(line, "musk1: mi-kernel, fold 3 of 10, 42 %, about 10 min left");
        // Nothing is done, as a sum of nothing says it, and the time is up.
        shown.run(&RunProgress { share: -0.0, seconds_left: 0.0, ..at });
        std::thread::sleep(Duration::from_millis(2));
        let line = shown.lock().as_ref().map(Work::line).unwrap();
        assert_eq!(line, "musk1: mi-kernel, fold 3 of 10, 0 %, longer than estimated");
        shown.run(&RunProgress { fold: 4, seconds_left: f64::INFINITY, ..at });
        assert!(shown.lock().as_ref().unwrap().line().contains("fold 4 of 10"));
    }
}
