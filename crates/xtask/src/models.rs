//! `cargo xtask models write FOLDER`: a model of every method, for classes and for numbers, with the data that it was trained
//! on and what it says of them. `check FOLDER` loads each with this version: labels must be the same, scores within 1e-12.
//!
//! The set belongs into the repository once the format of models is settled; from then on every version must pass.

use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, bail};
use bagwise::io::{ReadOptions, Task, read, write};
use bagwise::{Dataset, Model, method, methods};
use serde_json::{Value, json};

use crate::run::{print, say};

/// How far a score may move.
const TOLERANCE: f64 = 1e-12;

/// The kinds of targets: a name, a generator, and how labels are read.
const KINDS: [(&str, &str, Task); 3] = [
    ("two", "synthetic:gauss?bags=24&features=3&min=1&max=4", Task::Classification),
    ("numbers", "synthetic:gauss?bags=24&features=3&min=1&max=4", Task::Regression),
    ("three", "synthetic:gauss?bags=24&features=3&min=1&max=4", Task::Classification),
];

/// `cargo xtask models write|check FOLDER`.
pub(crate) fn command(args: &[String]) -> Result<()> {
    match args {
        [word, folder] if word == "write" => write_all(Path::new(folder)),
        [word, folder] if word == "check" => check_all(Path::new(folder)),
        _ => bail!("cargo xtask models write|check FOLDER"),
    }
}

/// The data of a kind, as they are in the folder.
fn data(folder: &Path, kind: &str, task: Task) -> Result<Dataset> {
    let path = folder.join(format!("{kind}.csv"));
    let name = path.to_str().context("a folder whose name is text")?;
    Ok(read(name, &ReadOptions { task, ..ReadOptions::default() })?)
}

/// Writes the data of a kind: labels of two classes, of three, or numbers, made from the bags.
fn write_data(folder: &Path, kind: &str, generator: &str) -> Result<()> {
    let made = read(generator, &ReadOptions::default())?;
    let mut plain = made;
    (plain.groups, plain.instance_labels) = (None, None);
    let path = folder.join(format!("{kind}.csv"));
    write(&plain, &path, None)?;
    if kind == "two" {
        return Ok(());
    }
    // The label is the second column; a third class, or a number that grows with the first attribute.
    let text = std::fs::read_to_string(&path)?;
    let mut lines: Vec<String> = Vec::new();
    let (mut bag, mut count, mut value) = (String::new(), 0u32, String::new());
    for (i, line) in text.lines().enumerate() {
        let cells: Vec<&str> = line.split(',').collect();
        if i > 0 && cells[0] != bag {
            (bag, count) = (cells[0].to_string(), count + 1);
            let first: f64 = cells[2].parse().context("an attribute")?;
            value = match kind {
                "numbers" => format!("{:.3}", first + 0.1 * f64::from(count % 7)),
                _ => (count % 3).to_string(),
            };
        }
        let mut cells: Vec<String> = cells.into_iter().map(String::from).collect();
        if i > 0 {
            cells[1].clone_from(&value);
        }
        lines.push(cells.join(","));
    }
    Ok(std::fs::write(&path, lines.join("\n") + "\n")?)
}

fn write_all(folder: &Path) -> Result<()> {
    std::fs::create_dir_all(folder)?;
    if std::fs::read_dir(folder)?.next().is_some() {
        bail!("{} is not empty; name a new folder", folder.display());
    }
    let mut count = 0;
    for (kind, generator, task) in KINDS {
        write_data(folder, kind, generator)?;
        let data = data(folder, kind, task)?;
        for info in methods::METHODS.iter().map(|m| m.info()) {
            let config = method(info.name)?.tuned(false);
            let model = match bagwise::fit(&data).method(config).inner(2).run() {
                Ok(model) => model,
                // A method for classes cannot learn numbers.
                Err(error) if kind == "numbers" => {
                    say(&format!("{} learns no numbers: {error}", info.name));
                    continue;
                }
                Err(error) => return Err(error).with_context(|| format!("{} on {kind}", info.name)),
            };
            let stem = folder.join(format!("{kind}-{}", info.name));
            model.save(stem.with_extension("bagwise"))?;
            std::fs::write(stem.with_extension("json"), serde_json::to_vec(&said(&model, &data)?)?)?;
            count += 1;
        }
    }
    print(&format!("{count} models in {}\n", folder.display()));
    Ok(())
}

/// Labels and outputs of a model.
fn said(model: &Model, data: &Dataset) -> Result<Value> {
    let said = model.predict(&data.bags)?;
    let labels: Vec<&Option<String>> = said.iter().map(|p| &p.label).collect();
    let outputs: Vec<&Vec<f64>> = said.iter().map(|p| &p.outputs).collect();
    Ok(
        json!({ "method": model.header.method, "format": model.header.format, "labels": labels, "outputs": outputs }),
    )
}

fn check_all(folder: &Path) -> Result<()> {
    let (mut count, mut broken) = (0, Vec::new());
    for (kind, _, task) in KINDS {
        let data = data(folder, kind, task)?;
        let mut files: Vec<PathBuf> =
            std::fs::read_dir(folder)?.map(|entry| Ok(entry?.path())).collect::<Result<Vec<_>>>()?;
        let own = |path: &PathBuf| {
            let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
            name.starts_with(&format!("{kind}-")) && path.extension().is_some_and(|e| e == "bagwise")
        };
        files.retain(own);
        files.sort();
        for path in files {
            count += 1;
            let known: Value = serde_json::from_slice(&std::fs::read(path.with_extension("json"))?)?;
            let now = Model::load(&path).map_err(Into::into).and_then(|model| said(&model, &data));
            let problem = match now {
                Ok(now) => differs(&known, &now),
                Err(error) => Some(format!("{error:#}")),
            };
            broken.extend(problem.map(|p| format!("{}: {p}", path.display())));
        }
    }
    print(&format!("{count} models, {} not as they were\n", broken.len()));
    if count == 0 || !broken.is_empty() {
        bail!("{}", broken.join("\n"));
    }
    Ok(())
}

/// How answers differ from those that were written.
fn differs(known: &Value, now: &Value) -> Option<String> {
    if known["labels"] != now["labels"] {
        return Some("other labels".into());
    }
    let numbers = |value: &Value| -> Vec<f64> {
        let rows = value["outputs"].as_array().cloned().unwrap_or_default();
        rows.iter()
            .flat_map(|row| row.as_array().cloned().unwrap_or_default())
            .filter_map(|v| v.as_f64())
            .collect()
    };
    let (before, after) = (numbers(known), numbers(now));
    if before.len() != after.len() {
        return Some(format!("{} outputs, not {}", after.len(), before.len()));
    }
    let far = |(a, b): (&f64, &f64)| (a - b).abs() > TOLERANCE * a.abs().max(1.0);
    before.iter().zip(&after).any(far).then(|| "other scores".into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_score_that_moves_is_seen() {
        let said = |score: f64, label: &str| json!({ "labels": [label], "outputs": [[score]] });
        assert_eq!(differs(&said(0.5, "a"), &said(0.5 + 1e-14, "a")), None);
        assert!(differs(&said(0.5, "a"), &said(0.5 + 1e-11, "a")).is_some());
        assert!(differs(&said(0.5, "a"), &said(0.5, "b")).is_some());
        assert!(differs(&said(0.5, "a"), &json!({ "labels": ["a"], "outputs": [[]] })).is_some());
    }
}
