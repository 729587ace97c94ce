//! What may be overwritten: one rule for every command that writes a file. A file is replaced if its content shows that
//! bagwise wrote it and that it is of the same kind. Anything else is replaced only if the user asks for it. An input
//! is never replaced.
//!
//! Where a format has a place for a remark, what we write carries one: a comment in ARFF, in graphs and in tables of results, the
//! comment of an archive, the writer's name in Parquet and HTML. A model is known by its header, a Gram by a header that is longer
//! than it must be ([`super::npy`]). CSV and sparse text have no such place, so they are never taken for ours.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::Path;

use super::{compress, has_ending, npy, save};
use bagwise_core::{Error, Message, Place, Result, Setting, files};

/// The remark in graphs.
pub const GRAPHS_MARK: &str = "written by bagwise: graphs";

/// The remark in the tables of an experiment as Markdown and LaTeX.
pub const RESULTS_MARK: &str = "written by bagwise: results of an experiment";

/// The remark in ARFF, and the comment of an archive of bags.
pub(crate) const TABLE_MARK: &str = "written by bagwise: bags";

/// The comment of an archive with a feature map.
pub(crate) const MAP_MARK: &str = "written by bagwise: feature map";

/// A kind of file that bagwise writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OutputKind {
    /// A trained model.
    Model,
    /// A Gram matrix (`.npy`).
    Gram,
    /// Sparse vectors (`.npz`).
    FeatureMap,
    /// Bags, in any format.
    Table,
    /// Graphs of bags.
    Graphs,
    /// A report (HTML).
    Report,
    /// The results of an experiment (JSON, Markdown or LaTeX).
    Results,
}

impl OutputKind {
    fn name(self) -> &'static str {
        match self {
            OutputKind::Model => "a model",
            OutputKind::Gram => "a Gram matrix",
            OutputKind::FeatureMap => "a feature map",
            OutputKind::Table => "known to be written by bagwise (a CSV file never is)",
            OutputKind::Graphs => "a file of graphs",
            OutputKind::Report => "a report",
            OutputKind::Results => "a table of results",
        }
    }

    /// Whether the beginning (decompressed) and the end of a file are those of this kind, from bagwise.
    fn is(self, head: &[u8], tail: &[u8]) -> bool {
        let says = |text: &str| head.windows(text.len()).any(|piece| piece == text.as_bytes());
        match self {
            // Eight bytes of length stand before.
            OutputKind::Model => {
                head.get(8..).is_some_and(|json| json.starts_with(b"{\"__metadata__\":{\"bagwise\":"))
            }
            OutputKind::Gram => npy::is_marked(head),
            OutputKind::FeatureMap => tail.ends_with(MAP_MARK.as_bytes()),
            OutputKind::Table => {
                let parquet =
                    tail.ends_with(b"PAR1") && tail.windows(16).any(|piece| piece == b"bagwise version ");
                head.starts_with(format!("% {TABLE_MARK}").as_bytes())
                    || tail.ends_with(TABLE_MARK.as_bytes())
                    || parquet
            }
            OutputKind::Graphs => says(GRAPHS_MARK),
            OutputKind::Report => says("<meta name=\"generator\" content=\"bagwise "),
            OutputKind::Results => {
                let starts = |text: &str| head.starts_with(text.as_bytes());
                let json = starts("{\n  \"title\": ") && says("\"source\": ");
                // The texts without a mark are those of early versions.
                let markdown = starts(&format!("<!-- {RESULTS_MARK}"))
                    || starts("### ") && says("\n| data | method | printed | ");
                let latex = starts(&format!("% {RESULTS_MARK}"))
                    || starts("% ") && says("\n% needs \\usepackage{booktabs}\n\\begin{table}\n\\caption{");
                json || markdown || latex
            }
        }
    }
}

/// Whether a file of this kind may be written there, before the work whose result it would be: the folder can be written to,
/// no input is lost, and nothing that bagwise did not write, unless `force` says so.
pub fn check_output(path: &Path, kind: OutputKind, inputs: &[&Path], force: bool) -> Result<()> {
    save::possible(path)?;
    let refuse = |found: String, remedy: Message| {
        Err(Error::data(Place::of(path.display().to_string()), found, remedy))
    };
    if inputs.iter().any(|input| would_be_read_from(path, input)) {
        return refuse(
            "the folder is read as one bag per .npy file, so the output would be a bag of it the next time"
                .into(),
            "write it to another folder".into(),
        );
    }
    let Ok(found) = path.metadata() else { return Ok(()) };
    // A C4.5 table has its columns in a file of their own.
    let columns =
        |input: &Path| has_ending(input, "data") && is_part_of(path, &input.with_extension("names"));
    if inputs.iter().any(|input| is_part_of(path, input) || columns(input)) {
        return refuse("input and output are the same file".into(), "choose another name".into());
    }
    // There is nothing to lose in a pipe, a device or an empty file.
    if force || !found.is_file() || found.len() == 0 || wrote(path, kind) {
        return Ok(());
    }
    refuse(
        format!("a file of this name exists, and it is not {}", kind.name()),
        Message::from("choose another name, or overwrite it").with([Setting::Overwrite]),
    )
}

/// True if two outputs, of which perhaps none exists yet, are one file.
pub fn is_same_output(one: &Path, other: &Path) -> bool {
    let place = |path: &Path| {
        let folder = files::folder_of(path).canonicalize().ok()?;
        path.canonicalize().ok().or_else(|| Some(folder.join(path.file_name()?)))
    };
    place(one).zip(place(other)).is_some_and(|(a, b)| a == b)
}

/// True if a file that does not exist would be a bag of the folder that is the input.
fn would_be_read_from(path: &Path, input: &Path) -> bool {
    let folder = || files::folder_of(path).canonicalize().ok().zip(input.canonicalize().ok());
    !path.exists() && has_ending(path, "npy") && input.is_dir() && folder().is_some_and(|(a, b)| a == b)
}

/// True if a file is the input, or in the folder that is the input.
fn is_part_of(path: &Path, input: &Path) -> bool {
    match (path.canonicalize(), input.canonicalize()) {
        (Ok(path), Ok(input)) => path.starts_with(input),
        _ => false,
    }
}

/// True if bagwise wrote this file, as one of this kind.
fn wrote(path: &Path, kind: OutputKind) -> bool {
    const LOOK: u64 = 4096;
    let (mut head, mut tail) = (Vec::new(), Vec::new());
    let read = compress::open(path).map(|input| input.take(LOOK).read_to_end(&mut head));
    let read_end = File::open(path).and_then(|mut file| {
        let length = file.seek(SeekFrom::End(0))?;
        file.seek(SeekFrom::Start(length.saturating_sub(LOOK)))?;
        file.take(LOOK).read_to_end(&mut tail)
    });
    matches!(read, Ok(Ok(_))) && read_end.is_ok() && kind.is(&head, &tail)
}
