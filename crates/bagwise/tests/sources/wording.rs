//! The library says what would help; the command line and Python say with which option. This test reads the string
//! literals of the library crates and fails if one is worded for the command line.

use super::{LIBRARY, crates, rust_files};

/// Commands that a message might send people to.
const VERBS: [&str; 9] =
    ["compare", "convert", "evaluate", "explain", "fit", "gram", "inspect", "predict", "run"];

#[test]
fn no_message_of_the_library_names_an_option_of_the_command_line() {
    let (mut literals, mut found) = (0, Vec::new());
    for name in LIBRARY {
        let files = rust_files(&crates().join(name).join("src"));
        assert!(!files.is_empty(), "{name} has no sources: the test looks in the wrong place");
        for file in files.iter().filter(|f| !f.ends_with("tests.rs")) {
            let text = std::fs::read_to_string(file).expect("a source file is readable");
            let code = text.split("#[cfg(test)]\nmod tests {").next().unwrap_or_default();
            let lines: Vec<&str> = code.lines().collect();
            for (line, literal) in strings(code) {
                literals += 1;
                // Arguments of another program are not read by anybody.
                if lines[line - 1].trim_start().starts_with(".args([") {
                    continue;
                }
                if let Some(word) = option_in(&literal) {
                    let file = file.strip_prefix(crates()).expect("it was found there").display();
                    found.push(format!("{file}:{line}: '{word}' in \"{literal}\""));
                }
            }
        }
    }
    assert!(literals > 1000, "only {literals} literals: the test does not see them");
    let why = "name a Setting in a Message instead, which each front end words";
    assert!(found.is_empty(), "{} messages; {why}:\n{}", found.len(), found.join("\n"));
}

#[test]
fn an_option_is_found_however_it_is_written() {
    for text in
        ["raise --memory", "--keep carries", "(--folds, 3)", "with --{role}", "set -p tol=1", "-p x=1"]
    {
        assert!(option_in(text).is_some(), "{text}");
    }
    assert_eq!(option_in("train it with bagwise fit"), Some("bagwise fit".into()));
    for text in ["a--b", "1 -- 2", "-power", "mi-p x", "bagwise fits", "---", "-P x"] {
        assert_eq!(option_in(text), None, "{text}");
    }
    let code = r##"// "--a"
        /* "--b" */ f('"', "x\" y", r#"raw " --c"#, 'a'); g::<'static>("z") // "--d"
    "##;
    let found: Vec<String> = strings(code).into_iter().map(|(_, text)| text).collect();
    assert_eq!(found, ["x\\\" y", "raw \" --c", "z"]);
}

/// The first option or command of the command line in a text.
fn option_in(text: &str) -> Option<String> {
    let begins = |at: usize| !text[..at].ends_with(|c: char| c.is_alphanumeric() || c == '-');
    let word = |at: usize| text[at..].split_whitespace().next().unwrap_or_default().to_string();
    let long = text.match_indices("--").find(|&(at, _)| {
        begins(at) && text[at + 2..].starts_with(|c: char| c.is_ascii_lowercase() || c == '{')
    });
    let short = text.match_indices("-p ").find(|&(at, _)| begins(at));
    let verb = text.match_indices("bagwise ").find_map(|(at, _)| {
        let next: String = text[at + 8..].chars().take_while(|c| c.is_alphanumeric()).collect();
        VERBS.contains(&next.as_str()).then(|| format!("bagwise {next}"))
    });
    long.or(short).map(|(at, _)| word(at)).or(verb)
}

/// The string literals of a source text, comments aside, each with its line.
fn strings(code: &str) -> Vec<(usize, String)> {
    let bytes = code.as_bytes();
    let mut found = Vec::new();
    let mut at = 0;
    // Where the first of a text is from `at`, or the end.
    let next = |at: usize, text: &str| code[at..].find(text).map_or(code.len(), |i| at + i);
    while at < bytes.len() {
        let rest = &code[at..];
        if rest.starts_with("//") {
            at = next(at, "\n");
        } else if rest.starts_with("/*") {
            at = next(at, "*/");
        } else if let Some(hashes) = raw_start(code, at) {
            let start = at + hashes + 2;
            let end = next(start, &format!("\"{}", "#".repeat(hashes)));
            found.push((start, end));
            at = end + hashes + 1;
        } else if bytes[at] == b'"' {
            let start = at + 1;
            at = start;
            while at < bytes.len() && bytes[at] != b'"' {
                at += if bytes[at] == b'\\' { 2 } else { 1 };
            }
            found.push((start, at.min(code.len())));
            at += 1;
        } else if rest.starts_with("'\\") {
            at = next(at + 3, "'") + 1;
        } else if rest.starts_with("'\"'") {
            at += 3;
        } else {
            at += rest.chars().next().map_or(1, char::len_utf8);
        }
    }
    found.into_iter().map(|(a, b)| (1 + code[..a].matches('\n').count(), code[a..b].to_string())).collect()
}

/// The number of # of a raw string that begins here.
fn raw_start(code: &str, at: usize) -> Option<usize> {
    let rest = code[at..].strip_prefix('r')?;
    let hashes = rest.bytes().take_while(|&b| b == b'#').count();
    // The r of `for"` would be the end of a word; that of `br"` is not.
    let inside = code[..at].trim_end_matches('b').ends_with(|c: char| c.is_alphanumeric() || c == '_');
    (rest[hashes..].starts_with('"') && !inside).then_some(hashes)
}
