//! What `bagging`, `stacking` and the ensembles of `auto` share: members found by name, each with its default parameters, and
//! models that are weighted sums of the members' models, all on the same bags or each on bags that it scales itself.

use std::sync::Arc;

use crate::method::{
    Explanation, MemoryEstimate, Method, Outputs, Predictor, Prepared, Scope, SolvedFit, State, Training,
    converged,
};
use crate::params::{Grid, Point, WhenUnset};
use crate::preprocess::{Scale, Transform};
use crate::state::refuse;
use bagwise_core::{Bags, Ctx, Error, Groups, Mat, Result};
use bagwise_svm::SolveOutcome;

/// The methods that a parameter names; an error says which is none, or is itself a method over methods.
pub(super) fn named(own: &str, parameter: &str, point: &Point) -> Result<Vec<&'static dyn Method>> {
    let one = |name: &str| {
        let method = super::find(name.trim()).map_err(|e| Error::param(own, parameter, e.to_string()))?;
        match method.info().over_methods {
            true => Err(Error::param(
                own,
                parameter,
                format!("{name} is itself a combination of methods; choose others"),
            )),
            false => Ok(method),
        }
    };
    point.word(parameter)?.split(',').map(one).collect()
}

/// The only point of a member.
pub(super) fn default_grid(method: &dyn Method, regression: bool) -> Result<Grid> {
    Grid::new(method.info().name, method.params(), &[], WhenUnset::Default, regression)
}

/// The scaling that suits a member at its defaults.
pub(super) fn scale_of(method: &dyn Method) -> Scale {
    default_grid(method, false).map_or(method.info().scale, |grid| method.scale(&grid.points))
}

/// An error if a member does not allow a scaling.
pub(super) fn refuses(method: &dyn Method, scale: Scale) -> Option<Error> {
    let grid = default_grid(method, false).ok()?;
    method.refuses(&grid.points, scale)
}

/// Operations that prepare a member once for all its fits; nothing where it learns from labels, and every fit prepares for itself.
pub(super) fn work_of(method: &dyn Method, bags: &Bags) -> f64 {
    if method.learns_labels() { 0.0 } else { whole_work_of(method, bags) }
}

fn whole_work_of(method: &dyn Method, bags: &Bags) -> f64 {
    default_grid(method, false)
        .map_or(0.0, |grid| method.work_for(bags, &grid) + method.search_work(bags, &grid, 1.0))
}

/// Operations of one fit of a member on a share of the bags.
pub(super) fn fit_work_of(method: &dyn Method, bags: &Bags, share: f64) -> f64 {
    let own = if method.learns_labels() { share * share * whole_work_of(method, bags) } else { 0.0 };
    own + default_grid(method, false).map_or(0.0, |grid| method.machine_work(bags, &grid, share))
}

/// Memory of some members together.
pub(super) fn needs_of(methods: &[&dyn Method], bags: &Bags) -> MemoryEstimate {
    let of = |m: &&dyn Method| {
        let needs = m.needs(bags);
        needs.fixed + needs.each
    };
    MemoryEstimate { fixed: methods.iter().map(of).sum(), each: 0 }
}

/// A member on some bags. What it prepares without labels is shared by all problems, as in every other method; where it learns from
/// labels, every problem prepares for itself.
struct PreparedMember {
    method: &'static dyn Method,
    bags: Arc<Bags>,
    points: Vec<Point>,
    groups: Option<Groups>,
    regression: bool,
    shared: Option<Arc<dyn Prepared>>,
}

/// A member that was fitted, with what it was prepared by.
pub(super) struct FittedMember {
    prepared: Arc<dyn Prepared>,
    fit: SolvedFit,
    /// The bags it learned from.
    pub(super) bags: Vec<usize>,
    shared: bool,
}

impl PreparedMember {
    fn new(
        method: &'static dyn Method,
        bags: &Arc<Bags>,
        scope: &Scope<'_>,
        ctx: &Ctx,
    ) -> Result<PreparedMember> {
        let info = method.info();
        if scope.regression && !info.regression {
            return Err(Error::Invalid(format!(
                "{} predicts classes, and these targets are numbers",
                info.name
            )));
        }
        let points = default_grid(method, scope.regression)?.points;
        let shared = match method.learns_labels() {
            true => None,
            false => Some(Arc::from(method.prepare(Arc::clone(bags), &points, scope, ctx)?)),
        };
        let groups = scope.groups.cloned();
        Ok(PreparedMember {
            method,
            bags: Arc::clone(bags),
            points,
            groups,
            regression: scope.regression,
            shared,
        })
    }

