//! `cargo xtask fuzz`: the targets in `fuzz/`, with libFuzzer, by the stable compiler. (cargo-fuzz would ask for a nightly one
//! because of its sanitizers; coverage is an ordinary pass of LLVM.) Builds, corpora and finds go to `target/fuzz`; what is
//! found becomes a file of the committed corpus, which the tests replay.
//!
//! Every run is added to `fuzz/executions.tsv`: target, executions, seconds, finds. The file is committed, so that it counts what
//! was run on all machines; `count` prints its sums.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};
use std::sync::atomic::{AtomicBool, AtomicI32, Ordering};
use std::time::Instant;

use anyhow::{Context as _, Result, bail};
use bagwise::fold::{ResolvedConfig, TrainingTask};
use bagwise::fold::{TrainOptions, train};
use bagwise::io::{ReadOptions, read, write};
use bagwise::judge::{Metric, Splits};
use bagwise::multiclass::Scheme;
use bagwise::params::{Grid, WhenUnset};
use bagwise::preprocess::Scale;
use bagwise::{Ctx, methods};

use crate::run::{cargo, print, program, root, run, say, target};

/// What makes libFuzzer see which code a file reaches.
const COVERAGE: &str = "--cfg fuzzing -Cpasses=sancov-module \
    -Cllvm-args=-sanitizer-coverage-level=4 -Cllvm-args=-sanitizer-coverage-inline-8bit-counters \
    -Cllvm-args=-sanitizer-coverage-pc-table -Cllvm-args=-sanitizer-coverage-trace-compares";

/// Crates that read no file, and csv_core: what the others reach says nothing about a file, and libFuzzer goes through all counters
/// after every execution. Most time of the table targets was spent where csv_core computes its automaton anew for each reader.
const UNCOVERED: &[&str] = &[
    "anstream",
    "anstyle",
    "anstyle_parse",
    "anstyle_query",
    "clap",
    "clap_builder",
    "clap_complete",
    "clap_lex",
    "comfy_table",
    "console",
    "crossbeam_deque",
    "crossbeam_epoch",
    "crossbeam_utils",
    "csv_core",
    "ctrlc",
    "indicatif",
    "libm",
    "matrixmultiply",
    "nix",
    "rayon",
    "rayon_core",
    "rustix",
    "statrs",
    "strsim",
    "tempfile",
    "unicode_segmentation",
    "unicode_width",
];

/// Tells this program that cargo calls it in the place of the compiler.
const AS_COMPILER: &str = "BAGWISE_FUZZ_COMPILER";

/// What libFuzzer ends with when it was interrupted.
const INTERRUPTED: i32 = 72;

/// The fuzzer that runs; none is 0.
static RUNNING: AtomicI32 = AtomicI32::new(0);

/// Whether the user wants no more.
static STOPPED: AtomicBool = AtomicBool::new(false);

/// A target, and the endings of the files in `tests/data` that are its seeds.
const TARGETS: &[(&str, &[&str])] = &[
    ("arff", &["arff"]),
    ("c45", &["data"]),
    ("csv", &["csv"]),
    ("experiment", &[]),
    ("gzip", &[]),
    ("labels", &[]),
    ("learn", &[]),
    ("made-mat", &[]),
    ("made-npz", &[]),
    ("made-parquet", &[]),
    ("matlab", &["mat"]),
    ("model", &[]),
    ("npy", &["npy"]),
    ("npz", &["npz"]),
    ("parquet", &["parquet"]),
    ("plan", &[]),
    ("printed", &[]),
    ("record", &["jsonl"]),
    ("report", &[]),
    ("roster", &[]),
    ("sparse", &["sparse"]),
    ("zstd", &[]),
];

/// Files of a target that are committed: enough for the tests to pass by every kind of input in a second.
const COMMITTED: usize = 24;
/// Bytes of such a file.
const COMMITTED_SIZE: u64 = 2048;

const USAGE: &str = "\
cargo xtask fuzz NAME [SECONDS]   one target (60 seconds)
cargo xtask fuzz all [SECONDS]    every target, one after the other
cargo xtask fuzz count            executions so far
cargo xtask fuzz corpus           the smallest files that reach the most, into fuzz/corpus";

