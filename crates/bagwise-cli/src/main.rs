//! The `bagwise` program.

use std::process::ExitCode;

/// The stack that systems usually give the first thread, or a little less.
const STACK: usize = 8 << 20;
/// What is enough for everything that was tried.
const ENOUGH: usize = 4 << 20;

fn main() -> ExitCode {
    let run = || bagwise_cli::main_from(std::env::args_os());
    // Only if need be: a thread counts where processes or memory are limited.
    let thread = has_little_stack().then(|| std::thread::Builder::new().stack_size(STACK).spawn(run));
    ExitCode::from(match thread {
        // What a panic ends with.
        Some(Ok(thread)) => thread.join().unwrap_or(101),
        _ => run(),
    })
}

/// Whether the user allows the first thread less than usual (`ulimit -s`), which does not hold for others.
#[cfg(unix)]
fn has_little_stack() -> bool {
    let mut limit = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
    // SAFETY: the call writes to the structure, which lives until it returns.
    let read = unsafe { libc::getrlimit(libc::RLIMIT_STACK, &raw mut limit) } == 0;
    read && limit.rlim_cur < ENOUGH as libc::rlim_t
}

#[cfg(not(unix))]
fn has_little_stack() -> bool {
    false
}
