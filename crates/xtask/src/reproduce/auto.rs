//! `auto` as a whole on the five sets that papers compare on: accuracy, area under the ROC curve and time of nested cross-validation
//! over five partitions, and what the outer folds chose. Beside the best single method on the folds of one partition, also on other
//! sets. And random labels. All methods that it chooses from, on all sets at hand, are a section of their own.

use std::collections::BTreeMap;
use std::path::Path;

use anyhow::{Context as _, Result};
use serde_json::Value;

use super::cli::{Cli, number};
use super::section::{Section, Table};
use super::{leakage, mean, percent};
use crate::run::{data_file, say, target};
use crate::weka::children_seconds;

/// Sets, and the best of the honest figures that were published for each (ten times 10-fold with inner tuning): accuracy, area.
const SETS: [(&str, f64, f64); 5] = [
    ("musk1", 90.1, 95.6),
    ("musk2", 92.4, 97.5),
    ("elephant", 88.3, 95.0),
    ("fox", 68.2, 73.9),
    ("tiger", 85.2, 92.6),
];

/// Partitions; what `auto` is was settled on others.
const SEEDS: std::ops::Range<u64> = 0..5;

/// Further sets, of other kinds.
const OTHERS: [&str; 8] = [
    "protein",
    "text_alt_atheism",
    "text_comp_graphics",
    "text_sci_med",
    "birds_brown_creeper",
    "mutagenesis_atoms",
    "webmining1",
    "image1000",
];

/// Sets of yet other kinds, for single methods only.
const MORE: [&str; 4] = ["mutagenesis_bonds", "mutagenesis_chains", "webmining4", "webmining7"];

/// What `auto` chooses from, each with its own scaling here.
const SINGLE: [&str; 10] =
    ["simple-mi", "citation-knn", "mi-boost", "mi-kernel", "mind", "mi-fv", "miles", "emd", "migraph", "isk"];

pub(super) fn run(cli: &Cli) -> Result<Section> {
    let headings =
        ["set", "accuracy", "AUC", "published", "published AUC", "CPU s a run", "chosen by outer folds"];
    let mut table = Table::new(&headings);
    let mut beside =
        Table::new(&["set", "auto", "AUC", "best single method", "accuracy", "AUC", "chosen by outer folds"]);
    let (mut accuracies, mut areas, mut total) = (Vec::new(), Vec::new(), 0.0);
    for (name, accuracy, area) in SETS {
        let Ok(file) = data_file(name) else {
            let mut row = vec![name.to_string(), "missing".into()];
            row.resize(headings.len(), String::new());
            table.row(row);
            continue;
        };
        let (mut right, mut under, mut chosen) = (Vec::new(), Vec::new(), BTreeMap::new());
        let mut seconds = 0.0;
        for seed in SEEDS {
            let (answer, taken) = evaluated(cli, name, &file, "auto", seed)?;
            seconds += taken;
            if seed == SEEDS.start {
                beside.row(beside_single(cli, name, &file, &answer)?);
            }
            right.push(number(&answer, "/accuracy/mean")?);
            under.push(number(&answer, "/roc_auc/mean")?);
            count_choices(&answer, &mut chosen)?;
        }
        total += seconds;
        let seconds = seconds / SEEDS.count() as f64;
        accuracies.push(mean(&right));
        areas.push(mean(&under));
        table.row(vec![
            name.into(),
            percent(mean(&right)),
            percent(mean(&under)),
            format!("{accuracy:.1}"),
            format!("{area:.1}"),
            format!("{seconds:.0}"),
            shares(&chosen),
        ]);
    }
    if accuracies.len() == SETS.len() {
        let published = |of: fn(&(&str, f64, f64)) -> f64| mean(&SETS.iter().map(of).collect::<Vec<_>>());
        table.row(vec![
            "mean".into(),
            percent(mean(&accuracies)),
            percent(mean(&areas)),
            format!("{:.1}", published(|s| s.1)),
            format!("{:.1}", published(|s| s.2)),
            String::new(),
            String::new(),
        ]);
    }
    for name in OTHERS {
        match data_file(name) {
            Ok(file) => {
                let (answer, _) = evaluated(cli, name, &file, "auto", SEEDS.start)?;
                beside.row(beside_single(cli, name, &file, &answer)?);
            }
            Err(_) => beside.row([name, "missing", "", "", "", "", ""].map(String::from).to_vec()),
        }
    }
    let mut section = Section::default();
    section.seconds = Some((total, "CPU s for the first table"));
    section.add(
        "Nested 10-fold with inner 5-fold, mean over seeds 0 to 4: everything that auto chooses is chosen in each outer fold anew. The \
         published figures are each by another method, the best on that set."
            .to_string(),
        table,
    );
    section.add(
        format!(
            "The same for seed {} alone, beside the best of the single methods on the same folds, each tuned on inner folds and with \
             its own scaling. That method was chosen by these very folds, which is to its advantage.",
            SEEDS.start
        ),
        beside,
    );
    section.add(
        "Labels that mean nothing, half of each: 40 bags of 3 to 6 instances with 200 features of noise, mean over 20 data sets with \
         its 95 % interval (chance is 50)."
            .to_string(),
        leakage::of_auto(cli)?,
    );
    Ok(section)
}

