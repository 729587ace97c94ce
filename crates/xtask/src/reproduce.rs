//! `cargo xtask reproduce NAME`: published and promised results, computed again and printed as tables. An experiment is
//! a file in `reproduce/` and a line in [`ALL`]; what experiments share (setups, nested runs, tables) is here and in
//! `reproduce/section.rs`. `--markdown` prints what docs/reproduction.md shows, `--write` puts it there, between the
//! marks that carry the experiment's name. Data sets are found by name, in `$BAGWISE_DATA` or `data/`.

mod explain;
mod gauss;
mod isk;
mod leakage;
mod mg;
mod mirsvm;
mod papers;
mod section;
mod speed;

use std::path::Path;
use std::time::{Instant, SystemTime, UNIX_EPOCH};

use anyhow::{Context as _, Result, bail};
use bagwise::fold::Setup;
use bagwise::judge::{MethodSummary, Metric, Protocol, ProtocolName, Record, Roster, summarise};
use bagwise::methods;
use bagwise::params::{Fill, Grid};
use bagwise::preprocess::Scale;
use bagwise::run::{Contender, Plan, Run};
use bagwise::{Ctx, Dataset};

use crate::run::{cargo, print, root, run as run_command, say};
use section::Section;

/// An experiment: its name, what it shows, and the function.
type Experiment = (&'static str, &'static str, fn() -> Result<Section>);

const ALL: &[Experiment] = &[
    ("gauss", "accuracies of mi-kernel, migraph and wmksvm beside papers and reference", gauss::run),
    ("isk", "accuracies of the isolation set-kernel beside paper and reference", isk::run),
    ("speed", "ten times 10-fold nested over the same methods and sets, and the time it takes", speed::run),
    ("explain", "whether explanations find the instances that made a bag positive", explain::run),
    ("mirsvm", "accuracies of mirsvm beside paper and reference, and how its searches end", mirsvm::run),
    ("mg", "marginalized kernels on Musk1, 1000-Image and LJ beside the paper and the reference", mg::run),
    ("papers", "the tables of the papers, from the files in experiments/", papers::run),
    ("leakage", "nested accuracy on labels that mean nothing", leakage::run),
];

/// Runs the experiment that is named.
pub(crate) fn run(args: &[String]) -> Result<()> {
    let list: Vec<String> = ALL.iter().map(|(name, what, _)| format!("  {name:<10} {what}")).collect();
    let (flags, names): (Vec<&String>, Vec<&String>) = args.iter().partition(|a| a.starts_with("--"));
    if let Some(flag) = flags.iter().find(|f| !["--markdown", "--write"].contains(&f.as_str())) {
        bail!("'{flag}' is neither --markdown nor --write");
    }
    let chosen = match names[..] {
        [name] => ALL.iter().find(|e| e.0 == name),
        _ => None,
    };
    let Some((name, _, experiment)) = chosen else {
        bail!("say which experiment:\n{}", list.join("\n"));
    };
    if cfg!(debug_assertions) {
        // Users run release builds; measure what they run.
        let again = ["run", "--release", "--quiet", "--package", "xtask", "--", "reproduce"];
        let mut command = cargo(&again);
        command.args(args);
        return run_command(command);
    }
    let started = Instant::now();
    let section = experiment()?;
    let has = |flag: &str| flags.iter().any(|f| *f == flag);
    let markdown = format!(
        "{}\n`cargo xtask reproduce {name}`, {}, {} threads, {:.0} s.\n",
        section.markdown(),
        today(),
        threads(),
        started.elapsed().as_secs_f64()
    );
    print(&if has("--markdown") { markdown.clone() } else { section.text() });
    if has("--write") {
        write(&root().join("docs/reproduction.md"), name, &markdown)?;
    }
    Ok(())
}

/// Replaces what stands between the marks of an experiment.
fn write(page: &Path, name: &str, markdown: &str) -> Result<()> {
    let text = std::fs::read_to_string(page).with_context(|| format!("reading {}", page.display()))?;
    let (begin, end) = (format!("<!-- begin {name} -->\n"), format!("<!-- end {name} -->\n"));
    let cut = text.split_once(&begin).and_then(|(head, rest)| Some((head, rest.split_once(&end)?.1)));
    let (head, tail) = cut.with_context(|| format!("{} has no marks for {name}", page.display()))?;
    std::fs::write(page, format!("{head}{begin}\n{markdown}\n{end}{tail}"))?;
    say(&format!("{} has new figures for {name}", page.display()));
    Ok(())
}

/// The day in universal time, as 2026-01-31.
fn today() -> String {
    let seconds = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |d| d.as_secs());
    date(seconds / 86_400)
}

