//! Set kernels over every kernel of instances they take, against their definitions in plain double loops: weights,
//! normalisation, width relative to the median, new bags beside training bags.

use bagwise::graph::{Epsilon, Graph, Zero};
use bagwise::params::{Grid, Point, WhenUnset};
use bagwise::preprocess::Scale;
use bagwise::{Bags, Ctx, Instances, Mat, Rng, gram, methods};

const GAMMA: f64 = 0.8;

/// Bags with zeros, with equal instances, and one with a single instance.
fn bags(seed: u64, sizes: &[usize]) -> Bags {
    let mut rng = Rng::new(seed, "kernels", &[]);
    let mut rows: Vec<Vec<f64>> = Vec::new();
    let mut offsets = vec![0];
    for &size in sizes {
        for i in 0..size {
            let again = i > 0 && rng.below(4) == 0;
            let value = |rng: &mut Rng| if rng.below(3) == 0 { 0.0 } else { rng.normal() };
            rows.push(if again {
                rows[rows.len() - 1].clone()
            } else {
                (0..5).map(|_| value(&mut rng)).collect()
            });
        }
        offsets.push(rows.len());
    }
    Bags::new(Instances::F64(Mat::from_rows(&rows)), offsets).unwrap()
}

fn point(method: &str, given: &[(&str, String)]) -> Point {
    let method = methods::find(method).unwrap();
    let given: Vec<(String, String)> = given.iter().map(|(n, v)| (n.to_string(), v.clone())).collect();
    Grid::new(method.info().name, method.params(), &given, WhenUnset::Default, false)
        .unwrap()
        .points
        .remove(0)
}

fn squared(x: &[f64], z: &[f64]) -> f64 {
    x.iter().zip(z).map(|(x, z)| (x - z) * (x - z)).sum()
}

/// Equation 15 of the isolation set-kernel paper.
fn text(x: &[f64], z: &[f64]) -> f64 {
    let present = x.iter().zip(z).filter(|(x, z)| **x != 0.0 || **z != 0.0).count();
    if present == 0 { 0.0 } else { squared(x, z) / present as f64 }
}

fn dot(x: &[f64], z: &[f64]) -> f64 {
    x.iter().zip(z).map(|(x, z)| x * z).sum()
}

