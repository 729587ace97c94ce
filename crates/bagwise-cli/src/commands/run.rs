//! `bagwise run`: runs an experiment file, and shows the results next to the published numbers.

mod table;

use std::collections::HashSet;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, bail};
use bagwise::io::files::{make_folder, read_bounded};
use bagwise::io::save::is_first_in_folder;
use bagwise::io::{OutputKind, RESULTS_MARK, ReadOptions, save_whole};
use bagwise::judge::{
    FitStatus, Key, MethodSummary, Metric, Protocol, ProtocolName, Record, summarise, that_saw_test_bags,
};
use bagwise::plan::TimePlan;
use bagwise::run::files::{PLAN, RECORDS, REPORT};
use bagwise::run::shard_folders;
use bagwise::{Bags, Dataset, Error, Evaluate, Evaluation, LEVEL, Message, Place, Shard};
use bagwise_report::paper::Paper;
use bagwise_report::{LoadedRun, ReportOptions, render_with_paper};

use crate::args;
use crate::experiment::{Data, Entry, Experiment, PrintedTable};
use crate::figures;
use crate::judging::{self, Sharding};
use crate::output::Output as _;
use crate::paper::{self, Cell, OurResult, Results};
use crate::session::{Outcome, Session};

use table::Table;

const JSON: &str = "table.json";
const MARKDOWN: &str = "table.md";
const LATEX: &str = "table.tex";
/// Which experiment the folder belongs to.
const OWNER: &str = "experiment.json";
/// Bytes of that file at most.
const MOST_OWNER: u64 = 1 << 20;

/// Run an experiment file and compare the results with published ones
#[derive(clap::Args)]
#[command(after_help = HELP)]
pub(crate) struct Args {
    /// Experiment file (TOML)
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// Run the reduced version defined in the file, which takes minutes instead of hours
    #[arg(long)]
    quick: bool,
    /// Run these data sets only, by their names in the file; of the others, tables show what the output folder already has
    #[arg(long, value_name = "NAME")]
    data: Vec<String>,
    /// Run these methods only, by their names in the file
    #[arg(long, value_name = "NAME")]
    methods: Vec<String>,
    /// Output folder for records and tables; if it contains part of the same run, the run resumes [default: named after the file]
    #[arg(short, long, value_name = "FOLDER")]
    output: Option<PathBuf>,
    /// Do not write report.html
    #[arg(long)]
    no_report: bool,
    #[command(flatten)]
    sharding: Sharding,
}

const HELP: &str = "\
The file describes data, methods, grids and protocol, together with the published numbers. experiments/ \
contains a file for every table of five papers. The report, table.md and table.tex show each published number next to ours, with a \
verdict. Data sets are looked up by name in $BAGWISE_DATA and data/; `bagwise data get` downloads missing ones. The table marks data \
sets that are missing and methods that bagwise does not implement.

--shard 3/7 does a seventh of the fits; the same command without --shard joins all shards and writes the tables.

Examples:
  bagwise run experiment.toml --quick
  bagwise run experiment.toml --quick -o again --format csv
  bagwise run experiment.toml --quick --methods means -o part
  bagwise run experiment.toml --quick --shard 2/3 -o cut";

