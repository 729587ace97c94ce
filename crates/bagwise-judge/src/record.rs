//! One JSON line per fit, written as soon as the fit is done; everything that is shown later is computed from
//! these lines. A run that was interrupted opens its file again and finds by key what is done.
//!
//! What may go wrong with the file, and what happens: a last line without its newline was being written when
//! the run died: it is cut off, and its fit is done again. A power cut may also leave zero bytes where lines had not
//! reached the disk yet: a line with zeros is passed over, and its fit is done again. Any other line that cannot be read is damage, an
//! error that names the line. A line of another run (other data, folds, seed, settings: another fingerprint) is an
//! error too, because mixing them would give wrong results silently. So is a line that was edited: every line has a seal, the
//! fingerprint of what identifies the fit and of its predictions, and a reader that knows the bags and folds compares them
//! ([`GroundTruth::check_record`]). Lines of earlier versions have no seal. Two processes cannot write to one file.
//!
//! Lines reach the disk at least once a second ([`SYNC_EVERY`]), so that a power cut costs the fits of that second.
//!
//! [`GroundTruth::check_record`]: super::GroundTruth::check_record

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::fs::{File, OpenOptions, TryLockError};
use std::io::{Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::fingerprint::fingerprint;
use bagwise_core::files::{check_bound, explain_write, read_bounded, require_regular, sync_folder_of};
use bagwise_core::{Error, Place, Result};

/// How the line of a record begins.
const BEGINNING: &[u8] = b"{\"format\":";
/// Bytes that a file of records may have: all of them are held in memory.
const MOST: u64 = 4_000_000_000;
const WHAT: &str = "a file of records";

/// Records are written at once, and forced to the disk when so much time has passed since the last time.
const SYNC_EVERY: Duration = Duration::from_secs(1);

/// Records of this and older formats can be read.
pub const RECORD_FORMAT: u32 = 1;

/// The parameter that says where a method draws its reference points; `all` means that it saw the bags it is judged by.
pub const POOL: &str = "pool";

/// What a fit is of. Records sorted by key stand in the same order whatever the number of threads.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Key {
    /// The data set's name.
    pub data: String,
    /// The method's name.
    pub method: String,
    /// Repeat, counted from 0.
    pub repeat: usize,
    /// Outer fold, counted from 0.
    pub fold: usize,
    /// Inner fold, counted from 0; none for a fit that is judged on the outer fold.
    pub inner: Option<usize>,
    /// Which point of a grid, as text; empty for the one that was chosen or the only one.
    pub point: String,
}

impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}, {}, repeat {}, fold {}", self.data, self.method, self.repeat, self.fold)?;
        if let Some(inner) = self.inner {
            write!(f, ", inner fold {inner}")?;
        }
        if !self.point.is_empty() {
            write!(f, ", {}", self.point)?;
        }
        Ok(())
    }
}

/// The predictions for the tested bags; all lists are in the order of `bags`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ScoredBags {
    /// Positions in the data set.
    pub bags: Vec<usize>,
    /// Predicted classes; none for real targets.
    pub labels: Option<Vec<u32>>,
    /// One number per bag (the positive class's score, or the predicted value), or one per bag and class; empty if only classes
    /// were predicted.
    pub scores: Vec<f64>,
    /// Likewise, probabilities.
    pub probabilities: Option<Vec<f64>>,
}

/// A short explanation of the prediction for a bag: the largest contributions of instances to the output of one binary model.
///
/// With two classes, and in regression, there is one binary model. With more classes, it is the model that supports the
/// predicted class least: with one-versus-rest its own model, with pairs the one against its closest rival. The JSON keys are
/// single letters, because every tested bag of every fit has one of these.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Reason {
    /// The class on the plus side of the machine and that on the minus side (none: all others); nothing if there is one
    /// machine only.
    #[serde(rename = "m", default, skip_serializing_if = "Option::is_none")]
    pub machine: Option<(u32, Option<u32>)>,
    /// The part of the output that belongs to no instance; none where one instance decides.
    #[serde(rename = "b", default, skip_serializing_if = "Option::is_none")]
    pub bias: Option<f64>,
    /// Instances, numbered from 0 as in the file, and their parts of the output, the largest by absolute value first;
    /// parts of 0 are left out. Where one instance decides, that one and its output, then the largest outputs of others.
    #[serde(rename = "p", default, skip_serializing_if = "Vec::is_empty")]
    pub parts: Vec<(usize, f64)>,
    /// How many more instances the bag has, and the sum of their parts; the sum is 0 where one instance decides.
    #[serde(rename = "r", default, skip_serializing_if = "nothing_left")]
    pub rest: (usize, f64),
}

