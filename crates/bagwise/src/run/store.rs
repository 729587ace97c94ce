//! Where the records of a run are stored, so that the same call resumes an interrupted run: in a folder that the user
//! named, in one named after the data, or, without a folder, in the user's cache until the run is done.
//!
//! A folder holds `run.json` (whose run it is), `plan.json` (which methods and points there was time for), `records.jsonl`, `folds.json`, `roster.json` and, once all fits are done,
//! `predictions.csv` and `differences.csv`. A shard has such a folder inside that of its run. The cache holds records alone, one file per unfinished run, named after the run's fingerprint.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use bagwise_core::files::{make_folder, read_bounded};
use bagwise_core::{Error, Place, Result};
use bagwise_io::save_whole;
use bagwise_judge::{
    GroundTruth, Key, Record, RecordFile, prediction_rows, read_records_checked, write_predictions,
};
use serde::{Deserialize, Serialize};
use std::collections::HashMap;

use super::files::{ALL_FILES, DIFFERENCES, FOLDS, OWNER, PLAN, PREDICTIONS, RECORDS, REPORT_FILES, ROSTER};
use super::foreign::check_files;
use super::settings::{METHODS, differences, settings};
use super::{Run, Verdict};
use crate::plan::TimePlan;
use crate::shard::{Shard, shard_folders};

/// Where a run keeps its records.
#[derive(Clone, Debug, Default)]
pub enum RecordLocation {
    /// In the user's cache until the run is done.
    #[default]
    Cache,
    /// In memory alone.
    Nowhere,
    /// In this folder.
    Folder(PathBuf),
    /// In a folder of this name, or, where that belongs to another run, of this name and a number.
    FolderNamed(PathBuf),
}

/// Whose run a folder holds.
#[derive(Serialize, Deserialize)]
struct RunIdentity {
    run: String,
    version: String,
    /// Its settings by name, so that another run can say what differs.
    #[serde(default)]
    settings: BTreeMap<String, String>,
}

/// The records of a run, those of earlier sessions included.
pub(crate) struct RecordStore {
    file: Option<RecordFile>,
    kept: Vec<Record>,
    pub(crate) folder: Option<PathBuf>,
    /// To be removed when the run is done.
    cached: Vec<PathBuf>,
}

impl RecordStore {
    /// Opens what there is of the run, or begins. A run takes over what its shards have done. With `overwrite`, files in the folder
    /// that bagwise did not write may be replaced.
    pub(crate) fn open(
        keep: &RecordLocation,
        overwrite: bool,
        run: &Run<'_>,
        plan: &TimePlan,
    ) -> Result<RecordStore> {
        let folder = match keep {
            RecordLocation::Cache => return Ok(RecordStore::in_cache(run, plan)),
            RecordLocation::Nowhere => {
                return Ok(RecordStore { file: None, kept: Vec::new(), folder: None, cached: Vec::new() });
            }
            RecordLocation::Folder(folder) => folder.clone(),
            RecordLocation::FolderNamed(name) => free_or_own(name, &run.fingerprint, plan),
        };
        check_shards(&folder, run, plan)?;
        let mut store = RecordStore::in_folder(folder.clone(), overwrite, run, plan)?;
        store.adopt(&folder, run)?;
        Ok(store)
    }

    /// Opens what there is of a shard, or begins. Shards may start at the same moment, so none looks for a free name.
    pub(crate) fn open_shard(
        keep: &RecordLocation,
        overwrite: bool,
        shard: Shard,
        run: &Run<'_>,
        plan: &TimePlan,
    ) -> Result<RecordStore> {
        let (RecordLocation::Folder(folder) | RecordLocation::FolderNamed(folder)) = keep else {
            return Err(Error::Invalid("a shard needs a folder for its records; name one".into()));
        };
        check_ours(folder)?;
        // The run may have been joined before.
        let settings = settings(run);
        let joined = owner(folder).filter(|other| other.run != run.fingerprint);
        if let Some(other) = joined.filter(|other| !extends(folder, other, &settings, plan)) {
            return Err(another_run(folder, &other, &settings));
        }
        check_shards(folder, run, plan)?;
        RecordStore::in_folder(shard.folder(folder), overwrite, run, plan)
    }

