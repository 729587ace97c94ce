//! What users get wrong, and would conclude from it: each case ended in a wrong conclusion without a word once.

mod common;

use std::fmt::Write as _;
use std::path::Path;

use common::{bagwise, done, folder, json, noise, said, text, write};

/// `noise.csv`: forty bags of two classes that nothing tells apart.
fn write_noise(folder: &Path) {
    write(folder, "noise.csv", "label,f,g", 40, |bag, i| {
        format!("{},{},{}", bag % 2, noise(bag, i), noise(bag, 9 + i))
    });
}

#[test]
fn a_rare_class_is_said_to_make_accuracy_useless() {
    let folder = folder();
    let path = folder.path();
    write(path, "rare.csv", "label,f,g", 60, |bag, i| {
        format!("{},{},{}", u8::from(bag % 20 == 0), noise(bag, i), noise(bag, 9 + i))
    });
    let compared = said(path, "compare rare.csv --methods simple-mi -o rare --no-report");
    assert!(compared.contains("a constant prediction has an accuracy of 0.950"), "{compared}");
    assert!(compared.contains("--optimize balanced_accuracy or --optimize roc_auc"), "{compared}");
    assert!(said(path, "fit rare.csv --method simple-mi -o r.bagwise").contains("accuracy of 0.950"));
    let other = said(path, "compare rare.csv --methods simple-mi --optimize roc_auc -o auc --no-report");
    assert!(!other.contains("a constant prediction has"), "{other}");
}

#[test]
fn bags_that_are_there_twice_are_named_before_a_comparison() {
    let folder = folder();
    let path = folder.path();
    write(path, "twice.csv", "label,Nr,f,g", 40, |bag, i| {
        let first = bag % 20;
        format!("{},{},{},{}", first % 2, 7 * bag + 3, noise(first, i), noise(first, 9 + i))
    });
    for line in [
        "compare twice.csv --ignore Nr --methods simple-mi -o twice --no-report",
        "evaluate twice.csv --ignore Nr --method simple-mi",
        "fit twice.csv --ignore Nr --method simple-mi -o m.bagwise",
    ] {
        let said = said(path, line);
        assert!(said.contains("warning: 20 bags are copies of an earlier one; copies in training"), "{said}");
    }
    let numbered = said(path, "compare twice.csv --methods simple-mi -o numbered --no-report");
    assert!(numbered.contains("attribute Nr is a different whole number for every bag"), "{numbered}");
}

#[test]
fn a_code_for_a_missing_value_is_named_with_the_option_that_says_so() {
    let folder = folder();
    let path = folder.path();
    write(path, "coded.csv", "label,f,g", 40, |bag, i| {
        let g = if bag % 8 == 0 { -999.0 } else { noise(bag, 9 + i) };
        format!("{},{},{g}", bag % 2, noise(bag, i))
    });
    let compared = said(path, "compare coded.csv --methods simple-mi -o coded --no-report");
    assert!(compared.contains("attribute g is -999 in several instances"), "{compared}");
    assert!(compared.contains("mark it as one with --missing-values -999"), "{compared}");
    let told = said(path, "inspect coded.csv --missing-values -999");
    assert!(told.contains("15 values are missing: g 15 (12%)") && !told.contains("is -999 in"), "{told}");
}

#[test]
fn names_declared_as_categories_are_not_called_numbers() {
    let folder = folder();
    let path = folder.path();
    write(path, "names.csv", "label,name,f", 40, |bag, i| format!("{},n{bag},{}", bag % 2, noise(bag, i)));
    let found = said(path, "inspect names.csv --categorical name");
    assert!(found.contains("attribute name has nearly as many categories as there are bags"), "{found}");
    assert!(!found.contains("whole number"), "{found}");
}

#[test]
fn a_column_of_patients_is_proposed_as_the_group() {
    let folder = folder();
    let path = folder.path();
    write(path, "patients.csv", "label,patient,f", 40, |bag, i| {
        format!("{},P{},{}", bag / 4 % 2, bag / 4, noise(bag, i))
    });
    let found = said(path, "inspect patients.csv");
    assert!(found.contains("name it as the group with --group COLUMN; if it would not be known"), "{found}");
}

