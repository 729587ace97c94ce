//! Which predictions the report explains, and how: a function of the records alone. They are those of the best method
//! that can explain its predictions, which need not be the winner.

use std::collections::{BTreeMap, BTreeSet};

use bagwise::judge::{GroundTruth, MethodSummary, Reason, Record, Truth};
use bagwise::run::Verdict;

/// Wrong answers that are explained, and right ones of each class.
const WRONG: usize = 6;
const RIGHT: usize = 3;
/// Classes whose right answers are explained.
const CLASSES: u32 = 4;

/// Why a bag got its answer, by a model that had not seen it.
pub(crate) struct Explained<'r> {
    /// The bag, a position in the data set.
    pub(crate) bag: usize,
    /// The fold of the first repeat that tested it.
    pub(crate) fold: usize,
    /// Why.
    pub(crate) reason: &'r Reason,
    /// The two sides of the binary model, positive first; `None` for regression.
    pub(crate) sides: Option<(&'r str, &'r str)>,
    right: Option<u32>,
    sure: f64,
}

/// Of the first line of the verdict's table whose method has reasons: its place in the table, and what it said of the bags
/// worth explaining. The records fit the roster.
pub(crate) fn explained<'r>(
    records: &'r [Record],
    roster: &'r GroundTruth,
    verdict: &Verdict,
) -> Option<(usize, Vec<Explained<'r>>)> {
    let of = |(i, line): (usize, &MethodSummary)| (i, by_method(records, roster, &line.method));
    verdict.table.iter().enumerate().map(of).find(|(_, list)| !list.is_empty())
}

/// The surest mistakes, and the surest right answers of each class; of real values the farthest from the truth.
fn by_method<'r>(records: &'r [Record], roster: &'r GroundTruth, method: &str) -> Vec<Explained<'r>> {
    let own = |r: &&Record| {
        r.key.method == method && r.key.repeat == 0 && r.key.inner.is_none() && r.key.point.is_empty()
    };
    let mut all = Vec::new();
    for record in records.iter().filter(own).filter(|r| r.succeeded()) {
        // A reason without an instance is that of a constant, which has none.
        for (i, reason) in record.reasons.iter().enumerate().filter(|(_, r)| !r.parts.is_empty()) {
            let bag = record.scored.bags[i];
            let answer = roster.prediction(&record.scored, i);
            let truth = match &roster.truth {
                Truth::Classes { codes, .. } => Some(codes[bag]),
                Truth::Values(_) => None,
            };
            all.push(Explained {
                bag,
                fold: record.key.fold,
                reason,
                sides: sides(roster, reason),
                right: truth.filter(|_| truth == answer.label),
                sure: roster.sureness(bag, &answer),
            });
        }
    }
    all.sort_by(|a, b| b.sure.total_cmp(&a.sure).then(a.bag.cmp(&b.bag)));
    // Random halves test a bag more than once.
    let mut seen = BTreeSet::new();
    all.retain(|e| seen.insert(e.bag));
    let (mut wrong, mut right) = (0, BTreeMap::<u32, usize>::new());
    all.retain(|e| match e.right {
        Some(class) => {
            let n = right.entry(class).or_default();
            *n += 1;
            *n <= RIGHT && class < CLASSES
        }
        None => {
            wrong += 1;
            wrong <= WRONG
        }
    });
    all
}

/// The two sides of a binary model: those in its reason, or the two classes of the data.
fn sides<'r>(roster: &'r GroundTruth, reason: &Reason) -> Option<(&'r str, &'r str)> {
    let Truth::Classes { names, .. } = &roster.truth else { return None };
    let (plus, minus) = match (reason.machine, roster.positive) {
        (Some(machine), _) => machine,
        (None, Some(plus)) => (plus, (names.len() == 2).then(|| 1 - plus.min(1))),
        (None, None) => return None,
    };
    let name = |class: u32| names.get(class as usize).map(String::as_str);
    Some((name(plus)?, minus.map_or(Some("rest"), name)?))
}
