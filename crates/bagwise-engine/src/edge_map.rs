//! A finite feature map for pairs of edges: sums over edges x edges become sums over edges.
//!
//! An edge vector `(d_u, p_u, d_v, p_v)` has its ends in `[0, 1]^2`, and the Gaussian of two edge vectors is the
//! product of the Gaussians `k2` of their ends. On a bounded square `k2` is, to any accuracy, a short sum:
//!
//! ```text
//! exp(-g (x - y)^2)  = sum_a f_a(x) f_a(y)                  interpolated at Chebyshev nodes of [0, 1]: f_a is the
//!                                                           polynomial through sqrt(lambda_a) * eigenvector a
//! k2((d, p), (d', p')) = phi(d, p) . phi(d', p')            phi has the terms f_a(d) f_b(p), for chosen (a, b)
//! M_X = sum over edges of X:  phi(u) phi(v)'                one small matrix per bag
//! sum over edges of X and of Y:  k(e, f)  =  <M_X, M_Y>
//! ```
//!
//! Pairs (a, b) are taken by `lambda_a lambda_b` until what is missing of `|phi|^2 = 1` is small *everywhere* on a
//! grid of probes with the borders and corners of the square. (Cutting where the eigenvalues are small is not
//! enough: eigenvalues measure the mean error, the error is largest in the corners, and the many edges of a large
//! bag all lie near the border d = 0.) The set of pairs is a staircase, for each `a` the `b` below a length, so that
//! `phi` is made of scaled copies of `f_b(p)`. What is missing is a positive kernel, hence by Cauchy and Schwarz the
//! error of any entry is at most that of the probes. Terms for an error of 1e-8: 10, 51, 118, 326 for g = 1/32, 2,
//! 8, 32.
//!
//! Cost: T^2 multiply-adds per edge with T terms, in the packed loops of the pairs engine; T^2 numbers per bag, half
//! if edges count in both directions. Sums are taken in an order that depends on the edges only.

use rayon::prelude::*;

use super::eigen::symmetric_eigen;
use super::kernels::{AvailableKernels, Kernels, TILE_COLS, TILE_ROWS};
use super::pack::Buffer;
use bagwise_core::Mat;

/// Edges that are turned into features at a time: their features stay in the second cache.
const BLOCK: usize = 2 * TILE_ROWS;
/// Edges of one task; a bag of more is shared by several threads.
const CHUNK: usize = 128 * BLOCK;
/// Nodes beyond which we do not look: that is a width of about 150, where the direct sum is cheaper.
const MOST_NODES: usize = 64;
/// Terms beyond which we do not go: matrices of 8 MB per bag.
const MOST_TERMS: usize = 1024;
/// Probes along a side of the square. Between them the error of polynomials of degree 63 could hide if there were
/// fewer than twice as many as nodes.
const PROBES: usize = 2 * MOST_NODES + 1;

/// Features of the ends of edges for one width.
#[derive(Clone, Debug)]
pub struct EdgeMap {
    /// Chebyshev coefficients (rows) of the functions `f_a` (columns).
    coefficients: Mat,
    /// For each `a`, how many `b` go with it.
    lengths: Vec<usize>,
    terms: usize,
}

impl EdgeMap {
    /// A map with an absolute error of at most `tol / 2` per pair of edges, or nothing if it would be too long, or
    /// if `tol` is beyond double precision.
    pub fn new(gamma: f64, tol: f64) -> Option<EdgeMap> {
        // A pair of edges is a product of two pairs of ends.
        let target = tol / 4.0;
        (8..=MOST_NODES).step_by(4).find_map(|nodes| EdgeMap::on_nodes(gamma, nodes, target))
    }

