//! Requests that were accepted although they could not work, or were refused for a reason that was not theirs: numbers near the
//! end of their range, options that do not go together, outputs among inputs.

#![cfg(unix)]

mod common;

use std::fs;

use common::{bagwise, done, folder, json, refused, run, scene, table, text};

/// misssvm gives witnesses a larger cost than c, so c alone may be finite.
#[test]
fn a_cost_that_a_method_makes_infinite_is_refused() {
    let folder = scene();
    // Fewer positive bags than negative instances.
    let three: String = table(1.0).lines().map(|line| format!("{line}\n")).collect();
    let three = three.replace("b3,1", "b3,2").replace("b9,1", "b9,2").replace("b14,0", "b14,2");
    fs::write(folder.path().join("three.csv"), three).unwrap();
    for line in [
        "fit d.csv --method misssvm -p c=1e308 --inner 2 -o m.bagwise",
        "fit d.csv --method misssvm -p c=1e308 -p kernel=linear --inner 2 -o m.bagwise",
        "fit three.csv --method misssvm -p c=2^1023 --inner 2 -o m.bagwise",
    ] {
        let said = refused(folder.path(), line);
        let why = "times the weight of a bag is not a finite number; use a smaller c";
        assert!(said.contains(why), "{line}: {said}");
    }
}

#[test]
fn an_empty_item_of_a_list_is_no_fraction() {
    let folder = scene();
    for (line, what) in [
        ("fit d.csv --method bow -p power=1, --inner 2 -o m.bagwise", "an empty value"),
        ("fit d.csv --method isk -p epsilon=, --inner 2 -o m.bagwise", "an empty value"),
        ("fit d.csv --method mi-vlad -p energy=1/2,,1 --inner 2 -o m.bagwise", "an empty value"),
        ("fit d.csv --method mi-vlad -p energy=. --inner 2 -o m.bagwise", "."),
        // As numbers always did.
        ("fit d.csv --method mi-kernel -p c=1, --inner 2 -o m.bagwise", "an empty value"),
    ] {
        let said = refused(folder.path(), line);
        assert!(said.contains(&format!(": {what} is not allowed; expected")), "{line}: {said}");
    }
    // What has digits on one side of its point is a number.
    done(folder.path(), "fit d.csv --method isk -p epsilon=.5,1. -p psi=4 --inner 2 -o m.bagwise");
}

#[test]
fn numbers_too_large_for_a_method_are_not_called_missing() {
    let folder = scene();
    fs::write(folder.path().join("large.csv"), table(1e308)).unwrap();
    for method in ["simple-mi", "mi-vlad", "mind", "miles", "bagging", "stacking"] {
        let line = format!("fit large.csv --method {method} --scale none --inner 2 -o m.bagwise");
        let said = refused(folder.path(), &line);
        assert!(!said.contains("NaN") && !said.contains("of bag"), "{line}: {said}");
        assert!(said.contains("large.csv: ") && said.contains("too large"), "{line}: {said}");
        assert!(said.contains("--scale minmax or zscore"), "{line}: {said}");
    }
    // A usual model that is asked about such numbers has its scaling already.
    done(folder.path(), "fit d.csv --method simple-mi -p c=1 --scale none --inner 2 -o m.bagwise");
    fs::write(folder.path().join("far.csv"), "bag,x,z\nok,1,1\nfar,1.7e308,1\nfar,1.7e308,2\n").unwrap();
    let said = refused(folder.path(), "predict m.bagwise far.csv");
    assert!(said.contains("far.csv: ") && said.contains("too large for this model"), "{said}");
    assert!(!said.contains("--scale") && !said.contains("NaN"), "{said}");
}

#[test]
fn a_model_of_numbers_has_no_classes_to_cover() {
    let folder = scene();
    let rows: String = (0..40).map(|b| format!("b{b},{}.5,{},{}\n", b * 3, b, b % 3)).collect();
    fs::write(folder.path().join("r.csv"), format!("bag,label,x,z\n{rows}")).unwrap();
    done(folder.path(), "fit r.csv --method simple-mi -p c=1 --inner 2 --conformal -o r.bagwise");
    done(folder.path(), "predict r.bagwise r.csv --coverage 0.8");
    let said = refused(folder.path(), "predict r.bagwise r.csv --coverage 0.8 --per-class");
    assert!(said.contains("class") && said.contains("number"), "{said}");
}

