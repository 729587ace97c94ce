//! The pairs engine against literal double loops, for every instruction set this machine has.

use proptest::prelude::*;

use super::direct::{DirectKernel, DirectOutput};
use super::kernels::{AvailableKernels, Kernels};
use super::layout::GramShape;
use super::pairs::run_with;
use super::*;
use bagwise_core::{Bags, Csr, Ctx, Error, Instances, Mat, Precision};

/// Repeatable numbers without a generator's interface: SplitMix64.
struct Numbers(u64);

impl Numbers {
    fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }
    fn unit(&mut self) -> f64 {
        (self.bits() >> 11) as f64 / (1u64 << 53) as f64
    }
}

/// Bags with some equal rows, within a bag and across bags; values are representable in f32, so that all
/// storages hold the same numbers.
struct Case {
    rows: Mat,
    offsets: Vec<usize>,
    weights: Vec<Vec<f64>>,
}

impl Case {
    fn new(seed: u64, sizes: &[usize], width: usize, vectors: usize, zeros: f64) -> Case {
        let mut numbers = Numbers(seed);
        let n: usize = sizes.iter().sum();
        let mut rows = Mat::zeros(n, width);
        for r in 0..n {
            if r > 0 && numbers.unit() < 0.15 {
                let other = (numbers.bits() % r as u64) as usize;
                let copy = rows.row(other).to_vec();
                rows.row_mut(r).copy_from_slice(&copy);
                continue;
            }
            for x in rows.row_mut(r) {
                *x = if numbers.unit() < zeros { 0.0 } else { f64::from((numbers.unit() - 0.3) as f32) };
            }
        }
        let mut offsets = vec![0];
        for &size in sizes {
            offsets.push(offsets[offsets.len() - 1] + size);
        }
        let weights = (0..vectors)
            .map(|v| (0..n).map(|_| if v == 0 { 1.0 } else { 2.0 * numbers.unit() - 0.5 }).collect())
            .collect();
        Case { rows, offsets, weights }
    }

    fn storages(&self) -> [Instances; 3] {
        let single = self.rows.data().iter().map(|&x| x as f32).collect();
        let mut csr = Csr::empty(self.rows.cols());
        for r in 0..self.rows.rows() {
            csr.push_row(self.rows.row(r).iter().enumerate().map(|(c, &v)| (c as u32, v)));
        }
        [
            Instances::F64(self.rows.clone()),
            Instances::F32(Mat::new(self.rows.rows(), self.rows.cols(), single)),
            Instances::Sparse(csr),
        ]
    }

    fn side<'a>(&'a self, instances: &'a Instances) -> Side<'a> {
        Side { instances, offsets: &self.offsets, weights: &self.weights }
    }

    fn bags(&self) -> usize {
        self.offsets.len() - 1
    }
}

/// The sum and the sum of absolute values, which errors are measured against: weights may cancel.
fn literal(a: &Case, b: &Case, output: &GramOutput) -> (Mat, Mat) {
    literal_by(a, b, &output.terms, |x, z| {
        let s: f64 = x.iter().zip(z).map(|(p, q)| (p - q) * (p - q)).sum();
        let k = (-output.gamma * s).exp();
        (k, k)
    })
}

/// The same for any kernel of two instances, which comes with its own size.
fn literal_by(
    a: &Case,
    b: &Case,
    terms: &[usize],
    kernel: impl Fn(&[f64], &[f64]) -> (f64, f64),
) -> (Mat, Mat) {
    let mut sums = Mat::zeros(a.bags(), b.bags());
    let mut sizes = sums.clone();
    for x in 0..a.bags() {
        for y in 0..b.bags() {
            let (mut sum, mut size) = (0.0, 0.0);
            for i in a.offsets[x]..a.offsets[x + 1] {
                for j in b.offsets[y]..b.offsets[y + 1] {
                    let (k, of) = kernel(a.rows.row(i), b.rows.row(j));
                    for &t in terms {
                        sum += a.weights[t][i] * b.weights[t][j] * k;
                        size += (a.weights[t][i] * b.weights[t][j] * of).abs();
                    }
                }
            }
            sums.set(x, y, sum);
            sizes.set(x, y, size);
        }
    }
    (sums, sizes)
}

