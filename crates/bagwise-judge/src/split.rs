//! Which bags train and which are judged. A protocol's splits have a name (`kfold=10`, `loo`, `half=5`,
//! `given`, `train-test`); dividing a list of bags gives [`Fold`]s, two ascending index lists each, that are
//! stored with the results and are the same for every method, because their randomness depends on nothing but
//! the run's seed, the repeat and (for inner folds) the outer fold.
//!
//! *k-fold, classes:* each class, in order of its code, is shuffled and dealt round-robin, the next class
//! continuing where the former stopped: every class and every fold is even within one bag. A class with fewer
//! members than folds is missing from some test parts (and, with a single member, once from a training part).
//! *Real targets:* all bags are shuffled and dealt.
//!
//! *Groups* are never split. Largest and purest groups first (by the sum of squared class counts, equals in
//! random order), each goes to the fold `f` with the smallest `sum over classes k of g_k c_fk / N_k^2`, which
//! is the fold that raises the squared deviation from equal class shares the least (`g`, `c_f`, `N`: class
//! counts of the group, the fold so far, all bags); then to the fold with the fewest bags; then by lot.

use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use bagwise_core::{Error, Groups, Message, Result, Rng, Setting, Target};

/// One division: positions of bags, each list ascending.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Fold {
    /// Bags to learn from.
    pub train: Vec<usize>,
    /// Bags to judge by.
    pub test: Vec<usize>,
}

/// How bags are divided, by name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum Splits {
    /// `kfold=K`: every bag is tested once, stratified by class.
    KFold(usize),
    /// `loo`: every bag, or every group, is tested alone.
    LeaveOneOut,
    /// `half=N`: N random splits; half of every class trains, an odd class gives training the extra bag.
    Half(usize),
    /// `curve=K`: the folds of `kfold=K`, first with a tenth of their training bags, then with two tenths and so on; a larger
    /// share holds the smaller ones.
    Curve(usize),
    /// `given`: the fold of each bag is given with the data.
    Given,
    /// `train-test`: one split; the data say `train` or `test` for each bag.
    TrainTest,
}

const NAMES: [&str; 6] = ["kfold", "loo", "half", "curve", "given", "train-test"];

/// Shares of the training bags along a learning curve: this many tenths.
pub const SHARES: usize = 10;

impl fmt::Display for Splits {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Splits::KFold(k) => write!(f, "kfold={k}"),
            Splits::LeaveOneOut => f.write_str("loo"),
            Splits::Half(n) => write!(f, "half={n}"),
            Splits::Curve(k) => write!(f, "curve={k}"),
            Splits::Given => f.write_str("given"),
            Splits::TrainTest => f.write_str("train-test"),
        }
    }
}

impl FromStr for Splits {
    type Err = Error;

    /// `kfold` alone means ten folds, `half` alone five splits, `curve` alone five folds.
    fn from_str(text: &str) -> Result<Splits> {
        let (name, number) = match text.split_once('=') {
            Some((name, number)) => (name, Some(number)),
            None => (text, None),
        };
        let count = |default: usize, least: usize| match number {
            None => Ok(default),
            Some(n) => n.parse().ok().filter(|&n| n >= least).ok_or_else(|| {
                Error::Invalid(format!("splits '{text}': '{n}' is not a whole number of at least {least}"))
            }),
        };
        let plain = |splits| match number {
            None => Ok(splits),
            Some(_) => Err(Error::Invalid(format!("splits '{text}': '{name}' takes no number"))),
        };
        match name {
            "kfold" => Ok(Splits::KFold(count(10, 2)?)),
            "half" => Ok(Splits::Half(count(5, 1)?)),
            "curve" => Ok(Splits::Curve(count(5, 2)?)),
            "loo" => plain(Splits::LeaveOneOut),
            "given" => plain(Splits::Given),
            "train-test" => plain(Splits::TrainTest),
            _ => Err(Error::unknown("splits", name, NAMES)),
        }
    }
}

impl TryFrom<String> for Splits {
    type Error = Error;
    fn try_from(text: String) -> Result<Splits> {
        text.parse()
    }
}