pub(crate) fn run(args: &Args, session: &Session) -> Result<Outcome> {
    let mut experiment = Experiment::read(&args.file, args.quick)?;
    experiment.only(&args.data, &args.methods)?;
    let tables = experiment.tables()?;
    let slips = experiment.unknown_names(&tables);
    let folder = args.output.clone().unwrap_or_else(|| default_folder(&args.file, args.quick));
    check_folder(&folder, &experiment, args, session)?;
    claim_folder(&folder, &experiment, session)?;
    let metric = experiment.metric()?;
    session.say(&format!("{} ({})", experiment.title, experiment.source));
    slips.iter().for_each(|slip| session.note(slip));
    for unknown in experiment.method.iter().filter_map(Entry::unknown_method) {
        session.note(&unknown.to_string());
    }
    say_time(&experiment, metric, session)?;
    let mut found = Results { experiment: &experiment, tables, cells: Vec::new(), counted: Vec::new() };
    let printed_densities = experiment.printed_densities()?;
    let mut densities = Vec::new();
    let mut runs = Vec::new();
    let mut outcome = Outcome::Done;
    let mut warnings = session.take_notes();
    if let Some(shard) = args.sharding.shard {
        return run_shard(&experiment, shard, metric, &folder, session);
    }
    for (position, data) in experiment.data.iter().enumerate() {
        match on_one(&experiment, position, data, metric, &folder, session)? {
            Err(why) => {
                let cell = || why.clone().map_or(Cell::LeftOut, Cell::Missing);
                let missing = || experiment.method.iter().map(|_| cell()).collect();
                found.cells.push(found.tables.iter().map(|_| missing()).collect());
                found.counted.push(Vec::new());
            }
            Ok((of_seeds, counted, bags)) => {
                if let Some((settings, (_, first))) = experiment.densities.as_ref().zip(of_seeds.first()) {
                    let (set, methods) = (data.printed_name(), &settings.methods);
                    densities.extend(figures::densities::summaries(
                        &printed_densities,
                        set,
                        methods,
                        &bags,
                        first,
                    )?);
                }
                found.cells.push(cells(&experiment, &found.tables, &of_seeds)?);
                found.counted.push(counted);
                for (own, results) in of_seeds {
                    runs.push(own);
                    if let Some(saw) = results.saw_test_bags() {
                        session.note(&saw);
                    }
                    if let Some(failures) = results.failures() {
                        session.note(&failures);
                        // What this command was not asked to do has not failed.
                        if !data.left_out {
                            outcome = Outcome::FailedFits;
                        }
                    }
                }
            }
        }
        warnings.extend(session.take_notes().into_iter().map(|note| format!("{}: {note}", data.name)));
    }
    let mut paper = found.paper(protocols(&experiment, session.ctx.seed))?;
    paper.densities = densities;
    for figure in &experiment.figure {
        paper.figures.push(figures::draw(figure, &experiment.folder, session)?);
    }
    let report = match args.no_report || (runs.is_empty() && paper.figures.is_empty()) {
        true => None,
        false => Some(report(&experiment, &paper, &runs, &folder)?),
    };
    let table = Table { found, metric, paper, warnings, folder: folder.clone(), report };
    save_whole(&folder.join(JSON), table.json()?.as_bytes())?;
    let markdown = format!("<!-- {RESULTS_MARK} -->\n\n{}", table.paper.markdown(&experiment.title));
    save_whole(&folder.join(MARKDOWN), markdown.as_bytes())?;
    let latex = format!("% {RESULTS_MARK}\n{}", table.paper.latex());
    save_whole(&folder.join(LATEX), latex.as_bytes())?;
    session.print(&table)?;
    Ok(outcome)
}

/// Makes the folder that of the experiment, and refuses one that belongs to something else: tables and report would replace those of
/// another experiment, or of a comparison.
fn claim_folder(folder: &Path, experiment: &Experiment, session: &Session) -> Result<()> {
    let owner = folder.join(OWNER);
    let own = serde_json::json!({ "experiment": experiment.title, "quick": experiment.shortened.is_some() });
    if !is_first_in_folder(&owner) && !session.force() {
        let there = read_bounded(&owner, "the file", MOST_OWNER).ok();
        let there = there.and_then(|text| serde_json::from_slice::<serde_json::Value>(&text).ok());
        let found = match there {
            Some(there) if there == own => None,
            Some(there) if there["experiment"] == own["experiment"] => {
                Some("the folder contains the other version of this experiment, quick or full".into())
            }
            Some(there) => Some(format!("the folder contains the experiment {}", there["experiment"])),
            None => Some("the folder is not empty, and does not contain an experiment".into()),
        };
        if let Some(found) = found {
            let place = Place::of(folder.display().to_string());
            return Err(Error::data(place, found, Message::from("name a new folder")).into());
        }
    }
    make_folder(folder)?;
    Ok(save_whole(&owner, own.to_string().as_bytes())?)
}

