//! The threads that all computations share. They are started before anything is computed, so that a system that refuses some
//! of them (a limit of processes or memory) costs speed and not the run.

use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::{Builder, JoinHandle};

use anyhow::{Result, bail};

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
    match (built, wanted) {
        (Ok(()), _) => Ok((started < count).then_some((count, started))),
        // An earlier call in the same process, from Python, has started them.
        (Err(_), None) => Ok(None),
        (Err(e), Some(_)) => bail!("could not start {count} threads: {e}"),
    }
}

/// So many threads, or half of those that can be started.
fn gather(count: usize, mut start: impl FnMut() -> std::io::Result<Waiting>) -> Result<Vec<Waiting>> {
    /// What is let go again if threads have taken all memory there is, so that this is not the end of it.
    const ROOM: usize = 32_000_000;
    let mut waiting = Vec::with_capacity(count);
    // Not to be optimised away, as nothing is put there.
    let room: Vec<u8> = std::hint::black_box(Vec::with_capacity(ROOM));
    while waiting.len() < count {
        match start() {
            Ok(thread) => waiting.push(thread),
            Err(e) if waiting.is_empty() => bail!(
                "no thread could be started ({e}): a limit of processes or memory is reached; raise it (ulimit -u, ulimit -v), or end \
                 other programs"
            ),
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
    let said = std::env::var("RAYON_NUM_THREADS").ok().and_then(|text| text.parse().ok());
    let cores = || std::thread::available_parallelism().map_or(1, usize::from);
    said.filter(|&count| count > 0).unwrap_or_else(cores)
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
}