    fn on_nodes(gamma: f64, nodes: usize, target: f64) -> Option<EdgeMap> {
        let angle = |i: usize| (2 * i + 1) as f64 * std::f64::consts::PI / (2 * nodes) as f64;
        let kernel = |x: f64, y: f64| (-gamma * (x - y) * (x - y)).exp();
        let place = |i: usize| 0.5 + 0.5 * angle(i).cos();
        let mut matrix = Mat::zeros(nodes, nodes);
        for i in 0..nodes {
            for j in 0..nodes {
                matrix.set(i, j, kernel(place(i), place(j)));
            }
        }
        let (values, vectors) = symmetric_eigen(matrix);
        // Eigenvalues of a positive matrix: below 0 only by rounding.
        let values: Vec<f64> = values.iter().map(|v| v.max(0.0)).collect();
        let mut coefficients = Mat::zeros(nodes, nodes);
        for k in 0..nodes {
            let scale = if k == 0 { 1.0 } else { 2.0 } / nodes as f64;
            for a in 0..nodes {
                let sum: f64 = (0..nodes).map(|i| (k as f64 * angle(i)).cos() * vectors.get(i, a)).sum();
                coefficients.set(k, a, scale * values[a].sqrt() * sum);
            }
        }
        let probes: Vec<f64> = (0..PROBES)
            .map(|i| 0.5 - 0.5 * (i as f64 * std::f64::consts::PI / (PROBES - 1) as f64).cos())
            .collect();
        let functions: Vec<Vec<f64>> = probes.iter().map(|&x| evaluate(&coefficients, x)).collect();
        // Interpolation must not matter beside the cut.
        for (x, f) in probes.iter().zip(&functions) {
            for (y, g) in probes.iter().zip(&functions) {
                let sum: f64 = f.iter().zip(g).map(|(f, g)| f * g).sum();
                if (sum - kernel(*x, *y)).abs() > target / 25.0 {
                    return None;
                }
            }
        }
        let lengths = staircase(&values, &functions, target)?;
        let kept = lengths.len().max(lengths[0]);
        let mut cut = Mat::zeros(nodes, kept);
        (0..nodes).for_each(|k| cut.row_mut(k).copy_from_slice(&coefficients.row(k)[..kept]));
        EdgeMap::from_parts(cut, lengths)
    }

    /// A map from what [`parts`](EdgeMap::parts) gave, if it fits together.
    pub fn from_parts(coefficients: Mat, lengths: Vec<usize>) -> Option<EdgeMap> {
        let functions = coefficients.cols();
        let terms = lengths.iter().fold(0usize, |sum, &l| sum.saturating_add(l));
        let good = (1..=MOST_NODES).contains(&coefficients.rows())
            && functions <= TILE_COLS
            && (1..=MOST_TERMS).contains(&terms)
            && lengths.len() <= functions
            && lengths.iter().all(|&l| l <= functions);
        good.then_some(EdgeMap { coefficients, lengths, terms })
    }

    /// Coefficients and lengths, which make up the map.
    pub fn parts(&self) -> (&Mat, &[usize]) {
        (&self.coefficients, &self.lengths)
    }

    /// Features of an end.
    pub fn terms(&self) -> usize {
        self.terms
    }

    /// Numbers that stand for a bag.
    pub fn size(&self, symmetric: bool) -> usize {
        if symmetric { self.terms * (self.terms + 1) / 2 } else { self.terms * self.terms }
    }

    /// What stands for the edges of a bag: the edge sum of two bags is the inner product of theirs. `symmetric`:
    /// every edge counts half in each direction.
    pub fn moments(&self, edges: &[[f64; 4]], symmetric: bool) -> Vec<f64> {
        let kernels = <f64 as AvailableKernels>::available()[0];
        let parts: Vec<Vec<f64>> =
            edges.par_chunks(CHUNK).map(|chunk| self.outer_products(chunk, kernels)).collect();
        let t = self.terms;
        let mut sum = vec![0.0; t * t];
        for part in parts {
            sum.iter_mut().zip(&part).for_each(|(s, p)| *s += p);
        }
        if !symmetric {
            return sum;
        }
        let mut packed = Vec::with_capacity(self.size(true));
        for i in 0..t {
            packed.push(sum[i * t + i]);
            // Once for both triangles: a factor of the root of 2 in each of the two that are multiplied.
            packed.extend(
                (i + 1..t).map(|j| std::f64::consts::FRAC_1_SQRT_2 * (sum[i * t + j] + sum[j * t + i])),
            );
        }
        packed
    }

