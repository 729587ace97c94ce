//! The ensemble that `auto` returns if it is better than a single method: a weighted sum of calibrated outputs. Each member
//! has its own scaling and parameters.
//!
//! With `s_m f_m + o_m` the log odds of member m (a sigmoid fitted to outputs of bags that it had not seen) and shares `w_m` that
//! add up to 1, the output is `sum over members of w_m (s_m f_m + o_m)`: linear in the outputs, and so are the parts of instances.
//! Numbers are not calibrated: `s_m = 1`, `o_m = 0`.
//!
//! Members and shares are found by `auto` from inner folds; this file knows how to answer by them, to save and to load. The method
//! here stands for such models where a name is looked up. It cannot be trained by name.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::members::{CombinedModel, TransformedMember};
use crate::method::{Explains, Info, MemoryEstimate, Method, Predictor, Prepared, Scope, State};
use crate::multiclass::Scheme;
use crate::params::{Grid, Kind, ParamSpec, Point, WhenUnset};
use crate::preprocess::{Scale, Transform};
use crate::state::refuse;
use bagwise_core::{Bags, Ctx, Error, Mat, Result};

/// The method, for [`find`](super::find) alone: lists of methods do not have it.
pub(super) static METHOD: Ensemble = Ensemble;

pub(super) struct Ensemble;

static INFO: Info = Info {
    name: "ensemble",
    title: "several methods that auto has chosen together",
    about: "A weighted sum of the calibrated outputs of several methods, each with its own scaling and parameters. The method auto \
            chooses the members and their shares.",
    reference: "Caruana, Niculescu-Mizil, Crew, Ksikes: Ensemble selection from libraries of models, ICML 2004",
    family: "ensemble of methods",
    scale: Scale::None,
    complexity: 80,
    explains: Explains::ByMembers("additive, where all members explain themselves"),
    scheme: Scheme::OneVsOne,
    over_methods: true,
    params: PARAMS,
    ..Info::USUAL
};

static PARAMS: &[ParamSpec] = &[ParamSpec::new(
    "members",
    Kind::Names { several: true },
    "simple-mi,mi-kernel",
    "The members, separated by commas, the largest share first.",
)];

/// A member, as the header of a model has it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct MemberHeader {
    /// The method.
    pub(crate) method: String,
    /// Its parameters.
    pub(crate) parameters: Point,
    /// Its medians, categories and scaling.
    pub(crate) transform: Transform,
    /// Its share, of 1.
    pub(crate) share: f64,
}

/// A trained member: its models, and the sigmoid (slope and offset) of each output.
pub(crate) struct TrainedMember {
    pub(crate) header: MemberHeader,
    pub(crate) models: Vec<Box<dyn Predictor>>,
    pub(crate) lines: Vec<(f64, f64)>,
}

/// The name under which such models are kept.
pub(crate) fn name() -> &'static str {
    INFO.name
}

/// What the header of a model says of its members in one line.
pub(crate) fn point(members: &[MemberHeader]) -> Result<Point> {
    let names: Vec<&str> = members.iter().map(|m| m.method.as_str()).collect();
    let given = [("members".to_string(), names.join(","))];
    Ok(Grid::new(INFO.name, PARAMS, &given, WhenUnset::Default, false)?.points.remove(0))
}

/// The sum of members that have the same outputs.
pub(crate) fn combine(members: Vec<TrainedMember>, regression: bool) -> Box<dyn Predictor> {
    let outputs = members[0].lines.len();
    let mut weights = Mat::zeros(outputs, members.len());
    let mut biases = vec![0.0; outputs];
    for (m, member) in members.iter().enumerate() {
        for (k, (slope, offset)) in member.lines.iter().enumerate() {
            weights.set(k, m, member.header.share * slope);
            biases[k] += member.header.share * offset;
        }
    }
    let members = members
        .into_iter()
        .map(|m| TransformedMember { transform: Some(m.header.transform), models: m.models })
        .collect();
    Box::new(CombinedModel::of(members, weights, biases, regression))
}

/// The sum again, from a file.
pub(crate) fn load(members: &[MemberHeader], state: &State) -> Result<Box<dyn Predictor>> {
    let shares: f64 = members.iter().map(|m| m.share).sum();
    if members.iter().any(|m| m.share.is_nan() || m.share <= 0.0) || (shares - 1.0).abs() > 1e-6 {
        return Err(refuse("the shares of its members do not add up to 1"));
    }
    let of = |m: usize| {
        let MemberHeader { method, parameters, transform, .. } = members.get(m)?;
        let method = super::find(method).ok().filter(|method| !method.info().over_methods)?;
        parameters.check(method.info().name, method.params()).ok()?;
        Some((method, parameters.clone(), Some(transform.clone())))
    };
    Ok(Box::new(CombinedModel::load_members(state, of)?))
}

impl Method for Ensemble {
    fn info(&self) -> &'static Info {
        &INFO
    }

    fn work(&self, _: &Bags, _: usize) -> f64 {
        0.0
    }

    fn needs(&self, _: &Bags) -> MemoryEstimate {
        MemoryEstimate::default()
    }

    fn prepare(&self, _: Arc<Bags>, _: &[Point], _: &Scope<'_>, _: &Ctx) -> Result<Box<dyn Prepared>> {
        Err(Error::Invalid(
            "an ensemble is what auto chooses; use auto, or stacking with members of yours".into(),
        ))
    }

    fn load(&self, _: &Point, _: &State) -> Result<Box<dyn Predictor>> {
        Err(refuse("its members are missing"))
    }
}
