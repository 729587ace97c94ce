//! Reading the folder of a run. Nothing is computed from data: records and roster are enough, and the context, if the
//! folder has one, adds what records do not hold.

use std::path::{Path, PathBuf};

use bagwise::io::files::{read_bounded, require_regular};
use bagwise::judge::{
    FoldPlan, GroundTruth, Metric, ProtocolName, Record, Truth, read_records, read_records_checked,
};
use bagwise::run::files::{CONTEXT, FOLDS, RECORDS, ROSTER};
use bagwise::{Error, Place, Result};

use crate::context::Context;

/// One data set's records with what belongs to them.
#[derive(Clone, Debug)]
pub struct LoadedRun {
    /// The records of the run.
    pub records: Vec<Record>,
    /// The bags.
    pub roster: GroundTruth,
    /// What else is known.
    pub context: Context,
    /// Lines of files that were not written as a whole: a fit each that the records lack.
    pub torn: Vec<Place>,
}

impl LoadedRun {
    /// Reads the folder of a run, or the folder that a file of records lies in.
    pub fn read(path: &Path) -> Result<LoadedRun> {
        let (folder, file): (PathBuf, PathBuf) = if path.is_dir() {
            (path.into(), path.join(RECORDS))
        } else {
            (path.parent().unwrap_or(Path::new("")).into(), path.into())
        };
        if !file.exists() {
            return Err(Error::data(
                Place::of(file.display().to_string()),
                "no such file",
                "give the folder of a comparison or evaluation, or its records.jsonl",
            ));
        }
        require_regular(&file)?;
        let truth = folder.join(ROSTER);
        if !truth.exists() {
            // Most likely this is not a file of records; that is a more useful message than a missing second file.
            read_records(&file)?;
        }
        let roster: GroundTruth = json(&truth)?;
        roster
            .check()
            .map_err(|e| Error::data(Place::of(truth.display().to_string()), e.to_string(), AS_WRITTEN))?;
        let folds = folder.join(FOLDS);
        let folds: Option<FoldPlan> = if folds.exists() { Some(json(&folds)?) } else { None };
        let read = read_records_checked(&file, |r| roster.check_record(r, folds.as_ref()))?;
        let torn = read.torn.iter().map(|line| Place::line(file.display().to_string(), *line));
        let torn: Vec<Place> = torn.collect();
        if let (true, Some(place)) = (read.records.is_empty(), torn.first()) {
            return Err(Error::data(
                place.clone(),
                "the record is incomplete, and there is no other",
                "repeat the command that wrote it: it goes on with this run",
            ));
        }
        let context = Context::read(&folder)?;
        let run = LoadedRun::new(read.records, roster, context).map_err(|e| match e {
            Error::Invalid(found) => Error::data(
                Place::of(file.display().to_string()),
                found,
                "use the files of one run, or run it again",
            ),
            other => other,
        })?;
        Ok(LoadedRun { torn, ..run })
    }

    /// Records of the roster's data and of methods that took part; there must be some.
    pub fn new(records: Vec<Record>, roster: GroundTruth, mut context: Context) -> Result<LoadedRun> {
        let took_part = |r: &Record| context.methods.is_empty() || context.methods.contains(&r.key.method);
        let own = |r: &Record| r.key.data == roster.data && took_part(r);
        let records: Vec<Record> = records.into_iter().filter(own).collect();
        if records.is_empty() {
            return Err(Error::Invalid(format!("there are no records for {}", roster.data)));
        }
        let bags = roster.bags.len();
        context.gram = context
            .gram
            .filter(|g| g.levels.len() == g.bags.len().pow(2) && g.bags.iter().all(|&b| b < bags));
        Ok(LoadedRun { records, roster, context, torn: Vec::new() })
    }

    /// Adds the records of another shard of the same run.
    pub fn join(&mut self, other: LoadedRun) -> Result<()> {
        for record in other.records {
            match self.records.iter().find(|r| r.key == record.key) {
                None => self.records.push(record),
                // The same fit takes another time in another shard.
                Some(own) if (Record { seconds: record.seconds, ..own.clone() }) == record => {}
                Some(_) => {
                    return Err(Error::Invalid(format!(
                        "two shards have different results for {}; use the files of one run",
                        record.key
                    )));
                }
            }
        }
        self.records.sort_by(|a, b| a.key.cmp(&b.key));
        self.torn.extend(other.torn);
        Ok(())
    }

    /// The number of folds in each repeat of the run in a folder.
    pub fn folds(folder: &Path) -> Result<Vec<usize>> {
        let plan: FoldPlan = json(&folder.join(FOLDS))?;
        Ok(plan.repeats.iter().map(Vec::len).collect())
    }

    /// The metric that decides.
    pub fn metric(&self) -> Metric {
        let numbers = matches!(self.roster.truth, Truth::Values(_));
        self.context.metric.unwrap_or(Metric::default_for(numbers))
    }

    /// The level of intervals and tests.
    pub fn level(&self) -> f64 {
        self.context.level.filter(|l| *l > 0.0 && *l < 1.0).unwrap_or(0.95)
    }

    /// Whether a saved model was judged by bags from elsewhere, instead of methods by folds.
    pub fn is_external(&self) -> bool {
        self.records[0].protocol == ProtocolName::External.as_str()
    }

    /// Whether parameters were chosen on the reported folds.
    pub fn optimistic(&self) -> bool {
        self.context.optimistic || self.records.iter().any(|r| r.protocol == "best-on-cv")
    }
}

impl Context {
    /// What a run wrote into its folder; nothing is known of one that wrote nothing.
    pub fn read(folder: &Path) -> Result<Context> {
        let file = folder.join(CONTEXT);
        if file.exists() { json(&file) } else { Ok(Context::default()) }
    }
}

/// The maximum size of the other files of a run: a name and a few numbers for each bag and fold.
const MOST: u64 = 1_000_000_000;

const AS_WRITTEN: &str = "use the files as bagwise wrote them, or run the comparison again";

fn json<T: serde::de::DeserializeOwned>(path: &Path) -> Result<T> {
    let bytes = read_bounded(path, "a file next to the records", MOST)?;
    serde_json::from_slice(&bytes).map_err(|e| {
        Error::data(Place::of(path.display().to_string()), format!("cannot be parsed ({e})"), AS_WRITTEN)
    })
}
