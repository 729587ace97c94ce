//! Reports as `compare` leaves them and `report` draws them again.

mod common;

use std::path::Path;

use common::{bagwise, done, folder, text};

const RUN: &str = "compare molecules.csv --bag mol --label active --group scaffold --keep conformer --methods mi-kernel \
                   -p mi-kernel.gamma=1/median -p mi-kernel.norm=mean --folds 4";

fn json(path: &Path) -> serde_json::Value {
    serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap()
}

#[test]
fn compare_writes_a_report_that_can_be_drawn_again() {
    let folder = folder();
    let at = |name: &str| folder.path().join(name);
    let output = done(folder.path(), &format!("{RUN} -o run"));
    assert!(text(&output.stdout).contains("\nreport: run/report.html\n"), "{}", text(&output.stdout));
    let page = std::fs::read_to_string(at("run/report.html")).unwrap();
    assert!(page.contains("M02") && page.contains("bagwise compare molecules.csv --bag mol"));
    done(folder.path(), "report run -o again.html");
    assert!(std::fs::read_to_string(at("again.html")).unwrap() == page, "the same records, the same page");
    done(folder.path(), "report run/records.jsonl --hide-ids -o hidden.html");
    let hidden = std::fs::read_to_string(at("hidden.html")).unwrap();
    assert!(hidden.contains(">bag 2<") && !hidden.contains("M02") && !hidden.contains("pyridine"));
    assert_eq!(json(&at("run/summary.json"))["report"], "run/report.html");

    done(folder.path(), &format!("{RUN} -o without --no-report"));
    assert!(!at("without/report.html").exists() && !at("without/report.json").exists());
    done(folder.path(), "report run without -o both.html --title Two");
    assert!(std::fs::read_to_string(at("both.html")).unwrap().contains("<h1>Two</h1>"));
    // One method's evaluation can be drawn as well.
    let one = RUN.replace("compare", "evaluate").replace("--methods", "--method").replace("mi-kernel.", "");
    done(folder.path(), &format!("{one} -o one"));
    done(folder.path(), "report one -o one.html");
    assert!(std::fs::read_to_string(at("one.html")).unwrap().contains("1 method on molecules.csv"));
}

#[test]
fn what_is_explained_was_not_trained_on_and_adds_up() {
    let folder = folder();
    done(folder.path(), &format!("{RUN} -o run"));
    let context = json(&folder.path().join("run/report.json"));
    let folds = json(&folder.path().join("run/folds.json"));
    let records = std::fs::read_to_string(folder.path().join("run/records.jsonl")).unwrap();
    let records: Vec<serde_json::Value> = records.lines().map(|l| serde_json::from_str(l).unwrap()).collect();
    let winner = &json(&folder.path().join("run/summary.json"))["best"];
    assert_eq!(winner, "mi-kernel", "the run was chosen so that the winner explains itself");
    let explained = context["explained"].as_array().unwrap();
    assert!(explained.len() >= 6, "{}", explained.len());
    for e in explained {
        let (bag, fold) = (&e["bag"], e["fold"].as_u64().unwrap() as usize);
        assert!(!folds["repeats"][0][fold]["train"].as_array().unwrap().contains(bag));
        let record =
            records.iter().find(|r| r["key"]["method"] == *winner && r["key"]["fold"] == fold).unwrap();
        let row = record["scored"]["bags"].as_array().unwrap().iter().position(|b| b == bag).unwrap();
        let (score, output) =
            (record["scored"]["scores"][row].as_f64().unwrap(), e["output"].as_f64().unwrap());
        // The solver stops at a tolerance of 1e-3, and its path over costs is not the same.
        assert!((score - output).abs() < 0.02 * (1.0 + score.abs()), "bag {bag}: {score} and {output}");
        let values = e["values"].as_array().unwrap();
        assert_eq!(values.len() as u64, e["instances"].as_u64().unwrap().min(8));
        let sum: f64 = values.iter().map(|v| v[1].as_f64().unwrap()).sum();
        assert!((e["bias"].as_f64().unwrap() + sum - output).abs() < 1e-9);
        assert!(e["kept"][0].as_str().unwrap().starts_with("conformer "));
    }
    let gram = &context["gram"];
    let n = gram["bags"].as_array().unwrap().len();
    assert_eq!((n, gram["levels"].as_array().unwrap().len()), (40, 1600));
}

#[test]
fn what_cannot_be_drawn_says_why() {
    let folder = folder();
    for (line, why) in [
        ("report nowhere", "nowhere: there is no such file"),
        ("report molecules.csv", "molecules.csv, line 1: not a record"),
        ("report", "<FOLDER>"),
        ("compare musk1 --no-report --hide-ids", "--hide-ids"),
    ] {
        let output = bagwise(folder.path(), &line.split(' ').collect::<Vec<_>>());
        let said = text(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{line}: {said}");
        assert!(said.contains(why), "{line}: {said}");
    }
}
