//! `bagwise run` for someone who repeats a paper or writes an experiment of their own: what tables show beside printed numbers, and
//! what is said of slips in the files.

mod common;

use std::path::Path;

use common::{bagwise, done, folder, refused, text};
use serde_json::Value;

/// Two data sets, two methods of the paper, and a baseline that it does not have.
const TWO: &str = "\
title = 'Two sets'
source = 'a paper'
metric = 'accuracy'
[protocol]
folds = 3
inner = 2
[quick]
data = ['left']
[[table]]
title = 'Table 1: accuracy'
metric = 'accuracy'
printed = 'printed.csv'
[[table]]
title = 'Table 2: MCC'
metric = 'mcc'
printed = 'mcc.csv'
[[data]]
name = 'left'
read = 'synthetic:gauss?bags=30&features=3&seed=1'
[[data]]
name = 'right'
read = 'synthetic:gauss?bags=30&features=3&seed=2'
[[method]]
name = 'means'
method = 'simple-mi'
params = { c = '1' }
[[method]]
name = 'pairs'
method = 'mi-kernel'
params = { gamma = '1', c = '1' }
[[method]]
name = 'majority class'
method = 'majority'
";

const PRINTED: &str = "\
set,method,metric,value,spread,remark
left,means,accuracy,0.8,,
left,pairs,accuracy,0.7,,
right,means,accuracy,0.8,,
right,pairs,accuracy,0.7,,
(rank),means,accuracy rank,1.0,,
(rank),pairs,accuracy rank,2.0,,
";

const MCC: &str = "\
set,method,metric,value,spread,remark
left,means,mcc,0.5,,
left,majority class,mcc,0.1,,
";

fn two() -> tempfile::TempDir {
    let folder = folder();
    write(folder.path(), "two.toml", TWO);
    write(folder.path(), "printed.csv", PRINTED);
    write(folder.path(), "mcc.csv", MCC);
    folder
}

fn write(folder: &Path, name: &str, text: &str) {
    std::fs::write(folder.join(name), text).unwrap();
}

fn file(folder: &Path, name: &str) -> String {
    std::fs::read_to_string(folder.join(name)).unwrap_or_else(|e| panic!("{name}: {e}"))
}

/// The line of a table of Markdown that begins with these cells.
fn line<'t>(table: &'t str, cells: &str) -> &'t str {
    let found = table.lines().find(|l| l.starts_with(&format!("| {cells} |")));
    found.unwrap_or_else(|| panic!("no line for {cells} in {table}"))
}

#[test]
fn part_of_an_experiment_leaves_the_rest_of_its_tables_as_it_was() {
    let folder = two();
    let path = folder.path();
    done(path, "run two.toml -o out");
    let whole = [file(path, "out/table.md"), file(path, "out/table.tex")];
    assert!(whole[0].contains("Ours: nested (kfold=3, inner kfold=2), seed 0."), "{}", whole[0]);
    let page = file(path, "out/report.html");
    assert!(page.contains("right"));
    done(path, "run two.toml -o out --data left");
    assert_eq!([file(path, "out/table.md"), file(path, "out/table.tex")], whole);
    // What was never run is left out as before, and what comes later joins it, whatever methods it has.
    done(path, "run two.toml -o parts --data right --methods pairs --no-report");
    assert!(line(&file(path, "parts/table.md"), "left | means").contains("left out of this run"));
    done(path, "run two.toml -o parts --data left --no-report");
    let joined = file(path, "parts/table.md");
    assert_eq!(line(&joined, "left | means"), line(&whole[0], "left | means"));
    assert_eq!(line(&joined, "right | pairs"), line(&whole[0], "right | pairs"));
    assert!(line(&joined, "right | means").contains("left out of this run"), "{joined}");
    // Records of other settings are not shown as those of this experiment.
    write(path, "two.toml", &TWO.replace("gamma = '1'", "gamma = '2'"));
    let said = refused(path, "run two.toml -o parts --data left");
    assert!(said.contains("belongs to another run"), "{said}");
    assert_eq!(file(path, "parts/table.md"), joined);
}