#[test]
fn a_simpler_method_below_the_baseline_is_not_recommended() {
    let folder = folder();
    let path = folder.path();
    write_noise(path);
    let json = json(path, "compare noise.csv --methods mi-kernel,citation-knn -o noise --no-report");
    let value = |name: &str| {
        let rows = json["methods"].as_array().unwrap();
        rows.iter().find(|m| m["method"] == name).unwrap()["accuracy"]["mean"].as_f64().unwrap()
    };
    let taken = json["recommended"].as_str().unwrap();
    assert!(value(taken) >= value("majority"), "{taken}: {json}");
}

#[test]
fn the_report_has_the_methods_of_the_last_run_only() {
    let folder = folder();
    let path = folder.path();
    let compare = "compare musk1 --methods simple-mi -p c=1 -o run";
    done(path, compare);
    // What simple-mi said, under another name.
    let rows = std::fs::read_to_string(path.join("run/predictions.csv")).unwrap();
    let own = rows.lines().enumerate().filter(|(i, l)| *i == 0 || l.contains(",simple-mi,"));
    std::fs::write(path.join("mine.csv"), own.map(|(_, l)| format!("{l}\n")).collect::<String>()).unwrap();
    let page = |name: &str| std::fs::read_to_string(path.join(name)).unwrap();
    done(path, &format!("{compare} --with withdrawn=mine.csv"));
    assert!(page("run/report.html").contains("withdrawn"));
    done(path, compare);
    done(path, "report run -o again.html");
    assert!(!page("run/report.html").contains("withdrawn") && !page("again.html").contains("withdrawn"));
}

#[test]
fn labels_written_as_decimals_are_the_classes_of_the_model() {
    let folder = folder();
    let path = folder.path();
    let row = |bag: usize, i: usize| format!("{},{}", noise(bag, i) + (bag % 2) as f64, noise(bag, 9 + i));
    write(path, "whole.csv", "label,f,g", 20, |bag, i| format!("{},{}", bag % 2, row(bag, i)));
    write(path, "decimal.csv", "label,f,g", 10, |bag, i| format!("{}.0,{}", bag % 2, row(bag + 50, i)));
    done(path, "fit whole.csv --method simple-mi -p c=1 -o m.bagwise");
    assert!(said(path, "evaluate --model m.bagwise decimal.csv").contains("accuracy"));
}

#[test]
fn advice_on_folds_names_the_option_that_helps() {
    let folder = folder();
    let path = folder.path();
    write(path, "four.csv", "label,group,f", 16, |bag, i| {
        format!("{},G{},{}", bag % 2, bag / 4, noise(bag, i))
    });
    let line = "compare four.csv --methods simple-mi -o four --no-report";
    let output = bagwise(path, &format!("{line} --inner 5").split_whitespace().collect::<Vec<_>>());
    let error = text(&output.stderr);
    assert!(error.contains("use at most 3 folds with --inner\n"), "{error}");
    // Where nothing is said, there are as many as there are groups left; fit has all of them.
    done(path, line);
    let fitted = said(path, "fit four.csv --method simple-mi -p c=1 -p gamma=1 -o four.bagwise");
    assert!(fitted.contains("over 4 inner folds"), "{fitted}");
}

#[test]
fn training_bags_are_known_in_any_table() {
    let folder = folder();
    let path = folder.path();
    let row = |bag: usize, i: usize| format!("{},{},{}", bag % 2, noise(bag, i), noise(bag, 9 + i));
    write(path, "train.csv", "label,f,g", 20, row);
    done(path, "fit train.csv --method mi-kernel -p gamma=1 -p c=1 -o m.bagwise");
    let evaluated = |name: &str| said(path, &format!("evaluate --model m.bagwise {name}"));
    write(path, "new.csv", "label,f,g", 10, |bag, i| row(bag + 50, i));
    assert!(!evaluated("new.csv").contains("training data"));
    // Some of them among others, with columns in another order, and bags under other names.
    write(path, "mixed.csv", "g,label,f", 10, |bag, i| {
        let cells = row(if bag < 4 { bag } else { bag + 50 }, i);
        let mut cells = cells.split(',');
        let (label, f, g) = (cells.next().unwrap(), cells.next().unwrap(), cells.next().unwrap());
        format!("{g},{label},{f}")
    });
    let mixed = evaluated("mixed.csv");
    assert!(mixed.contains("4 of the 10 bags are in the training data of the model"), "{mixed}");
}