/// Refuses to overwrite tables and reports that bagwise did not write, and whatever the experiment reads; the folders of single runs
/// check this themselves.
fn check_folder(folder: &Path, experiment: &Experiment, args: &Args, session: &Session) -> Result<()> {
    let report = folder.join(REPORT);
    let files = experiment.files();
    let inputs: Vec<&OsStr> =
        [args.file.as_os_str()].into_iter().chain(files.iter().map(|f| f.as_os_str())).collect();
    // Unless the user insists, the folder is looked at when it is claimed.
    if session.force() && folder.join(OWNER).exists() {
        session.check_output(&folder.join(OWNER), OutputKind::Results, &inputs)?;
    }
    for table in [JSON, MARKDOWN, LATEX].map(|name| folder.join(name)) {
        if table.exists() {
            session.check_output(&table, OutputKind::Results, &inputs)?;
        }
    }
    if report.exists() && !args.no_report {
        session.check_output(&report, OutputKind::Report, &inputs)?;
    }
    Ok(())
}

/// `NAME` or `NAME-quick`, after the file.
fn default_folder(file: &Path, quick: bool) -> PathBuf {
    let stem = file.file_stem().map_or("experiment".into(), |s| s.to_string_lossy().into_owned());
    PathBuf::from(if quick { format!("{stem}-quick") } else { stem })
}

