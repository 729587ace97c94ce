//! `bagwise inspect`: summarises a data set and warns about what looks suspicious. The library computes the findings;
//! this file formats them.

use anyhow::Result;
use bagwise::inspect::{ColumnSummary, Inspection, Severity};
use bagwise::io::{ReadOptions, TableSketch};
use bagwise::{count, human_bytes};

use crate::args::Data;
use crate::judging::say_positive;
use crate::output::{BOLD, Output, Rows, Style, YELLOW, quoted};
use crate::session::{Outcome, Session};
use crate::wording;

/// Summarise data and warn about problems
#[derive(clap::Args)]
#[command(after_help = HELP)]
pub(crate) struct Args {
    /// A file, a built-in data set or a generator
    #[arg(value_name = "DATA")]
    data: String,
    /// The data have no labels (data for prediction)
    #[arg(long)]
    unlabelled: bool,
    #[command(flatten)]
    read: Data,
}

const HELP: &str = "\
Counts bags, classes and groups, shows the distribution of bag sizes, finds duplicates and constant columns, \
and suggests a scaling. It warns about problems that would invalidate later estimates: columns that leak the label, \
ids used as features, bags whose size predicts their label. Missing values are counted by column. \
If a table has no column called bag, inspect lists the columns and suggests which one it could be. \
--format json prints everything; csv prints one row per attribute.

Examples:
  bagwise inspect musk1
  bagwise inspect molecules.csv
  bagwise inspect molecules.csv --bag mol --label active --group scaffold --keep conformer
  bagwise inspect molecules.csv --bag mol --label active --format csv > attributes.csv
  bagwise inspect 'synthetic:gauss?bags=40' --format json";

pub(crate) fn run(args: &Args, session: &Session) -> Result<Outcome> {
    let mut options = args.read.read_options();
    options.unlabelled = args.unlabelled;
    if let Some(sketch) = bagwise::io::sketch(&args.data, &options)? {
        session.print(&Proposal { data: args.data.clone(), told: args.read.words(), sketch })?;
        return Ok(Outcome::Done);
    }
    // Missing values are counted by column; training rejects them unless --missing is given.
    options.allow_missing = true;
    show(&args.data, &options, session)
}

/// The columns of a table that no option mentions, to be printed.
struct Proposal {
    data: String,
    /// What was said.
    told: String,
    sketch: TableSketch,
}

impl Proposal {
    /// The command that would inspect the table, if a bag can be proposed.
    fn command(&self) -> Option<String> {
        let bag = self.sketch.bag.as_ref()?;
        let mut command =
            format!("bagwise inspect {}{} --bag {}", quoted(&self.data), self.told, quoted(bag));
        for (flag, column) in [("label", &self.sketch.label), ("group", &self.sketch.group)] {
            let said = self.told.contains(&format!(" --{flag} "));
            if let Some(column) = column.as_ref().filter(|_| !said) {
                command += &format!(" --{flag} {}", quoted(column));
            }
        }
        Some(command)
    }
}

impl Output for Proposal {
    fn json(&self) -> Result<String> {
        Ok(serde_json::to_string_pretty(&self.sketch)?)
    }

    fn csv(&self) -> Rows {
        let mut rows = Rows::new(["column", "holds", "different", "missing", "example"]);
        for c in &self.sketch.columns {
            let example: String = c.example.chars().take(30).collect();
            rows.push(vec![
                c.name.clone(),
                c.holds.into(),
                c.different.to_string(),
                c.missing.to_string(),
                example,
            ]);
        }
        rows
    }

    fn text(&self, paint: Style) -> String {
        let title = format!("{}: which column is the bag?", self.data);
        let mut page = Lines { text: format!("{}\n\n", paint.paint(&title, BOLD)), paint };
        for line in self.csv().to_string().lines() {
            page.line(line);
        }
        page.line("");
        page.line(&format!("Checked {}.", count(self.sketch.rows, "row")));
        match self.command() {
            Some(command) => page.line(&format!("try: {command}")),
            None => page.line("No column looks like a bag id; name it with --bag COLUMN."),
        }
        page.text
    }
}

/// Reads, looks, prints.
pub(crate) fn show(name: &str, options: &ReadOptions, session: &Session) -> Result<Outcome> {
    let data = session.read(name, options)?;
    let found = bagwise::inspect::inspect(&data)?;
    session.print(&Page { found, warned: !data.warnings.is_empty() })?;
    say_positive(&data, None, session);
    Ok(Outcome::Done)
}

