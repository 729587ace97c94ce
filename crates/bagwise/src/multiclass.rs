//! Classes exist here and nowhere below: a problem with several classes becomes machines that each tell +1 from
//! -1, and their outputs become a class again.
//!
//! Two classes: one machine, the positive class as +1. More: *one-vs-one*, every pair `(p, q)` with `p < q` as +1
//! trained on the bags of those two; a positive output votes for `p`, any other for `q`, the most votes win and
//! ties go to the smaller class. *One-vs-rest*: each class as +1 against all others, the largest output wins.
//!
//! Probabilities: each machine's output goes through its own sigmoid; for one-vs-one the pairwise probabilities are
//! coupled by least squares (Wu, Lin, Weng: Probability estimates for multi-class classification by pairwise
//! coupling, JMLR 5, 2004, their second method), for one-vs-rest the sigmoid outputs are normalised.

use std::str::FromStr;

use serde::{Deserialize, Serialize};

use bagwise_core::{Error, Result};

/// How several classes become machines.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Scheme {
    /// A machine for each pair of classes.
    #[default]
    OneVsOne,
    /// A machine for each class against the rest.
    OneVsRest,
}

impl Scheme {
    /// The name users type.
    pub fn name(self) -> &'static str {
        match self {
            Scheme::OneVsOne => "one-vs-one",
            Scheme::OneVsRest => "one-vs-rest",
        }
    }
}

impl FromStr for Scheme {
    type Err = Error;

    fn from_str(text: &str) -> Result<Scheme> {
        match text {
            "one-vs-one" | "ovo" => Ok(Scheme::OneVsOne),
            "one-vs-rest" | "ovr" => Ok(Scheme::OneVsRest),
            _ => Err(Error::unknown("multi-class scheme", text, ["one-vs-one", "one-vs-rest"])),
        }
    }
}

/// What a machine tells apart: class codes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct BinaryTask {
    /// The class that is +1.
    pub plus: u32,
    /// The class that is -1; all others if not given.
    pub minus: Option<u32>,
}

impl BinaryTask {
    /// The training bags of this machine among `train`, and their targets.
    pub fn problem(&self, codes: &[u32], train: &[usize]) -> (Vec<usize>, Vec<f64>) {
        let target = |&bag: &usize| {
            if codes[bag] == self.plus {
                Some((bag, 1.0))
            } else {
                self.minus.is_none_or(|minus| codes[bag] == minus).then_some((bag, -1.0))
            }
        };
        train.iter().filter_map(target).unzip()
    }
}

/// The machines for `classes` classes. `positive` is the +1 class of a two-class problem.
pub fn tasks(classes: usize, scheme: Scheme, positive: u32) -> Vec<BinaryTask> {
    let all = 0..classes as u32;
    match (classes, scheme) {
        (0 | 1, _) => vec![BinaryTask { plus: positive, minus: None }],
        (2, _) => vec![BinaryTask { plus: positive, minus: Some(1 - positive) }],
        (_, Scheme::OneVsOne) => all
            .clone()
            .flat_map(|p| (p + 1..classes as u32).map(move |q| BinaryTask { plus: p, minus: Some(q) }))
            .collect(),
        (_, Scheme::OneVsRest) => all.map(|plus| BinaryTask { plus, minus: None }).collect(),
    }
}

/// The class that the outputs of the machines elect. A single machine says plus above 0, or from `threshold` on
/// where one was chosen. An output that is not a number (a pair of which training saw neither class) does not vote.
pub fn vote(outputs: &[f64], tasks: &[BinaryTask], classes: usize, threshold: Option<f64>) -> u32 {
    if let ([output], [BinaryTask { plus, minus }]) = (outputs, tasks) {
        let yes = threshold.map_or(*output > 0.0, |t| *output >= t);
        return if yes { *plus } else { minus.unwrap_or(*plus) };
    }
    // Against the rest, a class without a machine cannot win; among pairs every class starts with no vote.
    let rest = tasks.iter().any(|d| d.minus.is_none());
    let mut votes = vec![if rest { f64::NEG_INFINITY } else { 0.0 }; classes];
    for (output, task) in outputs.iter().zip(tasks).filter(|(o, _)| !o.is_nan()) {
        match task.minus {
            Some(minus) => votes[if *output > 0.0 { task.plus } else { minus } as usize] += 1.0,
            None => votes[task.plus as usize] = *output,
        }
    }
    first_largest(&votes)
}

