//! The formulas of the metrics. Ratios of counts are computed as fractions; what compares bags with each other
//! is computed for each fold, and put together as [`Metric::over_folds`] says.

use super::{Confusion, LEAST_PROBABILITY, Metric};
use crate::predictions::{Classified, Predictions, column};
use crate::quantity::Quantity;

/// Bins of the calibration error: a bin of a hundred bags then holds six or seven, enough for a share.
const BINS: usize = 15;

/// The value of a metric; `folds` says the fold of each bag, none that all are of one. `whole` has all bags that were judged, of
/// which `predictions` may be a part.
pub(super) fn measure(
    metric: Metric,
    predictions: &Predictions,
    folds: Option<&[usize]>,
    whole: &Predictions,
) -> Option<Quantity> {
    let parts = match folds {
        Some(folds) if metric.compares_bags() => parts(folds),
        _ => vec![(0..predictions.len()).collect()],
    };
    match predictions {
        Predictions::Values { truth, predicted } => of_values(metric, truth, predicted, &parts),
        Predictions::Classes(c) => match c.positive {
            Some(positive) => of_binary(metric, c, positive, &parts, whole),
            None => of_classes(metric, c, &parts),
        },
    }
}

/// The rows of each fold.
fn parts(folds: &[usize]) -> Vec<Vec<usize>> {
    let mut rows: Vec<usize> = (0..folds.len()).collect();
    rows.sort_by_key(|&row| folds[row]);
    rows.chunk_by(|&a, &b| folds[a] == folds[b]).map(<[usize]>::to_vec).collect()
}

pub(super) fn of_counts(metric: Metric, n: &Confusion) -> Option<Quantity> {
    let Confusion { tp, tn, fp, fn_ } = *n;
    let total = tp + tn + fp + fn_;
    match metric {
        Metric::Accuracy => Quantity::ratio(tp + tn, total),
        Metric::Precision => Quantity::ratio(tp, tp + fp),
        Metric::Recall => Quantity::ratio(tp, tp + fn_),
        Metric::Specificity => Quantity::ratio(tn, tn + fp),
        Metric::F1 => Quantity::ratio(2 * tp, 2 * tp + fp + fn_),
        Metric::BalancedAccuracy | Metric::AucPrinted => {
            Quantity::mean(&[Quantity::ratio(tp, tp + fn_)?, Quantity::ratio(tn, tn + fp)?])
        }
        Metric::Kappa => kappa(total, tp + tn, &[tp + fn_, fp + tn], &[tp + fp, fn_ + tn]),
        Metric::Mcc => mcc(total, tp + tn, &[tp + fn_, fp + tn], &[tp + fp, fn_ + tn]),
        Metric::KappaPrinted => {
            // (n - e) / (1 - e) with e = ab / n.
            let (n, ab) = (i128::from(total), i128::from(tp + fn_) * i128::from(tp + fp));
            Quantity::fraction(n * n - ab, n - ab).filter(|_| total > 0)
        }
        _ => None,
    }
}

fn of_binary(
    metric: Metric,
    c: &Classified,
    positive: u32,
    parts: &[Vec<usize>],
    whole: &Predictions,
) -> Option<Quantity> {
    match metric {
        Metric::RocAuc => roc_auc(&c.is(positive), &column(c.scores.as_ref()?, positive), parts),
        Metric::PrAuc => {
            let Predictions::Classes(whole) = whole else { return None };
            let up = whole.truth.iter().filter(|&&t| t == positive).count();
            let balance = (up as u64, (whole.truth.len() - up) as u64);
            average_precision(&c.is(positive), &column(c.scores.as_ref()?, positive), parts, balance)
        }
        Metric::LogLoss => log_loss(c),
        Metric::Brier => {
            let p = column(c.probabilities.as_ref()?, positive);
            mean(c.is(positive).iter().zip(&p).map(|(&y, p)| (p - f64::from(u8::from(y))).powi(2)))
        }
        Metric::CalibrationError => {
            let p = column(c.probabilities.as_ref()?, positive);
            calibration_error(p.into_iter().zip(c.is(positive)).collect())
        }
        _ => of_counts(metric, &counts(c, positive)),
    }
}