    /// Takes over the records of shards, in the order in which the run would have written them.
    fn adopt(&mut self, folder: &Path, run: &Run<'_>) -> Result<()> {
        let mut found: HashMap<Key, Record> = HashMap::new();
        for shard in shard_folders(folder) {
            if let Some(other) = owner(&shard).filter(|other| other.run != run.fingerprint) {
                return Err(another_run(&shard, &other, &settings(run)));
            }
            let path = shard.join(RECORDS);
            if path.exists() {
                let check = |r: &Record| match r.run == run.fingerprint {
                    true => run.roster.check_record(r, Some(&run.folds)),
                    false => Err(Error::Invalid("the record belongs to another run".into())),
                };
                found.extend(
                    read_records_checked(&path, check)?.records.into_iter().map(|r| (r.key.clone(), r)),
                );
            }
        }
        self.records().map(|r| r.key.clone()).collect::<Vec<_>>().iter().for_each(|key| {
            found.remove(key);
        });
        run.keys().iter().filter_map(|key| found.remove(key)).try_for_each(|record| self.append(record))
    }

    fn in_folder(folder: PathBuf, overwrite: bool, run: &Run<'_>, plan: &TimePlan) -> Result<RecordStore> {
        check_ours(&folder)?;
        if !overwrite {
            check_files(&folder)?;
        }
        make_folder(&folder)?;
        let settings = settings(run);
        let other = owner(&folder).filter(|owner| owner.run != run.fingerprint);
        let extended = other.as_ref().is_some_and(|other| extends(&folder, other, &settings, plan));
        if let Some(other) = other.as_ref().filter(|_| extended) {
            // The plan first, so that a run that is stopped from here on repeats it.
            save_whole(&folder.join(PLAN), &json(plan)?)?;
            take_over(&folder.join(RECORDS), &other.run, run)?;
        } else if let Some(other) = other {
            return Err(another_run(&folder, &other, &settings));
        }
        let file = open_records(&folder.join(RECORDS), run)?;
        let owner = RunIdentity {
            run: run.fingerprint.clone(),
            version: env!("CARGO_PKG_VERSION").into(),
            settings: settings.into_iter().collect(),
        };
        save_whole(&folder.join(OWNER), &json(&owner)?)?;
        save_whole(&folder.join(PLAN), &json(plan)?)?;
        save_whole(&folder.join(FOLDS), &json(&run.folds)?)?;
        save_whole(&folder.join(ROSTER), &json(&run.roster)?)?;
        Ok(RecordStore { file: Some(file), kept: Vec::new(), folder: Some(folder), cached: Vec::new() })
    }

    /// Without a folder a run must not fail because its cache does: it goes on in memory then.
    fn in_cache(run: &Run<'_>, plan: &TimePlan) -> RecordStore {
        let path = cache_folder().and_then(|folder| {
            std::fs::create_dir_all(&folder).ok()?;
            remove_old(&folder);
            Some(folder.join(format!("{}.jsonl", run.fingerprint)))
        });
        let file = path.as_ref().and_then(|path| open_records(path, run).ok());
        let mut cached: Vec<PathBuf> = path.filter(|_| file.is_some()).into_iter().collect();
        // A plan that was made with a clock is repeated when the run goes on.
        if plan.measured
            && let Some(path) = cached_plan(&plan.request)
            && json(plan).and_then(|bytes| save_whole(&path, &bytes)).is_ok()
        {
            cached.push(path);
        }
        RecordStore { file, kept: Vec::new(), folder: None, cached }
    }

    /// The records there are.
    pub(crate) fn records(&self) -> impl Iterator<Item = &Record> {
        self.file.iter().flat_map(RecordFile::records).chain(&self.kept)
    }

    /// The file whose last line was torn when the run ended, if it was.
    pub(crate) fn torn(&self) -> Option<PathBuf> {
        let torn = self.file.as_ref().is_some_and(|file| file.torn() > 0);
        self.folder.as_ref().filter(|_| torn).map(|folder| folder.join(RECORDS))
    }

    /// Keeps a record.
    pub(crate) fn append(&mut self, record: Record) -> Result<()> {
        match &mut self.file {
            Some(file) => file.append(record),
            None => {
                self.kept.push(record);
                Ok(())
            }
        }
    }

    /// All records, sorted by key.
    pub(crate) fn sorted(&self) -> Vec<Record> {
        let mut records: Vec<Record> = self.records().cloned().collect();
        records.sort_by(|a, b| a.key.cmp(&b.key));
        records
    }

