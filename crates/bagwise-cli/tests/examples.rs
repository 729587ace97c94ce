//! Every command that help or documentation shows is run, and every output they show is compared. In the documents a
//! block marked `console` holds commands after `$ `, each followed by its output (stdout); a line `…` stands for any
//! lines, and no output at all means that only success is promised. Times taken may differ. `cargo xtask golden`
//! rewrites outputs without `…`. Commands of the README run from the root of the repository, with the tables in `docs/`;
//! those of `docs/*.md` run beside the tables.

#![cfg(unix)]

mod common;

use std::path::Path;

use common::{bagwise, copy_tables, examples, folder, root, shell, text, timeless};

#[test]
fn examples_in_help_run() {
    let home = folder();
    let page = |args: &[&str]| text(&bagwise(home.path(), args).stdout).to_string();
    let verbs: Vec<String> = page(&["--help"])
        .lines()
        .skip_while(|line| *line != "Commands:")
        .skip(1)
        .take_while(|line| !line.is_empty())
        .filter_map(|line| line.split_whitespace().next().map(String::from))
        .filter(|verb| verb != "help")
        .collect();
    assert!(verbs.len() >= 3, "{verbs:?}");

    let mut all = examples(&page(&["--help"]));
    for verb in &verbs {
        let of_verb = examples(&page(&[verb, "--help"]));
        assert!(of_verb.len() >= 2, "{verb} --help shows fewer than two examples");
        assert!(of_verb.iter().all(|line| line.starts_with(&format!("bagwise {verb}"))));
        all.extend(of_verb);
    }
    for line in all {
        let output = shell(home.path(), &line);
        assert!(output.status.success(), "{line}\n{}", text(&output.stderr));
    }
}

#[test]
fn commands_in_the_documents_run_and_print_what_is_shown() {
    let mut documents = vec![root().join("README.md")];
    documents.extend(std::fs::read_dir(root().join("docs")).unwrap().map(|entry| entry.unwrap().path()));
    documents.retain(|path| path.extension().is_some_and(|e| e == "md"));
    documents.sort();
    let mut commands = 0;
    let mut wrong = Vec::new();
    for path in &documents {
        let before = std::fs::read_to_string(path).unwrap();
        let known = wrong.len();
        let after = replay(path, &before, &mut commands, &mut wrong);
        if std::env::var_os("BAGWISE_REWRITE_DOCS").is_some() && before != after {
            std::fs::write(path, after).unwrap();
            wrong.truncate(known);
        }
    }
    assert!(wrong.is_empty(), "cargo xtask golden rewrites these:\n{}", wrong.join("\n"));
    assert!(commands >= 10, "only {commands} commands found: are the blocks still marked `console`?");
}

/// Runs the commands of one document in one folder and returns the document with outputs as they are.
fn replay(path: &Path, document: &str, commands: &mut usize, wrong: &mut Vec<String>) -> String {
    let readme = path.ends_with("README.md");
    let folder = if readme { tempfile::tempdir().unwrap() } else { folder() };
    if readme {
        let tables = folder.path().join("docs");
        std::fs::create_dir(&tables).unwrap();
        copy_tables(&tables);
    }
    let mut lines = document.lines().peekable();
    let mut after = String::new();
    let mut inside = false;
    while let Some(line) = lines.next() {
        after.push_str(line);
        after.push('\n');
        if line.starts_with("```") {
            inside = !inside && line == "```console";
        }
        let Some(command) = line.strip_prefix("$ ").filter(|c| inside && c.starts_with("bagwise")) else {
            continue;
        };
        let mut expected = String::new();
        while let Some(next) = lines.next_if(|l| !l.starts_with("$ ") && *l != "```") {
            expected.push_str(next);
            expected.push('\n');
        }
        *commands += 1;
        let output = shell(folder.path(), command);
        let got = text(&output.stdout);
        let name = path.file_name().unwrap().to_string_lossy();
        if !output.status.success() {
            wrong.push(format!("{name}: $ {command}\n{}", text(&output.stderr)));
        } else if !expected.is_empty() && !matches(&timeless(&expected), &timeless(got)) {
            wrong.push(format!("{name}: $ {command}\nshown:\n{expected}printed:\n{got}"));
        }
        let same = timeless(&expected) == timeless(got);
        let keep = same || expected.is_empty() || expected.lines().any(|l| l == "…");
        after.push_str(if keep { &expected } else { got });
    }
    after
}

/// True if the output is what is shown, where `…` stands for any lines.
fn matches(shown: &str, output: &str) -> bool {
    let mut rest = output;
    let mut skipped = false;
    for part in shown.split_inclusive('\n') {
        if part == "…\n" {
            skipped = true;
        } else if skipped {
            // Parts are whole lines, so that a find is the start of one or a slip no smaller than a line's end.
            let Some(at) = rest.find(part) else { return false };
            rest = &rest[at + part.len()..];
            skipped = false;
        } else {
            let Some(left) = rest.strip_prefix(part) else { return false };
            rest = left;
        }
    }
    skipped || rest.is_empty()
}

#[test]
fn an_ellipsis_stands_for_any_lines_and_nothing_else_does() {
    assert!(matches("a\nb\n", "a\nb\n"));
    assert!(matches("a\n…\nd\n", "a\nb\nc\nd\n"));
    assert!(matches("…\nd\n", "a\nd\n"));
    assert!(matches("a\n…\n", "a\nd\n"));
    assert!(!matches("a\n", "a\nb\n"));
    assert!(!matches("a\n…\nd\n", "a\nb\n"));
    assert!(!matches("b\n", "a\n"));
}
