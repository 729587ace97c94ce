//! Whether methods differ by more than chance, from their answers for the same bags.
//!
//! The unit is the bag, or the group where there are groups; repeats are averaged inside it. Each unit has a part in the
//! difference of two methods: of a mean over bags (accuracy, squared error) what its bags add to it, of any other
//! metric what leaving it out takes away, and a share of the difference itself ([`Pair::new`]). If the methods are equally
//! good, the part of a unit is as likely to have the one sign as the other. So signs are flipped at random, and the
//! difference over the root of the sum of squared parts is compared with what flips make of it.
//!
//! A method is compared with one of several, and the largest of many differences is large by chance. The largest over the
//! whole family of pairs is what flips are recorded by (max-T of Westfall and Young). If the reference is the best of
//! the data, the family has all pairs, because any of them might have had the best in it.
//!
//! Flips take the trained models as they are, and other training bags would have given others. [`WIDENING`] makes up for
//! that. `cargo xtask reproduce verdict` has chosen the test and this factor; docs/evaluation.md has its table.

use std::collections::{BTreeMap, BTreeSet};

use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use super::intervals::{Interval, t_quantile};
use super::metrics::Metric;
use super::predictions::Predictions;
use super::record::Record;
use super::roster::GroundTruth;
use super::summary::{Repeat, pooled};
use bagwise_core::{Error, Result, Rng};

/// Fewer units allow no p-value below 0.05: of five signs, one outcome in sixteen has them all equal.
pub const LEAST_UNITS: usize = 6;

/// Statistics are divided by this before they are compared with those of flipped signs, and intervals are as much wider.
pub const WIDENING: f64 = 1.1;

/// Random patterns of signs, the data's own included.
const FLIPS: usize = 2048;

/// Patterns that are tried at once, a bit of a random number for each.
const BLOCK: usize = 64;

/// Up to this many units every pattern is tried: no more than [`FLIPS`].
const EXACT: usize = 12;

/// More units are joined at random to this many: nothing is gained from more, and leaving each out takes time.
const MOST_UNITS: usize = 1000;

/// How a method stands to a reference.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Standing {
    /// It is the reference, the best.
    #[serde(rename = "best")]
    Best,
    /// It is better, by more than chance.
    #[serde(rename = "clearly better")]
    ClearlyBetter,
    /// The difference may be chance.
    #[serde(rename = "no clear difference")]
    NoClearDifference,
    /// It is worse, by more than chance.
    #[serde(rename = "clearly worse")]
    ClearlyWorse,
    /// There are fewer than [`LEAST_UNITS`] groups.
    #[serde(rename = "too few groups to tell")]
    TooFewGroups,
    /// There are fewer than [`LEAST_UNITS`] bags.
    #[serde(rename = "too few bags to tell")]
    TooFewBags,
    /// The metric has no value without some bag or group.
    #[serde(rename = "not tested")]
    NotTested,
    /// It has no value.
    #[serde(rename = "no result")]
    NoResult,
}

impl Standing {
    /// In words.
    pub fn as_str(self) -> &'static str {
        match self {
            Standing::Best => "best",
            Standing::ClearlyBetter => "clearly better",
            Standing::NoClearDifference => "no clear difference",
            Standing::ClearlyWorse => "clearly worse",
            Standing::TooFewGroups => "too few groups to tell",
            Standing::TooFewBags => "too few bags to tell",
            Standing::NotTested => "not tested",
            Standing::NoResult => "no result",
        }
    }

    /// True where the data do not show that the method is worse or better, though it has a value.
    pub fn is_open(self) -> bool {
        matches!(self, Standing::NoClearDifference | Standing::TooFewGroups | Standing::TooFewBags)
    }
}

