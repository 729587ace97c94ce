//! What all commands share while they run: the library's context (seed, memory, progress, the flag that Ctrl-C sets),
//! the output format, and how much is printed on stderr.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use anyhow::Result;
use bagwise::inspect::Finding;
use bagwise::io::{OutputKind, ReadOptions, Task, check_output, path_of, save_whole};
use bagwise::model::Model;
use bagwise::{Clock, Ctx, Dataset, Error, Message, Setting, SystemClock, check_instruction_set};

use crate::args::{Format, General};
use crate::output::{self, Output, Style};
use crate::progress::ProgressDisplay;
use crate::{threads, wording};

/// How long a computation may take to stop: the user who pressed Ctrl-C is waiting.
const PATIENCE: Duration = Duration::from_millis(900);

/// How a command ended, if it could start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// Success.
    Done,
    /// Done, but some fits failed: the results say which.
    FailedFits,
}

/// The surroundings of a run.
pub(crate) struct Session {
    /// For the library.
    pub(crate) ctx: Ctx,
    format: Format,
    csv_safe: bool,
    force: bool,
    quiet: bool,
    /// What would mislead whoever reads the results, in words: results for programs say it too.
    noted: Mutex<Vec<String>>,
    shown: Option<Arc<ProgressDisplay>>,
    started: Instant,
    /// Settings are those of an experiment's file.
    in_experiment: bool,
}

impl Session {
    /// Starts the threads and listens for Ctrl-C. `in_experiment` if settings are those of an experiment's file.
    pub(crate) fn start(options: &General, in_experiment: bool) -> Result<Session> {
        let started = Instant::now();
        check_instruction_set()?;
        let shown = ProgressDisplay::start(options.quiet);
        let mut ctx = Ctx::seeded(options.seed);
        ctx.memory = options.memory;
        if let Some(shown) = &shown {
            ctx.progress = Arc::<ProgressDisplay>::clone(shown);
        }
        let cancel = ctx.canceller();
        let listening = ctrlc::set_handler(move || {
            // The first Ctrl-C stops computations where they can save their work, the second immediately.
            if cancel.swap(true, Ordering::Relaxed) {
                std::process::exit(i32::from(output::INTERRUPTED));
            }
            output::to_stderr("stopping; press Ctrl-C again to exit immediately");
            // Fits are recorded as they end, so at most seconds of work are lost if a computation does not react.
            let end = || {
                std::thread::sleep(PATIENCE);
                output::to_stderr("interrupted");
                std::process::exit(i32::from(output::INTERRUPTED));
            };
            // Without another thread, this one waits: it has nothing else to do than to hear a second Ctrl-C.
            if std::thread::Builder::new().spawn(end).is_err() {
                end();
            }
        });
        match listening {
            // Of an earlier call in the same process, from Python: it ends the process too.
            Ok(()) | Err(ctrlc::Error::MultipleHandlers) => {}
            // It needs a thread of its own.
            Err(e) => anyhow::bail!("could not listen for Ctrl-C ({e}): {}", threads::REMEDY),
        }
        let General { format, csv_safe, force, quiet, .. } = *options;
        let noted = Mutex::default();
        let session = Session { ctx, format, csv_safe, force, quiet, noted, shown, started, in_experiment };
        // Last, so that what needs a thread of its own has it.
        if let Some((wanted, there)) = threads::start(options.threads)? {
            session.warn(&format!(
                "only {there} of {wanted} threads are used, because the system did not start all of them; the results are the same"
            ));
        }
        Ok(session)
    }

    /// What settings are called in messages.
    pub(crate) fn wording(&self) -> fn(&Setting) -> String {
        if self.in_experiment { wording::in_experiment } else { wording::option }
    }

    /// Whether an option of the verb says which class is positive.
    pub(crate) fn takes_positive(&self) -> bool {
        !self.in_experiment
    }

    /// A clock that started with the program: a budget includes the reading of data.
    pub(crate) fn clock(&self) -> Arc<dyn Clock> {
        Arc::new(SystemClock::since(self.started))
    }

    /// Reads a data set and passes on what its reader wants the user to know.
    pub(crate) fn read(&self, name: &str, options: &ReadOptions) -> Result<Dataset> {
        let options = ReadOptions { seed: self.ctx.seed, ..options.clone() };
        let data = bagwise::io::read(name, &options)?;
        self.ctx.check()?;
        self.warn_of(&data);
        Ok(data)
    }

    /// Shows what a reader has to say of data.
    pub(crate) fn warn_of(&self, data: &Dataset) {
        data.warnings.iter().for_each(|warning| self.note(&warning.worded(&self.wording())));
    }

    /// Warns about problems in the data that would make results misleading, such as attributes that reveal the label.
    pub(crate) fn caution(&self, findings: &[Finding]) {
        for finding in findings {
            let remedy = finding.remedy.worded(&self.wording());
            self.note(&format!("{}; {remedy}", finding.message));
        }
    }

    /// Reads labelled bags that a model is judged by: as [`Session::read_for`], with labels of its kind.
    pub(crate) fn read_labelled_for(
        &self,
        model: &Model,
        name: &str,
        options: ReadOptions,
    ) -> Result<Dataset> {
        let options = self.options_for(model, options);
        let task = match (options.task, model.header.classes.is_empty()) {
            (Task::Auto, true) => Task::Regression,
            (Task::Auto, false) => Task::Classification,
            (asked, _) => asked,
        };
        self.read(name, &ReadOptions { task, ..options }).map_err(|error| of_gaps(model, error))
    }

