//! `cargo xtask licences`: the licences of the crates that are compiled into the program and the Python package, in one file
//! that goes with both. `check` holds its list against `Cargo.lock`; the tests do the same.
//!
//! Listed is what is linked: dependencies of the command line and of the Python module on any platform. Where a crate leaves
//! the choice, its MIT text is taken.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::path::Path;

use anyhow::{Context as _, Result, bail};
use serde_json::Value;

use crate::run::{cargo, root, say};

const FILE: &str = "THIRD-PARTY.md";

/// What is shipped.
const SHIPPED: [&str; 2] = ["bagwise-cli", "bagwise-py"];

/// A crate that is compiled in.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Crate {
    name: String,
    version: String,
    licence: String,
    manifest: String,
    repository: String,
}

impl Crate {
    fn line(&self) -> String {
        format!("| {} | {} | {} |", self.name, self.version, self.licence)
    }
}

/// `cargo xtask licences [check]`.
pub(crate) fn command(args: &[String]) -> Result<()> {
    match args {
        [] => {
            let crates = crates()?;
            std::fs::write(root().join(FILE), page(&crates)?)?;
            say(&format!("{FILE}: {} crates", crates.len()));
            Ok(())
        }
        [word] if word == "check" => check(),
        _ => bail!("cargo xtask licences [check]"),
    }
}

/// Refuses a file that lists other crates than `Cargo.lock`.
fn check() -> Result<()> {
    let text = std::fs::read_to_string(root().join(FILE)).context(FILE)?;
    let listed: BTreeSet<&str> = text.lines().filter(|line| line.starts_with("| ")).skip(1).collect();
    let wanted: Vec<String> = crates()?.iter().map(Crate::line).collect();
    let wanted: BTreeSet<&str> = wanted.iter().map(String::as_str).collect();
    let other: Vec<&str> = listed.symmetric_difference(&wanted).copied().collect();
    if !other.is_empty() {
        bail!("{FILE} is out of date; run `cargo xtask licences`:\n{}", other.join("\n"));
    }
    Ok(())
}

/// The crates that are compiled in, by name.
fn crates() -> Result<Vec<Crate>> {
    let output =
        cargo(&["metadata", "--format-version", "1", "--locked"]).output().context("cargo metadata")?;
    if !output.status.success() {
        bail!("cargo metadata: {}", String::from_utf8_lossy(&output.stderr));
    }
    linked(&serde_json::from_slice(&output.stdout)?)
}

/// The crates that what is shipped depends on, by what `cargo metadata` says.
fn linked(metadata: &Value) -> Result<Vec<Crate>> {
    let list = |value: &Value| value.as_array().cloned().unwrap_or_default();
    let text = |value: &Value| value.as_str().unwrap_or_default().to_string();
    let packages: BTreeMap<String, Value> =
        list(&metadata["packages"]).into_iter().map(|p| (text(&p["id"]), p)).collect();
    let nodes: BTreeMap<String, Value> =
        list(&metadata["resolve"]["nodes"]).into_iter().map(|n| (text(&n["id"]), n)).collect();
    let is_shipped = |id: &String| SHIPPED.contains(&text(&packages[id]["name"]).as_str());
    let mut open: Vec<String> = packages.keys().filter(|id| is_shipped(id)).cloned().collect();
    let mut seen = BTreeSet::new();
    while let Some(id) = open.pop() {
        if !seen.insert(id.clone()) {
            continue;
        }
        for dependency in list(&nodes.get(&id).context("a package that is not resolved")?["deps"]) {
            // Kinds other than none are for tests and for build scripts.
            if list(&dependency["dep_kinds"]).iter().any(|kind| kind["kind"].is_null()) {
                open.push(text(&dependency["pkg"]));
            }
        }
    }
    let mut crates: Vec<Crate> = seen
        .iter()
        .map(|id| &packages[id])
        .filter(|package| !package["source"].is_null())
        .map(|package| Crate {
            name: text(&package["name"]),
            version: text(&package["version"]),
            licence: text(&package["license"]),
            manifest: text(&package["manifest_path"]),
            repository: text(&package["repository"]),
        })
        .collect();
    crates.sort();
    match crates.iter().find(|c| c.licence.is_empty()) {
        Some(without) => bail!("{} names no licence", without.name),
        None => Ok(crates),
    }
}

