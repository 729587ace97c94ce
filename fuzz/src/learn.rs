//! Learning from arbitrary small data: a model, or an error. What a model says before it is saved it says after it is
//! loaded, to the bit.

use bagwise::{Bags, Dataset, Instances, Mat, Model, Target, method, methods};

use super::choices::Choices;

pub(crate) fn learn(bytes: &[u8]) {
    let mut choices = Choices::new(bytes);
    let info = methods::METHODS[choices.below(methods::METHODS.len())].info();
    // A search for concepts or a network takes too long for a fuzzer.
    if ["dd", "dd-svm", "mg-ddv", "mg-acc", "bagging", "stacking"].contains(&info.name) {
        return;
    }
    let Some(data) = data(&mut choices) else { return };
    let mut config = method(info.name).expect("a method of the registry").tuned(false);
    if info.name == "mil-net" {
        config = config.param("epochs", 2);
    }
    let scale = choices.of(&["none", "minmax", "zscore", "maxabs"]);
    config = config.scale(scale.parse().expect("a scaling"));
    let probabilities = choices.rarely(4);
    let fit = bagwise::fit(&data).method(config).inner(2).probabilities(probabilities);
    let model = match fit.run() {
        Ok(model) => model,
        Err(error) => return assert!(!error.to_string().is_empty()),
    };
    let said = model.predict(&data.bags);
    let Ok(file) = model.to_bytes() else { return };
    // A model whose numbers left the range of doubles is refused when it is read back, which `save` does.
    let Ok(again) = Model::from_bytes(&file) else { return };
    let said_again = again.predict(&data.bags);
    match (said, said_again) {
        (Ok(said), Ok(again)) => {
            assert_eq!(format!("{said:?}"), format!("{again:?}"), "{} changed by saving", info.name);
            let finite = said.iter().all(|p| p.outputs.iter().all(|o| o.is_finite()));
            assert!(finite, "{}: an infinite output", info.name);
        }
        (Err(a), Err(b)) => assert_eq!(a.to_string(), b.to_string()),
        (a, b) => panic!("{}: {} before saving, {} after", info.name, a.is_ok(), b.is_ok()),
    }
    assert_eq!(again.to_bytes().expect("a model that was read"), file, "{}: other bytes", info.name);
}

/// Up to eight bags with up to four instances of up to four numbers.
fn data(choices: &mut Choices<'_>) -> Option<Dataset> {
    let (bags, width) = (2 + choices.below(7), 1 + choices.below(4));
    let mut offsets = vec![0];
    for _ in 0..bags {
        offsets.push(offsets[offsets.len() - 1] + 1 + choices.below(4));
    }
    let rows = offsets[bags];
    let mut values: Vec<f64> = (0..rows * width).map(|_| choices.value()).collect();
    // Equal instances and constant columns are where methods divide by zero.
    if choices.rarely(4) {
        let first: Vec<f64> = values[..width].to_vec();
        values.chunks_exact_mut(width).for_each(|row| row.copy_from_slice(&first));
    }
    let single = choices.rarely(4);
    let instances = match single {
        true => Instances::F32(Mat::new(rows, width, values.iter().map(|&v| v as f32).collect())),
        false => Instances::F64(Mat::new(rows, width, values)),
    };
    let bags_made = Bags::new(instances, offsets).ok()?;
    let target = match choices.below(4) {
        0 => Target::Values((0..bags).map(|_| choices.value()).collect()),
        classes => {
            let names: Vec<String> = (0..=classes.min(2)).map(|c| c.to_string()).collect();
            let codes = (0..bags).map(|_| choices.below(names.len()) as u32).collect();
            Target::Classes { codes, names }
        }
    };
    Dataset::new("made", bags_made).with_target(target).ok()
}
