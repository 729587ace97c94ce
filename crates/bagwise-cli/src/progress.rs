//! Progress on a terminal: one line on stderr with a bar and the time left. Elsewhere nothing is shown, so that
//! logs hold no control characters.

use std::io::IsTerminal as _;
use std::sync::{Arc, Mutex};

use bagwise::Progress;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

/// A line with a bar.
pub(crate) struct Bar {
    /// The bar on the screen and what it counts.
    shown: Mutex<Option<(String, ProgressBar)>>,
}

impl Bar {
    /// A bar, if there is someone to see it.
    pub(crate) fn if_seen(quiet: bool) -> Option<Arc<Bar>> {
        (!quiet && std::io::stderr().is_terminal()).then(|| Arc::new(Bar { shown: Mutex::new(None) }))
    }

    /// Takes the bar off the screen.
    pub(crate) fn clear(&self) {
        // A thread that panicked while it drew has left nothing worth guarding.
        let mut shown = self.shown.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        if let Some((_, bar)) = shown.take() {
            bar.finish_and_clear();
        }
    }
}

impl Progress for Bar {
    fn step(&self, what: &str, done: u64, total: u64) {
        let mut shown = self.shown.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        if shown.as_ref().is_some_and(|(name, _)| name != what)
            && let Some((_, old)) = shown.take()
        {
            old.finish_and_clear();
        }
        let (_, bar) = shown.get_or_insert_with(|| {
            let style = ProgressStyle::with_template("{msg} {wide_bar} {pos}/{len} {eta} left")
                .expect("the template is correct");
            let bar =
                ProgressBar::with_draw_target(Some(total), ProgressDrawTarget::stderr()).with_style(style);
            bar.set_message(what.to_string());
            (what.to_string(), bar)
        });
        bar.set_length(total);
        bar.set_position(done);
        if done >= total {
            bar.finish_and_clear();
            *shown = None;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bar_goes_when_its_work_is_done_or_other_work_begins() {
        let bar = Bar { shown: Mutex::new(None) };
        let name = || bar.shown.lock().unwrap().as_ref().map(|(name, _)| name.clone());
        bar.step("folds", 1, 3);
        assert_eq!(name().as_deref(), Some("folds"));
        bar.step("grams", 1, 2);
        assert_eq!(name().as_deref(), Some("grams"));
        bar.step("grams", 2, 2);
        assert_eq!(name(), None);
        bar.step("folds", 2, 3);
        bar.clear();
        assert_eq!(name(), None);
    }
}
