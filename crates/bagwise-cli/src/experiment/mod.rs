//! Experiments as files: which methods on which data under which protocol, and the numbers that a paper printed for
//! them. A TOML file; everything it names is checked before anything is computed.
//!
//! ```toml
//! title = "WMKSVM, Table 1"
//! source = "who, what, where, when"
//! metric = "accuracy"
//! percent = true                     # printed numbers are in percent (measure = "seconds": they are times of a repeat)
//! printed = "printed/wmksvm-table-1.csv" # a file of printed numbers, beside this one; column = "accuracy_percent"
//! tolerance = 2.5                    # how far ours may be from the reference; "20 %" is a share of it
//! notes = ["what is known to differ, a sentence each"]
//!
//! [protocol]
//! name = "nested"                    # as `bagwise compare --protocol`
//! folds = 10
//! inner = 5
//! repeats = 5
//! seeds = 1                          # runs with seeds counted from --seed; mean and deviation are then over these
//!
//! [quick]                            # what --quick changes
//! repeats = 1
//! data = ["musk1"]
//!
//! [[table]]                          # several tables of the same runs, each with the settings above
//! title = "Table 5: precision"
//! metric = "precision"
//!
//! [[figure]]                         # a figure of the paper, drawn again; see figure.rs
//! title = "Figure 4"
//! shows = "boundary"                 # kernel-map, shared-cells, concept-weights, boundary, convergence
//!
//! [[data]]
//! name = "musk1"                     # as it stands in the tables below
//! read = "musk1"                     # a path, name or generator; the same as the name if not given
//!                                    # bag, label, group, keep, ignore, task: as the options of these names
//!
//! [[method]]
//! name = "WMKSVM"
//! shown = "WMKSVM (ours)"            # its name in our tables, where it is not quite the printed method
//! method = "wmksvm"                  # left out, or one that bagwise does not have: shown as such
//! scale = "minmax"
//! params = { gamma = "2^-5..2^5", c = "100" }
//! printed = { musk1 = 88.8 }         # by the paper, if there is no file
//! incomparable = "why"               # the two numbers do not measure the same; also of [[data]]
//! reference = { musk1 = 86.8 }       # by an independent implementation
//! expected = { musk1 = [84, 90] }    # where ours is to lie, if the tolerance does not say it
//! [method.on.musk2]                  # other settings on one data set
//! params = { gamma = "2^-6..2^2" }
//! ```

pub(crate) mod figure;
#[cfg(test)]
mod held;
mod names;
pub(crate) mod printed;
mod table;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, bail};
use bagwise::io::files::read_bounded;
use bagwise::io::{Column, ReadOptions, Task};
use bagwise::judge::{Metric, ProtocolName};
use bagwise::multiclass::Scheme;
use bagwise::preprocess::Scale;
use bagwise::{Error, Place, methods};
use serde::{Deserialize, Serialize};

use crate::learning::{Learning, RepresentationArgs};
use figure::FigureSettings;
use names::NamedInFile;
pub(crate) use table::PrintedTable;
use table::TableSettings;

/// Runs of an experiment, each with a seed and a folder of its own.
const MOST_SEEDS: usize = 10_000;

