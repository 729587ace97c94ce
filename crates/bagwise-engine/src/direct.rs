//! Grams of weighted set kernels over instance kernels that the pairs engine does not know, summed as they are defined:
//!
//! ```text
//! Gram[X][Y] = sum over terms r, a in X, b in Y:  w_r(a) w_r(b) k(a, b)
//! ```
//!
//! for a linear kernel, a polynomial one, and the Gaussian of the distance for text. With a linear kernel the sum is the inner
//! product of the weighted sums of two bags: n d + bags^2 d multiply-adds, and no bag's similarity with itself is below 0.
//! The others cost n^2 d / 2 (n m d for a rectangle) and a power or an exponential for each pair and output, in plain
//! loops of double precision. Every entry is summed by one thread in one order.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::ops::Range;

use rayon::prelude::*;

use super::cells::Distance;
use super::cells::literal;
use super::layout::GramShape;
use super::pairs::{Side, check, mirror};
use super::plan::GramOutput;
use super::simd::dot;
use super::source::not_a_number;
use bagwise_core::{Csr, Ctx, Instances, Mat, Result};

/// A kernel of two instances.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum DirectKernel {
    /// The inner product.
    Linear,
    /// (inner product + 1)^degree.
    Polynomial {
        /// The power.
        degree: u32,
    },
    /// exp(-gamma * squared distance for text).
    Text {
        /// The width.
        gamma: f64,
    },
}

/// One Gram to compute.
#[derive(Clone, Debug, PartialEq)]
pub struct DirectOutput {
    /// The kernel of two instances.
    pub kernel: DirectKernel,
    /// The weight vectors whose sums are added.
    pub terms: Vec<usize>,
}

/// The Grams of one set of bags with itself: bags x bags, exactly symmetric, one per output.
pub fn symmetric(side: &Side, outputs: &[DirectOutput], ctx: &Ctx) -> Result<Vec<Mat>> {
    symmetric_rows(side, 0..side.offsets.len() - 1, outputs, ctx)
}

/// As [`pairs::symmetric_rows`](super::pairs::symmetric_rows).
pub fn symmetric_rows(
    side: &Side,
    part: Range<usize>,
    outputs: &[DirectOutput],
    ctx: &Ctx,
) -> Result<Vec<Mat>> {
    let mut grams = run(side, side, part, outputs, GramShape::Symmetric, ctx)?;
    grams.par_iter_mut().for_each(mirror);
    Ok(grams)
}

/// The Grams between two sets of bags: rows' bags x columns' bags, one per output.
pub fn rectangular(rows: &Side, cols: &Side, outputs: &[DirectOutput], ctx: &Ctx) -> Result<Vec<Mat>> {
    run(rows, cols, 0..rows.offsets.len() - 1, outputs, GramShape::Rectangular, ctx)
}

/// The similarity of every bag with itself, one vector per output: the diagonals of [`symmetric`].
pub fn self_similarity(side: &Side, outputs: &[DirectOutput], ctx: &Ctx) -> Result<Vec<Vec<f64>>> {
    let all = 0..side.offsets.len() - 1;
    Ok(run(side, side, all, outputs, GramShape::Diagonal, ctx)?.into_iter().map(Mat::into_data).collect())
}

fn run(
    rows: &Side,
    cols: &Side,
    part: Range<usize>,
    outputs: &[DirectOutput],
    shape: GramShape,
    ctx: &Ctx,
) -> Result<Vec<Mat>> {
    let as_pairs = |o: &DirectOutput| {
        let gamma = if let DirectKernel::Text { gamma } = o.kernel { gamma } else { 0.0 };
        GramOutput { gamma, terms: o.terms.clone() }
    };
    check(rows, cols, &outputs.iter().map(as_pairs).collect::<Vec<_>>())?;
    let (bags, width) = (rows.offsets.len() - 1, cols.offsets.len() - 1);
    let width = if shape == GramShape::Diagonal { 1 } else { width };
    ctx.reserve(
        "Gram matrices",
        (outputs.len() * bags * width * 8) as u64,
        "raise the memory budget, or use fewer widths at a time",
    )?;
    let sparse = [rows, cols].iter().all(|side| matches!(side.instances, Instances::Sparse(_)));
    let left = Rows::of(rows.instances, sparse, ctx)?;
    let same = std::ptr::eq(rows.instances, cols.instances);
    let right = if same { None } else { Some(Rows::of(cols.instances, sparse, ctx)?) };
    let right = right.as_ref().unwrap_or(&left);
    let mut grams: Vec<Option<Mat>> = vec![None; outputs.len()];
    let sums = DirectSums { rows, cols, shape, part, bags, width, ctx };
    for (o, output) in outputs.iter().enumerate() {
        if output.kernel == DirectKernel::Linear {
            grams[o] = Some(sums.linear(&left, right, &output.terms)?);
        }
    }
    for distance in [false, true] {
        let is_text = |o: &DirectOutput| matches!(o.kernel, DirectKernel::Text { .. });
        let here: Vec<usize> =
            (0..outputs.len()).filter(|&o| grams[o].is_none() && is_text(&outputs[o]) == distance).collect();
        let some: Vec<&DirectOutput> = here.iter().map(|&o| &outputs[o]).collect();
        for (o, gram) in here.into_iter().zip(sums.pairs(&left, right, &some, distance)?) {
            grams[o] = Some(gram);
        }
    }
    Ok(grams.into_iter().map(|g| g.expect("every kernel is one of three")).collect())
}

