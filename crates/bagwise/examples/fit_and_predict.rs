//! Learns from the built-in Musk1, saves the model, and asks it about a bag and its instances.

use bagwise::Model;
use bagwise::method::Explanation;

#[expect(clippy::print_stdout, reason = "an example shows its result")]
fn main() -> bagwise::Result<()> {
    let data = bagwise::read("musk1")?;
    let model = bagwise::method("mi-kernel")?.fit(&data)?;

    // What would go to a file: the same model comes back.
    let model = Model::from_bytes(&model.to_bytes()?)?;
    let bag = data.bags.select(&[0]);
    let predicted = &model.predict(&bag)?[0];
    println!(
        "bag {} is of class {:?}, decision value {:.3}",
        predicted.bag,
        predicted.label,
        predicted.score()
    );
    if let Explanation::Additive { bias, parts } = &model.explain(&bag)?[0][0] {
        println!("bias {bias:.3}, parts {parts:.3?}");
        let sum = bias + parts.iter().sum::<f64>();
        assert!((sum - predicted.score()).abs() < 1e-10);
    }
    Ok(())
}
