//! `cargo xtask faults`: every verb of the real program while the n-th open, write, sync or rename in its folder fails, is
//! short, or is the last thing it does. A verb that does not have [`POINTS`] of these is also killed before other calls of the
//! system, of whatever kind, spread over its run.
//!
//! What must hold for each fault: the program says what is wrong in one line and ends with exit code 2, or it does without the
//! call and the result is the right one. It never panics. No input changes; a file that was there before is the old one or the
//! whole new one; no temporary file is left, unless the program was killed. The same command again ends well and has the result
//! of an undisturbed run.

use std::path::Path;
use std::time::Duration;

use anyhow::{Result, bail};

use crate::run::say;
use crate::scenes::{self, Files, Scene};
use crate::trace::{CallKind, Fault, Injection, Traced, run};

/// Calls of one kind that are disturbed in one command, at most: the first, the last, and some in between.
const PLACES: usize = 8;

/// Each verb is disturbed so often, and 200 times at least: the last calls of a run are not always reached, because their number
/// depends on how threads meet.
const POINTS: usize = 220;

/// Of the calls of a long command so many are looked at: those with which it starts and makes its folder.
const FIRST_CALLS: usize = 400;

/// How long a long command may go on that has survived its fault.
const LIMIT: Duration = Duration::from_secs(10);

const FAULTS: &[(CallKind, &[Fault])] = &[
    (
        CallKind::Open,
        &[Fault::Error(libc::EACCES), Fault::Error(libc::EMFILE), Fault::Error(libc::EIO), Fault::Kill],
    ),
    (
        CallKind::Write,
        &[Fault::Error(libc::ENOSPC), Fault::Short, Fault::Error(libc::EIO), Fault::Full, Fault::Kill],
    ),
    (CallKind::Sync, &[Fault::Error(libc::EIO), Fault::Error(libc::ENOSPC), Fault::Kill]),
    (CallKind::Rename, &[Fault::Error(libc::EIO), Fault::Error(libc::EACCES), Fault::Kill]),
    (CallKind::Print, &[Fault::Error(libc::ENOSPC), Fault::Short, Fault::Error(libc::EIO)]),
];

/// What an undisturbed run of a command does.
struct Undisturbed {
    stdout: Vec<u8>,
    results: Files,
    counts: std::collections::HashMap<CallKind, usize>,
}

/// `cargo xtask faults [VERB] [--binary FILE]`.
pub(crate) fn command(args: &[String]) -> Result<()> {
    scenes::play(args, "injection points", |_| true, disturb)
}

/// Disturbs one command everywhere; how often, and what was wrong.
fn disturb(binary: &Path, scene: &Scene, start: &Files) -> Result<(usize, Vec<String>)> {
    let undisturbed = match scene.long {
        true => None,
        false => {
            let folder = scenes::fresh(start)?;
            let traced =
                run(&mut scenes::command(binary, folder.path(), scene.line), folder.path(), None, None)?;
            if traced.code != Some(0) {
                bail!("without a fault it ends with {:?}: {}", traced.code, traced.stderr);
            }
            let results = scenes::results(scene, &scenes::files(folder.path())?);
            Some(Undisturbed { stdout: traced.stdout, results, counts: traced.counts })
        }
    };
    let (mut points, mut broken) = (0, Vec::new());
    let (first, rest) = (FAULTS, [(CallKind::Any, &[Fault::Kill][..])]);
    for (kind, faults) in first.iter().chain(&rest) {
        // A long command is only watched while it makes its folder.
        let at_start = match kind {
            CallKind::Print => 0,
            CallKind::Any => FIRST_CALLS,
            _ => 4,
        };
        let count = undisturbed.as_ref().map_or(at_start, |u| u.counts.get(kind).copied().unwrap_or(0));
        let most = match kind {
            CallKind::Any => share(scene).saturating_sub(points),
            _ => PLACES,
        };
        for (i, nth) in spread(count, most).into_iter().enumerate() {
            for (j, &fault) in faults.iter().enumerate() {
                // Of a long command, which would go on for minutes, only what stops it.
                let stops = *kind == CallKind::Any || fault != Fault::Short && (i + j) % 2 == 0;
                if scene.long && !stops {
                    continue;
                }
                let injection = Injection { kind: *kind, nth, fault };
                let folder = scenes::fresh(start)?;
                let mut started = scenes::command(binary, folder.path(), scene.line);
                let limit = scene.long.then_some(LIMIT);
                let traced = run(&mut started, folder.path(), Some(injection), limit)?;
                if !traced.injected {
                    continue;
                }
                points += 1;
                let wrong = judge(binary, scene, start, undisturbed.as_ref(), &traced, fault, folder.path())?;
                for wrong in wrong {
                    let wrong = format!("{} [{kind:?} {nth}, {fault:?}]: {wrong}", scene.line);
                    say(&wrong);
                    broken.push(wrong);
                }
            }
        }
    }
    Ok((points, broken))
}

