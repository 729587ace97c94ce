//! What a first user met: messages that have to explain a result, or that are typed again as they are printed.

mod common;

use common::{bagwise, done, folder, json, text};
use std::fmt::Write as _;
use std::path::Path;

/// A table of 60 bags in 12 groups; bags of class 1 are in the first `groups` of them.
fn few_actives(at: &Path, groups: usize) {
    let mut table = String::from("mol,active,scaffold,x,y\n");
    for bag in 0..60 {
        let active = u8::from(bag % 12 < groups && bag % 24 < 12);
        for instance in 0..3 {
            let noise = f64::from((bag * 37 + instance * 61) as u32 % 100) / 100.0;
            let (x, y) = (f64::from(active) + 2.0 * noise, noise * noise);
            writeln!(table, "m{bag},{active},s{},{x:.3},{y:.3}", bag % 12).unwrap();
        }
    }
    std::fs::write(at.join("few.csv"), table).unwrap();
}

const READ: &str = "few.csv --bag mol --label active --group scaffold";

#[test]
fn folds_that_lack_a_class_are_explained() {
    let folder = folder();
    let said = |groups: usize, more: &str| {
        few_actives(folder.path(), groups);
        let line = format!("evaluate {READ} --method mi-kernel -p c=1 {more}");
        text(&done(folder.path(), &line).stderr).to_string()
    };
    let four = said(4, "");
    assert!(
        four.contains(
            "warning: 6 of 10 folds have test bags of one class only: class 1 is in 4 of 12 groups, and groups are never split; \
             roc_auc rests on the other folds; use at most 4 folds with --folds, or name other groups with --group COLUMN"
        ),
        "{four}"
    );
    assert!(!said(4, "--folds 4").contains("of one class only"), "what is advised helps");
    let two = said(2, "");
    assert!(two.contains("2 of 10 folds have a single training group of class 1"), "{two}");
    assert!(two.contains("no number of folds helps; add bags of class 1 from more groups"), "{two}");
    let one = said(1, "");
    assert!(
        one.contains(", and 1 of 10 folds has no training bag of class 1: class 1 is in 1 of 12 groups"),
        "{one}"
    );
    assert!(!said(12, "").contains("of one class only"), "nothing is lacking");
    // Without groups there are few bags of the class, not few groups.
    let alone = "evaluate few.csv --bag mol --label active --ignore scaffold --method mi-kernel -p c=1";
    few_actives(folder.path(), 1);
    let said = text(&done(folder.path(), alone).stderr).to_string();
    assert!(
        said.contains("3 of 60 bags are of class 1; roc_auc rests on the other folds; use at most 3 folds"),
        "{said}"
    );
}

#[test]
#[cfg(unix)]
fn the_command_that_is_proposed_works_as_it_is_printed() {
    let folder = folder();
    let path = folder.path();
    few_actives(path, 1);
    // A column that says nothing of the label is all there is to learn from.
    let table = std::fs::read_to_string(path.join("few.csv")).unwrap();
    let noise = |at: usize| if at == 0 { "z".to_string() } else { (at % 7).to_string() };
    let rows: String = table.lines().enumerate().map(|(at, row)| format!("{row},{}\n", noise(at))).collect();
    std::fs::write(path.join("few.csv"), rows).unwrap();
    let line = format!("compare {READ} --ignore x --keep y --methods simple-mi --no-report -o out");
    let said = text(&done(path, &line).stdout).to_string();
    let command = said.split("check labels and features: ").nth(1).unwrap_or_else(|| panic!("{said}"));
    // Programs are not told to fit the constant either.
    assert_eq!(json(path, &line)["next"], command.trim());
    assert!(command.contains("--bag mol --label active --group scaffold"), "{command}");
    let shown = common::shell(path, command);
    assert_eq!(shown.status.code(), Some(0), "{command}: {}", text(&shown.stderr));
    assert!(text(&shown.stdout).contains("60 bags"), "{}", text(&shown.stdout));
}

