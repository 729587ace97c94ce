//! The time of ten times 10-fold nested cross-validation over the methods and sets of `experiments/gauss.toml`.

use anyhow::Result;

use super::cli::{Cli, number};
use super::percent;
use super::section::{Section, Table};
use crate::run::data_file;
use crate::weka::children_seconds;

/// Seconds that all of it may take on two cores.
const BAR: f64 = 120.0;

/// Sets and the widths that are tried on them.
const SETS: [(&str, &str); 5] = [
    ("musk1", "gamma=2^-5..2^5"),
    ("elephant", "gamma=2^-5..2^5"),
    ("fox", "gamma=2^-5..2^5"),
    ("tiger", "gamma=2^-5..2^5"),
    ("musk2", "gamma=2^-6..2^2"),
];

/// Methods and what is fixed in them.
const METHODS: [(&str, &[&str]); 3] =
    [("mi-kernel", &["-p", "norm=sqrt"]), ("migraph", &[]), ("wmksvm", &[])];

pub(super) fn run(cli: &Cli) -> Result<Section> {
    let mut table = Table::new(&["set", "method", "accuracy", "sd", "wall s", "CPU s"]);
    let seconds = |seconds: f64| format!("{seconds:.1}");
    let (mut wall, mut cpu) = (0.0, 0.0);
    for (name, widths) in SETS {
        let Ok(file) = data_file(name) else {
            table.row([name, "", "missing", "", "", ""].map(String::from).to_vec());
            continue;
        };
        for (method, fixed) in METHODS {
            let mut options = vec!["--repeats", "10", "--scale", "minmax", "-p", "c=100", "-p", widths];
            options.extend(fixed);
            let before = children_seconds();
            let answer = cli.evaluate(&file, method, 0, &options)?;
            let (took, used) = (number(&answer, "/seconds")?, children_seconds() - before);
            (wall, cpu) = (wall + took, cpu + used);
            let accuracy =
                [number(&answer, "/accuracy/mean")?, number(&answer, "/accuracy/sd")?].map(percent);
            let [mean, sd] = accuracy;
            table.row(vec![name.into(), method.into(), mean, sd, seconds(took), seconds(used)]);
        }
    }
    table.row(vec!["all".into(), String::new(), String::new(), String::new(), seconds(wall), seconds(cpu)]);
    let verdict = if wall <= BAR { "under" } else { "over" };
    let mut section = Section::default();
    section.add(
        format!(
            "Ten times 10-fold nested, seed 0, {} threads: {wall:.0} s in all, {verdict} the {BAR:.0} s that are allowed \
             on two cores. CPU time includes reading the data.",
            super::threads()
        ),
        table,
    );
    Ok(section)
}
