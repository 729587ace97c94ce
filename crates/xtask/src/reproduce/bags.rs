//! Bags as a table of text, to be divided or labelled again between two calls of the command line.

use std::path::Path;

use anyhow::{Context as _, Result};

use super::cli::Cli;

/// A table whose columns `bag`, `label`, `group` and `instance_label` have these names, as `bagwise convert` writes it.
#[derive(Clone)]
pub(super) struct Bags {
    head: Vec<String>,
    pub(super) rows: Vec<Vec<String>>,
}

impl Bags {
    /// A data set by file, name or generator; `folder` is for what lies between.
    pub(super) fn read(cli: &Cli, data: &str, folder: &Path) -> Result<Bags> {
        let file = folder.join("bags.csv");
        cli.run(&[
            "convert".as_ref(),
            data.as_ref(),
            file.as_os_str(),
            "--force".as_ref(),
            "--quiet".as_ref(),
        ])?;
        let text = std::fs::read_to_string(&file)?;
        anyhow::ensure!(!text.contains('"'), "{data}: cells in quotes are not understood here");
        let mut lines = text.lines().map(|l| l.split(',').map(String::from).collect());
        let head = lines.next().context("an empty table")?;
        Ok(Bags { head, rows: lines.collect() })
    }

    /// Writes the table.
    pub(super) fn write(&self, file: &Path) -> Result<()> {
        let lines = [&self.head].into_iter().chain(&self.rows).map(|row| row.join(",") + "\n");
        Ok(std::fs::write(file, lines.collect::<String>())?)
    }

    /// Where a column is.
    pub(super) fn column(&self, name: &str) -> Result<usize> {
        self.head.iter().position(|h| h == name).with_context(|| format!("there is no column '{name}'"))
    }

    /// Leaves a column out.
    pub(super) fn without(mut self, name: &str) -> Result<Bags> {
        let at = self.column(name)?;
        self.rows.iter_mut().chain([&mut self.head]).for_each(|row| drop(row.remove(at)));
        Ok(self)
    }

    /// The rows that are wanted.
    pub(super) fn only(&self, wanted: impl Fn(&[String]) -> bool) -> Bags {
        Bags { head: self.head.clone(), rows: self.rows.iter().filter(|r| wanted(r)).cloned().collect() }
    }

    /// For each row which value of a column it has, counted by first appearance, and how many there are.
    pub(super) fn codes(&self, name: &str) -> Result<(Vec<usize>, usize)> {
        let at = self.column(name)?;
        let mut seen = std::collections::HashMap::new();
        let mut code = |row: &Vec<String>| {
            let next = seen.len();
            *seen.entry(row[at].clone()).or_insert(next)
        };
        let codes = self.rows.iter().map(&mut code).collect();
        Ok((codes, seen.len()))
    }
}
