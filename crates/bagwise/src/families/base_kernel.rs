//! The kernel of two instances that a set kernel sums over: its parameters, and which engine sums it.
//!
//! `rbf` is the Gaussian, with the Euclidean distance or the one for text; `linear` is the inner product; `poly` is
//! `(x . z + 1)^degree`. The pairs engine makes the Grams of all Gaussians of a grid in one pass; the other kernels
//! are summed by their definition (`bagwise_engine::direct`). The Gaussian of the distance for text need not be positive definite,
//! because that distance is no metric; the solver copes, and every similarity is positive.

use std::ops::Range;

use crate::params::{Kind, ParamSpec, Point, index_in};
use crate::preprocess::Scale;
use bagwise_core::{Ctx, Error, Mat, Message, Result, Setting};
use bagwise_engine::cells::Distance;
use bagwise_engine::direct::{self, DirectKernel, DirectOutput};
use bagwise_engine::{GramOutput, Side};

/// Which kernel.
pub(crate) const KERNEL: ParamSpec = ParamSpec::new(
    "kernel",
    Kind::Word(&["rbf", "linear", "poly"]),
    "rbf",
    "Instance kernel: rbf, the Gaussian exp(-gamma |x - z|^2); linear, x . z; or poly, (x . z + 1)^degree.",
);

/// The power of the polynomial.
pub(crate) const DEGREE: ParamSpec = ParamSpec::new(
    "degree",
    Kind::Whole { least: 1, most: 10, words: &[] },
    "2",
    "Degree of the poly kernel; other kernels ignore it.",
)
.only_with("kernel", &["poly"]);

/// The distance inside the Gaussian.
pub(crate) const DISTANCE: ParamSpec = ParamSpec::new(
    "distance",
    Kind::Word(&["euclidean", "text"]),
    "euclidean",
    "Distance between two instances: euclidean, or text, the mean squared difference over the attributes that are \
     nonzero in at least one of the two. text requires kernel rbf and scaling none or maxabs.",
)
.only_with("kernel", &["rbf"]);

/// A kernel of two instances, but for its width.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum BaseKernel {
    Gaussian(Distance),
    Linear,
    Polynomial(u32),
}

impl BaseKernel {
    /// By [`KERNEL`] and [`DEGREE`], and by [`DISTANCE`] where the table has it. The Gaussian where it has none of them.
    pub(crate) fn read(point: &Point) -> Result<BaseKernel> {
        let distance = distance(point)?;
        if !point.has(KERNEL.name) {
            return Ok(BaseKernel::Gaussian(distance));
        }
        let degree = point.number(DEGREE.name)? as u32;
        let kernels = [
            ("rbf", BaseKernel::Gaussian(distance)),
            ("linear", BaseKernel::Linear),
            ("poly", BaseKernel::Polynomial(degree)),
        ];
        point.choice(KERNEL.name, &kernels)
    }

    /// The distance of two instances.
    pub(crate) fn distance(self) -> Distance {
        if let BaseKernel::Gaussian(distance) = self { distance } else { Distance::Euclidean }
    }

    /// The kernel with its width, for plain sums; nothing for what the pairs engine sums.
    fn direct(self, gamma: f64) -> Option<DirectKernel> {
        match self {
            BaseKernel::Gaussian(Distance::Euclidean) => None,
            BaseKernel::Gaussian(Distance::Text) => Some(DirectKernel::Text { gamma }),
            BaseKernel::Linear => Some(DirectKernel::Linear),
            BaseKernel::Polynomial(degree) => Some(DirectKernel::Polynomial { degree }),
        }
    }
}

/// The distance that a point asks for. Tables of other families have other distances under this name.
fn distance(point: &Point) -> Result<Distance> {
    let words = [("euclidean", Distance::Euclidean), ("text", Distance::Text)];
    if point.has(DISTANCE.name) { point.choice(DISTANCE.name, &words) } else { Ok(Distance::Euclidean) }
}

/// Whether some points take zeros for absent words.
pub(crate) fn is_text(points: &[Point]) -> bool {
    points.iter().any(|p| distance(p).is_ok_and(|d| d == Distance::Text))
}

/// An error if these points do not allow a scaling: the distance for text needs zeros to stay zeros.
pub(crate) fn refuses_scaling(points: &[Point], scale: Scale) -> Option<Error> {
    (is_text(points) && matches!(scale, Scale::ZScore | Scale::MinMax)).then(|| {
        Error::refused(
            format!("scaling {} changes zeros, which mean absent words for distance=text", scale.name()),
            Message::from("choose a scaling that keeps zeros at 0")
                .with([Setting::Scale(&["none", "maxabs"])]),
        )
    })
}

