//! Predictions one can act on: models that remember how their data are read, their cards, external validation, sets and
//! intervals with a chosen coverage, explanations of what was predicted, and that every `next:` line works as it is printed.

mod common;

use std::collections::HashMap;
use std::path::Path;

use common::{bagwise, done, folder, json, text};

/// Trains on the molecules of the documentation.
const FIT: &str = "fit molecules.csv --bag mol --label active --group scaffold --keep conformer --method mi-kernel \
                   -p gamma=1/median -p norm=mean -p c=10 --inner 3 -o m.bagwise";

fn table(folder: &Path, line: &str) -> Vec<HashMap<String, String>> {
    let output = done(folder, &format!("{line} --format csv"));
    csv::Reader::from_reader(&output.stdout[..]).deserialize().map(Result::unwrap).collect()
}

fn number(row: &HashMap<String, String>, column: &str) -> f64 {
    row[column].parse().unwrap_or_else(|_| panic!("{column} of {row:?}"))
}

fn refused(folder: &Path, line: &str) -> String {
    let output = bagwise(folder, &line.split_whitespace().collect::<Vec<_>>());
    assert_eq!(output.status.code(), Some(2), "bagwise {line}\n{}", text(&output.stdout));
    text(&output.stderr).to_string()
}

fn scores(folder: &Path, line: &str) -> Vec<String> {
    table(folder, line).iter().map(|row| row["score"].clone()).collect()
}

/// The molecules with the label of the bag changed.
fn relabelled(folder: &Path, name: &str, heading: &str, label: impl Fn(u32) -> String) {
    let text = std::fs::read_to_string(folder.join("molecules.csv")).unwrap();
    let line = |(i, line): (usize, &str)| match i {
        0 => format!("{line},{heading}\n"),
        _ => format!("{line},{}\n", label(line[1..3].parse().unwrap())),
    };
    std::fs::write(folder.join(name), text.lines().enumerate().map(line).collect::<String>()).unwrap();
}

#[test]
fn a_model_remembers_how_its_data_are_read() {
    let folder = folder();
    let path = folder.path();
    done(path, FIT);
    let with_options = scores(path, "predict m.bagwise new.csv --bag mol");
    assert_eq!(with_options.len(), 4);
    assert_eq!(scores(path, "predict m.bagwise new.csv"), with_options);
    // Explanations carry the remembered column.
    let rows = table(path, "explain m.bagwise new.csv");
    assert!(rows.iter().any(|row| !row["conformer"].is_empty()), "{rows:?}");

    // Columns that were given by number are remembered by name, so that a file without the label is read too.
    let heading = std::fs::read_to_string(path.join("molecules.csv")).unwrap();
    let at = |name: &str| 1 + heading.lines().next().unwrap().split(',').position(|c| c == name).unwrap();
    let numbered = format!(
        "fit molecules.csv --bag {} --label {} --group {} --keep {} --method mi-kernel -p gamma=1/median -p norm=mean -p c=10 \
         --inner 3 -o n.bagwise",
        at("mol"),
        at("active"),
        at("scaffold"),
        at("conformer")
    );
    done(path, &numbered);
    assert_eq!(scores(path, "predict n.bagwise new.csv"), with_options);

    // Another name for the bag is found if it is said, and missed if it is not.
    let renamed = std::fs::read_to_string(path.join("new.csv")).unwrap().replacen("mol", "molecule", 1);
    std::fs::write(path.join("renamed.csv"), renamed).unwrap();
    assert_eq!(scores(path, "predict m.bagwise renamed.csv --bag molecule"), with_options);
    let said = refused(path, "predict m.bagwise renamed.csv");
    assert!(said.contains("there is no column 'mol', which the model was trained with as the bag"), "{said}");
    assert!(said.contains("--bag COLUMN"), "{said}");
}