#[test]
fn other_kernels_equal_their_definition_in_every_storage() {
    let a = Case::new(5, &[3, 1, 7, 2, 12], 9, 3, 0.6);
    let b = Case::new(6, &[4, 1, 9], 9, 3, 0.6);
    let kernels = [
        DirectKernel::Linear,
        DirectKernel::Polynomial { degree: 1 },
        DirectKernel::Polynomial { degree: 3 },
        DirectKernel::Text { gamma: 0.7 },
        DirectKernel::Text { gamma: 20.0 },
    ];
    let value = |kernel: DirectKernel, x: &[f64], z: &[f64]| {
        let pairs = || x.iter().zip(z);
        let product: f64 = pairs().map(|(p, q)| p * q).sum();
        let size: f64 = pairs().map(|(p, q)| (p * q).abs()).sum();
        match kernel {
            DirectKernel::Linear => (product, size),
            DirectKernel::Polynomial { degree } => {
                ((product + 1.0).powi(degree as i32), (size + 1.0).powi(degree as i32))
            }
            DirectKernel::Text { gamma } => {
                let present = pairs().filter(|(p, q)| **p != 0.0 || **q != 0.0).count().max(1);
                let k =
                    (-gamma * pairs().map(|(p, q)| (p - q) * (p - q)).sum::<f64>() / present as f64).exp();
                (k, k)
            }
        }
    };
    for terms in [vec![0], vec![1, 2]] {
        let output = |&kernel: &DirectKernel| DirectOutput { kernel, terms: terms.clone() };
        let outputs: Vec<DirectOutput> = kernels.iter().map(output).collect();
        for (left, right) in a.storages().iter().zip(&b.storages()) {
            let ctx = Ctx::default();
            let square = direct::symmetric(&a.side(left), &outputs, &ctx).unwrap();
            let own = direct::self_similarity(&a.side(left), &outputs, &ctx).unwrap();
            let wide = direct::rectangular(&a.side(left), &b.side(right), &outputs, &ctx).unwrap();
            // One side sparse, the other not.
            let mixed =
                direct::rectangular(&a.side(left), &b.side(&b.storages()[0]), &outputs, &ctx).unwrap();
            for (o, &kernel) in kernels.iter().enumerate() {
                let of = |x: &[f64], z: &[f64]| value(kernel, x, z);
                // Some hundred roundings, of which those of powers count thrice.
                assert!(worst(&square[o], &literal_by(&a, &a, &terms, of)) < 1e-14, "{kernel:?}");
                assert!(worst(&wide[o], &literal_by(&a, &b, &terms, of)) < 1e-14, "{kernel:?}");
                assert!(worst(&mixed[o], &literal_by(&a, &b, &terms, of)) < 1e-14, "{kernel:?}");
                for i in 0..a.bags() {
                    assert_eq!(own[o][i], square[o].get(i, i), "{kernel:?}");
                    (0..i).for_each(|j| assert_eq!(square[o].get(i, j), square[o].get(j, i), "{kernel:?}"));
                }
            }
            assert!(terms.len() > 1 || own[0].iter().all(|&k| k >= 0.0));
        }
    }
}

#[test]
fn distances_for_text_inside_a_bag_are_exact() {
    let case = Case::new(7, &[20], 6, 1, 0.7);
    for instances in case.storages() {
        let bags = Bags::new(instances, case.offsets.clone()).unwrap();
        let (found, products) =
            (within::text_distances(bags.bag(0)).unwrap(), within::products(bags.bag(0)).unwrap());
        for i in 0..20 {
            for j in 0..20 {
                let (x, z) = (case.rows.row(i), case.rows.row(j));
                assert_eq!(found.get(i, j) == 0.0, x == z, "only equal instances are at distance 0");
                let expected = cells::Distance::Text.squared(x, z);
                assert!((found.get(i, j) - expected).abs() <= 1e-15 * expected);
                assert!(x != z || products.get(i, i) == products.get(i, j));
            }
        }
    }
}