    /// The moments of a bag as a matrix, in panels of `lanes` columns.
    fn unpacked(&self, moments: &[f64], symmetric: bool, lanes: usize) -> Buffer<f64> {
        let t = self.terms;
        let mut panels = Buffer::zeros(t.next_multiple_of(lanes) * t);
        let mut put = |i: usize, j: usize, v: f64| panels[(j / lanes * t + i) * lanes + j % lanes] = v;
        let mut next = moments.iter();
        for i in 0..t {
            for j in if symmetric { i } else { 0 }..t {
                let v = *next.next().expect("as many as `size` says");
                if symmetric && j > i {
                    put(j, i, std::f64::consts::FRAC_1_SQRT_2 * v);
                    put(i, j, std::f64::consts::FRAC_1_SQRT_2 * v);
                } else {
                    put(i, j, v);
                }
            }
        }
        panels
    }

    /// What each edge adds to the edge sums with bags of which the rows of `kept` are the moments: edges x bags.
    pub fn shares(&self, edges: &[[f64; 4]], symmetric: bool, kept: &Mat) -> Mat {
        // Enough edges to make up for the unpacking of a matrix, few enough for many tasks.
        const TASK: usize = 8 * BLOCK;
        let kernels = <f64 as AvailableKernels>::available()[0];
        let mut shares = Mat::zeros(edges.len(), kept.rows());
        let tasks = edges.par_chunks(TASK).zip(shares.data_mut().par_chunks_mut(TASK * kept.rows().max(1)));
        tasks.for_each(|(edges, shares)| self.shares_of(edges, symmetric, kept, kernels, shares));
        shares
    }

    fn shares_of(
        &self,
        edges: &[[f64; 4]],
        symmetric: bool,
        kept: &Mat,
        kernels: &Kernels<f64>,
        shares: &mut [f64],
    ) {
        let (t, mr, nr) = (self.terms, kernels.mr, kernels.nr);
        let mut firsts = Buffer::<f64>::zeros(edges.len().next_multiple_of(mr) * t);
        let mut seconds = Mat::zeros(edges.len(), t);
        let mut ends = Ends::new(self, kernels);
        for (b, block) in edges.chunks(BLOCK).enumerate() {
            ends.features(block, |e, u, v| {
                let e = b * BLOCK + e;
                for (k, &value) in u.iter().enumerate() {
                    firsts[(e / mr * t + k) * mr + e % mr] = value;
                }
                seconds.row_mut(e).copy_from_slice(v);
            });
        }
        let mut tile = Buffer::<f64>::zeros(TILE_ROWS * TILE_COLS);
        for bag in 0..kept.rows() {
            let matrix = self.unpacked(kept.row(bag), symmetric, nr);
            for (strip, a) in firsts.chunks(TILE_ROWS * t).enumerate() {
                for (block, b) in matrix.chunks(TILE_COLS * t).enumerate() {
                    tile.fill(0.0);
                    // SAFETY: `available` checked the instruction set.
                    unsafe { (kernels.outer)(a, b, t, &mut tile) };
                    let first = strip * TILE_ROWS;
                    for (e, row) in (first..edges.len()).zip(tile.chunks_exact(TILE_COLS)) {
                        let v = &seconds.row(e)[block * TILE_COLS..];
                        let sum: f64 = row.iter().zip(v).map(|(x, y)| x * y).sum();
                        shares[e * kept.rows() + bag] += sum;
                    }
                }
            }
        }
    }

    /// The sum of phi(u) phi(v)' over some edges, row after row.
    fn outer_products(&self, edges: &[[f64; 4]], kernels: &Kernels<f64>) -> Vec<f64> {
        let (t, mr, nr) = (self.terms, kernels.mr, kernels.nr);
        let (rows, cols) = (t.next_multiple_of(mr), t.next_multiple_of(nr));
        let mut firsts = Buffer::<f64>::zeros(rows * BLOCK);
        let mut seconds = Buffer::<f64>::zeros(cols * BLOCK);
        let across = cols.div_ceil(TILE_COLS);
        let mut tiles = Buffer::<f64>::zeros(rows.div_ceil(TILE_ROWS) * across * TILE_ROWS * TILE_COLS);
        let mut ends = Ends::new(self, kernels);
        for block in edges.chunks(BLOCK) {
            let count = block.len();
            ends.features(block, |e, u, v| {
                for (panel, values) in u.chunks(mr).enumerate() {
                    firsts[(panel * count + e) * mr..][..values.len()].copy_from_slice(values);
                }
                for (panel, values) in v.chunks(nr).enumerate() {
                    seconds[(panel * count + e) * nr..][..values.len()].copy_from_slice(values);
                }
            });
            let mut tiles = tiles.chunks_exact_mut(TILE_ROWS * TILE_COLS);
            for a in firsts[..rows * count].chunks(TILE_ROWS * count) {
                for b in seconds[..cols * count].chunks(TILE_COLS * count) {
                    let tile = tiles.next().expect("a tile for each pair of strips");
                    // SAFETY: `available` checked the instruction set.
                    unsafe { (kernels.outer)(a, b, count, tile) };
                }
            }
        }
        let mut out = Vec::with_capacity(t * t);
        for i in 0..t {
            for j in (0..t).step_by(TILE_COLS) {
                let tile = (i / TILE_ROWS * across + j / TILE_COLS) * TILE_ROWS * TILE_COLS;
                let row = tile + i % TILE_ROWS * TILE_COLS;
                out.extend_from_slice(&tiles[row..row + TILE_COLS.min(t - j)]);
            }
        }
        out
    }
}

