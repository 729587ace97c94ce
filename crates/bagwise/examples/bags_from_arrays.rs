//! Bags from numbers a program already has: no file involved.

use bagwise::{Bags, Dataset, Instances, Mat, Target};

#[expect(clippy::print_stdout, reason = "an example shows its result")]
fn main() -> bagwise::Result<()> {
    // Five instances of two numbers each; the first bag owns rows 0 and 1, the second rows 2 to 4.
    let rows = Mat::from_rows(&[[0.1, 2.0], [0.3, 1.5], [4.0, 1.0], [0.2, 2.1], [0.2, 1.9]]);
    let bags = Bags::new(Instances::F64(rows), vec![0, 2, 5])?.with_ids(vec!["M1".into(), "M2".into()])?;
    let data = Dataset::new("molecules", bags).with_target(Target::from_labels(&["inactive", "active"]))?;
    for (bag, id) in data.bags.ids().iter().enumerate() {
        println!("{id} has {} instances", data.bags.bag(bag).len());
    }
    assert_eq!(data.select(&[1]).bags.instance_count(), 3);
    Ok(())
}
