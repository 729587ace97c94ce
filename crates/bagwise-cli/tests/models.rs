//! Models through their files: fit, predict, explain and gram agree with each other and with the library, and what is
//! damaged, newer or out of its depth is said to be.

mod common;

use std::collections::HashMap;
use std::path::Path;

use bagwise::io::{ReadOptions, read};
use bagwise::methods;
use bagwise::model::{pack, unpack};
use bagwise::params::{Grid, WhenUnset};
use bagwise::preprocess::Scale;
use bagwise::{Ctx, Dataset};

use common::{bagwise, done, folder, json, text};

/// Rows of CSV by heading.
fn table(folder: &Path, line: &str) -> Vec<HashMap<String, String>> {
    let output = done(folder, &format!("{line} --format csv"));
    csv::Reader::from_reader(&output.stdout[..]).deserialize().map(Result::unwrap).collect()
}

fn number(row: &HashMap<String, String>, column: &str) -> f64 {
    row[column].parse().unwrap_or_else(|_| panic!("{column} of {row:?}"))
}

/// Bias and parts of each bag add up to the score that `predict` prints.
fn parts_add_up(folder: &Path, model: &str, data: &str) {
    let predictions = table(folder, &format!("predict {model} {data}"));
    let mut sums: HashMap<String, f64> = HashMap::new();
    for row in table(folder, &format!("explain {model} {data}")) {
        *sums.entry(row["bag"].clone()).or_default() += number(&row, "value");
    }
    let mut compared = 0;
    for row in &predictions {
        let sum = sums[&row["bag"]];
        let score = number(row, if row.contains_key("score") { "score" } else { "value" });
        // The promise is 1e-10; numbers are printed in full.
        assert!((sum - score).abs() < 1e-10, "{model}, bag {}: {sum} and {score}", row["bag"]);
        compared += 1;
    }
    assert!(compared >= predictions.len() && compared > 0);
}

#[test]
fn parts_and_bias_are_the_score_for_classes_numbers_and_categories() {
    let folder = folder();
    let numbers = std::fs::read_to_string(folder.path().join("molecules.csv")).unwrap();
    // The same table with a number to predict, and with three classes.
    let with_values: String = numbers
        .lines()
        .enumerate()
        .map(|(i, line)| {
            let bag: u32 = line[1..3].parse().unwrap_or(0);
            let label =
                if i == 0 { "y".to_string() } else { format!("{}", f64::from(bag * 7 % 13) / 10.0 + 0.05) };
            format!("{line},{label}\n")
        })
        .collect();
    std::fs::write(folder.path().join("values.csv"), with_values).unwrap();
    let classes: String = numbers
        .lines()
        .enumerate()
        .map(|(i, line)| {
            let bag: usize = line[1..3].parse().unwrap_or(0);
            format!("{line},{}\n", if i == 0 { "kind" } else { ["red", "green", "blue"][bag % 3] })
        })
        .collect();
    std::fs::write(folder.path().join("classes.csv"), classes).unwrap();

    let fixed = "-p gamma=1/median -p c=10 --bag mol --inner 3 --ignore scaffold,conformer";
    for method in ["mi-kernel", "wmksvm", "migraph"] {
        for (data, label) in [
            ("molecules.csv", " --label active"),
            ("values.csv", ",active --label y"),
            ("classes.csv", ",active --label kind"),
        ] {
            done(folder.path(), &format!("fit {data} --method {method} {fixed}{label} -o m.bagwise"));
            parts_add_up(folder.path(), "m.bagwise", "new.csv --bag mol");
        }
    }
}

#[test]
fn sparse_data_and_single_precision_have_models_too() {
    let folder = folder();
    let sparse: String = (0..30)
        .map(|bag| {
            let (label, word) = (bag % 2, 3 + 40 * (bag % 2) + bag % 5);
            format!("b{bag} {label} {word}:1 {}:0.5\nb{bag} {label} {}:2\n", 90 + bag % 7, 100 + bag % 3)
        })
        .collect();
    std::fs::write(folder.path().join("words.sparse"), sparse).unwrap();
    for precision in ["f64", "f32"] {
        let options = format!("--method mi-kernel -p gamma=0.5 -p c=10 --scale none --precision {precision}");
        done(folder.path(), &format!("fit words.sparse {options} -o s.bagwise"));
        parts_add_up(folder.path(), "s.bagwise", "words.sparse");
        let right = table(folder.path(), "predict s.bagwise words.sparse")
            .iter()
            .filter(|row| row["label"] == (row["bag"][1..].parse::<u32>().unwrap() % 2).to_string())
            .count();
        assert_eq!(right, 30, "{precision}");
    }
}