/// A method against a reference on the same bags.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Difference {
    /// The method's value minus the reference's.
    pub value: Option<f64>,
    /// Its interval: those of all differences from the reference hold at once. None if every unit makes the same
    /// difference, which says nothing of its spread, or if there is no test.
    pub interval: Option<Interval>,
    /// Probability that chance makes one of the family as large, if no two methods differ: adjusted for their number.
    pub p: Option<f64>,
    /// Its standard error, widened as the interval is. That of a single pair: it does not depend on how many methods there are.
    #[serde(default)]
    pub error: Option<f64>,
    /// What that means.
    pub standing: Standing,
}

impl Difference {
    /// The reference against the method.
    pub fn reversed(self) -> Difference {
        let turn = |i: Interval| Interval { estimate: -i.estimate, low: -i.high, high: -i.low, ..i };
        Difference {
            value: self.value.map(|v| 0.0 - v),
            interval: self.interval.map(turn),
            standing: match self.standing {
                Standing::ClearlyBetter => Standing::ClearlyWorse,
                Standing::ClearlyWorse => Standing::ClearlyBetter,
                other => other,
            },
            ..self
        }
    }

    /// True if the difference may be chance and is no larger than its standard error.
    pub fn is_within_error(&self) -> bool {
        let small = self.value.zip(self.error).is_some_and(|(value, error)| value.abs() <= error);
        self.standing == Standing::NoClearDifference && (small || self.value == Some(0.0))
    }
}

/// What each unit adds to the values of methods.
#[derive(Clone, Debug)]
pub struct Influences {
    metric: Metric,
    /// Methods that the best is chosen from; a constant may follow.
    candidates: usize,
    /// Whether units are groups.
    grouped: bool,
    /// For each stratum, the share of each unit in it. The bags of a class are a stratum; where the metric is a mean over bags
    /// or there are no classes, all bags are one.
    shares: Vec<Vec<f64>>,
    values: Vec<Option<f64>>,
    /// Of each method, by how much each unit moves its value; nothing if that is not known for some unit.
    parts: Vec<Vec<f64>>,
}

impl Influences {
    /// Of methods judged on the same bags, from what they said in each repeat; repeats that are not complete do not
    /// count. `groups` has the group of every bag of the data set.
    pub fn new(methods: &[Vec<Repeat>], groups: Option<&[u32]>, metric: Metric, seed: u64) -> Influences {
        let counted = |repeat: &&Repeat| {
            repeat.complete && metric.over_folds(&repeat.predictions, &repeat.folds).is_some()
        };
        let counted: Vec<Vec<&Repeat>> =
            methods.iter().map(|all| all.iter().filter(counted).collect()).collect();
        let tested: BTreeSet<usize> = counted.iter().flatten().flat_map(|r| r.bags.iter().copied()).collect();
        let unit_code = |bag: usize| groups.map_or(bag, |codes| codes[bag] as usize);
        let mut units: BTreeMap<usize, usize> = tested.iter().map(|&bag| (unit_code(bag), 0)).collect();
        let mut order: Vec<usize> = (0..units.len()).collect();
        if units.len() > MOST_UNITS {
            Rng::new(seed, "difference units", &[]).shuffle(&mut order);
        }
        units.values_mut().zip(order).for_each(|(unit, at)| *unit = at % MOST_UNITS);
        let count = units.len().min(MOST_UNITS);
        let unit_of = |bag: usize| units[&unit_code(bag)];
        let strata = if averages_bags(metric) { 1 } else { classes(&counted).max(1) };
        let mut shares = vec![vec![0.0; count]; strata];
        let (mut values, mut parts) = (Vec::new(), Vec::new());
        for repeats in &counted {
            let mut value = 0.0;
            let mut sum = Some(vec![0.0; count]);
            for repeat in repeats {
                let one = Answered::new(repeat, metric, count, &unit_of);
                value += one.value / repeats.len() as f64;
                one.add_to(&mut shares);
                sum =
                    sum.zip(one.parts()).map(|(sum, own)| sum.iter().zip(own).map(|(a, b)| a + b).collect());
            }
            let known = !repeats.is_empty();
            values.push(known.then_some(value));
            let mean = |sum: Vec<f64>| sum.iter().map(|s| s / repeats.len() as f64).collect();
            parts.push(sum.filter(|_| known).map_or(Vec::new(), mean));
        }
        // Classes without bags have no part in anything.
        shares.retain(|of| of.iter().any(|&bags| bags > 0.0));
        for of in &mut shares {
            let total: f64 = of.iter().sum();
            of.iter_mut().for_each(|share| *share /= total);
        }
        Influences { metric, candidates: methods.len(), grouped: groups.is_some(), shares, values, parts }
    }