fn worst(found: &Mat, expected: &(Mat, Mat)) -> f64 {
    assert_eq!((found.rows(), found.cols()), (expected.0.rows(), expected.0.cols()));
    let mut worst: f64 = 0.0;
    for (f, (e, size)) in found.data().iter().zip(expected.0.data().iter().zip(expected.1.data())) {
        let error = (f - e).abs();
        // Below the smallest normal number, which we call 0, nothing is promised.
        if error > 1e-300 {
            worst = worst.max(error / size);
        }
    }
    worst
}

fn outputs(gammas: &[f64], vectors: usize) -> Vec<GramOutput> {
    let mut all: Vec<GramOutput> = gammas.iter().map(|&gamma| GramOutput { gamma, terms: vec![0] }).collect();
    all.push(GramOutput { gamma: gammas[0], terms: (0..vectors).collect() });
    all.push(GramOutput { gamma: gammas[gammas.len() - 1], terms: vec![vectors - 1, vectors - 1] });
    all
}

fn with<T: simd::Element>(
    a: &Side,
    b: &Side,
    out: &[GramOutput],
    shape: GramShape,
    kernels: &'static Kernels<T>,
) -> Vec<Mat> {
    run_with(a, b, 0..a.offsets.len() - 1, out, shape, kernels, &Ctx::default()).unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(60) })]

    #[test]
    fn every_path_agrees_with_double_loops(
        seed in any::<u64>(),
        sizes in prop::collection::vec(prop_oneof![3 => 1usize..4, 2 => 1usize..40, 1 => 90usize..130], 1..9),
        others in prop::collection::vec(1usize..70, 1..4),
        width in prop_oneof![1usize..4, 5usize..20, Just(70)],
        vectors in 1usize..9,
        zeros in prop_oneof![Just(0.2), Just(0.95)],
        grid in prop_oneof![
            Just(vec![0.25, 0.5, 1.0, 2.0, 4.0, 8.0, 16.0, 32.0]),
            Just(vec![0.1, 0.3, 0.4, 1.0, 7.5]),
            Just(vec![3.0]),
            Just(vec![0.001, 1e5]),
        ],
    ) {
        let case = Case::new(seed, &sizes, width, vectors, zeros);
        let other = Case::new(seed ^ 1, &others, width, vectors, zeros);
        let out = outputs(&grid, vectors);
        let expected: Vec<_> = out.iter().map(|o| literal(&case, &case, o)).collect();
        let expected_other: Vec<_> = out.iter().map(|o| literal(&case, &other, o)).collect();
        for (instances, other_instances) in case.storages().iter().zip(&other.storages()) {
            let (side, other_side) = (case.side(instances), other.side(other_instances));
            for kernels in f64::available() {
                let found = with(&side, &side, &out, GramShape::Symmetric, kernels);
                let diagonal = with(&side, &side, &out, GramShape::Diagonal, kernels);
                let across = with(&side, &other_side, &out, GramShape::Rectangular, kernels);
                for o in 0..out.len() {
                    // A lone pair at the limit of the expansion may lose 5e-13 (see `EXPANSION_LIMIT`), and gamma times
                    // squared lengths goes beyond that limit here (32 times 70 attributes).
                    let error = worst(&found[o], &expected[o]);
                    prop_assert!(error < 6e-13, "symmetric {o} {} {error:e}", kernels.set.name());
                    let error = worst(&across[o], &expected_other[o]);
                    prop_assert!(error < 6e-13, "across {o} {} {error:e}", kernels.set.name());
                    for b in 0..case.bags() {
                        let (d, g) = (diagonal[o].get(b, 0), found[o].get(b, b));
                        prop_assert!((d - g).abs() <= 1e-13 * expected[o].1.get(b, b), "diagonal {o} {b}");
                    }
                }
            }
            for kernels in f32::available() {
                let found = with(&side, &side, &out, GramShape::Symmetric, kernels);
                for o in 0..out.len() {
                    // 2000 eps of f32 is 2e-4 for a single pair; f32 has no number below 1e-38.
                    let error = worst(&found[o], &expected[o]);
                    prop_assert!(error < 1e-3 || expected[o].1.data().iter().any(|&s| s < 1e-30), "{o} {error}");
                }
            }
        }
    }
}

