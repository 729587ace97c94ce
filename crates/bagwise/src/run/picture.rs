//! A picture of a kernel: how alike bags are to the method that came out best, with the parameters it chose most often.
//! Nothing is trained for it, and what would cost more than a small part of the run is left out.

use serde::{Deserialize, Serialize};

use super::Candidate;
use crate::fold::ResolvedConfig;
use crate::method::NOMINAL_SPEED;
use crate::params::{Grid, Point};
use bagwise_core::{Ctx, Dataset, Error, Mat, Result, Target};
use bagwise_judge::{Record, most_chosen};

/// Bags in the picture: more cannot be told apart on a screen.
const PICTURE: usize = 120;
/// Seconds that it may take in any case, and the share of the run's time that it may take beyond.
const ALLOWED: (f64, f64) = (5.0, 0.1);

/// A Gram, scaled to similarities: 1 on the diagonal.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct GramPicture {
    /// The method and its parameters.
    pub of: String,
    /// Bags, as positions in the data set, ordered by class.
    pub bags: Vec<usize>,
    /// Similarity 0..1 in steps of 1/255, row after row.
    pub levels: Vec<u8>,
    /// Similarities that level 0 and level 255 stand for.
    pub range: (f64, f64),
}

/// The Gram of a contender at its most frequent point, of all bags or of some of every class; none if it has no kernel, or
/// one that is learned from labels.
pub fn picture(
    data: &Dataset,
    candidate: &Candidate,
    records: &[Record],
    ctx: &Ctx,
) -> Result<Option<GramPicture>> {
    let own = records.iter().filter(|r| r.key.method == candidate.name);
    let Some(setup) = most_chosen(own).and_then(|(record, _)| chosen(candidate, record)) else {
        return Ok(None);
    };
    if setup.method.learns_labels() || setup.method.params().is_empty() {
        return Ok(None);
    }
    let bags = some_of_each(data.target.as_ref(), data.bags.len());
    let shown = data.bags.select(&bags);
    let target = data.target.as_ref().map(|t| t.select(&bags));
    let spent: f64 = records.iter().map(|r| r.seconds).sum();
    if setup.method.work_for(&shown, &setup.grid) / NOMINAL_SPEED > ALLOWED.0.max(ALLOWED.1 * spent) {
        return Err(Error::Invalid("the bags are too large".into()));
    }
    let point = &setup.grid.points[0];
    let ResolvedConfig { method, scale, impute, .. } = setup;
    let gram = match crate::gram::gram(method, point, scale, impute, &shown, None, target.as_ref(), ctx) {
        Ok(gram) => gram,
        // No kernel, no picture; this is not a failure.
        Err(Error::Invalid(_)) => return Ok(None),
        Err(e) => return Err(e),
    };
    let of = format!("{} with {}", method.info().name, tuned(candidate, point));
    let order = by_resemblance(&gram, target.as_ref());
    let bags = order.iter().map(|&i| bags[i]).collect();
    Ok(levels(&gram, &order).map(|(levels, range)| GramPicture { of, bags, levels, range }))
}

/// A contender's setup with the point that a record chose, and nothing else to choose from.
fn chosen(candidate: &Candidate, record: &Record) -> Option<ResolvedConfig> {
    let mut wanted = record.parameters.clone();
    let method = wanted.remove("method");
    let setup = match &method {
        Some(name) => candidate.setups.iter().find(|s| name == s.method.info().name)?,
        None => candidate.setups.first()?,
    };
    let point = setup.grid.points.iter().find(|p| p.to_map() == wanted)?.clone();
    Some(ResolvedConfig { grid: Grid::of(setup.method.params(), vec![point]), ..setup.clone() })
}

/// The parameters of a point that there was a choice of; all of them if there was none.
fn tuned(candidate: &Candidate, point: &Point) -> String {
    let points = match candidate.setups.as_slice() {
        [setup] => setup.grid.points.as_slice(),
        _ => &[],
    };
    let several = |name: &str, value: &serde_json::Value| {
        points.iter().any(|p| p.to_map().get(name).is_some_and(|other| other != value))
    };
    let words: Vec<String> = point
        .to_map()
        .into_iter()
        .filter(|(name, value)| several(name, value))
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