    /// Of methods that a run has judged, and of the best constant prediction after them ([`Repeat::constant`]). Fails if they
    /// were judged on different bags.
    pub fn of_records(
        records: &[Record],
        roster: &GroundTruth,
        methods: &[&str],
        metric: Metric,
    ) -> Result<Influences> {
        let mut all = methods.iter().map(|m| pooled(records, roster, m)).collect::<Result<Vec<_>>>()?;
        let mut first: BTreeMap<(usize, Option<usize>), (usize, BTreeSet<usize>)> = BTreeMap::new();
        for (at, repeats) in all.iter().enumerate() {
            for repeat in repeats.iter().filter(|r| r.complete) {
                let bags: BTreeSet<usize> = repeat.bags.iter().copied().collect();
                let (other, known) =
                    first.entry((repeat.repeat, repeat.fold)).or_insert_with(|| (at, bags.clone()));
                if *known != bags {
                    return Err(Error::Invalid(format!(
                        "{} and {} were tested on different bags in repeat {}; compare methods on the same folds",
                        methods[*other], methods[at], repeat.repeat
                    )));
                }
            }
        }
        let complete = all.iter().find(|repeats| repeats.iter().all(|r| r.complete)).or(all.first());
        all.push(complete.map_or(Vec::new(), |repeats| repeats.iter().map(Repeat::constant).collect()));
        let seed = records.iter().find(|r| r.key.data == roster.data).map_or(0, |r| r.seed);
        let found = Influences::new(&all, roster.group_codes().as_deref(), metric, seed);
        Ok(Influences { candidates: methods.len(), ..found })
    }

    /// Bags or groups.
    pub fn units(&self) -> usize {
        self.shares.first().map_or(0, Vec::len)
    }

    /// Whether they are groups.
    pub fn grouped(&self) -> bool {
        self.grouped
    }

    /// The value of the method at `at`.
    pub fn value(&self, at: usize) -> Option<f64> {
        self.values[at]
    }

    /// The first of the methods with the best value; none if no method has one.
    pub fn best(&self) -> Option<usize> {
        let valued = self.values[..self.candidates].iter().enumerate().filter_map(|(i, v)| v.map(|v| (i, v)));
        valued.reduce(|best, one| if self.metric.better(one.1, best.1) { one } else { best }).map(|b| b.0)
    }

    /// Every method against the one at `reference`; none for that one. `chosen` if it is the reference because of its value,
    /// as the best of all is.
    pub fn against(&self, reference: usize, chosen: bool, level: f64, seed: u64) -> Vec<Option<Difference>> {
        self.against_widened(reference, chosen, level, seed, WIDENING)
    }

    /// The same with another factor than [`WIDENING`], to measure what that does.
    pub fn against_widened(
        &self,
        reference: usize,
        chosen: bool,
        level: f64,
        seed: u64,
        widening: f64,
    ) -> Vec<Option<Difference>> {
        let methods = self.values.len();
        let tested = |m: usize| !self.parts[m].is_empty();
        let enough = self.units() >= LEAST_UNITS;
        let pairs: Vec<Pair> = (0..methods)
            .flat_map(|a| (0..a).map(move |b| (a, b)))
            .filter(|&(a, b)| match chosen {
                true => a < self.candidates && b < self.candidates,
                false => a == reference || b == reference,
            })
            .filter(|&(a, b)| enough && tested(a) && tested(b))
            .map(|(a, b)| if a == reference { (b, a) } else { (a, b) })
            .map(|(a, b)| self.pair(a, b))
            .collect();
        let flipped = self.flipped(&pairs, seed);
        let difference = |m: usize| {
            let value = self.difference(m, reference);
            let without = |standing| Difference { value, interval: None, p: None, error: None, standing };
            match pairs.iter().find(|pair| pair.methods == (m, reference)) {
                Some(pair) => self.judged(pair, &flipped, level, widening),
                None if value.is_none() => without(Standing::NoResult),
                None if enough => without(Standing::NotTested),
                None if self.grouped => without(Standing::TooFewGroups),
                None => without(Standing::TooFewBags),
            }
        };
        (0..methods).map(|m| (m != reference).then(|| difference(m))).collect()
    }

