//! Codebooks: training instances are divided into groups, and a bag becomes sums over its instances group by group.
//!
//! Instances are sent to principal axes (or not), k-means divides them, a mixture of Gaussians may follow from there; see
//! `bagwise_engine::{axes, clusters, mixture}`. An instance x adds `phi(x)` to its bag ([`Summary`]), and the sums are
//! normalised ([`VectorNorm`]). So the part of x in an output `w u` is, coordinate by coordinate, `w_j u_j phi_j(x) / sum phi_j`:
//! parts add up exactly. Where addends cancel, and shares would be large and of both signs, all instances have the same.
//!
//! Nothing is learned from labels. Points with the same axes share them and the coordinates of instances. Linear in instances;
//! of more than 200,000 training instances so many are drawn by the seed to learn from.

mod cost;

use std::borrow::Cow;
use std::ops::Range;
use std::sync::Arc;

use rayon::prelude::*;

use cost::{axes_work, grouping_work};
pub(crate) use cost::{learning_memory, learning_work};

use crate::families::embedding::Embedding;
use crate::method::{MemoryEstimate, Scope, State};
use crate::params::{Grid, Kind, ParamSpec, Point};
use crate::state::refuse;
use bagwise_core::{Bags, Ctx, Error, Instances, Mat, Message, Result, Rng};
use bagwise_engine::axes::{AllAxes, Axes};
use bagwise_engine::cells::MOST_CENTRES;
use bagwise_engine::clusters::{CentroidFinder, Centroids, KMeans, plus_plus};
use bagwise_engine::dot;
use bagwise_engine::mixture::{Mixture, MixtureSums};

/// Groups of instances.
pub(crate) const CENTRES: ParamSpec = ParamSpec::new(
    "centres",
    Kind::Whole { least: 1, most: MOST_CENTRES as u32, words: &[] },
    "2",
    "Number of clusters of training instances; fewer if there are fewer distinct instances.",
);

/// The share of the variance that is kept.
pub(crate) const ENERGY: ParamSpec = ParamSpec::new(
    "energy",
    Kind::Fraction,
    "9/10",
    "Share of the variance of training instances that the kept principal components explain; 1 keeps all of them.",
)
.grid("1,9/10,8/10");

/// What becomes of the sums of a bag.
pub(crate) const NORM: ParamSpec = ParamSpec::new(
    "norm",
    Kind::Word(&["power", "none"]),
    "power",
    "Normalisation of the bag vector: power takes signed square roots and scales to length 1, so that the size of a \
     bag does not matter; none changes nothing.",
);

/// Steps of learning.
pub(crate) const ITERATIONS: ParamSpec = ParamSpec::new(
    "iterations",
    Kind::Whole { least: 1, most: 10_000, words: &[] },
    "100",
    "Maximum number of iterations of k-means, and of expectation maximisation.",
);

/// Steps where a method has no parameter for them.
pub(crate) const USUAL_ITERATIONS: usize = 100;

/// Training instances that codebooks are learned from at most.
pub(crate) const MOST_INSTANCES: usize = 200_000;

/// Rows of a bag that are looked at together.
const BLOCK: usize = 512;

/// Addends cancel if their sum is no more than this share of the sum of their sizes.
const CANCELLED: f64 = 1e-3;

/// How a codebook is learned.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct CodebookParams {
    pub(crate) centres: usize,
    /// The share of the variance that axes keep; nothing where instances stay as they are.
    pub(crate) energy: Option<(u32, u32)>,
    /// A mixture of Gaussians follows k-means.
    pub(crate) mixture: bool,
    pub(crate) iterations: usize,
}

/// What was learned.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Codebook {
    axes: Option<Arc<Axes>>,
    groups: InstanceClusters,
}

#[derive(Clone, Debug, PartialEq)]
enum InstanceClusters {
    Centres(Centroids),
    Mixture(Mixture),
}