fn nothing_left(rest: &(usize, f64)) -> bool {
    *rest == (0, 0.0)
}

impl Reason {
    /// Instances that are kept at most.
    pub const MOST: usize = 10;

    /// The output of the machine: bias and all parts, or the output of the instance that decides.
    pub fn output(&self) -> f64 {
        match self.bias {
            Some(bias) => bias + self.parts.iter().map(|p| p.1).sum::<f64>() + self.rest.1,
            None => self.parts.first().map_or(0.0, |p| p.1),
        }
    }

    /// Instances of the bag.
    pub fn instances(&self) -> usize {
        self.parts.len().saturating_add(self.rest.0)
    }

    /// True if every number is finite.
    pub fn is_finite(&self) -> bool {
        self.bias.is_none_or(f64::is_finite)
            && self.parts.iter().all(|p| p.1.is_finite())
            && self.rest.1.is_finite()
    }
}

/// How a fit ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FitStatus {
    /// The solver reached its tolerance.
    Converged,
    /// The solver stopped at its limit.
    IterationLimit,
    /// Alternation came back to an earlier state.
    Cycle,
    /// There is no fit; `message` says why.
    Failed,
}

/// How a fit went.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FitOutcome {
    /// How it ended.
    pub status: FitStatus,
    /// Steps of the solver or the alternation.
    pub iterations: Option<u64>,
    /// Final objective.
    pub objective: Option<f64>,
    /// Largest violation of the optimality conditions.
    pub gap: Option<f64>,
    /// What the user should know.
    pub message: Option<String>,
    /// How many choices changed after each round of an alternation (of all machines together); empty for methods that
    /// train once, and in records older than this field.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub changed: Vec<usize>,
}

/// How several methods together, which a fit took, stood to the best single one on inner folds.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct EnsembleGain {
    /// The single method that they replace.
    pub instead_of: String,
    /// By how much the mean loss of a bag was lower; negative if it was higher.
    pub mean: f64,
    /// The standard error of this difference.
    pub error: f64,
}

/// One fit. Numbers that do not exist are `None`; a non-finite optional number is written as null and read back
/// as `None`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Record {
    /// Version of the layout; records that were written before there was one have the first.
    #[serde(default = "first_format")]
    pub format: u32,
    /// What it is a fit of.
    pub key: Key,
    /// Fingerprint of the run's configuration.
    pub run: String,
    /// Fingerprint of the data.
    pub data: String,
    /// The protocol's name.
    pub protocol: String,
    /// The run's seed.
    pub seed: u64,
    /// Parameters by name.
    pub parameters: BTreeMap<String, Value>,
    /// Number of training bags.
    pub trained: usize,
    /// The predictions for the tested bags; empty if the fit failed.
    pub scored: ScoredBags,
    /// An explanation for each tested bag, by the model that predicted it; empty if the method cannot explain, with `best-on-cv`,
    /// which keeps no models, and in records older than this field.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub reasons: Vec<Reason>,
    /// Metric values by name.
    pub metrics: BTreeMap<String, Option<f64>>,
    /// What the chosen parameters reached on the inner folds: optimistic, since it was maximised.
    pub inner: Option<f64>,
    /// Of a fit that took several methods together; absent in records older than this field.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gain: Option<EnsembleGain>,
    /// The threshold chosen in the training part.
    pub threshold: Option<f64>,
    /// Chosen parameters that sit at an end of their list.
    pub on_edge: Vec<String>,
    /// How it went.
    pub outcome: FitOutcome,
    /// Time taken; of fits that went on side by side an equal share each. 0 if the predictions came from elsewhere.
    pub seconds: f64,
}

fn first_format() -> u32 {
    1
}

impl Record {
    /// True unless the fit failed.
    pub fn succeeded(&self) -> bool {
        self.outcome.status != FitStatus::Failed
    }

    /// True if the fit drew on the bags that it was judged by, though not on their labels: the parameter `pool=all`.
    pub fn saw_test_bags(&self) -> bool {
        self.parameters.get(POOL).is_some_and(|pool| pool == "all")
    }

