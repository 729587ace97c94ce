//! Running a program under `ptrace`, so that the n-th call of a kind fails, is short or is its last, and so that every change
//! of a folder is recorded in order.
//!
//! Why not a preloaded library: half of the program's calls (those of `rustix`) do not go through libc. Why not
//! `strace -e inject`: it can make a call fail, but a short write must really write the first half. Linux on x86-64 only; the
//! code that is tested is the same everywhere.

use std::collections::HashMap;
use std::ffi::OsString;
use std::fs::File;
use std::os::unix::ffi::OsStringExt as _;
use std::os::unix::fs::FileExt as _;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use anyhow::{Context as _, Result, bail};
use libc::{c_long, pid_t};

/// A kind of call, as far as it concerns files in the watched folder or stdout.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum CallKind {
    Open,
    Write,
    Sync,
    Rename,
    Print,
    /// Any call at all, also those outside the folder.
    Any,
}

/// What happens to a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fault {
    /// It fails with this error.
    Error(i32),
    /// It writes half of the bytes, and says so.
    Short,
    /// The disk is full from here on.
    Full,
    /// The process is killed before it.
    Kill,
}

/// One fault in one run.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Injection {
    pub(crate) kind: CallKind,
    /// Counted from 1.
    pub(crate) nth: usize,
    pub(crate) fault: Fault,
}

/// A change of the watched folder.
#[derive(Clone, Debug)]
pub(crate) enum Change {
    Create(PathBuf),
    Write { path: PathBuf, at: u64, bytes: Vec<u8> },
    Truncate { path: PathBuf, length: u64 },
    Sync(PathBuf),
    Rename { from: PathBuf, to: PathBuf },
    Remove(PathBuf),
    MakeFolder(PathBuf),
}

/// What a run did.
pub(crate) struct Traced {
    /// The exit code; none if a signal ended it.
    pub(crate) code: Option<i32>,
    pub(crate) stdout: Vec<u8>,
    pub(crate) stderr: String,
    pub(crate) changes: Vec<Change>,
    pub(crate) counts: HashMap<CallKind, usize>,
    /// Whether the fault happened.
    pub(crate) injected: bool,
}

/// What is to be done when a call returns.
enum After {
    Record(Vec<Change>),
    Fail(i32),
}

struct Tracer<'t> {
    folder: &'t Path,
    injection: Option<Injection>,
    counts: HashMap<CallKind, usize>,
    changes: Vec<Change>,
    injected: bool,
    /// The disk is full.
    full: bool,
    /// Threads inside a call.
    inside: HashMap<pid_t, After>,
}

/// Runs a command in a folder whose files are watched, as by Ctrl-C ended after `limit`.
pub(crate) fn run(
    command: &mut Command,
    folder: &Path,
    injection: Option<Injection>,
    limit: Option<Duration>,
) -> Result<Traced> {
    let folder = folder.canonicalize()?;
    let talk = tempfile::tempdir()?;
    let (out, err) = (talk.path().join("out"), talk.path().join("err"));
    command.current_dir(&folder).stdin(Stdio::null());
    command.stdout(File::create(&out)?).stderr(File::create(&err)?);
    // SAFETY: the closure only makes one system call, which is allowed between fork and exec.
    unsafe {
        command.pre_exec(|| match libc::ptrace(libc::PTRACE_TRACEME, 0, 0, 0) {
            -1 => Err(std::io::Error::last_os_error()),
            _ => Ok(()),
        });
    }
    let child = command.spawn().context("starting the program")?;
    let child = pid_t::try_from(child.id())?;
    let mut tracer = Tracer {
        folder: &folder,
        injection,
        counts: HashMap::new(),
        changes: Vec::new(),
        injected: false,
        full: false,
        inside: HashMap::new(),
    };
    let over = Arc::new(AtomicBool::new(false));
    if let Some(limit) = limit {
        let over = Arc::clone(&over);
        std::thread::spawn(move || {
            std::thread::sleep(limit);
            if !over.load(Ordering::Relaxed) {
                // SAFETY: the child has not been waited for, so that its number belongs to no other process.
                unsafe { libc::kill(child, libc::SIGINT) };
            }
        });
    }
    let code = tracer.follow(child);
    over.store(true, Ordering::Relaxed);
    let code = code?;
    Ok(Traced {
        code,
        stdout: std::fs::read(out)?,
        stderr: String::from_utf8_lossy(&std::fs::read(err)?).into_owned(),
        changes: tracer.changes,
        counts: tracer.counts,
        injected: tracer.injected,
    })
}

fn ptrace(request: libc::c_uint, pid: pid_t, data: usize) -> Result<c_long> {
    // SAFETY: none of the requests made here touches memory of this process; `registers` has its own call.
    let answer = unsafe { libc::ptrace(request, pid, 0usize, data) };
    if answer == -1 {
        return Err(std::io::Error::last_os_error()).with_context(|| format!("ptrace {request} of {pid}"));
    }
    Ok(answer)
}