/// The training instances, or this many of them, in memory.
pub(crate) fn training_sample<'a>(bags: &'a Bags, train: &[usize], ctx: &Ctx) -> Result<Cow<'a, Instances>> {
    let mut rows: Vec<usize> = train.iter().flat_map(|&b| bags.rows(b)).collect();
    if rows.len() > MOST_INSTANCES {
        let mut drawn = Rng::new(ctx.seed, "codebook", &[]).sample(rows.len(), MOST_INSTANCES);
        drawn.sort_unstable();
        rows = drawn.into_iter().map(|i| rows[i]).collect();
    }
    let here = !matches!(bags.instances(), Instances::Stored(_));
    if here && rows.len() == bags.instance_count() && rows.is_sorted() {
        return Ok(Cow::Borrowed(bags.instances()));
    }
    let number = if bags.instances().is_single() { 4.0 } else { 8.0 };
    ctx.reserve(
        "the instances that a codebook is learned from",
        (number * rows.len() as f64 * bags.values_per_instance()) as u64,
        Message::more_memory(),
    )?;
    Ok(Cow::Owned(bags.instances().gather(&rows).in_memory()?))
}

/// Codebooks from the training bags, one for each wanted.
pub(crate) fn learn_codebooks(
    wanted: &[CodebookParams],
    bags: &Bags,
    scope: &Scope<'_>,
    ctx: &Ctx,
) -> Result<Vec<Arc<Codebook>>> {
    let sample = training_sample(bags, scope.train, ctx)?;
    let mut all_axes = None;
    let mut found: Vec<Option<Arc<Codebook>>> = vec![None; wanted.len()];
    let mut done = 0;
    while let Some(first) = found.iter().position(Option::is_none) {
        let energy = wanted[first].energy;
        let axes = match energy {
            None => None,
            Some((numerator, denominator)) => {
                let all = match &mut all_axes {
                    Some(all) => all,
                    none => none.insert(AllAxes::of(&sample, ctx)?),
                };
                Some(Arc::new(all.with_share(f64::from(numerator) / f64::from(denominator))))
            }
        };
        let projected = match &axes {
            None => None,
            Some(axes) => {
                let bytes = 8 * (sample.rows() * axes.count()) as u64;
                ctx.reserve("the instances on their axes", bytes, Message::more_memory())?;
                Some(Instances::F64(axes.project(&sample, 0..sample.rows(), ctx)?))
            }
        };
        let points: &Instances = projected.as_ref().unwrap_or(&sample);
        for i in (first..wanted.len()).filter(|&i| wanted[i].energy == energy) {
            ctx.progress.step("codebooks", done, wanted.len() as u64);
            done += 1;
            let groups = learn_groups(points, &wanted[i], ctx)?;
            found[i] = Some(Arc::new(Codebook { axes: axes.clone(), groups }));
        }
    }
    Ok(found.into_iter().flatten().collect())
}

fn learn_groups(points: &Instances, wanted: &CodebookParams, ctx: &Ctx) -> Result<InstanceClusters> {
    let mut rng = Rng::new(ctx.seed, "kmeans", &[wanted.centres as u64, 0]);
    let start = plus_plus(points, wanted.centres, &mut rng, ctx)?;
    let clusters = KMeans::fit(points, start, wanted.iterations, ctx)?;
    if !wanted.mixture {
        return Ok(InstanceClusters::Centres(clusters.centroids));
    }
    let Instances::F64(points) = points else { unreachable!("mixtures are of coordinates on axes") };
    let count = clusters.centroids.centres().rows();
    let (mixture, _) = Mixture::fit(points, &clusters.assignment, count, wanted.iterations, ctx)?;
    // What stands for less than one instance says nothing of others.
    Ok(InstanceClusters::Mixture(mixture.without_components_below(1.0 / points.rows() as f64)))
}

/// What an instance adds to its bag.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Summary {
    /// 1 to its group, or its posteriors to all.
    Shares,
    /// Its difference from its nearest centre.
    Differences,
    /// The gradient of its log likelihood by means and deviations, in units of its expected size.
    Gradients,
}

/// What becomes of the sums of a bag.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum VectorNorm {
    /// Nothing.
    None,
    /// Signed roots, then length 1.
    Roots,
    /// Shares to this power, then length 1.
    Power(f64),
    /// 1 where there is anything.
    Bits,
}

/// A way from bags to vectors, and what was learned for it.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct CodebookMap {
    pub(crate) params: CodebookParams,
    pub(crate) summary: Summary,
    pub(crate) norm: VectorNorm,
    /// Nothing before it is learned.
    pub(crate) learned: Option<Arc<Codebook>>,
}