/// The smallest set of pairs of functions, by product of eigenvalues, that leaves at most `target` at every probe.
fn staircase(values: &[f64], functions: &[Vec<f64>], target: f64) -> Option<Vec<usize>> {
    let n = values.len();
    let mut pairs: Vec<(usize, usize)> = (0..n).flat_map(|a| (0..n).map(move |b| (a, b))).collect();
    // Stable: among equals lower indices first, so that every prefix is a staircase.
    pairs.sort_by(|x, y| (values[y.0] * values[y.1]).total_cmp(&(values[x.0] * values[x.1])));
    let squares: Vec<Vec<f64>> = functions.iter().map(|f| f.iter().map(|v| v * v).collect()).collect();
    // At each probe, the sums of the first 0, 1, 2, … squares.
    let sums: Vec<Vec<f64>> = squares
        .iter()
        .map(|s| {
            let mut sum = 0.0;
            std::iter::once(0.0)
                .chain(s.iter().map(|v| {
                    sum += v;
                    sum
                }))
                .collect()
        })
        .collect();
    let lengths = |terms: usize| {
        let mut lengths = vec![0; n];
        pairs[..terms].iter().for_each(|&(a, _)| lengths[a] += 1);
        lengths
    };
    let enough = |terms: usize| {
        let lengths = lengths(terms);
        squares.iter().all(|f| {
            sums.iter().all(|g| {
                let sum: f64 =
                    lengths.iter().zip(f).take_while(|(l, _)| **l > 0).map(|(&l, f)| f * g[l]).sum();
                1.0 - sum <= target
            })
        })
    };
    let most = pairs.len().min(MOST_TERMS);
    if !enough(most) {
        return None;
    }
    let (mut low, mut high) = (1, most);
    while low < high {
        let middle = (low + high) / 2;
        if enough(middle) { high = middle } else { low = middle + 1 }
    }
    let mut lengths = lengths(low);
    lengths.retain(|&l| l > 0);
    Some(lengths)
}

/// All functions at one place, without hurry.
fn evaluate(coefficients: &Mat, x: f64) -> Vec<f64> {
    let mut out = vec![0.0; coefficients.cols()];
    for (k, value) in chebyshev(x).take(coefficients.rows()).enumerate() {
        out.iter_mut().zip(coefficients.row(k)).for_each(|(o, c)| *o += c * value);
    }
    out
}

/// The Chebyshev polynomials of [0, 1] at x, by rising degree.
fn chebyshev(x: f64) -> impl Iterator<Item = f64> {
    let t = 2.0 * x - 1.0;
    let mut pair = (1.0, t);
    std::iter::repeat_with(move || {
        let value = pair.0;
        pair = (pair.1, 2.0 * t * pair.1 - pair.0);
        value
    })
}

/// Turns blocks of edges into the features of their ends.
struct Ends<'a> {
    map: &'a EdgeMap,
    kernels: &'a Kernels<f64>,
    /// The coefficients in panels.
    packed: Buffer<f64>,
    polynomials: Buffer<f64>,
    /// For each of the four numbers of an edge, the functions at it: edges x TILE_COLS.
    functions: [Buffer<f64>; 4],
    features: [Vec<f64>; 2],
}

