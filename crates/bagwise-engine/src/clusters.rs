//! k-means: centres that divide instances into groups around their means.
//!
//! Lloyd's iteration. Instances go to their nearest centre, of equally near ones to the first; a centre moves to the mean of
//! its instances, and one without any stays. Nearest centres come from [`cells`](crate::cells) in single precision, where
//! close calls are settled by the definition; of sparse rows from products with their own values, settled in the same way.
//! So storage and instruction set change no group, from the same start. N k d multiply-adds a round, N nnz k for sparse rows.
//!
//! Starts are drawn by k-means++: Arthur, Vassilvitskii, SODA 2007. scikit-learn's `KMeans(init, tol=0)` gives the
//! same centres from the same start.

use std::ops::Range;

use rayon::prelude::*;

use crate::cells::{Distance, MOST_CENTRES, Mapper, Partitions, Strategy, literal};
use crate::simd::{dot, squared_distance};
use bagwise_core::{Csr, Ctx, Error, Instances, Mat, Result, Rng};

/// Rows one task looks at before it asks whether to stop.
const ROWS: usize = 4096;

/// Rows that are looked at together and then added up: those of some hundred attributes stay in the second cache.
const CACHED: usize = 512;

/// Centres that instances can be sent to.
#[derive(Clone, Debug)]
pub struct Centroids {
    centres: Mat,
    partitions: Partitions,
}

impl PartialEq for Centroids {
    fn eq(&self, other: &Centroids) -> bool {
        self.centres == other.centres
    }
}

impl Centroids {
    /// Centres, a row for each.
    pub fn new(centres: Mat) -> Result<Centroids> {
        if centres.rows() == 0 || centres.cols() == 0 || centres.rows() > MOST_CENTRES {
            return Err(Error::Invalid(format!(
                "{} centres of {} attributes: there must be 1 to {MOST_CENTRES}",
                centres.rows(),
                centres.cols()
            )));
        }
        let list = (0..centres.rows() as u32).collect();
        let partitions = Partitions::new(Instances::F64(centres.clone()), list, 1, Distance::Euclidean)?;
        Ok(Centroids { centres, partitions })
    }

    /// A centre in each row.
    pub fn centres(&self) -> &Mat {
        &self.centres
    }

    /// Ready to find the nearest centres of many instances.
    pub fn finder(&self, ctx: &Ctx) -> Result<CentroidFinder<'_>> {
        let mapper = Mapper::by(&self.partitions, &[self.centres.rows()], Strategy::Fused, ctx)?;
        Ok(CentroidFinder { centres: &self.centres, mapper, columns: std::sync::OnceLock::new() })
    }
}

/// Centres laid out for the search.
pub struct CentroidFinder<'a> {
    centres: &'a Mat,
    mapper: Mapper<'a>,
    /// For sparse rows, when the first comes.
    columns: std::sync::OnceLock<CentreColumns>,
}

/// Centres attribute after attribute, with half of their squared lengths.
struct CentreColumns {
    columns: Mat,
    halves: Vec<f64>,
    longest: f64,
}

impl CentroidFinder<'_> {
    /// The nearest centre of each of some rows.
    pub fn nearest(&self, points: &Instances, rows: Range<usize>, ctx: &Ctx) -> Result<Vec<u32>> {
        if let Instances::Sparse(sparse) = points {
            return self.nearest_of_sparse(sparse, rows, ctx);
        }
        let ids = self.mapper.ids(points, rows, ctx)?.remove(0);
        Ok((0..ids.rows()).map(|row| ids.get(row, 0).map_or(0, |cell| cell as u32)).collect())
    }

    fn nearest_of_sparse(&self, points: &Csr, rows: Range<usize>, ctx: &Ctx) -> Result<Vec<u32>> {
        if points.cols() != self.centres.cols() {
            return Err(Error::Invalid(format!(
                "these instances have {} attributes, the centres {}",
                points.cols(),
                self.centres.cols()
            )));
        }
        let laid_out = self.columns.get_or_init(|| CentreColumns::of(self.centres));
        let mut found = vec![0; rows.len()];
        found.par_chunks_mut(ROWS / 8).enumerate().try_for_each(|(c, found)| {
            ctx.check()?;
            let mut scores = vec![0.0; self.centres.rows()];
            let mut dense = vec![0.0; self.centres.cols()];
            for (i, found) in found.iter_mut().enumerate() {
                let row = points.row(rows.start + c * (ROWS / 8) + i);
                *found = laid_out.nearest(self.centres, row, &mut scores, &mut dense);
            }
            Ok::<(), Error>(())
        })?;
        Ok(found)
    }
}

