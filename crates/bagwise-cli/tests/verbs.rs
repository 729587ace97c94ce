//! The verbs that learn and judge, as a user sees them: help, results, and what is said when they cannot start.
//! `cargo xtask golden` rewrites the snapshots.

mod common;

use common::{bagwise, done, folder, json, shown, text, timeless};

/// Runs lines one after the other in one folder and compares the last with its snapshot.
fn snapshot(name: &str, lines: &[&str]) {
    let folder = folder();
    let (last, before) = lines.split_last().unwrap();
    for line in before {
        done(folder.path(), line);
    }
    let output = bagwise(folder.path(), &last.split_whitespace().collect::<Vec<_>>());
    insta::with_settings!({prepend_module_to_snapshot => false, omit_expression => true}, {
        insta::assert_snapshot!(name, timeless(&shown(&format!("bagwise {last}"), &output)));
    });
}

/// The molecules as the documentation reads them.
const TABLE: &str = "molecules.csv --bag mol --label active --group scaffold --keep conformer";
/// A small model that explains itself.
const FIT: &str = "fit molecules.csv --bag mol --label active --group scaffold --keep conformer --method mi-kernel \
                   -p gamma=1/median -p norm=mean -p c=10 -o m.bagwise";

#[test]
fn an_estimate_that_drew_on_test_bags_says_so() {
    let said = |pool: &str| {
        let line = format!(
            "evaluate synthetic:gauss?bags=30 --method isk -p psi=8 -p c=8 -p pool={pool} --folds 3 --format json"
        );
        let output = done(folder().path(), &line);
        let found: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
        (text(&output.stderr).to_string(), found["optimistic"].as_bool().unwrap())
    };
    let (warned, optimistic) = said("all");
    assert!(
        optimistic
            && warned
                .contains("isk used the features of test bags (pool=all), so the estimate is optimistic")
    );
    let (warned, optimistic) = said("train");
    assert!(!optimistic && !warned.contains("test bags"));
    let folder = folder();
    let experiment = std::fs::read_to_string(folder.path().join("experiment.toml")).unwrap();
    let method = "\n[[method]]\nname = \"ISK\"\nmethod = \"isk\"\nparams = { pool = \"all\", psi = \"8\", epsilon = \"1\", c = \"8\" }\n";
    std::fs::write(folder.path().join("all.toml"), experiment + method).unwrap();
    let found = json(folder.path(), "run all.toml --quick --no-report");
    let saw = |r: &serde_json::Value| r["name"] == "ISK" && r["saw_test_bags"] == true;
    assert!(found["results"].as_array().unwrap().iter().any(saw), "{found}");
    assert!(
        std::fs::read_to_string(folder.path().join("all-quick/table.md")).unwrap().contains("saw test bags")
    );
}

