//! The choice among methods and scalings, from the training bags of one part alone: what `auto` does.
//!
//! Successive halving: every method is tried with every scaling, at few points of its grid; of each method the better scaling goes
//! on, and of the methods the better half, now with the whole grid. Of these finalists the single method is the simplest within one
//! standard error of the best (the rule of [`recommended`]). Several together replace it unless it is better than they are by more
//! than a standard error ([`super::ensemble`]).

use super::ensemble::{Gain, Judge, OutOfFold};
use super::tune::Among;
use super::{FoldScope, LEVEL, TrainOptions, TrainingTask, Tuned};
use bagwise_core::{Ctx, Error, Mat, Result, Target};
use bagwise_judge::{Fold, Influences, Repeat, recommended};

/// Methods that the first rung leaves, at least: few are soon tried.
const LEAST_FINALISTS: usize = 5;

/// Methods up to this rank are always finalists: what is not better than they are has learned little, and they cost next to nothing.
const SIMPLE: u32 = 10;

/// How far grids are thinned on the first rung: every fourth value of a list.
const THINNED: u32 = 2;

/// What was chosen.
pub(super) struct Choice {
    /// The learner; of several together the one with the largest share.
    pub(super) which: usize,
    /// Its point.
    pub(super) tuned: Tuned,
    /// All of several.
    pub(super) together: Option<ChosenTogether>,
}

/// Several learners together.
pub(super) struct ChosenTogether {
    /// Learner and share, the largest share first, with the sigmoids of its outputs.
    pub(super) members: Vec<(usize, f64, Vec<(f64, f64)>)>,
    /// What was tuned for all but the first.
    pub(super) others: Vec<Tuned>,
    /// The outputs of the sum for the training bags, by sigmoids and machines that had not seen them.
    pub(super) out_of_fold: Mat,
    /// The single learner that they replace, and what that gained.
    pub(super) instead: (usize, Gain),
}

/// A learner that is still in.
struct Entrant {
    which: usize,
    tuned: Tuned,
    loss: f64,
}