/// The runs of a data set, a folder for each seed, what can be counted of the data, and the bags; or why there is nothing, if not
/// because the user left it out.
type DataRuns =
    std::result::Result<(Vec<(PathBuf, Evaluation)>, Vec<(&'static str, f64)>, Bags), Option<String>>;

/// Every method of the experiment on one data set. Of a data set that was left out, what the folder has: else the tables would lose
/// what an earlier run had put there. Nothing that is wrong with that stops the rest.
fn on_one(
    experiment: &Experiment,
    position: usize,
    data: &Data,
    metric: Metric,
    folder: &Path,
    session: &Session,
) -> Result<DataRuns> {
    let judged = || judged(experiment, position, data, metric, folder, session);
    // Without data there is nothing to leave out.
    if !data.left_out || data.unavailable.is_some() {
        return judged();
    }
    let folders = folders(experiment, position, data, folder, session)?;
    if !folders.iter().any(|(_, own)| own.exists()) {
        return Ok(Err(None));
    }
    let why = match check_whole(&folders).and_then(|()| judged()) {
        Ok(Ok(found)) => return Ok(Ok(found)),
        Ok(Err(why)) => why.unwrap_or_default(),
        Err(error) => format!("{error:#}"),
    };
    session.ctx.check()?;
    session.note(&format!("{}: earlier results are not shown: {why}", data.name));
    Ok(Err(None))
}

/// A run for each seed, in a folder of its own.
fn judged(
    experiment: &Experiment,
    position: usize,
    data: &Data,
    metric: Metric,
    folder: &Path,
    session: &Session,
) -> Result<DataRuns> {
    let set = match read(experiment, data, session)? {
        Ok(set) => set,
        Err(why) => return Ok(Err(Some(why))),
    };
    let mut of_seeds = Vec::new();
    for (own, evaluate) in runs_on(experiment, position, data, metric, folder, &set, session)? {
        let results = judging::run(evaluate, LEVEL, session).with_context(|| data.name.clone())?;
        of_seeds.push((own, results));
    }
    let counted = paper::counts(&set)?;
    Ok(Ok((of_seeds, counted, set.bags)))
}

/// One shard of every run of the experiment.
fn run_shard(
    experiment: &Experiment,
    shard: Shard,
    metric: Metric,
    folder: &Path,
    session: &Session,
) -> Result<Outcome> {
    let mut outcome = Outcome::Done;
    for (position, data) in experiment.data.iter().enumerate() {
        if data.left_out {
            continue;
        }
        let Ok(set) = read(experiment, data, session)? else { continue };
        for (own, evaluate) in runs_on(experiment, position, data, metric, folder, &set, session)? {
            let done = judging::run_shard(evaluate, shard, LEVEL, &own, session);
            if done.with_context(|| data.name.clone())? == Outcome::FailedFits {
                outcome = Outcome::FailedFits;
            }
        }
    }
    Ok(outcome)
}

/// The bags of a data set of the experiment, or why there are none.
fn read(
    experiment: &Experiment,
    data: &Data,
    session: &Session,
) -> Result<std::result::Result<Dataset, String>> {
    if let Some(why) = &data.unavailable {
        return Ok(Err(why.clone()));
    }
    if !bagwise::io::is_here(data.read()) {
        session.warn(&experiment.missing(data));
        return Ok(Err("data not available".into()));
    }
    Ok(Ok(session.read(data.read(), &data.options()?)?))
}

/// The seeds of the runs on a data set, each with the folder of its run.
fn folders(
    experiment: &Experiment,
    position: usize,
    data: &Data,
    folder: &Path,
    session: &Session,
) -> Result<Vec<(u64, PathBuf)>> {
    let seeds = experiment.judged(data)?.seeds;
    // Numbered, so that names need not be names of folders.
    let own = format!("{:02}-{}", position + 1, plain(&data.name));
    let of_seed = |seed: u64| if seeds > 1 { format!("{own}-seed-{seed}") } else { own.clone() };
    let first = session.ctx.seed;
    let Some(last) = first.checked_add((seeds as u64).saturating_sub(1)) else {
        let found = format!("{seeds} seeds from {first} on go beyond the largest");
        return Err(Error::refused(found, "use a smaller seed").into());
    };
    Ok((first..=last).map(|seed| (seed, folder.join(of_seed(seed)))).collect())
}

/// Refuses folders of a data set that do not have every fit of the runs that were begun there, in one piece or in shards.
fn check_whole(folders: &[(u64, PathBuf)]) -> Result<()> {
    for (_, own) in folders {
        let place = own.display();
        if !own.is_dir() {
            bail!("there is no folder {place}");
        }
        let parts = std::iter::once(own.clone()).chain(shard_folders(own));
        let begun = |part: &PathBuf| part.join(RECORDS).metadata().is_ok_and(|file| file.len() > 0);
        let parts: Vec<PathBuf> = parts.filter(begun).collect();
        let Some(first) = parts.first() else { bail!("{place} has no records") };
        // What was joined is also in its shards.
        let mut done: HashSet<Key> = HashSet::new();
        for part in &parts {
            done.extend(LoadedRun::read(part)?.records.into_iter().map(|record| record.key));
        }
        let fits = LoadedRun::folds(first)?.iter().sum::<usize>();
        for method in plan(own)?.methods {
            let done = done.iter().filter(|key| key.method == method.method).count();
            if done < fits {
                bail!("{place} has {done} of {fits} fits of {}", method.method);
            }
        }
    }
    Ok(())
}

/// The plan of the run in a folder; while it is not joined, that of its shards.
fn plan(own: &Path) -> bagwise::Result<TimePlan> {
    let of_shards = shard_folders(own).into_iter().map(|shard| shard.join(PLAN));
    let mut all = std::iter::once(own.join(PLAN)).chain(of_shards);
    TimePlan::read(&all.find(|path| path.exists()).unwrap_or(own.join(PLAN)))
}

/// The runs on a data set, one for each seed, and their folders.
fn runs_on<'d>(
    experiment: &Experiment,
    position: usize,
    data: &Data,
    metric: Metric,
    folder: &Path,
    set: &'d Dataset,
    session: &Session,
) -> Result<Vec<(PathBuf, Evaluate<'d>)>> {
    let run = |(seed, own): (u64, PathBuf)| -> Result<(PathBuf, Evaluate<'d>)> {
        let mut entries: Vec<&Entry> = experiment.method.iter().filter(|m| !m.left_out).collect();
        if data.left_out {
            let begun = plan(&own)?;
            entries = experiment
                .method
                .iter()
                .filter(|m| begun.methods.iter().any(|b| b.method == m.name))
                .collect();
        }
        let evaluate = evaluation(experiment, &entries, data, set, metric, session)?;
        Ok((own.clone(), evaluate.folder(&own).seed(seed)))
    };
    folders(experiment, position, data, folder, session)?.into_iter().map(run).collect()
}

/// How these methods of the experiment are judged on a data set.
fn evaluation<'s>(
    experiment: &Experiment,
    entries: &[&Entry],
    data: &Data,
    set: &'s Dataset,
    metric: Metric,
    session: &Session,
) -> Result<Evaluate<'s>> {
    let judged = experiment.judged(data)?;
    let mut configs = Vec::new();
    for entry in entries {
        let Some(name) = entry.method() else { continue };
        let learning = entry.learning(&data.name)?;
        let config = learning.config(name, &args::Data::default()).called(&entry.name);
        configs.push(config.params(&learning.seeing.params));
    }
    Ok(bagwise::compare(set)
        .baselines(false)
        .methods(configs)
        .whole_grids(true)
        .protocol(judged.protocol)
        .folds(Some(judged.folds).filter(|_| judged.protocol != ProtocolName::Loo))
        .inner(judged.inner)
        .repeats(judged.repeats)
        .level(LEVEL)
        .optimize(metric)
        .ctx(&session.ctx))
}

