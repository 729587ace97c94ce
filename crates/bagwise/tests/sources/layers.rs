//! A layer imports from below only. Cargo sees to that between crates; within a crate this test reads the imports and
//! fails if modules need each other.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use super::{crates, rust_files};

/// What each module of a crate imports: the first folder or file below `src` is a module.
type Imports = BTreeMap<String, BTreeSet<String>>;

#[test]
#[expect(clippy::print_stdout, reason = "the number is for people to read")]
fn no_module_imports_one_that_imports_it() {
    let (mut modules, mut found) = (0, Vec::new());
    for name in ["bagwise", "bagwise-core", "bagwise-engine", "bagwise-io", "bagwise-judge", "bagwise-svm"] {
        let imports = imports_of(&crates().join(name).join("src"));
        assert!(!imports.is_empty(), "{name} has no modules: the test looks in the wrong place");
        modules += imports.len();
        found.extend(cycles(&imports).into_iter().map(|cycle| format!("{name}: {cycle}")));
    }
    println!("{} import cycles between {modules} modules", found.len());
    assert!(found.is_empty(), "modules import each other:\n{}", found.join("\n"));
}

#[test]
fn a_cycle_is_found_however_it_is_written() {
    let one = |from: &str, text: &str| (from.to_string(), imports_in(text, from));
    let imports: Imports = [
        one("a", "use crate::b::{self, Thing};\n"),
        one("b", "fn f() { crate::c::g() }\n"),
        one("c", "use crate::{\n    a::X,\n    d,\n};\n"),
        one("d", "// use crate::a;\n#[cfg(test)]\nmod tests {\n    use crate::a;\n}\n"),
    ]
    .into();
    assert_eq!(cycles(&imports), ["a -> b -> c -> a"]);
}

fn imports_of(src: &Path) -> Imports {
    let mut imports = Imports::new();
    for file in rust_files(src) {
        let inside = file.strip_prefix(src).expect("it was found there");
        let first = inside.components().next().expect("a file has a name").as_os_str().to_string_lossy();
        let module = first.trim_end_matches(".rs").to_string();
        // Unit tests may look at anything, and the root lists all modules.
        if ["lib", "main"].contains(&module.as_str()) || file.ends_with("tests.rs") {
            continue;
        }
        let text = std::fs::read_to_string(&file).expect("a source file is readable");
        // `src/a.rs` and `src/a/mod.rs` are one step below the root, where `super` leads.
        let steps = inside.components().count() - usize::from(file.ends_with("mod.rs"));
        let text = text.replace(&"super::".repeat(steps), "crate::");
        imports.entry(module.clone()).or_default().extend(imports_in(&text, &module));
    }
    let known: BTreeSet<String> = imports.keys().cloned().collect();
    imports.values_mut().for_each(|list| list.retain(|name| known.contains(name)));
    imports
}

/// The modules of the same crate that a file names, its own tests and comments aside.
fn imports_in(text: &str, own: &str) -> BTreeSet<String> {
    let code = text.split("#[cfg(test)]\nmod tests").next().unwrap_or_default();
    let code: String =
        code.lines().filter(|l| !l.trim_start().starts_with("//")).collect::<Vec<_>>().join("\n");
    let mut names = BTreeSet::new();
    for rest in code.split("crate::").skip(1) {
        match rest.strip_prefix('{') {
            None => names.insert(word(rest)),
            Some(list) => {
                let mut depth = 0;
                let mut start = true;
                for (at, c) in list.char_indices() {
                    match c {
                        '{' => depth += 1,
                        '}' if depth == 0 => break,
                        '}' => depth -= 1,
                        ',' if depth == 0 => start = true,
                        c if start && c.is_alphabetic() => {
                            names.insert(word(&list[at..]));
                            start = false;
                        }
                        _ => {}
                    }
                }
                true
            }
        };
    }
    names.remove(own);
    names
}

fn word(text: &str) -> String {
    text.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect()
}

/// One way round for every module that can reach itself, each found once, from its first name in the alphabet.
fn cycles(imports: &Imports) -> Vec<String> {
    let mut found = Vec::new();
    for start in imports.keys() {
        let mut path = vec![start.clone()];
        walk(imports, &mut path, &mut BTreeSet::new(), &mut found);
    }
    found
}

/// Follows imports from the last module of a path; those before the first in the alphabet began paths of their own.
fn walk(imports: &Imports, path: &mut Vec<String>, seen: &mut BTreeSet<String>, found: &mut Vec<String>) {
    for next in &imports[path.last().expect("a path has a beginning")] {
        if *next == path[0] {
            found.push(format!("{} -> {next}", path.join(" -> ")));
        } else if *next > path[0] && seen.insert(next.clone()) && imports.contains_key(next) {
            path.push(next.clone());
            walk(imports, path, seen, found);
            path.pop();
        }
    }
}
