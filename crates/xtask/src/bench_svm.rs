//! `cargo xtask bench svm`: our solvers beside scikit-learn's, on the same matrices, in one run.
//!
//! One thread on both sides, the same tolerance, best wall-clock time of several runs. The peer lives in
//! `peers/svm.py` and runs in a virtual environment under `target/venv`, made on first use. Data is looked for
//! in `$BAGWISE_DATA`, `data/` and `../shared/data`; sets that are not there are left out.
#![expect(clippy::print_stdout, reason = "a bench exists to print")]

use std::collections::HashMap;
use std::hint::black_box;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

use anyhow::{Context, Result, ensure};
use bagwise_svm::{Form, Gram, Machine, SmoParams, bounds, fit, fit_path};

const REPEATS: usize = 7;
const TUBE: f64 = 0.1;
const FOLDS: usize = 10;

/// Runs the whole bench.
pub(crate) fn run() -> Result<()> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).context("no workspace root")?;
    if cfg!(debug_assertions) {
        // Users run release builds; measure what they run.
        let arguments = ["run", "--release", "--quiet", "--package", "xtask", "--", "bench", "svm"];
        let status = Command::new("cargo").args(arguments).current_dir(root).status()?;
        ensure!(status.success(), "the release build of the bench failed");
        return Ok(());
    }
    let python = environment(root)?;
    let peer = root.join("crates/xtask/peers/svm.py");
    let folder = std::env::temp_dir().join(format!("bagwise-bench-svm-{}", std::process::id()));
    std::fs::create_dir_all(&folder)?;
    let data = data_folder(root);
    call(&python, &[peer.as_os_str(), "grams".as_ref(), folder.as_os_str(), data.as_os_str()])?;
    let report = call(
        &python,
        &[peer.as_os_str(), "time".as_ref(), folder.as_os_str(), REPEATS.to_string().as_ref()],
    )?;
    let mut theirs = HashMap::new();
    for line in report.lines() {
        let mut words = line.split_whitespace();
        match (words.next(), words.next(), words.next()) {
            (Some("version"), Some(sklearn), Some(numpy)) => {
                println!("scikit-learn {sklearn}, numpy {numpy}; one thread; best of {REPEATS}\n");
            }
            (Some(id), Some(seconds), Some(value)) => {
                theirs.insert(id.to_string(), (seconds.parse::<f64>()?, value.parse::<f64>()?));
            }
            _ => {}
        }
    }
    kernel_machines(&folder, &theirs)?;
    std::fs::remove_dir_all(&folder)?;
    Ok(())
}

fn kernel_machines(folder: &Path, theirs: &HashMap<String, (f64, f64)>) -> Result<()> {
    println!(
        "{:<28} {:>10} {:>10} {:>7} {:>9} {:>11}",
        "fit", "ours s", "sklearn s", "ratio", "updates", "objective"
    );
    for name in ["musk1", "elephant", "random2000"] {
        if !folder.join(format!("{name}.gram")).exists() {
            continue;
        }
        let y = read(&folder.join(format!("{name}.y")))?;
        let gram = read(&folder.join(format!("{name}.gram")))?;
        let everything: Vec<usize> = (0..y.len()).collect();
        let kernel = Gram::new(&gram, y.len(), &everything);
        for tolerance in [1e-3, 1e-6] {
            for cost in [1.0, 100.0] {
                for (form, label) in [
                    (Form::Classify { labels: &y }, "svc"),
                    (Form::Regress { targets: &y, tube: TUBE }, "svr"),
                ] {
                    let id = format!("{name}/{label}/C={cost}/tol={tolerance:e}");
                    let params = SmoParams { tolerance, ..SmoParams::default() };
                    let times = if tolerance == 1e-3 { REPEATS } else { 1 };
                    let train = || fit(&kernel, form, &bounds(cost, y.len()), None, &params);
                    let (seconds, machine) = best(times, train);
                    row(&id, seconds, &machine, theirs);
                }
            }
        }
        let id = format!("{name}/paths");
        let (seconds, right) = best(REPEATS, || paths(&gram, &y));
        if let Some((their_seconds, their_right)) = theirs.get(&id) {
            println!(
                "{id:<28} {seconds:>10.6} {their_seconds:>10.6} {:>6.2}x  ten costs, ten folds; right {right} and {their_right}",
                their_seconds / seconds
            );
        }
    }
    Ok(())
}