    /// The line for the file, with its newline.
    pub fn line(&self) -> Result<Vec<u8>> {
        self.check()?;
        let sealed = SealedRecord { record: self, seal: self.seal() };
        let mut line = serde_json::to_vec(&sealed).map_err(|e| Error::Invalid(e.to_string()))?;
        line.push(b'\n');
        Ok(line)
    }

    /// The fingerprint of what says which fit this is, and of its predictions. A record that stands under the name of another
    /// method, or has other parameters, has another one. Times are not part of it, since they differ between shards.
    fn seal(&self) -> String {
        let Record { key, run, data, protocol, seed, parameters, trained, scored, .. } = self;
        fingerprint(&(key, run, data, protocol, seed, parameters, trained, scored))
    }

    /// What is written, and what is read, fits together.
    fn check(&self) -> Result<()> {
        let refuse = |what: &str| Err(Error::Invalid(format!("fit of {}: {what}", self.key)));
        if self.format == 0 || self.format > RECORD_FORMAT {
            return refuse(&format!(
                "the record has format {}, but this bagwise reads formats 1 to {RECORD_FORMAT}; use a newer bagwise",
                self.format
            ));
        }
        let s = &self.scored;
        let finite = |values: &[f64]| values.iter().all(|v| v.is_finite());
        if !finite(&s.scores) || !s.probabilities.as_deref().is_none_or(finite) {
            return refuse("a score or probability is not a finite number; the fit counts as failed");
        }
        let per_bag = |n: usize| match s.bags.len() {
            0 => n == 0,
            bags => n > 0 && n.is_multiple_of(bags),
        };
        let classes_only = s.scores.is_empty() && s.labels.is_some();
        if !(per_bag(s.scores.len()) || classes_only)
            || s.labels.as_ref().is_some_and(|l| l.len() != s.bags.len())
            || !s.probabilities.as_ref().is_none_or(|p| per_bag(p.len()))
        {
            return refuse("scores, labels or probabilities do not match the bags");
        }
        if !self.reasons.is_empty() && self.reasons.len() != s.bags.len() {
            return refuse("reasons do not match the bags");
        }
        for reason in &self.reasons {
            let instances: BTreeSet<usize> = reason.parts.iter().map(|p| p.0).collect();
            if reason.parts.len() > Reason::MOST || instances.len() < reason.parts.len() {
                return refuse("a reason has more than ten instances, or the same instance twice");
            }
            if !reason.is_finite() {
                return refuse("a contribution in a reason is not a finite number");
            }
        }
        if self.gain.as_ref().is_some_and(|gain| !(gain.mean.is_finite() && gain.error.is_finite())) {
            return refuse("the gain of the ensemble is not a finite number");
        }
        if !self.seconds.is_finite() {
            return refuse("the time taken is not a finite number");
        }
        Ok(())
    }
}

/// A record as it is written.
#[derive(Serialize)]
struct SealedRecord<'r> {
    #[serde(flatten)]
    record: &'r Record,
    seal: String,
}

/// The seal of a line that is read; lines of earlier versions have none.
#[derive(Deserialize)]
struct Seal {
    seal: Option<String>,
}

/// A growing file of records.
#[derive(Debug)]
pub struct RecordFile {
    path: PathBuf,
    run: String,
    file: File,
    records: BTreeMap<Key, Record>,
    /// Bytes of lines that were not written as a whole.
    torn: u64,
    /// Where the next line starts.
    end: u64,
    /// When the file was last forced to the disk, and whether lines were written since.
    synced: Instant,
    dirty: bool,
}

impl RecordFile {
    /// Opens the file, or makes it, for the run whose configuration has the fingerprint `run`.
    pub fn open(path: &Path, run: &str) -> Result<RecordFile> {
        RecordFile::open_checked(path, run, |_| Ok(()))
    }