    fn fit(&self, training: &Training<'_>, ctx: &Ctx) -> Result<FittedMember> {
        let prepared = match &self.shared {
            Some(shared) => Arc::clone(shared),
            None => {
                let scope = Scope {
                    y: training.y,
                    groups: self.groups.as_ref(),
                    regression: self.regression,
                    ..Scope::of(training.bags)
                };
                Arc::from(self.method.prepare(Arc::clone(&self.bags), &self.points, &scope, ctx)?)
            }
        };
        let fit = prepared.fit(&[0], training, ctx)?.remove(0);
        Ok(FittedMember { prepared, fit, bags: training.bags.to_vec(), shared: self.shared.is_some() })
    }
}

/// The members of all points of a grid, each prepared once.
#[derive(Default)]
pub(super) struct PreparedMembers(Vec<PreparedMember>);

impl PreparedMembers {
    /// The place of a member, which is prepared when it is first asked for.
    pub(super) fn place(
        &mut self,
        method: &'static dyn Method,
        bags: &Arc<Bags>,
        scope: &Scope<'_>,
        ctx: &Ctx,
    ) -> Result<usize> {
        let name = method.info().name;
        if let Some(known) = self.0.iter().position(|member| member.method.info().name == name) {
            return Ok(known);
        }
        self.0.push(PreparedMember::new(method, bags, scope, ctx)?);
        Ok(self.0.len() - 1)
    }

    /// As [`Prepared::fit_bytes`].
    pub(super) fn fit_bytes(&self) -> u64 {
        self.0.iter().filter_map(|member| member.shared.as_ref()).map(|p| p.fit_bytes()).max().unwrap_or(0)
    }

    /// The member at a place, fitted.
    pub(super) fn fit(&self, place: usize, training: &Training<'_>, ctx: &Ctx) -> Result<FittedMember> {
        self.0[place].fit(training, ctx)
    }
}

impl FittedMember {
    pub(super) fn scores(&self, bags: &[usize], ctx: &Ctx) -> Result<Vec<f64>> {
        self.prepared.scores(&self.fit, bags, ctx)
    }
}

/// How the solvers of members ended: the first that did not converge, if any.
pub(super) fn outcome<'a>(members: impl Iterator<Item = &'a FittedMember>) -> Option<SolveOutcome> {
    let all: Vec<SolveOutcome> = members.filter_map(|m| m.fit.outcome).collect();
    all.iter().find(|o| !converged(o)).or(all.first()).copied()
}

/// The models of one member, an output for each of the fits: one for all, or one for each where labels are learned from.
fn models_of(fits: &[&FittedMember], ctx: &Ctx) -> Result<Vec<Box<dyn Predictor>>> {
    if !fits[0].shared {
        return fits.iter().map(|m| m.prepared.model(&[&m.fit], &m.bags, ctx)).collect();
    }
    let mut bags: Vec<usize> = fits.iter().flat_map(|m| m.bags.iter().copied()).collect();
    bags.sort_unstable();
    bags.dedup();
    let solved: Vec<&SolvedFit> = fits.iter().map(|m| &m.fit).collect();
    Ok(vec![fits[0].prepared.model(&solved, &bags, ctx)?])
}

/// A member of a sum.
pub(super) struct TransformedMember {
    /// How it sees bags; as they come if nothing.
    pub(super) transform: Option<Transform>,
    /// The models that have the outputs, one after the other.
    pub(super) models: Vec<Box<dyn Predictor>>,
}

impl TransformedMember {
    fn bags<'b>(&self, bags: &'b Bags, ctx: &Ctx) -> Result<std::borrow::Cow<'b, Bags>> {
        Ok(match &self.transform {
            Some(transform) => std::borrow::Cow::Owned(transform.apply(bags, ctx)?),
            None => std::borrow::Cow::Borrowed(bags),
        })
    }
}

/// `f_k = biases[k] + sum over members of weights[k][member] * (the member's output k)`.
pub(super) struct CombinedModel {
    members: Vec<TransformedMember>,
    weights: Mat,
    biases: Vec<f64>,
    /// For each output what bags left out of members say of it; empty where there are none.
    out_of_bag: Vec<f64>,
    regression: bool,
}

