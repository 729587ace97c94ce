//! Project tasks.

mod bench_svm;

fn main() -> anyhow::Result<()> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    match words.as_slice() {
        ["bench", "svm"] => bench_svm::run(),
        _ => anyhow::bail!("usage: cargo xtask bench svm"),
    }
}