impl CodebookMap {
    /// On principal axes, with the parameters [`CENTRES`], [`ENERGY`], [`NORM`] and [`ITERATIONS`].
    pub(crate) fn on_axes(point: &Point, summary: Summary) -> Result<CodebookMap> {
        let params = CodebookParams {
            centres: point.number(CENTRES.name)? as usize,
            energy: Some(point.fraction(ENERGY.name)?),
            mixture: summary == Summary::Gradients,
            iterations: point.number(ITERATIONS.name)? as usize,
        };
        let norm = point.choice(NORM.name, &[("power", VectorNorm::Roots), ("none", VectorNorm::None)])?;
        Ok(CodebookMap { params, summary, norm, learned: None })
    }
}

impl VectorNorm {
    /// The vector of a bag of this many instances.
    fn apply(self, summary: Summary, mut sums: Vec<f64>, size: usize) -> Vec<f64> {
        if summary != Summary::Differences {
            sums.iter_mut().for_each(|s| *s /= size as f64);
        }
        match self {
            VectorNorm::None => return sums,
            VectorNorm::Bits => {
                sums.iter_mut().for_each(|s| *s = f64::from(u8::from(*s > 0.0)));
                return sums;
            }
            VectorNorm::Roots => sums.iter_mut().for_each(|s| *s = s.signum() * s.abs().sqrt()),
            // Nothing stays nothing, also to the power 0.
            VectorNorm::Power(p) => sums.iter_mut().filter(|s| **s > 0.0).for_each(|s| *s = s.powf(p)),
        }
        let length = dot(&sums, &sums).sqrt();
        if length > 0.0 {
            sums.iter_mut().for_each(|s| *s /= length);
        }
        sums
    }
}

impl Codebook {
    /// Columns of the bags.
    pub(crate) fn width(&self) -> usize {
        match (&self.axes, &self.groups) {
            (Some(axes), _) => axes.mean().len(),
            (None, InstanceClusters::Centres(centroids)) => centroids.centres().cols(),
            (None, InstanceClusters::Mixture(mixture)) => mixture.means().cols(),
        }
    }

    /// Number of groups.
    pub(crate) fn count(&self) -> usize {
        match &self.groups {
            InstanceClusters::Centres(centroids) => centroids.centres().rows(),
            InstanceClusters::Mixture(mixture) => mixture.weights().len(),
        }
    }

    pub(crate) fn save(&self, state: &mut State) {
        if let Some(axes) = &self.axes {
            state.put("mean", axes.mean());
            state.put_mat("axes", axes.directions());
        }
        match &self.groups {
            InstanceClusters::Centres(centroids) => state.put_mat("centres", centroids.centres()),
            InstanceClusters::Mixture(mixture) => {
                state.put("weights", mixture.weights());
                state.put_mat("means", mixture.means());
                state.put_mat("variances", mixture.variances());
            }
        }
    }

    pub(crate) fn load(params: &CodebookParams, state: &State) -> Result<Codebook> {
        let refused = |e: Error| refuse(e.to_string());
        let axes = match params.energy {
            None => None,
            Some(_) => {
                let directions = state.mat("axes")?;
                let mean = state.vector("mean", directions.cols())?;
                Some(Arc::new(Axes::new(mean, directions).map_err(refused)?))
            }
        };
        let groups = match params.mixture {
            false => InstanceClusters::Centres(Centroids::new(state.mat("centres")?).map_err(refused)?),
            true => {
                let (means, variances) = (state.mat("means")?, state.mat("variances")?);
                let weights = state.vector("weights", means.rows())?;
                InstanceClusters::Mixture(Mixture::new(weights, means, variances).map_err(refused)?)
            }
        };
        let codebook = Codebook { axes, groups };
        let inside = match &codebook.groups {
            InstanceClusters::Centres(centroids) => centroids.centres().cols(),
            InstanceClusters::Mixture(mixture) => mixture.means().cols(),
        };
        if codebook.axes.as_ref().is_some_and(|axes| axes.count() != inside)
            || codebook.count() > params.centres
        {
            return Err(refuse("its axes and groups are inconsistent"));
        }
        Ok(codebook)
    }
}

/// A map that is ready for bags.
pub(crate) struct Summariser<'a> {
    codebook: &'a Codebook,
    summary: Summary,
    norm: VectorNorm,
    finder: Option<CentroidFinder<'a>>,
}