#[test]
fn prediction_needs_the_columns_of_training_and_nothing_else() {
    let folder = folder();
    let train = "fit molecules.csv --bag mol --label active --group scaffold --keep conformer \
                 --method mi-kernel -p gamma=1/median -p c=10 -o m.bagwise";
    done(folder.path(), train);
    let labels = |data: &str| {
        let answers = table(folder.path(), &format!("predict m.bagwise {data}"));
        answers.iter().map(|row| row["score"].clone()).collect::<Vec<_>>()
    };
    let before = labels("new.csv --bag mol");
    assert_eq!(before.len(), 4);
    // The options of `fit` may be given again, though there is neither label nor group here.
    assert_eq!(labels("new.csv --bag mol --label active --group scaffold"), before);

    // What is the same throughout a bag comes along.
    let output = done(
        folder.path(),
        "predict m.bagwise molecules.csv --bag mol --keep scaffold,conformer --format csv",
    );
    assert!(
        text(&output.stdout)
            .starts_with("bag,label,score,probability 0,probability 1,nearest,outside,status,scaffold\n")
    );
    assert!(text(&output.stderr).contains("conformer not shown: the output has one row per bag"));
    // The truth beside the answer, under a name of its own; and a model that is compressed.
    done(folder.path(), &train.replace("m.bagwise", "m.bagwise.gz"));
    let named =
        std::fs::read_to_string(folder.path().join("molecules.csv")).unwrap().replacen("active", "label", 1);
    std::fs::write(folder.path().join("named.csv"), named).unwrap();
    let rows = table(folder.path(), "predict m.bagwise.gz named.csv --bag mol --keep label");
    let right = rows.iter().filter(|row| row["label"] == row["given label"]).count();
    assert!(right > 20, "{right} of {}", rows.len());

    // Other order, other columns between, some with gaps, one that looks like a label.
    let text_of = std::fs::read_to_string(folder.path().join("new.csv")).unwrap();
    let mixed: String = text_of
        .lines()
        .enumerate()
        .map(|(i, line)| {
            let mut cells: Vec<&str> = line.split(',').collect();
            cells.reverse();
            let extra = if i == 0 {
                "remark,label"
            } else if i == 3 {
                ","
            } else {
                "seen,7"
            };
            format!("{},{extra}\n", cells.join(","))
        })
        .collect();
    std::fs::write(folder.path().join("mixed.csv"), mixed).unwrap();
    assert_eq!(labels("mixed.csv --bag mol"), before);

    // One bag alone.
    let single: String = text_of.lines().take(3).map(|line| format!("{line}\n")).collect();
    std::fs::write(folder.path().join("single.csv"), single).unwrap();
    let alone: f64 = labels("single.csv --bag mol")[0].parse().unwrap();
    // A single bag is added up in another order than one of four.
    assert!((alone - before[0].parse::<f64>().unwrap()).abs() < 1e-12);
}

#[test]
fn gaps_are_filled_as_the_model_learned() {
    let folder = folder();
    std::fs::write(
        folder.path().join("gaps.csv"),
        "bag,label,x,z\na,0,1,\na,0,2,1\nb,1,8,5\nc,0,,2\nd,1,9,6\ne,0,1,1\nf,1,7,\n",
    )
    .unwrap();
    let fit = "fit gaps.csv --method mi-kernel -p gamma=1/median -p c=10 --inner 3 -o g.bagwise";
    let refused = bagwise(folder.path(), &fit.split(' ').collect::<Vec<_>>());
    assert_eq!(refused.status.code(), Some(2));
    assert!(text(&refused.stderr).contains("--missing median"), "{}", text(&refused.stderr));
    done(folder.path(), &format!("{fit} --missing median"));
    // The model fills gaps, so that nothing has to be said at prediction.
    let answers = table(folder.path(), "predict g.bagwise gaps.csv");
    assert!(answers.iter().all(|row| row["label"] == if "bdf".contains(&row["bag"]) { "1" } else { "0" }));
}

