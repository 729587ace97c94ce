//! `fit --maps`: a machine on maps that were made before is the machine that `fit` finds, in memory and on disk, whatever files
//! and order they come in. Maps of another model are refused.

mod common;

use std::fmt::Write as _;
use std::path::Path;

use common::{bagwise, done, folder, text};

const DATA: &str = "synthetic:gauss?bags=800&min=3&max=9&features=4&groups=40";

/// A folder with a table of instances, one of labels, a model that learned on maps, and the maps in three files.
fn prepared(regression: bool) -> tempfile::TempDir {
    let home = folder();
    done(home.path(), &format!("convert {DATA} t.csv"));
    let table = std::fs::read_to_string(home.path().join("t.csv")).unwrap();
    let heading: Vec<&str> = table.lines().next().unwrap().split(',').collect();
    let column = |name: &str| heading.iter().position(|h| *h == name).unwrap();
    let (bag, label, group) = (column("bag"), column("label"), column("group"));
    // Three parts of the instances, cut between bags; labels may be numbers.
    let mut parts = vec![format!("{}\n", heading.join(",")); 3];
    let mut whole = parts[0].clone();
    let mut labels = String::from("bag,label,group\n");
    let (mut last, mut bags) = (String::new(), 0);
    for line in table.lines().skip(1) {
        let mut cells: Vec<String> = line.split(',').map(String::from).collect();
        if regression {
            let number: f64 = cells[label].parse().unwrap();
            cells[label] = format!("{}", 2.0 * number + cells[bag].len() as f64 / 7.0);
        }
        if cells[bag] != last {
            last.clone_from(&cells[bag]);
            bags += 1;
            writeln!(labels, "{},{},{}", cells[bag], cells[label], cells[group]).unwrap();
        }
        writeln!(parts[bags % 3], "{}", cells.join(",")).unwrap();
        writeln!(whole, "{}", cells.join(",")).unwrap();
    }
    std::fs::write(home.path().join("t.csv"), whole).unwrap();
    std::fs::write(home.path().join("labels.csv"), labels).unwrap();
    let task = if regression { "--task regression" } else { "" };
    done(
        home.path(),
        &format!(
            "fit t.csv {task} --method isk -p t=100 -p psi=8 -p epsilon=1 -p c=2 -p solver=map -o whole.bagwise"
        ),
    );
    std::fs::create_dir(home.path().join("maps")).unwrap();
    for (i, part) in parts.iter().enumerate() {
        std::fs::write(home.path().join(format!("part{i}.csv")), part).unwrap();
        done(home.path(), &format!("embed part{i}.csv --model whole.bagwise -o maps/part{i}.npz"));
    }
    home
}

fn predictions(home: &Path, model: &str) -> Vec<u8> {
    done(home, &format!("predict {model} t.csv --format csv")).stdout
}

/// The numbers of the column of scores, and of the last probability if there is one.
fn numbers(table: &[u8]) -> Vec<Vec<f64>> {
    let mut lines = text(table).lines();
    let heading: Vec<&str> = lines.next().unwrap().split(',').collect();
    let wanted: Vec<usize> = (0..heading.len())
        .filter(|&c| heading[c] == "score" || heading[c].starts_with("probability"))
        .collect();
    lines
        .map(|line| {
            let cells: Vec<&str> = line.split(',').collect();
            wanted.iter().map(|&c| cells[c].parse().unwrap()).collect()
        })
        .collect()
}

#[test]
fn a_machine_on_maps_is_that_of_fit() {
    for regression in [false, true] {
        let home = prepared(regression);
        let task = if regression { "--task regression" } else { "" };
        let on_maps = format!("fit --maps maps --model whole.bagwise --labels labels.csv {task}");
        // Twelve bytes for each entry would be too many.
        let said = done(home.path(), &format!("{on_maps} --memory 2MB -o maps.bagwise"));
        assert!(text(&said.stderr).contains("800 maps"), "{}", text(&said.stderr));
        assert!(text(&said.stderr).contains("in memory"), "{}", text(&said.stderr));
        // Bags in the order of the table: the same folds, passes and bits, probabilities included.
        let whole = predictions(home.path(), "whole.bagwise");
        assert_eq!(text(&predictions(home.path(), "maps.bagwise")), text(&whole));
        // Outside memory rows are visited in another order: the same to the tolerance of the solver.
        let said = done(home.path(), &format!("{on_maps} --memory 1MB -o disk.bagwise"));
        assert!(text(&said.stderr).contains("on disk"), "{}", text(&said.stderr));
        let (disk, whole) = (numbers(&predictions(home.path(), "disk.bagwise")), numbers(&whole));
        assert_eq!(disk.len(), 800);
        for (a, b) in disk.iter().flatten().zip(whole.iter().flatten()) {
            assert!((a - b).abs() < 5e-3, "{a} {b}");
        }
    }
}