impl CentreColumns {
    fn of(centres: &Mat) -> CentreColumns {
        let mut columns = Mat::zeros(centres.cols(), centres.rows());
        for k in 0..centres.rows() {
            centres.row(k).iter().enumerate().for_each(|(j, &v)| columns.set(j, k, v));
        }
        let lengths: Vec<f64> = (0..centres.rows()).map(|k| dot(centres.row(k), centres.row(k))).collect();
        let longest = lengths.iter().copied().fold(0.0, f64::max);
        CentreColumns { columns, halves: lengths.iter().map(|l| 0.5 * l).collect(), longest }
    }

    /// By `|c|^2 / 2 - x c`; what is too close to call is settled by the definition.
    fn nearest(&self, centres: &Mat, row: (&[u32], &[f64]), scores: &mut [f64], dense: &mut [f64]) -> u32 {
        scores.copy_from_slice(&self.halves);
        for (&j, &v) in row.0.iter().zip(row.1) {
            scores.iter_mut().zip(self.columns.row(j as usize)).for_each(|(s, c)| *s -= v * c);
        }
        let least = scores.iter().copied().fold(f64::INFINITY, f64::min);
        let length: f64 = row.1.iter().map(|v| v * v).sum();
        // Far above the rounding of sums of any width met here.
        let reach = least + 1e-9 * (length + self.longest);
        let mut close = scores.iter().enumerate().filter(|(_, s)| **s <= reach).map(|(k, _)| k);
        if let (Some(only), None) = (close.next(), close.next()) {
            return only as u32;
        }
        dense.fill(0.0);
        row.0.iter().zip(row.1).for_each(|(&j, &v)| dense[j as usize] = v);
        let mut nearest = literal::Nearest::new();
        for (k, score) in scores.iter().enumerate() {
            // Not the opposite comparison: NaN stays in.
            let farther = *score > reach;
            if !farther {
                nearest.offer(k, literal::dense(Distance::Euclidean, dense, centres.row(k)));
            }
        }
        u32::from(nearest.at())
    }
}

/// What k-means ended with.
#[derive(Clone, Debug)]
pub struct KMeans {
    /// The centres.
    pub centroids: Centroids,
    /// The centre of every instance.
    pub assignment: Vec<u32>,
    /// Rounds in which instances were sent to centres.
    pub rounds: usize,
    /// True if the last round changed nothing.
    pub converged: bool,
}

impl KMeans {
    /// Lloyd's iteration on all rows of `points`, from these centres, until no instance changes its centre or for at most
    /// this many rounds.
    pub fn fit(points: &Instances, start: Mat, iterations: usize, ctx: &Ctx) -> Result<KMeans> {
        let mut centroids = Centroids::new(start)?;
        let mut assignment: Vec<u32> = Vec::new();
        for round in 1..=iterations {
            ctx.check()?;
            let next = assign(points, &centroids, ctx)?;
            if next.assignment == assignment {
                return Ok(KMeans { centroids, assignment, rounds: round, converged: true });
            }
            centroids = Centroids::new(next.means(centroids.centres))?;
            assignment = next.assignment;
        }
        // Assignments are those of the centres that are returned.
        assignment = centroids.finder(ctx)?.nearest(points, 0..points.rows(), ctx)?;
        Ok(KMeans { centroids, assignment, rounds: iterations, converged: false })
    }

    /// The sum of squared distances of instances to their centres.
    pub fn inertia(&self, points: &Instances) -> Result<f64> {
        let mut sum = 0.0;
        points.each_row(0..points.rows(), |i, row| {
            let centre = self.centroids.centres.row(self.assignment[i] as usize);
            sum += Distance::Euclidean.squared(row, centre);
        })?;
        Ok(sum)
    }
}

/// Rows whose sums are kept apart: at least eight for each centre, so that all sums together are no larger than the points.
fn portions(rows: usize, centres: usize) -> Vec<Range<usize>> {
    let step = ROWS.max(8 * centres);
    (0..rows).step_by(step).map(|first| first..(first + step).min(rows)).collect()
}

