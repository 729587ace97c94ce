//! Gradients against finite differences, and passes in blocks against passes in one.

use bagwise_core::{Bags, Csr, Ctx, Instances, Mat, Precision, Rng};

use super::*;

const ALL: [Pooling; 6] =
    [Pooling::Attention, Pooling::Gated, Pooling::Mean, Pooling::Max, Pooling::LogSumExp, Pooling::Instance];

/// Bags of 1, 2, 3, … instances.
fn bags(count: usize, width: usize) -> Bags {
    let mut rng = Rng::new(1, "bags", &[]);
    let offsets: Vec<usize> = (0..=count).map(|b| b * (b + 1) / 2).collect();
    let values = (0..offsets[count] * width).map(|_| rng.normal()).collect();
    Bags::new(Instances::F64(Mat::new(offsets[count], width, values)), offsets).unwrap()
}

fn shape(pooling: Pooling, activation: Activation, widths: &[usize]) -> NetworkShape {
    NetworkShape { inputs: 5, widths: widths.to_vec(), attention: 4, pooling, activation }
}

/// Small biases, so that nothing sits where a unit switches.
fn parameters(shape: &NetworkShape, seed: u64) -> Vec<f64> {
    let mut rng = Rng::new(seed, "biases", &[]);
    shape.start(seed, 0).into_iter().map(|p| if p == 0.0 { 0.1 * rng.normal() } else { p }).collect()
}

/// A logistic loss with targets and weights by place.
fn loss(at: usize, output: f64) -> (f64, f64) {
    let y = if at.is_multiple_of(2) { 1.0 } else { -1.0 };
    let weight = 1.0 + at as f64;
    (weight * (-y * output).exp().ln_1p(), -weight * y / (1.0 + (y * output).exp()))
}

#[test]
fn gradients_are_those_of_finite_differences() {
    let bags = bags(6, 5);
    let list = [4, 0, 2, 5, 1];
    let ctx = Ctx::default();
    for pooling in ALL {
        for activation in [Activation::Relu, Activation::Tanh, Activation::Sigmoid] {
            for widths in [&[3][..], &[4, 3], &[3, 2, 4]] {
                let shape = shape(pooling, activation, widths);
                let mut parameters = parameters(&shape, 3);
                assert_eq!(shape.parameters(), Some(parameters.len()));
                let found = gradient(&shape, &parameters, &bags, &list, &loss, &ctx).unwrap();
                for i in 0..parameters.len() {
                    let kept = parameters[i];
                    let mut at = |step: f64| {
                        parameters[i] = kept + step;
                        let found = gradient(&shape, &parameters, &bags, &list, &loss, &ctx).unwrap().loss;
                        parameters[i] = kept;
                        found
                    };
                    let numeric = (at(1e-5) - at(-1e-5)) / 2e-5;
                    // Losses near 10 are rounded by 1e-15, which the step divides; its square is the other error.
                    let close = (numeric - found.gradient[i]).abs() < 1e-8 * (1.0 + numeric.abs());
                    assert!(
                        close,
                        "{pooling:?} {activation:?} {widths:?} {i}: {numeric} {}",
                        found.gradient[i]
                    );
                }
            }
        }
    }
}

#[test]
fn shares_add_up_to_the_output() {
    let bags = bags(6, 5);
    let list: Vec<usize> = (0..6).collect();
    let ctx = Ctx::default();
    for pooling in ALL.into_iter().filter(|p| *p != Pooling::LogSumExp) {
        let shape = shape(pooling, Activation::Relu, &[6]);
        let parameters = parameters(&shape, 2);
        let outputs = outputs(&shape, &parameters, &bags, &list, &ctx).unwrap();
        for (output, own) in outputs.iter().zip(shares(&shape, &parameters, &bags, &list, &ctx).unwrap()) {
            let said = match own.chosen {
                Some(chosen) => own.parts[chosen],
                None => own.bias + own.parts.iter().sum::<f64>(),
            };
            assert!((said - output).abs() < 1e-14, "{pooling:?}: {said} and {output}");
            assert_eq!(own.attention.len(), if pooling.attends() { own.parts.len() } else { 0 });
        }
    }
}

#[test]
fn storage_threads_and_company_change_nothing() {
    // Several blocks, one bag larger than a piece.
    let mut rng = Rng::new(1, "large", &[]);
    let offsets = vec![0, 300, 5000, 5001, 5600, 6000, 6001];
    let values: Vec<f64> =
        (0..6001 * 5).map(|i| if i % 3 == 0 { 0.0 } else { f64::from(rng.normal() as f32) }).collect();
    let dense = Mat::new(6001, 5, values.clone());
    let single = Mat::new(6001, 5, values.iter().map(|&v| v as f32).collect());
    let mut csr = Csr::empty(5);
    values.chunks(5).for_each(|row| csr.push_row((0..).zip(row.iter().copied())));
    let make = |instances: Instances| Bags::new(instances, offsets.clone()).unwrap();
    let (dense, single, sparse) =
        (make(Instances::F64(dense)), make(Instances::F32(single)), make(Instances::Sparse(csr)));
    let list = [5, 1, 0, 3, 2, 4];
    let in_pool = |threads: usize, f: &(dyn Fn() -> LossGradient + Sync)| {
        rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap().install(f)
    };
    for pooling in ALL {
        let shape = shape(pooling, Activation::Relu, &[8]);
        let parameters = parameters(&shape, 5);
        for precision in [Precision::F64, Precision::F32] {
            let mut ctx = Ctx::default();
            ctx.precision = precision;
            let found = |bags: &Bags| gradient(&shape, &parameters, bags, &list, &loss, &ctx).unwrap();
            let one = in_pool(1, &|| found(&dense));
            assert_eq!(one, in_pool(3, &|| found(&dense)), "{pooling:?}: threads");
            assert_eq!(one, found(&single), "{pooling:?}: storage");
            let (other, exact) = (found(&sparse), precision == Precision::F64);
            for (a, b) in one.gradient.iter().zip(&other.gradient) {
                // Sums over 6,000 instances in another order; relative to the largest slopes, near 100.
                let allowed = if exact { 1e-9 } else { 1e-2 };
                assert!((a - b).abs() < allowed, "{pooling:?} {precision:?}: {a} and {b}");
            }
            let together = outputs(&shape, &parameters, &dense, &list, &ctx).unwrap();
            for (at, &bag) in list.iter().enumerate() {
                let alone = outputs(&shape, &parameters, &dense, &[bag], &ctx).unwrap();
                assert_eq!(alone, [together[at]], "{pooling:?}: company");
            }
        }
    }
}
