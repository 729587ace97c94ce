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
    // What a finished run knows is not lost to a command that had nothing left to do.
    let mut known = json(&at("run/report.json"));
    done(folder.path(), &format!("{RUN} -o run --no-report"));
    let mut again = json(&at("run/report.json"));
    assert!(again["seconds"].take().is_number() && known["seconds"].take().is_number());
    assert!(again == known);

    // What a page needs is there, drawn or not.
    done(folder.path(), &format!("{RUN} -o without --no-report"));
    assert!(!at("without/report.html").exists());
    let context = json(&at("without/report.json"));
    for part in ["gram", "data", "kept", "fit_command"] {
        assert!(!context[part].is_null() && context[part] == known[part], "{part}");
    }
    done(folder.path(), "report run without -o both.html --title Two");
    assert!(std::fs::read_to_string(at("both.html")).unwrap().contains("<h1>Two</h1>"));
    // One method's evaluation can be drawn as well.
    let one = RUN.replace("compare", "evaluate").replace("--methods", "--method").replace("mi-kernel.", "");
    done(folder.path(), &format!("{one} -o one"));
    done(folder.path(), "report one -o one.html");
    assert!(std::fs::read_to_string(at("one.html")).unwrap().contains("1 method on molecules.csv"));
}

#[test]
fn the_page_needs_no_data() {
    let folder = folder();
    let at = |name: &str| folder.path().join(name);
    done(folder.path(), &format!("{RUN} -o run"));
    let page = std::fs::read_to_string(at("run/report.html")).unwrap();
    assert!(page.contains("The instances that decided") && page.contains("conformer "));
    std::fs::remove_file(at("molecules.csv")).unwrap();
    std::fs::remove_file(at("run/report.html")).unwrap();
    std::fs::rename(at("run"), at("moved")).unwrap();
    done(folder.path(), "report moved -o again.html");
    assert!(std::fs::read_to_string(at("again.html")).unwrap() == page);
}

#[test]
fn what_is_explained_adds_up_and_is_named() {
    let folder = folder();
    done(folder.path(), &format!("{RUN} -o run"));
    let context = json(&folder.path().join("run/report.json"));
    let records = std::fs::read_to_string(folder.path().join("run/records.jsonl")).unwrap();
    let records: Vec<serde_json::Value> = records.lines().map(|l| serde_json::from_str(l).unwrap()).collect();
    assert_eq!(json(&folder.path().join("run/summary.json"))["best"], "mi-kernel");
    let list = |value: &serde_json::Value| value.as_array().unwrap().clone();
    let numbers = |parts: &serde_json::Value| list(parts).iter().map(|p| p[1].as_f64().unwrap()).sum::<f64>();
    let own = records.iter().filter(|r| r["key"]["method"] == "mi-kernel");
    let mut bags = 0;
    for record in own {
        let scores = list(&record["scored"]["scores"]);
        assert_eq!(list(&record["reasons"]).len(), scores.len());
        for (reason, score) in list(&record["reasons"]).iter().zip(&scores) {
            let rest = reason["r"][1].as_f64().unwrap_or(0.0);
            let output = reason["b"].as_f64().unwrap() + numbers(&reason["p"]) + rest;
            assert!((output - score.as_f64().unwrap()).abs() < 1e-9, "{output} and {score}");
            bags += 1;
        }
    }
    assert_eq!(bags, 40);
    assert_eq!(context["kept"]["name"], "conformer");
    let named = context["kept"]["values"].as_object().unwrap();
    assert!(named.len() >= 6 && named.values().all(|v| !v.as_object().unwrap().is_empty()));
    let gram = &context["gram"];
    let n = list(&gram["bags"]).len();
    assert_eq!((n, list(&gram["levels"]).len()), (40, 1600));
}