#[test]
fn a_model_remembers_tables_without_headings_and_their_dialect() {
    let folder = folder();
    let path = folder.path();
    let rows = |label: bool| -> String {
        let row = |i: usize| {
            let (bag, sign) = (i / 2, if (i / 2).is_multiple_of(2) { 1 } else { -1 });
            let x = format!("{},{}", sign * (3 + i as i64 % 3), i % 10);
            let label = if label { format!("{};", (bag % 2)) } else { String::new() };
            format!("site{};{label}b{bag};{x};{},5\n", bag % 3, i % 4)
        };
        (0..40).map(row).collect()
    };
    std::fs::write(path.join("train.txt"), rows(true)).unwrap();
    std::fs::write(path.join("new.txt"), rows(false)).unwrap();
    done(
        path,
        "fit train.txt --no-header --delimiter ; --decimal , --keep 1 --label 2 --bag 3 --input-format csv --method mi-kernel \
         -p gamma=1/median -p c=10 --inner 3 -o t.bagwise",
    );
    let labelled = scores(path, "predict t.bagwise train.txt --input-format csv");
    assert_eq!(labelled.len(), 20);
    // The label is missing here, so that the bag is the second column and not the third.
    assert_eq!(scores(path, "predict t.bagwise new.txt --input-format csv"), labelled);
    let kept = table(path, "predict t.bagwise new.txt --input-format csv");
    assert!(kept.iter().all(|row| row["column1"].starts_with("site")), "{kept:?}");
}

#[test]
fn a_card_tells_where_a_model_comes_from() {
    let folder = folder();
    let path = folder.path();
    done(path, FIT);
    let card = json(path, "show m.bagwise");
    assert_eq!(card["method"], "mi-kernel");
    assert_eq!((&card["data"]["bags"], &card["data"]["name"]), (&40.into(), &"molecules.csv".into()));
    assert_eq!(card["classes"], serde_json::json!(["0", "1"]));
    assert_eq!(card["estimate"]["optimistic"], false);
    assert_eq!(card["reading"]["bag"], "mol");
    assert_eq!(card["reading"]["keep"], serde_json::json!(["conformer"]));
    assert!(card["data"]["groups"].as_u64().unwrap() > 1);
    let classes: u64 =
        card["data"]["class_bags"].as_array().unwrap().iter().map(|n| n.as_u64().unwrap()).sum();
    assert_eq!(classes, 40);
    let bytes = std::fs::read(path.join("m.bagwise")).unwrap();
    let digest: String = bagwise_report::sha256(&bytes).iter().map(|b| format!("{b:02x}")).collect();
    assert_eq!(card["sha256"], digest.as_str());
    let page = text(&done(path, "show m.bagwise").stdout).to_string();
    for part in
        ["read with     --bag mol --label active --group scaffold --keep conformer", &digest, "bagwise 0."]
    {
        assert!(page.contains(part), "{part}\n{page}");
    }
    // A choice makes the estimate optimistic, and the card says of how much.
    done(path, &FIT.replace("-p c=10", "-p c=1,10").replace("m.bagwise", "two.bagwise"));
    let page = text(&done(path, "show two.bagwise").stdout).to_string();
    assert!(page.contains("optimistic, because the best of 2 parameter combinations was taken"), "{page}");
}

#[test]
fn predictions_go_to_a_file_with_the_probability_of_every_class() {
    let folder = folder();
    let path = folder.path();
    relabelled(path, "classes.csv", "kind", |bag| format!("kind {}", bag % 8));
    done(
        path,
        "fit classes.csv --bag mol --label kind --ignore active,scaffold,conformer --method simple-mi -p embed=mean -p c=1 \
         --inner 2 -o many.bagwise",
    );
    // People get a table that fits a screen; files have everything.
    let page = text(&done(path, "predict many.bagwise new.csv").stdout).to_string();
    assert!(page.lines().all(|line| line.chars().count() <= 100), "{page}");
    done(path, "predict many.bagwise new.csv -o out.csv");
    let rows: Vec<HashMap<String, String>> =
        csv::Reader::from_path(path.join("out.csv")).unwrap().deserialize().map(Result::unwrap).collect();
    assert_eq!(rows.len(), 4);
    for row in &rows {
        let sum: f64 = (0..8).map(|k| number(row, &format!("probability kind {k}"))).sum();
        assert!((sum - 1.0).abs() < 1e-9, "{row:?}");
    }
    // What is there is not overwritten, unless one insists; data and model never are.
    let said = refused(path, "predict many.bagwise new.csv -o out.csv");
    assert!(said.contains("--force"), "{said}");
    done(path, "predict many.bagwise new.csv -o out.csv --force");
    refused(path, "predict many.bagwise new.csv -o new.csv --force");
    done(path, "predict many.bagwise new.csv -o out.json");
    let found: serde_json::Value =
        serde_json::from_slice(&std::fs::read(path.join("out.json")).unwrap()).unwrap();
    assert_eq!(found.as_array().unwrap().len(), 4);
    assert_eq!(found[0]["probabilities"].as_object().unwrap().len(), 8);
    assert_eq!(found[0]["scores"].as_object().unwrap().len(), 28);
}