fn registers(pid: pid_t) -> Result<libc::user_regs_struct> {
    let mut registers = std::mem::MaybeUninit::<libc::user_regs_struct>::zeroed();
    // SAFETY: the kernel fills the structure, whose size it knows, and zeros are valid numbers.
    unsafe {
        if libc::ptrace(libc::PTRACE_GETREGS, pid, 0usize, registers.as_mut_ptr()) == -1 {
            return Err(std::io::Error::last_os_error()).context("reading registers");
        }
        Ok(registers.assume_init())
    }
}

fn set_registers(pid: pid_t, registers: &libc::user_regs_struct) -> Result<()> {
    // SAFETY: the kernel reads the structure, which lives until the call returns.
    if unsafe { libc::ptrace(libc::PTRACE_SETREGS, pid, 0usize, std::ptr::from_ref(registers)) } == -1 {
        return Err(std::io::Error::last_os_error()).context("writing registers");
    }
    Ok(())
}

impl Tracer<'_> {
    /// Follows the process and its threads to its end; its exit code.
    fn follow(&mut self, child: pid_t) -> Result<Option<i32>> {
        let mut started = false;
        loop {
            let mut status = 0;
            // SAFETY: `status` is written to before the call returns.
            let pid = unsafe { libc::waitpid(-1, &raw mut status, libc::__WALL) };
            if pid == -1 {
                bail!("the program vanished");
            }
            if libc::WIFEXITED(status) || libc::WIFSIGNALED(status) {
                self.inside.remove(&pid);
                if pid == child {
                    return Ok(libc::WIFEXITED(status).then(|| libc::WEXITSTATUS(status)));
                }
                continue;
            }
            let signal = libc::WSTOPSIG(status);
            let mut pass_on = 0;
            if !started {
                started = true;
                let options =
                    libc::PTRACE_O_TRACESYSGOOD | libc::PTRACE_O_TRACECLONE | libc::PTRACE_O_EXITKILL;
                ptrace(libc::PTRACE_SETOPTIONS, pid, options as usize)?;
            } else if signal == libc::SIGTRAP | 0x80 {
                // A thread that is being killed has no registers any more.
                let _ = self.at_call(pid);
            } else if signal != libc::SIGTRAP && signal != libc::SIGSTOP {
                pass_on = signal as usize;
            }
            let _ = ptrace(libc::PTRACE_SYSCALL, pid, pass_on);
        }
    }

    /// A thread enters or leaves a call.
    fn at_call(&mut self, pid: pid_t) -> Result<()> {
        let mut registers = registers(pid)?;
        if let Some(after) = self.inside.remove(&pid) {
            match after {
                After::Fail(error) => {
                    registers.rax = (-i64::from(error)) as u64;
                    set_registers(pid, &registers)?;
                }
                After::Record(changes) if (registers.rax as i64) >= 0 => {
                    // Of a short write only a part was written.
                    let written = registers.rax as usize;
                    self.changes.extend(changes.into_iter().map(|change| match change {
                        Change::Write { path, at, mut bytes } => {
                            bytes.truncate(written);
                            Change::Write { path, at, bytes }
                        }
                        other => other,
                    }));
                }
                After::Record(_) => {}
            }
            return Ok(());
        }
        let (kind, changes) = self.concerns(pid, &registers);
        let mut after = After::Record(changes);
        for kind in std::iter::once(CallKind::Any).chain(kind) {
            let count = self.counts.entry(kind).or_default();
            *count += 1;
            let hit = self.injection.filter(|i| i.kind == kind && i.nth == *count);
            let fault =
                hit.map(|i| i.fault).or((self.full && kind == CallKind::Write).then_some(Fault::Full));
            self.injected |= hit.is_some();
            match fault {
                None => {}
                Some(Fault::Short) => {
                    registers.rdx = registers.rdx.div_ceil(2);
                    set_registers(pid, &registers)?;
                }
                Some(Fault::Kill) => {
                    // SAFETY: the process is our child and still there.
                    unsafe { libc::kill(pid, libc::SIGKILL) };
                }
                Some(Fault::Error(error)) => {
                    registers.orig_rax = u64::MAX;
                    set_registers(pid, &registers)?;
                    after = After::Fail(error);
                }
                Some(Fault::Full) => {
                    self.full = true;
                    registers.orig_rax = u64::MAX;
                    set_registers(pid, &registers)?;
                    after = After::Fail(libc::ENOSPC);
                }
            }
        }
        self.inside.insert(pid, after);
        Ok(())
    }

    /// What a call that is about to happen has to do with the folder.
    fn concerns(&self, pid: pid_t, r: &libc::user_regs_struct) -> (Option<CallKind>, Vec<Change>) {
        const NOTHING: (Option<CallKind>, Vec<Change>) = (None, Vec::new());
        let path = |at: u64| self.path(pid, at);
        let of = |fd: u64| self.file(pid, fd);
        match r.orig_rax as c_long {
            libc::SYS_open => self.opening(path(r.rdi), r.rsi),
            libc::SYS_openat => self.opening(path(r.rsi), r.rdx),
            libc::SYS_write if r.rdi == 1 => (Some(CallKind::Print), Vec::new()),
            libc::SYS_write => match of(r.rdi) {
                Some(path) => {
                    let at = position(pid, r.rdi);
                    let bytes = memory(pid, r.rsi, r.rdx as usize).unwrap_or_default();
                    (Some(CallKind::Write), vec![Change::Write { path, at, bytes }])
                }
                None => NOTHING,
            },
            libc::SYS_fsync | libc::SYS_fdatasync => match of(r.rdi) {
                Some(path) => (Some(CallKind::Sync), vec![Change::Sync(path)]),
                None => NOTHING,
            },
            libc::SYS_ftruncate => match of(r.rdi) {
                Some(path) => (None, vec![Change::Truncate { path, length: r.rsi }]),
                None => NOTHING,
            },
            libc::SYS_rename => self.renaming(path(r.rdi), path(r.rsi)),
            libc::SYS_renameat | libc::SYS_renameat2 => self.renaming(path(r.rsi), path(r.r10)),
            libc::SYS_unlink => (None, path(r.rdi).map(Change::Remove).into_iter().collect()),
            libc::SYS_unlinkat => (None, path(r.rsi).map(Change::Remove).into_iter().collect()),
            libc::SYS_mkdir => (None, path(r.rdi).map(Change::MakeFolder).into_iter().collect()),
            libc::SYS_mkdirat => (None, path(r.rsi).map(Change::MakeFolder).into_iter().collect()),
            _ => NOTHING,
        }
    }

    fn opening(&self, path: Option<PathBuf>, flags: u64) -> (Option<CallKind>, Vec<Change>) {
        let Some(path) = path else { return (None, Vec::new()) };
        let asks = |flag: i32| flags & flag as u64 != 0;
        let changes = match path.exists() {
            false if asks(libc::O_CREAT) => vec![Change::Create(path)],
            true if asks(libc::O_TRUNC) => vec![Change::Truncate { path, length: 0 }],
            _ => Vec::new(),
        };
        (Some(CallKind::Open), changes)
    }

    fn renaming(&self, from: Option<PathBuf>, to: Option<PathBuf>) -> (Option<CallKind>, Vec<Change>) {
        match (from, to) {
            (Some(from), Some(to)) => (Some(CallKind::Rename), vec![Change::Rename { from, to }]),
            _ => (None, Vec::new()),
        }
    }

    /// A path in the program's memory, if it is in the folder.
    fn path(&self, pid: pid_t, at: u64) -> Option<PathBuf> {
        let mut bytes = Vec::new();
        // In steps, because the end of a page may be the end of the memory.
        while bytes.len() < 4096 {
            let from = at + bytes.len() as u64;
            let piece = memory(pid, from, 256 - (from % 256) as usize)?;
            match piece.iter().position(|&b| b == 0) {
                Some(end) => {
                    bytes.extend(&piece[..end]);
                    break;
                }
                None => bytes.extend(piece),
            }
        }
        let mut path = self.folder.to_path_buf();
        // `.` at the end of a path is the folder itself.
        path.extend(Path::new(&OsString::from_vec(bytes)).components());
        path.starts_with(self.folder).then_some(path)
    }

    /// The file behind a descriptor, if it is in the folder.
    fn file(&self, pid: pid_t, fd: u64) -> Option<PathBuf> {
        let path = std::fs::read_link(format!("/proc/{pid}/fd/{fd}")).ok()?;
        path.starts_with(self.folder).then_some(path)
    }
}

/// Bytes of the program's memory.
fn memory(pid: pid_t, at: u64, count: usize) -> Option<Vec<u8>> {
    let mut bytes = vec![0; count];
    File::open(format!("/proc/{pid}/mem")).ok()?.read_exact_at(&mut bytes, at).ok()?;
    Some(bytes)
}

/// Where the next write to a descriptor goes.
fn position(pid: pid_t, fd: u64) -> u64 {
    let about = std::fs::read_to_string(format!("/proc/{pid}/fdinfo/{fd}")).unwrap_or_default();
    let line = about.lines().find_map(|line| line.strip_prefix("pos:"));
    line.and_then(|text| text.trim().parse().ok()).unwrap_or(0)
}