/// Instances sent to their nearest centres, with the sums that the next centres are made of.
struct AssignedInstances {
    assignment: Vec<u32>,
    /// A row for each centre.
    sums: Mat,
    counts: Vec<u64>,
}

/// One pass over the instances: rows are added up while they are still in the cache.
fn assign(points: &Instances, centroids: &Centroids, ctx: &Ctx) -> Result<AssignedInstances> {
    let (k, width) = (centroids.centres.rows(), centroids.centres.cols());
    let finder = centroids.finder(ctx)?;
    let portions = portions(points.rows(), k);
    // Of few portions each is a task for all threads.
    let step = if portions.len() < rayon::current_num_threads() { points.rows().max(1) } else { CACHED };
    let of_portion = |rows: Range<usize>| {
        let (mut sums, mut counts) = (Mat::<f64>::zeros(k, width), vec![0; k]);
        let mut assignment = Vec::with_capacity(rows.len());
        for from in rows.clone().step_by(step) {
            ctx.check()?;
            let some = from..(from + step).min(rows.end);
            let nearest = finder.nearest(points, some.clone(), ctx)?;
            nearest.iter().for_each(|&c| counts[c as usize] += 1);
            match points {
                Instances::Sparse(sparse) => some.zip(&nearest).for_each(|(i, &c)| {
                    let to = sums.row_mut(c as usize);
                    let (columns, values) = sparse.row(i);
                    columns.iter().zip(values).for_each(|(&j, v)| to[j as usize] += v);
                }),
                _ => points.each_row(some, |i, row| {
                    let to = sums.row_mut(nearest[i - from] as usize);
                    to.iter_mut().zip(row).for_each(|(s, x)| *s += x);
                })?,
            }
            assignment.extend(nearest);
        }
        Ok(AssignedInstances { assignment, sums, counts })
    };
    let portions = portions.into_par_iter().map(of_portion).collect::<Result<Vec<AssignedInstances>>>()?;
    let mut all =
        AssignedInstances { assignment: Vec::new(), sums: Mat::zeros(k, width), counts: vec![0; k] };
    for own in portions {
        all.assignment.extend(own.assignment);
        all.sums.data_mut().iter_mut().zip(own.sums.data()).for_each(|(s, p)| *s += p);
        all.counts.iter_mut().zip(own.counts).for_each(|(c, o)| *c += o);
    }
    Ok(all)
}

impl AssignedInstances {
    /// The mean of the instances of each centre; the centre itself where there are none.
    fn means(&self, mut centres: Mat) -> Mat {
        for (c, &count) in self.counts.iter().enumerate().filter(|(_, count)| **count > 0) {
            let means = self.sums.row(c).iter().map(|s| s / count as f64);
            centres.row_mut(c).iter_mut().zip(means).for_each(|(to, mean)| *to = mean);
        }
        centres
    }
}

/// Rows to start from, drawn by k-means++: the first evenly, each other with a probability in proportion to its squared
/// distance from those before. Fewer than `k` if no more are different.
pub fn plus_plus(points: &Instances, k: usize, rng: &mut Rng, ctx: &Ctx) -> Result<Mat> {
    let rows = points.rows();
    let mut squared = vec![f64::INFINITY; rows];
    let mut chosen = vec![rng.below(rows)];
    let mut centre = vec![0.0; points.cols()];
    loop {
        let last = *chosen.last().expect("one is drawn at first");
        if chosen.len() >= k {
            break;
        }
        points.row_into(last, &mut centre)?;
        let sums = squared
            .par_chunks_mut(ROWS)
            .enumerate()
            .map(|(c, squared)| {
                ctx.check()?;
                let first = c * ROWS;
                let mut nearer = |i: usize, d: f64| squared[i - first] = squared[i - first].min(d);
                let here = first..(first + ROWS).min(rows);
                match points {
                    Instances::Sparse(sparse) => {
                        let own = sparse.row(last);
                        here.for_each(|i| {
                            nearer(i, literal::sparse(Distance::Euclidean, sparse.row(i), own))
                        });
                    }
                    _ => points.each_row(here, |i, row| nearer(i, squared_distance(row, &centre)))?,
                }
                Ok(squared.iter().sum::<f64>())
            })
            .collect::<Result<Vec<f64>>>()?;
        let total: f64 = sums.iter().sum();
        // Nothing is left that differs from a centre. Where the sum overflows, a row is drawn as if all were as far.
        if total <= 0.0 {
            break;
        }
        chosen.push(match total.is_finite() {
            true => draw(&squared, &sums, rng.uniform() * total),
            false => rng.below(rows),
        });
    }
    let mut start = Mat::zeros(chosen.len(), points.cols());
    for (k, &row) in chosen.iter().enumerate() {
        points.row_into(row, start.row_mut(k))?;
    }
    Ok(start)
}