/// The word.
pub(crate) fn command(args: &[String]) -> Result<()> {
    let names = || TARGETS.iter().map(|t| t.0).collect::<Vec<_>>().join(", ");
    let (name, seconds) = match args {
        [name] => (name.as_str(), "60"),
        [name, seconds] if seconds.parse::<u32>().is_ok() => (name.as_str(), seconds.as_str()),
        _ => bail!("{USAGE}\nNAME is one of: {}", names()),
    };
    match name {
        "count" => return count(),
        "corpus" => {
            return TARGETS.iter().try_for_each(|(name, _)| commit(name));
        }
        "all" => {
            // What cannot be built is no find.
            for (name, _) in TARGETS {
                build(name)?;
            }
            let mut broken = Vec::new();
            for (name, endings) in TARGETS {
                let ended = fuzz(name, endings, seconds);
                if STOPPED.load(Ordering::SeqCst) {
                    ended?;
                    break;
                }
                if let Err(error) = ended {
                    say(&format!("{error:#}"));
                    broken.push(*name);
                }
            }
            if !broken.is_empty() {
                bail!("found something: {}", broken.join(", "));
            }
            return Ok(());
        }
        _ => {}
    }
    let Some((name, endings)) = TARGETS.iter().find(|t| t.0 == name) else {
        bail!("there is no target '{name}'; there are: {}", names());
    };
    fuzz(name, endings, seconds)
}

/// Whether a target needs only the readers of tables, and is in the program that has nothing else.
fn reads_tables(name: &str) -> bool {
    const OTHERS: [&str; 8] =
        ["experiment", "learn", "model", "plan", "printed", "record", "report", "roster"];
    !OTHERS.contains(&name)
}

/// Builds the program of a target, if it is not there.
fn build(name: &str) -> Result<PathBuf> {
    let (package, program_name) =
        if reads_tables(name) { ("bagwise-fuzz-tables", "tables") } else { ("bagwise-fuzz", "fuzz") };
    // With the platform named, flags are for the program and not for what builds it.
    let version = program("rustc", &["-vV"]).output().context("rustc")?;
    let version = String::from_utf8_lossy(&version.stdout).into_owned();
    let host =
        version.lines().find_map(|l| l.strip_prefix("host: ")).context("rustc did not name its platform")?;
    let mut build = cargo(&["build", "--quiet", "--release", "--manifest-path", "fuzz/Cargo.toml"]);
    let folder = target().join("fuzz");
    build.args(["--package", package, "--target", host, "--target-dir"]).arg(&folder);
    // The list is a flag too, so that a change of it builds everything again.
    build.env("RUSTFLAGS", format!("{COVERAGE} --cfg uncovered=\"{}\"", UNCOVERED.join("-")));
    build.env("RUSTC_WRAPPER", std::env::current_exe()?).env(AS_COMPILER, "1");
    run(build)?;
    Ok(folder.join(host).join("release").join(format!("{program_name}{}", std::env::consts::EXE_SUFFIX)))
}

/// Compiles a crate if cargo called this program to do so: with coverage, unless it is one of those that need none.
pub(crate) fn compiler() -> Option<ExitCode> {
    std::env::var_os(AS_COMPILER)?;
    let args: Vec<String> = std::env::args().skip(1).collect();
    let (rustc, args) = args.split_first()?;
    let status = Command::new(rustc).args(without_coverage(args)).status();
    let code = status.ok().and_then(|status| u8::try_from(status.code()?).ok());
    Some(code.map_or(ExitCode::FAILURE, ExitCode::from))
}

/// The arguments of the compiler, for a crate that needs no coverage without what asks for it.
fn without_coverage(args: &[String]) -> Vec<&String> {
    let name = args.iter().position(|arg| arg == "--crate-name").and_then(|at| args.get(at + 1));
    let plain = name.is_some_and(|name| UNCOVERED.contains(&name.as_str()));
    let asks = |arg: &str| arg.contains("-sanitizer-coverage-") || arg == "-Cpasses=sancov-module";
    args.iter().filter(|arg| !(plain && asks(arg))).collect()
}

/// Ctrl-C and the end of a time limit reach the fuzzer, which then says how often it ran, and not this program, which notes it.
#[cfg(unix)]
fn stop_by_signal() {
    extern "C" fn stop(_: libc::c_int) {
        STOPPED.store(true, Ordering::SeqCst);
        let fuzzer = RUNNING.load(Ordering::SeqCst);
        if fuzzer > 0 {
            // SAFETY: `kill` may be called in a handler, and the process is a child that was not waited for.
            unsafe { libc::kill(fuzzer, libc::SIGTERM) };
        }
    }
    for signal in [libc::SIGINT, libc::SIGTERM] {
        // SAFETY: the handler does nothing but store and send.
        unsafe { libc::signal(signal, stop as extern "C" fn(libc::c_int) as libc::sighandler_t) };
    }
}