    /// Of values that are the same but for rounding, 0.
    fn difference(&self, a: usize, b: usize) -> Option<f64> {
        let (a, b) = self.values[a].zip(self.values[b])?;
        Some(if (a - b).abs() <= 1e-12 * a.abs().max(b.abs()) { 0.0 } else { a - b })
    }

    fn pair(&self, a: usize, b: usize) -> Pair {
        // About the values, because those of methods whose repeats failed in part come from other shares.
        let parts = self.parts[a].iter().zip(&self.parts[b]).map(|(a, b)| a - b).collect();
        Pair::new((a, b), self.difference(a, b).unwrap_or(0.0), parts, &self.shares)
    }

    /// The largest statistic of all pairs under each pattern of signs, the largest first; the data's own signs are among
    /// them.
    fn flipped(&self, pairs: &[Pair], seed: u64) -> Vec<f64> {
        // Behind the units, two unseen bags of each stratum.
        let strata = self.shares.len();
        let unseen =
            if pairs.iter().any(|pair| pair.unseen.iter().any(|u| *u > 0.0)) { 2 * strata } else { 0 };
        let units = self.units() + unseen;
        // All signs turned give the same, so that half of all patterns are all.
        let patterns = if units <= EXACT { 1 << (units.max(1) - 1) } else { FLIPS };
        let block = |block: usize| {
            let mut rng = Rng::new(seed, "sign flips", &[block as u64]);
            // The shares of units in each stratum are flipped like the parts of one more method.
            let mut sums = vec![[0.0; BLOCK]; self.parts.len() + strata];
            let mut apart = vec![[0.0; BLOCK]; strata];
            for unit in 0..units {
                // Bit by bit for the patterns of the block: those of a counter, or random ones after the data's own.
                let bits = match (units <= EXACT, block) {
                    (true, _) => {
                        (0..BLOCK).fold(0, |bits, at| bits | ((block * BLOCK + at) as u64 >> unit & 1) << at)
                    }
                    (false, 0) => rng.bits() & !1,
                    (false, _) => rng.bits(),
                };
                let mut signs = [1.0; BLOCK];
                signs.iter_mut().enumerate().for_each(|(at, sign)| *sign -= 2.0 * (bits >> at & 1) as f64);
                if let Some(at) = unit.checked_sub(self.units()) {
                    // The two cancel each other out in the data's own pattern.
                    let turned = if at % 2 == 0 { 1.0 } else { -1.0 };
                    apart[at / 2].iter_mut().zip(&signs).for_each(|(sum, sign)| *sum += turned * sign);
                    continue;
                }
                let parts = self.parts.iter().map(|parts| parts.get(unit).copied().unwrap_or(0.0));
                let shares = self.shares.iter().map(|of| of[unit]);
                for (sum, part) in sums.iter_mut().zip(parts.chain(shares)) {
                    sum.iter_mut().zip(&signs).for_each(|(sum, sign)| *sum += sign * part);
                }
            }
            let (methods, shares) = sums.split_at(self.parts.len());
            let mut largest = vec![0.0f64; BLOCK];
            for pair in pairs {
                let (a, b) = pair.methods;
                for (at, most) in largest.iter_mut().enumerate() {
                    let spread: f64 = pair.spread.iter().zip(shares).map(|(of, share)| of * share[at]).sum();
                    let unseen: f64 = pair.unseen.iter().zip(&apart).map(|(of, sum)| of * sum[at]).sum();
                    let flipped = methods[a][at] - methods[b][at] + spread * pair.value + unseen;
                    *most = most.max(pair.statistic(flipped));
                }
            }
            largest
        };
        let blocks = (0..patterns.div_ceil(BLOCK)).into_par_iter();
        let mut all: Vec<f64> = blocks.map(block).collect::<Vec<_>>().concat();
        all.truncate(patterns);
        all.sort_by(|a, b| b.total_cmp(a));
        all
    }