#[test]
fn the_next_command_leaves_out_what_was_said_of_other_methods() {
    let folder = folder();
    let path = folder.path();
    write_noise(path);
    for (psi, folder) in [("psi=4", "one"), ("isk.psi=4", "two")] {
        let line = format!("compare noise.csv --methods isk -p {psi} -o {folder} --no-report");
        let json = json(path, &line);
        let next = json["next"].as_str().unwrap().strip_prefix("bagwise ").unwrap().to_string();
        let taken = json["recommended"].as_str().unwrap();
        assert_eq!(next.contains("psi=4"), taken == "isk", "{next}");
        done(path, &next);
    }
}

#[test]
fn a_sphere_without_a_neighbour_holds_everything_and_can_be_saved() {
    let folder = folder();
    let path = folder.path();
    let fit = "fit synthetic:gauss?bags=20 --method isk -p partition=sphere -p psi=1 -p epsilon=1 -p c=1 -o s.bagwise";
    done(path, fit);
    done(path, "predict s.bagwise synthetic:gauss?bags=20");
}

#[test]
fn part_of_a_name_finds_the_whole() {
    let folder = folder();
    let line = "evaluate synthetic:gauss?bags=20 --method simple-mi --optimize auc";
    let output = bagwise(folder.path(), &line.split(' ').collect::<Vec<_>>());
    assert!(text(&output.stderr).contains("did you mean 'roc_auc'?"), "{}", text(&output.stderr));
}

#[test]
fn data_of_an_experiment_are_named_as_seen_from_its_file() {
    let folder = folder();
    let path = folder.path();
    std::fs::create_dir(path.join("study")).unwrap();
    write_noise(&path.join("study"));
    let text = "title = \"t\"\nsource = \"s\"\nmetric = \"accuracy\"\n[protocol]\nname = \"kfold\"\nfolds = 3\n\
                [[data]]\nname = \"noise\"\nread = \"noise.csv\"\n[[method]]\nname = \"means\"\nmethod = \"simple-mi\"\n";
    std::fs::write(path.join("study/one.toml"), text).unwrap();
    let found = said(path, "run study/one.toml -o out --no-report");
    assert!(!found.contains("missing") && path.join("out").join("table.md").is_file(), "{found}");
}

#[test]
fn random_labels_are_not_better_than_a_constant_by_f1() {
    let folder = folder();
    let path = folder.path();
    write_noise(path);
    for metric in ["f1", "recall", "pr_auc"] {
        let line = format!(
            "compare noise.csv --methods simple-mi --optimize {metric} --folds 4 -o {metric} --no-report"
        );
        let found = said(path, &line);
        // The majority predicts no bag as positive, and would be beaten by anything that predicts some.
        assert!(!found.contains("clearly better") && !found.contains("against constant"), "{found}");
        let why = ["predicting the other class for every bag", "a random order has a higher value"];
        assert!(found.contains("majority is best") || why.iter().any(|why| found.contains(why)), "{found}");
    }
}

#[test]
fn a_constant_that_wins_does_not_hide_a_good_ranking() {
    let folder = folder();
    let path = folder.path();
    // One bag in ten is positive, and f tells most of them apart, but too weakly to be predicted.
    write(path, "hidden.csv", "label,f", 60, |bag, i| {
        let positive = bag % 10 == 0;
        format!("{},{}", u8::from(positive), noise(bag, i) + if positive { 0.35 } else { 0.0 })
    });
    let found = said(path, "compare hidden.csv --methods simple-mi --folds 5 -p c=0.01 -o out --no-report");
    assert!(found.contains("90% of the bags are of one class"), "{found}");
    assert!(found.contains("By accuracy, no method is better than a constant prediction"), "{found}");
    assert!(
        found.contains("But simple-mi ranks bags clearly better than chance (ROC AUC 1.000, p = 0.0"),
        "{found}"
    );
}

