//! More of what users get wrong, and would conclude from it: rare classes, copies among slides, rounded labels.

mod common;

use std::fmt::Write as _;

use common::{done, folder, json, noise, refused, said, text, write};

#[test]
fn the_report_says_what_the_terminal_warned_of() {
    let folder = folder();
    let path = folder.path();
    let row = |bag: usize, i: usize| {
        format!("{},p{},{},{}", u8::from(bag.is_multiple_of(20)), bag / 4, noise(bag, i), noise(bag, 9 + i))
    };
    write(path, "rare.csv", "label,project,f,g", 60, row);
    let page = |name: &str| std::fs::read_to_string(path.join(name).join("report.html")).unwrap();
    let line = "compare rare.csv --group project --methods simple-mi -p c=1 -p gamma=1 -o rare";
    let warned = said(path, line);
    assert!(warned.contains("of 10 folds have test bags of one class only"), "{warned}");
    assert!(page("rare").contains("of 10 folds have test bags of one class only"));
    // Other bags of the same projects, three of them positive.
    write(path, "new.csv", "label,project,f,g", 60, |bag, i| row(bag, i + 100));
    done(path, "fit rare.csv --group project --method simple-mi -p c=1 -p gamma=1 -o m.bagwise");
    let warned = said(path, "evaluate --model m.bagwise new.csv --group project -o new");
    for part in
        ["15 of the 15 groups have the name of a group in the training data", "3 bags of class 1: recall"]
    {
        assert!(warned.contains(part), "{warned}");
    }
    assert!(page("new").contains("15 of the 15 groups have the name of a group in the training data"));
    done(path, "report new -o hidden.html --hide-ids");
    let hidden = std::fs::read_to_string(path.join("hidden.html")).unwrap();
    assert!(hidden.contains("not shown because names are hidden") && !hidden.contains("such as &#39;p0"));
}

/// An array of three columns, as NumPy writes it.
fn npy(rows: &[[f64; 3]]) -> Vec<u8> {
    let header = format!("{{'descr': '<f8', 'fortran_order': False, 'shape': ({}, 3), }}", rows.len());
    let header = format!("{header:<117}\n");
    let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
    bytes.extend((header.len() as u16).to_le_bytes());
    bytes.extend(header.as_bytes());
    bytes.extend(rows.iter().flatten().flat_map(|v| v.to_le_bytes()));
    bytes
}

#[test]
fn copies_in_a_folder_that_is_read_in_blocks_are_named() {
    let folder = folder();
    let path = folder.path();
    std::fs::create_dir(path.join("slides")).unwrap();
    let mut labels = String::from("bag,label\n");
    for bag in 0..24 {
        // The last two are slides 0 and 1 again, with their rows the other way round.
        let of = bag % 22;
        let mut rows: Vec<[f64; 3]> =
            (0..4).map(|i| [noise(of, i), noise(of, 9 + i), noise(of, 18 + i)]).collect();
        if bag != of {
            rows.reverse();
        }
        std::fs::write(path.join(format!("slides/s{bag}.npy")), npy(&rows)).unwrap();
        writeln!(labels, "s{bag},{}", of % 2).unwrap();
    }
    std::fs::write(path.join("labels.csv"), labels).unwrap();
    for line in [
        "evaluate slides --labels labels.csv --method simple-mi -p c=1 -p gamma=1",
        "fit slides --labels labels.csv --method simple-mi -p c=1 -p gamma=1 -o m.bagwise",
    ] {
        let said = said(path, line);
        assert!(said.contains("warning: 2 bags are copies of an earlier one; copies in training"), "{said}");
    }
}