/// An inspection, to be printed.
struct Page {
    found: Inspection,
    /// Whether the reader has warned of something.
    warned: bool,
}

impl Output for Page {
    fn json(&self) -> Result<String> {
        Ok(serde_json::to_string_pretty(&self.found)?)
    }

    fn csv(&self) -> Rows {
        let mut rows = Rows::new([
            "attribute",
            "kind",
            "min",
            "max",
            "mean",
            "sd",
            "zeros",
            "missing",
            "categories",
            "constant",
            "same_within_bags",
            "reveals_label",
            "looks_like",
        ]);
        for c in &self.found.columns {
            let number = |v: Option<f64>| v.map_or(String::new(), |v| v.to_string());
            rows.push(vec![
                c.name.clone(),
                c.kind.into(),
                number(c.min),
                number(c.max),
                number(c.mean),
                number(c.sd),
                c.zeros.to_string(),
                c.missing.to_string(),
                c.categories.map_or(String::new(), |n| n.to_string()),
                c.constant.to_string(),
                c.same_within_bags.to_string(),
                word(&c.reveals_label),
                word(&c.looks_like),
            ]);
        }
        rows
    }

    fn text(&self, paint: Style) -> String {
        let found = &self.found;
        let title = format!(
            "{}: {}, {}, {}",
            found.data,
            count(found.bags, "bag"),
            count(found.instances, "instance"),
            count(found.attributes, "attribute")
        );
        let mut page = Lines { text: format!("{}\n\n", paint.paint(&title, BOLD)), paint };
        target(found, &mut page);
        if let Some(groups) = &found.groups {
            let mixed = format!("{} of them with more than one class", groups.mixed);
            page.fact(
                "groups",
                &format!("{}, the largest with {}, {mixed}", groups.count, count(groups.largest, "bag")),
            );
        }
        sizes(found, &mut page);
        attributes(found, &mut page);
        page.fact("scaling", &format!("{}: {}", found.scaling.name, found.scaling.reason));
        suspicions(found, self.warned, &mut page);
        page.text
    }
}

/// A page under construction.
struct Lines {
    text: String,
    paint: Style,
}

impl Lines {
    fn line(&mut self, line: &str) {
        self.text.push_str(line.trim_end());
        self.text.push('\n');
    }

    fn fact(&mut self, name: &str, what: &str) {
        self.line(&format!("{name:<11} {what}"));
    }
}

/// Classes that fit on a line.
const SHOWN: usize = 12;

fn target(found: &Inspection, page: &mut Lines) {
    if let Some(t) = &found.target {
        let (min, max, median) = (short(t.min), short(t.max), short(t.median));
        page.fact("target", &format!("numbers from {min} to {max}, median {median}"));
    } else if !found.classes.is_empty() {
        page.fact("classes", &classes(found));
    }
    if !found.instance_labels.is_empty() {
        let each = found.instance_labels.iter().take(SHOWN).map(|(name, n)| format!("{name}: {n}"));
        page.fact("instances", &format!("true labels known: {}", each.collect::<Vec<_>>().join(", ")));
    }
}

fn classes(found: &Inspection) -> String {
    let all = &found.classes;
    if all.len() > 4 && all.iter().all(|c| c.1 == all[0].1) {
        let names: Vec<&str> = all.iter().take(SHOWN).map(|c| c.0.as_str()).collect();
        let more = if all.len() > SHOWN { ", …" } else { "" };
        return format!("{} of {} each: {}{more}", all.len(), count(all[0].1, "bag"), names.join(", "));
    }
    let each = all.iter().take(SHOWN).map(|(name, bags)| {
        let share = 100.0 * *bags as f64 / found.bags as f64;
        format!("{name}: {bags} ({share:.0}%)")
    });
    let mut list = each.collect::<Vec<_>>().join(", ");
    if all.len() > SHOWN {
        list.push_str(&format!(" and {} more", all.len() - SHOWN));
    }
    list
}