/// Four positive bags of noise have a large area under the curve in three of ten sets like these.
#[test]
fn a_large_area_of_few_bags_is_not_called_a_good_ranking() {
    let folder = folder();
    let path = folder.path();
    for class in [1, 3, 9] {
        write(path, "few.csv", "label,f,g", 40, |bag, i| {
            format!("{},{},{}", u8::from(bag % 10 == class), noise(bag, i), noise(bag, 9 + i))
        });
        let line = format!(
            "compare few.csv --methods simple-mi,mi-wrapper --folds 4 --protocol kfold -o {class} --no-report"
        );
        let found = said(path, &line);
        assert!(found.contains("By accuracy, no method is better than a constant prediction"), "{found}");
        assert!(found.contains("simple-mi may rank bags better than chance (ROC AUC 0.8"), "{found}");
        assert!(found.contains("but these bags do not show it clearly"), "{found}");
        // The sentence goes on about the best, not about the method named in between.
        assert!(found.contains(". majority does not differ clearly from mi-wrapper, simple-mi."), "{found}");
    }
}

#[test]
fn the_positive_class_is_named_where_it_is_not_plain() {
    let folder = folder();
    let path = folder.path();
    let label = |bag: usize| if bag.is_multiple_of(2) { "MSI-H" } else { "MSS" };
    write(path, "slides.csv", "msi,f", 40, |bag, i| format!("{},{}", label(bag), noise(bag, i)));
    let named = "positive class: MSS, the last in sort order; scores and recall are those of MSS, and some methods search for \
                 instances that make a bag MSS; use --positive MSI-H to change this";
    let compare = "compare slides.csv --label msi --methods simple-mi --folds 4 --no-report";
    assert!(said(path, &format!("{compare} -o one")).contains(named));
    assert!(said(path, "fit slides.csv --label msi --method simple-mi -o s.bagwise").contains(named));
    assert!(!said(path, &format!("{compare} --positive MSI-H -o two")).contains("positive class:"));
    write_noise(path);
    assert!(
        !said(path, "compare noise.csv --methods simple-mi --folds 4 -o n --no-report")
            .contains("positive class:")
    );
}

#[test]
fn a_coordinate_called_y_is_not_proposed_as_the_label() {
    let folder = folder();
    let path = folder.path();
    let mut table = "slide,x,y,msi,f\n".to_string();
    for bag in 0..20 {
        for i in 0..4 {
            let msi = if bag % 2 == 0 { "high" } else { "low" };
            writeln!(table, "S{bag},{},{},{msi},{}", 256 * (i % 2), 256 * (i / 2), noise(bag, i)).unwrap();
        }
    }
    std::fs::write(path.join("slides.csv"), table).unwrap();
    let found = said(path, "inspect slides.csv");
    assert!(found.contains("--bag slide --label msi"), "{found}");
}