#[test]
fn what_is_wrong_with_a_set_that_was_left_out_does_not_stop_the_others() {
    let folder = two();
    let path = folder.path();
    done(path, "run two.toml -o out --no-report");
    let whole = file(path, "out/table.md");
    let left_out = |what: &str| {
        let said = done(path, "run two.toml -o out --data left --no-report");
        let table = file(path, "out/table.md");
        assert!(line(&table, "right | means").contains("left out of this run"), "{what}: {table}");
        assert_eq!(line(&table, "left | means"), line(&whole, "left | means"), "{what}");
        text(&said.stderr).to_string()
    };
    // Other settings of that set alone.
    assert!(TWO.contains("seed=2'"));
    write(path, "two.toml", &TWO.replace("seed=2'", "seed=3'"));
    assert!(left_out("other settings").contains("earlier results are not shown"));
    write(path, "two.toml", TWO);
    // A run that was stopped before its first fit, and one of which nothing can be read.
    write(path, "out/02-right/records.jsonl", "");
    left_out("no records");
    write(path, "out/02-right/records.jsonl", "{");
    left_out("damaged records");
}

#[test]
fn tables_name_their_seeds() {
    let folder = two();
    write(folder.path(), "two.toml", &TWO.replace("inner = 2", "inner = 2\nrepeats = 2\nseeds = 2"));
    done(folder.path(), "run two.toml -o out --quick --no-report --seed 7");
    let table = file(folder.path(), "out/table.md");
    assert!(table.contains("inner kfold=2), 2 repeats, seeds 7 to 8."), "{table}");
}

#[test]
fn our_ranks_are_over_the_methods_that_the_paper_ranks() {
    let folder = two();
    done(folder.path(), "run two.toml -o out --no-report");
    let table = file(folder.path(), "out/table.md");
    let rank = |method: &str| line(&table, &format!("{method} | accuracy rank")).to_string();
    assert!(rank("means").contains("ours over 2 data sets and 2 methods"), "{table}");
    let ours = |row: String| row.split('|').nth(4).unwrap().trim().parse::<f64>().unwrap();
    // Of two methods the ranks are 1 and 2, or both 1.5: their sum is 3.
    assert_eq!(ours(rank("means")) + ours(rank("pairs")), 3.0, "{table}");
    assert!(line(&table, "left | majority class").contains("0."), "its own value is still shown");
}

#[test]
fn a_metric_without_a_value_is_undefined_and_not_left_undone() {
    let folder = two();
    // Pairs of bags are counted within folds, and folds of one bag have none.
    let alone = TWO.replace("seed=1'", "seed=1'\nprotocol = { name = 'loo' }").replace("'mcc'", "'roc_auc'");
    write(folder.path(), "two.toml", &alone);
    write(folder.path(), "mcc.csv", &MCC.replace(",mcc,", ",roc_auc,"));
    let said = done(folder.path(), "run two.toml -o out --no-report");
    let said = text(&said.stdout);
    let table = file(folder.path(), "out/table.md");
    assert!(
        line(&table, "left | means | 0.5000").contains("| undefined | the metric has no value"),
        "{table}"
    );
    assert!(!table.contains("not run") && !said.contains("not run"), "{table}\n{said}");
    assert!(said.contains("2 undefined"), "{said}");
}

#[test]
fn every_table_of_a_quick_run_says_that_it_was_quick() {
    let folder = two();
    let path = folder.path();
    let csv = done(path, "run two.toml -o full --no-report --format csv");
    let csv = text(&csv.stdout);
    assert!(csv.lines().next().unwrap().contains("version"), "{csv}");
    assert!(csv.lines().skip(1).all(|l| l.contains(",full,")), "{csv}");
    let csv = done(path, "run two.toml --quick -o out --no-report --format csv");
    let csv = text(&csv.stdout);
    assert!(csv.lines().count() > 1 && csv.lines().skip(1).all(|l| l.contains(",quick,")), "{csv}");
    let (tex, markdown) = (file(path, "out/table.tex"), file(path, "out/table.md"));
    let captions: Vec<&str> = tex.lines().filter(|l| l.starts_with("\\caption")).collect();
    assert_eq!(captions.len(), 2, "{tex}");
    assert!(captions.iter().all(|c| c.contains("Quick version")), "{tex}");
    assert!(captions[0].starts_with("\\caption{Table 1: accuracy. Each cell"), "{}", captions[0]);
    assert!(markdown.contains("### Two sets (quick version)"), "{markdown}");
    assert!(!file(path, "full/table.tex").contains("uick") && !file(path, "full/table.md").contains("uick"));
    let json: Value = serde_json::from_str(&file(path, "out/table.json")).unwrap();
    assert_eq!(json["quick"], true);
}

