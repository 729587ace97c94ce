//! Invariants of every bag kernel, on random bags: symmetric, positive semi-definite, independent of the other bags,
//! and the same between two sets of bags as within one.

use bagwise::method::{Capability, Method};
use bagwise::methods::METHODS;
use bagwise::params::{Grid, Kind, WhenUnset};
use bagwise::preprocess::Scale;
use bagwise::{Bags, Ctx, Instances, Mat, gram};
use proptest::prelude::*;

/// Bags on a coarse lattice, so that duplicates and ties are common.
fn some_bags() -> impl Strategy<Value = Bags> {
    let bag = (1usize..6).prop_flat_map(|n| prop::collection::vec(-8i32..8, n * 3));
    prop::collection::vec(bag, 2..9).prop_map(|bags| {
        let mut offsets = vec![0];
        let mut values = Vec::new();
        for bag in bags {
            values.extend(bag.iter().map(|&v| f64::from(v) / 4.0));
            offsets.push(values.len() / 3);
        }
        Bags::new(Instances::F64(Mat::new(values.len() / 3, 3, values)), offsets).unwrap()
    })
}

/// Every method with a kernel, at every combination of its words.
fn kernels() -> Vec<(&'static dyn Method, bagwise::params::Point)> {
    let mut all = Vec::new();
    // Of what is the same for all bags: not learned from labels, and without cells, clusters or axes found in the bags.
    let learned = |m: &dyn Method| {
        m.info().has(Capability::FeatureMap)
            || m.params().iter().any(|p| ["centres", "prototypes", "summary"].contains(&p.name))
    };
    let has_kernel = |m: &&&dyn Method| m.info().has(Capability::Kernel) && !learned(**m);
    for method in METHODS.iter().filter(has_kernel) {
        let given: Vec<(String, String)> = method
            .params()
            .iter()
            .filter(|p| p.applies(false))
            .filter_map(|p| match p.kind {
                Kind::Word(words) => Some((p.name.to_string(), words.join(","))),
                Kind::Width => Some((p.name.to_string(), "0.7".to_string())),
                _ => None,
            })
            .collect();
        let grid = Grid::new(method.info().name, method.params(), &given, WhenUnset::Default, false).unwrap();
        // Not every word goes with every other.
        let meant =
            |p: &bagwise::params::Point| method.refuses(std::slice::from_ref(p), Scale::None).is_none();
        all.extend(grid.points.into_iter().filter(meant).map(|point| (*method, point)));
    }
    all
}

/// Whether instances are compared by exp(-gamma |x - z|^2): the distance for text gives no positive kernel, and other kernels
/// of instances have other values.
fn is_gaussian((_, point): &(&'static dyn Method, bagwise::params::Point)) -> bool {
    let has = |name: &str, usual: &str| point.word(name).map_or(true, |word| word == usual);
    has("kernel", "rbf") && has("distance", "euclidean")
}

fn gram_of(method: &dyn Method, point: &bagwise::params::Point, bags: &Bags, against: Option<&Bags>) -> Mat {
    gram(method, point, Scale::None, false, bags, against, None, &Ctx::default()).unwrap()
}

/// Cholesky of `gram` with a little on the diagonal: exists if no eigenvalue is below minus that little.
fn positive(gram: &Mat, jitter: f64) -> bool {
    let n = gram.rows();
    let mut l = Mat::zeros(n, n);
    for i in 0..n {
        for j in 0..=i {
            let sum: f64 = (0..j).map(|k| l.get(i, k) * l.get(j, k)).sum();
            let value = gram.get(i, j) - sum + if i == j { jitter } else { 0.0 };
            if i == j && value <= 0.0 {
                return false;
            }
            l.set(i, j, if i == j { value.sqrt() } else { value / l.get(j, j) });
        }
    }
    true
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

    #[test]
    fn kernels_are_symmetric_and_positive(bags in some_bags()) {
        for (method, point) in kernels().into_iter().filter(|k| k.1.word("distance").map_or(true, |d| d == "euclidean")) {
            let g = gram_of(method, &point, &bags, None);
            let largest = (0..g.rows()).map(|i| g.get(i, i)).fold(0.0, f64::max);
            for i in 0..g.rows() {
                for j in 0..i {
                    prop_assert_eq!(g.get(i, j), g.get(j, i));
                }
            }
            // Rounding of sums moves eigenvalues by some 1e-15 of the largest entry and row.
            prop_assert!(positive(&g, 1e-12 * largest.max(1e-300) * g.rows() as f64), "{} {}", method.info().name, point);
        }
    }

    #[test]
    fn an_entry_depends_on_its_two_bags_only(bags in some_bags()) {
        let some: Vec<usize> = (0..bags.len()).filter(|b| b % 2 == 0).collect();
        let part = bags.select(&some);
        for (method, point) in kernels() {
            let whole = gram_of(method, &point, &bags, None);
            let alone = gram_of(method, &point, &part, None);
            let between = gram_of(method, &point, &bags, Some(&part));
            for (i, &a) in some.iter().enumerate() {
                for (j, &b) in some.iter().enumerate() {
                    let value = whole.get(a, b);
                    // Another tiling sums in another order.
                    let close = |x: f64| (x - value).abs() <= 1e-12 * value.abs().max(1e-300);
                    prop_assert!(close(alone.get(i, j)), "{} {}: {} {}", method.info().name, point, alone.get(i, j), value);
                    prop_assert!(close(between.get(a, j)), "{} {}: {} {}", method.info().name, point, between.get(a, j), value);
                }
            }
        }
    }

    #[test]
    fn bags_of_one_instance_have_the_kernel_of_their_instances(values in prop::collection::vec(-8i32..8, 6..20)) {
        let points: Vec<f64> = values.iter().map(|&v| f64::from(v) / 4.0).collect();
        let n = points.len();
        let bags = Bags::new(Instances::F64(Mat::new(n, 1, points.clone())), (0..=n).collect()).unwrap();
        for (method, point) in kernels().into_iter().filter(|k| is_gaussian(k) && k.0.info().family == "set kernel + SVM") {
            let g = gram_of(method, &point, &bags, None);
            for i in 0..n {
                for j in 0..n {
                    let expected = (-0.7 * (points[i] - points[j]).powi(2)).exp();
                    prop_assert!((g.get(i, j) - expected).abs() <= 1e-13, "{} {}", method.info().name, point);
                }
            }
        }
    }
}