#[test]
fn any_number_of_threads_and_any_memory_gives_the_same_bits() {
    let sizes = [1, 1, 300, 2, 77, 1, 1, 1, 150, 9];
    let case = Case::new(5, &sizes, 33, 3, 0.9);
    let out = outputs(&[0.5, 1.0, 2.0, 5.0], 3);
    for instances in &case.storages() {
        let side = case.side(instances);
        let go = |threads: usize, memory: u64| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            let mut ctx = Ctx::default();
            ctx.memory = memory;
            pool.install(|| {
                let square = symmetric(&side, &out, Precision::F64, &ctx).unwrap();
                let across = rectangular(&side, &side, &out, Precision::F32, &ctx).unwrap();
                (square, across, self_similarity(&side, &out, &ctx).unwrap())
            })
        };
        let plenty = Ctx::default().memory;
        // Room for the Grams alone: columns are packed tile by tile.
        let little = (8 * out.len() * sizes.len() * sizes.len()) as u64;
        let one = go(1, plenty);
        assert!(one == go(2, plenty) && one == go(3, plenty) && one == go(2, little));
        for gram in &one.0 {
            for i in 0..gram.rows() {
                for j in 0..i {
                    assert_eq!(gram.get(i, j).to_bits(), gram.get(j, i).to_bits());
                }
            }
        }
    }
}

/// Answers in pieces are the answers of the whole: bags of one row to several chunks, near and far from the columns, in
/// every storage and instruction set.
#[test]
fn a_bag_gives_the_same_bits_whatever_comes_with_it() {
    fn holds<T: simd::Element + AvailableKernels>(gammas: &[f64]) {
        let sizes = [1, 1, 5, 30, 2, 60, 25, 1, 500, 7, 193, 48, 3, 96, 12, 1];
        let mut new = Case::new(5, &sizes, 9, 2, 0.3);
        // Some far bags, and a far row in a bag that is near.
        for row in [3..10, 40..90, 700..850].into_iter().flatten() {
            new.rows.row_mut(row).iter_mut().for_each(|x| *x += 40.0);
        }
        let old = Case::new(6, &[3, 50, 1, 1, 20, 70, 9], 9, 2, 0.3);
        let outputs = outputs(gammas, 2);
        for (new_rows, old_rows) in new.storages().iter().zip(old.storages().iter()) {
            for kernels in T::available() {
                let (all, cols) = (new.side(new_rows), old.side(old_rows));
                let grams = |rows: &Side, shape| {
                    let cols = if shape == GramShape::Diagonal { rows } else { &cols };
                    run_with(rows, cols, 0..rows.offsets.len() - 1, &outputs, shape, kernels, &Ctx::default())
                        .unwrap()
                };
                // Similarities of bags with themselves are always made in doubles.
                let shapes = [GramShape::Rectangular, GramShape::Diagonal];
                for shape in shapes.into_iter().take(size_of::<T>() / 4) {
                    let whole = grams(&all, shape);
                    for cut in [1, 3, 7] {
                        for first in (0..sizes.len()).step_by(cut) {
                            let bags = first..(first + cut).min(sizes.len());
                            let rows = new.offsets[bags.start]..new.offsets[bags.end];
                            let part = Case {
                                rows: Mat::new(
                                    rows.len(),
                                    9,
                                    new.rows.data()[rows.start * 9..rows.end * 9].to_vec(),
                                ),
                                offsets: new.offsets[bags.start..=bags.end]
                                    .iter()
                                    .map(|o| o - rows.start)
                                    .collect(),
                                weights: new.weights.iter().map(|w| w[rows.clone()].to_vec()).collect(),
                            };
                            let storage = new
                                .storages()
                                .iter()
                                .position(|s| std::mem::discriminant(s) == std::mem::discriminant(new_rows));
                            let stored = &part.storages()[storage.unwrap()];
                            for (alone, whole) in grams(&part.side(stored), shape).iter().zip(&whole) {
                                for (row, bag) in bags.clone().enumerate() {
                                    assert_eq!(
                                        alone.row(row),
                                        whole.row(bag),
                                        "{shape:?} {} bag {bag}",
                                        kernels.set.name()
                                    );
                                }
                            }
                        }
                    }
                }
            }
        }
    }
    for gammas in [&[0.01, 0.02, 0.3][..], &[8.0]] {
        holds::<f64>(gammas);
        holds::<f32>(gammas);
    }
}