/// A file.
#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(crate) struct Experiment {
    /// What it repeats.
    pub(crate) title: String,
    /// Where the printed numbers come from.
    pub(crate) source: String,
    /// What is known to differ.
    #[serde(default)]
    pub(crate) notes: Vec<String>,
    metric: String,
    /// Printed numbers are in percent.
    #[serde(default)]
    pub(crate) percent: bool,
    /// What the printed numbers are.
    #[serde(default)]
    pub(crate) measure: Measure,
    /// The printed numbers, in a file beside this one.
    printed: Option<PathBuf>,
    /// What the file calls the numbers of the table.
    column: Option<String>,
    /// Numbers of an independent implementation, in a file beside this one.
    references: Option<PathBuf>,
    /// Several tables of the same runs.
    #[serde(default)]
    table: Vec<TableSettings>,
    /// Printed ranks over all tables, in a file beside this one.
    meta_rank: Option<PathBuf>,
    /// What the paper says of its data, in files beside this one.
    #[serde(default)]
    facts: Vec<PathBuf>,
    tolerance: Option<Tolerance>,
    #[serde(default)]
    protocol: Settings,
    #[serde(default)]
    quick: QuickRun,
    /// What `--quick` changed; nothing if the experiment is run in full.
    #[serde(skip)]
    pub(crate) shortened: Option<String>,
    /// The folder of the file, which names files beside it, and the file as the user named it.
    #[serde(skip)]
    pub(crate) folder: PathBuf,
    #[serde(skip)]
    place: String,
    /// What the file names, also where a quick version leaves it out.
    #[serde(skip)]
    pub(crate) named: NamedInFile,
    /// Figures, which need neither data nor methods of the table.
    #[serde(default)]
    pub(crate) figure: Vec<FigureSettings>,
    /// Densities around misclassified bags.
    pub(crate) densities: Option<DensitySettings>,
    /// The data sets, in the order of the table.
    #[serde(default)]
    pub(crate) data: Vec<Data>,
    /// The methods, in the order of the table.
    #[serde(default)]
    pub(crate) method: Vec<Entry>,
}

/// Printed densities around bags that one of two methods misclassified, or both.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct DensitySettings {
    /// The printed numbers, in a file beside this one.
    pub(crate) printed: PathBuf,
    /// The two methods, by their names in the table.
    pub(crate) methods: [String; 2],
}

/// What the printed numbers are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Measure {
    /// Values of the metric.
    #[default]
    Metric,
    /// Seconds that a repeat took.
    Seconds,
}

/// How far ours may be from the reference.
#[derive(Deserialize)]
#[serde(untagged)]
enum Tolerance {
    /// In the unit of the printed numbers.
    Points(f64),
    /// `20 %`: a share of the reference.
    Share(String),
}

impl Tolerance {
    fn around(&self, reference: f64) -> Result<[f64; 2]> {
        let points = match self.checked()? {
            (points, false) => points,
            (share, true) => reference.abs() * share / 100.0,
        };
        Ok([reference - points, reference + points])
    }

    /// The number, and whether it is a percentage.
    fn checked(&self) -> Result<(f64, bool)> {
        let (number, is_share) = match self {
            Tolerance::Points(points) => (*points, false),
            Tolerance::Share(text) => {
                let share = text.strip_suffix('%').and_then(|t| t.trim().parse::<f64>().ok());
                let share = share.with_context(|| {
                    format!("tolerance '{text}' is neither a number nor a percentage such as '20%'")
                })?;
                (share, true)
            }
        };
        // Within a tolerance that is no number everything would be as expected, or nothing.
        if !number.is_finite() || number < 0.0 {
            bail!(
                "tolerance = {number} is not a number from 0 on; use one such as 2.5, or a percentage such as '20%'"
            );
        }
        Ok((number, is_share))
    }
}

/// How methods are judged; what is not said comes from the level above.
#[derive(Clone, Default, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(crate) struct Settings {
    name: Option<String>,
    folds: Option<usize>,
    inner: Option<usize>,
    repeats: Option<usize>,
    seeds: Option<usize>,
}

/// What `--quick` changes.
#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct QuickRun {
    folds: Option<usize>,
    inner: Option<usize>,
    repeats: Option<usize>,
    seeds: Option<usize>,
    /// The data sets that stay.
    data: Option<Vec<String>>,
    /// The methods that stay, by their names in the table.
    methods: Option<Vec<String>>,
    /// Parameters of methods, by their names in the table.
    #[serde(default)]
    params: BTreeMap<String, BTreeMap<String, String>>,
}