    /// The values that a method can have. A constant prediction has one alone, on any bags, if no bag moves it: 0 for MCC.
    fn range(&self, method: usize) -> (f64, f64) {
        let is_fixed = method == self.candidates && self.parts[method].iter().all(|part| *part == 0.0);
        match self.values[method].filter(|_| is_fixed) {
            Some(value) => (value, value),
            None => self.metric.range(),
        }
    }

    fn judged(&self, pair: &Pair, flipped: &[f64], level: f64, widening: f64) -> Difference {
        let patterns = flipped.len() as f64;
        // Sums of the same parts in another order are the same but for rounding.
        let own = pair.statistic(pair.value) / widening * (1.0 - 1e-9);
        let p = flipped.iter().filter(|t| **t >= own).count() as f64 / patterns;
        let most = ((1.0 - level) * patterns + 1e-9) as usize;
        let clear = p * patterns <= most as f64;
        let (first, second) = (self.range(pair.methods.0), self.range(pair.methods.1));
        let end = widening * flipped[most.min(flipped.len() - 1)];
        // Where hardly any bag makes a difference, flips have little to flip, and an interval from them would be as short as those
        // few are alike. It is at least as wide as that of Student's t, whose statistic has the spread about the mean, not about 0.
        let n = self.units() as f64;
        let t = t_quantile(0.5 + level / 2.0, n - 1.0);
        let usual = widening * t * (n / (n - 1.0 + t * t)).sqrt();
        let end = if clear { end } else { end.max(usual) };
        let interval = pair.interval(&pair.shares(&self.shares), end, level);
        let better = if self.metric.info().larger { pair.value > 0.0 } else { pair.value < 0.0 };
        let standing = match (clear, better) {
            (false, _) => Standing::NoClearDifference,
            (true, true) => Standing::ClearlyBetter,
            (true, false) => Standing::ClearlyWorse,
        };
        let interval = interval
            .map(|i| i.within((first.0 - second.1, first.1 - second.0)))
            .filter(|i| i.low.is_finite() && i.high.is_finite());
        Difference {
            value: Some(pair.value),
            interval,
            p: Some(p),
            error: Some(widening * pair.error()),
            standing,
        }
    }
}

/// Two methods of a family.
struct Pair {
    methods: (usize, usize),
    /// The first minus the second.
    value: f64,
    /// The share of each stratum in it.
    spread: Vec<f64>,
    /// What each unit adds to it.
    parts: Vec<f64>,
    /// What each of two bags more of a stratum would add, with opposite signs.
    unseen: Vec<f64>,
    /// The root of the sum of all their squares.
    norm: f64,
    /// The sum of squares of the parts about the value.
    about: f64,
}

/// A class counts as if at least this many of its bags had made a difference: that two methods agree on all of ten bags does not
/// show that they agree on every bag. (Agresti and Coull, The American Statistician 52, 1998, add as many to proportions.)
const LEAST_DIFFERING: f64 = 2.0;