#[test]
fn thousands_of_equal_rows_are_all_at_distance_zero() {
    let sizes = [1500, 1, 700];
    let mut case = Case::new(6, &sizes, 7, 1, 0.0);
    let row = case.rows.row(0).to_vec();
    for r in 0..2201 {
        case.rows.row_mut(r).copy_from_slice(&row);
    }
    for instances in &case.storages() {
        let side = case.side(instances);
        let out = [GramOutput { gamma: 1e6, terms: vec![0] }];
        for kernels in f64::available() {
            let gram = &with(&side, &side, &out, GramShape::Symmetric, kernels)[0];
            assert_eq!(gram.get(0, 0), 1500.0 * 1500.0);
            assert_eq!(gram.get(2, 2), 700.0 * 700.0);
            // Between bags the expansion may be used; all rows equal their mean, to rounding.
            assert!((gram.get(0, 2) - 1500.0 * 700.0).abs() < 1e-6);
        }
        let bags = Bags::new(instances.clone(), case.offsets.clone()).unwrap();
        assert!(within::squared_distances(bags.bag(2)).unwrap().data().iter().all(|&s| s == 0.0));
    }
}

#[test]
fn single_instances_give_the_instance_kernel_and_large_gamma_the_identity() {
    let sizes = [1; 200];
    let mut case = Case::new(7, &sizes, 5, 1, 0.0);
    // No equal rows here.
    let mut numbers = Numbers(8);
    case.rows.data_mut().iter_mut().for_each(|x| *x = f64::from(numbers.unit() as f32));
    let instances = &case.storages()[0];
    let side = case.side(instances);
    let out = [GramOutput { gamma: 1.5, terms: vec![0] }, GramOutput { gamma: 1e9, terms: vec![0] }];
    for kernels in f64::available() {
        let grams = with(&side, &side, &out, GramShape::Symmetric, kernels);
        assert!(worst(&grams[0], &literal(&case, &case, &out[0])) < 1e-14);
        for i in 0..200 {
            for j in 0..200 {
                assert_eq!(grams[1].get(i, j), f64::from(i == j));
            }
        }
    }
    let grams = symmetric(&side, &out, Precision::F32, &Ctx::default()).unwrap();
    assert_eq!(grams[1].get(3, 3), 1.0);
    assert_eq!(grams[1].get(3, 4), 0.0);
}

#[test]
fn values_far_from_zero_or_from_each_other_keep_their_digits() {
    // Raw integers as of a chemist's table, a column with an offset of a million, and one outlier.
    let sizes = [3, 8, 1, 20, 1, 1];
    let mut case = Case::new(9, &sizes, 30, 2, 0.0);
    let mut numbers = Numbers(10);
    for r in 0..case.rows.rows() {
        for (c, x) in case.rows.row_mut(r).iter_mut().enumerate() {
            *x = (numbers.unit() * 8.0).floor() + if c == 4 { 1e6 } else { 200.0 };
        }
    }
    case.rows.row_mut(5).fill(1e5);
    let out = outputs(&[2f64.powi(-8), 2f64.powi(-5), 0.3, 2.0], 2);
    for instances in &case.storages() {
        let side = case.side(instances);
        for kernels in f64::available() {
            let found = with(&side, &side, &out, GramShape::Symmetric, kernels);
            for (found, output) in found.iter().zip(&out) {
                // gamma s eps with gamma s up to 700, and the same again in the double loop.
                let error = worst(found, &literal(&case, &case, output));
                assert!(error < 6e-13, "{error:e}");
            }
        }
    }
}

