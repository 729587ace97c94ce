//! Combines the outputs of several binary models: one explanation, and the probability of every class.

use crate::method::Explanation;
use crate::multiclass::BinaryTask;

/// Explanations of several machines as one, each with its sign.
pub(super) fn added_up<'e>(all: impl Iterator<Item = (f64, &'e Explanation)>) -> Explanation {
    let (mut sum, mut together) = (0.0, Vec::new());
    for (sign, explanation) in all {
        let (Explanation::Additive { parts: own, .. } | Explanation::Witness { outputs: own, .. }) =
            explanation;
        together.resize(own.len(), 0.0);
        match explanation {
            Explanation::Additive { bias, parts } => {
                sum += sign * bias;
                together.iter_mut().zip(parts).for_each(|(sum, part)| *sum += sign * part);
            }
            Explanation::Witness { outputs, chosen } => together[*chosen] += sign * outputs[*chosen],
        }
    }
    Explanation::Additive { bias: sum, parts: together }
}

/// The probability of every class, also where a single machine gives only that of its plus class.
pub(super) fn class_probabilities(row: &[f64], tasks: &[BinaryTask], classes: usize) -> Vec<f64> {
    match (row, tasks) {
        _ if classes == 0 => Vec::new(),
        ([p], [task]) => (0..classes as u32).map(|c| if c == task.plus { *p } else { 1.0 - *p }).collect(),
        _ => row.to_vec(),
    }
}
