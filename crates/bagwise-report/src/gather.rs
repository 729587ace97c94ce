//! What a run leaves for a report besides its records, while its data are at hand: the context of the run, why the
//! winner answered some bags as it did, and a picture of its kernel. Only this costs computing, a small part of what the
//! run itself did, and what would cost more is left out and said to be.

use std::collections::BTreeMap;

use bagwise::fold::{Learner, Setup};
use bagwise::fold::{Wanted, train};
use bagwise::inspect::{Level, inspect};
use bagwise::judge::{Answer, FoldPlan, Protocol, ProtocolName, Record, Roster, Splits, Truth, most_chosen};
use bagwise::method::Explanation;
use bagwise::model::Trained;
use bagwise::params::{Grid, Point};
use bagwise::run::{Contender, Plan, Verdict};
use bagwise::{Ctx, Dataset, Error, Mat, Result, Target};

use crate::context::{Context, DataSummary, Explained, GramPicture, SetupSummary, Suspicion};

/// Wrong answers that are explained, and right ones of each class.
const WRONG: usize = 6;
const RIGHT: usize = 3;
/// Instances of a bag that are shown.
const INSTANCES: usize = 8;
/// Bags in the picture of the kernel: more cannot be told apart on a screen.
const PICTURE: usize = 120;
/// Seconds that explanations, or the picture, may take in any case, and the share of the run's time that they may take beyond.
const ALLOWED: (f64, f64) = (5.0, 0.1);

/// A run that is done.
pub struct Finished<'a> {
    /// The data.
    pub data: &'a Dataset,
    /// How the user named them.
    pub source: &'a str,
    /// What was compared.
    pub contenders: &'a [Contender],
    /// How.
    pub plan: &'a Plan,
    /// The records, sorted by key.
    pub records: &'a [Record],
    /// The bags.
    pub roster: &'a Roster,
    /// The folds.
    pub folds: &'a FoldPlan,
    /// What came out.
    pub verdict: &'a Verdict,
}

/// What is known of every run, also while it goes on. How it was started and how long it took are for the caller to add.
pub fn basics(contenders: &[Contender], plan: &Plan, level: f64) -> Context {
    Context {
        version: env!("CARGO_PKG_VERSION").into(),
        system: format!("{} {}", std::env::consts::OS, std::env::consts::ARCH),
        metric: Some(plan.metric),
        level: Some(level),
        protocol: in_words(&plan.protocol),
        optimistic: plan.protocol.optimistic(),
        threshold: plan.threshold.map(|t| t.to_string()),
        precision: plan.precision.name().into(),
        setups: contenders.iter().filter_map(|c| Some((c.name.clone(), setup(c)?))).collect(),
        ..Context::default()
    }
}

/// Adds to what is known of a run what its data look like, why the winner answered some bags as it did, and a picture of
/// its kernel.
pub fn gather(run: &Finished<'_>, known: Context, ctx: &Ctx) -> Result<Context> {
    let found = inspect(run.data)?;
    let mut context = Context {
        data: Some(DataSummary {
            source: run.source.into(),
            instances: found.instances,
            attributes: found.attributes,
            sizes: (found.bag_sizes.spread.min, found.bag_sizes.spread.median, found.bag_sizes.spread.max),
            findings: found
                .findings
                .iter()
                .map(|f| Suspicion {
                    warning: f.level == Level::Warning,
                    kind: f.kind.into(),
                    message: f.message.clone(),
                    remedy: f.remedy.to_string(),
                })
                .collect(),
            warnings: found.warnings.iter().map(ToString::to_string).collect(),
        }),
        ..known
    };
    let winner = run.contenders.iter().find(|c| c.name == run.verdict.best().method);
    if let Some(winner) = winner {
        let optimistic = run.plan.protocol.optimistic();
        let notes = &mut context.notes;
        context.explained = if optimistic {
            Vec::new()
        } else {
            or_note(explain(run, winner, ctx), "The instances that decided", notes)?
        };
        context.gram = or_note(
            picture(run, winner, ctx).map(|p| p.into_iter().collect()),
            "The picture of the kernel",
            notes,
        )?
        .into_iter()
        .next();
    }
    Ok(context)
}