/// Says how long several data sets will take together; each run says it of itself.
fn say_time(experiment: &Experiment, metric: Metric, session: &Session) -> Result<()> {
    let is_here = |d: &&Data| d.unavailable.is_none() && !d.left_out && bagwise::io::is_here(d.read());
    let here: Vec<&Data> = experiment.data.iter().filter(is_here).collect();
    if here.len() < 2 {
        return Ok(());
    }
    let entries: Vec<&Entry> = experiment.method.iter().filter(|m| !m.left_out).collect();
    let mut seconds = 0.0;
    for data in &here {
        // What is odd about the data is said when they are run.
        let options = ReadOptions { seed: session.ctx.seed, ..data.options()? };
        let set = bagwise::io::read(data.read(), &options)?;
        let of_seed = evaluation(experiment, &entries, data, &set, metric, session)?.time()?.seconds();
        seconds += of_seed * experiment.judged(data)?.seeds as f64;
    }
    session.say(&format!("{} data sets, about {} in all", here.len(), judging::human_seconds(seconds)));
    Ok(())
}

/// One report over all data sets, from their records.
fn report(experiment: &Experiment, paper: &Paper, runs: &[PathBuf], folder: &Path) -> Result<PathBuf> {
    let runs = runs.iter().map(|run| LoadedRun::read(run)).collect::<bagwise::Result<Vec<_>>>()?;
    let options = ReportOptions { hide_ids: false, title: Some(experiment.title.clone()) };
    let path = folder.join(REPORT);
    save_whole(&path, render_with_paper(&runs, &options, paper)?.as_bytes())?;
    Ok(path)
}

/// Letters, digits and dashes.
fn plain(name: &str) -> String {
    name.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '-' }).collect()
}

/// What the runs of all seeds say of each method, in each table.
fn cells(
    experiment: &Experiment,
    tables: &[PrintedTable],
    of_seeds: &[(PathBuf, Evaluation)],
) -> Result<Vec<Vec<Cell>>> {
    let metrics: Vec<Metric> = tables.iter().map(|t| t.metric).collect();
    let summarised = of_seeds.iter().map(|(_, r)| summarise(&r.records, &r.roster, &metrics, LEVEL));
    let summarised: Vec<Vec<MethodSummary>> = summarised.collect::<bagwise::Result<_>>()?;
    let took_part =
        |entry: &Entry| of_seeds.iter().any(|(_, r)| r.candidates.iter().any(|c| c.name == entry.name));
    let of_table = |t: usize| {
        let cell = |entry: &Entry| match entry.method() {
            None => Cell::NoMethod,
            // Which methods took part may differ from data set to data set.
            Some(_) if !took_part(entry) => Cell::LeftOut,
            Some(_) => of_method(entry, t, of_seeds, &summarised),
        };
        experiment.method.iter().map(cell).collect()
    };
    Ok((0..tables.len()).map(of_table).collect())
}

