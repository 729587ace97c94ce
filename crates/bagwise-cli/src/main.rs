//! The `bagwise` program.

use std::process::ExitCode;

fn main() -> ExitCode {
    ExitCode::from(bagwise_cli::main_from(std::env::args_os()))
}