/// The command of a `next:` line.
fn next_of(said: &str) -> String {
    let line = said.lines().find_map(|line| line.split_once("next: ")).unwrap_or_else(|| panic!("{said}"));
    line.1.to_string()
}

/// Sources of commands that print a `next:` line, all of which the next test runs. A new one belongs into that test as well.
const WITH_NEXT: [&str; 3] = ["compare.rs", "fit.rs", "predict.rs"];

#[test]
fn no_other_command_prints_a_next_line() {
    let sources = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let (mut folders, mut found) = (vec![sources], Vec::new());
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if std::fs::read_to_string(&path).unwrap().contains("next: ") {
                found.push(path.file_name().unwrap().to_string_lossy().into_owned());
            }
        }
    }
    found.sort();
    assert_eq!(found, WITH_NEXT);
}

#[cfg(unix)]
#[test]
fn every_next_line_works_as_it_is_printed() {
    let folder = folder();
    let path = folder.path();
    relabelled(path, "numbers.csv", "y", |bag| format!("{}", f64::from(bag * 7 % 13) / 10.0 + 0.05));
    // Scaffolds are known, so this can be learned.
    let scaffolds: HashMap<u32, usize> = std::fs::read_to_string(path.join("molecules.csv"))
        .unwrap()
        .lines()
        .skip(1)
        .map(|line| (line[1..3].parse().unwrap(), line.split(',').nth(1).unwrap().len()))
        .collect();
    relabelled(path, "classes.csv", "a kind", |bag| match scaffolds[&bag] {
        ..=6 => "red".into(),
        7 => "green".into(),
        _ => "it's blue".into(),
    });
    relabelled(path, "folds.csv", "part", |bag| format!("p{}", bag % 4));
    let spaced = std::fs::read_to_string(path.join("molecules.csv")).unwrap().replace(',', ";");
    std::fs::write(path.join("semi colon.csv"), spaced).unwrap();
    let new = std::fs::read_to_string(path.join("new.csv")).unwrap().replace(',', ";");
    std::fs::write(path.join("new semi colon.csv"), new).unwrap();
    let quick = "--methods simple-mi -p simple-mi.c=1 --folds 3 --inner 2 --no-report";
    let runs = [
        format!("compare molecules.csv --bag mol --label active --group scaffold --keep conformer {quick}"),
        format!("compare numbers.csv --bag mol --label y --ignore active,scaffold,conformer --seed 3 {quick}"),
        format!("compare classes.csv --bag mol --label 'a kind' --ignore active,conformer --balanced {quick}"),
        format!("compare 'semi colon.csv' --bag mol --label active --ignore scaffold,conformer --delimiter ';' {quick}"),
        "compare folds.csv --bag mol --label active --ignore scaffold,conformer --fold-column part --methods simple-mi \
         --inner 2 --no-report"
            .into(),
        format!("compare molecules.csv --bag mol --label active --ignore scaffold,conformer --positive 0 --protocol kfold {quick}"),
    ];
    for (at, run) in runs.iter().enumerate() {
        let ran = common::shell(path, &format!("bagwise {run} -o run{at}"));
        assert_eq!(ran.status.code(), Some(0), "{run}\n{}", text(&ran.stderr));
        let next = next_of(text(&ran.stdout));
        assert!(next.starts_with("bagwise fit "), "{next}");
        let fitted = common::shell(path, &next);
        assert_eq!(fitted.status.code(), Some(0), "{next}\n{}", text(&fitted.stderr));
        let next = next_of(text(&fitted.stderr));
        assert!(next.contains(" NEW_DATA"), "{next}");
        // New bags, and those with labels.
        let data = run.split("--").next().unwrap().trim_start_matches("compare ").trim();
        // The model remembers the separator, and takes new data to have it too.
        let unlabelled = match data {
            "classes.csv" => "molecules.csv", // scaffolds are among its columns
            _ if data.starts_with('\'') => "'new semi colon.csv'",
            _ => "new.csv",
        };
        for new in [unlabelled, &other_bags(path, data)] {
            let next = next.replace("NEW_DATA", new);
            let predicted = common::shell(path, &next);
            assert_eq!(predicted.status.code(), Some(0), "{next}\n{}", text(&predicted.stderr));
            assert_eq!(
                text(&predicted.stderr).contains("next: "),
                new != unlabelled,
                "{}",
                text(&predicted.stderr)
            );
            if new != unlabelled {
                let next = next_of(text(&predicted.stderr));
                let judged = common::shell(path, &next);
                assert_eq!(judged.status.code(), Some(0), "{next}\n{}", text(&judged.stderr));
            }
        }
    }
}

