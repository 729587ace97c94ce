//! What `predict`, `explain` and `embed` share: whether data are read in pieces, and where results go as they come.

use std::ffi::OsStr;
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, bail};
use bagwise::io::{OutputKind, PIECE, ReadOptions, can_stream, read_pieces, save};
use bagwise::model::Model;
use bagwise::{Dataset, Error};
use clap::{Args, ValueEnum};

use crate::args::Format;
use crate::output::{Output, Rows, printable};
use crate::session::{Session, of_gaps};
use crate::wording;

/// Files of this size are read in pieces by default: in memory they take one to three times as much.
const LARGE: u64 = 256_000_000;

/// How data are read for a model, and where results go.
#[derive(Args)]
pub(crate) struct Streaming {
    /// Read the data and print results piece by piece, so that memory does not grow with the data; the rows of a bag
    /// must be adjacent. auto does this for files above 256 MB
    #[arg(
        long,
        value_name = "WHEN",
        value_enum,
        num_args = 0..=1,
        require_equals = true,
        default_value_t = StreamWhen::Auto,
        default_missing_value = "always",
        hide_possible_values = true,
        help_heading = "Reading"
    )]
    stream: StreamWhen,
}

/// When data are read in pieces.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum StreamWhen {
    Auto,
    Always,
    Never,
}

/// Where results go.
#[derive(Args)]
pub(crate) struct Target {
    /// Output file, .csv or .json (add .gz to compress); it appears when it is complete [default: print the results]
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
}

impl Streaming {
    /// Whether the user wants pieces, however small the data are.
    pub(crate) fn is_asked_for(&self) -> bool {
        self.stream == StreamWhen::Always
    }

    /// Whether these data are read in pieces.
    pub(crate) fn is_on(&self, name: &str, options: &ReadOptions) -> Result<bool> {
        Ok(match self.stream {
            StreamWhen::Always => true,
            StreamWhen::Never => false,
            StreamWhen::Auto => {
                let large = std::fs::metadata(name).is_ok_and(|file| file.is_file() && file.len() >= LARGE);
                large && can_stream(name, options)?
            }
        })
    }
}

/// Hands bags to `take` that a model is to answer for: all at once, or in pieces.
pub(crate) fn each_piece(
    model: &Model,
    name: &str,
    options: ReadOptions,
    in_pieces: bool,
    session: &Session,
    mut take: impl FnMut(Dataset) -> Result<()>,
) -> Result<()> {
    if !in_pieces {
        return take(session.read_for(model, name, options)?);
    }
    let options = session.unlabelled_options_for(model, options);
    let mut failed = None;
    let mut said: Vec<String> = Vec::new();
    let mut one = |data: Dataset| {
        session.ctx.check()?;
        for warning in &data.warnings {
            let warning = warning.worded(&wording::option);
            if !said.contains(&warning) {
                session.warn(&warning);
                said.push(warning);
            }
        }
        take(data).map_err(|error| {
            failed = Some(error);
            Error::Cancelled
        })
    };
    match read_pieces(name, &options, PIECE, &mut one) {
        Err(Error::Cancelled) if failed.is_some() => Err(failed.unwrap_or_else(|| Error::Cancelled.into())),
        other => other.map_err(|error| of_gaps(model, error.into())),
    }
}

/// Results that are written as they come.
pub(crate) struct Sink<'w> {
    out: &'w mut dyn Write,
    format: Format,
    csv_safe: bool,
    begun: bool,
    /// A table for people is drawn at the end, when its widths are known.
    table: Option<Rows>,
    /// The reader has seen enough.
    gone: bool,
}

impl Sink<'_> {
    /// Writes the rows of a piece behind those of the pieces before.
    pub(crate) fn push(&mut self, piece: &impl Output) -> Result<()> {
        let bytes = match self.format {
            Format::Table => {
                let rows = piece.text_rows();
                match &mut self.table {
                    Some(table) => table.append(rows),
                    None => self.table = Some(rows),
                }
                return Ok(());
            }
            Format::Csv => piece.csv().to_csv(self.csv_safe, !self.begun)?,
            Format::Geojson => bail!("GeoJSON is written as a whole, not in pieces; leave out --stream"),
            Format::Json => {
                let list = piece.json()?;
                let inside = list.strip_prefix("[\n").and_then(|list| list.strip_suffix("\n]"));
                let before = if self.begun { ",\n" } else { "[\n" };
                inside.map_or(String::new(), |inside| format!("{before}{inside}")).into_bytes()
            }
        };
        self.begun |= !bytes.is_empty();
        self.write(&bytes)
    }

    fn end(&mut self) -> Result<()> {
        match (self.format, self.table.take()) {
            (Format::Table, Some(rows)) => self.write(printable(&rows.to_string()).as_bytes()),
            (Format::Json, _) if !self.begun => self.write(b"[]\n"),
            (Format::Json, _) => self.write(b"\n]\n"),
            _ => Ok(()),
        }
    }

    fn write(&mut self, bytes: &[u8]) -> Result<()> {
        match self.out.write_all(bytes).and_then(|()| self.out.flush()) {
            Err(error) if error.kind() == ErrorKind::BrokenPipe => {
                self.gone = true;
                Err(Error::Cancelled.into())
            }
            other => other.context("could not write the result"),
        }
    }
}

impl Target {
    /// A file, or stdout.
    pub(crate) fn new(output: Option<PathBuf>) -> Target {
        Target { output }
    }

    /// Refuses an output that cannot be written, before any work.
    pub(crate) fn check(&self, inputs: &[&OsStr], session: &Session) -> Result<()> {
        let Some(path) = &self.output else { return Ok(()) };
        format_of(path)?;
        session.check_output(path, OutputKind::Table, inputs)
    }

    /// Lets `fill` write results: to the file, which appears if all went well, or to stdout.
    pub(crate) fn write(
        &self,
        session: &Session,
        fill: impl FnOnce(&mut Sink<'_>) -> Result<()>,
    ) -> Result<()> {
        let (format, csv_safe) = session.format();
        let Some(path) = &self.output else {
            session.clear_progress();
            let mut out = std::io::stdout().lock();
            let mut sink = Sink { out: &mut out, format, csv_safe, begun: false, table: None, gone: false };
            let done = fill(&mut sink).and_then(|()| sink.end());
            return if sink.gone { Ok(()) } else { done };
        };
        let format = format_of(path)?;
        let mut failed = None;
        let written = save::whole(path, |mut out| {
            let mut sink = Sink { out: &mut out, format, csv_safe, begun: false, table: None, gone: false };
            fill(&mut sink).and_then(|()| sink.end()).map_err(|error| {
                let io = error.downcast_ref::<std::io::Error>().map(std::io::Error::kind);
                failed = Some(error).filter(|_| io.is_none());
                io.map_or_else(|| std::io::Error::other("stopped"), std::io::Error::from)
            })
        });
        match failed {
            Some(error) => Err(error),
            None => {
                written?;
                session.say(&format!("wrote {}", path.display()));
                Ok(())
            }
        }
    }
}

/// The format of a file of results, by its name.
fn format_of(path: &Path) -> Result<Format> {
    let name = path.file_name().map(|n| n.to_string_lossy().to_lowercase()).unwrap_or_default();
    match name.strip_suffix(".gz").unwrap_or(&name) {
        name if name.ends_with(".csv") => Ok(Format::Csv),
        name if name.ends_with(".json") => Ok(Format::Json),
        _ => bail!("{}: the name of the output file must end in .csv or .json", path.display()),
    }
}
