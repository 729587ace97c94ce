//! The papers' tables: every file of `experiments/`, carried out by `bagwise run`, beside what the paper printed. By
//! `--quick`, minutes, unless `BAGWISE_PAPERS=full`, hours. Records stay under `target/experiments`, and what is there is
//! not computed again.

use anyhow::{Context as _, Result, bail};

use super::section::Section;
use crate::run::{cargo, root, say, target};

pub(super) fn run() -> Result<Section> {
    let full = std::env::var_os("BAGWISE_PAPERS").is_some_and(|v| v == "full");
    let mut files: Vec<_> =
        std::fs::read_dir(root().join("experiments"))?.map(|f| Ok(f?.path())).collect::<Result<_>>()?;
    files.retain(|f| f.extension().is_some_and(|e| e == "toml"));
    files.sort();
    let mut section = Section::default();
    for file in files {
        let name = file.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let folder = target().join("experiments").join(format!("{name}{}", if full { "" } else { "-quick" }));
        std::fs::create_dir_all(&folder)?;
        // A table that is there afterwards is this run's.
        match std::fs::remove_file(folder.join("table.md")) {
            Err(e) if e.kind() != std::io::ErrorKind::NotFound => return Err(e.into()),
            _ => (),
        }
        let mut command = cargo(&["run", "--release", "--quiet", "--package", "bagwise-cli", "--", "run"]);
        command.arg(&file).arg("--no-report").arg("-o").arg(&folder);
        if !full {
            command.arg("--quick");
        }
        let output = command.output().context("starting bagwise")?;
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        // A run with failed fits says so by its code and has a table all the same.
        let Ok(table) = std::fs::read_to_string(folder.join("table.md")) else {
            bail!("{}: {}", file.display(), said.lines().last().unwrap_or("nothing came out"));
        };
        say(&format!("{name}: {}", if output.status.success() { "done" } else { said.trim() }));
        section.page(table);
    }
    Ok(section)
}
