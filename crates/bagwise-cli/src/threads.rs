//! The threads that all computations share. They are started before anything is computed, so that a system that refuses some
//! of them (a limit of processes or memory) costs speed and not the run.

use std::error::Error as _;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::{Builder, JoinHandle};

use anyhow::{Result, bail};
use rayon::ThreadPoolBuildError;

/// The most threads that can be asked for.
pub(crate) const MOST: u16 = 1024;

/// What to do if the system does not start a thread.
pub(crate) const REMEDY: &str =
    "a limit of processes or memory is reached; raise it (ulimit -u, ulimit -v), or end other programs";

/// Starts `wanted` threads, one per core by default. If the system allows fewer, it is half of those: others are needed too, and
/// memory. Returns how many were wanted and how many there are, if these differ.
pub(crate) fn start(wanted: Option<u16>) -> Result<Option<(usize, usize)>> {
    let count = wanted.map_or_else(usual, usize::from).max(1);
    let mut waiting = gather(count, Waiting::start)?;
    let started = waiting.len();
    let built = rayon::ThreadPoolBuilder::new()
        .num_threads(started)
        .spawn_handler(|work| {
            let thread =
                waiting.pop().ok_or_else(|| std::io::Error::other("more threads than were asked for"))?;
            thread.work.send(work).map_err(|_| std::io::Error::other("a thread has ended"))
        })
        .build_global();
    if is_there_already(&built) {
        return match wanted {
            None => Ok(None),
            Some(_) => {
                bail!("the threads of this process are started already; set their number in its first call")
            }
        };
    }
    match built {
        Ok(()) => Ok((started < count).then_some((count, started))),
        Err(e) => bail!("could not start {count} threads ({e}): {REMEDY}"),
    }
}

/// Whether the threads could not be started because an earlier call in the same process, from Python, has done so. After any other
/// failure there are none, and the first computation would panic.
fn is_there_already(built: &Result<(), ThreadPoolBuildError>) -> bool {
    built.as_ref().is_err_and(|e| e.source().is_none())
}

/// So many threads, or half of those that can be started.
fn gather(count: usize, mut start: impl FnMut() -> std::io::Result<Waiting>) -> Result<Vec<Waiting>> {
    /// What is let go again if threads have taken all memory there is, so that this is not the end of it.
    const ROOM: usize = 32_000_000;
    let mut waiting = Vec::with_capacity(count);
    let mut room: Vec<u8> = Vec::new();
    // Where this is too much to ask for, nothing is let go.
    let _ = room.try_reserve_exact(ROOM);
    // Not to be optimised away, as nothing is put there.
    let room = std::hint::black_box(room);
    while waiting.len() < count {
        match start() {
            Ok(thread) => waiting.push(thread),
            Err(e) if waiting.is_empty() => bail!("no thread could be started ({e}): {REMEDY}"),
            Err(_) => {
                drop(room);
                let rest = waiting.split_off(waiting.len().div_ceil(2));
                rest.into_iter().for_each(Waiting::dismiss);
                break;
            }
        }
    }
    Ok(waiting)
}

/// As many threads as there are cores, or as the variable of rayon says.
fn usual() -> usize {
    let said = std::env::var("RAYON_NUM_THREADS").ok().and_then(|text| text.parse::<usize>().ok());
    let cores = || std::thread::available_parallelism().map_or(1, usize::from);
    // Tens of thousands are started by many systems, and then have no memory left for the first thing that one of them does.
    said.filter(|&count| count > 0).unwrap_or_else(cores).min(MOST.into())
}

/// A thread that runs and waits for its work.
struct Waiting {
    work: Sender<rayon::ThreadBuilder>,
    thread: JoinHandle<()>,
}

impl Waiting {
    fn start() -> std::io::Result<Waiting> {
        let (work, receive): (_, Receiver<rayon::ThreadBuilder>) = channel();
        let thread = Builder::new().name("bagwise".into()).spawn(move || {
            if let Ok(work) = receive.recv() {
                work.run();
            }
        })?;
        Ok(Waiting { work, thread })
    }

    /// Ends it, and waits until what it took is free again.
    fn dismiss(self) {
        drop(self.work);
        let _ = self.thread.join();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn half_of_what_the_system_allows_is_used() {
        for (allowed, kept) in [(0, None), (1, Some(1)), (2, Some(1)), (7, Some(4)), (8, Some(8))] {
            let mut left = allowed;
            let start = || {
                left -= 1;
                if left < 0 { Err(std::io::Error::other("no more")) } else { Waiting::start() }
            };
            assert_eq!(gather(8, start).ok().map(|waiting| waiting.len()), kept, "{allowed}");
        }
    }

    #[test]
    fn threads_that_are_there_are_told_from_threads_that_could_not_be_started() {
        let refuse = |_| Err(std::io::Error::other("no more"));
        let failed = rayon::ThreadPoolBuilder::new().num_threads(1).spawn_handler(refuse).build();
        assert!(!is_there_already(&failed.map(drop)));
        let build = || rayon::ThreadPoolBuilder::new().num_threads(1).build_global();
        let first = build();
        assert!(first.is_ok() || is_there_already(&first));
        assert!(is_there_already(&build()));
    }
}