#[test]
fn what_looks_like_nothing_in_training_is_unfamiliar() {
    let folder = folder();
    done(folder.path(), "convert musk1 m.csv");
    let times_ten: String = std::fs::read_to_string(folder.path().join("m.csv"))
        .unwrap()
        .lines()
        .enumerate()
        .map(|(i, line)| {
            let cells: Vec<String> = line
                .split(',')
                .enumerate()
                .map(|(j, cell)| match cell.parse::<f64>() {
                    Ok(v) if i > 0 && j > 1 => (10.0 * v).to_string(),
                    _ => cell.to_string(),
                })
                .collect();
            cells.join(",") + "\n"
        })
        .collect();
    std::fs::write(folder.path().join("ten.csv"), times_ten).unwrap();
    for method in ["simple-mi -p embed=mean -p kernel=rbf", "mi-kernel -p norm=sqrt", "wmksvm", "migraph"] {
        let fit = format!("fit m.csv -p gamma=1/median -p c=10 -o m.bagwise --method {method}");
        done(folder.path(), &fit);
        let statuses = |data: &str| {
            let rows = table(folder.path(), &format!("predict m.bagwise {data}"));
            let strange = rows.iter().filter(|row| row["status"] == "unfamiliar").count();
            assert!(rows.iter().all(|row| ["ok", "unfamiliar"].contains(&row["status"].as_str())));
            (strange, rows.len())
        };
        assert_eq!(statuses("ten.csv"), (92, 92), "{method}");
        let (strange, _) = statuses("m.csv");
        assert!(strange <= 4, "{method}: {strange} training bags are unfamiliar");
    }
}

#[test]
fn a_damaged_or_newer_model_is_refused_in_one_message() {
    let folder = folder();
    done(folder.path(), "fit musk1 --method mi-kernel -p gamma=1/median -p c=10 -o m.bagwise");
    let whole = std::fs::read(folder.path().join("m.bagwise")).unwrap();
    let (header, state) = unpack(&whole).unwrap();
    let newer = pack(&header.replacen("\"format\":2", "\"format\":9", 1), state).unwrap();
    let mut flipped = whole.clone();
    // In the middle of the numbers, where nothing but the checksum could notice.
    flipped[whole.len() - 1000] ^= 1;
    let cases = [
        ("torn", whole[..whole.len() / 2].to_vec(), "train it again"),
        ("empty", Vec::new(), "train it again"),
        ("flipped", flipped, "train it again"),
        ("newer", newer, "it has format 9, this bagwise reads up to 2"),
    ];
    for (name, bytes, said) in cases {
        std::fs::write(folder.path().join(format!("{name}.bagwise")), bytes).unwrap();
        for verb in ["predict", "explain"] {
            let output = bagwise(folder.path(), &[verb, &format!("{name}.bagwise"), "musk1"]);
            let message = text(&output.stderr);
            assert_eq!((output.status.code(), text(&output.stdout)), (Some(2), ""), "{name}");
            assert!(message.starts_with(&format!("error: {name}.bagwise: ")), "{message}");
            assert!(message.lines().count() == 1 && message.contains(said), "{message}");
        }
    }
}

/// A matrix of doubles as numpy writes it, by hand so that a slip in our writer is not repeated.
fn read_npy(path: &Path) -> (usize, usize, Vec<f64>) {
    let bytes = std::fs::read(path).unwrap();
    assert_eq!(&bytes[..8], b"\x93NUMPY\x01\x00");
    let end = 10 + usize::from(u16::from_le_bytes([bytes[8], bytes[9]]));
    let header = std::str::from_utf8(&bytes[10..end]).unwrap();
    assert!(header.contains("'<f8'") && header.contains("'fortran_order': False"), "{header}");
    let shape = header.split('(').nth(1).unwrap().split(')').next().unwrap();
    let sizes: Vec<usize> = shape.split(',').map(|n| n.trim().parse().unwrap()).collect();
    let data = bytes[end..].chunks_exact(8).map(|b| f64::from_le_bytes(b.try_into().unwrap())).collect();
    (sizes[0], sizes[1], data)
}

fn library_gram(method: &str, given: &[(&str, &str)], rows: &Dataset, cols: Option<&Dataset>) -> Vec<f64> {
    let method = methods::find(method).unwrap();
    let given: Vec<(String, String)> = given.iter().map(|(k, v)| (k.to_string(), v.to_string())).collect();
    let grid = Grid::new(method.info().name, method.params(), &given, WhenUnset::Default, false).unwrap();
    let target = cols.unwrap_or(rows).target.as_ref();
    let ctx = Ctx::default();
    let (point, columns) = (&grid.points[0], cols.map(|c| &c.bags));
    bagwise::gram(method, point, Scale::MinMax, false, &rows.bags, columns, target, &ctx).unwrap().into_data()
}