impl CombinedModel {
    /// From the members of each output, in the same order for all.
    pub(super) fn new(
        outputs: &[Vec<&FittedMember>],
        weights: Mat,
        biases: Vec<f64>,
        out_of_bag: Vec<f64>,
        regression: bool,
        ctx: &Ctx,
    ) -> Result<CombinedModel> {
        let one = |member: usize| {
            let fits: Vec<&FittedMember> = outputs.iter().map(|members| members[member]).collect();
            Ok(TransformedMember { transform: None, models: models_of(&fits, ctx)? })
        };
        let members = (0..weights.cols()).map(one).collect::<Result<_>>()?;
        Ok(CombinedModel { members, weights, biases, out_of_bag, regression })
    }

    /// From trained members.
    pub(super) fn of(
        members: Vec<TransformedMember>,
        weights: Mat,
        biases: Vec<f64>,
        regression: bool,
    ) -> CombinedModel {
        CombinedModel { members, weights, biases, out_of_bag: Vec::new(), regression }
    }

    /// A model from its saved state; `method_of` names the method of a member, which has its default parameters.
    pub(super) fn load(
        state: &State,
        method_of: impl Fn(usize) -> Option<&'static dyn Method>,
    ) -> Result<CombinedModel> {
        let regression = state.count("regression")? == 1;
        let member = |m: usize| {
            let method = method_of(m)?;
            Some((method, default_grid(method, regression).ok()?.points.remove(0), None))
        };
        CombinedModel::load_members(state, member)
    }

    /// The same with method, parameters and transform of each member.
    pub(super) fn load_members(
        state: &State,
        member: impl Fn(usize) -> Option<(&'static dyn Method, Point, Option<Transform>)>,
    ) -> Result<CombinedModel> {
        let weights = state.mat("weights")?;
        let biases = state.vector("biases", weights.rows())?;
        let regression = state.count("regression")? == 1;
        let models = state.counts("models")?;
        let odd = models.len() != weights.cols() || models.is_empty() || weights.rows() == 0;
        if odd || models.iter().any(|&count| count == 0 || count > weights.rows()) {
            return Err(refuse("its members and their weights differ in number"));
        }
        let out_of_bag = match state.tensors.contains_key("out_of_bag") {
            true => state.vector("out_of_bag", weights.rows())?,
            false => Vec::new(),
        };
        let mut members = Vec::with_capacity(models.len());
        for (m, &count) in models.iter().enumerate() {
            let (method, point, transform) =
                member(m).ok_or_else(|| refuse(format!("it has {} members", models.len())))?;
            let load = |j: usize| {
                let own = state.nested(&format!("{m}-{j}"));
                if let Some(transform) = &transform {
                    own.check_widths(transform.output_width())?;
                }
                method.load(&point, &own)
            };
            let loaded = (0..count).map(load).collect::<Result<Vec<_>>>()?;
            let width = transform.as_ref().map(Transform::output_width);
            if width.is_some() && loaded.iter().any(|p| p.width().is_some_and(|w| Some(w) != width)) {
                return Err(refuse("a member looks at other columns than its scaling gives"));
            }
            if loaded.iter().map(|p| p.outputs()).sum::<usize>() != weights.rows() {
                return Err(refuse("a member has another number of outputs"));
            }
            members.push(TransformedMember { transform, models: loaded });
        }
        let plain = members.iter().filter(|m| m.transform.is_none());
        let mut widths = plain.flat_map(|m| &m.models).filter_map(|p| p.width());
        let first = widths.next();
        if widths.any(|width| Some(width) != first) {
            return Err(refuse("its members look at different numbers of columns"));
        }
        Ok(CombinedModel { members, weights, biases, out_of_bag, regression })
    }
}

impl Predictor for CombinedModel {
    fn outputs(&self) -> usize {
        self.biases.len()
    }

    fn width(&self) -> Option<usize> {
        let plain = self.members.iter().filter(|m| m.transform.is_none());
        plain.flat_map(|m| &m.models).find_map(|p| p.width())
    }