#[test]
fn a_script_whose_tasks_would_all_fail_is_not_printed() {
    let folder = scene();
    let said = refused(folder.path(), "slurm --shards 2 evaluate d.csv --method simple-mi");
    assert!(said.contains("a shard needs a folder") && said.contains("-o FOLDER"), "{said}");
    done(folder.path(), "slurm --shards 2 evaluate d.csv --method simple-mi -o out");
    done(folder.path(), "slurm --shards 2 compare d.csv");
}

/// The folder would have one more bag the next time.
#[test]
fn a_gram_is_not_written_among_the_bags_it_is_made_of() {
    let folder = scene();
    let path = folder.path();
    fs::create_dir(path.join("bags")).unwrap();
    for bag in 0..6 {
        let mut npy =
            b"\x93NUMPY\x01\x00\x36\x00{'descr':'<f8','fortran_order':False,'shape':(1,2)}  \n".to_vec();
        npy.extend([f64::from(bag), f64::from(bag % 2)].iter().flat_map(|v| v.to_le_bytes()));
        fs::write(path.join(format!("bags/b{bag}.npy")), npy).unwrap();
    }
    const GRAM: &str = "gram bags --method mi-kernel -p gamma=1 -p norm=mean";
    for line in [
        format!("{GRAM} -o bags/g.npy"),
        format!("{GRAM} -o ./bags/../bags/g.npy --force"),
        format!("{GRAM} -o bags/g.npy --shard 1/2"),
    ] {
        let said = refused(path, &line);
        assert!(said.contains("g.npy") && said.contains("write it to another folder"), "{line}: {said}");
        assert_eq!(fs::read_dir(path.join("bags")).unwrap().count(), 6, "{line}");
    }
    done(path, &format!("{GRAM} -o g.npy"));
    // Other files are no bags.
    done(path, "convert bags bags/all.npz --unlabelled");
}

#[test]
fn an_unknown_instruction_set_is_not_passed_over() {
    let folder = scene();
    let output = common::shell(
        folder.path(),
        "BAGWISE_SIMD=axv2 \"$BAGWISE\" fit d.csv --method simple-mi -p c=1 --inner 2 -o m.bagwise",
    );
    let said = text(&output.stderr);
    assert!(said.contains("BAGWISE_SIMD") && said.contains("axv2") && said.contains("portable"), "{said}");
}

#[test]
fn predictions_from_elsewhere_are_not_called_like_the_baseline_of_a_table() {
    let folder = scene();
    done(folder.path(), "compare d.csv --methods majority --folds 4 -o run");
    let rows = fs::read_to_string(folder.path().join("run/predictions.csv")).unwrap();
    let own: String = rows.lines().filter(|l| !l.contains(",majority,")).map(|l| format!("{l}\n")).collect();
    fs::write(folder.path().join("p.csv"), own).unwrap();
    done(folder.path(), "compare d.csv --methods majority --folds 4 --with other=p.csv -o two");
    let said =
        refused(folder.path(), "compare d.csv --methods majority --folds 4 --with constant=p.csv -o three");
    assert!(said.contains("'constant' cannot be the name"), "{said}");
}

#[test]
fn limits_name_what_exceeds_them() {
    let folder = scene();
    let said = refused(folder.path(), "evaluate d.csv --method majority --folds 1000000000");
    assert!(said.contains("1000000000 folds") && !said.contains("repeats"), "{said}");
    let said = refused(folder.path(), "inspect d.csv --memory 999999999999GB");
    assert!(said.contains("--memory") && said.contains("more than any machine has"), "{said}");
}

