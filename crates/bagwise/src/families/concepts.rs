//! What every method built on diverse density shares: the parameters of the search, targets as the density wants them,
//! and concepts as numbers of a saved model.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;

use crate::method::{State, WeightedConcept};
use crate::params::{Grid, Kind, ParamSpec, Point};
use crate::state::refuse;
use bagwise_core::{Bags, Ctx, Mat, Result};
use bagwise_engine::density::{
    AUTO_EVALUATIONS, BagTarget, Concept, ConceptMetric, Evidence, FoundConcept, SearchOptions, Starts, Stop,
    auto_starts, search, search_em,
};

/// What is free in a concept.
pub(crate) const DISTANCE: ParamSpec = ParamSpec::new(
    "distance",
    Kind::Word(&["weighted", "unweighted"]),
    "weighted",
    "weighted: every attribute has its own weight, learned together with the point; unweighted: one weight for all \
     attributes.",
);

/// The weights that a climb starts with.
pub(crate) const RHO: ParamSpec = ParamSpec::new(
    "rho",
    Kind::Number { above: 0.0 },
    "1",
    "Squared weight of an attribute at the start of the search, times the number of attributes; with \
    distance=unweighted it stays fixed.",
);

/// Where climbs start.
pub(crate) const STARTS: ParamSpec = ParamSpec::new(
    "starts",
    Kind::Whole { least: 1, most: 1_000_000, words: &["auto", "all"] },
    "auto",
    "auto: start from the instances of positive bags (from some of them if there are very many), and continue only the \
     most promising climbs; all: climb from every instance to the end; a number: from this number of random instances.",
);

/// How long a climb may take.
pub(crate) const ITERATIONS: ParamSpec = ParamSpec::new(
    "iterations",
    Kind::Whole { least: 1, most: 10_000, words: &[] },
    "30",
    "Maximum number of steps per start; more steps rarely change the result.",
);

/// Values and gradients of a climb of the default number of steps.
const EVALUATIONS: f64 = 33.0;

/// An operation of a search takes half again the time of one of the pairs engine.
const SLOWER: f64 = 1.5;

/// EM-DD climbs in rounds, and in plain loops: that many times the operations of one climb in a batch.
const EM_ROUNDS: f64 = 24.0;

/// Which bags are searched for concepts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SearchSides {
    /// The positive ones.
    Plus,
    /// The positive ones, and the negative ones with the labels swapped.
    Both,
}

/// Operations of the searches of a point on a share of the bags, half of which are positive.
pub(crate) fn search_work(
    producer: Producer,
    point: &Point,
    bags: &Bags,
    share: f64,
    sides: SearchSides,
) -> f64 {
    let Ok(SearchOptions { starts, stop, .. }) = options(point) else { return 0.0 };
    let (instances, width) = (share * bags.instance_count() as f64, bags.width());
    let (evaluated, rounds) = match producer {
        Producer::DiverseDensity => (instances, 1.0),
        Producer::EmDd => (share * bags.len() as f64, EM_ROUNDS),
    };
    // Most climbs take the default number of steps, whatever is allowed beyond.
    let steps = (stop.iterations as f64 / 30.0).min(2.0);
    let (most, evaluations) = match (starts, producer) {
        (Starts::All, _) => (f64::INFINITY, EVALUATIONS),
        (Starts::Some(count), _) => (count as f64, EVALUATIONS),
        (Starts::Auto, Producer::DiverseDensity) => {
            (auto_starts(instances as usize, width) as f64, AUTO_EVALUATIONS)
        }
        (Starts::Auto, Producer::EmDd) => (auto_starts(instances as usize, width) as f64, EVALUATIONS),
    };
    let climbs = most.min(instances / 2.0) * if sides == SearchSides::Both { 2.0 } else { 1.0 };
    SLOWER * climbs * evaluations * steps * rounds * evaluated * 4.0 * width as f64
}

/// What tells the searches of points apart, for plans: methods of a run with the same words share their searches. Nothing if the
/// points of a grid differ in it.
pub(crate) fn search_name(producer: Producer, grid: &Grid) -> Option<String> {
    let name = |point: &Point| options(point).ok().map(|options| format!("{producer:?} {options:?}"));
    let first = name(grid.points.first()?)?;
    grid.points.iter().all(|p| name(p).as_ref() == Some(&first)).then_some(first)
}

/// How concepts are searched for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Producer {
    /// The density itself.
    DiverseDensity,
    /// One instance per bag at a time.
    EmDd,
}