impl Pair {
    /// From the parts of units about the value, which add up to nothing, and the shares of units in each stratum.
    ///
    /// A mean over bags rests on all of them alike. An area under a curve or a recall may rest on six positive bags of a hundred.
    /// Were the value spread over all hundred, those six would hardly vary about nothing where they agree by chance, and chance
    /// would look like certainty. So each stratum gets of the value what it has in the sum of squares if it alone had made the
    /// difference. And each varies at least as much as if [`LEAST_DIFFERING`] of its bags differed, each of which moves a mean
    /// over classes by its share.
    fn new(methods: (usize, usize), value: f64, mut parts: Vec<f64>, shares: &[Vec<f64>]) -> Pair {
        let about = parts.iter().map(|d| d * d).sum();
        let lacking = |of: &Vec<f64>| {
            let own = || of.iter().zip(&parts).filter(|(share, _)| **share > 0.0);
            let one = 1.0 / (shares.len() * own().count()) as f64;
            let squares: f64 = own().map(|(_, part)| part * part).sum();
            ((LEAST_DIFFERING * one * one - squares).max(0.0) / 2.0).sqrt()
        };
        let differs = value != 0.0 || about > 0.0;
        let unseen = match shares.len() > 1 && differs {
            true => shares.iter().map(lacking).collect(),
            false => Vec::new(),
        };
        let alone = |of: &Vec<f64>| -> f64 {
            let own = of.iter().zip(&parts).filter(|(share, _)| **share > 0.0);
            own.map(|(share, part)| (part + share * value).powi(2)).sum()
        };
        let squares: Vec<f64> = shares.iter().map(alone).collect();
        let total: f64 = squares.iter().sum();
        let spread = match total > 0.0 {
            true => squares.iter().map(|s| s / total).collect(),
            false => vec![1.0 / shares.len() as f64; shares.len()],
        };
        let mut pair = Pair { methods, value, spread, parts: Vec::new(), unseen, norm: 0.0, about };
        parts.iter_mut().zip(pair.shares(shares)).for_each(|(part, share)| *part += share * value);
        let squares = |of: &[f64]| of.iter().map(|d| d * d).sum::<f64>();
        pair.norm = (squares(&parts) + 2.0 * squares(&pair.unseen)).sqrt();
        pair.parts = parts;
        pair
    }

    /// The standard error of the value.
    fn error(&self) -> f64 {
        let n = self.parts.len() as f64;
        let unseen: f64 = self.unseen.iter().map(|d| 2.0 * d * d).sum();
        (self.about * n / (n - 1.0) + unseen).sqrt()
    }

    /// The share of each unit in the value.
    fn shares(&self, of_strata: &[Vec<f64>]) -> Vec<f64> {
        let units = of_strata.first().map_or(0, Vec::len);
        let share = |unit| of_strata.iter().zip(&self.spread).map(|(of, spread)| spread * of[unit]).sum();
        (0..units).map(share).collect()
    }

    fn statistic(&self, difference: f64) -> f64 {
        if self.norm > 0.0 { difference.abs() / self.norm } else { 0.0 }
    }

    /// The differences that the data do not rule out: those that, taken from every unit by its share in the values, leave a
    /// statistic of at most `most`. None if units do not vary about the value; without ends if a few units hold nearly all
    /// bags.
    fn interval(&self, shares: &[f64], most: f64, level: f64) -> Option<Interval> {
        let left = self.parts.iter().zip(shares).map(|(part, share)| part - share * self.value);
        let unseen = self.unseen.iter().any(|d| *d > 0.0);
        // Sums of at most a thousand parts: what is below this is rounding. A range of one point would look like certainty.
        if !unseen && left.map(|d| d * d).sum::<f64>().sqrt() <= 1e-12 * self.norm {
            return None;
        }
        // (value - x)^2 <= most^2 * sum of (part - share x)^2, a parabola in x.
        let square = most * most;
        let product: f64 = self.parts.iter().zip(shares).map(|(part, share)| part * share).sum();
        let a = 1.0 - square * shares.iter().map(|share| share * share).sum::<f64>();
        let b = self.value - square * product;
        let c = self.value.powi(2) - square * self.norm.powi(2);
        let (low, high) = match b * b - a * c {
            root if a > 0.0 && root >= 0.0 => ((b - root.sqrt()) / a, (b + root.sqrt()) / a),
            _ => (f64::NEG_INFINITY, f64::INFINITY),
        };
        Some(Interval { estimate: self.value, low, high, level })
    }
}

