//! `cargo xtask bench svm`: our solvers beside scikit-learn's, on the same matrices, in one run.
//!
//! One thread on both sides, the same tolerance, best wall-clock time of at least seven runs. The peer lives in
//! `peers/svm.py` and runs in a virtual environment under `target/venv`, made on first use. Data is looked for
//! in `$BAGWISE_DATA`, `data/` and `../shared/data`; sets that are not there are left out.
#![expect(clippy::print_stdout, reason = "a bench exists to print")]

use std::collections::HashMap;
use std::hint::black_box;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

use anyhow::{Context, Result, ensure};
use bagwise_svm::{
    Features, Form, Gram, LinearParams, Machine, SmoParams, bounds, fit, fit_linear, fit_path,
};

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
                println!("scikit-learn {sklearn}, numpy {numpy}; one thread; best of {REPEATS} or more\n");
            }
            (Some(id), Some(seconds), Some(value)) => {
                theirs.insert(id.to_string(), (seconds.parse::<f64>()?, value.parse::<f64>()?));
            }
            _ => {}
        }
    }
    kernel_machines(&folder, &theirs)?;
    linear_machines();
    std::fs::remove_dir_all(&folder)?;
    Ok(())
}

fn kernel_machines(folder: &Path, theirs: &HashMap<String, (f64, f64)>) -> Result<()> {
    println!(
        "{:<31} {:>10} {:>10} {:>7} {:>9} {:>11}",
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
                "{id:<31} {seconds:>10.6} {their_seconds:>10.6} {:>6.2}x  ten costs, ten folds; right {right} and {their_right}",
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
        "{id:<31} {seconds:>10.6} {their_seconds:>10.6} {:>6.2}x {:>9} {:>11.1e}",
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

/// The fastest of `times` runs, or of as many more as half a second holds.
fn best<T>(times: usize, mut run: impl FnMut() -> T) -> (f64, T) {
    let (mut fastest, mut total, mut runs) = (f64::INFINITY, 0.0, 0);
    loop {
        let start = Instant::now();
        let result = black_box(run());
        let seconds = start.elapsed().as_secs_f64();
        (fastest, total, runs) = (seconds.min(fastest), total + seconds, runs + 1);
        if runs >= times && (times == 1 || total > 0.5) {
            return (fastest, result);
        }
    }
}

/// Rows as a partition map gives them: one cell of 64 in each of 200 partitions, 12,800 features in all.
struct Map {
    starts: Vec<usize>,
    indices: Vec<u32>,
    values: Vec<f64>,
    labels: Vec<f64>,
    targets: Vec<f64>,
}

impl Map {
    const PARTITIONS: usize = 200;
    const CELLS: usize = 64;
    const DIMENSIONS: usize = 5;

    /// Points are normal, cells are nearest of random centres, targets are a noisy nonlinear rule.
    fn new(rows: usize) -> Map {
        let mut state = 1u64;
        let mut uniform = move || {
            state = state.wrapping_add(0x9E37_79B9_7F4A_7C15);
            let mut z = state;
            z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
            z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
            ((z ^ (z >> 31)) >> 11) as f64 / (1u64 << 53) as f64
        };
        let mut normal =
            move || (-2.0 * (1.0 - uniform()).ln()).sqrt() * (std::f64::consts::TAU * uniform()).cos();
        let d = Map::DIMENSIONS;
        let centres: Vec<f64> = (0..Map::PARTITIONS * Map::CELLS * d).map(|_| normal()).collect();
        let (mut indices, mut targets) =
            (Vec::with_capacity(rows * Map::PARTITIONS), Vec::with_capacity(rows));
        for _ in 0..rows {
            let point: Vec<f64> = (0..d).map(|_| normal()).collect();
            for partition in 0..Map::PARTITIONS {
                let cells = &centres[partition * Map::CELLS * d..(partition + 1) * Map::CELLS * d];
                let far = |c: &[f64]| -> f64 { c.iter().zip(&point).map(|(a, b)| (a - b) * (a - b)).sum() };
                let nearest = cells.chunks(d).map(far).enumerate().min_by(|a, b| a.1.total_cmp(&b.1));
                indices.push((partition * Map::CELLS + nearest.expect("64 cells").0) as u32);
            }
            targets.push(point[0].sin() + point[1] * point[2] + 0.5 + 0.3 * normal());
        }
        Map {
            starts: (0..=rows).map(|i| i * Map::PARTITIONS).collect(),
            values: vec![1.0 / (Map::PARTITIONS as f64).sqrt(); indices.len()],
            labels: targets.iter().map(|&t| if t > 0.0 { 1.0 } else { -1.0 }).collect(),
            indices,
            targets,
        }
    }
}

/// Processor time of this process so far, where the system tells: other work on the machine does not count.
fn processor_seconds() -> Option<f64> {
    let text = std::fs::read_to_string("/proc/self/schedstat").ok()?;
    Some(text.split_whitespace().next()?.parse::<f64>().ok()? * 1e-9)
}

/// The linear solver's cost against size, at its default tolerance.
fn linear_machines() {
    println!(
        "\nlinear, 200 non-zeros of 12,800 features, C = 1, tolerance {:e}",
        LinearParams::default().tolerance
    );
    println!(
        "{:<14} {:>9} {:>9} {:>7} {:>10} {:>18} status",
        "fit", "seconds", "of CPU", "passes", "KKT gap", "relative dual gap"
    );
    for rows in [1_000, 10_000, 30_000, 100_000] {
        let map = Map::new(rows);
        let Map { starts, indices, values, labels, targets } = &map;
        let features = Features::Sparse { starts, indices, values, columns: Map::PARTITIONS * Map::CELLS };
        for (form, label) in
            [(Form::Classify { labels }, "svc"), (Form::Regress { targets, tube: TUBE }, "svr")]
        {
            let train = || fit_linear(&features, form, &bounds(1.0, rows), None, &LinearParams::default());
            let before = processor_seconds();
            let (seconds, machine) = best(1, train);
            let processor = processor_seconds().zip(before).map_or(f64::NAN, |(now, then)| now - then);
            let outcome = &machine.outcome;
            println!(
                "{:<14} {seconds:>9.3} {processor:>9.3} {:>7} {:>10.1e} {:>18.1e} {:?}",
                format!("{label}/n={rows}"),
                outcome.iterations,
                outcome.kkt_gap,
                outcome.duality_gap / outcome.objective.abs(),
                outcome.status,
            );
        }
    }
}

fn read(path: &Path) -> Result<Vec<f64>> {
    let bytes = std::fs::read(path).with_context(|| path.display().to_string())?;
    Ok(bytes.chunks_exact(8).map(|b| f64::from_le_bytes(b.try_into().expect("eight bytes"))).collect())
}

fn data_folder(root: &Path) -> PathBuf {
    let candidates = crate::run::data_folders();
    let found = candidates.into_iter().find(|folder| folder.join("musk1.csv").exists());
    found.unwrap_or_else(|| root.join("data"))
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