impl QuickRun {
    /// What is left of so many data sets and methods, for whoever reads the table; none if nothing changes.
    fn summary(&self, data: usize, methods: usize) -> Option<String> {
        let mut parts = Vec::new();
        let mut left = |some: &Option<Vec<String>>, all: usize, of: &str| {
            parts.extend(some.as_ref().map(|some| format!("{} of {all} {of}", some.len())));
        };
        left(&self.data, data, "data sets");
        left(&self.methods, methods, "methods");
        if self.folds.or(self.inner).or(self.repeats).or(self.seeds).is_some() {
            parts.push("other folds or repeats".into());
        }
        if !self.params.is_empty() {
            let names: Vec<&str> = self.params.keys().map(String::as_str).collect();
            parts.push(format!("other grids for {}", names.join(", ")));
        }
        (!parts.is_empty()).then(|| parts.join("; "))
    }
}

/// A data set.
#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(crate) struct Data {
    /// Its name in the tables.
    pub(crate) name: String,
    read: Option<String>,
    bag: Option<String>,
    label: Option<String>,
    group: Option<String>,
    #[serde(default)]
    keep: Vec<String>,
    #[serde(default)]
    ignore: Vec<String>,
    task: Option<String>,
    /// Its name in files of printed numbers, if that differs.
    printed: Option<String>,
    /// Why the data are not available to anyone.
    pub(crate) unavailable: Option<String>,
    /// Why printed numbers cannot be compared with ours.
    incomparable: Option<String>,
    #[serde(default)]
    protocol: Settings,
    /// The user wants other data sets only.
    #[serde(skip)]
    pub(crate) left_out: bool,
}

impl Data {
    /// Its name in files of printed numbers.
    pub(crate) fn printed_name(&self) -> &str {
        self.printed.as_deref().unwrap_or(&self.name)
    }

    /// What is read.
    pub(crate) fn read(&self) -> &str {
        self.read.as_deref().unwrap_or(&self.name)
    }

    /// How it is read.
    pub(crate) fn options(&self) -> Result<ReadOptions> {
        let column = |text: &String| text.parse::<Column>().unwrap_or_else(|never| match never {});
        Ok(ReadOptions {
            bag: self.bag.as_ref().map(column),
            label: self.label.as_ref().map(column),
            group: self.group.as_ref().map(column),
            keep: self.keep.iter().map(column).collect(),
            ignore: self.ignore.iter().map(column).collect(),
            task: self
                .task
                .as_deref()
                .map_or(Ok(Task::Auto), str::parse)
                .with_context(|| self.name.clone())?,
            ..ReadOptions::default()
        })
    }
}

/// A line of the table.
#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(crate) struct Entry {
    /// Its name in the table.
    pub(crate) name: String,
    /// What it is called beside printed numbers, where ours is not quite the method of that name.
    shown: Option<String>,
    /// The name of our method, which may not exist (yet).
    method: Option<String>,
    scale: Option<String>,
    multiclass: Option<String>,
    #[serde(default)]
    params: BTreeMap<String, String>,
    /// Other settings on some data sets.
    #[serde(default)]
    on: BTreeMap<String, MethodOverrides>,
    /// Why printed numbers cannot be compared with ours.
    incomparable: Option<String>,
    /// What the paper printed.
    #[serde(default)]
    printed: BTreeMap<String, f64>,
    /// What an independent implementation reached.
    #[serde(default)]
    reference: BTreeMap<String, f64>,
    /// Where ours is to lie, lowest and highest.
    #[serde(default)]
    expected: BTreeMap<String, [f64; 2]>,
    /// The user wants other methods only.
    #[serde(skip)]
    pub(crate) left_out: bool,
}

/// How a method learns.
#[derive(Clone, Default, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct MethodOverrides {
    scale: Option<String>,
    multiclass: Option<String>,
    #[serde(default)]
    params: BTreeMap<String, String>,
}

