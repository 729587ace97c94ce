//! Pages drawn from made-up records: well-formed, harmless, small, and whole for every kind of task. What a browser makes of
//! the page of a real run is looked at by `browser.py`, which `cargo xtask test` starts.

mod cards;
mod common;

use std::collections::BTreeMap;

use bagwise::judge::{FitStatus, Truth};
use bagwise_report::{
    Context, CoverageSummary, KeptColumn, LoadedRun, ModelSource, ReportOptions, joint, render,
};

use common::{Made, made, well_formed};

fn page(run: LoadedRun) -> String {
    let page = render(&[run], &ReportOptions::default()).unwrap();
    let tags = well_formed(&page).unwrap();
    assert!(tags > 100, "{tags}");
    page
}

#[test]
fn the_checker_of_markup_finds_slips() {
    assert!(well_formed("<!doctype html><p>a &amp; b<br/></p>").is_ok());
    for bad in [
        "<p>",
        "<!doctype html><p><b></p></b>",
        "<!doctype html><p>a & b</p>",
        "<!doctype html>a > b",
        "<!doctype html><p title=\">",
    ] {
        assert!(well_formed(bad).is_err(), "{bad}");
    }
}

#[test]
fn every_kind_of_task_makes_a_whole_page() {
    for classes in [0, 2, 3] {
        let page = page(made(&Made { classes, ..Made::default() }));
        for part in [
            "class=\"verdict\"",
            "class=\"warnings\"",
            "class=\"results\"",
            "For auditors",
            "Model card",
            "-spread\"",
            "-time\"",
            "-grid-0\"",
            "-rounds-1\"",
            "-gram\"",
            "-bag-",
        ] {
            assert!(page.contains(part) || part == "class=\"results\"", "{classes} classes: no {part}");
        }
        assert_eq!(page.contains("-roc\""), classes == 2);
        assert_eq!(page.contains("-reliability\""), classes > 0);
        assert_eq!(page.contains("class=\"matrix\""), classes > 0);
        assert_eq!(page.contains("-values\""), classes == 0);
    }
}

#[test]
fn explained_bags_stand_under_what_they_are() {
    let numbers = page(made(&Made { classes: 0, ..Made::default() }));
    assert!(numbers.contains("<h4>Largest errors</h4>"));
    assert!(!numbers.contains("Right answers") && !numbers.contains("Wrong answers"));
    // One machine is named once, several each in its figure.
    let one = made(&Made { classes: 3, ..Made::default() });
    let mut several = one.clone();
    for record in several.records.iter_mut().filter(|r| r.key.fold == 0) {
        record.reasons.iter_mut().for_each(|r| r.machine = Some((2, None)));
    }
    let (one, several) = (page(one), page(several));
    assert!(
        one.contains("Bars to the right favour class class 1.")
            && !one.contains(": bars to the right favour")
    );
    assert!(!several.contains("Bars to the right favour"));
    assert!(several.contains("; class 2 vs rest: bars to the right favour class 2"));
    assert!(several.contains("; class 1 vs class 0: bars to the right favour class 1"));
}

#[test]
fn the_best_method_that_can_tell_is_explained() {
    let mut run = made(&Made::default());
    let winner = run.records[0].key.method.clone();
    let lead = "The instances that decided";
    let whole = page(run.clone());
    assert!(
        whole.contains(lead) && whole.contains(&format!("predicted by the {winner} model of its outer fold"))
    );
    assert!(!whole.contains("cannot explain by instance"));
    run.records.iter_mut().filter(|r| r.key.method == winner).for_each(|r| r.reasons.clear());
    let other = page(run.clone());
    assert!(
        other.contains(&format!("{winner} cannot explain by instance, so these are the predictions of "))
    );
    assert!(!other.contains(&format!("predicted by the {winner} model of its outer fold")));
    // Constants have reasons without instances; records from before have none.
    run.records.iter_mut().flat_map(|r| &mut r.reasons).for_each(|r| r.parts.clear());
    let none = "No method here explains its predictions by instance";
    assert!(!whole.contains(none) && page(run.clone()).contains(none));
    run.records.iter_mut().for_each(|r| r.reasons.clear());
    assert!(page(run).contains(none));
}