/// A table like this one whose bags are others: of each line, the first number with a fraction has one digit more.
fn other_bags(path: &Path, table: &str) -> String {
    let text = std::fs::read_to_string(path.join(table.trim_matches('\''))).unwrap();
    let changed = text.lines().map(|line| match line.find('.') {
        Some(dot) => format!("{}7{}\n", &line[..dot + 1], &line[dot + 1..]),
        None => format!("{line}\n"),
    });
    std::fs::write(path.join("others.csv"), changed.collect::<String>()).unwrap();
    "others.csv".into()
}

#[test]
fn a_saved_model_is_judged_by_labelled_bags_from_elsewhere() {
    let folder = folder();
    let path = folder.path();
    // The bags with odd numbers train, the others judge.
    let all = std::fs::read_to_string(path.join("molecules.csv")).unwrap();
    let half = |odd: u32| -> String {
        let own = |(i, line): &(usize, &str)| *i == 0 || line[1..3].parse::<u32>().unwrap() % 2 == odd;
        all.lines().enumerate().filter(own).map(|(_, line)| format!("{line}\n")).collect()
    };
    std::fs::write(path.join("odd.csv"), half(1)).unwrap();
    std::fs::write(path.join("even.csv"), half(0)).unwrap();
    done(path, &FIT.replace("molecules.csv", "odd.csv"));
    let found = json(path, "evaluate --model m.bagwise even.csv -o judged");
    // The same numbers by hand.
    let truth: HashMap<String, String> = half(0)
        .lines()
        .skip(1)
        .map(|line| {
            let cells: Vec<&str> = line.split(',').collect();
            let at = |name: &str| all.lines().next().unwrap().split(',').position(|c| c == name).unwrap();
            (cells[at("mol")].to_string(), cells[at("active")].to_string())
        })
        .collect();
    let predictions = table(path, "predict m.bagwise even.csv");
    let right = predictions.iter().filter(|row| truth[&row["bag"]] == row["label"]).count();
    let accuracy = right as f64 / predictions.len() as f64;
    assert!((found["accuracy"]["mean"].as_f64().unwrap() - accuracy).abs() < 1e-12, "{found}");
    let brier: f64 = predictions
        .iter()
        .map(|row| (number(row, "probability 1") - truth[&row["bag"]].parse::<f64>().unwrap()).powi(2))
        .sum::<f64>()
        / predictions.len() as f64;
    assert!((found["brier"]["mean"].as_f64().unwrap() - brier).abs() < 1e-12, "{found}");
    let interval = &found["accuracy"]["interval"];
    let (low, high) = (interval["low"].as_f64().unwrap(), interval["high"].as_f64().unwrap());
    assert!(low < accuracy && accuracy < high && high - low > 0.05, "{found}");
    let bags: u64 =
        found["calibration"]["bins"].as_array().unwrap().iter().map(|b| b["bags"].as_u64().unwrap()).sum();
    assert_eq!(bags as usize, predictions.len());
    let page = std::fs::read_to_string(path.join("judged/report.html")).unwrap();
    assert!(page.contains("<h1>External validation of m.bagwise on even.csv</h1>"));
    // The model card is that of the model, not of a model of the new bags.
    assert!(
        page.contains("<dt>trained on</dt><dd>odd.csv: 20 bags, ") && !page.contains("on all bags"),
        "{page}"
    );
    // The same command again, and a report of the folder: a page is made of the folder alone.
    assert_eq!(json(path, "evaluate --model m.bagwise even.csv -o judged")["accuracy"], found["accuracy"]);
    done(path, "report judged -o again.html");
    let drawn = |name: &str| std::fs::read_to_string(path.join(name)).unwrap();
    assert!(drawn("judged/report.html") == drawn("again.html"));

    // Bags that it was trained on, classes that it does not know, no labels, another model in the same folder.
    let said = text(&done(path, "evaluate --model m.bagwise odd.csv").stderr).to_string();
    assert!(said.contains("20 of the 20 bags are in the training data of the model"), "{said}");
    done(path, "evaluate --model m.bagwise odd.csv -o known");
    let page = std::fs::read_to_string(path.join("known/report.html")).unwrap();
    assert!(page.contains("The model was trained on some of these bags, so every value is optimistic."));
    assert!(!page.contains("that had not seen it") && !page.contains("on bags not seen in training"));
    assert!(refused(path, "evaluate --model m.bagwise new.csv").contains("--label"));
    assert!(refused(path, "evaluate --model m.bagwise odd.csv -o judged").contains("another run"));
    assert!(refused(path, "evaluate --model m.bagwise even.csv --folds 3").contains("cannot be used with"));
    relabelled(path, "classes.csv", "kind", |bag| format!("kind {}", bag % 2));
    let said = refused(path, "evaluate --model m.bagwise classes.csv --label kind --ignore active");
    assert!(said.contains("class 'kind 0', which the model does not know; it knows 0, 1"), "{said}");
}