impl<'a> Summariser<'a> {
    pub(crate) fn new(
        codebook: &'a Codebook,
        summary: Summary,
        norm: VectorNorm,
        ctx: &Ctx,
    ) -> Result<Summariser<'a>> {
        let finder = match &codebook.groups {
            InstanceClusters::Centres(centroids) => Some(centroids.finder(ctx)?),
            InstanceClusters::Mixture(_) => None,
        };
        Ok(Summariser { codebook, summary, norm, finder })
    }

    /// Coordinates of a vector.
    pub(crate) fn length(&self) -> usize {
        match (self.summary, &self.codebook.groups) {
            (Summary::Differences, InstanceClusters::Centres(centroids)) => centroids.centres().data().len(),
            (Summary::Gradients, InstanceClusters::Mixture(mixture)) => 2 * mixture.means().data().len(),
            _ => self.codebook.count(),
        }
    }

    /// Adds what some points add to their bag.
    fn add(&self, points: &Instances, rows: Range<usize>, sums: &mut [f64], ctx: &Ctx) -> Result<()> {
        match (&self.codebook.groups, &self.finder, self.summary) {
            (InstanceClusters::Centres(centroids), Some(finder), summary) => {
                let nearest = finder.nearest(points, rows.clone(), ctx)?;
                if summary == Summary::Shares {
                    nearest.iter().for_each(|&c| sums[c as usize] += 1.0);
                    return Ok(());
                }
                let centres = centroids.centres();
                points.each_row(rows.clone(), |row, x| {
                    let c = nearest[row - rows.start] as usize;
                    let to = &mut sums[c * centres.cols()..(c + 1) * centres.cols()];
                    to.iter_mut().zip(x.iter().zip(centres.row(c))).for_each(|(t, (x, c))| *t += x - c);
                })
            }
            (InstanceClusters::Mixture(mixture), _, Summary::Gradients) => {
                let mut own = MixtureSums::zeros(mixture.weights().len(), mixture.means().cols());
                mixture.add_to(&values(points, rows), &mut own);
                sums.iter_mut().zip(mixture.gradient(&own)).for_each(|(s, g)| *s += g);
                Ok(())
            }
            (InstanceClusters::Mixture(mixture), ..) => {
                let posteriors = mixture.posteriors(&values(points, rows));
                for i in 0..posteriors.rows() {
                    sums.iter_mut().zip(posteriors.row(i)).for_each(|(s, g)| *s += g);
                }
                Ok(())
            }
            (InstanceClusters::Centres(_), None, _) => unreachable!("centres come with a finder"),
        }
    }

    /// What each of some points adds, points x coordinates.
    pub(crate) fn addends(&self, points: &Instances, rows: Range<usize>, ctx: &Ctx) -> Result<Mat> {
        let mut all = Mat::zeros(rows.len(), self.length());
        match (&self.codebook.groups, self.summary) {
            (InstanceClusters::Mixture(mixture), Summary::Shares) => {
                all = mixture.posteriors(&values(points, rows));
            }
            _ => {
                for (i, row) in rows.enumerate() {
                    self.add(points, row..row + 1, all.row_mut(i), ctx)?;
                }
            }
        }
        Ok(all)
    }
}

/// Dense values of coordinates on axes.
fn values(points: &Instances, rows: Range<usize>) -> Cow<'_, [f64]> {
    match points {
        Instances::F64(m) => Cow::Borrowed(&m.data()[rows.start * m.cols()..rows.end * m.cols()]),
        _ => unreachable!("mixtures are of coordinates on axes"),
    }
}