#[test]
fn seeds_of_an_experiment_are_runs_of_their_own_and_what_is_expected_is_judged() {
    let folder = folder();
    let experiment = "title = 't'\nsource = 's'\nmetric = 'accuracy'\npercent = true\ntolerance = '10 %'\n\
                      [protocol]\nfolds = 3\ninner = 2\nseeds = 2\n\
                      [[data]]\nname = 'a'\nread = 'synthetic:gauss?bags=30&distance=3&seed=5'\n\
                      [[method]]\nname = 'M'\nmethod = 'simple-mi'\nreference = { a = 500 }\n\
                      [[method]]\nname = 'N'\nmethod = 'simple-mi'\nexpected = { a = [0, 100] }\n";
    std::fs::write(folder.path().join("seeds.toml"), experiment).unwrap();
    let found = json(folder.path(), "run seeds.toml --no-report --seed 3");
    let (m, n) = (&found["results"][0], &found["results"][1]);
    let alone = |seed: u64| {
        let line = format!(
            "evaluate synthetic:gauss?bags=30&distance=3&seed=5 --method simple-mi --folds 3 --inner 2 --seed {seed}"
        );
        json(folder.path(), &line)["accuracy"]["mean"].as_f64().unwrap() * 100.0
    };
    let values = [alone(3), alone(4)];
    assert_ne!(values[0], values[1], "seeds that are the same would show nothing");
    assert_eq!(m["values"], serde_json::json!(values));
    let near = |found: &serde_json::Value, value: f64| (found.as_f64().unwrap() - value).abs() < 1e-9;
    assert!(near(&m["mean"], (values[0] + values[1]) / 2.0), "{m}");
    assert!(near(&m["sd"], (values[0] - values[1]).abs() / 2f64.sqrt()), "{m}");
    assert_eq!((&m["repeats"], &m["fits"]), (&2.into(), &6.into()));
    assert_eq!((&m["expected"], &m["within"]), (&serde_json::json!([450.0, 550.0]), &false.into()));
    assert_eq!((&n["expected"], &n["within"]), (&serde_json::json!([0.0, 100.0]), &true.into()));
    let table = std::fs::read_to_string(folder.path().join("seeds/table.md")).unwrap();
    assert!(table.contains("nested (kfold=3, inner kfold=2), seeds 3 to 4."), "{table}");
    assert!(table.contains("| 500.0 |  | outside the expected 450.0 to 550.0 |"), "{table}");
    assert!(table.contains("| within the expected 0.0 to 100.0 |"), "{table}");
    assert!(folder.path().join("seeds/01-a-seed-4/records.jsonl").is_file());
}

#[test]
fn help() {
    let verbs = [
        "compare", "evaluate", "fit", "predict", "show", "explain", "gram", "embed", "methods", "demo",
        "report", "run",
    ];
    for verb in verbs {
        snapshot(&format!("help_{verb}"), &[&format!("{verb} --help")]);
    }
}

#[test]
fn results() {
    snapshot("compare", &[&format!("compare {TABLE} --folds 4 --inner 3")]);
    let kernel = "--method mi-kernel -p gamma=1/median -p norm=mean -p c=10 --folds 4 --inner 3";
    snapshot("evaluate", &[&format!("evaluate {TABLE} {kernel}")]);
    snapshot("fit", &[FIT]);
    snapshot("predict", &[FIT, "predict m.bagwise new.csv --bag mol"]);
    snapshot("explain", &[FIT, "explain m.bagwise new.csv --bag mol --keep conformer --top 2"]);
    snapshot("methods", &["methods"]);
    snapshot("methods_one", &["methods mi-kernel"]);
    snapshot("gram", &["gram musk1 --method migraph -p gamma=0.5 --output k.npy"]);
}

