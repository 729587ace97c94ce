//! One data set, ready to be shown: verdict, answers bag by bag, the names that may be shown and the colours of methods.

use std::collections::{BTreeMap, BTreeSet};

use bagwise::BASELINE;
use bagwise::Result;
use bagwise::judge::{BagPrediction, Confusion, GroundTruth, Record, Truth};
use bagwise::run::Verdict;

use crate::load::LoadedRun;

/// The prediction of a method for a bag in a repeat.
#[derive(Clone, Copy, Debug)]
pub(crate) struct JudgedBag {
    pub(crate) bag: usize,
    pub(crate) repeat: usize,
    pub(crate) fold: usize,
    pub(crate) answer: BagPrediction,
}

impl std::ops::Deref for JudgedBag {
    type Target = BagPrediction;

    fn deref(&self) -> &BagPrediction {
        &self.answer
    }
}

/// A data set and what is shown of it.
pub(crate) struct View<'a> {
    pub(crate) run: &'a LoadedRun,
    pub(crate) verdict: Verdict,
    /// By method, in the order of the verdict.
    pub(crate) answers: Vec<Vec<JudgedBag>>,
    /// What ids of this data set's elements begin with.
    pub(crate) id: String,
    pub(crate) hide: bool,
    /// The only data set of the report: then it is shown in more detail.
    pub(crate) alone: bool,
    /// All methods of the report in the order of their colours.
    pub(crate) colours: &'a [String],
}

impl<'a> View<'a> {
    pub(crate) fn new(
        run: &'a LoadedRun,
        verdict: Verdict,
        id: String,
        hide: bool,
        alone: bool,
        colours: &'a [String],
    ) -> Result<View<'a>> {
        let answers = verdict
            .table
            .iter()
            .map(|line| answers(&run.records, &run.roster, &line.method))
            .collect::<Result<_>>()?;
        Ok(View { run, verdict, answers, id, hide, alone, colours })
    }

    pub(crate) fn roster(&self) -> &GroundTruth {
        &self.run.roster
    }

    /// A bag's name, or its number where names are hidden.
    pub(crate) fn bag(&self, bag: usize) -> String {
        if self.hide { format!("bag {}", bag + 1) } else { self.roster().bags[bag].clone() }
    }

    /// The class names; empty for real values.
    pub(crate) fn classes(&self) -> &[String] {
        match &self.roster().truth {
            Truth::Classes { names, .. } => names,
            Truth::Values(_) => &[],
        }
    }

    /// A bag's true class.
    pub(crate) fn class(&self, bag: usize) -> Option<u32> {
        match &self.roster().truth {
            Truth::Classes { codes, .. } => codes.get(bag).copied(),
            Truth::Values(_) => None,
        }
    }

    /// The truth in words.
    pub(crate) fn truth(&self, bag: usize) -> String {
        match &self.roster().truth {
            Truth::Classes { codes, names } => names[codes[bag] as usize].clone(),
            Truth::Values(values) => crate::markup::fixed(values[bag], 3),
        }
    }

    /// How the winner is called.
    pub(crate) fn winner(&self) -> &str {
        &self.verdict.best().method
    }

    /// Whether there is something to be the best of.
    pub(crate) fn several_methods(&self) -> bool {
        self.verdict.table.len() > 1
    }

    /// Whether the winner drew on the bags it was judged by.
    pub(crate) fn winner_saw_test_bags(&self) -> bool {
        self.verdict.saw_test_bags.iter().any(|m| m == self.winner())
    }

    /// The judged records of a method.
    pub(crate) fn records<'s>(&'s self, method: &'s str) -> impl Iterator<Item = &'s Record> {
        judged(&self.run.records, method)
    }

    /// Repeats that were judged.
    pub(crate) fn repeats(&self) -> usize {
        self.run.records.iter().map(|r| r.key.repeat + 1).max().unwrap_or(0)
    }

    /// How often a method answered a bag, on average over those it answered: repeats, and random halves, come back to them.
    pub(crate) fn answers_per_bag(&self, method: usize) -> f64 {
        let bags: BTreeSet<usize> = self.answers[method].iter().map(|a| a.bag).collect();
        self.answers[method].len() as f64 / bags.len().max(1) as f64
    }

    /// True and false answers of a method with a positive class, over all repeats.
    pub(crate) fn confusion(&self, method: usize) -> Option<Confusion> {
        let positive = self.roster().positive?;
        let mut n = Confusion::default();
        for a in &self.answers[method] {
            match (self.class(a.bag)? == positive, a.label? == positive) {
                (true, true) => n.tp += 1,
                (true, false) => n.fn_ += 1,
                (false, true) => n.fp += 1,
                (false, false) => n.tn += 1,
            }
        }
        Some(n)
    }

    /// The class of a method's elements: its colour and shape, or grey beyond the sixteen that can be told apart.
    pub(crate) fn colour(&self, method: &str) -> String {
        colour(self.colours, method)
    }
}

/// Methods that can be told apart: eight colours with filled marks, and the same with hollow marks and other dashes.
pub(crate) const DISTINCT: usize = 16;

/// `m0` to `m15`, or `mx`: the baseline is always grey.
pub(crate) fn colour(colours: &[String], method: &str) -> String {
    match colours.iter().filter(|m| *m != BASELINE).position(|m| m == method) {
        Some(i) if i < DISTINCT => format!("m{i}"),
        _ => "mx".into(),
    }
}

fn judged<'r>(records: &'r [Record], method: &'r str) -> impl Iterator<Item = &'r Record> {
    records.iter().filter(move |r| r.key.method == method && r.key.inner.is_none() && r.key.point.is_empty())
}

/// By repeat, fold and position; checked against the roster.
fn answers(records: &[Record], roster: &GroundTruth, method: &str) -> Result<Vec<JudgedBag>> {
    let mut sorted: BTreeMap<(usize, usize), &Record> = BTreeMap::new();
    for record in judged(records, method).filter(|r| r.succeeded()) {
        sorted.insert((record.key.repeat, record.key.fold), record);
    }
    let mut all = Vec::new();
    for ((repeat, fold), record) in sorted {
        let s = &record.scored;
        roster.predictions(s)?;
        for (i, &bag) in s.bags.iter().enumerate() {
            all.push(JudgedBag { bag, repeat, fold, answer: roster.prediction(s, i) });
        }
    }
    Ok(all)
}