#[cfg(not(unix))]
fn stop_by_signal() {}

/// Where the corpus of a target grows.
fn growing(name: &str) -> PathBuf {
    target().join("fuzz/corpus").join(name)
}

/// The committed corpus of a target.
fn committed(name: &str) -> PathBuf {
    root().join("fuzz/corpus").join(name)
}

/// Fuzzes one target for some seconds, and notes how often it ran.
fn fuzz(name: &str, endings: &[&str], seconds: &str) -> Result<()> {
    let (corpus, finds) = (growing(name), target().join("fuzz/finds").join(name));
    for path in [&corpus, &finds] {
        std::fs::create_dir_all(path).with_context(|| path.display().to_string())?;
    }
    let seeds = seeds(name, endings, &corpus)?;
    say(&format!("{name}: {seeds} seeds, {seconds} seconds"));
    let limits = ["-rss_limit_mb=2048", "-timeout=20", "-max_len=65536", "-print_final_stats=1"];
    let mut fuzz = program(build(name)?, &limits);
    fuzz.arg(format!("-max_total_time={seconds}"))
        .arg(format!("-artifact_prefix={}/", finds.display()))
        .arg(&corpus)
        .stderr(Stdio::piped())
        // Runs without a folder would fill the user's cache.
        .env("BAGWISE_CACHE", "")
        .env("BAGWISE_FUZZ", name)
        // Buffers that are freed stay with the process, which needs the same ones again at once.
        .env("GLIBC_TUNABLES", "glibc.malloc.trim_threshold=268435456:glibc.malloc.mmap_threshold=33554432");
    if committed(name).is_dir() {
        fuzz.arg(committed(name));
    }
    stop_by_signal();
    let started = Instant::now();
    let mut child = fuzz.spawn().with_context(|| format!("starting {name}"))?;
    let process = i32::try_from(child.id())?;
    RUNNING.store(process, Ordering::SeqCst);
    #[cfg(unix)]
    if STOPPED.load(Ordering::SeqCst) {
        // The signal came before there was a process to pass it on to.
        // SAFETY: the process is a child that was not waited for.
        unsafe { libc::kill(process, libc::SIGTERM) };
    }
    let (mut executions, mut last) = (0, Vec::new());
    let lines = BufReader::new(child.stderr.take().context("no stderr")?);
    for line in lines.split(b'\n') {
        let line = String::from_utf8_lossy(&line?).into_owned();
        if let Some(found) = line.strip_prefix("stat::number_of_executed_units:") {
            executions = found.trim().parse::<u64>().context("libFuzzer's count")?;
        }
        last.push(line);
        if last.len() > 60 {
            last.remove(0);
        }
    }
    RUNNING.store(0, Ordering::SeqCst);
    let ended = child.wait()?;
    let found = !ended.success() && ended.code() != Some(INTERRUPTED);
    note(name, executions, started.elapsed().as_secs(), u32::from(found))?;
    if found {
        bail!("{}\n{name} failed; what was found is in {}", last.join("\n"), finds.display());
    }
    say(&format!("{name}: {executions} executions in {} s", started.elapsed().as_secs()));
    Ok(())
}

/// What each target has done so far.
type Sums = BTreeMap<String, [u64; 3]>;

fn log() -> PathBuf {
    root().join("fuzz/executions.tsv")
}

/// The sums so far; none if nothing was run yet.
fn known() -> Result<Sums> {
    let path = log();
    let text = if path.exists() { std::fs::read_to_string(&path)? } else { String::new() };
    parse(&text).with_context(|| path.display().to_string())
}

/// Adds a run to the log.
fn note(name: &str, executions: u64, seconds: u64, finds: u32) -> Result<()> {
    let mut sums = known()?;
    let own = sums.entry(name.into()).or_default();
    *own = [own[0] + executions, own[1] + seconds, own[2] + u64::from(finds)];
    let lines: String = sums.iter().map(|(name, [n, s, f])| format!("{name}\t{n}\t{s}\t{f}\n")).collect();
    let path = log();
    std::fs::write(&path, lines).with_context(|| path.display().to_string())
}

