//! Learns from the built-in Musk1, saves the model, and asks it about a bag and its instances.

use bagwise::fold::{Learner, Setup};
use bagwise::fold::{Wanted, train};
use bagwise::judge::{Metric, Splits};
use bagwise::method::Explanation;
use bagwise::model::Trained;
use bagwise::params::{Fill, Grid};
use bagwise::{Ctx, io, methods};

#[expect(clippy::print_stdout, reason = "an example shows its result")]
fn main() -> bagwise::Result<()> {
    let data = io::read("musk1", &io::ReadOptions::default())?;
    let method = methods::find("mi-kernel")?;
    let setup = Setup::new(method, Grid::new("mi-kernel", method.params(), &[], Fill::Grid, false)?);
    let ctx = Ctx::seeded(0);
    let all: Vec<usize> = (0..data.bags.len()).collect();
    let wanted = Wanted::by(Metric::Accuracy);
    let learner = Learner::new(&data, &setup, None)?;
    let model = train(&[learner], &all, Splits::KFold(5), &wanted, &ctx)?;

    // What would go to a file: the same model comes back.
    let model = Trained::from_bytes(&model.to_bytes()?)?;
    let bag = data.bags.select(&[0]);
    let answer = &model.predict_with(&bag, &ctx)?[0];
    println!("bag {} is of class {:?}, decision value {:.3}", answer.bag, answer.label, answer.outputs[0]);
    if let Explanation::Additive { bias, parts } = &model.explain_with(&bag, &ctx)?[0][0] {
        println!("bias {bias:.3}, parts {parts:.3?}");
        let sum = bias + parts.iter().sum::<f64>();
        assert!((sum - answer.outputs[0]).abs() < 1e-10);
    }
    Ok(())
}
