//! The command line, as the functions that reproduce results use it: its JSON, and the tables of its experiments.

use std::ffi::OsStr;
use std::hash::{DefaultHasher, Hasher as _};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::process::Output;
use std::time::Instant;

use anyhow::{Context as _, Result, bail};
use serde_json::Value;

use crate::run::{program, say, shown, target};

/// A `bagwise` to run.
pub(super) struct Cli {
    pub(super) binary: PathBuf,
}

impl Cli {
    fn output<S: AsRef<OsStr>>(&self, args: &[S]) -> Result<Output> {
        let mut command = program(&self.binary, args);
        command.output().with_context(|| format!("could not start `{}`", shown(&command)))
    }

    /// A digest of the program, for what may be kept as long as it stays the same.
    pub(super) fn digest(&self) -> Result<String> {
        let bytes = std::fs::read(&self.binary).with_context(|| self.binary.display().to_string())?;
        let mut hasher = DefaultHasher::new();
        hasher.write(&bytes);
        Ok(format!("{:016x}", hasher.finish()))
    }

    /// Runs a verb; an error if it fails, and also if a fit does. What it prints.
    pub(super) fn run<S: AsRef<OsStr>>(&self, args: &[S]) -> Result<Vec<u8>> {
        let output = self.output(args)?;
        if !output.status.success() {
            let command = shown(&program(&self.binary, args));
            bail!("`{command}`: {}", String::from_utf8_lossy(&output.stderr).trim());
        }
        Ok(output.stdout)
    }

    /// What a verb prints, as JSON.
    pub(super) fn json(&self, words: &[&str], files: &[&Path]) -> Result<Value> {
        let (verb, rest) = words.split_first().context("a verb")?;
        let files = files.iter().map(|f| f.as_os_str());
        let last = ["--format", "json", "--quiet"];
        let args: Vec<&OsStr> = [OsStr::new(verb)]
            .into_iter()
            .chain(files)
            .chain(rest.iter().chain(&last).map(OsStr::new))
            .collect();
        serde_json::from_slice(&self.run(&args)?).with_context(|| format!("what bagwise {verb} printed"))
    }

    /// Ten outer and five inner folds, parameters by accuracy, and other options. The answer has `accuracy` and
    /// `seconds`.
    pub(super) fn evaluate(&self, data: &Path, method: &str, seed: u64, options: &[&str]) -> Result<Value> {
        let seed = seed.to_string();
        let mut words = vec!["evaluate", "--method", method, "--seed", &seed, "--optimize", "accuracy"];
        words.extend(["--folds", "10", "--inner", "5"]);
        words.extend(options);
        self.json(&words, &[data])
    }

    /// The names of all methods and of the parameters of each.
    pub(super) fn methods(&self) -> Result<Vec<(String, Vec<String>)>> {
        let name = |v: &Value| v["name"].as_str().map(String::from).context("something without a name");
        let listed = self.json(&["methods"], &[])?;
        let one = |m: &Value| {
            let parameters = m["parameters"].as_array().context("a method without parameters")?;
            Ok((name(m)?, parameters.iter().map(name).collect::<Result<_>>()?))
        };
        listed.as_array().context("the list of methods")?.iter().map(one).collect()
    }

    /// Runs an experiment under `target/experiments`, with these options; its table in Markdown, and the seconds that it took, those
    /// of fits that were there already included. Where records of the same run are there, they are removed if everything is to be
    /// computed `anew`, and completed otherwise.
    pub(super) fn experiment(&self, file: &Path, options: &[&str], anew: bool) -> Result<(String, f64)> {
        let started = Instant::now();
        let name = file.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let ending = if options.contains(&"--quick") { "-quick" } else { "" };
        let folder = target().join("experiments").join(format!("{name}{ending}"));
        // A table that is there afterwards is this run's.
        let old = folder.join("table.md");
        match if anew { std::fs::remove_dir_all(&folder) } else { std::fs::remove_file(&old) } {
            Err(e) if e.kind() != ErrorKind::NotFound => return Err(e.into()),
            _ => std::fs::create_dir_all(&folder)?,
        }
        let mut args = vec![OsStr::new("run"), file.as_os_str(), OsStr::new("--no-report")];
        args.extend([OsStr::new("-o"), folder.as_os_str()]);
        args.extend(options.iter().map(OsStr::new));
        let output = self.output(&args)?;
        let said = String::from_utf8_lossy(&output.stderr);
        // A run with failed fits says so by its code and has a table all the same.
        let Ok(table) = std::fs::read_to_string(&old) else {
            bail!("{}: {}", file.display(), said.lines().last().unwrap_or("nothing came out"));
        };
        say(&format!("{name}: {}", if output.status.success() { "done" } else { said.trim() }));
        let found: Value = serde_json::from_slice(&std::fs::read(folder.join("table.json"))?)?;
        let seconds = fit_seconds(&found).max(started.elapsed().as_secs_f64());
        // Without the remark above it, which is for whoever finds the file.
        Ok((table[table.find("### ").unwrap_or(0)..].to_string(), seconds))
    }
}

/// The time of all fits of an experiment; several tables show the same ones.
fn fit_seconds(table: &Value) -> f64 {
    let results = table["results"].as_array().map_or(&[][..], Vec::as_slice);
    let first = results.first().map(|line| &line["table"]);
    let of_first = results.iter().filter(|line| Some(&line["table"]) == first);
    of_first.filter_map(|line| line["seconds"].as_f64()).sum()
}

/// A number of an answer, by the keys that lead to it.
pub(super) fn number(answer: &Value, path: &str) -> Result<f64> {
    answer.pointer(path).and_then(Value::as_f64).with_context(|| format!("no number at {path} in {answer}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_time_of_fits_is_counted_once_for_all_tables() {
        let line = |table: &str, seconds: Value| serde_json::json!({ "table": table, "seconds": seconds });
        let results =
            [line("a", 1.5.into()), line("a", Value::Null), line("a", 2.0.into()), line("b", 1.5.into())];
        assert_eq!(fit_seconds(&serde_json::json!({ "results": results })), 3.5);
        assert_eq!(fit_seconds(&serde_json::json!({ "results": [] })), 0.0);
    }
}
