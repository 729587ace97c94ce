//! Reads a data set by name and prints what is known about it before any learning.
//!
//! ```console
//! cargo run --example inspect -p bagwise -- musk1
//! ```

use bagwise::inspect::inspect;

#[expect(clippy::print_stdout, reason = "an example shows its result")]
fn main() -> bagwise::Result<()> {
    let name = std::env::args().nth(1).unwrap_or_else(|| "musk1".into());
    let data = bagwise::read(&name)?;
    let found = inspect(&data)?;
    println!(
        "{}: {} bags, {} instances, {} attributes",
        found.data, found.bags, found.instances, found.attributes
    );
    for (class, bags) in &found.classes {
        println!("  class {class}: {bags} bags");
    }
    for finding in &found.findings {
        println!("  {}: {}", finding.message, finding.remedy);
    }
    Ok(())
}