fn of_classes(metric: Metric, c: &Classified, parts: &[Vec<usize>]) -> Option<Quantity> {
    let present = (0..c.classes as u32).filter(|k| c.truth.contains(k));
    // Of classes that have no value, as precision has none without a prediction, there is no mean.
    let macro_mean = |metric: Metric| -> Option<Quantity> {
        let values: Vec<Quantity> =
            present.clone().map(|k| of_counts(metric, &counts(c, k))).collect::<Option<_>>()?;
        (values.len() >= 2).then(|| Quantity::mean(&values))?
    };
    let right = || c.truth.iter().zip(&c.labels).filter(|(t, l)| t == l).count() as u64;
    let total = c.truth.len() as u64;
    let tally = |codes: &[u32]| {
        let mut tally = vec![0u64; c.classes];
        codes.iter().for_each(|&k| tally[k as usize] += 1);
        tally
    };
    match metric {
        Metric::Accuracy => Quantity::ratio(right(), total),
        Metric::BalancedAccuracy => macro_mean(Metric::Recall),
        Metric::Recall | Metric::Precision | Metric::F1 => macro_mean(metric),
        Metric::Kappa => kappa(total, right(), &tally(&c.truth), &tally(&c.labels)),
        Metric::Mcc => mcc(total, right(), &tally(&c.truth), &tally(&c.labels)),
        Metric::RocAuc => {
            let scores = c.scores.as_ref()?;
            // A class that meets no other within a fold has no pairs, and no say.
            let values: Vec<Quantity> =
                present.filter_map(|k| roc_auc(&c.is(k), &column(scores, k), parts)).collect();
            (values.len() >= 2).then(|| Quantity::mean(&values))?
        }
        Metric::LogLoss => log_loss(c),
        Metric::Brier => {
            let table = c.probabilities.as_ref()?;
            mean(c.truth.iter().enumerate().map(|(bag, &t)| {
                (0..c.classes as u32)
                    .map(|k| (c.probability(table, bag, k) - f64::from(u8::from(k == t))).powi(2))
                    .sum()
            }))
        }
        Metric::CalibrationError => {
            let table = c.probabilities.as_ref()?;
            let of = |(bag, (&t, &l)): (usize, (&u32, &u32))| (c.probability(table, bag, l), t == l);
            calibration_error(c.truth.iter().zip(&c.labels).enumerate().map(of).collect())
        }
        _ => None,
    }
}

fn of_values(metric: Metric, truth: &[f64], predicted: &[f64], parts: &[Vec<usize>]) -> Option<Quantity> {
    let pairs = || truth.iter().zip(predicted);
    match metric {
        Metric::Mse => mean(pairs().map(|(t, p)| (p - t).powi(2))),
        Metric::Rmse => {
            of_values(Metric::Mse, truth, predicted, parts).map(|mse| Quantity::Real(mse.value().sqrt()))
        }
        Metric::Mae => mean(pairs().map(|(t, p)| (p - t).abs())),
        Metric::R2 => {
            if !varies(truth) {
                return None;
            }
            let centre = truth.iter().sum::<f64>() / truth.len() as f64;
            let total: f64 = truth.iter().map(|t| (t - centre).powi(2)).sum();
            let rest: f64 = pairs().map(|(t, p)| (p - t).powi(2)).sum();
            (total > 0.0).then(|| Quantity::Real(1.0 - rest / total))
        }
        Metric::ErrPercent => {
            let wrong = pairs().filter(|(t, p)| (**t >= 0.5) != (**p >= 0.5)).count();
            Quantity::ratio(100 * wrong as u64, truth.len() as u64)
        }
        Metric::Spearman => {
            let (mut sum, mut bags) = (0.0, 0);
            for part in parts {
                let pick = |values: &[f64]| part.iter().map(|&row| values[row]).collect::<Vec<f64>>();
                if let Some(value) = spearman(&pick(truth), &pick(predicted)) {
                    sum += part.len() as f64 * value;
                    bags += part.len();
                }
            }
            (bags > 0).then(|| Quantity::Real(sum / bags as f64))
        }
        Metric::Concordance => {
            let each = parts
                .iter()
                .map(|part| concordant(part.iter().map(|&row| (truth[row], predicted[row])).collect()));
            let (doubled, pairs) = each.fold((0, 0), |a, b| (a.0 + b.0, a.1 + b.1));
            Quantity::ratio(doubled, 2 * pairs)
        }
        _ => None,
    }
}

fn mean(values: impl ExactSizeIterator<Item = f64>) -> Option<Quantity> {
    let n = values.len();
    // Adding 0 turns the -0 of an empty or perfect sum into 0.
    (n > 0).then(|| Quantity::Real((values.sum::<f64>() + 0.0) / n as f64))
}