impl<'a> Ends<'a> {
    fn new(map: &'a EdgeMap, kernels: &'a Kernels<f64>) -> Ends<'a> {
        let (nodes, nr) = (map.coefficients.rows(), kernels.nr);
        let mut packed = Buffer::zeros(map.coefficients.cols().next_multiple_of(nr) * nodes);
        for k in 0..nodes {
            for (a, &c) in map.coefficients.row(k).iter().enumerate() {
                packed[(a / nr * nodes + k) * nr + a % nr] = c;
            }
        }
        Ends {
            map,
            kernels,
            packed,
            polynomials: Buffer::zeros(TILE_ROWS * nodes),
            functions: std::array::from_fn(|_| Buffer::zeros(BLOCK * TILE_COLS)),
            features: [vec![0.0; map.terms], vec![0.0; map.terms]],
        }
    }

    /// Calls `give(e, phi(u), phi(v))` for each edge of a block.
    fn features(&mut self, block: &[[f64; 4]], mut give: impl FnMut(usize, &[f64], &[f64])) {
        let (nodes, mr) = (self.map.coefficients.rows(), self.kernels.mr);
        for (coordinate, functions) in self.functions.iter_mut().enumerate() {
            functions.fill(0.0);
            for (strip, tile) in block.chunks(TILE_ROWS).zip(functions.chunks_mut(TILE_ROWS * TILE_COLS)) {
                for (i, edge) in strip.iter().enumerate() {
                    let column = &mut self.polynomials[i / mr * nodes * mr + i % mr..];
                    for (k, value) in chebyshev(edge[coordinate]).take(nodes).enumerate() {
                        column[k * mr] = value;
                    }
                }
                let rows = strip.len().next_multiple_of(mr);
                // SAFETY: `available` checked the instruction set.
                unsafe { (self.kernels.outer)(&self.polynomials[..rows * nodes], &self.packed, nodes, tile) };
            }
        }
        let [u, v] = &mut self.features;
        for e in 0..block.len() {
            let row = |coordinate: usize| &self.functions[coordinate][e * TILE_COLS..(e + 1) * TILE_COLS];
            self.map.end(row(0), row(1), u);
            self.map.end(row(2), row(3), v);
            give(e, u, v);
        }
    }
}