    /// Ends a run whose results are known: its folder gets predictions and differences, and the cache forgets it if it is
    /// `complete`.
    pub(crate) fn finish(
        self,
        records: &[Record],
        roster: &GroundTruth,
        verdict: &Verdict,
        complete: bool,
    ) -> Result<Option<PathBuf>> {
        if let Some(folder) = &self.folder {
            let rows = prediction_rows(records, roster)?;
            let mut bytes = Vec::new();
            write_predictions(&rows, &mut bytes)?;
            save_whole(&folder.join(PREDICTIONS), &bytes)?;
            save_whole(&folder.join(DIFFERENCES), &verdict.differences_csv()?)?;
        }
        for path in self.cached.iter().filter(|_| complete) {
            let _ = std::fs::remove_file(path);
        }
        Ok(self.folder)
    }
}

/// The plan that an unfinished or finished run with the same request left where this one is to be kept.
pub(crate) fn kept_plan(keep: &RecordLocation, request: &str) -> Option<TimePlan> {
    let of = |path: &Path| TimePlan::read(path).ok().filter(|plan| plan.request == request);
    match keep {
        RecordLocation::Cache => of(&cached_plan(request)?),
        RecordLocation::Nowhere => None,
        RecordLocation::Folder(folder) => of(&folder.join(PLAN)),
        RecordLocation::FolderNamed(name) => {
            let folders = (1..).map(|n| numbered(name, n)).take_while(|folder| folder.exists());
            folders.into_iter().find_map(|folder| of(&folder.join(PLAN)))
        }
    }
}

/// Whether a run is that of a folder with more methods, because its budget is longer: everything else is as it was.
fn extends(folder: &Path, old: &RunIdentity, settings: &[(String, String)], plan: &TimePlan) -> bool {
    let new: BTreeMap<&str, &str> = settings.iter().map(|(n, v)| (n.as_str(), v.as_str())).collect();
    let same = |(name, value): (&String, &String)| {
        name == METHODS || new.get(name.as_str()).is_some_and(|new| new == value)
    };
    is_planned(folder, plan) && !old.settings.is_empty() && old.settings.iter().all(same)
}

/// Whether a folder holds a run with a budget that this plan is for, perhaps with another budget.
fn is_planned(folder: &Path, plan: &TimePlan) -> bool {
    plan.measured && TimePlan::read(&folder.join(PLAN)).is_ok_and(|there| there.request == plan.request)
}

/// Makes the records of the run `old` those of this one.
fn take_over(path: &Path, old: &str, run: &Run<'_>) -> Result<()> {
    let check = |r: &Record| run.roster.check_record(r, Some(&run.folds));
    // Whoever was stopped here before has taken them over already, or `open_records` says what is wrong with them.
    let Ok(file) = RecordFile::open_checked(path, old, check) else { return Ok(()) };
    let mut lines = Vec::new();
    for record in file.records() {
        lines.extend(Record { run: run.fingerprint.clone(), ..record.clone() }.line()?);
    }
    save_whole(path, &lines)
}

/// Where the plan of a run without a folder is kept.
fn cached_plan(request: &str) -> Option<PathBuf> {
    Some(cache_folder()?.join(format!("{request}.plan.json")))
}

/// Refuses a folder with files that no run wrote.
fn check_ours(folder: &Path) -> Result<()> {
    // Through a link or a device something else would be written, and a FIFO waits for ever.
    for name in ALL_FILES.into_iter().chain(REPORT_FILES) {
        let path = folder.join(name);
        if std::fs::symlink_metadata(&path).is_ok_and(|file| !file.is_file()) {
            return Err(Error::data(
                Place::of(path.display().to_string()),
                "this is not a regular file",
                "remove it, or use another folder for this run",
            ));
        }
    }
    let Ok(mut entries) = std::fs::read_dir(folder) else { return Ok(()) };
    // A run that was killed right after its start has left nothing but an empty file of records.
    let ours = || {
        owner(folder).is_some()
            || folder.join(RECORDS).exists() && !folder.join(OWNER).exists()
            || !shard_folders(folder).is_empty()
    };
    if entries.next().is_none() || ours() {
        return Ok(());
    }
    if folder.join(OWNER).exists() && folder.join(RECORDS).exists() {
        return Err(Error::data(
            Place::of(folder.join(OWNER).display().to_string()),
            "the file is damaged: it does not name the run whose records are in the folder",
            "remove this file, and the same command resumes; every record is checked against the run",
        ));
    }
    Err(Error::data(
        Place::of(folder.display().to_string()),
        "the folder is not empty, and does not contain a run",
        "name a new folder",
    ))
}