/// Calls `each(summariser, points, rows)` for blocks of some rows, on the axes of each summariser; the same axes are asked
/// once.
pub(crate) fn each_block(
    bags: &Bags,
    rows: Range<usize>,
    summarisers: &[Summariser<'_>],
    ctx: &Ctx,
    mut each: impl FnMut(usize, &Instances, Range<usize>) -> Result<()>,
) -> Result<()> {
    for first in rows.clone().step_by(BLOCK) {
        ctx.check()?;
        let here = first..(first + BLOCK).min(rows.end);
        let mut projected: Vec<(&Arc<Axes>, Instances)> = Vec::new();
        for (s, summariser) in summarisers.iter().enumerate() {
            let Some(axes) = &summariser.codebook.axes else {
                each(s, bags.instances(), here.clone())?;
                continue;
            };
            let known = projected.iter().position(|(other, _)| Arc::ptr_eq(other, axes));
            let known = match known {
                Some(known) => known,
                None => {
                    let points = axes.project(bags.instances(), here.clone(), ctx)?;
                    projected.push((axes, Instances::F64(points)));
                    projected.len() - 1
                }
            };
            each(s, &projected[known].1, 0..here.len())?;
        }
    }
    Ok(())
}

/// The vectors of all bags, for each summariser.
pub(crate) fn summarise(bags: &Bags, summarisers: &[Summariser<'_>], ctx: &Ctx) -> Result<Vec<Mat>> {
    let of_bag = |b: usize| -> Result<Vec<Vec<f64>>> {
        let mut sums: Vec<Vec<f64>> = summarisers.iter().map(|s| vec![0.0; s.length()]).collect();
        each_block(bags, bags.rows(b), summarisers, ctx, |s, points, rows| {
            summarisers[s].add(points, rows, &mut sums[s], ctx)
        })?;
        let size = bags.rows(b).len();
        Ok(summarisers.iter().zip(sums).map(|(s, sums)| s.norm.apply(s.summary, sums, size)).collect())
    };
    let rows = (0..bags.len()).into_par_iter().map(of_bag).collect::<Result<Vec<_>>>()?;
    let mut all: Vec<Mat> = summarisers.iter().map(|s| Mat::zeros(bags.len(), s.length())).collect();
    for (b, vectors) in rows.into_iter().enumerate() {
        all.iter_mut().zip(vectors).for_each(|(all, vector)| all.row_mut(b).copy_from_slice(&vector));
    }
    Ok(all)
}

/// The part of each instance in the inner products of its bag's vector with the rows of `weights`, instances x rows.
pub(crate) fn parts(bags: &Bags, summariser: &Summariser<'_>, weights: &Mat, ctx: &Ctx) -> Result<Mat> {
    if weights.cols() != summariser.length() {
        return Err(refuse(format!("{} weights for {} coordinates", weights.cols(), summariser.length())));
    }
    let one = std::slice::from_ref(summariser);
    let of_bag = |b: usize| -> Result<Mat> {
        let rows = bags.rows(b);
        let (mut sums, mut sizes) = (vec![0.0; weights.cols()], vec![0.0; weights.cols()]);
        // As the vector is made elsewhere: roots of what all but cancels are sensitive to the order of sums.
        let mut whole = vec![0.0; weights.cols()];
        each_block(bags, rows.clone(), one, ctx, |_, points, rows| {
            summariser.add(points, rows.clone(), &mut whole, ctx)?;
            let addends = summariser.addends(points, rows, ctx)?;
            for i in 0..addends.rows() {
                let both = sums.iter_mut().zip(&mut sizes).zip(addends.row(i));
                both.for_each(|((sum, size), phi)| (*sum, *size) = (*sum + phi, *size + phi.abs()));
            }
            Ok(())
        })?;
        let vector = summariser.norm.apply(summariser.summary, whole, rows.len());
        // For each row of weights: what a unit of an addend is worth, and what all instances share.
        let mut worth = Mat::zeros(weights.rows(), weights.cols());
        let mut shared = vec![0.0; weights.rows()];
        for k in 0..weights.rows() {
            for (j, (w, u)) in weights.row(k).iter().zip(&vector).enumerate() {
                let unit = w * u / sums[j];
                // Nor can the smallest numbers there are be divided by.
                if sums[j].abs() <= CANCELLED * sizes[j] || !unit.is_finite() {
                    shared[k] += w * u / rows.len() as f64;
                } else {
                    worth.set(k, j, unit);
                }
            }
        }
        let mut parts = Mat::zeros(rows.len(), weights.rows());
        let mut at = 0;
        each_block(bags, rows, one, ctx, |_, points, rows| {
            let addends = summariser.addends(points, rows, ctx)?;
            for i in 0..addends.rows() {
                for k in 0..weights.rows() {
                    parts.set(at + i, k, shared[k] + dot(worth.row(k), addends.row(i)));
                }
            }
            at += addends.rows();
            Ok(())
        })?;
        Ok(parts)
    };
    let bags_parts = (0..bags.len()).into_par_iter().map(of_bag).collect::<Result<Vec<_>>>()?;
    let data = bags_parts.into_iter().flat_map(Mat::into_data).collect();
    Ok(Mat::new(bags.instance_count(), weights.rows(), data))
}

/// A method whose vectors come from a codebook.
#[derive(Clone, Copy)]
pub(crate) struct CodebookEmbedding {
    pub(crate) read: fn(&Point) -> Result<CodebookMap>,
    /// Centres of the usual grid, and whether instances are sent to axes.
    pub(crate) usual: (f64, bool),
    /// Numbers of a vector for each centre and column, as memory is estimated.
    pub(crate) numbers: fn(centres: f64, width: usize) -> f64,
}

impl CodebookEmbedding {
    fn summariser<'a>(&self, map: &'a CodebookMap, ctx: &Ctx) -> Result<Summariser<'a>> {
        let codebook = map.learned.as_deref().expect("codebooks are learned before bags are mapped");
        Summariser::new(codebook, map.summary, map.norm, ctx)
    }
}