#[test]
fn a_lower_error_is_better_in_every_format() {
    let folder = folder();
    let path = folder.path();
    let rows: String =
        (0..120).map(|i| format!("b{},{},{}\n", i / 3, f64::from(i % 7), f64::from(i / 3) / 40.0)).collect();
    write(path, "values.csv", &format!("bag,x,label\n{rows}"));
    write(
        path,
        "errors.toml",
        "title = 'Errors'\nsource = 's'\nmetric = 'mse'\n[protocol]\nfolds = 3\ninner = 2\n[[data]]\nname = 'values'\nread = 'values.csv'\n\
         bag = 'bag'\nlabel = 'label'\ntask = 'regression'\n[[method]]\nname = 'means'\nmethod = 'simple-mi'\nparams = { c = '1' }\n\
         printed = { values = 9.0 }\n",
    );
    let said = done(path, "run errors.toml -o out");
    let said = text(&said.stdout);
    assert!(said.contains("below (better)") && said.contains("1 below (better)"), "{said}");
    for name in ["table.md", "table.tex", "table.json", "report.html"] {
        assert!(file(path, &format!("out/{name}")).contains("below (better)"), "{name}");
    }
    let csv = done(path, "run errors.toml -o out --format csv");
    assert!(text(&csv.stdout).contains(",below (better),"), "{}", text(&csv.stdout));
}

#[test]
fn slips_in_printed_numbers_are_named_with_their_place() {
    let folder = two();
    let path = folder.path();
    let with = |from: &str, to: &str| write(path, "printed.csv", &PRINTED.replace(from, to));
    with("left,means,accuracy,0.8,,", "left,means,accuracy,88±1,,");
    let said = refused(path, "run two.toml -o a");
    assert!(said.contains("printed.csv, line 2: '88±1' is not a number"), "{said}");
    assert!(said.contains("spread"), "{said}");
    with("left,pairs,accuracy,0.7", "left,means,accuracy,0.7");
    let said = refused(path, "run two.toml -o a");
    assert!(said.contains("printed.csv, line 3: line 2 has this number too"), "{said}");
    with("(rank),pairs", "(rank),means");
    let said = refused(path, "run two.toml -o a");
    assert!(said.contains("printed.csv, line 7: line 6 has this number too ((rank), means)"), "{said}");
    assert!(!path.join("a").exists(), "nothing was begun");
    with("left,means,", "lefd,means,");
    let output = done(path, "run two.toml -o a --no-report");
    let said = text(&output.stderr);
    assert!(said.contains("printed.csv, line 2: no data set is called 'lefd'"), "{said}");
    assert!(said.contains("did you mean 'left'?"), "{said}");
    with("right,pairs,", "right,pears,");
    let output = done(path, "run two.toml -o a --no-report");
    assert!(text(&output.stderr).contains("line 5: no method is called 'pears'"), "{}", text(&output.stderr));
    // A quick version has fewer data sets, which is no slip.
    with("x", "x");
    let output = done(path, "run two.toml --quick -o quick --no-report");
    assert!(!text(&output.stderr).contains("is called"), "{}", text(&output.stderr));
}

#[test]
fn a_data_set_that_a_quick_version_lacks_is_not_unknown() {
    let folder = two();
    let said = refused(folder.path(), "run two.toml --quick --data right");
    assert!(said.contains("the quick version has no data set 'right'") && said.contains("left"), "{said}");
    assert!(!said.contains("unknown"), "{said}");
    let said = refused(folder.path(), "run two.toml --quick --data write");
    assert!(said.contains("unknown data set 'write'"), "{said}");
}