#[test]
fn what_cannot_start_says_why() {
    for (name, line) in [
        ("no_such_method", "evaluate musk1 --method mi-kernell"),
        ("no_such_parameter", "evaluate musk1 --method mi-kernel -p gama=1"),
        ("no_such_value", "evaluate musk1 --method mi-kernel -p gamma=-1"),
        ("parameter_twice", "evaluate musk1 --method mi-kernel -p gamma=1 -p gamma=2"),
        ("parameter_without_value", "evaluate musk1 --method mi-kernel -p gamma"),
        ("parameter_without_method", "compare musk1 -p gamma=1"),
        ("parameter_of_another", "compare musk1 --methods mi-kernel -p migraph.gamma=1"),
        ("no_such_class", "evaluate musk1 --method mi-kernel --positive 7"),
        ("no_such_metric", "evaluate musk1 --method mi-kernel --optimize acuracy"),
        ("metric_of_another_task", "evaluate musk1 --method mi-kernel --optimize mse"),
        ("no_such_protocol", "evaluate musk1 --method mi-kernel --protocol nestd"),
        ("no_folds_given", "evaluate musk1 --method mi-kernel --protocol given"),
        ("option_without_use", "evaluate musk1 --method mi-kernel --protocol loo --repeats 3"),
        ("too_many_folds", "evaluate musk1 --method mi-kernel --folds 93"),
        ("one_fold", "evaluate musk1 --method mi-kernel --folds 1"),
        ("too_many_inner_folds", "evaluate musk1 --method mi-kernel --inner 90"),
        ("too_many_fit_folds", "fit musk1 --inner 93 -o m.bagwise"),
        ("fixed_with_choice", "evaluate musk1 --method mi-kernel --protocol kfold -p gamma=1,2"),
        ("no_such_threshold", "evaluate musk1 --method mi-kernel --threshold recal=1"),
        ("no_such_budget", "compare musk1 --budget soon"),
        ("no_model", "predict musk1.bagwise musk1"),
        ("not_a_model", "predict molecules.csv musk1"),
        ("no_folder_for_model", "fit musk1 -o nowhere/m.bagwise"),
        ("no_folder_for_gram", "gram musk1 --method mi-kernel --output nowhere/k.npy"),
        ("no_kernel", "gram musk1 --method majority --output k.npy"),
        ("many_points", "gram musk1 --method mi-kernel -p gamma=1,2 --output k.npy"),
        ("test_with_folds", "evaluate musk1 --method mi-kernel --test musk1 --folds 3"),
    ] {
        snapshot(name, &[line]);
    }
    snapshot("missing_columns", &[FIT, "predict m.bagwise musk1"]);
    snapshot("kept_feature", &[FIT, "explain m.bagwise new.csv --bag mol --keep volume"]);
    snapshot("top_none", &[FIT, "explain m.bagwise new.csv --bag mol --top 0"]);
    let vectors = "fit musk1 --method simple-mi -p embed=mean -p kernel=rbf -p c=10 -o m.bagwise";
    snapshot("unexplained", &[vectors, "explain m.bagwise musk1"]);
}

