//! Whether explanations find the instances that made a bag positive. A machine learns from the labels of a random half
//! of the bags; in the positive bags of the other half, where true instance labels are known, positive instances are
//! compared with the others in two ways: by their contribution to the bag's output, and by the output of a bag that
//! holds nothing but the instance. The two differ where instances have unequal weights: a contribution is the weight
//! times a value that the bias, which no instance is given a part of, shifts for all of them.

use std::path::Path;

use anyhow::{Context as _, Result};
use serde_json::Value;

use super::bags::Bags;
use super::cli::Cli;
use super::section::{Section, Table};
use super::{mean, percent};
use crate::run::{data_file, say};

const SETS: [&str; 4] =
    ["synthetic:gauss", "text_alt_atheism", "text_comp_graphics", "text_rec_sport_hockey"];

/// Methods and what is fixed in them.
const METHODS: [(&str, &[&str]); 2] = [("mi-kernel", &["-p", "norm=mean"]), ("migraph", &[])];

/// What one split shows.
struct Found {
    /// Share of test bags with the right label.
    accuracy: f64,
    /// Instances by their contribution.
    parts: Ranking,
    /// Instances by the output of a bag of their own.
    alone: Ranking,
    /// Share of positive instances, mean over bags.
    chance: f64,
}

/// How well values tell positive instances from the others in positive bags.
struct Ranking {
    /// Area under the curve within a bag, mean over bags that have both kinds of instances.
    within: f64,
    /// The same over the instances of all bags together.
    pooled: f64,
    /// Share of bags whose largest value is that of a positive instance.
    top: f64,
}

pub(super) fn run(cli: &Cli) -> Result<Section> {
    let folder = tempfile::tempdir()?;
    let folder = folder.path();
    let headings = [
        "set",
        "method",
        "bag accuracy",
        "AUC within",
        "AUC pooled",
        "top-1",
        "alone: AUC within",
        "AUC pooled",
        "top-1",
        "chance",
    ];
    let mut table = Table::new(&headings);
    for name in SETS {
        let found = match name.starts_with("synthetic:") {
            true => Ok(name.to_string()),
            false => data_file(name).map(|file| file.to_string_lossy().into_owned()),
        };
        let Ok(data) = found.map_err(|e| say(&format!("{name} is left out: {e}"))) else {
            let mut row = vec![name.into(), "missing".into()];
            row.resize(headings.len(), String::new());
            table.row(row);
            continue;
        };
        let bags = Bags::read(cli, &data, folder)?;
        for (method, fixed) in METHODS {
            let found = (0..5)
                .map(|seed| split(cli, &data, &bags, method, fixed, seed, folder))
                .collect::<Result<Vec<Found>>>()?;
            let over = |pick: &dyn Fn(&Found) -> f64| mean(&found.iter().map(pick).collect::<Vec<_>>());
            let mut row = vec![name.into(), method.into(), percent(over(&|f| f.accuracy))];
            let rankings: [fn(&Found) -> &Ranking; 2] = [|f| &f.parts, |f| &f.alone];
            for ranking in rankings {
                row.push(format!("{:.3}", over(&|f| ranking(f).within)));
                row.push(format!("{:.3}", over(&|f| ranking(f).pooled)));
                row.push(percent(over(&|f| ranking(f).top)));
            }
            row.push(percent(over(&|f| f.chance)));
            table.row(row);
        }
    }
    let mut section = Section::default();
    section.add(
        "Instances of positive test bags, tuned by bag labels only (mi-kernel with norm=mean), ranked by their \
         contribution to the bag's output, and (alone) by the output of a bag that holds nothing but the instance: area \
         under the curve of positive instances against the others (0.5 is chance); how often the first is positive, in \
         percent, beside the mean share of positive instances (chance). Half of the bags train; mean over seeds 0 to 4.",
        table,
    );
    Ok(section)
}

