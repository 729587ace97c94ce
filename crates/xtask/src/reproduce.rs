//! `cargo xtask reproduce NAME`: published and promised results, computed again by the command line and printed as
//! tables. A table of methods on data sets is a file in `experiments/` that `bagwise run` carries out; the rest are
//! functions in `reproduce/` that call the command line themselves ([`cli`]). [`ALL`] has a line for each. `--markdown`
//! prints what docs/reproduction.md shows (docs/evaluation.md for simulations), `--write` puts it there, between the marks that
//! carry the name.

mod auto;
mod bags;
mod cli;
mod explain;
mod leakage;
mod section;
mod speed;
mod verdict;
mod verdict_metrics;

use std::path::{Path, PathBuf};
use std::time::{Instant, SystemTime, UNIX_EPOCH};

use anyhow::{Context as _, Result, bail};

use crate::run::{print, release_binary, root, say};
use cli::Cli;
use section::Section;

/// Where the tables of a name come from.
enum Source {
    /// These files of `experiments/`, in full.
    Files(&'static [&'static str]),
    /// A file of `experiments/` in full, on these of its data sets, all if empty. What was computed before is not computed again:
    /// it takes up to an hour.
    Table(&'static str, &'static [&'static str]),
    /// Every file of `experiments/` that no other name has: by `--quick`, minutes, unless `BAGWISE_PAPERS=full`, hours.
    OtherFiles,
    /// A function of its own.
    Function(fn(&Cli) -> Result<Section>),
    /// The same, but its tables are on docs/choosing.md.
    Choosing(fn(&Cli) -> Result<Section>),
    /// A simulation that needs no command line; its tables are on docs/evaluation.md.
    Simulation(fn() -> Result<Section>),
}

/// A name, what it shows, and where its tables come from.
const ALL: &[(&str, &str, Source)] = &[
    (
        "gauss",
        "accuracies of mi-kernel, migraph and wmksvm beside papers and reference",
        Source::Files(&["gauss"]),
    ),
    (
        "isk",
        "accuracies of the isolation set-kernel beside paper and reference",
        Source::Files(&["isk", "isk-text"]),
    ),
    (
        "isk-partitions",
        "accuracies of the three partitions of the isolation set-kernel",
        Source::Files(&["isk-partitions"]),
    ),
    (
        "speed",
        "ten times 10-fold nested over the methods and sets of gauss, and the time it takes",
        Source::Function(speed::run),
    ),
    (
        "explain",
        "whether explanations find the instances that made a bag positive",
        Source::Function(explain::run),
    ),
    (
        "mirsvm",
        "accuracies of mirsvm beside paper and reference, and how its searches end",
        Source::Files(&["mirsvm"]),
    ),
    (
        "mg",
        "marginalized kernels on Musk1, 1000-Image and LJ beside the paper and the reference",
        Source::Files(&["mg", "mg-values"]),
    ),
    (
        "comparators",
        "accuracies of the methods that papers compare with, beside a reference",
        Source::Files(&["comparators", "comparators-musk1", "comparators-fox"]),
    ),
    (
        "auto",
        "auto on five sets beside published figures, what it chooses, and labels that mean nothing",
        Source::Function(auto::run),
    ),
    (
        "methods",
        "the methods that auto chooses from on all sets at hand, for those who choose one themselves",
        Source::Choosing(auto::single_methods),
    ),
    (
        "isk-table",
        "Table 3 of the paper of the isolation set-kernel, with all repeats",
        Source::Table("isk-table-3", &["musk1", "elephant", "fox", "tiger"]),
    ),
    (
        "wmksvm-table",
        "Table 1 of the paper of WMKSVM, with all repeats",
        Source::Table("wmksvm-table-1", &["musk1", "elephant", "fox", "tiger"]),
    ),
    (
        "mg-table",
        "Table 1 of the paper of marginalized kernels, with all repeats",
        Source::Table("mg-table-1", &["musk1"]),
    ),
    (
        "migraph-table",
        "Table 1 of the paper of miGraph, with all repeats",
        Source::Table("migraph-table-1", &["musk1", "elephant", "fox"]),
    ),
    (
        "mirsvm-table",
        "Tables 3 to 14 of the paper of MIRSVM, on seven of its fifteen sets",
        Source::Table(
            "mirsvm-tables",
            // The other eight take from some minutes (elephant) to days (function).
            &["suramin", "eastWest", "westEast", "musk1", "mutagenesis-atoms", "mutagenesis-bonds", "tiger"],
        ),
    ),
    ("papers", "the tables of the papers, from the other files in experiments/", Source::OtherFiles),
    ("leakage", "nested accuracy on labels that mean nothing", Source::Function(leakage::run)),
    ("verdict", "how often verdicts are wrong, by the rule behind them", Source::Simulation(verdict::run)),
    (
        "verdict-metrics",
        "how often verdicts are wrong with other metrics than accuracy",
        Source::Simulation(verdict_metrics::run),
    ),
];

impl Source {
    /// The page that shows the tables.
    fn page(&self) -> PathBuf {
        root().join(match self {
            Source::Simulation(_) => "docs/evaluation.md",
            Source::Choosing(_) => "docs/choosing.md",
            _ => "docs/reproduction.md",
        })
    }

    /// Whether this is where the experiment of this file name is run.
    fn has(&self, stem: &str) -> bool {
        match self {
            Source::Files(files) => files.contains(&stem),
            Source::Table(file, _) => *file == stem,
            _ => false,
        }
    }
}

/// `cargo xtask reproduce NAME [--markdown] [--write] [--binary FILE]`.
pub(crate) fn run(args: &[String]) -> Result<()> {
    let (mut markdown, mut write, mut binary, mut names) = (false, false, None, Vec::new());
    let mut words = args.iter();
    while let Some(word) = words.next() {
        match word.as_str() {
            "--markdown" => markdown = true,
            "--write" => write = true,
            "--binary" => binary = Some(words.next().context("--binary needs a FILE")?),
            flag if flag.starts_with("--") => bail!("'{flag}' is none of --markdown, --write, --binary FILE"),
            name => names.push(name),
        }
    }
    let chosen = match names[..] {
        [name] => ALL.iter().find(|entry| entry.0 == name),
        _ => None,
    };
    let Some((name, _, source)) = chosen else {
        let list: Vec<String> = ALL.iter().map(|(name, what, _)| format!("  {name:<10} {what}")).collect();
        bail!("say what to reproduce:\n{}", list.join("\n"));
    };
    // Users run release builds; what they run is measured.
    let cli = || -> Result<Cli> {
        Ok(Cli { binary: binary.map_or_else(release_binary, |file| Ok(std::path::absolute(file)?))? })
    };
    let started = Instant::now();
    let section = match source {
        Source::Files(files) => experiments(
            &cli()?,
            &files.iter().map(|name| experiment_file(name)).collect::<Vec<_>>(),
            &[],
            true,
        )?,
        Source::Table(file, data) => {
            let data = data.join(",");
            let some = ["--data", &data];
            let words = if data.is_empty() { &[][..] } else { &some };
            experiments(&cli()?, &[experiment_file(file)], words, false)?
        }
        Source::OtherFiles => {
            let full = std::env::var_os("BAGWISE_PAPERS").is_some_and(|v| v == "full");
            experiments(&cli()?, &other_files()?, if full { &[] } else { &["--quick"] }, false)?
        }
        Source::Function(function) | Source::Choosing(function) => function(&cli()?)?,
        Source::Simulation(simulation) => {
            // Learners are trained here, which takes hours without optimisation.
            let words: Vec<&str> =
                std::iter::once("reproduce").chain(args.iter().map(String::as_str)).collect();
            if crate::run::released(&words)? {
                return Ok(());
            }
            simulation()?
        }
    };
    let (seconds, kind) = section.seconds.unwrap_or_else(|| (started.elapsed().as_secs_f64(), "s"));
    let page = format!(
        "{}\n`cargo xtask reproduce {name}`, {}, {} threads, {seconds:.0} {kind}.\n",
        section.markdown(),
        today(),
        threads(),
    );
    print(&if markdown { page.clone() } else { section.text() });
    if write {
        replace(&source.page(), name, &page)?;
    }
    Ok(())
}

fn experiment_file(name: &str) -> PathBuf {
    root().join("experiments").join(format!("{name}.toml"))
}

/// The files of `experiments/` that are not named in [`ALL`], sorted.
fn other_files() -> Result<Vec<PathBuf>> {
    let named = |stem: &str| ALL.iter().any(|entry| entry.2.has(stem));
    let mut files: Vec<PathBuf> =
        std::fs::read_dir(root().join("experiments"))?.map(|f| Ok(f?.path())).collect::<Result<_>>()?;
    files.retain(|f| {
        f.extension().is_some_and(|e| e == "toml")
            && f.file_stem().is_some_and(|s| !named(&s.to_string_lossy()))
    });
    files.sort();
    Ok(files)
}

/// The tables of experiments, with these options of `bagwise run`. Records stay under `target/experiments`; unless everything is
/// to be computed again, what is there is not computed again.
fn experiments(cli: &Cli, files: &[PathBuf], options: &[&str], anew: bool) -> Result<Section> {
    let mut section = Section::default();
    let mut total = 0.0;
    for file in files {
        // A line above the table says how many values were not run.
        let (table, seconds) = cli.experiment(file, options, anew)?;
        let table = first_table(&table);
        total += seconds;
        section.page(
            table.lines().filter(|line| !line.contains("| not run |")).map(|l| format!("{l}\n")).collect(),
        );
    }
    section.seconds = Some((total, "s"));
    Ok(section)
}

/// Of several tables the first, with the notes on all: twelve tables would be half of the page.
fn first_table(page: &str) -> String {
    let Some((second, _)) = page.match_indices("\n#### ").nth(1) else { return page.into() };
    let notes = page[second..].find("\n* ").map_or("", |at| &page[second + at..]);
    let others = page[second..].lines().filter_map(|l| l.strip_prefix("#### ")).collect::<Vec<_>>();
    format!(
        "{}\nNot shown here, but in `table.md` of the run: {}.\n{notes}",
        &page[..second],
        others.join("; ")
    )
}

/// Replaces what stands between the marks of an experiment.
fn replace(page: &Path, name: &str, markdown: &str) -> Result<()> {
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

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
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
    fn every_named_file_exists_and_has_its_marks_on_the_page() {
        let mut files = other_files().unwrap();
        for (name, _, source) in ALL {
            let page = std::fs::read_to_string(source.page()).unwrap();
            assert!(page.contains(&format!("<!-- begin {name} -->")), "{name}");
            match source {
                Source::Files(named) => files.extend(named.iter().map(|f| experiment_file(f))),
                Source::Table(file, _) => files.push(experiment_file(file)),
                _ => {}
            }
        }
        files.iter().for_each(|f| assert!(f.is_file(), "{}", f.display()));
        let all = std::fs::read_dir(root().join("experiments")).unwrap();
        let is_experiment = |f: &std::fs::DirEntry| f.path().extension().is_some_and(|e| e == "toml");
        assert_eq!(files.len(), all.map(Result::unwrap).filter(is_experiment).count());
    }

    #[test]
    fn of_several_tables_the_first_is_shown_with_all_notes() {
        assert_eq!(first_table("### T\n\n| a |\n\n* note\n"), "### T\n\n| a |\n\n* note\n");
        let page = "### T\n\n#### One\n\n| a |\n\n#### Two\n\n| b |\n\n#### Three\n\n| c |\n\n* note\n";
        let shown = "### T\n\n#### One\n\n| a |\n\nNot shown here, but in `table.md` of the run: Two; Three.\n\n* note\n";
        assert_eq!(first_table(page), shown);
    }

    #[test]
    fn figures_replace_those_between_the_marks_of_their_name() {
        let page = std::env::temp_dir().join(format!("bagwise-reproduce-{}.md", std::process::id()));
        std::fs::write(&page, "a\n<!-- begin x -->\nold\n<!-- end x -->\nb\n").unwrap();
        replace(&page, "x", "new\n").unwrap();
        let text = std::fs::read_to_string(&page).unwrap();
        assert!(replace(&page, "y", "new\n").is_err());
        std::fs::remove_file(&page).unwrap();
        assert_eq!(text, "a\n<!-- begin x -->\n\nnew\n\n<!-- end x -->\nb\n");
    }
}