#[test]
fn a_forgotten_group_is_named_before_estimates_are_too_good() {
    let folder = folder();
    let path = folder.path();
    write(path, "mixed.csv", "label,scaffold,sex,f", 120, |bag, i| {
        format!("{},S{},{},{}", u8::from(noise(bag, 77) > 0.5), bag / 5, ["f", "m"][bag % 2], noise(bag, i))
    });
    let related = "bags with the same 'scaffold' (24 values in 120 bags) may be related";
    let found = said(path, "inspect mixed.csv");
    assert!(
        found.contains(&format!("warning: {related}")) && found.contains("with --group scaffold"),
        "{found}"
    );
    assert!(!found.contains("'sex' (2 values in"), "{found}");
    for line in [
        "compare mixed.csv --methods simple-mi -o m --no-report",
        "fit mixed.csv --method simple-mi -o m.bagwise",
    ] {
        let printed = said(path, line);
        assert!(printed.contains(related) && printed.contains("with --group scaffold"), "{printed}");
        let grouped = line.replace("-o m", "-o grouped");
        assert!(!said(path, &format!("{grouped} --group scaffold")).contains(related));
    }
    // A column that is kept is none to be learned from, but its bags are as related as before.
    assert!(said(path, "inspect mixed.csv --keep scaffold").contains(related));
    // So it is with names that are left out: two bags for each.
    write(path, "pairs.csv", "label,donor,age,f", 90, |bag, i| {
        let age = 40 + bag % 20;
        format!("{},D{},{age},{}", u8::from(noise(bag, 77) > 0.5), (bag / 2) * 31 % 46, noise(bag, i))
    });
    let found = said(path, "inspect pairs.csv");
    assert!(found.contains("bags with the same 'donor' (45 values in 90 bags) may be related"), "{found}");
    assert!(!found.contains("'age' ("), "{found}");
}

#[test]
fn a_patient_in_the_table_of_labels_that_nobody_uses_is_named() {
    let folder = folder();
    let path = folder.path();
    std::fs::create_dir(path.join("slides")).unwrap();
    let mut table = "slide,patient,msi,age\n".to_string();
    for slide in 0..40 {
        // NumPy's format, version 1: one instance of two features.
        let mut file = b"\x93NUMPY\x01\x00\x76\x00".to_vec();
        let head = "{'descr': '<f4', 'fortran_order': False, 'shape': (1, 2), }";
        file.extend_from_slice(format!("{head:<117}\n").as_bytes());
        for f in 0..2 {
            file.extend_from_slice(&(noise(slide, f) as f32).to_le_bytes());
        }
        std::fs::write(path.join(format!("slides/s{slide}.npy")), file).unwrap();
        writeln!(table, "s{slide},P{},{},{}", slide / 4, slide / 4 % 2, 40 + slide % 7).unwrap();
    }
    std::fs::write(path.join("labels.csv"), table).unwrap();
    let options = "slides --labels labels.csv --bag slide --label msi";
    let related = "bags with the same 'patient' (10 values in 40 bags) may be related";
    let found = said(path, &format!("inspect {options}"));
    assert!(found.contains(related) && found.contains("with --group patient"), "{found}");
    assert!(!found.contains("'age'"), "{found}");
    assert!(said(path, &format!("evaluate {options} --method simple-mi")).contains(related));
    assert!(!said(path, &format!("inspect {options} --group patient")).contains(related));
}

#[test]
fn a_column_that_nearly_tells_the_label_is_asked_about() {
    let folder = folder();
    let path = folder.path();
    let well = |bag: usize| 1 + bag % 5 + 6 * ((bag + usize::from(bag < 4)) % 2);
    write(path, "leak.csv", "label,f,well", 200, |bag, i| {
        format!("{},{},{}", bag % 2, noise(bag, i), well(bag))
    });
    let found = said(path, "inspect leak.csv");
    assert!(found.contains("warning: attribute well alone predicts the label of 98% of the bags"), "{found}");
    assert!(found.contains("is it derived from the label, or known only afterwards?"), "{found}");
    let printed = said(path, "compare leak.csv --methods simple-mi -o leak --no-report");
    assert!(printed.contains("attribute well alone predicts the label of 98% of the bags"), "{printed}");
    write(path, "plate.csv", "label,f,plate", 200, |bag, i| {
        format!("{},{},P{}", bag % 2, noise(bag, i), (bag + usize::from(bag % 33 == 0)) % 2)
    });
    assert!(
        said(path, "inspect plate.csv")
            .contains("attribute plate alone predicts the label of 96% of the bags")
    );
    write(path, "dose.csv", "label,f,g", 60, |bag, i| {
        let y = 5.0 * noise(bag, 50);
        format!("{y},{},{}", noise(bag, i), 3.0 * y + 0.1 * noise(bag, i))
    });
    let found = said(path, "inspect dose.csv");
    assert!(found.contains("attribute g alone explains 99.9% of the variance of the target"), "{found}");
}