/// How one data set is judged.
pub(crate) struct DataProtocol {
    /// The protocol.
    pub(crate) protocol: ProtocolName,
    /// Outer folds.
    pub(crate) folds: usize,
    /// Inner folds.
    pub(crate) inner: usize,
    /// How often folds are drawn again.
    pub(crate) repeats: usize,
    /// Runs, each with a seed of its own.
    pub(crate) seeds: usize,
}

impl Experiment {
    /// Reads a file and checks what it names.
    pub(crate) fn read(path: &Path, quick: bool) -> Result<Experiment> {
        let place = path.display();
        if path.is_dir() {
            bail!("{place}: this is a folder, not an experiment; {}", at_hand(path, path));
        }
        let text = match read_text(path) {
            Err(Error::Io { source, .. }) if source.kind() == std::io::ErrorKind::NotFound => {
                let beside = path.parent().unwrap_or(Path::new(""));
                bail!("{place}: there is no such file; {}", at_hand(path, beside));
            }
            other => other?,
        };
        let mut experiment = Experiment::parse(&place.to_string(), &text, quick)?;
        experiment.title = experiment.title.trim().to_string();
        experiment.folder = path.parent().unwrap_or(Path::new("")).to_path_buf();
        experiment.place = place.to_string();
        // Files are named as seen from the experiment, wherever it is run.
        for data in &mut experiment.data {
            let beside = experiment.folder.join(data.read());
            if beside.is_file() || (data.read.is_some() && beside.is_dir()) {
                data.read = Some(beside.display().to_string());
            }
        }
        Ok(experiment)
    }

    fn parse(place: &str, text: &str, quick: bool) -> Result<Experiment> {
        let mut experiment: Experiment = toml::from_str(text).map_err(|e| misread(place, text, &e))?;
        experiment.check().with_context(|| place.to_string())?;
        experiment.named = NamedInFile::of(&experiment);
        if quick {
            let changes = std::mem::take(&mut experiment.quick);
            let mut sets: Vec<&str> = experiment.data.iter().map(|d| d.name.as_str()).collect();
            sets.extend(experiment.figure.iter().flat_map(|f| f.data.iter().map(String::as_str)));
            sets.sort_unstable();
            sets.dedup();
            experiment.shortened = changes.summary(sets.len(), experiment.method.len());
            let QuickRun { folds, inner, repeats, seeds, data, methods, params } = changes;
            let every = experiment.data.iter_mut().map(|d| &mut d.protocol).chain([&mut experiment.protocol]);
            for settings in every {
                // A data set without a word of its own has none in a hurry either: the common one holds.
                settings.folds = folds.or(settings.folds);
                settings.inner = inner.or(settings.inner);
                settings.repeats = repeats.or(settings.repeats);
                settings.seeds = seeds.or(settings.seeds);
            }
            if let Some(data) = data {
                experiment.data.retain(|d| data.contains(&d.name));
                for figure in &mut experiment.figure {
                    figure.data.retain(|name| data.contains(name));
                }
            }
            if let Some(methods) = methods {
                experiment.method.retain(|m| methods.contains(&m.name));
            }
            for entry in &mut experiment.method {
                if let Some(params) = params.get(&entry.name) {
                    entry.params.extend(params.clone());
                    entry.on.values_mut().for_each(|how| how.params.extend(params.clone()));
                }
            }
        }
        Ok(experiment)
    }