/// Every method that `auto` chooses from on every set at hand, for those who choose one themselves.
pub(super) fn single_methods(cli: &Cli) -> Result<Section> {
    let headings: Vec<&str> =
        ["set", "bags", "instances a bag", "features"].into_iter().chain(SINGLE).collect();
    let (mut accuracies, mut areas) = (Table::new(&headings), Table::new(&headings));
    let mut times = Table::new(&headings);
    let mut total = 0.0;
    for name in SETS.map(|s| s.0).into_iter().chain(OTHERS).chain(MORE) {
        let Ok(file) = data_file(name) else {
            let mut row = vec![String::new(); headings.len()];
            (row[0], row[1]) = (name.into(), "missing".into());
            for table in [&mut accuracies, &mut areas, &mut times] {
                table.row(row.clone());
            }
            continue;
        };
        let shape = shape(cli, name, &file)?;
        let mut rows = [shape.clone(), shape.clone(), shape];
        for method in SINGLE {
            let (answer, seconds) = evaluated(cli, name, &file, method, SEEDS.start)?;
            total += seconds;
            rows[0].push(cell(&answer, "accuracy"));
            rows[1].push(cell(&answer, "roc_auc"));
            rows[2].push(format!("{seconds:.1}"));
        }
        let [right, under, taken] = rows;
        accuracies.row(with_best(right));
        areas.row(with_best(under));
        times.row(taken);
    }
    let mut section = Section::default();
    section.seconds = Some((total, "CPU s"));
    section.add("Accuracy in percent:", accuracies);
    section.add("Area under the ROC curve in percent:", areas);
    section.add("CPU seconds of the whole evaluation:", times);
    Ok(section)
}

/// The name of a set, its numbers of bags and features, and the mean number of instances in a bag.
fn shape(cli: &Cli, name: &str, file: &Path) -> Result<Vec<String>> {
    let found = cli.json(&["inspect"], &[file])?;
    let (bags, mean) = (number(&found, "/bags")?, number(&found, "/bag_sizes/mean")?);
    Ok(vec![name.into(), bags.to_string(), format!("{mean:.1}"), number(&found, "/attributes")?.to_string()])
}

/// The largest of the numbers behind the shape in bold.
fn with_best(mut row: Vec<String>) -> Vec<String> {
    let value = |cell: &String| cell.parse::<f64>().unwrap_or(f64::NEG_INFINITY);
    let most = row[4..].iter().map(value).fold(f64::NEG_INFINITY, f64::max);
    for cell in row[4..].iter_mut().filter(|cell| value(cell) == most) {
        *cell = format!("**{cell}**");
    }
    row
}

/// What a run printed, and its seconds on the processor. The figures are said at once. All runs together take more than an hour:
/// answers stay under `target/auto` in a folder for each program, and what is there is not computed again.
fn evaluated(cli: &Cli, name: &str, file: &Path, method: &str, seed: u64) -> Result<(Value, f64)> {
    let folder = target().join("auto").join(cli.digest()?);
    let known = folder.join(format!("{name}-{method}-{seed}.json"));
    let (answer, seconds) = match std::fs::read(&known) {
        Ok(text) => serde_json::from_slice(&text).with_context(|| known.display().to_string())?,
        Err(_) => {
            let before = children_seconds();
            let answer = (cli.evaluate(file, method, seed, &[])?, children_seconds() - before);
            std::fs::create_dir_all(&folder)?;
            std::fs::write(&known, serde_json::to_vec(&answer)?)?;
            answer
        }
    };
    let [accuracy, area] = ["accuracy", "roc_auc"].map(|metric| cell(&answer, metric));
    say(&format!("{name}, {method}, seed {seed}: {accuracy} {area} in {seconds:.0} CPU s"));
    Ok((answer, seconds))
}

/// A metric in percent, if the run has it.
fn cell(answer: &Value, metric: &str) -> String {
    number(answer, &format!("/{metric}/mean")).map_or_else(|_| "–".into(), percent)
}

/// The row of a set: `auto`, the most accurate single method, and what the folds of `auto` chose.
fn beside_single(cli: &Cli, name: &str, file: &Path, auto: &Value) -> Result<Vec<String>> {
    let mut best: Option<(f64, &str, Value)> = None;
    for method in SINGLE {
        let answer = evaluated(cli, name, file, method, SEEDS.start)?.0;
        let accuracy = number(&answer, "/accuracy/mean")?;
        if best.as_ref().is_none_or(|(most, ..)| accuracy > *most) {
            best = Some((accuracy, method, answer));
        }
    }
    let (_, method, single) = best.context("no single method")?;
    let mut chosen = BTreeMap::new();
    count_choices(auto, &mut chosen)?;
    Ok(vec![
        name.into(),
        cell(auto, "accuracy"),
        cell(auto, "roc_auc"),
        method.into(),
        cell(&single, "accuracy"),
        cell(&single, "roc_auc"),
        shares(&chosen),
    ])
}

/// Adds what each outer fold of a run chose.
fn count_choices(answer: &Value, chosen: &mut BTreeMap<String, usize>) -> Result<()> {
    let records =
        answer.get("chosen").and_then(Value::as_array).context("no choices in what evaluate printed")?;
    for parameters in records {
        let text = |key: &str| parameters.get(key).and_then(Value::as_str);
        let method = text("method").context("a choice without a method")?;
        let name = text("members").map_or(method.to_string(), |members| members.replace(", ", "+"));
        *chosen.entry(name).or_insert(0) += 1;
    }
    Ok(())
}

/// The three most frequent choices, in shares of the folds.
fn shares(chosen: &BTreeMap<String, usize>) -> String {
    let total: usize = chosen.values().sum();
    let mut order: Vec<(&String, &usize)> = chosen.iter().collect();
    order.sort_by(|a, b| b.1.cmp(a.1).then(a.0.cmp(b.0)));
    let one =
        |(name, count): &(&String, &usize)| format!("{name} {:.0} %", 100.0 * **count as f64 / total as f64);
    let mut text = order.iter().take(3).map(one).collect::<Vec<_>>().join(", ");
    if order.len() > 3 {
        text += &format!(", {} others", order.len() - 3);
    }
    text
}