/// The date of a day counted from 1970-01-01, by years that begin in March so that the leap day comes last.
fn date(days: u64) -> String {
    let days = days + 719_468;
    let of_era = days % 146_097;
    let year = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year + year / 4 - year / 100);
    let month = (5 * of_year + 2) / 153;
    let day = of_year - (153 * month + 2) / 5 + 1;
    let (month, next) = if month < 10 { (month + 3, 0) } else { (month - 9, 1) };
    format!("{:04}-{month:02}-{day:02}", days / 146_097 * 400 + year + next)
}

fn threads() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

/// Processor time of this process so far, where the system tells (Linux, in hundredths).
fn cpu_seconds() -> Option<f64> {
    let line = std::fs::read_to_string("/proc/self/stat").ok()?;
    // The name of the program, in parentheses, may hold spaces.
    let fields: Vec<&str> = line.rsplit_once(')')?.1.split_whitespace().collect();
    let ticks = |at: usize| fields.get(at)?.parse::<f64>().ok();
    Some((ticks(11)? + ticks(12)?) / 100.0)
}

/// A data set by name; nothing, and a line that says so, if it cannot be read.
fn find(name: &str) -> Option<Dataset> {
    match bagwise::io::read(name, &Default::default()) {
        Ok(data) => Some(data),
        Err(error) => {
            say(&format!("{name} is left out: {error}"));
            None
        }
    }
}

/// A method under a grid: what is given, and the method's own grid for the rest.
fn setup(method: &str, given: &[(&str, &str)], scale: Option<Scale>) -> Result<Setup> {
    let method = methods::find(method)?;
    let info = method.info();
    let given: Vec<(String, String)> = given.iter().map(|(k, v)| (k.to_string(), v.to_string())).collect();
    let grid = Grid::new(info.name, method.params(), &given, Fill::Grid, false)?;
    Ok(Setup {
        method,
        scale: scale.unwrap_or_else(|| method.scale(&grid.points)),
        grid,
        scheme: method.scheme(),
        balanced: false,
        impute: false,
    })
}

/// Ten outer and five inner folds, parameters by accuracy.
fn plan(name: ProtocolName, seed: u64, repeats: usize) -> Plan {
    Plan {
        protocol: Protocol::new(name, 10, 5),
        metric: Metric::Accuracy,
        threshold: None,
        best: false,
        positive: None,
        seed,
        repeats,
        precision: bagwise::Precision::F64,
    }
}

/// Judges one setup by a plan.
fn judge(data: &Dataset, setup: Setup, plan: &Plan) -> Result<MethodSummary> {
    let (records, roster) = records(data, setup, plan)?;
    only(&records, &roster)
}

/// The records of one setup under a plan.
fn records(data: &Dataset, setup: Setup, plan: &Plan) -> Result<(Vec<Record>, Roster)> {
    let contenders = [Contender { name: setup.method.info().name.into(), setups: vec![setup] }];
    let run = Run::new(data, &contenders, plan, None)?;
    let mut records: Vec<Record> = Vec::new();
    let mut keep = |record| {
        records.push(record);
        Ok(())
    };
    run.carry_out(&|_| false, &mut keep, &Ctx::seeded(plan.seed))?;
    Ok((records, run.roster))
}

/// The summary of the one method there is; a failed fit is an error.
fn only(records: &[Record], roster: &Roster) -> Result<MethodSummary> {
    if let Some(failed) = records.iter().find(|r| !r.succeeded()) {
        bail!("{}: {}", failed.key, failed.outcome.message.as_deref().unwrap_or("failed"));
    }
    let mut table = summarise(records, roster, &[Metric::Accuracy], LEVEL)?;
    table.pop().context("a run has records")
}

/// Level of all intervals.
const LEVEL: f64 = 0.95;

/// The mean accuracy of a summary.
fn accuracy(summary: &MethodSummary) -> f64 {
    summary.metrics[0].mean.unwrap_or(f64::NAN)
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

/// Standard deviation, n - 1.
fn deviation(values: &[f64]) -> f64 {
    let centre = mean(values);
    (values.iter().map(|v| (v - centre).powi(2)).sum::<f64>() / (values.len() as f64 - 1.0)).sqrt()
}

/// A share as a percentage with one decimal.
fn percent(share: f64) -> String {
    format!("{:.1}", 100.0 * share)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_have_dates() {
        assert_eq!(
            [0, 59, 11_016, 20_454].map(date),
            ["1970-01-01", "1970-03-01", "2000-02-29", "2026-01-01"]
        );
    }

    #[test]
    fn figures_replace_those_between_the_marks_of_their_name() {
        let page = std::env::temp_dir().join(format!("bagwise-reproduce-{}.md", std::process::id()));
        std::fs::write(&page, "a\n<!-- begin x -->\nold\n<!-- end x -->\nb\n").unwrap();
        write(&page, "x", "new\n").unwrap();
        let text = std::fs::read_to_string(&page).unwrap();
        assert!(write(&page, "y", "new\n").is_err());
        std::fs::remove_file(&page).unwrap();
        assert_eq!(text, "a\n<!-- begin x -->\n\nnew\n\n<!-- end x -->\nb\n");
    }
}