fn row(id: &str, seconds: f64, machine: &Machine, theirs: &HashMap<String, (f64, f64)>) {
    let outcome = &machine.outcome;
    let (their_seconds, their_objective) = theirs.get(id).copied().unwrap_or((f64::NAN, f64::NAN));
    println!(
        "{id:<28} {seconds:>10.6} {their_seconds:>10.6} {:>6.2}x {:>9} {:>11.1e}",
        their_seconds / seconds,
        outcome.iterations,
        (outcome.objective - their_objective) / their_objective.abs(),
    );
}

/// Ten costs in ten folds on one Gram: how many held-out examples land on the right side.
fn paths(gram: &[f64], y: &[f64]) -> usize {
    let n = y.len();
    let costs: Vec<f64> = (0..10).map(|k| 0.125 * f64::powi(2.0, k)).collect();
    let mut right = 0;
    for fold in 0..FOLDS {
        let (test, train): (Vec<usize>, Vec<usize>) = (0..n).partition(|i| i % FOLDS == fold);
        let labels: Vec<f64> = train.iter().map(|&i| y[i]).collect();
        let kernel = Gram::new(gram, n, &train);
        let form = Form::Classify { labels: &labels };
        for machine in fit_path(&kernel, form, &vec![1.0; train.len()], &costs, &SmoParams::default()) {
            right +=
                test.iter().filter(|&&t| machine.output(|i| gram[t * n + train[i]]) * y[t] > 0.0).count();
        }
    }
    right
}

fn best<T>(times: usize, mut run: impl FnMut() -> T) -> (f64, T) {
    let mut timed = || {
        let start = Instant::now();
        let result = black_box(run());
        (start.elapsed().as_secs_f64(), result)
    };
    let mut fastest = timed();
    for _ in 1..times {
        let next = timed();
        if next.0 < fastest.0 {
            fastest = next;
        }
    }
    fastest
}

fn read(path: &Path) -> Result<Vec<f64>> {
    let bytes = std::fs::read(path).with_context(|| path.display().to_string())?;
    Ok(bytes.chunks_exact(8).map(|b| f64::from_le_bytes(b.try_into().expect("eight bytes"))).collect())
}

fn data_folder(root: &Path) -> PathBuf {
    let named = std::env::var_os("BAGWISE_DATA").map(PathBuf::from);
    let near = [root.join("data"), root.join("../shared/data"), root.join("../../shared/data")];
    let candidates = named.into_iter().chain(near);
    candidates
        .into_iter()
        .find(|folder| folder.join("musk1.csv").exists())
        .unwrap_or_else(|| root.join("data"))
}

/// A Python with scikit-learn, under `target/venv`.
fn environment(root: &Path) -> Result<PathBuf> {
    let target = std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root.join("target"), PathBuf::from);
    let venv = target.join("venv");
    let python = venv.join(if cfg!(windows) { "Scripts/python.exe" } else { "bin/python" });
    if !python.exists() {
        call(Path::new("python3"), &["-m".as_ref(), "venv".as_ref(), venv.as_os_str()])?;
    }
    if call(&python, &["-c".as_ref(), "import sklearn".as_ref()]).is_err() {
        let install = ["-m", "pip", "install", "--quiet", "numpy", "scikit-learn"];
        call(&python, &install.map(std::ffi::OsStr::new))?;
    }
    Ok(python)
}

fn call(program: &Path, arguments: &[&std::ffi::OsStr]) -> Result<String> {
    let mut command = Command::new(program);
    for threads in ["OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"] {
        command.env(threads, "1");
    }
    let output = command.args(arguments).output().with_context(|| program.display().to_string())?;
    let errors = String::from_utf8_lossy(&output.stderr);
    ensure!(output.status.success(), "{}: {errors}", program.display());
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}