impl Embedding for CodebookEmbedding {
    type Params = CodebookMap;

    fn read(&self, point: &Point) -> Result<CodebookMap> {
        (self.read)(point)
    }

    fn is_linear(&self, _: &Point) -> Result<bool> {
        Ok(true)
    }

    fn admits(&self, point: &Point, instances: usize) -> bool {
        (self.read)(point).is_ok_and(|map| map.params.centres <= instances)
    }

    fn work(&self, bags: &Bags, representations: usize) -> f64 {
        let (centres, on_axes) = self.usual;
        let n = bags.len() as f64;
        let products = n * n * (self.numbers)(centres, bags.width()) * representations as f64;
        learning_work(bags, representations, centres, on_axes) + products
    }

    fn work_for(&self, bags: &Bags, grid: &Grid) -> f64 {
        let read = |group: &Vec<usize>| (self.read)(&grid.points[group[0]]).ok();
        let maps: Vec<CodebookMap> = grid.groups.iter().filter_map(read).collect();
        let one = |map: &CodebookMap| {
            let CodebookParams { centres, energy, mixture, .. } = map.params;
            let centres = centres as f64;
            let products = (bags.len() as f64).powi(2) * (self.numbers)(centres, bags.width());
            grouping_work(bags, centres, energy.is_some(), mixture) + products
        };
        let axes = if maps.iter().any(|map| map.params.energy.is_some()) { axes_work(bags) } else { 0.0 };
        axes + maps.iter().map(one).sum::<f64>()
    }

    fn needs_besides(&self, bags: &Bags) -> MemoryEstimate {
        let (centres, on_axes) = self.usual;
        // Vectors as they are made, as they are kept, and laid out for products.
        let vectors = 3.0 * 8.0 * bags.len() as f64 * (self.numbers)(centres, bags.width());
        MemoryEstimate { fixed: learning_memory(bags, on_axes), each: vectors as u64 }
    }

    fn learn_all(&self, maps: &mut [CodebookMap], bags: &Bags, scope: &Scope<'_>, ctx: &Ctx) -> Result<()> {
        let wanted: Vec<CodebookParams> = maps.iter().map(|map| map.params).collect();
        let learned = learn_codebooks(&wanted, bags, scope, ctx)?;
        maps.iter_mut().zip(learned).for_each(|(map, learned)| map.learned = Some(learned));
        Ok(())
    }

    fn vectors(&self, map: &CodebookMap, bags: &Bags, ctx: &Ctx) -> Result<Mat> {
        Ok(summarise(bags, &[self.summariser(map, ctx)?], ctx)?.remove(0))
    }

    fn vectors_of_all(&self, maps: &[CodebookMap], bags: &Bags, ctx: &Ctx) -> Result<Vec<Mat>> {
        let ready = maps.iter().map(|map| self.summariser(map, ctx)).collect::<Result<Vec<_>>>()?;
        summarise(bags, &ready, ctx)
    }

    fn columns(&self, map: &CodebookMap, _: usize) -> usize {
        map.learned.as_ref().map_or(0, |codebook| codebook.width())
    }

    fn weighted_parts(
        &self,
        map: &CodebookMap,
        weights: &Mat,
        bags: &Bags,
        ctx: &Ctx,
    ) -> Result<Option<Mat>> {
        parts(bags, &self.summariser(map, ctx)?, weights, ctx).map(Some)
    }

    fn save(&self, map: &CodebookMap, state: &mut State) {
        let mut own = State::default();
        if let Some(codebook) = &map.learned {
            codebook.save(&mut own);
        }
        state.nest("codebook", own);
    }

    fn load(&self, map: &mut CodebookMap, state: &State) -> Result<()> {
        map.learned = Some(Arc::new(Codebook::load(&map.params, &state.nested("codebook"))?));
        Ok(())
    }
}