    /// Everything that is named exists; what does not yet is an entry without a method.
    fn check(&self) -> Result<()> {
        self.metric()?;
        if self.data.is_empty() != self.method.is_empty() || (self.data.is_empty() && self.figure.is_empty())
        {
            bail!("an experiment needs at least one [[data]] and one [[method]], or a [[figure]]");
        }
        self.figure.iter().try_for_each(FigureSettings::check)?;
        let known: Vec<&str> = self.data.iter().map(|d| d.name.as_str()).collect();
        let names: Vec<&str> = self.method.iter().map(|m| m.name.as_str()).collect();
        for list in [&known, &names] {
            let mut sorted = list.clone();
            sorted.sort_unstable();
            if let Some(twice) = sorted.windows(2).find(|w| w[0] == w[1]) {
                bail!("'{}' occurs twice; use a different name for each", twice[0]);
            }
        }
        let is_data = |name: &String| match known.contains(&name.as_str()) {
            true => Ok(()),
            false => Err(Error::unknown("data set", name, known.iter().copied())),
        };
        let is_method = |name: &String| match names.contains(&name.as_str()) {
            true => Ok(()),
            false => Err(Error::unknown("method of this experiment", name, names.iter().copied())),
        };
        if let Some(tolerance) = &self.tolerance {
            tolerance.checked()?;
        }
        for data in &self.data {
            data.options()?;
            let seeds = self.judged(data)?.seeds;
            if !(1..=MOST_SEEDS).contains(&seeds) {
                bail!(
                    "{}: seeds = {seeds} is not between 1 and {MOST_SEEDS}; use a number of runs",
                    data.name
                );
            }
        }
        for entry in &self.method {
            let on = entry.on.keys();
            let numbers = entry.printed.keys().chain(entry.reference.keys()).chain(entry.expected.keys());
            on.chain(numbers).try_for_each(is_data)?;
            let values = entry.printed.values().chain(entry.reference.values());
            if values.chain(entry.expected.values().flatten()).any(|value| !value.is_finite()) {
                bail!("{}: a published or expected value is not a finite number; leave it out", entry.name);
            }
            known.iter().try_for_each(|data| self.expected(entry, data).map(|_| ()))?;
            for how in entry.on.values().chain([&entry.how()]) {
                how.scale()?;
                how.scheme()?;
            }
        }
        let drawn: Vec<&String> = self.figure.iter().flat_map(|f| &f.data).collect();
        self.quick.data.iter().flatten().filter(|name| !drawn.contains(name)).try_for_each(is_data)?;
        self.densities.iter().flat_map(|d| &d.methods).try_for_each(is_method)?;
        for table in &self.table {
            table.metric.parse::<Metric>()?;
            table.data.iter().flatten().try_for_each(is_data)?;
            let methods = table.incomparable.iter().flat_map(|i| &i.methods);
            methods.chain(&table.control).try_for_each(is_method)?;
        }
        self.quick.methods.iter().flatten().chain(self.quick.params.keys()).try_for_each(is_method)?;
        Ok(())
    }

    /// The metric of the table.
    pub(crate) fn metric(&self) -> Result<Metric> {
        Ok(self.metric.parse()?)
    }

    /// Where the result of a method on a data set is to lie, if the file says so.
    pub(crate) fn expected(&self, entry: &Entry, data: &str) -> Result<Option<[f64; 2]>> {
        let given = entry.expected.get(data).copied();
        if given.is_some_and(|[low, high]| low > high) {
            bail!(
                "{}: the expected range on {data} has its low end above its high end; swap them",
                entry.name
            );
        }
        // That is about the full version.
        if self.shortened.is_some() {
            return Ok(None);
        }
        let around = self.tolerance.as_ref().zip(entry.reference.get(data)).map(|(t, &r)| t.around(r));
        Ok(given.or(around.transpose()?))
    }

    /// How a data set is judged.
    pub(crate) fn judged(&self, data: &Data) -> Result<DataProtocol> {
        let name = data.protocol.name.as_ref().or(self.protocol.name.as_ref());
        let protocol = name.map_or(Ok(ProtocolName::Nested), |name| name.parse())?;
        let pick = |get: fn(&Settings) -> Option<usize>, default: usize| {
            get(&data.protocol).or(get(&self.protocol)).unwrap_or(default)
        };
        Ok(DataProtocol {
            protocol,
            // A published protocol does not shrink with the data: data that are too few for it are refused.
            folds: pick(|s| s.folds, protocol.default_folds(usize::MAX)),
            inner: pick(|s| s.inner, 5),
            repeats: pick(|s| s.repeats, 1),
            seeds: pick(|s| s.seeds, 1),
        })
    }
}

