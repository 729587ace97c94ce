//! One name for one thing: no two types of the library have the same name.

use std::collections::BTreeMap;

use super::{LIBRARY, crates, rust_files};

#[test]
fn no_two_types_have_the_same_name() {
    let mut places: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for name in LIBRARY {
        for file in rust_files(&crates().join(name).join("src")) {
            if file.to_string_lossy().ends_with("tests.rs") {
                continue;
            }
            let text = std::fs::read_to_string(&file).expect("a source file is readable");
            let place = file.strip_prefix(crates()).expect("it was found there").display().to_string();
            for found in types_in(&text) {
                places.entry(found).or_default().push(place.clone());
            }
        }
    }
    assert!(places.len() > 300, "only {} types: the test does not see them", places.len());
    let twice: Vec<String> = places
        .iter()
        .filter(|(_, files)| files.len() > 1)
        .map(|(name, files)| format!("{name}: {}", files.join(", ")))
        .collect();
    assert!(twice.is_empty(), "give each type a name of its own:\n{}", twice.join("\n"));
}

/// What users of the library meet is small enough to be known. A type that other crates do not need is `pub(crate)`.
#[test]
#[allow(clippy::print_stdout)] // the count is worth knowing
fn public_types_are_few() {
    const MOST: usize = 90;
    let mut public: Vec<String> = Vec::new();
    for file in rust_files(&crates().join("bagwise/src")) {
        let text = std::fs::read_to_string(&file).expect("a source file is readable");
        let code = text.split("#[cfg(test)]\nmod tests {").next().unwrap_or_default();
        public.extend(code.lines().filter(|line| line.trim_start().starts_with("pub ")).filter_map(type_in));
    }
    println!("{} public types in bagwise", public.len());
    assert!(public.len() > 50, "only {}: the test does not see them", public.len());
    assert!(public.len() <= MOST, "{} public types, at most {MOST}: {}", public.len(), public.join(", "));
}

#[test]
fn types_are_found_however_they_are_written() {
    let text = "pub struct A<'a>(&'a u8);\npub(crate) enum B { C }\nstruct D;\npub unsafe trait E {\n    type F;\n}\n\
                type G = u8;\nfn f() {\n    struct H;\n}\n// struct I\n#[cfg(test)]\nmod tests {\n    struct J;\n}\n";
    assert_eq!(types_in(text), ["A", "B", "D", "E", "G", "H"]);
}

/// The types that a file defines, those of its unit tests and the associated types of traits aside.
fn types_in(text: &str) -> Vec<String> {
    let code = text.split("#[cfg(test)]\nmod tests {").next().unwrap_or_default();
    code.lines().filter_map(type_in).collect()
}

fn type_in(line: &str) -> Option<String> {
    let mut words =
        line.split_whitespace().skip_while(|w| w.starts_with("pub") || ["unsafe", "super)"].contains(w));
    let keyword = words.next()?;
    let own = ["struct", "enum", "trait", "union"].contains(&keyword)
        || keyword == "type" && !line.starts_with(char::is_whitespace);
    let name: String =
        words.next().filter(|_| own)?.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
    (!name.is_empty()).then_some(name)
}
