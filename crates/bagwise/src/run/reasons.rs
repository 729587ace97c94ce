//! Explanations of predictions, shortened to what a record stores ([`Reason`]).

use crate::fold::{Answers, TrainingTask, decisive};
use crate::method::Explanation;
use crate::model::{Model, ModelHeader, Prediction};
use bagwise_core::Dataset;
use bagwise_judge::Reason;

/// One reason per answered bag; empty if the method cannot tell, or not in finite numbers.
pub(super) fn reasons(learner: &TrainingTask<'_>, bags: &[usize], answers: &Answers) -> Vec<Reason> {
    let one = |(&bag, (machine, why)): (&usize, &(usize, Explanation))| {
        let task = learner.tasks[*machine];
        let number = |i: usize| learner.data.instance_number(bag, i) - 1;
        let reason = Reason {
            machine: (learner.tasks.len() > 1).then_some((task.plus, task.minus)),
            ..shortened(why, number)
        };
        reason.is_finite().then_some(reason)
    };
    let known = answers.reasons.as_deref().unwrap_or_default();
    bags.iter().zip(known).map(one).collect::<Option<Vec<_>>>().unwrap_or_default()
}

/// The same for what a saved model says of bags.
pub(super) fn of_model(
    model: &Model,
    data: &Dataset,
    said: &[Prediction],
    explained: &[Vec<Explanation>],
) -> Vec<Reason> {
    let ModelHeader { tasks, classes, .. } = &model.header;
    let one = |(bag, (said, why)): (usize, (&Prediction, &Vec<Explanation>))| {
        let label = classes.iter().position(|c| Some(c) == said.label.as_ref()).map(|c| c as u32);
        let machine = decisive(tasks, &said.outputs, label)?;
        let task = tasks[machine];
        let number = |i: usize| data.instance_number(bag, i) - 1;
        let reason = Reason {
            machine: (tasks.len() > 1).then_some((task.plus, task.minus)),
            ..shortened(&why[machine], number)
        };
        reason.is_finite().then_some(reason)
    };
    said.iter().zip(explained).enumerate().map(one).collect::<Option<Vec<_>>>().unwrap_or_default()
}

fn shortened(explanation: &Explanation, number: impl Fn(usize) -> usize) -> Reason {
    let (values, bias, mut order): (_, _, Vec<usize>) = match explanation {
        Explanation::Additive { bias, parts } => {
            let mut order: Vec<usize> = (0..parts.len()).filter(|&i| parts[i] != 0.0).collect();
            order.sort_by(|&a, &b| parts[b].abs().total_cmp(&parts[a].abs()).then(a.cmp(&b)));
            (parts, Some(*bias), order)
        }
        Explanation::Witness { outputs, chosen } => {
            let mut order: Vec<usize> = (0..outputs.len()).collect();
            let later = |i: usize| i != *chosen;
            order.sort_by(|&a, &b| {
                later(a).cmp(&later(b)).then(outputs[b].total_cmp(&outputs[a])).then(a.cmp(&b))
            });
            (outputs, None, order)
        }
    };
    let left = order.split_off(order.len().min(Reason::MOST));
    let sum = if bias.is_some() { left.iter().map(|&i| values[i]).sum() } else { 0.0 };
    Reason {
        machine: None,
        bias,
        rest: (values.len() - order.len(), sum),
        parts: order.into_iter().map(|i| (number(i), values[i])).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_largest_parts_are_kept_and_all_add_up() {
        let mut parts: Vec<f64> =
            (0..14).map(|i| f64::from(i) * if i % 2 == 0 { 1.0 } else { -1.0 }).collect();
        parts.push(0.0);
        let sum = 0.5 + parts.iter().sum::<f64>();
        let reason = shortened(&Explanation::Additive { bias: 0.5, parts }, |i| i + 100);
        assert_eq!(reason.parts[..2], [(113, -13.0), (112, 12.0)]);
        // Of 15 instances two have no part; 1, 2 and 3 are the smallest of the others.
        assert_eq!((reason.parts.len(), reason.rest, reason.instances()), (10, (5, -2.0), 15));
        assert_eq!(reason.output(), sum);
        let nothing = shortened(&Explanation::Additive { bias: -1.0, parts: vec![0.0; 3] }, |i| i);
        assert_eq!((nothing.parts.len(), nothing.rest, nothing.output()), (0, (3, 0.0), -1.0));
    }

    #[test]
    fn the_instance_that_decides_comes_first() {
        let outputs: Vec<f64> = vec![0.25, 3.0, -9.0, 0.5];
        let reason = shortened(&Explanation::Witness { outputs, chosen: 3 }, |i| i);
        assert_eq!(reason.parts, [(3, 0.5), (1, 3.0), (0, 0.25), (2, -9.0)]);
        assert_eq!((reason.bias, reason.rest, reason.output()), (None, (0, 0.0), 0.5));
        let many = shortened(&Explanation::Witness { outputs: vec![1.0; 12], chosen: 11 }, |i| i);
        assert_eq!((many.parts[..2].to_vec(), many.rest), (vec![(11, 1.0), (0, 1.0)], (2, 0.0)));
    }
}