/// The protocol as one would say it.
fn in_words(protocol: &Protocol) -> String {
    let inner = match protocol.inner {
        Splits::KFold(k) => format!("parameters chosen by {k} inner folds"),
        other => format!("parameters chosen by {other}"),
    };
    match (protocol.name, protocol.outer) {
        (ProtocolName::Nested, Splits::KFold(k)) => format!("nested cross-validation, {k} folds, {inner}"),
        (ProtocolName::Kfold, Splits::KFold(k)) => format!("cross-validation, {k} folds, fixed parameters"),
        (ProtocolName::BestOnCv, Splits::KFold(k)) => {
            format!("cross-validation, {k} folds, parameters chosen on these folds")
        }
        (ProtocolName::Loo, _) => format!("each bag or group left out in turn, {inner}"),
        (ProtocolName::Half, Splits::Half(n)) => format!("{n} random halves, {inner}"),
        (ProtocolName::Given, _) => format!("given folds, {inner}"),
        (ProtocolName::TrainTest, _) => format!("one given split, {inner}"),
        _ => protocol.to_string(),
    }
}

/// What is only an extra must not spoil a run: its error becomes a note. An interruption stays one.
fn or_note<T>(found: Result<Vec<T>>, what: &str, notes: &mut Vec<String>) -> Result<Vec<T>> {
    match found {
        Ok(list) => Ok(list),
        Err(Error::Cancelled) => Err(Error::Cancelled),
        Err(e) => {
            notes.push(format!("{what} could not be shown: {e}."));
            Ok(Vec::new())
        }
    }
}

/// A method's grid, parameter by parameter; none for a choice among methods.
fn setup(contender: &Contender) -> Option<SetupSummary> {
    let [setup] = contender.setups.as_slice() else { return None };
    let mut grid: Vec<(String, Vec<String>)> = Vec::new();
    for point in &setup.grid.points {
        for (name, value) in point.to_map() {
            let value = value.as_str().map_or(value.to_string(), String::from);
            match grid.iter_mut().find(|(n, _)| *n == name) {
                None => grid.push((name, vec![value])),
                Some((_, values)) if !values.contains(&value) => values.push(value),
                Some(_) => {}
            }
        }
    }
    Some(SetupSummary { scale: setup.scale.name().into(), points: setup.grid.points.len(), grid })
}

/// The winner's setup with the point that a record chose, and nothing else to choose from.
fn chosen(winner: &Contender, record: &Record) -> Option<Setup> {
    let mut wanted = record.parameters.clone();
    let method = wanted.remove("method");
    let setup = match &method {
        Some(name) => winner.setups.iter().find(|s| name == s.method.info().name)?,
        None => winner.setups.first()?,
    };
    let point = setup.grid.points.iter().find(|p| p.to_map() == wanted)?.clone();
    Some(Setup { grid: Grid::of(setup.method.params(), vec![point]), ..setup.clone() })
}

/// Seconds that an extra may take.
fn allowed(run: &Finished<'_>) -> f64 {
    let spent: f64 = run.records.iter().map(|r| r.seconds).sum();
    ALLOWED.0.max(ALLOWED.1 * spent)
}

/// A judged bag of the first repeat.
struct Judged<'r> {
    record: &'r Record,
    bag: usize,
    answer: Answer,
    sure: f64,
}

/// The bags worth explaining: the surest mistakes, and the surest right answers of each class; of real values the farthest.
fn interesting<'r>(run: &Finished<'r>) -> Vec<Judged<'r>> {
    let Finished { records, roster, .. } = run;
    let winner = &run.verdict.best().method;
    let mut all = Vec::new();
    for record in records.iter().filter(|r| r.key.method == *winner && r.key.repeat == 0 && r.succeeded()) {
        let s = &record.scored;
        for (i, &bag) in s.bags.iter().enumerate() {
            let answer = roster.answer(s, i);
            all.push(Judged { record, bag, answer, sure: roster.sureness(bag, &answer) });
        }
    }
    all.sort_by(|a, b| b.sure.total_cmp(&a.sure).then(a.bag.cmp(&b.bag)));
    let truth = |bag: usize| match &roster.truth {
        Truth::Classes { codes, .. } => Some(codes[bag]),
        Truth::Values(_) => None,
    };
    let (mut wrong, mut right) = (0, BTreeMap::<u32, usize>::new());
    all.retain(|j| match truth(j.bag) {
        Some(class) if Some(class) == j.answer.label => {
            let n = right.entry(class).or_default();
            *n += 1;
            *n <= RIGHT && class < 4
        }
        _ => {
            wrong += 1;
            wrong <= WRONG
        }
    });
    all
}