    /// The same, and refuses the file, with the line, if `check` refuses a record.
    pub fn open_checked(path: &Path, run: &str, check: impl Fn(&Record) -> Result<()>) -> Result<RecordFile> {
        let io = |source| Error::Io { path: path.to_path_buf(), source };
        require_regular(path)?;
        let is_new = !path.exists();
        let mut file = OpenOptions::new()
            .read(true)
            .write(true)
            .create(true)
            .truncate(false)
            .open(path)
            .map_err(|e| explain_write(path, e))?;
        if is_new {
            sync_folder_of(path)?;
        }
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                return Err(Error::data(
                    Place::of(path.display().to_string()),
                    "another process is writing to this file",
                    "wait for it to finish, or use another folder for this run",
                ));
            }
            // Some network file systems have no locks; the run goes on without.
            Err(TryLockError::Error(e)) if e.kind() == std::io::ErrorKind::Unsupported => {}
            Err(TryLockError::Error(e)) => return Err(io(e)),
        }
        let mut bytes = Vec::new();
        check_bound(path, WHAT, file.metadata().map_err(io)?.len(), MOST)?;
        file.read_to_end(&mut bytes).map_err(io)?;
        let whole = whole_lines(&bytes);
        let records = parse(path, whole, Some(run), &check)?;
        let rest = &bytes[whole.len()..];
        // What a killed process or a power cut left of a line. Anything else, in a file without records, belongs to someone.
        let is_torn = rest.starts_with(BEGINNING) || BEGINNING.starts_with(rest) || has_hole(rest);
        if records.is_empty() && !is_torn {
            return Err(Error::data(
                Place::of(path.display().to_string()),
                "the last line is not a record, and would be overwritten",
                "move the file, or use another folder for this run",
            ));
        }
        let cut = rest.len() as u64;
        let end = whole.len() as u64;
        if cut > 0 {
            file.set_len(end).map_err(io)?;
        }
        // What is left of a line in the middle becomes blank, in its place, so that no other line moves.
        let (mut at, mut blank) = (0, 0);
        for line in whole.split(|&b| b == b'\n') {
            if has_hole(line) {
                file.seek(SeekFrom::Start(at)).map_err(io)?;
                file.write_all(&vec![b' '; line.len()]).map_err(|e| explain_write(path, e))?;
                blank += line.len() as u64 + 1;
            }
            at += line.len() as u64 + 1;
        }
        file.seek(SeekFrom::Start(end)).map_err(io)?;
        let torn = cut + blank;
        let (synced, dirty) = (Instant::now(), torn > 0);
        Ok(RecordFile { path: path.to_path_buf(), run: run.into(), file, records, torn, end, synced, dirty })
    }

    /// Writes a record and flushes it. One key can be written once.
    pub fn append(&mut self, record: Record) -> Result<()> {
        if record.run != self.run {
            return Err(Error::Invalid(format!("fit of {}: the record belongs to another run", record.key)));
        }
        if self.records.contains_key(&record.key) {
            return Err(Error::Invalid(format!("fit of {} is recorded already", record.key)));
        }
        let line = record.line()?;
        let written = self.file.write_all(&line).and_then(|()| self.file.flush());
        if let Err(source) = written {
            // A full disk leaves a part of the line; the next one must not be glued to it.
            let _ = self.file.set_len(self.end).and_then(|()| self.file.seek(SeekFrom::Start(self.end)));
            return Err(explain_write(&self.path, source));
        }
        self.end += line.len() as u64;
        self.records.insert(record.key.clone(), record);
        self.dirty = true;
        if self.synced.elapsed() >= SYNC_EVERY {
            self.sync()?;
        }
        Ok(())
    }

    /// Forces what was written to the disk.
    pub fn sync(&mut self) -> Result<()> {
        if self.dirty {
            self.file.sync_data().map_err(|e| explain_write(&self.path, e))?;
        }
        (self.synced, self.dirty) = (Instant::now(), false);
        Ok(())
    }

    /// The record of a key, if that fit is done.
    pub fn get(&self, key: &Key) -> Option<&Record> {
        self.records.get(key)
    }

    /// True if that fit is done.
    pub fn contains(&self, key: &Key) -> bool {
        self.records.contains_key(key)
    }

    /// All records, sorted by key.
    pub fn records(&self) -> impl Iterator<Item = &Record> {
        self.records.values()
    }

    /// Number of records.
    pub fn len(&self) -> usize {
        self.records.len()
    }

    /// True if nothing is recorded.
    pub fn is_empty(&self) -> bool {
        self.records.is_empty()
    }

    /// Bytes of lines that were not written as a whole: a torn last line, which was cut off, and lines with zeros.
    pub fn torn(&self) -> u64 {
        self.torn
    }

    /// The records themselves, sorted by key.
    pub fn into_records(mut self) -> Vec<Record> {
        std::mem::take(&mut self.records).into_values().collect()
    }
}