impl From<Splits> for String {
    fn from(splits: Splits) -> String {
        splits.to_string()
    }
}

/// What is known of the bags that are divided; every field has one entry per bag of the data set.
#[derive(Clone, Copy, Debug)]
pub struct Pool<'a> {
    /// Classes to keep in proportion, or values.
    pub target: &'a Target,
    /// Groups never to split.
    pub groups: Option<&'a Groups>,
    /// The fold of each bag, for `given` and `train-test`.
    pub given: Option<&'a [String]>,
}

impl Splits {
    /// True if another repeat gives other folds.
    pub fn random(&self) -> bool {
        matches!(self, Splits::KFold(_) | Splits::Half(_) | Splits::Curve(_))
    }

    /// The outer folds of one repeat over `bags`.
    pub fn outer(&self, pool: Pool<'_>, bags: &[usize], seed: u64, repeat: u64) -> Result<Vec<Fold>> {
        self.divide(pool, bags, &mut Rng::new(seed, "folds", &[repeat]))
    }

    /// The inner folds over `bags`, the training bags of outer fold `fold` of `repeat`.
    pub fn inner(
        &self,
        pool: Pool<'_>,
        bags: &[usize],
        seed: u64,
        repeat: u64,
        fold: u64,
    ) -> Result<Vec<Fold>> {
        self.divide_by(Setting::Inner, pool, bags, &mut Rng::new(seed, "inner", &[repeat, fold]))
    }

    /// Divides `bags` (in any order, without repeats) with randomness of the caller's choice.
    pub fn divide(&self, pool: Pool<'_>, bags: &[usize], rng: &mut Rng) -> Result<Vec<Fold>> {
        self.divide_by(Setting::Folds, pool, bags, rng)
    }

    /// The same; `number` is what sets the number of folds.
    fn divide_by(&self, number: Setting, pool: Pool<'_>, bags: &[usize], rng: &mut Rng) -> Result<Vec<Fold>> {
        let bags = checked(pool, bags)?;
        match self {
            Splits::KFold(folds) => {
                if *folds < 2 {
                    return Err(Error::Invalid(format!(
                        "cross-validation needs at least 2 folds, not {folds}"
                    )));
                }
                enough(*folds, number, pool, &bags)?;
                Ok(folds_of(*folds, &bags, &deal(*folds, pool, &bags, rng)))
            }
            Splits::LeaveOneOut => {
                enough(2, number, pool, &bags)?;
                let unit: Vec<usize> = match pool.groups {
                    None => (0..bags.len()).collect(),
                    Some(groups) => number_by_appearance(bags.iter().map(|&b| groups.codes[b])),
                };
                let folds = unit.iter().max().map_or(0, |last| last + 1);
                Ok(folds_of(folds, &bags, &unit))
            }
            Splits::Half(splits) => {
                enough(2, number, pool, &bags)?;
                let folds: Vec<Fold> = (0..*splits).map(|_| half(pool, &bags, rng)).collect();
                if folds.iter().any(|f| f.test.is_empty()) {
                    return Err(Error::Invalid(
                        "every class has only one bag, so none would be left to test; use loo".into(),
                    ));
                }
                Ok(folds)
            }
            Splits::Curve(folds) => {
                let whole = Splits::KFold(*folds).divide(pool, &bags, rng)?;
                let orders: Vec<Vec<usize>> =
                    whole.iter().map(|f| curve_order(pool, &f.train, rng)).collect();
                let part = |share: usize, (fold, order): (&Fold, &Vec<usize>)| {
                    let mut train = order[..(order.len() * share).div_ceil(SHARES)].to_vec();
                    train.sort_unstable();
                    Fold { train, test: fold.test.clone() }
                };
                let with = |share: usize| whole.iter().zip(&orders).map(move |pair| part(share, pair));
                Ok((1..=SHARES).flat_map(with).collect())
            }
            Splits::Given => given(pool, &bags),
            Splits::TrainTest => train_test(pool, &bags),
        }
    }
}