/// Explains bags by the model of the fold that tested them, fitted again with the parameters that the fold chose.
fn explain(run: &Finished<'_>, winner: &Contender, ctx: &Ctx) -> Result<Vec<Explained>> {
    let bags = interesting(run);
    let mut folds: BTreeMap<usize, Vec<&Judged<'_>>> = BTreeMap::new();
    bags.iter().for_each(|j| folds.entry(j.record.key.fold).or_default().push(j));
    let groups = winner.setups.iter().map(|s| s.grid.groups.len()).max().unwrap_or(1).max(1);
    let cost: f64 = folds.values().map(|list| list[0].record.seconds / groups as f64).sum();
    if cost > allowed(run) {
        let why = format!("fitting the winner again would take about {cost:.0} s");
        return Err(Error::Invalid(why));
    }
    let mut found: Vec<(usize, Explained)> = Vec::new();
    for (fold, list) in folds {
        let Some(setup) = chosen(winner, list[0].record) else { continue };
        let Some(part) = run.folds.repeats[0].get(fold) else { continue };
        let learner = Learner::new(run.data, &setup, run.plan.positive.as_deref())?;
        let wanted = Wanted { metric: run.plan.metric, threshold: None, best: true };
        let model = train(&[learner], &part.train, run.plan.protocol.inner, &wanted, ctx)?;
        let ids: Vec<usize> = list.iter().map(|j| j.bag).collect();
        let reasons = model.explain_with(&run.data.bags.select(&ids), ctx)?;
        for (judged, machines) in list.iter().zip(&reasons) {
            let at = bags.iter().position(|b| b.bag == judged.bag).unwrap_or(usize::MAX);
            found.extend(explained(run, judged, &model, machines).map(|e| (at, e)));
        }
    }
    found.sort_by_key(|(at, _)| *at);
    Ok(found.into_iter().map(|(_, e)| e).collect())
}

/// The machine that tells the answer from the truth, and its most telling instances.
fn explained(
    run: &Finished<'_>,
    judged: &Judged<'_>,
    model: &Trained,
    machines: &[Explanation],
) -> Option<Explained> {
    let truth = match &run.roster.truth {
        Truth::Classes { codes, .. } => Some(codes[judged.bag]),
        Truth::Values(_) => None,
    };
    let duels = &model.header.duels;
    let about =
        |k: usize, class: Option<u32>| class.is_none_or(|c| duels[k].plus == c || duels[k].minus == Some(c));
    let machine = (0..machines.len())
        .find(|&k| about(k, judged.answer.label) && about(k, truth))
        .or_else(|| (0..machines.len()).find(|&k| about(k, judged.answer.label)))?;
    let (values, bias, output) = match &machines[machine] {
        Explanation::Additive { bias, parts } => (parts, Some(*bias), bias + parts.iter().sum::<f64>()),
        Explanation::Witness { outputs, chosen } => (outputs, None, outputs[*chosen]),
    };
    // The solver stops at a tolerance and may come from another side; a larger difference is another model.
    if machines.len() == 1 && (output - judged.answer.score).abs() > 0.02 * (1.0 + judged.answer.score.abs())
    {
        return None;
    }
    let mut order: Vec<usize> = (0..values.len()).collect();
    match bias {
        Some(_) => order.sort_by(|&a, &b| values[b].abs().total_cmp(&values[a].abs()).then(a.cmp(&b))),
        None => order.sort_by(|&a, &b| values[b].total_cmp(&values[a]).then(a.cmp(&b))),
    }
    order.truncate(INSTANCES);
    let start = run.data.bags.rows(judged.bag).start;
    let kept = run.data.kept.first();
    Some(Explained {
        bag: judged.bag,
        fold: judged.record.key.fold,
        machine: model.machine_name(machine),
        output,
        bias,
        kept: kept.map_or(Vec::new(), |k| {
            order.iter().map(|&i| format!("{} {}", k.name, k.values[start + i])).collect()
        }),
        instances: values.len(),
        values: order.into_iter().map(|i| (run.data.instance_number(judged.bag, i) - 1, values[i])).collect(),
    })
}