/// Chooses among several learners by inner folds over `train`.
pub(super) fn choose(
    learners: &[TrainingTask<'_>],
    train: &[usize],
    inner: &[Fold],
    wanted: &TrainOptions,
    ctx: &Ctx,
) -> Result<Choice> {
    let folds = folds_of(train, inner);
    let mut finalists = finalists(learners, train, inner, &folds, wanted, ctx)?;
    let single = single(learners, &finalists, train, inner, wanted, ctx)?;
    let task = &learners[finalists[single].which];
    // Where a constant is best, several together have learned nothing either.
    let has_learned = task.setup.method.info().complexity > 0;
    // Who asks for the best method wants one.
    let mixture = match has_learned && !wanted.best && all_classes_there(task, train) {
        true => {
            let candidates: Vec<OutOfFold<'_>> = finalists
                .iter()
                .map(|e| OutOfFold {
                    without: e.tuned.without.iter().map(|m| &**m).collect(),
                    may_join: may_join(&learners[e.which], task) && !e.tuned.without.is_empty(),
                })
                .collect();
            match candidates[single].without.is_empty() {
                true => None,
                false => Judge::new(task, train, &folds).mixture(&candidates, single, ctx)?,
            }
        }
        false => None,
    };
    let members = mixture.as_ref().map_or(Vec::new(), |m| m.members.clone());
    let (Some(mixture), [(first, _), rest @ ..]) = (mixture, members.as_slice()) else {
        let Entrant { which, tuned, .. } = finalists.swap_remove(single);
        return Ok(Choice { which, tuned, together: None });
    };
    if rest.is_empty() {
        // The best alone is better than several together.
        let Entrant { which, tuned, .. } = finalists.swap_remove(*first);
        return Ok(Choice { which, tuned, together: None });
    }
    let mut described = Vec::with_capacity(members.len());
    for (at, share) in &members {
        let Entrant { which, tuned, .. } = &finalists[*at];
        let judge = Judge::new(&learners[*which], train, &folds);
        described.push((*which, *share, judge.final_lines(&tuned.out_of_fold, ctx)?));
    }
    let instead = (finalists[single].which, mixture.gain);
    let mut finalists: Vec<Option<Entrant>> = finalists.into_iter().map(Some).collect();
    let mut take = |at: usize| finalists[at].take().expect("every member is there once").tuned;
    let tuned = take(*first);
    let others = rest.iter().map(|(at, _)| take(*at)).collect();
    let together = ChosenTogether { members: described, others, out_of_fold: mixture.out_of_fold, instead };
    Ok(Choice { which: together.members[0].0, tuned, together: Some(together) })
}

/// The inner fold of each training bag.
pub(super) fn folds_of(train: &[usize], inner: &[Fold]) -> Vec<usize> {
    let tests = |fold: &Fold, bag: &usize| fold.test.binary_search(bag).is_ok();
    train.iter().map(|bag| inner.iter().position(|f| tests(f, bag)).unwrap_or(0)).collect()
}

/// Machines of a class without training bags have nothing to say, and could not be added up.
fn all_classes_there(task: &TrainingTask<'_>, train: &[usize]) -> bool {
    match task.target {
        Target::Values(_) => true,
        Target::Classes { codes, names } => {
            (0..names.len() as u32).all(|class| train.iter().any(|&b| codes[b] == class))
        }
    }
}

/// Whether a learner has the outputs of another; the most frequent class has none to speak of.
fn may_join(learner: &TrainingTask<'_>, other: &TrainingTask<'_>) -> bool {
    learner.tasks == other.tasks && learner.setup.method.info().complexity > 0
}

/// The two rungs. A learner that fails on these bags is left out, unless all fail.
fn finalists(
    learners: &[TrainingTask<'_>],
    train: &[usize],
    inner: &[Fold],
    folds: &[usize],
    wanted: &TrainOptions,
    ctx: &Ctx,
) -> Result<Vec<Entrant>> {
    let mut why: Option<Error> = None;
    let mut attempt = |which: usize, thinned: bool| -> Result<Option<Entrant>> {
        match entrant(learners, which, thinned, (train, inner, folds), wanted, ctx) {
            Ok(found) => Ok(Some(found)),
            Err(Error::Cancelled) => Err(Error::Cancelled),
            Err(e) => {
                why.get_or_insert(e);
                Ok(None)
            }
        }
    };
    let name = |which: usize| learners[which].setup.method.info().name;
    let mut methods: Vec<&str> = (0..learners.len()).map(name).collect();
    methods.dedup();
    let several = learners.len() > LEAST_FINALISTS || methods.len() < learners.len();
    let mut on: Vec<usize> = (0..learners.len()).collect();
    if several {
        let mut tried: Vec<Entrant> = Vec::with_capacity(learners.len());
        for which in 0..learners.len() {
            let what = format!("{} on {}", name(which), learners[which].data.name);
            ctx.progress.step(&what, which as u64, learners.len() as u64);
            tried.extend(attempt(which, true)?);
        }
        tried.sort_by(|a, b| a.loss.total_cmp(&b.loss).then(a.which.cmp(&b.which)));
        // Of each method the scaling that does best.
        let mut seen: Vec<&str> = Vec::new();
        tried.retain(|e| {
            let new = !seen.contains(&name(e.which));
            seen.push(name(e.which));
            new
        });
        let half = tried.len().div_ceil(2).max(LEAST_FINALISTS);
        let simple = |which: usize| learners[which].setup.method.info().complexity <= SIMPLE;
        let goes_on = |(place, e): (usize, &Entrant)| (place < half || simple(e.which)).then_some(e.which);
        on = tried.iter().enumerate().filter_map(goes_on).collect();
        on.sort_unstable();
    }
    let mut finalists = Vec::with_capacity(on.len());
    for which in on {
        ctx.check()?;
        finalists.extend(attempt(which, false)?);
    }
    match (finalists.is_empty(), why) {
        (false, _) => Ok(finalists),
        (true, Some(why)) => Err(why),
        (true, None) => Err(Error::Invalid("there is no method to choose from".into())),
    }
}

/// A learner, tuned at few points or at all, and what it is worth.
fn entrant(
    learners: &[TrainingTask<'_>],
    which: usize,
    thinned: bool,
    (train, inner, folds): (&[usize], &[Fold], &[usize]),
    wanted: &TrainOptions,
    ctx: &Ctx,
) -> Result<Entrant> {
    let learner = &learners[which];
    let grid = &learner.setup.grid;
    let few = thinned.then(|| grid.thinned_points(learner.setup.method.params(), THINNED));
    let among = Among { points: few.as_deref(), grow: !thinned, without: true };
    let mut tuned = learner.tune_among(train, inner, wanted.metric, FoldScope::PerPart, among, ctx)?;
    // Grams of all candidates together may not fit; the chosen one is prepared again.
    tuned.release();
    let finite = tuned.out_of_fold.data().iter().any(|v| v.is_finite());
    let loss = match thinned && finite {
        true => {
            // With many machines there may be none. Then nobody is judged by them: who chose with the fold would look better.
            let many = learners.iter().any(TrainingTask::has_many_machines);
            let without = |v: usize| match tuned.without.get(v) {
                Some(outputs) if !many => outputs,
                _ => &tuned.out_of_fold,
            };
            Judge::new(learner, train, folds).value(without, ctx)?
        }
        false => f64::INFINITY,
    };
    if thinned {
        tuned.without.clear();
    }
    Ok(Entrant { which, tuned, loss })
}

/// The simplest within one standard error of the best, or the best if that is wanted.
fn single(
    learners: &[TrainingTask<'_>],
    finalists: &[Entrant],
    train: &[usize],
    inner: &[Fold],
    wanted: &TrainOptions,
    ctx: &Ctx,
) -> Result<usize> {
    let said = |e: &Entrant| {
        let of_bags = super::train::inner_answers(
            &learners[e.which],
            &e.tuned.out_of_fold,
            train,
            inner,
            wanted.metric,
            ctx,
        )?;
        Ok(vec![of_bags])
    };
    let answers = finalists.iter().map(said).collect::<Result<Vec<Vec<Repeat>>>>()?;
    let complexity: Vec<u32> =
        finalists.iter().map(|e| learners[e.which].setup.method.info().complexity).collect();
    let groups = learners[0].data.groups.as_ref().map(|g| g.codes.as_slice());
    Ok(simplest(&answers, groups, &complexity, wanted, ctx))
}

/// The rule of [`recommended`], on what inner folds said of the bags.
pub(super) fn simplest(
    answers: &[Vec<Repeat>],
    groups: Option<&[u32]>,
    complexity: &[u32],
    wanted: &TrainOptions,
    ctx: &Ctx,
) -> usize {
    let influences = Influences::new(answers, groups, wanted.metric, ctx.seed);
    let best = influences.best().unwrap_or(0);
    if wanted.best || complexity.len() < 2 {
        return best;
    }
    recommended(best, &influences.against(best, true, LEVEL, ctx.seed), complexity, |_| true)
}
