//! Whether explanations find the instances that made a bag positive. A machine learns from the labels of a random half
//! of the bags; in the positive bags of the other half, where true instance labels are known, the contributions of
//! positive instances are compared with those of the others.

use anyhow::{Context as _, Result};
use bagwise::evaluate::{Classified, Metric, Pool, Predictions, Splits};
use bagwise::learn::Learner;
use bagwise::method::Explanation;
use bagwise::train::{Wanted, train};
use bagwise::{Ctx, Dataset, Mat, Target};

use super::section::{Section, Table};
use super::{find, mean, percent, setup};

const SETS: [&str; 4] =
    ["synthetic:gauss", "text_alt_atheism", "text_comp_graphics", "text_rec_sport_hockey"];

const METHODS: [(&str, &[(&str, &str)]); 2] = [("mi-kernel", &[("norm", "mean")]), ("migraph", &[])];

/// What one split shows.
struct Found {
    /// Share of test bags with the right label.
    accuracy: f64,
    /// Area under the curve within a bag, mean over bags that have both kinds of instances.
    within: f64,
    /// The same over the instances of all positive bags together.
    pooled: f64,
    /// Share of bags whose largest contribution comes from a positive instance.
    top: f64,
    /// Share of positive instances, mean over bags.
    chance: f64,
}

pub(super) fn run() -> Result<Section> {
    let headings = ["set", "method", "bag accuracy", "AUC within", "AUC pooled", "top-1", "chance"];
    let mut table = Table::new(&headings);
    for name in SETS {
        let Some(data) = find(name) else {
            table.row([name, "", "missing", "", "", "", ""].map(String::from).to_vec());
            continue;
        };
        for (method, given) in METHODS {
            let found =
                (0..5).map(|seed| split(&data, method, given, seed)).collect::<Result<Vec<Found>>>()?;
            let over = |pick: fn(&Found) -> f64| mean(&found.iter().map(pick).collect::<Vec<_>>());
            table.row(vec![
                name.into(),
                method.into(),
                percent(over(|f| f.accuracy)),
                format!("{:.3}", over(|f| f.within)),
                format!("{:.3}", over(|f| f.pooled)),
                percent(over(|f| f.top)),
                percent(over(|f| f.chance)),
            ]);
        }
    }
    let mut section = Section::default();
    section.add(
        "Explanations of positive test bags, tuned by bag labels only (mi-kernel with norm=mean): area under the curve of \
         contributions, positive instances against the others (0.5 is chance); how often the largest contribution is that \
         of a positive instance, in percent, beside the mean share of positive instances (chance). Half of the bags \
         train; mean over seeds 0 to 4.",
        table,
    );
    Ok(section)
}

fn split(data: &Dataset, method: &str, given: &[(&str, &str)], seed: u64) -> Result<Found> {
    let setup = setup(method, given, None)?;
    let learner = Learner::new(data, &setup, None)?;
    let Target::Classes { codes, names } = learner.target else {
        anyhow::bail!("{} has no classes", data.name)
    };
    let labels = data.instance_labels.as_ref().context("true instance labels are needed")?;
    let pool = Pool { target: learner.target, groups: None, given: None };
    let all: Vec<usize> = (0..data.bags.len()).collect();
    let fold = Splits::Half(1).outer(pool, &all, seed, 0)?.remove(0);
    let ctx = Ctx::seeded(seed);
    let wanted = Wanted { metric: Metric::Accuracy, threshold: None };
    let model = train(&[learner], &fold.train, Splits::KFold(5), &wanted, &ctx)?;

    let predicted = model.predict(&data.bags.select(&fold.test), &ctx)?;
    let right =
        |(p, &b): (&bagwise::model::Prediction, &usize)| p.label.as_ref() == Some(&names[codes[b] as usize]);
    let accuracy =
        predicted.iter().zip(&fold.test).filter(|&pair| right(pair)).count() as f64 / fold.test.len() as f64;

    // The last class is the positive one, of bags and of instances.
    let positive: Vec<usize> = fold.test.iter().copied().filter(|&b| codes[b] == 1).collect();
    let explanations = model.explain(&data.bags.select(&positive), &ctx)?;
    let (mut truth, mut parts) = (Vec::new(), Vec::new());
    let (mut within, mut top, mut chance) = (Vec::new(), Vec::new(), Vec::new());
    for (&bag, machines) in positive.iter().zip(&explanations) {
        let Explanation::Additive { parts: own, .. } = &machines[0] else {
            anyhow::bail!("{method} does not explain by sums");
        };
        let true_own: Vec<bool> = data.bags.rows(bag).map(|i| labels[i] == "1").collect();
        within.extend(auc(&true_own, own)?);
        let largest = (0..own.len()).max_by(|&a, &b| own[a].total_cmp(&own[b])).context("an empty bag")?;
        top.push(f64::from(u8::from(true_own[largest])));
        chance.push(true_own.iter().filter(|t| **t).count() as f64 / own.len() as f64);
        truth.extend(true_own);
        parts.extend_from_slice(own);
    }
    Ok(Found {
        accuracy,
        within: mean(&within),
        pooled: auc(&truth, &parts)?.context("positive bags have both kinds of instances")?,
        top: mean(&top),
        chance: mean(&chance),
    })
}

/// The area under the curve; nothing where only one kind is there.
fn auc(truth: &[bool], scores: &[f64]) -> Result<Option<f64>> {
    let codes: Vec<u32> = truth.iter().map(|&t| u32::from(t)).collect();
    let scores = Mat::new(scores.len(), 1, scores.to_vec());
    let judged = Classified::new(codes.clone(), codes, 2, Some(1))?.with_scores(scores)?;
    Ok(Metric::RocAuc.value(&Predictions::Classes(judged)))
}