#[test]
fn thresholds_are_those_of_the_records() {
    let said = |of: &dyn Fn(usize) -> Option<f64>, rule: Option<&str>| {
        let mut run = made(&Made::default());
        for record in &mut run.records {
            record.threshold = of(record.key.fold);
        }
        run.context.threshold = rule.map(String::from);
        page(run)
    };
    assert!(said(&|_| None, None).contains("The threshold is a decision value of 0."));
    assert!(said(&|_| Some(0.25), None).contains("The threshold is a decision value of 0.250."));
    let chosen = said(&|fold| Some(fold as f64 / 10.0), None);
    assert!(
        chosen.contains("chosen on the training bags of each fold: decision values from 0.000 to 0.400.")
    );
    assert!(said(&|_| Some(0.1), Some("recall=0.95")).contains("follows the rule recall=0.95"));
    assert!(said(&|_| Some(0.1), Some("0.1")).contains("The threshold is a decision value of 0.1."));
}

#[test]
fn bags_that_are_answered_twice_do_not_count_twice() {
    let ends = |page: &str| {
        let table = page.split("<caption>Reliability</caption>").nth(1).unwrap();
        let table = table.split("</table>").next().unwrap();
        // The last cell of a row counts answers.
        table.split("<tr").map(|r| r.rsplit_once("<td").map_or(r, |(ends, _)| ends)).collect::<String>()
    };
    let run = made(&Made::default());
    // The same answers once more as further folds of the same repeat, as random halves have them.
    let mut again = run.clone();
    let more: Vec<_> = run
        .records
        .iter()
        .cloned()
        .map(|mut r| {
            r.key.fold += 5;
            r
        })
        .collect();
    again.records.extend(more);
    again.records.iter_mut().for_each(|r| r.reasons.clear());
    let (once, twice) = (page(run), page(again));
    assert_eq!(ends(&once), ends(&twice));
    assert!(once.contains("Of 30 bags of class class 1,"));
    assert!(twice.contains("Of 60 predictions for bags of class class 1,"));
    assert!(twice.contains("wrong in") && !once.contains("wrong in"));
}

#[test]
fn names_from_the_data_are_harmless() {
    let evil = "</script><script>alert(1)</script>";
    let attribute = "\" onmouseover=\"alert(2)";
    let mut run = made(&Made { data: evil, ..Made::default() });
    run.roster
        .bags
        .iter_mut()
        .enumerate()
        .for_each(|(i, b)| *b = format!("<img src=x onerror=alert({i})>{attribute}"));
    run.roster.groups = Some(vec![format!("<svg onload=alert(3)>{attribute}"); run.roster.bags.len()]);
    if let Truth::Classes { names, .. } = &mut run.roster.truth {
        *names = vec![format!("<b>{attribute}"), format!("<i>{evil}")];
    }
    for record in &mut run.records {
        record.parameters.insert("c".into(), evil.into());
    }
    run.records[0].outcome.status = FitStatus::Failed;
    run.records[0].outcome.message = Some(format!("{evil}{attribute}"));
    let c = &mut run.context;
    c.command = format!("bagwise compare '{evil}'");
    c.setups.clear();
    c.notes.push(evil.into());
    c.skipped.push(evil.into());
    let named = BTreeMap::from([(0, evil.to_string()), (2, attribute.to_string())]);
    c.kept = Some(KeptColumn { name: evil.into(), values: (0..60).map(|b| (b, named.clone())).collect() });
    c.data.as_mut().unwrap().warnings.push(format!("{evil}\u{0}\u{1b}[31m"));
    c.data.as_mut().unwrap().findings[0].message = format!("{evil}{attribute}");
    c.gram.as_mut().unwrap().of = evil.into();
    let page = page(run);
    // One script, ours; nothing of theirs survives as markup or as an attribute.
    assert_eq!(page.matches("<script").count(), 1);
    assert_eq!(page.matches("<img").count(), 0);
    assert!(!page.contains("<svg onload") && !page.contains("<b>") && !page.contains("<i>"));
    assert!(!page.contains("\" onmouseover=\"") && !page.contains('\u{0}') && !page.contains('\u{1b}'));
    assert!(page.contains("&lt;img src=x onerror=alert("));
    let title = render(
        &[made(&Made::default())],
        &ReportOptions { title: Some(evil.into()), ..ReportOptions::default() },
    )
    .unwrap();
    assert_eq!(title.matches("<script").count(), 1);
}