#[test]
fn a_title_above_the_headings_is_not_taken_for_them() {
    let folder = folder();
    let path = folder.path();
    let mut table = "Assay Export 2024;;;\nmol;scaffold;active;fit\n".to_string();
    (0..40).for_each(|row| writeln!(table, "{};S{};{};0,{row}", row / 2, row / 8, row / 2 % 2).unwrap());
    std::fs::write(path.join("title.csv"), table).unwrap();
    let output = bagwise(path, &["inspect", "title.csv"]);
    let error = text(&output.stderr);
    assert!(
        error.contains("title.csv, line 1: the line looks like a title above the column names"),
        "{error}"
    );
}

#[test]
fn new_bags_that_are_not_new_or_in_another_unit_are_noticed() {
    let folder = folder();
    let path = folder.path();
    let table = |name: &str, first: usize, unit: f64| {
        write(path, name, "label,group,f,g", 24, |bag, i| {
            let bag = first + bag;
            let f = unit * (noise(bag, i) + (bag % 2) as f64);
            format!("{},G{},{f},{}", bag % 2, bag % 8 / 2, noise(bag, 9 + i))
        });
    };
    table("old.csv", 0, 1.0);
    table("new.csv", 100, 1.0);
    table("metres.csv", 100, 0.001);
    said(path, "fit old.csv --method simple-mi -p c=1 -p gamma=1 --inner 2 -o m.bagwise");
    let found = said(path, "predict m.bagwise old.csv");
    assert!(found.contains("24 of 24 bags are in the training data") && !found.contains("next:"), "{found}");
    let found = said(path, "predict m.bagwise new.csv");
    assert!(found.contains("next: bagwise evaluate --model") && !found.contains("unit"), "{found}");
    let found = said(path, "predict m.bagwise metres.csv");
    assert!(
        found.contains("warning: 'f' varies about 900 times less than in training")
            && found.contains("check that it has the same unit"),
        "{found}"
    );
    let found = said(path, "evaluate --model m.bagwise new.csv");
    assert!(
        found.contains("4 of the 4 groups have the name of a group in the training data, such as 'G2'"),
        "{found}"
    );
    std::fs::write(path.join("gap.csv"), "bag,f,g\n1,,2\n1,1,2\n").unwrap();
    let output = bagwise(path, &["predict", "m.bagwise", "gap.csv"]);
    let error = text(&output.stderr);
    assert!(error.contains("the model was trained on data without missing values"), "{error}");
}

#[test]
fn groups_that_tell_the_label_are_named() {
    let folder = folder();
    let path = folder.path();
    for (name, groups) in [("two.csv", 2), ("six.csv", 6)] {
        write(path, name, "label,group,f", 36, |bag, i| {
            format!("{},G{},{}", bag % 2, bag % groups, noise(bag, i))
        });
    }
    let found = said(path, "inspect six.csv");
    let warning = "all bags of a group have the same label, so there are 6 independent examples and not 36";
    assert!(found.contains(&format!("warning: {warning}")), "{found}");
    assert!(said(path, "compare six.csv --methods simple-mi --inner 2 -o six --no-report").contains(warning));
    let line = "compare two.csv --methods simple-mi -o two --no-report";
    let output = bagwise(path, &line.split_whitespace().collect::<Vec<_>>());
    let error = text(&output.stderr);
    assert!(
        error.contains("with these groups the label of bags in other groups cannot be learned"),
        "{error}"
    );
    assert!(!error.contains("or none"), "{error}");
}

