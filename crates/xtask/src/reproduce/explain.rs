//! Whether explanations find the instances that made a bag positive. A machine learns from the labels of a random half
//! of the bags; in the positive bags of the other half, where true instance labels are known, positive instances are
//! compared with the others in two ways: by their contribution to the bag's output, and by the output of a bag that
//! holds nothing but the instance. The two differ where instances have unequal weights: a contribution is the weight
//! times a value that the bias, which no instance is given a part of, shifts for all of them.

use std::sync::Arc;

use anyhow::{Context as _, Result, bail};
use bagwise::fold::Learner;
use bagwise::fold::{Wanted, train};
use bagwise::judge::{Classified, Metric, Pool, Predictions, Splits};
use bagwise::method::Explanation;
use bagwise::{Bags, Ctx, Dataset, Mat, Target};

use super::section::{Section, Table};
use super::{find, mean, percent, setup};

const SETS: [&str; 4] =
    ["synthetic:gauss", "text_alt_atheism", "text_comp_graphics", "text_rec_sport_hockey"];

const METHODS: [(&str, &[(&str, &str)]); 2] = [("mi-kernel", &[("norm", "mean")]), ("migraph", &[])];

/// What one split shows.
struct Found {
    /// Share of test bags with the right label.
    accuracy: f64,
    /// Instances by their contribution.
    parts: Ranking,
    /// Instances by the output of a bag of their own.
    alone: Ranking,
    /// Share of positive instances, mean over bags.
    chance: f64,
}

/// How well values tell positive instances from the others in positive bags.
struct Ranking {
    /// Area under the curve within a bag, mean over bags that have both kinds of instances.
    within: f64,
    /// The same over the instances of all bags together.
    pooled: f64,
    /// Share of bags whose largest value is that of a positive instance.
    top: f64,
}

pub(super) fn run() -> Result<Section> {
    let headings = [
        "set",
        "method",
        "bag accuracy",
        "AUC within",
        "AUC pooled",
        "top-1",
        "alone: AUC within",
        "AUC pooled",
        "top-1",
        "chance",
    ];
    let mut table = Table::new(&headings);
    for name in SETS {
        let Some(data) = find(name) else {
            let mut row = vec![name.into(), "missing".into()];
            row.resize(headings.len(), String::new());
            table.row(row);
            continue;
        };
        for (method, given) in METHODS {
            let found =
                (0..5).map(|seed| split(&data, method, given, seed)).collect::<Result<Vec<Found>>>()?;
            let over = |pick: &dyn Fn(&Found) -> f64| mean(&found.iter().map(pick).collect::<Vec<_>>());
            let mut row = vec![name.into(), method.into(), percent(over(&|f| f.accuracy))];
            let rankings: [fn(&Found) -> &Ranking; 2] = [|f| &f.parts, |f| &f.alone];
            for ranking in rankings {
                row.push(format!("{:.3}", over(&|f| ranking(f).within)));
                row.push(format!("{:.3}", over(&|f| ranking(f).pooled)));
                row.push(percent(over(&|f| ranking(f).top)));
            }
            row.push(percent(over(&|f| f.chance)));
            table.row(row);
        }
    }
    let mut section = Section::default();
    section.add(
        "Instances of positive test bags, tuned by bag labels only (mi-kernel with norm=mean), ranked by their \
         contribution to the bag's output, and (alone) by the output of a bag that holds nothing but the instance: area \
         under the curve of positive instances against the others (0.5 is chance); how often the first is positive, in \
         percent, beside the mean share of positive instances (chance). Half of the bags train; mean over seeds 0 to 4.",
        table,
    );
    Ok(section)
}

fn split(data: &Dataset, method: &str, given: &[(&str, &str)], seed: u64) -> Result<Found> {
    let setup = setup(method, given, None)?;
    let learner = Learner::new(data, &setup, None)?;
    let Target::Classes { codes, names } = learner.target else { bail!("{} has no classes", data.name) };
    let labels = data.instance_labels.as_ref().context("true instance labels are needed")?;
    let pool = Pool { target: learner.target, groups: None, given: None };
    let all: Vec<usize> = (0..data.bags.len()).collect();
    let fold = Splits::Half(1).outer(pool, &all, seed, 0)?.remove(0);
    let ctx = Ctx::seeded(seed);
    let wanted = Wanted::by(Metric::Accuracy);
    let model = train(&[learner], &fold.train, Splits::KFold(5), &wanted, &ctx)?;

    let predicted = model.predict_with(&data.bags.select(&fold.test), &ctx)?;
    let named = fold.test.iter().map(|&b| Some(&names[codes[b] as usize]));
    let right = predicted.iter().zip(named).filter(|(p, name)| p.label.as_ref() == *name).count();

    // The last class is the positive one, of bags and of instances.
    let positive: Vec<usize> = fold.test.iter().copied().filter(|&b| codes[b] == 1).collect();
    let truth: Vec<Vec<bool>> =
        positive.iter().map(|&b| data.bags.rows(b).map(|i| labels[i] == "1").collect()).collect();
    let bags = data.bags.select(&positive);
    let single = Bags::new(bags.instances().clone(), (0..=bags.instance_count()).collect())?
        .with_features(Arc::clone(bags.features()))?;
    let outputs = model.predict_with(&single, &ctx)?;
    let alone: Vec<Vec<f64>> =
        (0..bags.len()).map(|b| bags.rows(b).map(|i| outputs[i].outputs[0]).collect()).collect();
    let mut parts = Vec::new();
    for mut machines in model.explain_with(&bags, &ctx)? {
        match machines.remove(0) {
            Explanation::Additive { parts: own, .. } => parts.push(own),
            Explanation::Witness { .. } => bail!("{method} does not explain by sums"),
        }
    }
    let share = |truth: &Vec<bool>| truth.iter().filter(|t| **t).count() as f64 / truth.len() as f64;
    Ok(Found {
        accuracy: right as f64 / fold.test.len() as f64,
        parts: rank(&truth, &parts)?,
        alone: rank(&truth, &alone)?,
        chance: mean(&truth.iter().map(share).collect::<Vec<_>>()),
    })
}

fn rank(truth: &[Vec<bool>], values: &[Vec<f64>]) -> Result<Ranking> {
    let (mut within, mut top) = (Vec::new(), Vec::new());
    for (truth, values) in truth.iter().zip(values) {
        within.extend(auc(truth, values)?);
        let first =
            (0..values.len()).max_by(|&a, &b| values[a].total_cmp(&values[b])).context("an empty bag")?;
        top.push(f64::from(u8::from(truth[first])));
    }
    let pooled = auc(&truth.concat(), &values.concat())?;
    Ok(Ranking {
        within: mean(&within),
        pooled: pooled.context("positive bags have both kinds of instances")?,
        top: mean(&top),
    })
}

/// The area under the curve; nothing where only one kind is there.
fn auc(truth: &[bool], scores: &[f64]) -> Result<Option<f64>> {
    let codes: Vec<u32> = truth.iter().map(|&t| u32::from(t)).collect();
    let scores = Mat::new(scores.len(), 1, scores.to_vec());
    let judged = Classified::new(codes.clone(), codes, 2, Some(1))?.with_scores(scores)?;
    Ok(Metric::RocAuc.value(&Predictions::Classes(judged)))
}