/// The row at which the running sum of weights passes `at`; `sums` are those of portions of [`ROWS`].
fn draw(weights: &[f64], sums: &[f64], mut at: f64) -> usize {
    let mut portion = 0;
    while portion + 1 < sums.len() && at >= sums[portion] {
        at -= sums[portion];
        portion += 1;
    }
    let first = portion * ROWS;
    let here = &weights[first..(first + ROWS).min(weights.len())];
    for (i, &weight) in here.iter().enumerate() {
        if at < weight {
            return first + i;
        }
        at -= weight;
    }
    // Rounding went past the end: the last that can be drawn at all.
    weights.iter().rposition(|&w| w > 0.0).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn made(rows: usize, width: usize) -> Mat {
        let mut rng = Rng::new(4, "clusters", &[]);
        let mut value = |i: usize| (i % 7) as f64 + 0.4 * rng.normal();
        Mat::new(
            rows,
            width,
            (0..rows * width).map(|i| if i % 3 == 0 { 0.0 } else { value(i / width) }).collect(),
        )
    }

    #[test]
    fn storages_and_threads_change_no_group() {
        let ctx = Ctx::default();
        let dense = made(9000, 6);
        let mut sparse = Csr::empty(6);
        for i in 0..dense.rows() {
            sparse.push_row(dense.row(i).iter().enumerate().map(|(j, &v)| (j as u32, v)));
        }
        let fit = |points: &Instances| {
            let start = plus_plus(points, 12, &mut Rng::new(1, "kmeans", &[12, 0]), &ctx).unwrap();
            KMeans::fit(points, start, 20, &ctx).unwrap()
        };
        let one = fit(&Instances::F64(dense.clone()));
        let pool = rayon::ThreadPoolBuilder::new().num_threads(3).build().unwrap();
        let three = pool.install(|| fit(&Instances::F64(dense.clone())));
        let other = fit(&Instances::Sparse(sparse));
        assert_eq!(one.assignment, three.assignment);
        assert_eq!(one.centroids, three.centroids);
        assert_eq!(one.assignment, other.assignment);
        assert_eq!(one.centroids, other.centroids);
        // By the definition.
        for i in (0..dense.rows()).step_by(97) {
            let mut nearest = literal::Nearest::new();
            let centres = one.centroids.centres();
            (0..centres.rows()).for_each(|k| {
                nearest.offer(k, Distance::Euclidean.squared(dense.row(i), centres.row(k)));
            });
            assert_eq!(u32::from(nearest.at()), one.assignment[i]);
        }
    }

    #[test]
    fn there_are_no_more_centres_than_different_points() {
        let ctx = Ctx::default();
        let rows: Vec<[f64; 2]> = (0..30).map(|i| [f64::from(i % 3), 1.0]).collect();
        let points = Instances::F64(Mat::from_rows(&rows));
        let start = plus_plus(&points, 8, &mut Rng::new(1, "kmeans", &[8, 0]), &ctx).unwrap();
        assert_eq!(start.rows(), 3);
        let fit = KMeans::fit(&points, start, 10, &ctx).unwrap();
        assert!(fit.converged && fit.inertia(&points).unwrap() == 0.0);
    }

    #[test]
    fn it_stops_when_it_is_asked_to() {
        let ctx = Ctx::default();
        ctx.canceller().store(true, std::sync::atomic::Ordering::Relaxed);
        let points = Instances::F64(made(50, 3));
        let start = Mat::new(2, 3, vec![0.0, 0.0, 0.0, 1.0, 1.0, 1.0]);
        assert!(matches!(KMeans::fit(&points, start, 5, &ctx), Err(Error::Cancelled)));
    }
}
