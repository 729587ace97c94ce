//! The loops of the batched density, once each, compiled for every instruction set and chosen at run time (as in
//! `engine::kernels`, whose `outer` makes the gradients).
//!
//! Lanes are concepts, so that a bag of any size is a loop over its rows without remainders. Distances are sums
//! of `(w x - w h)^2`: two multiply-adds per attribute, as many as the expanded form takes, without its
//! cancellation. Likelihoods need no logarithm per instance: with `u = exp(-D)` and `m = 1 - u` (both to the last
//! place, also for small D), the probability that no instance of a bag is near is the product of the `m`, and that
//! some is near is summed up beside it without cancellation.

use crate::simd::{Element, InstructionSet, Vector, table_of};

/// Attributes per sweep: weights and products of a panel of 16 concepts are then 24 kB and stay in the first
/// cache while rows pass.
const WIDTH_BLOCK: usize = 96;

/// The loops for one instruction set. All are unsafe to call unless the processor has it, and for no other reason:
/// lengths are asserted.
pub(crate) struct Loops {
    /// Instances in a panel of rows.
    pub mr: usize,
    /// Concepts in a panel.
    pub nr: usize,
    /// Squared distances of rows (panels of `mr`, attribute after attribute) to a panel of concepts (for each
    /// attribute `nr` weights w and as many -w h): rows x nr.
    pub distances: unsafe fn(rows: &[f64], concepts: &[f64], width: usize, out: &mut [f64]),
    /// Distances become slopes of the log-likelihood, in place, bag after bag (`bounds` in rows): for each bag and
    /// lane the likelihood, and minus the least distance. Slopes of padding lanes have no meaning.
    pub odds: unsafe fn(
        distances: &mut [f64],
        bounds: &[usize],
        positive: &[bool],
        likelihood: &mut [f64],
        nearest: &mut [f64],
    ),
}

#[inline(always)]
unsafe fn register_tile<V: Vector<E = f64>, const MR: usize>(
    width: usize,
    mut rows: *const f64,
    mut concepts: *const f64,
    first: bool,
    out: *mut f64,
) {
    let nr = 2 * V::LANES;
    // SAFETY: `distances` asserts that `width` attributes of both panels and MR rows of nr numbers lie behind the
    // pointers; the caller vouches for the instruction set.
    unsafe {
        let mut acc = [[V::splat(0.0); 2]; MR];
        for _ in 0..width {
            let w = [V::load(concepts), V::load(concepts.add(V::LANES))];
            let shift = [V::load(concepts.add(nr)), V::load(concepts.add(nr + V::LANES))];
            for i in 0..MR {
                let x = V::splat(*rows.add(i));
                let t0 = x.mul_add(w[0], shift[0]);
                acc[i][0] = t0.mul_add(t0, acc[i][0]);
                let t1 = x.mul_add(w[1], shift[1]);
                acc[i][1] = t1.mul_add(t1, acc[i][1]);
            }
            rows = rows.add(MR);
            concepts = concepts.add(2 * nr);
        }
        for i in 0..MR {
            for j in 0..2 {
                let to = out.add(i * nr + j * V::LANES);
                let sum = if first { acc[i][j] } else { V::load(to).add(acc[i][j]) };
                sum.store(to);
            }
        }
    }
}

#[inline(always)]
unsafe fn distances<V: Vector<E = f64>, const MR: usize>(
    rows: &[f64],
    concepts: &[f64],
    width: usize,
    out: &mut [f64],
) {
    let nr = 2 * V::LANES;
    let count = rows.len() / width;
    assert!(count.is_multiple_of(MR) && rows.len() == count * width, "whole panels");
    assert!(concepts.len() == 2 * nr * width && out.len() >= count * nr);
    let length = width.div_ceil(width.div_ceil(WIDTH_BLOCK));
    for from in (0..width).step_by(length) {
        let attributes = length.min(width - from);
        for i in (0..count).step_by(MR) {
            // SAFETY: panel i of the rows starts at i * width and has MR * width numbers, of which those of the
            // attributes from..from + length are read; the assertions bound the rest.
            unsafe {
                register_tile::<V, MR>(
                    attributes,
                    rows.as_ptr().add(i * width + from * MR),
                    concepts.as_ptr().add(from * 2 * nr),
                    from == 0,
                    out.as_mut_ptr().add(i * nr),
                );
            }
        }
    }
}

/// exp(-d) and 1 - exp(-d), both with all their digits: `2^t = 2^n (1 + f q(f))`, and where n = 0 the difference to
/// 1 is `-f q(f)` itself.
#[inline(always)]
unsafe fn near_and_far<V: Vector<E = f64>>(d: V) -> (V, V) {
    // SAFETY: the caller vouches for the instruction set; nothing here touches memory.
    unsafe {
        let t = d.mul(V::splat(-std::f64::consts::LOG2_E)).max(V::splat(<f64 as Element>::FLOOR));
        let shifter = V::splat(<f64 as Element>::SHIFTER);
        let shifted = t.add(shifter);
        let f = t.sub(shifted.sub(shifter));
        let table = <f64 as Element>::EXP2;
        let mut q = V::splat(table[table.len() - 1]);
        for i in (1..table.len() - 1).rev() {
            q = q.mul_add(f, V::splat(table[i]));
        }
        let power = shifted.bits_to_exponent();
        let part = power.mul(f.mul(q));
        (power.add(part), V::splat(1.0).sub(power).sub(part))
    }
}

