//! Reduces a problem with several classes to binary problems (+1 against -1), and combines their outputs to a class. The
//! layers below do not know about classes.
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

use bagwise_core::{Error, Mat, Result};

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

/// The bags of every class among some training bags, so that a machine for a pair of many classes looks at its own only.
pub(crate) struct ClassBags<'a> {
    codes: &'a [u32],
    train: &'a [usize],
    /// Places in `train`, ascending, for each class.
    places: Vec<Vec<usize>>,
}

impl<'a> ClassBags<'a> {
    /// Sorts the bags `train` by class.
    pub(crate) fn new(codes: &'a [u32], train: &'a [usize]) -> ClassBags<'a> {
        let classes = train.iter().map(|&bag| codes[bag] as usize + 1).max().unwrap_or(0);
        let mut places = vec![Vec::new(); classes];
        train.iter().enumerate().for_each(|(place, &bag)| places[codes[bag] as usize].push(place));
        ClassBags { codes, train, places }
    }

    /// [`BinaryTask::problem`], in the same order.
    pub(crate) fn problem(&self, task: &BinaryTask) -> (Vec<usize>, Vec<f64>) {
        let Some(minus) = task.minus else { return task.problem(self.codes, self.train) };
        let of = |class: u32| self.places.get(class as usize).map_or(&[][..], Vec::as_slice);
        let mut places = [of(task.plus), of(minus)].concat();
        places.sort_unstable();
        let own: Vec<usize> = places.into_iter().map(|place| self.train[place]).collect();
        task.problem(self.codes, &own)
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

pub(crate) fn first_largest(values: &[f64]) -> u32 {
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
    let least = least_score(&scores);
    scores.into_iter().zip(known).map(|(score, known)| if known { score } else { least }).collect()
}

/// The score of a class that training did not see, beside those of the others.
pub(crate) fn least_score(scores: &[f64]) -> f64 {
    scores.iter().copied().fold(0.0, f64::min) - 1.0
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
    let mut r = Mat::new(classes, classes, vec![0.5; classes * classes]);
    for (p, task) in probabilities.iter().zip(tasks).filter(|(p, _)| !p.is_nan()) {
        let (plus, minus) = (task.plus as usize, task.minus.unwrap_or_default() as usize);
        let p = p.clamp(EDGE, 1.0 - EDGE);
        r.set(plus, minus, p);
        r.set(minus, plus, 1.0 - p);
    }
    let solution = match classes > MANY_CLASSES {
        true => coupled_by_gradients(&r).unwrap_or_else(|| coupled_by_elimination(&r)),
        false => coupled_by_elimination(&r),
    };
    normalised(solution.iter().map(|p| p.max(0.0)).collect())
}

/// From here on a bag's probabilities are found by iterations, each as long as the list of pairs: elimination is a third
/// factor of the number of classes, and takes seconds for a few hundred of them.
pub(crate) const MANY_CLASSES: usize = 20;

/// The machines for pairs of so many classes. Of more, what belongs to each is not kept side by side: pairs of 300 classes are
/// 44,850 outputs per bag and point of a grid.
pub(crate) const MANY_MACHINES: usize = MANY_CLASSES * (MANY_CLASSES - 1) / 2;

/// The p that minimises the sum over i and j of (r_ji p_i - r_ij p_j)^2 with sum 1, by its optimality conditions.
fn coupled_by_elimination(r: &Mat) -> Vec<f64> {
    let classes = r.rows();
    let mut system = vec![vec![0.0; classes + 2]; classes + 1];
    for i in 0..classes {
        for j in (0..classes).filter(|&j| j != i) {
            system[i][i] += r.get(j, i) * r.get(j, i);
            system[i][j] = -r.get(j, i) * r.get(i, j);
        }
        system[i][classes] = 1.0;
        system[classes][i] = 1.0;
    }
    system[classes][classes + 1] = 1.0;
    let mut solution = eliminate(system);
    solution.truncate(classes);
    solution
}

/// The same by conjugate gradients; none if they do not reach the precision of elimination.
///
/// The conditions `Q p = b 1`, `sum p = 1` make p a multiple of the solution of `(Q + s 1 1') x = 1` for any `s > 0`. With
/// `s` the mean product `r_ij r_ji`, which stands outside the diagonal of `-Q`, little but the diagonal is left, and a
/// few steps suffice.
fn coupled_by_gradients(r: &Mat) -> Option<Vec<f64>> {
    /// What is left of the right side, relatively: a hundred roundings.
    const TOLERANCE: f64 = 1e-14;
    let n = r.rows();
    let mut q = Mat::zeros(n, n);
    let (mut diagonal, mut products) = (vec![0.0; n], 0.0);
    for i in 0..n {
        for j in (0..n).filter(|&j| j != i) {
            let (own, other) = (r.get(j, i), r.get(i, j));
            diagonal[i] += own * own;
            products += own * other;
            q.set(i, j, -own * other);
        }
    }
    let shift = products / (n * (n - 1)) as f64;
    q.data_mut().iter_mut().for_each(|value| *value += shift);
    for i in 0..n {
        diagonal[i] += shift;
        q.set(i, i, diagonal[i]);
    }
    let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
    let (mut x, mut residual) = (vec![0.0; n], vec![1.0; n]);
    let scaled = |v: &[f64]| v.iter().zip(&diagonal).map(|(v, d)| v / d).collect::<Vec<f64>>();
    let mut z = scaled(&residual);
    let mut direction = z.clone();
    let mut rho = dot(&residual, &z);
    let mut image = vec![0.0; n];
    for _ in 0..n {
        image.fill(0.0);
        // Symmetric: a sum of rows, whose entries do not wait for each other as those of an inner product do.
        for (i, &d) in direction.iter().enumerate() {
            image.iter_mut().zip(q.row(i)).for_each(|(image, q)| *image += d * q);
        }
        let step = rho / dot(&direction, &image);
        if !step.is_finite() {
            return None;
        }
        for i in 0..n {
            x[i] += step * direction[i];
            residual[i] -= step * image[i];
        }
        if residual.iter().all(|r| r.abs() <= TOLERANCE) {
            return Some(x);
        }
        z = scaled(&residual);
        let next = dot(&residual, &z);
        let keep = next / rho;
        rho = next;
        direction.iter_mut().zip(&z).for_each(|(d, z)| *d = z + keep * *d);
    }
    None
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
    fn pairs_of_many_classes_are_the_same_by_class() {
        let codes = [2, 0, 1, 2, 4, 0, 1, 2];
        let train = [7, 0, 1, 6, 2, 5, 3];
        let by_class = ClassBags::new(&codes, &train);
        for scheme in [Scheme::OneVsOne, Scheme::OneVsRest] {
            for task in tasks(5, scheme, 0) {
                assert_eq!(by_class.problem(&task), task.problem(&codes, &train), "{task:?}");
            }
        }
    }

    #[test]
    fn iterations_and_elimination_couple_alike() {
        let classes = MANY_CLASSES + 10;
        let tasks = tasks(classes, Scheme::OneVsOne, 0);
        let mut rng = bagwise_core::Rng::new(3, "couple", &[]);
        for sharpness in [0.5, 5.0, 50.0] {
            let strength: Vec<f64> = (0..classes).map(|_| rng.uniform()).collect();
            let mut r = Mat::new(classes, classes, vec![0.5; classes * classes]);
            for task in &tasks {
                let (i, j) = (task.plus as usize, task.minus.unwrap() as usize);
                let f = sharpness * (strength[i] - strength[j] + 0.2 * (rng.uniform() - 0.5));
                let p = (1.0 / (1.0 + (-f).exp())).clamp(1e-7, 1.0 - 1e-7);
                r.set(i, j, p);
                r.set(j, i, 1.0 - p);
            }
            let fast = normalised(coupled_by_gradients(&r).expect("the gradients arrive"));
            let exact = normalised(coupled_by_elimination(&r));
            for (f, e) in fast.iter().zip(&exact) {
                // The system's condition is that of a diagonal; both leave some hundred roundings.
                assert!((f - e).abs() < 1e-11, "{sharpness}: {f} and {e}");
            }
        }
        let undecided = couple(&vec![f64::NAN; tasks.len()], &tasks, classes);
        assert!(undecided.iter().all(|p| (p - 1.0 / classes as f64).abs() < 1e-15), "{undecided:?}");
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
