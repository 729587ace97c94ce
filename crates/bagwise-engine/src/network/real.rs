//! The two precisions of a network's arithmetic, with what its passes need of them: products of matrices, squashing
//! functions, and rows of instances.
//!
//! Products are `matrixmultiply`'s: a blocked kernel for f32 and f64 that picks AVX2 with fused multiply-add at run
//! time, takes any strides (so that nothing is transposed), and came with `ndarray` already. An entry is a sum over the
//! inner dimension in one order, whatever the other rows are: answers do not depend on the batch. The packed kernels
//! of `kernels.rs` end in distances, not in products.

use std::ops::{Add, AddAssign, Div, Mul, Neg, Range, Sub};

use bagwise_core::{Instances, Result};

use crate::simd::{Element, InstructionSet, Vector, exp2, table_of};

/// `f64`, or `f32` where speed is worth more than digits.
pub(super) trait NetworkFloat:
    Element
    + Add<Output = Self>
    + Sub<Output = Self>
    + Mul<Output = Self>
    + Div<Output = Self>
    + Neg<Output = Self>
    + AddAssign
{
    /// `c = a b + beta c`, through pointers with strides.
    unsafe fn gemm(
        sizes: (usize, usize, usize),
        a: (*const Self, [isize; 2]),
        b: (*const Self, [isize; 2]),
        beta: Self,
        c: *mut Self,
    );
    /// The loops of an instruction set.
    fn squash_of(set: InstructionSet) -> &'static Squash<Self>;
    /// Writes some rows of instances that are not sparse.
    fn rows_into(instances: &Instances, rows: Range<usize>, out: &mut [Self]) -> Result<()>;
}

/// A matrix that is read: values and the distances between its rows and between its columns.
#[derive(Clone, Copy)]
pub(super) struct Strided<'a, T> {
    values: &'a [T],
    rows: usize,
    cols: usize,
    strides: [isize; 2],
}

impl<'a, T> Strided<'a, T> {
    /// Row after row.
    pub(super) fn new(values: &'a [T], rows: usize, cols: usize) -> Strided<'a, T> {
        assert_eq!(values.len(), rows * cols, "a {rows} x {cols} matrix");
        Strided { values, rows, cols, strides: [cols as isize, 1] }
    }

    /// The transpose.
    pub(super) fn t(self) -> Strided<'a, T> {
        let [row, col] = self.strides;
        Strided { rows: self.cols, cols: self.rows, strides: [col, row], ..self }
    }
}

/// `c = a b`, or `c += a b`; `c` is row after row.
pub(super) fn multiply<T: NetworkFloat>(a: Strided<'_, T>, b: Strided<'_, T>, add: bool, c: &mut [T]) {
    assert_eq!(a.cols, b.rows, "inner dimensions");
    assert_eq!(c.len(), a.rows * b.cols, "the result");
    let beta = T::from_f64(if add { 1.0 } else { 0.0 });
    // SAFETY: both operands have as many values as their sizes say, and so has the result, all checked here and in `new`.
    unsafe {
        T::gemm(
            (a.rows, a.cols, b.cols),
            (a.values.as_ptr(), a.strides),
            (b.values.as_ptr(), b.strides),
            beta,
            c.as_mut_ptr(),
        )
    }
}

/// `tanh` or the logistic function of every value, in place.
pub(super) struct Squash<T> {
    tanh: unsafe fn(&mut [T]),
    sigmoid: unsafe fn(&mut [T]),
}

/// `tanh` of every value.
pub(super) fn tanh_all<T: NetworkFloat>(values: &mut [T]) {
    // SAFETY: the processor has the instruction set that is best.
    unsafe { (T::squash_of(InstructionSet::best()).tanh)(values) }
}

/// `1 / (1 + exp(-x))` of every value.
pub(super) fn sigmoid_all<T: NetworkFloat>(values: &mut [T]) {
    // SAFETY: as above.
    unsafe { (T::squash_of(InstructionSet::best()).sigmoid)(values) }
}

/// Applies a function to whole registers; the rest goes through a register that is filled up with zeros.
#[inline(always)]
unsafe fn each<V: Vector>(values: &mut [V::E], f: impl Fn(V) -> V) {
    let whole = values.len() - values.len() % V::LANES;
    // SAFETY: all whole registers lie inside `values`, and the last one inside `rest`, whose 16 places are those of the
    // largest register; the caller vouches for the instruction set.
    unsafe {
        for at in (0..whole).step_by(V::LANES) {
            let place = values.as_mut_ptr().add(at);
            f(V::load(place)).store(place);
        }
        let mut rest = [V::E::default(); 16];
        rest[..values.len() - whole].copy_from_slice(&values[whole..]);
        f(V::load(rest.as_ptr())).store(rest.as_mut_ptr());
        let left = values.len() - whole;
        values[whole..].copy_from_slice(&rest[..left]);
    }
}

/// `exp(-factor |x|)`, and |x| itself is never formed beyond what `exp2` bounds.
#[inline(always)]
unsafe fn decay<V: Vector>(x: V, factor: f64) -> V {
    // SAFETY: the caller vouches for the instruction set; nothing here touches memory.
    unsafe {
        let zero = V::splat(V::E::default());
        let size = x.max(zero.sub(x));
        exp2(size.mul(V::splat(V::E::from_f64(-factor * std::f64::consts::LOG2_E))))
    }
}