#[test]
fn the_report_says_what_it_left_out_and_which_class_is_positive() {
    let folder = folder();
    let path = folder.path();
    write(path, "tissue.csv", "label,f,g", 24, |bag, i| {
        let class = ["normal", "diseased"][bag % 2];
        format!("{class},{},{}", noise(bag, i) + (bag % 2) as f64, noise(bag, 9 + i))
    });
    let printed = said(path, "compare tissue.csv --methods mirsvm -p mirsvm.c=1 --folds 3 --inner 2 -o t");
    assert_eq!(printed.matches("positive class: normal, the last in sort order").count(), 2, "{printed}");
    let page = std::fs::read_to_string(path.join("t/report.html")).unwrap();
    assert!(page.contains("The positive class is normal. What mirsvm learned may depend on it."), "{page}");
    let known = path.join("t/report.json");
    let mut context: serde_json::Value = serde_json::from_slice(&std::fs::read(&known).unwrap()).unwrap();
    assert_eq!(context["thinned"], serde_json::json!([]));
    context["thinned"] = serde_json::json!([["isk", 225, 450]]);
    std::fs::write(&known, context.to_string()).unwrap();
    done(path, "report t -o again.html");
    let page = std::fs::read_to_string(path.join("again.html")).unwrap();
    assert!(page.contains("Fewer grid points, to save time: isk (225 of 450)."), "{page}");
    // What was done is not computed again, and no time is said for it.
    let again = said(path, "compare tissue.csv --methods mirsvm -p mirsvm.c=1 --folds 3 --inner 2 -o t");
    assert!(again.contains("summary to t; all sessions took "), "{again}");
}

#[test]
fn a_model_that_is_no_better_than_a_constant_is_said_to_be_none() {
    let folder = folder();
    let path = folder.path();
    write_noise(path);
    let fitted = said(
        path,
        "fit noise.csv --method simple-mi -p kernel=rbf -p embed=mean -p gamma=10 -p c=1 -o n.bagwise",
    );
    assert!(fitted.contains("; a constant prediction has 0.500"), "{fitted}");
    assert!(
        fitted.contains("the model is not better than a constant prediction on the inner folds"),
        "{fitted}"
    );
    assert!(said(path, "show n.bagwise").contains("where a constant prediction has 0.500"));
    write(path, "line.csv", "label,f", 30, |bag, i| format!("{}.5,{}", bag, bag as f64 + noise(bag, i)));
    let fitted =
        json(path, "fit line.csv --task regression --method simple-mi -p c=100 -p gamma=0.1 -o l.bagwise");
    // The deviation of 0.5, 1.5, …, 29.5.
    let (value, constant) =
        (fitted["inner_value"].as_f64().unwrap(), fitted["constant_value"].as_f64().unwrap());
    assert!((8.65..8.66).contains(&constant) && value < constant, "{fitted}");
}

#[test]
fn what_makes_bags_unfamiliar_is_named() {
    let folder = folder();
    let path = folder.path();
    let plates = |plate: &'static str| {
        move |bag: usize, i: usize| {
            format!("{},{plate}{},{}", bag % 2, bag % 3, noise(bag, i) + (bag % 2) as f64)
        }
    };
    write(path, "old.csv", "label,plate,f", 30, plates("P"));
    write(path, "new.csv", "label,plate,f", 10, plates("Q"));
    done(path, "fit old.csv --method simple-mi -p c=1 -p gamma=1 -o m.bagwise");
    let printed = said(path, "predict m.bagwise new.csv --ignore label -o p.csv");
    assert!(printed.contains("10 of 10 bags are unfamiliar"), "{printed}");
    assert!(printed.contains("'plate' (unknown category 'Q0', 10 bags)"), "{printed}");
    assert!(printed.contains("wrote p.csv"), "{printed}");
}