/// How often a command is to be disturbed, so that all of its verb come to [`POINTS`].
fn share(scene: &Scene) -> usize {
    POINTS.div_ceil(scenes::SCENES.iter().filter(|other| other.verb == scene.verb).count())
}

/// At most so many of the numbers from 1 to `count`: the first, the last, and some in between.
fn spread(count: usize, most: usize) -> Vec<usize> {
    match count <= most {
        true => (1..=count).collect(),
        false => (0..most).map(|i| 1 + i * (count - 1) / (most - 1).max(1)).collect(),
    }
}

/// What is wrong after a fault.
fn judge(
    binary: &Path,
    scene: &Scene,
    start: &Files,
    undisturbed: Option<&Undisturbed>,
    traced: &Traced,
    fault: Fault,
    folder: &Path,
) -> Result<Vec<String>> {
    let mut wrong = Vec::new();
    let said = traced.stderr.trim();
    if said.contains("panicked") {
        wrong.push(format!("panicked: {said}"));
    }
    let errors: Vec<&str> = said.lines().filter(|line| line.starts_with("error: ")).collect();
    let after = scenes::files(folder)?;
    match traced.code {
        None if fault == Fault::Kill => {}
        Some(2) => {
            if errors.len() != 1 || errors[0].len() < 12 {
                wrong.push(format!("no clear error: {said}"));
            }
            if said.contains(".bagwise-") {
                wrong.push(format!("shows a temporary name: {said}"));
            }
        }
        Some(0) => {
            if let Some(undisturbed) = undisturbed {
                if traced.stdout != undisturbed.stdout && fault != Fault::Kill && !times_differ(scene) {
                    wrong.push("ended with 0 and printed something else".into());
                }
                wrong.extend(difference(
                    &scenes::results(scene, &after),
                    &undisturbed.results,
                    "ended with 0",
                ));
            }
        }
        // A long command is stopped when it has survived its fault.
        Some(130) if scene.long => {}
        other => wrong.push(format!("ended with {other:?}: {said}")),
    }
    for (path, bytes) in start {
        match after.get(path) {
            Some(now) if now == bytes => {}
            None => wrong.push(format!("{} is gone", path.display())),
            Some(now) => {
                let new = undisturbed.and_then(|u| u.results.get(path));
                if !scenes::is_output(scene, path) || new != Some(&scenes::timeless(path, now)) {
                    wrong.push(format!("{} was changed", path.display()));
                }
            }
        }
    }
    let left = after.keys().filter(|path| scenes::is_temporary(path) && !path.starts_with("cache"));
    if fault != Fault::Kill {
        wrong.extend(left.map(|path| format!("{} was left", path.display())));
    }
    if let Some(undisturbed) = undisturbed {
        let again = scenes::command(binary, folder, scene.line).output()?;
        if again.status.code() != Some(0) {
            let said = String::from_utf8_lossy(&again.stderr).into_owned();
            wrong.push(format!("the same again ends with {:?}: {said}", again.status.code()));
        } else {
            let now = scenes::results(scene, &scenes::files(folder)?);
            wrong.extend(difference(&now, &undisturbed.results, "the same again"));
        }
    }
    Ok(wrong)
}

/// Whether a command prints how long it took.
fn times_differ(scene: &Scene) -> bool {
    ["compare", "evaluate", "run"].contains(&scene.verb)
}

/// How results differ from those of an undisturbed run.
pub(crate) fn difference(found: &Files, right: &Files, when: &str) -> Option<String> {
    let names = |files: &Files| files.keys().map(|p| p.display().to_string()).collect::<Vec<_>>().join(" ");
    if found.keys().ne(right.keys()) {
        return Some(format!("{when}: there are {}, not {}", names(found), names(right)));
    }
    let other = found.iter().find(|(path, bytes)| right.get(*path) != Some(bytes))?;
    Some(format!("{when}: {} differs", other.0.display()))
}