#[test]
fn sets_and_intervals_have_the_coverage_that_was_asked_for() {
    let folder = folder();
    let path = folder.path();
    let data = "synthetic:gauss?bags=80&features=3&distance=1.5&seed=1";
    let new = "synthetic:gauss?bags=200&features=3&distance=1.5&seed=2";
    let fit = "--method simple-mi -p embed=mean -p c=1 --inner 3";
    done(path, &format!("fit {data} {fit} --conformal=5 -o sure.bagwise"));
    done(path, &format!("fit {data} {fit} -o plain.bagwise"));
    let truth: Vec<String> = {
        done(path, &format!("convert {new} new-gauss.csv"));
        let mut reader = csv::Reader::from_path(path.join("new-gauss.csv")).unwrap();
        let rows: Vec<HashMap<String, String>> = reader.deserialize().map(Result::unwrap).collect();
        let mut seen: Vec<(String, String)> =
            rows.iter().map(|r| (r["bag"].clone(), r["label"].clone())).collect();
        seen.dedup();
        seen.into_iter().map(|(_, label)| label).collect()
    };
    let (mut sizes, mut observed) = (Vec::new(), 0.0);
    for coverage in [0.6, 0.9] {
        let output = done(path, &format!("predict sure.bagwise {new} --coverage {coverage} --format csv"));
        let said = text(&output.stderr).to_string();
        assert!(said.contains("usually contains the true value") && said.contains("1 - 2 alpha"), "{said}");
        let rows: Vec<HashMap<String, String>> =
            csv::Reader::from_reader(&output.stdout[..]).deserialize().map(Result::unwrap).collect();
        let held =
            rows.iter().zip(&truth).filter(|(row, t)| row["set"].split('|').any(|c| c == t.as_str())).count();
        let size: usize =
            rows.iter().map(|row| row["set"].split('|').filter(|c| !c.is_empty()).count()).sum();
        sizes.push(size);
        observed = held as f64 / 200.0;
        // Four standard errors of 200 bags, and those of the 80 that were learned from.
        assert!(held as f64 / 200.0 > coverage - 0.2, "{coverage}: {held}");
    }
    assert!(sizes[0] < sizes[1], "{sizes:?}");
    // External validation counts the same.
    let judged = json(path, &format!("evaluate --model sure.bagwise {new} -o covered"));
    let of = |key: &str| judged["coverage"][1][key].as_f64().unwrap();
    assert_eq!((of("requested"), of("observed"), of("size")), (0.9, observed, sizes[1] as f64 / 200.0));
    assert!(of("low") < observed && observed <= of("high"), "{judged}");
    assert!(std::fs::read_to_string(path.join("covered/report.html")).unwrap().contains("-coverage\""));
    assert!(json(path, &format!("evaluate --model plain.bagwise {new}")).get("coverage").is_none());
    // The rest of the predictions is that of the plain model.
    assert_eq!(
        scores(path, &format!("predict sure.bagwise {new}")),
        scores(path, &format!("predict plain.bagwise {new}"))
    );
    assert_eq!(json(path, "show sure.bagwise")["conformal_folds"], 5);
    let said = refused(path, &format!("predict plain.bagwise {new} --coverage 0.9"));
    assert!(said.contains("bagwise fit --conformal"), "{said}");
    // 80 bags reach 80/81, and those of a class about half as far.
    let said = refused(path, &format!("predict sure.bagwise {new} --coverage 0.99"));
    assert!(said.contains("needs at least 99 bags, and the model was trained on 80"), "{said}");
    assert!(said.contains("at most 0.987"), "{said}");
    done(path, &format!("predict sure.bagwise {new} --coverage 0.9 --per-class"));
    let said = refused(path, &format!("predict sure.bagwise {new} --coverage 0.985 --per-class"));
    assert!(said.contains("bags of class"), "{said}");

    // Numbers, in groups: the molecules have fewer scaffolds than bags.
    relabelled(path, "numbers.csv", "y", |bag| format!("{}", f64::from(bag * 7 % 13) / 10.0 + 0.05));
    done(
        path,
        "fit numbers.csv --bag mol --label y --group scaffold --ignore active,conformer --method simple-mi -p embed=mean -p c=1 \
         --inner 2 --conformal=4 -o numbers.bagwise",
    );
    let groups = json(path, "show numbers.bagwise")["data"]["groups"].as_u64().unwrap() as f64;
    let most = (1000.0 * groups / (groups + 1.0)).floor() / 1000.0;
    for row in table(path, &format!("predict numbers.bagwise new.csv --coverage {most}")) {
        let (low, high) = (number(&row, "low"), number(&row, "high"));
        assert!(low < high && low.is_finite() && high.is_finite(), "{row:?}");
    }
    let said = refused(path, "predict numbers.bagwise new.csv --coverage 0.99");
    assert!(said.contains("needs at least 99 groups"), "{said}");
}

