//! How often a verdict is wrong, and how often it sees what is there. One learner (ridge regression on bag means) is given
//! blocks of features that tell the class equally well, so that the learners of all blocks are equally good on fresh
//! data, whatever came out on one data set: the best of them must not be called clearly better. With more signal in the
//! first block, it should be. Every rule judges the same data sets, and its reference is the best of the data.

use anyhow::{Context as _, Result};
use bagwise::judge::{
    Classified, Fold, Influences, Metric, Pool, Predictions, Record, Repeat, Splits, Standing, WIDENING,
    corrected_t_test,
};
use bagwise::{Instances, Rng, Target};
use rayon::prelude::*;

use super::section::{Section, Table};
use crate::run::say;

/// Data sets of a family under the null hypothesis.
const SETS: u64 = 4000;
/// Data sets of a family with a difference: shares near one half are known to two per cent.
const POWER_SETS: u64 = 1000;
/// What a rule may reach: 0.05 and two standard errors of a share of 4000.
const MOST: f64 = 0.057;
/// Pairs of runs of one method under two seeds.
const SAME: u64 = 200;

pub(super) const BAGS: usize = 200;
pub(super) const GROUPS: usize = 40;
pub(super) const FEATURES: usize = 10;
/// What blocks tell of the class.
pub(super) const SIGNAL: f64 = 1.3;
/// Added to the signal of the first block where there is a difference.
pub(super) const EXTRA: f64 = 0.5;
const DRAWS: usize = 1000;
pub(super) const LEVEL: f64 = 0.95;

/// The rules, and whether a verdict could use each: the last has a fixed reference.
const RULES: [(&str, bool); 9] = [
    ("corrected resampled t, not adjusted", true),
    ("corrected resampled t, Holm", true),
    ("McNemar, Holm over all pairs", true),
    ("bootstrap percentile, Holm", true),
    ("bootstrap, max-T over all pairs", true),
    ("sign flips, max-T over pairs with the best", true),
    ("sign flips, max-T over all pairs", true),
    ("sign flips, max-T over all pairs, widened by 10%", true),
    ("sign flips against a fixed method, widened by 10%", false),
];
/// The rule that verdicts follow, and the one for the baseline.
const SHIPPED: usize = 7;

#[derive(Clone, Copy)]
pub(super) struct Family {
    pub(super) grouped: bool,
    pub(super) positive: f64,
    pub(super) methods: usize,
    pub(super) signal: f64,
}

impl Family {
    pub(super) fn name(self) -> String {
        let groups = if self.grouped { "groups" } else { "bags" };
        format!("{groups}, {:.0}%, {}", 100.0 * self.positive, self.methods)
    }

    fn data(self, extra: f64, seed: u64) -> String {
        let groups = if self.grouped { GROUPS } else { 0 };
        format!(
            "synthetic:scaffolds?bags={BAGS}&groups={groups}&positive={}&blocks={}&features={FEATURES}&signal={}&\
             extra={extra}&shared=0.8&shift=0.5&seed={seed}",
            self.positive, self.methods, self.signal
        )
    }
}