    fn predict(&self, bags: &Bags, ctx: &Ctx) -> Result<Outputs> {
        let mut scores = Mat::new(bags.len(), self.outputs(), self.biases.repeat(bags.len()));
        for (m, member) in self.members.iter().enumerate() {
            let own = member.bags(bags, ctx)?;
            let mut first = 0;
            for model in &member.models {
                let found = model.predict(&own, ctx)?.scores;
                for b in 0..bags.len() {
                    for j in 0..found.cols() {
                        let (k, sum) = (first + j, scores.get(b, first + j));
                        scores.set(b, k, sum + self.weights.get(k, m) * found.get(b, j));
                    }
                }
                first += model.outputs();
            }
        }
        Ok(Outputs { scores, nearest: vec![None; bags.len()] })
    }

    fn explain(&self, bags: &Bags, ctx: &Ctx) -> Result<Vec<Vec<Explanation>>> {
        let mut all: Vec<Vec<(f64, Vec<f64>)>> = (0..bags.len())
            .map(|b| self.biases.iter().map(|&bias| (bias, vec![0.0; bags.rows(b).len()])).collect())
            .collect();
        for (m, member) in self.members.iter().enumerate() {
            let own = member.bags(bags, ctx)?;
            let mut first = 0;
            for model in &member.models {
                for (sums, explanations) in all.iter_mut().zip(model.explain(&own, ctx)?) {
                    for (j, explanation) in explanations.into_iter().enumerate() {
                        let weight = self.weights.get(first + j, m);
                        let (sum, parts) = &mut sums[first + j];
                        match explanation {
                            Explanation::Additive { bias, parts: own } => {
                                *sum += weight * bias;
                                parts.iter_mut().zip(own).for_each(|(p, o)| *p += weight * o);
                            }
                            // One instance decided for this member: its whole say is that instance's.
                            Explanation::Witness { outputs, chosen } => {
                                parts[chosen] += weight * outputs[chosen]
                            }
                        }
                    }
                }
                first += model.outputs();
            }
        }
        let explained = |(bias, parts)| Explanation::Additive { bias, parts };
        Ok(all.into_iter().map(|sums| sums.into_iter().map(explained).collect()).collect())
    }

    fn shared_intercepts(&self) -> Option<Vec<f64>> {
        let mut all = vec![0.0; self.biases.len()];
        let mut some = false;
        for (m, member) in self.members.iter().enumerate() {
            let mut first = 0;
            for model in &member.models {
                for (j, own) in model.shared_intercepts().into_iter().flatten().enumerate() {
                    all[first + j] += self.weights.get(first + j, m) * own;
                    some = true;
                }
                first += model.outputs();
            }
        }
        some.then_some(all)
    }

    fn out_of_bag(&self) -> &[f64] {
        &self.out_of_bag
    }

    fn save(&self) -> Result<State> {
        let mut state = State::default();
        state.put_mat("weights", &self.weights);
        state.put("biases", &self.biases);
        state.put_counts("regression", [usize::from(self.regression)]);
        state.put_counts("models", self.members.iter().map(|m| m.models.len()));
        if !self.out_of_bag.is_empty() {
            state.put("out_of_bag", &self.out_of_bag);
        }
        for (m, member) in self.members.iter().enumerate() {
            for (j, model) in member.models.iter().enumerate() {
                state.nest(&format!("{m}-{j}"), model.save()?);
            }
        }
        Ok(state)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A model of two members that have one rule each, on bags of this many columns.
    fn combined(widths: [usize; 2]) -> Result<CombinedModel> {
        let mut state = State::default();
        state.put_mat("weights", &Mat::new(1, 2, vec![0.5, 0.5]));
        state.put("biases", &[0.0]);
        state.put_counts("regression", [0]);
        state.put_counts("models", [1, 1]);
        for (m, width) in widths.into_iter().enumerate() {
            let mut rules = State::default();
            rules.put_counts("width", [width]);
            rules.put_counts("ends", [1]);
            rules.put_counts("attributes", [width - 1]);
            rules.put("cuts", &[0.0]);
            rules.put("below", &[-1.0]);
            rules.put("above", &[1.0]);
            state.nest(&format!("{m}-0"), rules);
        }
        CombinedModel::load(&state, |_| super::super::find("mi-boost").ok())
    }

    #[test]
    fn members_of_different_widths_are_refused() {
        assert_eq!(combined([3, 3]).unwrap().width(), Some(3));
        let why = combined([3, 5]).err().expect("the second would read beyond the columns").to_string();
        assert!(why.contains("different numbers of columns"), "{why}");
    }
}
