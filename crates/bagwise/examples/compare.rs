//! Compares two methods with the baselines on the built-in Musk1, then does it again from the records.

#[expect(clippy::print_stdout, reason = "an example shows its result")]
fn main() -> bagwise::Result<()> {
    let data = bagwise::read("musk1")?;
    let folder = std::env::temp_dir().join(format!("bagwise-example-{}", std::process::id()));
    let compare = || bagwise::compare(&data).methods(["mi-kernel", "wmksvm"]).folds(3).folder(&folder);
    let first = compare().run()?;
    println!("{first}");
    // The same call finds what it did before, and would go on where it was stopped.
    let again = compare().run()?;
    assert!(again.resumed && again.records == first.records);
    std::fs::remove_dir_all(&folder).map_err(|e| bagwise::Error::io(&folder, e))
}