/// A whole call.
struct DirectSums<'a> {
    rows: &'a Side<'a>,
    cols: &'a Side<'a>,
    shape: GramShape,
    /// The bags whose rows are wanted.
    part: Range<usize>,
    bags: usize,
    /// Entries in a row of the Gram.
    width: usize,
    ctx: &'a Ctx,
}

impl DirectSums<'_> {
    /// Grams from what `entry` writes for two bags, one number per Gram.
    fn entries(&self, count: usize, entry: impl Fn(usize, usize, &mut [f64]) + Sync) -> Result<Vec<Mat>> {
        let row = |a: usize| {
            let bags = match self.shape {
                GramShape::Rectangular => 0..self.width,
                GramShape::Symmetric if self.part.contains(&a) => a..self.width,
                GramShape::Symmetric => a..a + 1,
                GramShape::Diagonal => a..a + 1,
            };
            let mut values = vec![0.0; count * bags.len()];
            for (b, values) in bags.clone().zip(values.chunks_exact_mut(count)) {
                self.ctx.check()?;
                entry(a, b, values);
            }
            Ok((if self.shape == GramShape::Diagonal { 0..1 } else { bags }, values))
        };
        let rows: Vec<(Range<usize>, Vec<f64>)> =
            (0..self.bags).into_par_iter().map(row).collect::<Result<_>>()?;
        let mut grams = vec![Mat::zeros(self.bags, self.width); count];
        for (a, (columns, values)) in rows.into_iter().enumerate() {
            for (b, values) in columns.zip(values.chunks_exact(count)) {
                grams.iter_mut().zip(values).for_each(|(gram, &value)| gram.set(a, b, value));
            }
        }
        Ok(grams)
    }

    fn linear(&self, left: &Rows<'_>, right: &Rows<'_>, terms: &[usize]) -> Result<Mat> {
        let bags = self.rows.offsets.len() + self.cols.offsets.len();
        self.ctx.reserve(
            "sums over the instances of bags",
            (8 * terms.len() * bags) as u64 * left.values_per_row(),
            "raise the memory budget",
        )?;
        let sums = |rows: &Rows<'_>, side: &Side| -> Vec<Rows<'static>> {
            terms.iter().map(|&t| rows.bag_sums(side.offsets, &side.weights[t])).collect()
        };
        let first = sums(left, self.rows);
        let second = (self.shape == GramShape::Rectangular).then(|| sums(right, self.cols));
        let second = second.as_ref().unwrap_or(&first);
        let entry = |a: usize, b: usize, out: &mut [f64]| {
            out[0] = first.iter().zip(second).map(|(x, z)| x.product(a, z, b)).sum();
        };
        Ok(self.entries(1, entry)?.remove(0))
    }

    fn pairs(
        &self,
        left: &Rows<'_>,
        right: &Rows<'_>,
        outputs: &[&DirectOutput],
        text: bool,
    ) -> Result<Vec<Mat>> {
        if outputs.is_empty() {
            return Ok(Vec::new());
        }
        let (rows, cols) = (self.rows, self.cols);
        let entry = |a: usize, b: usize, out: &mut [f64]| {
            for i in rows.offsets[a]..rows.offsets[a + 1] {
                for j in cols.offsets[b]..cols.offsets[b + 1] {
                    let value = if text { left.text(i, right, j) } else { left.product(i, right, j) };
                    for (output, out) in outputs.iter().zip(&mut *out) {
                        let k = match output.kernel {
                            DirectKernel::Linear => value,
                            DirectKernel::Polynomial { degree } => (value + 1.0).powi(degree as i32),
                            DirectKernel::Text { gamma } => (-gamma * value).exp(),
                        };
                        let weights = |&t: &usize| rows.weights[t][i] * cols.weights[t][j];
                        *out += k * output.terms.iter().map(weights).sum::<f64>();
                    }
                }
            }
        };
        self.entries(outputs.len(), entry)
    }
}