fn first_largest(values: &[f64]) -> u32 {
    let mut best = 0;
    for (i, v) in values.iter().enumerate() {
        if *v > values[best] {
            best = i;
        }
    }
    best as u32
}

/// One number per class that grows with the evidence for it, for ranking metrics: the sum of the outputs of the
/// machines in its favour. A class that training did not see has the least.
pub fn class_scores(outputs: &[f64], tasks: &[BinaryTask], classes: usize) -> Vec<f64> {
    let mut scores = vec![0.0; classes];
    let mut known = vec![false; classes];
    for (output, task) in outputs.iter().zip(tasks).filter(|(o, _)| !o.is_nan()) {
        scores[task.plus as usize] += output;
        known[task.plus as usize] = true;
        if let Some(minus) = task.minus {
            scores[minus as usize] -= output;
            known[minus as usize] = true;
        }
    }
    let least = scores.iter().copied().fold(0.0, f64::min) - 1.0;
    scores.into_iter().zip(known).map(|(score, known)| if known { score } else { least }).collect()
}

/// Class probabilities from each machine's probability of its plus class. A machine that knows nothing (not a number)
/// counts as undecided.
pub fn couple(probabilities: &[f64], tasks: &[BinaryTask], classes: usize) -> Vec<f64> {
    if tasks.iter().any(|d| d.minus.is_none()) {
        let mut mass = vec![0.0; classes];
        for (p, task) in probabilities.iter().zip(tasks).filter(|(p, _)| !p.is_nan()) {
            mass[task.plus as usize] = *p;
        }
        return normalised(mass);
    }
    // r[i][j]: the probability of i if it is i or j. Away from 0 and 1, so that the system below has one solution.
    const EDGE: f64 = 1e-7;
    let mut r = vec![vec![0.5; classes]; classes];
    for (p, task) in probabilities.iter().zip(tasks).filter(|(p, _)| !p.is_nan()) {
        let (plus, minus) = (task.plus as usize, task.minus.unwrap_or_default() as usize);
        r[plus][minus] = p.clamp(EDGE, 1.0 - EDGE);
        r[minus][plus] = 1.0 - r[plus][minus];
    }
    // The p that minimises sum over i and j of (r_ji p_i - r_ij p_j)^2 with sum 1, by its optimality conditions.
    let mut system = vec![vec![0.0; classes + 2]; classes + 1];
    for i in 0..classes {
        for j in (0..classes).filter(|&j| j != i) {
            system[i][i] += r[j][i] * r[j][i];
            system[i][j] = -r[j][i] * r[i][j];
        }
        system[i][classes] = 1.0;
        system[classes][i] = 1.0;
    }
    system[classes][classes + 1] = 1.0;
    let solution = eliminate(system);
    normalised(solution[..classes].iter().map(|p| p.max(0.0)).collect())
}

fn normalised(mass: Vec<f64>) -> Vec<f64> {
    let total: f64 = mass.iter().sum();
    if total > 0.0 {
        mass.iter().map(|m| m / total).collect()
    } else {
        vec![1.0 / mass.len() as f64; mass.len()]
    }
}