/// Prints the sums of the log.
fn count() -> Result<()> {
    print(&page(&known()?)?);
    Ok(())
}

/// Executions, seconds and finds of each target.
fn parse(log: &str) -> Result<Sums> {
    let mut sums = Sums::new();
    for (i, line) in log.lines().enumerate() {
        let cells: Vec<&str> = line.split('\t').collect();
        let &[name, executions, seconds, finds] = &cells[..] else { bail!("line {}: '{line}'", i + 1) };
        for (sum, cell) in sums.entry(name.into()).or_default().iter_mut().zip([executions, seconds, finds]) {
            *sum += cell.parse::<u64>().with_context(|| format!("line {}: '{line}'", i + 1))?;
        }
    }
    Ok(sums)
}

/// A line for each target, and one for all.
fn page(sums: &Sums) -> Result<String> {
    let mut page = String::new();
    let all = sums.values().fold([0; 3], |a, b| [a[0] + b[0], a[1] + b[1], a[2] + b[2]]);
    for (name, [executions, seconds, finds]) in
        sums.iter().map(|(n, s)| (n.as_str(), *s)).chain([("all", all)])
    {
        writeln!(page, "{name:<14} {executions:>14} executions {seconds:>8} s {finds:>4} finds")?;
    }
    Ok(page)
}

/// Puts the smallest files that together reach what the corpus of a target reaches into the repository.
fn commit(name: &str) -> Result<()> {
    if !growing(name).is_dir() {
        return Ok(());
    }
    let least = tempfile::tempdir()?;
    let mut merge = program(build(name)?, &["-merge=1"]);
    merge.arg(format!("-max_len={COMMITTED_SIZE}")).arg(least.path()).arg(growing(name));
    merge.stderr(Stdio::null()).env("BAGWISE_CACHE", "").env("BAGWISE_FUZZ", name);
    run(merge)?;
    let mut files: Vec<(u64, PathBuf)> = Vec::new();
    for entry in std::fs::read_dir(least.path())? {
        let entry = entry?;
        files.push((entry.metadata()?.len(), entry.path()));
    }
    // Evenly spread over the sizes: the smallest alone are refused at their first byte.
    files.sort();
    let step = files.len().div_ceil(COMMITTED).max(1);
    let folder = committed(name);
    std::fs::create_dir_all(&folder)?;
    for (_, path) in files.iter().step_by(step) {
        std::fs::copy(path, folder.join(path.file_name().unwrap_or_default()))?;
    }
    say(&format!("{name}: {} of {} files", files.iter().step_by(step).count(), files.len()));
    Ok(())
}

