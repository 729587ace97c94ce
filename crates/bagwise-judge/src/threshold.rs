//! Where to cut scores into labels: a bag is called positive if its score is *at least* the threshold. The
//! rule is parsed from text (`0.3`, `balanced`, `recall=0.95`, `specificity=0.9`, `precision=0.8`) and applied to
//! out-of-fold scores of training bags, never to the bags that are judged.
//!
//! Candidates are the midpoints between neighbouring distinct scores, the smallest score (all positive) and the
//! next number above the largest (none positive). Among them
//! * `recall=r`: recall at least r; of those the largest specificity, then the largest recall;
//! * `specificity=s`: specificity at least s; of those the largest recall, then the largest specificity;
//! * `precision=p`: precision at least p; of those the largest recall, then the largest specificity; if no
//!   threshold reaches p, the largest precision, and [`Chosen::met`] is false;
//! * `balanced`: the largest balanced accuracy (Youden's J), then the most equal recall and specificity, then the
//!   largest recall.
//!
//! Comparisons are made in whole counts, so ties are exact.

use std::cmp::Ordering;
use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use super::metrics::{Confusion, Metric};
use bagwise_core::{Error, Result, Target};

/// A rule that gives a threshold.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum Threshold {
    /// This number.
    Value(f64),
    /// The largest balanced accuracy.
    Balanced,
    /// At least this recall.
    Recall(f64),
    /// At least this specificity.
    Specificity(f64),
    /// At least this precision.
    Precision(f64),
}

/// A threshold and what it did on the scores it was chosen from.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Chosen {
    /// Scores of at least this are positive.
    pub threshold: f64,
    /// Whether the required share was reached; true if there is no requirement.
    pub met: bool,
    /// Recall reached.
    pub recall: Option<f64>,
    /// Specificity reached.
    pub specificity: Option<f64>,
    /// Precision reached.
    pub precision: Option<f64>,
}

impl Chosen {
    /// The label of a score.
    pub fn positive(&self, score: f64) -> bool {
        score >= self.threshold
    }
}

impl fmt::Display for Threshold {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Threshold::Value(v) => write!(f, "{v}"),
            Threshold::Balanced => f.write_str("balanced"),
            Threshold::Recall(share) => write!(f, "recall={share}"),
            Threshold::Specificity(share) => write!(f, "specificity={share}"),
            Threshold::Precision(share) => write!(f, "precision={share}"),
        }
    }
}

impl FromStr for Threshold {
    type Err = Error;

    fn from_str(text: &str) -> Result<Threshold> {
        const FORMS: &str = "use a number, balanced, recall=0.95, specificity=0.9 or precision=0.8";
        let refuse = |problem: &str| Err(Error::Invalid(format!("threshold '{text}': {problem}; {FORMS}")));
        let Some((name, share)) = text.split_once('=') else {
            return match text.parse::<f64>() {
                Ok(value) if value.is_finite() => Ok(Threshold::Value(value)),
                Ok(_) => refuse("not a finite number"),
                Err(_) if text == "balanced" => Ok(Threshold::Balanced),
                Err(_) => refuse("not recognised"),
            };
        };
        let Some(share) = share.parse::<f64>().ok().filter(|s| (0.0..=1.0).contains(s)) else {
            return refuse("the value is not between 0 and 1");
        };
        match name {
            "recall" => Ok(Threshold::Recall(share)),
            "specificity" => Ok(Threshold::Specificity(share)),
            "precision" => Ok(Threshold::Precision(share)),
            _ => refuse("not recognised"),
        }
    }
}

impl TryFrom<String> for Threshold {
    type Error = Error;
    fn try_from(text: String) -> Result<Threshold> {
        text.parse()
    }
}

impl From<Threshold> for String {
    fn from(threshold: Threshold) -> String {
        threshold.to_string()
    }
}

impl Threshold {
    /// Refuses a target that has no positive class.
    pub fn check(&self, target: &Target) -> Result<()> {
        match target {
            Target::Values(_) => {
                Err(Error::Invalid("a threshold needs two classes, but the label is a number".into()))
            }
            Target::Classes { names, .. } if names.len() != 2 => {
                Err(Error::Invalid(format!("a threshold needs two classes; there are {}", names.len())))
            }
            Target::Classes { .. } => Ok(()),
        }
    }