/// Solves a small linear system, right side in the last column, by elimination with row pivots.
fn eliminate(mut a: Vec<Vec<f64>>) -> Vec<f64> {
    let n = a.len();
    for k in 0..n {
        let pivot = (k..n).max_by(|&i, &j| a[i][k].abs().total_cmp(&a[j][k].abs())).unwrap_or(k);
        a.swap(k, pivot);
        for i in k + 1..n {
            let factor = a[i][k] / a[k][k];
            for j in k..=n {
                a[i][j] -= factor * a[k][j];
            }
        }
    }
    let mut x = vec![0.0; n];
    for k in (0..n).rev() {
        let known: f64 = (k + 1..n).map(|j| a[k][j] * x[j]).sum();
        x[k] = (a[k][n] - known) / a[k][k];
    }
    x
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_vs_one_counts_votes_and_gives_ties_to_the_smaller_class() {
        let tasks = tasks(3, Scheme::OneVsOne, 0);
        assert_eq!(tasks.len(), 3);
        assert_eq!(vote(&[1.0, 1.0, 1.0], &tasks, 3, None), 0);
        // 0 beats 1, 2 beats 0, 1 beats 2: a circle.
        assert_eq!(vote(&[1.0, -1.0, 1.0], &tasks, 3, None), 0);
        assert_eq!(vote(&[-1.0, -1.0, -1.0], &tasks, 3, None), 2);
        // An output of exactly 0 is a vote for the second.
        assert_eq!(vote(&[0.0, -1.0, 1.0], &tasks, 3, None), 1);
    }

    #[test]
    fn a_pair_that_training_did_not_see_has_no_vote() {
        let tasks = tasks(3, Scheme::OneVsOne, 0);
        assert_eq!(vote(&[1.0, f64::NAN, f64::NAN], &tasks, 3, None), 0);
    }

    #[test]
    fn two_classes_are_one_machine_with_a_threshold() {
        let tasks = tasks(2, Scheme::OneVsOne, 1);
        assert_eq!(tasks, [BinaryTask { plus: 1, minus: Some(0) }]);
        assert_eq!((vote(&[0.3], &tasks, 2, None), vote(&[0.3], &tasks, 2, Some(0.5))), (1, 0));
        assert_eq!(tasks[0].problem(&[0, 1, 1], &[0, 2]), (vec![0, 2], vec![-1.0, 1.0]));
    }

    #[test]
    fn one_vs_rest_takes_the_largest_output() {
        let tasks = tasks(3, Scheme::OneVsRest, 0);
        assert_eq!(vote(&[-2.0, -0.5, -1.0], &tasks, 3, None), 1);
        assert_eq!(tasks[1].problem(&[0, 1, 2], &[0, 1, 2]).1, [-1.0, 1.0, -1.0]);
        // Class 2 was not seen: it cannot win, however negative the others are.
        assert_eq!(vote(&[-5.0, -4.0, f64::NAN], &tasks, 3, None), 1);
    }

    #[test]
    fn probabilities_sum_to_one() {
        let p = couple(&[0.9, 0.8, 0.5], &tasks(3, Scheme::OneVsOne, 0), 3);
        assert!((p.iter().sum::<f64>() - 1.0).abs() < 1e-15);
        assert!(p[0] > p[1] && p[0] > p[2]);
    }

    #[test]
    fn coupling_finds_the_probabilities_that_made_the_pairs() {
        // Consistent pairs r_ij = p_i / (p_i + p_j) come from exactly one p.
        let truth = [0.5, 0.3, 0.15, 0.05];
        let tasks = tasks(4, Scheme::OneVsOne, 0);
        let ratio = |d: &BinaryTask| {
            let (i, j) = (d.plus as usize, d.minus.unwrap() as usize);
            truth[i] / (truth[i] + truth[j])
        };
        let found = couple(&tasks.iter().map(ratio).collect::<Vec<_>>(), &tasks, 4);
        for (f, t) in found.iter().zip(truth) {
            assert!((f - t).abs() < 1e-12, "{found:?}");
        }
        // Certain pairs give a certain class, not a fifth of one.
        let certain: Vec<f64> = tasks.iter().map(|d| if d.plus == 0 { 1.0 } else { 0.5 }).collect();
        assert!(couple(&certain, &tasks, 4)[0] > 0.999);
        assert_eq!(couple(&[f64::NAN; 6], &tasks, 4), [0.25; 4]);
    }
}