#[cfg(unix)]
#[test]
fn a_file_that_is_not_there_is_named_with_its_place() {
    let folder = two();
    let path = folder.path();
    write(path, "two.toml", &TWO.replace("synthetic:gauss?bags=30&features=3&seed=2", "tables/right.csv"));
    std::fs::create_dir(path.join("elsewhere")).unwrap();
    let output = done(&path.join("elsewhere"), "run ../two.toml -o out --no-report");
    let said = text(&output.stderr);
    assert!(said.contains("../two.toml: right: there is no file ../tables/right.csv"), "{said}");
    assert!(!said.contains("$BAGWISE_DATA"), "a path is no name: {said}");
}

#[test]
fn advice_is_about_the_experiment_not_about_options_that_run_lacks() {
    let folder = folder();
    let path = folder.path();
    let experiment = file(path, "experiment.toml");
    // Without it, conformers are numbers, and bags of a scaffold are on both sides.
    let careless: String = experiment
        .lines()
        .filter(|l| !l.starts_with("keep") && !l.starts_with("group"))
        .map(|l| format!("{l}\n"))
        .collect();
    write(path, "careless.toml", &careless);
    let output = bagwise(path, &["run", "careless.toml", "--quick", "--no-report"]);
    let said = text(&output.stderr);
    let help = text(&done(path, "run --help").stdout).to_string();
    let named =
        said.split([' ', ';', ',', '\n', ')']).filter(|word| word.starts_with("--") && word.len() > 2);
    for option in named {
        let name = option.split('=').next().unwrap();
        assert!(help.contains(name), "{name} is no option of run: {said}");
    }
    assert_eq!(output.status.code(), Some(0), "{said}");
    assert!(said.contains("`group = \"scaffold\"` of its [[data]]") && said.contains("`keep`"), "{said}");
    // More folds than bags.
    write(path, "folds.toml", &experiment.replace("folds = 5", "folds = 500"));
    let said = refused(path, "run folds.toml -o folds");
    assert!(said.contains("`folds` of [protocol]") && !said.contains("--folds"), "{said}");
}

#[test]
fn data_that_are_not_here_are_not_called_included() {
    let folder = folder();
    // Far from any folder called data.
    let csv = done(folder.path(), "data --format csv");
    let line = |name: &str| {
        let found = text(&csv.stdout).lines().find(|l| l.starts_with(&format!("{name},"))).map(String::from);
        found.unwrap_or_else(|| panic!("no {name} in {}", text(&csv.stdout)))
    };
    assert!(line("musk1").ends_with("part of the program"), "{}", line("musk1"));
    assert!(line("musk2").ends_with("data/musk2.csv.gz in the repository of bagwise"), "{}", line("musk2"));
    let said = refused(folder.path(), "data get musk2 --to here");
    assert!(said.trim_end().ends_with("copy musk2.csv.gz from there to here"), "{said}");
}

#[test]
#[cfg(unix)]
fn what_to_do_about_a_failed_download_is_said_to_the_end() {
    let folder = folder();
    // Nothing listens there.
    let get = |names: &str| {
        let line = format!("BAGWISE_MIRROR=http://127.0.0.1:9 bagwise data get {names} --to here");
        let output = common::shell(folder.path(), &line);
        assert_eq!(output.status.code(), Some(2));
        text(&output.stderr).to_string()
    };
    let advice = "download that file by other means and give it with --from FILE\n";
    assert!(get("fox").ends_with(advice), "{}", get("fox"));
    let two = get("fox tiger");
    assert_eq!(two.matches(advice).count(), 2, "{two}");
}

/// Both tables read one file, which has a third metric too.
const SEVERAL: &str = "\
set,method,metric,value,spread,remark
left,means,accuracy,0.8,,
right,means,accuracy,0.9,,
lost,means,accuracy,0.9,,
left,means,mcc,0.5,,
right,means,mcc,0.6,,
lost,means,mcc,0.6,,
(average),means,accuracy,0.85,,
(average),means,mcc,0.55,,
(average),means,seconds,12,,
(rank),means,accuracy rank,1.0,,
(rank),pairs,accuracy rank,2.0,,
(rank),pairs,mcc rank,1.0,,
(rank),majority class,mcc rank,2.0,,
(rank),stranger,mcc rank,3.0,,
";