/// What is wrong with a file, as one line: the parser's own message is a picture of several.
fn misread(place: &str, text: &str, error: &toml::de::Error) -> Error {
    let before = error.span().and_then(|span| text.get(..span.start));
    let place = match before {
        Some(before) => Place::line(place, before.matches('\n').count() as u64 + 1),
        None => Place::of(place),
    };
    let found: Vec<&str> = error.message().lines().map(str::trim).filter(|l| !l.is_empty()).collect();
    Error::data(place, found.join("; "), "see docs/experiments.md for the format")
}

/// The text of an experiment.
fn read_text(path: &Path) -> bagwise::Result<String> {
    const MOST: u64 = 16_000_000;
    let bytes = read_bounded(path, "the file of an experiment", MOST)?;
    String::from_utf8(bytes).map_err(|e| {
        Error::data(
            Place::of(path.display().to_string()),
            format!("this is not UTF-8 text ({e})"),
            "save it as UTF-8",
        )
    })
}

/// What could have been meant by a file that is not there: those in a folder, and in `experiments`.
fn at_hand(path: &Path, folder: &Path) -> String {
    let mut found = Vec::new();
    for folder in [folder, Path::new("experiments")] {
        let here = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
        for entry in std::fs::read_dir(here).into_iter().flatten().flatten() {
            let file = folder.join(entry.file_name());
            // Many a folder has TOML files of other programs.
            let ours = || read_text(&file).is_ok_and(|text| text.contains("[[method]]"));
            if file.extension().is_some_and(|e| e == "toml") && ours() {
                found.push(file.display().to_string());
            }
        }
    }
    found.sort();
    found.dedup();
    let name = path.display().to_string();
    match Error::unknown("experiment", &name, found.iter().map(String::as_str)) {
        Error::Unknown { suggestion: Some(suggestion), .. } => suggestion,
        _ => "give an experiment file in TOML; see docs/experiments.md".into(),
    }
}

impl MethodOverrides {
    fn scale(&self) -> Result<Option<Scale>> {
        Ok(self.scale.as_deref().map(str::parse).transpose()?)
    }

    fn scheme(&self) -> Result<Option<Scheme>> {
        Ok(self.multiclass.as_deref().map(str::parse).transpose()?)
    }
}

impl Entry {
    /// Its name in our tables.
    pub(crate) fn shown(&self) -> &str {
        self.shown.as_deref().unwrap_or(&self.name)
    }

    /// Our method; none if there is none of the name.
    pub(crate) fn method(&self) -> Option<&str> {
        self.method.as_deref().filter(|name| methods::find(name).is_ok())
    }

    /// What is wrong with the name of a method that is given and does not exist.
    pub(crate) fn unknown_method(&self) -> Option<Error> {
        self.method.as_deref().and_then(|name| methods::find(name).err())
    }

    fn how(&self) -> MethodOverrides {
        MethodOverrides {
            scale: self.scale.clone(),
            multiclass: self.multiclass.clone(),
            params: self.params.clone(),
        }
    }

    /// How the method learns on a data set: what is said for it, over what is said for all.
    pub(crate) fn learning(&self, data: &str) -> Result<Learning> {
        let mut how = self.how();
        if let Some(other) = self.on.get(data) {
            how.scale = other.scale.clone().or(how.scale);
            how.multiclass = other.multiclass.clone().or(how.multiclass);
            how.params.extend(other.params.clone());
        }
        let seeing = RepresentationArgs {
            scale: how.scale()?,
            params: how.params.clone().into_iter().collect(),
            ..RepresentationArgs::default()
        };
        Ok(Learning { seeing, multiclass: how.scheme()?, ..Learning::default() })
    }
}

#[cfg(test)]
mod tests;