#[test]
fn options_without_effect_are_refused() {
    let folder = folder();
    let table = "molecules.csv --bag mol --label active --ignore conformer";
    for (line, why) in [
        (
            &format!("evaluate {table} --method mi-kernel --protocol nested --fold-column scaffold")[..],
            "protocol nested draws its own folds; leave the given folds out",
        ),
        (
            "evaluate musk1 --method mi-kernel --protocol best-on-cv --threshold balanced",
            "protocol best-on-cv does not choose a threshold",
        ),
        ("fit musk1 --method mi-kernel --best -o m.bagwise", "best applies only to method auto"),
        ("evaluate musk1 --method mi-kernel --best", "best applies only to"),
        ("compare musk1 --methods mi-kernel --best", "best applies only to"),
        (
            &format!("fit {table} --task regression --method mi-kernel --balanced -o m.bagwise"),
            "balanced applies only to classes, but the label of molecules.csv is a number",
        ),
        ("gram musk1 --method mi-kernel --balanced --output k.npy", "unexpected argument '--balanced'"),
        ("gram musk1 --method mi-kernel --multiclass one-vs-one --output k.npy", "'--multiclass'"),
        ("embed musk1 --method isk --balanced --output e.npz", "unexpected argument '--balanced'"),
        ("embed musk1 --model m.bagwise --precision f32 --output e.npz", "cannot be used with"),
        ("explain m.bagwise musk1 --concepts", "cannot be used with"),
    ] {
        let output = bagwise(folder.path(), &line.split_whitespace().collect::<Vec<_>>());
        let said = text(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{line}: {said}");
        assert!(said.contains(why), "{line}: {said}");
    }
}

#[test]
fn concepts_need_no_data() {
    let folder = folder();
    done(
        folder.path(),
        &format!("fit {TABLE} --method em-dd -p starts=4 --inner 2 --quiet -o concepts.bagwise"),
    );
    let found = json(folder.path(), "explain concepts.bagwise --concepts --top 2");
    assert_eq!(found.as_array().unwrap().len(), 2, "{found}");
    // A column is called the same in every format that programs read.
    let csv = |line: &str| text(&done(folder.path(), &format!("{line} --format csv")).stdout).to_string();
    for (line, object) in [
        ("explain concepts.bagwise --concepts --top 2", &found[0]),
        ("methods", &json(folder.path(), "methods")[0]),
        ("methods dd", &json(folder.path(), "methods dd")["parameters"][0]),
    ] {
        for column in csv(line).lines().next().unwrap().split(',') {
            assert!(object.get(column).is_some(), "{line}: {column}");
        }
    }
    // With the other class as the positive one, the same bags come near.
    let near = found[0]["near"].clone();
    assert!(["0", "1"].contains(&near.as_str().unwrap()), "{found}");
    done(
        folder.path(),
        &format!("fit {TABLE} --method em-dd -p starts=4 --inner 2 --quiet --positive 0 -o concepts.bagwise"),
    );
    let other = json(folder.path(), "explain concepts.bagwise --concepts --top 2");
    assert_eq!(
        (&other[0]["machine"], &other[0]["near"], &other[0]["place"]),
        (&"0 vs 1".into(), &near, &found[0]["place"])
    );
}

#[test]
fn an_experiment_that_cannot_be_read_says_what_would_do() {
    let folder = folder();
    std::fs::write(folder.path().join("Cargo.toml"), "[package]\n").unwrap();
    let said = |file: &str| {
        let output = bagwise(folder.path(), &["run", file]);
        assert_eq!(output.status.code(), Some(2));
        text(&output.stderr).to_string()
    };
    assert_eq!(
        said("nosuch.toml"),
        "error: nosuch.toml: there is no such file; available: experiment.toml\n"
    );
    assert!(said("experimant.toml").ends_with("there is no such file; did you mean 'experiment.toml'?\n"));
    std::fs::create_dir(folder.path().join("experiments")).unwrap();
    assert!(
        said("experiments")
            .contains("experiments: this is a folder, not an experiment; give an experiment file")
    );
    std::fs::write(
        folder.path().join("experiments/one.toml"),
        "title = 't'\nmetrik = 'accuracy'\n[[method]]\nname = 'm'\n",
    )
    .unwrap();
    assert!(said("elsewhere/x.toml").ends_with("available: experiments/one.toml\n"));
    let slip = said("experiments/one.toml");
    assert!(slip.starts_with("error: experiments/one.toml, line 2: unknown field `metrik`"), "{slip}");
    assert!(!slip.contains('\u{fffd}') && slip.ends_with("see docs/experiments.md for the format\n"));
}

#[test]
fn a_fit_says_what_it_made() {
    let folder = folder();
    let output = done(folder.path(), FIT);
    assert_eq!(text(&output.stdout), "");
    assert!(
        text(&output.stderr).contains(
            "mi-kernel gamma=1/median kernel=rbf distance=euclidean norm=mean c=10, scaling minmax\n"
        ),
        "{}",
        text(&output.stderr)
    );
    let found = json(folder.path(), &format!("{FIT} --threshold recall=0.95 --quiet"));
    assert_eq!((&found["method"], &found["scaling"]), (&"mi-kernel".into(), &"minmax".into()));
    assert_eq!((&found["parameters"]["c"], &found["parameters"]["norm"]), (&10.0.into(), &"mean".into()));
    assert_eq!((&found["bags"], &found["inner_folds"]), (&40.into(), &5.into()));
    assert_eq!((&found["optimistic"], &found["model"]), (&false.into(), &"m.bagwise".into()));
    assert!(found["threshold"].is_number() && found["inner_value"].is_number());
    let rows = done(folder.path(), &format!("{FIT} --format csv --quiet"));
    assert!(text(&rows.stdout).starts_with("method,parameters,scaling,"), "{}", text(&rows.stdout));
}

#[test]
fn an_estimate_as_json_has_the_promised_shape() {
    let folder = folder();
    let line = "evaluate musk1 --method nsk -p gamma=1/median -p c=10 --folds 3 --repeats 2 --seed 4";
    let output = done(folder.path(), &format!("{line} --format json"));
    let page = text(&output.stdout);
    let position =
        |key: &str| page.find(&format!("\n  \"{key}\":")).unwrap_or_else(|| panic!("{key} in {page}"));
    let keys = ["method", "data", "protocol", "seed", "repeats", "accuracy", "roc_auc"];
    assert!(keys.map(position).is_sorted(), "{page}");
    let found: serde_json::Value = serde_json::from_str(page).unwrap();
    assert_eq!((&found["method"], &found["data"]), (&"mi-kernel".into(), &"musk1".into()));
    assert_eq!(
        (&found["protocol"], &found["seed"], &found["repeats"]),
        (&"nested".into(), &4.into(), &2.into())
    );
    let values: Vec<f64> = serde_json::from_value(found["accuracy"]["values"].clone()).unwrap();
    assert_eq!(values.len(), 2);
    assert!(values.iter().all(|v| (0.5..=1.0).contains(v)), "{values:?}");
    let mean = found["accuracy"]["mean"].as_f64().unwrap();
    assert!((mean - (values[0] + values[1]) / 2.0).abs() < 1e-15);
    let sd = (values[0] - values[1]).abs() / 2f64.sqrt();
    assert!((found["accuracy"]["sd"].as_f64().unwrap() - sd).abs() < 1e-15);
}

#[test]
fn intervals_stay_where_the_metric_can_be() {
    let folder = folder();
    let found = json(folder.path(), "evaluate musk1 --method wmksvm -p gamma=1/median -p c=10");
    let mut cut = 0;
    for (name, metric) in found.as_object().unwrap() {
        let Some(interval) = metric.get("interval").filter(|i| i.is_object()) else { continue };
        if name == "kappa_printed" || name == "log_loss" {
            continue;
        }
        let (low, high) = (interval["low"].as_f64().unwrap(), interval["high"].as_f64().unwrap());
        let least = if name == "kappa" { -1.0 } else { 0.0 };
        assert!(least <= low && low <= high && high <= 1.0, "{name}: {low} to {high}");
        cut += usize::from(high == 1.0);
    }
    assert!(cut > 0, "no interval reached an end: the test tests nothing");
}

#[test]
fn protocols_by_name() {
    let folder = folder();
    let bags: Vec<String> = (1..=40).map(|m| format!("M{m:02}")).collect();
    let folds = |of: &dyn Fn(usize) -> &'static str| {
        let rows: String = bags.iter().enumerate().map(|(i, b)| format!("{b},{}\n", of(i))).collect();
        std::fs::write(folder.path().join("folds.csv"), format!("bag,fold\n{rows}")).unwrap();
    };
    let plain =
        "evaluate molecules.csv --bag mol --label active --ignore scaffold,conformer --method mi-kernel";
    let kernel = format!("{plain} -p gamma=1/median -p norm=mean -p c=10 --inner 3");
    let fits = |options: &str| json(folder.path(), &format!("{kernel} {options}"))["fits"].clone();
    assert_eq!(fits("--protocol nested --folds 4 --repeats 2"), 8);
    assert_eq!(fits("--protocol kfold --folds 4"), 4);
    assert_eq!(fits("--protocol loo"), 40);
    assert_eq!(fits("--protocol half"), 5);
    assert_eq!(fits("--protocol best-on-cv --folds 4"), 4);
    folds(&|i| ["a", "b", "c"][i % 3]);
    assert_eq!(fits("--fold-file folds.csv"), 3);
    folds(&|i| if i < 25 { "train" } else { "test" });
    assert_eq!(fits("--protocol train-test --fold-file folds.csv"), 1);

    let best = json(folder.path(), &format!("{kernel} --protocol best-on-cv --folds 4"));
    assert_eq!(best["optimistic"], true);

    // The scaffold as folds: a column of the table, the same in all rows of a bag.
    let by_column = plain.replace("--ignore scaffold,conformer", "--ignore conformer --fold-column scaffold");
    assert_eq!(json(folder.path(), &format!("{by_column} -p c=10 -p gamma=1/median"))["fits"], 8);
    // A format that keeps a column of its own behind it.
    let rows: String = (0..12).map(|i| format!("M{i},M{i}_1,{},{i},{}.\n", i % 3, i % 2)).collect();
    std::fs::write(folder.path().join("small.data"), rows).unwrap();
    let small = "evaluate small.data --method majority --inner 2 --fold-column f1";
    assert_eq!(json(folder.path(), small)["fits"], 3);
    let varies = plain.replace("--ignore scaffold,conformer", "--ignore scaffold --fold-column conformer");
    let output = bagwise(folder.path(), &varies.split(' ').collect::<Vec<_>>());
    assert_eq!(output.status.code(), Some(2));
    assert!(
        text(&output.stderr).contains("give all rows of a bag the same 'conformer'"),
        "{}",
        text(&output.stderr)
    );
}

