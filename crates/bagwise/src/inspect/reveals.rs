//! Whether a column gives the label or the target away, entirely or nearly, and whether chance could have done it: among many
//! columns and few bags some look as if they knew the label.

use std::collections::{BTreeMap, HashSet};

use serde::Serialize;

use super::columns::BagTally;
use bagwise_core::Target;

/// A finding about a column may occur by chance in one of this many data sets.
const CHANCE: f64 = 1e-4;

/// An attribute that alone predicts the label of so many bags deserves a question. None of the data sets that come with bagwise has
/// one.
const NEARLY: f64 = 0.95;

/// The same for the share of the variance of a target.
const NEARLY_ALL: f64 = 0.99;

/// How a column gives the label or the target away.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Reveals {
    /// The same in each bag, one value per class (or a multiple of the target).
    Equals,
    /// The same in each bag, and each of its values belongs to one class, or they lie in the order of the target.
    Determines,
    /// The smallest value in a bag tells the classes apart, or orders bags as the target does, without a mistake.
    Smallest,
    /// The largest value in a bag does.
    Largest,
    /// The mean value in a bag does.
    Mean,
}

/// The labels, and what it takes to say that a column gives them away.
pub(super) struct LabelProfile<'a> {
    target: Option<&'a Target>,
    /// Logarithm of the chance that a random column separates the classes in order, times the columns tried.
    separates_by_chance: f64,
    /// Logarithm of the number of orders in which the labels can stand.
    arrangements: f64,
    /// Logarithm of the chance that two bags are of one class.
    agree: f64,
    width: f64,
}