#[test]
fn grams_are_those_of_the_library() {
    let folder = folder();
    let musk = read("musk1", &ReadOptions::default()).unwrap();
    for (method, norm) in [("mi-kernel", "sqrt"), ("migraph", "eq5")] {
        done(
            folder.path(),
            &format!(
                "gram musk1 --method {method} -p gamma=0.5 -p norm={norm} --scale minmax --output k.npy"
            ),
        );
        let (rows, cols, found) = read_npy(&folder.path().join("k.npy"));
        assert_eq!((rows, cols), (92, 92));
        let wanted = library_gram(method, &[("gamma", "0.5"), ("norm", norm)], &musk, None);
        assert!(found == wanted, "{method}: bit for bit, whatever the number of threads");
        // Self-similarity under this normalisation.
        assert!(norm != "sqrt" || (0..92).all(|b| (found[b * 93] - 1.0).abs() < 1e-12));
    }

    // A third of the bags against all: rows of the whole Gram, since scaling is that of the columns.
    done(folder.path(), "gram musk1 --method mi-kernel -p gamma=1/median --output whole.npy");
    done(
        folder.path(),
        "gram musk1 --against musk1 --method mi-kernel -p gamma=1/median --output against.npy",
    );
    let (_, _, whole) = read_npy(&folder.path().join("whole.npy"));
    let (rows, cols, against) = read_npy(&folder.path().join("against.npy"));
    assert_eq!((rows, cols), (92, 92));
    // Symmetric and rectangular passes add in another order.
    assert!(whole.iter().zip(&against).all(|(a, b)| (a - b).abs() < 1e-12));

    let against = "gram new.csv --against molecules.csv --bag mol --label active --group scaffold";
    done(folder.path(), &format!("{against} --method wmksvm -p gamma=0.5 --output k.npy"));
    let (rows, cols, found) = read_npy(&folder.path().join("k.npy"));
    assert_eq!((rows, cols), (4, 40));
    assert!(found.iter().all(|v| v.is_finite() && *v >= 0.0));
}

#[test]
fn maps_are_those_of_the_library_and_of_the_model() {
    let folder = folder();
    let isk = "--method isk -p psi=16 -p epsilon=11/20 -p t=50";
    done(folder.path(), &format!("embed musk1 {isk} --output e.npz"));
    done(folder.path(), &format!("fit musk1 {isk} -p c=8 -o isk.bagwise"));
    done(folder.path(), "embed musk1 --model isk.bagwise --output again.npz");
    let bytes = |name: &str| std::fs::read(folder.path().join(name)).unwrap();
    // The model was trained on these bags with the same seed.
    assert!(bytes("e.npz") == bytes("again.npz"));
    let method = methods::find("isk").unwrap();
    let given =
        [("psi", "16"), ("epsilon", "11/20"), ("t", "50")].map(|(k, v)| (k.to_string(), v.to_string()));
    let grid = Grid::new("isk", method.params(), &given, WhenUnset::Default, false).unwrap();
    let musk = read("musk1", &ReadOptions::default()).unwrap();
    let map = bagwise::feature_map(
        method,
        &grid.points[0],
        Scale::ZScore,
        false,
        &musk.bags,
        None,
        &Ctx::default(),
    );
    let path = folder.path().join("library.npz");
    let (map, digest) = map.unwrap();
    bagwise::io::write_npz(&path, &map, musk.bags.ids(), &digest).unwrap();
    assert!(bytes("e.npz") == bytes("library.npz"));

    for (line, says) in [
        ("embed musk1 --method mi-kernel --output e.npz", "mi-kernel has no feature map"),
        ("embed musk1 --method isk -p psi=16,32 --output e.npz", "2 parameter combinations are given"),
        ("embed musk1 --method isk -p psi=999 --output e.npz", "cannot be drawn from 476 training instances"),
        ("embed musk1 --method isk -p distance=text --scale zscore --output e.npz", "changes zeros"),
        ("embed musk1 --output e.npz", "--method"),
    ] {
        let output = bagwise(folder.path(), &line.split_whitespace().collect::<Vec<_>>());
        assert_eq!(output.status.code(), Some(2), "{line}");
        assert!(text(&output.stderr).contains(says), "{line}\n{}", text(&output.stderr));
    }
}

#[test]
fn predictions_as_json_say_what_the_table_says() {
    let folder = folder();
    done(folder.path(), "fit musk1 --method mi-kernel -p gamma=1/median -p c=10 -o m.bagwise");
    let rows = table(folder.path(), "predict m.bagwise musk1");
    let objects = json(folder.path(), "predict m.bagwise musk1");
    assert_eq!((rows.len(), objects.as_array().unwrap().len()), (92, 92));
    for (row, object) in rows.iter().zip(objects.as_array().unwrap()) {
        assert_eq!(
            (&row["bag"], &row["label"]),
            (&object["bag"].as_str().unwrap().into(), &object["label"].as_str().unwrap().into())
        );
        for column in ["score", "nearest", "outside"] {
            assert_eq!(number(row, column), object[column].as_f64().unwrap());
        }
        assert_eq!(row["status"], object["status"].as_str().unwrap());
        for class in ["0", "1"] {
            let probability = number(row, &format!("probability {class}"));
            assert_eq!(probability, object["probabilities"][class].as_f64().unwrap());
            assert!((0.0..=1.0).contains(&probability));
        }
    }
}
