//! The definition itself, in plain loops: what every faster way must equal.
//!
//! The cell of x in a list of centres is the position of the nearest; of equally near ones the first. Distances are
//! squared, in double precision, from differences, attributes left to right. For text (eq 15 of the paper) the sum is
//! divided by the number of attributes that at least one of the two has, so that shared absence does not make near.

use super::Distance;
use crate::simd::Element;

/// The squared distance of two dense rows, in either precision.
pub(crate) fn dense<A: Element, B: Element>(distance: Distance, x: &[A], z: &[B]) -> f64 {
    let mut sum = 0.0;
    match distance {
        Distance::Euclidean => {
            for (x, z) in x.iter().zip(z) {
                let difference = x.to_f64() - z.to_f64();
                sum += difference * difference;
            }
            sum
        }
        Distance::Text => {
            let mut present = 0u32;
            for (x, z) in x.iter().zip(z) {
                let (x, z) = (x.to_f64(), z.to_f64());
                let difference = x - z;
                sum += difference * difference;
                present += u32::from(x != 0.0 || z != 0.0);
            }
            mean(sum, f64::from(present))
        }
    }
}

/// The same of two sparse rows: attributes that neither has add nothing to the sum.
pub(crate) fn sparse(distance: Distance, a: (&[u32], &[f64]), b: (&[u32], &[f64])) -> f64 {
    let (mut i, mut j, mut sum, mut present) = (0, 0, 0.0, 0u32);
    let mut add = |x: f64, z: f64| {
        sum += (x - z) * (x - z);
        present += u32::from(x != 0.0 || z != 0.0);
    };
    while i < a.0.len() && j < b.0.len() {
        let (ca, cb) = (a.0[i], b.0[j]);
        add(if ca <= cb { a.1[i] } else { 0.0 }, if cb <= ca { b.1[j] } else { 0.0 });
        i += usize::from(ca <= cb);
        j += usize::from(cb <= ca);
    }
    for &x in a.1[i..].iter().chain(&b.1[j..]) {
        add(x, 0.0);
    }
    match distance {
        Distance::Euclidean => sum,
        Distance::Text => mean(sum, f64::from(present)),
    }
}

/// A sum over the attributes that are present; two rows without any are equal.
pub(crate) fn mean(sum: f64, present: f64) -> f64 {
    if present == 0.0 { 0.0 } else { sum / present }
}

/// The nearest of a growing list: offer distances in the order of the list.
pub(crate) struct Nearest {
    best: f64,
    at: u16,
}

impl Nearest {
    pub(crate) fn new() -> Nearest {
        // The first one offered is taken even if its distance overflowed.
        Nearest { best: f64::INFINITY, at: 0 }
    }

    #[inline(always)]
    pub(crate) fn offer(&mut self, at: usize, distance: f64) {
        if distance < self.best {
            self.best = distance;
            self.at = at as u16;
        }
    }

    pub(crate) fn at(&self) -> u16 {
        self.at
    }
}