/// Refuses a folder in which there are shards of another run, unless this one is the same with more methods.
fn check_shards(folder: &Path, run: &Run<'_>, plan: &TimePlan) -> Result<()> {
    let settings = settings(run);
    for shard in shard_folders(folder) {
        let other = owner(&shard).filter(|other| other.run != run.fingerprint);
        if let Some(other) = other.filter(|other| !extends(&shard, other, &settings, plan)) {
            return Err(another_run(&shard, &other, &settings));
        }
    }
    Ok(())
}

fn another_run(folder: &Path, other: &RunIdentity, settings: &[(String, String)]) -> Error {
    let found = match differences(&other.settings, settings) {
        Some(what) => format!("the folder belongs to another run; what differs: {what}"),
        None => "the folder belongs to another run".into(),
    };
    Error::data(
        Place::of(folder.display().to_string()),
        found,
        "use the same settings as before, or start in a new folder",
    )
}

/// The records of a run, every one of them checked against its bags and folds.
fn open_records(path: &Path, run: &Run<'_>) -> Result<RecordFile> {
    RecordFile::open_checked(path, &run.fingerprint, |r| run.roster.check_record(r, Some(&run.folds)))
}

/// `NAME`, or the first of `NAME-2`, … that does not exist or holds this very run, perhaps with another budget.
fn free_or_own(name: &Path, fingerprint: &str, plan: &TimePlan) -> PathBuf {
    let of_shards = |folder: &Path| shard_folders(folder).iter().find_map(|shard| owner(shard));
    let of = |folder: &Path| owner(folder).or_else(|| of_shards(folder));
    let fits = |folder: &PathBuf| {
        let own = || of(folder).is_some_and(|owner| owner.run == fingerprint);
        !folder.exists() || own() || is_planned(folder, plan)
    };
    (1..).map(|n| numbered(name, n)).find(fits).unwrap_or_else(|| name.to_path_buf())
}

/// `NAME`, `NAME-2`, …
fn numbered(name: &Path, n: usize) -> PathBuf {
    match n {
        1 => name.to_path_buf(),
        n => PathBuf::from(format!("{}-{n}", name.display())),
    }
}

/// Whose run a folder holds.
fn owner(folder: &Path) -> Option<RunIdentity> {
    let bytes = read_bounded(&folder.join(OWNER), "the settings of a run", 1_000_000).ok()?;
    serde_json::from_slice(&bytes).ok()
}

/// Where unfinished runs without a folder are kept: `$BAGWISE_CACHE` (nowhere if it is empty), else the system's place.
fn cache_folder() -> Option<PathBuf> {
    let named = |name: &str| std::env::var_os(name).filter(|v| !v.is_empty()).map(PathBuf::from);
    if let Some(own) = std::env::var_os("BAGWISE_CACHE") {
        return Some(PathBuf::from(own)).filter(|p| !p.as_os_str().is_empty()).map(|p| p.join("runs"));
    }
    let system = if cfg!(windows) {
        named("LOCALAPPDATA")
    } else if cfg!(target_os = "macos") {
        named("HOME").map(|home| home.join("Library/Caches"))
    } else {
        named("XDG_CACHE_HOME").or_else(|| named("HOME").map(|home| home.join(".cache")))
    };
    // A folder of its own, because old files are removed from it.
    system.map(|folder| folder.join("bagwise/runs"))
}

/// Runs that nobody went on with for a month are forgotten.
fn remove_old(folder: &Path) {
    const MONTH: Duration = Duration::from_secs(30 * 24 * 3600);
    let Ok(entries) = std::fs::read_dir(folder) else { return };
    for path in entries
        .flatten()
        .map(|e| e.path())
        .filter(|p| p.extension().is_some_and(|e| e == "jsonl" || e == "json"))
    {
        let changed = std::fs::metadata(&path).and_then(|m| m.modified());
        let age = changed.ok().and_then(|t| SystemTime::now().duration_since(t).ok());
        if age.is_some_and(|age| age > MONTH) {
            let _ = std::fs::remove_file(path);
        }
    }
}

fn json(value: &impl Serialize) -> Result<Vec<u8>> {
    serde_json::to_vec_pretty(value)
        .map_err(|e| Error::data(Place::default(), format!("the run's folder: {e}"), "report this as a bug"))
}