pub(super) fn run() -> Result<Section> {
    let mut families = Vec::new();
    for grouped in [false, true] {
        for positive in [0.5, 0.1] {
            families.extend([2, 8].map(|methods| Family { grouped, positive, methods, signal: SIGNAL }));
        }
    }
    let mut headings = vec!["rule".to_string()];
    headings.extend(families.iter().map(|f| f.name()));
    let headings: Vec<&str> = headings.iter().map(String::as_str).collect();
    let alarms = rates(&families, 0.0, SETS, |found| found.alarm)?;
    let power = rates(&families, EXTRA, POWER_SETS, |found| found.seen)?;
    let table = |rates: &[Vec<f64>]| {
        let mut table = Table::new(&headings);
        for (rule, (name, _)) in RULES.iter().enumerate() {
            let cells = rates.iter().map(|of_family| format!("{:.3}", of_family[rule]));
            table.row([name.to_string()].into_iter().chain(cells).collect());
        }
        table
    };
    let worst = |rule: usize| alarms.iter().map(|f| f[rule]).fold(0.0, f64::max);
    let mean = |rule: usize| super::mean(&power.iter().map(|f| f[rule]).collect::<Vec<_>>());
    let best = (0..RULES.len())
        .filter(|&rule| RULES[rule].1 && worst(rule) <= MOST)
        .max_by(|&a, &b| mean(a).total_cmp(&mean(b)))
        .context("no rule holds its level")?;
    let mut section = Section::default();
    section.add(
        format!(
            "False alarms: all methods are equally good. A false alarm is a data set in which some method is called clearly \
             worse than the best (last rule: different from a reference method fixed in advance). Each cell is the rate over \
             {SETS} data sets of {BAGS} bags. Columns give the unit (single bags, or {GROUPS} groups of unequal size and mixed \
             classes), the percentage of positive bags, and the number of methods. Each method is ridge regression on the bag \
             means of its own block of {FEATURES} features. 10 folds, level {LEVEL}.",
        ),
        table(&alarms),
    );
    section.add(
        format!(
            "Power: the first method is better, because its block has a signal of {:.1} instead of {SIGNAL}. Each cell is the \
             fraction of the other methods that are called clearly worse, over {POWER_SETS} data sets.",
            SIGNAL + EXTRA
        ),
        table(&power),
    );
    let same = itself()?;
    section.page(format!(
        "Of the rules with a false alarm rate of at most {MOST} in every column, *{}* has the most power (mean {:.3}). \
         bagwise uses *{}*.\n\n`isk` compared with itself with a different seed: no clear \
         difference in {same} of {SAME} pairs of runs.\n",
        RULES[best].0,
        mean(best),
        RULES[SHIPPED].0,
    ));
    Ok(section)
}

/// The mean of what rules found, for each family.
fn rates(families: &[Family], extra: f64, sets: u64, of: fn(Found) -> f64) -> Result<Vec<Vec<f64>>> {
    let rate = |family: &Family| {
        let found =
            (0..sets).into_par_iter().map(|seed| one(*family, extra, seed)).collect::<Result<Vec<_>>>()?;
        say(&format!("{}: {sets} data sets", family.name()));
        let mean = |rule: usize| found.iter().map(|f| of(f[rule])).sum::<f64>() / sets as f64;
        Ok((0..RULES.len()).map(mean).collect())
    };
    families.iter().map(rate).collect()
}

/// What a rule found on one data set.
#[derive(Clone, Copy)]
struct Found {
    /// 1 if some method is called different.
    alarm: f64,
    /// The share of the methods but the first that are called worse than the first.
    seen: f64,
}

/// Every rule on one data set.
fn one(family: Family, extra: f64, seed: u64) -> Result<Vec<Found>> {
    let judged = Judged::new(family, extra, seed)?;
    let (methods, best) = (family.methods, judged.best());
    let others: Vec<usize> = (0..methods).filter(|&m| m != best).collect();
    let pairs = methods * (methods - 1) / 2;
    // By Holm, the smallest p is compared with the level over the number of tests, the next with that over one less, …
    let holm = |ps: Vec<f64>, tests: usize| {
        let mut order: Vec<usize> = (0..ps.len()).collect();
        order.sort_by(|&a, &b| ps[a].total_cmp(&ps[b]));
        let mut clear = vec![false; methods];
        for (rank, &at) in order.iter().enumerate() {
            if ps[at] * (tests - rank) as f64 > 1.0 - LEVEL {
                break;
            }
            clear[others[at]] = true;
        }
        clear
    };
    let t: Vec<f64> = others.iter().map(|&m| judged.corrected_t(best, m)).collect::<Result<_>>()?;
    let mcnemar: Vec<f64> = others.iter().map(|&m| judged.mcnemar(best, m)).collect();
    let (percentile, largest) = judged.bootstrap(best, &others, seed);
    let influences = judged.influences();
    let flips = |reference: usize, chosen: bool, widening: f64| -> Vec<bool> {
        let found = influences.against_widened(reference, chosen, LEVEL, seed, widening);
        let clear = |s: Standing| matches!(s, Standing::ClearlyBetter | Standing::ClearlyWorse);
        found.iter().map(|d| d.is_some_and(|d| clear(d.standing))).collect()
    };
    let unadjusted =
        (0..methods).map(|m| others.iter().position(|o| *o == m).is_some_and(|i| t[i] <= 1.0 - LEVEL));
    let clear: [Vec<bool>; RULES.len()] = [
        unadjusted.collect(),
        holm(t.clone(), others.len()),
        holm(mcnemar, pairs),
        holm(percentile, others.len()),
        largest,
        flips(best, false, 1.0),
        flips(best, true, 1.0),
        flips(best, true, WIDENING),
        flips(0, false, WIDENING),
    ];
    let found = |(rule, clear): (usize, &Vec<bool>)| {
        let alarm = f64::from(u8::from(clear.contains(&true)));
        // Against a fixed first method the differences count in either case.
        let first = best == 0 || !RULES[rule].1;
        let count = clear[1..].iter().filter(|c| **c && first).count();
        Found { alarm, seen: count as f64 / (methods - 1) as f64 }
    };
    Ok(clear.iter().enumerate().map(found).collect())
}