#[test]
fn hidden_names_do_not_appear() {
    let mut run = made(&Made::default());
    run.roster.groups = Some((0..run.roster.bags.len()).map(|b| format!("patient-{}", b % 9)).collect());
    run.records[0].outcome.status = FitStatus::Failed;
    run.records[0].outcome.message = Some("bag 'bag-0003' is odd".into());
    let named = BTreeMap::from([(0, "CCO".to_string()), (2, "CCN".to_string())]);
    let values = (0..run.roster.bags.len()).map(|b| (b, named.clone())).collect();
    run.context.kept = Some(KeptColumn { name: "smiles".into(), values });
    let data = run.context.data.as_mut().unwrap();
    data.warnings.push("bag-0001 has no rows".into());
    data.findings[0].kind = "clashing_bags".into();
    data.findings[0].message =
        "bags bag-0001 and bag-0002 have the same instances but different labels".into();
    let shown = page(run.clone());
    for name in ["bag-00", "patient-", "smiles CC"] {
        assert!(shown.contains(name), "{name}");
    }
    let hidden = render(&[run], &ReportOptions { hide_ids: true, ..ReportOptions::default() }).unwrap();
    for name in ["bag-00", "patient-", "smiles CC"] {
        assert!(!hidden.contains(name), "{name}");
    }
    assert!(hidden.contains("bag 1") && hidden.contains("but different labels"));
}

#[test]
fn records_alone_are_enough() {
    let mut run = made(&Made { repeats: 2, ..Made::default() });
    run.context = Context::default();
    let page = page(run);
    assert!(page.contains("class=\"verdict\"") && page.contains("-grid-0\"") && !page.contains("-gram\""));
}

#[test]
fn failed_and_limited_fits_are_named() {
    let mut run = made(&Made::default());
    for record in &mut run.records {
        if record.key.method == "mi-kernel" {
            record.outcome.status = FitStatus::IterationLimit;
        }
    }
    let last = run.records.len() - 1;
    run.records[last].outcome.status = FitStatus::Failed;
    run.records[last].outcome.message = Some("no luck".into());
    run.records[last].scored = Default::default();
    let page = page(run);
    assert!(page.contains("5 of 5 fits of mi-kernel stopped before they converged"));
    assert!(page.contains("1 fit of majority failed") && page.contains("no luck"));
}

#[test]
fn a_large_report_is_small() {
    let methods: Vec<String> = (0..12).map(|i| format!("method-number-{i}")).collect();
    let methods: Vec<&str> = methods.iter().map(String::as_str).collect();
    let names: Vec<String> = (0..15).map(|i| format!("data-set-{i}")).collect();
    let runs: Vec<LoadedRun> = names
        .iter()
        .map(|data| made(&Made { data, bags: 200, methods: &methods, repeats: 10, folds: 10, classes: 2 }))
        .collect();
    assert_eq!(runs.iter().map(|r| r.records.len()).sum::<usize>(), 12 * 15 * 100);
    let page = render(&runs, &ReportOptions::default()).unwrap();
    well_formed(&page).unwrap();
    assert!(page.len() < 3_000_000, "{} bytes", page.len());
    for part in ["critical difference", "Friedman", "Holm p", "Wilcoxon p", "id=\"cd\"", "id=\"d14\""] {
        assert!(page.contains(part), "{part}");
    }
    let folder = std::path::Path::new(env!("CARGO_TARGET_TMPDIR"));
    std::fs::write(folder.join("large.html"), page).unwrap();
}

/// What `cargo xtask test` opens in a browser: names as long as they come, and marks for as many methods as can be told apart.
#[test]
fn sixteen_methods_on_ten_data_sets_make_a_page() {
    let names = bagwise::methods::METHODS.iter().map(|m| m.info().name);
    let mut methods: Vec<&str> = names.filter(|name| *name != "majority").collect();
    methods.sort_by_key(|name| std::cmp::Reverse(name.len()));
    methods.truncate(14);
    methods.extend(["a random forest, trained elsewhere on the same folds", "majority"]);
    let classes = [2, 2, 2, 3, 2, 2, 8, 2, 2, 2];
    let runs: Vec<LoadedRun> = classes
        .iter()
        .enumerate()
        .map(|(i, &classes)| {
            let data = match i {
                0 => "synthetic:scaffolds?bags=200&groups=40&signal=2".to_string(),
                1 => "studies/2026/slides_of_the_second_hospital.parquet".into(),
                _ => format!("text_comp_sys_{}", "ibm_pc_hardware_".repeat(1 + i % 2) + &i.to_string()),
            };
            made(&Made { data: &data, methods: &methods, repeats: 2, classes, ..Made::default() })
        })
        .collect();
    let page = several(&runs);
    assert!(page.contains("<h1>16 methods on 10 data sets</h1>"));
    // Every method has a look of its own, but for the baseline, which is grey.
    for at in 0..15 {
        assert!(page.contains(&format!("data-m=\"m{at}\"")), "m{at}");
    }
    assert!(!page.contains("data-m=\"m15\"") && page.contains("data-m=\"mx\""));
    let folder = std::path::Path::new(env!("CARGO_TARGET_TMPDIR"));
    std::fs::write(folder.join("sixteen.html"), page).unwrap();
}