/// What the runs of all seeds say of a method, by the metric of table `t`.
fn of_method(
    entry: &Entry,
    t: usize,
    of_seeds: &[(PathBuf, Evaluation)],
    summarised: &[Vec<MethodSummary>],
) -> Cell {
    let mut ours = OurResult::default();
    let mut widths = Vec::new();
    for ((_, results), summary) in of_seeds.iter().zip(summarised) {
        let Some(s) = summary.iter().find(|s| s.method == entry.name) else { continue };
        let found = &s.metrics[t];
        // One seed's spread is over its repeats; that of several is over seeds.
        match of_seeds.len() {
            1 => {
                ours.values.clone_from(&found.values);
                (ours.mean, ours.sd) = (found.mean, found.sd);
            }
            _ => ours.values.push(found.mean),
        }
        widths.extend(found.interval.zip(found.mean).map(|(i, mean)| (mean - i.low, i.high - mean)));
        ours.repeats += results.repeats();
        ours.limited += s.limited;
        ours.fits += s.fits;
        ours.failed += s.failed;
        ours.seconds += s.seconds.unwrap_or_default();
        ours.saw_test_bags |= that_saw_test_bags(&results.records).contains(&entry.name);
        let judged =
            |r: &&Record| r.key.method == entry.name && r.key.inner.is_none() && r.key.point.is_empty();
        for outcome in results.records.iter().filter(judged).map(|r| &r.outcome) {
            ours.cycled += usize::from(outcome.status == FitStatus::Cycle);
            ours.rounds += outcome.changed.len();
        }
    }
    if of_seeds.len() > 1 {
        (ours.mean, ours.sd) = mean_and_deviation(&ours.values);
    }
    // More seeds do not make the bags more: the interval is as wide as that of one seed, on average.
    if widths.len() == of_seeds.len() {
        let n = widths.len() as f64;
        let (below, above) = widths.iter().fold((0.0, 0.0), |(b, a), w| (b + w.0 / n, a + w.1 / n));
        ours.interval = ours.mean.map(|mean| (mean - below, mean + above));
    }
    if ours.fits == 0 { Cell::Missing("no result".into()) } else { Cell::OurResult(ours) }
}

/// Mean and standard deviation (n - 1) of the values of seeds; none unless every seed has one.
fn mean_and_deviation(values: &[Option<f64>]) -> (Option<f64>, Option<f64>) {
    let Some(values) = values.iter().copied().collect::<Option<Vec<f64>>>() else { return (None, None) };
    let count = values.len() as f64;
    let mean = values.iter().sum::<f64>() / count;
    let squares = values.iter().map(|v| (v - mean).powi(2)).sum::<f64>();
    (Some(mean), Some((squares / (count - 1.0)).sqrt()))
}

/// How the data sets were judged, in words.
fn protocols(experiment: &Experiment, first: u64) -> String {
    let mut all: Vec<String> = Vec::new();
    for data in &experiment.data {
        if let Ok(judged) = experiment.judged(data) {
            let repeats =
                if judged.repeats > 1 { format!(", {} repeats", judged.repeats) } else { String::new() };
            let seeds = match judged.seeds {
                0 | 1 => format!("seed {first}"),
                n => format!("seeds {first} to {}", first.saturating_add(n as u64 - 1)),
            };
            let protocol = Protocol::new(judged.protocol, judged.folds, judged.inner);
            let text = format!("{protocol}{repeats}, {seeds}");
            if !all.contains(&text) {
                all.push(text);
            }
        }
    }
    all.join("; ")
}