/// What the learners said of the bags of a data set.
pub(super) struct Judged {
    pub(super) truth: Vec<u32>,
    pub(super) groups: Option<Vec<u32>>,
    pub(super) folds: Vec<Fold>,
    /// For each method and bag, its score when the fold of the bag was left out.
    pub(super) scores: Vec<Vec<f64>>,
    /// For each method and bag, whether it was right.
    right: Vec<Vec<bool>>,
}

impl Judged {
    pub(super) fn new(family: Family, extra: f64, seed: u64) -> Result<Judged> {
        let data = bagwise::read(family.data(extra, seed))?;
        let Some(target @ Target::Classes { codes, .. }) = &data.target else { unreachable!("two classes") };
        let Instances::F64(rows) = data.bags.instances() else { unreachable!("doubles are made") };
        let means: Vec<Vec<f64>> = (0..BAGS)
            .map(|bag| {
                let own = data.bags.rows(bag);
                let count = own.len() as f64;
                let mut mean = vec![0.0; rows.cols()];
                own.for_each(|r| mean.iter_mut().zip(rows.row(r)).for_each(|(m, x)| *m += x / count));
                mean
            })
            .collect();
        let pool = Pool { target, groups: data.groups.as_ref(), given: None };
        let folds = Splits::KFold(10).outer(pool, &(0..BAGS).collect::<Vec<_>>(), seed, 0)?;
        let learn = |block: usize| {
            let bags: Vec<Vec<f64>> = means
                .iter()
                .map(|m| m[block * FEATURES..(block + 1) * FEATURES].iter().copied().chain([1.0]).collect())
                .collect();
            scores(&bags, codes, &folds)
        };
        let scores: Vec<Vec<f64>> = (0..family.methods).map(learn).collect();
        let is_right = |of: &Vec<f64>| of.iter().zip(codes).map(|(s, c)| (*s > 0.0) == (*c == 1)).collect();
        let right = scores.iter().map(is_right).collect();
        let groups = data.groups.as_ref().map(|g| g.codes.clone());
        Ok(Judged { truth: codes.clone(), groups, folds, scores, right })
    }

    /// Of equally good ones the first, as in a verdict.
    fn best(&self) -> usize {
        let hits = |m: usize| self.right[m].iter().filter(|r| **r).count();
        (0..self.right.len()).fold(0, |best, m| if hits(m) > hits(best) { m } else { best })
    }

    /// What the library makes of it.
    fn influences(&self) -> Influences {
        let repeat = |right: &Vec<bool>| {
            let labels = self.truth.iter().zip(right).map(|(t, r)| if *r { *t } else { 1 - t }).collect();
            let classified = Classified::new(self.truth.clone(), labels, 2, Some(1)).expect("two classes");
            let predictions = Predictions::Classes(classified);
            let (bags, folds) = ((0..BAGS).collect(), vec![0; BAGS]);
            vec![Repeat { repeat: 0, fold: None, bags, folds, predictions, complete: true }]
        };
        let methods: Vec<Vec<Repeat>> = self.right.iter().map(repeat).collect();
        Influences::new(&methods, self.groups.as_deref(), Metric::Accuracy, 0)
    }