fn varies(values: &[f64]) -> bool {
    values.windows(2).any(|w| w[0] != w[1])
}

/// One class against the rest.
fn counts(c: &Classified, positive: u32) -> Confusion {
    let mut n = Confusion::default();
    for (&truth, &label) in c.truth.iter().zip(&c.labels) {
        match (truth == positive, label == positive) {
            (true, true) => n.tp += 1,
            (false, false) => n.tn += 1,
            (false, true) => n.fp += 1,
            (true, false) => n.fn_ += 1,
        }
    }
    n
}

/// The sum over classes of the products of two counts.
fn product(a: &[u64], b: &[u64]) -> i128 {
    a.iter().zip(b).map(|(&a, &b)| i128::from(a) * i128::from(b)).sum()
}

/// Cohen's kappa from bags, right ones, and the class counts of truth and labels.
fn kappa(total: u64, right: u64, truth: &[u64], labels: &[u64]) -> Option<Quantity> {
    let (chance, n) = (product(truth, labels), i128::from(total));
    if n > 0 && chance == n * n {
        return Quantity::ratio(0, 1);
    }
    Quantity::fraction(i128::from(right) * n - chance, n * n - chance)
}

/// Matthews' correlation, Gorodkin's for several classes, from the same counts.
fn mcc(total: u64, right: u64, truth: &[u64], labels: &[u64]) -> Option<Quantity> {
    let n = i128::from(total);
    let together = i128::from(right) * n - product(truth, labels);
    let (of_truth, of_labels) = (n * n - product(truth, truth), n * n - product(labels, labels));
    if total == 0 {
        return None;
    }
    if of_truth == 0 || of_labels == 0 {
        return Quantity::ratio(0, 1);
    }
    // Where the two agree the root is a whole number, and rounding would take a bit off the 1.
    if of_truth == of_labels {
        return Quantity::fraction(together, of_truth);
    }
    Some(Quantity::Real(together as f64 / ((of_truth as f64).sqrt() * (of_labels as f64).sqrt())))
}

/// Mann and Whitney's statistic over the number of pairs, those of all parts added up.
fn roc_auc(positive: &[bool], scores: &[f64], parts: &[Vec<usize>]) -> Option<Quantity> {
    let (mut doubled, mut pairs) = (0u64, 0u64);
    for part in parts {
        let mut order = part.clone();
        order.sort_by(|&a, &b| scores[a].total_cmp(&scores[b]));
        let mut below = 0u64;
        for ties in order.chunk_by(|&a, &b| scores[a] == scores[b]) {
            let up = ties.iter().filter(|&&i| positive[i]).count() as u64;
            let down = ties.len() as u64 - up;
            doubled += up * (2 * below + down);
            below += down;
        }
        pairs += below * (part.len() as u64 - below);
    }
    Quantity::ratio(doubled, 2 * pairs)
}

/// The mean, over the positive bags of all parts that have both classes, of the precision at which their part finds them.
///
/// Precision depends on the share of positive bags, which differs between parts. So the bags of a part are weighted: its
/// classes then have the `balance` of positive to negative bags that the whole has. Where p of the part's bags are positive, q are
/// negative and the balance is P to N, a positive bag weighs P / p and a negative one N / q.
fn average_precision(
    positive: &[bool],
    scores: &[f64],
    parts: &[Vec<usize>],
    balance: (u64, u64),
) -> Option<Quantity> {
    let (mut sum, mut total) = (Quantity::ratio(0, 1)?, 0u64);
    for part in parts {
        let p = part.iter().filter(|&&i| positive[i]).count() as u64;
        let q = part.len() as u64 - p;
        // In a part of one class, every order is perfect.
        if p == 0 || q == 0 {
            continue;
        }
        // The weights times p q, which are whole numbers.
        let (of_positive, of_negative) = (balance.0 as i128 * q as i128, balance.1 as i128 * p as i128);
        let mut order = part.clone();
        order.sort_by(|&a, &b| scores[b].total_cmp(&scores[a]));
        let (mut found, mut false_alarms) = (0, 0);
        for ties in order.chunk_by(|&a, &b| scores[a] == scores[b]) {
            let up = ties.iter().filter(|&&i| positive[i]).count() as u64;
            found += up as i128 * of_positive;
            false_alarms += (ties.len() as u64 - up) as i128 * of_negative;
            if up > 0 {
                sum = sum.plus(Quantity::fraction(found, found + false_alarms)?.times(up));
            }
        }
        total += p;
    }
    (total > 0).then(|| sum.over(total))
}