/// A kernel of instances: its parameters, its value, and the squared distance that goes with it.
type Kernel = (Vec<(&'static str, String)>, fn(&[f64], &[f64]) -> f64, fn(&[f64], &[f64]) -> f64);

fn kernels() -> Vec<Kernel> {
    let word = |name, value: &str| (name, value.to_string());
    vec![
        (vec![], |x, z| (-GAMMA * squared(x, z)).exp(), squared),
        (vec![word("kernel", "linear")], dot, squared),
        (vec![word("kernel", "poly")], |x, z| (dot(x, z) + 1.0).powi(2), squared),
        (vec![word("kernel", "poly"), word("degree", "3")], |x, z| (dot(x, z) + 1.0).powi(3), squared),
        (vec![word("distance", "text")], |x, z| (-GAMMA * text(x, z)).exp(), text),
    ]
}

fn of_bag(bags: &Bags, b: usize) -> Vec<Vec<f64>> {
    let rows = bags.bag(b).to_dense().unwrap();
    (0..rows.rows()).map(|i| rows.row(i).to_vec()).collect()
}

/// What a bag weighs its instances by, and what the sum is divided by.
type Weigh<'a> = &'a dyn Fn(&[Vec<f64>]) -> Vec<f64>;

/// The definition: sums, plus what edges add, divided by factors of the two bags.
fn definition(
    left: &Bags,
    right: &Bags,
    weigh: Weigh<'_>,
    kernel: &dyn Fn(&[f64], &[f64]) -> f64,
    more: &dyn Fn(&Bags, usize, &Bags, usize) -> f64,
    norm: &str,
) -> Mat {
    let sum = |a: &Bags, x: usize, b: &Bags, z: usize| {
        let (xs, zs) = (of_bag(a, x), of_bag(b, z));
        let (v, w) = (weigh(&xs), weigh(&zs));
        let mut sum = more(a, x, b, z);
        for i in 0..xs.len() {
            for j in 0..zs.len() {
                sum += v[i] * w[j] * kernel(&xs[i], &zs[j]);
            }
        }
        sum
    };
    let factor = |bags: &Bags, b: usize| match norm {
        "none" => 1.0,
        "mean" | "eq5" => weigh(&of_bag(bags, b)).iter().sum::<f64>(),
        "sqrtsum" => weigh(&of_bag(bags, b)).iter().sum::<f64>().sqrt(),
        _ => sum(bags, b, bags, b).sqrt(),
    };
    let mut out = Mat::zeros(left.len(), right.len());
    for x in 0..left.len() {
        for z in 0..right.len() {
            out.set(x, z, sum(left, x, right, z) / (factor(left, x) * factor(right, z)));
        }
    }
    out
}

fn check(method: &str, given: &[(&str, String)], expected: impl Fn(&Bags, &Bags) -> Mat) {
    let (a, b) = (bags(1, &[3, 6, 1, 4, 9, 2]), bags(2, &[5, 1, 7]));
    let point = point(method, given);
    let method = methods::find(method).unwrap();
    let ctx = Ctx::default();
    let square = gram(method, &point, Scale::None, false, &a, None, None, &ctx).unwrap();
    let wide = gram(method, &point, Scale::None, false, &b, Some(&a), None, &ctx).unwrap();
    for (found, expected) in [(square, expected(&a, &a)), (wide, expected(&b, &a))] {
        assert_eq!((found.rows(), found.cols()), (expected.rows(), expected.cols()));
        let size = expected.data().iter().fold(0.0, |m: f64, v| m.max(v.abs()));
        for (f, e) in found.data().iter().zip(expected.data()) {
            // Inner products of both signs cancel in sums of some fifty; units of the largest entry.
            assert!((f - e).abs() <= 1e-12 * size, "{} {point}: {f:e}, expected {e:e}", method.info().name);
        }
    }
}

fn given(of_kernel: &[(&'static str, String)], more: &[(&'static str, &str)]) -> Vec<(&'static str, String)> {
    let more = more.iter().map(|(n, v)| (*n, v.to_string()));
    of_kernel.iter().cloned().chain([("gamma", GAMMA.to_string())]).chain(more).collect()
}

#[test]
fn mi_kernel() {
    for (params, kernel, _) in kernels() {
        for norm in ["none", "mean", "sqrt"] {
            let ones = |bag: &[Vec<f64>]| vec![1.0; bag.len()];
            check("mi-kernel", &given(&params, &[("norm", norm)]), |l, r| {
                definition(l, r, &ones, &kernel, &|_, _, _, _| 0.0, norm)
            });
        }
    }
}

#[test]
fn migraph_with_every_dissimilarity() {
    for (params, kernel, distance) in kernels() {
        for dist in ["gauss", "rkhs", "euclid", "sq"] {
            let dissimilarity = |x: &[f64], z: &[f64]| match dist {
                "gauss" => 1.0 - (-GAMMA * distance(x, z)).exp(),
                // The feature space of the kernel.
                "rkhs" => (kernel(x, x) + kernel(z, z) - 2.0 * kernel(x, z)).max(0.0).sqrt(),
                "euclid" => distance(x, z).sqrt(),
                _ => distance(x, z),
            };
            let weights = |bag: &[Vec<f64>]| {
                let n = bag.len();
                let pairs = (0..n).flat_map(|a| (a + 1..n).map(move |u| (a, u)));
                let all: Vec<f64> = pairs.map(|(a, u)| dissimilarity(&bag[a], &bag[u])).collect();
                let delta = all.iter().sum::<f64>() / all.len().max(1) as f64;
                let near = |a: usize, u: usize| a == u || dissimilarity(&bag[a], &bag[u]) < delta;
                (0..n).map(|a| 1.0 / (0..n).filter(|&u| near(a, u)).count() as f64).collect()
            };
            for norm in ["eq5", "sqrt"] {
                check("migraph", &given(&params, &[("dist", dist), ("norm", norm)]), |l, r| {
                    definition(l, r, &weights, &kernel, &|_, _, _, _| 0.0, norm)
                });
            }
        }
    }
}

#[test]
fn wmksvm() {
    let weights = |bag: &[Vec<f64>]| {
        let spread: Vec<f64> = bag.iter().map(|x| bag.iter().map(|z| squared(x, z)).sum()).collect();
        if spread.contains(&0.0) {
            return vec![1.0 / bag.len() as f64; bag.len()];
        }
        let total: f64 = spread.iter().map(|s| 1.0 / s).sum();
        spread.iter().map(|s| 1.0 / s / total).collect()
    };
    for (params, kernel, _) in kernels().into_iter().filter(|k| k.0.iter().all(|p| p.0 != "distance")) {
        for norm in ["none", "sqrt"] {
            check("wmksvm", &given(&params, &[("norm", norm)]), |l, r| {
                definition(l, r, &weights, &kernel, &|_, _, _, _| 0.0, norm)
            });
        }
    }
}

#[test]
fn migraph_explicit_keeps_the_gaussian_for_edges() {
    // An edge has two directions, which are averaged.
    let edges = |bags: &Bags, b: usize| {
        let graph = Graph::of(bags.bag(b), Epsilon::Mean, Zero::Limit).unwrap();
        let turned = |v: [f64; 4]| [v, [v[2], v[3], v[0], v[1]]];
        let vectors = graph.edges.iter().flat_map(|e| turned(graph.vector(e, bagwise::graph::Orient::Both)));
        vectors.collect::<Vec<[f64; 4]>>()
    };
    let more = |a: &Bags, x: usize, b: &Bags, z: usize| {
        let (e, f) = (edges(a, x), edges(b, z));
        let pairs = e.iter().flat_map(|e| f.iter().map(move |f| (-GAMMA * squared(e, f)).exp() / 4.0));
        pairs.sum::<f64>()
    };
    let ones = |bag: &[Vec<f64>]| vec![1.0; bag.len()];
    for (params, kernel, _) in kernels().into_iter().filter(|k| k.0.iter().all(|p| p.0 != "distance")) {
        for norm in ["none", "sqrt"] {
            check("migraph-explicit", &given(&params, &[("norm", norm), ("tol", "0")]), |l, r| {
                definition(l, r, &ones, &kernel, &more, norm)
            });
        }
    }
}

#[test]
fn a_width_relative_to_the_median_is_relative_to_the_distance_for_text() {
    // All instances at the same distance from each other, 2 or, for text, 2 / 2: the median is known.
    let rows: Vec<Vec<f64>> =
        (0..6).map(|i| (0..6).map(|j| if i == j { 1.0 } else { 0.0 }).collect()).collect();
    let bags = Bags::new(Instances::F64(Mat::from_rows(&rows)), vec![0, 2, 4, 6]).unwrap();
    let of = |given: &[(&str, &str)]| {
        let given: Vec<(&str, String)> = given.iter().map(|(n, v)| (*n, v.to_string())).collect();
        let (method, point) = (methods::find("mi-kernel").unwrap(), point("mi-kernel", &given));
        gram(method, &point, Scale::None, false, &bags, None, None, &Ctx::default()).unwrap()
    };
    let close = |a: &Mat, b: &Mat| a.data().iter().zip(b.data()).all(|(a, b)| (a - b).abs() < 1e-14);
    assert!(close(&of(&[("gamma", "3/median")]), &of(&[("gamma", "1.5")])));
    let text = of(&[("gamma", "3/median"), ("distance", "text")]);
    assert!(close(&text, &of(&[("gamma", "3"), ("distance", "text")])));
    assert!(close(&text, &of(&[("gamma", "1.5")])), "half the distance, twice the width");
}