/// Why a distance has no meaning for the kernel of some points, if it has none.
pub(crate) fn refuses_distance(method: &str, points: &[Point]) -> Option<Error> {
    let idle = |p: &&Point| {
        distance(p).is_ok_and(|d| d == Distance::Text)
            && BaseKernel::read(p).is_ok_and(|k| k.distance() != Distance::Text)
    };
    let kernel = points.iter().find(idle)?.word(KERNEL.name).unwrap_or_default().to_string();
    let problem = format!("distance=text requires kernel=rbf; kernel={kernel} uses inner products");
    Some(Error::param(method, DISTANCE.name, problem))
}

/// One weighted sum over pairs of instances.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct WeightedSum {
    pub(crate) kernel: BaseKernel,
    pub(crate) gamma: f64,
    /// The weight vectors whose sums are added.
    pub(crate) terms: Vec<usize>,
}

impl WeightedSum {
    /// Its place in a list. Sums that do not depend on a width are the same at any.
    pub(crate) fn place(self, list: &mut Vec<WeightedSum>) -> usize {
        let whole = |s: &WeightedSum| (s.kernel.direct(s.gamma), s.terms.clone());
        let same = |a: &WeightedSum, b: &WeightedSum| {
            whole(a) == whole(b) && (a.gamma == b.gamma || a.kernel.direct(a.gamma).is_some())
        };
        index_in(list, self, same)
    }
}

/// The sums of bags with each other, as far as `part` is concerned ([`Scope::rows`](crate::method::Scope::rows)); one matrix for
/// each.
pub(crate) fn own_sums(
    side: &Side<'_>,
    part: &Range<usize>,
    wanted: &[WeightedSum],
    ctx: &Ctx,
) -> Result<Vec<Mat>> {
    by_engine(
        wanted,
        |outputs| bagwise_engine::symmetric_rows(side, part.clone(), outputs, ctx.precision, ctx),
        |outputs| direct::symmetric_rows(side, part.clone(), outputs, ctx),
        |gram| gram.data(),
    )
}

/// The sums of bags with those of another side; one matrix for each.
pub(crate) fn sums(rows: &Side<'_>, cols: &Side<'_>, wanted: &[WeightedSum], ctx: &Ctx) -> Result<Vec<Mat>> {
    by_engine(
        wanted,
        |outputs| bagwise_engine::rectangular(rows, cols, outputs, ctx.precision, ctx),
        |outputs| direct::rectangular(rows, cols, outputs, ctx),
        |gram| gram.data(),
    )
}

/// The sums of each bag with itself.
pub(crate) fn self_sums(side: &Side<'_>, wanted: &[WeightedSum], ctx: &Ctx) -> Result<Vec<Vec<f64>>> {
    by_engine(
        wanted,
        |outputs| bagwise_engine::self_similarity(side, outputs, ctx),
        |outputs| direct::self_similarity(side, outputs, ctx),
        |own| own,
    )
}

/// Gives every sum to its engine and puts the results in order; an error if one is beyond all numbers.
fn by_engine<R>(
    wanted: &[WeightedSum],
    gaussian: impl Fn(&[GramOutput]) -> Result<Vec<R>>,
    direct: impl Fn(&[DirectOutput]) -> Result<Vec<R>>,
    values: impl Fn(&R) -> &[f64],
) -> Result<Vec<R>> {
    let (mut pairs, mut others) = (Vec::new(), Vec::new());
    for WeightedSum { kernel, gamma, terms } in wanted {
        let terms = terms.clone();
        match kernel.direct(*gamma) {
            None => pairs.push(GramOutput { gamma: *gamma, terms }),
            Some(kernel) => others.push(DirectOutput { kernel, terms }),
        }
    }
    let mut pairs = if pairs.is_empty() { Vec::new() } else { gaussian(&pairs)? }.into_iter();
    let others = if others.is_empty() { Vec::new() } else { direct(&others)? };
    if others.iter().flat_map(values).any(|v| !v.is_finite()) {
        return Err(Error::refused(
            "the kernel of some instances is not a finite number",
            Message::from("scale the columns").with([Setting::Scale(&["minmax", "zscore"])]),
        ));
    }
    let mut others = others.into_iter();
    let next = |s: &WeightedSum| match s.kernel.direct(s.gamma) {
        None => pairs.next(),
        Some(_) => others.next(),
    };
    Ok(wanted.iter().map(next).map(|r| r.expect("one for each")).collect())
}
