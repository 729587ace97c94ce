//! Unsafe code: how much there is, and where. It is the loops of the engines and of the solver, the array that Python borrows,
//! the arrays that it lends, one signal and one limit of the system; every block says why it is sound, which clippy checks
//! (`undocumented_unsafe_blocks`). Files that read input have none.

use super::{crates, rust_files};

/// Where unsafe code may be.
const ALLOWED: [&str; 7] = [
    "bagwise-engine/src/",
    "bagwise-svm/src/expansion.rs",
    "bagwise-svm/src/scan.rs",
    "bagwise-py/src/bags.rs",
    "bagwise-py/src/borrowed.rs",
    "bagwise-cli/src/lib.rs",
    "bagwise-cli/src/main.rs",
];

#[test]
fn unsafe_code_is_counted_and_only_where_it_belongs() {
    let (mut all, mut lines) = (0, Vec::new());
    for folder in std::fs::read_dir(crates()).expect("the folder of crates is readable") {
        let folder = folder.expect("a folder can be listed").path();
        // Development tools are not shipped.
        if folder.ends_with("xtask") || !folder.join("src").is_dir() {
            continue;
        }
        for file in rust_files(&folder.join("src")) {
            let text = std::fs::read_to_string(&file).expect("a source file is readable");
            let count = blocks(&text);
            let place = file.strip_prefix(crates()).expect("it was found there").display().to_string();
            let place = place.replace('\\', "/");
            assert!(
                count == 0 || ALLOWED.iter().any(|allowed| place.starts_with(allowed)),
                "{place} has unsafe code; write it without, or argue for it here"
            );
            if count > 0 {
                lines.push(format!("{count:>4}  {place}"));
                all += count;
            }
        }
    }
    lines.sort();
    #[allow(clippy::print_stdout, reason = "the count is what the test is for")]
    {
        println!("{}\n{all} unsafe blocks", lines.join("\n"));
    }
    assert!(all > 50, "only {all} unsafe blocks: the test does not see them");
}

#[test]
fn blocks_are_found_and_functions_are_not() {
    let text = "unsafe fn f() {\n    // unsafe {\n    unsafe { g() };\n    let x = unsafe {\n    };\n}\n";
    assert_eq!(blocks(text), 2);
}

fn blocks(text: &str) -> usize {
    let code = text.lines().map(|line| line.split("//").next().unwrap_or_default());
    code.map(|line| line.matches("unsafe {").count()).sum()
}