fn sizes(found: &Inspection, page: &mut Lines) {
    const WIDTH: usize = 40;
    let s = &found.bag_sizes.spread;
    let (min, max, median, mean) = (s.min, s.max, short(s.median), short(s.mean));
    page.fact("bag size", &format!("{min} to {max} instances, median {median}, mean {mean}"));
    let most = found.bag_sizes.histogram.iter().map(|b| b.bags).max().unwrap_or(1);
    for bin in &found.bag_sizes.histogram {
        let range =
            if bin.from == bin.to { bin.from.to_string() } else { format!("{}-{}", bin.from, bin.to) };
        // A bin with a bag shows at least a sliver.
        let bar = "█".repeat((bin.bags * WIDTH).div_ceil(most));
        page.line(&format!("  {range:>9} {bar}{}{}", if bar.is_empty() { "" } else { " " }, bin.bags));
    }
}

fn attributes(found: &Inspection, page: &mut Lines) {
    const LISTED: usize = 20;
    let mut kinds = Vec::new();
    if found.numeric > 0 {
        let range = found.range.map_or(String::new(), |(a, b)| format!(", {} to {}", short(a), short(b)));
        kinds.push(format!("{} numeric{range}", found.numeric));
    }
    if found.categorical > 0 {
        kinds.push(format!("{} categorical", found.categorical));
    }
    let zeros = format!("{:.0}% zeros", 100.0 * found.zeros);
    page.fact(
        "attributes",
        &format!("{}; {zeros}, {} {}", kinds.join("; "), human_bytes(found.bytes), found.storage),
    );
    if found.columns.len() <= LISTED {
        let mut rows = Rows::new(["attribute", "min", "mean", "max", "sd", ""]);
        for c in &found.columns {
            rows.push(listed(c));
        }
        for line in rows.to_string().lines() {
            page.line(&format!("  {line}"));
        }
    }
    if !found.kept.is_empty() {
        page.fact("kept", &found.kept.join(", "));
    }
    let constant = match found.constant.len() {
        0 => "none".into(),
        n if n <= 8 => found.constant.join(", "),
        n => format!("{}, … ({n})", found.constant[..8].join(", ")),
    };
    page.fact("constant", &constant);
    let d = &found.duplicates;
    let mut twice = count(d.instances, "instance");
    if d.instances > 0 {
        twice.push_str(&format!(
            " ({} within a bag, {} under different labels)",
            d.within_bags, d.across_labels
        ));
    }
    page.fact("duplicates", &format!("{twice}, {}", count(d.bags, "whole bag")));
}

fn listed(c: &ColumnSummary) -> Vec<String> {
    let cell = |v: Option<f64>| v.map_or(String::new(), short);
    let remark = match c.categories {
        Some(n) => format!("{n} categories"),
        None if c.missing > 0 => format!("{} missing", c.missing),
        None if c.constant => "constant".into(),
        None if c.same_within_bags => "same within bags".into(),
        None => String::new(),
    };
    vec![c.name.clone(), cell(c.min), cell(c.mean), cell(c.max), cell(c.sd), remark]
}

fn suspicions(found: &Inspection, warned: bool, page: &mut Lines) {
    page.line("");
    if found.findings.is_empty() {
        page.line(if warned { "Nothing else suspicious found." } else { "Nothing suspicious found." });
        return;
    }
    for finding in &found.findings {
        let level = match finding.level {
            Severity::Warning => page.paint.paint("warning", YELLOW),
            Severity::Note => "note".into(),
        };
        page.line(&format!("{level}: {}", finding.message));
        page.line(&format!("  → {}", finding.remedy.worded(&wording::option)));
    }
}

/// Four digits, as people read numbers.
fn short(value: f64) -> String {
    let size = value.abs();
    if value == value.trunc() && size < 1e7 {
        format!("{value}")
    } else if (1e-3..1e7).contains(&size) {
        let digits = (3 - size.log10().floor() as i32).max(0) as usize;
        let text = format!("{value:.digits$}");
        if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').to_string() } else { text }
    } else {
        format!("{value:.3e}")
    }
}

/// The word that JSON has for a value; nothing for none.
fn word<T: serde::Serialize>(value: &Option<T>) -> String {
    match serde_json::to_value(value) {
        Ok(serde_json::Value::String(word)) => word,
        _ => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::short;

    #[test]
    fn numbers_have_four_digits() {
        let shown = [0.0, -12.0, 0.5, 1234.56, 0.012345, 123456.7, 1e-9, 3.0e12].map(short);
        assert_eq!(shown, ["0", "-12", "0.5", "1235", "0.01235", "123457", "1.000e-9", "3.000e12"]);
    }
}