/// What a method said in a repeat, by unit.
struct Answered<'r> {
    repeat: &'r Repeat,
    metric: Metric,
    value: f64,
    /// The rows of each unit.
    rows: Vec<Vec<usize>>,
}

impl<'r> Answered<'r> {
    /// Of a repeat that has a value.
    fn new(
        repeat: &'r Repeat,
        metric: Metric,
        units: usize,
        unit_of: &impl Fn(usize) -> usize,
    ) -> Answered<'r> {
        let mut rows = vec![Vec::new(); units];
        repeat.bags.iter().enumerate().for_each(|(row, &bag)| rows[unit_of(bag)].push(row));
        Answered {
            repeat,
            metric,
            value: metric.over_folds(&repeat.predictions, &repeat.folds).unwrap_or(f64::NAN),
            rows,
        }
    }

    /// Adds the bags of each unit to those of its stratum.
    fn add_to(&self, strata: &mut [Vec<f64>]) {
        let classes = match (&self.repeat.predictions, strata.len()) {
            (Predictions::Classes(c), 2..) => Some(&c.truth),
            _ => None,
        };
        for (unit, rows) in self.rows.iter().enumerate() {
            for &row in rows {
                strata[classes.map_or(0, |c| c[row] as usize)][unit] += 1.0;
            }
        }
    }

    /// By how much each unit moves the value; none if the value does not exist without one of them.
    fn parts(&self) -> Option<Vec<f64>> {
        let count = self.repeat.bags.len() as f64;
        let value_of = |rows: &[usize]| {
            let folds: Vec<usize> = rows.iter().map(|&row| self.repeat.folds[row]).collect();
            self.metric.over_folds(&self.repeat.predictions.pick(rows), &folds)
        };
        let part = |own: &Vec<usize>| {
            if own.is_empty() || own.len() == self.repeat.bags.len() {
                return Some(0.0);
            }
            if averages_bags(self.metric) {
                return Some(own.len() as f64 / count * (value_of(own)? - self.value));
            }
            let mut left_out = vec![false; self.repeat.bags.len()];
            own.iter().for_each(|&row| left_out[row] = true);
            let rest: Vec<usize> = (0..left_out.len()).filter(|&row| !left_out[row]).collect();
            Some(rest.len() as f64 / count * (self.value - value_of(&rest)?))
        };
        self.rows.par_iter().map(part).collect()
    }
}

/// How many classes there are; 0 of numbers.
fn classes(methods: &[Vec<&Repeat>]) -> usize {
    methods.iter().flatten().next().map_or(0, |repeat| match &repeat.predictions {
        Predictions::Classes(c) => c.classes,
        Predictions::Values { .. } => 0,
    })
}

/// True of metrics that are a mean over bags, whose parts need nobody left out: the same numbers in less time.
fn averages_bags(metric: Metric) -> bool {
    matches!(metric, Metric::Accuracy | Metric::Brier | Metric::Mse | Metric::Mae | Metric::ErrPercent)
}

/// The rule by which one of several methods is taken: the simplest whose value is within one standard error of that of the one at
/// `best`, of equally simple ones the best, else the first. (Breiman, Friedman, Olshen and Stone, Classification and regression
/// trees, 1984, prune by this rule.) `against` has each method against the best. Where nothing could be tested, that is no reason
/// to take a method whose value is lower: the best is taken. A method of complexity 0 has learned nothing, and is taken only if it
/// is the best; so is a method that is not `useful`.
pub fn recommended(
    best: usize,
    against: &[Option<Difference>],
    complexity: &[u32],
    useful: impl Fn(usize) -> bool,
) -> usize {
    let close = |m: usize| against[m].is_some_and(|found| found.is_within_error());
    let is_choice = |m: usize| complexity[m] > 0 && close(m) && useful(m);
    let choices = (0..against.len()).filter(|&m| m == best || is_choice(m));
    choices.min_by_key(|&m| (complexity[m], m != best)).unwrap_or(best)
}

#[cfg(test)]
mod tests;