impl Drop for RecordFile {
    /// A run that was stopped keeps what it has done.
    fn drop(&mut self) {
        let _ = self.sync();
    }
}

/// The records of a file, sorted by key, whatever their run; a torn last line is ignored and nothing is changed.
pub fn read_records(path: &Path) -> Result<Vec<Record>> {
    Ok(read_records_checked(path, |_| Ok(()))?.records)
}

/// What a file of records holds.
#[derive(Clone, Debug, PartialEq)]
pub struct ReadRecords {
    /// The records, sorted by key.
    pub records: Vec<Record>,
    /// The numbers, counted from 1, of lines that were not written as a whole; what they said is not among the records.
    pub torn: Vec<u64>,
}

/// The same, with the lines that were torn; refuses the file, with the line, if `check` refuses a record.
pub fn read_records_checked(path: &Path, check: impl Fn(&Record) -> Result<()>) -> Result<ReadRecords> {
    let bytes = read_bounded(path, WHAT, MOST)?;
    let whole = whole_lines(&bytes);
    let records = parse(path, whole, None, &check)?.into_values().collect();
    let lines = bytes.split(|&b| b == b'\n').zip(1..);
    let last = (whole.len() < bytes.len()).then(|| lines.clone().count() as u64);
    let torn = lines.filter(|(line, n)| has_hole(line) || Some(*n) == last).map(|(_, n)| n).collect();
    Ok(ReadRecords { records, torn })
}

/// Everything up to the last newline.
fn whole_lines(bytes: &[u8]) -> &[u8] {
    let end = bytes.iter().rposition(|&b| b == b'\n').map_or(0, |at| at + 1);
    &bytes[..end]
}

/// True of a line that the disk never got as a whole: JSON has no zero bytes. Single ones are no hole: a file that an editor has
/// saved as UTF-16 has one beside every letter.
fn has_hole(line: &[u8]) -> bool {
    line == [0] || line.windows(2).any(|pair| pair == [0, 0])
}

/// True of a line that had a hole when its run went on.
fn is_blank(line: &[u8]) -> bool {
    !line.is_empty() && line.iter().all(|&b| b == b' ')
}

fn parse(
    path: &Path,
    bytes: &[u8],
    run: Option<&str>,
    check: &dyn Fn(&Record) -> Result<()>,
) -> Result<BTreeMap<Key, Record>> {
    let mut records = BTreeMap::new();
    let lines = bytes.strip_suffix(b"\n").map(|body| body.split(|&b| b == b'\n')).into_iter().flatten();
    for (i, line) in lines.enumerate().filter(|(_, line)| !has_hole(line) && !is_blank(line)) {
        let refuse = |found: String, remedy: &str| {
            Err(Error::data(Place::line(path.display().to_string(), i as u64 + 1), found, remedy))
        };
        let record: Record = match serde_json::from_slice(line) {
            Ok(record) => record,
            Err(e) => {
                return refuse(
                    format!("not a record ({e})"),
                    "delete the line to repeat its fit, or start in a new folder",
                );
            }
        };
        if let Err(problem) = record.check() {
            return refuse(
                problem.to_string(),
                "delete the line to repeat its fit, or start in a new folder",
            );
        }
        if run.is_some_and(|run| run != record.run) {
            return refuse(
                format!(
                    "this record belongs to another run (its fingerprint is {}, this run's is {}): data, folds, \
                     seed or settings differ",
                    record.run,
                    run.unwrap_or_default()
                ),
                "use the same settings as before, or start in a new folder",
            );
        }
        if let Err(problem) = check(&record) {
            return refuse(
                problem.to_string(),
                "delete the line to repeat its fit, or start in a new folder",
            );
        }
        // Records of earlier versions have none; one that is no seal was edited.
        let sealed = serde_json::from_slice(line).map(|Seal { seal }| seal);
        if !sealed.is_ok_and(|seal| seal.is_none_or(|seal| seal == record.seal())) {
            return refuse(
                format!(
                    "the record of {} was edited: method, parameters or predictions are not those it was written with",
                    record.key
                ),
                "delete the line to repeat its fit, or start in a new folder",
            );
        }
        let key = record.key.clone();
        if records.insert(key.clone(), record).is_some() {
            return refuse(format!("the fit of {key} is recorded twice"), "delete one of the two lines");
        }
    }
    Ok(records)
}