#[test]
fn few_data_sets_are_not_tested_over() {
    let runs: Vec<LoadedRun> =
        ["one", "two", "three"].map(|data| made(&Made { data, ..Made::default() })).into_iter().collect();
    let page = render(&runs, &ReportOptions::default()).unwrap();
    well_formed(&page).unwrap();
    assert!(page.contains("Over 3 data sets") && page.contains("average rank"));
    assert!(!page.contains("Friedman") && !page.contains("id=\"cd\""));
}

/// What stands between two texts of a page, from the first time that the first occurs.
fn between<'p>(page: &'p str, from: &str, to: &str) -> &'p str {
    let rest = page.split_once(from).unwrap_or_else(|| panic!("no {from}")).1;
    rest.split_once(to).unwrap_or_else(|| panic!("no {to}")).0
}

/// The sentence at the top.
fn verdict(page: &str) -> &str {
    between(page, "<p class=\"verdict\">", "</p>")
}

fn several(runs: &[LoadedRun]) -> String {
    let page = render(runs, &ReportOptions::default()).unwrap();
    well_formed(&page).unwrap();
    page
}

#[test]
fn the_same_data_count_once_whatever_they_are_called() {
    let on = |data: &str| made(&Made { data, ..Made::default() });
    // The same data, judged anew with other answers, under the name they had or another.
    let again = |answers: &str, name: &str| {
        let mut run = made(&Made { data: answers, ..Made::default() });
        run.roster.fingerprint = on("one").roster.fingerprint;
        run.roster.data = name.into();
        for record in &mut run.records {
            record.data = run.roster.fingerprint.clone();
            record.key.data = name.into();
        }
        run
    };
    let three = [on("one"), on("two"), on("three")];
    let five = [&three[..], &[again("anew", "one"), again("elsewhere", "copies/uno.csv")]].concat();
    let (once, repeated) = (several(&three), several(&five));
    let ranks = |page: &str| between(page, "average rank</", "</tr>").to_string();
    assert_eq!(ranks(&once), ranks(&repeated));
    assert!(repeated.contains("<h1>3 methods on 3 data sets</h1>") && repeated.contains("180 bags · 5 runs"));
    let said = verdict(&repeated);
    assert!(said.starts_with("Over 3 data sets"), "{said}");
    let named = "using the run named first: one (run 2) uses the same data as one (run 1) and uno.csv uses the same data as one (run 1).";
    assert!(said.contains(named), "{said}");
    // Five runs are not five data sets to be tested over, and two of the same are not two to be ranked over.
    assert!(!repeated.contains("Friedman") && repeated.contains("id=\"d4\""));
    let same = several(&[on("one"), again("anew", "one")]);
    assert!(verdict(&same).contains("All runs use the same data"), "{}", verdict(&same));
    assert!(!same.contains("average rank<") && same.contains("<h1>3 methods on 1 data set</h1>"));
    assert!(!once.contains("the same data as") && !once.contains("(run 1)"));
}

#[test]
fn why_there_are_no_ranks_or_no_test_is_said_as_it_is() {
    let names = ["a", "b", "c", "d", "e", "f", "g"];
    let on = |data, methods| made(&Made { data, methods, ..Made::default() });
    let pair: Vec<LoadedRun> = names.iter().map(|data| on(data, &["mi-kernel", "majority"])).collect();
    // Two methods have a test of their own, and few data sets have none.
    let many = several(&pair);
    assert!(!verdict(&many).contains("too few data sets"), "{}", verdict(&many));
    assert!(verdict(&many).contains("Wilcoxon") && many.contains("Exact Wilcoxon signed-rank test of "));
    // One of the five is a tie.
    let five = several(&pair[..5]);
    assert!(
        verdict(&five).contains("no result could be significant with 4 differences"),
        "{}",
        verdict(&five)
    );
    assert!(verdict(&several(&pair[..4])).contains("There are too few data sets for a test"));
    let apart = several(&[on("a", &["mi-kernel", "majority"]), on("b", &["mi-kernel", "simple-mi"])]);
    assert!(verdict(&apart).contains("fewer than two methods have a value on every data set"));
    let mut other = on("b", &["mi-kernel", "majority"]);
    other.context.metric = Some(bagwise::judge::Metric::F1);
    let apart = several(&[pair[0].clone(), other]);
    assert!(verdict(&apart).contains("a uses the metric accuracy, b uses F1."), "{}", verdict(&apart));
}

