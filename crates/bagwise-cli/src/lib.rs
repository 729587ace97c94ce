//! The `bagwise` command as a library: the program and the Python package call [`main_from`]. A command is a file in
//! `commands/` with its arguments, its examples and a `run`, and two lines here. `session.rs` contains what all
//! commands share; only `output.rs` writes to stdout.

mod args;
mod commands;
mod experiment;
mod figures;
mod judging;
mod learning;
mod novelty;
mod output;
mod outside;
mod paper;
mod progress;
mod reporting;
mod session;
mod streaming;
mod threads;
#[doc(hidden)]
pub mod untrusted;
mod wording;

use std::ffi::OsString;

use clap::error::ErrorKind;
use clap::{Parser, Subcommand};

use commands::{
    compare, completions, convert, data, embed, evaluate, explain, fit, gram, inspect, methods, predict,
    report, run, show, slurm,
};
use session::{Outcome, Session};

/// Multi-instance learning: train and compare models when each label belongs to a bag of instances, such as a molecule
/// with its conformers
#[derive(Parser)]
#[command(name = "bagwise", version, after_help = HELP, max_term_width = 100)]
pub(crate) struct Cli {
    #[command(subcommand)]
    verb: Option<Verb>,
    #[command(flatten)]
    general: args::General,
}

const HELP: &str = "\
Examples:
  bagwise compare molecules.csv --bag mol --label active --group scaffold   compare methods
  bagwise fit molecules.csv --bag mol --label active --group scaffold -o m.bagwise
  bagwise predict m.bagwise new.csv
  bagwise inspect molecules.csv --bag mol --label active                    check the data

Data are tables with one row per instance (csv, tsv, sparse; also .gz and .zst), or a built-in name.
Without a command, bagwise compares its methods on the built-in musk1. `bagwise COMMAND --help` has more examples.
Results go to stdout, everything else to stderr. Exit codes: 0 success, 1 some fits failed, 2 error, 130 Ctrl-C.";

#[derive(Subcommand)]
enum Verb {
    Compare(compare::Args),
    Inspect(inspect::Args),
    Fit(fit::Args),
    Predict(predict::Args),
    Show(show::Args),
    Explain(explain::Args),
    Evaluate(evaluate::Args),
    Run(run::Args),
    Data(data::Args),
    Report(report::Args),
    Methods(methods::Args),
    Demo(compare::DemoArgs),
    Convert(convert::Args),
    Gram(gram::Args),
    Embed(embed::Args),
    Slurm(slurm::Args),
    Completions(completions::Args),
}

/// Runs a command line, program name first, and returns the exit code. It sets up threads and the Ctrl-C handler for
/// the whole process, so call it once.
pub fn main_from(args: impl IntoIterator<Item = OsString>) -> u8 {
    let args: Vec<OsString> = args.into_iter().collect();
    let cli = match Cli::try_parse_from(&args) {
        Ok(cli) => cli,
        Err(error) => return refuse(&error, &args),
    };
    // A file that reaches the limit of its size is an error of the write then, not the end of the process.
    #[cfg(unix)]
    // SAFETY: an ignored signal runs no code.
    unsafe {
        libc::signal(libc::SIGXFSZ, libc::SIG_IGN);
    }
    let session = match Session::start(&cli.general, matches!(cli.verb, Some(Verb::Run(_)))) {
        Ok(session) => session,
        Err(error) => return output::failure(&error, wording::option),
    };
    let result = match &cli.verb {
        // Before any work.
        verb if session.wants_map() && !matches!(verb, Some(Verb::Explain(_))) => {
            Err(anyhow::anyhow!("--format geojson is for bagwise explain; use table, json or csv"))
        }
        None => compare::demo(&compare::DemoArgs::default(), &session),
        Some(Verb::Compare(args)) => compare::run(args, &session),
        Some(Verb::Evaluate(args)) => evaluate::run(args, &session),
        Some(Verb::Run(args)) => run::run(args, &session),
        Some(Verb::Data(args)) => data::run(args, &session),
        Some(Verb::Report(args)) => report::run(args, &session),
        Some(Verb::Demo(args)) => compare::demo(args, &session),
        Some(Verb::Inspect(args)) => inspect::run(args, &session),
        Some(Verb::Fit(args)) => fit::run(args, &session),
        Some(Verb::Predict(args)) => predict::run(args, &session),
        Some(Verb::Show(args)) => show::run(args, &session),
        Some(Verb::Explain(args)) => explain::run(args, &session),
        Some(Verb::Methods(args)) => methods::run(args, &session),
        Some(Verb::Convert(args)) => convert::run(args, &session),
        Some(Verb::Gram(args)) => gram::run(args, &session),
        Some(Verb::Embed(args)) => embed::run(args, &session),
        Some(Verb::Slurm(args)) => slurm::run(args, &cli.general),
        Some(Verb::Completions(args)) => completions::run(args),
    };
    session.finish();
    match result {
        Ok(Outcome::Done) => 0,
        Ok(Outcome::FailedFits) => output::FAILED_FITS,
        Err(error) => output::failure(&error, session.wording()),
    }
}

/// Prints help or what is wrong with a command line, and returns the exit code.
fn refuse(error: &clap::Error, args: &[OsString]) -> u8 {
    let odd = args.iter().find(|arg| arg.to_str().is_none());
    if let (ErrorKind::InvalidUtf8, Some(odd)) = (error.kind(), odd) {
        let odd = odd.to_string_lossy();
        let error =
            anyhow::anyhow!("{odd}: the name is not valid UTF-8; rename the file, or use a link to it");
        return output::failure(&error, wording::option);
    }
    // Help goes to stdout, an error to stderr. If stderr cannot be written, there is nowhere to report it.
    match error.print() {
        Err(e) if !error.use_stderr() && e.kind() != std::io::ErrorKind::BrokenPipe => {
            output::failure(&anyhow::Error::new(e).context("could not print the help"), wording::option)
        }
        _ => u8::try_from(error.exit_code()).unwrap_or(output::COULD_NOT_START),
    }
}