#[inline(always)]
unsafe fn odds<V: Vector<E = f64>>(
    distances: &mut [f64],
    bounds: &[usize],
    positive: &[bool],
    likelihood: &mut [f64],
    nearest: &mut [f64],
) {
    let nr = 2 * V::LANES;
    let bags = positive.len();
    assert!(bounds.len() == bags + 1 && bounds.is_sorted() && distances.len() >= bounds[bags] * nr);
    assert!(likelihood.len() >= bags * nr && nearest.len() >= bags * nr);
    for b in 0..bags {
        // SAFETY: rows lie below bounds[bags] and bags below `bags`, which the assertions bound; the caller vouches
        // for the instruction set.
        unsafe {
            let one = V::splat(1.0);
            let (mut none, mut some) = ([one; 2], [V::splat(0.0); 2]);
            let mut near = [V::splat(f64::NEG_INFINITY); 2];
            for r in bounds[b]..bounds[b + 1] {
                for j in 0..2 {
                    let at = distances.as_mut_ptr().add(r * nr + j * V::LANES);
                    let d = V::load(at);
                    near[j] = near[j].max(V::splat(0.0).sub(d));
                    let (u, m) = near_and_far(d);
                    u.div(m).store(at);
                    some[j] = u.mul_add(none[j], some[j]);
                    none[j] = none[j].mul(m);
                }
            }
            for j in 0..2 {
                let to = b * nr + j * V::LANES;
                near[j].store(nearest.as_mut_ptr().add(to));
                if !positive[b] {
                    none[j].store(likelihood.as_mut_ptr().add(to));
                    continue;
                }
                some[j].store(likelihood.as_mut_ptr().add(to));
                let factor = V::splat(0.0).sub(none[j].div(some[j]));
                for r in bounds[b]..bounds[b + 1] {
                    let at = distances.as_mut_ptr().add(r * nr + j * V::LANES);
                    V::load(at).mul(factor).store(at);
                }
            }
        }
    }
}

/// Instantiates the loops inside functions that carry an instruction set.
macro_rules! instruction_set {
    ($module:ident, $mr:expr, $v:ty $(, $feature:literal)?) => {
        mod $module {
            use super::*;

            $(#[target_feature(enable = $feature)])?
            unsafe fn distances(rows: &[f64], concepts: &[f64], width: usize, out: &mut [f64]) {
                // SAFETY: this function carries the instruction set; its callers checked for it.
                unsafe { super::distances::<$v, { $mr }>(rows, concepts, width, out) }
            }
            $(#[target_feature(enable = $feature)])?
            unsafe fn odds(
                distances: &mut [f64], bounds: &[usize], positive: &[bool], likelihood: &mut [f64],
                nearest: &mut [f64],
            ) {
                // SAFETY: as above.
                unsafe { super::odds::<$v>(distances, bounds, positive, likelihood, nearest) }
            }

            pub(super) static LOOPS: Loops =
                Loops { mr: $mr, nr: 2 * <$v as Vector>::LANES, distances, odds };
        }
    };
}

// Of 16 registers four hold a concept, two a row and its difference; of 32 the same are left by 12 x 2 sums.
instruction_set!(portable, 4, [f64; 2]);
#[cfg(target_arch = "x86_64")]
instruction_set!(avx2, 4, crate::simd_x86::Avx2F64, "avx2,fma");
#[cfg(target_arch = "x86_64")]
instruction_set!(avx512, 12, crate::simd_x86::Avx512F64, "avx512f,avx2,fma");

/// The loops for an instruction set.
pub(crate) fn loops_of(set: InstructionSet) -> &'static Loops {
    table_of!(set, LOOPS)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_sides_of_one_have_all_their_digits() {
        for d in [0.0, 1e-300, 1e-17, 1e-9, 1e-3, 0.1, 0.34, 0.35, 0.5, 1.0, 7.0, 40.0, 300.0, 700.0] {
            // SAFETY: arrays need no instruction set.
            let ([u, _], [m, _]) = unsafe { near_and_far([d, 0.0]) };
            let (near, far) = ((-d).exp(), -(-d).exp_m1());
            // The argument t = d log2(e) is rounded once, which moves u by up to d roundings.
            assert!((u - near).abs() <= (4.0 + d) * f64::EPSILON * near, "{d}: {u:e} {near:e}");
            assert!((m - far).abs() <= 8.0 * f64::EPSILON * far, "{d}: {m:e} {far:e}");
        }
    }
}