/// The list in ascending order, if it can be divided at all.
fn checked(pool: Pool<'_>, bags: &[usize]) -> Result<Vec<usize>> {
    let n = pool.target.len();
    let mut bags = bags.to_vec();
    bags.sort_unstable();
    if bags.windows(2).any(|w| w[0] == w[1]) {
        return Err(Error::Invalid("a bag occurs twice in the list to split".into()));
    }
    if let Some(&bag) = bags.last().filter(|&&b| b >= n) {
        return Err(Error::Invalid(format!("bag {bag} does not exist: there are {n} bags")));
    }
    for (what, len) in
        [("groups", pool.groups.map(|g| g.codes.len())), ("given folds", pool.given.map(<[_]>::len))]
    {
        if let Some(len) = len.filter(|&len| len != n) {
            return Err(Error::Invalid(format!("{len} {what} for {n} bags")));
        }
    }
    Ok(bags)
}

/// An error unless there are at least `parts` bags, or groups of them.
fn enough(parts: usize, number: Setting, pool: Pool<'_>, bags: &[usize]) -> Result<()> {
    let (count, one, many) = match pool.groups {
        None => (bags.len(), "bag", "bags"),
        Some(groups) => {
            let mut codes: Vec<u32> = bags.iter().map(|&b| groups.codes[b]).collect();
            codes.sort_unstable();
            codes.dedup();
            (codes.len(), "group", "groups")
        }
    };
    if count >= parts {
        return Ok(());
    }
    let found = if count == 1 { format!("one {one}") } else { format!("{count} {many}") };
    let remedy = if count >= 2 {
        // Whoever names the number of inner folds cannot leave one out there.
        let other = (number == Setting::Folds).then_some("leave one out");
        let fewer = Message::from(format!("use at most {count} folds")).with([number]);
        other.into_iter().fold(fewer, Message::or)
    } else if pool.groups.is_some_and(|groups| groups_tell_classes(groups, pool.target)) {
        "all bags of a group have the same label, and groups are never split, so with these groups the label of bags in \
         other groups cannot be learned; add bags of more groups of each class"
            .into()
    } else if pool.groups.is_some() {
        "groups are never split; add bags of more groups, or use smaller groups if not all bags of a group are related".into()
    } else {
        "add more bags".into()
    };
    Err(Error::refused(format!("{found} cannot be split into {parts} folds"), remedy))
}

/// True if there are classes and every group has bags of one class only.
fn groups_tell_classes(groups: &Groups, target: &Target) -> bool {
    let Target::Classes { codes, .. } = target else { return false };
    let mut class_of = BTreeMap::new();
    groups.codes.iter().zip(codes).all(|(group, class)| class_of.entry(group).or_insert(class) == &class)
}

/// The fold of each of `bags`.
fn deal(folds: usize, pool: Pool<'_>, bags: &[usize], rng: &mut Rng) -> Vec<usize> {
    let class = classes_of(pool.target, bags);
    if let Some(groups) = pool.groups {
        let group = number_by_appearance(bags.iter().map(|&b| groups.codes[b]));
        return deal_groups(folds, &class, &group, rng);
    }
    let mut fold = vec![0; bags.len()];
    let mut next = 0;
    for c in 0..class.iter().max().map_or(0, |last| last + 1) {
        let mut members: Vec<usize> = (0..bags.len()).filter(|&i| class[i] == c).collect();
        rng.shuffle(&mut members);
        for i in members {
            fold[i] = next;
            next = (next + 1) % folds;
        }
    }
    fold
}

/// The class of each of `bags`; real targets are one class.
fn classes_of(target: &Target, bags: &[usize]) -> Vec<usize> {
    match target {
        Target::Classes { codes, .. } => bags.iter().map(|&b| codes[b] as usize).collect(),
        Target::Values(_) => vec![0; bags.len()],
    }
}

/// Codes renumbered 0, 1, … in order of first appearance.
fn number_by_appearance<T: Ord>(codes: impl Iterator<Item = T>) -> Vec<usize> {
    let mut seen = BTreeMap::new();
    codes
        .map(|code| {
            let next = seen.len();
            *seen.entry(code).or_insert(next)
        })
        .collect()
}