#[test]
fn a_test_file_is_judged_and_repetitions_are_warned_of() {
    let folder = folder();
    let fixed = "--method mi-kernel -p gamma=1/median -p c=10";
    let output = done(folder.path(), &format!("evaluate musk1 {fixed} --test musk1 --format json"));
    assert!(text(&output.stderr).contains("92 of 92 test bags"), "{}", text(&output.stderr));
    let found: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!((&found["test"], &found["protocol"]), (&"musk1".into(), &"train-test".into()));
}

#[test]
fn thresholds_and_the_positive_class_move_the_labels() {
    let folder = folder();
    let line = "evaluate musk1 --method mi-kernel -p gamma=1/median -p norm=mean -p c=1 --folds 5";
    let recall =
        |options: &str| json(folder.path(), &format!("{line} {options}"))["recall"]["mean"].as_f64().unwrap();
    assert!(recall("--threshold recall=1") > recall("--threshold specificity=1") + 0.1);
    assert!(recall("--threshold -9") == 1.0 && recall("--threshold 9") == 0.0);
    // Recall of one class is specificity of the other.
    let other = json(folder.path(), &format!("{line} --positive 0"));
    let gap = recall("") - other["specificity"]["mean"].as_f64().unwrap();
    assert!(gap.abs() < 1e-12, "{gap}");
}