/// The rows below a table that stand for several cells, each as its cells.
fn summaries(markdown: &str, title: &str) -> Vec<Vec<String>> {
    let (_, table) = markdown.split_once(title).unwrap_or_else(|| panic!("no {title} in {markdown}"));
    let (_, rows) = table.split_once("| of | what |").unwrap();
    let rows = rows.lines().skip(2).take_while(|l| l.starts_with('|'));
    rows.map(|l| l.trim_matches('|').split('|').map(|cell| cell.trim().to_string()).collect()).collect()
}

#[test]
fn summaries_of_one_metric_are_not_compared_with_another() {
    let folder = two();
    let path = folder.path();
    write(path, "two.toml", &TWO.replace("mcc.csv", "printed.csv"));
    write(path, "printed.csv", SEVERAL);
    done(path, "run two.toml -o out --no-report");
    let table = file(path, "out/table.md");
    let json: Value = serde_json::from_str(&file(path, "out/table.json")).unwrap();
    let mean = |title: &str| -> f64 {
        let all = json["results"].as_array().unwrap().iter();
        let of = |r: &&Value| r["table"] == title && r["name"] == "means";
        all.filter(of).map(|r| r["mean"].as_f64().unwrap()).sum::<f64>() / 2.0
    };
    let find = |title: &str, of: &str, what: &str| {
        summaries(&table, title).into_iter().find(|row| row[0] == of && row[1] == what)
    };
    let (first, second) = ("Table 1: accuracy", "Table 2: MCC");
    for (title, metric, other) in [(first, "accuracy", "mcc"), (second, "mcc", "accuracy")] {
        let row = find(title, "means", metric).unwrap();
        assert_eq!(row[3], format!("{:.4}", mean(title)), "{table}");
        assert_eq!(row[4], "ours over 2 of 3 data sets", "{table}");
        assert!(find(title, "means", other).is_none(), "it belongs to the other table: {table}");
        // No table shows this one, so it stays, with nothing next to it.
        let seconds = find(title, "means", "seconds").unwrap();
        assert_eq!(seconds[2..], ["12", "", ""], "{table}");
        let ranks: Vec<Vec<String>> =
            summaries(&table, title).into_iter().filter(|row| row[1].ends_with("rank")).collect();
        assert!(ranks.iter().all(|row| row[1] == format!("{metric} rank")), "{table}");
        let sum: f64 = ranks.iter().filter_map(|row| row[3].parse::<f64>().ok()).sum();
        assert_eq!(sum, 3.0, "two methods are ranked: {table}");
    }
}

#[test]
fn an_average_over_part_of_the_data_sets_says_so_without_ranks() {
    let folder = two();
    let path = folder.path();
    let averages: String =
        PRINTED.lines().filter(|l| !l.contains("rank")).map(|l| format!("{l}\n")).collect();
    write(path, "printed.csv", &format!("{averages}(average),means,accuracy,0.8,,\n"));
    done(path, "run two.toml -o part --data left --methods means --no-report");
    let row = summaries(&file(path, "part/table.md"), "Table 1").remove(0);
    assert!(!row[3].is_empty() && row[4] == "ours over 1 of 2 data sets", "{row:?}");
    done(path, "run two.toml -o whole --methods means --no-report");
    assert!(!file(path, "whole/table.md").contains(" of 2 data sets"));
}

#[test]
fn a_strange_name_is_reported_once_for_a_file_and_rightly() {
    let folder = two();
    let path = folder.path();
    write(path, "two.toml", &TWO.replace("mcc.csv", "printed.csv"));
    write(path, "printed.csv", SEVERAL);
    let output = done(path, "run two.toml -o out --no-report");
    let said = text(&output.stderr);
    assert_eq!(said.matches("no data set is called 'lost'").count(), 1, "{said}");
    assert_eq!(said.matches("no method is called 'stranger'").count(), 1, "{said}");
    assert!(
        said.contains("line 4: no data set is called 'lost' in the experiment, so its numbers are not shown")
    );
    // Its rank is shown, as printed.
    assert!(said.contains("'stranger' in the experiment, so there is no value of ours next to its numbers"));
    assert!(file(path, "out/table.md").contains("| stranger | mcc rank | 3.0 |  |"));
}

/// Two runs of each data set, so that each has two folders.
fn with_seeds() -> String {
    TWO.replace("inner = 2\n", "inner = 2\nseeds = 2\n")
}

