//! Small problems for the tests, from a generator of our own so that they never change.
#![allow(dead_code, unreachable_pub, reason = "each test file uses some of this")]

use bagwise_svm::Form;

pub struct Random(pub u64);

impl Random {
    pub fn uniform(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        ((z ^ (z >> 31)) >> 11) as f64 / (1u64 << 53) as f64
    }

    pub fn normal(&mut self) -> f64 {
        let radius = (-2.0 * (1.0 - self.uniform()).ln()).sqrt();
        radius * (std::f64::consts::TAU * self.uniform()).cos()
    }
}

pub struct Points {
    pub x: Vec<Vec<f64>>,
    pub labels: Vec<f64>,
    pub targets: Vec<f64>,
}

/// Normal points; targets bend and carry noise, labels are their signs with both classes present if `n > 1`.
pub fn points(n: usize, dimensions: usize, seed: u64) -> Points {
    let mut random = Random(seed);
    let x: Vec<Vec<f64>> = (0..n).map(|_| (0..dimensions).map(|_| random.normal()).collect()).collect();
    let targets: Vec<f64> =
        x.iter().map(|p| (2.0 * p[0]).sin() + p[p.len() - 1] + 0.4 * random.normal() + 0.2).collect();
    let mut labels: Vec<f64> = targets.iter().map(|&t| if t > 0.0 { 1.0 } else { -1.0 }).collect();
    if n > 1 {
        labels[0] = 1.0;
        labels[1] = -1.0;
    }
    Points { x, labels, targets }
}

pub fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(p, q)| p * q).sum()
}

pub fn rbf(gamma: f64) -> impl Fn(&[f64], &[f64]) -> f64 {
    move |a, b| (-gamma * a.iter().zip(b).map(|(p, q)| (p - q) * (p - q)).sum::<f64>()).exp()
}

pub fn gram(x: &[Vec<f64>], kernel: impl Fn(&[f64], &[f64]) -> f64) -> Vec<f64> {
    x.iter().flat_map(|a| x.iter().map(|b| kernel(a, b)).collect::<Vec<_>>()).collect()
}

pub fn upto(n: usize) -> Vec<usize> {
    (0..n).collect()
}

/// What the definition says of given coefficients: KKT gap, dual objective, sum, worst step outside the box.
pub struct Audit {
    pub gap: f64,
    pub objective: f64,
    pub sum: f64,
    pub outside: f64,
    pub outputs: Vec<f64>,
    /// Largest upward and smallest downward slope: an optimal bias lies between.
    pub interval: (f64, f64),
}

pub fn audit(gram: &[f64], form: Form<'_>, limits: &[f64], b: &[f64]) -> Audit {
    let dual = form.dual(limits);
    let n = b.len();
    let (mut up, mut down) = (f64::NEG_INFINITY, f64::INFINITY);
    let (mut objective, mut outside): (f64, f64) = (0.0, 0.0);
    let outputs: Vec<f64> = (0..n).map(|i| dot(&gram[i * n..(i + 1) * n], b)).collect();
    for i in 0..n {
        let gradient = dual.linear[i] - outputs[i];
        if b[i] < dual.upper[i] {
            up = up.max(gradient - if b[i] >= 0.0 { dual.tube } else { -dual.tube });
        }
        if b[i] > dual.lower[i] {
            down = down.min(gradient - if b[i] > 0.0 { dual.tube } else { -dual.tube });
        }
        objective += 0.5 * b[i] * outputs[i] - dual.linear[i] * b[i] + dual.tube * b[i].abs();
        outside = outside.max(b[i] - dual.upper[i]).max(dual.lower[i] - b[i]);
    }
    Audit {
        gap: (up - down).max(0.0),
        objective,
        sum: b.iter().sum(),
        outside,
        outputs,
        interval: (up, down),
    }
}

pub fn largest_difference(a: &[f64], b: &[f64]) -> f64 {
    assert_eq!(a.len(), b.len());
    a.iter().zip(b).map(|(p, q)| (p - q).abs()).fold(0.0, f64::max)
}