#[test]
fn a_model_of_maps_says_that_it_cannot_tell_its_training_bags() {
    let home = prepared(false);
    done(home.path(), "fit --maps maps --model whole.bagwise --labels labels.csv -o maps.bagwise");
    let said = |model: &str| {
        let output = done(home.path(), &format!("evaluate --model {model} t.csv"));
        text(&output.stderr).to_string()
    };
    assert!(said("maps.bagwise").contains("cannot tell which bags it was trained on"));
    assert!(said("whole.bagwise").contains("800 of the 800 bags are in the training data"));
}

#[test]
fn the_machine_may_be_another_and_bags_may_be_fewer() {
    let home = prepared(false);
    let fit = "fit --maps maps --model whole.bagwise";
    // Three quarters of the bags, in another order: what is not in the table is left out, with a warning.
    let labels = std::fs::read_to_string(home.path().join("labels.csv")).unwrap();
    let mut lines: Vec<&str> = labels.lines().collect();
    let heading = lines.remove(0);
    lines.reverse();
    let most = format!("{heading}\n{}\nnobody,1,g\n", lines[..600].join("\n"));
    std::fs::write(home.path().join("most.csv"), most).unwrap();
    for memory in ["1GB", "1MB"] {
        let said =
            done(home.path(), &format!("{fit} --labels most.csv -p c=1,4 --memory {memory} -o most.bagwise"));
        assert!(text(&said.stderr).contains("200 maps are not in the table"), "{}", text(&said.stderr));
        assert!(
            text(&said.stderr).contains("1 bags in the table have no map: 'nobody'"),
            "{}",
            text(&said.stderr)
        );
        assert_eq!(numbers(&predictions(home.path(), "most.bagwise")).len(), 800);
    }
    let fails = |line: &str, said: &str| {
        let output = bagwise(home.path(), &line.split_whitespace().collect::<Vec<_>>());
        assert_eq!(output.status.code(), Some(2), "{line}\n{}", text(&output.stderr));
        assert!(text(&output.stderr).contains(said), "{line}\n{}", text(&output.stderr));
        assert!(!home.path().join("no.bagwise").exists());
    };
    fails(&format!("{fit} --labels labels.csv -p psi=4 -o no.bagwise"), "describes the maps");
    fails(&format!("{fit} --labels labels.csv --method mi-kernel -o no.bagwise"), "made by isk");
    fails(&format!("{fit} -o no.bagwise"), "--labels");
    fails("fit --maps . --model whole.bagwise --labels labels.csv -o no.bagwise", "contains no maps");
    done(home.path(), "fit t.csv --method isk -p t=10 -p psi=8 -p epsilon=1 -p c=2 -o other.bagwise");
    fails("fit --maps maps --model other.bagwise --labels labels.csv -o no.bagwise", "800 columns");
    done(home.path(), "fit t.csv --method simple-mi -p gamma=1 -p c=2 -o mean.bagwise");
    fails("fit --maps maps --model mean.bagwise --labels labels.csv -o no.bagwise", "has no feature map");
    std::fs::copy(home.path().join("maps/part1.npz"), home.path().join("maps/twice.npz")).unwrap();
    fails(&format!("{fit} --labels labels.csv -o no.bagwise"), "has a second map");
    std::fs::write(home.path().join("maps/twice.npz"), b"PK nothing").unwrap();
    fails(&format!("{fit} --labels labels.csv -o no.bagwise"), "twice.npz");
}

/// A table, its labels, a model A, its maps in a folder, and a model B with another seed, whose maps have as many columns.
fn two_models() -> tempfile::TempDir {
    let home = folder();
    done(home.path(), "convert synthetic:gauss?bags=60&min=2&max=5&features=3 t.csv");
    let table = std::fs::read_to_string(home.path().join("t.csv")).unwrap();
    let mut rows: Vec<String> =
        table.lines().skip(1).map(|line| line.split(',').take(2).collect::<Vec<_>>().join(",")).collect();
    rows.dedup();
    std::fs::write(home.path().join("labels.csv"), format!("bag,label\n{}\n", rows.join("\n"))).unwrap();
    for (model, seed) in [("a", 0), ("b", 1)] {
        done(home.path(), &format!("fit t.csv {ISK} -p c=2 --seed {seed} -o {model}.bagwise"));
    }
    std::fs::create_dir(home.path().join("maps")).unwrap();
    home
}