fn split(
    cli: &Cli,
    data: &str,
    bags: &Bags,
    method: &str,
    fixed: &[&str],
    seed: u64,
    folder: &Path,
) -> Result<Found> {
    let seed = seed.to_string();
    let [run, train, test, positive, alone, model] =
        ["run", "train.csv", "test.csv", "positive.csv", "alone.csv", "m.bagwise"].map(|f| folder.join(f));
    // The cheapest method tells which bags a random half has.
    if run.exists() {
        std::fs::remove_dir_all(&run)?;
    }
    let mut words = vec!["evaluate", "--method", "majority", "--protocol", "half", "--folds", "1"];
    words.extend(["--seed", &seed, "--output"]);
    cli.json(&[&words[..], &[&run.to_string_lossy()]].concat(), &[Path::new(data)])?;
    let folds: Value = serde_json::from_slice(&std::fs::read(run.join("folds.json"))?)?;
    let half = folds["repeats"][0][0]["train"].as_array().context("a fold without training bags")?;
    let half: Vec<usize> = half.iter().filter_map(|b| Some(b.as_u64()? as usize)).collect();
    let roster: Value = serde_json::from_slice(&std::fs::read(run.join("roster.json"))?)?;
    let trains = |bag: &str| half.iter().any(|&b| roster["bags"][b] == bag);

    let [id, label, truth] = ["bag", "label", "instance_label"].map(|name| bags.column(name));
    let (id, label, truth) = (id?, label?, truth?);
    let others = bags.only(|row| !trains(&row[id]));
    let witnesses = others.only(|row| row[label] == "1");
    bags.only(|row| trains(&row[id])).write(&train)?;
    others.write(&test)?;
    witnesses.write(&positive)?;
    let mut single = witnesses.clone();
    single.rows.iter_mut().enumerate().for_each(|(i, row)| row[id] = format!("instance {i}"));
    single.write(&alone)?;

    let mut words =
        vec!["fit", "--method", method, "--seed", &seed, "--optimize", "accuracy", "--inner", "5"];
    words.extend(fixed);
    cli.json(&[&words[..], &["--output", &model.to_string_lossy()]].concat(), &[&train])?;
    let told = cli.json(&["predict"], &[&model, &test])?;
    let told = told.as_array().context("a list of predictions")?;
    let label_of = |bag: &Value| others.rows.iter().find(|row| *bag == row[id]).map(|row| &row[label]);
    let right = told.iter().filter(|p| label_of(&p["bag"]).is_some_and(|known| p["label"] == *known)).count();

    // Instances come in the order of the file, by bags; so do what is said of them.
    let values = |answers: Value, key: &str, of: &dyn Fn(&Value) -> bool| -> Result<Vec<f64>> {
        let answers = answers.as_array().cloned().context("a list of answers")?;
        let value = |a: &Value| a[key].as_f64().context("an answer without a number");
        answers.iter().filter(|a| of(a)).map(value).collect()
    };
    let parts =
        values(cli.json(&["explain"], &[&model, &positive])?, "value", &|line| line["kind"] == "part")?;
    let outputs = values(cli.json(&["predict"], &[&model, &alone])?, "score", &|_| true)?;
    anyhow::ensure!(
        parts.len() == outputs.len() && parts.len() == witnesses.rows.len(),
        "{method} does not explain every instance by a sum"
    );
    let (bag_of, count) = witnesses.codes("bag")?;
    let mut by_bag = vec![(Vec::new(), Vec::new(), Vec::new()); count];
    for (i, row) in witnesses.rows.iter().enumerate() {
        let own = &mut by_bag[bag_of[i]];
        own.0.push(row[truth] == "1");
        own.1.push(parts[i]);
        own.2.push(outputs[i]);
    }
    let truth: Vec<Vec<bool>> = by_bag.iter().map(|b| b.0.clone()).collect();
    let share = |truth: &Vec<bool>| truth.iter().filter(|t| **t).count() as f64 / truth.len() as f64;
    Ok(Found {
        accuracy: right as f64 / told.len() as f64,
        parts: rank(&truth, &by_bag.iter().map(|b| b.1.clone()).collect::<Vec<_>>())?,
        alone: rank(&truth, &by_bag.iter().map(|b| b.2.clone()).collect::<Vec<_>>())?,
        chance: mean(&truth.iter().map(share).collect::<Vec<_>>()),
    })
}

fn rank(truth: &[Vec<bool>], values: &[Vec<f64>]) -> Result<Ranking> {
    let (mut within, mut top) = (Vec::new(), Vec::new());
    for (truth, values) in truth.iter().zip(values) {
        within.extend(auc(truth, values));
        let first =
            (0..values.len()).max_by(|&a, &b| values[a].total_cmp(&values[b])).context("an empty bag")?;
        top.push(f64::from(u8::from(truth[first])));
    }
    let pooled = auc(&truth.concat(), &values.concat());
    Ok(Ranking {
        within: mean(&within),
        pooled: pooled.context("positive bags have both kinds of instances")?,
        top: mean(&top),
    })
}

/// The area under the curve, by pairs; nothing where only one kind is there. Instances that are the same have scores that
/// differ by rounding at most: they tie.
fn auc(truth: &[bool], scores: &[f64]) -> Option<f64> {
    let of = |kind: bool| truth.iter().zip(scores).filter(move |(t, _)| **t == kind).map(|(_, s)| *s);
    let tie = |p: f64, n: f64| (p - n).abs() <= 1e-12 * p.abs().max(n.abs());
    let win = |p: f64, n: f64| if tie(p, n) { 0.5 } else { f64::from(u8::from(p > n)) };
    let wins = |p: f64| of(false).map(|n| win(p, n)).sum::<f64>();
    let pairs = of(true).count() * of(false).count();
    (pairs > 0).then(|| of(true).map(wins).sum::<f64>() / pairs as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_area_is_the_share_of_pairs_in_order() {
        assert_eq!(auc(&[true, false, false, true], &[0.9, 0.1, 0.9 + 1e-15, 0.0]), Some(0.375));
        assert_eq!(auc(&[true], &[1.0]), None);
    }
}