    /// Reads bags that a model is to answer for: the columns it learned from, by name, as it remembers them where nothing
    /// else is said; labels are not needed.
    pub(crate) fn read_for(&self, model: &Model, name: &str, options: ReadOptions) -> Result<Dataset> {
        self.read(name, &self.unlabelled_options_for(model, options)).map_err(|error| of_gaps(model, error))
    }

    /// How such bags are read.
    pub(crate) fn unlabelled_options_for(&self, model: &Model, options: ReadOptions) -> ReadOptions {
        ReadOptions { unlabelled: true, seed: self.ctx.seed, ..self.options_for(model, options) }
    }

    /// Options with what a model remembers, and the columns that it needs.
    fn options_for(&self, model: &Model, options: ReadOptions) -> ReadOptions {
        let features = model.header.features.iter().map(|f| f.name.clone()).collect();
        let mut options = match &model.header.reading {
            Some(remembered) => options.recall(remembered),
            None => options,
        };
        // Few bags may have none of the texts by which a column is known to be one of categories.
        let categories = model.header.features.iter().filter(|f| f.is_categorical());
        let categories: Vec<_> = categories.map(|f| bagwise::io::Column::Name(f.name.clone())).collect();
        // That one is missing is said later, with all others that are.
        options.optional.extend(categories.iter().cloned());
        options.categorical.extend(categories);
        // The reader knows the line of a gap.
        ReadOptions { features, allow_missing: model.header.transform.fills_gaps(), ..options }
    }

    /// The format of results, and whether CSV is made safe for spreadsheets.
    pub(crate) fn format(&self) -> (Format, bool) {
        (self.format, self.csv_safe)
    }

    /// Whether a file may be written, before the work whose result it is: what bagwise did not write is replaced only if the
    /// user insists, and `inputs`, as the user named them, are not replaced at all.
    pub(crate) fn check_output(&self, path: &Path, kind: OutputKind, inputs: &[&OsStr]) -> Result<()> {
        // Names of data sets are text; a path need not be.
        let named = |name: &&OsStr| name.to_str().map_or_else(|| Some(name.into()), path_of);
        let inputs: Vec<PathBuf> = inputs.iter().filter_map(named).collect();
        let inputs: Vec<&Path> = inputs.iter().map(PathBuf::as_path).collect();
        Ok(check_output(path, kind, &inputs, self.force)?)
    }

    /// Whether files and folders of others may be overwritten.
    pub(crate) fn force(&self) -> bool {
        self.force
    }

    /// Whether a feature map is requested.
    pub(crate) fn wants_map(&self) -> bool {
        self.format == Format::Geojson
    }

    /// Prints a result.
    pub(crate) fn print(&self, result: &impl Output) -> Result<()> {
        self.clear_progress();
        output::print(result, self.format, self.csv_safe)
    }

    /// Writes a result to a file: as JSON or GeoJSON if its name says so, else as CSV.
    pub(crate) fn write(&self, result: &impl Output, path: &Path) -> Result<()> {
        let ending = path.extension().map(|e| e.to_string_lossy().to_lowercase());
        let format = match ending.as_deref() {
            Some("json") => Format::Json,
            Some("geojson") => Format::Geojson,
            _ => Format::Csv,
        };
        save_whole(path, &output::bytes(result, format, self.csv_safe)?)?;
        self.say(&format!("wrote {}", path.display()));
        Ok(())
    }

    /// Whether results are for programs, not for people.
    pub(crate) fn for_programs(&self) -> bool {
        self.format != Format::Table
    }

    /// Prints what a verb made whose result is a file: for programs on stdout, for people on stderr like all other talk.
    pub(crate) fn print_beside(&self, made: &impl Output) -> Result<()> {
        match self.format {
            Format::Table => {
                self.say(made.text(Style::NONE).trim_end());
                Ok(())
            }
            _ => self.print(made),
        }
    }

    /// Says on stderr what is going on.
    pub(crate) fn say(&self, text: &str) {
        if !self.quiet {
            self.clear_progress();
            output::to_stderr(&output::printable(text));
        }
    }

    /// Warns on stderr.
    pub(crate) fn warn(&self, text: &str) {
        self.say(&format!("{} {text}", output::paint_stderr("warning:", output::YELLOW)));
    }

    /// Warns of what belongs to the results: [`Session::take_notes`] returns it for their JSON.
    pub(crate) fn note(&self, text: &str) {
        self.noted.lock().unwrap_or_else(PoisonError::into_inner).push(output::printable(text));
        self.warn(text);
    }

    /// All such warnings so far, each once; the next results begin without.
    pub(crate) fn take_notes(&self) -> Vec<String> {
        let noted = std::mem::take(&mut *self.noted.lock().unwrap_or_else(PoisonError::into_inner));
        let mut seen = BTreeSet::new();
        noted.into_iter().filter(|text| seen.insert(text.clone())).collect()
    }

    /// Takes progress off the screen.
    pub(crate) fn finish(&self) {
        self.clear_progress();
    }

    pub(crate) fn clear_progress(&self) {
        if let Some(shown) = &self.shown {
            shown.clear();
        }
    }
}

/// An error of data that a model reads: it says that the model cannot fill a gap, because no option of reading helps.
pub(crate) fn of_gaps(model: &Model, error: anyhow::Error) -> anyhow::Error {
    match error.downcast::<Error>() {
        Ok(Error::Data { place, found, remedy })
            if remedy == Message::fill_or_allow_missing() && !model.header.transform.fills_gaps() =>
        {
            let found = format!("{found}, and the model was trained on data without missing values");
            let remedy = Message::from("fill it in, drop the row, or train a model that fills in medians")
                .with([Setting::FillMissing]);
            Error::data(place, found, remedy).into()
        }
        Ok(other) => other.into(),
        Err(other) => other,
    }
}
