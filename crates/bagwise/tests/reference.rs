//! `docs/methods.md` is written from the registry: names, formulas, parameters and references have one source. This test
//! compares, and `cargo xtask golden` (which sets `BAGWISE_REWRITE_DOCS`) writes.

use std::fmt::Write as _;
use std::path::Path;

use bagwise::judge::{METRICS, Tasks};
use bagwise::method::Method;
use bagwise::methods::{self, by_complexity};

const INTRODUCTION: &str = "\
# Methods and metrics

This page is generated from the method registry; `bagwise methods NAME` prints the same text. Set parameters with \
`-p NAME=VALUE`. If you give several values (`0.1,1,10`, `2^-5..2^5`, `11/20..20/20`), inner folds choose among them; if you give \
none, inner folds choose from the list under *tuned over*. Where only one value is possible (`gram`, protocol `kfold`), the default is used. \
`N/median` is N divided by the median squared distance between training instances, so one grid works for data of any scale.
";

/// What the papers leave open, and where it is found; written by hand.
const OPTIONS: &str = include_str!("reference_parts/options.md");

fn cell(text: &str) -> String {
    text.replace('|', "\\|")
}

fn section(method: &dyn Method) -> String {
    let info = method.info();
    let mut page = format!("\n## {}\n\n{}.\n\n{}\n\n", info.name, capital(info.title), info.about);
    if !info.aliases.is_empty() {
        writeln!(page, "- Also called: {}", info.aliases.join(", ")).unwrap();
    }
    writeln!(page, "- Family: {}", info.family).unwrap();
    writeln!(page, "- Predicts: {}", if info.regression { "classes and numbers" } else { "classes" })
        .unwrap();
    writeln!(page, "- Scaling by default: {}", info.scale.name()).unwrap();
    writeln!(page, "- Explanations: {}", info.explains).unwrap();
    writeln!(page, "- Reference: {}", info.reference).unwrap();
    if !method.params().is_empty() {
        page += "\n| parameter | default | tuned over | takes | meaning |\n|---|---|---|---|---|\n";
        for p in method.params() {
            let takes = cell(&p.kind.expects());
            writeln!(page, "| `{}` | `{}` | `{}` | {takes} | {} |", p.name, p.default, p.grid, cell(p.help))
                .unwrap();
        }
    }
    page
}

fn capital(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or(String::new(), |first| first.to_uppercase().chain(letters).collect())
}

fn page() -> String {
    let mut page = INTRODUCTION.to_string();
    by_complexity().into_iter().for_each(|method| page += &section(method));
    page += OPTIONS;
    page += "\n## Metrics\n\nFor `--optimize`, in records and in JSON.\n\n";
    page += "| name | task | better | definition |\n|---|---|---|---|\n";
    for m in &METRICS {
        let judges = match m.tasks {
            Tasks::Binary => "two classes",
            Tasks::Classes => "classes",
            Tasks::Values => "numbers",
        };
        let better = if m.larger { "large" } else { "small" };
        writeln!(page, "| `{}` | {judges} | {better} | {} |", m.name, cell(m.formula)).unwrap();
    }
    page
}

/// A row that is broken over two lines ends its table.
#[test]
fn rows_of_tables_stand_on_one_line() {
    for line in page().lines() {
        assert_eq!(line.starts_with('|'), line.ends_with('|'), "{line}");
        assert!(!line.ends_with('\\'), "{line}");
    }
}

/// Parameters that the hand-written table names exist, in every method it names them for.
#[test]
fn the_table_of_options_names_parameters_that_exist() {
    let offered = OPTIONS.split("### Not offered").next().unwrap();
    let mut checked = 0;
    for line in offered.lines().filter(|line| line.starts_with("| m") || line.starts_with("| w")) {
        let cells: Vec<&str> = line.split(" | ").collect();
        let methods = cells[0].trim_start_matches("| ").split(", ").map(|m| methods::find(m).unwrap());
        let names: Vec<&str> = cells[2].split('`').skip(1).step_by(2).collect();
        for method in methods {
            for name in names.iter().filter(|n| n.chars().all(|c| c.is_ascii_lowercase() || "-_".contains(c)))
            {
                assert!(method.params().iter().any(|p| p.name == *name), "{}: {name}", method.info().name);
                checked += 1;
            }
        }
    }
    assert!(checked > 40, "{checked} names");
}

#[test]
fn the_page_of_methods_is_fresh() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/methods.md");
    if std::env::var_os("BAGWISE_REWRITE_DOCS").is_some() {
        std::fs::write(&path, page()).unwrap();
    }
    let found = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(found == page(), "docs/methods.md is stale: cargo xtask golden writes it");
}