#[test]
fn the_next_command_runs() {
    let folder = folder();
    let found =
        json(folder.path(), &format!("compare {TABLE} --methods wmksvm --folds 3 --inner 3 --scale zscore"));
    let next = found["next"].as_str().unwrap();
    assert!(next.contains("--keep conformer") && next.contains("--scale zscore"), "{next}");
    #[cfg(unix)]
    for line in [next, "bagwise inspect 'synthetic:gauss?bags=4&groups=2'"] {
        let output = common::shell(folder.path(), line);
        assert!(output.status.success(), "{line}\n{}", text(&output.stderr));
    }
}

#[cfg(unix)]
#[test]
fn the_next_command_fits_the_parameters_that_were_judged() {
    let folder = folder();
    let line =
        format!("compare {TABLE} --methods mi-kernel --protocol kfold --folds 4 -p mi-kernel.c=3 -o run");
    let found = json(folder.path(), &format!("{line} --no-report"));
    let (next, chosen) = (found["next"].as_str().unwrap(), &found["recommended"]);
    let records = std::fs::read_to_string(folder.path().join("run/records.jsonl")).unwrap();
    let record: serde_json::Value = records
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .find(|record: &serde_json::Value| record["key"]["method"] == *chosen)
        .unwrap();
    let output = common::shell(folder.path(), &format!("{next} --format json --quiet"));
    assert!(output.status.success(), "{next}\n{}", text(&output.stderr));
    let fitted: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(
        (&fitted["parameters"], &fitted["optimistic"]),
        (&record["parameters"], &false.into()),
        "{next}"
    );
}