/// The fold of each bag when whole groups are placed; see the head of this file.
fn deal_groups(folds: usize, class: &[usize], group: &[usize], rng: &mut Rng) -> Vec<usize> {
    let classes = class.iter().max().map_or(0, |last| last + 1);
    let groups = group.iter().max().map_or(0, |last| last + 1);
    let mut counts = vec![vec![0usize; classes]; groups];
    let mut total = vec![0usize; classes];
    for (&g, &c) in group.iter().zip(class) {
        counts[g][c] += 1;
        total[c] += 1;
    }
    let mut order: Vec<usize> = (0..groups).collect();
    rng.shuffle(&mut order);
    order.sort_by_key(|&g| std::cmp::Reverse(counts[g].iter().map(|&n| n * n).sum::<usize>()));

    let mut placed = vec![vec![0usize; classes]; folds];
    let mut fold_of_group = vec![0; groups];
    for g in order {
        // An empty fold costs 0 and has the fewest bags, so no fold stays empty while there are groups.
        let cost = |f: usize| -> (f64, usize) {
            let disturbance = (0..classes)
                .filter(|&c| total[c] > 0)
                .map(|c| (counts[g][c] * placed[f][c]) as f64 / (total[c] as f64).powi(2))
                .sum();
            (disturbance, placed[f].iter().sum())
        };
        let mut best = vec![0];
        for f in 1..folds {
            let (now, least) = (cost(f), cost(best[0]));
            match now.0.total_cmp(&least.0).then(now.1.cmp(&least.1)) {
                std::cmp::Ordering::Less => best = vec![f],
                std::cmp::Ordering::Equal => best.push(f),
                std::cmp::Ordering::Greater => {}
            }
        }
        let f = best[rng.below(best.len())];
        fold_of_group[g] = f;
        for c in 0..classes {
            placed[f][c] += counts[g][c];
        }
    }
    group.iter().map(|&g| fold_of_group[g]).collect()
}

/// Fold `f` tests the bags dealt to `f` and trains on the others.
fn folds_of(folds: usize, bags: &[usize], fold: &[usize]) -> Vec<Fold> {
    (0..folds).map(|f| split_by(bags, |i| fold[i] == f)).collect()
}

fn split_by(bags: &[usize], tested: impl Fn(usize) -> bool) -> Fold {
    let (mut train, mut test) = (Vec::new(), Vec::new());
    for (i, &bag) in bags.iter().enumerate() {
        if tested(i) { test.push(bag) } else { train.push(bag) }
    }
    Fold { train, test }
}

fn half(pool: Pool<'_>, bags: &[usize], rng: &mut Rng) -> Fold {
    if pool.groups.is_some() {
        let side = deal(2, pool, bags, rng);
        return split_by(bags, |i| side[i] == 1);
    }
    let class = classes_of(pool.target, bags);
    let mut test = vec![false; bags.len()];
    for c in 0..class.iter().max().map_or(0, |last| last + 1) {
        let mut members: Vec<usize> = (0..bags.len()).filter(|&i| class[i] == c).collect();
        rng.shuffle(&mut members);
        for &i in &members[members.len().div_ceil(2)..] {
            test[i] = true;
        }
    }
    split_by(bags, |i| test[i])
}

/// Training bags in the order in which a learning curve takes them: classes in turn, as far as they last, so that a small share has
/// bags of every class in about the proportions of all; groups are whole.
fn curve_order(pool: Pool<'_>, bags: &[usize], rng: &mut Rng) -> Vec<usize> {
    let class = classes_of(pool.target, bags);
    let classes = class.iter().max().map_or(0, |last| last + 1);
    let mut keyed: Vec<(f64, usize, usize)> = Vec::with_capacity(bags.len());
    for c in 0..classes {
        let mut members: Vec<usize> = (0..bags.len()).filter(|&i| class[i] == c).collect();
        rng.shuffle(&mut members);
        let count = members.len() as f64;
        // The first of every class comes first, then each class is spread evenly.
        let place = |at: usize| if at == 0 { 0.0 } else { (at as f64 + 0.5) / count };
        keyed.extend(members.into_iter().enumerate().map(|(at, i)| (place(at), c, i)));
    }
    keyed.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
    let order = keyed.into_iter().map(|(_, _, i)| bags[i]);
    let Some(groups) = pool.groups else { return order.collect() };
    // A group stands where its first bag does.
    let order: Vec<usize> = order.collect();
    let seen = number_by_appearance(order.iter().map(|&bag| groups.codes[bag]));
    let mut whole: Vec<(usize, usize)> = seen.into_iter().zip(order).collect();
    whole.sort_by_key(|(group, _)| *group);
    whole.into_iter().map(|(_, bag)| bag).collect()
}

