//! `cargo xtask fuzz NAME SECONDS`: one of the targets in `fuzz/`, with libFuzzer, by the stable compiler. (cargo-fuzz would ask
//! for a nightly one because of its sanitizers; code without `unsafe` has little use for those, and coverage is an ordinary
//! pass of LLVM.) Builds, seeds and finds go to `target/fuzz`; what is found becomes a case in the tests.

use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, bail};
use bagwise::fold::{ResolvedConfig, TrainingTask};
use bagwise::fold::{TrainOptions, train};
use bagwise::io::{ReadOptions, read, write};
use bagwise::judge::{Metric, Splits};
use bagwise::multiclass::Scheme;
use bagwise::params::{Grid, WhenUnset};
use bagwise::preprocess::Scale;
use bagwise::{Ctx, methods};

use crate::run::{cargo, program, root, run, say, target};

/// What makes libFuzzer see which code a file reaches.
const COVERAGE: &str = "--cfg fuzzing -Cpasses=sancov-module \
    -Cllvm-args=-sanitizer-coverage-level=4 -Cllvm-args=-sanitizer-coverage-inline-8bit-counters \
    -Cllvm-args=-sanitizer-coverage-pc-table -Cllvm-args=-sanitizer-coverage-trace-compares";

/// A target, and the endings of the files in `tests/data` that are its seeds.
const TARGETS: &[(&str, &[&str])] = &[
    ("arff", &["arff"]),
    ("c45", &["data"]),
    ("csv", &["csv"]),
    ("matlab", &["mat"]),
    ("model", &[]),
    ("npy", &["npy"]),
    ("npz", &["npz"]),
    ("parquet", &["parquet"]),
    ("record", &["jsonl"]),
    ("sparse", &["sparse"]),
];

/// The word.
pub(crate) fn command(args: &[String]) -> Result<()> {
    let known = || TARGETS.iter().map(|t| t.0).collect::<Vec<_>>().join(", ");
    let (name, seconds) = match args {
        [name] => (name, "60"),
        [name, seconds] if seconds.parse::<u32>().is_ok() => (name, seconds.as_str()),
        _ => bail!("cargo xtask fuzz NAME [SECONDS], where NAME is one of: {}", known()),
    };
    let Some((name, endings)) = TARGETS.iter().find(|t| t.0 == name) else {
        bail!("there is no target '{name}'; there are: {}", known());
    };
    let folder = target().join("fuzz");
    let corpus = folder.join("corpus").join(name);
    let finds = folder.join("finds").join(name);
    for path in [&corpus, &finds] {
        std::fs::create_dir_all(path).with_context(|| path.display().to_string())?;
    }
    let seeds = seeds(name, endings, &corpus)?;
    say(&format!("{name}: {seeds} seeds, {seconds} seconds"));

    // With the platform named, flags are for the program and not for what builds it.
    let version = program("rustc", &["-vV"]).output().context("rustc")?;
    let version = String::from_utf8_lossy(&version.stdout).into_owned();
    let host =
        version.lines().find_map(|l| l.strip_prefix("host: ")).context("rustc did not name its platform")?;
    let mut build =
        cargo(&["build", "--quiet", "--release", "--manifest-path", "fuzz/Cargo.toml", "--bin", name]);
    build.args(["--target", host, "--target-dir"]).arg(&folder).env("RUSTFLAGS", COVERAGE);
    run(build)?;
    let program_file: PathBuf =
        folder.join(host).join("release").join(format!("{name}{}", std::env::consts::EXE_SUFFIX));
    let mut fuzz = program(
        program_file,
        &["-rss_limit_mb=2048", "-timeout=20", "-max_len=65536", "-print_final_stats=1"],
    );
    fuzz.arg(format!("-max_total_time={seconds}"))
        .arg(format!("-artifact_prefix={}/", finds.display()))
        .arg(&corpus);
    run(fuzz).with_context(|| format!("what was found is in {}", finds.display()))
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
        "csv" => write(&small, &corpus.join("made.csv"), None)?,
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