#[test]
fn results_for_programs_have_the_warnings() {
    let folder = folder();
    let path = folder.path();
    // The label as a feature, bags that are there twice, and few groups with a class.
    few_actives(path, 4);
    let table = std::fs::read_to_string(path.join("few.csv")).unwrap();
    let leak = |row: &str| format!("{row},{}\n", row.split(',').nth(1).unwrap().replace("active", "outcome"));
    let copy = |row: &str| row.starts_with("m3,").then(|| format!("again-{}", leak(row)));
    let rows: String = table.lines().map(leak).chain(table.lines().filter_map(copy)).collect();
    std::fs::write(path.join("few.csv"), rows.replace("again-m3,1,s3", "again-m3,1,s4")).unwrap();
    let expected = ["outcome", "copy of an earlier one", "test bags of one class only"];
    let has_all = |found: &serde_json::Value| {
        let list = found["warnings"].as_array().unwrap_or_else(|| panic!("{found}"));
        for part in expected {
            assert!(list.iter().any(|w| w.as_str().unwrap().contains(part)), "{part}: {list:?}");
        }
    };
    let method = "mi-kernel -p c=1 -p gamma=1";
    has_all(&json(path, &format!("evaluate {READ} --method {method} -o one -q")));
    has_all(&serde_json::from_slice(&std::fs::read(path.join("one/summary.json")).unwrap()).unwrap());
    has_all(&json(path, &format!("compare {READ} --methods {method} -o several --no-report")));
    has_all(&serde_json::from_slice(&std::fs::read(path.join("several/summary.json")).unwrap()).unwrap());
    // Of good data there is nothing to say.
    let quiet = json(path, "evaluate musk1 --method simple-mi -p c=1 -p gamma=1");
    assert_eq!(quiet["warnings"], serde_json::json!([]), "{quiet}");
}

#[test]
fn scores_from_elsewhere_are_placed_and_their_sense_is_checked() {
    let folder = folder();
    let path = folder.path();
    few_actives(path, 12);
    let compare = format!(
        "compare {READ} --methods simple-mi -p simple-mi.c=1 -p simple-mi.gamma=1 --folds 3 --no-report"
    );
    done(path, &format!("{compare} -o first"));
    let all = std::fs::read_to_string(path.join("first/predictions.csv")).unwrap();
    let own: Vec<Vec<String>> = all
        .lines()
        .filter(|line| line.contains(",simple-mi,") || line.starts_with("bag,"))
        .map(|line| line.split(',').map(String::from).collect())
        .collect();
    let at = |name: &str| own[0].iter().position(|column| column == name).unwrap();
    // All rows with another cell, where there is one.
    let write = |column: &str, end: &str, cell: &dyn Fn(usize, &str) -> Option<String>| {
        let mut rows = own.clone();
        for (line, row) in rows.iter_mut().enumerate().skip(1) {
            let changed = cell(line + 1, &row[at(column)]);
            row[at(column)] = changed.unwrap_or_else(|| row[at(column)].clone());
        }
        let text: String = rows.iter().map(|row| row.join(",") + end).collect();
        std::fs::write(path.join("mine.csv"), text).unwrap();
    };
    let with = format!("{compare} --with mine=mine.csv -o second");
    let refused = || {
        let output = bagwise(path, &with.split(' ').collect::<Vec<_>>());
        assert_eq!(output.status.code(), Some(2));
        text(&output.stderr).to_string()
    };
    for end in ["\n", "\r\n"] {
        write("score", end, &|line, _| (line == 7).then(|| "high".into()));
        let said = refused();
        assert!(said.contains("mine.csv, line 7: score 'high' is not a finite number"), "{said}");
    }
    // Lines without cells are passed over, rows with too few are not.
    let append = |more: &str| {
        write("score", "\r\n", &|_, _| None);
        let text = std::fs::read_to_string(path.join("mine.csv")).unwrap() + more;
        std::fs::write(path.join("mine.csv"), text).unwrap();
    };
    append("\r\n\r\n");
    done(path, &with.replace("second", "blank"));
    append("M1,0\r\n");
    let said = refused();
    let expected = format!("mine.csv, line {}: 2 cells; the first row has {}", own.len() + 1, own[0].len());
    assert!(said.contains(&expected), "{said}");
    write("probability", "\n", &|line, _| (line == 7).then(|| "1.5".into()));
    let said = refused();
    assert!(said.contains("mine.csv, line 7: the probability 1.5 is not between 0 and 1"), "{said}");
    // A score of the other class is no error, but makes a ROC AUC that is one minus the right one.
    let warned = |sign: f64| {
        write("score", "\n", &|_, score| Some((sign * score.parse::<f64>().unwrap()).to_string()));
        let folder = format!("{compare} --with mine=mine.csv -o sign{sign}");
        json(path, &folder)["warnings"].to_string()
    };
    let turned = warned(-1.0);
    assert!(turned.contains("mine: bags that are predicted as 1 have lower scores than others"), "{turned}");
    let right = warned(1.0);
    assert!(!right.contains("lower scores"), "{right}");
}