impl Producer {
    /// The concepts of a search, which is made once for all methods of a run that ask for it.
    pub(crate) fn search(
        self,
        evidence: &Evidence,
        options: &SearchOptions,
        ctx: &Ctx,
    ) -> Result<Arc<Vec<FoundConcept>>> {
        let digest = ctx.shared.as_ref().map(|shared| (shared, self.digest(evidence, options, ctx.seed)));
        if let Some((shared, digest)) = &digest
            && let Some(found) = shared.get(*digest)
        {
            return Ok(found);
        }
        let found = Arc::new(match self {
            Producer::DiverseDensity => search(evidence, options, ctx)?,
            Producer::EmDd => search_em(evidence, options, ctx)?,
        });
        if let Some((shared, digest)) = digest {
            let each = size_of::<FoundConcept>() + 2 * size_of::<f64>() * evidence.width();
            shared.keep(digest, &found, (found.len() * each) as u64);
        }
        Ok(found)
    }

    /// 128 bits of everything that a search depends on.
    fn digest(self, evidence: &Evidence, options: &SearchOptions, seed: u64) -> u128 {
        let half = |salt: u64| {
            let mut state = DefaultHasher::new();
            (salt, seed, format!("{self:?} {options:?}")).hash(&mut state);
            evidence.digest(&mut state);
            u128::from(state.finish())
        };
        half(1) << 64 | half(2)
    }
}

/// The search that a point asks for.
pub(crate) fn options(point: &Point) -> Result<SearchOptions> {
    let distances = [("weighted", ConceptMetric::Weighted), ("unweighted", ConceptMetric::Unweighted)];
    Ok(SearchOptions {
        distance: point.choice("distance", &distances)?,
        rho: point.number("rho")?,
        starts: match point.whole("starts")? {
            Some(count) => Starts::Some(count),
            None => point.choice("starts", &[("auto", Starts::Auto), ("all", Starts::All)])?,
        },
        stop: Stop::after(point.number("iterations")? as usize),
    })
}

/// +1 and -1 as positive and negative bags.
pub(crate) fn class_targets(y: &[f64]) -> Vec<BagTarget> {
    y.iter().map(|&y| if y > 0.0 { BagTarget::Positive } else { BagTarget::Negative }).collect()
}

/// Real values in units of their training range, where they do not lie in [0, 1] as they are.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct UnitRange {
    pub(crate) low: f64,
    pub(crate) span: f64,
}

impl UnitRange {
    pub(crate) fn of(y: &[f64]) -> UnitRange {
        let low = y.iter().copied().fold(f64::INFINITY, f64::min);
        let high = y.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        // The range of numbers of both signs near the end of double precision is not a number.
        let inside = low >= 0.0 && high <= 1.0;
        if inside || y.is_empty() || low >= high || !(high - low).is_finite() {
            // All the same outside [0, 1]: the middle of a range of 1.
            let low = if inside || y.is_empty() { 0.0 } else { low - 0.5 };
            return UnitRange { low, span: 1.0 };
        }
        UnitRange { low, span: high - low }
    }

    /// Into [0, 1].
    pub(crate) fn scale(&self, y: f64) -> f64 {
        ((y - self.low) / self.span).clamp(0.0, 1.0)
    }

    /// Back again.
    pub(crate) fn restore(&self, unit: f64) -> f64 {
        self.low + self.span * unit
    }
}

/// The instances of bags, dense.
pub(crate) fn dense(bags: &Bags, ctx: &Ctx) -> Result<Mat> {
    let (rows, width) = (bags.instance_count(), bags.width());
    ctx.reserve(
        "the comparison of instances with concepts",
        8 * (rows * width) as u64,
        "raise the memory budget, or use fewer bags or columns",
    )?;
    let mut out = Mat::zeros(rows, width);
    bags.instances().each_row(0..rows, |row, values| out.row_mut(row).copy_from_slice(values))?;
    Ok(out)
}

/// Puts concepts into a state.
pub(crate) fn save_concepts(state: &mut State, width: usize, concepts: &[WeightedConcept]) {
    let gather = |of: fn(&Concept) -> &Vec<f64>| {
        let numbers: Vec<f64> = concepts.iter().flat_map(|b| of(&b.concept).iter().copied()).collect();
        Mat::new(concepts.len(), width, numbers)
    };
    state.put_mat("points", &gather(|c| &c.point));
    state.put_mat("scales", &gather(|c| &c.weights));
    state.put("belief", &concepts.iter().map(|b| b.belief).collect::<Vec<_>>());
    state.put("log_densities", &concepts.iter().map(|b| b.log_density).collect::<Vec<_>>());
    state.put_counts("of_plus", concepts.iter().map(|b| usize::from(b.of_plus)));
}

