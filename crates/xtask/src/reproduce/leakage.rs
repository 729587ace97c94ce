//! Nested accuracy on labels that mean nothing: random for every bag, or random for every group. Every method and scaling,
//! more features than bags, a wide grid; `best-on-cv` beside it shows that the grid is wide enough to flatter.

use std::path::{Path, PathBuf};

use anyhow::Result;
use bagwise::Rng;

use super::bags::Bags;
use super::cli::{Cli, number};
use super::section::{Section, Table};
use super::{mean, percent};

/// Data sets that an accuracy is the mean of, where every bag has a label of its own, and the quantile of Student's
/// distribution for the 95 % interval of their mean.
const DRAWS: (u64, f64) = (20, 2.093_024);

/// The same where groups have: twenty groups are far fewer than bags, so one data set tells less.
const GROUP_DRAWS: (u64, f64) = (100, 1.984_217);

const SCALES: [&str; 4] = ["none", "minmax", "zscore", "maxabs"];

/// What is tried of parameters that have these names; the others have their own grids.
const WIDE: [(&str, &str); 2] = [("gamma", "gamma=2^-6..2^6/median"), ("c", "c=0.1,1,10,100,1000")];

pub(super) fn run(cli: &Cli) -> Result<Section> {
    let folder = tempfile::tempdir()?;
    let mut section = Section::default();
    section.add(
        format!(
            "Random labels, half of each: 40 bags of 3 to 6 instances with 200 features of noise, a grid of 65 to 130 \
             points, nested 10-fold with inner 5-fold, mean over {} data sets with its 95 % interval (chance is 50). \
             One interval in twenty may miss by chance. Best-on-cv chooses on the reported folds.",
            DRAWS.0
        ),
        bags(cli, folder.path())?,
    );
    section.add(
        format!(
            "Random labels, constant in each of 20 groups of 6 bags that resemble each other; mean over {} data sets \
             with its 95 % interval, each method with its own scaling and grid.",
            GROUP_DRAWS.0
        ),
        groups(cli, folder.path())?,
    );
    Ok(section)
}

fn bags(cli: &Cli, folder: &Path) -> Result<Table> {
    let mut table = Table::new(&["method", "scaling", "nested", "interval", "holds 50", "best-on-cv"]);
    let draw = |seed| {
        let options = "bags=40&min=3&max=6&features=200&distance=0";
        let file = folder.join(format!("bags-{seed}.csv"));
        labelled(cli, folder, options, seed, "bag")?.write(&file)?;
        Ok(file)
    };
    let files = (0..DRAWS.0).map(draw).collect::<Result<Vec<_>>>()?;
    for (method, parameters) in cli.methods()? {
        for scale in SCALES {
            let mut options = vec!["--scale", scale];
            let known = WIDE.iter().filter(|(name, _)| parameters.iter().any(|p| p == name));
            options.extend(known.flat_map(|(_, given)| ["-p", given]));
            let nested = over(cli, &files, &method, &options)?;
            let best = over(cli, &files, &method, &[&options[..], &["--protocol", "best-on-cv"]].concat())?;
            let mut row = vec![method.clone(), scale.into()];
            row.extend(cells(&nested, DRAWS.1));
            row.push(percent(mean(&best)));
            table.row(row);
        }
    }
    Ok(table)
}

/// The same for `auto`, which chooses the scaling itself.
pub(super) fn of_auto(cli: &Cli) -> Result<Table> {
    let folder = tempfile::tempdir()?;
    let mut table = Table::new(&["method", "nested", "interval", "holds 50"]);
    let mut files = Vec::new();
    for seed in 0..DRAWS.0 {
        let file = folder.path().join(format!("bags-{seed}.csv"));
        labelled(cli, folder.path(), "bags=40&min=3&max=6&features=200&distance=0", seed, "bag")?
            .write(&file)?;
        files.push(file);
    }
    let mut row = vec!["auto".to_string()];
    row.extend(cells(&over(cli, &files, "auto", &[])?, DRAWS.1));
    table.row(row);
    Ok(table)
}

fn groups(cli: &Cli, folder: &Path) -> Result<Table> {
    let headings =
        ["method", "with groups", "interval", "holds 50", "groups ignored", "interval", "holds 50"];
    let mut table = Table::new(&headings);
    let draw = |seed| {
        let options = "bags=120&min=3&max=6&features=20&distance=0&groups=20&shift=1";
        let files = ["with", "without"].map(|word| folder.join(format!("{word}-{seed}.csv")));
        let bags = labelled(cli, folder, options, seed, "group")?;
        bags.write(&files[0])?;
        bags.without("group")?.write(&files[1])?;
        Ok(files)
    };
    let files = (0..GROUP_DRAWS.0).map(draw).collect::<Result<Vec<_>>>()?;
    let (with, without): (Vec<PathBuf>, Vec<PathBuf>) = files.into_iter().map(|[a, b]| (a, b)).unzip();
    for (method, _) in cli.methods()? {
        let mut row = vec![method.clone()];
        for files in [&with, &without] {
            row.extend(cells(&over(cli, files, &method, &[])?, GROUP_DRAWS.1));
        }
        table.row(row);
    }
    Ok(table)
}

/// A data set whose labels, as many 0 as 1, are drawn for each value of a column.
fn labelled(cli: &Cli, folder: &Path, options: &str, seed: u64, by: &str) -> Result<Bags> {
    let mut bags = Bags::read(cli, &format!("synthetic:gauss?{options}&seed={seed}"), folder)?;
    let (codes, count) = bags.codes(by)?;
    let mut labels: Vec<u32> = (0..count as u32).map(|i| i % 2).collect();
    Rng::new(seed, "labels", &[]).shuffle(&mut labels);
    let at = bags.column("label")?;
    bags.rows.iter_mut().zip(codes).for_each(|(row, code)| row[at] = labels[code].to_string());
    Ok(bags)
}

/// The accuracy on each data set.
fn over(cli: &Cli, files: &[PathBuf], method: &str, options: &[&str]) -> Result<Vec<f64>> {
    let one =
        |(seed, file): (u64, &PathBuf)| number(&cli.evaluate(file, method, seed, options)?, "/accuracy/mean");
    (0..).zip(files).map(one).collect()
}

/// Mean, interval, and whether that holds one half. The data sets are independent, so the interval is the plain one.
fn cells(values: &[f64], quantile: f64) -> [String; 3] {
    let (centre, count) = (mean(values), values.len() as f64);
    let variance = values.iter().map(|v| (v - centre).powi(2)).sum::<f64>() / (count - 1.0);
    let half = quantile * (variance / count).sqrt();
    let (low, high) = (centre - half, centre + half);
    let holds = (low..=high).contains(&0.5);
    [
        percent(centre),
        format!("{} to {}", percent(low), percent(high)),
        if holds { "yes" } else { "no" }.into(),
    ]
}