/// Rows are generated as they are read, so nothing but time was short.
#[cfg(target_os = "linux")]
#[test]
fn a_generator_without_end_is_refused_at_once() {
    let folder = scene();
    let huge = "synthetic:embeddings?bags=10000000&instances=1000000&features=100000";
    let output = common::shell(folder.path(), &format!("timeout 60 \"$BAGWISE\" inspect '{huge}'"));
    let said = text(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{said}");
    assert!(said.contains("too large to generate; use at most 10^13 numbers"), "{said}");
}

/// Rows of a table by their first cell.
fn rows_by_bag(csv: &[u8]) -> std::collections::BTreeMap<String, String> {
    let lines = text(csv).lines().skip(1).filter_map(|line| line.split_once(','));
    lines.map(|(bag, rest)| (bag.to_string(), rest.to_string())).collect()
}

#[test]
fn what_is_drawn_of_a_large_bag_does_not_depend_on_the_others() {
    let folder = folder();
    let write = |name: &str, bags: &[usize]| {
        let mut table = String::from("bag,label,a,b\n");
        for &bag in bags {
            for i in 0..6 {
                let value = |k: usize| ((bag * 31 + i * 17 + k * 7) % 23) as f64 / 3.0 + (bag % 2) as f64;
                table += &format!("B{bag},{},{},{}\n", bag % 2, value(1), value(2));
            }
        }
        fs::write(folder.path().join(name), table).unwrap();
    };
    let all: Vec<usize> = (0..12).collect();
    write("all.csv", &all);
    write("turned.csv", &all.iter().rev().copied().collect::<Vec<_>>());
    write("one.csv", &[7]);
    let fit = "fit all.csv --method mi-kernel -p gamma=1 -p c=1 -p norm=mean --inner 2 -o m.bagwise";
    done(folder.path(), fit);
    let answers = |name: &str| {
        let line = format!("predict m.bagwise {name} --max-instances 2 --format csv");
        rows_by_bag(&done(folder.path(), &line).stdout)
    };
    let whole = answers("all.csv");
    assert_eq!(answers("turned.csv"), whole);
    assert_eq!(answers("one.csv")["B7"], whole["B7"]);
    // A model of parts of bags that is asked about whole ones.
    done(folder.path(), &format!("{fit} --max-instances 2 --force"));
    let said = |line: &str| text(&done(folder.path(), line).stderr).to_string();
    let warning = "12 of 12 bags have more instances than the 2 that were drawn of each bag in training";
    for line in [
        "predict m.bagwise all.csv",
        "predict m.bagwise all.csv --stream",
        "evaluate --model m.bagwise all.csv",
    ] {
        assert!(said(line).contains(warning), "{line}: {}", said(line));
        let same = format!("{} --max-instances 2", line.replace(" --stream", ""));
        assert!(!said(&same).contains("drawn of each bag"), "{same}");
    }
    let compared = done(
        folder.path(),
        "compare all.csv --methods simple-mi -p c=1 -p gamma=1 --max-instances 2 -o c --no-report",
    );
    let page = format!("{}{}", text(&compared.stdout), text(&compared.stderr));
    let next = page.lines().find(|line| line.starts_with("next:")).unwrap();
    let next = next.split_once("bagwise ").unwrap().1;
    assert_eq!(next.matches("--max-instances 2").count(), 1, "{next}");
    done(folder.path(), next);
    let card = done(folder.path(), "show m.bagwise");
    assert!(text(&card.stdout).contains("--max-instances 2"), "{}", text(&card.stdout));
}

#[test]
fn random_halves_are_repeats_also_if_they_have_no_bag_in_common() {
    let folder = folder();
    let row = |b: usize| format!("B{b},{},g{},{}\n", b % 2, b / 6, b as f64 / 7.0);
    let table: String = (0..12).map(row).collect();
    fs::write(folder.path().join("d.csv"), format!("bag,label,group,a\n{table}")).unwrap();
    for seed in 0..6 {
        let line = format!(
            "evaluate d.csv --group group --method majority --protocol half --folds 2 --inner 2 --seed {seed}"
        );
        let found = json(folder.path(), &line);
        assert_eq!(found["accuracy"]["values"].as_array().unwrap().len(), 2, "seed {seed}: {found}");
    }
}

#[test]
fn a_bag_whose_category_is_missing_is_predicted_alone_as_among_others() {
    let folder = folder();
    let write = |name: &str, rows: &str| fs::write(folder.path().join(name), rows).unwrap();
    write(
        "d.csv",
        "bag,label,ring,v\nB0,0,four,1\nB1,1,five,2\nB2,0,four,1.5\nB3,1,six,2.5\nB4,1,,3\nB5,1,five,\nB6,0,four,2.2\nB7,0,six,1\n",
    );
    write("one.csv", "bag,ring,v\nB0,,1\n");
    write("two.csv", "bag,ring,v\nB0,,1\nB1,five,2\n");
    let fit = "fit d.csv --missing median --method simple-mi -p c=1 -p gamma=1 -p embed=mean --inner 2 -o m.bagwise";
    done(folder.path(), fit);
    let answers = |name: &str| {
        rows_by_bag(&done(folder.path(), &format!("predict m.bagwise {name} --format csv")).stdout)
    };
    assert_eq!(answers("one.csv")["B0"], answers("two.csv")["B0"]);
}

#[test]
fn models_of_tables_without_a_heading_know_their_categories() {
    let folder = folder();
    let rows = "B0,0,four,1\nB1,1,five,2\nB2,0,four,1.5\nB3,1,six,2.5\nB4,1,six,3\nB5,1,five,2.7\nB6,0,four,2.2\nB7,0,six,1\n";
    fs::write(folder.path().join("d.csv"), rows).unwrap();
    let fit = "fit d.csv --no-header --bag 1 --label 2 --method simple-mi -p c=1 -p gamma=1 -p embed=mean --inner 2 -o m.bagwise";
    done(folder.path(), fit);
    let answers = |stream: &str| {
        done(folder.path(), &format!("predict m.bagwise d.csv --stream={stream} --format csv")).stdout
    };
    assert_eq!(answers("never"), answers("always"));
    done(folder.path(), "evaluate --model m.bagwise d.csv");
}

#[test]
fn test_data_may_write_a_label_as_another_spelling_of_the_number() {
    let folder = folder();
    let table = |labels: [&str; 2]| -> String {
        let row = |b: usize| format!("B{b},{},{}\n", labels[b % 2], b % 2 * 3 + b % 5);
        format!("bag,label,a\n{}", (0..12).map(row).collect::<String>())
    };
    fs::write(folder.path().join("a.csv"), table(["0", "1"])).unwrap();
    fs::write(folder.path().join("t.csv"), table(["0.0", "1.0"])).unwrap();
    let line = "evaluate a.csv --method simple-mi -p c=1 -p gamma=1 -p embed=mean --inner 2 --test";
    let [same, other] = ["a.csv", "t.csv"].map(|test| json(folder.path(), &format!("{line} {test}")));
    assert_eq!(same["accuracy"]["mean"], other["accuracy"]["mean"]);
}

#[test]
fn kept_columns_never_share_a_name() {
    let folder = folder();
    let row = |b: usize| format!("B{b},{},{},x{b},y{b}\n", b % 2, b % 2 * 3 + b % 5);
    let table: String = (0..12).map(row).collect();
    fs::write(folder.path().join("d.csv"), format!("bag,label,a,score,given score\n{table}")).unwrap();
    let fit = [
        "fit",
        "d.csv",
        "--method",
        "simple-mi",
        "-p",
        "c=1",
        "-p",
        "gamma=1",
        "-p",
        "embed=mean",
        "--inner",
        "2",
    ];
    let kept = ["--keep", "score", "--keep", "given score"];
    let fitted = bagwise(folder.path(), &[&fit[..], &kept, &["-o", "m.bagwise"]].concat());
    assert_eq!(fitted.status.code(), Some(0), "{}", text(&fitted.stderr));
    let said =
        bagwise(folder.path(), &[&["predict", "m.bagwise", "d.csv", "--format", "csv"][..], &kept].concat());
    let head = text(&said.stdout).lines().next().unwrap().to_string();
    assert!(head.ends_with("given given score,given score"), "{head}");
}

#[test]
fn a_kept_column_never_stands_for_what_the_model_says() {
    let folder = folder();
    let row = |b: usize| format!("B{b},{},{},mine,mine,mine\n", b % 2, b % 2 * 3 + b % 5);
    let table: String = (0..12).map(row).collect();
    let head = "bag,label,a,predicted,part,probability 1";
    fs::write(folder.path().join("d.csv"), format!("{head}\n{table}")).unwrap();
    let kept = ["--keep", "predicted", "--keep", "part", "--keep", "probability 1"];
    let run = |line: &str| {
        let words: Vec<&str> = line.split(' ').chain(kept).collect();
        let said = bagwise(folder.path(), &words);
        assert_eq!(said.status.code(), Some(0), "{}", text(&said.stderr));
        text(&said.stdout).to_string()
    };
    run("fit d.csv --method mi-kernel -p c=1 -p gamma=1 --inner 2 -o m.bagwise");
    let said = run("explain m.bagwise d.csv --format json");
    assert!(
        said.contains("\"given predicted\": \"mine\"") && !said.contains("\"predicted\": \"mine\""),
        "{said}"
    );
    let said = run("predict m.bagwise d.csv --format csv");
    let head = said.lines().next().unwrap();
    assert!(head.ends_with("predicted,part,given probability 1"), "{head}");
}

#[test]
fn labels_beside_text_are_one_class_in_two_spellings() {
    let folder = folder();
    let labels = ["1", "0", "unk", "1.0", "0", "unk"];
    let row = |b: usize| format!("B{b},{},{}\n", labels[b % 6], b % 6 * 3 + b % 5);
    let table: String = (0..18).map(row).collect();
    fs::write(folder.path().join("d.csv"), format!("bag,label,a\n{table}")).unwrap();
    let said = done(folder.path(), "inspect d.csv");
    let (out, err) = (text(&said.stdout), text(&said.stderr));
    assert!(out.contains("1: 6 (33%)") && !out.contains("1.0:"), "{out}");
    assert!(err.contains("'1' and '1.0'"), "{err}");
}

#[test]
fn parameters_of_one_method_are_not_proposed_for_another() {
    let folder = folder();
    let said = json(
        folder.path(),
        "compare musk1 --methods mi-kernel -p c=0.01 --folds 3 --inner 2 -o q --no-report",
    );
    let next = said["next"].as_str().unwrap();
    let own = next.contains("--method mi-kernel");
    assert_eq!(next.contains("-p c=0.01"), own, "{next}");
    assert!(next.contains("simple-mi"), "{next}");
}

#[test]
fn general_options_before_the_command_of_an_array_are_refused() {
    let folder = folder();
    for line in ["slurm --seed 5 --shards 2 compare musk1", "--memory 1GB slurm --shards 2 compare musk1"] {
        let said = refused(folder.path(), line);
        assert!(said.contains("options of the command come after it"), "{said}");
    }
    done(folder.path(), "slurm --shards 2 compare musk1 --seed 5");
}

#[test]
fn the_most_important_instances_of_a_machine_support_its_output() {
    let folder = folder();
    done(folder.path(), "fit musk1 --method mi-kernel -p c=10 -p gamma=1/median --inner 2 -o k.bagwise");
    let parts = |of: &str| -> Vec<String> {
        let said = done(folder.path(), &format!("explain k.bagwise musk1 --top 1 {of} --format csv"));
        let part = |line: &&str| line.contains(",part,");
        let place = |line: &str| line.split(',').take(2).collect::<Vec<_>>().join(",");
        text(&said.stdout).lines().filter(part).map(place).collect()
    };
    assert_eq!(parts(""), parts("--machines"));
}

#[test]
fn failed_fits_are_not_called_worse_than_a_constant() {
    let folder = folder();
    let output = run(
        folder.path(),
        "compare synthetic:gauss?bags=600 --methods mi-kernel --memory 1MB -o q --no-report --folds 3 --inner 2",
    );
    let said = text(&output.stdout);
    assert!(said.contains("All fits of the other methods failed"), "{said}");
    assert!(
        said.contains(
            "\nremove the cause of the failed fits, then run the command with a new folder (-o FOLDER)"
        ),
        "{said}"
    );
    assert!(!said.contains("no method is better"), "{said}");
    // As advised.
    let line = "compare synthetic:gauss?bags=600 --methods mi-kernel --memory 1GB --no-report --folds 3 --inner 2 -o";
    let again = done(folder.path(), &format!("{line} anew"));
    assert!(text(&again.stdout).contains("\nnext: bagwise fit"), "{}", text(&again.stdout));
}

#[test]
fn missing_bag_ids_are_no_name() {
    let folder = folder();
    fs::write(folder.path().join("e.csv"), "bag,label,a\nx,0,1\ny,1,2\nNA,0,3\nNA,0,4\n").unwrap();
    let said = refused(folder.path(), "inspect e.csv");
    assert!(said.contains("line 4: the bag id 'NA' stands for a missing value; fill it in"), "{said}");
    // A number that the user calls missing is so among the features.
    fs::write(folder.path().join("n.csv"), "bag,label,a\n1,0,1\n2,1,2\n3,0,3\n4,1,3\n").unwrap();
    let read = json(folder.path(), "inspect n.csv --missing-values 3");
    assert_eq!((&read["bags"], &read["missing"]), (&4.into(), &2.into()), "{read}");
}

#[test]
fn names_that_a_spreadsheet_rounded_are_refused() {
    let folder = folder();
    let table = "mol;label;project;a\n2,02003E+12;0;7;1,5\n2,02003E+12;0;7;2,5\n1,02003E+12;1;8;3,5\n3,02003E+12;1;8;3,5\n";
    fs::write(folder.path().join("d.csv"), table).unwrap();
    let said = refused(folder.path(), "inspect d.csv --bag mol");
    assert!(
        said.contains("line 2: the name '2,02003E+12' of a bag was rounded by a spreadsheet")
            && said.contains("formatted as text"),
        "{said}"
    );
    fs::write(folder.path().join("g.csv"), table.replace(";7;", ";1.5E+17;").replace(",02003E+12", "x"))
        .unwrap();
    let said = refused(folder.path(), "inspect g.csv --bag mol --group project");
    assert!(said.contains("'1.5E+17' of a group"), "{said}");
    // Not what a spreadsheet writes.
    let names = ["1E+12", "2.5e+12", "2.500000E+12", "1.00E+06", "7"];
    let rows: String =
        names.iter().enumerate().map(|(b, name)| format!("\"{name}\",{},{b}\n", b % 2)).collect();
    fs::write(folder.path().join("n.csv"), format!("bag,label,a\n{rows}")).unwrap();
    assert_eq!(json(folder.path(), "inspect n.csv")["bags"], 5);
}

#[test]
fn labels_of_a_regression_model_are_its_own() {
    let folder = folder();
    let rows: String = (0..24).map(|b| format!("B{b},{},{}\n", b % 12, b % 12 + b % 3)).collect();
    fs::write(folder.path().join("d.csv"), format!("bag,label,a\n{rows}")).unwrap();
    fs::write(
        folder.path().join("new.csv"),
        format!("bag,label,a\n{}", rows.replace('B', "N").replace("0\n", "7\n")),
    )
    .unwrap();
    let line = "fit d.csv --task regression --method simple-mi -p c=1 -p gamma=1 -p embed=mean --inner 2 -o m.bagwise";
    done(folder.path(), line);
    // Whole numbers are no classes here.
    let said = done(folder.path(), "predict m.bagwise new.csv");
    let said = text(&said.stderr);
    assert!(
        !said.contains("was read as the label") && said.contains("next: bagwise evaluate --model"),
        "{said}"
    );
    // A column of words was taken for the label by mistake.
    let words: String = (0..4).map(|b| format!("W{b},{},{b}\n", ["red", "blue"][b % 2])).collect();
    fs::write(folder.path().join("w.csv"), format!("bag,label,a\n{words}")).unwrap();
    let said = done(folder.path(), "predict m.bagwise w.csv");
    assert!(text(&said.stderr).contains("'blue' was read as the label of a bag"), "{}", text(&said.stderr));
}

/// A table of so many bags, whose one feature follows the label.
fn table_of(bags: usize, name: &str, label: impl Fn(usize) -> usize) -> String {
    let row = |b: usize| format!("{name}{b},{},{}\n", label(b), label(b) * 3 + b % 5);
    format!("bag,label,a\n{}", (0..bags).map(row).collect::<String>())
}

#[test]
fn parts_of_a_split_are_asked_about_in_any_spelling() {
    let folder = folder();
    fs::write(folder.path().join("d.csv"), table_of(12, "B", |b| b % 2)).unwrap();
    let line = "evaluate d.csv --method simple-mi -p c=1 -p gamma=1 -p embed=mean --fold-file f.csv";
    for [train, test] in [["Train", "Test"], ["training", "val"]] {
        let row = |b: usize| format!("B{b},{}\n", if b < 8 { train } else { test });
        let rows: String = (0..12).map(row).collect();
        fs::write(folder.path().join("f.csv"), format!("bag,fold\n{rows}")).unwrap();
        let said = refused(folder.path(), line);
        assert!(said.contains("call them train and test and use one split"), "{said}");
        done(folder.path(), &format!("{line} --protocol given"));
    }
}

#[test]
fn test_bags_with_names_of_training_bags_are_pointed_out() {
    let folder = folder();
    fs::write(folder.path().join("d.csv"), table_of(12, "B", |b| b % 2)).unwrap();
    let rounded = table_of(12, "B", |b| b % 2).replace(",4\n", ",4.001\n").replace(",3\n", ",3.001\n");
    fs::write(folder.path().join("t.csv"), rounded).unwrap();
    let line = "evaluate d.csv --method simple-mi -p c=1 -p gamma=1 -p embed=mean --inner 2 --test t.csv";
    let output = done(folder.path(), line);
    let said = text(&output.stderr);
    assert!(said.contains("12 of 12 test bags have the name of a training bag, such as 'B0'"), "{said}");
}

#[test]
fn csv_safe_holds_for_converted_tables_and_is_refused_for_other_formats() {
    let folder = folder();
    let table = "bag,label,site,f,kind\n=b1,+x,@s,1,=a\n-b2,y,t,2,k\n=b3,+x,@s,-3,=a\n";
    fs::write(folder.path().join("d.csv"), table).unwrap();
    let written = |file: &str| fs::read_to_string(folder.path().join(file)).unwrap();
    done(folder.path(), "convert d.csv plain.csv --keep site");
    assert_eq!(written("plain.csv"), table);
    done(folder.path(), "convert d.csv safe.csv --keep site --csv-safe");
    let safe = "bag,label,site,f,kind\n'=b1,'+x,'@s,1,'=a\n'-b2,y,t,2,k\n'=b3,'+x,'@s,-3,'=a\n";
    assert_eq!(written("safe.csv"), safe);
    done(folder.path(), "convert d.csv safe.tsv --keep site --csv-safe");
    assert_eq!(written("safe.tsv"), safe.replace(',', "\t"));
    let said = refused(folder.path(), "convert d.csv safe.parquet --csv-safe");
    assert!(
        said.contains("safe.parquet: --csv-safe is for CSV and TSV, not for parquet; leave it out"),
        "{said}"
    );
    assert!(!folder.path().join("safe.parquet").exists());
}

#[test]
fn a_column_in_the_place_of_the_label_is_noticed() {
    let folder = folder();
    fs::write(folder.path().join("d.csv"), table_of(12, "B", |b| b % 2)).unwrap();
    done(
        folder.path(),
        "fit d.csv --method simple-mi -p c=1 -p gamma=1 -p embed=mean --inner 2 -o m.bagwise",
    );
    let rows: String = (0..12).map(|b| format!("N{b},{}.5,{}\n", b % 3, b % 5)).collect();
    fs::write(folder.path().join("new.csv"), format!("bag,label,a\n{rows}")).unwrap();
    let output = done(folder.path(), "predict m.bagwise new.csv");
    let said = text(&output.stderr);
    assert!(
        said.contains("was read as the label of a bag, but the model was not trained on this label"),
        "{said}"
    );
    assert!(!said.contains("evaluate --model"), "{said}");
    let output = done(folder.path(), "predict m.bagwise d.csv");
    assert!(!text(&output.stderr).contains("not trained on this label"), "{}", text(&output.stderr));
    let said = refused(folder.path(), "evaluate --model m.bagwise d.csv --shard 1/2 -o x");
    assert!(said.contains("--shard is for fits, and --model makes none"), "{said}");
}

#[test]
fn a_method_that_finds_no_positive_bag_is_not_recommended_without_a_word() {
    let folder = folder();
    // Positive bags are large, but too few for a machine that hardly pays for its errors.
    let row = |b: usize| {
        let positive = usize::from(b.is_multiple_of(12));
        format!("B{b},{positive},{}\n", b * 7 % 11 + 5 * positive)
    };
    let rows: String = (0..120).map(row).collect();
    fs::write(folder.path().join("d.csv"), format!("bag,label,a\n{rows}")).unwrap();
    let line = "compare d.csv --methods mi-kernel -p mi-kernel.c=0.01 -p simple-mi.c=0.01 --optimize roc_auc --folds 3 --inner 2 -o c --no-report";
    let output = done(folder.path(), line);
    let (out, err) = (text(&output.stdout), text(&output.stderr));
    assert!(out.contains("clearly better than a constant prediction"), "{out}");
    assert!(err.contains("predicts no bag of class 1 as such; try --balanced or --threshold"), "{err}");
}