    fn corrected_t(&self, a: usize, b: usize) -> Result<f64> {
        let values = |m: usize| -> Vec<f64> {
            let share = |fold: &Fold| {
                fold.test.iter().filter(|&&bag| self.right[m][bag]).count() as f64 / fold.test.len() as f64
            };
            self.folds.iter().map(share).collect()
        };
        Ok(corrected_t_test(&values(a), &values(b), 1.0 / 9.0, LEVEL)?.map_or(1.0, |test| test.p))
    }

    /// The exact test of bags that one of the two got right.
    fn mcnemar(&self, a: usize, b: usize) -> f64 {
        let count = |a: usize, b: usize| (0..BAGS).filter(|&i| self.right[a][i] && !self.right[b][i]).count();
        let (less, all) = (count(a, b).min(count(b, a)), count(a, b) + count(b, a));
        let mut term = 0.5f64.powi(all as i32);
        let mut sum = 0.0;
        for k in 0..=less {
            sum += term;
            term *= (all - k) as f64 / (k + 1) as f64;
        }
        (2.0 * sum).min(1.0)
    }

    /// Units drawn with replacement: p by percentiles for the best against each other, and which of them are clear by the
    /// largest error of all pairs in standard errors.
    fn bootstrap(&self, best: usize, others: &[usize], seed: u64) -> (Vec<f64>, Vec<bool>) {
        let methods = self.right.len();
        let unit_of = |bag: usize| self.groups.as_ref().map_or(bag, |g| g[bag] as usize);
        let units = (0..BAGS).map(unit_of).max().map_or(0, |last| last + 1);
        // Hits of each method and bags, by unit.
        let mut sums = vec![vec![0.0; methods + 1]; units];
        for bag in 0..BAGS {
            let row = &mut sums[unit_of(bag)];
            (0..methods).for_each(|m| row[m] += f64::from(u8::from(self.right[m][bag])));
            row[methods] += 1.0;
        }
        let mut rng = Rng::new(seed, "verdict bootstrap", &[]);
        let draws: Vec<Vec<f64>> = (0..DRAWS)
            .map(|_| {
                let mut total = vec![0.0; methods + 1];
                for _ in 0..units {
                    let row = &sums[rng.below(units)];
                    total.iter_mut().zip(row).for_each(|(t, x)| *t += x);
                }
                total[..methods].iter().map(|hits| hits / total[methods]).collect()
            })
            .collect();
        let value = |m: usize| sums.iter().map(|row| row[m]).sum::<f64>() / BAGS as f64;
        let error = |a: usize, b: usize| {
            let d = value(a) - value(b);
            let part = |row: &Vec<f64>| (row[a] - row[b] - row[methods] * d).powi(2);
            (units as f64 / (units - 1) as f64 * sums.iter().map(part).sum::<f64>()).sqrt() / BAGS as f64
        };
        let percentile = |&m: &usize| {
            let side = |up: bool| {
                draws.iter().filter(|d| if up { d[best] >= d[m] } else { d[best] <= d[m] }).count()
            };
            2.0 * (side(true).min(side(false)) + 1) as f64 / (DRAWS + 1) as f64
        };
        let errors: Vec<(usize, usize, f64, f64)> = (0..methods)
            .flat_map(|a| (0..a).map(move |b| (a, b)))
            .map(|(a, b)| (a, b, value(a) - value(b), error(a, b)))
            .filter(|pair| pair.3 > 0.0)
            .collect();
        let largest = |d: &Vec<f64>| {
            errors.iter().map(|&(a, b, of, error)| (d[a] - d[b] - of).abs() / error).fold(0.0, f64::max)
        };
        let mut all: Vec<f64> = draws.iter().map(largest).collect();
        all.sort_by(f64::total_cmp);
        let end = all[(LEVEL * DRAWS as f64) as usize];
        let clear =
            |m: usize| m != best && error(best, m) > 0.0 && (value(best) - value(m)) / error(best, m) > end;
        (others.iter().map(percentile).collect(), (0..methods).map(clear).collect())
    }
}