#[inline(always)]
unsafe fn tanh<V: Vector>(values: &mut [V::E]) {
    // SAFETY: the caller vouches for the instruction set.
    unsafe {
        let (zero, one) = (V::splat(V::E::default()), V::splat(V::E::from_f64(1.0)));
        each::<V>(values, |x| {
            let q = decay(x, 2.0);
            let size = one.sub(q).div(one.add(q));
            x.if_below(zero, zero.sub(size), size)
        });
    }
}

#[inline(always)]
unsafe fn sigmoid<V: Vector>(values: &mut [V::E]) {
    // SAFETY: the caller vouches for the instruction set.
    unsafe {
        let (zero, one) = (V::splat(V::E::default()), V::splat(V::E::from_f64(1.0)));
        each::<V>(values, |x| {
            let q = decay(x, 1.0);
            x.if_below(zero, q, one).div(one.add(q))
        });
    }
}

/// Instantiates the loops inside functions that carry an instruction set.
macro_rules! instruction_set {
    ($module:ident, $f64:ty, $f32:ty $(, $feature:literal)?) => {
        mod $module {
            use super::*;

            $(#[target_feature(enable = $feature)])?
            unsafe fn tanh<V: Vector>(values: &mut [V::E]) {
                // SAFETY: this function carries the instruction set; its callers checked for it.
                unsafe { super::tanh::<V>(values) }
            }
            $(#[target_feature(enable = $feature)])?
            unsafe fn sigmoid<V: Vector>(values: &mut [V::E]) {
                // SAFETY: as above.
                unsafe { super::sigmoid::<V>(values) }
            }

            pub(super) static F64: Squash<f64> = Squash { tanh: tanh::<$f64>, sigmoid: sigmoid::<$f64> };
            pub(super) static F32: Squash<f32> = Squash { tanh: tanh::<$f32>, sigmoid: sigmoid::<$f32> };
        }
    };
}

instruction_set!(portable, [f64; 2], [f32; 4]);
#[cfg(target_arch = "x86_64")]
instruction_set!(avx2, crate::simd_x86::Avx2F64, crate::simd_x86::Avx2F32, "avx2,fma");
#[cfg(target_arch = "x86_64")]
instruction_set!(avx512, crate::simd_x86::Avx512F64, crate::simd_x86::Avx512F32, "avx512f,avx2,fma");

macro_rules! real {
    ($t:ty, $gemm:path, $table:ident, $same:ident, $other:ident, $read:ident) => {
        impl NetworkFloat for $t {
            unsafe fn gemm(
                (m, k, n): (usize, usize, usize),
                (a, [rsa, csa]): (*const $t, [isize; 2]),
                (b, [rsb, csb]): (*const $t, [isize; 2]),
                beta: $t,
                c: *mut $t,
            ) {
                // SAFETY: `multiply`, the only caller, has checked the lengths.
                unsafe { $gemm(m, k, n, 1.0, a, rsa, csa, b, rsb, csb, beta, c, n as isize, 1) }
            }
            fn squash_of(set: InstructionSet) -> &'static Squash<$t> {
                table_of!(set, $table)
            }
            fn rows_into(instances: &Instances, rows: Range<usize>, out: &mut [$t]) -> Result<()> {
                let width = instances.cols();
                let range = rows.start * width..rows.end * width;
                match instances {
                    Instances::$same(m) => out.copy_from_slice(&m.data()[range]),
                    Instances::$other(m) => {
                        out.iter_mut().zip(&m.data()[range]).for_each(|(o, &v)| *o = v as $t);
                    }
                    Instances::Stored(m) => m.$read(rows, out)?,
                    Instances::Sparse(_) => unreachable!("sparse rows have a loop of their own"),
                }
                Ok(())
            }
        }
    };
}

real!(f64, matrixmultiply::dgemm, F64, F64, F32, read_f64);
real!(f32, matrixmultiply::sgemm, F32, F32, F64, read_f32);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn squashing_functions_are_right_on_every_instruction_set() {
        let arguments: Vec<f64> =
            (-400..=400).map(|i| f64::from(i) * 0.1).chain([1e300, -1e300, 0.0]).collect();
        for set in InstructionSet::available() {
            let loops = f64::squash_of(set);
            let (mut tanh, mut sigmoid) = (arguments.clone(), arguments.clone());
            // SAFETY: the set is available.
            unsafe {
                (loops.tanh)(&mut tanh);
                (loops.sigmoid)(&mut sigmoid);
            }
            for (i, x) in arguments.iter().enumerate() {
                // A rounding of the exponential and two of the quotient.
                assert!((tanh[i] - x.tanh()).abs() < 1e-15, "tanh {x}: {}", tanh[i]);
                assert!((sigmoid[i] - 1.0 / (1.0 + (-x).exp())).abs() < 1e-15, "sigmoid {x}: {}", sigmoid[i]);
            }
        }
    }
}