/// A run whose first method drew on the test bags.
fn pooled(data: &str) -> LoadedRun {
    let mut run = made(&Made { data, ..Made::default() });
    for record in run.records.iter_mut().filter(|r| r.key.method == "mi-kernel") {
        record.parameters.insert("pool".into(), "all".into());
    }
    run
}

#[test]
fn what_is_too_good_is_said_of_several_runs_as_of_one() {
    let said = "The values of mi-kernel are optimistic: test bags were seen in training";
    assert!(verdict(&page(pooled("one"))).contains(&format!("{said}.")));
    let other = made(&Made { data: "two", ..Made::default() });
    let mixed = several(&[pooled("one"), other.clone()]);
    assert!(verdict(&mixed).contains(&format!("{said} on one.")), "{}", verdict(&mixed));
    let top = between(&mixed, "class=\"verdict\"", "id=\"overview\"");
    assert!(top.contains("one: mi-kernel used the features of test bags"), "{top}");
    // What concerns all runs is said once.
    assert_eq!(top.matches("3 bags are copies of an earlier one.").count(), 1, "{top}");
    let both = several(&[pooled("one"), pooled("two")]);
    assert!(verdict(&both).contains(&format!("{said}.")), "{}", verdict(&both));
    let mut chosen = other.clone();
    chosen.records.iter_mut().for_each(|r| r.protocol = "best-on-cv".into());
    let mixed = several(&[chosen, made(&Made::default())]);
    assert!(verdict(&mixed).contains("The protocol is optimistic on two: parameters were chosen"));
    let honest = several(&[other, made(&Made::default())]);
    assert!(!verdict(&honest).contains("too good") && !verdict(&honest).contains("optimistic"));
}

#[test]
fn a_model_card_says_what_its_bags_had_to_do_with_training() {
    let card = |run: LoadedRun| between(&page(run), "<dt>how good</dt><dd>", "</dd>").to_string();
    // Without the simpler method, which would be recommended and described.
    let without_simple = |mut run: LoadedRun| {
        run.records.retain(|r| r.key.method != "simple-mi");
        run
    };
    let pooled = |name| without_simple(pooled(name));
    assert_eq!(between(&page(made(&Made::default())), "Model card: ", "<"), "simple-mi");
    let honest = without_simple(made(&Made::default()));
    assert_eq!(between(&page(honest.clone()), "Model card: ", "<"), "mi-kernel");
    assert!(card(honest.clone()).ends_with(", on bags not seen in training"));
    let saw = card(pooled("made"));
    assert!(
        saw.ends_with(
            "on bags whose features were used in training, without their labels (pool=all): optimistic for new bags"
        ),
        "{saw}"
    );
    let whole = page(pooled("made"));
    assert!(!whole.contains("model that had not seen it;") && !whole.contains("trained without the bag,"));
    let mut chosen = honest;
    chosen.records.iter_mut().for_each(|r| r.protocol = "best-on-cv".into());
    let chosen = card(chosen);
    assert!(
        chosen.ends_with("on the folds used to choose its parameters: optimistic for new bags"),
        "{chosen}"
    );
}

#[test]
fn one_method_is_the_best_of_nothing() {
    for method in ["mi-kernel", "majority"] {
        let mut run = made(&Made { methods: &[method], ..Made::default() });
        run.records.iter_mut().for_each(|r| r.on_edge = vec!["c".into()]);
        let alone = page(run);
        let shown = between(&alone, "<body", "<script");
        assert!(
            verdict(&alone).starts_with(&format!("{method} on made: accuracy 0.")),
            "{}",
            verdict(&alone)
        );
        assert!(verdict(&alone).ends_with(")."), "{}", verdict(&alone));
        for word in
            [">best<", "best first", "against best", "\"best\"", "winner", "all methods get", "methods wrong"]
        {
            assert!(!shown.contains(word), "{method}: {word}");
        }
    }
    let two = page(made(&Made::default()));
    assert!(verdict(&two).starts_with("mi-kernel is best on made") && two.contains(">best<"));
}