/// What ridge regression on these bags, the last feature constant, says of each when its fold is left out: above 0 is class 1.
fn scores(bags: &[Vec<f64>], classes: &[u32], folds: &[Fold]) -> Vec<f64> {
    let width = FEATURES + 1;
    let sign = |bag: usize| if classes[bag] == 1 { 1.0 } else { -1.0 };
    let add = |sums: &mut Vec<Vec<f64>>, bag: usize, times: f64| {
        let x = &bags[bag];
        for (i, row) in sums.iter_mut().enumerate() {
            row[..width].iter_mut().zip(x).for_each(|(sum, v)| *sum += times * x[i] * v);
            row[width] += times * x[i] * sign(bag);
        }
    };
    let mut all = vec![vec![0.0; width + 1]; width];
    (0..FEATURES).for_each(|i| all[i][i] = 1.0);
    (0..bags.len()).for_each(|bag| add(&mut all, bag, 1.0));
    let mut scores = vec![0.0; bags.len()];
    for fold in folds {
        let mut own = all.clone();
        fold.test.iter().for_each(|&bag| add(&mut own, bag, -1.0));
        let weights = solve(own);
        for &bag in &fold.test {
            scores[bag] = weights.iter().zip(&bags[bag]).map(|(w, x)| w * x).sum();
        }
    }
    scores
}

/// Solves a positive definite system whose right side is the last column.
fn solve(mut rows: Vec<Vec<f64>>) -> Vec<f64> {
    let n = rows.len();
    for i in 0..n {
        let (done, rest) = rows.split_at_mut(i + 1);
        let pivot = &done[i];
        for row in rest {
            let times = row[i] / pivot[i];
            row.iter_mut().zip(pivot).skip(i).for_each(|(a, b)| *a -= times * b);
        }
    }
    let mut x = vec![0.0; n];
    for i in (0..n).rev() {
        let known: f64 = (i + 1..n).map(|j| rows[i][j] * x[j]).sum();
        x[i] = (rows[i][n] - known) / rows[i][i];
    }
    x
}

/// How many pairs of runs of one method, under two seeds and on the same folds, have no clear difference.
fn itself() -> Result<usize> {
    let one = |seed: u64| -> Result<bool> {
        let data = bagwise::read(format!("synthetic:gauss?bags=60&distance=3&seed={seed}"))?;
        let folds: Vec<String> = (0..60).map(|bag| (bag % 5).to_string()).collect();
        let run = |seed: u64, name: &str| {
            let isk = bagwise::method("isk")?.param("psi", 8).param("c", 8.0).called(name);
            let compare = bagwise::compare(&data).baselines(false).methods([isk]);
            compare.given_folds(folds.clone()).seed(seed).run()
        };
        let (first, second) = (run(2 * seed, "first")?, run(2 * seed + 1, "second")?);
        let records: Vec<Record> = first.records.into_iter().chain(second.records).collect();
        let found = Influences::of_records(&records, &first.roster, &["first", "second"], Metric::Accuracy)?;
        let best = found.best().context("both have a value")?;
        let other = found.against(best, true, LEVEL, seed)[1 - best].context("the other is compared")?;
        Ok(other.standing == Standing::NoClearDifference)
    };
    let same = (0..SAME).map(one).collect::<Result<Vec<bool>>>()?;
    Ok(same.into_iter().filter(|same| *same).count())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equations_are_solved_and_every_rule_judges() {
        // 2x + y = 5, x + 3y = 10.
        let x = solve(vec![vec![2.0, 1.0, 5.0], vec![1.0, 3.0, 10.0]]);
        assert!((x[0] - 1.0).abs() < 1e-12 && (x[1] - 3.0).abs() < 1e-12, "{x:?}");
        let family = Family { grouped: true, positive: 0.5, methods: 2, signal: SIGNAL };
        // So large a difference is seen by every rule.
        let found = one(family, 6.0, 0).unwrap();
        assert!(found.iter().all(|f| f.alarm == 1.0 && f.seen == 1.0));
    }
}
