//! Rules of the house that no other tool checks: every source file says what it is for and stays short, no test is
//! switched off, and nothing in the repository names a machine it was written on.

use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, bail};

use crate::run::root;

/// About five hundred lines are meant; beyond this a file has two subjects.
const LONGEST: usize = 650;

/// In two parts, so that this file keeps its own rules.
const IGNORED: &str = concat!("#[ig", "nore");
const MACHINES: &[&str] =
    &[concat!("/ho", "me/"), concat!("/ro", "ot/"), concat!("/Us", "ers/"), concat!("/wo", "rk/")];

/// Checks every text file of the repository.
pub(crate) fn check() -> Result<Option<String>> {
    let mut files = Vec::new();
    collect(&root(), &mut files)?;
    files.sort();
    let mut broken = Vec::new();
    let mut count = 0;
    for path in &files {
        // Data and pictures are none of our business.
        let Ok(text) = std::fs::read_to_string(path) else { continue };
        count += 1;
        let name = path.strip_prefix(root()).unwrap_or(path).display().to_string();
        broken.extend(problems(&name, &text));
    }
    if !broken.is_empty() {
        bail!("{} rules are broken:\n{}", broken.len(), broken.join("\n"));
    }
    Ok(Some(format!("{count} files")))
}

fn problems(name: &str, text: &str) -> Vec<String> {
    let mut broken = Vec::new();
    if name.ends_with(".rs") {
        if !text.starts_with("//!") {
            broken.push(format!("{name}, line 1: no `//!` paragraph; say what the file is for"));
        }
        let length = text.lines().count();
        if length > LONGEST {
            broken.push(format!("{name}: {length} lines; cut it by subject into files of at most {LONGEST}"));
        }
    }
    for (i, line) in text.lines().enumerate() {
        if name.starts_with(".github/") && !is_pinned(line) {
            broken.push(format!("{name}, line {}: an action without a digest; a tag can be moved", i + 1));
        }
        if name.ends_with(".rs") && line.contains(IGNORED) {
            broken.push(format!("{name}, line {}: a test is switched off; fix or remove it", i + 1));
        }
        if let Some(machine) = MACHINES.iter().find(|m| line.contains(**m)) {
            broken.push(format!(
                "{name}, line {}: {machine} is a place on one machine; use a relative path",
                i + 1
            ));
        }
    }
    broken
}

/// True unless the line names an action by something else than a digest.
fn is_pinned(line: &str) -> bool {
    let Some((_, action)) = line.split_once("uses:") else { return true };
    let digest = action.split_once('@').map(|(_, rest)| rest.split_whitespace().next().unwrap_or_default());
    digest.is_some_and(|d| d.len() == 40 && d.bytes().all(|b| b.is_ascii_hexdigit()))
}

/// Every file but what git ignores and generated trees.
fn collect(folder: &Path, files: &mut Vec<PathBuf>) -> Result<()> {
    let entries = std::fs::read_dir(folder).with_context(|| format!("reading {}", folder.display()))?;
    for entry in entries {
        let entry = entry?;
        let name = entry.file_name();
        if name == ".git"
            || name == "target"
            || name == "__pycache__"
            || name == "node_modules"
            || name == ".venv"
        {
            continue;
        }
        if entry.file_type()?.is_dir() {
            collect(&entry.path(), files)?;
        } else {
            files.push(entry.path());
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_rule_finds_what_breaks_it() {
        assert_eq!(problems("a.rs", "//! Good.\n"), Vec::<String>::new());
        assert_eq!(problems("a.rs", "fn f() {}\n").len(), 1);
        assert_eq!(problems("a.rs", &format!("//! Long.\n{}", "\n".repeat(LONGEST))).len(), 1);
        assert_eq!(problems("a.rs", &format!("//! Off.\n{IGNORED}]\n")).len(), 1);
        let action =
            |version: &str| problems(".github/workflows/a.yml", &format!("- uses: a/b@{version} # v1\n"));
        assert_eq!((action("v1").len(), action(&"0a".repeat(20)).len()), (1, 0));
        assert_eq!(problems("a.md", &format!("see {}me\n", MACHINES[0])).len(), 1);
    }
}