const ISK: &str = "--ignore instance_label --method isk -p t=20 -p psi=8 -p epsilon=1";

#[test]
fn maps_of_another_model_with_as_many_columns_are_refused() {
    let home = two_models();
    // All at once, in pieces, and by a model that is not kept.
    for embed in
        ["--model a.bagwise".to_string(), "--model a.bagwise --stream".to_string(), format!("{ISK} --seed 0")]
    {
        done(home.path(), &format!("embed t.csv {embed} -o maps/p.npz"));
        let fit = |model: &str| {
            let line =
                format!("fit --maps maps --model {model}.bagwise --labels labels.csv -o new.bagwise --force");
            bagwise(home.path(), &line.split_whitespace().collect::<Vec<_>>())
        };
        let said = fit("b");
        assert_eq!(said.status.code(), Some(2), "{embed}: {}", text(&said.stderr));
        assert!(text(&said.stderr).contains("p.npz: the map of bag '"), "{}", text(&said.stderr));
        assert!(text(&said.stderr).contains("was made by another model"), "{}", text(&said.stderr));
        assert!(text(&said.stderr).contains("with the model that is given"), "{}", text(&said.stderr));
        let said = fit("a");
        assert_eq!(said.status.code(), Some(0), "{embed}: {}", text(&said.stderr));
        assert!(!text(&said.stderr).contains("do not say"), "{}", text(&said.stderr));
        // The new model maps bags as the old one does: it takes the same maps, and its own are the same.
        done(
            home.path(),
            "fit --maps maps --model new.bagwise --labels labels.csv -p c=1 -o newer.bagwise --force",
        );
        done(home.path(), "embed t.csv --model newer.bagwise -o again.npz");
        let bytes = |name: &str| std::fs::read(home.path().join(name)).unwrap();
        assert!(bytes("again.npz") == bytes("maps/p.npz"));
    }
}

#[cfg(unix)]
#[test]
fn maps_that_do_not_say_by_which_model_are_learned_from_with_one_warning() {
    let home = two_models();
    let table = std::fs::read_to_string(home.path().join("t.csv")).unwrap();
    let (heading, rows) = table.split_once('\n').unwrap();
    for (part, name) in ["p", "q"].iter().enumerate() {
        let own = rows.lines().filter(|line| line.split(',').next().unwrap().len() % 2 == part);
        let own: Vec<&str> = own.collect();
        std::fs::write(home.path().join(format!("{part}.csv")), format!("{heading}\n{}\n", own.join("\n")))
            .unwrap();
        let file = format!("maps/{name}.npz");
        done(home.path(), &format!("embed {part}.csv --model a.bagwise -o {file}"));
        // As written before there was a digest: the array has another name.
        let bytes = std::fs::read(home.path().join(&file)).unwrap();
        let hidden = String::from_utf8(bytes.iter().map(|&b| b & 0x7f).collect()).unwrap();
        let mut bytes = bytes;
        hidden.match_indices("map.npy").for_each(|(at, _)| bytes[at..at + 3].copy_from_slice(b"old"));
        std::fs::write(home.path().join(&file), bytes).unwrap();
    }
    let said = done(home.path(), "fit --maps maps --model a.bagwise --labels labels.csv -o new.bagwise");
    let said = text(&said.stderr);
    assert_eq!(
        said.matches("2 of 2 files do not record the model that made their maps, such as maps/p.npz").count(),
        1,
        "{said}"
    );
    assert_eq!(said.matches("do not record").count(), 1, "{said}");
}

#[test]
fn labels_of_maps_are_read_in_the_number_format_of_their_table() {
    let home = two_models();
    done(home.path(), "embed t.csv --model a.bagwise -o maps/p.npz");
    let labels = std::fs::read_to_string(home.path().join("labels.csv")).unwrap();
    let ids = labels.lines().skip(1).map(|line| line.split(',').next().unwrap());
    let rows: String = ids.enumerate().map(|(b, id)| format!("{id};{},{}5\n", b % 7, b % 10)).collect();
    std::fs::write(home.path().join("numbers.csv"), format!("bag;label\n{rows}")).unwrap();
    let output =
        done(home.path(), "fit --maps maps --model a.bagwise --labels numbers.csv -p c=1 -o r.bagwise");
    assert!(text(&output.stderr).contains("rmse over 5 inner folds"), "{}", text(&output.stderr));
}