#[test]
fn classes_from_elsewhere_have_no_roc_auc() {
    let folder = folder();
    let path = folder.path();
    let compare = "compare musk1 --methods simple-mi -p simple-mi.c=1 --folds 3";
    done(path, &format!("{compare} --no-report -o first"));
    let all = std::fs::read_to_string(path.join("first/predictions.csv")).unwrap();
    // bag, group, fold, actual, score, probability, predicted, method, repeat
    let own = all.lines().map(|l| l.split(',').collect::<Vec<_>>()).filter(|l| l[7] == "simple-mi");
    let rows: String = own.map(|l| format!("{},{},{}\n", l[0], l[2], l[6])).collect();
    std::fs::write(path.join("mine.csv"), format!("bag,fold,predicted\n{rows}")).unwrap();
    let with = format!("{compare} --with mine=mine.csv -o second");
    let output = done(path, &with);
    let said = text(&output.stdout);
    let why = "no value for roc_auc of mine: it needs scores, and only classes were predicted";
    assert!(said.contains(why), "{said}");
    let found = json(path, &with);
    let of = |name: &str| found["methods"].as_array().unwrap().iter().find(|m| m["method"] == name).unwrap();
    assert_eq!(of("mine")["accuracy"], of("simple-mi")["accuracy"]);
    for metric in ["roc_auc", "pr_auc"] {
        assert!(of("mine")[metric]["mean"].is_null() && of("simple-mi")[metric]["mean"].is_number());
    }
    // Where it decides, such a method has no value and is not the best.
    let decided = json(path, &format!("{compare} --with mine=mine.csv --optimize roc_auc -o third"));
    assert_ne!(decided["best"], "mine", "{decided}");
}

/// A table of 40 bags that one column tells apart; every value of it is multiplied.
fn easy(at: &Path, name: &str, factor: f64) {
    let mut table = String::from("bag,label,group,x,y\n");
    for bag in 0..40 {
        for instance in 0..3 {
            let x = f64::from(bag % 2 * 5) + f64::from(instance) * 0.1 + f64::from(bag) * 0.01;
            let y = f64::from(bag * 7 % 11);
            writeln!(table, "b{bag},{},{},{},{y}", bag % 2, bag / 4, x * factor).unwrap();
        }
    }
    std::fs::write(at.join(name), table).unwrap();
}

const FIT: &str = "--label label --method simple-mi -p c=1 -p gamma=1";

#[test]
fn no_error_is_not_certainty() {
    let folder = folder();
    let path = folder.path();
    easy(path, "easy.csv", 1.0);
    done(path, &format!("fit easy.csv {FIT} --ignore group -o m.bagwise"));
    let found = json(path, "evaluate --model m.bagwise easy.csv");
    let low = |metric: &str| found[metric]["interval"]["low"].as_f64().unwrap_or_else(|| panic!("{found}"));
    assert_eq!(
        (found["mcc"]["mean"].as_f64(), found["mcc"]["interval"]["high"].as_f64()),
        (Some(1.0), Some(1.0))
    );
    // Wilson's interval for 20 of 20 begins at 0.8389. With as many errors in both classes of equal size, MCC is 2 * 0.8389 - 1.
    for (metric, expected) in
        [("recall", 0.8389), ("balanced_accuracy", 0.8389), ("mcc", 0.6778), ("kappa", 0.6778)]
    {
        assert!((low(metric) - expected).abs() < 1e-4, "{metric}: {}", low(metric));
    }
    // A class of one bag that is right says little, however many bags the other class has: Wilson's interval for 1 of 1 begins at
    // 0.2065, and 25 of 29 are right.
    let row =
        |b: usize| format!("n{b},{},{},{}\n", usize::from(b == 0), if b < 5 { 5.3 } else { 0.3 }, b * 7 % 11);
    let rows: String = (0..30).map(row).collect();
    std::fs::write(path.join("rare.csv"), format!("bag,label,x,y\n{rows}")).unwrap();
    let found = json(path, "evaluate --model m.bagwise rare.csv");
    for (metric, expected) in [("recall", 0.2065), ("balanced_accuracy", (0.2065 + 25.0 / 29.0) / 2.0)] {
        let low = found[metric]["interval"]["low"].as_f64().unwrap_or_else(|| panic!("{found}"));
        assert!((low - expected).abs() < 1e-4, "{metric}: {low}");
    }
    // A constant has an MCC of 0 whatever the bags are, so nothing is better than it by more than 1.
    let compared = json(path, "compare easy.csv --methods simple-mi --optimize mcc --no-report -o out");
    let best = compared["methods"].as_array().unwrap().iter().find(|m| m["method"] == "simple-mi").unwrap();
    let against = &best["against_constant"];
    assert!(against["low"].as_f64().unwrap() > 0.5 && against["high"].as_f64().unwrap() <= 1.0, "{against}");
}