fn log_loss(c: &Classified) -> Option<Quantity> {
    let table = c.probabilities.as_ref()?;
    mean(
        c.truth
            .iter()
            .enumerate()
            .map(|(bag, &t)| -c.probability(table, bag, t).clamp(LEAST_PROBABILITY, 1.0).ln()),
    )
}

/// Bags by ascending probability in bins whose counts differ by one at most; how far the mean probability of a bin is from its
/// share of hits, weighted by bags. Bags of equal probability share their hits, so that their order says nothing.
fn calibration_error(mut said: Vec<(f64, bool)>) -> Option<Quantity> {
    let n = said.len();
    said.sort_by(|a, b| a.0.total_cmp(&b.0));
    let shared: Vec<(f64, f64)> = said
        .chunk_by(|a, b| a.0 == b.0)
        .flat_map(|same| {
            let share = same.iter().filter(|s| s.1).count() as f64 / same.len() as f64;
            same.iter().map(move |s| (s.0, share))
        })
        .collect();
    let bins = BINS.min(n);
    let gap = |bin: usize| {
        let own = &shared[bin * n / bins..(bin + 1) * n / bins];
        own.iter().map(|(p, share)| p - share).sum::<f64>().abs()
    };
    (n > 0).then(|| Quantity::Real((0..bins).map(gap).sum::<f64>() / n as f64))
}

/// Twice the rank of each value, so that the mean rank of ties is whole too.
fn doubled_ranks(values: &[f64]) -> Vec<i128> {
    let mut order: Vec<usize> = (0..values.len()).collect();
    order.sort_by(|&a, &b| values[a].total_cmp(&values[b]));
    let mut ranks = vec![0; values.len()];
    let mut before = 0;
    for ties in order.chunk_by(|&a, &b| values[a] == values[b]) {
        ties.iter().for_each(|&i| ranks[i] = (2 * before + ties.len() + 1) as i128);
        before += ties.len();
    }
    ranks
}

/// Pearson's correlation of mean ranks; sums are whole numbers and exact.
fn spearman(truth: &[f64], predicted: &[f64]) -> Option<f64> {
    if !varies(truth) {
        return None;
    }
    let (a, b) = (doubled_ranks(truth), doubled_ranks(predicted));
    // Doubled ranks have the mean n + 1.
    let centre = a.len() as i128 + 1;
    let product =
        |x: &[i128], y: &[i128]| x.iter().zip(y).map(|(x, y)| (x - centre) * (y - centre)).sum::<i128>();
    let (ab, aa, bb) = (product(&a, &b), product(&a, &a), product(&b, &b));
    if bb == 0 {
        return Some(0.0);
    }
    if aa == bb {
        return Some(ab as f64 / aa as f64);
    }
    Some(ab as f64 / ((aa as f64).sqrt() * (bb as f64).sqrt()))
}

/// Pairs of different truth: twice those whose predictions are in the same order (a tie is one half), and their number. By
/// ascending truth, every bag asks how many of those before it are predicted lower: a binary indexed tree of counts.
fn concordant(mut bags: Vec<(f64, f64)>) -> (u64, u64) {
    let mut ranks = doubled_ranks(&bags.iter().map(|b| b.1).collect::<Vec<f64>>());
    let mut order: Vec<usize> = (0..bags.len()).collect();
    order.sort_by(|&a, &b| bags[a].0.total_cmp(&bags[b].0));
    bags = order.iter().map(|&i| bags[i]).collect();
    ranks = order.iter().map(|&i| ranks[i]).collect();
    let size = 2 * bags.len() + 1;
    let mut tree = vec![0u64; size + 1];
    let up_to = |tree: &[u64], mut at: usize| {
        let mut sum = 0;
        while at > 0 {
            sum += tree[at];
            at &= at - 1;
        }
        sum
    };
    let (mut doubled, mut pairs, mut before) = (0, 0, 0);
    for same in bags.chunk_by(|a, b| a.0 == b.0).map(<[_]>::len) {
        let own = &ranks[before..before + same];
        for &rank in own {
            let rank = rank as usize;
            // Lower ones count twice, equal ones once.
            doubled += up_to(&tree, rank - 1) + up_to(&tree, rank);
            pairs += before as u64;
        }
        for &rank in own {
            let mut at = rank as usize;
            while at <= size {
                tree[at] += 1;
                at += at & at.wrapping_neg();
            }
        }
        before += same;
    }
    (doubled, pairs)
}
