//! Counts the printed numbers of all papers: held by an experiment and run, held and not to be run (with the reason), or
//! not held.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use bagwise::datasets;

use super::printed::{self, PrintedRow};
use super::{Data, Experiment, PrintedTable};

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../experiments")
}

/// Why nothing is run for a data set; none if it can be had.
fn unavailable(data: &Data) -> Option<String> {
    let known = |name: &str| {
        name.starts_with("synthetic:") || datasets::find(name).is_some() || bagwise::io::is_here(name)
    };
    let found = data.unavailable.clone();
    found.or_else(|| (!known(data.read())).then(|| format!("the source of {} is unknown", data.read())))
}

/// An experiment, its tables and their files.
struct ExperimentTables {
    experiment: Experiment,
    tables: Vec<(PrintedTable, Option<PathBuf>)>,
}

/// What an experiment does with a line of a file that it names: none if it does not look at it.
fn state(held: &ExperimentTables, file: &str, row: &PrintedRow) -> Option<Result<(), String>> {
    let experiment = &held.experiment;
    let named = |path: &Option<PathBuf>| path.as_ref().is_some_and(|p| p.ends_with(file));
    let facts = experiment.facts.iter().any(|p| p.ends_with(file));
    // Several runs of the same data may belong to different tables.
    let same: Vec<&Data> = experiment.data.iter().filter(|d| d.printed_name() == row.set).collect();
    let data = same.first().copied();
    let runs = |of: &str| {
        let entry = experiment.method.iter().find(|m| m.name == of)?;
        Some(if entry.method().is_some() { Ok(()) } else { Err(format!("{of} is not in bagwise")) })
    };
    let densities = experiment.densities.as_ref().is_some_and(|d| d.printed.ends_with(file));
    if densities {
        return Some(data.and_then(unavailable).map_or(Ok(()), Err));
    }
    if facts && row.method.is_empty() && !row.is_summary() {
        return Some(match data.map(unavailable) {
            Some(None) => Ok(()),
            Some(Some(why)) => Err(why),
            None => Err("it is about several data sets, or not counted here".into()),
        });
    }
    let mut tables = experiment.table.iter();
    let of_tests = tables.any(|t| named(&t.tests)) || named(&experiment.meta_rank);
    let of_table = held.tables.iter().any(|(table, path)| {
        path.as_ref().is_some_and(|p| p.ends_with(file))
            && ((row.is_summary() && table.numbers.takes(row))
                || same.iter().any(|d| {
                    let number = table.numbers.of(&row.set, &row.method);
                    table.has(d) && number.is_some_and(|r| r.metric == row.metric)
                }))
    });
    if !of_tests && !of_table {
        let words =
            if row.set.is_empty() { "a description of a method" } else { "the time of a part of a fit" };
        return (facts && !row.is_summary()).then(|| Err(words.into()));
    }
    let methods: Vec<&str> = row.method.split(" vs. ").collect();
    let mut found = Ok(());
    for of in methods {
        found = found.and(runs(of)?);
    }
    Some(match data.and_then(unavailable) {
        Some(why) => Err(why),
        None => found,
    })
}

#[test]
#[allow(clippy::print_stdout)] // the account is the point of running it
fn every_printed_number_is_held_by_an_experiment_or_it_is_said_why_not() {
    let files = |folder: &Path, ending: &str| -> Vec<PathBuf> {
        let all = std::fs::read_dir(folder).unwrap().map(|f| f.unwrap().path());
        let mut all: Vec<PathBuf> = all.filter(|p| p.extension().is_some_and(|e| e == ending)).collect();
        all.sort();
        all
    };
    let held = |file: &PathBuf| {
        let experiment = Experiment::read(file, false).unwrap();
        let tables = experiment.tables().unwrap().into_iter().zip(experiment.printed_files()).collect();
        ExperimentTables { experiment, tables }
    };
    let experiments: Vec<ExperimentTables> = files(&folder(), "toml").iter().map(held).collect();
    let (mut rows, mut run) = (0, 0);
    let mut not_run: BTreeMap<String, usize> = BTreeMap::new();
    let mut not_held: BTreeMap<String, usize> = BTreeMap::new();
    for path in files(&folder().join("printed"), "csv") {
        let file = path.file_name().unwrap().to_string_lossy().into_owned();
        if !file.contains("-table-") {
            continue;
        }
        for row in printed::read(&path).unwrap() {
            rows += 1;
            let mut states = experiments.iter().filter_map(|e| state(e, &file, &row));
            let first = states.next();
            match first.into_iter().chain(states).reduce(|a, b| a.or(b)) {
                None => *not_held.entry(format!("{file}: {}", row.metric)).or_default() += 1,
                Some(Ok(())) => run += 1,
                Some(Err(why)) => *not_run.entry(why).or_default() += 1,
            }
        }
    }
    let held = run + not_run.values().sum::<usize>();
    let account =
        format!("{rows} numbers, {held} held, {run} run\nnot run: {not_run:#?}\nnot held: {not_held:#?}");
    assert!(not_held.is_empty(), "{account}");
    assert_eq!(rows, 2195, "{account}");
    assert_eq!(held, rows, "{account}");
    // More are run as methods come; none may be lost.
    assert!(run >= 1900, "{account}");
    println!("{account}");
}