#[test]
fn shards_that_are_not_joined_are_earlier_results_too() {
    let folder = two();
    let path = folder.path();
    done(path, "run two.toml -o whole --no-report");
    for shard in ["1/2", "2/2"] {
        done(path, &format!("run two.toml -o out --data right --shard {shard}"));
    }
    let said = done(path, "run two.toml -o out --data left --no-report");
    assert!(!text(&said.stderr).contains("not shown"), "{}", text(&said.stderr));
    assert_eq!(file(path, "out/table.md"), file(path, "whole/table.md"));
    // One shard alone is no result.
    done(path, "run two.toml -o half --data right --shard 1/2");
    let said = done(path, "run two.toml -o half --data left --no-report");
    let said = text(&said.stderr);
    assert!(said.contains("earlier results are not shown: ") && said.contains("fits of "), "{said}");
}

#[test]
fn earlier_results_that_cannot_be_shown_are_named() {
    let folder = two();
    let path = folder.path();
    let not_shown = |out: &str, why: &str| {
        let said = done(path, &format!("run two.toml -o {out} --data left --no-report"));
        assert!(
            line(&file(path, &format!("{out}/table.md")), "right | means").contains("left out of this run")
        );
        let said = text(&said.stderr);
        assert!(said.contains("earlier results are not shown: ") && said.contains(why), "{why}: {said}");
    };
    done(path, "run two.toml -o out --no-report");
    write(path, "out/02-right/plan.json", "{");
    not_shown("out", "plan.json");
    write(path, "two.toml", &with_seeds());
    done(path, "run two.toml -o seeds --no-report");
    std::fs::remove_dir_all(path.join("seeds/02-right-seed-1")).unwrap();
    not_shown("seeds", "02-right-seed-1");
    // Nothing is said of what was never run.
    let said = done(path, "run two.toml -o new --data left --no-report");
    assert!(!text(&said.stderr).contains("not shown"), "{}", text(&said.stderr));
}

#[test]
fn left_out_unavailable_and_failed_are_different_things() {
    let folder = two();
    let path = folder.path();
    write(
        path,
        "two.toml",
        &TWO.replace("name = 'right'", "name = 'right'\nunavailable = 'never published'"),
    );
    done(path, "run two.toml -o out --data left --methods means --no-report");
    let row = |name: &str, data: &str, method: &str| {
        let json: Value = serde_json::from_str(&file(path, &format!("{name}/table.json"))).unwrap();
        let mut rows = json["results"].as_array().unwrap().clone().into_iter();
        rows.find(|r| r["data"] == data && r["name"] == method).unwrap()
    };
    let right = row("out", "right", "means");
    assert_eq!((&right["remark"], &right["status"]), (&"never published".into(), &"data missing".into()));
    assert_eq!(row("out", "left", "pairs")["status"], "left out");
    write(path, "two.toml", TWO);
    done(path, "run two.toml -o parts --data left --no-report");
    assert_eq!(row("parts", "right", "means")["status"], "left out");
}

#[test]
fn a_method_whose_fits_all_failed_was_run() {
    let folder = two();
    let path = folder.path();
    done(path, "run two.toml -o out --no-report");
    let records = file(path, "out/01-left/records.jsonl");
    let fail = |l: &str| match l.contains("\"method\":\"pairs\"") {
        true => l.replace("\"status\":\"converged\"", "\"status\":\"failed\"") + "\n",
        false => format!("{l}\n"),
    };
    write(path, "out/01-left/records.jsonl", &records.lines().map(fail).collect::<String>());
    let output = bagwise(path, &["run", "two.toml", "-o", "out", "--no-report"]);
    assert_eq!(output.status.code(), Some(1), "{}", text(&output.stderr));
    let table = file(path, "out/table.md");
    let row = line(&table, "left | pairs");
    assert!(row.contains("| failed | 3 of 3 fits failed |"), "{row}");
    assert!(text(&output.stdout).contains("1 failed"), "{}", text(&output.stdout));
}

#[test]
fn data_in_the_program_need_no_download() {
    let folder = folder();
    let output = done(folder.path(), "data get musk1 --to here");
    let said = [text(&output.stdout), text(&output.stderr)].concat();
    assert!(said.contains("musk1: part of the program, so there is nothing to download"), "{said}");
    assert!(!folder.path().join("here").exists());
}