#[test]
fn a_page_says_what_the_run_did() {
    let folder = folder();
    let said = "--optimize f1 --level 0.9 --threshold recall=0.8 --folds 4 --inner 3";
    let table = "molecules.csv --bag mol --label active --group scaffold --keep conformer";
    let fixed = "gamma=1/median -p";
    done(folder.path(), &format!("evaluate {table} --method mi-kernel -p {fixed} c=10 {said} -o one"));
    let several = format!("compare {table} --methods mi-kernel -p mi-kernel.{fixed} mi-kernel.c=10 {said}");
    done(folder.path(), &format!("{several} --no-report -o two"));
    for (run, heading) in
        [("one", "mi-kernel on molecules.csv, evaluated by F1"), ("two", "best first by F1")]
    {
        done(folder.path(), &format!("report {run} -o page.html"));
        let page = std::fs::read_to_string(folder.path().join("page.html")).unwrap();
        for part in [
            heading,
            "90% interval",
            "The threshold follows the rule recall=0.8",
            "nested cross-validation, 4 folds, parameters chosen by 3 inner folds",
            "--optimize f1 --level 0.9",
        ] {
            assert!(page.contains(part), "{run}: no {part}");
        }
    }
}

#[test]
fn the_column_of_folds_is_no_name_of_instances() {
    let folder = folder();
    let run = "compare molecules.csv --bag mol --label active --methods mi-kernel -p mi-kernel.gamma=1/median \
               -p mi-kernel.norm=mean -p mi-kernel.c=10 --fold-column scaffold --inner 3";
    for (options, name) in [
        ("--ignore conformer", None),
        ("--keep conformer", Some("conformer")),
        // The same for all instances of a bag, so it tells none from another.
        ("--ignore conformer --keep scaffold", None),
    ] {
        done(folder.path(), &format!("{run} {options} -o {}", options.replace([' ', '-'], "")));
        let context = json(&folder.path().join(options.replace([' ', '-'], "")).join("report.json"));
        assert_eq!(context["kept"]["name"].as_str(), name, "{options}");
        let named = |value: &serde_json::Value| value.as_object().is_some_and(|values| !values.is_empty());
        assert_eq!(named(&context["kept"]["values"]), name.is_some(), "{options}");
    }
}

#[test]
fn the_folder_of_an_experiment_is_drawn_as_one_page_and_its_table_has_one_unit() {
    let folder = folder();
    let experiment = "title = 't'\nsource = 's'\nmetric = 'balanced_accuracy'\nmeasure = 'seconds'\npercent = true\n\
                      [protocol]\nname = 'kfold'\nfolds = 2\nrepeats = 2\n\
                      [[data]]\nname = 'a'\nread = 'synthetic:gauss?bags=12'\n\
                      [[data]]\nname = 'b'\nread = 'synthetic:gauss?bags=16'\n\
                      [[method]]\nname = 'M'\nmethod = 'simple-mi'\nprinted = { a = 1.5 }\n";
    std::fs::write(folder.path().join("times.toml"), experiment).unwrap();
    done(folder.path(), "run times.toml --no-report -o times");
    let table = json(&folder.path().join("times/table.json"));
    assert_eq!(table["measure"], "seconds");
    for line in table["results"].as_array().unwrap() {
        assert_eq!(line["mean"].as_f64().unwrap(), line["seconds"].as_f64().unwrap() / 2.0, "{line}");
        assert!(line["sd"].is_null());
    }
    done(folder.path(), "report times -o page.html");
    let page = std::fs::read_to_string(folder.path().join("page.html")).unwrap();
    assert!(page.contains("1 method on 2 data sets") && page.contains("balanced accuracy"));
    std::fs::create_dir(folder.path().join("empty")).unwrap();
    let output = bagwise(folder.path(), &["report", "empty"]);
    assert_eq!(output.status.code(), Some(2));
    let said = text(&output.stderr);
    assert!(said.contains("empty: no records found, neither here nor in its subfolders"), "{said}");
}

