//! Real tables load with the counts their makers give: the files shipped in `data` always, and the larger
//! benchmark collection where it is present (`BAGWISE_SHARED`, or `../shared` beside the repository).
#![allow(clippy::print_stderr)] // a skipped test says so

use std::path::{Path, PathBuf};
use std::time::Instant;

use bagwise::io::{ReadOptions, builtin_names, read};
use bagwise::{Dataset, Target};

fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).unwrap().to_path_buf()
}

fn load(path: &Path) -> Dataset {
    read(path.to_str().unwrap(), &ReadOptions::default()).unwrap_or_else(|e| panic!("{e}"))
}

/// Bags, instances, attributes, classes (0 for real values).
fn counts(data: &Dataset) -> [usize; 4] {
    let classes = match data.target.as_ref().unwrap() {
        Target::Classes { names, .. } => names.len(),
        Target::Values(_) => 0,
    };
    [data.bags.len(), data.bags.instance_count(), data.bags.width(), classes]
}

#[test]
fn shipped_sets_load_by_name_with_their_counts() {
    let known = [
        ("musk1", [92, 476, 166, 2]),
        ("musk2", [102, 6598, 166, 2]),
        ("elephant", [200, 1391, 230, 2]),
        ("image1000", [1000, 4306, 9, 10]),
        ("image2000", [2000, 7947, 9, 20]),
        ("protein", [193, 26611, 9, 2]),
    ];
    assert_eq!(known.map(|k| k.0), builtin_names());
    for (name, expected) in known {
        // Tests run in the crate's folder; the data folder is found above it.
        let data = read(name, &ReadOptions::default()).unwrap();
        assert_eq!(counts(&data), expected, "{name}");
        assert_eq!(data.name, name);
        assert!(data.warnings.is_empty(), "{name}: {:?}", data.warnings);
        assert_eq!(counts(&load(&repository().join(format!("data/{name}.csv.gz")))), expected);
    }
}

#[test]
fn the_musk1_inside_the_program_is_the_file() {
    let inside = read("musk1", &ReadOptions::default()).unwrap();
    let file = load(&repository().join("data/musk1.csv.gz"));
    assert_eq!(inside.bags, file.bags);
    assert_eq!(inside.target, file.target);
    assert_eq!(inside.bags.ids()[0], "1");
    let Some(Target::Classes { codes, names }) = &inside.target else { panic!() };
    assert_eq!(names, &["0", "1"]);
    assert_eq!(codes.iter().filter(|&&c| c == 1).count(), 47);
    let mut row = [0.0; 166];
    inside.bags.bag(0).row_into(0, &mut row).unwrap();
    assert_eq!(row[..4], [42.0, -198.0, -109.0, -75.0]);
}

#[test]
fn every_benchmark_table_has_the_counts_of_its_readme() {
    let shared = std::env::var_os("BAGWISE_SHARED")
        .map_or_else(|| repository().join("../shared"), PathBuf::from)
        .join("data");
    let Ok(readme) = std::fs::read_to_string(shared.join("README.md")) else {
        eprintln!("skipped: {} is absent (set BAGWISE_SHARED)", shared.display());
        return;
    };
    let mut seen = 0;
    for row in readme.lines().filter(|l| l.contains(".csv") || l.contains(".sparse")) {
        let cells: Vec<&str> = row.split('|').map(str::trim).collect();
        let [_, file, bags, instances, attributes, ..] = cells[..] else { continue };
        let first = |text: &str| text.split(' ').next().unwrap().parse::<usize>();
        let (Ok(bag_count), Ok(instances), Ok(attributes)) =
            (first(bags), first(instances), first(attributes))
        else {
            continue;
        };
        let start = Instant::now();
        let data = load(&shared.join(file));
        eprintln!("{file}: {:.0} ms, {}", 1e3 * start.elapsed().as_secs_f64(), data.bags.instances().kind());
        let mut found = counts(&data);
        // Of sparse rows with few indices, only these become attributes; the largest is in the table.
        if let Some(number) = data.bags.features().last().and_then(|f| f.number()) {
            found[2] = number as usize;
        }
        assert_eq!(found[..3], [bag_count, instances, attributes], "{file}");
        let inside = bags.split('(').nth(1).unwrap().trim_end_matches(')');
        if inside == "real-valued" {
            assert_eq!(found[3], 0, "{file}");
        } else if let Some(classes) = inside.strip_suffix(" classes") {
            assert_eq!(found[3].to_string(), classes, "{file}");
        } else {
            let Some(Target::Classes { codes, names }) = &data.target else { panic!("{file}") };
            let positive = names.iter().position(|n| n == "1").unwrap() as u32;
            let positives = codes.iter().filter(|&&c| c == positive).count();
            assert_eq!(format!("{positives}/{}", codes.len() - positives), inside, "{file}");
        }
        seen += 1;
    }
    assert!(seen >= 40, "only {seen} rows of the README were understood");
}
