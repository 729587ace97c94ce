//! `cargo xtask soak`: random commands on random data, with random numbers of threads, killed at random moments and started
//! again, against the same command undisturbed on one thread: the same seed has the same records, models and predictions.
//!
//! Every case follows from its number. Cases that are done stand in `target/soak/cases.tsv`, one line each, and the next
//! soak goes on behind them; the sums at the end are over all of them. A case that went wrong is repeated with `--case N`.

use std::fmt::Write as _;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail};
use bagwise::Rng;

use crate::faults::difference;
use crate::run::{print, say, target};
use crate::scenes::{self, Scene};

/// Methods that take less than a second on the data of a soak.
const METHODS: &[&str] = &[
    "majority",
    "simple-mi",
    "mi-kernel",
    "migraph",
    "wmksvm",
    "isk",
    "mi-svm",
    "mi-svm-bag",
    "sil",
    "mirsvm",
    "citation-knn",
    "optimal-ball",
    "mi-boost",
    "miles",
    "bow",
    "mi-wrapper",
    "misssvm",
    "em-dd",
];

/// What the commands below write.
const WRITES: Scene = Scene {
    verb: "soak",
    line: "",
    outputs: &["out", "m.bagwise", "k.npy", "v.npz", "d.npz", "said.csv"],
    long: false,
};

/// A case that nothing disturbs may take this long; longer ones are left out.
const LONGEST: Duration = Duration::from_secs(120);

/// One case.
struct Case {
    /// Lines that are run one after the other; the first is the one that is killed.
    lines: Vec<String>,
    threads: usize,
    kills: usize,
}

/// What became of a case.
enum Ended {
    /// As undisturbed: so often was it killed.
    Same(usize),
    /// Refused both times.
    Refused,
    /// Not as undisturbed.
    Differs(String),
}

/// `cargo xtask soak [--minutes N] [--case N] [--binary FILE]`.
pub(crate) fn command(args: &[String]) -> Result<()> {
    let (mut minutes, mut only, mut named) = (10.0, None, None);
    let mut words = args.iter();
    while let Some(word) = words.next() {
        let mut next = || words.next().with_context(|| format!("{word} needs a value"));
        match word.as_str() {
            "--minutes" => minutes = next()?.parse::<f64>().context("--minutes")?,
            "--case" => only = Some(next()?.parse::<u64>().context("--case")?),
            "--binary" => named = Some(next()?.clone()),
            other => bail!("'{other}' is none of --minutes N, --case N, --binary FILE"),
        }
    }
    let binary = scenes::binary(named.as_deref())?;
    if let Some(number) = only {
        let case = draw(number);
        say(&format!("{:#?} on {} threads, {} kills", case.lines, case.threads, case.kills));
        return match try_case(&binary, number, &case)? {
            Ended::Differs(how) => bail!("case {number}: {how}"),
            _ => Ok(()),
        };
    }
    let folder = target().join("soak");
    std::fs::create_dir_all(&folder)?;
    let log = folder.join("cases.tsv");
    let known = std::fs::read_to_string(&log).unwrap_or_default();
    let mut number = known.lines().count() as u64;
    let started = Instant::now();
    let mut file = std::fs::OpenOptions::new().create(true).append(true).open(&log)?;
    while started.elapsed().as_secs_f64() < minutes * 60.0 {
        let (case, begun) = (draw(number), Instant::now());
        let (ended, kills) = match try_case(&binary, number, &case)? {
            Ended::Same(kills) => ("same".to_string(), kills),
            Ended::Refused => ("refused".into(), 0),
            Ended::Differs(how) => {
                say(&format!("case {number}: {how}\n  {}", case.lines.join("\n  ")));
                (format!("differs: {}", how.replace(['\t', '\n'], " ")), 0)
            }
        };
        let line =
            format!("{number}\t{:.1}\t{kills}\t{ended}\t{}\n", begun.elapsed().as_secs_f64(), case.lines[0]);
        file.write_all(line.as_bytes())?;
        number += 1;
    }
    let (page, differ) = sums(&std::fs::read_to_string(&log)?)?;
    print(&page);
    if differ > 0 {
        bail!("{differ} cases differ: see {}", log.display());
    }
    Ok(())
}

/// The sums over a log, and how many cases differ.
fn sums(log: &str) -> Result<(String, usize)> {
    let (mut seconds, mut kills, mut same, mut refused, mut differ) = (0.0, 0usize, 0, 0, 0);
    for (i, line) in log.lines().enumerate() {
        let cells: Vec<&str> = line.split('\t').collect();
        let &[_, took, killed, ended, _] = &cells[..] else { bail!("line {}: '{line}'", i + 1) };
        seconds += took.parse::<f64>().with_context(|| format!("line {}", i + 1))?;
        kills += killed.parse::<usize>().with_context(|| format!("line {}", i + 1))?;
        match ended {
            "same" => same += 1,
            "refused" => refused += 1,
            _ => differ += 1,
        }
    }
    let mut page = String::new();
    writeln!(
        page,
        "{} cases in {:.0} minutes, {kills} kills: {same} the same, {refused} refused both times, {differ} differ",
        same + refused + differ,
        seconds / 60.0
    )?;
    Ok((page, differ))
}