/// What [`save_concepts`] wrote.
pub(crate) fn load_concepts(state: &State) -> Result<Vec<WeightedConcept>> {
    let (points, scales) = (state.mat("points")?, state.mat("scales")?);
    if (points.rows(), points.cols()) != (scales.rows(), scales.cols()) || points.cols() == 0 {
        return Err(refuse("its concepts and their weights differ in number"));
    }
    let belief = state.vector("belief", points.rows())?;
    let log_densities = state.vector("log_densities", points.rows())?;
    let of_plus = state.counts("of_plus")?;
    if of_plus.len() != points.rows() || of_plus.iter().any(|&side| side > 1) {
        return Err(refuse("its concepts do not have one side (0 or 1) each"));
    }
    if belief.iter().any(|b| !(0.0..=1.0).contains(b)) {
        return Err(refuse("the weight of a concept is not between 0 and 1"));
    }
    let one = |i: usize| WeightedConcept {
        concept: Concept { point: points.row(i).to_vec(), weights: scales.row(i).to_vec() },
        belief: belief[i],
        log_density: log_densities[i],
        of_plus: of_plus[i] == 1,
    };
    Ok((0..points.rows()).map(one).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use bagwise_core::Instances;

    #[test]
    fn a_search_is_shared_where_nothing_tells_it_apart() {
        let bags = |shift: f64| {
            let rows = (0..12).map(|i| vec![f64::from(i % 5) + shift, f64::from(i % 3)]).collect::<Vec<_>>();
            let rows = Instances::F64(Mat::from_rows(&rows));
            Bags::new(rows, (0..=6).map(|b| 2 * b).collect()).unwrap()
        };
        let evidence = |shift: f64, y: [f64; 6], ctx: &Ctx| {
            Evidence::new(&bags(shift), &[0, 1, 2, 3, 4, 5], class_targets(&y), ctx).unwrap()
        };
        let y = [1.0, 1.0, 1.0, -1.0, -1.0, -1.0];
        let ctx = Ctx::seeded(3).sharing();
        let asked = SearchOptions {
            distance: ConceptMetric::Weighted,
            rho: 1.0,
            starts: Starts::Auto,
            stop: Stop::after(5),
        };
        let dd = Producer::DiverseDensity;
        let first = dd.search(&evidence(0.0, y, &ctx), &asked, &ctx).unwrap();
        let again = dd.search(&evidence(0.0, y, &ctx), &asked, &ctx).unwrap();
        assert!(Arc::ptr_eq(&first, &again));
        let alone = dd.search(&evidence(0.0, y, &ctx), &asked, &Ctx::seeded(3)).unwrap();
        assert_eq!(alone, first);
        let swapped = y.map(|y| -y);
        let others = [
            dd.search(&evidence(0.5, y, &ctx), &asked, &ctx).unwrap(),
            dd.search(&evidence(0.0, swapped, &ctx), &asked, &ctx).unwrap(),
            dd.search(&evidence(0.0, y, &ctx), &SearchOptions { rho: 2.0, ..asked }, &ctx).unwrap(),
            Producer::EmDd.search(&evidence(0.0, y, &ctx), &asked, &ctx).unwrap(),
        ];
        assert!(others.iter().all(|other| !Arc::ptr_eq(other, &first)));
        let shared = ctx.shared.as_ref().map_or(0, |shared| shared.len());
        assert_eq!(shared, 5);
    }

    #[test]
    fn values_outside_the_unit_interval_are_scaled_and_come_back() {
        assert_eq!(UnitRange::of(&[0.2, 0.9]), UnitRange { low: 0.0, span: 1.0 });
        let range = UnitRange::of(&[-5.0, 15.0, 0.0]);
        assert_eq!((range.scale(-5.0), range.scale(15.0), range.scale(99.0)), (0.0, 1.0, 1.0));
        assert_eq!(range.restore(range.scale(0.0)), 0.0);
        let same = UnitRange::of(&[7.0, 7.0]);
        assert_eq!((same.scale(7.0), same.restore(0.5)), (0.5, 7.0));
        assert_eq!(UnitRange::of(&[]), UnitRange { low: 0.0, span: 1.0 });
    }
}