/// Rows in memory, in double precision.
pub(crate) enum Rows<'a> {
    Dense(Cow<'a, Mat>),
    Sparse(Cow<'a, Csr>),
}

impl<'a> Rows<'a> {
    /// Those of some instances; sparse ones are written out unless they are to stay.
    pub(crate) fn of(instances: &'a Instances, stay_sparse: bool, ctx: &Ctx) -> Result<Rows<'a>> {
        let rows = match instances {
            Instances::F64(m) => Rows::Dense(Cow::Borrowed(m)),
            Instances::Sparse(m) if stay_sparse => Rows::Sparse(Cow::Borrowed(m)),
            other => {
                ctx.reserve(
                    "a copy of the instances in double precision",
                    8 * (other.rows() * other.cols()) as u64,
                    "raise the memory budget, or use fewer bags",
                )?;
                let mut out = Mat::zeros(other.rows(), other.cols());
                other.each_row(0..other.rows(), |i, row| out.row_mut(i).copy_from_slice(row))?;
                Rows::Dense(Cow::Owned(out))
            }
        };
        let values = match &rows {
            Rows::Dense(m) => m.data(),
            Rows::Sparse(m) => m.values(),
        };
        if values.iter().any(|v| v.is_nan()) { Err(not_a_number()) } else { Ok(rows) }
    }

    fn values_per_row(&self) -> u64 {
        (match self {
            Rows::Dense(m) => m.cols(),
            Rows::Sparse(m) => 2 * m.nnz() / m.rows().max(1) + 1,
        }) as u64
    }

    /// The inner product of two rows.
    pub(crate) fn product(&self, i: usize, other: &Rows<'_>, j: usize) -> f64 {
        match (self, other) {
            (Rows::Dense(a), Rows::Dense(b)) => dot(a.row(i), b.row(j)),
            (Rows::Sparse(a), Rows::Sparse(b)) => sparse_dot(a.row(i), b.row(j)),
            _ => unreachable!("both sides are sparse or none"),
        }
    }

    /// The squared distance for text.
    pub(crate) fn text(&self, i: usize, other: &Rows<'_>, j: usize) -> f64 {
        match (self, other) {
            (Rows::Dense(a), Rows::Dense(b)) => literal::dense(Distance::Text, a.row(i), b.row(j)),
            (Rows::Sparse(a), Rows::Sparse(b)) => literal::sparse(Distance::Text, a.row(i), b.row(j)),
            _ => unreachable!("both sides are sparse or none"),
        }
    }

    /// The weighted sum of the rows of each bag.
    fn bag_sums(&self, offsets: &[usize], weights: &[f64]) -> Rows<'static> {
        let bags = offsets.windows(2).map(|w| w[0]..w[1]);
        match self {
            Rows::Dense(m) => {
                let mut sums = Mat::zeros(bags.len(), m.cols());
                for (b, rows) in bags.enumerate() {
                    for i in rows {
                        let of = sums.row_mut(b).iter_mut().zip(m.row(i));
                        of.for_each(|(sum, x)| *sum += weights[i] * x);
                    }
                }
                Rows::Dense(Cow::Owned(sums))
            }
            Rows::Sparse(m) => {
                let mut sums = Csr::empty(m.cols());
                for rows in bags {
                    let mut sum: BTreeMap<u32, f64> = BTreeMap::new();
                    for i in rows {
                        let (columns, values) = m.row(i);
                        let of = columns.iter().zip(values);
                        of.for_each(|(&c, x)| *sum.entry(c).or_default() += weights[i] * x);
                    }
                    sums.push_row(sum);
                }
                Rows::Sparse(Cow::Owned(sums))
            }
        }
    }
}

/// The inner product of two sparse rows.
fn sparse_dot(a: (&[u32], &[f64]), b: (&[u32], &[f64])) -> f64 {
    let (mut i, mut j, mut sum) = (0, 0, 0.0);
    while i < a.0.len() && j < b.0.len() {
        let (ca, cb) = (a.0[i], b.0[j]);
        if ca == cb {
            sum += a.1[i] * b.1[j];
        }
        i += usize::from(ca <= cb);
        j += usize::from(cb <= ca);
    }
    sum
}