#[test]
fn errors_point_at_what_is_wrong() {
    let folder = folder();
    let path = folder.path();
    let error = |line: &str| {
        let output = bagwise(path, &line.split_whitespace().collect::<Vec<_>>());
        assert_eq!(output.status.code(), Some(2), "{line}");
        text(&output.stderr).to_string()
    };
    write(path, "data.csv", "label,pocket_fit", 20, |bag, i| {
        format!("{},{}", bag % 2, noise(bag, i) + (bag % 2) as f64)
    });
    write(path, "other.csv", "PocketFit", 4, |bag, i| noise(bag, i).to_string());
    done(path, "fit data.csv --method simple-mi -p c=1 -p gamma=1 -o m.bagwise");
    assert!(error("predict m.bagwise other.csv").contains("(did you mean 'PocketFit'?)"));
    assert!(error("predict data.csv m.bagwise").contains("next: bagwise predict m.bagwise data.csv"));
    assert!(
        error("inspect molecules.csv --bag conformer --label active")
            .contains("with --label COLUMN or --bag COLUMN")
    );
    std::fs::write(path.join("book.xlsx"), b"PK\x03\x04\x14\x00\x06\x00\x08\x00\x00\x00!\x00").unwrap();
    assert!(error("inspect book.xlsx").contains("save the sheet as CSV"));
    let mut array = b"\x93NUMPY\x01\x00\x76\x00".to_vec();
    let head = "{'descr': '<f4', 'fortran_order': False, 'shape': (1, 2), }";
    array.extend_from_slice(format!("{head:<117}\n").as_bytes());
    array.extend_from_slice(&[0; 8]);
    std::fs::create_dir(path.join("slides")).unwrap();
    std::fs::write(path.join("slides/s.npy"), array).unwrap();
    assert!(error("predict m.bagwise slides/s.npy").contains("give the folder"));
    std::fs::write(path.join("bare.csv"), "b1,0,1\nb1,0,2\nb2,1,3\nb2,1,4\nb3,0,1\nb3,0,2\nb4,1,3\nb4,1,5\n")
        .unwrap();
    done(path, "fit bare.csv --no-header --method simple-mi -p c=1 -p gamma=1 --inner 2 -o bare.bagwise");
    let wider = error("predict bare.bagwise slides");
    assert!(
        wider.contains("the instances have 2 features; the training data had 1")
            && !wider.contains("--label"),
        "{wider}"
    );
}

#[test]
fn a_rule_for_the_threshold_shows_what_it_is_about() {
    let folder = folder();
    let path = folder.path();
    write_noise(path);
    let found =
        said(path, "evaluate noise.csv --method simple-mi --threshold recall=0.9 --folds 4 --inner 2");
    assert!(
        found.contains(" recall ") && found.contains("threshold by recall=0.9, chosen on the training bags"),
        "{found}"
    );
}

#[test]
fn a_point_in_a_column_of_decimal_commas_is_not_a_thousand_times_as_much() {
    let folder = folder();
    let path = folder.path();
    let table = |slip: &str| {
        let mut table = String::from("bag;label;volume;charge\n");
        for bag in 0..8 {
            for i in 0..2 {
                let volume =
                    if (bag, i) == (3, 1) { slip.into() } else { format!("{},4{bag}{i}", 370 + bag) };
                writeln!(table, "b{bag};{};{volume};0,{bag}{i}", bag % 2).unwrap();
            }
        }
        std::fs::write(path.join("mixed.csv"), table).unwrap();
    };
    table("372.442");
    let refused = bagwise(path, &["inspect", "mixed.csv"]);
    assert_eq!(refused.status.code(), Some(2));
    let words = text(&refused.stderr);
    assert!(
        words.contains("'372.442' has a point, and other numbers of its column have decimal commas"),
        "{words}"
    );
    assert!(said(path, "inspect mixed.csv --thousands .").contains("372442"));
    table("372,442");
    assert!(!said(path, "inspect mixed.csv").contains("thousands"));
}

#[test]
fn a_positive_class_that_reads_as_the_negative_one_is_a_warning() {
    let folder = folder();
    let path = folder.path();
    write(path, "act.csv", "label,f,g", 12, |bag, i| {
        format!("{},{},{}", ["active", "inactive"][bag % 2], noise(bag, i), noise(bag, 9 + i))
    });
    let line = "evaluate act.csv --method simple-mi --folds 2 -p c=1";
    let warned = said(path, line);
    assert!(warned.contains("warning: positive class: inactive, the last in sort order"), "{warned}");
    let told = said(path, &format!("{line} --positive active"));
    assert!(!told.contains("positive class: inactive"), "{told}");
}