impl EdgeMap {
    /// phi(d, p) from the functions at d and at p.
    #[inline]
    fn end(&self, d: &[f64], p: &[f64], out: &mut [f64]) {
        let mut rest = out;
        for (&f, &length) in d.iter().zip(&self.lengths) {
            let (now, later) = rest.split_at_mut(length);
            now.iter_mut().zip(p).for_each(|(o, g)| *o = f * g);
            rest = later;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use bagwise_core::Rng;

    fn kernel(gamma: f64, e: &[f64; 4], f: &[f64; 4]) -> f64 {
        (-gamma * e.iter().zip(f).map(|(x, y)| (x - y) * (x - y)).sum::<f64>()).exp()
    }

    fn turned(e: &[f64; 4]) -> [f64; 4] {
        [e[2], e[3], e[0], e[1]]
    }

    fn dot(a: &[f64], b: &[f64]) -> f64 {
        a.iter().zip(b).map(|(x, y)| x * y).sum()
    }

    fn random(count: usize, rng: &mut Rng) -> Vec<[f64; 4]> {
        // A third of all numbers at the borders: that is where the error is largest.
        let one = |rng: &mut Rng| {
            if rng.below(3) == 0 { rng.below(2) as f64 } else { rng.below(1000) as f64 / 999.0 }
        };
        (0..count).map(|_| std::array::from_fn(|_| one(rng))).collect()
    }

    #[test]
    fn one_edge_in_any_corner_is_within_the_tolerance() {
        let mut rng = Rng::new(5, "edges", &[]);
        let mut edges = random(60, &mut rng);
        edges.extend((0..16).map(|bits| std::array::from_fn(|i| f64::from(bits >> i & 1))));
        for tol in [1e-4, 1e-8, 1e-10] {
            for exponent in -5..=5 {
                let gamma = 2f64.powi(exponent);
                let map = EdgeMap::new(gamma, tol).unwrap();
                let moments: Vec<Vec<f64>> = edges.iter().map(|e| map.moments(&[*e], false)).collect();
                for (e, m) in edges.iter().zip(&moments) {
                    for (f, n) in edges.iter().zip(&moments) {
                        let error = (dot(m, n) - kernel(gamma, e, f)).abs();
                        // tol / 2 is promised; the rest is for what hides between the probes.
                        assert!(error <= 0.6 * tol, "gamma {gamma}, tol {tol}: {error:e} at {e:?}, {f:?}");
                    }
                }
            }
        }
    }

    #[test]
    fn terms_are_as_many_as_the_width_needs() {
        let terms = [1.0 / 32.0, 2.0, 8.0, 32.0].map(|g| EdgeMap::new(g, 1e-8).unwrap().terms());
        assert_eq!(terms, [10, 51, 118, 326]);
        assert!(EdgeMap::new(1e300, 1e-8).is_none() && EdgeMap::new(1e4, 1e-8).is_none());
        assert!(EdgeMap::new(1.0, 1e-15).is_none(), "beyond double precision");
        assert_eq!(EdgeMap::new(1e-300, 1e-8).unwrap().terms(), 1);
    }

    #[test]
    fn sums_of_any_length_in_both_directions_are_those_of_the_pairs() {
        let mut rng = Rng::new(6, "edges", &[]);
        let map = EdgeMap::new(3.0, 1e-8).unwrap();
        for (many, few) in [(1, 1), (47, 48), (97, 5), (BLOCK, 200), (CHUNK + 3, 2)] {
            let (x, y) = (random(many, &mut rng), random(few, &mut rng));
            for symmetric in [false, true] {
                let found = dot(&map.moments(&x, symmetric), &map.moments(&y, symmetric));
                let mut sum = 0.0;
                for e in &x {
                    for f in &y {
                        sum += kernel(3.0, e, f);
                        if symmetric {
                            sum += kernel(3.0, &turned(e), f);
                        }
                    }
                }
                let expected = if symmetric { 0.5 * sum } else { sum };
                let error = (found - expected).abs() / (many * few) as f64;
                assert!(error <= 0.6e-8, "{many} x {few}, {symmetric}: {error:e}");
            }
        }
    }

    #[test]
    fn shares_add_up_to_the_edge_sums() {
        let mut rng = Rng::new(7, "edges", &[]);
        let map = EdgeMap::new(8.0, 1e-8).unwrap();
        let x = random(1000, &mut rng);
        for symmetric in [false, true] {
            let bags: Vec<Vec<f64>> =
                [5, 300].iter().map(|&n| map.moments(&random(n, &mut rng), symmetric)).collect();
            let shares = map.shares(&x, symmetric, &Mat::from_rows(&bags));
            let own = map.moments(&x, symmetric);
            for (b, bag) in bags.iter().enumerate() {
                let sum: f64 = (0..x.len()).map(|e| shares.get(e, b)).sum();
                // The same products in another order.
                assert!((sum - dot(&own, bag)).abs() < 1e-12 * sum, "{sum} and {}", dot(&own, bag));
                let alone = dot(&map.moments(&x[990..991], symmetric), bag);
                assert!((shares.get(990, b) - alone).abs() < 1e-12, "{} and {alone}", shares.get(990, b));
            }
        }
    }

    #[test]
    fn every_instruction_set_gives_the_same_sums() {
        let mut rng = Rng::new(8, "edges", &[]);
        let map = EdgeMap::new(8.0, 1e-8).unwrap();
        let x = random(500, &mut rng);
        let all: Vec<Vec<f64>> =
            <f64 as AvailableKernels>::available().iter().map(|k| map.outer_products(&x, k)).collect();
        for other in &all[1..] {
            for (a, b) in all[0].iter().zip(other) {
                // 500 products of numbers up to 1, fused or not.
                assert!((a - b).abs() < 1e-12, "{a} and {b}");
            }
        }
    }

    #[test]
    fn parts_that_do_not_fit_are_refused() {
        assert!(EdgeMap::from_parts(Mat::zeros(8, 3), vec![3, 2, 1]).is_some());
        for (mat, lengths) in [
            (Mat::zeros(8, 3), vec![]),
            (Mat::zeros(8, 3), vec![4]),
            (Mat::zeros(8, 3), vec![1; 4]),
            (Mat::zeros(0, 3), vec![1]),
            (Mat::zeros(8, 3), vec![usize::MAX; 3]),
        ] {
            assert!(EdgeMap::from_parts(mat, lengths).is_none());
        }
    }
}