#[test]
fn a_gap_in_data_to_predict_is_named_by_line_and_column() {
    let folder = folder();
    let path = folder.path();
    easy(path, "easy.csv", 1.0);
    done(path, &format!("fit easy.csv {FIT} -o m.bagwise"));
    let table = std::fs::read_to_string(path.join("easy.csv")).unwrap();
    let mut lines: Vec<String> = table.lines().map(String::from).collect();
    let cells: Vec<&str> = lines[4].split(',').collect();
    lines[4] = [cells[0], cells[1], cells[2], "", cells[4]].join(",");
    std::fs::write(path.join("gap.csv"), lines.join("\n")).unwrap();
    for line in [
        "predict m.bagwise gap.csv",
        "predict m.bagwise gap.csv --stream",
        "evaluate --model m.bagwise gap.csv",
    ] {
        let output = bagwise(path, &line.split(' ').collect::<Vec<_>>());
        let said = text(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{line}: {said}");
        let expected = "gap.csv, line 5: bag 'b1' has no value for 'x', and the model was trained on data without missing values; \
                        fill it in, drop the row, or train a model that fills in medians with --missing median";
        assert!(said.contains(expected), "{line}: {said}");
    }
    // A model that fills gaps does so.
    done(path, &format!("fit easy.csv {FIT} --missing median -o filling.bagwise"));
    done(path, "predict filling.bagwise gap.csv");
}

#[test]
fn the_beginning_of_a_metric_is_completed() {
    let folder = folder();
    let output = bagwise(folder.path(), &["evaluate", "musk1", "--method", "simple-mi", "--optimize", "acc"]);
    assert!(text(&output.stderr).contains("did you mean 'accuracy'?"), "{}", text(&output.stderr));
}

#[test]
fn another_unit_is_noticed_in_both_directions() {
    let folder = folder();
    let path = folder.path();
    easy(path, "easy.csv", 1.0);
    done(path, &format!("fit easy.csv {FIT} -o m.bagwise"));
    let said = |factor: f64, more: &str| {
        easy(path, "new.csv", factor);
        text(&done(path, &format!("predict m.bagwise new.csv{more}")).stderr).to_string()
    };
    for (factor, words) in [(0.001, "1000 times less"), (10.0, "10 times more"), (1000.0, "1000 times more")]
    {
        let expected =
            format!("warning: 'x' varies about {words} than in training; check that it has the same unit");
        assert!(said(factor, "").contains(&expected), "{factor}: {}", said(factor, ""));
    }
    assert!(said(1000.0, " --stream").contains("1000 times more"), "{}", said(1000.0, " --stream"));
    for factor in [0.5, 1.0, 2.0] {
        assert!(!said(factor, "").contains("varies about"), "{factor}");
    }
}

#[test]
fn a_model_is_not_scored_on_other_data_without_a_word() {
    let folder = folder();
    let path = folder.path();
    easy(path, "easy.csv", 1.0);
    easy(path, "metres.csv", 1000.0);
    done(path, &format!("fit easy.csv {FIT} -o m.bagwise"));
    let found = json(path, "evaluate --model m.bagwise metres.csv");
    let warnings = found["warnings"].to_string();
    assert!(warnings.contains("'x' varies about 1000 times more than in training"), "{warnings}");
    assert!(warnings.contains("bags are unfamiliar"), "{warnings}");
    // A column of gaps alone is not what the model was trained on either.
    let table = std::fs::read_to_string(path.join("easy.csv")).unwrap();
    let at = table.lines().next().unwrap().split(',').position(|name| name == "x").unwrap();
    let without = |(i, line): (usize, &str)| {
        let cells = line.split(',').enumerate().map(|(k, cell)| if i > 0 && k == at { "" } else { cell });
        cells.collect::<Vec<_>>().join(",") + "\n"
    };
    std::fs::write(path.join("gaps.csv"), table.lines().enumerate().map(without).collect::<String>())
        .unwrap();
    done(path, &format!("fit easy.csv {FIT} --missing median -o filling.bagwise"));
    let said = text(&done(path, "predict filling.bagwise gaps.csv").stderr).to_string();
    assert!(said.contains("of 'x' are missing and were filled in with the median of training"), "{said}");
}

#[test]
fn the_width_of_a_linear_kernel_is_at_no_end_of_a_grid() {
    let folder = folder();
    easy(folder.path(), "easy.csv", 1.0);
    let line = "evaluate easy.csv --label label --method sil -p kernel=linear -p c=1 --folds 3 --inner 2";
    let said = text(&done(folder.path(), line).stderr).to_string();
    assert!(!said.contains("at the end of the grid"), "{said}");
}