#[test]
fn a_budget_that_is_up_keeps_what_is_done_and_its_plan_is_repeated() {
    let folder = folder();
    let words = ["compare", "musk1", "--methods", "mi-kernel", "--folds", "3", "--no-report", "-o", "run"];
    let with = |budget: &[&str]| bagwise(folder.path(), &[&words[..], budget].concat());
    let mut hasty = words.to_vec();
    *hasty.last_mut().unwrap() = "hasty";
    hasty.extend(["--budget", "0.001s"]);
    let short = bagwise(folder.path(), &hasty);
    let said = text(&short.stderr);
    assert_eq!(short.status.code(), Some(2));
    // The first method may be done before the clock is looked at.
    assert!(said.contains("fits are kept; repeat it to continue") && said.contains("--budget"), "{said}");
    // With more time it goes on in the same folder.
    let again = bagwise(folder.path(), &[&hasty[..hasty.len() - 1], &["1h"]].concat());
    assert_eq!(again.status.code(), Some(0), "{}", text(&again.stderr));
    let long = with(&["--budget", "1h", "--format", "json"]);
    assert_eq!(long.status.code(), Some(0), "{}", text(&long.stderr));
    let found: serde_json::Value = serde_json::from_slice(&long.stdout).unwrap();
    assert_eq!(found["incomplete"], serde_json::json!([]));
    // The plan is kept, and repeated elsewhere it gives the same records.
    let records = |run: &str| -> Vec<serde_json::Value> {
        let text = std::fs::read_to_string(folder.path().join(run).join("records.jsonl")).unwrap();
        let timeless = |line: &str| {
            let mut record: serde_json::Value = serde_json::from_str(line).unwrap();
            record["seconds"] = 0.into();
            record
        };
        text.lines().map(timeless).collect()
    };
    let mut again = words.to_vec();
    *again.last_mut().unwrap() = "again";
    again.extend(["--plan", "run/plan.json"]);
    let repeated = bagwise(folder.path(), &again);
    assert_eq!(repeated.status.code(), Some(0), "{}", text(&repeated.stderr));
    assert_eq!(records("again"), records("run"));
    let (one, other) = (folder.path().join("run/plan.json"), folder.path().join("again/plan.json"));
    assert_eq!(std::fs::read(one).unwrap(), std::fs::read(other).unwrap());
}

#[test]
fn a_plan_says_what_it_leaves_out_and_how_to_include_it() {
    let folder = folder();
    // Too little for the searches of diverse density; how many baselines are done depends on the machine.
    let output =
        bagwise(folder.path(), &["compare", "musk1", "--budget", "0.2s", "--no-report", "-o", "few"]);
    let said = text(&output.stderr);
    assert!(said.contains("left out, to finish within") && said.contains("dd-svm ("), "{said}");
    assert!(said.contains("a larger --budget includes them"), "{said}");
    // Fits are announced too.
    let fit = "fit musk1 --method simple-mi -p gamma=1 -p c=1 -p embed=mean -o m.bagwise";
    let fitted = bagwise(folder.path(), &fit.split(' ').collect::<Vec<_>>());
    assert!(text(&fitted.stderr).contains("musk1: simple-mi; about a second"), "{}", text(&fitted.stderr));
}

/// Forty bags whose number is ten times a measurement, with attributes made from it.
fn measured(derived: bool) -> String {
    let mut table = String::from(if derived { "bag,label,active,x\n" } else { "bag,label,x\n" });
    for bag in 0..40 {
        let value = (f64::from(bag) * 1.7).sin();
        for i in 0..3 {
            let x = (f64::from(bag * 7 + i) * 2.3).cos() + value;
            table += &match derived {
                true => format!("b{bag},{value:.4},{},{x:.4}\n", u8::from(value > 0.2)),
                false => format!("b{bag},{:.0},{x:.4}\n", 30.0 * value),
            };
        }
    }
    table
}

