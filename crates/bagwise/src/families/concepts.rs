//! What every method built on diverse density shares: the parameters of the search, targets as the density wants them,
//! and concepts as numbers of a saved model.

use crate::method::{State, WeightedConcept};
use crate::params::{Kind, ParamSpec, Point};
use crate::state::refuse;
use bagwise_core::{Bags, Ctx, Mat, Result};
use bagwise_engine::density::{
    BagTarget, Concept, ConceptMetric, Evidence, FoundConcept, SearchOptions, Starts, Stop, search, search_em,
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
    Kind::Whole { least: 1, most: 1_000_000, words: &["all"] },
    "all",
    "Start from all instances of positive bags, or from this number of random ones.",
);

/// How long a climb may take.
pub(crate) const ITERATIONS: ParamSpec = ParamSpec::new(
    "iterations",
    Kind::Whole { least: 1, most: 10_000, words: &[] },
    "30",
    "Maximum number of steps per start; more steps rarely change the result.",
);

/// Values and gradients of a climb of the default number of steps, roughly: measured on Musk1.
pub(crate) const EVALUATIONS: f64 = 33.0;

/// How concepts are searched for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Producer {
    /// The density itself.
    DiverseDensity,
    /// One instance per bag at a time.
    EmDd,
}

impl Producer {
    pub(crate) fn search(
        self,
        evidence: &Evidence,
        options: &SearchOptions,
        ctx: &Ctx,
    ) -> Result<Vec<FoundConcept>> {
        match self {
            Producer::DiverseDensity => search(evidence, options, ctx),
            Producer::EmDd => search_em(evidence, options, ctx),
        }
    }
}

/// The search that a point asks for.
pub(crate) fn options(point: &Point) -> Result<SearchOptions> {
    let distances = [("weighted", ConceptMetric::Weighted), ("unweighted", ConceptMetric::Unweighted)];
    Ok(SearchOptions {
        distance: point.choice("distance", &distances)?,
        rho: point.number("rho")?,
        starts: point.whole("starts")?.map_or(Starts::All, Starts::Some),
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
        return Err(refuse("the sides of its concepts are not one 0 or 1 for each"));
    }
    if belief.iter().any(|b| !(0.0..=1.0).contains(b)) {
        return Err(refuse("a belief is not a share of 1"));
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