#[test]
fn explanations_are_about_what_is_predicted() {
    let folder = folder();
    let path = folder.path();
    done(path, FIT);
    let predicted: HashMap<String, f64> = table(path, "predict m.bagwise molecules.csv")
        .iter()
        .map(|row| (row["bag"].clone(), number(row, "score")))
        .collect();
    let mut parts: HashMap<String, Vec<f64>> = HashMap::new();
    for row in table(path, "explain m.bagwise molecules.csv").iter().filter(|row| row["kind"] == "part") {
        parts.entry(row["bag"].clone()).or_default().push(number(row, "value"));
    }
    let mut negative = 0;
    for row in
        table(path, "explain m.bagwise molecules.csv --top 1").iter().filter(|row| row["kind"] == "part")
    {
        let (own, shown) = (&parts[&row["bag"]], number(row, "value"));
        let wanted = match predicted[&row["bag"]] > 0.0 {
            true => own.iter().copied().fold(f64::NEG_INFINITY, f64::max),
            false => own.iter().copied().fold(f64::INFINITY, f64::min),
        };
        negative += usize::from(predicted[&row["bag"]] <= 0.0);
        assert_eq!(shown, wanted, "{row:?}");
    }
    assert!(negative > 5 && negative < 35, "{negative}");
    // The bias is 0, and it is said why.
    let output = done(path, "explain m.bagwise new.csv");
    let said = text(&output.stderr).to_string();
    assert!(
        said.contains("the bias is 0 because the intercept of the model (") && said.contains("shared"),
        "{said}"
    );
    let rows = json(path, "explain m.bagwise new.csv");
    let bias = rows.as_array().unwrap().iter().find(|row| row["kind"] == "bias").unwrap();
    assert!(bias["shared_intercept"].is_f64() && bias["value"] == 0.0, "{bias}");

    // Several classes: one block for the predicted class, which adds up to the score.
    relabelled(path, "classes.csv", "kind", |bag| ["red", "green", "blue"][bag as usize % 3].into());
    for scheme in ["one-vs-one", "one-vs-rest"] {
        done(
            path,
            &format!(
                "fit classes.csv --bag mol --label kind --ignore active,scaffold,conformer --method mi-kernel -p gamma=1/median \
                 -p c=10 --inner 2 --multiclass {scheme} -o c.bagwise"
            ),
        );
        let rows = table(path, "explain c.bagwise new.csv");
        for prediction in table(path, "predict c.bagwise new.csv") {
            let own: Vec<&HashMap<String, String>> =
                rows.iter().filter(|row| row["bag"] == prediction["bag"]).collect();
            assert!(
                own.iter().all(|row| row["machine"] == format!("{} vs rest", prediction["label"])),
                "{own:?}"
            );
            let sum: f64 = own.iter().map(|row| number(row, "value")).sum();
            assert!((sum - number(&prediction, "score")).abs() < 1e-10, "{sum} {prediction:?}");
        }
        let machines: std::collections::BTreeSet<String> =
            table(path, "explain c.bagwise new.csv --machines")
                .iter()
                .map(|row| row["machine"].clone())
                .collect();
        assert_eq!(machines.len(), 3, "{scheme}");
    }
}