impl<'a> LabelProfile<'a> {
    pub(super) fn new(target: Option<&'a Target>, width: usize) -> LabelProfile<'a> {
        let width = (width as f64).ln();
        let mut labels =
            LabelProfile { target: None, separates_by_chance: 0.0, arrangements: 0.0, agree: 0.0, width };
        let Some(target) = target else { return labels };
        labels.target = Some(target);
        if let Target::Classes { codes, names } = target {
            let mut counts = vec![0usize; names.len()];
            for &code in codes {
                counts[code as usize] += 1;
            }
            counts.retain(|&c| c > 0);
            if counts.len() < 2 {
                labels.target = None;
            }
            // k! n1! … nk! / n! orders of the bags keep each class together; three statistics are tried.
            let together: f64 = counts.iter().map(|&c| ln_factorial(c)).sum();
            labels.arrangements = ln_factorial(codes.len()) - together;
            labels.separates_by_chance =
                ln_factorial(counts.len()) - labels.arrangements + labels.width + 3f64.ln();
            let n = codes.len() as f64;
            labels.agree = counts.iter().map(|&c| (c as f64 / n).powi(2)).sum::<f64>().ln();
        }
        labels
    }

    pub(super) fn revealed_by(
        &self,
        bags: &[BagTally],
        same_within_bags: bool,
        categorical: bool,
    ) -> Option<Reveals> {
        match self.target? {
            Target::Values(values) => self.of_values(bags, values, same_within_bags, categorical),
            Target::Classes { codes, names } => {
                if same_within_bags && let Some(found) = self.determined(bags, codes, names.len()) {
                    return Some(found);
                }
                if categorical || self.separates_by_chance > CHANCE.ln() {
                    return None;
                }
                let apart = |of: fn(&BagTally) -> f64| separated(bags.iter().map(of), codes, names.len());
                if apart(|b| b.max) {
                    Some(Reveals::Largest)
                } else if apart(|b| b.min) {
                    Some(Reveals::Smallest)
                } else if apart(BagTally::mean) {
                    Some(Reveals::Mean)
                } else {
                    None
                }
            }
        }
    }

    /// The share of the bags whose label the mean of a column predicts, or a column that is the same in each bag by its values,
    /// if it is at least `NEARLY` overall and on average over the classes; of a real target, the share of its variance that the
    /// mean explains. None where chance could have it so.
    pub(super) fn nearly_revealed_by(
        &self,
        bags: &[BagTally],
        same_within_bags: bool,
        categorical: bool,
    ) -> Option<f64> {
        let (codes, classes) = match self.target? {
            Target::Values(values) => {
                let means: Vec<f64> = bags.iter().map(BagTally::mean).collect();
                let explained = correlation(&means, values).powi(2);
                // A correlation beyond r has about this chance among n independent pairs of normal numbers.
                let by_chance = 0.5 * (bags.len() as f64 - 2.0) * (1.0 - explained).ln() + self.width;
                let holds = !categorical && explained >= NEARLY_ALL && by_chance <= CHANCE.ln();
                return holds.then_some(explained);
            }
            Target::Classes { codes, names } => (codes, names.len()),
        };
        let mut best: Option<f64> = None;
        let mut consider = |guess: Guess, tries: f64| {
            let by_chance =
                tries + self.width + ln_near(bags.len(), guess.errors, classes) - self.arrangements;
            let share = 1.0 - guess.errors as f64 / bags.len() as f64;
            if guess.balanced >= NEARLY && share >= NEARLY && by_chance <= CHANCE.ln() {
                best = Some(best.map_or(share, |b| b.max(share)));
            }
        };
        if !categorical && classes == 2 {
            // Every threshold, in both directions.
            consider(best_threshold(bags, codes), (2.0 * bags.len() as f64).ln());
        }
        if same_within_bags {
            let (guess, values) = guess_by_value(bags, codes, classes);
            consider(guess, values as f64 * (classes as f64).ln());
        }
        best
    }

    /// A column beside a real target: is it a multiple of it, or do bags lie in the order of the target?
    fn of_values(
        &self,
        bags: &[BagTally],
        values: &[f64],
        same_within_bags: bool,
        categorical: bool,
    ) -> Option<Reveals> {
        let statistic = |of: fn(&BagTally) -> f64| bags.iter().map(of).collect::<Vec<f64>>();
        let bar = 1.0 - 1e-9; // closer to 1 than measurements of the same thing ever are
        if same_within_bags && !categorical {
            let own = statistic(|b| b.min);
            if bags.len() >= 5 && correlation(&own, values).abs() > bar {
                return Some(Reveals::Equals);
            }
            return self.ordered(&own, values, false).then_some(Reveals::Determines);
        }
        if categorical {
            let own = statistic(|b| b.min);
            return (same_within_bags && self.ordered(&own, values, true)).then_some(Reveals::Determines);
        }
        if self.ordered(&statistic(|b| b.max), values, false) {
            Some(Reveals::Largest)
        } else if self.ordered(&statistic(|b| b.min), values, false) {
            Some(Reveals::Smallest)
        } else if self.ordered(&statistic(BagTally::mean), values, false) {
            Some(Reveals::Mean)
        } else {
            None
        }
    }

    /// Whether bags with equal scores lie together in the order of the target, and their scores rise or fall with it (of
    /// categories, whose codes have no order, in any order), where chance would hardly have it so.
    fn ordered(&self, scores: &[f64], values: &[f64], any_order: bool) -> bool {
        let mut order: Vec<usize> = (0..scores.len()).collect();
        order.sort_by(|&a, &b| scores[a].total_cmp(&scores[b]));
        let mut ranges: Vec<(f64, f64)> = Vec::new();
        // Of n! orders of the bags, those of equal scores or equal targets among themselves do not count.
        let mut by_chance = -ln_factorial(scores.len());
        for same in order.chunk_by(|&a, &b| scores[a] == scores[b]) {
            let own = same.iter().map(|&bag| values[bag]);
            ranges.push((own.clone().fold(f64::INFINITY, f64::min), own.fold(f64::NEG_INFINITY, f64::max)));
            by_chance += ln_factorial(same.len());
        }
        let mut sorted = values.to_vec();
        sorted.sort_by(f64::total_cmp);
        by_chance += sorted.chunk_by(|a, b| a == b).map(|same| ln_factorial(same.len())).sum::<f64>();
        // Rising or falling, or any order of the groups; three statistics are tried.
        by_chance += if any_order { ln_factorial(ranges.len()) } else { 2f64.ln() };
        if ranges.len() < 2 || by_chance + self.width + 3f64.ln() > CHANCE.ln() {
            return false;
        }
        if any_order {
            ranges.sort_by(|a, b| a.0.total_cmp(&b.0));
        }
        let rising = ranges.windows(2).all(|w| w[0].1 <= w[1].0);
        rising || ranges.windows(2).all(|w| w[0].0 >= w[1].1)
    }

    /// A column that is the same in each bag: does each value belong to one class?
    fn determined(&self, bags: &[BagTally], codes: &[u32], classes: usize) -> Option<Reveals> {
        let mut class_of: BTreeMap<u64, u32> = BTreeMap::new();
        for (bag, &code) in bags.iter().zip(codes) {
            // -0 and 0 are one value.
            if *class_of.entry((bag.min + 0.0).to_bits()).or_insert(code) != code {
                return None;
            }
        }
        let repeats = (bags.len() - class_of.len()) as f64;
        if repeats * self.agree + self.width > CHANCE.ln() {
            return None;
        }
        let used: HashSet<u32> = codes.iter().copied().collect();
        debug_assert!(used.len() <= classes);
        Some(if class_of.len() == used.len() { Reveals::Equals } else { Reveals::Determines })
    }
}

/// How well labels are guessed.
struct Guess {
    errors: usize,
    /// The mean over the classes of the share of their bags that is right.
    balanced: f64,
}

/// The threshold for the means of bags of two classes that has the best mean over the classes.
fn best_threshold(bags: &[BagTally], codes: &[u32]) -> Guess {
    let mut order: Vec<(f64, u32)> = bags.iter().map(BagTally::mean).zip(codes.iter().copied()).collect();
    order.sort_by(|a, b| a.0.total_cmp(&b.0));
    let ones = codes.iter().filter(|&&c| c == 1).count();
    let zeros = codes.len() - ones;
    let mut best = Guess { errors: codes.len(), balanced: 0.0 };
    let (mut zeros_below, mut ones_below) = (0, 0);
    for same in order.chunk_by(|a, b| a.0 == b.0) {
        ones_below += same.iter().filter(|(_, code)| *code == 1).count();
        zeros_below += same.iter().filter(|(_, code)| *code == 0).count();
        let above = (zeros_below as f64 / zeros as f64 + (ones - ones_below) as f64 / ones as f64) / 2.0;
        let errors = zeros - zeros_below + ones_below;
        for (balanced, errors) in [(above, errors), (1.0 - above, codes.len() - errors)] {
            if balanced > best.balanced {
                best = Guess { errors, balanced };
            }
        }
    }
    best
}

/// The most frequent class for each value of a column that is the same in each bag, and the number of values.
fn guess_by_value(bags: &[BagTally], codes: &[u32], classes: usize) -> (Guess, usize) {
    let mut of_value: BTreeMap<u64, Vec<usize>> = BTreeMap::new();
    let mut all = vec![0usize; classes];
    for (bag, &code) in bags.iter().zip(codes) {
        // -0 and 0 are one value.
        of_value.entry((bag.min + 0.0).to_bits()).or_insert_with(|| vec![0; classes])[code as usize] += 1;
        all[code as usize] += 1;
    }
    let mut right = vec![0usize; classes];
    for counts in of_value.values() {
        let most = (0..classes).rev().max_by_key(|&c| counts[c]).unwrap_or(0);
        right[most] += counts[most];
    }
    let used: Vec<usize> = (0..classes).filter(|&c| all[c] > 0).collect();
    let balanced = used.iter().map(|&c| right[c] as f64 / all[c] as f64).sum::<f64>() / used.len() as f64;
    (Guess { errors: codes.len() - right.iter().sum::<usize>(), balanced }, of_value.len())
}

/// Logarithm of (a bound for) the number of ways to label `bags` that differ from one of them in at most so many bags.
fn ln_near(bags: usize, errors: usize, classes: usize) -> f64 {
    let ways = ln_factorial(bags) - ln_factorial(errors) - ln_factorial(bags - errors);
    // Each number of errors up to half the bags has at least as many ways as the one before.
    let each = ways + errors as f64 * (classes.saturating_sub(1).max(1) as f64).ln();
    each + (errors as f64 + 1.0).ln()
}

fn ln_factorial(n: usize) -> f64 {
    (2..=n).map(|i| (i as f64).ln()).sum()
}

/// True if the intervals of the classes do not touch.
fn separated(scores: impl Iterator<Item = f64>, codes: &[u32], classes: usize) -> bool {
    let mut ranges = vec![(f64::INFINITY, f64::NEG_INFINITY); classes];
    for (score, &code) in scores.zip(codes) {
        let range = &mut ranges[code as usize];
        *range = (range.0.min(score), range.1.max(score));
    }
    ranges.retain(|r| r.0 <= r.1);
    ranges.sort_by(|a, b| a.0.total_cmp(&b.0));
    ranges.windows(2).all(|w| w[0].1 < w[1].0)
}

fn correlation(a: &[f64], b: &[f64]) -> f64 {
    let n = a.len() as f64;
    let (ma, mb) = (a.iter().sum::<f64>() / n, b.iter().sum::<f64>() / n);
    let (mut ab, mut aa, mut bb) = (0.0, 0.0, 0.0);
    for (x, y) in a.iter().zip(b) {
        ab += (x - ma) * (y - mb);
        aa += (x - ma).powi(2);
        bb += (y - mb).powi(2);
    }
    if aa == 0.0 || bb == 0.0 { 0.0 } else { ab / (aa * bb).sqrt() }
}