/// Puts small good files into the corpus; returns how many.
fn seeds(name: &str, endings: &[&str], corpus: &Path) -> Result<usize> {
    let mut count = 0;
    for file in std::fs::read_dir(root().join("crates/bagwise/tests/data"))? {
        let path = file?.path();
        let ending = path.extension().unwrap_or_default().to_string_lossy().into_owned();
        if endings.contains(&ending.as_str()) {
            std::fs::copy(&path, corpus.join(path.file_name().unwrap_or_default()))?;
            count += 1;
        }
    }
    let small = read("synthetic:gauss?bags=4&features=2&min=1&max=3&groups=2", &ReadOptions::default())?;
    match name {
        "csv" => drop(write(&small, &corpus.join("made.csv"), None)?),
        "gzip" => drop(write(&small, &corpus.join("made.csv.gz"), None)?),
        // A frame with one raw block.
        "zstd" => {
            let table = b"bag,label,x\na,0,1\nb,1,2\n";
            let mut frame = vec![0x28, 0xb5, 0x2f, 0xfd, 0x20, table.len() as u8];
            frame.extend(&((table.len() as u32) << 3 | 1).to_le_bytes()[..3]);
            frame.extend(table);
            std::fs::write(corpus.join("made.csv.zst"), frame)?;
        }
        "labels" => std::fs::write(corpus.join("made.csv"), "bag,label,group\na,0,g\nb,1,h\n")?,
        "learn" | "made-mat" | "made-npz" | "made-parquet" => {
            // Decisions, not files: any bytes will do.
            for (i, step) in [1u8, 7, 31, 97].into_iter().enumerate() {
                let bytes: Vec<u8> = (0..=255u8).map(|b| b.wrapping_mul(step)).collect();
                std::fs::write(corpus.join(format!("made-{i}")), bytes)?;
            }
        }
        "experiment" | "printed" => {
            let folder = if name == "printed" { "experiments/printed" } else { "experiments" };
            let ending = if name == "printed" { "csv" } else { "toml" };
            for file in std::fs::read_dir(root().join(folder))? {
                let path = file?.path();
                if path.extension().is_some_and(|e| e == ending) {
                    std::fs::copy(&path, corpus.join(path.file_name().unwrap_or_default()))?;
                    count += 1;
                }
            }
            return Ok(count);
        }
        "plan" | "record" | "report" | "roster" => {
            let file = match name {
                "record" => "records.jsonl".into(),
                name => format!("{name}.json"),
            };
            let data = read("synthetic:gauss?bags=12&features=2&min=1&max=3", &ReadOptions::default())?;
            let folder = tempfile::tempdir()?;
            let run = folder.path().join("run");
            bagwise::compare(&data).methods(["majority"]).folds(3).inner(2).folder(&run).run()?;
            // The context of a report is written by the command line.
            let bytes = match name {
                "report" => b"{\"metric\":\"accuracy\",\"level\":0.95,\"optimistic\":false}".to_vec(),
                _ => std::fs::read(run.join(&file))?,
            };
            std::fs::write(corpus.join(file), bytes)?;
        }
        "sparse" => {
            let mut plain = small;
            (plain.groups, plain.instance_labels) = (None, None);
            write(&plain, &corpus.join("made.sparse"), None)?;
        }
        "c45" => {
            std::fs::write(corpus.join("made.data"), "m1,m1_1,1,2,0.\nm1,m1_2,3,?,0.\n| x\nm2,m2_1,5,a,1.\n")?
        }
        "npy" => bagwise::io::write_npy(&corpus.join("made.npy"), &bagwise::Mat::zeros(2, 3))?,
        "model" => {
            let data = read("synthetic:gauss?bags=12&features=2&min=1&max=3", &ReadOptions::default())?;
            let all: Vec<usize> = (0..data.bags.len()).collect();
            for method in methods::METHODS {
                let file = corpus.join(method.info().name);
                let setup = ResolvedConfig {
                    method: *method,
                    grid: Grid::new(method.info().name, method.params(), &[], WhenUnset::Default, false)?,
                    scale: Scale::MinMax,
                    scheme: Scheme::OneVsOne,
                    balanced: false,
                    impute: true,
                };
                let learners = [TrainingTask::new(&data, &setup, None)?];
                let model = train(
                    &learners,
                    &all,
                    Splits::KFold(2),
                    &TrainOptions::by(Metric::Accuracy),
                    &Ctx::default(),
                )?;
                std::fs::write(file, model.to_bytes()?)?;
                count += 1;
            }
            return Ok(count);
        }
        _ => return Ok(count),
    }
    Ok(count + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_targets_are_those_of_the_program() {
        let read = |file: &str| std::fs::read_to_string(root().join("fuzz/src").join(file)).unwrap();
        let [tables, others] = [read("tables.rs"), read("lib.rs")];
        for (name, _) in TARGETS {
            let source = if reads_tables(name) { &tables } else { &others };
            assert!(source.contains(&format!("    (\"{name}\", ")), "{name} is no target");
        }
        let source = tables + &others;
        assert_eq!(source.matches("\n    (\"").count(), TARGETS.len(), "a target that is not run");
    }

    #[test]
    fn crates_that_read_no_file_are_compiled_without_coverage() {
        let kept = |name: &str| {
            let line =
                format!("--crate-name {name} --cfg fuzzing {}", COVERAGE.replace("--cfg fuzzing ", ""));
            let args: Vec<String> = line.split_whitespace().map(String::from).collect();
            without_coverage(&args).len()
        };
        assert_eq!((kept("csv_core"), kept("csv")), (4, 9));
    }

    #[test]
    fn the_log_is_summed() {
        let page = page(&parse("csv\t10\t2\t0\nnpz\t5\t1\t1\ncsv\t7\t1\t0\n").unwrap()).unwrap();
        let words =
            |line: usize| page.lines().nth(line).unwrap().split_whitespace().collect::<Vec<_>>().join(" ");
        assert_eq!(words(0), "csv 17 executions 3 s 0 finds");
        assert_eq!(words(2), "all 22 executions 4 s 1 finds");
        assert!(parse("csv\t10\n").is_err());
    }
}
