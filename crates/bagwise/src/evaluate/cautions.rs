//! What would mislead about an evaluation, known before it runs: problems in the data, and folds in which a class is missing.

use std::collections::BTreeSet;

use bagwise_core::{Dataset, Error, Message, Result, Setting, Target, count};
use bagwise_judge::{Fold, FoldPlan, Pool, SHARES, Splits};

use super::Evaluate;
use crate::fold::ResolvedConfig;
use crate::inspect::{Finding, Severity, cautions};
use crate::run::RunPlan;

/// What people call the parts of one split; folds of a cross-validation are rarely called so.
const PARTS: [&str; 7] = ["train", "training", "test", "testing", "val", "valid", "validation"];

/// Asks what is meant if all folds are called like parts of one split.
pub(super) fn parts_of_one_split(given: &[String]) -> Option<Error> {
    let names: BTreeSet<&str> = given.iter().map(String::as_str).collect();
    if !names.iter().all(|name| PARTS.contains(&name.to_lowercase().as_str())) {
        return None;
    }
    let usual = names.iter().all(|name| ["train", "test"].contains(name));
    let one = if usual { "use one split" } else { "call them train and test and use one split" };
    let names: Vec<&str> = names.into_iter().collect();
    Some(Error::refused(
        format!("the folds are called {}", names.join(" and ")),
        Message::from(one)
            .with([Setting::Protocol("train-test")])
            .or(Message::from("test both parts").with([Setting::Protocol("given")])),
    ))
}

impl Evaluate<'_> {
    /// Problems in the data and the folds that would make the evaluation misleading.
    pub fn cautions(&self) -> Result<Vec<Finding>> {
        let mut all = cautions(&self.data, self.metric)?;
        // What cannot run says so itself.
        all.extend(self.fold_caution().unwrap_or_default());
        Ok(all)
    }

    /// What folds lack: a class to test, or to learn from. Groups of few bags of a class leave it out of most folds.
    pub fn fold_caution(&self) -> Result<Option<Finding>> {
        let plan = self.plan()?;
        let pool = Pool {
            target: self.data.require_target()?,
            groups: self.data.groups.as_ref(),
            given: self.given.as_deref(),
        };
        let folds = FoldPlan::new(plan.protocol.outer, pool, plan.seed, plan.repeats)?;
        let Some(lacking) = Lacking::of(&self.data, &folds) else { return Ok(None) };
        // Only then, because it takes the grids of all methods.
        let inner = lacking.single > 0 && self.trains_inner(&plan)?;
        Ok(lacking.finding(&folds, inner))
    }

    fn trains_inner(&self, plan: &RunPlan) -> Result<bool> {
        let setups: Vec<Vec<ResolvedConfig>> =
            self.entries()?.iter().map(|e| self.resolve(&e.config)).collect::<Result<_>>()?;
        Ok(plan.trains_inner(setups.iter().map(Vec::as_slice)))
    }
}

/// In how many folds the rarest class is missing. A unit is what is never split: a group, or a bag where there are no groups.
struct Lacking<'a> {
    /// The class that is in the fewest units, and in how many of all units it is.
    class: &'a str,
    units: usize,
    of: usize,
    grouped: bool,
    folds: usize,
    /// Folds whose test bags are of one class.
    one_sided: usize,
    /// Folds whose training bags are none of the class.
    unlearned: usize,
    /// Folds whose training bags of the class are in one unit: an inner fold that tests it cannot train with it.
    single: usize,
}

