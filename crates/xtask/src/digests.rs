//! `cargo xtask digests`: what every method answers, to the bit, on five data sets, as one line per pair.
//!
//! A redesign must not change a result. The command line evaluates every method with AVX2 on small folds; each record's
//! key, parameters, predicted labels and the bits of its scores go into a digest. `check` compares with the committed
//! file, `write` renews it after a change that is meant (a commit of its own), `--keep FOLDER` leaves the records behind
//! so that two builds can be compared number by number.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, bail};
use bagwise::io::checksum;
use serde_json::Value;

use crate::run::{data_file, print, program, release_binary, root, say};

const FILE: &str = "crates/xtask/digests.txt";

/// Classes with and without text, several instances per bag, numbers. The last two do not ship with the repository.
const SETS: [&str; 5] = ["musk1", "elephant", "protein", "lj16_30_2", "text_alt_atheism"];

/// `cargo xtask digests [check|write] [--keep FOLDER] [--binary FILE]`.
pub(crate) fn command(args: &[String]) -> Result<()> {
    let (mut write, mut keep, mut binary) = (false, None, None);
    let mut words = args.iter();
    while let Some(word) = words.next() {
        match word.as_str() {
            "check" => write = false,
            "write" => write = true,
            "--keep" => keep = Some(PathBuf::from(words.next().context("--keep needs a folder")?)),
            "--binary" => binary = Some(PathBuf::from(words.next().context("--binary needs a file")?)),
            other => bail!("'{other}' is none of check, write, --keep FOLDER, --binary FILE"),
        }
    }
    let binary = match binary {
        Some(binary) => binary,
        None => release_binary()?,
    };
    let found = digests(&binary, keep.as_deref())?;
    let file = root().join(FILE);
    let known = std::fs::read_to_string(&file).unwrap_or_default();
    let mut known: BTreeMap<String, String> =
        known.lines().filter_map(|l| l.rsplit_once(' ')).map(|(a, b)| (a.into(), b.into())).collect();
    // What is known of sets that are not here stays, and is not looked for.
    let here = |pair: &str| found.keys().any(|f| f.split(' ').next() == pair.split(' ').next());
    if write {
        known.retain(|pair, _| !here(pair));
        known.extend(found.clone());
        let text: String = known.iter().fold(String::new(), |mut text, (pair, digest)| {
            let _ = writeln!(text, "{pair} {digest}");
            text
        });
        std::fs::write(&file, text)?;
        say(&format!("{FILE} has {} digests", found.len()));
        return Ok(());
    }
    let gone = known.keys().filter(|pair| here(pair) && !found.contains_key(*pair));
    let gone: Vec<&str> = gone.map(String::as_str).collect();
    gone.iter().for_each(|pair| print(&format!("{pair}: gone\n")));
    let same = found.iter().filter(|(pair, digest)| known.get(*pair) == Some(digest)).count();
    for (pair, digest) in &found {
        match known.get(pair) {
            Some(before) if before == digest => {}
            Some(_) => print(&format!("{pair}: differs\n")),
            None => print(&format!("{pair}: new\n")),
        }
    }
    print(&format!("{same} of {} digests as committed\n", found.len()));
    if same < found.len() || !gone.is_empty() || found.is_empty() {
        bail!("some results changed; if that is meant, `cargo xtask digests write` in a commit of its own");
    }
    Ok(())
}

/// The digest of every method on every set that is there.
fn digests(binary: &Path, keep: Option<&Path>) -> Result<BTreeMap<String, String>> {
    let mut found = BTreeMap::new();
    for set in SETS {
        let Ok(data) = data_file(set) else {
            say(&format!("{set} is not there and is left out"));
            continue;
        };
        for method in methods(binary)? {
            let own = tempfile::tempdir()?;
            // Records of an earlier build would be taken for this one's.
            let kept = keep.map(|k| k.join(format!("{set}-{method}")));
            if let Some(old) = kept.as_ref().filter(|k| k.exists()) {
                bail!("{} exists; name a new folder", old.display());
            }
            let folder = kept.unwrap_or_else(|| own.path().join("run"));
            let Some(records) = records(binary, &data, &method, &folder)? else { continue };
            found.insert(format!("{set} {method}"), digest(&records)?);
        }
    }
    Ok(found)
}

/// The names of all methods.
fn methods(binary: &Path) -> Result<Vec<String>> {
    let listed = program(binary, &["methods", "--format", "json"]).output()?;
    let listed: Vec<Value> = serde_json::from_slice(&listed.stdout).context("the list of methods")?;
    let name = |m: &Value| m["name"].as_str().map(String::from);
    listed.iter().map(|m| name(m).context("a method without a name")).collect()
}

/// The records of one method on one set; nothing if it cannot learn what the set asks for.
fn records(binary: &Path, data: &Path, method: &str, folder: &Path) -> Result<Option<Vec<Value>>> {
    let label = if data.to_string_lossy().contains("lj16") { &["--task", "regression"][..] } else { &[] };
    // Parameters stay fixed where choosing them would take minutes: searches of diverse density begin again in every
    // inner fold, and the two largest sets have thousands of instances to begin at.
    let concepts = ["dd", "em-dd", "dd-svm", "mg-ddv", "mg-acc"].contains(&method);
    let large = ["protein", "text"].iter().any(|set| data.to_string_lossy().contains(set));
    let protocol = match concepts || large {
        true => &["--protocol", "kfold", "--probabilities"][..],
        false => &["--inner", "2"],
    };
    let starts = if concepts && large { &["-p", "starts=20"][..] } else { &[] };
    let mut command = program(binary, &["evaluate"]);
    command
        .arg(data)
        .args(["--method", method, "--folds", "2", "--quiet"])
        .args(protocol)
        .args(starts)
        .args(label);
    command.arg("-o").arg(folder).env("BAGWISE_SIMD", "avx2");
    let output = command.output().with_context(|| format!("starting {}", binary.display()))?;
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr);
        if said.contains("predicts classes") {
            return Ok(None);
        }
        bail!("{method} on {}: {said}", data.display());
    }
    let text = std::fs::read_to_string(folder.join("records.jsonl"))?;
    let mut records: Vec<Value> = text.lines().map(serde_json::from_str).collect::<Result<_, _>>()?;
    records.sort_by_key(|r| r["key"].to_string());
    Ok(Some(records))
}

/// A digest of what must not change: keys, parameters, labels, bits of scores.
fn digest(records: &[Value]) -> Result<String> {
    // Twice with other starts: as long as a digest of hundreds of records should be.
    let mut states = [checksum::BEGIN, 0x9e37_79b9_7f4a_7c15];
    let mut take = |bytes: &[u8]| {
        for byte in bytes {
            states.iter_mut().for_each(|s| *s = checksum::step(*s, u64::from(*byte)));
        }
    };
    for record in records {
        let key = &record["key"];
        take(format!("{} {} {}\n", key["method"], key["repeat"], key["fold"]).as_bytes());
        take(record["parameters"].to_string().as_bytes());
        take(record["scored"]["labels"].to_string().as_bytes());
        for score in record["scored"]["scores"].as_array().context("a record without scores")? {
            take(&score.as_f64().context("a score that is no number")?.to_bits().to_le_bytes());
        }
    }
    Ok(states.iter().map(|s| format!("{s:016x}")).collect())
}