#[test]
fn many_whole_numbers_are_asked_about() {
    let folder = folder();
    std::fs::write(folder.path().join("tens.csv"), measured(false)).unwrap();
    let page = done(folder.path(), "inspect tens.csv");
    let page = text(&page.stdout);
    assert!(page.contains("different whole numbers on 40 bags") && page.contains("specify which"), "{page}");
    assert!(!page.contains("drop the class"), "{page}");
    for verb in ["evaluate tens.csv --method majority", "compare tens.csv", "fit tens.csv -o m.bagwise"] {
        let refused = bagwise(folder.path(), &verb.split(' ').collect::<Vec<_>>());
        assert_eq!(refused.status.code(), Some(2), "{verb}");
        let said = text(&refused.stderr);
        assert!(said.contains("--task classification or --task regression"), "{verb}: {said}");
    }
    let found = json(folder.path(), "evaluate tens.csv --method majority --task regression --folds 4");
    assert!(found["rmse"]["mean"].is_number() && found["err_percent"].is_null());
    done(folder.path(), "evaluate tens.csv --method majority --task classification --folds 4");
}

#[test]
fn what_gives_the_target_away_is_warned_of_wherever_it_is_learned() {
    let folder = folder();
    std::fs::write(folder.path().join("leak.csv"), measured(true)).unwrap();
    let warning = "attribute active follows from the target";
    assert!(text(&done(folder.path(), "inspect leak.csv").stdout).contains(warning));
    let fixed = "-p gamma=1/median -p c=1";
    for verb in [
        format!("evaluate leak.csv --method simple-mi --folds 3 {fixed}"),
        "compare leak.csv --methods majority --folds 3 --no-report -p simple-mi.c=1 -o run".into(),
        format!("fit leak.csv --method simple-mi {fixed} -o m.bagwise"),
    ] {
        let said = done(folder.path(), &verb);
        let said = text(&said.stderr);
        assert!(said.contains(warning) && said.contains("--ignore"), "{verb}: {said}");
    }
    let said = done(folder.path(), "evaluate leak.csv --method majority --folds 3 --ignore active");
    assert!(!text(&said.stderr).contains(warning));
}

#[test]
fn progress_and_table_show_the_same_value() {
    let folder = folder();
    let run = "compare synthetic:gauss?bags=37 --methods majority,simple-mi -p simple-mi.c=1 --optimize roc_auc --folds 5 \
               --no-report -o run";
    let output = done(folder.path(), run);
    // Of the first table; the second has differences.
    let tables = text(&output.stdout);
    let table = tables.split("\n\n").next().unwrap_or_default();
    let lines = table.lines().filter(|l| l.starts_with(" simple-mi") || l.starts_with(" majority"));
    assert_eq!(lines.clone().count(), 2, "{table}");
    for line in lines {
        let words: Vec<&str> = line.split_whitespace().collect();
        let live = format!("roc_auc {} in ", words[1]);
        let said = text(&output.stderr).lines().find(|l| l.contains(words[0])).unwrap_or("");
        assert!(said.contains(&live), "{line}\n{said}");
    }
    assert!(
        text(&output.stderr).contains("majority           roc_auc 0.500 in "),
        "{}",
        text(&output.stderr)
    );
    // Leave-one-out compares no bags, and says so.
    let alone = done(folder.path(), "evaluate synthetic:gauss?bags=12 --method majority --protocol loo");
    let page = text(&alone.stdout);
    let why = "no value for roc_auc: it compares bags of the same fold, and every fold tests a single bag";
    assert!(page.contains(why), "{page}");
    // No bag is predicted correctly, in no resample: an interval from 0 to 0 would look like certainty.
    assert!(page.contains(" accuracy            0.0000") && !page.contains("bootstrap"), "{page}");
}
