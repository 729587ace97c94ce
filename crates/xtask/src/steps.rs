//! A list of named steps, run one after the other until one fails, with the time each took.

use std::time::Instant;

use anyhow::{Result, bail};

use crate::run::say;

/// One step: its name, the command that repeats it alone, and the function, which may say what it counted.
pub(crate) struct Step {
    pub(crate) name: &'static str,
    pub(crate) repeat: &'static str,
    pub(crate) run: fn() -> Result<Option<String>>,
}

/// Runs the steps.
pub(crate) fn run(steps: &[Step]) -> Result<()> {
    let mut summary = Vec::new();
    let begin = Instant::now();
    for (i, step) in steps.iter().enumerate() {
        say(&format!("\n== {}/{} {}", i + 1, steps.len(), step.name));
        let start = Instant::now();
        let result = (step.run)();
        let seconds = start.elapsed().as_secs_f64();
        match result {
            Ok(note) => {
                let note = note.map_or(String::new(), |n| format!("  {n}"));
                summary.push(format!("  {:<10} {seconds:>7.1} s{note}", step.name));
            }
            Err(error) => {
                say(&format!(
                    "\n{}\nfailed: {} after {seconds:.1} s: {error:#}",
                    summary.join("\n"),
                    step.name
                ));
                bail!("to repeat this step alone: {}", step.repeat);
            }
        }
    }
    say(&format!("\n{}\n  {:<10} {:>7.1} s", summary.join("\n"), "all", begin.elapsed().as_secs_f64()));
    Ok(())
}