#[test]
fn names_without_a_file_are_shown_beside_the_files() {
    let folder = folder();
    let path = folder.path();
    std::fs::create_dir(path.join("slides")).unwrap();
    // A spreadsheet took the zeros off.
    for name in ["0001", "0002"] {
        std::fs::write(path.join(format!("slides/{name}.npy")), npy(&[[0.0; 3]])).unwrap();
    }
    std::fs::write(path.join("labels.csv"), "bag,label\n1,0\n2,1\n").unwrap();
    let said = refused(path, "inspect slides --labels labels.csv");
    assert!(
        said.contains("bags are called '1', '2', files '0001', '0002'; call bags as their files"),
        "{said}"
    );
}

#[test]
fn what_is_not_clearly_better_than_a_constant_is_not_recommended() {
    let folder = folder();
    let path = folder.path();
    let line = "compare synthetic:gauss?bags=16&seed=2 --methods simple-mi,mi-kernel,mi-boost --folds 4 --inner 2 \
                --optimize roc_auc -o out --no-report";
    let found = json(path, line);
    let output = done(path, line);
    let out = text(&output.stdout);
    // Otherwise the case says nothing.
    assert!(out.contains("It is not clearly better than a constant prediction"), "{out}");
    assert_ne!(found["best"], found["recommended"], "{found}");
    assert!(!out.contains("Recommended:"), "{out}");
    assert!(out.contains("and not clearly better than a constant prediction either"), "{out}");
}

#[test]
fn rounded_measurements_as_labels_are_pointed_out() {
    let folder = folder();
    let path = folder.path();
    let fit = "simple-mi -p c=1 -p gamma=1";
    write(path, "p.csv", "label,f,g", 60, |bag, i| {
        format!("{},{},{}", 3 + bag % 7, noise(bag, i), noise(bag, 9 + i))
    });
    let warned = said(path, &format!("evaluate p.csv --method {fit}"));
    assert!(
        warned.contains("the labels are 7 whole numbers from 3 to 9 and are treated as classes"),
        "{warned}"
    );
    assert!(
        warned.contains(
            "use regression with --task regression, or specify that they are classes with --task classification"
        ),
        "{warned}"
    );
    // Codes begin at 0 or 1, and who has decided is not asked.
    assert!(
        !said(path, &format!("evaluate p.csv --task classification --method {fit}"))
            .contains("whole numbers")
    );
    write(path, "d.csv", "label,f,g", 60, |bag, i| {
        format!("{},{},{}", 1 + bag % 7, noise(bag, i), noise(bag, 9 + i))
    });
    assert!(!said(path, &format!("evaluate d.csv --method {fit}")).contains("whole numbers"));
}

#[test]
fn groups_are_the_same_in_another_spelling_of_another_file() {
    let folder = folder();
    let path = folder.path();
    let row = |bag: usize, i: usize, fraction: &str| {
        format!("{},{}{fraction},{},{}", bag % 2, bag / 4, noise(bag, i), noise(bag, 9 + i))
    };
    write(path, "a.csv", "label,group,f,g", 40, |bag, i| row(bag, i, ""));
    // As pandas writes whole numbers beside an empty cell.
    write(path, "b.csv", "label,group,f,g", 40, |bag, i| row(bag, i + 100, ".0"));
    let renamed = std::fs::read_to_string(path.join("b.csv")).unwrap().replace("\nb", "\nt");
    std::fs::write(path.join("b.csv"), renamed).unwrap();
    let said =
        refused(path, "evaluate a.csv --group group --test b.csv --method simple-mi -p c=1 -p gamma=1");
    assert!(said.contains("group '0' is in both folds 'train' and 'test'"), "{said}");
    done(path, "fit a.csv --group group --method simple-mi -p c=1 -p gamma=1 -o m.bagwise");
    for (model, data) in [("m", "b.csv"), ("n", "a.csv")] {
        if model == "n" {
            done(path, "fit b.csv --group group --method simple-mi -p c=1 -p gamma=1 -o n.bagwise");
        }
        let output = done(path, &format!("evaluate --model {model}.bagwise {data} --group group"));
        let said = text(&output.stderr);
        assert!(said.contains("10 of the 10 groups have the name of a group in the training data"), "{said}");
    }
}