/// The case of a number.
fn draw(number: u64) -> Case {
    let mut rng = Rng::new(number, "soak", &[]);
    let mut of = |list: &[&str]| list[rng.below(list.len())].to_string();
    let data = format!(
        "synthetic:gauss?bags={}&features={}&min=1&max={}&seed={number}",
        of(&["12", "20", "30", "45"]),
        of(&["1", "3", "8", "30"]),
        of(&["2", "5", "9"]),
    );
    let method = of(METHODS);
    let common = format!("--seed {number} --quiet");
    let folds = of(&["2", "3", "5"]);
    let lines = match of(&[
        "evaluate", "evaluate", "compare", "compare", "fit", "fit", "gram", "embed", "convert",
    ])
    .as_str()
    {
        "evaluate" => {
            let protocol = of(&["nested", "kfold", "half"]);
            let extra = of(&["", "--probabilities", "--repeats 2"]);
            vec![format!(
                "evaluate {data} --method {method} --folds {folds} --inner 2 --protocol {protocol} {extra} -o out {common}"
            )]
        }
        "compare" => {
            let other = of(METHODS);
            vec![format!(
                "compare {data} --methods {method},{other} --folds {folds} --inner 2 -o out {common}"
            )]
        }
        "fit" => vec![
            format!("fit {data} --method {method} --inner 2 -o m.bagwise {common}"),
            format!("predict m.bagwise {data} --format csv {common}"),
        ],
        "gram" => {
            vec![format!("gram {data} --method mi-kernel -p gamma=0.5 -p norm=mean --output k.npy {common}")]
        }
        "embed" => vec![format!("embed {data} --method isk -p psi=4 -p epsilon=1 --output v.npz {common}")],
        _ => vec![format!("convert {data} d.npz {common}")],
    };
    Case { lines, threads: 1 + rng.below(6), kills: rng.below(4) }
}

fn start(binary: &Path, folder: &Path, line: &str, threads: usize) -> Command {
    let mut command = Command::new(binary);
    command.args(line.split_whitespace()).args(["--threads", &threads.to_string()]).current_dir(folder);
    command.env("BAGWISE_CACHE", "cache").env_remove("BAGWISE_DATA").stdin(Stdio::null());
    command
}

/// Runs the lines to their end, and keeps what the last one printed; the exit code of the first that fails.
fn finish(binary: &Path, folder: &Path, case: &Case, threads: usize) -> Result<(Option<i32>, String)> {
    for line in &case.lines {
        let output = start(binary, folder, line, threads).output()?;
        if !output.status.success() {
            return Ok((output.status.code(), String::from_utf8_lossy(&output.stderr).into_owned()));
        }
        if line.starts_with("predict") {
            std::fs::write(folder.join("said.csv"), output.stdout)?;
        }
    }
    Ok((Some(0), String::new()))
}

/// Runs a case undisturbed and disturbed.
fn try_case(binary: &Path, number: u64, case: &Case) -> Result<Ended> {
    let (quiet, loud) = (tempfile::tempdir()?, tempfile::tempdir()?);
    let begun = Instant::now();
    let (code, said) = finish(binary, quiet.path(), case, 1)?;
    let took = begun.elapsed();
    // Failed fits are results, too.
    if !matches!(code, Some(0..=2)) {
        return Ok(Ended::Differs(format!("undisturbed it ends with {code:?}: {said}")));
    }
    if took > LONGEST {
        return Ok(Ended::Refused);
    }
    let mut rng = Rng::new(number, "kills", &[]);
    let mut killed = 0;
    for _ in 0..case.kills {
        let mut command = start(binary, loud.path(), &case.lines[0], case.threads);
        let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn()?;
        std::thread::sleep(took.mul_f64(rng.uniform()));
        killed += usize::from(child.try_wait()?.is_none());
        let _ = child.kill();
        child.wait()?;
    }
    let (again, said) = finish(binary, loud.path(), case, case.threads)?;
    if again != code {
        return Ok(Ended::Differs(format!("ends with {again:?} instead of {code:?}: {said}")));
    }
    if code == Some(2) {
        return Ok(Ended::Refused);
    }
    let of = |folder: &PathBuf| Ok::<_, anyhow::Error>(scenes::results(&WRITES, &scenes::files(folder)?));
    let (right, found) = (of(&quiet.path().to_path_buf())?, of(&loud.path().to_path_buf())?);
    Ok(match difference(&found, &right, "the results") {
        Some(how) => Ended::Differs(how),
        None => Ended::Same(killed),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_case_follows_from_its_number() {
        assert_eq!(draw(7).lines, draw(7).lines);
        let kinds: std::collections::BTreeSet<String> =
            (0..60).map(|n| draw(n).lines[0].split(' ').next().unwrap().to_string()).collect();
        assert_eq!(kinds.len(), 6, "{kinds:?}");
    }

    #[test]
    fn the_log_is_summed() {
        let log = "0\t60.0\t2\tsame\tx\n1\t60.0\t0\tdiffers: a\tx\n2\t0.0\t0\trefused\tx\n";
        let (page, differ) = sums(log).unwrap();
        assert!(page.starts_with("3 cases in 2 minutes, 2 kills: 1 the same, 1 refused"), "{page}");
        assert_eq!(differ, 1);
        assert!(sums("0\tx\n").is_err());
    }
}