/// The Gram of the winner at its most frequent point, of all bags or of some of every class.
fn picture(run: &Finished<'_>, winner: &Contender, ctx: &Ctx) -> Result<Option<GramPicture>> {
    let own = run.records.iter().filter(|r| r.key.method == winner.name);
    let Some(setup) = most_chosen(own).and_then(|(record, _)| chosen(winner, record)) else {
        return Ok(None);
    };
    if setup.method.learns_labels() || setup.method.params().is_empty() {
        return Ok(None);
    }
    let bags = some_of_each(run.data.target.as_ref(), run.data.bags.len());
    let chosen = run.data.bags.select(&bags);
    let target = run.data.target.as_ref().map(|t| t.select(&bags));
    // As in `estimate_seconds`: multiply-adds that one core does in a second.
    if setup.method.work(&chosen, 1) / 1e10 > allowed(run) {
        return Err(Error::Invalid("the bags are too large".into()));
    }
    let point = &setup.grid.points[0];
    let gram = match bagwise::gram(
        setup.method,
        point,
        setup.scale,
        setup.impute,
        &chosen,
        None,
        target.as_ref(),
        ctx,
    ) {
        Ok(gram) => gram,
        // No kernel, no picture: nothing to speak of.
        Err(Error::Invalid(_)) => return Ok(None),
        Err(e) => return Err(e),
    };
    let of = format!("{} with {}", setup.method.info().name, tuned(winner, point));
    let order = by_resemblance(&gram, target.as_ref());
    let bags = order.iter().map(|&i| bags[i]).collect();
    Ok(levels(&gram, &order).map(|(levels, range)| GramPicture { of, bags, levels, range }))
}

/// The parameters of a point that there was a choice of; all of them if there was none.
fn tuned(winner: &Contender, point: &Point) -> String {
    let grid = setup(winner).map_or(Vec::new(), |s| s.grid);
    let several = |name: &str| grid.iter().any(|(n, values)| n == name && values.len() > 1);
    let words: Vec<String> = point
        .to_map()
        .into_iter()
        .filter(|(name, _)| several(name))
        .map(|(name, value)| format!("{name} {}", value.as_str().map_or(value.to_string(), String::from)))
        .collect();
    if words.is_empty() { point.to_string() } else { words.join(", ") }
}

/// Positions ordered by class, or by value; no more than a picture shows, evenly taken.
fn some_of_each(target: Option<&Target>, bags: usize) -> Vec<usize> {
    let mut order: Vec<usize> = (0..bags).collect();
    match target {
        Some(Target::Classes { codes, .. }) => order.sort_by_key(|&b| (codes[b], b)),
        Some(Target::Values(values)) => {
            order.sort_by(|&a, &b| values[a].total_cmp(&values[b]).then(a.cmp(&b)))
        }
        None => {}
    }
    if bags > PICTURE {
        // Every k-th of a list that is ordered by class takes its share of each.
        order = (0..PICTURE).map(|i| order[i * bags / PICTURE]).collect();
    }
    order
}

/// A kernel value as a similarity: 1 of a bag with itself.
fn alike(gram: &Mat, i: usize, j: usize) -> f64 {
    gram.get(i, j) / (gram.get(i, i) * gram.get(j, j)).sqrt()
}

/// Within each class, bags that resemble their class most first: what a kernel sees as one lump then shows as one.
fn by_resemblance(gram: &Mat, target: Option<&Target>) -> Vec<usize> {
    let mut order: Vec<usize> = (0..gram.rows()).collect();
    let Some(Target::Classes { codes, .. }) = target else { return order };
    let mean = |i: usize| {
        let own: Vec<f64> =
            (0..codes.len()).filter(|&j| j != i && codes[j] == codes[i]).map(|j| alike(gram, i, j)).collect();
        own.iter().sum::<f64>() / own.len().max(1) as f64
    };
    let means: Vec<f64> = order.iter().map(|&i| mean(i)).collect();
    order.sort_by(|&a, &b| codes[a].cmp(&codes[b]).then(means[b].total_cmp(&means[a])).then(a.cmp(&b)));
    order
}

/// Similarities as bytes between the smallest and the largest of two different bags; none if there are none.
fn levels(gram: &Mat, order: &[usize]) -> Option<(Vec<u8>, (f64, f64))> {
    let n = gram.rows();
    let (mut low, mut high) = (f64::INFINITY, f64::NEG_INFINITY);
    for i in 0..n {
        for j in (0..n).filter(|&j| j != i) {
            let v = alike(gram, i, j);
            if !v.is_finite() {
                return None;
            }
            (low, high) = (low.min(v), high.max(v));
        }
    }
    if !low.is_finite() || high <= low {
        return None;
    }
    let level = |v: f64| (255.0 * ((v - low) / (high - low)).clamp(0.0, 1.0)).round() as u8;
    let all = (0..n * n).map(|k| level(alike(gram, order[k / n], order[k % n]))).collect();
    Some((all, (low, high)))
}