fn given_names<'a>(pool: Pool<'a>, bags: &[usize], what: &str) -> Result<Vec<&'a str>> {
    let names = pool.given.ok_or_else(|| {
        Error::Invalid(format!(
            "splits '{what}' need the fold of each bag; give a column or a file with folds"
        ))
    })?;
    let names: Vec<&str> = bags.iter().map(|&b| names[b].trim()).collect();
    if let Some(i) = names.iter().position(|n| n.is_empty()) {
        return Err(Error::Invalid(format!(
            "bag {} (counted from 1) has no fold; assign one, or leave the bag out",
            bags[i] + 1
        )));
    }
    // A group on both sides would leak what it shares.
    if let Some(groups) = pool.groups {
        let mut first: BTreeMap<u32, &str> = BTreeMap::new();
        for (&bag, &name) in bags.iter().zip(&names) {
            let before = *first.entry(groups.codes[bag]).or_insert(name);
            if before != name {
                return Err(Error::Invalid(format!(
                    "group '{}' is in both folds '{before}' and '{name}'; put each group in one fold",
                    groups.names[groups.codes[bag] as usize]
                )));
            }
        }
    }
    Ok(names)
}

/// One fold per name, numbers ascending by value, else by name.
fn given(pool: Pool<'_>, bags: &[usize]) -> Result<Vec<Fold>> {
    let names = given_names(pool, bags, "given")?;
    let Target::Classes { codes, names: distinct } = Target::from_labels(&names) else {
        unreachable!("labels make classes")
    };
    if distinct.len() < 2 {
        return Err(Error::Invalid("all bags are in the same fold; at least two folds are needed".into()));
    }
    let fold: Vec<usize> = codes.iter().map(|&c| c as usize).collect();
    Ok(folds_of(distinct.len(), bags, &fold))
}

fn train_test(pool: Pool<'_>, bags: &[usize]) -> Result<Vec<Fold>> {
    let names = given_names(pool, bags, "train-test")?;
    if let Some(i) = names.iter().position(|n| !matches!(*n, "train" | "test")) {
        return Err(Error::Invalid(format!(
            "bag {} (counted from 1) is marked '{}'; train-test splits allow only 'train' and 'test'",
            bags[i] + 1,
            names[i]
        )));
    }
    let fold = split_by(bags, |i| names[i] == "test");
    for (part, list) in [("train", &fold.train), ("test", &fold.test)] {
        if list.is_empty() {
            return Err(Error::Invalid(format!("no bag is marked '{part}'; both parts need bags")));
        }
    }
    Ok(vec![fold])
}

/// The folds of a whole run, to be stored with its results.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FoldPlan {
    /// How the bags were divided.
    pub splits: Splits,
    /// The run's seed.
    pub seed: u64,
    /// The folds of each repeat.
    pub repeats: Vec<Vec<Fold>>,
}

impl FoldPlan {
    /// Divides all bags of the pool, `repeats` times. Splits without randomness are made once.
    pub fn new(splits: Splits, pool: Pool<'_>, seed: u64, repeats: usize) -> Result<FoldPlan> {
        if repeats == 0 {
            return Err(Error::Invalid("0 repeats evaluate nothing; use at least 1".into()));
        }
        let bags: Vec<usize> = (0..pool.target.len()).collect();
        let repeats = if splits.random() { repeats } else { 1 };
        let repeats =
            (0..repeats as u64).map(|r| splits.outer(pool, &bags, seed, r)).collect::<Result<_>>()?;
        Ok(FoldPlan { splits, seed, repeats })
    }
}