#[test]
fn the_page_of_an_experiment_begins_with_the_table_of_the_paper() {
    let folder = folder();
    let at = |name: &str| folder.path().join(name);
    let experiment = "title = 'Table 1'\nsource = 'somebody'\nmetric = 'accuracy'\npercent = true\nprinted = 'table.csv'\n\
                      facts = ['table.csv']\nnotes = ['a note']\n[protocol]\nname = 'kfold'\nfolds = 3\n\
                      [[data]]\nname = 'a'\nread = 'synthetic:gauss?bags=30&distance=3'\n\
                      [[data]]\nname = 'b'\nread = 'synthetic:gauss?bags=24&distance=3'\n\
                      [[data]]\nname = 'c'\nunavailable = 'it is not public'\n\
                      [[method]]\nname = 'M'\nmethod = 'simple-mi'\n\
                      [[method]]\nname = 'N'\nmethod = 'majority'\nincomparable = 'something else'\n\
                      [[method]]\nname = 'O'\nmethod = 'no-such-method'\n";
    let printed = "set,method,metric,value,spread,remark\na,M,accuracy_percent,200,0.6,\na,N,accuracy_percent,50,,\n\
                   b,O,accuracy_percent,77,,\nc,M,accuracy_percent,66,,\n(2 sets),M,average_rank,1.5,,\na,,bags,31,,misprint\n";
    std::fs::write(at("paper.toml"), experiment).unwrap();
    std::fs::write(at("table.csv"), printed).unwrap();
    let output = done(folder.path(), "run paper.toml -o out");
    assert!(text(&output.stderr).contains("no-such-method"), "{}", text(&output.stderr));
    let sentence = "Of 4 printed values: 1 below, 1 not comparable and 2 not run.";
    assert!(text(&output.stdout).contains(sentence), "{}", text(&output.stdout));
    let found = json(&at("out/table.json"));
    let verdict = |data: &str, name: &str| {
        let line =
            found["results"].as_array().unwrap().iter().find(|r| r["data"] == data && r["name"] == name);
        line.unwrap()["verdict"].as_str().unwrap().to_string()
    };
    assert_eq!(
        [verdict("a", "M"), verdict("a", "N"), verdict("b", "O")],
        ["below", "not comparable", "not run"]
    );
    assert_eq!([verdict("b", "M"), verdict("c", "M")], ["", "not run"]);
    let page = std::fs::read_to_string(at("out/report.html")).unwrap();
    let main = page.split_once("<main>").unwrap().1;
    assert!(main.starts_with(&format!("<p class=\"verdict\">{sentence}</p>")), "{}", &main[..300]);
    for part in ["200.0 \u{b1} 0.6", "average_rank", "a note", ">misprint</td>", "it is not public"] {
        assert!(page.contains(part), "{part}");
    }
    assert!(!page.contains("no average ranks"));
    // Nothing stands between the sentence and the table.
    assert!(main.find("<table").unwrap() < main.find("a note").unwrap());
    let latex = std::fs::read_to_string(at("out/table.tex")).unwrap();
    assert!(latex.contains("M & 200.0 $\\pm$ 0.6 / \\textbf{"), "{latex}");
}

#[test]
fn what_cannot_be_drawn_says_why() {
    let folder = folder();
    for (line, why) in [
        ("report nowhere", "nowhere: no such file"),
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

#[test]
fn several_runs_are_ranked_for_programs_too() {
    let folder = folder();
    for i in 0..5 {
        let data = format!("synthetic:gauss?bags={}&features=2", 24 + i);
        let methods =
            "--methods majority,simple-mi,mi-kernel -p mi-kernel.gamma=1/median -p mi-kernel.c=1 --folds 3";
        done(folder.path(), &format!("compare {data} {methods} --no-report -o run{i}"));
    }
    let runs = "report run0 run1 run2 run3 run4";
    let found = common::json(folder.path(), runs);
    assert_eq!(found["runs"].as_array().unwrap().len(), 5);
    let together = &found["together"];
    assert_eq!(together["ranks"]["values"].as_array().unwrap().len(), 5);
    assert!(together["friedman"]["chi2_ties"].is_number(), "{together}");
    assert!(together["nemenyi_difference"].is_number());
    let methods = together["methods"].as_array().unwrap();
    assert!(methods.len() == 3 && methods[0]["holm_adjusted"].is_null());
    assert!(methods[2]["holm_adjusted"].is_number() && methods[2]["wilcoxon"]["p"].is_number());
    assert!(found["sentence"].as_str().unwrap().starts_with("Over 5 data sets"));
    let csv = done(folder.path(), &format!("{runs} --format csv"));
    let lines: Vec<&str> = text(&csv.stdout).lines().collect();
    assert!(lines.len() == 4 && lines[0].starts_with("method,average_rank,nemenyi_p"), "{lines:?}");
    // Of a single run there are no ranks, and its table is there.
    let one = common::json(folder.path(), "report run0");
    assert!(one["together"].is_null() && one["runs"][0]["methods"].as_array().unwrap().len() == 3);
}
