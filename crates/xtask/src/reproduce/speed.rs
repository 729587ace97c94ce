//! The time of ten times 10-fold nested cross-validation over the methods and sets of `gauss`.

use std::time::Instant;

use anyhow::Result;
use bagwise::judge::ProtocolName;

use super::gauss::{METHODS, SETS};
use super::section::{Section, Table};
use super::{accuracy, cpu_seconds, find, judge, percent, plan};

/// Seconds that all of it may take on two cores.
const BAR: f64 = 120.0;

pub(super) fn run() -> Result<Section> {
    let mut table = Table::new(&["set", "method", "accuracy", "sd", "wall s", "CPU s"]);
    let cell = |seconds: Option<f64>| seconds.map_or("?".into(), |s| format!("{s:.1}"));
    let (mut wall, mut cpu) = (0.0, Some(0.0));
    for (name, widths) in SETS {
        let Some(data) = find(name) else {
            table.row([name, "", "missing", "", "", ""].map(String::from).to_vec());
            continue;
        };
        for entry in &METHODS {
            let (started, before) = (Instant::now(), cpu_seconds());
            let summary = judge(&data, entry.setup(widths)?, &plan(ProtocolName::Nested, 0, 10))?;
            let seconds = started.elapsed().as_secs_f64();
            let used = cpu_seconds().zip(before).map(|(after, before)| after - before);
            wall += seconds;
            cpu = cpu.zip(used).map(|(sum, used)| sum + used);
            table.row(vec![
                name.into(),
                entry.method.into(),
                percent(accuracy(&summary)),
                summary.metrics[0].sd.map_or(String::new(), percent),
                cell(Some(seconds)),
                cell(used),
            ]);
        }
    }
    table.row(vec!["all".into(), String::new(), String::new(), String::new(), cell(Some(wall)), cell(cpu)]);
    let verdict = if wall <= BAR { "under" } else { "over" };
    let mut section = Section::default();
    section.add(
        format!(
            "Ten times 10-fold nested, seed 0, {} threads: {wall:.0} s in all, {verdict} the {BAR:.0} s that are allowed \
             on two cores.",
            super::threads()
        ),
        table,
    );
    Ok(section)
}