fn page(crates: &[Crate]) -> Result<String> {
    let mut page = String::from(
        "# Third-party licences\n\nThe `bagwise` program and the Python package contain these crates. Written by \
         `cargo xtask licences`.\n\n| crate | version | licence |\n|---|---|---|\n",
    );
    for one in crates {
        writeln!(page, "{}", one.line())?;
    }
    // Crates that share a text, word for word, share a section.
    let mut sections: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for one in crates {
        let title = format!("{} {}", one.name, one.version);
        let texts = texts(Path::new(&one.manifest).parent().context("a folder")?, &one.licence)?;
        if texts.is_empty() {
            let note = format!("The crate contains no licence text. See {}.", one.repository);
            sections.entry(note).or_default().push(format!("{title} ({})", one.licence));
        }
        for text in texts {
            sections.entry(text).or_default().push(title.clone());
        }
    }
    let mut sections: Vec<(Vec<String>, String)> =
        sections.into_iter().map(|(t, names)| (names, t)).collect();
    sections.sort();
    for (names, text) in sections {
        write!(page, "\n## {}\n\n```text\n{text}\n```\n", names.join(", "))?;
    }
    Ok(page)
}

/// The licence texts in the folder of a crate.
fn texts(folder: &Path, licence: &str) -> Result<Vec<String>> {
    let mut names = Vec::new();
    for entry in std::fs::read_dir(folder).with_context(|| folder.display().to_string())? {
        let name = entry?.file_name().to_string_lossy().into_owned();
        let upper = name.to_uppercase();
        if ["LICEN", "COPYING", "NOTICE", "UNLICENSE"].iter().any(|start| upper.starts_with(start))
            && folder.join(&name).is_file()
        {
            names.push(name);
        }
    }
    names.sort();
    // Where MIT is offered beside others, and there is no part that has another licence.
    let chosen: Vec<&String> = names.iter().filter(|n| n.to_uppercase().contains("MIT")).collect();
    let names = match !chosen.is_empty() && licence.contains("MIT") && !licence.contains("AND") {
        true => chosen,
        false => names.iter().collect(),
    };
    names
        .into_iter()
        .map(|name| {
            let bytes = std::fs::read(folder.join(name)).with_context(|| name.clone())?;
            let text = String::from_utf8_lossy(&bytes).replace("\r\n", "\n").replace("```", "'''");
            Ok(text.lines().map(str::trim_end).collect::<Vec<_>>().join("\n").trim().to_string())
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn third_party_lists_what_is_compiled_in() {
        check().unwrap();
    }

    #[test]
    fn what_only_tests_need_is_not_listed() {
        let package = |name: &str, source: Value| {
            serde_json::json!({ "id": name, "name": name, "version": "1.0.0", "license": "MIT", "source": source,
                "manifest_path": "", "repository": "" })
        };
        let to =
            |name: &str, kind: Value| serde_json::json!({ "pkg": name, "dep_kinds": [{ "kind": kind }] });
        let metadata = serde_json::json!({
            "packages": [package("bagwise-cli", Value::Null), package("a", "registry".into()),
                package("b", "registry".into()), package("c", "registry".into())],
            "resolve": { "nodes": [
                { "id": "bagwise-cli", "deps": [to("a", Value::Null), to("b", "dev".into())] },
                { "id": "a", "deps": [to("c", "build".into())] },
                { "id": "b", "deps": [] }, { "id": "c", "deps": [] } ] },
        });
        let names: Vec<String> = linked(&metadata).unwrap().into_iter().map(|c| c.name).collect();
        assert_eq!(names, ["a"]);
    }
}