impl<'a> Lacking<'a> {
    /// None without classes, and if there is one class only.
    fn of(data: &'a Dataset, plan: &FoldPlan) -> Option<Lacking<'a>> {
        let Some(Target::Classes { codes, names }) = &data.target else { return None };
        let unit = |bag: usize| data.groups.as_ref().map_or(bag, |g| g.codes[bag] as usize);
        let units_of = |class: usize, bags: &mut dyn Iterator<Item = usize>| {
            bags.filter(|&bag| codes[bag] as usize == class).map(unit).collect::<BTreeSet<usize>>().len()
        };
        let all = || 0..codes.len();
        let present =
            (0..names.len()).map(|class| (units_of(class, &mut all()), class)).filter(|(n, _)| *n > 0);
        let (units, class) = present.clone().min().filter(|_| present.count() > 1)?;
        let folds: Vec<&Fold> = plan.repeats.iter().flat_map(|folds| whole(folds, plan.splits)).collect();
        let learned = |fold: &&Fold| units_of(class, &mut fold.train.iter().copied());
        let one_sided = |fold: &&&Fold| fold.test.windows(2).all(|w| codes[w[0]] == codes[w[1]]);
        Some(Lacking {
            class: &names[class],
            units,
            of: all().map(unit).collect::<BTreeSet<usize>>().len(),
            grouped: data.groups.is_some(),
            folds: folds.len(),
            // Whoever leaves one out knows that it is of one class.
            one_sided: match plan.splits {
                Splits::LeaveOneOut => 0,
                _ => folds.iter().filter(one_sided).count(),
            },
            unlearned: folds.iter().filter(|fold| learned(fold) == 0).count(),
            single: folds.iter().filter(|fold| learned(fold) == 1).count(),
        })
    }

    /// The sentence, if there is something to say; `inner` if inner folds are trained.
    fn finding(&self, plan: &FoldPlan, inner: bool) -> Option<Finding> {
        let Lacking { class, units, folds, .. } = *self;
        let of_folds =
            |n: usize| format!("{n} of {} {}", count(folds, "fold"), if n == 1 { "has" } else { "have" });
        let mut parts = Vec::new();
        if self.one_sided > 0 {
            parts.push(format!("{} test bags of one class only", of_folds(self.one_sided)));
        }
        if self.unlearned > 0 {
            parts.push(format!("{} no training bag of class {class}", of_folds(self.unlearned)));
        }
        let unit = if self.grouped { "group" } else { "bag" };
        // If it is in one unit, most folds have no other: the parts above say it.
        if self.single > 0 && units > 1 && inner {
            parts.push(format!(
                "{} a single training {unit} of class {class}, so parameters cannot be chosen by it",
                of_folds(self.single)
            ));
        }
        if parts.is_empty() {
            return None;
        }
        let given = matches!(plan.splits, Splits::Given | Splits::TrainTest);
        let why = match self.grouped {
            true => format!(
                "class {class} is in {units} of {}, and groups are never split",
                count(self.of, "group")
            ),
            false => format!(
                "{units} of {} {} of class {class}",
                count(self.of, "bag"),
                if units == 1 { "is" } else { "are" }
            ),
        };
        let so = match self.one_sided {
            0 => "",
            all if all == folds => "; roc_auc has no value",
            _ => "; roc_auc rests on the other folds",
        };
        // Each part that trains needs two units of the class where it is divided again, else one.
        let least = if inner { 3 } else { 2 };
        let more = match self.grouped {
            true => Message::from("name other groups").with([Setting::Group]),
            false => Message::from("add bags of this class"),
        };
        let remedy = if given {
            Message::from("give every fold bags of every class")
        } else if units < least {
            match self.grouped {
                true => Message::from(format!(
                    "no number of folds helps; add bags of class {class} from more groups"
                ))
                .or(more),
                false => Message::from("no number of folds helps; add bags of this class"),
            }
        } else if matches!(plan.splits, Splits::LeaveOneOut | Splits::Half(_))
            || folds <= units * plan.repeats.len()
        {
            more
        } else {
            Message::from(format!("use at most {units} folds")).with([Setting::Folds]).or(more)
        };
        Some(Finding {
            level: Severity::Warning,
            kind: "folds_lack_class",
            message: format!("{}: {why}{so}", parts.join(", and ")),
            remedy,
        })
    }
}

/// The folds that train on all their bags: of a learning curve, those of its last share.
fn whole(folds: &[Fold], splits: Splits) -> &[Fold] {
    match splits {
        Splits::Curve(_) => &folds[folds.len() / SHARES * (SHARES - 1)..],
        _ => folds,
    }
}