#[test]
fn folders_are_read_and_damage_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let run = made(&Made::default());
    let write = |name: &str, text: String| std::fs::write(folder.path().join(name), text).unwrap();
    let error = |path: &std::path::Path| LoadedRun::read(path).unwrap_err().to_string();
    assert!(error(folder.path()).contains("records.jsonl: no such file"));
    let lines: Vec<String> = run.records.iter().map(|r| serde_json::to_string(r).unwrap() + "\n").collect();
    write("records.jsonl", lines.concat());
    assert!(error(folder.path()).contains("roster.json"));
    write("roster.json", serde_json::to_string(&run.roster).unwrap());
    let read = LoadedRun::read(folder.path()).unwrap();
    assert_eq!((read.records.len(), read.context), (run.records.len(), Context::default()));
    write("report.json", serde_json::to_string(&run.context).unwrap());
    let read = LoadedRun::read(&folder.path().join("records.jsonl")).unwrap();
    assert_eq!(read.context, run.context);
    // The same records and context are the same page.
    let again = render(&[read], &ReportOptions::default()).unwrap();
    assert!(again == render(std::slice::from_ref(&run), &ReportOptions::default()).unwrap());
    write("report.json", "{".into());
    assert!(error(folder.path()).contains("report.json: cannot be parsed"));
    // What a context says of bags that do not exist is not believed.
    let mut far = run.context.clone();
    far.gram.as_mut().unwrap().levels.pop();
    write("report.json", serde_json::to_string(&far).unwrap());
    let read = LoadedRun::read(folder.path()).unwrap();
    assert!(read.context.gram.is_none());
    well_formed(&render(&[read], &ReportOptions::default()).unwrap()).unwrap();
    write("records.jsonl", String::new());
    assert!(error(folder.path()).contains("there are no records for made"));
    assert!(render(&[], &ReportOptions::default()).is_err());
}

#[test]
fn the_skeleton_stays_as_it_is() {
    let page = page(made(&Made::default()));
    // Headings and ids, in order: what links and readers of older reports rely on.
    let mut outline = String::new();
    for tag in page.split('<').skip(1) {
        let (head, text) = tag.split_once('>').unwrap_or((tag, ""));
        let name = head.split(' ').next().unwrap_or_default();
        let id = head
            .split("id=\"")
            .nth(1)
            .and_then(|i| i.split('"').next())
            .filter(|_| name != "title" && name != "desc");
        match (name, id) {
            ("h1" | "h2" | "h3" | "h4", _) => outline += &format!("{name} {text}\n"),
            (_, Some(id)) => outline += &format!("  #{id}\n"),
            _ => {}
        }
    }
    insta::assert_snapshot!(outline);
}

#[test]
fn differences_from_the_recommended_method_are_drawn_as_they_were_tested() {
    let run = made(&Made { methods: &["mi-kernel", "wmksvm", "simple-mi", "majority"], ..Made::default() });
    let found =
        bagwise::run::Verdict::new(&run.records, &run.roster, run.metric(), run.level(), false).unwrap();
    let whole = page(run);
    let figure = between(&whole, "<figure id=\"d0-differences\">", "</figure>");
    assert!(figure.contains(&format!("Difference from {}, the recommended method", found.recommended())));
    let drawn = between(figure, "<svg", "</svg>");
    assert_eq!(drawn.matches("class=\"mark").count(), 3, "{drawn}");
    for (line, difference) in found.table.iter().zip(&found.against_recommended) {
        let Some(difference) = difference else { continue };
        let (value, ends) = (difference.value.unwrap(), difference.interval.unwrap());
        let text = [value, ends.low, ends.high].map(|v| {
            let sign = if v > 0.0 { "+" } else { "" };
            format!("{sign}{v:.3}").replace("-0.000", "0.000").replace('-', "\u{2212}")
        });
        let title = format!(
            "{} {}, interval {} to {}, {}",
            line.method,
            text[0],
            text[1],
            text[2],
            difference.standing.as_str()
        );
        assert!(drawn.contains(&title), "{title}\n{drawn}");
    }
    // One method differs from nothing.
    assert!(!page(made(&Made { methods: &["mi-kernel"], ..Made::default() })).contains("-differences\""));
}