    /// Applies the rule to scores of bags whose class is known.
    pub fn choose(&self, positive: &[bool], scores: &[f64]) -> Result<Chosen> {
        if positive.len() != scores.len() {
            return Err(Error::Invalid(format!("{} scores for {} bags", scores.len(), positive.len())));
        }
        if scores.iter().any(|s| !s.is_finite()) {
            return Err(Error::Invalid("a score is not a finite number; no threshold can be chosen".into()));
        }
        if let Threshold::Value(value) = *self {
            let mut n = Confusion::default();
            for (&positive, &score) in positive.iter().zip(scores) {
                add(&mut n, positive, score >= value);
            }
            return Ok(chosen(value, true, &n));
        }
        let ups = positive.iter().filter(|&&p| p).count();
        if ups == 0 || ups == scores.len() {
            return Err(Error::Invalid(format!(
                "a threshold by {self} needs positive and negative bags; all bags are of one class"
            )));
        }

        let candidates = candidates(positive, scores);
        let share = |metric: Metric, n: &Confusion| metric.of_counts(n);
        let reaches =
            |metric: Metric, least: f64, n: &Confusion| share(metric, n).is_some_and(|v| v >= least);
        let best = |keep: &dyn Fn(&Confusion) -> bool, order: &dyn Fn(&Confusion, &Confusion) -> Ordering| {
            // `max_by` takes the last of equals: candidates descend, so the lowest threshold.
            candidates.iter().filter(|(_, n)| keep(n)).max_by(|a, b| order(&a.1, &b.1))
        };
        // Recall grows with tp and specificity with tn, as the classes are fixed.
        let more_tn = |a: &Confusion, b: &Confusion| a.tn.cmp(&b.tn).then(a.tp.cmp(&b.tp));
        let more_tp = |a: &Confusion, b: &Confusion| a.tp.cmp(&b.tp).then(a.tn.cmp(&b.tn));
        let found = match *self {
            Threshold::Value(_) => unreachable!("answered above"),
            Threshold::Recall(least) => best(&|n| reaches(Metric::Recall, least, n), &more_tn),
            Threshold::Specificity(least) => best(&|n| reaches(Metric::Specificity, least, n), &more_tp),
            Threshold::Precision(least) => best(&|n| reaches(Metric::Precision, least, n), &more_tp),
            Threshold::Balanced => best(&|_| true, &|a, b| {
                // tp / P + tn / N and tp / P - tn / N, both times P N.
                let youden = |n: &Confusion| n.tp * (n.tn + n.fp) + n.tn * (n.tp + n.fn_);
                let apart = |n: &Confusion| (n.tp * (n.tn + n.fp)).abs_diff(n.tn * (n.tp + n.fn_));
                youden(a).cmp(&youden(b)).then(apart(b).cmp(&apart(a))).then(a.tp.cmp(&b.tp))
            }),
        };
        if let Some((threshold, n)) = found {
            return Ok(chosen(*threshold, true, n));
        }
        // Only a precision can be out of reach: the ends of the list have recall 1 and specificity 1.
        let (threshold, n) = best(&|n| n.tp + n.fp > 0, &|a, b| {
            let products = ((a.tp * (b.tp + b.fp)), (b.tp * (a.tp + a.fp)));
            products.0.cmp(&products.1).then(a.tp.cmp(&b.tp))
        })
        .expect("calling every bag positive has a precision");
        Ok(chosen(*threshold, false, n))
    }
}

fn add(n: &mut Confusion, positive: bool, called: bool) {
    match (positive, called) {
        (true, true) => n.tp += 1,
        (true, false) => n.fn_ += 1,
        (false, true) => n.fp += 1,
        (false, false) => n.tn += 1,
    }
}

fn chosen(threshold: f64, met: bool, n: &Confusion) -> Chosen {
    Chosen {
        threshold,
        met,
        recall: Metric::Recall.of_counts(n),
        specificity: Metric::Specificity.of_counts(n),
        precision: Metric::Precision.of_counts(n),
    }
}

/// Every threshold that gives other labels, from none positive to all, with its counts.
fn candidates(positive: &[bool], scores: &[f64]) -> Vec<(f64, Confusion)> {
    let mut order: Vec<usize> = (0..scores.len()).collect();
    order.sort_by(|&a, &b| scores[b].total_cmp(&scores[a]));
    let mut n = Confusion::default();
    positive.iter().for_each(|&p| add(&mut n, p, false));
    let mut list = vec![(scores[order[0]].next_up(), n)];
    let mut done = 0;
    for ties in order.chunk_by(|&a, &b| scores[a] == scores[b]) {
        for &i in ties {
            if positive[i] {
                n.tp += 1;
                n.fn_ -= 1;
            } else {
                n.fp += 1;
                n.tn -= 1;
            }
        }
        done += ties.len();
        let here = scores[ties[0]];
        let cut = match order.get(done) {
            // Between neighbouring doubles there is no midpoint: the upper one cuts as well.
            Some(&next) => {
                let middle = scores[next] / 2.0 + here / 2.0;
                if middle > scores[next] && middle <= here { middle } else { here }
            }
            None => here,
        };
        list.push((cut, n));
    }
    list
}