#[test]
fn explanations_can_be_drawn_on_a_map() {
    let folder = folder();
    let path = folder.path();
    let rows: String = (0..40)
        .map(|i| {
            let bag = i / 4;
            format!("s{bag},{},{},{},site{},{}\n", bag % 2, 256 * i, 512, bag % 2, (bag % 2) * 3 + i % 3)
        })
        .collect();
    std::fs::write(path.join("slides.csv"), format!("bag,label,x,y,site,f\n{rows}")).unwrap();
    done(
        path,
        "fit slides.csv --keep x,y,site --method mi-kernel -p gamma=1/median -p c=10 --inner 2 -o s.bagwise",
    );
    let output = done(path, "explain s.bagwise slides.csv --format geojson --tile 256 --top 2");
    let found: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(found["type"], "FeatureCollection");
    let features = found["features"].as_array().unwrap();
    assert_eq!(features.len(), 20);
    let (first, ring) = (&features[0], &features[0]["geometry"]["coordinates"][0]);
    assert_eq!(first["geometry"]["type"], "Polygon");
    assert_eq!(
        (ring[0][0].as_f64().unwrap() + 256.0, ring.as_array().unwrap().len()),
        (ring[1][0].as_f64().unwrap(), 5)
    );
    assert!(first["properties"]["part"].is_f64() && first["properties"]["site"].is_string(), "{first}");
    done(path, "explain s.bagwise slides.csv -o points.geojson");
    let found: serde_json::Value =
        serde_json::from_slice(&std::fs::read(path.join("points.geojson")).unwrap()).unwrap();
    assert_eq!(found["features"].as_array().unwrap().len(), 40);
    assert_eq!(found["features"][5]["geometry"]["coordinates"], serde_json::json!([1280.0, 512.0]));
    assert_eq!(found["features"][5]["properties"]["instance"], 2);
    // Without coordinates, and where there is nothing to draw.
    std::fs::write(path.join("plain.csv"), format!("bag,label,a,b,site,f\n{rows}")).unwrap();
    let said = refused(path, "explain s.bagwise plain.csv --format geojson");
    assert!(said.contains("there is no kept column 'x'") && said.contains("--coords"), "{said}");
    assert!(refused(path, "predict s.bagwise slides.csv --format geojson").contains("bagwise explain"));
}

