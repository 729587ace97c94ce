//! `bagwise completions`: scripts with which a shell completes commands and options.

use anyhow::Result;
use clap::CommandFactory as _;
use clap_complete::Shell;

use crate::Cli;
use crate::output;
use crate::session::Outcome;

/// Print a shell completion script
#[derive(clap::Args)]
#[command(after_help = HELP)]
pub(crate) struct Args {
    /// The shell
    shell: Shell,
}

const HELP: &str = "\
Examples:
  bagwise completions bash > bagwise.bash      then: source bagwise.bash
  bagwise completions zsh > _bagwise           in a folder of $fpath
  bagwise completions fish > bagwise.fish      in ~/.config/fish/completions";

pub(crate) fn run(args: &Args) -> Result<Outcome> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), "bagwise", &mut script);
    output::to_stdout(&script)?;
    Ok(Outcome::Done)
}