#[test]
fn the_gram_of_some_bags_is_part_of_the_gram() {
    let case = Case::new(11, &[4, 60, 1, 1, 30, 2, 111], 40, 2, 0.5);
    let all = Bags::new(case.storages()[0].clone(), case.offsets.clone()).unwrap();
    let chosen = [6, 2, 4];
    let some = all.select(&chosen);
    let weights: Vec<Vec<f64>> =
        case.weights.iter().map(|w| chosen.iter().flat_map(|&b| w[all.rows(b)].to_vec()).collect()).collect();
    let out = outputs(&[0.7, 1.4], 2);
    let side = Side { instances: some.instances(), offsets: some.offsets(), weights: &weights };
    let ctx = Ctx::default();
    let whole = symmetric(&case.side(all.instances()), &out, Precision::F64, &ctx).unwrap();
    let part = symmetric(&side, &out, Precision::F64, &ctx).unwrap();
    let block = rectangular(&side, &case.side(all.instances()), &out, Precision::F64, &ctx).unwrap();
    for o in 0..out.len() {
        for (i, &x) in chosen.iter().enumerate() {
            for (j, &y) in chosen.iter().enumerate() {
                let expected = whole[o].get(x, y);
                // Other centre, other order of sums; weights may cancel to a tenth.
                assert!((part[o].get(i, j) / expected - 1.0).abs() < 1e-12);
                assert!((block[o].get(i, y) / expected - 1.0).abs() < 1e-12);
            }
        }
    }
}

#[test]
fn distances_inside_a_bag_are_differences() {
    for (size, width, zeros) in [(1, 3, 0.0), (2, 1, 0.0), (131, 37, 0.0), (60, 50, 0.97)] {
        let case = Case::new(12, &[5, size], width, 1, zeros);
        for instances in case.storages() {
            let bags = Bags::new(instances, case.offsets.clone()).unwrap();
            let found = within::squared_distances(bags.bag(1)).unwrap();
            for i in 0..size {
                for j in 0..size {
                    let (a, b) = (case.rows.row(5 + i), case.rows.row(5 + j));
                    let s: f64 = a.iter().zip(b).map(|(p, q)| (p - q) * (p - q)).sum();
                    // Sums of positive numbers in another order: width * eps at most.
                    assert!((found.get(i, j) - s).abs() <= 1e-14 * s);
                    assert_eq!(found.get(i, j), found.get(j, i));
                }
            }
        }
    }
}

#[test]
fn what_does_not_fit_is_refused() {
    let case = Case::new(13, &[2, 3], 4, 1, 0.0);
    let instances = &case.storages()[0];
    let side = case.side(instances);
    let ctx = Ctx::default();
    let message = |out: GramOutput| symmetric(&side, &[out], Precision::F64, &ctx).unwrap_err().to_string();
    assert!(message(GramOutput { gamma: -1.0, terms: vec![0] }).contains("gamma -1"));
    assert!(message(GramOutput { gamma: f64::NAN, terms: vec![0] }).contains("gamma"));
    assert!(message(GramOutput { gamma: 1.0, terms: vec![1] }).contains("term 1"));
    let short = Side { weights: &[vec![1.0; 4]], ..side };
    assert!(symmetric(&short, &[], Precision::F64, &ctx).unwrap_err().to_string().contains("4 values"));
    let mut bad = case.rows.clone();
    bad.set(3, 1, f64::NAN);
    let missing = Side { instances: &Instances::F64(bad), ..side };
    let one = [GramOutput { gamma: 1.0, terms: vec![0] }];
    assert!(symmetric(&missing, &one, Precision::F64, &ctx).unwrap_err().to_string().contains("missing"));
    let mut small = Ctx::default();
    small.memory = 10;
    assert!(matches!(symmetric(&side, &one, Precision::F64, &small), Err(Error::Memory { .. })));
    ctx.canceller().store(true, std::sync::atomic::Ordering::Relaxed);
    assert!(matches!(symmetric(&side, &one, Precision::F64, &ctx), Err(Error::Cancelled)));
}