#[test]
fn predictions_from_elsewhere_take_part_if_folds_bags_and_labels_are_the_same() {
    let folder = folder();
    let path = folder.path();
    let compare = "compare molecules.csv --bag mol --label active --group scaffold --keep conformer --methods mi-kernel \
                   -p mi-kernel.gamma=1/median -p mi-kernel.c=10 --folds 3 --inner 2 --no-report";
    done(path, &format!("{compare} -o first"));
    // Our own predictions under another name.
    let all = std::fs::read_to_string(path.join("first/predictions.csv")).unwrap();
    let own = |change: &dyn Fn(usize, &str) -> Option<String>| -> String {
        let mut text = format!("{}\n", all.lines().next().unwrap());
        let lines = all.lines().skip(1).filter(|line| line.contains(",mi-kernel,"));
        lines
            .enumerate()
            .filter_map(|(i, line)| change(i, line))
            .for_each(|line| text += &format!("{line}\n"));
        text
    };
    let write = |name: &str, text: String| std::fs::write(path.join(name), text).unwrap();
    write("same.csv", own(&|_, line| Some(line.replace(",mi-kernel,", ",mine,"))));
    let found = json(path, &format!("{compare} --with mine=same.csv -o second"));
    let of = |name: &str| {
        let methods = found["methods"].as_array().unwrap();
        let mut row = methods.iter().find(|m| m["method"] == name).unwrap().as_object().unwrap().clone();
        // Names and times differ, and so does what each is compared with.
        for key in ["method", "seconds", "against_best", "against_recommended", "ties_with_best"] {
            row.remove(key);
        }
        row
    };
    assert_eq!(of("mine"), of("mi-kernel"));
    // What cannot be trained here is not what comes next.
    assert!(!found["next"].as_str().unwrap().contains("--method mine"), "{}", found["next"]);
    // The same command goes on, and other predictions under the same name do not mix in.
    done(path, &format!("{compare} --with mine=same.csv -o second"));
    // Without them the folder's comparison is the one without them.
    let without = json(path, &format!("{compare} -o second"));
    assert!(without["methods"].as_array().unwrap().iter().all(|m| m["method"] != "mine"));

    let cell = |line: &str, at: usize, text: &str| {
        let mut cells: Vec<&str> = line.split(',').collect();
        cells[at] = text;
        cells.join(",")
    };
    let fold_of = |line: &str| line.split(',').nth(2).unwrap().parse::<usize>().unwrap();
    for (name, text, said) in [
        ("missing", own(&|i, line| (i != 5).then(|| line.to_string())), "has no prediction in fold"),
        (
            "twice",
            own(&|i, line| Some(if i == 5 { format!("{line}\n{line}") } else { line.into() })),
            "is predicted twice",
        ),
        (
            "folds",
            own(&|i, line| {
                Some(if i == 5 { cell(line, 2, &((fold_of(line) + 1) % 3).to_string()) } else { line.into() })
            }),
            "and this comparison tests it in fold",
        ),
        (
            "labels",
            own(&|i, line| Some(if i == 5 { cell(line, 3, "7") } else { line.into() })),
            "is 7 in the predictions and",
        ),
        (
            "bags",
            own(&|i, line| Some(if i == 5 { cell(line, 0, "M99") } else { line.into() })),
            "bag 'M99' is not in molecules.csv",
        ),
        (
            "classes",
            own(&|i, line| Some(if i == 5 { cell(line, 6, "maybe") } else { line.into() })),
            "is predicted as 'maybe'",
        ),
        (
            "numbers",
            own(&|i, line| Some(if i == 5 { cell(line, 4, "high") } else { line.into() })),
            "score 'high' is not a finite number",
        ),
        ("methods", all.clone(), "several methods, and none is called 'mine'"),
    ] {
        write(&format!("{name}.csv"), text);
        let message = refused(path, &format!("{compare} --with mine={name}.csv -o third"));
        assert!(message.contains(said), "{name}: {message}");
    }
    let message = refused(path, &format!("{compare} --with mi-kernel=same.csv -o third"));
    assert!(message.contains("'mi-kernel' cannot be the name"), "{message}");
    write("other.csv", own(&|i, line| Some(if i == 5 { cell(line, 4, "0.125") } else { line.into() })));
    let message = refused(path, &format!("{compare} --with mine=other.csv -o second"));
    assert!(message.contains("the folder has other predictions of mine"), "{message}");
}

#[test]
fn a_model_of_the_first_format_can_still_be_read() {
    let folder = folder();
    let path = folder.path();
    done(path, FIT);
    let (header, state) = bagwise::model::unpack(&std::fs::read(path.join("m.bagwise")).unwrap()).unwrap();
    let mut header: serde_json::Value = serde_json::from_str(&header).unwrap();
    header["format"] = 1.into();
    header.as_object_mut().unwrap().remove("reading");
    let training = header["training"].as_object_mut().unwrap();
    for new in ["class_bags", "groups", "fingerprint", "inner_folds", "methods", "points"] {
        assert!(training.remove(new).is_some(), "{new}");
    }
    std::fs::write(path.join("old.bagwise"), bagwise::model::pack(&header.to_string(), state).unwrap())
        .unwrap();
    assert_eq!(
        scores(path, "predict old.bagwise new.csv --bag mol"),
        scores(path, "predict m.bagwise new.csv")
    );
    assert_eq!(json(path, "show old.bagwise")["format"], 1);
}
